#include <errno.h>
#include <fcntl.h>
#include <gnutls/crypto.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"
#include "fs/webhdfs.h"
#include "localizer/localizer.h"
#include "shim/wire.h"

#define DIGEST_BYTES 32
#define DIGEST_HEX   (2 * DIGEST_BYTES + 1)
#define PIECE        65536
#define ENTRY_MAX    8192 /* a URL's file */
#define NAME_ROOM    (DIGEST_HEX + 8)

/** What is known of a URL's content. */
struct entry {
    char digest[DIGEST_HEX]; /* "": nothing is */
    int64_t size;
    int64_t asked_s; /* wall clock: the last answer of its server */
    struct fetch_version version;
};

/** A URL in work. */
struct caching {
    int dir;
    const struct fetch_from *from;
    char *url; /* what its file is named by: the URI, with the user whom HDFS shows it to */
    char key[DIGEST_HEX];
    struct entry entry;
    struct source_fault *f;
};

static int64_t wall_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return t.tv_sec;
}

static void to_hex(const uint8_t *digest, char *out)
{
    for (size_t i = 0; i < DIGEST_BYTES; i++)
        snprintf(out + 2 * i, 3, "%02x", digest[i]);
}

static int cannot_write(const struct caching *c, int error)
{
    return localizer_fault(c->f, SOURCE_UNWRITTEN, error);
}

/* ---- contents ---- */

/** The digest of all that a descriptor has, from its begin; it is there again afterwards. @return 0; -1 with errno */
static int digest_of(int fd, char *out)
{
    static char piece[PIECE];
    uint8_t digest[DIGEST_BYTES];
    gnutls_hash_hd_t hash;
    int64_t at = 0;
    ssize_t n;

    BUG_IF(gnutls_hash_init(&hash, GNUTLS_DIG_SHA256) != 0);
    while ((n = pread(fd, piece, sizeof piece, at)) > 0) {
        gnutls_hash(hash, piece, (size_t)n);
        at += n;
    }
    gnutls_hash_deinit(hash, digest);
    to_hex(digest, out);
    return n < 0 || lseek(fd, 0, SEEK_SET) ? -1 : 0;
}

/** Open what an entry names, if it is there and is that. @return descriptor with a shared lock; -1: it is not there any more. */
static int open_content(const struct caching *c)
{
    char name[NAME_ROOM], digest[DIGEST_HEX];
    struct stat st;

    snprintf(name, sizeof name, "data-%s", c->entry.digest);
    int fd = *c->entry.digest ? openat(c->dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) : -1;
    if (fd < 0)
        return -1;
    bool is_it = !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size == c->entry.size &&
                 !flock(fd, LOCK_SH) && !digest_of(fd, digest) && !strcmp(digest, c->entry.digest);
    if (is_it) {
        futimens(fd, NULL); /* Without a new time it may only leave earlier. */
        return fd;
    }
    unlinkat(c->dir, name, 0);
    close(fd);
    return -1;
}

/* ---- a URL's file ---- */

/** A line's value, where it is the line of this key. */
static bool take_line(const char *line, const char *key, char *out, size_t room)
{
    size_t n = strlen(key);

    if (strncmp(line, key, n) || line[n] != ' ' || strlen(line + n + 1) >= room)
        return false;
    memcpy(out, line + n + 1, strlen(line + n + 1) + 1);
    return true;
}

static void parse_entry(struct caching *c, char *text)
{
    struct entry e = {.size = -1};
    char number[24] = "", *save = NULL;
    bool is_of_url = false;

    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        is_of_url = is_of_url || (str_starts(line, "url ") && !strcmp(line + 4, c->url));
        take_line(line, "digest", e.digest, sizeof e.digest);
        take_line(line, "etag", e.version.etag, sizeof e.version.etag);
        take_line(line, "last_modified", e.version.last_modified, sizeof e.version.last_modified);
        if (take_line(line, "size", number, sizeof number))
            (void)!str_to_i64(number, 0, INT64_MAX, &e.size);
        if (take_line(line, "asked", number, sizeof number))
            (void)!str_to_i64(number, 0, INT64_MAX, &e.asked_s);
    }
    bool is_whole = is_of_url && e.size >= 0 && strspn(e.digest, "0123456789abcdef") == DIGEST_HEX - 1;
    c->entry = is_whole ? e : (struct entry){.size = 0};
}

static void read_entry(struct caching *c)
{
    char name[NAME_ROOM], text[ENTRY_MAX];

    snprintf(name, sizeof name, "url-%s", c->key);
    int fd = openat(c->dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    parse_entry(c, text);
}

static int write_entry(const struct caching *c)
{
    const struct entry *e = &c->entry;
    char name[NAME_ROOM], aside[NAME_ROOM];
    buf_auto struct buf text = BUF_EMPTY;

    snprintf(name, sizeof name, "url-%s", c->key);
    snprintf(aside, sizeof aside, "new-%s", c->key);
    buf_addf(&text, "url %s\ndigest %s\nsize %" PRId64 "\nasked %" PRId64 "\netag %s\nlast_modified %s\n",
             c->url, e->digest, e->size, e->asked_s, e->version.etag, e->version.last_modified);
    int fd = openat(c->dir, aside, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return cannot_write(c, errno);
    int failed = shim_write_all(fd, text.bytes, text.len) || renameat(c->dir, aside, c->dir, name);
    int error = errno;
    close(fd);
    return failed ? cannot_write(c, error) : 0;
}

/* ---- fetching ---- */

/** Give what was fetched the name of its content, and note it. */
static int keep(struct caching *c, int fd, const char *aside, const struct fetch_version *version)
{
    char name[NAME_ROOM];
    struct stat st;

    if (fstat(fd, &st) || digest_of(fd, c->entry.digest))
        return cannot_write(c, errno);
    c->entry.size = st.st_size;
    c->entry.asked_s = wall_s();
    c->entry.version = *version;
    snprintf(name, sizeof name, "data-%s", c->entry.digest);
    if (flock(fd, LOCK_SH) || renameat(c->dir, aside, c->dir, name))
        return cannot_write(c, errno);
    return write_entry(c);
}

/** What was kept still holds, as far as anybody can say now. */
static int use_kept(struct caching *c, enum fetch_result result, int kept)
{
    bool is_away = result == FETCH_FAILED && (c->f->problem == SOURCE_NO_SERVER ||
                                              (c->f->problem == SOURCE_STATUS && c->f->error >= 500));

    if (kept >= 0 && (result == FETCH_SAME || is_away)) {
        if (result == FETCH_SAME)
            c->entry.asked_s = wall_s();
        if (result != FETCH_SAME || !write_entry(c))
            return kept;
    }
    if (result == FETCH_SAME && kept < 0)
        localizer_fault(c->f, SOURCE_STATUS, 304);
    if (kept >= 0)
        close(kept);
    return -1;
}

/** @param kept  the content that may still be the same, or -1; it is closed or returned */
static int fetch(struct caching *c, int64_t max_bytes, int kept)
{
    struct fetch_version version = kept >= 0 ? c->entry.version : (struct fetch_version){.etag = ""};
    char aside[NAME_ROOM];

    snprintf(aside, sizeof aside, "new-%s", c->key);
    unlinkat(c->dir, aside, 0);
    int fd = openat(c->dir, aside, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) {
        cannot_write(c, errno);
        return use_kept(c, FETCH_DONE, kept);
    }
    enum fetch_result result = localizer_fetch(c->from, fd, max_bytes, &version, c->f);
    if (result == FETCH_DONE && !keep(c, fd, aside, &version)) {
        if (kept >= 0)
            close(kept);
        return fd;
    }
    unlinkat(c->dir, aside, 0);
    close(fd);
    return use_kept(c, result, kept);
}

static int take(struct caching *c, int64_t max_bytes, int64_t fresh_s)
{
    read_entry(c);
    int kept = open_content(c);
    int64_t age_s = wall_s() - c->entry.asked_s;

    if (kept >= 0 && c->entry.size > max_bytes) {
        close(kept);
        return localizer_fault(c->f, SOURCE_TOO_LARGE, 0);
    }
    return kept >= 0 && age_s >= 0 && age_s < fresh_s ? kept : fetch(c, max_bytes, kept);
}

/** A user's file of HDFS is nobody else's. */
static char *name_in_cache(const struct fetch_from *from)
{
    mem_auto char *user = from->source->n_urls && from->user ? webhdfs_escape(from->user, "") : NULL;

    return user ? mem_fmt("user.name=%s %s", user, from->source->path) : mem_str(from->source->path);
}

int localizer_cache(int dir, const struct fetch_from *from, int64_t max_bytes, int64_t fresh_s,
                    struct source_fault *f)
{
    mem_auto char *url = name_in_cache(from);
    struct caching c = {.dir = dir, .from = from, .url = url, .f = f};
    uint8_t digest[DIGEST_BYTES];
    char name[16];

    BUG_IF(gnutls_hash_fast(GNUTLS_DIG_SHA256, url, strlen(url), digest) != 0);
    to_hex(digest, c.key);
    snprintf(name, sizeof name, "lock-%.2s", c.key);
    int lock = openat(dir, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (lock < 0 || flock(lock, LOCK_EX)) {
        int error = errno;
        if (lock >= 0)
            close(lock);
        return cannot_write(&c, error);
    }
    int fd = take(&c, max_bytes, fresh_s);
    close(lock);
    return fd;
}

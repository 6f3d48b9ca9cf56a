#include "submit/package.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <gnutls/crypto.h>
#include <inttypes.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/obj.h"
#include "base/path.h"
#include "base/str.h"
#include "run/file.h"

#define PARTS_MAGIC OBJ_MAGIC('S', 'P', 'A', 'R')
#define JOB_MAGIC   OBJ_MAGIC('S', 'P', 'A', 'C')

/* Names the archive that was made last, and the files that it was made of. */
#define MADE "made"
/* A third of the processor time of gzip's own level, for a twentieth more bytes: a master starts only when it is done. */
#define LEVEL "3"

enum { PIECE = 65536, SHA256_LEN = 32, HASH_LEN = SUBMIT_HASH_ROOM - 1, MODE_PROGRAM = 0755 };

struct submit_parts {
    struct obj obj;
    struct map paths; /* of files, by their names in the archive; values are owned */
};

/* ---- what belongs to it ---- */

/* Of the C library: it fits the kernel and the loader of its host, not ours. */
static bool is_of_libc(const char *name)
{
    static const char *const own[] = {"libc.so",      "libm.so",    "libpthread.so", "libdl.so",   "librt.so",
                                      "libresolv.so", "libutil.so", "libanl.so",     "libmvec.so", "libnss_",
                                      "ld-linux",     "linux-vdso", "linux-gate",    "ld64.so"};
    for (size_t i = 0; i < ARRAY_LEN(own); i++)
        if (str_starts(name, own[i]))
            return true;
    return false;
}

static void add_part(struct submit_parts *parts, const char *name, const char *path)
{
    free(map_set(&parts->paths, name, mem_str(path)));
}

static int on_library(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct submit_parts *parts = obj_cast(arg, struct submit_parts, PARTS_MAGIC);
    (void)size;
    const char *file = path_name(info->dlpi_name ? info->dlpi_name : "");
    if (!*file || file == info->dlpi_name || is_of_libc(file))
        return 0;
    mem_auto char *name = mem_fmt(SUBMIT_PACKAGE_LIBS "/%s", file);
    add_part(parts, name, info->dlpi_name);
    return 0;
}

struct submit_parts *submit_parts_new(void)
{
    struct submit_parts *parts = mem_new(struct submit_parts);
    obj_init(&parts->obj, PARTS_MAGIC);
    parts->paths = MAP_EMPTY;
    add_part(parts, SUBMIT_PACKAGE_PROGRAM, "/proc/self/exe");
    dl_iterate_phdr(on_library, parts);
    return parts;
}

void submit_parts_free(struct submit_parts *parts)
{
    if (!parts)
        return;
    map_fini(&parts->paths, free);
    obj_fini(&parts->obj);
    free(parts);
}

/* ---- the archive ---- */

static int put_content(struct archive *a, int fd)
{
    char piece[PIECE];
    ssize_t n;
    while ((n = read(fd, piece, sizeof piece)) > 0)
        if (archive_write_data(a, piece, (size_t)n) != n)
            return -1;
    return n < 0 ? -1 : 0;
}

static int put_part(struct archive *a, const char *name, const char *path, struct err_info *why)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0) {
        err_set(why, ERR_IO, path, "%s: %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return ERR_IO;
    }
    struct archive_entry *e = archive_entry_new();
    archive_entry_set_pathname(e, name);
    archive_entry_set_filetype(e, AE_IFREG);
    archive_entry_set_perm(e, MODE_PROGRAM);
    archive_entry_set_size(e, st.st_size);
    archive_entry_set_mtime(e, 0, 0);
    int err = archive_write_header(a, e) == ARCHIVE_OK ? put_content(a, fd) : -1;
    archive_entry_free(e);
    close(fd);
    return err ? err_set(why, ERR_IO, path, "%s cannot be packed: %s", path,
                         archive_error_string(a) ? archive_error_string(a) : strerror(errno))
               : 0;
}

static int put_all(struct archive *a, const struct submit_parts *parts, int fd, struct err_info *why)
{
    mem_auto const char **names = map_sorted_keys(&parts->paths);
    bool is_ready = archive_write_set_format_ustar(a) == ARCHIVE_OK &&
                    archive_write_add_filter_gzip(a) == ARCHIVE_OK &&
                    archive_write_set_filter_option(a, "gzip", "timestamp", NULL) == ARCHIVE_OK &&
                    archive_write_set_filter_option(a, "gzip", "compression-level", LEVEL) == ARCHIVE_OK &&
                    archive_write_open_fd(a, fd) == ARCHIVE_OK;
    int err = is_ready ? 0 : err_set(why, ERR_IO, NULL, "no archive: %s", archive_error_string(a));
    for (size_t i = 0; !err && names[i]; i++)
        err = put_part(a, names[i], map_get(&parts->paths, names[i]), why);
    if (archive_write_close(a) != ARCHIVE_OK && !err)
        err = err_set(why, ERR_IO, NULL, "the archive cannot be written: %s", archive_error_string(a));
    return err;
}

static int read_hash(int fd, struct submit_package *out)
{
    char piece[PIECE];
    unsigned char digest[SHA256_LEN];
    gnutls_hash_hd_t hash;
    ssize_t n;
    out->size = 0;
    BUG_IF(gnutls_hash_init(&hash, GNUTLS_DIG_SHA256) != 0);
    while ((n = pread(fd, piece, sizeof piece, out->size)) > 0) {
        gnutls_hash(hash, piece, (size_t)n);
        out->size += n;
    }
    gnutls_hash_deinit(hash, digest);
    for (size_t i = 0; i < SHA256_LEN; i++)
        snprintf(out->hash + 2 * i, 3, "%02x", digest[i]);
    return n < 0 ? -1 : 0;
}

static int write_archive(const struct submit_parts *parts, int fd, struct submit_package *out,
                         struct err_info *why)
{
    struct archive *a = archive_write_new();
    int err = put_all(a, parts, fd, why);
    archive_write_free(a);
    if (!err && (read_hash(fd, out) != 0 || fsync(fd) != 0))
        err = err_set(why, ERR_IO, NULL, "the archive: %s", strerror(errno));
    return err;
}

static char *archive_path(const char *dir, const char *hash)
{
    return mem_fmt("%s/am-%s.tar.gz", dir, hash);
}

static int make_archive(const struct submit_parts *parts, const char *dir, struct submit_package *out,
                        struct err_info *why)
{
    mem_auto char *temporary = mem_fmt("%s/am-XXXXXX", dir);
    int fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0)
        return err_set(why, ERR_IO, dir, "%s: %s", dir, strerror(errno));
    int err = write_archive(parts, fd, out, why);
    close(fd);
    if (!err) {
        out->path = archive_path(dir, out->hash);
        if (rename(temporary, out->path) != 0)
            err = err_set(why, ERR_IO, out->path, "%s: %s", out->path, strerror(errno));
    }
    if (err)
        unlink(temporary);
    return err;
}

/* ---- the one that was made before ---- */

/* What changes with the content of a file. @return whether all of them are there */
static bool add_identities(struct buf *out, const struct submit_parts *parts)
{
    mem_auto const char **names = map_sorted_keys(&parts->paths);
    buf_add_str(out, "level " LEVEL "\n");
    for (size_t i = 0; names[i]; i++) {
        struct stat st;
        if (stat(map_get(&parts->paths, names[i]), &st) != 0)
            return false;
        buf_addf(out, "%s %ju %ju %jd %jd.%09ld %jd.%09ld\n", names[i], (uintmax_t)st.st_dev,
                 (uintmax_t)st.st_ino, (intmax_t)st.st_size, (intmax_t)st.st_mtim.tv_sec, st.st_mtim.tv_nsec,
                 (intmax_t)st.st_ctim.tv_sec, st.st_ctim.tv_nsec);
    }
    return true;
}

/* Its content is read: it is what its name says, or it is made again. */
static bool is_whole(struct submit_package *p, const char *hash)
{
    int fd = open(p->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    bool is_same = fd >= 0 && read_hash(fd, p) == 0 && strcmp(p->hash, hash) == 0;
    if (fd >= 0)
        close(fd);
    return is_same;
}

/* @return whether the archive of these identities is there */
static bool find_made(const char *dir, const struct buf *identities, struct submit_package *out)
{
    mem_auto char *path = mem_fmt("%s/" MADE, dir);
    buf_auto struct buf text = BUF_EMPTY;
    char hash[SUBMIT_HASH_ROOM] = "";
    if (file_read(path, &text, NULL) != 0 || text.len != HASH_LEN + 1 + identities->len ||
        memcmp(text.bytes + HASH_LEN + 1, identities->bytes, identities->len) != 0)
        return false;
    memcpy(hash, text.bytes, HASH_LEN);
    if (strspn(hash, "0123456789abcdef") != HASH_LEN)
        return false;
    out->path = archive_path(dir, hash);
    return is_whole(out, hash);
}

static int note_made(const char *dir, const struct buf *identities, const char *hash, struct err_info *why)
{
    mem_auto char *path = mem_fmt("%s/" MADE, dir);
    buf_auto struct buf text = BUF_EMPTY;
    buf_addf(&text, "%s\n", hash);
    buf_add(&text, identities->bytes, identities->len);
    return file_write(path, text.bytes, text.len, why);
}

int submit_package_make(const struct submit_parts *parts, const char *dir, struct submit_package *out,
                        struct err_info *why)
{
    struct submit_package made = {.path = NULL};
    buf_auto struct buf identities = BUF_EMPTY;
    int err = 0;
    bool are_there = add_identities(&identities, parts);
    if (!are_there || !find_made(dir, &identities, &made)) {
        submit_package_fini(&made);
        err = make_archive(parts, dir, &made, why);
        if (!err && are_there)
            err = note_made(dir, &identities, made.hash, why);
    }
    if (err)
        submit_package_fini(&made);
    else
        *out = made;
    return err;
}

void submit_package_fini(struct submit_package *p)
{
    free(p->path);
    *p = (struct submit_package){.path = NULL};
}

/* ---- on the pool ---- */

struct job {
    struct obj obj;
    uv_work_t work;
    struct submit_parts *parts;
    char *dir;
    struct submit_package package;
    int err;
    struct err_info why;
    void (*done)(void *arg, int err, struct submit_package *take_package, const struct err_info *why);
    void *arg;
};

static void make(uv_work_t *work)
{
    struct job *j = obj_cast(work->data, struct job, JOB_MAGIC);
    j->err = submit_package_make(j->parts, j->dir, &j->package, &j->why);
}

static void made(uv_work_t *work, int status)
{
    struct job *j = obj_cast(work->data, struct job, JOB_MAGIC);
    BUG_IF(status != 0);
    j->done(j->arg, j->err, &j->package, &j->why);
    submit_package_fini(&j->package);
    submit_parts_free(j->parts);
    free(j->dir);
    obj_fini(&j->obj);
    free(j);
}

void submit_package_start(struct run_loop *loop, const char *dir,
                          void (*done)(void *arg, int err, struct submit_package *take_package,
                                       const struct err_info *why),
                          void *arg)
{
    struct job *j = mem_new(struct job);
    obj_init(&j->obj, JOB_MAGIC);
    j->parts = submit_parts_new();
    j->dir = mem_str(dir);
    j->done = done;
    j->arg = arg;
    j->work.data = j;
    BUG_IF(uv_queue_work(run_loop_uv(loop), &j->work, make, made) != 0);
}

#include "cluster/local_users.h"

#include <errno.h>
#include <grp.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"
#include "run/file.h"

#define RANGE_KEY "yarn.service.local.user-range"
#define UID_LAST  4294967293 /* -1 and -2 mean something to the kernel or to NFS */

struct range {
    int64_t first, last;
};

struct local_users {
    uv_mutex_t lock; /* of all below */
    struct range range;
    char *file;
    struct map uids;  /* owner -> its number as text */
    struct map names; /* number as text -> owner; never borrowed */
    struct buf text;  /* of the file */
    int64_t next;     /* no uid of the range before it is free */
};

static int read_range(const char *text, struct range *out, struct err_info *why)
{
    mem_auto char *first = str_field(text, '-', 0);
    mem_auto char *last = str_field(text, '-', 1);
    mem_auto char *more = str_field(text, '-', 2);

    if (!first || !last || more || str_to_i64(first, 1, UID_LAST, &out->first) ||
        str_to_i64(last, 1, UID_LAST, &out->last) || out->last < out->first)
        return err_set(why, ERR_CONFIG, RANGE_KEY,
                       "\"%.100s\" is no range of uids; write it as 200000-200999.", text);
    if (out->last - out->first >= LOCAL_USERS_MAX)
        return err_set(why, ERR_CONFIG, RANGE_KEY, "\"%.100s\" has more than %d uids.", text,
                       LOCAL_USERS_MAX);
    return 0;
}

/* ---- is it free? ---- */

/** A file of names and numbers, and the field of the first number and of how many there are (0: one). */
static const struct {
    const char *name;
    size_t number, count;
} name_files[] = {{"passwd", 2, 0}, {"group", 2, 0}, {"subuid", 1, 2}, {"subgid", 1, 2}};

static bool line_overlaps(const char *line, size_t number, size_t count, const struct range *r)
{
    mem_auto char *number_text = str_field(line, ':', number);
    mem_auto char *count_text = count ? str_field(line, ':', count) : mem_str("1");
    int64_t first, n;

    if (!number_text || !count_text || str_to_i64(number_text, 0, UINT32_MAX, &first) ||
        str_to_i64(count_text, 1, UINT32_MAX, &n))
        return false; /* A comment, an include: nothing that gives a number away. */
    return first <= r->last && first + n > r->first;
}

static int check_file(const char *path, size_t number, size_t count, const struct range *r,
                      struct err_info *why)
{
    FILE *f = fopen(path, "re");
    char *line = NULL;
    size_t room = 0;
    int n = 0, err = 0;

    if (!f)
        return errno == ENOENT ? 0 : err_set(why, ERR_CONFIG, path, "%s", strerror(errno));
    while (!err && getline(&line, &room, f) > 0) {
        n++;
        if (!line_overlaps(line, number, count, r))
            continue;
        mem_auto char *where = mem_fmt("%s:%d", path, n);
        err = err_set(why, ERR_CONFIG, where,
                      RANGE_KEY " is not free: it has numbers of \"%.*s\". Choose another range.",
                      (int)strcspn(line, ":\n"), line);
    }
    free(line);
    fclose(f);
    return err;
}

int local_users_check(const char *range, const char *etc, struct err_info *why)
{
    struct range r;
    int err = read_range(range, &r, why);

    for (size_t i = 0; !err && i < ARRAY_LEN(name_files); i++) {
        mem_auto char *path = mem_fmt("%s/%s", etc, name_files[i].name);
        err = check_file(path, name_files[i].number, name_files[i].count, &r, why);
    }
    return err;
}

/** The system knows a user or a group of this number. */
static bool has_name(uid_t id)
{
    char text[4096];
    struct passwd user, *found_user = NULL;
    struct group group, *found_group = NULL;

    /* ERANGE: there is one, with more text than room. */
    return getpwuid_r(id, &user, text, sizeof text, &found_user) == ERANGE || found_user ||
           getgrgid_r(id, &group, text, sizeof text, &found_group) == ERANGE || found_group;
}

/* ---- assignments ---- */

/** A name that is usable as a line. */
static bool is_fit(const char *owner)
{
    for (const char *p = owner; *p; p++)
        if ((unsigned char)*p < ' ' || *p == 0x7f)
            return false;
    return *owner != '\0' && *owner != ' ';
}

static void keep(struct local_users *u, const char *uid, const char *owner)
{
    map_set(&u->uids, owner, mem_str(uid));
    map_set(&u->names, uid, u);
    buf_addf(&u->text, "%s %s\n", uid, owner);
}

static int take_line(struct local_users *u, const char *line, size_t n, struct err_info *why)
{
    const char *blank = strchr(line, ' ');
    mem_auto char *uid = blank ? mem_strn(line, (size_t)(blank - line)) : NULL;
    mem_auto char *where = mem_fmt("%s:%zu", u->file, n);
    int64_t number;

    if (!uid || str_to_i64(uid, 1, UID_LAST, &number) || !is_fit(blank + 1))
        return err_set(why, ERR_CONFIG, where, "This is no line as \"200000 alice\"; restore the file.");
    if (map_get(&u->names, uid) || map_get(&u->uids, blank + 1))
        return err_set(why, ERR_CONFIG, where, "Uid or owner has a line already; restore the file.");
    keep(u, uid, blank + 1);
    return 0;
}

static int load(struct local_users *u, struct err_info *why)
{
    buf_auto struct buf bytes = BUF_EMPTY;
    char *save = NULL;
    size_t n = 0;
    int err = file_read(u->file, &bytes, why);

    if (err)
        return err == ERR_NOTFOUND ? 0 : err;
    buf_cstr(&bytes);
    for (char *line = strtok_r(bytes.bytes, "\n", &save); !err && line; line = strtok_r(NULL, "\n", &save))
        err = take_line(u, line, ++n, why);
    return err;
}

int local_users_open(const char *range, const char *file, struct local_users **out, struct err_info *why)
{
    struct local_users *u = mem_new(struct local_users);

    BUG_IF(uv_mutex_init(&u->lock));
    u->file = mem_str(file);
    int err = read_range(range, &u->range, why);
    u->next = u->range.first;
    if (!err)
        err = load(u, why);
    if (err)
        local_users_close(u);
    else
        *out = u;
    return err;
}

void local_users_close(struct local_users *u)
{
    if (!u)
        return;
    uv_mutex_destroy(&u->lock);
    map_fini(&u->uids, free);
    map_fini(&u->names, NULL);
    buf_fini(&u->text);
    free(u->file);
    free(u);
}

/** The first uid that is free. @return its text, free(); NULL: none is left. */
static char *next_free(struct local_users *u)
{
    for (; u->next <= u->range.last; u->next++) {
        char *text = mem_fmt("%" PRId64, u->next);
        if (!map_get(&u->names, text) && !has_name((uid_t)u->next))
            return text;
        free(text);
    }
    return NULL;
}

static int assign(struct local_users *u, const char *owner, struct err_info *why)
{
    mem_auto char *uid = next_free(u);
    size_t len = u->text.len;

    if (!uid)
        return err_set(
            why, ERR_CONFIG, RANGE_KEY,
            "All uids of " RANGE_KEY " are assigned, none is left for %.64s; make the range longer.", owner);
    buf_addf(&u->text, "%s %s\n", uid, owner);
    int err = file_write(u->file, u->text.bytes, u->text.len, why);
    u->text.len = len;
    if (!err)
        keep(u, uid, owner);
    return err;
}

int local_users_find(struct local_users *u, const char *owner, uid_t *uid, struct err_info *why)
{
    int64_t number = 0;
    int err = 0;

    if (!is_fit(owner))
        return err_set(why, ERR_INVALID, NULL, "\"%.64s\" cannot have a uid of " RANGE_KEY ".", owner);
    uv_mutex_lock(&u->lock);
    if (!map_get(&u->uids, owner))
        err = assign(u, owner, why);
    if (!err)
        str_to_i64(map_get(&u->uids, owner), 1, UID_LAST, &number);
    uv_mutex_unlock(&u->lock);
    *uid = err ? *uid : (uid_t)number;
    return err;
}

bool local_users_peek(struct local_users *u, const char *owner, uid_t *uid)
{
    int64_t number = 0;

    if (uv_mutex_trylock(&u->lock))
        return false;
    const char *text = map_get(&u->uids, owner);
    bool is_known = text && !str_to_i64(text, 1, UID_LAST, &number);
    uv_mutex_unlock(&u->lock);
    *uid = is_known ? (uid_t)number : *uid;
    return is_known;
}

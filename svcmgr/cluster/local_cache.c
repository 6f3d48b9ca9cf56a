#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "cluster/local_priv.h"
#include "cluster/local_tree.h"
#include "run/file.h"

#define CONTENT      "data-"
#define URL          "url-"
#define UNFINISHED   "new-"
#define STALE_S      86400   /* an unfinished file that nobody has written for so long is nobody's */
#define LEAST_BYTES  4096    /* what a small content takes on the disk */
#define CONTENTS_MAX 1000000 /* looked at in one go; more than that are looked at the next time */

int local_cache_open(const char *dir, const struct shim_user *user, struct err_info *why)
{
    mem_auto char *top = mem_fmt("%s/" LOCAL_CACHE_DIR, dir);
    mem_auto char *own = mem_fmt("%s/%u", top, (unsigned)(user->is_set ? user->uid : geteuid()));
    int err = file_make_dir(top, 0700, why);

    if (!err)
        err = file_make_dir(own, 0700, why);
    if (err)
        return -1;
    int fd = local_open_at(AT_FDCWD, own, O_RDONLY | O_DIRECTORY, 0);
    if (fd >= 0 && (!user->is_set || !fchown(fd, user->uid, user->gid)))
        return fd;
    local_sys_fail(why, own);
    if (fd >= 0)
        close(fd);
    return -1;
}

/* ---- what is too much ---- */

/** A content of some user. */
struct content {
    char *path;
    int64_t bytes;
    struct timespec used;
};

/** The contents of all users. */
struct contents {
    struct content *items;
    size_t n;
    int64_t bytes;
};

static void add_content(struct contents *all, const char *path, const struct stat *st)
{
    int64_t bytes = st->st_size > LEAST_BYTES ? st->st_size : LEAST_BYTES;

    if (all->n == CONTENTS_MAX)
        return;
    if (!(all->n & (all->n - 1)))
        all->items = mem_resize(all->items, all->n ? 2 * all->n : 1, sizeof *all->items);
    all->items[all->n++] = (struct content){mem_str(path), bytes, st->st_mtim};
    all->bytes += bytes;
}

static int by_use(const void *a, const void *b)
{
    const struct timespec *x = &((const struct content *)a)->used, *y = &((const struct content *)b)->used;

    if (x->tv_sec != y->tv_sec)
        return x->tv_sec < y->tv_sec ? -1 : 1;
    return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

/** A localizer has a shared lock on what it uses. */
static bool remove_unused(const char *path)
{
    int fd = local_open_at(AT_FDCWD, path, O_RDONLY | O_NONBLOCK, 0);
    bool is_gone = fd >= 0 && !flock(fd, LOCK_EX | LOCK_NB) && !unlink(path);

    if (fd >= 0)
        close(fd);
    return is_gone;
}

static void shrink(struct contents *all, int64_t max_bytes)
{
    if (all->n > 0)
        qsort(all->items, all->n, sizeof *all->items, by_use);
    for (size_t i = 0; i < all->n && all->bytes > max_bytes; i++)
        if (remove_unused(all->items[i].path))
            all->bytes -= all->items[i].bytes;
}

/* ---- the directories ---- */

/** The file of a URL whose content is gone serves nobody. */
static void drop_orphan(const char *dir, const char *path)
{
    char text[16384], *digest;
    int fd = local_open_at(AT_FDCWD, path, O_RDONLY | O_NONBLOCK, 0);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);

    if (fd >= 0)
        close(fd);
    if (n < 0)
        return;
    text[n] = '\0';
    digest = strstr(text, "\ndigest ");
    mem_auto char *hex = digest ? mem_strn(digest + 8, strcspn(digest + 8, "\n/")) : mem_str("");
    mem_auto char *content = mem_fmt("%s/" CONTENT "%s", dir, hex);
    if (access(content, F_OK) && errno == ENOENT)
        unlink(path);
}

static void look_at(const char *dir, const char *name, struct contents *all)
{
    mem_auto char *path = mem_fmt("%s/%s", dir, name);
    struct stat st;

    if (lstat(path, &st) || !S_ISREG(st.st_mode))
        return;
    if (str_starts(name, CONTENT))
        add_content(all, path, &st);
    else if (str_starts(name, URL))
        drop_orphan(dir, path);
    else if (str_starts(name, UNFINISHED) && time(NULL) - st.st_mtime > STALE_S)
        unlink(path);
}

static void each_in(const char *dir, void (*visit)(const char *dir, const char *name, struct contents *all),
                    struct contents *all)
{
    DIR *d = local_open_dir(dir);
    const struct dirent *e;

    while (d && (e = readdir(d)))
        if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
            visit(dir, e->d_name, all);
    if (d)
        closedir(d);
}

static void look_in(const char *top, const char *name, struct contents *all)
{
    mem_auto char *dir = mem_fmt("%s/%s", top, name);

    each_in(dir, look_at, all);
}

void local_cache_expire(const char *dir, int64_t max_bytes)
{
    mem_auto char *top = mem_fmt("%s/" LOCAL_CACHE_DIR, dir);
    struct contents all = {.items = NULL};

    each_in(top, look_in, &all);
    shrink(&all, max_bytes);
    for (size_t i = 0; i < all.n; i++)
        free(all.items[i].path);
    free(all.items);
}

#include "cluster/local_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "run/shortage.h"

/* Directories nested deeper than this are first moved to the top: a descriptor and a frame for each level. */
#define REMOVE_DEPTH 64

int local_sys_fail(struct err_info *why, const char *where)
{
    int error = errno;

    return err_set(why, shortage_code(error), where, "%s", strerror(error));
}

int local_open_at(int dir, const char *name, int flags, mode_t mode)
{
    mem_auto char *path = dir == AT_FDCWD ? mem_str(name) : mem_fmt("/proc/self/fd/%d/%s", dir, name);

    return open(path, flags | O_NOFOLLOW | O_CLOEXEC, mode);
}

DIR *local_open_dir(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    if (fd >= 0 && !d)
        close(fd);
    return d;
}

int local_make_dir_at(int dir, const char *name, mode_t mode, struct err_info *why)
{
    int fd = mkdirat(dir, name, mode) ? -1 : local_open_at(dir, name, O_RDONLY | O_DIRECTORY, 0);

    if (fd < 0)
        local_sys_fail(why, name);
    return fd;
}

/* ---- removing ---- */

struct removal {
    int top;          /* directory whose content goes */
    unsigned n_moved; /* directories moved into it */
    struct err_info *why;
};

static int remove_entry(struct removal *r, int dir, const char *name, int depth);

/** Takes the descriptor. */
static int empty_dir(struct removal *r, int fd, int depth)
{
    DIR *d = fdopendir(fd);
    const struct dirent *e;
    int err = 0;

    if (!d) {
        close(fd);
        return local_sys_fail(r->why, NULL);
    }
    while (!err && (e = readdir(d)))
        if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
            err = remove_entry(r, dirfd(d), e->d_name, depth + 1);
    closedir(d);
    return err;
}

/** Put a directory into the top one under a name that is free. */
static int move_up(struct removal *r, int dir, const char *name)
{
    for (;;) {
        mem_auto char *free_name = mem_fmt(".removed-%u", r->n_moved++);
        if (!renameat(dir, name, r->top, free_name))
            return 0;
        if (errno != EEXIST && errno != ENOTEMPTY && errno != ENOTDIR)
            return local_sys_fail(r->why, name);
    }
}

static int remove_entry(struct removal *r, int dir, const char *name, int depth)
{
    if (!unlinkat(dir, name, 0) || errno == ENOENT)
        return 0;
    if (errno != EISDIR && errno != EPERM)
        return local_sys_fail(r->why, name);
    if (depth > REMOVE_DEPTH)
        return move_up(r, dir, name);
    int fd = local_open_at(dir, name, O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0)
        return local_sys_fail(r->why, name);
    int err = empty_dir(r, fd, depth);
    if (err)
        return err;
    return unlinkat(dir, name, AT_REMOVEDIR) && errno != ENOENT ? local_sys_fail(r->why, name) : 0;
}

/** Again while directories from below have come into it. */
static int empty_top(struct removal *r)
{
    unsigned n_before;
    int err = 0;

    do {
        n_before = r->n_moved;
        int fd = local_open_at(r->top, ".", O_RDONLY | O_DIRECTORY, 0);
        err = fd < 0 ? local_sys_fail(r->why, NULL) : empty_dir(r, fd, 0);
    } while (!err && r->n_moved != n_before);
    return err;
}

int local_remove_at(int dir, const char *name, struct err_info *why)
{
    struct removal r = {.why = why};

    if (!unlinkat(dir, name, 0) || errno == ENOENT)
        return 0;
    if (errno != EISDIR && errno != EPERM)
        return local_sys_fail(why, name);
    r.top = local_open_at(dir, name, O_RDONLY | O_DIRECTORY, 0);
    if (r.top < 0)
        return local_sys_fail(why, name);
    int err = empty_top(&r);
    close(r.top);
    if (err)
        return err;
    return unlinkat(dir, name, AT_REMOVEDIR) && errno != ENOENT ? local_sys_fail(why, name) : 0;
}

int local_remove_tree(const char *path, struct err_info *why)
{
    return local_remove_at(AT_FDCWD, path, why);
}

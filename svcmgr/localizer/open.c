#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "localizer/localizer.h"

int localizer_fault(struct source_fault *f, enum source_problem problem, int error)
{
    f->problem = problem;
    f->error = error;
    return -1;
}

static int cannot_open(struct source_fault *f, int error)
{
    if (error == ENOENT || error == ENOTDIR || error == ENAMETOOLONG)
        return localizer_fault(f, SOURCE_ABSENT, error);
    if (error == EACCES || error == EPERM)
        return localizer_fault(f, SOURCE_NO_RIGHT, error);
    return localizer_fault(f, SOURCE_UNREAD, error);
}

/** What of a path comes behind a directory; NULL: it does not lie beneath it. */
static const char *rest_beneath(const char *dir, const char *path)
{
    size_t n = strlen(dir);

    while (n > 0 && dir[n - 1] == '/')
        n--;
    return strncmp(path, dir, n) || path[n] != '/' ? NULL : path + n + 1;
}

/** The innermost directory that a path lies beneath; NULL: none. */
static const char *find_dir(const struct sources_ask *ask, const char *path, const char **rest)
{
    const char *found = NULL;

    for (size_t i = 0; i < ask->n_dirs; i++) {
        const char *r = rest_beneath(ask->dirs[i], path);
        if (!r || (found && r <= *rest))
            continue;
        found = ask->dirs[i];
        *rest = r;
    }
    return found;
}

/** Go from a directory to what one element names. @return descriptor of O_PATH; -1: *f says why. Closes dir. */
static int step_into(int dir, const char *name, struct source_fault *f)
{
    struct stat st = {0};
    int fd = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    int error = fd < 0 || fstat(fd, &st) ? errno : 0;

    close(dir);
    if (!error && !S_ISLNK(st.st_mode))
        return fd;
    if (fd >= 0)
        close(fd);
    return error ? cannot_open(f, error) : localizer_fault(f, SOURCE_LINK, ELOOP);
}

/** Walk element by element: nothing may be put in the way that leads elsewhere. @return as step_into */
static int walk(int dir, const char *rest, struct source_fault *f)
{
    mem_auto char *path = mem_str(rest);
    char *save = NULL;

    for (char *name = strtok_r(path, "/", &save); name && dir >= 0; name = strtok_r(NULL, "/", &save)) {
        if (strcmp(name, "..")) {
            dir = step_into(dir, name, f);
            continue;
        }
        close(dir);
        return localizer_fault(f, SOURCE_OUTSIDE, 0);
    }
    return dir;
}

static int open_source(const struct sources_ask *ask, const char *path, bool with_dirs, struct stat *st,
                       struct source_fault *f)
{
    const char *rest = NULL, *dir = find_dir(ask, path, &rest);
    char again[48];

    if (!dir)
        return localizer_fault(f, SOURCE_OUTSIDE, 0);
    int at = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (at < 0)
        return cannot_open(f, errno);
    at = walk(at, rest, f);
    if (at < 0)
        return -1;
    if (fstat(at, st) || !(S_ISREG(st->st_mode) || (with_dirs && S_ISDIR(st->st_mode)))) {
        close(at);
        return localizer_fault(f, SOURCE_NOT_REGULAR, 0);
    }
    snprintf(again, sizeof again, "/proc/self/fd/%d", at);
    int fd = open(again, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    int error = errno;
    close(at);
    return fd < 0 ? cannot_open(f, error) : fd;
}

int localizer_open(const struct sources_ask *ask, const char *path, struct stat *st, struct source_fault *f)
{
    return open_source(ask, path, false, st, f);
}

int localizer_open_tree(const struct sources_ask *ask, const char *path, struct stat *st,
                        struct source_fault *f)
{
    return open_source(ask, path, true, st, f);
}

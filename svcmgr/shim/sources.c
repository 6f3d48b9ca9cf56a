#include "shim/sources.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "shim/rights.h"
#include "shim/sources_wire.h"
#include "shim/wire.h"

#define COPY_PIECE 65536

/** A problem with the file in work; the number of the file is filled in by who goes through them. */
static int fault(struct source_fault *f, enum source_problem problem, int error)
{
    f->problem = problem;
    f->error = error;
    return -1;
}

static int cannot_open(struct source_fault *f, int error)
{
    if (error == ENOENT || error == ENOTDIR || error == ENAMETOOLONG)
        return fault(f, SOURCE_ABSENT, error);
    if (error == EACCES || error == EPERM)
        return fault(f, SOURCE_NO_RIGHT, error);
    return fault(f, SOURCE_UNREAD, error);
}

/* ---- finding ---- */

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
    return error ? cannot_open(f, error) : fault(f, SOURCE_LINK, ELOOP);
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
        return fault(f, SOURCE_OUTSIDE, 0);
    }
    return dir;
}

/** Open a file to read. What is no regular file is never opened. @return descriptor; -1: *f says why. */
static int open_source(const struct sources_ask *ask, const char *path, struct stat *st,
                       struct source_fault *f)
{
    const char *rest = NULL, *dir = find_dir(ask, path, &rest);
    char again[48];

    if (!dir)
        return fault(f, SOURCE_OUTSIDE, 0);
    int at = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (at < 0)
        return cannot_open(f, errno);
    at = walk(at, rest, f);
    if (at < 0)
        return -1;
    if (fstat(at, st) || !S_ISREG(st->st_mode)) {
        close(at);
        return fault(f, SOURCE_NOT_REGULAR, 0);
    }
    snprintf(again, sizeof again, "/proc/self/fd/%d", at);
    int fd = open(again, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    int error = errno;
    close(at);
    return fd < 0 ? cannot_open(f, error) : fd;
}

/* ---- copying ---- */

/** @param max  bytes that may be copied; *n_copied: bytes that were */
static int copy(int from, int to, int64_t max, int64_t *n_copied, struct source_fault *f)
{
    static char piece[COPY_PIECE];

    for (*n_copied = 0;;) {
        ssize_t n = read(from, piece, sizeof piece);
        if (n < 0)
            return fault(f, SOURCE_UNREAD, errno);
        if (n == 0)
            return 0;
        *n_copied += n;
        if (*n_copied > max)
            return fault(f, SOURCE_TOO_LARGE, 0);
        if (shim_write_all(to, piece, (size_t)n))
            return fault(f, SOURCE_UNWRITTEN, errno);
    }
}

static int copy_as(int from, const char *name, mode_t mode, int64_t max, int64_t *n_copied,
                   struct source_fault *f)
{
    int to = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    if (to < 0)
        return fault(f, SOURCE_UNWRITTEN, errno);
    int failed = copy(from, to, max, n_copied, f);
    if (!failed && fchmod(to, mode & 0777))
        failed = fault(f, SOURCE_UNWRITTEN, errno);
    close(to);
    return failed;
}

/** @param left  bytes that may still be copied in all [in,out] */
static int take_source(const struct sources_ask *ask, size_t i, int64_t *left, struct source_fault *f)
{
    const struct source *source = &ask->sources[i];
    int64_t max = source->max_bytes < *left ? source->max_bytes : *left, n_copied = 0;
    struct stat st = {0};
    char name[40];
    int fd = open_source(ask, source->path, &st, f);
    int failed = fd < 0;

    if (!failed && st.st_size > max)
        failed = fault(f, SOURCE_TOO_LARGE, 0);
    if (!failed && !ask->is_check) {
        snprintf(name, sizeof name, "%zu", i);
        failed = copy_as(fd, name, st.st_mode, max, &n_copied, f);
    }
    if (fd >= 0)
        close(fd);
    *left -= ask->is_check && !failed ? st.st_size : n_copied;
    return failed;
}

/* ---- the whole ---- */

static int fail(const char *step)
{
    fprintf(stderr, "reader of sources: %s: %s\n", step, strerror(errno));
    return 1;
}

static int read_ask(struct sources_ask *ask)
{
    buf_auto struct buf bytes = BUF_EMPTY;
    struct err_info why = {0};
    ssize_t n = 1;

    while (n > 0 && bytes.len <= SOURCES_REQUEST_MAX) {
        n = read(STDIN_FILENO, buf_room(&bytes, COPY_PIECE), COPY_PIECE);
        bytes.len += n > 0 ? (size_t)n : 0;
    }
    if (n < 0)
        return fail("request");
    if (bytes.len > SOURCES_REQUEST_MAX || sources_ask_read(buf_cstr(&bytes), bytes.len, ask, &why)) {
        fprintf(stderr, "reader of sources: request: %s\n", why.text);
        return 1;
    }
    return 0;
}

/** No process may trace this one and use its descriptors; it ends with its parent. */
static int become_reader(const struct shim_user *user)
{
    if (rights_leave_keyring(user) || rights_take(user))
        return -1;
    return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) || prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) ? -1 : 0;
}

int sources_main(void)
{
    struct sources_ask ask = {0};
    buf_auto struct buf answer = BUF_EMPTY;

    close_range(STDERR_FILENO + 1, ~0u, 0);
    umask(077);
    if (read_ask(&ask))
        return 1;
    int64_t left = ask.max_bytes;
    int failed = become_reader(&ask.user) ? fail("switch of user") : 0;
    for (size_t i = 0; !failed && i < ask.n_sources; i++) {
        struct source_fault f = {.source = i};
        if (!take_source(&ask, i, &left, &f))
            continue;
        source_fault_write(&f, &answer);
        if (!ask.is_check)
            break;
    }
    if (!failed && shim_write_all(STDOUT_FILENO, answer.bytes, answer.len))
        failed = fail("answer");
    sources_ask_fini(&ask);
    return failed;
}

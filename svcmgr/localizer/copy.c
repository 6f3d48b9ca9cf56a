/** Copies of files and directories: see localizer.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/mem.h"
#include "localizer/localizer.h"
#include "shim/wire.h"

#define COPY_PIECE 65536
#define FILE_MODE  0500

/* ---- a file ---- */

static int copy(int from, int to, int64_t max, int64_t *n_copied, struct source_fault *f)
{
    static char piece[COPY_PIECE];

    for (*n_copied = 0;;) {
        ssize_t n = read(from, piece, sizeof piece);
        if (n < 0)
            return localizer_fault(f, SOURCE_UNREAD, errno);
        if (n == 0)
            return 0;
        *n_copied += n;
        if (*n_copied > max)
            return localizer_fault(f, SOURCE_TOO_LARGE, 0);
        if (shim_write_all(to, piece, (size_t)n))
            return localizer_fault(f, SOURCE_UNWRITTEN, errno);
    }
}

int localizer_copy(int from, int to, int64_t max, int64_t *n_copied, struct source_fault *f)
{
    struct stat st;

    if (fstat(from, &st))
        return localizer_fault(f, SOURCE_UNREAD, errno);
    if (st.st_size > 0 && st.st_size <= max && !ioctl(to, FICLONE, from)) {
        *n_copied = st.st_size;
        return 0;
    }
    return copy(from, to, max, n_copied, f);
}

/* ---- a tree ---- */

/** What is being copied. */
struct tree {
    struct copy_limits *left;
    struct source_fault *f;
};

/** A fault of one entry. @param name  from the top */
static int entry_fault(const struct tree *t, enum source_problem problem, int error, const char *name)
{
    source_fault_detail(t->f, name);
    return localizer_fault(t->f, problem, error);
}

static int cannot_open(const struct tree *t, const char *name)
{
    bool is_denied = errno == EACCES || errno == EPERM;

    return entry_fault(t, is_denied ? SOURCE_NO_RIGHT : SOURCE_UNREAD, errno, name);
}

static int copy_file(const struct tree *t, int from_dir, int to_dir, const char *last, const char *name)
{
    int from = openat(from_dir, last, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    struct stat st;
    int64_t n = 0;

    if (from < 0)
        return cannot_open(t, name);
    bool is_file = !fstat(from, &st) && S_ISREG(st.st_mode);
    int failed = is_file ? 0 : entry_fault(t, SOURCE_ENTRY_KIND, 0, name);
    int to = failed ? -1 : openat(to_dir, last, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (!failed && to < 0)
        failed = entry_fault(t, SOURCE_UNWRITTEN, errno, name);
    if (!failed)
        failed = localizer_copy(from, to, t->left->bytes, &n, t->f);
    if (!failed && fchmod(to, FILE_MODE))
        failed = entry_fault(t, SOURCE_UNWRITTEN, errno, name);
    t->left->bytes -= failed ? 0 : n;
    close(from);
    if (to >= 0)
        close(to);
    return failed;
}

static int copy_link(const struct tree *t, int from_dir, int to_dir, const char *last, const char *name)
{
    char target[PATH_MAX];
    ssize_t n = readlinkat(from_dir, last, target, sizeof target - 1);

    if (n < 0)
        return cannot_open(t, name);
    target[n] = '\0';
    if (!entry_link_is_inside(name, target))
        return entry_fault(t, SOURCE_LINK, 0, name);
    return symlinkat(target, to_dir, last) ? entry_fault(t, SOURCE_UNWRITTEN, errno, name) : 0;
}

static int copy_dir(const struct tree *t, int from, int to, const char *name, size_t depth);

static int copy_below(const struct tree *t, int from_dir, int to_dir, const char *last, const char *name,
                      size_t depth)
{
    int from = openat(from_dir, last, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (from < 0)
        return cannot_open(t, name);
    int failed = mkdirat(to_dir, last, 0700) ? entry_fault(t, SOURCE_UNWRITTEN, errno, name) : 0;
    int to = failed ? -1 : openat(to_dir, last, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (!failed && to < 0)
        failed = entry_fault(t, SOURCE_UNWRITTEN, errno, name);
    if (failed) {
        close(from);
        return failed;
    }
    failed = copy_dir(t, from, to, name, depth + 1);
    close(to);
    return failed;
}

static int copy_entry(const struct tree *t, int from, int to, const char *last, const char *name,
                      size_t depth)
{
    struct stat st;

    if (t->left->entries-- <= 0)
        return entry_fault(t, SOURCE_ENTRIES, 0, name);
    if (fstatat(from, last, &st, AT_SYMLINK_NOFOLLOW))
        return cannot_open(t, name);
    if (S_ISLNK(st.st_mode))
        return copy_link(t, from, to, last, name);
    if (S_ISDIR(st.st_mode) && depth < ENTRY_DEPTH_MAX)
        return copy_below(t, from, to, last, name, depth);
    if (!S_ISREG(st.st_mode))
        return entry_fault(t, S_ISDIR(st.st_mode) ? SOURCE_ENTRY_NAME : SOURCE_ENTRY_KIND, 0, name);
    return copy_file(t, from, to, last, name);
}

static bool is_dots(const char *name)
{
    return !strcmp(name, ".") || !strcmp(name, "..");
}

/** @param from  closed @param name  of the directory, "" at the top */
static int copy_dir(const struct tree *t, int from, int to, const char *name, size_t depth)
{
    DIR *dir = fdopendir(from);
    struct dirent *entry;
    int failed = 0;

    if (!dir) {
        close(from);
        return localizer_fault(t->f, SOURCE_UNREAD, errno);
    }
    while (!failed && (errno = 0, entry = readdir(dir))) {
        mem_auto char *below = mem_fmt("%s%s%s", name, *name ? "/" : "", entry->d_name);
        if (!is_dots(entry->d_name))
            failed = copy_entry(t, dirfd(dir), to, entry->d_name, below, depth);
    }
    if (!failed && errno)
        failed = entry_fault(t, SOURCE_UNREAD, errno, name);
    closedir(dir);
    return failed;
}

int localizer_copy_tree(int from, int to, struct copy_limits *left, struct source_fault *f)
{
    const struct tree t = {left, f};
    int again = openat(from, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    return again < 0 ? localizer_fault(f, SOURCE_UNREAD, errno) : copy_dir(&t, again, to, "", 0);
}

/* ---- modes ---- */

/** @param fd  directory, closed */
static int protect(int fd)
{
    DIR *dir = fdopendir(fd);
    struct dirent *entry;
    struct stat st;
    int failed = 0;

    if (!dir) {
        close(fd);
        return -1;
    }
    while (!failed && (entry = readdir(dir))) {
        const char *name = entry->d_name;
        if (is_dots(name) || fstatat(dirfd(dir), name, &st, AT_SYMLINK_NOFOLLOW))
            continue;
        if (S_ISREG(st.st_mode))
            failed = fchmodat(dirfd(dir), name, FILE_MODE, 0);
        int below = S_ISDIR(st.st_mode)
                        ? openat(dirfd(dir), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                        : -1;
        failed = failed || (below >= 0 && protect(below));
    }
    closedir(dir);
    return failed;
}

int localizer_protect_tree(int top, struct source_fault *f)
{
    int again = openat(top, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    return again < 0 || protect(again) ? localizer_fault(f, SOURCE_UNWRITTEN, errno) : 0;
}

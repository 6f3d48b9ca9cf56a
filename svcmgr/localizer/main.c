/** The program container-localizer: see localizer.h and shim/sources_wire.h. */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/buf.h"
#include "fs/place.h"
#include "localizer/localizer.h"
#include "shim/rights.h"
#include "shim/wire.h"

#define COPY_PIECE 65536

/** What may still be taken of the request's limits. */
struct budget {
    int64_t bytes;
    struct unpack_limits unpack;
};

/* ---- copying ---- */

/** What a source that is no archive becomes. @param n_read  bytes of it [out] */
static int make_file(int from, const char *name, const struct source *source, int64_t max, int64_t *n_read,
                     struct source_fault *f)
{
    int to = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    struct stat st = {0};
    int failed = 0;

    if (to < 0)
        return localizer_fault(f, SOURCE_UNWRITTEN, errno);
    if (fstat(from, &st))
        failed = localizer_fault(f, SOURCE_UNREAD, errno);
    else if (source->form == SOURCE_XML || source->form == SOURCE_PROPERTIES)
        failed = localizer_convert(from, to, source->form, max, f);
    else
        failed = localizer_copy(from, to, max, n_read, f);
    mode_t mode = source_is_url(source->path) ? 0644 : st.st_mode & 0777; /* A server gives no mode. */
    if (source->form == SOURCE_TREE)
        mode = 0500;
    if (!failed && fchmod(to, mode))
        failed = localizer_fault(f, SOURCE_UNWRITTEN, errno);
    close(to);
    return failed;
}

/** @param is_protected  files get the mode 0500 */
static int unpack_as(int from, const char *name, bool is_protected, struct unpack_limits *left,
                     struct source_fault *f)
{
    int to = mkdir(name, 0700) ? -1 : open(name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (to < 0)
        return localizer_fault(f, SOURCE_UNWRITTEN, errno);
    int failed = localizer_unpack(from, to, left, f);
    if (!failed && is_protected)
        failed = localizer_protect_tree(to, f);
    if (!failed && fchmod(to, 0755))
        failed = localizer_fault(f, SOURCE_UNWRITTEN, errno);
    close(to);
    return failed;
}

/** What a directory becomes. */
static int copy_tree(int from, const char *name, int64_t max, struct budget *left, struct source_fault *f)
{
    int to = mkdir(name, 0700) ? -1 : open(name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct copy_limits limits = {max, left->unpack.max_entries};

    if (to < 0)
        return localizer_fault(f, SOURCE_UNWRITTEN, errno);
    int failed = localizer_copy_tree(from, to, &limits, f);
    close(to);
    left->bytes -= max - limits.bytes;
    left->unpack.max_entries = limits.entries;
    return failed;
}

/* ---- sources ---- */

/** @return descriptor with *st; -1: *f says why. */
static int open_source(const struct sources_ask *ask, const struct source *source, int64_t max,
                       struct stat *st, struct source_fault *f)
{
    if (!source_is_url(source->path))
        return source->form == SOURCE_TREE ? localizer_open_tree(ask, source->path, st, f)
                                           : localizer_open(ask, source->path, st, f);
    const struct fetch_from from = {source, ask->owner};
    int fd = localizer_cache(SOURCES_CACHE_FD, &from, max, ask->fresh_s, f);
    if (fd >= 0 && fstat(fd, st)) {
        close(fd);
        return localizer_fault(f, SOURCE_UNREAD, errno);
    }
    return fd;
}

/** @param left  what may still be taken in all [in,out] */
static int take_opened(int fd, const struct stat *st, size_t i, const struct source *source,
                       struct budget *left, struct source_fault *f)
{
    int64_t max = source->max_bytes < left->bytes ? source->max_bytes : left->bytes, n_read = 0;
    bool is_tree = source->form == SOURCE_TREE;
    bool is_archive = source->form == SOURCE_ARCHIVE || (is_tree && fs_is_archive(source->path));
    char name[40];

    snprintf(name, sizeof name, "%zu", i);
    if (S_ISDIR(st->st_mode))
        return copy_tree(fd, name, max, left, f);
    if (st->st_size > max)
        return localizer_fault(f, SOURCE_TOO_LARGE, 0);
    int failed = is_archive ? unpack_as(fd, name, is_tree, &left->unpack, f)
                            : make_file(fd, name, source, max, &n_read, f);
    bool has_size = !failed && (is_archive || (source->form != SOURCE_FILE && !is_tree));
    left->bytes -= has_size ? st->st_size : n_read;
    return failed;
}

/** @param left  what may still be taken in all [in,out] */
static int take_source(const struct sources_ask *ask, size_t i, struct budget *left, struct source_fault *f)
{
    const struct source *source = &ask->sources[i];
    int64_t max = source->max_bytes < left->bytes ? source->max_bytes : left->bytes;
    struct stat st = {0};

    if (ask->is_check && source_is_url(source->path))
        return localizer_look(&(struct fetch_from){source, ask->owner}, max, f);
    int fd = open_source(ask, source, max, &st, f);
    if (fd < 0)
        return -1;
    int failed = 0;
    if (!ask->is_check)
        failed = take_opened(fd, &st, i, source, left, f);
    else if (st.st_size > max)
        failed = localizer_fault(f, SOURCE_TOO_LARGE, 0);
    else
        left->bytes -= st.st_size;
    close(fd);
    return failed;
}

/* ---- the whole ---- */

static int fail(const char *step)
{
    fprintf(stderr, "localizer: %s: %s\n", step, strerror(errno));
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
        fprintf(stderr, "localizer: request: %s\n", why.text);
        return 1;
    }
    return 0;
}

/** No process may trace this one and use its descriptors; it ends with its parent. */
static int drop_rights(const struct shim_user *user)
{
    if (rights_leave_keyring(user) || rights_take(user))
        return -1;
    return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) || prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) ? -1 : 0;
}

static int take_all(const struct sources_ask *ask, struct buf *answer)
{
    struct budget left = {ask->max_bytes, ask->unpack};

    for (size_t i = 0; i < ask->n_sources; i++) {
        struct source_fault f = {.source = i};
        if (!take_source(ask, i, &left, &f))
            continue;
        source_fault_write(&f, answer);
        if (!ask->is_check)
            break;
    }
    return shim_write_all(STDOUT_FILENO, answer->bytes, answer->len) ? fail("answer") : 0;
}

static int localize(void)
{
    struct sources_ask ask = {0};
    buf_auto struct buf answer = BUF_EMPTY;

    if (read_ask(&ask))
        return 1;
    close_range(ask.has_cache ? SOURCES_CACHE_FD + 1 : SOURCES_CACHE_FD, ~0u, 0);
    int failed = drop_rights(&ask.user) ? fail("switch of user") : take_all(&ask, &answer);
    sources_ask_fini(&ask);
    return failed;
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        fprintf(stderr, "%s takes no arguments: svcmgr starts it when a container's files are fetched\n",
                argv[0]);
        return err_exit_code(ERR_USAGE);
    }
    umask(077);
    signal(SIGPIPE, SIG_IGN);
    setlocale(LC_CTYPE, "C.UTF-8"); /* Names in archives are UTF-8. */
    _exit(localize()); /* It may not be looked into: a sanitizer that does so at exit would fail. */
}

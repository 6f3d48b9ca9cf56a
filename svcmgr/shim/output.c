#include "shim/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shim/rights.h"

#define PIECE      65536
#define DRAIN_MAX  64 /* pieces: more than a pipe can hold; a stranger may have got its other end */
#define NAME_MAX_N 48

/* ---- files ---- */

/** A file of the container's own directory, with its user's rights: what lies there may be a link, or no file. */
static int open_file(const struct outputs *o, const char *name, int more_flags, int64_t *size)
{
    struct stat st;
    int fd = openat(o->dir_fd, name,
                    O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | more_flags, 0640);

    if (fd < 0)
        return -1;
    int error = fstat(fd, &st) ? errno : !S_ISREG(st.st_mode) || st.st_nlink != 1 ? EINVAL : 0;
    if (!error) {
        *size = st.st_size;
        return fd;
    }
    close(fd);
    errno = error;
    return -1;
}

static void number_name(const char *name, int number, char out[NAME_MAX_N])
{
    if (number)
        snprintf(out, NAME_MAX_N, "%s.%d", name, number);
    else
        snprintf(out, NAME_MAX_N, "%s", name);
}

static void shift_names(const struct outputs *o, const char *name)
{
    char from[NAME_MAX_N], to[NAME_MAX_N];

    number_name(name, (int)o->launch->log_files - 1, to);
    unlinkat(o->dir_fd, to, 0);
    for (int k = (int)o->launch->log_files - 1; k > 0; k--) {
        number_name(name, k - 1, from);
        number_name(name, k, to);
        renameat(o->dir_fd, from, o->dir_fd, to); /* One that is missing, or cannot be moved, is left out. */
    }
}

/** Begin a new file. Where the directory does not allow it, what the old one holds goes: the bound stands. */
static void rotate(const struct outputs *o, struct output *out)
{
    int64_t size = 0;
    int fd = -1;

    if (!rights_files_as(&o->launch->user)) {
        shift_names(o, out->name);
        fd = open_file(o, out->name, O_EXCL, &size);
    }
    rights_files_back(&o->launch->user);
    if (fd >= 0) {
        close(out->file_fd);
        out->file_fd = fd;
    } else if (ftruncate(out->file_fd, 0)) {
        fprintf(stderr, "%s is neither rotated nor emptied: %s\n", out->name, strerror(errno));
    }
    out->size = 0;
}

/* ---- writing ---- */

static void lose(struct output *out, size_t len)
{
    if (!out->n_lost) {
        out->error = errno;
        fprintf(stderr, "%s: output is dropped: %s\n", out->name, strerror(errno));
    }
    out->n_lost += (int64_t)len;
}

static void write_bytes(struct output *out, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t n = write(out->file_fd, bytes, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            lose(out, len);
            return;
        }
        out->size += n;
        bytes += n;
        len -= (size_t)n;
    }
}

/** There was no room for a time: say so where it is missing. */
static void note_lost(struct output *out)
{
    char text[160];
    int n = snprintf(text, sizeof text, "\n[%lld bytes of output are missing here: %s]\n",
                     (long long)out->n_lost, strerror(out->error));

    if (write(out->file_fd, text, (size_t)n) == n) {
        out->n_lost = 0;
        out->size += n;
    }
}

/** How much of the bytes the file takes: whole lines, if it has one. 0: none, it is full. */
static size_t fitting(const struct outputs *o, const struct output *out, const char *bytes, size_t len)
{
    int64_t room = o->launch->log_bytes - out->size;

    if (!o->launch->log_bytes || (int64_t)len <= room)
        return len;
    const char *end = room > 0 ? memrchr(bytes, '\n', (size_t)room) : NULL;
    if (end)
        return (size_t)(end - bytes) + 1;
    return out->size > 0 ? 0 : (size_t)room;
}

static void keep(const struct outputs *o, struct output *out, const char *bytes, size_t len)
{
    while (len > 0) {
        size_t n = fitting(o, out, bytes, len);
        if (!n) {
            rotate(o, out);
            continue;
        }
        if (out->n_lost)
            note_lost(out);
        write_bytes(out, bytes, n);
        bytes += n;
        len -= n;
    }
}

/** Remember the last bytes. */
static void keep_tail(struct outputs *o, const char *bytes, size_t len)
{
    size_t n_new = len < SHIM_TAIL_MAX ? len : SHIM_TAIL_MAX;
    size_t room = SHIM_TAIL_MAX - n_new, n_old = o->tail_len < room ? o->tail_len : room;

    memmove(o->tail, o->tail + o->tail_len - n_old, n_old);
    memcpy(o->tail + n_old, bytes + len - n_new, n_new);
    o->tail_len = n_old + n_new;
}

bool output_take(struct outputs *o, struct output *out)
{
    static char piece[PIECE];
    ssize_t n = read(out->pipe_fd, piece, sizeof piece);

    if (n > 0) {
        if (out == &o->items[OUTPUT_STDERR])
            keep_tail(o, piece, (size_t)n);
        keep(o, out, piece, (size_t)n);
        return true;
    }
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    close(out->pipe_fd);
    out->pipe_fd = -1;
    return false;
}

/* ---- the whole ---- */

/** A pipe whose writing end the process may open again by name (/dev/stdout). */
static int open_pipe(const struct shim_user *u, struct output *out, int *write_fd)
{
    int fds[2];

    if (pipe2(fds, O_CLOEXEC))
        return -1;
    out->pipe_fd = fds[0];
    *write_fd = fds[1];
    if (fcntl(fds[0], F_SETFL, O_NONBLOCK))
        return -1;
    return u->is_set ? fchown(fds[1], u->uid, u->gid) : 0;
}

static int open_files(struct outputs *o)
{
    int failed = rights_files_as(&o->launch->user);

    for (size_t i = 0; !failed && i < OUTPUT_N; i++) {
        struct output *out = &o->items[i];
        out->file_fd = open_file(o, out->name, 0, &out->size);
        failed = out->file_fd < 0;
    }
    int error = errno;
    rights_files_back(&o->launch->user);
    errno = error;
    return failed ? -1 : 0;
}

static void close_all(struct outputs *o)
{
    for (size_t i = 0; i < OUTPUT_N; i++) {
        if (o->items[i].pipe_fd >= 0)
            close(o->items[i].pipe_fd);
        if (o->items[i].file_fd >= 0)
            close(o->items[i].file_fd);
        o->items[i].pipe_fd = o->items[i].file_fd = -1;
    }
    if (o->dir_fd >= 0)
        close(o->dir_fd);
    o->dir_fd = -1;
}

int outputs_open(struct outputs *o, const struct shim_launch *l, int write_fds[OUTPUT_N])
{
    *o = (struct outputs){
        .launch = l,
        .items = {
            [OUTPUT_STDOUT] = {.name = SHIM_STDOUT_FILE}, [OUTPUT_STDERR] = {.name = SHIM_STDERR_FILE}}};
    o->dir_fd = open(l->log_dir, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    for (size_t i = 0; i < OUTPUT_N; i++)
        o->items[i].pipe_fd = o->items[i].file_fd = write_fds[i] = -1;
    int failed = o->dir_fd < 0 || open_files(o);
    for (size_t i = 0; !failed && i < OUTPUT_N; i++)
        failed = open_pipe(&l->user, &o->items[i], &write_fds[i]);
    if (!failed)
        return 0;
    int error = errno;
    close_all(o);
    for (size_t i = 0; i < OUTPUT_N; i++)
        if (write_fds[i] >= 0)
            close(write_fds[i]);
    errno = error;
    return -1;
}

void outputs_close(struct outputs *o)
{
    for (size_t i = 0; i < OUTPUT_N; i++) {
        struct output *out = &o->items[i];
        for (int k = 0; out->pipe_fd >= 0 && k < DRAIN_MAX && output_take(o, out); k++)
            continue;
        if (out->file_fd >= 0 && out->n_lost)
            note_lost(out);
    }
    close_all(o);
}

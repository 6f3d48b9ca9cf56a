#include "cluster/shim_link.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/obj.h"
#include "cluster/address_claim.h"
#include "cluster/shim_autopsy.h"
#include "run/shortage.h"
#include "run/fdlimit.h"

#define FDS_KEPT 64

#define LINK_MAGIC OBJ_MAGIC('S', 'L', 'N', 'K')

struct shim_link {
    struct obj obj;
    const struct shim_link_ops *ops; /* NULL: closed, no callbacks */
    void *arg;
    uv_pipe_t pipe;
    uv_process_t process; /* of a spawned shim */
    bool is_spawned;
    bool is_eof, is_gone; /* the connection has ended; so has the spawned process */
    bool has_exit;        /* the exit line came */
    struct shim_exit exit;
    int n_open; /* libuv handles that are not closed yet */
    size_t len;
    char line[SHIM_LINE_MAX];
};

struct sending {
    uv_write_t req;
    char text[48];
};

/* ---- handles ---- */

static void on_closed(uv_handle_t *handle)
{
    struct shim_link *link = obj_cast(handle->data, struct shim_link, LINK_MAGIC);

    if (--link->n_open > 0)
        return;
    obj_fini(&link->obj);
    free(link);
}

void shim_link_close(struct shim_link *link)
{
    if (!link)
        return;
    link->ops = NULL;
    if (!uv_is_closing((uv_handle_t *)&link->pipe))
        run_handle_close((uv_handle_t *)&link->pipe, on_closed);
    if (link->is_spawned && !uv_is_closing((uv_handle_t *)&link->process))
        uv_close((uv_handle_t *)&link->process, on_closed);
}

/** Say that it is over when a shim of ours is reaped, too: who hears it may take the container's directory away. */
static void report_exit(struct shim_link *link)
{
    const struct shim_link_ops *ops = link->ops;

    if (!ops || !link->is_eof || (link->is_spawned && !link->is_gone))
        return;
    link->ops = NULL; /* The last call: its receiver closes the link. */
    ops->ended(link->arg, link->has_exit ? &link->exit : NULL);
}

static void on_shim_ended(uv_process_t *process, int64_t status, int signal)
{
    struct shim_link *link = obj_cast(process->data, struct shim_link, LINK_MAGIC);

    /* How the container ended is in the line or the file: this only reaps the shim. */
    (void)status;
    (void)signal;
    link->is_gone = true;
    report_exit(link);
}

static void take_line(struct shim_link *link, const char *line)
{
    struct shim_status s;

    if (!link->ops)
        return;
    if (!shim_exit_read(line, &link->exit))
        link->has_exit = true;
    else if (!shim_status_read(line, &s) && s.pid > 0)
        link->ops->running(link->arg, &s);
}

static void alloc_line(uv_handle_t *handle, size_t suggested, uv_buf_t *out)
{
    struct shim_link *link = obj_cast(handle->data, struct shim_link, LINK_MAGIC);

    (void)suggested;
    *out = uv_buf_init(link->line + link->len, (unsigned)(sizeof link->line - link->len));
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *unused)
{
    struct shim_link *link = obj_cast(stream->data, struct shim_link, LINK_MAGIC);
    char *end;

    (void)unused;
    if (n < 0) {
        uv_read_stop(stream);
        link->is_eof = true;
        report_exit(link);
        return;
    }
    link->len += (size_t)n;
    while ((end = memchr(link->line, '\n', link->len))) {
        char line[SHIM_LINE_MAX];
        size_t len = (size_t)(end - link->line);
        memcpy(line, link->line, len);
        line[len] = '\0';
        link->len -= len + 1;
        memmove(link->line, end + 1, link->len);
        take_line(link, line);
    }
    if (link->len == sizeof link->line)
        link->len = 0; /* No line of ours is that long. */
}

static void on_sent(uv_write_t *req, int status)
{
    (void)status; /* A connection that is lost shows itself in on_read. */
    free(container_of(req, struct sending, req));
}

static void send_text(struct shim_link *link, const char *text)
{
    struct sending *s = mem_new(struct sending);
    uv_buf_t bytes;

    snprintf(s->text, sizeof s->text, "%s", text);
    bytes = uv_buf_init(s->text, (unsigned)strlen(s->text));
    if (uv_write(&s->req, (uv_stream_t *)&link->pipe, &bytes, 1, on_sent))
        free(s);
}

void shim_link_stop(struct shim_link *link, int64_t grace_ms)
{
    char text[48];

    snprintf(text, sizeof text, "stop %lld\n", (long long)(grace_ms < INT32_MAX ? grace_ms : INT32_MAX));
    if (link->ops)
        send_text(link, text);
}

void shim_link_signal(struct shim_link *link, int signal)
{
    char text[48];

    snprintf(text, sizeof text, "signal %d\n", signal);
    if (link->ops)
        send_text(link, text);
}

/** A child of ours keeps its number until it is reaped, which is not before is_gone. */
static int kill_child(const struct shim_link *link, struct err_info *why)
{
    struct shim_proc proc;
    pid_t pid = link->process.pid;
    int err = link->is_gone ? ERR_NOTFOUND : shim_proc_read(pid, &proc);

    if (!err && proc.parent != getpid())
        err = ERR_NOTFOUND;
    if (!err)
        err = shim_proc_signal(pid, proc.start, SIGKILL);
    if (err == ERR_UNAVAILABLE)
        err = ERR_LIMIT;
    return err ? err_set(why, err, "container-shim", "process %d is not killed: %s", (int)pid, err_text(err))
               : 0;
}

int shim_link_kill(const struct shim_link *link, const char *dir, struct err_info *why)
{
    struct ucred peer;
    socklen_t len = sizeof peer;
    int fd;

    if (link->is_spawned)
        return kill_child(link, why);
    if (uv_fileno((const uv_handle_t *)&link->pipe, &fd) ||
        getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len))
        return err_set(why, ERR_NOTFOUND, dir, "the connection does not say who its shim is");
    return shim_kill(dir, peer.pid, why);
}

static struct shim_link *new_link(struct run_loop *loop, const struct shim_link_ops *ops, void *arg)
{
    struct shim_link *link = mem_new(struct shim_link);

    obj_init(&link->obj, LINK_MAGIC);
    link->ops = ops;
    link->arg = arg;
    BUG_IF(uv_pipe_init(run_loop_uv(loop), &link->pipe, 0));
    link->pipe.data = link;
    link->process.data = link;
    link->n_open = 1;
    return link;
}

static void begin(struct shim_link *link)
{
    uv_read_start((uv_stream_t *)&link->pipe, alloc_line, on_read);
    send_text(link, "status\nwait\n");
}

/* ---- starting and finding ---- */

/**
 * Descriptors below this number may be connections to shims. The rest is for the API, the store, the registry and what is
 * opened briefly. The kernel gives the lowest free number: one at the bound says that all below are taken.
 */
static int fds_for_links(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur > INT32_MAX)
        return INT32_MAX;
    return (int)(limit.rlim_cur > 2 * FDS_KEPT ? limit.rlim_cur - FDS_KEPT : limit.rlim_cur / 2);
}

static int too_many_fds(struct err_info *why)
{
    return err_set(why, ERR_LIMIT, "RLIMIT_NOFILE",
                   "descriptors are short: each container needs one; raise the limit (LimitNOFILE=)");
}

void shim_files_close(struct shim_files *files)
{
    if (files->log >= 0)
        close(files->log);
    if (files->lock >= 0)
        close(files->lock);
    if (files->address >= 0)
        close(files->address);
    *files = SHIM_FILES_NONE;
}

int shim_files_open(const char *dir, const char *ip, struct shim_files *files, struct err_info *why)
{
    mem_auto char *log = mem_fmt("%s/%s", dir, SHIM_LOG_FILE);

    *files = SHIM_FILES_NONE;
    int err = shim_lock(dir, &files->lock, why);
    if (err)
        return err == ERR_UNAVAILABLE ? ERR_LIMIT : err; /* An earlier shim that ends: soon over, too. */
    files->log = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (files->log < 0)
        err = err_set(why, shortage_code(errno), log, "%s", strerror(errno));
    else if (files->log >= fds_for_links())
        err = too_many_fds(why);
    if (!err && ip)
        err = address_claim(ip, &files->address, why);
    if (err)
        shim_files_close(files);
    return err;
}

static int spawn(struct run_loop *loop, struct shim_link *link, const struct shim_start *start)
{
    char *argv[] = {(char *)"container-shim", NULL};
    char *env[] = {(char *)"PATH=/usr/bin:/bin", NULL};
    uv_stdio_container_t stdio[] = {
        {.flags = UV_IGNORE},
        {.flags = UV_IGNORE},
        {.flags = UV_INHERIT_FD, .data.fd = start->files->log},
        [SHIM_BORN_FD] = {.flags = UV_CREATE_PIPE | UV_READABLE_PIPE | UV_WRITABLE_PIPE,
                          .data.stream = (uv_stream_t *)&link->pipe},
        [SHIM_LOCK_FD] = {.flags = UV_INHERIT_FD, .data.fd = start->files->lock},
        [SHIM_ADDRESS_FD] = {.flags = start->files->address < 0 ? UV_IGNORE : UV_INHERIT_FD,
                             .data.fd = start->files->address},
    };
    uv_process_options_t options = {
        .exit_cb = on_shim_ended,
        .file = start->shim_path,
        .args = argv,
        .env = env,
        .cwd = start->dir,
        .flags = UV_PROCESS_DETACHED,
        .stdio_count = start->files->address < 0 ? SHIM_ADDRESS_FD : ARRAY_LEN(stdio),
        .stdio = stdio,
    };

    link->is_spawned = true;
    link->n_open = 2; /* run_spawn initialises the handle even when it fails. */
    return run_spawn(loop, &link->process, &options);
}

int shim_link_spawn(struct run_loop *loop, const struct shim_start *start, const struct shim_link_ops *ops,
                    void *arg, struct shim_link **out, struct err_info *why)
{
    struct shim_link *link = new_link(loop, ops, arg);
    int err = spawn(loop, link, start);

    shim_files_close(start->files); /* The lock is the shim's now. */
    if (err) {
        shim_link_close(link);
        return err_set(why, shortage_code(-err), start->shim_path, "the container-shim does not start: %s",
                       uv_strerror(err));
    }
    begin(link);
    *out = link;
    return 0;
}

int shim_link_give_first_fdlimit(const struct shim_link *link, struct err_info *why)
{
    return link->is_gone ? 0 : fdlimit_give_first(link->process.pid, why);
}

/** Connect to the socket in a directory, whatever the length of its name. @return descriptor, or -1 with errno. */
static int connect_in(const char *dir)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int dir_fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int fd = dir_fd < 0 ? -1 : socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int error = errno;

    if (fd >= 0) {
        /* sun_path has 108 bytes; the link in /proc stands for a directory of any length. */
        snprintf(name.sun_path, sizeof name.sun_path, "/proc/self/fd/%d/%s", dir_fd, SHIM_SOCKET_FILE);
        if (connect(fd, (struct sockaddr *)&name, sizeof name)) {
            error = errno;
            close(fd);
            fd = -1;
        }
    }
    if (dir_fd >= 0)
        close(dir_fd);
    errno = error;
    return fd;
}

/** The connection in a directory. @return 0; ERR_NOTFOUND: nobody listens there; else ERR_LIMIT or ERR_IO: not known. */
static int connect_to_shim(const char *dir, int *fd, struct err_info *why)
{
    *fd = connect_in(dir);
    if (*fd >= 0 && *fd < fds_for_links())
        return 0;
    if (*fd >= 0) {
        close(*fd);
        return too_many_fds(why);
    }
    if (errno == ENOENT || errno == ENOTDIR || errno == ECONNREFUSED)
        return ERR_NOTFOUND;
    return err_set(why, shortage_code(errno), dir, "its shim cannot be connected to: %s", strerror(errno));
}

int shim_link_adopt(struct run_loop *loop, const char *dir, const struct shim_link_ops *ops, void *arg,
                    struct shim_link **out, struct err_info *why)
{
    int fd;
    int err = connect_to_shim(dir, &fd, why);

    if (err)
        return err;
    struct shim_link *link = new_link(loop, ops, arg);
    err = uv_pipe_open(&link->pipe, fd);
    if (err) {
        close(fd);
        shim_link_close(link);
        return err_set(why, shortage_code(-err), dir, "its shim cannot be connected to: %s",
                       uv_strerror(err));
    }
    begin(link);
    *out = link;
    return 0;
}

#include "cluster/shim_link.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/obj.h"

#define LINK_MAGIC OBJ_MAGIC('S', 'L', 'N', 'K')

struct shim_link {
    struct obj obj;
    const struct shim_link_ops *ops; /* NULL: closed, no callbacks */
    void *arg;
    char *dir;
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

static bool read_line_file(int dir, const char *name, char out[SHIM_LINE_MAX])
{
    mem_auto char *path = mem_fmt("/proc/self/fd/%d/%s", dir, name); /* by open: local_files.c says why */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    ssize_t n = fd < 0 ? -1 : read(fd, out, SHIM_LINE_MAX - 1);

    if (fd >= 0)
        close(fd);
    out[n > 0 ? n : 0] = '\0';
    return n > 0;
}

static void kill_leftover(void *arg, pid_t pid, const struct shim_proc *proc)
{
    const struct shim_status *dead = arg;

    /* The session is named by the dead shim's pid; a start before the shim's means that the number is another's. */
    if (proc->session == dead->shim && proc->start >= dead->shim_start && pid != dead->shim)
        kill(pid, SIGKILL);
}

void shim_link_autopsy(const char *dir, struct shim_exit *out)
{
    char line[SHIM_LINE_MAX];
    struct shim_status dead;
    int dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool is_known = dir_fd >= 0 && read_line_file(dir_fd, SHIM_EXIT_FILE, line) && !shim_exit_read(line, out);

    if (!is_known) {
        *out = (struct shim_exit){.kind = SHIM_LOST, .ended_ms = run_wall_ms()};
        snprintf(out->text, sizeof(out->text), "the shim is gone");
    }
    if (!is_known && dir_fd >= 0 && read_line_file(dir_fd, SHIM_RUNNING_FILE, line) &&
        !shim_status_read(line, &dead)) {
        out->started_ms = dead.started_ms;
        shim_proc_each(kill_leftover, &dead);
    }
    if (dir_fd >= 0)
        close(dir_fd);
}

/* ---- handles ---- */

static void on_closed(uv_handle_t *handle)
{
    struct shim_link *link = obj_cast(handle->data, struct shim_link, LINK_MAGIC);

    if (--link->n_open > 0)
        return;
    free(link->dir);
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

/** Tell how it ended when the shim itself is gone too: who is told may take the container's directory away. */
static void tell_exit(struct shim_link *link)
{
    const struct shim_link_ops *ops = link->ops;

    if (!ops || !link->is_eof || (link->is_spawned && !link->is_gone))
        return;
    link->ops = NULL; /* The last call: its receiver closes the link. */
    if (!link->has_exit)
        shim_link_autopsy(link->dir, &link->exit);
    ops->exited(link->arg, &link->exit);
}

static void on_shim_ended(uv_process_t *process, int64_t status, int signal)
{
    struct shim_link *link = obj_cast(process->data, struct shim_link, LINK_MAGIC);

    /* How the container ended is told by the line or the file: this only reaps the shim. */
    (void)status;
    (void)signal;
    link->is_gone = true;
    tell_exit(link);
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
    *out = uv_buf_init(link->line + link->len, (unsigned)(sizeof(link->line) - link->len));
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *unused)
{
    struct shim_link *link = obj_cast(stream->data, struct shim_link, LINK_MAGIC);
    char *end;

    (void)unused;
    if (n < 0) {
        uv_read_stop(stream);
        link->is_eof = true;
        tell_exit(link);
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
    if (link->len == sizeof(link->line))
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

    snprintf(s->text, sizeof(s->text), "%s", text);
    bytes = uv_buf_init(s->text, (unsigned)strlen(s->text));
    if (uv_write(&s->req, (uv_stream_t *)&link->pipe, &bytes, 1, on_sent))
        free(s);
}

void shim_link_stop(struct shim_link *link, int64_t grace_ms)
{
    char text[48];

    snprintf(text, sizeof(text), "stop %lld\n", (long long)(grace_ms < INT32_MAX ? grace_ms : INT32_MAX));
    if (link->ops)
        send_text(link, text);
}

static struct shim_link *new_link(struct run_loop *loop, const char *dir, const struct shim_link_ops *ops,
                                  void *arg)
{
    struct shim_link *link = mem_new(struct shim_link);

    obj_init(&link->obj, LINK_MAGIC);
    link->ops = ops;
    link->arg = arg;
    link->dir = mem_str(dir);
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

int shim_link_spawn(struct run_loop *loop, const char *shim_path, const char *dir,
                    const struct shim_link_ops *ops, void *arg, struct shim_link **out, struct err_info *why)
{
    struct shim_link *link = new_link(loop, dir, ops, arg);
    mem_auto char *log = mem_fmt("%s/%s", dir, SHIM_LOG_FILE);
    char *argv[] = {(char *)"container-shim", NULL};
    char *env[] = {(char *)"PATH=/usr/bin:/bin", NULL};
    int log_fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (log_fd < 0) {
        shim_link_close(link);
        return err_set(why, ERR_IO, log, "%s", strerror(errno));
    }
    uv_stdio_container_t stdio[] = {
        {.flags = UV_IGNORE},
        {.flags = UV_IGNORE},
        {.flags = UV_INHERIT_FD, .data.fd = log_fd},
        {.flags = UV_CREATE_PIPE | UV_READABLE_PIPE | UV_WRITABLE_PIPE,
         .data.stream = (uv_stream_t *)&link->pipe},
    };
    uv_process_options_t options = {
        .exit_cb = on_shim_ended,
        .file = shim_path,
        .args = argv,
        .env = env,
        .cwd = dir,
        .flags = UV_PROCESS_DETACHED,
        .stdio_count = ARRAY_LEN(stdio),
        .stdio = stdio,
    };
    link->is_spawned = true;
    link->n_open = 2; /* uv_spawn initialises the handle even when it fails. */
    int err = uv_spawn(run_loop_uv(loop), &link->process, &options);
    close(log_fd);
    if (err) {
        shim_link_close(link);
        return err_set(why, ERR_IO, shim_path, "the container-shim does not start: %s", uv_strerror(err));
    }
    begin(link);
    *out = link;
    return 0;
}

/** A connection to the socket in a directory, whatever the length of its name. @return descriptor, or -1. */
static int connect_in(const char *dir)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int dir_fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int fd = dir_fd < 0 ? -1 : socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd >= 0) {
        /* sun_path has 108 bytes; the link in /proc stands for a directory of any length. */
        snprintf(name.sun_path, sizeof(name.sun_path), "/proc/self/fd/%d/%s", dir_fd, SHIM_SOCKET_FILE);
        if (connect(fd, (struct sockaddr *)&name, sizeof(name))) {
            close(fd);
            fd = -1;
        }
    }
    if (dir_fd >= 0)
        close(dir_fd);
    return fd;
}

int shim_link_adopt(struct run_loop *loop, const char *dir, const struct shim_link_ops *ops, void *arg,
                    struct shim_link **out)
{
    int fd = connect_in(dir);

    if (fd < 0)
        return ERR_UNAVAILABLE;
    struct shim_link *link = new_link(loop, dir, ops, arg);
    if (uv_pipe_open(&link->pipe, fd)) {
        close(fd);
        shim_link_close(link);
        return ERR_UNAVAILABLE;
    }
    begin(link);
    *out = link;
    return 0;
}

/** Commands that are executed in containers: each has a parent of its own, `container-shim exec`, which talks to the client by itself. */
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "cluster/local_priv.h"
#include "cluster/local_tree.h"
#include "shim/exec_wire.h"

#define SESSION_MAGIC OBJ_MAGIC('C', 'E', 'X', 'E')
/* Sessions of one container: each is some processes beside its own. */
#define PER_CONTAINER 16
/* After the end of a session was asked for: a parent that lives on hangs, and is killed. More than it gives what it has started. */
#define LATE_MS     15000
#define SIGNAL_BASE 128 /* of an exit code, as a shell's */

struct cluster_session {
    struct obj obj;
    TAILQ_ENTRY(cluster_session) link;
    struct local *local; /* NULL: the parent has ended */
    char *container_id;
    uv_process_t process;
    uv_pipe_t control; /* the session ends when it is closed */
    int n_open;        /* libuv handles that are not closed yet */
    struct run_timer *late;
    void (*done)(void *arg, int code); /* NULL: it was not begun */
    void *arg;
};

static void on_closed(uv_handle_t *handle)
{
    struct cluster_session *s = obj_cast(handle->data, struct cluster_session, SESSION_MAGIC);

    if (--s->n_open > 0)
        return;
    free(s->container_id);
    obj_fini(&s->obj);
    free(s);
}

static void close_control(struct cluster_session *s)
{
    if (!uv_is_closing((uv_handle_t *)&s->control))
        run_handle_close((uv_handle_t *)&s->control, on_closed);
}

/** Take a session out of the books; its memory goes when libuv has let go of it. */
static void forget(struct cluster_session *s)
{
    TAILQ_REMOVE(&s->local->sessions, s, link);
    s->local = NULL;
    run_timer_free(s->late);
    close_control(s);
    uv_close((uv_handle_t *)&s->process, on_closed);
}

static void on_ended(uv_process_t *process, int64_t status, int signal)
{
    struct cluster_session *s = obj_cast(process->data, struct cluster_session, SESSION_MAGIC);
    struct local *l = s->local;
    void (*done)(void *, int) = s->done;

    forget(s);
    if (done)
        done(s->arg, signal ? SIGNAL_BASE + signal : (int)status);
    local_check_end(l);
}

static void on_late(void *arg)
{
    struct cluster_session *s = obj_cast(arg, struct cluster_session, SESSION_MAGIC);

    log_emit(&ev_exec_hangs, LOG_STR("container", s->container_id), LOG_INT("pid", s->process.pid));
    uv_process_kill(&s->process, SIGKILL);
}

static void begin_end(struct cluster_session *s)
{
    if (uv_is_closing((uv_handle_t *)&s->control))
        return;
    close_control(s);
    run_timer_start(s->late, LATE_MS, 0);
}

void local_exec_end(struct cluster_session *s)
{
    begin_end(obj_cast(s, struct cluster_session, SESSION_MAGIC));
}

void local_exec_stop(struct local *l, const struct box *b)
{
    struct cluster_session *s;

    TAILQ_FOREACH (s, &l->sessions, link)
        if (!b || !strcmp(s->container_id, b->pub.id))
            begin_end(s);
}

/* ---- the begin ---- */

/** Whether a command can be executed in a container now. */
static int check(const struct local *l, const char *container_id, struct err_info *why)
{
    const struct box *b = map_get(&l->boxes, container_id);
    const struct cluster_session *s;
    size_t n = 0;

    if (!b || b->is_released)
        return err_set(why, ERR_NOTFOUND, container_id, "There is no such container.");
    if (!b->link || b->pub.state != CLUSTER_RUNNING || l->is_closing)
        return err_set(why, ERR_WRONGSTATE, container_id, "Nothing runs in the container now.");
    TAILQ_FOREACH (s, &l->sessions, link)
        n += !strcmp(s->container_id, container_id);
    if (n >= PER_CONTAINER)
        return err_set(why, ERR_LIMIT, container_id,
                       "%d commands are executed in the container already: end one.", PER_CONTAINER);
    return 0;
}

/** The request as a file in memory. @return descriptor at its begin; -1 with errno. */
static int write_ask(const struct cluster_exec *what)
{
    struct exec_ask ask = {.has_terminal = what->has_terminal,
                           .rows = what->rows,
                           .columns = what->columns,
                           .term = mem_str(what->term)};
    buf_auto struct buf bytes = BUF_EMPTY;
    int fd = memfd_create("exec", MFD_CLOEXEC);

    for (size_t i = 0; i < what->n_words; i++)
        exec_ask_word(&ask, what->words[i]);
    buf_add(&ask.early, what->early, what->early_len);
    exec_ask_write(&ask, &bytes);
    exec_ask_fini(&ask);
    if (fd < 0 || (!shim_write_all(fd, bytes.bytes, bytes.len) && !lseek(fd, 0, SEEK_SET)))
        return fd;
    close(fd);
    return -1;
}

static int spawn(struct cluster_session *s, const struct box *b, const struct cluster_exec *what,
                 struct err_info *why)
{
    const struct local *l = b->local;
    char *argv[] = {(char *)"container-shim", (char *)"exec", NULL};
    char *env[] = {(char *)"PATH=/usr/bin:/bin", NULL};
    int ask = write_ask(what);

    if (ask < 0)
        return local_sys_fail(why, "memfd");
    uv_stdio_container_t stdio[] = {
        [EXEC_ASK_FD] = {.flags = UV_INHERIT_FD, .data.fd = ask},
        [EXEC_CONTROL_FD] = {.flags = UV_CREATE_PIPE | UV_READABLE_PIPE | UV_WRITABLE_PIPE,
                             .data.stream = (uv_stream_t *)&s->control},
        [STDERR_FILENO] = {.flags = UV_IGNORE},
        [EXEC_CLIENT_FD] = {.flags = UV_INHERIT_FD, .data.fd = what->fd},
    };
    const uv_process_options_t options = {.exit_cb = on_ended,
                                          .file = l->shim_path,
                                          .args = argv,
                                          .env = env,
                                          .cwd = b->dir,
                                          .stdio_count = (int)ARRAY_LEN(stdio),
                                          .stdio = stdio};
    int err = run_spawn(l->loop, &s->process, &options);
    close(ask);
    return err ? err_set(why, shortage_code(-err), l->shim_path, "container-shim does not start: %s",
                         uv_strerror(err))
               : 0;
}

static struct cluster_session *session_new(struct local *l, const char *container_id)
{
    struct cluster_session *s = mem_new(struct cluster_session);

    obj_init(&s->obj, SESSION_MAGIC);
    s->local = l;
    s->container_id = mem_str(container_id);
    BUG_IF(uv_pipe_init(run_loop_uv(l->loop), &s->control, 0));
    s->control.data = s->process.data = s;
    s->n_open = 2; /* run_spawn initialises the handle even when it fails. */
    s->late = run_timer_new(l->loop, on_late, s);
    TAILQ_INSERT_TAIL(&l->sessions, s, link);
    return s;
}

int local_exec(struct cluster *c, const char *container_id, const struct cluster_exec *what,
               void (*done)(void *arg, int code), void *arg, struct cluster_session **out,
               struct err_info *why)
{
    struct local *l = local_of(c);
    int err = check(l, container_id, why);

    if (err || !what)
        return err;
    struct cluster_session *s = session_new(l, container_id);
    err = spawn(s, map_get(&l->boxes, container_id), what, why);
    if (err) {
        forget(s);
        return err;
    }
    s->done = done;
    s->arg = arg;
    *out = s;
    return 0;
}

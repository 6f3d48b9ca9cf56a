/**
 * Calls of the container runtime that svcmgr makes itself: whether an image is here, fetching it, and removing containers whose
 * shim is dead. What runs in an image is started by its shim: local_run.c.
 *
 * The loop starts a call, waits for its end without waiting, and kills it after a time. What it writes goes to a file in memory
 * that cannot grow.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "cluster/local_priv.h"

#define CALL_MAGIC OBJ_MAGIC('I', 'C', 'A', 'L')
/* Of what a call writes; behind it its writes fail. */
#define ANSWER_MAX ((size_t)256 << 10)
/* Calls that look for an image at a time. */
#define LOOKING_MAX     8
#define CALL_TIMEOUT_MS 60000
/* Of the answer of a call that failed. */
#define REASON_MAX 300
/* In the cluster's directory: images were run once, so containers of ours may be left over. */
#define USED_FILE "images-used"

struct image_call {
    struct obj obj;
    TAILQ_ENTRY(image_call) link;
    struct local *local;
    struct local_job *job; /* that waits for its image, or NULL */
    struct box *box;       /* whose container is removed, or NULL */
    const char *what;      /* "pull": the command, for a person */
    uv_process_t process;
    struct run_timer *deadline;
    bool is_late, is_stopped;
    int answer; /* memfd */
    /** It has ended; text is what it wrote. The call itself goes afterwards. */
    void (*done)(struct image_call *call, bool is_good, char *text);
};

/* ---- one call ---- */

static void on_closed(uv_handle_t *handle)
{
    struct image_call *call = obj_cast(handle->data, struct image_call, CALL_MAGIC);

    if (call->answer >= 0)
        close(call->answer);
    obj_fini(&call->obj);
    free(call);
}

static void forget(struct image_call *call)
{
    TAILQ_REMOVE(&call->local->images.calls, call, link);
    run_timer_free(call->deadline);
    call->deadline = NULL;
    uv_close((uv_handle_t *)&call->process, on_closed);
}

static void on_ended(uv_process_t *process, int64_t status, int signal)
{
    struct image_call *call = obj_cast(process->data, struct image_call, CALL_MAGIC);
    char text[4096] = "";
    off_t end = lseek(call->answer, 0, SEEK_CUR);
    size_t room = sizeof text - 1, len = end > 0 ? (size_t)end : 0;

    /* What it wrote last says why it failed. */
    if (pread(call->answer, text, room, len > room ? (off_t)(len - room) : 0) < 0)
        text[0] = '\0';
    forget(call);
    call->done(call, !status && !signal, text);
}

static void on_deadline(void *arg)
{
    struct image_call *call = obj_cast(arg, struct image_call, CALL_MAGIC);

    call->is_late = true;
    uv_process_kill(&call->process, SIGKILL);
}

static char **call_argv(const struct local_images *m, const char *const *command)
{
    size_t n_args = 0, n = 0;

    while (m->args[n_args])
        n_args++;
    while (command[n])
        n++;
    char **argv = mem_array(n_args + n + 2, sizeof *argv);
    argv[0] = m->program;
    memcpy(argv + 1, m->args, n_args * sizeof *argv);
    memcpy(argv + 1 + n_args, command, n * sizeof *argv);
    return argv;
}

/** A file in memory of a fixed size. @return descriptor; -1 with errno */
static int make_answer(void)
{
    int fd = memfd_create("answer", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (fd < 0 || (!ftruncate(fd, (off_t)ANSWER_MAX) && !fcntl(fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK)))
        return fd;
    int error = errno;
    close(fd);
    errno = error;
    return -1;
}

static int spawn(struct image_call *call, const char *const *command, struct err_info *why)
{
    const struct local_images *m = &call->local->images;
    mem_auto char **argv = call_argv(m, command);
    uv_stdio_container_t stdio[] = {{.flags = UV_IGNORE},
                                    {.flags = UV_INHERIT_FD, .data.fd = call->answer},
                                    {.flags = UV_INHERIT_FD, .data.fd = call->answer}};
    const uv_process_options_t options = {.exit_cb = on_ended,
                                          .file = m->program,
                                          .args = argv,
                                          .cwd = "/",
                                          .stdio_count = ARRAY_LEN(stdio),
                                          .stdio = stdio};
    int err = run_spawn(call->local->loop, &call->process, &options);

    return err ? err_set(why, shortage_code(-err), m->program, "%s does not start: %s", m->program,
                         uv_strerror(err))
               : 0;
}

/**
 * Start a call.
 * @param command  NULL-terminated; [0] is kept                                      [borrowed]
 * @return NULL: *why says why, done does not come
 */
static struct image_call *start(struct local *l, const char *const *command, int64_t timeout_ms,
                                void (*done)(struct image_call *, bool, char *), struct err_info *why)
{
    int answer = make_answer();

    if (answer < 0) {
        err_set(why, shortage_code(errno), "memfd", "%s", strerror(errno));
        return NULL;
    }
    struct image_call *call = mem_new(struct image_call);
    obj_init(&call->obj, CALL_MAGIC);
    call->local = l;
    call->what = command[0];
    call->answer = answer;
    call->done = done;
    call->process.data = call;
    call->deadline = run_timer_new(l->loop, on_deadline, call);
    TAILQ_INSERT_TAIL(&l->images.calls, call, link);
    if (spawn(call, command, why)) {
        forget(call); /* run_spawn has initialised the handle even when it fails. */
        return NULL;
    }
    run_timer_start(call->deadline, (uint64_t)timeout_ms, 0);
    return call;
}

/** The last line of a text, its control characters as blanks. */
static const char *last_line(char *text)
{
    size_t n = strlen(text);

    while (n && isspace((unsigned char)text[n - 1]))
        text[--n] = '\0';
    char *line = strrchr(text, '\n');
    line = line ? line + 1 : text;
    for (char *p = line; *p; p++)
        *p = iscntrl((unsigned char)*p) ? ' ' : *p;
    return *line ? line : "it says nothing";
}

/* ---- the image of a launch ---- */

static void look(struct local *l, struct local_job *job);

/** A place is free: the next one looks. */
static void look_next(struct local *l)
{
    struct local_job *job = TAILQ_FIRST(&l->images.waiting);

    if (!job || l->images.n_looking == LOOKING_MAX || l->is_closing)
        return;
    TAILQ_REMOVE(&l->images.waiting, job, link);
    l->images.n_looking++;
    look(l, job);
}

static void end_look(struct local *l, struct local_job *job, int err)
{
    job->err = err;
    l->images.n_looking--;
    local_job_ended(l, job);
}

static int call_failed(const struct image_call *call, char *text, struct err_info *why)
{
    const struct local_images *m = &call->local->images;
    const char *id = call->job->image->id;

    if (call->is_stopped)
        return err_set(why, ERR_CANCELLED, id, "it was stopped while its image was looked for");
    if (call->is_late)
        return err_set(why, ERR_TIMEOUT, id,
                       "Fetching image %.150s took longer than "
                       "yarn.service.local.container-runtime.pull-timeout (%" PRId64 " s).",
                       id, m->pull_timeout_ms / 1000);
    return err_set(why, ERR_IO, id, "Image %.150s is not on this host and cannot be fetched: %.*s", id,
                   REASON_MAX, last_line(text));
}

static void on_looked(struct image_call *call, bool is_good, char *text);

static void on_pulled(struct image_call *call, bool is_good, char *text)
{
    struct local *l = call->local;
    struct local_job *job = call->job;

    if (!is_good || call->is_stopped) {
        end_look(l, job, call_failed(call, text, &job->why));
    } else {
        job->image->is_pulled = true;
        look(l, job);
    }
    look_next(l);
}

static void pull(struct local *l, struct local_job *job)
{
    const char *const command[] = {"pull", "-q", job->image->id, NULL};
    struct image_call *call = start(l, command, l->images.pull_timeout_ms, on_pulled, &job->why);

    if (call)
        call->job = job;
    else
        end_look(l, job, job->why.code);
}

static void on_looked(struct image_call *call, bool is_good, char *text)
{
    struct local *l = call->local;
    struct local_job *job = call->job;

    if (is_good && !call->is_stopped) {
        text[strcspn(text, "\n")] = '\0';
        job->image->work_dir = mem_str(*text == '/' ? text : "");
        end_look(l, job, 0);
    } else if (call->is_stopped || call->is_late || job->image->is_pulled) {
        end_look(l, job, call_failed(call, text, &job->why));
    } else {
        pull(l, job);
        return;
    }
    look_next(l);
}

static void look(struct local *l, struct local_job *job)
{
    const char *const command[] = {"image",        "inspect", "--format", "{{.Config.WorkingDir}}",
                                   job->image->id, NULL};
    struct image_call *call = start(l, command, CALL_TIMEOUT_MS, on_looked, &job->why);

    if (call)
        call->job = job;
    else
        end_look(l, job, job->why.code);
}

void local_image_find(struct local *l, struct local_job *job, void (*done)(struct local_job *job))
{
    local_job_begun(l, job, done);
    job->image->is_pulled = false;
    mem_free_ptr(&job->image->work_dir);
    TAILQ_INSERT_TAIL(&l->images.waiting, job, link);
    look_next(l);
}

static void cancel_waiting(struct local *l, struct local_job *job)
{
    TAILQ_REMOVE(&l->images.waiting, job, link);
    job->err =
        err_set(&job->why, ERR_CANCELLED, job->image->id, "it was stopped before its image was looked for");
    local_job_ended(l, job);
}

void local_image_stop(struct local *l, const struct box *b)
{
    struct image_call *call;
    struct local_job *job;

    TAILQ_FOREACH (call, &l->images.calls, link) {
        if (!call->job || call->job->box != b)
            continue;
        call->is_stopped = true;
        uv_process_kill(&call->process, SIGKILL);
        return;
    }
    TAILQ_FOREACH (job, &l->images.waiting, link) {
        if (job->box == b) {
            cancel_waiting(l, job);
            return;
        }
    }
}

struct local_image *local_image_new(const struct local *l, const struct box *b,
                                    const struct cluster_image *image)
{
    struct local_image *mine = mem_new(struct local_image);

    mine->id = mem_str(image->id);
    mine->hostname = mem_str(image->hostname);
    mine->mounts = mem_str(image->mounts);
    mine->is_privileged = image->is_privileged;
    mine->has_entry_point = image->has_entry_point;
    mine->container_id = mem_str(b->pub.id);
    mine->images = &l->images;
    return mine;
}

void local_image_free(struct local_image *image)
{
    if (!image)
        return;
    free(image->id);
    free(image->hostname);
    free(image->mounts);
    free(image->work_dir);
    free(image->container_id);
    free(image);
}

/* ---- what dead shims have left ---- */

static void on_cleared(struct image_call *call, bool is_good, char *text)
{
    struct box *b = call->box;

    if (!is_good && b)
        log_emit(&ev_container_not_in_runtime, LOG_STR("container", b->pub.id),
                 LOG_STR("reason", last_line(text)));
    if (b)
        b->image =
            IMAGE_CLEARED; /* Nothing more can be done; the runtime says as much of a container it does not know. */
}

bool local_has_image(const struct box *b)
{
    mem_auto char *file = mem_fmt("%s/" LOCAL_IMAGE_FILE, b->dir);

    return !access(file, F_OK);
}

bool local_image_clear(struct box *b)
{
    const char *const command[] = {"rm", "-f", b->pub.id, NULL};
    struct err_info why;

    if (!b->local->images.program || !local_has_image(b) || b->image == IMAGE_CLEARED)
        return true;
    if (b->image == IMAGE_CLEARING)
        return false;
    struct image_call *call = start(b->local, command, CALL_TIMEOUT_MS, on_cleared, &why);
    if (call) {
        call->box = b;
        b->image = IMAGE_CLEARING;
    }
    return false;
}

void local_image_forget(const struct box *b)
{
    struct image_call *call;

    TAILQ_FOREACH (call, &b->local->images.calls, link)
        if (call->box == b)
            call->box = NULL;
}

static void on_swept(struct image_call *call, bool is_good, char *text)
{
    if (!is_good)
        log_emit(&ev_images_not_swept, LOG_STR("command", call->what), LOG_STR("reason", last_line(text)));
}

/** Names of containers, one a line: those that no box is of are removed by one call. */
static void on_listed(struct image_call *call, bool is_good, char *text)
{
    struct local *l = call->local;
    const char *command[66] = {"rm", "-f"};
    size_t n = 2;
    char *save = NULL;
    struct err_info why;

    if (!is_good) {
        on_swept(call, is_good, text);
        return;
    }
    for (char *name = strtok_r(text, "\n", &save); name && n < ARRAY_LEN(command) - 1;
         name = strtok_r(NULL, "\n", &save))
        if (!map_get(&l->boxes, name) && str_starts(name, "container_"))
            command[n++] = name;
    if (n > 2 && !l->is_closing && !start(l, command, CALL_TIMEOUT_MS, on_swept, &why))
        log_emit(&ev_images_not_swept, LOG_STR("command", command[0]), LOG_STR("reason", why.text));
}

void local_images_sweep(struct local *l)
{
    mem_auto char *label = mem_fmt("label=bobbin-dir=%s", l->dir);
    mem_auto char *used = mem_fmt("%s/" USED_FILE, l->dir);
    const char *const command[] = {"ps", "-a", "--filter", label, "--format", "{{.Names}}", NULL};
    struct err_info why;

    if (!l->images.program || access(used, F_OK))
        return;
    if (!start(l, command, CALL_TIMEOUT_MS, on_listed, &why))
        log_emit(&ev_images_not_swept, LOG_STR("command", command[0]), LOG_STR("reason", why.text));
}

/* ---- the runtime ---- */

/** The first of the programs that a search path has. @return free(); NULL: none */
static char *search(const char *name)
{
    const char *path = getenv("PATH");
    mem_auto char *dir = NULL;

    for (size_t i = 0; path && (dir = str_field(path, ':', i)); i++, mem_free_ptr(&dir)) {
        char *file = mem_fmt("%s/%s", dir, name);
        if (*dir == '/' && !access(file, X_OK))
            return file;
        free(file);
    }
    return NULL;
}

static char **split(const char *text)
{
    mem_auto char *copy = mem_str(text ? text : "");
    char **words = mem_array(strlen(copy) / 2 + 2, sizeof *words);
    char *save = NULL;
    size_t n = 0;

    for (char *word = strtok_r(copy, " \t", &save); word; word = strtok_r(NULL, " \t", &save))
        words[n++] = mem_str(word);
    return words;
}

int local_images_open(struct local_images *m, const struct local_options *o, struct err_info *why)
{
    buf_auto struct buf words = BUF_EMPTY;
    bool is_set = o->runtime && *o->runtime;

    if (is_set && (*o->runtime != '/' || access(o->runtime, X_OK)))
        return err_set(why, ERR_CONFIG, o->runtime,
                       "there is no such program; give the path of podman or docker");
    m->program = is_set ? mem_str(o->runtime) : search("podman");
    if (!m->program)
        m->program = search("docker");
    m->args = split(o->runtime_args);
    m->ro_mounts = mem_str(o->ro_mounts ? o->ro_mounts : "");
    m->rw_mounts = mem_str(o->rw_mounts ? o->rw_mounts : "");
    m->dir = mem_str(o->dir);
    m->pull_timeout_ms = o->pull_timeout_ms;
    shim_shell_word(&words, m->program ? m->program : "");
    for (size_t i = 0; m->args[i]; i++)
        shim_shell_word(&words, m->args[i]);
    m->words = buf_take(&words);
    return 0;
}

void local_images_close(struct local *l)
{
    struct image_call *call;
    struct local_job *job;

    while ((job = TAILQ_FIRST(&l->images.waiting)))
        cancel_waiting(l, job);
    while ((call = TAILQ_FIRST(&l->images.calls))) {
        uv_process_kill(&call->process, SIGKILL);
        job = call->job;
        forget(call);
        if (!job)
            continue;
        err_set(&job->why, ERR_CANCELLED, job->image->id, "svcmgr ends");
        end_look(l, job, ERR_CANCELLED);
    }
}

void local_images_fini(struct local_images *m)
{
    for (size_t i = 0; m->args && m->args[i]; i++)
        free(m->args[i]);
    free(m->args);
    free(m->program);
    free(m->words);
    free(m->ro_mounts);
    free(m->rw_mounts);
    free(m->dir);
}

int local_images_note_used(const struct local_images *m, struct err_info *why)
{
    mem_auto char *used = mem_fmt("%s/" USED_FILE, m->dir);
    int fd = open(used, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    if (fd < 0)
        return err_set(why, shortage_code(errno), used, "%s", strerror(errno));
    close(fd);
    return 0;
}

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/mem.h"
#include "cluster/local_inside.h"

/* ---- how it ended ---- */

void local_box_exit(struct box *b, const struct shim_exit *e)
{
    struct cluster_exit *x = &b->pub.exit;

    *x = (struct cluster_exit){
        .code = e->code, .was_stopped = e->was_stopped, .started_ms = e->started_ms, .ended_ms = e->ended_ms};
    switch (e->kind) {
    case SHIM_EXITED:
        x->kind = CLUSTER_EXIT_CODE;
        snprintf(x->text, sizeof(x->text), "The process ended with exit code %d.", e->code);
        break;
    case SHIM_SIGNALLED:
        x->kind = CLUSTER_EXIT_SIGNAL;
        snprintf(x->text, sizeof(x->text), "The process was ended by signal %d (%s).", e->code,
                 strsignal(e->code));
        break;
    case SHIM_NOT_STARTED:
        x->kind = CLUSTER_EXIT_NOT_STARTED;
        snprintf(x->text, sizeof(x->text), "The process could not be started: %.80s: %.60s.", e->text,
                 strerror(e->code));
        break;
    case SHIM_LOST:
        x->kind = CLUSTER_EXIT_LOST;
        snprintf(x->text, sizeof(x->text), "The process is gone with its shim; how it ended is unknown.");
        break;
    }
    b->pub.state = CLUSTER_EXITED;
    b->pub.pid = 0;
}

static void on_removed(struct local_job *job)
{
    struct box *b = job->box;
    struct local *l = b->local;

    if (job->err)
        log_emit(&ev_container_not_removed, LOG_STR("container", b->pub.id), LOG_ERR(&job->why));
    local_job_free(job);
    local_box_free(b);
    local_serve_soon(l);
}

static struct local_job *new_job(struct box *b, void (*done)(struct local_job *job))
{
    struct local_job *job = mem_new(struct local_job);

    obj_init(&job->obj, JOB_MAGIC);
    job->box = b;
    job->done = done;
    job->dir = mem_str(b->dir);
    return job;
}

static void remove_box(struct box *b)
{
    struct local_job *job = new_job(b, on_removed);

    job->is_removal = true;
    job->logs_root = mem_fmt("%s/logs", b->local->dir);
    job->containers_root = mem_fmt("%s/containers", b->local->dir);
    job->keep_logs_ms = b->local->keep_logs_ms;
    local_job_run(b->local, job);
}

/** The box has come to rest: tell it, or go on with its removal. */
static void box_ended(struct box *b)
{
    struct local *l = b->local;

    b->stop_wanted = false;
    if (b->is_released)
        remove_box(b);
    else if (b->is_recovering)
        local_recovered(b);
    else
        l->cluster.ops->exited(l->cluster.ops_arg, &b->pub);
}

static void box_not_started(struct box *b, const char *text)
{
    b->pub.exit =
        (struct cluster_exit){.kind = CLUSTER_EXIT_NOT_STARTED, .code = EIO, .ended_ms = run_wall_ms()};
    snprintf(b->pub.exit.text, sizeof(b->pub.exit.text), "The process could not be started: %.140s", text);
    b->pub.state = CLUSTER_EXITED;
    box_ended(b);
}

/* ---- the shim's voice ---- */

static void on_running(void *arg, const struct shim_status *s)
{
    struct box *b = obj_cast(arg, struct box, BOX_MAGIC);
    struct local *l = b->local;

    b->pub.state = CLUSTER_RUNNING;
    b->pub.pid = s->pid;
    b->pub.started_ms = s->started_ms;
    if (b->stop_wanted)
        shim_link_stop(b->link, b->stop_grace_ms);
    if (b->is_recovering)
        local_recovered(b);
    else if (!b->is_released)
        l->cluster.ops->started(l->cluster.ops_arg, &b->pub);
}

static void on_exited(void *arg, const struct shim_exit *e)
{
    struct box *b = obj_cast(arg, struct box, BOX_MAGIC);

    shim_link_close(b->link);
    b->link = NULL;
    local_box_exit(b, e);
    box_ended(b);
}

const struct shim_link_ops local_link_ops = {.running = on_running, .exited = on_exited};

/* ---- starting ---- */

static void on_prepared(struct local_job *job)
{
    struct box *b = job->box;
    struct local *l = b->local;
    struct err_info why = job->why;
    int err = job->err;

    local_job_free(job);
    if (l->is_closing)
        return;
    if (err || b->is_released) {
        box_not_started(b, err ? why.text : "it was released before");
        return;
    }
    b->has_files = true;
    if (shim_link_spawn(l->loop, l->shim_path, b->dir, &local_link_ops, b, &b->link, &why))
        box_not_started(b, why.text);
}

static void write_launch(const struct box *b, const struct cluster_launch *launch, struct local_job *job)
{
    const struct local *l = b->local;
    struct shim_launch s = {.command = mem_str(launch->command), .grace_ms = l->grace_ms};
    buf_auto struct buf bytes = BUF_EMPTY;

    s.work_dir = mem_str(b->pub.work_dir);
    s.log_dir = mem_str(b->pub.log_dir);
    if (l->cgroup_dir)
        s.cgroup = mem_fmt("%s/%s", l->cgroup_dir, b->pub.id);
    s.memory_bytes = b->pub.memory_mb << 20;
    s.cpu_milli = b->pub.vcores * 1000;
    s.switch_user = l->switch_user;
    s.uid = l->uid;
    s.gid = l->gid;
    s.n_groups = l->n_groups;
    memcpy(s.groups, l->groups, sizeof(s.groups));
    s.rlimits[s.n_rlimits++] = (struct shim_rlimit){RLIMIT_CORE, 0, 0};
    for (size_t i = 0; launch->env && launch->env[i]; i++) {
        const char *eq = strchr(launch->env[i], '=');
        mem_auto char *name = mem_strn(launch->env[i], (size_t)(eq - launch->env[i]));
        shim_launch_env(&s, name, eq + 1);
    }
    shim_launch_write(&s, &bytes);
    job->launch_len = bytes.len;
    job->launch = buf_take(&bytes);
    shim_launch_fini(&s);
}

static void copy_files(const struct cluster_launch *launch, struct local_job *job)
{
    job->files = mem_array(launch->n_files + 1, sizeof(*job->files));
    job->n_files = launch->n_files;
    for (size_t i = 0; i < launch->n_files; i++) {
        const struct cluster_file *f = &launch->files[i];
        job->files[i].path = mem_str(f->path);
        job->files[i].bytes = f->bytes ? mem_copy(f->bytes, f->len + 1) : NULL;
        job->files[i].len = f->len;
        job->files[i].source = mem_str(f->source);
    }
}

static void begin_launch(struct box *b, const struct cluster_launch *launch)
{
    const struct local *l = b->local;
    struct local_job *job = new_job(b, on_prepared);

    b->pub.attempt = launch->attempt;
    b->pub.state = CLUSTER_STARTING;
    b->pub.started_ms = 0;
    job->work_dir = mem_str(b->pub.work_dir);
    job->log_dir = mem_str(b->pub.log_dir);
    job->allocation = mem_fmt("application_id=%s\nip=%s\nmemory_mb=%" PRId64 "\nvcores=%" PRId64
                              "\nallocated_ms=%" PRId64 "\nattempt=%" PRId64 "\n",
                              b->pub.application_id, b->pub.ip, b->pub.memory_mb, b->pub.vcores,
                              b->pub.allocated_ms, b->pub.attempt);
    write_launch(b, launch, job);
    copy_files(launch, job);
    job->lay_files = !b->has_files;
    job->switch_user = l->switch_user;
    job->uid = l->uid;
    job->gid = l->gid;
    local_job_run(b->local, job);
}

int local_launch(struct cluster *c, const char *container_id, const struct cluster_launch *launch,
                 struct err_info *why)
{
    struct local *l = local_of(c);
    struct box *b = map_get(&l->boxes, container_id);

    if (!b || b->is_released)
        return err_set(why, ERR_NOTFOUND, container_id, "There is no such container.");
    if (b->has_job || (b->pub.state != CLUSTER_ALLOCATED && b->pub.state != CLUSTER_EXITED))
        return err_set(why, ERR_WRONGSTATE, container_id, "The container runs already.");
    for (size_t i = 0; i < launch->n_files; i++)
        if (!local_path_is_inside(launch->files[i].path))
            return err_set(why, ERR_INVALID, launch->files[i].path,
                           "A file must stay in the working directory.");
    begin_launch(b, launch);
    return 0;
}

/* ---- ending ---- */

static void stop_box(struct box *b, int64_t grace_ms)
{
    b->stop_wanted = b->pub.state == CLUSTER_STARTING || b->pub.state == CLUSTER_RUNNING;
    b->stop_grace_ms = grace_ms;
    if (b->link)
        shim_link_stop(b->link, grace_ms);
}

void local_stop(struct cluster *c, const char *container_id, int64_t grace_ms)
{
    struct box *b = map_get(&local_of(c)->boxes, container_id);

    if (b && !b->is_released)
        stop_box(b, grace_ms);
}

void local_box_release(struct box *b)
{
    if (b->is_released)
        return;
    b->is_released = true;
    if (b->pub.state == CLUSTER_STARTING || b->pub.state == CLUSTER_RUNNING)
        stop_box(b, b->stop_wanted ? b->stop_grace_ms : b->local->grace_ms);
    else if (!b->has_job)
        remove_box(b);
}

void local_release(struct cluster *c, const char *container_id)
{
    struct box *b = map_get(&local_of(c)->boxes, container_id);

    if (b)
        local_box_release(b);
}

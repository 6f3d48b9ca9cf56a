#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/mem.h"
#include "cluster/local_priv.h"
#include "cluster/shim_tail.h"
#include "cluster/source_text.h"
#include "spec/spec.h"
#include "run/fdlimit.h"

/* After the grace of a stop: a shim that has not ended by then hangs, or is stopped itself. */
#define SHIM_LATE_MS 5000

/* ---- stopping ---- */

static void stop_waiting_for_shim(struct box *b)
{
    if (b->kill_timer)
        run_timer_stop(b->kill_timer);
    b->kill_at_ms = 0;
}

/** It has had its grace and more. When it is dead, on_link_ended finds out what it has left. */
static void on_shim_late(void *arg)
{
    struct box *b = obj_cast(arg, struct box, BOX_MAGIC);
    struct err_info why = {0};

    b->kill_at_ms = 0;
    if (!b->link || b->local->is_closing)
        return;
    int err = shim_link_kill(b->link, b->dir, &why);
    if (err)
        log_emit(&ev_container_shim_not_killed, LOG_STR("container", b->pub.id), LOG_ERR(&why));
    else
        log_emit(&ev_container_shim_hangs, LOG_STR("container", b->pub.id), LOG_STR("dir", b->dir));
    if (err == ERR_LIMIT)
        run_timer_start(b->kill_timer, SHIM_LATE_MS, 0);
}

/** Ask the shim for the end, and see to it that it comes. A second stop may only bring it nearer. */
static void stop_by_shim(struct box *b)
{
    int64_t kill_at_ms = run_boot_ms() + b->stop_grace_ms + SHIM_LATE_MS;

    shim_link_stop(b->link, b->stop_grace_ms);
    if (b->kill_at_ms && b->kill_at_ms <= kill_at_ms)
        return;
    if (!b->kill_timer)
        b->kill_timer = run_timer_new(b->local->loop, on_shim_late, b);
    b->kill_at_ms = kill_at_ms;
    run_timer_start(b->kill_timer, (uint64_t)(b->stop_grace_ms + SHIM_LATE_MS), 0);
}

/* ---- how it ended ---- */

static void drop_launch(struct box *b)
{
    local_wait_over(b);
    if (b->launch_job)
        local_job_free(b->launch_job);
    b->launch_job = NULL;
}

/** It ran for so short a time that its shim had gone before it could be asked: its start comes before its end all the same. */
static void report_start(struct box *b, const struct shim_exit *e)
{
    const struct local *l = b->local;
    bool is_untold = b->launch_job && e->started_ms;

    drop_launch(b);
    if (!is_untold || b->is_released || b->is_recovering)
        return;
    b->pub.state = CLUSTER_RUNNING;
    b->pub.started_ms = e->started_ms;
    l->cluster.ops->started(l->cluster.ops_arg, &b->pub);
}

/** What an earlier process wrote last is of no interest any more. */
static void forget_stderr(struct box *b)
{
    free(b->pub.last_stderr);
    b->pub.last_stderr = NULL;
}

/** Cause and text of an end. */
static void describe(const struct shim_exit *e, struct cluster_exit *x)
{
    if (e->was_memory) {
        x->cause = CAUSE_MEMORY_PHYSICAL;
        snprintf(x->text, sizeof x->text, "The process was killed: %.120s.", e->text);
        return;
    }
    switch (e->kind) {
    case SHIM_EXITED:
        x->cause = CAUSE_EXITED;
        snprintf(x->text, sizeof x->text, "The process ended with exit code %d%s%.120s.", e->code,
                 *e->text ? ": " : "", e->text);
        break;
    case SHIM_SIGNALLED:
        x->cause = CAUSE_SIGNALLED;
        snprintf(x->text, sizeof x->text, "The process was ended by signal %d (%s)%s%.120s.", e->code,
                 strsignal(e->code), *e->text ? ": " : "", e->text);
        break;
    case SHIM_NOT_STARTED:
        /* A launch that a restart of ours has interrupted, and that a shortage stopped, is not the container's failure. */
        x->cause = shortage_is(shortage_code(e->code)) ? CAUSE_LOST : CAUSE_LAUNCH;
        snprintf(x->text, sizeof x->text, "The process could not be started: %.80s: %.60s.", e->text,
                 strerror(e->code));
        break;
    case SHIM_LOST:
        x->cause = CAUSE_LOST;
        snprintf(x->text, sizeof x->text, "The process is gone with its shim; how it ended is unknown.");
        break;
    }
}

void local_box_exit(struct box *b, const struct shim_exit *e)
{
    struct cluster_exit *x = &b->pub.exit;

    report_start(b, e);
    forget_stderr(b);
    b->pub.last_stderr = shim_tail_read(b->dir);
    *x = (struct cluster_exit){
        .raw = e->code, .was_stopped = e->was_stopped, .started_ms = e->started_ms, .ended_ms = e->ended_ms};
    describe(e, x);
    x->origin = eng_exit_of(x->cause, 0, NULL).origin;
    b->pub.state = CLUSTER_EXITED;
    b->pub.pid = b->shim = 0;
}

static struct local_job *new_job(struct box *b)
{
    struct local_job *job = mem_new(struct local_job);

    obj_init(&job->obj, JOB_MAGIC);
    job->box = b;
    job->dir = mem_str(b->dir);
    job->shim_files = SHIM_FILES_NONE;
    job->cache_fd = -1;
    return job;
}

static void remove_box(struct box *b);

static void on_removed(struct local_job *job)
{
    struct box *b = job->box;
    struct local *l = b->local;
    struct err_info why = job->why;
    int err = job->err;

    local_job_free(job);
    if (shortage_is(err) && !l->is_closing) {
        local_wait(b, remove_box, err, &why);
        return;
    }
    if (err)
        log_emit(&ev_container_not_removed, LOG_STR("container", b->pub.id), LOG_ERR(&why));
    local_box_free(b);
    local_serve_soon(l);
    local_sweep_soon(l);
}

static void remove_box(struct box *b)
{
    struct local_job *job = new_job(b);

    local_job_run(b->local, job, JOB_REMOVE, on_removed);
}

void local_box_ended(struct box *b)
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

static void box_not_started(struct box *b, enum eng_exit_cause cause, const char *text)
{
    drop_launch(b);
    forget_stderr(b);
    b->pub.exit = (struct cluster_exit){.origin = ORIGIN_CONTAINER,
                                        .cause = cause,
                                        .raw = EIO,
                                        .was_stopped = b->stop_wanted,
                                        .ended_ms = run_wall_ms()};
    snprintf(b->pub.exit.text, sizeof b->pub.exit.text, "The process could not be started: %.330s", text);
    b->pub.state = CLUSTER_EXITED;
    local_box_ended(b);
}

/* ---- reports of the shim ---- */

static void on_running(void *arg, const struct shim_status *s)
{
    struct box *b = obj_cast(arg, struct box, BOX_MAGIC);
    struct local *l = b->local;

    drop_launch(b);
    b->pub.state = CLUSTER_RUNNING;
    b->pub.pid = s->pid;
    b->shim = s->shim;
    b->has_image = local_has_image(b);
    b->pub.started_ms = s->started_ms;
    if (b->stop_wanted)
        stop_by_shim(b);
    if (b->is_recovering)
        local_recovered(b);
    else if (!b->is_released)
        l->cluster.ops->started(l->cluster.ops_arg, &b->pub);
}

static void on_staged(struct local_job *job);

static void run_launch(struct box *b)
{
    b->launch_job->err = 0;
    local_job_run(b->local, b->launch_job, JOB_STAGE, on_staged);
}

/** A launch that failed for a shortage, or as a server does not answer, is retried, unless it was stopped or released. */
static bool launch_waits(struct box *b, int err, const struct err_info *why)
{
    if (!b->launch_job || b->stop_wanted || b->is_released || (!shortage_is(err) && err != ERR_UNAVAILABLE))
        return false;
    b->pub.state = CLUSTER_STARTING;
    local_wait(b, run_launch, err, why);
    return true;
}

static bool start_waits(struct box *b, const struct shim_exit *e)
{
    struct err_info why;
    int err = shortage_code(e->code);

    if (e->kind != SHIM_NOT_STARTED)
        return false;
    err_set(&why, err, e->text, "%s", strerror(e->code));
    return launch_waits(b, err, &why);
}

static void on_link_ended(void *arg, const struct shim_exit *e)
{
    struct box *b = obj_cast(arg, struct box, BOX_MAGIC);

    stop_waiting_for_shim(b);
    local_exec_stop(b->local, b);
    shim_link_close(b->link);
    b->link = NULL;
    local_wait_next(b->local);
    if (!e) {
        b->pub.state = CLUSTER_RECOVERING;
        local_look(b);
        return;
    }
    if (start_waits(b, e))
        return;
    local_box_exit(b, e);
    local_box_ended(b);
}

const struct shim_link_ops local_link_ops = {.running = on_running, .ended = on_link_ended};

/* ---- starting ---- */

static int start_shim(struct box *b, struct shim_files *files, struct err_info *why)
{
    const struct local *l = b->local;
    const struct shim_start start = {.shim_path = l->shim_path, .dir = b->dir, .files = files};
    struct err_info minor;
    int err = shim_link_spawn(l->loop, &start, &local_link_ops, b, &b->link, why);

    if (!err && shim_link_give_first_fdlimit(b->link, &minor))
        log_emit(&ev_container_fdlimit, LOG_STR("container", b->pub.id), LOG_ERR(&minor));
    return err;
}

/** Another svcmgr's container got the address since it was asked for. @return false: nobody waits for the launch */
static bool address_is_lost(struct box *b, int err)
{
    const struct local *l = b->local;

    if (err != ERR_EXISTS || b->stop_wanted || b->is_released)
        return false;
    drop_launch(b);
    forget_stderr(b);
    b->pub.exit =
        (struct cluster_exit){.origin = ORIGIN_CLUSTER, .cause = CAUSE_LOST, .ended_ms = run_wall_ms()};
    b->pub.state = CLUSTER_EXITED;
    l->cluster.ops->address_taken(l->cluster.ops_arg, b->pub.id, b->pub.ip);
    return true;
}

/** A step of a launch is done. @return true: continue with the next one. */
static bool go_on(const struct local_job *job)
{
    struct box *b = job->box;
    struct err_info why = job->why;
    int err = job->err;

    if (b->local->is_closing)
        return false;
    if (!err && b->is_released)
        err = err_set(&why, ERR_CANCELLED, b->pub.id, "it was released before");
    enum eng_exit_cause cause = job->lacks_source ? CAUSE_SOURCE : CAUSE_LAUNCH;
    if (err && !address_is_lost(b, err) && !launch_waits(b, err, &why))
        box_not_started(b, cause, why.text);
    return !err;
}

static void on_prepared(struct local_job *job)
{
    struct box *b = job->box;
    struct err_info why;
    int err = go_on(job) ? start_shim(b, &job->shim_files, &why) : 0;

    if (err && !launch_waits(b, err, &why))
        box_not_started(b, CAUSE_LAUNCH, why.text);
}

static void on_image(struct local_job *job)
{
    if (go_on(job))
        local_job_run(job->box->local, job, JOB_PREPARE, on_prepared);
}

static void on_read(struct local_job *job)
{
    if (!go_on(job))
        return;
    if (!job->image)
        on_image(job);
    else if (job->box->stop_wanted)
        box_not_started(job->box, CAUSE_LAUNCH, "it was stopped before its image was looked for");
    else
        local_image_find(job->box->local, job, on_image);
}

static void on_staged(struct local_job *job)
{
    if (!go_on(job))
        return;
    if (job->ask.n_sources && !job->box->stop_wanted)
        local_sources_read(job->box->local, job, on_read);
    else
        on_read(job);
}

/** All but the user, which only the pool may have to look for. */
/** Of the container: the devices that it holds, separated by commas. */
#define DEVICES_VARIABLE "CONTAINER_DEVICES"

static void fill_launch(const struct box *b, const struct cluster_launch *launch, struct shim_launch *s)
{
    const struct local *l = b->local;
    struct rlimit fds = fdlimit_first();
    mem_auto char *devices = local_devices_paths(b->devices);

    s->command = mem_str(launch->command);
    s->grace_ms = l->grace_ms;
    s->work_dir = mem_str(b->pub.work_dir);
    s->log_dir = mem_str(b->pub.log_dir);
    if (!launch->image) /* The runtime of an image makes cgroups of its own. */
        local_cgroups_fill(l, b->pub.id, s);
    s->log_bytes = l->log_bytes;
    s->log_files = l->log_files;
    s->memory_bytes = l->limits.memory_is_enforced ? b->pub.memory_mb << 20 : 0;
    s->pids_max = l->limits.pids_max;
    s->cpu_is_strict = l->limits.cpu_is_strict;
    s->cpu_milli = b->pub.vcores * 1000;
    s->rlimits[s->n_rlimits++] = (struct shim_rlimit){RLIMIT_CORE, 0, 0};
    s->rlimits[s->n_rlimits++] =
        (struct shim_rlimit){RLIMIT_NOFILE, (int64_t)fds.rlim_cur, (int64_t)fds.rlim_max};
    for (size_t i = 0; launch->env && launch->env[i]; i++) {
        const char *eq = strchr(launch->env[i], '=');
        mem_auto char *name = mem_strn(launch->env[i], (size_t)(eq - launch->env[i]));
        if (!devices[0] || strcmp(name, DEVICES_VARIABLE) != 0)
            shim_launch_env(s, name, eq + 1);
    }
    if (devices[0])
        shim_launch_env(s, DEVICES_VARIABLE, devices);
}

static void copy_files(const struct cluster_launch *launch, struct local_job *job)
{
    job->files = mem_array(launch->n_files + 1, sizeof *job->files);
    job->n_files = launch->n_files;
    for (size_t i = 0; i < launch->n_files; i++) {
        const struct cluster_file *f = &launch->files[i];
        job->files[i].path = mem_str(f->path);
        job->files[i].bytes = f->bytes ? mem_copy(f->bytes, f->len + 1) : NULL;
        job->files[i].len = f->len;
        job->files[i].source = mem_str(f->source);
        job->files[i].is_archive = f->is_archive;
        job->files[i].is_source = f->is_source;
        job->files[i].config = spec_file_copy(f->config);
        job->files[i].mount = mem_str(f->mount);
        job->files[i].values = f->values ? json_deep_copy(f->values) : NULL; /* Another thread reads them. */
    }
}

/** What a localizer is asked for: each file that has a source. @return as fs_place_read */
static int ask_sources(const struct local *l, const struct cluster_launch *launch, struct sources_ask *ask,
                       struct err_info *why)
{
    int err = 0;

    ask->owner = mem_str(launch->owner);
    ask->max_bytes = l->source_max_bytes;
    for (size_t i = 0; l->source_dirs[i]; i++)
        sources_ask_dir(ask, l->source_dirs[i]);
    ask->unpack = l->unpack;
    ask->fresh_s = l->cache_fresh_s;
    for (size_t i = 0; !err && i < launch->n_files; i++) {
        const struct cluster_file *f = &launch->files[i];
        int64_t max_bytes = f->values ? SOURCE_TEXT_MAX : l->source_max_bytes;
        err = f->bytes ? 0 : local_sources_add(l, ask, source_form_of(f), f->source, max_bytes, why);
    }
    return err;
}

/** @param take_ask  its sources [taken] */
static void begin_launch(struct box *b, const struct cluster_launch *launch,
                         const struct sources_ask *take_ask)
{
    const struct local *l = b->local;
    struct local_job *job = new_job(b);

    mem_auto char *amounts = local_types_write(b->needs);
    b->pub.attempt = launch->attempt;
    b->pub.state = CLUSTER_STARTING;
    b->pub.started_ms = 0;
    b->launch_job = job;
    job->instance = mem_str(launch->instance);
    job->ip = strcmp(b->pub.ip, LOCAL_SHARED_IP) ? mem_str(b->pub.ip) : NULL;
    job->service = launch->service ? mem_fmt("%s/%s", launch->owner, launch->service) : NULL;
    job->log_dir = mem_str(b->pub.log_dir);
    job->allocation = mem_fmt("application_id=%s\nip=%s\nmemory_mb=%" PRId64 "\nvcores=%" PRId64
                              "\nallocated_ms=%" PRId64 "\nattempt=%" PRId64 "\namounts=%s\ndevices=%s\n",
                              b->pub.application_id, b->pub.ip, b->pub.memory_mb, b->pub.vcores,
                              b->pub.allocated_ms, b->pub.attempt, amounts, b->devices);
    job->devices = mem_str(b->devices);
    fill_launch(b, launch, &job->launch);
    copy_files(launch, job);
    job->image = launch->image ? local_image_new(l, b, launch->image) : NULL;
    job->user = l->user;
    job->users = l->users;
    job->owner = mem_str(launch->owner ? launch->owner : "");
    job->ask = *take_ask;
    run_launch(b);
}

int local_launch(struct cluster *c, const char *container_id, const struct cluster_launch *launch,
                 struct err_info *why)
{
    struct local *l = local_of(c);
    struct box *b = map_get(&l->boxes, container_id);
    struct sources_ask ask = {0};

    if (!b || b->is_released)
        return err_set(why, ERR_NOTFOUND, container_id, "There is no such container.");
    if (b->has_job || (b->pub.state != CLUSTER_ALLOCATED && b->pub.state != CLUSTER_EXITED))
        return err_set(why, ERR_WRONGSTATE, container_id, "The container runs already.");
    if (launch->image && !l->images.program)
        return err_set(why, ERR_UNSUPPORTED, launch->image->id,
                       "Neither podman nor docker is found, which run image %.120s: install podman, or set "
                       "yarn.service.local.container-runtime.",
                       launch->image->id);
    for (size_t i = 0; i < launch->n_files; i++)
        if (!local_path_is_inside(launch->files[i].path))
            return err_set(why, ERR_INVALID, launch->files[i].path,
                           "A file must stay in the working directory.");
    int err = ask_sources(l, launch, &ask, why);
    if (err)
        sources_ask_fini(&ask);
    else
        begin_launch(b, launch, &ask);
    return err;
}

int local_signal(struct cluster *c, const char *container_id, int signal, struct err_info *why)
{
    const struct box *b = map_get(&local_of(c)->boxes, container_id);

    if (!b || b->is_released)
        return err_set(why, ERR_NOTFOUND, container_id, "There is no such container.");
    if (!b->link || b->pub.state != CLUSTER_RUNNING)
        return err_set(why, ERR_WRONGSTATE, container_id, "Nothing runs in the container now.");
    shim_link_signal(b->link, signal);
    return 0;
}

/* ---- ending ---- */

/** A stop came while the launch waited: nothing runs. */
static void end_waiting_launch(struct box *b)
{
    box_not_started(b, CAUSE_LAUNCH, "it was stopped while it waited");
}

static void stop_box(struct box *b, int64_t grace_ms)
{
    b->stop_wanted = cluster_state_is_live(b->pub.state);
    b->stop_grace_ms = grace_ms;
    local_sources_stop(b->local, b);
    if (b->link)
        stop_by_shim(b);
    else if (b->again == run_launch && !b->is_released)
        local_wait(b, end_waiting_launch, ERR_CANCELLED, &(struct err_info){.text = "it is stopped"});
    local_image_stop(b->local, b); /* At the end: it may report the end of the launch. */
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
    bool waits_to_launch = b->again == run_launch || b->again == end_waiting_launch;
    if (waits_to_launch)
        drop_launch(b);
    if (!waits_to_launch && cluster_state_is_live(b->pub.state))
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

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "launch/launch.h"
#include "svcmgr/app.h"
#include "svcmgr/app_manager.h"
#include "svcmgr/app_master.h"
#include "svcmgr/events.h"
#include "svcmgr/options.h"

LOG_DECLARE(SVCMGR_EVENTS)

#define TIMER_MAGIC    OBJ_MAGIC('A', 'T', 'I', 'M')
#define TIMER_SLICE_MS 60000

/** The one timer of a service. */
struct app_timer {
    struct obj obj;
    struct app *app;
    enum eng_kind service_kind;
    char *user, *name;
    int64_t at_ms; /* engine time */
    struct run_timer *timer;
};

/* ---- containers ---- */

static void request(struct app *a, const struct eng_effect *e)
{
    const struct eng_service *s = engine_find(a->engine, e->service_kind, e->user, e->name);
    const struct cluster_ask ask = {
        .container_id = e->container_id,
        .application_id = s && s->app_id ? s->app_id : "",
        .memory_mb = e->request->memory_mb,
        .vcores = e->request->vcores,
        .label = e->request->label,
        .ip = e->request->ip,
        .host = e->request->host,
        .component = e->request->component,
        .needs = e->request->needs,
        .priority = e->request->priority,
        .allocation_id = e->request->allocation_id,
        .n_wanted = e->request->n_wanted,
    };

    cluster_request(a->cluster, &ask);
}

static void do_request(struct app *a, struct eng_effect *e)
{
    request(a, e);
}

static void do_cancel(struct app *a, struct eng_effect *e)
{
    if (cluster_names_containers(a->cluster)) {
        if (e->request->allocation_id)
            request(a, e); /* the number that is still wanted */
        else
            cluster_release(a->cluster, e->container_id);
        return;
    }
    cluster_cancel(a->cluster, e->container_id);
    cluster_release(a->cluster, e->container_id); /* if it was granted meanwhile, or before a restart */
}

static void do_release(struct app *a, struct eng_effect *e)
{
    map_remove(&a->ending, e->container_id);
    app_reinit_forget(a, e->container_id);
    cluster_release(a->cluster, e->container_id);
}

static void report_not_launched(struct app *a, const struct eng_effect *e, int err, enum eng_exit_cause cause,
                                struct err_info *why)
{
    struct eng_event ev = {.kind = EV_EXITED, .container_id = e->container_id, .attempt = e->launch->attempt};

    log_emit(&ev_launch_refused, LOG_STR("container", e->container_id),
             LOG_STR("instance", e->launch->instance), LOG_ERR(why));
    if (err == ERR_NOTFOUND)
        ev.kind = EV_LOST;
    ev.text = why->text;
    ev.exit = eng_exit_of(cause, err, why->text);
    app_event(a, &ev);
}

void app_launch(struct app *a, const struct eng_effect *e)
{
    const struct cluster_container *c = cluster_find(a->cluster, e->container_id);
    struct launch_plan plan = {.cause = CAUSE_LAUNCH};
    struct err_info why = {0};
    int err = 0;

    if (c && cluster_state_is_live(c->state) && c->attempt == e->launch->attempt) {
        if (c->state == CLUSTER_RUNNING)
            app_cluster_ops.started(a, c);
        return;
    }
    if (!c)
        err = err_set(&why, ERR_NOTFOUND, e->container_id, "There is no such container.");
    if (!err)
        err = launch_plan(e->launch, c, &plan, &why);
    plan.launch.service = e->name;
    bool is_live = c && cluster_state_is_live(c->state);
    if (!err && is_live && cluster_reinits(a->cluster))
        err = cluster_reinit(a->cluster, e->container_id, &plan.launch, &why);
    else if (!err)
        err = cluster_launch(a->cluster, e->container_id, &plan.launch, &why);
    bool is_unusable = e->launch->is_task && err == ERR_INVALID; /* of its files */
    enum eng_exit_cause cause = is_unusable ? CAUSE_SOURCE : plan.cause;
    launch_plan_fini(&plan);
    if (err)
        report_not_launched(a, e, err, cause, &why);
}

static void do_launch(struct app *a, struct eng_effect *e)
{
    app_launch(a, e);
}

static void do_stop(struct app *a, struct eng_effect *e)
{
    const struct cluster_container *c = cluster_find(a->cluster, e->container_id);
    struct eng_event ev = {
        .kind = EV_LOST, .container_id = e->container_id, .text = "There is no such container."};

    app_reinit_forget(a, e->container_id);
    if (c && cluster_state_is_live(c->state)) {
        map_set(&a->ending, e->container_id, a);
        cluster_stop(a->cluster, e->container_id,
                     e->force ? 0 : opt_ms(daemon_options(a->daemon), OPT_GRACE));
        return;
    }
    if (c) {
        ev.kind = EV_EXITED;
        ev.exit = eng_exit_of(CAUSE_STOPPED, 0, NULL);
        ev.text = NULL;
    }
    cluster_cancel(a->cluster, e->container_id);
    cluster_release(a->cluster, e->container_id);
    app_event(a, &ev);
}

static void do_probe_start(struct app *a, struct eng_effect *e)
{
    if (!cluster_probe(a->cluster, e->container_id))
        probe_start(a->probes, e->container_id, e->probe);
}

static void do_probe_stop(struct app *a, struct eng_effect *e)
{
    cluster_unprobe(a->cluster, e->container_id);
    probe_stop(a->probes, e->container_id);
}

static void do_exclude(struct app *a, struct eng_effect *e)
{
    cluster_exclude(a->cluster, e->application->id, e->text, e->excluded);
}

/* ---- applications ---- */

/** A cluster without applications of its own takes and ends each at once. */
static void do_submit(struct app *a, struct eng_effect *e)
{
    if (a->manager) {
        app_manager_submit(a, e);
        return;
    }
    struct eng_event ev = {.kind = EV_SUBMITTED,
                           .service_kind = e->service_kind,
                           .user = e->user,
                           .name = e->name,
                           .incarnation = e->application->incarnation};

    app_event(a, &ev);
}

static void do_finish(struct app *a, struct eng_effect *e)
{
    if (a->manager) {
        app_manager_finish(a, e);
        return;
    }
    if (a->master) {
        app_master_finish(a, e);
        return;
    }
    struct eng_event ev = {.kind = EV_APP_ENDED,
                           .service_kind = e->service_kind,
                           .user = e->user,
                           .name = e->name,
                           .incarnation = e->application->incarnation,
                           .exit = eng_exit_of(CAUSE_STOPPED, 0, NULL)};

    app_event(a, &ev);
}

static void do_set_lifetime(struct app *a, struct eng_effect *e)
{
    if (a->manager)
        app_manager_set_lifetime(a, e);
}

/* ---- registry, answers, time ---- */

static void do_publish(struct app *a, struct eng_effect *e)
{
    if (a->master && !e->record->component)
        e->record->url = mem_str(app_master_url(a)); /* of the service: how it is reached */
    app_slider_record(a, e);
    publish_put(a->publish, e->path, e->record, e->ticket);
}

static void do_unpublish(struct app *a, struct eng_effect *e)
{
    publish_delete(a->publish, e->path, e->ticket);
}

static void do_purge(struct app *a, struct eng_effect *e)
{
    publish_purge(a->publish, e->path, e->ticket);
}

static void do_ended(struct app *a, struct eng_effect *e)
{
    publish_ended(a->publish, e->path, e->text, e->ticket);
}

static void do_sync(struct app *a, struct eng_effect *e)
{
    dns_sync_ask(a->dns_sync, e->container_id);
}

static void do_answer(struct app *a, struct eng_effect *e)
{
    app_answer(a, e->answer);
}

static void free_timer(void *p)
{
    struct app_timer *t = obj_cast(p, struct app_timer, TIMER_MAGIC);

    run_timer_free(t->timer);
    free(t->user);
    free(t->name);
    obj_fini(&t->obj);
    free(t);
}

void app_drop_timers(struct app *a)
{
    map_fini(&a->timers, free_timer);
}

/** In slices: the loop's timers stop while the host is suspended, engine time does not. @return false: it is due */
static bool sleep_on(struct app_timer *t)
{
    int64_t left = t->at_ms - app_now_ms(t->app);

    if (left > 0)
        run_timer_start(t->timer, (uint64_t)(left < TIMER_SLICE_MS ? left : TIMER_SLICE_MS), 0);
    return left > 0;
}

static char *timer_key(enum eng_kind kind, const char *user, const char *name)
{
    return mem_fmt("%s/%s/%s", eng_kind_word(kind), user, name);
}

static void on_timer(void *arg)
{
    struct app_timer *t = obj_cast(arg, struct app_timer, TIMER_MAGIC);
    struct app *a = t->app;
    if (sleep_on(t))
        return;
    mem_auto char *key = timer_key(t->service_kind, t->user, t->name);
    mem_auto char *user = t->user;
    mem_auto char *name = t->name;
    struct eng_event ev = {.kind = EV_TIMER, .service_kind = t->service_kind, .user = user, .name = name};

    t->user = t->name = NULL;
    map_remove(&a->timers, key);
    free_timer(t);
    app_event(a, &ev);
}

static void do_timer(struct app *a, struct eng_effect *e)
{
    mem_auto char *key = timer_key(e->service_kind, e->user, e->name);
    struct app_timer *t = map_remove(&a->timers, key);

    if (t)
        free_timer(t);
    if (!e->at_ms)
        return;
    t = mem_new(struct app_timer);
    obj_init(&t->obj, TIMER_MAGIC);
    t->app = a;
    t->service_kind = e->service_kind;
    t->user = mem_str(e->user);
    t->name = mem_str(e->name);
    t->at_ms = e->at_ms;
    t->timer = run_timer_new(a->loop, on_timer, t);
    map_set(&a->timers, key, t);
    if (!sleep_on(t))
        run_timer_start(t->timer, 0, 0);
}

static void do_note(struct app *a, struct eng_effect *e)
{
    (void)a;
    log_emit(&ev_engine_note, LOG_STR("user", e->user), LOG_STR("service", e->name),
             LOG_STR("container", e->container_id), LOG_STR("note", e->text));
}

static void do_nothing(struct app *a, struct eng_effect *e)
{
    (void)a; /* PERSIST was done before; the engine ends what has lived for its time. */
    (void)e;
}

/* ---- the table ---- */

static void (*const doers[])(struct app *a, struct eng_effect *e) = {
    [EFF_PERSIST] = do_nothing,
    [EFF_REQUEST] = do_request,
    [EFF_CANCEL_REQUEST] = do_cancel,
    [EFF_RELEASE] = do_release,
    [EFF_LAUNCH] = do_launch,
    [EFF_STOP] = do_stop,
    [EFF_PROBE_START] = do_probe_start,
    [EFF_PROBE_STOP] = do_probe_stop,
    [EFF_SUBMIT] = do_submit,
    [EFF_FINISH] = do_finish,
    [EFF_SET_LIFETIME] = do_set_lifetime,
    [EFF_PUBLISH] = do_publish,
    [EFF_UNPUBLISH] = do_unpublish,
    [EFF_PURGE] = do_purge,
    [EFF_ENDED] = do_ended,
    [EFF_REINIT] = app_reinit,
    [EFF_FETCH] = app_fetch,
    [EFF_SYNC] = do_sync,
    [EFF_EXCLUDE] = do_exclude,
    [EFF_ANSWER] = do_answer,
    [EFF_TIMER] = do_timer,
    [EFF_NOTE] = do_note,
};

void app_carry_out(struct app *a, struct eng_effect *e)
{
    BUG_IF((size_t)e->kind >= ARRAY_LEN(doers) || !doers[e->kind]);
    doers[e->kind](a, e);
}

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "bobbin/path.h"
#include "json/json.h"
#include "svcmgr/app.h"
#include "svcmgr/app_nodes.h"
#include "svcmgr/app_remote.h"
#include "svcmgr/events.h"
#include "svcmgr/options.h"

LOG_DECLARE(SVCMGR_EVENTS)

#define QUEUE_MAX_BYTES ((size_t)8 << 20)
#define SMALL_REQUEST   256 /* bytes that a request without a definition counts */

/* ---- answers ---- */

static struct app_caller *take_caller(struct app *a, uint64_t token)
{
    struct app_caller *w;

    TAILQ_FOREACH (w, &a->callers, link) {
        if (w->token != token)
            continue;
        TAILQ_REMOVE(&a->callers, w, link);
        return w;
    }
    return NULL;
}

void app_answer(struct app *a, const struct eng_answer *answer)
{
    mem_auto struct app_caller *w = take_caller(a, answer->token);

    if (w)
        w->answered(w->arg, answer); /* After a failed write it was answered already. */
}

void app_cancel_callers(struct app *a)
{
    while (!TAILQ_EMPTY(&a->callers)) {
        struct eng_answer answer = {.token = TAILQ_FIRST(&a->callers)->token, .outcome = OUT_CANCELLED};
        app_answer(a, &answer);
    }
}

void app_answer_outcome(struct app *a, uint64_t token, enum eng_outcome outcome, const char *reason)
{
    struct eng_answer answer = {.token = token, .outcome = outcome, .reason = (char *)reason};

    app_answer(a, &answer);
}

/* ---- taking requests ---- */

/** Whether all that is stored of a service can be named. @return 0; or ERR_PATH with the limit in *why */
static int check_keys(const char *user, const struct spec_service *s, struct err_info *why)
{
    int err = engine_check_key(user, s->name, why);

    for (size_t i = 0; !err && i < s->n_components; i++)
        err = engine_check_component_key(s->components[i]->name, why);
    return err;
}

/** What can never be stored is refused before anything is done. @return false with *why filled */
static bool is_storable(struct app *a, const struct eng_event *ev, size_t *n_bytes, struct err_info *why)
{
    int64_t max = opt_int(daemon_options(a->daemon), OPT_MAX_DEFINITION);
    buf_auto struct buf text = BUF_EMPTY;

    *n_bytes = SMALL_REQUEST;
    if (!ev->take_spec)
        return true;
    fld_write_text(&spec_service_type, ev->take_spec, &text);
    if (ev->value)
        json_write(ev->value, &text); /* of another API: stored beside it */
    *n_bytes = text.len;
    if (check_keys(ev->user, ev->take_spec, why))
        return false;
    if (text.len > (size_t)max)
        err_set(why, ERR_TOOBIG, "definition",
                "The definition of service %s has %zu bytes when stored, at most %lld are allowed "
                "(yarn.service.definition.max-bytes)",
                ev->take_spec->name, text.len, (long long)max);
    return !why->code;
}

/** Nothing can be promised now: too much waits, or the store does not answer. */
static bool is_busy(const struct app *a)
{
    size_t max = (size_t)opt_int(daemon_options(a->daemon), OPT_MAX_WAITING);

    return a->is_unknown || a->queue.n_requests >= max || a->queue.n_bytes >= QUEUE_MAX_BYTES;
}

static void refuse(struct eng_event *ev, enum eng_outcome outcome, const struct err_info *why,
                   void (*answered)(void *arg, const struct eng_answer *answer), void *arg)
{
    struct eng_answer refused = {.outcome = outcome, .reason = why ? (char *)why->text : NULL};

    spec_free(ev->take_spec);
    eng_rules_free(ev->take_rules);
    ev->take_spec = NULL;
    ev->take_rules = NULL;
    answered(arg, &refused);
}

static void submit(void *app, struct eng_event *ev,
                   void (*answered)(void *arg, const struct eng_answer *answer), void *arg)
{
    struct app *a = obj_cast(app, struct app, APP_MAGIC);
    struct err_info why = {0};
    size_t n_bytes = 0;

    if (a->is_ending) {
        refuse(ev, OUT_CANCELLED, NULL, answered, arg);
        return;
    }
    if (is_busy(a)) {
        metric_add(daemon_metrics(a->daemon), M_REQUESTS_BUSY, 1);
        refuse(ev, OUT_BUSY, NULL, answered, arg);
        return;
    }
    if (!is_storable(a, ev, &n_bytes, &why)) {
        refuse(ev, why.code == ERR_TOOBIG ? OUT_TOO_LARGE : OUT_NOT_STORABLE, &why, answered, arg);
        return;
    }
    struct app_caller *w = mem_new(struct app_caller);
    w->token = ev->token = ++a->last_token;
    w->answered = answered;
    w->arg = arg;
    TAILQ_INSERT_TAIL(&a->callers, w, link);
    queue_push(&a->queue, ev, n_bytes);
    app_pump(a);
}

static const struct engine *face_engine(void *app)
{
    return obj_cast(app, struct app, APP_MAGIC)->engine;
}

static int64_t face_now_ms(void *app)
{
    return app_now_ms(obj_cast(app, struct app, APP_MAGIC));
}

static const struct spec_world *face_world(void *app)
{
    return &obj_cast(app, struct app, APP_MAGIC)->world;
}

static void face_look(void *app, const char *owner, const char *const *paths, size_t n,
                      void (*done)(void *arg, const bool *absent, const struct err_info *problem), void *arg)
{
    cluster_look(obj_cast(app, struct app, APP_MAGIC)->cluster, owner, paths, n, done, arg);
}

static void face_note_unknown(void *app, const char *user, const char *service, const char *members)
{
    (void)obj_cast(app, struct app, APP_MAGIC);
    log_emit(&ev_members_unknown, LOG_STR("user", user), LOG_STR("service", service),
             LOG_STR("members", members));
}

static char *face_log_dir(void *app, const char *container_id)
{
    return cluster_log_dir(obj_cast(app, struct app, APP_MAGIC)->cluster, container_id);
}

static struct face_room face_room(void *app)
{
    const struct app *a = obj_cast(app, struct app, APP_MAGIC);
    struct cluster_capacity c;

    cluster_capacity(a->cluster, &c);
    if (a->role == ROLE_MANAGER)
        app_nodes_largest(a, &c.max_memory_mb, &c.max_vcores);
    int64_t memory_mb = c.memory_mb - c.used_memory_mb, vcores = c.vcores - c.used_vcores;
    return (struct face_room){.is_known = c.memory_mb > 0, /* on YARN the resource manager knows */
                              .max_memory_mb = c.max_memory_mb,
                              .max_vcores = c.max_vcores,
                              .memory_mb = memory_mb > 0 ? memory_mb : 0,
                              .vcores = vcores > 0 ? vcores : 0};
}

static char *face_last_container(void *app, const char *application_id, const char *instance)
{
    return cluster_last_container(obj_cast(app, struct app, APP_MAGIC)->cluster, application_id, instance);
}

static bool face_is_of(void *app, const char *application_id, const char *owner, const char *service)
{
    return cluster_is_of(obj_cast(app, struct app, APP_MAGIC)->cluster, application_id, owner, service);
}

static char *face_application_of(void *app, const char *container_id)
{
    (void)app;
    return cluster_application_of(container_id);
}

static bool face_record_waits(void *app, const char *path, struct face_wait *out)
{
    const struct app *a = obj_cast(app, struct app, APP_MAGIC);
    struct publish_wait w;

    if (!a->publish || !publish_waits(a->publish, path, &w))
        return false;
    *out = (struct face_wait){w.since_ms, w.reason, w.is_refused};
    return true;
}

static bool face_administers(void *app, const char *user)
{
    const struct app *a = obj_cast(app, struct app, APP_MAGIC);

    mem_auto char *current = reg_current_user();

    return strcmp(user, current) == 0 || strcmp(user, "root") == 0 ||
           str_has_field(opt_text(daemon_options(a->daemon), OPT_ADMINS), ',', user);
}

static bool face_registry_is_away(void *app)
{
    return outage_lasts(obj_cast(app, struct app, APP_MAGIC)->registry_outage);
}

static int face_signal(void *app, const char *container_id, int signal, struct err_info *why)
{
    const struct app *a = obj_cast(app, struct app, APP_MAGIC);

    if (a->role == ROLE_MANAGER) {
        mem_auto char *remedy =
            mem_fmt("`yarn container -signal %s` sends it one of three signals", container_id);
        return app_refuse_on_yarn(container_id, remedy, why);
    }
    return cluster_signal(a->cluster, container_id, signal, why);
}

static const char *face_no_usage(void *app)
{
    const struct app *a = obj_cast(app, struct app, APP_MAGIC);

    return a->role == ROLE_WHOLE ? NULL
                                 : "not known on YARN: node managers say what is allotted, not what is used";
}

#define USAGE_MAGIC OBJ_MAGIC('A', 'U', 'S', 'E')

/** A face that waits for a measurement. */
struct usage_call {
    struct obj obj;
    size_t n;
    void (*done)(void *arg, const struct face_usage *usage);
    void *arg;
};

static void on_usage(void *arg, const struct cluster_usage *usage)
{
    struct usage_call *call = obj_cast(arg, struct usage_call, USAGE_MAGIC);
    mem_auto struct face_usage *copy = mem_array(call->n + 1, sizeof *copy);

    for (size_t i = 0; usage && i < call->n; i++)
        copy[i] = (struct face_usage){usage[i].is_known, usage[i].cpu_ms, usage[i].memory_bytes,
                                      usage[i].n_processes};
    call->done(call->arg, usage ? copy : NULL);
    obj_fini(&call->obj);
    free(call);
}

static void face_usage(void *app, const char *const *ids, size_t n,
                       void (*done)(void *arg, const struct face_usage *usage), void *arg)
{
    const struct app *a = obj_cast(app, struct app, APP_MAGIC);
    struct usage_call *call = mem_new(struct usage_call);

    obj_init(&call->obj, USAGE_MAGIC);
    call->n = n;
    call->done = done;
    call->arg = arg;
    cluster_usage(a->cluster, ids, n, on_usage, call);
}

static bool face_may_upgrade(void *app)
{
    return opt_bool(daemon_options(obj_cast(app, struct app, APP_MAGIC)->daemon), OPT_UPGRADE);
}

const struct app_ops app_face_ops = {.submit = submit,
                                     .plan = app_plan,
                                     .may_upgrade = face_may_upgrade,
                                     .engine = face_engine,
                                     .now_ms = face_now_ms,
                                     .world = face_world,
                                     .look = face_look,
                                     .note_unknown = face_note_unknown,
                                     .log_dir = face_log_dir,
                                     .room = face_room,
                                     .last_container = face_last_container,
                                     .is_of = face_is_of,
                                     .application_of = face_application_of,
                                     .node_log = app_node_log,
                                     .explain = app_explain,
                                     .forward = app_slider_forward,
                                     .know_nodes = app_know_nodes,
                                     .nodes = app_nodes,
                                     .administers = face_administers,
                                     .registry_is_away = face_registry_is_away,
                                     .signal = face_signal,
                                     .usage = face_usage,
                                     .no_usage = face_no_usage,
                                     .exec_check = app_exec_check,
                                     .exec = app_exec,
                                     .exec_end = app_exec_end,
                                     .registry_node = app_registry_node,
                                     .record_waits = face_record_waits};

/**
 * svcmgr as the manager of applications of YARN: each service is one, and its application master (app_master.c) runs it.
 *
 *     EFF_SUBMIT ──> the program and the options of the master are where nodes fetch them ──> submit_start ──> EV_SUBMITTED
 *     reports of the resource manager ──> EV_APP_WAITS; has ended ──> its documents are taken back ──> EV_APP_ENDED
 *     documents that masters write ──state_follow──> EV_FOLLOWED
 *
 * A service is taken back when no step is under way, so no request about it can be undone any more.
 */
#include "svcmgr/app_manager.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/str.h"
#include "cluster/elsewhere.h"
#include "submit/files.h"
#include "submit/manager.h"
#include "submit/package.h"
#include "svcmgr/app.h"
#include "svcmgr/app_master.h"
#include "svcmgr/events.h"
#include "svcmgr/options.h"

LOG_DECLARE(SVCMGR_EVENTS)

#define MANAGER_MAGIC OBJ_MAGIC('A', 'M', 'G', 'R')
#define MANAGED_MAGIC OBJ_MAGIC('A', 'M', 'S', 'V')

#define SECRET_LEN   32
#define USERS_MAX    256
#define REPORT_MS    2000
#define MASTER_MB    "128"
#define ATTEMPT_LAST ((1 << 20) - 1) /* after all attempts of an incarnation */

/** The application of a service. */
struct managed {
    struct obj obj;
    struct app_manager *owner;
    enum eng_kind kind;
    char *user, *name;
    int64_t incarnation;
    char tag[SUBMIT_TAG_ROOM], token[SUBMIT_TOKEN_ROOM];
    struct yarn_app_id id;
    bool has_id, is_deferred;                         /* deferred: submitted when the program is packed */
    struct submit_op *start, *kill, *watch, *timeout; /* under way; NULL: not */
    char *queue;
    int64_t lifetime_s;
    struct eng_exit exit; /* when it has ended; text owned */
    bool has_ended;
};

struct taken;

struct app_manager {
    struct obj obj;
    struct app *app;
    struct submit *submit;
    struct submit_files *files;
    struct submit_package package;
    char *program_dir; /* of the archive */
    bool is_packed;
    uint8_t secret[SECRET_LEN];
    struct map managed; /* "kind/user/name" -> struct managed */
    size_t n_ended;     /* of them: to be taken back */
    struct managed *taking;
    struct taken *taken; /* its documents, so far */
    size_t n_taken;
    void (*closed)(void *arg);
    void *closed_arg;
};

static struct app_manager *manager_of(const struct app *a)
{
    return obj_cast(a->manager, struct app_manager, MANAGER_MAGIC);
}

/* ---- applications that are managed ---- */

static char *key_of(enum eng_kind kind, const char *user, const char *name)
{
    return mem_fmt("%s/%s/%s", eng_kind_word(kind), user, name);
}

static void free_managed(void *p)
{
    struct managed *m = obj_cast(p, struct managed, MANAGED_MAGIC);
    struct submit_op *const ops[] = {m->start, m->kill, m->watch, m->timeout};

    for (size_t i = 0; i < ARRAY_LEN(ops); i++) {
        if (ops[i])
            submit_cancel(ops[i]);
    }
    m->owner->n_ended -= m->has_ended;
    submit_files_remove(m->owner->files, m->token);
    free(m->exit.text);
    free(m->user);
    free(m->name);
    free(m->queue);
    obj_fini(&m->obj);
    free(m);
}

static void forget(struct managed *m)
{
    mem_auto char *key = key_of(m->kind, m->user, m->name);

    map_remove(&m->owner->managed, key);
    free_managed(m);
}

/** The application of an incarnation; one of an earlier incarnation is forgotten. */
static struct managed *managed_of(struct app_manager *am, enum eng_kind kind, const char *user,
                                  const char *name, int64_t incarnation)
{
    mem_auto char *key = key_of(kind, user, name);
    struct managed *m = map_get(&am->managed, key);

    if (m && m->incarnation == incarnation)
        return m;
    if (m)
        forget(m);
    m = mem_new(struct managed);
    obj_init(&m->obj, MANAGED_MAGIC);
    m->owner = am;
    m->kind = kind;
    m->user = mem_str(user);
    m->name = mem_str(name);
    m->incarnation = incarnation;
    submit_tag(&(struct submit_key){am->app->state_url, eng_kind_word(kind), user, name, incarnation},
               m->tag);
    submit_files_token(am->secret, sizeof am->secret, m->tag, m->token);
    map_set(&am->managed, key, m);
    return m;
}

static struct eng_event event_of(const struct managed *m, enum eng_event_kind kind)
{
    return (struct eng_event){.kind = kind,
                              .service_kind = m->kind,
                              .user = m->user,
                              .name = m->name,
                              .incarnation = m->incarnation};
}

static struct submit_target target_of(const struct managed *m)
{
    return (struct submit_target){m->user, m->tag, m->has_id ? &m->id : NULL};
}

/* ---- reports ---- */

static struct eng_exit exit_of(const struct submit_report *r)
{
    char *text = submit_reason(r->diagnostics);
    bool is_stopped = r->state == SUBMIT_KILLED || r->final == SUBMIT_ENDED;

    if (r->final == SUBMIT_SUCCEEDED)
        return (struct eng_exit){.origin = ORIGIN_PROCESS, .cause = CAUSE_EXITED, .text = text};
    if (r->state == SUBMIT_UNKNOWN && !text[0]) {
        free(text);
        text = mem_str("the resource manager does not know the application any more");
    }
    return eng_exit_of(is_stopped ? CAUSE_STOPPED : CAUSE_APPLICATION_ENDED, 0, text);
}

/** Nothing of it runs any more: what it was is taken back when no step is under way. */
static void has_ended(struct managed *m, struct eng_exit take_exit)
{
    if (m->has_ended) {
        free(take_exit.text);
        return;
    }
    m->has_ended = true;
    m->exit = take_exit;
    m->owner->n_ended++;
    app_pump(m->owner->app);
}

static void on_report(void *arg, const struct submit_report *r)
{
    struct managed *m = obj_cast(arg, struct managed, MANAGED_MAGIC);
    mem_auto char *reason = submit_reason(r->diagnostics);
    struct eng_event ev = event_of(m, EV_APP_WAITS);

    if (r->has_ended) {
        struct eng_exit exit = exit_of(r); /* the report goes with the watch */
        submit_cancel(m->watch);
        m->watch = NULL;
        has_ended(m, exit);
        return;
    }
    ev.text = r->state <= SUBMIT_ACCEPTED ? (reason[0] ? reason : submit_state_word(r->state)) : NULL;
    app_event(m->owner->app, &ev);
}

static void watch(struct managed *m)
{
    const struct submit_target target = target_of(m);

    if (!m->watch)
        m->watch = submit_watch(m->owner->submit, &target, on_report, m);
}

/* ---- submission ---- */

static const char *property(const struct eng_service *s, const struct options *o, const char *key,
                            const char *otherwise)
{
    const json_t *properties = s->spec->configuration ? s->spec->configuration->properties : NULL;
    const char *own = json_string_value(json_object_get(properties, key));
    const char *all = app_hadoop_key(o, key);

    return own && own[0] ? own : all && all[0] ? all : otherwise;
}

static int64_t number(const struct eng_service *s, const struct options *o, const char *key,
                      const char *otherwise)
{
    int64_t n = 0;

    if (str_to_i64(property(s, o, key, otherwise), -1, INT32_MAX, &n))
        str_to_i64(otherwise, -1, INT32_MAX, &n);
    return n;
}

static void on_submitted(void *arg, const struct submit_result *r)
{
    struct managed *m = obj_cast(arg, struct managed, MANAGED_MAGIC);
    struct eng_event ev = event_of(m, EV_SUBMITTED);
    char id[YARN_ID_TEXT_MAX];

    m->start = NULL;
    if (r->err == ERR_CANCELLED)
        return;
    if (r->id) {
        m->id = *r->id;
        m->has_id = true;
        ev.application_id = yarn_app_id_text(&m->id, id);
    }
    if (r->err) {
        log_emit(&ev_app_refused, LOG_STR("user", m->user), LOG_STR("service", m->name), LOG_ERR(r->why));
        ev.code = r->err;
        ev.text = r->why->text;
        app_event(m->owner->app, &ev);
        return;
    }
    log_emit(&ev_app_submitted, LOG_STR("user", m->user), LOG_STR("service", m->name),
             LOG_STR("application", id), LOG_STR("new", r->is_new ? "yes" : "no"));
    app_event(m->owner->app, &ev);
    watch(m);
}

/** Its options, by which its master finds the state, the registry and the resource manager. */
static int put_site(struct managed *m, const struct eng_service *s, int64_t *size, struct err_info *why)
{
    struct buf site = BUF_EMPTY;
    int err = app_master_site(m->owner->app, s, &site, why);

    if (err)
        return err;
    *size = (int64_t)site.len;
    submit_files_put(m->owner->files, m->token, &site);
    return 0;
}

static void refuse(struct managed *m, const struct err_info *why)
{
    struct eng_event ev = event_of(m, EV_SUBMITTED);

    ev.code = why->code;
    ev.text = why->text;
    app_event(m->owner->app, &ev);
}

static void start(struct managed *m, const struct eng_service *s)
{
    struct app_manager *am = m->owner;
    const struct options *o = daemon_options(am->app->daemon);
    static const char *const words[] = {"./" SUBMIT_PROGRAM_LINK "/" SUBMIT_PACKAGE_PROGRAM, "am", "--config",
                                        "conf"};
    mem_auto char *base = app_files_url(am->app);
    mem_auto char *program = mem_fmt("%s/%s/am-%s.tar.gz", base, am->package.hash, am->package.hash);
    mem_auto char *site = mem_fmt("%s/%s/yarn-site.xml", base, m->token);
    mem_auto char *name_tag = mem_fmt("name: %s", m->name);
    const char *const tags[] = {name_tag};
    struct submit_resource resources[] = {
        {.link = SUBMIT_PROGRAM_LINK, .url = program, .size = am->package.size, .is_archive = true},
        {.link = "conf/yarn-site.xml", .url = site},
    };
    struct err_info why = {0};

    if (put_site(m, s, &resources[1].size, &why)) {
        refuse(m, &why);
        return;
    }
    const struct submit_def def = {
        .user = m->user,
        .tag = m->tag,
        .name = m->name,
        .type = "yarn-service",
        .queue = m->queue,
        .tags = tags,
        .n_tags = ARRAY_LEN(tags),
        .lifetime_s = m->lifetime_s,
        .memory_mb = number(s, o, "yarn.service.am-resource.memory", MASTER_MB),
        .vcores = 1,
        .max_attempts = (int32_t)number(s, o, "yarn.service.am-restart.max-attempts", "20"),
        .validity_ms = number(s, o, "yarn.service.am-failure.validity-interval-ms", "-1"),
        .keep_containers = true,
        .logs = {property(s, o, "yarn.service.log.include-pattern", NULL),
                 property(s, o, "yarn.service.log.exclude-pattern", NULL),
                 property(s, o, "yarn.service.rolling-log.include-pattern", NULL),
                 property(s, o, "yarn.service.rolling-log.exclude-pattern", NULL)},
        .launch = {.words = words,
                   .n_words = ARRAY_LEN(words),
                   .library_path = "./" SUBMIT_PROGRAM_LINK "/" SUBMIT_PACKAGE_LIBS,
                   .resources = resources,
                   .n_resources = ARRAY_LEN(resources)},
    };
    if (submit_start(am->submit, &def, on_submitted, m, &m->start, &why))
        refuse(m, &why);
}

void app_manager_submit(struct app *a, const struct eng_effect *e)
{
    struct app_manager *am = manager_of(a);
    const struct eng_service *s = engine_find(a->engine, e->service_kind, e->user, e->name);

    if (!s || s->incarnation != e->application->incarnation)
        return; /* it has gone on */
    struct managed *m = managed_of(am, e->service_kind, e->user, e->name, e->application->incarnation);
    if (m->start || m->has_id)
        return; /* under way, or its answer is */
    free(m->queue);
    m->queue = mem_str(e->application->queue);
    m->lifetime_s = e->application->lifetime_s;
    m->is_deferred = !am->is_packed;
    if (am->is_packed)
        start(m, s);
}

/* ---- its end by us ---- */

static void on_killed(void *arg, const struct submit_result *r)
{
    struct managed *m = obj_cast(arg, struct managed, MANAGED_MAGIC);
    struct eng_event ev = event_of(m, EV_APP_ENDED);

    m->kill = NULL;
    if (r->err == ERR_CANCELLED || m->watch || m->has_ended)
        return; /* the report says when nothing of it runs any more */
    if (r->err)
        log_emit(&ev_app_not_killed, LOG_STR("user", m->user), LOG_STR("service", m->name), LOG_ERR(r->why));
    if (r->id) {
        m->id = *r->id;
        m->has_id = true;
        watch(m);
        return;
    }
    ev.exit = eng_exit_of(CAUSE_STOPPED, 0, NULL);
    app_event(m->owner->app, &ev);
    forget(m);
}

void app_manager_finish(struct app *a, const struct eng_effect *e)
{
    struct managed *m =
        managed_of(manager_of(a), e->service_kind, e->user, e->name, e->application->incarnation);
    const struct submit_target target = target_of(m);
    const char *why = e->application->diagnostics;

    m->is_deferred = false;
    if (!m->kill && !m->has_ended)
        m->kill = submit_kill(m->owner->submit, &target, why ? why : "ended by svcmgr", on_killed, m);
}

static void on_lifetime_set(void *arg, const struct submit_result *r)
{
    struct managed *m = obj_cast(arg, struct managed, MANAGED_MAGIC);

    m->timeout = NULL;
    if (r->err && r->err != ERR_CANCELLED)
        log_emit(&ev_app_no_lifetime, LOG_STR("user", m->user), LOG_STR("service", m->name), LOG_ERR(r->why));
}

void app_manager_set_lifetime(struct app *a, const struct eng_effect *e)
{
    struct managed *m =
        managed_of(manager_of(a), e->service_kind, e->user, e->name, e->application->incarnation);
    const struct submit_target target = target_of(m);

    if (m->timeout)
        submit_cancel(m->timeout);
    m->timeout =
        m->has_id && e->application->lifetime_s > 0
            ? submit_set_lifetime(m->owner->submit, &target, e->application->lifetime_s, on_lifetime_set, m)
            : NULL;
}

/* ---- taking back ---- */

/** A document of a service that is being taken back. */
struct taken {
    char *key, *bytes;
    size_t len;
};

static void drop_taken(struct app_manager *am)
{
    for (size_t i = 0; i < am->n_taken; i++) {
        free(am->taken[i].key);
        free(am->taken[i].bytes);
    }
    mem_free_ptr(&am->taken);
    am->n_taken = 0;
}

static void take_document(void *arg, const char *key, const char *bytes, size_t len)
{
    struct app_manager *am = obj_cast(arg, struct app_manager, MANAGER_MAGIC);

    am->taken = mem_resize(am->taken, am->n_taken + 1, sizeof *am->taken);
    am->taken[am->n_taken++] = (struct taken){mem_str(key), mem_strn(bytes, len), len};
}

/** What its master has left is what it is. */
static void load_taken(struct app_manager *am, const struct managed *m)
{
    struct engine *e = am->app->engine;

    engine_take_back(e, m->kind, m->user, m->name);
    for (size_t i = 0; i < am->n_taken; i++) {
        struct err_info why = {0};
        if (engine_load(e, am->taken[i].key, am->taken[i].bytes, am->taken[i].len, &why))
            log_emit(&ev_state_bad, LOG_STR("key", am->taken[i].key), LOG_ERR(&why));
    }
    engine_taken_back(e, m->kind, m->user, m->name);
}

/** It has ended, and nothing of the service is its master's: the engine goes on with it. */
static void conclude(struct managed *m)
{
    struct app *a = m->owner->app;
    struct eng_event ev = event_of(m, EV_APP_ENDED);

    m->owner->n_ended--; /* before the event, which may begin to take another one back */
    m->has_ended = false;
    ev.exit = m->exit;
    log_emit(&ev_app_ended, LOG_STR("user", m->user), LOG_STR("service", m->name),
             LOG_STR("cause", eng_exit_cause_word(m->exit.cause)),
             LOG_STR("text", m->exit.text ? m->exit.text : ""));
    queue_push(&a->queue, &ev, 0);
    forget(m);
    app_pump(a);
}

static void on_taken(void *arg, int err, const struct err_info *why)
{
    struct app_manager *am = obj_cast(arg, struct app_manager, MANAGER_MAGIC);
    struct managed *m = am->taking;

    am->taking = NULL;
    if (!err && !am->app->is_ending)
        load_taken(am, m);
    drop_taken(am);
    if (am->app->is_ending)
        return;
    if (err == ERR_CONFLICT) {
        app_fenced(am->app, why);
        return;
    }
    if (err) {
        log_emit(&ev_app_not_taken, LOG_STR("user", m->user), LOG_STR("service", m->name), LOG_ERR(why));
        app_retry_later(am->app);
        return;
    }
    conclude(m);
}

static struct managed *next_ended(const struct app_manager *am)
{
    for (MAP_EACH (&am->managed, slot)) {
        struct managed *m = slot->value;
        if (m->has_ended)
            return m;
    }
    return NULL;
}

bool app_manager_waits(const struct app *a)
{
    return a->manager && (a->manager->n_ended > 0 || a->manager->taking);
}

bool app_manager_takes(const struct app *a)
{
    return a->manager && a->manager->taking;
}

bool app_manager_take_back(struct app *a)
{
    struct app_manager *am = manager_of(a);
    struct managed *m = am->taking ? NULL : next_ended(am);
    const struct eng_service *s = m ? engine_find(a->engine, m->kind, m->user, m->name) : NULL;

    if (!m)
        return am->taking != NULL;
    if (!s || s->incarnation != m->incarnation || !engine_is_away(a->engine, s)) {
        conclude(m);
        return false;
    }
    mem_auto char *key = engine_service_key(s);
    am->taking = m;
    state_take_back(a->state, key, state_attempt((int32_t)m->incarnation, ATTEMPT_LAST), take_document,
                    on_taken, am);
    return true;
}

/* ---- following ---- */

static bool is_away(void *arg, const char *service_key)
{
    const struct app *a = obj_cast(arg, struct app_manager, MANAGER_MAGIC)->app;
    const struct eng_service *s = engine_service_of_key(a->engine, service_key);

    return s && engine_is_away(a->engine, s);
}

static void on_changed(void *arg, const char *key, const char *bytes, size_t len)
{
    struct app *a = obj_cast(arg, struct app_manager, MANAGER_MAGIC)->app;
    mem_auto char *text = bytes ? mem_strn(bytes, len) : NULL;
    struct eng_event ev = {.kind = EV_FOLLOWED, .key = key, .text = text};

    app_event(a, &ev);
}

static void on_settled(void *arg)
{
    (void)obj_cast(arg, struct app_manager, MANAGER_MAGIC);
}

static void on_lost(void *arg, const struct err_info *why)
{
    struct app *a = obj_cast(arg, struct app_manager, MANAGER_MAGIC)->app;

    app_follow_lost(a, why);
}

static const struct state_follow_ops follow_ops = {
    .is_away = is_away, .changed = on_changed, .settled = on_settled, .lost = on_lost};

static void watch_away(struct app_manager *am)
{
    const struct eng_service **services = engine_list(am->app->engine, NULL);

    for (size_t i = 0; services[i]; i++) {
        const struct eng_service *s = services[i];
        if (!engine_is_away(am->app->engine, s) || !s->app_id)
            continue;
        struct managed *m = managed_of(am, s->kind, s->user, s->name, s->incarnation);
        struct buf site = BUF_EMPTY;
        m->has_id = !yarn_app_id_parse(s->app_id, &m->id);
        if (!app_master_site(am->app, s, &site, NULL)) /* its next attempt reads it again */
            submit_files_put(am->files, m->token, &site);
        watch(m);
    }
    free(services);
}

void app_manager_begin(struct app *a)
{
    struct app_manager *am = manager_of(a);

    struct err_info why = {0};
    int err = state_follow(a->state, &follow_ops, am, &why);

    if (err)
        app_fail(a, err, &why);
    else
        watch_away(am);
}

/* ---- the program ---- */

static void start_deferred(struct app_manager *am)
{
    mem_auto const char **keys = map_sorted_keys(&am->managed);

    for (size_t i = 0; keys[i]; i++) {
        struct managed *m = map_get(&am->managed, keys[i]);
        const struct eng_service *s = engine_find(am->app->engine, m->kind, m->user, m->name);
        if (!m->is_deferred || !s)
            continue;
        m->is_deferred = false;
        start(m, s);
    }
}

static void on_packed(void *arg, int err, struct submit_package *take_package, const struct err_info *why)
{
    struct app_manager *am = obj_cast(arg, struct app_manager, MANAGER_MAGIC);

    if (err) {
        app_fail(am->app, err, why);
        return;
    }
    am->package = *take_package;
    *take_package = (struct submit_package){.path = NULL};
    am->is_packed = true;
    if (am->app->engine)
        start_deferred(am);
}

static int make_dir(const char *path, struct err_info *why)
{
    if (!mkdir(path, 0700) || errno == EEXIST)
        return 0;
    return err_set(why, ERR_IO, path, "cannot be made: %s", strerror(errno));
}

static void on_reach(void *arg, const char *server, const struct err_info *why)
{
    struct app *a = obj_cast(arg, struct app_manager, MANAGER_MAGIC)->app;

    if (why)
        outage_fails(a->rm_outage, server, why, run_now_ms());
    else
        outage_ends(a->rm_outage, server, run_now_ms());
}

int app_manager_open(struct app *a, struct err_info *why)
{
    struct app_manager *am = mem_new(struct app_manager);
    struct yarn_addresses addresses = ADDRESSES_EMPTY;
    const struct options *o = daemon_options(a->daemon);
    const struct yarn_keys keys = app_yarn_keys(&o);
    const struct submit_config config = {.addresses = &addresses,
                                         .report_ms = REPORT_MS,
                                         .max_links = USERS_MAX,
                                         .reach = on_reach,
                                         .reach_arg = am};
    obj_init(&am->obj, MANAGER_MAGIC);
    am->app = a;
    am->program_dir = mem_fmt("%s/am", a->dir);
    int err = make_dir(a->dir, why);
    err = err ? err : make_dir(am->program_dir, why);
    err = err ? err : submit_files_secret(am->program_dir, am->secret, sizeof am->secret, why);
    err = err ? err : yarn_rm_addresses(&keys, YARN_RM_CLIENT, &addresses, why);
    err = err ? err : submit_open(a->loop, &config, &am->submit, why);
    yarn_addresses_fini(&addresses);
    if (err) {
        free(am->program_dir);
        free(am);
        return err;
    }
    am->files = submit_files_new(am->program_dir);
    a->manager = am;
    a->cluster = cluster_elsewhere_open(a->loop, "yarn", &app_cluster_ops, a);
    submit_package_start(a->loop, am->program_dir, on_packed, am);
    return 0;
}

static void on_submit_closed(void *arg)
{
    struct app_manager *am = obj_cast(arg, struct app_manager, MANAGER_MAGIC);
    void (*closed)(void *) = am->closed;
    void *closed_arg = am->closed_arg;

    submit_files_free(am->files);
    submit_package_fini(&am->package);
    free(am->program_dir);
    obj_fini(&am->obj);
    free(am);
    closed(closed_arg);
}

void app_manager_close(struct app *a, void (*closed)(void *arg), void *arg)
{
    struct app_manager *am = manager_of(a);

    a->manager = NULL;
    am->closed = closed;
    am->closed_arg = arg;
    drop_taken(am);
    map_fini(&am->managed, free_managed);
    submit_close(am->submit, on_submit_closed, am);
}

static void files_get(struct http_req *req, void *app)
{
    struct app *a = obj_cast(obj_cast(app, struct face, FACE_MAGIC)->app, struct app, APP_MAGIC);

    submit_files_reply(manager_of(a)->files, req);
}

const struct http_route app_manager_routes[] = {
    {"GET", "/files/{token}/{name}", 0, 0, files_get,
     "Read a file of an application master: for node managers.", .errors = HTTP_ERRORS(ERR_NOTFOUND)},
};
const size_t app_manager_n_routes = ARRAY_LEN(app_manager_routes);

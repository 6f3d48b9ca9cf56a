/**
 * svcmgr as the manager of applications of YARN: each service is one (app_applications.c), and its application master (app_master.c) runs it.
 *
 *     the program is packed, once ──> applications are submitted
 *     documents that masters write ──state_follow──> EV_FOLLOWED
 *     an application has ended ──> its documents are taken back ──> EV_APP_ENDED
 *
 * A service is taken back when no step is under way, so no request about it can be undone any more.
 */
#include "svcmgr/app_manager.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "cluster/elsewhere.h"
#include "svcmgr/app.h"
#include "svcmgr/app_applications.h"
#include "svcmgr/events.h"

LOG_DECLARE(SVCMGR_EVENTS)

#define MANAGER_MAGIC OBJ_MAGIC('A', 'M', 'G', 'R')
#define NEWS_MAGIC    OBJ_MAGIC('A', 'M', 'N', 'W')

#define ATTEMPT_LAST ((1 << 20) - 1) /* after all attempts of an incarnation */

struct taken;

/** A document that a master has written. */
struct news {
    struct obj obj;
    char *text; /* NULL: it is gone */
};

struct app_manager {
    struct obj obj;
    struct app *app;
    struct applications *applications;
    char *program_dir;          /* of the archive */
    struct application *taking; /* its service is being taken back */
    struct taken *taken;        /* its documents, so far */
    size_t n_taken;
    struct map news; /* key -> struct news: not passed on before the whole transaction is there */
    bool is_packing; /* the pool makes the archive */
    bool is_closed;  /* all but that has ended */
    void (*closed)(void *arg);
    void *closed_arg;
};

static struct app_manager *manager_of(const struct app *a)
{
    return obj_cast(a->manager, struct app_manager, MANAGER_MAGIC);
}

/* ---- effects ---- */

void app_manager_submit(struct app *a, const struct eng_effect *e)
{
    applications_submit(manager_of(a)->applications, e);
}

void app_manager_finish(struct app *a, const struct eng_effect *e)
{
    applications_finish(manager_of(a)->applications, e);
}

void app_manager_set_lifetime(struct app *a, const struct eng_effect *e)
{
    applications_set_lifetime(manager_of(a)->applications, e);
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
static void load_taken(struct app_manager *am, const struct eng_event *ended)
{
    struct engine *e = am->app->engine;

    engine_take_back(e, ended->service_kind, ended->user, ended->name);
    for (size_t i = 0; i < am->n_taken; i++) {
        struct err_info why = {0};
        if (engine_load(e, am->taken[i].key, am->taken[i].bytes, am->taken[i].len, &why))
            log_emit(&ev_state_bad, LOG_STR("key", am->taken[i].key), LOG_ERR(&why));
    }
    engine_taken_back(e, ended->service_kind, ended->user, ended->name);
}

/** It has ended, and nothing of the service is its master's: the engine goes on with it. */
static void conclude(struct app *a, struct application *m)
{
    struct eng_event ended = applications_end_of(m);

    log_emit(&ev_app_ended, LOG_STR("user", ended.user), LOG_STR("service", ended.name),
             LOG_STR("cause", eng_exit_cause_word(ended.exit.cause)),
             LOG_STR("text", ended.exit.text ? ended.exit.text : ""));
    queue_push(&a->queue, &ended, 0);
    applications_forget(m); /* before the event is taken, which may begin to take another one back */
    app_pump(a);
}

static void on_taken(void *arg, int err, const struct err_info *why)
{
    struct app_manager *am = obj_cast(arg, struct app_manager, MANAGER_MAGIC);
    struct application *m = am->taking;
    struct app *a = am->app;

    am->taking = NULL;
    if (a->is_ending) {
        drop_taken(am);
        return;
    }
    const struct eng_event ended = applications_end_of(m);
    if (!err)
        load_taken(am, &ended);
    drop_taken(am);
    if (err == ERR_CONFLICT) {
        app_fenced(a, why);
        return;
    }
    if (err) {
        log_emit(&ev_app_not_taken, LOG_STR("user", ended.user), LOG_STR("service", ended.name),
                 LOG_ERR(why));
        app_retry_later(a);
        return;
    }
    conclude(a, m);
}

bool app_manager_waits(const struct app *a)
{
    return a->manager && (applications_n_ended(a->manager->applications) > 0 || a->manager->taking);
}

bool app_manager_takes(const struct app *a)
{
    return a->manager && a->manager->taking;
}

bool app_manager_take_back(struct app *a)
{
    struct app_manager *am = manager_of(a);
    struct application *m = am->taking ? NULL : applications_ended(am->applications);

    if (!m)
        return am->taking != NULL;
    const struct eng_event ended = applications_end_of(m);
    const struct eng_service *s = engine_find(a->engine, ended.service_kind, ended.user, ended.name);
    if (!s || s->incarnation != ended.incarnation || !engine_is_away(a->engine, s)) {
        conclude(a, m);
        return true;
    }
    mem_auto char *key = engine_service_key(s);
    am->taking = m;
    state_take_back(a->state, key, state_attempt((int32_t)ended.incarnation, ATTEMPT_LAST), take_document,
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

static void free_news(void *p)
{
    struct news *n = obj_cast(p, struct news, NEWS_MAGIC);

    free(n->text);
    obj_fini(&n->obj);
    free(n);
}

static void on_changed(void *arg, const char *key, const char *bytes, size_t len)
{
    struct app_manager *am = obj_cast(arg, struct app_manager, MANAGER_MAGIC);
    struct news *n = mem_new(struct news), *old;

    obj_init(&n->obj, NEWS_MAGIC);
    n->text = bytes ? mem_strn(bytes, len) : NULL;
    old = map_set(&am->news, key, n);
    if (old)
        free_news(old);
}

static void pass_on(struct app *a, const struct map *news, const char *const *keys, bool are_gone)
{
    for (size_t i = 0; keys[i]; i++) {
        const struct news *n = map_get(news, keys[i]);
        struct eng_event ev = {.kind = EV_FOLLOWED, .key = keys[i], .text = n->text};
        if ((n->text == NULL) == are_gone)
            app_event(a, &ev);
    }
}

/**
 * What a transaction of a master has changed: its service comes first, as that names the components which its instances and its definition are
 * of; what is gone comes last.
 */
static void on_settled(void *arg)
{
    struct app_manager *am = obj_cast(arg, struct app_manager, MANAGER_MAGIC);
    struct map news = am->news;
    mem_auto const char **keys = map_sorted_keys(&news);

    am->news = MAP_EMPTY;
    pass_on(am->app, &news, keys, false);
    pass_on(am->app, &news, keys, true);
    map_fini(&news, free_news);
}

static void on_lost(void *arg, const struct err_info *why)
{
    struct app *a = obj_cast(arg, struct app_manager, MANAGER_MAGIC)->app;

    app_follow_lost(a, why);
}

static const struct state_follow_ops follow_ops = {
    .is_away = is_away, .changed = on_changed, .settled = on_settled, .lost = on_lost};

static void resume_away(struct app_manager *am)
{
    const struct eng_service **services = engine_list(am->app->engine, NULL);

    for (size_t i = 0; services[i]; i++) {
        if (engine_is_away(am->app->engine, services[i]) && services[i]->app_id)
            applications_resume(am->applications, services[i]);
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
        resume_away(am);
}

/* ---- start and end ---- */

/** The pool may still pack the program when all else is closed. */
static void end_if_closed(struct app_manager *am)
{
    void (*closed)(void *) = am->closed;
    void *closed_arg = am->closed_arg;

    if (am->is_packing || !am->is_closed)
        return;
    free(am->program_dir);
    obj_fini(&am->obj);
    free(am);
    closed(closed_arg);
}

static void on_packed(void *arg, int err, struct submit_package *take_package, const struct err_info *why)
{
    struct app_manager *am = obj_cast(arg, struct app_manager, MANAGER_MAGIC);

    am->is_packing = false;
    if (am->closed) {
        submit_package_fini(take_package);
        end_if_closed(am);
    } else if (err)
        app_fail(am->app, err, why);
    else
        applications_packed(am->applications, take_package);
}

static int make_dir(const char *path, struct err_info *why)
{
    if (!mkdir(path, 0700) || errno == EEXIST)
        return 0;
    return err_set(why, ERR_IO, path, "cannot be made: %s", strerror(errno));
}

int app_manager_open(struct app *a, struct err_info *why)
{
    struct app_manager *am = mem_new(struct app_manager);

    obj_init(&am->obj, MANAGER_MAGIC);
    am->app = a;
    am->program_dir = mem_fmt("%s/am", a->dir);
    int err = make_dir(a->dir, why);
    err = err ? err : make_dir(am->program_dir, why);
    err = err ? err : applications_open(a, am->program_dir, &am->applications, why);
    if (err) {
        free(am->program_dir);
        obj_fini(&am->obj);
        free(am);
        return err;
    }
    a->manager = am;
    const struct fs_conf fs = app_fs_conf(daemon_options(a->daemon));
    a->cluster = cluster_elsewhere_open(a->loop, &fs, a->http, "yarn", &app_cluster_ops, a);
    am->is_packing = true;
    submit_package_start(a->loop, am->program_dir, on_packed, am);
    return 0;
}

static void on_closed(void *arg)
{
    struct app_manager *am = obj_cast(arg, struct app_manager, MANAGER_MAGIC);

    am->is_closed = true;
    end_if_closed(am);
}

void app_manager_close(struct app *a, void (*closed)(void *arg), void *arg)
{
    struct app_manager *am = manager_of(a);

    a->manager = NULL;
    am->closed = closed;
    am->closed_arg = arg;
    drop_taken(am);
    map_fini(&am->news, free_news);
    applications_close(am->applications, on_closed, am);
}

static void files_get(struct http_req *req, void *app)
{
    struct app *a = obj_cast(obj_cast(app, struct face, FACE_MAGIC)->app, struct app, APP_MAGIC);

    submit_files_reply(applications_files(manager_of(a)->applications), req);
}

const struct http_route app_manager_routes[] = {
    {"GET", "/files/{token}/{name}", 0, 0, files_get,
     "Read a file of an application master: for node managers.", .errors = HTTP_ERRORS(ERR_NOTFOUND)},
};
const size_t app_manager_n_routes = ARRAY_LEN(app_manager_routes);

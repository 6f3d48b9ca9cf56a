#include "svcmgr/app_applications.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "svcmgr/app.h"
#include "svcmgr/app_files.h"
#include "svcmgr/app_master.h"
#include "svcmgr/events.h"
#include "svcmgr/options.h"

LOG_DECLARE(SVCMGR_EVENTS)

#define APPLICATIONS_MAGIC OBJ_MAGIC('A', 'P', 'P', 'S')
#define APPLICATION_MAGIC  OBJ_MAGIC('A', 'P', 'P', 'L')

#define SECRET_LEN 32
#define USERS_MAX  256
#define REPORT_MS  2000
#define MASTER_MB  "128"

#define N_RESOURCES 2 /* of a master: program, configuration */

struct application {
    struct obj obj;
    struct applications *all;
    enum eng_kind kind;
    char *user, *name;
    int64_t incarnation;
    char tag[SUBMIT_TAG_ROOM], token[SUBMIT_TOKEN_ROOM];
    struct yarn_app_id id;
    bool has_id, is_deferred;                         /* deferred: submitted when the program is packed */
    struct submit_op *start, *kill, *watch, *timeout; /* under way; NULL: not */
    struct submit_stage *stage;                       /* likewise: its files on their way to HDFS */
    struct fs_call *removal;                          /* and from there */
    char *directory;                                  /* of its files there; NULL: they are served */
    char *queue;
    int64_t lifetime_s;
    struct eng_exit exit;      /* when it has ended; text owned */
    struct err_info refusal;   /* code 0: it was not refused */
    bool is_staging_late;      /* said already */
    bool is_ending, has_ended; /* ending: until its files have gone */
    bool is_older;             /* than this process: nobody served its files for a while */
    bool was_unserved;         /* and its master was never started for that */
};

struct applications {
    struct obj obj;
    struct app *app;
    struct submit *submit;
    struct submit_files *files;
    struct submit_package package;
    bool is_packed;
    uint8_t secret[SECRET_LEN];
    struct map by_service; /* "kind/user/name" -> struct application */
    size_t n_ended;        /* of them */
    void (*closed)(void *arg);
    void *closed_arg;
};

static char *key_of(enum eng_kind kind, const char *user, const char *name)
{
    return mem_fmt("%s/%s/%s", eng_kind_word(kind), user, name);
}

static void free_application(void *p)
{
    struct application *m = obj_cast(p, struct application, APPLICATION_MAGIC);
    struct submit_op *const ops[] = {m->start, m->kill, m->watch, m->timeout};

    for (size_t i = 0; i < ARRAY_LEN(ops); i++) {
        if (ops[i])
            submit_cancel(ops[i]);
    }
    if (m->stage)
        submit_stage_cancel(m->stage);
    if (m->removal)
        fs_cancel(m->removal);
    m->all->n_ended -= m->has_ended;
    submit_files_remove(m->all->files, m->token);
    free(m->exit.text);
    free(m->user);
    free(m->name);
    free(m->directory);
    free(m->queue);
    obj_fini(&m->obj);
    free(m);
}

void applications_forget(struct application *take_m)
{
    mem_auto char *key = key_of(take_m->kind, take_m->user, take_m->name);

    map_remove(&take_m->all->by_service, key);
    free_application(take_m);
}

/** The application of an incarnation; one of an earlier incarnation is forgotten. */
static struct application *application_of(struct applications *all, enum eng_kind kind, const char *user,
                                          const char *name, int64_t incarnation)
{
    mem_auto char *key = key_of(kind, user, name);
    struct application *m = map_get(&all->by_service, key);

    if (m && m->incarnation == incarnation)
        return m;
    if (m)
        applications_forget(m);
    m = mem_new(struct application);
    obj_init(&m->obj, APPLICATION_MAGIC);
    m->all = all;
    m->kind = kind;
    m->user = mem_str(user);
    m->name = mem_str(name);
    m->incarnation = incarnation;
    submit_tag(&(struct submit_key){all->app->state_url, eng_kind_word(kind), user, name, incarnation},
               m->tag);
    submit_files_token(all->secret, sizeof all->secret, m->tag, m->token);
    m->directory = app_files_directory(all->app, kind, user, name);
    map_set(&all->by_service, key, m);
    return m;
}

static struct eng_event event_of(const struct application *m, enum eng_event_kind kind)
{
    return (struct eng_event){.kind = kind,
                              .service_kind = m->kind,
                              .user = m->user,
                              .name = m->name,
                              .incarnation = m->incarnation};
}

static struct submit_target target_of(const struct application *m)
{
    return (struct submit_target){m->user, m->tag, m->has_id ? &m->id : NULL};
}

/* ---- reports ---- */

struct eng_exit applications_exit(const struct submit_report *r)
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

/** Its files have gone, or stay where they are. */
static void tidied(struct application *m)
{
    struct eng_event ev = event_of(m, EV_SUBMITTED);

    m->is_ending = false;
    if (m->refusal.code) {
        ev.code = m->refusal.code;
        ev.text = m->refusal.text;
        app_event(m->all->app, &ev);
        return;
    }
    m->has_ended = true;
    m->all->n_ended++;
    app_pump(m->all->app);
}

static void on_removed(void *arg, int err, const struct fs_status *status, const struct err_info *why)
{
    struct application *m = obj_cast(arg, struct application, APPLICATION_MAGIC);

    (void)status;
    m->removal = NULL;
    if (err == ERR_CANCELLED)
        return;
    if (err && err != ERR_NOTFOUND)
        log_emit(&ev_app_files_stay, LOG_STR("user", m->user), LOG_STR("service", m->name), LOG_ERR(why));
    tidied(m);
}

/** Before the engine hears of it, as it may begin the next incarnation, whose files are in the same directory. */
static void tidy(struct application *m)
{
    m->is_ending = true;
    m->removal = m->directory ? app_files_remove(m->all->app, m->directory, m->user, on_removed, m) : NULL;
    if (!m->removal)
        tidied(m);
}

/** Nothing of it runs any more: what it was is taken back when no step is under way. */
static void has_ended(struct application *m, struct eng_exit take_exit)
{
    if (m->has_ended || m->is_ending) {
        free(take_exit.text);
        return;
    }
    m->exit = take_exit;
    tidy(m);
}

static void refuse(struct application *m, const struct err_info *why)
{
    m->refusal = *why;
    tidy(m);
}

static void on_report(void *arg, const struct submit_report *r)
{
    struct application *m = obj_cast(arg, struct application, APPLICATION_MAGIC);
    mem_auto char *reason = submit_reason(r->diagnostics);
    struct eng_event ev = event_of(m, EV_APP_WAITS);

    if (r->has_ended) {
        struct eng_exit exit = applications_exit(r); /* the report goes with the watch */
        m->was_unserved = m->is_older && !m->directory && submit_report_is_unfetched(r);
        submit_cancel(m->watch);
        m->watch = NULL;
        has_ended(m, exit);
        return;
    }
    ev.text = r->state <= SUBMIT_ACCEPTED ? (reason[0] ? reason : submit_state_word(r->state)) : NULL;
    app_event(m->all->app, &ev);
}

static void watch(struct application *m)
{
    const struct submit_target target = target_of(m);

    if (!m->watch)
        m->watch = submit_watch(m->all->submit, &target, on_report, m);
}

/* ---- submission ---- */

const char *applications_property(const json_t *properties, const char *site, const char *key,
                                  const char *otherwise)
{
    const char *own = json_string_value(json_object_get(properties, key));

    return own && own[0] ? own : site && site[0] ? site : otherwise;
}

int64_t applications_number(const json_t *properties, const char *site, const char *key,
                            const char *otherwise)
{
    int64_t n = 0;

    if (str_to_i64(applications_property(properties, site, key, otherwise), -1, INT32_MAX, &n))
        str_to_i64(otherwise, -1, INT32_MAX, &n);
    return n;
}

static const json_t *properties_of(const struct eng_service *s)
{
    return s->spec->configuration->properties;
}

static const char *property(const struct eng_service *s, const struct options *o, const char *key)
{
    return applications_property(properties_of(s), app_hadoop_key(o, key), key, NULL);
}

static int64_t number(const struct eng_service *s, const struct options *o, const char *key,
                      const char *otherwise)
{
    return applications_number(properties_of(s), app_hadoop_key(o, key), key, otherwise);
}

static void on_submitted(void *arg, const struct submit_result *r)
{
    struct application *m = obj_cast(arg, struct application, APPLICATION_MAGIC);
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
        refuse(m, r->why);
        return;
    }
    log_emit(&ev_app_submitted, LOG_STR("user", m->user), LOG_STR("service", m->name),
             LOG_STR("application", id), LOG_STR("new", r->is_new ? "yes" : "no"));
    m->is_older = !r->is_new;
    app_event(m->all->app, &ev);
    watch(m);
}

static void submit(struct application *m, const struct eng_service *s,
                   const struct submit_resource *resources)
{
    struct applications *all = m->all;
    const struct options *o = daemon_options(all->app->daemon);
    static const char *const words[] = {"./" SUBMIT_PROGRAM_LINK "/" SUBMIT_PACKAGE_PROGRAM, "am", "--config",
                                        "conf"};
    mem_auto char *name_tag = mem_fmt("name: %s", m->name);
    const char *const tags[] = {name_tag};
    struct err_info why = {0};

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
        .logs = {property(s, o, "yarn.service.log.include-pattern"),
                 property(s, o, "yarn.service.log.exclude-pattern"),
                 property(s, o, "yarn.service.rolling-log.include-pattern"),
                 property(s, o, "yarn.service.rolling-log.exclude-pattern")},
        .launch = {.words = words,
                   .n_words = ARRAY_LEN(words),
                   .library_path = "./" SUBMIT_PROGRAM_LINK "/" SUBMIT_PACKAGE_LIBS,
                   .resources = resources,
                   .n_resources = N_RESOURCES},
    };
    if (submit_start(all->submit, &def, on_submitted, m, &m->start, &why))
        refuse(m, &why);
}

static void submit_with(struct application *m, const struct eng_service *s,
                        const struct submit_resource *program, const struct submit_resource *site)
{
    struct submit_resource resources[N_RESOURCES] = {*program, *site};

    resources[0].link = SUBMIT_PROGRAM_LINK;
    resources[0].is_archive = true;
    resources[1].link = "conf/yarn-site.xml";
    submit(m, s, resources);
}

static void on_stage_waits(void *arg, const struct err_info *why)
{
    struct application *m = obj_cast(arg, struct application, APPLICATION_MAGIC);
    struct eng_event ev = event_of(m, EV_APP_WAITS);

    if (!m->is_staging_late)
        log_emit(&ev_app_not_staged, LOG_STR("user", m->user), LOG_STR("service", m->name), LOG_ERR(why));
    m->is_staging_late = true;
    ev.text = why->text;
    app_event(m->all->app, &ev);
}

static void on_staged(void *arg, int err, const struct submit_staged *staged, const struct err_info *why)
{
    struct application *m = obj_cast(arg, struct application, APPLICATION_MAGIC);
    const struct eng_service *s = engine_find(m->all->app->engine, m->kind, m->user, m->name);

    m->stage = NULL;
    if (err) {
        log_emit(&ev_app_refused, LOG_STR("user", m->user), LOG_STR("service", m->name), LOG_ERR(why));
        refuse(m, why);
    } else if (s && s->incarnation == m->incarnation) {
        submit_with(m, s,
                    &(struct submit_resource){.url = staged->program_url,
                                              .size = staged->program.len,
                                              .modified_ms = staged->program.modified_ms},
                    &(struct submit_resource){.url = staged->site_url,
                                              .size = staged->site.len,
                                              .modified_ms = staged->site.modified_ms});
    }
}

/** Its files are uploaded. @param site  of it [borrowed for the call] */
static void stage(struct application *m, const struct buf *site)
{
    struct app *a = m->all->app;
    const struct submit_stage_def def = {.loop = a->loop,
                                         .http = a->http,
                                         .fs = app_fs_conf(daemon_options(a->daemon)),
                                         .directory = m->directory,
                                         .user = m->user,
                                         .package = &m->all->package,
                                         .site = site};

    m->stage = submit_stage_start(&def, on_stage_waits, on_staged, m);
}

/** Its files are served. @param take_site  emptied */
static void serve(struct application *m, const struct eng_service *s, struct buf *take_site)
{
    const struct submit_package *p = &m->all->package;
    mem_auto char *base = app_files_url(m->all->app);
    mem_auto char *program = mem_fmt("%s/%s/am-%s.tar.gz", base, p->hash, p->hash);
    mem_auto char *site = mem_fmt("%s/%s/yarn-site.xml", base, m->token);
    const struct submit_resource of_site = {.url = site, .size = (int64_t)take_site->len};

    submit_files_put(m->all->files, m->token, take_site);
    submit_with(m, s, &(struct submit_resource){.url = program, .size = p->size}, &of_site);
}

/** With its options, by which its master finds the state, the registry and the resource manager. */
static void start(struct application *m, const struct eng_service *s)
{
    struct buf site = BUF_EMPTY;
    struct err_info why = {0};

    if (app_master_site(m->all->app, s, &site, &why)) {
        refuse(m, &why);
        return;
    }
    if (m->directory)
        stage(m, &site);
    else
        serve(m, s, &site);
    if (site.bytes)
        explicit_bzero(site.bytes, site.cap);
    buf_fini(&site);
}

void applications_submit(struct applications *all, const struct eng_effect *e)
{
    const struct eng_service *s = engine_find(all->app->engine, e->service_kind, e->user, e->name);

    if (!s || s->incarnation != e->application->incarnation)
        return; /* it has gone on */
    struct application *m =
        application_of(all, e->service_kind, e->user, e->name, e->application->incarnation);
    if (m->start || m->stage || m->is_ending || m->has_id)
        return; /* under way, or its answer is */
    m->refusal = (struct err_info){0};
    free(m->queue);
    m->queue = mem_str(e->application->queue);
    m->lifetime_s = e->application->lifetime_s;
    m->is_deferred = !all->is_packed;
    if (all->is_packed)
        start(m, s);
}

static void start_deferred(struct applications *all)
{
    mem_auto const char **keys = map_sorted_keys(&all->by_service);

    for (size_t i = 0; keys[i]; i++) {
        struct application *m = map_get(&all->by_service, keys[i]);
        const struct eng_service *s = engine_find(all->app->engine, m->kind, m->user, m->name);
        if (!m->is_deferred || !s)
            continue;
        m->is_deferred = false;
        start(m, s);
    }
}

void applications_packed(struct applications *all, struct submit_package *take_package)
{
    all->package = *take_package;
    *take_package = (struct submit_package){.path = NULL};
    all->is_packed = true;
    if (all->app->engine)
        start_deferred(all);
}

void applications_resume(struct applications *all, const struct eng_service *s)
{
    struct application *m = application_of(all, s->kind, s->user, s->name, s->incarnation);
    struct buf site = BUF_EMPTY;

    m->has_id = !yarn_app_id_parse(s->app_id, &m->id);
    m->is_older = true;
    if (!m->directory && !app_master_site(all->app, s, &site, NULL)) /* its next attempt reads it again */
        submit_files_put(all->files, m->token, &site);
    watch(m);
}

/* ---- its end ---- */

static void on_killed(void *arg, const struct submit_result *r)
{
    struct application *m = obj_cast(arg, struct application, APPLICATION_MAGIC);

    m->kill = NULL;
    if (r->err == ERR_CANCELLED || m->watch || m->has_ended || m->is_ending)
        return; /* the report says when nothing of it runs any more */
    if (r->err)
        log_emit(&ev_app_not_killed, LOG_STR("user", m->user), LOG_STR("service", m->name), LOG_ERR(r->why));
    if (r->id) {
        m->id = *r->id;
        m->has_id = true;
        watch(m);
        return;
    }
    has_ended(m, eng_exit_of(CAUSE_STOPPED, 0, NULL));
}

void applications_finish(struct applications *all, const struct eng_effect *e)
{
    struct application *m =
        application_of(all, e->service_kind, e->user, e->name, e->application->incarnation);
    const struct submit_target target = target_of(m);
    const char *why = e->application->diagnostics;

    m->is_deferred = false;
    if (m->stage)
        submit_stage_cancel(m->stage);
    m->stage = NULL;
    m->refusal = (struct err_info){0};
    if (!m->kill && !m->has_ended && !m->is_ending)
        m->kill = submit_kill(m->all->submit, &target, why ? why : "ended by svcmgr", on_killed, m);
}

static void on_lifetime_set(void *arg, const struct submit_result *r)
{
    struct application *m = obj_cast(arg, struct application, APPLICATION_MAGIC);

    m->timeout = NULL;
    if (r->err && r->err != ERR_CANCELLED)
        log_emit(&ev_app_no_lifetime, LOG_STR("user", m->user), LOG_STR("service", m->name), LOG_ERR(r->why));
}

void applications_set_lifetime(struct applications *all, const struct eng_effect *e)
{
    struct application *m =
        application_of(all, e->service_kind, e->user, e->name, e->application->incarnation);
    const struct submit_target target = target_of(m);

    if (m->timeout)
        submit_cancel(m->timeout);
    m->timeout =
        m->has_id && e->application->lifetime_s > 0
            ? submit_set_lifetime(m->all->submit, &target, e->application->lifetime_s, on_lifetime_set, m)
            : NULL;
}

size_t applications_n_ended(const struct applications *all)
{
    return all->n_ended;
}

struct application *applications_ended(const struct applications *all)
{
    for (MAP_EACH (&all->by_service, slot)) {
        struct application *m = slot->value;
        if (m->has_ended)
            return m;
    }
    return NULL;
}

struct eng_event applications_end_of(const struct application *m)
{
    struct eng_event ev = event_of(m, EV_APP_ENDED);

    ev.exit = m->exit;
    ev.was_unserved = m->was_unserved;
    return ev;
}

/* ---- all of them ---- */

static void on_reach(void *arg, const char *server, const struct err_info *why)
{
    struct app *a = obj_cast(arg, struct applications, APPLICATIONS_MAGIC)->app;

    if (why)
        outage_fails(a->rm_outage, server, why, run_now_ms());
    else
        outage_ends(a->rm_outage, server, run_now_ms());
}

int applications_open(struct app *a, const char *dir, struct applications **out, struct err_info *why)
{
    struct applications *all = mem_new(struct applications);
    struct yarn_addresses addresses = ADDRESSES_EMPTY;
    const struct options *o = daemon_options(a->daemon);
    const struct yarn_keys keys = app_yarn_keys(&o);
    const struct submit_config config = {.addresses = &addresses,
                                         .report_ms = REPORT_MS,
                                         .max_links = USERS_MAX,
                                         .reach = on_reach,
                                         .reach_arg = all};
    obj_init(&all->obj, APPLICATIONS_MAGIC);
    all->app = a;
    int err = submit_files_secret(dir, all->secret, sizeof all->secret, why);
    err = err ? err : yarn_rm_addresses(&keys, YARN_RM_CLIENT, &addresses, why);
    err = err ? err : submit_open(a->loop, &config, &all->submit, why);
    yarn_addresses_fini(&addresses);
    if (err) {
        obj_fini(&all->obj);
        free(all);
        return err;
    }
    all->files = submit_files_new(dir);
    *out = all;
    return 0;
}

static void on_submit_closed(void *arg)
{
    struct applications *all = obj_cast(arg, struct applications, APPLICATIONS_MAGIC);
    void (*closed)(void *) = all->closed;
    void *closed_arg = all->closed_arg;

    submit_files_free(all->files);
    submit_package_fini(&all->package);
    obj_fini(&all->obj);
    free(all);
    closed(closed_arg);
}

void applications_close(struct applications *all, void (*closed)(void *arg), void *arg)
{
    all->closed = closed;
    all->closed_arg = arg;
    map_fini(&all->by_service, free_application);
    submit_close(all->submit, on_submit_closed, all);
}

struct submit_files *applications_files(struct applications *all)
{
    return all->files;
}

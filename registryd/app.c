#include "app.h"
#include "events.h"
#include "api/routes.h"
#include "options.h"
#include "feed/mark_file.h"
#include "base/mem.h"
#include "base/obj.h"

#include <stdlib.h>
#include <string.h>

/** Pause between tries to make the standard nodes. */
#define SETUP_RETRY_MS 1000

/* ---- store: where records are, the mirror of it, the operations on it ---- */

static char *zk_url(const struct options *o)
{
    const char *root = opt_text(o, OPT_ZK_ROOT);
    mem_auto char *quorum = mem_fmt("zk://%s", opt_text(o, OPT_ZK_QUORUM));
    return mem_fmt("%s%s%s", quorum, *root == '/' ? "" : "/", root);
}

/* The option that decides on the store. auto: ZooKeeper when its servers are set, else embedded. */
static int store_option(const struct options *o)
{
    bool is_auto = strcmp(opt_text(o, OPT_STORE), "auto") == 0;
    return is_auto && opt_is_set(o, OPT_ZK_QUORUM) ? OPT_ZK_QUORUM : OPT_STORE;
}

static char *store_choice(const struct options *o)
{
    const char *choice = opt_text(o, OPT_STORE);
    if (store_option(o) == OPT_ZK_QUORUM)
        return zk_url(o);
    return strcmp(choice, "auto") == 0 ? mem_fmt("file:%s/registry", opt_text(o, OPT_DATA_DIR))
                                       : mem_str(choice);
}

/* Ready is what readers see: the standard nodes are in the mirror, not only in the store. */
static void set_readiness(struct registryd *app)
{
    if (!app->has_nodes)
        app->has_nodes = mirror_find(app->api.mirror, "/users") && mirror_find(app->api.mirror, "/services");
    const char *reason = !mirror_ready(app->api.mirror) ? "the registry is being loaded"
                         : !app->has_nodes              ? "the standard nodes are being made"
                                                        : NULL;
    const struct err_info *trouble = &app->setup_trouble.said;
    mem_auto char *text =
        reason && trouble->code ? mem_fmt("%s; the last try to make nodes: %s", reason, trouble->text) : NULL;
    daemon_ready(app->daemon, text ? text : reason);
}

/* ---- whether the store is reached ---- */

static const struct outage_def store_outage = {
    "store", &ev_registry_stale, &ev_registry_still_stale, &ev_registry_current, M_STORE_UP, M_STORE_SINCE};

static void store_fails(struct registryd *app, const struct err_info *why)
{
    outage_fails(app->api.store_outage, store_url(app->api.store), why, run_now_ms());
}

/* It is reached when it can be written and its content is followed, not when a connection stands. */
static void store_settles(struct registryd *app)
{
    bool is_followed = mirror_ready(app->api.mirror) && !mirror_stale(app->api.mirror);
    if (is_followed && !app->is_writing_lost)
        outage_ends(app->api.store_outage, store_url(app->api.store), run_now_ms());
}

static void on_link(void *arg, enum store_side side, const struct err_info *why)
{
    struct registryd *app = obj_cast(arg, struct registryd, REGISTRYD_MAGIC);
    if (side == STORE_WRITES)
        app->is_writing_lost = why != NULL;
    if (app->is_closing)
        return;
    if (why)
        store_fails(app, why);
    else
        store_settles(app);
}

/* ---- the mirror ---- */

static void on_synced(void *arg)
{
    struct registryd *app = obj_cast(arg, struct registryd, REGISTRYD_MAGIC);
    log_emit(&ev_registry_synced, LOG_STR("store", mirror_store_id(app->api.mirror)),
             LOG_INT("nodes", mirror_n_nodes(app->api.mirror)));
    set_readiness(app);
    store_settles(app);
}

static void on_stale(void *arg, const struct err_info *why)
{
    struct registryd *app = obj_cast(arg, struct registryd, REGISTRYD_MAGIC);
    if (!why)
        store_settles(app);
    else if (!outage_lasts(app->api.store_outage)) /* else on_link has reported the same */
        store_fails(app, why);
}

static void on_applied(void *arg, int64_t zxid)
{
    struct registryd *app = obj_cast(arg, struct registryd, REGISTRYD_MAGIC);
    (void)zxid;
    if (!app->has_nodes)
        set_readiness(app);
}

static const struct mirror_listener listener = {
    .synced = on_synced, .applied = on_applied, .stale = on_stale};

/* Realm of the users of homes; NULL: accounts have none. */
static const char *home_realm(const struct registryd *app, const struct options *o)
{
    bool is_secure = opt_bool(o, OPT_SECURE);
    return is_secure && strchr(app_system_accounts(o), '@') ? app->accounts.realm : NULL;
}

/* Who registryd is to the store and who may do what, and the operations that make nodes accordingly. */
static void operations_make(struct registryd *app, const struct options *o)
{
    bool is_secure = opt_bool(o, OPT_SECURE);
    struct access_def def = {.loop = daemon_loop(app->daemon),
                             .store = app->api.store,
                             .mirror = app->api.mirror,
                             .is_secure = is_secure,
                             .system_accounts = is_secure ? app_system_accounts(o) : NULL};
    app->api.names =
        strcmp(opt_text(o, OPT_PATH_NAMES), "zookeeper") == 0 ? REG_NAMES_ZOOKEEPER : REG_NAMES_DNS;
    app->api.ops =
        reg_store_new(def.loop, app->api.store, app->api.names, is_secure ? &app->accounts.acl.acl : NULL);
    reg_store_set_realm(app->api.ops, home_realm(app, o));
    app->api.access = access_new(&def);
}

static struct store_options store_numbers(const struct options *o)
{
    int64_t retries = opt_int(o, OPT_ZK_RETRY_TIMES);
    return (struct store_options){.session_timeout_ms = opt_ms(o, OPT_ZK_SESSION_TIMEOUT),
                                  .connect_timeout_ms = opt_ms(o, OPT_ZK_CONNECT_TIMEOUT),
                                  .retry_times = retries ? retries : -1,
                                  .retry_interval_ms = opt_ms(o, OPT_ZK_RETRY_INTERVAL),
                                  .retry_ceiling_ms = opt_ms(o, OPT_ZK_RETRY_CEILING)};
}

static int open_store(struct registryd *app, const struct options *o, const struct app_credentials *c,
                      struct err_info *why)
{
    mem_auto char *url = store_choice(o);
    struct store_options so = store_numbers(o);
    so.catches_up = true;
    so.follow_servers = opt_text(o, OPT_ZK_FOLLOW);
    so.digest = c->digest;
    so.kerberos = c->is_kerberos ? c->kerberos : NULL;
    so.link = on_link;
    so.link_arg = app;
    log_emit(&ev_store_chosen, LOG_STR("url", url), LOG_STR("origin", opt_origin(o, store_option(o))));
    daemon_version_fact(app->daemon, "store", url);
    return store_open(daemon_loop(app->daemon), url, &so, &app->api.store, why);
}

/* Resume from the mark that the process before left. */
static void resume_mark(struct registryd *app, const struct options *o)
{
    struct mirror_past past;
    app->mark = mark_file_open(opt_text(o, OPT_DATA_DIR), &past);
    if (!app->mark)
        return;
    mirror_continue(app->api.mirror, &past);
    mark_file_keep(app->mark, app->api.mirror);
}

static void store_check_options(const struct options *o, struct opt_report *report)
{
    mem_auto char *url = store_choice(o);
    struct store_options follower = {.follow_servers = opt_text(o, OPT_ZK_FOLLOW)};
    struct err_info why;
    if (report->purpose != OPT_FOR_RELOAD)
        app_access_check(o, report);
    if (store_check(url, NULL, &why))
        opt_error(o, store_option(o) == OPT_STORE ? "hadoop.registry.store" : "hadoop.registry.zk.quorum",
                  &why, report);
    else if (store_check(url, &follower, &why))
        opt_error(o, "hadoop.registry.zk.follow.quorum", &why, report);
}

static int store_start(struct daemon *d, void *arg, struct err_info *why)
{
    struct registryd *app = obj_cast(arg, struct registryd, REGISTRYD_MAGIC);
    const struct options *o = daemon_options(d);
    struct app_credentials credentials = {0};
    app->daemon = d;
    app->api.store_outage = outage_new(daemon_outages(d), &store_outage);
    obj_init(&app->api.obj, API_MAGIC);
    app->api.options = o;
    app->api.metrics = daemon_metrics(d);
    int err = app_access_read(o, &app->accounts, &credentials, why);
    if (!err)
        err = open_store(app, o, &credentials, why);
    app_credentials_fini(&credentials);
    if (err) {
        app_accounts_fini(&app->accounts);
        return err;
    }
    app->api.mirror = mirror_new(app->api.store);
    resume_mark(app, o);
    mirror_listen(app->api.mirror, &listener, app);
    operations_make(app, o);
    app->api.write_wait_ms = opt_ms(o, OPT_WRITE_WAIT);
    return 0;
}

static void on_store_closed(void *arg)
{
    struct registryd *app = obj_cast(arg, struct registryd, REGISTRYD_MAGIC);
    cleanup_free(app->api.cleanup);
    leases_free(app->api.leases);
    claims_free(app->claims);
    reg_store_free(app->api.ops);
    access_free(app->api.access);
    app_accounts_fini(&app->accounts);
    index_free(app->api.index);
    mirror_free(app->api.mirror);
    mark_file_free(app->mark);
    feed_free(app->api.feed); /* it listens to the mirror as long as that lives */
    daemon_stopped(app->daemon);
}

static void store_stop(struct daemon *d, void *arg)
{
    struct registryd *app = obj_cast(arg, struct registryd, REGISTRYD_MAGIC);
    (void)d;
    app->is_closing = true;
    store_close(app->api.store, on_store_closed, app);
}

/* ---- accessors: sessions of the holders of write accessors ---- */

static int accessors_start(struct daemon *d, void *arg, struct err_info *why)
{
    struct registryd *app = obj_cast(arg, struct registryd, REGISTRYD_MAGIC);
    (void)why;
    const struct options *o = daemon_options(d);
    bool is_zookeeper = strcmp(store_kind(app->api.store), "zookeeper") == 0;
    struct accessors_def def = {.loop = daemon_loop(d),
                                .url = store_url(app->api.store),
                                .store = store_numbers(o),
                                .names = app->api.names,
                                .acl = &app->accounts.acl.acl,
                                .realm = home_realm(app, o),
                                .n_max = is_zookeeper ? (size_t)opt_int(o, OPT_ACCESSOR_SESSIONS) : 0,
                                .idle_ms = opt_ms(o, OPT_ACCESSOR_IDLE)};
    app->api.accessors = accessors_new(&def);
    return 0;
}

static void on_accessors_closed(void *arg)
{
    struct registryd *app = obj_cast(arg, struct registryd, REGISTRYD_MAGIC);
    app->api.accessors = NULL;
    daemon_stopped(app->daemon);
}

static void accessors_stop(struct daemon *d, void *arg)
{
    struct registryd *app = obj_cast(arg, struct registryd, REGISTRYD_MAGIC);
    (void)d;
    accessors_close(app->api.accessors, on_accessors_closed, app);
}

/* ---- nodes: the root, /users and /services ---- */

static void on_setup(void *arg, int err, const struct reg_store_result *r)
{
    struct registryd *app = obj_cast(arg, struct registryd, REGISTRYD_MAGIC);
    if (app->is_closing)
        return;
    if (err) {
        metric_add(daemon_metrics(app->daemon), M_SETUP_FAILED, 1);
        if (log_trouble_is_news(&app->setup_trouble, &r->why, run_now_ms()))
            log_emit(&ev_registry_setup_failed, LOG_ERR(&r->why));
        run_timer_start(app->setup_retry, SETUP_RETRY_MS, 0);
        return;
    }
    set_readiness(app);
}

static void make_nodes(void *arg)
{
    struct registryd *app = obj_cast(arg, struct registryd, REGISTRYD_MAGIC);
    reg_store_setup(app->api.ops, on_setup, app);
}

static int nodes_start(struct daemon *d, void *arg, struct err_info *why)
{
    struct registryd *app = obj_cast(arg, struct registryd, REGISTRYD_MAGIC);
    (void)why;
    app->setup_retry = run_timer_new(daemon_loop(d), make_nodes, app);
    make_nodes(app);
    return 0;
}

static void nodes_stop(struct daemon *d, void *arg)
{
    struct registryd *app = obj_cast(arg, struct registryd, REGISTRYD_MAGIC);
    app->is_closing = true;
    run_timer_free(app->setup_retry);
    daemon_stopped(d);
}

/* ---- feed ---- */

static int feed_start(struct daemon *d, void *arg, struct err_info *why)
{
    struct registryd *app = obj_cast(arg, struct registryd, REGISTRYD_MAGIC);
    (void)why;
    const struct options *o = daemon_options(d);
    bool is_shared = strcmp(store_kind(app->api.store), "zookeeper") == 0;
    struct feed_def def = {.loop = daemon_loop(d),
                           .mirror = app->api.mirror,
                           .metrics = daemon_metrics(d),
                           .store_outage = app->api.store_outage,
                           .ring_bytes = (size_t)opt_int(o, OPT_FEED_RING),
                           .progress_ms = opt_ms(o, OPT_FEED_PROGRESS),
                           .behind_ms = is_shared ? opt_ms(o, OPT_FEED_BEHIND) : 0};
    app->api.feed = feed_new(&def);
    return 0;
}

/* ---- clean-up: the index of records, and what purges by it ---- */

static int cleanup_start(struct daemon *d, void *arg, struct err_info *why)
{
    struct registryd *app = obj_cast(arg, struct registryd, REGISTRYD_MAGIC);
    (void)why;
    struct cleanup_def def = {.loop = daemon_loop(d),
                              .index = app->api.index = index_new(daemon_loop(d), app->api.mirror),
                              .ops = app->api.ops,
                              .names = app->api.names,
                              .metrics = daemon_metrics(d)};
    app->api.cleanup = cleanup_new(&def);
    return 0;
}

/* Both are freed with the store: until then the mirror may notify them, and what runs completes. */
static void cleanup_end(struct daemon *d, void *arg)
{
    struct registryd *app = obj_cast(arg, struct registryd, REGISTRYD_MAGIC);
    cleanup_stop(app->api.cleanup);
    daemon_stopped(d);
}

/* ---- http ---- */

static void collect(void *arg)
{
    struct registryd *app = obj_cast(arg, struct registryd, REGISTRYD_MAGIC);
    struct metrics *m = daemon_metrics(app->daemon);
    metric_set(m, M_NODES, (int64_t)mirror_n_nodes(app->api.mirror));
    metric_set(m, M_MIRROR_BYTES, (int64_t)mirror_n_bytes(app->api.mirror));
    metric_set(m, M_APPLIED, mirror_applied(app->api.mirror));
    metric_set(m, M_STALE, mirror_stale(app->api.mirror) != NULL);
    metric_set(m, M_RING_BYTES, (int64_t)feed_ring_bytes(app->api.feed));
    metric_set(m, M_FOLLOWER_BYTES, (int64_t)feed_follower_bytes(app->api.feed));
    metric_set(m, M_ACCESSOR_SESSIONS, (int64_t)accessors_n_sessions(app->api.accessors));
    metric_set(m, M_INDEXED, (int64_t)index_n_records(app->api.index));
    metric_set(m, M_INDEX_BYTES, (int64_t)index_n_bytes(app->api.index));
    metric_set(m, M_RM_WATCHED, (int64_t)rm_poll_n_watched(app->rm));
    metric_set(m, M_CLEANUP_WAITING, (int64_t)cleanup_n_waiting(app->api.cleanup));
}

/* The option, else who runs this program, in the form the registry uses. free() */
static int read_static_user(const struct options *o, char **out, struct err_info *why)
{
    if (opt_text(o, OPT_STATIC_USER)) {
        *out = mem_str(opt_text(o, OPT_STATIC_USER));
        return 0;
    }
    mem_auto char *current = reg_current_user();
    return reg_user(current, out, why);
}

static void on_refused(void *arg)
{
    struct api *api = obj_cast(arg, struct api, API_MAGIC);
    metric_add(api->metrics, M_REFUSED, 1);
}

static struct http_server_def server_def(const struct options *o)
{
    struct http_server_def def = {.listen = opt_text(o, OPT_HTTP_ADDRESS),
                                  .listen_key = "hadoop.registry.http.address",
                                  .allow_remote_key = "hadoop.registry.http.allow-remote",
                                  .allow_remote = opt_bool(o, OPT_HTTP_REMOTE),
                                  .remote_may = "write and delete records in the name of any user",
                                  .first_metric = M_HTTP_CONNECTIONS,
                                  .options = o,
                                  .refused = on_refused,
                                  .may_administer = api_may_steer,
                                  .routes = registry_routes,
                                  .n_routes = registry_n_routes,
                                  .more_routes = http_common_routes,
                                  .n_more_routes = http_common_n_routes,
                                  .schemas = registry_schemas};
    http_limits_read(o, OPT_HTTP_BODY_BUDGET, "hadoop.registry.http.", &def.limits);
    return def;
}

static void http_check(const struct options *o, struct opt_report *report)
{
    struct http_server_def def = server_def(o);
    struct err_info why;
    mem_auto char *user = NULL;
    http_server_check(o, &def, report);
    if (read_static_user(o, &user, &why))
        opt_error(o, "hadoop.http.staticuser.user", &why, report);
}

static int http_start(struct daemon *d, void *arg, struct err_info *why)
{
    struct registryd *app = obj_cast(arg, struct registryd, REGISTRYD_MAGIC);
    struct http_server_def def = server_def(daemon_options(d));
    int err = read_static_user(daemon_options(d), &app->static_user, why);
    if (err)
        return err;
    http_common_daemon(d);
    metrics_collector(daemon_metrics(d), collect, app);
    def.metrics = daemon_metrics(d);
    def.static_user = app->static_user;
    def.app = &app->api;
    def.repeats = app->claims ? &claims_ops : NULL;
    def.repeats_arg = app->claims;
    err = http_server_start(daemon_loop(d), &def, &app->http, why);
    if (err)
        free(app->static_user);
    else
        app_lease_serve(app);
    return err;
}

static void on_http_stopped(void *arg)
{
    struct registryd *app = obj_cast(arg, struct registryd, REGISTRYD_MAGIC);
    free(app->static_user);
    daemon_stopped(app->daemon);
}

static void http_stop(struct daemon *d, void *arg)
{
    struct registryd *app = obj_cast(arg, struct registryd, REGISTRYD_MAGIC);
    (void)d;
    http_server_stop(app->http, on_http_stopped, app);
}

const struct daemon_step registryd_steps[] = {
    {"store", store_start, store_stop, store_check_options},
    {"accessors", accessors_start, accessors_stop, NULL},
    {"nodes", nodes_start, nodes_stop, NULL},
    {"feed", feed_start, NULL, NULL},
    {"cleanup", cleanup_start, cleanup_end, NULL}, /* the index too */
    {"lease", app_lease_start, app_lease_stop, app_lease_check},
    {"rm", app_rm_start, app_rm_stop, app_rm_check},
    {"repeats", app_repeats_start, app_repeats_stop, NULL},
    {"http", http_start, http_stop, http_check},
};
const size_t registryd_n_steps = ARRAY_LEN(registryd_steps);

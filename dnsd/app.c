#include "app.h"
#include "events.h"
#include "options.h"
#include "routes.h"
#include "follow/events.h"
#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

/** When versions that workers still read are looked at again. */
#define RECLAIM_MS 50
/** Blocks of memory that are released at once. */
#define RECLAIM_MAX 256

void dnsd_reload(struct daemon *d, void *arg)
{
    struct dnsd *app = obj_cast(arg, struct dnsd, DNSD_MAGIC);
    struct err_info why;
    (void)d;
    dnsd_tap_reload(app);
    dnsd_net_reload(app, &why); /* the log says what it could not read */
    masters_reload(app->masters, NULL, NULL);
}

/* ---- feed: the registry becomes names ---- */

static void reclaim(void *arg)
{
    struct dnsd *app = obj_cast(arg, struct dnsd, DNSD_MAGIC);
    struct zoneset_memory memory;
    uint64_t in_use[] = {net_oldest_version(app->net), dnsd_oldest_dump(app),
                         snapshots_oldest_version(app->snapshots)};
    uint64_t oldest = UINT64_MAX;
    for (size_t i = 0; i < ARRAY_LEN(in_use); i++)
        oldest = in_use[i] < oldest ? in_use[i] : oldest;
    size_t n = zoneset_reclaim_some(app->zones, oldest, RECLAIM_MAX);
    zoneset_memory(app->zones, &memory);
    if (memory.waiting_bytes)
        run_timer_start(app->reclaim, n == RECLAIM_MAX ? 0 : RECLAIM_MS, 0);
}

void dnsd_published(struct dnsd *app)
{
    if (!app->reclaim) /* still starting, or stopping */
        return;
    dnsd_serials_mind(app);
    reclaim(app);
}

static void report_ready(struct dnsd *app)
{
    buf_auto struct buf frozen = BUF_EMPTY;
    struct follow_state state;
    follow_state(app->follow, &state);
    daemon_ready(app->daemon, dnsd_serials_frozen(app, &frozen) ? buf_cstr(&frozen) : state.unready);
}

void dnsd_changed(void *arg)
{
    struct dnsd *app = obj_cast(arg, struct dnsd, DNSD_MAGIC);
    dnsd_published(app);
    snapshots_changed(app->snapshots);
    report_ready(app);
}

static bool is_compat(const struct options *o)
{
    return strcmp(opt_text(o, OPT_MODE), "compat") == 0;
}

static bool is_on(const struct options *o, int id)
{
    const char *word = opt_text(o, id);
    return strcmp(word, "auto") == 0 ? is_compat(o) : strcmp(word, "true") == 0;
}

static struct map_type_ttl type_ttl(const struct options *o, int id)
{
    return (struct map_type_ttl){opt_is_set(o, id), (uint32_t)(opt_ms(o, id) / 1000)};
}

/* compat answers with all, as Hadoop does, unless the option is set. */
static unsigned max_answers(const struct options *o)
{
    return is_compat(o) && !opt_is_set(o, OPT_MAX_ANSWERS) ? 0 : (unsigned)opt_int(o, OPT_MAX_ANSWERS);
}

static struct map_options map_options(struct dnsd *app)
{
    const struct options *o = daemon_options(app->daemon);
    struct map_options out = {.domain = app->domain,
                              .ttl_s = dnsd_ttl_s(o),
                              .has_service_names = !is_compat(o),
                              .has_port_names = !is_compat(o),
                              .has_mapped_aaaa = is_on(o, OPT_AAAA_MAPPED),
                              .has_api_cname = is_on(o, OPT_API_CNAME),
                              .has_one_address = is_compat(o),
                              .max_answers = max_answers(o),
                              .component_ttl = app->ttls.n_items ? dnsd_component_ttl : NULL,
                              .ttl_arg = app};
#define TYPE_TTL(arg, token, ...) out.type_ttls[DNS_TTL_OF_##token] = type_ttl(o, OPT_TTL_##token);
    DNS_TYPES_OF_RECORDS(TYPE_TTL, )
#undef TYPE_TTL
    return out;
}

static const struct outage_def registry_outage = {"registry",    &ev_feed_lost, &ev_feed_still_lost,
                                                  &ev_feed_back, M_REGISTRY_UP, M_REGISTRY_SINCE};
static const struct outage_def store_outage = {"registry-store", &ev_feed_stale,      &ev_feed_still_stale,
                                               &ev_feed_current, M_REGISTRY_STORE_UP, M_REGISTRY_STORE_SINCE};
static const struct outage_def resolver_outage = {"host-resolver", &ev_hosts_lost, &ev_hosts_still_lost,
                                                  &ev_hosts_back,  M_RESOLVER_UP,  M_RESOLVER_SINCE};

static void feed_check(const struct options *o, struct opt_report *report)
{
    struct err_info why;
    struct map ttls = MAP_EMPTY;
    if (reg_check_url(opt_text(o, OPT_REGISTRY_URL), &why))
        opt_error(o, "hadoop.registry.url", &why, report);
    if (strcmp(opt_text(o, OPT_MODE), "strict") == 0 && strcmp(opt_text(o, OPT_API_CNAME), "true") == 0) {
        err_set(&why, ERR_CONFIG, NULL,
                "true makes invalid zones (RFC 1034 3.6.2); set hadoop.registry.dns.mode to compat with it");
        opt_error(o, "hadoop.registry.dns.api-cname", &why, report);
    }
    dnsd_ttls_read(o, &ttls, report);
    map_fini(&ttls, free);
}

static int feed_start(struct daemon *d, void *arg, struct err_info *why)
{
    struct dnsd *app = obj_cast(arg, struct dnsd, DNSD_MAGIC);
    const struct options *o = daemon_options(d);
    struct opt_report report = OPT_REPORT_FOR(OPT_FOR_START);
    struct reg_options ro = {.url = opt_text(o, OPT_REGISTRY_URL),
                             .idle_ms = opt_ms(o, OPT_REGISTRY_SILENCE)};
    int err = reg_open(daemon_loop(d), &ro, &app->registry, why);
    if (err)
        return err;
    daemon_ready(d, "the registry was not read completely yet");
    app->reclaim = run_timer_new(daemon_loop(d), reclaim, app);
    dnsd_ttls_read(o, &app->ttls, &report); /* feed_check has reported the errors */
    opt_report_fini(&report);
    struct follow_def def = {
        .loop = daemon_loop(d),
        .registry = app->registry,
        .zones = app->zones,
        .writer = app->writer,
        .map = map_options(app),
        .coalesce_ms = opt_ms(o, OPT_COALESCE),
        .host_refresh_ms = opt_ms(o, OPT_HOST_REFRESH),
        .stale_max_ms = opt_ms(o, OPT_STALE_MAX),
        .registry_outage = outage_new(daemon_outages(d), &registry_outage),
        .host_outage = outage_new(daemon_outages(d), &resolver_outage),
        .store_outage = outage_new(daemon_outages(d), &store_outage),
        .guard = {(unsigned)opt_int(o, OPT_GUARD_SHARE), (unsigned)opt_int(o, OPT_GUARD_MIN)},
        .metrics = daemon_metrics(d),
        .propagation = M_PROPAGATION,
        .changed = dnsd_changed,
        .arg = app};
    app->follow = follow_new(&def);
    dnsd_restore_start(app);
    return 0;
}

static void feed_end(void *arg)
{
    struct dnsd *app = obj_cast(arg, struct dnsd, DNSD_MAGIC);
    app->snapshots = NULL;
    follow_stop(app->follow);
    app->follow = NULL;
    reg_close(app->registry);
    run_timer_free(app->reclaim);
    app->reclaim = NULL;
    map_fini(&app->ttls, free);
    daemon_stopped(app->daemon);
}

static void feed_stop(struct daemon *d, void *arg)
{
    struct dnsd *app = obj_cast(arg, struct dnsd, DNSD_MAGIC);
    (void)d;
    snapshot_restore_cancel(app->restore);
    app->restore = NULL;
    if (app->snapshots)
        snapshots_stop(app->snapshots, feed_end, app);
    else
        feed_end(app);
}

/* ---- http ---- */

static struct http_server_def server_def(const struct options *o)
{
    struct http_server_def def = {.listen = opt_text(o, OPT_HTTP_ADDRESS),
                                  .listen_key = "hadoop.registry.dns.http.address",
                                  .allow_remote_key = "hadoop.registry.dns.http.allow-remote",
                                  .allow_remote = opt_bool(o, OPT_HTTP_REMOTE),
                                  .remote_may = "read all names and reload the zones",
                                  .first_metric = M_HTTP_CONNECTIONS,
                                  .options = o,
                                  .static_user = "dr.who",
                                  .routes = dnsd_routes,
                                  .n_routes = dnsd_n_routes,
                                  .schemas = dnsd_schemas,
                                  .more_routes = http_common_routes,
                                  .n_more_routes = http_common_n_routes};
    http_limits_read(o, OPT_HTTP_BODY_BUDGET, "hadoop.registry.dns.http.", &def.limits);
    return def;
}

static void http_check(const struct options *o, struct opt_report *report)
{
    struct http_server_def def = server_def(o);
    http_server_check(o, &def, report);
}

static int http_start(struct daemon *d, void *arg, struct err_info *why)
{
    struct dnsd *app = obj_cast(arg, struct dnsd, DNSD_MAGIC);
    const struct options *o = daemon_options(d);
    struct http_server_def def = server_def(o);
    http_common_daemon(d);
    metrics_collector(daemon_metrics(d), dnsd_collect, app);
    daemon_version_fact(d, "domain", opt_text(o, OPT_DOMAIN));
    def.metrics = daemon_metrics(d);
    def.app = app;
    return http_server_start(daemon_loop(d), &def, &app->http, why);
}

static void on_http_stopped(void *arg)
{
    struct dnsd *app = obj_cast(arg, struct dnsd, DNSD_MAGIC);
    daemon_stopped(app->daemon);
}

static void http_stop(struct daemon *d, void *arg)
{
    struct dnsd *app = obj_cast(arg, struct dnsd, DNSD_MAGIC);
    (void)d;
    http_server_stop(app->http, on_http_stopped, app);
}

const struct daemon_step dnsd_steps[] = {
    {"zones", dnsd_zones_start, dnsd_zones_stop, dnsd_zones_check},
    {"net", dnsd_net_start, dnsd_net_stop, dnsd_net_check},
    {"feed", feed_start, feed_stop, feed_check},
    {"http", http_start, http_stop, http_check},
};
const size_t dnsd_n_steps = ARRAY_LEN(dnsd_steps);

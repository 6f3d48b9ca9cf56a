#include "app.h"
#include "events.h"
#include "options.h"
#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"
#include "feed/reverse.h"

#include <stdlib.h>
#include <string.h>

/** When versions that workers still read are looked at again. */
#define RECLAIM_MS 50

void dnsd_check(const struct options *o, struct buf *errors)
{
    const char *domain = opt_text(o, OPT_DOMAIN);
    const char *subnet = opt_text(o, OPT_ZONE_SUBNET);
    uint8_t name[NAME_MAX_LEN];
    struct err_info why;
    if (!domain)
        buf_addf(errors, "hadoop.registry.dns.domain-name: not set; give the domain of the registry's names, "
                         "as cluster.example\n");
    else if (name_from_text(domain, strlen(domain), name) < 0)
        buf_addf(errors, "%s: hadoop.registry.dns.domain-name: \"%s\" is no domain name\n",
                 opt_origin(o, OPT_DOMAIN), domain);
    if (subnet && reverse_check(subnet, opt_text(o, OPT_ZONE_MASK), &why))
        buf_addf(errors, "%s: %s: %s\n", opt_origin(o, OPT_ZONE_SUBNET), why.where, why.text);
    dnsd_net_check(o, errors);
}

void dnsd_reload(struct daemon *d, void *arg)
{
    (void)d;
    dnsd_net_reload(arg);
}

/* ---- feed: the registry becomes names ---- */

static void reclaim(void *arg)
{
    struct dnsd *app = arg;
    struct zoneset_memory memory;
    zoneset_reclaim(app->zones, net_oldest_version(app->net));
    zoneset_memory(app->zones, &memory);
    if (memory.waiting_bytes)
        run_timer_start(app->reclaim, RECLAIM_MS, 0);
}

static void on_changed(void *arg)
{
    struct dnsd *app = arg;
    struct follow_state state;
    reclaim(app);
    follow_state(app->follow, &state);
    daemon_ready(app->daemon, state.is_ready ? NULL : "the registry was not read completely yet");
}

static int feed_start(struct daemon *d, void *arg, struct err_info *why)
{
    struct dnsd *app = arg;
    const struct options *o = daemon_options(d);
    struct reg_options ro = {.url = opt_text(o, OPT_REGISTRY_URL)};
    int err = reg_open(daemon_loop(d), &ro, &app->registry, why);
    if (err)
        return err;
    daemon_ready(d, "the registry was not read completely yet");
    app->reclaim = run_timer_new(daemon_loop(d), reclaim, app);
    struct follow_def def = {.loop = daemon_loop(d),
                             .registry = app->registry,
                             .zones = app->zones,
                             .map = {.domain = app->domain, .ttl_s = (uint32_t)(opt_ms(o, OPT_TTL) / 1000)},
                             .changed = on_changed,
                             .arg = app};
    app->follow = follow_start(&def);
    return 0;
}

static void feed_stop(struct daemon *d, void *arg)
{
    struct dnsd *app = arg;
    follow_stop(app->follow);
    reg_close(app->registry);
    run_timer_free(app->reclaim);
    daemon_stopped(d);
}

/* ---- http ---- */

static int http_start(struct daemon *d, void *arg, struct err_info *why)
{
    struct dnsd *app = arg;
    const struct options *o = daemon_options(d);
    http_common_daemon(d);
    metrics_collector(daemon_metrics(d), dnsd_collect, app);
    daemon_version_fact(d, "domain", opt_text(o, OPT_DOMAIN));
    struct http_server_def def = {.listen = opt_text(o, OPT_HTTP_ADDRESS),
                                  .listen_key = "hadoop.registry.dns.http.address",
                                  .allow_remote_key = "hadoop.registry.dns.http.allow-remote",
                                  .allow_remote = opt_bool(o, OPT_HTTP_REMOTE),
                                  .static_user = "dr.who",
                                  .routes = dnsd_routes,
                                  .n_routes = dnsd_n_routes,
                                  .more_routes = http_common_routes,
                                  .n_more_routes = http_common_n_routes,
                                  .app = app};
    return http_server_start(daemon_loop(d), &def, &app->http, why);
}

static void on_http_stopped(void *arg)
{
    struct dnsd *app = arg;
    daemon_stopped(app->daemon);
}

static void http_stop(struct daemon *d, void *arg)
{
    (void)d;
    struct dnsd *app = arg;
    http_server_stop(app->http, on_http_stopped, app);
}

const struct daemon_step dnsd_steps[] = {
    {"zones", dnsd_zones_start, dnsd_zones_stop},
    {"net", dnsd_net_start, dnsd_net_stop},
    {"feed", feed_start, feed_stop},
    {"http", http_start, http_stop},
};
const size_t dnsd_n_steps = ARRAY_LEN(dnsd_steps);

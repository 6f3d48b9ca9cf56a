/** The leases of records: registryd/lease, and how other registryds reach this one. */
#include "app.h"
#include "options.h"
#include "base/mem.h"
#include "base/str.h"

#include <string.h>
#include <unistd.h>

void app_lease_check(const struct options *o, struct opt_report *report)
{
    struct err_info why;
    if (opt_ms(o, OPT_LEASE_MIN) <= opt_ms(o, OPT_LEASE_MAX))
        return;
    err_set(&why, ERR_CONFIG, "hadoop.registry.lease.min-ttl",
            "%s is more than hadoop.registry.lease.max-ttl allows", opt_text(o, OPT_LEASE_MIN));
    opt_error(o, "hadoop.registry.lease.min-ttl", &why, report);
}

int app_lease_start(struct daemon *d, void *arg, struct err_info *why)
{
    struct registryd *app = obj_cast(arg, struct registryd, REGISTRYD_MAGIC);
    const struct options *o = daemon_options(d);
    struct leases_def def = {.loop = daemon_loop(d),
                             .store = app->api.store,
                             .mirror = app->api.mirror,
                             .ops = app->api.ops,
                             .metrics = daemon_metrics(d),
                             .acl = opt_bool(o, OPT_SECURE) ? &app->accounts.acl.acl : NULL,
                             .term_ms = opt_ms(o, OPT_LEASE_TERM),
                             .ttl_min_ms = opt_ms(o, OPT_LEASE_MIN),
                             .ttl_max_ms = opt_ms(o, OPT_LEASE_MAX),
                             .n_max = (size_t)opt_int(o, OPT_LEASE_RECORDS)};
    (void)why;
    app->api.http = http_client_new(daemon_loop(d));
    app->api.leases = leases_new(&def);
    return 0;
}

void app_lease_stop(struct daemon *d, void *arg)
{
    struct registryd *app = obj_cast(arg, struct registryd, REGISTRYD_MAGIC);
    leases_stop(app->api.leases);
    http_client_free(app->api.http);
    daemon_stopped(d);
}

void app_lease_serve(struct registryd *app)
{
    const char *address = opt_text(daemon_options(app->daemon), OPT_HTTP_ADDRESS);
    const char *port = strrchr(address, ':');
    bool is_any = str_starts(address, "0.0.0.0:") || str_starts(address, "[::]:");
    char host[256] = "localhost";
    if (is_any && gethostname(host, sizeof host - 1))
        memcpy(host, "localhost", sizeof "localhost");
    mem_auto char *bound = mem_strn(address, port ? (size_t)(port - address) : strlen(address));
    mem_auto char *url = mem_fmt("http://%s:%u", is_any ? host : bound, http_server_port(app->http));
    leases_start(app->api.leases, url);
}

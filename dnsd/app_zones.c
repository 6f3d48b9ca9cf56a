#include "app.h"
#include "events.h"
#include "options.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "feed/reverse.h"
#include "feed/zonefile.h"
#include "wire/rdata.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What SOA and NS of the generated zones say. */
struct apex_text {
    uint8_t mname[NAME_MAX_LEN], rname[NAME_MAX_LEN];
    uint32_t ttl_s;
    const struct options *options;
};

static uint32_t seconds(const struct options *o, int id)
{
    return (uint32_t)(opt_ms(o, id) / 1000);
}

static int read_name(const char *text, const char *key, uint8_t *out, struct err_info *why)
{
    return name_from_text(text, strlen(text), out) > 0
               ? 0
               : err_set(why, ERR_CONFIG, key, "\"%s\" is no domain name", text);
}

static int apex_text_read(const struct dnsd *app, struct apex_text *a, struct err_info *why)
{
    const struct options *o = daemon_options(app->daemon);
    char host[256] = "";
    if (gethostname(host, sizeof host - 1) || !*host)
        memcpy(host, "localhost", sizeof "localhost");
    const char *mname = opt_text(o, OPT_SOA_MNAME);
    const char *rname = opt_text(o, OPT_SOA_RNAME);
    a->options = o;
    a->ttl_s = seconds(o, OPT_TTL);
    int err = read_name(mname ? mname : host, "hadoop.registry.dns.soa.mname", a->mname, why);
    if (!err && rname)
        err = read_name(rname, "hadoop.registry.dns.soa.rname", a->rname, why);
    else if (!err && name_join("hostmaster", 10, app->domain, a->rname) < 0)
        err = err_set(why, ERR_CONFIG, "hadoop.registry.dns.domain-name", "the domain name is too long");
    return err;
}

static int add_ns(struct zone_tx *tx, int zone, const uint8_t *apex, const struct apex_text *a,
                  struct err_info *why)
{
    const char *list = opt_text(a->options, OPT_NS);
    struct zone_rr rr = {.owner = apex, .type = DNS_NS, .ttl_s = a->ttl_s};
    uint8_t name[NAME_MAX_LEN];
    int err = 0;
    rr.rdata = list ? name : a->mname;
    rr.rdlen = (uint16_t)name_len(a->mname, NAME_MAX_LEN);
    for (size_t i = 0; !err && list; i++) {
        mem_auto char *text = str_field(list, ',', i);
        if (!text)
            return 0;
        err = read_name(text, "hadoop.registry.dns.ns", name, why);
        rr.rdlen = err ? 0 : (uint16_t)name_len(name, NAME_MAX_LEN);
        err = err ? err : zone_tx_add(tx, zone, &rr);
    }
    return err ? err : zone_tx_add(tx, zone, &rr);
}

/* Declare one generated zone; a zone that a master file declared is left as it is. */
static int add_zone(struct dnsd *app, const uint8_t *apex, enum zone_kind kind, const struct apex_text *a,
                    struct err_info *why)
{
    if (zoneset_zone(app->zones, apex) >= 0)
        return 0;
    int zone = zoneset_add_zone(app->zones, apex, kind, (uint32_t)(run_wall_ms() / 1000));
    if (zone < 0)
        return err_set(why, zone, "", "a zone could not be added: %s", err_text(zone));
    const struct options *o = a->options;
    uint8_t rdata[2 * NAME_MAX_LEN + 20];
    struct rdata_soa soa = {.mname = a->mname,
                            .rname = a->rname,
                            .refresh_s = seconds(o, OPT_SOA_REFRESH),
                            .retry_s = seconds(o, OPT_SOA_RETRY),
                            .expire_s = seconds(o, OPT_SOA_EXPIRE),
                            .minimum_s = seconds(o, OPT_SOA_MINIMUM)};
    struct zone_rr rr = {apex, DNS_SOA, a->ttl_s, rdata, (uint16_t)rdata_put_soa(&soa, rdata)};
    struct zone_tx *tx = zone_tx_begin(app->zones);
    int err = zone_tx_add(tx, zone, &rr);
    err = err ? err : add_ns(tx, zone, apex, a, why);
    if (err)
        zone_tx_abort(tx);
    else
        zone_tx_commit(tx, 0, NULL);
    return err;
}

struct reverse_run {
    struct dnsd *app;
    const struct apex_text *text;
    struct err_info *why;
    int err;
};

static void on_reverse(void *arg, const uint8_t *apex)
{
    struct reverse_run *r = arg;
    if (!r->err)
        r->err = add_zone(r->app, apex, ZONE_REVERSE, r->text, r->why);
}

static int add_reverse(struct dnsd *app, const struct apex_text *text, struct err_info *why)
{
    const struct options *o = daemon_options(app->daemon);
    const char *subnet = opt_text(o, OPT_ZONE_SUBNET);
    if (!subnet) {
        log_emit0(&ev_dns_reverse_missing);
        return 0;
    }
    struct reverse_run run = {app, text, why, 0};
    struct reverse_sink sink = {on_reverse, &run};
    int n = reverse_zones(subnet, opt_text(o, OPT_ZONE_MASK), &sink, why);
    return n < 0 ? n : run.err;
}

int dnsd_zones_start(struct daemon *d, void *arg, struct err_info *why)
{
    struct dnsd *app = arg;
    const struct options *o = daemon_options(d);
    app->daemon = d;
    struct apex_text text;
    struct zoneset_options zo = {.hash_seed = hash_bytes("zones", 5)};
    const char *dir = opt_text(o, OPT_ZONES_DIR);
    int err = read_name(opt_text(o, OPT_DOMAIN), "hadoop.registry.dns.domain-name", app->domain, why);
    err = err ? err : apex_text_read(app, &text, why);
    if (err)
        return err;
    app->zones = zoneset_new(&zo);
    int loaded =
        dir ? zonefile_load_dir(app->zones, dir, app->domain, (uint32_t)(run_wall_ms() / 1000), why) : 0;
    err = loaded < 0 ? loaded : 0;
    err = err ? err : add_zone(app, app->domain, ZONE_REGISTRY, &text, why);
    err = err ? err : add_reverse(app, &text, why);
    if (err)
        zoneset_free(app->zones);
    return err;
}

void dnsd_zones_stop(struct daemon *d, void *arg)
{
    struct dnsd *app = arg;
    zoneset_free(app->zones);
    daemon_stopped(d);
}

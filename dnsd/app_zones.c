#include "app.h"
#include "events.h"
#include "options.h"
#include "base/addr.h"
#include "base/mem.h"
#include "base/str.h"
#include "run/file.h"
#include "run/host_name.h"
#include "names/reverse.h"
#include "wire/rdata.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/** How long the start waits for the resolver to name this host. */
#define HOST_NAME_MS 2000

/* Content of SOA and NS of the generated zones. */
struct apex_text {
    uint8_t mname[NAME_MAX_LEN], rname[NAME_MAX_LEN];
    uint32_t soa_ttl_s, minimum_s;
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

uint32_t dnsd_ttl_s(const struct options *o)
{
    bool is_manual = !opt_is_set(o, OPT_TTL) && opt_is_set(o, OPT_TTL_MANUAL);
    return seconds(o, is_manual ? OPT_TTL_MANUAL : OPT_TTL);
}

/* The primary: that of the options, else the host, else ns.<domain>. @param host its name, or "" */
static int read_mname(const struct options *o, const uint8_t *domain, const char *host, uint8_t *out,
                      struct err_info *why)
{
    const char *mname = opt_text(o, OPT_SOA_MNAME);
    if (mname)
        return read_name(mname, "hadoop.registry.dns.soa.mname", out, why);
    if (*host && name_from_text(host, strlen(host), out) > 0)
        return 0;
    return name_join("ns", 2, domain, out) > 0
               ? 0
               : err_set(why, ERR_CONFIG, "hadoop.registry.dns.domain-name", "the domain name is too long");
}

static int apex_text_read(const struct options *o, const uint8_t *domain, const char *host,
                          struct apex_text *a, struct err_info *why)
{
    const char *rname = opt_text(o, OPT_SOA_RNAME);
    a->options = o;
    a->soa_ttl_s = opt_is_set(o, OPT_SOA_TTL) ? seconds(o, OPT_SOA_TTL) : dnsd_ttl_s(o);
    a->minimum_s = seconds(o, OPT_SOA_MINIMUM);
    if (opt_is_set(o, OPT_NEGATIVE_TTL)) { /* the smaller of the two is what counts: RFC 2308 5 */
        a->minimum_s = seconds(o, OPT_NEGATIVE_TTL);
        a->soa_ttl_s = a->soa_ttl_s > a->minimum_s ? a->soa_ttl_s : a->minimum_s;
    }
    int err = read_mname(o, domain, host, a->mname, why);
    if (!err && rname)
        err = read_name(rname, "hadoop.registry.dns.soa.rname", a->rname, why);
    else if (!err && name_join("hostmaster", 10, domain, a->rname) < 0)
        err = err_set(why, ERR_CONFIG, "hadoop.registry.dns.domain-name", "the domain name is too long");
    return err;
}

/* ---- generated zones ---- */

static void add_address(struct rrlist *rrs, const uint8_t *name, const struct addr *ip, uint32_t ttl_s)
{
    bool is_v4 = ip->family == AF_INET;
    struct zone_rr rr = {name, is_v4 ? DNS_A : DNS_AAAA, ttl_s, ip->bytes, is_v4 ? 4 : 16};
    rrlist_add(rrs, &rr);
}

/* An address of an interface that others can reach. @return false: it is none of the family */
static bool read_interface(const struct ifaddrs *i, int family, struct addr *out)
{
    char text[64];
    bool is_up = i->ifa_addr && i->ifa_flags & IFF_UP && !(i->ifa_flags & IFF_LOOPBACK);
    if (!is_up || i->ifa_addr->sa_family != family)
        return false;
    socklen_t len = family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
    bool is_read = !getnameinfo(i->ifa_addr, len, text, sizeof text, NULL, 0, NI_NUMERICHOST);
    return is_read && !strchr(text, '%') && !addr_read(text, out); /* with a scope it is link-local */
}

/* We listen on every address of a family: those of the interfaces; on a host without any, loopback. */
static void add_interfaces(struct rrlist *rrs, const uint8_t *name, int family, uint32_t ttl_s)
{
    struct ifaddrs *all = NULL;
    struct addr ip;
    size_t n_before = rrs->n_rrs;
    if (getifaddrs(&all))
        all = NULL;
    for (const struct ifaddrs *i = all; i; i = i->ifa_next)
        if (read_interface(i, family, &ip))
            add_address(rrs, name, &ip, ttl_s);
    if (all)
        freeifaddrs(all);
    if (rrs->n_rrs == n_before && !addr_read(family == AF_INET ? "127.0.0.1" : "::1", &ip))
        add_address(rrs, name, &ip, ttl_s);
}

/* Addresses of a name server whose name is in the zone: those we listen on. */
static void add_glue(struct rrlist *rrs, const uint8_t *apex, const uint8_t *name, const struct apex_text *a)
{
    for (size_t i = 0; name_is_within(name, apex); i++) {
        mem_auto char *text = str_field(opt_text(a->options, OPT_BIND_ADDRESS), ',', i);
        struct addr ip;
        if (!text)
            return;
        if (strcmp(text, "0.0.0.0") == 0 || strcmp(text, "::") == 0)
            add_interfaces(rrs, name, *text == ':' ? AF_INET6 : AF_INET, a->soa_ttl_s);
        else if (!addr_read(text, &ip))
            add_address(rrs, name, &ip, a->soa_ttl_s);
    }
}

static void add_ns(struct rrlist *rrs, const uint8_t *apex, const uint8_t *name, const struct apex_text *a)
{
    struct zone_rr rr = {apex, DNS_NS, a->soa_ttl_s, name, (uint16_t)name_len(name, NAME_MAX_LEN)};
    rrlist_add(rrs, &rr);
    add_glue(rrs, apex, name, a);
}

static int add_ns_list(struct rrlist *rrs, const uint8_t *apex, const struct apex_text *a,
                       struct err_info *why)
{
    const char *list = opt_text(a->options, OPT_NS);
    int err = 0;
    if (!list)
        add_ns(rrs, apex, a->mname, a);
    for (size_t i = 0; !err && list; i++) {
        uint8_t name[NAME_MAX_LEN];
        mem_auto char *text = str_field(list, ',', i);
        if (!text)
            return 0;
        err = read_name(text, "hadoop.registry.dns.ns", name, why);
        if (!err)
            add_ns(rrs, apex, name, a);
    }
    return err;
}

static int generate(struct dnsd *app, const uint8_t *apex, enum zone_kind kind, const struct apex_text *a,
                    struct err_info *why)
{
    const struct options *o = a->options;
    struct rrlist rrs = {.n_rrs = 0};
    uint8_t rdata[2 * NAME_MAX_LEN + 20];
    struct rdata_soa soa = {.mname = a->mname,
                            .rname = a->rname,
                            .refresh_s = seconds(o, OPT_SOA_REFRESH),
                            .retry_s = seconds(o, OPT_SOA_RETRY),
                            .expire_s = seconds(o, OPT_SOA_EXPIRE),
                            .minimum_s = a->minimum_s};
    struct zone_rr rr = {apex, DNS_SOA, a->soa_ttl_s, rdata, (uint16_t)rdata_put_soa(&soa, rdata)};
    rrlist_add(&rrs, &rr);
    int err = add_ns_list(&rrs, apex, a, why);
    if (opt_is_set(o, OPT_NS))
        add_glue(&rrs, apex, a->mname, a); /* else it is the name server */
    if (err)
        rrlist_fini(&rrs);
    else
        masters_generate(app->masters, apex, kind, &rrs);
    return err;
}

/* ---- reverse zones ---- */

#define REVERSE_MAGIC OBJ_MAGIC('R', 'V', 'R', 'S')

struct reverse {
    struct obj obj;
    struct dnsd *app;
    const struct apex_text *text;
    struct err_info *why;
    int err;
};

static void on_reverse(void *arg, const uint8_t *apex)
{
    struct reverse *r = obj_cast(arg, struct reverse, REVERSE_MAGIC);
    if (!r->err)
        r->err = generate(r->app, apex, ZONE_REVERSE, r->text, r->why);
}

/* Call the sink with every reverse zone that the options name. @return 0, or ERR_CONFIG. */
static int each_reverse(const struct options *o, const struct reverse_sink *sink, struct err_info *why)
{
    const char *subnet = opt_text(o, OPT_ZONE_SUBNET), *mask = opt_text(o, OPT_ZONE_MASK);
    const char *more = opt_text(o, OPT_REVERSE_SUBNETS);
    bool is_split = opt_bool(o, OPT_SPLIT);
    int n = 0;
    if (subnet && is_split && !opt_is_set(o, OPT_SPLIT_RANGE))
        return err_set(why, ERR_CONFIG, "hadoop.registry.dns.split-reverse-zone-range",
                       "not set; split-reverse-zone needs it");
    if (subnet)
        n = is_split ? reverse_split(subnet, mask, opt_int(o, OPT_SPLIT_RANGE), sink, why)
                     : reverse_zones(subnet, mask, sink, why);
    for (size_t i = 0; n >= 0 && more; i++) {
        mem_auto char *one = str_field(more, ',', i);
        if (!one)
            break;
        n = *one ? reverse_zones(one, NULL, sink, why) : n;
    }
    return n < 0 ? n : 0;
}

static int add_reverse(struct dnsd *app, const struct apex_text *text, struct err_info *why)
{
    const struct options *o = daemon_options(app->daemon);
    struct reverse reverse = {{REVERSE_MAGIC}, app, text, why, 0};
    struct reverse_sink sink = {on_reverse, &reverse};
    if (!opt_text(o, OPT_ZONE_SUBNET) && !opt_text(o, OPT_REVERSE_SUBNETS))
        log_emit0(&ev_dns_reverse_missing);
    int err = each_reverse(o, &sink, why);
    return err ? err : reverse.err;
}

/* ---- the step ---- */

static uint32_t on_serial(void *arg, const uint8_t *apex, enum zone_kind kind, uint32_t wanted)
{
    struct dnsd *app = obj_cast(arg, struct dnsd, DNSD_MAGIC);
    uint32_t now_s = (uint32_t)(run_wall_ms() / 1000);
    bool is_own = kind != ZONE_FILE && (int32_t)(now_s - wanted) > 0;
    return serials_first(app->serials, apex, kind, is_own || !wanted ? now_s : wanted);
}

static bool on_rezone(void *arg, struct zone_tx *tx, const struct records_move *move, uint32_t *cursor)
{
    struct dnsd *app = obj_cast(arg, struct dnsd, DNSD_MAGIC);
    return app->follow && follow_rezone_part(app->follow, tx, move, cursor);
}

static void on_masters_changed(void *arg)
{
    dnsd_published(obj_cast(arg, struct dnsd, DNSD_MAGIC));
}

char *dnsd_data_path(struct dnsd *app, const char *leaf)
{
    mem_auto char *dir = mem_fmt("%s/dnsd", opt_text(daemon_options(app->daemon), OPT_DATA_DIR));
    struct err_info why;
    if (file_make_dir(dir, 0755, &why)) {
        log_emit(&ev_dns_nothing_kept, LOG_ERR(&why));
        return NULL;
    }
    return leaf ? mem_fmt("%s/%s", dir, leaf) : mem_str(dir);
}

/* Two servers would write each other's serials and snapshot. A directory that cannot be locked for another reason keeps nothing, or
 * is on a file system without locks. */
static int lock_data(struct dnsd *app, struct err_info *why)
{
    mem_auto char *dir = dnsd_data_path(app, NULL);
    struct err_info found;
    app->lock = -1;
    int err = dir ? file_lock_dir(dir, "data directory", &app->lock, &found) : 0;
    if (err == ERR_WRONGSTATE)
        return err_set(why, err, found.where, "%s; give each dnsd its own bobbin.data.dir", found.text);
    if (err)
        log_emit(&ev_dns_nothing_kept, LOG_ERR(&found));
    return 0;
}

static void unlock_data(struct dnsd *app)
{
    if (app->lock >= 0)
        close(app->lock);
    app->lock = -1;
}

static int make_zones(struct dnsd *app, struct err_info *why)
{
    const struct options *o = daemon_options(app->daemon);
    struct apex_text text;
    char host[HOST_NAME_ROOM] = "";
    if (!opt_is_set(o, OPT_SOA_MNAME))
        host_name_canonical(HOST_NAME_MS, host);
    int err = apex_text_read(o, app->domain, host, &text, why);
    err = err ? err : generate(app, app->domain, ZONE_REGISTRY, &text, why);
    err = err ? err : add_reverse(app, &text, why);
    return err ? err : masters_load(app->masters, why);
}

/* ---- the check: all that make_zones would refuse, and bad master files, which it would go on without ---- */

static void check_apex(const struct options *o, const uint8_t *domain, struct opt_report *report)
{
    struct apex_text text;
    struct rrlist rrs = {.n_rrs = 0};
    struct err_info why;
    if (apex_text_read(o, domain, "", &text, &why) || add_ns_list(&rrs, domain, &text, &why))
        opt_error(o, "hadoop.registry.dns.domain-name", &why, report);
    rrlist_fini(&rrs);
}

static void on_any(void *arg, const uint8_t *apex)
{
    (void)arg;
    (void)apex;
}

#define FILES_MAGIC OBJ_MAGIC('B', 'D', 'F', 'L')

struct bad_files {
    struct obj obj;
    const struct options *o;
    struct opt_report *report;
};

static void on_bad_file(void *arg, const struct err_info *why)
{
    struct bad_files *f = obj_cast(arg, struct bad_files, FILES_MAGIC);
    if (why->code == ERR_IO)
        opt_error(f->o, "hadoop.registry.dns.zones-dir", why, f->report);
    else
        opt_warning(f->o, "hadoop.registry.dns.zones-dir", why, f->report);
}

/* A start reads the files itself. */
static void check_files(const struct options *o, struct opt_report *report)
{
    struct bad_files files = {.o = o, .report = report};
    obj_init(&files.obj, FILES_MAGIC);
    if (report->purpose == OPT_FOR_TEST && opt_text(o, OPT_ZONES_DIR))
        masters_check(opt_text(o, OPT_ZONES_DIR), on_bad_file, &files);
}

void dnsd_zones_check(const struct options *o, struct opt_report *report)
{
    const char *domain = opt_text(o, OPT_DOMAIN);
    struct reverse_sink sink = {on_any, NULL};
    uint8_t name[NAME_MAX_LEN];
    struct err_info why;
    if (!domain)
        err_set(&why, ERR_CONFIG, NULL,
                "not set; give the domain of the registry's names, as cluster.example");
    if (!domain || read_name(domain, "hadoop.registry.dns.domain-name", name, &why))
        opt_error(o, "hadoop.registry.dns.domain-name", &why, report);
    else
        check_apex(o, name, report);
    if (each_reverse(o, &sink, &why))
        opt_error(o, "hadoop.registry.dns.zone-subnet", &why, report);
    if (opt_bool(o, OPT_DNSSEC)) {
        err_set(&why, ERR_CONFIG, NULL,
                "asks for signed zones, and dnsd does not sign: leave it out, and sign in a secondary if "
                "validators need it");
        opt_error(o, "hadoop.registry.dns.dnssec.enabled", &why, report);
    }
    check_files(o, report);
}

/* In compat mode CNAMEs of the registry's own stand beside other records. */
static void on_alias(void *arg, const uint8_t *name, bool is_hidden)
{
    char text[NAME_TEXT_MAX];
    (void)arg;
    log_emit(is_hidden ? &ev_zones_alias_hidden : &ev_zones_alias_back,
             LOG_STR("name", name_to_text(name, text)));
}

static void ignore(void *arg)
{
    (void)arg;
}

int dnsd_zones_start(struct daemon *d, void *arg, struct err_info *why)
{
    struct dnsd *app = obj_cast(arg, struct dnsd, DNSD_MAGIC);
    const struct options *o = daemon_options(d);
    app->daemon = d;
    TAILQ_INIT(&app->dumps);
    bool is_strict = strcmp(opt_text(o, OPT_MODE), "strict") == 0;
    struct zoneset_options zo = {.hash_seed = hash_bytes("zones", 5),
                                 .aliases = {is_strict ? on_alias : NULL, app}};
    int err = read_name(opt_text(o, OPT_DOMAIN), "hadoop.registry.dns.domain-name", app->domain, why);
    if (err)
        return err;
    if (!opt_is_set(o, OPT_TTL) && opt_is_set(o, OPT_TTL_MANUAL))
        log_emit0(&ev_dns_ttl_manual);
    err = lock_data(app, why);
    if (err)
        return err;
    app->zones = zoneset_new(&zo);
    app->writer = writer_new(daemon_loop(d), app->zones);
    dnsd_serials_start(app);
    struct masters_def def = {.loop = daemon_loop(d),
                              .zones = app->zones,
                              .writer = app->writer,
                              .dir = opt_text(o, OPT_ZONES_DIR),
                              .poll_ms = opt_ms(o, OPT_ZONES_POLL),
                              .serial = on_serial,
                              .rezone = on_rezone,
                              .changed = on_masters_changed,
                              .arg = app};
    app->masters = masters_new(&def);
    err = make_zones(app, why);
    if (!err) {
        dnsd_serials_begin(app);
        return 0;
    }
    masters_free(app->masters);
    dnsd_serials_free(app);
    writer_stop(app->writer, ignore, NULL); /* before the loop runs it is idle */
    zoneset_free(app->zones);
    unlock_data(app);
    return err;
}

static void on_writer_stopped(void *arg)
{
    struct dnsd *app = obj_cast(arg, struct dnsd, DNSD_MAGIC);
    zoneset_free(app->zones);
    unlock_data(app);
    daemon_stopped(app->daemon);
}

static void on_serials_stopped(void *arg)
{
    struct dnsd *app = obj_cast(arg, struct dnsd, DNSD_MAGIC);
    writer_stop(app->writer, on_writer_stopped, app);
}

void dnsd_zones_stop(struct daemon *d, void *arg)
{
    struct dnsd *app = obj_cast(arg, struct dnsd, DNSD_MAGIC);
    (void)d;
    masters_free(app->masters);
    dnsd_serials_stop(app, on_serials_stopped);
}

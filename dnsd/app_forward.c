#include "app.h"
#include "events.h"
#include "options.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"
#include "forward/events.h"
#include "json/writer.h"

#include <stdio.h>
#include <string.h>

#define RESOLV_CONF "/etc/resolv.conf"

static bool falls_through(const struct options *o)
{
    const char *word = opt_text(o, OPT_FALL_THROUGH);
    if (strcmp(word, "auto") != 0)
        return strcmp(word, "true") == 0;
    return strcmp(opt_text(o, OPT_MODE), "compat") == 0 &&
           (opt_bool(o, OPT_FORWARD) || opt_is_set(o, OPT_UPSTREAMS));
}

/** Would a query sent there come back to us? Knows the addresses we bind; takes a wildcard for loopback. */
static bool is_own(const struct options *o, const struct upstream *s)
{
    struct addr addr, own;
    uint16_t port;
    char *text;
    bool is_own_address = false;
    if (addr_from_sockaddr((const struct sockaddr *)&s->sa, &addr, &port) ||
        port != opt_int(o, OPT_BIND_PORT))
        return false;
    for (size_t i = 0; (text = str_field(opt_text(o, OPT_BIND_ADDRESS), ',', i)); i++) {
        bool is_wildcard = !strcmp(text, "0.0.0.0") || !strcmp(text, "::");
        if (is_wildcard ? addr_is_loopback(&addr) : !addr_read(text, &own) && addr_equal(&own, &addr))
            is_own_address = true;
        mem_free_ptr(&text);
    }
    return is_own_address;
}

/** Add one `nameserver` line's server, unless it is ourselves or there are enough. */
static void add_nameserver(const struct options *o, const char *line, struct upstreams *out)
{
    char address[ADDR_TEXT_MAX];
    struct upstreams one;
    if (sscanf(line, "nameserver %45s", address) != 1 || out->n_items == UPSTREAMS_MAX)
        return;
    if (!upstreams_read(address, &one, NULL) && one.n_items && !is_own(o, &one.items[0]))
        out->items[out->n_items++] = one.items[0];
}

/** Servers of the host's resolver; what cannot be read there (a scoped address) is left out. */
static void read_resolv_conf(const struct options *o, struct upstreams *out)
{
    char line[512];
    FILE *in = fopen(RESOLV_CONF, "re");
    out->n_items = 0;
    while (in && fgets(line, sizeof line, in))
        add_nameserver(o, line, out);
    if (in)
        fclose(in);
}

static int read_upstreams(const struct options *o, struct upstreams *out, struct err_info *why)
{
    const char *list = opt_text(o, OPT_UPSTREAMS);
    int err = 0;
    if (list)
        err = upstreams_read(list, out, why);
    else
        read_resolv_conf(o, out);
    if (!err && !out->n_items)
        err = err_set(why, ERR_CONFIG, list ? list : RESOLV_CONF, "there is no server to forward to");
    for (size_t i = 0; list && !err && i < out->n_items; i++)
        if (is_own(o, &out->items[i]))
            err = err_set(why, ERR_CONFIG, list, "dnsd cannot forward to itself");
    return err;
}

static int read_zone(const char *text, void *item)
{
    return name_from_text(text, strlen(text), item) < 0 ? ERR_PARSE : 0;
}

/** Domains at or below which names fall through. */
static int read_fall_through(const struct options *o, struct forward_options *out, struct err_info *why)
{
    static const struct list_kind kind = {"domain", "NAME", FORWARD_ZONES_MAX, NAME_MAX_LEN, read_zone};
    return list_read(opt_text(o, OPT_FALL_THROUGH_ZONES), &kind, out->fall_through, &out->n_fall_through,
                     why);
}

void dnsd_forward_check(const struct options *o, struct opt_report *report)
{
    struct upstreams upstreams;
    struct networks clients;
    struct forward_options fo;
    struct err_info why;
    if (read_fall_through(o, &fo, &why))
        opt_error(o, "hadoop.registry.dns.fallthrough.zones", &why, report);
    if (networks_read(opt_text(o, OPT_FORWARD_ACL), &clients, &why))
        opt_error(o, "hadoop.registry.dns.forward.acl", &why, report);
    bool is_wanted = opt_bool(o, OPT_FORWARD) || falls_through(o) || opt_is_set(o, OPT_UPSTREAMS);
    if (is_wanted && read_upstreams(o, &upstreams, &why))
        opt_error(o, "hadoop.registry.dns.upstreams", &why, report);
}

/** The negative TTL of our zones: what app_zones.c writes into their SOA. */
static uint32_t negative_ttl_s(const struct options *o)
{
    uint32_t minimum_s = (uint32_t)(opt_ms(o, OPT_SOA_MINIMUM) / 1000);
    uint32_t soa_ttl_s =
        opt_is_set(o, OPT_SOA_TTL) ? (uint32_t)(opt_ms(o, OPT_SOA_TTL) / 1000) : dnsd_ttl_s(o);
    if (opt_is_set(o, OPT_NEGATIVE_TTL))
        return (uint32_t)(opt_ms(o, OPT_NEGATIVE_TTL) / 1000);
    return soa_ttl_s < minimum_s ? soa_ttl_s : minimum_s;
}

static const struct outage_def upstream_outage = {"upstream",       &ev_forward_lost, &ev_forward_still_lost,
                                                  &ev_forward_back, M_UPSTREAM_UP,    M_UPSTREAM_SINCE};

int dnsd_forward_start(struct dnsd *app, struct net_options *opts, struct err_info *why)
{
    const struct options *o = daemon_options(app->daemon);
    struct forward_options fo = {.owner = daemon_loop(app->daemon),
                                 .outage = outage_new(daemon_outages(app->daemon), &upstream_outage),
                                 .timeout_ms = (unsigned)opt_ms(o, OPT_FORWARD_TIMEOUT),
                                 .max_under_way = (unsigned)opt_int(o, OPT_FORWARD_MAX),
                                 .cache_bytes = (size_t)opt_int(o, OPT_FORWARD_CACHE),
                                 .udp_max = (uint16_t)opt_int(o, OPT_UDP_MAX),
                                 .negative_ttl_s = negative_ttl_s(o),
                                 .ttl_most_s = (uint32_t)(opt_ms(o, OPT_FORWARD_TTL_MAX) / 1000),
                                 .ttl_most_negative_s =
                                     (uint32_t)(opt_ms(o, OPT_FORWARD_NEGATIVE_MAX) / 1000),
                                 .nsid = opts->answer.nsid,
                                 .nsid_len = opts->answer.nsid_len,
                                 .keepalive_100ms = (uint16_t)(opt_ms(o, OPT_TCP_IDLE) / 100)};
    opts->answer.can_forward = opt_bool(o, OPT_FORWARD);
    opts->answer.can_fall_through = falls_through(o);
    if (!opts->answer.can_forward && !opts->answer.can_fall_through)
        return 0;
    int err = networks_read(opt_text(o, OPT_FORWARD_ACL), &fo.clients, why);
    if (!err)
        err = read_fall_through(o, &fo, why);
    if (!err)
        err = read_upstreams(o, &fo.upstreams, why);
    if (!err)
        err = forward_new(&fo, &app->forward, why);
    if (!err)
        opts->taker = (struct net_taker){forward_take, app->forward};
    return err;
}

static void write_upstream(struct jw *w, const struct forward_upstream *s)
{
    struct addr addr;
    uint16_t port;
    char text[ADDR_TEXT_MAX];
    BUG_IF(addr_from_sockaddr((const struct sockaddr *)&s->at->sa, &addr, &port));
    jw_object(w);
    jw_kstr(w, "address", addr_text(&addr, text));
    jw_kint(w, "port", port);
    if (s->rtt_ms >= 0)
        jw_kint(w, "rttMs", s->rtt_ms);
    jw_kint(w, "failedInARow", s->n_failed);
    jw_object_end(w);
}

void dnsd_forward_write(const struct dnsd *app, struct jw *w)
{
    struct forward_counts counts;
    struct forward_upstream upstreams[UPSTREAMS_MAX];
    if (!app->forward)
        return;
    forward_counts_read(app->forward, &counts);
    size_t n = forward_upstreams_read(app->forward, upstreams);
    jw_key(w, "forward");
    jw_object(w);
#define COUNT(field, name, help) jw_kint(w, #field, (int64_t)counts.field);
    FORWARD_COUNTERS(COUNT)
#undef COUNT
    jw_kint(w, "under_way", (int64_t)counts.under_way);
    jw_kint(w, "cache_bytes", (int64_t)counts.cache_bytes);
    jw_object_end(w);
    jw_key(w, "upstreams");
    jw_array(w);
    for (size_t i = 0; i < n; i++)
        write_upstream(w, &upstreams[i]);
    jw_array_end(w);
}

#include "names/map_priv.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "bobbin/path.h"
#include "wire/rdata.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define YARN_API "classpath:org.apache.hadoop.yarn.service."

/*
 * Packed: "a", then four fields an endpoint: api fragment, host, port, "path=…" ("" where there is none). The fragment of an
 * api that Hadoop has no name for is prefixed with '?': it gets no name of its own. Ports of a container: four fields an
 * endpoint that has one: transport ("_tcp", "_udp"), api fragment, host, port.
 */

/* ---- packing ---- */

/* Text after the scheme of an api, as one label: [a-z0-9-]. */
static char *odd_fragment(const char *api)
{
    struct buf out = BUF_EMPTY;
    buf_add_char(&out, '?');
    for (; *api && out.len < 59; api++) {
        char c = (char)(*api >= 'A' && *api <= 'Z' ? *api + 32 : *api);
        bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        if (plain || (out.len > 1 && out.bytes[out.len - 1] != '-'))
            buf_add_char(&out, plain ? c : '-');
    }
    while (out.len > 1 && out.bytes[out.len - 1] == '-')
        out.bytes[--out.len] = 0;
    return buf_take(&out);
}

static char *fragment(const char *api)
{
    if (str_starts(api, "http://"))
        return mem_str("http");
    if (!str_starts(api, YARN_API) || !api[strlen(YARN_API)])
        return odd_fragment(api);
    char *f = mem_str(api + strlen(YARN_API));
    for (char *c = f; *c; c++)
        if (*c == '.')
            *c = '-';
    return f;
}

static void add_field(struct buf *out, const char *text, size_t n)
{
    buf_add(out, text, n);
    buf_add_char(out, 0);
}

/* host, port and path of a URI; anything it lacks is an empty field. */
static void pack_uri(const char *uri, struct buf *out)
{
    const char *slashes = uri ? strstr(uri, "://") : NULL;
    const char *authority = slashes ? slashes + 3 : NULL;
    size_t n = authority ? strcspn(authority, "/?#") : 0;
    const char *path = authority ? authority + n : "";
    mem_auto char *text = mem_strn(authority ? authority : "", n);
    const char *at = strrchr(text, '@');
    mem_auto char *host = NULL;
    uint16_t port = 0;
    if (addr_split_host_port(at ? at + 1 : text, 0, &host, &port))
        host = mem_str("");
    char number[8];
    int len = snprintf(number, sizeof number, "%u", port);
    add_field(out, host, strlen(host));
    add_field(out, number, port ? (size_t)len : 0);
    size_t path_len = strcspn(path, "?#");
    mem_auto char *decoded = mem_alloc(path_len + 1);
    int64_t k = str_unpercent(path, path_len, decoded);
    buf_add_str(out, "path=");
    if (k > 0 && !memchr(decoded, 0, (size_t)k))
        buf_add(out, decoded, (size_t)k);
    buf_add_char(out, 0);
}

static void pack_endpoint(const struct reg_endpoint *e, struct buf *out)
{
    mem_auto char *frag = fragment(e->api);
    const struct reg_address *a = &e->addresses[0];
    add_field(out, frag, strlen(frag));
    if (strcmp(e->address_type, "uri") == 0) {
        pack_uri(reg_address_get(a, "uri"), out);
        return;
    }
    bool is_host_port = strcmp(e->address_type, "host/port") == 0;
    const char *host = is_host_port ? reg_address_get(a, "host") : NULL;
    const char *port = is_host_port ? reg_address_get(a, "port") : NULL;
    add_field(out, host ? host : "", host ? strlen(host) : 0);
    add_field(out, port ? port : "", port ? strlen(port) : 0);
    add_field(out, "", 0);
}

void map_pack_service(const struct reg_record *record, struct buf *out)
{
    struct buf endpoints = BUF_EMPTY;
    for (size_t i = 0; i < record->external.n_items; i++)
        if (record->external.items[i].n_addresses)
            pack_endpoint(&record->external.items[i], &endpoints);
    if (endpoints.len) {
        add_field(out, "a", 1);
        buf_add(out, endpoints.bytes, endpoints.len);
    }
    buf_fini(&endpoints);
}

struct endpoint {
    const char *fragment, *host, *port;
    const char *path;      /* of an application's */
    const char *transport; /* of a container's */
    bool is_odd;
};

static bool next_endpoint(struct map_fields *fields, struct endpoint *e)
{
    e->fragment = map_field(fields);
    if (!e->fragment)
        return false;
    e->host = map_field(fields);
    e->port = map_field(fields);
    e->path = map_field(fields);
    if (!e->path) /* a block cut short */
        return false;
    e->is_odd = *e->fragment == '?';
    e->fragment += e->is_odd;
    return true;
}

static bool read_port(const struct endpoint *e, uint16_t *port)
{
    int64_t value;
    if (str_to_i64(e->port, 0, 65535, &value))
        return false;
    *port = (uint16_t)value;
    return true;
}

void map_pack_ports(const struct reg_record *record, struct buf *out)
{
    for (size_t i = 0; i < record->external.n_items; i++) {
        const struct reg_endpoint *in = &record->external.items[i];
        buf_auto struct buf one = BUF_EMPTY;
        struct endpoint e;
        uint16_t port;
        if (!in->n_addresses)
            continue;
        pack_endpoint(in, &one);
        if (!next_endpoint(&(struct map_fields){one.bytes, one.bytes + one.len}, &e) || !read_port(&e, &port))
            continue;
        add_field(out, strcasecmp(in->protocol_type, "udp") == 0 ? "_udp" : "_tcp", 4);
        add_field(out, one.bytes, strlen(one.bytes)); /* the fragment as it was packed */
        add_field(out, e.host, strlen(e.host));
        add_field(out, e.port, strlen(e.port));
    }
}

/* ---- producing ---- */

/* A name below S for an address that S itself does not have: ip-10-1-2-3.S, or the 32 digits of IPv6. */
static int address_name(struct map_run *run, const struct addr *a, const uint8_t *service, uint8_t *out)
{
    char text[64];
    int n = 0;
    if (a->family == AF_INET) {
        n = snprintf(text, sizeof text, "ip-%u-%u-%u-%u", a->bytes[0], a->bytes[1], a->bytes[2], a->bytes[3]);
    } else {
        n = snprintf(text, sizeof text, "ip-");
        for (int i = 0; i < 16; i++)
            n += snprintf(text + n, sizeof text - (size_t)n, "%02x", a->bytes[i]);
    }
    return n > 0 ? map_name(run, text, service, out) : ERR_PARSE;
}

/* What all names of one application record, or all ports of a container, share. */
struct service {
    uint8_t name[NAME_MAX_LEN]; /* S */
    const uint8_t *self;        /* name that has the hosts: S, or that of a container */
    struct map_hosts hosts;     /* addresses of self */
};

static bool has_address(const struct service *s, const struct addr *a)
{
    for (size_t i = 0; i < s->hosts.n_items; i++)
        if (addr_equal(a, &s->hosts.items[i]))
            return true;
    return false;
}

/* Where SRV points: self when the host is an address of its, a name for another address, the host's own name. */
static int srv_target(struct map_run *run, const struct service *s, const char *host, uint8_t *out)
{
    struct addr a;
    if (!*host)
        return (int)rdata_put_name(s->self, out);
    if (addr_read(host, &a)) {
        int len = map_is_host_name(host) ? name_from_text(host, strlen(host), out) : ERR_PARSE;
        if (len < 0)
            run->n_left_out++;
        return len;
    }
    if (has_address(s, &a))
        return (int)rdata_put_name(s->self, out);
    int len = address_name(run, &a, s->name, out);
    if (len > 0)
        map_emit_addr(run, out, &a);
    return len;
}

static void emit_endpoint(struct map_run *run, const struct service *s, const struct endpoint *e,
                          const uint8_t *owner)
{
    uint8_t target[NAME_MAX_LEN], rdata[NAME_MAX_LEN + 6];
    mem_auto char *api = mem_fmt("api=%s", e->fragment);
    uint16_t port;
    map_emit_txt(run, owner, api, *e->path ? e->path : NULL);
    if (!*e->host || !read_port(e, &port))
        return;
    if (srv_target(run, s, e->host, target) > 0)
        map_emit(run, owner, DNS_SRV, rdata, rdata_put_srv(1, 1, port, target, rdata));
}

/* Names of one endpoint: its records at S and, unless its api is odd, at E with S's address beside them, or a CNAME to S. */
static void produce_endpoint(struct map_run *run, const struct service *s, const struct endpoint *e)
{
    uint8_t name[NAME_MAX_LEN], target[NAME_MAX_LEN];
    emit_endpoint(run, s, e, s->name);
    if (e->is_odd)
        return;
    mem_auto char *label = mem_fmt("%s-api", e->fragment);
    if (map_name(run, label, s->name, name) < 0)
        return;
    emit_endpoint(run, s, e, name);
    if (run->options->has_api_cname)
        map_emit(run, name, DNS_CNAME, target, rdata_put_name(s->name, target));
    else
        map_emit_addrs(run, name, &s->hosts);
}

const char *map_service_host(struct map_fields fields)
{
    struct endpoint e;
    struct addr a;
    while (next_endpoint(&fields, &e))
        if (addr_read(e.host, &a) == 0 || map_is_host_name(e.host))
            return e.host;
    return NULL;
}

int map_service_name(struct map_run *run, const char *path, uint8_t *out)
{
    mem_auto char *user = reg_path_user(path);
    mem_auto char *last = reg_path_last(path);
    uint8_t under_user[NAME_MAX_LEN];
    int len = map_name(run, user, run->options->domain, under_user);
    return len < 0 ? len : map_name(run, last, under_user, out);
}

void map_produce_service(struct map_run *run, const char *path, struct map_fields fields)
{
    struct service s = {.hosts.n_items = 0};
    struct endpoint e;
    if (map_service_name(run, path, s.name) < 0)
        return;
    s.self = s.name;
    const char *host = map_service_host(fields);
    if (host)
        map_hosts_read(run, host, &s.hosts);
    if (!s.hosts.n_items)
        map_none(run, s.name,
                 host ? "the host name of the first endpoint has no address now"
                      : "no external endpoint has a host");
    map_emit_addrs(run, s.name, &s.hosts);
    while (next_endpoint(&fields, &e))
        produce_endpoint(run, &s, &e);
}

/* ---- ports of a container ---- */

/* SRV of one endpoint at `label` and the names behind it. */
static void emit_port(struct map_run *run, const struct map_instance *c, const char *label,
                      const uint8_t *rest, const uint8_t *srv, size_t len)
{
    uint8_t owner[NAME_MAX_LEN];
    struct zone_rr rr = {owner, DNS_SRV, map_ttl(run, DNS_SRV), srv, (uint16_t)len};
    if (map_name(run, label, rest, owner) > 0)
        map_emit_shared(run, &rr, c->is_ready);
}

static void produce_port(struct map_run *run, const struct map_instance *c, const struct service *s,
                         const struct endpoint *e, bool is_first)
{
    uint8_t target[NAME_MAX_LEN], srv[NAME_MAX_LEN + 6], component[NAME_MAX_LEN];
    mem_auto char *by_component = mem_fmt("_%s.%s", c->component, e->transport);
    mem_auto char *by_endpoint = mem_fmt("_%s.%s", e->fragment, e->transport);
    uint16_t port;
    if (!read_port(e, &port) || srv_target(run, s, e->host, target) < 0)
        return;
    size_t len = rdata_put_srv(1, 1, port, target, srv);
    if (is_first)
        emit_port(run, c, by_component, c->service, srv, len);
    if (!e->is_odd && map_name(run, c->component, c->service, component) > 0)
        emit_port(run, c, by_endpoint, component, srv, len);
}

/* Say at the component's SRV name that there is no port. */
static void tell_no_port(struct map_run *run, const struct map_instance *c)
{
    uint8_t name[NAME_MAX_LEN];
    mem_auto char *label = mem_fmt("_%s._tcp", c->component);
    unsigned n_left_out = run->n_left_out;
    if (run->sink->none && map_name(run, label, c->service, name) > 0)
        map_none(run, name, "the container record has no external endpoint with a port");
    run->n_left_out = n_left_out;
}

void map_produce_ports(struct map_run *run, const struct map_instance *c, struct map_fields fields)
{
    struct service s = {.self = c->self, .hosts = *c->hosts};
    struct endpoint e = {.fragment = NULL};
    bool is_first = true;
    if (!c->component)
        return;
    rdata_put_name(c->service, s.name);
    while ((e.transport = map_field(&fields)) && (e.fragment = map_field(&fields)) &&
           (e.host = map_field(&fields)) && (e.port = map_field(&fields))) {
        e.is_odd = *e.fragment == '?';
        e.fragment += e.is_odd;
        produce_port(run, c, &s, &e, is_first);
        is_first = false;
    }
    if (is_first)
        tell_no_port(run, c);
}

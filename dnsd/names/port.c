#include "names/port.h"
#include "base/buf.h"
#include "base/mem.h"
#include "bobbin/error.h"
#include "wire/rdata.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

/* ---- SRV ---- */

/* A name below S for an address that the record itself does not have: ip-10-1-2-3.S, or the 32 digits of IPv6. */
static int address_name(struct emit *e, const struct addr *a, const uint8_t *service, uint8_t *out)
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
    return n > 0 ? emit_name(e, text, service, out) : ERR_PARSE;
}

/* The name an SRV record points to. @return its length; or ERR_PARSE. */
static int srv_target(struct emit *e, const struct srv_place *s, const char *host, uint8_t *out)
{
    struct addr a;
    if (!*host)
        return (int)rdata_put_name(s->self, out);
    if (addr_read(host, &a)) {
        int len = addresses_is_host_name(host) ? name_from_text(host, strlen(host), out) : ERR_PARSE;
        if (len < 0)
            e->n_left_out++;
        return len;
    }
    if (addresses_contain(s->addresses, &a))
        return (int)rdata_put_name(s->self, out);
    struct addresses one = {{a}, 1};
    int len = address_name(e, &a, s->service, out);
    if (len > 0)
        emit_addresses(e, out, &one);
    return len;
}

size_t srv_make(struct emit *e, const struct srv_place *s, const struct endpoint *endpoint, uint8_t *out)
{
    uint8_t target[NAME_MAX_LEN];
    uint16_t port;
    if (!endpoint_port(endpoint, &port) || srv_target(e, s, endpoint->host, target) <= 0)
        return 0;
    return rdata_put_srv(1, 1, port, target, out);
}

/* ---- ports of a container ---- */

void ports_pack(const struct reg_record *record, struct buf *out)
{
    for (size_t i = 0; i < record->external.n_items; i++) {
        const struct reg_endpoint *in = &record->external.items[i];
        buf_auto struct buf one = BUF_EMPTY;
        struct endpoint endpoint;
        uint16_t port;
        if (!in->n_addresses)
            continue;
        endpoint_pack(in, &one);
        struct block fields = {one.bytes, one.bytes + one.len};
        if (!endpoint_next(&fields, &endpoint) || !endpoint_port(&endpoint, &port))
            continue;
        block_add(out, strcasecmp(in->protocol_type, "udp") == 0 ? "_udp" : "_tcp");
        /* The fragment as it was packed; an api that is a label already is no odd one here: a port is called by it. */
        block_add(out, one.bytes + (one.bytes[0] == '?' && strcmp(one.bytes + 1, in->api) == 0));
        block_add(out, endpoint.host);
        block_add(out, endpoint.port);
    }
}

static bool next_port(struct block *fields, struct endpoint *out)
{
    out->transport = block_next(fields);
    const char *fragment = block_next(fields);
    out->host = block_next(fields);
    out->port = block_next(fields);
    if (!out->port)
        return false;
    endpoint_set_fragment(out, fragment);
    return true;
}

/* SRV of a port at its two names. */
static void emit_port(struct emit *e, const struct srv_place *s, const char *component, bool is_ready,
                      const struct endpoint *port, bool is_first)
{
    uint8_t srv[SRV_MAX], owner[NAME_MAX_LEN], below[NAME_MAX_LEN];
    mem_auto char *by_component = mem_fmt("_%s.%s", component, port->transport);
    mem_auto char *by_fragment = mem_fmt("_%s.%s", port->fragment, port->transport);
    size_t len = srv_make(e, s, port, srv);
    if (!len)
        return;
    if (is_first && emit_name(e, by_component, s->service, owner) > 0)
        emit_shared_rr(e, owner, DNS_SRV, srv, len, is_ready);
    if (!port->is_odd && emit_name(e, component, s->service, below) > 0 &&
        emit_name(e, by_fragment, below, owner) > 0)
        emit_shared_rr(e, owner, DNS_SRV, srv, len, is_ready);
}

static void emit_no_port(struct emit *e, const struct srv_place *s, const char *component)
{
    uint8_t name[NAME_MAX_LEN];
    mem_auto char *label = mem_fmt("_%s._tcp", component);
    unsigned n_left_out = e->n_left_out;
    if (e->sink->none && emit_name(e, label, s->service, name) > 0)
        emit_none(e, name, DNS_SRV,
                  "the container record has no external endpoint with a port of 0 to 65535");
    e->n_left_out = n_left_out; /* nobody asked for this name */
}

void ports_emit(struct emit *e, const struct srv_place *s, const char *component, bool is_ready,
                struct block fields)
{
    struct endpoint port = {.path = ""};
    bool is_first = true;
    for (; next_port(&fields, &port); is_first = false)
        emit_port(e, s, component, is_ready, &port, is_first);
    if (is_first)
        emit_no_port(e, s, component);
}

#include "names/application.h"
#include "base/buf.h"
#include "base/mem.h"
#include "bobbin/path.h"
#include "names/endpoint.h"
#include "names/port.h"
#include "wire/rdata.h"

#include <stdlib.h>

bool application_pack(const struct reg_record *record, struct buf *out)
{
    buf_auto struct buf endpoints = BUF_EMPTY;
    for (size_t i = 0; i < record->external.n_items; i++)
        if (record->external.items[i].n_addresses)
            endpoint_pack(&record->external.items[i], &endpoints);
    if (!endpoints.len)
        return false;
    block_begin(out, BLOCK_APPLICATION);
    buf_add(out, endpoints.bytes, endpoints.len);
    return true;
}

const char *application_host(struct block fields)
{
    struct endpoint endpoint;
    struct addr a;
    while (endpoint_next(&fields, &endpoint))
        if (addr_read(endpoint.host, &a) == 0 || addresses_is_host_name(endpoint.host))
            return endpoint.host;
    return NULL;
}

int application_name(struct emit *e, const char *path, uint8_t *out)
{
    mem_auto char *user = reg_path_user(path);
    mem_auto char *last = reg_path_last(path);
    uint8_t under_user[NAME_MAX_LEN];
    int len = emit_name(e, user, e->options->domain, under_user);
    return len < 0 ? len : emit_name(e, last, under_user, out);
}

/* TXT and SRV of an endpoint at one of its two names. */
static void emit_endpoint_at(struct emit *e, const struct srv_place *s, const struct endpoint *endpoint,
                             const uint8_t *owner)
{
    uint8_t srv[SRV_MAX];
    mem_auto char *api = mem_fmt("api=%s", endpoint->fragment);
    emit_txt(e, owner, api, *endpoint->path ? endpoint->path : NULL);
    size_t len = *endpoint->host ? srv_make(e, s, endpoint, srv) : 0;
    if (len)
        emit_rr(e, owner, DNS_SRV, srv, len);
    else
        emit_none(e, owner, DNS_SRV, "the endpoint has no host, or no port of 0 to 65535");
}

/* The records of an endpoint at S and, unless its api is odd, at E with S's addresses beside them, or a CNAME to S. */
static void emit_endpoint(struct emit *e, const struct srv_place *s, const struct endpoint *endpoint)
{
    uint8_t name[NAME_MAX_LEN], target[NAME_MAX_LEN];
    emit_endpoint_at(e, s, endpoint, s->service);
    if (endpoint->is_odd)
        return;
    mem_auto char *label = mem_fmt("%s-api", endpoint->fragment);
    if (emit_name(e, label, s->service, name) < 0)
        return;
    emit_endpoint_at(e, s, endpoint, name);
    if (e->options->has_api_cname)
        emit_rr(e, name, DNS_CNAME, target, rdata_put_name(s->service, target));
    else
        emit_addresses(e, name, s->addresses);
}

void application_emit(struct emit *e, const char *path, struct block fields)
{
    uint8_t name[NAME_MAX_LEN];
    struct addresses addresses = {.n_items = 0};
    struct srv_place s = {.service = name, .self = name, .addresses = &addresses};
    struct endpoint endpoint;
    if (application_name(e, path, name) < 0)
        return;
    const char *host = application_host(fields);
    if (host)
        addresses_read(e->options, host, &addresses);
    if (!addresses.n_items)
        emit_none(e, name, 0,
                  host ? "the host name of the first endpoint has no address now"
                       : "no external endpoint has a host");
    emit_addresses(e, name, &addresses);
    while (endpoint_next(&fields, &endpoint))
        emit_endpoint(e, &s, &endpoint);
}

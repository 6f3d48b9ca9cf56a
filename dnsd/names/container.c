#include "names/container.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "bobbin/path.h"
#include "names/port.h"
#include "names/reverse.h"
#include "wire/rdata.h"

#include <stdlib.h>
#include <string.h>

/* ---- the block ---- */

/* The first address of a list, trimmed; NULL when there is none. */
static char *first_ip(const char *ip)
{
    char *first = ip ? str_field(ip, ',', 0) : NULL;
    if (first && !*first)
        mem_free_ptr(&first);
    return first;
}

bool container_pack(const struct reg_record *record, struct buf *out)
{
    mem_auto char *ip = first_ip(reg_record_get(record, "yarn:ip"));
    const char *ready = reg_record_get(record, MAP_READY);
    if (!ip)
        return false;
    block_begin(out, BLOCK_CONTAINER);
    block_add(out, record->description);
    block_add(out, reg_record_get(record, "yarn:component"));
    block_add(out, ip);
    block_add(out, reg_record_get(record, "yarn:id"));
    block_add(out, reg_record_get(record, "yarn:hostname") ? "h" : NULL);
    block_add(out, ready && strcmp(ready, "false") == 0 ? NULL : "r");
    ports_pack(record, out);
    return true;
}

const char *container_host(struct block fields)
{
    block_next(&fields);
    block_next(&fields);
    return block_next(&fields);
}

/* ---- names ---- */

struct container {
    char *description, *component; /* lower case, NULL where absent */
    const char *id;
    bool has_hostname, is_ready, has_service_name;
    struct addresses addresses;
    uint8_t x[NAME_MAX_LEN], service[NAME_MAX_LEN]; /* X; S */
    bool has_x, has_service;
};

static void container_fini(struct container *c)
{
    free(c->description);
    free(c->component);
}

#define container_auto __attribute__((cleanup(container_fini)))

static char *lower_copy(const char *field)
{
    char *copy = mem_str(field);
    if (copy)
        str_lower(copy);
    return copy;
}

static void read_labels(struct block *fields, struct container *c)
{
    c->description = lower_copy(block_next_present(fields));
    c->component = lower_copy(block_next_present(fields));
}

/* Names that the path gives: the service is the element above the parent, its class the one above. */
static void read_path(struct emit *e, const char *path, struct container *c)
{
    size_t n;
    char **elements = reg_path_split(path, &n);
    mem_auto char *user = reg_path_user(path);
    uint8_t under_user[NAME_MAX_LEN];
    c->has_x = n && emit_name(e, elements[n - 1], e->options->domain, c->x) > 0;
    if (n < 3)
        e->n_left_out++;
    else
        c->has_service = emit_name(e, user, e->options->domain, under_user) > 0 &&
                         emit_name(e, elements[n - 3], under_user, c->service) > 0;
    c->has_service_name = e->options->has_service_names && c->has_service && n >= 4 &&
                          strcmp(elements[n - 4], "yarn-service") == 0;
    reg_path_split_free(elements);
}

/* ---- records ---- */

static void emit_instance(struct emit *e, const uint8_t *name, const struct container *c)
{
    mem_auto char *text = mem_fmt("id=%s", c->id ? c->id : "null");
    uint8_t reverse[NAME_MAX_LEN], target[NAME_MAX_LEN];
    emit_addresses(e, name, &c->addresses);
    emit_txt(e, name, text, NULL);
    for (size_t i = 0; i < c->addresses.n_items; i++) {
        if (reverse_name(&c->addresses.items[i], reverse) <= 0)
            continue;
        if (c->has_hostname)
            emit_rr(e, reverse, DNS_PTR, target, rdata_put_name(name, target));
        else
            emit_none(e, reverse, DNS_PTR, "its container record has no yarn:hostname, which a PTR needs");
    }
}

static void emit_names(struct emit *e, const struct container *c, struct block ports)
{
    uint8_t name[NAME_MAX_LEN];
    struct srv_place place = {c->service, c->x, &c->addresses};
    if (c->has_x)
        emit_addresses(e, c->x, &c->addresses);
    if (!c->has_service)
        return;
    if (c->component && emit_name(e, c->component, c->service, name) > 0)
        emit_shared_addresses(e, name, &c->addresses, c->is_ready);
    if (c->has_service_name)
        emit_shared_addresses(e, c->service, &c->addresses, c->is_ready);
    if (c->description && emit_name(e, c->description, c->service, name) > 0) {
        emit_instance(e, name, c);
        place.self = name;
    }
    bool has_self = place.self == name || c->has_x;
    if (e->options->has_port_names && has_self && c->component)
        ports_emit(e, &place, c->component, c->is_ready, ports);
}

static void emit_reason(struct emit *e, const struct container *c, const char *reason)
{
    uint8_t name[NAME_MAX_LEN];
    if (c->has_x)
        emit_none(e, c->x, 0, reason);
    if (c->has_service_name)
        emit_none(e, c->service, 0, reason);
    if (c->has_service && c->component && emit_name(e, c->component, c->service, name) > 0)
        emit_none(e, name, 0, reason);
    if (c->has_service && c->description && emit_name(e, c->description, c->service, name) > 0)
        emit_none(e, name, 0, reason);
}

void container_emit(struct emit *e, const char *path, struct block fields)
{
    container_auto struct container c = {.has_x = false};
    const struct map_options *o = e->options;
    read_labels(&fields, &c);
    const char *ip = block_next(&fields);
    c.id = block_next_present(&fields);
    c.has_hostname = block_next_present(&fields) != NULL;
    c.is_ready = block_next_present(&fields) != NULL;
    if (c.component && o->component_ttl)
        e->has_own_ttl = o->component_ttl(o->ttl_arg, c.component, &e->ttl_s);
    read_path(e, path, &c);
    if (!ip) /* a block cut short */
        return;
    if (!addresses_read(o, ip, &c.addresses)) {
        e->n_left_out++;
        emit_reason(e, &c, "yarn:ip is neither an address nor a host name");
        return;
    }
    if (!c.addresses.n_items)
        emit_reason(e, &c, "yarn:ip is a host name that has no address now");
    emit_names(e, &c, fields);
}

void container_emit_none(struct emit *e, const char *path, struct block fields, const char *reason)
{
    container_auto struct container c = {.has_x = false};
    read_labels(&fields, &c);
    read_path(e, path, &c);
    emit_reason(e, &c, reason);
}

/**
 * Records as objects: making, changing, comparing, and the endpoint builders. See record.h.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/nearest.h"
#include "base/obj.h"
#include "base/str.h"
#include "bobbin/record.h"
#include "registry/record_priv.h"
#include "registry/record_java.h"

/* ---- life ---- */

struct reg_record *reg_record_new(void)
{
    struct reg_record *r = mem_new(struct reg_record);

    r->type = mem_str(REG_RECORD_TYPE);
    return r;
}

void record_pairs_free(struct reg_pair *pairs, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        free(pairs[i].key);
        free(pairs[i].value);
    }
    free(pairs);
}

void reg_endpoint_fini(struct reg_endpoint *e)
{
    free(e->api);
    free(e->address_type);
    free(e->protocol_type);
    for (size_t i = 0; i < e->n_addresses; i++)
        record_pairs_free(e->addresses[i].pairs, e->addresses[i].n_pairs);
    free(e->addresses);
    *e = (struct reg_endpoint){0};
}

void record_endpoints_clear(struct reg_endpoints *list)
{
    for (size_t i = 0; i < list->n_items; i++)
        reg_endpoint_fini(&list->items[i]);
    free(list->items);
    *list = (struct reg_endpoints){0};
}

void reg_record_free(struct reg_record *r)
{
    if (!r)
        return;
    free(r->type);
    free(r->description);
    record_endpoints_clear(&r->external);
    record_endpoints_clear(&r->internal);
    record_pairs_free(r->attributes, r->n_attributes);
    free(r);
}

/* ---- growing arrays: room doubles at powers of two ---- */

void *record_array_room(void *items, size_t n_items, size_t item_size)
{
    if (n_items & (n_items - 1))
        return items;
    return mem_resize(items, n_items ? n_items * 2 : 1, item_size);
}

void record_pairs_add(struct reg_pair **pairs, size_t *n, char *take_key, char *take_value)
{
    *pairs = record_array_room(*pairs, *n, sizeof **pairs);
    (*pairs)[(*n)++] = (struct reg_pair){take_key, take_value};
}

/* ---- copy ---- */

static struct reg_pair *copy_pairs(const struct reg_pair *from, size_t n)
{
    struct reg_pair *pairs = NULL;
    size_t n_pairs = 0;

    for (size_t i = 0; i < n; i++)
        record_pairs_add(&pairs, &n_pairs, mem_str(from[i].key), mem_str(from[i].value));
    return pairs;
}

static void copy_endpoint(const struct reg_endpoint *from, struct reg_endpoint *to)
{
    *to = (struct reg_endpoint){mem_str(from->api), mem_str(from->address_type), mem_str(from->protocol_type),
                                mem_array(from->n_addresses + 1, sizeof(struct reg_address)),
                                from->n_addresses};
    for (size_t i = 0; i < from->n_addresses; i++) {
        const struct reg_address *a = &from->addresses[i];

        to->addresses[i] = (struct reg_address){copy_pairs(a->pairs, a->n_pairs), a->n_pairs};
    }
}

static void copy_endpoints(const struct reg_endpoints *from, struct reg_endpoints *to)
{
    to->absent = from->absent;
    for (size_t i = 0; i < from->n_items; i++) {
        to->items = record_array_room(to->items, to->n_items, sizeof *to->items);
        copy_endpoint(&from->items[i], &to->items[to->n_items++]);
    }
}

struct reg_record *reg_record_copy(const struct reg_record *r)
{
    struct reg_record *copy = mem_new(struct reg_record);

    copy->type = mem_str(r->type);
    copy->description = mem_str(r->description);
    copy_endpoints(&r->external, &copy->external);
    copy_endpoints(&r->internal, &copy->internal);
    copy->attributes = copy_pairs(r->attributes, r->n_attributes);
    copy->n_attributes = r->n_attributes;
    return copy;
}

/* ---- equality ---- */

static bool equal_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/** The same pairs in any order; keys do not repeat. */
static bool equal_pairs(const struct reg_pair *a, size_t n_a, const struct reg_pair *b, size_t n_b)
{
    struct map by_key = MAP_EMPTY;
    bool equal = n_a == n_b;

    for (size_t i = 0; equal && i < n_a; i++)
        map_set(&by_key, a[i].key, (void *)&a[i]);
    for (size_t i = 0; equal && i < n_b; i++) {
        const struct reg_pair *other = map_get(&by_key, b[i].key);

        equal = other && equal_text(other->value, b[i].value);
    }
    map_fini(&by_key, NULL);
    return equal;
}

static bool equal_endpoint(const struct reg_endpoint *a, const struct reg_endpoint *b)
{
    bool equal = equal_text(a->api, b->api) && equal_text(a->address_type, b->address_type) &&
                 equal_text(a->protocol_type, b->protocol_type) && a->n_addresses == b->n_addresses;

    for (size_t i = 0; equal && i < a->n_addresses; i++)
        equal = equal_pairs(a->addresses[i].pairs, a->addresses[i].n_pairs, b->addresses[i].pairs,
                            b->addresses[i].n_pairs);
    return equal;
}

static bool equal_endpoints(const struct reg_endpoints *a, const struct reg_endpoints *b)
{
    bool equal = a->n_items == b->n_items;

    for (size_t i = 0; equal && i < a->n_items; i++)
        equal = equal_endpoint(&a->items[i], &b->items[i]);
    return equal;
}

bool reg_record_equal(const struct reg_record *a, const struct reg_record *b)
{
    return equal_text(a->type, b->type) && equal_text(a->description, b->description) &&
           equal_endpoints(&a->external, &b->external) && equal_endpoints(&a->internal, &b->internal) &&
           equal_pairs(a->attributes, a->n_attributes, b->attributes, b->n_attributes);
}

/* ---- attributes ---- */

bool record_name_reserved(const char *key)
{
    return strcmp(key, "type") == 0 || strcmp(key, "description") == 0 || strcmp(key, "external") == 0 ||
           strcmp(key, "internal") == 0;
}

const char *reg_record_get(const struct reg_record *r, const char *key)
{
    for (size_t i = 0; i < r->n_attributes; i++)
        if (strcmp(r->attributes[i].key, key) == 0)
            return r->attributes[i].value;
    return NULL;
}

int reg_record_set(struct reg_record *r, const char *key, const char *value, struct err_info *why)
{
    if (!key || !value)
        return err_set(why, ERR_INVALID, key, "an attribute needs a name and a value");
    if (record_name_reserved(key))
        return err_set(why, ERR_RECORD, key, "\"%s\" is a field of the record, not an attribute", key);
    for (size_t i = 0; i < r->n_attributes; i++) {
        if (strcmp(r->attributes[i].key, key) != 0)
            continue;
        free(r->attributes[i].value);
        r->attributes[i].value = mem_str(value);
        return 0;
    }
    record_pairs_add(&r->attributes, &r->n_attributes, mem_str(key), mem_str(value));
    return 0;
}

void reg_record_describe(struct reg_record *r, const char *description)
{
    free(r->description);
    r->description = mem_str(description);
}

/* ---- endpoints ---- */

static const struct reg_endpoint *find_endpoint(const struct reg_endpoints *list, const char *api)
{
    for (size_t i = 0; i < list->n_items; i++)
        if (equal_text(list->items[i].api, api))
            return &list->items[i];
    return NULL;
}

const struct reg_endpoint *reg_record_external(const struct reg_record *r, const char *api)
{
    return find_endpoint(&r->external, api);
}

const struct reg_endpoint *reg_record_internal(const struct reg_record *r, const char *api)
{
    return find_endpoint(&r->internal, api);
}

static int add_endpoint(struct reg_endpoints *list, struct reg_endpoint *take_e, struct err_info *why)
{
    int err = record_check_endpoint(take_e, NULL, why);

    if (err)
        return err;
    list->items = record_array_room(list->items, list->n_items, sizeof *list->items);
    list->items[list->n_items++] = *take_e;
    list->absent = false;
    *take_e = (struct reg_endpoint){0};
    return 0;
}

int reg_record_add_external(struct reg_record *r, struct reg_endpoint *take_e, struct err_info *why)
{
    return add_endpoint(&r->external, take_e, why);
}

int reg_record_add_internal(struct reg_record *r, struct reg_endpoint *take_e, struct err_info *why)
{
    return add_endpoint(&r->internal, take_e, why);
}

/* ---- builders ---- */

static void add_address(struct reg_endpoint *e, const struct reg_pair *pairs, size_t n)
{
    mem_auto size_t *order = java_map_order(pairs, n, 1);
    struct reg_address *a;

    e->addresses = record_array_room(e->addresses, e->n_addresses, sizeof *e->addresses);
    a = &e->addresses[e->n_addresses++];
    *a = (struct reg_address){NULL, 0};
    for (size_t i = 0; i < n; i++)
        record_pairs_add(&a->pairs, &a->n_pairs, mem_str(pairs[order[i]].key),
                         mem_str(pairs[order[i]].value));
}

void reg_endpoint_uri(struct reg_endpoint *e, const char *api, const char *protocol, const char *const *uris)
{
    *e = (struct reg_endpoint){mem_str(api), mem_str("uri"), mem_str(protocol), NULL, 0};
    for (; uris && *uris; uris++) {
        char key[] = "uri";
        struct reg_pair pair = {key, (char *)(uintptr_t)*uris};

        add_address(e, &pair, 1);
    }
}

void reg_endpoint_rest(struct reg_endpoint *e, const char *api, const char *const *uris)
{
    reg_endpoint_uri(e, api, "REST", uris);
}

void reg_endpoint_web(struct reg_endpoint *e, const char *api, const char *const *uris)
{
    reg_endpoint_uri(e, api, "webui", uris);
}

void reg_endpoint_inet(struct reg_endpoint *e, const char *api, const char *protocol, const char *host,
                       int port)
{
    char host_key[] = "host", port_key[] = "port";
    mem_auto char *host_text = mem_str(host);
    mem_auto char *port_text = mem_fmt("%d", port);
    struct reg_pair pairs[] = {{host_key, host_text}, {port_key, port_text}};

    *e = (struct reg_endpoint){mem_str(api), mem_str("host/port"), mem_str(protocol), NULL, 0};
    add_address(e, pairs, 2);
}

void reg_endpoint_ipc(struct reg_endpoint *e, const char *api, const char *host, int port)
{
    if (host)
        reg_endpoint_inet(e, api, "hadoop/IPC", host, port);
    else
        *e = (struct reg_endpoint){mem_str(api), mem_str("host/port"), mem_str("hadoop/IPC"), NULL, 0};
}

const char *reg_address_get(const struct reg_address *a, const char *key)
{
    for (size_t i = 0; i < a->n_pairs; i++)
        if (strcmp(a->pairs[i].key, key) == 0)
            return a->pairs[i].value;
    return NULL;
}

/* ---- persistence ---- */

static const char *const persistences[] = {"permanent", "application", "application-attempt", "container",
                                           "application_attempt"};
#define PERSISTENCES "permanent, application, application-attempt or container"

int reg_record_check_persistence(const struct reg_record *r, struct err_info *why)
{
    const char *persistence = reg_record_get(r, "yarn:persistence");

    if (!persistence)
        return err_set(why, ERR_NOTFOUND, "/yarn:persistence",
                       "the record has no yarn:persistence, so it has no DNS name and no clean-up removes "
                       "it: set it to " PERSISTENCES);
    for (size_t i = 0; i < ARRAY_LEN(persistences); i++)
        if (strcmp(persistence, persistences[i]) == 0)
            return 0;
    const char *meant = nearest_of(persistence, persistences, ARRAY_LEN(persistences));
    return err_set(why, ERR_INVALID, "/yarn:persistence",
                   "yarn:persistence \"%.60s\" is not one of " PERSISTENCES "%s%s%s", persistence,
                   meant ? ", did you mean \"" : "", meant ? meant : "", meant ? "\"?" : "");
}

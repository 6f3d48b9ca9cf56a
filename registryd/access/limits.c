#include "access/limits.h"
#include "registryd/options.h"
#include "base/str.h"
#include "json/scan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Open levels of a text that is called JSON; a record has fewer. */
#define DEPTH_MAX 2048

#define KEY_OF(id, key, ...) [id] = key,
static const char *const keys[] = {REGISTRYD_LIMITS(KEY_OF)};

/* Where a check stands: what is checked against, and the endpoint it is at. */
struct check {
    const struct options *o;
    struct err_info *why;
    const char *list; /* "external" or "internal" */
    size_t index;
};

static int at_most(const struct check *c, int id, size_t n, const char *where, const char *what)
{
    if ((int64_t)n <= opt_int(c->o, id))
        return 0;
    return err_set(c->why, ERR_RECORD, where, "%zu %s, more than the %" PRId64 " that %s allows", n, what,
                   opt_int(c->o, id), keys[id]);
}

static size_t length(const char *text)
{
    return text ? strlen(text) : 0;
}

static int check_text(const struct check *c, int id, const char *text, const char *member)
{
    char where[64];
    snprintf(where, sizeof where, "/%s/%zu/%s", c->list, c->index, member);
    return at_most(c, id, length(text), where, "bytes");
}

static int check_addresses(const struct check *c, const struct reg_endpoint *e)
{
    char where[64];
    snprintf(where, sizeof where, "/%s/%zu/addresses", c->list, c->index);
    int err = at_most(c, LIMIT_ADDRESSES, e->n_addresses, where, "addresses");
    for (size_t i = 0; !err && i < e->n_addresses; i++) {
        const struct reg_address *a = &e->addresses[i];
        snprintf(where, sizeof where, "/%s/%zu/addresses/%zu", c->list, c->index, i);
        for (size_t k = 0; !err && k < a->n_pairs; k++) {
            err = at_most(c, LIMIT_ADDRESS, length(a->pairs[k].key), where, "bytes in a key");
            err = err ? err : at_most(c, LIMIT_ADDRESS, length(a->pairs[k].value), where, "bytes");
        }
    }
    return err;
}

static int check_endpoints(struct check *c, const char *list, const struct reg_endpoints *endpoints)
{
    int err = 0;
    c->list = list;
    for (c->index = 0; !err && c->index < endpoints->n_items; c->index++) {
        const struct reg_endpoint *e = &endpoints->items[c->index];
        err = check_text(c, LIMIT_API, e->api, "api");
        err = err ? err : check_text(c, LIMIT_ADDRESS_TYPE, e->address_type, "addressType");
        err = err ? err : check_text(c, LIMIT_PROTOCOL_TYPE, e->protocol_type, "protocolType");
        err = err ? err : check_addresses(c, e);
    }
    return err;
}

int limits_check(const struct options *o, const struct reg_checked *checked, struct err_info *why)
{
    struct check c = {.o = o, .why = why};
    const struct reg_record *record = checked->record;
    size_t n_endpoints = record->external.n_items + record->internal.n_items;
    int err = at_most(&c, LIMIT_RECORD, checked->len, "", "bytes of canonical record");
    err = err ? err : at_most(&c, LIMIT_DESCRIPTION, length(record->description), "/description", "bytes");
    err = err ? err : at_most(&c, LIMIT_ATTRIBUTES, record->n_attributes, "", "attributes");
    err = err ? err : at_most(&c, LIMIT_ENDPOINTS, n_endpoints, "", "endpoints");
    err = err ? err : check_endpoints(&c, "external", &record->external);
    return err ? err : check_endpoints(&c, "internal", &record->internal);
}

int limits_read(const struct options *o, const char *bytes, size_t len, struct reg_checked *out,
                struct err_info *why)
{
    struct reg_checked checked;
    int err = reg_checked_read(bytes, len, REG_LENIENT, &checked, why);
    if (err) {
        struct err_info malformed;
        if (!js_check(bytes, len, DEPTH_MAX, &malformed))
            return err;
        *why = malformed; /* it is no record because it is no JSON */
        return ERR_JSON;
    }
    err = limits_check(o, &checked, why);
    if (err)
        reg_checked_fini(&checked);
    else
        *out = checked;
    return err;
}

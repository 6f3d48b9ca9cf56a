/**
 * Checking and writing records: Hadoop 3's compact bytes. See record.h.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "bobbin/record.h"
#include "json/writer.h"
#include "registry/record_priv.h"
#include "registry/record_java.h"

/* ---- check ---- */

/** UTF-8, or a lone surrogate in 3-byte form, which the reader keeps and the writer escapes. */
static bool text_writable(const char *s)
{
    const unsigned char *u = (const unsigned char *)s;
    size_t left = s ? strlen(s) : 0;

    while (left > 0) {
        uint32_t cp;
        size_t n = utf8_next((const char *)u, left, &cp);

        if (n == 0 && left >= 3 && u[0] == 0xed && (u[1] & 0xe0) == 0xa0 && (u[2] & 0xc0) == 0x80)
            n = 3;
        if (n == 0)
            return false;
        u += n;
        left -= n;
    }
    return true;
}

static int check_field(const char *value, const char *where, const char *name, struct err_info *why)
{
    if (!value)
        return err_set(why, ERR_RECORD, where, "null %s field", name);
    if (!text_writable(value))
        return err_set(why, ERR_RECORD, where, "%s field is not UTF-8", name);
    return 0;
}

static int check_address(const struct reg_address *a, const char *where, struct err_info *why)
{
    for (size_t i = 0; i < a->n_pairs; i++)
        if (!a->pairs[i].key || !text_writable(a->pairs[i].key) || !text_writable(a->pairs[i].value))
            return err_set(why, ERR_RECORD, where, "null key or text that is not UTF-8 in address");
    return 0;
}

int record_check_endpoint(const struct reg_endpoint *e, const char *where, struct err_info *why)
{
    int err = check_field(e->api, where, "API", why);

    if (!err)
        err = check_field(e->address_type, where, "addressType", why);
    if (!err)
        err = check_field(e->protocol_type, where, "protocolType", why);
    for (size_t i = 0; i < e->n_addresses && !err; i++)
        err = check_address(&e->addresses[i], where, why);
    return err;
}

static int check_endpoints(const struct reg_endpoints *list, const char *name, struct err_info *why)
{
    int err = 0;

    for (size_t i = 0; i < list->n_items && !err; i++) {
        mem_auto char *where = mem_fmt("/%s/%zu", name, i);

        err = record_check_endpoint(&list->items[i], where, why);
    }
    return err;
}

static int check_attributes(const struct reg_record *r, struct err_info *why)
{
    for (size_t i = 0; i < r->n_attributes; i++) {
        const struct reg_pair *a = &r->attributes[i];

        if (!a->key || !a->value)
            return err_set(why, ERR_RECORD, a->key, "attribute without name or value");
        if (record_name_reserved(a->key))
            return err_set(why, ERR_RECORD, a->key, "\"%s\" is a field of the record, not an attribute",
                           a->key);
        if (!text_writable(a->key) || !text_writable(a->value))
            return err_set(why, ERR_RECORD, a->key, "attribute is not UTF-8");
    }
    return 0;
}

int reg_record_check(const struct reg_record *r, struct err_info *why)
{
    int err;

    if (!r)
        return err_set(why, ERR_RECORD, NULL, "Null record");
    if (!r->type || strcmp(r->type, REG_RECORD_TYPE) != 0)
        return err_set(why, ERR_RECORD, "/type", "invalid record type field: \"%s\"",
                       r->type ? r->type : "null");
    if (!text_writable(r->description))
        return err_set(why, ERR_RECORD, "/description", "description is not UTF-8");
    err = check_endpoints(&r->external, "external", why);
    if (!err)
        err = check_endpoints(&r->internal, "internal", why);
    if (!err)
        err = check_attributes(r, why);
    return err;
}

/* ---- write ---- */

static void write_field(struct jw *w, const char *name, const char *value)
{
    if (value)
        jw_kstr(w, name, value);
}

static void write_endpoint(struct jw *w, const struct reg_endpoint *e)
{
    jw_object(w);
    write_field(w, "api", e->api);
    write_field(w, "addressType", e->address_type);
    write_field(w, "protocolType", e->protocol_type);
    jw_key(w, "addresses");
    jw_array(w);
    for (size_t i = 0; i < e->n_addresses; i++) {
        const struct reg_address *a = &e->addresses[i];

        jw_object(w);
        for (size_t k = 0; k < a->n_pairs; k++)
            jw_kstr(w, a->pairs[k].key, a->pairs[k].value);
        jw_object_end(w);
    }
    jw_array_end(w);
    jw_object_end(w);
}

static void write_endpoints(struct jw *w, const char *name, const struct reg_endpoints *list)
{
    if (list->absent && list->n_items == 0)
        return;
    jw_key(w, name);
    jw_array(w);
    for (size_t i = 0; i < list->n_items; i++)
        write_endpoint(w, &list->items[i]);
    jw_array_end(w);
}

char *reg_record_write(const struct reg_record *r, size_t *len)
{
    mem_auto size_t *order = java_map_order(r->attributes, r->n_attributes, 4);
    buf_auto struct buf b = BUF_EMPTY;
    struct jw w = jw_on(&b);

    w.escape_supplementary = true;
    jw_object(&w);
    write_field(&w, "type", r->type);
    write_field(&w, "description", r->description);
    write_endpoints(&w, "external", &r->external);
    write_endpoints(&w, "internal", &r->internal);
    for (size_t i = 0; i < r->n_attributes; i++)
        jw_kstr(&w, r->attributes[order[i]].key, r->attributes[order[i]].value);
    jw_object_end(&w);
    if (len)
        *len = b.len;
    return buf_take(&b);
}

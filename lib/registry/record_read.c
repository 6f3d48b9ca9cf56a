/**
 * Reading records: Hadoop's acceptance (strict), or what people write (lenient). See record.h.
 *
 * The reader walks the tokens once. `at` is the JSON pointer of where it is; it is the place of every error. A repeated
 * member counts as its last value. What cannot be read is refused at once, in an overridden value too, as Jackson does;
 * what can be read and is not valid, only when nothing overrides it: a null that the record cannot hold is a struct fault
 * until then, everything else is checked when the record is complete.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"
#include "bobbin/record.h"
#include "json/scan.h"
#include "registry/record_priv.h"
#include "registry/record_java.h"

/** Open levels that Jackson takes: the record itself and 1002 below. */
#define DEPTH_MAX 1003

/** A null where Hadoop wants a value. */
struct fault {
    bool is_set;
    struct err_info why;
};

struct reader {
    struct js s;
    enum reg_read mode;
    struct reg_record *r;
    struct map attribute_at; /* name -> index + 1 in r->attributes */
    struct buf at;
    struct fault external, internal; /* first one of the list */
    bool has_type, has_lists, has_yarn;
    struct err_info *why;
};

/* ---- place and errors ---- */

static size_t enter(struct reader *rd, const char *name)
{
    size_t mark = rd->at.len;

    buf_add_char(&rd->at, '/');
    for (; *name; name++) {
        if (*name == '~' || *name == '/')
            buf_add_str(&rd->at, *name == '~' ? "~0" : "~1");
        else
            buf_add_char(&rd->at, *name);
    }
    return mark;
}

static size_t enter_index(struct reader *rd, size_t index)
{
    size_t mark = rd->at.len;

    buf_addf(&rd->at, "/%zu", index);
    return mark;
}

static void leave(struct reader *rd, size_t mark)
{
    rd->at.len = mark;
    rd->at.bytes[mark] = '\0';
}

static int refuse(struct reader *rd, const char *text)
{
    return err_set(rd->why, ERR_RECORD, buf_cstr(&rd->at), "%s", text);
}

static int refuse_syntax(struct reader *rd)
{
    return err_set(rd->why, ERR_RECORD, rd->s.why.where, "%s", rd->s.why.text);
}

/** A token that does not fit: the scanner's own error, or the wrong type. */
static int refuse_token(struct reader *rd, enum js_token t, const char *text)
{
    return t == JS_ERROR ? refuse_syntax(rd) : refuse(rd, text);
}

/** Keep a fault of a value that may still be overridden; the first one stays. */
static void note_fault(struct reader *rd, struct fault *fault, const char *text)
{
    if (!fault->is_set)
        err_set(&fault->why, ERR_RECORD, buf_cstr(&rd->at), "%s", text);
    fault->is_set = true;
}

/* ---- scalars ---- */

/** Copy of the token's text. C strings cannot hold U+0000, which nothing writes: it is refused, not cut. */
static int take_text(struct reader *rd, char **out)
{
    const char *text = buf_cstr(&rd->s.text);

    if (strlen(text) != rd->s.text.len)
        return refuse(rd, "text contains U+0000");
    *out = mem_strn(text, rd->s.text.len);
    return 0;
}

/** A string, or a number or truth value as its source text; null gives NULL. Replaces *out. */
static int read_text(struct reader *rd, enum js_token t, char **out)
{
    char *text = NULL;
    int err = 0;

    if (t == JS_STRING || t == JS_INTEGER || t == JS_REAL)
        err = take_text(rd, &text);
    else if (t == JS_TRUE || t == JS_FALSE)
        text = mem_str(t == JS_TRUE ? "true" : "false");
    else if (t != JS_NULL)
        err = refuse_token(rd, t, "a string is expected here");
    if (err)
        return err;
    free(*out);
    *out = text;
    return 0;
}

static int skip_value(struct reader *rd)
{
    return js_skip(&rd->s) ? refuse_syntax(rd) : 0;
}

/** Set pairs[key]: a repeated key replaces the value at its first place. Takes both strings. */
static void put_pair(struct reg_pair **pairs, size_t *n, struct map *index, char *take_key, char *take_value)
{
    uintptr_t known = (uintptr_t)map_get(index, take_key);

    if (known) {
        free((*pairs)[known - 1].value);
        (*pairs)[known - 1].value = take_value;
        free(take_key);
        return;
    }
    record_pairs_add(pairs, n, take_key, take_value);
    map_set(index, take_key, (void *)(uintptr_t)*n);
}

/* ---- addresses ---- */

static int read_address_members(struct reader *rd, struct reg_address *a, struct map *index)
{
    enum js_token t;
    int err = 0;

    while (!err && (t = js_next(&rd->s)) == JS_KEY) {
        char *key = NULL, *value = NULL;
        size_t mark;

        err = take_text(rd, &key);
        if (err)
            return err;
        mark = enter(rd, key);
        err = read_text(rd, js_next(&rd->s), &value);
        if (err)
            free(key);
        else
            put_pair(&a->pairs, &a->n_pairs, index, key, value);
        leave(rd, mark);
    }
    if (!err && t != JS_OBJECT_END)
        err = refuse_token(rd, t, "an address is an object of strings");
    return err;
}

static int read_address(struct reader *rd, struct reg_address *a)
{
    struct map index = MAP_EMPTY;
    int err = read_address_members(rd, a, &index);

    map_fini(&index, NULL);
    return err;
}

/** Lenient: values without keys, named when the address type is known. Key NULL marks them until then. */
static int read_positional(struct reader *rd, enum js_token t, struct reg_address *a)
{
    bool listed = t == JS_ARRAY;
    int err = 0;

    if (listed)
        t = js_next(&rd->s);
    while (!err && t != JS_ARRAY_END) {
        char *value = NULL;

        err = read_text(rd, t, &value);
        if (!err)
            record_pairs_add(&a->pairs, &a->n_pairs, NULL, value);
        t = listed && !err ? js_next(&rd->s) : JS_ARRAY_END;
    }
    return err;
}

static int read_addresses(struct reader *rd, struct reg_endpoint *e, struct fault *fault)
{
    enum js_token t = js_next(&rd->s);
    int err = 0;

    if (t == JS_NULL) {
        note_fault(rd, fault, "null addresses field");
        return 0;
    }
    if (t != JS_ARRAY)
        return refuse_token(rd, t, "addresses is a list of objects");
    while (!err && (t = js_next(&rd->s)) != JS_ARRAY_END) {
        size_t mark = enter_index(rd, e->n_addresses);
        struct reg_address *a;

        e->addresses = record_array_room(e->addresses, e->n_addresses, sizeof *e->addresses);
        a = &e->addresses[e->n_addresses++];
        *a = (struct reg_address){NULL, 0};
        if (t == JS_OBJECT)
            err = read_address(rd, a);
        else if (t == JS_NULL)
            note_fault(rd, fault, "null element in address");
        else if (rd->mode == REG_LENIENT && (t == JS_ARRAY || t == JS_STRING))
            err = read_positional(rd, t, a);
        else
            err = refuse_token(rd, t, "an address is an object of strings");
        leave(rd, mark);
    }
    return err;
}

static const struct {
    const char *address_type;
    const char *keys[3];
} positional_keys[] = {
    {"uri", {"uri"}},   {"host/port", {"host", "port"}},        {"inetaddress", {"host", "port"}},
    {"path", {"path"}}, {"zktriple", {"host", "port", "path"}}, {"zookeeper", {"host", "port", "path"}},
};

static char *positional_key(const char *address_type, size_t position)
{
    for (size_t i = 0; i < ARRAY_LEN(positional_keys) && address_type && position < 3; i++)
        if (strcmp(positional_keys[i].address_type, address_type) == 0 && positional_keys[i].keys[position])
            return mem_str(positional_keys[i].keys[position]);
    return mem_fmt("%zu", position);
}

static void name_positional(struct reg_endpoint *e)
{
    for (size_t i = 0; i < e->n_addresses; i++)
        for (size_t k = 0; k < e->addresses[i].n_pairs; k++)
            if (!e->addresses[i].pairs[k].key)
                e->addresses[i].pairs[k].key = positional_key(e->address_type, k);
}

/* ---- endpoints ---- */

struct endpoint_reader {
    struct reg_endpoint *e;
    char *protocol; /* lenient: the design document's name of protocolType */
    bool has_addresses;
    struct fault fault; /* of the addresses */
};

static void clear_addresses(struct reg_endpoint *e)
{
    for (size_t i = 0; i < e->n_addresses; i++)
        record_pairs_free(e->addresses[i].pairs, e->addresses[i].n_pairs);
    free(e->addresses);
    e->addresses = NULL;
    e->n_addresses = 0;
}

static int read_endpoint_member(struct reader *rd, struct endpoint_reader *er, const char *key)
{
    struct reg_endpoint *e = er->e;

    if (strcmp(key, "api") == 0)
        return read_text(rd, js_next(&rd->s), &e->api);
    if (strcmp(key, "addressType") == 0)
        return read_text(rd, js_next(&rd->s), &e->address_type);
    if (strcmp(key, "protocolType") == 0)
        return read_text(rd, js_next(&rd->s), &e->protocol_type);
    if (strcmp(key, "protocol") == 0 && rd->mode == REG_LENIENT)
        return read_text(rd, js_next(&rd->s), &er->protocol);
    if (strcmp(key, "addresses") != 0)
        return skip_value(rd);
    clear_addresses(e);
    er->has_addresses = true;
    er->fault.is_set = false;
    return read_addresses(rd, e, &er->fault);
}

static void finish_endpoint(struct reader *rd, struct endpoint_reader *er, struct fault *of_list)
{
    struct reg_endpoint *e = er->e;

    if (!e->protocol_type && er->protocol) {
        e->protocol_type = er->protocol;
        er->protocol = NULL;
    }
    name_positional(e);
    if (!er->has_addresses)
        note_fault(rd, &er->fault, "null addresses field");
    if (er->fault.is_set && !of_list->is_set)
        *of_list = er->fault;
}

static int read_endpoint_members(struct reader *rd, struct endpoint_reader *er)
{
    enum js_token t;
    int err = 0;

    while (!err && (t = js_next(&rd->s)) == JS_KEY) {
        mem_auto char *key = NULL;
        size_t mark;

        err = take_text(rd, &key);
        if (err)
            return err;
        mark = enter(rd, key);
        err = read_endpoint_member(rd, er, key);
        leave(rd, mark);
    }
    if (!err && t != JS_OBJECT_END)
        err = refuse_token(rd, t, "malformed endpoint");
    return err;
}

static int read_endpoint(struct reader *rd, struct reg_endpoints *list, struct fault *fault)
{
    struct endpoint_reader er = {0};
    int err;

    list->items = record_array_room(list->items, list->n_items, sizeof *list->items);
    er.e = &list->items[list->n_items++];
    *er.e = (struct reg_endpoint){0};
    err = read_endpoint_members(rd, &er);
    if (!err)
        finish_endpoint(rd, &er, fault);
    free(er.protocol);
    return err;
}

static int read_endpoints(struct reader *rd, struct reg_endpoints *list, struct fault *fault)
{
    enum js_token t = js_next(&rd->s);
    int err = 0;

    rd->has_lists = true;
    record_endpoints_clear(list);
    fault->is_set = false;
    list->absent = t == JS_NULL;
    if (list->absent)
        return 0;
    if (t != JS_ARRAY)
        return refuse_token(rd, t, "a list of endpoints is expected here");
    while (!err && (t = js_next(&rd->s)) != JS_ARRAY_END) {
        size_t mark = enter_index(rd, list->n_items);

        if (t == JS_OBJECT)
            err = read_endpoint(rd, list, fault);
        else if (t == JS_NULL)
            note_fault(rd, fault, "Null endpoint");
        else
            err = refuse_token(rd, t, "an endpoint is an object");
        leave(rd, mark);
    }
    return err;
}

/* ---- record ---- */

/** Any value but null, as text: attributes are strings whatever they were. */
static int read_attribute_value(struct reader *rd, char **value)
{
    enum js_token t = js_next(&rd->s);
    buf_auto struct buf text = BUF_EMPTY;

    if (t == JS_OBJECT || t == JS_ARRAY) {
        if (java_value_text(&rd->s, t, &text))
            return refuse_syntax(rd);
        if (strlen(buf_cstr(&text)) != text.len)
            return refuse(rd, "text contains U+0000");
        *value = buf_take(&text);
        return 0;
    }
    if (t == JS_REAL) {
        java_double_text(buf_cstr(&rd->s.text), &text);
        *value = buf_take(&text);
        return 0;
    }
    if (t == JS_INTEGER && strcmp(buf_cstr(&rd->s.text), "-0") == 0) {
        *value = mem_str("0");
        return 0;
    }
    return read_text(rd, t, value);
}

static int read_attribute(struct reader *rd, const char *key)
{
    char *value = NULL;
    int err = read_attribute_value(rd, &value);

    if (err)
        return err;
    if (!value)
        return rd->mode == REG_LENIENT ? 0 : refuse(rd, "an attribute must not be null");
    rd->has_yarn = rd->has_yarn || str_starts(key, "yarn:");
    put_pair(&rd->r->attributes, &rd->r->n_attributes, &rd->attribute_at, mem_str(key), value);
    return 0;
}

static int read_member(struct reader *rd, const char *key)
{
    if (strcmp(key, "type") == 0) {
        rd->has_type = true;
        return read_text(rd, js_next(&rd->s), &rd->r->type);
    }
    if (strcmp(key, "description") == 0)
        return read_text(rd, js_next(&rd->s), &rd->r->description);
    if (strcmp(key, "external") == 0)
        return read_endpoints(rd, &rd->r->external, &rd->external);
    if (strcmp(key, "internal") == 0)
        return read_endpoints(rd, &rd->r->internal, &rd->internal);
    return read_attribute(rd, key);
}

/** What Hadoop checks of a record that could be read. */
static int check_complete(struct reader *rd)
{
    int err = reg_record_check(rd->r, rd->why);
    if (err)
        return err;
    const struct fault *fault = rd->external.is_set ? &rd->external : &rd->internal;
    return fault->is_set ? err_set(rd->why, ERR_RECORD, fault->why.where, "%s", fault->why.text) : 0;
}

static int read_record(struct reader *rd)
{
    enum js_token t = js_next(&rd->s);
    int err = 0;

    if (t != JS_OBJECT)
        return refuse_token(rd, t, "a record is a JSON object");
    while (!err && (t = js_next(&rd->s)) == JS_KEY) {
        mem_auto char *key = NULL;
        size_t mark;

        err = take_text(rd, &key);
        if (err)
            return err;
        mark = enter(rd, key);
        err = read_member(rd, key);
        leave(rd, mark);
    }
    if (!err && t != JS_OBJECT_END)
        err = refuse_token(rd, t, "malformed record");
    if (!err && rd->mode == REG_LENIENT && !rd->has_type && !rd->has_lists && !rd->has_yarn)
        err = refuse(rd, "not a record: it has no type, no endpoints and no yarn: attribute");
    return err ? err : check_complete(rd);
}

/** What Hadoop looks at before it parses. */
static int check_marker(const char *bytes, size_t len, enum reg_read mode, struct err_info *why)
{
    if (len == 0)
        return err_set(why, ERR_NORECORD, NULL, "No data at path");
    if (mode == REG_LENIENT)
        return 0;
    if (len < strlen(REG_RECORD_TYPE))
        return err_set(why, ERR_NORECORD, NULL, "Data at path too short");
    if (!memmem(bytes, len, REG_RECORD_TYPE, strlen(REG_RECORD_TYPE)))
        return err_set(why, ERR_NORECORD, NULL, "Missing marker string: %s", REG_RECORD_TYPE);
    return 0;
}

int reg_record_read(const char *bytes, size_t len, enum reg_read mode, struct reg_record **out,
                    struct err_info *why)
{
    struct reader rd = {.mode = mode, .attribute_at = MAP_EMPTY, .at = BUF_EMPTY, .why = why};
    int err = check_marker(bytes, len, mode, why);

    if (err)
        return err;
    js_init(&rd.s, bytes, len, DEPTH_MAX);
    rd.r = reg_record_new();
    err = read_record(&rd);
    if (err)
        reg_record_free(rd.r);
    else
        *out = rd.r;
    js_fini(&rd.s);
    map_fini(&rd.attribute_at, NULL);
    buf_fini(&rd.at);
    return err;
}

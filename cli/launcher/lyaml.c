/** See lyaml.h. */
#include "lyaml.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/base64.h"
#include "base/buf.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"
#include "json/json.h"

#define READING_MAGIC OBJ_MAGIC('L', 'Y', 'A', 'M')
#define YAML_TAG      "tag:yaml.org,2002:"

struct reading {
    struct obj obj;
    yaml_parser_t parser;
    yaml_event_t event; /* of the value that is read */
    struct payload *payload;
    const struct lyaml_limits *limits;
    struct map anchors; /* json_t: what they had, a reference each */
    size_t depth, n_values, n_bytes;
    int input_err; /* of the payload: *why has it */
    struct err_info *why;
};

static int read_value(struct reading *r, bool is_kept, json_t **out);

/* ---- events ---- */

static int on_input(void *arg, unsigned char *out, size_t size, size_t *n)
{
    struct reading *r = obj_cast(arg, struct reading, READING_MAGIC);

    r->input_err = payload_read(r->payload, out, size, n, r->why);
    return r->input_err == 0;
}

static int malformed_at(const struct reading *r, const yaml_mark_t *at, const char *text)
{
    mem_auto char *place = mem_fmt("%zu:%zu", at->line + 1, at->column + 1);

    return err_set(r->why, ERR_PARSE, place, "%s", text);
}

static int malformed(const struct reading *r, const char *text)
{
    return malformed_at(r, &r->event.start_mark, text);
}

/** Go to the next event. */
static int next(struct reading *r)
{
    yaml_event_delete(&r->event);
    if (yaml_parser_parse(&r->parser, &r->event))
        return 0;
    if (r->input_err)
        return r->input_err;
    const char *problem = r->parser.problem ? r->parser.problem : "no YAML";
    return malformed_at(r, r->parser.error == YAML_READER_ERROR ? &r->parser.mark : &r->parser.problem_mark,
                        problem);
}

/** Something more is kept. */
static int count(struct reading *r, size_t n_values, size_t n_bytes)
{
    r->n_values += n_values;
    r->n_bytes += n_bytes;
    if (r->n_values > r->limits->n_values)
        return err_set(r->why, ERR_TOOBIG, NULL, "has more than %zu values", r->limits->n_values);
    if (r->n_bytes > r->limits->n_bytes)
        return err_set(r->why, ERR_TOOBIG, NULL, "has more than %zu bytes of text", r->limits->n_bytes);
    return 0;
}

/* ---- scalars ---- */

static bool is_one_of(const char *text, const char *const *words)
{
    for (; *words; words++) {
        if (strcmp(text, *words) == 0)
            return true;
    }
    return false;
}

/** As SnakeYAML writes integers: others, octal ones for example, are text. */
static bool is_integer(const char *text)
{
    const char *digits = text + (*text == '-' || *text == '+');
    size_t n = strspn(digits, "0123456789");

    return n && !digits[n] && (n == 1 || digits[0] != '0');
}

static bool is_decimal(const char *text)
{
    const char *digits = text + (*text == '-' || *text == '+');
    size_t n = strspn(digits, "0123456789");
    char *end;

    if (!n || digits[n] != '.' || text[strspn(text, "+-.0123456789eE")])
        return false;
    (void)strtod(text, &end);
    return !*end;
}

/** What a plain scalar is. @return new; NULL: a text */
static json_t *plain(const char *text)
{
    static const char *const nulls[] = {"", "~", "null", "Null", "NULL", NULL};
    static const char *const trues[] = {"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON", NULL};
    static const char *const falses[] = {"false", "False", "FALSE", "no",  "No",
                                         "NO",    "off",   "Off",   "OFF", NULL};
    int64_t n;

    if (is_one_of(text, nulls))
        return json_null();
    if (is_one_of(text, trues))
        return json_true();
    if (is_one_of(text, falses))
        return json_false();
    if (is_integer(text) && str_to_i64(text + (*text == '+'), INT64_MIN, INT64_MAX, &n) == 0)
        return json_integer(n);
    return is_decimal(text) ? json_real(strtod(text, NULL)) : NULL;
}

/** The text of a !!binary. */
static int read_binary(const struct reading *r, const char *text, size_t len, json_t **out)
{
    buf_auto struct buf packed = BUF_EMPTY, bytes = BUF_EMPTY;

    for (size_t i = 0; i < len; i++) {
        if (!strchr(" \t\r\n", text[i]))
            buf_add_char(&packed, text[i]);
    }
    if (base64_get(buf_cstr(&packed), packed.len, &bytes))
        return malformed(r, "!!binary is no base64");
    if (memchr(buf_cstr(&bytes), '\0', bytes.len) || !utf8_valid(buf_cstr(&bytes), bytes.len))
        return malformed(r, "!!binary is no text");
    *out = json_stringn(bytes.bytes, bytes.len);
    return 0;
}

static bool is_tag(const yaml_char_t *tag, const char *name)
{
    return tag && str_starts((const char *)tag, YAML_TAG) &&
           strcmp((const char *)tag + strlen(YAML_TAG), name) == 0;
}

static int read_scalar(struct reading *r, json_t **out)
{
    const char *text = (const char *)r->event.data.scalar.value;
    const yaml_char_t *tag = r->event.data.scalar.tag;
    size_t len = r->event.data.scalar.length;
    bool is_plain = r->event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE && !is_tag(tag, "str");
    int err = count(r, 1, len);

    if (err)
        return err;
    if (memchr(text, '\0', len))
        return malformed(r, "a text with a NUL in it");
    if (is_tag(tag, "binary"))
        return read_binary(r, text, len, out);
    bool is_typed = is_tag(tag, "int") || is_tag(tag, "float") || is_tag(tag, "bool") || is_tag(tag, "null");
    *out = is_plain || is_typed ? plain(text) : NULL;
    if (!*out)
        *out = json_stringn(text, len);
    return *out ? 0 : malformed(r, "a text that is no UTF-8");
}

/* ---- anchors ---- */

static void value_free(void *value)
{
    json_decref(value);
}

static int keep_anchor(struct reading *r, const char *anchor, json_t *value)
{
    if (!anchor || !value)
        return 0;
    json_decref(map_set(&r->anchors, anchor, json_incref(value)));
    return count(r, 1, strlen(anchor));
}

static int check_depth(const struct reading *r, size_t depth)
{
    if (depth <= r->limits->depth)
        return 0;
    return err_set(r->why, ERR_TOOBIG, NULL, "is nested more than %zu levels deep", r->limits->depth);
}

/** Count what is in a value once more. @param depth  that its members have */
static int count_all(struct reading *r, const json_t *value, size_t depth)
{
    int err = count(r, 1, json_is_string(value) ? json_string_length(value) : 0);
    bool is_collection = json_is_array(value) || json_is_object(value);
    const char *key;
    json_t *member;

    if (!err && is_collection)
        err = check_depth(r, depth);
    for (size_t i = 0; !err && i < json_array_size(value); i++)
        err = count_all(r, json_array_get(value, i), depth + 1);
    json_object_foreach((json_t *)value, key, member)
    {
        if (!err)
            err = count(r, 0, strlen(key));
        if (!err)
            err = count_all(r, member, depth + 1);
    }
    return err;
}

static int read_alias(struct reading *r, bool is_kept, json_t **out)
{
    json_t *value = map_get(&r->anchors, (const char *)r->event.data.alias.anchor);

    if (!is_kept)
        return 0;
    if (!value)
        return malformed(r, "an alias of no anchor before it");
    int err = count_all(r, value, r->depth + 1);
    if (!err)
        *out = json_incref(value);
    return err;
}

/* ---- collections ---- */

/** Items up to the end. @param list  NULL: they are dropped [in,out] */
static int read_items(struct reading *r, json_t *list)
{
    int err;

    while (!(err = next(r)) && r->event.type != YAML_SEQUENCE_END_EVENT) {
        json_t *item = NULL;
        err = read_value(r, list != NULL, &item);
        if (err)
            return err;
        if (list)
            json_array_append_new(list, item);
    }
    return err;
}

/** Members of a set up to the end: its keys. @param list  NULL: they are dropped [in,out] */
static int read_set(struct reading *r, json_t *list)
{
    int err;

    while (!(err = next(r)) && r->event.type != YAML_MAPPING_END_EVENT) {
        json_t *item = NULL, *none = NULL;
        err = read_value(r, list != NULL, &item);
        if (!err && list)
            json_array_append_new(list, item);
        err = err ? err : next(r);
        err = err ? err : read_value(r, false, &none);
        if (err)
            return err;
    }
    return err;
}

static int read_key(struct reading *r, bool is_kept, char **out)
{
    const yaml_event_t *e = &r->event;

    if (e->type != YAML_SCALAR_EVENT)
        return malformed(r, "a key that is no text");
    if (memchr(e->data.scalar.value, '\0', e->data.scalar.length))
        return malformed(r, "a text with a NUL in it");
    *out = mem_strn((const char *)e->data.scalar.value, e->data.scalar.length);
    return is_kept ? count(r, 0, e->data.scalar.length) : 0;
}

static int read_member(struct reading *r, json_t *object)
{
    mem_auto char *key = NULL;
    json_t *value = NULL;
    int err = read_key(r, object != NULL, &key);

    if (err)
        return err;
    bool is_kept = object && (!r->limits->only || is_one_of(key, r->limits->only));
    err = next(r);
    err = err ? err : read_value(r, is_kept, &value);
    if (!err && is_kept)
        json_object_set_new(object, key, value);
    return err;
}

/** Members up to the end. @param object  NULL: they are dropped [in,out] */
static int read_members(struct reading *r, json_t *object)
{
    int err;

    while (!(err = next(r)) && r->event.type != YAML_MAPPING_END_EVENT) {
        err = read_member(r, object);
        if (err)
            return err;
    }
    return err;
}

/** A mapping, a set or a sequence. */
static int read_collection(struct reading *r, bool is_kept, json_t **out)
{
    bool is_mapping = r->event.type == YAML_MAPPING_START_EVENT;
    bool is_set = is_mapping && is_tag(r->event.data.mapping_start.tag, "set");
    mem_auto char *anchor = mem_str((const char *)(is_mapping ? r->event.data.mapping_start.anchor
                                                              : r->event.data.sequence_start.anchor));
    json_auto json_t *value = NULL;
    int err = is_kept ? count(r, 1, 0) : 0;

    if (!err)
        err = check_depth(r, ++r->depth);
    if (err)
        return err;
    if (is_kept)
        value = is_mapping && !is_set ? json_object() : json_array();
    if (!is_mapping)
        err = read_items(r, value);
    else
        err = is_set ? read_set(r, value) : read_members(r, value);
    r->depth--;
    err = err ? err : keep_anchor(r, anchor, value);
    if (!err && value)
        *out = json_incref(value);
    return err;
}

/** The value whose event has come; the event is its last one then. @param out  new; unchanged unless is_kept */
static int read_value(struct reading *r, bool is_kept, json_t **out)
{
    int err = 0;

    switch (r->event.type) {
    case YAML_ALIAS_EVENT: return read_alias(r, is_kept, out);
    case YAML_SEQUENCE_START_EVENT:
    case YAML_MAPPING_START_EVENT: return read_collection(r, is_kept, out);
    case YAML_SCALAR_EVENT:
        if (is_kept)
            err = read_scalar(r, out);
        return err || !is_kept ? err : keep_anchor(r, (const char *)r->event.data.scalar.anchor, *out);
    default: return malformed(r, "no value");
    }
}

/* ---- documents ---- */

/** "FrameworkRequest" of "tag:yaml.org,2002:com.….FrameworkRequest". */
static char *class_of(const yaml_event_t *e)
{
    const char *tag = e->type == YAML_MAPPING_START_EVENT ? (const char *)e->data.mapping_start.tag : NULL;
    size_t skip = tag && str_starts(tag, YAML_TAG) ? strlen(YAML_TAG) : 0;
    const char *dot = tag ? strrchr(tag + skip, '.') : NULL;

    return mem_str(dot ? dot + 1 : "");
}

static int expect(struct reading *r, yaml_event_type_t type, const char *otherwise)
{
    int err = next(r);

    return err || r->event.type == type ? err : malformed(r, otherwise);
}

/** Everything from the first event to the last one. */
static int read_document(struct reading *r, char **class, json_t **out)
{
    mem_auto char *name = NULL;
    json_auto json_t *value = NULL;
    int err = expect(r, YAML_STREAM_START_EVENT, "no YAML");

    err = err ? err : expect(r, YAML_DOCUMENT_START_EVENT, "no document");
    err = err ? err : next(r);
    if (err)
        return err;
    name = class_of(&r->event);
    err = read_value(r, true, &value);
    err = err ? err : expect(r, YAML_DOCUMENT_END_EVENT, "no end of the document");
    err = err ? err : expect(r, YAML_STREAM_END_EVENT, "more than one document");
    if (err)
        return err;
    *class = mem_str(name);
    *out = json_incref(value);
    return 0;
}

int lyaml_read(struct payload *p, const struct lyaml_limits *limits, char **class, json_t **out,
               struct err_info *why)
{
    struct reading r = {.payload = p, .limits = limits, .anchors = MAP_EMPTY, .why = why};

    obj_init(&r.obj, READING_MAGIC);
    BUG_IF(!yaml_parser_initialize(&r.parser));
    yaml_parser_set_input(&r.parser, on_input, &r);
    yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
    int err = read_document(&r, class, out);
    yaml_event_delete(&r.event);
    yaml_parser_delete(&r.parser);
    map_fini(&r.anchors, value_free);
    obj_fini(&r.obj);
    return err;
}

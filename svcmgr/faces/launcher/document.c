#include "launcher/document.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"

#define PATH_MAX_LEN 256 /* of a path that is reported: names of any length are in it */
#define READ_NULL    1   /* the value counts as null where its member cannot hold one */

static void *at(const void *object, size_t offset)
{
    return (char *)object + offset;
}

/* ---- words, names ---- */

const char *ldoc_word(const char *const *words, int word)
{
    return word < 0 ? NULL : words[word];
}

/** Every byte is in the class, and there is one. */
static bool is_all(const char *text, bool (*is_in)(unsigned char c))
{
    size_t n = 0;
    for (; text[n]; n++) {
        if (!is_in((unsigned char)text[n]))
            return false;
    }
    return n >= 1;
}

static bool is_name_char(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("-._~", c));
}

static bool is_no_blank(unsigned char c)
{
    return !strchr(" \t\n\v\f\r", c);
}

static bool is_no_blank_or_comma(unsigned char c)
{
    return c != ',' && is_no_blank(c);
}

static const struct {
    const char *regex;
    bool (*is_in)(unsigned char c);
} patterns[] = {
    [LDOC_NAME] = {"^[A-Za-z0-9\\-._~]{1,256}$", is_name_char},
    [LDOC_GPU_TYPE] = {"^[^,\\s]{1,256}$", is_no_blank_or_comma},
    [LDOC_GPU_TYPES] = {"^[^\\s]{1,256}$", is_no_blank},
};
#define PATTERN_LEN 256

/** Characters of UTF-8. */
static size_t n_chars(const char *text)
{
    size_t n = 0;
    for (; *text; text++)
        n += ((unsigned char)*text & 0xC0) != 0x80;
    return n;
}

static bool fits(enum ldoc_pattern pattern, const char *text)
{
    return pattern == LDOC_ANY || (is_all(text, patterns[pattern].is_in) && n_chars(text) <= PATTERN_LEN);
}

bool ldoc_is_name(const char *text)
{
    return fits(LDOC_NAME, text);
}

/* ---- broken rules ---- */

void ldoc_report_fini(struct ldoc_report *r)
{
    buf_fini(&r->rules);
}

void ldoc_break(struct ldoc_report *r, const char *path, const char *fmt, ...)
{
    va_list ap;
    r->n_rules++;
    if (r->n_rules > LDOC_RULES_MAX)
        return;
    buf_addf(&r->rules, "%s%.*s%s: ", r->rules.len ? "\n" : "", PATH_MAX_LEN, path,
             strlen(path) > PATH_MAX_LEN ? "…" : "");
    va_start(ap, fmt);
    buf_vaddf(&r->rules, fmt, ap);
    va_end(ap);
}

/* ---- reading ---- */

struct reading {
    struct ldoc_report *report;
    struct err_info *why;
};

static int wrong(const struct reading *r, const char *path, const char *what)
{
    mem_auto char *shown = mem_strn(path, strlen(path) > PATH_MAX_LEN ? PATH_MAX_LEN : strlen(path));
    return err_set(r->why, ERR_JSON, shown, "must be %s", what);
}

/** Whether a value counts as null where a number or a boolean is wanted. */
static bool is_empty_text(const json_t *v)
{
    return json_is_string(v) && !*json_string_value(v);
}

/** @return 0; or ERR_PARSE */
static int integer_of(const json_t *v, int64_t min, int64_t max, int64_t *out)
{
    if (json_is_string(v)) {
        mem_auto char *text = str_trim(json_string_value(v));
        return str_to_i64(text, min, max, out);
    }
    if (json_is_integer(v)) {
        *out = json_integer_value(v);
        return *out < min || *out > max ? ERR_PARSE : 0;
    }
    double d = json_is_real(v) ? json_real_value(v) : NAN;
    if (!(d >= -9e15 && d <= 9e15) || d != floor(d))
        return ERR_PARSE;
    *out = (int64_t)d;
    return *out < min || *out > max ? ERR_PARSE : 0;
}

static int read_integer(const struct reading *r, const struct ldoc_member *m, const json_t *v, void *to,
                        const char *path)
{
    bool is_long = m->kind == LDOC_LONG;
    int64_t n = LAUNCHER_NULL;
    if (!is_empty_text(v) &&
        integer_of(v, is_long ? INT64_MIN + 1 : INT32_MIN, is_long ? INT64_MAX : INT32_MAX, &n))
        return wrong(r, path, is_long ? "an integer of 64 bits" : "an integer of 32 bits");
    *(int64_t *)to = n;
    return 0;
}

static int read_decimal(const struct reading *r, const json_t *v, void *to, const char *path)
{
    char *end = NULL;
    double d = NAN;
    if (json_is_string(v) && !is_empty_text(v)) {
        mem_auto char *text = str_trim(json_string_value(v));
        d = strtod(text, &end);
        bool is_decimal = *text && !*end && !text[strspn(text, "+-.0123456789eE")];
        if (!is_decimal)
            return wrong(r, path, "a number");
    } else if (json_is_number(v)) {
        d = json_number_value(v);
    } else if (!is_empty_text(v)) {
        return wrong(r, path, "a number");
    }
    *(double *)to = d;
    return 0;
}

/** @return READ_NULL, too */
static int read_bool(const struct reading *r, const json_t *v, void *to, const char *path)
{
    const char *text = json_string_value(v);
    if (json_is_boolean(v))
        *(bool *)to = json_is_true(v);
    else if (json_is_number(v))
        *(bool *)to = json_number_value(v) != 0;
    else if (text && (!strcmp(text, "true") || !strcmp(text, "false")))
        *(bool *)to = *text == 't';
    else
        return is_empty_text(v) ? READ_NULL : wrong(r, path, "true or false");
    return 0;
}

static int read_text(const struct reading *r, const json_t *v, char **to, const char *path)
{
    if (json_is_string(v))
        *to = mem_str(json_string_value(v));
    else if (json_is_integer(v))
        *to = mem_fmt("%lld", (long long)json_integer_value(v));
    else if (json_is_real(v))
        *to = mem_fmt("%.17g", json_real_value(v));
    else if (json_is_boolean(v))
        *to = mem_str(json_is_true(v) ? "true" : "false");
    else
        return wrong(r, path, "a string");
    return 0;
}

static int read_word(const struct reading *r, const struct ldoc_member *m, const json_t *v, void *to,
                     const char *path)
{
    const char *text = json_string_value(v);
    buf_auto struct buf all = BUF_EMPTY;
    for (int i = 0; m->words[i]; i++) {
        bool is_it = text ? !strcmp(text, m->words[i]) : json_is_integer(v) && json_integer_value(v) == i;
        if (is_it) {
            *(int *)to = i;
            return 0;
        }
        buf_addf(&all, "%s%s", i ? ", " : "one of ", m->words[i]);
    }
    return wrong(r, path, buf_cstr(&all));
}

static int read_members(const struct reading *r, const struct ldoc_type *type, const json_t *v, void *object,
                        const char *path);

/** @param out  new object, on success */
static int read_object(const struct reading *r, const struct ldoc_type *type, const json_t *v, void **out,
                       const char *path)
{
    void *object = mem_zalloc(type->size);
    int err = read_members(r, type, v, object, path);
    if (err)
        ldoc_free(type, object);
    else
        *out = object;
    return err;
}

/** Room for one more item; the list counts it once it is set. */
static void add_item(void *object, const struct ldoc_member *m, void *take_item)
{
    void ***items = at(object, m->offset);
    size_t *n = at(object, m->n_offset);
    (*items)[(*n)++] = take_item;
}

static int read_texts(const struct reading *r, const struct ldoc_member *m, const json_t *v, void *object,
                      const char *path)
{
    for (size_t i = 0; i < json_array_size(v); i++) {
        mem_auto char *place = mem_fmt("%s[%zu]", path, i);
        const json_t *item = json_array_get(v, i);
        char *text = NULL;
        int err = json_is_null(item) ? 0 : read_text(r, item, &text, place);
        if (err)
            return err;
        add_item(object, m, text ? text : mem_str(""));
    }
    return 0;
}

static int read_list(const struct reading *r, const struct ldoc_member *m, const json_t *v, void *object,
                     const char *path)
{
    struct map seen = MAP_EMPTY; /* of a set: the texts that are its members */
    int err = 0;
    for (size_t i = 0; !err && i < json_array_size(v); i++) {
        mem_auto char *place = mem_fmt("%s[%zu]", path, i);
        const json_t *value = json_array_get(v, i);
        void *item = NULL;
        if (json_is_null(value)) {
            ldoc_break(r->report, place, "may not be null");
            continue;
        }
        err = read_object(r, m->sub, value, &item, place);
        const char *key = item && (m->flags & LDOC_SET) ? *(char **)item : NULL;
        if (key && map_set(&seen, key, item))
            ldoc_free(m->sub, item);
        else if (item)
            add_item(object, m, item);
    }
    map_fini(&seen, NULL);
    return err;
}

static void *null_item(const struct ldoc_member *m)
{
    void *item = mem_zalloc(m->sub->size);
    *(bool *)at(item, sizeof(char *)) = true;
    return item;
}

static int read_map(const struct reading *r, const struct ldoc_member *m, const json_t *v, void *object,
                    const char *path)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)v, key, value)
    {
        mem_auto char *place = mem_fmt("%s[%s]", path, key);
        void *item = NULL;
        int err = 0;
        if (!fits(m->pattern, key))
            ldoc_break(r->report, path, "Name [%.64s] is not matched with naming convention regex [%s]", key,
                       patterns[m->pattern].regex);
        if (!json_is_null(value))
            err = read_object(r, m->sub, value, &item, place);
        else if (m->flags & LDOC_NULL_ITEMS)
            item = null_item(m);
        else
            ldoc_break(r->report, path, "Map value is null for Map key: [%.64s]", key);
        if (err)
            return err;
        if (item)
            *(char **)item = mem_str(key), add_item(object, m, item);
    }
    return 0;
}

/** Allocate the items of a list of a size, so that an empty one is not NULL; then read them. */
static int read_many(const struct reading *r, const struct ldoc_member *m, const json_t *v, void *object,
                     const char *path)
{
    bool is_map = m->kind == LDOC_MAP;
    if (is_map ? !json_is_object(v) : !json_is_array(v))
        return wrong(r, path, is_map ? "an object" : "an array");
    size_t n = is_map ? json_object_size(v) : json_array_size(v);
    if (m->has_max && n > (size_t)m->max) {
        ldoc_break(r->report, path, "size must be less than or equal to %lld", (long long)m->max);
        return 0;
    }
    *(void **)at(object, m->offset) = mem_array(n + 1, sizeof(void *));
    if (is_map)
        return read_map(r, m, v, object, path);
    return m->kind == LDOC_LIST ? read_list(r, m, v, object, path) : read_texts(r, m, v, object, path);
}

static int read_value(const struct reading *r, const struct ldoc_member *m, const json_t *v, void *object,
                      const char *path)
{
    void *to = at(object, m->offset);
    switch (m->kind) {
    case LDOC_INT:
    case LDOC_LONG: return read_integer(r, m, v, to, path);
    case LDOC_DECIMAL: return read_decimal(r, v, to, path);
    case LDOC_BOOL: return read_bool(r, v, to, path);
    case LDOC_TEXT: return read_text(r, v, to, path);
    case LDOC_WORD: return read_word(r, m, v, to, path);
    case LDOC_OBJECT: return read_members(r, m->sub, v, to, path);
    case LDOC_CHILD: return read_object(r, m->sub, v, to, path);
    case LDOC_TEXTS:
    case LDOC_MAP:
    case LDOC_LIST: break;
    }
    return read_many(r, m, v, object, path);
}

/** What an explicit null, or a required member that is absent, leaves. */
static void set_null(const struct ldoc_member *m, void *object)
{
    void *to = at(object, m->offset);
    switch (m->kind) {
    case LDOC_INT:
    case LDOC_LONG: *(int64_t *)to = LAUNCHER_NULL; break;
    case LDOC_DECIMAL: *(double *)to = NAN; break;
    case LDOC_WORD: *(int *)to = LAUNCHER_NO_WORD; break;
    default: break; /* zeroed */
    }
}

static int set_default(const struct reading *r, const struct ldoc_member *m, void *object, const char *path)
{
    void *to = at(object, m->offset);
    switch (m->kind) {
    case LDOC_INT:
    case LDOC_LONG: *(int64_t *)to = m->def; break;
    case LDOC_BOOL: *(bool *)to = m->def != 0; break;
    case LDOC_WORD: *(int *)to = (int)m->def; break;
    case LDOC_TEXT: *(char **)to = mem_str(m->def_text); break;
    case LDOC_OBJECT: {
        json_t *none = json_object();
        int err = read_members(r, m->def_sub ? m->def_sub : m->sub, none, to, path);
        json_decref(none);
        return err;
    }
    case LDOC_DECIMAL: set_null(m, object); break;
    case LDOC_CHILD: break;
    case LDOC_TEXTS:
    case LDOC_MAP:
    case LDOC_LIST:
        if (!(m->flags & LDOC_NULLABLE))
            *(void **)to = mem_array(1, sizeof(void *));
        break;
    }
    return 0;
}

/* ---- rules ---- */

static void check_number(const struct ldoc_member *m, double n, const char *path, struct ldoc_report *report)
{
    if (m->has_min && n < (double)m->min)
        ldoc_break(report, path, "must be greater than or equal to %lld", (long long)m->min);
    if (m->has_max && n > (double)m->max)
        ldoc_break(report, path, "must be less than or equal to %lld", (long long)m->max);
}

static void check_text(const struct ldoc_member *m, const char *text, const char *path,
                       struct ldoc_report *report)
{
    if (m->has_min && n_chars(text) < (size_t)m->min)
        ldoc_break(report, path, "may not be empty");
    if (m->has_max && n_chars(text) > (size_t)m->max)
        ldoc_break(report, path, "size must be between 0 and %lld", (long long)m->max);
    if (!fits(m->pattern, text))
        ldoc_break(report, path, "must match \"%s\"", patterns[m->pattern].regex);
}

static bool is_null(const struct ldoc_member *m, const void *object)
{
    const void *p = at(object, m->offset);
    switch (m->kind) {
    case LDOC_INT:
    case LDOC_LONG: return *(const int64_t *)p == LAUNCHER_NULL;
    case LDOC_DECIMAL: return isnan(*(const double *)p);
    case LDOC_WORD: return *(const int *)p == LAUNCHER_NO_WORD;
    case LDOC_BOOL:
    case LDOC_OBJECT: return false;
    default: return !*(void *const *)p;
    }
}

static void check_member(const struct ldoc_member *m, const void *object, const char *path,
                         struct ldoc_report *report)
{
    const void *p = at(object, m->offset);
    if (is_null(m, object)) {
        if (!(m->flags & LDOC_NULLABLE))
            ldoc_break(report, path, "may not be null");
        return;
    }
    switch (m->kind) {
    case LDOC_INT:
    case LDOC_LONG: check_number(m, (double)*(const int64_t *)p, path, report); break;
    case LDOC_DECIMAL: check_number(m, *(const double *)p, path, report); break;
    case LDOC_TEXT: check_text(m, *(char *const *)p, path, report); break;
    case LDOC_TEXTS:
    case LDOC_MAP:
    case LDOC_LIST:
        if (m->has_min && *(const size_t *)at(object, m->n_offset) < (size_t)m->min)
            ldoc_break(report, path, "may not be empty");
        break;
    default: break;
    }
}

static int read_member(const struct reading *r, const struct ldoc_member *m, const json_t *v, void *object,
                       const char *path)
{
    size_t n_rules = r->report->n_rules;
    int err = 0;
    if (!v && !(m->flags & LDOC_REQUIRED))
        err = set_default(r, m, object, path);
    else
        set_null(m, object);
    bool is_there = v && !json_is_null(v);
    if (is_there)
        err = read_value(r, m, v, object, path);
    bool is_unfit = err == READ_NULL ||
                    (v && !is_there && (m->kind == LDOC_BOOL || m->kind == LDOC_OBJECT)) ||
                    (!v && (m->flags & LDOC_REQUIRED) && m->kind == LDOC_OBJECT);
    if (is_unfit)
        ldoc_break(r->report, path, "may not be null");
    else if (!err && r->report->n_rules == n_rules)
        check_member(m, object, path, r->report);
    return err == READ_NULL ? 0 : err;
}

static int read_members(const struct reading *r, const struct ldoc_type *type, const json_t *v, void *object,
                        const char *path)
{
    size_t n_rules = r->report->n_rules;
    if (!json_is_object(v))
        return wrong(r, path, "an object");
    for (size_t i = 0; i < type->n_members; i++) {
        const struct ldoc_member *m = &type->members[i];
        mem_auto char *place = mem_fmt("%s%s%s", path, *path ? "." : "", m->name);
        int err = read_member(r, m, json_object_get(v, m->name), object, place);
        if (err)
            return err;
    }
    if (type->check && r->report->n_rules == n_rules)
        type->check(object, path, r->report);
    return 0;
}

int ldoc_read(const struct ldoc_type *type, const json_t *value, void **out, struct ldoc_report *report,
              struct err_info *why)
{
    struct reading r = {report, why};
    int err = read_object(&r, type, value, out, "");
    if (!err && report->n_rules > LDOC_RULES_MAX)
        buf_addf(&report->rules, "\n%zu more", report->n_rules - LDOC_RULES_MAX);
    return err;
}

/* ---- writing ---- */

static json_t *write_item(const struct ldoc_member *m, const void *item)
{
    if (m->kind == LDOC_TEXTS)
        return json_string(item);
    if ((m->flags & LDOC_NULL_ITEMS) && *(const bool *)at(item, sizeof(char *)))
        return json_null();
    return ldoc_write(m->sub, item);
}

static json_t *write_many(const struct ldoc_member *m, const void *object)
{
    void *const *items = *(void **const *)at(object, m->offset);
    size_t n = *(const size_t *)at(object, m->n_offset);
    json_t *out = m->kind == LDOC_MAP ? json_object() : json_array();
    for (size_t i = 0; i < n; i++) {
        if (m->kind == LDOC_MAP)
            json_object_set_new(out, *(char *const *)items[i], write_item(m, items[i]));
        else
            json_array_append_new(out, write_item(m, items[i]));
    }
    return out;
}

static json_t *write_member(const struct ldoc_member *m, const void *object)
{
    const void *p = at(object, m->offset);
    if (is_null(m, object))
        return json_null();
    switch (m->kind) {
    case LDOC_INT:
    case LDOC_LONG: return json_integer(*(const int64_t *)p);
    case LDOC_DECIMAL: return json_real(*(const double *)p);
    case LDOC_BOOL: return json_boolean(*(const bool *)p);
    case LDOC_TEXT: return json_string(*(char *const *)p);
    case LDOC_WORD: return json_string(ldoc_word(m->words, *(const int *)p));
    case LDOC_OBJECT: return ldoc_write(m->sub, p);
    case LDOC_CHILD: return ldoc_write(m->sub, *(void *const *)p);
    default: return write_many(m, object);
    }
}

json_t *ldoc_write(const struct ldoc_type *type, const void *object)
{
    json_t *out = json_object();
    for (size_t i = 0; i < type->n_members; i++) {
        const struct ldoc_member *m = &type->members[i];
        json_t *value = write_member(m, object);
        bool says_nothing = json_is_null(value) || json_is_false(value);
        if ((m->flags & LDOC_SILENT) && says_nothing)
            json_decref(value);
        else
            json_object_set_new(out, m->name, value);
    }
    return out;
}

/* ---- the end ---- */

static void fini_members(const struct ldoc_type *type, void *object);

static void free_many(const struct ldoc_member *m, void *object)
{
    void **items = *(void ***)at(object, m->offset);
    for (size_t i = 0; items && i < *(size_t *)at(object, m->n_offset); i++) {
        if (m->kind == LDOC_TEXTS)
            free(items[i]);
        else
            ldoc_free(m->sub, items[i]);
    }
    free(items);
}

static void fini_members(const struct ldoc_type *type, void *object)
{
    for (size_t i = 0; i < type->n_members; i++) {
        const struct ldoc_member *m = &type->members[i];
        void *p = at(object, m->offset);
        switch (m->kind) {
        case LDOC_TEXT: free(*(char **)p); break;
        case LDOC_OBJECT: fini_members(m->sub, p); break;
        case LDOC_CHILD: ldoc_free(m->sub, *(void **)p); break;
        case LDOC_TEXTS:
        case LDOC_MAP:
        case LDOC_LIST: free_many(m, object); break;
        default: break;
        }
    }
}

void ldoc_free(const struct ldoc_type *type, void *object)
{
    if (!object)
        return;
    fini_members(type, object);
    if (type->is_named)
        free(*(char **)object);
    free(object);
}

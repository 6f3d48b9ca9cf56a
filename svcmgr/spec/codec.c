/** The table-driven codec: see codec.h. */
#include "spec/codec.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"
#include "json/json.h"
#include "json/writer.h"

static void *fld_at(const struct fld *f, void *object)
{
    return (char *)object + f->offset;
}

static const void *fld_at_const(const struct fld *f, const void *object)
{
    return (const char *)object + f->offset;
}

static size_t *fld_count(const struct fld *f, void *object)
{
    return (size_t *)((char *)object + f->n_offset);
}

static size_t fld_count_const(const struct fld *f, const void *object)
{
    return *(const size_t *)((const char *)object + f->n_offset);
}

void *fld_new(const struct fld_type *type)
{
    void *object = mem_zalloc(type->size);
    for (size_t i = 0; i < type->n_flds; i++) {
        const struct fld *f = &type->flds[i];
        if (f->kind == FLD_KIND_I64 || f->kind == FLD_KIND_DATE)
            *(int64_t *)fld_at(f, object) = FLD_UNSET;
        else if (f->kind == FLD_KIND_ENUM)
            *(int *)fld_at(f, object) = -1;
    }
    if (type->defaults)
        type->defaults(object);
    return object;
}

/** Release the value of one field; the field is empty afterwards. */
static void fld_clear(const struct fld *f, void *object)
{
    void **slot = fld_at(f, object);
    switch (f->kind) {
    case FLD_KIND_STR: mem_free_ptr(slot); break;
    case FLD_KIND_MAP:
    case FLD_KIND_JSON:
        json_decref(*slot);
        *slot = NULL;
        break;
    case FLD_KIND_STRS:
        for (size_t i = 0; i < fld_count_const(f, object); i++)
            free((*(char ***)slot)[i]);
        break;
    case FLD_KIND_OBJ:
        fld_free(f->sub, *slot);
        *slot = NULL;
        break;
    case FLD_KIND_LIST:
        for (size_t i = 0; i < fld_count_const(f, object); i++)
            fld_free(f->sub, (*(void ***)slot)[i]);
        break;
    case FLD_KIND_I64:
    case FLD_KIND_BOOL:
    case FLD_KIND_ENUM:
    case FLD_KIND_KNOWN:
    case FLD_KIND_DATE: break;
    }
    if (f->kind == FLD_KIND_STRS || f->kind == FLD_KIND_LIST) {
        mem_free_ptr(slot);
        *fld_count(f, object) = 0;
    }
}

void fld_free(const struct fld_type *type, void *object)
{
    if (!object)
        return;
    for (size_t i = 0; i < type->n_flds; i++)
        fld_clear(&type->flds[i], object);
    free(object);
}

/* ------------------------------------------------------------------ reading */

static int wrong_type(const char *where, const char *wanted, struct err_info *why)
{
    return err_set(why, ERR_JSON, where, "%s: %s expected", where, wanted);
}

/** Text of a scalar; a new string, or NULL for objects, arrays and null. */
static char *scalar_text(const json_t *v)
{
    if (json_is_string(v))
        return mem_str(json_string_value(v));
    if (json_is_integer(v))
        return mem_fmt("%lld", (long long)json_integer_value(v));
    if (json_is_boolean(v))
        return mem_str(json_is_true(v) ? "true" : "false");
    if (!json_is_real(v))
        return NULL;
    char *dump = json_dumps(v, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
    char *text = mem_str(dump);
    free(dump);
    return text;
}

static int read_real(double d, int64_t *out)
{
    if (isnan(d) || d >= 9223372036854775807.0 || d <= -9223372036854775807.0)
        return ERR_JSON;
    *out = (int64_t)d;
    return 0;
}

static int read_i64(const struct fld *f, const json_t *v, int64_t *out)
{
    (void)f;
    if (json_is_integer(v)) {
        *out = json_integer_value(v);
        return 0;
    }
    if (json_is_real(v))
        return read_real(json_real_value(v), out);
    if (!json_is_string(v))
        return ERR_JSON;
    mem_auto char *text = str_trim(json_string_value(v));
    if (!text[0]) {
        *out = FLD_UNSET;
        return 0;
    }
    const char *digits = text[0] == '+' ? text + 1 : text;
    return str_to_i64(digits, INT64_MIN + 1, INT64_MAX, out) ? ERR_JSON : 0;
}

static int read_date(const struct fld *f, const json_t *v, int64_t *out)
{
    if (!read_i64(f, v, out))
        return 0;
    struct tm tm = {0};
    const char *rest = json_is_string(v) ? strptime(json_string_value(v), "%Y-%m-%dT%H:%M:%S", &tm) : NULL;
    if (!rest)
        return ERR_JSON;
    int64_t ms = 0;
    if (*rest == '.') {
        ms = (int64_t)(strtod(rest, NULL) * 1000);
        rest += 1 + strspn(rest + 1, "0123456789");
    }
    if (rest[0] && strcmp(rest, "Z") != 0 && strcmp(rest, "+00:00") != 0 && strcmp(rest, "+0000") != 0)
        return ERR_JSON;
    *out = (int64_t)timegm(&tm) * 1000 + ms;
    return 0;
}

static int read_bool(const json_t *v, bool *out)
{
    if (json_is_boolean(v)) {
        *out = json_is_true(v);
        return 0;
    }
    if (json_is_integer(v)) {
        *out = json_integer_value(v) != 0;
        return 0;
    }
    return json_is_string(v) && !str_to_bool(json_string_value(v), out) ? 0 : ERR_JSON;
}

static int read_enum(const struct fld *f, const json_t *v, const char *where, int *out, struct err_info *why)
{
    if (!json_is_string(v))
        return wrong_type(where, "text", why);
    for (int i = 0; f->words[i]; i++) {
        if (strcmp(f->words[i], json_string_value(v)) == 0) {
            *out = i;
            return 0;
        }
    }
    return err_set(why, ERR_JSON, where, "%s: %.60s is not one of the values of %s", where,
                   json_string_value(v), f->name);
}

static int read_map(const json_t *v, const char *where, json_t **out, struct err_info *why)
{
    if (!json_is_object(v))
        return wrong_type(where, "an object", why);
    json_t *map = json_object();
    const char *key;
    json_t *item;
    json_object_foreach((json_t *)v, key, item)
    {
        mem_auto char *text = scalar_text(item);
        if (!text && !json_is_null(item)) {
            json_decref(map);
            return err_set(why, ERR_JSON, where, "%s/%.100s: text expected", where, key);
        }
        if (text)
            json_object_set_new(map, key, json_string(text));
    }
    json_decref(*out);
    *out = map;
    return 0;
}

static int read_strs(const struct fld *f, const json_t *v, const char *where, void *object,
                     struct err_info *why)
{
    if (!json_is_array(v))
        return wrong_type(where, "an array", why);
    fld_clear(f, object);
    char **items = mem_array(json_array_size(v) + 1, sizeof(char *));
    *(char ***)fld_at(f, object) = items;
    for (size_t i = 0; i < json_array_size(v); i++) {
        char *text = scalar_text(json_array_get(v, i));
        if (!text)
            return err_set(why, ERR_JSON, where, "%s/%zu: text expected", where, i);
        items[(*fld_count(f, object))++] = text;
    }
    return 0;
}

static int read_object(const struct fld_type *type, const json_t *v, const char *where, void **out,
                       struct err_info *why);

static int read_list(const struct fld *f, const json_t *v, const char *where, void *object,
                     struct err_info *why)
{
    if (!json_is_array(v))
        return wrong_type(where, "an array", why);
    fld_clear(f, object);
    void **items = mem_array(json_array_size(v) + 1, sizeof(void *));
    *(void ***)fld_at(f, object) = items;
    for (size_t i = 0; i < json_array_size(v); i++) {
        mem_auto char *place = mem_fmt("%s/%zu", where, i);
        int rc = read_object(f->sub, json_array_get(v, i), place, &items[i], why);
        if (rc)
            return rc;
        *fld_count(f, object) = i + 1;
    }
    return 0;
}

static int read_scalar(const struct fld *f, const json_t *v, const char *where, void *object,
                       struct err_info *why)
{
    void *slot = fld_at(f, object);
    switch (f->kind) {
    case FLD_KIND_STR: {
        char *text = scalar_text(v);
        if (!text)
            return wrong_type(where, "text", why);
        free(*(char **)slot);
        *(char **)slot = text;
        return 0;
    }
    case FLD_KIND_I64: return read_i64(f, v, slot) ? wrong_type(where, "an integer", why) : 0;
    case FLD_KIND_DATE: return read_date(f, v, slot) ? wrong_type(where, "a date", why) : 0;
    case FLD_KIND_BOOL: return read_bool(v, slot) ? wrong_type(where, "true or false", why) : 0;
    default: return read_enum(f, v, where, slot, why);
    }
}

static int read_field(const struct fld *f, const json_t *v, const char *where, void *object,
                      struct err_info *why)
{
    void *slot = fld_at(f, object);
    switch (f->kind) {
    case FLD_KIND_MAP: return read_map(v, where, slot, why);
    case FLD_KIND_JSON:
        json_decref(*(json_t **)slot);
        *(json_t **)slot = json_deep_copy(v);
        return 0;
    case FLD_KIND_STRS: return read_strs(f, v, where, object, why);
    case FLD_KIND_LIST: return read_list(f, v, where, object, why);
    case FLD_KIND_OBJ: {
        void *sub = NULL;
        int rc = read_object(f->sub, v, where, &sub, why);
        if (rc)
            return rc;
        fld_clear(f, object);
        *(void **)slot = sub;
        return 0;
    }
    default: return read_scalar(f, v, where, object, why);
    }
}

static int read_fields(const struct fld_type *type, const json_t *v, const char *where, void *object,
                       struct err_info *why)
{
    for (size_t i = 0; i < type->n_flds; i++) {
        const struct fld *f = &type->flds[i];
        const json_t *item = json_object_get(v, f->name);
        if (!item && f->alias)
            item = json_object_get(v, f->alias);
        if (!item || f->kind == FLD_KIND_KNOWN)
            continue;
        if (json_is_null(item)) {
            if (f->flags & FLD_NULLABLE)
                *(int64_t *)fld_at(f, object) = FLD_UNSET;
            continue;
        }
        mem_auto char *place = mem_fmt("%s/%s", where, f->name);
        int rc = read_field(f, item, place, object, why);
        if (rc)
            return rc;
    }
    return 0;
}

static int read_object(const struct fld_type *type, const json_t *v, const char *where, void **out,
                       struct err_info *why)
{
    if (!json_is_object(v))
        return err_set(why, ERR_JSON, where, "%s%sa %s object expected", where, where[0] ? ": " : "",
                       type->what);
    void *object = fld_new(type);
    int rc = read_fields(type, v, where, object, why);
    if (rc) {
        fld_free(type, object);
        return rc;
    }
    *out = object;
    return 0;
}

int fld_read(const struct fld_type *type, const json_t *value, void **out, struct err_info *why)
{
    return read_object(type, value, "", out, why);
}

int fld_read_at(const struct fld_type *type, const json_t *value, const char *where, void **out,
                struct err_info *why)
{
    return read_object(type, value, where, out, why);
}

/* ------------------------------------------------------------------ writing */

static void write_object(struct jw *w, const struct fld_type *type, const void *object);

static void write_strs(struct jw *w, const struct fld *f, const void *object)
{
    char *const *items = *(char *const *const *)fld_at_const(f, object);
    jw_array(w);
    for (size_t i = 0; i < fld_count_const(f, object); i++)
        jw_str(w, items[i]);
    jw_array_end(w);
}

static void write_list(struct jw *w, const struct fld *f, const void *object)
{
    void *const *items = *(void *const *const *)fld_at_const(f, object);
    jw_array(w);
    for (size_t i = 0; i < fld_count_const(f, object); i++)
        write_object(w, f->sub, items[i]);
    jw_array_end(w);
}

static void write_tree(struct jw *w, const json_t *tree)
{
    buf_auto struct buf text = BUF_EMPTY;
    json_write(tree, &text);
    jw_raw(w, buf_cstr(&text), text.len);
}

static void write_empty(struct jw *w)
{
    jw_object(w);
    jw_object_end(w);
}

/** Whether a field has something to say, apart from FLD_ALWAYS. */
static bool has_value(const struct fld *f, const void *object)
{
    const void *slot = fld_at_const(f, object);
    switch (f->kind) {
    case FLD_KIND_I64:
    case FLD_KIND_DATE: return *(const int64_t *)slot != ((f->flags & FLD_ZERO) ? 0 : FLD_UNSET);
    case FLD_KIND_BOOL: return *(const bool *)slot;
    case FLD_KIND_ENUM: return *(const int *)slot >= 0;
    case FLD_KIND_STRS:
    case FLD_KIND_LIST: return fld_count_const(f, object) > 0;
    default: return *(const void *const *)slot != NULL;
    }
}

/** Fields that FLD_ALWAYS can write without a value. */
static bool has_empty_form(const struct fld *f)
{
    return f->kind == FLD_KIND_BOOL || f->kind == FLD_KIND_STRS || f->kind == FLD_KIND_LIST ||
           f->kind == FLD_KIND_MAP || f->kind == FLD_KIND_OBJ;
}

static void write_value(struct jw *w, const struct fld *f, const void *object)
{
    const void *slot = fld_at_const(f, object);
    const void *p = f->kind == FLD_KIND_BOOL || f->kind == FLD_KIND_ENUM ? NULL : *(const void *const *)slot;
    switch (f->kind) {
    case FLD_KIND_I64:
    case FLD_KIND_DATE: jw_int(w, *(const int64_t *)slot); break;
    case FLD_KIND_BOOL: jw_bool(w, *(const bool *)slot); break;
    case FLD_KIND_ENUM: jw_str(w, f->words[*(const int *)slot]); break;
    case FLD_KIND_STRS: write_strs(w, f, object); break;
    case FLD_KIND_LIST: write_list(w, f, object); break;
    case FLD_KIND_STR: jw_str(w, p); break;
    case FLD_KIND_OBJ:
        if (p)
            write_object(w, f->sub, p);
        else
            write_empty(w);
        break;
    case FLD_KIND_MAP:
    case FLD_KIND_JSON:
        if (p)
            write_tree(w, p);
        else
            write_empty(w);
        break;
    case FLD_KIND_KNOWN: break;
    }
}

void fld_write_members(const struct fld_type *type, const void *object, struct jw *w)
{
    for (size_t i = 0; i < type->n_flds; i++) {
        const struct fld *f = &type->flds[i];
        bool forced = (f->flags & FLD_ALWAYS) && has_empty_form(f);
        if ((f->flags & FLD_IN) || (!forced && !has_value(f, object)))
            continue;
        jw_key(w, f->name);
        write_value(w, f, object);
    }
}

static void write_object(struct jw *w, const struct fld_type *type, const void *object)
{
    jw_object(w);
    fld_write_members(type, object, w);
    jw_object_end(w);
}

void fld_write_text(const struct fld_type *type, const void *object, struct buf *out)
{
    struct jw w = jw_on(out);
    write_object(&w, type, object);
}

json_t *fld_write(const struct fld_type *type, const void *object)
{
    buf_auto struct buf text = BUF_EMPTY;
    json_t *v = NULL;
    fld_write_text(type, object, &text);
    BUG_IF(json_read(buf_cstr(&text), text.len, &v, NULL) != 0);
    return v;
}

static size_t slot_size(const struct fld *f)
{
    switch (f->kind) {
    case FLD_KIND_I64:
    case FLD_KIND_DATE: return sizeof(int64_t);
    case FLD_KIND_BOOL: return sizeof(bool);
    case FLD_KIND_ENUM: return sizeof(int);
    case FLD_KIND_KNOWN: return 0;
    default: return sizeof(void *);
    }
}

void fld_move(const struct fld_type *type, void *from, void *to)
{
    for (size_t i = 0; i < type->n_flds; i++) {
        const struct fld *f = &type->flds[i];
        fld_clear(f, to);
        memcpy(fld_at(f, to), fld_at(f, from), slot_size(f));
        memset(fld_at(f, from), 0, slot_size(f));
        if (f->kind != FLD_KIND_STRS && f->kind != FLD_KIND_LIST)
            continue;
        *fld_count(f, to) = fld_count_const(f, from);
        *fld_count(f, from) = 0;
    }
}

static void copy_field(const struct fld *f, const void *from, void *to)
{
    const void *a = fld_at_const(f, from);
    void *b = fld_at(f, to);
    fld_clear(f, to);
    switch (f->kind) {
    case FLD_KIND_I64:
    case FLD_KIND_DATE: *(int64_t *)b = *(const int64_t *)a; break;
    case FLD_KIND_BOOL: *(bool *)b = *(const bool *)a; break;
    case FLD_KIND_ENUM: *(int *)b = *(const int *)a; break;
    case FLD_KIND_STR: *(char **)b = mem_str(*(char *const *)a); break;
    case FLD_KIND_MAP:
    case FLD_KIND_JSON: *(json_t **)b = json_deep_copy(*(json_t *const *)a); break;
    case FLD_KIND_OBJ: *(void **)b = *(void *const *)a ? fld_copy(f->sub, *(void *const *)a) : NULL; break;
    case FLD_KIND_STRS:
    case FLD_KIND_LIST: {
        size_t n = fld_count_const(f, from);
        void **items = mem_array(n + 1, sizeof(void *));
        for (size_t i = 0; i < n; i++) {
            void *item = (*(void *const *const *)a)[i];
            items[i] = f->kind == FLD_KIND_STRS ? mem_str(item) : fld_copy(f->sub, item);
        }
        *(void ***)b = items;
        *fld_count(f, to) = n;
        break;
    }
    case FLD_KIND_KNOWN: break;
    }
}

void *fld_copy(const struct fld_type *type, const void *object)
{
    void *copy = fld_new(type);
    for (size_t i = 0; i < type->n_flds; i++)
        copy_field(&type->flds[i], object, copy);
    return copy;
}

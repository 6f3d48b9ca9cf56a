/**
 * Java's hash order and value texts. See record_java.h.
 */
#include <locale.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"
#include "registry/record_java.h"

/* ---- order of a hash map ---- */

/** Next code point of UTF-8 whose lone surrogates are in 3-byte form (WTF-8). @return bytes taken, at least 1. */
static size_t wtf8_next(const char *s, size_t n, uint32_t *cp)
{
    const unsigned char *u = (const unsigned char *)s;
    size_t taken = utf8_next(s, n, cp);

    if (taken > 0)
        return taken;
    if (n >= 3 && u[0] == 0xed && (u[1] & 0xe0) == 0xa0 && (u[2] & 0xc0) == 0x80) {
        *cp = 0xd000u | (uint32_t)(u[1] & 0x3f) << 6 | (u[2] & 0x3fu);
        return 3;
    }
    *cp = 0xfffd;
    return 1;
}

static uint32_t java_string_hash(const char *s)
{
    size_t left = strlen(s);
    uint32_t h = 0;

    while (left > 0) {
        uint32_t cp;
        size_t n = wtf8_next(s, left, &cp);

        if (cp >= 0x10000) {
            h = 31 * h + (0xd800 + ((cp - 0x10000) >> 10));
            cp = 0xdc00 + ((cp - 0x10000) & 0x3ff);
        }
        h = 31 * h + cp;
        s += n;
        left -= n;
    }
    return h ^ (h >> 16);
}

struct placed {
    size_t bucket, index;
};

static int compare_placed(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;

    if (x->bucket != y->bucket)
        return x->bucket < y->bucket ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

size_t *java_map_order(const struct reg_pair *pairs, size_t n, size_t n_start)
{
    mem_auto struct placed *placed = mem_array(n + 1, sizeof *placed);
    size_t *order = mem_array(n + 1, sizeof *order);
    size_t n_buckets = n_start;

    while (n * 4 > n_buckets * 3)
        n_buckets *= 2;
    for (size_t i = 0; i < n; i++)
        placed[i] = (struct placed){java_string_hash(pairs[i].key) & (n_buckets - 1), i};
    qsort(placed, n, sizeof *placed, compare_placed);
    for (size_t i = 0; i < n; i++)
        order[i] = placed[i].index;
    return order;
}

/* ---- text of a double ---- */

/** The shortest scientific form with at least two digits that reads back as d: "d.d…e±dd". */
static void shortest_scientific(double d, locale_t c_locale, char *out, size_t size)
{
    for (int digits = 1; digits <= 16; digits++) {
        snprintf(out, size, "%.*e", digits, d);
        if (strtod_l(out, NULL, c_locale) == d)
            return;
    }
}

/** Write digits (no point) times 10^(exponent - n + 1) as Java does. */
static void put_java_form(const char *digits, size_t n, int exponent, struct buf *out)
{
    if (exponent < -3 || exponent >= 7) {
        buf_addf(out, "%c.%sE%d", digits[0], n > 1 ? digits + 1 : "0", exponent);
    } else if (exponent < 0) {
        buf_add_str(out, "0.");
        for (int i = -1; i > exponent; i--)
            buf_add_char(out, '0');
        buf_add(out, digits, n);
    } else {
        size_t whole = (size_t)exponent + 1;

        for (size_t i = 0; i < whole; i++)
            buf_add_char(out, i < n ? digits[i] : '0');
        buf_addf(out, ".%s", n > whole ? digits + whole : "0");
    }
}

void java_double_text(const char *number, struct buf *out)
{
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t before = uselocale(c_locale);
    double d = strtod_l(number, NULL, c_locale);
    char scientific[64], digits[32];
    size_t n = 0;
    const char *p;

    if (signbit(d))
        buf_add_char(out, '-');
    if (isinf(d)) {
        buf_add_str(out, "Infinity");
    } else if (d == 0) {
        buf_add_str(out, "0.0");
    } else {
        shortest_scientific(fabs(d), c_locale, scientific, sizeof scientific);
        for (p = scientific; *p != 'e'; p++)
            if (*p != '.')
                digits[n++] = *p;
        while (n > 1 && digits[n - 1] == '0')
            n--;
        digits[n] = '\0';
        put_java_form(digits, n, (int)strtol(p + 1, NULL, 10), out);
    }
    uselocale(before);
    freelocale(c_locale);
}

/* ---- text of lists and maps ---- */

/**
 * A value of a list or map. Built as a tree first because a repeated key replaces the value at its first place.
 */
struct value {
    enum js_token kind;
    const char *text; /* scalar */
    size_t text_len;
    const char *key; /* member of a map, else NULL */
    size_t key_len;
    struct value *first, *next;
};

struct value_reader {
    struct js *s;
    struct arena *arena;
};

static void read_scalar(struct value_reader *vr, enum js_token t, struct value *v)
{
    buf_auto struct buf text = BUF_EMPTY;

    v->kind = t;
    if (t == JS_STRING || t == JS_INTEGER)
        buf_add(&text, buf_cstr(&vr->s->text), vr->s->text.len);
    else if (t == JS_REAL)
        java_double_text(buf_cstr(&vr->s->text), &text);
    else
        buf_add_str(&text, t == JS_TRUE ? "true" : t == JS_FALSE ? "false" : "null");
    if (t == JS_INTEGER && strcmp(text.bytes, "-0") == 0)
        buf_drop(&text, 1);
    v->text_len = text.len;
    v->text = arena_strn(vr->arena, buf_cstr(&text), text.len);
}

static int read_container(struct value_reader *vr, struct value *v);

static int read_value(struct value_reader *vr, enum js_token t, struct value *v)
{
    v->kind = t;
    if (t == JS_ERROR || t == JS_END)
        return ERR_JSON;
    if (t == JS_OBJECT || t == JS_ARRAY)
        return read_container(vr, v);
    read_scalar(vr, t, v);
    return 0;
}

/** The member with the key just read: the earlier one of this name, emptied, or a new one at the end. */
static struct value *member_for_key(struct value_reader *vr, struct map *seen, struct value ***tail)
{
    const struct buf *key = &vr->s->text;
    struct value *v = map_get(seen, key->bytes);

    if (v && v->key_len == key->len) {
        v->first = NULL;
        return v;
    }
    v = arena_new_obj(vr->arena, struct value);
    v->key = arena_strn(vr->arena, key->bytes, key->len);
    v->key_len = key->len;
    map_set(seen, v->key, v);
    **tail = v;
    *tail = &v->next;
    return v;
}

/** Depth is bounded by the scanner's max_depth. */
static int read_container(struct value_reader *vr, struct value *v)
{
    enum js_token end = v->kind == JS_OBJECT ? JS_OBJECT_END : JS_ARRAY_END;
    struct map seen = MAP_EMPTY;
    struct value **tail = &v->first;
    enum js_token t;
    int err = 0;

    for (t = js_next(vr->s); !err && t != end; t = err ? end : js_next(vr->s)) {
        struct value *child;

        if (t == JS_KEY) {
            child = member_for_key(vr, &seen, &tail);
            t = js_next(vr->s);
        } else {
            child = arena_new_obj(vr->arena, struct value);
            *tail = child;
            tail = &child->next;
        }
        err = read_value(vr, t, child);
    }
    map_fini(&seen, NULL);
    return err;
}

static void put_value(const struct value *v, struct buf *out)
{
    bool is_map = v->kind == JS_OBJECT;

    if (!is_map && v->kind != JS_ARRAY) {
        buf_add(out, v->text, v->text_len);
        return;
    }
    buf_add_char(out, is_map ? '{' : '[');
    for (const struct value *child = v->first; child; child = child->next) {
        if (child->key) {
            buf_add(out, child->key, child->key_len);
            buf_add_char(out, '=');
        }
        put_value(child, out);
        if (child->next)
            buf_add_str(out, ", ");
    }
    buf_add_char(out, is_map ? '}' : ']');
}

int java_value_text(struct js *s, enum js_token opening, struct buf *out)
{
    struct value_reader vr = {s, arena_new(0)};
    struct value top = {.kind = opening};
    int err = read_container(&vr, &top);

    if (!err)
        put_value(&top, out);
    arena_free(vr.arena);
    return err;
}

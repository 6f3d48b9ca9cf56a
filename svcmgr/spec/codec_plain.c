/**
 * The way of most stored documents from text to struct: one pass, no tree. What a document of ours looks like is known, so anything else is left
 * to fld_read: see fld_read_plain in codec.h.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "json/json.h"
#include "json/scan.h"
#include "spec/codec.h"

/** Objects in objects that fields describe. */
#define DEPTH_MAX 8

/** The text of the last token, when it can be kept as it is. */
static const char *token_text(struct js *s)
{
    const char *text = buf_cstr(&s->text);
    return strlen(text) == s->text.len ? text : NULL;
}

static bool read_object(const struct fld_type *type, struct js *s, const char *first, void *object);

static bool read_sub(const struct fld *f, struct js *s, void **slot)
{
    void *sub = fld_new(f->sub);
    if (js_next(s) == JS_OBJECT && read_object(f->sub, s, NULL, sub)) {
        *slot = sub;
        return true;
    }
    fld_free(f->sub, sub);
    return false;
}

static bool read_word(const struct fld *f, const char *word, int *out)
{
    for (int i = 0; f->words[i]; i++) {
        if (strcmp(f->words[i], word) == 0) {
            *out = i;
            return true;
        }
    }
    return false;
}

static bool read_text(const struct fld *f, struct js *s, void *slot)
{
    const char *text = js_next(s) == JS_STRING ? token_text(s) : NULL;
    if (!text)
        return false;
    if (f->kind == FLD_KIND_ENUM)
        return read_word(f, text, slot);
    *(char **)slot = mem_str(text);
    return true;
}

/** At the ':' before it. */
static bool read_tree(struct js *s, json_t **slot)
{
    const char *from = s->p + 1;
    return !js_skip(s) && !json_read(from, (size_t)(s->p - from), slot, NULL);
}

/** The value of a field, when it is written as we write it. */
static bool read_value(const struct fld *f, struct js *s, void *slot)
{
    switch (f->kind) {
    case FLD_KIND_STR:
    case FLD_KIND_ENUM: return read_text(f, s, slot);
    case FLD_KIND_I64:
    case FLD_KIND_DATE:
        return js_next(s) == JS_INTEGER && !str_to_i64(buf_cstr(&s->text), INT64_MIN + 1, INT64_MAX, slot);
    case FLD_KIND_BOOL: {
        enum js_token token = js_next(s);
        *(bool *)slot = token == JS_TRUE;
        return token == JS_TRUE || token == JS_FALSE;
    }
    case FLD_KIND_OBJ: return read_sub(f, s, slot);
    case FLD_KIND_JSON: return read_tree(s, slot);
    case FLD_KIND_MAP:
    case FLD_KIND_STRS:
    case FLD_KIND_LIST:
    case FLD_KIND_KNOWN: return false;
    }
    return false;
}

/** Fields come in the order of their table, as they are written: so none comes twice. @return NULL: none from `at` on */
static const struct fld *next_field(const struct fld_type *type, size_t *at, const char *name)
{
    for (size_t i = *at; i < type->n_flds; i++) {
        if (strcmp(type->flds[i].name, name) == 0) {
            *at = i + 1;
            return &type->flds[i];
        }
    }
    return NULL;
}

/** @param first  integer member that stands before the fields; NULL: none @return false: not as we write it */
static bool read_object(const struct fld_type *type, struct js *s, const char *first, void *object)
{
    enum js_token token = js_next(s);
    if (first) {
        if (token != JS_KEY || strcmp(buf_cstr(&s->text), first) != 0 || js_next(s) != JS_INTEGER)
            return false;
        token = js_next(s);
    }
    for (size_t at = 0; token == JS_KEY; token = js_next(s)) {
        const struct fld *f = next_field(type, &at, buf_cstr(&s->text));
        if (!f || !read_value(f, s, (char *)object + f->offset))
            return false;
    }
    return token == JS_OBJECT_END;
}

/** Only ASCII: what else there may be in a text is for a stricter reader. */
static bool is_ascii(const char *bytes, size_t len)
{
    unsigned char all = 0;
    for (size_t i = 0; i < len; i++)
        all |= (unsigned char)bytes[i];
    return all < 0x80;
}

void *fld_read_plain(const struct fld_type *type, const char *first, const char *bytes, size_t len)
{
    struct js s;
    if (!is_ascii(bytes, len))
        return NULL;
    void *object = fld_new(type);
    js_init(&s, bytes, len, DEPTH_MAX);
    bool is_read = js_next(&s) == JS_OBJECT && read_object(type, &s, first, object) && s.p == s.end;
    js_fini(&s);
    if (is_read)
        return object;
    fld_free(type, object);
    return NULL;
}

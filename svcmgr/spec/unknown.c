/** Members that a type does not know: see unknown.h. */
#include "spec/unknown.h"

#include <string.h>

#include "base/mem.h"
#include "base/nearest.h"
#include "spec/properties.h"

#define NAME_SHOWN_MAX  100 /* bytes of a name */
#define WHERE_SHOWN_MAX 200

/** What was found so far. */
struct listing {
    struct buf *out;
    size_t n;
};

/** Append at most `max` bytes, whole characters. */
static void add_cut(struct buf *out, const char *text, size_t max)
{
    size_t len = strnlen(text, max);
    while (text[len] && len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80)
        len--;
    buf_add(out, text, len);
    if (text[len])
        buf_add_str(out, "…");
}

static void list_one(struct listing *l, const char *where, const char *name, const char *nearest)
{
    mem_auto char *element = spec_pointer("", name);
    if (l->n++ >= SPEC_UNKNOWN_MAX)
        return;
    if (l->n > 1)
        buf_add_str(l->out, "; ");
    add_cut(l->out, where, WHERE_SHOWN_MAX);
    add_cut(l->out, element, NAME_SHOWN_MAX);
    if (nearest)
        buf_addf(l->out, ", did you mean \"%s\"?", nearest);
}

static const struct fld *field_of(const struct fld_type *type, const char *name)
{
    for (size_t i = 0; i < type->n_flds; i++) {
        const struct fld *f = &type->flds[i];
        if (f->flags & FLD_STORED)
            continue;
        if (strcmp(f->name, name) == 0 || (f->alias && strcmp(f->alias, name) == 0))
            return f;
    }
    return NULL;
}

static const char *nearest_field(const struct fld_type *type, const char *name)
{
    struct nearest n = nearest_to(name);
    for (size_t i = 0; i < type->n_flds; i++) {
        if (!(type->flds[i].flags & FLD_STORED))
            nearest_offer(&n, type->flds[i].name);
    }
    return n.name;
}

static void search_object(struct listing *l, const struct fld_type *type, const json_t *v, const char *where);

/** The objects of a list, or of a map of any names. */
static void search_items(struct listing *l, const struct fld_type *type, const json_t *v, const char *where)
{
    const char *key;
    json_t *item;
    for (size_t i = 0; i < json_array_size(v); i++) {
        mem_auto char *place = mem_fmt("%s/%zu", where, i);
        search_object(l, type, json_array_get(v, i), place);
    }
    json_object_foreach((json_t *)v, key, item)
    {
        mem_auto char *place = spec_pointer(where, key);
        search_object(l, type, item, place);
    }
}

static void search_object(struct listing *l, const struct fld_type *type, const json_t *v, const char *where)
{
    const char *key;
    json_t *item;
    json_object_foreach((json_t *)v, key, item)
    {
        const struct fld *f = field_of(type, key);
        mem_auto char *place = f && f->sub ? spec_pointer(where, key) : NULL;
        if (!f)
            list_one(l, where, key, nearest_field(type, key));
        else if (f->sub && ((f->flags & FLD_EACH) || json_is_array(item)))
            search_items(l, f->sub, item, place);
        else if (f->sub)
            search_object(l, f->sub, item, place);
    }
}

void spec_list_unknown(const struct fld_type *type, const json_t *doc, struct buf *out)
{
    struct listing l = {.out = out};
    if (json_is_array(doc))
        search_items(&l, type, doc, "");
    else
        search_object(&l, type, doc, "");
    if (l.n > SPEC_UNKNOWN_MAX)
        buf_addf(out, "; and %zu more", l.n - SPEC_UNKNOWN_MAX);
}

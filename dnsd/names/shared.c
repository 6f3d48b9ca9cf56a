#include "names/shared.h"
#include "base/mem.h"
#include "base/obj.h"
#include "names/members.h"

#include <stdlib.h>

#define SHARED_NAME_MAGIC OBJ_MAGIC('S', 'H', 'N', 'M')

/** The members of one type; those that are ready, and those that are not, a set of their own each. */
struct shared_type {
    struct shared_type *next;
    uint16_t type;
    struct members of[2]; /* by is_ready */
};

struct shared_name {
    struct obj obj;
    unsigned n_ready, n_unready; /* contributions of all types */
    struct shared_type *types;
};

static void name_free(void *arg)
{
    struct shared_name *n = obj_cast(arg, struct shared_name, SHARED_NAME_MAGIC);
    struct shared_type *t;
    while ((t = n->types)) {
        n->types = t->next;
        members_fini(&t->of[false]);
        members_fini(&t->of[true]);
        free(t);
    }
    obj_fini(&n->obj);
    free(n);
}

void shared_fini(struct shared_names *names)
{
    map_fini(&names->by_name, name_free);
}

static const char *key_of(const uint8_t *owner, char text[NAME_TEXT_MAX])
{
    uint8_t lower[NAME_MAX_LEN];
    name_lower(owner, lower);
    return name_to_text(lower, text);
}

static struct shared_type *find_type(const struct shared_name *n, uint16_t type)
{
    struct shared_type *t = n->types;
    while (t && t->type != type)
        t = t->next;
    return t;
}

static struct shared_type *type_of(struct shared_name *n, uint16_t type)
{
    struct shared_type *t = find_type(n, type);
    if (!t) {
        t = mem_new(struct shared_type);
        t->type = type;
        t->next = n->types;
        n->types = t;
    }
    return t;
}

/* The first ready record has come, or the last one has gone: the unready ones leave the zone, or come to it. */
static void publish_unready(const struct shared_name *n, struct members_edit edit, bool is_add)
{
    edit.is_published = true;
    for (const struct shared_type *t = n->types; t; t = t->next) {
        edit.about.type = t->type;
        members_publish(&t->of[false], &edit, is_add);
    }
}

static void change(struct shared_name *n, const struct members_edit *edit, const struct zone_rr *rr,
                   bool is_ready, bool is_add)
{
    struct members *members = &type_of(n, rr->type)->of[is_ready];
    unsigned *count = is_ready ? &n->n_ready : &n->n_unready;
    BUG_IF(!is_add && !*count);
    if (is_add)
        members_add(members, edit, rr);
    else
        members_remove(members, edit, rr);
    *count += is_add ? 1u : -1u;
    if (is_ready && n->n_ready == is_add)
        publish_unready(n, *edit, !is_add);
}

void shared_change(struct shared_names *names, const struct zone_rr *rr, bool is_ready, bool is_add,
                   const struct shared_sink *sink)
{
    char text[NAME_TEXT_MAX];
    const char *key = key_of(rr->owner, text);
    struct shared_name *n = map_get(&names->by_name, key);
    if (!n) {
        n = mem_new(struct shared_name);
        obj_init(&n->obj, SHARED_NAME_MAGIC);
        map_set(&names->by_name, key, n);
    }
    struct members_edit edit = {.max = names->max_members,
                                .is_published = is_ready || !n->n_ready,
                                .about = {.owner = rr->owner, .type = rr->type},
                                .rr = sink->rr,
                                .arg = sink->arg};
    change(n, &edit, rr, is_ready, is_add);
    if (!n->n_ready && !n->n_unready)
        name_free(map_remove(&names->by_name, key));
}

enum shared_state shared_state(const struct shared_names *names, const struct zone_rr *rr, bool is_ready)
{
    char text[NAME_TEXT_MAX];
    const struct shared_name *n = map_get(&names->by_name, key_of(rr->owner, text));
    const struct shared_type *t = n ? find_type(n, rr->type) : NULL;
    if (!is_ready && n && n->n_ready)
        return SHARED_NOT_READY;
    return t && !members_has(&t->of[is_ready], rr) ? SHARED_SURPLUS : SHARED_VISIBLE;
}

/**
 * Services that end with another one: rules->parent (rules.h).
 *
 *     parent is STOPPED, or about to be ──> each child with stop_with_parent is stopped, and cannot be started
 *     parent is destroyed               ──> each child with destroy_with_parent is destroyed
 *
 * Neither follows from an event: it holds at any time, so that a crash on the way loses nothing. A parent that changes wakes its
 * children, each in a step of its own; the others look when they are settled. A child that is its own parent has none.
 *
 *     children: "slider/alice/parent" ──► "slider/alice/a", "slider/alice/b"     "launcher//parent" ──► "launcher/alice/a"
 *
 * Where names are of all users together (eng_policy.is_put) so are those of parents, and a parent is stopped when a request says so.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/policy.h"
#include "engine/rules.h"
#include "engine/documents.h"
#include "engine/service.h"
#include "engine/step.h"

/** What a parent's state means for its children. */
enum { GOES_ON, STOPS, GOES };

/** Key of the parent; NULL: it has none. free() */
static char *parent_key(enum eng_kind kind, const char *user, const char *name, const struct eng_rules *rules)
{
    const struct eng_parent *p = rules ? rules->parent : NULL;
    const char *parent_user = p && p->user ? p->user : user;
    if (p && policy_of(kind)->is_put)
        return strcmp(p->name, name) == 0 ? NULL : service_key(kind, "", p->name);
    if (!p || (strcmp(p->name, name) == 0 && strcmp(parent_user, user) == 0))
        return NULL;
    return service_key(kind, parent_user, p->name);
}

static char *parent_key_of(const struct eng_service *s)
{
    return parent_key(s->kind, s->user, s->name, s->rules);
}

/** What a service is as a parent. free() */
static char *own_key(const struct eng_service *s)
{
    return service_key(s->kind, policy_of(s->kind)->is_put ? "" : s->user, s->name);
}

/** The parent of a key, or NULL. */
static const struct eng_service *parent_at(const struct engine *e, enum eng_kind kind, const char *key,
                                           const struct eng_rules *rules)
{
    if (!key)
        return NULL;
    return policy_of(kind)->is_put ? engine_find_framework(e, rules->parent->name)
                                   : map_get(&e->services, key);
}

/** The parent, or NULL. */
static const struct eng_service *parent_of(const struct engine *e, const struct eng_service *s)
{
    mem_auto char *key = parent_key_of(s);
    return parent_at(e, s->kind, key, s->rules);
}

static int level_of(const struct eng_service *parent)
{
    if (!parent || parent->destroying)
        return GOES;
    if (policy_of(parent->kind)->is_put)
        return parent->is_wanted_stopped ? STOPS : GOES_ON;
    bool is_stopping = parent->state == SVC_FINISHING && parent->end_state == SVC_STOPPED;
    return parent->state == SVC_STOPPED || is_stopping ? STOPS : GOES_ON;
}

/* ---- who is whose ---- */

void parents_add(struct engine *e, const struct eng_service *s)
{
    mem_auto char *key = parent_key_of(s);
    mem_auto char *own = service_key(s->kind, s->user, s->name);
    if (!key)
        return;
    struct map *children = map_get(&e->children, key);
    if (!children) {
        children = mem_new(struct map);
        map_set(&e->children, key, children);
    }
    map_set(children, own, children);
}

static void free_children(void *value)
{
    map_fini(value, NULL);
    free(value);
}

void parents_remove(struct engine *e, const struct eng_service *s)
{
    mem_auto char *key = parent_key_of(s);
    mem_auto char *own = service_key(s->kind, s->user, s->name);
    struct map *children = key ? map_get(&e->children, key) : NULL;
    if (!children)
        return;
    map_remove(children, own);
    if (children->n_items == 0)
        free_children(map_remove(&e->children, key));
}

void parents_fini(struct engine *e)
{
    map_fini(&e->children, free_children);
}

/* ---- requests ---- */

bool parents_allow(struct step *st, const struct eng_event *ev)
{
    const char *name = ev->take_spec->name;
    const struct eng_rules *rules = ev->take_rules;
    mem_auto char *key = parent_key(ev->service_kind, ev->user, name, rules);
    const struct eng_service *parent = parent_at(st->e, ev->service_kind, key, rules);
    if (!key || !rules->parent->destroy_with_parent || (parent && !parent->destroying))
        return true;
    struct eng_answer *a = step_answer(st, ev->token, OUT_NO_PARENT, NULL);
    a->name = mem_str(name);
    a->parent = mem_str(rules->parent->name);
    return false;
}

bool parents_stop(const struct engine *e, const struct eng_service *s)
{
    const struct eng_service *parent = parent_of(e, s);
    return parent && s->rules->parent->stop_with_parent && level_of(parent) >= STOPS;
}

/* ---- in step with the service ---- */

/** The parent has changed: its children look at it, each in a step of its own. */
static void wake_children(struct step *st, const struct eng_service *s)
{
    mem_auto char *own = own_key(s);
    const struct map *children = map_get(&st->e->children, own);
    mem_auto const char **keys = children ? map_sorted_keys(children) : NULL;
    for (size_t i = 0; keys && keys[i]; i++) {
        struct eng_service *child = map_get(&st->e->services, keys[i]);
        if (child)
            step_wake(st, child);
    }
}

void parents_follow(struct step *st, struct eng_service *s)
{
    const struct eng_parent *p = s->rules ? s->rules->parent : NULL;
    mem_auto char *key = parent_key_of(s);
    bool is_known = key && st->e->cfg.role != ROLE_MASTER; /* it follows them by its manager */
    int level = is_known ? level_of(parent_of(st->e, s)) : GOES_ON;
    if (level == GOES_ON || s->next_spec) /* what comes next has rules of its own: backoff_settle */
        return;
    mem_auto char *why = mem_fmt("its parent %s is %s", p->name, level == GOES ? "destroyed" : "stopped");
    bool is_stopped = parents_stop(st->e, s);
    if (level == GOES && p->destroy_with_parent && !s->destroying)
        service_destroy(st, s, why);
    else if (is_stopped && s->state == SVC_FINISHING && s->end_state != SVC_STOPPED)
        service_stop_for_good(st, s);
    else if (is_stopped && eng_service_is_live(s))
        service_finish(st, s, SVC_STOPPED, why);
    if (is_stopped)
        framework_want_stopped(st, s, true);
}

void parents_cascade(struct step *st, struct eng_service *s)
{
    int level = level_of(s);
    if (level > s->cascaded)
        wake_children(st, s);
    s->cascaded = level;
}

#include "lease/table.h"
#include "base/mem.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

/* ---- the heap ---- */

static void heap_put(struct lease_table *t, struct lease_record *r, size_t at)
{
    t->heap[at] = r;
    r->heap_at = at;
}

static void sift_up(struct lease_table *t, struct lease_record *r, size_t at)
{
    for (; at > 0 && t->heap[(at - 1) / 2]->key_ms > r->key_ms; at = (at - 1) / 2)
        heap_put(t, t->heap[(at - 1) / 2], at);
    heap_put(t, r, at);
}

static void sift_down(struct lease_table *t, struct lease_record *r, size_t at)
{
    for (;;) {
        size_t child = 2 * at + 1;
        if (child + 1 < t->n_heap && t->heap[child + 1]->key_ms < t->heap[child]->key_ms)
            child++;
        if (child >= t->n_heap || t->heap[child]->key_ms >= r->key_ms)
            break;
        heap_put(t, t->heap[child], at);
        at = child;
    }
    heap_put(t, r, at);
}

static void heap_add(struct lease_table *t, struct lease_record *r)
{
    if (t->n_heap == t->cap) {
        t->cap = t->cap * 2 + 16;
        t->heap = mem_resize(t->heap, t->cap, sizeof(struct lease_record *));
    }
    t->n_heap++;
    sift_up(t, r, t->n_heap - 1);
}

static void heap_remove(struct lease_table *t, struct lease_record *r)
{
    size_t at = r->heap_at;
    if (at == SIZE_MAX)
        return;
    struct lease_record *last = t->heap[--t->n_heap];
    r->heap_at = SIZE_MAX;
    if (last == r)
        return;
    sift_up(t, last, at);
    sift_down(t, last, last->heap_at);
}

static void heap_move(struct lease_table *t, struct lease_record *r, int64_t key_ms)
{
    r->key_ms = key_ms;
    sift_up(t, r, r->heap_at);
    sift_down(t, r, r->heap_at);
}

/* ---- records ---- */

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

int64_t lease_record_due_ms(const struct lease_table *t, const struct lease_record *r)
{
    if (r->state == LEASE_ENDING)
        return 0;
    return r->ttl_ms + later(r->taken_ms, later(r->owner->renewed_ms, t->granted_ms));
}

static struct lease_owner *owner_at(struct lease_table *t, const char *id)
{
    struct lease_owner *o = map_get(&t->owners, id);
    if (o)
        return o;
    o = mem_new(struct lease_owner);
    o->id = mem_str(id);
    o->renewed_ms = INT64_MIN;
    TAILQ_INIT(&o->records);
    map_set(&t->owners, id, o);
    return o;
}

static bool is_heaped(enum lease_state state)
{
    return state == LEASE_LIVING || state == LEASE_ENDING;
}

/* The newest record of a path is the one that is found there. @return the other one; NULL: it is alone. */
static struct lease_record *take_path(struct lease_table *t, struct lease_record *r)
{
    struct lease_record *other = map_get(&t->paths, r->path);
    if (other && other->zxid >= r->zxid)
        return r;
    map_set(&t->paths, r->path, r);
    return other;
}

struct lease_record *lease_table_add(struct lease_table *t, const struct lease_def *def, int64_t now_ms,
                                     struct lease_record **older)
{
    struct lease_record *r = map_get(&t->names, def->name);
    *older = NULL;
    if (r)
        return r;
    r = mem_new(struct lease_record);
    r->owner = owner_at(t, def->owner);
    r->name = mem_str(def->name);
    r->path = mem_str(def->path);
    r->ttl_ms = def->ttl_ms;
    r->taken_ms = now_ms;
    r->zxid = def->zxid;
    r->is_marked = def->is_marked;
    r->state = def->is_marked ? LEASE_ENDING : LEASE_LIVING;
    r->owner->n_living += r->state == LEASE_LIVING;
    t->n_living += r->state == LEASE_LIVING;
    TAILQ_INSERT_TAIL(&r->owner->records, r, link);
    map_set(&t->names, r->name, r);
    *older = take_path(t, r);
    r->key_ms = lease_record_due_ms(t, r);
    heap_add(t, r);
    return r;
}

void lease_table_state(struct lease_table *t, struct lease_record *r, enum lease_state state)
{
    bool was_living = r->state == LEASE_LIVING, is_living = state == LEASE_LIVING;
    r->state = state;
    r->is_reported = r->is_reported && !is_living;
    r->owner->n_living += (size_t)is_living - (size_t)was_living;
    t->n_living += (size_t)is_living - (size_t)was_living;
    if (!is_heaped(state))
        heap_remove(t, r);
}

void lease_table_remove(struct lease_table *t, struct lease_record *r)
{
    struct lease_owner *o = r->owner;
    lease_table_state(t, r, LEASE_ENDED);
    TAILQ_REMOVE(&o->records, r, link);
    map_remove(&t->names, r->name);
    if (map_get(&t->paths, r->path) == r)
        map_remove(&t->paths, r->path);
    if (TAILQ_EMPTY(&o->records)) {
        map_remove(&t->owners, o->id);
        free(o->id);
        free(o);
    }
    free(r->name);
    free(r->path);
    free(r);
}

void lease_table_fini(struct lease_table *t)
{
    struct map_slot *slot;
    while ((slot = map_next(&t->names, NULL)))
        lease_table_remove(t, slot->value);
    map_fini(&t->names, NULL);
    map_fini(&t->owners, NULL);
    map_fini(&t->paths, NULL);
    free(t->heap);
    *t = (struct lease_table){0};
}

struct lease_record *lease_table_at(const struct lease_table *t, const char *path)
{
    return map_get(&t->paths, path);
}

bool lease_table_has_below(const struct lease_table *t, const char *path)
{
    size_t len = strlen(path);
    for (size_t i = 0; i < t->n_heap; i++) {
        const struct lease_record *r = t->heap[i];
        if (r->state == LEASE_LIVING && str_starts(r->path, path) && r->path[len] == '/')
            return true;
    }
    return false;
}

/* ---- time ---- */

struct lease_owner *lease_table_renew(struct lease_table *t, const char *id, int64_t now_ms)
{
    struct lease_owner *o = map_get(&t->owners, id);
    if (o)
        o->renewed_ms = now_ms;
    return o;
}

void lease_table_grant(struct lease_table *t, int64_t now_ms)
{
    t->granted_ms = now_ms;
    for (size_t i = 0; i < t->n_heap; i++) {
        if (t->heap[i]->state == LEASE_ENDING && !t->heap[i]->is_marked)
            lease_table_state(t, t->heap[i], LEASE_LIVING);
    }
}

int64_t lease_table_due_ms(const struct lease_table *t)
{
    return t->n_heap ? t->heap[0]->key_ms : INT64_MAX;
}

struct lease_record *lease_table_next(struct lease_table *t, int64_t now_ms)
{
    while (t->n_heap && t->heap[0]->key_ms <= now_ms) {
        struct lease_record *r = t->heap[0];
        int64_t due_ms = lease_record_due_ms(t, r);
        if (due_ms <= now_ms)
            return r;
        heap_move(t, r, due_ms);
    }
    return NULL;
}

void lease_table_put_off(struct lease_table *t, struct lease_record *r, int64_t until_ms)
{
    if (r->state == LEASE_LIVING)
        r->taken_ms = later(r->taken_ms, until_ms - r->ttl_ms);
    heap_move(t, r, until_ms);
}

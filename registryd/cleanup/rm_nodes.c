#include "cleanup/rm_nodes.h"
#include "base/mem.h"

#include <stdlib.h>

/* A time as the value of a map: never NULL. */
#define TIME_VALUE(ms) ((void *)(uintptr_t)((uint64_t)(ms) + 1))

enum phase { CALM, WAITING, GRACE };

struct rm_nodes {
    int64_t expiry_ms, settle_ms;
    enum phase phase;
    int64_t now_ms;        /* of this poll */
    int64_t passed_ms;     /* WAITING: of the interval */
    int64_t until_ms;      /* GRACE: its end */
    struct map registered; /* as of the last list; sets */
    struct map known;      /* registered at the last CALM, or since; GRACE: those that must be back */
    struct map back;       /* GRACE: known ones that have come back */
    /* registered ones -> TIME_VALUE of the first list since the restart that has them without a gap */
    struct map since;
    bool has_list;     /* registered is this poll's, or CALM */
    int64_t listed_ms; /* when the last list came; 0: none yet */
    int64_t n_active;  /* counted with it */
};

struct rm_nodes *rm_nodes_new(int64_t expiry_ms, int64_t settle_ms)
{
    struct rm_nodes *n = mem_new(struct rm_nodes);
    n->expiry_ms = expiry_ms;
    n->settle_ms = settle_ms;
    return n;
}

void rm_nodes_free(struct rm_nodes *n)
{
    if (!n)
        return;
    map_fini(&n->registered, NULL);
    map_fini(&n->known, NULL);
    map_fini(&n->back, NULL);
    map_fini(&n->since, NULL);
    free(n);
}

static void add_all(struct map *to, const struct map *from)
{
    for (MAP_EACH (from, it))
        map_set(to, it->key, to);
}

void rm_nodes_restart(struct rm_nodes *n, int64_t passed_ms)
{
    add_all(&n->known, &n->registered);
    map_fini(&n->registered, NULL);
    map_fini(&n->back, NULL);
    map_fini(&n->since, NULL);
    n->has_list = false;
    n->phase = WAITING;
    n->passed_ms = passed_ms;
}

bool rm_nodes_wants_list(const struct rm_nodes *n, int64_t n_active, int64_t now_ms)
{
    if (n->phase != CALM)
        return n_active > 0;
    return !n->listed_ms || n_active != n->n_active || now_ms - n->listed_ms >= RM_NODES_LIST_MS;
}

/* Known nodes that are registered for the first time since the restart. @return there are some */
static bool note_back(struct rm_nodes *n)
{
    size_t n_before = n->back.n_items;
    for (MAP_EACH (&n->registered, it)) {
        if (map_get(&n->known, it->key))
            map_set(&n->back, it->key, n);
    }
    return n->back.n_items > n_before;
}

static void note_since(struct rm_nodes *n, int64_t now_ms)
{
    struct map since = MAP_EMPTY;
    for (MAP_EACH (&n->registered, it)) {
        void *before = map_get(&n->since, it->key);
        map_set(&since, it->key, before ? before : TIME_VALUE(now_ms));
    }
    map_fini(&n->since, NULL);
    n->since = since;
}

void rm_nodes_saw(struct rm_nodes *n, int64_t n_active, struct map *take_list, int64_t now_ms)
{
    n->now_ms = now_ms;
    if (take_list) {
        map_fini(&n->registered, NULL);
        n->registered = *take_list;
        *take_list = MAP_EMPTY;
        n->listed_ms = now_ms;
        n->n_active = n_active;
        note_since(n, now_ms);
    }
    n->has_list = take_list != NULL;
    if (n->phase == WAITING && n_active > 0) {
        n->phase = GRACE;
        n->until_ms = now_ms + n->expiry_ms - n->passed_ms;
        note_back(n);
    } else if (n->phase == GRACE && note_back(n)) {
        n->until_ms = now_ms + n->expiry_ms;
    }
    if (n->phase == GRACE && now_ms >= n->until_ms)
        n->phase = CALM;
}

void rm_nodes_commit(struct rm_nodes *n)
{
    if (n->phase != CALM)
        return;
    map_fini(&n->back, NULL);
    if (!n->has_list)
        return;
    map_fini(&n->known, NULL);
    add_all(&n->known, &n->registered);
}

/* It has been registered so long that the RM's list of containers has what lives there. */
static bool has_settled(const struct rm_nodes *n, const char *node)
{
    const void *since = map_get(&n->since, node);
    return since && (uint64_t)n->now_ms + 1 >= (uint64_t)(uintptr_t)since + (uint64_t)n->settle_ms;
}

static bool all_back(const struct rm_nodes *n)
{
    for (MAP_EACH (&n->known, it)) {
        if (!has_settled(n, it->key))
            return false;
    }
    return n->known.n_items > 0;
}

bool rm_nodes_may_miss(const struct rm_nodes *n, const char *node)
{
    if (n->phase == CALM)
        return true;
    if (n->phase == WAITING || !n->has_list)
        return false;
    return node ? has_settled(n, node) : all_back(n);
}

bool rm_nodes_show_containers(const struct rm_nodes *n)
{
    return n->phase != WAITING;
}

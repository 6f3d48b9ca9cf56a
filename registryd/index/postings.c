#include "index/postings.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/obj.h"
#include "run/task.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#define POSTINGS_MAGIC OBJ_MAGIC('P', 'O', 'S', 'T')

/** Slots of a key that are looked at for a record of an attempt or container. */
#define RECENT_SLOTS 64
/** A step of freeing: so many postings; of squeezing: so many slots. Some tens of microseconds each. */
#define STEP_POSTINGS 256
#define STEP_SLOTS    4096
/** Maps of one kind's keys, so that none grows large: growing is done in one turn. */
#define N_SHARDS 256
/** What malloc adds to a piece, and what a key costs in its map, for the estimate. */
#define MALLOC_HEAD   16
#define MAP_SLOT_COST 48

/** One record under a key; entry NULL: it was taken out. */
struct slot {
    uint64_t number;
    struct posting_entry *entry;
};

struct posting_key {
    enum index_kind kind;
    uint32_t n_slots, cap, n_live;
    struct slot *slots; /* ascending numbers */
    char text[];
};

/** A key of INDEX_APP. */
struct app {
    TAILQ_ENTRY(app) link; /* in the order of serial */
    uint64_t serial;
    struct posting_key key;
};

TAILQ_HEAD(app_list, app);

/** The keys between two calls of postings_clear. */
struct keys {
    STAILQ_ENTRY(keys) link; /* among the garbage */
    struct map maps[INDEX_N_KINDS * N_SHARDS];
    size_t map, at;           /* while it is freed: which map, and where in it */
    struct posting_key *last; /* the key that is being freed */
};

/** A key with many slots on its way to fewer: those with an entry are copied, in steps, while the old ones serve. */
struct squeeze {
    TAILQ_ENTRY(squeeze) link;
    struct posting_key *key;
    struct slot *slots; /* copies */
    uint32_t n_slots, cap;
    uint32_t at; /* slots of the key that were looked at */
};

struct postings {
    struct obj obj;
    struct keys *keys;
    struct app_list apps;
    STAILQ_HEAD(, keys) garbage; /* put aside by postings_clear */
    struct run_task *sweep;      /* frees the garbage */
    TAILQ_HEAD(, squeeze) squeezes;
    struct run_task *squeezer;
    uint64_t last_number, last_serial;
    size_t n_entries, n_bytes, n_garbage_bytes;
};

/* ---- keys ---- */

/* Bytes before a key in its allocation. */
static size_t key_head(enum index_kind kind)
{
    return kind == INDEX_APP ? offsetof(struct app, key) : 0;
}

static struct app *app_of(const struct posting_key *k)
{
    BUG_IF(k->kind != INDEX_APP);
    return (struct app *)(uintptr_t)((const char *)k - offsetof(struct app, key));
}

static size_t key_size(const struct posting_key *k)
{
    size_t len = strlen(k->text) + 1;
    return key_head(k->kind) + sizeof *k + 2 * len + 3 * MALLOC_HEAD + MAP_SLOT_COST +
           k->cap * sizeof *k->slots;
}

static size_t entry_size(const struct posting_entry *e)
{
    return sizeof *e + e->n_keys * sizeof *e->keys + MALLOC_HEAD;
}

/* First of n slots with a number of at least this one. */
static uint32_t slot_from(const struct slot *slots, uint32_t n, uint64_t number)
{
    uint32_t low = 0, high = n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (slots[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Give it the last place. */
static void app_to_end(struct postings *p, struct app *app)
{
    if (app->serial)
        TAILQ_REMOVE(&p->apps, app, link);
    app->serial = ++p->last_serial;
    TAILQ_INSERT_TAIL(&p->apps, app, link);
}

static struct map *map_for(const struct postings *p, enum index_kind kind, const char *text, size_t len)
{
    size_t shard = hash_bytes(text, len) >> 32 & (N_SHARDS - 1); /* a map looks at the lower half */
    return &p->keys->maps[(size_t)kind * N_SHARDS + shard];
}

static struct posting_key *key_find(const struct postings *p, enum index_kind kind, const char *text)
{
    size_t len = strlen(text);
    return map_getn(map_for(p, kind, text, len), text, len);
}

static struct posting_key *key_for(struct postings *p, enum index_kind kind, const char *text)
{
    struct posting_key *k = key_find(p, kind, text);
    if (k)
        return k;
    size_t len = strlen(text);
    k = (struct posting_key *)((char *)mem_zalloc(key_head(kind) + sizeof *k + len + 1) + key_head(kind));
    k->kind = kind;
    memcpy(k->text, text, len);
    map_set(map_for(p, kind, text, len), text, k);
    if (kind == INDEX_APP)
        app_to_end(p, app_of(k));
    p->n_bytes += key_size(k);
    return k;
}

static void key_free(struct posting_key *k)
{
    free(k->slots);
    free((char *)k - key_head(k->kind));
}

static bool is_part(const struct posting_entry *e)
{
    return e->persistence == INDEX_ATTEMPT || e->persistence == INDEX_CONTAINER;
}

/* Whether one of the latest records of an application is that of an attempt or container. */
static bool has_recent_part(const struct posting_key *k)
{
    for (uint32_t i = 0; i < k->n_slots && i < RECENT_SLOTS; i++) {
        const struct posting_entry *e = k->slots[k->n_slots - 1 - i].entry;
        if (e && is_part(e))
            return true;
    }
    return false;
}

static void key_add(struct postings *p, struct posting_key *k, struct posting_entry *e)
{
    /* Who looked at the application when it had no such record has to look again; once too often does no harm. */
    if (k->kind == INDEX_APP && k->n_live && is_part(e) && !has_recent_part(k))
        app_to_end(p, app_of(k));
    p->n_bytes -= key_size(k);
    if (k->n_slots == k->cap) {
        k->cap = k->cap + k->cap / 2 + 1;
        k->slots = mem_resize(k->slots, k->cap, sizeof *k->slots);
    }
    k->slots[k->n_slots++] = (struct slot){e->number, e};
    k->n_live++;
    p->n_bytes += key_size(k);
}

/* ---- squeezing: slots whose record was taken out go ---- */

static struct squeeze *squeeze_of(const struct postings *p, const struct posting_key *k)
{
    struct squeeze *sq;
    TAILQ_FOREACH (sq, &p->squeezes, link) {
        if (sq->key == k)
            return sq;
    }
    return NULL;
}

static void squeeze_free(struct postings *p, struct squeeze *sq)
{
    TAILQ_REMOVE(&p->squeezes, sq, link);
    free(sq->slots);
    free(sq);
}

/* Copy what is left of at most n slots more. */
static void squeeze_copy(struct squeeze *sq, uint32_t n)
{
    const struct posting_key *k = sq->key;
    for (; n && sq->at < k->n_slots; n--, sq->at++) {
        if (!k->slots[sq->at].entry)
            continue;
        if (sq->n_slots == sq->cap) {
            sq->cap += sq->cap / 8 + 1;
            sq->slots = mem_resize(sq->slots, sq->cap, sizeof *sq->slots);
        }
        sq->slots[sq->n_slots++] = k->slots[sq->at];
    }
}

/* All are copied: the copies are the key's slots from now on. */
static void squeeze_end(struct postings *p, struct squeeze *sq)
{
    struct posting_key *k = sq->key;
    struct slot *old = k->slots;
    p->n_bytes -= key_size(k);
    k->slots = sq->slots;
    k->n_slots = sq->n_slots;
    k->cap = sq->cap;
    p->n_bytes += key_size(k);
    sq->slots = old;
    squeeze_free(p, sq);
}

static bool squeeze_step(void *arg)
{
    struct postings *p = obj_cast(arg, struct postings, POSTINGS_MAGIC);
    struct squeeze *sq = TAILQ_FIRST(&p->squeezes);
    if (!sq)
        return false;
    squeeze_copy(sq, STEP_SLOTS);
    if (sq->at == sq->key->n_slots)
        squeeze_end(p, sq);
    return !TAILQ_EMPTY(&p->squeezes);
}

static void key_squeeze(struct postings *p, struct posting_key *k)
{
    struct squeeze *sq = mem_new(struct squeeze);
    sq->key = k;
    sq->cap = k->n_live;
    sq->slots = mem_array(sq->cap, sizeof *sq->slots);
    TAILQ_INSERT_TAIL(&p->squeezes, sq, link);
    if (k->n_slots > STEP_SLOTS) {
        run_task_start(p->squeezer);
        return;
    }
    squeeze_copy(sq, k->n_slots);
    squeeze_end(p, sq);
}

/* ---- records under a key ---- */

static void key_remove(struct postings *p, struct posting_key *k, const struct posting_entry *e)
{
    uint32_t i = slot_from(k->slots, k->n_slots, e->number);
    BUG_IF(i == k->n_slots || k->slots[i].entry != e);
    k->slots[i].entry = NULL;
    struct squeeze *sq = k->n_slots > STEP_SLOTS ? squeeze_of(p, k) : NULL;
    if (sq && i < sq->at)
        sq->slots[slot_from(sq->slots, sq->n_slots, e->number)].entry = NULL;
    if (--k->n_live == 0) {
        if (sq)
            squeeze_free(p, sq);
        p->n_bytes -= key_size(k);
        if (k->kind == INDEX_APP)
            TAILQ_REMOVE(&p->apps, app_of(k), link);
        map_remove(map_for(p, k->kind, k->text, strlen(k->text)), k->text);
        key_free(k);
    } else if (!sq && k->n_live < k->n_slots / 2) {
        key_squeeze(p, k);
    }
}

/* ---- entries ---- */

void postings_remove(struct postings *p, struct posting_entry *e)
{
    for (uint32_t i = 0; i < e->n_keys; i++)
        key_remove(p, e->keys[i], e);
    p->n_bytes -= entry_size(e);
    p->n_entries--;
    free(e);
}

struct posting_entry *postings_add(struct postings *p, const struct mirror_node *node,
                                   const struct index_terms *terms)
{
    struct posting_entry *e = mem_zalloc(sizeof *e + terms->n_items * sizeof *e->keys);
    e->number = ++p->last_number;
    e->node = node;
    e->persistence = terms->persistence;
    e->n_keys = (uint32_t)terms->n_items;
    for (size_t i = 0; i < terms->n_items; i++) {
        e->keys[i] = key_for(p, terms->items[i].kind, terms->items[i].text);
        key_add(p, e->keys[i], e);
    }
    p->n_bytes += entry_size(e);
    p->n_entries++;
    return e;
}

bool posting_entry_fits(const struct posting_entry *e, const struct index_terms *terms)
{
    if (e->n_keys != terms->n_items || e->persistence != terms->persistence)
        return false;
    for (size_t i = 0; i < terms->n_items; i++)
        if (e->keys[i]->kind != terms->items[i].kind || strcmp(e->keys[i]->text, terms->items[i].text) != 0)
            return false;
    return true;
}

const char *posting_entry_term(const struct posting_entry *e, enum index_kind kind)
{
    for (uint32_t i = 0; i < e->n_keys; i++)
        if (e->keys[i]->kind == kind)
            return e->keys[i]->text;
    return NULL;
}

/* ---- clearing: all keys become garbage, freed in steps ---- */

/* Free postings from the end of a key, at most *n_left. An entry goes with the last of its keys. */
static void key_free_postings(struct postings *p, struct posting_key *k, size_t *n_left)
{
    for (; k->n_slots && *n_left; --*n_left) {
        struct posting_entry *e = k->slots[--k->n_slots].entry;
        p->n_garbage_bytes -= e ? sizeof *e->keys : 0;
        if (!e || --e->n_keys)
            continue;
        p->n_garbage_bytes -= entry_size(e);
        free(e);
    }
}

/* The next key of keys that are freed; NULL: no more. */
static struct posting_key *keys_take(struct keys *keys)
{
    struct posting_key *k = NULL;
    while (!k && keys->map < ARRAY_LEN(keys->maps)) {
        k = map_take(&keys->maps[keys->map], &keys->at);
        keys->map += k == NULL;
    }
    return k;
}

/* Free at most *n_left keys and postings. @return whether nothing is left; keys is freed then. */
static bool keys_free(struct postings *p, struct keys *keys, size_t *n_left)
{
    while (*n_left) {
        if (!keys->last)
            keys->last = keys_take(keys);
        if (!keys->last) {
            free(keys);
            return true;
        }
        key_free_postings(p, keys->last, n_left);
        if (!*n_left)
            return false;
        --*n_left;
        p->n_garbage_bytes -= key_size(keys->last);
        key_free(keys->last);
        keys->last = NULL;
    }
    return false;
}

static void sweep(struct postings *p, size_t n)
{
    struct keys *keys;
    while (n && (keys = STAILQ_FIRST(&p->garbage))) {
        STAILQ_REMOVE_HEAD(&p->garbage, link);
        if (!keys_free(p, keys, &n))
            STAILQ_INSERT_HEAD(&p->garbage, keys, link);
    }
}

static bool sweep_step(void *arg)
{
    struct postings *p = obj_cast(arg, struct postings, POSTINGS_MAGIC);
    sweep(p, STEP_POSTINGS);
    return !STAILQ_EMPTY(&p->garbage);
}

static void squeezes_free(struct postings *p)
{
    struct squeeze *sq;
    while ((sq = TAILQ_FIRST(&p->squeezes)))
        squeeze_free(p, sq);
}

void postings_clear(struct postings *p)
{
    squeezes_free(p);
    STAILQ_INSERT_TAIL(&p->garbage, p->keys, link);
    p->keys = mem_new(struct keys);
    run_task_start(p->sweep);
    TAILQ_INIT(&p->apps);
    p->n_entries = 0;
    p->n_garbage_bytes += p->n_bytes;
    p->n_bytes = 0;
}

/* ---- life ---- */

struct postings *postings_new(struct run_loop *loop)
{
    struct postings *p = mem_new(struct postings);
    obj_init(&p->obj, POSTINGS_MAGIC);
    p->keys = mem_new(struct keys);
    TAILQ_INIT(&p->apps);
    STAILQ_INIT(&p->garbage);
    TAILQ_INIT(&p->squeezes);
    p->sweep = run_task_new(loop, sweep_step, p);
    p->squeezer = run_task_new(loop, squeeze_step, p);
    return p;
}

void postings_free(struct postings *p)
{
    if (!p)
        return;
    squeezes_free(p);
    STAILQ_INSERT_TAIL(&p->garbage, p->keys, link);
    sweep(p, SIZE_MAX);
    run_task_free(p->squeezer);
    run_task_free(p->sweep);
    obj_fini(&p->obj);
    free(p);
}

size_t postings_n_entries(const struct postings *p)
{
    return p->n_entries;
}

size_t postings_n_bytes(const struct postings *p)
{
    return p->n_bytes + p->n_garbage_bytes;
}

/* ---- asking ---- */

/* The keys of a query. @return the one with the fewest records; NULL: a term that no record has. */
static struct posting_key *query_keys(const struct postings *p, const char *const terms[INDEX_N_KINDS],
                                      struct posting_key *keys[INDEX_N_KINDS], size_t *n_keys)
{
    struct posting_key *rarest = NULL;
    *n_keys = 0;
    for (int kind = 0; kind < INDEX_N_KINDS; kind++) {
        if (!terms[kind])
            continue;
        struct posting_key *k = key_find(p, (enum index_kind)kind, terms[kind]);
        if (!k)
            return NULL;
        keys[(*n_keys)++] = k;
        if (!rarest || k->n_live < rarest->n_live)
            rarest = k;
    }
    BUG_IF(!rarest);
    return rarest;
}

static bool entry_has_all(const struct posting_entry *e, struct posting_key *const keys[], size_t n_keys)
{
    for (size_t i = 0; i < n_keys; i++) {
        uint32_t at = 0;
        while (at < e->n_keys && e->keys[at] != keys[i])
            at++;
        if (at == e->n_keys)
            return false;
    }
    return true;
}

const struct posting_entry *postings_next(const struct postings *p, const char *const terms[INDEX_N_KINDS],
                                          uint64_t *after, size_t *n_visits)
{
    struct posting_key *keys[INDEX_N_KINDS];
    size_t n_keys;
    const struct posting_key *k = query_keys(p, terms, keys, &n_keys);
    if (!k)
        return NULL;
    for (uint32_t i = slot_from(k->slots, k->n_slots, *after + 1); i < k->n_slots && *n_visits; i++) {
        *after = k->slots[i].number;
        --*n_visits;
        const struct posting_entry *e = k->slots[i].entry;
        if (e && entry_has_all(e, keys, n_keys))
            return e;
    }
    return NULL;
}

bool postings_has(const struct postings *p, enum index_kind kind, const char *text)
{
    return key_find(p, kind, text) != NULL;
}

static bool give_app(const struct app *app, struct index_app *out)
{
    if (app)
        *out = (struct index_app){app->key.text, app->serial};
    return app != NULL;
}

bool postings_app_after(const struct postings *p, const struct index_app *last, struct index_app *out)
{
    const struct posting_key *k = last ? key_find(p, INDEX_APP, last->id) : NULL;
    const struct app *app = k ? app_of(k) : NULL, *next = NULL;
    if (!last)
        return give_app(TAILQ_FIRST(&p->apps), out);
    if (app && app->serial == last->serial)
        return give_app(TAILQ_NEXT(app, link), out);
    TAILQ_FOREACH_REVERSE(app, &p->apps, app_list, link)
    {
        if (app->serial <= last->serial)
            break;
        next = app;
    }
    return give_app(next, out);
}

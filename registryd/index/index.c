#include "index/index.h"
#include "store/mirror/walk.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/obj.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#define INDEX_MAGIC OBJ_MAGIC('I', 'N', 'D', 'X')

/** Slots of a key that are looked at for a record of an attempt or container. */
#define RECENT_SLOTS 64
/** Nodes of a slice of the first building, postings of a slice of dropping: some hundred microseconds. */
#define SLICE_NODES    64
#define SLICE_POSTINGS 1000
#define DROP_PAUSE_MS  1
/** Slots of a key that are squeezed at once, and that are copied in a slice where there are more. */
#define SLICE_SLOTS 16384
/** Maps of one kind's keys, so that none grows large: growing is done in one turn. */
#define N_SHARDS 256
/** What malloc adds to a piece, and what a key costs in its map, for the estimate. */
#define MALLOC_HEAD   16
#define MAP_SLOT_COST 48

struct entry;

/** One record under a key; entry NULL: it was taken out. */
struct slot {
    uint64_t number;
    struct entry *entry;
};

struct key {
    enum index_kind kind;
    uint32_t n_slots, cap, n_live;
    struct slot *slots; /* ascending numbers */
    char text[];
};

/** A key of INDEX_APP. */
struct app {
    TAILQ_ENTRY(app) link; /* in the order of serial */
    uint64_t serial;
    struct key key;
};

TAILQ_HEAD(app_list, app);

/** A record. Its node lives as long as it. */
struct entry {
    uint64_t number;
    const struct mirror_node *node;
    enum index_persistence persistence;
    uint32_t n_keys;
    struct key *keys[];
};

/** The keys of one building. */
struct keys {
    STAILQ_ENTRY(keys) link; /* among the old ones */
    struct map maps[INDEX_N_KINDS * N_SHARDS];
    size_t map, at;   /* while it is dropped: which map, and where in it */
    struct key *last; /* the key that is being dropped */
};

/** A key with many slots on its way to fewer: those with an entry are copied, in slices, while the old ones serve. */
struct squeeze {
    TAILQ_ENTRY(squeeze) link;
    struct key *key;
    struct slot *slots; /* copies */
    uint32_t n_slots, cap;
    uint32_t at; /* slots of the key that were looked at */
};

struct index {
    struct obj obj;
    struct mirror *mirror;
    struct keys *keys;
    STAILQ_HEAD(, keys) old; /* of earlier buildings, dropped in slices */
    struct run_timer *drop_timer;
    TAILQ_HEAD(, squeeze) squeezes;
    struct run_timer *squeeze_timer;
    struct app_list apps;
    uint64_t last_number, last_serial, epoch;
    size_t n_records, n_bytes, n_old_bytes;
    bool is_ready;
    struct run_timer *build_timer;
    char *built; /* path that the first building has come to; NULL: nothing yet */
};

/* ---- postings ---- */

/* Bytes before a key in its allocation. */
static size_t key_head(enum index_kind kind)
{
    return kind == INDEX_APP ? offsetof(struct app, key) : 0;
}

static struct app *app_of(const struct key *k)
{
    BUG_IF(k->kind != INDEX_APP);
    return (struct app *)(uintptr_t)((const char *)k - offsetof(struct app, key));
}

static size_t key_size(const struct key *k)
{
    size_t len = strlen(k->text) + 1;
    return key_head(k->kind) + sizeof *k + 2 * len + 3 * MALLOC_HEAD + MAP_SLOT_COST +
           k->cap * sizeof *k->slots;
}

static size_t entry_size(const struct entry *e)
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
static void app_to_end(struct index *ix, struct app *app)
{
    if (app->serial)
        TAILQ_REMOVE(&ix->apps, app, link);
    app->serial = ++ix->last_serial;
    TAILQ_INSERT_TAIL(&ix->apps, app, link);
}

static struct map *map_for(const struct index *ix, enum index_kind kind, const char *text, size_t len)
{
    size_t shard = hash_bytes(text, len) >> 32 & (N_SHARDS - 1); /* a map looks at the lower half */
    return &ix->keys->maps[(size_t)kind * N_SHARDS + shard];
}

static struct key *key_find(const struct index *ix, enum index_kind kind, const char *text)
{
    size_t len = strlen(text);
    return map_getn(map_for(ix, kind, text, len), text, len);
}

static struct key *key_for(struct index *ix, enum index_kind kind, const char *text)
{
    struct key *k = key_find(ix, kind, text);
    if (k)
        return k;
    size_t len = strlen(text);
    k = (struct key *)((char *)mem_zalloc(key_head(kind) + sizeof *k + len + 1) + key_head(kind));
    k->kind = kind;
    memcpy(k->text, text, len);
    map_set(map_for(ix, kind, text, len), text, k);
    if (kind == INDEX_APP)
        app_to_end(ix, app_of(k));
    ix->n_bytes += key_size(k);
    return k;
}

static void key_free(struct key *k)
{
    free(k->slots);
    free((char *)k - key_head(k->kind));
}

static bool is_part(const struct entry *e)
{
    return e->persistence == INDEX_ATTEMPT || e->persistence == INDEX_CONTAINER;
}

/* Whether one of the latest records of an application is that of an attempt or container. */
static bool has_recent_part(const struct key *k)
{
    for (uint32_t i = 0; i < k->n_slots && i < RECENT_SLOTS; i++) {
        const struct entry *e = k->slots[k->n_slots - 1 - i].entry;
        if (e && is_part(e))
            return true;
    }
    return false;
}

static void key_add(struct index *ix, struct key *k, struct entry *e)
{
    /* Who looked at the application when it had no such record has to look again; once too often does no harm. */
    if (k->kind == INDEX_APP && k->n_live && is_part(e) && !has_recent_part(k))
        app_to_end(ix, app_of(k));
    ix->n_bytes -= key_size(k);
    if (k->n_slots == k->cap) {
        k->cap = k->cap + k->cap / 2 + 1;
        k->slots = mem_resize(k->slots, k->cap, sizeof *k->slots);
    }
    k->slots[k->n_slots++] = (struct slot){e->number, e};
    k->n_live++;
    ix->n_bytes += key_size(k);
}

/* ---- squeezing: slots whose record was taken out go ---- */

static struct squeeze *squeeze_of(const struct index *ix, const struct key *k)
{
    struct squeeze *sq;
    TAILQ_FOREACH (sq, &ix->squeezes, link) {
        if (sq->key == k)
            return sq;
    }
    return NULL;
}

static void squeeze_free(struct index *ix, struct squeeze *sq)
{
    TAILQ_REMOVE(&ix->squeezes, sq, link);
    free(sq->slots);
    free(sq);
}

/* Copy what is left of at most n slots more. */
static void squeeze_copy(struct squeeze *sq, uint32_t n)
{
    const struct key *k = sq->key;
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
static void squeeze_end(struct index *ix, struct squeeze *sq)
{
    struct key *k = sq->key;
    struct slot *old = k->slots;
    ix->n_bytes -= key_size(k);
    k->slots = sq->slots;
    k->n_slots = sq->n_slots;
    k->cap = sq->cap;
    ix->n_bytes += key_size(k);
    sq->slots = old;
    squeeze_free(ix, sq);
}

static void squeeze_slice(void *arg)
{
    struct index *ix = obj_cast(arg, struct index, INDEX_MAGIC);
    struct squeeze *sq = TAILQ_FIRST(&ix->squeezes);
    if (!sq)
        return;
    squeeze_copy(sq, SLICE_SLOTS);
    if (sq->at == sq->key->n_slots)
        squeeze_end(ix, sq);
    if (!TAILQ_EMPTY(&ix->squeezes))
        run_timer_start(ix->squeeze_timer, DROP_PAUSE_MS, 0);
}

static void key_squeeze(struct index *ix, struct key *k)
{
    struct squeeze *sq = mem_new(struct squeeze);
    sq->key = k;
    sq->cap = k->n_live;
    sq->slots = mem_array(sq->cap, sizeof *sq->slots);
    TAILQ_INSERT_TAIL(&ix->squeezes, sq, link);
    if (k->n_slots > SLICE_SLOTS) {
        run_timer_start(ix->squeeze_timer, DROP_PAUSE_MS, 0);
        return;
    }
    squeeze_copy(sq, k->n_slots);
    squeeze_end(ix, sq);
}

/* ---- records under a key ---- */

static void key_remove(struct index *ix, struct key *k, const struct entry *e)
{
    uint32_t i = slot_from(k->slots, k->n_slots, e->number);
    BUG_IF(i == k->n_slots || k->slots[i].entry != e);
    k->slots[i].entry = NULL;
    struct squeeze *sq = k->n_slots > SLICE_SLOTS ? squeeze_of(ix, k) : NULL;
    if (sq && i < sq->at)
        sq->slots[slot_from(sq->slots, sq->n_slots, e->number)].entry = NULL;
    if (--k->n_live == 0) {
        if (sq)
            squeeze_free(ix, sq);
        ix->n_bytes -= key_size(k);
        if (k->kind == INDEX_APP)
            TAILQ_REMOVE(&ix->apps, app_of(k), link);
        map_remove(map_for(ix, k->kind, k->text, strlen(k->text)), k->text);
        key_free(k);
    } else if (!sq && k->n_live < k->n_slots / 2) {
        key_squeeze(ix, k);
    }
}

/* ---- records ---- */

static struct entry *entry_of(const struct mirror_node *node)
{
    return node->user;
}

static void entry_drop(struct index *ix, struct entry *e)
{
    for (uint32_t i = 0; i < e->n_keys; i++)
        key_remove(ix, e->keys[i], e);
    mirror_node_user(e->node, NULL);
    ix->n_bytes -= entry_size(e);
    ix->n_records--;
    free(e);
}

static void entry_add(struct index *ix, const struct mirror_node *node, const struct index_terms *terms)
{
    struct entry *e = mem_zalloc(sizeof *e + terms->n_items * sizeof *e->keys);
    e->number = ++ix->last_number;
    e->node = node;
    e->persistence = terms->persistence;
    e->n_keys = (uint32_t)terms->n_items;
    for (size_t i = 0; i < terms->n_items; i++) {
        e->keys[i] = key_for(ix, terms->items[i].kind, terms->items[i].text);
        key_add(ix, e->keys[i], e);
    }
    mirror_node_user(node, e);
    ix->n_bytes += entry_size(e);
    ix->n_records++;
}

static bool entry_fits(const struct entry *e, const struct index_terms *terms)
{
    if (e->n_keys != terms->n_items || e->persistence != terms->persistence)
        return false;
    for (size_t i = 0; i < terms->n_items; i++)
        if (e->keys[i]->kind != terms->items[i].kind || strcmp(e->keys[i]->text, terms->items[i].text) != 0)
            return false;
    return true;
}

/* Bring the entry of a node in line with its bytes. */
static void index_node(struct index *ix, const char *path, const struct mirror_node *node)
{
    struct entry *e = entry_of(node);
    struct reg_record *record;
    if (reg_record_read(node->data, node->stat.data_len, REG_STRICT, &record, NULL)) {
        if (e)
            entry_drop(ix, e);
        return;
    }
    struct index_terms terms;
    index_terms_read(path, record, &terms);
    reg_record_free(record);
    bool is_same = e && entry_fits(e, &terms);
    if (e && !is_same)
        entry_drop(ix, e);
    if (!is_same && terms.n_items)
        entry_add(ix, node, &terms);
    index_terms_fini(&terms);
}

/* ---- dropping all at once, in slices ---- */

/* Drop postings from the end of a key, at most *n_left. An entry goes with the last of its keys. */
static void postings_drop(struct index *ix, struct key *k, size_t *n_left)
{
    for (; k->n_slots && *n_left; --*n_left) {
        struct entry *e = k->slots[--k->n_slots].entry;
        ix->n_old_bytes -= e ? sizeof *e->keys : 0;
        if (!e || --e->n_keys)
            continue;
        ix->n_old_bytes -= entry_size(e);
        free(e);
    }
}

/* The next key of keys that are dropped; NULL: no more. */
static struct key *keys_take(struct keys *keys)
{
    struct key *k = NULL;
    while (!k && keys->map < ARRAY_LEN(keys->maps)) {
        k = map_take(&keys->maps[keys->map], &keys->at);
        keys->map += k == NULL;
    }
    return k;
}

/* Drop at most *n_left keys and postings. @return whether nothing is left; keys is freed then. */
static bool keys_drop(struct index *ix, struct keys *keys, size_t *n_left)
{
    while (*n_left) {
        if (!keys->last)
            keys->last = keys_take(keys);
        if (!keys->last) {
            free(keys);
            return true;
        }
        postings_drop(ix, keys->last, n_left);
        if (!*n_left)
            return false;
        --*n_left;
        ix->n_old_bytes -= key_size(keys->last);
        key_free(keys->last);
        keys->last = NULL;
    }
    return false;
}

static void drop_old(struct index *ix, size_t n)
{
    struct keys *keys;
    while (n && (keys = STAILQ_FIRST(&ix->old))) {
        STAILQ_REMOVE_HEAD(&ix->old, link);
        if (!keys_drop(ix, keys, &n))
            STAILQ_INSERT_HEAD(&ix->old, keys, link);
    }
}

static void drop_slice(void *arg)
{
    struct index *ix = obj_cast(arg, struct index, INDEX_MAGIC);
    drop_old(ix, SLICE_POSTINGS);
    if (!STAILQ_EMPTY(&ix->old))
        run_timer_start(ix->drop_timer, DROP_PAUSE_MS, 0);
}

static void squeezes_drop(struct index *ix)
{
    struct squeeze *sq;
    while ((sq = TAILQ_FIRST(&ix->squeezes)))
        squeeze_free(ix, sq);
}

static void index_clear(struct index *ix)
{
    squeezes_drop(ix);
    STAILQ_INSERT_TAIL(&ix->old, ix->keys, link);
    ix->keys = mem_new(struct keys);
    run_timer_start(ix->drop_timer, DROP_PAUSE_MS, 0);
    TAILQ_INIT(&ix->apps);
    ix->n_records = 0;
    ix->n_old_bytes += ix->n_bytes;
    ix->n_bytes = 0;
}

/* ---- following the mirror ---- */

static void build_slice(void *arg)
{
    struct index *ix = obj_cast(arg, struct index, INDEX_MAGIC);
    for (int i = 0; i < SLICE_NODES; i++) {
        const struct mirror_node *node = walk_next(ix->mirror, "/", ix->built);
        free(ix->built);
        ix->built = NULL;
        if (!node) {
            ix->is_ready = true;
            return;
        }
        struct buf path = BUF_EMPTY;
        mirror_path(node, &path);
        ix->built = buf_take(&path);
        index_node(ix, ix->built, node);
    }
    run_timer_start(ix->build_timer, 0, 0);
}

static void on_synced(void *arg)
{
    struct index *ix = obj_cast(arg, struct index, INDEX_MAGIC);
    index_clear(ix);
    ix->epoch++;
    ix->is_ready = false;
    mem_free_ptr(&ix->built);
    build_slice(ix);
}

static void on_change(void *arg, enum mirror_change kind, const char *path, const struct mirror_node *node,
                      const char *old_data, size_t old_len, int64_t zxid)
{
    struct index *ix = obj_cast(arg, struct index, INDEX_MAGIC);
    (void)old_data;
    (void)old_len;
    (void)zxid;
    if (kind == MIRROR_PUT)
        index_node(ix, path, node);
    else if (entry_of(node))
        entry_drop(ix, entry_of(node));
}

static const struct mirror_listener listener = {.synced = on_synced, .change = on_change};

struct index *index_new(struct run_loop *loop, struct mirror *m)
{
    struct index *ix = mem_new(struct index);
    obj_init(&ix->obj, INDEX_MAGIC);
    ix->mirror = m;
    TAILQ_INIT(&ix->apps);
    ix->epoch = (uint64_t)run_wall_ms();
    ix->build_timer = run_timer_new(loop, build_slice, ix);
    ix->drop_timer = run_timer_new(loop, drop_slice, ix);
    ix->squeeze_timer = run_timer_new(loop, squeeze_slice, ix);
    TAILQ_INIT(&ix->squeezes);
    ix->keys = mem_new(struct keys);
    STAILQ_INIT(&ix->old);
    mirror_listen(m, &listener, ix);
    return ix;
}

void index_free(struct index *ix)
{
    if (!ix)
        return;
    STAILQ_INSERT_TAIL(&ix->old, ix->keys, link);
    squeezes_drop(ix);
    drop_old(ix, SIZE_MAX);
    run_timer_free(ix->squeeze_timer);
    run_timer_free(ix->drop_timer);
    run_timer_free(ix->build_timer);
    free(ix->built);
    obj_fini(&ix->obj);
    free(ix);
}

bool index_ready(const struct index *ix)
{
    return ix->is_ready;
}

uint64_t index_epoch(const struct index *ix)
{
    return ix->epoch;
}

size_t index_n_records(const struct index *ix)
{
    return ix->n_records;
}

size_t index_n_bytes(const struct index *ix)
{
    return ix->n_bytes + ix->n_old_bytes;
}

/* ---- asking ---- */

/* The keys of a query. @return the one with the fewest records; NULL: a term that no record has. */
static struct key *query_keys(const struct index *ix, const struct index_query *q,
                              struct key *keys[INDEX_N_KINDS], size_t *n_keys)
{
    struct key *rarest = NULL;
    *n_keys = 0;
    for (int kind = 0; kind < INDEX_N_KINDS; kind++) {
        if (!q->terms[kind])
            continue;
        struct key *k = key_find(ix, (enum index_kind)kind, q->terms[kind]);
        if (!k)
            return NULL;
        keys[(*n_keys)++] = k;
        if (!rarest || k->n_live < rarest->n_live)
            rarest = k;
    }
    BUG_IF(!rarest);
    return rarest;
}

static bool entry_has_all(const struct entry *e, struct key *const keys[], size_t n_keys)
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

const struct mirror_node *index_next(const struct index *ix, const struct index_query *q, uint64_t *after,
                                     size_t *n_visits)
{
    struct key *keys[INDEX_N_KINDS];
    size_t n_keys;
    const struct key *k = query_keys(ix, q, keys, &n_keys);
    if (!k)
        return NULL;
    for (uint32_t i = slot_from(k->slots, k->n_slots, *after + 1); i < k->n_slots && *n_visits; i++) {
        *after = k->slots[i].number;
        --*n_visits;
        const struct entry *e = k->slots[i].entry;
        if (e && entry_has_all(e, keys, n_keys))
            return e->node;
    }
    return NULL;
}

static bool give_app(const struct app *app, struct index_app *out)
{
    if (app)
        *out = (struct index_app){app->key.text, app->serial};
    return app != NULL;
}

bool index_app_after(const struct index *ix, const struct index_app *last, struct index_app *out)
{
    const struct key *k = last ? key_find(ix, INDEX_APP, last->id) : NULL;
    const struct app *app = k ? app_of(k) : NULL, *next = NULL;
    if (!last)
        return give_app(TAILQ_FIRST(&ix->apps), out);
    if (app && app->serial == last->serial)
        return give_app(TAILQ_NEXT(app, link), out);
    TAILQ_FOREACH_REVERSE(app, &ix->apps, app_list, link)
    {
        if (app->serial <= last->serial)
            break;
        next = app;
    }
    return give_app(next, out);
}

bool index_has_app(const struct index *ix, const char *id)
{
    return key_find(ix, INDEX_APP, id) != NULL;
}

enum index_persistence index_persistence(const struct mirror_node *node)
{
    const struct entry *e = entry_of(node);
    return e ? e->persistence : INDEX_OTHER;
}

const char *index_id(const struct mirror_node *node)
{
    const struct entry *e = entry_of(node);
    for (uint32_t i = 0; e && i < e->n_keys; i++)
        if (e->keys[i]->kind == INDEX_ID)
            return e->keys[i]->text;
    return NULL;
}

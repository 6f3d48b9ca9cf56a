#include "store/zk/own.h"
#include "base/mem.h"

#include <stdlib.h>

#define OWN_MAGIC OBJ_MAGIC('Z', 'K', 'O', 'W')

struct zko {
    struct obj obj;
    TAILQ_ENTRY(zko) link; /* in `noticed` */
    struct zko_set *set;   /* NULL: dropped, its writer frees it */
    char *path;
    int32_t kind;
    bool is_noticed, is_answered; /* never both: it is emitted then */
    int64_t floor_zxid;           /* noticed: what the notice came after */
    struct store_stat stat;       /* answered, and its data */
    char *bytes;
    size_t len;
};

static void own_free(struct zko *own)
{
    free(own->path);
    free(own->bytes);
    obj_fini(&own->obj);
    free(own);
}

/* Remove it; an answered one is freed here, the others by their writers. */
static void drop(struct zko *own)
{
    map_remove(&own->set->by_path, own->path);
    if (own->is_noticed)
        TAILQ_REMOVE(&own->set->noticed, own, link);
    own->set->n_answered -= own->is_answered;
    own->set = NULL;
    if (own->is_answered)
        own_free(own);
}

static void drop_and_read(struct zko *own)
{
    struct zko_set *set = own->set;
    mem_auto char *path = mem_str(own->path);
    bool is_noticed = own->is_noticed;
    int64_t floor_zxid = own->floor_zxid;
    drop(own);
    if (is_noticed)
        set->ops->reread(set->arg, path, floor_zxid);
}

void zko_init(struct zko_set *set)
{
    *set = (struct zko_set){.by_path = MAP_EMPTY};
    TAILQ_INIT(&set->noticed);
}

void zko_clear(struct zko_set *set)
{
    for (MAP_EACH (&set->by_path, slot)) {
        struct zko *own = slot->value;
        own->set = NULL;
        if (own->is_answered)
            own_free(own);
    }
    map_fini(&set->by_path, NULL);
    TAILQ_INIT(&set->noticed);
    set->n_answered = 0;
}

struct zko *zko_begin(struct zko_set *set, const char *path, int32_t kind)
{
    struct zko *other = map_get(&set->by_path, path);
    if (other) {
        bool is_noticed = other->is_noticed;
        drop_and_read(other);
        if (is_noticed)
            set->ops->settled(set->arg);
        return NULL;
    }
    struct zko *own = mem_new(struct zko);
    obj_init(&own->obj, OWN_MAGIC);
    own->set = set;
    own->path = mem_str(path);
    own->kind = kind;
    map_set(&set->by_path, path, own);
    return own;
}

void zko_done(struct zko *take_own, const struct store_stat *stat, const char *bytes, size_t len)
{
    struct zko *own = obj_cast(take_own, struct zko, OWN_MAGIC);
    struct zko_set *set = own->set;
    if (set && !own->is_noticed) {
        own->is_answered = true;
        set->n_answered++;
        own->stat = *stat;
        own->bytes = mem_strn(bytes, len);
        own->len = len;
        return;
    }
    if (set) {
        drop(own);
        set->ops->node(set->arg, own->path, stat, bytes, len);
        set->ops->settled(set->arg);
    }
    own_free(own);
}

void zko_failed(struct zko *take_own)
{
    struct zko *own = obj_cast(take_own, struct zko, OWN_MAGIC);
    struct zko_set *set = own->set;
    bool is_noticed = own->is_noticed;
    if (set) {
        drop_and_read(own);
        if (is_noticed)
            set->ops->settled(set->arg);
    }
    own_free(own);
}

bool zko_notice(struct zko_set *set, const char *path, int32_t kind, int64_t seen_zxid)
{
    struct zko *own = map_get(&set->by_path, path);
    if (!own)
        return false;
    if (own->kind != kind || own->is_noticed) {
        drop(own); /* the caller reads it */
        return false;
    }
    if (own->is_answered) {
        set->ops->node(set->arg, own->path, &own->stat, own->bytes, own->len);
        drop(own);
        return true;
    }
    own->is_noticed = true;
    own->floor_zxid = seen_zxid;
    TAILQ_INSERT_TAIL(&set->noticed, own, link);
    return true;
}

void zko_expedite(struct zko_set *set, const char *path)
{
    struct zko *own = map_get(&set->by_path, path);
    if (own && own->is_noticed)
        drop_and_read(own);
}

void zko_forget(struct zko_set *set, const char *path)
{
    struct zko *own = map_get(&set->by_path, path);
    if (own)
        drop(own);
}

bool zko_is_noticed(const struct zko_set *set, const char *path)
{
    const struct zko *own = map_get(&set->by_path, path);
    return own && own->is_noticed;
}

int64_t zko_floor(const struct zko_set *set)
{
    const struct zko *oldest = TAILQ_FIRST(&set->noticed);
    return oldest ? oldest->floor_zxid : INT64_MAX;
}

void zko_applied(struct zko_set *set, int64_t zxid)
{
    if (set->n_answered == 0)
        return;
    for (MAP_EACH (&set->by_path, slot)) {
        struct zko *own = slot->value;
        if (own->is_answered && own->stat.mzxid <= zxid)
            drop(own);
    }
}

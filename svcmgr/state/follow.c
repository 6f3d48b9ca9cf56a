/**
 * What others write: see state.h.
 *
 * The follower of the store delivers every change, ours too. `known` has each node with the number of the change that we know
 * of (struct node, zxid), so a node is news when its own number is higher. News of a service that is away go to the caller, and
 * `known` is then as they are. News of another service are kept: our write whose answer is still to come, which they prove
 * to be when `known` has caught up, or those of a service that becomes away in a moment.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "state/state_priv.h"

#define FOLLOW_MAGIC  OBJ_MAGIC('S', 'T', 'F', 'O')
#define PENDING_MAGIC OBJ_MAGIC('S', 'T', 'P', 'E')
#define QUIET_MARK_MS 15000 /* nobody waits for one: a master does nothing most of the time */

/** News of a service that is not away. */
struct pending {
    struct obj obj;
    struct store_stat stat;
    char *bytes; /* NULL: it is gone */
    size_t len;
};

struct follow {
    struct obj obj;
    struct state *state;
    const struct state_follow_ops *ops;
    void *arg;
    struct map seen;    /* while all is read: paths that are there */
    struct map pending; /* path -> struct pending */
    bool is_reading, is_lost;
    bool has_news; /* since `settled` */
};

static void pending_free(void *p)
{
    struct pending *k = obj_cast(p, struct pending, PENDING_MAGIC);

    free(k->bytes);
    obj_fini(&k->obj);
    free(k);
}

static void drop_pending(struct follow *f, const char *path)
{
    struct pending *k = map_remove(&f->pending, path);

    if (k)
        pending_free(k);
}

static void keep(struct follow *f, const char *path, const struct store_stat *stat, const char *bytes,
                 size_t len)
{
    struct pending *k = mem_new(struct pending);

    obj_init(&k->obj, PENDING_MAGIC);
    k->stat = stat ? *stat : (struct store_stat){0};
    k->bytes = bytes ? mem_strn(bytes, len) : NULL;
    k->len = len;
    drop_pending(f, path);
    map_set(&f->pending, path, k);
}

/** Others write this node now. */
static bool is_away(const struct follow *f, const char *path)
{
    mem_auto char *key = mem_strn(path + 1, state_service_part(path) - 1);

    return f->ops->is_away(f->arg, key);
}

static bool is_news(const struct follow *f, const char *path, const struct store_stat *stat)
{
    const struct node *n = map_get(&f->state->known, path);

    return stat ? !n || stat->mzxid > n->zxid : n != NULL;
}

/** `known` is as the store, and the caller has the document. bytes NULL: it is gone. */
static void report(struct follow *f, const char *path, const struct store_stat *stat, const char *bytes,
                   size_t len)
{
    bool was_there = map_get(&f->state->known, path) != NULL;

    if (stat)
        state_saw_node(f->state, path, stat);
    else
        free(map_remove(&f->state->known, path));
    if (state_is_clock(path) ||
        (!len && !was_there)) /* A node without data is only there for those below it. */
        return;
    f->has_news = true;
    f->ops->changed(f->arg, path + 1, len ? bytes : NULL, len);
}

static void take_news(struct follow *f, const char *path, const struct store_stat *stat, const char *bytes,
                      size_t len)
{
    if (!is_news(f, path, stat)) {
        drop_pending(f, path);
    } else if (is_away(f, path)) {
        drop_pending(f, path);
        report(f, path, stat, bytes, len);
    } else {
        keep(f, path, stat, bytes, len);
    }
}

/** What was kept and is news no more, or news of a service that is away by now. */
static void sift_pending(struct follow *f)
{
    if (!f->pending.n_items)
        return;
    struct map pending = f->pending;
    f->pending = MAP_EMPTY;
    mem_auto const char **paths = map_sorted_keys(&pending);
    for (size_t i = 0; paths[i]; i++) {
        const struct pending *k = map_get(&pending, paths[i]);
        take_news(f, paths[i], k->bytes ? &k->stat : NULL, k->bytes, k->len);
    }
    map_fini(&pending, pending_free);
}

/* ---- the whole state ---- */

static bool is_followed(const char *path)
{
    return state_service_part(path) && !state_is_attempt(path);
}

static void on_begin(void *arg, const char *store_id)
{
    struct follow *f = obj_cast(arg, struct follow, FOLLOW_MAGIC);

    (void)store_id;
    f->is_reading = true;
    map_fini(&f->seen, NULL);
    map_fini(&f->pending, pending_free);
}

static void on_node(void *arg, const char *path, const struct store_stat *stat, const char *bytes, size_t len)
{
    struct follow *f = obj_cast(arg, struct follow, FOLLOW_MAGIC);

    if (!is_followed(path))
        return;
    if (f->is_reading)
        map_set(&f->seen, path, f);
    if (bytes) /* else only its children changed */
        take_news(f, path, stat, bytes, len);
}

/**
 * Nodes of services that are away and are no longer there, deepest first.
 *
 * @param below  those below this path; NULL: those that were not seen, as of zxid
 */
static void sweep(struct follow *f, const char *below, int64_t zxid)
{
    mem_auto const char **paths = map_sorted_keys(&f->state->known);
    size_t n = f->state->known.n_items;

    while (n-- > 0) {
        const char *path = paths[n];
        const struct node *node = map_get(&f->state->known, path);
        bool is_there = below ? !state_is_below(path, below) : map_get(&f->seen, path) || node->zxid > zxid;
        if (is_there || !is_followed(path) || !is_away(f, path))
            continue;
        mem_auto char *gone = mem_str(path); /* the map's own goes with the node */
        report(f, gone, NULL, NULL, 0);
    }
}

static void on_gone(void *arg, const char *path, int64_t zxid)
{
    struct follow *f = obj_cast(arg, struct follow, FOLLOW_MAGIC);

    (void)zxid;
    map_remove(&f->seen, path);
    if (strcmp(path, "/") == 0)
        sweep(f, "", 0);
    else if (is_followed(path)) /* What was below has gone before it. */
        take_news(f, path, NULL, NULL, 0);
}

static void settle(struct follow *f)
{
    sift_pending(f);
    if (!f->has_news)
        return;
    f->has_news = false;
    f->ops->settled(f->arg);
}

static void end(struct follow *f)
{
    f->is_reading = false;
    map_fini(&f->seen, NULL);
    if (f->is_lost)
        f->ops->lost(f->arg, NULL);
    f->is_lost = false;
    f->has_news = true;
    settle(f);
}

static void on_end(void *arg, int64_t zxid)
{
    struct follow *f = obj_cast(arg, struct follow, FOLLOW_MAGIC);

    sweep(f, NULL, zxid);
    end(f);
}

static void on_applied(void *arg, int64_t zxid)
{
    struct follow *f = obj_cast(arg, struct follow, FOLLOW_MAGIC);

    (void)zxid;
    settle(f);
}

static void on_lost(void *arg, const struct err_info *why)
{
    struct follow *f = obj_cast(arg, struct follow, FOLLOW_MAGIC);

    if (!f->is_lost)
        f->ops->lost(f->arg, why);
    f->is_lost = true;
}

static const struct store_follow_ops all_ops = {on_begin, on_node, on_gone, on_end, on_applied, on_lost};

/* ---- what is wanted of one service ---- */

static void on_definition(void *arg, const char *path, const struct store_stat *stat, const char *bytes,
                          size_t len)
{
    struct follow *f = obj_cast(arg, struct follow, FOLLOW_MAGIC);

    if (strcmp(path, "/") == 0 && bytes && is_news(f, f->state->definition, stat))
        report(f, f->state->definition, stat, bytes, len);
}

static void on_definition_gone(void *arg, const char *path, int64_t zxid)
{
    struct follow *f = obj_cast(arg, struct follow, FOLLOW_MAGIC);

    (void)zxid;
    if (strcmp(path, "/") == 0 && is_news(f, f->state->definition, NULL))
        report(f, f->state->definition, NULL, NULL, 0);
}

static void on_definition_read(void *arg, int64_t zxid)
{
    struct follow *f = obj_cast(arg, struct follow, FOLLOW_MAGIC);

    (void)zxid;
    end(f);
}

static const struct store_follow_ops definition_ops = {on_begin,           on_definition, on_definition_gone,
                                                       on_definition_read, on_applied,    on_lost};

/* ---- beginning and ending ---- */

int state_follow(struct state *s, const struct state_follow_ops *ops, void *arg, struct err_info *why)
{
    BUG_IF(s->follow);
    if (!s->is_shared)
        return err_set(why, ERR_UNSUPPORTED, store_url(s->store), "no other process writes this store");
    if (s->scope) {
        mem_auto char *url = mem_fmt("%s%s", store_url(s->store), s->definition);
        const struct store_options options = {.session_timeout_ms = STATE_MASTER_TIMEOUT_MS,
                                              .quiet_mark_ms = QUIET_MARK_MS,
                                              .only_follows = true,
                                              .digest = s->account};
        int err = store_open(s->loop, url, &options, &s->wanted, why);
        if (err)
            return err;
    }
    struct follow *f = mem_new(struct follow);
    obj_init(&f->obj, FOLLOW_MAGIC);
    f->state = s;
    f->ops = ops;
    f->arg = arg;
    s->follow = f;
    if (s->scope)
        store_follow(s->wanted, &definition_ops, f);
    else
        store_follow(s->store, &all_ops, f);
    return 0;
}

void state_follow_close(struct state *s, void (*closed)(void *arg), void *arg)
{
    if (s->wanted)
        store_close(s->wanted, closed, arg);
    else
        closed(arg);
}

void state_follow_free(struct state *s)
{
    struct follow *f = s->follow;

    if (!f)
        return;
    map_fini(&f->seen, NULL);
    map_fini(&f->pending, pending_free);
    obj_fini(&f->obj);
    free(f);
    s->follow = NULL;
}

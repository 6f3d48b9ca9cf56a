#include "feed/follow.h"
#include "feed/events.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#define FOLLOW_MAGIC OBJ_MAGIC('F', 'O', 'L', 'W')
#define WAITER_MAGIC OBJ_MAGIC('W', 'A', 'I', 'T')

/** Longest time that a change waits for others to share its commit. */
#define COMMIT_DELAY_MS 20

/* A packed record; len 0 in `pending`: the path has no names any more. */
struct packed {
    size_t len;
    char bytes[];
};

struct waiter {
    struct obj obj;
    TAILQ_ENTRY(waiter) link;
    char store[REG_REVISION_MAX];
    int64_t n;
    int64_t until_ms;
    int result; /* 1: waiting */
    void (*fn)(void *arg, int err);
    void *arg;
};

struct follow {
    struct obj obj;
    struct run_loop *loop;
    struct zoneset *zones;
    struct map_options map;
    struct reg_watch *watch;
    void (*changed)(void *arg);
    void *arg;
    struct map records;  /* path -> struct packed: what the zones hold */
    struct map pending;  /* path -> struct packed: what the next commit changes */
    struct map snapshot; /* path -> struct packed: being gathered */
    bool in_snapshot;
    struct run_timer *commit_timer, *wait_timer;
    TAILQ_HEAD(, waiter) waiters;
    struct follow_state state;
};

/* ---- committing ---- */

/* One side of a difference: records added to, or taken from, the transaction. */
struct half {
    struct follow *follow;
    struct zone_tx *tx;
    bool is_add;
};

static void on_rr(void *arg, const struct zone_rr *rr)
{
    struct half *h = arg;
    int err = h->is_add ? zone_tx_add(h->tx, ZONE_BY_NAME, rr) : zone_tx_remove(h->tx, ZONE_BY_NAME, rr);
    if (err && h->is_add)
        h->follow->state.n_unzoned++;
}

static void produce(struct follow *f, struct zone_tx *tx, const char *path, const struct packed *p,
                    bool is_add)
{
    struct half half = {f, tx, is_add};
    struct map_sink sink = {on_rr, &half};
    unsigned left_out = map_produce(&f->map, path, p->bytes, p->len, &sink);
    if (left_out && is_add) {
        f->state.n_left_out += left_out;
        log_emit(&ev_feed_left_out, LOG_STR("path", path), LOG_INT("names", left_out));
    }
}

/* Make `path` hold `take_new` (len 0: nothing). */
static void replace(struct follow *f, struct zone_tx *tx, const char *path, struct packed *take_new)
{
    struct packed *old = map_get(&f->records, path);
    if (old && old->len == take_new->len && memcmp(old->bytes, take_new->bytes, old->len) == 0) {
        free(take_new);
        return;
    }
    if (old)
        produce(f, tx, path, old, false);
    if (take_new->len) {
        produce(f, tx, path, take_new, true);
        free(map_set(&f->records, path, take_new));
    } else {
        free(map_remove(&f->records, path));
        free(take_new);
    }
}

static unsigned version_flags(const struct follow *f)
{
    return (f->state.is_ready ? ZONE_READY : 0u) |
           (f->state.is_ready && !f->state.is_connected ? ZONE_STALE : 0u);
}

static void commit(struct follow *f)
{
    run_timer_stop(f->commit_timer);
    struct zone_tx *tx = zone_tx_begin(f->zones);
    for (MAP_EACH (&f->pending, it))
        replace(f, tx, it->key, it->value);
    map_fini(&f->pending, NULL);
    zone_tx_commit(tx, version_flags(f), NULL);
    f->state.n_records = f->records.n_items;
    f->state.n_commits++;
}

/* ---- waiting for a revision ---- */

/* Decide about one waiter by what is published. */
static void settle(const struct follow *f, struct waiter *w, int64_t now_ms)
{
    char store[REG_REVISION_MAX];
    int64_t n;
    if (w->result != 1)
        return;
    if (reg_revision_read(f->state.revision, store, &n) == 0) {
        if (strcmp(store, w->store) != 0)
            w->result = ERR_GONE;
        else if (n >= w->n)
            w->result = 0;
    }
    if (w->result == 1 && now_ms >= w->until_ms)
        w->result = ERR_TIMEOUT;
}

static void waiter_free(struct follow *f, struct waiter *w)
{
    TAILQ_REMOVE(&f->waiters, w, link);
    obj_fini(&w->obj);
    free(w);
}

/* Settle all, then call those that are settled; a call may add or forget others, so begin again after each. */
static void serve_waiters(struct follow *f)
{
    int64_t now = run_now_ms(), next = INT64_MAX;
    struct waiter *w;
    TAILQ_FOREACH (w, &f->waiters, link)
        settle(f, w, now);
    do {
        TAILQ_FOREACH (w, &f->waiters, link) {
            if (w->result != 1)
                break;
        }
        if (w) {
            struct waiter copy = *w;
            waiter_free(f, w);
            copy.fn(copy.arg, copy.result);
        }
    } while (w);
    TAILQ_FOREACH (w, &f->waiters, link)
        next = w->until_ms < next ? w->until_ms : next;
    if (next == INT64_MAX)
        run_timer_stop(f->wait_timer);
    else
        run_timer_start(f->wait_timer, next > now ? (uint64_t)(next - now) : 0, 0);
}

static void on_wait_timer(void *arg)
{
    serve_waiters(obj_cast(arg, struct follow, FOLLOW_MAGIC));
}

int follow_when(struct follow *f, const char *revision, int64_t timeout_ms, void (*fn)(void *arg, int err),
                void *arg)
{
    char store[REG_REVISION_MAX];
    int64_t n;
    int err = reg_revision_read(revision, store, &n);
    if (err)
        return err;
    struct waiter *w = mem_new(struct waiter);
    obj_init(&w->obj, WAITER_MAGIC);
    memcpy(w->store, store, sizeof store);
    w->n = n;
    w->until_ms = run_now_ms() + timeout_ms;
    w->result = 1;
    w->fn = fn;
    w->arg = arg;
    TAILQ_INSERT_TAIL(&f->waiters, w, link);
    run_timer_start(f->wait_timer, 0, 0);
    return 0;
}

void follow_forget(struct follow *f, void *arg)
{
    struct waiter *w = TAILQ_FIRST(&f->waiters);
    while (w) {
        struct waiter *next = TAILQ_NEXT(w, link);
        if (w->arg == arg)
            waiter_free(f, w);
        w = next;
    }
}

/* ---- what the watch tells ---- */

static void published(struct follow *f, const char *revision)
{
    memcpy(f->state.revision, revision, strnlen(revision, REG_REVISION_MAX - 1) + 1);
    f->changed(f->arg);
    serve_waiters(f);
}

static void on_commit_timer(void *arg)
{
    struct follow *f = obj_cast(arg, struct follow, FOLLOW_MAGIC);
    commit(f);
    f->changed(f->arg);
}

static void on_reset(void *arg)
{
    struct follow *f = obj_cast(arg, struct follow, FOLLOW_MAGIC);
    map_fini(&f->snapshot, free);
    f->in_snapshot = true;
}

static struct packed *pack(const struct reg_record *record)
{
    size_t len = 0;
    mem_auto char *bytes = map_pack(record, &len);
    struct packed *p = mem_alloc(sizeof *p + len);
    p->len = len;
    if (len)
        memcpy(p->bytes, bytes, len);
    return p;
}

/* Keep a change for the next commit; within a snapshot for its end. */
static void note(struct follow *f, const char *path, struct packed *take_p)
{
    free(map_set(f->in_snapshot ? &f->snapshot : &f->pending, path, take_p));
    if (!f->in_snapshot && f->pending.n_items == 1)
        run_timer_start(f->commit_timer, COMMIT_DELAY_MS, 0);
}

static void on_put(void *arg, const char *path, const struct reg_record *record, const char *revision)
{
    (void)revision;
    note(obj_cast(arg, struct follow, FOLLOW_MAGIC), path, pack(record));
}

static void on_deleted(void *arg, const char *path, const char *revision)
{
    (void)revision;
    note(obj_cast(arg, struct follow, FOLLOW_MAGIC), path, pack(NULL));
}

/* What is held and was not seen in the snapshot is gone. */
static void on_synced(void *arg, const char *revision)
{
    struct follow *f = obj_cast(arg, struct follow, FOLLOW_MAGIC);
    for (MAP_EACH (&f->records, it))
        if (!map_get(&f->snapshot, it->key))
            map_set(&f->snapshot, it->key, pack(NULL));
    map_fini(&f->pending, free);
    f->pending = f->snapshot;
    f->snapshot = MAP_EMPTY;
    f->in_snapshot = false;
    f->state.is_ready = true;
    commit(f);
    log_emit(&ev_feed_synced, LOG_STR("revision", revision), LOG_INT("records", f->state.n_records));
    published(f, revision);
}

static void on_progress(void *arg, const char *revision)
{
    struct follow *f = obj_cast(arg, struct follow, FOLLOW_MAGIC);
    if (f->in_snapshot)
        return;
    if (f->pending.n_items)
        commit(f);
    published(f, revision);
}

static void on_state(void *arg, const struct err_info *why)
{
    struct follow *f = obj_cast(arg, struct follow, FOLLOW_MAGIC);
    if (f->state.is_connected == !why)
        return;
    f->state.is_connected = !why;
    if (why)
        log_emit(&ev_feed_lost, LOG_ERR(why));
    else
        log_emit0(&ev_feed_back);
    commit(f); /* the flags of the version changed */
    f->changed(f->arg);
}

static const struct reg_watch_ops watch_ops = {.reset = on_reset,
                                               .put = on_put,
                                               .deleted = on_deleted,
                                               .synced = on_synced,
                                               .progress = on_progress,
                                               .state = on_state};

/* ---- beginning and end ---- */

struct follow *follow_start(const struct follow_def *def)
{
    struct follow *f = mem_new(struct follow);
    obj_init(&f->obj, FOLLOW_MAGIC);
    f->loop = def->loop;
    f->zones = def->zones;
    f->map = def->map;
    f->changed = def->changed;
    f->arg = def->arg;
    f->commit_timer = run_timer_new(f->loop, on_commit_timer, f);
    f->wait_timer = run_timer_new(f->loop, on_wait_timer, f);
    TAILQ_INIT(&f->waiters);
    f->watch = reg_watch_start(def->registry, "/", NULL, &watch_ops, f);
    return f;
}

void follow_stop(struct follow *f)
{
    if (!f)
        return;
    reg_watch_stop(f->watch);
    struct waiter *w;
    TAILQ_FOREACH (w, &f->waiters, link)
        w->result = ERR_CANCELLED;
    serve_waiters(f);
    run_timer_free(f->commit_timer);
    run_timer_free(f->wait_timer);
    map_fini(&f->records, free);
    map_fini(&f->pending, free);
    map_fini(&f->snapshot, free);
    obj_fini(&f->obj);
    free(f);
}

void follow_state(const struct follow *f, struct follow_state *out)
{
    *out = f->state;
}

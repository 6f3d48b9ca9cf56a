#include "feed/follow_inside.h"
#include "feed/events.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

struct record *follow_record_new(const char *packed, size_t len)
{
    struct record *r = mem_alloc(sizeof *r + len);
    r->path = NULL;
    r->len = len;
    memcpy(r->bytes, packed, len);
    return r;
}

void follow_pending_free(void *arg)
{
    struct pending *p = arg;
    free(p->record);
    free(p);
}

unsigned follow_flags(const struct follow *f)
{
    const struct follow_state *s = &f->state;
    if (!s->is_ready || s->is_expired)
        return 0;
    return ZONE_READY | (s->is_connected && s->is_synced && !s->is_store_away ? 0u : ZONE_STALE);
}

/* ---- differences ---- */

/* One side of a difference: records added to, or taken from, the transaction. */
struct half {
    struct follow *follow;
    struct zone_tx *tx;
    bool is_add;
};

static void put_rr(void *arg, const struct zone_rr *rr, bool is_add)
{
    struct half *h = arg;
    int err = is_add ? zone_tx_add(h->tx, ZONE_BY_NAME, rr) : zone_tx_remove(h->tx, ZONE_BY_NAME, rr);
    if (err && is_add)
        h->follow->state.n_unzoned++;
}

static void on_rr(void *arg, const struct zone_rr *rr)
{
    struct half *h = arg;
    put_rr(h, rr, h->is_add);
}

static void on_shared(void *arg, const struct zone_rr *rr, bool is_ready)
{
    struct half *h = arg;
    struct pool_sink sink = {put_rr, h};
    pools_change(&h->follow->pools, rr, is_ready, h->is_add, &sink);
}

static void produce(struct follow *f, struct zone_tx *tx, const struct record *r, bool is_add)
{
    struct half half = {f, tx, is_add};
    struct map_sink sink = {.rr = on_rr, .arg = &half, .shared = on_shared};
    unsigned left_out = map_produce(&f->def.map, r->path, r->bytes, r->len, &sink);
    if (left_out && is_add) {
        f->state.n_left_out += left_out;
        log_emit(&ev_feed_left_out, LOG_STR("path", r->path), LOG_INT("names", left_out));
    }
}

/* Count a record that is kept (+1) or no longer (-1). */
static void count_record(struct follow *f, const struct record *r, int by)
{
    size_t *count = map_has_names(r->bytes) ? &f->state.n_records : &f->state.n_nameless;
    *count += (size_t)by;
}

/* Tell the resolver which host the path names now. Same host: its addresses stay. */
static void change_host(struct follow *f, const char *path, const struct record *old,
                        const struct record *new)
{
    const char *before = old ? map_host(old->bytes, old->len) : NULL;
    const char *after = new ? map_host(new->bytes, new->len) : NULL;
    if (before && after && strcmp(before, after) == 0)
        return;
    if (after)
        hosts_use(f->hosts, after, path);
    if (before)
        hosts_drop(f->hosts, before, path);
}

static void drop_record(struct follow *f, struct record *old)
{
    count_record(f, old, -1);
    TAILQ_REMOVE(&f->list, old, link);
    free(old);
}

/* Make `path` hold this record (NULL: none). */
static void replace(struct follow *f, struct zone_tx *tx, const char *path, struct record *take_new)
{
    struct record *old = map_get(&f->records, path);
    if (old && take_new && old->len == take_new->len && memcmp(old->bytes, take_new->bytes, old->len) == 0) {
        free(take_new);
        return;
    }
    if (old)
        produce(f, tx, old, false);
    change_host(f, path, old, take_new);
    if (take_new) {
        map_set(&f->records, path, take_new);
        take_new->path = map_key(&f->records, path);
        count_record(f, take_new, 1);
        if (old)
            TAILQ_INSERT_AFTER(&f->list, old, take_new, link);
        else
            TAILQ_INSERT_TAIL(&f->list, take_new, link);
        produce(f, tx, take_new, true);
    }
    if (!old)
        return;
    follow_walks_skip(f, old);
    drop_record(f, old);
    if (!take_new)
        map_remove(&f->records, path);
}

/* ---- host names ---- */

struct host_run {
    struct follow *follow;
    struct zone_tx *tx;
    bool is_add;
};

static void on_host_user(void *arg, const char *path)
{
    struct host_run *r = arg;
    const struct record *record = map_get(&r->follow->records, path);
    if (record)
        produce(r->follow, r->tx, record, r->is_add);
}

void follow_host_changed(void *arg, const char *host)
{
    struct follow *f = obj_cast(arg, struct follow, FOLLOW_MAGIC);
    struct host_run run = {f, zone_tx_begin(f->def.zones), false};
    hosts_each_user(f->hosts, host, on_host_user, &run);
    hosts_apply(f->hosts, host);
    run.is_add = true;
    hosts_each_user(f->hosts, host, on_host_user, &run);
    zone_tx_commit(run.tx, follow_flags(f), NULL);
    f->state.n_commits++;
    log_emit(&ev_feed_host, LOG_STR("host", host));
    f->def.changed(f->def.arg);
}

/* ---- the guard ---- */

/* Would this change take the names of a record away? */
static bool is_removal(const struct follow *f, const char *path, const struct pending *p)
{
    const struct record *old = map_get(&f->records, path);
    return old && map_has_names(old->bytes) && (!p->record || !map_has_names(p->record->bytes));
}

/* Do the removals that are known, with those of the last moments, pass what is allowed? */
static bool guard_trips(struct follow *f, int64_t now)
{
    const struct follow_guard *g = &f->def.guard;
    if (now - f->guard.since_ms > GUARD_WINDOW_MS) {
        f->guard.since_ms = now;
        f->guard.n_base = f->state.n_records;
        f->guard.n_gone = 0;
    }
    if (!g->share_percent || f->guard.n_gone + f->pending.n_items < g->min_records)
        return false;
    size_t n = f->guard.n_gone;
    for (MAP_EACH (&f->pending, it))
        n += is_removal(f, it->key, it->value);
    return n >= g->min_records && n * 100 > f->guard.n_base * g->share_percent;
}

bool follow_is_held(const struct follow *f, const char *path)
{
    return f->held.n_items && map_get(&f->held, path);
}

size_t follow_release(struct follow *f)
{
    size_t n = f->held.n_items;
    struct zone_tx *tx = zone_tx_begin(f->def.zones);
    for (MAP_EACH (&f->held, it))
        replace(f, tx, it->key, NULL);
    map_fini(&f->held, NULL);
    zone_tx_commit(tx, follow_flags(f), NULL);
    f->state.n_commits++;
    f->guard.since_ms = INT64_MIN / 2;
    if (n) {
        log_emit(&ev_feed_released, LOG_INT("records", n));
        f->def.changed(f->def.arg);
    }
    return n;
}

unsigned follow_n_ready(const struct follow *f, const uint8_t *owner)
{
    return pools_n_ready(&f->pools, owner);
}

/* ---- commits ---- */

void follow_commit_at(struct follow *f, int64_t at_ms)
{
    if (at_ms >= f->commit_at_ms)
        return;
    int64_t now = run_now_ms();
    f->commit_at_ms = at_ms;
    run_timer_start(f->commit_timer, at_ms > now ? (uint64_t)(at_ms - now) : 0, 0);
}

static void log_held(const struct follow *f, size_t n)
{
    if (n)
        log_emit(&ev_feed_held, LOG_INT("records", n), LOG_INT("held", f->held.n_items),
                 LOG_INT("left", f->state.n_records - f->held.n_items));
}

/* Apply one change, or hold it. @return whether it was held. */
static bool settle(struct follow *f, struct zone_tx *tx, const char *path, struct pending *take_p,
                   bool is_alarm)
{
    bool is_gone = is_removal(f, path, take_p);
    bool is_held = is_gone && (is_alarm || follow_is_held(f, path));
    bool is_new = is_held && !follow_is_held(f, path);
    if (is_held) {
        map_set(&f->held, path, f);
        free(take_p->record);
    } else {
        if (f->held.n_items)
            map_remove(&f->held, path);
        f->guard.n_gone += is_gone;
        replace(f, tx, path, take_p->record);
    }
    free(take_p);
    return is_new;
}

void follow_commit(struct follow *f)
{
    int64_t now = run_now_ms(), next = INT64_MAX;
    bool is_alarm = guard_trips(f, now);
    size_t n_held = 0;
    struct zone_tx *tx = zone_tx_begin(f->def.zones);
    run_timer_stop(f->commit_timer);
    f->commit_at_ms = INT64_MAX;
    for (MAP_EACH (&f->pending, it)) {
        struct pending *p = it->value;
        if (p->due_ms > now) {
            next = p->due_ms < next ? p->due_ms : next;
            continue;
        }
        n_held += settle(f, tx, it->key, p, is_alarm);
        map_remove(&f->pending, it->key);
    }
    if (!f->pending.n_items)
        map_fini(&f->pending, NULL); /* a map that was large is slow to walk */
    zone_tx_commit(tx, follow_flags(f), NULL);
    f->state.n_commits++;
    log_held(f, n_held);
    if (next != INT64_MAX)
        follow_commit_at(f, next);
}

/* ---- zones that come and go ---- */

struct rezone {
    const struct follow *follow;
    struct zone_tx *tx;
    int zone, from, to;
};

static void move_rr(void *arg, const struct zone_rr *rr)
{
    struct rezone *r = arg;
    if (zoneset_zone_of(r->follow->def.zones, rr->owner) != r->zone)
        return;
    /* A zone that does not cover the name refuses it, as it did when the record came. */
    if (r->from >= 0)
        zone_tx_remove(r->tx, r->from, rr);
    if (r->to >= 0)
        zone_tx_add(r->tx, r->to, rr);
}

static void move_shared(void *arg, const struct zone_rr *rr, bool is_ready)
{
    struct rezone *r = arg;
    if (is_ready || !pools_n_ready(&r->follow->pools, rr->owner))
        move_rr(r, rr);
}

void follow_rezone(struct follow *f, struct zone_tx *tx, int zone, int from, int to)
{
    struct rezone r = {f, tx, zone, from, to};
    struct map_sink sink = {.rr = move_rr, .arg = &r, .shared = move_shared};
    const struct record *record;
    TAILQ_FOREACH (record, &f->list, link)
        map_produce(&f->def.map, record->path, record->bytes, record->len, &sink);
}

#include "feed/follow_inside.h"
#include "feed/events.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* ---- what is pending ---- */

static void pending_free(struct follow *f, struct pending *p)
{
    kept_free(&f->prefixes, p->kept);
    free(p);
}

void follow_pending_put(struct follow *f, const char *path, int64_t due_ms, struct kept *take_kept)
{
    struct pending *p = mem_new(struct pending);
    p->due_ms = due_ms;
    p->kept = take_kept;
    p = map_set(&f->pending, path, p);
    if (p)
        pending_free(f, p);
}

void follow_pending_clear(struct follow *f)
{
    for (MAP_EACH (&f->pending, it))
        pending_free(f, it->value);
    map_fini(&f->pending, NULL);
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

static void produce(struct follow *f, struct zone_tx *tx, const struct kept *k, bool is_add)
{
    struct half half = {f, tx, is_add};
    struct map_sink sink = {.rr = on_rr, .arg = &half, .shared = on_shared};
    struct kept_text *text = &f->text;
    kept_read(k, text);
    unsigned left_out = map_produce(&f->def.map, text->path, text->packed, text->len, &sink);
    if (left_out && is_add) {
        f->state.n_left_out += left_out;
        log_emit(&ev_feed_left_out, LOG_STR("path", text->path), LOG_INT("names", left_out));
    }
}

static bool has_names(const struct kept *k)
{
    return map_has_names(kept_kind(k));
}

/* Count a record that is kept (+1) or no longer (-1). */
static void count_record(struct follow *f, const struct kept *k, int by)
{
    size_t *count = has_names(k) ? &f->state.n_records : &f->state.n_nameless;
    *count += (size_t)by;
}

/* The host that a record names, or NULL. */
static const char *host_of(const struct kept *k, struct kept_text *text)
{
    if (!k || !has_names(k))
        return NULL;
    kept_read(k, text);
    return map_host(text->packed, text->len);
}

/* Tell the resolver which host a path names now. Same host: its addresses stay. */
static void change_host(struct follow *f, const struct kept *old, const struct kept *new)
{
    const char *before = host_of(old, &f->before);
    const char *after = host_of(new, &f->text);
    if (before && after && strcmp(before, after) == 0)
        return;
    if (after)
        hosts_use(f->hosts, after, f->text.path);
    if (before)
        hosts_drop(f->hosts, before, f->before.path);
}

/* Put a record in place of another one of the same path; NULL: there was none, or there is none any more. */
static void replace(struct follow *f, struct zone_tx *tx, struct kept *old, struct kept *take_new)
{
    if (old && take_new && kept_equal(old, take_new)) {
        kept_free(&f->prefixes, take_new);
        return;
    }
    if (old)
        produce(f, tx, old, false);
    change_host(f, old, take_new);
    if (take_new) {
        count_record(f, take_new, 1);
        kept_put(&f->records, take_new);
        produce(f, tx, take_new, true);
    } else if (old) {
        kept_take(&f->records, old);
    }
    if (old) {
        count_record(f, old, -1);
        kept_free(&f->prefixes, old);
    }
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
    const struct kept *k = kept_get(&r->follow->records, &r->follow->prefixes, path);
    if (k)
        produce(r->follow, r->tx, k, r->is_add);
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
static bool is_removal(const struct kept *old, const struct kept *new)
{
    return old && has_names(old) && (!new || !has_names(new));
}

static struct kept *kept_now(const struct follow *f, const char *path)
{
    return kept_get(&f->records, &f->prefixes, path);
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
    for (MAP_EACH (&f->pending, it)) {
        const struct pending *p = it->value;
        n += is_removal(kept_now(f, it->key), p->kept);
    }
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
        replace(f, tx, kept_now(f, it->key), NULL);
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
    struct kept *old = kept_now(f, path);
    bool is_gone = is_removal(old, take_p->kept);
    bool is_held = is_gone && (is_alarm || follow_is_held(f, path));
    bool is_new = is_held && !follow_is_held(f, path);
    if (is_held) {
        map_set(&f->held, path, f);
        kept_free(&f->prefixes, take_p->kept);
    } else {
        if (f->held.n_items)
            map_remove(&f->held, path);
        f->guard.n_gone += is_gone;
        replace(f, tx, old, take_p->kept);
    }
    free(take_p);
    return is_new;
}

/* Apply what is pending and due. */
static void settle_due(struct follow *f, struct zone_tx *tx, int64_t now, bool is_alarm)
{
    size_t n_held = 0;
    int64_t next = INT64_MAX;
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
    log_held(f, n_held);
    if (next != INT64_MAX)
        follow_commit_at(f, next);
}

void follow_commit(struct follow *f)
{
    int64_t now = run_now_ms();
    bool is_alarm = guard_trips(f, now);
    struct zone_tx *tx = zone_tx_begin(f->def.zones);
    trim_mind(f->trim, f->pending.n_items);
    settle_due(f, tx, now, is_alarm);
    zone_tx_commit(tx, follow_flags(f), NULL);
    f->state.n_commits++;
}

/* ---- a snapshot ---- */

/* What the snapshot would take away becomes pending, so that the guard sees it. */
static void note_removals(struct follow *f)
{
    for (uint32_t place = 0; place < f->records.n_places; place++) {
        const struct kept *old = kept_at(&f->records, place);
        struct kept *new = old ? kept_like(&f->snapshot, old) : NULL;
        if (!old || (new && !is_removal(old, new)))
            continue;
        kept_read(old, &f->text);
        follow_pending_put(f, f->text.path, 0, new ? kept_take(&f->snapshot, new) : NULL);
    }
}

static void take_in(struct follow *f, struct zone_tx *tx, struct kept *take_kept)
{
    struct kept *old = kept_like(&f->records, take_kept);
    if (f->held.n_items) {
        kept_read(take_kept, &f->text);
        map_remove(&f->held, f->text.path);
    }
    replace(f, tx, old, take_kept);
}

static void take_in_snapshot(struct follow *f, struct zone_tx *tx)
{
    struct kept_set taken = f->snapshot;
    f->snapshot = (struct kept_set){.n_items = 0};
    for (uint32_t place = 0; place < taken.n_places; place++) {
        struct kept *k = kept_at(&taken, place);
        taken.places[place] = NULL;
        if (k)
            take_in(f, tx, k);
    }
    kept_set_fini(&taken, &f->prefixes);
}

void follow_commit_snapshot(struct follow *f)
{
    int64_t now = run_now_ms();
    follow_pending_clear(f);
    note_removals(f);
    bool is_alarm = guard_trips(f, now);
    struct zone_tx *tx = zone_tx_begin(f->def.zones);
    trim_mind(f->trim, f->pending.n_items + f->snapshot.n_items);
    take_in_snapshot(f, tx);
    settle_due(f, tx, now, is_alarm);
    zone_tx_commit(tx, follow_flags(f), NULL);
    f->state.n_commits++;
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
    for (uint32_t place = 0; place < f->records.n_places; place++) {
        const struct kept *k = kept_at(&f->records, place);
        if (!k)
            continue;
        kept_read(k, &f->text);
        map_produce(&f->def.map, f->text.path, f->text.packed, f->text.len, &sink);
    }
}

#include "follow/follow_priv.h"
#include "follow/events.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static struct packed *packed_now(const struct follow *f, const char *path)
{
    return packed_get(&f->records, &f->prefixes, path);
}

/* ---- the steps: each does one thing of its kind; false: there is none any more ---- */

static bool release_one(struct follow *f, struct zone_tx *tx)
{
    struct run *r = &f->run;
    r->at = map_next(&r->released, r->at);
    if (!r->at) {
        map_fini(&r->released, NULL);
        return false;
    }
    struct packed *old = packed_now(f, r->at->key);
    if (old)
        follow_replace(f, tx, old, NULL);
    map_remove(&r->released, r->at->key);
    r->n_released++;
    return true;
}

static void into_batch(struct follow *f, struct pending *take_p)
{
    follow_pending_free(f, map_set(&f->run.batch, take_p->path, take_p));
}

static bool take_due(struct follow *f, struct zone_tx *tx)
{
    (void)tx;
    struct pending *p = follow_pending_due(f, f->run.until_ms);
    if (p) {
        into_batch(f, p);
        return true;
    }
    p = TAILQ_FIRST(&f->late_list);
    if (p)
        follow_commit_at(f, p->due_ms);
    return false;
}

/* A record of the zones that the snapshot would take away joins the batch, so that the guard sees it; what came after the
 * snapshot is in the batch already. */
static bool note_missing(struct follow *f, struct zone_tx *tx)
{
    (void)tx;
    struct run *r = &f->run;
    if (!r->is_snapshot || r->place == f->records.n_places)
        return false;
    const struct packed *old = packed_at(&f->records, r->place++);
    struct packed *new = old ? packed_like(&r->snapshot, old) : NULL;
    if (!old || (new && !follow_is_removal(old, new)))
        return true;
    struct packed *taken = new ? packed_take(&r->snapshot, new) : NULL;
    packed_read(old, &f->text);
    size_t n = strlen(f->text.path) + 1;
    if (map_get(&r->batch, f->text.path)) {
        packed_free(&f->prefixes, taken);
        return true;
    }
    struct pending *p = mem_alloc(sizeof *p + n);
    *p = (struct pending){.packed = taken};
    memcpy(p->path, f->text.path, n);
    into_batch(f, p);
    return true;
}

/* Do the removals that are known, late ones included, with those of the last moments, pass what is allowed? */
static bool count_one(struct follow *f, struct zone_tx *tx)
{
    (void)tx;
    struct run *r = &f->run;
    const struct follow_guard *g = &f->def.guard;
    if (!r->at && r->until_ms - f->guard.since_ms > GUARD_WINDOW_MS) {
        f->guard.since_ms = r->until_ms;
        f->guard.n_base = f->state.n_records;
        f->guard.n_gone = 0;
    }
    if (!g->share_percent || f->guard.n_gone + r->batch.n_items + f->n_late_removals < g->min_records)
        return false;
    r->at = map_next(&r->batch, r->at);
    if (r->at) {
        const struct pending *p = r->at->value;
        r->n_removals += follow_is_removal(packed_now(f, p->path), p->packed);
        return true;
    }
    size_t n = f->guard.n_gone + r->n_removals + f->n_late_removals;
    r->is_alarm = n >= g->min_records && n * 100 > f->guard.n_base * g->share_percent;
    return false;
}

static bool take_in_one(struct follow *f, struct zone_tx *tx)
{
    struct run *r = &f->run;
    if (!r->is_snapshot || r->place == r->snapshot.n_places) {
        packed_set_fini(&r->snapshot, &f->prefixes);
        return false;
    }
    struct packed *k = packed_at(&r->snapshot, r->place);
    r->snapshot.places[r->place++] = NULL;
    if (!k)
        return true;
    if (f->held.n_items) {
        packed_read(k, &f->text);
        map_remove(&f->held, f->text.path);
    }
    r->n_work++;
    follow_replace(f, tx, packed_like(&f->records, k), k);
    return true;
}

/* Apply one change, or hold it. */
static void settle(struct follow *f, struct zone_tx *tx, struct pending *take_p)
{
    struct run *r = &f->run;
    struct packed *old = packed_now(f, take_p->path);
    bool is_gone = follow_is_removal(old, take_p->packed);
    bool was_held = follow_is_held(f, take_p->path);
    f->guard.n_gone += is_gone && !was_held;
    if (is_gone && (r->is_alarm || was_held)) {
        r->n_new_held += !was_held;
        map_set(&f->held, take_p->path, f);
    } else {
        if (was_held)
            map_remove(&f->held, take_p->path);
        follow_replace(f, tx, old, take_p->packed);
        take_p->packed = NULL;
    }
    follow_pending_free(f, take_p);
}

static bool settle_one(struct follow *f, struct zone_tx *tx)
{
    struct run *r = &f->run;
    r->at = map_next(&r->batch, r->at);
    if (!r->at) {
        map_fini(&r->batch, NULL);
        return false;
    }
    struct pending *p = r->at->value;
    map_remove(&r->batch, p->path);
    r->n_work++;
    settle(f, tx, p);
    return true;
}

static bool move_one_host(struct follow *f, struct zone_tx *tx)
{
    struct run *r = &f->run;
    r->at = map_next(&r->hosts, r->at);
    if (!r->at) {
        map_fini(&r->hosts, NULL);
        return false;
    }
    follow_move_host(f, tx, r->at->key);
    return true;
}

static bool (*const steps[])(struct follow *f, struct zone_tx *tx) = {
    [RUN_RELEASE] = release_one, [RUN_DUE] = take_due,        [RUN_MISSING] = note_missing,
    [RUN_COUNT] = count_one,     [RUN_TAKE_IN] = take_in_one, [RUN_SETTLE] = settle_one,
    [RUN_HOSTS] = move_one_host,
};

/* ---- a run ---- */

/* Everything that is to be done now is the run's; what comes from now on is the next one's. */
static int run_begin(void *arg)
{
    struct follow *f = obj_cast(arg, struct follow, FOLLOW_MAGIC);
    struct run *r = &f->run;
    *r = (struct run){.is_on = true,
                      .has_begun = true,
                      .until_ms = run_now_ms(),
                      .batch = f->pending,
                      .is_snapshot = f->has_complete,
                      .is_restored = f->is_restoring,
                      .snapshot = f->complete,
                      .released = f->released,
                      .hosts = f->moved_hosts};
    memcpy(r->synced, f->complete_revision, sizeof r->synced);
    follow_take_marks(f, r->until_ms, r->marked);
    follow_take_releases(f);
    f->pending = f->released = f->moved_hosts = MAP_EMPTY;
    f->complete = (struct packed_set){.n_items = 0};
    f->has_complete = f->is_restoring = false;
    f->commit_at_ms = INT64_MAX;
    run_timer_stop(f->commit_timer);
    return 0;
}

static bool run_slice(void *arg, struct zone_tx *tx)
{
    enum { A_SLICE = 8 };
    struct follow *f = obj_cast(arg, struct follow, FOLLOW_MAGIC);
    struct run *r = &f->run;
    for (int n = 0; n < A_SLICE && r->step < RUN_N_STEPS; n++) {
        if (steps[r->step](f, tx))
            continue;
        r->step++;
        r->at = NULL;
        r->place = 0;
    }
    return r->step < RUN_N_STEPS;
}

static unsigned run_flags(void *arg)
{
    struct follow *f = obj_cast(arg, struct follow, FOLLOW_MAGIC);
    if (f->run.is_snapshot)
        follow_is_synced(f);
    return follow_flags(f);
}

static void log_run(const struct follow *f)
{
    const struct run *r = &f->run;
    if (r->n_new_held)
        log_emit(&ev_feed_held, LOG_INT("records", r->n_new_held), LOG_INT("held", f->held.n_items),
                 LOG_INT("left", f->state.n_records - f->held.n_items));
    if (r->n_released)
        log_emit(&ev_feed_released, LOG_INT("records", r->n_released));
    if (r->is_restored)
        log_emit(&ev_feed_restored, LOG_INT("records", f->state.n_records),
                 LOG_INT("age_ms", run_now_ms() - f->stale_since_ms));
    else if (r->is_snapshot)
        log_emit(&ev_feed_synced, LOG_STR("revision", r->synced), LOG_INT("records", f->state.n_records));
}

static void run_done(void *arg, int err)
{
    struct follow *f = obj_cast(arg, struct follow, FOLLOW_MAGIC);
    struct run *r = &f->run;
    const char *revision = *r->marked ? r->marked : r->is_snapshot && !r->is_restored ? r->synced : "";
    BUG_IF(err);
    f->state.n_commits++;
    if (r->n_released)
        f->guard.since_ms = INT64_MIN / 2;
    log_run(f);
    heap_mind(f->heap, r->n_work);
    r->is_on = r->has_begun = false;
    if (*revision)
        follow_published(f, revision);
    else
        f->def.changed(f->def.arg);
    follow_serve_releases(f);
    if (f->is_again || f->has_complete) {
        f->is_again = false;
        follow_commit(f);
    }
}

static struct writer_change run_job(struct follow *f)
{
    return (struct writer_change){
        .begin = run_begin, .slice = run_slice, .flags = run_flags, .done = run_done, .arg = f};
}

void follow_commit(struct follow *f)
{
    struct writer_change job = run_job(f);
    f->is_again |= f->run.has_begun;
    if (f->run.is_on)
        return;
    f->run.is_on = true;
    writer_run(f->def.writer, &job);
}

void follow_run_cancel(struct follow *f)
{
    struct run *r = &f->run;
    writer_cancel(f->def.writer, f);
    for (MAP_EACH (&r->batch, it))
        follow_pending_free(f, it->value);
    map_fini(&r->batch, NULL);
    map_fini(&r->released, NULL);
    map_fini(&r->hosts, NULL);
    packed_set_fini(&r->snapshot, &f->prefixes);
}

void follow_commit_at(struct follow *f, int64_t at_ms)
{
    if (at_ms >= f->commit_at_ms)
        return;
    int64_t now = run_now_ms();
    f->commit_at_ms = at_ms;
    run_timer_start(f->commit_timer, at_ms > now ? (uint64_t)(at_ms - now) : 0, 0);
}

/* ---- what is held ---- */

bool follow_is_held(const struct follow *f, const char *path)
{
    return f->held.n_items && map_get(&f->held, path);
}

void follow_release(struct follow *f, void (*fn)(void *arg, size_t n_records), void *arg)
{
    if (!f->held.n_items) {
        fn(arg, 0);
        return;
    }
    struct release *r = mem_new(struct release);
    *r = (struct release){.n_records = f->held.n_items, .fn = fn, .arg = arg};
    TAILQ_INSERT_TAIL(&f->releases, r, link);
    for (MAP_EACH (&f->released, it)) /* of a release that waits for its turn */
        map_set(&f->held, it->key, f);
    map_fini(&f->released, NULL);
    f->released = f->held;
    f->held = MAP_EMPTY;
    follow_commit(f);
}

unsigned follow_n_ready(const struct follow *f, const uint8_t *owner)
{
    return shared_n_ready(&f->shared, owner);
}

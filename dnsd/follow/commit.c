#include "follow/follow_priv.h"
#include "follow/events.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* ---- released removals ---- */

static bool release_one(struct follow *f, struct zone_tx *tx)
{
    struct commit *c = &f->commit;
    c->at = map_next(&c->released, c->at);
    if (!c->at)
        return false;
    struct packed *old = records_get(f->records, c->at->key);
    if (old)
        records_replace(f->records, tx, old, NULL);
    map_remove(&c->released, c->at->key);
    c->n_released++;
    return true;
}

static void release_end(struct follow *f)
{
    map_fini(&f->commit.released, NULL);
}

/* ---- deletes whose time has come join the batch ---- */

static void into_batch(struct follow *f, struct change *take_c)
{
    change_free(records_prefixes(f->records), map_set(&f->commit.batch, take_c->path, take_c));
}

static bool take_due(struct follow *f, struct zone_tx *tx)
{
    (void)tx;
    struct change *c = pending_take_due(f->pending, f->commit.until_ms);
    if (c)
        into_batch(f, c);
    return c != NULL;
}

static void due_end(struct follow *f)
{
    if (pending_due_ms(f->pending) != INT64_MAX)
        follow_commit_at(f, pending_due_ms(f->pending));
}

/* ---- so does what a snapshot takes away, so that the guard sees it; what came after the snapshot is in the batch already ---- */

static bool has_snapshot(struct follow *f)
{
    return f->commit.is_snapshot;
}

static bool find_missing(struct follow *f, struct zone_tx *tx)
{
    (void)tx;
    struct commit *c = &f->commit;
    const struct packed_set *set = records_set(f->records);
    if (c->place == set->n_places)
        return false;
    const struct packed *old = packed_at(set, c->place++);
    struct packed *new = old ? packed_like(&c->snapshot, old) : NULL;
    if (!old || (new && !records_is_removal(old, new)))
        return true;
    struct packed *taken = new ? packed_take(&c->snapshot, new) : NULL;
    packed_read(old, &c->text);
    if (map_get(&c->batch, c->text.path))
        packed_free(records_prefixes(f->records), taken);
    else
        into_batch(f, change_new(c->text.path, taken));
    return true;
}

/* ---- removals are counted, late ones included: the guard decides ---- */

static bool count_begin(struct follow *f)
{
    size_t n_most = f->commit.batch.n_items + pending_n_removals(f->pending);
    return guard_begin(f->guard, f->commit.until_ms, records_counts(f->records)->n_named, n_most);
}

static bool count_one(struct follow *f, struct zone_tx *tx)
{
    (void)tx;
    struct commit *c = &f->commit;
    c->at = map_next(&c->batch, c->at);
    if (!c->at)
        return false;
    const struct change *change = c->at->value;
    c->n_removals += records_is_removal(records_get(f->records, change->path), change->packed);
    return true;
}

static void count_end(struct follow *f)
{
    guard_count(f->guard, f->commit.n_removals + pending_n_removals(f->pending));
}

/* ---- the records of the snapshot ---- */

static bool take_in_one(struct follow *f, struct zone_tx *tx)
{
    struct commit *c = &f->commit;
    if (c->place == c->snapshot.n_places)
        return false;
    struct packed *k = packed_at(&c->snapshot, c->place);
    c->snapshot.places[c->place++] = NULL;
    if (!k)
        return true;
    if (guard_n_held(f->guard)) {
        packed_read(k, &c->text);
        guard_returned(f->guard, c->text.path);
    }
    records_replace(f->records, tx, packed_like(records_set(f->records), k), k);
    return true;
}

static void take_in_end(struct follow *f)
{
    packed_set_fini(&f->commit.snapshot, records_prefixes(f->records));
}

/* ---- the batch: each change is applied, or held ---- */

static void apply(struct follow *f, struct zone_tx *tx, struct change *take_c)
{
    struct packed *old = records_get(f->records, take_c->path);
    if (guard_holds(f->guard, take_c->path, records_is_removal(old, take_c->packed))) {
        records_hold(f->records, tx, old);
    } else {
        records_replace(f->records, tx, old, take_c->packed);
        take_c->packed = NULL;
    }
    change_free(records_prefixes(f->records), take_c);
}

static bool apply_one(struct follow *f, struct zone_tx *tx)
{
    struct commit *c = &f->commit;
    c->at = map_next(&c->batch, c->at);
    if (!c->at)
        return false;
    struct change *change = c->at->value;
    map_remove(&c->batch, change->path);
    apply(f, tx, change);
    return true;
}

static void apply_end(struct follow *f)
{
    map_fini(&f->commit.batch, NULL);
}

/* ---- new addresses of hosts ---- */

static bool move_one_host(struct follow *f, struct zone_tx *tx)
{
    struct commit *c = &f->commit;
    c->at = map_next(&c->hosts, c->at);
    if (c->at)
        records_move_host(f->records, tx, c->at->key);
    return c->at != NULL;
}

static void hosts_end(struct follow *f)
{
    map_fini(&f->commit.hosts, NULL);
}

/* ---- the table ---- */

/** The kinds of work of a commit, in the order in which they are done. */
enum kind_id {
    KIND_RELEASE,  /* removals that were released */
    KIND_DUE,      /* deletes whose time has come join the batch */
    KIND_MISSING,  /* so do records that a snapshot takes away */
    KIND_COUNT,    /* removals of the batch are counted: the guard decides */
    KIND_SNAPSHOT, /* records of a snapshot, of the registry's or of the one on disk */
    KIND_BATCH,    /* changes of single records */
    KIND_HOSTS,    /* new addresses of hosts */
    N_KINDS,
};

struct kind {
    /** Is there any? NULL: step finds out. */
    bool (*begin)(struct follow *f);
    /** One piece, some microseconds. @return false: there was none any more. */
    bool (*step)(struct follow *f, struct zone_tx *tx);
    /** After the last step; not called when begin returned false. NULL: nothing to do. */
    void (*end)(struct follow *f);
};

static const struct kind kinds[N_KINDS] = {
    [KIND_RELEASE] = {NULL, release_one, release_end},
    [KIND_DUE] = {NULL, take_due, due_end},
    [KIND_MISSING] = {has_snapshot, find_missing, NULL},
    [KIND_COUNT] = {count_begin, count_one, count_end},
    [KIND_SNAPSHOT] = {has_snapshot, take_in_one, take_in_end},
    [KIND_BATCH] = {NULL, apply_one, apply_end},
    [KIND_HOSTS] = {NULL, move_one_host, hosts_end},
};

/* ---- a commit ---- */

/* Everything that is to be done now is this commit's; what comes from now on is the next one's. */
static int commit_begin(void *arg)
{
    struct follow *f = obj_cast(arg, struct follow, FOLLOW_MAGIC);
    struct commit *c = &f->commit;
    struct packed_text text = c->text;
    *c = (struct commit){.is_on = true,
                         .has_begun = true,
                         .until_ms = run_now_ms(),
                         .since_us = f->first_us,
                         .batch = pending_take_now(f->pending),
                         .is_snapshot = f->intake.is_complete,
                         .is_restored = f->intake.is_restored,
                         .snapshot = f->intake.complete,
                         .hosts = f->moved_hosts,
                         .text = text};
    memcpy(c->synced, f->intake.revision, sizeof c->synced);
    pending_take_marks(f->pending, c->until_ms, c->marked);
    guard_take_released(f->guard, &c->released);
    f->moved_hosts = MAP_EMPTY;
    f->intake.complete = (struct packed_set){.n_items = 0};
    f->intake.is_complete = f->intake.is_restored = false;
    f->commit_at_ms = INT64_MAX;
    f->first_us = 0;
    run_timer_stop(f->commit_timer);
    return 0;
}

static bool commit_step(void *arg, struct zone_tx *tx)
{
    struct follow *f = obj_cast(arg, struct follow, FOLLOW_MAGIC);
    struct commit *c = &f->commit;
    const struct kind *kind = &kinds[c->kind];
    if (!c->is_in) {
        c->at = NULL;
        c->place = 0;
        c->is_in = !kind->begin || kind->begin(f);
    }
    if (c->is_in && kind->step(f, tx))
        return true;
    if (c->is_in && kind->end)
        kind->end(f);
    c->is_in = false;
    return ++c->kind < N_KINDS;
}

static unsigned commit_flags(void *arg)
{
    struct follow *f = obj_cast(arg, struct follow, FOLLOW_MAGIC);
    if (f->commit.is_snapshot) {
        freshness_published(&f->fresh, f->commit.is_restored, f->intake.is_open, run_now_ms());
        follow_watch_age(f);
    }
    return freshness_flags(&f->fresh);
}

static void log_commit(const struct follow *f)
{
    const struct commit *c = &f->commit;
    size_t n_named = records_counts(f->records)->n_named, n_held = guard_n_held(f->guard);
    if (guard_n_new(f->guard))
        log_emit(&ev_feed_held, LOG_INT("records", guard_n_new(f->guard)), LOG_INT("held", n_held),
                 LOG_INT("left", n_named - n_held));
    if (c->n_released)
        log_emit(&ev_feed_released, LOG_INT("records", c->n_released));
    if (c->is_restored)
        log_emit(&ev_feed_restored, LOG_INT("records", n_named),
                 LOG_INT("age_ms", run_now_ms() - f->fresh.since_ms));
    else if (c->is_snapshot)
        log_emit(&ev_feed_synced, LOG_STR("revision", c->synced), LOG_INT("records", n_named));
}

/* Readers that are kept at an older version do not see it yet: that is an outage of the disk, and said as one. */
static void observe_propagation(const struct follow *f)
{
    if (f->commit.since_us && f->def.metrics && !zoneset_is_frozen(f->def.zones))
        metric_observe(f->def.metrics, f->def.propagation, run_now_us() - f->commit.since_us);
}

static void commit_done(void *arg, int err)
{
    struct follow *f = obj_cast(arg, struct follow, FOLLOW_MAGIC);
    struct commit *c = &f->commit;
    const char *revision = *c->marked ? c->marked : c->is_snapshot && !c->is_restored ? c->synced : "";
    BUG_IF(err);
    f->n_commits++;
    if (c->n_released)
        guard_restart(f->guard);
    log_commit(f);
    observe_propagation(f);
    c->is_on = c->has_begun = false;
    if (*revision)
        follow_publish(f, revision);
    else
        f->def.changed(f->def.arg);
    guard_answer(f->guard);
    if (f->is_again || f->intake.is_complete) {
        f->is_again = false;
        follow_commit(f);
    }
}

void follow_commit(struct follow *f)
{
    struct writer_change change = {
        .begin = commit_begin, .step = commit_step, .flags = commit_flags, .done = commit_done, .arg = f};
    f->is_again |= f->commit.has_begun;
    if (f->commit.is_on)
        return;
    f->commit.is_on = true;
    writer_run(f->def.writer, &change);
}

void follow_commit_cancel(struct follow *f)
{
    struct commit *c = &f->commit;
    writer_cancel(f->def.writer, f);
    for (MAP_EACH (&c->batch, it))
        change_free(records_prefixes(f->records), it->value);
    map_fini(&c->batch, NULL);
    map_fini(&c->released, NULL);
    map_fini(&c->hosts, NULL);
    packed_set_fini(&c->snapshot, records_prefixes(f->records));
    packed_text_fini(&c->text);
}

void follow_commit_at(struct follow *f, int64_t at_ms)
{
    if (at_ms >= f->commit_at_ms)
        return;
    int64_t now_ms = run_now_ms();
    f->commit_at_ms = at_ms;
    run_timer_start(f->commit_timer, at_ms > now_ms ? (uint64_t)(at_ms - now_ms) : 0, 0);
}

/* ---- what a commit reaches ---- */

void follow_publish(struct follow *f, const char *revision)
{
    waiters_published(f->waiters, revision);
    f->def.changed(f->def.arg);
    follow_visible(f);
}

void follow_visible(struct follow *f)
{
    if (!zoneset_is_frozen(f->def.zones))
        waiters_visible(f->waiters);
}

void follow_watch_age(struct follow *f)
{
    int64_t now_ms = run_now_ms(), left_ms = freshness_left_ms(&f->fresh, now_ms);
    freshness_check(&f->fresh, now_ms);
    run_timer_stop(f->age_timer);
    if (left_ms > 0)
        run_timer_start(f->age_timer, (uint64_t)left_ms, 0);
    else if (left_ms == 0)
        log_emit(&ev_feed_expired, LOG_INT("stale_ms", freshness_stale_ms(&f->fresh, now_ms)));
}

#include "follow/follow_priv.h"
#include "follow/events.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/** Longest time that a change waits for others to share its commit. */
#define COMMIT_DELAY_MS 20

/* After a change of freshness, and with it of the flags of the version. */
static void publish_flags(struct follow *f)
{
    follow_watch_age(f);
    follow_commit(f);
    f->def.changed(f->def.arg);
}

/* ---- the registry's changes ---- */

static struct packed *pack(struct follow *f, const char *path, const struct reg_record *record)
{
    size_t len = 0;
    mem_auto char *bytes = map_pack(record, &len);
    return bytes ? packed_new(records_prefixes(f->records), path, bytes, len) : NULL;
}

/* One record more, or less, of the snapshot. */
static void note_in_snapshot(struct follow *f, const char *path, struct packed *take_packed)
{
    struct packed_prefixes *prefixes = records_prefixes(f->records);
    struct packed *old = packed_get(&f->intake.open, prefixes, path);
    if (take_packed)
        old = packed_put(&f->intake.open, take_packed);
    else if (old)
        packed_take(&f->intake.open, old);
    packed_free(prefixes, old);
}

/* Note a change for the next commit; within a snapshot for its end. A delete waits for a create, which replaces it. */
static void note(struct follow *f, const char *path, struct packed *take_packed)
{
    freshness_heard(&f->fresh);
    if (f->intake.is_open) {
        note_in_snapshot(f, path, take_packed);
        return;
    }
    int64_t now_ms = run_now_ms(), delay_ms = f->def.coalesce_ms;
    const struct packed *old = !take_packed && delay_ms ? records_get(f->records, path) : NULL;
    if (old) {
        pending_delay(f->pending, path, now_ms + delay_ms, records_is_removal(old, NULL));
    } else {
        pending_put(f->pending, path, take_packed);
        delay_ms = COMMIT_DELAY_MS;
        f->first_us = f->first_us ? f->first_us : run_now_us();
    }
    follow_commit_at(f, now_ms + delay_ms);
}

static void on_put(void *arg, const char *path, const struct reg_record *record, const char *revision)
{
    struct follow *f = obj_cast(arg, struct follow, FOLLOW_MAGIC);
    (void)revision;
    f->has_put = !f->intake.is_open;
    note(f, path, pack(f, path, record));
}

static void on_deleted(void *arg, const char *path, const char *revision)
{
    struct follow *f = obj_cast(arg, struct follow, FOLLOW_MAGIC);
    (void)revision;
    note(f, path, NULL);
}

/* A record that came is published at once, the revision when its mark comes. Where deletes are not delayed a mark is waited for, so
 * that the guard sees all that goes together. */
static void on_drained(void *arg)
{
    struct follow *f = obj_cast(arg, struct follow, FOLLOW_MAGIC);
    bool is_due = f->has_put && f->def.coalesce_ms && !f->intake.is_open;
    f->has_put = false;
    if (!is_due)
        return;
    follow_commit(f);
    f->def.changed(f->def.arg);
}

static void report_store_away(const struct follow *f)
{
    struct err_info why;
    err_set(&why, ERR_UNAVAILABLE, "", "this registry cannot reach its store; its /readyz says why");
    outage_fails(f->def.store_outage, reg_server(f->def.registry), &why, run_now_ms());
}

static void on_progress(void *arg, const char *revision)
{
    struct follow *f = obj_cast(arg, struct follow, FOLLOW_MAGIC);
    freshness_heard(&f->fresh);
    if (outage_lasts(f->def.store_outage)) /* each heartbeat of the registry says so */
        report_store_away(f);
    if (f->intake.is_open)
        return;
    if (!f->commit.is_on && pending_is_empty(f->pending)) {
        pending_drop_marks(f->pending);
        follow_publish(f, revision);
        return;
    }
    pending_mark(f->pending, revision);
    if (!pending_is_late(f->pending))
        follow_commit(f);
}

/* ---- its snapshots ---- */

static void on_reset(void *arg)
{
    struct follow *f = obj_cast(arg, struct follow, FOLLOW_MAGIC);
    packed_set_fini(&f->intake.open, records_prefixes(f->records));
    f->intake.is_open = true;
    freshness_reset(&f->fresh, run_now_ms());
    follow_watch_age(f);
    follow_commit(f); /* the flags of the version changed */
}

/* A snapshot is complete; a commit puts it in place of what the zones hold, and of what was pending. */
static void complete(struct follow *f, struct packed_set *take_set, bool is_restored)
{
    packed_set_fini(&f->intake.complete, records_prefixes(f->records));
    f->intake.complete = *take_set;
    *take_set = (struct packed_set){.n_items = 0};
    f->intake.is_complete = true;
    f->intake.is_restored = is_restored;
    follow_commit(f);
}

static void on_synced(void *arg, const char *revision)
{
    struct follow *f = obj_cast(arg, struct follow, FOLLOW_MAGIC);
    pending_clear(f->pending);
    f->first_us = 0;
    memcpy(f->intake.revision, revision, strnlen(revision, sizeof f->intake.revision - 1) + 1);
    f->intake.is_open = false;
    freshness_heard(&f->fresh);
    complete(f, &f->intake.open, false);
}

/* ---- its presence ---- */

static void on_state(void *arg, const struct err_info *why)
{
    struct follow *f = obj_cast(arg, struct follow, FOLLOW_MAGIC);
    const char *url = reg_server(f->def.registry);
    if (!why && !outage_ends(f->def.registry_outage, url, run_now_ms()))
        log_emit(&ev_feed_back, LOG_STR("url", url));
    if (!freshness_connected(&f->fresh, !why, run_now_ms()))
        return;
    follow_watch_age(f);
    /* Not at once: the flags of the version changed, or a snapshot begins now and they did not. */
    follow_commit_at(f, run_now_ms());
    f->def.changed(f->def.arg);
}

/* A refusal too: who refuses may be another program, or another Bobbin, for a while. */
static void on_failed(void *arg, const char *url, const struct err_info *why)
{
    struct follow *f = obj_cast(arg, struct follow, FOLLOW_MAGIC);
    outage_fails(f->def.registry_outage, url, why, run_now_ms());
}

static void on_stale(void *arg, bool is_away)
{
    struct follow *f = obj_cast(arg, struct follow, FOLLOW_MAGIC);
    freshness_store(&f->fresh, is_away, run_now_ms());
    if (is_away)
        report_store_away(f);
    else
        outage_ends(f->def.store_outage, reg_server(f->def.registry), run_now_ms());
    publish_flags(f);
}

static const struct reg_watch_ops watch_ops = {.reset = on_reset,
                                               .put = on_put,
                                               .deleted = on_deleted,
                                               .synced = on_synced,
                                               .progress = on_progress,
                                               .state = on_state,
                                               .stale = on_stale,
                                               .drained = on_drained,
                                               .failed = on_failed};

/* ---- other events ---- */

static void on_commit_timer(void *arg)
{
    follow_commit(obj_cast(arg, struct follow, FOLLOW_MAGIC));
}

static void on_age_timer(void *arg)
{
    publish_flags(obj_cast(arg, struct follow, FOLLOW_MAGIC));
}

static void on_host_changed(void *arg, const char *host)
{
    struct follow *f = obj_cast(arg, struct follow, FOLLOW_MAGIC);
    map_set(&f->moved_hosts, host, f);
    follow_commit(f);
}

void follow_frozen(struct follow *f, bool is_frozen)
{
    if (freshness_frozen(&f->fresh, is_frozen, run_now_ms()))
        publish_flags(f);
}

void follow_release(struct follow *f, void (*fn)(void *arg, size_t n_records), void *arg)
{
    if (guard_release(f->guard, fn, arg))
        follow_commit(f);
}

/* ---- beginning and end ---- */

struct follow *follow_new(const struct follow_def *def)
{
    struct follow *f = mem_new(struct follow);
    obj_init(&f->obj, FOLLOW_MAGIC);
    f->def = *def;
    f->commit_at_ms = INT64_MAX;
    struct records_def records = {.loop = def->loop,
                                  .zones = def->zones,
                                  .map = def->map,
                                  .host_refresh_ms = def->host_refresh_ms,
                                  .host_outage = def->host_outage,
                                  .host_changed = on_host_changed,
                                  .arg = f};
    f->records = records_new(&records);
    freshness_init(&f->fresh, def->stale_max_ms);
    f->guard = guard_new(&def->guard);
    f->pending = pending_new(records_prefixes(f->records));
    f->waiters = waiters_new(def->loop);
    f->walks = walks_new(def->loop, records_set(f->records));
    f->commit_timer = run_timer_new(def->loop, on_commit_timer, f);
    f->age_timer = run_timer_new(def->loop, on_age_timer, f);
    return f;
}

unsigned follow_image(struct follow *f, int64_t age_ms)
{
    freshness_image(&f->fresh, age_ms, run_now_ms());
    follow_watch_age(f);
    return freshness_flags(&f->fresh);
}

void follow_restore_room(struct follow *f, size_t n_records)
{
    packed_set_room(&f->intake.open, n_records);
    records_room(f->records, n_records);
}

void follow_restore(struct follow *f, const char *path, const char *packed, size_t len)
{
    struct packed_prefixes *prefixes = records_prefixes(f->records);
    packed_free(prefixes, packed_put(&f->intake.open, packed_new(prefixes, path, packed, len)));
}

void follow_restored(struct follow *f, int64_t age_ms)
{
    freshness_restored(&f->fresh, age_ms, run_now_ms());
    complete(f, &f->intake.open, true);
}

void follow_begin(struct follow *f)
{
    f->watch = reg_watch_start(f->def.registry, "/", NULL, &watch_ops, f);
}

void follow_stop(struct follow *f)
{
    if (!f)
        return;
    reg_watch_stop(f->watch);
    follow_commit_cancel(f);
    walks_free(f->walks);
    waiters_free(f->waiters);
    guard_free(f->guard);
    run_timer_free(f->commit_timer);
    run_timer_free(f->age_timer);
    pending_free(f->pending);
    packed_set_fini(&f->intake.open, records_prefixes(f->records));
    packed_set_fini(&f->intake.complete, records_prefixes(f->records));
    records_free(f->records);
    map_fini(&f->moved_hosts, NULL);
    obj_fini(&f->obj);
    free(f);
}

/* ---- questions ---- */

void follow_state(const struct follow *f, struct follow_state *out)
{
    const struct freshness *fresh = &f->fresh;
    const struct records_counts *counts = records_counts(f->records);
    *out = (struct follow_state){.is_ready = fresh->is_ready,
                                 .is_filled = fresh->is_filled,
                                 .is_connected = fresh->is_connected,
                                 .is_store_away = fresh->is_store_away,
                                 .is_synced = fresh->is_synced,
                                 .is_behind = fresh->is_behind,
                                 .is_frozen = fresh->is_frozen,
                                 .is_expired = fresh->is_expired,
                                 .unready = freshness_unready(fresh),
                                 .stale_ms = freshness_stale_ms(fresh, run_now_ms()),
                                 .n_records = counts->n_named,
                                 .n_nameless = counts->n_nameless,
                                 .n_held = guard_n_held(f->guard),
                                 .n_left_out = counts->n_left_out,
                                 .n_commits = f->n_commits,
                                 .n_unzoned = counts->n_unzoned};
    memcpy(out->revision, waiters_revision(f->waiters), sizeof out->revision);
}

const struct map_options *follow_map_options(const struct follow *f)
{
    return records_map_options(f->records);
}

bool follow_is_held(const struct follow *f, const char *path)
{
    return guard_is_held(f->guard, path);
}

enum shared_state follow_shared_state(const struct follow *f, const struct zone_rr *rr, bool is_ready)
{
    return records_shared_state(f->records, rr, is_ready);
}

bool follow_rezone_part(struct follow *f, struct zone_tx *tx, const struct records_move *move,
                        uint32_t *cursor)
{
    return records_rezone_part(f->records, tx, move, cursor);
}

int follow_when(struct follow *f, const char *revision, int64_t timeout_ms, void (*fn)(void *arg, int err),
                void *arg)
{
    return waiters_add(f->waiters, revision, timeout_ms, fn, arg);
}

void follow_forget(struct follow *f, void *arg)
{
    guard_forget(f->guard, arg);
    waiters_forget(f->waiters, arg);
}

struct walk *follow_walk_start(struct follow *f, const struct walk_ops *ops, void *arg)
{
    return walk_start(f->walks, ops, arg);
}

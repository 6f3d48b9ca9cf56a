#include "follow/follow_priv.h"
#include "follow/events.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* ---- stale and expired ---- */

bool follow_is_stale(const struct follow *f)
{
    const struct follow_state *s = &f->state;
    return s->is_ready &&
           (!s->is_connected || !s->is_synced || s->is_store_away || s->is_behind || s->is_frozen);
}

/* After a change of what follow_is_stale tells: mind the time from which on nothing is answered. */
static void mind_age(struct follow *f)
{
    f->state.is_expired = false;
    run_timer_stop(f->stale_timer);
    if (!follow_is_stale(f) || !f->def.stale_max_ms)
        return;
    int64_t left_ms = f->stale_since_ms + f->def.stale_max_ms - run_now_ms();
    f->state.is_expired = left_ms <= 0;
    if (f->state.is_expired)
        log_emit(&ev_feed_expired, LOG_INT("stale_ms", run_now_ms() - f->stale_since_ms));
    else
        run_timer_start(f->stale_timer, (uint64_t)left_ms, 0);
}

static void on_stale_timer(void *arg)
{
    struct follow *f = obj_cast(arg, struct follow, FOLLOW_MAGIC);
    mind_age(f);
    follow_commit(f); /* the flags of the version changed */
    f->def.changed(f->def.arg);
}

void follow_frozen(struct follow *f, bool is_frozen)
{
    if (f->state.is_frozen == is_frozen)
        return;
    if (is_frozen && !follow_is_stale(f))
        f->stale_since_ms = run_now_ms();
    f->state.is_frozen = is_frozen;
    mind_age(f);
    follow_commit(f); /* the flags of the version changed */
    f->def.changed(f->def.arg);
}

/* ---- what the watch tells ---- */

static void drop_marks(struct follow *f)
{
    struct mark *m;
    while ((m = TAILQ_FIRST(&f->marks))) {
        TAILQ_REMOVE(&f->marks, m, link);
        free(m);
    }
}

/* No delete that a mark waits for is late any more when what is due now is published. */
static bool is_reached(const struct follow *f, const struct mark *m, int64_t now_ms)
{
    const struct pending *p = TAILQ_FIRST(&f->late_list);
    while (p && p->due_ms <= now_ms)
        p = TAILQ_NEXT(p, link);
    return !p || p->due_ms > m->due_ms;
}

void follow_take_marks(struct follow *f, int64_t now_ms, char revision[REG_REVISION_MAX])
{
    struct mark *m;
    *revision = 0;
    while ((m = TAILQ_FIRST(&f->marks)) && (m->due_ms <= now_ms || is_reached(f, m, now_ms))) {
        memcpy(revision, m->revision, sizeof m->revision);
        TAILQ_REMOVE(&f->marks, m, link);
        free(m);
    }
}

static void on_commit_timer(void *arg)
{
    follow_commit(obj_cast(arg, struct follow, FOLLOW_MAGIC));
}

/* What the zones hold is from before this snapshot, and stale until it is published; for how long is known when the registry
 * was away before it. */
static void on_reset(void *arg)
{
    struct follow *f = obj_cast(arg, struct follow, FOLLOW_MAGIC);
    if (!follow_is_stale(f) && !f->is_just_back)
        f->stale_since_ms = run_now_ms();
    packed_set_fini(&f->snapshot, &f->prefixes);
    f->in_snapshot = f->state.is_behind = true;
    mind_age(f);
    follow_commit(f); /* the flags of the version changed */
}

static struct packed *pack(struct follow *f, const char *path, const struct reg_record *record)
{
    size_t len = 0;
    mem_auto char *bytes = map_pack(record, &len);
    return bytes ? packed_new(&f->prefixes, path, bytes, len) : NULL;
}

/* One record more, or less, of the snapshot. */
static void note_in_snapshot(struct follow *f, const char *path, struct packed *take_packed)
{
    struct packed *old = packed_get(&f->snapshot, &f->prefixes, path);
    if (take_packed)
        old = packed_put(&f->snapshot, take_packed);
    else if (old)
        packed_take(&f->snapshot, old);
    packed_free(&f->prefixes, old);
}

/* Keep a change for the next commit; within a snapshot for its end. A delete waits for a create, which replaces it. */
static void note(struct follow *f, const char *path, struct packed *take_packed)
{
    f->is_just_back = false;
    if (f->in_snapshot) {
        note_in_snapshot(f, path, take_packed);
        return;
    }
    int64_t now = run_now_ms();
    bool is_delayed =
        !take_packed && f->def.coalesce_ms && packed_get(&f->records, &f->prefixes, path) != NULL;
    if (!is_delayed) {
        follow_pending_put(f, path, 0, take_packed);
        follow_commit_at(f, now + COMMIT_DELAY_MS);
        return;
    }
    follow_pending_put(f, path, now + f->def.coalesce_ms, NULL);
    follow_commit_at(f, now + f->def.coalesce_ms);
}

static void on_put(void *arg, const char *path, const struct reg_record *record, const char *revision)
{
    (void)revision;
    struct follow *f = obj_cast(arg, struct follow, FOLLOW_MAGIC);
    f->has_put = !f->in_snapshot;
    note(f, path, pack(f, path, record));
}

static void on_deleted(void *arg, const char *path, const char *revision)
{
    (void)revision;
    note(obj_cast(arg, struct follow, FOLLOW_MAGIC), path, NULL);
}

void follow_is_synced(struct follow *f)
{
    f->state.is_ready = true;
    f->state.is_filled = true;
    f->state.is_synced |= !f->run.is_restored;
    f->state.is_behind = f->in_snapshot;
    mind_age(f);
}

/* The snapshot is complete; a commit puts it in place of what the zones hold, and of what was pending. */
static void on_synced(void *arg, const char *revision)
{
    struct follow *f = obj_cast(arg, struct follow, FOLLOW_MAGIC);
    drop_marks(f);
    follow_pending_clear(f);
    if (f->has_complete)
        packed_set_fini(&f->complete, &f->prefixes);
    f->is_restoring = false;
    f->complete = f->snapshot;
    f->snapshot = (struct packed_set){.n_items = 0};
    memcpy(f->complete_revision, revision, strnlen(revision, sizeof f->complete_revision - 1) + 1);
    f->has_complete = true;
    f->in_snapshot = f->is_just_back = false;
    follow_commit(f);
}

static void on_progress(void *arg, const char *revision)
{
    struct follow *f = obj_cast(arg, struct follow, FOLLOW_MAGIC);
    f->is_just_back = false;
    if (f->in_snapshot)
        return;
    if (!f->run.is_on && !follow_has_pending(f)) {
        drop_marks(f);
        follow_published(f, revision);
        return;
    }
    const struct pending *last = TAILQ_LAST(&f->late_list, late_list);
    struct mark *m = mem_new(struct mark);
    m->due_ms = last ? last->due_ms : 0;
    memcpy(m->revision, revision, strnlen(revision, sizeof m->revision - 1));
    TAILQ_INSERT_TAIL(&f->marks, m, link);
    if (!last || f->pending.n_items)
        follow_commit(f);
}

static void on_state(void *arg, const struct err_info *why)
{
    struct follow *f = obj_cast(arg, struct follow, FOLLOW_MAGIC);
    f->is_refused = f->is_refused && why;
    if (f->state.is_connected == !why)
        return;
    if (why && !follow_is_stale(f))
        f->stale_since_ms = run_now_ms();
    f->state.is_connected = !why;
    f->is_just_back = !why && f->state.is_ready;
    if (why)
        log_emit(&ev_feed_lost, LOG_ERR(why));
    else
        log_emit0(&ev_feed_back);
    mind_age(f);
    follow_commit_at(f,
                     run_now_ms()); /* the flags of the version changed, or not: a snapshot may begin now */
    f->def.changed(f->def.arg);
}

/** It is asked on all the same: what refuses may be another program, or another Bobbin, for a while. Said once until one is heard. */
static bool on_refused(void *arg, const struct err_info *why)
{
    struct follow *f = obj_cast(arg, struct follow, FOLLOW_MAGIC);
    if (!f->is_refused)
        log_emit(&ev_feed_refused, LOG_ERR(why));
    f->is_refused = true;
    return false;
}

static void on_stale(void *arg, bool is_away)
{
    struct follow *f = obj_cast(arg, struct follow, FOLLOW_MAGIC);
    if (is_away && !follow_is_stale(f))
        f->stale_since_ms = run_now_ms();
    f->state.is_store_away = is_away;
    log_emit(is_away ? &ev_feed_stale : &ev_feed_current, LOG_STR("revision", f->state.revision));
    mind_age(f);
    follow_commit(f); /* the flags of the version changed */
    f->def.changed(f->def.arg);
}

/* A record that came is published at once, the revision when its mark comes. Where deletes are not delayed a mark is waited for, so
 * that the guard sees all that goes together. */
static void on_drained(void *arg)
{
    struct follow *f = obj_cast(arg, struct follow, FOLLOW_MAGIC);
    bool is_due = f->has_put && f->def.coalesce_ms && !f->in_snapshot;
    f->has_put = false;
    if (!is_due)
        return;
    follow_commit(f);
    f->def.changed(f->def.arg);
}

static const struct reg_watch_ops watch_ops = {.reset = on_reset,
                                               .put = on_put,
                                               .deleted = on_deleted,
                                               .synced = on_synced,
                                               .progress = on_progress,
                                               .state = on_state,
                                               .stale = on_stale,
                                               .drained = on_drained,
                                               .refused = on_refused};

/* ---- beginning and end ---- */

static size_t on_addresses(void *arg, const char *host, struct addr *out)
{
    struct follow *f = obj_cast(arg, struct follow, FOLLOW_MAGIC);
    return hosts_get(f->hosts, host, out, MAP_MAX_ADDRESSES);
}

static void on_wait_timer(void *arg)
{
    follow_serve(obj_cast(arg, struct follow, FOLLOW_MAGIC));
}

struct follow *follow_new(const struct follow_def *def)
{
    struct follow *f = mem_new(struct follow);
    obj_init(&f->obj, FOLLOW_MAGIC);
    f->def = *def;
    f->def.map.addresses = on_addresses;
    f->def.map.addresses_arg = f;
    f->commit_at_ms = INT64_MAX;
    f->guard.since_ms = INT64_MIN / 2;
    f->commit_timer = run_timer_new(def->loop, on_commit_timer, f);
    f->wait_timer = run_timer_new(def->loop, on_wait_timer, f);
    f->stale_timer = run_timer_new(def->loop, on_stale_timer, f);
    struct hosts_def hosts = {def->loop, def->host_refresh_ms, follow_host_changed, f};
    f->hosts = hosts_new(&hosts);
    f->heap = heap_new(def->loop);
    TAILQ_INIT(&f->late_list);
    TAILQ_INIT(&f->marks);
    TAILQ_INIT(&f->waiters);
    TAILQ_INIT(&f->releases);
    TAILQ_INIT(&f->walks);
    return f;
}

unsigned follow_stand_in(struct follow *f, int64_t age_ms)
{
    f->stale_since_ms = run_now_ms() - age_ms;
    f->state.is_ready = true;
    mind_age(f);
    return follow_flags(f);
}

void follow_restore_room(struct follow *f, size_t n_records)
{
    packed_set_room(&f->complete, n_records);
    packed_set_room(&f->records, n_records);
}

void follow_restore(struct follow *f, const char *path, const char *packed, size_t len)
{
    packed_free(&f->prefixes, packed_put(&f->complete, packed_new(&f->prefixes, path, packed, len)));
}

void follow_restored(struct follow *f, int64_t age_ms)
{
    f->stale_since_ms = run_now_ms() - age_ms;
    f->has_complete = f->is_restoring = true;
    follow_commit(f);
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
    follow_run_cancel(f);
    follow_cancel_walks(f);
    follow_cancel_waiters(f);
    hosts_free(f->hosts);
    heap_free(f->heap);
    shared_fini(&f->shared);
    run_timer_free(f->commit_timer);
    run_timer_free(f->wait_timer);
    run_timer_free(f->stale_timer);
    drop_marks(f);
    follow_pending_clear(f);
    packed_set_fini(&f->snapshot, &f->prefixes);
    packed_set_fini(&f->complete, &f->prefixes);
    packed_set_fini(&f->records, &f->prefixes);
    map_fini(&f->held, NULL);
    map_fini(&f->released, NULL);
    map_fini(&f->moved_hosts, NULL);
    packed_text_fini(&f->text);
    packed_text_fini(&f->before);
    obj_fini(&f->obj);
    free(f);
}

void follow_state(const struct follow *f, struct follow_state *out)
{
    *out = f->state;
    out->n_held = f->held.n_items;
    out->stale_ms = follow_is_stale(f) ? run_now_ms() - f->stale_since_ms : 0;
}

const struct map_options *follow_map_options(const struct follow *f)
{
    return &f->def.map;
}

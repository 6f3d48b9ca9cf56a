#include "feed/follow_inside.h"
#include "feed/events.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* ---- stale and expired ---- */

static bool is_stale(const struct follow *f)
{
    return f->state.is_ready && (!f->state.is_connected || !f->state.is_synced || f->state.is_store_away);
}

/* After a change of what is_stale tells: mind the time from which on nothing is answered. */
static void mind_age(struct follow *f)
{
    f->state.is_expired = false;
    run_timer_stop(f->stale_timer);
    if (!is_stale(f) || !f->def.stale_max_ms)
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

/* ---- what the watch tells ---- */

/* Marks whose deletes are done: everything up to the last of them is published. */
static void publish_marks(struct follow *f, int64_t now)
{
    char revision[REG_REVISION_MAX] = "";
    struct mark *m;
    while ((m = TAILQ_FIRST(&f->marks)) && m->due_ms <= now) {
        memcpy(revision, m->revision, sizeof revision);
        TAILQ_REMOVE(&f->marks, m, link);
        free(m);
    }
    if (*revision)
        follow_published(f, revision);
    else
        f->def.changed(f->def.arg);
}

static void on_commit_timer(void *arg)
{
    struct follow *f = obj_cast(arg, struct follow, FOLLOW_MAGIC);
    int64_t now = run_now_ms();
    follow_commit(f);
    publish_marks(f, now);
}

static void on_reset(void *arg)
{
    struct follow *f = obj_cast(arg, struct follow, FOLLOW_MAGIC);
    kept_set_fini(&f->snapshot, &f->prefixes);
    f->in_snapshot = true;
}

static struct kept *pack(struct follow *f, const char *path, const struct reg_record *record)
{
    size_t len = 0;
    mem_auto char *bytes = map_pack(record, &len);
    return bytes ? kept_new(&f->prefixes, path, bytes, len) : NULL;
}

/* One record more, or less, of the snapshot. */
static void note_in_snapshot(struct follow *f, const char *path, struct kept *take_kept)
{
    struct kept *old = kept_get(&f->snapshot, &f->prefixes, path);
    if (take_kept)
        old = kept_put(&f->snapshot, take_kept);
    else if (old)
        kept_take(&f->snapshot, old);
    kept_free(&f->prefixes, old);
}

/* Keep a change for the next commit; within a snapshot for its end. A delete waits for a create, which replaces it. */
static void note(struct follow *f, const char *path, struct kept *take_kept)
{
    if (f->in_snapshot) {
        note_in_snapshot(f, path, take_kept);
        return;
    }
    int64_t now = run_now_ms();
    bool is_delayed = !take_kept && f->def.coalesce_ms && kept_get(&f->records, &f->prefixes, path) != NULL;
    if (!is_delayed) {
        follow_pending_put(f, path, 0, take_kept);
        follow_commit_at(f, now + COMMIT_DELAY_MS);
        return;
    }
    f->last_delay_ms = now + f->def.coalesce_ms;
    follow_pending_put(f, path, f->last_delay_ms, NULL);
    follow_commit_at(f, f->last_delay_ms);
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

static void drop_marks(struct follow *f)
{
    struct mark *m;
    while ((m = TAILQ_FIRST(&f->marks))) {
        TAILQ_REMOVE(&f->marks, m, link);
        free(m);
    }
}

static void on_synced(void *arg, const char *revision)
{
    struct follow *f = obj_cast(arg, struct follow, FOLLOW_MAGIC);
    drop_marks(f);
    f->in_snapshot = false;
    f->state.is_ready = f->state.is_synced = true;
    mind_age(f);
    follow_commit_snapshot(f);
    log_emit(&ev_feed_synced, LOG_STR("revision", revision), LOG_INT("records", f->state.n_records));
    follow_published(f, revision);
}

static void on_progress(void *arg, const char *revision)
{
    struct follow *f = obj_cast(arg, struct follow, FOLLOW_MAGIC);
    int64_t now = run_now_ms();
    if (f->in_snapshot)
        return;
    if (f->pending.n_items)
        follow_commit(f);
    if (!f->pending.n_items) {
        drop_marks(f);
        follow_published(f, revision);
        return;
    }
    struct mark *m = mem_new(struct mark);
    m->due_ms = f->last_delay_ms;
    memcpy(m->revision, revision, strnlen(revision, sizeof m->revision - 1));
    TAILQ_INSERT_TAIL(&f->marks, m, link);
    publish_marks(f, now);
}

static void on_state(void *arg, const struct err_info *why)
{
    struct follow *f = obj_cast(arg, struct follow, FOLLOW_MAGIC);
    if (f->state.is_connected == !why)
        return;
    if (why && !is_stale(f))
        f->stale_since_ms = run_now_ms();
    f->state.is_connected = !why;
    if (why)
        log_emit(&ev_feed_lost, LOG_ERR(why));
    else
        log_emit0(&ev_feed_back);
    mind_age(f);
    follow_commit(f); /* the flags of the version changed */
    f->def.changed(f->def.arg);
}

static void on_stale(void *arg, bool is_away)
{
    struct follow *f = obj_cast(arg, struct follow, FOLLOW_MAGIC);
    if (is_away && !is_stale(f))
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
                                               .drained = on_drained};

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
    f->trim = trim_new(def->loop);
    TAILQ_INIT(&f->marks);
    TAILQ_INIT(&f->waiters);
    TAILQ_INIT(&f->walks);
    return f;
}

void follow_restore(struct follow *f, const char *path, const char *packed, size_t len)
{
    kept_free(&f->prefixes, kept_put(&f->snapshot, kept_new(&f->prefixes, path, packed, len)));
}

void follow_restored(struct follow *f, int64_t age_ms)
{
    f->state.is_ready = true;
    f->stale_since_ms = run_now_ms() - age_ms;
    mind_age(f);
    follow_commit_snapshot(f);
    log_emit(&ev_feed_restored, LOG_INT("records", f->state.n_records), LOG_INT("age_ms", age_ms));
    f->def.changed(f->def.arg);
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
    follow_cancel_walks(f);
    follow_cancel_waiters(f);
    hosts_free(f->hosts);
    trim_free(f->trim);
    pools_fini(&f->pools);
    run_timer_free(f->commit_timer);
    run_timer_free(f->wait_timer);
    run_timer_free(f->stale_timer);
    drop_marks(f);
    follow_pending_clear(f);
    kept_set_fini(&f->snapshot, &f->prefixes);
    kept_set_fini(&f->records, &f->prefixes);
    map_fini(&f->held, NULL);
    kept_text_fini(&f->text);
    kept_text_fini(&f->before);
    obj_fini(&f->obj);
    free(f);
}

void follow_state(const struct follow *f, struct follow_state *out)
{
    *out = f->state;
    out->n_held = f->held.n_items;
    out->stale_ms = is_stale(f) ? run_now_ms() - f->stale_since_ms : 0;
}

const struct map_options *follow_map_options(const struct follow *f)
{
    return &f->def.map;
}

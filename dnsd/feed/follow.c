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
    map_fini(&f->snapshot, follow_pending_free);
    f->in_snapshot = true;
}

static struct record *pack(const struct reg_record *record)
{
    size_t len = 0;
    mem_auto char *bytes = map_pack(record, &len);
    return bytes ? follow_record_new(bytes, len) : NULL;
}

static void put_pending(struct map *m, const char *path, int64_t due_ms, struct record *take_record)
{
    struct pending *p = mem_new(struct pending);
    p->due_ms = due_ms;
    p->record = take_record;
    p = map_set(m, path, p);
    if (p)
        follow_pending_free(p);
}

/* Keep a change for the next commit; within a snapshot for its end. A delete waits for a create, which replaces it. */
static void note(struct follow *f, const char *path, struct record *take_record)
{
    if (f->in_snapshot) {
        put_pending(&f->snapshot, path, 0, take_record);
        return;
    }
    int64_t now = run_now_ms();
    bool is_delayed = !take_record && f->def.coalesce_ms && map_get(&f->records, path);
    if (!is_delayed) {
        put_pending(&f->pending, path, 0, take_record);
        follow_commit_at(f, now + COMMIT_DELAY_MS);
        return;
    }
    f->last_delay_ms = now + f->def.coalesce_ms;
    put_pending(&f->pending, path, f->last_delay_ms, NULL);
    follow_commit_at(f, f->last_delay_ms);
}

static void on_put(void *arg, const char *path, const struct reg_record *record, const char *revision)
{
    (void)revision;
    note(obj_cast(arg, struct follow, FOLLOW_MAGIC), path, pack(record));
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

/* What is held and was not seen in the snapshot is gone. */
static void on_synced(void *arg, const char *revision)
{
    struct follow *f = obj_cast(arg, struct follow, FOLLOW_MAGIC);
    const struct record *r;
    TAILQ_FOREACH (r, &f->list, link)
        if (!map_get(&f->snapshot, r->path))
            put_pending(&f->snapshot, r->path, 0, NULL);
    map_fini(&f->pending, follow_pending_free);
    drop_marks(f);
    f->pending = f->snapshot;
    f->snapshot = MAP_EMPTY;
    f->in_snapshot = false;
    f->state.is_ready = f->state.is_synced = true;
    mind_age(f);
    follow_commit(f);
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

static const struct reg_watch_ops watch_ops = {.reset = on_reset,
                                               .put = on_put,
                                               .deleted = on_deleted,
                                               .synced = on_synced,
                                               .progress = on_progress,
                                               .state = on_state,
                                               .stale = on_stale};

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
    TAILQ_INIT(&f->list);
    TAILQ_INIT(&f->marks);
    TAILQ_INIT(&f->waiters);
    TAILQ_INIT(&f->walks);
    return f;
}

void follow_restore(struct follow *f, const char *path, const char *packed, size_t len)
{
    put_pending(&f->pending, path, 0, follow_record_new(packed, len));
}

void follow_restored(struct follow *f, int64_t age_ms)
{
    f->state.is_ready = true;
    f->stale_since_ms = run_now_ms() - age_ms;
    mind_age(f);
    follow_commit(f);
    log_emit(&ev_feed_restored, LOG_INT("records", f->state.n_records), LOG_INT("age_ms", age_ms));
    f->def.changed(f->def.arg);
}

void follow_begin(struct follow *f)
{
    f->watch = reg_watch_start(f->def.registry, "/", NULL, &watch_ops, f);
}

static void free_records(struct follow *f)
{
    struct record *r;
    map_fini(&f->records, NULL);
    while ((r = TAILQ_FIRST(&f->list))) {
        TAILQ_REMOVE(&f->list, r, link);
        free(r);
    }
}

void follow_stop(struct follow *f)
{
    if (!f)
        return;
    reg_watch_stop(f->watch);
    follow_cancel_walks(f);
    follow_cancel_waiters(f);
    hosts_free(f->hosts);
    pools_fini(&f->pools);
    run_timer_free(f->commit_timer);
    run_timer_free(f->wait_timer);
    run_timer_free(f->stale_timer);
    drop_marks(f);
    free_records(f);
    map_fini(&f->pending, follow_pending_free);
    map_fini(&f->snapshot, follow_pending_free);
    map_fini(&f->held, NULL);
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

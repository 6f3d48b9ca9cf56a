#include "app.h"
#include "events.h"
#include "routes.h"
#include "base/mem.h"
#include "base/obj.h"
#include "json/writer.h"

#include <stdlib.h>

#define SYNC_MAGIC     OBJ_MAGIC('S', 'Y', 'N', 'C')
#define RELEASED_MAGIC OBJ_MAGIC('R', 'L', 'S', 'D')
#define RELOAD_MAGIC   OBJ_MAGIC('R', 'L', 'O', 'D')

/* A request that waits for a revision. */
struct sync {
    struct obj obj;
    struct dnsd *app;
    struct http_req *req;
};

static void sync_free(struct sync *s)
{
    obj_fini(&s->obj);
    free(s);
}

static void on_client_gone(void *arg)
{
    struct sync *s = obj_cast(arg, struct sync, SYNC_MAGIC);
    follow_forget(s->app->follow, s);
    sync_free(s);
}

const char *dnsd_zone_kind(enum zone_kind kind)
{
    static const char *const words[] = {"registry", "reverse", "file", "gone"};
    return words[kind];
}

static void write_state(struct jw *w, const struct follow_state *state)
{
    jw_kstr(w, "revision", state->revision);
    jw_kbool(w, "ready", state->is_ready && !state->is_expired);
    jw_kbool(w, "stale",
             !state->is_connected || !state->is_synced || state->is_store_away || state->is_behind ||
                 state->is_frozen);
    jw_kbool(w, "frozen", state->is_frozen);
    jw_kint(w, "staleSeconds", state->stale_ms / 1000);
    jw_kint(w, "records", (int64_t)state->n_records);
    jw_kint(w, "held", (int64_t)state->n_held);
}

static void reply_state(struct http_req *req, const struct follow_state *state)
{
    struct buf body = BUF_EMPTY;
    struct jw w = jw_on(&body);
    jw_object(&w);
    write_state(&w, state);
    jw_object_end(&w);
    http_reply_header(req, "Bobbin-Revision", state->revision);
    http_reply(req, 200, "application/json", &body);
}

static void on_revision(void *arg, int err)
{
    struct sync *s = obj_cast(arg, struct sync, SYNC_MAGIC);
    struct follow_state state;
    struct err_info why;
    follow_state(s->app->follow, &state);
    buf_auto struct buf frozen = BUF_EMPTY;
    bool is_frozen = dnsd_serials_frozen(s->app, &frozen);
    if (err == ERR_TIMEOUT)
        err_set(&why, err, "revision",
                "this revision is not visible in answers yet; the names answered now are those of %s%s%s",
                state.revision, is_frozen ? ": " : "", buf_cstr(&frozen));
    else if (err == ERR_GONE)
        err_set(&why, err, "revision", "this revision is of another store; names are answered from %s",
                state.revision);
    else
        err_set(&why, err, "revision", "%s", err_text(err));
    if (err)
        http_reply_error(s->req, err, &why);
    else
        reply_state(s->req, &state);
    sync_free(s);
}

void dnsd_api_sync(struct http_req *req, void *arg)
{
    struct dnsd *app = obj_cast(arg, struct dnsd, DNSD_MAGIC);
    struct err_info why;
    const char *revision = http_param_text(req, SYNC_REVISION);
    struct sync *s = mem_new(struct sync);
    obj_init(&s->obj, SYNC_MAGIC);
    s->app = app;
    s->req = req;
    int err = follow_when(app->follow, revision, http_param_ms(req, SYNC_TIMEOUT), on_revision, s);
    if (!err) {
        http_reply_later(req, on_client_gone, s);
        return;
    }
    err_set(&why, err, "revision", "\"%s\" is not a revision (<store>.<number>)", revision);
    http_reply_error(req, err, &why);
    sync_free(s);
}

/* ---- zones and counts ---- */

static void write_zone(struct jw *w, const struct dnsd *app, const struct zone_info *zone)
{
    char name[NAME_TEXT_MAX];
    const struct err_info *error;
    const char *file = masters_file(app->masters, zone->apex, &error);
    jw_object(w);
    jw_kstr(w, "name", name_to_text(zone->apex, name));
    jw_kstr(w, "kind", dnsd_zone_kind(zone->kind));
    jw_kint(w, "serial", zone->serial);
    jw_kint(w, "names", (int64_t)zone->n_nodes);
    jw_kint(w, "records", (int64_t)zone->n_rrs);
    if (file)
        jw_kstr(w, "file", file);
    if (error) {
        mem_auto char *text = mem_fmt("%s: %s", error->where, error->text);
        jw_kstr(w, "error", text);
    }
    jw_object_end(w);
}

void dnsd_api_zones(struct http_req *req, void *arg)
{
    struct dnsd *app = obj_cast(arg, struct dnsd, DNSD_MAGIC);
    const struct zone_version *v = zoneset_current(app->zones);
    struct buf body = BUF_EMPTY;
    struct jw w = jw_on(&body);
    jw_object(&w);
    jw_key(&w, "zones");
    jw_array(&w);
    for (unsigned i = 0; i < zone_version_n_zones(v); i++) {
        struct zone_info zone;
        zone_version_info(v, i, &zone);
        if (zone.kind != ZONE_GONE)
            write_zone(&w, app, &zone);
    }
    jw_array_end(&w);
    jw_object_end(&w);
    http_reply(req, 200, "application/json", &body);
}

void dnsd_api_stats(struct http_req *req, void *arg)
{
    struct dnsd *app = obj_cast(arg, struct dnsd, DNSD_MAGIC);
    struct follow_state state;
    struct net_counts counts;
    struct zoneset_memory memory;
    struct buf body = BUF_EMPTY;
    struct jw w = jw_on(&body);
    follow_state(app->follow, &state);
    net_counts_read(app->net, &counts);
    zoneset_memory(app->zones, &memory);
    jw_object(&w);
    write_state(&w, &state);
    jw_kbool(&w, "connected", state.is_connected);
    jw_kbool(&w, "loading", dnsd_is_on_image(app));
    jw_kint(&w, "nameless", (int64_t)state.n_nameless);
    jw_kint(&w, "leftOut", (int64_t)state.n_left_out);
    jw_kint(&w, "unzoned", (int64_t)state.n_unzoned);
    jw_kint(&w, "commits", (int64_t)state.n_commits);
    jw_kint(&w, "zoneBytes", (int64_t)memory.version_bytes);
    jw_key(&w, "queries");
    jw_object(&w);
#define COUNT(field, name, help) jw_kint(&w, #field, (int64_t)counts.field);
    NET_COUNTERS(COUNT)
#undef COUNT
    jw_kint(&w, "tcp_open", (int64_t)counts.tcp_open);
    jw_object_end(&w);
    dnsd_forward_write(app, &w);
    dnsd_tap_write(app, &w);
    jw_object_end(&w);
    http_reply(req, 200, "application/json", &body);
}

/* ---- reload and release ---- */

/* The change is applied, but readers will not see it soon. */
static void reply_frozen(struct http_req *req, const struct dnsd *app)
{
    buf_auto struct buf text = BUF_EMPTY;
    struct err_info why;
    if (!dnsd_serials_frozen(app, &text))
        buf_add_str(
            &text,
            "answers come from the image of the last run until its records, or the registry, are read");
    err_set(&why, ERR_UNAVAILABLE, "dnsd", "the change is applied, but not visible in answers yet: %s",
            buf_cstr(&text));
    http_reply_error(req, ERR_UNAVAILABLE, &why);
}

/* A request that waits for removals. */
struct released {
    struct obj obj;
    struct dnsd *app;
    struct http_req *req;
    size_t n_records;
};

static void released_free(struct released *r)
{
    obj_fini(&r->obj);
    free(r);
}

static void on_release_visible(void *arg, bool is_visible)
{
    struct released *r = obj_cast(arg, struct released, RELEASED_MAGIC);
    struct buf body = BUF_EMPTY;
    struct jw w = jw_on(&body);
    if (is_visible) {
        jw_object(&w);
        jw_kint(&w, "released", (int64_t)r->n_records);
        jw_object_end(&w);
        http_reply(r->req, 200, "application/json", &body);
    } else {
        reply_frozen(r->req, r->app);
    }
    released_free(r);
}

static void on_released(void *arg, size_t n_records)
{
    struct released *r = obj_cast(arg, struct released, RELEASED_MAGIC);
    r->n_records = n_records;
    dnsd_when_visible(r->app, on_release_visible, r);
}

static void on_release_left(void *arg)
{
    struct released *r = obj_cast(arg, struct released, RELEASED_MAGIC);
    follow_forget(r->app->follow, r);
    dnsd_forget_visible(r->app, r);
    released_free(r);
}

void dnsd_api_release(struct http_req *req, void *arg)
{
    struct dnsd *app = obj_cast(arg, struct dnsd, DNSD_MAGIC);
    struct released *r = mem_new(struct released);
    obj_init(&r->obj, RELEASED_MAGIC);
    r->app = app;
    r->req = req;
    http_reply_later(req, on_release_left, r);
    follow_release(r->app->follow, on_released, r);
}

/* A request that waits for the master files. */
struct reload {
    struct obj obj;
    struct dnsd *app;
    struct http_req *req;
    int net_err; /* certificate or secrets; why says more */
    struct err_info why;
    unsigned n_files, n_changed;
};

static void reload_free(struct reload *r)
{
    obj_fini(&r->obj);
    free(r);
}

static void on_reload_gone(void *arg)
{
    struct reload *r = obj_cast(arg, struct reload, RELOAD_MAGIC);
    masters_forget(r->app->masters, r);
    dnsd_forget_visible(r->app, r);
    reload_free(r);
}

static void on_reload_visible(void *arg, bool is_visible)
{
    struct reload *r = obj_cast(arg, struct reload, RELOAD_MAGIC);
    struct buf body = BUF_EMPTY;
    struct jw w = jw_on(&body);
    if (is_visible) {
        jw_object(&w);
        jw_kint(&w, "files", r->n_files);
        jw_kint(&w, "changed", r->n_changed);
        jw_object_end(&w);
        http_reply(r->req, 200, "application/json", &body);
    } else {
        reply_frozen(r->req, r->app);
    }
    reload_free(r);
}

static void on_reloaded(void *arg, int err, const struct masters_outcome *outcome)
{
    struct reload *r = obj_cast(arg, struct reload, RELOAD_MAGIC);
    r->n_files = outcome->n_files;
    r->n_changed = outcome->n_changed;
    if (!err && !r->net_err) {
        dnsd_when_visible(r->app, on_reload_visible, r);
        return;
    }
    http_reply_error(r->req, err ? err : r->net_err, err ? &outcome->why : &r->why);
    reload_free(r);
}

void dnsd_api_reload(struct http_req *req, void *arg)
{
    struct dnsd *app = obj_cast(arg, struct dnsd, DNSD_MAGIC);
    struct reload *r = mem_new(struct reload);
    obj_init(&r->obj, RELOAD_MAGIC);
    r->app = app;
    r->req = req;
    r->net_err = dnsd_net_reload(r->app, &r->why);
    http_reply_later(req, on_reload_gone, r);
    masters_reload(r->app->masters, on_reloaded, r);
}

/* ---- metrics ---- */

static void collect_tap(const struct tap *t, struct metrics *m)
{
    struct tap_counts counts;
    tap_counts_read(t, &counts);
#define SET(field, name, help) metric_set(m, M_NET_##field, (int64_t)counts.field);
    TAP_COUNTERS(SET)
#undef SET
}

static void collect_forward(const struct forward *f, struct metrics *m)
{
    struct forward_counts counts;
    forward_counts_read(f, &counts);
    metric_set(m, M_FORWARD_UNDER_WAY, (int64_t)counts.under_way);
    metric_set(m, M_FORWARD_CACHE, (int64_t)counts.cache_bytes);
    metric_set(m, M_FORWARD_FAILING, (int64_t)counts.failing);
#define SET(field, name, help) metric_set(m, M_NET_##field, (int64_t)counts.field);
    FORWARD_COUNTERS(SET)
#undef SET
}

void dnsd_collect(void *arg)
{
    struct dnsd *app = obj_cast(arg, struct dnsd, DNSD_MAGIC);
    struct metrics *m = daemon_metrics(app->daemon);
    struct follow_state state;
    struct net_counts counts;
    struct zoneset_memory memory;
    const struct run_turns turns = run_loop_turns(daemon_loop(app->daemon));
    follow_state(app->follow, &state);
    net_counts_read(app->net, &counts);
    zoneset_memory(app->zones, &memory);
    metric_set(m, M_READY, state.is_ready);
    metric_set(m, M_LOADING, dnsd_is_on_image(app));
    metric_set(m, M_STALE, !state.is_connected || state.is_store_away);
    metric_set(m, M_STALE_SECONDS, state.stale_ms / 1000);
    metric_set(m, M_HELD, (int64_t)state.n_held);
    metric_set(m, M_NAMELESS, (int64_t)state.n_nameless);
    metric_set(m, M_FROZEN, state.is_frozen);
    metric_set(m, M_SERIALS_FAILING, serials_error(app->serials) != NULL);
    metric_set(m, M_BAD_FILES, masters_n_bad(app->masters));
    metric_set(m, M_RECORDS, (int64_t)state.n_records);
    metric_set(m, M_COMMITS, (int64_t)state.n_commits);
    metric_set(m, M_SLICES, (int64_t)writer_n_slices(app->writer));
    metric_set(m, M_LONG_TURNS, (int64_t)turns.n_long);
    metric_set(m, M_LONGEST_TURN, turns.longest_us);
    metric_set(m, M_LEFT_OUT, (int64_t)state.n_left_out);
    metric_set(m, M_UNZONED, (int64_t)state.n_unzoned);
    metric_set(m, M_ZONE_BYTES, (int64_t)memory.version_bytes);
    metric_set(m, M_TCP_OPEN, (int64_t)counts.tcp_open);
#define SET(field, name, help) metric_set(m, M_NET_##field, (int64_t)counts.field);
    NET_COUNTERS(SET)
#undef SET
    collect_tap(app->tap, m);
    if (app->forward)
        collect_forward(app->forward, m);
}

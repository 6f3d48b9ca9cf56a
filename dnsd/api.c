#include "app.h"
#include "events.h"
#include "base/mem.h"
#include "base/obj.h"
#include "json/writer.h"

#include <stdlib.h>

#define SYNC_MAGIC OBJ_MAGIC('S', 'Y', 'N', 'C')

/** How long /sync waits when it is not told. */
#define SYNC_TIMEOUT_MS 10000

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

static void reply_state(struct http_req *req, const struct follow_state *state)
{
    struct buf body = BUF_EMPTY;
    struct jw w = jw_on(&body);
    jw_object(&w);
    jw_kstr(&w, "revision", state->revision);
    jw_kbool(&w, "ready", state->is_ready);
    jw_kbool(&w, "stale", !state->is_connected);
    jw_kint(&w, "records", (int64_t)state->n_records);
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
    if (err == ERR_TIMEOUT)
        err_set(&why, err, "revision", "not answered from yet; the names answered now are those of %s",
                state.revision);
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

static void api_sync(struct http_req *req, void *arg)
{
    struct dnsd *app = arg;
    struct err_info why;
    int64_t timeout_ms;
    const char *revision = http_query(req, "revision");
    int err = http_query_ms(req, "timeout", SYNC_TIMEOUT_MS, &timeout_ms, &why);
    if (!err && !revision)
        err = err_set(&why, ERR_USAGE, "revision",
                      "give the revision to wait for: the Bobbin-Revision of a write");
    if (err) {
        http_reply_error(req, err, &why);
        return;
    }
    struct sync *s = mem_new(struct sync);
    obj_init(&s->obj, SYNC_MAGIC);
    s->app = app;
    s->req = req;
    err = follow_when(app->follow, revision, timeout_ms, on_revision, s);
    if (!err) {
        http_reply_later(req, on_client_gone, s);
        return;
    }
    err_set(&why, err, "revision", "\"%s\" is not a revision (<store>.<number>)", revision);
    http_reply_error(req, err, &why);
    sync_free(s);
}

const struct http_route dnsd_routes[] = {
    {"GET", "/sync", 0, 0, api_sync, "Wait until names are answered from a revision"},
};
const size_t dnsd_n_routes = ARRAY_LEN(dnsd_routes);

void dnsd_collect(void *arg)
{
    struct dnsd *app = arg;
    struct metrics *m = daemon_metrics(app->daemon);
    struct follow_state state;
    struct net_counts counts;
    struct zoneset_memory memory;
    follow_state(app->follow, &state);
    net_counts_read(app->net, &counts);
    zoneset_memory(app->zones, &memory);
    metric_set(m, M_READY, state.is_ready);
    metric_set(m, M_STALE, !state.is_connected);
    metric_set(m, M_RECORDS, (int64_t)state.n_records);
    metric_set(m, M_COMMITS, (int64_t)state.n_commits);
    metric_set(m, M_LEFT_OUT, (int64_t)state.n_left_out);
    metric_set(m, M_UNZONED, (int64_t)state.n_unzoned);
    metric_set(m, M_ZONE_BYTES, (int64_t)memory.version_bytes);
    metric_set(m, M_TCP_OPEN, (int64_t)counts.tcp_open);
#define SET(field, name, help) metric_set(m, M_NET_##field, (int64_t)counts.field);
    NET_COUNTERS(SET)
#undef SET
}

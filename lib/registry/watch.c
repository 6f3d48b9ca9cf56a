/**
 * The feed client. See registry.h.
 *
 *     connect ──hello──► snapshot (no `since`) ──sync──► live ──progress──► live …
 *        ▲                                                 │
 *        └── next server ◄── lost, idle, end ──────────────┘     `since`: the last sync or progress
 *
 * The next server is asked at once; when all were asked, again after a pause that grows to 5 s. `since` goes along: all
 * registries of one store accept it. A refused one (410) or a `gone` line forgets it: the same server, which is there, is
 * asked for a snapshot. Any other answer that asking again would not change (refuses) is a refusal: the follower may end the
 * watch, else it goes on as after a loss.
 * Through a gateway each connection is asked for GATEWAY_WATCH of time, and its end behind a progress line is no loss: the watch goes on.
 * A callback may stop the watch: it is freed when the callbacks have returned.
 */
#include <stdlib.h>
#include <string.h>

#include "base/backoff.h"
#include "base/mem.h"
#include "registry/client_priv.h"
#include "registry/wire.h"

#define WATCH_MAGIC  OBJ_MAGIC('W', 'T', 'C', 'H')
#define PAUSE_MIN_MS 100
#define PAUSE_MAX_MS 5000
#define GATEWAY_WATCH                                                                                        \
    "&timeout=10" /* seconds: less than what a gateway waits for a line, and than DEFAULT_IDLE */
#define LINE_MAX_LEN ((size_t)16 << 20)

/** The state of the connection that the follower knows. */
enum notified { NOTIFIED_NOTHING, NOTIFIED_UP, NOTIFIED_LOST };

struct reg_watch {
    struct obj obj;
    struct reg *reg;
    TAILQ_ENTRY(reg_watch) link;
    char *path, *since;
    const struct reg_watch_ops *ops;
    void *arg;
    struct http_call *call;
    struct run_timer *timer;
    struct buf line; /* received, not handled */
    int64_t pause_ms;
    size_t url_at;
    size_t n_lost; /* connections since the last sync or progress */
    enum notified notified;
    struct err_info lost;                                   /* why, while notified is not NOTIFIED_UP */
    bool (*refused)(void *arg, const struct err_info *why); /* ops', or watch_on_refusal's; NULL: go on */
    void *refused_arg;
    bool in_snapshot, is_stopped, is_stale;
    bool is_at_end;         /* its last line was a progress: a bounded connection ends so */
    bool is_gone;           /* the registry wants this connection to begin anew */
    struct err_info broken; /* code != 0: this connection is not to be trusted */
    int depth;              /* callbacks on the stack */
};

static void watch_connect(struct reg_watch *w);

/* ---- what a line means ---- */

static void set_since(struct reg_watch *w, const char *revision)
{
    free(w->since);
    w->since = mem_str(revision);
}

/** Everything up to this revision is here: what was lost before does not count any more. */
static void reach(struct reg_watch *w, const char *revision)
{
    set_since(w, revision);
    w->pause_ms = PAUSE_MIN_MS;
    w->n_lost = 0;
}

static void line_hello(struct reg_watch *w, const struct wire_line *l)
{
    (void)l;
    if (w->notified != NOTIFIED_UP && w->ops->state)
        w->ops->state(w->arg, NULL);
    w->notified = NOTIFIED_UP;
    w->in_snapshot = w->since == NULL;
    if (w->in_snapshot && !w->is_stopped && w->ops->reset)
        w->ops->reset(w->arg);
}

static void line_put(struct reg_watch *w, const struct wire_line *l)
{
    if (w->ops->put)
        w->ops->put(w->arg, l->path, l->record, l->revision);
}

static void line_delete(struct reg_watch *w, const struct wire_line *l)
{
    if (w->ops->deleted)
        w->ops->deleted(w->arg, l->path, l->revision);
}

/** What a sync or progress line says of the registry's store. */
static void hear_stale(struct reg_watch *w, bool is_stale)
{
    bool news = w->is_stale != is_stale;

    w->is_stale = is_stale;
    if (news && w->ops->stale)
        w->ops->stale(w->arg, is_stale);
}

static void line_sync(struct reg_watch *w, const struct wire_line *l)
{
    reach(w, l->revision);
    w->in_snapshot = false;
    hear_stale(w, l->stale);
    if (!w->is_stopped && w->ops->synced)
        w->ops->synced(w->arg, l->revision);
}

/** Inside a snapshot it is a sign of life only: what came before is not complete. */
static void line_progress(struct reg_watch *w, const struct wire_line *l)
{
    if (w->in_snapshot)
        return;
    reach(w, l->revision);
    hear_stale(w, l->stale);
    if (!w->is_stopped && w->ops->progress)
        w->ops->progress(w->arg, l->revision);
}

static void line_gone(struct reg_watch *w, const struct wire_line *l)
{
    (void)l;
    set_since(w, NULL);
    w->is_gone = true;
}

static const struct {
    const char *type;
    void (*handle)(struct reg_watch *w, const struct wire_line *l);
    bool has_path, has_revision;
} line_types[] = {
    {"hello", line_hello, false, false},      {"put", line_put, true, true},
    {"delete", line_delete, true, true},      {"sync", line_sync, false, true},
    {"progress", line_progress, false, true}, {"gone", line_gone, false, false},
};

/** Line types that we do not know are for newer clients and passed over. */
static void dispatch(struct reg_watch *w, const struct wire_line *l)
{
    for (size_t i = 0; i < ARRAY_LEN(line_types); i++) {
        if (strcmp(line_types[i].type, l->type) != 0)
            continue;
        if ((line_types[i].has_path && !l->path) || (line_types[i].has_revision && !l->revision))
            err_set(&w->broken, ERR_JSON, w->path, "a %s line of the feed lacks a member", l->type);
        else
            line_types[i].handle(w, l);
        w->is_at_end = line_types[i].handle == line_progress;
        return;
    }
}

static void handle_line(struct reg_watch *w, const char *bytes, size_t len)
{
    struct wire_line l = {0};

    if (wire_read_line(bytes, len, &l, &w->broken) == 0)
        dispatch(w, &l);
    wire_line_fini(&l);
}

/* ---- life ---- */

static void watch_free(struct reg_watch *w)
{
    TAILQ_REMOVE(&w->reg->watches, w, link);
    run_timer_free(w->timer);
    buf_fini(&w->line);
    free(w->path);
    free(w->since);
    obj_fini(&w->obj);
    free(w);
}

static void watch_enter(struct reg_watch *w)
{
    w->depth++;
}

/** The outermost leave ends a connection that broke and frees a watch that was stopped meanwhile. */
static void watch_leave(struct reg_watch *w)
{
    if (w->depth == 1 && w->call && (w->is_stopped || w->broken.code))
        http_call_cancel(w->call);
    if (--w->depth == 0 && w->is_stopped)
        watch_free(w);
}

/* ---- the connection ---- */

static void on_data(void *arg, const char *bytes, size_t len)
{
    struct reg_watch *w = obj_cast(arg, struct reg_watch, WATCH_MAGIC);
    size_t at = 0;
    const char *end;
    size_t searched = w->line.len;

    watch_enter(w);
    buf_add(&w->line, bytes, len);
    while (!w->is_stopped && !w->broken.code &&
           (end = memchr(w->line.bytes + searched, '\n', w->line.len - searched))) {
        handle_line(w, w->line.bytes + at, (size_t)(end - w->line.bytes) - at);
        at = (size_t)(end - w->line.bytes) + 1;
        searched = at;
    }
    buf_drop(&w->line, at);
    if (w->line.len > LINE_MAX_LEN)
        err_set(&w->broken, ERR_TOOBIG, w->path, "a line of the feed is longer than %zu bytes", LINE_MAX_LEN);
    if (at > 0 && !w->is_stopped && w->ops->drained)
        w->ops->drained(w->arg);
    watch_leave(w);
}

static void on_pause_over(void *arg)
{
    watch_connect(obj_cast(arg, struct reg_watch, WATCH_MAGIC));
}

static void pause_then_connect(struct reg_watch *w)
{
    int64_t pause_ms = client_jitter(w->reg, w->pause_ms / 2, w->pause_ms);

    w->pause_ms = backoff_next(w->pause_ms, PAUSE_MIN_MS, PAUSE_MAX_MS);
    run_timer_start(w->timer, (uint64_t)pause_ms, 0);
}

static void notify_lost(struct reg_watch *w, const struct err_info *why)
{
    bool news = w->notified != NOTIFIED_LOST;

    w->notified = NOTIFIED_LOST;
    w->lost = *why;
    if (w->ops->failed)
        w->ops->failed(w->arg, w->reg->urls[w->url_at], why);
    if (!w->is_stopped && news && w->ops->state)
        w->ops->state(w->arg, why);
}

/** Why the stream is over: what broke it, what the client says, what the server answered, or its plain end. */
static int end_reason(struct reg_watch *w, int err, const struct http_answer *answer, struct err_info *why)
{
    const char *body = answer->body.bytes ? answer->body.bytes : "";
    const struct wire_asked asked = {answer->url, PROGRAM, .is_gateway = w->reg->is_gateway};

    if (w->broken.code)
        return err_set(why, w->broken.code, w->broken.where, "%s", w->broken.text);
    if (err)
        return err;
    if (answer->status >= 300)
        return wire_read_problem(answer->status, body, answer->body.len, &asked, why);
    return err_set(why, ERR_UNAVAILABLE, w->path, "the registry ended the change feed");
}

/** Would asking again give the same? Not after what may pass: too slow, a revision that is gone, too much at once. */
static bool refuses(const struct http_answer *answer)
{
    static const int passing[] = {408, 410, 425, 429};

    for (size_t i = 0; i < ARRAY_LEN(passing); i++) {
        if (answer->status == passing[i])
            return false;
    }
    return answer->status >= 400 && answer->status < 500;
}

/** Refused. @return true: the watch is at its end, and asks no more. */
static bool ends_refused(struct reg_watch *w, const struct err_info *why)
{
    bool is_end = w->refused && w->refused(w->refused_arg, why);

    if (!is_end)
        return w->is_stopped;
    w->notified = NOTIFIED_LOST;
    w->lost = *why;
    return true;
}

/** This server is lost: the next one at once, unless it was the last to be asked. */
static void go_on_elsewhere(struct reg_watch *w, const struct err_info *why)
{
    client_next_server(w->reg, w->url_at);
    w->n_lost++;
    notify_lost(w, why);
    if (w->is_stopped)
        return;
    if (w->n_lost % w->reg->n_urls == 0)
        pause_then_connect(w);
    else
        run_timer_start(w->timer, 0, 0);
}

static void on_end(void *arg, int err, const struct http_answer *answer, const struct err_info *why)
{
    struct reg_watch *w = obj_cast(arg, struct reg_watch, WATCH_MAGIC);
    struct err_info reason = err ? *why : (struct err_info){0};

    w->call = NULL;
    if (w->is_stopped)
        return;
    watch_enter(w);
    bool is_bound = !err && !w->broken.code && answer->status == 200 && w->reg->is_gateway && w->is_at_end;
    bool is_refusal = !err && !w->broken.code && refuses(answer);
    err = end_reason(w, err, answer, &reason);
    if (is_bound) {
        pause_then_connect(w);
    } else if (err == ERR_GONE && w->since) {
        set_since(w, NULL);
        pause_then_connect(w);
    } else if (w->is_gone) {
        pause_then_connect(w);
    } else if (!is_refusal || !ends_refused(w, &reason)) {
        go_on_elsewhere(w, &reason);
    }
    watch_leave(w);
}

static void watch_connect(struct reg_watch *w)
{
    buf_auto struct buf query = BUF_EMPTY;
    mem_auto char *url = NULL;
    struct http_call_def def = {
        .idle_timeout_ms = w->reg->idle_ms, .on_data = on_data, .done = on_end, .arg = w};

    buf_add_str(&query, "watch=true");
    if (w->since) {
        buf_add_str(&query, "&since=");
        client_percent(w->since, "", &query);
    }
    if (w->reg->is_gateway)
        buf_add_str(&query, GATEWAY_WATCH);
    url = client_url(w->reg, w->path, buf_cstr(&query));
    def.url = url;
    buf_clear(&w->line);
    w->broken = (struct err_info){0};
    w->in_snapshot = w->since == NULL;
    w->is_gone = w->is_at_end = false;
    w->url_at = w->reg->url_at;
    w->call = http_call(w->reg->http, &def);
}

struct reg_watch *reg_watch_start(struct reg *r, const char *path, const char *since,
                                  const struct reg_watch_ops *ops, void *arg)
{
    struct reg_watch *w;
    char *full = NULL;

    if (reg_path_normal(path, &full, NULL))
        return NULL;
    w = mem_new(struct reg_watch);
    obj_init(&w->obj, WATCH_MAGIC);
    w->reg = r;
    w->path = full;
    w->since = mem_str(since);
    w->ops = ops;
    w->arg = arg;
    w->refused = ops->refused;
    w->refused_arg = arg;
    err_set(&w->lost, ERR_UNAVAILABLE, full, "no registry has answered yet");
    w->pause_ms = PAUSE_MIN_MS;
    w->timer = run_timer_new(r->loop, on_pause_over, w);
    TAILQ_INSERT_TAIL(&r->watches, w, link);
    watch_connect(w);
    return w;
}

void reg_watch_stop(struct reg_watch *w)
{
    if (!w)
        return;
    watch_enter(obj_cast(w, struct reg_watch, WATCH_MAGIC));
    w->is_stopped = true;
    watch_leave(w);
}

void watch_on_refusal(struct reg_watch *w, bool (*refused)(void *arg, const struct err_info *why), void *arg)
{
    w->refused = refused;
    w->refused_arg = arg;
}

const struct err_info *watch_lost(const struct reg_watch *w)
{
    return w->notified == NOTIFIED_UP ? NULL : &w->lost;
}

void watch_drop(struct reg_watch *w)
{
    BUG_IF(w->depth > 0); /* reg_close is not for callbacks */
    reg_watch_stop(w);
}

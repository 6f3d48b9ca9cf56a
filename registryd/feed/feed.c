#include "feed/feed.h"
#include "registryd/events.h"
#include "feed/lines.h"
#include "feed/ring.h"
#include "store/mirror/walk.h"
#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#define FEED_MAGIC     OBJ_MAGIC('F', 'E', 'E', 'D')
#define FOLLOWER_MAGIC OBJ_MAGIC('F', 'L', 'W', 'R')
#define LATE_MAGIC     OBJ_MAGIC('L', 'A', 'T', 'E')

/** Bytes a follower's lines may pile up to within one turn; keeps a turn of the loop under a millisecond. */
#define SLICE_BYTES 16384
/** Room that a follower keeps between two turns. */
#define ROOM_BYTES (4 * SLICE_BYTES)

enum feed_phase { FEED_HELLO, FEED_SNAPSHOT, FEED_CATCH_UP, FEED_LIVE, FEED_ENDING };

struct follower {
    struct obj obj;
    struct feed *feed;
    TAILQ_ENTRY(follower) link;
    struct http_req *req;
    struct run_timer *timer; /* end of a bounded watch; NULL: none */
    enum feed_phase phase;
    char *top;     /* path that is followed */
    char *at;      /* SNAPSHOT: last path that was sent */
    uint64_t seq;  /* next line of the ring */
    bool snapshot; /* owes a `sync` */
    bool time_is_over;
    bool heartbeat_due;
    bool knows_stale;     /* its last mark said that the store is away */
    bool is_bounded;      /* by a number of changes */
    bool is_padded;       /* see struct feed_request */
    int64_t changes_left; /* until it ends */
    int64_t marked;       /* revision of the last progress or sync line */
    int64_t last_line_ms;
    struct buf out;
    size_t n_taken; /* bytes of out already handed to the server */
};

struct feed {
    struct obj obj;
    struct run_loop *loop;
    struct mirror *mirror;
    struct metrics *metrics;
    const struct outage *store_outage;
    struct ring *ring;
    struct run_timer *heartbeat;
    int64_t progress_ms, behind_ms;
    TAILQ_HEAD(, follower) followers;
};

/** A follower that is ahead of this registry, until that has caught up. */
struct late {
    struct obj obj;
    struct feed *feed;
    struct http_req *req;
    struct feed_request what;
    char *path, *since; /* what `what` points to */
};

static void wake_all(struct feed *f)
{
    struct follower *w;
    TAILQ_FOREACH (w, &f->followers, link)
        http_stream_wake(w->req);
}

/* ---- following the mirror ---- */

static void on_synced(void *arg)
{
    struct feed *f = obj_cast(arg, struct feed, FEED_MAGIC);
    ring_reset(f->ring, mirror_applied(f->mirror));
    wake_all(f);
}

static void on_change(void *arg, enum mirror_change kind, const char *path, const struct mirror_node *node,
                      const char *old_data, size_t old_len, int64_t zxid)
{
    struct feed *f = obj_cast(arg, struct feed, FEED_MAGIC);
    (void)old_data;
    (void)old_len;
    struct buf line = BUF_EMPTY;
    if (kind == MIRROR_PUT)
        lines_put(&line, path, node, mirror_store_id(f->mirror));
    else
        lines_delete(&line, path, zxid, mirror_store_id(f->mirror));
    size_t len = line.len;
    ring_add(f->ring, zxid, buf_take(&line), len, path);
    metric_add(f->metrics, M_CHANGES, 1);
    wake_all(f); /* for what this turn of the loop brings; the mark behind it may take a round trip more */
}

static void on_applied(void *arg, int64_t zxid)
{
    struct feed *f = obj_cast(arg, struct feed, FEED_MAGIC);
    ring_mark(f->ring, zxid);
    wake_all(f);
}

/* The store went away or came back: followers learn it at once. */
static void on_stale(void *arg, const struct err_info *why)
{
    wake_all(obj_cast(arg, struct feed, FEED_MAGIC));
    (void)why;
}

static const struct mirror_listener listener = {
    .synced = on_synced, .change = on_change, .applied = on_applied, .stale = on_stale};

static void on_heartbeat(void *arg)
{
    struct feed *f = obj_cast(arg, struct feed, FEED_MAGIC);
    int64_t now = run_now_ms();
    struct follower *w;
    TAILQ_FOREACH (w, &f->followers, link) {
        if (now - w->last_line_ms >= f->progress_ms / 2) {
            w->heartbeat_due = true;
            http_stream_wake(w->req);
        }
    }
}

struct feed *feed_new(const struct feed_def *def)
{
    struct feed *f = mem_new(struct feed);
    obj_init(&f->obj, FEED_MAGIC);
    f->loop = def->loop;
    f->mirror = def->mirror;
    f->metrics = def->metrics;
    f->store_outage = def->store_outage;
    f->progress_ms = def->progress_ms;
    f->behind_ms = def->behind_ms;
    f->ring = ring_new(def->ring_bytes);
    TAILQ_INIT(&f->followers);
    mirror_listen(f->mirror, &listener, f);
    f->heartbeat = run_timer_new(f->loop, on_heartbeat, f);
    uint64_t period = (uint64_t)f->progress_ms / 2;
    run_timer_start(f->heartbeat, period, period);
    return f;
}

void feed_free(struct feed *f)
{
    if (!f)
        return;
    BUG_IF(!TAILQ_EMPTY(&f->followers));
    run_timer_free(f->heartbeat);
    ring_free(f->ring);
    obj_fini(&f->obj);
    free(f);
}

size_t feed_ring_bytes(const struct feed *f)
{
    return ring_bytes(f->ring);
}

size_t feed_follower_bytes(const struct feed *f)
{
    const struct follower *w;
    size_t n = 0;
    TAILQ_FOREACH (w, &f->followers, link)
        n += sizeof *w + w->out.cap;
    return n;
}

/* ---- what a follower is sent ---- */

/** The line that begins at `from` is complete: blanks before its newline make a padded one long enough. */
static void pad_line(struct follower *w, size_t from)
{
    size_t len = w->out.len - from;
    if (!w->is_padded || len >= FEED_PADDED_LINE)
        return;
    w->out.len--;
    buf_addf(&w->out, "%*s\n", (int)(FEED_PADDED_LINE - len), "");
}

static bool is_stale(const struct follower *w)
{
    return mirror_stale(w->feed->mirror) != NULL;
}

static void add_mark(struct follower *w, const char *type, int64_t zxid)
{
    enum lines_stale stale = is_stale(w) ? LINES_STALE : w->knows_stale ? LINES_CURRENT : LINES_UNSAID;
    size_t from = w->out.len;
    lines_mark(&w->out, type, zxid, mirror_store_id(w->feed->mirror), stale);
    pad_line(w, from);
    w->knows_stale = is_stale(w);
}

static void emit_mark(struct follower *w, const char *type)
{
    w->marked = mirror_applied(w->feed->mirror);
    add_mark(w, type, w->marked);
    w->heartbeat_due = false;
}

static void emit_oldest(struct follower *w, const char *type, bool with_revision)
{
    const struct feed *f = w->feed;
    const char *id = mirror_store_id(f->mirror);
    char text[STORE_REVISION_MAX];
    int64_t oldest = ring_oldest(f->ring), applied = mirror_applied(f->mirror);
    size_t from = w->out.len;
    struct jw j = jw_on(&w->out);
    jw_object(&j);
    jw_kstr(&j, "type", type);
    if (with_revision)
        jw_kstr(&j, "store", id);
    jw_kstr(&j, "oldest", store_revision_text(id, oldest < applied ? oldest : applied, text));
    if (with_revision)
        jw_kstr(&j, "revision", store_revision_text(id, applied, text));
    jw_object_end(&j);
    buf_add_char(&w->out, '\n');
    pad_line(w, from);
}

static void step_hello(struct follower *w)
{
    emit_oldest(w, "hello", true);
    w->phase = w->snapshot ? FEED_SNAPSHOT : FEED_LIVE;
    if (w->snapshot)
        w->seq = ring_next(w->feed->ring);
}

static void step_snapshot(struct follower *w)
{
    struct feed *f = w->feed;
    const char *id = mirror_store_id(f->mirror);
    while (w->out.len < SLICE_BYTES) {
        const struct mirror_node *node = walk_next(f->mirror, w->top, w->at);
        if (!node) {
            w->phase = FEED_CATCH_UP;
            return;
        }
        struct buf path = BUF_EMPTY;
        mirror_path(node, &path);
        free(w->at);
        w->at = buf_take(&path);
        size_t from = w->out.len;
        lines_put(&w->out, w->at, node, id);
        pad_line(w, from);
    }
}

static void end_with(struct follower *w, int64_t zxid)
{
    add_mark(w, "progress", zxid);
    w->phase = FEED_ENDING;
}

static void fell_behind(struct follower *w)
{
    log_emit(&ev_feed_gone, LOG_INT("behind_lines", ring_first(w->feed->ring) - w->seq));
    metric_add(w->feed->metrics, M_GONE, 1);
    emit_oldest(w, "gone", false);
    w->phase = FEED_ENDING;
}

/* A watch bounded by `max` ends at the first mark after so many changes: only there can it be resumed. */
static void pass_line(struct follower *w, const struct ring_line *line)
{
    w->seq++;
    if (!line->path) {
        if (w->is_bounded && w->changes_left <= 0 && w->phase == FEED_LIVE)
            end_with(w, line->zxid);
    } else if (walk_covers(w->top, line->path)) {
        size_t from = w->out.len;
        buf_add(&w->out, line->text, line->len);
        pad_line(w, from);
        w->changes_left--;
    }
}

/* Copy lines of the ring until a slice is full. @return whether the follower has everything now. */
static bool step_lines(struct follower *w)
{
    struct ring *ring = w->feed->ring;
    while (w->seq < ring_next(ring) && w->phase != FEED_ENDING) {
        const struct ring_line *line = ring_line(ring, w->seq);
        if (!line)
            fell_behind(w);
        else if (w->out.len >= SLICE_BYTES)
            return false;
        else
            pass_line(w, line);
    }
    return w->phase != FEED_ENDING;
}

static void step_changes(struct follower *w)
{
    bool has_all = step_lines(w);
    if (!has_all)
        return;
    if (w->phase == FEED_CATCH_UP) {
        w->phase = FEED_LIVE;
        if (w->snapshot)
            emit_mark(w, "sync");
    }
    if (w->time_is_over)
        end_with(w, mirror_applied(w->feed->mirror));
    else if (mirror_applied(w->feed->mirror) != w->marked || w->heartbeat_due ||
             is_stale(w) != w->knows_stale)
        emit_mark(w, "progress");
}

/* One step of the drawing in feed.h. @return whether it wrote a line or moved on. */
static bool step(struct follower *w)
{
    enum feed_phase before = w->phase;
    size_t len = w->out.len;
    switch (w->phase) {
    case FEED_HELLO: step_hello(w); break;
    case FEED_SNAPSHOT: step_snapshot(w); break;
    case FEED_CATCH_UP:
    case FEED_LIVE: step_changes(w); break;
    case FEED_ENDING: break;
    }
    if (w->out.len > len)
        w->last_line_ms = run_now_ms();
    return w->out.len > len || w->phase != before;
}

static ssize_t on_read(void *arg, char *to, size_t max)
{
    struct follower *w = obj_cast(arg, struct follower, FOLLOWER_MAGIC);
    if (w->n_taken == w->out.len) {
        if (w->out.cap > ROOM_BYTES)
            buf_fini(&w->out); /* a follower does not keep the room of the longest line it was sent */
        buf_clear(&w->out);
        w->n_taken = 0;
        while (w->out.len < SLICE_BYTES && step(w))
            ;
    }
    size_t n = w->out.len - w->n_taken;
    if (!n)
        return w->phase == FEED_ENDING ? -1 : 0;
    if (n > max)
        n = max;
    memcpy(to, w->out.bytes + w->n_taken, n);
    w->n_taken += n;
    return (ssize_t)n;
}

static void on_closed(void *arg)
{
    struct follower *w = obj_cast(arg, struct follower, FOLLOWER_MAGIC);
    TAILQ_REMOVE(&w->feed->followers, w, link);
    metric_add(w->feed->metrics, M_FOLLOWERS, -1);
    run_timer_free(w->timer);
    buf_fini(&w->out);
    free(w->top);
    free(w->at);
    obj_fini(&w->obj);
    free(w);
}

static const struct http_stream_ops stream_ops = {.read = on_read, .closed = on_closed};

static void on_time_over(void *arg)
{
    struct follower *w = obj_cast(arg, struct follower, FOLLOWER_MAGIC);
    w->time_is_over = true;
    http_stream_wake(w->req);
}

/* ---- beginning ---- */

static void begin(struct feed *f, struct http_req *req, const struct feed_request *what, const uint64_t *seq,
                  int64_t since)
{
    struct follower *w = mem_new(struct follower);
    obj_init(&w->obj, FOLLOWER_MAGIC);
    w->feed = f;
    w->req = req;
    w->top = mem_str(what->path);
    w->snapshot = !seq;
    w->seq = seq ? *seq : 0;
    w->marked = since;
    w->is_bounded = what->max > 0;
    w->changes_left = what->max;
    w->is_padded = what->is_padded;
    w->last_line_ms = run_now_ms();
    TAILQ_INSERT_TAIL(&f->followers, w, link);
    metric_add(f->metrics, M_FOLLOWERS, 1);
    metric_add(f->metrics, seq ? M_RESUMES : M_SNAPSHOTS, 1);
    if (what->timeout_ms) {
        w->timer = run_timer_new(f->loop, on_time_over, w);
        run_timer_start(w->timer, (uint64_t)what->timeout_ms, 0);
    }
    http_stream_start(req, 200, "application/x-ndjson", &stream_ops, w);
}

/* Where to resume. @param may_wait  whether a revision without its mark yet may be waited for
 * @return 0 and *seq, *n; ERR_TIMEOUT: only *n, this registry has not come so far; or the error to answer with. */
static int resume_at(const struct feed *f, const char *since, bool may_wait, uint64_t *seq, int64_t *n,
                     struct err_info *why)
{
    char id[STORE_REVISION_MAX];
    const char *own = mirror_store_id(f->mirror);
    if (store_revision_read(since, id, n))
        return err_set(why, ERR_PARSE, "since", "\"%s\" is not a revision (<store>.<number>)", since);
    if (strcmp(id, own) != 0)
        return err_set(why, ERR_GONE, "since", "revision %s is of another store than %s: begin without since",
                       since, own);
    if (*n > (may_wait ? mirror_applied(f->mirror) : mirror_newest(f->mirror)))
        return ERR_TIMEOUT;
    if (!ring_after(f->ring, *n, seq))
        return err_set(why, ERR_GONE, "since",
                       "the changes after %s are not held any more: begin without since", since);
    return 0;
}

/* A revision that did not come. With the store away this registry cannot know whether it is the store's own. */
static int refuse_ahead(const struct feed *f, const char *since, struct err_info *why)
{
    char text[STORE_REVISION_MAX];
    store_revision_text(mirror_store_id(f->mirror), mirror_newest(f->mirror), text);
    if (mirror_stale(f->mirror))
        return err_set(
            why, ERR_UNAVAILABLE, "since",
            "the store is away from this registry, which has come to %s only: ask another, or again", text);
    return err_set(why, ERR_GONE, "since", "revision %s is above this store's own, %s: begin without since",
                   since, text);
}

static void refuse(const struct feed *f, struct http_req *req, int err, const struct err_info *why)
{
    if (err == ERR_GONE)
        metric_add(f->metrics, M_RESUMES_REFUSED, 1);
    http_reply_error(req, err, why);
}

static void serve_late(struct feed *f, struct http_req *req, const struct feed_request *what, int64_t n);

/* @param may_wait  whether a follower that is ahead of this registry is kept waiting */
static void serve(struct feed *f, struct http_req *req, const struct feed_request *what, bool may_wait)
{
    struct err_info why;
    uint64_t seq = 0;
    int64_t n = 0;
    may_wait = may_wait && !mirror_stale(f->mirror);
    int err = what->since ? resume_at(f, what->since, may_wait, &seq, &n, &why) : 0;
    if (err == ERR_TIMEOUT && may_wait) {
        serve_late(f, req, what, n);
        return;
    }
    if (err == ERR_TIMEOUT)
        err = refuse_ahead(f, what->since, &why);
    if (err)
        refuse(f, req, err, &why);
    else
        begin(f, req, what, what->since ? &seq : NULL, n);
}

static void late_free(struct late *l)
{
    mirror_forget(l->feed->mirror, l);
    free(l->path);
    free(l->since);
    obj_fini(&l->obj);
    free(l);
}

/* The client has gone, or the server stops. */
static void on_late_closed(void *arg)
{
    late_free(obj_cast(arg, struct late, LATE_MAGIC));
}

/* The revision is there, or the time is over. */
static void on_caught_up(void *arg, int err)
{
    struct late *l = obj_cast(arg, struct late, LATE_MAGIC);
    (void)err;
    serve(l->feed, l->req, &l->what, false);
    late_free(l);
}

static void serve_late(struct feed *f, struct http_req *req, const struct feed_request *what, int64_t n)
{
    struct late *l = mem_new(struct late);
    obj_init(&l->obj, LATE_MAGIC);
    l->feed = f;
    l->req = req;
    l->what = *what;
    l->what.path = l->path = mem_str(what->path);
    l->what.since = l->since = mem_str(what->since);
    metric_add(f->metrics, M_FOLLOWERS_AHEAD, 1);
    http_reply_later(req, on_late_closed, l);
    mirror_when_applied(f->mirror, n, f->behind_ms, on_caught_up, l);
}

int feed_check_ready(const struct feed *f, struct err_info *why)
{
    buf_auto struct buf reason = BUF_EMPTY;
    if (mirror_ready(f->mirror))
        return 0;
    outage_write(f->store_outage, &reason);
    if (!reason.len)
        return err_set(why, ERR_UNAVAILABLE, "", "the registry is still being loaded; try again in a moment");
    return err_set(why, ERR_UNAVAILABLE, "", "the registry cannot be loaded: %s", buf_cstr(&reason));
}

void feed_serve(struct feed *f, struct http_req *req, const struct feed_request *what)
{
    struct err_info why;
    if (!feed_check_ready(f, &why))
        serve(f, req, what, f->behind_ms > 0);
    else
        http_reply_error(req, ERR_UNAVAILABLE, &why);
}

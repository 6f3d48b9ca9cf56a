/*
 * The ZooKeeper backend on two sessions of our own with fixed roles: one for writes and strong reads, with Hadoop's retry rule,
 * one for following (follow.h).
 *
 *     call ─► WAITING ──session up, no pause──► SENT ──answer──► done
 *                ▲                               │
 *                ├──── pause, try counted ◄─lost─┤ a read, or a write that certainly was not done
 *                │                               ▼ a write that may have been done
 *                └──── not done ◄──── INQUIRY (outcome.h) ──► done, or unknown
 *
 * Requests leave in the order of the calls, the server answers in that order, and those that were lost are sent again in
 * that order: nothing is sent while the outcome of an earlier write is being found out. A write is never made again unless it is
 * certain that it was not done. The number of a change that brings no stat is the zxid in its reply's header: what the server
 * had applied then.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/backoff.h"
#include "base/mem.h"
#include "store/store_backend.h"
#include "store/zk/follow.h"
#include "store/zk/condition.h"
#include "store/zk/login.h"
#include "store/zk/outcome.h"
#include "store/zk/request.h"
#include "store/zk/url.h"

#define CALL_MAGIC OBJ_MAGIC('Z', 'K', 'C', 'A')

enum { LINGER_MS = 2000, PAUSE_MIN_MS = 50, PAUSE_MAX_MS = 5000 };

struct zk_call {
    struct obj obj;
    TAILQ_ENTRY(zk_call) link; /* in `waiting` */
    struct zk_store *store;
    uint64_t seq;
    struct zkr made;
    struct store_call caller;
    int64_t tries, deadline_ms;
    int64_t floor_zxid;         /* since it was sent: what the session had seen then */
    uint64_t n_restarts;        /* likewise: how often the session had started from nothing */
    struct zks_request request; /* while it is sent */
    bool is_open;               /* a write that may have been done */
    struct zkq inquiry;         /* while it is asked what became of that */
    bool is_asking;
    struct zko *own; /* likewise: the follower need not read back what it writes; NULL: it has to */
};

TAILQ_HEAD(zk_call_list, zk_call);

struct zk_store {
    struct store base;
    char *servers, *root, *follow_servers, *digest;
    struct store_kerberos *kerberos;
    struct store_options options;
    struct zks *session; /* NULL when closed */
    struct zkf *follower;
    struct zkcond_set *conditional; /* writes under way on a condition */
    struct zk_call_list waiting;    /* to be sent, in the order of the calls */
    size_t n_sent;                  /* inquiries included */
    size_t n_open;                  /* of those waiting: writes that may have been done */
    uint64_t last_seq;
    struct run_timer *pause, *patience, *linger;
    bool is_paused, is_patience_running, is_session_closing;
    struct err_info why_down;
};

static struct zk_store *zk_of(struct store *s)
{
    return container_of(s, struct zk_store, base);
}

/* ---- one call ---- */

static void close_session(struct zk_store *s);

/* Tell the caller, and free. */
static void complete(struct zk_call *c, int err, struct store_result *r)
{
    struct zk_store *s = c->store;
    r->why.code = err;
    c->caller.done(c->caller.arg, err, r);
    zkr_fini(&c->made);
    obj_fini(&c->obj);
    free(c);
    if (s->base.is_closing && s->n_sent == 0 && TAILQ_EMPTY(&s->waiting))
        close_session(s);
}

static void complete_unknown(struct zk_call *c)
{
    struct store_result r = {0};
    err_set(&r.why, ERR_UNKNOWN_OUTCOME, c->made.paths[0],
            "the connection to ZooKeeper broke before it replied, so it is unknown whether this was written: "
            "read what is there, then repeat with a condition");
    complete(c, ERR_UNKNOWN_OUTCOME, &r);
}

static void complete_cancelled(struct zk_call *c)
{
    struct store_result r = {0};
    if (c->is_open) {
        complete_unknown(c);
        return;
    }
    err_set(&r.why, ERR_CANCELLED, c->made.paths[0], "%s", err_text(ERR_CANCELLED));
    complete(c, ERR_CANCELLED, &r);
}

static void complete_unavailable(struct zk_call *c)
{
    const struct zk_store *s = c->store;
    struct store_result r = {0};
    if (c->is_open) {
        complete_unknown(c);
        return;
    }
    err_set(&r.why, ERR_UNAVAILABLE, c->made.paths[0], "ZooKeeper at %s gave no answer within %lld tries%s%s",
            s->servers, (long long)c->tries, s->why_down.code ? ": " : "", s->why_down.text);
    complete(c, ERR_UNAVAILABLE, &r);
}

static void complete_refused(struct zk_call *c, int32_t number, size_t failed_op)
{
    struct store_result r = {.failed_op = failed_op};
    int err = zkw_error(number);
    err_set(&r.why, err, c->made.paths[failed_op], "%s; ZooKeeper says: %s (%d)", err_text(err),
            zkw_error_text(number), (int)number);
    complete(c, err, &r);
}

static void complete_done(struct zk_call *c, const struct zkr_answer *a, int64_t header_zxid)
{
    const struct store_acl acl = {a->acl, a->n_acl};
    bool has_stat = c->made.opcode == ZKW_CREATE2 || c->made.opcode == ZKW_SET_DATA;
    struct store_result r = {
        .stat = a->stat,
        .data = a->bytes,
        .data_len = a->len,
        .children = (const char *const *)a->names,
        .n_children = a->n_names,
        .stats = a->stats,
        .acl = c->made.opcode == ZKW_GET_ACL ? &acl : NULL,
        .zxid = !c->made.is_change ? 0
                : has_stat         ? a->stat.mzxid
                                   : header_zxid,
    };
    complete(c, 0, &r);
}

/* ---- the queue ---- */

static void on_reply(void *arg, const struct zks_reply *reply);
static void inquire(struct zk_store *s);

static bool can_send(const struct zk_store *s)
{
    return !s->is_session_closing && !s->is_paused && zks_is_up(s->session);
}

static void call_unqueue(struct zk_call *c)
{
    TAILQ_REMOVE(&c->store->waiting, c, link);
    c->store->n_open -= c->is_open;
}

static void call_send(struct zk_call *c)
{
    struct zk_store *s = c->store;
    call_unqueue(c);
    s->n_sent++;
    c->floor_zxid = zks_seen(s->session);
    c->n_restarts = zks_n_restarts(s->session);
    c->request.done = on_reply;
    c->request.arg = c;
    bool is_one = c->made.opcode == ZKW_CREATE2 || c->made.opcode == ZKW_SET_DATA;
    if (s->follower && is_one && !store_is_aside(c->made.paths[0]))
        c->own = zkf_write_begins(s->follower, c->made.paths[0], c->made.opcode == ZKW_CREATE2);
    zks_send_made(s->session, &c->request, c->made.opcode, &c->made.body);
}

static void flush(struct zk_store *s)
{
    struct zk_call *c;
    bool is_sending = can_send(s) && !TAILQ_EMPTY(&s->waiting);
    if (is_sending && s->n_open > 0)
        inquire(s);
    while (is_sending && s->n_open == 0 && (c = TAILQ_FIRST(&s->waiting)))
        call_send(c);
    if (is_sending)
        zks_flush(s->session);
    if (TAILQ_EMPTY(&s->waiting) || s->is_patience_running)
        return;
    s->is_patience_running = true;
    run_timer_start(s->patience, (uint64_t)s->options.connect_timeout_ms, 0);
}

/* Put it where its turn is. */
static void call_wait(struct zk_call *c)
{
    struct zk_store *s = c->store;
    c->deadline_ms = run_now_ms() + s->options.connect_timeout_ms;
    s->n_open += c->is_open;
    struct zk_call *before = TAILQ_LAST(&s->waiting, zk_call_list);
    while (before && before->seq > c->seq)
        before = TAILQ_PREV(before, zk_call_list, link);
    if (before)
        TAILQ_INSERT_AFTER(&s->waiting, before, c, link);
    else
        TAILQ_INSERT_HEAD(&s->waiting, c, link);
}

static struct zk_call *call_new(struct zk_store *s, struct store_call call)
{
    struct zk_call *c = mem_new(struct zk_call);
    BUG_IF(!s->session && !s->is_session_closing); /* It is only followed. */
    obj_init(&c->obj, CALL_MAGIC);
    c->store = s;
    c->caller = call;
    return c;
}

static void submit(struct zk_call *c)
{
    struct zk_store *s = c->store;
    c->seq = ++s->last_seq;
    call_wait(c);
    flush(s);
}

static void start_pause(struct zk_store *s, int64_t n_failed)
{
    if (s->is_paused)
        return;
    int64_t ms =
        backoff_random((uint64_t)n_failed, s->options.retry_interval_ms, s->options.retry_ceiling_ms);
    s->is_paused = true;
    run_timer_start(s->pause, (uint64_t)ms, 0);
}

/* ---- calls without an answer ---- */

/* It was not done or, with is_open, may have been done. */
static void call_lost(struct zk_call *c)
{
    struct zk_store *s = c->store;
    c->tries++;
    if (s->base.is_closing) {
        complete_cancelled(c);
    } else if (c->tries > s->options.retry_times) {
        complete_unavailable(c);
    } else {
        start_pause(s, c->tries - 1);
        call_wait(c);
        flush(s);
    }
}

static void on_outcome(void *arg, enum zkq_outcome outcome, const struct store_stat *stat)
{
    struct zk_call *c = obj_cast(arg, struct zk_call, CALL_MAGIC);
    struct zk_store *s = c->store;
    c->is_asking = false;
    s->n_sent--;
    call_unqueue(c);
    c->is_open = outcome == ZKQ_LOST || outcome == ZKQ_UNKNOWN;
    if (outcome == ZKQ_LOST) {
        call_lost(c);
    } else if (outcome == ZKQ_UNKNOWN) {
        complete_unknown(c);
    } else if (outcome == ZKQ_DONE) {
        struct store_result r = {.stat = *stat, .zxid = stat->mzxid};
        complete(c, 0, &r);
    } else if (s->base.is_closing) {
        complete_cancelled(c);
    } else {
        call_wait(c);
    }
    if (!s->is_session_closing)
        flush(s);
}

/* Ask what became of every write that may have been done. */
static void inquire(struct zk_store *s)
{
    struct zk_call *c;
    TAILQ_FOREACH (c, &s->waiting, link) {
        if (!c->is_open || c->is_asking)
            continue;
        c->is_asking = true;
        s->n_sent++;
        c->inquiry = (struct zkq){.session = s->session,
                                  .root = s->root,
                                  .lost = &c->made,
                                  .floor = c->floor_zxid,
                                  .is_fenced = c->n_restarts == zks_n_restarts(s->session),
                                  .done = on_outcome,
                                  .arg = c};
        zkq_start(&c->inquiry);
    }
}

static void on_pause_over(void *arg)
{
    struct zk_store *s = zk_of(obj_cast(arg, struct store, STORE_MAGIC));
    s->is_paused = false;
    flush(s);
}

/* Calls that have waited for a connection long enough have used up a try; those that have no other leave the queue. */
static void use_up_tries(struct zk_store *s, struct zk_call_list *over, int64_t now)
{
    struct zk_call *c, *after;
    for (c = TAILQ_FIRST(&s->waiting); c; c = after) {
        after = TAILQ_NEXT(c, link);
        if (c->deadline_ms > now || c->is_asking)
            continue;
        c->deadline_ms = now + s->options.connect_timeout_ms;
        if (zks_is_up(s->session) || ++c->tries <= s->options.retry_times)
            continue;
        call_unqueue(c);
        TAILQ_INSERT_TAIL(over, c, link);
    }
}

static void on_patience_over(void *arg)
{
    struct zk_store *s = zk_of(obj_cast(arg, struct store, STORE_MAGIC));
    int64_t now = run_now_ms(), next = now + s->options.connect_timeout_ms;
    struct zk_call_list over = TAILQ_HEAD_INITIALIZER(over);
    struct zk_call *c;
    s->is_patience_running = false;
    use_up_tries(s, &over, now);
    TAILQ_FOREACH (c, &s->waiting, link)
        if (!c->is_asking && c->deadline_ms < next)
            next = c->deadline_ms;
    if (!TAILQ_EMPTY(&s->waiting)) {
        s->is_patience_running = true;
        run_timer_start(s->patience, (uint64_t)(next - now), 0);
    }
    while ((c = TAILQ_FIRST(&over))) {
        TAILQ_REMOVE(&over, c, link);
        complete_unavailable(c);
    }
}

/* ---- answers ---- */

/* The follower is notified of the write before the caller. stat NULL: it was not carried out, or that is unknown. */
static void notify_follower(struct zk_call *c, const struct store_stat *stat)
{
    struct zko *own = c->own;
    struct zkw_bytes data = zkr_data(&c->made);
    c->own = NULL;
    if (own && stat)
        zko_done(own, stat, data.at, data.len);
    else if (own)
        zko_failed(own);
}

static bool may_be_done(const struct zk_call *c, int32_t number, const struct zks_reply *reply)
{
    bool is_without_answer = (number == ZKW_CONNECTION_LOSS && !reply->is_not_done) || number == ZKW_TIMEOUT;
    return c->made.is_write && is_without_answer;
}

static void on_reply(void *arg, const struct zks_reply *reply)
{
    struct zk_call *c = obj_cast(arg, struct zk_call, CALL_MAGIC);
    struct zk_store *s = c->store;
    struct zkr_answer answer;
    bool is_bad;
    int32_t number = zkr_read(&c->made, reply->err, reply->body, &answer, &is_bad);
    s->n_sent--;
    notify_follower(c, number == ZKW_OK && !is_bad ? &answer.stat : NULL);
    c->is_open = is_bad ? c->made.is_write : may_be_done(c, number, reply);
    if (is_bad) {
        call_lost(c);
        if (!s->is_session_closing)
            zks_abandon(s->session, "a reply is malformed");
    } else if (zkw_error(number) == ERR_UNAVAILABLE) {
        call_lost(c);
    } else if (number != ZKW_OK) {
        complete_refused(c, number, answer.failed_op);
    } else {
        complete_done(c, &answer, reply->zxid);
    }
    zkr_answer_fini(&answer);
}

/* ---- the session ---- */

static void on_up(void *arg, bool is_resumed)
{
    struct zk_store *s = zk_of(obj_cast(arg, struct store, STORE_MAGIC));
    (void)is_resumed; /* nothing of ours lives in the session */
    s->why_down = (struct err_info){0};
    flush(s);
}

static void on_down(void *arg, const struct err_info *why)
{
    zk_of(obj_cast(arg, struct store, STORE_MAGIC))->why_down = *why;
}

static void on_notice(void *arg, int32_t kind, const char *path)
{
    (void)obj_cast(arg, struct store, STORE_MAGIC); /* no watch is set on this session */
    (void)kind;
    (void)path;
}

static void on_drained(void *arg)
{
    (void)obj_cast(arg, struct store, STORE_MAGIC); /* each reply was dealt with */
}

static const struct zks_ops session_ops = {on_up, on_down, on_notice, on_drained};

static struct zks_config session_config(const struct zk_store *s, enum store_side side, const char *servers)
{
    bool is_low = s->options.retry_ceiling_ms < PAUSE_MAX_MS;
    return (struct zks_config){
        .role = side == STORE_WRITES ? "writing" : "following",
        .side = side,
        .link = s->options.link,
        .link_arg = s->options.link_arg,
        .servers = servers,
        .digest = s->digest,
        .kerberos = s->kerberos,
        .session_timeout_ms = s->options.session_timeout_ms,
        .attempt_timeout_ms = s->options.connect_timeout_ms,
        .pause_min_ms = PAUSE_MIN_MS,
        .pause_max_ms = is_low ? s->options.retry_ceiling_ms : PAUSE_MAX_MS,
    };
}

/* ---- the backend ---- */

static void zk_read(struct store *base, enum store_read_kind kind, const char *path, struct store_call call)
{
    struct zk_call *c = call_new(zk_of(base), call);
    zkr_make_read(&c->made, kind, c->store->root, path);
    submit(c);
}

static void zk_write(struct store *base, const struct store_op *write, struct store_call call)
{
    if (write->mzxid) {
        zkcond_start(zk_of(base)->conditional, write, call);
        return;
    }
    struct zk_call *c = call_new(zk_of(base), call);
    zkr_make_write(&c->made, c->store->root, write);
    submit(c);
}

static void zk_set_acl(struct store *base, const char *path, const struct store_acl *acl,
                       struct store_call call)
{
    struct zk_call *c = call_new(zk_of(base), call);
    zkr_make_set_acl(&c->made, c->store->root, path, acl);
    submit(c);
}

static void zk_multi(struct store *base, const struct store_op *ops, size_t n_ops, struct store_call call)
{
    struct zk_call *c = call_new(zk_of(base), call);
    zkr_make_multi(&c->made, c->store->root, ops, n_ops);
    submit(c);
}

void zkcond_checked_write(struct store *s, const struct store_op *ops, size_t n_ops, int64_t n_creates,
                          struct store_call call)
{
    struct zk_call *c = call_new(zk_of(s), call);
    zkr_make_checked(&c->made, c->store->root, ops, n_ops, n_creates);
    submit(c);
}

static void zk_sync(struct store *base, struct store_call call)
{
    struct zk_call *c = call_new(zk_of(base), call);
    zkr_make_sync(&c->made, c->store->root, "/");
    submit(c);
}

static bool zk_has_aside(const struct store *base)
{
    return container_of(base, const struct zk_store, base)->root[0] != '\0';
}

static void zk_follow(struct store *base, const struct store_follow_ops *ops, void *arg)
{
    struct zk_store *s = zk_of(base);
    struct zks_config config = session_config(s, STORE_FOLLOWS, s->follow_servers);
    config.catches_up = s->options.catches_up;
    int err = zkf_open(base->loop, &config, s->root, ops, arg, &s->follower, NULL);
    BUG_IF(err != 0); /* the server list was read when the store was opened */
    if (s->options.quiet_mark_ms)
        zkf_mark_every(s->follower, s->options.quiet_mark_ms);
}

static void part_closed(struct zk_store *s)
{
    if (s->session || s->follower || !s->is_session_closing)
        return;
    run_timer_free(s->pause);
    run_timer_free(s->patience);
    run_timer_free(s->linger);
    store_base_closed(&s->base);
}

static void on_session_closed(void *arg)
{
    struct zk_store *s = zk_of(obj_cast(arg, struct store, STORE_MAGIC));
    s->session = NULL;
    part_closed(s);
}

static void on_follower_closed(void *arg)
{
    struct zk_store *s = zk_of(obj_cast(arg, struct store, STORE_MAGIC));
    s->follower = NULL;
    part_closed(s);
}

/* What is under way is answered as lost, hence cancelled, before zks_close returns. */
static void close_session(struct zk_store *s)
{
    if (s->is_session_closing)
        return;
    s->is_session_closing = true;
    run_timer_stop(s->linger);
    if (s->session)
        zks_close(s->session, on_session_closed, &s->base);
    else
        part_closed(s);
}

static void on_linger_over(void *arg)
{
    close_session(zk_of(obj_cast(arg, struct store, STORE_MAGIC)));
}

/* Cancel what was not sent; wait LINGER_MS for the replies to what was. */
static void close_now(void *arg)
{
    struct zk_store *s = zk_of(obj_cast(arg, struct store, STORE_MAGIC));
    struct zk_call *c, *after;
    if (s->n_sent > 0)
        run_timer_start(s->linger, LINGER_MS, 0);
    for (c = TAILQ_FIRST(&s->waiting); c; c = after) {
        after = TAILQ_NEXT(c, link);
        if (c->is_asking)
            continue;
        call_unqueue(c);
        complete_cancelled(c);
    }
    if (s->n_sent == 0)
        close_session(s);
}

static void zk_close(struct store *base)
{
    struct zk_store *s = zk_of(base);
    if (s->follower)
        zkf_close(s->follower, on_follower_closed, base);
    run_post(base->loop, close_now, base);
}

static void zk_free(struct store *base)
{
    struct zk_store *s = container_of(base, struct zk_store, base);
    zkcond_set_free(s->conditional);
    free(s->servers);
    free(s->root);
    free(s->follow_servers);
    free(s->digest);
    zkl_kerberos_free(s->kerberos);
    free(s);
}

static const struct store_backend_ops backend = {
    .kind = "zookeeper",
    .read = zk_read,
    .write = zk_write,
    .set_acl = zk_set_acl,
    .multi = zk_multi,
    .sync = zk_sync,
    .has_aside = zk_has_aside,
    .follow = zk_follow,
    .close = zk_close,
    .free = zk_free,
};

static int64_t or_default(int64_t value, int64_t fallback)
{
    return value > 0 ? value : fallback;
}

static struct store_options with_defaults(const struct store_options *given)
{
    return (struct store_options){
        .session_timeout_ms = or_default(given->session_timeout_ms, 60000),
        .connect_timeout_ms = or_default(given->connect_timeout_ms, 15000),
        .retry_times = given->retry_times < 0 ? 0 : or_default(given->retry_times, 5),
        .retry_interval_ms = or_default(given->retry_interval_ms, 1000),
        .retry_ceiling_ms = or_default(given->retry_ceiling_ms, 60000),
        .quiet_mark_ms = given->quiet_mark_ms,
        .catches_up = given->catches_up,
        .link = given->link,
        .link_arg = given->link_arg,
    };
}

static int check_servers(const char *text, struct err_info *why)
{
    struct zk_servers servers;
    int err = zk_servers_read(text, &servers, why);
    if (err == 0)
        zk_servers_fini(&servers);
    return err;
}

int store_zk_check(const char *url, const struct store_options *options, struct err_info *why)
{
    mem_auto char *servers = NULL;
    mem_auto char *root = NULL;
    int err = zk_url_read(url, &servers, &root, why);
    if (err == 0)
        err = check_servers(servers, why);
    if (err == 0 && options->follow_servers)
        err = check_servers(options->follow_servers, why);
    return err;
}

int store_zk_open(struct run_loop *loop, const char *url, const struct store_options *options,
                  struct store **out, struct err_info *why)
{
    mem_auto char *servers = NULL;
    mem_auto char *root = NULL;
    int err = store_zk_check(url, options, why);
    if (err != 0)
        return err;
    BUG_IF(zk_url_read(url, &servers, &root, NULL) != 0);
    struct zk_store *s = mem_new(struct zk_store);
    store_base_init(&s->base, &backend, loop, url);
    s->options = with_defaults(options);
    s->follow_servers = mem_str(options->follow_servers ? options->follow_servers : servers);
    s->servers = mem_str(servers);
    s->digest = mem_str(options->digest);
    s->kerberos = zkl_kerberos_copy(options->kerberos);
    s->root = mem_str(root);
    TAILQ_INIT(&s->waiting);
    s->conditional = zkcond_set_new(&s->base);
    s->pause = run_timer_new(loop, on_pause_over, &s->base);
    s->patience = run_timer_new(loop, on_patience_over, &s->base);
    s->linger = run_timer_new(loop, on_linger_over, &s->base);
    const struct zks_config config = session_config(s, STORE_WRITES, s->servers);
    if (!options->only_follows)
        err = zks_open(loop, &config, &session_ops, &s->base, &s->session, why);
    BUG_IF(err != 0); /* the server list was read above */
    *out = &s->base;
    return 0;
}

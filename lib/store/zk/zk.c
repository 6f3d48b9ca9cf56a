/*
 * The ZooKeeper backend on two sessions of our own with fixed roles: one for writes and strong reads, with Hadoop's retry rule,
 * one for following (zk_follow.h).
 *
 *     call ─► WAITING ──session up, no pause──► SENT ──answer──► done
 *                ▲                               │
 *                ├──── pause, try counted ◄─lost─┤ a read, or a write that certainly was not done
 *                │                               ▼ a write that may have been done
 *                └──── not done ◄──── INQUIRY (zk_outcome.h) ──► done, or unknown
 *
 * Requests leave in the order of the calls, the server answers in that order, and those that were lost are sent again in
 * that order: nothing is sent while the outcome of an earlier write is being found out. A write is never made again unless it is
 * certain that it was not done. The number of a change that brings no stat is the zxid in its reply's header: what the server
 * had applied then.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/mem.h"
#include "store/store_backend.h"
#include "store/zk/follow.h"
#include "store/zk/if.h"
#include "store/zk/login.h"
#include "store/zk/outcome.h"
#include "store/zk/request.h"
#include "store/zk/url.h"

#define OP_MAGIC OBJ_MAGIC('Z', 'K', 'O', 'P')

enum { LINGER_MS = 2000, PAUSE_MIN_MS = 50, PAUSE_MAX_MS = 5000, DOUBLINGS_MAX = 16 };

struct zk_op {
    struct obj obj;
    TAILQ_ENTRY(zk_op) link; /* in `waiting` */
    struct zk_store *store;
    uint64_t seq;
    struct zkr made;
    struct store_call call;
    int64_t tries, deadline_ms;
    int64_t floor_zxid;         /* since it was sent: what the session had seen then */
    uint64_t n_restarts;        /* likewise: how often the session had started from nothing */
    struct zks_request request; /* while it is sent */
    bool is_open;               /* a write that may have been done */
    struct zkq inquiry;         /* while it is asked what became of that */
    bool is_asking;
    struct zko *own; /* likewise: the follower need not read back what it writes; NULL: it has to */
};

TAILQ_HEAD(zk_op_list, zk_op);

struct zk_store {
    struct store base;
    char *servers, *root, *follow_servers, *digest;
    struct store_kerberos *kerberos;
    struct store_options options;
    struct zks *session; /* NULL when closed */
    struct zkf *follower;
    struct zki_set *conditional; /* writes under way on a condition */
    struct zk_op_list waiting;   /* to be sent, in the order of the calls */
    size_t n_sent;               /* inquiries included */
    size_t n_open;               /* of those waiting: writes that may have been done */
    uint64_t last_seq;
    struct run_timer *pause, *patience, *linger;
    bool is_paused, is_patience_running, is_session_closing;
    struct err_info why_down;
};

static struct zk_store *zk_of(struct store *s)
{
    return container_of(obj_cast(s, struct store, STORE_MAGIC), struct zk_store, base);
}

/* ---- one call ---- */

static void close_session(struct zk_store *s);

/* Tell the caller, and free. */
static void complete(struct zk_op *op, int err, struct store_result *r)
{
    struct zk_store *s = op->store;
    r->why.code = err;
    op->call.done(op->call.arg, err, r);
    zkr_fini(&op->made);
    obj_fini(&op->obj);
    free(op);
    if (s->base.is_closing && s->n_sent == 0 && TAILQ_EMPTY(&s->waiting))
        close_session(s);
}

static void complete_unknown(struct zk_op *op)
{
    struct store_result r = {0};
    err_set(&r.why, ERR_UNKNOWN_OUTCOME, op->made.paths[0],
            "the connection to ZooKeeper broke before it answered, and whether it wrote this cannot be told: "
            "read what is there, then repeat with a condition");
    complete(op, ERR_UNKNOWN_OUTCOME, &r);
}

static void complete_cancelled(struct zk_op *op)
{
    struct store_result r = {0};
    if (op->is_open) {
        complete_unknown(op);
        return;
    }
    err_set(&r.why, ERR_CANCELLED, op->made.paths[0], "%s", err_text(ERR_CANCELLED));
    complete(op, ERR_CANCELLED, &r);
}

static void complete_unavailable(struct zk_op *op)
{
    const struct zk_store *s = op->store;
    struct store_result r = {0};
    if (op->is_open) {
        complete_unknown(op);
        return;
    }
    err_set(&r.why, ERR_UNAVAILABLE, op->made.paths[0],
            "ZooKeeper at %s gave no answer within %lld tries%s%s", s->servers, (long long)op->tries,
            s->why_down.code ? ": " : "", s->why_down.text);
    complete(op, ERR_UNAVAILABLE, &r);
}

static void complete_refused(struct zk_op *op, int32_t number, size_t failed_op)
{
    struct store_result r = {.failed_op = failed_op};
    int err = zkw_error(number);
    err_set(&r.why, err, op->made.paths[failed_op], "%s; ZooKeeper says: %s (%d)", err_text(err),
            zkw_error_text(number), (int)number);
    complete(op, err, &r);
}

static void complete_done(struct zk_op *op, const struct zkr_answer *a, int64_t header_zxid)
{
    const struct store_acl acl = {a->acl, a->n_acl};
    bool has_stat = op->made.op == ZKW_CREATE2 || op->made.op == ZKW_SET_DATA;
    struct store_result r = {
        .stat = a->stat,
        .data = a->bytes,
        .data_len = a->len,
        .children = (const char *const *)a->names,
        .n_children = a->n_names,
        .stats = a->stats,
        .acl = op->made.op == ZKW_GET_ACL ? &acl : NULL,
        .zxid = !op->made.is_change ? 0
                : has_stat          ? a->stat.mzxid
                                    : header_zxid,
    };
    complete(op, 0, &r);
}

/* ---- the queue ---- */

static void on_reply(void *arg, const struct zks_reply *reply);
static void inquire(struct zk_store *s);

static bool can_send(const struct zk_store *s)
{
    return !s->is_session_closing && !s->is_paused && zks_is_up(s->session);
}

static void op_unqueue(struct zk_op *op)
{
    TAILQ_REMOVE(&op->store->waiting, op, link);
    op->store->n_open -= op->is_open;
}

static void op_send(struct zk_op *op)
{
    struct zk_store *s = op->store;
    op_unqueue(op);
    s->n_sent++;
    op->floor_zxid = zks_seen(s->session);
    op->n_restarts = zks_n_restarts(s->session);
    op->request.done = on_reply;
    op->request.arg = op;
    if (s->follower && (op->made.op == ZKW_CREATE2 || op->made.op == ZKW_SET_DATA))
        op->own = zkf_write_begins(s->follower, op->made.paths[0], op->made.op == ZKW_CREATE2);
    zks_send_made(s->session, &op->request, op->made.op, &op->made.body);
}

static void flush(struct zk_store *s)
{
    struct zk_op *op;
    bool is_sending = can_send(s) && !TAILQ_EMPTY(&s->waiting);
    if (is_sending && s->n_open > 0)
        inquire(s);
    while (is_sending && s->n_open == 0 && (op = TAILQ_FIRST(&s->waiting)))
        op_send(op);
    if (is_sending)
        zks_flush(s->session);
    if (TAILQ_EMPTY(&s->waiting) || s->is_patience_running)
        return;
    s->is_patience_running = true;
    run_timer_start(s->patience, (uint64_t)s->options.connect_timeout_ms, 0);
}

/* Put it where its turn is. */
static void op_wait(struct zk_op *op)
{
    struct zk_store *s = op->store;
    op->deadline_ms = run_now_ms() + s->options.connect_timeout_ms;
    s->n_open += op->is_open;
    struct zk_op *before = TAILQ_LAST(&s->waiting, zk_op_list);
    while (before && before->seq > op->seq)
        before = TAILQ_PREV(before, zk_op_list, link);
    if (before)
        TAILQ_INSERT_AFTER(&s->waiting, before, op, link);
    else
        TAILQ_INSERT_HEAD(&s->waiting, op, link);
}

static struct zk_op *op_new(struct zk_store *s, struct store_call call)
{
    struct zk_op *op = mem_new(struct zk_op);
    obj_init(&op->obj, OP_MAGIC);
    op->store = s;
    op->call = call;
    return op;
}

static void submit(struct zk_op *op)
{
    struct zk_store *s = op->store;
    op->seq = ++s->last_seq;
    op_wait(op);
    flush(s);
}

/* Hadoop's bounded exponential back-off: min(ceiling, base * max(1, rand[0, 2^(k+1)))). */
static void start_pause(struct zk_store *s, int64_t k)
{
    if (s->is_paused)
        return;
    int64_t factor = arc4random_uniform((uint32_t)1 << ((k < DOUBLINGS_MAX ? k : DOUBLINGS_MAX) + 1));
    int64_t ms = s->options.retry_interval_ms * (factor > 1 ? factor : 1);
    s->is_paused = true;
    run_timer_start(s->pause, (uint64_t)(ms < s->options.retry_ceiling_ms ? ms : s->options.retry_ceiling_ms),
                    0);
}

/* ---- calls without an answer ---- */

/* It was not done, or may have been: is_open says which. */
static void op_lost(struct zk_op *op)
{
    struct zk_store *s = op->store;
    op->tries++;
    if (s->base.is_closing) {
        complete_cancelled(op);
    } else if (op->tries > s->options.retry_times) {
        complete_unavailable(op);
    } else {
        start_pause(s, op->tries - 1);
        op_wait(op);
        flush(s);
    }
}

static void on_outcome(void *arg, enum zkq_outcome outcome, const struct store_stat *stat)
{
    struct zk_op *op = obj_cast(arg, struct zk_op, OP_MAGIC);
    struct zk_store *s = op->store;
    op->is_asking = false;
    s->n_sent--;
    op_unqueue(op);
    op->is_open = outcome == ZKQ_LOST || outcome == ZKQ_UNKNOWN;
    if (outcome == ZKQ_LOST) {
        op_lost(op);
    } else if (outcome == ZKQ_UNKNOWN) {
        complete_unknown(op);
    } else if (outcome == ZKQ_DONE) {
        struct store_result r = {.stat = *stat, .zxid = stat->mzxid};
        complete(op, 0, &r);
    } else if (s->base.is_closing) {
        complete_cancelled(op);
    } else {
        op_wait(op);
    }
    if (!s->is_session_closing)
        flush(s);
}

/* Ask what became of every write that may have been done. */
static void inquire(struct zk_store *s)
{
    struct zk_op *op;
    TAILQ_FOREACH (op, &s->waiting, link) {
        if (!op->is_open || op->is_asking)
            continue;
        op->is_asking = true;
        s->n_sent++;
        op->inquiry = (struct zkq){.session = s->session,
                                   .root = s->root,
                                   .lost = &op->made,
                                   .floor = op->floor_zxid,
                                   .is_fenced = op->n_restarts == zks_n_restarts(s->session),
                                   .done = on_outcome,
                                   .arg = op};
        zkq_start(&op->inquiry);
    }
}

static void on_pause_over(void *arg)
{
    struct zk_store *s = zk_of(arg);
    s->is_paused = false;
    flush(s);
}

/* Calls that have waited for a connection long enough have used up a try; those that have no other leave the queue. */
static void use_up_tries(struct zk_store *s, struct zk_op_list *over, int64_t now)
{
    struct zk_op *op, *after;
    for (op = TAILQ_FIRST(&s->waiting); op; op = after) {
        after = TAILQ_NEXT(op, link);
        if (op->deadline_ms > now || op->is_asking)
            continue;
        op->deadline_ms = now + s->options.connect_timeout_ms;
        if (zks_is_up(s->session) || ++op->tries <= s->options.retry_times)
            continue;
        op_unqueue(op);
        TAILQ_INSERT_TAIL(over, op, link);
    }
}

static void on_patience_over(void *arg)
{
    struct zk_store *s = zk_of(arg);
    int64_t now = run_now_ms(), next = now + s->options.connect_timeout_ms;
    struct zk_op_list over = TAILQ_HEAD_INITIALIZER(over);
    struct zk_op *op;
    s->is_patience_running = false;
    use_up_tries(s, &over, now);
    TAILQ_FOREACH (op, &s->waiting, link)
        if (!op->is_asking && op->deadline_ms < next)
            next = op->deadline_ms;
    if (!TAILQ_EMPTY(&s->waiting)) {
        s->is_patience_running = true;
        run_timer_start(s->patience, (uint64_t)(next - now), 0);
    }
    while ((op = TAILQ_FIRST(&over))) {
        TAILQ_REMOVE(&over, op, link);
        complete_unavailable(op);
    }
}

/* ---- answers ---- */

/* The follower hears of the write before the caller does. stat NULL: it was not carried out, or nobody knows. */
static void tell_follower(struct zk_op *op, const struct store_stat *stat)
{
    struct zko *own = op->own;
    struct zkw_bytes data = zkr_data(&op->made);
    op->own = NULL;
    if (own && stat)
        zko_done(own, stat, data.at, data.len);
    else if (own)
        zko_failed(own);
}

static bool may_be_done(const struct zk_op *op, int32_t number, const struct zks_reply *reply)
{
    bool is_without_answer = (number == ZKW_CONNECTION_LOSS && !reply->is_not_done) || number == ZKW_TIMEOUT;
    return op->made.is_write && is_without_answer;
}

static void on_reply(void *arg, const struct zks_reply *reply)
{
    struct zk_op *op = obj_cast(arg, struct zk_op, OP_MAGIC);
    struct zk_store *s = op->store;
    struct zkr_answer answer;
    bool is_bad;
    int32_t number = zkr_read(&op->made, reply->err, reply->body, &answer, &is_bad);
    s->n_sent--;
    tell_follower(op, number == ZKW_OK && !is_bad ? &answer.stat : NULL);
    op->is_open = is_bad ? op->made.is_write : may_be_done(op, number, reply);
    if (is_bad) {
        op_lost(op);
        if (!s->is_session_closing)
            zks_abandon(s->session, "a reply is malformed");
    } else if (zkw_error(number) == ERR_UNAVAILABLE) {
        op_lost(op);
    } else if (number != ZKW_OK) {
        complete_refused(op, number, answer.failed_op);
    } else {
        complete_done(op, &answer, reply->zxid);
    }
    zkr_answer_fini(&answer);
}

/* ---- the session ---- */

static void on_up(void *arg, bool is_resumed)
{
    struct zk_store *s = zk_of(arg);
    (void)is_resumed; /* nothing of ours lives in the session */
    s->why_down = (struct err_info){0};
    flush(s);
}

static void on_down(void *arg, const struct err_info *why)
{
    zk_of(arg)->why_down = *why;
}

static void on_notice(void *arg, int32_t kind, const char *path)
{
    (void)zk_of(arg); /* no watch is set on this session */
    (void)kind;
    (void)path;
}

static void on_drained(void *arg)
{
    (void)zk_of(arg); /* each reply was dealt with */
}

static const struct zks_ops session_ops = {on_up, on_down, on_notice, on_drained};

static struct zks_config session_config(const struct zk_store *s, const char *role, const char *servers)
{
    bool is_low = s->options.retry_ceiling_ms < PAUSE_MAX_MS;
    return (struct zks_config){
        .role = role,
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
    struct zk_op *op = op_new(zk_of(base), call);
    zkr_make_read(&op->made, kind, op->store->root, path);
    submit(op);
}

static void zk_write(struct store *base, const struct store_op *write, struct store_call call)
{
    if (write->mzxid) {
        zki_start(zk_of(base)->conditional, write, call);
        return;
    }
    struct zk_op *op = op_new(zk_of(base), call);
    zkr_make_write(&op->made, op->store->root, write);
    submit(op);
}

static void zk_set_acl(struct store *base, const char *path, const struct store_acl *acl,
                       struct store_call call)
{
    struct zk_op *op = op_new(zk_of(base), call);
    zkr_make_set_acl(&op->made, op->store->root, path, acl);
    submit(op);
}

static void zk_multi(struct store *base, const struct store_op *ops, size_t n_ops, struct store_call call)
{
    struct zk_op *op = op_new(zk_of(base), call);
    zkr_make_multi(&op->made, op->store->root, ops, n_ops);
    submit(op);
}

void zki_checked_write(struct store *s, const struct store_op *ops, size_t n_ops, int64_t n_creates,
                       struct store_call call)
{
    struct zk_op *op = op_new(zk_of(s), call);
    zkr_make_checked(&op->made, op->store->root, ops, n_ops, n_creates);
    submit(op);
}

static void zk_sync(struct store *base, struct store_call call)
{
    struct zk_op *op = op_new(zk_of(base), call);
    zkr_make_sync(&op->made, op->store->root, "/");
    submit(op);
}

static void zk_follow(struct store *base, const struct store_follow_ops *ops, void *arg)
{
    struct zk_store *s = zk_of(base);
    struct zks_config config = session_config(s, "following", s->follow_servers);
    config.catches_up = s->options.catches_up;
    int err = zkf_open(base->loop, &config, s->root, ops, arg, &s->follower, NULL);
    BUG_IF(err != 0); /* the server list was read when the store was opened */
}

static void part_closed(struct zk_store *s)
{
    if (s->session || s->follower)
        return;
    run_timer_free(s->pause);
    run_timer_free(s->patience);
    run_timer_free(s->linger);
    store_base_closed(&s->base);
}

static void on_session_closed(void *arg)
{
    struct zk_store *s = zk_of(arg);
    s->session = NULL;
    part_closed(s);
}

static void on_follower_closed(void *arg)
{
    struct zk_store *s = zk_of(arg);
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
    zks_close(s->session, on_session_closed, &s->base);
}

static void on_linger_over(void *arg)
{
    close_session(zk_of(arg));
}

/* Cancel what was not sent; give what was a moment to be answered. */
static void close_now(void *arg)
{
    struct zk_store *s = zk_of(arg);
    struct zk_op *op, *after;
    if (s->n_sent > 0)
        run_timer_start(s->linger, LINGER_MS, 0);
    for (op = TAILQ_FIRST(&s->waiting); op; op = after) {
        after = TAILQ_NEXT(op, link);
        if (op->is_asking)
            continue;
        op_unqueue(op);
        complete_cancelled(op);
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
    zki_set_free(s->conditional);
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

int store_zk_open(struct run_loop *loop, const char *url, const struct store_options *options,
                  struct store **out, struct err_info *why)
{
    mem_auto char *servers = NULL;
    mem_auto char *root = NULL;
    int err = zk_url_read(url, &servers, &root, why);
    if (err == 0)
        err = check_servers(servers, why);
    if (err == 0 && options->follow_servers)
        err = check_servers(options->follow_servers, why);
    if (err != 0)
        return err;
    struct zk_store *s = mem_new(struct zk_store);
    store_base_init(&s->base, &backend, loop, url);
    s->options = with_defaults(options);
    s->follow_servers = mem_str(options->follow_servers ? options->follow_servers : servers);
    s->servers = mem_str(servers);
    s->digest = mem_str(options->digest);
    s->kerberos = zkl_kerberos_copy(options->kerberos);
    s->root = mem_str(root);
    TAILQ_INIT(&s->waiting);
    s->conditional = zki_set_new(&s->base);
    s->pause = run_timer_new(loop, on_pause_over, &s->base);
    s->patience = run_timer_new(loop, on_patience_over, &s->base);
    s->linger = run_timer_new(loop, on_linger_over, &s->base);
    const struct zks_config config = session_config(s, "writing", s->servers);
    err = zks_open(loop, &config, &session_ops, &s->base, &s->session, why);
    BUG_IF(err != 0); /* the server list was read above */
    *out = &s->base;
    return 0;
}

/*
 * The ZooKeeper backend: calls through the C client with Hadoop's retry rule, following through our own session.
 *
 *     call ─► WAITING ──connected, no pause──► SENT ──answer──► (delete, multi: a stat for the zxid, WAITING again) ─► DONE
 *                ▲                              │
 *                └── pause, try counted ── lost ┘          DONE calls complete in the order in which they were made
 *
 * A write whose answer was lost is made again: a create that had succeeded then says ERR_EXISTS, a delete ERR_NOTFOUND.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/mem.h"
#include "store/store_backend.h"
#include "store/zk_follow.h"
#include "store/zk_handle.h"
#include "store/zk_try.h"
#include "store/zk_url.h"

#define OP_MAGIC OBJ_MAGIC('Z', 'K', 'O', 'P')

enum { LINGER_MS = 2000, FOLLOW_PAUSE_MIN_MS = 50, FOLLOW_PAUSE_MAX_MS = 5000, DOUBLINGS_MAX = 16 };

enum op_state { OP_WAITING, OP_SENT, OP_DONE };

struct zk_op {
    struct obj obj;
    TAILQ_ENTRY(zk_op) link;         /* in `ops` */
    TAILQ_ENTRY(zk_op) waiting_link; /* in `waiting`, while OP_WAITING */
    struct zk_store *store;
    uint64_t seq;
    enum op_state state;
    enum zkt_kind kind;
    char *path; /* ZooKeeper's */
    struct store_op *ops;
    size_t n_ops;
    struct store_call call;
    int64_t tries, deadline_ms;
    struct zkt *try;    /* OP_SENT */
    struct zkt *answer; /* OP_DONE or probing: what the client answered to the call itself; may be NULL */
    char *probe;        /* the call itself is done; the stat of this path gives its zxid */
    bool is_probe_of_created;
    int err;
    size_t failed_op;
    int64_t zxid;
};

TAILQ_HEAD(zk_op_list, zk_op);

struct zk_store {
    struct store base;
    char *servers, *root, *follow_servers, *digest;
    struct store_options options;
    struct zkh *client; /* NULL when closed */
    struct zkf *follower;
    struct zk_op_list ops;     /* all, in the order of the calls */
    struct zk_op_list waiting; /* to be sent, in the same order */
    uint64_t last_seq;
    struct run_timer *pause, *patience, *linger;
    bool is_paused, is_patience_running, is_client_closing;
    struct err_info why_down;
};

static struct zk_store *zk_of(struct store *s)
{
    return container_of(obj_cast(s, struct store, STORE_MAGIC), struct zk_store, base);
}

/* ---- one call ---- */

static void op_free(struct zk_op *op)
{
    for (size_t i = 0; i < op->n_ops; i++) {
        const struct store_op *o = &op->ops[i];
        for (size_t k = 0; o->acl && k < o->acl->n_entries; k++) {
            free((char *)o->acl->entries[k].scheme);
            free((char *)o->acl->entries[k].id);
        }
        if (o->acl)
            free((void *)o->acl->entries);
        free((void *)o->acl);
        free((char *)o->path);
        free((void *)o->bytes);
    }
    if (op->answer)
        zkt_free(op->answer);
    free(op->ops);
    free(op->path);
    free(op->probe);
    obj_fini(&op->obj);
    free(op);
}

static char *full_path(const struct zk_store *s, const char *path)
{
    if (strcmp(path, "/") == 0)
        return mem_str(s->root[0] ? s->root : "/");
    return mem_fmt("%s%s", s->root, path);
}

static const struct store_acl *acl_copy(const struct store_acl *acl)
{
    const struct store_acl *effective = store_acl_or_open(acl);
    struct store_acl_entry *entries = mem_array(effective->n_entries, sizeof *entries);
    for (size_t i = 0; i < effective->n_entries; i++) {
        const struct store_acl_entry *e = &effective->entries[i];
        entries[i] = (struct store_acl_entry){e->perms, mem_str(e->scheme), mem_str(e->id)};
    }
    struct store_acl *copy = mem_new(struct store_acl);
    *copy = (struct store_acl){entries, effective->n_entries};
    return copy;
}

static struct zk_op *op_new(struct zk_store *s, enum zkt_kind kind, const char *path, struct store_call call)
{
    struct zk_op *op = mem_new(struct zk_op);
    obj_init(&op->obj, OP_MAGIC);
    op->store = s;
    op->kind = kind;
    op->path = full_path(s, path);
    op->call = call;
    return op;
}

static void op_copy_ops(struct zk_op *op, const struct store_op *ops, size_t n_ops)
{
    op->ops = mem_array(n_ops, sizeof *op->ops);
    op->n_ops = n_ops;
    for (size_t i = 0; i < n_ops; i++) {
        op->ops[i] = ops[i];
        op->ops[i].path = full_path(op->store, ops[i].path);
        op->ops[i].bytes = mem_strn(ops[i].bytes ? ops[i].bytes : "", ops[i].len);
        bool has_acl = ops[i].kind == STORE_OP_CREATE || ops[i].acl;
        op->ops[i].acl = has_acl ? acl_copy(ops[i].acl) : NULL;
    }
}

/* The path to name in an error: within the store, of the op that failed. */
static const char *shown_path(const struct zk_op *op)
{
    const char *full = op->failed_op < op->n_ops ? op->ops[op->failed_op].path : op->path;
    const char *path = full + strlen(op->store->root);
    return path[0] ? path : "/";
}

static void complete(struct zk_op *op)
{
    struct store_result r = {.zxid = op->zxid, .failed_op = op->failed_op};
    const struct zkt *t = op->answer;
    struct store_acl acl = {0};
    if (op->err == ERR_UNAVAILABLE)
        err_set(&r.why, op->err, shown_path(op), "ZooKeeper at %s gave no answer within %lld tries%s%s",
                op->store->servers, (long long)op->tries, op->store->why_down.code ? ": " : "",
                op->store->why_down.text);
    else if (op->err != 0)
        err_set(&r.why, op->err, shown_path(op), "%s%s%s", err_text(op->err), t ? "; ZooKeeper says: " : "",
                t ? zerror(t->rc) : "");
    if (op->err == 0 && t) {
        acl = (struct store_acl){t->acl, t->n_acl};
        r.stat = t->stat;
        r.data = t->bytes;
        r.data_len = t->len;
        r.children = (const char *const *)t->names;
        r.n_children = t->n_names;
        r.acl = op->kind == ZKT_GET_ACL ? &acl : NULL;
    }
    op->call.done(op->call.arg, op->err, &r);
    op_free(op);
}

/* ---- the queue ---- */

static void close_client(struct zk_store *s);
static void on_try_done(struct zkt *t);

static int64_t retry_times(const struct zk_store *s)
{
    return s->options.retry_times;
}

/* Complete what is done, in order. */
static void drain(struct zk_store *s)
{
    struct zk_op *op;
    while ((op = TAILQ_FIRST(&s->ops)) && op->state == OP_DONE) {
        TAILQ_REMOVE(&s->ops, op, link);
        complete(op);
    }
    if (s->base.is_closing && TAILQ_EMPTY(&s->ops))
        close_client(s);
}

static void finish(struct zk_op *op, int err)
{
    if (op->state == OP_WAITING)
        TAILQ_REMOVE(&op->store->waiting, op, waiting_link);
    op->state = OP_DONE;
    op->err = err;
    drain(op->store);
}

static void op_send(struct zk_op *op, zhandle_t *zh)
{
    struct zk_store *s = op->store;
    const struct zkt_request itself = {op->kind, op->path, op->ops, op->n_ops};
    const struct zkt_request probe = {ZKT_STAT, op->probe, NULL, 0};
    TAILQ_REMOVE(&s->waiting, op, waiting_link);
    op->state = OP_SENT;
    op->try = zkt_new(s->base.loop, on_try_done, op);
    zkt_send(op->try, zh, op->probe ? &probe : &itself);
}

static void flush(struct zk_store *s)
{
    zhandle_t *zh = s->is_client_closing ? NULL : zkh_get(s->client);
    struct zk_op *op;
    while (zh && !s->is_paused && (op = TAILQ_FIRST(&s->waiting)))
        op_send(op, zh);
    if (TAILQ_EMPTY(&s->waiting) || s->is_patience_running)
        return;
    s->is_patience_running = true;
    run_timer_start(s->patience, (uint64_t)s->options.connect_timeout_ms, 0);
}

/* Put it where its turn is. */
static void op_wait(struct zk_op *op)
{
    struct zk_store *s = op->store;
    op->state = OP_WAITING;
    op->deadline_ms = run_now_ms() + s->options.connect_timeout_ms;
    struct zk_op *before = TAILQ_LAST(&s->waiting, zk_op_list);
    while (before && before->seq > op->seq)
        before = TAILQ_PREV(before, zk_op_list, waiting_link);
    if (before)
        TAILQ_INSERT_AFTER(&s->waiting, before, op, waiting_link);
    else
        TAILQ_INSERT_HEAD(&s->waiting, op, waiting_link);
}

static void submit(struct zk_op *op)
{
    struct zk_store *s = op->store;
    op->seq = ++s->last_seq;
    TAILQ_INSERT_TAIL(&s->ops, op, link);
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

/* No answer came: whether it was done is unknown. */
static void op_lost(struct zk_op *op)
{
    struct zk_store *s = op->store;
    op->tries++;
    if (s->base.is_closing) {
        finish(op, ERR_CANCELLED);
    } else if (op->tries > retry_times(s)) {
        finish(op, ERR_UNAVAILABLE);
    } else {
        start_pause(s, op->tries - 1);
        op_wait(op);
        flush(s);
    }
}

static void on_pause_over(void *arg)
{
    struct zk_store *s = zk_of(arg);
    s->is_paused = false;
    flush(s);
}

/* Calls that have waited for a connection long enough have used up a try. */
static void on_patience_over(void *arg)
{
    struct zk_store *s = zk_of(arg);
    int64_t now = run_now_ms(), next = now + s->options.connect_timeout_ms;
    struct zk_op *op, *after;
    s->is_patience_running = false;
    for (op = TAILQ_FIRST(&s->waiting); op; op = after) {
        after = TAILQ_NEXT(op, waiting_link);
        bool is_over = op->deadline_ms <= now;
        if (is_over)
            op->deadline_ms = now + s->options.connect_timeout_ms;
        if (op->deadline_ms < next)
            next = op->deadline_ms;
        if (is_over && !zkh_get(s->client) && ++op->tries > retry_times(s)) {
            TAILQ_REMOVE(&s->waiting, op, waiting_link);
            op->state = OP_DONE;
            op->err = ERR_UNAVAILABLE;
        }
    }
    if (!TAILQ_EMPTY(&s->waiting)) {
        s->is_patience_running = true;
        run_timer_start(s->patience, (uint64_t)(next - now), 0);
    }
    drain(s);
}

/* ---- answers ---- */

static char *parent_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == path ? mem_str("/") : mem_strn(path, (size_t)(slash - path));
}

static void probe(struct zk_op *op, char *take_path, bool is_of_created)
{
    free(op->probe);
    op->probe = take_path;
    op->is_probe_of_created = is_of_created;
    op_wait(op);
    flush(op->store);
}

/* The zxid of a change that does not tell its own is in a stat read after it. */
static void probe_answered(struct zk_op *op, const struct zkt *t)
{
    if (t->rc == ZOK) {
        op->zxid = op->is_probe_of_created ? t->stat.czxid : t->stat.pzxid;
        finish(op, 0);
    } else if (strcmp(op->probe, "/") != 0) {
        probe(op, parent_of(op->probe), false);
    } else {
        finish(op, 0); /* not even the root may be read: the number stays unknown */
    }
}

static void multi_done(struct zk_op *op, const struct zkt *t)
{
    const struct store_op *of_delete = NULL;
    for (size_t i = 0; i < op->n_ops; i++) {
        if (op->ops[i].kind == STORE_OP_SET) {
            op->zxid = t->stats[i].mzxid;
            finish(op, 0);
            return;
        }
        if (op->ops[i].kind == STORE_OP_CREATE) {
            probe(op, mem_str(op->ops[i].path), true);
            return;
        }
        if (op->ops[i].kind == STORE_OP_DELETE)
            of_delete = &op->ops[i];
    }
    if (of_delete)
        probe(op, parent_of(of_delete->path), false);
    else
        finish(op, 0); /* checks alone change nothing */
}

/* Index of the op that failed: those before it say OK, those after it that they were not tried. */
static void find_failed(struct zk_op *op, const struct zkt *t)
{
    for (size_t i = 0; i < op->n_ops; i++) {
        if (t->results[i].err == ZOK || t->results[i].err == ZRUNTIMEINCONSISTENCY)
            continue;
        op->failed_op = i;
        return;
    }
}

static void call_answered(struct zk_op *op, struct zkt *take_t)
{
    op->answer = take_t;
    if (take_t->rc != ZOK) {
        if (op->kind == ZKT_MULTI && !take_t->is_refused)
            find_failed(op, take_t);
        finish(op, zkt_error(take_t->rc));
    } else if (op->kind == ZKT_DELETE) {
        probe(op, parent_of(op->path), false);
    } else if (op->kind == ZKT_MULTI) {
        multi_done(op, take_t);
    } else {
        if (op->kind == ZKT_CREATE || op->kind == ZKT_SET)
            op->zxid = take_t->stat.mzxid;
        finish(op, 0);
    }
}

static void on_try_done(struct zkt *t)
{
    struct zk_op *op = obj_cast(t->arg, struct zk_op, OP_MAGIC);
    op->try = NULL;
    if (zkt_is_lost(t->rc)) {
        zkt_free(t);
        op_lost(op);
    } else if (op->probe) {
        probe_answered(op, t);
        zkt_free(t);
    } else {
        call_answered(op, t);
    }
}

/* ---- the client ---- */

static void on_client_up(void *arg)
{
    struct zk_store *s = zk_of(arg);
    s->why_down = (struct err_info){0};
    flush(s);
}

static void on_client_down(void *arg, const struct err_info *why)
{
    struct zk_store *s = zk_of(arg);
    s->why_down = *why;
    if (s->base.is_closing)
        close_client(s);
}

/* What was sent and has no answer gets none. */
static void on_client_gone(void *arg)
{
    struct zk_store *s = zk_of(arg);
    struct zk_op *op, *after;
    struct zk_op_list lost = TAILQ_HEAD_INITIALIZER(lost);
    for (op = TAILQ_FIRST(&s->ops); op; op = after) {
        after = TAILQ_NEXT(op, link);
        if (op->state != OP_SENT || op->try->is_refused)
            continue;
        zkt_free(op->try);
        op->try = NULL;
        TAILQ_INSERT_TAIL(&lost, op, waiting_link);
    }
    while ((op = TAILQ_FIRST(&lost))) {
        TAILQ_REMOVE(&lost, op, waiting_link);
        op_lost(op);
    }
}

static const struct zkh_ops client_ops = {on_client_up, on_client_down, on_client_gone};

/* ---- the backend ---- */

static void zk_read(struct store *base, enum store_read_kind kind, const char *path, struct store_call call)
{
    static const enum zkt_kind kinds[] = {
        [STORE_READ_DATA] = ZKT_GET,
        [STORE_READ_STAT] = ZKT_STAT,
        [STORE_READ_CHILDREN] = ZKT_CHILDREN,
        [STORE_READ_ACL] = ZKT_GET_ACL,
    };
    submit(op_new(zk_of(base), kinds[kind], path, call));
}

static void zk_write(struct store *base, const struct store_op *op, struct store_call call)
{
    static const enum zkt_kind kinds[] = {
        [STORE_OP_CREATE] = ZKT_CREATE,
        [STORE_OP_SET] = ZKT_SET,
        [STORE_OP_DELETE] = ZKT_DELETE,
        [STORE_OP_CHECK] = ZKT_MULTI,
    };
    struct zk_op *mine = op_new(zk_of(base), kinds[op->kind], op->path, call);
    op_copy_ops(mine, op, 1);
    submit(mine);
}

static void zk_set_acl(struct store *base, const char *path, const struct store_acl *acl,
                       struct store_call call)
{
    const struct store_op op = {.path = path, .version = -1, .acl = store_acl_or_open(acl)};
    struct zk_op *mine = op_new(zk_of(base), ZKT_SET_ACL, path, call);
    op_copy_ops(mine, &op, 1);
    submit(mine);
}

static void zk_multi(struct store *base, const struct store_op *ops, size_t n_ops, struct store_call call)
{
    struct zk_op *mine = op_new(zk_of(base), ZKT_MULTI, ops[0].path, call);
    op_copy_ops(mine, ops, n_ops);
    submit(mine);
}

static struct zks_config follow_config(const struct zk_store *s)
{
    bool is_low = s->options.retry_ceiling_ms < FOLLOW_PAUSE_MAX_MS;
    return (struct zks_config){
        .servers = s->follow_servers,
        .digest = s->digest,
        .session_timeout_ms = s->options.session_timeout_ms,
        .attempt_timeout_ms = s->options.connect_timeout_ms,
        .pause_min_ms = FOLLOW_PAUSE_MIN_MS,
        .pause_max_ms = is_low ? s->options.retry_ceiling_ms : FOLLOW_PAUSE_MAX_MS,
    };
}

static void zk_follow(struct store *base, const struct store_follow_ops *ops, void *arg)
{
    struct zk_store *s = zk_of(base);
    const struct zks_config config = follow_config(s);
    int err = zkf_open(base->loop, &config, s->root, ops, arg, &s->follower, NULL);
    BUG_IF(err != 0); /* the server list was read when the store was opened */
}

static void part_closed(struct zk_store *s)
{
    if (s->client || s->follower)
        return;
    run_timer_free(s->pause);
    run_timer_free(s->patience);
    run_timer_free(s->linger);
    store_base_closed(&s->base);
}

static void on_client_closed(void *arg)
{
    struct zk_store *s = zk_of(arg);
    s->client = NULL;
    struct zk_op *op;
    while ((op = TAILQ_FIRST(&s->waiting)))
        finish(op, ERR_CANCELLED);
    BUG_IF(!TAILQ_EMPTY(&s->ops));
    part_closed(s);
}

static void on_follower_closed(void *arg)
{
    struct zk_store *s = zk_of(arg);
    s->follower = NULL;
    part_closed(s);
}

static void close_client(struct zk_store *s)
{
    if (s->is_client_closing)
        return;
    s->is_client_closing = true;
    run_timer_stop(s->linger);
    zkh_close(s->client, on_client_closed, &s->base);
}

static void on_linger_over(void *arg)
{
    close_client(zk_of(arg));
}

/* Cancel what was not sent; give what was a moment to be answered. */
static void close_now(void *arg)
{
    struct zk_store *s = zk_of(arg);
    struct zk_op *op, *after;
    for (op = TAILQ_FIRST(&s->waiting); op; op = after) {
        after = TAILQ_NEXT(op, waiting_link);
        if (!op->probe || !zkh_get(s->client))
            finish(op, ERR_CANCELLED);
    }
    if (!TAILQ_EMPTY(&s->ops) && zkh_get(s->client))
        run_timer_start(s->linger, LINGER_MS, 0);
    else
        close_client(s);
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
    free(s->servers);
    free(s->root);
    free(s->follow_servers);
    free(s->digest);
    free(s);
}

static const struct store_backend_ops backend = {
    .kind = "zookeeper",
    .read = zk_read,
    .write = zk_write,
    .set_acl = zk_set_acl,
    .multi = zk_multi,
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
    s->root = mem_str(root);
    TAILQ_INIT(&s->ops);
    TAILQ_INIT(&s->waiting);
    s->pause = run_timer_new(loop, on_pause_over, &s->base);
    s->patience = run_timer_new(loop, on_patience_over, &s->base);
    s->linger = run_timer_new(loop, on_linger_over, &s->base);
    s->client = zkh_open(loop, servers, (int)s->options.session_timeout_ms, s->digest, &client_ops, &s->base);
    *out = &s->base;
    return 0;
}

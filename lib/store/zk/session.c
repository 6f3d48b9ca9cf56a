#include "store/zk/session.h"
#include "store/zk/sasl.h"
#include "store/zk/url.h"
#include "base/backoff.h"
#include "base/mem.h"
#include "base/obj.h"
#include "run/log.h"
#include "run/tcp.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SESSION_MAGIC OBJ_MAGIC('Z', 'K', 'S', 'E')

#define ZKS_EVENTS(X)                                                                                        \
    X(zk_connected, LOG_INFO, "A session to ZooKeeper is up.")                                               \
    X(zk_expired, LOG_WARN, "A session to ZooKeeper has expired; a new one is opened.")                      \
    X(zk_authenticated, LOG_INFO, "ZooKeeper has authenticated this session by Kerberos.")                   \
    X(zk_restarted, LOG_WARN,                                                                                \
      "Every server is behind what was read before; the session starts anew and follows the older state.")
LOG_DECLARE(ZKS_EVENTS)

enum { FRAME_MAX = 64 << 20, PASSWORD_LEN = 16, LINK_PATIENCE_MS = 2000 };

enum zks_state { ZKS_WAITING, ZKS_CONNECTING, ZKS_HELLO, ZKS_AUTH, ZKS_CATCHING_UP, ZKS_UP, ZKS_CLOSED };

TAILQ_HEAD(zks_request_list, zks_request);

struct zks {
    struct obj obj;
    struct run_loop *loop;
    enum zks_state state;
    struct zk_servers servers;
    struct zks_config config;
    const struct zks_ops *ops;
    void *arg;
    struct run_tcp *conn; /* CONNECTING, HELLO, AUTH, UP */
    size_t n_conns;       /* not freed yet, the current one included */
    size_t n_attempts;    /* since the last time it was up */
    size_t next;          /* server to try next */
    bool is_down_notified;
    bool is_link_lost;    /* link knows */
    int64_t trying_since; /* first try since it was up, or was opened */
    struct run_timer *timer;
    char *digest;        /* config.digest, copied */
    struct zksasl *sasl; /* NULL: not by Kerberos */
    const char *host;    /* of the server that conn goes to */
    int32_t sasl_xid;    /* of the token that has no answer yet; 0: none */
    int64_t sasl_sent_ms;
    bool is_resumed;        /* of the connect request's answer, for `up` */
    struct zkw_hello hello; /* of the next connect: session, password, last zxid seen */
    int64_t timeout_ms;     /* granted by the server */
    int64_t heard_ms, sent_ms;
    bool is_anew;                /* the last zxid seen does not count: the server catches up first */
    struct zks_request catch_up; /* CATCHING_UP */
    int64_t refused_since_ms;    /* no server has wanted us since then; 0: none refused yet */
    int32_t last_xid;
    uint64_t n_flushed, n_restarts;   /* bytes given to conn; times it started from nothing */
    struct zks_request_list requests; /* under way, oldest first */
    struct buf out;
    void (*closed)(void *arg);
    void *closed_arg;
};

/* ---- coming and going ---- */

/* After a round of all servers. */
static uint64_t pause_ms(const struct zks *s)
{
    return (uint64_t)backoff_random(s->n_attempts / s->servers.n_items, s->config.pause_min_ms,
                                    s->config.pause_max_ms);
}

static void drop_conn(struct zks *s)
{
    if (s->conn)
        run_tcp_close(s->conn);
    s->conn = NULL;
    s->sasl_xid = 0;
    if (s->sasl)
        zksasl_stop(s->sasl);
    buf_clear(&s->out);
}

/* Whatever part of a request has not left us, no server will ever act on the rest. */
static void mark_unsent(struct zks *s)
{
    uint64_t n_sent = s->conn ? s->n_flushed - run_tcp_unsent(s->conn) : 0;
    struct zks_request *r;
    TAILQ_FOREACH (r, &s->requests, link)
        r->is_not_done = r->is_not_done || r->end > n_sent;
}

static void answer_lost(struct zks *s)
{
    struct zks_reply reply = {.err = ZKW_CONNECTION_LOSS, .body = zkw_in_make(NULL, 0)};
    struct zks_request_list lost = TAILQ_HEAD_INITIALIZER(lost);
    TAILQ_CONCAT(&lost, &s->requests, link);
    struct zks_request *r;
    while ((r = TAILQ_FIRST(&lost))) {
        TAILQ_REMOVE(&lost, r, link);
        reply.is_not_done = r->is_not_done;
        r->done(r->arg, &reply);
    }
}

static void notify_down(struct zks *s, const struct err_info *why)
{
    if (s->is_down_notified)
        return;
    s->is_down_notified = true;
    s->ops->down(s->arg, why);
}

static void report_link(struct zks *s, const struct err_info *why)
{
    s->is_link_lost = why != NULL;
    if (s->config.link)
        s->config.link(s->config.link_arg, s->config.side, why);
}

/* The connection or the attempt to make one has failed: continue with the next server. */
static void fail(struct zks *s, const struct err_info *why)
{
    bool was_up = s->state == ZKS_UP;
    s->state = ZKS_WAITING;
    mark_unsent(s);
    drop_conn(s);
    s->n_attempts++;
    bool is_round_over = s->n_attempts % s->servers.n_items == 0;
    run_timer_start(s->timer, was_up || !is_round_over ? 0 : pause_ms(s), 0);
    answer_lost(s);
    if (s->state == ZKS_CLOSED)
        return;
    if (was_up || is_round_over || s->is_link_lost || run_now_ms() - s->trying_since >= LINK_PATIENCE_MS)
        report_link(s, why);
    if (was_up || is_round_over)
        notify_down(s, why);
}

static void fail_because(struct zks *s, const char *text)
{
    struct err_info why = {0};
    err_set(&why, ERR_UNAVAILABLE, run_tcp_name(s->conn), "ZooKeeper server %s: %s", run_tcp_name(s->conn),
            text);
    fail(s, &why);
}

/* A server accepted the connection and then closed it without an answer to the hello. */
static void note_refusal(struct zks *s)
{
    int64_t now = run_now_ms();
    if (s->refused_since_ms == 0) {
        s->refused_since_ms = now;
        return;
    }
    if (now - s->refused_since_ms <= s->config.session_timeout_ms || s->hello.last_zxid == 0)
        return;
    log_emit(&ev_zk_restarted, LOG_STR("role", s->config.role), LOG_STR("server", run_tcp_name(s->conn)),
             LOG_INT("zxid", s->hello.last_zxid));
    s->is_anew = true;
    s->n_restarts++;
    s->hello.session = 0;
    s->hello.last_zxid = 0;
    memset(s->hello.password, 0, sizeof s->hello.password);
}

static void on_conn_lost(void *arg, const struct err_info *why)
{
    struct zks *s = obj_cast(arg, struct zks, SESSION_MAGIC);
    if (s->state == ZKS_HELLO) {
        note_refusal(s);
        fail_because(
            s, "it ended the connection without an answer; it may have no quorum, or too many connections");
        return;
    }
    fail(s, why);
}

/* ---- connected ---- */

static void announce(struct zks *s)
{
    s->state = ZKS_UP;
    s->n_attempts = 0;
    s->is_down_notified = false;
    log_emit(&ev_zk_connected, LOG_STR("role", s->config.role), LOG_STR("server", run_tcp_name(s->conn)),
             LOG_INT("timeout_ms", s->timeout_ms), LOG_STR("session", s->is_resumed ? "resumed" : "new"));
    report_link(s, NULL);
    s->ops->up(s->arg, s->is_resumed);
}

static void on_caught_up(void *arg, const struct zks_reply *reply)
{
    struct zks *s = obj_cast(arg, struct zks, SESSION_MAGIC);
    if (reply->err == ZKW_CONNECTION_LOSS)
        return;
    if (reply->err != ZKW_OK) {
        fail_because(s, "it cannot catch up with the ensemble");
        return;
    }
    s->is_anew = false;
    announce(s);
}

/* The session exists and is authenticated. A server that only lags must not be taken for an ensemble that is older. */
static void go_up(struct zks *s)
{
    if (s->digest)
        zkw_put_auth(&s->out, "digest", s->digest);
    if (!s->is_anew) {
        announce(s);
        return;
    }
    s->state = ZKS_CATCHING_UP;
    s->catch_up = (struct zks_request){.done = on_caught_up, .arg = s};
    zks_send(s, &s->catch_up, ZKW_SYNC, "/");
    zks_flush(s);
}

/* ---- by Kerberos: sasl.h ---- */

static void on_sasl_send(void *arg, const char *token, size_t len)
{
    struct zks *s = obj_cast(arg, struct zks, SESSION_MAGIC);
    buf_auto struct buf body = BUF_EMPTY;
    zkw_put_bytes(&body, token, len);
    s->sasl_xid = ++s->last_xid;
    s->sasl_sent_ms = run_now_ms();
    zkw_put_made(&s->out, s->sasl_xid, ZKW_SASL, &body);
    zks_flush(s);
}

static void on_sasl_done(void *arg, const char *principal, const char *server)
{
    struct zks *s = obj_cast(arg, struct zks, SESSION_MAGIC);
    log_emit(&ev_zk_authenticated, LOG_STR("role", s->config.role), LOG_STR("server", run_tcp_name(s->conn)),
             LOG_STR("principal", principal), LOG_STR("service", server));
    go_up(s);
}

static void on_sasl_failed(void *arg, const struct err_info *why)
{
    struct zks *s = obj_cast(arg, struct zks, SESSION_MAGIC);
    fail_because(s, why->text);
}

static const struct zksasl_ops sasl_ops = {on_sasl_send, on_sasl_done, on_sasl_failed};

static void on_sasl_reply(struct zks *s, struct zkw_header header, struct zkw_in in)
{
    bool is_awaited = s->sasl_xid != 0 && header.xid == s->sasl_xid;
    s->sasl_xid = 0;
    if (!is_awaited) {
        fail_because(s, "a reply is out of order");
        return;
    }
    if (header.err != ZKW_OK) {
        fail_because(
            s,
            "it refuses our Kerberos ticket: its keytab may not have the KDC's key for it, or its clock may "
            "differ; its log says more");
        return;
    }
    struct zkw_bytes token = zkw_get_bytes(&in);
    if (in.is_bad)
        fail_because(s, "its SASL answer is malformed");
    else
        zksasl_answer(s->sasl, token.at, token.len);
}

/* ---- hello, notices and replies ---- */

/** Look again when a ping is due, or an answer is late: a session that rests costs two turns of the loop for each ping. */
static void look_later(struct zks *s)
{
    int64_t now = run_now_ms(), next = s->sent_ms + s->timeout_ms / 3,
            late = s->heard_ms + s->timeout_ms * 2 / 3 + 1;
    if (late < next)
        next = late;
    run_timer_start(s->timer, next > now ? (uint64_t)(next - now) : 1, 0);
}

static void on_hello(struct zks *s, struct zkw_bytes frame)
{
    struct zkw_hello answer;
    if (zkw_get_hello(frame, &answer) != 0) {
        fail_because(s, "its answer to the connect request is malformed");
        return;
    }
    s->refused_since_ms = 0;
    if (answer.timeout_ms <= 0) {
        log_emit(&ev_zk_expired, LOG_STR("role", s->config.role), LOG_STR("server", run_tcp_name(s->conn)));
        s->hello.session = 0;
        memset(s->hello.password, 0, sizeof s->hello.password);
        s->n_attempts = 0;
        fail_because(s, "the session has expired");
        return;
    }
    s->is_resumed = s->hello.session != 0 && s->hello.session == answer.session;
    answer.last_zxid = s->hello.last_zxid;
    s->timeout_ms = answer.timeout_ms;
    s->hello = answer;
    s->hello.timeout_ms = (int32_t)s->config.session_timeout_ms;
    s->last_xid = 0;
    look_later(s);
    if (!s->sasl) {
        go_up(s);
        return;
    }
    s->state = ZKS_AUTH;
    zksasl_begin(s->sasl, s->host);
}

static void on_notice(struct zks *s, struct zkw_in *in)
{
    int32_t kind = zkw_get_i32(in);
    zkw_get_i32(in); /* state: connected, else we would not be here */
    struct zkw_bytes path = zkw_get_bytes(in);
    if (in->is_bad || !path.at) {
        fail_because(s, "a notice is malformed");
        return;
    }
    mem_auto char *text = mem_strn(path.at, path.len);
    s->ops->notice(s->arg, kind, text);
}

static void on_reply(struct zks *s, struct zkw_header header, struct zkw_in body)
{
    struct zks_request *r = TAILQ_FIRST(&s->requests);
    if (!r || r->xid != header.xid) {
        fail_because(s, "a reply is out of order");
        return;
    }
    if (header.err == ZKW_SESSION_EXPIRED || header.err == ZKW_SESSION_MOVED) {
        r->is_not_done = true;
        fail_because(s, "the session has ended, or is another connection's");
        return;
    }
    TAILQ_REMOVE(&s->requests, r, link);
    const struct zks_reply reply = {.err = header.err, .zxid = header.zxid, .body = body};
    r->done(r->arg, &reply);
}

static void on_frame(struct zks *s, struct zkw_bytes frame)
{
    if (s->state == ZKS_HELLO) {
        on_hello(s, frame);
        return;
    }
    struct zkw_in in = zkw_in_make(frame.at, frame.len);
    struct zkw_header header = zkw_get_header(&in);
    if (in.is_bad) {
        fail_because(s, "a frame is too short");
        return;
    }
    if (header.zxid > s->hello.last_zxid)
        s->hello.last_zxid = header.zxid;
    if (header.xid == ZKW_XID_NOTICE)
        on_notice(s, &in);
    else if (header.xid == ZKW_XID_AUTH && header.err != ZKW_OK)
        fail_because(s, "it refuses our id and password");
    else if (header.xid != ZKW_XID_PING && s->state == ZKS_AUTH)
        on_sasl_reply(s, header, in);
    else if (header.xid != ZKW_XID_PING && header.xid != ZKW_XID_AUTH)
        on_reply(s, header, in);
}

static void on_conn_arrived(void *arg, struct buf *in)
{
    struct zks *s = obj_cast(arg, struct zks, SESSION_MAGIC);
    const struct run_tcp *conn = s->conn;
    size_t used = 0;
    int64_t n = 0;
    struct zkw_bytes frame;
    s->heard_ms = run_now_ms();
    /* A callback may close the session or lose the connection: then s->conn is another one, and the rest is void. */
    while (s->conn == conn &&
           (n = zkw_frame_next(in->bytes + used, in->len - used, s->config.frame_max, &frame)) > 0) {
        used += (size_t)n;
        on_frame(s, frame);
    }
    buf_drop(in, used);
    if (s->conn != conn)
        return;
    if (n < 0) {
        fail_because(s, "a frame is longer than is accepted");
        return;
    }
    if (s->state == ZKS_UP && used > 0)
        s->ops->drained(s->arg);
    if (s->state == ZKS_UP)
        zks_flush(s);
}

/* ---- connecting ---- */

static void on_conn_opened(void *arg)
{
    struct zks *s = obj_cast(arg, struct zks, SESSION_MAGIC);
    s->state = ZKS_HELLO;
    zkw_put_hello(&s->out, &s->hello);
    zks_flush(s);
}

static void finish(void *arg)
{
    struct zks *s = obj_cast(arg, struct zks, SESSION_MAGIC);
    void (*closed)(void *) = s->closed;
    void *closed_arg = s->closed_arg;
    zk_servers_fini(&s->servers);
    free(s->digest);
    buf_fini(&s->out);
    obj_fini(&s->obj);
    free(s);
    closed(closed_arg);
}

static void on_conn_closed(void *arg)
{
    struct zks *s = obj_cast(arg, struct zks, SESSION_MAGIC);
    s->n_conns--;
    if (s->state == ZKS_CLOSED && s->n_conns == 0)
        finish(s);
}

static const struct run_tcp_ops conn_ops = {on_conn_opened, on_conn_arrived, on_conn_lost, on_conn_closed};

static void attempt(struct zks *s)
{
    const struct zk_server *server = &s->servers.items[s->next];
    s->next = (s->next + 1) % s->servers.n_items;
    s->state = ZKS_CONNECTING;
    s->host = server->host;
    s->n_flushed = 0;
    s->n_conns++;
    const struct run_tcp_target target = {"ZooKeeper server", server->host, server->port,
                                          s->n_attempts / s->servers.n_items};
    s->conn = run_tcp_open(s->loop, &target, &conn_ops, s);
    run_timer_start(s->timer, (uint64_t)s->config.attempt_timeout_ms, 0);
}

static void stay_alive(struct zks *s)
{
    int64_t now = run_now_ms();
    if (now - s->heard_ms > s->timeout_ms * 2 / 3) {
        fail_because(s, "it has not answered for two thirds of the session timeout");
        return;
    }
    if (s->sasl_xid && now - s->sasl_sent_ms > s->config.attempt_timeout_ms) {
        fail_because(s, "it does not answer our Kerberos token");
        return;
    }
    bool is_due = now - s->sent_ms >= s->timeout_ms / 3;
    if (is_due) {
        zkw_put_request(&s->out, ZKW_XID_PING, ZKW_PING, NULL);
        s->sent_ms = now;
    }
    look_later(s);
    if (is_due)
        zks_flush(s);
}

static void on_timer(void *arg)
{
    struct zks *s = obj_cast(arg, struct zks, SESSION_MAGIC);
    if (s->state == ZKS_WAITING)
        attempt(s);
    else if (s->state == ZKS_UP || s->state == ZKS_AUTH || s->state == ZKS_CATCHING_UP)
        stay_alive(s);
    else
        fail_because(s, "no answer to the connect request in time");
}

int zks_open(struct run_loop *loop, const struct zks_config *config, const struct zks_ops *ops, void *arg,
             struct zks **out, struct err_info *why)
{
    struct zk_servers servers;
    int err = zk_servers_read(config->servers, &servers, why);
    if (err != 0)
        return err;
    struct zks *s = mem_new(struct zks);
    obj_init(&s->obj, SESSION_MAGIC);
    s->loop = loop;
    s->servers = servers;
    s->config = *config;
    s->config.servers = NULL; /* the caller's text, which `servers` replaces */
    s->digest = mem_str(config->digest);
    s->config.digest = NULL;
    s->is_anew = config->catches_up;
    s->sasl = config->kerberos ? zksasl_new(loop, config->kerberos, &sasl_ops, s) : NULL;
    s->config.kerberos = NULL;
    if (s->config.frame_max == 0)
        s->config.frame_max = FRAME_MAX;
    s->ops = ops;
    s->arg = arg;
    s->next = arc4random_uniform((uint32_t)servers.n_items);
    s->hello.timeout_ms = (int32_t)config->session_timeout_ms;
    s->hello.password_len = PASSWORD_LEN;
    TAILQ_INIT(&s->requests);
    s->trying_since = run_now_ms();
    s->timer = run_timer_new(loop, on_timer, s);
    run_timer_start(s->timer, 0, 0);
    *out = s;
    return 0;
}

void zks_close(struct zks *s, void (*closed)(void *arg), void *arg)
{
    BUG_IF(s->state == ZKS_CLOSED);
    bool is_in_session = s->state == ZKS_UP || s->state == ZKS_AUTH || s->state == ZKS_CATCHING_UP;
    s->state = ZKS_CLOSED;
    s->closed = closed;
    s->closed_arg = arg;
    run_timer_free(s->timer);
    s->timer = NULL;
    if (is_in_session) {
        buf_auto struct buf bye = BUF_EMPTY;
        zkw_put_request(&bye, 0, ZKW_CLOSE_SESSION, NULL);
        run_tcp_close_saying(s->conn, &bye);
    }
    mark_unsent(s);
    drop_conn(s);
    zksasl_free(s->sasl);
    s->sasl = NULL;
    answer_lost(s);
    if (s->n_conns == 0)
        run_post(s->loop, finish, s);
}

/* ---- requests ---- */

void zks_abandon(struct zks *s, const char *text)
{
    if (s->state != ZKS_UP)
        return;
    fail_because(s, text);
    if (s->state == ZKS_WAITING)
        run_timer_start(s->timer, (uint64_t)s->config.pause_max_ms, 0);
}

bool zks_is_up(const struct zks *s)
{
    return s->state == ZKS_UP;
}

int64_t zks_seen(const struct zks *s)
{
    return s->hello.last_zxid;
}

uint64_t zks_n_restarts(const struct zks *s)
{
    return s->n_restarts;
}

static int32_t enlist(struct zks *s, struct zks_request *request)
{
    BUG_IF(s->state != ZKS_UP && s->state != ZKS_CATCHING_UP);
    s->last_xid = s->last_xid == INT32_MAX ? 1 : s->last_xid + 1;
    request->xid = s->last_xid;
    request->is_not_done = false;
    TAILQ_INSERT_TAIL(&s->requests, request, link);
    return request->xid;
}

void zks_send(struct zks *s, struct zks_request *request, enum zkw_opcode opcode, const char *path)
{
    int32_t xid = enlist(s, request);
    zkw_put_request(&s->out, xid, opcode, path);
    request->end = s->n_flushed + s->out.len;
}

void zks_send_made(struct zks *s, struct zks_request *request, enum zkw_opcode opcode, const struct buf *body)
{
    int32_t xid = enlist(s, request);
    zkw_put_made(&s->out, xid, opcode, body);
    request->end = s->n_flushed + s->out.len;
}

void zks_flush(struct zks *s)
{
    if (s->out.len == 0 || !s->conn)
        return;
    s->sent_ms = run_now_ms();
    s->n_flushed += s->out.len;
    run_tcp_write(s->conn, &s->out);
}

#include "net/tcp.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/queue.h>
#include <time.h>
#include <unistd.h>

#include "base/addr.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/obj.h"
#include "bobbin/error.h"
#include "net/acl.h"
#include "net/secrets.h"
#include "net/tapped.h"
#include "net/tls.h"
#include "run/degraded.h"
#include "run/fdlimit.h"
#include "wire/rdata.h"

enum {
    MSG_MAX = 65535,
    READ_STEP = 4096,
    OUT_HIGH = 256 << 10, /* octets unsent at which a connection is no longer read */
    REPLY_HIGH = 1 << 20, /* octets of queued replies at which more are refused */
    DEFAULT_CLIENTS = 1000,
    MAX_EVENTS = 64,
};

#define TCP_MAGIC OBJ_MAGIC('T', 'C', 'P', 'T')

struct conn {
    TAILQ_ENTRY(conn) order; /* longest without progress first */
    int fd;
    struct tls_session *tls; /* or NULL: plain */
    uint64_t id;
    unsigned place;
    struct sockaddr_storage client;
    socklen_t client_len;
    struct buf in, out;
    size_t reply_len; /* octets in out that came from replies */
    int64_t moved_ms; /* last whole query or last octet sent */
    uint32_t events;  /* what epoll watches */
    bool is_watched;  /* epoll knows the connection */
    bool is_eof;      /* the client will send no more */
    unsigned n_taken; /* queries handed off and not answered */
};

/** A place in the table of connections, as other threads see it. Guarded by tcp.lock. */
struct place {
    uint64_t conn_id; /* 0: free */
    size_t queued;    /* octets of replies not yet sent */
};

/** A reply of another thread, queued for a connection. */
struct reply {
    STAILQ_ENTRY(reply) next;
    uint64_t conn_id;
    unsigned place;
    size_t len;
    uint8_t msg[];
};

struct tcp {
    struct obj obj;
    struct tcp_options opts;
    unsigned max_clients, idle_ms;
    pthread_t thread;
    _Atomic bool is_stopping;
    int epoll, wake;
    struct counters counters;
    _Atomic uint64_t n_open;
    uint64_t next_id;
    struct conn **conns; /* by place */
    TAILQ_HEAD(conn_list, conn) order;
    pthread_mutex_t lock; /* guards places and replies; nothing is called under it */
    struct place *places;
    STAILQ_HEAD(reply_list, reply) replies;
    uint8_t answer[MSG_MAX];
    uint8_t inbox[READ_STEP]; /* what was read, before the connection keeps it */
};

static int64_t now_ms(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
    return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static void conn_moved(struct tcp *t, struct conn *c)
{
    c->moved_ms = now_ms();
    TAILQ_REMOVE(&t->order, c, order);
    TAILQ_INSERT_TAIL(&t->order, c, order);
}

static void conn_close(struct tcp *t, struct conn *c)
{
    pthread_mutex_lock(&t->lock);
    t->places[c->place] = (struct place){0, 0};
    pthread_mutex_unlock(&t->lock);
    TAILQ_REMOVE(&t->order, c, order);
    t->conns[c->place] = NULL;
    atomic_store_explicit(&t->n_open, atomic_load_explicit(&t->n_open, memory_order_relaxed) - 1,
                          memory_order_relaxed);
    tls_session_free(c->tls);
    close(c->fd); /* leaves the epoll set with it */
    buf_fini(&c->in);
    buf_fini(&c->out);
    free(c);
}

/** Register the events that the connection waits for. @return false: the kernel accepts no more descriptors. */
static bool conn_watch(struct tcp *t, struct conn *c)
{
    uint32_t events = c->out.len || (c->tls && tls_session_wants_write(c->tls)) ? EPOLLOUT : 0;
    if (!c->is_eof && c->out.len < OUT_HIGH)
        events |= EPOLLIN;
    if (events == c->events && c->is_watched)
        return true;
    struct epoll_event ev = {.events = events, .data.ptr = c};
    if (epoll_ctl(t->epoll, c->is_watched ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, c->fd, &ev))
        return false;
    c->events = events;
    c->is_watched = true;
    return true;
}

/** Count sent replies out of the queue. */
static void conn_replies_sent(struct tcp *t, struct conn *c)
{
    if (!c->reply_len || c->out.len)
        return;
    pthread_mutex_lock(&t->lock);
    t->places[c->place].queued -= c->reply_len;
    pthread_mutex_unlock(&t->lock);
    c->reply_len = 0;
}

static ssize_t conn_send(struct conn *c, const void *p, size_t n)
{
    return c->tls ? tls_session_send(c->tls, p, n) : send(c->fd, p, n, MSG_NOSIGNAL);
}

static ssize_t conn_recv(struct conn *c, void *p, size_t n)
{
    return c->tls ? tls_session_recv(c->tls, p, n) : recv(c->fd, p, n, 0);
}

/** Send what the kernel accepts. @return false: the connection is broken. */
static bool conn_flush(struct tcp *t, struct conn *c)
{
    size_t at = 0;
    while (at < c->out.len) {
        ssize_t n = conn_send(c, c->out.bytes + at, c->out.len - at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno != EAGAIN)
            return false;
        if (n <= 0)
            break;
        at += (size_t)n;
    }
    if (at) {
        buf_drop(&c->out, at);
        conn_moved(t, c);
    }
    conn_replies_sent(t, c);
    return true;
}

static void conn_put(struct conn *c, const uint8_t *msg, size_t len)
{
    uint8_t prefix[2];
    wire_put16(prefix, (unsigned)len);
    buf_add(&c->out, prefix, 2);
    buf_add(&c->out, msg, len);
}

/** @return 0: handed off; else an error of the taker's: the response is ours. */
static int conn_hand_off(struct tcp *t, struct conn *c, const struct answer *a, size_t len)
{
    const struct net_taker *taker = &t->opts.net->taker;
    if (!taker->take)
        return ERR_NOTFOUND;
    struct net_peer peer = {
        .client = c->client, .client_len = c->client_len, .is_tcp = true, .is_tls = c->tls};
    peer.socket = c->place;
    peer.conn_id = c->id;
    secrets_put_cookie(a, &peer);
    return taker->take(taker->owner, a->hand_off, &peer, a->msg, len);
}

/** Write the response for a client of the access list, REFUSED for another. @return its octets; 0: none. */
static size_t write_answer(struct tcp *t, const struct conn *c, struct answer *a,
                           const struct zone_version *v)
{
    const struct acl *acl = acls_current(t->opts.acls);
    if (answer_wants_client(a))
        secrets_fill_client(t->opts.secrets, &c->client, a);
    if (acl && !acl_allows(acl, &c->client, &a->q)) {
        count_add(&t->counters.acl_refused, 1);
        return answer_write_prohibited(a, v, &t->opts.net->answer, t->answer, MSG_MAX);
    }
    struct acl_guard guard;
    a->guard = acl_guard(acl, &c->client, &guard);
    size_t n = answer_write(a, v, &t->opts.net->answer, t->answer, MSG_MAX);
    a->guard = NULL;
    return n;
}

/** Write the response, or hand the query off. @return its octets; 0: it is handed off, or no query, as a says. */
static size_t write_or_hand_off(struct tcp *t, struct conn *c, struct answer *a, size_t len,
                                const struct zone_version *v)
{
    size_t n = write_answer(t, c, a, v);
    if (!n || a->hand_off == ANSWER_HERE)
        return n;
    int err = conn_hand_off(t, c, a, len);
    if (!err) {
        count_add(&t->counters.handed_off, 1);
        c->n_taken++;
        return 0;
    }
    if (net_is_prohibited(a, err))
        n = answer_write_prohibited(a, v, &t->opts.net->answer, t->answer, MSG_MAX);
    a->hand_off = ANSWER_HERE;
    return n;
}

/** Answer one query, or hand it off. @return false: it is no query; close. */
static bool conn_answer(struct tcp *t, struct conn *c, const uint8_t *msg, size_t len)
{
    struct answer a;
    bool is_tapped = tap_is_on(t->opts.tap);
    uint64_t read_ns = is_tapped ? tap_now_ns() : 0;
    const struct zone_version *v = epoch_enter(t->opts.cell, t->opts.net->zones);
    answer_read(&a, msg, len, true, v);
    a.is_tls = c->tls;
    size_t n = write_or_hand_off(t, c, &a, len, v);
    epoch_leave(t->opts.cell);
    count_add(c->tls ? &t->counters.tls_queries : &t->counters.tcp_queries, 1);
    if (is_tapped)
        tapped_answer(t->opts.tap, &(struct tapped){&a, &c->client, len, read_ns}, t->answer, n);
    if (n) {
        count_response(&t->counters, &a);
        conn_put(c, t->answer, n);
    } else if (a.hand_off == ANSWER_HERE) {
        count_add(&t->counters.dropped, 1);
    }
    return n || a.hand_off != ANSWER_HERE;
}

/** Answer the whole queries in the buffer, until too many octets are unsent. @return false: close. */
static bool conn_work(struct tcp *t, struct conn *c)
{
    size_t at = 0;
    bool is_fine = true;
    while (is_fine && c->in.len - at >= 2 && c->out.len < OUT_HIGH) {
        const uint8_t *p = (const uint8_t *)c->in.bytes + at;
        size_t len = wire_get16(p);
        if (c->in.len - at - 2 < len)
            break;
        is_fine = conn_answer(t, c, p + 2, len);
        at += 2 + len;
    }
    if (at) {
        buf_drop(&c->in, at);
        conn_moved(t, c);
    }
    return is_fine;
}

/** Read once, and under TLS the rest of the record, which epoll does not report. @return false: broken. */
static bool conn_read(struct tcp *t, struct conn *c)
{
    ssize_t n;
    do {
        n = conn_recv(c, t->inbox, sizeof t->inbox);
        if (n < 0)
            return errno == EAGAIN || errno == EINTR;
        buf_add(&c->in, t->inbox, (size_t)n);
    } while (n > 0 && c->tls && tls_session_has_more(c->tls));
    c->is_eof = n == 0;
    return true;
}

/** During a handshake any event is a reason to read, after it only EPOLLIN. */
static bool conn_may_read(const struct conn *c, uint32_t events)
{
    return !c->is_eof && (events & (EPOLLIN | EPOLLHUP) || (c->tls && tls_session_is_new(c->tls)));
}

static bool conn_has_query(const struct conn *c)
{
    return c->in.len >= 2 && c->in.len - 2 >= wire_get16((const uint8_t *)c->in.bytes);
}

/** Read, answer and send until each would block, then wait. Responses before malformed octets are still sent. */
static void conn_turn(struct tcp *t, struct conn *c, uint32_t events)
{
    bool is_fine = !(events & EPOLLERR), has_more = true;
    if (is_fine && conn_may_read(c, events))
        is_fine = conn_read(t, c);
    if (!is_fine && c->tls && tls_session_is_new(c->tls))
        count_add(&t->counters.tls_failed, 1);
    while (is_fine && has_more) {
        bool is_dns = conn_work(t, c);
        is_fine = conn_flush(t, c) && is_dns;
        has_more = !c->out.len && conn_has_query(c);
    }
    bool is_over = c->is_eof && !c->out.len && !c->n_taken;
    if (!is_fine || is_over || !conn_watch(t, c))
        conn_close(t, c);
}

static unsigned conns_of_client(const struct tcp *t, const struct sockaddr_storage *client)
{
    struct addr wanted, a;
    uint16_t port;
    unsigned n = 0;
    const struct conn *c;
    if (addr_from_sockaddr((const struct sockaddr *)client, &wanted, &port))
        return 0;
    TAILQ_FOREACH (c, &t->order, order)
        n += !addr_from_sockaddr((const struct sockaddr *)&c->client, &a, &port) && addr_equal(&a, &wanted);
    return n;
}

/** A free place; without one the connection that is idle longest is closed. */
static unsigned free_place(struct tcp *t)
{
    if (atomic_load_explicit(&t->n_open, memory_order_relaxed) == t->max_clients) {
        count_add(&t->counters.tcp_refused, 1);
        conn_close(t, TAILQ_FIRST(&t->order));
    }
    unsigned place = 0;
    while (t->conns[place])
        place++;
    return place;
}

/** A new connection: its first query has mostly arrived, and is answered before the connection is registered with epoll. */
static void conn_open(struct tcp *t, int fd, const struct sockaddr_storage *client, socklen_t client_len)
{
    unsigned per_client = t->opts.net->tcp_max_per_client;
    if (per_client && conns_of_client(t, client) >= per_client) {
        count_add(&t->counters.tcp_refused, 1);
        close(fd);
        return;
    }
    struct conn *c = mem_new(struct conn);
    c->fd = fd;
    c->place = free_place(t);
    c->id = ++t->next_id;
    c->client = *client;
    c->client_len = client_len;
    c->moved_ms = now_ms();
    c->tls = t->opts.tls ? tls_session_new(t->opts.tls, fd) : NULL;
    t->conns[c->place] = c;
    TAILQ_INSERT_TAIL(&t->order, c, order);
    pthread_mutex_lock(&t->lock);
    t->places[c->place] = (struct place){c->id, 0};
    pthread_mutex_unlock(&t->lock);
    atomic_store_explicit(&t->n_open, atomic_load_explicit(&t->n_open, memory_order_relaxed) + 1,
                          memory_order_relaxed);
    count_add(&t->counters.tcp_accepted, 1);
    conn_turn(t, c, EPOLLIN);
}

/** Descriptors are exhausted but for the reserve: close the longest idle connection. Without any, sleep a little. */
static void make_descriptor(struct tcp *t)
{
    struct timespec pause = {0, 10000000};
    degraded_report(EMFILE, "DNS connections over TCP");
    count_add(&t->counters.tcp_refused, 1);
    if (TAILQ_EMPTY(&t->order))
        nanosleep(&pause, NULL);
    else
        conn_close(t, TAILQ_FIRST(&t->order));
}

/** Accept some connections; open ones are served before the next ones. */
static void accept_some(struct tcp *t, int listener)
{
    for (unsigned n = 0; n < MAX_EVENTS; n++) {
        struct sockaddr_storage client;
        socklen_t len = sizeof client;
        int fd = accept4(listener, (struct sockaddr *)&client, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0 && (errno == EMFILE || errno == ENFILE))
            make_descriptor(t);
        if (fd < 0)
            return;
        if (fdlimit_is_short(fd, 1))
            make_descriptor(t);
        conn_open(t, fd, &client, len);
    }
}

static void deliver(struct tcp *t, const struct reply *r)
{
    struct conn *c = t->conns[r->place];
    if (!c || c->id != r->conn_id)
        return;
    conn_put(c, r->msg, r->len);
    c->reply_len += r->len;
    if (c->n_taken)
        c->n_taken--;
    conn_turn(t, c, 0);
}

static void deliver_all(struct tcp *t)
{
    uint64_t n;
    if (read(t->wake, &n, sizeof n) != sizeof n)
        return;
    struct reply_list replies = STAILQ_HEAD_INITIALIZER(replies);
    pthread_mutex_lock(&t->lock);
    STAILQ_CONCAT(&replies, &t->replies);
    pthread_mutex_unlock(&t->lock);
    struct reply *r;
    while ((r = STAILQ_FIRST(&replies))) {
        STAILQ_REMOVE_HEAD(&replies, next);
        deliver(t, r);
        free(r);
    }
}

static void close_idle(struct tcp *t)
{
    int64_t oldest = now_ms() - t->idle_ms;
    struct conn *c;
    while ((c = TAILQ_FIRST(&t->order)) && c->moved_ms <= oldest) {
        count_add(&t->counters.tcp_timeouts, 1);
        conn_close(t, c);
    }
}

static int wait_ms(const struct tcp *t)
{
    const struct conn *c = TAILQ_FIRST(&t->order);
    if (!c)
        return -1;
    int64_t left = c->moved_ms + t->idle_ms - now_ms();
    return left > 0 ? (int)left : 0;
}

/** Listeners and the wake descriptor have their index as pointer: listeners[i] is i + 1, wake is 0. */
static void handle_event(struct tcp *t, const struct epoll_event *ev)
{
    uintptr_t index = (uintptr_t)ev->data.ptr;
    if (index == 0)
        deliver_all(t);
    else if (index <= t->opts.n_listeners)
        accept_some(t, t->opts.listeners[index - 1]);
    else
        conn_turn(t, ev->data.ptr, ev->events);
}

/** Serve connections before anything that can close another one, so that no event refers to a freed one. */
static void handle_events(struct tcp *t, const struct epoll_event *events, int n)
{
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < n; i++)
            if (((uintptr_t)events[i].data.ptr <= t->opts.n_listeners) == (pass == 1))
                handle_event(t, &events[i]);
}

static void *tcp_run(void *arg)
{
    struct tcp *t = obj_cast(arg, struct tcp, TCP_MAGIC);
    struct epoll_event events[MAX_EVENTS];
    while (!atomic_load_explicit(&t->is_stopping, memory_order_acquire)) {
        int n = epoll_wait(t->epoll, events, MAX_EVENTS, wait_ms(t));
        handle_events(t, events, n);
        close_idle(t);
    }
    while (!TAILQ_EMPTY(&t->order))
        conn_close(t, TAILQ_FIRST(&t->order));
    return NULL;
}

static int watch(const struct tcp *t, int fd, uintptr_t index)
{
    struct epoll_event ev = {.events = EPOLLIN, .data.ptr = (void *)index};
    return epoll_ctl(t->epoll, EPOLL_CTL_ADD, fd, &ev);
}

static void tcp_free(struct tcp *t)
{
    struct reply *r;
    while ((r = STAILQ_FIRST(&t->replies))) {
        STAILQ_REMOVE_HEAD(&t->replies, next);
        free(r);
    }
    if (t->epoll >= 0)
        close(t->epoll);
    if (t->wake >= 0)
        close(t->wake);
    pthread_mutex_destroy(&t->lock);
    free(t->conns);
    free(t->places);
    obj_fini(&t->obj);
    free(t);
}

int tcp_start(const struct tcp_options *opts, struct tcp **out)
{
    struct tcp *t = aligned_alloc(64, (sizeof *t + 63) / 64 * 64);
    BUG_IF(!t);
    memset(t, 0, sizeof *t);
    obj_init(&t->obj, TCP_MAGIC);
    t->opts = *opts;
    t->max_clients = opts->net->tcp_max_clients ? opts->net->tcp_max_clients : DEFAULT_CLIENTS;
    t->idle_ms = opts->net->tcp_idle_ms;
    t->conns = mem_array(t->max_clients, sizeof *t->conns);
    t->places = mem_array(t->max_clients, sizeof *t->places);
    TAILQ_INIT(&t->order);
    STAILQ_INIT(&t->replies);
    pthread_mutex_init(&t->lock, NULL);
    t->epoll = epoll_create1(EPOLL_CLOEXEC);
    t->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    bool is_fine = t->epoll >= 0 && t->wake >= 0 && !watch(t, t->wake, 0);
    for (size_t i = 0; is_fine && i < opts->n_listeners; i++)
        is_fine = !watch(t, opts->listeners[i], i + 1);
    if (!is_fine || pthread_create(&t->thread, NULL, tcp_run, t)) {
        tcp_free(t);
        return ERR_IO;
    }
    *out = t;
    return 0;
}

static void tcp_wake(struct tcp *t)
{
    uint64_t one = 1;
    /* The counter of an eventfd cannot fill up with ones. */
    BUG_IF(write(t->wake, &one, sizeof one) != sizeof one);
}

void tcp_stop(struct tcp *t)
{
    if (!t)
        return;
    atomic_store_explicit(&t->is_stopping, true, memory_order_release);
    tcp_wake(t);
    pthread_join(t->thread, NULL);
    tcp_free(t);
}

const struct counters *tcp_counters(const struct tcp *t)
{
    return &t->counters;
}

uint64_t tcp_n_open(const struct tcp *t)
{
    return atomic_load_explicit(&t->n_open, memory_order_relaxed);
}

int tcp_reply(struct tcp *t, const struct net_peer *peer, const uint8_t *msg, size_t len)
{
    struct reply *r = mem_alloc(sizeof *r + len);
    r->conn_id = peer->conn_id;
    r->place = peer->socket;
    r->len = len;
    memcpy(r->msg, msg, len);
    int code = 0;
    pthread_mutex_lock(&t->lock);
    struct place *p = &t->places[peer->socket];
    if (p->conn_id != peer->conn_id)
        code = ERR_UNAVAILABLE;
    else if (p->queued > REPLY_HIGH)
        code = ERR_LIMIT;
    if (!code) {
        p->queued += len;
        STAILQ_INSERT_TAIL(&t->replies, r, next);
    }
    pthread_mutex_unlock(&t->lock);
    if (code)
        free(r);
    else
        tcp_wake(t);
    return code;
}

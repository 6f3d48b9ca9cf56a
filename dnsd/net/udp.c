#include "net/udp.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/obj.h"
#include "bobbin/error.h"
#include "net/acl.h"
#include "net/rrl.h"
#include "net/secrets.h"
#include "net/socket.h"
#include "net/tapped.h"
#include "wire/rdata.h"

enum {
    BATCH = 32,
    MAX_IN = 2048,
    MAX_OUT = 4096,
    APART = 64,     /* buffers a multiple of a page apart would share a few cache sets */
    OUT_ALIGN = 16, /* responses lie one behind the other: a batch of them fills few lines */
};

#define UDP_WORKER_MAGIC OBJ_MAGIC('U', 'D', 'P', 'W')

struct udp_worker {
    struct obj obj;
    struct udp_options opts;
    pthread_t thread;
    _Atomic bool is_stopping;
    struct counters counters;
    struct rrl *rrl;       /* or NULL: no limit */
    const struct acl *acl; /* in force during the batch, or NULL: all may ask */
    struct mmsghdr in[BATCH], out[BATCH];
    struct iovec in_iov[BATCH], out_iov[BATCH];
    struct sockaddr_storage clients[BATCH];
    _Alignas(16) uint8_t control[BATCH][SOCKET_CONTROL_LEN];
    struct answer answers[BATCH];
    bool is_tapped;   /* queries of the batch are taken for log or dnstap */
    uint64_t read_ns; /* with is_tapped: when they were read */
    unsigned n_used;  /* of in[], by the last batch */
    uint8_t in_bytes[BATCH][MAX_IN + APART];
    uint8_t out_bytes[BATCH * MAX_OUT];
    size_t out_len; /* taken of out_bytes */
};

void count_response(struct counters *c, const struct answer *a)
{
    switch (a->rcode) {
    case DNS_NOERROR: count_add(&c->noerror, 1); break;
    case DNS_FORMERR: count_add(&c->formerr, 1); break;
    case DNS_SERVFAIL: count_add(&c->servfail, 1); break;
    case DNS_NXDOMAIN: count_add(&c->nxdomain, 1); break;
    case DNS_NOTIMP: count_add(&c->notimp, 1); break;
    case DNS_REFUSED: count_add(&c->refused, 1); break;
    default: count_add(&c->other_rcode, 1); break;
    }
    if (a->is_truncated)
        count_add(&c->truncated, 1);
}

/** Sleep until datagrams arrive, and receive up to a batch. @return datagrams; 0: check whether to stop. */
static unsigned receive(struct udp_worker *w)
{
    for (unsigned i = 0; i < w->n_used; i++) {
        struct msghdr *h = &w->in[i].msg_hdr;
        h->msg_namelen = sizeof w->clients[i];
        h->msg_controllen = w->opts.is_wildcard ? SOCKET_CONTROL_LEN : 0;
    }
    int n = recvmmsg(w->opts.fd, w->in, BATCH, MSG_WAITFORONE, NULL);
    /* Errors are of earlier replies (ICMP), or a signal: the next call retries. */
    w->n_used = n > 0 ? (unsigned)n : 0;
    return w->n_used;
}

/** @return 0: handed off; else an error of the taker's: the response is ours. */
static int hand_off(struct udp_worker *w, unsigned i)
{
    const struct net_taker *taker = &w->opts.net->taker;
    struct answer *a = &w->answers[i];
    if (!taker->take)
        return ERR_NOTFOUND;
    struct net_peer peer = {.client = w->clients[i], .client_len = w->in[i].msg_hdr.msg_namelen};
    peer.socket = w->opts.socket;
    peer.has_local = w->opts.is_wildcard && socket_local_address(&w->in[i].msg_hdr, &peer.local);
    secrets_put_cookie(a, &peer);
    return taker->take(taker->owner, a->hand_off, &peer, w->in_bytes[i], w->in[i].msg_len);
}

/** Queue the response to datagram i as the n-th to be sent. */
static void queue(struct udp_worker *w, unsigned i, unsigned n, size_t len)
{
    struct msghdr *h = &w->out[n].msg_hdr;
    w->out_iov[n] = (struct iovec){w->out_bytes + w->out_len, len};
    w->out_len += (len + OUT_ALIGN - 1) / OUT_ALIGN * OUT_ALIGN;
    h->msg_name = &w->clients[i];
    h->msg_namelen = w->in[i].msg_hdr.msg_namelen;
    if (!w->opts.is_wildcard)
        return;
    h->msg_control = w->control[i];
    h->msg_controllen = w->in[i].msg_hdr.msg_controllen;
    socket_turn_control(h);
}

static int64_t now_ms(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
    return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/** Apply the rate limit to the response to datagram i. @return its octets; 0: send nothing. */
static size_t limit(struct udp_worker *w, unsigned i, const struct zone_version *v, size_t len)
{
    struct answer *a = &w->answers[i];
    switch (rrl_judge(w->rrl, &w->clients[i], a, now_ms())) {
    case RRL_DROP: count_add(&w->counters.rrl_dropped, 1); return 0;
    case RRL_EMPTY:
        count_add(&w->counters.rrl_emptied, 1);
        return answer_write_empty(a, v, &w->opts.net->answer, w->out_bytes + w->out_len, MAX_OUT);
    default: return len;
    }
}

static size_t write_prohibited(struct udp_worker *w, unsigned i, const struct zone_version *v)
{
    return answer_write_prohibited(&w->answers[i], v, &w->opts.net->answer, w->out_bytes + w->out_len,
                                   MAX_OUT);
}

/** Write the response to datagram i for a client of the access list, REFUSED for another. @return its octets; 0: none. */
static size_t write_answer(struct udp_worker *w, unsigned i, const struct zone_version *v)
{
    struct answer *a = &w->answers[i];
    if (answer_wants_client(a))
        secrets_fill_client(w->opts.secrets, &w->clients[i], a);
    if (w->acl && !acl_allows(w->acl, &w->clients[i], &a->q)) {
        count_add(&w->counters.acl_refused, 1);
        return write_prohibited(w, i, v);
    }
    struct acl_guard guard;
    a->guard = acl_guard(w->acl, &w->clients[i], &guard);
    size_t len = answer_write(a, v, &w->opts.net->answer, w->out_bytes + w->out_len, MAX_OUT);
    a->guard = NULL;
    return len;
}

/** Hand the query of datagram i off. @param len octets of our own response. @return octets of the response to send; 0: it is handed off. */
static size_t hand_off_or_keep(struct udp_worker *w, unsigned i, const struct zone_version *v, size_t len)
{
    struct answer *a = &w->answers[i];
    int err = hand_off(w, i);
    if (!err) {
        count_add(&w->counters.handed_off, 1);
        return 0;
    }
    if (net_is_prohibited(a, err))
        len = write_prohibited(w, i, v);
    a->hand_off = ANSWER_HERE;
    return len;
}

/** Write the response to datagram i, or hand the query off. @return its octets; 0: send nothing. */
static size_t answer_one(struct udp_worker *w, unsigned i, const struct zone_version *v)
{
    struct answer *a = &w->answers[i];
    size_t len = write_answer(w, i, v);
    if (!len) {
        count_add(&w->counters.dropped, 1);
        return 0;
    }
    if (a->hand_off != ANSWER_HERE && !(len = hand_off_or_keep(w, i, v, len)))
        return 0;
    if (w->rrl)
        len = limit(w, i, v, len);
    if (len)
        count_response(&w->counters, a);
    return len;
}

/** Take datagram i and its response, which is not queued yet, for log and dnstap. */
static void tap_one(struct udp_worker *w, unsigned i, size_t len)
{
    struct tapped t = {&w->answers[i], &w->clients[i], w->in[i].msg_len, w->read_ns};
    tapped_answer(w->opts.tap, &t, w->out_bytes + w->out_len, len);
}

/** Run each fetch step over the whole batch; a query drops out when it has nothing more to fetch. */
static void fetch_batch(struct udp_worker *w, unsigned n, const struct zone_version *v)
{
    uint8_t left[BATCH];
    unsigned n_left = n;
    for (unsigned i = 0; i < n; i++)
        left[i] = (uint8_t)i;
    for (unsigned step = 0; n_left; step++) {
        unsigned n_before = n_left;
        n_left = 0;
        for (unsigned i = 0; i < n_before; i++)
            if (answer_fetch(&w->answers[left[i]], v, step))
                left[n_left++] = left[i];
    }
}

/** Answer a batch from one version. @return responses queued. */
static unsigned answer_batch(struct udp_worker *w, unsigned n)
{
    const struct zone_version *v = epoch_enter(w->opts.cell, w->opts.net->zones);
    unsigned n_out = 0;
    w->out_len = 0;
    w->acl = acls_current(w->opts.acls);
    w->is_tapped = tap_is_on(w->opts.tap);
    w->read_ns = w->is_tapped ? tap_now_ns() : 0;
    for (unsigned i = 0; i < n; i++)
        answer_read(&w->answers[i], w->in_bytes[i], w->in[i].msg_len, false, v);
    fetch_batch(w, n, v);
    for (unsigned i = 0; i < n; i++) {
        size_t len = answer_one(w, i, v);
        if (w->is_tapped)
            tap_one(w, i, len);
        if (len)
            queue(w, i, n_out++, len);
    }
    epoch_leave(w->opts.cell);
    count_add(&w->counters.udp_queries, n);
    return n_out;
}

/** Send the queue. A response that the kernel refuses (no route, filter) is counted and skipped. */
static void send_batch(struct udp_worker *w, unsigned n)
{
    unsigned at = 0;
    while (at < n) {
        int sent = sendmmsg(w->opts.fd, w->out + at, n - at, 0);
        if (sent > 0) {
            at += (unsigned)sent;
        } else if (errno != EINTR) {
            count_add(&w->counters.send_failed, 1);
            at++;
        }
    }
}

static void *worker_run(void *arg)
{
    struct udp_worker *w = obj_cast(arg, struct udp_worker, UDP_WORKER_MAGIC);
    for (;;) {
        unsigned n = receive(w);
        if (atomic_load_explicit(&w->is_stopping, memory_order_acquire))
            return NULL;
        if (n)
            send_batch(w, answer_batch(w, n));
    }
}

static void batch_init(struct udp_worker *w)
{
    w->n_used = BATCH;
    for (unsigned i = 0; i < BATCH; i++) {
        w->in_iov[i] = (struct iovec){w->in_bytes[i], MAX_IN};
        w->in[i].msg_hdr = (struct msghdr){
            .msg_name = &w->clients[i],
            .msg_iov = &w->in_iov[i],
            .msg_iovlen = 1,
            .msg_control = w->opts.is_wildcard ? w->control[i] : NULL,
        };
        w->out[i].msg_hdr = (struct msghdr){.msg_iov = &w->out_iov[i], .msg_iovlen = 1};
    }
}

int udp_worker_start(const struct udp_options *opts, struct udp_worker **out)
{
    struct udp_worker *w = aligned_alloc(64, (sizeof *w + 63) / 64 * 64);
    BUG_IF(!w);
    memset(w, 0, sizeof *w);
    obj_init(&w->obj, UDP_WORKER_MAGIC);
    w->opts = *opts;
    w->rrl = rrl_new(&opts->net->rrl);
    batch_init(w);
    if (pthread_create(&w->thread, NULL, worker_run, w)) {
        close(opts->fd);
        rrl_free(w->rrl);
        free(w);
        return ERR_IO;
    }
    *out = w;
    return 0;
}

void udp_worker_stop(struct udp_worker *w)
{
    if (!w)
        return;
    atomic_store_explicit(&w->is_stopping, true, memory_order_release);
    /* Wakes recvmmsg. ENOTCONN of an unconnected socket is no error here. */
    shutdown(w->opts.fd, SHUT_RDWR);
    pthread_join(w->thread, NULL);
    close(w->opts.fd);
    rrl_free(w->rrl);
    obj_fini(&w->obj);
    free(w);
}

const struct counters *udp_worker_counters(const struct udp_worker *w)
{
    return &w->counters;
}

int udp_worker_reply(struct udp_worker *w, const struct net_peer *peer, const uint8_t *msg, size_t len)
{
    _Alignas(16) uint8_t control[SOCKET_CONTROL_LEN];
    struct net_peer to = *peer;
    struct iovec iov = {(void *)(uintptr_t)msg, len};
    struct msghdr h = {
        .msg_name = &to.client, .msg_namelen = to.client_len, .msg_iov = &iov, .msg_iovlen = 1};
    if (to.has_local)
        socket_put_local(&h, to.client.ss_family, &to.local, control);
    return sendmsg(w->opts.fd, &h, 0) == (ssize_t)len ? 0 : ERR_IO;
}

#include "forward/forward.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/random.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/obj.h"
#include "bobbin/error.h"
#include "forward/cache.h"
#include "forward/events.h"
#include "forward/exchange.h"
#include "forward/presence.h"
#include "forward/relay.h"
#include "run/loop.h"
#include "wire/rdata.h"

#define FORWARD_MAGIC  OBJ_MAGIC('F', 'W', 'R', 'D')
#define CLIENT_MAGIC   OBJ_MAGIC('F', 'C', 'L', 'I')
#define INFLIGHT_MAGIC OBJ_MAGIC('F', 'I', 'F', 'L')

/** Turns of upstreams for one query: with the default time-out a client that waits 5 s still gets an answer. */
enum { MAX_TURNS = 3, FLAG_CD = 0x0010 };

/** A client's query, and where its response goes. */
struct client {
    struct obj obj;
    STAILQ_ENTRY(client) next;
    struct forward *forward;
    struct net_peer peer;
    bool is_inside; /* the name is in a zone of ours, which does not hold it */
    struct query query;
    size_t len;
    uint8_t msg[];
};

/** A query in flight to an upstream, and the clients that wait for its answer. */
struct inflight {
    struct obj obj;
    struct forward *forward;
    char *key;
    STAILQ_HEAD(client_list, client) clients;
    uint8_t query[RELAY_QUERY_MAX];
    size_t query_len;
    unsigned tried;  /* bit i: upstream i was asked and has no other turn yet */
    unsigned silent; /* bit i: of them, upstream i said nothing */
    unsigned n_turns;
    int upstream;        /* the one whose turn it is, asked in the manner of the next four */
    unsigned n_repeated; /* datagrams of this turn after the first */
    int64_t turn_end_ms;
    bool is_tcp;
    bool is_plain;       /* without EDNS */
    bool takes_any_case; /* and is in lower case */
    bool is_doubted;     /* a stray had only the case wrong */
    int64_t sent_ms;
    struct exchange *exchange;
    struct relay_msg *refusal; /* last answer with another rcode than those that end the query, or NULL */
    int ede;                   /* why the last upstream did not answer */
};

struct counters {
#define COUNTERS_FIELD(field, name, help) _Atomic uint64_t field;
    FORWARD_COUNTERS(COUNTERS_FIELD)
#undef COUNTERS_FIELD
    _Atomic uint64_t under_way, cache_bytes, failing;
    _Atomic int64_t rtt_ms[UPSTREAMS_MAX];
    _Atomic unsigned n_failed[UPSTREAMS_MAX];
};

struct forward {
    struct obj obj;
    struct forward_options opts;
    struct run_loop *loop;
    pthread_t thread;
    struct net *_Atomic net; /* NULL: queries are refused */
    /* The same until forward_stop has returned; set before the first query. */
    struct net *reply_net;
    struct counters counters;
    /* Of the forwarder's thread: */
    bool is_stopping;
    struct map inflight; /* key -> struct inflight */
    struct cache *cache;
    struct upstreams upstreams;
    struct presence *presence;
    uint8_t out[RELAY_RESPONSE_MAX];
};

static void count(_Atomic uint64_t *counter)
{
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

/* ---- any thread: accept a query ---- */

static bool is_allowed(const struct forward *f, const struct net_peer *peer)
{
    struct addr addr;
    uint16_t port;
    return !addr_from_sockaddr((const struct sockaddr *)&peer->client, &addr, &port) &&
           networks_hold(&f->opts.clients, &addr);
}

static struct relay_client relay_client_of(const struct forward *f, const struct net_peer *peer,
                                           const struct query *q, const uint8_t *msg)
{
    return (struct relay_client){.query = q,
                                 .msg = msg,
                                 .cookie = peer->has_cookie ? peer->cookie : NULL,
                                 .nsid = f->opts.nsid,
                                 .nsid_len = f->opts.nsid_len,
                                 .keepalive_100ms = f->opts.keepalive_100ms,
                                 .is_tcp = peer->is_tcp,
                                 .is_tls = peer->is_tls,
                                 .udp_max = f->opts.udp_max,
                                 .ttl_most_s = UINT32_MAX};
}

/** Answers SERVFAIL on the worker's thread, because max-under-way queries are in flight. */
static void turn_away(struct forward *f, struct net *net, const struct net_peer *peer, const uint8_t *msg,
                      size_t len)
{
    struct query q;
    uint8_t out[RELAY_FAILURE_MAX], query[RELAY_QUERY_MAX];
    count(&f->counters.overloaded);
    query_read(msg, len, &q);
    BUG_IF(q.verdict != QUERY_OK || !q.has_question); /* answer_write hands off no other */
    struct relay_client client = relay_client_of(f, peer, &q, msg);
    size_t query_len = relay_make_query(&q, msg, query);
    mem_auto struct relay_msg *failure = relay_failure(query, query_len, DNS_EDE_NONE);
    if (net_reply(net, peer, out, relay_write(failure, &client, out)))
        count(&f->counters.reply_failed);
}

static void on_query(void *arg);

/** Is the name at or below a zone whose missing names are forwarded? */
static bool falls_through(const struct forward *f, const uint8_t *msg, size_t len)
{
    struct query q;
    if (!f->opts.n_fall_through)
        return true;
    query_read(msg, len, &q);
    for (size_t i = 0; i < f->opts.n_fall_through; i++)
        if (name_is_within(q.name.lower, f->opts.fall_through[i]))
            return true;
    return false;
}

int forward_take(void *owner, enum answer_hand_off what, const struct net_peer *peer, const uint8_t *msg,
                 size_t len)
{
    struct forward *f = obj_cast(owner, struct forward, FORWARD_MAGIC);
    if (what != ANSWER_FORWARD && (what != ANSWER_FALL_THROUGH || !falls_through(f, msg, len)))
        return ERR_NOTFOUND;
    struct net *net = atomic_load_explicit(&f->net, memory_order_acquire);
    if (!net)
        return ERR_UNAVAILABLE;
    if (!is_allowed(f, peer)) {
        count(&f->counters.not_allowed);
        return ERR_PERMISSION;
    }
    count(&f->counters.queries);
    if (atomic_fetch_add(&f->counters.under_way, 1) >= f->opts.max_under_way) {
        atomic_fetch_sub(&f->counters.under_way, 1);
        turn_away(f, net, peer, msg, len);
        return 0;
    }
    struct client *c = mem_zalloc(sizeof *c + len);
    obj_init(&c->obj, CLIENT_MAGIC);
    c->forward = f;
    c->peer = *peer;
    c->is_inside = what == ANSWER_FALL_THROUGH;
    c->len = len;
    memcpy(c->msg, msg, len);
    run_post(f->loop, on_query, c);
    return 0;
}

/* ---- the forwarder's thread: responses ---- */

static void client_free(struct client *c)
{
    atomic_fetch_sub(&c->forward->counters.under_way, 1);
    obj_fini(&c->obj);
    free(c);
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/** Longest TTL of a response, and of the answer in the cache. */
static uint32_t ttl_most_s(const struct forward *f, const struct client *c, const struct relay_msg *m)
{
    if (!m->is_negative)
        return f->opts.ttl_most_s;
    uint32_t most_s = least(f->opts.ttl_most_s, f->opts.ttl_most_negative_s);
    return c->is_inside ? least(most_s, f->opts.negative_ttl_s) : most_s;
}

/** Write the response of a client whose answer leads into our zones. @return octets; 0: it does not. */
static size_t continue_answer(struct forward *f, const struct client *c, const struct relay_msg *m,
                              const struct relay_client *client)
{
    uint8_t names[ANSWER_LINKS_MAX][NAME_MAX_LEN];
    struct answer_links links;
    if (!relay_links(m, client, names, &links))
        return 0;
    size_t len = net_continue(f->reply_net, &c->peer, c->msg, c->len, &links, f->out);
    if (len)
        count(&f->counters.continued);
    return len;
}

static void client_answer(struct client *c, const struct relay_msg *m, uint32_t age_s)
{
    struct forward *f = c->forward;
    struct relay_client client = relay_client_of(f, &c->peer, &c->query, c->msg);
    client.age_s = age_s;
    client.ttl_most_s = ttl_most_s(f, c, m);
    size_t len = continue_answer(f, c, m, &client);
    len = len ? len : relay_write(m, &client, f->out);
    if (net_reply(f->reply_net, &c->peer, f->out, len))
        count(&f->counters.reply_failed);
    client_free(c);
}

static void inflight_free(struct inflight *q)
{
    struct client *c;
    exchange_cancel(q->exchange);
    while ((c = STAILQ_FIRST(&q->clients))) {
        STAILQ_REMOVE_HEAD(&q->clients, next);
        client_free(c);
    }
    map_remove(&q->forward->inflight, q->key);
    free(q->key);
    free(q->refusal);
    obj_fini(&q->obj);
    free(q);
}

/** Respond to all clients and put the answer into the cache. */
static void inflight_finish(struct inflight *q, struct relay_msg *take_msg)
{
    struct forward *f = q->forward;
    struct client *c;
    while ((c = STAILQ_FIRST(&q->clients))) {
        STAILQ_REMOVE_HEAD(&q->clients, next);
        take_msg->ttl_s = least(take_msg->ttl_s, ttl_most_s(f, c, take_msg));
        client_answer(c, take_msg, 0);
    }
    cache_put(f->cache, q->key, take_msg, run_now_ms());
    atomic_store_explicit(&f->counters.cache_bytes, cache_bytes(f->cache), memory_order_relaxed);
    inflight_free(q);
}

static void on_done(void *arg, int err, const uint8_t *msg, size_t len);

static void on_stray(void *arg)
{
    struct inflight *q = obj_cast(arg, struct inflight, INFLIGHT_MAGIC);
    count(&q->forward->counters.strays);
}

static void count_sent(struct inflight *q)
{
    struct counters *c = &q->forward->counters;
    count(&c->sent);
    if (q->is_tcp)
        count(&c->sent_tcp);
    if (q->is_plain)
        count(&c->sent_plain);
}

/** Send the query to its upstream, with an unpredictable id and case. */
static void inflight_send(struct inflight *q)
{
    struct forward *f = q->forward;
    uint8_t random[2 + RELAY_CASE_LEN];
    BUG_IF(getrandom(random, sizeof random, 0) != sizeof random);
    relay_set_id(q->query, wire_get16(random));
    relay_set_case(q->query, q->takes_any_case ? NULL : random + 2);
    q->query_len = relay_set_edns(q->query, !q->is_plain);
    q->sent_ms = run_now_ms();
    count_sent(q);
    int64_t left_ms = q->turn_end_ms - q->sent_ms;
    const struct upstream *to = &f->upstreams.items[q->upstream];
    struct exchange_def def = {
        .loop = f->loop,
        .to = to,
        .query = q->query,
        .query_len = q->query_len,
        .timeout_ms = q->is_tcp ? f->opts.timeout_ms
                                : upstream_patience_ms(to, f->opts.timeout_ms, q->n_repeated, left_ms),
        .is_tcp = q->is_tcp,
        .takes_any_case = q->takes_any_case,
        .stray = on_stray,
        .done = on_done,
        .arg = q};
    q->exchange = exchange_start(&def);
}

/** A turn of the upstream, or the rest of one in another manner. */
static void begin_turn(struct inflight *q)
{
    q->n_repeated = 0;
    q->turn_end_ms = run_now_ms() + q->forward->opts.timeout_ms;
    inflight_send(q);
}

/** The upstream whose turn is next: one that was not asked, else one that said nothing. @return -1: none. */
static int pick_next(struct inflight *q, int64_t now_ms)
{
    if (q->n_turns == MAX_TURNS)
        return -1;
    int next = upstreams_pick(&q->forward->upstreams, q->tried, now_ms);
    if (next >= 0 || !q->silent)
        return next;
    q->tried &= ~q->silent;
    q->silent = 0;
    return upstreams_pick(&q->forward->upstreams, q->tried, now_ms);
}

/** No upstream has answered the query, and none its own last one: report that. */
static void report_missing(const struct inflight *q, int64_t now_ms)
{
    const struct forward *f = q->forward;
    struct err_info why;
    if (upstreams_n_failing(&f->upstreams) < f->upstreams.n_items)
        return;
    if (q->ede == DNS_EDE_NO_REACHABLE_AUTHORITY)
        err_set(&why, ERR_TIMEOUT, NULL, "no server answers within %u ms", f->opts.timeout_ms);
    else
        err_set(&why, ERR_UNAVAILABLE, NULL, "no server can be reached, or what it sends is malformed");
    presence_missing(f->presence, &why, now_ms);
}

/** Send to the next upstream; with none left, respond with the last refusal, or SERVFAIL. */
static void inflight_next(struct inflight *q)
{
    struct forward *f = q->forward;
    int64_t now_ms = run_now_ms();
    int next = pick_next(q, now_ms);
    if (next >= 0) {
        q->upstream = next;
        q->tried |= 1u << next;
        q->n_turns++;
        q->is_tcp = q->is_doubted = false;
        q->is_plain = upstreams_lack(&f->upstreams, next, UPSTREAM_LACKS_EDNS, now_ms);
        q->takes_any_case = upstreams_lack(&f->upstreams, next, UPSTREAM_LACKS_CASE, now_ms);
        begin_turn(q);
        return;
    }
    struct relay_msg *m = q->refusal;
    q->refusal = NULL;
    count(&f->counters.failures);
    if (!m)
        report_missing(q, now_ms);
    inflight_finish(q, m ? m : relay_failure(q->query, q->query_len, q->ede));
}

static void log_upstream(const struct log_event *event, const struct upstream *s)
{
    struct addr addr;
    uint16_t port;
    char text[ADDR_TEXT_MAX];
    BUG_IF(addr_from_sockaddr((const struct sockaddr *)&s->sa, &addr, &port));
    log_emit(event, LOG_STR("address", addr_text(&addr, text)), LOG_INT("port", port));
}

/** Remember what the upstream cannot do, and log it when it is new. */
static void inflight_lacks(struct inflight *q, enum upstream_lack lack, const struct log_event *event)
{
    struct forward *f = q->forward;
    int64_t now_ms = run_now_ms();
    if (upstreams_lack(&f->upstreams, q->upstream, lack, now_ms))
        return;
    log_upstream(event, &f->upstreams.items[q->upstream]);
    upstreams_note(&f->upstreams, q->upstream, lack, now_ms);
}

/** Publish the state of an upstream to other threads. */
static void publish_upstream(struct forward *f, int i)
{
    struct counters *c = &f->counters;
    atomic_store_explicit(&c->rtt_ms[i], f->upstreams.items[i].rtt_ms, memory_order_relaxed);
    atomic_store_explicit(&c->n_failed[i], f->upstreams.items[i].n_failed, memory_order_relaxed);
    atomic_store_explicit(&c->failing, upstreams_n_failing(&f->upstreams), memory_order_relaxed);
}

/** The upstream did not answer: count it and try the next. */
static void inflight_failed(struct inflight *q, int err)
{
    struct forward *f = q->forward;
    bool is_late = err == ERR_TIMEOUT;
    count(is_late ? &f->counters.timeouts : &f->counters.errors);
    if (is_late)
        q->silent |= 1u << q->upstream;
    q->ede = is_late ? DNS_EDE_NO_REACHABLE_AUTHORITY : DNS_EDE_NETWORK_ERROR;
    if (upstreams_failed(&f->upstreams, q->upstream, run_now_ms()))
        log_upstream(&ev_forward_upstream_failed, &f->upstreams.items[q->upstream]);
    publish_upstream(f, q->upstream);
    inflight_next(q);
}

/** The upstream answered. NOERROR, NXDOMAIN and YXDOMAIN end the query; with another rcode the next upstream is asked. */
static void inflight_answered(struct inflight *q, struct relay_msg *take_msg)
{
    struct forward *f = q->forward;
    int64_t now_ms = run_now_ms();
    int64_t rtt_ms = q->is_tcp ? -1 : now_ms - q->sent_ms;
    if (upstreams_worked(&f->upstreams, q->upstream, rtt_ms, now_ms))
        log_upstream(&ev_forward_upstream_back, &f->upstreams.items[q->upstream]);
    presence_reached(f->presence, now_ms);
    publish_upstream(f, q->upstream);
    if (take_msg->rcode == DNS_NOERROR || take_msg->rcode == DNS_NXDOMAIN ||
        take_msg->rcode == DNS_YXDOMAIN) {
        inflight_finish(q, take_msg);
        return;
    }
    free(q->refusal);
    q->refusal = take_msg;
    inflight_next(q);
}

/** Nothing came, and the upstream's turn is not over: the datagram may be lost. @return false: it is over. */
static bool inflight_repeat(struct inflight *q, int err)
{
    if (err != ERR_TIMEOUT || q->is_tcp || run_now_ms() >= q->turn_end_ms)
        return false;
    q->n_repeated++;
    count(&q->forward->counters.repeated);
    inflight_send(q);
    return true;
}

/** After an unusable answer: send to the same upstream over TCP or in lower case. @return false: both were tried. */
static bool inflight_send_otherwise(struct inflight *q, int err)
{
    bool is_doubt = err == ERR_CONFLICT || err == ERR_LIMIT;
    if (q->is_tcp && q->is_doubted) { /* an upstream without TCP that changes case */
        q->is_doubted = q->is_tcp = false;
        q->takes_any_case = true;
        begin_turn(q);
        return true;
    }
    if (q->is_tcp || (err != ERR_TOOBIG && !is_doubt))
        return false;
    if (is_doubt)
        count(&q->forward->counters.doubts);
    q->is_doubted = err == ERR_CONFLICT;
    q->is_tcp = true;
    begin_turn(q);
    return true;
}

/** Learn from an answer what the upstream cannot do. @return true: the query was sent again, without EDNS. */
static bool inflight_learn(struct inflight *q, const uint8_t *msg, size_t len, const struct relay_msg *m)
{
    bool is_lost = m->rcode == DNS_FORMERR || m->rcode == DNS_NOTIMP;
    if (q->takes_any_case || relay_match(q->query, q->query_len, msg, len) == RELAY_OTHER_CASE)
        inflight_lacks(q, UPSTREAM_LACKS_CASE, &ev_forward_upstream_case);
    if (q->is_plain && !is_lost)
        inflight_lacks(q, UPSTREAM_LACKS_EDNS, &ev_forward_upstream_plain);
    if (q->is_plain || !is_lost)
        return false;
    q->is_plain = true;
    q->is_tcp = false;
    begin_turn(q);
    return true;
}

static void on_done(void *arg, int err, const uint8_t *msg, size_t len)
{
    struct inflight *q = obj_cast(arg, struct inflight, INFLIGHT_MAGIC);
    struct relay_msg *m = NULL;
    q->exchange = NULL;
    if (!err)
        err = relay_read(q->query, q->query_len, msg, len, &m);
    if (err) {
        if (!inflight_repeat(q, err) && !inflight_send_otherwise(q, err))
            inflight_failed(q, err);
        return;
    }
    if (inflight_learn(q, msg, len, m))
        free(m);
    else
        inflight_answered(q, m);
}

static struct inflight *inflight_new(struct forward *f, const struct client *c, const char *key)
{
    struct inflight *q = mem_new(struct inflight);
    obj_init(&q->obj, INFLIGHT_MAGIC);
    q->forward = f;
    q->key = mem_str(key);
    STAILQ_INIT(&q->clients);
    q->query_len = relay_make_query(&c->query, c->msg, q->query);
    map_set(&f->inflight, key, q);
    return q;
}

/** Key of the cache: all that an answer depends on. */
static char *key_of(const struct query *q)
{
    char name[NAME_TEXT_MAX];
    return mem_fmt("%s %u %u %d %d", name_to_text(q->name.lower, name), q->qtype, q->qclass, q->wants_dnssec,
                   (q->flags & FLAG_CD) != 0);
}

static void on_query(void *arg)
{
    struct client *c = obj_cast(arg, struct client, CLIENT_MAGIC);
    struct forward *f = c->forward;
    uint32_t age_s;
    if (f->is_stopping) {
        client_free(c);
        return;
    }
    query_read(c->msg, c->len, &c->query);
    BUG_IF(c->query.verdict != QUERY_OK || !c->query.has_question); /* answer_write hands off no other */
    mem_auto char *key = key_of(&c->query);
    const struct relay_msg *cached = cache_get(f->cache, key, run_now_ms(), &age_s);
    if (cached) {
        count(&f->counters.cache_hits);
        client_answer(c, cached, age_s);
        return;
    }
    struct inflight *q = map_get(&f->inflight, key);
    bool is_new = !q;
    if (is_new)
        q = inflight_new(f, c, key);
    else
        count(&f->counters.joined);
    STAILQ_INSERT_TAIL(&q->clients, c, next);
    if (is_new)
        inflight_next(q);
}

/* ---- start and stop ---- */

static void *thread_run(void *arg)
{
    struct forward *f = obj_cast(arg, struct forward, FORWARD_MAGIC);
    run_loop_run(f->loop);
    return NULL;
}

int forward_new(const struct forward_options *opts, struct forward **out, struct err_info *why)
{
    BUG_IF(!opts->upstreams.n_items);
    struct forward *f = mem_new(struct forward);
    obj_init(&f->obj, FORWARD_MAGIC);
    f->opts = *opts;
    f->upstreams = opts->upstreams;
    for (size_t i = 0; i < f->upstreams.n_items; i++)
        f->counters.rtt_ms[i] = f->upstreams.items[i].rtt_ms;
    f->inflight = MAP_EMPTY;
    f->cache = cache_new(opts->cache_bytes);
    f->presence = presence_new(&opts->upstreams, opts->owner, opts->outage);
    f->loop = run_loop_new();
    if (pthread_create(&f->thread, NULL, thread_run, f)) {
        forward_free(f);
        return err_set(why, ERR_IO, "forward", "no thread can be started");
    }
    *out = f;
    return 0;
}

void forward_use(struct forward *f, struct net *n)
{
    f->reply_net = n;
    atomic_store_explicit(&f->net, n, memory_order_release);
}

static void on_stop(void *arg)
{
    struct forward *f = obj_cast(arg, struct forward, FORWARD_MAGIC);
    f->is_stopping = true;
    for (MAP_EACH (&f->inflight, slot))
        inflight_free(slot->value);
    run_loop_stop(f->loop);
}

void forward_stop(struct forward *f)
{
    if (!f)
        return;
    atomic_store_explicit(&f->net, NULL, memory_order_release);
    run_post(f->loop, on_stop, f);
    pthread_join(f->thread, NULL);
}

void forward_free(struct forward *f)
{
    if (!f)
        return;
    run_loop_free(f->loop); /* delivers queries that were posted since; on_query drops them */
    cache_free(f->cache);
    presence_free(f->presence);
    map_fini(&f->inflight, NULL);
    obj_fini(&f->obj);
    free(f);
}

void forward_counts_read(const struct forward *f, struct forward_counts *out)
{
#define READ(field, name, help) out->field = atomic_load_explicit(&f->counters.field, memory_order_relaxed);
    FORWARD_COUNTERS(READ)
#undef READ
    out->under_way = atomic_load_explicit(&f->counters.under_way, memory_order_relaxed);
    out->cache_bytes = atomic_load_explicit(&f->counters.cache_bytes, memory_order_relaxed);
    out->failing = atomic_load_explicit(&f->counters.failing, memory_order_relaxed);
}

size_t forward_upstreams_read(const struct forward *f, struct forward_upstream out[UPSTREAMS_MAX])
{
    for (size_t i = 0; i < f->opts.upstreams.n_items; i++)
        out[i] = (struct forward_upstream){
            .at = &f->opts.upstreams.items[i],
            .rtt_ms = atomic_load_explicit(&f->counters.rtt_ms[i], memory_order_relaxed),
            .n_failed = atomic_load_explicit(&f->counters.n_failed[i], memory_order_relaxed)};
    return f->opts.upstreams.n_items;
}

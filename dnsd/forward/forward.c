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
#include "forward/relay.h"
#include "run/loop.h"
#include "wire/rdata.h"

#define FORWARD_MAGIC OBJ_MAGIC('F', 'W', 'R', 'D')
#define WAITER_MAGIC  OBJ_MAGIC('W', 'A', 'I', 'T')
#define JOB_MAGIC     OBJ_MAGIC('F', 'J', 'O', 'B')

/** Upstreams asked for one question: with the default time-out a client that waits 5 s still gets an answer. */
enum { MAX_TRIES = 3, FLAG_CD = 0x0010 };

/** A client's query, and where its answer goes. */
struct waiter {
    struct obj obj;
    STAILQ_ENTRY(waiter) next;
    struct forward *forward;
    struct net_peer peer;
    bool is_inside; /* the name is in a zone of ours, which does not hold it */
    struct query query;
    size_t len;
    uint8_t msg[];
};

/** A question on its way, and who waits for the answer. */
struct job {
    struct obj obj;
    struct forward *forward;
    char *key;
    STAILQ_HEAD(waiter_list, waiter) waiters;
    uint8_t query[RELAY_QUERY_MAX];
    size_t query_len;
    unsigned tried; /* bit i: upstream i was asked */
    unsigned n_tries;
    int upstream; /* asked now: */
    bool is_tcp;
    bool is_plain;       /* without EDNS */
    bool takes_any_case; /* and is in lower case */
    bool is_doubted;     /* a stray had only the case wrong */
    int64_t sent_ms;
    struct exchange *exchange;
    struct relay_msg *refusal; /* last answer that was no help, or NULL */
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
    struct net *_Atomic net; /* NULL: nothing is taken */
    struct net *reply_net; /* the same, until forward_stop is through; set before the first query is taken */
    struct counters counters;
    /* Of the own thread: */
    bool is_stopping;
    struct map jobs; /* key -> struct job */
    struct cache *cache;
    struct upstreams upstreams;
    uint8_t out[RELAY_RESPONSE_MAX];
};

static void count(_Atomic uint64_t *counter)
{
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

/* ---- any thread: taking ---- */

static bool is_allowed(const struct forward *f, const struct net_peer *peer)
{
    struct addr addr;
    uint16_t port;
    return !addr_from_sockaddr((const struct sockaddr *)&peer->client, &addr, &port) &&
           networks_hold(&f->opts.clients, &addr);
}

static struct relay_client client_of(const struct forward *f, const struct net_peer *peer,
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

/** Too much is under way: SERVFAIL now, on the worker's thread. */
static void turn_away(struct forward *f, struct net *net, const struct net_peer *peer, const uint8_t *msg,
                      size_t len)
{
    struct query q;
    uint8_t out[RELAY_FAILURE_MAX], query[RELAY_QUERY_MAX];
    count(&f->counters.overloaded);
    query_read(msg, len, &q);
    BUG_IF(q.verdict != QUERY_OK || !q.has_question); /* else it were not handed off */
    struct relay_client client = client_of(f, peer, &q, msg);
    size_t query_len = relay_make_query(&q, msg, query);
    mem_auto struct relay_msg *failure = relay_failure(query, query_len, DNS_EDE_NONE);
    if (net_reply(net, peer, out, relay_write(failure, &client, out)))
        count(&f->counters.reply_failed);
}

static void on_query(void *arg);

/** Is falling through wanted for this name? */
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
    struct waiter *w = mem_zalloc(sizeof *w + len);
    obj_init(&w->obj, WAITER_MAGIC);
    w->forward = f;
    w->peer = *peer;
    w->is_inside = what == ANSWER_FALL_THROUGH;
    w->len = len;
    memcpy(w->msg, msg, len);
    run_post(f->loop, on_query, w);
    return 0;
}

/* ---- own thread: answering ---- */

static void waiter_free(struct waiter *w)
{
    atomic_fetch_sub(&w->forward->counters.under_way, 1);
    obj_fini(&w->obj);
    free(w);
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/** How long a client may keep an answer, and we for it. */
static uint32_t ttl_most_s(const struct forward *f, const struct waiter *w, const struct relay_msg *m)
{
    if (!m->is_negative)
        return f->opts.ttl_most_s;
    uint32_t most_s = least(f->opts.ttl_most_s, f->opts.ttl_most_negative_s);
    return w->is_inside ? least(most_s, f->opts.negative_ttl_s) : most_s;
}

static void waiter_answer(struct waiter *w, const struct relay_msg *m, uint32_t age_s)
{
    struct forward *f = w->forward;
    struct relay_client client = client_of(f, &w->peer, &w->query, w->msg);
    client.age_s = age_s;
    client.ttl_most_s = ttl_most_s(f, w, m);
    size_t len = relay_write(m, &client, f->out);
    if (net_reply(f->reply_net, &w->peer, f->out, len))
        count(&f->counters.reply_failed);
    waiter_free(w);
}

static void job_free(struct job *job)
{
    struct waiter *w;
    exchange_cancel(job->exchange);
    while ((w = STAILQ_FIRST(&job->waiters))) {
        STAILQ_REMOVE_HEAD(&job->waiters, next);
        waiter_free(w);
    }
    map_remove(&job->forward->jobs, job->key);
    free(job->key);
    free(job->refusal);
    obj_fini(&job->obj);
    free(job);
}

/** Everybody who waits gets the answer; it is kept. */
static void job_finish(struct job *job, struct relay_msg *take_msg)
{
    struct forward *f = job->forward;
    struct waiter *w;
    while ((w = STAILQ_FIRST(&job->waiters))) {
        STAILQ_REMOVE_HEAD(&job->waiters, next);
        take_msg->ttl_s = least(take_msg->ttl_s, ttl_most_s(f, w, take_msg));
        waiter_answer(w, take_msg, 0);
    }
    cache_put(f->cache, job->key, take_msg, run_now_ms());
    atomic_store_explicit(&f->counters.cache_bytes, cache_bytes(f->cache), memory_order_relaxed);
    job_free(job);
}

static void on_done(void *arg, int err, const uint8_t *msg, size_t len);

static void on_stray(void *arg)
{
    struct job *job = obj_cast(arg, struct job, JOB_MAGIC);
    count(&job->forward->counters.strays);
}

static void count_sent(struct job *job)
{
    struct counters *c = &job->forward->counters;
    count(&c->sent);
    if (job->is_tcp)
        count(&c->sent_tcp);
    if (job->is_plain)
        count(&c->sent_plain);
}

/** Ask the job's upstream, with an id and a case that nobody can know. */
static void job_send(struct job *job)
{
    struct forward *f = job->forward;
    uint8_t random[2 + RELAY_CASE_LEN];
    BUG_IF(getrandom(random, sizeof random, 0) != sizeof random);
    relay_set_id(job->query, wire_get16(random));
    relay_set_case(job->query, job->takes_any_case ? NULL : random + 2);
    job->query_len = relay_set_edns(job->query, !job->is_plain);
    job->sent_ms = run_now_ms();
    count_sent(job);
    struct exchange_def def = {.loop = f->loop,
                               .to = &f->upstreams.items[job->upstream],
                               .query = job->query,
                               .query_len = job->query_len,
                               .timeout_ms = f->opts.timeout_ms,
                               .is_tcp = job->is_tcp,
                               .takes_any_case = job->takes_any_case,
                               .stray = on_stray,
                               .done = on_done,
                               .arg = job};
    job->exchange = exchange_start(&def);
}

/** Ask the next upstream, or give up. */
static void job_next(struct job *job)
{
    struct forward *f = job->forward;
    int64_t now_ms = run_now_ms();
    int next = job->n_tries < MAX_TRIES ? upstreams_pick(&f->upstreams, job->tried, now_ms) : -1;
    if (next >= 0) {
        job->upstream = next;
        job->tried |= 1u << next;
        job->n_tries++;
        job->is_tcp = job->is_doubted = false;
        job->is_plain = upstreams_lack(&f->upstreams, next, UPSTREAM_LACKS_EDNS, now_ms);
        job->takes_any_case = upstreams_lack(&f->upstreams, next, UPSTREAM_LACKS_CASE, now_ms);
        job_send(job);
        return;
    }
    struct relay_msg *m = job->refusal;
    job->refusal = NULL;
    count(&f->counters.failures);
    job_finish(job, m ? m : relay_failure(job->query, job->query_len, job->ede));
}

static void log_upstream(const struct log_event *event, const struct upstream *s)
{
    struct addr addr;
    uint16_t port;
    char text[ADDR_TEXT_MAX];
    BUG_IF(addr_from_sockaddr((const struct sockaddr *)&s->sa, &addr, &port));
    log_emit(event, LOG_STR("address", addr_text(&addr, text)), LOG_INT("port", port));
}

/** The upstream has shown what it cannot do. When that is news it is told and kept. */
static void job_note(struct job *job, enum upstream_lack lack, const struct log_event *event)
{
    struct forward *f = job->forward;
    int64_t now_ms = run_now_ms();
    if (upstreams_lack(&f->upstreams, job->upstream, lack, now_ms))
        return;
    log_upstream(event, &f->upstreams.items[job->upstream]);
    upstreams_note(&f->upstreams, job->upstream, lack, now_ms);
}

/** What others may know of the upstream. */
static void show_upstream(struct forward *f, int i)
{
    struct counters *c = &f->counters;
    atomic_store_explicit(&c->rtt_ms[i], f->upstreams.items[i].rtt_ms, memory_order_relaxed);
    atomic_store_explicit(&c->n_failed[i], f->upstreams.items[i].n_failed, memory_order_relaxed);
    atomic_store_explicit(&c->failing, upstreams_n_failing(&f->upstreams), memory_order_relaxed);
}

/** The upstream did not answer. */
static void job_failed(struct job *job, int err)
{
    struct forward *f = job->forward;
    bool is_late = err == ERR_TIMEOUT;
    count(is_late ? &f->counters.timeouts : &f->counters.errors);
    job->ede = is_late ? DNS_EDE_NO_REACHABLE_AUTHORITY : DNS_EDE_NETWORK_ERROR;
    if (upstreams_failed(&f->upstreams, job->upstream, run_now_ms()))
        log_upstream(&ev_forward_upstream_failed, &f->upstreams.items[job->upstream]);
    show_upstream(f, job->upstream);
    job_next(job);
}

/** The upstream answered: what says something about the name ends the job, anything else is worth another upstream. */
static void job_answered(struct job *job, struct relay_msg *take_msg)
{
    struct forward *f = job->forward;
    int64_t now_ms = run_now_ms();
    int64_t rtt_ms = job->is_tcp ? -1 : now_ms - job->sent_ms;
    if (upstreams_worked(&f->upstreams, job->upstream, rtt_ms, now_ms))
        log_upstream(&ev_forward_upstream_back, &f->upstreams.items[job->upstream]);
    show_upstream(f, job->upstream);
    if (take_msg->rcode == DNS_NOERROR || take_msg->rcode == DNS_NXDOMAIN ||
        take_msg->rcode == DNS_YXDOMAIN) {
        job_finish(job, take_msg);
        return;
    }
    free(job->refusal);
    job->refusal = take_msg;
    job_next(job);
}

/** No answer that can be taken: is there another way to ask this upstream? @return false: there is none. */
static bool job_send_otherwise(struct job *job, int err)
{
    bool is_doubt = err == ERR_CONFLICT || err == ERR_LIMIT;
    if (job->is_tcp && job->is_doubted) { /* an upstream without TCP that changes case */
        job->is_doubted = job->is_tcp = false;
        job->takes_any_case = true;
        job_send(job);
        return true;
    }
    if (job->is_tcp || (err != ERR_TOOBIG && !is_doubt))
        return false;
    if (is_doubt)
        count(&job->forward->counters.doubts);
    job->is_doubted = err == ERR_CONFLICT;
    job->is_tcp = true;
    job_send(job);
    return true;
}

/** Learn from an answer what the upstream cannot do. @return true: it is asked again, without EDNS. */
static bool job_learn(struct job *job, const uint8_t *msg, size_t len, const struct relay_msg *m)
{
    bool is_lost = m->rcode == DNS_FORMERR || m->rcode == DNS_NOTIMP;
    if (job->takes_any_case || relay_match(job->query, job->query_len, msg, len) == RELAY_OTHER_CASE)
        job_note(job, UPSTREAM_LACKS_CASE, &ev_forward_upstream_case);
    if (job->is_plain && !is_lost)
        job_note(job, UPSTREAM_LACKS_EDNS, &ev_forward_upstream_plain);
    if (job->is_plain || !is_lost)
        return false;
    job->is_plain = true;
    job->is_tcp = false;
    job_send(job);
    return true;
}

static void on_done(void *arg, int err, const uint8_t *msg, size_t len)
{
    struct job *job = obj_cast(arg, struct job, JOB_MAGIC);
    struct relay_msg *m = NULL;
    job->exchange = NULL;
    if (!err)
        err = relay_read(job->query, job->query_len, msg, len, &m);
    if (err) {
        if (!job_send_otherwise(job, err))
            job_failed(job, err);
        return;
    }
    if (job_learn(job, msg, len, m))
        free(m);
    else
        job_answered(job, m);
}

static struct job *job_new(struct forward *f, const struct waiter *w, const char *key)
{
    struct job *job = mem_new(struct job);
    obj_init(&job->obj, JOB_MAGIC);
    job->forward = f;
    job->key = mem_str(key);
    STAILQ_INIT(&job->waiters);
    job->query_len = relay_make_query(&w->query, w->msg, job->query);
    map_set(&f->jobs, key, job);
    return job;
}

/** What an answer depends on: name, type, class, DO, CD. */
static char *key_of(const struct query *q)
{
    char name[NAME_TEXT_MAX];
    return mem_fmt("%s %u %u %d %d", name_to_text(q->name.lower, name), q->qtype, q->qclass, q->wants_dnssec,
                   (q->flags & FLAG_CD) != 0);
}

static void on_query(void *arg)
{
    struct waiter *w = obj_cast(arg, struct waiter, WAITER_MAGIC);
    struct forward *f = w->forward;
    uint32_t age_s;
    if (f->is_stopping) {
        waiter_free(w);
        return;
    }
    query_read(w->msg, w->len, &w->query);
    BUG_IF(w->query.verdict != QUERY_OK || !w->query.has_question); /* else it were not handed off */
    mem_auto char *key = key_of(&w->query);
    const struct relay_msg *kept = cache_get(f->cache, key, run_now_ms(), &age_s);
    if (kept) {
        count(&f->counters.cache_hits);
        waiter_answer(w, kept, age_s);
        return;
    }
    struct job *job = map_get(&f->jobs, key);
    bool is_new = !job;
    if (is_new)
        job = job_new(f, w, key);
    else
        count(&f->counters.joined);
    STAILQ_INSERT_TAIL(&job->waiters, w, next);
    if (is_new)
        job_next(job);
}

/* ---- life ---- */

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
    f->jobs = MAP_EMPTY;
    f->cache = cache_new(opts->cache_bytes);
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
    for (MAP_EACH (&f->jobs, slot))
        job_free(slot->value);
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
    run_loop_free(f->loop); /* queries that were posted since are delivered, and dropped */
    cache_free(f->cache);
    map_fini(&f->jobs, NULL);
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

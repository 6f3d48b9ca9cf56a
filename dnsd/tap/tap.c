#include "tap/tap.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>

#include "base/addr.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/obj.h"
#include "bobbin/error.h"
#include "run/loop.h"
#include "tap/dnstap.h"
#include "tap/events.h"
#include "tap/frames.h"
#include "tap/log.h"

#define TAP_MAGIC OBJ_MAGIC('T', 'A', 'P', 'T')

static const char content_type[] = "protobuf:dnstap.Dnstap";

enum {
    RING_SIZE = 1 << 20,
    QUEUE_MAX = 1 << 20,
    DRAIN_MS = 10,
    TAP_NICE = 5,
    SLICE = 256, /* entries of a ring in one turn of the loop */
};

struct tap {
    struct obj obj;
    struct tap_every every;
    _Atomic unsigned log_per_s;
    struct tap_port *_Atomic ports;
    struct {
#define COUNTERS_FIELD(field, name, help) _Atomic uint64_t field;
        TAP_COUNTERS(COUNTERS_FIELD)
#undef COUNTERS_FIELD
    } counters;
    char *identity, *version;
    struct run_loop *loop;
    pthread_t thread;
    /* Of the tap's thread: */
    struct run_timer *timer;
    struct frames *frames; /* or NULL: no dnstap */
    struct buf message;
    struct tap_budget budget;
};

static void count(_Atomic uint64_t *counter)
{
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

/* ---- threads that answer ---- */

/** Count up to `every`. @return whether it was reached. */
static bool is_turn(unsigned *n, const _Atomic unsigned *every)
{
    unsigned wanted = atomic_load_explicit(every, memory_order_relaxed);
    if (!wanted || ++*n < wanted)
        return false;
    *n = 0;
    return true;
}

unsigned tap_wants(struct tap_port *p)
{
    return (is_turn(&p->n_log, &p->every->log) ? TAP_LOG : 0u) |
           (is_turn(&p->n_dnstap, &p->every->dnstap) ? TAP_DNSTAP : 0u);
}

uint64_t tap_now_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_REALTIME, &ts);
    return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

void tap_set_client(struct tap_entry *e, const struct sockaddr_storage *client)
{
    struct addr addr;
    if (addr_from_sockaddr((const struct sockaddr *)client, &addr, &e->client_port))
        return;
    e->is_ipv6 = addr.family != AF_INET;
    memcpy(e->client, addr.bytes, e->is_ipv6 ? 16 : 4);
}

/* ---- the tap's thread ---- */

static void send_message(struct tap *t, const struct tap_entry *e, const uint8_t *query, bool is_said)
{
    bool is_taken = frames_take(t->frames);
    if (is_taken) {
        dnstap_put(t->identity, t->version, e, query, is_said, &t->message);
        is_taken = frames_send(t->frames, &t->message);
    }
    count(is_taken ? &t->counters.dnstap_messages : &t->counters.dnstap_dropped);
}

static void send_messages(struct tap *t, const struct tap_entry *e, const uint8_t *query)
{
    if (e->query_len)
        send_message(t, e, query, false);
    if (e->said_len)
        send_message(t, e, query, true);
}

static void write_line(struct tap *t, const struct tap_entry *e, const uint8_t *query)
{
    unsigned most = atomic_load_explicit(&t->log_per_s, memory_order_relaxed);
    bool is_within = tap_budget_take(&t->budget, run_now_ms(), most);
    count(is_within ? &t->counters.log_lines : &t->counters.log_dropped);
    if (is_within)
        tap_log(e, query);
}

/** Take up to a slice of entries. @return whether there may be more. */
static bool drain(struct tap *t, struct tap_port *p)
{
    const struct tap_entry *e;
    const uint8_t *query;
    for (unsigned n = 0; n < SLICE; n++) {
        if (!(e = tap_ring_oldest(p->ring, &query)))
            return false;
        if (e->sinks & TAP_LOG)
            write_line(t, e, query);
        if (e->sinks & TAP_DNSTAP && t->frames)
            send_messages(t, e, query);
        tap_ring_drop(p->ring);
    }
    return true;
}

static bool drain_all(struct tap *t)
{
    bool has_more = false;
    for (struct tap_port *p = atomic_load_explicit(&t->ports, memory_order_acquire); p; p = p->next)
        has_more |= drain(t, p);
    if (t->frames)
        frames_flush(t->frames);
    return has_more;
}

static bool is_on(const struct tap *t)
{
    return atomic_load_explicit(&t->every.log, memory_order_relaxed) ||
           atomic_load_explicit(&t->every.dnstap, memory_order_relaxed);
}

static void on_timer(void *arg)
{
    struct tap *t = obj_cast(arg, struct tap, TAP_MAGIC);
    bool has_more = drain_all(t);
    if (has_more || is_on(t))
        run_timer_start(t->timer, has_more ? 0 : DRAIN_MS, 0);
}

/** The rates have changed, or the thread begins. */
static void on_rates(void *arg)
{
    struct tap *t = obj_cast(arg, struct tap, TAP_MAGIC);
    run_timer_start(t->timer, 0, 0);
}

static void on_ended(void *arg)
{
    struct tap *t = obj_cast(arg, struct tap, TAP_MAGIC);
    run_loop_stop(t->loop);
}

static void on_stop(void *arg)
{
    struct tap *t = obj_cast(arg, struct tap, TAP_MAGIC);
    while (drain_all(t))
        ;
    run_timer_free(t->timer);
    if (t->frames)
        frames_stop(t->frames, on_ended, t);
    else
        run_loop_stop(t->loop);
}

static void *thread_run(void *arg)
{
    struct tap *t = obj_cast(arg, struct tap, TAP_MAGIC);
    /* Workers go before it on a processor that they share. Raising the nice value needs no right. */
    setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + TAP_NICE);
    run_loop_run(t->loop);
    return NULL;
}

/* ---- the owner ---- */

static void set_rates(struct tap *t, const struct tap_rates *rates)
{
    atomic_store_explicit(&t->every.log, rates->log_every, memory_order_relaxed);
    atomic_store_explicit(&t->every.dnstap, t->frames ? rates->dnstap_every : 0, memory_order_relaxed);
    atomic_store_explicit(&t->log_per_s, rates->log_per_s, memory_order_relaxed);
}

static void release(struct tap *t)
{
    struct tap_port *p = atomic_load(&t->ports), *next;
    for (; p; p = next) {
        next = p->next;
        tap_ring_free(p->ring);
        free(p);
    }
    run_loop_free(t->loop);
    buf_fini(&t->message);
    free(t->identity);
    free(t->version);
    obj_fini(&t->obj);
    free(t);
}

int tap_new(const struct tap_options *opts, struct tap **out, struct err_info *why)
{
    struct tap *t = mem_new(struct tap);
    obj_init(&t->obj, TAP_MAGIC);
    t->identity = mem_str(opts->identity);
    t->version = mem_str(opts->version);
    t->message = BUF_EMPTY;
    t->loop = run_loop_new();
    t->timer = run_timer_new(t->loop, on_timer, t);
    struct frames_def def = {t->loop, opts->socket, content_type, QUEUE_MAX};
    t->frames = opts->socket ? frames_new(&def) : NULL;
    set_rates(t, &opts->rates);
    on_rates(t);
    if (pthread_create(&t->thread, NULL, thread_run, t)) {
        on_stop(t);
        run_loop_run(t->loop);
        release(t);
        return err_set(why, ERR_IO, "query log", "no thread can be started");
    }
    *out = t;
    return 0;
}

void tap_free(struct tap *t)
{
    if (!t)
        return;
    run_post(t->loop, on_stop, t);
    pthread_join(t->thread, NULL);
    release(t);
}

void tap_set_rates(struct tap *t, const struct tap_rates *rates)
{
    set_rates(t, rates);
    run_post(t->loop, on_rates, t);
}

struct tap_port *tap_port(struct tap *t)
{
    struct tap_port *p = mem_new(struct tap_port);
    p->ring = tap_ring_new(RING_SIZE);
    p->every = &t->every;
    p->next = atomic_load_explicit(&t->ports, memory_order_relaxed);
    atomic_store_explicit(&t->ports, p, memory_order_release);
    return p;
}

void tap_counts_read(const struct tap *t, struct tap_counts *out)
{
#define READ(field, name, help) out->field = atomic_load_explicit(&t->counters.field, memory_order_relaxed);
    TAP_COUNTERS(READ)
#undef READ
    for (struct tap_port *p = atomic_load_explicit(&t->ports, memory_order_acquire); p; p = p->next)
        out->lost += tap_ring_n_lost(p->ring);
}

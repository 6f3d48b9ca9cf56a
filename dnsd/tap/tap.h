/**
 * Query log and dnstap: what threads that answer put into their rings (tap/ring.h) becomes log events and dnstap messages, on a thread
 * of its own.
 *
 *     worker, TCP, TLS ──tap_wants──► ring ┐
 *     forwarder: a lock ────────────► ring ┴─ each 10 ms, in slices ─► sampled log, so many lines a second ─► dns_query
 *                                                                   └► dnstap messages ─► tap/frames.h ─► collector
 *
 *     tap_new → tap_port for each thread that answers → … → they end → tap_free
 *
 * Off, it costs one comparison a query: a batch looks once whether something is on. What does not fit anywhere is dropped and counted.
 *
 * Source: ours; dnstap.info.
 */
#ifndef TAP_TAP_H
#define TAP_TAP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "tap/ring.h"

struct sockaddr_storage;
struct tap;
struct err_info;

/** Counters: field, metric name, help. */
#define TAP_COUNTERS(X)                                                                                      \
    X(log_lines, "dns_query_log_lines", "queries written to the log")                                        \
    X(log_dropped, "dns_query_log_dropped", "sampled queries not logged: more than query-log.rate a second") \
    X(dnstap_messages, "dns_dnstap_messages", "dnstap messages queued for the collector")                    \
    X(dnstap_dropped, "dns_dnstap_dropped", "dnstap messages dropped: no collector, or too slow a one")      \
    X(lost, "dns_tap_lost", "queries for log or dnstap dropped because their thread's ring was full")

struct tap_counts {
#define TAP_COUNTS_FIELD(field, name, help) uint64_t field;
    TAP_COUNTERS(TAP_COUNTS_FIELD)
#undef TAP_COUNTS_FIELD
};

/** How much is taken; may change at any time. */
struct tap_rates {
    unsigned log_every;    /* each so many-th query of a thread is logged; 0: none */
    unsigned log_per_s;    /* lines a second at most */
    unsigned dnstap_every; /* each so many-th query of a thread goes to dnstap; 0: none */
};

struct tap_options {
    struct tap_rates rates;
    const char *socket;   /* of the dnstap collector, or NULL: no dnstap         [borrowed] */
    const char *identity; /* of dnstap messages                                  [borrowed] */
    const char *version;  /* of dnstap messages                                  [borrowed] */
};

/** What one thread that answers needs. */
struct tap_port {
    struct tap_port *next; /* the tap's */
    struct tap_ring *ring;
    const struct tap_every *every; /* of the tap */
    unsigned n_log, n_dnstap;      /* queries since the last that was taken */
};

/** The rates, as threads that answer read them. */
struct tap_every {
    _Atomic unsigned log, dnstap;
};

/** Start the thread. @param opts copied. @param out tap_free [out]. @return 0; or ERR_IO: no thread. Thread: owner. Source: ours. */
int tap_new(const struct tap_options *opts, struct tap **out, struct err_info *why);
/** Write what the rings hold, end the stream and the thread, and release; no thread uses a port any more. NULL is fine. Waits up to half a
 *  second for the collector. Thread: owner. Source: ours. */
void tap_free(struct tap *t);
/** Change the rates. Thread: owner. Source: ours. */
void tap_set_rates(struct tap *t, const struct tap_rates *rates);
/** Read the counters one by one, not as one snapshot. @param out filled [out]. Thread: owner. Source: ours. */
void tap_counts_read(const struct tap *t, struct tap_counts *out);

/** A port, for one thread. @return lives until tap_free [borrowed]. Thread: owner. Source: ours. */
struct tap_port *tap_port(struct tap *t);
/** Is anything taken? Thread: any. Source: ours. */
static inline bool tap_is_on(const struct tap_port *p)
{
    return p && (atomic_load_explicit(&p->every->log, memory_order_relaxed) ||
                 atomic_load_explicit(&p->every->dnstap, memory_order_relaxed));
}

/** Count a query. @return TAP_* that want it. Thread: the port's. Source: ours. */
unsigned tap_wants(struct tap_port *p);
/** Wall clock in ns since 1970. Thread: any. Source: clock_gettime(2). */
uint64_t tap_now_ns(void);
/** Set the client of an entry. @param client IPv4 mapped into IPv6 counts as IPv4 [borrowed]. Thread: any. Source: ours. */
void tap_set_client(struct tap_entry *e, const struct sockaddr_storage *client);

#endif

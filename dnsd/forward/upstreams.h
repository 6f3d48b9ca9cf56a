/**
 * The upstream servers, and which of them to ask: the first of the list, unless another is much faster. A server that fails
 * is held back, with a delay that doubles, and is asked meanwhile only after all others; its first answer ends that. Measured
 * times and missing capabilities expire, so that a server is tried again.
 *
 * Pure; the caller brings the time. Thread: one list, one thread.   Source: ours.
 */
#ifndef FORWARD_UPSTREAMS_H
#define FORWARD_UPSTREAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

struct err_info;

#define UPSTREAMS_MAX 8

/** Capabilities that a server may lack. */
enum upstream_lack {
    UPSTREAM_LACKS_EDNS, /* it answers FORMERR or NOTIMP to an OPT record */
    UPSTREAM_LACKS_CASE, /* it does not return the question in the case it was sent in */
    UPSTREAM_N_LACKS
};

struct upstream {
    struct sockaddr_storage sa;
    socklen_t sa_len;
    unsigned n_failed;   /* in a row */
    int64_t held_til_ms; /* not asked before, if another can be */
    int64_t rtt_ms;      /* smoothed time to an answer, as of rtt_at_ms; -1: none yet */
    int64_t rtt_at_ms;
    int64_t lacks_til_ms[UPSTREAM_N_LACKS];
};

struct upstreams {
    size_t n_items;
    struct upstream items[UPSTREAMS_MAX];
};

/**
 * Read a list of servers.
 *
 * @param list  "10.0.0.53, [fd00::53]:5353": address literals; port 53 where none is said [borrowed]
 * @param out   the servers, in this order                                       [out]
 * @param why   names the one that cannot be read                                [out]
 * @return 0; or ERR_INVALID: not an address, port 0, or more than UPSTREAMS_MAX; *out undefined.
 * Thread: any.   Source: ours.
 */
int upstreams_read(const char *list, struct upstreams *out, struct err_info *why);

/**
 * Choose a server.
 *
 * @param tried   bit i: server i was asked for this query
 * @param now_ms  any clock that does not go back
 * @return its number: of those that are not held back the first that is not much slower than the fastest, else the one that
 *         is held back shortest; -1: all were tried.   Thread: the list's.   Source: ours.
 */
int upstreams_pick(const struct upstreams *u, unsigned tried, int64_t now_ms);

/**
 * How long to wait for the answer to a datagram before it is sent again.
 *
 * @param timeout_ms  a turn of the server
 * @param n_repeated  datagrams of this turn before it
 * @param left_ms     what is left of the turn
 * @return 1 ms or more: four times the measured time, at least an eighth of the turn, a quarter while nothing is measured; doubled for
 *         each datagram before; all that is left when the next one would have less.
 * Thread: the list's.   Source: ours, after RFC 1035 4.2.1 and RFC 6298 5.
 */
unsigned upstream_patience_ms(const struct upstream *s, unsigned timeout_ms, unsigned n_repeated,
                              int64_t left_ms);

/** Server i has not answered. @return whether it had before: then the caller logs it. Thread: the list's. Source: ours. */
bool upstreams_failed(struct upstreams *u, int i, int64_t now_ms);
/** Server i has answered. @param rtt_ms after so long; -1: not measured. @return whether it had not before. Thread: the list's.
 *  Source: ours. */
bool upstreams_worked(struct upstreams *u, int i, int64_t rtt_ms, int64_t now_ms);

/** Remember for some minutes that server i lacks this. Thread: the list's. Source: ours. */
void upstreams_note(struct upstreams *u, int i, enum upstream_lack lack, int64_t now_ms);
/** Is it remembered that server i lacks this? Thread: the list's. Source: ours. */
bool upstreams_lack(const struct upstreams *u, int i, enum upstream_lack lack, int64_t now_ms);
/** Servers whose last query failed. Thread: the list's. Source: ours. */
unsigned upstreams_n_failing(const struct upstreams *u);

#endif

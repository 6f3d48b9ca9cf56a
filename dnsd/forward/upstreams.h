/**
 * The servers that queries are forwarded to, and which of them to ask: the first of the list, unless another is much quicker.
 * One that fails is held back, twice as long each time, and is asked meanwhile only when all others were; the first answer
 * makes it good again. How slow one is, and what it cannot do, is forgotten in time, so that it gets another chance.
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

/** What a server may not be able to do. */
enum upstream_lack {
    UPSTREAM_LACKS_EDNS, /* it answers FORMERR or NOTIMP to what it does not know */
    UPSTREAM_LACKS_CASE, /* it does not give the letters of a question back as they were */
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
 * @param tried   bit i: server i is not wanted any more
 * @param now_ms  any clock that does not go back
 * @return its number: of those that are not held back the first that is not much slower than the quickest, else the one that
 *         is held back shortest; -1: all were tried.
 */
int upstreams_pick(const struct upstreams *u, unsigned tried, int64_t now_ms);

/** Server i has not answered. @return whether it had before: the moment worth telling. */
bool upstreams_failed(struct upstreams *u, int i, int64_t now_ms);
/** Server i has answered. @param rtt_ms after so long; -1: not measured @return whether it had not before. */
bool upstreams_worked(struct upstreams *u, int i, int64_t rtt_ms, int64_t now_ms);

/** Server i cannot do this: for some minutes it is not asked to. */
void upstreams_note(struct upstreams *u, int i, enum upstream_lack lack, int64_t now_ms);
/** Is it known that server i cannot do this? */
bool upstreams_lack(const struct upstreams *u, int i, enum upstream_lack lack, int64_t now_ms);
/** Servers that did not answer when they were asked last. */
unsigned upstreams_n_failing(const struct upstreams *u);

#endif

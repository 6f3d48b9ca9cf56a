/**
 * The servers that queries are forwarded to, and which of them to ask. One that fails is held back, twice as long each time,
 * and is asked meanwhile only when all others were; the first answer makes it good again.
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

struct upstream {
    struct sockaddr_storage sa;
    socklen_t sa_len;
    unsigned n_failed;   /* in a row */
    int64_t held_til_ms; /* not asked before, if another can be */
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
 * @return its number: the first that is not held back, else the one that is held back shortest; -1: all were tried.
 */
int upstreams_pick(const struct upstreams *u, unsigned tried, int64_t now_ms);

/** Server i has not answered. @return whether it had before: the moment worth telling. */
bool upstreams_failed(struct upstreams *u, int i, int64_t now_ms);
/** Server i has answered. @return whether it had not before. */
bool upstreams_worked(struct upstreams *u, int i);

#endif

/**
 * Response rate limiting: too many equal responses to one network over UDP are probably an attack on it with forged source
 * addresses. Each worker has a table of its own, so nothing is shared; the kernel spreads the clients of a network over the
 * workers, and the rate holds for each worker.
 *
 * A token bucket for each (network, kind): network is the /24 or /56 of the client; kind is the name asked for when the rcode
 * is NOERROR, else the rcode, so that random names share one bucket. A hash has two slots; the least recently used is evicted.
 *
 * Thread: a table belongs to one thread.   Source: ours, after BIND's RRL and Knot's.
 */
#ifndef NET_RRL_H
#define NET_RRL_H

#include <stdint.h>
#include <sys/socket.h>

#include "answer/query.h"

struct rrl;
struct err_info;

struct rrl_options {
    unsigned rate_per_s; /* equal answers a second to one network; 0: no limit */
    unsigned slip;       /* each slip-th limited answer is sent empty with TC; 0: none is */
    const char *exempt;  /* networks without limit, "127.0.0.0/8,::1", or NULL   [borrowed] */
};

enum rrl_verdict { RRL_SEND, RRL_EMPTY, RRL_DROP };

/** Check the options. @return 0; or ERR_INVALID: why names the network that cannot be read. Thread: any. Source: ours. */
int rrl_check_options(const struct rrl_options *opts, struct err_info *why);
/** Make a table of 1 MB; options as rrl_check_options takes them. @return release with rrl_free; NULL when there is no limit.
 *  Thread: any. Source: ours. */
struct rrl *rrl_new(const struct rrl_options *opts);
/** Release. NULL is fine. Thread: any. Source: ours. */
void rrl_free(struct rrl *r);
/**
 * Decide whether a response is sent, sent empty, or dropped.
 *
 * @param client  where it would go                                              [borrowed]
 * @param a       after answer_write; a good cookie is never limited             [borrowed]
 * @param now_ms  time of any clock that does not go back
 * Thread: the table's.   Source: BIND's RRL.
 */
enum rrl_verdict rrl_judge(struct rrl *r, const struct sockaddr_storage *client, const struct answer *a,
                           int64_t now_ms);

#endif

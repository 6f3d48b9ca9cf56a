/**
 * One query to one upstream server: sent from a socket of its own, so from a port the kernel picks at random, which takes
 * datagrams of that server only (the kernel drops those of others unseen). Over UDP whatever does not answer the query is counted
 * and stepped over, a few times: more are an attack. ICMP errors end it early.
 *
 * Thread: owner of the loop.   Source: RFC 5452 9, RFC 7766.
 */
#ifndef FORWARD_EXCHANGE_H
#define FORWARD_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct exchange;
struct run_loop;
struct upstream;

struct exchange_def {
    struct run_loop *loop;     /* lives on                                       [borrowed] */
    const struct upstream *to; /* whom to ask                                    [borrowed during the call] */
    const uint8_t *query;      /* query_len octets; lives until done             [borrowed] */
    size_t query_len;
    unsigned timeout_ms;
    bool is_tcp;
    bool takes_any_case; /* of the letters of the question; over TCP always */
    /** A datagram came that does not answer the query. */
    void (*stray)(void *arg);
    /** The end, once. @param err 0; ERR_TIMEOUT; ERR_UNAVAILABLE: the network says no; ERR_CONFLICT: an answer but for the case
     *  of its question; ERR_LIMIT: too many strays; both are worth TCP. @param msg len octets, during the call; it answers the query by
     *  id and question. The exchange is over and frees itself. */
    void (*done)(void *arg, int err, const uint8_t *msg, size_t len);
    void *arg;
};

/** Send the query. @return the exchange; done comes later, also for what fails at once. */
struct exchange *exchange_start(const struct exchange_def *def);
/** End it without done. NULL is fine. */
void exchange_cancel(struct exchange *x);

#endif

/**
 * One query to one upstream server, over UDP or TCP. Each exchange has a connected socket of its own: the kernel chooses its
 * port at random and drops datagrams from other addresses. A datagram that does not answer the query is a stray: it is counted
 * and skipped, up to a limit beyond which it is taken for an attack. An ICMP error ends the exchange at once.
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
    const struct upstream *to; /* the server                                     [borrowed during the call] */
    const uint8_t *query;      /* query_len octets; lives until done             [borrowed] */
    size_t query_len;
    unsigned timeout_ms;
    bool is_tcp;
    bool takes_any_case; /* accept an answer whose question differs in case; over TCP always */
    /** Called for each stray. */
    void (*stray)(void *arg);
    /** The end, once. @param err 0; ERR_TIMEOUT; ERR_UNAVAILABLE: network error; ERR_CONFLICT: an answer that differs in the case
     *  of its question; ERR_LIMIT: too many strays; after either the query is worth TCP. @param msg len octets, during the call; it answers the query by
     *  id and question. The exchange is over and frees itself. */
    void (*done)(void *arg, int err, const uint8_t *msg, size_t len);
    void *arg;
};

/** Send the query. @return the exchange; done is called later, never from inside, also after an error at the start. Thread: the
 *  loop's. Source: ours. */
struct exchange *exchange_start(const struct exchange_def *def);
/** End it without calling done. NULL is fine. Thread: the loop's. Source: ours. */
void exchange_cancel(struct exchange *x);

#endif

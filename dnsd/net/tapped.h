/**
 * What the threads of net/ put into their rings for the query log and dnstap.
 *
 * Source: ours.
 */
#ifndef NET_TAPPED_H
#define NET_TAPPED_H

#include <pthread.h>

#include "net/net.h"
#include "tap/tap.h"

/** An answered query. */
struct tapped {
    const struct answer *a; /* answered; handed off unless hand_off is ANSWER_HERE [borrowed] */
    /** Who asked [borrowed]. */
    const struct sockaddr_storage *client;
    size_t query_len; /* octets of a->msg */
    uint64_t read_ns; /* tap_now_ns when it was read */
};

/** Put a query and its response, if it is its turn and the message is a query. @param len octets of the response; 0: none is sent.
 *  Thread: the port's. Source: ours. */
void tapped_answer(struct tap_port *p, const struct tapped *t, const uint8_t *response, size_t len);

/** A port that several threads use in turn. */
struct tapped_replies {
    pthread_mutex_t lock; /* guards port; nothing is called under it */
    struct tap_port *port;
};

/** Put the response to a query that was handed off, if it is its turn. Thread: any. Source: ours. */
void tapped_reply(struct tapped_replies *r, const struct net_peer *peer, const uint8_t *msg, size_t len);

#endif

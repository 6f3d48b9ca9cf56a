/**
 * The TCP server, plain or under TLS: one thread with epoll serves all connections. Queries may be pipelined; each is answered
 * in order, a handed-off one when its reply comes (RFC 7766 6.2.1). An idle connection is closed after the timeout; when there
 * are too many, the longest idle is closed first (RFC 9210 4.4). A connection with too many unsent octets is not read.
 *
 * Source: RFC 7766, RFC 7858, RFC 9210.
 */
#ifndef NET_TCP_H
#define NET_TCP_H

#include "net/counters.h"
#include "net/epoch.h"
#include "net/net.h"

struct tcp;
struct tls;
struct acls;
struct secrets;
struct tap_port;

struct tcp_options {
    /* n_listeners bound descriptors, which the caller closes after tcp_stop      [borrowed] */
    const int *listeners;
    size_t n_listeners;
    const struct net_options *net; /* outlives the thread                        [borrowed] */
    struct epoch_cell *cell;
    struct secrets *secrets; /* or NULL: no cookies                              [borrowed] */
    struct acls *acls;
    struct tap_port *tap; /* or NULL: no query is taken                           [borrowed] */
    struct tls *tls;      /* or NULL: plain                                   [borrowed] */
};

/** Start the thread. @param out release with tcp_stop [out]. @return 0; or ERR_IO: no thread runs. Thread: writer. Source: ours. */
int tcp_start(const struct tcp_options *opts, struct tcp **out);
/** Stop the thread, close all connections, release. NULL is fine. Thread: writer. Source: ours. */
void tcp_stop(struct tcp *t);
/** Its counters. @return borrowed. Thread: any. Source: ours. */
const struct counters *tcp_counters(const struct tcp *t);
/** Connections open now. Thread: any. Source: ours. */
uint64_t tcp_n_open(const struct tcp *t);
/** net_reply for a peer of this server. Thread: any. Source: RFC 7766. */
int tcp_reply(struct tcp *t, const struct net_peer *peer, const uint8_t *msg, size_t len);

#endif

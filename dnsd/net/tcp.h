/**
 * TCP, plain or below TLS: one thread, epoll, all connections. Queries may be pipelined; each is answered in turn, handed-off ones whenever their
 * reply comes (RFC 7766 6.2.1). Idle connections end after the timeout, and earlier, longest idle first, when there are
 * too many (RFC 9210 4.4). A client that does not read its answers stops being read. Source: RFC 7766, RFC 7858, RFC 9210.
 */
#ifndef NET_TCP_H
#define NET_TCP_H

#include "net/counters.h"
#include "net/epoch.h"
#include "net/net.h"

struct tcp;
struct tls;
struct secrets;

struct tcp_options {
    const int
        *listeners; /* n_listeners bound descriptors; the caller closes them after tcp_stop  [borrowed] */
    size_t n_listeners;
    const struct net_options *net; /* outlives the thread                        [borrowed] */
    struct epoch_cell *cell;
    struct secrets *secrets; /* or NULL: no cookies                              [borrowed] */
    struct tls *tls;         /* or NULL: plain                                   [borrowed] */
};

/** Start the thread. @return 0; or ERR_IO. Thread: writer. */
int tcp_start(const struct tcp_options *opts, struct tcp **out);
/** Stop the thread, close all connections, release. NULL is fine. Thread: writer. */
void tcp_stop(struct tcp *t);
/** Its counters. Thread: any. */
const struct counters *tcp_counters(const struct tcp *t);
/** Connections open now. Thread: any. */
uint64_t tcp_n_open(const struct tcp *t);
/** See net_reply. Thread: any. */
int tcp_reply(struct tcp *t, const struct net_peer *peer, const uint8_t *msg, size_t len);

#endif

/** One UDP worker: a socket, a thread, a batch. Source: recvmmsg(2), sendmmsg(2). */
#ifndef NET_UDP_H
#define NET_UDP_H

#include "net/counters.h"
#include "net/epoch.h"
#include "net/net.h"

struct udp_worker;
struct secrets;

struct udp_options {
    int fd;                        /* bound; taken */
    unsigned socket;               /* number for net_peer */
    bool is_wildcard;              /* replies name the local address */
    const struct net_options *net; /* outlives the worker                        [borrowed] */
    struct epoch_cell *cell;
    struct secrets *secrets; /* or NULL: no cookies                              [borrowed] */
};

/** Make a worker and start its thread. @return 0; or ERR_IO: the fd is closed. Thread: writer. */
int udp_worker_start(const struct udp_options *opts, struct udp_worker **out);
/** Stop the thread, close the socket, release. NULL is fine. Thread: writer. */
void udp_worker_stop(struct udp_worker *w);
/** Its counters. Thread: any. */
const struct counters *udp_worker_counters(const struct udp_worker *w);
/** Send one datagram from its socket. @return 0; or ERR_IO. Thread: any. */
int udp_worker_reply(struct udp_worker *w, const struct net_peer *peer, const uint8_t *msg, size_t len);

#endif

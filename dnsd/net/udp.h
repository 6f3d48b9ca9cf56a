/**
 * One UDP worker: a thread that receives a batch of datagrams from its socket, answers it from one zone version and sends the
 * responses as one batch.
 *
 * Source: recvmmsg(2), sendmmsg(2).
 */
#ifndef NET_UDP_H
#define NET_UDP_H

#include "net/counters.h"
#include "net/epoch.h"
#include "net/net.h"

struct udp_worker;
struct acls;
struct secrets;
struct tap_port;

struct udp_options {
    int fd;                        /* bound; taken */
    unsigned socket;               /* number for net_peer */
    bool is_wildcard;              /* replies set the local address */
    const struct net_options *net; /* outlives the worker                        [borrowed] */
    struct epoch_cell *cell;
    struct secrets *secrets; /* or NULL: no cookies                              [borrowed] */
    struct acls *acls;
    struct tap_port *tap; /* or NULL: no query is taken                           [borrowed] */
};

/** Make a worker and start its thread. @param out release with udp_worker_stop [out]. @return 0; or ERR_IO: the fd is closed. Thread:
 *  writer. Source: ours. */
int udp_worker_start(const struct udp_options *opts, struct udp_worker **out);
/** Stop the thread, close the socket, release. NULL is fine. Thread: writer. Source: ours. */
void udp_worker_stop(struct udp_worker *w);
/** Its counters. @return borrowed. Thread: any. Source: ours. */
const struct counters *udp_worker_counters(const struct udp_worker *w);
/** Send one datagram from its socket. @return 0; or ERR_IO. Thread: any. Source: sendmsg(2). */
int udp_worker_reply(struct udp_worker *w, const struct net_peer *peer, const uint8_t *msg, size_t len);

#endif

/**
 * Sockets: UDP workers, the TCP thread and the TLS thread, and their counters. Each address gets `n_workers` UDP threads that share the
 * port (SO_REUSEPORT) and one TCP listener. A UDP worker sleeps in recvmmsg; what it gets is one batch, answered from one
 * zone version and sent with one sendmmsg.
 *
 *     main loop: commit → zoneset_reclaim(set, net_oldest_version(net))
 *     worker:    recvmmsg → epoch_enter → read all, fetch all, answer all → epoch_leave → sendmmsg
 *
 * Source: RFC 1035 4.2, RFC 7766, RFC 7858, RFC 9210.
 */
#ifndef NET_NET_H
#define NET_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "answer/query.h"
#include "net/rrl.h"

struct acl;
struct net;
struct tap;
struct zoneset;
struct err_info;

/** Counters of all workers: field, metric name, help. Order is that of `struct net_counts`. */
#define NET_COUNTERS(X)                                                                                      \
    X(udp_queries, "dns_udp_queries", "messages received over UDP")                                          \
    X(tcp_queries, "dns_tcp_queries", "messages received over TCP")                                          \
    X(tls_queries, "dns_tls_queries", "messages received over TLS")                                          \
    X(noerror, "dns_noerror", "responses NOERROR")                                                           \
    X(formerr, "dns_formerr", "responses FORMERR")                                                           \
    X(servfail, "dns_servfail", "responses SERVFAIL")                                                        \
    X(nxdomain, "dns_nxdomain", "responses NXDOMAIN")                                                        \
    X(notimp, "dns_notimp", "responses NOTIMP")                                                              \
    X(refused, "dns_refused", "responses REFUSED")                                                           \
    X(other_rcode, "dns_other_rcode", "responses with another rcode")                                        \
    X(truncated, "dns_truncated", "UDP responses with TC set")                                               \
    X(dropped, "dns_dropped", "messages that got no response: too short, or responses themselves")           \
    X(acl_refused, "dns_acl_refused", "queries refused because the client may not ask")                      \
    X(rrl_emptied, "dns_rrl_emptied", "responses that the rate limit made empty")                            \
    X(rrl_dropped, "dns_rrl_dropped", "responses that the rate limit dropped")                               \
    X(handed_off, "dns_handed_off", "queries handed off to the forwarder or the transfer server")            \
    X(send_failed, "dns_send_failed", "responses that the kernel did not take")                              \
    X(tcp_accepted, "dns_tcp_accepted", "TCP and TLS connections accepted")                                  \
    X(tcp_refused, "dns_tcp_refused", "TCP and TLS connections closed because of a limit")                   \
    X(tcp_timeouts, "dns_tcp_timeouts", "TCP and TLS connections closed because they were idle")             \
    X(tls_failed, "dns_tls_failed", "TLS connections whose handshake failed")

struct net_counts {
#define NET_COUNTS_FIELD(field, name, help) uint64_t field;
    NET_COUNTERS(NET_COUNTS_FIELD)
#undef NET_COUNTS_FIELD
    uint64_t tcp_open; /* connections open now, TLS included */
};

/** Where a query came from, and how a later reply finds its way back. A value: copy and keep it. */
struct net_peer {
    struct sockaddr_storage client;
    socklen_t client_len;
    bool is_tcp; /* TLS too */
    bool is_tls;
    unsigned socket;       /* UDP: index of the socket; TCP: place of the connection */
    uint64_t conn_id;      /* TCP: the connection; never used twice */
    struct in6_addr local; /* UDP on a wildcard: address the query came to (IPv4 as mapped) */
    bool has_local;
    bool has_cookie;            /* the query had a cookie: */
    uint8_t cookie[COOKIE_LEN]; /* what the response's OPT carries (RFC 7873 5.2) */
};

/**
 * The owner of handed-off queries: the forwarder or the transfer server. `take` runs on a worker's or the TCP thread, so it
 * copies the query and posts it. @param msg valid during the call. @return 0: accepted, net_reply follows; else the caller sends
 * its own response.
 */
struct net_taker {
    int (*take)(void *owner, enum answer_hand_off what, const struct net_peer *peer, const uint8_t *msg,
                size_t len);
    void *owner;
};

struct net_options {
    const char *const *addresses; /* n_addresses literals, IPv4 or IPv6          [borrowed] */
    size_t n_addresses;
    uint16_t port;               /* 0: the kernel chooses one, the same for all (net_port) */
    unsigned n_workers;          /* UDP threads an address; 0: as many as CPUs */
    unsigned tcp_max_clients;    /* 0: 1000 */
    unsigned tcp_max_per_client; /* connections of one address; 0: no limit of its own */
    unsigned tcp_idle_ms;        /* an idle connection is closed after so long; 0: 10000 */
    const char *tls_cert;        /* PEM file, or NULL: no TLS                     [borrowed] */
    const char *tls_key;         /* PEM file                                     [borrowed] */
    uint16_t tls_port;           /* 0: the kernel chooses one, the same for all (net_tls_port) */
    bool has_cookies;            /* cookies are answered and checked */
    const struct cookie_secrets *cookie_secrets; /* copied; NULL: a random one          [borrowed] */
    struct rrl_options rrl;                      /* over UDP only */
    struct acl *take_acl;         /* who may ask, or NULL: all; freed also after an error  [taken] */
    struct answer_options answer; /* keepalive_100ms is filled in */
    struct tap *tap;              /* takes queries for log and dnstap; NULL: none is taken [borrowed] */
    struct zoneset *zones;        /* outlives the net                            [borrowed] */
    struct net_taker taker;       /* take NULL: no query is handed off */
};

/** Whether net_start could use an address. @param text  literal [borrowed] @return 0; ERR_INVALID. Thread: any. Source: ours. */
int net_check_address(const char *text, struct err_info *why);
/** Whether net_start could use the files of certificate and key, which are read. @return 0; ERR_CONFIG. Thread: any. Source: ours. */
int net_check_tls(const char *cert_file, const char *key_file, struct err_info *why);
/**
 * Open all sockets, then start all threads.
 *
 * @param opts  copied, except what it borrows
 * @param out   the running net; release with net_stop                           [out]
 * @param why   names the address that failed                                    [out]
 * @return 0; ERR_ADDRINUSE, ERR_PERMISSION, ERR_INVALID (not a literal address or network), ERR_CONFIG (certificate or key),
 *         ERR_IO: nothing is left open or running.
 * Thread: writer.   Source: ours.
 */
int net_start(const struct net_options *opts, struct net **out, struct err_info *why);

/** Stop all threads, close all sockets, release. Replies after this are a bug. NULL is fine. Thread: writer. Source: ours. */
void net_stop(struct net *n);

/** Options that queries are answered with. @return borrowed. Thread: any. Source: ours. */
const struct answer_options *net_answer_options(const struct net *n);

/** Port that UDP and TCP are bound to. Thread: any. Source: ours. */
uint16_t net_port(const struct net *n);

/** Port of DNS over TLS; 0: TLS is off. Thread: any. Source: ours. */
uint16_t net_tls_port(const struct net *n);

/** Load certificate and key again, for new connections. @return 0, also without TLS; or ERR_CONFIG: the old ones stay.
 *  Thread: writer. Source: ours. */
int net_reload_tls(struct net *n, struct err_info *why);

/** Make and accept cookies with these secrets from now on. Ignored when cookies are off. Thread: writer. Source: RFC 9018 5. */
void net_set_cookie_secrets(struct net *n, const struct cookie_secrets *secrets);

/** Answer only clients of these lists from now on. @param take_acl or NULL: all [taken]. Thread: writer. Source: ours. */
void net_set_acl(struct net *n, struct acl *take_acl);

/** Oldest version that a worker may still read, for zoneset_reclaim. Thread: writer. Source: ours. */
uint64_t net_oldest_version(const struct net *n);

/**
 * Continue the answer of another server to a query that was handed off, where its aliases enter our zones.
 *
 * @param peer   the client                                                      [borrowed]
 * @param query  its message, len octets                                         [borrowed]
 * @param links  what the answer begins with                                     [borrowed]
 * @param out    room for 65535 octets                                           [out]
 * @return octets of the response; 0: no alias leads to us.
 * Thread: one, the taker's.   Source: RFC 1034 4.3.2.
 */
size_t net_continue(struct net *n, const struct net_peer *peer, const uint8_t *query, size_t len,
                    const struct answer_links *links, uint8_t *out);

/** Sum of the counters of all workers, read one by one, not as one snapshot. @param out filled [out]. Thread: any. Source: ours. */
void net_counts_read(const struct net *n, struct net_counts *out);

/**
 * Send a message to a peer whose query was handed off. On TCP it may be called several times for one query (a transfer).
 *
 * @param msg  DNS message without TCP length                                    [borrowed]
 * @param len  12..65535; for UDP the caller keeps to the size that the client accepts
 * @return 0; ERR_UNAVAILABLE: the connection is gone; ERR_LIMIT: the client reads too slowly, try again later; ERR_IO.
 * Thread: any, until net_stop.   Source: RFC 7766.
 */
int net_reply(struct net *n, const struct net_peer *peer, const uint8_t *msg, size_t len);

#endif

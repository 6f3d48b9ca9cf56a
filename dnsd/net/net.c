#include "net/net.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/addr.h"
#include "base/mem.h"
#include "bobbin/error.h"
#include "net/epoch.h"
#include "net/socket.h"
#include "net/tcp.h"
#include "net/udp.h"
#include "zone/zone.h"

enum { PORT_TRIES = 16, MAX_WORKERS = 256 };

struct net {
    struct net_options opts;
    uint16_t port;
    unsigned n_udp; /* workers an address × addresses */
    int *udp_fds;   /* -1: taken by the worker, or not open */
    bool *is_wildcard;
    size_t n_listeners;
    int *listeners;
    struct epoch *epoch;
    struct udp_worker **workers;
    struct tcp *tcp;
};

static void close_all(int *fds, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (fds[i] >= 0)
            close(fds[i]);
        fds[i] = -1;
    }
}

/** All sockets of one address. Its port becomes the port of all when it was 0. */
static int open_address(struct net *n, size_t index, struct err_info *why)
{
    struct socket_address addr;
    struct addr bound;
    int code = socket_address_read(n->opts.addresses[index], n->port, &addr, why);
    for (unsigned i = 0; !code && i < n->opts.n_workers; i++) {
        size_t at = index * n->opts.n_workers + i;
        code = socket_open_udp(&addr, i == 0, &n->udp_fds[at], why);
        n->is_wildcard[at] = addr.is_wildcard;
    }
    if (code)
        return code;
    addr_from_sockaddr((const struct sockaddr *)&addr.sa, &bound, &n->port);
    return socket_open_tcp(&addr, &n->listeners[index], why);
}

/** A port that the kernel chose for UDP may be taken on TCP or on another address: then another one is tried. */
static int open_sockets(struct net *n, struct err_info *why)
{
    int code = 0;
    for (int tries = n->opts.port ? 1 : PORT_TRIES; tries > 0; tries--) {
        code = 0;
        n->port = n->opts.port;
        for (size_t i = 0; !code && i < n->opts.n_addresses; i++)
            code = open_address(n, i, why);
        if (code != ERR_ADDRINUSE)
            return code;
        close_all(n->udp_fds, n->n_udp);
        close_all(n->listeners, n->n_listeners);
    }
    return code;
}

static int start_threads(struct net *n)
{
    struct tcp_options tcp = {n->listeners, n->n_listeners, &n->opts, epoch_cell(n->epoch, n->n_udp)};
    int code = tcp_start(&tcp, &n->tcp);
    for (unsigned i = 0; !code && i < n->n_udp; i++) {
        struct udp_options udp = {n->udp_fds[i], i, n->is_wildcard[i], &n->opts, epoch_cell(n->epoch, i)};
        n->udp_fds[i] = -1;
        code = udp_worker_start(&udp, &n->workers[i]);
    }
    return code;
}

static unsigned workers_wanted(unsigned asked)
{
    long n_cpus = sysconf(_SC_NPROCESSORS_ONLN);
    if (!asked)
        asked = n_cpus > 0 ? (unsigned)n_cpus : 1;
    return asked < MAX_WORKERS ? asked : MAX_WORKERS;
}

static struct net *net_new(const struct net_options *opts)
{
    struct net *n = mem_new(struct net);
    n->opts = *opts;
    n->opts.n_workers = workers_wanted(opts->n_workers);
    n->n_udp = n->opts.n_workers * (unsigned)opts->n_addresses;
    n->n_listeners = opts->n_addresses;
    n->udp_fds = mem_array(n->n_udp, sizeof *n->udp_fds);
    n->listeners = mem_array(n->n_listeners, sizeof *n->listeners);
    n->is_wildcard = mem_array(n->n_udp, sizeof *n->is_wildcard);
    n->workers = mem_array(n->n_udp, sizeof *n->workers);
    n->epoch = epoch_new(n->n_udp + 1);
    memset(n->udp_fds, -1, n->n_udp * sizeof *n->udp_fds);
    memset(n->listeners, -1, n->n_listeners * sizeof *n->listeners);
    return n;
}

int net_start(const struct net_options *opts, struct net **out, struct err_info *why)
{
    if (!opts->n_addresses)
        return err_set(why, ERR_INVALID, NULL, "no address to listen on");
    struct net *n = net_new(opts);
    int code = open_sockets(n, why);
    if (!code && (code = start_threads(n)))
        err_set(why, code, NULL, "cannot start a thread");
    if (code)
        net_stop(n);
    else
        *out = n;
    return code;
}

void net_stop(struct net *n)
{
    if (!n)
        return;
    for (unsigned i = 0; i < n->n_udp; i++)
        udp_worker_stop(n->workers[i]);
    tcp_stop(n->tcp);
    close_all(n->udp_fds, n->n_udp);
    close_all(n->listeners, n->n_listeners);
    epoch_free(n->epoch);
    free(n->udp_fds);
    free(n->listeners);
    free(n->is_wildcard);
    free(n->workers);
    free(n);
}

uint16_t net_port(const struct net *n)
{
    return n->port;
}

uint64_t net_oldest_version(const struct net *n)
{
    return epoch_oldest(n->epoch);
}

static void add_counters(struct net_counts *sum, const struct counters *c)
{
#define ADD_COUNTER(field, name, help) sum->field += atomic_load_explicit(&c->field, memory_order_relaxed);
    NET_COUNTERS(ADD_COUNTER)
#undef ADD_COUNTER
}

void net_counts_read(const struct net *n, struct net_counts *out)
{
    *out = (struct net_counts){0};
    for (unsigned i = 0; i < n->n_udp; i++)
        add_counters(out, udp_worker_counters(n->workers[i]));
    add_counters(out, tcp_counters(n->tcp));
    out->tcp_open = tcp_n_open(n->tcp);
}

int net_reply(struct net *n, const struct net_peer *peer, const uint8_t *msg, size_t len)
{
    if (peer->is_tcp)
        return tcp_reply(n->tcp, peer, msg, len);
    return udp_worker_reply(n->workers[peer->socket], peer, msg, len);
}

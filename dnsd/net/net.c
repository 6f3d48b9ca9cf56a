#include "net/net.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/addr.h"
#include "base/mem.h"
#include "bobbin/error.h"
#include "net/acl.h"
#include "net/epoch.h"
#include "net/secrets.h"
#include "net/socket.h"
#include "net/tapped.h"
#include "net/tcp.h"
#include "net/tls.h"
#include "net/udp.h"
#include "zone/zone.h"

enum { PORT_TRIES = 16, MAX_WORKERS = 256, DEFAULT_IDLE_MS = 10000 };

/** Cells of the readers that are no UDP worker, after theirs. */
enum { CELL_TCP, CELL_TLS, CELL_TAKER, N_OTHER_CELLS };

struct net {
    struct net_options opts;
    uint16_t port, tls_port;
    unsigned n_udp; /* workers an address × addresses */
    int *udp_fds;   /* -1: taken by the worker, or not open */
    bool *is_wildcard;
    size_t n_listeners;
    int *listeners, *tls_listeners;
    struct epoch *epoch;
    struct udp_worker **workers;
    struct secrets *secrets; /* or NULL: no cookies */
    struct acls *acls;
    struct tapped_replies replies; /* port NULL: they are not taken */
    struct tls *tls;               /* or NULL: no TLS */
    struct tcp *tcp, *tls_tcp;
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

/** The kernel may choose a UDP port that is in use for TCP or on another address: then try another one. */
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

/** One TLS listener for each address. The kernel may choose a port that is in use on another address: then try another one. */
static int open_tls(struct net *n, struct err_info *why)
{
    int code = n->opts.tls_cert ? tls_new(n->opts.tls_cert, n->opts.tls_key, &n->tls, why) : 0;
    if (code || !n->tls)
        return code;
    for (int tries = n->opts.tls_port ? 1 : PORT_TRIES; tries > 0; tries--) {
        n->tls_port = n->opts.tls_port;
        code = 0;
        for (size_t i = 0; !code && i < n->opts.n_addresses; i++) {
            struct socket_address addr;
            code = socket_address_read(n->opts.addresses[i], n->tls_port, &addr, why);
            code = code ? code : socket_open_tcp(&addr, &n->tls_listeners[i], why);
            n->tls_port = code ? 0 : socket_port(n->tls_listeners[i]);
        }
        if (code != ERR_ADDRINUSE)
            return code;
        close_all(n->tls_listeners, n->n_listeners);
    }
    return code;
}

static struct tap_port *new_port(const struct net *n)
{
    return n->opts.tap ? tap_port(n->opts.tap) : NULL;
}

static int start_threads(struct net *n)
{
    struct tcp_options tcp = {.listeners = n->listeners,
                              .n_listeners = n->n_listeners,
                              .net = &n->opts,
                              .cell = epoch_cell(n->epoch, n->n_udp + CELL_TCP),
                              .secrets = n->secrets,
                              .acls = n->acls,
                              .tap = new_port(n)};
    struct tcp_options tls = tcp;
    int code = tcp_start(&tcp, &n->tcp);
    tls.listeners = n->tls_listeners;
    tls.cell = epoch_cell(n->epoch, n->n_udp + CELL_TLS);
    tls.tls = n->tls;
    tls.tap = n->tls ? new_port(n) : NULL;
    if (!code && n->tls)
        code = tcp_start(&tls, &n->tls_tcp);
    for (unsigned i = 0; !code && i < n->n_udp; i++) {
        struct udp_options udp = {.fd = n->udp_fds[i],
                                  .socket = i,
                                  .is_wildcard = n->is_wildcard[i],
                                  .net = &n->opts,
                                  .cell = epoch_cell(n->epoch, i),
                                  .secrets = n->secrets,
                                  .acls = n->acls,
                                  .tap = new_port(n)};
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
    n->opts.tcp_idle_ms = opts->tcp_idle_ms ? opts->tcp_idle_ms : DEFAULT_IDLE_MS;
    n->opts.answer.keepalive_100ms =
        (uint16_t)(n->opts.tcp_idle_ms < 6553500 ? n->opts.tcp_idle_ms / 100 : 65535);
    n->secrets = opts->has_cookies ? secrets_new(opts->cookie_secrets) : NULL;
    n->acls = acls_new(opts->take_acl);
    pthread_mutex_init(&n->replies.lock, NULL);
    n->replies.port = new_port(n);
    n->n_udp = n->opts.n_workers * (unsigned)opts->n_addresses;
    n->n_listeners = opts->n_addresses;
    n->udp_fds = mem_array(n->n_udp, sizeof *n->udp_fds);
    n->listeners = mem_array(n->n_listeners, sizeof *n->listeners);
    n->tls_listeners = mem_array(n->n_listeners, sizeof *n->tls_listeners);
    n->is_wildcard = mem_array(n->n_udp, sizeof *n->is_wildcard);
    n->workers = mem_array(n->n_udp, sizeof *n->workers);
    n->epoch = epoch_new(n->n_udp + N_OTHER_CELLS);
    memset(n->udp_fds, -1, n->n_udp * sizeof *n->udp_fds);
    memset(n->listeners, -1, n->n_listeners * sizeof *n->listeners);
    memset(n->tls_listeners, -1, n->n_listeners * sizeof *n->tls_listeners);
    return n;
}

int net_check_address(const char *text, struct err_info *why)
{
    struct socket_address unused;
    return socket_address_read(text, 0, &unused, why);
}

int net_check_tls(const char *cert_file, const char *key_file, struct err_info *why)
{
    struct tls *tls = NULL;
    int err = tls_new(cert_file, key_file, &tls, why);
    if (!err)
        tls_free(tls);
    return err;
}

static int check_options(const struct net_options *opts, struct err_info *why)
{
    if (!opts->n_addresses)
        return err_set(why, ERR_INVALID, NULL, "no address to listen on");
    return rrl_check_options(&opts->rrl, why);
}

int net_start(const struct net_options *opts, struct net **out, struct err_info *why)
{
    int code = check_options(opts, why);
    if (code) {
        acl_free(opts->take_acl);
        return code;
    }
    struct net *n = net_new(opts);
    code = open_sockets(n, why);
    code = code ? code : open_tls(n, why);
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
    tcp_stop(n->tls_tcp);
    tls_free(n->tls);
    secrets_free(n->secrets);
    acls_free(n->acls);
    pthread_mutex_destroy(&n->replies.lock);
    close_all(n->tls_listeners, n->n_listeners);
    close_all(n->udp_fds, n->n_udp);
    close_all(n->listeners, n->n_listeners);
    epoch_free(n->epoch);
    free(n->udp_fds);
    free(n->listeners);
    free(n->tls_listeners);
    free(n->is_wildcard);
    free(n->workers);
    free(n);
}

const struct answer_options *net_answer_options(const struct net *n)
{
    return &n->opts.answer;
}

uint16_t net_port(const struct net *n)
{
    return n->port;
}

uint16_t net_tls_port(const struct net *n)
{
    return n->tls_port;
}

int net_reload_tls(struct net *n, struct err_info *why)
{
    return n->tls ? tls_reload(n->tls, why) : 0;
}

void net_set_cookie_secrets(struct net *n, const struct cookie_secrets *secrets)
{
    if (n->secrets)
        secrets_set(n->secrets, secrets);
}

void net_set_acl(struct net *n, struct acl *take_acl)
{
    acls_set(n->acls, take_acl);
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
    if (!n->tls_tcp)
        return;
    add_counters(out, tcp_counters(n->tls_tcp));
    out->tcp_open += tcp_n_open(n->tls_tcp);
}

size_t net_continue(struct net *n, const struct net_peer *peer, const uint8_t *query, size_t len,
                    const struct answer_links *links, uint8_t *out)
{
    struct answer a;
    struct acl_guard guard;
    struct epoch_cell *cell = epoch_cell(n->epoch, n->n_udp + CELL_TAKER);
    const struct zone_version *v = epoch_enter(cell, n->opts.zones);
    answer_read(&a, query, len, peer->is_tcp, v);
    a.is_tls = peer->is_tls;
    a.guard = acl_guard(acls_current(n->acls), &peer->client, &guard);
    if (answer_wants_client(&a))
        secrets_fill_client(n->secrets, &peer->client, &a);
    size_t n_out = answer_write_links(&a, v, &n->opts.answer, links, out);
    epoch_leave(cell);
    return n_out;
}

int net_reply(struct net *n, const struct net_peer *peer, const uint8_t *msg, size_t len)
{
    if (tap_is_on(n->replies.port))
        tapped_reply(&n->replies, peer, msg, len);
    if (peer->is_tcp)
        return tcp_reply(peer->is_tls ? n->tls_tcp : n->tcp, peer, msg, len);
    return udp_worker_reply(n->workers[peer->socket], peer, msg, len);
}

/* Queries over loopback sockets. */
#include "dns_kit.h"

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bobbin/error.h"
#include "net/net.h"

enum { PATIENCE_MS = 20000 };

static struct zoneset *set;
static struct net *net;
static struct net_peer taken_peer;
static _Atomic int n_taken;

static int take(void *owner, enum answer_hand_off what, const struct net_peer *peer, const uint8_t *msg,
                size_t len)
{
    assert_ptr_equal(owner, &taken_peer);
    if (what != ANSWER_FORWARD || len < 12 || !msg)
        return ERR_UNSUPPORTED;
    taken_peer = *peer;
    n_taken++;
    return 0;
}

static void start(const char *address, struct net_options opts)
{
    static const char *addresses[1];
    struct err_info why = {0};
    set = zoneset_new(NULL);
    assert_int_equal(zoneset_add_zone(set, kit_name("dev.test"), ZONE_REGISTRY, 1), 0);
    struct zone_tx *tx = zone_tx_begin(set);
    kit_add(tx, "dev.test", DNS_SOA, 60, "ns.dev.test");
    kit_add(tx, "h.dev.test", DNS_A, 1, "10.0.0.1");
    for (int i = 0; i < 200; i++) {
        char text[32];
        snprintf(text, sizeof text, "10.0.1.%d", i);
        kit_add(tx, "big.dev.test", DNS_A, 1, text);
    }
    zone_tx_commit(tx, ZONE_READY, NULL);
    addresses[0] = address;
    opts.addresses = addresses;
    opts.n_addresses = 1;
    opts.n_workers = 2;
    opts.zones = set;
    int code = net_start(&opts, &net, &why);
    if (code)
        fail_msg("%s %s: %s", err_name(code), why.where, why.text);
    n_taken = 0;
}

static int stop(void **state)
{
    (void)state;
    net_stop(net);
    zoneset_free(set);
    net = NULL;
    set = NULL;
    return 0;
}

static int dial(const char *address, int type)
{
    struct addr a;
    struct sockaddr_storage sa;
    assert_int_equal(addr_read(address, &a), 0);
    socklen_t len = addr_to_sockaddr(&a, net_port(net), &sa);
    int fd = socket(sa.ss_family, type | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&sa, len), 0);
    return fd;
}

static void await(int fd)
{
    struct pollfd p = {fd, POLLIN, 0};
    assert_int_equal(poll(&p, 1, PATIENCE_MS), 1);
}

static void expect_udp(int fd, const char *name, const char *wanted)
{
    uint8_t msg[600], out[4096];
    size_t len = kit_query(msg, 0x0102, name, DNS_A, 0);
    assert_int_equal(send(fd, msg, len, 0), len);
    await(fd);
    ssize_t n = recv(fd, out, sizeof out, 0);
    assert_true(n > 12);
    assert_int_equal(wire_get16(out), 0x0102);
    char *text = kit_text(out, (size_t)n);
    assert_string_equal(text, wanted);
    free(text);
}

static size_t put_tcp(uint8_t *out, uint16_t id, const char *name)
{
    size_t len = kit_query(out + 2, id, name, DNS_A, 0);
    wire_put16(out, (unsigned)len);
    return len + 2;
}

static void recv_all(int fd, uint8_t *out, size_t len)
{
    for (size_t at = 0; at < len;) {
        await(fd);
        ssize_t n = recv(fd, out + at, len - at, 0);
        assert_true(n > 0);
        at += (size_t)n;
    }
}

static size_t recv_tcp(int fd, uint8_t *out)
{
    uint8_t prefix[2];
    recv_all(fd, prefix, 2);
    recv_all(fd, out, wire_get16(prefix));
    return wire_get16(prefix);
}

static void expect_closed(int fd)
{
    uint8_t octet;
    await(fd);
    assert_true(recv(fd, &octet, 1, 0) <= 0);
    close(fd);
}

#define H_ANSWER "NOERROR aa\nan h.dev.test. 1 A 10.0.0.1\n"

static void udp_over(const char *listen, const char *ask)
{
    start(listen, (struct net_options){0});
    int fd = dial(ask, SOCK_DGRAM);
    expect_udp(fd, "h.dev.test", H_ANSWER);
    assert_int_equal(send(fd, "x", 1, 0), 1); /* garbage is no end */
    assert_int_equal(send(fd, "", 0, 0), 0);
    expect_udp(fd, "nope.dev.test", "NXDOMAIN aa\nau dev.test. 30 SOA ns.dev.test. serial 1\n");
    expect_udp(fd, "big.dev.test", "NOERROR aa tc\n");
    close(fd);
}

static void udp_ipv4(void **state)
{
    (void)state;
    udp_over("127.0.0.1", "127.0.0.1");
    struct net_counts counts;
    net_counts_read(net, &counts);
    assert_int_equal(counts.udp_queries, 5);
    assert_int_equal(counts.dropped, 2);
    assert_int_equal(counts.noerror, 2);
    assert_int_equal(counts.nxdomain, 1);
    assert_int_equal(counts.truncated, 1);
}

static void udp_ipv6(void **state)
{
    (void)state;
    udp_over("::1", "::1");
}

/** A connected client only hears the address it asked: the reply must leave from it. */
static void udp_wildcard_replies_from_the_address_asked(void **state)
{
    (void)state;
    udp_over("0.0.0.0", "127.0.0.77");
}

static void udp_wildcard_ipv6(void **state)
{
    (void)state;
    udp_over("::", "::1");
}

static void a_change_is_seen_and_memory_comes_back(void **state)
{
    (void)state;
    start("127.0.0.1", (struct net_options){0});
    int fd = dial("127.0.0.1", SOCK_DGRAM);
    for (int i = 0; i < 200; i++) {
        char address[32], wanted[80];
        struct zone_tx *tx = zone_tx_begin(set);
        snprintf(address, sizeof address, "10.9.0.%d", i);
        if (i > 0) {
            char old[32];
            snprintf(old, sizeof old, "10.9.0.%d", i - 1);
            kit_remove(tx, "m.dev.test", DNS_A, old);
        }
        kit_add(tx, "m.dev.test", DNS_A, 1, address);
        zone_tx_commit(tx, ZONE_READY, NULL);
        zoneset_reclaim(set, net_oldest_version(net));
        snprintf(wanted, sizeof wanted, "NOERROR aa\nan m.dev.test. 1 A %s\n", address);
        expect_udp(fd, "m.dev.test", wanted);
    }
    close(fd);
}

static void tcp_pipelining(void **state)
{
    (void)state;
    enum { N = 100 };
    start("127.0.0.1", (struct net_options){0});
    int fd = dial("127.0.0.1", SOCK_STREAM);
    uint8_t all[N * 64], out[65535];
    size_t len = 0;
    for (uint16_t i = 0; i < N; i++)
        len += put_tcp(all + len, i, i % 2 ? "h.dev.test" : "big.dev.test");
    assert_int_equal(send(fd, all, len, 0), len);
    for (uint16_t i = 0; i < N; i++) {
        size_t n = recv_tcp(fd, out);
        assert_int_equal(wire_get16(out), i);
        assert_int_equal(wire_get16(out + 6), i % 2 ? 1 : 200);
        assert_true(n > 12 && !(out[2] & 2));
    }
    /* Half closed: what was asked is still answered, then the server closes too. */
    len = put_tcp(all, 7, "h.dev.test");
    assert_int_equal(send(fd, all, len, 0), len);
    assert_int_equal(shutdown(fd, SHUT_WR), 0);
    recv_tcp(fd, out);
    expect_closed(fd);
}

static void tcp_garbage_ends_the_connection(void **state)
{
    (void)state;
    start("127.0.0.1", (struct net_options){0});
    int fd = dial("127.0.0.1", SOCK_STREAM);
    uint8_t all[600], out[65535];
    size_t len = put_tcp(all, 3, "h.dev.test");
    memcpy(all + len, "\0\3bad", 5);
    assert_int_equal(send(fd, all, len + 5, 0), len + 5);
    recv_tcp(fd, out);
    assert_int_equal(wire_get16(out), 3);
    expect_closed(fd);
}

static void tcp_octet_by_octet(void **state)
{
    (void)state;
    start("127.0.0.1", (struct net_options){0});
    int fd = dial("127.0.0.1", SOCK_STREAM), on = 1;
    assert_int_equal(setsockopt(fd, IPPROTO_TCP, 1 /* TCP_NODELAY */, &on, sizeof on), 0);
    uint8_t msg[600], out[65535];
    size_t len = put_tcp(msg, 9, "h.dev.test");
    for (size_t i = 0; i < len; i++)
        assert_int_equal(send(fd, msg + i, 1, 0), 1);
    size_t n = recv_tcp(fd, out);
    char *text = kit_text(out, n);
    assert_string_equal(text, H_ANSWER);
    free(text);
    close(fd);
}

/** Thousands of answers of 3 kB each are more than the kernel buffers; nothing is lost when the client reads late. */
static void tcp_slow_reader(void **state)
{
    (void)state;
    enum { N = 3000 };
    start("127.0.0.1", (struct net_options){0});
    int fd = dial("127.0.0.1", SOCK_STREAM);
    uint8_t *all = malloc(N * 64), out[65535];
    size_t len = 0, at = 0;
    unsigned n_read = 0;
    for (unsigned i = 0; i < N; i++)
        len += put_tcp(all + len, (uint16_t)i, "big.dev.test");
    while (at < len) {
        ssize_t n = send(fd, all + at, len - at, MSG_DONTWAIT);
        if (n > 0)
            at += (size_t)n;
        else
            assert_int_equal(wire_get16((recv_tcp(fd, out), out)), n_read++);
    }
    for (; n_read < N; n_read++) {
        recv_tcp(fd, out);
        assert_int_equal(wire_get16(out), n_read & 0xffff);
    }
    free(all);
    close(fd);
}

static void tcp_idle_connections_end(void **state)
{
    (void)state;
    start("127.0.0.1", (struct net_options){.tcp_idle_ms = 50});
    int idle = dial("127.0.0.1", SOCK_STREAM), half = dial("127.0.0.1", SOCK_STREAM);
    assert_int_equal(send(half, "\0\x30xx", 4, 0), 4);
    expect_closed(idle);
    expect_closed(half);
    struct net_counts counts;
    net_counts_read(net, &counts);
    assert_int_equal(counts.tcp_timeouts, 2);
    assert_int_equal(counts.tcp_open, 0);
}

static void tcp_limits(void **state)
{
    (void)state;
    start("127.0.0.1", (struct net_options){.tcp_max_clients = 3});
    int fds[4];
    uint8_t msg[600], out[65535];
    for (int i = 0; i < 4; i++) {
        fds[i] = dial("127.0.0.1", SOCK_STREAM);
        size_t len = put_tcp(msg, 1, "h.dev.test");
        assert_int_equal(send(fds[i], msg, len, 0), len);
        recv_tcp(fds[i], out);
    }
    expect_closed(fds[0]); /* the longest idle one made room */
    for (int i = 1; i < 4; i++)
        close(fds[i]);
}

static void tcp_limit_of_one_client(void **state)
{
    (void)state;
    start("127.0.0.1", (struct net_options){.tcp_max_per_client = 1});
    int first = dial("127.0.0.1", SOCK_STREAM);
    uint8_t msg[600], out[65535];
    size_t len = put_tcp(msg, 1, "h.dev.test");
    assert_int_equal(send(first, msg, len, 0), len);
    recv_tcp(first, out);
    expect_closed(dial("127.0.0.1", SOCK_STREAM));
    assert_int_equal(send(first, msg, len, 0), len);
    recv_tcp(first, out);
    close(first);
}

/** Wait until a query was handed off, then reply as a forwarder would. */
static void reply_when_taken(const uint8_t *msg, size_t len)
{
    for (int i = 0; !n_taken && i < PATIENCE_MS; i++)
        poll(NULL, 0, 1);
    assert_int_equal(n_taken, 1);
    assert_int_equal(net_reply(net, &taken_peer, msg, len), 0);
}

static void taken_queries_are_replied_later(void **state)
{
    (void)state;
    struct net_options opts = {.answer = {.can_forward = true}, .taker = {take, &taken_peer}};
    static const uint8_t reply[] = "\1\2\x81\x80\0\0\0\0\0\0\0";
    uint8_t msg[600], out[65535];
    start("0.0.0.0", opts);
    int udp = dial("127.0.0.5", SOCK_DGRAM), tcp = dial("127.0.0.1", SOCK_STREAM);
    size_t len = kit_query(msg, 1, "example.com", DNS_A, 0);
    assert_int_equal(send(udp, msg, len, 0), len);
    reply_when_taken(reply, sizeof reply);
    await(udp);
    assert_int_equal(recv(udp, out, sizeof out, 0), sizeof reply);
    n_taken = 0;
    len = put_tcp(msg, 1, "example.com");
    assert_int_equal(send(tcp, msg, len, 0), len);
    reply_when_taken(reply, sizeof reply);
    assert_int_equal(recv_tcp(tcp, out), sizeof reply);
    assert_memory_equal(out, reply, sizeof reply);
    close(tcp);
    for (int i = 0; i < PATIENCE_MS && net_reply(net, &taken_peer, reply, sizeof reply) == 0; i++)
        poll(NULL, 0, 1);
    assert_int_equal(net_reply(net, &taken_peer, reply, sizeof reply), ERR_UNAVAILABLE);
    close(udp);
}

static void a_busy_port_is_named(void **state)
{
    (void)state;
    start("127.0.0.1", (struct net_options){0});
    static const char *const addresses[] = {"127.0.0.1"}, *const names[] = {"localhost"};
    struct net *other = NULL;
    struct err_info why = {0};
    char port[16];
    struct net_options opts = {.addresses = addresses, .n_addresses = 1, .port = net_port(net), .zones = set};
    assert_int_equal(net_start(&opts, &other, &why), ERR_ADDRINUSE);
    snprintf(port, sizeof port, "1:%u", net_port(net));
    assert_non_null(strstr(why.where, port));
    opts.addresses = names;
    assert_int_equal(net_start(&opts, &other, &why), ERR_INVALID);
    assert_null(other);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_teardown(name, stop)
    const struct CMUnitTest tests[] = {
        CASE(udp_ipv4),
        CASE(udp_ipv6),
        CASE(udp_wildcard_replies_from_the_address_asked),
        CASE(udp_wildcard_ipv6),
        CASE(a_change_is_seen_and_memory_comes_back),
        CASE(tcp_pipelining),
        CASE(tcp_garbage_ends_the_connection),
        CASE(tcp_octet_by_octet),
        CASE(tcp_slow_reader),
        CASE(tcp_idle_connections_end),
        CASE(tcp_limits),
        CASE(tcp_limit_of_one_client),
        CASE(taken_queries_are_replied_later),
        CASE(a_busy_port_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

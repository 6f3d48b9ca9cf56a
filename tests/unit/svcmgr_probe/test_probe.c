/** Probes against servers of this process: what counts as ready, how soon and how often they look, and what they say. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/mem.h"
#include "base/obj.h"
#include "http/client.h"
#include "http/server.h"
#include "probe/probe.h"

#define DEADLINE_MS 20000

struct bench {
    struct run_loop *loop;
    struct http_client *http;
    struct probes *probes;
    struct http_server *server;
    int status;    /* what the HTTP server answers; 0: nothing at all */
    int n_asked;   /* requests it saw */
    int n_results; /* results of the probes */
    bool ready;
    char text[256];
    char container[32];
    int64_t attempt;
    int stop_after; /* results until the loop stops */
    int stop_asked; /* requests until the loop stops; 0: never */
};

static void on_result(void *arg, const char *container_id, int64_t attempt, bool ready, const char *text)
{
    struct bench *b = arg;

    b->ready = ready;
    b->attempt = attempt;
    snprintf(b->text, sizeof b->text, "%s", text ? text : "");
    snprintf(b->container, sizeof b->container, "%s", container_id);
    if (++b->n_results == b->stop_after)
        run_loop_stop(b->loop);
}

static void on_client_gone(void *arg)
{
    (void)arg; /* It was never to be answered. */
}

static void on_request(struct http_req *req, void *app)
{
    struct bench *b = app;

    if (++b->n_asked == b->stop_asked)
        run_loop_stop(b->loop);
    if (!b->status) {
        http_reply_later(req, on_client_gone, b);
        return;
    }
    if (b->status == 302)
        http_reply_header(req, "Location", "/other");
    http_reply(req, b->status, NULL, NULL);
}

static void on_other(struct http_req *req, void *app)
{
    (void)app;
    http_reply(req, 200, NULL, NULL);
}

static const struct http_route routes[] = {
    {"GET", "/health", 0, 0, on_request, .summary = "The health a test wants."},
    {"GET", "/other", 0, 0, on_other, .summary = "Where a redirect leads."},
};

static int set_up(void **state)
{
    struct bench *b = mem_new(struct bench);
    const struct http_server_def def = {.listen = "127.0.0.1:0",
                                        .static_user = "t",
                                        .routes = routes,
                                        .n_routes = ARRAY_LEN(routes),
                                        .app = b};
    struct err_info why = {0};

    signal(SIGPIPE, SIG_IGN);
    b->loop = run_loop_new();
    b->http = http_client_new(b->loop);
    b->probes = probes_new(b->loop, b->http, on_result, b);
    assert_int_equal(http_server_start(b->loop, &def, &b->server, &why), 0);
    *state = b;
    return 0;
}

static void stop_loop(void *arg)
{
    run_loop_stop(arg);
}

static int tear_down(void **state)
{
    struct bench *b = *state;

    probes_free(b->probes);
    http_client_free(b->http);
    http_server_stop(b->server, stop_loop, b->loop);
    run_loop_run(b->loop);
    run_loop_free(b->loop);
    free(b);
    return 0;
}

static void on_deadline(void *arg)
{
    (void)arg;
    fail_msg("no result in time");
}

static void run(struct bench *b)
{
    struct run_timer *deadline = run_timer_new(b->loop, on_deadline, NULL);

    run_timer_start(deadline, DEADLINE_MS, 0);
    run_loop_run(b->loop);
    run_timer_free(deadline);
}

static void await_results(struct bench *b, int n)
{
    b->stop_after = n;
    if (b->n_results < n)
        run(b);
    assert_int_equal(b->n_results, n);
}

static struct eng_probe http_probe(const struct bench *b, char url[64], const char *path)
{
    snprintf(url, 64, "http://127.0.0.1:%u%s", http_server_port(b->server), path);
    return (struct eng_probe){.type = CHECK_HTTP,
                              .attempt = 4,
                              .ip = (char *)"127.0.0.1",
                              .url = url,
                              .timeout_ms = 1000,
                              .min_success = 200,
                              .max_success = 299,
                              .interval_ms = 60000};
}

static struct eng_probe port_probe(int64_t port)
{
    return (struct eng_probe){.type = CHECK_PORT,
                              .attempt = 1,
                              .ip = (char *)"127.0.0.1",
                              .port = port,
                              .timeout_ms = 1000,
                              .interval_ms = 60000};
}

/** A TCP or UDP socket of a free port, not listening yet. */
static int bound_socket(int type, uint16_t *port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;
    int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);

    assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &len), 0);
    *port = ntohs(at.sin_port);
    return fd;
}

/* ---- DEFAULT ---- */

static void default_needs_the_address_only(void **state)
{
    struct bench *b = *state;
    struct eng_probe p = {.type = CHECK_DEFAULT,
                          .attempt = 9,
                          .ip = (char *)"127.0.0.1",
                          .timeout_ms = 1000,
                          .interval_ms = 60000};

    probe_start(b->probes, "c1", &p);
    await_results(b, 1);
    assert_true(b->ready);
    assert_int_equal(b->attempt, 9);
    assert_string_equal(b->container, "c1");
}

/* ---- HTTP ---- */

static void http_status_decides(void **state)
{
    struct bench *b = *state;
    static const struct {
        int status;
        bool ready;
    } cases[] = {{200, true}, {204, true}, {302, true}, {299, true}, {404, false}, {500, false}};

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char url[64];
        struct eng_probe p = http_probe(b, url, "/health");
        b->status = cases[i].status;
        b->n_results = 0;
        probe_start(b->probes, "c1", &p);
        await_results(b, 1);
        assert_int_equal(b->ready, cases[i].ready);
        probe_stop(b->probes, "c1");
    }
    assert_non_null(strstr(b->text, "/health answers 500"));
}

static void it_looks_quickly_until_the_first_success(void **state)
{
    struct bench *b = *state;
    char url[64];
    struct eng_probe p = http_probe(b, url, "/health");

    /* Four looks at an interval of a minute: the quick ones take 50 + 100 + 200 ms. */
    b->status = 503;
    b->stop_asked = 4;
    int64_t begin = run_now_ms();
    probe_start(b->probes, "c1", &p);
    run(b);
    assert_true(run_now_ms() - begin >= 350);
    b->status = 200;
    b->stop_asked = 0;
    await_results(b, 2);
    assert_true(b->ready);
    assert_true(run_now_ms() - begin < 15000);
    assert_int_equal(b->n_results, 2);
}

static void changes_are_reported_once(void **state)
{
    struct bench *b = *state;
    char url[64];
    struct eng_probe p = http_probe(b, url, "/health");

    p.interval_ms = 20;
    b->status = 200;
    probe_start(b->probes, "c1", &p);
    await_results(b, 1);
    b->stop_asked = b->n_asked + 3;
    run(b);
    assert_int_equal(b->n_results, 1);
    b->stop_asked = 0;
    b->status = 500;
    await_results(b, 2);
    assert_false(b->ready);
    b->status = 200;
    await_results(b, 3);
    assert_true(b->ready);
}

static void a_server_that_says_nothing_is_not_ready(void **state)
{
    struct bench *b = *state;
    char url[64];
    struct eng_probe p = http_probe(b, url, "/health");

    p.timeout_ms = 100;
    b->status = 0;
    probe_start(b->probes, "c1", &p);
    await_results(b, 1);
    assert_false(b->ready);
    probe_stop(b->probes, "c1");
}

static void a_stopped_probe_is_silent(void **state)
{
    struct bench *b = *state;
    char url[64];
    struct eng_probe p = http_probe(b, url, "/health"), q = {.type = CHECK_DEFAULT,
                                                             .ip = (char *)"127.0.0.1",
                                                             .timeout_ms = 1000,
                                                             .interval_ms = 60000};

    b->status = 0;
    b->stop_asked = 1;
    probe_start(b->probes, "c1", &p);
    run(b);
    probe_stop(b->probes, "c1");
    probe_start(b->probes, "c2", &q);
    await_results(b, 1);
    assert_string_equal(b->container, "c2");
}

/* ---- PORT ---- */

static void a_port_is_ready_when_it_is_open(void **state)
{
    struct bench *b = *state;
    uint16_t port;
    int fd = bound_socket(SOCK_STREAM, &port);
    struct eng_probe p = port_probe(port);

    probe_start(b->probes, "c1", &p);
    await_results(b, 1);
    assert_false(b->ready);
    assert_non_null(strstr(b->text, "connection refused"));
    assert_int_equal(listen(fd, 4), 0);
    await_results(b, 2);
    assert_true(b->ready);
    close(fd);
}

/* ---- DNS ---- */

/** Answers one query after the other with this rcode and number of answers. */
struct dns {
    uv_poll_t poll;
    int fd;
    unsigned char rcode, n_answers;
    char asked[256];
};

static void on_query(uv_poll_t *poll, int status, int events)
{
    struct dns *d = poll->data;
    unsigned char packet[512];
    struct sockaddr_in from;
    socklen_t len = sizeof from;
    ssize_t n = recvfrom(d->fd, packet, sizeof packet, 0, (struct sockaddr *)&from, &len);

    (void)status;
    (void)events;
    assert_true(n > 12);
    size_t at = 12, out = 0;
    while (packet[at]) {
        memcpy(d->asked + out, packet + at + 1, packet[at]);
        out += packet[at];
        d->asked[out++] = '.';
        at += packet[at] + 1u;
    }
    d->asked[out] = '\0';
    packet[2] |= 0x80;
    packet[3] = d->rcode;
    packet[7] = d->n_answers;
    assert_int_equal(sendto(d->fd, packet, (size_t)n, 0, (struct sockaddr *)&from, len), n);
}

static void on_dns_closed(uv_handle_t *handle)
{
    free(handle->data);
}

static void a_name_must_resolve_first(void **state)
{
    struct bench *b = *state;
    struct dns *d = mem_new(struct dns);
    uint16_t port;
    d->fd = bound_socket(SOCK_DGRAM, &port);
    d->rcode = 3;
    d->poll.data = d;
    assert_int_equal(uv_poll_init(run_loop_uv(b->loop), &d->poll, d->fd), 0);
    assert_int_equal(uv_poll_start(&d->poll, UV_READABLE, on_query), 0);
    mem_auto char *address = mem_fmt("127.0.0.1:%u", port);
    struct eng_probe p = {.type = CHECK_DEFAULT,
                          .ip = (char *)"127.0.0.1",
                          .timeout_ms = 1000,
                          .interval_ms = 60000,
                          .dns_name = (char *)"hello-0.web.alice.example",
                          .dns_address = address};

    probe_start(b->probes, "c1", &p);
    await_results(b, 1);
    assert_false(b->ready);
    assert_string_equal(d->asked, "hello-0.web.alice.example.");
    assert_non_null(strstr(b->text, "rcode 3"));
    d->rcode = 0;
    d->n_answers = 1;
    await_results(b, 2);
    assert_true(b->ready);
    probe_stop(b->probes, "c1");
    uv_poll_stop(&d->poll);
    close(d->fd);
    uv_close((uv_handle_t *)&d->poll, on_dns_closed);
}

static void the_system_resolver_is_asked_without_an_address(void **state)
{
    struct bench *b = *state;
    struct eng_probe p = {.type = CHECK_DEFAULT,
                          .ip = (char *)"127.0.0.1",
                          .timeout_ms = 5000,
                          .interval_ms = 60000,
                          .dns_name = (char *)"localhost"};

    probe_start(b->probes, "c1", &p);
    await_results(b, 1);
    assert_true(b->ready);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(default_needs_the_address_only),
        CASE(http_status_decides),
        CASE(it_looks_quickly_until_the_first_success),
        CASE(changes_are_reported_once),
        CASE(a_server_that_says_nothing_is_not_ready),
        CASE(a_stopped_probe_is_silent),
        CASE(a_port_is_ready_when_it_is_open),
        CASE(a_name_must_resolve_first),
        CASE(the_system_resolver_is_asked_without_an_address),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

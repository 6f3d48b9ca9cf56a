/* lib/http/server: listening, refusing to, and stopping. */
#include "http_fixture.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/obj.h"

#define FLOOD "GET /flood HTTP/1.1\r\nHost: h\r\n\r\n"
/** A flood that has become so long has kept the loop from all else. */
enum { FLOOD_MAX = 200000 };

struct parked {
    struct raw *flood[2]; /* each request on one of them brings the next on the other */
    size_t n_flood;
    bool is_flood_over;
    struct http_req *reqs[8];
    size_t n;
    int n_closed;
    struct fixture *fx;
};

static void on_closed(void *arg)
{
    struct parked *parked = arg;
    parked->n_closed++;
}

static void park(struct http_req *req, void *app)
{
    struct parked *parked = app;
    parked->reqs[parked->n++] = req;
    http_reply_later(req, on_closed, parked);
}

static void promise(struct http_req *req, void *app)
{
    struct parked *parked = app;
    parked->reqs[parked->n++] = req;
    http_reply_later(req, NULL, NULL);
}

static void ok(struct http_req *req, void *app)
{
    assert_ptr_equal(http_app(req), app);
    http_reply(req, 200, NULL, NULL);
}

static void on_stopped(void *arg)
{
    struct fixture *fx = arg;
    fx->is_stopped = true;
    fx->server = NULL;
}

static void on_stopped_other(void *arg)
{
    struct fixture *fx = arg;
    fx->is_stopped = true;
}

static void quit(struct http_req *req, void *app)
{
    struct parked *parked = app;
    http_server_stop(parked->fx->server, on_stopped, parked->fx);
    http_reply(req, 202, NULL, NULL);
}

static void end_flood(void *arg)
{
    ((struct parked *)arg)->is_flood_over = true;
}

static void flood(struct http_req *req, void *app)
{
    struct parked *parked = app;
    char answers[4096];
    if (parked->n_flood++ == 0)
        run_post(parked->fx->loop, end_flood, parked);
    struct raw *next = parked->flood[parked->n_flood % ARRAY_LEN(parked->flood)];
    if (!parked->is_flood_over && parked->n_flood < FLOOD_MAX) {
        (void)recv(next->fd, answers, sizeof answers, MSG_DONTWAIT);
        raw_send_str(next, FLOOD);
    }
    http_reply(req, 200, NULL, NULL);
}

static const struct http_route routes[] = {
    {"GET", "/flood", 0, 0, flood, .summary = ""},     {"GET", "/park", 0, 0, park, .summary = ""},
    {"GET", "/promise", 0, 0, promise, .summary = ""}, {"GET", "/ok", 0, 0, ok, .summary = ""},
    {"POST", "/quit", 0, 0, quit, .summary = ""},
};

static struct parked parked;

static int setup(void **state)
{
    struct fixture *fx = mem_new(struct fixture);
    parked = (struct parked){.fx = fx};
    fixture_start(fx, routes, ARRAY_LEN(routes), &parked, NULL);
    *state = fx;
    return 0;
}

static int teardown(void **state)
{
    fixture_end(*state);
    free(*state);
    return 0;
}

static bool two_are_parked(void *arg)
{
    return ((struct parked *)arg)->n >= 2;
}

static int try_listen(struct fixture *fx, const char *listen, bool allow_remote, struct err_info *why)
{
    struct http_server *s = NULL;
    struct http_server_def def = {.listen = listen,
                                  .allow_remote = allow_remote,
                                  .allow_remote_key = "x.allow",
                                  .routes = routes,
                                  .n_routes = ARRAY_LEN(routes)};
    int rc = http_server_start(fx->loop, &def, &s, why);
    if (rc == 0) {
        assert_int_not_equal(http_server_port(s), 0);
        http_server_stop(s, NULL, NULL);
        fixture_spin(fx);
    } else {
        assert_null(s);
    }
    return rc;
}

/** Start a server that listens so, ask it under a Host, and stop it. @return whether it took the request. */
static bool is_served(struct fixture *fx, const char *listen, const char *hosts, const char *host)
{
    struct http_server_def def = {.listen = listen,
                                  .limits = {.hosts = hosts},
                                  .allow_remote = true,
                                  .routes = routes,
                                  .n_routes = ARRAY_LEN(routes)};
    struct http_server *s = NULL;
    struct err_info why;
    uint16_t port = fx->port;
    assert_int_equal(http_server_start(fx->loop, &def, &s, &why), 0);
    fx->port = http_server_port(s);
    mem_auto char *request = mem_fmt("GET /ok HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", host);
    mem_auto char *answer = raw_exchange(fx, request);
    fx->port = port;
    bool is_refused = strstr(answer, "HTTP/1.1 421 ") && strstr(answer, "urn:bobbin:error:foreign-host");
    assert_true(is_refused || strstr(answer, "HTTP/1.1 200 "));
    fx->is_stopped = false;
    http_server_stop(s, on_stopped_other, fx);
    fixture_await(fx, &fx->is_stopped);
    fx->is_stopped = false;
    return !is_refused;
}

static void test_hosts(void **state)
{
    struct fixture *fx = *state;
    char own[256] = "";
    assert_int_equal(gethostname(own, sizeof own - 1), 0);
    const struct {
        const char *listen, *hosts, *host;
        bool is_ours;
    } cases[] = {
        {"127.0.0.1:0", NULL, "127.0.0.1:9192", true},
        {"127.0.0.1:0", NULL, "127.0.0.1", true},
        {"127.0.0.1:0", NULL, "localhost:1", true},
        {"127.0.0.1:0", NULL, "LocalHost.", true},
        {"127.0.0.1:0", NULL, "[::1]:9192", true},
        {"127.0.0.1:0", NULL, own, true},
        {"127.0.0.1:0", NULL, "192.0.2.1", false},
        {"127.0.0.1:0", NULL, "rebound.example", false},
        {"127.0.0.1:0", NULL, "rebound.example:9192", false},
        {"127.0.0.1:0", NULL, "127.0.0.1.rebound.example", false},
        {"127.0.0.1:0", NULL, "localhost.rebound.example", false},
        {"127.0.0.1:0", NULL, "localhost:x", false},
        {"127.0.0.1:0", NULL, "[::1", false},
        {"127.0.0.1:0", NULL, "", false},
        {"127.0.0.1:0", "registry.example, knox.example", "registry.example:8443", true},
        {"127.0.0.1:0", "registry.example, knox.example", "KNOX.example", true},
        {"127.0.0.1:0", "registry.example, knox.example", "example", false},
        {"0.0.0.0:0", NULL, "192.0.2.1:9192", true},
        {"0.0.0.0:0", NULL, "rebound.example", false},
        {"0.0.0.0:0", "registry.example", "registry.example", true},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        if (is_served(fx, cases[i].listen, cases[i].hosts, cases[i].host) != cases[i].is_ours)
            fail_msg("%s with hosts=%s asked as \"%s\"", cases[i].listen, cases[i].hosts, cases[i].host);
    }
}

static void test_listen(void **state)
{
    struct fixture *fx = *state;
    static const struct {
        const char *listen;
        bool allow_remote;
        int rc;
        const char *text;
    } cases[] = {
        {"127.0.0.1:0", false, 0, ""},
        {"localhost:0", false, 0, ""},
        {"127.9.8.7:0", false, 0, ""},
        {"0.0.0.0:0", false, ERR_CONFIG, "x.allow"},
        {"0.0.0.0:0", true, 0, ""},
        {"[::]:0", false, ERR_CONFIG, "x.allow"},
        {"192.0.2.1:0", false, ERR_CONFIG, "192.0.2.1"},
        {"192.0.2.1:0", true, ERR_CONFIG, "no address"},
        {"somehost:80", true, ERR_CONFIG, "somehost"},
        {"127.0.0.1:99999", false, ERR_CONFIG, "host:port"},
        {"", false, ERR_CONFIG, "host:port"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err_info why = {0};
        int rc = try_listen(fx, cases[i].listen, cases[i].allow_remote, &why);
        if (rc != cases[i].rc || !strstr(why.text, cases[i].text))
            fail_msg("%s gives %s: %s", cases[i].listen, err_name(rc), why.text);
    }
}

static void test_address_in_use(void **state)
{
    struct fixture *fx = *state;
    mem_auto char *listen = mem_fmt("127.0.0.1:%u", fx->port);
    struct err_info why = {0};
    assert_int_equal(try_listen(fx, listen, false, &why), ERR_ADDRINUSE);
    assert_non_null(strstr(why.text, listen));
    struct result res = {0};
    get_sync(fx, "/ok", &res);
    assert_int_equal(res.status, 200);
    buf_fini(&res.body);
}

static void test_second_table(void **state)
{
    (void)state;
    static const struct http_route more[] = {{"GET", "/more", 0, 0, ok, .summary = ""}};
    struct fixture fx;
    fixture_start(&fx, routes, ARRAY_LEN(routes), NULL,
                  &(struct http_server_def){.more_routes = more, .n_more_routes = 1});
    struct result res = {0};
    get_sync(&fx, "/more", &res);
    assert_int_equal(res.status, 200);
    get_sync(&fx, "/ok", &res);
    assert_int_equal(res.status, 200);
    buf_fini(&res.body);
    fixture_end(&fx);
}

static void test_stop_frees_the_address(void **state)
{
    struct fixture *fx = *state;
    mem_auto char *listen = mem_fmt("127.0.0.1:%u", fx->port);
    struct raw *idle = raw_open(fx);
    raw_send_str(idle, "GET /ok HTTP/1.1\r\nHost: h\r\n\r\n");
    raw_await(idle, "HTTP/1.1 200");
    fixture_stop_server(fx);
    raw_await_end(idle);
    raw_close(idle);
    struct result res = {0};
    get_sync(fx, "/ok", &res);
    assert_int_equal(res.err, ERR_UNAVAILABLE);
    struct err_info why = {0};
    assert_int_equal(try_listen(fx, listen, false, &why), 0);
    buf_fini(&res.body);
}

/** The owner of a waiting request is notified, its client gets an answer; a promised reply may still come, and is dropped. */
static void test_stop_with_waiting_requests(void **state)
{
    struct fixture *fx = *state;
    struct raw *a = raw_open(fx), *b = raw_open(fx);
    raw_send_str(a, "GET /park HTTP/1.1\r\nHost: h\r\n\r\n");
    while (parked.n < 1)
        fixture_spin(fx);
    raw_send_str(b, "GET /promise HTTP/1.1\r\nHost: h\r\n\r\n");
    fixture_await_fn(fx, two_are_parked, &parked);
    fixture_stop_server(fx);
    assert_int_equal(parked.n_closed, 1);
    raw_await_end(a);
    raw_await_end(b);
    assert_non_null(strstr(buf_cstr(&a->in), "HTTP/1.1 503"));
    assert_non_null(strstr(buf_cstr(&a->in), "Connection: close"));
    assert_non_null(strstr(buf_cstr(&b->in), "HTTP/1.1 503"));
    raw_close(a);
    raw_close(b);
    buf_auto struct buf late = BUF_EMPTY;
    buf_add_str(&late, "too late");
    http_reply(parked.reqs[1], 200, "text/plain", &late);
    assert_int_equal(late.len, 0);
}

static void test_stop_with_half_a_request(void **state)
{
    struct fixture *fx = *state;
    struct raw *r = raw_open(fx);
    raw_send_str(r, "GET /ok HTTP/1.1\r\nHost:");
    for (int i = 0; i < 5; i++)
        fixture_spin(fx);
    int64_t began_ms = run_now_ms();
    fixture_stop_server(fx);
    assert_true(run_now_ms() - began_ms < 2000); /* nobody waits for the rest */
    raw_await_end(r);
    raw_close(r);
}

static void test_stop_from_a_handler(void **state)
{
    struct fixture *fx = *state;
    struct raw *r = raw_open(fx);
    raw_send_str(r, "POST /quit HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n");
    raw_await(r, "HTTP/1.1 202");
    fixture_await(fx, &fx->is_stopped);
    raw_await_end(r);
    raw_close(r);
}

static void test_requests_that_keep_coming_leave_the_loop_its_turns(void **state)
{
    struct fixture *fx = *state;
    for (size_t i = 0; i < ARRAY_LEN(parked.flood); i++)
        parked.flood[i] = raw_open(fx);
    raw_send_str(parked.flood[0], FLOOD);
    fixture_await(fx, &parked.is_flood_over);
    assert_in_range(parked.n_flood, 1, FLOOD_MAX - 1);
    for (size_t i = 0; i < ARRAY_LEN(parked.flood); i++)
        raw_close(parked.flood[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_listen, setup, teardown),
        cmocka_unit_test_setup_teardown(test_hosts, setup, teardown),
        cmocka_unit_test_setup_teardown(test_address_in_use, setup, teardown),
        cmocka_unit_test(test_second_table),
        cmocka_unit_test_setup_teardown(test_stop_frees_the_address, setup, teardown),
        cmocka_unit_test_setup_teardown(test_stop_with_waiting_requests, setup, teardown),
        cmocka_unit_test_setup_teardown(test_stop_with_half_a_request, setup, teardown),
        cmocka_unit_test_setup_teardown(test_stop_from_a_handler, setup, teardown),
        cmocka_unit_test_setup_teardown(test_requests_that_keep_coming_leave_the_loop_its_turns, setup,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* lib/http/upgrade: connections that leave HTTP, their clients, and their end. */
#include "http_fixture.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/mem.h"
#include "base/obj.h"

/** An upgraded connection. */
struct line {
    struct http_req *req;
    int fd; /* -1: not begun */
    struct buf early;
    bool ends_at_once, is_later;
    int n_begun, n_closed;
};

static void on_begun(void *arg, int fd, const char *early, size_t len)
{
    struct line *line = arg;
    line->fd = fd;
    line->n_begun++;
    buf_add(&line->early, early, len);
    if (line->ends_at_once)
        http_upgrade_end(line->req);
}

static void on_closed(void *arg)
{
    struct line *line = arg;
    line->n_closed++;
}

static void not_reached(void *arg)
{
    (void)arg;
    fail_msg("closed of a request that was upgraded");
}

static const struct http_upgrade_ops line_ops = {on_begun, on_closed};

static void open_line(struct http_req *req, void *app)
{
    struct line *line = app;
    struct buf none = BUF_EMPTY;
    line->req = req;
    if (!http_wants_upgrade(req, "echo"))
        http_reply(req, 426, NULL, &none);
    else if (line->is_later)
        http_reply_later(req, not_reached, NULL);
    else
        http_upgrade_start(req, "echo", &line_ops, line);
}

static const struct http_route routes[] = {
    {"POST", "/line", 0, 0, open_line, .summary = ""},
};

static struct line line;

static int setup(void **state)
{
    struct fixture *fx = mem_new(struct fixture);
    line = (struct line){.fd = -1};
    fixture_start(fx, routes, ARRAY_LEN(routes), &line, NULL);
    *state = fx;
    return 0;
}

static int teardown(void **state)
{
    fixture_end(*state);
    free(*state);
    buf_fini(&line.early);
    return 0;
}

static bool has_begun(void *arg)
{
    (void)arg;
    return line.n_begun > 0;
}

static bool is_readable(void *arg)
{
    char octet;
    (void)arg;
    return recv(line.fd, &octet, 1, MSG_PEEK | MSG_DONTWAIT) == 1;
}

static bool is_asked(void *arg)
{
    (void)arg;
    return line.req != NULL;
}

#define HEAD    "POST /line HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n"
#define UPGRADE HEAD "Connection: keep-alive, Upgrade\r\nUpgrade: other, Echo\r\n\r\n"

static void test_octets_pass_both_ways_until_the_end(void **state)
{
    struct fixture *fx = *state;
    struct raw *r = raw_open(fx);
    char got[8] = "";
    raw_send_str(r, UPGRADE);
    raw_await(r, "\r\n\r\n");
    fixture_await_fn(fx, has_begun, NULL);
    assert_true(strstr(buf_cstr(&r->in), "HTTP/1.1 101 ") == r->in.bytes);
    assert_non_null(strstr(r->in.bytes, "Upgrade: echo\r\n"));
    assert_non_null(strstr(r->in.bytes, "Connection: Upgrade\r\n"));
    assert_int_equal(send(line.fd, "hello", 5, MSG_NOSIGNAL), 5);
    raw_await(r, "hello");
    raw_send_str(r, "POST /"); /* no request any more */
    fixture_await_fn(fx, is_readable, NULL);
    assert_int_equal(recv(line.fd, got, sizeof got, MSG_DONTWAIT), 6);
    assert_memory_equal(got, "POST /", 6);
    http_upgrade_end(line.req);
    raw_await_end(r);
    assert_int_equal(line.n_closed, 0);
    raw_close(r);
}

static void test_what_came_early_is_there(void **state)
{
    struct fixture *fx = *state;
    struct raw *r = raw_open(fx);
    raw_send_str(r, UPGRADE "early octets");
    fixture_await_fn(fx, has_begun, NULL);
    assert_true(line.early.len <= strlen("early octets"));
    assert_memory_equal("early octets", line.early.bytes, line.early.len);
    http_upgrade_end(line.req);
    raw_await_end(r);
    raw_close(r);
}

static void test_an_end_at_once(void **state)
{
    struct fixture *fx = *state;
    line.ends_at_once = true;
    for (int i = 0; i < 3; i++) {
        struct raw *r = raw_open(fx);
        raw_send_str(r, UPGRADE);
        raw_await(r, "101");
        raw_await_end(r);
        raw_close(r);
    }
    assert_int_equal(line.n_begun, 3);
    assert_int_equal(line.n_closed, 0);
}

static void test_later(void **state)
{
    struct fixture *fx = *state;
    struct raw *r = raw_open(fx);
    line.is_later = true;
    raw_send_str(r, UPGRADE);
    fixture_await_fn(fx, is_asked, NULL);
    http_upgrade_start(line.req, "echo", &line_ops, &line);
    raw_await(r, "101");
    fixture_await_fn(fx, has_begun, NULL);
    http_upgrade_end(line.req);
    raw_await_end(r);
    raw_close(r);
}

static void test_who_does_not_ask_for_it_does_not_get_it(void **state)
{
    struct fixture *fx = *state;
    static const char *const requests[] = {
        HEAD "\r\n",
        HEAD "Connection: Upgrade\r\nUpgrade: echoes\r\n\r\n",
        HEAD "Upgrade: echo\r\n\r\n",
        "POST /line HTTP/1.0\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n",
    };
    for (size_t i = 0; i < ARRAY_LEN(requests); i++) {
        struct raw *r = raw_open(fx);
        raw_send_str(r, requests[i]);
        raw_await(r, " 426 ");
        raw_close(r);
    }
    assert_int_equal(line.n_begun, 0);
}

static void test_a_stop_ends_it(void **state)
{
    struct fixture *fx = *state;
    struct raw *r = raw_open(fx);
    raw_send_str(r, UPGRADE);
    fixture_await_fn(fx, has_begun, NULL);
    fixture_stop_server(fx);
    assert_int_equal(line.n_closed, 1);
    raw_await_end(r);
    raw_close(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_octets_pass_both_ways_until_the_end, setup, teardown),
        cmocka_unit_test_setup_teardown(test_what_came_early_is_there, setup, teardown),
        cmocka_unit_test_setup_teardown(test_an_end_at_once, setup, teardown),
        cmocka_unit_test_setup_teardown(test_later, setup, teardown),
        cmocka_unit_test_setup_teardown(test_who_does_not_ask_for_it_does_not_get_it, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_stop_ends_it, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

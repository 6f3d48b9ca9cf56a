/* lib/http/reply: answers from within the handler, later, errors, HEAD, pipelining. */
#include "http_fixture.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/mem.h"
#include "base/obj.h"

/** Requests that wait for the test to answer them. */
struct parked {
    struct http_req *reqs[8];
    size_t n;
    int n_closed;
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

static void park_promised(struct http_req *req, void *app)
{
    struct parked *parked = app;
    parked->reqs[parked->n++] = req;
    http_reply_later(req, NULL, NULL);
}

static void reply_text(struct http_req *req, int status, const char *text)
{
    buf_auto struct buf body = BUF_EMPTY;
    buf_add_str(&body, text);
    http_reply(req, status, "text/plain", &body);
    assert_int_equal(body.len, 0);
}

static void now(struct http_req *req, void *app)
{
    (void)app;
    const char *rest = http_path_raw(req, "*");
    http_reply_header(req, "X-Rest", rest);
    reply_text(req, 201, rest);
}

static void later_then_now(struct http_req *req, void *app)
{
    http_reply_later(req, on_closed, app);
    reply_text(req, 200, "at once");
}

static void now_then_later(struct http_req *req, void *app)
{
    reply_text(req, 200, "before");
    http_reply_later(req, on_closed, app);
}

static void big(struct http_req *req, void *app)
{
    (void)app;
    buf_auto struct buf body = BUF_EMPTY;
    size_t len = (size_t)30 << 20;
    memset(buf_room(&body, len), 'z', len);
    body.len = len;
    http_reply(req, 200, "text/plain", &body);
}

static void fail_with(struct http_req *req, void *app)
{
    (void)app;
    const char *what = http_query(req, "what");
    struct err_info why;
    if (strcmp(what, "plain") == 0) {
        http_reply_error(req, ERR_NOTFOUND, NULL);
    } else if (strcmp(what, "full") == 0) {
        err_set(&why, ERR_NOTFOUND, "/users/\"q\"", "nothing\tthere");
        http_reply_error(req, ERR_NOTFOUND, &why);
    } else if (strcmp(what, "status") == 0) {
        err_set(&why, ERR_NOTFOUND, NULL, "x");
        http_reply_error_status(req, 410, ERR_NOTFOUND, &why);
    } else if (strcmp(what, "auth") == 0) {
        http_reply_error(req, ERR_AUTH, NULL);
    } else if (strcmp(what, "unchanged") == 0) {
        http_reply_error(req, ERR_NOTMODIFIED, NULL);
    } else {
        err_set(&why, ERR_JSON, NULL, "cut \xC3");
        http_reply_error(req, ERR_JSON, &why);
    }
}

static void odd_header(struct http_req *req, void *app)
{
    (void)app;
    http_reply_header(req, "X-Odd", "a\r\nInjected: yes");
    http_reply_header(req, "X-Empty", "");
    http_reply(req, 204, "text/plain", NULL);
}

static const struct http_route routes[] = {
    {"GET", "/park", 0, 0, park, .summary = ""},
    {"GET", "/promise", 0, 0, park_promised, .summary = ""},
    {"GET", "/now/*", 0, 0, now, .summary = ""},
    {"POST", "/now/*", 0, 100, now, .summary = ""},
    {"GET", "/later-then-now", 0, 0, later_then_now, .summary = ""},
    {"GET", "/now-then-later", 0, 0, now_then_later, .summary = ""},
    {"GET", "/big", 0, 0, big, .summary = ""},
    {"GET", "/fail", 0, 0, fail_with, .summary = ""},
    {"GET", "/odd", 0, 0, odd_header, .summary = ""},
};

static struct parked parked;

static int setup(void **state)
{
    struct fixture *fx = mem_new(struct fixture);
    parked = (struct parked){0};
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

static bool one_is_parked(void *arg)
{
    return ((struct parked *)arg)->n >= 1;
}

static bool three_are_parked(void *arg)
{
    return ((struct parked *)arg)->n >= 3;
}

static void test_now(void **state)
{
    struct fixture *fx = *state;
    struct result res = {.header_name = "x-rest"};
    get_sync(fx, "/now/a%20b", &res);
    assert_int_equal(res.err, 0);
    assert_int_equal(res.status, 201);
    assert_string_equal(buf_cstr(&res.body), "a%20b");
    assert_string_equal(res.header, "a%20b");
    buf_fini(&res.body);
}

static void test_later_and_now_mixed(void **state)
{
    struct fixture *fx = *state;
    struct result res = {0};
    get_sync(fx, "/later-then-now", &res);
    assert_string_equal(buf_cstr(&res.body), "at once");
    get_sync(fx, "/now-then-later", &res);
    assert_string_equal(buf_cstr(&res.body), "before");
    assert_int_equal(parked.n_closed, 0);
    buf_fini(&res.body);
}

static void test_late_replies_in_any_order(void **state)
{
    struct fixture *fx = *state;
    struct result res[3] = {0};
    for (int i = 0; i < 3; i++)
        http_call(fx->client, &(struct http_call_def){
                                  .url = fixture_url(fx, "/park"), .done = result_done, .arg = &res[i]});
    fixture_await_fn(fx, three_are_parked, &parked);
    for (size_t i = 3; i-- > 0;)
        reply_text(parked.reqs[i], 200, "late");
    for (int i = 0; i < 3; i++) {
        fixture_await(fx, &res[i].is_done);
        assert_string_equal(buf_cstr(&res[i].body), "late");
        buf_fini(&res[i].body);
    }
    assert_int_equal(parked.n_closed, 0);
}

static void test_late_reply_to_vanished_client(void **state)
{
    struct fixture *fx = *state;
    for (int promised = 0; promised < 2; promised++) {
        parked.n = 0;
        struct raw *r = raw_open(fx);
        raw_send_str(r, promised ? "GET /promise HTTP/1.1\r\nHost: h\r\n\r\n"
                                 : "GET /park HTTP/1.1\r\nHost: h\r\n\r\n");
        fixture_await_fn(fx, one_is_parked, &parked);
        raw_close(r);
        for (int i = 0; i < 5; i++)
            fixture_spin(fx);
        reply_text(parked.reqs[0], 200, "nobody hears");
        for (int i = 0; i < 5; i++)
            fixture_spin(fx);
    }
    struct result res = {0};
    get_sync(fx, "/now/alive", &res);
    assert_int_equal(res.status, 201);
    buf_fini(&res.body);
}

static void test_half_closed_client_is_answered(void **state)
{
    struct fixture *fx = *state;
    struct raw *r = raw_open(fx);
    raw_send_str(r, "GET /park HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    shutdown(r->fd, SHUT_WR);
    fixture_await_fn(fx, one_is_parked, &parked);
    reply_text(parked.reqs[0], 200, "still heard");
    raw_await_end(r);
    assert_non_null(strstr(buf_cstr(&r->in), "still heard"));
    raw_close(r);
}

static void test_pipelined(void **state)
{
    struct fixture *fx = *state;
    struct raw *r = raw_open(fx);
    raw_send_str(r, "GET /now/1 HTTP/1.1\r\nHost: h\r\n\r\nGET /park HTTP/1.1\r\nHost: h\r\n\r\n"
                    "POST /now/2 HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc"
                    "GET /now/3 HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    fixture_await_fn(fx, one_is_parked, &parked);
    raw_await(r, "X-Rest: 1\r\n");
    assert_null(strstr(buf_cstr(&r->in), "X-Rest: 2"));
    reply_text(parked.reqs[0], 200, "parked");
    raw_await_end(r);
    const char *text = buf_cstr(&r->in);
    const char *first = strstr(text, "X-Rest: 1"), *second = strstr(text, "parked");
    const char *third = strstr(text, "X-Rest: 2"), *fourth = strstr(text, "X-Rest: 3");
    assert_true(first && second && third && fourth);
    assert_true(first < second && second < third && third < fourth);
    raw_close(r);
}

static void test_head(void **state)
{
    struct fixture *fx = *state;
    mem_auto char *text = raw_exchange(fx, "HEAD /now/abc HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    assert_non_null(strstr(text, "HTTP/1.1 201"));
    assert_non_null(strstr(text, "Content-Length: 3\r\n"));
    const char *end = strstr(text, "\r\n\r\n");
    assert_non_null(end);
    assert_string_equal(end + 4, "");
    struct result res = {0};
    call_sync(fx, (struct http_call_def){.method = "HEAD", .url = fixture_url(fx, "/now/abc")}, &res);
    assert_int_equal(res.err, 0);
    assert_int_equal(res.status, 201);
    assert_int_equal(res.body.len, 0);
    buf_fini(&res.body);
}

static void test_big(void **state)
{
    struct fixture *fx = *state;
    struct result res = {0};
    get_sync(fx, "/big", &res);
    assert_int_equal(res.err, 0);
    assert_int_equal(res.body.len, 31457280);
    assert_int_equal(res.body.bytes[31457279], 'z');
    buf_fini(&res.body);
}

static void test_errors(void **state)
{
    struct fixture *fx = *state;
    static const struct {
        const char *what;
        int status;
        const char *body;
    } cases[] = {
        {"plain", 404,
         "{\"type\":\"urn:bobbin:error:path-not-found\",\"title\":\"path not found\",\"status\":404,"
         "\"detail\":\"path not found\",\"exception\":\"PathNotFoundException\"}"},
        {"full", 404,
         "{\"type\":\"urn:bobbin:error:path-not-found\",\"title\":\"path not found\",\"status\":404,"
         "\"detail\":\"nothing\\tthere\",\"where\":\"/users/"
         "\\\"q\\\"\",\"exception\":\"PathNotFoundException\"}"},
        {"status", 410,
         "{\"type\":\"urn:bobbin:error:path-not-found\",\"title\":\"path not found\",\"status\":410,"
         "\"detail\":\"x\",\"exception\":\"PathNotFoundException\"}"},
        {"cut", 400,
         "{\"type\":\"urn:bobbin:error:bad-json\",\"title\":\"malformed JSON\",\"status\":400,"
         "\"detail\":\"cut \xEF\xBF\xBD\"}"},
        {"unchanged", 304, ""},
    };
    struct result res = {.header_name = "content-type"};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        mem_auto char *path = mem_fmt("/fail?what=%s", cases[i].what);
        get_sync(fx, path, &res);
        assert_int_equal(res.status, cases[i].status);
        assert_string_equal(buf_cstr(&res.body), cases[i].body);
        assert_string_equal(res.header, cases[i].body[0] ? "application/problem+json" : "");
    }
    res.header_name = "www-authenticate";
    get_sync(fx, "/fail?what=auth", &res);
    assert_int_equal(res.status, 401);
    assert_string_equal(res.header, "Basic realm=\"bobbin\"");
    buf_fini(&res.body);
}

static void test_odd_header(void **state)
{
    struct fixture *fx = *state;
    mem_auto char *text = raw_exchange(fx, "GET /odd HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    assert_non_null(strstr(text, "HTTP/1.1 204"));
    assert_non_null(strstr(text, "X-Odd: a??Injected: yes\r\n"));
    assert_null(strstr(text, "\nInjected"));
    assert_null(strstr(text, "Content-Type"));
}

static const char *dialect(struct http_req *req, int code, const struct err_info *why, struct buf *body)
{
    assert_non_null(http_raw_path(req));
    buf_addf(body, "<%s:%s>", err_name(code), why ? why->text : "");
    return "text/dialect";
}

static void test_dialect(void **state)
{
    (void)state;
    struct fixture fx;
    fixture_start(&fx, routes, ARRAY_LEN(routes), &parked, &(struct http_server_def){.write_error = dialect});
    struct result res = {.header_name = "content-type"};
    get_sync(&fx, "/fail?what=plain", &res);
    assert_string_equal(buf_cstr(&res.body), "<ERR_NOTFOUND:>");
    assert_string_equal(res.header, "text/dialect");
    get_sync(&fx, "/none", &res);
    assert_string_equal(buf_cstr(&res.body), "<ERR_NOROUTE:there is no such resource>");
    buf_fini(&res.body);
    fixture_end(&fx);
}

/** The head of the answer to one request on a connection that stays open; free() the text. */
static char *head_of(struct fixture *fx, const char *request_headers)
{
    struct raw *r = raw_open(fx);
    mem_auto char *request = mem_fmt("GET /now/x HTTP/1.1\r\nHost: h\r\n%s\r\n", request_headers);
    raw_send_str(r, request);
    raw_await(r, "\r\n\r\nx");
    char *text = mem_str(buf_cstr(&r->in));
    raw_close(r);
    return text;
}

static void test_a_proxy_drops_idle_connections_first(void **state)
{
    (void)state;
    static const struct {
        int64_t head_ms, send_ms;
        const char *wanted;
    } cases[] = {{60000, 0, "timeout=20"},
                 {60000, 15000, "timeout=10"},
                 {9000, 0, "timeout=6"},
                 {60000, 2000, "timeout=1"},
                 {60000, 1000, NULL}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct http_server_def def = {.send_timeout_ms = cases[i].send_ms};
        def.limits = (struct http_limits){"",
                                          HTTP_BODY_BUDGET,
                                          HTTP_BODY_MIN_RATE,
                                          HTTP_BODY_WINDOW_MS,
                                          cases[i].head_ms,
                                          HTTP_PER_ADDRESS,
                                          NULL};
        struct fixture fx;
        fixture_start(&fx, routes, ARRAY_LEN(routes), &parked, &def);
        mem_auto char *direct = head_of(&fx, "");
        mem_auto char *proxied = head_of(&fx, "x-forwarded-host: gw:8443\r\n");
        assert_null(strstr(direct, "Keep-Alive"));
        mem_auto char *wanted = mem_fmt("Keep-Alive: %s\r\n", cases[i].wanted ? cases[i].wanted : "");
        assert_int_equal(strstr(proxied, wanted) != NULL, cases[i].wanted != NULL);
        assert_int_equal(strstr(proxied, "Connection: Keep-Alive\r\n") != NULL, cases[i].wanted != NULL);
        fixture_end(&fx);
    }
}

static void test_a_connection_that_ends_is_not_kept(void **state)
{
    struct fixture *fx = *state;
    mem_auto char *text = raw_exchange(
        fx, "POST /now/x HTTP/1.1\r\nHost: h\r\nX-Forwarded-Host: gw\r\nContent-Length: 2000000\r\n\r\n");
    assert_non_null(strstr(text, "Connection: close\r\n"));
    assert_null(strstr(text, "Keep-Alive"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_now, setup, teardown),
        cmocka_unit_test_setup_teardown(test_later_and_now_mixed, setup, teardown),
        cmocka_unit_test_setup_teardown(test_late_replies_in_any_order, setup, teardown),
        cmocka_unit_test_setup_teardown(test_late_reply_to_vanished_client, setup, teardown),
        cmocka_unit_test_setup_teardown(test_half_closed_client_is_answered, setup, teardown),
        cmocka_unit_test_setup_teardown(test_pipelined, setup, teardown),
        cmocka_unit_test_setup_teardown(test_head, setup, teardown),
        cmocka_unit_test_setup_teardown(test_big, setup, teardown),
        cmocka_unit_test_setup_teardown(test_errors, setup, teardown),
        cmocka_unit_test_setup_teardown(test_odd_header, setup, teardown),
        cmocka_unit_test(test_dialect),
        cmocka_unit_test(test_a_proxy_drops_idle_connections_first),
        cmocka_unit_test_setup_teardown(test_a_connection_that_ends_is_not_kept, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

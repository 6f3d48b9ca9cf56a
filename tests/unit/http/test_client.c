/* lib/http/client: calls, their limits, their errors, and cancelling at every moment. */
#include "http_fixture.h"

#include <stdlib.h>
#include <string.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/obj.h"

static void echo(struct http_req *req, void *app)
{
    (void)app;
    size_t len = 0;
    const char *bytes = http_body(req, &len), *type = http_header(req, "content-type");
    const char *thing = http_header(req, "x-thing"), *sent_len = http_header(req, "content-length");
    buf_auto struct buf body = BUF_EMPTY;
    buf_addf(&body, "%s %s type=%s thing=%s length=%s body=", http_method(req), http_raw_path(req),
             type ? type : "(none)", thing ? thing : "(none)", sent_len ? sent_len : "(none)");
    buf_add(&body, bytes, len);
    http_reply_header(req, "X-Answer", "forty-two");
    http_reply(req, 200, "text/plain", &body);
}

static void who(struct http_req *req, void *app)
{
    (void)app;
    const char *sent = http_header(req, "authorization");
    buf_auto struct buf body = BUF_EMPTY;
    buf_add_str(&body, sent ? sent : "(nobody)");
    http_reply(req, 200, "text/plain", &body);
}

static void redirect(struct http_req *req, void *app)
{
    (void)app;
    http_reply_header(req, "Location", "/echo/target");
    buf_auto struct buf body = BUF_EMPTY;
    buf_add_str(&body, "moved");
    http_reply(req, 307, "text/plain", &body);
}

static void on_gone(void *arg)
{
    (void)arg;
}

static void silent(struct http_req *req, void *app)
{
    (void)app;
    http_reply_later(req, on_gone, NULL);
}

static void thousand(struct http_req *req, void *app)
{
    (void)app;
    buf_auto struct buf body = BUF_EMPTY;
    memset(buf_room(&body, 1000), 't', 1000);
    body.len = 1000;
    http_reply(req, 200, "text/plain", &body);
}

enum { LARGE_LEN = 4 << 20 };

static void large(struct http_req *req, void *app)
{
    (void)app;
    buf_auto struct buf body = BUF_EMPTY;
    memset(buf_room(&body, LARGE_LEN), 'l', LARGE_LEN);
    body.len = LARGE_LEN;
    http_reply(req, 200, "text/plain", &body);
}

static void fail_with(struct http_req *req, void *app)
{
    (void)app;
    http_reply_error(req, ERR_NOTFOUND, NULL);
}

/** A stream whose first piece is there at once and which then stays silent. */
static ssize_t first_read(void *arg, char *bytes, size_t max)
{
    bool *is_sent = arg;
    if (*is_sent || max < 5)
        return 0;
    *is_sent = true;
    memcpy(bytes, "first", 5);
    return 5;
}

static bool first_is_sent;

static void stream(struct http_req *req, void *app)
{
    (void)app;
    static const struct http_stream_ops ops = {first_read, on_gone};
    first_is_sent = false;
    http_stream_start(req, 200, "text/plain", &ops, &first_is_sent);
}

static const struct http_route routes[] = {
    {"GET", "/echo/*", 0, 0, echo, .summary = ""},
    {"POST", "/echo/*", 0, 1 << 20, echo, .summary = ""},
    {"PUT", "/echo/*", 0, 1 << 20, echo, .summary = ""},
    {"DELETE", "/echo/*", 0, 0, echo, .summary = ""},
    {"GET", "/who", 0, 0, who, .summary = ""},
    {"GET", "/redirect", 0, 0, redirect, .summary = ""},
    {"GET", "/silent", 0, 0, silent, .summary = ""},
    {"GET", "/thousand", 0, 0, thousand, .summary = ""},
    {"GET", "/fail", 0, 0, fail_with, .summary = ""},
    {"GET", "/stream", 0, 0, stream, .summary = ""},
    {"GET", "/large", 0, 0, large, .summary = ""},
    {"PUT", "/moved", 0, 1 << 20, redirect, .summary = ""},
};

static int setup(void **state)
{
    struct fixture *fx = mem_new(struct fixture);
    fixture_start(fx, routes, ARRAY_LEN(routes), NULL, NULL);
    *state = fx;
    return 0;
}

static int teardown(void **state)
{
    fixture_end(*state);
    free(*state);
    return 0;
}

static void test_methods_and_bodies(void **state)
{
    struct fixture *fx = *state;
    static const char *const typed[] = {"Content-Type: text/x", "X-Thing: a", NULL};
    static const struct {
        const char *method;
        const char *const *headers;
        const char *body, *answer;
    } cases[] = {
        {NULL, NULL, NULL, "GET /echo/a%2Fb/../c type=(none) thing=(none) length=(none) body="},
        {"POST", NULL, "{}", "POST /echo/a%2Fb/../c type=application/json thing=(none) length=2 body={}"},
        {"PUT", typed, "xyz", "PUT /echo/a%2Fb/../c type=text/x thing=a length=3 body=xyz"},
        {"POST", NULL, NULL, "POST /echo/a%2Fb/../c type=(none) thing=(none) length=0 body="},
        {"DELETE", NULL, NULL, "DELETE /echo/a%2Fb/../c type=(none) thing=(none) length=(none) body="},
    };
    struct result res = {.header_name = "x-answer"};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct http_call_def def = {.method = cases[i].method,
                                    .url = fixture_url(fx, "/echo/a%2Fb/../c?q=1"),
                                    .headers = cases[i].headers,
                                    .body = cases[i].body,
                                    .body_len = cases[i].body ? strlen(cases[i].body) : 0};
        call_sync(fx, def, &res);
        assert_int_equal(res.err, 0);
        assert_int_equal(res.status, 200);
        assert_string_equal(buf_cstr(&res.body), cases[i].answer);
        assert_string_equal(res.header, "forty-two");
    }
    buf_fini(&res.body);
}

static void test_signed_in(void **state)
{
    struct fixture *fx = *state;
    struct result res = {0};
    get_sync(fx, "/who", &res);
    assert_string_equal(buf_cstr(&res.body), "(nobody)");
    http_client_sign_in(fx->client, &(struct http_login){.user = "alice", .password = "open:sesame"});
    get_sync(fx, "/who", &res);
    assert_string_equal(buf_cstr(&res.body), "Basic YWxpY2U6b3BlbjpzZXNhbWU=");
    buf_fini(&res.body);
}

enum { FILE_LEN = 200000 };

/** Its bytes say where they stand. */
static int numbered_file(size_t len)
{
    int fd = memfd_create("body", MFD_CLOEXEC);
    mem_auto char *bytes = mem_alloc(len + 1);
    for (size_t i = 0; i < len; i++)
        bytes[i] = (char)('a' + i / 100 % 26);
    assert_int_equal(write(fd, bytes, len), (ssize_t)len);
    return fd;
}

/** A body that is a file arrives whole, from its begin, with its length; with a redirect it leaves twice. */
static void test_body_from_a_file(void **state)
{
    struct fixture *fx = *state;
    struct result r = {.is_done = false};
    int fd = numbered_file(FILE_LEN);
    static const char head[] = "PUT /echo/x type=application/octet-stream thing=(none) length=200000 body=";
    const struct http_file whole = {fd, FILE_LEN};
    call_sync(fx, (struct http_call_def){.method = "PUT", .url = fixture_url(fx, "/echo/x"), .file = &whole},
              &r);
    assert_int_equal(r.err, 0);
    assert_int_equal(r.body.len, strlen(head) + FILE_LEN);
    assert_memory_equal(r.body.bytes, head, strlen(head));
    for (size_t i = 0; i < FILE_LEN; i++)
        assert_int_equal(r.body.bytes[strlen(head) + i], 'a' + i / 100 % 26);
    buf_fini(&r.body);
    const struct http_file part = {fd, 3};
    call_sync(fx, (struct http_call_def){.method = "PUT", .url = fixture_url(fx, "/moved"), .file = &part},
              &r);
    assert_int_equal(r.err, 0);
    assert_string_equal(buf_cstr(&r.body),
                        "PUT /echo/target type=application/octet-stream thing=(none) length=3 body=aaa");
    buf_fini(&r.body);
    const char *const type[] = {"Content-Type: text/x", NULL};
    const struct http_file none = {fd, 0};
    call_sync(fx,
              (struct http_call_def){
                  .method = "POST", .url = fixture_url(fx, "/echo/x"), .headers = type, .file = &none},
              &r);
    assert_string_equal(buf_cstr(&r.body), "POST /echo/x type=text/x thing=(none) length=0 body=");
    buf_fini(&r.body);
    close(fd);
}

static void test_body_from_a_file_that_is_shorter(void **state)
{
    struct fixture *fx = *state;
    struct result r = {.is_done = false};
    int fd = numbered_file(1000);
    const struct http_file file = {fd, 1001};
    call_sync(fx, (struct http_call_def){.method = "PUT", .url = fixture_url(fx, "/echo/x"), .file = &file},
              &r);
    assert_int_equal(r.err, ERR_IO);
    assert_non_null(strstr(r.why.text, "1000 of 1001 bytes"));
    buf_fini(&r.body);
    close(fd);
}

static void test_redirects(void **state)
{
    struct fixture *fx = *state;
    struct result res = {0};
    get_sync(fx, "/redirect", &res);
    assert_int_equal(res.status, 200);
    assert_non_null(strstr(buf_cstr(&res.body), "GET /echo/target"));
    res.header_name = "location";
    call_sync(fx, (struct http_call_def){.url = fixture_url(fx, "/redirect"), .no_follow = true}, &res);
    assert_int_equal(res.err, 0);
    assert_int_equal(res.status, 307);
    assert_string_equal(buf_cstr(&res.body), "moved");
    assert_string_equal(res.header, "/echo/target");
    buf_fini(&res.body);
}

static void test_limits(void **state)
{
    struct fixture *fx = *state;
    struct result res = {0};
    call_sync(fx, (struct http_call_def){.url = fixture_url(fx, "/thousand"), .max_body = 999}, &res);
    assert_int_equal(res.err, ERR_TOOBIG);
    assert_non_null(strstr(res.why.text, "999"));
    call_sync(fx, (struct http_call_def){.url = fixture_url(fx, "/thousand"), .max_body = 1000}, &res);
    assert_int_equal(res.err, 0);
    assert_int_equal(res.body.len, 1000);
    call_sync(fx, (struct http_call_def){.url = fixture_url(fx, "/silent"), .timeout_ms = 50}, &res);
    assert_int_equal(res.err, ERR_TIMEOUT);
    assert_non_null(strstr(res.why.text, "50 ms"));
    assert_non_null(strstr(res.why.where, "/silent"));
    call_sync(fx, (struct http_call_def){.url = fixture_url(fx, "/silent"), .idle_timeout_ms = 50}, &res);
    assert_int_equal(res.err, ERR_TIMEOUT);
    call_sync(fx, (struct http_call_def){.url = fixture_url(fx, "/stream"), .idle_timeout_ms = 1000}, &res);
    assert_int_equal(res.err, ERR_TIMEOUT);
    assert_int_equal(res.status, 200);
    assert_string_equal(buf_cstr(&res.body), "first");
    buf_fini(&res.body);
}

/** A port that nobody listens on: bound, and closed again. */
static uint16_t free_port(void)
{
    struct sockaddr_in sa = {.sin_family = AF_INET};
    socklen_t len = sizeof sa;
    sa.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&sa, sizeof sa), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&sa, &len), 0);
    close(fd);
    return ntohs(sa.sin_port);
}

static void test_errors_name_the_remedy(void **state)
{
    struct fixture *fx = *state;
    struct result res = {0};
    mem_auto char *authority = mem_fmt("127.0.0.1:%u", free_port());
    mem_auto char *dead = mem_fmt("http://%s/x", authority);
    call_sync(fx, (struct http_call_def){.url = dead}, &res);
    assert_int_equal(res.err, ERR_UNAVAILABLE);
    assert_int_equal(res.status, 0);
    assert_non_null(strstr(res.why.text, "nothing listens at"));
    assert_non_null(strstr(res.why.text, authority));
    assert_string_equal(res.why.where, dead);
    static const char *const bad[] = {"file:///etc/passwd", "ftp://127.0.0.1/x", "http://", "::::", ""};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        call_sync(fx, (struct http_call_def){.url = bad[i]}, &res);
        if (res.err != ERR_INVALID)
            fail_msg("%s gives %s: %s", bad[i], err_name(res.err), res.why.text);
    }
    buf_fini(&res.body);
}

/* ---- pieces, and what is done from within a callback ---- */

struct pieces {
    struct fixture *fx;
    struct http_call *call;
    struct result res;
    struct buf text;
    bool cancel_at_first, call_at_first, free_client;
};

static void on_piece(void *arg, const char *bytes, size_t len)
{
    struct pieces *p = arg;
    assert_false(p->res.is_done);
    buf_add(&p->text, bytes, len);
    if (p->call_at_first) {
        p->call_at_first = false;
        http_call(p->fx->client, &(struct http_call_def){.url = fixture_url(p->fx, "/echo/inner"),
                                                         .done = result_done,
                                                         .arg = &p->res});
    }
    if (p->cancel_at_first) {
        http_call_cancel(p->call);
        assert_true(p->res.is_done);
    }
    if (p->free_client) {
        http_client_free(p->fx->client);
        p->fx->client = NULL;
    }
}

static void on_pieces_done(void *arg, int err, const struct http_answer *a, const struct err_info *why)
{
    struct pieces *p = arg;
    result_done(&p->res, err, a, why);
}

static void start_pieces(struct pieces *p, struct fixture *fx, const char *path)
{
    p->fx = fx;
    p->call = http_call(
        fx->client, &(struct http_call_def){
                        .url = fixture_url(fx, path), .on_data = on_piece, .done = on_pieces_done, .arg = p});
}

static void end_pieces(struct pieces *p)
{
    buf_fini(&p->res.body);
    buf_fini(&p->text);
}

static void test_pieces(void **state)
{
    struct pieces p = {0};
    start_pieces(&p, *state, "/thousand");
    fixture_await(*state, &p.res.is_done);
    assert_int_equal(p.res.err, 0);
    assert_int_equal(p.text.len, 1000);
    assert_int_equal(p.res.body.len, 0);
    end_pieces(&p);
}

static void test_error_body_is_no_piece(void **state)
{
    struct pieces p = {0};
    start_pieces(&p, *state, "/fail");
    fixture_await(*state, &p.res.is_done);
    assert_int_equal(p.res.status, 404);
    assert_int_equal(p.text.len, 0);
    assert_non_null(strstr(buf_cstr(&p.res.body), "path-not-found"));
    end_pieces(&p);
}

/* A timer that is called once a round of the loop: how much a round brought at most. */
struct rounds {
    struct pieces pieces;
    struct run_timer *timer;
    size_t seen, most;
};

static void on_round(void *arg)
{
    struct rounds *r = arg;
    size_t brought = r->pieces.text.len - r->seen;
    r->seen = r->pieces.text.len;
    if (brought > r->most)
        r->most = brought;
    if (!r->pieces.res.is_done)
        run_timer_start(r->timer, 0, 0);
}

static void test_much_that_comes_at_once_leaves_the_loop_its_rounds(void **state)
{
    struct fixture *fx = *state;
    struct rounds r = {.most = 0};
    r.timer = run_timer_new(fx->loop, on_round, &r);
    run_timer_start(r.timer, 0, 0);
    start_pieces(&r.pieces, fx, "/large");
    fixture_await(fx, &r.pieces.res.is_done);
    assert_int_equal(r.pieces.res.err, 0);
    assert_int_equal(r.pieces.text.len, LARGE_LEN);
    on_round(&r);
    assert_in_range(r.most, 1, 256 << 10); /* what is passed on, and what libcurl had read already */
    run_timer_free(r.timer);
    end_pieces(&r.pieces);
}

static void test_cancel_inside_on_data(void **state)
{
    struct pieces p = {.cancel_at_first = true};
    start_pieces(&p, *state, "/stream");
    fixture_await(*state, &p.res.is_done);
    assert_int_equal(p.res.err, ERR_CANCELLED);
    assert_string_equal(buf_cstr(&p.text), "first");
    end_pieces(&p);
}

static void test_free_inside_on_data(void **state)
{
    struct pieces p = {.free_client = true};
    start_pieces(&p, *state, "/stream");
    fixture_await(*state, &p.res.is_done);
    assert_int_equal(p.res.err, ERR_CANCELLED);
    end_pieces(&p);
}

static void test_call_inside_on_data(void **state)
{
    struct fixture *fx = *state;
    struct pieces outer = {.call_at_first = true};
    outer.fx = fx;
    struct http_call *call = http_call(fx->client, &(struct http_call_def){.url = fixture_url(fx, "/stream"),
                                                                           .on_data = on_piece,
                                                                           .done = on_pieces_done,
                                                                           .arg = &outer});
    fixture_await(fx, &outer.res.is_done); /* the inner call's result */
    assert_int_equal(outer.res.err, 0);
    assert_non_null(strstr(buf_cstr(&outer.res.body), "/echo/inner"));
    outer.res.is_done = false;
    http_call_cancel(call);
    assert_int_equal(outer.res.err, ERR_CANCELLED);
    end_pieces(&outer);
}

static void test_cancel_at_once(void **state)
{
    struct fixture *fx = *state;
    struct result res = {0};
    struct http_call *call = http_call(
        fx->client,
        &(struct http_call_def){.url = fixture_url(fx, "/echo/x"), .done = result_done, .arg = &res});
    http_call_cancel(call);
    assert_true(res.is_done);
    assert_int_equal(res.err, ERR_CANCELLED);
    buf_fini(&res.body);
}

static void test_free_cancels_all(void **state)
{
    struct fixture *fx = *state;
    struct result res[3] = {0};
    for (int i = 0; i < 3; i++) {
        http_call(fx->client, &(struct http_call_def){.url = fixture_url(fx, "/silent"),
                                                      .idle_timeout_ms = 9000,
                                                      .done = result_done,
                                                      .arg = &res[i]});
        fixture_spin(fx);
    }
    http_client_free(fx->client);
    fx->client = NULL;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(res[i].err, ERR_CANCELLED);
        buf_fini(&res[i].body);
    }
}

struct chain {
    struct fixture *fx;
    int n_left;
    bool is_done;
};

static void next_in_chain(void *arg, int err, const struct http_answer *a, const struct err_info *why)
{
    struct chain *chain = arg;
    (void)why;
    assert_int_equal(err, 0);
    assert_int_equal(a->status, 200);
    if (--chain->n_left == 0) {
        chain->is_done = true;
        return;
    }
    http_call(chain->fx->client, &(struct http_call_def){.url = fixture_url(chain->fx, "/echo/n"),
                                                         .done = next_in_chain,
                                                         .arg = chain});
}

static void test_calls_from_done(void **state)
{
    struct fixture *fx = *state;
    struct chain chain = {.fx = fx, .n_left = 50};
    http_call(fx->client, &(struct http_call_def){
                              .url = fixture_url(fx, "/echo/0"), .done = next_in_chain, .arg = &chain});
    fixture_await(fx, &chain.is_done);
}

static void free_client_in_done(void *arg, int err, const struct http_answer *a, const struct err_info *why)
{
    struct chain *chain = arg;
    (void)err, (void)a, (void)why;
    http_client_free(chain->fx->client);
    chain->fx->client = NULL;
    chain->is_done = true;
}

static void test_free_inside_done(void **state)
{
    struct fixture *fx = *state;
    struct chain chain = {.fx = fx};
    struct result other = {0};
    http_call(fx->client,
              &(struct http_call_def){.url = fixture_url(fx, "/silent"), .done = result_done, .arg = &other});
    http_call(fx->client, &(struct http_call_def){
                              .url = fixture_url(fx, "/echo/0"), .done = free_client_in_done, .arg = &chain});
    fixture_await(fx, &chain.is_done);
    assert_int_equal(other.err, ERR_CANCELLED);
    buf_fini(&other.body);
}

struct cut_server {
    uv_poll_t poll;
    int fd, conn_fd;
};

/** Accept, send half an answer, and cut. */
static void on_cut_accept(uv_poll_t *poll, int status, int events)
{
    struct cut_server *cut = poll->data;
    static const char half[] = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf";
    (void)status, (void)events;
    int fd = accept(cut->fd, NULL, NULL);
    assert_true(fd >= 0);
    assert_int_equal(send(fd, half, sizeof half - 1, MSG_NOSIGNAL), sizeof half - 1);
    shutdown(fd, SHUT_WR);
    cut->conn_fd = fd;
    uv_poll_stop(poll);
}

static void test_connection_is_cut(void **state)
{
    struct fixture *fx = *state;
    struct cut_server cut = {.conn_fd = -1};
    struct sockaddr_in sa = {.sin_family = AF_INET};
    socklen_t len = sizeof sa;
    sa.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    cut.fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(cut.fd, (struct sockaddr *)&sa, sizeof sa), 0);
    assert_int_equal(listen(cut.fd, 1), 0);
    assert_int_equal(getsockname(cut.fd, (struct sockaddr *)&sa, &len), 0);
    uv_poll_init(run_loop_uv(fx->loop), &cut.poll, cut.fd);
    cut.poll.data = &cut;
    uv_poll_start(&cut.poll, UV_READABLE, on_cut_accept);
    mem_auto char *url = mem_fmt("http://127.0.0.1:%u/half", ntohs(sa.sin_port));
    struct result res = {0};
    call_sync(fx, (struct http_call_def){.url = url}, &res);
    assert_int_equal(res.err, ERR_UNAVAILABLE);
    assert_int_equal(res.status, 200);
    assert_non_null(strstr(res.why.text, "lost"));
    uv_close((uv_handle_t *)&cut.poll, NULL);
    fixture_spin(fx);
    close(cut.fd);
    close(cut.conn_fd);
    buf_fini(&res.body);
}

/* A server that answers the first request and, ever after, reads one and ends the connection instead of answering. */
struct deaf_server {
    uv_poll_t listening, reading;
    int fd, conn_fd;
    size_t n_requests;
};

static void on_deaf_read(uv_poll_t *poll, int status, int events)
{
    static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    struct deaf_server *deaf = poll->data;
    char bytes[4096];
    ssize_t n = status == 0 && events ? read(deaf->conn_fd, bytes, sizeof bytes) : 0;
    if (n > 0 && deaf->n_requests++ == 0) {
        assert_int_equal(write(deaf->conn_fd, answer, sizeof answer - 1), sizeof answer - 1);
        return;
    }
    uv_poll_stop(poll);
    uv_close((uv_handle_t *)poll, NULL);
    close(deaf->conn_fd);
    deaf->conn_fd = -1;
}

static void on_deaf_accept(uv_poll_t *poll, int status, int events)
{
    struct deaf_server *deaf = poll->data;
    if (status < 0 || !events || deaf->conn_fd >= 0)
        return;
    deaf->conn_fd = accept(deaf->fd, NULL, NULL);
    uv_poll_init(poll->loop, &deaf->reading, deaf->conn_fd);
    deaf->reading.data = deaf;
    uv_poll_start(&deaf->reading, UV_READABLE, on_deaf_read);
}

static unsigned deaf_start(struct deaf_server *deaf, struct fixture *fx)
{
    struct sockaddr_in sa = {.sin_family = AF_INET};
    socklen_t len = sizeof sa;
    sa.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    *deaf = (struct deaf_server){.conn_fd = -1, .fd = socket(AF_INET, SOCK_STREAM, 0)};
    assert_int_equal(bind(deaf->fd, (struct sockaddr *)&sa, sizeof sa), 0);
    assert_int_equal(listen(deaf->fd, 4), 0);
    assert_int_equal(getsockname(deaf->fd, (struct sockaddr *)&sa, &len), 0);
    uv_poll_init(run_loop_uv(fx->loop), &deaf->listening, deaf->fd);
    deaf->listening.data = deaf;
    uv_poll_start(&deaf->listening, UV_READABLE, on_deaf_accept);
    return ntohs(sa.sin_port);
}

static void deaf_end(struct deaf_server *deaf, struct fixture *fx)
{
    uv_close((uv_handle_t *)&deaf->listening, NULL);
    fixture_spin(fx);
    close(deaf->fd);
}

/* A connection that was used before ends without an answer: a read is asked again, a write is not. */
static void test_write_is_sent_once(void **state)
{
    static const struct {
        const char *method;
        int err;
        size_t n_requests;
    } rows[] = {{"GET", ERR_UNAVAILABLE, 3},
                {"PUT", ERR_UNKNOWN_OUTCOME, 2},
                {"POST", ERR_UNKNOWN_OUTCOME, 2},
                {"DELETE", ERR_UNKNOWN_OUTCOME, 2}};
    struct fixture *fx = *state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct deaf_server deaf;
        mem_auto char *url = mem_fmt("http://127.0.0.1:%u/", deaf_start(&deaf, fx));
        struct result res = {0};
        call_sync(fx, (struct http_call_def){.url = url}, &res);
        assert_int_equal(res.err, 0);
        buf_fini(&res.body);
        res = (struct result){0};
        call_sync(fx, (struct http_call_def){.method = rows[i].method, .url = url}, &res);
        assert_string_equal(err_name(res.err), err_name(rows[i].err));
        assert_int_equal(deaf.n_requests, rows[i].n_requests);
        buf_fini(&res.body);
        deaf_end(&deaf, fx);
    }
}

static void test_server_stops(void **state)
{
    struct fixture *fx = *state;
    struct pieces p = {0};
    struct result res = {0};
    start_pieces(&p, fx, "/stream");
    while (p.text.len == 0)
        fixture_spin(fx);
    fixture_stop_server(fx);
    fixture_await(fx, &p.res.is_done);
    assert_int_equal(p.res.err, 0); /* a stream that the server ends is whole */
    get_sync(fx, "/echo/x", &res);
    assert_int_equal(res.err, ERR_UNAVAILABLE);
    buf_fini(&res.body);
    end_pieces(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_methods_and_bodies, setup, teardown),
        cmocka_unit_test_setup_teardown(test_write_is_sent_once, setup, teardown),
        cmocka_unit_test_setup_teardown(test_signed_in, setup, teardown),
        cmocka_unit_test_setup_teardown(test_body_from_a_file, setup, teardown),
        cmocka_unit_test_setup_teardown(test_body_from_a_file_that_is_shorter, setup, teardown),
        cmocka_unit_test_setup_teardown(test_redirects, setup, teardown),
        cmocka_unit_test_setup_teardown(test_limits, setup, teardown),
        cmocka_unit_test_setup_teardown(test_errors_name_the_remedy, setup, teardown),
        cmocka_unit_test_setup_teardown(test_pieces, setup, teardown),
        cmocka_unit_test_setup_teardown(test_error_body_is_no_piece, setup, teardown),
        cmocka_unit_test_setup_teardown(test_much_that_comes_at_once_leaves_the_loop_its_rounds, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_cancel_inside_on_data, setup, teardown),
        cmocka_unit_test_setup_teardown(test_free_inside_on_data, setup, teardown),
        cmocka_unit_test_setup_teardown(test_call_inside_on_data, setup, teardown),
        cmocka_unit_test_setup_teardown(test_cancel_at_once, setup, teardown),
        cmocka_unit_test_setup_teardown(test_free_cancels_all, setup, teardown),
        cmocka_unit_test_setup_teardown(test_calls_from_done, setup, teardown),
        cmocka_unit_test_setup_teardown(test_free_inside_done, setup, teardown),
        cmocka_unit_test_setup_teardown(test_connection_is_cut, setup, teardown),
        cmocka_unit_test_setup_teardown(test_server_stops, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

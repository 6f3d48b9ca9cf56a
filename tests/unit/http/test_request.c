/* lib/http/request: what a handler reads, and what is refused before it runs. */
#include "http_fixture.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/mem.h"
#include "base/obj.h"

/** Tell everything the request says, one fact a line. */
static void say(struct http_req *req, void *app)
{
    int *n_handled = app;
    (*n_handled)++;
    buf_auto struct buf body = BUF_EMPTY;
    size_t len = 0;
    const char *bytes = http_body(req, &len);
    const char *rest = http_path_raw(req, "*"), *x = http_query(req, "x"),
               *header = http_header(req, "x-thing");
    buf_addf(&body, "method=%s\npath=%s\nrest=%s\n", http_method(req), http_raw_path(req),
             rest ? rest : "(none)");
    buf_addf(&body, "x=%s\nuser=%s\nheader=%s\n", x ? x : "(none)", http_user(req),
             header ? header : "(none)");
    buf_add_str(&body, "names=");
    for (size_t i = 0; http_query_name(req, i); i++)
        buf_addf(&body, "%s;", http_query_name(req, i));
    buf_add_char(&body, '\n');
    buf_addf(&body, "len=%zu\nbody=%.*s\n", len, len < 64 ? (int)len : 64, bytes);
    http_reply(req, 200, "text/plain", &body);
}

static void element(struct http_req *req, void *app)
{
    (void)app;
    struct err_info why;
    mem_auto char *text = NULL;
    if (http_path_element(req, "e", &text, &why) != 0) {
        http_reply_error(req, why.code, &why);
        return;
    }
    buf_auto struct buf body = BUF_EMPTY;
    buf_addf(&body, "<%s>", text);
    http_reply(req, 200, "text/plain", &body);
}

#define TYPED_PARAMS(X)                                                                                      \
    X(TYPED_FLAG, "flag", HTTP_BOOL, "false", "A flag.")                                                     \
    X(TYPED_N, "n", HTTP_INT, "7", "A number.", .min = 1, .max = 100)                                        \
    X(TYPED_TIME, "t", HTTP_TIME, "1234ms", "A time.")                                                       \
    X(TYPED_KIND, "kind", HTTP_CHOICE, NULL, "A word.", .choices = "one|two")                                \
    X(TYPED_TEXT, "text", HTTP_TEXT, NULL, "A text.")
enum { HTTP_PARAM_IDS(TYPED_PARAMS) };

static void typed_query(struct http_req *req, void *app)
{
    int *n_handled = app;
    (*n_handled)++;
    buf_auto struct buf body = BUF_EMPTY;
    const char *text = http_param_text(req, TYPED_TEXT);
    buf_addf(&body, "flag=%d n=%lld ms=%lld kind=%d%s text=%s", http_param_bool(req, TYPED_FLAG),
             (long long)http_param_int(req, TYPED_N), (long long)http_param_ms(req, TYPED_TIME),
             http_param_choice(req, TYPED_KIND), http_param_given(req, TYPED_KIND) ? "!" : "",
             text ? text : "(none)");
    http_reply(req, 200, "text/plain", &body);
}

/** The check of a row: it can read parameters. */
static int check_typed(struct http_req *req, void *app, struct err_info *why)
{
    (void)app;
    if (http_param_int(req, TYPED_N) != 13)
        return 0;
    return err_set(why, ERR_PERMISSION, NULL, "not 13");
}

#define REST_PARAMS(X)                                                                                       \
    X(REST_PATH, "path", HTTP_TEXT, "/", "A path.", .in = HTTP_IN_REST)                                      \
    X(REST_WORD, "word", HTTP_TEXT, NULL, "A word.")                                                         \
    X(REST_DASH, "-word", HTTP_TEXT, NULL, "As word.", .in = HTTP_IN_ALIAS)
enum { HTTP_PARAM_IDS(REST_PARAMS) };

static void rest_query(struct http_req *req, void *app)
{
    int *n_handled = app;
    (*n_handled)++;
    buf_auto struct buf body = BUF_EMPTY;
    const char *sent = http_path_param(req), *dash = http_param_text(req, REST_DASH);
    buf_addf(&body, "star=%s path=%s dash=%s", http_path_raw(req, "*"), sent ? sent : "(none)",
             dash ? dash : "(none)");
    http_reply(req, 200, "text/plain", &body);
}

static const struct http_route routes[] = {
    {"GET", "/rest/*", HTTP_STRICT_QUERY, 0, rest_query, "", .params = HTTP_PARAMS(REST_PARAMS)},
    {"GET", "/say/*", 0, 0, say, .summary = ""},
    {"POST", "/say/*", 0, 64 << 20, say, .summary = ""},
    {"PUT", "/small", 0, 100, say, .summary = ""},
    {"POST", "/json", HTTP_JSON_IN, 1000, say, .summary = ""},
    {"POST", "/maybe", HTTP_JSON_OPTIONAL, 1000, say, .summary = ""},
    {"GET", "/element/{e}", 0, 0, element, .summary = ""},
    {"GET", "/typed", HTTP_STRICT_QUERY, 0, typed_query, "", .params = HTTP_PARAMS(TYPED_PARAMS),
     .check = check_typed},
};

static int n_handled;

static int setup(void **state)
{
    struct fixture *fx = mem_new(struct fixture);
    n_handled = 0;
    fixture_start(fx, routes, ARRAY_LEN(routes), &n_handled, NULL);
    *state = fx;
    return 0;
}

static int teardown(void **state)
{
    fixture_end(*state);
    free(*state);
    return 0;
}

static void expect(struct fixture *fx, const char *request, const char *status_line, const char *text)
{
    mem_auto char *answer = raw_exchange(fx, request);
    if (strncmp(answer, status_line, strlen(status_line)) != 0 || !strstr(answer, text))
        fail_msg("to %s\nwas answered %s\nwanted %s … %s", request, answer, status_line, text);
}

#define CLOSE " HTTP/1.1\r\nHost: h:1\r\nConnection: close\r\n"

static void test_reads(void **state)
{
    struct fixture *fx = *state;
    static const struct {
        const char *target, *fact;
    } cases[] = {
        {"/say/a%2Fb/c", "rest=a%2Fb/c\n"},
        {"/say/a%2Fb/c", "path=/say/a%2Fb/c\n"},
        {"/say/", "rest=\n"},
        {"/say", "rest=\n"},
        {"/say/a+b", "rest=a+b\n"},
        {"/say/%zz", "rest=%zz\n"},
        {"/say/../x", "rest=../x\n"},
        {"/say/?x=a%2Bb+c%26", "x=a+b c&\n"},
        {"/say/?x", "x=\n"},
        {"/say/?x=", "x=\n"},
        {"/say/?y=1&x=2&x=3", "x=2\n"},
        {"/say/?x=a=b", "x=a=b\n"},
        {"/say/?%78=enc", "x=enc\n"},
        {"/say/?x=%C3%A9", "x=\xC3\xA9\n"},
        {"/say/?x=a?b", "x=a?b\n"},
        {"/say/?&&x=1&", "x=1\n"},
        {"/say/?xx=1", "x=(none)\n"},
        {"/say/?b=1&%61&b=2", "names=b;a;b;\n"},
        {"/say/", "names=\n"},
        {"/say/", "user=carol\n"},
        {"/say/?user.name=bob", "user=bob\n"},
        {"/say/?User.Name=bob&user.name=carl", "user=bob\n"},
        {"/say/?user.name=", "user=carol\n"},
        {"http://h:1/say/q?x=1", "path=/say/q\n"},
        {"http://h:1/say/q?x=1", "x=1\n"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        mem_auto char *request = mem_fmt("GET %s" CLOSE "X-Thing: blue\r\n\r\n", cases[i].target);
        expect(fx, request, "HTTP/1.1 200", cases[i].fact);
        expect(fx, request, "HTTP/1.1 200", "header=blue\n");
    }
}

static void test_refused_targets(void **state)
{
    struct fixture *fx = *state;
    static const struct {
        const char *target, *type;
    } cases[] = {
        {"/say/?x=%zz", "urn:bobbin:error:usage"},      {"/say/?x=%4", "urn:bobbin:error:usage"},
        {"/say/?x=a%00b", "urn:bobbin:error:usage"},    {"/say/?x=%ff", "urn:bobbin:error:usage"},
        {"/say/?%=1", "urn:bobbin:error:usage"},        {"/say/\xff", "urn:bobbin:error:invalid-path"},
        {"/say/a\tb", "urn:bobbin:error:invalid-path"}, {"/say/a b", "urn:bobbin:error:invalid-path"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        mem_auto char *request = mem_fmt("GET %s" CLOSE "\r\n", cases[i].target);
        expect(fx, request, "HTTP/1.1 400", cases[i].type);
    }
    assert_int_equal(n_handled, 0);
}

static void test_nul_in_target(void **state)
{
    struct fixture *fx = *state;
    static const char request[] = "GET /say/a\0b" CLOSE "X-Thing: 1\r\n\r\n";
    struct raw *r = raw_open(fx);
    raw_send(r, request, 20);
    fixture_spin(fx);
    raw_send(r, request + 20, sizeof request - 1 - 20);
    raw_await_end(r);
    assert_non_null(strstr(buf_cstr(&r->in), "HTTP/1.1 400"));
    assert_int_equal(n_handled, 0);
    raw_close(r);
}

static void test_elements(void **state)
{
    struct fixture *fx = *state;
    static const struct {
        const char *target, *status_line, *text;
    } cases[] = {
        {"/element/a%2Db", "HTTP/1.1 200", "<a-b>"},
        {"/element/%C3%A9", "HTTP/1.1 200", "<\xC3\xA9>"},
        {"/element/a+b", "HTTP/1.1 200", "<a+b>"},
        {"/element/a%2Fb", "HTTP/1.1 400", "\"where\":\"a%2Fb\",\"exception\":\"InvalidPathnameException\""},
        {"/element/a%00", "HTTP/1.1 400", "control character"},
        {"/element/a%0a", "HTTP/1.1 400", "control character"},
        {"/element/a%7f", "HTTP/1.1 400", "control character"},
        {"/element/a%4", "HTTP/1.1 400", "bad percent escape"},
        {"/element/a%zz", "HTTP/1.1 400", "bad percent escape"},
        {"/element/%ff", "HTTP/1.1 400", "not UTF-8"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        mem_auto char *request = mem_fmt("GET %s" CLOSE "\r\n", cases[i].target);
        expect(fx, request, cases[i].status_line, cases[i].text);
    }
}

static void test_typed_query(void **state)
{
    struct fixture *fx = *state;
    static const struct {
        const char *query;
        int status;
        const char *text;
    } cases[] = {
        {"", 200, "flag=0 n=7 ms=1234 kind=0 text=(none)"},
        {"?flag", 200, "flag=1 n=7 ms=1234"},
        {"?flag=true&n=100&t=2m", 200, "flag=1 n=100 ms=120000"},
        {"?flag=false&n=1&t=10", 200, "flag=0 n=1 ms=10000"},
        {"?t=500ms", 200, "flag=0 n=7 ms=500"},
        {"?kind=two&text=a%20b&user.name=x", 200, "kind=1! text=a b"},
        {"?flag=perhaps", 400, "\"where\":\"flag\""},
        {"?n=0", 400, "\"where\":\"n\""},
        {"?n=101", 400, "from 1 to 100"},
        {"?n=", 400, "\"where\":\"n\""},
        {"?t=soon", 400, "\"where\":\"t\""},
        {"?kind=three", 400, "one or two"},
        {"?knid=two", 400, "\"where\":\"knid\""},
        {"?n=13", 403, "not 13"},
    };
    struct result res = {0};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        int before = n_handled;
        mem_auto char *path = mem_fmt("/typed%s", cases[i].query);
        get_sync(fx, path, &res);
        assert_int_equal(res.status, cases[i].status);
        if (!strstr(buf_cstr(&res.body), cases[i].text))
            fail_msg("%s gives %s", path, buf_cstr(&res.body));
        assert_int_equal(n_handled - before, res.status == 200); /* a refused one never reaches the handler */
    }
    buf_fini(&res.body);
}

static void test_checks(void **state)
{
    struct fixture *fx = *state;
    static const struct {
        const char *request, *status_line, *text;
    } cases[] = {
        {"GET /none" CLOSE "\r\n", "HTTP/1.1 404", "urn:bobbin:error:no-such-route"},
        {"GET /%73ay" CLOSE "\r\n", "HTTP/1.1 404", "urn:bobbin:error:no-such-route"},
        {"DELETE /say/a" CLOSE "\r\n", "HTTP/1.1 405", "Allow: GET, HEAD, POST, OPTIONS\r\n"},
        {"DELETE /say/a" CLOSE "\r\n", "HTTP/1.1 405", "application/problem+json"},
        {"OPTIONS /small" CLOSE "\r\n", "HTTP/1.1 204", "Allow: PUT, OPTIONS\r\n"},
        {"OPTIONS /none" CLOSE "\r\n", "HTTP/1.1 404", "no-such-route"},
        {"GET /say/" CLOSE "Origin: http://evil.example\r\n\r\n", "HTTP/1.1 403",
         "urn:bobbin:error:foreign-origin"},
        {"GET /say/" CLOSE "Origin: null\r\n\r\n", "HTTP/1.1 403", "foreign-origin"},
        {"GET /say/" CLOSE "Origin: http://h:2\r\n\r\n", "HTTP/1.1 403", "foreign-origin"},
        {"GET /say/" CLOSE "Origin: http://h:1\r\n\r\n", "HTTP/1.1 200", "len=0"},
        {"GET /say/" CLOSE "Origin: HTTP://H:1\r\n\r\n", "HTTP/1.1 200", "len=0"},
        {"GET /say/ HTTP/1.1\r\nHost: h\r\nConnection: close\r\nOrigin: http://h:80\r\n\r\n", "HTTP/1.1 200",
         "len=0"},
        {"GET /say/ HTTP/1.1\r\nHost: h\r\nConnection: close\r\nOrigin: https://h:80\r\n\r\n", "HTTP/1.1 403",
         ""},
        {"PUT /small" CLOSE "Content-Length: 5\r\n\r\nhello", "HTTP/1.1 200", "body=hello\n"},
        {"PUT /small" CLOSE "Content-Length: 101\r\n\r\n"
         "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
         "xx",
         "HTTP/1.1 413", "urn:bobbin:error:too-large"},
        {"PUT /small" CLOSE "Content-Length: 99999999999\r\n\r\nx", "HTTP/1.1 413", "100 bytes"},
        {"PUT /small" CLOSE "Expect: 100-continue\r\nContent-Length: 101\r\n\r\n", "HTTP/1.1 413",
         "100 bytes"},
        {"PUT /small" CLOSE "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", "HTTP/1.1 200",
         "body=hello\n"},
        {"GET /say/" CLOSE "Content-Length: 1\r\n\r\nx", "HTTP/1.1 413", "takes no body"},
        {"GET /say/ HTTP/1.1\r\n\r\n", "HTTP/1.1 400", "one Host header, not 0"},
        {"GET /say/ HTTP/1.0\r\n\r\n", "HTTP/1.1 200", "len=0"},
        {"GET /say/" CLOSE "host: i\r\n\r\n", "HTTP/1.1 400", "one Host header, not 2"},
        {"PUT /small" CLOSE "Content-Length: 5\r\ncontent-length: 1\r\n\r\nhello", "HTTP/1.1 400",
         "2 Content-Length headers"},
        {"PUT /small" CLOSE "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
         "HTTP/1.1 400", "send one of them"},
        {"PUT /small" CLOSE "Transfer-Encoding: gzip, chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", "HTTP/1.1 400",
         "chunked"},
        {"POST /json" CLOSE "Content-Length: 2\r\n\r\n{}", "HTTP/1.1 415",
         "urn:bobbin:error:unsupported-media-type"},
        {"POST /json" CLOSE "Content-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}", "HTTP/1.1 415",
         "text/plain"},
        {"POST /json" CLOSE "Content-Type: application/jsonx\r\nContent-Length: 2\r\n\r\n{}", "HTTP/1.1 415",
         ""},
        {"POST /json" CLOSE "Content-Type: Application/JSON; charset=utf-8\r\nContent-Length: 2\r\n\r\n{}",
         "HTTP/1.1 200", "body={}"},
        {"POST /json" CLOSE "Content-Length: 0\r\n\r\n", "HTTP/1.1 400", "urn:bobbin:error:bad-json"},
        {"POST /json" CLOSE "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "HTTP/1.1 400",
         "urn:bobbin:error:bad-json"},
        {"POST /json" CLOSE "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", "HTTP/1.1 415", ""},
        {"POST /json" CLOSE "Content-Type: text/plain\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 415", ""},
        {"POST /maybe" CLOSE "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "HTTP/1.1 200", ""},
        {"POST /maybe" CLOSE "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", "HTTP/1.1 415", ""},
        {"POST /maybe" CLOSE "Content-Length: 0\r\n\r\n", "HTTP/1.1 200", "len=0"},
        {"POST /maybe" CLOSE "Content-Length: 2\r\n\r\n{}", "HTTP/1.1 415", ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        expect(fx, cases[i].request, cases[i].status_line, cases[i].text);
}

/** A chunked body without end: the limit stops the reading, not the client's patience. */
static void test_endless_body(void **state)
{
    struct fixture *fx = *state;
    struct raw *r = raw_open(fx);
    mem_auto char *chunk = mem_alloc(65536);
    memset(chunk, 'x', 65536);
    raw_send_str(r, "PUT /small HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n");
    size_t n_sent = 0;
    for (; !r->is_ended && n_sent < (256u << 20); n_sent += 65536) {
        raw_send_str(r, "10000\r\n");
        raw_send(r, chunk, 65536);
        raw_send_str(r, "\r\n");
        fixture_spin(fx);
    }
    assert_true(r->is_ended);
    assert_true(n_sent < (64u << 20));
    assert_int_equal(n_handled, 0);
    assert_non_null(strstr(buf_cstr(&r->in), "HTTP/1.1 413"));
    assert_non_null(strstr(buf_cstr(&r->in), "urn:bobbin:error:too-large"));
    raw_close(r);
}

/** A refused body of moderate size is read, and the connection goes on. */
static void test_refused_body_keeps_connection(void **state)
{
    struct fixture *fx = *state;
    struct raw *r = raw_open(fx);
    mem_auto char *body = mem_zalloc(200001);
    memset(body, 'x', 200000);
    raw_send_str(r, "PUT /small HTTP/1.1\r\nHost: h\r\nContent-Length: 200000\r\n\r\n");
    raw_send_str(r, body);
    raw_await(r, "HTTP/1.1 413");
    raw_send_str(r, "GET /say/next" CLOSE "\r\n");
    raw_await_end(r);
    assert_non_null(strstr(buf_cstr(&r->in), "rest=next\n"));
    raw_close(r);
}

/** Requests are made in used memory: none sees anything of one before it, whatever that was. */
static void test_nothing_is_left_of_earlier_requests(void **state)
{
    struct fixture *fx = *state;
    static const char *const before[] = {
        "GET /say/long/rest?x=1&user.name=bob" CLOSE "X-Thing: blue\r\n\r\n",
        "POST /say/p?x=2" CLOSE "Content-Length: 5\r\n\r\nhello",
        "POST /json" CLOSE "Content-Length: 2\r\n\r\n{}",
        "GET /nowhere?x=3" CLOSE "\r\n",
    };
    for (size_t i = 0; i < ARRAY_LEN(before); i++) {
        mem_auto char *earlier = raw_exchange(fx, before[i]);
        assert_non_null(earlier);
        mem_auto char *answer = raw_exchange(fx, "GET /say" CLOSE "\r\n");
        assert_string_equal(strstr(answer, "\r\n\r\n") + 4,
                            "method=GET\npath=/say\nrest=\nx=(none)\nuser=carol\n"
                            "header=(none)\nnames=\nlen=0\nbody=\n");
    }
}

/** A request's head may have 15 KiB, in its target or in its headers. */
static void test_large_heads(void **state)
{
    struct fixture *fx = *state;
    char pad[15 * 1024];
    memset(pad, 'a', sizeof pad);
    static const struct {
        const char *before, *after, *shown;
    } rows[] = {{"GET /say/", CLOSE "\r\n", "rest="}, {"GET /say" CLOSE "X-Thing: ", "\r\n\r\n", "header="}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        buf_auto struct buf request = BUF_EMPTY;
        buf_add_str(&request, rows[i].before);
        buf_add(&request, pad, sizeof pad);
        buf_add_str(&request, rows[i].after);
        mem_auto char *answer = raw_exchange(fx, request.bytes);
        const char *shown = strstr(answer, rows[i].shown);
        assert_non_null(shown);
        assert_int_equal(strspn(shown + strlen(rows[i].shown), "a"), sizeof pad);
    }
}

static void test_large_body(void **state)
{
    struct fixture *fx = *state;
    size_t len = (size_t)20 << 20;
    mem_auto char *body = mem_alloc(len);
    memset(body, 'y', len);
    struct result res = {0};
    call_sync(fx,
              (struct http_call_def){
                  .method = "POST", .url = fixture_url(fx, "/say/big"), .body = body, .body_len = len},
              &res);
    assert_int_equal(res.err, 0);
    assert_int_equal(res.status, 200);
    assert_non_null(strstr(buf_cstr(&res.body), "len=20971520\n"));
    buf_fini(&res.body);
}

static void test_broken_requests(void **state)
{
    struct fixture *fx = *state;
    static const char *const requests[] = {
        "\r\n\r\n\r\nrubbish\r\n\r\n",
        "GET\r\n\r\n",
        "GET /say/\r\n\r\n",
        "GET /say/ HTTP/9.9\r\n\r\n",
        "PUT /small" CLOSE "Content-Length: -1\r\n\r\n",
        "PUT /small" CLOSE "Content-Length: 1x\r\n\r\n",
        "PUT /small" CLOSE "Transfer-Encoding: chunked\r\n\r\nzz\r\n",
        "GET /say/" CLOSE "no colon here\r\n\r\n",
    };
    for (size_t i = 0; i < ARRAY_LEN(requests); i++) {
        struct raw *r = raw_open(fx);
        raw_send_str(r, requests[i]);
        shutdown(r->fd, SHUT_WR);
        raw_await_end(r);
        raw_close(r);
    }
    expect(fx, "GET /say/alive" CLOSE "\r\n", "HTTP/1.1 200", "rest=alive");
}

/** A client that leaves while its request is read leaves nothing behind (the leak check sees it). */
static void test_client_leaves_while_sending(void **state)
{
    struct fixture *fx = *state;
    static const char request[] = "PUT /small HTTP/1.1\r\nHost: h\r\nContent-Length: 90\r\n\r\nhalf of it";
    for (size_t len = 1; len < sizeof request; len += 7) {
        struct raw *r = raw_open(fx);
        raw_send(r, request, len);
        for (int i = 0; i < 5; i++)
            fixture_spin(fx);
        raw_close(r);
    }
    expect(fx, "GET /say/alive" CLOSE "\r\n", "HTTP/1.1 200", "rest=alive");
    assert_int_equal(n_handled, 1);
}

/** A path of several elements may stand in the query, in place of the one in the URL. */
static void test_a_path_in_the_query(void **state)
{
    struct fixture *fx = *state;
    expect(fx, "GET /rest/a/b HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", "HTTP/1.1 200",
           "star=a/b path=(none)");
    expect(fx, "GET /rest HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", "HTTP/1.1 200",
           "star= path=(none)");
    expect(fx, "GET /rest?path=%2Fa%2Fb HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
           "HTTP/1.1 200", "star= path=/a/b");
    expect(fx, "GET /rest/?path=/a&-word=x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
           "HTTP/1.1 200", "star= path=/a dash=x");
    n_handled = 0;
    expect(fx, "GET /rest/a?path=/a HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", "HTTP/1.1 400",
           "the path is named in the URL and by a query parameter");
    expect(fx, "GET /rest?path=/a&path=/b HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
           "HTTP/1.1 400", "the path is named twice");
    expect(fx, "GET /rest?path= HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", "HTTP/1.1 400",
           "the path is empty");
    expect(fx, "GET /rest?paht=/a HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", "HTTP/1.1 400",
           "path, word");
    assert_int_equal(n_handled, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_reads, setup, teardown),
        cmocka_unit_test_setup_teardown(test_refused_targets, setup, teardown),
        cmocka_unit_test_setup_teardown(test_nul_in_target, setup, teardown),
        cmocka_unit_test_setup_teardown(test_elements, setup, teardown),
        cmocka_unit_test_setup_teardown(test_typed_query, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_path_in_the_query, setup, teardown),
        cmocka_unit_test_setup_teardown(test_checks, setup, teardown),
        cmocka_unit_test_setup_teardown(test_endless_body, setup, teardown),
        cmocka_unit_test_setup_teardown(test_refused_body_keeps_connection, setup, teardown),
        cmocka_unit_test_setup_teardown(test_nothing_is_left_of_earlier_requests, setup, teardown),
        cmocka_unit_test_setup_teardown(test_large_heads, setup, teardown),
        cmocka_unit_test_setup_teardown(test_large_body, setup, teardown),
        cmocka_unit_test_setup_teardown(test_broken_requests, setup, teardown),
        cmocka_unit_test_setup_teardown(test_client_leaves_while_sending, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

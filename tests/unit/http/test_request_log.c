/* lib/http/request_log: one line a request, whatever a client sends. */
#include "http_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/obj.h"
#include "run/log.h"
#include "run/options.h"

#define TEST_METRICS(X) HTTP_METRICS(X)
enum { METRICS_ENUM(TEST_METRICS) N_METRICS };
static const struct metric_def defs[] = {METRICS_ROWS(TEST_METRICS)};

#define THING_PARAMS(X)                                                                                      \
    X(THING_OVERWRITE, "overwrite", HTTP_BOOL, "false", "Replace it.")                                       \
    X(THING_WORD, "word", HTTP_TEXT, NULL, "What nobody else may read.", .is_private = true)

static void put_thing(struct http_req *req, void *app)
{
    (void)app;
    struct buf body = BUF_EMPTY;
    buf_add_str(&body, "done");
    http_reply_header(req, "Bobbin-Revision", "1a.17");
    http_reply(req, 201, "text/plain", &body);
}

static void get_thing(struct http_req *req, void *app)
{
    (void)app;
    http_reply_error(req, ERR_NOTFOUND, NULL);
}

static const struct http_route routes[] = {
    {"PUT", "/things/*", 0, 1 << 20, put_thing, "Put.", .params = HTTP_PARAMS(THING_PARAMS)},
    {.method = "GET", .pattern = "/things/*", .handle = get_thing, .summary = "Get."},
};

/** A server whose log goes to a file. */
struct logged {
    struct fixture fx;
    struct metrics *metrics;
    struct options *options;
    FILE *file;
    off_t at; /* end of what was read of it */
    int saved;
};

static void logged_start(struct logged *t, enum log_level level)
{
    t->metrics = metrics_new(defs, ARRAY_LEN(defs));
    static const char *const sets[] = {"hadoop.proxyuser.alice.users=bob", "hadoop.proxyuser.alice.hosts=*",
                                       NULL};
    buf_auto struct buf errors = BUF_EMPTY;
    t->options = options_read(NULL, 0, NULL, sets, &errors);
    struct http_server_def def = {.metrics = t->metrics, .options = t->options};
    fixture_start(&t->fx, routes, ARRAY_LEN(routes), NULL, &def);
    t->file = tmpfile();
    assert_non_null(t->file);
    t->saved = dup(STDERR_FILENO);
    dup2(fileno(t->file), STDERR_FILENO);
    log_setup("test", level, LOG_TEXT);
}

static bool has_lines(void *arg)
{
    struct logged *t = arg;
    return lseek(fileno(t->file), 0, SEEK_END) > t->at;
}

/** One request on a connection of its own, answered and over; its line, without the time of day. */
static char *line_of(struct logged *t, const char *request)
{
    static char text[16384];
    t->at = lseek(fileno(t->file), 0, SEEK_END);
    free(raw_exchange(&t->fx, request));
    if (log_is_on(strncmp(request, "GET", 3) ? LOG_INFO : LOG_DEBUG))
        fixture_await_fn(&t->fx, has_lines, t);
    lseek(fileno(t->file), t->at, SEEK_SET);
    ssize_t n = read(fileno(t->file), text, sizeof text - 1);
    assert_true(n >= 0);
    text[n] = '\0';
    return n > 25 ? text + 25 : text;
}

static void logged_end(struct logged *t)
{
    dup2(t->saved, STDERR_FILENO);
    close(t->saved);
    fclose(t->file);
    fixture_end(&t->fx);
    metrics_free(t->metrics);
    options_free(t->options);
    log_setup("", LOG_INFO, LOG_TEXT);
}

static void is_in(const char *line, const char *part)
{
    if (strstr(line, part))
        return;
    printf("no \"%s\" in \"%s\"\n", part, line); /* stderr is the file */
    fail();
}

static void a_write_is_one_line_at_info(void **state)
{
    (void)state;
    struct logged t;
    logged_start(&t, LOG_INFO);
    const char *line = line_of(
        &t,
        "PUT /things/a%20b?user.name=alice&overwrite=true&word=SECRET&delegation=SECRET&doAs=bob HTTP/1.1\r\n"
        "Host: localhost\r\nX-Request-Id: r-1\r\nContent-Length: 3\r\nConnection: close\r\n\r\nxyz");
    is_in(line,
          "info http_write method=PUT path=/things/a%20b query=overwrite=true&word=?&delegation=? user=alice "
          "do_as=bob "
          "peer=127.0.0.1 status=201 result=OK in_bytes=3 out_bytes=4 took_us=");
    is_in(line, " revision=1a.17 request_id=r-1 Answered a request that may change something.\n");
    assert_ptr_equal(strchr(line, '\n'), line + strlen(line) - 1);
    assert_null(strstr(line, "SECRET"));
    logged_end(&t);
}

static void a_read_is_one_at_debug(void **state)
{
    static const char get[] = "GET /things/a HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    (void)state;
    struct logged t;
    logged_start(&t, LOG_INFO);
    assert_string_equal(line_of(&t, get), "");
    log_set_level(LOG_DEBUG);
    is_in(line_of(&t, get), "debug http_read method=GET path=/things/a user=carol peer=127.0.0.1 status=404 "
                            "result=ERR_NOTFOUND in_bytes=0 out_bytes=");
    logged_end(&t);
}

static void refusals_are_logged(void **state)
{
    (void)state;
    struct logged t;
    logged_start(&t, LOG_INFO);
    is_in(line_of(&t, "POST /nothing HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"),
          "http_write method=POST path=/nothing user=carol peer=127.0.0.1 status=404 result=ERR_NOROUTE ");
    is_in(line_of(&t, "BREW /things/a HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"),
          "http_write method=BREW path=/things/a user=carol peer=127.0.0.1 status=405 result=ERR_METHOD ");
    is_in(line_of(&t, "PUT /things/a HTTP/1.1\r\nHost: elsewhere.example\r\nConnection: close\r\n\r\n"),
          " status=421 result=ERR_HOST ");
    is_in(line_of(&t, "PUT /things/a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9999999\r\nConnection: "
                      "close\r\n\r\n"),
          " status=413 result=ERR_TOOBIG ");
    const char *line =
        line_of(&t, "PUT /things/a?delegation=SECRET HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n"
                    "Connection: close\r\n\r\n");
    is_in(line,
          "http_write method=PUT path=/things/a user=carol peer=127.0.0.1 status=400 result=ERR_PARSE ");
    assert_null(strstr(line, "SECRET"));
    logged_end(&t);
}

/** Line feeds, terminal sequences, quotes; all within the line and its quotes. */
static void nothing_forges_a_line(void **state)
{
    (void)state;
    struct logged t;
    logged_start(&t, LOG_INFO);
    const char *line = line_of(
        &t,
        "PUT /things/%0Ainfo?user.name=a%22%0A2026%20info%20http_write%20%1B%5B2J%C2%9B&%0Ax=1 HTTP/1.1\r\n"
        "Host: localhost\r\nX-Request-Id: \x1b[31m\" status=999\r\nConnection: close\r\n\r\n");
    assert_ptr_equal(strchr(line, '\n'), line + strlen(line) - 1);
    is_in(line, " path=/things/%0Ainfo query=\"\\nx=?\" ");
    is_in(line, " user=\"a\\\"\\n2026 info http_write \\x1B[2J\\xC2\\x9B\" ");
    is_in(line, " request_id=\"\\x1B[31m\\\" status=999\" ");
    logged_end(&t);
}

static void a_line_is_bounded(void **state)
{
    (void)state;
    struct logged t;
    buf_auto struct buf request = BUF_EMPTY;
    logged_start(&t, LOG_INFO);
    buf_add_str(&request, "PUT /things/");
    for (int i = 0; i < 1500; i++)
        buf_add_str(&request, "%01");
    buf_add_str(&request, "?user.name=");
    for (int i = 0; i < 1000; i++)
        buf_add_str(&request, "%01");
    buf_add_str(&request, "&overwrite=");
    for (int i = 0; i < 1000; i++)
        buf_add_char(&request, 'y');
    buf_add_str(&request, " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Request-Id: ");
    for (int i = 0; i < 3000; i++)
        buf_add_char(&request, '\x02');
    buf_add_str(&request, "\r\n\r\n");
    const char *line = line_of(&t, buf_cstr(&request));
    is_in(line, "http_write method=PUT path=/things/%01%01");
    is_in(line, "\xE2\x80\xA6");
    assert_true(strlen(line) < 4096);
    logged_end(&t);
}

static void durations_are_counted_by_route(void **state)
{
    (void)state;
    struct logged t;
    buf_auto struct buf text = BUF_EMPTY;
    logged_start(&t, LOG_ERROR);
    for (int i = 0; i < 3; i++)
        line_of(&t, "PUT /things/a HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    line_of(&t, "HEAD /things/a HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    line_of(&t, "BREW /things/a HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    line_of(&t, "GET /other HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    metrics_write(t.metrics, METRICS_TEXT, &text);
    is_in(text.bytes,
          "\nhttp_request_duration_seconds_count{route=\"/things/*\",method=\"PUT\",code=\"2xx\"} 3\n");
    is_in(text.bytes,
          "\nhttp_request_duration_seconds_count{route=\"/things/*\",method=\"GET\",code=\"4xx\"} 1\n");
    is_in(text.bytes,
          "\nhttp_request_duration_seconds_count{route=\"none\",method=\"any\",code=\"4xx\"} 2\n");
    logged_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_write_is_one_line_at_info), cmocka_unit_test(a_read_is_one_at_debug),
        cmocka_unit_test(refusals_are_logged),         cmocka_unit_test(nothing_forges_a_line),
        cmocka_unit_test(a_line_is_bounded),           cmocka_unit_test(durations_are_counted_by_route),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

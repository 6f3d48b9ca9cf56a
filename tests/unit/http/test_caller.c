/* lib/http/caller: in whose name a request is. */
#include "http_fixture.h"

#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/obj.h"
#include "run/options.h"

static void say(struct http_req *req, void *app)
{
    int *n_handled = app;
    struct err_info why;
    buf_auto struct buf body = BUF_EMPTY;
    (*n_handled)++;
    buf_addf(&body, "user=%s named=%d local=%d names=", http_user(req), http_user_is_named(req),
             http_check_local(req, &why) == 0);
    for (size_t i = 0; http_query_name(req, i); i++)
        buf_addf(&body, "%s;", http_query_name(req, i));
    http_reply(req, 200, "text/plain", &body);
}

/** The check of a row sees whom the request acts for. */
static int not_mallory(struct http_req *req, void *app, struct err_info *why)
{
    (void)app;
    return strcmp(http_user(req), "mallory") ? 0 : err_set(why, ERR_PERMISSION, NULL, "not mallory");
}

static const struct http_route routes[] = {
    {"GET", "/say", 0, 0, say, .summary = ""},
    {"POST", "/say", HTTP_STRICT_QUERY, 1 << 20, say, "", .check = not_mallory},
};

struct test {
    struct fixture fx;
    struct options *options;
    int n_handled;
};

static int setup(void **state)
{
    struct test *t = mem_new(struct test);
    const struct passwd *me = getpwuid(getuid());
    assert_non_null(me);
    const struct group *mine = getgrgid(me->pw_gid);
    assert_non_null(mine);
    mem_auto char *groups = mem_fmt("hadoop.proxyuser.hue.groups=%s", mine->gr_name);
    const char *sets[] = {"hadoop.proxyuser.knox.users=alice,mallory",
                          "hadoop.proxyuser.knox.hosts=127.0.0.1",
                          "hadoop.proxyuser.far.users=*",
                          "hadoop.proxyuser.far.hosts=10.9.9.9",
                          groups,
                          "hadoop.proxyuser.hue.hosts=localhost",
                          NULL};
    buf_auto struct buf errors = BUF_EMPTY;
    t->options = options_read(NULL, 0, NULL, sets, &errors);
    assert_non_null(t->options);
    struct http_server_def def = {.options = t->options};
    fixture_start(&t->fx, routes, ARRAY_LEN(routes), &t->n_handled, &def);
    *state = t;
    return 0;
}

static int teardown(void **state)
{
    struct test *t = *state;
    fixture_end(&t->fx);
    options_free(t->options);
    free(t);
    return 0;
}

static void expect(struct test *t, const char *request, const char *status_line, const char *text)
{
    int before = t->n_handled;
    mem_auto char *answer = raw_exchange(&t->fx, request);
    if (strncmp(answer, status_line, strlen(status_line)) != 0 || !strstr(answer, text))
        fail_msg("to %s\nwas answered %s\nwanted %s … %s", request, answer, status_line, text);
    assert_int_equal(t->n_handled - before, strstr(status_line, "200") != NULL);
}

#define END " HTTP/1.1\r\nHost: h:1\r\nConnection: close\r\n"

static void names_are_taken_out(void **state)
{
    static const struct {
        const char *query, *fact;
    } cases[] = {
        {"", "user=carol named=0 local=1 names="},
        {"?user.name=", "user=carol named=0"},
        {"?USER.Name=bob&x=1", "user=bob named=1 local=1 names=x;"},
        {"?a=1&user%2Ename=bob&User.Name=eve&b=2&user.name=eve", "user=bob named=1 local=1 names=a;b;"},
        {"?user.name=knox&doAs=alice&z", "user=alice named=1 local=0 names=z;"},
        {"?DOAS=alice&q=1&user.name=knox&doas=bob", "user=alice named=1 local=0 names=q;"},
        {"?user.name=bob&doAs=bob", "user=bob named=1 local=1"},
        {"?doAs=carol", "user=carol named=0 local=1"},
    };
    struct test *t = *state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        mem_auto char *request = mem_fmt("GET /say%s" END "\r\n", cases[i].query);
        expect(t, request, "HTTP/1.1 200", cases[i].fact);
    }
    expect(t, "GET /say?user.name=bob" END "X-Forwarded-For: 10.0.0.1\r\n\r\n", "HTTP/1.1 200",
           "user=bob named=1 local=0");
}

static void others_are_refused(void **state)
{
    static const struct {
        const char *query;
        int status;
        const char *text;
    } cases[] = {
        {"user.name=knox&doAs=bob", 403,
         "\"where\":\"hadoop.proxyuser.knox.users\",\"exception\":\"AuthorizationException\""},
        {"user.name=knox&doAs=bob", 403, "User: knox is not allowed to impersonate bob"},
        {"user.name=far&doAs=bob", 403, "Unauthorized connection for super-user: far from IP 127.0.0.1"},
        {"user.name=far&doAs=bob", 403, "\"where\":\"hadoop.proxyuser.far.hosts\""},
        {"user.name=Knox&doAs=alice", 403, "User: Knox is not allowed"},
        {"doAs=alice", 403, "User: carol is not allowed"},
        {"user.name=knox&doAs=", 400, "\"where\":\"doAs\""},
        {"user.name=knox&doAs=mallory", 403, "not mallory"},
        {"user.name=mallory&doAs=mallory", 403, "not mallory"},
    };
    struct test *t = *state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        mem_auto char *line = mem_fmt("HTTP/1.1 %d", cases[i].status);
        mem_auto char *request = mem_fmt(
            "POST /say?%s" END "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", cases[i].query);
        expect(t, request, line, cases[i].text);
    }
    expect(t, "POST /say?user.name=far&doAs=bob" END "X-Forwarded-For: 10.9.9.9\r\nContent-Length: 0\r\n\r\n",
           "HTTP/1.1 403", "from IP 127.0.0.1");
    expect(t, "POST /say?user.name=knox&doAs=alice" END "Content-Length: 0\r\n\r\n", "HTTP/1.1 200",
           "user=alice");
}

/** Groups and host names are looked up beside the loop, before the handler. */
static void look_ups_come_before_the_handler(void **state)
{
    struct test *t = *state;
    const char *me = getpwuid(getuid())->pw_name;
    mem_auto char *mine = mem_fmt("POST /say?user.name=hue&doAs=%s" END "Content-Length: 3\r\n\r\nabc", me);
    mem_auto char *fact = mem_fmt("user=%s named=1 local=0", me);
    expect(t, mine, "HTTP/1.1 200", fact);
    expect(t, "POST /say?user.name=hue&doAs=nobody-at-all" END "Content-Length: 3\r\n\r\nabc", "HTTP/1.1 403",
           "\"where\":\"hadoop.proxyuser.hue.users\"");
}

/** A client that leaves, and a server that stops, while a look-up is under way. */
static void a_look_up_outlives_its_request(void **state)
{
    struct test *t = *state;
    struct raw *gone = raw_open(&t->fx), *stopped = raw_open(&t->fx);
    raw_send_str(gone, "GET /say?user.name=hue&doAs=nobody-at-all HTTP/1.1\r\nHost: h\r\n\r\n");
    fixture_spin(&t->fx);
    raw_reset(gone);
    raw_send_str(stopped, "GET /say?user.name=hue&doAs=nobody-at-all HTTP/1.1\r\nHost: h\r\n\r\n");
    fixture_spin(&t->fx);
    fixture_stop_server(&t->fx);
    raw_close(stopped);
    assert_int_equal(t->n_handled, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(names_are_taken_out, setup, teardown),
        cmocka_unit_test_setup_teardown(others_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(look_ups_come_before_the_handler, setup, teardown),
        cmocka_unit_test_setup_teardown(a_look_up_outlives_its_request, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* lib/http/replay: a write that comes again with its X-Request-Id is answered again, not done again. */
#include "http_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/obj.h"
#include "http/repeats.h"

struct test {
    struct fixture fx;
    int n_done;
    struct http_req *parked;
};

static void write_it(struct http_req *req, void *app)
{
    struct test *t = app;
    struct buf body = BUF_EMPTY;
    buf_addf(&body, "done %d", ++t->n_done);
    http_reply_header(req, "Location", "/w/made");
    http_reply(req, 201, "text/plain", &body);
}

static void write_much(struct http_req *req, void *app)
{
    struct test *t = app;
    struct buf body = BUF_EMPTY;
    t->n_done++;
    for (int i = 0; i < 300; i++)
        buf_addf(&body, "%1022d\r\n", i);
    http_reply(req, 200, "text/plain", &body);
}

static void on_closed(void *arg)
{
    ((struct test *)arg)->parked = NULL;
}

static void park(struct http_req *req, void *app)
{
    struct test *t = app;
    t->n_done++;
    t->parked = req;
    http_reply_later(req, on_closed, t);
}

static void busy(struct http_req *req, void *app)
{
    ((struct test *)app)->n_done++;
    http_reply_error(req, ERR_UNAVAILABLE, NULL);
}

static void lost(struct http_req *req, void *app)
{
    ((struct test *)app)->n_done++;
    http_reply_error(req, ERR_UNKNOWN_OUTCOME, NULL);
}

static const struct http_route routes[] = {
    {"PUT", "/w/*", HTTP_DONE_ONCE | HTTP_JSON_IN, 1000, write_it, .summary = ""},
    {"POST", "/w/*", HTTP_DONE_ONCE | HTTP_JSON_OPTIONAL, 1000, write_it, .summary = ""},
    {"DELETE", "/w/*", HTTP_DONE_ONCE, 0, write_it, .summary = ""},
    {"POST", "/plain", 0, 1000, write_it, .summary = ""},
    {"POST", "/much", HTTP_DONE_ONCE, 1000, write_much, .summary = ""},
    {"POST", "/park", HTTP_DONE_ONCE, 1000, park, .summary = ""},
    {"POST", "/busy", HTTP_DONE_ONCE, 1000, busy, .summary = ""},
    {"POST", "/lost", HTTP_DONE_ONCE, 1000, lost, .summary = ""},
};

static int setup(void **state)
{
    struct test *t = mem_new(struct test);
    fixture_start(&t->fx, routes, ARRAY_LEN(routes), t, NULL);
    *state = t;
    return 0;
}

static int teardown(void **state)
{
    struct test *t = *state;
    fixture_end(&t->fx);
    free(t);
    return 0;
}

#define JSON_BODY "Content-Type: application/json\r\n"
#define ID        "X-Request-Id: r-1\r\n"

static char *request_text(const char *line, const char *headers, const char *body)
{
    return mem_fmt("%s HTTP/1.1\r\nHost: h\r\nConnection: close\r\n%sContent-Length: %zu\r\n\r\n%s", line,
                   headers, strlen(body), body);
}

static void expect(struct test *t, const char *line, const char *headers, const char *body,
                   const char *wanted)
{
    mem_auto char *request = request_text(line, headers, body);
    mem_auto char *answer = raw_exchange(&t->fx, request);
    if (!strstr(answer, wanted))
        fail_msg("to %s\nwas answered %s\nwanted %s", request, answer, wanted);
}

static void a_repeat_gets_the_first_answer(void **state)
{
    struct test *t = *state;
    static const char headers[] = JSON_BODY ID;
    expect(t, "PUT /w/a?x=1&user.name=bob", headers, "{}", "HTTP/1.1 201 Created");
    expect(t, "PUT /w/a?x=1&user.name=bob", headers, "{}", "\r\n\r\ndone 1");
    expect(t, "PUT /w/a?x=1&User.Name=bob", headers, "{}", "Location: /w/made\r\n");
    expect(t, "PUT /w/a?x=1&user.name=bob", headers, "{}", "Bobbin-Repeated: true\r\n");
    expect(t, "PUT /w/a?x=1&user.name=bob", headers, "", "HTTP/1.1 201 Created");
    expect(t, "PUT /w/a?x=1&user.name=bob", ID, "", "\r\n\r\ndone 1");
    assert_int_equal(t->n_done, 1);
    expect(t, "DELETE /w/a", ID, "", "\r\n\r\ndone 2");
    expect(t, "DELETE /w/a", ID, "", "\r\n\r\ndone 2");
    expect(t, "POST /w/a", ID, "", "\r\n\r\ndone 3");
    expect(t, "POST /w/a", ID, "", "\r\n\r\ndone 3");
}

static void anything_else_is_another_write(void **state)
{
    static const struct {
        const char *line, *headers, *body;
    } cases[] = {
        {"PUT /w/a", JSON_BODY ID, "{}"},
        {"PUT /w/a", JSON_BODY ID, "{ }"},
        {"PUT /w/b", JSON_BODY ID, "{}"},
        {"PUT /w/a?x=1", JSON_BODY ID, "{}"},
        {"PUT /w/a?user.name=bob", JSON_BODY ID, "{}"},
        {"POST /w/a", JSON_BODY ID, "{}"},
        {"PUT /w/a", JSON_BODY "X-Request-Id: r-2\r\n", "{}"},
        {"PUT /w/a", JSON_BODY ID "If-Match: \"1\"\r\n", "{}"},
        {"PUT /w/a", JSON_BODY ID "X-Bobbin-Accessor: a:b\r\n", "{}"},
        {"PUT /w/a", JSON_BODY, "{}"},
        {"PUT /w/a", JSON_BODY, "{}"},
        {"PUT /w/a", JSON_BODY "X-Request-Id: \r\n", "{}"},
        {"PUT /w/a", JSON_BODY "X-Request-Id: \r\n", "{}"},
        {"POST /plain", ID, "{}"},
        {"POST /plain", ID, "{}"},
    };
    struct test *t = *state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        mem_auto char *done = mem_fmt("\r\n\r\ndone %zu", i + 1);
        expect(t, cases[i].line, cases[i].headers, cases[i].body, done);
    }
    expect(t, "PUT /w/a", JSON_BODY ID, "{}", "\r\n\r\ndone 1"); /* each is known by its body */
    expect(t, "PUT /w/a", JSON_BODY ID, "{ }", "\r\n\r\ndone 2");
    expect(t, "PUT /w/a", JSON_BODY ID, "", "\r\n\r\ndone 2"); /* without one, the newest */
    expect(t, "PUT /w/c", ID, "", "HTTP/1.1 400");             /* nothing is known of it */
}

static void what_was_not_done_may_be_done(void **state)
{
    struct test *t = *state;
    expect(t, "POST /busy", ID, "x", "urn:bobbin:error:unavailable");
    expect(t, "POST /busy", ID, "x", "urn:bobbin:error:unavailable");
    assert_int_equal(t->n_done, 2);
    expect(t, "POST /lost", ID, "x", "urn:bobbin:error:unknown-outcome");
    expect(t, "POST /lost", ID, "x", "urn:bobbin:error:unknown-outcome");
    assert_int_equal(t->n_done, 3);
}

static void a_large_answer_is_kept_without_its_body(void **state)
{
    struct test *t = *state;
    expect(t, "POST /much", ID, "x", " 299\r\n");
    expect(t, "POST /much", ID, "x", "HTTP/1.1 200 OK");
    expect(t, "POST /much", ID, "x", "Warning: 299 - ");
    expect(t, "POST /much", ID, "x", "Content-Length: 0\r\n");
    assert_int_equal(t->n_done, 1);
}

static bool is_parked(void *arg)
{
    return ((struct test *)arg)->parked != NULL;
}

/** Send one write on several connections: it is being done, and the others wait for it. @param conns  n of them [out] */
static void send_repeats(struct test *t, struct raw **conns, size_t n)
{
    mem_auto char *request = request_text("POST /park", ID, "x");
    for (size_t i = 0; i < n; i++) {
        conns[i] = raw_open(&t->fx);
        raw_send_str(conns[i], request);
        fixture_await_fn(&t->fx, is_parked, t);
        for (int turn = 0; turn < 20; turn++)
            fixture_spin(&t->fx);
    }
}

/** Repeats of a write that is being done wait for its answer; one of them leaves before. */
static void repeats_wait_for_the_first(void **state)
{
    struct test *t = *state;
    struct raw *conns[4];
    send_repeats(t, conns, ARRAY_LEN(conns));
    raw_reset(conns[3]);
    assert_int_equal(t->n_done, 1);
    struct buf body = BUF_EMPTY;
    buf_add_str(&body, "at last");
    struct http_req *req = t->parked;
    t->parked = NULL;
    http_reply(req, 202, "text/plain", &body);
    for (size_t i = 0; i < 3; i++) {
        raw_await_end(conns[i]);
        assert_non_null(strstr(buf_cstr(&conns[i]->in), "HTTP/1.1 202"));
        assert_non_null(strstr(buf_cstr(&conns[i]->in), "\r\n\r\nat last"));
        raw_close(conns[i]);
    }
    expect(t, "POST /park", ID, "x", "\r\n\r\nat last");
    assert_int_equal(t->n_done, 1);
}

static void a_stop_ends_those_who_wait(void **state)
{
    struct test *t = *state;
    struct raw *conns[3];
    send_repeats(t, conns, ARRAY_LEN(conns));
    fixture_stop_server(&t->fx);
    assert_int_equal(t->n_done, 1);
    for (size_t i = 0; i < ARRAY_LEN(conns); i++) {
        raw_await_end(conns[i]);
        assert_non_null(strstr(buf_cstr(&conns[i]->in), "HTTP/1.1 503"));
        raw_close(conns[i]);
    }
}

/** More than are kept: the oldest is forgotten, the newest is not. */
static void the_oldest_goes_first(void **state)
{
    enum { KEPT = 2048 };
    struct test *t = *state;
    struct raw *r = raw_open(&t->fx);
    for (int i = 0; i <= KEPT; i++) {
        mem_auto char *request =
            mem_fmt("POST /w/a HTTP/1.1\r\nHost: h\r\nX-Request-Id: %d\r\nContent-Length: 0\r\n\r\n", i);
        mem_auto char *done = mem_fmt("done %d", i + 1);
        buf_clear(&r->in);
        raw_send_str(r, request);
        raw_await(r, done);
    }
    raw_close(r);
    expect(t, "POST /w/a", "X-Request-Id: 2048\r\n", "", "\r\n\r\ndone 2049");
    expect(t, "POST /w/a", "X-Request-Id: 1\r\n", "", "\r\n\r\ndone 2\0");
    expect(t, "POST /w/a", "X-Request-Id: 0\r\n", "", "\r\n\r\ndone 2050");
}

/** Answers that come side by side are no more than what is kept of all: the oldest goes. */
static void answers_have_room_together(void **state)
{
    enum { N = 70, LEN = 256 << 10 }; /* 17.5 MiB */
    struct test *t = *state;
    struct raw *conns[N];
    struct http_req *reqs[N];
    for (int i = 0; i < N; i++) {
        mem_auto char *id = mem_fmt("X-Request-Id: %d\r\n", i);
        mem_auto char *request = request_text("POST /park", id, "x");
        conns[i] = raw_open(&t->fx);
        raw_send_str(conns[i], request);
        fixture_await_fn(&t->fx, is_parked, t);
        reqs[i] = t->parked;
        t->parked = NULL;
    }
    for (int i = 0; i < N; i++) {
        struct buf body = BUF_EMPTY;
        for (int n = 0; n < LEN; n += 1024)
            buf_addf(&body, "%1024d", n);
        http_reply(reqs[i], 200, "text/plain", &body);
        raw_await_end(conns[i]);
        raw_close(conns[i]);
    }
    expect(t, "POST /park", "X-Request-Id: 69\r\n", "x", "Bobbin-Repeated: true\r\n");
    mem_auto char *first = request_text("POST /park", "X-Request-Id: 0\r\n", "x");
    struct raw *again = raw_open(&t->fx);
    raw_send_str(again, first);
    fixture_await_fn(&t->fx, is_parked, t); /* it is done again */
    http_reply(t->parked, 200, NULL, NULL);
    raw_await_end(again);
    raw_close(again);
}

/** An answer is kept for its time only. */
static void an_answer_gets_old(void **state)
{
    static const struct http_server_def def = {.repeat_ms = 1000};
    struct test *t = *state;
    fixture_end(&t->fx);
    fixture_start(&t->fx, routes, ARRAY_LEN(routes), t, &def);
    int64_t begun_ms = run_now_ms();
    expect(t, "POST /w/a", ID, "", "\r\n\r\ndone 1");
    expect(t, "POST /w/a", ID, "", "\r\n\r\ndone ");
    assert_true(t->n_done == 1 || run_now_ms() - begun_ms >= def.repeat_ms);
    while (t->n_done == 1)
        expect(t, "POST /w/a", ID, "", "\r\n\r\ndone ");
    assert_int_equal(t->n_done, 2);
}

/* ---- other processes ---- */

/** What is asked of others: one claim at a time, answered by the test. */
struct http_claim {
    struct test *t;
    void (*found)(void *arg, enum http_repeat what, const struct http_kept_answer *answer,
                  const struct err_info *why);
    void *found_arg;
};

static struct http_claim asked;
static struct buf story;     /* what the others were asked to do */
static bool is_nobody_asked; /* they share nothing now */

static struct http_claim *on_claim(void *arg, const struct http_write_key *key,
                                   void (*found)(void *found_arg, enum http_repeat what,
                                                 const struct http_kept_answer *answer,
                                                 const struct err_info *why),
                                   void *found_arg)
{
    if (is_nobody_asked)
        return NULL;
    buf_addf(&story, "claim(%.*s%s%s) ", (int)key->body_len, (const char *)(key->body ? key->body : ""),
             key->may_have_lost_body ? " lost" : "", key->is_repeat_only ? " only" : "");
    asked = (struct http_claim){arg, found, found_arg};
    return &asked;
}

static void on_settle(struct http_claim *claim, const struct http_kept_answer *answer)
{
    assert_ptr_equal(claim, &asked);
    buf_addf(&story, "settle(%d %.*s) ", answer->status, (int)answer->body.len,
             answer->body.bytes ? answer->body.bytes : "");
}

static void on_release(struct http_claim *claim, bool stays)
{
    assert_ptr_equal(claim, &asked);
    buf_add_str(&story, stays ? "release(stays) " : "release() ");
    asked.found = NULL;
}

static const struct http_repeats_ops others = {on_claim, on_settle, on_release};

static int setup_shared(void **state)
{
    struct test *t = mem_new(struct test);
    const struct http_server_def def = {.repeats = &others, .repeats_arg = t};
    buf_clear(&story);
    asked = (struct http_claim){0};
    is_nobody_asked = false;
    fixture_start(&t->fx, routes, ARRAY_LEN(routes), t, &def);
    *state = t;
    return 0;
}

static int teardown_shared(void **state)
{
    int rc = teardown(state);
    buf_fini(&story);
    return rc;
}

static bool is_asked(void *arg)
{
    (void)arg;
    return asked.found != NULL;
}

/** Send a request and wait until others are asked. */
static struct raw *send_and_ask(struct test *t, const char *line, const char *headers, const char *body)
{
    mem_auto char *request = request_text(line, headers, body);
    struct raw *r = raw_open(&t->fx);
    raw_send_str(r, request);
    fixture_await_fn(&t->fx, is_asked, NULL);
    return r;
}

static void expect_end(struct raw *r, const char *wanted)
{
    raw_await_end(r);
    if (!strstr(buf_cstr(&r->in), wanted))
        fail_msg("answered %s\nwanted %s", buf_cstr(&r->in), wanted);
    raw_close(r);
}

static void find(enum http_repeat what, const struct http_kept_answer *answer, const struct err_info *why)
{
    asked.found(asked.found_arg, what, answer, why);
}

/** It is done once others have said that they have not; they learn the answer, and keep it when the server ends. */
static void others_are_asked_before_it_is_done(void **state)
{
    struct test *t = *state;
    struct raw *r = send_and_ask(t, "PUT /w/a", JSON_BODY ID, "{}");
    assert_int_equal(t->n_done, 0);
    find(HTTP_REPEAT_FIRST, NULL, NULL);
    expect_end(r, "\r\n\r\ndone 1");
    expect(t, "PUT /w/a", JSON_BODY ID, "{}", "\r\n\r\ndone 1");
    assert_string_equal(buf_cstr(&story), "claim({}) settle(201 done 1) ");
    fixture_stop_server(&t->fx);
    assert_string_equal(buf_cstr(&story), "claim({}) settle(201 done 1) release(stays) ");
}

static void what_another_process_has_done_is_not_done_again(void **state)
{
    struct test *t = *state;
    struct http_kept_answer answer = {.status = 201, .media_type = mem_str("text/plain")};
    http_kept_header(&answer, "ETag", "\"7\"");
    buf_add_str(&answer.body, "done there");
    struct raw *r = send_and_ask(t, "PUT /w/a", ID, "");
    find(HTTP_REPEAT_KNOWN, &answer, NULL);
    http_kept_fini(&answer);
    raw_await(r, "ETag: \"7\"\r\n");
    expect_end(r, "\r\n\r\ndone there");
    expect(t, "PUT /w/a", ID, "", "Bobbin-Repeated: true\r\n");
    assert_int_equal(t->n_done, 0);
    assert_string_equal(buf_cstr(&story), "claim( lost only) release(stays) ");
}

/** Nobody knows, or nobody can be asked: the client learns that, nothing is done, and the next repeat is asked about again. */
static void what_is_not_found_out_is_refused(void **state)
{
    static const struct err_info why = {ERR_UNAVAILABLE, "", "the store is away"};
    static const struct {
        enum http_repeat what;
        const char *wanted;
    } rows[] = {{HTTP_REPEAT_UNKNOWN, "urn:bobbin:error:unknown-outcome"},
                {HTTP_REPEAT_FAILED, "the store is away"},
                {HTTP_REPEAT_UNKNOWN, "another X-Request-Id"}};
    struct test *t = *state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct raw *r = send_and_ask(t, "DELETE /w/a", ID, "");
        mem_auto char *request = request_text("DELETE /w/a", ID, "");
        struct raw *second = raw_open(&t->fx);
        raw_send_str(second, request);
        for (int turn = 0; turn < 20; turn++)
            fixture_spin(&t->fx);
        find(rows[i].what, NULL, &why);
        expect_end(r, rows[i].wanted);
        expect_end(second, "HTTP/1.1 503");
    }
    assert_int_equal(t->n_done, 0);
}

/** What a handler says that it has not done is forgotten by all; a refusal of an empty body is not shared. */
static void what_was_not_done_is_forgotten_by_all(void **state)
{
    struct test *t = *state;
    struct raw *r = send_and_ask(t, "POST /busy", ID, "x");
    find(HTTP_REPEAT_FIRST, NULL, NULL);
    expect_end(r, "urn:bobbin:error:unavailable");
    assert_string_equal(buf_cstr(&story), "claim(x) release() ");
    buf_clear(&story);
    r = send_and_ask(t, "PUT /w/a", ID, "");
    find(HTTP_REPEAT_FIRST, NULL, NULL);
    expect_end(r, "HTTP/1.1 400");
    assert_int_equal(t->n_done, 1);
    is_nobody_asked = true;
    expect(t, "PUT /w/b", JSON_BODY ID, "{}", "\r\n\r\ndone 2");
}

/** The client leaves, or the server stops, while others are asked: nothing is done, and nothing was taken. */
static void who_ends_meanwhile_takes_nothing(void **state)
{
    struct test *t = *state;
    struct raw *r = send_and_ask(t, "PUT /w/a", JSON_BODY ID, "{}");
    fixture_stop_server(&t->fx);
    expect_end(r, "urn:bobbin:error:cancelled");
    assert_string_equal(buf_cstr(&story), "claim({}) release() ");
    assert_int_equal(t->n_done, 0);
}

/** The server stops while a write is done: whether it was is not known, and the others learn that. */
static void a_stop_amid_a_write_leaves_its_outcome_open(void **state)
{
    struct test *t = *state;
    struct raw *r = send_and_ask(t, "POST /park", ID, "x");
    find(HTTP_REPEAT_FIRST, NULL, NULL);
    fixture_await_fn(&t->fx, is_parked, t);
    fixture_stop_server(&t->fx);
    expect_end(r, "urn:bobbin:error:unknown-outcome");
    assert_non_null(strstr(buf_cstr(&story), "claim(x) settle(503 {"));
    assert_null(strstr(buf_cstr(&story), "release() "));
}

/** Nobody writes any more: what is known is forgotten in time. */
static void an_idle_server_forgets(void **state)
{
    const struct http_server_def def = {.repeats = &others, .repeats_arg = *state, .repeat_ms = 50};
    struct test *t = *state;
    fixture_end(&t->fx);
    fixture_start(&t->fx, routes, ARRAY_LEN(routes), t, &def);
    struct raw *r = send_and_ask(t, "PUT /w/a", JSON_BODY ID, "{}");
    find(HTTP_REPEAT_FIRST, NULL, NULL);
    expect_end(r, "done 1");
    while (asked.found)
        fixture_spin(&t->fx);
    assert_string_equal(buf_cstr(&story), "claim({}) settle(201 done 1) release() ");
}

#define SHARED(test) cmocka_unit_test_setup_teardown(test, setup_shared, teardown_shared)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_repeat_gets_the_first_answer, setup, teardown),
        cmocka_unit_test_setup_teardown(anything_else_is_another_write, setup, teardown),
        cmocka_unit_test_setup_teardown(what_was_not_done_may_be_done, setup, teardown),
        cmocka_unit_test_setup_teardown(a_large_answer_is_kept_without_its_body, setup, teardown),
        cmocka_unit_test_setup_teardown(repeats_wait_for_the_first, setup, teardown),
        cmocka_unit_test_setup_teardown(a_stop_ends_those_who_wait, setup, teardown),
        cmocka_unit_test_setup_teardown(the_oldest_goes_first, setup, teardown),
        cmocka_unit_test_setup_teardown(answers_have_room_together, setup, teardown),
        cmocka_unit_test_setup_teardown(an_answer_gets_old, setup, teardown),
        SHARED(others_are_asked_before_it_is_done),
        SHARED(what_another_process_has_done_is_not_done_again),
        SHARED(what_is_not_found_out_is_refused),
        SHARED(what_was_not_done_is_forgotten_by_all),
        SHARED(who_ends_meanwhile_takes_nothing),
        SHARED(a_stop_amid_a_write_leaves_its_outcome_open),
        SHARED(an_idle_server_forgets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* lib/http/guard: who asks through a gateway is answered before that gives up. */
#include "http_fixture.h"

#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

#include <uv.h>

#include "base/mem.h"
#include "base/obj.h"
#include "run/options.h"

enum { ANSWER_MS = 300 };

struct test {
    struct fixture fx;
    struct options *options;
    struct http_req *parked;
    int n_closed;
    bool is_late;
};

static void on_closed(void *arg)
{
    struct test *t = arg;
    t->n_closed++;
    t->parked = NULL;
}

static void park(struct http_req *req, void *app)
{
    struct test *t = app;
    t->parked = req;
    http_reply_later(req, on_closed, t);
}

static void park_for_certain(struct http_req *req, void *app)
{
    struct test *t = app;
    t->parked = req;
    http_reply_later(req, NULL, NULL);
}

static void on_late(void *arg)
{
    struct test *t = arg;
    struct http_req *req = t->parked;
    t->parked = NULL;
    t->is_late = true;
    http_reply(req, 202, NULL, NULL);
}

static void park_with_word(struct http_req *req, void *app)
{
    park(req, app);
    http_reply_if_late(req, on_late);
}

static const struct http_route routes[] = {
    {"GET", "/r", 0, 0, park, .summary = ""},
    {"POST", "/r", HTTP_NO_WRITE, 0, park, .summary = ""},
    {"PUT", "/w", 0, 100, park, .summary = ""},
    {"PUT", "/once", HTTP_DONE_ONCE, 100, park, .summary = ""},
    {"DELETE", "/certain", 0, 0, park_for_certain, .summary = ""},
    {"DELETE", "/late", 0, 0, park_with_word, .summary = ""},
};

static int setup(void **state)
{
    const char *sets[] = {"hadoop.proxyuser.knox.users=*", "hadoop.proxyuser.knox.hosts=localhost", NULL};
    struct test *t = mem_new(struct test);
    buf_auto struct buf errors = BUF_EMPTY;
    t->options = options_read(NULL, 0, NULL, sets, &errors);
    assert_non_null(t->options);
    const struct http_server_def def = {.answer_ms = ANSWER_MS, .options = t->options};
    fixture_start(&t->fx, routes, ARRAY_LEN(routes), t, &def);
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

#define CONTEXT "X-Forwarded-Context: /gateway/bobbin\r\n"

static struct raw *ask(struct test *t, const char *line, const char *headers)
{
    mem_auto char *request =
        mem_fmt("%s HTTP/1.1\r\nHost: h\r\nConnection: close\r\n%sContent-Length: 0\r\n\r\n", line, headers);
    struct raw *r = raw_open(&t->fx);
    raw_send_str(r, request);
    return r;
}

static void expect(struct raw *r, const char *status, const char *wanted)
{
    raw_await_end(r);
    const char *answer = buf_cstr(&r->in);
    if (!strstr(answer, status) || !strstr(answer, wanted))
        fail_msg("answered %s\nwanted %s, %s", answer, status, wanted);
    raw_close(r);
}

static bool is_parked(void *arg)
{
    return ((struct test *)arg)->parked != NULL;
}

static void a_read_is_refused_and_a_write_has_an_unknown_outcome(void **state)
{
    struct test *t = *state;
    static const struct {
        const char *line, *type;
    } rows[] = {{"GET /r", "urn:bobbin:error:unavailable"},
                {"POST /r", "urn:bobbin:error:unavailable"},
                {"PUT /w", "urn:bobbin:error:unknown-outcome"},
                {"PUT /once", "urn:bobbin:error:unknown-outcome"}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int64_t begun_ms = run_now_ms();
        struct raw *r = ask(t, rows[i].line, CONTEXT);
        raw_await(r, "Retry-After: 1\r\n");
        expect(r, "HTTP/1.1 503", rows[i].type);
        assert_true(run_now_ms() - begun_ms >= ANSWER_MS);
        assert_int_equal(t->n_closed, (int)i + 1);
    }
}

static void hold_thread(uv_work_t *work)
{
    sem_wait(work->data);
}

static void on_thread_free(uv_work_t *work, int status)
{
    (void)status;
    work->data = NULL;
}

static bool is_free(void *arg)
{
    return ((uv_work_t *)arg)->data == NULL;
}

/** Whether the caller may act for another is being looked up: nothing has begun, so the outcome is known. */
static void a_write_that_has_not_begun_is_not_done(void **state)
{
    enum { N_THREADS = 4 }; /* of libuv's pool */
    struct test *t = *state;
    uv_work_t work[N_THREADS];
    sem_t gate;
    assert_int_equal(sem_init(&gate, 0, 0), 0);
    for (int i = 0; i < N_THREADS; i++) {
        work[i].data = &gate;
        assert_int_equal(uv_queue_work(run_loop_uv(t->fx.loop), &work[i], hold_thread, on_thread_free), 0);
    }
    expect(ask(t, "PUT /w?user.name=knox&doAs=alice", CONTEXT), "HTTP/1.1 503",
           "urn:bobbin:error:unavailable");
    for (int i = 0; i < N_THREADS; i++)
        sem_post(&gate);
    for (int i = 0; i < N_THREADS; i++)
        fixture_await_fn(&t->fx, is_free, &work[i]);
    expect(ask(t, "DELETE /late?user.name=knox&doAs=alice", CONTEXT), "HTTP/1.1 202", "");
    assert_int_equal(t->n_closed, 0);
}

/** Repeats wait for the first, and are refused with it, each in its time. */
static void a_repeat_is_refused_too(void **state)
{
    struct test *t = *state;
    struct raw *first = ask(t, "PUT /once", "X-Request-Id: 1\r\n");
    fixture_await_fn(&t->fx, is_parked, t);
    expect(ask(t, "PUT /once", CONTEXT "X-Request-Id: 1\r\n"), "HTTP/1.1 503", "unknown-outcome");
    assert_int_equal(t->n_closed, 0);
    http_reply(t->parked, 204, NULL, NULL);
    expect(first, "HTTP/1.1 204", "");
    expect(ask(t, "PUT /once", CONTEXT "X-Request-Id: 1\r\n"), "HTTP/1.1 204", "Bobbin-Repeated: true");
}

/** Whose answer is promised gets it too late: it is dropped, whether the connection still is there or not. */
static void a_promised_answer_is_dropped(void **state)
{
    struct test *t = *state;
    struct raw *r = ask(t, "DELETE /certain", CONTEXT);
    expect(r, "HTTP/1.1 503", "unknown-outcome");
    http_reply(t->parked, 200, NULL, NULL);
    expect(ask(t, "DELETE /late", CONTEXT), "HTTP/1.1 202", "");
}

static void what_lasts_may_be_answered_before(void **state)
{
    struct test *t = *state;
    int64_t begun_ms = run_now_ms();
    expect(ask(t, "DELETE /late", CONTEXT), "HTTP/1.1 202", "");
    assert_true(t->is_late && t->n_closed == 0);
    assert_true(run_now_ms() - begun_ms >= ANSWER_MS / 2);
}

/** Nobody is refused who asks directly, nor who was answered in time. */
static void nobody_else_is_refused(void **state)
{
    struct test *t = *state;
    struct raw *direct = ask(t, "DELETE /late", "");
    fixture_await_fn(&t->fx, is_parked, t);
    struct http_req *parked = t->parked;
    t->parked = NULL;
    expect(ask(t, "GET /r", CONTEXT), "HTTP/1.1 503", ""); /* a whole limit later */
    http_reply(parked, 200, NULL, NULL);
    expect(direct, "HTTP/1.1 200", "");
    struct raw *quick = ask(t, "PUT /w", CONTEXT);
    fixture_await_fn(&t->fx, is_parked, t);
    http_reply(t->parked, 200, NULL, NULL);
    expect(quick, "HTTP/1.1 200", "");
    assert_int_equal(t->n_closed, 1);
    assert_false(t->is_late);
}

static void a_stop_does_not_wait_for_it(void **state)
{
    struct test *t = *state;
    struct raw *r = ask(t, "PUT /w", CONTEXT);
    fixture_await_fn(&t->fx, is_parked, t);
    fixture_stop_server(&t->fx);
    expect(r, "HTTP/1.1 503", "cancelled");
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_read_is_refused_and_a_write_has_an_unknown_outcome),
        CASE(a_write_that_has_not_begun_is_not_done),
        CASE(a_repeat_is_refused_too),
        CASE(a_promised_answer_is_dropped),
        CASE(what_lasts_may_be_answered_before),
        CASE(nobody_else_is_refused),
        CASE(a_stop_does_not_wait_for_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

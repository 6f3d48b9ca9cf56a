/* lib/http: what clients may hold: memory of bodies, time for head and body, connections. */
#include "http_fixture.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/obj.h"

enum { BUDGET = 1 << 20, LARGE = 300000, SMALL = 60000 };
#define HEAD(path) "POST " path " HTTP/1.1\r\nHost: h\r\n"

enum { METRICS_ENUM(HTTP_METRICS) N_METRICS };
static const struct metric_def metric_rows[] = {METRICS_ROWS(HTTP_METRICS)};

struct app {
    struct metrics *metrics;
    struct http_req *parked;
    struct fixture fx;
};

static void ok(struct http_req *req, void *arg)
{
    (void)arg;
    struct buf body = BUF_EMPTY;
    size_t len;
    http_body(req, &len);
    buf_addf(&body, "took %zu\n", len);
    http_reply(req, 200, "text/plain", &body);
}

static void park(struct http_req *req, void *arg)
{
    struct app *app = arg;
    app->parked = req;
    http_reply_later(req, NULL, NULL);
}

static int not_you(struct http_req *req, void *arg, struct err_info *why)
{
    (void)req, (void)arg;
    return err_set(why, ERR_PERMISSION, NULL, "not you");
}

static int not_yet(struct http_req *req, void *arg, struct err_info *why)
{
    (void)req, (void)arg;
    return err_set(why, ERR_UNAVAILABLE, NULL, "not yet");
}

static const struct http_route routes[] = {
    {"GET", "/ok", 0, 0, ok, .summary = ""},
    {"POST", "/ok", 0, 400000, ok, .summary = ""},
    {"POST", "/park", 0, 400000, park, .summary = ""},
    {"POST", "/never", 0, 400000, ok, "", .check = not_you},
    {"POST", "/later", 0, 400000, ok, "", .check = not_yet},
};

static struct app *start(const struct http_limits *limits)
{
    struct app *app = mem_new(struct app);
    app->metrics = metrics_new(metric_rows, N_METRICS);
    struct http_server_def def = {.limits = *limits, .metrics = app->metrics};
    fixture_start(&app->fx, routes, ARRAY_LEN(routes), app, &def);
    return app;
}

static void end(struct app *app)
{
    fixture_stop_server(&app->fx);
    assert_int_equal(metric_value(app->metrics, M_HTTP_CONNECTIONS), 0);
    assert_int_equal(metric_value(app->metrics, M_HTTP_BODY_BYTES), 0);
    fixture_end(&app->fx);
    metrics_free(app->metrics);
    free(app);
}

static const struct http_limits patient = {.prefix = "x.",
                                           .body_budget = BUDGET,
                                           .body_min_rate = 500,
                                           .body_window_ms = 3600000,
                                           .head_timeout_ms = 3600000};

struct level {
    const struct app *app;
    int id;
    int64_t least;
};

static bool is_reached(void *arg)
{
    const struct level *l = arg;
    return metric_value(l->app->metrics, l->id) >= l->least;
}

static void await_metric(struct app *app, int id, int64_t least)
{
    struct level level = {app, id, least};
    fixture_await_fn(&app->fx, is_reached, &level);
}

static void await_no_more_than(struct app *app, int64_t n_connections)
{
    while (metric_value(app->metrics, M_HTTP_CONNECTIONS) > n_connections)
        fixture_spin(&app->fx);
}

/** A request whose body lacks its last byte, and of which all else has arrived. */
static struct raw *stall(struct app *app, size_t len)
{
    int64_t before = metric_value(app->metrics, M_HTTP_BODY_BYTES);
    struct raw *r = raw_open(&app->fx);
    mem_auto char *head = mem_fmt(HEAD("/ok") "Content-Length: %zu\r\n\r\n", len);
    mem_auto char *bytes = mem_zalloc(len);
    raw_send_str(r, head);
    raw_send(r, bytes, len - 1);
    await_metric(app, M_HTTP_BODY_BYTES, before + (int64_t)len);
    return r;
}

static void post(struct app *app, size_t len, const char *wanted)
{
    struct raw *r = raw_open(&app->fx);
    mem_auto char *head = mem_fmt(HEAD("/ok") "Connection: close\r\nContent-Length: %zu\r\n\r\n", len);
    mem_auto char *bytes = mem_zalloc(len + 1);
    raw_send_str(r, head);
    raw_send(r, bytes, len);
    raw_await(r, wanted);
    raw_close(r);
}

/* ---- memory ---- */

static void bodies_share_a_budget(void **state)
{
    (void)state;
    struct app *app = start(&patient);
    struct raw *a = stall(app, LARGE), *b = stall(app, LARGE);
    struct raw *c = raw_open(&app->fx);
    raw_send_str(c, HEAD("/ok") "Content-Length: 300000\r\n\r\n"); /* and not a byte of it */
    raw_await(c, "HTTP/1.1 503");
    raw_await(c, "\r\nRetry-After: 1\r\n");
    raw_await(c, "x.body.budget");
    assert_int_equal(metric_value(app->metrics, M_HTTP_BODIES_REFUSED), 1);
    assert_true(metric_value(app->metrics, M_HTTP_BODY_BYTES) <= BUDGET);
    raw_send(a, "", 1);
    raw_await(a, "took 300000");
    post(app, LARGE, "took 300000"); /* what ended has given its room back */
    raw_close(a);
    raw_close(b);
    raw_close(c);
    end(app);
}

static void a_body_of_unknown_length_is_refused_where_the_room_ends(void **state)
{
    (void)state;
    struct app *app = start(&patient);
    struct raw *a = stall(app, LARGE), *b = stall(app, LARGE), *c = raw_open(&app->fx);
    mem_auto char *piece = mem_zalloc(0x10000);
    raw_send_str(c, HEAD("/ok") "Transfer-Encoding: chunked\r\n\r\n");
    for (int i = 0; i < 5; i++) {
        raw_send_str(c, "10000\r\n");
        raw_send(c, piece, 0x10000);
        raw_send_str(c, "\r\n");
    }
    raw_await(c, "HTTP/1.1 503");
    assert_true(metric_value(app->metrics, M_HTTP_BODY_BYTES) <= BUDGET);
    raw_close(a);
    raw_close(b);
    raw_close(c);
    end(app);
}

static void small_bodies_have_room_beside_large_ones(void **state)
{
    (void)state;
    struct app *app = start(&patient);
    struct raw *a = stall(app, LARGE), *b = stall(app, LARGE);
    post(app, LARGE, "HTTP/1.1 503");
    post(app, SMALL, "took 60000");
    raw_close(a);
    raw_close(b);
    end(app);
}

static void stalled_bodies_make_room(void **state)
{
    (void)state;
    struct app *app = start(&patient);
    struct raw *a = stall(app, LARGE), *b = stall(app, LARGE);
    struct result answer = {0};
    mem_auto char *bytes = mem_zalloc(LARGE);
    while (answer.status != 200) /* refused for the second in which nobody counts as stalled */
        call_sync(
            &app->fx,
            (struct http_call_def){
                .method = "POST", .url = fixture_url(&app->fx, "/ok"), .body = bytes, .body_len = LARGE},
            &answer);
    raw_await(a, "HTTP/1.1 408");
    raw_await_end(a);
    assert_false(b->is_ended);
    buf_fini(&answer.body);
    raw_close(a);
    raw_close(b);
    end(app);
}

static void a_body_is_counted_as_long_as_it_is_held(void **state)
{
    (void)state;
    struct app *app = start(&patient);
    struct raw *r = raw_open(&app->fx);
    raw_send_str(r, HEAD("/park") "Content-Length: 5000\r\n\r\n");
    mem_auto char *bytes = mem_zalloc(5000);
    raw_send(r, bytes, 5000);
    while (!app->parked)
        fixture_spin(&app->fx);
    assert_int_equal(metric_value(app->metrics, M_HTTP_BODY_BYTES), 5001);
    raw_close(r);
    http_reply(app->parked, 200, NULL, NULL); /* finds its client gone */
    await_no_more_than(app, 0);
    end(app);
}

/* ---- before a body ---- */

static void a_refusal_comes_before_the_body(void **state)
{
    (void)state;
    struct app *app = start(&patient);
    struct raw *asks = raw_open(&app->fx), *sends = raw_open(&app->fx);
    raw_send_str(asks, HEAD("/never") "Expect: 100-continue\r\nContent-Length: 300000\r\n\r\n");
    raw_await_end(asks);
    assert_non_null(strstr(buf_cstr(&asks->in), "HTTP/1.1 403"));
    assert_null(strstr(buf_cstr(&asks->in), "100 Continue"));
    raw_send_str(sends, HEAD("/never") "Connection: close\r\nContent-Length: 300000\r\n\r\n");
    mem_auto char *bytes = mem_zalloc(300000);
    raw_send(sends, bytes, 299999);
    for (int i = 0; i < 100; i++)
        fixture_spin(&app->fx);
    assert_int_equal(metric_value(app->metrics, M_HTTP_BODY_BYTES), 0);
    raw_send(sends, bytes, 1);
    raw_await_end(sends);
    assert_non_null(strstr(buf_cstr(&sends->in), "HTTP/1.1 403"));
    raw_close(asks);
    raw_close(sends);
    end(app);
}

static void a_refusal_for_now_does_not_wait_for_the_body(void **state)
{
    (void)state;
    struct http_limits limits = patient;
    limits.body_window_ms = 300;
    limits.body_min_rate = 0;
    struct app *app = start(&limits);
    struct raw *without = raw_open(&app->fx), *with = raw_open(&app->fx), *stays = raw_open(&app->fx);
    raw_send_str(without, HEAD("/later") "\r\n" HEAD("/later") "\r\n");
    raw_await_n(without, "HTTP/1.1 503", 2); /* on one connection */
    raw_send_str(with, HEAD("/later") "Content-Length: 300000\r\n\r\n");
    raw_await(with, "HTTP/1.1 503");
    mem_auto char *bytes = mem_zalloc(300000);
    raw_send(with, bytes, 300000); /* and is not reset */
    raw_await_end(with);
    raw_send_str(stays, HEAD("/later") "Content-Length: 300000\r\n\r\n");
    raw_await(stays, "HTTP/1.1 503");
    await_no_more_than(app, 1);
    raw_close(without);
    raw_close(with);
    raw_close(stays);
    end(app);
}

/* ---- time ---- */

static void a_body_that_does_not_come_is_given_up(void **state)
{
    (void)state;
    struct http_limits limits = patient;
    limits.body_window_ms = 100;
    struct app *app = start(&limits);
    struct raw *r = stall(app, SMALL);
    raw_await(r, "HTTP/1.1 408");
    raw_await(r, "x.body.min-rate");
    raw_await_end(r);
    while (metric_value(app->metrics, M_HTTP_BODY_BYTES))
        fixture_spin(&app->fx);
    assert_int_equal(metric_value(app->metrics, M_HTTP_SLOW), 1);
    raw_close(r);
    end(app);
}

/** A few bytes at a time, and faster than it must: however many windows that takes. */
static void a_slow_sender_at_the_rate_is_waited_for(void **state)
{
    (void)state;
    struct http_limits limits = patient;
    limits.body_window_ms = 1000;
    limits.body_min_rate = 1;
    struct app *app = start(&limits);
    struct raw *r = raw_open(&app->fx);
    int64_t begin_ms = run_now_ms();
    raw_send_str(r, HEAD("/ok") "Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n");
    while (run_now_ms() - begin_ms < 3000) {
        raw_send_str(r, "a\r\n0123456789\r\n");
        fixture_spin(&app->fx);
        usleep(1000);
    }
    raw_send_str(r, "0\r\n\r\n");
    raw_await(r, "HTTP/1.1 200");
    raw_close(r);
    end(app);
}

static void a_head_that_trickles_is_given_up(void **state)
{
    (void)state;
    struct http_limits limits = patient;
    limits.head_timeout_ms = 200;
    struct app *app = start(&limits);
    struct raw *r = raw_open(&app->fx);
    raw_send_str(r, "GET /ok HTTP/1.1\r\nHost: h\r\n");
    while (!r->is_ended) {
        raw_send_str(r, "X: y\r\n");
        fixture_spin(&app->fx);
        usleep(5000);
    }
    assert_true(r->in.len == 0 || strstr(buf_cstr(&r->in), "HTTP/1.1 408"));
    assert_int_equal(metric_value(app->metrics, M_HTTP_SLOW), 1);
    raw_close(r);
    end(app);
}

/* ---- connections ---- */

static void connections_of_an_address_are_limited(void **state)
{
    (void)state;
    struct http_limits limits = patient;
    limits.per_address = 3;
    struct app *app = start(&limits);
    struct raw *r[4];
    for (size_t i = 0; i < ARRAY_LEN(r); i++)
        r[i] = raw_open(&app->fx);
    raw_await(r[3], "HTTP/1.1 503");
    raw_await_end(r[3]);
    assert_int_equal(metric_value(app->metrics, M_HTTP_REFUSED), 1);
    raw_send_str(r[0], "GET /ok HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    raw_await_end(r[0]);
    assert_non_null(strstr(buf_cstr(&r[0]->in), "took 0"));
    mem_auto char *again = raw_exchange(&app->fx, "GET /ok HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    assert_non_null(strstr(again, "took 0"));
    for (size_t i = 0; i < ARRAY_LEN(r); i++)
        raw_close(r[i]);
    end(app);
}

/** Connections of one that fill all descriptors but the reserve, idle ones and unfinished ones. */
static void the_idlest_make_room_when_descriptors_are_short(void **state)
{
    (void)state;
    struct app *app = start(&patient);
    struct rlimit before, low;
    struct raw *r[200];
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    low = (struct rlimit){256, before.rlim_max}; /* of which each connection takes two here */
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    size_t n = 0;
    int64_t begin_ms = run_now_ms();
    for (; n < 90; n++) {
        r[n] = raw_open(&app->fx);
        raw_send_str(r[n], n % 2 ? "GET /ok HTTP/1.1\r\n" : HEAD("/ok") "Content-Length: 9\r\n\r\n12345678");
    }
    await_metric(app, M_HTTP_CONNECTIONS, 90);
    while (run_now_ms() - begin_ms < 1100) /* nobody is idle before a second is over */
        fixture_spin(&app->fx), usleep(1000);
    for (size_t last = n + 40; n < last; n++) {
        r[n] = raw_open(&app->fx);
        raw_send_str(r[n], "GET /ok HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
        raw_await_end(r[n]);
        assert_non_null(strstr(buf_cstr(&r[n]->in), "took 0"));
    }
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_true(metric_value(app->metrics, M_HTTP_EVICTED) > 0);
    raw_await_end(r[1]); /* nothing came of it after its first line; of the others a body came after that */
    for (size_t i = 0; i < n; i++)
        raw_close(r[i]);
    end(app);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_share_a_budget),
        cmocka_unit_test(a_body_of_unknown_length_is_refused_where_the_room_ends),
        cmocka_unit_test(small_bodies_have_room_beside_large_ones),
        cmocka_unit_test(stalled_bodies_make_room),
        cmocka_unit_test(a_body_is_counted_as_long_as_it_is_held),
        cmocka_unit_test(a_refusal_comes_before_the_body),
        cmocka_unit_test(a_refusal_for_now_does_not_wait_for_the_body),
        cmocka_unit_test(a_body_that_does_not_come_is_given_up),
        cmocka_unit_test(a_slow_sender_at_the_rate_is_waited_for),
        cmocka_unit_test(a_head_that_trickles_is_given_up),
        cmocka_unit_test(connections_of_an_address_are_limited),
        cmocka_unit_test(the_idlest_make_room_when_descriptors_are_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

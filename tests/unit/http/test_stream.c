/* lib/http/stream: bodies produced over time, their clients, and their end. */
#include "http_fixture.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/mem.h"
#include "base/obj.h"

/** A stream fed by the test. */
struct feed {
    struct http_req *req;
    struct buf pending;
    bool is_endless; /* always more of the letter e */
    bool is_at_end;
    bool wakes_itself_once;
    int n_reads, n_closed;
};

static ssize_t feed_read(void *arg, char *bytes, size_t max)
{
    struct feed *feed = arg;
    feed->n_reads++;
    if (feed->is_endless) {
        memset(bytes, 'e', max);
        return (ssize_t)max;
    }
    if (feed->wakes_itself_once) {
        feed->wakes_itself_once = false;
        buf_add_str(&feed->pending, "found while reading\n");
        http_stream_wake(feed->req);
        return 0;
    }
    size_t n = feed->pending.len < max ? feed->pending.len : max;
    if (n == 0)
        return feed->is_at_end ? -1 : 0;
    memcpy(bytes, feed->pending.bytes, n);
    buf_drop(&feed->pending, n);
    return (ssize_t)n;
}

static void feed_closed(void *arg)
{
    struct feed *feed = arg;
    feed->req = NULL;
    feed->n_closed++;
}

static const struct http_stream_ops feed_ops = {feed_read, feed_closed};

static void start_stream(struct http_req *req, void *app)
{
    struct feed *feed = app;
    feed->req = req;
    http_stream_start(req, 200, "application/x-ndjson", &feed_ops, feed);
}

static void not_reached(void *arg)
{
    (void)arg;
    fail_msg("closed of a request that became a stream");
}

static void start_later(struct http_req *req, void *app)
{
    struct feed *feed = app;
    feed->req = req;
    http_reply_later(req, not_reached, NULL);
}

static void ignore_closed(void *arg)
{
    (void)arg;
}

static void wait_forever(struct http_req *req, void *app)
{
    (void)app;
    http_reply_later(req, ignore_closed, NULL);
}

/* ---- many followers of one sequence of bytes ---- */

#define N_FOLLOWERS 200

struct follower {
    struct http_req *req;
    size_t n_read;
};

static struct follower followers[N_FOLLOWERS];
static size_t n_followers, n_published;

static ssize_t follower_read(void *arg, char *bytes, size_t max)
{
    struct follower *f = arg;
    size_t n = n_published - f->n_read < max ? n_published - f->n_read : max;
    memset(bytes, 'f', n);
    f->n_read += n;
    return (ssize_t)n;
}

static void follower_closed(void *arg)
{
    struct follower *f = arg;
    f->req = NULL;
}

static void follow(struct http_req *req, void *app)
{
    static const struct http_stream_ops ops = {follower_read, follower_closed};
    struct follower *f = &followers[n_followers++];
    (void)app;
    *f = (struct follower){req, 0};
    http_stream_start(req, 200, "text/plain", &ops, f);
}

static const struct http_route routes[] = {
    {"GET", "/follow", 0, 0, follow, .summary = ""},
    {"GET", "/wait", 0, 0, wait_forever, .summary = ""},
    {"GET", "/stream", 0, 0, start_stream, .summary = ""},
    {"GET", "/later", 0, 0, start_later, .summary = ""},
};

static struct feed feed;

static int setup_with(void **state, const struct http_server_def *def)
{
    struct fixture *fx = mem_new(struct fixture);
    feed = (struct feed){0};
    fixture_start(fx, routes, ARRAY_LEN(routes), &feed, def);
    *state = fx;
    return 0;
}

static int setup(void **state)
{
    return setup_with(state, NULL);
}

static int setup_impatient(void **state)
{
    return setup_with(state, &(struct http_server_def){.send_timeout_ms = 1000});
}

static int teardown(void **state)
{
    fixture_end(*state);
    free(*state);
    buf_fini(&feed.pending);
    return 0;
}

static void feed_add(const char *text)
{
    buf_add_str(&feed.pending, text);
    http_stream_wake(feed.req);
}

static bool feed_is_open(void *arg)
{
    (void)arg;
    return feed.req != NULL;
}

static bool feed_is_closed(void *arg)
{
    (void)arg;
    return feed.n_closed > 0;
}

#define GET_STREAM "GET /stream HTTP/1.1\r\nHost: h\r\n\r\n"

static void test_pieces_arrive_when_woken(void **state)
{
    struct fixture *fx = *state;
    struct raw *r = raw_open(fx);
    raw_send_str(r, GET_STREAM);
    raw_await(r, "\r\n\r\n"); /* the head comes though there is nothing to read yet */
    assert_non_null(strstr(buf_cstr(&r->in), "Transfer-Encoding: chunked"));
    assert_non_null(strstr(buf_cstr(&r->in), "Content-Type: application/x-ndjson"));
    for (int i = 0; i < 20; i++) {
        mem_auto char *line = mem_fmt("line %d\n", i);
        feed_add(line);
        raw_await(r, line);
    }
    int n_reads = feed.n_reads;
    for (int i = 0; i < 10; i++)
        fixture_spin(fx);
    assert_int_equal(feed.n_reads, n_reads); /* asleep: nobody asks */
    feed.is_at_end = true;
    http_stream_wake(feed.req);
    raw_await(r, "\r\n0\r\n\r\n");
    fixture_await_fn(fx, feed_is_closed, NULL);
    assert_int_equal(feed.n_closed, 1);
    feed.n_closed = 0;
    raw_send_str(r, GET_STREAM); /* the connection lives on */
    raw_await_n(r, "HTTP/1.1 200", 2);
    fixture_await_fn(fx, feed_is_closed, NULL);
    raw_close(r);
}

static void test_wake_inside_read_is_not_lost(void **state)
{
    struct fixture *fx = *state;
    feed.wakes_itself_once = true;
    struct raw *r = raw_open(fx);
    raw_send_str(r, GET_STREAM);
    raw_await(r, "found while reading");
    raw_close(r);
}

static void test_wakes_are_harmless_at_any_time(void **state)
{
    struct fixture *fx = *state;
    struct raw *r = raw_open(fx);
    raw_send_str(r, "GET /later HTTP/1.1\r\nHost: h\r\n\r\n");
    fixture_await_fn(fx, feed_is_open, NULL);
    http_stream_start(feed.req, 200, NULL, &feed_ops, &feed);
    http_stream_wake(feed.req);
    http_stream_wake(feed.req);
    raw_await(r, "HTTP/1.1 200");
    feed_add("one");
    http_stream_wake(feed.req);
    feed_add("two");
    raw_await(r, "two");
    http_stream_wake(feed.req);
    feed.is_at_end = true;
    raw_await(r, "0\r\n\r\n");
    raw_close(r);
}

static void test_head_of_a_stream(void **state)
{
    struct fixture *fx = *state;
    mem_auto char *text = raw_exchange(fx, "HEAD /stream HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    assert_non_null(strstr(text, "HTTP/1.1 200"));
    assert_int_equal(feed.n_reads, 0);
    assert_int_equal(feed.n_closed, 1);
}

static void test_old_client(void **state)
{
    struct fixture *fx = *state;
    buf_add_str(&feed.pending, "all of it");
    feed.is_at_end = true;
    mem_auto char *text = raw_exchange(fx, "GET /stream HTTP/1.0\r\n\r\n");
    assert_non_null(strstr(text, "\r\n\r\nall of it"));
    assert_null(strstr(text, "chunked"));
}

/** The heartbeat finds out that the client has left. */
static void test_client_vanishes_while_asleep(void **state)
{
    struct fixture *fx = *state;
    struct raw *r = raw_open(fx);
    raw_send_str(r, GET_STREAM);
    raw_await(r, "\r\n\r\n");
    raw_close(r);
    for (int i = 0; i < 1000 && !feed.n_closed; i++) {
        feed_add("progress\n");
        fixture_spin(fx);
    }
    assert_int_equal(feed.n_closed, 1);
}

static void test_client_resets_while_asleep(void **state)
{
    struct fixture *fx = *state;
    struct raw *r = raw_open(fx);
    raw_send_str(r, GET_STREAM);
    raw_await(r, "\r\n\r\n");
    raw_reset(r);
    for (int i = 0; i < 5; i++)
        fixture_spin(fx);
    feed_add("progress\n");
    fixture_await_fn(fx, feed_is_closed, NULL);
    assert_int_equal(feed.n_closed, 1);
}

static void test_client_resets_and_the_server_stops(void **state)
{
    struct fixture *fx = *state;
    struct raw *r = raw_open(fx);
    raw_send_str(r, GET_STREAM);
    raw_await(r, "\r\n\r\n");
    raw_reset(r);
    fixture_stop_server(fx);
    assert_int_equal(feed.n_closed, 1);
}

static void test_client_vanishes_while_receiving(void **state)
{
    struct fixture *fx = *state;
    feed.is_endless = true;
    struct raw *r = raw_open(fx);
    raw_send_str(r, GET_STREAM);
    raw_await(r, "eeee");
    raw_close(r);
    fixture_await_fn(fx, feed_is_closed, NULL);
    assert_int_equal(feed.n_closed, 1);
}

static bool all_follow(void *arg)
{
    (void)arg;
    return n_followers == N_FOLLOWERS;
}

/** Letters f that all clients together have received. */
struct counted {
    struct result res[N_FOLLOWERS];
    size_t n_bytes, n_wanted;
};

static struct counted *counted;

static void count_piece(void *arg, const char *bytes, size_t len)
{
    (void)arg, (void)bytes;
    counted->n_bytes += len;
}

static bool all_bytes_are_there(void *arg)
{
    (void)arg;
    return counted->n_bytes == counted->n_wanted;
}

/** Every follower gets every byte, however the wakes fall. */
static void test_many_streams(void **state)
{
    struct fixture *fx = *state;
    n_followers = n_published = 0;
    counted = mem_new(struct counted);
    for (size_t i = 0; i < N_FOLLOWERS; i++)
        http_call(fx->client, &(struct http_call_def){.url = fixture_url(fx, "/follow"),
                                                      .on_data = count_piece,
                                                      .done = result_done,
                                                      .arg = &counted->res[i]});
    fixture_await_fn(fx, all_follow, NULL);
    for (size_t round = 1; round <= 50; round++) {
        n_published += round * 37;
        counted->n_wanted = n_published * N_FOLLOWERS;
        for (size_t i = 0; i < N_FOLLOWERS; i++)
            http_stream_wake(followers[i].req);
        if (round % 3 == 0)
            fixture_await_fn(fx, all_bytes_are_there, NULL);
        else
            fixture_spin(fx);
    }
    fixture_await_fn(fx, all_bytes_are_there, NULL);
    fixture_stop_server(fx);
    for (size_t i = 0; i < N_FOLLOWERS; i++) {
        fixture_await(fx, &counted->res[i].is_done);
        assert_int_equal(counted->res[i].err, 0);
        buf_fini(&counted->res[i].body);
    }
    free(counted);
}

static void test_slow_client_is_dropped(void **state)
{
    struct fixture *fx = *state;
    feed.is_endless = true;
    struct raw *r = raw_open(fx);
    raw_send_str(r, GET_STREAM);
    raw_await(r, "eeee");
    raw_pause(r);
    fixture_await_fn(fx, feed_is_closed, NULL);
    raw_resume(r);
    raw_await_end(r);
    raw_close(r);
}

/** Only wakes the loop up. */
static void on_tick(void *arg)
{
    (void)arg;
}

/** Sleeping is not slowness: the time-out counts for blocked sends only. */
static void test_sleeping_stream_outlives_the_timeout(void **state)
{
    struct fixture *fx = *state;
    struct raw *r = raw_open(fx);
    raw_send_str(r, GET_STREAM);
    raw_await(r, "\r\n\r\n");
    int64_t until_ms = run_now_ms() + 2500;
    struct run_timer *tick = run_timer_new(fx->loop, on_tick, NULL);
    run_timer_start(tick, 50, 50);
    while (run_now_ms() < until_ms)
        uv_run(run_loop_uv(fx->loop), UV_RUN_ONCE);
    run_timer_free(tick);
    assert_int_equal(feed.n_closed, 0);
    feed_add("still here");
    raw_await(r, "still here");
    raw_close(r);
}

static int n_turns;

static void on_turn(uv_check_t *check)
{
    (void)check;
    n_turns++;
}

static void on_counted_tick(void *arg)
{
    ++*(int *)arg;
}

/** Streams asleep, a connection kept alive and a blocked send cost no time: the loop sleeps. */
static void test_waiting_costs_nothing(void **state)
{
    struct fixture *fx = *state;
    struct raw *asleep = raw_open(fx), *blocked = raw_open(fx), *waiting = raw_open(fx);
    raw_send_str(asleep, GET_STREAM);
    raw_await(asleep, "\r\n\r\n");
    raw_send_str(waiting, "GET /wait HTTP/1.1\r\nHost: h\r\n\r\n");
    feed.is_endless = true;
    raw_send_str(blocked, GET_STREAM);
    raw_await(blocked, "eeee");
    raw_pause(blocked);
    for (int n_reads = -1; n_reads != feed.n_reads;) {
        n_reads = feed.n_reads;
        for (int i = 0; i < 50; i++)
            fixture_spin(fx);
    }
    uv_check_t check;
    uv_check_init(run_loop_uv(fx->loop), &check);
    uv_check_start(&check, on_turn);
    int n_ticks = 0;
    struct run_timer *tick = run_timer_new(fx->loop, on_counted_tick, &n_ticks);
    run_timer_start(tick, 50, 50);
    n_turns = 0;
    while (n_ticks < 10)
        uv_run(run_loop_uv(fx->loop), UV_RUN_ONCE);
    run_timer_free(tick);
    uv_close((uv_handle_t *)&check, NULL);
    fixture_spin(fx);
    assert_in_range(n_turns, 10, 40); /* the ticks and little else */
    feed.is_endless = false;
    raw_close(asleep);
    raw_close(blocked);
    raw_close(waiting);
}

static void test_stop_ends_streams(void **state)
{
    struct fixture *fx = *state;
    struct raw *asleep = raw_open(fx);
    raw_send_str(asleep, GET_STREAM);
    raw_await(asleep, "\r\n\r\n");
    feed_add("last words");
    raw_await(asleep, "last words");
    fixture_stop_server(fx);
    assert_int_equal(feed.n_closed, 1);
    raw_await_end(asleep);
    assert_non_null(strstr(buf_cstr(&asleep->in), "\r\n0\r\n\r\n")); /* a proper end */
    raw_close(asleep);
}

static void test_stop_with_a_blocked_stream(void **state)
{
    struct fixture *fx = *state;
    feed.is_endless = true;
    struct raw *r = raw_open(fx);
    raw_send_str(r, GET_STREAM);
    raw_await(r, "eeee");
    raw_pause(r);
    int n_reads = -1;
    while (n_reads != feed.n_reads) { /* until the socket is full */
        n_reads = feed.n_reads;
        for (int i = 0; i < 20; i++)
            fixture_spin(fx);
    }
    fixture_stop_server(fx);
    assert_int_equal(feed.n_closed, 1);
    raw_close(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_pieces_arrive_when_woken, setup, teardown),
        cmocka_unit_test_setup_teardown(test_wake_inside_read_is_not_lost, setup, teardown),
        cmocka_unit_test_setup_teardown(test_wakes_are_harmless_at_any_time, setup, teardown),
        cmocka_unit_test_setup_teardown(test_head_of_a_stream, setup, teardown),
        cmocka_unit_test_setup_teardown(test_old_client, setup, teardown),
        cmocka_unit_test_setup_teardown(test_client_vanishes_while_asleep, setup, teardown),
        cmocka_unit_test_setup_teardown(test_client_resets_while_asleep, setup, teardown),
        cmocka_unit_test_setup_teardown(test_client_resets_and_the_server_stops, setup, teardown),
        cmocka_unit_test_setup_teardown(test_many_streams, setup, teardown),
        cmocka_unit_test_setup_teardown(test_client_vanishes_while_receiving, setup, teardown),
        cmocka_unit_test_setup_teardown(test_slow_client_is_dropped, setup_impatient, teardown),
        cmocka_unit_test_setup_teardown(test_sleeping_stream_outlives_the_timeout, setup_impatient, teardown),
        cmocka_unit_test_setup_teardown(test_waiting_costs_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(test_stop_ends_streams, setup, teardown),
        cmocka_unit_test_setup_teardown(test_stop_with_a_blocked_stream, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

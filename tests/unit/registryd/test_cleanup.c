/* Events become purges and homes; what fails for now is tried again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cleanup/cleanup.h"
#include "registryd/events.h"
#include "store_kit.h"

#define CONTAINER "container_5_0001_01_000001"

struct fixture {
    struct kit *kit;
    struct index *index;
    struct reg_store *ops;
    struct metrics *metrics;
    struct cleanup *cleanup;
};

struct said {
    size_t n_done;
    int err;
    struct cleanup_outcome outcome;
};

static const struct metric_def rows[] = {METRICS_ROWS(REGISTRYD_METRICS)};

/* A store with /users and a container's record, of which the mirror knows nothing yet. */
static int set_up(void **state)
{
    static const char record[] =
        "{\"type\":\"JSONServiceRecord\",\"yarn:id\":\"" CONTAINER "\",\"yarn:persistence\":\"container\"}";
    struct fixture *x = mem_new(struct fixture);
    x->kit = kit_new_rooted();
    assert_err(kit_create(x->kit, "/users", ""), 0);
    assert_err(kit_create(x->kit, "/c", record), 0);
    x->kit->mirror = mirror_new(x->kit->store);
    x->index = index_new(x->kit->loop, x->kit->mirror);
    x->ops = reg_store_new(x->kit->loop, x->kit->store, REG_NAMES_DNS, NULL);
    x->metrics = metrics_new(rows, ARRAY_LEN(rows));
    struct cleanup_def def = {x->kit->loop, x->index, x->ops, REG_NAMES_DNS, x->metrics};
    x->cleanup = cleanup_new(&def);
    *state = x;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *x = *state;
    cleanup_stop(x->cleanup);
    kit_close(x->kit);
    cleanup_free(x->cleanup);
    reg_store_free(x->ops);
    index_free(x->index);
    kit_free(x->kit);
    metrics_free(x->metrics);
    free(x);
    return 0;
}

static void on_done(void *arg, int err, const struct cleanup_outcome *o)
{
    struct said *s = arg;
    s->n_done++;
    s->err = err;
    s->outcome = *o;
}

static bool is_said(void *arg)
{
    return ((struct said *)arg)->n_done > 0;
}

static bool is_built(void *arg)
{
    return index_ready(arg);
}

static bool has_purged(void *arg)
{
    return metric_value(arg, M_PURGED) > 0;
}

static struct said report(struct fixture *x, enum cleanup_kind kind, const char *subject)
{
    struct said s = {0};
    struct cleanup_event event = {.kind = kind, .subject = subject, .reason = "a test says so"};
    cleanup_event(x->cleanup, &event, on_done, &s);
    assert_int_equal(s.n_done, 0);
    kit_until(x->kit, is_said, &s);
    return s;
}

static void what_fails_for_now_is_reported_and_tried_again(void **state)
{
    struct fixture *x = *state;
    struct said s = report(x, CLEANUP_CONTAINER_ENDED, CONTAINER); /* the index is not built */
    assert_string_equal(err_name(s.err), "ERR_UNAVAILABLE");
    assert_true(s.outcome.is_retrying);
    assert_int_equal(cleanup_n_waiting(x->cleanup), 1);
    kit_until(x->kit, has_purged, x->metrics);
    assert_err(kit_get(x->kit, "/c"), ERR_NOTFOUND);
    assert_int_equal(cleanup_n_waiting(x->cleanup), 0);
}

static bool has_home(void *arg)
{
    return metric_value(arg, M_HOMES) > 0;
}

/* The resource manager may name its users before a new registry has its standard nodes. */
static void a_home_waits_for_the_standard_nodes(void **state)
{
    struct fixture *x = *state;
    assert_err(kit_delete(x->kit, "/users", -1), 0);
    struct said s = report(x, CLEANUP_APP_STORED, "alice");
    assert_string_equal(err_name(s.err), "ERR_NOTFOUND");
    assert_true(s.outcome.is_retrying);
    assert_err(kit_create(x->kit, "/users", ""), 0);
    kit_until(x->kit, has_home, x->metrics);
    assert_err(kit_get(x->kit, "/users/alice"), 0);
}

static void a_stop_drops_what_waits(void **state)
{
    struct fixture *x = *state;
    struct said s = report(x, CLEANUP_CONTAINER_ENDED, CONTAINER);
    assert_true(s.outcome.is_retrying);
    cleanup_stop(x->cleanup);
    assert_int_equal(cleanup_n_waiting(x->cleanup), 0);
    assert_err(kit_get(x->kit, "/c"), 0);
}

static void events_do_what_the_table_says(void **state)
{
    struct fixture *x = *state;
    kit_until(x->kit, is_built, x->index);
    struct said s = report(x, CLEANUP_AM_REGISTERED, "appattempt_5_0001_000001");
    assert_int_equal(s.err, 0);
    s = report(x, CLEANUP_APP_COMPLETED, "application_5_0001");
    assert_int_equal(s.err, 0);
    assert_true(s.outcome.n_purged == 0);
    s = report(x, CLEANUP_CONTAINER_ENDED, "");
    assert_int_equal(s.err, ERR_INVALID);
    s = report(x, CLEANUP_APP_STORED, "no such name!");
    assert_int_equal(s.err, ERR_PATH);
    assert_false(s.outcome.is_retrying);
    s = report(x, CLEANUP_APP_STORED, "Alice@REALM");
    assert_true(s.err == 0 && s.outcome.home_made);
    assert_err(kit_get(x->kit, "/users/alice"), 0);
    s = report(x, CLEANUP_APP_STORED, "alice");
    assert_true(s.err == 0 && !s.outcome.home_made);
    s = report(x, CLEANUP_AM_ENDED, CONTAINER);
    assert_true(s.err == 0 && s.outcome.n_purged == 1);
    assert_err(kit_get(x->kit, "/c"), ERR_NOTFOUND);
}

static void many_events_all_come_to_an_end(void **state)
{
    struct fixture *x = *state;
    struct said said[100] = {{0}};
    kit_until(x->kit, is_built, x->index);
    for (size_t i = 0; i < ARRAY_LEN(said); i++) {
        struct cleanup_event event = {
            .kind = CLEANUP_AM_ENDED, .subject = CONTAINER, .reason = "a test says so"};
        cleanup_event(x->cleanup, &event, on_done, &said[i]);
    }
    int64_t n_purged = 0;
    for (size_t i = 0; i < ARRAY_LEN(said); i++) {
        kit_until(x->kit, is_said, &said[i]);
        assert_int_equal(said[i].err, 0);
        assert_int_equal(said[i].n_done, 1);
        n_purged += said[i].outcome.n_purged;
    }
    assert_int_equal(n_purged, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define CASE(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)
        CASE(what_fails_for_now_is_reported_and_tried_again),
        CASE(a_home_waits_for_the_standard_nodes),
        CASE(a_stop_drops_what_waits),
        CASE(events_do_what_the_table_says),
        CASE(many_events_all_come_to_an_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

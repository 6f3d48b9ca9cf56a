/* lib/run/degraded: shortages are reported once, and end by themselves. */
#include "base/mem.h"
#include "run/degraded.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

enum { METRICS_ENUM(DEGRADED_METRICS) N_METRICS };
static const struct metric_def rows[] = {METRICS_ROWS(DEGRADED_METRICS)};

struct bed {
    struct run_loop *loop;
    struct metrics *metrics;
    struct degraded *watch;
    char *reason;
    bool wants_reason;
};

static void changed(void *arg, const char *reason)
{
    struct bed *b = arg;
    free(b->reason);
    b->reason = mem_str(reason);
    if (!b->reason != b->wants_reason)
        run_loop_stop(b->loop);
}

static int set_up(void **state)
{
    struct bed *b = mem_new(struct bed);
    b->loop = run_loop_new();
    b->metrics = metrics_new(rows, N_METRICS);
    b->watch = degraded_watch(b->loop, b->metrics, rows, N_METRICS, changed, b);
    *state = b;
    return 0;
}

static int tear_down(void **state)
{
    struct bed *b = *state;
    degraded_unwatch(b->watch);
    run_loop_free(b->loop);
    metrics_free(b->metrics);
    free(b->reason);
    free(b);
    return 0;
}

static void await(struct bed *b, bool wants_reason)
{
    b->wants_reason = wants_reason;
    if (!b->reason == wants_reason)
        run_loop_run(b->loop);
}

static void *report_from_elsewhere(void *where)
{
    degraded_report(EDQUOT, where);
    return NULL;
}

static void a_full_disk_is_reported_until_there_is_room(void **state)
{
    struct bed *b = *state;
    pthread_t thread;
    char where[] = "/tmp/some-file"; /* there is room in /tmp: the look finds it */
    assert_int_equal(pthread_create(&thread, NULL, report_from_elsewhere, where), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    await(b, true);
    assert_non_null(strstr(b->reason, "degraded: there is no room to write /tmp/some-file ("));
    assert_int_equal(metric_value(b->metrics, M_DEGRADED_DISK), 1);
    assert_int_equal(metric_value(b->metrics, M_SHORTAGES_DISK), 1);
    await(b, false);
    assert_int_equal(metric_value(b->metrics, M_DEGRADED_DISK), 0);
}

static void a_write_that_works_again_ends_it(void **state)
{
    struct bed *b = *state;
    degraded_report(ENOSPC, "/nonexistent/a"); /* which no look finds room at */
    await(b, true);
    degraded_over("/nonexistent/b");
    degraded_over("/nonexistent/a");
    await(b, false);
}

static void short_descriptors_are_reported_beside_the_disk(void **state)
{
    struct bed *b = *state;
    degraded_report(ENOSPC, "/nonexistent/a");
    degraded_report(EMFILE, "guests");
    await(b, true);
    assert_non_null(strstr(b->reason, "/nonexistent/a ("));
    assert_non_null(strstr(b->reason, "; descriptors are short for guests ("));
    assert_int_equal(metric_value(b->metrics, M_DEGRADED_DESCRIPTORS), 1);
    degraded_over("/nonexistent/a");
    await(b, false); /* nobody reports any more, and there are enough */
}

static void other_errors_are_no_shortage(void **state)
{
    struct bed *b = *state;
    errno = EIO;
    degraded_report(EIO, "/tmp/x");
    degraded_report(EACCES, "/tmp/x");
    assert_int_equal(errno, EIO);
    uv_run(run_loop_uv(b->loop), UV_RUN_NOWAIT);
    assert_null(b->reason);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_full_disk_is_reported_until_there_is_room),
        CASE(a_write_that_works_again_ends_it),
        CASE(short_descriptors_are_reported_beside_the_disk),
        CASE(other_errors_are_no_shortage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

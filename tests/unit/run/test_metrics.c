#include "base/obj.h"
#include "run/metrics.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define TEST_METRICS(X)                                                                                      \
    X(M_HITS_A, METRIC_COUNTER, "t_hits", "kind=\"a\"", "Hits\\ of \"it\"\nall.")                            \
    X(M_HITS_B, METRIC_COUNTER, "t_hits", "kind=\"b\"", "")                                                  \
    X(M_SIZE, METRIC_GAUGE, "t_size_bytes", "", "Size.")                                                     \
    X(M_BUILD, METRIC_INFO, "t_build", "version=\"1\"", "Build.")                                            \
    X(M_CPU, METRIC_COUNTER_US, "t_cpu_seconds", "", "Time.")
enum { METRICS_ENUM(TEST_METRICS) N_METRICS };
static const struct metric_def defs[] = {METRICS_ROWS(TEST_METRICS)};

static void collect(void *arg)
{
    metric_set(arg, M_SIZE, 77);
}

static void exposition(void **state)
{
    (void)state;
    struct metrics *m = metrics_new(defs, ARRAY_LEN(defs));
    buf_auto struct buf out = BUF_EMPTY;
    metric_add(m, M_HITS_A, 2);
    metric_add(m, M_HITS_A, 3);
    metrics_collector(m, collect, m);
    metric_set(m, M_CPU, 1250000);
    metrics_write(m, METRICS_OPENMETRICS, &out);
    assert_string_equal(
        out.bytes, "# TYPE t_hits counter\n# HELP t_hits Hits\\\\ of \\\"it\\\"\\nall.\n"
                   "t_hits_total{kind=\"a\"} 5\nt_hits_total{kind=\"b\"} 0\n"
                   "# TYPE t_size_bytes gauge\n# UNIT t_size_bytes bytes\n# HELP t_size_bytes Size.\n"
                   "t_size_bytes 77\n"
                   "# TYPE t_build info\n# HELP t_build Build.\nt_build_info{version=\"1\"} 1\n"
                   "# TYPE t_cpu_seconds counter\n# UNIT t_cpu_seconds seconds\n# HELP t_cpu_seconds Time.\n"
                   "t_cpu_seconds_total 1.250000\n# EOF\n");
    assert_int_equal(metric_value(m, M_HITS_A), 5);
    buf_clear(&out);
    metrics_write(m, METRICS_TEXT, &out);
    assert_string_equal(
        out.bytes, "# TYPE t_hits_total counter\n# HELP t_hits_total Hits\\\\ of \"it\"\\nall.\n"
                   "t_hits_total{kind=\"a\"} 5\nt_hits_total{kind=\"b\"} 0\n"
                   "# TYPE t_size_bytes gauge\n# HELP t_size_bytes Size.\nt_size_bytes 77\n"
                   "# TYPE t_build_info gauge\n# HELP t_build_info Build.\nt_build_info{version=\"1\"} 1\n"
                   "# TYPE t_cpu_seconds_total counter\n# HELP t_cpu_seconds_total Time.\n"
                   "t_cpu_seconds_total 1.250000\n");
    assert_int_equal(metrics_find(m, "t_size_bytes"), M_SIZE);
    assert_int_equal(metrics_find(m, "t_size"), -1);
    metrics_free(m);
}

#define TIMES(X)                                                                                             \
    X(T_WRITE, METRIC_HISTOGRAM, "t_write_seconds", "op=\"put\"", "Writes.")                                 \
    X(T_REQUEST, METRIC_HISTOGRAM_VEC, "t_request_seconds", "", "Requests.")
enum { METRICS_ENUM(TIMES) N_TIMES };
static const struct metric_def times[] = {METRICS_ROWS(TIMES)};

static void has_line(struct buf *text, const char *line)
{
    if (!strstr(buf_cstr(text), line))
        fail_msg("no line \"%s\" in:\n%s", line, text->bytes);
}

/* A value at a bound is in its bucket; buckets are cumulated when they are written. */
static void durations_fall_into_buckets(void **state)
{
    (void)state;
    struct metrics *m = metrics_new(times, ARRAY_LEN(times));
    buf_auto struct buf out = BUF_EMPTY;
    static const int64_t us[] = {-5, 0, 100, 101, 1000000, 10000000, 10000001, 3600000000};
    for (size_t i = 0; i < ARRAY_LEN(us); i++)
        metric_observe(m, T_WRITE, us[i]);
    metrics_write(m, METRICS_TEXT, &out);
    has_line(&out, "# TYPE t_write_seconds histogram\n");
    has_line(&out, "\nt_write_seconds_bucket{op=\"put\",le=\"0.0001\"} 3\n");
    has_line(&out, "\nt_write_seconds_bucket{op=\"put\",le=\"0.00025\"} 4\n");
    has_line(&out, "\nt_write_seconds_bucket{op=\"put\",le=\"1.0\"} 5\n");
    has_line(&out, "\nt_write_seconds_bucket{op=\"put\",le=\"10.0\"} 6\n");
    has_line(&out, "\nt_write_seconds_bucket{op=\"put\",le=\"+Inf\"} 8\n");
    has_line(&out, "\nt_write_seconds_sum{op=\"put\"} 3621.000202\n");
    has_line(&out, "\nt_write_seconds_count{op=\"put\"} 8\n");
    assert_null(strstr(out.bytes, "t_request_seconds_count"));
    metrics_free(m);
}

static void a_series_is_found_again_and_their_number_is_bounded(void **state)
{
    (void)state;
    struct metrics *m = metrics_new(times, ARRAY_LEN(times));
    buf_auto struct buf out = BUF_EMPTY;
    struct metric_series *a = metric_series(m, T_REQUEST, "route=\"/a\"");
    assert_non_null(a);
    assert_ptr_equal(metric_series(m, T_REQUEST, "route=\"/a\""), a);
    for (int i = 1; i < METRIC_SERIES_MAX; i++) {
        char labels[32];
        snprintf(labels, sizeof labels, "route=\"/%d\"", i);
        assert_non_null(metric_series(m, T_REQUEST, labels));
    }
    assert_null(metric_series(m, T_REQUEST, "route=\"/more\""));
    metric_series_observe(NULL, 1);
    metric_series_observe(a, 1);
    metrics_write(m, METRICS_OPENMETRICS, &out);
    has_line(&out, "\nt_request_seconds_count{route=\"/a\"} 1\n");
    has_line(&out, "\nt_request_seconds_count{route=\"/255\"} 0\n");
    metrics_free(m);
}

static void an_empty_table_is_fine(void **state)
{
    (void)state;
    struct metrics *m = metrics_new(NULL, 0);
    buf_auto struct buf out = BUF_EMPTY;
    metrics_write(m, METRICS_OPENMETRICS, &out);
    assert_string_equal(out.bytes, "# EOF\n");
    metrics_free(m);
    metrics_free(NULL);
}

static void *bump(void *arg)
{
    for (int i = 0; i < 10000; i++)
        metric_add(arg, M_HITS_B, 1);
    return NULL;
}

static void threads_lose_no_count(void **state)
{
    (void)state;
    struct metrics *m = metrics_new(defs, ARRAY_LEN(defs));
    pthread_t threads[4];
    for (size_t i = 0; i < ARRAY_LEN(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, bump, m), 0);
    for (size_t i = 0; i < ARRAY_LEN(threads); i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(metric_value(m, M_HITS_B), 40000);
    metrics_free(m);
}

static void a_torn_family_is_a_bug(void **state)
{
    (void)state;
    static const struct metric_def torn[] = {
        {METRIC_GAUGE, "a", "", ""}, {METRIC_GAUGE, "b", "", ""}, {METRIC_GAUGE, "a", "x=\"1\"", ""}};
    pid_t child = fork();
    if (child == 0) {
        struct rlimit no_core = {0, 0};
        setrlimit(RLIMIT_CORE, &no_core);
        signal(SIGABRT, SIG_DFL);
        close(STDERR_FILENO);
        metrics_new(torn, ARRAY_LEN(torn));
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exposition),
        cmocka_unit_test(durations_fall_into_buckets),
        cmocka_unit_test(a_series_is_found_again_and_their_number_is_bounded),
        cmocka_unit_test(an_empty_table_is_fine),
        cmocka_unit_test(threads_lose_no_count),
        cmocka_unit_test(a_torn_family_is_a_bug),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

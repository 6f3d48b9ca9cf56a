#include "base/obj.h"
#include "run/metrics.h"

#include <pthread.h>
#include <signal.h>
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
    X(M_BUILD, METRIC_INFO, "t_build", "version=\"1\"", "Build.")
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
    metrics_write(m, &out);
    assert_string_equal(out.bytes,
                        "# TYPE t_hits counter\n# HELP t_hits Hits\\\\ of \\\"it\\\"\\nall.\n"
                        "t_hits_total{kind=\"a\"} 5\nt_hits_total{kind=\"b\"} 0\n"
                        "# TYPE t_size_bytes gauge\n# HELP t_size_bytes Size.\nt_size_bytes 77\n"
                        "# TYPE t_build info\n# HELP t_build Build.\nt_build_info{version=\"1\"} 1\n# EOF\n");
    assert_int_equal(metric_value(m, M_HITS_A), 5);
    metrics_free(m);
}

static void an_empty_table_is_fine(void **state)
{
    (void)state;
    struct metrics *m = metrics_new(NULL, 0);
    buf_auto struct buf out = BUF_EMPTY;
    metrics_write(m, &out);
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
        cmocka_unit_test(an_empty_table_is_fine),
        cmocka_unit_test(threads_lose_no_count),
        cmocka_unit_test(a_torn_family_is_a_bug),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

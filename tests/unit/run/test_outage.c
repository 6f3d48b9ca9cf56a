/* lib/run/outage: one event when an outage begins, one a minute at most, one when it ends; the reason is repeated. */
#include "base/buf.h"
#include "base/mem.h"
#include "run/outage.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define URL    "http://127.0.0.1:9192"
#define SECOND ((int64_t)1000)

#define TEST_EVENTS(X)                                                                                       \
    X(store_lost, LOG_WARN, "Lost.")                                                                         \
    X(store_still_lost, LOG_WARN, "Still lost.")                                                             \
    X(store_back, LOG_INFO, "Back.")
LOG_DECLARE(TEST_EVENTS)

#define TEST_METRICS(X)                                                                                      \
    OUTAGE_UP(X, M_STORE_UP, "store")                                                                        \
    OUTAGE_UP(X, M_OTHER_UP, "other")                                                                        \
    OUTAGE_SINCE(X, M_STORE_SINCE, "store")                                                                  \
    OUTAGE_SINCE(X, M_OTHER_SINCE, "other")
enum { METRICS_ENUM(TEST_METRICS) N_METRICS };
static const struct metric_def rows[] = {METRICS_ROWS(TEST_METRICS)};

static const struct outage_def store_def = {"store",        &ev_store_lost, &ev_store_still_lost,
                                            &ev_store_back, M_STORE_UP,     M_STORE_SINCE};
static const struct outage_def other_def = {"other",        &ev_store_lost, &ev_store_still_lost,
                                            &ev_store_back, M_OTHER_UP,     M_OTHER_SINCE};

struct bench {
    struct metrics *metrics;
    struct outages *all;
    struct outage *store, *other;
    FILE *log; /* what stands on stderr */
    int saved;
};

static int set_up(void **state)
{
    struct bench *b = mem_new(struct bench);
    b->metrics = metrics_new(rows, N_METRICS);
    b->all = outages_new(b->metrics);
    b->store = outage_new(b->all, &store_def);
    b->other = outage_new(b->all, &other_def);
    b->log = tmpfile();
    b->saved = dup(STDERR_FILENO);
    dup2(fileno(b->log), STDERR_FILENO);
    *state = b;
    return 0;
}

static int tear_down(void **state)
{
    struct bench *b = *state;
    dup2(b->saved, STDERR_FILENO);
    close(b->saved);
    fclose(b->log);
    outages_free(b->all);
    metrics_free(b->metrics);
    mem_free_ptr(state);
    return 0;
}

static void fail_at(struct outage *o, const char *text, int64_t now_ms)
{
    struct err_info why = {0};
    err_set(&why, ERR_UNAVAILABLE, "", "%s", text);
    outage_fails(o, URL, &why, now_ms);
}

/* Lines of the log that hold this text. */
static int n_logged(struct bench *b, const char *text)
{
    char line[1024];
    int n = 0;
    rewind(b->log);
    while (fgets(line, sizeof line, b->log))
        n += strstr(line, text) != NULL;
    return n;
}

static void the_first_failure_is_logged_at_once(void **state)
{
    struct bench *b = *state;
    fail_at(b->store, "connection refused", 5);
    assert_int_equal(n_logged(b, " warn store_lost url=" URL " error=\"connection refused\" Lost.\n"), 1);
    assert_true(outage_lasts(b->store));
    assert_false(outage_lasts(b->other));
}

static void an_error_without_text_has_that_of_its_code(void **state)
{
    struct bench *b = *state;
    struct err_info why = {.code = ERR_TIMEOUT};
    outage_fails(b->store, URL, &why, 0);
    assert_int_equal(n_logged(b, " error=\"\" "), 0);
    assert_non_null(strstr(outage_reason(b->store), err_text(ERR_TIMEOUT)));
    assert_int_equal(n_logged(b, err_text(ERR_TIMEOUT)), 1);
}

/* A try a second for three minutes: begins, twice that it lasts, ends. */
static void an_outage_is_logged_once_a_minute_and_when_it_ends(void **state)
{
    struct bench *b = *state;
    for (int64_t s = 0; s < 180; s++)
        fail_at(b->store, s % 2 ? "connection refused" : "no answer", s * SECOND);
    assert_true(outage_ends(b->store, URL, 180 * SECOND));
    assert_false(outage_ends(b->store, URL, 181 * SECOND));
    assert_int_equal(n_logged(b, ""), 4);
    assert_int_equal(n_logged(b, " store_lost "), 1);
    assert_int_equal(n_logged(b, " error=\"no answer\" lasts_s=60 tries=61 Still lost.\n"), 1);
    assert_int_equal(n_logged(b, " lasts_s=120 tries=121 "), 1);
    assert_int_equal(n_logged(b, " info store_back url=" URL " lasted_s=180 tries=180 Back.\n"), 1);
}

static void the_next_outage_is_another_one(void **state)
{
    struct bench *b = *state;
    fail_at(b->store, "connection refused", 0);
    outage_ends(b->store, URL, SECOND);
    fail_at(b->store, "connection refused", 2 * SECOND);
    assert_int_equal(n_logged(b, " store_lost "), 2);
    assert_int_equal(n_logged(b, " store_back "), 1);
}

static void what_was_never_missing_does_not_come_back(void **state)
{
    struct bench *b = *state;
    assert_false(outage_ends(b->store, URL, 0));
    assert_int_equal(n_logged(b, ""), 0);
}

static void the_last_reason_is_repeated_with_the_url_and_since_when(void **state)
{
    struct bench *b = *state;
    buf_auto struct buf text = BUF_EMPTY, since = BUF_EMPTY;
    outages_write(b->all, "; ", &text);
    assert_int_equal(text.len, 0);
    fail_at(b->store, "connection refused", 0);
    fail_at(b->store, "GET " URL "/x: no answer", SECOND);
    fail_at(b->other, "connection refused", SECOND);
    assert_string_equal(outage_reason(b->store), "GET " URL "/x: no answer");
    outage_time(outage_since_ms(b->store), &since);
    outages_write(b->all, "; ", &text);
    mem_auto char *expected = mem_fmt("store is missing: GET " URL "/x: no answer (since %s); "
                                      "other is missing: " URL ": connection refused (since %s)",
                                      buf_cstr(&since), buf_cstr(&since));
    assert_int_equal(strncmp(buf_cstr(&text), expected, strlen("store is missing: GET ")), 0);
    assert_int_equal(text.len, strlen(expected));
    outage_ends(b->store, URL, 2 * SECOND);
    assert_string_equal(outage_reason(b->store), "");
    assert_int_equal(outage_since_ms(b->store), 0);
}

static void metrics_show_it(void **state)
{
    struct bench *b = *state;
    assert_int_equal(metric_value(b->metrics, M_STORE_UP), 1);
    fail_at(b->store, "connection refused", 0);
    assert_int_equal(metric_value(b->metrics, M_STORE_UP), 0);
    assert_int_equal(metric_value(b->metrics, M_STORE_SINCE), outage_since_ms(b->store) / 1000);
    assert_int_equal(metric_value(b->metrics, M_OTHER_UP), 1);
    outage_ends(b->store, URL, SECOND);
    assert_int_equal(metric_value(b->metrics, M_STORE_UP), 1);
    assert_int_equal(metric_value(b->metrics, M_STORE_SINCE), 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(the_first_failure_is_logged_at_once),
        CASE(an_error_without_text_has_that_of_its_code),
        CASE(an_outage_is_logged_once_a_minute_and_when_it_ends),
        CASE(the_next_outage_is_another_one),
        CASE(what_was_never_missing_does_not_come_back),
        CASE(the_last_reason_is_repeated_with_the_url_and_since_when),
        CASE(metrics_show_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

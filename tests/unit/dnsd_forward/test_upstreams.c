/* Which upstream is asked, with a clock of its own. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "base/addr.h"
#include "bobbin/error.h"
#include "forward/upstreams.h"

static struct upstreams read_list(const char *list)
{
    struct upstreams u;
    struct err_info why;
    assert_int_equal(upstreams_read(list, &u, &why), 0);
    return u;
}

static void expect_server(const struct upstream *s, const char *address, uint16_t wanted_port)
{
    struct addr a;
    uint16_t port;
    char text[ADDR_TEXT_MAX];
    assert_int_equal(addr_from_sockaddr((const struct sockaddr *)&s->sa, &a, &port), 0);
    assert_string_equal(addr_text(&a, text), address);
    assert_int_equal(port, wanted_port);
}

static void reads_lists(void **state)
{
    (void)state;
    struct upstreams u = read_list(" 10.0.0.53, 10.0.0.54:5353,[fd00::1]:54, fd00::2 ,,");
    assert_int_equal(u.n_items, 4);
    expect_server(&u.items[0], "10.0.0.53", 53);
    expect_server(&u.items[1], "10.0.0.54", 5353);
    expect_server(&u.items[2], "fd00::1", 54);
    expect_server(&u.items[3], "fd00::2", 53);
    u = read_list("");
    assert_int_equal(u.n_items, 0);
}

static void refuses_what_is_no_server(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "dns.example:53", "10.0.0.1:0",
        "10.0.0.1:65536", "10.0.0",
        "[fd00::1",       "1.1.1.1,2.2.2.2,3.3.3.3,4.4.4.4,5.5.5.5,6.6.6.6,7.7.7.7,8.8.8.8,9.9.9.9"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct upstreams u;
        struct err_info why;
        if (upstreams_read(bad[i], &u, &why) != ERR_INVALID)
            fail_msg("taken: %s", bad[i]);
        assert_non_null(strstr(bad[i], why.where));
    }
}

static void first_that_is_good_is_asked(void **state)
{
    (void)state;
    struct upstreams u = read_list("10.0.0.1,10.0.0.2");
    assert_int_equal(upstreams_pick(&u, 0, 0), 0);
    assert_true(upstreams_failed(&u, 0, 0));
    assert_int_equal(upstreams_pick(&u, 0, 0), 1);
    assert_int_equal(upstreams_pick(&u, 2, 0), 0);
    assert_int_equal(upstreams_pick(&u, 3, 0), -1);
    assert_int_equal(upstreams_pick(&u, 0, 60000), 0);
    assert_true(upstreams_failed(&u, 1, 500));
    assert_int_equal(upstreams_pick(&u, 0, 600), 0);
}

static int64_t held_ms(struct upstreams *u, int64_t now_ms)
{
    int64_t began_ms = now_ms;
    while (upstreams_pick(u, 0, now_ms) != 0)
        now_ms += 100;
    return now_ms - began_ms;
}

static void who_keeps_failing_is_held_back_longer_but_not_for_good(void **state)
{
    (void)state;
    struct upstreams u = read_list("10.0.0.1,10.0.0.2");
    int64_t now_ms = 0, before_ms = 0;
    for (int i = 0; i < 5; i++) {
        assert_int_equal(upstreams_failed(&u, 0, now_ms), i == 0);
        int64_t ms = held_ms(&u, now_ms);
        assert_true(ms > before_ms);
        before_ms = ms;
        now_ms += ms;
    }
    for (int i = 0; i < 50; i++) {
        upstreams_failed(&u, 0, now_ms);
        now_ms += held_ms(&u, now_ms);
    }
    upstreams_failed(&u, 0, now_ms);
    assert_true(held_ms(&u, now_ms) <= 60000);
    assert_true(upstreams_worked(&u, 0, -1, now_ms));
    assert_false(upstreams_worked(&u, 0, -1, now_ms));
    assert_int_equal(upstreams_pick(&u, 0, now_ms), 0);
}

static void queries_that_fail_together_count_once(void **state)
{
    (void)state;
    struct upstreams u = read_list("10.0.0.1,10.0.0.2");
    upstreams_failed(&u, 0, 0);
    int64_t once_ms = held_ms(&u, 0);
    u = read_list("10.0.0.1,10.0.0.2");
    for (int i = 0; i < 100; i++)
        assert_int_equal(upstreams_failed(&u, 0, 0), i == 0);
    assert_int_equal(held_ms(&u, 0), once_ms);
}

static void a_much_quicker_server_goes_before(void **state)
{
    (void)state;
    struct upstreams u = read_list("10.0.0.1,10.0.0.2,10.0.0.3");
    upstreams_worked(&u, 0, 200, 0);
    assert_int_equal(upstreams_pick(&u, 0, 0), 1); /* not measured: worth a try */
    upstreams_worked(&u, 1, 150, 0);
    assert_int_equal(upstreams_pick(&u, 0, 0), 2);
    upstreams_worked(&u, 2, 400, 0);
    assert_int_equal(upstreams_pick(&u, 0, 0), 0); /* about as quick as the best: the order counts */
    for (int i = 0; i < 60; i++)
        upstreams_worked(&u, 1, 5, 0);
    assert_int_equal(upstreams_pick(&u, 0, 0), 1);
    assert_int_equal(upstreams_pick(&u, 2, 0), 0);
    upstreams_failed(&u, 1, 0);
    assert_int_equal(upstreams_pick(&u, 0, 0), 0);
    assert_int_equal(upstreams_n_failing(&u), 1);
}

static void one_slow_answer_changes_little_and_slowness_is_forgotten(void **state)
{
    (void)state;
    struct upstreams u = read_list("10.0.0.1,10.0.0.2");
    upstreams_worked(&u, 0, 10, 0);
    upstreams_worked(&u, 1, 10, 0);
    upstreams_worked(&u, 0, 200, 0);
    assert_int_equal(upstreams_pick(&u, 0, 0), 0);
    for (int i = 0; i < 60; i++)
        upstreams_worked(&u, 0, 1000, 0);
    assert_int_equal(upstreams_pick(&u, 0, 0), 1);
    int64_t now_ms = 0;
    for (; upstreams_pick(&u, 0, now_ms) != 0; now_ms += 1000) {
        upstreams_worked(&u, 1, 10, now_ms);
        assert_true(now_ms < 3600000);
    }
    assert_true(now_ms > 10000);
    assert_int_equal(upstreams_pick(&u, 0, INT64_MAX), 0);
}

static void what_one_cannot_do_is_forgotten_too(void **state)
{
    (void)state;
    struct upstreams u = read_list("10.0.0.1,10.0.0.2");
    upstreams_note(&u, 1, UPSTREAM_LACKS_EDNS, 1000);
    assert_true(upstreams_lack(&u, 1, UPSTREAM_LACKS_EDNS, 2000));
    assert_false(upstreams_lack(&u, 1, UPSTREAM_LACKS_CASE, 2000));
    assert_false(upstreams_lack(&u, 0, UPSTREAM_LACKS_EDNS, 2000));
    assert_false(upstreams_lack(&u, 1, UPSTREAM_LACKS_EDNS, 2000 + 3600000));
}

static void patience_follows_the_measured_time_and_doubles(void **state)
{
    (void)state;
    struct upstream s = {.rtt_ms = -1};
    assert_int_equal(upstream_patience_ms(&s, 1600, 0, 1600), 400);
    assert_int_equal(upstream_patience_ms(&s, 1600, 1, 1200), 1200); /* 800 would leave less than that */
    s.rtt_ms = 1;
    assert_int_equal(upstream_patience_ms(&s, 1600, 0, 1600), 200);
    assert_int_equal(upstream_patience_ms(&s, 1600, 1, 1400), 400);
    assert_int_equal(upstream_patience_ms(&s, 1600, 2, 1000), 1000);
    s.rtt_ms = 90;
    assert_int_equal(upstream_patience_ms(&s, 1600, 0, 1600), 360);
    s.rtt_ms = 5000;
    assert_int_equal(upstream_patience_ms(&s, 1600, 0, 1600), 1600);
    assert_int_equal(upstream_patience_ms(&s, 1600, 60, 3), 3);
    assert_int_equal(upstream_patience_ms(&s, 1600, 0, -5), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_lists),
        cmocka_unit_test(refuses_what_is_no_server),
        cmocka_unit_test(first_that_is_good_is_asked),
        cmocka_unit_test(who_keeps_failing_is_held_back_longer_but_not_for_good),
        cmocka_unit_test(queries_that_fail_together_count_once),
        cmocka_unit_test(a_much_quicker_server_goes_before),
        cmocka_unit_test(one_slow_answer_changes_little_and_slowness_is_forgotten),
        cmocka_unit_test(what_one_cannot_do_is_forgotten_too),
        cmocka_unit_test(patience_follows_the_measured_time_and_doubles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/**
 * Time of day that is set, back by an hour or forward by a day, in the middle of everything the engine times: nothing waits
 * longer and nothing happens early, in the life of the engine and over a restart.
 */
#include "engine_kit.h"

static const int64_t jumps_ms[] = {-3600000, 86400000};

/** The service's timer comes one ms early, then in time. */
static void timer_early(struct kit *k, const char *service)
{
    int64_t due = kit_service(k, service)->timer_ms;
    assert_true(due > k->now_ms);
    k->now_ms = due - 1;
    kit_step(k, (struct eng_event){.kind = EV_TIMER, .user = "alice", .name = service});
}

static int service_state(const struct kit *k, const char *name)
{
    const struct eng_service *s = kit_service(k, name);
    return s ? (int)s->state : -1;
}

/** An engine with the service "web" of one READY instance. @return engine time */
static int64_t start_web(struct kit *k, const char *dialect, const char *more)
{
    kit_start(k, dialect);
    kit_create(k, kit_spec("web", 1, "ALWAYS", more), false);
    return k->now_ms;
}

/** The timer is too early for hello-0, which is in `waiting`, then in time: it runs again, 100 ms after its end. */
static void retried_in_time(struct kit *k, int waiting, int64_t ended_ms)
{
    timer_early(k, "web");
    assert_int_equal(kit_state(k, "web", "hello-0"), waiting);
    kit_fire(k, "web");
    assert_int_equal(kit_state(k, "web", "hello-0"), INST_READY);
    assert_int_equal(k->now_ms, ended_ms + 100);
}

static void a_retry_comes_in_its_time(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(jumps_ms); i++) {
        struct kit k;
        int64_t at = start_web(&k, "seed", "");
        kit_exit_code(&k, "web", "hello-0", 1);
        k.wall_ahead_ms += jumps_ms[i];
        retried_in_time(&k, INST_EXITED, at);
        kit_end(&k);
    }
}

/** The pause is kept in the stored document: a restart neither prolongs it nor cuts it short. */
static void a_retry_comes_in_its_time_over_a_restart(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(jumps_ms); i++) {
        struct kit k;
        int64_t at = start_web(&k, "seed", "");
        kit_exit_signal(&k, "web", "hello-0", 9); /* the container is given back: PENDING */
        k.wall_ahead_ms += jumps_ms[i];
        k.now_ms += 40;
        kit_crash(&k);
        kit_recover(&k);
        retried_in_time(&k, INST_PENDING, at);
        kit_end(&k);
    }
}

/** A document of a version that computed with the time of day, which was set back since: no pause is longer than configured. */
static void a_due_time_of_an_earlier_version_is_bounded(void **state)
{
    (void)state;
    struct kit k;
    start_web(&k, "seed", "");
    kit_exit_signal(&k, "web", "hello-0", 9);
    k.now_ms -= 900000;
    kit_crash(&k);
    kit_recover(&k);
    assert_int_equal(kit_service(&k, "web")->timer_ms, k.now_ms + 30000);
    kit_fire(&k, "web");
    assert_int_equal(kit_state(&k, "web", "hello-0"), INST_READY);
    kit_end(&k);
}

static void a_lifetime_lasts_as_long_as_it_is(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(jumps_ms); i++) {
        struct kit k;
        int64_t at = start_web(&k, "hadoop3", "");
        kit_step(&k, (struct eng_event){
                         .kind = EV_LIFETIME, .token = 5, .user = "alice", .name = "web", .lifetime_s = 60});
        k.wall_ahead_ms += jumps_ms[i];
        assert_int_equal(eng_service_lifetime_left_s(kit_service(&k, "web"), k.now_ms), 60);
        kit_crash(&k);
        kit_recover(&k);
        timer_early(&k, "web");
        assert_int_equal(service_state(&k, "web"), SVC_STABLE);
        kit_fire(&k, "web");
        assert_int_equal(service_state(&k, "web"), SVC_STOPPED);
        assert_int_equal(k.now_ms, at + 60000);
        kit_end(&k);
    }
}

static void force_comes_after_its_grace(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(jumps_ms); i++) {
        struct kit k;
        start_web(&k, "seed", "");
        k.obey = false; /* the container does not end */
        kit_request(&k, EV_STOP, "web");
        kit_clear(&k);
        k.wall_ahead_ms += jumps_ms[i];
        timer_early(&k, "web");
        assert_int_equal(kit_count(&k, EFF_STOP), 0);
        kit_fire(&k, "web");
        assert_true(kit_last(&k, EFF_STOP)->force);
        kit_end(&k);
    }
}

/** Failures count in a window of the configured length, whatever the wall says. */
static void a_failure_window_lasts_as_long_as_it_is(void **state)
{
    (void)state;
    static const char *const properties =
        ",\"configuration\":{\"properties\":{\"yarn.service.failure-count-reset.window\":\"60\","
        "\"yarn.service.container-failure.retry.max\":\"0\"}}";
    for (size_t i = 0; i < ARRAY_LEN(jumps_ms); i++) {
        struct kit k;
        int64_t at = start_web(&k, "seed", properties);
        kit_exit_code(&k, "web", "hello-0", 1);
        kit_fire(&k, "web");
        k.wall_ahead_ms += jumps_ms[i];
        kit_exit_code(&k, "web", "hello-0", 1);
        assert_int_equal(kit_service(&k, "web")->components[0]->n_failures, 2);
        kit_fire(&k, "web");
        k.now_ms = at + 60000;
        kit_exit_code(&k, "web", "hello-0", 1);
        assert_int_equal(kit_service(&k, "web")->components[0]->n_failures, 1);
        kit_end(&k);
    }
}

/** What is shown is the time of day of the event, as it was then. */
static void times_that_are_shown_are_times_of_day(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    int64_t wall_ms = k.now_ms + k.wall_ahead_ms;
    kit_create(&k, kit_spec("web", 1, "ALWAYS", ""), false);
    k.wall_ahead_ms -= 3600000;
    assert_int_equal(kit_service(&k, "web")->launch_ms, wall_ms);
    assert_int_equal(kit_instance(&k, "web", "hello-0")->allocated_ms, wall_ms);
    kit_exit_signal(&k, "web", "hello-0", 9);
    kit_fire(&k, "web");
    assert_int_equal(kit_instance(&k, "web", "hello-0")->allocated_ms, k.now_ms + k.wall_ahead_ms);
    kit_end(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_retry_comes_in_its_time),
        cmocka_unit_test(a_retry_comes_in_its_time_over_a_restart),
        cmocka_unit_test(a_due_time_of_an_earlier_version_is_bounded),
        cmocka_unit_test(a_lifetime_lasts_as_long_as_it_is),
        cmocka_unit_test(force_comes_after_its_grace),
        cmocka_unit_test(a_failure_window_lasts_as_long_as_it_is),
        cmocka_unit_test(times_that_are_shown_are_times_of_day),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

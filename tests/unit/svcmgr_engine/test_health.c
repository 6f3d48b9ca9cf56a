/** The health threshold of a component, and the age at which retries in a container stop to count. */
#include "engine_kit.h"

#include <string.h>

#define PORT ",\"readiness_check\":{\"type\":\"PORT\",\"properties\":{\"port\":\"80\"}}"
#define KEY  "yarn.service.container-health-threshold."
#define HEALTH(percent, window, init, poll)                                                                  \
    PORT ",\"configuration\":{\"properties\":{\"" KEY "percent\":\"" percent "\",\"" KEY                     \
         "window-secs\":\"" window "\",\"" KEY "init-delay-secs\":\"" init "\",\"" KEY                       \
         "poll-frequency-secs\":\"" poll "\"}}"

static enum eng_service_state state_of(const struct kit *k)
{
    return kit_service(k, "web")->state;
}

/** Time passes: every timer up to then fires. */
static void pass(struct kit *k, int64_t ms)
{
    int64_t until_ms = k->now_ms + ms;
    while (kit_service(k, "web")->timer_ms && kit_service(k, "web")->timer_ms <= until_ms)
        kit_fire(k, "web");
    k->now_ms = until_ms;
}

static void begin(struct kit *k, int n, const char *policy, const char *more)
{
    kit_start(k, "seed");
    kit_create(k, kit_spec("web", n, policy, more), false);
}

/** Ready 3 of 4 is 75 %: fine at 65 %; 3 of 5 is 60 %: FAILED when that has lasted longer than the window. */
static void too_few_ready_for_the_window_end_the_service(void **state)
{
    (void)state;
    struct kit k;
    begin(&k, 3, "ALWAYS", HEALTH("65", "3", "0", "1"));
    kit_probe(&k, "web", "hello-0", true);
    kit_probe(&k, "web", "hello-1", true);
    kit_probe(&k, "web", "hello-2", true);
    kit_flex(&k, "web", "hello", 4);
    pass(&k, 60000);
    assert_int_equal(state_of(&k), SVC_STARTED);
    kit_flex(&k, "web", "hello", 5);
    pass(&k, 3900);
    assert_int_equal(state_of(&k), SVC_STARTED);
    pass(&k, 1200);
    assert_int_equal(state_of(&k), SVC_FAILED);
    assert_string_equal(kit_service(&k, "web")->diagnostics,
                        "Service is being killed because container health for component hello was 60.00% "
                        "(health threshold = 65%) for 4 secs (threshold window = 3 secs)");
    assert_int_equal(kit_service(&k, "web")->components[0]->state, COMP_FAILED);
    kit_end(&k);
}

/** The first look comes init-delay and three seconds after the start; the window begins there. */
static void the_first_look_comes_after_the_delay(void **state)
{
    (void)state;
    struct kit k;
    begin(&k, 1, "ALWAYS", HEALTH("100", "5", "60", "1"));
    pass(&k, 63000 + 5000);
    assert_int_equal(state_of(&k), SVC_STARTED);
    pass(&k, 1000);
    assert_int_equal(state_of(&k), SVC_FAILED);
    kit_end(&k);
}

/** Once enough are ready, even for one look, the window begins anew. */
static void the_window_is_continuous(void **state)
{
    (void)state;
    struct kit k;
    begin(&k, 1, "ALWAYS", HEALTH("50", "10", "0", "2"));
    pass(&k, 12000);
    kit_probe(&k, "web", "hello-0", true);
    pass(&k, 2000);
    kit_probe(&k, "web", "hello-0", false);
    pass(&k, 11000);
    assert_int_equal(state_of(&k), SVC_STARTED);
    pass(&k, 4000);
    assert_int_equal(state_of(&k), SVC_FAILED);
    kit_end(&k);
}

/** A restart begins the window anew, and keeps the delay: nobody has looked meanwhile. */
static void a_restart_begins_the_window_anew(void **state)
{
    (void)state;
    struct kit k;
    begin(&k, 1, "ALWAYS", HEALTH("100", "10", "20", "1"));
    int64_t start_ms = k.now_ms;
    pass(&k, 5000);
    kit_crash(&k);
    kit_recover(&k);
    assert_int_equal(kit_service(&k, "web")->timer_ms, start_ms + 23000);
    pass(&k, 27000); /* 9 s below */
    kit_crash(&k);
    k.now_ms += 3600000;
    kit_recover(&k);
    pass(&k, 10000);
    assert_int_equal(state_of(&k), SVC_STARTED);
    pass(&k, 2000);
    assert_int_equal(state_of(&k), SVC_FAILED);
    kit_end(&k);
}

/** What has ended as it should is healthy; a component that is off, empty, or not configured is not looked at. */
static void what_ended_well_is_healthy(void **state)
{
    (void)state;
    static const char *const off[] = {"", HEALTH("-1", "0", "0", "1"), HEALTH("0", "0", "0", "1")};
    struct kit k;
    begin(&k, 2, "ON_FAILURE", HEALTH("100", "1", "0", "1"));
    kit_exit_code(&k, "web", "hello-0", 0);
    kit_probe(&k, "web", "hello-1", true);
    pass(&k, 60000);
    assert_int_equal(state_of(&k), SVC_STABLE);
    kit_end(&k);
    begin(&k, 0, "ALWAYS", HEALTH("100", "1", "0", "1"));
    pass(&k, 60000);
    assert_int_equal(state_of(&k), SVC_STABLE);
    kit_end(&k);
    for (size_t i = 0; i < ARRAY_LEN(off); i++) {
        begin(&k, 1, "ALWAYS", off[i]);
        assert_int_equal(kit_service(&k, "web")->timer_ms, 0);
        kit_end(&k);
    }
}

#define FAILURES(more)                                                                                       \
    ",\"configuration\":{\"properties\":{\"yarn.service.container-failure-per-component.threshold\":\"1\","  \
    "\"yarn.service.container-failure.retry.max\":\"0\"" more "}}"

static void a_health_threshold_replaces_that_of_failures(void **state)
{
    (void)state;
    struct kit k;
    begin(&k, 1, "ALWAYS", FAILURES(",\"" KEY "percent\":\"50\""));
    for (int i = 0; i < 5; i++) {
        kit_exit_code(&k, "web", "hello-0", 1);
        kit_fire(&k, "web");
    }
    assert_int_equal(state_of(&k), SVC_STABLE);
    kit_end(&k);
}

/* ---- retries that no longer count ---- */

#define RETRY(key)                                                                                           \
    ",\"configuration\":{\"properties\":{\"yarn.service.container-failure.retry.max\":\"2\",\"" key          \
    "\":\"60000\"}}"

/** Fails at once, after `pause_ms`; whether it is started again in its container. */
static bool fails_and_is_retried(struct kit *k, int64_t pause_ms)
{
    k->now_ms += pause_ms;
    mem_auto char *id = mem_str(kit_instance(k, "web", "hello-0")->container_id);
    kit_exit_code(k, "web", "hello-0", 1);
    kit_fire(k, "web");
    return strcmp(kit_instance(k, "web", "hello-0")->container_id, id) == 0;
}

static void old_retries_do_not_count(void **state)
{
    (void)state;
    static const char *const specs[] = {RETRY("yarn.service.container-failure.validity-interval-ms"),
                                        RETRY("yarn.service.container-failure.retry.validity-interval-ms")};
    for (size_t i = 0; i < ARRAY_LEN(specs); i++) {
        struct kit k;
        begin(&k, 1, "ALWAYS", specs[i]);
        for (int n = 0; n < 5; n++) /* two in a minute and a half, for ever */
            assert_true(fails_and_is_retried(&k, 45000));
        kit_crash(&k); /* the times are stored */
        kit_recover(&k);
        assert_true(fails_and_is_retried(&k, 45000));
        assert_false(fails_and_is_retried(&k, 1000)); /* a third one within the minute */
        assert_true(fails_and_is_retried(&k, 1000));  /* the new container counts for itself */
        kit_end(&k);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(too_few_ready_for_the_window_end_the_service),
        cmocka_unit_test(the_first_look_comes_after_the_delay),
        cmocka_unit_test(the_window_is_continuous),
        cmocka_unit_test(a_restart_begins_the_window_anew),
        cmocka_unit_test(what_ended_well_is_healthy),
        cmocka_unit_test(a_health_threshold_replaces_that_of_failures),
        cmocka_unit_test(old_retries_do_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/** What happens when processes end: policies, back-off, retry in place, threshold, the end of a service. */
#include "engine_kit.h"

#include <string.h>

#define CONFIG(members) ",\"configuration\":{\"properties\":{" members "}}"
#define NO_RETRY        "\"yarn.service.container-failure.retry.max\":\"0\""

static void a_crash_is_retried_in_the_same_container(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("s", 1, "ALWAYS", ""), false);
    mem_auto char *id = mem_str(kit_instance(&k, "s", "hello-0")->container_id);
    kit_exit_code(&k, "s", "hello-0", 1);
    assert_int_equal(kit_service(&k, "s")->state, SVC_STARTED);
    assert_non_null(strstr(kit_wait(&k, "s", "hello-0"), "exit code 1"));
    kit_fire(&k, "s");
    const struct eng_instance *inst = kit_instance(&k, "s", "hello-0");
    assert_int_equal(inst->state, INST_READY);
    assert_string_equal(inst->container_id, id);
    assert_int_equal(inst->attempt, 2);
    assert_int_equal(kit_service(&k, "s")->components[0]->n_failures, 0);
    kit_end(&k);
}

static void delays_double_up_to_the_interval_and_reset(void **state)
{
    (void)state;
    static const int64_t delays_ms[] = {100, 200, 400, 800, 1600, 3200, 6400, 12800, 25600, 30000, 30000};
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("s", 1, "ALWAYS", ""), false);
    for (size_t i = 0; i < ARRAY_LEN(delays_ms); i++) {
        int64_t before = k.now_ms;
        kit_exit_code(&k, "s", "hello-0", 1);
        kit_fire(&k, "s");
        assert_int_equal(k.now_ms - before, delays_ms[i]);
    }
    k.now_ms += 60000; /* up for a minute */
    int64_t before = k.now_ms;
    kit_exit_code(&k, "s", "hello-0", 1);
    kit_fire(&k, "s");
    assert_int_equal(k.now_ms - before, 100);
    kit_end(&k);
}

static void a_silly_interval_does_not_spin(void **state)
{
    (void)state;
    static const char *const intervals[] = {"-5", "0", "99999999999999999999"};
    for (size_t i = 0; i < ARRAY_LEN(intervals); i++) {
        struct kit k;
        mem_auto char *config =
            mem_fmt(CONFIG("\"yarn.service.container-failure.retry-interval-ms\":\"%s\""), intervals[i]);
        kit_start(&k, "seed");
        kit_create(&k, kit_spec("s", 1, "ALWAYS", config), false);
        kit_exit_code(&k, "s", "hello-0", 1);
        assert_true(kit_service(&k, "s")->timer_ms >= k.now_ms + 10);
        kit_end(&k);
    }
}

static void a_killed_process_gets_a_new_container(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("s", 1, "ALWAYS", ""), false);
    static const int codes[] = {137, 143, 0};
    for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
        mem_auto char *id = mem_str(kit_instance(&k, "s", "hello-0")->container_id);
        kit_exit_code(&k, "s", "hello-0", codes[i]);
        assert_int_equal(kit_state(&k, "s", "hello-0"), INST_PENDING);
        assert_string_equal(kit_last(&k, EFF_RELEASE)->container_id, id);
        kit_fire(&k, "s");
        assert_int_equal(kit_state(&k, "s", "hello-0"), INST_READY);
        assert_string_not_equal(kit_instance(&k, "s", "hello-0")->container_id, id);
    }
    assert_int_equal(kit_service(&k, "s")->components[0]->n_failures, 2); /* exit 0 is none */
    kit_end(&k);
}

static void a_lost_container_is_replaced_and_not_counted(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("s", 1, "ALWAYS", ""), false);
    mem_auto char *id = mem_str(kit_instance(&k, "s", "hello-0")->container_id);
    kit_clear(&k);
    kit_step(&k, (struct eng_event){.kind = EV_LOST, .container_id = id, .text = "shim is gone"});
    assert_int_equal(kit_count(&k, EFF_RELEASE), 0);
    assert_int_equal(kit_count(&k, EFF_UNPUBLISH), 1);
    assert_int_equal(kit_service(&k, "s")->components[0]->n_failures, 0);
    assert_int_equal(kit_instance(&k, "s", "hello-0")->last_exit->cause, CAUSE_LOST);
    assert_string_equal(kit_instance(&k, "s", "hello-0")->last_exit->text, "shim is gone");
    kit_fire(&k, "s");
    assert_int_equal(kit_state(&k, "s", "hello-0"), INST_READY);
    kit_end(&k);
}

static void the_failure_after_the_threshold_fails_the_service(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k,
               kit_spec("s", 2, "ALWAYS",
                        CONFIG(NO_RETRY ",\"yarn.service.container-failure-per-component.threshold\":\"2\"")),
               false);
    for (int i = 0; i < 2; i++) {
        kit_exit_code(&k, "s", "hello-0", 1);
        assert_int_equal(kit_state(&k, "s", "hello-0"), INST_PENDING);
        kit_fire(&k, "s");
    }
    kit_exit_code(&k, "s", "hello-0", 1);
    const struct eng_service *s = kit_service(&k, "s");
    assert_int_equal(s->state, SVC_FAILED);
    assert_string_equal(s->diagnostics,
                        "[COMPONENT hello]: Failed 3 times, exceeded the limit - 2. Shutting down now... ");
    assert_string_equal(kit_list(&k, "s"), "");
    assert_int_equal(kit_request(&k, EV_START, "s"), OUT_STARTED);
    assert_int_equal(kit_service(&k, "s")->state, SVC_STABLE);
    kit_end(&k);
}

static void failures_are_counted_in_a_window(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k,
               kit_spec("s", 1, "ALWAYS",
                        CONFIG(NO_RETRY ",\"yarn.service.container-failure-per-component.threshold\":\"1\","
                                        "\"yarn.service.failure-count-reset.window\":\"10\"")),
               false);
    for (int i = 0; i < 4; i++) {
        kit_exit_code(&k, "s", "hello-0", 1);
        kit_fire(&k, "s");
        k.now_ms += 10001;
    }
    assert_int_equal(kit_service(&k, "s")->state, SVC_STABLE);
    kit_end(&k);
}

static void never_and_all_well(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("s", 2, "NEVER", ""), false);
    kit_exit_code(&k, "s", "hello-0", 0);
    assert_string_equal(kit_list(&k, "s"), "hello-0:SUCCEEDED hello-1:READY");
    assert_int_equal(kit_service(&k, "s")->state, SVC_STABLE);
    kit_exit_code(&k, "s", "hello-1", 0);
    assert_int_equal(kit_service(&k, "s")->state, SVC_SUCCEEDED);
    kit_end(&k);
}

static void never_and_one_failed(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("s", 2, "NEVER", ""), false);
    kit_exit_code(&k, "s", "hello-0", 1);
    assert_int_equal(kit_state(&k, "s", "hello-0"), INST_FAILED);
    kit_exit_code(&k, "s", "hello-1", 0);
    assert_int_equal(kit_service(&k, "s")->state, SVC_FAILED);
    assert_string_equal(kit_service(&k, "s")->diagnostics, "all components have ended; hello-0: exit code 1");
    kit_end(&k);
}

static void the_end_of_a_service_says_how_its_instance_failed(void **state)
{
    (void)state;
    const char *killed = "The process was ended by signal 9 (Killed): its memory limit of 64 MB was reached.";
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("s", 1, "NEVER", ""), false);
    const struct eng_instance *inst = kit_instance(&k, "s", "hello-0");
    mem_auto char *id = mem_str(inst->container_id);
    kit_step(&k, (struct eng_event){.kind = EV_EXITED,
                                    .container_id = id,
                                    .attempt = inst->attempt,
                                    .exit = eng_exit_of(CAUSE_SIGNALLED, 9, killed)});
    assert_int_equal(kit_service(&k, "s")->state, SVC_FAILED);
    mem_auto char *wanted = mem_fmt("all components have ended; hello-0: %s", killed);
    assert_string_equal(kit_service(&k, "s")->diagnostics, wanted);
    kit_end(&k);
}

static void on_failure_runs_until_it_succeeds(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("s", 1, "ON_FAILURE", ""), false);
    kit_exit_code(&k, "s", "hello-0", 1);
    kit_fire(&k, "s");
    assert_int_equal(kit_state(&k, "s", "hello-0"), INST_READY);
    kit_exit_code(&k, "s", "hello-0", 0);
    assert_int_equal(kit_service(&k, "s")->state, SVC_SUCCEEDED);
    kit_end(&k);
}

static void dependents_of_never_wait_for_the_end(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k,
               "{\"name\":\"s\",\"version\":\"1\",\"launch_command\":\"x\",\"resource\":{\"memory\":1},"
               "\"components\":["
               "{\"name\":\"b\",\"number_of_containers\":1,\"dependencies\":[\"a\"]},"
               "{\"name\":\"a\",\"number_of_containers\":2,\"restart_policy\":\"NEVER\"}]}",
               false);
    kit_exit_code(&k, "s", "a-0", 0);
    assert_int_equal(kit_state(&k, "s", "b-0"), INST_PENDING);
    kit_exit_code(&k, "s", "a-1", 0);
    assert_int_equal(kit_state(&k, "s", "b-0"), INST_READY);
    kit_end(&k);
}

static void one_component_may_speak_for_the_service(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k,
               "{\"name\":\"s\",\"version\":\"1\",\"launch_command\":\"x\",\"resource\":{\"memory\":1},"
               "\"components\":["
               "{\"name\":\"b\",\"number_of_containers\":1},"
               "{\"name\":\"a\",\"number_of_containers\":1,\"restart_policy\":\"NEVER\",\"configuration\":{"
               "\"properties\":"
               "{\"yarn.service.container-state-report-as-service-state\":\"true\"}}}]}",
               false);
    kit_exit_code(&k, "s", "a-0", 0);
    assert_int_equal(kit_service(&k, "s")->state, SVC_SUCCEEDED);
    kit_end(&k);
}

static void what_cannot_be_started_counts(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    k.obey = false;
    kit_create(&k, kit_spec("s", 1, "ALWAYS", ""), false);
    mem_auto char *id = mem_str(kit_instance(&k, "s", "hello-0")->container_id);
    kit_step(&k, (struct eng_event){.kind = EV_ALLOCATED, .container_id = id, .host = "n"});
    kit_step(&k, (struct eng_event){.kind = EV_EXITED,
                                    .container_id = id,
                                    .attempt = 1,
                                    .exit = eng_exit_of(CAUSE_LAUNCH, 0, "no such directory")});
    assert_int_equal(kit_state(&k, "s", "hello-0"), INST_PENDING);
    assert_non_null(strstr(kit_wait(&k, "s", "hello-0"), "could not be started: no such directory"));
    assert_int_equal(kit_service(&k, "s")->components[0]->n_failures, 1);
    kit_end(&k);
}

static void waiting_for_room_is_explained(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    k.obey = false;
    kit_create(&k, kit_spec("s", 1, "ALWAYS", ""), false);
    mem_auto char *id = mem_str(kit_instance(&k, "s", "hello-0")->container_id);
    kit_step(&k, (struct eng_event){
                     .kind = EV_WAITING, .container_id = id, .text = "64 MB of memory, 10 MB are free"});
    assert_string_equal(kit_wait(&k, "s", "hello-0"), "resource: 64 MB of memory, 10 MB are free");
    kit_end(&k);
}

static void addresses_run_out_and_come_back(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    struct engine_config small = k.cfg;
    engine_free(k.e);
    small.address_net = "127.77.1.0/30"; /* .1 .2 .3: the first is reserved */
    assert_int_equal(engine_new(&small, &k.e, NULL), 0);
    kit_step(&k, (struct eng_event){.kind = EV_RESUME});
    kit_create(&k, kit_spec("s", 4, "ALWAYS", ""), false);
    assert_int_equal(kit_state(&k, "s", "hello-3"), INST_PENDING);
    assert_non_null(strstr(kit_wait(&k, "s", "hello-3"), "none is free in 127.77.1.0/30"));
    kit_flex(&k, "s", "hello", 3);
    kit_create(&k, kit_spec("t", 1, "ALWAYS", ""), false);
    assert_int_equal(kit_state(&k, "t", "hello-0"), INST_PENDING);
    kit_request(&k, EV_STOP, "s");
    kit_fire(&k, "t");
    assert_int_equal(kit_state(&k, "t", "hello-0"), INST_READY);
    kit_end(&k);
}

static void a_bad_network_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"127.77.0.0", "127.77.0.0/31", "127.77.0.0/7", "::1/64", "x/16"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct engine_config cfg = {.dialect = dialect_find("seed"), .address_net = bad[i]};
        struct engine *e = NULL;
        assert_int_equal(engine_new(&cfg, &e, NULL), ERR_CONFIG);
        assert_null(e);
    }
}

#define CONSTRAINT(type, more)                                                                               \
    ",\"placement_policy\":{\"constraints\":[{\"type\":\"" type                                              \
    "\",\"scope\":\"NODE\",\"target_tags\":[\"hello\"]" more "}]}"

/** On one host an anti-affinity allows one container; the others wait with the reason, and nothing spins. */
static void anti_affinity_allows_one(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("s", 3, "ALWAYS", CONSTRAINT("ANTI_AFFINITY", "")), false);
    assert_string_equal(kit_list(&k, "s"), "hello-0:READY hello-1:PENDING hello-2:PENDING");
    assert_string_equal(
        kit_wait(&k, "s", "hello-1"),
        "placement: constraint constraints/0: it allows 1 on a node, and the cluster has one");
    assert_int_equal(kit_service(&k, "s")->components[0]->state, COMP_FLEXING);
    assert_int_equal(kit_service(&k, "s")->timer_ms, 0);
    kit_exit_signal(&k, "s", "hello-0", 9); /* its place is free for the next */
    assert_string_equal(kit_list(&k, "s"), "hello-0:PENDING hello-1:READY hello-2:PENDING");
    kit_fire(&k, "s"); /* the pause of hello-0 is over */
    assert_int_equal(kit_service(&k, "s")->timer_ms, 0);
    kit_crash(&k);
    kit_recover(&k);
    assert_string_equal(kit_list(&k, "s"), "hello-0:PENDING hello-1:READY hello-2:PENDING");
    kit_flex(&k, "s", "hello", 2);
    kit_flex(&k, "s", "hello", 1);
    assert_string_equal(kit_list(&k, "s"), "hello-0:READY");
    assert_int_equal(kit_service(&k, "s")->state, SVC_STABLE);
    kit_end(&k);
}

static void a_cardinality_is_kept(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(
        &k,
        kit_spec("s", 1, "ALWAYS",
                 CONSTRAINT("AFFINITY_WITH_CARDINALITY", ",\"min_cardinality\":2,\"max_cardinality\":3")),
        false);
    assert_string_equal(kit_list(&k, "s"), "hello-0:PENDING");
    assert_string_equal(
        kit_wait(&k, "s", "hello-0"),
        "placement: constraint constraints/0 wants at least 2 containers together, and fewer are wanted");
    kit_flex(&k, "s", "hello", 2);
    assert_string_equal(kit_list(&k, "s"), "hello-0:READY hello-1:READY");
    kit_flex(&k, "s", "hello", 4);
    assert_string_equal(kit_list(&k, "s"), "hello-0:READY hello-1:READY hello-2:READY hello-3:PENDING");
    kit_end(&k);
}

static void affinity_holds_on_one_host(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("s", 2, "ALWAYS", CONSTRAINT("AFFINITY", ",\"max_cardinality\":1")), false);
    assert_string_equal(kit_list(&k, "s"), "hello-0:READY hello-1:READY");
    kit_end(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_crash_is_retried_in_the_same_container),
        cmocka_unit_test(delays_double_up_to_the_interval_and_reset),
        cmocka_unit_test(a_silly_interval_does_not_spin),
        cmocka_unit_test(a_killed_process_gets_a_new_container),
        cmocka_unit_test(anti_affinity_allows_one),
        cmocka_unit_test(a_cardinality_is_kept),
        cmocka_unit_test(affinity_holds_on_one_host),
        cmocka_unit_test(a_lost_container_is_replaced_and_not_counted),
        cmocka_unit_test(the_failure_after_the_threshold_fails_the_service),
        cmocka_unit_test(failures_are_counted_in_a_window),
        cmocka_unit_test(never_and_all_well),
        cmocka_unit_test(never_and_one_failed),
        cmocka_unit_test(the_end_of_a_service_says_how_its_instance_failed),
        cmocka_unit_test(on_failure_runs_until_it_succeeds),
        cmocka_unit_test(dependents_of_never_wait_for_the_end),
        cmocka_unit_test(one_component_may_speak_for_the_service),
        cmocka_unit_test(what_cannot_be_started_counts),
        cmocka_unit_test(waiting_for_room_is_explained),
        cmocka_unit_test(addresses_run_out_and_come_back),
        cmocka_unit_test(a_bad_network_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

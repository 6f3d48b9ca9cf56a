/** What stays of the ends of processes: counts, the last one, and the one that explains why a service has ended. */
#include <string.h>

#include "engine_kit.h"

#define LOUD_LEN 2000

/** The process ends with this code and these last words. */
static void fail_saying(struct kit *k, const char *instance, int code, const char *words)
{
    const struct eng_instance *inst = kit_instance(k, "s", instance);
    mem_auto char *id = mem_str(inst->container_id);
    struct eng_exit x = eng_exit_of(CAUSE_EXITED, code, NULL);
    x.last_stderr = (char *)words;
    kit_step(k,
             (struct eng_event){.kind = EV_EXITED, .container_id = id, .attempt = inst->attempt, .exit = x});
}

static void restarts_are_counted_in_one_container_and_over_several(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("s", 1, "ALWAYS", ""), false);
    assert_int_equal(kit_instance(&k, "s", "hello-0")->n_restarts, 0);
    fail_saying(&k, "hello-0", 3, "a");
    assert_int_equal(kit_state(&k, "s", "hello-0"), INST_EXITED);
    kit_fire(&k, "s");
    kit_exit_signal(&k, "s", "hello-0", 9);
    assert_int_equal(kit_state(&k, "s", "hello-0"), INST_PENDING);
    kit_fire(&k, "s");
    assert_int_equal(kit_state(&k, "s", "hello-0"), INST_READY);
    assert_int_equal(kit_instance(&k, "s", "hello-0")->n_restarts, 2);
    assert_int_equal(kit_instance(&k, "s", "hello-0")->last_exit->raw, 9);
    kit_end(&k);
}

static void the_last_end_survives_a_restart(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("s", 1, "ALWAYS", ""), false);
    fail_saying(&k, "hello-0", 3, "no such file");
    int64_t ended_ms = kit_now(&k).wall_ms;
    kit_crash(&k);
    kit_recover(&k);
    const struct eng_instance *inst = kit_instance(&k, "s", "hello-0");
    assert_int_equal(inst->n_restarts, 1);
    assert_int_equal(inst->last_exit->raw, 3);
    assert_int_equal(inst->last_exit->ended_ms, ended_ms);
    assert_string_equal(inst->last_exit->last_stderr, "no such file");
    kit_end(&k);
}

static void a_crash_loop_does_not_grow_the_document(void **state)
{
    (void)state;
    char loud[LOUD_LEN + 1];
    struct kit k;
    memset(loud, 'x', LOUD_LEN);
    loud[LOUD_LEN] = '\0';
    kit_start(&k, "seed");
    kit_create(&k,
               kit_spec("s", 1, "ALWAYS",
                        ",\"configuration\":{\"properties\":{"
                        "\"yarn.service.container-failure-per-component.threshold\":\"1000\"}}"),
               false);
    for (int i = 0; i < 40; i++) {
        fail_saying(&k, "hello-0", 3, loud);
        kit_fire(&k, "s");
    }
    assert_int_equal(kit_instance(&k, "s", "hello-0")->n_restarts, 40);
    assert_true(strlen(map_get(&k.store, "services/alice/s/hello-0")) < LOUD_LEN + 1000);
    kit_end(&k);
}

static void a_failed_service_keeps_the_end_that_made_it_fail(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k,
               kit_spec("s", 2, "ALWAYS",
                        ",\"configuration\":{\"properties\":{"
                        "\"yarn.service.container-failure.retry.max\":\"0\","
                        "\"yarn.service.container-failure-per-component.threshold\":\"1\"}}"),
               false);
    fail_saying(&k, "hello-0", 3, "first");
    kit_fire(&k, "s");
    fail_saying(&k, "hello-1", 4, "second");
    kit_crash(&k);
    kit_recover(&k);
    const struct eng_service *s = kit_service(&k, "s");
    assert_int_equal(s->state, SVC_FAILED);
    assert_string_equal(s->failure->instance, "hello-1");
    assert_non_null(s->failure->container_id);
    assert_int_equal(s->failure->exit->raw, 4);
    assert_string_equal(s->failure->exit->last_stderr, "second");
    kit_request(&k, EV_START, "s");
    assert_null(kit_service(&k, "s")->failure);
    kit_end(&k);
}

static void an_instance_that_is_up_is_not_failing(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("s", 2, "ALWAYS", ""), false);
    assert_null(eng_service_failing(kit_service(&k, "s")));
    fail_saying(&k, "hello-1", 3, "a");
    assert_string_equal(eng_service_failing(kit_service(&k, "s"))->name, "hello-1");
    kit_fire(&k, "s");
    assert_null(eng_service_failing(kit_service(&k, "s")));
    kit_request(&k, EV_STOP, "s"); /* but it has failed before */
    assert_string_equal(kit_service(&k, "s")->failure->instance, "hello-1");
    kit_end(&k);
}

static void a_service_that_never_failed_keeps_nothing(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("s", 1, "ALWAYS", ""), false);
    kit_exit_code(&k, "s", "hello-0", 0);
    kit_fire(&k, "s");
    kit_request(&k, EV_STOP, "s");
    assert_null(kit_service(&k, "s")->failure);
    kit_end(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(restarts_are_counted_in_one_container_and_over_several),
        cmocka_unit_test(the_last_end_survives_a_restart),
        cmocka_unit_test(a_crash_loop_does_not_grow_the_document),
        cmocka_unit_test(a_failed_service_keeps_the_end_that_made_it_fail),
        cmocka_unit_test(an_instance_that_is_up_is_not_failing),
        cmocka_unit_test(a_service_that_never_failed_keeps_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/** What Slider applications do differently: see svcmgr/engine/policy_slider.c. */
#include <string.h>

#include "engine_kit.h"

static void start(struct kit *k, int n, const char *more)
{
    kit_start(k, "seed");
    k->service_kind = KIND_SLIDER;
    kit_create(k, kit_spec("s", n, "NEVER", more), false);
}

static void every_end_is_followed_by_a_new_container(void **state)
{
    (void)state;
    static const struct {
        enum eng_exit_cause cause;
        int64_t raw, n_failures;
    } rows[] = {{CAUSE_EXITED, 0, 0},
                {CAUSE_EXITED, 1, 1},
                {CAUSE_SIGNALLED, 11, 1},
                {CAUSE_LAUNCH, 2, 1},
                {CAUSE_PREEMPTED, 0, 0},
                {CAUSE_DISK, 0, 0},
                {CAUSE_MEMORY_PHYSICAL, 0, 1},
                {CAUSE_MEMORY_VIRTUAL, 0, 1},
                {CAUSE_ABORTED, 0, 0},
                {CAUSE_LOST, 0, 0},
                {CAUSE_APPLICATION_ENDED, 0, 0},
                {CAUSE_STOPPED, 0, 0}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct kit k;
        start(&k, 1, "");
        mem_auto char *was = mem_str(kit_instance(&k, "s", "hello-0")->container_id);
        kit_exit(&k, "s", "hello-0", eng_exit_of(rows[i].cause, rows[i].raw, NULL));
        assert_int_equal(kit_instance(&k, "s", "hello-0")->component->n_failures, rows[i].n_failures);
        kit_fire(&k, "s");
        assert_int_equal(kit_state(&k, "s", "hello-0"), INST_READY);
        assert_string_not_equal(kit_instance(&k, "s", "hello-0")->container_id, was);
        kit_end(&k);
    }
}

static void more_than_five_recent_failures_end_it(void **state)
{
    (void)state;
    struct kit k;
    start(&k, 1, "");
    for (int i = 0; i < 5; i++) {
        kit_exit_code(&k, "s", "hello-0", 1);
        kit_fire(&k, "s");
    }
    assert_int_equal(kit_state(&k, "s", "hello-0"), INST_READY);
    kit_exit(&k, "s", "hello-0", eng_exit_of(CAUSE_EXITED, 7, "bad disk"));
    const struct eng_service *s = kit_service(&k, "s");
    assert_int_equal(s->state, SVC_FAILED);
    assert_string_equal(
        s->diagnostics,
        "Unstable Application Instance : - failed with component hello failed 'recently' 6 times "
        "(6 in startup); threshold is 5 - last failure: bad disk");
    assert_int_equal(s->exit->cause, CAUSE_EXITED);
    assert_int_equal(s->exit->raw, 7);
    assert_string_equal(s->trigger, "hello-0");
    kit_end(&k);
}

static void a_threshold_of_nothing_is_none(void **state)
{
    (void)state;
    struct kit k;
    start(&k, 1,
          ",\"configuration\":{\"properties\":{\"yarn.service.container-failure-per-component.threshold\":\"-"
          "1\"}}");
    for (int i = 0; i < 30; i++) {
        kit_exit_code(&k, "s", "hello-0", 1);
        kit_fire(&k, "s");
    }
    assert_int_equal(kit_state(&k, "s", "hello-0"), INST_READY);
    kit_end(&k);
}

/** hello-1 gets a new container: it is the newest now. */
static void a_shrinking_component_gives_up_the_newest_container(void **state)
{
    (void)state;
    struct kit k;
    start(&k, 4, "");
    kit_exit_code(&k, "s", "hello-1", 0);
    kit_fire(&k, "s");
    kit_flex(&k, "s", "hello", 3);
    assert_string_equal(kit_list(&k, "s"), "hello-0:READY hello-2:READY hello-3:READY");
    kit_flex(&k, "s", "hello", 2);
    assert_string_equal(kit_list(&k, "s"), "hello-0:READY hello-2:READY");
    kit_end(&k);
}

static void open_requests_go_before_running_containers(void **state)
{
    (void)state;
    struct kit k;
    start(&k, 2, "");
    kit_exit_code(&k, "s", "hello-0", 0);
    k.obey = false;
    kit_fire(&k, "s"); /* its next container is asked for, and does not come */
    assert_string_equal(kit_list(&k, "s"), "hello-0:REQUESTED hello-1:READY");
    kit_flex(&k, "s", "hello", 1);
    assert_string_equal(kit_list(&k, "s"), "hello-1:READY");
    assert_int_equal(kit_count(&k, EFF_CANCEL_REQUEST), 1);
    assert_int_equal(kit_count(&k, EFF_STOP), 0);
    kit_end(&k);
}

/** More than fit one step: the newest go, whatever the step that drops them. */
static void many_shrink_in_the_same_order(void **state)
{
    (void)state;
    struct kit k;
    start(&k, 200, "");
    kit_flex(&k, "s", "hello", 3);
    assert_string_equal(kit_list(&k, "s"), "hello-0:READY hello-1:READY hello-2:READY");
    kit_end(&k);
}

static void a_flex_that_changes_something_forgets_the_failures(void **state)
{
    (void)state;
    struct kit k;
    start(&k, 1, "");
    kit_exit_code(&k, "s", "hello-0", 1);
    kit_fire(&k, "s");
    kit_flex(&k, "s", "hello", 1);
    assert_int_equal(kit_instance(&k, "s", "hello-0")->component->n_failures, 1);
    kit_flex(&k, "s", "hello", 2);
    assert_int_equal(kit_instance(&k, "s", "hello-0")->component->n_failures, 0);
    kit_end(&k);
}

static void requests_go_out_by_priority(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    k.service_kind = KIND_SLIDER;
    k.rules = eng_rules_new();
    eng_rules_add(k.rules, "late")->priority = 9;
    eng_rules_add(k.rules, "early")->priority = 2;
    eng_rules_add(k.rules, "between")->priority = 5;
    kit_create(&k,
               "{\"name\":\"s\",\"version\":\"1\",\"launch_command\":\"run\",\"number_of_containers\":1,"
               "\"resource\":{\"cpus\":1,\"memory\":\"64\"},"
               "\"components\":[{\"name\":\"late\"},{\"name\":\"early\"},{\"name\":\"between\"}]}",
               false);
    assert_string_equal(kit_list(&k, "s"), "early-0:READY between-0:READY late-0:READY");
    kit_crash(&k);
    kit_recover(&k);
    assert_string_equal(kit_list(&k, "s"), "early-0:READY between-0:READY late-0:READY");
    kit_end(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_end_is_followed_by_a_new_container),
        cmocka_unit_test(more_than_five_recent_failures_end_it),
        cmocka_unit_test(a_threshold_of_nothing_is_none),
        cmocka_unit_test(a_shrinking_component_gives_up_the_newest_container),
        cmocka_unit_test(open_requests_go_before_running_containers),
        cmocka_unit_test(many_shrink_in_the_same_order),
        cmocka_unit_test(a_flex_that_changes_something_forgets_the_failures),
        cmocka_unit_test(requests_go_out_by_priority),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

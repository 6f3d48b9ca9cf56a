/** Gang allocation: nothing starts before every instance has a container. See svcmgr/engine/gang.c. */
#include <string.h>

#include "engine_kit.h"

#define TIMEOUT_MS 20000

/** A framework of n tasks in a gang, whose requests are not answered yet; a task that fails is tried again. */
static void start(struct kit *k, int n)
{
    kit_start(k, "seed");
    k->service_kind = KIND_LAUNCHER;
    k->rules = eng_rules_new();
    k->rules->is_gang = true;
    k->rules->gang_timeout_ms = TIMEOUT_MS;
    k->rules->retry = (struct eng_retry_rule){true, 0};
    eng_rules_add(k->rules, "hello")->retry = (struct eng_retry_rule){false, -1};
    k->obey = false;
    kit_create(k, kit_spec("s", n, "ALWAYS", ""), false);
}

static void give(struct kit *k, const char *instance)
{
    mem_auto char *id = mem_str(kit_instance(k, "s", instance)->container_id);
    kit_step(k, (struct eng_event){.kind = EV_ALLOCATED, .container_id = id, .host = "node1"});
}

static void nothing_starts_before_everybody_has_a_container(void **state)
{
    (void)state;
    struct kit k;
    start(&k, 3);
    give(&k, "hello-2");
    give(&k, "hello-0");
    assert_string_equal(kit_list(&k, "s"), "hello-0:ALLOCATED hello-1:REQUESTED hello-2:ALLOCATED");
    assert_int_equal(kit_count(&k, EFF_LAUNCH), 0);
    give(&k, "hello-1");
    assert_int_equal(kit_count(&k, EFF_LAUNCH), 3);
    assert_int_equal(kit_instance(&k, "s", "hello-2")->attempt, 1);
    kit_end(&k);
}

static void many_start_in_slices(void **state)
{
    (void)state;
    struct kit k;
    start(&k, 300);
    k.obey = true;
    kit_advance(&k, "s", 0);
    assert_int_equal(kit_count(&k, EFF_LAUNCH), 300);
    assert_int_equal(kit_service(&k, "s")->state, SVC_STABLE);
    kit_end(&k);
}

static void what_takes_too_long_ends_it_as_a_conflict(void **state)
{
    (void)state;
    struct kit k;
    start(&k, 2);
    give(&k, "hello-0");
    int64_t begun_ms = k.now_ms;
    kit_advance(&k, "s", TIMEOUT_MS / 2);
    kit_crash(&k); /* the time is kept */
    kit_recover(&k);
    assert_int_equal(kit_service(&k, "s")->state, SVC_STARTED);
    kit_fire(&k, "s");
    assert_int_equal(k.now_ms, begun_ms + TIMEOUT_MS);
    const struct eng_service *s = kit_service(&k, "s");
    assert_int_equal(s->exit->cause, CAUSE_GANG_TIMEOUT);
    assert_int_equal(s->state, SVC_BACKOFF); /* nothing was launched, and its rule is fancy */
    assert_string_equal(kit_list(&k, "s"), "hello-0:STOPPED hello-1:STOPPED");
    assert_int_equal(kit_count(&k, EFF_CANCEL_REQUEST), 2);
    kit_end(&k);
}

/** A container that is held is confirmed by the cluster; nothing was launched in it. */
static void a_restart_keeps_what_is_held(void **state)
{
    (void)state;
    struct kit k;
    start(&k, 2);
    give(&k, "hello-1");
    mem_auto char *id = mem_str(kit_instance(&k, "s", "hello-1")->container_id);
    kit_crash(&k);
    kit_recover(&k);
    assert_int_equal(kit_count(&k, EFF_LAUNCH), 0);
    assert_string_equal(kit_instance(&k, "s", "hello-1")->container_id, id);
    give(&k, "hello-1");
    give(&k, "hello-0");
    assert_int_equal(kit_count(&k, EFF_LAUNCH), 2);
    kit_end(&k);
}

static void a_task_that_is_tried_again_leaves_the_others_running(void **state)
{
    (void)state;
    struct kit k;
    start(&k, 3);
    k.obey = true;
    kit_advance(&k, "s", 0);
    k.obey = false;
    kit_exit_code(&k, "s", "hello-0", 1);
    kit_exit_code(&k, "s", "hello-1", 1);
    kit_fire(&k, "s");
    assert_string_equal(kit_list(&k, "s"), "hello-0:REQUESTED hello-1:REQUESTED hello-2:READY");
    kit_clear(&k);
    give(&k, "hello-0");
    assert_int_equal(kit_count(&k, EFF_LAUNCH), 0);
    give(&k, "hello-1");
    assert_int_equal(kit_count(&k, EFF_LAUNCH), 2);
    kit_end(&k);
}

static void a_held_container_that_is_lost_is_asked_for_again(void **state)
{
    (void)state;
    struct kit k;
    start(&k, 2);
    give(&k, "hello-0");
    kit_exit(&k, "s", "hello-0", eng_exit_of(CAUSE_EXPIRED, 0, NULL));
    assert_string_equal(kit_list(&k, "s"), "hello-0:PENDING hello-1:REQUESTED");
    give(&k, "hello-1");
    assert_int_equal(kit_count(&k, EFF_LAUNCH), 0);
    kit_fire(&k, "s");
    give(&k, "hello-0");
    assert_int_equal(kit_count(&k, EFF_LAUNCH), 2);
    kit_end(&k);
}

static void a_component_that_waits_for_another_is_not_waited_for(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    k.service_kind = KIND_LAUNCHER;
    k.rules = eng_rules_new();
    k.rules->is_gang = true;
    kit_create(&k,
               "{\"name\":\"s\",\"version\":\"1\",\"launch_command\":\"run\",\"number_of_containers\":1,"
               "\"resource\":{\"cpus\":1,\"memory\":\"64\"},"
               "\"components\":[{\"name\":\"a\"},{\"name\":\"b\",\"dependencies\":[\"a\"]}]}",
               false);
    assert_string_equal(kit_list(&k, "s"), "a-0:READY b-0:PENDING");
    kit_exit_code(&k, "s", "a-0", 0);
    assert_string_equal(kit_list(&k, "s"), "a-0:SUCCEEDED b-0:READY");
    kit_end(&k);
}

/** Of a process that is tried again in the container that it had: attempts are never counted anew. */
static void a_held_container_keeps_its_attempt_over_a_restart(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    k.rules = eng_rules_new();
    k.rules->is_gang = true;
    kit_create(&k, kit_spec("s", 2, "ALWAYS", ""), false);
    kit_exit_code(&k, "s", "hello-0", 1);
    assert_int_equal(kit_state(&k, "s", "hello-0"), INST_EXITED);
    kit_crash(&k);
    kit_step(&k, (struct eng_event){.kind = EV_RECOVERED,
                                    .container_id = kit_instance(&k, "s", "hello-1")->container_id,
                                    .attempt = 1,
                                    .found = FOUND_RUNNING,
                                    .host = "node1"});
    kit_step(&k, (struct eng_event){.kind = EV_RESUME});
    assert_string_equal(kit_list(&k, "s"), "hello-0:READY hello-1:READY");
    assert_int_equal(kit_last(&k, EFF_LAUNCH)->launch->attempt, 2);
    kit_end(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_starts_before_everybody_has_a_container),
        cmocka_unit_test(many_start_in_slices),
        cmocka_unit_test(what_takes_too_long_ends_it_as_a_conflict),
        cmocka_unit_test(a_restart_keeps_what_is_held),
        cmocka_unit_test(a_task_that_is_tried_again_leaves_the_others_running),
        cmocka_unit_test(a_held_container_that_is_lost_is_asked_for_again),
        cmocka_unit_test(a_component_that_waits_for_another_is_not_waited_for),
        cmocka_unit_test(a_held_container_keeps_its_attempt_over_a_restart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

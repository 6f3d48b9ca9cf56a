/** Definitions that change while the service runs, and instances that get another container. */
#include "engine_kit.h"

#include <stdio.h>
#include <string.h>

#define COMPONENT                                                                                            \
    "{\"name\":\"%s\",\"number_of_containers\":%d,\"launch_command\":\"%s\",\"resource\":"                   \
    "{\"cpus\":1,\"memory\":\"64\"}%s}"

/** Service web with component `a` of n, and with a second one. Static. */
static const char *definition(int n, const char *command, const char *second, const char *more)
{
    static char text[2048];
    int len = snprintf(text, sizeof text, "{\"name\":\"web\",\"version\":\"1\",\"components\":[" COMPONENT,
                       "a", n, command, "");
    if (second)
        len += snprintf(text + len, sizeof text - (size_t)len, "," COMPONENT, second, 2, "second", more);
    snprintf(text + len, sizeof text - (size_t)len, "]}");
    return text;
}

static int redefine(struct kit *k, const char *text)
{
    return kit_ask(k,
                   (struct eng_event){.kind = EV_REDEFINE, .name = "web", .take_spec = kit_spec_of(k, text)});
}

static int replace(struct kit *k, const char *instance)
{
    return kit_ask(k,
                   (struct eng_event){.kind = EV_REPLACE, .name = "web", .names = &instance, .n_names = 1});
}

static void start(struct kit *k, const char *text)
{
    kit_start(k, "seed");
    kit_create(k, text, false);
    assert_int_equal(kit_service(k, "web")->state, SVC_STABLE);
}

static void a_component_is_added(void **state)
{
    (void)state;
    struct kit k;
    start(&k, definition(1, "x", NULL, ""));
    mem_auto char *id = mem_str(kit_instance(&k, "web", "a-0")->container_id);
    assert_int_equal(redefine(&k, definition(1, "x", "b", "")), OUT_REDEFINED);
    assert_string_equal(kit_list(&k, "web"), "a-0:READY b-0:READY b-1:READY");
    assert_string_equal(kit_instance(&k, "web", "a-0")->container_id, id);
    assert_int_equal(kit_service(&k, "web")->state, SVC_STABLE);
    kit_crash(&k);
    kit_recover(&k);
    assert_string_equal(kit_list(&k, "web"), "a-0:READY b-0:READY b-1:READY");
    kit_end(&k);
}

/** One that others depend on starts first, wherever the definition has it. */
static void an_added_component_waits_for_its_dependencies(void **state)
{
    (void)state;
    struct kit k;
    start(&k, definition(1, "x", NULL, ""));
    k.obey = false;
    redefine(&k, definition(2, "x", "b", ",\"dependencies\":[\"a\"]"));
    assert_string_equal(kit_list(&k, "web"), "a-0:READY a-1:REQUESTED b-0:PENDING b-1:PENDING");
    assert_int_equal(eng_instance_waiting(kit_instance(&k, "web", "b-0"))->why, WAIT_COMPONENT);
    kit_end(&k);
}

static void a_component_is_removed_when_its_last_instance_has_gone(void **state)
{
    (void)state;
    struct kit k;
    start(&k, definition(1, "x", "b", ""));
    mem_auto char *first = mem_str(kit_instance(&k, "web", "b-0")->container_id);
    mem_auto char *second = mem_str(kit_instance(&k, "web", "b-1")->container_id);
    k.obey = false;
    assert_int_equal(redefine(&k, definition(1, "x", NULL, "")), OUT_REDEFINED);
    assert_string_equal(kit_list(&k, "web"), "a-0:READY b-0:RELEASING b-1:RELEASING");
    kit_crash(&k);
    kit_recover(&k);
    assert_int_equal(kit_service(&k, "web")->n_components, 2);
    kit_step(&k, (struct eng_event){.kind = EV_LOST, .container_id = first});
    kit_step(&k, (struct eng_event){.kind = EV_LOST, .container_id = second});
    assert_int_equal(kit_service(&k, "web")->n_components, 1);
    assert_int_equal(kit_service(&k, "web")->spec->n_components, 1);
    assert_string_equal(kit_list(&k, "web"), "a-0:READY");
    k.obey = true;
    redefine(&k, definition(1, "x", "b", "")); /* the name is free again */
    assert_string_equal(kit_list(&k, "web"), "a-0:READY b-0:READY b-1:READY");
    kit_end(&k);
}

static void others_start_by_the_new_definition_from_now_on(void **state)
{
    (void)state;
    struct kit k;
    start(&k, definition(2, "old", NULL, ""));
    kit_clear(&k);
    redefine(&k, definition(3, "new", NULL, ""));
    assert_int_equal(kit_count(&k, EFF_LAUNCH), 1); /* a-2 */
    assert_non_null(strstr(kit_last(&k, EFF_LAUNCH)->launch->command, "new"));
    assert_int_equal(kit_instance(&k, "web", "a-0")->revision, 0);
    assert_int_equal(kit_instance(&k, "web", "a-2")->revision, 1);
    assert_int_equal(replace(&k, "a-0"), OUT_REPLACING);
    assert_int_equal(kit_instance(&k, "web", "a-0")->revision, 1);
    assert_int_equal(kit_instance(&k, "web", "a-1")->revision, 0);
    kit_end(&k);
}

/** By the new policy nothing ends for good. */
static void what_has_ended_for_good_is_started_again(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", 2, "ON_FAILURE", ""), false);
    kit_exit_code(&k, "web", "hello-1", 0);
    assert_string_equal(kit_list(&k, "web"), "hello-0:READY hello-1:SUCCEEDED");
    redefine(&k, kit_spec("web", 2, "ALWAYS", ""));
    assert_string_equal(kit_list(&k, "web"), "hello-0:READY hello-1:READY");
    kit_end(&k);
}

static void a_change_that_cannot_be_stored_is_taken_back(void **state)
{
    (void)state;
    struct kit k;
    start(&k, definition(1, "x", "b", ""));
    kit_undone(&k, (struct eng_event){.kind = EV_REDEFINE,
                                      .user = "alice",
                                      .name = "web",
                                      .take_spec = kit_spec_of(&k, definition(3, "x", "c", ""))});
    assert_string_equal(kit_list(&k, "web"), "a-0:READY b-0:READY b-1:READY");
    kit_exit_code(&k, "web", "b-0", 1);
    kit_fire(&k, "web");
    assert_string_equal(kit_list(&k, "web"), "a-0:READY b-0:READY b-1:READY");
    kit_end(&k);
}

/* ---- another process ---- */

static int restart(struct kit *k, const char *instance)
{
    return kit_ask(k,
                   (struct eng_event){.kind = EV_RESTART, .name = "web", .names = &instance, .n_names = 1});
}

static void an_instance_gets_another_process(void **state)
{
    (void)state;
    struct kit k;
    start(&k, definition(2, "x", NULL, ""));
    mem_auto char *id = mem_str(kit_instance(&k, "web", "a-1")->container_id);
    kit_clear(&k);
    assert_int_equal(restart(&k, "a-7"), OUT_NO_INSTANCE);
    assert_int_equal(restart(&k, "a-1"), OUT_RESTARTING);
    const struct eng_instance *inst = kit_instance(&k, "web", "a-1");
    assert_int_equal(inst->state, INST_READY);
    assert_string_equal(inst->container_id, id);
    assert_int_equal(kit_count(&k, EFF_REINIT), 1);
    assert_int_equal(inst->attempt, 2);
    assert_int_equal(inst->n_restarts, 1);
    assert_int_equal(inst->component->n_failures, 0);
    assert_int_equal(kit_instance(&k, "web", "a-0")->attempt, 1);
    assert_int_equal(kit_service(&k, "web")->n_restarting, 0);
    kit_end(&k);
}

/** The pause before a retry is not waited for. */
static void one_that_waits_for_its_start_starts_at_once(void **state)
{
    (void)state;
    struct kit k;
    start(&k, definition(1, "x", NULL, ""));
    kit_exit_code(&k, "web", "a-0", 1);
    assert_int_equal(kit_state(&k, "web", "a-0"), INST_EXITED);
    assert_int_equal(restart(&k, "a-0"), OUT_RESTARTING);
    assert_int_equal(kit_state(&k, "web", "a-0"), INST_READY);
    kit_end(&k);
}

static void a_restart_that_cannot_be_stored_is_taken_back(void **state)
{
    (void)state;
    struct kit k;
    const char *name = "a-0";
    start(&k, definition(1, "x", NULL, ""));
    kit_undone(&k, (struct eng_event){
                       .kind = EV_RESTART, .user = "alice", .name = "web", .names = &name, .n_names = 1});
    assert_int_equal(kit_service(&k, "web")->n_restarting, 0);
    assert_int_equal(kit_instance(&k, "web", "a-0")->attempt, 1);
    kit_end(&k);
}

/* ---- another container ---- */

static void an_instance_gets_another_container(void **state)
{
    (void)state;
    struct kit k;
    start(&k, definition(2, "x", NULL, ""));
    mem_auto char *id = mem_str(kit_instance(&k, "web", "a-1")->container_id);
    mem_auto char *other = mem_str(kit_instance(&k, "web", "a-0")->container_id);
    assert_int_equal(replace(&k, "a-7"), OUT_NO_INSTANCE);
    assert_int_equal(replace(&k, "a-1"), OUT_REPLACING);
    const struct eng_instance *inst = kit_instance(&k, "web", "a-1");
    assert_int_equal(inst->state, INST_READY);
    assert_string_not_equal(inst->container_id, id);
    assert_string_equal(kit_instance(&k, "web", "a-0")->container_id, other);
    assert_int_equal(inst->n_restarts, 0); /* it is no failure */
    assert_int_equal(inst->component->n_failures, 0);
    assert_int_equal(kit_service(&k, "web")->n_replacing, 0);
    kit_end(&k);
}

/** It is stored before it is begun. */
static void a_replacement_is_begun_after_a_crash(void **state)
{
    (void)state;
    struct kit k;
    start(&k, definition(1, "x", NULL, ""));
    mem_auto char *id = mem_str(kit_instance(&k, "web", "a-0")->container_id);
    k.last_step = k.n_steps + 1;
    replace(&k, "a-0");
    kit_crash(&k);
    kit_recover(&k);
    assert_int_equal(kit_state(&k, "web", "a-0"), INST_READY);
    assert_string_not_equal(kit_instance(&k, "web", "a-0")->container_id, id);
    kit_end(&k);
}

/** Of a kind whose definitions wait for the start: what still ends keeps its definition. */
static void one_that_does_not_run_may_lose_a_component_when_it_has_ended(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    k.service_kind = KIND_SLIDER;
    kit_create(&k, definition(2, "x", "b", ""), false);
    k.obey = false;
    kit_request(&k, EV_STOP, "web");
    assert_int_equal(redefine(&k, definition(1, "x", NULL, "")), OUT_LACKS_COMPONENT);
    assert_string_equal(kit_last(&k, EFF_ANSWER)->answer->component, "b");
    k.obey = true;
    kit_advance(&k, "web", 0);
    assert_int_equal(kit_service(&k, "web")->state, SVC_STOPPED);
    assert_int_equal(redefine(&k, definition(1, "x", NULL, "")), OUT_REDEFINED);
    kit_request(&k, EV_START, "web");
    assert_int_equal(kit_service(&k, "web")->state, SVC_STABLE);
    assert_int_equal(kit_service(&k, "web")->n_components, 1);
    kit_end(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_component_is_added),
        cmocka_unit_test(an_added_component_waits_for_its_dependencies),
        cmocka_unit_test(a_component_is_removed_when_its_last_instance_has_gone),
        cmocka_unit_test(others_start_by_the_new_definition_from_now_on),
        cmocka_unit_test(what_has_ended_for_good_is_started_again),
        cmocka_unit_test(a_change_that_cannot_be_stored_is_taken_back),
        cmocka_unit_test(one_that_does_not_run_may_lose_a_component_when_it_has_ended),
        cmocka_unit_test(an_instance_gets_another_process),
        cmocka_unit_test(one_that_waits_for_its_start_starts_at_once),
        cmocka_unit_test(a_restart_that_cannot_be_stored_is_taken_back),
        cmocka_unit_test(an_instance_gets_another_container),
        cmocka_unit_test(a_replacement_is_begun_after_a_crash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

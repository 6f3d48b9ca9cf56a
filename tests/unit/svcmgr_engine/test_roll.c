/** Instances that get other containers one after the other, and Slider definitions that are put: svcmgr/engine/roll.c. */
#include <string.h>

#include "engine_kit.h"

static void start(struct kit *k, int n)
{
    kit_start(k, "seed");
    k->service_kind = KIND_SLIDER;
    kit_create(k, kit_spec("s", n, "ALWAYS", ""), false);
}

static int roll(struct kit *k, const char *const *names, size_t n)
{
    json_t *message = json_string("why");
    int outcome = kit_ask(
        k, (struct eng_event){.kind = EV_ROLL, .name = "s", .names = names, .n_names = n, .value = message});
    json_decref(message);
    return outcome;
}

static const char *id_of(const struct kit *k, const char *instance)
{
    const char *id = kit_instance(k, "s", instance)->container_id;
    return id ? id : "";
}

static const struct eng_roll *roll_of(const struct kit *k)
{
    return kit_service(k, "s")->roll;
}

/** All that follows, until nothing is due. */
static void settle(struct kit *k)
{
    for (int i = 0; i < 20 && roll_of(k)->result == RESULT_NONE && kit_service(k, "s")->timer_ms; i++)
        kit_fire(k, "s");
}

static void each_is_replaced_in_its_turn(void **state)
{
    static const char *const names[] = {"hello-0", "hello-2"};
    (void)state;
    struct kit k;
    start(&k, 3);
    mem_auto char *first = mem_str(id_of(&k, "hello-0"));
    mem_auto char *other = mem_str(id_of(&k, "hello-1"));
    mem_auto char *last = mem_str(id_of(&k, "hello-2"));
    assert_int_equal(roll(&k, names, 2), OUT_ROLLING);
    settle(&k);
    assert_int_equal(roll_of(&k)->result, RESULT_SUCCEEDED);
    assert_int_equal(roll_of(&k)->n_all, 2);
    assert_int_equal(roll_of(&k)->n_done, 2);
    assert_string_equal(json_string_value(roll_of(&k)->message), "why");
    assert_string_not_equal(id_of(&k, "hello-0"), first);
    assert_string_equal(id_of(&k, "hello-1"), other);
    assert_string_not_equal(id_of(&k, "hello-2"), last);
    kit_end(&k);
}

static void one_at_a_time(void **state)
{
    static const char *const names[] = {"hello-0", "hello-1"};
    (void)state;
    struct kit k;
    start(&k, 2);
    mem_auto char *last = mem_str(id_of(&k, "hello-1"));
    k.obey = false;
    roll(&k, names, 2);
    assert_string_equal(roll_of(&k)->current, "hello-0");
    assert_int_equal(roll_of(&k)->n_pending, 1);
    assert_string_equal(id_of(&k, "hello-1"), last);
    assert_int_equal(kit_state(&k, "s", "hello-1"), INST_READY);
    assert_int_equal(roll(&k, names, 1), OUT_IS_UPGRADING);
    kit_end(&k);
}

/** The new container ends before it is ready: the rest waits, and comes first with the next request. */
static void a_failure_pauses_it(void **state)
{
    static const char *const names[] = {"hello-0", "hello-1"};
    (void)state;
    struct kit k;
    start(&k, 2);
    mem_auto char *was = mem_str(id_of(&k, "hello-0"));
    k.obey = false;
    roll(&k, names, 2);
    kit_step(&k, (struct eng_event){.kind = EV_LOST, .container_id = was, .text = "it has gone"});
    mem_auto char *next = mem_str(id_of(&k, "hello-0"));
    assert_string_not_equal(next, was);
    kit_step(&k,
             (struct eng_event){
                 .kind = EV_ALLOCATED, .name = "s", .user = "alice", .container_id = next, .host = "node1"});
    assert_int_equal(roll_of(&k)->result, RESULT_NONE);
    kit_step(&k, (struct eng_event){.kind = EV_LOST, .container_id = next, .text = "the node has gone"});
    assert_int_equal(roll_of(&k)->result, RESULT_FAILED);
    assert_int_equal(roll_of(&k)->n_failed, 1);
    assert_int_equal(roll_of(&k)->n_pending, 1);
    assert_int_equal(roll(&k, NULL, 0), OUT_ROLLING);
    assert_int_equal(roll_of(&k)->n_all, 1);
    assert_string_equal(roll_of(&k)->current, "hello-1");
    kit_end(&k);
}

static void an_unknown_instance_is_refused(void **state)
{
    static const char *const names[] = {"hello-0", "hello-7"};
    (void)state;
    struct kit k;
    start(&k, 2);
    assert_int_equal(roll(&k, names, 2), OUT_NO_INSTANCE);
    assert_null(roll_of(&k));
    kit_end(&k);
}

static void it_survives_a_restart(void **state)
{
    static const char *const names[] = {"hello-0", "hello-1"};
    (void)state;
    struct kit k;
    start(&k, 2);
    k.obey = false;
    roll(&k, names, 2);
    kit_crash(&k);
    k.obey = true;
    kit_recover(&k);
    settle(&k);
    assert_int_equal(roll_of(&k)->result, RESULT_SUCCEEDED);
    assert_int_equal(roll_of(&k)->n_done, 2);
    kit_end(&k);
}

static void a_stop_ends_it_and_a_start_forgets_it(void **state)
{
    static const char *const names[] = {"hello-0", "hello-1"};
    (void)state;
    struct kit k;
    start(&k, 2);
    k.obey = false;
    roll(&k, names, 2);
    k.obey = true;
    kit_request(&k, EV_STOP, "s");
    while (kit_service(&k, "s")->state != SVC_STOPPED)
        kit_fire(&k, "s");
    assert_int_equal(roll_of(&k)->result, RESULT_FAILED);
    kit_request(&k, EV_START, "s");
    assert_null(roll_of(&k));
    kit_end(&k);
}

static void one_that_is_not_stored_is_undone(void **state)
{
    static const char *const names[] = {"hello-0"};
    (void)state;
    struct kit k;
    start(&k, 1);
    kit_undone(&k, (struct eng_event){.kind = EV_ROLL, .name = "s", .names = names, .n_names = 1});
    assert_null(roll_of(&k));
    kit_end(&k);
}

/* ---- definitions that are put ---- */

static int redefine(struct kit *k, int n, const char *request)
{
    json_t *value = json_pack("{s:s}", "resources", request);
    int outcome = kit_ask(k, (struct eng_event){.kind = EV_REDEFINE,
                                                .name = "s",
                                                .take_spec = kit_spec_of(k, kit_spec("s", n, "ALWAYS", "")),
                                                .value = value});
    json_decref(value);
    return outcome;
}

static void what_was_asked_is_kept(void **state)
{
    (void)state;
    struct kit k;
    start(&k, 1);
    assert_int_equal(redefine(&k, 3, "three"), OUT_REDEFINED);
    assert_string_equal(kit_list(&k, "s"), "hello-0:READY hello-1:READY hello-2:READY");
    kit_crash(&k);
    kit_recover(&k);
    const json_t *request = kit_service(&k, "s")->request;
    assert_string_equal(json_string_value(json_object_get(request, "resources")), "three");
    kit_end(&k);
}

static void a_stopped_one_starts_by_its_last_definition(void **state)
{
    (void)state;
    struct kit k;
    start(&k, 1);
    kit_request(&k, EV_STOP, "s");
    while (kit_service(&k, "s")->state != SVC_STOPPED)
        kit_fire(&k, "s");
    assert_int_equal(redefine(&k, 2, "two"), OUT_REDEFINED);
    assert_int_equal(kit_service(&k, "s")->state, SVC_STOPPED);
    kit_request(&k, EV_START, "s");
    assert_string_equal(kit_list(&k, "s"), "hello-0:READY hello-1:READY");
    kit_end(&k);
}

/** Only another definition forgets recent failures. */
static void the_same_definition_forgets_no_failures(void **state)
{
    (void)state;
    struct kit k;
    start(&k, 1);
    kit_exit_code(&k, "s", "hello-0", 1);
    kit_fire(&k, "s");
    assert_int_equal(kit_instance(&k, "s", "hello-0")->component->n_failures, 1);
    redefine(&k, 1, "one");
    assert_int_equal(kit_instance(&k, "s", "hello-0")->component->n_failures, 1);
    redefine(&k, 2, "two");
    assert_int_equal(kit_instance(&k, "s", "hello-0")->component->n_failures, 0);
    kit_end(&k);
}

static void it_is_found_by_the_id_of_its_last_application(void **state)
{
    (void)state;
    struct kit k;
    start(&k, 1);
    mem_auto char *first = mem_str(kit_service(&k, "s")->app_id);
    assert_ptr_equal(engine_find_application(k.e, first), kit_service(&k, "s"));
    kit_request(&k, EV_STOP, "s");
    while (kit_service(&k, "s")->state != SVC_STOPPED)
        kit_fire(&k, "s");
    assert_non_null(engine_find_application(k.e, first));
    kit_request(&k, EV_START, "s");
    mem_auto char *second = mem_str(kit_service(&k, "s")->app_id);
    assert_null(engine_find_application(k.e, first));
    kit_crash(&k);
    kit_recover(&k);
    assert_ptr_equal(engine_find_application(k.e, second), kit_service(&k, "s"));
    kit_undone(&k, (struct eng_event){.kind = EV_STOP, .name = "s"});
    assert_ptr_equal(engine_find_application(k.e, second), kit_service(&k, "s"));
    assert_null(engine_find_application(k.e, "application_1_1"));
    kit_end(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_replaced_in_its_turn),
        cmocka_unit_test(one_at_a_time),
        cmocka_unit_test(a_failure_pauses_it),
        cmocka_unit_test(an_unknown_instance_is_refused),
        cmocka_unit_test(it_survives_a_restart),
        cmocka_unit_test(a_stop_ends_it_and_a_start_forgets_it),
        cmocka_unit_test(one_that_is_not_stored_is_undone),
        cmocka_unit_test(what_was_asked_is_kept),
        cmocka_unit_test(a_stopped_one_starts_by_its_last_definition),
        cmocka_unit_test(the_same_definition_forgets_no_failures),
        cmocka_unit_test(it_is_found_by_the_id_of_its_last_application),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

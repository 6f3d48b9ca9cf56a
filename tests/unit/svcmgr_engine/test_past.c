/** What is remembered of containers that have ended: svcmgr/engine/past.h. */
#include <string.h>

#include "engine/past.h"
#include "engine_kit.h"

static void start(struct kit *k, int n)
{
    kit_start(k, "seed");
    k->service_kind = KIND_SLIDER;
    kit_create(k, kit_spec("s", n, "NEVER", ""), false);
}

static size_t n_past(const struct kit *k)
{
    size_t n = 0;
    while (eng_service_past(kit_service(k, "s"), n))
        n++;
    return n;
}

static void an_end_is_remembered_with_its_exit(void **state)
{
    (void)state;
    struct kit k;
    start(&k, 2);
    mem_auto char *failed = mem_str(kit_instance(&k, "s", "hello-0")->container_id);
    mem_auto char *released = mem_str(kit_instance(&k, "s", "hello-1")->container_id);
    kit_exit_code(&k, "s", "hello-0", 3);
    kit_fire(&k, "s");
    kit_exit_code(&k, "s", "hello-1", 0);
    kit_flex(&k, "s", "hello", 0);
    assert_int_equal(n_past(&k), 3);
    const struct eng_past *first = eng_service_past(kit_service(&k, "s"), 0);
    assert_string_equal(first->container_id, failed);
    assert_string_equal(first->component, "hello");
    assert_string_equal(first->host, "node1");
    assert_int_equal(first->exit->raw, 3);
    assert_false(first->is_released);
    assert_true(first->ended_ms >= first->launched_ms && first->launched_ms > 0);
    assert_string_equal(eng_service_past(kit_service(&k, "s"), 1)->container_id, released);
    assert_true(eng_service_past(kit_service(&k, "s"), 2)->is_released);
    kit_end(&k);
}

static void the_last_failure_of_a_component_is_kept(void **state)
{
    (void)state;
    struct kit k;
    start(&k, 1);
    assert_null(eng_component_last_failure(kit_instance(&k, "s", "hello-0")->component));
    kit_exit_code(&k, "s", "hello-0", 3);
    kit_fire(&k, "s");
    kit_exit(&k, "s", "hello-0", eng_exit_of(CAUSE_PREEMPTED, 0, NULL));
    kit_fire(&k, "s");
    assert_int_equal(eng_component_last_failure(kit_instance(&k, "s", "hello-0")->component)->exit->raw, 3);
    kit_end(&k);
}

static void at_most_a_thousand_are_remembered(void **state)
{
    (void)state;
    struct kit k;
    start(&k, 1);
    for (int i = 0; i < PAST_MAX + 5; i++) {
        kit_exit_code(&k, "s", "hello-0", 0);
        kit_fire(&k, "s");
    }
    assert_int_equal(n_past(&k), PAST_MAX);
    assert_non_null(strstr(eng_service_past(kit_service(&k, "s"), 0)->container_id, "_000007"));
    kit_end(&k);
}

static void a_request_that_is_undone_forgets_none(void **state)
{
    (void)state;
    struct kit k;
    start(&k, 1);
    kit_exit_code(&k, "s", "hello-0", 0);
    kit_fire(&k, "s");
    kit_undone(&k, (struct eng_event){.kind = EV_STOP, .user = k.user, .name = "s"});
    assert_int_equal(n_past(&k), 1);
    kit_end(&k);
}

static void another_start_begins_anew(void **state)
{
    (void)state;
    struct kit k;
    start(&k, 1);
    kit_request(&k, EV_STOP, "s");
    assert_int_equal(n_past(&k), 1); /* it shows how it ended */
    kit_request(&k, EV_START, "s");
    assert_int_equal(n_past(&k), 0);
    kit_end(&k);
}

static void other_services_remember_none(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("s", 1, "ALWAYS", ""), false);
    kit_exit(&k, "s", "hello-0", eng_exit_of(CAUSE_LOST, 0, NULL));
    assert_int_equal(n_past(&k), 0);
    kit_end(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_end_is_remembered_with_its_exit),
        cmocka_unit_test(the_last_failure_of_a_component_is_kept),
        cmocka_unit_test(at_most_a_thousand_are_remembered),
        cmocka_unit_test(a_request_that_is_undone_forgets_none),
        cmocka_unit_test(another_start_begins_anew),
        cmocka_unit_test(other_services_remember_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

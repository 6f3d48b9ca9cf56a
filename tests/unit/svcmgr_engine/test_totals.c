/** What is counted of a component's containers. */
#include <string.h>

#include "engine_kit.h"

static const struct eng_totals *totals(const struct kit *k)
{
    return &kit_instance(k, "s", "hello-0")->component->totals;
}

static void start(struct kit *k)
{
    kit_start(k, "seed");
    k->service_kind = KIND_SLIDER;
    kit_create(k, kit_spec("s", 1, "NEVER", ""), false);
}

static void each_end_is_counted_by_whose_fault_it_is(void **state)
{
    (void)state;
    struct kit k;
    start(&k);
    static const struct eng_exit ends[] = {{.cause = CAUSE_EXITED, .raw = 0},
                                           {.cause = CAUSE_EXITED, .raw = 1},
                                           {.cause = CAUSE_PREEMPTED},
                                           {.cause = CAUSE_DISK},
                                           {.cause = CAUSE_MEMORY_PHYSICAL}};
    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        kit_exit(&k, "s", "hello-0", ends[i]);
        kit_fire(&k, "s");
    }
    const struct eng_totals *t = totals(&k);
    assert_int_equal(t->n_requested, 6);
    assert_int_equal(t->n_started, 6);
    assert_int_equal(t->n_unplanned, 5);
    assert_int_equal(t->n_preempted, 1);
    assert_int_equal(t->n_node_failed, 1);
    assert_int_equal(t->n_limits, 1);
    assert_int_equal(t->n_failed, 3);
    assert_int_equal(t->n_start_failed, 2);
    assert_int_equal(t->n_released, 0);
    kit_end(&k);
}

static void they_survive_a_restart_and_are_counted_once(void **state)
{
    (void)state;
    struct kit k;
    start(&k);
    kit_exit_code(&k, "s", "hello-0", 1);
    kit_fire(&k, "s");
    kit_crash(&k);
    kit_recover(&k);
    assert_int_equal(totals(&k)->n_started, 2);
    assert_int_equal(totals(&k)->n_failed, 1);
    kit_end(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_end_is_counted_by_whose_fault_it_is),
        cmocka_unit_test(they_survive_a_restart_and_are_counted_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/** What frameworks of the FrameworkLauncher API do differently: see svcmgr/engine/policy_launcher.c. */
#include <string.h>

#include "engine_kit.h"

/** Two tasks under these rules of their role; the kit's rules may have been made before. */
static void start(struct kit *k, struct eng_retry_rule retry, int64_t min_failed, int64_t min_succeeded)
{
    kit_start(k, "seed");
    k->service_kind = KIND_LAUNCHER;
    k->rules = eng_rules_new();
    struct eng_component_rules *role = eng_rules_add(k->rules, "hello");
    role->retry = retry;
    role->min_failed = min_failed;
    role->min_succeeded = min_succeeded;
    kit_create(k, kit_spec("s", 2, "ALWAYS", ""), false);
}

static const struct eng_retry_rule no_retry = {false, 0}, fancy = {true, 0};

/* ---- the rule of a retry, by itself ---- */

static void retries_follow_the_rule(void **state)
{
    (void)state;
    static const struct {
        struct eng_retry_rule rule;
        int64_t n_counted;
        enum eng_exit_type type;
        bool again;
        int64_t n_counted_after;
    } rows[] = {
        {{false, 0}, 0, TYPE_TRANSIENT_NORMAL, false, 0}, {{false, 0}, 0, TYPE_SUCCEEDED, false, 0},
        {{false, 2}, 1, TYPE_UNKNOWN, true, 2},           {{false, 2}, 2, TYPE_UNKNOWN, false, 2},
        {{false, 2}, 0, TYPE_NON_TRANSIENT, true, 1},     {{false, 2}, 0, TYPE_SUCCEEDED, false, 0},
        {{false, -1}, 99, TYPE_NON_TRANSIENT, true, 100}, {{false, -1}, 0, TYPE_SUCCEEDED, false, 0},
        {{false, -2}, 7, TYPE_SUCCEEDED, true, 8},        {{true, 0}, 0, TYPE_TRANSIENT_NORMAL, true, 0},
        {{true, 0}, 0, TYPE_TRANSIENT_CONFLICT, true, 0}, {{true, -1}, 0, TYPE_NON_TRANSIENT, false, 0},
        {{true, -2}, 0, TYPE_NON_TRANSIENT, false, 0},    {{true, 3}, 2, TYPE_UNKNOWN, true, 3},
        {{true, 3}, 3, TYPE_UNKNOWN, false, 3},           {{true, 3}, 0, TYPE_SUCCEEDED, false, 0},
        {{true, -2}, 0, TYPE_SUCCEEDED, true, 1},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct eng_retries tried = {.n_counted = rows[i].n_counted};
        if (eng_retry_decide(&rows[i].rule, &tried, rows[i].type) != rows[i].again ||
            tried.n_counted != rows[i].n_counted_after)
            fail_msg("row %zu: counted %lld", i, (long long)tried.n_counted);
    }
}

static void each_kind_of_retry_is_counted_and_the_last_end_is_not(void **state)
{
    (void)state;
    const struct eng_retry_rule once = {false, 1};
    struct eng_retries tried = {.n_counted = 0};
    assert_true(eng_retry_decide(&once, &tried, TYPE_TRANSIENT_CONFLICT));
    assert_false(eng_retry_decide(&once, &tried, TYPE_NON_TRANSIENT));
    assert_int_equal(tried.n_conflict, 1);
    assert_int_equal(tried.n_non_transient, 0);
}

/* ---- tasks ---- */

static void a_task_is_tried_again_by_the_type_of_its_exit(void **state)
{
    (void)state;
    static const struct {
        enum eng_exit_cause cause;
        int64_t raw;
        bool again;
    } rows[] = {
        {CAUSE_EXITED, 193, true},      {CAUSE_EXITED, 194, false},        {CAUSE_EXITED, 1, false},
        {CAUSE_EXITED, 205, true},      {CAUSE_SIGNALLED, 9, true},        {CAUSE_SIGNALLED, 11, false},
        {CAUSE_PREEMPTED, 0, true},     {CAUSE_MEMORY_PHYSICAL, 0, false}, {CAUSE_MEMORY_VIRTUAL, 0, false},
        {CAUSE_LOST, 0, true},          {CAUSE_MIGRATED, 0, true},         {CAUSE_EXPIRED, 0, true},
        {CAUSE_PORT_CONFLICT, 0, true}, {CAUSE_RESYNC, 0, false},          {CAUSE_DISK, 0, true},
        {CAUSE_UNKNOWN, 0, false}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct kit k;
        start(&k, fancy, 0, 0);
        kit_exit(&k, "s", "hello-0", eng_exit_of(rows[i].cause, rows[i].raw, NULL));
        if (kit_state(&k, "s", "hello-0") != (int)(rows[i].again ? INST_PENDING : INST_FAILED))
            fail_msg("%s %lld: %s", eng_exit_cause_word(rows[i].cause), (long long)rows[i].raw,
                     kit_list(&k, "s"));
        kit_end(&k);
    }
}

static void a_task_keeps_its_number_and_counts_its_retries(void **state)
{
    (void)state;
    struct kit k;
    start(&k, (struct eng_retry_rule){false, 2}, 1, 0);
    for (int i = 0; i < 2; i++) {
        kit_exit_code(&k, "s", "hello-1", 1);
        kit_fire(&k, "s");
    }
    kit_crash(&k);
    kit_recover(&k);
    assert_int_equal(kit_instance(&k, "s", "hello-1")->retries->n_counted, 2);
    assert_int_equal(kit_instance(&k, "s", "hello-1")->retries->n_unknown, 2);
    kit_exit_code(&k, "s", "hello-1", 1);
    assert_int_equal(kit_service(&k, "s")->state, SVC_FAILED);
    kit_end(&k);
}

/* ---- the completion of the application ---- */

static void by_default_the_first_failed_task_ends_it_with_its_exit(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    k.service_kind = KIND_LAUNCHER;
    kit_create(&k, kit_spec("s", 2, "ALWAYS", ""), false);
    kit_exit_code(&k, "s", "hello-0", 0);
    assert_int_equal(kit_state(&k, "s", "hello-0"), INST_SUCCEEDED);
    kit_exit_code(&k, "s", "hello-1", 42);
    const struct eng_service *s = kit_service(&k, "s");
    assert_int_equal(s->state, SVC_FAILED);
    assert_int_equal(s->exit->raw, 42);
    assert_string_equal(s->trigger, "hello-1");
    assert_string_equal(s->diagnostics,
                        "FailedTaskCount 1 has reached MinFailedTaskCount 1 in TaskRole [hello]");
    kit_end(&k);
}

static void enough_successes_end_it_well(void **state)
{
    (void)state;
    struct kit k;
    start(&k, no_retry, 1, 1);
    kit_exit_code(&k, "s", "hello-1", 0);
    const struct eng_service *s = kit_service(&k, "s");
    assert_int_equal(s->state, SVC_SUCCEEDED);
    assert_string_equal(s->trigger, "hello-1");
    kit_end(&k);
}

static void all_tasks_ended_is_a_success_whichever_failed(void **state)
{
    (void)state;
    struct kit k;
    start(&k, no_retry, 0, 0);
    kit_exit_code(&k, "s", "hello-0", 1);
    assert_int_equal(kit_service(&k, "s")->state, SVC_STABLE);
    kit_exit_code(&k, "s", "hello-1", 0);
    const struct eng_service *s = kit_service(&k, "s");
    assert_int_equal(s->state, SVC_SUCCEEDED);
    assert_int_equal(s->exit->raw, 0);
    assert_null(s->trigger);
    assert_string_equal(s->diagnostics,
                        "All Tasks completed and no ApplicationCompletionPolicy has ever been "
                        "triggered: TotalTaskCount: 2, FailedTaskCount: 1");
    kit_end(&k);
}

/** The tasks that are left have all ended before. */
static void fewer_tasks_may_end_it(void **state)
{
    (void)state;
    struct kit k;
    start(&k, no_retry, 0, 0);
    kit_exit_code(&k, "s", "hello-0", 0);
    kit_flex(&k, "s", "hello", 1);
    assert_int_equal(kit_service(&k, "s")->state, SVC_SUCCEEDED);
    kit_end(&k);
}

static void the_highest_number_goes_whatever_its_state(void **state)
{
    (void)state;
    struct kit k;
    start(&k, no_retry, 0, 0);
    kit_exit_code(&k, "s", "hello-1", 1);
    kit_flex(&k, "s", "hello", 1);
    assert_string_equal(kit_list(&k, "s"), "hello-0:READY");
    kit_end(&k);
}

/** A task that is moved has ended, with a cause of its own; its rule says whether it goes on. */
static void a_task_that_is_moved_is_judged_by_its_rule(void **state)
{
    (void)state;
    static const struct {
        struct eng_retry_rule rule;
        enum eng_instance_state after;
    } rows[] = {{{true, 0}, INST_PENDING}, {{false, 1}, INST_PENDING}, {{false, 0}, INST_FAILED}};
    const char *names[] = {"hello-1"};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct kit k;
        start(&k, rows[i].rule, 0, 0);
        kit_ask(&k, (struct eng_event){.kind = EV_REPLACE, .name = "s", .names = names, .n_names = 1});
        assert_int_equal(kit_state(&k, "s", "hello-1"), rows[i].after);
        assert_int_equal(kit_instance(&k, "s", "hello-1")->last_exit->cause, CAUSE_MIGRATED);
        assert_int_equal(kit_state(&k, "s", "hello-0"), INST_READY);
        kit_end(&k);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(retries_follow_the_rule),
        cmocka_unit_test(each_kind_of_retry_is_counted_and_the_last_end_is_not),
        cmocka_unit_test(a_task_is_tried_again_by_the_type_of_its_exit),
        cmocka_unit_test(a_task_keeps_its_number_and_counts_its_retries),
        cmocka_unit_test(by_default_the_first_failed_task_ends_it_with_its_exit),
        cmocka_unit_test(enough_successes_end_it_well),
        cmocka_unit_test(all_tasks_ended_is_a_success_whichever_failed),
        cmocka_unit_test(fewer_tasks_may_end_it),
        cmocka_unit_test(the_highest_number_goes_whatever_its_state),
        cmocka_unit_test(a_task_that_is_moved_is_judged_by_its_rule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

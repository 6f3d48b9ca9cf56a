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

/** The container that is asked for has come. */
static void allocate(struct kit *k)
{
    mem_auto char *id = mem_str(kit_last(k, EFF_REQUEST)->container_id);
    kit_step(k, (struct eng_event){.kind = EV_ALLOCATED, .container_id = id, .host = "node1"});
}

/** Containers of an anti-affine component are asked for one after the other. */
static void one_after_the_other_where_that_is_wanted(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    k.service_kind = KIND_SLIDER;
    k.rules = eng_rules_new();
    eng_rules_add(k.rules, "hello")->one_by_one = true;
    k.obey = false;
    kit_create(&k, kit_spec("s", 4, "ALWAYS", ""), false);
    assert_string_equal(kit_list(&k, "s"),
                        "hello-0:REQUESTED hello-1:PENDING hello-2:PENDING hello-3:PENDING");
    assert_string_equal(kit_wait(&k, "s", "hello-3"),
                        "container not requested yet: those of its component are asked for one at a time");
    assert_int_equal(kit_service(&k, "s")->timer_ms, 0); /* nothing spins */
    allocate(&k);
    assert_string_equal(kit_list(&k, "s"),
                        "hello-0:ALLOCATED hello-1:REQUESTED hello-2:PENDING hello-3:PENDING");
    assert_int_equal(kit_last(&k, EFF_REQUEST)->request->n_wanted, 1);
    kit_crash(&k);
    kit_step(&k, (struct eng_event){.kind = EV_RESUME});
    for (int i = 0; i < 2; i++) { /* the container that was held is asked for once more, too */
        assert_int_equal(kit_state(&k, "s", "hello-2"), INST_PENDING);
        const struct eng_instance *inst = kit_instance(&k, "s", i ? "hello-1" : "hello-0");
        assert_int_equal(inst->state, INST_REQUESTED);
        mem_auto char *id = mem_str(inst->container_id);
        kit_step(&k, (struct eng_event){.kind = EV_ALLOCATED, .container_id = id, .host = "node1"});
    }
    assert_int_equal(kit_state(&k, "s", "hello-2"), INST_REQUESTED);
    assert_int_equal(kit_state(&k, "s", "hello-3"), INST_PENDING);
    kit_clear(&k);
    kit_flex(&k, "s", "hello", 2); /* what waits for its turn goes first, then what is asked for */
    assert_int_equal(kit_state(&k, "s", "hello-3"), -1);
    assert_int_equal(kit_state(&k, "s", "hello-2"), -1);
    assert_int_equal(kit_count(&k, EFF_CANCEL_REQUEST), 1);
    assert_int_equal(kit_count(&k, EFF_STOP), 0);
    kit_end(&k);
}

/* ---- containers that no instance has ---- */

/** The id of a container of the service's application. free() */
static char *stray(const struct kit *k, const char *epoch, int n)
{
    const char *numbers = strchr(kit_service(k, "s")->app_id, '_') + 1;
    return mem_fmt("container_%s%s_01_%06d", epoch, numbers, n);
}

static void step_stray(struct kit *k, enum eng_event_kind kind, const char *epoch, int n)
{
    mem_auto char *id = stray(k, epoch, n);
    kit_step(k, (struct eng_event){.kind = kind,
                                   .container_id = id,
                                   .host = "node1",
                                   .exit = eng_exit_of(CAUSE_ABORTED, 0, NULL)});
}

static void strays_are(const struct kit *k, int64_t n_surplus, int64_t n_unknown)
{
    assert_int_equal(kit_service(k, "s")->n_surplus, n_surplus);
    assert_int_equal(kit_service(k, "s")->n_unknown_ended, n_unknown);
}

static void a_container_beyond_what_was_asked_for_is_surplus(void **state)
{
    (void)state;
    struct kit k;
    start(&k, 2, "");
    kit_clear(&k);
    step_stray(&k, EV_ALLOCATED, "", 900);
    assert_int_equal(kit_count(&k, EFF_RELEASE), 1); /* at once */
    step_stray(&k, EV_ALLOCATED, "", 900);           /* the same report again */
    strays_are(&k, 1, 0);
    step_stray(&k, EV_ALLOCATED, "e17_", 901);
    strays_are(&k, 2, 0);
    step_stray(&k, EV_EXITED, "", 900); /* what was given back has ended */
    strays_are(&k, 2, 0);
    assert_string_equal(kit_list(&k, "s"), "hello-0:READY hello-1:READY");
    kit_end(&k);
}

static void an_end_of_what_it_never_had_is_unknown(void **state)
{
    (void)state;
    struct kit k;
    start(&k, 2, "");
    mem_auto char *was = mem_str(kit_instance(&k, "s", "hello-0")->container_id);
    kit_exit_code(&k, "s", "hello-0", 0);
    kit_step(&k, (struct eng_event){.kind = EV_EXITED, .container_id = was}); /* reported twice */
    strays_are(&k, 0, 0);
    step_stray(&k, EV_EXITED, "", 900);
    step_stray(&k, EV_LOST, "", 901);
    strays_are(&k, 0, 2);
    kit_step(&k, (struct eng_event){.kind = EV_EXITED, .container_id = "container_1_0001_01_000009"});
    kit_step(&k, (struct eng_event){.kind = EV_EXITED, .container_id = "no id"});
    kit_crash(&k);
    kit_recover(&k);
    strays_are(&k, 0, 2);
    kit_request(&k, EV_STOP, "s");
    kit_request(&k, EV_START, "s");
    strays_are(&k, 0, 0);
    kit_end(&k);
}

static void a_short_life_is_what_the_rules_say(void **state)
{
    (void)state;
    static const struct {
        int64_t short_life_ms, lived_ms, n_start_failed;
    } rows[] = {{60000, 59000, 1}, {60000, 60000, 0}, {0, 1, 0}, {3600000, 3599000, 1}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct kit k;
        kit_start(&k, "seed");
        k.service_kind = KIND_SLIDER;
        k.rules = eng_rules_new();
        assert_int_equal(k.rules->short_life_ms, 60000);
        k.rules->short_life_ms = rows[i].short_life_ms;
        kit_create(&k, kit_spec("s", 1, "ALWAYS", ""), false);
        k.now_ms += rows[i].lived_ms;
        kit_exit_code(&k, "s", "hello-0", 1);
        assert_int_equal(kit_instance(&k, "s", "hello-0")->component->totals.n_start_failed,
                         rows[i].n_start_failed);
        kit_end(&k);
    }
}

/** A window is an hour from its first failure, by whatever is counted in it. */
static void a_window_is_as_long_as_it_is_said(void **state)
{
    (void)state;
    struct kit k;
    start(&k, 1,
          ",\"configuration\":{\"properties\":{\"yarn.service.failure-count-reset.window\":\"3600\"}}");
    kit_exit_code(&k, "s", "hello-0", 1);
    kit_fire(&k, "s");
    const struct eng_component *c = kit_instance(&k, "s", "hello-0")->component;
    int64_t begin_ms = c->window_end_ms - 3600000;
    k.now_ms = begin_ms + 3599999;
    kit_exit_code(&k, "s", "hello-0", 1);
    assert_int_equal(c->n_failures, 2);
    kit_fire(&k, "s");
    k.now_ms = begin_ms + 3600001;
    kit_exit_code(&k, "s", "hello-0", 1);
    assert_int_equal(c->n_failures, 1);
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
        cmocka_unit_test(one_after_the_other_where_that_is_wanted),
        cmocka_unit_test(a_container_beyond_what_was_asked_for_is_surplus),
        cmocka_unit_test(an_end_of_what_it_never_had_is_unknown),
        cmocka_unit_test(a_short_life_is_what_the_rules_say),
        cmocka_unit_test(a_window_is_as_long_as_it_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

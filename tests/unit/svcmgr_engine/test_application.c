/** Applications of a cluster that takes them, the end of a framework, and what comes between two incarnations. */
#include <string.h>

#include "engine_kit.h"

/** An engine whose cluster takes applications; nobody obeys. */
static void start(struct kit *k, enum eng_kind kind)
{
    kit_start(k, "seed");
    k->cfg.submits = true;
    kit_crash(k);
    kit_recover(k);
    kit_clear(k);
    k->service_kind = kind;
    k->obey = false;
}

static void create(struct kit *k, int n)
{
    kit_create(k, kit_spec("s", n, "ALWAYS", ""), false);
}

static int state_of(const struct kit *k)
{
    const struct eng_service *s = kit_service(k, "s");
    return s ? (int)s->state : -1;
}

/** Let the world obey from now on, with what waits. */
static void obey(struct kit *k)
{
    k->obey = true;
    kit_advance(k, "s", 0);
}

/* ---- submission ---- */

static void an_application_is_submitted_before_anything_is_asked_for(void **state)
{
    (void)state;
    struct kit k;
    start(&k, KIND_SERVICE);
    create(&k, 1);
    assert_int_equal(state_of(&k), SVC_SUBMITTING);
    assert_int_equal(kit_count(&k, EFF_REQUEST), 0);
    const struct eng_effect *submit = kit_last(&k, EFF_SUBMIT);
    assert_string_equal(submit->application->id, kit_service(&k, "s")->app_id);
    assert_string_equal(submit->application->queue, "default");
    kit_application(&k, submit,
                    (struct eng_event){.kind = EV_SUBMITTED, .application_id = "application_7_0001"});
    assert_int_equal(state_of(&k), SVC_STARTED);
    assert_string_equal(kit_service(&k, "s")->app_id, "application_7_0001");
    assert_string_equal(kit_last(&k, EFF_PUBLISH)->record->yarn_id, "application_7_0001");
    assert_int_equal(kit_count(&k, EFF_REQUEST), 1);
    kit_end(&k);
}

static void a_cluster_without_applications_is_not_asked(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    create(&k, 1);
    assert_int_equal(state_of(&k), SVC_STABLE);
    kit_request(&k, EV_STOP, "s");
    assert_int_equal(state_of(&k), SVC_STOPPED);
    assert_int_equal(kit_count(&k, EFF_SUBMIT) + kit_count(&k, EFF_FINISH), 0);
    kit_end(&k);
}

static void a_refused_application_fails_the_service(void **state)
{
    (void)state;
    struct kit k;
    start(&k, KIND_SERVICE);
    create(&k, 1);
    kit_application(
        &k, kit_last(&k, EFF_SUBMIT),
        (struct eng_event){.kind = EV_SUBMITTED, .code = ERR_INVALID, .text = "no queue nowhere"});
    const struct eng_service *s = kit_service(&k, "s");
    assert_int_equal(s->state, SVC_FAILED);
    assert_int_equal(s->exit->cause, CAUSE_SUBMISSION_FAILED);
    assert_string_equal(s->diagnostics, "the application could not be submitted: no queue nowhere");
    assert_int_equal(kit_count(&k, EFF_FINISH), 0); /* there is none to end */
    kit_end(&k);
}

static void a_submission_without_an_answer_is_repeated_after_a_restart(void **state)
{
    (void)state;
    struct kit k;
    start(&k, KIND_SERVICE);
    create(&k, 1);
    kit_crash(&k);
    kit_recover(&k);
    assert_int_equal(kit_count(&k, EFF_SUBMIT), 1);
    kit_application(&k, kit_last(&k, EFF_SUBMIT), (struct eng_event){.kind = EV_SUBMITTED});
    assert_int_equal(state_of(&k), SVC_STARTED);
    kit_application(&k, kit_last(&k, EFF_SUBMIT),
                    (struct eng_event){.kind = EV_SUBMITTED}); /* of the first one */
    assert_int_equal(state_of(&k), SVC_STARTED);
    kit_end(&k);
}

static void a_service_that_is_being_submitted_can_be_stopped(void **state)
{
    (void)state;
    struct kit k;
    start(&k, KIND_SERVICE);
    create(&k, 1);
    kit_request(&k, EV_STOP, "s");
    assert_int_equal(state_of(&k), SVC_FINISHING); /* the application may be there */
    kit_application(&k, kit_last(&k, EFF_SUBMIT), (struct eng_event){.kind = EV_SUBMITTED});
    assert_int_equal(state_of(&k), SVC_FINISHING);
    kit_application(&k, kit_last(&k, EFF_FINISH), (struct eng_event){.kind = EV_APP_ENDED});
    assert_int_equal(state_of(&k), SVC_STOPPED);
    kit_end(&k);
}

/* ---- its end ---- */

static void a_service_has_ended_when_its_application_has(void **state)
{
    (void)state;
    struct kit k;
    start(&k, KIND_SERVICE);
    create(&k, 1);
    obey(&k);
    assert_int_equal(state_of(&k), SVC_STABLE);
    k.obey = false;
    kit_request(&k, EV_STOP, "s");
    assert_int_equal(kit_count(&k, EFF_FINISH), 0); /* its container first */
    mem_auto char *id = mem_str(kit_last(&k, EFF_STOP)->container_id);
    kit_step(&k, (struct eng_event){
                     .kind = EV_EXITED, .container_id = id, .exit = eng_exit_of(CAUSE_STOPPED, 0, NULL)});
    assert_int_equal(kit_count(&k, EFF_FINISH), 1);
    assert_int_equal(kit_last(&k, EFF_FINISH)->application->end_state, SVC_STOPPED);
    kit_fire(&k, "s"); /* no answer: once more */
    assert_int_equal(kit_count(&k, EFF_FINISH), 2);
    kit_crash(&k);
    kit_recover(&k);
    assert_int_equal(kit_count(&k, EFF_FINISH), 1);
    kit_application(&k, kit_last(&k, EFF_FINISH), (struct eng_event){.kind = EV_APP_ENDED});
    assert_int_equal(state_of(&k), SVC_STOPPED);
    kit_end(&k);
}

static void an_application_that_ends_by_itself_ends_the_service(void **state)
{
    (void)state;
    static const struct {
        enum eng_exit_cause cause;
        int64_t raw;
        enum eng_service_state end;
    } rows[] = {{CAUSE_EXITED, 0, SVC_SUCCEEDED}, {CAUSE_EXITED, 3, SVC_FAILED}, {CAUSE_LOST, 0, SVC_FAILED}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct kit k;
        start(&k, KIND_SLIDER);
        create(&k, 2);
        obey(&k);
        kit_application(
            &k, kit_last(&k, EFF_SUBMIT),
            (struct eng_event){.kind = EV_APP_ENDED, .exit = eng_exit_of(rows[i].cause, rows[i].raw, NULL)});
        kit_advance(&k, "s", 0);
        assert_int_equal(state_of(&k), rows[i].end);
        assert_int_equal(kit_service(&k, "s")->exit->cause, rows[i].cause);
        assert_int_equal(kit_count(&k, EFF_FINISH), 0);
        kit_end(&k);
    }
}

static void answers_of_an_earlier_incarnation_are_ignored(void **state)
{
    (void)state;
    struct kit k;
    start(&k, KIND_SERVICE);
    create(&k, 1);
    obey(&k);
    kit_request(&k, EV_STOP, "s");
    kit_request(&k, EV_START, "s");
    assert_int_equal(state_of(&k), SVC_STABLE);
    kit_step(&k, (struct eng_event){.kind = EV_APP_ENDED,
                                    .user = "alice",
                                    .name = "s",
                                    .incarnation = 1,
                                    .exit = eng_exit_of(CAUSE_LOST, 0, NULL)});
    assert_int_equal(state_of(&k), SVC_STABLE);
    kit_end(&k);
}

static void a_lifetime_is_passed_on(void **state)
{
    (void)state;
    struct kit k;
    start(&k, KIND_SERVICE);
    create(&k, 1);
    obey(&k);
    kit_step(&k, (struct eng_event){
                     .kind = EV_LIFETIME, .token = 5, .user = "alice", .name = "s", .lifetime_s = 77});
    assert_int_equal(kit_last(&k, EFF_SET_LIFETIME)->application->lifetime_s, 77);
    kit_end(&k);
}

/* ---- what an ended framework keeps ---- */

static void an_ended_framework_keeps_its_tasks(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    k.service_kind = KIND_LAUNCHER;
    create(&k, 3);
    kit_exit_code(&k, "s", "hello-0", 0);
    kit_exit_code(&k, "s", "hello-1", 9); /* the first failure ends it */
    assert_int_equal(state_of(&k), SVC_FAILED);
    kit_crash(&k);
    kit_recover(&k);
    assert_string_equal(kit_list(&k, "s"), "hello-0:SUCCEEDED hello-1:FAILED hello-2:STOPPED");
    assert_int_equal(kit_instance(&k, "s", "hello-1")->last_exit->raw, 9);
    assert_int_equal(kit_instance(&k, "s", "hello-2")->last_exit->cause, CAUSE_APPLICATION_ENDED);
    assert_null(kit_instance(&k, "s", "hello-2")->container_id);
    assert_int_equal(kit_request(&k, EV_START, "s"), OUT_RECORDED);
    kit_end(&k);
}

static void a_destroyed_framework_leaves_no_document(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    k.service_kind = KIND_LAUNCHER;
    create(&k, 200);
    kit_request(&k, EV_STOP, "s");
    assert_int_equal(state_of(&k), SVC_STOPPED);
    assert_int_equal(kit_instance(&k, "s", "hello-199")->state, INST_STOPPED);
    assert_int_equal(kit_request(&k, EV_DESTROY, "s"), OUT_DESTROYED);
    mem_auto const char **keys = map_sorted_keys(&k.store);
    for (size_t i = 0; keys[i]; i++)
        assert_string_equal(keys[i], "engine");
    kit_end(&k);
}

/* ---- retries of a framework ---- */

/** One task; it is not tried again, its framework by this rule. */
static void framework(struct kit *k, struct eng_retry_rule retry)
{
    kit_start(k, "seed");
    k->service_kind = KIND_LAUNCHER;
    k->rules = eng_rules_new();
    k->rules->retry = retry;
    create(k, 2);
}

static void a_framework_is_tried_again_with_new_tasks(void **state)
{
    (void)state;
    struct kit k;
    framework(&k, (struct eng_retry_rule){false, 1});
    mem_auto char *first = mem_str(kit_service(&k, "s")->app_id);
    kit_exit_code(&k, "s", "hello-0", 1);
    const struct eng_service *s = kit_service(&k, "s");
    assert_int_equal(s->state, SVC_BACKOFF);
    kit_fire(&k, "s");
    s = kit_service(&k, "s");
    assert_int_equal(s->state, SVC_STABLE);
    assert_int_equal(s->incarnation, 2);
    assert_string_not_equal(s->app_id, first);
    assert_string_equal(kit_list(&k, "s"), "hello-0:READY hello-1:READY");
    assert_null(kit_instance(&k, "s", "hello-0")->last_exit);
    assert_int_equal(s->retries->n_counted, 1);
    kit_exit_code(&k, "s", "hello-0", 1);
    assert_int_equal(state_of(&k), SVC_FAILED);
    assert_int_equal(kit_service(&k, "s")->retries->n_counted, 1); /* the last one is no retry */
    kit_end(&k);
}

static int say_progress(struct kit *k, int64_t ppm)
{
    struct eng_event ev = {.kind = EV_PROGRESS,
                           .token = ++k->token,
                           .service_kind = KIND_LAUNCHER,
                           .user = "alice",
                           .name = "s",
                           .progress_ppm = ppm};
    kit_step(k, ev);
    return (int)kit_last(k, EFF_ANSWER)->answer->outcome;
}

/** The share of its tasks that have ended, or what was said; it is 1 at the end, whatever was said. */
static void progress_is_counted_or_said(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    k.service_kind = KIND_LAUNCHER;
    k.rules = eng_rules_new();
    eng_rules_add(k.rules, "hello")->min_failed = 4;
    create(&k, 4);
    assert_int_equal(eng_service_progress_ppm(kit_service(&k, "s")), 0);
    kit_exit_code(&k, "s", "hello-0", 0);
    assert_int_equal(eng_service_progress_ppm(kit_service(&k, "s")), 250000);
    assert_int_equal(say_progress(&k, 420000), OUT_PROGRESS_SET);
    kit_exit_code(&k, "s", "hello-1", 1);
    kit_crash(&k); /* it is stored */
    kit_recover(&k);
    assert_int_equal(eng_service_progress_ppm(kit_service(&k, "s")), 420000);
    kit_exit_code(&k, "s", "hello-2", 0);
    kit_exit_code(&k, "s", "hello-3", 0);
    assert_int_equal(state_of(&k), SVC_SUCCEEDED);
    assert_int_equal(eng_service_progress_ppm(kit_service(&k, "s")), 1000000);
    kit_end(&k);
}

/** One that ends as soon as it runs does not come back as fast as it can; one that was up for long starts anew with the first pause. */
static void a_framework_that_fails_at_once_waits_longer_each_time(void **state)
{
    (void)state;
    struct kit k;
    int64_t before_ms = 0;
    framework(&k, (struct eng_retry_rule){false, -2});
    for (int i = 0; i < 12; i++) {
        kit_exit_code(&k, "s", "hello-0", 1);
        const struct eng_service *s = kit_service(&k, "s");
        int64_t pause_ms = s->backoff_due_ms - k.now_ms;
        assert_int_equal(s->state, SVC_BACKOFF);
        assert_true(pause_ms > before_ms || pause_ms == k.cfg.retry_interval_ms);
        before_ms = pause_ms;
        kit_crash(&k); /* the pause is kept */
        kit_recover(&k);
        kit_fire(&k, "s");
    }
    assert_int_equal(before_ms, k.cfg.retry_interval_ms);
    k.now_ms += 600000;
    kit_exit_code(&k, "s", "hello-0", 1);
    assert_true(kit_service(&k, "s")->backoff_due_ms - k.now_ms < before_ms);
    kit_end(&k);
}

/** The first conflict waits for the least pause, a later one by chance for longer. */
static void a_conflict_waits_before_the_next_try(void **state)
{
    (void)state;
    struct kit k;
    framework(&k, (struct eng_retry_rule){true, 0});
    for (int i = 0; i < 3; i++) {
        k.random = i == 2 ? 1000000007 : 0;
        kit_exit(&k, "s", "hello-1", eng_exit_of(CAUSE_EXPIRED, 0, NULL));
        const struct eng_service *s = kit_service(&k, "s");
        int64_t pause_ms = s->backoff_due_ms - k.now_ms;
        assert_int_equal(s->state, SVC_BACKOFF);
        if (i < 2)
            assert_int_equal(pause_ms, 600000);
        else
            assert_true(pause_ms > 600000 && pause_ms <= 1600000);
        kit_crash(&k); /* the time is kept */
        kit_recover(&k);
        assert_int_equal(state_of(&k), SVC_BACKOFF);
        kit_fire(&k, "s");
        assert_int_equal(state_of(&k), SVC_STABLE);
    }
    kit_end(&k);
}

static void a_framework_that_waits_can_be_stopped_and_destroyed(void **state)
{
    (void)state;
    static const enum eng_event_kind requests[] = {EV_STOP, EV_DESTROY};
    for (size_t i = 0; i < ARRAY_LEN(requests); i++) {
        struct kit k;
        framework(&k, (struct eng_retry_rule){true, 0});
        kit_exit(&k, "s", "hello-1", eng_exit_of(CAUSE_EXPIRED, 0, NULL));
        assert_int_equal(state_of(&k), SVC_BACKOFF);
        kit_request(&k, requests[i], "s");
        assert_int_equal(state_of(&k), requests[i] == EV_STOP ? (int)SVC_STOPPED : -1);
        kit_end(&k);
    }
}

static void a_stop_while_a_framework_ends_is_the_last_word(void **state)
{
    (void)state;
    struct kit k;
    framework(&k, (struct eng_retry_rule){false, -2});
    k.obey = false;
    kit_exit_code(&k, "s", "hello-0", 1);
    assert_int_equal(state_of(&k), SVC_FINISHING);
    assert_int_equal(kit_request(&k, EV_STOP, "s"), OUT_STOPPED);
    obey(&k);
    assert_int_equal(state_of(&k), SVC_STOPPED);
    kit_end(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_application_is_submitted_before_anything_is_asked_for),
        cmocka_unit_test(a_cluster_without_applications_is_not_asked),
        cmocka_unit_test(a_refused_application_fails_the_service),
        cmocka_unit_test(a_submission_without_an_answer_is_repeated_after_a_restart),
        cmocka_unit_test(a_service_that_is_being_submitted_can_be_stopped),
        cmocka_unit_test(a_service_has_ended_when_its_application_has),
        cmocka_unit_test(an_application_that_ends_by_itself_ends_the_service),
        cmocka_unit_test(answers_of_an_earlier_incarnation_are_ignored),
        cmocka_unit_test(a_lifetime_is_passed_on),
        cmocka_unit_test(an_ended_framework_keeps_its_tasks),
        cmocka_unit_test(a_destroyed_framework_leaves_no_document),
        cmocka_unit_test(a_framework_is_tried_again_with_new_tasks),
        cmocka_unit_test(a_framework_that_fails_at_once_waits_longer_each_time),
        cmocka_unit_test(progress_is_counted_or_said),
        cmocka_unit_test(a_conflict_waits_before_the_next_try),
        cmocka_unit_test(a_framework_that_waits_can_be_stopped_and_destroyed),
        cmocka_unit_test(a_stop_while_a_framework_ends_is_the_last_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

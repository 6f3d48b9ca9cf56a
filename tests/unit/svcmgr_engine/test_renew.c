/** Another version of a framework: everything ends, and starts anew from it. See svcmgr/engine/backoff.c. */
#include <string.h>

#include "engine_kit.h"

/** A framework "s" of that version with n tasks; what it is defined as, once more. */
static char *definition(const char *version, int n)
{
    return mem_fmt(
        "{\"name\":\"s\",\"version\":\"%s\",\"components\":[{\"name\":\"hello\",\"number_of_containers\":%d,"
        "\"launch_command\":\"run %s\",\"resource\":{\"cpus\":1,\"memory\":\"64\"}}]}",
        version, n, version);
}

static void start(struct kit *k, int n)
{
    mem_auto char *text = definition("1", n);
    kit_start(k, "seed");
    k->service_kind = KIND_LAUNCHER;
    kit_create(k, text, false);
}

static struct eng_event redefined(struct kit *k, const char *version, int n)
{
    mem_auto char *text = definition(version, n);
    return (struct eng_event){.kind = EV_REDEFINE,
                              .token = ++k->token,
                              .service_kind = k->service_kind,
                              .user = k->user,
                              .name = "s",
                              .take_spec = kit_spec_of(k, text),
                              .take_rules = eng_rules_new()};
}

static void redefine(struct kit *k, const char *version, int n)
{
    struct eng_event ev = redefined(k, version, n);
    kit_step(k, ev);
    assert_int_equal(kit_last(k, EFF_ANSWER)->answer->outcome, OUT_REDEFINED);
}

static int state_of(const struct kit *k)
{
    const struct eng_service *s = kit_service(k, "s");
    return s ? (int)s->state : -1;
}

static void another_version_starts_everything_anew(void **state)
{
    (void)state;
    struct kit k;
    start(&k, 2);
    kit_exit_code(&k, "s", "hello-0", 0); /* it is final in the first version */
    redefine(&k, "2", 1);
    const struct eng_service *s = kit_service(&k, "s");
    assert_int_equal(s->state, SVC_STABLE);
    assert_int_equal(s->incarnation, 2);
    assert_string_equal(s->spec->version, "2");
    assert_null(s->next_spec);
    assert_string_equal(kit_list(&k, "s"), "hello-0:READY");
    assert_non_null(strstr(kit_last(&k, EFF_LAUNCH)->launch->command, "run 2"));
    kit_end(&k);
}

static void the_same_version_is_taken_in_place(void **state)
{
    (void)state;
    struct kit k;
    start(&k, 2);
    redefine(&k, "1", 3);
    const struct eng_service *s = kit_service(&k, "s");
    assert_int_equal(s->incarnation, 1);
    assert_string_equal(kit_list(&k, "s"), "hello-0:READY hello-1:READY hello-2:READY");
    assert_non_null(s->rules); /* those of the event */
    kit_end(&k);
}

static void what_has_ended_starts_with_another_version(void **state)
{
    (void)state;
    struct kit k;
    start(&k, 150);
    kit_exit_code(&k, "s", "hello-7", 3);
    assert_int_equal(state_of(&k), SVC_FAILED);
    redefine(&k, "2", 2);
    assert_int_equal(state_of(&k), SVC_STABLE);
    assert_string_equal(kit_list(&k, "s"), "hello-0:READY hello-1:READY");
    assert_null(kit_service(&k, "s")->exit);
    kit_end(&k);
}

static void a_stop_meanwhile_keeps_the_new_version_stopped(void **state)
{
    (void)state;
    struct kit k;
    start(&k, 2);
    k.obey = false;
    redefine(&k, "2", 1);
    assert_int_equal(state_of(&k), SVC_FINISHING);
    assert_int_equal(kit_request(&k, EV_STOP, "s"), OUT_STOPPED);
    k.obey = true;
    kit_advance(&k, "s", 0);
    assert_int_equal(state_of(&k), SVC_STOPPED);
    assert_string_equal(kit_service(&k, "s")->spec->version, "2");
    assert_int_equal(kit_request(&k, EV_START, "s"), OUT_RECORDED);
    kit_end(&k);
}

static void a_destroyed_framework_does_not_start_anew(void **state)
{
    (void)state;
    struct kit k;
    start(&k, 2);
    k.obey = false;
    redefine(&k, "2", 1);
    kit_request(&k, EV_DESTROY, "s");
    k.obey = true;
    kit_advance(&k, "s", 0);
    assert_int_equal(state_of(&k), -1);
    kit_end(&k);
}

/** The power fails after each step of a change; after the next start it has come about. */
static void a_change_survives_a_crash_after_each_step(void **state)
{
    (void)state;
    bool is_over = false;
    for (size_t n = 1; !is_over; n++) {
        struct kit k;
        start(&k, 70);
        k.last_step = k.n_steps + n;
        kit_step(&k, redefined(&k, "2", 2));
        is_over = k.n_steps < k.last_step;
        kit_crash(&k);
        kit_recover(&k);
        assert_int_equal(state_of(&k), SVC_STABLE);
        assert_string_equal(kit_service(&k, "s")->spec->version, "2");
        assert_string_equal(kit_list(&k, "s"), "hello-0:READY hello-1:READY");
        kit_end(&k);
    }
}

static void a_change_that_cannot_be_stored_is_undone(void **state)
{
    (void)state;
    struct kit k;
    start(&k, 2);
    kit_undone(&k, redefined(&k, "2", 1));
    assert_int_equal(state_of(&k), SVC_STABLE);
    assert_null(kit_service(&k, "s")->next_spec);
    assert_string_equal(kit_list(&k, "s"), "hello-0:READY hello-1:READY");
    kit_end(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_version_starts_everything_anew),
        cmocka_unit_test(the_same_version_is_taken_in_place),
        cmocka_unit_test(what_has_ended_starts_with_another_version),
        cmocka_unit_test(a_stop_meanwhile_keeps_the_new_version_stopped),
        cmocka_unit_test(a_destroyed_framework_does_not_start_anew),
        cmocka_unit_test(a_change_survives_a_crash_after_each_step),
        cmocka_unit_test(a_change_that_cannot_be_stored_is_undone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/** What a request would do, without doing it. */
#include "engine_kit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/plan.h"

#define DRAIN  ",\"configuration\":{\"properties\":{\"yarn.service.drain.seconds\":\"5\"}}"
#define PROBED ",\"readiness_check\":{\"type\":\"HTTP\",\"properties\":{\"url\":\"http://${THIS_HOST}/\"}}"

static const char *definition(const char *version, int n, const char *more)
{
    static char text[1024];
    snprintf(text, sizeof text,
             "{\"name\":\"web\",\"version\":\"%s\",\"components\":[{\"name\":\"hello\","
             "\"number_of_containers\":%d,\"launch_command\":\"run %s\"%s,"
             "\"resource\":{\"cpus\":1,\"memory\":\"64\"}}]}",
             version, n, version, more);
    return text;
}

static void start(struct kit *k, int n, const char *more)
{
    kit_start(k, "seed");
    kit_create(k, definition("1", n, more), false);
    assert_int_equal(kit_service(k, "web")->state, SVC_STABLE);
}

/** Of a plan that is done. */
static void write_steps(const struct eng_plan *p, struct buf *out)
{
    size_t n;
    const struct eng_planned_step *const *steps = eng_plan_steps(p, &n);
    for (size_t i = 0; i < n; i++) {
        const struct eng_planned_step *s = steps[i];
        buf_addf(out, "%s %s %s>%s", s->instance, eng_planned_word(s->action), s->from ? s->from : "-",
                 s->to ? s->to : "-");
        if (s->after)
            buf_addf(out, " after %s", s->after);
        if (s->drain_s)
            buf_addf(out, " drain %lld", (long long)s->drain_s);
        if (s->at_ms)
            buf_addf(out, " at %lld", (long long)s->at_ms);
        buf_addf(out, "\n");
    }
}

static struct eng_plan *plan_of(struct kit *k, struct eng_event ev)
{
    const char *name = ev.take_spec ? ev.take_spec->name : ev.name;
    struct eng_plan *p = eng_plan_new(k->e, KIND_SERVICE, k->user, name);
    int done;
    while ((done = eng_plan_copy(p, k->e, 2)) != 1 && done >= 0)
        ;
    assert_int_equal(done, 1);
    ev.user = k->user;
    eng_plan_begin(p, k->e, &ev, kit_now(k));
    while (!eng_plan_run(p, 3))
        ;
    assert_true(eng_plan_is_whole(p));
    assert_non_null(eng_plan_answer(p));
    return p;
}

/** The steps that a request would take; it is taken, and nothing has changed. @return outcome */
static int expect_steps(struct kit *k, struct eng_event ev, const char *wanted)
{
    buf_auto struct buf text = BUF_EMPTY;
    const struct eng_service *s = kit_service(k, "web");
    int64_t change = s ? s->change : 0;
    size_t n_effects = k->effects.n;
    struct eng_plan *p = plan_of(k, ev);
    int outcome = (int)eng_plan_answer(p)->outcome;
    write_steps(p, &text);
    assert_string_equal(text.len ? buf_cstr(&text) : "", wanted);
    assert_int_equal(k->effects.n, n_effects);
    assert_ptr_equal(kit_service(k, "web"), s);
    assert_int_equal(s ? s->change : 0, change);
    eng_plan_free(p);
    return outcome;
}

static void an_express_upgrade_goes_from_one_to_the_next(void **state)
{
    (void)state;
    struct kit k;
    start(&k, 3, "");
    struct eng_event ev = {.kind = EV_UPGRADE, .name = "web", .mode = MODE_EXPRESS};
    ev.take_spec = kit_spec_of(&k, definition("2", 3, ""));
    assert_int_equal(expect_steps(&k, ev,
                                  "hello-0 reinit 1>2\n"
                                  "hello-1 reinit 1>2 after hello-0 is READY\n"
                                  "hello-2 reinit 1>2 after hello-1 is READY\n"),
                     OUT_UPGRADING);
    kit_end(&k);
}

static void drains_and_probes_are_waited_for(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, definition("1", 2, DRAIN PROBED), false);
    kit_probe(&k, "web", "hello-0", true);
    kit_probe(&k, "web", "hello-1", true);
    struct eng_event ev = {.kind = EV_UPGRADE, .name = "web", .mode = MODE_EXPRESS};
    ev.take_spec = kit_spec_of(&k, definition("2", 2, DRAIN PROBED));
    expect_steps(&k, ev,
                 "hello-0 reinit 1>2 drain 5\n"
                 "hello-1 reinit 1>2 after hello-0 is READY drain 5 at 5000\n");
    kit_end(&k);
}

static void a_manual_upgrade_moves_nothing_by_itself(void **state)
{
    (void)state;
    struct kit k;
    const char *const names[] = {"hello-1"};
    start(&k, 2, "");
    struct eng_event ev = {.kind = EV_UPGRADE, .name = "web", .mode = MODE_MANUAL};
    ev.take_spec = kit_spec_of(&k, definition("2", 2, ""));
    struct eng_plan *p = plan_of(&k, ev);
    assert_int_equal(eng_plan_service(p)->state, SVC_UPGRADING);
    assert_int_equal(eng_plan_service(p)->wait->why, WAIT_MOVE_REQUESTS);
    eng_plan_free(p);
    ev.take_spec = kit_spec_of(&k, definition("2", 2, ""));
    kit_ask(&k, ev);
    expect_steps(&k, (struct eng_event){.kind = EV_MOVE, .name = "web", .names = names, .n_names = 1},
                 "hello-1 reinit 1>2\n"
                 "hello-0 keep 1>1\n");
    kit_end(&k);
}

static void flex_up_creates_and_down_stops(void **state)
{
    (void)state;
    struct kit k;
    struct eng_flex up = {"hello", 3, false}, down = {"hello", 1, false};
    start(&k, 2, DRAIN);
    expect_steps(&k, (struct eng_event){.kind = EV_FLEX, .name = "web", .flex = &up, .n_flex = 1},
                 "hello-2 create ->1\n"
                 "hello-0 keep 1>1\n"
                 "hello-1 keep 1>1\n");
    expect_steps(&k, (struct eng_event){.kind = EV_FLEX, .name = "web", .flex = &down, .n_flex = 1},
                 "hello-1 stop 1>- drain 5\n"
                 "hello-0 keep 1>1\n");
    kit_end(&k);
}

static void a_stop_and_a_start(void **state)
{
    (void)state;
    struct kit k;
    start(&k, 2, "");
    assert_int_equal(expect_steps(&k, (struct eng_event){.kind = EV_STOP, .name = "web"},
                                  "hello-1 stop 1>-\nhello-0 stop 1>-\n"),
                     OUT_STOPPED);
    kit_request(&k, EV_STOP, "web");
    assert_int_equal(expect_steps(&k, (struct eng_event){.kind = EV_START, .name = "web"},
                                  "hello-0 create ->1\nhello-1 create ->1\n"),
                     OUT_STARTED);
    kit_end(&k);
}

static void a_new_service_waits_for_its_dependency(void **state)
{
    (void)state;
    struct kit k;
    char text[1024];
    snprintf(text, sizeof text, "%s", definition("1", 1, ""));
    kit_start(&k, "seed");
    struct eng_event ev = {.kind = EV_CREATE};
    ev.take_spec = kit_spec_of(&k, text);
    assert_int_equal(expect_steps(&k, ev, "hello-0 create ->1\n"), OUT_LAUNCHED);
    ev.take_spec = kit_spec_of(&k, text);
    ev.take_spec->dependencies = mem_array(1, sizeof(char *));
    ev.take_spec->dependencies[ev.take_spec->n_dependencies++] = mem_str("base");
    struct eng_plan *p = plan_of(&k, ev);
    assert_int_equal(eng_plan_service(p)->state, SVC_ACCEPTED);
    assert_int_equal(eng_plan_service(p)->wait->why, WAIT_SERVICE);
    eng_plan_free(p);
    kit_end(&k);
}

static void a_refusal_is_said_as_it_would_be(void **state)
{
    (void)state;
    struct kit k;
    start(&k, 1, "");
    struct eng_event ev = {.kind = EV_UPGRADE, .name = "web"};
    ev.take_spec = kit_spec_of(&k, definition("1", 1, ""));
    assert_int_equal(expect_steps(&k, ev, "hello-0 keep 1>1\n"), OUT_SAME_VERSION);
    ev = (struct eng_event){.kind = EV_CREATE};
    ev.take_spec = kit_spec_of(&k, definition("1", 1, ""));
    assert_int_equal(expect_steps(&k, ev, "hello-0 keep 1>1\n"), OUT_TAKEN);
    assert_int_equal(expect_steps(&k, (struct eng_event){.kind = EV_STOP, .name = "none"}, ""),
                     OUT_NOT_FOUND);
    kit_end(&k);
}

static void a_service_that_changes_is_copied_anew(void **state)
{
    (void)state;
    struct kit k;
    start(&k, 3, "");
    struct eng_plan *p = eng_plan_new(k.e, KIND_SERVICE, "alice", "web");
    assert_int_equal(eng_plan_copy(p, k.e, 1), 0);
    kit_flex(&k, "web", "hello", 4);
    int done;
    while ((done = eng_plan_copy(p, k.e, 1)) != 1 && done >= 0)
        ;
    assert_int_equal(done, 1);
    eng_plan_begin(p, k.e, &(struct eng_event){.kind = EV_STOP, .user = "alice", .name = "web"}, kit_now(&k));
    while (!eng_plan_run(p, 1))
        ;
    size_t n;
    eng_plan_steps(p, &n);
    assert_int_equal(n, 4);
    eng_plan_free(p);

    p = eng_plan_new(k.e, KIND_SERVICE, "alice", "web");
    for (int i = 0; (done = eng_plan_copy(p, k.e, 1)) != 1 && done >= 0 && i < 1000; i++)
        kit_flex(&k, "web", "hello", 3 + i % 2);
    assert_int_equal(done, ERR_UNAVAILABLE);
    eng_plan_free(p);
    kit_end(&k);
}

/** What is planned is what happens then. */
static void the_plan_is_what_happens(void **state)
{
    (void)state;
    struct kit k;
    start(&k, 5, "");
    struct eng_event ev = {.kind = EV_UPGRADE, .name = "web", .mode = MODE_EXPRESS};
    ev.take_spec = kit_spec_of(&k, definition("2", 5, ""));
    struct eng_plan *p = plan_of(&k, ev);
    ev.take_spec = kit_spec_of(&k, definition("2", 5, ""));
    kit_clear(&k);
    kit_ask(&k, ev);
    size_t n, at = 0;
    const struct eng_planned_step *const *steps = eng_plan_steps(p, &n);
    for (size_t i = 0; i < k.effects.n; i++) {
        if (k.effects.items[i].kind == EFF_REINIT)
            assert_string_equal(k.effects.items[i].launch->instance, steps[at++]->instance);
    }
    assert_int_equal(at, n);
    assert_int_equal(eng_plan_service(p)->state, kit_service(&k, "web")->state);
    assert_string_equal(eng_plan_service(p)->spec->version, kit_service(&k, "web")->spec->version);
    eng_plan_free(p);
    kit_end(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_express_upgrade_goes_from_one_to_the_next),
        cmocka_unit_test(drains_and_probes_are_waited_for),
        cmocka_unit_test(a_manual_upgrade_moves_nothing_by_itself),
        cmocka_unit_test(flex_up_creates_and_down_stops),
        cmocka_unit_test(a_stop_and_a_start),
        cmocka_unit_test(a_new_service_waits_for_its_dependency),
        cmocka_unit_test(a_refusal_is_said_as_it_would_be),
        cmocka_unit_test(a_service_that_changes_is_copied_anew),
        cmocka_unit_test(the_plan_is_what_happens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

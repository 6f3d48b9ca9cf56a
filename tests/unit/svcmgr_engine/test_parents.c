/** Services that end with another one: see svcmgr/engine/parents.c. */
#include <string.h>

#include "engine_kit.h"

/** Make a framework with a parent; "" for none. @return the outcome */
static int create(struct kit *k, const char *name, const char *parent, bool stops, bool goes)
{
    k->rules = eng_rules_new();
    if (parent[0]) {
        struct eng_parent *p = eng_rules_set_parent(k->rules, NULL, parent);
        p->stop_with_parent = stops;
        p->destroy_with_parent = goes;
    }
    return kit_create(k, kit_spec(name, 1, "ALWAYS", ""), false);
}

static void start(struct kit *k)
{
    kit_start(k, "seed");
    k->service_kind = KIND_LAUNCHER;
    assert_int_equal(create(k, "top", "", false, false), OUT_LAUNCHED);
}

static int state_of(const struct kit *k, const char *name)
{
    const struct eng_service *s = kit_service(k, name);
    return s ? (int)s->state : -1;
}

static void what_stops_with_its_parent_stops_and_so_on(void **state)
{
    (void)state;
    struct kit k;
    start(&k);
    create(&k, "middle", "top", true, false);
    create(&k, "leaf", "middle", true, false);
    create(&k, "other", "top", false, true);
    assert_int_equal(kit_request(&k, EV_STOP, "top"), OUT_STOPPED);
    assert_int_equal(state_of(&k, "middle"), SVC_STOPPED);
    assert_int_equal(state_of(&k, "leaf"), SVC_STOPPED);
    assert_string_equal(kit_service(&k, "leaf")->diagnostics, "its parent middle is stopped");
    assert_int_equal(state_of(&k, "other"), SVC_STABLE);
    kit_end(&k);
}

static void what_goes_with_its_parent_goes_and_so_on(void **state)
{
    (void)state;
    struct kit k;
    start(&k);
    create(&k, "middle", "top", false, true);
    create(&k, "leaf", "middle", false, true);
    create(&k, "other", "top", true, false);
    assert_int_equal(kit_request(&k, EV_DESTROY, "top"), OUT_DESTROYED);
    assert_int_equal(state_of(&k, "top"), -1);
    assert_int_equal(state_of(&k, "middle"), -1);
    assert_int_equal(state_of(&k, "leaf"), -1);
    assert_int_equal(state_of(&k, "other"), SVC_STABLE); /* it is gone, not stopped */
    kit_end(&k);
}

/* Power fails after each step of the destruction: after the restart the children follow all the same. */
static void a_crash_on_the_way_loses_no_child(void **state)
{
    (void)state;
    static const enum eng_event_kind kinds[] = {EV_STOP, EV_DESTROY};
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        for (size_t n = 1; n < 12; n++) {
            struct kit k;
            start(&k);
            create(&k, "child", "top", true, true);
            k.last_step = k.n_steps + n;
            kit_request(&k, kinds[i], "top");
            kit_crash(&k);
            kit_recover(&k);
            assert_int_equal(state_of(&k, "child"), kinds[i] == EV_STOP ? SVC_STOPPED : -1);
            kit_end(&k);
        }
    }
}

static void an_end_by_itself_is_no_stop(void **state)
{
    (void)state;
    struct kit k;
    start(&k);
    create(&k, "child", "top", true, true);
    kit_exit_code(&k, "top", "hello-0", 1);
    assert_int_equal(state_of(&k, "top"), SVC_FAILED);
    assert_int_equal(state_of(&k, "child"), SVC_STABLE);
    kit_end(&k);
}

static void without_its_parent_it_cannot_be_made(void **state)
{
    (void)state;
    struct kit k;
    start(&k);
    kit_clear(&k);
    assert_int_equal(create(&k, "child", "nobody", false, true), OUT_NO_PARENT);
    assert_string_equal(kit_last(&k, EFF_ANSWER)->answer->parent, "nobody");
    assert_null(kit_service(&k, "child"));
    assert_int_equal(kit_count(&k, EFF_PERSIST), 0);
    assert_int_equal(create(&k, "child", "nobody", true, false), OUT_LAUNCHED); /* it need not be there */
    assert_int_equal(create(&k, "own", "own", true, true), OUT_LAUNCHED);       /* nor is one its own */
    assert_int_equal(state_of(&k, "own"), SVC_STABLE);
    kit_end(&k);
}

static void with_a_stopped_parent_it_is_made_and_does_not_start(void **state)
{
    (void)state;
    struct kit k;
    k.rules = NULL;
    start(&k);
    kit_request(&k, EV_STOP, "top");
    assert_int_equal(create(&k, "child", "top", true, false), OUT_SAVED);
    assert_int_equal(state_of(&k, "child"), SVC_STOPPED);
    assert_true(kit_service(&k, "child")->is_wanted_stopped);
    assert_int_equal(kit_request(&k, EV_START, "child"), OUT_RECORDED);
    assert_int_equal(create(&k, "free", "top", false, true), OUT_LAUNCHED);
    kit_end(&k);
}

/* Names of frameworks are of all users together, and so are parents. */
static void another_users_framework_may_be_the_parent(void **state)
{
    (void)state;
    struct kit k;
    start(&k);
    k.user = "bob";
    assert_int_equal(create(&k, "child", "top", false, true), OUT_LAUNCHED);
    k.user = "alice";
    kit_request(&k, EV_DESTROY, "top");
    k.user = "bob";
    assert_null(kit_service(&k, "child"));
    kit_end(&k);
}

/* The stop was not stored: the children go on, and follow the next one. */
static void an_undone_stop_is_not_followed(void **state)
{
    (void)state;
    struct kit k;
    start(&k);
    create(&k, "child", "top", true, true);
    kit_undone(
        &k, (struct eng_event){
                .kind = EV_STOP, .service_kind = KIND_LAUNCHER, .token = 99, .user = "alice", .name = "top"});
    kit_advance(&k, "child", 1000);
    assert_int_equal(state_of(&k, "child"), SVC_STABLE);
    kit_request(&k, EV_STOP, "top");
    assert_int_equal(state_of(&k, "child"), SVC_STOPPED);
    kit_end(&k);
}

/** Another version of the child waits for the end of the first one when its parent is stopped. @return kit_ask's */
static enum eng_outcome next_version_under_a_stop(struct kit *k, const char *parent)
{
    struct eng_rules *rules = eng_rules_new();
    mem_auto char *text =
        mem_str("{\"name\":\"child\",\"version\":\"2\",\"components\":[{\"name\":\"hello\",\"number_of_"
                "containers\":1,"
                "\"launch_command\":\"sleep 1\",\"resource\":{\"cpus\":1,\"memory\":\"32\"}}]}");

    start(k);
    create(k, "child", "top", true, false);
    if (parent[0])
        eng_rules_set_parent(rules, NULL, parent)->stop_with_parent = true;
    k->obey = false;
    kit_step(k, (struct eng_event){.kind = EV_REDEFINE,
                                   .token = ++k->token,
                                   .service_kind = KIND_LAUNCHER,
                                   .user = "alice",
                                   .name = "child",
                                   .take_spec = kit_spec_of(k, text),
                                   .take_rules = rules});
    enum eng_outcome outcome = kit_last(k, EFF_ANSWER)->answer->outcome;
    kit_request(k, EV_STOP, "top");
    k->obey = true;
    kit_advance(k, "top", 0);
    kit_advance(k, "child", 0);
    return outcome;
}

static void the_next_version_of_a_stopped_parents_child_does_not_start(void **state)
{
    (void)state;
    struct kit k;
    assert_int_equal(next_version_under_a_stop(&k, "top"), OUT_REDEFINED);
    assert_int_equal(state_of(&k, "child"), SVC_STOPPED);
    assert_string_equal(kit_service(&k, "child")->spec->version, "2");
    assert_true(kit_service(&k, "child")->is_wanted_stopped);
    kit_end(&k);
}

static void the_next_version_is_no_child_of_the_parent_before(void **state)
{
    (void)state;
    struct kit k;
    assert_int_equal(next_version_under_a_stop(&k, ""), OUT_REDEFINED);
    assert_int_equal(state_of(&k, "top"), SVC_STOPPED);
    assert_int_equal(state_of(&k, "child"), SVC_STABLE);
    assert_false(kit_service(&k, "child")->is_wanted_stopped);
    kit_end(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_stops_with_its_parent_stops_and_so_on),
        cmocka_unit_test(what_goes_with_its_parent_goes_and_so_on),
        cmocka_unit_test(a_crash_on_the_way_loses_no_child),
        cmocka_unit_test(an_end_by_itself_is_no_stop),
        cmocka_unit_test(without_its_parent_it_cannot_be_made),
        cmocka_unit_test(with_a_stopped_parent_it_is_made_and_does_not_start),
        cmocka_unit_test(another_users_framework_may_be_the_parent),
        cmocka_unit_test(an_undone_stop_is_not_followed),
        cmocka_unit_test(the_next_version_of_a_stopped_parents_child_does_not_start),
        cmocka_unit_test(the_next_version_is_no_child_of_the_parent_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/** Users whose names fold to one registry directory: the second is refused, and no service clears the path of another's. */
#include "engine_kit.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"

static int create(struct kit *k, const char *user, const char *name, bool save)
{
    k->user = user;
    return kit_create(k, kit_spec(name, 1, "ALWAYS", ""), save);
}

static int ask(struct kit *k, const char *user, enum eng_event_kind kind, const char *name)
{
    k->user = user;
    return kit_request(k, kind, name);
}

static void assert_refused(struct kit *k, const char *user, const char *name, const char *other)
{
    kit_clear(k);
    assert_int_equal(create(k, user, name, false), OUT_HOME_TAKEN);
    const struct eng_answer *a = kit_last(k, EFF_ANSWER)->answer;
    assert_string_equal(a->name, user);
    assert_string_equal(a->user, other);
    assert_null(kit_service(k, name));
    assert_int_equal(kit_count(k, EFF_PURGE) + kit_count(k, EFF_PUBLISH) + kit_count(k, EFF_PERSIST), 0);
}

static void the_second_user_is_refused(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    assert_int_equal(create(&k, "a_b", "web", false), OUT_LAUNCHED);
    assert_refused(&k, "a-b", "web", "a_b");
    assert_refused(&k, "A_b", "other", "a_b");
    assert_refused(&k, "a_b@REALM", "web", "a_b");
    assert_refused(&k, "a-b/host@REALM", "web", "a_b");
    assert_int_equal(create(&k, "a_b", "web", false), OUT_TAKEN);
    assert_int_equal(create(&k, "a_b", "second", false), OUT_LAUNCHED);
    assert_int_equal(create(&k, "ab", "web", false), OUT_LAUNCHED);
    kit_end(&k);
}

static void stopped_and_saved_services_count_until_they_are_destroyed(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    assert_int_equal(create(&k, "alice", "saved", true), OUT_SAVED);
    assert_int_equal(create(&k, "alice", "web", false), OUT_LAUNCHED);
    assert_int_equal(ask(&k, "alice", EV_STOP, "web"), OUT_STOPPED);
    assert_refused(&k, "Alice", "web", "alice");
    kit_crash(&k);
    kit_recover(&k);
    assert_refused(&k, "Alice", "web", "alice");
    assert_int_equal(ask(&k, "alice", EV_DESTROY, "web"), OUT_DESTROYED);
    assert_refused(&k, "Alice", "web", "alice");
    assert_int_equal(ask(&k, "alice", EV_DESTROY, "saved"), OUT_DESTROYED);
    assert_int_equal(create(&k, "Alice", "web", false), OUT_LAUNCHED);
    assert_refused(&k, "alice", "web", "Alice");
    kit_end(&k);
}

/* A request that could not be stored is undone: its user has nothing there. */
static void an_undone_request_holds_no_directory(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    struct eng_kept *kept = engine_keep(k.e, KIND_SERVICE, "alice", "web");
    assert_int_equal(create(&k, "alice", "web", true), OUT_SAVED);
    struct eng_effects out = {0};
    engine_undo(k.e, kept, k.now_ms, &out);
    eng_effects_fini(&out);
    eng_kept_free(kept);
    assert_int_equal(create(&k, "Alice", "web", true), OUT_SAVED);
    kit_end(&k);
}

/* The state of an earlier version: a stopped service of Alice beside a live one of alice, both called web. */
static void start_with_both(struct kit *k)
{
    kit_start(k, "seed");
    assert_int_equal(create(k, "alice", "web", true), OUT_SAVED);
    const char *text = map_get(&k->store, "definitions/services/alice/web"),
               *user = strstr(text, "\"alice\"");
    assert_non_null(user);
    char *other = mem_str(text), *is = mem_str(map_get(&k->store, "services/alice/web"));
    other[user - text + 1] = 'A';
    assert_int_equal(ask(k, "alice", EV_START, "web"), OUT_STARTED);
    assert_null(map_set(&k->store, "definitions/services/%41lice/web", other));
    assert_null(map_set(&k->store, "services/%41lice/web", is));
    kit_crash(k);
    kit_clear(k);
    kit_recover(k);
}

static bool is_noted(const struct kit *k, const char *part)
{
    for (size_t i = 0; i < k->effects.n; i++) {
        if (k->effects.items[i].kind == EFF_NOTE && strstr(k->effects.items[i].text, part))
            return true;
    }
    return false;
}

static void two_that_are_stored_do_not_clear_each_others_path(void **state)
{
    (void)state;
    struct kit k;
    start_with_both(&k);
    assert_true(is_noted(&k, "users Alice and alice share one registry directory"));
    assert_int_equal(kit_count(&k, EFF_PURGE), 0);
    assert_int_equal(ask(&k, "Alice", EV_START, "web"), OUT_HOME_TAKEN);
    assert_string_equal(kit_last(&k, EFF_ANSWER)->answer->user, "alice");
    k.user = "alice";
    assert_int_equal(kit_flex(&k, "web", "hello", 2), OUT_FLEXED);
    assert_int_equal(kit_service(&k, "web")->components[0]->n_instances, 2);

    kit_clear(&k);
    assert_int_equal(ask(&k, "Alice", EV_DESTROY, "web"), OUT_DESTROYED);
    assert_null(kit_service(&k, "web"));
    assert_int_equal(kit_count(&k, EFF_PURGE), 0);
    assert_string_equal(kit_last(&k, EFF_PUBLISH)->user, "alice"); /* its record is written once more */
    assert_int_equal(create(&k, "alice", "second", false), OUT_LAUNCHED);
    assert_int_equal(ask(&k, "alice", EV_DESTROY, "web"), OUT_DESTROYED);
    assert_int_not_equal(kit_count(&k, EFF_PURGE), 0);
    kit_end(&k);
}

static void the_stopped_one_starts_when_the_other_has_ended(void **state)
{
    (void)state;
    struct kit k;
    start_with_both(&k);
    assert_int_equal(ask(&k, "alice", EV_STOP, "web"), OUT_STOPPED);
    assert_int_equal(ask(&k, "Alice", EV_START, "web"), OUT_STARTED);
    assert_int_equal(ask(&k, "alice", EV_START, "web"), OUT_HOME_TAKEN);
    kit_end(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_second_user_is_refused),
        cmocka_unit_test(stopped_and_saved_services_count_until_they_are_destroyed),
        cmocka_unit_test(an_undone_request_holds_no_directory),
        cmocka_unit_test(two_that_are_stored_do_not_clear_each_others_path),
        cmocka_unit_test(the_stopped_one_starts_when_the_other_has_ended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

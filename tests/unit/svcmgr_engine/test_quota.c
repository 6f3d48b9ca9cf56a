/** Quotas: how many containers services may want together. */
#include <string.h>

#include "engine_kit.h"

static void start(struct kit *k, struct engine_quotas quotas)
{
    kit_start(k, "seed");
    k->cfg.quotas = quotas;
    kit_crash(k);
    kit_recover(k);
    kit_clear(k);
}

/** Make a service of n containers in a queue ("": the default one). @return the outcome */
static int create(struct kit *k, const char *name, int n, const char *queue, bool save)
{
    mem_auto char *json =
        mem_fmt("{\"name\":\"%s\",\"version\":\"1\",%s%s%s\"components\":[{\"name\":\"hello\","
                "\"number_of_containers\":%d,\"launch_command\":\"run\",\"resource\":{\"cpus\":1,\"memory\":"
                "\"64\"}}]}",
                name, queue[0] ? "\"queue\":\"" : "", queue, queue[0] ? "\"," : "", n);
    return kit_create(k, json, save);
}

static void assert_refused(const struct kit *k, const char *quota, int64_t limit, int64_t wanted)
{
    const struct eng_answer *a = kit_last(k, EFF_ANSWER)->answer;
    assert_string_equal(a->quota, quota);
    assert_int_equal(a->n_old, limit);
    assert_int_equal(a->n_new, wanted);
}

static void a_user_wants_no_more_than_the_quota(void **state)
{
    (void)state;
    struct kit k;
    start(&k, (struct engine_quotas){.user = 5});
    assert_int_equal(create(&k, "a", 3, "", false), OUT_LAUNCHED);
    assert_int_equal(create(&k, "b", 3, "", false), OUT_QUOTA);
    assert_refused(&k, "user alice", 5, 6);
    assert_null(kit_service(&k, "b"));
    assert_int_equal(create(&k, "b", 2, "", false), OUT_LAUNCHED);
    assert_int_equal(kit_flex(&k, "b", "hello", 3), OUT_QUOTA);
    assert_int_equal(kit_service(&k, "b")->spec->components[0]->number_of_containers, 2);
    k.user = "bob";
    assert_int_equal(create(&k, "b", 5, "", false), OUT_LAUNCHED);
    kit_end(&k);
}

static void what_does_not_run_does_not_count(void **state)
{
    (void)state;
    struct kit k;
    start(&k, (struct engine_quotas){.user = 5});
    assert_int_equal(create(&k, "a", 4, "", false), OUT_LAUNCHED);
    assert_int_equal(create(&k, "b", 4, "", true), OUT_SAVED);
    assert_int_equal(kit_request(&k, EV_START, "b"), OUT_QUOTA);
    assert_refused(&k, "user alice", 5, 8);
    assert_int_equal(kit_service(&k, "b")->state, SVC_STOPPED);
    kit_request(&k, EV_STOP, "a");
    assert_int_equal(engine_used(k.e, "user alice"), 0);
    assert_int_equal(kit_request(&k, EV_START, "b"), OUT_STARTED);
    assert_int_equal(engine_used(k.e, "user alice"), 4);
    assert_int_equal(kit_request(&k, EV_DESTROY, "b"), OUT_DESTROYED);
    assert_int_equal(engine_used(k.e, "user alice"), 0);
    kit_end(&k);
}

static void a_queue_has_a_quota_over_all_users(void **state)
{
    (void)state;
    struct kit k;
    start(&k, (struct engine_quotas){.queue = 5});
    assert_int_equal(create(&k, "a", 3, "q1", false), OUT_LAUNCHED);
    k.user = "bob";
    assert_int_equal(create(&k, "a", 3, "q1", false), OUT_QUOTA);
    assert_refused(&k, "queue q1", 5, 6);
    assert_int_equal(create(&k, "a", 3, "", false), OUT_LAUNCHED);
    assert_int_equal(create(&k, "b", 3, "default", false), OUT_QUOTA);
    assert_refused(&k, "queue default", 5, 6);
    kit_end(&k);
}

/* Who is above a quota that was lowered keeps what he has, and may have less. */
static void a_lowered_quota_takes_nothing_away(void **state)
{
    (void)state;
    struct kit k;
    start(&k, (struct engine_quotas){0});
    create(&k, "a", 8, "", false);
    k.cfg.quotas.user = 3;
    kit_crash(&k);
    kit_recover(&k);
    assert_int_equal(engine_used(k.e, "user alice"), 8);
    assert_int_equal(kit_service(&k, "a")->state, SVC_STABLE);
    assert_int_equal(kit_flex(&k, "a", "hello", 9), OUT_QUOTA);
    assert_int_equal(kit_flex(&k, "a", "hello", 5), OUT_FLEXED);
    assert_int_equal(engine_used(k.e, "user alice"), 5);
    kit_end(&k);
}

static void frameworks_count_until_they_are_destroyed(void **state)
{
    (void)state;
    struct kit k;
    start(&k, (struct engine_quotas){.tasks = 5});
    assert_int_equal(create(&k, "other", 9, "", false), OUT_LAUNCHED); /* of another API */
    k.service_kind = KIND_LAUNCHER;
    assert_int_equal(create(&k, "a", 3, "", false), OUT_LAUNCHED);
    kit_request(&k, EV_STOP, "a");
    assert_int_equal(create(&k, "b", 3, "", false), OUT_QUOTA);
    assert_refused(&k, "frameworks", 5, 6);
    assert_int_equal(create(&k, "b", 3, "", true), OUT_QUOTA);
    assert_int_equal(create(&k, "b", 2, "", false), OUT_LAUNCHED);
    kit_request(&k, EV_DESTROY, "a");
    assert_int_equal(kit_flex(&k, "b", "hello", 5), OUT_FLEXED);
    k.obey = false;
    kit_request(&k, EV_DESTROY, "b"); /* its containers run on for a moment */
    assert_int_equal(create(&k, "c", 5, "", false), OUT_LAUNCHED);
    kit_end(&k);
}

/* Above the limit even a smaller number is refused, unless it is below. */
static void a_smaller_number_of_tasks_is_checked_as_well(void **state)
{
    (void)state;
    struct kit k;
    start(&k, (struct engine_quotas){0});
    k.service_kind = KIND_LAUNCHER;
    create(&k, "a", 8, "", false);
    k.cfg.quotas.tasks = 3;
    kit_crash(&k);
    kit_recover(&k);
    assert_int_equal(kit_flex(&k, "a", "hello", 5), OUT_QUOTA);
    assert_int_equal(kit_flex(&k, "a", "hello", 3), OUT_FLEXED);
    kit_end(&k);
}

static void what_is_undone_does_not_count(void **state)
{
    (void)state;
    struct kit k;
    start(&k, (struct engine_quotas){.user = 5});
    create(&k, "a", 2, "", false);
    const struct eng_flex more = {"hello", 5, false};
    kit_undone(&k,
               (struct eng_event){
                   .kind = EV_FLEX, .token = 99, .user = "alice", .name = "a", .flex = &more, .n_flex = 1});
    assert_int_equal(engine_used(k.e, "user alice"), 2);
    kit_undone(&k, (struct eng_event){.kind = EV_STOP, .token = 98, .user = "alice", .name = "a"});
    assert_int_equal(engine_used(k.e, "user alice"), 2);
    assert_int_equal(create(&k, "b", 3, "", false), OUT_LAUNCHED);
    kit_end(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_user_wants_no_more_than_the_quota),
        cmocka_unit_test(what_does_not_run_does_not_count),
        cmocka_unit_test(a_queue_has_a_quota_over_all_users),
        cmocka_unit_test(a_lowered_quota_takes_nothing_away),
        cmocka_unit_test(frameworks_count_until_they_are_destroyed),
        cmocka_unit_test(a_smaller_number_of_tasks_is_checked_as_well),
        cmocka_unit_test(what_is_undone_does_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

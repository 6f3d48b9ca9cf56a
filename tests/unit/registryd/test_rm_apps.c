/* What polls of a resource manager add up to: nothing is reported before two in a row agree. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "fake.h"
#include "cleanup/rm_poll_apps.h"

#define APP "application_5_0001"
#define C1  "container_5_0001_01_000001"
#define C2  "container_5_0001_01_000002"
#define A1  "appattempt_5_0001_000001"

struct kit {
    struct fake *fake;
    struct rm_apps *apps;
    struct rm_nodes *nodes; /* CALM */
    struct buf reported;    /* "kind subject;" */
};

static int set_up(void **state)
{
    struct kit *k = mem_new(struct kit);
    void *fake;
    fake_set_up(&fake);
    k->fake = fake;
    fake_begin(k->fake, "a1");
    fake_end(k->fake);
    k->apps = rm_apps_new(k->fake->index);
    k->nodes = rm_nodes_new(1000, 0);
    *state = k;
    return 0;
}

static int tear_down(void **state)
{
    struct kit *k = *state;
    void *fake = k->fake;
    rm_apps_free(k->apps);
    rm_nodes_free(k->nodes);
    fake_tear_down(&fake);
    buf_fini(&k->reported);
    free(k);
    return 0;
}

static void note(void *arg, enum cleanup_kind kind, const char *subject, const char *reason)
{
    struct kit *k = arg;
    assert_true(strlen(reason) > 10);
    buf_addf(&k->reported, "%s %s;", cleanup_kind_name(kind), subject);
}

/* One poll that sees this of the only application; containers: live ones, NULL: not asked. */
static void poll(struct kit *k, enum rm_view view, const char *const *live)
{
    rm_apps_begin(k->apps, 10);
    struct rm_app *app = rm_apps_take(k->apps);
    if (app)
        rm_app_saw(app, view, "X");
    if (app && live) {
        struct map set = MAP_EMPTY;
        for (; *live; live++)
            map_set(&set, *live, (void *)(strcmp(*live, C1) == 0 ? "a:1" : ""));
        rm_app_saw_containers(k->apps, app, &set, k->nodes);
        map_fini(&set, NULL);
    }
    rm_apps_commit(k->apps, note, k);
}

static void assert_reported(struct kit *k, const char *expected)
{
    assert_string_equal(buf_cstr(&k->reported), expected);
    buf_clear(&k->reported);
}

static void two_polls_in_a_row(void **state)
{
    struct kit *k = *state;
    fake_record(k->fake, "/app", APP, "application");
    fake_record(k->fake, "/c1", C1, "container");
    poll(k, RM_VIEW_ENDED, NULL);
    poll(k, RM_VIEW_ALIVE, NULL);
    poll(k, RM_VIEW_UNKNOWN, NULL);
    poll(k, RM_VIEW_NONE, NULL);
    poll(k, RM_VIEW_ENDED, NULL);
    poll(k, RM_VIEW_ENDING, NULL);
    poll(k, RM_VIEW_ENDED, NULL);
    assert_reported(k, "");
    poll(k, RM_VIEW_UNKNOWN, NULL);
    assert_reported(k, "application-completed " APP ";container-finished " C1 ";");
    assert_int_equal(rm_apps_n_watched(k->apps), 0);
}

static void a_discarded_poll_begins_the_count_anew(void **state)
{
    struct kit *k = *state;
    fake_record(k->fake, "/app", APP, "application");
    poll(k, RM_VIEW_ENDED, NULL);
    rm_apps_begin(k->apps, 10);
    rm_app_saw(rm_apps_take(k->apps), RM_VIEW_ENDED, "X");
    rm_apps_discard(k->apps);
    poll(k, RM_VIEW_ENDED, NULL);
    assert_reported(k, "");
    poll(k, RM_VIEW_ENDED, NULL);
    assert_reported(k, "application-completed " APP ";");
}

static void what_is_only_alive_is_forgotten_what_is_ending_is_not(void **state)
{
    struct kit *k = *state;
    fake_record(k->fake, "/app", APP, "application");
    poll(k, RM_VIEW_ENDING, NULL);
    assert_int_equal(rm_apps_n_watched(k->apps), 1);
    poll(k, RM_VIEW_ALIVE, NULL);
    assert_int_equal(rm_apps_n_watched(k->apps), 0);
    assert_int_equal(rm_apps_begin(k->apps, 10), 0);
    rm_apps_discard(k->apps);
    rm_apps_expedite(k->apps, APP); /* as the list of finished ones does */
    assert_int_equal(rm_apps_begin(k->apps, 10), 1);
    rm_apps_discard(k->apps);
    rm_apps_expedite(k->apps, "application_9_9999"); /* no records */
    assert_int_equal(rm_apps_n_watched(k->apps), 1);
}

/* Containers register after their application, which was looked at before and forgotten as merely alive. */
static void parts_that_come_later_are_watched(void **state)
{
    struct kit *k = *state;
    static const char *const one[] = {C1, NULL}, *const none[] = {NULL};
    fake_record(k->fake, "/app", APP, "application");
    poll(k, RM_VIEW_ALIVE, NULL);
    assert_int_equal(rm_apps_n_watched(k->apps), 0);
    fake_record(k->fake, "/c1", C1, "container");
    poll(k, RM_VIEW_ALIVE, one);
    assert_int_equal(rm_apps_n_watched(k->apps), 1);
    poll(k, RM_VIEW_ALIVE, none);
    poll(k, RM_VIEW_ALIVE, none);
    assert_reported(k, "container-finished " C1 ";");
    fake_gone(k->fake, "/c1");
    poll(k, RM_VIEW_ALIVE, none);
    assert_int_equal(rm_apps_n_watched(k->apps), 0);
    fake_record(k->fake, "/am1", A1, "application-attempt");
    assert_int_equal(rm_apps_begin(k->apps, 10), 1);
    rm_apps_discard(k->apps);
}

static void another_clusters_application_is_left_alone(void **state)
{
    struct kit *k = *state;
    fake_record(k->fake, "/app", APP, "application");
    fake_record(k->fake, "/c1", C1, "container");
    poll(k, RM_VIEW_FOREIGN, NULL);
    assert_reported(k, "");
    assert_int_equal(rm_apps_n_watched(k->apps), 0);
}

static void containers_end_one_by_one(void **state)
{
    struct kit *k = *state;
    static const char *const both[] = {C1, C2, NULL}, *const second[] = {C2, NULL}, *const none[] = {NULL};
    fake_record(k->fake, "/c1", C1, "container");
    fake_record(k->fake, "/c2", C2, "container");
    fake_record(k->fake, "/c2-again", C2, "permanent");
    poll(k, RM_VIEW_ALIVE, both);
    poll(k, RM_VIEW_ALIVE, second);
    poll(k, RM_VIEW_ALIVE, both);
    poll(k, RM_VIEW_ALIVE, second);
    poll(k, RM_VIEW_ALIVE, NULL); /* not asked: does not count as absent */
    poll(k, RM_VIEW_ALIVE, second);
    assert_reported(k, "");
    poll(k, RM_VIEW_ALIVE, second);
    assert_reported(k, "container-finished " C1 ";");
    poll(k, RM_VIEW_ALIVE, second); /* once is enough */
    assert_reported(k, "");
    poll(k, RM_VIEW_ALIVE, none);
    poll(k, RM_VIEW_ALIVE, none);
    assert_reported(k, "container-finished " C2 ";");
}

static void attempts(void **state)
{
    struct kit *k = *state;
    fake_record(k->fake, "/am1", A1, "application_attempt");
    fake_record(k->fake, "/am2", "appattempt_5_0001_000002", "application-attempt");
    fake_record(k->fake, "/am3", "appattempt_5_0001_000003", "application-attempt");
    for (int i = 0; i < 2; i++) {
        static const char answer[] =
            "{\"appAttempts\":{\"appAttempt\":{\"appAttemptId\":\"appattempt_5_0001_000002\","
            "\"appAttemptState\":\"FAILED\"}}}";
        struct rm_attempts list;
        assert_string_equal(buf_cstr(&k->reported), "");
        assert_int_equal(rm_read_attempts(answer, sizeof answer - 1, &list, NULL), 0);
        rm_apps_begin(k->apps, 10);
        struct rm_app *app = rm_apps_take(k->apps);
        rm_app_saw(app, RM_VIEW_ALIVE, "RUNNING");
        rm_app_saw_attempts(k->apps, app, &list);
        rm_apps_commit(k->apps, note, k);
        rm_attempts_fini(&list);
    }
    assert_non_null(strstr(buf_cstr(&k->reported), "attempt-unregistered " A1 ";"));
    assert_non_null(strstr(buf_cstr(&k->reported), "attempt-unregistered appattempt_5_0001_000002;"));
    assert_null(strstr(buf_cstr(&k->reported), "_000003"));
}

static void everybody_has_a_turn(void **state)
{
    struct kit *k = *state;
    size_t n_asked[40] = {0};
    for (int i = 0; i < 40; i++) {
        mem_auto char *path = mem_fmt("/n%d", i), *id = mem_fmt("container_5_%04d_01_000001", i);
        fake_record(k->fake, path, id, "container");
    }
    for (int poll_no = 0; poll_no < 40; poll_no++) {
        struct rm_app *app;
        assert_in_range(rm_apps_begin(k->apps, 4), 1, 4);
        while ((app = rm_apps_take(k->apps))) {
            n_asked[atoi(rm_app_id(app) + strlen("application_5_"))]++;
            rm_app_saw(app, RM_VIEW_ALIVE, "RUNNING");
        }
        rm_apps_commit(k->apps, note, k);
    }
    for (int i = 0; i < 40; i++)
        assert_in_range(n_asked[i], 2, 12);
}

static void a_restart_asks_about_everything_again(void **state)
{
    struct kit *k = *state;
    fake_record(k->fake, "/app", APP, "application");
    poll(k, RM_VIEW_ENDED, NULL);
    rm_apps_restart(k->apps);
    poll(k, RM_VIEW_ENDED, NULL);
    assert_reported(k, "");
    poll(k, RM_VIEW_ALIVE, NULL);
    assert_int_equal(rm_apps_begin(k->apps, 10), 0);
    rm_apps_discard(k->apps);
    rm_apps_restart(k->apps);
    assert_int_equal(rm_apps_begin(k->apps, 10), 1);
    rm_apps_discard(k->apps);
}

static void see_nodes(struct kit *k, const char *const *ids, int64_t now_ms)
{
    struct map set = MAP_EMPTY;
    int64_t n = 0;
    for (; *ids; ids++, n++)
        map_set(&set, *ids, k);
    rm_nodes_saw(k->nodes, n, &set, now_ms);
}

/* C1 was seen alive on node a:1; where C2 was, nobody has said. */
static void a_container_waits_for_its_node(void **state)
{
    struct kit *k = *state;
    static const char *const both[] = {C1, C2, NULL}, *const none[] = {NULL};
    static const char *const a_b[] = {"a:1", "b:1", NULL}, *const b_c[] = {"b:1", "c:1", NULL};
    fake_record(k->fake, "/c1", C1, "container");
    fake_record(k->fake, "/c2", C2, "container");
    see_nodes(k, a_b, 0);
    poll(k, RM_VIEW_ALIVE, both);
    rm_apps_restart(k->apps);
    rm_nodes_restart(k->nodes, 0);
    see_nodes(k, b_c, 10);
    poll(k, RM_VIEW_ALIVE, none);
    poll(k, RM_VIEW_ALIVE, none);
    assert_reported(k, "");
    see_nodes(k, a_b, 20);
    poll(k, RM_VIEW_ALIVE, none);
    poll(k, RM_VIEW_ALIVE, none);
    assert_non_null(strstr(buf_cstr(&k->reported), "container-finished " C1 ";"));
    assert_non_null(strstr(buf_cstr(&k->reported), "container-finished " C2 ";"));
}

static bool wants_containers(struct kit *k)
{
    rm_apps_begin(k->apps, 10);
    bool wants = rm_app_wants_containers(k->apps, rm_apps_take(k->apps), k->nodes);
    rm_apps_discard(k->apps);
    return wants;
}

/* No node is known from before; what shows where a container is lets a later list say that it has ended. */
static void a_young_cluster_is_asked_where_its_containers_are(void **state)
{
    struct kit *k = *state;
    static const char *const c1[] = {C1, NULL}, *const none[] = {NULL};
    static const char *const a[] = {"a:1", NULL}, *const b[] = {"b:1", NULL};
    fake_record(k->fake, "/c1", C1, "container");
    rm_nodes_restart(k->nodes, 0);
    assert_false(wants_containers(k));
    see_nodes(k, a, 10);
    assert_true(wants_containers(k));
    poll(k, RM_VIEW_ALIVE, c1);
    poll(k, RM_VIEW_ALIVE, none);
    poll(k, RM_VIEW_ALIVE, none);
    assert_reported(k, "container-finished " C1 ";");
    poll(k, RM_VIEW_ALIVE, c1);
    rm_nodes_restart(k->nodes, 0);
    assert_false(wants_containers(k));
    see_nodes(k, b, 20);
    assert_false(wants_containers(k)); /* its node is not back */
}

/* A round of all that is under way is not begun anew: who asks for one all the time would never come to its end. */
static void asking_about_all_again(void **state)
{
    struct kit *k = *state;
    size_t n_asked[12] = {0};
    for (int i = 0; i < 12; i++) {
        mem_auto char *path = mem_fmt("/n%d", i), *id = mem_fmt("application_5_%04d", i);
        fake_record(k->fake, path, id, "application");
    }
    for (int poll_no = 0; poll_no < 12; poll_no++) {
        struct rm_app *app;
        rm_apps_ask_all(k->apps);
        rm_apps_begin(k->apps, 2);
        while ((app = rm_apps_take(k->apps))) {
            n_asked[atoi(rm_app_id(app) + strlen("application_5_"))]++;
            rm_app_saw(app, RM_VIEW_ALIVE, "RUNNING");
        }
        rm_apps_commit(k->apps, note, k);
    }
    for (int i = 0; i < 12; i++)
        assert_in_range(n_asked[i], 1, 3);
}

/* What was counted before goes on: an application that is over has been seen once already. */
static void asking_about_all_again_forgets_nothing(void **state)
{
    struct kit *k = *state;
    fake_record(k->fake, "/app", APP, "application");
    poll(k, RM_VIEW_ALIVE, NULL);
    assert_int_equal(rm_apps_begin(k->apps, 10), 0);
    rm_apps_commit(k->apps, note, k);
    rm_apps_ask_all(k->apps);
    poll(k, RM_VIEW_UNKNOWN, NULL);
    rm_apps_ask_all(k->apps);
    poll(k, RM_VIEW_UNKNOWN, NULL);
    assert_reported(k, "application-completed " APP ";");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define CASE(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)
        CASE(two_polls_in_a_row),
        CASE(a_discarded_poll_begins_the_count_anew),
        CASE(what_is_only_alive_is_forgotten_what_is_ending_is_not),
        CASE(parts_that_come_later_are_watched),
        CASE(another_clusters_application_is_left_alone),
        CASE(containers_end_one_by_one),
        CASE(attempts),
        CASE(everybody_has_a_turn),
        CASE(a_restart_asks_about_everything_again),
        CASE(a_container_waits_for_its_node),
        CASE(a_young_cluster_is_asked_where_its_containers_are),
        CASE(asking_about_all_again),
        CASE(asking_about_all_again_forgets_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

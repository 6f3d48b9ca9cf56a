/** The cluster of a manager of applications, cluster/elsewhere.h: it has no container, and says so by each function of the interface. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/obj.h"
#include "cluster/elsewhere.h"
#include "fs/place.h"
#include "run/loop.h"

#define CONTAINER   "container_1700000000000_0001_01_000002"
#define APPLICATION "application_1700000000000_0001"

struct world {
    struct run_loop *loop;
    struct cluster *cluster;
    size_t n_recovered, n_closed, n_done;
    bool is_absent; /* of the last look, any */
    int code;
};

static void on_recovery_done(void *arg)
{
    ((struct world *)arg)->n_recovered++;
}

static void on_done(void *arg)
{
    ((struct world *)arg)->n_done++;
}

static void on_closed(void *arg)
{
    ((struct world *)arg)->n_closed++;
}

static void on_looked(void *arg, const bool *absent, const struct err_info *problem)
{
    struct world *w = arg;

    w->n_done++;
    w->is_absent = !absent || absent[0] || absent[1];
    w->code = problem->code;
}

/** Any other callback is none that it makes: a NULL that is called ends the test. */
static const struct cluster_ops ops = {.recovery_done = on_recovery_done};

static int open_world(void **state)
{
    static struct world world;

    world = (struct world){0};
    world.loop = run_loop_new();
    world.cluster =
        cluster_elsewhere_open(world.loop, &(struct fs_conf){.get = NULL}, NULL, "yarn", &ops, &world);
    *state = &world;
    return 0;
}

static void turn(struct world *w)
{
    uv_run(run_loop_uv(w->loop), UV_RUN_NOWAIT);
}

static int close_world(void **state)
{
    struct world *w = *state;

    if (!w->n_closed)
        cluster_close(w->cluster, on_closed, w);
    while (!w->n_closed)
        uv_run(run_loop_uv(w->loop), UV_RUN_ONCE);
    assert_int_equal(w->n_closed, 1);
    run_loop_free(w->loop);
    return 0;
}

static void test_nothing_is_recovered(void **state)
{
    struct world *w = *state;

    cluster_recover(w->cluster);
    assert_int_equal(w->n_recovered, 0); /* not inside the call */
    while (!w->n_recovered)
        uv_run(run_loop_uv(w->loop), UV_RUN_ONCE);
    turn(w);
    assert_int_equal(w->n_recovered, 1);
}

static void test_it_is_closed_while_it_recovers(void **state)
{
    struct world *w = *state;

    cluster_recover(w->cluster);
    cluster_close(w->cluster, on_closed, w);
    assert_int_equal(w->n_closed, 0);
    while (!w->n_closed)
        uv_run(run_loop_uv(w->loop), UV_RUN_ONCE);
    assert_int_equal(w->n_recovered, 0);
}

static void test_it_has_no_container(void **state)
{
    struct world *w = *state;
    struct cluster_capacity capacity = {.n_containers = 1};

    assert_string_equal(cluster_name(w->cluster), "yarn");
    assert_null(cluster_find(w->cluster, CONTAINER));
    assert_null(cluster_log_dir(w->cluster, CONTAINER));
    assert_null(cluster_last_container(w->cluster, APPLICATION, "web-0"));
    assert_false(cluster_is_of(w->cluster, APPLICATION, "alice", "web"));
    cluster_capacity(w->cluster, &capacity);
    assert_int_equal(capacity.n_containers + capacity.n_waiting, 0);
    assert_int_equal(capacity.memory_mb + capacity.vcores, 0);
}

static void test_it_neither_grants_nor_launches(void **state)
{
    struct world *w = *state;
    const struct cluster_ask ask = {
        .container_id = CONTAINER, .application_id = APPLICATION, .memory_mb = 32};
    const struct cluster_launch launch = {.attempt = 1, .command = "sleep 1"};
    struct err_info why = {0};

    cluster_request(w->cluster, &ask);
    cluster_exclude(w->cluster, APPLICATION, "nm0", true);
    turn(w); /* ops.allocated would be called */
    assert_int_equal(cluster_launch(w->cluster, CONTAINER, &launch, &why), ERR_NOTFOUND);
    assert_non_null(strstr(why.text, "application master"));
    cluster_stop(w->cluster, CONTAINER, 0);
    cluster_cancel(w->cluster, CONTAINER);
    cluster_release(w->cluster, CONTAINER);
    turn(w);
    assert_int_equal(cluster_signal(w->cluster, CONTAINER, 15, &why), ERR_UNSUPPORTED);
}

static void test_no_file_is_said_to_be_absent(void **state)
{
    struct world *w = *state;
    const char *const paths[] = {"/etc/one", "http://127.0.0.1/two"};

    cluster_look(w->cluster, "alice", paths, 2, on_looked, w);
    assert_int_equal(w->n_done, 1);
    assert_false(w->is_absent);
    assert_int_equal(w->code, 0);
}

static void test_nothing_has_to_be_stopped(void **state)
{
    struct world *w = *state;

    cluster_stop_all(w->cluster, on_done, w);
    assert_int_equal(w->n_done, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_nothing_is_recovered, open_world, close_world),
        cmocka_unit_test_setup_teardown(test_it_is_closed_while_it_recovers, open_world, close_world),
        cmocka_unit_test_setup_teardown(test_it_has_no_container, open_world, close_world),
        cmocka_unit_test_setup_teardown(test_it_neither_grants_nor_launches, open_world, close_world),
        cmocka_unit_test_setup_teardown(test_no_file_is_said_to_be_absent, open_world, close_world),
        cmocka_unit_test_setup_teardown(test_nothing_has_to_be_stopped, open_world, close_world),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

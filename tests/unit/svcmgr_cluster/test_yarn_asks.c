/** What goes to the resource manager for asks, and what follows its answers: yarn_asks.c and yarn_rounds.c. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cluster/yarn_priv.h"

#define ID(round, allocation) (((int64_t)(round) << 40) | (allocation))

struct rig {
    struct on_yarn y;
    struct arena *arena;
    Yarn__Allocate sent;
    enum eng_wait why;
    size_t n_waits;
    char text[300];
};

static void on_waits(void *arg, const char *container_id, const struct eng_waiting *why)
{
    struct rig *r = arg;

    (void)container_id;
    r->why = why->why;
    r->n_waits++;
    snprintf(r->text, sizeof r->text, "%s: %s", why->name ? why->name : "", why->text ? why->text : "");
}

static const struct cluster_ops ops = {.waits = on_waits};

static int open_rig(void **state)
{
    struct rig *r = mem_new(struct rig);

    obj_init(&r->y.obj, YARN_MAGIC);
    r->y.cluster = (struct cluster){NULL, &ops, r};
    r->y.limit_memory_mb = r->y.limit_vcores = -1;
    *state = r;
    return 0;
}

static int close_rig(void **state)
{
    struct rig *r = *state;

    map_fini(&r->y.asks, yarn_ask_free);
    if (r->arena)
        arena_free(r->arena);
    free(r);
    return 0;
}

/** What the next heartbeat has. */
static const Yarn__Allocate *written(struct rig *r)
{
    if (r->arena)
        arena_free(r->arena);
    r->arena = arena_new(0);
    r->sent = (Yarn__Allocate)YARN__ALLOCATE__INIT;
    yarn_asks_write(&r->y, r->arena, &r->sent);
    return &r->sent;
}

/** The same, which arrives. */
static const Yarn__Allocate *beat(struct rig *r)
{
    written(r);
    yarn_asks_sent(&r->y);
    return &r->sent;
}

static void ask(struct rig *r, int64_t n, const struct spec_constraint *c, const char *host)
{
    const struct spec_needs needs = {.constraints = (struct spec_constraint *)c, .n_constraints = c ? 1 : 0};
    const struct cluster_ask what = {.container_id = "c1",
                                     .component = "web",
                                     .host = host,
                                     .memory_mb = 64,
                                     .vcores = 1,
                                     .priority = 2,
                                     .allocation_id = 7,
                                     .n_wanted = n,
                                     .needs = &needs};
    yarn_asks_set(&r->y, &what);
}

static void rejected(struct rig *r, int64_t id, int32_t n)
{
    Yarn__Priority priority = YARN__PRIORITY__INIT;
    Yarn__ResourceSizing sizing = YARN__RESOURCE_SIZING__INIT;
    Yarn__RejectedRequest request = YARN__REJECTED_REQUEST__INIT;
    Yarn__Rejection m = YARN__REJECTION__INIT;

    priority.priority = 2;
    sizing.has_n_allocations = true;
    sizing.n_allocations = n;
    request.priority = &priority;
    request.allocation_request_id = id;
    request.sizing = &sizing;
    m.request = &request;
    m.reason = YARN__REJECTION_REASON__COULD_NOT_PLACE_ON_NODE;
    yarn_rounds_rejected(&r->y, &m);
}

static void is_request(const Yarn__Allocate *m, int64_t id, int n)
{
    assert_int_equal(m->n_asks, 0);
    assert_int_equal(m->n_scheduling_requests, 1);
    assert_int_equal(m->scheduling_requests[0]->allocation_request_id, id);
    assert_int_equal(m->scheduling_requests[0]->sizing->n_allocations, n);
    assert_string_equal(m->scheduling_requests[0]->allocation_tags[0], "web");
}

static void is_nothing(const Yarn__Allocate *m)
{
    assert_int_equal(m->n_asks + m->n_scheduling_requests, 0);
}

/* ---- without constraints ---- */

static void an_ask_is_sent_once_and_its_number_is_absolute(void **state)
{
    struct rig *r = *state;

    ask(r, 3, NULL, NULL);
    assert_int_equal(beat(r)->n_asks, 1);
    assert_int_equal(r->sent.asks[0]->n_containers, 3);
    assert_int_equal(r->sent.asks[0]->allocation_request_id, 7);
    is_nothing(beat(r));
    yarn_asks_granted(&r->y, 2, 7);
    is_nothing(beat(r));
    yarn_asks_resync(&r->y);
    assert_int_equal(beat(r)->asks[0]->n_containers, 2);
    ask(r, 0, NULL, NULL);
    assert_int_equal(beat(r)->asks[0]->n_containers, 0);
    assert_int_equal(r->y.asks.n_items, 0);
}

static void an_ask_for_a_host_has_its_three_levels(void **state)
{
    struct rig *r = *state;

    ask(r, 1, NULL, "n5");
    assert_int_equal(beat(r)->n_asks, 3);
    assert_string_equal(r->sent.asks[0]->resource_name, "n5");
    assert_true(r->sent.asks[0]->relax_locality);
    assert_false(r->sent.asks[1]->relax_locality);
    assert_string_equal(r->sent.asks[2]->resource_name, "*");
    assert_false(r->sent.asks[2]->relax_locality);
}

static void what_was_lost_is_sent_again_and_what_was_refused_is_not(void **state)
{
    struct rig *r = *state;

    ask(r, 1, NULL, NULL);
    written(r);
    yarn_asks_failed(&r->y);
    assert_int_equal(written(r)->n_asks, 1);
    yarn_asks_refused(&r->y, "too large");
    assert_int_equal(r->why, WAIT_RESOURCE);
    assert_false(yarn_asks_wait(&r->y));
    is_nothing(beat(r));
}

static void what_no_node_can_have_is_not_sent(void **state)
{
    struct rig *r = *state;

    r->y.max_memory_mb = 32;
    r->y.max_vcores = 4;
    ask(r, 1, NULL, NULL);
    assert_int_equal(r->why, WAIT_RESOURCE);
    is_nothing(beat(r));
}

/* ---- with constraints ---- */

static const struct spec_constraint apart = {.name = (char *)"c", .max = 1};
static const struct spec_constraint together = {.name = (char *)"c", .max = INT64_MAX, .is_together = true};

static void a_request_that_is_rejected_waits_and_is_a_new_one_then(void **state)
{
    struct rig *r = *state;

    r->y.constraints = YARN_CONSTRAINTS_PROCESSOR;
    ask(r, 3, &apart, NULL);
    is_request(beat(r), ID(1, 7), 3);
    is_nothing(beat(r));
    yarn_asks_granted(&r->y, 2, ID(1, 7));
    yarn_asks_granted(&r->y, 2, ID(1, 7));
    is_nothing(beat(r));
    rejected(r, ID(1, 7), 1);
    assert_int_equal(r->why, WAIT_PLACEMENT);
    assert_non_null(strstr(r->text, "c: 1 more wanted"));
    assert_non_null(strstr(r->text, "COULD_NOT_PLACE_ON_NODE"));
    is_nothing(beat(r));
    assert_false(yarn_asks_wait(&r->y));
    yarn_rounds_room(&r->y);
    is_request(beat(r), ID(2, 7), 1);
    yarn_asks_granted(&r->y, 2, ID(2, 7));
    is_nothing(beat(r));
    assert_int_equal(r->y.asks.n_items, 0);
}

static void a_rejection_of_another_request_is_of_no_interest(void **state)
{
    struct rig *r = *state;

    r->y.constraints = YARN_CONSTRAINTS_PROCESSOR;
    ask(r, 1, &apart, NULL);
    beat(r);
    rejected(r, ID(9, 7), 1);
    rejected(r, ID(1, 8), 1);
    assert_int_equal(r->n_waits, 0);
    rejected(r, ID(1, 7), -5);
    assert_int_equal(r->n_waits, 1);
}

static void a_request_that_was_lost_is_repeated_as_it_was(void **state)
{
    struct rig *r = *state;

    r->y.constraints = YARN_CONSTRAINTS_PROCESSOR;
    ask(r, 2, &apart, NULL);
    written(r);
    yarn_asks_failed(&r->y);
    is_request(beat(r), ID(1, 7), 2);
    yarn_asks_resync(&r->y);
    is_request(beat(r), ID(1, 7), 2);
}

static void what_is_to_be_together_begins_with_one(void **state)
{
    struct rig *r = *state;
    struct yarn_node node = {.key = (char *)"h:1"};
    struct yarn_box box = {.tag = (char *)"web", .node = &node};

    r->y.constraints = YARN_CONSTRAINTS_PROCESSOR;
    ask(r, 3, &together, NULL);
    is_request(beat(r), ID(1, 7), 1);
    map_set(&r->y.boxes, "b", &box);
    yarn_asks_granted(&r->y, 2, ID(1, 7));
    is_request(beat(r), ID(2, 7), 2);
    assert_int_equal(r->sent.scheduling_requests[0]->constraint->simple->min_cardinality, 1);
    map_fini(&r->y.boxes, NULL);
}

static void the_scheduler_gets_another_number_of_the_same_request(void **state)
{
    struct rig *r = *state;

    r->y.constraints = YARN_CONSTRAINTS_SCHEDULER;
    ask(r, 3, &apart, NULL);
    is_request(beat(r), ID(1, 7), 3);
    yarn_asks_granted(&r->y, 2, ID(1, 7));
    is_nothing(beat(r));
    ask(r, 4, &apart, NULL);
    is_request(beat(r), ID(1, 7), 4);
    ask(r, 0, &apart, NULL);
    is_request(written(r), ID(1, 7), 0);
    yarn_asks_sent(&r->y);
    assert_int_equal(r->y.asks.n_items, 0);
}

static void another_step_takes_the_request_back_first(void **state)
{
    struct rig *r = *state;
    struct yarn_node node = {.key = (char *)"h:1"};
    struct yarn_box box = {.tag = (char *)"web", .node = &node};

    r->y.constraints = YARN_CONSTRAINTS_SCHEDULER;
    map_set(&r->y.boxes, "b", &box);
    ask(r, 2, &together, NULL);
    is_request(beat(r), ID(1, 7), 2);
    box.c.state = CLUSTER_EXITED;
    is_request(beat(r), ID(1, 7), 0);
    is_request(beat(r), ID(2, 7), 1);
    assert_int_equal(r->sent.scheduling_requests[0]->constraint->simple->min_cardinality, 0);
    map_fini(&r->y.boxes, NULL);
}

static void a_resource_manager_without_a_handler_ends_it(void **state)
{
    struct rig *r = *state;

    r->y.constraints = YARN_CONSTRAINTS_SCHEDULER;
    ask(r, 1, &apart, NULL);
    written(r);
    assert_true(yarn_rounds_refused(&r->y, "cannot handle placement constraints"));
    assert_int_equal(r->why, WAIT_PLACEMENT);
    is_nothing(beat(r));
    r->y.constraints = YARN_CONSTRAINTS_NONE;
    ask(r, 1, &apart, NULL);
    is_nothing(beat(r));
    assert_non_null(strstr(r->text, "yarn.resourcemanager.placement-constraints.handler"));
}

static void a_minimum_that_cannot_be_met_is_said(void **state)
{
    static const struct spec_constraint groups = {.name = (char *)"g", .min = 3, .max = 4};
    struct rig *r = *state;

    r->y.constraints = YARN_CONSTRAINTS_PROCESSOR;
    ask(r, 2, &groups, NULL);
    is_nothing(beat(r));
    assert_int_equal(r->why, WAIT_PLACEMENT_MIN);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, open_rig, close_rig)
    const struct CMUnitTest tests[] = {
        TEST(an_ask_is_sent_once_and_its_number_is_absolute),
        TEST(an_ask_for_a_host_has_its_three_levels),
        TEST(what_was_lost_is_sent_again_and_what_was_refused_is_not),
        TEST(what_no_node_can_have_is_not_sent),
        TEST(a_request_that_is_rejected_waits_and_is_a_new_one_then),
        TEST(a_rejection_of_another_request_is_of_no_interest),
        TEST(a_request_that_was_lost_is_repeated_as_it_was),
        TEST(what_is_to_be_together_begins_with_one),
        TEST(the_scheduler_gets_another_number_of_the_same_request),
        TEST(another_step_takes_the_request_back_first),
        TEST(a_resource_manager_without_a_handler_ends_it),
        TEST(a_minimum_that_cannot_be_met_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

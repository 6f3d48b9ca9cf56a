/** Nodes of the cluster, and what services do about those where they failed or may not be. */
#include "engine/history.h"
#include "engine/past.h"
#include "engine_kit.h"

#include <stdlib.h>
#include <string.h>

#define CONFIG(members) ",\"configuration\":{\"properties\":{" members "}}"
/* The process is not started again where it was; the service does not end by its failures. */
#define FAILS(node_failures)                                                                                 \
    CONFIG("\"yarn.service.container-failure.retry.max\":\"0\","                                             \
           "\"yarn.service.container-failure-per-component.threshold\":\"100\","                             \
           "\"yarn.service.failure-count-reset.window\":\"600\","                                            \
           "\"yarn.service.node-blacklist.threshold\":\"" node_failures "\"")
#define WINDOW_MS 600000

/** A service of one instance on node1 of a cluster of two. */
static void start(struct kit *k, const char *more)
{
    kit_start(k, "seed");
    kit_node(k, "node1", NODE_RUNNING);
    kit_node(k, "node2", NODE_RUNNING);
    assert_int_equal(kit_create(k, kit_spec("s", 1, "ALWAYS", more), false), OUT_LAUNCHED);
    kit_clear(k);
}

static void fail_times(struct kit *k, int n)
{
    for (int i = 0; i < n; i++) {
        kit_exit_code(k, "s", "hello-0", 1);
        kit_fire(k, "s");
        assert_int_equal(kit_state(k, "s", "hello-0"), INST_READY);
    }
}

/** The last that was asked of the cluster about excluded nodes, as "-node1" or "+node1"; "" for nothing. */
static const char *asked(const struct kit *k)
{
    static char text[64];
    const struct eng_effect *e = kit_last(k, EFF_EXCLUDE);
    snprintf(text, sizeof text, "%s%s", !e ? "" : e->excluded ? "-" : "+", e ? e->text : "");
    return text;
}

static void nodes_are_as_last_reported(void **state)
{
    (void)state;
    struct kit k;
    char *labels[] = {"gpu"};
    struct eng_ports range = {2000, 2999}, *ports[] = {&range};
    struct eng_node node = {.host = "b",
                            .rack = "/r1",
                            .labels = labels,
                            .n_labels = 1,
                            .ports = ports,
                            .n_ports = 1,
                            .memory_mb = 4096,
                            .vcores = 8,
                            .n_gpus = 2,
                            .gpu_mask = 5};
    kit_start(&k, "seed");
    kit_step(&k, (struct eng_event){.kind = EV_NODE, .node = &node});
    kit_node(&k, "a", NODE_UNHEALTHY);
    kit_node(&k, "a", NODE_LOST);
    mem_auto const struct eng_node **nodes = engine_nodes(k.e);
    assert_string_equal(nodes[0]->host, "a");
    assert_string_equal(eng_node_state_word(nodes[0]->state), "LOST");
    assert_string_equal(nodes[1]->labels[0], "gpu");
    assert_int_equal(nodes[1]->ports[0]->last, 2999);
    assert_int_equal(nodes[1]->gpu_mask, 5);
    assert_null(nodes[2]);
    assert_int_equal(kit_count(&k, EFF_PERSIST), 0); /* the cluster reports them at each start */
    kit_end(&k);
}

static void nodes_that_never_come_back_are_forgotten(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    for (int i = 0; i < 5000; i++) {
        mem_auto char *host = mem_fmt("n%d", i);
        k.now_ms++;
        kit_node(&k, host, NODE_LOST);
        kit_clear(&k);
    }
    kit_node(&k, "up", NODE_RUNNING);
    mem_auto const struct eng_node **nodes = engine_nodes(k.e);
    size_t n = 0;
    while (nodes[n])
        n++;
    assert_in_range(n, 2, 2000);
    assert_null(engine_node(k.e, "n0"));
    assert_non_null(engine_node(k.e, "n4999"));
    assert_non_null(engine_node(k.e, "up"));
    kit_end(&k);
}

static void a_node_with_too_many_failures_is_avoided_for_the_window(void **state)
{
    (void)state;
    struct kit k;
    start(&k, FAILS("2"));
    fail_times(&k, 2);
    assert_string_equal(asked(&k), "");
    fail_times(&k, 1);
    assert_string_equal(asked(&k), "-node1");
    k.host = "node2";
    fail_times(&k, 1);
    assert_int_equal(kit_count(&k, EFF_EXCLUDE), 1);
    kit_advance(&k, "s", WINDOW_MS);
    assert_string_equal(asked(&k), "+node1");
    kit_end(&k);
}

static void a_node_is_avoided_once_in_the_history(void **state)
{
    (void)state;
    struct kit k;
    const struct eng_history_entry *e;
    size_t n = 0;
    start(&k, FAILS("0"));
    fail_times(&k, 1);
    for (size_t i = 0; (e = eng_service_history(kit_service(&k, "s"), i)); i++) {
        if (strcmp(e->what, "avoided") != 0)
            continue;
        n++;
        assert_string_equal(e->object, "node node1");
        assert_string_equal(e->why, "component hello has failed there too often");
    }
    assert_int_equal(n, 1);
    kit_end(&k);
}

static void the_timer_of_the_service_ends_the_window(void **state)
{
    (void)state;
    struct kit k;
    start(&k, FAILS("0"));
    fail_times(&k, 1);
    assert_string_equal(asked(&k), "-node1");
    int64_t begun_ms = k.now_ms;
    kit_fire(&k, "s");
    assert_string_equal(asked(&k), "+node1");
    assert_in_range(k.now_ms - begun_ms, WINDOW_MS - 1000, WINDOW_MS);
    kit_end(&k);
}

static void the_last_node_is_never_avoided(void **state)
{
    (void)state;
    struct kit k;
    start(&k, FAILS("0"));
    kit_node(&k, "node2", NODE_UNHEALTHY);
    fail_times(&k, 1);
    assert_string_equal(asked(&k), "");
    kit_node(&k, "node2", NODE_RUNNING);
    assert_string_equal(asked(&k), "-node1");
    kit_node(&k, "node2", NODE_LOST);
    assert_string_equal(asked(&k), "+node1");
    kit_end(&k);
}

/* One of the nodes where it fails is left, whatever fails there. */
static void not_all_nodes_are_avoided(void **state)
{
    (void)state;
    struct kit k;
    start(&k, FAILS("0"));
    fail_times(&k, 1);
    k.host = "node2";
    kit_exit_code(&k, "s", "hello-0", 1);
    kit_fire(&k, "s");
    fail_times(&k, 2);
    assert_true(eng_service_place(kit_service(&k, "s"), "node1")->avoided);
    assert_false(eng_service_place(kit_service(&k, "s"), "node2")->avoided);
    kit_end(&k);
}

static void a_node_without_the_label_is_no_other_node(void **state)
{
    (void)state;
    struct kit k;
    char *labels[] = {"gpu"};
    struct eng_node node = {.host = "node1", .labels = labels, .n_labels = 1};
    start(&k, FAILS("0") ",\"placement_policy\":{\"label\":\"gpu\"}");
    kit_step(&k, (struct eng_event){.kind = EV_NODE, .node = &node});
    fail_times(&k, 1);
    assert_string_equal(asked(&k), "");
    node.host = "node2";
    kit_step(&k, (struct eng_event){.kind = EV_NODE, .node = &node});
    fail_times(&k, 1);
    assert_string_equal(asked(&k), "-node1");
    kit_end(&k);
}

static void a_negative_threshold_avoids_none(void **state)
{
    (void)state;
    struct kit k;
    start(&k, FAILS("-1"));
    fail_times(&k, 5);
    assert_string_equal(asked(&k), "");
    assert_null(eng_service_place(kit_service(&k, "s"), "node1"));
    kit_end(&k);
}

static void a_lost_container_is_no_failure_of_its_node(void **state)
{
    (void)state;
    struct kit k;
    start(&k, FAILS("0"));
    mem_auto char *id = mem_str(kit_instance(&k, "s", "hello-0")->container_id);
    kit_step(&k, (struct eng_event){.kind = EV_LOST, .container_id = id, .text = "node lost"});
    assert_string_equal(asked(&k), "");
    kit_end(&k);
}

static void failures_are_remembered_over_a_restart_of_svcmgr(void **state)
{
    (void)state;
    struct kit k;
    start(&k, FAILS("1"));
    fail_times(&k, 2);
    assert_string_equal(asked(&k), "-node1");
    kit_crash(&k);
    kit_node(&k, "node1", NODE_RUNNING);
    kit_node(&k, "node2", NODE_RUNNING);
    kit_recover(&k);
    assert_string_equal(asked(&k), "-node1");
    kit_end(&k);
}

static void a_service_that_starts_anew_avoids_none(void **state)
{
    (void)state;
    struct kit k;
    start(&k, FAILS("0"));
    fail_times(&k, 1);
    kit_request(&k, EV_STOP, "s");
    assert_string_equal(asked(&k), "+node1"); /* of the application that has ended */
    kit_clear(&k);
    kit_request(&k, EV_START, "s");
    assert_string_equal(asked(&k), "");
    kit_end(&k);
}

static void what_runs_on_an_excluded_node_moves(void **state)
{
    (void)state;
    struct kit k;
    start(&k, FAILS("3"));
    mem_auto char *id = mem_str(kit_instance(&k, "s", "hello-0")->container_id);
    k.host = "node2";
    assert_int_equal(kit_exclude(&k, "s", "node1", true), OUT_EXCLUDED);
    assert_string_equal(asked(&k), "-node1");
    assert_string_equal(kit_last(&k, EFF_STOP)->container_id, id);
    const struct eng_instance *inst = kit_instance(&k, "s", "hello-0");
    assert_int_equal(inst->state, INST_READY);
    assert_string_equal(inst->bare_host, "node2");
    assert_int_equal(kit_service(&k, "s")->components[0]->n_failures, 0);
    assert_int_equal(inst->n_restarts, 0);
    kit_clear(&k);
    assert_int_equal(kit_exclude(&k, "s", "node1", true), OUT_EXCLUDED); /* again: nothing more */
    assert_int_equal(kit_count(&k, EFF_STOP) + kit_count(&k, EFF_EXCLUDE) + kit_count(&k, EFF_PERSIST), 0);
    assert_int_equal(kit_exclude(&k, "s", "node1", false), OUT_EXCLUDED);
    assert_string_equal(asked(&k), "+node1");
    kit_end(&k);
}

/* The cluster had chosen the node before it heard of the exclusion. */
static void a_late_container_on_an_excluded_node_is_given_back(void **state)
{
    (void)state;
    struct kit k;
    start(&k, "");
    kit_exclude(&k, "s", "node2", true);
    kit_clear(&k);
    k.obey = false;
    kit_flex(&k, "s", "hello", 2);
    mem_auto char *id = mem_str(kit_last(&k, EFF_REQUEST)->container_id);
    kit_step(&k, (struct eng_event){.kind = EV_ALLOCATED, .container_id = id, .host = "node2"});
    assert_string_equal(kit_last(&k, EFF_STOP)->container_id, id);
    assert_int_equal(kit_state(&k, "s", "hello-1"), INST_RELEASING);
    kit_end(&k);
}

/* A process that waits to be started again in its container does so elsewhere. */
static void a_kept_container_on_an_excluded_node_is_given_back(void **state)
{
    (void)state;
    struct kit k;
    start(&k, "");
    kit_exit_code(&k, "s", "hello-0", 1);
    assert_int_equal(kit_state(&k, "s", "hello-0"), INST_EXITED);
    kit_clear(&k);
    k.host = "node2";
    kit_exclude(&k, "s", "node1", true);
    assert_int_equal(kit_count(&k, EFF_RELEASE), 1);
    assert_int_equal(kit_state(&k, "s", "hello-0"), INST_READY);
    assert_string_equal(kit_instance(&k, "s", "hello-0")->bare_host, "node2");
    kit_end(&k);
}

static void many_instances_move_in_several_steps(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_node(&k, "node1", NODE_RUNNING);
    kit_node(&k, "node2", NODE_RUNNING);
    kit_create(&k, kit_spec("s", 200, "ALWAYS", ""), false);
    k.host = "node2";
    kit_exclude(&k, "s", "node1", true);
    assert_int_equal(kit_service(&k, "s")->state, SVC_STABLE);
    for (int i = 0; i < 200; i++) {
        mem_auto char *name = mem_fmt("hello-%d", i);
        assert_string_equal(kit_instance(&k, "s", name)->bare_host, "node2");
    }
    kit_end(&k);
}

static void an_exclusion_outlives_restart_and_stop(void **state)
{
    (void)state;
    struct kit k;
    start(&k, "");
    kit_exclude(&k, "s", "node2", true);
    kit_crash(&k);
    kit_recover(&k);
    assert_string_equal(asked(&k), "-node2");
    kit_request(&k, EV_STOP, "s");
    assert_string_equal(asked(&k), "+node2");
    kit_request(&k, EV_START, "s");
    assert_string_equal(asked(&k), "-node2");
    kit_end(&k);
}

static void an_exclusion_that_is_not_stored_is_undone(void **state)
{
    (void)state;
    struct kit k;
    start(&k, "");
    kit_undone(&k, (struct eng_event){.kind = EV_EXCLUDE,
                                      .token = 99,
                                      .user = "alice",
                                      .name = "s",
                                      .host = "node1",
                                      .excluded = true});
    assert_int_equal(kit_count(&k, EFF_EXCLUDE) + kit_count(&k, EFF_STOP), 0);
    assert_int_equal(kit_state(&k, "s", "hello-0"), INST_READY);
    kit_exclude(&k, "s", "node2", true);
    kit_undone(&k, (struct eng_event){.kind = EV_EXCLUDE,
                                      .token = 99,
                                      .user = "alice",
                                      .name = "s",
                                      .host = "node2",
                                      .excluded = false});
    assert_true(eng_service_is_excluded(kit_service(&k, "s"), "node2"));
    kit_end(&k);
}

static void an_unknown_node_cannot_be_excluded(void **state)
{
    (void)state;
    struct kit k;
    start(&k, "");
    assert_int_equal(kit_exclude(&k, "s", "nowhere", true), OUT_NO_NODE);
    assert_string_equal(kit_last(&k, EFF_ANSWER)->answer->host, "nowhere");
    assert_int_equal(kit_count(&k, EFF_PERSIST), 0);
    kit_end(&k);
}

static void no_service_remembers_nodes_without_a_bound(void **state)
{
    (void)state;
    struct kit k;
    start(&k, "");
    int outcome = OUT_EXCLUDED;
    int64_t n = 0;
    for (; n < 5000 && outcome == OUT_EXCLUDED; n++) {
        mem_auto char *host = mem_fmt("n%d", (int)n);
        kit_node(&k, host, NODE_RUNNING);
        outcome = kit_exclude(&k, "s", host, true);
    }
    assert_int_equal(outcome, OUT_TOO_MANY_NODES);
    assert_int_equal(kit_last(&k, EFF_ANSWER)->answer->n_old, n - 1);
    assert_int_equal(kit_request(&k, EV_DESTROY, "s"), OUT_DESTROYED);
    assert_null(kit_service(&k, "s"));
    mem_auto const char **keys = map_sorted_keys(&k.store);
    for (size_t i = 0; keys[i]; i++)
        assert_null(strstr(keys[i], "/s"));
    kit_end(&k);
}

/* ---- the nodes where components were ---- */

/** A Slider application of one instance on node1. */
static void start_slider(struct kit *k, bool is_strict, bool forgets)
{
    kit_start(k, "seed");
    k->service_kind = KIND_SLIDER;
    kit_node(k, "node1", NODE_RUNNING);
    kit_node(k, "node2", NODE_RUNNING);
    k->rules = eng_rules_new();
    struct eng_component_rules *rules = eng_rules_add(k->rules, "hello");
    rules->is_strict = is_strict;
    rules->forgets_nodes = forgets;
    kit_create(k, kit_spec("s", 1, "ALWAYS", ""), false);
    k->host = "node2"; /* where new ones would go */
    kit_clear(k);
}

static const char *wish(const struct kit *k)
{
    const char *host = kit_last(k, EFF_REQUEST)->request->host;
    return host ? host : "any";
}

static void a_component_asks_for_the_node_where_it_was(void **state)
{
    (void)state;
    struct kit k;
    start_slider(&k, false, false);
    kit_exit_code(&k, "s", "hello-0", 0);
    kit_fire(&k, "s");
    assert_string_equal(wish(&k), "node1");
    assert_string_equal(kit_instance(&k, "s", "hello-0")->bare_host, "node1");
    kit_flex(&k, "s", "hello", 2); /* one is there: the other goes anywhere */
    assert_string_equal(wish(&k), "any");
    kit_request(&k, EV_STOP, "s");
    kit_crash(&k);
    kit_recover(&k);
    kit_clear(&k);
    kit_request(&k, EV_START, "s");
    assert_int_equal(kit_count(&k, EFF_REQUEST), 2); /* for a node each */
    for (size_t i = 0; i < k.effects.n; i++)
        assert_true(k.effects.items[i].kind != EFF_REQUEST || k.effects.items[i].request->host);
    assert_string_not_equal(kit_instance(&k, "s", "hello-0")->bare_host,
                            kit_instance(&k, "s", "hello-1")->bare_host);
    kit_end(&k);
}

static void services_remember_no_nodes(void **state)
{
    (void)state;
    struct kit k;
    start(&k, "");
    kit_exit_code(&k, "s", "hello-0", 0);
    kit_fire(&k, "s");
    assert_string_equal(wish(&k), "any");
    assert_int_equal(kit_service(&k, "s")->places.n, 0);
    kit_end(&k);
    start_slider(&k, false, true); /* nor do components that are to forget them */
    kit_exit_code(&k, "s", "hello-0", 0);
    kit_fire(&k, "s");
    assert_string_equal(wish(&k), "any");
    kit_end(&k);
}

static void a_node_without_room_is_given_up_after_a_while(void **state)
{
    (void)state;
    for (int strict = 0; strict < 2; strict++) {
        struct kit k;
        start_slider(&k, strict, false);
        kit_exit_code(&k, "s", "hello-0", 0);
        k.obey = false; /* node1 has no room */
        kit_fire(&k, "s");
        assert_string_equal(wish(&k), "node1");
        assert_string_equal(kit_wait(&k, "s", "hello-0"),
                            "container requested on node1, where its component was");
        kit_clear(&k);
        kit_advance(&k, "s", 29000);
        assert_int_equal(kit_count(&k, EFF_CANCEL_REQUEST), 0);
        kit_advance(&k, "s", 1000);
        assert_int_equal(kit_count(&k, EFF_CANCEL_REQUEST), strict ? 0 : 1);
        assert_string_equal(strict ? "any" : wish(&k), "any");
        kit_end(&k);
    }
}

static void a_node_that_cannot_be_used_is_not_asked_for(void **state)
{
    (void)state;
    struct kit k;
    start_slider(&k, false, false);
    kit_node(&k, "node1", NODE_LOST);
    kit_exit_code(&k, "s", "hello-0", 0);
    kit_fire(&k, "s");
    assert_string_equal(wish(&k), "any");
    kit_node(&k, "node1", NODE_RUNNING);
    kit_exclude(&k, "s", "node1", true);
    kit_exit_code(&k, "s", "hello-0", 0);
    kit_fire(&k, "s");
    assert_string_equal(wish(&k), "node2");
    kit_end(&k);
}

/* A crash while the request waits: it asks for the same node again, and escalates at the same time. */
static void a_wish_outlives_a_restart(void **state)
{
    (void)state;
    struct kit k;
    start_slider(&k, false, false);
    kit_exit_code(&k, "s", "hello-0", 0);
    k.obey = false;
    kit_fire(&k, "s");
    kit_crash(&k);
    kit_recover(&k);
    assert_string_equal(wish(&k), "node1");
    kit_clear(&k);
    kit_fire(&k, "s");
    assert_int_equal(kit_count(&k, EFF_CANCEL_REQUEST), 1);
    assert_string_equal(wish(&k), "any");
    kit_end(&k);
}

/* ---- what is counted ---- */

static const struct eng_use *use_on(const struct kit *k, const char *host)
{
    const struct eng_place *place = eng_service_place(kit_service(k, "s"), host);
    return place && place->n_uses ? place->uses[0] : NULL;
}

static void ends_are_counted_where_they_happen(void **state)
{
    (void)state;
    struct kit k;
    start_slider(&k, false, false);
    kit_exit_code(&k, "s", "hello-0", 1);
    kit_fire(&k, "s");
    kit_exit(&k, "s", "hello-0", eng_exit_of(CAUSE_PREEMPTED, 0, NULL));
    kit_fire(&k, "s");
    k.now_ms += 3600000; /* longer than a start takes */
    kit_exit_code(&k, "s", "hello-0", 1);
    kit_crash(&k);
    kit_recover(&k);
    const struct eng_use *use = use_on(&k, "node1");
    assert_int_equal(use->n_failed, 2);
    assert_int_equal(use->n_start_failed, 1);
    assert_int_equal(use->n_preempted, 1);
    kit_request(&k, EV_STOP, "s");
    kit_request(&k, EV_START, "s");
    kit_exit(&k, "s", "hello-0", eng_exit_of(CAUSE_PREEMPTED, 0, NULL)); /* of another incarnation */
    assert_int_equal(use_on(&k, "node1")->n_preempted, 1);
    assert_int_equal(use_on(&k, "node1")->n_start_failed, 0);
    kit_end(&k);
}

/** −1: failures are counted, and no node is avoided. */
static void a_threshold_of_minus_one_avoids_no_node(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    k.service_kind = KIND_SLIDER;
    kit_node(&k, "node1", NODE_RUNNING);
    kit_node(&k, "node2", NODE_RUNNING);
    kit_create(
        &k,
        kit_spec("s", 1, "ALWAYS",
                 ",\"configuration\":{\"properties\":{\"yarn.service.node-blacklist.threshold\":\"-1\","
                 "\"yarn.service.container-failure-per-component.threshold\":\"0\"}}"),
        false);
    kit_clear(&k);
    for (int i = 0; i < 20; i++) {
        kit_exit_code(&k, "s", "hello-0", 1);
        kit_fire(&k, "s");
    }
    assert_int_equal(kit_count(&k, EFF_EXCLUDE), 0);
    assert_int_equal(use_on(&k, "node1")->n_failed, 20);
    assert_string_equal(wish(&k), "node1");
    kit_end(&k);
}

static void how_a_container_was_asked_for_is_remembered(void **state)
{
    (void)state;
    struct kit k;
    start_slider(&k, false, false);
    assert_int_equal(kit_instance(&k, "s", "hello-0")->placing, PLACING_OPEN);
    kit_exit_code(&k, "s", "hello-0", 0);
    kit_fire(&k, "s");
    kit_crash(&k);
    kit_recover(&k);
    assert_int_equal(kit_instance(&k, "s", "hello-0")->placing, PLACING_PLACED);
    kit_exit_code(&k, "s", "hello-0", 0);
    k.obey = false; /* node1 has no room */
    kit_fire(&k, "s");
    kit_advance(&k, "s", 30000);
    mem_auto char *id = mem_str(kit_last(&k, EFF_REQUEST)->container_id);
    kit_step(&k, (struct eng_event){.kind = EV_ALLOCATED, .container_id = id, .host = "node2"});
    assert_int_equal(kit_instance(&k, "s", "hello-0")->placing, PLACING_ESCALATED);
    assert_int_equal(eng_service_past(kit_service(&k, "s"), 0)->placing, PLACING_PLACED);
    kit_end(&k);
    start(&k, ""); /* services remember no nodes */
    assert_int_equal(kit_instance(&k, "s", "hello-0")->placing, PLACING_UNKNOWN);
    kit_end(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_are_as_last_reported),
        cmocka_unit_test(nodes_that_never_come_back_are_forgotten),
        cmocka_unit_test(a_node_with_too_many_failures_is_avoided_for_the_window),
        cmocka_unit_test(a_node_is_avoided_once_in_the_history),
        cmocka_unit_test(the_timer_of_the_service_ends_the_window),
        cmocka_unit_test(the_last_node_is_never_avoided),
        cmocka_unit_test(not_all_nodes_are_avoided),
        cmocka_unit_test(a_node_without_the_label_is_no_other_node),
        cmocka_unit_test(a_negative_threshold_avoids_none),
        cmocka_unit_test(a_lost_container_is_no_failure_of_its_node),
        cmocka_unit_test(failures_are_remembered_over_a_restart_of_svcmgr),
        cmocka_unit_test(a_service_that_starts_anew_avoids_none),
        cmocka_unit_test(what_runs_on_an_excluded_node_moves),
        cmocka_unit_test(a_late_container_on_an_excluded_node_is_given_back),
        cmocka_unit_test(a_kept_container_on_an_excluded_node_is_given_back),
        cmocka_unit_test(many_instances_move_in_several_steps),
        cmocka_unit_test(an_exclusion_outlives_restart_and_stop),
        cmocka_unit_test(an_exclusion_that_is_not_stored_is_undone),
        cmocka_unit_test(an_unknown_node_cannot_be_excluded),
        cmocka_unit_test(no_service_remembers_nodes_without_a_bound),
        cmocka_unit_test(a_component_asks_for_the_node_where_it_was),
        cmocka_unit_test(services_remember_no_nodes),
        cmocka_unit_test(a_node_without_room_is_given_up_after_a_while),
        cmocka_unit_test(a_node_that_cannot_be_used_is_not_asked_for),
        cmocka_unit_test(a_wish_outlives_a_restart),
        cmocka_unit_test(ends_are_counted_where_they_happen),
        cmocka_unit_test(a_threshold_of_minus_one_avoids_no_node),
        cmocka_unit_test(how_a_container_was_asked_for_is_remembered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

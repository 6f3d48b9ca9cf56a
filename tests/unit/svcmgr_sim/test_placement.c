/* Placement constraints and resource types on simulated nodes: who goes where, and what is said of who does not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "base/obj.h"
#include "sim/sim.h"
#include "spec/spec.h"

#define FOREVER (INT64_MAX - 1)

struct world {
    struct sim_script *script;
    struct sim *sim;
    struct spec_needs *needs;
    int n;            /* containers so far */
    char lack[512];   /* of the last request that waits: "constraint: sentence" */
    size_t n_waiting; /* as the cluster counts them */
};

/** constraint: members of one, with ' for "; NULL: none. more: of the component. */
static void start(struct world *w, const char *script, const char *constraint, const char *more)
{
    struct spec_component *c = NULL;
    struct err_info why = {0};
    mem_auto char *list =
        constraint ? mem_fmt("'placement_policy':{'constraints':[{'name':'CA1','target_tags':['web'],%s}]},",
                             constraint)
                   : mem_str("");
    mem_auto char *text = mem_fmt("{%s%s'name':'web'}", list, more ? more : "'resource':{},");
    for (char *p = text; *p; p++)
        *p = *p == '\'' ? '"' : *p;
    *w = (struct world){.script = NULL};
    if (spec_read_component(text, strlen(text), &c, NULL, &why) || sim_script_read(script, &w->script, &why))
        fail_msg("%s", why.text);
    w->needs = spec_needs_new(c);
    fld_free(&spec_component_type, c);
    w->sim = sim_new(w->script, 7);
}

static void end(struct world *w)
{
    sim_free(w->sim);
    sim_script_free(w->script);
    spec_needs_free(w->needs);
}

static void run(struct world *w)
{
    struct sim_event ev;
    size_t n_held;
    while (sim_take(w->sim, FOREVER, &ev)) {
        mem_auto char *text = sim_lack_text(ev.lack, ev.lacking);
        if (ev.kind == SIM_EV_WAITS)
            snprintf(w->lack, sizeof w->lack, "%s: %s", ev.lacking ? ev.lacking : "-", text);
    }
    sim_count(w->sim, &n_held, &w->n_waiting);
}

static void ask(struct world *w, int n)
{
    w->lack[0] = '\0';
    for (int i = 0; i < n; i++) {
        char id[16];
        snprintf(id, sizeof id, "c%d", ++w->n);
        const struct sim_ask a = {.id = id,
                                  .application = "app",
                                  .component = "web",
                                  .room = {.memory_mb = 10, .vcores = 1},
                                  .needs = w->needs};
        sim_request(w->sim, &a, 0);
    }
    run(w);
}

/** Containers on each node, as "1 0 2". Static. */
static const char *layout(const struct world *w)
{
    static char text[256];
    size_t len = 0;
    for (size_t i = 0; i < sim_nodes_of(w->sim)->n; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "%s%lld", i ? " " : "",
                                (long long)sim_nodes_of(w->sim)->list[i].used.memory_mb / 10);
    return text;
}

static void anti_affinity_gives_a_node_to_each(void **state)
{
    (void)state;
    struct world w;
    start(&w, "nodes 3 memory=100", "'type':'ANTI_AFFINITY','scope':'NODE'", NULL);
    ask(&w, 5);
    assert_string_equal(layout(&w), "1 1 1");
    assert_int_equal(w.n_waiting, 2);
    assert_string_equal(w.lack, "CA1: it forbids every node that has room");
    sim_release(w.sim, "c2", 1);
    run(&w);
    assert_string_equal(layout(&w), "1 1 1");
    assert_int_equal(w.n_waiting, 1);
    end(&w);
}

static void racks_are_a_scope(void **state)
{
    (void)state;
    struct world w;
    start(&w, "nodes 2 memory=100 rack=/a; nodes 2 memory=100 rack=/b; nodes 1 memory=100 rack=/a",
          "'type':'ANTI_AFFINITY','scope':'RACK'", NULL);
    ask(&w, 3);
    assert_string_equal(layout(&w), "1 0 1 0 0");
    assert_int_equal(w.n_waiting, 1);
    end(&w);
}

static void affinity_keeps_them_together(void **state)
{
    (void)state;
    struct world w;
    start(&w, "nodes 3 memory=30", "'type':'AFFINITY','scope':'NODE'", NULL);
    ask(&w, 4);
    assert_string_equal(layout(&w), "3 0 0");
    assert_int_equal(w.n_waiting, 1);
    assert_string_equal(w.lack, "CA1: it forbids every node that has room");
    end(&w);
    start(&w, "nodes 3 memory=100 rack=/a; nodes 3 memory=100 rack=/b", "'type':'AFFINITY','scope':'RACK'",
          NULL);
    ask(&w, 4);
    assert_int_equal(w.n_waiting, 0);
    assert_non_null(strstr(layout(&w), " 0 0 0"));
    end(&w);
}

/** Scopes are filled one after the other, and none is begun with too few. */
static void a_cardinality_is_kept(void **state)
{
    (void)state;
    struct world w;
    start(&w, "nodes 3 memory=100", "'type':'AFFINITY_WITH_CARDINALITY','scope':'NODE','max_cardinality':2",
          NULL);
    ask(&w, 7);
    assert_string_equal(layout(&w), "2 2 2");
    assert_int_equal(w.n_waiting, 1);
    end(&w);
    start(&w, "nodes 3 memory=100",
          "'type':'AFFINITY_WITH_CARDINALITY','scope':'NODE','min_cardinality':2,'max_cardinality':3", NULL);
    ask(&w, 1);
    assert_string_equal(layout(&w), "0 0 0");
    ask(&w, 1);
    assert_string_equal(layout(&w), "2 0 0");
    ask(&w, 2);
    assert_string_equal(layout(&w), "3 0 0");
    assert_int_equal(w.n_waiting, 1);
    ask(&w, 1);
    assert_string_equal(layout(&w), "3 2 0");
    end(&w);
}

static void nodes_have_attributes_and_partitions(void **state)
{
    (void)state;
    struct world w;
    const char *script = "nodes 1 memory=100 attributes=os:linux,disk:hdd; nodes 1 memory=100 label=gpu "
                         "attributes=os:linux,disk:ssd";
    start(&w, script,
          "'type':'AFFINITY','scope':'NODE','node_attributes':{'os':['windows','linux'],'disk':['ssd']}",
          NULL);
    ask(&w, 2);
    assert_string_equal(layout(&w), "0 2");
    end(&w);
    start(&w, script, "'type':'ANTI_AFFINITY','scope':'NODE','node_partitions':['gpu']", NULL);
    ask(&w, 2);
    assert_string_equal(layout(&w), "0 1");
    assert_int_equal(w.n_waiting, 1);
    end(&w);
    start(&w, script, "'type':'AFFINITY','scope':'NODE','node_attributes':{'os':['plan9']}", NULL);
    ask(&w, 1);
    assert_string_equal(layout(&w), "0 0");
    assert_string_equal(w.lack, "CA1: it forbids every node that has room");
    end(&w);
}

static void resource_types_are_counted(void **state)
{
    (void)state;
    struct world w;
    const char *gpus = "'resource':{'additional':{'yarn.io/gpu':{'value':2,'unit':''}}},";
    start(&w, "nodes 1 memory=100; nodes 1 memory=100 gpus=5 resources=yarn.io/fpga:1", NULL, gpus);
    ask(&w, 3);
    assert_string_equal(layout(&w), "0 2");
    assert_string_equal(w.lack, "-: no node has room now");
    sim_release(w.sim, "c1", 1);
    run(&w);
    assert_int_equal(w.n_waiting, 0);
    end(&w);
    start(&w, "nodes 1 memory=100 resources=yarn.io/fpga:1", NULL, gpus);
    ask(&w, 1);
    assert_string_equal(w.lack, "-: no node is large enough");
    end(&w);
    start(&w, "nodes 1 memory=100", NULL, "'resource':{'additional':{'acme.com/chip':{'value':1}}},");
    ask(&w, 1);
    assert_string_equal(w.lack, "acme.com/chip: no node has acme.com/chip");
    end(&w);
}

/** A node's GPUs have numbers: some are asked for by them, the others are the lowest that are free. */
static void gpus_have_numbers(void **state)
{
    (void)state;
    struct world w;
    start(&w, "nodes 1 memory=100 gpus=4", NULL, "'resource':{'additional':{'yarn.io/gpu':{'value':1}}},");
    w.needs->amounts[0].mask = 2;
    ask(&w, 2);
    assert_int_equal(sim_find(w.sim, "c1")->gpus, 2);
    assert_int_equal(w.n_waiting, 1);
    assert_string_equal(w.lack, "-: no node has room now");
    w.needs->amounts[0] = (struct spec_amount){w.needs->amounts[0].type, 2, 0};
    ask(&w, 1);
    assert_int_equal(sim_find(w.sim, "c3")->gpus, 5);
    sim_release(w.sim, "c1", 1);
    run(&w);
    assert_int_equal(sim_find(w.sim, "c2")->gpus, 2);
    w.needs->amounts[0] = (struct spec_amount){w.needs->amounts[0].type, 1, 16};
    ask(&w, 1);
    assert_string_equal(w.lack, "-: no node is large enough");
    end(&w);
}

/** Who has no place keeps nobody else from one, however many they are. */
static void others_are_served_beside_them(void **state)
{
    (void)state;
    struct world w;
    start(&w, "nodes 1 memory=1000", "'type':'ANTI_AFFINITY','scope':'NODE'", NULL);
    ask(&w, 300);
    assert_int_equal(w.n_waiting, 299);
    for (int i = 0; i < 99; i++) {
        char id[16];
        snprintf(id, sizeof id, "x%d", i);
        sim_request(w.sim, &(struct sim_ask){.id = id, .room = {.memory_mb = 10, .vcores = 0}}, 0);
    }
    sim_request(w.sim, &(struct sim_ask){.id = "last", .room = {.memory_mb = 10, .vcores = 0}}, 0);
    run(&w);
    assert_int_equal(w.n_waiting, 300);
    sim_release(w.sim, "x7", 1);
    run(&w);
    assert_non_null(sim_find(w.sim, "last")->node);
    end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(anti_affinity_gives_a_node_to_each),
        cmocka_unit_test(racks_are_a_scope),
        cmocka_unit_test(affinity_keeps_them_together),
        cmocka_unit_test(a_cardinality_is_kept),
        cmocka_unit_test(nodes_have_attributes_and_partitions),
        cmocka_unit_test(resource_types_are_counted),
        cmocka_unit_test(gpus_have_numbers),
        cmocka_unit_test(others_are_served_beside_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

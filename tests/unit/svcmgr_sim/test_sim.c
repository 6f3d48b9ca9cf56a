/* The simulated cluster: what a container goes through, and what goes wrong by script. */
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

#define SEED    7
#define FOREVER (INT64_MAX - 1)

struct world {
    struct sim_script *script;
    struct sim *sim;
    char trace[4096]; /* "allocated c1; …" */
};

static void start(struct world *w, const char *script)
{
    struct err_info why = {0};
    *w = (struct world){.script = NULL};
    if (sim_script_read(script, &w->script, &why))
        fail_msg("%s", why.text);
    w->sim = sim_new(w->script, SEED);
}

static void end(struct world *w)
{
    sim_free(w->sim);
    sim_script_free(w->script);
}

static void ask(struct world *w, const char *id, int64_t memory_mb, const char *label)
{
    struct sim_ask a = {.id = id, .room = {.memory_mb = memory_mb, .vcores = 1}, .label = label};
    sim_request(w->sim, &a, 0);
}

static void add(struct world *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void add(struct world *w, const char *fmt, ...)
{
    size_t len = strlen(w->trace);
    va_list ap;
    va_start(ap, fmt);
    len += (size_t)snprintf(w->trace + len, sizeof w->trace - len, "%s", len ? "; " : "");
    vsnprintf(w->trace + len, sizeof w->trace - len, fmt, ap);
    va_end(ap);
}

static void add_lack(struct world *w, const char *id, const struct sim_event *ev)
{
    mem_auto char *text = sim_lack_text(ev->lack, ev->lacking);
    bool is_named = ev->lack == SIM_LACKS_CONSTRAINT;
    add(w, "%s waits: %s%s%s", id, is_named ? ev->lacking : "", is_named ? ": " : "", text);
}

/** What happens up to a time, as "allocated c1; started c1 1". */
static const char *run(struct world *w, int64_t until_ms)
{
    struct sim_event ev;
    w->trace[0] = '\0';
    while (sim_take(w->sim, until_ms, &ev)) {
        const char *id = ev.container ? ev.container->id : NULL;
        switch (ev.kind) {
        case SIM_EV_ALLOCATED: add(w, "allocated %s", id); break;
        case SIM_EV_WAITS: add_lack(w, id, &ev); break;
        case SIM_EV_STARTED: add(w, "started %s %d", id, (int)ev.attempt); break;
        case SIM_EV_ENDED:
            add(w, "ended %s %d cause %d value %d at %d", id, (int)ev.attempt, (int)ev.container->cause,
                ev.container->value, (int)ev.at_ms);
            break;
        case SIM_EV_READINESS:
            add(w, "%s %s at %d", id, ev.is_ready ? "ready" : "unready", (int)ev.at_ms);
            break;
        case SIM_EV_NODE: add(w, "%s %s", ev.node->name, ev.node->is_down ? "down" : "up"); break;
        }
    }
    return w->trace;
}

static void a_container_lives(void **state)
{
    (void)state;
    struct world w;
    start(&w, "delay allocate=10 start=20 stop=5 ready=100");
    ask(&w, "c1", 64, NULL);
    assert_string_equal(run(&w, 9), "");
    assert_string_equal(run(&w, 10), "allocated c1");
    assert_non_null(sim_find(w.sim, "c1")->node);
    assert_int_equal(sim_launch(w.sim, "c1", 1, "web-0", 10), 0);
    assert_int_equal(sim_launch(w.sim, "c1", 1, "web-0", 10), ERR_WRONGSTATE);
    assert_string_equal(run(&w, 30), "started c1 1");
    sim_probe(w.sim, "c1", 30);
    assert_string_equal(run(&w, 1000), "c1 unready at 30; c1 ready at 130");
    sim_stop(w.sim, "c1", false, 1000);
    assert_string_equal(run(&w, FOREVER), "ended c1 1 cause 6 value 0 at 1005");
    assert_int_equal(sim_launch(w.sim, "c1", 2, "web-0", 1005), 0);
    assert_string_equal(run(&w, FOREVER), "started c1 2");
    sim_release(w.sim, "c1", 1100);
    assert_null(sim_find(w.sim, "c1"));
    assert_int_equal(sim_nodes_of(w.sim)->used.memory_mb, 0);
    assert_int_equal(sim_launch(w.sim, "c1", 3, "web-0", 1200), ERR_NOTFOUND);
    assert_string_equal(run(&w, FOREVER), "");
    end(&w);
}

static void an_excluded_node_gets_nothing_of_that_application(void **state)
{
    (void)state;
    struct world w;
    start(&w, "nodes 2 memory=100 vcores=8");
    const struct sim_room half = {.memory_mb = 50, .vcores = 1};
    const struct sim_ask asks[] = {{.id = "a", .application = "app1", .room = half},
                                   {.id = "b", .application = "app1", .room = half},
                                   {.id = "c", .application = "app1", .room = half},
                                   {.id = "d", .application = "app2", .room = half}};
    sim_exclude(w.sim, "app1", "node-00001", true, 0);
    for (size_t i = 0; i < ARRAY_LEN(asks); i++)
        sim_request(w.sim, &asks[i], 0);
    assert_string_equal(run(&w, 0), "allocated a; allocated b; c waits: no node has room now; allocated d");
    assert_string_equal(sim_find(w.sim, "a")->node->name, "node-00002");
    assert_string_equal(sim_find(w.sim, "b")->node->name, "node-00002");
    assert_string_equal(sim_find(w.sim, "d")->node->name, "node-00001");
    sim_exclude(w.sim, "app1", "node-00001", false, 1);
    assert_string_equal(run(&w, 1), "allocated c");
    end(&w);
}

static void a_request_for_one_node_waits_for_it(void **state)
{
    (void)state;
    struct world w;
    start(&w, "nodes 2 memory=100 vcores=8");
    const struct sim_ask first = {.id = "a", .host = "node-00002", .room = {.memory_mb = 80, .vcores = 1}};
    const struct sim_ask second = {.id = "b", .host = "node-00002", .room = {.memory_mb = 80, .vcores = 1}};
    sim_request(w.sim, &first, 0);
    sim_request(w.sim, &second, 0);
    assert_string_equal(run(&w, 0), "allocated a; b waits: no node has room now");
    sim_release(w.sim, "a", 1);
    assert_string_equal(run(&w, 1), "allocated b");
    assert_string_equal(sim_find(w.sim, "b")->node->name, "node-00002");
    end(&w);
}

static void what_does_not_fit_waits_and_says_why(void **state)
{
    (void)state;
    struct world w;
    start(&w, "nodes 2 memory=100 vcores=8; nodes 1 memory=50 vcores=8 label=fast");
    ask(&w, "a", 100, NULL);
    ask(&w, "b", 100, NULL);
    ask(&w, "c", 60, NULL);
    ask(&w, "d", 60, "fast");
    ask(&w, "e", 10, "slow");
    ask(&w, "f", 50, "fast");
    assert_string_equal(run(&w, 0),
                        "allocated a; allocated b; c waits: no node has room now; "
                        "d waits: no node is large enough; e waits: no node has its label; allocated f");
    assert_string_equal(sim_find(w.sim, "f")->node->label, "fast");
    ask(&w, "c", 60, NULL); /* asked again: it waits on */
    assert_string_equal(run(&w, 0), "");
    sim_release(w.sim, "a", 5);
    assert_string_equal(run(&w, 5), "allocated c");
    sim_cancel(w.sim, "d", 6);
    assert_null(sim_find(w.sim, "d"));
    size_t n_held, n_waiting;
    sim_count(w.sim, &n_held, &n_waiting);
    assert_int_equal(n_held, 3);
    assert_int_equal(n_waiting, 1);
    end(&w);
}

static void a_container_that_is_asked_for_again_is_allocated_again(void **state)
{
    (void)state;
    struct world w;
    start(&w, "");
    ask(&w, "c1", 64, NULL);
    ask(&w, "c1", 64, NULL);
    assert_string_equal(run(&w, 0), "allocated c1");
    ask(&w, "c1", 64, NULL);
    assert_string_equal(run(&w, 0), "allocated c1");
    end(&w);
}

static void processes_end_by_rule(void **state)
{
    (void)state;
    struct world w;
    start(&w,
          "end exit=3 of=web-* after=50 attempts=1; end launch of=bad-0; end preempted of=pre-0 after=10");
    const char *const ids[] = {"c1", "c2", "c3"}, *const names[] = {"web-0", "bad-0", "pre-0"};
    for (size_t i = 0; i < ARRAY_LEN(ids); i++)
        ask(&w, ids[i], 64, NULL);
    run(&w, 0);
    for (size_t i = 0; i < ARRAY_LEN(ids); i++)
        assert_int_equal(sim_launch(w.sim, ids[i], 1, names[i], 0), 0);
    assert_string_equal(run(&w, FOREVER),
                        "started c1 1; ended c2 1 cause 2 value 0 at 0; started c3 1; "
                        "ended c3 1 cause 4 value 0 at 10; ended c1 1 cause 0 value 3 at 50");
    assert_int_equal(sim_launch(w.sim, "c1", 2, "web-0", 60), 0);
    assert_string_equal(run(&w, FOREVER), "started c1 2");
    assert_int_equal(sim_launch(w.sim, "c3", 2, "pre-0", 60), ERR_WRONGSTATE); /* its container is gone */
    end(&w);
}

static void a_share_is_about_that_share(void **state)
{
    (void)state;
    struct world w;
    int n_ended = 0;
    start(&w, "end exit=1 share=20% after=10");
    for (int i = 0; i < 1000; i++) {
        mem_auto char *id = mem_fmt("c%d", i);
        ask(&w, id, 1, NULL);
    }
    struct sim_event ev;
    while (sim_take(w.sim, FOREVER, &ev)) {
        mem_auto char *id = mem_str(ev.container->id);
        if (ev.kind == SIM_EV_ALLOCATED)
            assert_int_equal(sim_launch(w.sim, id, 1, "web-0", 0), 0);
        n_ended += ev.kind == SIM_EV_ENDED;
    }
    assert_in_range(n_ended, 150, 250);
    end(&w);
}

static void readiness_is_lost_for_a_time(void **state)
{
    (void)state;
    struct world w;
    start(&w, "unready share=100% after=100 for=50");
    ask(&w, "c1", 64, NULL);
    run(&w, 0);
    sim_launch(w.sim, "c1", 1, "web-0", 0);
    run(&w, 0);
    sim_probe(w.sim, "c1", 0);
    assert_string_equal(run(&w, FOREVER), "c1 ready at 0; c1 unready at 100; c1 ready at 150");
    sim_unprobe(w.sim, "c1");
    sim_stop(w.sim, "c1", true, 200);
    assert_string_equal(run(&w, FOREVER), "ended c1 1 cause 6 value 0 at 200");
    end(&w);
}

static void a_node_takes_its_containers_along(void **state)
{
    (void)state;
    struct world w;
    start(&w, "nodes 2 memory=100 vcores=8");
    ask(&w, "held", 60, NULL);
    ask(&w, "runs", 60, NULL);
    run(&w, 0);
    sim_launch(w.sim, "runs", 1, "web-0", 0);
    run(&w, 0);
    size_t node = sim_find(w.sim, "runs")->node->index;
    ask(&w, "waits", 60, NULL);
    run(&w, 0);
    sim_fail_node(w.sim, node, 1000, 10);
    assert_string_equal(run(&w, 500), "ended runs 1 cause 5 value -100 at 10");
    sim_release(w.sim, "runs", 500);
    assert_string_equal(run(&w, 999), ""); /* the node has room, and is down */
    mem_auto char *up = mem_fmt("%s up; allocated waits", sim_nodes_of(w.sim)->list[node].name);
    assert_string_equal(run(&w, FOREVER), up);
    end(&w);
}

static void a_granted_container_of_a_failed_node_gets_another(void **state)
{
    (void)state;
    struct world w;
    start(&w, "nodes 2 memory=100 vcores=8; delay allocate=100");
    ask(&w, "c1", 60, NULL);
    size_t node = sim_find(w.sim, "c1")->node->index;
    sim_fail_node(w.sim, node, -1, 50);
    assert_string_equal(run(&w, FOREVER), "allocated c1");
    assert_int_not_equal(sim_find(w.sim, "c1")->node->index, node);
    end(&w);
}

static void answers_are_repeated_and_lost(void **state)
{
    (void)state;
    struct world w;
    start(&w, "answers repeated=100%");
    ask(&w, "c1", 60, NULL);
    assert_string_equal(run(&w, FOREVER), "allocated c1; allocated c1");
    end(&w);
    start(&w, "answers lost=100%");
    ask(&w, "c1", 60, NULL);
    assert_string_equal(run(&w, FOREVER), "");
    assert_int_equal(sim_find(w.sim, "c1")->state, SIM_HELD);
    ask(&w, "c1", 60, NULL);
    assert_string_equal(run(&w, FOREVER), "allocated c1"); /* who asks again has an answer */
    end(&w);
}

static void a_restored_container_goes_on(void **state)
{
    (void)state;
    struct world w;
    start(&w, "end exit=1 after=50");
    struct sim_ask a = {.id = "c1", .room = {.memory_mb = 64, .vcores = 1}, .ip = "10.1.2.3"};
    sim_restore(w.sim, &a, "node-00042", 3, true, "web-0", 100);
    assert_string_equal(sim_find(w.sim, "c1")->node->name, "node-00042");
    assert_int_equal(sim_find(w.sim, "c1")->state, SIM_RUNNING);
    assert_string_equal(run(&w, FOREVER), "ended c1 3 cause 0 value 1 at 150");
    end(&w);
}

/** Everything that happens to 50 containers under a script in which all goes wrong. */
static void live_through(struct world *w, char *trace, size_t size)
{
    struct sim_event ev;
    size_t len = 0;
    start(w, "nodes 5 memory=1000 vcores=50; delay allocate=0-20 start=0-20 stop=0-20 ready=0-20; end exit=1 "
             "share=30% after=0-500; "
             "end lost share=10% after=0-500; node-failure every=100-300 down=50-500; answers lost=5% "
             "repeated=20%");
    for (int i = 0; i < 50; i++) {
        mem_auto char *id = mem_fmt("c%d", i);
        ask(w, id, 50, NULL);
    }
    while (sim_take(w->sim, 3000, &ev)) {
        mem_auto char *id = mem_str(ev.container ? ev.container->id : ev.node->name);
        len += (size_t)snprintf(trace + len, size - len, "%d %s %d\n", (int)ev.kind, id, (int)ev.at_ms);
        assert_true(len < size);
        if (ev.kind == SIM_EV_ALLOCATED || ev.kind == SIM_EV_ENDED)
            sim_launch(w->sim, id, ev.attempt + 1, "web-0", 0);
    }
    end(w);
}

static void one_seed_gives_one_trace(void **state)
{
    (void)state;
    enum { SIZE = 1 << 20 };
    struct world w;
    mem_auto char *first = mem_zalloc(SIZE);
    mem_auto char *second = mem_zalloc(SIZE);
    live_through(&w, first, SIZE);
    live_through(&w, second, SIZE);
    assert_true(strlen(first) > 1000);
    assert_string_equal(first, second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_container_lives),
        cmocka_unit_test(a_request_for_one_node_waits_for_it),
        cmocka_unit_test(an_excluded_node_gets_nothing_of_that_application),
        cmocka_unit_test(what_does_not_fit_waits_and_says_why),
        cmocka_unit_test(a_container_that_is_asked_for_again_is_allocated_again),
        cmocka_unit_test(processes_end_by_rule),
        cmocka_unit_test(a_share_is_about_that_share),
        cmocka_unit_test(readiness_is_lost_for_a_time),
        cmocka_unit_test(a_node_takes_its_containers_along),
        cmocka_unit_test(a_granted_container_of_a_failed_node_gets_another),
        cmocka_unit_test(answers_are_repeated_and_lost),
        cmocka_unit_test(a_restored_container_goes_on),
        cmocka_unit_test(one_seed_gives_one_trace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

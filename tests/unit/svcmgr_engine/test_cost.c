/**
 * What an event causes does not depend on how many instances its service has: as many effects, and documents of the same size, in a
 * service of ten as in one of thousands. That nothing searches through all of them is a rule of tests/shape.
 */
#include "engine_kit.h"

#include <stdlib.h>
#include <string.h>

enum { FEW = 10, MANY = 3000 };

/** What the steps since kit_clear have caused. */
struct cost {
    size_t n_steps, n_effects, n_bytes;
};

static struct cost cost_of(const struct kit *k, size_t steps_before)
{
    struct cost c = {.n_steps = k->n_steps - steps_before, .n_effects = k->effects.n};
    for (size_t i = 0; i < k->effects.n; i++)
        c.n_bytes += k->effects.items[i].kind == EFF_PERSIST ? k->effects.items[i].len : 0;
    return c;
}

/* ---- what happens ---- */

static void process_fails(struct kit *k)
{
    kit_exit_code(k, "web", "hello-3", 1);
    kit_fire(k, "web");
}

static void container_is_lost(struct kit *k)
{
    mem_auto char *id = mem_str(kit_instance(k, "web", "hello-3")->container_id);
    kit_step(k, (struct eng_event){.kind = EV_LOST, .container_id = id});
    kit_fire(k, "web");
}

static void probe_fails_and_succeeds(struct kit *k)
{
    kit_probe(k, "web", "hello-3", false);
    kit_probe(k, "web", "hello-3", true);
}

static void one_more_is_wanted(struct kit *k)
{
    struct eng_flex f = {"hello", 1, true};
    kit_step(
        k,
        (struct eng_event){
            .kind = EV_FLEX, .token = ++k->token, .user = k->user, .name = "web", .flex = &f, .n_flex = 1});
}

static void one_less_is_wanted(struct kit *k)
{
    struct eng_flex f = {"hello", -1, true};
    kit_step(
        k,
        (struct eng_event){
            .kind = EV_FLEX, .token = ++k->token, .user = k->user, .name = "web", .flex = &f, .n_flex = 1});
}

static void one_is_decommissioned(struct kit *k)
{
    const char *names[] = {"hello-5"};
    kit_step(k, (struct eng_event){.kind = EV_DECOMMISSION,
                                   .token = ++k->token,
                                   .user = k->user,
                                   .name = "web",
                                   .names = names,
                                   .n_names = 1});
}

static void record_fails_and_is_repeated(struct kit *k)
{
    k->obey = false;
    kit_probe(k, "web", "hello-3", false);
    kit_step(k, (struct eng_event){
                    .kind = EV_RECORD, .ticket = kit_last(k, EFF_PUBLISH)->ticket, .code = ERR_UNAVAILABLE});
    kit_fire(k, "web");
}

static void request_is_undone(struct kit *k)
{
    kit_undone(k, (struct eng_event){.kind = EV_STOP, .token = 999, .user = k->user, .name = "web"});
}

static const struct {
    const char *name;
    void (*happens)(struct kit *k);
} rows[] = {
    {"a process fails", process_fails},
    {"a container is lost", container_is_lost},
    {"a probe fails and succeeds", probe_fails_and_succeeds},
    {"one more is wanted", one_more_is_wanted},
    {"one less is wanted", one_less_is_wanted},
    {"one is decommissioned", one_is_decommissioned},
    {"a record fails and is repeated", record_fails_and_is_repeated},
    {"a request is undone", request_is_undone},
};

static struct cost measure(size_t row, int n)
{
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", n, "ALWAYS", ""), false);
    assert_int_equal(kit_service(&k, "web")->components[0]->n_in[INST_READY], n);
    kit_clear(&k);
    size_t before = k.n_steps;
    rows[row].happens(&k);
    struct cost c = cost_of(&k, before);
    kit_end(&k);
    return c;
}

static void an_event_causes_as_much_in_a_large_service(void **state)
{
    (void)state;
    for (size_t row = 0; row < ARRAY_LEN(rows); row++) {
        struct cost few = measure(row, FEW), many = measure(row, MANY);
        size_t n_documents = few.n_effects;
        if (few.n_steps != many.n_steps || few.n_effects != many.n_effects ||
            many.n_bytes > few.n_bytes + 32 * n_documents) /* numbers have more digits */
            fail_msg("%s: %zu steps, %zu effects, %zu bytes in a service of %d; %zu, %zu, %zu in one of %d",
                     rows[row].name, few.n_steps, few.n_effects, few.n_bytes, FEW, many.n_steps,
                     many.n_effects, many.n_bytes, MANY);
    }
}

/** Documents of instances that were written since kit_clear. */
static size_t n_instance_documents(const struct kit *k)
{
    size_t n = 0;
    for (size_t i = 0; i < k->effects.n; i++) {
        const struct eng_effect *e = &k->effects.items[i];
        n += e->kind == EFF_PERSIST && strstr(e->key, "/hello-") != NULL;
    }
    return n;
}

static void a_restart_writes_nothing_of_what_still_runs(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", FEW, "ALWAYS", ""), false);
    kit_crash(&k);
    kit_recover(&k);
    assert_int_equal(kit_service(&k, "web")->components[0]->n_in[INST_READY], FEW);
    assert_int_equal(n_instance_documents(&k), 0);
    kit_exit_code(&k, "web", "hello-3", 1);
    assert_int_equal(n_instance_documents(&k), 1);
    kit_end(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_event_causes_as_much_in_a_large_service),
        cmocka_unit_test(a_restart_writes_nothing_of_what_still_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

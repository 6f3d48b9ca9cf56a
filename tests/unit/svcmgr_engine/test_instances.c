/**
 * The instances of a component are counted, ordered and found by number without a search: what is kept for that agrees with a
 * search through all of them, whatever happens.
 */
#include "engine_kit.h"

#include <stdlib.h>
#include <string.h>

static bool is_decommissioned(const struct eng_instance *inst)
{
    const struct spec_component *spec = inst->component->spec;
    for (size_t i = 0; i < spec->n_decommissioned_instances; i++) {
        if (strcmp(spec->decommissioned_instances[i], inst->name) == 0)
            return true;
    }
    return false;
}

/** Fails unless the counters, the order and the numbers agree with the instances. */
static void check(const struct eng_service *s)
{
    for (size_t i = 0; s && i < s->n_components; i++) {
        const struct eng_component *c = s->components[i];
        const struct eng_instance *inst;
        int64_t n_in[ENG_N_INSTANCE_STATES] = {0}, n_removing = 0, last = -1;
        size_t n = 0, n_in_heaps = 0, n_failures = 0;
        TAILQ_FOREACH (inst, &c->instances, link) {
            n++;
            n_in[inst->state]++;
            n_removing += inst->removing;
            n_in_heaps += heap_has(&inst->due);
            n_failures += inst->last_exit && eng_exit_is_failure(inst->last_exit);
            assert_true(inst->index > last);
            assert_true(inst->removing || inst->index < c->staying_end);
            assert_true(!inst->removing || inst->index >= c->lowest_free || is_decommissioned(inst));
            assert_ptr_equal(c->by_index[inst->index], inst);
            assert_int_equal(heap_has(&inst->due), inst->state == INST_PENDING ||
                                                       inst->state == INST_EXITED ||
                                                       inst->state == INST_DRAINING);
            last = inst->index;
        }
        assert_int_equal(c->n_instances, n);
        assert_int_equal(c->n_removing, n_removing);
        assert_int_equal(c->starts.n_nodes + c->ends.n_nodes + c->unplaced.n_nodes, n_in_heaps);
        for (size_t rank = 0; rank < ARRAY_LEN(c->failures); rank++)
            n_failures -= c->failures[rank].n_nodes;
        assert_int_equal(n_failures, 0);
        assert_memory_equal(c->n_in, n_in, sizeof n_in);
    }
}

/** An instance of the service, by a random number; NULL: there is none. */
static const struct eng_instance *any_instance(const struct kit *k, uint32_t random)
{
    const struct eng_service *s = kit_service(k, "web");
    const struct eng_component *c = s && s->n_components ? s->components[0] : NULL;
    const struct eng_instance *inst = c ? TAILQ_FIRST(&c->instances) : NULL;
    for (size_t i = c && c->n_instances ? random % c->n_instances : 0; i > 0; i--)
        inst = TAILQ_NEXT(inst, link);
    return inst;
}

static void something_happens(struct kit *k, uint32_t random)
{
    const struct eng_instance *inst = any_instance(k, random >> 8);
    mem_auto char *name = mem_str(inst ? inst->name : NULL);
    bool holds = inst && inst->container_id;
    const char *names[] = {name};
    switch (random % 16) {
    case 0:
    case 1: kit_flex(k, "web", "hello", random >> 8 & 31); break;
    case 2:
        if (inst)
            kit_step(k, (struct eng_event){.kind = EV_DECOMMISSION,
                                           .token = ++k->token,
                                           .user = k->user,
                                           .name = "web",
                                           .names = names,
                                           .n_names = 1});
        break;
    case 3: kit_request(k, random & 256 ? EV_STOP : EV_START, "web"); break;
    case 4: kit_request(k, EV_START, "web"); break;
    case 5: k->obey = !k->obey; break;
    case 6: kit_undone(k, (struct eng_event){.kind = EV_STOP, .user = k->user, .name = "web"}); break;
    case 7:
        kit_crash(k);
        kit_recover(k);
        break;
    case 8:
    case 9:
    case 10: kit_advance(k, "web", 500); break;
    default:
        if (holds)
            kit_exit_code(k, "web", name, (int)(random >> 8 & 1));
        break;
    }
}

static void what_is_counted_agrees_with_a_search(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 8; seed++) {
        struct kit k;
        uint32_t random = seed;
        kit_start(&k, "seed");
        kit_create(&k, kit_spec("web", 4, seed % 2 ? "ALWAYS" : "ON_FAILURE", ""), false);
        for (int i = 0; i < 600; i++) {
            random = random * 1664525u + 1013904223u;
            something_happens(&k, random >> 4);
            check(kit_service(&k, "web"));
            if (i % 50 == 0)
                kit_clear(&k);
        }
        kit_end(&k);
    }
}

static void numbers_of_those_that_went_are_given_again(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", 5, "ALWAYS", ""), false);
    kit_flex(&k, "web", "hello", 2);
    kit_flex(&k, "web", "hello", 4);
    assert_string_equal(kit_list(&k, "web"), "hello-0:READY hello-1:READY hello-2:READY hello-3:READY");
    check(kit_service(&k, "web"));
    kit_end(&k);
}

/** What the placement constraints leave no room for waits apart, and the first of them comes in when there is room. */
static void the_first_without_room_comes_in_when_there_is(void **state)
{
    static const char one_a_node[] = ",\"placement_policy\":{\"constraints\":[{\"type\":\"ANTI_AFFINITY\","
                                     "\"scope\":\"NODE\",\"target_tags\":[\"hello\"]}]}";
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", 3, "ALWAYS", one_a_node), false);
    const struct eng_component *c = kit_service(&k, "web")->components[0];
    assert_string_equal(kit_list(&k, "web"), "hello-0:READY hello-1:PENDING hello-2:PENDING");
    assert_int_equal(c->unplaced.n_nodes, 2);
    kit_exit_code(&k, "web", "hello-0", 0);
    check(kit_service(&k, "web"));
    assert_string_equal(kit_list(&k, "web"), "hello-0:PENDING hello-1:READY hello-2:PENDING");
    kit_end(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_counted_agrees_with_a_search),
        cmocka_unit_test(numbers_of_those_that_went_are_given_again),
        cmocka_unit_test(the_first_without_room_comes_in_when_there_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

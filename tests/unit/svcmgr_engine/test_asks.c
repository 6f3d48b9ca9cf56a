/** Requests to a cluster that names its containers: counts under a key, taken back, and sent again. See svcmgr/engine/asks.c. */
#include <string.h>

#include "engine_kit.h"

/** A service of so many instances whose requests are not answered yet. */
static void ask_for(struct kit *k, int n)
{
    kit_start(k, "seed");
    k->cfg.address_net = NULL; /* the cluster gives addresses */
    kit_crash(k);
    kit_recover(k);
    k->obey = false;
    kit_create(k, kit_spec("s", n, "ALWAYS", ""), false);
}

/** The cluster gives a container of its own name for a key. */
static void give(struct kit *k, int64_t allocation_id, const char *id)
{
    kit_step(k, (struct eng_event){.kind = EV_ALLOCATED,
                                   .service_kind = k->service_kind,
                                   .user = "alice",
                                   .name = "s",
                                   .container_id = id,
                                   .allocation_id = allocation_id,
                                   .host = "node7"});
}

static void resync(struct kit *k)
{
    kit_clear(k);
    kit_step(k, (struct eng_event){.kind = EV_RESYNC, .user = "alice", .name = "s"});
    kit_advance(k, "s", 0);
}

/** The request of the last effect of a kind. */
static const struct eng_request *last(const struct kit *k, enum eng_effect_kind kind)
{
    assert_non_null(kit_last(k, kind));
    return kit_last(k, kind)->request;
}

static void the_instances_of_a_component_share_a_key_and_its_count(void **state)
{
    (void)state;
    struct kit k;
    ask_for(&k, 3);
    int64_t key = last(&k, EFF_REQUEST)->allocation_id;
    size_t n = 0;
    assert_true(key > 0);
    for (size_t i = 0; i < k.effects.n; i++) {
        const struct eng_request *r = k.effects.items[i].request;
        if (k.effects.items[i].kind != EFF_REQUEST)
            continue;
        assert_int_equal(r->allocation_id, key);
        assert_int_equal(r->priority, 1);
        assert_int_equal(r->n_wanted, ++n);
    }
    assert_int_equal(n, 3);
    kit_end(&k);
}

static void components_have_keys_of_their_own_the_first_comes_first(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    k.obey = false;
    kit_create(
        &k,
        "{\"name\":\"s\",\"version\":\"1\",\"launch_command\":\"run\",\"number_of_containers\":1,"
        "\"resource\":{\"cpus\":1,\"memory\":\"64\"},\"components\":[{\"name\":\"a\"},{\"name\":\"b\"}]}",
        false);
    const struct eng_ask *a = kit_instance(&k, "s", "a-0")->ask, *b = kit_instance(&k, "s", "b-0")->ask;
    assert_int_not_equal(a->allocation_id, b->allocation_id);
    assert_true(eng_ask_priority(a) < eng_ask_priority(b));
    kit_end(&k);
}

static void a_container_goes_to_the_oldest_instance_of_its_key(void **state)
{
    (void)state;
    struct kit k;
    ask_for(&k, 2);
    int64_t key = last(&k, EFF_REQUEST)->allocation_id;
    give(&k, key, "container_e9_7_1_01_5");
    assert_string_equal(kit_list(&k, "s"), "hello-0:ALLOCATED hello-1:REQUESTED");
    assert_string_equal(kit_instance(&k, "s", "hello-0")->container_id, "container_e9_7_1_01_5");
    assert_int_equal(kit_instance(&k, "s", "hello-1")->ask->n_wanted, 1);
    give(&k, key, "container_e9_7_1_01_6");
    give(&k, key, "container_e9_7_1_01_7"); /* one more than was wanted */
    assert_string_equal(kit_list(&k, "s"), "hello-0:ALLOCATED hello-1:ALLOCATED");
    assert_string_equal(kit_last(&k, EFF_RELEASE)->container_id, "container_e9_7_1_01_7");
    kit_end(&k);
}

static void what_is_taken_back_lowers_the_count_and_may_come_all_the_same(void **state)
{
    (void)state;
    struct kit k;
    ask_for(&k, 3);
    const struct eng_ask *ask = kit_instance(&k, "s", "hello-0")->ask;
    int64_t key = ask->allocation_id;
    kit_flex(&k, "s", "hello", 1);
    assert_int_equal(last(&k, EFF_CANCEL_REQUEST)->n_wanted, 1);
    assert_int_equal(last(&k, EFF_CANCEL_REQUEST)->allocation_id, key);
    assert_int_equal(ask->n_wanted, 1);
    assert_int_equal(ask->n_cancelling, 2);
    give(&k, key, "container_e9_7_1_01_5");
    give(&k, key, "container_e9_7_1_01_6");
    assert_string_equal(kit_list(&k, "s"), "hello-0:ALLOCATED");
    assert_string_equal(kit_last(&k, EFF_RELEASE)->container_id, "container_e9_7_1_01_6");
    assert_int_equal(ask->n_cancelling, 1);
    kit_end(&k);
}

static void requests_keep_their_key_over_a_restart(void **state)
{
    (void)state;
    struct kit k;
    ask_for(&k, 2);
    int64_t key = last(&k, EFF_REQUEST)->allocation_id, since_ms = k.now_ms;
    assert_int_equal(eng_ask_since_ms(kit_instance(&k, "s", "hello-0")->ask), since_ms);
    kit_crash(&k);
    k.now_ms += 5000;
    kit_recover(&k);
    assert_int_equal(kit_count(&k, EFF_REQUEST), 2);
    assert_int_equal(last(&k, EFF_REQUEST)->allocation_id, key);
    assert_int_equal(last(&k, EFF_REQUEST)->n_wanted, 2);
    assert_int_equal(eng_ask_since_ms(kit_instance(&k, "s", "hello-0")->ask), since_ms);
    kit_end(&k);
}

/** A container that is held is confirmed after a restart, which must not raise the count. */
static void a_container_that_is_held_is_not_asked_for_again(void **state)
{
    (void)state;
    struct kit k;
    ask_for(&k, 1);
    give(&k, last(&k, EFF_REQUEST)->allocation_id, "container_e9_7_1_01_5");
    kit_crash(&k);
    kit_step(&k, (struct eng_event){.kind = EV_RESUME}); /* nothing was launched in it */
    assert_int_equal(last(&k, EFF_REQUEST)->allocation_id, 0);
    assert_int_equal(last(&k, EFF_REQUEST)->n_wanted, 0);
    assert_null(kit_instance(&k, "s", "hello-0")->ask);
    kit_end(&k);
}

/** There is no other of its name: asked for by that name it would be lost for ever. */
static void a_container_that_is_held_and_gone_after_a_restart_is_asked_for_by_key(void **state)
{
    (void)state;
    struct kit k;
    ask_for(&k, 2);
    int64_t key = last(&k, EFF_REQUEST)->allocation_id;
    give(&k, key, "container_e9_7_1_01_5");
    kit_crash(&k);
    kit_step(&k, (struct eng_event){.kind = EV_RESUME});
    kit_clear(&k);
    kit_step(&k,
             (struct eng_event){.kind = EV_LOST, .container_id = "container_e9_7_1_01_5", .text = "none"});
    assert_string_equal(kit_list(&k, "s"), "hello-0:REQUESTED hello-1:REQUESTED");
    assert_int_equal(kit_count(&k, EFF_REQUEST), 1);
    assert_int_equal(last(&k, EFF_REQUEST)->allocation_id, key);
    assert_int_equal(last(&k, EFF_REQUEST)->n_wanted, 2);
    kit_end(&k);
}

static void all_that_is_outstanding_is_sent_again(void **state)
{
    (void)state;
    struct kit k;
    ask_for(&k, 3);
    give(&k, last(&k, EFF_REQUEST)->allocation_id, "container_e9_7_1_01_5");
    kit_step(&k, (struct eng_event){.kind = EV_RUNNING,
                                    .container_id = "container_e9_7_1_01_5",
                                    .attempt = 1,
                                    .ip = "10.1.1.1",
                                    .host = "node7"});
    resync(&k);
    assert_int_equal(kit_count(&k, EFF_REQUEST), 2); /* not what runs */
    assert_int_equal(last(&k, EFF_REQUEST)->n_wanted, 2);
    assert_int_equal(kit_count(&k, EFF_LAUNCH) + kit_count(&k, EFF_STOP), 0);
    kit_request(&k, EV_STOP, "s");
    resync(&k);
    assert_int_equal(kit_count(&k, EFF_STOP), 1);
    assert_int_equal(kit_count(&k, EFF_REQUEST), 0);
    kit_end(&k);
}

static void many_are_sent_again_in_slices(void **state)
{
    (void)state;
    struct kit k;
    ask_for(&k, 200);
    resync(&k);
    assert_int_equal(kit_count(&k, EFF_REQUEST), 200);
    assert_int_equal(last(&k, EFF_REQUEST)->n_wanted, 200);
    kit_end(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_instances_of_a_component_share_a_key_and_its_count),
        cmocka_unit_test(components_have_keys_of_their_own_the_first_comes_first),
        cmocka_unit_test(a_container_goes_to_the_oldest_instance_of_its_key),
        cmocka_unit_test(what_is_taken_back_lowers_the_count_and_may_come_all_the_same),
        cmocka_unit_test(requests_keep_their_key_over_a_restart),
        cmocka_unit_test(a_container_that_is_held_is_not_asked_for_again),
        cmocka_unit_test(a_container_that_is_held_and_gone_after_a_restart_is_asked_for_by_key),
        cmocka_unit_test(all_that_is_outstanding_is_sent_again),
        cmocka_unit_test(many_are_sent_again_in_slices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

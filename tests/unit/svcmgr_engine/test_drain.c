/** An instance that is to go loses its clients before it is stopped. */
#include "engine_kit.h"

#include <stdlib.h>
#include <string.h>

#include "engine/history.h"

#define SECONDS 5
#define DRAIN   ",\"configuration\":{\"properties\":{\"yarn.service.drain.seconds\":\"5\"}}"

/** web with two instances, hello-1 is being removed. The container of hello-1, owned. */
static char *start_draining(struct kit *k)
{
    kit_start(k, "seed");
    kit_create(k, kit_spec("web", 2, "ALWAYS", DRAIN), false);
    char *id = mem_str(kit_instance(k, "web", "hello-1")->container_id);
    k->obey = false;
    kit_clear(k);
    kit_flex(k, "web", "hello", 1);
    assert_int_equal(kit_state(k, "web", "hello-1"), INST_DRAINING);
    return id;
}

static void record_deleted(struct kit *k, int code)
{
    kit_step(
        k, (struct eng_event){.kind = EV_RECORD, .ticket = kit_last(k, EFF_UNPUBLISH)->ticket, .code = code});
}

static void synced(struct kit *k, const char *id, int code)
{
    kit_step(k, (struct eng_event){.kind = EV_SYNCED, .container_id = id, .code = code});
}

static void names_go_before_the_process(void **state)
{
    (void)state;
    struct kit k;
    mem_auto char *id = start_draining(&k);
    assert_string_equal(kit_last(&k, EFF_UNPUBLISH)->container_id, id);
    assert_int_equal(kit_count(&k, EFF_SYNC) + kit_count(&k, EFF_STOP), 0);
    record_deleted(&k, 0);
    assert_string_equal(kit_last(&k, EFF_SYNC)->container_id, id);
    synced(&k, id, 0);
    assert_int_equal(kit_service(&k, "web")->timer_ms, k.now_ms + 1000 * SECONDS);
    assert_int_equal(kit_count(&k, EFF_STOP), 0);
    kit_fire(&k, "web");
    assert_string_equal(kit_last(&k, EFF_STOP)->container_id, id);
    assert_int_equal(kit_state(&k, "web", "hello-1"), INST_RELEASING);
    k.obey = true;
    kit_step(&k, (struct eng_event){.kind = EV_LOST, .container_id = id});
    assert_string_equal(kit_list(&k, "web"), "hello-0:READY");
    kit_end(&k);
}

/** A restart is a stop for the clients: they go first. Its process comes back, and so does its record. */
static void a_restart_drains(void **state)
{
    (void)state;
    struct kit k;
    const char *name = "hello-0";
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", 1, "ALWAYS", DRAIN), false);
    mem_auto char *id = mem_str(kit_instance(&k, "web", "hello-0")->container_id);
    k.obey = false;
    kit_clear(&k);
    kit_ask(&k, (struct eng_event){.kind = EV_RESTART, .name = "web", .names = &name, .n_names = 1});
    kit_crash(&k);
    kit_recover(&k);
    assert_int_equal(kit_state(&k, "web", "hello-0"), INST_DRAINING);
    assert_int_equal(kit_count(&k, EFF_REINIT), 0);
    k.obey = true;
    kit_advance(&k, "web", 60000);
    kit_advance(&k, "web", 60000);
    kit_advance(&k, "web", 60000);
    assert_string_equal(kit_list(&k, "web"), "hello-0:READY");
    assert_string_equal(kit_instance(&k, "web", "hello-0")->container_id, id);
    assert_int_equal(kit_instance(&k, "web", "hello-0")->attempt, 2);
    assert_int_equal(kit_count(&k, EFF_STOP), 0);
    kit_end(&k);
}

/** Neither a registry nor a DNS server that is away holds the stop up for ever. */
static void every_phase_ends(void **state)
{
    (void)state;
    for (int n_answers = 0; n_answers < 2; n_answers++) {
        struct kit k;
        mem_auto char *id = start_draining(&k);
        int64_t from_ms = k.now_ms;
        if (n_answers > 0)
            record_deleted(&k, 0);
        for (int i = 0; i < 30 && kit_state(&k, "web", "hello-1") == INST_DRAINING; i++)
            kit_fire(&k, "web");
        assert_string_equal(kit_last(&k, EFF_STOP)->container_id, id);
        assert_in_range(k.now_ms - from_ms, 1000 * SECONDS, 60000);
        kit_end(&k);
    }
}

static void a_refused_deletion_is_no_reason_to_wait(void **state)
{
    (void)state;
    struct kit k;
    free(start_draining(&k));
    record_deleted(&k, ERR_PERMISSION);
    assert_int_equal(kit_service(&k, "web")->timer_ms, k.now_ms + 1000 * SECONDS);
    kit_end(&k);
}

static void what_is_wanted_again_gets_its_record_back(void **state)
{
    (void)state;
    struct kit k;
    mem_auto char *id = start_draining(&k);
    k.obey = true;
    kit_flex(&k, "web", "hello", 2);
    assert_string_equal(kit_list(&k, "web"), "hello-0:READY hello-1:READY");
    assert_string_equal(kit_last(&k, EFF_PUBLISH)->container_id, id);
    assert_int_equal(kit_count(&k, EFF_STOP), 0);
    assert_int_equal(eng_service_n_stale(kit_service(&k, "web")), 0);
    kit_end(&k);
}

static size_t n_unconfirmed(const struct kit *k)
{
    size_t n = 0;
    const struct eng_history_entry *entry;
    for (size_t i = 0; (entry = eng_service_history(kit_service(k, "web"), i)); i++)
        n += strcmp(entry->what, "drained without confirmation") == 0;
    return n;
}

/** One entry says that DNS does not confirm, until it does again. */
static void what_dns_does_not_confirm_is_recorded_once(void **state)
{
    (void)state;
    static const struct {
        int code;
        size_t n;
    } steps[] = {{ERR_TIMEOUT, 1}, {ERR_TIMEOUT, 1}, {0, 1}, {ERR_TIMEOUT, 2}};
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", 5, "ALWAYS", DRAIN), false);
    for (int i = 0; i < 4; i++) {
        mem_auto char *name = mem_fmt("hello-%d", 4 - i);
        mem_auto char *id = mem_str(kit_instance(&k, "web", name)->container_id);
        k.obey = false;
        kit_flex(&k, "web", "hello", 4 - i);
        record_deleted(&k, 0);
        synced(&k, id, steps[i].code);
        k.obey = true;
        assert_int_equal(n_unconfirmed(&k), steps[i].n);
    }
    kit_end(&k);
}

static void the_end_of_the_service_waits_for_nobody(void **state)
{
    (void)state;
    struct kit k;
    free(start_draining(&k));
    kit_request(&k, EV_STOP, "web");
    assert_int_equal(kit_count(&k, EFF_STOP), 2);
    kit_end(&k);
}

static void a_drain_goes_on_after_a_restart(void **state)
{
    (void)state;
    struct kit k;
    mem_auto char *id = start_draining(&k);
    record_deleted(&k, 0);
    kit_crash(&k);
    kit_recover(&k);
    assert_string_equal(kit_last(&k, EFF_SYNC)->container_id, id);
    synced(&k, id, ERR_TIMEOUT);
    kit_fire(&k, "web");
    assert_string_equal(kit_last(&k, EFF_STOP)->container_id, id);
    kit_end(&k);
}

static void what_ended_meanwhile_is_done(void **state)
{
    (void)state;
    struct kit k;
    mem_auto char *id = start_draining(&k);
    kit_crash(&k);
    kit_step(&k, (struct eng_event){.kind = EV_RECOVERED, .container_id = id, .found = FOUND_GONE});
    kit_step(&k, (struct eng_event){.kind = EV_RESUME});
    assert_int_equal(kit_state(&k, "web", "hello-1"), -1);
    kit_end(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_go_before_the_process),
        cmocka_unit_test(a_restart_drains),
        cmocka_unit_test(every_phase_ends),
        cmocka_unit_test(a_refused_deletion_is_no_reason_to_wait),
        cmocka_unit_test(what_is_wanted_again_gets_its_record_back),
        cmocka_unit_test(what_dns_does_not_confirm_is_recorded_once),
        cmocka_unit_test(the_end_of_the_service_waits_for_nobody),
        cmocka_unit_test(a_drain_goes_on_after_a_restart),
        cmocka_unit_test(what_ended_meanwhile_is_done),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/** When records are written and removed, and what is in them. */
#include "engine_kit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void records_of_a_service(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(
        &k,
        kit_spec("web", 1, "ALWAYS", ",\"readiness_check\":{\"type\":\"PORT\",\"properties\":{\"port\":1}}"),
        false);
    assert_int_equal(kit_count(&k, EFF_PUBLISH), 2);
    const struct eng_effect *own = NULL, *inst = kit_last(&k, EFF_PUBLISH);
    for (size_t i = 0; i < k.effects.n && !own; i++)
        own = k.effects.items[i].kind == EFF_PUBLISH ? &k.effects.items[i] : NULL;
    assert_string_equal(own->path, "/users/alice/services/yarn-service/web");
    assert_string_equal(own->record->description, "YarnServiceMaster");
    assert_string_equal(own->record->yarn_id, "application_1700000000000_0001");
    assert_string_equal(own->record->persistence, "application");
    assert_null(own->record->ip);
    /* before readiness */
    assert_int_equal(kit_state(&k, "web", "hello-0"), INST_RUNNING);
    assert_string_equal(inst->path,
                        "/users/alice/services/yarn-service/web/components/ctr-1700000000000-0001-01-000002");
    assert_string_equal(inst->record->description, "hello-0");
    assert_string_equal(inst->record->yarn_id, "container_1700000000000_0001_01_000002");
    assert_string_equal(inst->record->persistence, "container");
    assert_string_equal(inst->record->hostname, "node1");
    assert_string_equal(inst->record->component, "hello");
    assert_string_equal(inst->record->ip, kit_instance(&k, "web", "hello-0")->ip);
    kit_end(&k);
}

static void the_subtree_is_cleared_before_the_first_record(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", 1, "ALWAYS", ""), false);
    const struct eng_effect *first = NULL;
    for (size_t i = 0; i < k.effects.n && !first; i++) {
        bool registry = k.effects.items[i].kind == EFF_PURGE || k.effects.items[i].kind == EFF_PUBLISH;
        first = registry ? &k.effects.items[i] : NULL;
    }
    assert_non_null(first);
    assert_int_equal(first->kind, EFF_PURGE);
    kit_end(&k);
}

static void flexed_down_instances_lose_their_records_at_once(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", 2, "ALWAYS", ""), false);
    mem_auto char *id = mem_str(kit_instance(&k, "web", "hello-1")->container_id);
    kit_clear(&k);
    k.obey = false;
    kit_flex(&k, "web", "hello", 1);
    assert_string_equal(kit_last(&k, EFF_UNPUBLISH)->container_id, id);
    kit_end(&k);
}

static void a_failed_write_is_repeated(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", 1, "ALWAYS", ""), false);
    mem_auto char *id = mem_str(kit_instance(&k, "web", "hello-0")->container_id);
    kit_crash(&k); /* the records are written anew: let both fail */
    k.obey = false;
    kit_recover(&k);
    int64_t tickets[2];
    size_t n = 0;
    for (size_t i = 0; i < k.effects.n; i++) {
        if (k.effects.items[i].kind == EFF_PUBLISH)
            tickets[n++] = k.effects.items[i].ticket;
    }
    assert_int_equal(n, 2);
    for (size_t i = 0; i < n; i++)
        kit_step(&k, (struct eng_event){.kind = EV_RECORD, .ticket = tickets[i], .code = ERR_UNAVAILABLE});
    kit_clear(&k);
    kit_fire(&k, "web");
    assert_int_equal(kit_count(&k, EFF_PUBLISH), 2);
    assert_string_equal(kit_last(&k, EFF_PUBLISH)->container_id, id);
    assert_int_equal(kit_service(&k, "web")->state, SVC_STABLE); /* never fatal */
    kit_end(&k);
}

/** The registry's answer to the last effect of a kind. */
static void answer_last(struct kit *k, enum eng_effect_kind kind, int code, const char *text)
{
    kit_step(k, (struct eng_event){
                    .kind = EV_RECORD, .ticket = kit_last(k, kind)->ticket, .code = code, .text = text});
}

/** The same to the record of a container. @return its id, free() */
static char *answer_container(struct kit *k, int code, const char *text)
{
    const struct eng_effect *e = NULL;
    for (size_t i = 0; i < k->effects.n; i++) {
        if (k->effects.items[i].kind == EFF_PUBLISH && k->effects.items[i].container_id)
            e = &k->effects.items[i];
    }
    assert_non_null(e);
    char *id = mem_str(e->container_id);
    kit_step(k, (struct eng_event){.kind = EV_RECORD, .ticket = e->ticket, .code = code, .text = text});
    return id;
}

static void assert_refusals(const struct kit *k, const char *part)
{
    mem_auto char *text = eng_service_refusals(kit_service(k, "web"));
    if (!part)
        assert_null(text);
    else if (!text || !strstr(text, part))
        fail_msg("\"%s\" is not in: %s", part, text ? text : "nothing");
}

static void what_is_refused_for_good_waits_for_a_change(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", 2, "ALWAYS", ""), false);
    assert_refusals(&k, NULL);
    kit_crash(&k); /* the records are written anew */
    k.obey = false;
    kit_recover(&k);
    mem_auto char *refused = answer_container(&k, ERR_TOOBIG, "a record has more than 2 attributes");
    assert_refusals(&k, "a record has more than 2 attributes");
    assert_refusals(&k, refused);
    assert_int_equal(kit_service(&k, "web")->retry_ms, 0);

    /* Other work of the service that fails for now is repeated without it. */
    int64_t own = 0;
    for (size_t i = 0; i < k.effects.n && !own; i++)
        own = k.effects.items[i].kind == EFF_PUBLISH && !k.effects.items[i].container_id
                  ? k.effects.items[i].ticket
                  : 0;
    kit_step(&k, (struct eng_event){.kind = EV_RECORD, .ticket = own, .code = ERR_UNAVAILABLE});
    kit_clear(&k);
    kit_fire(&k, "web");
    assert_int_equal(kit_count(&k, EFF_PUBLISH), 1);
    assert_null(kit_last(&k, EFF_PUBLISH)->container_id);
    answer_last(&k, EFF_PUBLISH, 0, NULL);
    assert_refusals(&k, refused);

    kit_clear(&k);
    kit_step(&k, (struct eng_event){.kind = EV_REGISTRY});
    assert_int_equal(kit_count(&k, EFF_PUBLISH), 1);
    assert_string_equal(kit_last(&k, EFF_PUBLISH)->container_id, refused);
    answer_last(&k, EFF_PUBLISH, ERR_TOOBIG, "still");
    assert_refusals(&k, "still");
    kit_step(&k, (struct eng_event){.kind = EV_REGISTRY});
    answer_last(&k, EFF_PUBLISH, 0, NULL);
    assert_refusals(&k, NULL);
    kit_clear(&k);
    kit_step(&k, (struct eng_event){.kind = EV_REGISTRY});
    assert_int_equal(kit_count(&k, EFF_PUBLISH) + kit_count(&k, EFF_TIMER), 0);
    kit_end(&k);
}

static void a_container_that_ended_is_not_refused_any_more(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", 1, "ALWAYS", ""), false);
    kit_crash(&k);
    k.obey = false;
    kit_recover(&k);
    free(answer_container(&k, ERR_PERMISSION, "no"));
    assert_refusals(&k, "no");
    k.obey = true;
    kit_exit_signal(&k, "web", "hello-0", 9);
    assert_refusals(&k, NULL);
    kit_end(&k);
}

static void a_purge_that_is_refused_waits_for_a_change(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", 1, "ALWAYS", ""), false);
    kit_request(&k, EV_STOP, "web");
    k.obey = false;
    kit_clear(&k);
    kit_request(&k, EV_DESTROY, "web");
    answer_last(&k, EFF_PURGE, ERR_PERMISSION, "not yours");
    assert_int_equal(kit_last(&k, EFF_ANSWER)->answer->outcome, OUT_PURGE_FAILED);
    assert_int_equal(kit_service(&k, "web")->retry_ms, 0);
    assert_refusals(&k, "to remove the record of web: not yours");
    kit_clear(&k);
    kit_step(&k, (struct eng_event){.kind = EV_REGISTRY});
    assert_int_equal(kit_count(&k, EFF_PURGE), 1);
    answer_last(&k, EFF_PURGE, ERR_PERMISSION, "not yours");
    kit_clear(&k);
    kit_request(&k, EV_DESTROY, "web"); /* who asks once more is a change, too */
    answer_last(&k, EFF_PURGE, 0, NULL);
    assert_null(kit_service(&k, "web"));
    kit_end(&k);
}

static void a_failed_removal_is_repeated_also_after_a_restart(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", 2, "ALWAYS", ""), false);
    mem_auto char *id = mem_str(kit_instance(&k, "web", "hello-1")->container_id);
    k.obey = false;
    kit_flex(&k, "web", "hello", 1);
    kit_step(&k, (struct eng_event){.kind = EV_RECORD,
                                    .ticket = kit_last(&k, EFF_UNPUBLISH)->ticket,
                                    .code = ERR_UNAVAILABLE});
    kit_clear(&k);
    kit_fire(&k, "web");
    assert_string_equal(kit_last(&k, EFF_UNPUBLISH)->container_id, id);
    kit_crash(&k);
    k.obey = true;
    kit_recover(&k);
    assert_string_equal(kit_last(&k, EFF_UNPUBLISH)->container_id, id);
    assert_int_equal(eng_service_n_stale(kit_service(&k, "web")), 0);
    kit_end(&k);
}

/** Ids of all ENDED effects since kit_clear, each with a blank after it. Static. */
static const char *ended_ids(const struct kit *k)
{
    static char text[1024];
    text[0] = 0;
    for (size_t i = 0; i < k->effects.n; i++) {
        const struct eng_effect *e = &k->effects.items[i];
        size_t at = strlen(text);
        if (e->kind == EFF_ENDED)
            snprintf(text + at, sizeof text - at, "%s ", e->text);
    }
    return text;
}

#define APP_1       "application_1700000000000_0001 "
#define CONTAINER_2 "container_1700000000000_0001_01_000002 "
#define CONTAINER_3 "container_1700000000000_0001_01_000003 "

static void every_end_is_reported_once(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", 2, "ALWAYS", ""), false);
    assert_string_equal(ended_ids(&k), "");
    kit_exit_signal(&k, "web", "hello-0", 9); /* the container goes too */
    assert_string_equal(ended_ids(&k), CONTAINER_2);
    kit_clear(&k);
    kit_exit_code(&k, "web", "hello-1", 1); /* started again in the same container */
    assert_string_equal(ended_ids(&k), "");
    kit_flex(&k, "web", "hello", 1);
    assert_string_equal(ended_ids(&k), CONTAINER_3);
    kit_clear(&k);
    kit_request(&k, EV_STOP, "web");
    assert_string_equal(ended_ids(&k), APP_1);
    assert_int_equal(eng_service_n_ended(kit_service(&k, "web")), 0);
    kit_end(&k);
}

static void an_end_that_was_not_taken_is_reported_after_a_restart(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", 1, "ALWAYS", ""), false);
    kit_clear(&k);
    k.obey = false;
    kit_exit_signal(&k, "web", "hello-0", 9);
    assert_string_equal(ended_ids(&k), CONTAINER_2);
    kit_crash(&k);
    k.obey = true;
    kit_recover(&k);
    assert_string_equal(ended_ids(&k), CONTAINER_2);
    assert_int_equal(eng_service_n_ended(kit_service(&k, "web")), 0);
    kit_end(&k);
}

static void a_refused_end_is_not_repeated(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", 1, "ALWAYS", ""), false);
    kit_clear(&k);
    k.obey = false;
    kit_exit_signal(&k, "web", "hello-0", 9);
    kit_step(&k, (struct eng_event){
                     .kind = EV_RECORD, .ticket = kit_last(&k, EFF_ENDED)->ticket, .code = ERR_PERMISSION});
    assert_int_equal(eng_service_n_ended(kit_service(&k, "web")), 0);
    kit_end(&k);
}

/** A registry that is away for ever costs no memory for ever. */
static void ends_that_nobody_takes_are_bounded(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", 1, "ALWAYS", ""), false);
    for (int i = 0; i < 20500; i++) {
        k.obey = false;
        kit_exit_code(&k, "web", "hello-0", 0);
        kit_clear(&k);
        kit_fire(&k, "web");
        mem_auto char *id = mem_str(kit_instance(&k, "web", "hello-0")->container_id);
        kit_step(&k, (struct eng_event){.kind = EV_ALLOCATED, .container_id = id, .host = "node1"});
        kit_step(&k,
                 (struct eng_event){
                     .kind = EV_RUNNING, .container_id = id, .attempt = 1, .ip = "127.77.0.1", .host = "n"});
        kit_clear(&k);
    }
    size_t n = eng_service_n_ended(kit_service(&k, "web"));
    assert_in_range(n, 10000, 20400);
    assert_non_null(
        map_get(&k.store, "services/alice/web/gone/container%5F1700000000000%5F0001%5F01%5F020501"));
    assert_null(map_get(&k.store, "services/alice/web/gone/container%5F1700000000000%5F0001%5F01%5F000002"));
    assert_in_range(k.store.n_items, n, n + 10);
    kit_end(&k);
}

static void the_record_says_whether_the_probe_succeeds(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(
        &k,
        kit_spec("web", 1, "ALWAYS", ",\"readiness_check\":{\"type\":\"PORT\",\"properties\":{\"port\":1}}"),
        false);
    assert_true(kit_last(&k, EFF_PUBLISH)->record->is_unready);
    static const bool results[] = {true, true, false, false, true};
    for (size_t i = 0, n = 0; i < ARRAY_LEN(results); i++) {
        bool changes = i == 0 || results[i] != results[i - 1];
        n = kit_count(&k, EFF_PUBLISH);
        kit_probe(&k, "web", "hello-0", results[i]);
        assert_int_equal(kit_count(&k, EFF_PUBLISH), n + changes);
        assert_int_equal(kit_last(&k, EFF_PUBLISH)->record->is_unready, !results[i]);
    }
    kit_crash(&k);
    kit_recover(&k);
    assert_false(
        kit_last(&k, EFF_PUBLISH)->record->is_unready); /* taken over: until a probe says otherwise */
    kit_probe(&k, "web", "hello-0", false);
    assert_true(kit_last(&k, EFF_PUBLISH)->record->is_unready);
    kit_create(&k, kit_spec("plain", 1, "ALWAYS", ""), false); /* without a check it is ready when it runs */
    assert_string_equal(kit_last(&k, EFF_PUBLISH)->record->description, "hello-0");
    assert_false(kit_last(&k, EFF_PUBLISH)->record->is_unready);
    kit_end(&k);
}

static void an_address_of_the_cluster_wins(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    k.obey = false;
    kit_create(&k, kit_spec("web", 1, "ALWAYS", ""), false);
    mem_auto char *id = mem_str(kit_instance(&k, "web", "hello-0")->container_id);
    kit_step(&k, (struct eng_event){.kind = EV_ALLOCATED, .container_id = id});
    kit_step(&k, (struct eng_event){
                     .kind = EV_RUNNING, .container_id = id, .attempt = 1, .ip = "10.0.0.7,10.0.0.8"});
    assert_int_equal(kit_state(&k, "web", "hello-0"), INST_LAUNCHED); /* no host yet */
    kit_step(
        &k,
        (struct eng_event){
            .kind = EV_RUNNING, .container_id = id, .attempt = 1, .ip = "10.0.0.7,10.0.0.8", .host = "h"});
    assert_int_equal(kit_state(&k, "web", "hello-0"), INST_READY);
    assert_string_equal(kit_last(&k, EFF_PUBLISH)->record->ip, "10.0.0.7");
    kit_end(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_of_a_service),
        cmocka_unit_test(the_subtree_is_cleared_before_the_first_record),
        cmocka_unit_test(flexed_down_instances_lose_their_records_at_once),
        cmocka_unit_test(a_failed_write_is_repeated),
        cmocka_unit_test(what_is_refused_for_good_waits_for_a_change),
        cmocka_unit_test(a_container_that_ended_is_not_refused_any_more),
        cmocka_unit_test(a_purge_that_is_refused_waits_for_a_change),
        cmocka_unit_test(a_failed_removal_is_repeated_also_after_a_restart),
        cmocka_unit_test(every_end_is_reported_once),
        cmocka_unit_test(an_end_that_was_not_taken_is_reported_after_a_restart),
        cmocka_unit_test(a_refused_end_is_not_repeated),
        cmocka_unit_test(ends_that_nobody_takes_are_bounded),
        cmocka_unit_test(the_record_says_whether_the_probe_succeeds),
        cmocka_unit_test(an_address_of_the_cluster_wins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

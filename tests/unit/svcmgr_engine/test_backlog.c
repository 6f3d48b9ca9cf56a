/**
 * What the registry has not confirmed of containers that are gone: each has a document of its own, in the order in which they came.
 */
#include "engine_kit.h"

#include <stdlib.h>
#include <string.h>

#define MANY 300

/** Documents of containers that are gone. */
static size_t n_gone_documents(const struct kit *k)
{
    size_t n = 0;
    for (MAP_EACH (&k->store, slot))
        n += strstr(slot->key, "/gone/") != NULL;
    return n;
}

static void no_container_is_gone_for_ever(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", 3, "ALWAYS", ""), false);
    kit_exit_code(&k, "web", "hello-0", 0);
    kit_flex(&k, "web", "hello", 1);
    assert_int_equal(n_gone_documents(&k), 0); /* the registry has confirmed all */
    assert_int_equal(eng_service_n_stale(kit_service(&k, "web")), 0);
    assert_int_equal(eng_service_n_ended(kit_service(&k, "web")), 0);
    kit_end(&k);
}

/** `web` with MANY containers that are gone, none of which the registry has confirmed. */
static void start_with_many_gone(struct kit *k)
{
    kit_start(k, "seed");
    kit_create(k, kit_spec("web", 1, "ALWAYS", ""), false);
    for (int i = 0; i < MANY; i++) {
        k->obey = false;
        kit_exit_code(k, "web", "hello-0", 0);
        kit_clear(k);
        kit_fire(k, "web");
        mem_auto char *id = mem_str(kit_instance(k, "web", "hello-0")->container_id);
        kit_step(k, (struct eng_event){.kind = EV_ALLOCATED, .container_id = id, .host = "node1"});
        kit_step(k,
                 (struct eng_event){
                     .kind = EV_RUNNING, .container_id = id, .attempt = 1, .ip = "127.77.0.1", .host = "n"});
    }
    kit_clear(k);
}

static void the_document_of_the_service_does_not_grow(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", 1, "ALWAYS", ""), false);
    size_t before = strlen(map_get(&k.store, "services/alice/web"));
    kit_end(&k);
    start_with_many_gone(&k);
    assert_in_range(strlen(map_get(&k.store, "services/alice/web")), 0,
                    before + 40); /* numbers have more digits */
    assert_int_equal(n_gone_documents(&k), MANY);
    assert_int_equal(eng_service_n_ended(kit_service(&k, "web")), MANY);
    kit_end(&k);
}

static void after_a_restart_all_are_asked_for_in_their_order(void **state)
{
    (void)state;
    struct kit k;
    size_t n = 0;
    start_with_many_gone(&k);
    kit_crash(&k);
    kit_recover(&k);
    for (size_t i = 0; i < k.effects.n; i++) {
        if (k.effects.items[i].kind != EFF_ENDED)
            continue;
        mem_auto char *id = mem_fmt("container_1700000000000_0001_01_%06zu", 2 + n++);
        assert_string_equal(k.effects.items[i].text, id);
    }
    assert_int_equal(n, MANY);
    assert_int_equal(kit_count(&k, EFF_UNPUBLISH), MANY);
    kit_end(&k);
}

static void what_failed_is_repeated_and_nothing_else(void **state)
{
    (void)state;
    struct kit k;
    start_with_many_gone(&k);
    kit_exit_code(&k, "web", "hello-0", 0);
    const struct eng_effect *e = kit_last(&k, EFF_UNPUBLISH);
    mem_auto char *id = mem_str(e->container_id);
    kit_step(&k, (struct eng_event){.kind = EV_RECORD, .ticket = e->ticket, .code = ERR_UNAVAILABLE});
    kit_clear(&k);
    kit_advance(&k, "web", 5000);
    assert_int_equal(kit_count(&k, EFF_UNPUBLISH), 1);
    assert_string_equal(kit_last(&k, EFF_UNPUBLISH)->container_id, id);
    kit_end(&k);
}

/** A purge is the end of all of them; their documents go in as many steps as it takes (the kit bounds each), and DELETE is answered
 *  when the last has gone. */
static void a_purge_confirms_all(void **state)
{
    (void)state;
    struct kit k;
    start_with_many_gone(&k);
    k.obey = true;
    assert_int_equal(kit_request(&k, EV_DESTROY, "web"), OUT_DESTROYED);
    assert_null(kit_service(&k, "web"));
    assert_int_equal(k.store.n_items, 1); /* the document of the engine */
    kit_end(&k);
}

static void a_start_that_was_undone_forgets_none(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", 1, "ALWAYS", ""), false);
    mem_auto char *id = mem_str(kit_instance(&k, "web", "hello-0")->container_id);
    k.obey = false;
    kit_request(&k, EV_STOP, "web");
    kit_step(&k, (struct eng_event){.kind = EV_EXITED, .container_id = id, .exit = {.cause = CAUSE_STOPPED}});
    size_t n = n_gone_documents(&k);
    assert_int_equal(n, 2); /* of the container, and of the application */
    kit_undone(&k, (struct eng_event){.kind = EV_START, .token = 999, .user = "alice", .name = "web"});
    kit_advance(&k, "web", 1);
    assert_int_equal(n_gone_documents(&k), n);
    kit_end(&k);
}

/** The container of a process that failed is asked for again after a restart; its record stands all the time. */
static void a_record_is_deleted_that_stands_since_before_two_restarts(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", 1, "ALWAYS", ""), false);
    mem_auto char *id = mem_str(kit_instance(&k, "web", "hello-0")->container_id);
    kit_exit_code(&k, "web", "hello-0", 1);
    assert_string_equal(kit_list(&k, "web"), "hello-0:EXITED");
    k.obey = false;
    kit_crash(&k);
    kit_recover(&k);
    assert_string_equal(kit_list(&k, "web"), "hello-0:REQUESTED");
    kit_crash(&k);
    kit_recover(&k);
    kit_flex(&k, "web", "hello", 0);
    assert_int_equal(kit_count(&k, EFF_UNPUBLISH), 1);
    assert_string_equal(kit_last(&k, EFF_UNPUBLISH)->container_id, id);
    kit_end(&k);
}

static void damaged_documents_are_refused(void **state)
{
    static const char *const texts[] = {
        "{\"format\":2,\"id\":\"container_2\",\"number\":1,\"end\":true}",
        "{\"format\":2,\"number\":1,\"end\":true}",
        "{\"format\":2,\"id\":\"container_1\",\"end\":true}",
        "{\"format\":2,\"id\":\"container_1\",\"number\":-1}",
    };
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", 1, "ALWAYS", ""), false);
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct err_info why = {0};
        assert_int_equal(
            engine_load(k.e, "services/alice/web/gone/container%5F1", texts[i], strlen(texts[i]), &why),
            ERR_JSON);
        assert_int_equal(eng_service_n_ended(kit_service(&k, "web")), 0);
    }
    kit_end(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_container_is_gone_for_ever),
        cmocka_unit_test(the_document_of_the_service_does_not_grow),
        cmocka_unit_test(after_a_restart_all_are_asked_for_in_their_order),
        cmocka_unit_test(what_failed_is_repeated_and_nothing_else),
        cmocka_unit_test(a_purge_confirms_all),
        cmocka_unit_test(a_start_that_was_undone_forgets_none),
        cmocka_unit_test(a_record_is_deleted_that_stands_since_before_two_restarts),
        cmocka_unit_test(damaged_documents_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

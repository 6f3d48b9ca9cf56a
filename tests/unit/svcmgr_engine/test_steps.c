/**
 * What a step writes is bounded however large the service is (the kit checks each one), a crash between two steps loses
 * nothing, and a request that could not be stored leaves no trace.
 */
#include "engine_kit.h"

#include <stdlib.h>
#include <string.h>

#define MANY 150

static size_t n_instances(const struct kit *k)
{
    const struct eng_service *s = kit_service(k, "web");
    return s && s->n_components ? s->components[0]->n_instances : 0;
}

static size_t n_ready(const struct kit *k)
{
    const struct eng_service *s = kit_service(k, "web");
    return n_instances(k) ? (size_t)s->components[0]->n_in[INST_READY] : 0;
}

static void start_with(struct kit *k, int n)
{
    kit_start(k, "seed");
    kit_create(k, kit_spec("web", n, "ALWAYS", ""), false);
    assert_int_equal(n_ready(k), n);
    kit_clear(k);
}

static void a_large_service_comes_and_goes_in_steps(void **state)
{
    (void)state;
    struct kit k;
    start_with(&k, 1000);
    assert_int_equal(kit_service(&k, "web")->state, SVC_STABLE);
    assert_int_equal(kit_flex(&k, "web", "hello", 1500), OUT_FLEXED);
    assert_int_equal(n_ready(&k), 1500);
    assert_int_equal(kit_flex(&k, "web", "hello", 1), OUT_FLEXED);
    assert_string_equal(kit_list(&k, "web"), "hello-0:READY");
    assert_int_equal(kit_flex(&k, "web", "hello", 500), OUT_FLEXED);
    assert_int_equal(kit_request(&k, EV_DESTROY, "web"), OUT_DESTROYED);
    assert_null(kit_service(&k, "web"));
    assert_int_equal(k.store.n_items, 1); /* the document of the engine */
    kit_end(&k);
}

static void more_than_the_limit_is_refused_with_it(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    engine_free(k.e);
    k.cfg.max_containers = 3;
    assert_int_equal(engine_new(&k.cfg, &k.e, NULL), 0);
    kit_step(&k, (struct eng_event){.kind = EV_RESUME});
    kit_create(&k, kit_spec("web", 2, "ALWAYS", ""), false);
    assert_int_equal(kit_flex(&k, "web", "hello", 4), OUT_TOO_MANY);
    assert_int_equal(kit_last(&k, EFF_ANSWER)->answer->n_old, 3);
    assert_int_equal(kit_last(&k, EFF_ANSWER)->answer->n_new, 4);
    assert_int_equal(kit_flex(&k, "web", "hello", INT64_MAX), OUT_TOO_MANY);
    assert_int_equal(kit_flex(&k, "web", "hello", 3), OUT_FLEXED);
    assert_int_equal(n_ready(&k), 3);
    kit_end(&k);
}

/* ---- crashes between steps ---- */

static void flex_up(struct kit *k)
{
    kit_flex(k, "web", "hello", MANY);
}

static void flex_down(struct kit *k)
{
    kit_flex(k, "web", "hello", 1);
}

static void stop(struct kit *k)
{
    kit_request(k, EV_STOP, "web");
}

static void destroy(struct kit *k)
{
    kit_request(k, EV_DESTROY, "web");
}

static const struct {
    const char *name;
    void (*ask)(struct kit *k);
    int from;
    size_t to;
    int state; /* in the end; -1: there is no service */
} asked[] = {
    {"flex up", flex_up, 1, MANY, SVC_STABLE},
    {"flex down", flex_down, MANY, 1, SVC_STABLE},
    {"stop", stop, MANY, 0, SVC_STOPPED},
    {"destroy", destroy, MANY, 0, -1},
};

/** The power fails n steps after the request was stored; then all goes on. @return false: it was done by then */
static bool crash_after(size_t row, size_t n)
{
    struct kit k;
    start_with(&k, asked[row].from);
    k.last_step = k.n_steps + n;
    asked[row].ask(&k);
    bool failed = k.n_steps == k.last_step;
    kit_crash(&k);
    kit_recover(&k);
    const struct eng_service *s = kit_service(&k, "web");
    if (n_ready(&k) != asked[row].to || n_instances(&k) != asked[row].to ||
        (s ? (int)s->state : -1) != asked[row].state)
        fail_msg("%s, power failure after %zu steps: %zu instances, %zu ready, state %d", asked[row].name, n,
                 n_instances(&k), n_ready(&k), s ? (int)s->state : -1);
    kit_end(&k);
    return failed;
}

static void a_crash_between_two_steps_loses_nothing(void **state)
{
    (void)state;
    for (size_t row = 0; row < ARRAY_LEN(asked); row++) {
        size_t n = 1;
        while (crash_after(row, n))
            n = n < 12 ? n + 1 : n + 37;
        assert_true(n > MANY);
    }
}

static void a_reboot_that_ended_all_containers_is_taken_in_steps(void **state)
{
    (void)state;
    struct kit k;
    start_with(&k, MANY);
    kit_crash(&k);
    kit_step(&k, (struct eng_event){.kind = EV_RESUME}); /* nobody reports any of them */
    while (n_ready(&k) < MANY)
        kit_fire(&k, "web");
    assert_int_equal(n_instances(&k), MANY);
    assert_int_equal(kit_count(&k, EFF_LAUNCH), MANY);
    kit_end(&k);
}

static void what_the_registry_cannot_take_does_not_grow_for_ever(void **state)
{
    (void)state;
    struct kit k;
    start_with(&k, 1);
    k.obey = false;
    for (int i = 0; i < 20500; i++) {
        mem_auto char *id = mem_str(kit_instance(&k, "web", "hello-0")->container_id);
        kit_step(&k, (struct eng_event){.kind = EV_ALLOCATED, .container_id = id, .host = "node1"});
        kit_step(&k,
                 (struct eng_event){.kind = EV_RUNNING, .container_id = id, .attempt = 1, .host = "node1"});
        kit_step(&k, (struct eng_event){.kind = EV_LOST, .container_id = id});
        kit_fire(&k, "web");
        kit_clear(&k);
    }
    assert_int_equal(eng_service_n_stale(kit_service(&k, "web")), 20000); /* reached, and not passed */
    assert_true(strlen(map_get(&k.store, "services/alice/web")) < 1 << 10);
    kit_end(&k);
}

/* ---- undone requests ---- */

static void undone(struct kit *k, enum eng_event_kind kind)
{
    struct eng_flex f = {"hello", 7, false};
    const char *names[] = {"hello-0"};
    kit_undone(k, (struct eng_event){.kind = kind,
                                     .token = 999,
                                     .user = "alice",
                                     .name = "web",
                                     .flex = &f,
                                     .n_flex = 1,
                                     .names = names,
                                     .n_names = 1,
                                     .lifetime_s = 60});
}

static void an_undone_request_leaves_a_running_service_as_it_was(void **state)
{
    static const enum eng_event_kind kinds[] = {EV_FLEX, EV_STOP, EV_DESTROY, EV_LIFETIME, EV_DECOMMISSION};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        struct kit k;
        start_with(&k, 2);
        mem_auto char *before = mem_str(map_get(&k.store, "services/alice/web"));
        undone(&k, kinds[i]);
        const struct eng_service *s = kit_service(&k, "web");
        assert_int_equal(s->state, SVC_STABLE);
        assert_string_equal(kit_list(&k, "web"), "hello-0:READY hello-1:READY");
        assert_int_equal(s->components[0]->spec->number_of_containers, 2);
        assert_int_equal(s->components[0]->spec->n_decommissioned_instances, 0);
        assert_int_equal(s->lifetime_end_ms, 0);
        assert_int_equal(s->n_destroyers, 0);
        assert_string_equal(map_get(&k.store, "services/alice/web"), before);
        kit_clear(&k);
        kit_exit_code(&k, "web", "hello-0",
                      9); /* life goes on, and what is stored has nothing of the request */
        kit_fire(&k, "web");
        assert_string_equal(kit_list(&k, "web"), "hello-0:READY hello-1:READY");
        assert_null(strstr(map_get(&k.store, "services/alice/web"), "destroying\":true"));
        assert_int_equal(kit_count(&k, EFF_PURGE), 0);
        kit_crash(&k);
        kit_recover(&k);
        assert_string_equal(kit_list(&k, "web"), "hello-0:READY hello-1:READY");
        assert_int_equal(kit_flex(&k, "web", "hello", 3), OUT_FLEXED);
        assert_int_equal(n_ready(&k), 3);
        kit_end(&k);
    }
}

static void an_undone_create_is_gone_and_its_name_free(void **state)
{
    (void)state;
    struct kit k;
    start_with(&k, 1);
    struct spec_service *spec = spec_copy(kit_service(&k, "web")->spec);
    free(spec->name);
    spec->name = mem_str("shop");
    kit_undone(&k, (struct eng_event){.kind = EV_CREATE, .token = 999, .user = "alice", .take_spec = spec});
    assert_null(kit_service(&k, "shop"));
    assert_int_equal(kit_create(&k, kit_spec("shop", 1, "ALWAYS", ""), false), OUT_LAUNCHED);
    assert_int_equal(kit_state(&k, "shop", "hello-0"), INST_READY);
    kit_end(&k);
}

static void an_undone_start_or_destroy_leaves_a_stopped_service_stopped(void **state)
{
    (void)state;
    struct kit k;
    start_with(&k, 1);
    assert_int_equal(kit_request(&k, EV_STOP, "web"), OUT_STOPPED);
    kit_clear(&k);
    undone(&k, EV_START);
    assert_int_equal(kit_service(&k, "web")->state, SVC_STOPPED);
    undone(&k, EV_DESTROY);
    assert_int_equal(kit_service(&k, "web")->state, SVC_STOPPED);
    assert_false(kit_service(&k, "web")->destroying);
    kit_step(&k, (struct eng_event){.kind = EV_RECORD,
                                    .ticket = 1000}); /* nobody waits for an answer of the registry */
    assert_int_equal(kit_count(&k, EFF_REQUEST), 0);
    assert_int_equal(kit_count(&k, EFF_PURGE), 0);
    assert_int_equal(kit_request(&k, EV_START, "web"), OUT_STARTED);
    assert_int_equal(n_ready(&k), 1);
    assert_int_equal(kit_request(&k, EV_DESTROY, "web"), OUT_DESTROYED);
    kit_end(&k);
}

static void who_saw_the_undone_request_looks_again(void **state)
{
    (void)state;
    struct kit k;
    struct eng_effects dropped = {.n = 0}, timers = {.n = 0};
    const struct eng_event stop_web = {.kind = EV_STOP, .user = "alice", .name = "web"};
    start_with(&k, 1);
    struct eng_kept *kept = engine_keep(k.e, KIND_SERVICE, "alice", "web");
    engine_step(k.e, &stop_web, kit_now(&k), &dropped);
    kit_create(
        &k,
        "{\"name\":\"after\",\"version\":\"1\",\"dependencies\":[\"web\"],\"components\":[{\"name\":\"c\","
        "\"number_of_containers\":1,\"launch_command\":\"run\",\"resource\":{\"cpus\":1,\"memory\":\"64\"}}]"
        "}",
        false);
    assert_int_equal(kit_service(&k, "after")->state, SVC_ACCEPTED); /* web is being stopped */
    engine_undo(k.e, kept, k.now_ms, &timers);
    for (size_t i = 0; i < timers.n; i++)
        kit_step(&k, (struct eng_event){
                         .kind = EV_TIMER, .user = timers.items[i].user, .name = timers.items[i].name});
    assert_int_equal(kit_service(&k, "after")->state, SVC_STABLE);
    eng_kept_free(kept);
    eng_effects_fini(&dropped);
    eng_effects_fini(&timers);
    kit_end(&k);
}

static void events_name_their_service(void **state)
{
    (void)state;
    struct kit k;
    start_with(&k, 1);
    k.obey = false;
    kit_exit_signal(&k, "web", "hello-0", 9); /* its record is to be deleted: a ticket */
    int64_t ticket = kit_last(&k, EFF_UNPUBLISH)->ticket;
    mem_auto char *of_ticket =
        engine_service_of(k.e, &(struct eng_event){.kind = EV_RECORD, .ticket = ticket});
    mem_auto char *of_request =
        engine_service_of(k.e, &(struct eng_event){.kind = EV_STOP, .user = "alice", .name = "web"});
    mem_auto char *of_none =
        engine_service_of(k.e, &(struct eng_event){.kind = EV_LOST, .container_id = "x"});
    kit_fire(&k, "web");
    const char *id = kit_instance(&k, "web", "hello-0")->container_id;
    mem_auto char *of_container =
        engine_service_of(k.e, &(struct eng_event){.kind = EV_WAITING, .container_id = id});
    assert_string_equal(of_ticket, "service/alice/web");
    assert_string_equal(of_request, "service/alice/web");
    assert_string_equal(of_container, "service/alice/web");
    assert_null(of_none);
    kit_end(&k);
}

static void names_that_the_store_cannot_hold_are_refused(void **state)
{
    (void)state;
    char longest[256], longer[257], folded[100];
    memset(longest, 'a', 255);
    memset(longer, 'a', 256);
    memset(folded, '_', 99); /* each is stored in three bytes */
    longest[255] = longer[256] = folded[99] = '\0';
    struct err_info why = {0};
    assert_int_equal(engine_check_key("alice", longest, &why), 0);
    assert_int_equal(engine_check_key(longest, "web", &why), 0);
    assert_int_equal(engine_check_key("alice", longer, &why), ERR_PATH);
    assert_non_null(strstr(why.text, "name of the service has 256 bytes"));
    assert_non_null(strstr(why.text, "at most 255"));
    assert_int_equal(engine_check_key(folded, "web", &why), ERR_PATH);
    assert_non_null(strstr(why.text, "name of the user has 297 bytes"));
}

static void names_of_instances_that_the_store_cannot_hold_are_refused(void **state)
{
    (void)state;
    char longest[229], longer[230]; /* with "-" and any number, and what files add to that, 255 */
    memset(longest, 'a', 228);
    memset(longer, 'a', 229);
    longest[228] = longer[229] = '\0';
    struct err_info why = {0};
    assert_int_equal(engine_check_component_key(longest, &why), 0);
    assert_int_equal(engine_check_component_key(longer, &why), ERR_PATH);
    assert_non_null(strstr(why.text, "name of the component has 229 bytes"));
    assert_non_null(strstr(why.text, "at most 228"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_large_service_comes_and_goes_in_steps),
        cmocka_unit_test(more_than_the_limit_is_refused_with_it),
        cmocka_unit_test(a_crash_between_two_steps_loses_nothing),
        cmocka_unit_test(a_reboot_that_ended_all_containers_is_taken_in_steps),
        cmocka_unit_test(what_the_registry_cannot_take_does_not_grow_for_ever),
        cmocka_unit_test(an_undone_request_leaves_a_running_service_as_it_was),
        cmocka_unit_test(an_undone_create_is_gone_and_its_name_free),
        cmocka_unit_test(an_undone_start_or_destroy_leaves_a_stopped_service_stopped),
        cmocka_unit_test(who_saw_the_undone_request_looks_again),
        cmocka_unit_test(events_name_their_service),
        cmocka_unit_test(names_that_the_store_cannot_hold_are_refused),
        cmocka_unit_test(names_of_instances_that_the_store_cannot_hold_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

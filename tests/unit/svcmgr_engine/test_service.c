/** What users ask for: create, save, start, stop, destroy, flex, decommission, lifetime, dependencies. */
#include "engine_kit.h"

#include <string.h>

static int service_state(const struct kit *k, const char *name)
{
    const struct eng_service *s = kit_service(k, name);
    return s ? (int)s->state : -1;
}

static void created_service_becomes_stable(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    assert_int_equal(kit_create(&k, kit_spec("web", 2, "ALWAYS", ""), false), OUT_LAUNCHED);
    const struct eng_service *s = kit_service(&k, "web");
    assert_string_equal(s->app_id, "application_1700000000000_0001");
    assert_int_equal(s->state, SVC_STABLE);
    assert_string_equal(kit_list(&k, "web"), "hello-0:READY hello-1:READY");
    assert_string_equal(kit_instance(&k, "web", "hello-0")->container_id,
                        "container_1700000000000_0001_01_000002");
    assert_string_equal(kit_instance(&k, "web", "hello-1")->container_id,
                        "container_1700000000000_0001_01_000003");
    assert_true(strncmp(kit_instance(&k, "web", "hello-0")->ip, "127.77.", 7) == 0);
    assert_string_not_equal(kit_instance(&k, "web", "hello-0")->ip, kit_instance(&k, "web", "hello-1")->ip);
    kit_end(&k);
}

static void the_answer_waits_for_the_write(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    k.obey = false;
    kit_create(&k, kit_spec("web", 1, "ALWAYS", ""), false);
    assert_int_equal(k.effects.items[0].kind, EFF_PERSIST);
    assert_string_equal(k.effects.items[0].key, "engine");
    assert_int_equal(k.effects.items[1].kind, EFF_PERSIST);
    assert_string_equal(k.effects.items[1].key, "definitions/services/alice/web");
    assert_string_equal(k.effects.items[2].key, "services/alice/web");
    assert_int_equal(kit_last(&k, EFF_ANSWER)->answer->state, SVC_ACCEPTED);
    kit_end(&k);
}

static void a_name_is_taken_in_every_state(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    assert_int_equal(kit_create(&k, kit_spec("web", 1, "ALWAYS", ""), true), OUT_SAVED);
    assert_int_equal(kit_create(&k, kit_spec("web", 1, "ALWAYS", ""), false), OUT_TAKEN);
    kit_request(&k, EV_START, "web");
    assert_int_equal(kit_create(&k, kit_spec("web", 1, "ALWAYS", ""), true), OUT_TAKEN);
    kit_end(&k);
}

static void saved_started_stopped_started(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", 1, "ALWAYS", ""), true);
    assert_int_equal(service_state(&k, "web"), SVC_STOPPED);
    assert_int_equal(kit_request(&k, EV_STOP, "web"), OUT_ALREADY_STOPPED);
    assert_int_equal(kit_flex(&k, "web", "hello", 2), OUT_NOT_SUBMITTED);
    assert_int_equal(kit_request(&k, EV_START, "web"), OUT_STARTED);
    assert_int_equal(service_state(&k, "web"), SVC_STABLE);
    mem_auto char *ip = mem_str(kit_instance(&k, "web", "hello-0")->ip);
    assert_int_equal(kit_request(&k, EV_START, "web"), OUT_ALREADY_LIVE);
    assert_int_equal(kit_request(&k, EV_STOP, "web"), OUT_STOPPED);
    assert_int_equal(service_state(&k, "web"), SVC_STOPPED);
    assert_string_equal(kit_list(&k, "web"), "");
    assert_int_equal(kit_flex(&k, "web", "hello", 2), OUT_NOT_RUNNING);
    assert_int_equal(kit_request(&k, EV_STOP, "web"), OUT_ALREADY_STOPPED);
    assert_int_equal(kit_request(&k, EV_START, "web"), OUT_STARTED);
    assert_string_equal(kit_service(&k, "web")->app_id, "application_1700000000000_0002");
    assert_int_equal(kit_service(&k, "web")->incarnation, 2);
    assert_string_equal(kit_instance(&k, "web", "hello-0")->ip, ip); /* the same address again */
    kit_end(&k);
}

/** Of a service with unique_component_support no start gives a name that an earlier one gave, also over a crash and a decommission. */
static void unique_names_do_not_return_with_another_start(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", 2, "ALWAYS", ",\"unique_component_support\":\"true\""), false);
    assert_string_equal(kit_list(&k, "web"), "hello-0:READY hello-1:READY");
    kit_flex(&k, "web", "hello", 3);
    kit_flex(&k, "web", "hello", 2);
    assert_string_equal(kit_list(&k, "web"), "hello-0:READY hello-1:READY");
    kit_request(&k, EV_STOP, "web");
    kit_crash(&k);
    kit_recover(&k);
    kit_request(&k, EV_START, "web");
    assert_string_equal(kit_list(&k, "web"), "hello-3:READY hello-4:READY");
    kit_crash(&k);
    kit_recover(&k);
    assert_string_equal(kit_list(&k, "web"), "hello-3:READY hello-4:READY");
    kit_flex(&k, "web", "hello", 1);
    kit_flex(&k, "web", "hello", 2);
    assert_string_equal(kit_list(&k, "web"), "hello-3:READY hello-4:READY");
    const char *const names[] = {"hello-3"}, *const old[] = {"hello-0"};
    kit_ask(&k, (struct eng_event){.kind = EV_DECOMMISSION, .name = "web", .names = names, .n_names = 1});
    assert_string_equal(kit_list(&k, "web"), "hello-4:READY");
    assert_int_equal(
        kit_ask(&k, (struct eng_event){.kind = EV_DECOMMISSION, .name = "web", .names = old, .n_names = 1}),
        OUT_NO_INSTANCE);
    kit_request(&k, EV_STOP, "web");
    kit_request(&k, EV_START, "web");
    assert_string_equal(kit_list(&k, "web"), "hello-5:READY");
    kit_end(&k);
}

static void requests_for_nobody(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    static const enum eng_event_kind kinds[] = {EV_FLEX,    EV_STOP,     EV_START,
                                                EV_DESTROY, EV_LIFETIME, EV_DECOMMISSION};
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        assert_int_equal(kit_request(&k, kinds[i], "ghost"), OUT_NOT_FOUND);
    kit_end(&k);
}

static void stop_waits_for_the_containers(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", 1, "ALWAYS", ""), false);
    kit_clear(&k);
    k.obey = false;
    assert_int_equal(kit_request(&k, EV_STOP, "web"), OUT_STOPPED);
    assert_int_equal(service_state(&k, "web"), SVC_FINISHING);
    assert_int_equal(kit_count(&k, EFF_STOP), 1);
    assert_int_equal(kit_count(&k, EFF_UNPUBLISH), 1);
    assert_int_equal(kit_count(&k, EFF_PURGE), 0);
    assert_int_equal(kit_request(&k, EV_START, "web"), OUT_ALREADY_LIVE);
    kit_fire(&k, "web"); /* ten seconds later */
    assert_true(kit_last(&k, EFF_STOP)->force);
    kit_fire(&k, "web"); /* and again */
    assert_int_equal(kit_count(&k, EFF_STOP), 3);
    kit_exit_signal(&k, "web", "hello-0", 9);
    assert_int_equal(service_state(&k, "web"), SVC_STOPPED);
    assert_int_equal(kit_count(&k, EFF_PURGE), 1);
    assert_string_equal(kit_last(&k, EFF_PURGE)->path, "/users/alice/services/yarn-service/web");
    kit_end(&k);
}

static void destroy_answers_when_all_is_gone(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", 1, "ALWAYS", ""), false);
    kit_clear(&k);
    k.obey = false;
    assert_int_equal(kit_request(&k, EV_DESTROY, "web"), -1);
    kit_exit_signal(&k, "web", "hello-0", 15);
    assert_int_equal(kit_count(&k, EFF_ANSWER), 0);
    int64_t ticket = kit_last(&k, EFF_PURGE)->ticket;
    size_t before = k.effects.n;
    kit_step(&k, (struct eng_event){.kind = EV_RECORD, .ticket = ticket});
    assert_int_equal(kit_last(&k, EFF_ANSWER)->answer->outcome, OUT_DESTROYED);
    assert_int_equal(k.effects.items[before].kind, EFF_PERSIST);
    assert_null(k.effects.items[before].bytes); /* the document is deleted first */
    assert_null(kit_service(&k, "web"));
    assert_int_equal(kit_request(&k, EV_DESTROY, "web"), OUT_NOT_FOUND);
    kit_end(&k);
}

static void destroy_of_a_saved_service_and_two_at_once(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", 1, "ALWAYS", ""), true);
    k.obey = false;
    kit_request(&k, EV_DESTROY, "web");
    kit_request(&k, EV_DESTROY, "web");
    assert_int_equal(kit_count(&k, EFF_PURGE), 1);
    kit_clear(&k);
    kit_step(&k, (struct eng_event){.kind = EV_RECORD, .ticket = kit_service(&k, "web")->purge_ticket});
    assert_int_equal(kit_count(&k, EFF_ANSWER), 2);
    assert_null(kit_service(&k, "web"));
    kit_end(&k);
}

static void destroy_with_a_registry_that_fails_is_repeated(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", 1, "ALWAYS", ""), true);
    k.obey = false;
    kit_request(&k, EV_DESTROY, "web");
    kit_step(&k, (struct eng_event){
                     .kind = EV_RECORD, .ticket = kit_last(&k, EFF_PURGE)->ticket, .code = ERR_UNAVAILABLE});
    assert_int_equal(kit_last(&k, EFF_ANSWER)->answer->outcome, OUT_PURGE_FAILED);
    assert_non_null(kit_service(&k, "web"));
    k.obey = true;
    kit_fire(&k, "web");
    assert_null(kit_service(&k, "web"));
    kit_end(&k);
}

/** A container that does not end holds no answer: the destroy is answered, and goes on. */
static void destroy_is_answered_while_a_container_is_stuck(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", 1, "ALWAYS", ""), false);
    k.obey = false;
    int64_t asked_ms = k.now_ms;
    kit_request(&k, EV_DESTROY, "web");
    kit_fire(&k, "web"); /* stopped by force */
    kit_request(&k, EV_DESTROY, "web");
    kit_clear(&k);
    kit_fire(&k, "web");
    assert_int_equal(k.now_ms, asked_ms + 15000);
    assert_int_equal(kit_count(&k, EFF_ANSWER), 2);
    assert_int_equal(kit_last(&k, EFF_ANSWER)->answer->outcome, OUT_STILL_RUNNING);
    assert_int_equal(service_state(&k, "web"), SVC_FINISHING);
    k.obey = true;
    kit_clear(&k);
    kit_fire(&k, "web"); /* by force again, and now it ends */
    assert_null(kit_service(&k, "web"));
    assert_int_equal(kit_count(&k, EFF_ANSWER), 0);
    kit_end(&k);
}

/** Nor does a registry that does not answer. */
static void destroy_is_answered_while_the_registry_is_stuck(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", 1, "ALWAYS", ""), false);
    k.obey = false;
    kit_request(&k, EV_DESTROY, "web");
    kit_exit_signal(&k, "web", "hello-0", 15);
    int64_t ticket = kit_last(&k, EFF_PURGE)->ticket;
    kit_fire(&k, "web");
    assert_int_equal(kit_last(&k, EFF_ANSWER)->answer->outcome, OUT_PURGE_FAILED);
    assert_int_equal(service_state(&k, "web"), SVC_STOPPED);
    kit_step(&k, (struct eng_event){.kind = EV_RECORD, .ticket = ticket});
    assert_null(kit_service(&k, "web"));
    kit_end(&k);
}

static int component_state(const struct kit *k, size_t i)
{
    const struct eng_service *s = kit_service(k, "web");
    return i < s->n_components ? (int)s->components[i]->state : -1;
}

/** What has ended says how, also after a restart; what had not is STOPPED; a new start begins anew. */
static void components_of_an_ended_service_keep_their_end(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k,
               "{\"name\":\"web\",\"version\":\"1\",\"resource\":{\"memory\":1},\"launch_command\":\"x\","
               "\"number_of_containers\":1,\"components\":[{\"name\":\"done\",\"restart_policy\":\"NEVER\"},"
               "{\"name\":\"broken\",\"restart_policy\":\"NEVER\"},{\"name\":\"busy\"}]}",
               false);
    kit_exit_code(&k, "web", "done-0", 0);
    kit_exit_code(&k, "web", "broken-0", 1);
    kit_request(&k, EV_STOP, "web");
    kit_crash(&k);
    kit_recover(&k);
    assert_int_equal(service_state(&k, "web"), SVC_STOPPED);
    assert_int_equal(component_state(&k, 0), COMP_SUCCEEDED);
    assert_int_equal(component_state(&k, 1), COMP_FAILED);
    assert_int_equal(component_state(&k, 2), COMP_STOPPED);
    kit_request(&k, EV_START, "web");
    assert_int_equal(component_state(&k, 0), COMP_STABLE);
    assert_int_equal(service_state(&k, "web"), SVC_STABLE);
    kit_end(&k);
}

static void flex_uses_the_lowest_numbers(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", 2, "ALWAYS", ""), false);
    assert_int_equal(kit_flex(&k, "web", "hello", 3), OUT_FLEXED);
    assert_int_equal(kit_last(&k, EFF_ANSWER)->answer->n_old, 2);
    assert_int_equal(kit_last(&k, EFF_ANSWER)->answer->n_new, 3);
    assert_string_equal(kit_list(&k, "web"), "hello-0:READY hello-1:READY hello-2:READY");
    kit_flex(&k, "web", "hello", 1);
    assert_string_equal(kit_list(&k, "web"), "hello-0:READY");
    kit_flex(&k, "web", "hello", 2);
    assert_string_equal(kit_list(&k, "web"), "hello-0:READY hello-1:READY");
    assert_int_equal(kit_flex(&k, "web", "hello", 2), OUT_FLEXED);
    assert_int_equal(service_state(&k, "web"), SVC_STABLE);
    assert_int_equal(kit_flex(&k, "web", "ghost", 2), OUT_NO_COMPONENT);
    assert_int_equal(kit_flex(&k, "web", "hello", 0), OUT_FLEXED);
    assert_int_equal(kit_flex(&k, "web", "hello", INT64_MAX), OUT_TOO_MANY);
    assert_int_equal(kit_flex(&k, "web", "hello", 10001), OUT_TOO_MANY);
    assert_int_equal(service_state(&k, "web"), SVC_STABLE);
    kit_end(&k);
}

static void relative_flex(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", 2, "ALWAYS", ""), false);
    struct eng_flex less = {"hello", -1, true}, far_less = {"hello", -5, true};
    kit_step(&k,
             (struct eng_event){
                 .kind = EV_FLEX, .token = 77, .user = "alice", .name = "web", .flex = &less, .n_flex = 1});
    assert_string_equal(kit_list(&k, "web"), "hello-0:READY");
    kit_step(
        &k,
        (struct eng_event){
            .kind = EV_FLEX, .token = 78, .user = "alice", .name = "web", .flex = &far_less, .n_flex = 1});
    assert_int_equal(kit_last(&k, EFF_ANSWER)->answer->outcome, OUT_BAD_COUNT);
    assert_string_equal(kit_list(&k, "web"), "hello-0:READY");
    kit_end(&k);
}

static void an_instance_taken_back_keeps_name_and_address(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", 2, "ALWAYS", ""), false);
    mem_auto char *ip = mem_str(kit_instance(&k, "web", "hello-1")->ip);
    mem_auto char *old = mem_str(kit_instance(&k, "web", "hello-1")->container_id);
    k.obey = false;
    kit_flex(&k, "web", "hello", 1);
    kit_flex(&k, "web", "hello", 2);
    assert_string_equal(kit_list(&k, "web"), "hello-0:READY hello-1:RELEASING");
    kit_exit_signal(&k, "web", "hello-1", 15);
    const struct eng_instance *inst = kit_instance(&k, "web", "hello-1");
    assert_int_equal(inst->state, INST_REQUESTED);
    assert_string_equal(inst->ip, ip);
    assert_string_not_equal(inst->container_id, old);
    kit_end(&k);
}

static void a_dropped_request_is_cancelled(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    k.obey = false;
    kit_create(&k, kit_spec("web", 1, "ALWAYS", ""), false);
    mem_auto char *id = mem_str(kit_instance(&k, "web", "hello-0")->container_id);
    kit_flex(&k, "web", "hello", 0);
    assert_string_equal(kit_last(&k, EFF_CANCEL_REQUEST)->container_id, id);
    kit_step(&k, (struct eng_event){.kind = EV_ALLOCATED, .container_id = id});
    assert_string_equal(kit_last(&k, EFF_RELEASE)->container_id, id);
    kit_end(&k);
}

static int decommission(struct kit *k, const char *instance)
{
    kit_step(k, (struct eng_event){.kind = EV_DECOMMISSION,
                                   .token = ++k->token,
                                   .user = "alice",
                                   .name = "web",
                                   .names = &instance,
                                   .n_names = 1});
    return (int)kit_last(k, EFF_ANSWER)->answer->outcome;
}

static void decommissioned_numbers_never_return(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", 6, "ALWAYS", ""), false);
    assert_int_equal(decommission(&k, "hello-1"), OUT_DECOMMISSIONED);
    assert_int_equal(decommission(&k, "hello-5"), OUT_DECOMMISSIONED);
    assert_int_equal(decommission(&k, "hello-5"), OUT_DECOMMISSIONED);
    assert_int_equal(decommission(&k, "hello-9"), OUT_NO_INSTANCE);
    assert_string_equal(kit_list(&k, "web"), "hello-0:READY hello-2:READY hello-3:READY hello-4:READY");
    kit_request(&k, EV_STOP, "web");
    kit_request(&k, EV_START, "web");
    assert_string_equal(kit_list(&k, "web"), "hello-0:READY hello-2:READY hello-3:READY hello-4:READY");
    kit_flex(&k, "web", "hello", 5);
    assert_string_equal(kit_list(&k, "web"),
                        "hello-0:READY hello-2:READY hello-3:READY hello-4:READY hello-6:READY");
    kit_end(&k);
}

/** One that a flex is about to remove counts once: the flex and the decommission together leave what the flex asked for. */
static void one_of_too_many_is_decommissioned(void **state)
{
    (void)state;
    struct kit k;
    struct eng_flex to_one = {.component = "hello", .count = 1};
    const char *last = "hello-2";
    struct eng_event flex = {
        .kind = EV_FLEX, .token = 90, .user = "alice", .name = "web", .flex = &to_one, .n_flex = 1};
    struct eng_event end = {
        .kind = EV_DECOMMISSION, .token = 91, .user = "alice", .name = "web", .names = &last, .n_names = 1};
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", 3, "ALWAYS", ""), false);
    engine_step(k.e, &flex, kit_now(&k), &k.effects); /* nothing follows it yet */
    kit_step(&k, end);
    kit_step(&k, (struct eng_event){.kind = EV_TIMER, .user = "alice", .name = "web"});
    assert_string_equal(kit_list(&k, "web"), "hello-0:READY");
    assert_int_equal(kit_service(&k, "web")->spec->components[0]->number_of_containers, 1);
    kit_end(&k);
}

static const char *with_lifetime(void)
{
    return "{\"name\":\"web\",\"version\":\"1\",\"lifetime\":10,\"components\":[{\"name\":\"hello\","
           "\"number_of_containers\":1,\"launch_command\":\"run\",\"resource\":{\"memory\":\"64\"}}]}";
}

static void lifetime_of_the_seed_destroys(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, with_lifetime(), false);
    assert_int_equal(eng_service_lifetime_left_s(kit_service(&k, "web"), k.now_ms), 10);
    kit_advance(&k, "web", 9999);
    assert_int_equal(service_state(&k, "web"), SVC_STABLE);
    kit_advance(&k, "web", 1);
    assert_null(kit_service(&k, "web"));
    kit_end(&k);
}

static void lifetime_of_hadoop_stops(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "hadoop3");
    kit_create(&k, with_lifetime(), false);
    kit_fire(&k, "web");
    assert_int_equal(service_state(&k, "web"), SVC_STOPPED);
    assert_int_equal(kit_request(&k, EV_START, "web"), OUT_STARTED);
    kit_end(&k);
}

static void endless_lifetimes_do_not_overflow(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, with_lifetime(), false);
    kit_step(&k,
             (struct eng_event){
                 .kind = EV_LIFETIME, .token = 5, .user = "alice", .name = "web", .lifetime_s = INT64_MAX});
    assert_true(eng_service_lifetime_left_s(kit_service(&k, "web"), k.now_ms) > 1000000000);
    assert_int_equal(service_state(&k, "web"), SVC_STABLE);
    kit_end(&k);
}

static void lifetime_is_counted_from_the_request(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, with_lifetime(), false);
    kit_advance(&k, "web", 5000);
    kit_step(&k, (struct eng_event){
                     .kind = EV_LIFETIME, .token = 5, .user = "alice", .name = "web", .lifetime_s = 3600});
    assert_int_equal(kit_last(&k, EFF_ANSWER)->answer->outcome, OUT_LIFETIME_SET);
    assert_int_equal(kit_last(&k, EFF_ANSWER)->answer->at_ms, k.now_ms + k.wall_ahead_ms + 3600000);
    assert_int_equal(eng_service_lifetime_left_s(kit_service(&k, "web"), k.now_ms), 3600);
    kit_request(&k, EV_STOP, "web");
    kit_step(&k, (struct eng_event){
                     .kind = EV_LIFETIME, .token = 6, .user = "alice", .name = "web", .lifetime_s = 1});
    assert_int_equal(kit_last(&k, EFF_ANSWER)->answer->outcome, OUT_ALREADY_STOPPED);
    kit_end(&k);
}

#define COMPONENT(name, more)                                                                                \
    "{\"name\":\"" name                                                                                      \
    "\",\"number_of_containers\":1,\"launch_command\":\"x\",\"resource\":{\"memory\":1}" more "}"
#define PORT ",\"readiness_check\":{\"type\":\"PORT\",\"properties\":{\"port\":\"80\"}}"

static void components_start_after_what_they_depend_on(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(
        &k,
        "{\"name\":\"web\",\"version\":\"1\",\"components\":[" COMPONENT(
            "c",
            ",\"dependencies\":[\"b\"]") "," COMPONENT("b", PORT
                                                       ",\"dependencies\":[\"a\"]") "," COMPONENT("a",
                                                                                                  PORT) "]}",
        false);
    assert_string_equal(kit_list(&k, "web"), "a-0:RUNNING b-0:PENDING c-0:PENDING");
    assert_non_null(strstr(kit_wait(&k, "web", "b-0"), "component a has 0 of 1"));
    kit_flex(&k, "web", "b", 2); /* remembered while it waits */
    kit_probe(&k, "web", "a-0", true);
    assert_string_equal(kit_list(&k, "web"), "a-0:READY b-0:RUNNING b-1:RUNNING c-0:PENDING");
    kit_probe(&k, "web", "b-0", true);
    assert_int_equal(kit_state(&k, "web", "c-0"), INST_PENDING);
    kit_probe(&k, "web", "b-1", true);
    assert_int_equal(kit_state(&k, "web", "c-0"), INST_READY);
    assert_int_equal(service_state(&k, "web"), SVC_STABLE);
    kit_probe(&k, "web", "a-0", false); /* what has started is not stopped */
    assert_int_equal(kit_state(&k, "web", "c-0"), INST_READY);
    assert_int_equal(service_state(&k, "web"), SVC_STARTED);
    kit_end(&k);
}

static void services_wait_for_services(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k,
               "{\"name\":\"web\",\"version\":\"1\",\"dependencies\":[\"base\"],\"components\":[" COMPONENT(
                   "a", "") "]}",
               false);
    assert_int_equal(service_state(&k, "web"), SVC_ACCEPTED);
    mem_auto char *why = eng_wait_text(kit_service(&k, "web")->wait);
    assert_string_equal(why, "dependency: service base is not there");
    kit_create(&k, kit_spec("base", 1, "ALWAYS", PORT), false);
    assert_int_equal(service_state(&k, "web"), SVC_ACCEPTED);
    kit_probe(&k, "base", "hello-0", true);
    assert_int_equal(service_state(&k, "web"), SVC_STABLE);
    kit_end(&k);
}

static void a_waiting_service_can_be_stopped(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k,
               "{\"name\":\"web\",\"version\":\"1\",\"dependencies\":[\"base\"],\"components\":[" COMPONENT(
                   "a", "") "]}",
               false);
    assert_int_equal(kit_request(&k, EV_STOP, "web"), OUT_STOPPED);
    assert_int_equal(service_state(&k, "web"), SVC_STOPPED);
    kit_end(&k);
}

/** The engine starts anew, and the cluster knows that every container has gone: the machine was off. */
static void reboot(struct kit *k)
{
    const char *ids[16];
    size_t n = 0;
    kit_crash(k);
    for (const char *const *name = (const char *const[]){"base", "web", NULL}; *name; name++)
        for (size_t i = 0; i < kit_service(k, *name)->n_components; i++) {
            const struct eng_instance *inst;
            TAILQ_FOREACH (inst, &kit_service(k, *name)->components[i]->instances, link)
                if (inst->container_id)
                    ids[n++] = inst->container_id;
        }
    for (size_t i = 0; i < n; i++) {
        mem_auto char *id = mem_str(ids[i]);
        kit_step(k, (struct eng_event){.kind = EV_RECOVERED,
                                       .container_id = id,
                                       .found = FOUND_EXITED,
                                       .exit = eng_exit_of(CAUSE_LOST, 0, NULL)});
    }
    kit_step(k, (struct eng_event){.kind = EV_RESUME});
}

/** Let the pauses before its next start pass. */
static void fire_while_pending(struct kit *k, const char *service, const char *instance)
{
    int state;
    while (((state = kit_state(k, service, instance)) == INST_PENDING || state == INST_EXITED) &&
           kit_service(k, service)->timer_ms)
        kit_fire(k, service);
}

static void a_reboot_starts_them_in_order(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("base", 1, "ALWAYS", PORT), false);
    kit_probe(&k, "base", "hello-0", true);
    kit_create(&k,
               "{\"name\":\"web\",\"version\":\"1\",\"dependencies\":[\"base\"],\"components\":[" COMPONENT(
                   "b", ",\"dependencies\":[\"a\"]") "," COMPONENT("a", PORT) "]}",
               false);
    kit_probe(&k, "web", "a-0", true);
    assert_string_equal(kit_list(&k, "web"), "a-0:READY b-0:READY");
    mem_auto char *app_id = mem_str(kit_service(&k, "web")->app_id);
    reboot(&k);
    fire_while_pending(&k, "base", "hello-0");
    assert_string_equal(kit_list(&k, "base"), "hello-0:RUNNING");
    assert_string_equal(kit_list(&k, "web"), "a-0:PENDING b-0:PENDING");
    assert_string_equal(kit_wait(&k, "web", "a-0"), "dependency: service base is STARTED");
    kit_probe(&k, "base", "hello-0", true);
    fire_while_pending(&k, "web", "a-0");
    assert_string_equal(kit_list(&k, "web"), "a-0:RUNNING b-0:PENDING");
    assert_non_null(strstr(kit_wait(&k, "web", "b-0"), "component a has 0 of 1"));
    kit_probe(&k, "base", "hello-0", false); /* it has started: what it depends on may fail */
    kit_probe(&k, "web", "a-0", true);
    assert_string_equal(kit_list(&k, "web"), "a-0:READY b-0:READY");
    assert_string_equal(kit_service(&k, "web")->app_id, app_id);
    assert_int_equal(service_state(&k, "web"), SVC_STABLE);
    kit_end(&k);
}

/** Only where nothing of a component is left: svcmgr alone was away. */
static void what_has_survived_does_not_wait(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(
        &k,
        "{\"name\":\"web\",\"version\":\"1\",\"components\":[{\"name\":\"b\",\"number_of_containers\":2,"
        "\"launch_command\":\"x\",\"resource\":{\"memory\":1},\"dependencies\":[\"a\"]}," COMPONENT(
            "a", PORT) "]}",
        false);
    kit_probe(&k, "web", "a-0", true);
    kit_exit_signal(&k, "web", "b-1", 9);
    kit_probe(&k, "web", "a-0", false);
    kit_crash(&k);
    kit_recover(&k);
    fire_while_pending(&k, "web", "b-1");
    assert_string_equal(kit_list(&k, "web"), "a-0:RUNNING b-0:READY b-1:READY");
    kit_end(&k);
}

/** A DELETE whose write failed did not happen, also of a service that would have gone at once. */
static void an_undone_delete_leaves_the_service(void **state)
{
    (void)state;
    static const enum eng_service_state states[] = {SVC_ACCEPTED, SVC_STOPPED, SVC_STABLE};
    for (size_t i = 0; i < ARRAY_LEN(states); i++) {
        struct kit k;
        kit_start(&k, "seed");
        kit_create(&k, kit_spec("web", 2, "ALWAYS", ""), states[i] == SVC_ACCEPTED);
        if (states[i] == SVC_STOPPED)
            kit_request(&k, EV_STOP, "web");
        int before = service_state(&k, "web");
        mem_auto char *list = mem_str(kit_list(&k, "web"));
        kit_undone(&k, (struct eng_event){.kind = EV_DESTROY, .token = 999, .user = "alice", .name = "web"});
        assert_non_null(kit_service(&k, "web"));
        assert_false(kit_service(&k, "web")->destroying);
        assert_int_equal(kit_service(&k, "web")->n_destroyers, 0);
        assert_int_equal(service_state(&k, "web"), before);
        assert_string_equal(kit_list(&k, "web"), list);
        if (states[i] == SVC_STABLE) { /* what happens meanwhile finds it as it was */
            kit_exit_code(&k, "web", "hello-0", 1);
            fire_while_pending(&k, "web", "hello-0");
            assert_string_equal(kit_list(&k, "web"), list);
        }
        kit_crash(&k);
        kit_recover(&k);
        assert_string_equal(kit_list(&k, "web"), list);
        assert_int_equal(kit_request(&k, EV_DESTROY, "web"), OUT_DESTROYED);
        assert_null(kit_service(&k, "web"));
        kit_end(&k);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(created_service_becomes_stable),
        cmocka_unit_test(the_answer_waits_for_the_write),
        cmocka_unit_test(a_name_is_taken_in_every_state),
        cmocka_unit_test(saved_started_stopped_started),
        cmocka_unit_test(unique_names_do_not_return_with_another_start),
        cmocka_unit_test(requests_for_nobody),
        cmocka_unit_test(stop_waits_for_the_containers),
        cmocka_unit_test(destroy_answers_when_all_is_gone),
        cmocka_unit_test(destroy_of_a_saved_service_and_two_at_once),
        cmocka_unit_test(destroy_with_a_registry_that_fails_is_repeated),
        cmocka_unit_test(destroy_is_answered_while_a_container_is_stuck),
        cmocka_unit_test(destroy_is_answered_while_the_registry_is_stuck),
        cmocka_unit_test(components_of_an_ended_service_keep_their_end),
        cmocka_unit_test(flex_uses_the_lowest_numbers),
        cmocka_unit_test(relative_flex),
        cmocka_unit_test(an_instance_taken_back_keeps_name_and_address),
        cmocka_unit_test(a_dropped_request_is_cancelled),
        cmocka_unit_test(decommissioned_numbers_never_return),
        cmocka_unit_test(one_of_too_many_is_decommissioned),
        cmocka_unit_test(lifetime_of_the_seed_destroys),
        cmocka_unit_test(lifetime_of_hadoop_stops),
        cmocka_unit_test(endless_lifetimes_do_not_overflow),
        cmocka_unit_test(lifetime_is_counted_from_the_request),
        cmocka_unit_test(components_start_after_what_they_depend_on),
        cmocka_unit_test(services_wait_for_services),
        cmocka_unit_test(a_waiting_service_can_be_stopped),
        cmocka_unit_test(a_reboot_starts_them_in_order),
        cmocka_unit_test(what_has_survived_does_not_wait),
        cmocka_unit_test(an_undone_delete_leaves_the_service),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

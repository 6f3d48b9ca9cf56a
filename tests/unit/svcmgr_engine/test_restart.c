/** The engine is thrown away and loaded again from what it stored. */
#include "engine_kit.h"

#include <stdlib.h>
#include <string.h>

#define PORT ",\"readiness_check\":{\"type\":\"PORT\",\"properties\":{\"port\":\"80\"}}"

static void survivors_keep_everything(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", 2, "ALWAYS", ""), false);
    mem_auto char *id = mem_str(kit_instance(&k, "web", "hello-1")->container_id);
    mem_auto char *ip = mem_str(kit_instance(&k, "web", "hello-1")->ip);
    int64_t since = kit_instance(&k, "web", "hello-1")->running_ms;
    k.now_ms += 5000;
    kit_crash(&k);
    kit_recover(&k);
    const struct eng_instance *inst = kit_instance(&k, "web", "hello-1");
    assert_string_equal(inst->container_id, id);
    assert_string_equal(inst->ip, ip);
    assert_int_equal(inst->running_ms, since);
    assert_int_equal(inst->state, INST_READY);
    assert_int_equal(kit_service(&k, "web")->state, SVC_STABLE);
    assert_string_equal(kit_service(&k, "web")->app_id, "application_1700000000000_0001");
    assert_int_equal(kit_count(&k, EFF_LAUNCH), 0);
    assert_int_equal(kit_count(&k, EFF_REQUEST), 0);
    assert_int_equal(kit_count(&k, EFF_PURGE), 0);
    assert_int_equal(kit_count(&k, EFF_PUBLISH), 3); /* all records once more */
    kit_create(&k, kit_spec("next", 1, "ALWAYS", ""), false);
    assert_string_equal(kit_service(&k, "next")->app_id, "application_1700000000000_0002");
    kit_end(&k);
}

static void readiness_is_asked_again(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", 1, "ALWAYS", PORT), false);
    kit_probe(&k, "web", "hello-0", true);
    kit_crash(&k);
    kit_recover(&k);
    assert_int_equal(kit_state(&k, "web", "hello-0"), INST_RUNNING);
    assert_int_equal(kit_count(&k, EFF_PROBE_START), 1);
    kit_end(&k);
}

/** Report hello-0 of web as found, resume. */
static void recover_as(struct kit *k, enum eng_found found, int64_t exit_code)
{
    mem_auto char *id = mem_str(kit_instance(k, "web", "hello-0")->container_id);
    kit_step(k, (struct eng_event){.kind = EV_RECOVERED,
                                   .container_id = id,
                                   .attempt = kit_instance(k, "web", "hello-0")->attempt,
                                   .found = found,
                                   .exit = eng_exit_of(CAUSE_EXITED, exit_code, NULL)});
    kit_step(k, (struct eng_event){.kind = EV_RESUME});
}

static void what_ended_meanwhile_is_treated_as_an_end(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", 1, "ALWAYS", ""), false);
    mem_auto char *id = mem_str(kit_instance(&k, "web", "hello-0")->container_id);
    kit_crash(&k);
    recover_as(&k, FOUND_EXITED, 1);
    /* EV_RESUME asks for the held container once more, then it is started again in it */
    assert_int_equal(kit_state(&k, "web", "hello-0"), INST_READY);
    assert_string_equal(kit_instance(&k, "web", "hello-0")->container_id, id);
    assert_int_equal(kit_instance(&k, "web", "hello-0")->attempt, 2);
    kit_end(&k);
}

static void what_is_gone_is_replaced_and_its_record_removed(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", 1, "ALWAYS", ""), false);
    mem_auto char *id = mem_str(kit_instance(&k, "web", "hello-0")->container_id);
    kit_crash(&k);
    recover_as(&k, FOUND_GONE, 0);
    assert_string_equal(kit_last(&k, EFF_UNPUBLISH)->container_id, id);
    kit_fire(&k, "web");
    assert_int_equal(kit_state(&k, "web", "hello-0"), INST_READY);
    assert_string_not_equal(kit_instance(&k, "web", "hello-0")->container_id, id);
    kit_end(&k);
}

static void what_nobody_reports_is_gone(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", 1, "ALWAYS", ""), false);
    kit_crash(&k);
    kit_step(&k, (struct eng_event){.kind = EV_RESUME});
    assert_int_equal(kit_instance(&k, "web", "hello-0")->last_exit->cause, CAUSE_LOST);
    kit_fire(&k, "web");
    assert_int_equal(kit_state(&k, "web", "hello-0"), INST_READY);
    kit_end(&k);
}

/** The cluster cannot say yet: nothing takes its place, its record stays, and what comes out later counts. */
static void what_is_not_known_yet_is_not_replaced(void **state)
{
    (void)state;
    static const struct {
        enum eng_found then;
        bool is_same;
    } cases[] = {{FOUND_RUNNING, true}, {FOUND_GONE, false}};

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct kit k;
        kit_start(&k, "seed");
        kit_create(&k, kit_spec("web", 1, "ALWAYS", ""), false);
        mem_auto char *id = mem_str(kit_instance(&k, "web", "hello-0")->container_id);
        kit_crash(&k);
        kit_clear(&k);
        recover_as(&k, FOUND_UNKNOWN, 0);
        kit_step(&k,
                 (struct eng_event){.kind = EV_WAITING, .container_id = id, .text = "descriptors are short"});
        assert_int_equal(kit_state(&k, "web", "hello-0"), INST_RECOVERING);
        assert_string_equal(kit_wait(&k, "web", "hello-0"), "recovering: descriptors are short");
        assert_int_equal(kit_count(&k, EFF_REQUEST) + kit_count(&k, EFF_LAUNCH), 0);
        assert_int_equal(kit_count(&k, EFF_UNPUBLISH), 0);

        kit_step(&k, (struct eng_event){.kind = EV_RECOVERED,
                                        .container_id = id,
                                        .attempt = 1,
                                        .found = cases[i].then,
                                        .ip = "10.0.0.1",
                                        .host = "n"});
        if (!cases[i].is_same)
            kit_fire(&k, "web");
        const struct eng_instance *inst = kit_instance(&k, "web", "hello-0");
        assert_int_equal(inst->state, INST_READY);
        assert_string_equal(kit_wait(&k, "web", "hello-0"), "");
        assert_int_equal(strcmp(inst->container_id, id) == 0, cases[i].is_same);
        assert_int_equal(inst->recovered, false);
        kit_end(&k);
    }
}

/** A cluster that may report its containers after EV_RESUME: web with hello-0 READY, resumed without a report. @return its
 *  container's id, owned. */
static char *start_unreported(struct kit *k)
{
    kit_start(k, "seed");
    k->cfg.late_reports = true;
    kit_create(k,
               kit_spec("web", 1, "ALWAYS",
                        ",\"configuration\":{\"properties\":"
                        "{\"yarn.service.container-recovery.timeout.ms\":\"5000\"}}"),
               false);
    char *id = mem_str(kit_instance(k, "web", "hello-0")->container_id);
    kit_crash(k);
    kit_step(k, (struct eng_event){.kind = EV_RESUME});
    return id;
}

static void a_container_may_be_reported_late(void **state)
{
    (void)state;
    static const enum eng_event_kind reports[] = {EV_RECOVERED, EV_RUNNING};
    for (size_t i = 0; i < ARRAY_LEN(reports); i++) {
        struct kit k;
        mem_auto char *id = start_unreported(&k);
        assert_int_equal(kit_state(&k, "web", "hello-0"), INST_RECOVERING);
        assert_int_equal(kit_service(&k, "web")->timer_ms, k.now_ms + 5000);
        k.now_ms += 4000;
        kit_step(&k,
                 (struct eng_event){
                     .kind = reports[i], .container_id = id, .attempt = 1, .ip = "10.0.0.1", .host = "n"});
        const struct eng_instance *inst = kit_instance(&k, "web", "hello-0");
        assert_int_equal(inst->state, INST_READY);
        assert_string_equal(inst->container_id, id);
        assert_int_equal(inst->due_ms, 0);
        assert_false(kit_last(&k, EFF_PUBLISH)->record->is_unready);
        assert_int_equal(kit_count(&k, EFF_LAUNCH) + kit_count(&k, EFF_UNPUBLISH), 0);
        kit_end(&k);
    }
}

static void a_container_that_is_not_reported_by_the_deadline_is_lost(void **state)
{
    (void)state;
    struct kit k;
    mem_auto char *id = start_unreported(&k);
    k.now_ms += 3000;
    kit_crash(&k); /* the deadline is the first one's */
    kit_step(&k, (struct eng_event){.kind = EV_RESUME});
    assert_int_equal(kit_service(&k, "web")->timer_ms, k.now_ms + 2000);
    kit_fire(&k, "web");
    assert_int_equal(kit_instance(&k, "web", "hello-0")->last_exit->cause, CAUSE_LOST);
    assert_string_equal(kit_last(&k, EFF_UNPUBLISH)->container_id, id);
    kit_fire(&k, "web");
    assert_int_equal(kit_state(&k, "web", "hello-0"), INST_READY);
    kit_step(&k, (struct eng_event){.kind = EV_RUNNING, .container_id = id, .attempt = 1});
    assert_string_equal(kit_last(&k, EFF_STOP)->container_id, id); /* it was replaced */
    kit_end(&k);
}

static void a_stop_ends_what_is_recovering(void **state)
{
    (void)state;
    struct kit k;
    mem_auto char *id = start_unreported(&k);
    kit_request(&k, EV_STOP, "web");
    assert_string_equal(kit_last(&k, EFF_STOP)->container_id, id);
    assert_int_equal(kit_service(&k, "web")->state, SVC_STOPPED);
    kit_end(&k);
}

/** web with hello-0, whose launch was sent and nothing more. @return its container's id, owned. */
static char *start_allocated(struct kit *k)
{
    kit_start(k, "seed");
    k->obey = false;
    kit_create(k, kit_spec("web", 1, "ALWAYS", ""), false);
    char *id = mem_str(kit_instance(k, "web", "hello-0")->container_id);
    kit_step(k, (struct eng_event){.kind = EV_ALLOCATED, .container_id = id, .host = "n"});
    return id;
}

/** It was being started when svcmgr died: a launch that turns out not to have come about is done again. */
static void a_launch_that_was_not_known_is_done_again(void **state)
{
    (void)state;
    struct kit k;
    mem_auto char *id = start_allocated(&k);
    kit_crash(&k);
    recover_as(&k, FOUND_UNKNOWN, 0);
    assert_int_equal(kit_state(&k, "web", "hello-0"), INST_ALLOCATED);
    kit_clear(&k);
    k.obey = true;
    kit_step(&k, (struct eng_event){.kind = EV_RECOVERED, .container_id = id, .found = FOUND_GONE});
    assert_int_equal(kit_state(&k, "web", "hello-0"), INST_READY);
    assert_string_equal(kit_instance(&k, "web", "hello-0")->container_id, id);
    assert_int_equal(kit_instance(&k, "web", "hello-0")->attempt, 1);
    kit_end(&k);
}

/** A cluster may name the address with the container: it is stored before the process starts, and so is the same after a crash. */
static void an_address_of_the_cluster_is_kept(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    k.cfg.address_net = NULL;
    kit_crash(&k);
    kit_recover(&k);
    k.obey = false;
    kit_create(&k, kit_spec("web", 1, "ALWAYS", ""), false);
    mem_auto char *id = mem_str(kit_instance(&k, "web", "hello-0")->container_id);
    kit_step(&k, (struct eng_event){.kind = EV_ALLOCATED, .container_id = id, .host = "n", .ip = "10.0.0.7"});
    assert_int_equal(kit_count(&k, EFF_LAUNCH), 1);
    kit_crash(&k);
    assert_string_equal(kit_instance(&k, "web", "hello-0")->ip, "10.0.0.7");
    kit_end(&k);
}

/** A launch that waits says for what, and is no failure. */
static void a_launch_that_waits_says_why(void **state)
{
    (void)state;
    struct kit k;
    mem_auto char *id = start_allocated(&k);
    kit_step(&k, (struct eng_event){.kind = EV_WAITING, .container_id = id, .text = "No space left"});
    assert_string_equal(kit_wait(&k, "web", "hello-0"), "resource: No space left");
    assert_int_equal(kit_instance(&k, "web", "hello-0")->component->n_failures, 0);
    kit_end(&k);
}

/** Crash after each step of the way to READY: with the cluster having done nothing of the last effects. */
static void outstanding_work_is_done_again(void **state)
{
    (void)state;
    for (int n_steps = 0; n_steps < 3; n_steps++) {
        struct kit k;
        kit_start(&k, "seed");
        k.obey = false;
        kit_create(&k, kit_spec("web", 1, "ALWAYS", ""), false);
        mem_auto char *id = mem_str(kit_instance(&k, "web", "hello-0")->container_id);
        if (n_steps > 0)
            kit_step(&k, (struct eng_event){.kind = EV_ALLOCATED, .container_id = id, .host = "n"});
        kit_crash(&k);
        k.obey = true;
        if (n_steps > 1) /* the launch was carried out */
            kit_recover(&k);
        else
            kit_step(&k, (struct eng_event){.kind = EV_RESUME});
        assert_int_equal(kit_state(&k, "web", "hello-0"), INST_READY);
        assert_string_equal(kit_instance(&k, "web", "hello-0")->container_id, id);
        assert_int_equal(kit_instance(&k, "web", "hello-0")->attempt, 1);
        assert_int_equal(kit_count(&k, EFF_LAUNCH), n_steps > 1 ? 0 : 1);
        assert_int_equal(kit_count(&k, EFF_PUBLISH), 2); /* the service's record and the container's */
        kit_end(&k);
    }
}

static void a_retry_that_was_not_carried_out_is_done_again(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", 1, "ALWAYS", ""), false);
    mem_auto char *id = mem_str(kit_instance(&k, "web", "hello-0")->container_id);
    kit_exit_code(&k, "web", "hello-0", 1);
    k.obey = false;
    kit_fire(&k, "web"); /* the second launch is stored, then all stops */
    kit_crash(&k);
    k.obey = true;
    kit_step(&k, (struct eng_event){.kind = EV_RECOVERED,
                                    .container_id = id,
                                    .attempt = 1,
                                    .found = FOUND_EXITED,
                                    .exit = eng_exit_of(CAUSE_EXITED, 1, NULL)});
    kit_step(&k, (struct eng_event){.kind = EV_RESUME});
    assert_int_equal(kit_state(&k, "web", "hello-0"), INST_READY);
    assert_int_equal(kit_instance(&k, "web", "hello-0")->attempt, 2);
    assert_int_equal(kit_count(&k, EFF_LAUNCH), 1);
    kit_end(&k);
}

static void what_ended_while_it_was_stopped_is_given_back(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", 1, "ALWAYS", ""), false);
    k.obey = false;
    kit_flex(&k, "web", "hello", 0);
    kit_crash(&k);
    kit_clear(&k);
    mem_auto char *id = mem_str(kit_instance(&k, "web", "hello-0")->container_id);
    recover_as(&k, FOUND_EXITED, 0);
    assert_int_equal(kit_state(&k, "web", "hello-0"), -1);
    assert_non_null(kit_last(&k, EFF_RELEASE)); /* else the host keeps its room and its address */
    assert_string_equal(kit_last(&k, EFF_RELEASE)->container_id, id);
    kit_end(&k);
}

static void a_stop_goes_on(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", 1, "ALWAYS", ""), false);
    k.obey = false;
    kit_request(&k, EV_STOP, "web");
    kit_crash(&k);
    k.obey = true;
    kit_recover(&k);
    assert_int_equal(kit_service(&k, "web")->state, SVC_STOPPED);
    assert_int_equal(kit_count(&k, EFF_STOP), 1);
    assert_int_equal(kit_count(&k, EFF_PURGE), 1);
    assert_int_equal(kit_count(&k, EFF_PUBLISH), 0);
    kit_end(&k);
}

static void a_destroy_goes_on(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", 1, "ALWAYS", ""), false);
    k.obey = false;
    kit_request(&k, EV_DESTROY, "web");
    kit_crash(&k);
    k.obey = true;
    kit_recover(&k);
    assert_null(kit_service(&k, "web"));
    assert_null(map_get(&k.store, "services/alice/web"));
    kit_end(&k);
}

static void a_lifetime_goes_on(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", 1, "ALWAYS", ""), false);
    kit_step(&k, (struct eng_event){
                     .kind = EV_LIFETIME, .token = 5, .user = "alice", .name = "web", .lifetime_s = 9});
    kit_crash(&k);
    kit_recover(&k);
    k.now_ms += 4000;
    assert_int_equal(eng_service_lifetime_left_s(kit_service(&k, "web"), k.now_ms), 5);
    kit_fire(&k, "web");
    assert_null(kit_service(&k, "web"));
    kit_end(&k);
}

static void names_are_kept_apart_in_the_store(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", 1, "ALWAYS", ""), true);
    struct err_info why = {0};
    const char *text = map_get(&k.store, "definitions/services/alice/web");
    const char *is = map_get(&k.store, "services/alice/web");
    assert_non_null(text);
    assert_int_equal(engine_load(k.e, "definitions/services/alice/web", text, strlen(text), &why),
                     ERR_JSON); /* twice */
    assert_int_equal(engine_load(k.e, "definitions/services/bob/web", text, strlen(text), &why), ERR_JSON);
    assert_int_equal(engine_load(k.e, "services/alice/web", is, strlen(is), &why), ERR_JSON); /* twice */
    assert_int_equal(engine_load(k.e, "services/bob/web", is, strlen(is), &why), ERR_JSON);
    assert_int_equal(engine_load(k.e, "services/alice/web", text, strlen(text), &why), ERR_JSON);
    assert_int_equal(engine_load(k.e, "services/bob/web", "{", 1, &why), ERR_JSON);
    assert_int_equal(engine_load(k.e, "services/bob/web", "{}", 2, &why), ERR_JSON);
    assert_int_equal(engine_load(k.e, "engine", "{}", 2, &why), ERR_JSON);
    kit_end(&k);
}

#define TWO_OF_ONE_NUMBER                                                                                    \
    "{\"name\":\"hello-1\",\"index\":1,\"state\":\"PENDING\"},"                                              \
    "{\"name\":\"hello-1\",\"index\":1,\"state\":\"PENDING\"}"

static void damaged_documents_are_refused(void **state)
{
    (void)state;
    static const char *const instances[] = {
        "{\"state\":\"PENDING\"}",
        "{\"name\":\"hello-0\",\"state\":\"READY\"}",
        "{\"name\":\"hello-0\",\"state\":\"READY\",\"container_id\":\"c\"}",
        "{\"name\":\"hello-0\",\"state\":\"LEFT\"}",
        (TWO_OF_ONE_NUMBER),
        "{\"name\":\"hello-0\",\"index\":-1,\"state\":\"PENDING\"}",
        "{\"name\":\"hello-0\",\"index\":1000000000000,\"state\":\"PENDING\"}",
    };
    for (size_t i = 0; i < ARRAY_LEN(instances); i++) {
        struct kit k;
        struct err_info why = {0};
        kit_start(&k, "seed");
        mem_auto char *text =
            mem_fmt("{\"user\":\"alice\",\"name\":\"web\",\"state\":\"STARTED\",\"spec\":%s,\"components\":"
                    "[{\"name\":\"hello\",\"state\":\"FLEXING\",\"instances\":[%s]}]}",
                    kit_spec("web", 1, "ALWAYS", ""), instances[i]);
        assert_int_equal(engine_load(k.e, "services/alice/web", text, strlen(text), &why), ERR_JSON);
        assert_null(kit_service(&k, "web"));
        kit_end(&k);
    }
}

static void a_step_writes_what_it_has_changed(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", 20, "ALWAYS", ""), false);
    kit_clear(&k);
    k.obey = false;
    kit_exit_code(&k, "web", "hello-7", 1);
    assert_int_equal(kit_count(&k, EFF_PERSIST), 3);
    assert_string_equal(k.effects.items[0].key, "services/alice/web"); /* it is not STABLE any more */
    assert_null(strstr(k.effects.items[0].bytes, "hello-"));
    assert_string_equal(k.effects.items[1].key, "services/alice/web/hello-7");
    assert_string_equal(k.effects.items[2].key, "services/alice/web/history/0");
    kit_end(&k);
}

static void documents_of_instances_go_with_them(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", 3, "ALWAYS", ""), false);
    kit_flex(&k, "web", "hello", 1);
    assert_non_null(map_get(&k.store, "services/alice/web/hello-0"));
    assert_null(map_get(&k.store, "services/alice/web/hello-1"));
    assert_null(map_get(&k.store, "services/alice/web/hello-2"));
    kit_crash(&k);
    kit_recover(&k);
    assert_string_equal(kit_list(&k, "web"), "hello-0:READY");
    kit_flex(&k, "web", "hello", 2);
    kit_request(&k, EV_DESTROY, "web");
    assert_int_equal(k.store.n_items, 1);
    assert_non_null(map_get(&k.store, "engine"));
    kit_end(&k);
}

static void instances_inside_a_service_document_move_out(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", 2, "ALWAYS", ""), false);
    mem_auto char *id = mem_str(kit_instance(&k, "web", "hello-1")->container_id);
    char *definition = map_remove(&k.store, "definitions/services/alice/web");
    char *service = map_remove(&k.store, "services/alice/web");
    mem_auto char *first = map_remove(&k.store, "services/alice/web/hello-0");
    mem_auto char *second = map_remove(&k.store, "services/alice/web/hello-1");
    char *at = strstr(service, "\"components\":[{\"name\":\"hello\",\"state\"");
    assert_non_null(at);
    size_t head = (size_t)(at - service) + strlen("\"components\":[{");
    const char *format = strchr(definition, ','); /* behind its number: there was none */
    const char *rest = strchr(service, ',');
    map_set(&k.store, "services/alice/web",
            mem_fmt("{%.*s%.*s\"instances\":[%s,%s],%s", (int)strlen(format) - 2, format + 1,
                    (int)(head - (size_t)(rest - service)), rest, first, second, service + head));
    free(definition);
    free(service);
    kit_crash(&k);
    kit_recover(&k);
    assert_string_equal(kit_list(&k, "web"), "hello-0:READY hello-1:READY");
    kit_crash(&k);
    assert_string_equal(kit_instance(&k, "web", "hello-1")->container_id, id);
    assert_null(strstr(map_get(&k.store, "services/alice/web"), "hello-1"));
    kit_end(&k);
}

static void damaged_documents_of_instances_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *key, *text;
    } docs[] = {
        {"services/alice/web/hello-0", "{\"name\":\"hello-0\",\"state\":\"PENDING\"}"}, /* a second one */
        {"services/alice/web/hello-1", "{\"name\":\"hello-1\",\"state\":\"PENDING\"}"}, /* its index is 0 */
        {"services/alice/web/hello-1", "{\"name\":\"hello-1\",\"index\":1,\"state\":\"READY\"}"},
        {"services/alice/web/hello-1", "{\"name\":\"hello-2\",\"index\":2,\"state\":\"PENDING\"}"},
        {"services/alice/web/other-1", "{\"name\":\"other-1\",\"index\":1,\"state\":\"PENDING\"}"},
        {"services/alice/db/hello-1", "{\"name\":\"hello-1\",\"index\":1,\"state\":\"PENDING\"}"},
        {"services/al%zze/web/hello-1", "{\"name\":\"hello-1\",\"index\":1,\"state\":\"PENDING\"}"},
        {"services/alice/web/hello-1", "{}"},
        {"services/alice/web/hello-1", "{"},
    };
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", 1, "ALWAYS", ""), false);
    for (size_t i = 0; i < ARRAY_LEN(docs); i++) {
        struct err_info why = {0};
        assert_int_equal(engine_load(k.e, docs[i].key, docs[i].text, strlen(docs[i].text), &why), ERR_JSON);
        assert_string_equal(kit_list(&k, "web"), "hello-0:READY");
    }
    kit_end(&k);
}

static void two_users_one_name(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", 1, "ALWAYS", ""), false);
    struct spec_service *copy = spec_copy(kit_service(&k, "web")->spec);
    kit_step(&k, (struct eng_event){.kind = EV_CREATE, .token = 900, .user = "../Bob_1", .take_spec = copy});
    assert_int_equal(kit_last(&k, EFF_ANSWER)->answer->outcome, OUT_LAUNCHED);
    assert_non_null(map_get(&k.store, "services/%2E.%2F%42ob%5F1/web"));
    assert_non_null(map_get(&k.store, "services/%2E.%2F%42ob%5F1/web/hello-0"));
    kit_crash(&k);
    mem_auto const struct eng_service **all = engine_list(k.e, NULL);
    assert_non_null(all[1]);
    assert_null(all[2]);
    mem_auto const struct eng_service **alice = engine_list(k.e, "alice");
    assert_string_equal(alice[0]->user, "alice");
    assert_null(alice[1]);
    kit_end(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(survivors_keep_everything),
        cmocka_unit_test(readiness_is_asked_again),
        cmocka_unit_test(what_ended_meanwhile_is_treated_as_an_end),
        cmocka_unit_test(what_is_gone_is_replaced_and_its_record_removed),
        cmocka_unit_test(what_is_not_known_yet_is_not_replaced),
        cmocka_unit_test(a_container_may_be_reported_late),
        cmocka_unit_test(a_container_that_is_not_reported_by_the_deadline_is_lost),
        cmocka_unit_test(a_stop_ends_what_is_recovering),
        cmocka_unit_test(a_launch_that_was_not_known_is_done_again),
        cmocka_unit_test(an_address_of_the_cluster_is_kept),
        cmocka_unit_test(a_launch_that_waits_says_why),
        cmocka_unit_test(what_nobody_reports_is_gone),
        cmocka_unit_test(outstanding_work_is_done_again),
        cmocka_unit_test(a_retry_that_was_not_carried_out_is_done_again),
        cmocka_unit_test(what_ended_while_it_was_stopped_is_given_back),
        cmocka_unit_test(a_stop_goes_on),
        cmocka_unit_test(a_destroy_goes_on),
        cmocka_unit_test(a_lifetime_goes_on),
        cmocka_unit_test(names_are_kept_apart_in_the_store),
        cmocka_unit_test(damaged_documents_are_refused),
        cmocka_unit_test(a_step_writes_what_it_has_changed),
        cmocka_unit_test(documents_of_instances_go_with_them),
        cmocka_unit_test(instances_inside_a_service_document_move_out),
        cmocka_unit_test(damaged_documents_of_instances_are_refused),
        cmocka_unit_test(two_users_one_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

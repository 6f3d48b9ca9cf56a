/** Service documents as a GET shows them, in both dialects. */
#include <string.h>

#include "engine_kit.h"
#include "faces/services.h"
#include "json/json.h"

#define PORT ",\"readiness_check\":{\"type\":\"PORT\",\"properties\":{\"port\":\"80\"}}"

static const char *text_at(const json_t *doc, const char *key)
{
    const char *text = json_string_value(json_object_get(doc, key));
    return text ? text : "";
}

static json_t *view(const struct kit *k, const char *name)
{
    return services_view(k->e, kit_service(k, name), k->cfg.dialect, k->now_ms, NULL);
}

/** State of the container of an instance as listed, "" when it is not. */
static const char *state_of(const json_t *doc, const char *instance)
{
    const json_t *list = json_object_get(json_array_get(json_object_get(doc, "components"), 0), "containers");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *c = json_array_get(list, i);
        if (strcmp(text_at(c, "component_instance_name"), instance) == 0)
            return text_at(c, "state");
    }
    return "";
}

struct stage {
    const char *seed, *hadoop3;
    const char *seed_service, *hadoop3_service;
};

static void check(const struct kit *k, const struct stage *want)
{
    bool seed = strcmp(k->cfg.dialect->name, "seed") == 0;
    json_auto json_t *doc = view(k, "web");
    assert_string_equal(state_of(doc, "hello-0"), seed ? want->seed : want->hadoop3);
    assert_string_equal(text_at(doc, "state"), seed ? want->seed_service : want->hadoop3_service);
}

static void a_container_through_its_life(void **state)
{
    (void)state;
    static const char *const dialects[] = {"seed", "hadoop3"};
    for (size_t i = 0; i < ARRAY_LEN(dialects); i++) {
        struct kit k;
        kit_start(&k, dialects[i]);
        k.obey = false;
        kit_create(&k, kit_spec("web", 1, "ALWAYS", PORT), false);
        mem_auto char *id = mem_str(kit_instance(&k, "web", "hello-0")->container_id);
        check(&k, &(struct stage){"", "", "STARTED", "STARTED"});
        kit_step(&k, (struct eng_event){.kind = EV_ALLOCATED, .container_id = id, .host = "n"});
        check(&k, &(struct stage){"INIT", "", "STARTED", "STARTED"});
        kit_step(&k, (struct eng_event){.kind = EV_RUNNING, .container_id = id, .attempt = 1, .host = "n"});
        check(&k, &(struct stage){"STARTED", "RUNNING_BUT_UNREADY", "STARTED", "STARTED"});
        kit_probe(&k, "web", "hello-0", true);
        check(&k, &(struct stage){"READY", "READY", "READY", "STABLE"});
        kit_request(&k, EV_STOP, "web");
        check(&k, &(struct stage){"", "", "STARTED", "STARTED"});
        kit_exit_signal(&k, "web", "hello-0", 15);
        check(&k, &(struct stage){"", "", "STOPPED", "STOPPED"});
        kit_end(&k);
    }
}

static void the_whole_document(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k,
               "{\"name\":\"web\",\"version\":\"1\",\"quicklinks\":{\"UI\":\"http://"
               "hello-0.${SERVICE_NAME}.${USER}.${DOMAIN}/\"},"
               "\"components\":[{\"name\":\"hello\",\"number_of_containers\":1,\"launch_command\":\"x\","
               "\"resource\":{\"memory\":\"64\"}}]}",
               false);
    json_auto json_t *doc = view(&k, "web");
    const json_t *comp = json_array_get(json_object_get(doc, "components"), 0);
    const json_t *cont = json_array_get(json_object_get(comp, "containers"), 0);
    const struct eng_instance *inst = kit_instance(&k, "web", "hello-0");
    assert_string_equal(text_at(doc, "id"), "application_1700000000000_0001");
    assert_int_equal(json_integer_value(json_object_get(doc, "lifetime")), -1);
    assert_int_equal(json_integer_value(json_object_get(doc, "launch_time")), k.now_ms + k.wall_ahead_ms);
    assert_int_equal(json_integer_value(json_object_get(doc, "number_of_running_containers")), 1);
    assert_string_equal(text_at(json_object_get(doc, "quicklinks"), "UI"),
                        "http://hello-0.web.alice.bobbin.test/");
    assert_string_equal(text_at(comp, "state"), "STABLE");
    assert_string_equal(text_at(cont, "id"), inst->container_id);
    assert_string_equal(text_at(cont, "ip"), inst->ip);
    assert_string_equal(text_at(cont, "bare_host"), "node1");
    assert_int_equal(json_integer_value(json_object_get(cont, "launch_time")), k.now_ms + k.wall_ahead_ms);
    kit_end(&k);
}

static void finished_instances_stay_listed(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", 2, "NEVER", ""), false);
    mem_auto char *id = mem_str(kit_instance(&k, "web", "hello-0")->container_id);
    kit_exit_code(&k, "web", "hello-0", 0);
    json_auto json_t *doc = view(&k, "web");
    const json_t *comp = json_array_get(json_object_get(doc, "components"), 0);
    assert_string_equal(state_of(doc, "hello-0"), "SUCCEEDED");
    assert_string_equal(text_at(json_array_get(json_object_get(comp, "containers"), 0), "id"), id);
    kit_exit_code(&k, "web", "hello-1", 1);
    json_auto json_t *after = view(&k, "web");
    assert_string_equal(text_at(after, "state"), "FAILED");
    kit_end(&k);
}

/** State of the only component as the view has it, "-" when it is left out. */
static const char *component_state(const json_t *doc)
{
    const json_t *state = json_object_get(json_array_get(json_object_get(doc, "components"), 0), "state");
    return state ? json_string_value(state) : "-";
}

static void components_of_an_ended_service_show_their_end(void **state)
{
    (void)state;
    static const struct {
        const char *dialect;
        const char *policy;
        int code; /* exit code of the only process; -1: the service is stopped */
        const char *component, *service;
    } rows[] = {
        {"seed", "NEVER", 0, "SUCCEEDED", "STOPPED"},         {"seed", "NEVER", 3, "FAILED", "FAILED"},
        {"seed", "ALWAYS", -1, "STOPPED", "STOPPED"},         {"hadoop3", "NEVER", 0, "SUCCEEDED", "STOPPED"},
        {"hadoop3", "ON_FAILURE", 0, "SUCCEEDED", "STOPPED"}, {"hadoop3", "ALWAYS", -1, "-", "STOPPED"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct kit k;
        kit_start(&k, rows[i].dialect);
        kit_create(&k, kit_spec("web", 1, rows[i].policy, ""), false);
        if (rows[i].code < 0)
            kit_request(&k, EV_STOP, "web");
        else
            kit_exit_code(&k, "web", "hello-0", rows[i].code);
        json_auto json_t *doc = view(&k, "web");
        assert_string_equal(text_at(doc, "state"), rows[i].service);
        assert_string_equal(component_state(doc), rows[i].component);
        assert_string_equal(state_of(doc, "hello-0"), "");
        kit_end(&k);
    }
}

/** Between the end of a container and its listed replacement the old one stays, with how it ended. */
static void an_instance_in_back_off_shows_its_last_container(void **state)
{
    (void)state;
    static const char *const dialects[] = {"seed", "hadoop3"};
    for (size_t i = 0; i < ARRAY_LEN(dialects); i++) {
        struct kit k;
        kit_start(&k, dialects[i]);
        kit_create(&k, kit_spec("web", 1, "ALWAYS", PORT), false);
        mem_auto char *old = mem_str(kit_instance(&k, "web", "hello-0")->container_id);
        int64_t launched_ms = k.now_ms + k.wall_ahead_ms;
        kit_exit_signal(&k, "web", "hello-0", 9);
        json_auto json_t *doc = view(&k, "web");
        const json_t *c = json_array_get(
            json_object_get(json_array_get(json_object_get(doc, "components"), 0), "containers"), 0);
        assert_string_equal(text_at(c, "id"), old);
        assert_string_equal(text_at(c, "state"), "FAILED");
        assert_string_equal(text_at(c, "ip"), "");
        assert_int_equal(json_integer_value(json_object_get(c, "launch_time")), launched_ms);
        k.obey = false;
        kit_fire(&k, "web"); /* requested */
        check(&k, &(struct stage){"FAILED", "FAILED", "STARTED", "STARTED"});
        mem_auto char *id = mem_str(kit_instance(&k, "web", "hello-0")->container_id);
        kit_step(&k, (struct eng_event){.kind = EV_ALLOCATED, .container_id = id, .host = "n"});
        check(&k, &(struct stage){"INIT", "FAILED", "STARTED", "STARTED"});
        kit_step(&k, (struct eng_event){.kind = EV_RUNNING, .container_id = id, .attempt = 1, .host = "n"});
        check(&k, &(struct stage){"STARTED", "RUNNING_BUT_UNREADY", "STARTED", "STARTED"});
        kit_exit_code(&k, "web", "hello-0", 0);
        check(&k, &(struct stage){"SUCCEEDED", "SUCCEEDED", "STARTED", "STARTED"});
        kit_end(&k);
    }
}

static void waits_are_explained(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", 1, "ALWAYS", ""), false);
    kit_exit_code(&k, "web", "hello-0", 7);
    json_auto json_t *list = services_view_explain(kit_service(&k, "web"), NULL);
    assert_int_equal(json_array_size(list), 1);
    assert_string_equal(text_at(json_array_get(list, 0), "instance"), "hello-0");
    assert_string_equal(text_at(json_array_get(list, 0), "state"), "EXITED");
    assert_string_equal(text_at(json_array_get(list, 0), "wait"), "retry in 100 ms after: exit code 7");
    assert_string_equal(text_at(json_array_get(list, 0), "reason"), "retry");
    kit_end(&k);
}

/** Many instances that wait for the same are one line with some of their names. */
static void instances_that_wait_alike_are_one_line(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    k.obey = false;
    kit_create(&k, kit_spec("web", 40, "ALWAYS", ""), false);
    mem_auto char *id = mem_str(kit_instance(&k, "web", "hello-3")->container_id);
    kit_step(&k, (struct eng_event){.kind = EV_WAITING, .container_id = id, .text = "no room"});
    json_auto json_t *list = services_view_explain(kit_service(&k, "web"), NULL);
    const json_t *many = json_array_get(list, 0), *one = json_array_get(list, 1);
    assert_int_equal(json_array_size(list), 2);
    assert_string_equal(text_at(many, "component"), "hello");
    assert_string_equal(text_at(many, "reason"), "allocation");
    assert_int_equal(json_integer_value(json_object_get(many, "count")), 39);
    assert_int_equal(json_array_size(json_object_get(many, "instances")), 10);
    assert_string_equal(text_at(one, "instance"), "hello-3");
    assert_string_equal(text_at(one, "reason"), "resource");
    assert_int_equal(json_integer_value(json_object_get(one, "count")), 1);
    assert_string_equal(text_at(one, "remedy"),
                        "stop or shrink something, ask for less, or give the cluster more");
    kit_end(&k);
}

/** One that its restart_policy does not start again is not as wanted, and nothing is waited for. */
static void a_final_failure_is_explained(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", 2, "NEVER", ""), false);
    kit_exit_code(&k, "web", "hello-1", 7);
    json_auto json_t *list = services_view_explain(kit_service(&k, "web"), NULL);
    assert_int_equal(json_array_size(list), 1);
    assert_string_equal(text_at(json_array_get(list, 0), "instance"), "hello-1");
    assert_string_equal(text_at(json_array_get(list, 0), "reason"), "failed");
    assert_non_null(strstr(text_at(json_array_get(list, 0), "wait"), "exit code 7"));
    kit_end(&k);
}

/** Of two instances that are not ready before a probe has said so. Static. */
static const char *upgradable(const char *version)
{
    static char text[1024];
    snprintf(
        text, sizeof text,
        "{\"name\":\"web\",\"version\":\"%s\",\"components\":[{\"name\":\"hello\",\"number_of_containers\":2,"
        "\"launch_command\":\"run %s\",\"resource\":{\"cpus\":1,\"memory\":\"64\"},"
        "\"configuration\":{\"properties\":{\"yarn.service.upgrade.steady.seconds\":\"3\"}}}]}",
        version, version);
    return text;
}

/** One that a new version failed is upgraded again, or goes back: it does not wait for a start of the service. */
static void a_failed_upgrade_is_explained(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, upgradable("1"), false);
    kit_ask(&k, (struct eng_event){.kind = EV_UPGRADE,
                                   .name = "web",
                                   .take_spec = kit_spec_of(&k, upgradable("2")),
                                   .mode = MODE_EXPRESS});
    kit_exit_code(&k, "web", "hello-0", 7);
    json_auto json_t *list = services_view_explain(kit_service(&k, "web"), NULL);
    assert_string_equal(text_at(json_array_get(list, 0), "reason"), "failed_upgrade");
    assert_string_equal(text_at(json_array_get(list, 1), "instance"), "hello-0");
    assert_string_equal(text_at(json_array_get(list, 1), "reason"), "failed_version");
    assert_non_null(strstr(text_at(json_array_get(list, 1), "wait"), "failed to run version 2: exit code 7"));
    kit_end(&k);
}

static json_t *container(const json_t *doc, size_t i)
{
    const json_t *comp = json_array_get(json_object_get(doc, "components"), 0);
    return json_array_get(json_object_get(comp, "containers"), i);
}

static int64_t number_at(const json_t *doc, const char *key)
{
    return json_integer_value(json_object_get(doc, key));
}

/** The process of the first instance ends with code 3 and has said why. */
static void fail_once(struct kit *k)
{
    const struct eng_instance *inst = kit_instance(k, "web", "hello-0");
    mem_auto char *id = mem_str(inst->container_id);
    struct eng_exit x = {.origin = ORIGIN_PROCESS,
                         .cause = CAUSE_EXITED,
                         .raw = 3,
                         .text = (char *)"The process ended with exit code 3.",
                         .ended_ms = 1700000000123,
                         .last_stderr = (char *)"cannot open\nconfig"};
    kit_step(k,
             (struct eng_event){.kind = EV_EXITED, .container_id = id, .attempt = inst->attempt, .exit = x});
}

static const char failed_text[] = "Instance hello-0 failed, 1 restarts: The process ended with exit code 3.\n"
                                  "Last lines of its standard error:\ncannot open\nconfig";

static void a_container_shows_how_it_ended_and_how_often(void **state)
{
    (void)state;
    static const char *const dialects[] = {"seed", "hadoop3"};
    for (size_t i = 0; i < ARRAY_LEN(dialects); i++) {
        struct kit k;
        kit_start(&k, dialects[i]);
        kit_create(&k, kit_spec("web", 1, "ALWAYS", ""), false);
        json_auto json_t *before = view(&k, "web");
        assert_int_equal(number_at(container(before, 0), "restarts"), 0);
        assert_null(json_object_get(container(before, 0), "last_exit"));
        assert_null(json_object_get(before, "diagnostics"));
        fail_once(&k);
        json_auto json_t *after = view(&k, "web");
        const json_t *x = json_object_get(container(after, 0), "last_exit");
        assert_int_equal(number_at(container(after, 0), "restarts"), 1);
        assert_string_equal(text_at(x, "cause"), "exited");
        assert_int_equal(number_at(x, "code"), 3);
        assert_int_equal(number_at(x, "time"), 1700000000123);
        assert_string_equal(text_at(x, "stderr"), "cannot open\nconfig");
        assert_string_equal(text_at(after, "diagnostics"), failed_text);
        kit_end(&k);
    }
}

static void an_ended_service_shows_what_failed(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", 1, "ALWAYS", ""), false);
    fail_once(&k);
    kit_request(&k, EV_STOP, "web");
    json_auto json_t *doc = view(&k, "web");
    const json_t *failure = json_object_get(doc, "last_failure");
    mem_auto char *wanted = mem_fmt("Stopped by user alice\n%s", failed_text);
    assert_string_equal(text_at(doc, "state"), "STOPPED");
    assert_string_equal(text_at(doc, "diagnostics"), wanted);
    assert_string_equal(text_at(failure, "component_instance_name"), "hello-0");
    assert_int_equal(number_at(failure, "restarts"), 1);
    assert_int_equal(number_at(json_object_get(failure, "last_exit"), "code"), 3);
    kit_end(&k);
}

static void the_host_name_is_that_of_dns(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", 1, "ALWAYS", ""), false);
    json_auto json_t *doc = view(&k, "web");
    assert_string_equal(text_at(container(doc, 0), "hostname"), "hello-0.web.alice.bobbin.test");
    assert_string_equal(text_at(container(doc, 0), "bare_host"), "node1");
    kit_end(&k);
}

/* The registry lacks the record of one container. */
static bool one_waits(void *app, const char *path, struct face_wait *out)
{
    *out = (struct face_wait){1700000000000, "http://127.0.0.1:9192: nothing listens", false};
    return strcmp(path, app) == 0;
}

static bool none_waits(void *app, const char *path, struct face_wait *out)
{
    (void)app;
    (void)path;
    (void)out;
    return false;
}

static void a_record_that_is_not_published_is_shown_with_since_and_why(void **state)
{
    struct kit k;
    static const struct app_ops ops = {.record_waits = one_waits};
    static const char said[] = "http://127.0.0.1:9192: nothing listens (since 2023-11-14T22:13:20Z)";
    (void)state;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("web", 2, "ALWAYS", ""), false);
    const struct eng_service *s = kit_service(&k, "web");
    mem_auto char *path = engine_record_path(s, kit_instance(&k, "web", "hello-1")->container_id);
    struct face face = {.ops = &ops, .app = path};
    json_auto json_t *doc = services_view(k.e, s, k.cfg.dialect, k.now_ms, &face);
    json_auto json_t *list = services_view_explain(s, &face);
    const json_t *containers =
        json_object_get(json_array_get(json_object_get(doc, "components"), 0), "containers");
    const json_t *registry = json_object_get(json_array_get(containers, 1), "registry");
    assert_null(json_object_get(json_array_get(containers, 0), "registry"));
    assert_true(json_is_false(json_object_get(registry, "published")));
    assert_int_equal(json_integer_value(json_object_get(registry, "since")), 1700000000000);
    assert_string_equal(text_at(registry, "reason"), "http://127.0.0.1:9192: nothing listens");
    assert_non_null(strstr(text_at(doc, "diagnostics"), "hello-1: "));
    assert_non_null(strstr(text_at(doc, "diagnostics"), said));
    assert_int_equal(json_array_size(list), 1);
    assert_string_equal(text_at(json_array_get(list, 0), "instance"), "hello-1");
    assert_non_null(strstr(text_at(json_array_get(list, 0), "wait"), said));
    kit_end(&k);
}

/* What its application master says stands behind what is known of the application; what is no reason is left out. */
static void a_service_is_explained_by_its_master(void **state)
{
    struct kit k;
    static const struct app_ops ops = {.record_waits = none_waits};
    const struct face face = {.ops = &ops};
    const struct err_info why = {.code = ERR_TIMEOUT, .text = "http://node1:4711: no answer within 3 s"};
    (void)state;
    kit_start(&k, "seed");
    k.obey = false;
    kit_create(&k, kit_spec("web", 1, "ALWAYS", ""), false);
    const struct eng_service *s = kit_service(&k, "web");
    json_auto json_t *said =
        json_pack("[{s:s, s:s}, s]", "reason", "resource", "wait", "the queue is full", "x");
    json_auto json_t *list = services_view_explain_elsewhere(s, &face, said, NULL);
    json_auto json_t *without = services_view_explain_elsewhere(s, &face, NULL, &why);
    assert_int_equal(json_array_size(list), 1);
    assert_string_equal(text_at(json_array_get(list, 0), "wait"), "the queue is full");
    assert_int_equal(json_array_size(without), 2);
    assert_string_equal(text_at(json_array_get(without, 0), "reason"), "master_away");
    assert_non_null(strstr(text_at(json_array_get(without, 0), "wait"), "no answer within 3 s"));
    assert_string_equal(text_at(json_array_get(without, 1), "reason"), "allocation");
    kit_end(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_container_through_its_life),
        cmocka_unit_test(the_whole_document),
        cmocka_unit_test(finished_instances_stay_listed),
        cmocka_unit_test(components_of_an_ended_service_show_their_end),
        cmocka_unit_test(an_instance_in_back_off_shows_its_last_container),
        cmocka_unit_test(waits_are_explained),
        cmocka_unit_test(instances_that_wait_alike_are_one_line),
        cmocka_unit_test(a_final_failure_is_explained),
        cmocka_unit_test(a_failed_upgrade_is_explained),
        cmocka_unit_test(a_record_that_is_not_published_is_shown_with_since_and_why),
        cmocka_unit_test(a_service_is_explained_by_its_master),
        cmocka_unit_test(a_container_shows_how_it_ended_and_how_often),
        cmocka_unit_test(an_ended_service_shows_what_failed),
        cmocka_unit_test(the_host_name_is_that_of_dns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/** What the Slider API shows of what runs: svcmgr/faces/slider/{live,walk}.h. */
#include <string.h>

#include "engine_kit.h"
#include "json/json.h"
#include "slider/live.h"
#include "slider/walk.h"

#define APART                                                                                                \
    ",\"placement_policy\":{\"constraints\":[{\"type\":\"ANTI_AFFINITY\",\"scope\":\"NODE\","                \
    "\"target_tags\":[\"hello\"]}]}"

static void begin(struct kit *k)
{
    kit_start(k, "seed");
    k->service_kind = KIND_SLIDER;
}

/** Application "s" of one component "hello" of n, with priority 7. */
static void start(struct kit *k, int n, const char *more)
{
    begin(k);
    k->rules = eng_rules_new();
    eng_rules_add(k->rules, "hello")->priority = 7;
    kit_create(k, kit_spec("s", n, "NEVER", more), false);
}

static struct slider_look look(void *arg)
{
    const struct kit *k = arg;
    return (struct slider_look){.e = k->e,
                                .now_ms = k->now_ms,
                                .own_url = "http://h:9191",
                                .own_host = "h",
                                .room = {.is_known = true, .memory_mb = 100, .vcores = 4},
                                .has_logs = true};
}

static json_t *read_document(const struct buf *text)
{
    json_t *doc = json_loadb(text->bytes, text->len, JSON_DECODE_ANY, NULL);
    if (!doc)
        fail_msg("no JSON: %.*s", (int)text->len, text->bytes);
    return doc;
}

/** A whole document of the walk. @param component  NULL: slider-appmaster */
static json_t *document(struct kit *k, enum slider_form form, const char *component)
{
    struct slider_walk *walk = slider_walk_new(&(struct slider_walk_def){.form = form,
                                                                         .look = look,
                                                                         .arg = k,
                                                                         .kind = k->service_kind,
                                                                         .user = "alice",
                                                                         .name = "s",
                                                                         .component = component,
                                                                         .host = "node1"});
    buf_auto struct buf out = BUF_EMPTY;
    while (slider_walk_next(walk, &out))
        ;
    slider_walk_free(walk);
    return read_document(&out);
}

static void a_document_is(const json_t *doc, const char *expected)
{
    mem_auto char *text = json_dumps(doc, JSON_COMPACT | JSON_ENCODE_ANY);
    if (strcmp(text, expected) != 0)
        fail_msg("%s\ninstead of\n%s", text, expected);
}

/** A member as compact JSON. Static, one at a time. */
static const char *member(const json_t *object, const char *key)
{
    static char text[1024];
    const json_t *value = json_object_get(object, key);
    if (!value)
        return "absent";
    size_t n = json_dumpb(value, text, sizeof text - 1, JSON_COMPACT | JSON_ENCODE_ANY);
    text[n < sizeof text ? n : 0] = '\0';
    return text;
}

#define ROWS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void check(const json_t *object, const char *const *rows)
{
    for (; *rows; rows += 2) {
        if (strcmp(member(object, rows[0]), rows[1]) != 0)
            fail_msg("%s: %s instead of %s", rows[0], member(object, rows[0]), rows[1]);
    }
}

/* ---- containers ---- */

static void the_master_is_a_container(void **state)
{
    (void)state;
    struct kit k;
    start(&k, 0, "");
    json_auto json_t *doc = document(&k, SLIDER_FORM_CONTAINERS, NULL);
    assert_int_equal(json_object_size(doc), 1);
    mem_auto char *id = slider_master_container(kit_service(&k, "s"));
    const json_t *master = json_object_get(doc, id);
    check(master, ROWS("component", "\"slider-appmaster\"", "state", "3", "completionTime", "0", "host",
                       "\"h\"", "hostURL", "\"http://h:9191\"", "exitCode", "absent", "output", "absent",
                       "released", "absent", "logLink", "absent", "diagnostics", "absent"));
    assert_string_equal(json_string_value(json_object_get(master, "containerId")), id);
    assert_true(json_integer_value(json_object_get(master, "createTime")) > 0);
    kit_end(&k);
}

static void what_is_merely_allocated_is_not_owned(void **state)
{
    (void)state;
    struct kit k;
    start(&k, 2, "");
    k.obey = false;
    kit_flex(&k, "s", "hello", 3);
    const struct eng_effect *request = kit_last(&k, EFF_REQUEST);
    mem_auto char *id = mem_str(request->container_id);
    kit_step(&k, (struct eng_event){.kind = EV_ALLOCATED, .container_id = id, .host = "node1"});
    json_auto json_t *doc = document(&k, SLIDER_FORM_CONTAINERS, NULL);
    assert_int_equal(json_object_size(doc), 3);
    struct slider_counts n = slider_counts_of(kit_instance(&k, "s", "hello-0")->component);
    assert_int_equal(n.desired, 3);
    assert_int_equal(n.actual, 3);
    assert_int_equal(n.n_owned, 2);
    kit_step(&k, (struct eng_event){.kind = EV_LAUNCHED, .container_id = id, .attempt = 1});
    json_auto json_t *launched = document(&k, SLIDER_FORM_CONTAINERS, NULL);
    check(json_object_get(launched, id), ROWS("state", "1", "host", "\"node1\"", "component", "\"hello\""));
    kit_end(&k);
}

static void a_container_that_goes_is_released(void **state)
{
    (void)state;
    struct kit k;
    start(&k, 2, "");
    mem_auto char *id = mem_str(kit_instance(&k, "s", "hello-1")->container_id);
    k.obey = false;
    kit_flex(&k, "s", "hello", 1);
    json_auto json_t *doc = document(&k, SLIDER_FORM_CONTAINERS, NULL);
    check(json_object_get(doc, id), ROWS("released", "true", "state", "3"));
    json_auto json_t *component = document(&k, SLIDER_FORM_COMPONENT, "hello");
    check(component, ROWS("desired", "1", "actual", "2", "releasing", "1"));
    kit_end(&k);
}

/* ---- components ---- */

static void a_component_has_its_numbers(void **state)
{
    (void)state;
    struct kit k;
    start(&k, 2, "");
    mem_auto char *id = mem_str(kit_instance(&k, "s", "hello-0")->container_id);
    kit_exit_code(&k, "s", "hello-0", 3);
    kit_fire(&k, "s");
    kit_exit_code(&k, "s", "hello-1", 0);
    kit_fire(&k, "s");
    json_auto json_t *doc = document(&k, SLIDER_FORM_COMPONENT, "hello");
    mem_auto char *failure =
        mem_fmt("\"Failure %s on host node1 (3): http://h:9191/proxy/%s/ws/v1/slider/application/live/"
                "containers/%s/logs/stdout.txt\"",
                id, kit_service(&k, "s")->app_id, id);
    check(doc, ROWS("name", "\"hello\"", "priority", "7", "desired", "2", "actual", "2", "requested", "0",
                    "releasing", "0", "placementPolicy", "0", "failed", "1", "failedRecently", "1",
                    "startFailed", "1", "nodeFailed", "0", "preempted", "0", "started", "4", "completed", "0",
                    "totalRequested", "4", "pendingAntiAffineRequestCount", "0", "isAARequestOutstanding",
                    "false", "failureMessage", failure));
    assert_int_equal(json_array_size(json_object_get(doc, "containers")), 2);
    kit_end(&k);
}

static void the_list_of_components_has_no_containers(void **state)
{
    (void)state;
    struct kit k;
    start(&k, 2, "");
    json_auto json_t *doc = document(&k, SLIDER_FORM_COMPONENTS, NULL);
    assert_int_equal(json_object_size(doc), 2);
    check(json_object_get(doc, "hello"), ROWS("containers", "absent", "actual", "2"));
    check(json_object_get(doc, "slider-appmaster"),
          ROWS("priority", "0", "desired", "1", "actual", "1", "placementPolicy", "16", "failureMessage",
               "\"\"", "containers", "absent"));
    json_auto json_t *master = document(&k, SLIDER_FORM_COMPONENT, NULL);
    assert_int_equal(json_array_size(json_object_get(master, "containers")), 1);
    kit_end(&k);
}

static void ids_are_sorted(void **state)
{
    (void)state;
    struct kit k;
    start(&k, 3, "");
    kit_exit_code(&k, "s", "hello-0", 0);
    kit_fire(&k, "s"); /* its container is the newest now */
    json_auto json_t *doc = document(&k, SLIDER_FORM_IDS, "hello");
    assert_int_equal(json_array_size(doc), 3);
    for (size_t i = 1; i < 3; i++)
        assert_true(strcmp(json_string_value(json_array_get(doc, i - 1)),
                           json_string_value(json_array_get(doc, i))) < 0);
    assert_string_equal(json_string_value(json_array_get(doc, 2)),
                        kit_instance(&k, "s", "hello-0")->container_id);
    json_auto json_t *instances = document(&k, SLIDER_FORM_INSTANCES, "hello");
    assert_string_equal(json_string_value(json_object_get(instances, "0")),
                        kit_instance(&k, "s", "hello-0")->container_id);
    kit_end(&k);
}

/** More than are collected in one piece, some of them replaced. */
static void many_ids_are_sorted(void **state)
{
    (void)state;
    struct kit k;
    enum { MANY = 2500 };
    start(&k, MANY, "");
    for (int i = 0; i < 5; i++) {
        mem_auto char *name = mem_fmt("hello-%d", i * 600);
        kit_exit_code(&k, "s", name, 0);
        kit_fire(&k, "s");
    }
    json_auto json_t *doc = document(&k, SLIDER_FORM_IDS, "hello");
    assert_int_equal(json_array_size(doc), MANY);
    for (size_t i = 1; i < MANY; i++) {
        const char *a = json_string_value(json_array_get(doc, i - 1)),
                   *b = json_string_value(json_array_get(doc, i));
        if (strcmp(a, b) >= 0) /* numbers have six digits */
            fail_msg("%s before %s", a, b);
    }
    assert_string_equal(json_string_value(json_array_get(doc, MANY - 1)),
                        kit_instance(&k, "s", "hello-2400")->container_id);
    kit_end(&k);
}

static void anti_affine_ones_are_asked_for_one_at_a_time(void **state)
{
    (void)state;
    struct kit k;
    begin(&k);
    k.obey = false;
    kit_create(&k, kit_spec("s", 3, "NEVER", APART), false);
    for (int i = 0; i < 3 && kit_service(&k, "s")->state == SVC_ACCEPTED; i++)
        kit_fire(&k, "s");
    const struct eng_component *c = kit_service(&k, "s")->components[0];
    struct slider_counts n = slider_counts_of(c);
    assert_int_equal(slider_placement_of(c), 4);
    assert_int_equal(n.desired, 3);
    assert_int_equal(n.requested + n.n_pending, 3);
    assert_true(n.requested <= 1);
    assert_int_equal(n.is_asked, n.requested == 1);
    kit_end(&k);
}

/* ---- liveness, statistics ---- */

static json_t *liveness(struct kit *k)
{
    buf_auto struct buf out = BUF_EMPTY;
    struct jw w = jw_on(&out);
    struct slider_look at = look(k);
    slider_write_liveness(&w, &at, kit_service(k, "s"));
    return read_document(&out);
}

static void liveness_counts_what_is_missing(void **state)
{
    (void)state;
    struct kit k;
    start(&k, 2, "");
    json_auto json_t *before = liveness(&k);
    check(before, ROWS("allRequestsSatisfied", "true", "requestsOutstanding", "0", "activeRequests", "0"));
    assert_true(json_integer_value(json_object_get(before, "lastAllocationTime")) > 0);
    check(before, ROWS("availableResource", "{\"memory\":100,\"virtualCores\":4}"));
    assert_true(slider_is_settled(kit_service(&k, "s")));
    k.obey = false;
    kit_flex(&k, "s", "hello", 5);
    json_auto json_t *after = liveness(&k);
    check(after, ROWS("allRequestsSatisfied", "false", "requestsOutstanding", "3", "activeRequests", "3"));
    assert_false(slider_is_settled(kit_service(&k, "s")));
    kit_end(&k);
}

/** Where only the resource manager knows what is left, and nobody has the output of containers. */
static void what_is_not_known_is_left_out(void **state)
{
    (void)state;
    struct kit k;
    start(&k, 1, "");
    kit_exit_code(&k, "s", "hello-0", 3);
    kit_fire(&k, "s");
    struct slider_look at = look(&k);
    at.room.is_known = at.has_logs = false;
    buf_auto struct buf out = BUF_EMPTY;
    struct jw w = jw_on(&out);
    jw_array(&w);
    slider_write_liveness(&w, &at, kit_service(&k, "s"));
    slider_write_container(&w, &at, kit_instance(&k, "s", "hello-0"), false);
    slider_write_past(&w, &at, kit_service(&k, "s"), eng_service_past(kit_service(&k, "s"), 0));
    jw_object(&w);
    slider_write_component(&w, &at, kit_service(&k, "s")->components[0]);
    jw_object_end(&w);
    jw_array_end(&w);
    json_auto json_t *docs = read_document(&out);
    check(json_array_get(docs, 0), ROWS("availableResource", "absent", "allRequestsSatisfied", "true"));
    check(json_array_get(docs, 1), ROWS("logLink", "absent", "placement", "\"Placed\"", "state", "3"));
    check(json_array_get(docs, 2), ROWS("logLink", "absent", "placement", "\"Open\"", "exitCode", "3"));
    const char *failure = json_string_value(json_object_get(json_array_get(docs, 3), "failureMessage"));
    assert_string_equal(failure + strlen(failure) - strlen("(3): "), "(3): ");
    kit_end(&k);
}

/** One component's surplus hides no other's lack. */
static void outstanding_is_never_negative(void **state)
{
    (void)state;
    struct kit k;
    start(&k, 3, "");
    k.obey = false;
    kit_flex(&k, "s", "hello", 1);
    json_auto json_t *doc = liveness(&k);
    check(doc, ROWS("allRequestsSatisfied", "true", "requestsOutstanding", "0"));
    assert_false(slider_is_settled(kit_service(&k, "s"))); /* two are on their way out */
    kit_end(&k);
}

static void a_component_has_liveness_and_statistics(void **state)
{
    (void)state;
    struct kit k;
    start(&k, 2, "");
    const struct eng_component *c = kit_service(&k, "s")->components[0];
    buf_auto struct buf out = BUF_EMPTY;
    struct jw w = jw_on(&out);
    jw_array(&w);
    slider_write_component_liveness(&w, c);
    slider_write_component_liveness(&w, NULL);
    slider_write_component_statistics(&w, c);
    slider_write_component_statistics(&w, NULL);
    slider_write_statistics(&w, kit_service(&k, "s"));
    jw_array_end(&w);
    json_auto json_t *docs = read_document(&out);
    check(json_array_get(docs, 0), ROWS("component", "\"hello\"", "desired", "2", "actual", "2",
                                        "availableResource", "absent", "requestsOutstanding", "0"));
    check(json_array_get(docs, 1), ROWS("component", "\"slider-appmaster\"", "desired", "1", "actual", "1"));
    check(json_array_get(docs, 2),
          ROWS("containers.live", "2", "containers.requested", "2", "containers.start.started", "2"));
    check(json_array_get(docs, 3), ROWS("containers.live", "1", "containers.start.started", "1"));
    check(json_array_get(docs, 4),
          ROWS("containers.live", "3", "containers.completed", "0", "containers.failed", "0",
               "containers.start.started", "2", "containers.start.failed", "0", "containers.surplus", "0",
               "containers.unknown.completed", "0"));
    kit_end(&k);
}

/** C27: exit 0 is no failure of the component, and an unplanned end of a container. */
static void an_exit_of_zero_is_counted_in_the_statistics_only(void **state)
{
    (void)state;
    struct kit k;
    start(&k, 1, "");
    kit_exit_code(&k, "s", "hello-0", 0);
    kit_fire(&k, "s");
    json_auto json_t *component = document(&k, SLIDER_FORM_COMPONENT, "hello");
    check(component, ROWS("failed", "0", "failedRecently", "0", "actual", "1"));
    buf_auto struct buf out = BUF_EMPTY;
    struct jw w = jw_on(&out);
    slider_write_statistics(&w, kit_service(&k, "s"));
    json_auto json_t *doc = read_document(&out);
    check(doc, ROWS("containers.failed", "1", "containers.completed", "0"));
    kit_end(&k);
}

/* ---- diagnostics ---- */

static void diagnostics_show_what_has_ended(void **state)
{
    (void)state;
    struct kit k;
    start(&k, 2, "");
    kit_exit(&k, "s", "hello-0",
             (struct eng_exit){.cause = CAUSE_EXITED, .raw = 3, .last_stderr = "one\ntwo\n"});
    kit_fire(&k, "s");
    kit_flex(&k, "s", "hello", 1);
    json_auto json_t *doc = document(&k, SLIDER_FORM_DIAGNOSTICS, NULL);
    const json_t *list = json_object_get(doc, "containers");
    assert_int_equal(json_array_size(list), 3);
    check(json_array_get(list, 0), ROWS("state", "4", "exitCode", "3", "diagnostics", "\"exit code 3\"",
                                        "output", "[\"one\",\"two\"]", "released", "absent"));
    check(json_array_get(list, 1), ROWS("state", "4", "exitCode", "-100", "diagnostics",
                                        "\"Container released by application\"", "released", "true"));
    check(json_array_get(list, 2), ROWS("state", "3", "exitCode", "absent"));
    check(doc, ROWS("finalStatus", "absent", "exitReason", "absent"));
    kit_end(&k);
}

/** As of a service that its application master runs. */
static void without_memory_instances_know_what_they_had(void **state)
{
    (void)state;
    struct kit k;
    start(&k, 1, "");
    kit_exit_code(&k, "s", "hello-0", 3);
    kit_fire(&k, "s");
    mem_auto char *was = mem_str(kit_instance(&k, "s", "hello-0")->last_container_id);
    kit_crash(&k);
    kit_recover(&k);
    json_auto json_t *doc = document(&k, SLIDER_FORM_DIAGNOSTICS, NULL);
    const json_t *list = json_object_get(doc, "containers");
    assert_int_equal(json_array_size(list), 2);
    check(json_array_get(list, 0), ROWS("state", "4", "exitCode", "3", "diagnostics", "\"exit code 3\""));
    assert_string_equal(json_string_value(json_object_get(json_array_get(list, 0), "containerId")), was);
    json_auto json_t *component = document(&k, SLIDER_FORM_COMPONENT, "hello");
    assert_non_null(strstr(member(component, "failureMessage"), was));
    kit_end(&k);
}

/** Of many containers none has ended but those of the last instances: pieces that write nothing stay short. */
static void few_of_many_have_ended(void **state)
{
    (void)state;
    struct kit k;
    start(&k, 500, "");
    for (int i = 0; i < 2; i++) {
        kit_exit_code(&k, "s", i ? "hello-499" : "hello-400", 3);
        kit_fire(&k, "s");
    }
    kit_crash(&k);
    kit_recover(&k); /* the instances alone know of them */
    json_auto json_t *doc = document(&k, SLIDER_FORM_DIAGNOSTICS, NULL);
    const json_t *list = json_object_get(doc, "containers");
    assert_int_equal(json_array_size(list), 502);
    for (size_t i = 0; i < 3; i++)
        check(json_array_get(list, i), ROWS("state", i < 2 ? "4" : "3", "exitCode", i < 2 ? "3" : "absent"));
    kit_end(&k);
}

/** C28 */
static void too_many_failures_are_named_at_the_end(void **state)
{
    (void)state;
    struct kit k;
    start(&k, 1, "");
    for (int i = 0; i < 5; i++) {
        kit_exit_code(&k, "s", "hello-0", 1);
        kit_fire(&k, "s");
    }
    kit_exit_code(&k, "s", "hello-0", 1);
    json_auto json_t *doc = document(&k, SLIDER_FORM_DIAGNOSTICS, NULL);
    assert_int_equal(json_array_size(json_object_get(doc, "recentFailedContainers")), 6);
    check(doc, ROWS("finalStatus", "\"FAILED\"", "exitReason", "\"SLIDER_AM_ERROR\""));
    assert_non_null(strstr(member(doc, "finalMessage"), "failed 'recently' 6 times"));
    kit_end(&k);
}

static void a_stop_succeeds(void **state)
{
    (void)state;
    struct kit k;
    start(&k, 1, "");
    kit_request(&k, EV_STOP, "s");
    json_auto json_t *doc = document(&k, SLIDER_FORM_DIAGNOSTICS, NULL);
    check(doc, ROWS("finalStatus", "\"SUCCEEDED\"", "exitReason", "\"STOP_COMMAND_ISSUED\"", "finalMessage",
                    "absent"));
    json_auto json_t *containers = document(&k, SLIDER_FORM_CONTAINERS, NULL);
    a_document_is(containers, "{}");
    kit_end(&k);
}

/* ---- nodes ---- */

static void a_node_has_what_runs_there(void **state)
{
    (void)state;
    struct kit k;
    start(&k, 2, "");
    kit_node(&k, "node1", NODE_RUNNING);
    kit_node(&k, "node2", NODE_UNHEALTHY);
    json_auto json_t *doc = document(&k, SLIDER_FORM_NODES, NULL);
    assert_int_equal(json_array_size(doc), 2);
    const json_t *node = json_array_get(doc, 0), *other = json_array_get(doc, 1);
    check(node,
          ROWS("hostname", "\"node1\"", "state", "\"RUNNING\"", "labels", "\"\"", "excluded", "absent"));
    const json_t *entry = json_object_get(json_object_get(node, "entries"), "hello");
    check(entry, ROWS("priority", "7", "live", "2", "requested", "0", "releasing", "0", "starting", "0",
                      "failed", "0", "failedRecently", "0", "startFailed", "0", "preempted", "0"));
    check(other, ROWS("hostname", "\"node2\"", "state", "\"UNHEALTHY\"", "entries", "{}"));
    json_auto json_t *one = document(&k, SLIDER_FORM_NODE, NULL);
    assert_true(json_equal(one, node));
    k.obey = false;
    assert_int_equal(kit_exclude(&k, "s", "node1", true), OUT_EXCLUDED);
    json_auto json_t *excluded = document(&k, SLIDER_FORM_NODE, NULL);
    check(excluded, ROWS("excluded", "true"));
    kit_end(&k);
}

/* ---- resources ---- */

static void start_group(struct kit *k)
{
    json_error_t error;
    json_auto json_t *request =
        json_loads("{\"resources\":{\"schema\":\"x\",\"metadata\":{},\"global\":{\"yarn.memory\":\"64\"},"
                   "\"credentials\":{},\"components\":{\"w\":{\"yarn.component.instances\":\"2\"}}},"
                   "\"model\":[{\"name\":\"w1\",\"group\":\"w\",\"index\":1,\"priority\":5},"
                   "{\"name\":\"w2\",\"group\":\"w\",\"index\":2,\"priority\":6}]}",
                   0, &error);
    begin(k);
    kit_create(k,
               "{\"name\":\"s\",\"version\":\"1\",\"launch_command\":\"run\",\"number_of_containers\":1,"
               "\"resource\":{\"cpus\":1,\"memory\":\"64\"},"
               "\"components\":[{\"name\":\"w1\"},{\"name\":\"w2\"}]}",
               false);
    json_decref(kit_service(k, "s")->request);
    ((struct eng_service *)(uintptr_t)kit_service(k, "s"))->request = json_incref(request);
}

static void members_are_counted_in_their_group(void **state)
{
    (void)state;
    struct kit k;
    start_group(&k);
    json_auto json_t *doc = slider_view_resources(kit_service(&k, "s"));
    const json_t *components = json_object_get(doc, "components");
    assert_int_equal(json_object_size(components), 2);
    check(json_object_get(components, "w"),
          ROWS("yarn.memory", "\"64\"", "yarn.component.instances.actual", "\"2\"",
               "yarn.component.instances.started", "\"2\"", "yarn.component.instances.requesting", "\"0\"",
               "yarn.component.instances.releasing", "\"0\"", "yarn.component.instances.failed", "\"0\"",
               "yarn.component.instances.completed", "\"0\""));
    check(json_object_get(components, "slider-appmaster"),
          ROWS("yarn.component.instances", "\"1\"", "yarn.component.instances.actual", "\"1\"",
               "yarn.component.instances.started", "\"1\""));
    /* what is stored has none of it */
    const json_t *stored = json_object_get(kit_service(&k, "s")->request, "resources");
    check(json_object_get(json_object_get(stored, "components"), "w"),
          ROWS("yarn.component.instances.actual", "absent", "yarn.memory", "absent"));
    kit_end(&k);
}

/* ---- services of other APIs, many containers ---- */

static void a_service_of_another_kind_is_shown_alike(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    kit_create(&k, kit_spec("s", 2, "ALWAYS", ""), false);
    json_auto json_t *containers = document(&k, SLIDER_FORM_CONTAINERS, NULL);
    assert_int_equal(json_object_size(containers), 3);
    json_auto json_t *component = document(&k, SLIDER_FORM_COMPONENT, "hello");
    check(component, ROWS("priority", "1", "actual", "2", "desired", "2"));
    json_auto json_t *resources = slider_view_resources(kit_service(&k, "s"));
    check(json_object_get(json_object_get(resources, "components"), "hello"),
          ROWS("yarn.component.instances", "\"2\"", "yarn.role.priority", "\"1\"",
               "yarn.component.instances.actual", "\"2\""));
    kit_end(&k);
}

static void a_long_document_comes_in_pieces(void **state)
{
    (void)state;
    struct kit k;
    start(&k, 500, "");
    for (enum slider_form form = 0; form < SLIDER_N_FORMS; form++) {
        struct slider_walk *walk = slider_walk_new(&(struct slider_walk_def){.form = form,
                                                                             .look = look,
                                                                             .arg = &k,
                                                                             .kind = KIND_SLIDER,
                                                                             .user = "alice",
                                                                             .name = "s",
                                                                             .component = "hello",
                                                                             .host = "node1"});
        buf_auto struct buf out = BUF_EMPTY;
        size_t before = 0;
        while (slider_walk_next(walk, &out)) {
            assert_true(out.len > before && out.len - before < 64 * 1024);
            before = out.len;
        }
        slider_walk_free(walk);
        if (form != SLIDER_FORM_NODE) /* no node is known */
            json_decref(read_document(&out));
    }
    kit_end(&k);
}

static void a_document_of_what_goes_is_broken_off(void **state)
{
    (void)state;
    struct kit k;
    start(&k, 200, "");
    struct slider_walk *walk = slider_walk_new(&(struct slider_walk_def){.form = SLIDER_FORM_CONTAINERS,
                                                                         .look = look,
                                                                         .arg = &k,
                                                                         .kind = KIND_SLIDER,
                                                                         .user = "alice",
                                                                         .name = "s"});
    buf_auto struct buf out = BUF_EMPTY;
    assert_true(slider_walk_next(walk, &out));
    kit_request(&k, EV_DESTROY, "s");
    assert_false(slider_walk_next(walk, &out));
    slider_walk_free(walk);
    kit_end(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_master_is_a_container),
        cmocka_unit_test(what_is_merely_allocated_is_not_owned),
        cmocka_unit_test(a_container_that_goes_is_released),
        cmocka_unit_test(a_component_has_its_numbers),
        cmocka_unit_test(the_list_of_components_has_no_containers),
        cmocka_unit_test(ids_are_sorted),
        cmocka_unit_test(many_ids_are_sorted),
        cmocka_unit_test(anti_affine_ones_are_asked_for_one_at_a_time),
        cmocka_unit_test(liveness_counts_what_is_missing),
        cmocka_unit_test(what_is_not_known_is_left_out),
        cmocka_unit_test(outstanding_is_never_negative),
        cmocka_unit_test(a_component_has_liveness_and_statistics),
        cmocka_unit_test(an_exit_of_zero_is_counted_in_the_statistics_only),
        cmocka_unit_test(diagnostics_show_what_has_ended),
        cmocka_unit_test(without_memory_instances_know_what_they_had),
        cmocka_unit_test(few_of_many_have_ended),
        cmocka_unit_test(too_many_failures_are_named_at_the_end),
        cmocka_unit_test(a_stop_succeeds),
        cmocka_unit_test(a_node_has_what_runs_there),
        cmocka_unit_test(members_are_counted_in_their_group),
        cmocka_unit_test(a_service_of_another_kind_is_shown_alike),
        cmocka_unit_test(a_long_document_comes_in_pieces),
        cmocka_unit_test(a_document_of_what_goes_is_broken_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/** Services whose definitions are put, as frameworks are: see svcmgr/engine/framework.c. */
#include <string.h>

#include "engine_kit.h"
#include "json/json.h"

static void start(struct kit *k)
{
    kit_start(k, "seed");
    k->service_kind = KIND_LAUNCHER;
}

/** A definition is put: n tasks of role "w", and one of a role "x" if more. The event needs its request and rules still. */
static struct eng_event put_of(struct kit *k, const char *name, const char *version, int n, bool more)
{
    mem_auto char *text = mem_fmt(
        "{\"name\":\"%s\",\"version\":\"%s\",\"components\":[{\"name\":\"w\",\"number_of_containers\":%d,"
        "\"launch_command\":\"run\",\"resource\":{\"cpus\":1,\"memory\":\"64\"}}%s]}",
        name, version, n,
        more ? ",{\"name\":\"x\",\"number_of_containers\":1,\"launch_command\":\"run\",\"resource\":{"
               "\"cpus\":1,"
               "\"memory\":\"64\"}}"
             : "");
    struct eng_rules *rules = k->rules ? k->rules : eng_rules_new();
    k->rules = NULL;
    return (struct eng_event){
        .kind = EV_REDEFINE, .name = name, .take_spec = kit_spec_of(k, text), .take_rules = rules};
}

static int put(struct kit *k, const char *name, const char *version, int n, bool stopped)
{
    json_auto json_t *request = json_pack("{s:s, s:i}", "version", version, "n", n);
    struct eng_event ev = put_of(k, name, version, n, false);
    ev.value = request;
    ev.save = stopped;
    return kit_ask(k, ev);
}

static int migrate(struct kit *k, const char *container_id, bool wanted)
{
    json_auto json_t *body = json_object();
    return kit_ask(k, (struct eng_event){.kind = EV_MIGRATE,
                                         .name = "f",
                                         .names = &container_id,
                                         .n_names = 1,
                                         .value = wanted ? body : NULL});
}

static int64_t requested_n(const struct kit *k)
{
    return json_integer_value(json_object_get(kit_service(k, "f")->request, "n"));
}

/* ---- definitions ---- */

static void an_unknown_name_is_made(void **state)
{
    (void)state;
    struct kit k;
    start(&k);
    assert_int_equal(put(&k, "f", "1", 2, false), OUT_LAUNCHED);
    assert_int_equal(kit_service(&k, "f")->state, SVC_STABLE);
    assert_int_equal(requested_n(&k), 2);
    kit_crash(&k);
    kit_recover(&k);
    assert_int_equal(requested_n(&k), 2);
    assert_true(engine_find_framework(k.e, "f") == kit_service(&k, "f"));
    kit_end(&k);
}

static void the_first_request_outlives_versions_and_the_last_is_renewed(void **state)
{
    (void)state;
    struct kit k;
    start(&k);
    put(&k, "f", "1", 1, false);
    int64_t first_ms = kit_service(&k, "f")->first_request_ms;
    assert_true(first_ms > 0);
    kit_advance(&k, "f", 5000);
    put(&k, "f", "2", 1, false);
    assert_int_equal(kit_service(&k, "f")->first_request_ms, first_ms);
    assert_int_equal(kit_service(&k, "f")->last_request_ms, first_ms + 5000);
    kit_advance(&k, "f", 1000);
    kit_flex(&k, "f", "w", 2);
    assert_int_equal(kit_service(&k, "f")->last_request_ms, first_ms + 6000);
    kit_end(&k);
}

static void the_same_version_adds_a_role_and_leaves_none_out(void **state)
{
    (void)state;
    struct kit k;
    start(&k);
    put(&k, "f", "1", 1, false);
    mem_auto char *id = mem_str(kit_instance(&k, "f", "w-0")->container_id);
    assert_int_equal(kit_ask(&k, put_of(&k, "f", "1", 2, true)), OUT_REDEFINED);
    assert_string_equal(kit_list(&k, "f"), "w-0:READY w-1:READY x-0:READY");
    assert_string_equal(kit_instance(&k, "f", "w-0")->container_id, id);
    kit_clear(&k);
    assert_int_equal(put(&k, "f", "1", 2, false), OUT_LACKS_COMPONENT);
    assert_string_equal(kit_last(&k, EFF_ANSWER)->answer->component, "x");
    assert_int_equal(put(&k, "f", "2", 2, false), OUT_REDEFINED);
    assert_string_equal(kit_list(&k, "f"), "w-0:READY w-1:READY");
    kit_end(&k);
}

static void of_what_has_ended_only_the_request_changes(void **state)
{
    (void)state;
    struct kit k;
    start(&k);
    put(&k, "f", "1", 2, false);
    kit_exit_code(&k, "f", "w-0", 3);
    assert_int_equal(kit_service(&k, "f")->state, SVC_FAILED);
    int64_t completed_ms = kit_service(&k, "f")->completed_ms;
    mem_auto char *before = mem_str(kit_list(&k, "f"));
    kit_advance(&k, "f", 1000);
    assert_int_equal(kit_ask(&k, put_of(&k, "f", "1", 5, true)), OUT_REDEFINED);
    assert_int_equal(kit_flex(&k, "f", "x", 3), OUT_FLEXED);
    kit_crash(&k);
    kit_recover(&k);
    const struct eng_service *s = kit_service(&k, "f");
    assert_int_equal(s->state, SVC_FAILED);
    assert_int_equal(s->exit->raw, 3);
    assert_int_equal(s->completed_ms, completed_ms);
    assert_string_equal(kit_list(&k, "f"), before);
    assert_int_equal(spec_component(eng_service_wanted(s), "x")->number_of_containers, 3);
    assert_int_equal(engine_used(k.e, "frameworks"), 8);
    kit_end(&k);
}

static void a_version_that_waits_is_what_requests_change(void **state)
{
    (void)state;
    struct kit k;
    start(&k);
    put(&k, "f", "1", 2, false);
    k.obey = false;
    put(&k, "f", "2", 1, false);
    assert_int_equal(kit_service(&k, "f")->state, SVC_FINISHING);
    assert_int_equal(kit_flex(&k, "f", "w", 4), OUT_FLEXED);
    assert_int_equal(engine_used(k.e, "frameworks"), 4);
    assert_int_equal(put(&k, "f", "2", 3, false), OUT_REDEFINED); /* the same as what waits */
    k.obey = true;
    kit_advance(&k, "f", 0);
    assert_string_equal(kit_list(&k, "f"), "w-0:READY w-1:READY w-2:READY");
    assert_int_equal(kit_service(&k, "f")->incarnation, 2);
    kit_end(&k);
}

static void names_are_of_all_users_together(void **state)
{
    (void)state;
    struct kit k;
    start(&k);
    put(&k, "f", "1", 1, false);
    k.user = "bob";
    kit_clear(&k);
    assert_int_equal(put(&k, "f", "2", 1, false), OUT_TAKEN);
    assert_string_equal(kit_last(&k, EFF_ANSWER)->answer->user, "alice");
    k.user = "alice";
    k.obey = false;
    kit_request(&k, EV_DESTROY, "f");
    assert_null(engine_find_framework(k.e, "f"));
    k.user = "bob";
    k.obey = true;
    assert_int_equal(put(&k, "f", "1", 1, false), OUT_LAUNCHED);
    assert_string_equal(engine_find_framework(k.e, "f")->user, "bob");
    kit_end(&k);
}

/** It is defined anew before the last container has ended. */
static void what_is_destroyed_is_made_anew(void **state)
{
    (void)state;
    struct kit k;
    start(&k);
    put(&k, "f", "1", 2, false);
    int64_t first_ms = kit_service(&k, "f")->first_request_ms;
    k.obey = false;
    kit_request(&k, EV_DESTROY, "f");
    k.now_ms += 500;
    assert_int_equal(put(&k, "f", "1", 1, false), OUT_REDEFINED);
    assert_int_equal(kit_service(&k, "f")->first_request_ms, first_ms + 500);
    kit_crash(&k);
    k.obey = true;
    kit_recover(&k);
    kit_advance(&k, "f", 0);
    assert_string_equal(kit_list(&k, "f"), "w-0:READY");
    assert_int_equal(kit_service(&k, "f")->incarnation, 2);
    assert_false(kit_service(&k, "f")->destroying);
    kit_end(&k);
}

static void a_destruction_is_answered_when_it_is_stored(void **state)
{
    (void)state;
    struct kit k;
    start(&k);
    put(&k, "f", "1", 2, false);
    k.obey = false;
    assert_int_equal(kit_ask(&k, (struct eng_event){.kind = EV_DESTROY, .name = "f", .save = true}),
                     OUT_DESTROYED);
    assert_null(engine_find_framework(k.e, "f"));
    assert_non_null(kit_service(&k, "f"));
    k.obey = true;
    kit_advance(&k, "f", 0);
    assert_null(kit_service(&k, "f"));
    assert_int_equal(engine_used(k.e, "frameworks"), 0);
    kit_end(&k);
}

/* ---- stop and start ---- */

static void a_stop_is_an_exit(void **state)
{
    (void)state;
    struct kit k;
    start(&k);
    k.rules = eng_rules_new();
    k.rules->retry = (struct eng_retry_rule){true, -2};
    put(&k, "f", "1", 2, false);
    k.now_ms += ENG_WAITING_MS;
    assert_int_equal(kit_request(&k, EV_STOP, "f"), OUT_STOPPED);
    const struct eng_service *s = kit_service(&k, "f");
    assert_int_equal(s->state, SVC_STOPPED);
    assert_int_equal(s->exit->cause, CAUSE_STOPPED);
    assert_true(s->is_wanted_stopped && s->completed_ms > 0 && s->ended_ms > 0 && s->launched_ms > 0);
    assert_string_equal(kit_list(&k, "f"), "w-0:STOPPED w-1:STOPPED");
    assert_int_equal(kit_request(&k, EV_STOP, "f"), OUT_ALREADY_STOPPED);
    assert_int_equal(kit_request(&k, EV_START, "f"), OUT_RECORDED);
    assert_false(kit_service(&k, "f")->is_wanted_stopped);
    assert_int_equal(kit_service(&k, "f")->state, SVC_STOPPED);
    put(&k, "f", "2", 1, false);
    assert_int_equal(kit_service(&k, "f")->state, SVC_STABLE);
    assert_null(kit_service(&k, "f")->exit);
    k.now_ms += ENG_WAITING_MS - 1;
    kit_request(&k, EV_STOP, "f");
    assert_int_equal(kit_service(&k, "f")->launched_ms, 0); /* it was still shown as waiting */
    kit_end(&k);
}

static void what_is_made_stopped_is_over_at_once(void **state)
{
    (void)state;
    struct kit k;
    start(&k);
    assert_int_equal(put(&k, "f", "1", 2, true), OUT_SAVED);
    const struct eng_service *s = kit_service(&k, "f");
    assert_int_equal(s->state, SVC_STOPPED);
    assert_int_equal(s->exit->cause, CAUSE_STOPPED);
    assert_non_null(s->app_id);
    assert_int_equal(s->launched_ms, 0);
    assert_true(s->completed_ms > 0);
    assert_int_equal(kit_count(&k, EFF_REQUEST), 0);
    put(&k, "f", "2", 1, true); /* another version, stopped too */
    assert_int_equal(kit_service(&k, "f")->state, SVC_STOPPED);
    assert_string_equal(kit_service(&k, "f")->spec->version, "2");
    assert_int_equal(kit_service(&k, "f")->exit->cause, CAUSE_STOPPED);
    assert_int_equal(kit_count(&k, EFF_REQUEST), 0);
    kit_end(&k);
}

static void a_definition_that_says_stop_stops_it(void **state)
{
    (void)state;
    struct kit k;
    start(&k);
    put(&k, "f", "1", 2, false);
    assert_int_equal(put(&k, "f", "1", 2, true), OUT_REDEFINED);
    assert_int_equal(kit_service(&k, "f")->state, SVC_STOPPED);
    kit_end(&k);
}

/* ---- requests to move ---- */

static void a_container_that_is_moved_is_given_up(void **state)
{
    (void)state;
    struct kit k;
    start(&k);
    k.rules = eng_rules_new();
    eng_rules_add(k.rules, "w")->retry = (struct eng_retry_rule){true, 0};
    put(&k, "f", "1", 2, false);
    mem_auto char *id = mem_str(kit_instance(&k, "f", "w-1")->container_id);
    assert_int_equal(migrate(&k, id, true), OUT_MIGRATING);
    kit_fire(&k, "f");
    const struct eng_instance *inst = kit_instance(&k, "f", "w-1");
    assert_int_equal(inst->state, INST_READY);
    assert_string_not_equal(inst->container_id, id);
    assert_int_equal(inst->retries->n_transient, 1);
    assert_int_equal(inst->retries->n_counted, 0);
    assert_int_equal(kit_service(&k, "f")->n_migrations, 0);
    kit_end(&k);
}

static void moves_are_kept_until_it_runs_and_what_is_unknown_is_forgotten(void **state)
{
    (void)state;
    struct kit k;
    start(&k);
    put(&k, "f", "1", 1, false);
    kit_exit_code(&k, "f", "w-0", 1);
    assert_int_equal(migrate(&k, "container_a", true), OUT_MIGRATING);
    assert_int_equal(migrate(&k, "container_b", true), OUT_MIGRATING);
    kit_crash(&k);
    kit_recover(&k);
    assert_int_equal(migrate(&k, "container_a", false), OUT_MIGRATING);
    json_auto json_t *moves = eng_service_migrations(kit_service(&k, "f"));
    assert_int_equal(json_object_size(moves), 1);
    assert_non_null(json_object_get(moves, "container_b"));
    put(&k, "f", "2", 1, false); /* another version: nothing is asked of it */
    assert_int_equal(kit_service(&k, "f")->n_migrations, 0);
    migrate(&k, "container_c", true);
    assert_int_equal(kit_service(&k, "f")->n_migrations, 0);
    assert_int_equal(kit_state(&k, "f", "w-0"), INST_READY);
    kit_end(&k);
}

/** Where there is another one, and for some time. */
static void the_node_that_it_leaves_is_avoided(void **state)
{
    (void)state;
    struct kit k;
    start(&k);
    k.rules = eng_rules_new();
    eng_rules_add(k.rules, "w")->retry = (struct eng_retry_rule){true, 0};
    kit_node(&k, "node1", NODE_RUNNING);
    put(&k, "f", "1", 1, false);
    mem_auto char *alone = mem_str(kit_instance(&k, "f", "w-0")->container_id);
    migrate(&k, alone, true);
    kit_fire(&k, "f");
    assert_int_equal(kit_count(&k, EFF_EXCLUDE), 0); /* nowhere else to go */
    kit_node(&k, "node2", NODE_RUNNING);
    mem_auto char *id = mem_str(kit_instance(&k, "f", "w-0")->container_id);
    migrate(&k, id, true);
    assert_string_equal(kit_last(&k, EFF_EXCLUDE)->text, "node1");
    assert_true(kit_last(&k, EFF_EXCLUDE)->excluded);
    kit_crash(&k);
    kit_node(&k, "node1", NODE_RUNNING);
    kit_node(&k, "node2", NODE_RUNNING);
    kit_clear(&k);
    kit_recover(&k);
    assert_true(kit_last(&k, EFF_EXCLUDE)->excluded);
    while (kit_last(&k, EFF_EXCLUDE)->excluded)
        kit_fire(&k, "f");
    assert_int_equal(kit_state(&k, "f", "w-0"), INST_READY);
    kit_end(&k);
}

static void there_is_a_limit_of_moves_that_wait(void **state)
{
    (void)state;
    struct kit k;
    int outcome = OUT_MIGRATING;
    int64_t n = 0;
    start(&k);
    put(&k, "f", "1", 1, true);
    while (outcome == OUT_MIGRATING && n < 5000) {
        mem_auto char *id = mem_fmt("container_%lld", (long long)n++);
        outcome = migrate(&k, id, true);
    }
    assert_int_equal(outcome, OUT_TOO_MANY_MIGRATIONS);
    assert_int_equal(kit_service(&k, "f")->n_migrations, kit_last(&k, EFF_ANSWER)->answer->n_old);
    kit_end(&k);
}

/* ---- numbers of tasks ---- */

static void a_role_may_have_fifty_thousand_tasks(void **state)
{
    (void)state;
    struct kit k;
    start(&k);
    put(&k, "f", "1", 1, true);
    assert_int_equal(kit_flex(&k, "f", "w", 50000), OUT_FLEXED);
    assert_int_equal(kit_flex(&k, "f", "w", 50001), OUT_TOO_MANY);
    kit_end(&k);
}

/** Those that go are final, one of those that stay runs, and they are more than one step takes. */
static void many_tasks_that_have_ended_go_before_it_is_judged(void **state)
{
    (void)state;
    struct kit k;
    start(&k);
    put(&k, "f", "1", 60, false);
    for (int i = 1; i < 60; i++) {
        mem_auto char *name = mem_fmt("w-%d", i);
        kit_exit_code(&k, "f", name, 0);
    }
    kit_flex(&k, "f", "w", 1);
    assert_string_equal(kit_list(&k, "f"), "w-0:READY");
    assert_int_equal(kit_service(&k, "f")->state, SVC_STABLE);
    kit_exit_code(&k, "f", "w-0", 0);
    assert_int_equal(kit_service(&k, "f")->state, SVC_SUCCEEDED);
    kit_end(&k);
}

/* ---- what is shown of a task ---- */

static void times_of_a_task_are_kept(void **state)
{
    (void)state;
    struct kit k;
    start(&k);
    put(&k, "f", "1", 2, false);
    const struct eng_instance *inst = kit_instance(&k, "f", "w-0");
    int64_t created_ms = inst->created_ms;
    assert_true(created_ms > 0 && inst->launched_ms > 0 && inst->completed_ms == 0);
    k.now_ms += 700;
    kit_exit_code(&k, "f", "w-0", 0);
    kit_crash(&k);
    kit_recover(&k);
    inst = kit_instance(&k, "f", "w-0");
    assert_int_equal(inst->created_ms, created_ms);
    assert_int_equal(inst->completed_ms, created_ms + 700);
    assert_non_null(inst->last_container_id);
    kit_end(&k);
}

static void add_ports(struct spec_task *task, const char *label, int64_t first, int64_t count)
{
    struct spec_task_ports *p = mem_new(struct spec_task_ports);
    p->label = mem_str(label);
    p->start = first;
    p->count = count;
    task->ports = mem_resize(task->ports, task->n_ports + 1, sizeof task->ports[0]);
    task->ports[task->n_ports++] = p;
}

/** Its record has them all, each by a label. */
static void the_ports_of_a_task_are_published(void **state)
{
    (void)state;
    struct kit k;
    start(&k);
    struct eng_event ev = put_of(&k, "f", "1", 1, false);
    struct spec_task *task = ev.take_spec->components[0]->task = fld_new(&spec_task_type);
    add_ports(task, "web", 4000, 2);
    add_ports(task, "Debug_1", 0, 1);
    kit_ask(&k, ev);
    const struct eng_record *r = kit_last(&k, EFF_PUBLISH)->record;
    const struct eng_instance *inst = kit_instance(&k, "f", "w-0");
    assert_int_equal(r->n_ports, 3);
    assert_string_equal(r->ports[0].name, "web");
    assert_int_equal(r->ports[1].port, 4001);
    assert_int_equal(strncmp(r->ports[2].name, "debug-1-x", 9), 0);
    assert_int_equal(r->ports[2].port, json_integer_value(json_object_get(inst->ports, "Debug_1/0")));
    kit_end(&k);
}

/* ---- collection ---- */

static void what_has_ended_is_collected_in_time(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    k.service_kind = KIND_LAUNCHER;
    k.cfg.retain_ms = 60000;
    kit_crash(&k);
    kit_recover(&k);
    put(&k, "f", "1", 1, false);
    k.rules = eng_rules_new();
    k.rules->is_kept = true;
    put(&k, "kept", "1", 1, true);
    kit_exit_code(&k, "f", "w-0", 0);
    kit_advance(&k, "f", 30000);
    assert_int_equal(put(&k, "f", "1", 1, false), OUT_REDEFINED); /* the clock goes on */
    kit_crash(&k);
    kit_recover(&k);
    kit_fire(&k, "f");
    assert_null(kit_service(&k, "f"));
    assert_non_null(kit_service(&k, "kept"));
    kit_end(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_unknown_name_is_made),
        cmocka_unit_test(the_first_request_outlives_versions_and_the_last_is_renewed),
        cmocka_unit_test(the_same_version_adds_a_role_and_leaves_none_out),
        cmocka_unit_test(of_what_has_ended_only_the_request_changes),
        cmocka_unit_test(a_version_that_waits_is_what_requests_change),
        cmocka_unit_test(names_are_of_all_users_together),
        cmocka_unit_test(what_is_destroyed_is_made_anew),
        cmocka_unit_test(a_destruction_is_answered_when_it_is_stored),
        cmocka_unit_test(a_stop_is_an_exit),
        cmocka_unit_test(what_is_made_stopped_is_over_at_once),
        cmocka_unit_test(a_definition_that_says_stop_stops_it),
        cmocka_unit_test(a_container_that_is_moved_is_given_up),
        cmocka_unit_test(moves_are_kept_until_it_runs_and_what_is_unknown_is_forgotten),
        cmocka_unit_test(the_node_that_it_leaves_is_avoided),
        cmocka_unit_test(there_is_a_limit_of_moves_that_wait),
        cmocka_unit_test(a_role_may_have_fifty_thousand_tasks),
        cmocka_unit_test(many_tasks_that_have_ended_go_before_it_is_judged),
        cmocka_unit_test(times_of_a_task_are_kept),
        cmocka_unit_test(the_ports_of_a_task_are_published),
        cmocka_unit_test(what_has_ended_is_collected_in_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/** A service between its manager and its application master: two engines, and a store that both write. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/orders.h"
#include "engine_kit.h"
#include "json/json.h"

#define APP        "application_7_0001"
#define DEFINITION "definitions/services/alice/s"
#define SERVICE    "services/alice/s"
#define FRAMEWORK  "frameworks/alice/s"

struct pair {
    struct kit manager, master;
};

static void start_as(struct kit *k, enum engine_role role)
{
    kit_start(k, "seed");
    k->cfg.role = role;
    k->cfg.submits = true;
    k->cfg.late_reports = role == ROLE_MASTER;
    if (role == ROLE_MASTER)
        k->cfg.master = (struct eng_master){.container_id = "container_7_0001_01_000001",
                                            .node_http = "node1:8042",
                                            .url = "http://node1:4711"};
    map_fini(&k->store, free);
    kit_crash(k);
    kit_clear(k);
}

static bool is_mastered(const char *key)
{
    return strncmp(key, SERVICE, strlen(SERVICE)) == 0 || strncmp(key, FRAMEWORK, strlen(FRAMEWORK)) == 0;
}

static void copy_document(struct kit *to, const char *key, const char *text)
{
    free(map_set(&to->store, key, mem_str(text)));
}

/** What the master has written since the last time comes to the manager, in the order of the keys. */
static void report_to_manager(struct pair *p)
{
    mem_auto const char **keys = map_sorted_keys(&p->master.store);
    mem_auto const char **old = map_sorted_keys(&p->manager.store);
    for (size_t i = 0; keys[i]; i++) {
        const char *now = map_get(&p->master.store, keys[i]), *was = map_get(&p->manager.store, keys[i]);
        if (!is_mastered(keys[i]) || (was && strcmp(was, now) == 0))
            continue;
        copy_document(&p->manager, keys[i], now);
        kit_step(&p->manager, (struct eng_event){.kind = EV_FOLLOWED, .key = keys[i], .text = now});
    }
    for (size_t i = 0; old[i]; i++) {
        if (!is_mastered(old[i]) || map_get(&p->master.store, old[i]))
            continue;
        mem_auto char *key = mem_str(old[i]);
        free(map_remove(&p->manager.store, key));
        kit_step(&p->manager, (struct eng_event){.kind = EV_FOLLOWED, .key = key});
    }
}

static void order_master(struct pair *p)
{
    const char *key = p->manager.service_kind == KIND_LAUNCHER ? "definitions/" FRAMEWORK : DEFINITION;
    const char *text = map_get(&p->manager.store, key);
    copy_document(&p->master, key, text);
    kit_step(&p->master, (struct eng_event){.kind = EV_FOLLOWED, .key = key, .text = text});
}

static void exchange(struct pair *p)
{
    for (int i = 0; i < 4; i++) {
        order_master(p);
        report_to_manager(p);
    }
}

/** The master begins, or begins again, with what is stored. */
static void start_master(struct pair *p)
{
    map_fini(&p->master.store, free);
    mem_auto const char **keys = map_sorted_keys(&p->manager.store);
    for (size_t i = 0; keys[i]; i++) {
        if (strncmp(keys[i], "definitions/", 12) == 0 || is_mastered(keys[i]))
            copy_document(&p->master, keys[i], map_get(&p->manager.store, keys[i]));
    }
    kit_crash(&p->master);
    kit_recover(&p->master);
}

static void start_pair_of(struct pair *p, enum eng_kind kind, int n);

/** A service "s" with an application; n instances run, and the manager knows. */
static void start_pair(struct pair *p, int n)
{
    start_pair_of(p, KIND_SERVICE, n);
}

static void start_pair_of(struct pair *p, enum eng_kind kind, int n)
{
    start_as(&p->manager, ROLE_MANAGER);
    start_as(&p->master, ROLE_MASTER);
    p->manager.service_kind = p->master.service_kind = kind;
    kit_recover(&p->manager);
    p->manager.obey = false;
    kit_create(&p->manager, kit_spec("s", n, "ALWAYS", ""), false);
    kit_application(&p->manager, kit_last(&p->manager, EFF_SUBMIT),
                    (struct eng_event){.kind = EV_SUBMITTED, .application_id = APP});
    kit_clear(&p->manager);
    start_master(p);
    for (int i = 0; i < n; i++) {
        char name[32];
        snprintf(name, sizeof name, "hello-%d", i);
        kit_probe(&p->master, "s", name, true);
    }
    exchange(p);
    kit_clear(&p->manager);
    kit_clear(&p->master);
}

static void end_pair(struct pair *p)
{
    kit_end(&p->manager);
    kit_end(&p->master);
}

static const struct eng_service *seen(const struct pair *p)
{
    return kit_service(&p->manager, "s");
}

/** Keys that a kit has persisted since kit_clear and that are not of this prefix. */
static size_t n_written_beside(const struct kit *k, const char *prefix)
{
    size_t n = 0;
    for (size_t i = 0; i < k->effects.n; i++) {
        const struct eng_effect *e = &k->effects.items[i];
        n += e->kind == EFF_PERSIST && strncmp(e->key, prefix, strlen(prefix)) != 0;
    }
    return n;
}

/** The application has ended: the manager reads what the master has left. */
static void end_application(struct pair *p, struct eng_exit x)
{
    struct kit *k = &p->manager;
    mem_auto const char **keys = map_sorted_keys(&k->store);
    int64_t incarnation = seen(p)->incarnation;
    engine_take_back(k->e, k->service_kind, "alice", "s");
    for (size_t i = 0; keys[i]; i++) {
        const char *text = map_get(&k->store, keys[i]);
        struct err_info why = {0};
        if (is_mastered(keys[i]) && engine_load(k->e, keys[i], text, strlen(text), &why))
            fail_msg("%s: %s", keys[i], why.text);
    }
    engine_taken_back(k->e, k->service_kind, "alice", "s");
    kit_step(k, (struct eng_event){.kind = EV_APP_ENDED,
                                   .service_kind = k->service_kind,
                                   .user = "alice",
                                   .name = "s",
                                   .incarnation = incarnation,
                                   .exit = x});
}

/** The same, and the manager's world does what is asked of it: no container is there, the registry answers. */
static void end_application_and_obey(struct pair *p, struct eng_exit x)
{
    end_application(p, x);
    p->manager.obey = true;
    kit_advance(&p->manager, "s", 0);
}

static void the_manager_hands_over_and_writes_nothing_of_it_any_more(void **state)
{
    (void)state;
    struct pair p;
    start_pair(&p, 2);
    assert_true(engine_is_away(p.manager.e, seen(&p)));
    assert_int_equal(kit_flex(&p.manager, "s", "hello", 3), OUT_FLEXED);
    kit_advance(&p.manager, "s", 0);
    assert_int_equal(n_written_beside(&p.manager, DEFINITION), 0);
    end_pair(&p);
}

static void the_manager_knows_where_the_master_is(void **state)
{
    (void)state;
    struct pair p;
    start_pair(&p, 1);
    assert_non_null(seen(&p)->master);
    assert_string_equal(seen(&p)->master->container_id, "container_7_0001_01_000001");
    assert_string_equal(seen(&p)->master->node_http, "node1:8042");
    assert_string_equal(seen(&p)->master->url, "http://node1:4711");
    end_pair(&p);
}

static void say(struct pair *p, const char *text)
{
    kit_step(&p->manager, (struct eng_event){.kind = EV_APP_WAITS,
                                             .service_kind = KIND_SERVICE,
                                             .user = "alice",
                                             .name = "s",
                                             .incarnation = seen(p)->incarnation,
                                             .text = text});
}

/** Until the next one runs. */
static void what_is_said_of_an_attempt_that_waits(void **state)
{
    (void)state;
    struct pair p;
    start_pair(&p, 1);
    say(&p, "Queue's AM resource limit exceeded.");
    assert_int_equal(seen(&p)->wait->why, WAIT_APPLICATION);
    say(&p, NULL);
    assert_null(seen(&p)->wait);
    end_pair(&p);
}

static void the_master_writes_below_the_service_only(void **state)
{
    (void)state;
    struct pair p;
    start_pair(&p, 2);
    kit_flex(&p.manager, "s", "hello", 3);
    order_master(&p);
    kit_probe(&p.master, "s", "hello-2", true);
    assert_string_equal(kit_list(&p.master, "s"), "hello-0:READY hello-1:READY hello-2:READY");
    assert_int_equal(n_written_beside(&p.master, SERVICE), 0);
    end_pair(&p);
}

static void the_manager_sees_what_the_master_has_written(void **state)
{
    (void)state;
    struct pair p;
    start_pair(&p, 2);
    assert_int_equal(seen(&p)->state, SVC_STABLE);
    assert_string_equal(seen(&p)->app_id, APP);
    assert_string_equal(kit_list(&p.manager, "s"), "hello-0:READY hello-1:READY");
    const struct eng_instance *there = kit_instance(&p.master, "s", "hello-1");
    const struct eng_instance *here = kit_instance(&p.manager, "s", "hello-1"), *found = NULL;
    assert_string_equal(here->container_id, there->container_id);
    assert_ptr_equal(engine_find_container(p.manager.e, here->container_id, &found), seen(&p));
    kit_exit_signal(&p.master, "s", "hello-1", 9);
    exchange(&p);
    assert_int_equal(kit_instance(&p.manager, "s", "hello-1")->last_exit->raw, 9);
    end_pair(&p);
}

static void a_flex_is_answered_at_once_and_carried_out_by_the_master(void **state)
{
    (void)state;
    struct pair p;
    start_pair(&p, 1);
    assert_int_equal(kit_flex(&p.manager, "s", "hello", 3), OUT_FLEXED);
    assert_int_equal(kit_last(&p.manager, EFF_ANSWER)->answer->n_old, 1);
    assert_int_equal(seen(&p)->spec->components[0]->number_of_containers, 3); /* read by the next GET */
    assert_int_equal(seen(&p)->n_orders, 1);
    exchange(&p);
    assert_string_equal(kit_list(&p.manager, "s"), "hello-0:READY hello-1:READY hello-2:READY");
    assert_int_equal(seen(&p)->n_orders, 0);
    end_pair(&p);
}

static void a_relative_flex_is_carried_out_once_whoever_dies(void **state)
{
    (void)state;
    struct pair p;
    start_pair(&p, 1);
    struct eng_flex by_one = {"hello", 1, true};
    for (int i = 0; i < 2; i++)
        assert_int_equal(
            kit_ask(&p.manager,
                    (struct eng_event){.kind = EV_FLEX, .name = "s", .flex = &by_one, .n_flex = 1}),
            OUT_FLEXED);
    start_master(&p); /* it was dead when they came */
    report_to_manager(&p);
    start_master(&p); /* and dies before the manager has dropped them */
    exchange(&p);
    assert_int_equal(kit_service(&p.master, "s")->spec->components[0]->number_of_containers, 3);
    assert_int_equal(seen(&p)->spec->components[0]->number_of_containers, 3);
    kit_crash(&p.manager);
    kit_recover(&p.manager);
    exchange(&p);
    assert_int_equal(seen(&p)->spec->components[0]->number_of_containers, 3);
    assert_int_equal(kit_service(&p.master, "s")->components[0]->n_instances, 3);
    end_pair(&p);
}

static void a_request_that_cannot_be_carried_out_is_refused_by_the_manager(void **state)
{
    (void)state;
    struct pair p;
    start_pair(&p, 1);
    assert_int_equal(kit_flex(&p.manager, "s", "nothing", 3), OUT_NO_COMPONENT);
    assert_int_equal(kit_request(&p.manager, EV_START, "s"), OUT_ALREADY_LIVE);
    assert_int_equal(kit_request(&p.manager, EV_FINALIZE, "s"), OUT_NOT_UPGRADING);
    assert_int_equal(seen(&p)->n_orders, 0);
    assert_string_equal(kit_list(&p.manager, "s"), "hello-0:READY");
    end_pair(&p);
}

static void orders_are_bounded(void **state)
{
    (void)state;
    struct pair p;
    start_pair(&p, 1);
    for (int i = 0; i < 64; i++)
        assert_int_equal(kit_flex(&p.manager, "s", "hello", 1 + i % 2), OUT_FLEXED);
    assert_int_equal(kit_flex(&p.manager, "s", "hello", 1), OUT_BUSY);
    exchange(&p);
    assert_int_equal(kit_flex(&p.manager, "s", "hello", 1), OUT_FLEXED);
    end_pair(&p);
}

static void a_request_that_is_not_stored_is_taken_back(void **state)
{
    (void)state;
    struct pair p;
    start_pair(&p, 1);
    struct eng_flex flex = {"hello", 4, false};
    kit_undone(&p.manager,
               (struct eng_event){.kind = EV_FLEX, .user = "alice", .name = "s", .flex = &flex, .n_flex = 1});
    assert_int_equal(seen(&p)->n_orders, 0);
    assert_int_equal(seen(&p)->spec->components[0]->number_of_containers, 1);
    assert_string_equal(kit_list(&p.manager, "s"), "hello-0:READY");
    end_pair(&p);
}

static void begin_upgrade(struct pair *p, const char *more)
{
    mem_auto char *json = mem_fmt(
        "{\"name\":\"s\",\"version\":\"2\",\"components\":[{\"name\":\"hello\",\"number_of_containers\":1,"
        "\"launch_command\":\"run2\",\"resource\":{\"cpus\":1,\"memory\":\"64\"}%s}]}",
        more);
    assert_int_equal(kit_ask(&p->manager, (struct eng_event){.kind = EV_UPGRADE,
                                                             .name = "s",
                                                             .mode = MODE_EXPRESS,
                                                             .take_spec = kit_spec_of(&p->manager, json)}),
                     OUT_UPGRADING);
}

static void an_upgrade_changes_the_definition_when_it_is_over(void **state)
{
    (void)state;
    struct pair p;
    start_pair(&p, 1);
    begin_upgrade(&p, "");
    assert_string_equal(seen(&p)->spec->version, "1");
    exchange(&p);
    kit_probe(&p.master, "s", "hello-0", true);
    exchange(&p);
    assert_int_equal(seen(&p)->state, SVC_STABLE);
    assert_string_equal(seen(&p)->spec->version, "2");
    assert_string_equal(kit_instance(&p.manager, "s", "hello-0")->version, "2");
    kit_crash(&p.manager); /* what is stored says it, too */
    kit_recover(&p.manager);
    assert_string_equal(seen(&p)->spec->version, "2");
    start_master(&p);
    assert_string_equal(kit_service(&p.master, "s")->spec->version, "2");
    assert_string_equal(kit_list(&p.master, "s"), "hello-0:READY");
    end_pair(&p);
}

static void an_upgrade_that_is_over_survives_a_master_that_ends_with_orders_left(void **state)
{
    (void)state;
    struct pair p;
    start_pair(&p, 1);
    begin_upgrade(&p, "");
    exchange(&p);
    kit_flex(&p.manager, "s", "hello", 2); /* refused: it is upgrading */
    kit_probe(&p.master, "s", "hello-0", true);
    report_to_manager(&p);
    assert_int_equal(kit_flex(&p.manager, "s", "hello", 2), OUT_FLEXED);
    end_application_and_obey(&p, eng_exit_of(CAUSE_APPLICATION_ENDED, 1, "its master failed"));
    assert_int_equal(seen(&p)->state, SVC_FAILED);
    assert_string_equal(seen(&p)->spec->version, "2");
    assert_int_equal(seen(&p)->spec->components[0]->number_of_containers, 2);
    end_pair(&p);
}

static void a_stop_goes_by_the_master(void **state)
{
    (void)state;
    struct pair p;
    start_pair(&p, 2);
    assert_int_equal(kit_request(&p.manager, EV_STOP, "s"), OUT_STOPPED);
    assert_int_equal(kit_count(&p.manager, EFF_FINISH), 0);
    p.master.obey = false;
    order_master(&p);
    assert_int_equal(kit_service(&p.master, "s")->state, SVC_FINISHING);
    p.master.obey = true; /* but nobody reports the end of an application to its master */
    const struct eng_service *s = kit_service(&p.master, "s");
    assert_string_equal(s->diagnostics, "Stopped by user alice");
    report_to_manager(&p);
    assert_int_equal(seen(&p)->state, SVC_FINISHING);
    end_application_and_obey(&p, eng_exit_of(CAUSE_APPLICATION_ENDED, 0, NULL));
    assert_int_equal(seen(&p)->state, SVC_STOPPED);
    assert_false(engine_is_away(p.manager.e, seen(&p)));
    assert_int_equal(kit_count(&p.manager, EFF_PURGE), 1);
    assert_string_equal(seen(&p)->diagnostics, "Stopped by user alice");
    end_pair(&p);
}

static void a_master_that_does_not_end_is_killed(void **state)
{
    (void)state;
    struct pair p;
    start_pair(&p, 1);
    kit_request(&p.manager, EV_STOP, "s");
    kit_fire(&p.manager, "s");
    const struct eng_effect *kill = kit_last(&p.manager, EFF_FINISH);
    assert_non_null(kill);
    assert_string_equal(kill->application->id, APP);
    assert_string_equal(kill->application->diagnostics, "Stopped by user alice");
    end_application_and_obey(&p, eng_exit_of(CAUSE_STOPPED, 0, "killed"));
    assert_int_equal(seen(&p)->state, SVC_STOPPED);
    end_pair(&p);
}

/** A service "s" with an application whose master has not begun. */
static void start_manager_alone(struct pair *p)
{
    start_as(&p->manager, ROLE_MANAGER);
    start_as(&p->master, ROLE_MASTER);
    kit_recover(&p->manager);
    p->manager.obey = false;
    kit_create(&p->manager, kit_spec("s", 1, "ALWAYS", ""), false);
    kit_application(&p->manager, kit_last(&p->manager, EFF_SUBMIT),
                    (struct eng_event){.kind = EV_SUBMITTED, .application_id = APP});
    kit_clear(&p->manager);
}

static void an_application_whose_master_never_began_is_killed_at_once(void **state)
{
    (void)state;
    struct pair p;
    start_manager_alone(&p);
    kit_request(&p.manager, EV_DESTROY, "s");
    const struct eng_effect *kill = kit_last(&p.manager, EFF_FINISH);
    assert_non_null(kill);
    assert_string_equal(kill->application->id, APP);
    assert_null(kit_last(&p.manager, EFF_ANSWER));
    end_application_and_obey(&p, eng_exit_of(CAUSE_STOPPED, 0, "killed"));
    assert_null(seen(&p));
    assert_int_equal(kit_last(&p.manager, EFF_ANSWER)->answer->outcome, OUT_DESTROYED);
    end_pair(&p);
}

static struct eng_event unserved(const struct pair *p)
{
    return (struct eng_event){.kind = EV_APP_ENDED,
                              .service_kind = p->manager.service_kind,
                              .user = "alice",
                              .name = "s",
                              .incarnation = seen(p)->incarnation,
                              .exit = eng_exit_of(CAUSE_APPLICATION_ENDED, 0, "exitCode: -1000"),
                              .was_unserved = true};
}

static void another_application_follows_one_that_nobody_served(void **state)
{
    (void)state;
    struct pair p;
    start_manager_alone(&p);
    int64_t incarnation = seen(&p)->incarnation;
    kit_crash(&p.manager);
    kit_recover(&p.manager);
    kit_clear(&p.manager);
    kit_step(&p.manager, unserved(&p));
    p.manager.obey = true;
    kit_advance(&p.manager, "s", 0);
    assert_int_equal(seen(&p)->state, SVC_SUBMITTING);
    assert_int_equal(seen(&p)->incarnation, incarnation + 1);
    assert_int_equal(kit_last(&p.manager, EFF_SUBMIT)->application->incarnation, incarnation + 1);
    assert_null(seen(&p)->exit);
    assert_null(seen(&p)->diagnostics);
    end_pair(&p);
}

static void no_application_follows_one_that_nobody_served_and_nobody_wants(void **state)
{
    (void)state;
    struct pair p;
    start_manager_alone(&p);
    kit_request(&p.manager, EV_STOP, "s");
    kit_clear(&p.manager);
    kit_step(&p.manager, unserved(&p));
    p.manager.obey = true;
    kit_advance(&p.manager, "s", 0);
    assert_false(eng_service_is_live(seen(&p)));
    assert_int_equal(kit_count(&p.manager, EFF_SUBMIT), 0);
    end_pair(&p);
}

static void an_application_that_ran_fails_though_nobody_served_it(void **state)
{
    (void)state;
    struct pair p;
    start_pair(&p, 1);
    kit_step(&p.manager, unserved(&p));
    p.manager.obey = true;
    kit_advance(&p.manager, "s", 0);
    assert_int_equal(seen(&p)->state, SVC_FAILED);
    assert_int_equal(kit_count(&p.manager, EFF_SUBMIT), 0);
    end_pair(&p);
}

static void a_manager_that_comes_back_kills_what_never_began(void **state)
{
    (void)state;
    struct pair p;
    start_manager_alone(&p);
    kit_request(&p.manager, EV_STOP, "s");
    kit_crash(&p.manager);
    kit_clear(&p.manager);
    kit_recover(&p.manager);
    assert_int_equal(kit_count(&p.manager, EFF_FINISH), 1);
    end_pair(&p);
}

static void a_manager_that_comes_back_kills_a_master_that_was_to_end(void **state)
{
    (void)state;
    struct pair p;
    start_pair(&p, 1);
    kit_request(&p.manager, EV_STOP, "s");
    kit_crash(&p.manager);
    kit_recover(&p.manager);
    kit_fire(&p.manager, "s");
    assert_int_equal(kit_count(&p.manager, EFF_FINISH), 1);
    end_pair(&p);
}

static void a_destroyed_service_goes_with_all_its_documents(void **state)
{
    (void)state;
    struct pair p;
    start_pair(&p, 2);
    begin_upgrade(&p, "");
    exchange(&p);
    for (int i = 0; i < 2; i++) {
        kit_probe(&p.master, "s", i ? "hello-1" : "hello-0", true);
        exchange(&p);
    }
    assert_non_null(map_get(&p.manager.store, SERVICE "/runs"));
    kit_request(&p.manager, EV_DESTROY, "s");
    order_master(&p);
    report_to_manager(&p);
    end_application_and_obey(&p, eng_exit_of(CAUSE_APPLICATION_ENDED, 0, NULL));
    assert_null(seen(&p));
    assert_int_equal(kit_last(&p.manager, EFF_ANSWER)->answer->outcome, OUT_DESTROYED);
    assert_int_equal(p.manager.store.n_items, 1); /* the engine's own */
    end_pair(&p);
}

static void an_application_that_is_killed_elsewhere_stops_the_service(void **state)
{
    (void)state;
    struct pair p;
    start_pair(&p, 3);
    end_application_and_obey(&p, eng_exit_of(CAUSE_STOPPED, 0, "Application killed by user bob"));
    assert_int_equal(seen(&p)->state, SVC_STOPPED);
    assert_string_equal(seen(&p)->diagnostics, "Application killed by user bob");
    assert_string_equal(kit_list(&p.manager, "s"), "");
    assert_int_equal(kit_count(&p.manager, EFF_PURGE), 1);
    end_pair(&p);
}

static void it_starts_again_with_another_application(void **state)
{
    (void)state;
    struct pair p;
    start_pair(&p, 1);
    kit_flex(&p.manager, "s", "hello", 2);
    exchange(&p);
    end_application_and_obey(&p, eng_exit_of(CAUSE_STOPPED, 0, "killed"));
    p.manager.obey = false;
    kit_clear(&p.manager);
    assert_int_equal(kit_request(&p.manager, EV_START, "s"), OUT_STARTED);
    kit_step(&p.manager,
             (struct eng_event){.kind = EV_RECORD, .ticket = kit_last(&p.manager, EFF_PURGE)->ticket});
    kit_application(&p.manager, kit_last(&p.manager, EFF_SUBMIT),
                    (struct eng_event){.kind = EV_SUBMITTED, .application_id = "application_7_0002"});
    start_master(&p);
    exchange(&p);
    assert_string_equal(kit_list(&p.manager, "s"), "hello-0:READY hello-1:READY");
    assert_string_equal(seen(&p)->app_id, "application_7_0002");
    end_pair(&p);
}

static void what_the_cluster_says_of_an_application_that_waits_is_shown(void **state)
{
    (void)state;
    struct pair p;
    start_pair(&p, 1);
    kit_step(&p.manager, (struct eng_event){.kind = EV_APP_WAITS,
                                            .service_kind = KIND_SERVICE,
                                            .user = "alice",
                                            .name = "s",
                                            .incarnation = 1,
                                            .text = "Queue's AM resource limit exceeded."});
    mem_auto char *text = eng_wait_text(seen(&p)->wait);
    assert_string_equal(text, "application: Queue's AM resource limit exceeded.");
    end_pair(&p);
}

static void a_node_is_excluded_by_the_master(void **state)
{
    (void)state;
    struct pair p;
    start_pair(&p, 1);
    assert_int_equal(kit_exclude(&p.manager, "s", "n7", true), OUT_EXCLUDED);
    order_master(&p);
    const struct eng_effect *e = kit_last(&p.master, EFF_EXCLUDE);
    assert_non_null(e);
    assert_string_equal(e->text, "n7");
    assert_true(e->excluded);
    end_pair(&p);
}

static void the_end_of_a_lifetime_stops_the_service(void **state)
{
    (void)state;
    struct pair p;
    start_pair(&p, 1);
    assert_int_equal(
        kit_ask(&p.manager, (struct eng_event){.kind = EV_LIFETIME, .name = "s", .lifetime_s = 60}),
        OUT_LIFETIME_SET);
    assert_int_equal(kit_last(&p.manager, EFF_SET_LIFETIME)->application->lifetime_s, 60);
    exchange(&p);
    assert_true(seen(&p)->lifetime_end_ms > 0);
    p.manager.now_ms += 60000;
    end_application_and_obey(
        &p, eng_exit_of(CAUSE_APPLICATION_ENDED, 1,
                        "Application is killed by ResourceManager as it has exceeded the lifetime period."));
    assert_null(seen(&p)); /* the dialect of the document destroys it */
    end_pair(&p);
}

/* ---- definitions that are put ---- */

/** The definition of the framework "s", as kit_spec makes it, with a role "more" of a task if that is wanted. */
static int put(struct pair *p, const char *version, int n, bool more)
{
    json_auto json_t *request = json_pack("{s:s}", "version", version);
    mem_auto char *text = mem_fmt(
        "{\"name\":\"s\",\"version\":\"%s\",\"components\":[{\"name\":\"hello\",\"number_of_containers\":%d,"
        "\"launch_command\":\"run\",\"resource\":{\"cpus\":1,\"memory\":\"64\"}}%s]}",
        version, n,
        more ? ",{\"name\":\"more\",\"number_of_containers\":1,\"launch_command\":\"run\","
               "\"resource\":{\"cpus\":1,\"memory\":\"64\"}}"
             : "");
    struct kit *k = &p->manager;
    return kit_ask(k, (struct eng_event){.kind = EV_REDEFINE,
                                         .name = "s",
                                         .value = request,
                                         .take_spec = kit_spec_of(k, text),
                                         .take_rules = eng_rules_new()});
}

static void the_same_version_is_put_by_the_master(void **state)
{
    (void)state;
    struct pair p;
    start_pair_of(&p, KIND_LAUNCHER, 1);
    assert_int_equal(put(&p, "1", 2, true), OUT_REDEFINED);
    assert_non_null(seen(&p)->request);
    assert_int_equal(seen(&p)->spec->n_components, 2); /* read by the next GET */
    exchange(&p);
    assert_string_equal(kit_list(&p.manager, "s"), "hello-0:READY hello-1:READY more-0:READY");
    assert_int_equal(seen(&p)->n_orders, 0);
    assert_non_null(seen(&p)->request);
    kit_clear(&p.manager);
    assert_int_equal(put(&p, "1", 2, false), OUT_LACKS_COMPONENT);
    assert_int_equal(seen(&p)->n_orders, 0);
    end_pair(&p);
}

static void another_version_is_begun_by_the_manager(void **state)
{
    (void)state;
    struct pair p;
    start_pair_of(&p, KIND_LAUNCHER, 2);
    assert_int_equal(put(&p, "2", 1, false), OUT_REDEFINED);
    assert_int_equal(seen(&p)->orders[0]->kind, EV_STOP);
    assert_int_equal(kit_flex(&p.manager, "s", "hello", 3), OUT_FLEXED);
    assert_int_equal(eng_service_wanted(seen(&p))->components[0]->number_of_containers, 3);
    assert_int_equal(seen(&p)->n_orders, 1); /* nothing that the old master need know */
    p.master.obey = false;                   /* nobody reports the end of an application to its master */
    exchange(&p);
    assert_int_equal(seen(&p)->state, SVC_FINISHING);
    end_application_and_obey(&p, eng_exit_of(CAUSE_EXITED, 0, NULL));
    assert_int_equal(seen(&p)->incarnation, 2);
    assert_string_equal(seen(&p)->spec->version, "2");
    assert_int_equal(seen(&p)->spec->components[0]->number_of_containers, 3);
    assert_true(kit_count(&p.manager, EFF_SUBMIT) > 0);
    end_pair(&p);
}

static void a_request_to_move_is_an_order(void **state)
{
    (void)state;
    struct pair p;
    start_pair_of(&p, KIND_LAUNCHER, 2);
    mem_auto char *id = mem_str(kit_instance(&p.manager, "s", "hello-1")->container_id);
    const char *names[] = {id};
    json_auto json_t *body = json_object();
    assert_int_equal(
        kit_ask(
            &p.manager,
            (struct eng_event){.kind = EV_MIGRATE, .name = "s", .names = names, .n_names = 1, .value = body}),
        OUT_MIGRATING);
    json_auto json_t *before = eng_service_migrations(seen(&p));
    assert_non_null(json_object_get(before, id));
    exchange(&p);
    json_auto json_t *after = eng_service_migrations(seen(&p));
    assert_int_equal(json_object_size(after), 0);
    assert_string_equal(kit_instance(&p.master, "s", "hello-1")->last_container_id, id);
    end_pair(&p);
}

/** What is known of it does not say that it is under way, as its order was not carried out yet. */
static void one_roll_at_a_time_is_ordered(void **state)
{
    (void)state;
    struct pair p;
    start_pair(&p, 2);
    const char *const names[] = {"hello-0"};
    const struct eng_event roll = {.kind = EV_ROLL, .name = "s", .names = names, .n_names = 1};
    assert_int_equal(kit_ask(&p.manager, roll), OUT_ROLLING);
    assert_null(seen(&p)->roll);
    assert_true(eng_service_is_ordered(seen(&p), EV_ROLL));
    assert_int_equal(kit_ask(&p.manager, roll), OUT_IS_UPGRADING);
    exchange(&p);
    assert_non_null(seen(&p)->roll);
    assert_false(eng_service_is_ordered(seen(&p), EV_ROLL));
    assert_int_equal(seen(&p)->roll->n_all, 1);
    end_pair(&p);
}

/** An order has no documents: what svcmgr has stored is what the master shows. */
static void the_master_shows_what_was_put(void **state)
{
    (void)state;
    struct pair p;
    start_pair_of(&p, KIND_LAUNCHER, 1);
    const struct eng_service *own = kit_service(&p.master, "s");
    for (int n = 2; n < 4; n++) {
        json_auto json_t *put = json_pack("{s:i}", "number", n);
        struct spec_service *spec = fld_copy(&spec_service_type, own->spec);
        spec->components[0]->number_of_containers = n;
        assert_int_equal(
            kit_ask(&p.manager,
                    (struct eng_event){.kind = EV_REDEFINE, .name = "s", .take_spec = spec, .value = put}),
            OUT_REDEFINED);
        exchange(&p);
        own = kit_service(&p.master, "s");
        assert_true(json_equal(own->request, put));
        assert_int_equal(own->spec->components[0]->number_of_containers, n);
    }
    start_master(&p);
    assert_int_equal(json_integer_value(json_object_get(kit_service(&p.master, "s")->request, "number")), 3);
    end_pair(&p);
}

static void an_application_has_its_id_from_the_cluster(void **state)
{
    (void)state;
    struct pair p;
    start_as(&p.manager, ROLE_MANAGER);
    start_as(&p.master, ROLE_MASTER);
    kit_recover(&p.manager);
    p.manager.obey = false;
    kit_create(&p.manager, kit_spec("s", 1, "ALWAYS", ""), false);
    assert_false(engine_has_named(p.manager.e, seen(&p)));
    kit_application(&p.manager, kit_last(&p.manager, EFF_SUBMIT),
                    (struct eng_event){.kind = EV_SUBMITTED, .application_id = APP});
    assert_true(engine_has_named(p.manager.e, seen(&p)));
    assert_string_equal(seen(&p)->app_id, APP);
    end_pair(&p);
}

/** Nobody has asked for it: its rule says whether it is tried again. */
static void a_framework_that_is_killed_elsewhere_has_an_exit(void **state)
{
    (void)state;
    struct pair p;
    start_pair_of(&p, KIND_LAUNCHER, 1);
    end_application_and_obey(&p, eng_exit_of(CAUSE_STOPPED, 0, "killed by user carol"));
    assert_int_equal(seen(&p)->state, SVC_FAILED);
    assert_int_equal(seen(&p)->exit->cause, CAUSE_APPLICATION_ENDED);
    end_pair(&p);
}

static void a_stop_while_the_master_ends_it_is_a_stop(void **state)
{
    (void)state;
    struct pair p;
    start_pair_of(&p, KIND_LAUNCHER, 1);
    p.master.obey = false; /* nobody reports the end of an application to its master */
    kit_exit_code(&p.master, "s", "hello-0", 3);
    exchange(&p);
    assert_int_equal(seen(&p)->state, SVC_FINISHING);
    kit_request(&p.manager, EV_STOP, "s");
    end_application_and_obey(&p, eng_exit_of(CAUSE_EXITED, 0, NULL));
    assert_int_equal(seen(&p)->state, SVC_STOPPED);
    assert_int_equal(seen(&p)->exit->cause, CAUSE_STOPPED);
    end_pair(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_manager_hands_over_and_writes_nothing_of_it_any_more),
        cmocka_unit_test(the_manager_knows_where_the_master_is),
        cmocka_unit_test(an_application_has_its_id_from_the_cluster),
        cmocka_unit_test(one_roll_at_a_time_is_ordered),
        cmocka_unit_test(the_master_shows_what_was_put),
        cmocka_unit_test(what_is_said_of_an_attempt_that_waits),
        cmocka_unit_test(the_master_writes_below_the_service_only),
        cmocka_unit_test(the_manager_sees_what_the_master_has_written),
        cmocka_unit_test(a_flex_is_answered_at_once_and_carried_out_by_the_master),
        cmocka_unit_test(a_relative_flex_is_carried_out_once_whoever_dies),
        cmocka_unit_test(a_request_that_cannot_be_carried_out_is_refused_by_the_manager),
        cmocka_unit_test(orders_are_bounded),
        cmocka_unit_test(a_request_that_is_not_stored_is_taken_back),
        cmocka_unit_test(an_upgrade_changes_the_definition_when_it_is_over),
        cmocka_unit_test(an_upgrade_that_is_over_survives_a_master_that_ends_with_orders_left),
        cmocka_unit_test(a_stop_goes_by_the_master),
        cmocka_unit_test(a_master_that_does_not_end_is_killed),
        cmocka_unit_test(an_application_whose_master_never_began_is_killed_at_once),
        cmocka_unit_test(another_application_follows_one_that_nobody_served),
        cmocka_unit_test(no_application_follows_one_that_nobody_served_and_nobody_wants),
        cmocka_unit_test(an_application_that_ran_fails_though_nobody_served_it),
        cmocka_unit_test(a_manager_that_comes_back_kills_what_never_began),
        cmocka_unit_test(a_manager_that_comes_back_kills_a_master_that_was_to_end),
        cmocka_unit_test(a_destroyed_service_goes_with_all_its_documents),
        cmocka_unit_test(an_application_that_is_killed_elsewhere_stops_the_service),
        cmocka_unit_test(it_starts_again_with_another_application),
        cmocka_unit_test(what_the_cluster_says_of_an_application_that_waits_is_shown),
        cmocka_unit_test(a_node_is_excluded_by_the_master),
        cmocka_unit_test(the_end_of_a_lifetime_stops_the_service),
        cmocka_unit_test(the_same_version_is_put_by_the_master),
        cmocka_unit_test(another_version_is_begun_by_the_manager),
        cmocka_unit_test(a_request_to_move_is_an_order),
        cmocka_unit_test(a_framework_that_is_killed_elsewhere_has_an_exit),
        cmocka_unit_test(a_stop_while_the_master_ends_it_is_a_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

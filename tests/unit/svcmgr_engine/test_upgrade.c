/** Upgrades: modes, order, failures, the way back, and what survives a restart. */
#include "engine_kit.h"

#include <stdio.h>
#include <string.h>

#include "engine/history.h"

#define PORT ",\"readiness_check\":{\"type\":\"PORT\",\"properties\":{\"port\":\"80\"}}"

/** Service web with components `a` of n and `b` of 1, which depends on it; the command of `a` is given. Static. */
static const char *definition(const char *version, int n, const char *command, const char *more)
{
    static char text[4096];
    snprintf(text, sizeof text,
             "{\"name\":\"web\",\"version\":\"%s\",\"components\":["
             "{\"name\":\"a\",\"number_of_containers\":%d,\"launch_command\":\"%s\","
             "\"resource\":{\"cpus\":1,\"memory\":\"64\"}%s},"
             "{\"name\":\"b\",\"number_of_containers\":1,\"launch_command\":\"b\",\"dependencies\":[\"a\"],"
             "\"resource\":{\"cpus\":1,\"memory\":\"64\"}}]}",
             version, n, command, more);
    return text;
}

static int ask(struct kit *k, struct eng_event ev)
{
    ev.name = "web";
    return kit_ask(k, ev);
}

static int upgrade(struct kit *k, enum eng_mode mode, bool auto_revert, const char *text)
{
    return ask(k, (struct eng_event){.kind = EV_UPGRADE,
                                     .take_spec = kit_spec_of(k, text),
                                     .mode = mode,
                                     .auto_revert = auto_revert});
}

static int move(struct kit *k, const char *name, bool is_component)
{
    return ask(
        k, (struct eng_event){.kind = EV_MOVE, .names = &name, .n_names = 1, .are_components = is_component});
}

static void start(struct kit *k, int n, const char *more)
{
    kit_start(k, "seed");
    kit_create(k, definition("1", n, "old", more), false);
    assert_int_equal(kit_service(k, "web")->components[0]->n_instances, n);
}

static const char *version_of(const struct kit *k, const char *instance)
{
    return kit_instance(k, "web", instance)->version;
}

static enum eng_upgrade fact_of(const struct kit *k, const char *instance)
{
    return eng_instance_upgrade(kit_instance(k, "web", instance));
}

static const struct eng_operation *operation(const struct kit *k)
{
    return kit_service(k, "web")->operation;
}

/* ---- modes ---- */

static void express_moves_all_in_their_containers(void **state)
{
    (void)state;
    struct kit k;
    start(&k, 3, "");
    mem_auto char *id = mem_str(kit_instance(&k, "web", "a-1")->container_id);
    mem_auto char *other = mem_str(kit_instance(&k, "web", "b-0")->container_id);
    kit_clear(&k);
    assert_int_equal(upgrade(&k, MODE_EXPRESS, false, definition("2", 3, "new", "")), OUT_UPGRADING);
    assert_int_equal(kit_service(&k, "web")->state, SVC_STABLE);
    assert_int_equal(operation(&k)->result, RESULT_SUCCEEDED);
    assert_string_equal(kit_service(&k, "web")->spec->version, "2");
    assert_int_equal(kit_count(&k, EFF_REINIT), 3);
    assert_int_equal(kit_count(&k, EFF_REQUEST) + kit_count(&k, EFF_STOP) + kit_count(&k, EFF_RELEASE), 0);
    assert_non_null(strstr(kit_last(&k, EFF_REINIT)->launch->command, "new"));
    assert_string_equal(kit_instance(&k, "web", "a-1")->container_id, id);
    assert_string_equal(version_of(&k, "a-1"), "2");
    assert_int_equal(kit_instance(&k, "web", "a-1")->n_restarts, 0);
    assert_string_equal(kit_instance(&k, "web", "b-0")->container_id, other); /* it is as it was */
    assert_int_equal(kit_instance(&k, "web", "b-0")->revision, 0);
    kit_exit_code(&k, "web", "a-1", 1); /* from now on this is the definition */
    kit_fire(&k, "web");
    assert_non_null(strstr(kit_last(&k, EFF_LAUNCH)->launch->command, "new"));
    kit_end(&k);
}

/** One after the other: the next one when the one before is ready. */
static void express_goes_on_when_an_instance_is_ready(void **state)
{
    (void)state;
    struct kit k;
    start(&k, 2, PORT);
    kit_probe(&k, "web", "a-0", true);
    kit_probe(&k, "web", "a-1", true);
    upgrade(&k, MODE_EXPRESS, false, definition("2", 2, "new", PORT));
    assert_int_equal(kit_service(&k, "web")->state, SVC_UPGRADING);
    assert_int_equal(kit_service(&k, "web")->components[0]->state, COMP_UPGRADING);
    assert_int_equal(fact_of(&k, "a-0"), UPGRADE_REINITIALIZED);
    assert_int_equal(fact_of(&k, "a-1"), UPGRADE_NEEDED);
    assert_int_equal(fact_of(&k, "b-0"), UPGRADE_NONE);
    assert_int_equal(kit_service(&k, "web")->wait->why, WAIT_MOVES);
    kit_probe(&k, "web", "a-0", true);
    assert_int_equal(fact_of(&k, "a-0"), UPGRADE_NONE);
    assert_int_equal(fact_of(&k, "a-1"), UPGRADE_REINITIALIZED);
    kit_probe(&k, "web", "a-1", true);
    assert_int_equal(kit_service(&k, "web")->state, SVC_STABLE);
    assert_null(kit_service(&k, "web")->wait);
    kit_end(&k);
}

static void by_request_in_any_order(void **state)
{
    (void)state;
    for (int is_auto = 0; is_auto < 2; is_auto++) {
        struct kit k;
        start(&k, 2, "");
        upgrade(&k, is_auto ? MODE_AUTO : MODE_MANUAL, false, definition("2", 2, "new", ""));
        assert_int_equal(kit_service(&k, "web")->state, SVC_UPGRADING);
        assert_string_equal(version_of(&k, "a-0"), "1");
        assert_int_equal(move(&k, "b-0", false), OUT_NO_NEED);
        assert_int_equal(move(&k, "a-7", false), OUT_NO_INSTANCE);
        assert_int_equal(move(&k, "c", true), OUT_NO_COMPONENT);
        assert_int_equal(move(&k, "a-1", false), OUT_MOVING);
        assert_string_equal(version_of(&k, "a-1"), "2");
        assert_string_equal(version_of(&k, "a-0"), "1");
        assert_int_equal(kit_service(&k, "web")->wait->why, WAIT_MOVE_REQUESTS);
        assert_int_equal(ask(&k, (struct eng_event){.kind = EV_FINALIZE}), OUT_NOT_MOVED);
        assert_int_equal(kit_last(&k, EFF_ANSWER)->answer->n_new, 1);
        assert_int_equal(move(&k, "a", true), OUT_MOVING);
        assert_string_equal(version_of(&k, "a-0"), "2");
        assert_int_equal(kit_service(&k, "web")->state, is_auto ? SVC_STABLE : SVC_UPGRADING);
        if (!is_auto)
            assert_int_equal(ask(&k, (struct eng_event){.kind = EV_FINALIZE}), OUT_FINALIZED);
        assert_int_equal(kit_service(&k, "web")->state, SVC_STABLE);
        assert_string_equal(kit_service(&k, "web")->spec->version, "2");
        assert_int_equal(ask(&k, (struct eng_event){.kind = EV_FINALIZE}), OUT_NOT_UPGRADING);
        kit_end(&k);
    }
}

/** More than one step may move: they are moved in slices (the kit counts the documents of a step). */
static void many_at_once_are_moved_in_slices(void **state)
{
    (void)state;
    enum { N = 200 };
    struct kit k;
    start(&k, N, "");
    upgrade(&k, MODE_AUTO, false, definition("2", N, "new", ""));
    static char texts[N][16];
    const char *names[N];
    for (int i = 0; i < N; i++) {
        snprintf(texts[i], sizeof texts[i], "a-%d", i);
        names[i] = texts[i];
    }
    k.last_step = k.n_steps + 2; /* the power fails when some have been moved */
    ask(&k, (struct eng_event){.kind = EV_MOVE, .names = names, .n_names = N});
    kit_crash(&k);
    size_t n_left = operation(&k)->n_moves;
    assert_in_range(n_left, 1, N - 1);
    kit_recover(&k);
    assert_int_equal(operation(&k)->result, RESULT_SUCCEEDED);
    assert_int_equal(operation(&k)->n_moves, 0);
    assert_string_equal(version_of(&k, "a-199"), "2");
    kit_end(&k);
}

/** An instance that is not moved starts again as it was. */
static void an_instance_that_fails_before_it_is_moved_runs_the_old_revision(void **state)
{
    (void)state;
    struct kit k;
    start(&k, 2, "");
    upgrade(&k, MODE_MANUAL, false, definition("2", 2, "new", ""));
    kit_exit_signal(&k, "web", "a-0", 9);
    kit_fire(&k, "web");
    assert_int_equal(kit_state(&k, "web", "a-0"), INST_READY);
    assert_string_equal(version_of(&k, "a-0"), "1");
    assert_int_equal(fact_of(&k, "a-0"), UPGRADE_NEEDED);
    kit_end(&k);
}

static void nothing_to_move_is_done_at_once(void **state)
{
    (void)state;
    struct kit k;
    start(&k, 1, "");
    upgrade(&k, MODE_AUTO, false, definition("2", 1, "old", ""));
    assert_int_equal(kit_service(&k, "web")->state, SVC_STABLE);
    assert_string_equal(kit_service(&k, "web")->spec->version, "2");
    kit_end(&k);
}

/** Counts that requests have set stay. */
static void counts_are_those_of_requests(void **state)
{
    (void)state;
    struct kit k;
    start(&k, 2, "");
    kit_flex(&k, "web", "a", 3);
    upgrade(&k, MODE_EXPRESS, false, definition("2", 2, "new", ""));
    assert_int_equal(kit_service(&k, "web")->components[0]->n_instances, 3);
    assert_string_equal(version_of(&k, "a-2"), "2");
    kit_end(&k);
}

/* ---- refusals ---- */

static void what_an_upgrade_cannot_change_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *version, *command, *more, *reason;
        int outcome;
    } cases[] = {
        {"1", "new", "", NULL, OUT_SAME_VERSION},
        {"2", "new", PORT, "changes to component readiness check not supported by upgrade",
         OUT_NOT_UPGRADABLE},
        {"2", "new", ",\"run_privileged_container\":true",
         "changes to run privileged container not supported by upgrade", OUT_NOT_UPGRADABLE},
        {"2", "new",
         "},{\"name\":\"c\",\"number_of_containers\":1,\"launch_command\":\"c\",\"resource\":"
         "{\"cpus\":1,\"memory\":\"64\"}",
         "addition/deletion of components not supported by upgrade", OUT_NOT_UPGRADABLE},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct kit k;
        start(&k, 1, "");
        int got =
            upgrade(&k, MODE_AUTO, false, definition(cases[i].version, 1, cases[i].command, cases[i].more));
        assert_int_equal(got, cases[i].outcome);
        if (cases[i].reason)
            assert_string_equal(kit_last(&k, EFF_ANSWER)->answer->reason, cases[i].reason);
        assert_int_equal(kit_service(&k, "web")->state, SVC_STABLE);
        assert_null(operation(&k));
        kit_end(&k);
    }
}

/** Hadoop's own client writes empty objects for what its file does not have. */
static void what_is_empty_is_the_same_as_what_is_absent(void **state)
{
    (void)state;
    struct kit k;
    start(&k, 1, "");
    const char *more = ",\"resource\":{\"cpus\":1,\"memory\":\"64\",\"uri\":null,\"additional\":{}}";
    assert_int_equal(upgrade(&k, MODE_EXPRESS, false, definition("2", 1, "new", more)), OUT_UPGRADING);
    kit_end(&k);
}

static void only_a_stable_service_is_upgraded_and_one_upgrade_at_a_time(void **state)
{
    (void)state;
    struct kit k;
    start(&k, 1, "");
    assert_int_equal(ask(&k, (struct eng_event){.kind = EV_CANCEL_UPGRADE}), OUT_NOT_UPGRADING);
    assert_int_equal(move(&k, "a-0", false), OUT_NOT_UPGRADING);
    upgrade(&k, MODE_MANUAL, false, definition("2", 1, "new", ""));
    assert_int_equal(upgrade(&k, MODE_MANUAL, false, definition("3", 1, "newer", "")), OUT_NOT_STABLE);
    assert_int_equal(kit_flex(&k, "web", "a", 2), OUT_IS_UPGRADING);
    kit_end(&k);
}

/* ---- files ---- */

static void files_that_are_missing_end_it_before_anything_moves(void **state)
{
    (void)state;
    struct kit k;
    start(&k, 1, "");
    k.obey = false;
    kit_clear(&k);
    upgrade(&k, MODE_EXPRESS, false,
            definition("2", 1, "new",
                       ",\"configuration\":{\"files\":[{\"type\":\"TEMPLATE\",\"dest_file\":\"x\","
                       "\"src_file\":\"/srv/x\"}]}"));
    assert_string_equal(kit_last(&k, EFF_FETCH)->paths[0], "/srv/x");
    assert_int_equal(kit_service(&k, "web")->wait->why, WAIT_FETCH);
    kit_step(&k,
             (struct eng_event){
                 .kind = EV_FETCHED, .user = "alice", .name = "web", .code = ERR_NOTFOUND, .text = "no x"});
    assert_int_equal(kit_count(&k, EFF_REINIT), 0);
    assert_int_equal(kit_service(&k, "web")->state, SVC_STABLE);
    assert_int_equal(operation(&k)->result, RESULT_FAILED);
    assert_string_equal(operation(&k)->why, "no x");
    assert_string_equal(kit_service(&k, "web")->spec->version, "1");
    kit_end(&k);
}

/* ---- failures, the way back ---- */

static bool is_in_history(const struct kit *k, const char *object, const char *what)
{
    const struct eng_history_entry *e;
    for (size_t i = 0; (e = eng_service_history(kit_service(k, "web"), i)); i++) {
        if (strcmp(e->object, object) == 0 && strcmp(e->what, what) == 0)
            return true;
    }
    return false;
}

static void a_failure_stops_the_roll(void **state)
{
    (void)state;
    struct kit k;
    start(&k, 2, PORT);
    kit_probe(&k, "web", "a-0", true);
    kit_probe(&k, "web", "a-1", true);
    upgrade(&k, MODE_EXPRESS, false, definition("2", 2, "new", PORT));
    mem_auto char *id = mem_str(kit_instance(&k, "web", "a-0")->container_id);
    kit_exit_code(&k, "web", "a-0", 1);
    assert_int_equal(fact_of(&k, "a-0"), UPGRADE_FAILED);
    assert_true(is_in_history(&k, "a-0", "FAILED_UPGRADE"));
    assert_string_equal(kit_last(&k, EFF_RELEASE)->container_id, id);
    assert_int_equal(fact_of(&k, "a-1"), UPGRADE_NEEDED);
    assert_int_equal(kit_service(&k, "web")->state, SVC_UPGRADING);
    assert_int_equal(kit_service(&k, "web")->wait->why, WAIT_FAILED_UPGRADE);
    assert_int_equal(move(&k, "a-0", false), OUT_MOVING); /* once more */
    assert_int_equal(fact_of(&k, "a-0"), UPGRADE_REINITIALIZED);
    kit_probe(&k, "web", "a-0", true);
    kit_probe(&k, "web", "a-1", true);
    assert_int_equal(operation(&k)->result, RESULT_SUCCEEDED);
    kit_end(&k);
}

/** What the cluster ends says nothing about the new revision. */
static void a_lost_container_is_no_failure_of_the_revision(void **state)
{
    (void)state;
    struct kit k;
    start(&k, 1, PORT);
    kit_probe(&k, "web", "a-0", true);
    upgrade(&k, MODE_EXPRESS, true, definition("2", 1, "new", PORT));
    mem_auto char *id = mem_str(kit_instance(&k, "web", "a-0")->container_id);
    kit_step(&k, (struct eng_event){.kind = EV_LOST, .container_id = id});
    kit_fire(&k, "web");
    assert_int_equal(operation(&k)->kind, OPERATION_UPGRADE);
    assert_string_equal(version_of(&k, "a-0"), "2");
    kit_probe(&k, "web", "a-0", true);
    assert_int_equal(operation(&k)->result, RESULT_SUCCEEDED);
    kit_end(&k);
}

static void a_failure_reverts_by_itself(void **state)
{
    (void)state;
    for (int is_slow = 0; is_slow < 2; is_slow++) {
        struct kit k;
        start(&k, 2, PORT);
        kit_probe(&k, "web", "a-0", true);
        kit_probe(&k, "web", "a-1", true);
        upgrade(&k, MODE_EXPRESS, true, definition("2", 2, "new", PORT));
        kit_probe(&k, "web", "a-0", true);
        if (is_slow)
            kit_fire(&k, "web"); /* it is not ready in time */
        else
            kit_exit_code(&k, "web", "a-1", 7);
        assert_int_equal(operation(&k)->kind, OPERATION_CANCEL);
        assert_int_equal(kit_service(&k, "web")->wait->why, WAIT_REVERT);
        kit_probe(&k, "web", "a-0", true);
        kit_probe(&k, "web", "a-1", true);
        kit_probe(&k, "web", "a-0", true);
        assert_int_equal(operation(&k)->result, RESULT_REVERTED);
        assert_non_null(
            strstr(operation(&k)->why, is_slow ? "a-1: its process is not ready" : "a-1: exit code 7"));
        assert_int_equal(kit_service(&k, "web")->state, SVC_STABLE);
        assert_string_equal(version_of(&k, "a-0"), "1");
        assert_string_equal(version_of(&k, "a-1"), "1");
        assert_string_equal(kit_service(&k, "web")->spec->version, "1");
        kit_end(&k);
    }
}

/** Without a readiness check an instance is ready when it starts: that is too early to go on. */
static void an_instance_must_be_steady_before_the_next_one_follows(void **state)
{
    (void)state;
    static const char steady[] =
        ",\"configuration\":{\"properties\":{\"yarn.service.upgrade.steady.seconds\":\"5\"}}";
    struct kit k;
    start(&k, 2, steady);
    upgrade(&k, MODE_EXPRESS, false, definition("2", 2, "new", steady));
    assert_int_equal(kit_state(&k, "web", "a-0"), INST_READY);
    assert_int_equal(fact_of(&k, "a-0"), UPGRADE_REINITIALIZED);
    assert_int_equal(fact_of(&k, "a-1"), UPGRADE_NEEDED);
    assert_int_equal(kit_service(&k, "web")->timer_ms, k.now_ms + 5000);
    kit_fire(&k, "web");
    assert_int_equal(fact_of(&k, "a-0"), UPGRADE_NONE);
    assert_int_equal(fact_of(&k, "a-1"), UPGRADE_REINITIALIZED);
    kit_exit_code(&k, "web", "a-1", 1);
    assert_int_equal(fact_of(&k, "a-1"), UPGRADE_FAILED);
    assert_int_equal(kit_service(&k, "web")->wait->why, WAIT_FAILED_UPGRADE);
    kit_end(&k);
}

static void a_cancel_moves_back_what_was_moved(void **state)
{
    (void)state;
    struct kit k;
    start(&k, 3, "");
    upgrade(&k, MODE_MANUAL, false, definition("2", 3, "new", ""));
    move(&k, "a-1", false);
    kit_clear(&k);
    assert_int_equal(ask(&k, (struct eng_event){.kind = EV_CANCEL_UPGRADE}), OUT_CANCELLING);
    assert_int_equal(kit_count(&k, EFF_REINIT), 1);
    assert_non_null(strstr(kit_last(&k, EFF_REINIT)->launch->command, "old"));
    assert_int_equal(operation(&k)->result, RESULT_CANCELLED);
    assert_int_equal(kit_service(&k, "web")->state, SVC_STABLE);
    assert_string_equal(kit_service(&k, "web")->spec->version, "1");
    assert_string_equal(version_of(&k, "a-1"), "1");
    upgrade(&k, MODE_EXPRESS, false, definition("2", 3, "new", ""));
    assert_int_equal(operation(&k)->result, RESULT_SUCCEEDED);
    assert_int_equal(kit_instance(&k, "web", "a-1")->revision, 2); /* a number is never given twice */
    kit_end(&k);
}

static void a_stop_ends_an_upgrade(void **state)
{
    (void)state;
    struct kit k;
    start(&k, 2, "");
    upgrade(&k, MODE_MANUAL, false, definition("2", 2, "new", ""));
    move(&k, "a-1", false);
    kit_request(&k, EV_STOP, "web");
    assert_int_equal(kit_service(&k, "web")->state, SVC_STOPPED);
    assert_int_equal(operation(&k)->kind, OPERATION_STOP);
    assert_int_equal(operation(&k)->result, RESULT_SUCCEEDED);
    kit_request(&k, EV_START, "web");
    assert_string_equal(version_of(&k, "a-1"), "1");
    assert_int_equal(kit_service(&k, "web")->state, SVC_STABLE);
    kit_end(&k);
}

/* ---- drain ---- */

static void an_instance_drains_before_its_process_is_replaced(void **state)
{
    (void)state;
    static const char drain[] = ",\"configuration\":{\"properties\":{\"yarn.service.drain.seconds\":\"5\"}}";
    struct kit k;
    start(&k, 1, drain);
    upgrade(&k, MODE_EXPRESS, false, definition("2", 1, "new", drain));
    assert_int_equal(kit_state(&k, "web", "a-0"), INST_DRAINING);
    assert_int_equal(kit_count(&k, EFF_REINIT), 0);
    kit_fire(&k, "web");
    assert_int_equal(kit_count(&k, EFF_REINIT), 1);
    assert_int_equal(operation(&k)->result, RESULT_SUCCEEDED);
    kit_end(&k);

    start(&k, 1, drain);
    upgrade(&k, MODE_EXPRESS, false, definition("2", 1, "new", drain));
    ask(&k, (struct eng_event){.kind = EV_CANCEL_UPGRADE});
    assert_int_equal(kit_count(&k, EFF_REINIT), 0); /* its process goes on */
    assert_int_equal(kit_state(&k, "web", "a-0"), INST_READY);
    assert_int_equal(operation(&k)->result, RESULT_CANCELLED);
    kit_end(&k);
}

/* ---- restarts ---- */

/** The power fails after each step of an upgrade: it ends as if nothing had happened, or is reverted. */
static bool crash_after(size_t n, enum eng_mode mode)
{
    struct kit k;
    start(&k, 5, "");
    k.last_step = k.n_steps + n;
    upgrade(&k, mode, false, definition("2", 5, "new", ""));
    if (mode == MODE_MANUAL)
        move(&k, "a", true);
    bool failed = k.n_steps == k.last_step;
    kit_crash(&k);
    kit_recover(&k);
    const struct eng_service *s = kit_service(&k, "web");
    bool was_stored = operation(&k) != NULL;
    if (was_stored && mode == MODE_MANUAL && s->state == SVC_UPGRADING) {
        move(&k, "a", true);
        ask(&k, (struct eng_event){.kind = EV_FINALIZE});
    }
    s = kit_service(&k, "web");
    if (s->state != SVC_STABLE || strcmp(s->spec->version, was_stored ? "2" : "1") != 0 ||
        strcmp(version_of(&k, "a-4"), was_stored ? "2" : "1") != 0)
        fail_msg("mode %d, power failure after %zu steps: state %s, version %s, %s", (int)mode, n,
                 eng_service_state_word(s->state), s->spec->version, kit_list(&k, "web"));
    assert_int_equal(kit_service(&k, "web")->components[0]->n_moved, 0);
    kit_end(&k);
    return failed;
}

static void an_upgrade_goes_on_after_a_crash(void **state)
{
    (void)state;
    static const enum eng_mode modes[] = {MODE_EXPRESS, MODE_MANUAL};
    for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
        size_t n = 1;
        while (crash_after(n, modes[i]))
            n++;
        assert_true(n > 5);
    }
}

/** Deletions of a container's record that were asked for. */
static int n_deletions(const struct kit *k, const char *container_id)
{
    int n = 0;
    for (size_t i = 0; i < k->effects.n; i++) {
        const struct eng_effect *e = &k->effects.items[i];
        n += e->kind == EFF_UNPUBLISH && strcmp(e->container_id, container_id) == 0;
    }
    return n;
}

/** A process that was not replaced yet is replaced after the restart; one that was is adopted. */
static void a_process_is_replaced_once(void **state)
{
    (void)state;
    for (int64_t attempt = 1; attempt <= 2; attempt++) {
        struct kit k;
        start(&k, 1, "");
        mem_auto char *id = mem_str(kit_instance(&k, "web", "a-0")->container_id);
        k.obey = false;
        upgrade(&k, MODE_EXPRESS, false, definition("2", 1, "new", ""));
        kit_step(&k, (struct eng_event){.kind = EV_FETCHED, .user = "alice", .name = "web"});
        assert_int_equal(kit_state(&k, "web", "a-0"), INST_UPGRADING);
        kit_crash(&k);
        k.obey = true;
        kit_step(&k, (struct eng_event){.kind = EV_RECOVERED,
                                        .container_id = id,
                                        .attempt = attempt,
                                        .found = FOUND_RUNNING,
                                        .host = "n"});
        kit_step(&k, (struct eng_event){.kind = EV_RESUME});
        assert_int_equal(kit_count(&k, EFF_REINIT), attempt == 1 ? 1 : 0);
        if (attempt == 2) /* the deletion of its record before was not confirmed: that of now stays */
            assert_int_equal(n_deletions(&k, id), 0);
        assert_string_equal(kit_instance(&k, "web", "a-0")->container_id, id);
        assert_string_equal(version_of(&k, "a-0"), "2");
        kit_end(&k);
    }
}

static void an_upgrade_that_cannot_be_stored_is_taken_back(void **state)
{
    (void)state;
    struct kit k;
    start(&k, 2, "");
    kit_undone(&k, (struct eng_event){.kind = EV_UPGRADE,
                                      .user = "alice",
                                      .name = "web",
                                      .mode = MODE_EXPRESS,
                                      .take_spec = kit_spec_of(&k, definition("2", 2, "new", ""))});
    assert_int_equal(kit_service(&k, "web")->state, SVC_STABLE);
    assert_null(operation(&k));
    assert_int_equal(kit_count(&k, EFF_REINIT), 0);
    assert_int_equal(upgrade(&k, MODE_EXPRESS, false, definition("2", 2, "new", "")), OUT_UPGRADING);
    assert_int_equal(operation(&k)->result, RESULT_SUCCEEDED);
    kit_end(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(express_moves_all_in_their_containers),
        cmocka_unit_test(express_goes_on_when_an_instance_is_ready),
        cmocka_unit_test(by_request_in_any_order),
        cmocka_unit_test(many_at_once_are_moved_in_slices),
        cmocka_unit_test(an_instance_that_fails_before_it_is_moved_runs_the_old_revision),
        cmocka_unit_test(nothing_to_move_is_done_at_once),
        cmocka_unit_test(counts_are_those_of_requests),
        cmocka_unit_test(what_an_upgrade_cannot_change_is_named),
        cmocka_unit_test(what_is_empty_is_the_same_as_what_is_absent),
        cmocka_unit_test(only_a_stable_service_is_upgraded_and_one_upgrade_at_a_time),
        cmocka_unit_test(files_that_are_missing_end_it_before_anything_moves),
        cmocka_unit_test(a_failure_stops_the_roll),
        cmocka_unit_test(a_lost_container_is_no_failure_of_the_revision),
        cmocka_unit_test(a_failure_reverts_by_itself),
        cmocka_unit_test(an_instance_must_be_steady_before_the_next_one_follows),
        cmocka_unit_test(a_cancel_moves_back_what_was_moved),
        cmocka_unit_test(a_stop_ends_an_upgrade),
        cmocka_unit_test(an_instance_drains_before_its_process_is_replaced),
        cmocka_unit_test(an_upgrade_goes_on_after_a_crash),
        cmocka_unit_test(a_process_is_replaced_once),
        cmocka_unit_test(an_upgrade_that_cannot_be_stored_is_taken_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

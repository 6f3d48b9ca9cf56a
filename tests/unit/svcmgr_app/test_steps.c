/**
 * The way of an event through the app, with a store that does what the test says: what is carried out and answered when a write
 * succeeds, fails, is refused, or nobody knows. The store, the world and the frame of the daemon are the test's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "faces/waits.h"
#include "svcmgr/app.h"
#include "svcmgr/app_remote.h"
#include "svcmgr/app_manager.h"
#include "svcmgr/app_nodes.h"
#include "svcmgr/events.h"

LOG_DECLARE(SVCMGR_EVENTS)

static struct desk {
    struct app app;
    struct run_loop *loop;
    struct metrics *metrics;
    struct outages *needs;
    bool is_held, is_fenced;
    bool has_ended, is_taking; /* a service is to be taken back from its master; is being */
    /* the write under way */
    STATE_DONE;
    void *done_arg;
    char docs[4096]; /* keys, each with a blank */
    size_t n_writes, n_asked;
    char story[4096];     /* answers in their order: "TOKEN:OUTCOME " */
    char reason[256];     /* of the last answer */
    size_t n_effects;     /* carried out, besides answers */
    size_t n_carried_out; /* effects of any kind */
    enum state_outcome outcome;
    struct err_info why;
} * desk;

/* ---- the store ---- */

/** Which services are written, and the clock; not of which documents a service consists. */
static bool is_of_interest(const char *key)
{
    return strncmp(key, "definitions/", strlen("definitions/")) != 0 && !strstr(key, "/history/");
}

void state_write(struct state *s, const struct state_doc *docs, size_t n, STATE_DONE, void *arg)
{
    (void)s;
    assert_null(desk->done); /* one at a time */
    desk->docs[0] = '\0';
    for (size_t i = 0; i < n; i++) {
        if (!is_of_interest(docs[i].key))
            continue;
        strcat(desk->docs, docs[i].key);
        strcat(desk->docs, " ");
    }
    desk->done = done;
    desk->done_arg = arg;
    desk->n_writes++;
}

void state_find_out(struct state *s, STATE_DONE, void *arg)
{
    state_write(s, NULL, 0, done, arg);
    desk->n_asked++;
}

bool state_is_held(const struct state *s)
{
    (void)s;
    return desk->is_held;
}

/** The write under way ends so. */
static void ends(enum state_outcome outcome, int code)
{
    struct err_info why = {0};
    STATE_DONE = desk->done;

    assert_non_null(done);
    desk->done = NULL;
    err_set(&why, code, NULL, "the test says so");
    done(desk->done_arg, outcome, outcome == STATE_WRITTEN ? NULL : &why);
}

/** Let the timer of the next try fire. */
static void await_write(void)
{
    while (!desk->done)
        uv_run(run_loop_uv(desk->loop), UV_RUN_ONCE);
}

/* ---- the world and the frame ---- */

void app_carry_out(struct app *a, struct eng_effect *e)
{
    desk->n_carried_out++;
    if (e->kind == EFF_ANSWER)
        app_answer(a, e->answer);
    else if (e->kind != EFF_PERSIST && e->kind != EFF_NOTE && e->kind != EFF_TIMER)
        desk->n_effects++;
}

void app_fenced(struct app *a, const struct err_info *why)
{
    (void)why;
    desk->is_fenced = a->is_ending = true;
}

void app_report_ready(struct app *a)
{
    (void)a;
}

struct metrics *daemon_metrics(struct daemon *d)
{
    (void)d;
    return desk->metrics;
}

const struct options *daemon_options(struct daemon *d)
{
    (void)d;
    return NULL;
}

/* ---- the manager of applications ---- */

bool app_manager_waits(const struct app *a)
{
    (void)a;
    return desk->has_ended || desk->is_taking;
}

bool app_manager_takes(const struct app *a)
{
    (void)a;
    return desk->is_taking;
}

bool app_manager_take_back(struct app *a)
{
    assert_true(TAILQ_EMPTY(&a->steps));
    desk->has_ended = false;
    return desk->is_taking = true;
}

/* ---- other servers: none is asked ---- */

void app_slider_changed(struct app *a)
{
    (void)a;
}

bool app_slider_forward(void *app, struct http_req *req, const struct eng_service *s)
{
    (void)app;
    (void)req;
    (void)s;
    return false;
}

void app_know_nodes(void *app, void (*done)(void *arg), void *arg)
{
    (void)app;
    done(arg);
}

void app_nodes_largest(const struct app *a, int64_t *memory_mb, int64_t *vcores)
{
    (void)a;
    *memory_mb = *vcores = 0;
}

const struct map *app_nodes(void *app)
{
    (void)app;
    return NULL;
}

void app_node_log(void *app, const struct face_log *what,
                  void (*done)(void *arg, const struct face_log_piece *piece, const struct err_info *why),
                  void *arg)
{
    (void)obj_cast(app, struct app, APP_MAGIC);
    (void)what;
    (void)done;
    (void)arg;
}

bool app_explain(void *app, const struct eng_service *s,
                 void (*done)(void *arg, const json_t *list, const struct err_info *why), void *arg)
{
    (void)obj_cast(app, struct app, APP_MAGIC);
    (void)s;
    (void)done;
    (void)arg;
    return false;
}

void app_registry_node(void *app, const char *path, const char *user, app_remote_done *done, void *arg)
{
    (void)obj_cast(app, struct app, APP_MAGIC);
    (void)path;
    (void)user;
    (void)done;
    (void)arg;
}

/* ---- the desk ---- */

static int set_up(void **state)
{
    static const struct metric_def rows[] = {METRICS_ROWS(SVCMGR_METRICS)};
    static const struct outage_def state_outage = {
        "state",    &ev_state_not_written, &ev_state_still_not_written, &ev_state_written_again,
        M_STATE_UP, M_STATE_SINCE};
    const struct engine_config config = {
        .dialect = dialect_find("seed"), .cluster_ts = 1, .queue = "default"};

    desk = mem_new(struct desk);
    desk->is_held = true;
    desk->loop = desk->app.loop = run_loop_new();
    desk->metrics = metrics_new(rows, ARRAY_LEN(rows));
    desk->needs = outages_new(desk->metrics);
    desk->app.state_outage = outage_new(desk->needs, &state_outage);
    desk->app.state_url = (char *)"file:/state";
    obj_init(&desk->app.obj, APP_MAGIC);
    desk->app.face.waits = waits_new(desk->loop);
    queue_init(&desk->app.queue);
    TAILQ_INIT(&desk->app.steps);
    TAILQ_INIT(&desk->app.callers);
    desk->app.write_retry_ms = 50;
    clock_begin(&desk->app.clock, run_boot_ms(), run_wall_ms());
    assert_int_equal(engine_new(&config, &desk->app.engine, NULL), 0);
    app_event(&desk->app, &(struct eng_event){.kind = EV_RESUME});
    ends(STATE_WRITTEN, 0); /* the document of the engine */
    *state = desk;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    desk->app.is_ending = true;
    app_cancel_callers(&desk->app);
    app_drop_steps(&desk->app);
    engine_free(desk->app.engine);
    buf_fini(&desk->app.clock_text);
    waits_free(desk->app.face.waits);
    outages_free(desk->needs);
    metrics_free(desk->metrics);
    run_loop_free(desk->loop);
    free(desk);
    return 0;
}

static void on_answered(void *arg, const struct eng_answer *answer)
{
    size_t at = strlen(desk->story);

    (void)arg;
    snprintf(desk->reason, sizeof desk->reason, "%s", answer->reason ? answer->reason : "");
    snprintf(desk->story + at, sizeof desk->story - at, "%d:%s ", (int)answer->token,
             eng_outcome_word(answer->outcome));
}

/** A request as the faces hand it over, with a token. */
static void ask(int token, struct eng_event ev)
{
    struct app_caller *w = mem_new(struct app_caller);

    w->token = ev.token = (uint64_t)token;
    w->answered = on_answered;
    TAILQ_INSERT_TAIL(&desk->app.callers, w, link);
    ev.user = "alice";
    queue_push(&desk->app.queue, &ev, 1);
    app_pump(&desk->app);
}

static void create(int token, const char *name)
{
    mem_auto char *text = mem_fmt("{\"name\":\"%s\",\"version\":\"1\",\"components\":[]}", name);
    struct spec_service *spec = NULL;

    assert_int_equal(spec_read(text, strlen(text), &spec, NULL, NULL), 0);
    ask(token, (struct eng_event){.kind = EV_CREATE, .take_spec = spec, .save = true});
}

static bool any_path(void *arg, const char *path)
{
    (void)arg;
    (void)path;
    return true;
}

/** A service that is started, of so many instances. */
static void launch(int token, const char *name, int n)
{
    struct spec_world world = {.dialect = dialect_find("seed"), .local = true, .path_exists = any_path};
    mem_auto char *text = mem_fmt("{\"name\":\"%s\",\"version\":\"1\",\"components\":[{\"name\":\"c\","
                                  "\"number_of_containers\":%d,\"launch_command\":\"x\","
                                  "\"resource\":{\"cpus\":1,\"memory\":\"64\"}}]}",
                                  name, n);
    struct spec_service *spec = NULL;

    assert_int_equal(spec_read(text, strlen(text), &spec, NULL, NULL), 0);
    assert_int_equal(spec_complete(spec, "alice", &world, NULL), 0);
    ask(token, (struct eng_event){.kind = EV_CREATE, .take_spec = spec});
}

static void start(int token, const char *name)
{
    ask(token, (struct eng_event){.kind = EV_START, .name = name});
}

static const struct eng_service *service(const char *name)
{
    return engine_find(desk->app.engine, KIND_SERVICE, "alice", name);
}

#define assert_story(text) assert_string_equal(desk->story, text)

/* ---- cases ---- */

static void an_answer_waits_for_its_write_and_what_comes_meanwhile_is_one_write(void **state)
{
    (void)state;
    create(1, "a");
    create(2, "b");
    create(3, "c");
    assert_story("");
    assert_string_equal(desk->docs, "services/alice/a clock ");
    ends(STATE_WRITTEN, 0);
    assert_story("1:OUT_SAVED ");
    assert_string_equal(desk->docs, "services/alice/b services/alice/c clock ");
    ends(STATE_WRITTEN, 0);
    assert_story("1:OUT_SAVED 2:OUT_SAVED 3:OUT_SAVED ");
    assert_null(desk->done);
}

/** What came while a write was under way is not all done in one turn of the loop, which has other things to do. */
static void a_long_queue_is_worked_off_in_turns(void **state)
{
    (void)state;
    struct eng_event exit = {.kind = EV_EXITED, .container_id = "container_1_0001_01_000001"};
    size_t n_turns = 0;

    create(1, "a");
    for (int i = 0; i < 1000; i++)
        app_event(&desk->app, &exit);
    ends(STATE_WRITTEN, 0);
    assert_story("1:OUT_SAVED ");
    for (; queue_first(&desk->app.queue); n_turns++)
        uv_run(run_loop_uv(desk->loop), UV_RUN_ONCE);
    assert_in_range(n_turns, 10, 200);
    assert_null(desk->done);
}

/** The containers of a large service are asked for in one step; the loop does other things in between all the same. */
static void the_effects_of_a_large_step_are_carried_out_in_turns(void **state)
{
    (void)state;
    size_t n_turns = 0;

    launch(1, "a", 100);
    ends(STATE_WRITTEN, 0);
    app_event(&desk->app, &(struct eng_event){.kind = EV_TIMER, .user = "alice", .name = "a"});
    size_t n_all = TAILQ_FIRST(&desk->app.steps)->effects.n, before = desk->n_carried_out;
    ends(STATE_WRITTEN, 0);
    assert_in_range(desk->n_carried_out - before, 1, n_all - 1);
    for (; !TAILQ_EMPTY(&desk->app.steps); n_turns++)
        uv_run(run_loop_uv(desk->loop), UV_RUN_ONCE);
    assert_int_equal(desk->n_carried_out - before, n_all);
    assert_in_range(n_turns, 1, n_all / 10);
}

static void a_second_request_of_a_service_waits_for_the_first(void **state)
{
    (void)state;
    create(1, "x");
    create(2, "a");
    start(3, "a");
    start(4, "x");
    ends(STATE_WRITTEN, 0); /* x is made; a is stepped, its start and all behind it are not */
    assert_string_equal(desk->docs, "services/alice/a clock ");
    assert_int_equal(service("x")->state, SVC_STOPPED);
    ends(STATE_FAILED, ERR_NOSPC);
    assert_story("1:OUT_SAVED 2:OUT_STORE_FAILED 3:OUT_STORE_FAILED 4:OUT_STORE_FAILED ");
    assert_string_equal(desk->reason, "the test says so"); /* also to the last, which had not begun */
    assert_null(service("a"));
    assert_int_equal(service("x")->state, SVC_STOPPED);
    assert_int_equal(desk->n_effects, 0);
}

static void what_is_refused_together_is_tried_alone(void **state)
{
    (void)state;
    create(1, "x");
    create(2, "a");
    create(3, "b");
    create(4, "c");
    ends(STATE_WRITTEN, 0);
    assert_string_equal(desk->docs, ""
                                    "services/alice/a services/alice/b services/alice/c clock ");
    ends(STATE_REFUSED, ERR_TOOBIG);
    assert_string_equal(desk->docs, "services/alice/a clock ");
    ends(STATE_WRITTEN, 0);
    assert_string_equal(desk->docs, "services/alice/b clock ");
    ends(STATE_REFUSED, ERR_TOOBIG);
    assert_string_equal(desk->docs, "services/alice/c clock ");
    ends(STATE_WRITTEN, 0);
    assert_story("1:OUT_SAVED 2:OUT_SAVED 3:OUT_TOO_LARGE 4:OUT_SAVED ");
    assert_non_null(service("a"));
    assert_null(service("b"));
    assert_non_null(service("c"));
    assert_null(desk->done);
}

static void a_fact_that_was_not_written_is_written_later(void **state)
{
    (void)state;
    create(1, "a");
    ends(STATE_WRITTEN, 0);
    start(2, "a");
    ends(STATE_WRITTEN, 0);
    size_t n_effects = desk->n_effects;
    app_event(&desk->app,
              &(struct eng_event){.kind = EV_TIMER, .user = "alice", .name = "a"}); /* ACCEPTED to STARTED */
    create(3, "b");
    ends(STATE_FAILED, ERR_NOSPC);
    assert_story("1:OUT_SAVED 2:OUT_STARTED 3:OUT_STORE_FAILED ");
    assert_string_equal(desk->reason, "the test says so"); /* its step was taken back */
    assert_null(service("b"));
    await_write();
    assert_string_equal(desk->docs, "services/alice/a clock ");
    ends(STATE_WRITTEN, 0);
    assert_true(desk->n_effects >= n_effects);
    assert_null(desk->done);
    assert_false(outage_lasts(desk->app.state_outage));
}

static void a_store_that_failed_is_asked_until_it_works_and_requests_are_tried_with_it(void **state)
{
    (void)state;
    create(1, "a");
    ends(STATE_FAILED, ERR_NOSPC);
    assert_true(outage_lasts(desk->app.state_outage));
    await_write();
    assert_string_equal(desk->docs, "clock ");
    ends(STATE_FAILED, ERR_NOSPC);
    create(2, "b");
    await_write();
    assert_string_equal(desk->docs, "services/alice/b clock ");
    ends(STATE_WRITTEN, 0);
    assert_story("1:OUT_STORE_FAILED 2:OUT_SAVED ");
    assert_false(outage_lasts(desk->app.state_outage));
}

/** One write of unknown outcome, with a request in it and one that waits. */
static void lose_an_answer(void)
{
    create(1, "a");
    create(2, "b");
    ends(STATE_UNKNOWN, ERR_UNKNOWN_OUTCOME);
    assert_story("1:OUT_UNKNOWN 2:OUT_BUSY ");
    assert_true(desk->app.is_unknown);
    await_write();
    assert_int_equal(desk->n_asked, 1); /* it is found out before anything else is written */
    ends(STATE_UNKNOWN, ERR_UNAVAILABLE);
    await_write();
    assert_int_equal(desk->n_asked, 2);
}

static void an_unknown_write_that_was_done_stays(void **state)
{
    (void)state;
    lose_an_answer();
    ends(STATE_WRITTEN, 0);
    assert_non_null(service("a"));
    assert_null(service("b"));
    assert_false(desk->app.is_unknown);
    assert_story("1:OUT_UNKNOWN 2:OUT_BUSY "); /* no second answer */
}

static void an_unknown_write_that_was_not_done_is_taken_back(void **state)
{
    (void)state;
    lose_an_answer();
    ends(STATE_FAILED, ERR_UNAVAILABLE);
    assert_null(service("a"));
    assert_false(desk->app.is_unknown);
    await_write();
    ends(STATE_WRITTEN, 0);
    create(3, "a");
    ends(STATE_WRITTEN, 0);
    assert_story("1:OUT_UNKNOWN 2:OUT_BUSY 3:OUT_SAVED ");
}

static void nothing_is_done_without_the_lease(void **state)
{
    (void)state;
    create(1, "a");
    desk->is_held = false; /* the write took longer than the lease */
    ends(STATE_WRITTEN, 0);
    assert_story("");
    assert_non_null(desk->done); /* the lease is asked for */
    create(2, "b");
    ends(STATE_WRITTEN, 0);
    assert_story("");
    desk->is_held = true;
    ends(STATE_WRITTEN, 0);
    assert_story("1:OUT_SAVED ");
    ends(STATE_WRITTEN, 0);
    assert_story("1:OUT_SAVED 2:OUT_SAVED ");
}

static void who_is_fenced_does_nothing_more(void **state)
{
    (void)state;
    create(1, "a");
    ends(STATE_FENCED, ERR_CONFLICT);
    assert_true(desk->is_fenced);
    app_event(&desk->app, &(struct eng_event){.kind = EV_TIMER, .user = "alice", .name = "a"});
    app_renew(&desk->app);
    assert_null(desk->done);
    assert_story("");
}

static void a_service_is_taken_back_when_no_step_is_under_way(void **state)
{
    (void)state;
    create(1, "a");
    desk->has_ended = true;
    create(2, "b"); /* waits for that */
    assert_false(desk->is_taking);
    ends(STATE_WRITTEN, 0);
    assert_story("1:OUT_SAVED ");
    assert_true(desk->is_taking);
    app_renew(&desk->app);
    assert_null(desk->done); /* the state is busy */
    desk->is_taking = false;
    app_pump(&desk->app);
    ends(STATE_WRITTEN, 0);
    assert_story("1:OUT_SAVED 2:OUT_SAVED ");
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(an_answer_waits_for_its_write_and_what_comes_meanwhile_is_one_write),
        CASE(a_long_queue_is_worked_off_in_turns),
        CASE(the_effects_of_a_large_step_are_carried_out_in_turns),
        CASE(a_second_request_of_a_service_waits_for_the_first),
        CASE(what_is_refused_together_is_tried_alone),
        CASE(a_fact_that_was_not_written_is_written_later),
        CASE(a_store_that_failed_is_asked_until_it_works_and_requests_are_tried_with_it),
        CASE(an_unknown_write_that_was_done_stays),
        CASE(an_unknown_write_that_was_not_done_is_taken_back),
        CASE(nothing_is_done_without_the_lease),
        CASE(who_is_fenced_does_nothing_more),
        CASE(a_service_is_taken_back_when_no_step_is_under_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/**
 * The applications of a manager, svcmgr/app_applications.h, with a resource manager that answers what the test says: what is submitted and
 * when, what the engine hears, and what becomes of an application that ends. Submission, options and engine are the test's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/mem.h"
#include "spec/spec.h"
#include "svcmgr/app.h"
#include "svcmgr/app_applications.h"
#include "svcmgr/app_files.h"
#include "svcmgr/app_master.h"

static struct desk {
    struct app app;
    struct applications *all;
    struct spec_service spec;
    struct spec_config configuration;
    struct eng_service service;
    char dir[64];
    char story[1024]; /* what the resource manager is asked, what the engine hears */
    char program[256], site[256];
    int64_t memory_mb;
    submit_done *done; /* of the operation under way */
    void (*changed)(void *arg, const struct submit_report *report);
    void *done_arg, *changed_arg;
    size_t n_pumped, n_closed;
    int site_err, start_err;
} * desk;

static void say(const char *word, const char *text)
{
    size_t at = strlen(desk->story);

    snprintf(desk->story + at, sizeof desk->story - at, "%s%s%s ", word, text ? ":" : "", text ? text : "");
}

#define assert_story(text)                                                                                   \
    do {                                                                                                     \
        assert_string_equal(desk->story, text);                                                              \
        desk->story[0] = '\0';                                                                               \
    } while (0)

/* ---- the resource manager ---- */

int submit_open(struct run_loop *loop, const struct submit_config *config, struct submit **out,
                struct err_info *why)
{
    (void)loop;
    (void)config;
    (void)why;
    *out = (struct submit *)desk;
    return 0;
}

void submit_close(struct submit *s, void (*closed)(void *arg), void *arg)
{
    (void)s;
    closed(arg);
}

static struct submit_op *begin(submit_done *done, void *arg)
{
    assert_null(desk->done);
    desk->done = done;
    desk->done_arg = arg;
    return (struct submit_op *)&desk->done;
}

int submit_start(struct submit *s, const struct submit_def *def, submit_done *done, void *arg,
                 struct submit_op **out, struct err_info *why)
{
    (void)s;
    if (desk->start_err)
        return err_set(why, desk->start_err, NULL, "no such queue");
    say("start", def->queue);
    snprintf(desk->program, sizeof desk->program, "%s", def->launch.resources[0].url);
    snprintf(desk->site, sizeof desk->site, "%s", def->launch.resources[1].url);
    desk->memory_mb = def->memory_mb;
    *out = begin(done, arg);
    return 0;
}

struct submit_op *submit_kill(struct submit *s, const struct submit_target *target, const char *diagnostics,
                              submit_done *done, void *arg)
{
    (void)s;
    (void)target;
    say("kill", diagnostics);
    return begin(done, arg);
}

struct submit_op *submit_set_lifetime(struct submit *s, const struct submit_target *target,
                                      int64_t lifetime_s, submit_done *done, void *arg)
{
    mem_auto char *text = mem_fmt("%lld", (long long)lifetime_s);

    (void)s;
    assert_non_null(target->id);
    say("lifetime", text);
    return begin(done, arg);
}

struct submit_op *submit_watch(struct submit *s, const struct submit_target *target,
                               void (*changed)(void *arg, const struct submit_report *report), void *arg)
{
    (void)s;
    assert_non_null(target->id);
    assert_null(desk->changed);
    say("watch", NULL);
    desk->changed = changed;
    desk->changed_arg = arg;
    return (struct submit_op *)&desk->changed;
}

void submit_cancel(struct submit_op *op)
{
    if (op == (struct submit_op *)&desk->changed)
        desk->changed = NULL;
    else
        desk->done = NULL;
}

static const struct yarn_app_id app_id = {.cluster_timestamp = 1700000000000, .id = 7};
#define APP_ID "application_1700000000000_0007"

/** The operation under way ends so. */
static void answer(int err, const struct yarn_app_id *id)
{
    struct err_info why = {.code = err, .text = "the queue is stopped"};
    submit_done *done = desk->done;

    assert_non_null(done);
    desk->done = NULL;
    done(desk->done_arg, &(struct submit_result){.err = err, .why = &why, .id = id, .is_new = true});
}

static void report(enum submit_state state, enum submit_final final, bool has_ended, const char *diagnostics)
{
    const struct submit_report r = {.id = app_id,
                                    .state = state,
                                    .final = final,
                                    .has_ended = has_ended,
                                    .diagnostics = (char *)diagnostics};

    assert_non_null(desk->changed);
    desk->changed(desk->changed_arg, &r);
}

/* ---- the engine, the options ---- */

const struct eng_service *engine_find(const struct engine *e, enum eng_kind kind, const char *user,
                                      const char *name)
{
    (void)e;
    (void)kind;
    return strcmp(user, "alice") == 0 && strcmp(name, "web") == 0 ? &desk->service : NULL;
}

struct eng_exit eng_exit_of(enum eng_exit_cause cause, int64_t raw, const char *text)
{
    return (struct eng_exit){.cause = cause, .raw = raw, .text = (char *)text};
}

void app_event(struct app *a, struct eng_event *ev)
{
    (void)a;
    if (ev->kind == EV_SUBMITTED)
        say(ev->code ? "refused" : "submitted", ev->code ? ev->text : ev->application_id);
    else if (ev->kind == EV_APP_WAITS)
        say("waits", ev->text);
    else
        say("ended", NULL);
}

void app_pump(struct app *a)
{
    (void)a;
    desk->n_pumped++;
}

int app_master_site(const struct app *a, const struct eng_service *s, struct buf *out, struct err_info *why)
{
    (void)a;
    (void)s;
    if (desk->site_err)
        return err_set(why, desk->site_err, NULL, "a value has a NUL");
    buf_add_str(out, "<configuration/>");
    return 0;
}

const struct options *daemon_options(struct daemon *d)
{
    (void)d;
    return NULL;
}

/* Without HDFS: files are served by HTTP. */

char *app_files_directory(const struct app *a, enum eng_kind kind, const char *user, const char *name)
{
    (void)a;
    (void)kind;
    (void)user;
    (void)name;
    return NULL;
}

struct fs_call *app_files_remove(struct app *a, const char *directory, const char *user,
                                 void (*done)(void *arg, int err, const struct fs_status *status,
                                              const struct err_info *why),
                                 void *arg)
{
    (void)a;
    (void)directory;
    (void)user;
    (void)done;
    (void)arg;
    fail_msg("nothing is to be removed");
    return NULL;
}

const char *app_hadoop_key(const struct options *o, const char *key)
{
    (void)o;
    return strcmp(key, "yarn.service.am-resource.memory") == 0 ? "96" : NULL;
}

struct fs_conf app_fs_conf(const struct options *o)
{
    (void)o;
    return (struct fs_conf){.get = NULL};
}

char *app_files_url(const struct app *a)
{
    (void)a;
    return mem_str("http://manager/files");
}

static const char *text_of_key(void *arg, const char *key)
{
    (void)arg;
    return strcmp(key, "yarn.resourcemanager.address") == 0 ? "127.0.0.1:8032" : NULL;
}

struct yarn_keys app_yarn_keys(const struct options *const *o)
{
    (void)o;
    return (struct yarn_keys){.text = text_of_key};
}

/* ---- the desk ---- */

static void pack(void)
{
    struct submit_package package = {.path = mem_str("/am-feed.tar.gz"), .hash = "feed", .size = 9};

    applications_packed(desk->all, &package);
    assert_null(package.path);
}

static int set_up_unpacked(void **state)
{
    desk = mem_new(struct desk);
    strcpy(desk->dir, "/tmp/applications-XXXXXX");
    assert_non_null(mkdtemp(desk->dir));
    desk->app.state_url = (char *)"zk://there/bobbin";
    desk->app.engine = (struct engine *)desk;
    desk->spec.configuration = &desk->configuration;
    desk->service = (struct eng_service){.kind = KIND_SERVICE,
                                         .user = (char *)"alice",
                                         .name = (char *)"web",
                                         .spec = &desk->spec,
                                         .incarnation = 1};
    assert_int_equal(applications_open(&desk->app, desk->dir, &desk->all, NULL), 0);
    *state = desk;
    return 0;
}

static int set_up(void **state)
{
    set_up_unpacked(state);
    pack();
    return 0;
}

static void on_closed(void *arg)
{
    ((struct desk *)arg)->n_closed++;
}

static int tear_down(void **state)
{
    (void)state;
    mem_auto char *secret = mem_fmt("rm -r %s", desk->dir);
    applications_close(desk->all, on_closed, desk);
    assert_int_equal(desk->n_closed, 1);
    assert_null(desk->done); /* cancelled */
    assert_null(desk->changed);
    assert_int_equal(system(secret), 0);
    free(desk);
    return 0;
}

typedef void carry_out(struct applications *all, const struct eng_effect *e);

static void effect(carry_out *fn, int64_t incarnation)
{
    struct eng_application application = {.incarnation = incarnation,
                                          .queue = (char *)"root.batch",
                                          .lifetime_s = 60,
                                          .diagnostics = (char *)"stopped"};

    fn(desk->all, &(struct eng_effect){.service_kind = KIND_SERVICE,
                                       .user = (char *)"alice",
                                       .name = (char *)"web",
                                       .application = &application});
}

/** It is submitted, and has its id. */
static void submitted(void)
{
    effect(applications_submit, 1);
    answer(0, &app_id);
    assert_story("start:root.batch submitted:" APP_ID " watch ");
}

/* ---- cases ---- */

static void what_comes_before_the_program_is_packed_is_submitted_then(void **state)
{
    (void)state;
    effect(applications_submit, 1);
    assert_story("");
    pack();
    assert_story("start:root.batch ");
    assert_string_equal(desk->program, "http://manager/files/feed/am-feed.tar.gz");
    assert_non_null(strstr(desk->site, "/yarn-site.xml"));
    assert_int_equal(desk->memory_mb, 96);
}

static void what_ends_before_the_program_is_packed_is_not_submitted(void **state)
{
    (void)state;
    effect(applications_submit, 1);
    effect(applications_finish, 1);
    pack();
    assert_story("kill:stopped ");
}

static void it_is_submitted_once(void **state)
{
    (void)state;
    effect(applications_submit, 1);
    effect(applications_submit, 1);
    answer(0, &app_id);
    effect(applications_submit, 1);
    assert_story("start:root.batch submitted:" APP_ID " watch ");
    effect(applications_submit, 2); /* of an incarnation that the service does not have */
    assert_story("");
}

static void a_refusal_is_the_engines_to_hear(void **state)
{
    (void)state;
    effect(applications_submit, 1);
    answer(ERR_INVALID, NULL);
    assert_story("start:root.batch refused:the queue is stopped ");
    desk->start_err = ERR_INVALID;
    effect(applications_submit, 1);
    assert_story("refused:no such queue ");
    desk->site_err = ERR_INVALID;
    effect(applications_submit, 1);
    assert_story("refused:a value has a NUL ");
}

static void what_it_waits_for_is_said_until_it_runs(void **state)
{
    (void)state;
    submitted();
    report(SUBMIT_NEW, SUBMIT_UNDEFINED, false, NULL);
    report(SUBMIT_ACCEPTED, SUBMIT_UNDEFINED, false, "The limit is reached.  Details : AM = 1");
    report(SUBMIT_RUNNING, SUBMIT_UNDEFINED, false, NULL);
    assert_story("waits:NEW waits:The limit is reached. waits ");
}

static void one_that_has_ended_is_kept_until_it_is_forgotten(void **state)
{
    (void)state;
    submitted();
    assert_null(applications_ended(desk->all));
    report(SUBMIT_KILLED, SUBMIT_WAS_KILLED, true, "killed by bob");
    assert_null(desk->changed); /* nothing more comes */
    assert_int_equal(desk->n_pumped, 1);
    assert_int_equal(applications_n_ended(desk->all), 1);
    struct application *m = applications_ended(desk->all);
    const struct eng_event ev = applications_end_of(m);
    assert_int_equal(ev.kind, EV_APP_ENDED);
    assert_string_equal(ev.name, "web");
    assert_int_equal(ev.incarnation, 1);
    assert_int_equal(ev.exit.cause, CAUSE_STOPPED);
    assert_string_equal(ev.exit.text, "killed by bob");
    applications_forget(m);
    assert_int_equal(applications_n_ended(desk->all), 0);
    assert_null(applications_ended(desk->all));
}

static void another_incarnation_takes_the_place_of_an_earlier_one(void **state)
{
    (void)state;
    submitted();
    char first[sizeof desk->site];
    strcpy(first, desk->site);
    report(SUBMIT_FAILED, SUBMIT_HAS_FAILED, true, "too many attempts");
    desk->service.incarnation = 2;
    effect(applications_submit, 2);
    assert_int_equal(applications_n_ended(desk->all), 0);
    assert_story("start:root.batch ");
    assert_string_not_equal(desk->site, first);
}

static void a_kill_that_finds_no_application_is_its_end(void **state)
{
    (void)state;
    effect(applications_finish, 1);
    effect(applications_finish, 1); /* under way */
    answer(0, NULL);
    assert_story("kill:stopped ");
    assert_int_equal(applications_n_ended(desk->all), 1);
}

static void a_kill_that_finds_one_waits_for_its_end(void **state)
{
    (void)state;
    effect(applications_finish, 1);
    answer(0, &app_id);
    assert_story("kill:stopped watch ");
    report(SUBMIT_KILLED, SUBMIT_WAS_KILLED, true, "stopped");
    assert_int_equal(applications_n_ended(desk->all), 1);
    effect(applications_finish, 1);
    assert_story("");
}

static void a_lifetime_is_set_when_there_is_an_id(void **state)
{
    (void)state;
    effect(applications_set_lifetime, 1);
    assert_story("");
    submitted();
    effect(applications_set_lifetime, 1);
    effect(applications_set_lifetime, 1); /* the first is cancelled */
    answer(ERR_NOTFOUND, NULL);
    assert_story("lifetime:60 lifetime:60 ");
}

static void one_that_was_loaded_is_watched(void **state)
{
    (void)state;
    desk->service.app_id = (char *)APP_ID;
    applications_resume(desk->all, &desk->service);
    effect(applications_submit, 1); /* it is there */
    assert_story("watch ");
}

static void how_it_ended_is_said_in_the_engines_words(void **state)
{
    static const struct {
        enum submit_state state;
        enum submit_final final;
        const char *diagnostics;
        enum eng_exit_cause cause;
        const char *text;
    } rows[] = {
        {SUBMIT_FINISHED, SUBMIT_SUCCEEDED, "all done", CAUSE_EXITED, "all done"},
        {SUBMIT_FINISHED, SUBMIT_ENDED, "N/A", CAUSE_STOPPED, ""},
        {SUBMIT_FINISHED, SUBMIT_HAS_FAILED, "one failed", CAUSE_APPLICATION_ENDED, "one failed"},
        {SUBMIT_KILLED, SUBMIT_WAS_KILLED, "by bob", CAUSE_STOPPED, "by bob"},
        {SUBMIT_FAILED, SUBMIT_HAS_FAILED, "AM exited", CAUSE_APPLICATION_ENDED, "AM exited"},
        {SUBMIT_UNKNOWN, SUBMIT_UNDEFINED, NULL, CAUSE_APPLICATION_ENDED,
         "the resource manager does not know the application any more"},
        {SUBMIT_UNKNOWN, SUBMIT_UNDEFINED, "was here", CAUSE_APPLICATION_ENDED, "was here"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct submit_report r = {.state = rows[i].state,
                                        .final = rows[i].final,
                                        .has_ended = true,
                                        .diagnostics = (char *)rows[i].diagnostics};
        struct eng_exit exit = applications_exit(&r);
        assert_int_equal(exit.cause, rows[i].cause);
        assert_string_equal(exit.text, rows[i].text);
        free(exit.text);
    }
}

static void a_key_is_the_services_then_the_sites_then_the_default(void **state)
{
    json_t *own = json_pack("{s:s, s:s, s:s, s:i}", "a", "5", "b", "", "c", "much", "d", 4);

    (void)state;
    assert_string_equal(applications_property(own, "6", "a", "7"), "5");
    assert_string_equal(applications_property(own, "6", "b", "7"), "6");
    assert_string_equal(applications_property(own, "", "e", "7"), "7");
    assert_null(applications_property(NULL, NULL, "a", NULL));
    assert_int_equal(applications_number(own, NULL, "a", "7"), 5);
    assert_int_equal(applications_number(own, NULL, "c", "7"), 7);  /* no number */
    assert_int_equal(applications_number(own, "-2", "e", "7"), 7);  /* out of range */
    assert_int_equal(applications_number(own, "-1", "d", "7"), -1); /* no text */
    json_decref(own);
}

#define CASE(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_comes_before_the_program_is_packed_is_submitted_then,
                                        set_up_unpacked, tear_down),
        cmocka_unit_test_setup_teardown(what_ends_before_the_program_is_packed_is_not_submitted,
                                        set_up_unpacked, tear_down),
        CASE(it_is_submitted_once),
        CASE(a_refusal_is_the_engines_to_hear),
        CASE(what_it_waits_for_is_said_until_it_runs),
        CASE(one_that_has_ended_is_kept_until_it_is_forgotten),
        CASE(another_incarnation_takes_the_place_of_an_earlier_one),
        CASE(a_kill_that_finds_no_application_is_its_end),
        CASE(a_kill_that_finds_one_waits_for_its_end),
        CASE(a_lifetime_is_set_when_there_is_an_id),
        CASE(one_that_was_loaded_is_watched),
        cmocka_unit_test(how_it_ended_is_said_in_the_engines_words),
        cmocka_unit_test(a_key_is_the_services_then_the_sites_then_the_default),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

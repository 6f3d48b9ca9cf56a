/**
 * svcmgr as the manager of applications, svcmgr/app_manager.h: what masters have written reaches the engine, and services whose applications
 * have ended are taken back. The store, the applications and the engine are the test's.
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
#include "cluster/elsewhere.h"
#include "svcmgr/app.h"
#include "svcmgr/app_applications.h"
#include "svcmgr/app_manager.h"

static struct desk {
    struct app app;
    const struct state_follow_ops *ops;
    void *ops_arg;
    struct eng_service service;
    bool is_away, has_ended, is_fenced;
    /* a service that is being taken back */
    void (*document)(void *arg, const char *key, const char *bytes, size_t len);
    void (*taken)(void *arg, int err, const struct err_info *why);
    void *taken_arg;
    char dir[32];
    char story[1024];
    void (*packed)(void *arg, int err, struct submit_package *take_package, const struct err_info *why);
    void *packed_arg;
} * desk;

static void say(const char *word, const char *text)
{
    size_t at = strlen(desk->story);

    snprintf(desk->story + at, sizeof desk->story - at, "%s%s ", word, text);
}

#define assert_story(text)                                                                                   \
    do {                                                                                                     \
        assert_string_equal(desk->story, text);                                                              \
        desk->story[0] = '\0';                                                                               \
    } while (0)

/* ---- the store ---- */

int state_follow(struct state *s, const struct state_follow_ops *ops, void *arg, struct err_info *why)
{
    (void)s;
    (void)why;
    desk->ops = ops;
    desk->ops_arg = arg;
    return 0;
}

void state_take_back(struct state *s, const char *service, int64_t attempt,
                     void (*document)(void *arg, const char *key, const char *bytes, size_t len),
                     void (*done)(void *arg, int err, const struct err_info *why), void *arg)
{
    (void)s;
    (void)attempt;
    say("take:", service);
    desk->document = document;
    desk->taken = done;
    desk->taken_arg = arg;
}

static void wrote(const char *key, const char *text)
{
    desk->ops->changed(desk->ops_arg, key, text, text ? strlen(text) : 0);
}

static void taken(int err)
{
    struct err_info why = {.code = err};

    desk->taken(desk->taken_arg, err, &why);
}

/* ---- the applications ---- */

int applications_open(struct app *a, const char *dir, struct applications **out, struct err_info *why)
{
    (void)a;
    (void)dir;
    (void)why;
    *out = (struct applications *)desk;
    return 0;
}

void applications_close(struct applications *all, void (*closed)(void *arg), void *arg)
{
    (void)all;
    closed(arg);
}

struct submit_files *applications_files(struct applications *all)
{
    (void)all;
    return NULL;
}

void applications_packed(struct applications *all, struct submit_package *take_package)
{
    (void)all;
    (void)take_package;
}

void applications_submit(struct applications *all, const struct eng_effect *e)
{
    (void)all;
    say("submit:", e->name);
}

void applications_finish(struct applications *all, const struct eng_effect *e)
{
    (void)all;
    say("finish:", e->name);
}

void applications_set_lifetime(struct applications *all, const struct eng_effect *e)
{
    (void)all;
    say("lifetime:", e->name);
}

void applications_resume(struct applications *all, const struct eng_service *s)
{
    (void)all;
    say("resume:", s->name);
}

size_t applications_n_ended(const struct applications *all)
{
    (void)all;
    return desk->has_ended;
}

struct application *applications_ended(const struct applications *all)
{
    (void)all;
    return desk->has_ended ? (struct application *)desk : NULL;
}

struct eng_event applications_end_of(const struct application *m)
{
    (void)m;
    return (struct eng_event){.kind = EV_APP_ENDED, .user = "alice", .name = "web", .incarnation = 1};
}

void applications_forget(struct application *take_m)
{
    (void)take_m;
    desk->has_ended = false;
}

/* ---- the engine and the world ---- */

const struct eng_service *engine_find(const struct engine *e, enum eng_kind kind, const char *user,
                                      const char *name)
{
    (void)e;
    (void)kind;
    (void)user;
    (void)name;
    return &desk->service;
}

bool engine_is_away(const struct engine *e, const struct eng_service *s)
{
    (void)e;
    (void)s;
    return desk->is_away;
}

const struct eng_service **engine_list(const struct engine *e, const char *user)
{
    const struct eng_service **list = mem_array(2, sizeof *list);

    (void)e;
    (void)user;
    list[0] = &desk->service;
    return list;
}

char *engine_service_key(const struct eng_service *s)
{
    return mem_fmt("services/%s/%s", s->user, s->name);
}

const struct eng_service *engine_service_of_key(const struct engine *e, const char *key)
{
    (void)e;
    return strncmp(key, "services/alice/web", strlen("services/alice/web")) == 0 ? &desk->service : NULL;
}

void engine_take_back(struct engine *e, enum eng_kind kind, const char *user, const char *name)
{
    (void)e;
    (void)kind;
    (void)user;
    say("begin:", name);
}

int engine_load(struct engine *e, const char *key, const char *bytes, size_t len, struct err_info *why)
{
    (void)e;
    (void)why;
    assert_int_equal(strlen(bytes), len);
    say("load:", key);
    return 0;
}

void engine_taken_back(struct engine *e, enum eng_kind kind, const char *user, const char *name)
{
    (void)e;
    (void)kind;
    (void)user;
    say("end:", name);
}

const char *eng_exit_cause_word(enum eng_exit_cause cause)
{
    (void)cause;
    return "";
}

void app_event(struct app *a, struct eng_event *ev)
{
    (void)a;
    assert_int_equal(ev->kind, EV_FOLLOWED);
    say(ev->text ? "" : "-", ev->key);
}

void queue_push(struct queue *q, struct eng_event *ev, size_t n_bytes)
{
    (void)q;
    (void)n_bytes;
    assert_int_equal(ev->kind, EV_APP_ENDED);
    say("ended:", ev->name);
}

void app_pump(struct app *a)
{
    (void)a;
}

void app_retry_later(struct app *a)
{
    (void)a;
    say("later", "");
}

void app_follow_lost(struct app *a, const struct err_info *why)
{
    (void)a;
    say(why ? "lost" : "back", "");
}

void app_fenced(struct app *a, const struct err_info *why)
{
    (void)a;
    (void)why;
    desk->is_fenced = true;
}

void app_fail(struct app *a, int err, const struct err_info *why)
{
    (void)a;
    (void)why;
    fail_msg("app_fail %d", err);
}

const struct cluster_ops app_cluster_ops;

const struct options *daemon_options(struct daemon *d)
{
    (void)d;
    return NULL;
}

struct fs_conf app_fs_conf(const struct options *o)
{
    (void)o;
    return (struct fs_conf){.get = NULL};
}

struct cluster *cluster_elsewhere_open(struct run_loop *loop, const struct fs_conf *fs,
                                       struct http_client *http, const char *name,
                                       const struct cluster_ops *ops, void *ops_arg)
{
    (void)loop;
    (void)fs;
    (void)http;
    (void)name;
    (void)ops;
    (void)ops_arg;
    return NULL;
}

void submit_package_start(struct run_loop *loop, const char *dir,
                          void (*done)(void *arg, int err, struct submit_package *take_package,
                                       const struct err_info *why),
                          void *arg)
{
    (void)loop;
    (void)dir;
    desk->packed = done;
    desk->packed_arg = arg;
}

void submit_package_fini(struct submit_package *p)
{
    free(p->path);
    *p = (struct submit_package){0};
}

/* ---- the desk ---- */

static int set_up(void **state)
{
    desk = mem_new(struct desk);
    obj_init(&desk->app.obj, APP_MAGIC);
    strcpy(desk->dir, "/tmp/manager-XXXXXX");
    desk->app.dir = mkdtemp(desk->dir);
    assert_non_null(desk->app.dir);
    desk->is_away = true;
    desk->service = (struct eng_service){.user = (char *)"alice",
                                         .name = (char *)"web",
                                         .app_id = (char *)"application_1_0001",
                                         .incarnation = 1};
    assert_int_equal(app_manager_open(&desk->app, NULL), 0);
    app_manager_begin(&desk->app);
    assert_story("resume:web ");
    *state = desk;
    return 0;
}

static void on_closed(void *arg)
{
    *(bool *)arg = true;
}

static int tear_down(void **state)
{
    bool is_closed = false;
    mem_auto char *program_dir = mem_fmt("%s/am", desk->dir);

    (void)state;
    struct submit_package package = {.path = mem_str("/am-feed.tar.gz")};

    app_manager_close(&desk->app, on_closed, &is_closed);
    assert_false(is_closed); /* the program is still packed */
    desk->packed(desk->packed_arg, 0, &package, NULL);
    assert_true(is_closed);
    assert_null(package.path);
    assert_int_equal(rmdir(program_dir), 0);
    assert_int_equal(rmdir(desk->dir), 0);
    free(desk);
    return 0;
}

/* ---- cases ---- */

static void a_transaction_is_passed_on_as_a_whole_the_service_first(void **state)
{
    (void)state;
    wrote("services/alice/web/runs", "{}");
    wrote("services/alice/web/b-0", NULL);
    wrote("services/alice/web/c-0", "{}");
    wrote("services/alice/web", "{}");
    assert_story("");
    desk->ops->settled(desk->ops_arg);
    assert_story(
        "services/alice/web services/alice/web/c-0 services/alice/web/runs -services/alice/web/b-0 ");
    desk->ops->settled(desk->ops_arg);
    assert_story("");
}

static void of_a_document_the_last_text_counts(void **state)
{
    (void)state;
    wrote("services/alice/web/c-0", "{}");
    wrote("services/alice/web/c-0", NULL);
    desk->ops->lost(desk->ops_arg, &(struct err_info){.code = ERR_UNAVAILABLE});
    desk->ops->lost(desk->ops_arg, NULL);
    desk->ops->settled(desk->ops_arg);
    assert_story("lost back -services/alice/web/c-0 ");
    wrote("services/alice/web/c-0", "{}"); /* released when it closes before the rest is there */
}

static void services_of_masters_are_away(void **state)
{
    (void)state;
    assert_true(desk->ops->is_away(desk->ops_arg, "services/alice/web"));
    assert_false(desk->ops->is_away(desk->ops_arg, "services/bob/web"));
    desk->is_away = false;
    assert_false(desk->ops->is_away(desk->ops_arg, "services/alice/web"));
}

static void one_that_has_ended_is_taken_back(void **state)
{
    (void)state;
    assert_false(app_manager_waits(&desk->app));
    desk->has_ended = true;
    assert_true(app_manager_waits(&desk->app));
    assert_true(app_manager_take_back(&desk->app));
    assert_true(app_manager_takes(&desk->app));
    assert_true(app_manager_take_back(&desk->app)); /* it goes on */
    desk->document(desk->taken_arg, "services/alice/web", "{}", 2);
    assert_story("take:services/alice/web ");
    taken(0);
    assert_story("begin:web load:services/alice/web end:web ended:web ");
    assert_false(app_manager_waits(&desk->app));
}

static void a_store_that_is_away_is_asked_again(void **state)
{
    (void)state;
    desk->has_ended = true;
    app_manager_take_back(&desk->app);
    taken(ERR_UNAVAILABLE);
    assert_story("take:services/alice/web later ");
    assert_true(app_manager_waits(&desk->app));
    assert_false(app_manager_takes(&desk->app));
    app_manager_take_back(&desk->app);
    taken(ERR_CONFLICT);
    assert_true(desk->is_fenced);
}

static void one_that_is_ours_already_just_ends(void **state)
{
    (void)state;
    desk->has_ended = true;
    desk->is_away = false;
    assert_true(app_manager_take_back(&desk->app)); /* app_pump has gone on */
    assert_false(app_manager_takes(&desk->app));
    assert_story("ended:web ");
}

#define CASE(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_transaction_is_passed_on_as_a_whole_the_service_first),
        CASE(of_a_document_the_last_text_counts),
        CASE(services_of_masters_are_away),
        CASE(one_that_has_ended_is_taken_back),
        CASE(a_store_that_is_away_is_asked_again),
        CASE(one_that_is_ours_already_just_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

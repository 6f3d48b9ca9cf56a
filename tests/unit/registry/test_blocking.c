/**
 * The blocking form against a scripted server in another thread.
 */
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/obj.h"
#include "bobbin/registry.h"
#include "script_server.h"

#define RECORD "{\"type\":\"JSONServiceRecord\",\"description\":\"d\",\"external\":[],\"internal\":[]}"
#define STATUS "\"status\":{\"path\":\"one\",\"time\":17,\"size\":166,\"children\":2,\"revision\":\"5f.17\"}"
#define NODE   "{\"path\":\"/one\"," STATUS ",\"nodes\":[\"a\",\"b\"],\"service\":" RECORD "}"
#define ABSENT                                                                                               \
    {                                                                                                        \
        .status = 404, .body = "{\"type\":\"urn:bobbin:error:path-not-found\",\"detail\":\"absent\"}"        \
    }

static const struct step steps[] = {
    {.status = 201, .body = "{\"created\":true}", .revision = "5f.1"},
    {.status = 201, .body = NODE, .revision = "5f.2"},
    {.status = 200, .body = NODE},
    {.status = 200, .body = NODE},
    {.status = 200, .body = NODE},
    {.status = 200, .body = NODE},
    {.status = 200, .body = "{\"deleted\":true}", .revision = "5f.3"},
    ABSENT,
    ABSENT,
    ABSENT,
};

#define PAGE                                                                                                 \
    "{\"records\":[{\"path\":\"/c\",\"status\":{\"path\":\"c\",\"size\":12},\"service\":" RECORD "}]}"

static const struct step admin_steps[] = {
    {.status = 200, .body = PAGE},
    {.path = "/one", .status = 200, .body = NODE},
    {.path = "/one/a", .status = 200, .body = NODE},
    {.path = "/one/b", .status = 200, .body = "{" STATUS "}"},
    {.status = 200, .body = "{\"count\":1,\"deleted\":[\"/a\"]}"},
    {.status = 200, .body = "{\"users\":[{\"created\":true,\"homes\":[\"/users/x\"]}]}"},
    {.status = 200, .body = "{\"events\":[{\"purged\":1}]}"},
    {.status = 403, .body = "{\"type\":\"urn:bobbin:error:no-permission\",\"detail\":\"not you\"}"},
};

#define FEED                                                                                                 \
    "{\"type\":\"hello\",\"store\":\"5f\"}\n{\"type\":\"put\",\"path\":\"/a\",\"revision\":\"5f.1\"}\n"      \
    "{\"type\":\"sync\",\"revision\":\"5f.2\"}\n{\"type\":\"delete\",\"path\":\"/"                           \
    "a\",\"revision\":\"5f.3\"}\n"                                                                           \
    "{\"type\":\"put\",\"path\":\"/after\",\"revision\":\"5f.4\"}\n"

#define FEED_STEP                                                                                            \
    {                                                                                                        \
        .status = 200, .body = FEED, .stream = true, .hold = true                                            \
    }

static const struct step watch_steps[] = {FEED_STEP, {.status = 200, .body = NODE}};
static const struct step timed_steps[] = {FEED_STEP, FEED_STEP, FEED_STEP, FEED_STEP,
                                          FEED_STEP, FEED_STEP, FEED_STEP};
static const struct step silent_steps[] = {{.status = 503, .body = "{}"}, {.status = 0}};

static const struct step refused_steps[] = {
    {.status = 400, .body = "{\"type\":\"urn:bobbin:error:malformed\",\"detail\":\"no revision\"}"},
    {.status = 200, .body = NODE},
};

struct server_thread {
    const struct step *steps;
    size_t n_steps;
    struct run_loop *loop;
    struct script_server server;
    pthread_t thread;
    sem_t started;
};

static void *serve(void *arg)
{
    struct server_thread *t = arg;

    script_start(&t->server, t->loop, t->steps, t->n_steps);
    sem_post(&t->started);
    run_loop_run(t->loop);
    script_stop(&t->server);
    return NULL;
}

static void stop_loop(void *arg)
{
    run_loop_stop(arg);
}

static void check_writes_and_reads(struct reg_blocking *b)
{
    struct reg_record *record = reg_record_new(), *found = NULL;
    struct reg_status status = {0};
    struct err_info why = {0};
    char revision[REG_REVISION_MAX] = "";
    char **names = NULL;
    bool made = false, there = false;

    assert_int_equal(reg_blocking_mknode(b, "/one", false, &made, &why), 0);
    assert_true(made);
    assert_int_equal(reg_blocking_bind(b, "/one", record, REG_OVERWRITE, revision, &why), 0);
    assert_string_equal(revision, "5f.2");
    assert_int_equal(reg_blocking_resolve(b, "/one", &found, &why), 0);
    assert_string_equal(found->description, "d");
    assert_int_equal(reg_blocking_stat(b, "/one", &status, &why), 0);
    assert_string_equal(status.path, "one");
    assert_int_equal(status.children, 2);
    assert_int_equal(reg_blocking_exists(b, "/one", &there, &why), 0);
    assert_true(there);
    assert_int_equal(reg_blocking_list(b, "/one", &names, &why), 0);
    assert_string_equal(names[0], "a");
    assert_string_equal(names[1], "b");
    assert_null(names[2]);
    assert_int_equal(reg_blocking_delete(b, "/one", REG_RECURSIVE, revision, &why), 0);
    assert_string_equal(revision, "5f.3");
    reg_path_split_free(names);
    free(status.path);
    reg_record_free(found);
    reg_record_free(record);
}

static void check_errors(struct reg_blocking *b)
{
    struct reg_record *found = NULL;
    struct reg_status status = {0};
    struct err_info why = {0};
    bool there = true;

    assert_int_equal(reg_blocking_resolve(b, "/one", &found, &why), ERR_NOTFOUND);
    assert_null(found);
    assert_string_equal(why.text, "absent");
    assert_int_equal(reg_blocking_stat(b, "/one", &status, NULL), ERR_NOTFOUND);
    assert_int_equal(reg_blocking_exists(b, "/one", &there, &why), 0);
    assert_false(there);
    assert_int_equal(reg_blocking_stat(b, "/one/../two", &status, &why), ERR_PATH);
}

static void check_admin(struct reg_blocking *b)
{
    const struct reg_find find = {.api = "x"};
    const struct reg_purge purge = {.id = "m", .persistence = "container"};
    const struct reg_event event = {"container-finished", "container_1_2_3_4"};
    struct reg_found *found = NULL;
    struct err_info why = {0};
    size_t n = 0;
    char **homes = NULL;
    bool made = false;
    int64_t n_purged = 0;

    assert_int_equal(reg_blocking_find(b, &find, &found, &n, &why), 0);
    assert_int_equal(n, 1);
    assert_string_equal(found[0].path, "/c");
    assert_string_equal(found[0].record->description, "d");
    assert_string_equal(found[0].status.path, "c");
    assert_int_equal(found[0].status.size, 12);
    reg_found_free(found, n);
    assert_int_equal(reg_blocking_list_records(b, "/one", &found, &n, &why), 0);
    assert_int_equal(n, 1);
    assert_string_equal(found[0].path, "/one/a");
    assert_string_equal(found[0].record->description, "d");
    assert_string_equal(found[0].status.path, "one");
    assert_int_equal(found[0].status.size, 166);
    assert_string_equal(found[0].status.revision, "5f.17");
    reg_found_free(found, n);
    assert_int_equal(reg_blocking_purge(b, &purge, &found, &n, &why), 0);
    assert_int_equal(n, 1);
    assert_string_equal(found[0].path, "/a");
    assert_null(found[0].record);
    reg_found_free(found, n);
    assert_int_equal(reg_blocking_user_home(b, "x", &homes, &made, &why), 0);
    assert_true(made);
    assert_string_equal(homes[0], "/users/x");
    assert_null(homes[1]);
    reg_path_split_free(homes);
    assert_int_equal(reg_blocking_report(b, &event, 1, &n_purged, &why), 0);
    assert_int_equal(n_purged, 1);
    found = NULL;
    assert_int_equal(reg_blocking_purge(b, &purge, &found, &n, &why), ERR_PERMISSION);
    assert_null(found);
    assert_string_equal(why.text, "not you");
}

/* ---- following ---- */

struct follower {
    struct reg_blocking *b;
    bool stops; /* at the delete */
    int nested; /* what another call said inside a callback */
    char seen[128];
};

static void follower_note(struct follower *f, const char *word, const char *what)
{
    size_t len = strlen(f->seen);

    snprintf(f->seen + len, sizeof f->seen - len, "%s %s\n", word, what);
}

static void follower_put(void *arg, const char *path, const struct reg_record *record, const char *revision)
{
    (void)record;
    (void)revision;
    follower_note(arg, "put", path);
}

static void follower_synced(void *arg, const char *revision)
{
    follower_note(arg, "synced", revision);
}

static void follower_deleted(void *arg, const char *path, const char *revision)
{
    struct follower *f = arg;

    (void)revision;
    follower_note(f, "deleted", path);
    f->nested = reg_blocking_delete(f->b, "/b", true, NULL, NULL);
    if (f->stops)
        reg_blocking_stop(f->b);
}

static const struct reg_watch_ops follower_ops = {
    .put = follower_put, .deleted = follower_deleted, .synced = follower_synced};

static void check_watch(struct reg_blocking *b)
{
    const struct reg_follow what = {.path = "/"};
    struct follower f = {.b = b, .stops = true};
    struct err_info why = {0};
    bool there = false;

    assert_int_equal(reg_blocking_watch(b, &what, &follower_ops, &f, &why), 0);
    assert_string_equal(f.seen, "put /a\nsynced 5f.2\ndeleted /a\n");
    assert_int_equal(f.nested, ERR_WRONGSTATE);
    reg_blocking_stop(b);
    assert_int_equal(reg_blocking_exists(b, "/one", &there, &why), 0);
    assert_true(there);
}

/* However slow the machine: with time enough the registry is heard. */
static void check_timed_watch(struct reg_blocking *b)
{
    struct reg_follow what = {.path = "/", .for_ms = 200};
    struct follower f = {.b = b};
    struct err_info why = {0};
    int err = ERR_UNAVAILABLE;

    for (size_t i = 0; i < ARRAY_LEN(timed_steps) && err == ERR_UNAVAILABLE; i++) {
        f.seen[0] = 0;
        err = reg_blocking_watch(b, &what, &follower_ops, &f, &why);
        what.for_ms *= 2;
    }
    assert_int_equal(err, ERR_TIMEOUT);
    assert_true(strncmp(f.seen, "put /a\n", 7) == 0);
}

static void check_silent_watch(struct reg_blocking *b)
{
    const struct reg_follow what = {.path = "/", .for_ms = 200};
    struct follower f = {.b = b};
    struct err_info why = {0};

    assert_int_equal(reg_blocking_watch(b, &what, &follower_ops, &f, &why), ERR_UNAVAILABLE);
    assert_string_not_equal(why.text, "");
    assert_string_equal(f.seen, "");
}

/** Without a time: only the refusal ends it, and what comes after it can be asked. */
static void check_refused_watch(struct reg_blocking *b)
{
    const struct reg_follow what = {.path = "/", .since = "a.1"};
    struct follower f = {.b = b};
    struct err_info why = {0};
    bool there = false;

    assert_int_equal(reg_blocking_watch(b, &what, &follower_ops, &f, &why), ERR_PARSE);
    assert_string_equal(why.text, "no revision");
    assert_string_equal(f.seen, "");
    assert_int_equal(reg_blocking_exists(b, "/one", &there, &why), 0);
    assert_true(there);
}

static void check_bad_watch(struct reg_blocking *b)
{
    const struct reg_follow no_path = {.path = NULL}, bad_path = {.path = "/a/../b"},
                            bad_since = {.path = "/", .since = "nonsense"};
    struct err_info why = {0};

    assert_int_equal(reg_blocking_watch(b, &no_path, &follower_ops, NULL, &why), ERR_INVALID);
    assert_int_equal(reg_blocking_watch(b, &bad_path, &follower_ops, NULL, &why), ERR_PATH);
    assert_int_equal(reg_blocking_watch(b, &bad_since, &follower_ops, NULL, &why), ERR_INVALID);
    assert_string_equal(why.where, "nonsense");
    assert_int_equal(reg_blocking_watch(NULL, &bad_since, &follower_ops, NULL, &why), ERR_WRONGSTATE);
    reg_blocking_stop(NULL);
}

/** Run a check against a server that plays these steps. */
static void with_server(const struct step *played, size_t n_played, void (*check)(struct reg_blocking *b))
{
    struct server_thread t = {.steps = played, .n_steps = n_played};
    struct reg_options options = {0};
    struct reg_blocking *b = NULL;

    t.loop = run_loop_new();
    sem_init(&t.started, 0, 0);
    assert_int_equal(pthread_create(&t.thread, NULL, serve, &t), 0);
    sem_wait(&t.started);
    options.url = t.server.url;
    assert_int_equal(reg_blocking_open(&options, &b, NULL), 0);
    check(b);
    reg_blocking_close(b);
    run_post(t.loop, stop_loop, t.loop);
    pthread_join(t.thread, NULL);
    sem_destroy(&t.started);
    run_loop_free(t.loop);
}

static void check_records(struct reg_blocking *b)
{
    check_writes_and_reads(b);
    check_errors(b);
}

static void test_records(void **state)
{
    (void)state;
    with_server(steps, ARRAY_LEN(steps), check_records);
}

static void test_admin(void **state)
{
    (void)state;
    with_server(admin_steps, ARRAY_LEN(admin_steps), check_admin);
}

static void test_watch(void **state)
{
    (void)state;
    with_server(watch_steps, ARRAY_LEN(watch_steps), check_watch);
    with_server(timed_steps, ARRAY_LEN(timed_steps), check_timed_watch);
    with_server(silent_steps, ARRAY_LEN(silent_steps), check_silent_watch);
    with_server(refused_steps, ARRAY_LEN(refused_steps), check_refused_watch);
}

static void test_bad_watch(void **state)
{
    (void)state;
    with_server(NULL, 0, check_bad_watch);
}

static void test_bad_url(void **state)
{
    struct reg_options options = {.url = "nonsense"};
    struct reg_blocking *b = NULL;
    struct err_info why = {0};

    (void)state;
    assert_int_equal(reg_blocking_open(&options, &b, &why), ERR_INVALID);
    assert_null(b);
    assert_string_equal(why.where, "nonsense");
}

/* AD9: before it is open, and after. */
static void test_not_open(void **state)
{
    const struct reg_find find = {.user = "x"};
    const struct reg_purge purge = {.id = "x", .persistence = "application"};
    const struct reg_locate locate = {.path = "/x"};
    const struct reg_event event = {.type = "container-finished", .id = "container_1_1_1_1"};
    struct reg_record *record = NULL;
    struct reg_status status;
    struct err_info why = {0};
    char **names = NULL;
    struct reg_found *found = NULL;
    size_t n = 0;
    bool flag = false;

    (void)state;
    assert_int_equal(reg_blocking_mknode(NULL, "/x", true, &flag, &why), ERR_WRONGSTATE);
    assert_string_equal(err_exception(why.code), "ServiceStateException");
    assert_int_equal(reg_blocking_bind(NULL, "/x", NULL, 0, NULL, NULL), ERR_WRONGSTATE);
    assert_int_equal(reg_blocking_add_write_accessor(NULL, "u", "p", &flag, NULL), ERR_WRONGSTATE);
    reg_blocking_clear_write_accessors(NULL);
    assert_int_equal(reg_blocking_resolve(NULL, "/x", &record, NULL), ERR_WRONGSTATE);
    assert_int_equal(reg_blocking_locate(NULL, &locate, &record, NULL), ERR_WRONGSTATE);
    assert_int_equal(reg_blocking_find(NULL, &find, &found, &n, NULL), ERR_WRONGSTATE);
    assert_int_equal(reg_blocking_list_records(NULL, "/x", &found, &n, NULL), ERR_WRONGSTATE);
    assert_int_equal(reg_blocking_purge(NULL, &purge, &found, &n, NULL), ERR_WRONGSTATE);
    assert_int_equal(reg_blocking_user_home(NULL, "x", &names, &flag, NULL), ERR_WRONGSTATE);
    assert_int_equal(reg_blocking_report(NULL, &event, 1, NULL, NULL), ERR_WRONGSTATE);
    assert_int_equal(reg_blocking_stat(NULL, "/x", &status, NULL), ERR_WRONGSTATE);
    assert_int_equal(reg_blocking_exists(NULL, "/x", &flag, NULL), ERR_WRONGSTATE);
    assert_int_equal(reg_blocking_list(NULL, "/x", &names, NULL), ERR_WRONGSTATE);
    assert_int_equal(reg_blocking_delete(NULL, "/x", REG_RECURSIVE, NULL, NULL), ERR_WRONGSTATE);
    assert_false(flag);
    assert_null(names);
    assert_null(found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_records),   cmocka_unit_test(test_admin),   cmocka_unit_test(test_watch),
        cmocka_unit_test(test_bad_watch), cmocka_unit_test(test_bad_url), cmocka_unit_test(test_not_open),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

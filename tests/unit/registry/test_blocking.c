/**
 * The blocking form against a scripted server in another thread.
 */
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
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

#define PAGE "{\"records\":[{\"path\":\"/c\",\"status\":{\"path\":\"c\"},\"service\":" RECORD "}]}"

static const struct step admin_steps[] = {
    {.status = 200, .body = PAGE},
    {.status = 200, .body = "{\"count\":1,\"deleted\":[\"/a\"]}"},
    {.status = 200, .body = "{\"users\":[{\"created\":true,\"homes\":[\"/users/x\"]}]}"},
    {.status = 200, .body = "{\"events\":[{\"purged\":1}]}"},
    {.status = 403, .body = "{\"type\":\"urn:bobbin:error:no-permission\",\"detail\":\"not you\"}"},
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
    assert_int_equal(reg_blocking_delete(b, "/one", true, revision, &why), 0);
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
    assert_int_equal(reg_blocking_tell(b, &event, 1, &n_purged, &why), 0);
    assert_int_equal(n_purged, 1);
    found = NULL;
    assert_int_equal(reg_blocking_purge(b, &purge, &found, &n, &why), ERR_PERMISSION);
    assert_null(found);
    assert_string_equal(why.text, "not you");
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
    assert_int_equal(reg_blocking_purge(NULL, &purge, &found, &n, NULL), ERR_WRONGSTATE);
    assert_int_equal(reg_blocking_user_home(NULL, "x", &names, &flag, NULL), ERR_WRONGSTATE);
    assert_int_equal(reg_blocking_tell(NULL, &event, 1, NULL, NULL), ERR_WRONGSTATE);
    assert_int_equal(reg_blocking_stat(NULL, "/x", &status, NULL), ERR_WRONGSTATE);
    assert_int_equal(reg_blocking_exists(NULL, "/x", &flag, NULL), ERR_WRONGSTATE);
    assert_int_equal(reg_blocking_list(NULL, "/x", &names, NULL), ERR_WRONGSTATE);
    assert_int_equal(reg_blocking_delete(NULL, "/x", true, NULL, NULL), ERR_WRONGSTATE);
    assert_false(flag);
    assert_null(names);
    assert_null(found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_records),
        cmocka_unit_test(test_admin),
        cmocka_unit_test(test_bad_url),
        cmocka_unit_test(test_not_open),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

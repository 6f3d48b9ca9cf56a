/**
 * Operations on more than one node against a scripted registryd: find with its pages, purge, homes, events.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/obj.h"
#include "bobbin/registry.h"
#include "client_kit.h"

#define FOUND(path, text)                                                                                    \
    "{\"path\":\"" path "\",\"status\":{\"path\":\"x\"},\"service\":{\"type\":\"JSONServiceRecord\","        \
    "\"description\":\"" text "\",\"external\":[],\"internal\":[]}}"
#define FIRST_PAGE "{\"records\":[" FOUND("/a", "one") "," FOUND("/b", "two") "],\"cursor\":\"7-2\"}"
#define LAST_PAGE  "{\"records\" : [ " FOUND("/c", "three") " ]}"

static void test_find_takes_all_pages(void **state)
{
    static const struct step steps[] = {
        {.status = 200, .body = FIRST_PAGE},
        {.status = 200, .body = FIRST_PAGE},
        {.status = 200, .body = LAST_PAGE},
        {.status = 200, .body = "{\"records\":[]}"},
    };
    const struct reg_find what = {.api = "http://", .user = "al ice"}, one = {.id = "container_1"};
    const struct reg_find nothing = {0};
    struct fixture f;

    (void)state;
    client_begin(&f, "yarn", steps, ARRAY_LEN(steps));
    reg_find(f.reg, &what, client_done, &f.got);
    assert_int_equal(client_await(&f), 0);
    assert_string_equal(f.got.text, "/a=one,/b=two,/a=one,/b=two,/c=three,");
    reg_find(f.reg, &one, client_done, &f.got);
    assert_int_equal(client_await(&f), 0);
    assert_string_equal(f.got.text, "");
    reg_find(f.reg, &nothing, client_done, &f.got);
    assert_int_equal(client_await(&f), ERR_INVALID);
    assert_string_equal(f.server.log.bytes,
                        "GET /ws/v1/registry-find user.name=yarn api=http:// user=al ice\n"
                        "GET /ws/v1/registry-find user.name=yarn api=http:// user=al ice cursor=7-2\n"
                        "GET /ws/v1/registry-find user.name=yarn api=http:// user=al ice cursor=7-2\n"
                        "GET /ws/v1/registry-find user.name=yarn id=container_1\n");
    client_end(&f);
}

static void test_answers_that_make_no_sense(void **state)
{
    static const struct step steps[] = {
        {.status = 200, .body = "{\"records\":{}}"},
        {.status = 200, .body = "{\"records\":[{}]}"},
        {.status = 200, .body = "{\"records\":[" FOUND("/a", "x")},
        {.status = 200, .body = "{\"records\":[" FOUND("/a", "x") ",]}"},
        {.status = 200, .body = "{\"records\":["},
        {.status = 410, .body = "{\"type\":\"urn:bobbin:error:revision-gone\",\"detail\":\"old\"}"},
    };
    const struct reg_find what = {.component = "c"};
    struct fixture f;

    (void)state;
    client_begin(&f, "yarn", steps, ARRAY_LEN(steps));
    for (size_t i = 0; i + 1 < ARRAY_LEN(steps); i++) {
        reg_find(f.reg, &what, client_done, &f.got);
        assert_int_equal(client_await(&f), ERR_JSON);
    }
    reg_find(f.reg, &what, client_done, &f.got);
    assert_int_equal(client_await(&f), ERR_GONE);
    client_end(&f);
}

static void test_purge(void **state)
{
    static const struct step steps[] = {
        {.status = 200,
         .body = "{\"count\":2,\"examined\":5,\"dryRun\":false,\"deleted\":[\"/a\",\"/b/c\"]}"},
        {.status = 200, .body = "{\"count\":0,\"examined\":0,\"dryRun\":true,\"deleted\":[]}"},
        {.status = 409, .body = "{\"type\":\"urn:bobbin:error:not-empty\",\"detail\":\"has children\"}"},
    };
    struct reg_purge what = {.id = "application_1_2", .persistence = "application"};
    const struct reg_purge bare = {.id = "x"};
    struct fixture f;

    (void)state;
    client_begin(&f, "yarn", steps, ARRAY_LEN(steps));
    reg_purge(f.reg, &what, client_done, &f.got);
    assert_int_equal(client_await(&f), 0);
    assert_string_equal(f.got.text, "/a=,/b/c=,");
    assert_int_equal(f.got.n_purged, 2);
    assert_true(f.got.changed);
    what = (struct reg_purge){"m", "container", "users/x/", REG_PURGE_SKIP, true};
    reg_purge(f.reg, &what, client_done, &f.got);
    assert_int_equal(client_await(&f), 0);
    assert_int_equal(f.got.n_purged, 0);
    assert_false(f.got.changed);
    what.policy = REG_PURGE_FAIL;
    reg_purge(f.reg, &what, client_done, &f.got);
    assert_int_equal(client_await(&f), ERR_NOTEMPTY);
    reg_purge(f.reg, &bare, client_done, &f.got);
    assert_int_equal(client_await(&f), ERR_INVALID);
    what.path = "/a//b";
    reg_purge(f.reg, &what, client_done, &f.got);
    assert_int_equal(client_await(&f), ERR_PATH);
    assert_string_equal(f.server.log.bytes, "POST /ws/v1/registry-admin/purge user.name=yarn\n"
                                            "POST /ws/v1/registry-admin/purge user.name=yarn\n"
                                            "POST /ws/v1/registry-admin/purge user.name=yarn\n");
    assert_string_equal(f.server.bodies.bytes,
                        "{\"id\":\"application_1_2\",\"persistence\":\"application\",\"path\":\"/\","
                        "\"policy\":\"PurgeAll\",\"dryRun\":false}\n"
                        "{\"id\":\"m\",\"persistence\":\"container\",\"path\":\"/users/x\","
                        "\"policy\":\"SkipOnChildren\",\"dryRun\":true}\n"
                        "{\"id\":\"m\",\"persistence\":\"container\",\"path\":\"/users/x\","
                        "\"policy\":\"FailOnChildren\",\"dryRun\":true}\n");
    client_end(&f);
}

static void test_home_and_events(void **state)
{
    static const struct step steps[] = {
        {.status = 200,
         .body =
             "{\"users\":[{\"user\":\"a_b\",\"created\":true,\"homes\":[\"/users/a_b\",\"/users/a-b\"]}]}"},
        {.status = 200,
         .body =
             "{\"users\":[{\"user\":\"x\",\"created\":false,\"homes\":[],"
             "\"error\":\"urn:bobbin:error:path-not-found\",\"detail\":\"no /users\",\"retrying\":false}]}"},
        {.status = 200,
         .body = "{\"events\":[{\"type\":\"container-finished\",\"purged\":1},"
                 "{\"type\":\"application-completed\",\"purged\":2}]}"},
        {.status = 200,
         .body = "{\"events\":[{\"purged\":0,\"error\":\"urn:bobbin:error:unavailable\",\"detail\":\"away\","
                 "\"retrying\":true},{\"purged\":4}]}"},
    };
    const struct reg_event events[] = {{"container-finished", "container_1_2_3_4"},
                                       {"application-completed", "application_1_2"}};
    struct fixture f;

    (void)state;
    client_begin(&f, "yarn", steps, ARRAY_LEN(steps));
    reg_user_home(f.reg, "a_b", client_done, &f.got);
    assert_int_equal(client_await(&f), 0);
    assert_string_equal(f.got.text, "/users/a_b=,/users/a-b=,");
    assert_true(f.got.changed);
    reg_user_home(f.reg, "x", client_done, &f.got);
    assert_int_equal(client_await(&f), ERR_NOTFOUND);
    assert_string_equal(f.got.why.text, "no /users");
    reg_user_home(f.reg, NULL, client_done, &f.got);
    assert_int_equal(client_await(&f), ERR_INVALID);
    reg_report(f.reg, events, 2, client_done, &f.got);
    assert_int_equal(client_await(&f), 0);
    assert_int_equal(f.got.n_purged, 3);
    reg_report(f.reg, events, 2, client_done, &f.got);
    assert_int_equal(client_await(&f), ERR_UNAVAILABLE);
    assert_string_equal(f.got.why.text, "away");
    assert_int_equal(f.got.n_purged, 4);
    assert_string_equal(strchr(strchr(f.server.bodies.bytes, '\n') + 1, '\n') + 1,
                        "[{\"type\":\"container-finished\",\"id\":\"container_1_2_3_4\"},"
                        "{\"type\":\"application-completed\",\"id\":\"application_1_2\"}]\n"
                        "[{\"type\":\"container-finished\",\"id\":\"container_1_2_3_4\"},"
                        "{\"type\":\"application-completed\",\"id\":\"application_1_2\"}]\n");
    client_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_find_takes_all_pages),
        cmocka_unit_test(test_answers_that_make_no_sense),
        cmocka_unit_test(test_purge),
        cmocka_unit_test(test_home_and_events),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

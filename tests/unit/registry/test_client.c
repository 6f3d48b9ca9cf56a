/**
 * The operations over REST against a scripted registryd: what is asked, what is made of the answers, retries, closing.
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

#define RECORD "{\"type\":\"JSONServiceRecord\",\"description\":\"d\",\"external\":[],\"internal\":[]}"
#define STATUS                                                                                               \
    "\"status\":{\"path\":\"one\",\"time\":1735689600000,\"size\":166,\"children\":1,\"revision\":\"5f."     \
    "17\"}"
#define NODE                                                                                                 \
    "{\"path\":\"/users/x/one\"," STATUS ",\"nodes\":[\"components\"],\"extra\":[{}],\"service\":" RECORD "}"
#define PROBLEM(type, detail)                                                                                \
    "{\"type\":\"urn:bobbin:error:" type "\",\"status\":1,\"detail\":\"" detail "\"}"

/* ---- what is asked and what comes back ---- */

#define IDS "id:mu05JlfYgbMHovly5LnbXUuQUVo=, u2:o9NxcCGDPOlcV7JVhmKHOf5ctVE="

/* What is made gets the accessors that were added, by their digest; nothing else is sent with them. */
static void test_write_accessors(void **state)
{
    static const struct step steps[] = {
        {.status = 200, .body = NODE, .secure = "true"},
        {.status = 200, .body = NODE},
        {.status = 201, .body = "{\"path\":\"/a\",\"created\":true}"},
        {.status = 200, .body = NODE},
        {.status = 200, .body = "{\"path\":\"/a\",\"deleted\":true}"},
        {.status = 201, .body = "{\"path\":\"/a\",\"created\":true}"},
    };
    struct fixture f;

    (void)state;
    client_begin(&f, "al ice", steps, ARRAY_LEN(steps));
    reg_add_write_accessor(f.reg, "id", "pass", client_done, &f.got);
    assert_int_equal(client_await(&f), 0);
    assert_true(f.got.changed);
    reg_add_write_accessor(f.reg, "u2", "p2", client_done, &f.got);
    assert_int_equal(client_await(&f), 0);
    assert_false(f.got.changed); /* this one is not secure */
    reg_add_write_accessor(f.reg, "u3", "", client_done, &f.got);
    assert_int_equal(client_await(&f), ERR_IO);
    reg_add_write_accessor(f.reg, "a,b", "p", client_done, &f.got);
    assert_int_equal(client_await(&f), ERR_INVALID);
    reg_mknode(f.reg, "/a", false, client_done, &f.got);
    assert_int_equal(client_await(&f), 0);
    reg_stat(f.reg, "/a", client_done, &f.got);
    assert_int_equal(client_await(&f), 0);
    reg_delete(f.reg, "/a", 0, client_done, &f.got);
    assert_int_equal(client_await(&f), 0);
    reg_clear_write_accessors(f.reg);
    reg_mknode(f.reg, "/a", false, client_done, &f.got);
    assert_int_equal(client_await(&f), 0);
    assert_string_equal(f.server.log.bytes,
                        "GET /ws/v1/registry/ user.name=al ice limit=1\n"
                        "GET /ws/v1/registry/ user.name=al ice limit=1\n"
                        "POST /ws/v1/registry/a user.name=al ice op=mknode X-Bobbin-Write-Accessors: " IDS
                        "\n"
                        "GET /ws/v1/registry/a user.name=al ice limit=1\n"
                        "DELETE /ws/v1/registry/a user.name=al ice\n"
                        "POST /ws/v1/registry/a user.name=al ice op=mknode\n");
    client_end(&f);
}

static void test_holding_an_accessor(void **state)
{
    static const struct step steps[] = {{.status = 201, .body = "{\"path\":\"/a\",\"created\":true}"}};
    struct reg_options options = {.user = "u", .accessor = "c1:s3cret"};
    struct fixture f;
    struct reg *own;
    struct err_info why;

    (void)state;
    client_begin(&f, "al ice", steps, ARRAY_LEN(steps));
    options.url = f.server.url;
    assert_int_equal(reg_open(f.loop, &options, &own, &why), 0);
    reg_mknode(own, "/a", false, client_done, &f.got);
    assert_int_equal(client_await(&f), 0);
    assert_string_equal(f.server.log.bytes,
                        "POST /ws/v1/registry/a user.name=u op=mknode X-Bobbin-Accessor: c1:s3cret\n");
    reg_close(own);
    options.accessor = "s3cret";
    assert_int_equal(reg_open(f.loop, &options, &own, &why), ERR_IO);
    assert_string_equal(why.text, "Invalid id:password");
    client_end(&f);
}

static void test_mknode(void **state)
{
    static const struct step steps[] = {
        {.status = 201, .body = "{\"path\":\"/a\",\"created\":true}", .revision = "5f.18"},
        {.status = 200,
         .body = "{\"path\":\"/a\",\"created\":false}",
         .revision = "5f.18",
         .applied = "false"},
    };
    struct fixture f;

    (void)state;
    client_begin(&f, "al ice", steps, ARRAY_LEN(steps));
    reg_mknode(f.reg, "/users/a b/\xe2\x82\xac", true, client_done, &f.got);
    assert_int_equal(client_await(&f), 0);
    assert_true(f.got.changed);
    assert_true(f.got.applied);
    assert_string_equal(f.got.revision, "5f.18");
    reg_mknode(f.reg, "x/", false, client_done, &f.got);
    assert_int_equal(client_await(&f), 0);
    assert_false(f.got.changed);
    assert_false(f.got.applied);
    assert_string_equal(
        f.server.log.bytes,
        "POST /ws/v1/registry/users/a%20b/%E2%82%AC user.name=al ice op=mknode createParents=true\n"
        "POST /ws/v1/registry/x user.name=al ice op=mknode\n");
    client_end(&f);
}

static void test_bind(void **state)
{
    static const struct step steps[] = {
        {.status = 201, .body = NODE, .revision = "5f.20"},
        {.status = 200, .body = NODE, .revision = "5f.21"},
    };
    struct reg_record *record = reg_record_new();
    struct fixture f;

    (void)state;
    client_begin(&f, "al ice", steps, ARRAY_LEN(steps));
    reg_record_describe(record, "d");
    reg_bind(f.reg, "/r", record, REG_CREATE, client_done, &f.got);
    assert_int_equal(client_await(&f), 0);
    assert_true(f.got.changed);
    reg_bind(f.reg, "/r", record, REG_OVERWRITE | REG_CREATE_PARENTS, client_done, &f.got);
    assert_int_equal(client_await(&f), 0);
    assert_false(f.got.changed);
    assert_string_equal(f.got.revision, "5f.21");
    assert_string_equal(f.server.log.bytes,
                        "PUT /ws/v1/registry/r user.name=al ice overwrite=false\n"
                        "PUT /ws/v1/registry/r user.name=al ice overwrite=true createParents=true\n");
    assert_string_equal(f.server.bodies.bytes, RECORD "\n" RECORD "\n");
    reg_record_free(record);
    client_end(&f);
}

static void test_reads(void **state)
{
    static const struct step steps[] = {
        {.status = 200, .body = NODE, .revision = "5f.30"},
        {.status = 200, .body = NODE},
        {.status = 200, .body = NODE},
        {.status = 200, .body = "{" STATUS ",\"nodes\":[]}"},
        {.status = 200, .body = "{" STATUS ",\"nodes\":[],\"invalidRecord\":\"a list is text\"}"},
    };
    struct fixture f;

    (void)state;
    client_begin(&f, "al ice", steps, ARRAY_LEN(steps));
    reg_resolve(f.reg, "/users/x/one", client_done, &f.got);
    assert_int_equal(client_await(&f), 0);
    assert_string_equal(f.got.text, "d");
    assert_string_equal(f.got.revision, "5f.30");
    reg_stat(f.reg, "/users/x/one", client_done, &f.got);
    assert_int_equal(client_await(&f), 0);
    assert_true(f.got.time_ms == 1735689600000);
    assert_int_equal(f.got.size, 166);
    assert_int_equal(f.got.children, 1);
    reg_exists(f.reg, "/", client_done, &f.got);
    assert_int_equal(client_await(&f), 0);
    assert_true(f.got.changed);
    reg_resolve(f.reg, "/users/x/one", client_done, &f.got);
    assert_int_equal(client_await(&f), ERR_NORECORD);
    reg_resolve(f.reg, "/users/x/one", client_done, &f.got);
    assert_int_equal(client_await(&f), ERR_RECORD);
    assert_non_null(strstr(f.server.log.bytes, "GET /ws/v1/registry/ user.name=al ice limit=1\n"));
    client_end(&f);
}

static void test_list_follows_cursors(void **state)
{
    static const struct step steps[] = {
        {.status = 200, .body = "{" STATUS ",\"nodes\":[\"a\",\"b\"],\"cursor\":\"b&c\"}"},
        {.status = 200, .body = "{" STATUS ",\"nodes\":[\"c\"]}"},
        {.status = 200, .body = "{" STATUS ",\"nodes\":[]}"},
    };
    struct fixture f;

    (void)state;
    client_begin(&f, "al ice", steps, ARRAY_LEN(steps));
    reg_list(f.reg, "/l", client_done, &f.got);
    assert_int_equal(client_await(&f), 0);
    assert_string_equal(f.got.text, "onea,b,c,");
    reg_list(f.reg, "/l", client_done, &f.got);
    assert_int_equal(client_await(&f), 0);
    assert_string_equal(f.got.text, "one");
    assert_string_equal(f.server.log.bytes, "GET /ws/v1/registry/l user.name=al ice\n"
                                            "GET /ws/v1/registry/l user.name=al ice cursor=b&c\n"
                                            "GET /ws/v1/registry/l user.name=al ice\n");
    client_end(&f);
}

static void test_delete(void **state)
{
    static const struct step steps[] = {
        {.status = 200, .body = "{\"path\":\"/r\",\"deleted\":true}", .revision = "5f.40"},
        {.status = 200, .body = "{\"path\":\"/r\",\"deleted\":false}", .revision = "5f.40"},
        {.status = 404, .body = "{\"type\":\"urn:bobbin:error:path-not-found\"}"},
        {.status = 200, .body = "{\"path\":\"/r\",\"deleted\":true}", .revision = "5f.41"},
    };
    struct fixture f;

    (void)state;
    client_begin(&f, "al ice", steps, ARRAY_LEN(steps));
    reg_delete(f.reg, "/r", REG_RECURSIVE, client_done, &f.got);
    assert_int_equal(client_await(&f), 0);
    assert_true(f.got.changed);
    assert_string_equal(f.got.revision, "5f.40");
    reg_delete(f.reg, "/r", 0, client_done, &f.got);
    assert_int_equal(client_await(&f), 0);
    assert_false(f.got.changed);
    reg_delete(f.reg, "/r", REG_MUST_EXIST, client_done, &f.got);
    assert_int_equal(client_await(&f), ERR_NOTFOUND);
    assert_false(f.got.changed);
    reg_delete(f.reg, "/r", REG_RECURSIVE | REG_MUST_EXIST, client_done, &f.got);
    assert_int_equal(client_await(&f), 0);
    assert_true(f.got.changed);
    assert_string_equal(f.server.log.bytes, "DELETE /ws/v1/registry/r user.name=al ice recursive=true\n"
                                            "DELETE /ws/v1/registry/r user.name=al ice\n"
                                            "DELETE /ws/v1/registry/r user.name=al ice mustExist=true\n"
                                            "DELETE /ws/v1/registry/r user.name=al ice recursive=true "
                                            "mustExist=true\n");
    client_end(&f);
}

/* ---- errors ---- */

static void test_errors_are_those_of_the_problem(void **state)
{
    static const struct {
        struct step step;
        int err;
    } cases[] = {
        {{.status = 404, .body = PROBLEM("path-not-found", "no /r")}, ERR_NOTFOUND},
        {{.status = 409, .body = PROBLEM("already-exists", "there")}, ERR_EXISTS},
        {{.status = 409, .body = PROBLEM("not-empty", "children")}, ERR_NOTEMPTY},
        {{.status = 400, .body = PROBLEM("invalid-path", "bad")}, ERR_PATH},
        {{.status = 403, .body = PROBLEM("no-permission", "no")}, ERR_PERMISSION},
        {{.status = 422, .body = PROBLEM("invalid-record", "bad")}, ERR_RECORD},
        {{.status = 413, .body = PROBLEM("too-large", "big")}, ERR_TOOBIG},
        {{.status = 404, .body = "<html>"}, ERR_NOROUTE},
        {{.status = 403, .body = ""}, ERR_PERMISSION},
        {{.status = 500, .body = "[]"}, ERR_IO},
        {{.status = 200, .body = "<html>"}, ERR_JSON},
        {{.status = 200, .body = ""}, ERR_JSON},
        {{.status = 200, .body = "{\"status\":[]}"}, ERR_JSON},
    };
    struct step steps[ARRAY_LEN(cases)];
    struct fixture f;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        steps[i] = cases[i].step;
    client_begin(&f, "al ice", steps, ARRAY_LEN(steps));
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        reg_stat(f.reg, "/r", client_done, &f.got);
        assert_int_equal(client_await(&f), cases[i].err);
        if (i == 0)
            assert_string_equal(f.got.why.text, "no /r");
    }
    client_end(&f);
}

static void test_absent_does_not_exist(void **state)
{
    static const struct step steps[] = {{.status = 404, .body = PROBLEM("path-not-found", "no")},
                                        {.status = 404, .body = "nginx"}};
    struct fixture f;

    (void)state;
    client_begin(&f, "al ice", steps, ARRAY_LEN(steps));
    reg_exists(f.reg, "/r", client_done, &f.got);
    assert_int_equal(client_await(&f), 0);
    assert_false(f.got.changed);
    reg_exists(f.reg, "/r", client_done, &f.got);
    assert_int_equal(client_await(&f), ERR_NOROUTE);
    client_end(&f);
}

static void test_refused_without_asking(void **state)
{
    struct reg_record *record = reg_record_new();
    struct fixture f;

    (void)state;
    client_begin(&f, "al ice", NULL, 0);
    reg_stat(f.reg, "/a/../b", client_done, &f.got);
    assert_int_equal(client_await(&f), ERR_PATH);
    reg_delete(f.reg, NULL, 0, client_done, &f.got);
    assert_int_equal(client_await(&f), ERR_INVALID);
    reg_bind(f.reg, "/r", NULL, 0, client_done, &f.got);
    assert_int_equal(client_await(&f), ERR_INVALID);
    record->type[0] = 'X';
    reg_bind(f.reg, "/r", record, 0, client_done, &f.got);
    assert_int_equal(client_await(&f), ERR_RECORD);
    assert_int_equal(f.server.n_asked, 0);
    reg_record_free(record);
    client_end(&f);
}

/* ---- retries ---- */

static void test_not_ready_is_asked_again(void **state)
{
    static const struct step steps[] = {{.status = 503, .body = PROBLEM("unavailable", "loading")},
                                        {.status = 503, .body = PROBLEM("unavailable", "loading")},
                                        {.status = 200, .body = NODE}};
    struct fixture f;

    (void)state;
    client_begin(&f, "al ice", steps, ARRAY_LEN(steps));
    reg_resolve(f.reg, "/r", client_done, &f.got);
    assert_int_equal(client_await(&f), 0);
    assert_int_equal(f.server.n_asked, 3);
    client_end(&f);
}

/** What may have been done is not sent again: not after the registry says so, nor when a gateway lost its answer. */
static void test_write_that_may_be_done_is_not_sent_again(void **state)
{
    static const struct step steps[] = {{.status = 503, .body = PROBLEM("unknown-outcome", "lost")},
                                        {.status = 502, .body = "<html>"},
                                        {.status = 504, .body = "<html>"},
                                        {.status = 503, .body = PROBLEM("unavailable", "not done")},
                                        {.status = 503, .body = PROBLEM("unknown-outcome", "lost")}};
    struct fixture f;

    (void)state;
    client_begin(&f, "al ice", steps, ARRAY_LEN(steps));
    for (size_t i = 1; i <= 3; i++) {
        reg_delete(f.reg, "/r", 0, client_done, &f.got);
        assert_int_equal(client_await(&f), ERR_UNKNOWN_OUTCOME);
        assert_int_equal(f.server.n_asked, i);
    }
    reg_mknode(f.reg, "/r", true, client_done, &f.got);
    assert_int_equal(client_await(&f), ERR_UNKNOWN_OUTCOME);
    assert_string_equal(f.got.why.text, "lost");
    assert_int_equal(f.server.n_asked, 5);
    client_end(&f);
}

static void test_next_server_is_asked(void **state)
{
    static const struct step steps[] = {{.status = 200, .body = NODE}, {.status = 200, .body = NODE}};
    struct fixture f;
    char dead[64];
    mem_auto char *both = NULL;

    (void)state;
    client_begin(&f, "al ice", steps, ARRAY_LEN(steps));
    reg_close(f.reg);
    script_dead_url(dead);
    both = mem_fmt(" %s , %s/ ", dead, f.server.url);
    client_open(&f, "al ice", both, 0);
    reg_resolve(f.reg, "/r", client_done, &f.got);
    assert_int_equal(client_await(&f), 0);
    reg_resolve(f.reg, "/r", client_done, &f.got);
    assert_int_equal(client_await(&f), 0);
    assert_int_equal(f.server.n_asked, 2);
    client_end(&f);
}

static void test_time_is_over(void **state)
{
    static const struct step steps[] = {{.status = 0}};
    struct fixture f;
    char dead[64];

    (void)state;
    client_begin(&f, "al ice", steps, ARRAY_LEN(steps));
    reg_close(f.reg);
    script_dead_url(dead);
    client_open(&f, "al ice", dead, 900);
    reg_stat(f.reg, "/r", client_done, &f.got);
    assert_int_equal(client_await(&f), ERR_UNAVAILABLE);
    reg_close(f.reg);
    client_open(&f, "al ice", f.server.url, 300);
    reg_stat(f.reg, "/r", client_done, &f.got);
    assert_int_equal(client_await(&f), ERR_TIMEOUT);
    assert_null(strstr(f.got.why.text, "before that"));
    client_end(&f);
}

/** The time ends while a connection is being made: what was wrong before is named, too. */
static void test_time_is_over_in_a_connect(void **state)
{
    static const struct step steps[] = {{.status = 503, .body = PROBLEM("unavailable", "loading")}};
    struct fixture f;
    char full[64];

    (void)state;
    client_begin(&f, "al ice", steps, ARRAY_LEN(steps));
    reg_close(f.reg);
    script_full_url(full);
    mem_auto char *both = mem_fmt("%s,%s", f.server.url, full);
    client_open(&f, "al ice", both, 300);
    reg_mknode(f.reg, "/r", true, client_done, &f.got);
    assert_int_equal(client_await(&f), ERR_UNAVAILABLE);
    assert_non_null(strstr(f.got.why.text, "; before that: loading"));
    client_end(&f);
}

/** The time ends in a try that is hardly given any: a read returns the error of the try before, a write may be done. */
static void test_time_is_over_soon_after_a_refusal(void **state)
{
    static const struct step steps[] = {{.status = 503, .body = PROBLEM("unavailable", "loading")},
                                        {.status = 0},
                                        {.status = 503, .body = PROBLEM("unavailable", "loading")},
                                        {.status = 0}};
    struct fixture f;

    (void)state;
    client_begin(&f, "al ice", steps, ARRAY_LEN(steps));
    reg_close(f.reg);
    client_open(&f, "al ice", f.server.url, 900);
    reg_stat(f.reg, "/r", client_done, &f.got);
    assert_int_equal(client_await(&f), ERR_UNAVAILABLE);
    assert_string_equal(f.got.why.text, "loading");
    reg_delete(f.reg, "/r", 0, client_done, &f.got);
    assert_int_equal(client_await(&f), ERR_TIMEOUT);
    assert_non_null(strstr(f.got.why.text, "no whole answer"));
    assert_non_null(strstr(f.got.why.text, "; before that: loading"));
    assert_int_equal(f.server.n_asked, 4);
    client_end(&f);
}

/** A server that takes requests and says nothing does not use up the time of the other. */
static void test_silent_server_leaves_time(void **state)
{
    static const struct step silent[] = {{.status = 0}};
    static const struct step steps[] = {{.status = 200, .body = NODE}};
    struct script_server other;
    struct fixture f;
    mem_auto char *both = NULL;

    (void)state;
    client_begin(&f, "al ice", steps, ARRAY_LEN(steps));
    reg_close(f.reg);
    script_start(&other, f.loop, silent, ARRAY_LEN(silent));
    both = mem_fmt("%s,%s", other.url, f.server.url);
    client_open(&f, "al ice", both, 2400);
    reg_resolve(f.reg, "/r", client_done, &f.got);
    assert_int_equal(client_await(&f), 0);
    reg_close(f.reg);
    f.reg = NULL;
    script_stop(&other);
    client_end(&f);
}

/* ---- opening and closing ---- */

static void test_close_cancels(void **state)
{
    static const struct step steps[] = {{.status = 0}, {.status = 0}};
    struct fixture f;
    struct got waiting = {0}, early = {0};
    char dead[64];
    mem_auto char *both = NULL;

    (void)state;
    client_begin(&f, "al ice", steps, ARRAY_LEN(steps));
    script_dead_url(dead);
    both = mem_fmt("%s,%s", f.server.url, dead);
    reg_stat(f.reg, "/r", client_done, &f.got);
    reg_stat(f.reg, "//", client_done, &early);
    reg_delete(f.reg, "/r", 0, client_done, &waiting);
    reg_close(f.reg);
    f.reg = NULL;
    assert_int_equal(f.got.n_calls, 1);
    assert_int_equal(f.got.err, ERR_CANCELLED);
    assert_int_equal(waiting.err, ERR_CANCELLED);
    assert_int_equal(early.n_calls, 1);
    client_end(&f);
}

static void test_bad_urls(void **state)
{
    static const char *const bad[] = {"",        "localhost:9192",     "ftp://x",
                                      "http://", "http://a,,http://b", "http://a?x"};
    struct run_loop *loop = reg_loop_new();
    struct reg *reg = NULL;
    struct err_info why = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct reg_options options = {.url = bad[i]};

        assert_int_equal(reg_open(loop, &options, &reg, &why), ERR_INVALID);
        assert_null(reg);
    }
    reg_loop_free(loop);
}

/* A password is not sent in the clear, whichever server of the list would get it. */
static void test_a_password_is_for_https(void **state)
{
    static const struct {
        const char *url;
        int err;
    } cases[] = {{"https://a/gateway", 0}, {"http://a", ERR_INVALID}, {"https://a,http://b", ERR_INVALID}};
    struct run_loop *loop = reg_loop_new();

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct reg_options options = {.url = cases[i].url, .user = "alice", .password = "secret"};
        struct reg *reg = NULL;
        struct err_info why = {0};

        assert_int_equal(reg_open(loop, &options, &reg, &why), cases[i].err);
        reg_close(reg);
    }
    reg_loop_free(loop);
}

/* ---- locate: asking until it is there ---- */

#define WANTED "http://"
#define HOLDS(addresses)                                                                                     \
    "{" STATUS ",\"service\":{\"type\":\"JSONServiceRecord\",\"description\":\"found\",\"external\":[{"      \
    "\"api\":\"" WANTED "\",\"addressType\":\"uri\",\"protocolType\":\"webui\",\"addresses\":[" addresses    \
    "]}],\"internal\":[]}}"

static void test_locate_asks_until_it_is_there(void **state)
{
    static const struct step steps[] = {
        {.status = 404, .body = PROBLEM("path-not-found", "absent")},
        {.status = 200, .body = "{" STATUS ",\"nodes\":[]}"},
        {.status = 200, .body = NODE},
        {.status = 503, .body = PROBLEM("unavailable", "loading")},
        {.status = 200, .body = HOLDS("")},
        {.status = 200, .body = HOLDS("{\"uri\":\"http://h/\"}")},
        {.status = 200, .body = NODE},
    };
    struct reg_locate what = {.path = "/users/x/one", .api = WANTED, .pause_ms = 2};
    struct fixture f;

    (void)state;
    client_begin(&f, "al ice", steps, ARRAY_LEN(steps));
    reg_locate(f.reg, &what, client_done, &f.got);
    assert_int_equal(client_await(&f), 0);
    assert_string_equal(f.got.text, "found");
    assert_int_equal(f.server.n_asked, 6);
    what.api = NULL;
    reg_locate(f.reg, &what, client_done, &f.got);
    assert_int_equal(client_await(&f), 0);
    assert_string_equal(f.got.text, "d");
    client_end(&f);
}

static void test_locate_gives_up(void **state)
{
    static const struct step steps[] = {
        {.status = 404, .body = PROBLEM("path-not-found", "absent")},
        {.status = 403, .body = PROBLEM("no-permission", "not yours")},
        {.status = 404, .body = PROBLEM("path-not-found", "absent")},
    };
    const struct reg_locate soon = {.path = "/one", .give_up_ms = 20000, .pause_ms = 100000};
    const struct reg_locate again = {.path = "/one", .pause_ms = 2};
    const struct reg_locate bad = {.path = "/a//b"};
    struct fixture f;

    (void)state;
    client_begin(&f, "al ice", steps, ARRAY_LEN(steps));
    reg_locate(f.reg, &soon, client_done, &f.got);
    assert_int_equal(client_await(&f), ERR_TIMEOUT);
    assert_non_null(strstr(f.got.why.text, "no such node"));
    reg_locate(f.reg, &again, client_done, &f.got);
    assert_int_equal(client_await(&f), ERR_PERMISSION); /* waiting does not help */
    reg_locate(f.reg, &bad, client_done, &f.got);
    assert_int_equal(client_await(&f), ERR_PATH);
    assert_int_equal(f.server.n_asked, 2);
    reg_locate(f.reg, &again, client_done, &f.got);
    client_end(&f); /* closing cancels it */
    assert_int_equal(f.got.err, ERR_CANCELLED);
}

/* The time ends in a try that is not answered: the error is what the one before lacked. */
static void test_locate_gives_up_while_it_asks(void **state)
{
    static const struct step steps[] = {{.status = 404, .body = PROBLEM("path-not-found", "absent")},
                                        {.status = 0}};
    const struct reg_locate what = {.path = "/one", .give_up_ms = 800, .pause_ms = 2};
    struct fixture f;

    (void)state;
    client_begin(&f, "al ice", steps, ARRAY_LEN(steps));
    reg_locate(f.reg, &what, client_done, &f.got);
    assert_int_equal(client_await(&f), ERR_TIMEOUT);
    assert_int_equal(f.server.n_asked, 2);
    assert_non_null(strstr(f.got.why.text, "no such node"));
    client_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mknode),
        cmocka_unit_test(test_write_accessors),
        cmocka_unit_test(test_holding_an_accessor),
        cmocka_unit_test(test_bind),
        cmocka_unit_test(test_reads),
        cmocka_unit_test(test_list_follows_cursors),
        cmocka_unit_test(test_delete),
        cmocka_unit_test(test_locate_asks_until_it_is_there),
        cmocka_unit_test(test_locate_gives_up),
        cmocka_unit_test(test_locate_gives_up_while_it_asks),
        cmocka_unit_test(test_errors_are_those_of_the_problem),
        cmocka_unit_test(test_absent_does_not_exist),
        cmocka_unit_test(test_refused_without_asking),
        cmocka_unit_test(test_not_ready_is_asked_again),
        cmocka_unit_test(test_write_that_may_be_done_is_not_sent_again),
        cmocka_unit_test(test_next_server_is_asked),
        cmocka_unit_test(test_time_is_over),
        cmocka_unit_test(test_time_is_over_in_a_connect),
        cmocka_unit_test(test_time_is_over_soon_after_a_refusal),
        cmocka_unit_test(test_silent_server_leaves_time),
        cmocka_unit_test(test_close_cancels),
        cmocka_unit_test(test_bad_urls),
        cmocka_unit_test(test_a_password_is_for_https),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

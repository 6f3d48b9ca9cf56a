/**
 * The records of a node's children against a scripted registryd: pages, what is passed over, what ends it, how many are
 * asked for at once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"
#include "bobbin/registry.h"
#include "client_kit.h"

#define STATUS(name, size)                                                                                   \
    "\"status\":{\"path\":\"" name "\",\"time\":7,\"size\":" size ",\"children\":3,\"revision\":\"5f." size  \
    "\"}"
#define RECORD(text)                                                                                         \
    "{\"type\":\"JSONServiceRecord\",\"description\":\"" text "\",\"external\":[],\"internal\":[]}"
#define NODE(name, size, text) "{" STATUS(name, size) ",\"nodes\":[\"below\"],\"service\":" RECORD(text) "}"
#define BARE(name)             "{" STATUS(name, "9") ",\"nodes\":[]}"
#define PAGE(names)            "{" STATUS("l", "9") ",\"nodes\":[" names "]}"
#define PART(names, cursor)    "{" STATUS("l", "9") ",\"nodes\":[" names "],\"cursor\":\"" cursor "\"}"
#define PROBLEM(type, detail)                                                                                \
    "{\"type\":\"urn:bobbin:error:" type "\",\"status\":1,\"detail\":\"" detail "\"}"

/** What the completion got: found as "path=description name size children revision\n". */
struct seen {
    int n_calls, err;
    struct buf text;
    char revision[REG_REVISION_MAX];
    struct err_info why;
};

static void on_records(void *arg, int err, const struct reg_result *r, const struct err_info *why)
{
    struct seen *t = arg;

    t->n_calls++;
    t->err = err;
    t->why = *why;
    snprintf(t->revision, sizeof t->revision, "%s", r->revision);
    for (size_t i = 0; i < r->n_found; i++) {
        const struct reg_found *f = &r->found[i];
        buf_addf(&t->text, "%s=%s %s %d %d %s\n", f->path, f->record->description, f->status.path,
                 (int)f->status.size, (int)f->status.children, f->status.revision);
    }
}

static bool is_seen(void *arg)
{
    return ((struct seen *)arg)->n_calls > 0;
}

/** List the records of a node. @return the error, which the completion got once and later. */
static int list(struct fixture *f, const char *path, struct seen *t)
{
    buf_fini(&t->text);
    *t = (struct seen){0};
    reg_list_records(f->reg, path, on_records, t);
    assert_int_equal(t->n_calls, 0);
    script_await(f->loop, is_seen, t);
    assert_int_equal(t->n_calls, 1);
    assert_int_equal(t->why.code, t->err);
    return t->err;
}

/* ---- what is found ---- */

/* AD8, and 3.6: no record, an invalid one, one that vanished. The first child's answer is the last to come. */
static void test_only_records(void **state)
{
    static const struct step steps[] = {
        {.path = "/l", .status = 200, .body = PAGE("\"a b\",\"c\",\"d\",\"e\",\"f\""), .revision = "5f.30"},
        {.path = "/l/a%20b", .status = 503, .body = PROBLEM("unavailable", "not ready")},
        {.path = "/l/a%20b", .status = 200, .body = NODE("a b", "40", "one"), .revision = "5f.31"},
        {.path = "/l/c", .status = 200, .body = BARE("c")},
        {.path = "/l/d",
         .status = 200,
         .body = "{" STATUS("d", "19") ",\"nodes\":[],\"invalidRecord\":\"no JSON\"}"},
        {.path = "/l/e", .status = 404, .body = PROBLEM("path-not-found", "gone")},
        {.path = "/l/f", .status = 200, .body = NODE("f", "41", "two")},
    };
    struct fixture f;
    struct seen t = {0};

    (void)state;
    client_begin(&f, "yarn", steps, ARRAY_LEN(steps));
    assert_int_equal(list(&f, "l/", &t), 0);
    assert_string_equal(buf_cstr(&t.text), "/l/a b=one a b 40 3 5f.40\n"
                                           "/l/f=two f 41 3 5f.41\n");
    assert_string_equal(t.revision, "5f.30");
    assert_int_equal(f.server.n_asked, ARRAY_LEN(steps));
    assert_non_null(strstr(f.server.log.bytes, "GET /ws/v1/registry/l/f user.name=yarn limit=1\n"));
    buf_fini(&t.text);
    client_end(&f);
}

static void test_a_list_in_pages(void **state)
{
    static const struct step steps[] = {
        {.path = "/", .status = 200, .body = PART("\"a\",\"b\"", "b&c"), .revision = "5f.30"},
        {.path = "/a", .status = 200, .body = NODE("a", "40", "one")},
        {.path = "/b", .status = 200, .body = BARE("b")},
        {.path = "/", .status = 200, .body = PART("\"c\"", "d"), .revision = "5f.33"},
        {.path = "/c", .status = 200, .body = BARE("c")},
        {.path = "/", .status = 200, .body = PART("", "e")},
        {.path = "/", .status = 200, .body = PAGE("\"e\",\"f\"")},
        {.path = "/e", .status = 200, .body = NODE("e", "41", "two")},
        {.path = "/f", .status = 200, .body = NODE("f", "42", "three")},
    };
    struct fixture f;
    struct seen t = {0};

    (void)state;
    client_begin(&f, "yarn", steps, ARRAY_LEN(steps));
    assert_int_equal(list(&f, "/", &t), 0);
    assert_string_equal(buf_cstr(&t.text), "/a=one a 40 3 5f.40\n"
                                           "/e=two e 41 3 5f.41\n"
                                           "/f=three f 42 3 5f.42\n");
    assert_string_equal(t.revision, "5f.30");
    assert_int_equal(f.server.n_asked, ARRAY_LEN(steps));
    assert_true(str_starts(f.server.log.bytes, "GET /ws/v1/registry/ user.name=yarn\n"));
    assert_non_null(strstr(f.server.log.bytes, "GET /ws/v1/registry/ user.name=yarn cursor=b&c\n"));
    buf_fini(&t.text);
    client_end(&f);
}

static void test_no_children(void **state)
{
    static const struct step steps[] = {{.status = 200, .body = PAGE("")}};
    struct fixture f;
    struct seen t = {0};

    (void)state;
    client_begin(&f, "yarn", steps, ARRAY_LEN(steps));
    assert_int_equal(list(&f, "/l", &t), 0);
    assert_int_equal(t.text.len, 0);
    client_end(&f);
}

/* ---- what ends it ---- */

static void test_errors_of_the_list(void **state)
{
    static const struct step steps[] = {
        {.status = 404, .body = PROBLEM("path-not-found", "absent")},
        {.path = "/l", .status = 200, .body = PART("\"a\"", "b")},
        {.path = "/l/a", .status = 200, .body = NODE("a", "40", "one")},
        {.path = "/l", .status = 404, .body = PROBLEM("path-not-found", "gone meanwhile")},
    };
    struct fixture f;
    struct seen t = {0};

    (void)state;
    client_begin(&f, "yarn", steps, ARRAY_LEN(steps));
    assert_int_equal(list(&f, "/a/../b", &t), ERR_PATH);
    assert_int_equal(list(&f, NULL, &t), ERR_INVALID);
    assert_int_equal(f.server.n_asked, 0);
    assert_int_equal(list(&f, "/l", &t), ERR_NOTFOUND);
    assert_string_equal(t.why.text, "absent");
    assert_int_equal(list(&f, "/l", &t), ERR_NOTFOUND);
    assert_string_equal(t.why.text, "gone meanwhile");
    assert_int_equal(t.text.len, 0);
    assert_string_equal(t.revision, "");
    client_end(&f);
}

/* One child may not be read, the others are never answered: nobody waits for those. */
static void test_another_error_of_a_child(void **state)
{
    static const struct step steps[] = {
        {.path = "/l", .status = 200, .body = PART("\"a\",\"b\",\"c\"", "d")},
        {.path = "/l/a", .status = 0},
        {.path = "/l/b", .status = 403, .body = PROBLEM("no-permission", "not you")},
        {.path = "/l/c", .status = 0},
        {.path = "/m", .status = 200, .body = PAGE("\"a\"")},
        {.path = "/m/a", .status = 200, .body = NODE("a", "40", "one")},
    };
    struct fixture f;
    struct seen t = {0};

    (void)state;
    client_begin(&f, "yarn", steps, ARRAY_LEN(steps));
    assert_int_equal(list(&f, "/l", &t), ERR_PERMISSION);
    assert_string_equal(t.why.text, "not you");
    assert_int_equal(t.text.len, 0);
    assert_int_equal(list(&f, "/m", &t), 0);
    assert_string_equal(buf_cstr(&t.text), "/m/a=one a 40 3 5f.40\n");
    buf_fini(&t.text);
    client_end(&f);
}

/* ---- many ---- */

enum { N_MANY = 40, N_AT_ONCE = 16, LONG_MS = 60000 };

static bool has_many_asked(void *arg)
{
    return ((struct script_server *)arg)->n_asked >= 1 + N_AT_ONCE;
}

/* Of forty children no more are asked for than may be under way; the end of the registry ends it. */
static void test_a_few_at_a_time(void **state)
{
    struct step steps[1 + N_AT_ONCE + 1] = {{.path = "/l", .status = 200}};
    buf_auto struct buf names = BUF_EMPTY;
    mem_auto char *page = NULL;
    struct fixture f;
    struct seen t = {0};

    (void)state;
    for (int i = 0; i < N_MANY; i++)
        buf_addf(&names, "%s\"n%02d\"", i ? "," : "", i);
    page = mem_fmt("{\"nodes\":[%s]}", buf_cstr(&names));
    steps[0].body = page;
    steps[1 + N_AT_ONCE] = (struct step){.path = "/after", .status = 200, .body = BARE("after")};
    client_begin(&f, "yarn", steps, ARRAY_LEN(steps));
    reg_close(f.reg);
    client_open(&f, "yarn", f.server.url, LONG_MS);
    reg_list_records(f.reg, "/l", on_records, &t);
    script_await(f.loop, has_many_asked, &f.server);
    reg_stat(f.reg, "/after", client_done, &f.got);
    assert_int_equal(client_await(&f), 0);
    assert_int_equal(f.server.n_asked, 1 + N_AT_ONCE + 1);
    assert_non_null(strstr(f.server.log.bytes, "/l/n15 "));
    assert_int_equal(t.n_calls, 0);
    reg_close(f.reg);
    f.reg = NULL;
    assert_int_equal(t.n_calls, 1);
    assert_int_equal(t.err, ERR_CANCELLED);
    client_end(&f);
}

/* All of forty are read, also when the server that is asked first is away. */
static void test_many_from_the_next_server(void **state)
{
    struct step steps[1 + N_MANY] = {{.path = "/l", .status = 200}};
    buf_auto struct buf names = BUF_EMPTY, expected = BUF_EMPTY;
    mem_auto char *page = NULL, *both = NULL;
    struct fixture f;
    struct seen t = {0};
    char dead[64];

    (void)state;
    for (int i = 0; i < N_MANY; i++) {
        buf_addf(&names, "%s\"n%02d\"", i ? "," : "", i);
        buf_addf(&expected, "/l/n%02d=x n 50 3 5f.50\n", i);
        steps[1 + i] = (struct step){.status = 200, .body = NODE("n", "50", "x")};
    }
    page = mem_fmt("{\"nodes\":[%s]}", buf_cstr(&names));
    steps[0].body = page;
    client_begin(&f, "yarn", steps, ARRAY_LEN(steps));
    reg_close(f.reg);
    script_dead_url(dead);
    both = mem_fmt("%s,%s", dead, f.server.url);
    client_open(&f, "yarn", both, 0);
    assert_int_equal(list(&f, "/l", &t), 0);
    assert_string_equal(buf_cstr(&t.text), buf_cstr(&expected));
    buf_fini(&t.text);
    client_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_only_records),
        cmocka_unit_test(test_a_list_in_pages),
        cmocka_unit_test(test_no_children),
        cmocka_unit_test(test_errors_of_the_list),
        cmocka_unit_test(test_another_error_of_a_child),
        cmocka_unit_test(test_a_few_at_a_time),
        cmocka_unit_test(test_many_from_the_next_server),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

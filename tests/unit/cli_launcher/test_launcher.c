/** What the store of an original launcher holds: payloads, YAML, documents; and what an import makes of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/obj.h"
#include "json/json.h"
#include "launcher/lyaml.h"
#include "launcher/plan.h"
#include "launcher/stored.h"

#define ROLES                                                                                                \
    "  taskRoles: {w: {taskNumber: 2, taskService: {version: 1, entryPoint: e, sourceLocations: [/s], "      \
    "resource: {cpuNumber: 1, memoryMB: 1}}}}\n"
#define REQUEST(name, more)                                                                                  \
    "!!com.microsoft.frameworklauncher.common.model.FrameworkRequest\nframeworkDescriptor:\n  version: 3\n"  \
    "" ROLES more "frameworkName: " name "\n"

/* ---- payloads ---- */

/** Packed by gzip. */
static void pack(const char *text, size_t len, struct buf *out)
{
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, Z_BEST_COMPRESSION, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY),
                     Z_OK);
    size_t room = deflateBound(&z, len);
    z.next_in = (Bytef *)text;
    z.avail_in = (uInt)len;
    z.next_out = (Bytef *)buf_room(out, room);
    z.avail_out = (uInt)room;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    out->len += room - z.avail_out;
    deflateEnd(&z);
}

/** All of a payload. @return as payload_read */
static int unpack(const struct buf *packed, size_t len, size_t max, struct buf *out, struct err_info *why)
{
    struct payload p;
    unsigned char piece[1000];
    size_t n = 1;
    int err = 0;
    payload_begin(&p, packed->bytes, len, max);
    while (!err && n) {
        err = payload_read(&p, piece, sizeof piece, &n, why);
        if (!err)
            buf_add(out, piece, n);
    }
    payload_end(&p);
    return err;
}

static void a_payload_of_a_mebibyte_is_unpacked(void **state)
{
    buf_auto struct buf text = BUF_EMPTY, packed = BUF_EMPTY, plain = BUF_EMPTY, again = BUF_EMPTY;
    struct err_info why;
    (void)state;
    for (unsigned i = 0; text.len < (size_t)1 << 20; i++)
        buf_addf(&text, "%u ", i * 2654435761u);
    pack(text.bytes, text.len, &packed);
    assert_int_equal(unpack(&packed, packed.len, text.len, &again, &why), 0);
    assert_int_equal(again.len, text.len);
    assert_memory_equal(again.bytes, text.bytes, text.len);
    assert_int_equal(unpack(&text, text.len, text.len, &plain, &why), 0);
    assert_int_equal(plain.len, text.len);
}

static void a_truncated_or_damaged_payload_is_refused(void **state)
{
    buf_auto struct buf packed = BUF_EMPTY, out = BUF_EMPTY;
    struct err_info why;
    (void)state;
    pack("a: 1\nb: 2\n", 10, &packed);
    for (size_t len = 2; len < packed.len; len++) {
        assert_int_equal(unpack(&packed, len, 1000, &out, &why), ERR_PARSE);
        assert_string_equal(why.text, "the gzip is truncated");
    }
    buf_add_char(&packed, 'x');
    assert_int_equal(unpack(&packed, packed.len, 1000, &out, &why), ERR_PARSE);
    assert_string_equal(why.text, "something stands behind the gzip");
    packed.bytes[packed.len - 3] ^= 1;
    assert_int_equal(unpack(&packed, packed.len, 1000, &out, &why), ERR_PARSE);
    assert_non_null(strstr(why.text, "damaged"));
}

static void a_bomb_is_refused(void **state)
{
    buf_auto struct buf packed = BUF_EMPTY, out = BUF_EMPTY;
    size_t size = (size_t)32 << 20;
    mem_auto char *zeros = mem_zalloc(size);
    struct err_info why;
    (void)state;
    pack(zeros, size, &packed);
    assert_true(packed.len < 100000);
    assert_int_equal(unpack(&packed, packed.len, 1 << 20, &out, &why), ERR_TOOBIG);
    assert_true(out.len <= 1 << 20);
    assert_int_equal(unpack(&(struct buf){zeros, 11, 11}, 11, 10, &out, &why), ERR_TOOBIG);
}

/* ---- YAML ---- */

static const struct lyaml_limits small = {.depth = 5, .n_values = 40, .n_bytes = 200};

/** Reads a text. @param class  free() @param json  compact, free() */
static int read_yaml(const char *text, const struct lyaml_limits *limits, char **class, char **json,
                     struct err_info *why)
{
    json_auto json_t *value = NULL;
    buf_auto struct buf out = BUF_EMPTY;
    struct payload p;
    *class = *json = NULL;
    payload_begin(&p, text, strlen(text), 1 << 20);
    int err = lyaml_read(&p, limits, class, &value, why);
    payload_end(&p);
    if (err)
        return err;
    json_write(value, &out);
    *json = buf_take(&out);
    return 0;
}

static void values_are_those_of_yaml(void **state)
{
    static const struct {
        const char *text, *json;
    } rows[] = {
        {"a: 1\nb: '1'\nc: -7\nd: 1.5\n", "{\"a\":1,\"b\":\"1\",\"c\":-7,\"d\":1.5}"},
        {"[null, ~, true, False, yes, off, 'null', \"true\"]",
         "[null,null,true,false,true,false,\"null\",\"true\"]"},
        {"[010, 0x10, 1:30, 1_000, 2001-01-01, .inf, 1e3, 99999999999999999999]",
         "[\"010\",\"0x10\",\"1:30\",\"1_000\",\"2001-01-01\",\".inf\",\"1e3\",\"99999999999999999999\"]"},
        {"!!set {a: null, ? {n: 1} : null}", "[\"a\",{\"n\":1}]"},
        {"!!set {}", "[]"},
        {"a: !!binary aGFs\n  bMO2\n", "{\"a\":\"hallö\"}"},
        {"a: !!str 1\nb: !!int '2'\nc: !!x.Y 'START'\n", "{\"a\":\"1\",\"b\":2,\"c\":\"START\"}"},
        {"a: |\n  x\n  y\nb: >-\n  x\n  y\n", "{\"a\":\"x\\ny\\n\",\"b\":\"x y\"}"},
        {"a: &p {x: 1}\nb: *p\nc: &q t\nd: [*q, *q]\n",
         "{\"a\":{\"x\":1},\"b\":{\"x\":1},\"c\":\"t\",\"d\":[\"t\",\"t\"]}"},
        {"a: 1\na: 2\n", "{\"a\":2}"},
        {"a:\n", "{\"a\":null}"},
        {"1: x\n", "{\"1\":\"x\"}"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        mem_auto char *class = NULL, *json = NULL;
        struct err_info why = {0};
        assert_int_equal(read_yaml(rows[i].text, &small, &class, &json, &why), 0);
        assert_string_equal(json, rows[i].json);
        assert_string_equal(class, "");
    }
}

/** A document as SnakeYAML 1.26 has written it. */
static void what_snakeyaml_writes_is_read(void **state)
{
    static const char text[] =
        "!!com.m.Outer$Inner\nd: '2001-01-01'\ndescription: !!binary |-\n  YQFiIPCfjoggeAp5OiAnMScK\n"
        "e: ''\nlong: 'word \\\"q\\\" $X; word \\\"q\\\"\n  $X; '\nminFailed: null\n"
        "namespaceAcls:\n  team:\n    users: !!set\n      ? &id001 {name: bob}\n      : null\n"
        "      ? {name: '17'}\n      : null\nnormalAdminUsers: !!set\n  *id001: null\n"
        "progress: 0.25\nsrc: [/s, 'hdfs://a/b c']\n'yes': 'yes'\nz: 1.0E-5\n";
    static const struct lyaml_limits limits = {.depth = 8, .n_values = 100, .n_bytes = 1000};
    mem_auto char *class = NULL, *json = NULL;
    struct err_info why = {0};
    (void)state;
    assert_int_equal(read_yaml(text, &limits, &class, &json, &why), 0);
    assert_string_equal(class, "Outer$Inner");
    assert_string_equal(
        json, "{\"d\":\"2001-01-01\",\"description\":\"a\\u0001b 🎈 x\\ny: '1'\\n\",\"e\":\"\","
              "\"long\":\"word \\\\\\\"q\\\\\\\" $X; word \\\\\\\"q\\\\\\\" $X; \",\"minFailed\":null,"
              "\"namespaceAcls\":{\"team\":{\"users\":[{\"name\":\"bob\"},{\"name\":\"17\"}]}},"
              "\"normalAdminUsers\":[{\"name\":\"bob\"}],\"progress\":0.25,"
              "\"src\":[\"/s\",\"hdfs://a/b c\"],\"yes\":\"yes\",\"z\":1.0000000000000001e-5}");
}

static void what_is_malformed_is_refused_with_its_place(void **state)
{
    static const struct {
        const char *text;
        int err;
        const char *where, *part;
    } rows[] = {
        {"", ERR_PARSE, "1:1", "no document"},
        {"a: [", ERR_PARSE, "2:1", ""},
        {"a: 1\n\tb: 2\n", ERR_PARSE, "2:1", ""},
        {"a: 1\n--- 2\n", ERR_PARSE, "2:1", "more than one document"},
        {"a: *x\n", ERR_PARSE, "1:4", "an alias of no anchor before it"},
        {"&a [*a]\n", ERR_PARSE, "1:5", "an alias of no anchor before it"},
        {"? {a: 1}\n: 2\n", ERR_PARSE, "1:3", "a key that is no text"},
        {"a: \"x\\0y\"\n", ERR_PARSE, "1:4", "NUL"},
        {"a: !!binary '!!!'\n", ERR_PARSE, "1:4", "no base64"},
        {"a: !!binary AAAA\n", ERR_PARSE, "1:4", "no text"},
        {"a: \xff\n", ERR_PARSE, "1:1", ""},
        {"[[[[[[1]]]]]]", ERR_TOOBIG, "", "nested"},
        {"- &a [[[1]]]\n- &b [[*a]]\n", ERR_TOOBIG, "", "nested"},
        {"- &a [1,2,3,4,5,6,7,8]\n- &b [*a,*a,*a]\n- [*b,*b]\n", ERR_TOOBIG, "", "values"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        mem_auto char *class = NULL, *json = NULL;
        struct err_info why = {0};
        assert_int_equal(read_yaml(rows[i].text, &small, &class, &json, &why), rows[i].err);
        assert_string_equal(why.where, rows[i].where);
        assert_non_null(strstr(why.text, rows[i].part));
        assert_true(why.text[0] && !class && !json);
    }
}

static void texts_are_bounded_copies_too(void **state)
{
    mem_auto char *class = NULL, *json = NULL;
    buf_auto struct buf text = BUF_EMPTY;
    struct err_info why;
    (void)state;
    buf_addf(&text, "[&a '%060d', *a, *a, *a]", 0);
    assert_int_equal(read_yaml(buf_cstr(&text), &small, &class, &json, &why), ERR_TOOBIG);
    assert_non_null(strstr(why.text, "bytes of text"));
}

static void only_the_members_that_are_wanted_are_kept(void **state)
{
    static const char *const only[] = {"list", "a", NULL};
    static const struct lyaml_limits limits = {.depth = 5, .n_values = 6, .n_bytes = 60, .only = only};
    mem_auto char *class = NULL, *json = NULL;
    struct err_info why;
    (void)state;
    assert_int_equal(read_yaml("!!com.m.X\nb: [1, 2, 3, 4, 5, 6, 7, 8, {c: &q !!set {a: null}}]\n"
                               "list:\n- {a: 1, b: {a: 2}}\n- {b: 1}\n",
                               &limits, &class, &json, &why),
                     0);
    assert_string_equal(json, "{\"list\":[{\"a\":1},{}]}");
    assert_string_equal(class, "X");
}

/* ---- documents ---- */

static struct stored_bytes of(const char *text)
{
    return (struct stored_bytes){text, strlen(text)};
}

static void a_request_is_read(void **state)
{
    static const char text[] =
        REQUEST("f", "  user: {name: bob}\n  executionType: STOP\n  description: null\n"
                     "  parentFramework: {parentFrameworkName: p}\n  unknownMember: {a: "
                     "[1]}\n") "launchClientType: WEB_UI\nfirstRequestTimestamp: "
                               "1700000000000\nzzz: 1\n";
    struct stored_request r;
    struct err_info why;
    (void)state;
    assert_int_equal(stored_request_read("f", of(text), &r, &why), 0);
    assert_string_equal(r.user, "bob");
    assert_string_equal(r.parent, "p");
    assert_string_equal(r.client, "WEB_UI");
    assert_int_equal(r.version, 3);
    assert_true(r.is_stopped);
    assert_int_equal(r.n_roles, 1);
    assert_int_equal(r.n_tasks, 2);
    assert_non_null(strstr(r.descriptor, "\"unknownMember\":{\"a\":[1]}"));
    assert_non_null(strstr(r.descriptor, "\"description\":null"));
    stored_request_fini(&r);
}

static void numbers_may_be_texts_and_names_numbers(void **state)
{
    static const char text[] = "frameworkName: 17\nframeworkDescriptor:\n  version: '-4'\n"
                               "  taskRoles: {'1': {taskNumber: '5'}, b: {taskNumber: x}}\n";
    struct stored_request r;
    struct err_info why;
    (void)state;
    assert_int_equal(stored_request_read("17", of(text), &r, &why), 0);
    assert_int_equal(r.version, -4);
    assert_int_equal(r.n_tasks, 5);
    assert_string_equal(r.user, "default");
    assert_string_equal(r.client, "UNKNOWN");
    assert_null(r.parent);
    stored_request_fini(&r);
}

static void a_request_that_is_none_is_refused_with_its_member(void **state)
{
    static const struct {
        const char *name, *text, *where;
    } rows[] = {
        {"f", "null", ""},
        {"f", "!!com.microsoft.frameworklauncher.common.model.FrameworkStatus\na: 1\n", ""},
        {"f", REQUEST("g", ""), "frameworkName"},
        {"a b", REQUEST("'a b'", ""), "frameworkName"},
        {"..", REQUEST("..", ""), "frameworkName"},
        {"f", REQUEST("f", "") "launchClientType: \"A\\r\\nB: c\"\n", "launchClientType"},
        {"f", REQUEST("f", "  user: {name: \"a\\r\\nb\"}\n"), "frameworkDescriptor.user.name"},
        {"f", REQUEST("f", "  user: null\n"), "frameworkDescriptor.user.name"},
        {"f", REQUEST("f", "  executionType: PAUSE\n"), "frameworkDescriptor.executionType"},
        {"f", REQUEST("f", "  version: 1.5\n"), "frameworkDescriptor.version"},
        {"f", REQUEST("f", "  version: 2147483648\n"), "frameworkDescriptor.version"},
        {"f", REQUEST("f", "  taskRoles: {}\n"), "frameworkDescriptor.taskRoles"},
        {"f", REQUEST("f", "  taskRoles: {a/b: {}}\n"), "frameworkDescriptor.taskRoles"},
        {"f", REQUEST("f", "  parentFramework: {}\n"),
         "frameworkDescriptor.parentFramework.parentFrameworkName"},
        {"f", "frameworkName: f\nframeworkDescriptor: [1]\n", "frameworkDescriptor"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct stored_request r;
        struct err_info why = {0};
        assert_int_equal(stored_request_read(rows[i].name, of(rows[i].text), &r, &why), ERR_PARSE);
        assert_string_equal(why.where, rows[i].where);
        assert_true(why.text[0] && !r.descriptor);
        stored_request_fini(&r);
    }
}

static void tasks_that_run_are_counted(void **state)
{
    buf_auto struct buf text = BUF_EMPTY, packed = BUF_EMPTY;
    struct err_info why;
    size_t n = 0;
    (void)state;
    buf_add_str(&text, "!!com.microsoft.frameworklauncher.common.model.TaskStatuses\ntaskStatusArray:\n");
    for (unsigned i = 0; i < 50000; i++)
        buf_addf(&text, "- {containerHost: node%u.example, taskIndex: %u, taskState: %s}\n", i % 97, i,
                 i % 5 ? "CONTAINER_RUNNING" : "TASK_COMPLETED");
    pack(text.bytes, text.len, &packed);
    assert_int_equal(stored_tasks_read((struct stored_bytes){packed.bytes, packed.len}, &n, &why), 0);
    assert_int_equal(n, 40000);
}

static void a_status_says_of_which_version_it_is(void **state)
{
    struct stored_state s;
    struct err_info why;
    (void)state;
    assert_int_equal(
        stored_state_read(of("frameworkState: FRAMEWORK_COMPLETED\nframeworkVersion: 4\n"), &s, &why), 0);
    assert_string_equal(s.state, "FRAMEWORK_COMPLETED");
    assert_int_equal(s.version, 4);
    assert_int_equal(stored_state_read(of("frameworkState: \"A\\e[1m\"\nframeworkVersion: 4\n"), &s, &why),
                     ERR_PARSE);
    assert_int_equal(stored_state_read(of("frameworkState: A\n"), &s, &why), ERR_PARSE);
}

static void progress_is_a_share(void **state)
{
    struct err_info why;
    double progress;
    (void)state;
    assert_int_equal(stored_progress_read(of("applicationProgress: 0.25\n"), &progress, &why), 0);
    assert_true(progress == 0.25);
    assert_int_equal(stored_progress_read(of("applicationProgress: 1\n"), &progress, &why), 0);
    assert_true(progress == 1);
    assert_int_equal(stored_progress_read(of("applicationProgress: 1.01\n"), &progress, &why), ERR_PARSE);
    assert_int_equal(stored_progress_read(of("applicationProgress: -0.1\n"), &progress, &why), ERR_PARSE);
    assert_int_equal(stored_progress_read(of("applicationProgress: .nan\n"), &progress, &why), ERR_PARSE);
    assert_int_equal(stored_progress_read(of("a: 1\n"), &progress, &why), ERR_PARSE);
    assert_string_equal(why.where, "applicationProgress");
}

/* ---- the plan ---- */

static struct plan_entry *add(struct plan *plan, const char *name, const char *parent)
{
    struct plan_entry *e = plan_add(plan, "/Requests/x");
    e->request.name = mem_str(name);
    e->request.parent = mem_str(parent);
    e->request.user = mem_str("alice");
    e->request.version = 3;
    return e;
}

static void parents_come_before_their_children(void **state)
{
    static const struct {
        const char *name, *parent;
    } rows[] = {{"a", "c"}, {"b", "a"}, {"c", NULL}, {"d", "d"}, {"x", "y"}, {"y", "x"}, {"z", "none"}};
    struct plan plan = {0};
    buf_auto struct buf names = BUF_EMPTY;
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        (void)add(&plan, rows[i].name, rows[i].parent);
    add(&plan, "document", NULL)->document = "AclConfiguration";
    plan_order(&plan);
    for (size_t i = 0; i < plan.n_items; i++)
        buf_addf(&names, "%s ", plan.items[i]->request.name);
    assert_string_equal(buf_cstr(&names), "document c a b d y x z ");
    plan_fini(&plan);
}

static void what_svcmgr_has_decides(void **state)
{
    static const struct {
        const char *there;
        enum plan_action plain, overwriting;
    } rows[] = {
        {NULL, PLAN_NEW, PLAN_NEW},
        {"{\"userName\":\"alice\",\"frameworkVersion\":3}", PLAN_SAME, PLAN_UPDATE},
        {"{\"userName\":\"alice\",\"frameworkVersion\":4}", PLAN_DIFFERS, PLAN_REPLACE},
        {"{\"userName\":\"bob\",\"frameworkVersion\":3}", PLAN_DIFFERS, PLAN_DIFFERS},
        {"{}", PLAN_DIFFERS, PLAN_DIFFERS},
    };
    struct plan plan = {0};
    struct plan_entry *e = add(&plan, "f", NULL);
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        json_auto json_t *there = rows[i].there ? json_loads(rows[i].there, 0, NULL) : NULL;
        plan_framework(e, there, false);
        assert_int_equal(e->action, rows[i].plain);
        plan_framework(e, there, true);
        assert_int_equal(e->action, rows[i].overwriting);
    }
    plan_fini(&plan);
}

static void documents_are_compared_as_sets(void **state)
{
    static const struct {
        const char *there;
        enum plan_action plain, overwriting;
    } rows[] = {
        {"{\"admins\":[],\"acls\":{}}", PLAN_NEW, PLAN_NEW},
        {"{\"admins\":[{\"name\":\"b\"},{\"name\":\"a\",\"x\":null}],\"acls\":null}", PLAN_SAME, PLAN_SAME},
        {"{\"admins\":[{\"name\":\"b\"}]}", PLAN_DIFFERS, PLAN_REPLACE},
    };
    struct plan plan = {0};
    struct plan_entry *e = add(&plan, "AclConfiguration", NULL);
    (void)state;
    e->value = json_loads("{\"admins\":[{\"name\":\"a\"},{\"name\":\"b\"},{\"name\":\"a\"}]}", 0, NULL);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        json_auto json_t *there = json_loads(rows[i].there, 0, NULL);
        plan_document(e, there, false);
        assert_int_equal(e->action, rows[i].plain);
        plan_document(e, there, true);
        assert_int_equal(e->action, rows[i].overwriting);
    }
    plan_fini(&plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_payload_of_a_mebibyte_is_unpacked),
        cmocka_unit_test(a_truncated_or_damaged_payload_is_refused),
        cmocka_unit_test(a_bomb_is_refused),
        cmocka_unit_test(values_are_those_of_yaml),
        cmocka_unit_test(what_snakeyaml_writes_is_read),
        cmocka_unit_test(what_is_malformed_is_refused_with_its_place),
        cmocka_unit_test(texts_are_bounded_copies_too),
        cmocka_unit_test(only_the_members_that_are_wanted_are_kept),
        cmocka_unit_test(a_request_is_read),
        cmocka_unit_test(numbers_may_be_texts_and_names_numbers),
        cmocka_unit_test(a_request_that_is_none_is_refused_with_its_member),
        cmocka_unit_test(tasks_that_run_are_counted),
        cmocka_unit_test(a_status_says_of_which_version_it_is),
        cmocka_unit_test(progress_is_a_share),
        cmocka_unit_test(parents_come_before_their_children),
        cmocka_unit_test(what_svcmgr_has_decides),
        cmocka_unit_test(documents_are_compared_as_sets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

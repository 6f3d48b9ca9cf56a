/** Input and output rules of the services API. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/obj.h"
#include "json/json.h"
#include "spec/spec.h"

static struct spec_service *read_ok(const char *text)
{
    struct err_info why = {0};
    struct spec_service *s = NULL;
    if (spec_read(text, strlen(text), &s, NULL, &why))
        fail_msg("%s: %s", text, why.text);
    return s;
}

static void lenient_input(void **state)
{
    (void)state;
    struct spec_service *s = read_ok(
        "{\"name\":5,\"lifetime\":\"3600\",\"unknown\":{\"a\":[1]},\"queue\":null,\"description\":true,"
        "\"resource\":{\"cpus\":\"2\",\"memory\":2048},\"dependencies\":null,"
        "\"configuration\":{\"env\":{\"A\":1,\"B\":true,\"C\":null,\"D\":1.5},\"files\":[{\"type\":\"ENV\","
        "\"props\":{\"k\":\"v\"}}]},"
        "\"components\":[{\"number_of_containers\":1.9,\"run_privileged_container\":\"TRUE\",\"containers\":["
        "{\"id\":1}]},"
        "{\"number_of_containers\":\"\",\"resource\":{\"cpus\":null}},{\"number_of_containers\":\"-2\"}],"
        "\"name\":\"last\"}");
    assert_string_equal(s->name, "last");
    assert_string_equal(s->description, "true");
    assert_int_equal(s->lifetime, 3600);
    assert_int_equal(s->resource->cpus, 2);
    assert_string_equal(s->resource->memory, "2048");
    assert_null(s->queue);
    assert_string_equal(json_string_value(json_object_get(s->configuration->env, "A")), "1");
    assert_string_equal(json_string_value(json_object_get(s->configuration->env, "B")), "true");
    assert_string_equal(json_string_value(json_object_get(s->configuration->env, "D")), "1.5");
    assert_null(json_object_get(s->configuration->env, "C"));
    assert_string_equal(json_string_value(json_object_get(s->configuration->files[0]->properties, "k")), "v");
    assert_int_equal(s->components[0]->number_of_containers, 1);
    assert_true(s->components[0]->run_privileged_container);
    assert_int_equal(s->components[1]->number_of_containers, FLD_UNSET);
    assert_int_equal(s->components[1]->resource->cpus, FLD_UNSET);
    assert_int_equal(s->components[2]->number_of_containers, -2);
    assert_true(s->components[2]->count_is_relative);
    spec_free(s);
}

static void refused_input(void **state)
{
    (void)state;
    static const struct {
        const char *text, *where;
    } rows[] = {
        {"{", "1:2"},
        {"[]", ""},
        {"{\"name\":{}}", "/name"},
        {"{\"lifetime\":\"soon\"}", "/lifetime"},
        {"{\"lifetime\":true}", "/lifetime"},
        {"{\"state\":\"stopped\"}", "/state"},
        {"{\"state\":1}", "/state"},
        {"{\"components\":{}}", "/components"},
        {"{\"components\":[1]}", "/components/0"},
        {"{\"components\":[{\"dependencies\":\"a\"}]}", "/components/0/dependencies"},
        {"{\"components\":[{},{\"restart_policy\":\"SOMETIMES\"}]}", "/components/1/restart_policy"},
        {"{\"configuration\":{\"env\":{\"A\":[]}}}", "/configuration/env"},
        {"{\"configuration\":{\"files\":[{\"type\":\"EXE\"}]}}", "/configuration/files/0/type"},
        {"{\"resource\":{\"cpus\":1e300}}", "/resource/cpus"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err_info why = {0};
        struct spec_service *s = NULL;
        assert_int_equal(spec_read(rows[i].text, strlen(rows[i].text), &s, NULL, &why), ERR_JSON);
        assert_null(s);
        if (i > 0)
            assert_string_equal(why.where, rows[i].where);
    }
}

static void output_rules(void **state)
{
    (void)state;
    struct spec_service *s =
        read_ok("{\"name\":\"a\",\"version\":\"1\",\"state\":\"STOPPED\",\"components\":[{\"name\":\"c\","
                "\"number_of_containers\":1}]}");
    json_t *doc = spec_write(s);
    json_t *wanted = json_loads(
        "{\"name\":\"a\",\"version\":\"1\",\"components\":[{\"name\":\"c\",\"dependencies\":[],"
        "\"number_of_containers\":1,\"run_privileged_container\":false,\"configuration\":{\"properties\":{},"
        "\"env\":{},"
        "\"files\":[]},\"quicklinks\":[],\"restart_policy\":\"ALWAYS\",\"decommissioned_instances\":[]}],"
        "\"configuration\":{\"properties\":{},\"env\":{},\"files\":[]},\"quicklinks\":{},\"kerberos_"
        "principal\":{},"
        "\"dependencies\":[]}",
        0, NULL);
    assert_true(json_equal(doc, wanted));
    struct spec_service *copy = spec_copy(s);
    json_t *again = spec_write(copy);
    assert_true(json_equal(again, wanted));
    json_decref(doc);
    json_decref(wanted);
    json_decref(again);
    spec_free(s);
    spec_free(copy);
}

static void dates(void **state)
{
    (void)state;
    struct dated {
        int64_t at_ms;
    };
    static const struct fld flds[] = {FLD_DATE("at", struct dated, at_ms, 0)};
    static const struct fld_type type = {"dated", sizeof(struct dated), flds, 1, NULL};
    static const struct {
        const char *text;
        int64_t at_ms;
    } rows[] = {
        {"{\"at\":1504051512412}", 1504051512412},
        {"{\"at\":\"1504051512412\"}", 1504051512412},
        {"{\"at\":\"2017-08-30T00:05:12.412Z\"}", 1504051512412},
        {"{\"at\":\"2017-08-30T00:05:12+0000\"}", 1504051512000},
        {"{\"at\":\"yesterday\"}", -1},
        {"{\"at\":\"2017-08-30T00:05:12X\"}", -1},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        json_t *doc = json_loads(rows[i].text, 0, NULL);
        void *object = NULL;
        int rc = fld_read(&type, doc, &object, NULL);
        assert_int_equal(rc, rows[i].at_ms < 0 ? ERR_JSON : 0);
        if (!rc)
            assert_int_equal(((struct dated *)object)->at_ms, rows[i].at_ms);
        fld_free(&type, object);
        json_decref(doc);
    }
}

static void names_of_the_registry(void **state)
{
    (void)state;
    mem_auto char *user = spec_registry_user("Hello_World/host@REALM");
    mem_auto char *id = spec_registry_container("container_e03_1503963985568_0002_01_000002");
    mem_auto char *plain = spec_registry_user("x1"), *digits = spec_registry_user("1-x"),
                  *none = spec_registry_user("@x");
    mem_auto char *dotted = spec_registry_user("A.b"), *other = spec_registry_user("a~b"),
                  *last = spec_registry_user("a-");
    mem_auto char *foreign = spec_registry_user("\xc3\xb6.x");
    static const char dotted_label[] = "a-b-x";
    assert_string_equal(user, "hello-world");
    assert_string_equal(plain, "x1");
    assert_string_equal(digits, "1-x");
    assert_string_equal(none, "");
    assert_string_equal(foreign, "\xc3\xb6.x"); /* the registry's rule */
    assert_memory_equal(dotted, dotted_label, strlen(dotted_label));
    assert_memory_equal(other, dotted_label, strlen(dotted_label));
    assert_string_not_equal(dotted, other);
    assert_int_equal(strlen(dotted), strlen(dotted_label) + 26);
    assert_memory_equal(last, "a-x", strlen("a-x"));
    assert_string_equal(id, "ctr-e03-1503963985568-0002-01-000002");
}

/* ---- what we have written ourselves ---- */

struct inner {
    int64_t n;
};

struct plain {
    char *text;
    int64_t n;
    bool yes;
    int word;
    json_t *tree;
    struct inner *inner;
    char **list;
    size_t n_list;
};

static const char *const words[] = {"ONE", "TWO", NULL};
static const struct fld inner_flds[] = {FLD_I64("n", struct inner, n, 0)};
static const struct fld_type inner_type = {"inner", sizeof(struct inner), inner_flds, 1, NULL};
static const struct fld plain_flds[] = {
    FLD_STR("text", struct plain, text, 0),  FLD_I64("n", struct plain, n, 0),
    FLD_BOOL("yes", struct plain, yes, 0),   FLD_ENUM("word", struct plain, word, 0, words),
    FLD_JSON("tree", struct plain, tree, 0), FLD_OBJ("inner", struct plain, inner, 0, &inner_type),
    FLD_STRS("list", struct plain, list, 0),
};
static const struct fld_type plain_type = {"plain", sizeof(struct plain), plain_flds, ARRAY_LEN(plain_flds),
                                           NULL};

static void what_we_write_is_read_in_one_pass(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{}",
        "{\"text\":\"a \\\"b\\\" \\\\ c\\n\",\"n\":-9223372036854775807,\"yes\":true,\"word\":\"TWO\"}",
        "{\"n\":0,\"tree\":{\"a\":[1,2,{\"b\":null}],\"c\":\"}\"},\"inner\":{\"n\":7}}",
        "{\"word\":\"ONE\",\"inner\":{}}",
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        json_auto json_t *doc = NULL;
        buf_auto struct buf out = BUF_EMPTY, expected = BUF_EMPTY;
        void *slow = NULL;
        struct plain *p = fld_read_plain(&plain_type, NULL, texts[i], strlen(texts[i]));
        assert_non_null(p);
        assert_int_equal(json_read(texts[i], strlen(texts[i]), &doc, NULL), 0);
        assert_int_equal(fld_read(&plain_type, doc, &slow, NULL), 0);
        fld_write_text(&plain_type, p, &out);
        fld_write_text(&plain_type, slow, &expected);
        assert_string_equal(buf_cstr(&out), buf_cstr(&expected));
        assert_string_equal(buf_cstr(&out), texts[i]);
        fld_free(&plain_type, p);
        fld_free(&plain_type, slow);
    }
    static const char first[] = "{\"format\":2,\"n\":3}";
    struct plain *p = fld_read_plain(&plain_type, "format", first, strlen(first));
    assert_int_equal(p->n, 3);
    fld_free(&plain_type, p);
}

/** Right or wrong: json_read and fld_read decide, which accept more and say what is wrong. */
static void anything_else_is_left_to_the_tree(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "[]",
        "{\"n\":1",
        "{\"n\":1} ",
        "{\"n\":1}{}",
        "{\"n\":\"1\"}",
        "{\"n\":1.0}",
        "{\"n\":null}",
        "{\"n\":9223372036854775808}",
        "{\"n\":1,\"n\":2}",
        "{\"n\":1,\"text\":\"x\"}",
        "{\"text\":5}",
        "{\"text\":\"\\u0000\"}",
        "{\"text\":\"\xc3\xa4\"}",
        "{\"yes\":\"true\"}",
        "{\"word\":\"THREE\"}",
        "{\"inner\":[]}",
        "{\"inner\":{\"n\":{}}}",
        "{\"tree\":{\"a\":}}",
        "{\"list\":[\"a\"]}",
        "{\"else\":1}",
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        assert_null(fld_read_plain(&plain_type, NULL, texts[i], strlen(texts[i])));
    assert_null(fld_read_plain(&plain_type, "format", "{\"n\":1}", strlen("{\"n\":1}")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_we_write_is_read_in_one_pass),
        cmocka_unit_test(anything_else_is_left_to_the_tree),
        cmocka_unit_test(lenient_input),
        cmocka_unit_test(refused_input),
        cmocka_unit_test(output_rules),
        cmocka_unit_test(dates),
        cmocka_unit_test(names_of_the_registry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

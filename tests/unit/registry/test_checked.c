/** A checked record: what a person wrote becomes Hadoop's bytes once, and what may not be stored becomes nothing. */
#include "registry/checked.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static int read_text(const char *json, enum reg_read mode, struct reg_checked *out, struct err_info *why)
{
    return reg_checked_read(json, strlen(json), mode, out, why);
}

static void a_record_of_a_person_gets_canonical_bytes(void **state)
{
    static const char canonical[] = "{\"type\":\"JSONServiceRecord\",\"description\":\"d\",\"external\":[],"
                                    "\"internal\":[],\"yarn:id\":\"x\"}";
    struct reg_checked c = {0};
    (void)state;
    int err =
        read_text(" {\"yarn:id\": \"x\", \"description\": \"d\", \"external\": []} ", REG_LENIENT, &c, NULL);
    assert_int_equal(err, 0);
    assert_string_equal(c.bytes, canonical);
    assert_int_equal(c.len, strlen(canonical));
    assert_string_equal(reg_record_get(c.record, "yarn:id"), "x");
    reg_checked_fini(&c);
}

static void canonical_bytes_stay_as_they_are(void **state)
{
    struct reg_checked first = {0}, second = {0};
    (void)state;
    assert_int_equal(read_text("{\"type\":\"JSONServiceRecord\",\"a\":\"b\"}", REG_STRICT, &first, NULL), 0);
    assert_int_equal(read_text(first.bytes, REG_STRICT, &second, NULL), 0);
    assert_string_equal(first.bytes, second.bytes);
    reg_checked_fini(&first);
    reg_checked_fini(&second);
}

static void what_may_not_be_stored_leaves_the_output_alone(void **state)
{
    static const struct {
        const char *json;
        enum reg_read mode;
        int err;
        const char *where;
    } rows[] = {
        {"", REG_LENIENT, ERR_NORECORD, ""},
        {"{\"description\":\"of nothing\"}", REG_LENIENT, ERR_RECORD, ""},
        {"{\"type\":\"Other\",\"external\":[]}", REG_LENIENT, ERR_RECORD, "/type"},
        {"{\"external\":[]}", REG_STRICT, ERR_NORECORD, ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct reg_checked c = {.len = 7};
        struct err_info why = {0};
        assert_int_equal(read_text(rows[i].json, rows[i].mode, &c, &why), rows[i].err);
        assert_string_equal(why.where, rows[i].where);
        assert_null(c.record);
        assert_null(c.bytes);
        assert_int_equal(c.len, 7);
    }
}

static void a_released_record_is_empty(void **state)
{
    struct reg_checked c = {0};
    (void)state;
    assert_int_equal(read_text("{\"type\":\"JSONServiceRecord\"}", REG_STRICT, &c, NULL), 0);
    reg_checked_fini(&c);
    reg_checked_fini(&c);
    assert_null(c.record);
    assert_null(c.bytes);
    assert_int_equal(c.len, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_of_a_person_gets_canonical_bytes),
        cmocka_unit_test(canonical_bytes_stay_as_they_are),
        cmocka_unit_test(what_may_not_be_stored_leaves_the_output_alone),
        cmocka_unit_test(a_released_record_is_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

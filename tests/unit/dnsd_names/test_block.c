/* Packed blocks: what is written is read back, and a block that was cut short ends early. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/buf.h"
#include "names/block.h"

static void fields_come_back_in_order(void **state)
{
    (void)state;
    buf_auto struct buf bytes = BUF_EMPTY;
    block_begin(&bytes, BLOCK_CONTAINER);
    block_add(&bytes, "web-0");
    block_add(&bytes, NULL);
    block_add(&bytes, "");
    block_add_n(&bytes, "8080/x", 4);
    struct block b = {bytes.bytes, bytes.bytes + bytes.len};
    assert_int_equal(block_next_kind(&b), BLOCK_CONTAINER);
    assert_string_equal(block_next_present(&b), "web-0");
    assert_null(block_next_present(&b));
    assert_string_equal(block_next_present(&b), ""); /* empty is not absent */
    assert_string_equal(block_next(&b), "8080");
    assert_null(block_next(&b));
    assert_null(block_next_present(&b));
}

/** Snapshots on disk hold these octets. */
static void octets_stay_the_same(void **state)
{
    (void)state;
    buf_auto struct buf bytes = BUF_EMPTY;
    block_begin(&bytes, BLOCK_APPLICATION);
    block_add(&bytes, "http");
    block_add(&bytes, NULL);
    assert_int_equal(bytes.len, 9);
    assert_memory_equal(bytes.bytes, "a\0http\0\1", 9);
}

static void any_other_kind_has_no_names(void **state)
{
    (void)state;
    static const char unknown[] = "z\0web";
    struct block b = {unknown, unknown + sizeof unknown}, empty = {unknown, unknown};
    assert_int_equal(block_next_kind(&b), BLOCK_NO_NAMES);
    assert_string_equal(block_next(&b), "web");
    assert_int_equal(block_next_kind(&empty), BLOCK_NO_NAMES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_come_back_in_order),
        cmocka_unit_test(octets_stay_the_same),
        cmocka_unit_test(any_other_kind_has_no_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

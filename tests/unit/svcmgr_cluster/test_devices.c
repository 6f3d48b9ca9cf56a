/** Devices of resource types: which parts a container gets, and what is free afterwards. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cluster/local_devices.h"

#define HOST "yarn.io/gpu=/dev/g0+/dev/gctl,/dev/g1+/dev/gctl,/dev/g2\nyarn.io/fpga=/dev/f0\n"

static char *take(struct local_devices *d, const char *type, int64_t n)
{
    struct spec_amount amount = {(char *)type, n, 0};
    const struct spec_needs needs = {.amounts = &amount, .n_amounts = 1};

    return local_devices_take(d, &needs);
}

static void each_container_gets_parts_of_its_own(void **state)
{
    struct local_devices d;
    (void)state;

    local_devices_init(&d, HOST);
    mem_auto char *first = take(&d, "yarn.io/gpu", 2), *second = take(&d, "yarn.io/gpu", 1);
    mem_auto char *other = take(&d, "yarn.io/fpga", 1), *unknown = take(&d, "yarn.io/tpu", 1);
    assert_string_equal(first, "/dev/g0+/dev/gctl,/dev/g1+/dev/gctl");
    assert_string_equal(second, "/dev/g2");
    assert_string_equal(other, "/dev/f0");
    assert_string_equal(unknown, "");

    local_devices_hold(&d, first, false);
    mem_auto char *third = take(&d, "yarn.io/gpu", 1);
    assert_string_equal(third, "/dev/g0+/dev/gctl");
    local_devices_fini(&d);
}

static void what_an_earlier_process_gave_stays_held(void **state)
{
    struct local_devices d;
    (void)state;

    local_devices_init(&d, HOST);
    local_devices_hold(&d, "/dev/g0+/dev/gctl,/dev/removed", true);
    mem_auto char *next = take(&d, "yarn.io/gpu", 1);
    assert_string_equal(next, "/dev/g1+/dev/gctl");
    local_devices_fini(&d);
}

static void without_devices_there_are_none(void **state)
{
    struct local_devices d;
    (void)state;

    local_devices_init(&d, NULL);
    mem_auto char *none = take(&d, "yarn.io/gpu", 4), *nothing = local_devices_take(&d, NULL);
    assert_string_equal(none, "");
    assert_string_equal(nothing, "");
    local_devices_hold(&d, NULL, false);
    local_devices_fini(&d);
}

static char *take_mask(struct local_devices *d, int64_t mask, char **lack)
{
    struct spec_amount amount = {(char *)"yarn.io/gpu", __builtin_popcountll((unsigned long long)mask), mask};
    const struct spec_needs needs = {.amounts = &amount, .n_amounts = 1};

    *lack = local_devices_lack(d, &needs);
    return *lack ? NULL : local_devices_take(d, &needs);
}

static void gpus_are_numbered_and_may_be_chosen(void **state)
{
    struct local_devices d;
    char *lack = NULL;
    (void)state;

    local_devices_init(&d, HOST);
    local_devices_add_gpus(&d, 3);
    mem_auto char *middle = take_mask(&d, 2, &lack);
    assert_string_equal(middle, "/dev/g1+/dev/gctl");
    assert_int_equal(local_devices_gpus(&d, middle), 2);
    mem_auto char *others = take(&d, "yarn.io/gpu", 2);
    assert_int_equal(local_devices_gpus(&d, others), 5);
    assert_null(take_mask(&d, 2, &lack));
    assert_non_null(strstr(lack, "mask 2 are wanted, those of 0 are free"));
    free(lack);
    assert_null(take_mask(&d, 9, &lack));
    assert_non_null(strstr(lack, "this host has those of 7"));
    free(lack);
    local_devices_fini(&d);
}

/** GPUs that are only declared have numbers, and no device. */
static void gpus_without_devices_have_numbers(void **state)
{
    struct local_devices d;
    (void)state;

    local_devices_init(&d, "yarn.io/fpga=/dev/f0\n");
    local_devices_add_gpus(&d, 2);
    mem_auto char *first = take(&d, "yarn.io/gpu", 1), *second = take(&d, "yarn.io/gpu", 1);
    mem_auto char *paths = local_devices_paths(first);
    assert_int_equal(local_devices_gpus(&d, first), 1);
    assert_int_equal(local_devices_gpus(&d, second), 2);
    assert_string_equal(paths, "");
    local_devices_fini(&d);
}

static void lists_that_are_none(void **state)
{
    static const char *const bad[] = {"",
                                      "/",
                                      "dev/g0",
                                      "/dev/g0,",
                                      "/dev/g0,,/dev/g1",
                                      "/dev/g0+",
                                      "/dev/g0,/dev/g0",
                                      "/dev/g 0",
                                      "/dev/a:b",
                                      "/dev/'a'",
                                      "/dev/a\n/dev/b"};
    (void)state;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (local_devices_count(bad[i]))
            fail_msg("\"%s\" is taken", bad[i]);
    assert_int_equal(local_devices_count("/dev/g0"), 1);
    assert_int_equal(local_devices_count("/dev/g0+/dev/c,/dev/g1+/dev/c"), 2);
}

static void each_device_once(void **state)
{
    mem_auto char *paths = local_devices_paths("/dev/g0+/dev/c,/dev/g1+/dev/c");
    mem_auto char *none = local_devices_paths(""), *nothing = local_devices_paths(NULL);
    (void)state;

    assert_string_equal(paths, "/dev/g0,/dev/c,/dev/g1");
    assert_string_equal(none, "");
    assert_string_equal(nothing, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_container_gets_parts_of_its_own),
        cmocka_unit_test(what_an_earlier_process_gave_stays_held),
        cmocka_unit_test(without_devices_there_are_none),
        cmocka_unit_test(gpus_are_numbered_and_may_be_chosen),
        cmocka_unit_test(gpus_without_devices_have_numbers),
        cmocka_unit_test(lists_that_are_none),
        cmocka_unit_test(each_device_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/** Memory that is given back: what is in files leaves the process and comes back as it was, what is not stays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "run/trim.h"

#define CONSTANT_LEN (1 << 20)

/** Of the program's file, in a segment that nobody writes. */
static const uint8_t constant[CONSTANT_LEN] = {[0] = 1, [CONSTANT_LEN / 2] = 2, [CONSTANT_LEN - 1] = 3};
static uint8_t variable[CONSTANT_LEN] = {[0] = 1};

static unsigned sum(const volatile uint8_t *bytes)
{
    unsigned total = 0;

    for (size_t i = 0; i < CONSTANT_LEN; i++)
        total += bytes[i];
    return total;
}

/** Bytes of files that are in the memory of this process. */
static size_t bytes_of_files(void)
{
    unsigned long size = 0, resident = 0, of_files = 0;
    FILE *f = fopen("/proc/self/statm", "re");

    assert_non_null(f);
    assert_int_equal(fscanf(f, "%lu %lu %lu", &size, &resident, &of_files), 3);
    fclose(f);
    return of_files * (size_t)sysconf(_SC_PAGESIZE);
}

static void test_code_and_constants_go_and_come_back(void **state)
{
    (void)state;
    assert_int_equal(sum(constant), 6);
    size_t before = bytes_of_files();
    trim_memory();
    assert_true(bytes_of_files() + CONSTANT_LEN / 2 < before);
    assert_int_equal(sum(constant), 6);
}

static void test_what_was_written_stays(void **state)
{
    (void)state;
    char *text = strdup("on the heap");
    memset(variable, 1, sizeof variable);
    trim_memory();
    assert_int_equal(sum(variable), CONSTANT_LEN);
    assert_string_equal(text, "on the heap");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_code_and_constants_go_and_come_back),
        cmocka_unit_test(test_what_was_written_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

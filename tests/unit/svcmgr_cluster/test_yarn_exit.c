/** Exit statuses of YARN as causes of the engine: svcmgr/cluster/yarn_exit.h. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "base/obj.h"
#include "cluster/yarn_exit.h"

static const struct {
    int32_t status;
    const char *diagnostics;
    enum eng_exit_cause cause;
    int64_t raw;
} rows[] = {
    {0, NULL, CAUSE_EXITED, 0},
    {3, "", CAUSE_EXITED, 3},
    {128, NULL, CAUSE_EXITED, 128},
    {137, NULL, CAUSE_SIGNALLED, 9},
    {143, NULL, CAUSE_SIGNALLED, 15},
    {255, NULL, CAUSE_EXITED, 255},
    {256, NULL, CAUSE_UNKNOWN, 256},
    {-1000, "No such file", CAUSE_LAUNCH, -1000},
    {-100, NULL, CAUSE_ABORTED, -100},
    {-100, "Container released on a *lost* node", CAUSE_LOST, -100},
    {-100, "Container released by application", CAUSE_STOPPED, -100},
    {-100, "Container expired since it was unused", CAUSE_EXPIRED, -100},
    {-100, "Container of a completed application", CAUSE_APPLICATION_ENDED, -100},
    {-101, NULL, CAUSE_DISK, -101},
    {-102, NULL, CAUSE_PREEMPTED, -102},
    {-103, NULL, CAUSE_MEMORY_VIRTUAL, -103},
    {-104, NULL, CAUSE_MEMORY_PHYSICAL, -104},
    {-105, NULL, CAUSE_STOPPED, -105},
    {-106, NULL, CAUSE_ABORTED, -106},
    {-107, NULL, CAUSE_APPLICATION_ENDED, -107},
    {-5000, NULL, CAUSE_UNKNOWN, -5000},
};

static void statuses_have_causes(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct cluster_exit x;
        yarn_exit_read(rows[i].status, rows[i].diagnostics, false, &x);
        if (x.cause != rows[i].cause || x.raw != rows[i].raw || !x.is_gone || !x.text[0])
            fail_msg("status %d, \"%s\": %s %lld \"%s\"", rows[i].status,
                     rows[i].diagnostics ? rows[i].diagnostics : "", eng_exit_cause_word(x.cause),
                     (long long)x.raw, x.text);
    }
}

static void text_is_one_bounded_line(void **state)
{
    char text[2000];
    struct cluster_exit x;
    (void)state;
    yarn_exit_read(1, "\n first\n\n\tsecond\r\n", true, &x);
    assert_string_equal(x.text, "first second");
    assert_true(x.was_stopped);
    yarn_exit_read(1, "N/A", false, &x);
    assert_string_equal(x.text, "exit code 1");
    for (size_t i = 0; i + 2 < sizeof text; i += 2)
        memcpy(text + i, "\xc3\xa4", 2);
    text[sizeof text - 2] = 0;
    yarn_exit_read(1, text, false, &x);
    assert_true(strlen(x.text) < sizeof x.text);
    assert_int_equal(strlen(x.text) % 2, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statuses_have_causes),
        cmocka_unit_test(text_is_one_bounded_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/** Files of containers as node managers send them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "yarn/node_log.h"

#define HEAD                                                                                                 \
    "Container: container_1_0001_01_000002 on node1:8041\nLogAggregationType: LOCAL\n=====\n"                \
    "LogType:stdout.txt\nLogLastModifiedTime:Tue Nov 24 20:14:02 +0000 2026\n"
#define TAIL "End of LogType:stdout.txt.This log file belongs to a running container (…)\n****\n\n"

/** What is read of an answer that comes in pieces of n octets. @return text, borrowed until the next call */
static const char *read_by(struct node_log *log, const char *answer, size_t n)
{
    size_t len = strlen(answer);
    bool goes_on = true;

    for (size_t i = 0; i < len && goes_on; i += n)
        goes_on = node_log_take(log, answer + i, len - i < n ? len - i : n);
    return buf_cstr(&log->text);
}

static void expect(const char *answer, int64_t size, int64_t offset, size_t n_max, const char *wanted)
{
    for (size_t n = 1; n <= strlen(answer); n++) {
        struct node_log log;
        node_log_begin(&log, size, offset, n_max);
        assert_string_equal(read_by(&log, answer, n), wanted);
        assert_true(node_log_is_whole(&log));
        node_log_fini(&log);
    }
}

static void a_file_is_read_without_what_stands_around_it(void **state)
{
    (void)state;
    expect(HEAD "LogLength:6\nLogContents:\nhello\n" TAIL, 6, 0, 100, "hello\n");
    expect(HEAD "LogLength:7\nLogContents:\nno end!" TAIL, 7, 0, 100, "no end!");
}

static void a_piece_is_read_from_an_offset_on(void **state)
{
    (void)state;
    expect(HEAD "LogLength:6\nLogContents:\nhello\n" TAIL, 6, 2, 100, "llo\n");
    expect(HEAD "LogLength:6\nLogContents:\nhello\n" TAIL, 6, 2, 3, "llo");
    expect(HEAD "LogLength:6\nLogContents:\nhello\n" TAIL, 6, 6, 100, "");
    expect(HEAD "LogLength:6\nLogContents:\nhello\n" TAIL, 6, 9, 100, "");
}

/** Between the two requests it has grown: the offset is that of the file as it is now. */
static void a_file_that_has_grown(void **state)
{
    (void)state;
    expect(HEAD "LogLength:12\nLogContents:\nhello\nworld\n" TAIL, 6, 3, 100, "lo\nworld\n");
}

static void the_words_of_the_head_may_stand_in_the_file(void **state)
{
    (void)state;
    expect(HEAD "LogLength:27\nLogContents:\nx\nLogLength:1\nLogContents:\n" TAIL, 27, 0, 100,
           "x\nLogLength:1\nLogContents:\n");
}

/** The node manager writes no head for it. */
static void an_empty_file(void **state)
{
    (void)state;
    struct node_log log;
    node_log_begin(&log, 0, 0, 100);
    assert_true(node_log_is_whole(&log));
    node_log_fini(&log);
}

static void expect_bad(const char *answer, int64_t size)
{
    struct node_log log;
    node_log_begin(&log, size, 0, 100);
    read_by(&log, answer, 7);
    assert_false(node_log_is_whole(&log));
    assert_int_equal(log.text.len, 0);
    node_log_fini(&log);
}

static void what_is_no_such_answer_is_refused(void **state)
{
    (void)state;
    char long_one[8192];
    memset(long_one, 'x', sizeof long_one - 1);
    long_one[sizeof long_one - 1] = '\0';
    expect_bad("<html>sign in</html>", 0);
    expect_bad(long_one, 0);
    expect_bad(HEAD "LogLength:\nLogContents:\nhello\n", 6);
    expect_bad(HEAD "LogLength:99999999999999999999999999\nLogContents:\nhello\n", 6);
    expect_bad(HEAD "LogContents:\nhello\n", 6);
    expect_bad(HEAD "LogLength:999999999\nLogContents:\nhello\n", 6); /* it begins after the offset */
}

static void an_answer_that_ends_too_early_is_not_whole(void **state)
{
    (void)state;
    struct node_log log;
    node_log_begin(&log, 6, 0, 100);
    read_by(&log, HEAD "LogLength:6\nLogContents:\nhel", 9);
    assert_false(node_log_is_whole(&log));
    node_log_fini(&log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_read_without_what_stands_around_it),
        cmocka_unit_test(a_piece_is_read_from_an_offset_on),
        cmocka_unit_test(a_file_that_has_grown),
        cmocka_unit_test(the_words_of_the_head_may_stand_in_the_file),
        cmocka_unit_test(an_empty_file),
        cmocka_unit_test(what_is_no_such_answer_is_refused),
        cmocka_unit_test(an_answer_that_ends_too_early_is_not_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

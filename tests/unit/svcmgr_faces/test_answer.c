/** What a DELETE is answered that could not be carried through in time, in both dialects. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/obj.h"
#include "faces/services_answer.h"

static void a_destroy_that_goes_on_is_no_success(void **state)
{
    (void)state;
    static const struct {
        const char *dialect;
        enum eng_outcome outcome;
        int status;
        const char *text;
    } rows[] = {
        {"seed", OUT_STILL_RUNNING, 500, "Failed to destroy service web, because it is still running."},
        {"hadoop3", OUT_STILL_RUNNING, 400, "Failed to destroy service web, because it is still running."},
        {"seed", OUT_PURGE_FAILED, 500, "Service web error cleaning up registry"},
        {"hadoop3", OUT_PURGE_FAILED, 500, "Service web error cleaning up registry"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        buf_auto struct buf text = BUF_EMPTY;
        char name[] = "web";
        struct eng_answer answer = {.outcome = rows[i].outcome, .name = name, .state = SVC_FINISHING};
        struct services_reply reply =
            services_answer(&answer, VERB_DESTROY, dialect_find(rows[i].dialect), &text);
        assert_int_equal(reply.status, rows[i].status);
        assert_false(reply.is_success);
        assert_string_equal(buf_cstr(&text), rows[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_destroy_that_goes_on_is_no_success)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

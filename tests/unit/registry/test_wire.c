/* lib/registry/wire: the errors of answers. What nodes and lines hold is read in the tests of the client and of the watch. */
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "base/mem.h"
#include "base/obj.h"
#include "registry/wire.h"

#define HTML          "<html><h1>Server Error</h1></html>"
#define PROBLEM(type) "{\"type\":\"urn:bobbin:error:" type "\",\"title\":\"t\",\"detail\":\"why\"}"

/** Who answers a request, which may be a write, and may go by way of a gateway. */
static void test_errors_of_answers(void **state)
{
    enum { DIRECT = 0, WRITE = 1, GATEWAY = 2 };
    static const struct {
        int asked, status;
        const char *body;
        int err;
        const char *words;
    } cases[] = {
        {DIRECT, 503, PROBLEM("unavailable"), ERR_UNAVAILABLE, "why"},
        {WRITE, 503, PROBLEM("unknown-outcome"), ERR_UNKNOWN_OUTCOME, "why"},
        {WRITE | GATEWAY, 500, PROBLEM("internal"), ERR_INTERNAL, "why"},
        {WRITE | GATEWAY, 503, PROBLEM("unavailable"), ERR_UNAVAILABLE, "why"},
        {DIRECT, 500, HTML, ERR_IO, "is registryd at this address?"},
        {WRITE, 500, HTML, ERR_IO, "is registryd at this address?"},
        {DIRECT, 502, HTML, ERR_UNAVAILABLE, "registryd is away"},
        {WRITE, 502, HTML, ERR_UNKNOWN_OUTCOME, "is not known"},
        {DIRECT, 504, HTML, ERR_UNAVAILABLE, "registryd is away"},
        {WRITE, 504, "", ERR_UNKNOWN_OUTCOME, "is not known"},
        {GATEWAY, 500, HTML, ERR_UNAVAILABLE, "registryd is away"},
        {GATEWAY, 500, "", ERR_UNAVAILABLE, "registryd is away"},
        {WRITE | GATEWAY, 500, HTML, ERR_UNKNOWN_OUTCOME, "is not known"},
        {WRITE | GATEWAY, 503, HTML, ERR_UNAVAILABLE, "is registryd at this address?"},
        {WRITE | GATEWAY, 401, "", ERR_AUTH, "is registryd at this address?"},
        {WRITE | GATEWAY, 404, HTML, ERR_NOROUTE, "is registryd at this address?"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct wire_asked asked = {"https://gw/a?user.name=u", "registryd",
                                         (cases[i].asked & WRITE) != 0, (cases[i].asked & GATEWAY) != 0};
        struct err_info why = {0};
        int err = wire_read_problem(cases[i].status, cases[i].body, strlen(cases[i].body), &asked, &why);
        mem_auto char *said = mem_fmt("case %zu: %s, \"%s\" at %s", i, err_name(err), why.text, why.where);
        if (err != cases[i].err || why.code != err || !strstr(why.text, cases[i].words) ||
            strchr(why.where, '?'))
            fail_msg("%s", said);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_errors_of_answers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

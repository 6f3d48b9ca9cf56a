/** Members of a request's object that nobody knows. */
#include "json/members.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/obj.h"
#include "json/json.h"

static void the_first_stranger_is_named(void **state)
{
    static const char *const names[] = {"id", "dryRun", NULL};
    static const struct {
        const char *text, *where; /* where NULL: it passes */
    } rows[] = {
        {"{}", NULL},
        {"{\"id\":1}", NULL},
        {"{\"dryRun\":true,\"id\":null}", NULL},
        {"{\"id\":1,\"dryrun\":true}", "/dryrun"},
        {"{\"\":0}", "/"},
        {"{\"i\":0}", "/i"},
        {"{\"id \":0}", "/id "},
        {"[{\"x\":1}]", NULL},
        {"7", NULL},
        {"null", NULL},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        json_auto json_t *object = NULL;
        struct err_info why = {0};
        assert_int_equal(json_read(rows[i].text, strlen(rows[i].text), &object, NULL), 0);
        int err = members_check(object, names, &why);
        if (err != (rows[i].where ? ERR_INVALID : 0))
            fail_msg("%s: %s", rows[i].text, err_name(err));
        if (!err)
            continue;
        assert_string_equal(why.where, rows[i].where);
        assert_non_null(strstr(why.text, "id, dryRun"));
    }
}

static void nothing_is_an_object(void **state)
{
    static const char *const names[] = {NULL};
    (void)state;
    assert_int_equal(members_check(NULL, names, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_stranger_is_named),
        cmocka_unit_test(nothing_is_an_object),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

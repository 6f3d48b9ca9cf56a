/**
 * Who the current user is, and that refusals name their place; all other paths are rows of tests/contract.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "bobbin/path.h"

static void test_user_from_environment(void **state)
{
    mem_auto char *user = NULL;

    (void)state;
    setenv("HADOOP_USER_NAME", "drwho", 1);
    user = reg_current_user();
    assert_string_equal(user, "drwho");
}

static void test_empty_user_is_unset(void **state)
{
    mem_auto char *user = NULL;
    mem_auto char *login = NULL;

    (void)state;
    unsetenv("HADOOP_USER_NAME");
    login = reg_current_user();
    setenv("HADOOP_USER_NAME", "", 1);
    user = reg_current_user();
    assert_string_not_equal(user, "");
    assert_string_equal(user, login);
}

static void test_refusal_names_the_element(void **state)
{
    struct err_info why = {0};

    (void)state;
    assert_int_equal(reg_path_check_element("Big_One", &why), ERR_PATH);
    assert_non_null(strstr(why.text, "Big_One"));
    assert_int_equal(reg_path_check("/a/../b", &why), ERR_PATH);
    assert_string_equal(why.where, "/a/../b");
    assert_non_null(strstr(why.text, "\"..\""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_user_from_environment),
        cmocka_unit_test(test_empty_user_is_unset),
        cmocka_unit_test(test_refusal_names_the_element),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Runs the suite against the store that the environment names. */
#include "store_suite.h"

static int set_up(void **state)
{
    *state = kit_new();
    return 0;
}

static int tear_down(void **state)
{
    kit_free(*state);
    return 0;
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down),
    const struct CMUnitTest cases[] = {STORE_SUITE(CASE)};
    return cmocka_run_group_tests_name("store", cases, NULL, NULL);
}

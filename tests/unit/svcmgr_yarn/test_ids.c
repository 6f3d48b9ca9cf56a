/* Ids of YARN as text and as messages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "bobbin/error.h"
#include "yarn/ids.h"

static void containers_there_and_back(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        struct yarn_container_id id;
    } cases[] = {
        {"container_1700000000000_0001_01_000002", {{{1700000000000, 1}, 1}, 2}},
        {"container_e01_1700000000000_0001_01_000001", {{{1700000000000, 1}, 1}, (INT64_C(1) << 40) | 1}},
        {"container_e123_1700000000000_12345_101_1234567",
         {{{1700000000000, 12345}, 101}, (INT64_C(123) << 40) | 1234567}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[YARN_ID_TEXT_MAX];
        struct yarn_container_id id, again;
        struct yarn_id_message m;
        assert_int_equal(yarn_container_id_parse(cases[i].text, &id), 0);
        assert_true(yarn_container_id_equal(&id, &cases[i].id));
        assert_string_equal(yarn_container_id_text(&id, text), cases[i].text);
        yarn_container_id_point(&id, &m);
        assert_int_equal(yarn_container_id_read(&m.container, &again), 0);
        assert_true(yarn_container_id_equal(&id, &again));
    }
}

static void applications_and_attempts_there_and_back(void **state)
{
    (void)state;
    char text[YARN_ID_TEXT_MAX];
    struct yarn_app_id app;
    struct yarn_attempt_id attempt;
    assert_int_equal(yarn_app_id_parse("application_1700000000000_0012", &app), 0);
    assert_string_equal(yarn_app_id_text(&app, text), "application_1700000000000_0012");
    assert_int_equal(yarn_attempt_id_parse("appattempt_1700000000000_0012_000003", &attempt), 0);
    assert_string_equal(yarn_attempt_id_text(&attempt, text), "appattempt_1700000000000_0012_000003");
}

static void other_text_is_no_id(void **state)
{
    (void)state;
    static const char *const bad[] = {"",
                                      "application_1_1",
                                      "container_",
                                      "container_1_2_3",
                                      "container_1_2_3_4_5",
                                      "container_1_2_3_x",
                                      "container_e_1_2_3_4",
                                      "container_e1_2_3_4",
                                      "container_-1_2_3_4",
                                      "container_1_2_3_4 ",
                                      "container_1__3_4",
                                      "container_99999999999999999999_1_1_1",
                                      "container_1_2147483648_1_1",
                                      "container_e8388608_1_1_1_1",
                                      "container_1_1_1_1099511627776"};
    struct yarn_container_id id;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(yarn_container_id_parse(bad[i], &id), ERR_PARSE);
    struct yarn_app_id app;
    assert_int_equal(yarn_app_id_parse("application_1_1_1", &app), ERR_PARSE);
    struct yarn_attempt_id attempt;
    assert_int_equal(yarn_attempt_id_parse("appattempt_1_1", &attempt), ERR_PARSE);
}

static void message_without_a_part_is_no_id(void **state)
{
    (void)state;
    struct yarn_container_id id = {{{1, 2}, 3}, 4}, out;
    struct yarn_id_message m;
    assert_int_equal(yarn_container_id_read(NULL, &out), ERR_PARSE);
    yarn_container_id_point(&id, &m);
    m.app.has_id = false;
    assert_int_equal(yarn_container_id_read(&m.container, &out), ERR_PARSE);
    yarn_container_id_point(&id, &m);
    m.container.attempt_id = NULL;
    assert_int_equal(yarn_container_id_read(&m.container, &out), ERR_PARSE);
    yarn_container_id_point(&id, &m);
    m.container.has_id = false;
    assert_int_equal(yarn_container_id_read(&m.container, &out), ERR_PARSE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(containers_there_and_back),
        cmocka_unit_test(applications_and_attempts_there_and_back),
        cmocka_unit_test(other_text_is_no_id),
        cmocka_unit_test(message_without_a_part_is_no_id),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

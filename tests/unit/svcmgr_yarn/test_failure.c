/* Java's exceptions as codes and reactions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "yarn/failure.h"

#define Y "org.apache.hadoop.yarn.exceptions."
#define S "org.apache.hadoop.security."

static void classes_decide_and_texts_do_not(void **state)
{
    (void)state;
    static const struct {
        const char *class_name, *text;
        int code;
        enum failure_reaction reaction;
        const char *text_out;
    } cases[] = {
        {Y "ApplicationNotFoundException", "Application with id '…' doesn't exist", ERR_NOTFOUND,
         FAILURE_ANSWERS, "Application with id '…' doesn't exist"},
        {Y "ApplicationAttemptNotFoundException", "gone", ERR_GONE, FAILURE_ANSWERS, "gone"},
        {Y "ApplicationMasterNotRegisteredException", "x", ERR_WRONGSTATE, FAILURE_ANSWERS, "x"},
        {Y "InvalidResourceRequestException", "x", ERR_INVALID, FAILURE_ANSWERS, "x"},
        {Y "NMNotYetReadyException", "x", ERR_UNAVAILABLE, FAILURE_RETRIES, "x"},
        {"org.apache.hadoop.ipc.StandbyException", "x", ERR_UNAVAILABLE, FAILURE_FAILS_OVER, "x"},
        {"org.apache.hadoop.ipc.RetriableException", "x", ERR_UNAVAILABLE, FAILURE_RETRIES, "x"},
        {S "token.SecretManager$InvalidToken", "x", ERR_AUTH, FAILURE_ANSWERS, "x"},
        {S "token.SecretManager.InvalidToken", "x", ERR_AUTH, FAILURE_ANSWERS, "x"},
        {"org.apache.hadoop.ipc.RPC$VersionMismatch", "x", ERR_UNSUPPORTED, FAILURE_ANSWERS, "x"},
        {"java.lang.NullPointerException", "StandbyException", ERR_INTERNAL, FAILURE_ANSWERS,
         "StandbyException"},
        {"java.lang.NullPointerException", "", ERR_INTERNAL, FAILURE_ANSWERS,
         "java.lang.NullPointerException"},
        {Y "YarnException", "no such queue", ERR_INVALID, FAILURE_ANSWERS, "no such queue"},
        {Y "YarnException", S "AccessControlException: User bob", ERR_PERMISSION, FAILURE_ANSWERS,
         "User bob"},
        {"java.io.IOException", Y "ApplicationNotFoundException: x", ERR_NOTFOUND, FAILURE_ANSWERS, "x"},
        {"a.Other", S "AccessControlException: User bob", ERR_INTERNAL, FAILURE_ANSWERS,
         S "AccessControlException: User bob"},
        {"a.Other", "one\ntwo", ERR_INTERNAL, FAILURE_ANSWERS, "one"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct yarn_failure f;
        assert_int_equal(failure_read("rm:8032", cases[i].class_name, cases[i].text, &f), cases[i].reaction);
        assert_int_equal(f.why.code, cases[i].code);
        assert_string_equal(f.why.text, cases[i].text_out);
        assert_string_equal(f.why.where, "rm:8032");
        assert_false(f.is_not_done);
    }
}

static void elements_of_a_bulk_call_have_the_same_rows(void **state)
{
    (void)state;
    struct yarn_failure f;
    Yarn__SerializedException e = YARN__SERIALIZED_EXCEPTION__INIT;
    e.class_name = S "token.SecretManager.InvalidToken";
    e.message = "expired\n\tat …";
    yarn_failure_element("nm:1", &e, &f);
    assert_int_equal(f.why.code, ERR_AUTH);
    assert_string_equal(f.why.text, "expired");
    assert_string_equal(f.class_name, S "token.SecretManager$InvalidToken");
    yarn_failure_element("nm:1", NULL, &f);
    assert_int_equal(f.why.code, ERR_INTERNAL);
    assert_string_equal(f.why.text, "it gives no reason");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_decide_and_texts_do_not),
        cmocka_unit_test(elements_of_a_bulk_call_have_the_same_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

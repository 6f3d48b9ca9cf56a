/* fs/webhdfs.h: URLs, and what answers say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "base/obj.h"
#include "fs/webhdfs.h"

static void urls_name_operation_and_user(void **state)
{
    (void)state;
    static const struct {
        const char *user, *wanted;
    } rows[] = {{"alice", "http://h/p?op=X&user.name=alice"},
                {"a&b=\xc3\xa4 ", "http://h/p?op=X&user.name=a%26b%3D%C3%A4%20"},
                {"", "http://h/p?op=X"},
                {NULL, "http://h/p?op=X"}};

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        mem_auto char *url = webhdfs_url("http://h/p", "op=X", rows[i].user);
        assert_string_equal(url, rows[i].wanted);
    }
}

/** As a NameNode of Hadoop 3.4.2 writes it. */
#define STATUS(type)                                                                                         \
    "{\"FileStatus\":{\"accessTime\":1,\"blockSize\":134217728,\"childrenNum\":0,\"fileId\":16387,"          \
    "\"group\":\"g\","                                                                                       \
    "\"length\":17,\"modificationTime\":1700000000123,\"owner\":\"alice\",\"pathSuffix\":\"\","              \
    "\"permission\":\"644\","                                                                                \
    "\"replication\":1,\"storagePolicy\":0,\"type\":\"" type "\"}}"

static void a_status_is_read(void **state)
{
    (void)state;
    struct fs_status s = {.len = -1};
    struct err_info why;

    assert_int_equal(webhdfs_read_status(STATUS("FILE"), strlen(STATUS("FILE")), &s, &why), 0);
    assert_false(s.is_dir);
    assert_int_equal(s.len, 17);
    assert_int_equal(s.modified_ms, 1700000000123);
    assert_int_equal(s.id, 16387);
    assert_int_equal(webhdfs_read_status(STATUS("DIRECTORY"), strlen(STATUS("DIRECTORY")), &s, &why), 0);
    assert_true(s.is_dir);
}

static void what_is_no_status_is_refused(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "",
        "<html>",
        "[]",
        "{}",
        "{\"FileStatus\":7}",
        "{\"FileStatus\":{\"length\":1,\"modificationTime\":1}}",
        "{\"FileStatus\":{\"type\":\"FILE\",\"length\":-1,\"modificationTime\":1}}",
        "{\"FileStatus\":{\"type\":\"FILE\",\"length\":\"1\",\"modificationTime\":1}}",
        "{\"FileStatus\":{\"type\":\"FILE\",\"length\":1}}",
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct fs_status s = {.len = 5};
        struct err_info why = {0};
        if (webhdfs_read_status(cases[i], strlen(cases[i]), &s, &why) != ERR_PARSE || s.len != 5 ||
            !*why.text)
            fail_msg("%zu: %s", i, cases[i]);
    }
}

static void a_boolean_is_read(void **state)
{
    (void)state;
    bool b = false;
    struct err_info why;

    assert_int_equal(webhdfs_read_boolean("{\"boolean\": true}", 17, &b, &why), 0);
    assert_true(b);
    assert_int_equal(webhdfs_read_boolean("{\"boolean\":false}", 17, &b, &why), 0);
    assert_false(b);
    assert_int_equal(webhdfs_read_boolean("true", 4, &b, &why), ERR_PARSE);
}

#define FAULT(name, text)                                                                                    \
    "{\"RemoteException\":{\"exception\":\"" name "\",\"javaClassName\":\"x." name "\",\"message\":\"" text  \
    "\"}}"

static void faults_have_codes(void **state)
{
    (void)state;
    static const struct {
        int status;
        const char *body;
        int code;
        const char *text;
    } rows[] = {
        {404, FAULT("FileNotFoundException", "File does not exist: /a"), ERR_NOTFOUND,
         "FileNotFoundException: File does not exist: /a"},
        {403, FAULT("AccessControlException", "Permission denied: user=bob\\n\\tat x"), ERR_PERMISSION,
         "AccessControlException: Permission denied: user=bob"},
        {403, FAULT("StandbyException", "Operation category READ is not supported in state standby"),
         ERR_UNAVAILABLE, "StandbyException: Operation category READ is not supported in state standby"},
        {403, FAULT("RetriableException", "NameNode still not started"), ERR_UNAVAILABLE,
         "RetriableException: NameNode still not started"},
        {403, FAULT("SafeModeException", "x"), ERR_UNAVAILABLE, "SafeModeException: x"},
        {403, FAULT("FileAlreadyExistsException", "x"), ERR_EXISTS, "FileAlreadyExistsException: x"},
        {403, FAULT("PathIsNotEmptyDirectoryException", "x"), ERR_NOTEMPTY,
         "PathIsNotEmptyDirectoryException: x"},
        {403, FAULT("NSQuotaExceededException", "x"), ERR_LIMIT, "NSQuotaExceededException: x"},
        {500, FAULT("NullPointerException", ""), ERR_IO, "NullPointerException: "},
        {401, FAULT("SecurityException", "x"), ERR_AUTH,
         "HTTP status 401: it wants another sign-in than user.name"},
        {403, "{\"RemoteException\":{\"exception\":\"StandbyException\"}}", ERR_UNAVAILABLE,
         "StandbyException: "},
        {404, "<html>", ERR_IO, "HTTP status 404, without a RemoteException"},
        {503, "", ERR_UNAVAILABLE, "HTTP status 503, without a RemoteException"},
        {400, "{\"RemoteException\":[]}", ERR_IO, "HTTP status 400, without a RemoteException"},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err_info why = {0};
        int code = webhdfs_read_fault(rows[i].status, rows[i].body, strlen(rows[i].body), &why);
        if (code != rows[i].code || strcmp(why.text, rows[i].text))
            fail_msg("%zu: %s %s", i, err_name(code), why.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(urls_name_operation_and_user),
        cmocka_unit_test(a_status_is_read),
        cmocka_unit_test(what_is_no_status_is_refused),
        cmocka_unit_test(a_boolean_is_read),
        cmocka_unit_test(faults_have_codes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

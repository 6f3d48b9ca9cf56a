/* Token storage: both formats, and everything that is cut or lies about its length. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "yarn/token.h"

#define IDENTIFIER                                                                                           \
    "\x0a\x0d\x0a\x09\x08\x01\x10\x80\xd0\x95\xff\xbc\x31\x10\x01\x10\xc7\x9f\xff\xff\xff\xff\xff\xff\xff"   \
    "\x01"
#define PASSWORD "\0\1\2\3\4\5\6\7\x8\x9\xa\xb\xc\xd\xe\xf\x10\x11\x12\x13"
#define KIND     "YARN_AM_RM_TOKEN"

static const char writable[] = "HDTS\0\1\0\x1a" IDENTIFIER "\x14" PASSWORD "\x10" KIND "\0\0";
static const char protobuf[] =
    "HDTS\1\x4c\x0a\x4a\x0a\0\x12\x46\x0a\x1a" IDENTIFIER "\x12\x14" PASSWORD "\x1a\x10" KIND "\x22\0";

static void expect_master_token(const struct yarn_credentials *c)
{
    const struct yarn_token *t = yarn_credentials_find(c, TOKEN_KIND_MASTER);
    assert_non_null(t);
    assert_int_equal(t->identifier.len, 26);
    assert_memory_equal(t->identifier.bytes, IDENTIFIER, 26);
    assert_int_equal(t->password.len, 20);
    assert_memory_equal(t->password.bytes, PASSWORD, 20);
    assert_string_equal(t->service, "");
    assert_null(yarn_credentials_find(c, TOKEN_KIND_NODE));
}

static void both_formats_are_read(void **state)
{
    (void)state;
    struct yarn_credentials c = CREDENTIALS_EMPTY;
    assert_int_equal(yarn_credentials_read(writable, sizeof writable - 1, &c, NULL), 0);
    expect_master_token(&c);
    yarn_credentials_fini(&c);
    assert_int_equal(yarn_credentials_read(protobuf, sizeof protobuf - 1, &c, NULL), 0);
    expect_master_token(&c);
    buf_auto struct buf out = BUF_EMPTY;
    yarn_credentials_write(&c, &out);
    assert_int_equal(out.len, sizeof writable - 1);
    assert_memory_equal(out.bytes, writable, out.len);
    yarn_credentials_fini(&c);
}

static void what_is_cut_is_refused_at_every_octet(void **state)
{
    (void)state;
    struct yarn_credentials c = CREDENTIALS_EMPTY;
    struct err_info why;
    for (size_t len = 0; len < sizeof writable - 1; len++) {
        mem_auto char *cut = mem_copy(writable, len ? len : 1);
        assert_int_equal(yarn_credentials_read(cut, len, &c, &why), ERR_PARSE);
        assert_int_equal(c.n_tokens, 0);
    }
    for (size_t len = 0; len < sizeof protobuf - 1; len++) {
        mem_auto char *cut = mem_copy(protobuf, len ? len : 1);
        assert_int_equal(yarn_credentials_read(cut, len, &c, &why), ERR_PARSE);
        assert_int_equal(c.n_tokens, 0);
    }
}

static void other_blobs_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t len;
        int code;
    } cases[] = {
        {"HDTX\0\0\0", 7, ERR_PARSE},
        {"HDTS\2\0\0", 7, ERR_UNSUPPORTED},
        {"HDTS\0\x8e\x04\x01\0", 9, ERR_TOOBIG}, /* 1025 tokens */
        {"HDTS\0\xff", 6, ERR_PARSE},            /* -1 tokens */
        {"HDTS\0\x80\0", 7, ERR_PARSE},          /* a negative number of two octets and more */
        {"HDTS\0\0\0x", 8, ERR_PARSE},           /* something behind it */
        {"HDTS\0\1\1\0\0\0\0\0\0", 13, ERR_PARSE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct yarn_credentials c = CREDENTIALS_EMPTY;
        assert_int_equal(yarn_credentials_read(cases[i].bytes, cases[i].len, &c, NULL), cases[i].code);
    }
}

/* Hadoop's numbers take one octet up to 127 and carry their length in the first otherwise. */
static void lengths_are_written_as_hadoop_writes_them(void **state)
{
    (void)state;
    static const struct {
        size_t len;
        const char *number;
        size_t number_len;
    } cases[] = {{0, "\0", 1},         {127, "\x7f", 1},         {128, "\x8f\x80", 2},
                 {255, "\x8f\xff", 2}, {256, "\x8e\x01\x00", 3}, {65535, "\x8e\xff\xff", 3}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct yarn_token t = {.kind = "k", .service = "s"};
        buf_room(&t.identifier, cases[i].len);
        memset(t.identifier.bytes, 'i', cases[i].len);
        t.identifier.len = cases[i].len;
        struct yarn_credentials c = CREDENTIALS_EMPTY, back = CREDENTIALS_EMPTY;
        buf_auto struct buf out = BUF_EMPTY;
        yarn_credentials_add(&c, "a", &t);
        yarn_credentials_write(&c, &out);
        assert_memory_equal(out.bytes, "HDTS\0\1\1a", 8);
        assert_memory_equal(out.bytes + 8, cases[i].number, cases[i].number_len);
        assert_int_equal(yarn_credentials_read(out.bytes, out.len, &back, NULL), 0);
        assert_int_equal(back.tokens[0].token.identifier.len, cases[i].len);
        assert_string_equal(back.tokens[0].alias, "a");
        yarn_credentials_fini(&c);
        yarn_credentials_fini(&back);
        buf_fini(&t.identifier);
    }
}

static void secrets_come_back(void **state)
{
    (void)state;
    static const char blob[] = "HDTS\0\0\1\3key\2\0\1";
    struct yarn_credentials c = CREDENTIALS_EMPTY;
    buf_auto struct buf out = BUF_EMPTY;
    assert_int_equal(yarn_credentials_read(blob, sizeof blob - 1, &c, NULL), 0);
    assert_int_equal(c.n_secrets, 1);
    assert_string_equal(c.secrets[0].alias, "key");
    assert_memory_equal(c.secrets[0].value.bytes, "\0\1", 2);
    yarn_credentials_write(&c, &out);
    assert_int_equal(out.len, sizeof blob - 1);
    assert_memory_equal(out.bytes, blob, out.len);
    yarn_credentials_fini(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_formats_are_read),
        cmocka_unit_test(what_is_cut_is_refused_at_every_octet),
        cmocka_unit_test(other_blobs_are_refused),
        cmocka_unit_test(lengths_are_written_as_hadoop_writes_them),
        cmocka_unit_test(secrets_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

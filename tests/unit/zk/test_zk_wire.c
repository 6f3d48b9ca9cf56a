/* The protocol's bytes. Expected bytes were taken from zookeeper.jute by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "store/zk/url.h"
#include "store/zk/wire.h"

static void assert_bytes(const struct buf *b, const char *expected, size_t len)
{
    assert_int_equal(b->len, len);
    assert_memory_equal(b->bytes, expected, len);
}

#define ASSERT_BYTES(b, text) assert_bytes((b), (text), sizeof(text) - 1)

static void numbers_are_big_endian(void **state)
{
    (void)state;
    buf_auto struct buf b = BUF_EMPTY;
    zkw_put_i32(&b, -2);
    zkw_put_i64(&b, 0x0102030405060708);
    ASSERT_BYTES(&b, "\xff\xff\xff\xfe\1\2\3\4\5\6\7\10");
    struct zkw_in in = zkw_in_make(b.bytes, b.len);
    assert_int_equal(zkw_get_i32(&in), -2);
    assert_int_equal(zkw_get_i64(&in), 0x0102030405060708);
    assert_false(in.is_bad);
    assert_int_equal(zkw_get_i32(&in), 0);
    assert_true(in.is_bad);
}

static void requests_are_framed(void **state)
{
    (void)state;
    buf_auto struct buf b = BUF_EMPTY;
    zkw_put_request(&b, 7, ZKW_EXISTS, "/a");
    ASSERT_BYTES(&b, "\0\0\0\x0f\0\0\0\7\0\0\0\3\0\0\0\2/a\0");
    buf_clear(&b);
    zkw_put_request(&b, 8, ZKW_ADD_WATCH, "/");
    ASSERT_BYTES(&b, "\0\0\0\x11\0\0\0\10\0\0\0\x6a\0\0\0\1/\0\0\0\1");
    buf_clear(&b);
    zkw_put_request(&b, ZKW_XID_PING, ZKW_PING, NULL);
    ASSERT_BYTES(&b, "\0\0\0\10\xff\xff\xff\xfe\0\0\0\x0b");
    buf_clear(&b);
    zkw_put_auth(&b, "digest", "id:pw");
    ASSERT_BYTES(&b, "\0\0\0\x1f\xff\xff\xff\xfc\0\0\0\x64\0\0\0\0\0\0\0\6digest\0\0\0\5id:pw");
}

static void strings_must_fit(void **state)
{
    static const struct {
        const char *bytes;
        size_t n;
        bool is_bad, is_null;
        size_t len;
    } cases[] = {
        {"\0\0\0\2ab", 6, false, false, 2},
        {"\0\0\0\0", 4, false, false, 0},
        {"\xff\xff\xff\xff", 4, false, true, 0},
        {"\xff\xff\xff\xfe", 4, true, true, 0},
        {"\0\0\0\3ab", 6, true, true, 0},
        {"\x7f\xff\xff\xff", 4, true, true, 0},
        {"\0\0\0", 3, true, true, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct zkw_in in = zkw_in_make(cases[i].bytes, cases[i].n);
        struct zkw_bytes got = zkw_get_bytes(&in);
        assert_int_equal(in.is_bad, cases[i].is_bad);
        assert_int_equal(got.at == NULL, cases[i].is_null);
        assert_int_equal(got.len, cases[i].len);
    }
}

static void frames_are_cut_at_any_split(void **state)
{
    static const char bytes[] = "\0\0\0\3abc\0\0\0\0\0\0\0\1z";
    struct zkw_bytes frame;
    (void)state;
    for (size_t n = 0; n < 7; n++)
        assert_int_equal(zkw_frame_next(bytes, n, 100, &frame), 0);
    for (size_t n = 7; n < sizeof bytes - 1; n++) {
        assert_int_equal(zkw_frame_next(bytes, n, 100, &frame), 7);
        assert_int_equal(frame.len, 3);
        assert_memory_equal(frame.at, "abc", 3);
    }
    assert_int_equal(zkw_frame_next(bytes + 7, 4, 100, &frame), 4);
    assert_int_equal(frame.len, 0);
}

static void frames_have_a_limit(void **state)
{
    struct zkw_bytes frame;
    (void)state;
    assert_int_equal(zkw_frame_next("\0\0\0\5", 4, 5, &frame), 0);
    assert_int_equal(zkw_frame_next("\0\0\0\6", 4, 5, &frame), ERR_PARSE);
    assert_int_equal(zkw_frame_next("\xff\xff\xff\xff", 4, SIZE_MAX, &frame), ERR_PARSE);
}

static void hello_is_as_the_server_expects(void **state)
{
    (void)state;
    buf_auto struct buf b = BUF_EMPTY;
    const struct zkw_hello hello = {
        .last_zxid = 9, .timeout_ms = 6000, .session = 5, .password = "pw", .password_len = 2};
    zkw_put_hello(&b, &hello);
    ASSERT_BYTES(&b, "\0\0\0\x1f\0\0\0\0\0\0\0\0\0\0\0\x9\0\0\x17\x70\0\0\0\0\0\0\0\5\0\0\0\2pw\0");
}

static void hello_answers_are_checked(void **state)
{
    static const char good[] = "\0\0\0\0\0\0\x17\x70\0\0\0\0\0\0\0\5\0\0\0\2pw\1";
    struct zkw_hello got;
    (void)state;
    assert_int_equal(zkw_get_hello((struct zkw_bytes){good, sizeof good - 1}, &got), 0);
    assert_int_equal(got.timeout_ms, 6000);
    assert_int_equal(got.session, 5);
    assert_int_equal(got.password_len, 2);
    /* Servers before 3.4 do not say whether they are read-only. */
    assert_int_equal(zkw_get_hello((struct zkw_bytes){good, sizeof good - 2}, &got), 0);
    for (size_t n = 0; n < sizeof good - 2; n++)
        assert_int_equal(zkw_get_hello((struct zkw_bytes){good, n}, &got), ERR_PARSE);
    char fat[16 + 4 + 100] = {0};
    memcpy(fat, good, 16);
    fat[19] = 100;
    assert_int_equal(zkw_get_hello((struct zkw_bytes){fat, sizeof fat}, &got), ERR_PARSE);
}

static void stat_members_have_their_places(void **state)
{
    (void)state;
    buf_auto struct buf b = BUF_EMPTY;
    for (int64_t i = 1; i <= 4; i++)
        zkw_put_i64(&b, i);
    for (int32_t i = 5; i <= 7; i++)
        zkw_put_i32(&b, i);
    zkw_put_i64(&b, 8);
    zkw_put_i32(&b, 9);
    zkw_put_i32(&b, 10);
    zkw_put_i64(&b, 11);
    struct zkw_in in = zkw_in_make(b.bytes, b.len);
    struct store_stat stat;
    zkw_get_stat(&in, &stat);
    assert_false(in.is_bad);
    assert_ptr_equal(in.at, in.end);
    assert_int_equal(stat.czxid, 1);
    assert_int_equal(stat.mzxid, 2);
    assert_int_equal(stat.ctime_ms, 3);
    assert_int_equal(stat.mtime_ms, 4);
    assert_int_equal(stat.version, 5);
    assert_int_equal(stat.cversion, 6);
    assert_true(stat.ephemeral);
    assert_int_equal(stat.data_len, 9);
    assert_int_equal(stat.n_children, 10);
    assert_int_equal(stat.pzxid, 11);
}

static void containers_are_not_ephemeral(void **state)
{
    (void)state;
    assert_false(zkw_is_ephemeral(0));
    assert_true(zkw_is_ephemeral(0x100000000000001));
    assert_true(zkw_is_ephemeral((int64_t)0xfe00000000000001));
    assert_false(zkw_is_ephemeral(INT64_MIN));
    assert_false(zkw_is_ephemeral((int64_t)0xff00000000002710));
}

static void urls_are_split(void **state)
{
    static const struct {
        const char *url, *servers, *root;
    } cases[] = {
        {"zk://a:1,b:2/registry", "a:1,b:2", "/registry"},
        {"zk://a", "a", ""},
        {"zk://a/", "a", ""},
        {"zk://[::1]:2181/x/y", "[::1]:2181", "/x/y"},
        {"zk://a/x/", "a", "/x"},
        {"zk:///x", NULL, NULL},
        {"zk://a//x", NULL, NULL},
        {"zk://a/../x", NULL, NULL},
        {"http://a/x", NULL, NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *servers = NULL, *root = NULL;
        struct err_info why = {0};
        int err = zk_url_read(cases[i].url, &servers, &root, &why);
        assert_int_equal(err, cases[i].servers ? 0 : ERR_INVALID);
        assert_int_equal(why.code, err);
        if (cases[i].servers) {
            assert_string_equal(servers, cases[i].servers);
            assert_string_equal(root, cases[i].root);
        }
        free(servers);
        free(root);
    }
}

static void server_lists_are_read(void **state)
{
    struct zk_servers list = {0};
    struct err_info why = {0};
    (void)state;
    assert_int_equal(zk_servers_read("a:1, b ,[::1]:3", &list, &why), 0);
    assert_int_equal(list.n_items, 3);
    assert_string_equal(list.items[0].host, "a");
    assert_int_equal(list.items[0].port, 1);
    assert_string_equal(list.items[1].host, "b");
    assert_int_equal(list.items[1].port, 2181);
    assert_string_equal(list.items[2].host, "::1");
    assert_int_equal(list.items[2].port, 3);
    zk_servers_fini(&list);
    assert_int_equal(zk_servers_read("a:1,b:port", &list, &why), ERR_INVALID);
    assert_int_equal(zk_servers_read("a:1,,b", &list, &why), ERR_INVALID);
    char longest[254 + 1];
    memset(longest, 'a', 254);
    longest[254] = '\0';
    assert_int_equal(zk_servers_read(longest, &list, &why), ERR_INVALID);
    assert_int_equal(zk_servers_read(longest + 1, &list, &why), 0);
    zk_servers_fini(&list);
    assert_int_equal(zk_servers_read("a b", &list, &why), ERR_INVALID);
    assert_int_equal(zk_servers_read("h\xc3\xa9", &list, &why), ERR_INVALID);
    assert_int_equal(zk_servers_read("a:1,\xff:2", &list, &why), ERR_INVALID);
    assert_non_null(strstr(why.text, "host"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_big_endian),
        cmocka_unit_test(requests_are_framed),
        cmocka_unit_test(strings_must_fit),
        cmocka_unit_test(frames_are_cut_at_any_split),
        cmocka_unit_test(frames_have_a_limit),
        cmocka_unit_test(hello_is_as_the_server_expects),
        cmocka_unit_test(hello_answers_are_checked),
        cmocka_unit_test(stat_members_have_their_places),
        cmocka_unit_test(containers_are_not_ephemeral),
        cmocka_unit_test(urls_are_split),
        cmocka_unit_test(server_lists_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

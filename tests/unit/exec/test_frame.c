/* lib/exec/frame: what one side writes the other reads; what no side sends, and what is too long, is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "base/obj.h"
#include "bobbin/error.h"
#include "exec/frame.h"

static int read_one(struct buf *b, enum exec_side from, struct exec_frame *f)
{
    int n = exec_frame_read(b->bytes, b->len, from, f);
    return n;
}

static void frames_of_the_client_are_read_back(void **state)
{
    (void)state;
    buf_auto struct buf b = BUF_EMPTY;
    struct exec_frame f;
    exec_frame_put(&b, EXEC_STDIN, "a\0b", 3);
    exec_frame_put_size(&b, 0x1234, 0xffff);
    exec_frame_put_number(&b, EXEC_SIGNAL, 15);
    exec_frame_put(&b, EXEC_STDIN, NULL, 0);

    assert_int_equal(read_one(&b, EXEC_CLIENT, &f), 7);
    assert_int_equal(f.kind, EXEC_STDIN);
    assert_int_equal(f.len, 3);
    assert_memory_equal(f.payload, "a\0b", 3);
    buf_drop(&b, 7);
    assert_int_equal(read_one(&b, EXEC_CLIENT, &f), 8);
    assert_int_equal(f.rows, 0x1234);
    assert_int_equal(f.columns, 0xffff);
    buf_drop(&b, 8);
    assert_int_equal(read_one(&b, EXEC_CLIENT, &f), 5);
    assert_int_equal(f.number, 15);
    buf_drop(&b, 5);
    assert_int_equal(read_one(&b, EXEC_CLIENT, &f), 4);
    assert_int_equal(f.kind, EXEC_STDIN);
    assert_int_equal(f.len, 0);
    buf_drop(&b, 4);
    assert_int_equal(b.len, 0);
}

static void frames_of_the_server_are_read_back(void **state)
{
    (void)state;
    static char most[EXEC_PAYLOAD_MAX];
    buf_auto struct buf b = BUF_EMPTY;
    struct exec_frame f;
    memset(most, 'x', sizeof most);
    exec_frame_put(&b, EXEC_STDOUT, most, sizeof most);
    assert_int_equal(read_one(&b, EXEC_SERVER, &f), EXEC_HEAD + EXEC_PAYLOAD_MAX);
    assert_memory_equal(f.payload, most, sizeof most);
    buf_clear(&b);
    exec_frame_put_number(&b, EXEC_CREDIT, 0xfffefdfc);
    assert_int_equal(read_one(&b, EXEC_SERVER, &f), 8);
    assert_int_equal(f.number, 0xfffefdfc);
    buf_clear(&b);
    exec_frame_put_number(&b, EXEC_EXIT, 255);
    assert_int_equal(read_one(&b, EXEC_SERVER, &f), 5);
    assert_int_equal(f.number, 255);
    buf_clear(&b);
    exec_frame_put(&b, EXEC_ERROR, "no", 2);
    assert_int_equal(read_one(&b, EXEC_SERVER, &f), 6);
    assert_memory_equal(f.payload, "no", 2);
}

static void a_frame_that_is_not_whole_is_awaited(void **state)
{
    (void)state;
    buf_auto struct buf b = BUF_EMPTY;
    struct exec_frame f = {.number = 77};
    exec_frame_put(&b, EXEC_STDERR, "12345", 5);
    for (size_t n = 0; n < b.len; n++)
        assert_int_equal(exec_frame_read(b.bytes, n, EXEC_SERVER, &f), 0);
    assert_int_equal(f.number, 77);
    assert_int_equal(exec_frame_read(b.bytes, b.len, EXEC_SERVER, &f), 9);
}

static void malformed_frames_are_refused_by_their_heads(void **state)
{
    (void)state;
    static const struct {
        const char *head;
        enum exec_side from;
    } cases[] = {
        {"\0\0\0\0", EXEC_CLIENT},       /* no kind */
        {"\377\0\0\0", EXEC_SERVER},     /* no kind */
        {"\21\0\0\1", EXEC_CLIENT},      /* STDOUT is the server's */
        {"\1\0\0\1", EXEC_SERVER},       /* STDIN is the client's */
        {"\1\0\100\1", EXEC_CLIENT},     /* one octet too many */
        {"\1\377\377\377", EXEC_CLIENT}, /* the largest length */
        {"\2\0\0\3", EXEC_CLIENT},       /* RESIZE has four */
        {"\2\0\0\5", EXEC_CLIENT},       /* no more either */
        {"\3\0\0\0", EXEC_CLIENT},       /* SIGNAL has one */
        {"\21\0\0\0", EXEC_SERVER},      /* an empty piece says nothing */
        {"\24\0\4\1", EXEC_SERVER},      /* a sentence, no book */
        {"\25\0\0\2", EXEC_SERVER},      /* EXIT has one */
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct exec_frame f;
        if (exec_frame_read(cases[i].head, EXEC_HEAD, cases[i].from, &f) != ERR_PARSE)
            fail_msg("case %zu is not refused", i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_of_the_client_are_read_back),
        cmocka_unit_test(frames_of_the_server_are_read_back),
        cmocka_unit_test(a_frame_that_is_not_whole_is_awaited),
        cmocka_unit_test(malformed_frames_are_refused_by_their_heads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

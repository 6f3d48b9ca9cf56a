/* Frames, against octets that a real cluster takes and sends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "protocols.pb-c.h"
#include "yarn/frame.h"

static const uint8_t client_id[FRAME_CLIENT_ID_LEN] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
static const struct frame_method new_application = {"org.apache.hadoop.yarn.api.ApplicationClientProtocolPB",
                                                    "getNewApplication", 1};

enum { MAX = 1000 };

static unsigned digit(char c)
{
    return c <= '9' ? (unsigned)(c - '0') : (unsigned)(c - 'a' + 10);
}

static void put_hex(struct buf *out, const char *hex)
{
    for (; *hex; hex++) {
        if (*hex == ' ')
            continue;
        buf_add_char(out, (char)(digit(hex[0]) << 4 | digit(hex[1])));
        hex++;
    }
}

static void expect(const struct buf *got, const char *hex)
{
    buf_auto struct buf wanted = BUF_EMPTY;
    put_hex(&wanted, hex);
    assert_int_equal(got->len, wanted.len);
    assert_memory_equal(got->bytes, wanted.bytes, wanted.len);
}

static void hello_names_the_version_and_the_authentication(void **state)
{
    (void)state;
    buf_auto struct buf out = BUF_EMPTY;
    frame_put_hello(&out, false);
    frame_put_hello(&out, true);
    expect(&out, "68 72 70 63 09 00 00 68 72 70 63 09 00 df");
}

static void context_names_the_user_and_the_protocol(void **state)
{
    (void)state;
    buf_auto struct buf out = BUF_EMPTY;
    frame_put_context(&out, client_id, "alice", new_application.protocol);
    expect(
        &out,
        "00 00 00 5d 1a 08 02 10 00 18 05 22 10 00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f 28 01 41 12 "
        "07 0a 05 61 6c 69 63 65 1a 36 6f 72 67 2e 61 70 61 63 68 65 2e 68 61 64 6f 6f 70 2e 79 61 72 6e 2e "
        "61 70 69 2e 41 70 70 6c 69 63 61 74 69 6f 6e 43 6c 69 65 6e 74 50 72 6f 74 6f 63 6f 6c 50 42");
}

static void call_has_header_method_and_request(void **state)
{
    (void)state;
    buf_auto struct buf body = BUF_EMPTY, out = BUF_EMPTY;
    Yarn__Nothing nothing = YARN__NOTHING__INIT;
    frame_put_body(&body, &new_application, &nothing.base);
    frame_put_call(&out, client_id, 0, 0, &body);
    expect(
        &out,
        "00 00 00 6a 1a 08 02 10 00 18 00 22 10 00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f 28 00 4d 0a "
        "11 67 65 74 4e 65 77 41 70 70 6c 69 63 61 74 69 6f 6e 12 36 6f 72 67 2e 61 70 61 63 68 65 2e 68 61 "
        "64 6f 6f 70 2e 79 61 72 6e 2e 61 70 69 2e 41 70 70 6c 69 63 61 74 69 6f 6e 43 6c 69 65 6e 74 50 72 "
        "6f 74 6f 63 6f 6c 50 42 18 01 00");
}

static void sasl_messages_have_an_empty_client_id(void **state)
{
    (void)state;
    buf_auto struct buf out = BUF_EMPTY;
    Yarn__SaslMessage message = YARN__SASL_MESSAGE__INIT;
    message.state = YARN__SASL_STATE__SASL_NEGOTIATE;
    frame_put_sasl(&out, &message);
    expect(&out, "00 00 00 0e 0a 08 02 10 00 18 41 22 00 28 01 02 10 01");
}

static void sasl_entry_keeps_what_is_empty_and_there(void **state)
{
    (void)state;
    buf_auto struct buf out = BUF_EMPTY;
    Yarn__SaslMessage message = YARN__SASL_MESSAGE__INIT;
    Yarn__SaslAuth entry = YARN__SASL_AUTH__INIT, *entries[] = {&entry};
    entry.method = "TOKEN";
    entry.mechanism = "DIGEST-MD5";
    entry.protocol = "";
    entry.server_id = "default";
    message.state = YARN__SASL_STATE__SASL_INITIATE;
    message.has_token = true;
    message.token = (ProtobufCBinaryData){1, (uint8_t *)"x"};
    message.auths = entries;
    message.n_auths = 1;
    size_t n = yarn__sasl_message__get_packed_size(&message);
    out.len = yarn__sasl_message__pack(&message, (uint8_t *)buf_room(&out, n));
    expect(&out,
           "10 02 1a 01 78 22 1e 0a 05 54 4f 4b 45 4e 12 0a 44 49 47 45 53 54 2d 4d 44 35 1a 00 22 07 64 65 "
           "66 61 75 6c 74");
}

static void ping_has_no_body(void **state)
{
    (void)state;
    buf_auto struct buf out = BUF_EMPTY;
    frame_put_ping(&out, client_id);
    expect(&out,
           "00 00 00 1b 1a 08 02 10 00 18 07 22 10 00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f 28 01");
}

static void client_ids_are_uuids_and_differ(void **state)
{
    (void)state;
    uint8_t a[FRAME_CLIENT_ID_LEN], b[FRAME_CLIENT_ID_LEN];
    frame_make_client_id(a);
    frame_make_client_id(b);
    assert_int_equal(a[6] >> 4, 4);
    assert_int_equal(a[8] >> 6, 2);
    assert_memory_not_equal(a, b, sizeof a);
}

static void frames_are_found_when_they_are_whole(void **state)
{
    (void)state;
    static const char two[] = {0, 0, 0, 2, 'a', 'b', 0, 0, 0, 1, 'c'};
    struct frame_bytes frame;
    for (size_t len = 0; len < 6; len++)
        assert_int_equal(frame_next(two, len, MAX, &frame, NULL), 0);
    assert_int_equal(frame_next(two, sizeof two, MAX, &frame, NULL), 6);
    assert_int_equal(frame.len, 2);
    assert_memory_equal(frame.at, "ab", 2);
    assert_int_equal(frame_next(two + 6, 5, MAX, &frame, NULL), 5);
    assert_memory_equal(frame.at, "c", 1);
}

static void what_is_no_frame_is_refused_with_a_reason(void **state)
{
    (void)state;
    static const struct {
        const char *bytes, *text;
        int code;
    } cases[] = {
        {"\0\0\0\0", "it does not speak Hadoop's IPC: a frame has no length", ERR_PARSE},
        {"\x80\0\0\1", "it does not speak Hadoop's IPC: a frame has no length", ERR_PARSE},
        {"\xff\xff\xff\xff", "it speaks an older version of Hadoop's IPC", ERR_PARSE},
        {"HTTP", "it speaks HTTP: this is no port of Hadoop's IPC", ERR_PARSE},
        {"\0\0\x03\xe9", "an answer has 1001 octets, more than the 1000 that are accepted", ERR_TOOBIG},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct frame_bytes frame;
        struct err_info why = {0};
        assert_int_equal(frame_next(cases[i].bytes, 4, MAX, &frame, &why), cases[i].code);
        assert_string_equal(why.text, cases[i].text);
    }
}

static void read(const char *hex, int wanted, struct frame_response *out)
{
    buf_auto struct buf in = BUF_EMPTY;
    put_hex(&in, hex);
    assert_int_equal(frame_read_response((struct frame_bytes){(uint8_t *)in.bytes, in.len}, client_id, out),
                     wanted);
}

static void response_ids_are_unsigned_on_the_wire(void **state)
{
    (void)state;
    struct frame_response r;
    read("0e 08 df ff ff ff 0f 10 00 18 09 3a 00 40 01", 0, &r);
    assert_int_equal(r.call_id, FRAME_CALL_SASL);
    assert_int_equal(r.status, YARN__RPC_STATUS__RPC_SUCCESS);
    assert_false(r.is_others);
    assert_int_equal(r.body.len, 0);
}

static void response_of_another_client_is_recognised(void **state)
{
    (void)state;
    struct frame_response r;
    read("16 08 01 10 00 3a 10 00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f 00", 0, &r);
    assert_false(r.is_others);
    assert_int_equal(r.body.len, 1);
    read("16 08 01 10 00 3a 10 00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 10 00", 0, &r);
    assert_true(r.is_others);
    read("07 08 01 10 00 3a 01 00", 0, &r);
    assert_true(r.is_others);
}

static void malformed_headers_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",                           /* nothing                     */
        "00",                         /* no call id, no status       */
        "02 08 01",                   /* its length lies             */
        "02 08 01 00",                /* no status                   */
        "80 80 80 80 80 01 00",       /* a varint that does not end  */
        "ff ff ff ff 7f 08 01 10 00", /* longer than the frame       */
        "04 08 01 10 80",             /* cut within a field          */
    };
    struct frame_response r;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        read(bad[i], ERR_PARSE, &r);
}

/* Of a stack trace the first line is for people. */
static void error_is_a_class_and_one_line(void **state)
{
    (void)state;
    buf_auto struct buf in = BUF_EMPTY;
    Yarn__RpcResponseHeader header = YARN__RPC_RESPONSE_HEADER__INIT;
    char trace[2000];
    memset(trace, 'x', sizeof trace);
    memcpy(trace + FRAME_TEXT_MAX - 2, "\xc3\xb6", 2); /* a character that does not fit */
    trace[sizeof trace - 1] = 0;
    header.call_id = 3;
    header.status = YARN__RPC_STATUS__RPC_ERROR;
    header.exception_class = "a.B$C";
    header.error_message = trace;
    size_t n = yarn__rpc_response_header__get_packed_size(&header);
    buf_add_char(&in, (char)(n | 0x80));
    buf_add_char(&in, (char)(n >> 7));
    in.len += yarn__rpc_response_header__pack(&header, (uint8_t *)buf_room(&in, n));
    struct frame_response r;
    assert_int_equal(frame_read_response((struct frame_bytes){(uint8_t *)in.bytes, in.len}, client_id, &r),
                     0);
    assert_string_equal(r.class_name, "a.B$C");
    assert_int_equal(strlen(r.text), FRAME_TEXT_MAX - 2);
    buf_clear(&in);
    header.error_message = "first\n\tat second";
    n = yarn__rpc_response_header__get_packed_size(&header);
    buf_add_char(&in, (char)n);
    in.len += yarn__rpc_response_header__pack(&header, (uint8_t *)buf_room(&in, n));
    assert_int_equal(frame_read_response((struct frame_bytes){(uint8_t *)in.bytes, in.len}, client_id, &r),
                     0);
    assert_string_equal(r.text, "first");
}

static void messages_are_whole_and_alone(void **state)
{
    (void)state;
    static const uint8_t body[] = {4, 0x0a, 2, 8, 7, 0};
    const ProtobufCMessageDescriptor *type = &yarn__new_application__descriptor;
    assert_null(frame_read_message((struct frame_bytes){body, 4}, type, NULL));
    assert_null(frame_read_message((struct frame_bytes){body, 6}, type, NULL));
    Yarn__NewApplication *m =
        (Yarn__NewApplication *)frame_read_message((struct frame_bytes){body, 5}, type, NULL);
    assert_non_null(m);
    assert_int_equal(m->application_id->id, 7);
    yarn__new_application__free_unpacked(m, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hello_names_the_version_and_the_authentication),
        cmocka_unit_test(context_names_the_user_and_the_protocol),
        cmocka_unit_test(call_has_header_method_and_request),
        cmocka_unit_test(sasl_messages_have_an_empty_client_id),
        cmocka_unit_test(sasl_entry_keeps_what_is_empty_and_there),
        cmocka_unit_test(ping_has_no_body),
        cmocka_unit_test(client_ids_are_uuids_and_differ),
        cmocka_unit_test(frames_are_found_when_they_are_whole),
        cmocka_unit_test(what_is_no_frame_is_refused_with_a_reason),
        cmocka_unit_test(response_ids_are_unsigned_on_the_wire),
        cmocka_unit_test(response_of_another_client_is_recognised),
        cmocka_unit_test(malformed_headers_are_refused),
        cmocka_unit_test(error_is_a_class_and_one_line),
        cmocka_unit_test(messages_are_whole_and_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* dnstap messages, read back by what protoc-c made of the schema. dnstap-read reads them in tests/e2e/test_dns_query_log.py. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "base/buf.h"
#include "dnstap.pb-c.h"
#include "tap/dnstap.h"

static const uint8_t octets[] = "questionanswer";

static Dnstap__Dnstap *round_trip(const struct tap_entry *e, bool is_said)
{
    buf_auto struct buf out = BUF_EMPTY;
    dnstap_put("me", "one", e, octets, is_said, &out);
    Dnstap__Dnstap *d = dnstap__dnstap__unpack(NULL, out.len, (const uint8_t *)out.bytes);
    assert_non_null(d);
    assert_memory_equal(d->identity.data, "me", 2);
    assert_memory_equal(d->version.data, "one", 3);
    return d;
}

static void expect_octets(const ProtobufCBinaryData *got, const char *wanted)
{
    assert_int_equal(got->len, strlen(wanted));
    assert_memory_equal(got->data, wanted, got->len);
}

static void fields_of_each_message(void **state)
{
    (void)state;
    struct tap_entry e = {.at_ns = 1700000000123456789,
                          .said_ns = 1700000001000000001,
                          .query_len = 8,
                          .said_len = 6,
                          .client_port = 4711,
                          .protocol = TAP_TLS,
                          .is_ipv6 = true,
                          .client = {0xfd, [15] = 1}};
    for (int i = 0; i < 4; i++) {
        bool is_said = i % 2;
        e.is_relayed = i / 2;
        Dnstap__Dnstap *d = round_trip(&e, is_said);
        const Dnstap__Message *m = d->message;
        static const int types[] = {DNSTAP__MESSAGE__TYPE__AUTH_QUERY, DNSTAP__MESSAGE__TYPE__AUTH_RESPONSE,
                                    DNSTAP__MESSAGE__TYPE__CLIENT_QUERY,
                                    DNSTAP__MESSAGE__TYPE__CLIENT_RESPONSE};
        assert_int_equal(m->type, types[i]);
        assert_int_equal(m->socket_family, DNSTAP__SOCKET_FAMILY__INET6);
        assert_int_equal(m->socket_protocol, DNSTAP__SOCKET_PROTOCOL__DOT);
        assert_int_equal(m->query_address.len, 16);
        assert_memory_equal(m->query_address.data, e.client, 16);
        assert_int_equal(m->query_port, 4711);
        assert_int_equal(m->query_time_sec, 1700000000);
        assert_int_equal(m->query_time_nsec, 123456789);
        assert_int_equal(m->has_query_message, !is_said);
        assert_int_equal(m->has_response_message, is_said);
        assert_int_equal(m->has_response_time_sec, is_said);
        expect_octets(is_said ? &m->response_message : &m->query_message, is_said ? "answer" : "question");
        if (is_said)
            assert_int_equal(m->response_time_nsec, 1);
        dnstap__dnstap__free_unpacked(d, NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(fields_of_each_message)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Endpoints of records as blocks hold them: fragment of the api, host, port, path. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/buf.h"
#include "bobbin/record.h"
#include "names/endpoint.h"

/* Pack the one endpoint of a record with this api, address type and address, and read it back. */
static struct endpoint packed(struct buf *bytes, const char *api, const char *type, const char *address)
{
    struct err_info why = {0};
    struct reg_record *record = NULL;
    struct endpoint e;
    buf_auto struct buf json = BUF_EMPTY;
    buf_addf(&json,
             "{\"type\":\"JSONServiceRecord\",\"external\":[{\"api\":\"%s\",\"addressType\":\"%s\","
             "\"protocolType\":\"x\",\"addresses\":[{%s}]}]}",
             api, type, address);
    if (reg_record_read(json.bytes, json.len, REG_STRICT, &record, &why))
        fail_msg("%s: %s", why.where, why.text);
    buf_clear(bytes);
    endpoint_pack(&record->external.items[0], bytes);
    reg_record_free(record);
    struct block b = {bytes->bytes, bytes->bytes + bytes->len};
    assert_true(endpoint_next(&b, &e));
    assert_null(block_next(&b));
    return e;
}

static void fragments_of_apis(void **state)
{
    (void)state;
    static const struct {
        const char *api, *fragment;
        bool is_odd;
    } cases[] = {
        {"classpath:org.apache.hadoop.yarn.service.appmaster.ipc", "appmaster-ipc", false},
        {"http://", "http", false},
        {"http://x/y", "http", false},
        {"classpath:org.apache.hadoop.yarn.service.", "classpath-org-apache-hadoop-yarn-service", true},
        {"https://Odd.api/v1/", "https-odd-api-v1", true},
        {"", "", true},
        {"///", "", true},
        {"a0123456789012345678901234567890123456789012345678901234567890123456789",
         "a012345678901234567890123456789012345678901234567890123456", true},
    };
    buf_auto struct buf bytes = BUF_EMPTY;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct endpoint e = packed(&bytes, cases[i].api, "uri", "\"uri\":\"\"");
        assert_string_equal(e.fragment, cases[i].fragment);
        assert_int_equal(e.is_odd, cases[i].is_odd);
    }
}

static void places_of_addresses(void **state)
{
    (void)state;
    static const struct {
        const char *type, *address, *host, *port, *path;
    } cases[] = {
        {"host/port", "\"host\":\"10.0.0.1\",\"port\":\"80\"", "10.0.0.1", "80", ""},
        {"host/port", "\"port\":\"80\"", "", "80", ""},
        {"zktriple", "\"host\":\"10.0.0.1\",\"port\":\"80\"", "", "", ""},
        {"uri", "\"uri\":\"http://[fd00::1]:8080/a%20b?q\"", "fd00::1", "8080", "path=/a b"},
        {"uri", "\"uri\":\"http://me@node7#x\"", "node7", "", "path="},
        {"uri", "\"uri\":\"http://h:1/%00\"", "h", "1", "path="},
        {"uri", "\"uri\":\"nothing\"", "", "", "path="},
        {"uri", "\"host\":\"h\"", "", "", "path="},
    };
    buf_auto struct buf bytes = BUF_EMPTY;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct endpoint e = packed(&bytes, "http://", cases[i].type, cases[i].address);
        assert_string_equal(e.host, cases[i].host);
        assert_string_equal(e.port, cases[i].port);
        assert_string_equal(e.path, cases[i].path);
    }
}

static void ports_are_numbers(void **state)
{
    (void)state;
    static const char *const bad[] = {"", "65536", "-1", "80x", " 80"};
    uint16_t port = 7;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(endpoint_port(&(struct endpoint){.port = bad[i]}, &port));
    assert_int_equal(port, 7);
    assert_true(endpoint_port(&(struct endpoint){.port = "65535"}, &port));
    assert_int_equal(port, 65535);
}

static void a_block_that_was_cut_short_ends(void **state)
{
    (void)state;
    static const char cut[] = "http\0h\0"
                              "80";
    struct block b = {cut, cut + sizeof cut};
    struct endpoint e;
    assert_false(endpoint_next(&b, &e));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fragments_of_apis),
        cmocka_unit_test(places_of_addresses),
        cmocka_unit_test(ports_are_numbers),
        cmocka_unit_test(a_block_that_was_cut_short_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

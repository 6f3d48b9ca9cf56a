/* Names of applications: the host that S has, and E as addresses or as an alias. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "names/application.h"
#include "names_kit.h"

#define ENDPOINT(api, address)                                                                               \
    "{\"api\":\"" api "\",\"addressType\":\"host/port\",\"protocolType\":\"x\",\"addresses\":[" address "]}"
#define RECORD(endpoints) "{\"type\":\"JSONServiceRecord\",\"external\":[" endpoints "]}"

static struct reg_record *record_of(const char *json)
{
    struct err_info why = {0};
    struct reg_record *record = NULL;
    if (reg_record_read(json, strlen(json), REG_STRICT, &record, &why))
        fail_msg("%s: %s", why.where, why.text);
    return record;
}

/* Pack into `bytes`. @return the fields behind the kind. */
static struct block packed(struct buf *bytes, const char *json)
{
    struct reg_record *record = record_of(json);
    buf_clear(bytes);
    assert_true(application_pack(record, bytes));
    reg_record_free(record);
    struct block fields = {bytes->bytes, bytes->bytes + bytes->len};
    assert_int_equal(block_next_kind(&fields), BLOCK_APPLICATION);
    return fields;
}

static void without_an_address_nothing_is_packed(void **state)
{
    (void)state;
    buf_auto struct buf bytes = BUF_EMPTY;
    struct reg_record *record = record_of(RECORD(ENDPOINT("http://", "")));
    assert_false(application_pack(record, &bytes));
    assert_int_equal(bytes.len, 0);
    reg_record_free(record);
}

static void the_first_host_is_the_applications(void **state)
{
    (void)state;
    buf_auto struct buf bytes = BUF_EMPTY;
    struct block fields =
        packed(&bytes, RECORD(ENDPOINT("http://", "{\"port\":\"1\"}") "," ENDPOINT(
                           "http://", "{\"host\":\"a b\"}") "," ENDPOINT("http://", "{\"host\":\"n1\"}")));
    assert_string_equal(application_host(fields), "n1");
    assert_null(application_host(packed(&bytes, RECORD(ENDPOINT("http://", "{\"port\":\"1\"}")))));
}

static void an_endpoint_is_an_alias_in_compat(void **state)
{
    (void)state;
    struct kit_emit k;
    struct emit *e = kit_emit_init(&k);
    buf_auto struct buf bytes = BUF_EMPTY;
    k.options.has_api_cname = true;
    application_emit(e, "/users/bob/services/c/s",
                     packed(&bytes, RECORD(ENDPOINT("http://", "{\"host\":\"10.0.0.1\",\"port\":\"80\"}"))));
    kit_expect(&k.lines, "http-api.s.bob.dev.test. 30 CNAME s.bob.dev.test.\n"
                         "http-api.s.bob.dev.test. 30 SRV 1 1 80 s.bob.dev.test.\n"
                         "http-api.s.bob.dev.test. 30 TXT \"api=http\"\n"
                         "s.bob.dev.test. 30 A 10.0.0.1\n"
                         "s.bob.dev.test. 30 SRV 1 1 80 s.bob.dev.test.\n"
                         "s.bob.dev.test. 30 TXT \"api=http\"\n");
}

static void missing_addresses_have_a_reason(void **state)
{
    (void)state;
    struct kit_emit k;
    struct emit *e = kit_emit_init(&k);
    buf_auto struct buf bytes = BUF_EMPTY;
    application_emit(e, "/s", packed(&bytes, RECORD(ENDPOINT("x", "{\"host\":\"n1\"}"))));
    kit_expect(&k.lines, "none s.anonymous.dev.test. the endpoint has no host, or no port of 0 to 65535\n"
                         "none s.anonymous.dev.test. the host name of the first endpoint has no address now\n"
                         "s.anonymous.dev.test. 30 TXT \"api=x\"\n");
    application_emit(e, "/s", packed(&bytes, RECORD(ENDPOINT("x", "{}"))));
    kit_expect(&k.lines, "none s.anonymous.dev.test. no external endpoint has a host\n"
                         "none s.anonymous.dev.test. the endpoint has no host, or no port of 0 to 65535\n"
                         "s.anonymous.dev.test. 30 TXT \"api=x\"\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_an_address_nothing_is_packed),
        cmocka_unit_test(the_first_host_is_the_applications),
        cmocka_unit_test(an_endpoint_is_an_alias_in_compat),
        cmocka_unit_test(missing_addresses_have_a_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

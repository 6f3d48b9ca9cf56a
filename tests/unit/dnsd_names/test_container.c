/* Names of containers that depend on the path, on readiness, on the host name and on what is missing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "names/container.h"
#include "names_kit.h"

#define PATH   "/users/bob/services/yarn-service/shop/components/ctr-7"
#define IP(ip) "\"yarn:ip\":\"" ip "\","
#define RECORD(more)                                                                                         \
    "{\"type\":\"JSONServiceRecord\",\"description\":\"Web-0\",\"yarn:component\":\"Web\"," more             \
    "\"yarn:persistence\":\"container\"}"

static struct reg_record *record_of(const char *json)
{
    struct err_info why = {0};
    struct reg_record *record = NULL;
    if (reg_record_read(json, strlen(json), REG_STRICT, &record, &why))
        fail_msg("%s: %s", why.where, why.text);
    return record;
}

/* Pack and emit. */
static void emit_record(struct kit_emit *k, const char *path, const char *json)
{
    buf_auto struct buf bytes = BUF_EMPTY;
    struct reg_record *record = record_of(json);
    assert_true(container_pack(record, &bytes));
    reg_record_free(record);
    struct block fields = {bytes.bytes, bytes.bytes + bytes.len};
    assert_int_equal(block_next_kind(&fields), BLOCK_CONTAINER);
    container_emit(&k->e, path, fields);
}

static void without_an_address_nothing_is_packed(void **state)
{
    (void)state;
    static const char *const records[] = {RECORD(""), RECORD(IP("")), RECORD(IP(" , 10.0.0.1"))};
    for (size_t i = 0; i < sizeof records / sizeof *records; i++) {
        buf_auto struct buf bytes = BUF_EMPTY;
        struct reg_record *record = record_of(records[i]);
        assert_false(container_pack(record, &bytes));
        assert_int_equal(bytes.len, 0);
        reg_record_free(record);
    }
}

static void an_unready_one_is_unready_at_shared_names_only(void **state)
{
    (void)state;
    struct kit_emit k;
    kit_emit_init(&k);
    k.options.has_service_names = true;
    emit_record(&k, PATH, RECORD(IP("10.0.0.1") "\"bobbin:ready\":\"false\","));
    kit_expect(&k.lines,
               "ctr-7.dev.test. 30 A 10.0.0.1\n"
               "none 1.0.0.10.in-addr.arpa. its container record has no yarn:hostname, which a PTR needs\n"
               "unready shop.bob.dev.test. 30 A 10.0.0.1\n"
               "unready web.shop.bob.dev.test. 30 A 10.0.0.1\n"
               "web-0.shop.bob.dev.test. 30 A 10.0.0.1\n"
               "web-0.shop.bob.dev.test. 30 TXT \"id=null\"\n");
}

/** Only services of class yarn-service have a name of their own from containers. */
static void other_classes_have_no_service_name(void **state)
{
    (void)state;
    struct kit_emit k;
    kit_emit_init(&k);
    k.options.has_service_names = true;
    emit_record(&k, "/users/bob/services/other/shop/components/ctr-7", RECORD(IP("10.0.0.1")));
    kit_expect(&k.lines,
               "ctr-7.dev.test. 30 A 10.0.0.1\n"
               "none 1.0.0.10.in-addr.arpa. its container record has no yarn:hostname, which a PTR needs\n"
               "ready web.shop.bob.dev.test. 30 A 10.0.0.1\n"
               "web-0.shop.bob.dev.test. 30 A 10.0.0.1\n"
               "web-0.shop.bob.dev.test. 30 TXT \"id=null\"\n");
}

static bool five(void *arg, const char *component, uint32_t *ttl_s)
{
    *ttl_s = 5;
    return strcmp(component, arg) == 0;
}

static void a_component_may_have_a_ttl(void **state)
{
    (void)state;
    struct kit_emit k;
    kit_emit_init(&k);
    k.options.component_ttl = five;
    k.options.ttl_arg = "web";
    k.options.type_ttls[DNS_TTL_OF_DNS_A] = (struct map_type_ttl){true, 99};
    emit_record(&k, "/ctr-7", RECORD(IP("10.0.0.1")));
    kit_expect(&k.lines, "ctr-7.dev.test. 5 A 10.0.0.1\n");
    assert_int_equal(k.e.n_left_out, 1); /* the path has no service */
}

static void missing_addresses_have_a_reason_at_each_name(void **state)
{
    (void)state;
    struct kit_emit k;
    kit_emit_init(&k);
    emit_record(&k, PATH, RECORD(IP("172.17.9")));
    kit_expect(&k.lines, "none ctr-7.dev.test. yarn:ip is neither an address nor a host name\n"
                         "none web-0.shop.bob.dev.test. yarn:ip is neither an address nor a host name\n"
                         "none web.shop.bob.dev.test. yarn:ip is neither an address nor a host name\n");
    assert_int_equal(k.e.n_left_out, 1);
    static const char labels[] = "db-0\0\1";
    container_emit_none(&k.e, "/users/bob/services/c/s/components/ctr-1",
                        (struct block){labels, labels + sizeof labels}, "why");
    kit_expect(&k.lines, "none ctr-1.dev.test. why\nnone db-0.s.bob.dev.test. why\n");
}

static void a_block_that_was_cut_short_gives_nothing(void **state)
{
    (void)state;
    struct kit_emit k;
    kit_emit_init(&k);
    static const char labels[] = "db-0\0db";
    struct block fields = {labels, labels + sizeof labels};
    assert_null(container_host(fields));
    container_emit(&k.e, PATH, fields);
    kit_expect(&k.lines, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_an_address_nothing_is_packed),
        cmocka_unit_test(an_unready_one_is_unready_at_shared_names_only),
        cmocka_unit_test(other_classes_have_no_service_name),
        cmocka_unit_test(a_component_may_have_a_ttl),
        cmocka_unit_test(missing_addresses_have_a_reason_at_each_name),
        cmocka_unit_test(a_block_that_was_cut_short_gives_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/** Limits: what is just allowed passes, one more is refused, and the refusal names limit and option. */
#include "access/limits.h"
#include "registryd/options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/obj.h"

static const struct opt_def option_rows[] = {OPTIONS_ROWS(REGISTRYD_OPTIONS)};

/* The parts of a record, n of one thing at a time. */
enum part { DESCRIPTION, ATTRIBUTES, ENDPOINTS, API, ADDRESS_TYPE, PROTOCOL_TYPE, ADDRESSES, ADDRESS, SIZE };

static char *letters(size_t n)
{
    char *text = mem_alloc(n + 1);
    memset(text, 'x', n);
    text[n] = 0;
    return text;
}

static void add_endpoint(struct reg_record *r, const char *api, const char *type, const char *protocol,
                         const char *uri, size_t n)
{
    struct reg_endpoint e;
    const char **uris = mem_array(n + 1, sizeof *uris);
    for (size_t i = 0; i < n; i++)
        uris[i] = uri;
    reg_endpoint_uri(&e, api, protocol, uris);
    free(e.address_type);
    e.address_type = mem_str(type);
    assert_int_equal(reg_record_add_internal(r, &e, NULL), 0);
    free(uris);
}

static struct reg_record *record_with(enum part part, size_t n)
{
    struct reg_record *r = reg_record_new();
    mem_auto char *text = letters(n);
    char key[32];
    if (part == DESCRIPTION)
        reg_record_describe(r, text);
    for (size_t i = 0; part == ATTRIBUTES && i < n; i++) {
        snprintf(key, sizeof key, "key%zu", i);
        assert_int_equal(reg_record_set(r, key, "", NULL), 0);
    }
    for (size_t i = 0; part == ENDPOINTS && i < n; i++)
        add_endpoint(r, "a", "uri", "REST", "u", 0);
    if (part == SIZE)
        assert_int_equal(reg_record_set(r, "pad", text, NULL), 0);
    else if (part > ENDPOINTS)
        add_endpoint(r, part == API ? text : "a", part == ADDRESS_TYPE ? text : "uri",
                     part == PROTOCOL_TYPE ? text : "REST", part == ADDRESS ? text : "u",
                     part == ADDRESSES ? n : 1);
    return r;
}

static int check(const char *set, enum part part, size_t n, struct err_info *why)
{
    buf_auto struct buf errors = BUF_EMPTY;
    const char *const sets[] = {set, NULL};
    struct options *o = options_read(option_rows, ARRAY_LEN(option_rows), NULL, set ? sets : NULL, &errors);
    assert_non_null(o);
    struct reg_checked r = {.record = record_with(part, n)};
    r.bytes = reg_record_write(r.record, &r.len);
    int err = limits_check(o, &r, why);
    reg_checked_fini(&r);
    options_free(o);
    return err;
}

static void each_limit_has_its_default_and_its_option(void **state)
{
    static const struct {
        enum part part;
        size_t most;
        const char *key, *where;
        const char *set; /* another limit */
        size_t small;
    } rows[] = {
        {DESCRIPTION, 262144, "hadoop.registry.record.max-description", "/description",
         "hadoop.registry.record.max-description=20", 20},
        {ATTRIBUTES, 4096, "hadoop.registry.record.max-attributes", "",
         "hadoop.registry.record.max-attributes=5", 5},
        {ENDPOINTS, 1024, "hadoop.registry.record.max-endpoints", "",
         "hadoop.registry.record.max-endpoints=3", 3},
        {API, 2048, "hadoop.registry.endpoint.max-api", "/internal/0/api",
         "hadoop.registry.endpoint.max-api=20", 20},
        {ADDRESS_TYPE, 256, "hadoop.registry.endpoint.max-address-type", "/internal/0/addressType",
         "hadoop.registry.endpoint.max-address-type=20", 20},
        {PROTOCOL_TYPE, 256, "hadoop.registry.endpoint.max-protocol-type", "/internal/0/protocolType",
         "hadoop.registry.endpoint.max-protocol-type=20", 20},
        {ADDRESSES, 1024, "hadoop.registry.endpoint.max-addresses", "/internal/0/addresses",
         "hadoop.registry.endpoint.max-addresses=2", 2},
        {ADDRESS, 8192, "hadoop.registry.endpoint.max-address", "/internal/0/addresses/0",
         "hadoop.registry.endpoint.max-address=16", 16},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err_info why = {0};
        char limit[32];
        snprintf(limit, sizeof limit, "%zu", rows[i].most);
        assert_int_equal(check(NULL, rows[i].part, rows[i].most, &why), 0);
        assert_int_equal(check(NULL, rows[i].part, rows[i].most + 1, &why), ERR_RECORD);
        assert_non_null(strstr(why.text, rows[i].key));
        assert_non_null(strstr(why.text, limit));
        assert_string_equal(why.where, rows[i].where);
        assert_int_equal(check(rows[i].set, rows[i].part, rows[i].small, &why), 0);
        assert_int_equal(check(rows[i].set, rows[i].part, rows[i].small + 1, &why), ERR_RECORD);
    }
}

static void a_record_has_a_million_bytes_at_most(void **state)
{
    struct err_info why = {0};
    size_t len;
    struct reg_record *empty = record_with(SIZE, 0);
    free(reg_record_write(empty, &len));
    (void)state;
    reg_record_free(empty);
    assert_int_equal(check(NULL, SIZE, 1000000 - len, &why), 0);
    assert_int_equal(check(NULL, SIZE, 1000001 - len, &why), ERR_RECORD);
    assert_non_null(strstr(why.text, "1000001 bytes"));
    assert_non_null(strstr(why.text, "hadoop.registry.record.max-size"));
}

/* Who sent it learns whether his text or his record is wrong. */
static void what_is_no_json_is_no_record_either(void **state)
{
    static const struct {
        const char *text;
        int err;
        const char *where;
    } rows[] = {
        {"", ERR_JSON, "1:1"},
        {"{\"a\":", ERR_JSON, "1:6"},
        {"type=JSONServiceRecord", ERR_JSON, "1:1"},
        {"{'type':'JSONServiceRecord'}", ERR_JSON, "1:2"},
        {"null", ERR_RECORD, ""},
        {"{\"type\":\"JSONServiceRecord\",\"external\":1}", ERR_RECORD, "/external"},
        {"{\"type\":\"JSONServiceRecord\"}", 0, ""},
    };
    buf_auto struct buf errors = BUF_EMPTY;
    struct options *o = options_read(option_rows, ARRAY_LEN(option_rows), NULL, NULL, &errors);
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err_info why = {0};
        struct reg_checked r = {0};
        print_message("%s\n", rows[i].text);
        assert_int_equal(limits_read(o, rows[i].text, strlen(rows[i].text), &r, &why), rows[i].err);
        assert_string_equal(why.where, rows[i].where);
        reg_checked_fini(&r);
    }
    options_free(o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_limit_has_its_default_and_its_option),
        cmocka_unit_test(a_record_has_a_million_bytes_at_most),
        cmocka_unit_test(what_is_no_json_is_no_record_either),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Emitting: TTLs by type and component, mapped addresses, shared names, texts and names that cannot be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "names_kit.h"

static const uint8_t name[] = "\1n\4test";
static const struct addresses one_v4 = {{{.family = AF_INET, .bytes = {10, 0, 0, 1}}}, 1};

static void the_ttl_of_a_type_goes_before_the_records_own(void **state)
{
    (void)state;
    struct kit_emit k;
    struct emit *e = kit_emit_init(&k);
    k.options.type_ttls[DNS_TTL_OF_DNS_A] = (struct map_type_ttl){true, 0};
    k.options.type_ttls[DNS_TTL_OF_DNS_SRV] = (struct map_type_ttl){true, 7};
    emit_addresses(e, name, &one_v4);
    emit_rr(e, name, DNS_SRV, (const uint8_t *)"\0\1\0\1\0\2\1t", 9);
    emit_rr(e, name, DNS_PTR, name, sizeof name);
    kit_expect(&k.lines, "n.test. 0 A 10.0.0.1\nn.test. 30 PTR n.test.\nn.test. 7 SRV 1 1 2 t.\n");
    e->has_own_ttl = true; /* a component's goes before both */
    e->ttl_s = 5;
    emit_addresses(e, name, &one_v4);
    kit_expect(&k.lines, "n.test. 5 A 10.0.0.1\n");
}

static void an_a_has_a_mapped_aaaa_beside_it(void **state)
{
    (void)state;
    struct kit_emit k;
    struct emit *e = kit_emit_init(&k);
    struct addresses both = {
        {{.family = AF_INET, .bytes = {10, 0, 0, 1}}, {.family = AF_INET6, .bytes = {0xfd}}}, 2};
    k.options.has_mapped_aaaa = true;
    k.options.type_ttls[DNS_TTL_OF_DNS_AAAA] = (struct map_type_ttl){true, 9};
    emit_addresses(e, name, &both);
    kit_expect(&k.lines, "n.test. 30 A 10.0.0.1\nn.test. 9 AAAA ::ffff:10.0.0.1\nn.test. 9 AAAA fd00::\n");
}

static void shared_names_say_who_is_ready(void **state)
{
    (void)state;
    struct kit_emit k;
    struct emit *e = kit_emit_init(&k);
    emit_shared_addresses(e, name, &one_v4, false);
    emit_shared_rr(e, name, DNS_SRV, (const uint8_t *)"\0\1\0\1\0\2\1t", 9, true);
    kit_expect(&k.lines, "ready n.test. 30 SRV 1 1 2 t.\nunready n.test. 30 A 10.0.0.1\n");
    k.sink.shared = NULL; /* a sink that takes all records alike */
    emit_shared_addresses(e, name, &one_v4, false);
    kit_expect(&k.lines, "n.test. 30 A 10.0.0.1\n");
}

static void texts_that_do_not_fit_are_left_out(void **state)
{
    (void)state;
    struct kit_emit k;
    struct emit *e = kit_emit_init(&k);
    char long_text[257];
    memset(long_text, 'x', 256);
    long_text[256] = 0;
    emit_txt(e, name, "api=a", long_text);
    emit_txt(e, name, NULL, NULL);
    kit_expect(&k.lines, "n.test. 30 TXT \"api=a\"\n");
    assert_int_equal(e->n_left_out, 1);
    emit_txt(e, name, long_text, NULL);
    assert_int_equal(e->n_left_out, 2);
    long_text[255] = 0;
    emit_txt(e, name, long_text, NULL);
    assert_int_equal(e->n_left_out, 2);
    assert_int_equal(k.lines.n, 1);
    free(k.lines.items[0]);
}

static void names_of_utf_8(void **state)
{
    (void)state;
    struct kit_emit k;
    struct emit *e = kit_emit_init(&k);
    uint8_t out[NAME_MAX_LEN];
    char text[NAME_TEXT_MAX];
    static const char *const bad[] = {"", "\xe2\x82\xac", "a..b", "\xff"};
    assert_int_equal(emit_name(e, "caf\xc3\xa9", k.domain, out), 15);
    assert_string_equal(name_to_text(out, text), "caf\\233.dev.test.");
    assert_int_equal(e->n_left_out, 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (emit_name(e, bad[i], k.domain, out) >= 0)
            fail_msg("\"%s\" makes no name", bad[i]);
    assert_int_equal(e->n_left_out, sizeof bad / sizeof *bad);
}

static void reasons_go_to_who_asks(void **state)
{
    (void)state;
    struct kit_emit k;
    struct emit *e = kit_emit_init(&k);
    emit_none(e, name, 0, "no address");
    kit_expect(&k.lines, "none n.test. no address\n");
    k.sink.none = NULL;
    emit_none(e, name, 0, "no address");
    kit_expect(&k.lines, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_ttl_of_a_type_goes_before_the_records_own),
        cmocka_unit_test(an_a_has_a_mapped_aaaa_beside_it),
        cmocka_unit_test(shared_names_say_who_is_ready),
        cmocka_unit_test(texts_that_do_not_fit_are_left_out),
        cmocka_unit_test(names_of_utf_8),
        cmocka_unit_test(reasons_go_to_who_asks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Which reverse zones a subnet gives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/buf.h"
#include "feed/reverse.h"
#include "wire/name.h"

static void add(void *arg, const uint8_t *apex)
{
    char text[NAME_TEXT_MAX];
    buf_addf(arg, "%s ", name_to_text(apex, text));
}

static void expect(const char *subnet, const char *mask, const char *want)
{
    struct err_info why;
    struct buf got = BUF_EMPTY;
    struct reverse_sink sink = {add, &got};
    assert_true(reverse_zones(subnet, mask, &sink, &why) > 0);
    assert_string_equal(buf_cstr(&got), want);
    buf_fini(&got);
}

static void outcomes(void **state)
{
    (void)state;
    expect("172.17.0", NULL, "0.17.172.in-addr.arpa. ");
    expect("172.17.0.0", "255.255.255.0", "0.17.172.in-addr.arpa. ");
    expect("172.17.0.64", "255.255.255.192", "0.17.172.in-addr.arpa. ");
    expect("172.17.0.0", "255.255.254.0", "17.172.in-addr.arpa. ");
    expect("172.26.32.0", "255.255.224.0", "26.172.in-addr.arpa. ");
    expect("127.77.0.0/16", NULL, "77.127.in-addr.arpa. ");
    expect("10.0.0.0", "255.0.0.0", "10.in-addr.arpa. ");
    expect("172.18.3.4/14", NULL,
           "16.172.in-addr.arpa. 17.172.in-addr.arpa. 18.172.in-addr.arpa. 19.172.in-addr.arpa. ");
    expect("10.0.0.0/7", NULL, "10.in-addr.arpa. 11.in-addr.arpa. ");
    expect("fd00:1::/32", NULL, "1.0.0.0.0.0.d.f.ip6.arpa. ");
}

static void every_16_of_a_12(void **state)
{
    (void)state;
    struct buf got = BUF_EMPTY;
    struct reverse_sink sink = {add, &got};
    assert_int_equal(reverse_zones("172.16.0.0", "255.240.0.0", &sink, NULL), 16);
    assert_non_null(strstr(got.bytes, "16.172.in-addr.arpa. "));
    assert_non_null(strstr(got.bytes, "31.172.in-addr.arpa. "));
    assert_null(strstr(got.bytes, "32.172.in-addr.arpa. "));
    buf_fini(&got);
}

static void malformed(void **state)
{
    (void)state;
    static const char *const bad[][2] = {{"172.17", NULL},
                                         {"172.17.0.0", "255.0.255.0"},
                                         {"172.17.0.0", "0.0.0.0"},
                                         {"172.17.0.0", "x"},
                                         {"172.17.0.0/33", NULL},
                                         {"172.17.0.0/16", "255.255.0.0"},
                                         {"fd00::", NULL},
                                         {"fd00::/33", NULL},
                                         {"fd00::/32", "255.0.0.0"},
                                         {"172.17.0.0.0/16", NULL},
                                         {"", NULL}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct err_info why = {0};
        assert_int_equal(reverse_check(bad[i][0], bad[i][1], &why), ERR_CONFIG);
        assert_true(*why.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outcomes),
        cmocka_unit_test(every_16_of_a_12),
        cmocka_unit_test(malformed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

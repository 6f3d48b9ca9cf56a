/* Which reverse zones a subnet gives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/buf.h"
#include "base/addr.h"
#include "names/reverse.h"
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

/* Hadoop's TestReverseZoneUtils. */
static void slices(void **state)
{
    (void)state;
    static const struct {
        int64_t range, index;
        const char *want;
    } rows[] = {
        {256, 0, "172.17.4.0"},   {256, 5, "172.17.9.0"}, {128, 1, "172.17.4.128"}, {256, 252, "172.18.0.0"},
        {1024, 2, "172.17.12.0"}, {0, 1, "172.17.4.0"},   {1, 0, "172.17.4.0"},     {1, 1, "172.17.4.1"},
        {256, -1, NULL},          {-1, 0, NULL},
    };
    struct addr a;
    char text[ADDR_TEXT_MAX];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int err = reverse_slice("172.17.4.0", rows[i].range, rows[i].index, &a);
        assert_int_equal(err, rows[i].want ? 0 : ERR_INVALID);
        if (rows[i].want)
            assert_string_equal(addr_text(&a, text), rows[i].want);
    }
    assert_int_equal(reverse_slice("213124.21231.14123.13", 256, 0, &a), ERR_INVALID);
    assert_int_equal(reverse_slice("fd00::", 256, 0, &a), ERR_INVALID);
}

static void count_zone(void *arg, const uint8_t *apex)
{
    (void)apex;
    ++*(int *)arg;
}

static void split_subnets(void **state)
{
    (void)state;
    static const struct {
        const char *subnet, *mask;
        int64_t range;
        int want;
    } rows[] = {
        {"172.26.32.0", "255.255.224.0", 256, 32}, {"172.26.32.0", "255.255.224.0", 128, 64},
        {"172.26.32.0", "255.255.224.0", 512, 16}, {"172.26.32.0/30", NULL, 0, 4},
        {"172.26.32.0", NULL, 256, ERR_CONFIG},    {"fd00::/64", NULL, 256, ERR_CONFIG},
        {"10.0.0.0/8", NULL, 1, ERR_CONFIG},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct err_info why;
        int n_zones = 0;
        struct reverse_sink sink = {count_zone, &n_zones};
        assert_int_equal(reverse_split(rows[i].subnet, rows[i].mask, rows[i].range, &sink, &why),
                         rows[i].want);
        assert_int_equal(n_zones, rows[i].want > 0 ? rows[i].want : 0);
    }
}

static void name_of_an_address(void **state)
{
    (void)state;
    static const struct {
        const char *address, *name;
    } cases[] = {
        {"172.17.0.19", "19.0.17.172.in-addr.arpa."},
        {"255.255.255.255", "255.255.255.255.in-addr.arpa."},
        {"fd00::13", "3.1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.d.f.ip6.arpa."},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct addr a;
        uint8_t name[NAME_MAX_LEN];
        char text[NAME_TEXT_MAX];
        assert_int_equal(addr_read(cases[i].address, &a), 0);
        int len = reverse_name(&a, name);
        assert_int_equal(len, name_len(name, sizeof name));
        assert_string_equal(name_to_text(name, text), cases[i].name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outcomes), cmocka_unit_test(every_16_of_a_12), cmocka_unit_test(malformed),
        cmocka_unit_test(slices),   cmocka_unit_test(split_subnets),    cmocka_unit_test(name_of_an_address),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

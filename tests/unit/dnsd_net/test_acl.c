/* Who may ask: lists as they are written, and addresses looked up in them. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/network.h"
#include "bobbin/error.h"
#include "net/acl.h"

static struct acl *read_lists(const char *networks, const char *zones)
{
    struct acl *acl = NULL;
    struct err_info why = {0};
    if (acl_read(networks, zones, &acl, &why))
        fail_msg("%s %s: %s", networks, zones, why.text);
    return acl;
}

static bool allows(const struct acl *acl, const char *client, const char *name)
{
    struct addr a;
    struct sockaddr_storage sa;
    struct query q = {.has_question = name != NULL};
    assert_int_equal(addr_read(client, &a), 0);
    addr_to_sockaddr(&a, 53, &sa);
    if (name)
        assert_true(name_from_text(name, strlen(name), q.name.lower) > 0);
    return acl_allows(acl, &sa, &q);
}

static void without_lists_there_is_nothing_to_check(void **state)
{
    (void)state;
    assert_null(read_lists(NULL, NULL));
    assert_null(read_lists("", " ; "));
}

static void addresses_are_in_networks_or_not(void **state)
{
    (void)state;
    static const struct {
        const char *client;
        bool wanted;
    } cases[] = {
        {"10.0.0.0", true},
        {"10.255.255.255", true},
        {"11.0.0.0", false},
        {"9.255.255.255", false},
        {"192.0.2.7", true},
        {"192.0.2.8", false},
        {"192.0.2.6", false},
        {"::ffff:10.1.2.3", true},
        {"::ffff:1.2.3.4", false},
        {"fd00::", true},
        {"fdff:ffff::1", true},
        {"fe00::", false},
        {"::1", true},
        {"::2", false},
        {"2001:db8::8", true},
        {"2001:db8::10", false},
        {"0.0.0.0", false},
        {"255.255.255.255", false},
    };
    struct acl *acl = read_lists("10.0.0.0/8, 10.1.0.0/16, 192.0.2.7, fd00::/8, ::1, 2001:db8::8/125", NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (allows(acl, cases[i].client, NULL) != cases[i].wanted)
            fail_msg("%s", cases[i].client);
    acl_free(acl);
    acl = read_lists("::/0", NULL);
    assert_true(allows(acl, "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", NULL));
    assert_false(allows(acl, "10.0.0.1", NULL));
    acl_free(acl);
    acl = read_lists("0.0.0.0/0", NULL);
    assert_true(allows(acl, "255.255.255.255", NULL) && allows(acl, "0.0.0.0", NULL));
    assert_false(allows(acl, "::", NULL));
    acl_free(acl);
}

/** The search and a look at each network in turn agree. */
static void a_search_finds_what_a_scan_finds(void **state)
{
    (void)state;
    srandom(1);
    for (int round = 0; round < 200; round++) {
        buf_auto struct buf list = BUF_EMPTY;
        struct networks networks;
        for (long n = random() % NETWORKS_MAX; n >= 0; n--)
            buf_addf(&list, "%ld.%ld.0.0/%ld,", random() % 4, random() % 4, random() % 33);
        assert_int_equal(networks_read(buf_cstr(&list), &networks, NULL), 0);
        struct acl *acl = read_lists(buf_cstr(&list), NULL);
        for (int i = 0; i < 200; i++) {
            char text[32];
            struct addr a;
            snprintf(text, sizeof text, "%ld.%ld.%ld.0", random() % 5, random() % 5, random() % 2);
            addr_read(text, &a);
            if (allows(acl, text, NULL) != networks_hold(&networks, &a))
                fail_msg("%s in %s", text, buf_cstr(&list));
        }
        acl_free(acl);
    }
}

static void the_list_of_the_longest_domain_counts(void **state)
{
    (void)state;
    struct acl *acl = read_lists("10.0.0.0/8", "dev.test = 10.1.0.0/16 ; Shop.DEV.test.=192.0.2.1,fd00::/8");
    assert_true(allows(acl, "10.2.0.1", "www.example.com") && allows(acl, "10.2.0.1", NULL));
    assert_true(allows(acl, "10.1.0.1", "a.dev.test"));
    assert_false(allows(acl, "10.2.0.1", "a.dev.test") || allows(acl, "10.2.0.1", "dev.test"));
    assert_true(allows(acl, "10.2.0.1", "xdev.test"));
    assert_true(allows(acl, "192.0.2.1", "a.shop.dev.test") && allows(acl, "fd00::1", "shop.dev.test"));
    assert_false(allows(acl, "10.1.0.1", "shop.dev.test"));
    acl_free(acl);
    acl = read_lists(NULL, "dev.test=10.0.0.1");
    assert_true(allows(acl, "203.0.113.1", "example.com") && allows(acl, "203.0.113.1", NULL));
    assert_false(allows(acl, "203.0.113.1", "dev.test"));
    acl_free(acl);
}

static void what_cannot_be_read_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *networks, *zones, *text;
    } cases[] = {
        {"10.0.0.0/33", NULL, "10.0.0.0/33"},
        {"10.0.0.0/8,host", NULL, "host"},
        {",", NULL, "no network"},
        {NULL, "dev.test", "ZONE=NETWORK"},
        {NULL, "=10.0.0.1", "ZONE=NETWORK"},
        {NULL, "dev..test=10.0.0.1", "ZONE=NETWORK"},
        {NULL, "dev.test=", "no network"},
        {NULL, "dev.test=10.0.0", "10.0.0"},
        {NULL, "a=10.0.0.1; A.=::1", "already"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct acl *acl = NULL;
        struct err_info why = {0};
        if (acl_read(cases[i].networks, cases[i].zones, &acl, &why) != ERR_INVALID || acl)
            fail_msg("case %zu was taken", i);
        if (!strstr(why.text, cases[i].text))
            fail_msg("case %zu: %s", i, why.text);
    }
}

static void lists_take_the_place_of_others(void **state)
{
    (void)state;
    struct acls *s = acls_new(NULL);
    assert_null(acls_current(s));
    for (int i = 0; i < 3; i++) {
        struct acl *acl = read_lists("10.0.0.1", NULL);
        acls_set(s, acl);
        assert_ptr_equal(acls_current(s), acl);
    }
    acls_set(s, NULL);
    assert_null(acls_current(s));
    acls_free(s);
    acls_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_lists_there_is_nothing_to_check),
        cmocka_unit_test(addresses_are_in_networks_or_not),
        cmocka_unit_test(a_search_finds_what_a_scan_finds),
        cmocka_unit_test(the_list_of_the_longest_domain_counts),
        cmocka_unit_test(what_cannot_be_read_is_named),
        cmocka_unit_test(lists_take_the_place_of_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

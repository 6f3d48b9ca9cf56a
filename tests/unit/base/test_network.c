#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/network.h"
#include "bobbin/error.h"

static bool holds(const char *list, const char *address)
{
    struct networks n;
    struct addr a;
    assert_int_equal(networks_read(list, &n, NULL), 0);
    assert_int_equal(addr_read(address, &a), 0);
    return networks_hold(&n, &a);
}

static void addresses_in_networks(void **state)
{
    (void)state;
    static const struct {
        const char *list, *address;
        bool wanted;
    } cases[] = {
        {"127.0.0.0/8,::1", "127.9.9.9", true},
        {"127.0.0.0/8,::1", "128.0.0.1", false},
        {"127.0.0.0/8,::1", "::1", true},
        {"127.0.0.0/8,::1", "::2", false},
        {"10.1.2.0/23", "10.1.3.255", true},
        {"10.1.2.0/23", "10.1.4.0", false},
        {"10.1.2.3", "10.1.2.3", true},
        {"10.1.2.3", "10.1.2.2", false},
        {"0.0.0.0/0", "1.2.3.4", true},
        {"0.0.0.0/0", "fd00::1", false},
        {"fd00:0:0:ff80::/57", "fd00:0:0:ffff::", true},
        {"fd00:0:0:ff80::/57", "fd00:0:0:ff7f::", false},
        {"", "127.0.0.1", false},
        {" , 10.0.0.1 ,", "10.0.0.1", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (holds(cases[i].list, cases[i].address) != cases[i].wanted)
            fail_msg("%s in %s", cases[i].address, cases[i].list);
    struct networks none;
    assert_int_equal(networks_read(NULL, &none, NULL), 0);
    assert_int_equal(none.n_items, 0);
}

static void what_is_no_network_is_named(void **state)
{
    (void)state;
    static const char *const bad[] = {"10.0.0.0/33",
                                      "fd00::/129",
                                      "10.0.0.0/",
                                      "10.0.0.0/-1",
                                      "host",
                                      "10.0.0/8",
                                      "0123456789012345678901234567890123456789012345678901234567890"};
    struct networks n;
    struct err_info why;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(networks_read(bad[i], &n, &why), ERR_INVALID);
        assert_string_equal(why.where, bad[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_in_networks),
        cmocka_unit_test(what_is_no_network_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

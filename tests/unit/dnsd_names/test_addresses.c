/* What may be resolved, and the addresses a text stands for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "names/addresses.h"

static void host_names(void **state)
{
    (void)state;
    static const char *const good[] = {"host1", "host1.", "node7.example.com", "10.0.0.1a", "a-b"};
    static const char *const bad[] = {"", ".", "10.0.0.1", "172.17.9", "300.1.1.1", "a b", "a_b", "a..", "7"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (!addresses_is_host_name(good[i]))
            fail_msg("\"%s\" is a host name", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (addresses_is_host_name(bad[i]))
            fail_msg("\"%s\" is no host name", bad[i]);
}

/* Two addresses of the host "two", none of others. */
static size_t resolve(void *arg, const char *host, struct addr *out)
{
    ++*(int *)arg;
    if (strcmp(host, "two") != 0)
        return 0;
    assert_int_equal(addr_read("10.0.0.1", &out[0]), 0);
    assert_int_equal(addr_read("fd00::1", &out[1]), 0);
    return 2;
}

static void only_host_names_are_resolved(void **state)
{
    (void)state;
    int n_asked = 0;
    struct map_options o = {.addresses = resolve, .addresses_arg = &n_asked};
    struct addresses a;
    assert_true(addresses_read(&o, "10.1.2.3", &a));
    assert_int_equal(a.n_items, 1);
    assert_false(addresses_read(&o, "172.17.9", &a));
    assert_int_equal(a.n_items, 0);
    assert_int_equal(n_asked, 0);
    assert_true(addresses_read(&o, "two", &a));
    assert_int_equal(a.n_items, 2);
    assert_true(addresses_read(&o, "gone", &a));
    assert_int_equal(a.n_items, 0);
    assert_int_equal(n_asked, 2);
    assert_true(addresses_read(&(struct map_options){.ttl_s = 1}, "two", &a)); /* nobody resolves */
    assert_int_equal(a.n_items, 0);
}

static void one_address_of_several(void **state)
{
    (void)state;
    int n_asked = 0;
    struct map_options o = {.addresses = resolve, .addresses_arg = &n_asked, .has_one_address = true};
    struct addresses a;
    struct addr first, second;
    assert_true(addresses_read(&o, "two", &a));
    assert_int_equal(addr_read("10.0.0.1", &first), 0);
    assert_int_equal(addr_read("fd00::1", &second), 0);
    assert_true(addresses_contain(&a, &first));
    assert_false(addresses_contain(&a, &second));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(host_names),
        cmocka_unit_test(only_host_names_are_resolved),
        cmocka_unit_test(one_address_of_several),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

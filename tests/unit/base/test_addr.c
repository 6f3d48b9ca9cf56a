#include "base/addr.h"
#include "base/mem.h"
#include "base/obj.h"
#include "bobbin/error.h"

#include <netinet/in.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void literals(void **state)
{
    (void)state;
    static const struct {
        const char *in, *out; /* NULL: refused */
        bool is_loopback;
    } rows[] = {
        {"127.0.0.1", "127.0.0.1", true},
        {"127.255.1.2", "127.255.1.2", true},
        {"10.0.0.1", "10.0.0.1", false},
        {"0.0.0.0", "0.0.0.0", false},
        {"::1", "::1", true},
        {"::", "::", false},
        {"2001:DB8:0:0:0::1", "2001:db8::1", false},
        {"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", false},
        {"", NULL, false},
        {"1.2.3", NULL, false},
        {"1.2.3.256", NULL, false},
        {"1.2.3.4 ", NULL, false},
        {"[::1]", NULL, false},
        {"fe80::1%lo", NULL, false},
        {"localhost", NULL, false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct addr a = {-7, {0}};
        char text[ADDR_TEXT_MAX];
        print_message("\"%s\"\n", rows[i].in);
        assert_int_equal(addr_read(rows[i].in, &a), rows[i].out ? 0 : ERR_PARSE);
        if (!rows[i].out) {
            assert_int_equal(a.family, -7);
            continue;
        }
        assert_string_equal(addr_text(&a, text), rows[i].out);
        assert_int_equal(addr_is_loopback(&a), rows[i].is_loopback);
    }
}

static void equality_compares_family_and_bytes(void **state)
{
    (void)state;
    struct addr a, b, v6;
    assert_int_equal(addr_read("1.2.3.4", &a), 0);
    assert_int_equal(addr_read("1.2.3.4", &b), 0);
    assert_int_equal(addr_read("102:304::", &v6), 0);
    assert_true(addr_equal(&a, &b));
    assert_false(addr_equal(&a, &v6));
    b.bytes[3] = 5;
    assert_false(addr_equal(&a, &b));
}

static void host_and_port(void **state)
{
    (void)state;
    static const struct {
        const char *in, *host; /* NULL: refused */
        int port;
    } rows[] = {
        {"host:80", "host", 80}, {"host", "host", 99}, {"1.2.3.4:0", "1.2.3.4", 0},
        {"[::1]:53", "::1", 53}, {"[::1]", "::1", 99}, {"::1", "::1", 99},
        {"a:65535", "a", 65535}, {"a:65536", NULL, 0}, {"a:", NULL, 0},
        {":80", NULL, 0},        {"", NULL, 0},        {"[]:80", NULL, 0},
        {"[::1", NULL, 0},       {"[::1]80", NULL, 0}, {"a:b", NULL, 0},
        {"a:-0", NULL, 0},       {"a:+1", NULL, 0},    {"a: 1", NULL, 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        mem_auto char *host = NULL;
        uint16_t port = 7;
        print_message("\"%s\"\n", rows[i].in);
        assert_int_equal(addr_split_host_port(rows[i].in, 99, &host, &port), rows[i].host ? 0 : ERR_PARSE);
        if (rows[i].host) {
            assert_string_equal(host, rows[i].host);
            assert_int_equal(port, rows[i].port);
        } else {
            assert_null(host);
            assert_int_equal(port, 7);
        }
    }
}

static void socket_addresses_there_and_back(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        socklen_t len;
    } rows[] = {{"192.0.2.7", sizeof(struct sockaddr_in)}, {"2001:db8::7", sizeof(struct sockaddr_in6)}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct addr a, back;
        struct sockaddr_storage s;
        uint16_t port = 0;
        assert_int_equal(addr_read(rows[i].text, &a), 0);
        assert_int_equal(addr_to_sockaddr(&a, 5335, &s), rows[i].len);
        assert_int_equal(addr_from_sockaddr((struct sockaddr *)&s, &back, &port), 0);
        assert_true(addr_equal(&a, &back));
        assert_int_equal(port, 5335);
    }
    struct sockaddr unix_address = {.sa_family = AF_UNIX};
    struct addr a;
    uint16_t port;
    assert_int_equal(addr_from_sockaddr(&unix_address, &a, &port), ERR_PARSE);
}

static void hosts_are_what_a_resolver_can_be_asked_for(void **state)
{
    (void)state;
    char name[255];
    memset(name, 'a', sizeof name);
    name[254] = 0;
    assert_true(addr_is_host("node-1.example.com"));
    assert_true(addr_is_host("2001:db8::1"));
    assert_true(addr_is_host(name + 1));
    assert_false(addr_is_host(name));
    assert_false(addr_is_host(""));
    assert_false(addr_is_host("a b"));
    assert_false(addr_is_host("n\xc3\xb6"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(literals),
        cmocka_unit_test(equality_compares_family_and_bytes),
        cmocka_unit_test(host_and_port),
        cmocka_unit_test(hosts_are_what_a_resolver_can_be_asked_for),
        cmocka_unit_test(socket_addresses_there_and_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

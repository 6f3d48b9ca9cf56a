/* SRV records: where they point to, and the names of the ports of a container. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "names/port.h"
#include "names_kit.h"

struct bed {
    struct kit_emit k;
    struct addresses addresses;
    uint8_t service[NAME_MAX_LEN], self[NAME_MAX_LEN];
    struct srv_place place;
};

static void bed_init(struct bed *b)
{
    struct emit *e = kit_emit_init(&b->k);
    assert_int_equal(addr_read("10.0.0.1", &b->addresses.items[0]), 0);
    b->addresses.n_items = 1;
    assert_true(emit_name(e, "shop", b->k.domain, b->service) > 0);
    assert_true(emit_name(e, "web-0", b->service, b->self) > 0);
    b->place = (struct srv_place){b->service, b->self, &b->addresses};
}

static void targets_have_an_address(void **state)
{
    (void)state;
    static const struct {
        const char *host, *target, *lines;
    } cases[] = {
        {"", "web-0.shop.dev.test.", ""},
        {"10.0.0.1", "web-0.shop.dev.test.", ""},
        {"10.0.0.2", "ip-10-0-0-2.shop.dev.test.", "ip-10-0-0-2.shop.dev.test. 30 A 10.0.0.2\n"},
        {"fd00::1", "ip-fd000000000000000000000000000001.shop.dev.test.",
         "ip-fd000000000000000000000000000001.shop.dev.test. 30 AAAA fd00::1\n"},
        {"node7.example", "node7.example.", ""},
    };
    struct bed b;
    bed_init(&b);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t srv[SRV_MAX];
        char text[NAME_TEXT_MAX];
        struct endpoint endpoint = {.host = cases[i].host, .port = "80"};
        size_t len = srv_make(&b.k.e, &b.place, &endpoint, srv);
        assert_int_equal(rdata_check(DNS_SRV, srv, len), 0);
        assert_int_equal(wire_get16(srv + 4), 80);
        assert_string_equal(name_to_text(srv + 6, text), cases[i].target);
        kit_expect(&b.k.lines, cases[i].lines);
    }
    assert_int_equal(b.k.e.n_left_out, 0);
}

static void without_port_or_host_there_is_no_srv(void **state)
{
    (void)state;
    struct bed b;
    uint8_t srv[SRV_MAX];
    bed_init(&b);
    assert_int_equal(srv_make(&b.k.e, &b.place, &(struct endpoint){.host = "10.0.0.9", .port = ""}, srv), 0);
    assert_int_equal(b.k.e.n_left_out, 0);
    assert_int_equal(srv_make(&b.k.e, &b.place, &(struct endpoint){.host = "a b", .port = "80"}, srv), 0);
    assert_int_equal(b.k.e.n_left_out, 1);
    kit_expect(&b.k.lines, "");
}

/* A block of ports, four fields each, as NUL-terminated text with a NUL at the end of the literal. */
#define PORTS(text)                                                                                          \
    (struct block)                                                                                           \
    {                                                                                                        \
        text, &(text)[sizeof(text)]                                                                          \
    }

static void ports_have_shared_names(void **state)
{
    (void)state;
    struct bed b;
    bed_init(&b);
    ports_emit(&b.k.e, &b.place, "web", false, PORTS("_tcp\0?x-y\0\0009\0_udp\0stats\0\0008125"));
    kit_expect(&b.k.lines, "unready _stats._udp.web.shop.dev.test. 30 SRV 1 1 8125 web-0.shop.dev.test.\n"
                           "unready _web._tcp.shop.dev.test. 30 SRV 1 1 9 web-0.shop.dev.test.\n");
}

static void no_port_is_said(void **state)
{
    (void)state;
    struct bed b;
    bed_init(&b);
    ports_emit(&b.k.e, &b.place, "web", true, (struct block){NULL, NULL});
    kit_expect(&b.k.lines, "none _web._tcp.shop.dev.test. the container record has no external endpoint with "
                           "a port of 0 to 65535\n");
    ports_emit(&b.k.e, &b.place, "\xe2\x82\xac", true, (struct block){NULL, NULL});
    kit_expect(&b.k.lines, "");
    assert_int_equal(b.k.e.n_left_out, 0); /* nobody asked for that name */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(targets_have_an_address),
        cmocka_unit_test(without_port_or_host_there_is_no_srv),
        cmocka_unit_test(ports_have_shared_names),
        cmocka_unit_test(no_port_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

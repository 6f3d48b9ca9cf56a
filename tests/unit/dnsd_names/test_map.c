/* Records to names: each case is a path, a record, and the complete list of DNS records it must give. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "bobbin/record.h"
#include "names/map.h"
#include "names_kit.h"

/* Options of the cases; a test that changes them sets them back. */
static struct map_options base_options = {.ttl_s = 30};

/* Produce and compare with `want`, lines separated by \n, in any order. @return names left out. */
static unsigned expect(const char *path, const char *json, const char *want)
{
    struct err_info why = {0};
    struct reg_record *record = NULL;
    if (reg_record_read(json, strlen(json), REG_STRICT, &record, &why))
        fail_msg("%s: %s", why.where, why.text);
    uint8_t domain[NAME_MAX_LEN];
    assert_true(name_from_text("dev.test.", 9, domain) > 0);
    struct map_options options = base_options;
    options.domain = domain;
    struct kit_lines got = {.n = 0};
    struct map_sink sink = {.rr = kit_on_rr, .arg = &got};
    size_t len = 0;
    char *packed = map_pack(record, &len);
    unsigned left_out = packed ? map_produce(&options, path, packed, len, &sink) : 0;
    reg_record_free(record);
    free(packed);
    kit_expect(&got, want);
    return left_out;
}

#define CONTAINER_PATH                                                                                       \
    "/users/root/services/org-apache-slider/test1/components/ctr-e50-1451931954322-0016-01-000002"
#define CONTAINER(ip, more)                                                                                  \
    "{\"type\":\"JSONServiceRecord\",\"description\":\"HTTPD-1\",\"external\":[],\"internal\":[],"           \
    "\"yarn:id\":\"container_e50_1451931954322_0016_01_000002\",\"yarn:persistence\":\"container\","         \
    "\"yarn:ip\":\"" ip "\",\"yarn:component\":\"Httpd\"" more "}"

static void container_has_three_names_and_a_reverse_one(void **state)
{
    (void)state;
    unsigned left_out = expect(CONTAINER_PATH, CONTAINER("172.17.0.19", ",\"yarn:hostname\":\"host1\""),
                               "19.0.17.172.in-addr.arpa. 30 PTR httpd-1.test1.root.dev.test.\n"
                               "ctr-e50-1451931954322-0016-01-000002.dev.test. 30 A 172.17.0.19\n"
                               "httpd-1.test1.root.dev.test. 30 A 172.17.0.19\n"
                               "httpd-1.test1.root.dev.test. 30 TXT "
                               "\"id=container_e50_1451931954322_0016_01_000002\"\n"
                               "httpd.test1.root.dev.test. 30 A 172.17.0.19\n");
    assert_int_equal(left_out, 0);
}

static void without_hostname_there_is_no_reverse_name(void **state)
{
    (void)state;
    expect(CONTAINER_PATH, CONTAINER("172.17.0.19, 10.0.0.1", ""),
           "ctr-e50-1451931954322-0016-01-000002.dev.test. 30 A 172.17.0.19\n"
           "httpd-1.test1.root.dev.test. 30 A 172.17.0.19\n"
           "httpd-1.test1.root.dev.test. 30 TXT \"id=container_e50_1451931954322_0016_01_000002\"\n"
           "httpd.test1.root.dev.test. 30 A 172.17.0.19\n");
}

#define WITH_PORTS(external)                                                                                 \
    "{\"type\":\"JSONServiceRecord\",\"description\":\"web-1\",\"internal\":[],\"external\":[" external "]," \
    "\"yarn:persistence\":\"container\",\"yarn:ip\":\"172.17.0.19\",\"yarn:component\":\"Web\",\"yarn:id\":" \
    "\"c\"}"
#define PORT(api, protocol, address)                                                                         \
    "{\"api\":\"" api "\",\"addressType\":\"host/port\",\"protocolType\":\"" protocol                        \
    "\",\"addresses\":[" address "]}"
#define WEB_FIRST "c7.dev.test. 30 A 172.17.0.19\n"
#define WEB_REST                                                                                             \
    "web-1.shop.bob.dev.test. 30 A 172.17.0.19\n"                                                            \
    "web-1.shop.bob.dev.test. 30 TXT \"id=c\"\n"                                                             \
    "web.shop.bob.dev.test. 30 A 172.17.0.19\n"
#define WEB_NAMES WEB_FIRST WEB_REST

static void ports_of_a_container(void **state)
{
    (void)state;
    const char *path = "/users/bob/services/other/shop/components/c7";
    const char *two =
        WITH_PORTS(PORT("http://", "webui", "{\"host\":\"172.17.0.19\",\"port\":\"8080\"}") "," PORT(
            "classpath:org.apache.hadoop.yarn.service.stats", "UDP", "{\"port\":\"8125\"}"));
    expect(path, two, WEB_NAMES); /* compat: as RegistryDNS, which reads no endpoints of containers */
    base_options.has_port_names = true;
    expect(path, two,
           "_http._tcp.web.shop.bob.dev.test. 30 SRV 1 1 8080 web-1.shop.bob.dev.test.\n"
           "_stats._udp.web.shop.bob.dev.test. 30 SRV 1 1 8125 web-1.shop.bob.dev.test.\n"
           "_web._tcp.shop.bob.dev.test. 30 SRV 1 1 8080 web-1.shop.bob.dev.test.\n" WEB_NAMES);
    /* Without a port there is no SRV; the first endpoint that has one is the component's; an odd api has no name of its own. */
    expect(
        path,
        WITH_PORTS(PORT("http://", "webui", "{\"host\":\"172.17.0.19\"}") "," PORT(
            "https://x", "webui", "{\"host\":\"10.0.0.9\",\"port\":\"9\"}") "," PORT("http://", "webui", "")),
        "_web._tcp.shop.bob.dev.test. 30 SRV 1 1 9 ip-10-0-0-9.shop.bob.dev.test.\n" WEB_FIRST
        "ip-10-0-0-9.shop.bob.dev.test. 30 A 10.0.0.9\n" WEB_REST);
    base_options.has_port_names = false;
}

static void ipv6_container(void **state)
{
    (void)state;
    expect(CONTAINER_PATH, CONTAINER("fd00::13", ",\"yarn:hostname\":\"h\""),
           "3.1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.d.f.ip6.arpa. 30 PTR "
           "httpd-1.test1.root.dev.test.\n"
           "ctr-e50-1451931954322-0016-01-000002.dev.test. 30 AAAA fd00::13\n"
           "httpd-1.test1.root.dev.test. 30 AAAA fd00::13\n"
           "httpd-1.test1.root.dev.test. 30 TXT \"id=container_e50_1451931954322_0016_01_000002\"\n"
           "httpd.test1.root.dev.test. 30 AAAA fd00::13\n");
}

static void names_that_can_be_formed_are_published(void **state)
{
    (void)state;
    expect("/users/root/services/c/s/components/ctr-1",
           "{\"type\":\"JSONServiceRecord\",\"yarn:persistence\":\"container\",\"yarn:ip\":\"10.0.0.1\"}",
           "ctr-1.dev.test. 30 A 10.0.0.1\n");
    unsigned left_out = expect(
        "/users/root/services/c/s/components/ctr-1",
        "{\"type\":\"JSONServiceRecord\",\"description\":\"caf\xc3\xa9\",\"yarn:persistence\":\"container\","
        "\"yarn:ip\":\"10.0.0.1\",\"yarn:component\":\"\xe2\x82\xac\"}",
        "caf\\233.s.root.dev.test. 30 A 10.0.0.1\n"
        "caf\\233.s.root.dev.test. 30 TXT \"id=null\"\n"
        "ctr-1.dev.test. 30 A 10.0.0.1\n");
    assert_int_equal(left_out, 1);
}

static void addresses_that_are_none_give_no_names(void **state)
{
    (void)state;
    static const char *const bad[] = {"", "172.17.9", "host1", "300.1.1.1", " "};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char json[256];
        snprintf(json, sizeof json,
                 "{\"type\":\"JSONServiceRecord\",\"yarn:persistence\":\"container\",\"yarn:ip\":\"%s\"}",
                 bad[i]);
        expect("/users/root/services/c/s/components/ctr-1", json, "");
    }
}

static void records_without_names(void **state)
{
    (void)state;
    expect("/users/root/services/yarn-service/s",
           "{\"type\":\"JSONServiceRecord\",\"description\":\"YarnServiceMaster\",\"external\":[],"
           "\"internal\":[],"
           "\"yarn:id\":\"application_1_0001\",\"yarn:persistence\":\"application\"}",
           "");
    expect(CONTAINER_PATH,
           "{\"type\":\"JSONServiceRecord\",\"description\":\"a\",\"yarn:ip\":\"10.0.0.1\",\"yarn:"
           "component\":\"b\"}",
           "");
}

#define SLIDER_ENDPOINTS                                                                                     \
    "{\"type\":\"JSONServiceRecord\",\"description\":\"Slider Application Master\",\"external\":["           \
    "{\"api\":\"classpath:org.apache.hadoop.yarn.service.appmaster.ipc\",\"addressType\":\"host/port\","     \
    "\"protocolType\":\"hadoop/IPC\",\"addresses\":[{\"host\":\"192.168.1.5\",\"port\":\"1026\"}]},"         \
    "{\"api\":\"http://\",\"addressType\":\"uri\",\"protocolType\":\"webui\",\"addresses\":"                 \
    "[{\"uri\":\"http://192.168.1.5:1027\"}]},"                                                              \
    "{\"api\":\"classpath:org.apache.hadoop.yarn.service.management\",\"addressType\":\"uri\","              \
    "\"protocolType\":\"REST\",\"addresses\":[{\"uri\":\"http://192.168.1.5:1027/ws/v1/slider/mgmt\"}]}],"   \
    "\"internal\":[{\"api\":\"classpath:org.apache.hadoop.yarn.service.agents.secure\",\"addressType\":"     \
    "\"uri\","                                                                                               \
    "\"protocolType\":\"REST\",\"addresses\":[{\"uri\":\"https://192.168.1.5:47700/ws/v1/slider/"            \
    "agents\"}]}],"                                                                                          \
    "\"yarn:id\":\"application_1451931954322_0016\",\"yarn:persistence\":\"application\"}"

static void application_record(void **state)
{
    (void)state;
    expect("/users/root/services/org-apache-slider/test1", SLIDER_ENDPOINTS,
           "appmaster-ipc-api.test1.root.dev.test. 30 A 192.168.1.5\n"
           "appmaster-ipc-api.test1.root.dev.test. 30 SRV 1 1 1026 test1.root.dev.test.\n"
           "appmaster-ipc-api.test1.root.dev.test. 30 TXT \"api=appmaster-ipc\"\n"
           "http-api.test1.root.dev.test. 30 A 192.168.1.5\n"
           "http-api.test1.root.dev.test. 30 SRV 1 1 1027 test1.root.dev.test.\n"
           "http-api.test1.root.dev.test. 30 TXT \"api=http\" \"path=\"\n"
           "management-api.test1.root.dev.test. 30 A 192.168.1.5\n"
           "management-api.test1.root.dev.test. 30 SRV 1 1 1027 test1.root.dev.test.\n"
           "management-api.test1.root.dev.test. 30 TXT \"api=management\" \"path=/ws/v1/slider/mgmt\"\n"
           "test1.root.dev.test. 30 A 192.168.1.5\n"
           "test1.root.dev.test. 30 SRV 1 1 1026 test1.root.dev.test.\n"
           "test1.root.dev.test. 30 SRV 1 1 1027 test1.root.dev.test.\n"
           "test1.root.dev.test. 30 TXT \"api=appmaster-ipc\"\n"
           "test1.root.dev.test. 30 TXT \"api=http\" \"path=\"\n"
           "test1.root.dev.test. 30 TXT \"api=management\" \"path=/ws/v1/slider/mgmt\"\n");
}

#define ONE(api, type, address)                                                                              \
    "{\"type\":\"JSONServiceRecord\",\"external\":[{\"api\":\"" api "\",\"addressType\":\"" type             \
    "\",\"protocolType\":\"tcp\",\"addresses\":[" address "]}],\"yarn:persistence\":\"permanent\"}"

static void odd_endpoints(void **state)
{
    (void)state;
    const char *path = "/services/c/s";
    expect(path, ONE("https://odd.api/v1", "host/port", "{\"host\":\"10.0.0.1\",\"port\":\"80\"}"),
           "s.anonymous.dev.test. 30 A 10.0.0.1\n"
           "s.anonymous.dev.test. 30 SRV 1 1 80 s.anonymous.dev.test.\n"
           "s.anonymous.dev.test. 30 TXT \"api=https-odd-api-v1\"\n");
    expect(path, ONE("http://", "host/port", "{\"host\":\"node7.example.com\",\"port\":\"80\"}"),
           "http-api.s.anonymous.dev.test. 30 SRV 1 1 80 node7.example.com.\n"
           "http-api.s.anonymous.dev.test. 30 TXT \"api=http\"\n"
           "s.anonymous.dev.test. 30 SRV 1 1 80 node7.example.com.\n"
           "s.anonymous.dev.test. 30 TXT \"api=http\"\n");
    expect(path, ONE("http://", "host/port", "{\"host\":\"10.0.0.1\",\"port\":\"99999\"}"),
           "http-api.s.anonymous.dev.test. 30 A 10.0.0.1\n"
           "http-api.s.anonymous.dev.test. 30 TXT \"api=http\"\n"
           "s.anonymous.dev.test. 30 A 10.0.0.1\n"
           "s.anonymous.dev.test. 30 TXT \"api=http\"\n");
    expect(path, ONE("http://", "zktriple", "{\"host\":\"10.0.0.1\",\"port\":\"80\"}"),
           "http-api.s.anonymous.dev.test. 30 TXT \"api=http\"\n"
           "s.anonymous.dev.test. 30 TXT \"api=http\"\n");
    expect(path, ONE("http://", "uri", "{\"uri\":\"http://[fd00::1]:8080/a%20b?q\"}"),
           "http-api.s.anonymous.dev.test. 30 AAAA fd00::1\n"
           "http-api.s.anonymous.dev.test. 30 SRV 1 1 8080 s.anonymous.dev.test.\n"
           "http-api.s.anonymous.dev.test. 30 TXT \"api=http\" \"path=/a b\"\n"
           "s.anonymous.dev.test. 30 AAAA fd00::1\n"
           "s.anonymous.dev.test. 30 SRV 1 1 8080 s.anonymous.dev.test.\n"
           "s.anonymous.dev.test. 30 TXT \"api=http\" \"path=/a b\"\n");
    expect(path,
           "{\"type\":\"JSONServiceRecord\",\"external\":[{\"api\":\"http://\",\"addressType\":\"uri\","
           "\"protocolType\":\"x\",\"addresses\":[]}],\"yarn:persistence\":\"application\"}",
           "");
}

static void another_address_gets_a_name_that_srv_can_point_to(void **state)
{
    (void)state;
    expect("/users/bob.dev/services/c/s",
           "{\"type\":\"JSONServiceRecord\",\"external\":["
           "{\"api\":\"http://\",\"addressType\":\"host/port\",\"protocolType\":\"tcp\",\"addresses\":"
           "[{\"host\":\"10.0.0.1\",\"port\":\"80\"}]},"
           "{\"api\":\"classpath:org.apache.hadoop.yarn.service.b\",\"addressType\":\"host/"
           "port\",\"protocolType\":\"tcp\","
           "\"addresses\":[{\"host\":\"10.0.0.2\",\"port\":\"81\"}]}],\"yarn:persistence\":\"application\"}",
           "b-api.s.bob.dev.dev.test. 30 A 10.0.0.1\n"
           "b-api.s.bob.dev.dev.test. 30 SRV 1 1 81 ip-10-0-0-2.s.bob.dev.dev.test.\n"
           "b-api.s.bob.dev.dev.test. 30 TXT \"api=b\"\n"
           "http-api.s.bob.dev.dev.test. 30 A 10.0.0.1\n"
           "http-api.s.bob.dev.dev.test. 30 SRV 1 1 80 s.bob.dev.dev.test.\n"
           "http-api.s.bob.dev.dev.test. 30 TXT \"api=http\"\n"
           "ip-10-0-0-2.s.bob.dev.dev.test. 30 A 10.0.0.2\n"
           "s.bob.dev.dev.test. 30 A 10.0.0.1\n"
           "s.bob.dev.dev.test. 30 SRV 1 1 80 s.bob.dev.dev.test.\n"
           "s.bob.dev.dev.test. 30 SRV 1 1 81 ip-10-0-0-2.s.bob.dev.dev.test.\n"
           "s.bob.dev.dev.test. 30 TXT \"api=b\"\n"
           "s.bob.dev.dev.test. 30 TXT \"api=http\"\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(container_has_three_names_and_a_reverse_one),
        cmocka_unit_test(without_hostname_there_is_no_reverse_name),
        cmocka_unit_test(ports_of_a_container),
        cmocka_unit_test(ipv6_container),
        cmocka_unit_test(names_that_can_be_formed_are_published),
        cmocka_unit_test(addresses_that_are_none_give_no_names),
        cmocka_unit_test(records_without_names),
        cmocka_unit_test(application_record),
        cmocka_unit_test(odd_endpoints),
        cmocka_unit_test(another_address_gets_a_name_that_srv_can_point_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Where resource managers are, by Hadoop's keys. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "yarn/address.h"

#define RM "yarn.resourcemanager."

static const char *const *set; /* key, value, key, value … NULL */

static const char *text(void *arg, const char *key)
{
    (void)arg;
    for (size_t i = 0; set[i]; i += 2)
        if (strcmp(set[i], key) == 0)
            return set[i + 1];
    return NULL;
}

static const struct yarn_keys keys = {text, NULL};

static void expect(enum yarn_rm_port port, const char *const *pairs, const char *const *wanted)
{
    struct yarn_addresses list = ADDRESSES_EMPTY;
    size_t n = 0;
    set = pairs;
    assert_int_equal(yarn_rm_addresses(&keys, port, &list, NULL), 0);
    for (; wanted[n]; n++) {
        char host_port[64];
        snprintf(host_port, sizeof host_port, "%s:%u", list.items[n].host, list.items[n].port);
        assert_string_equal(host_port, wanted[n]);
    }
    assert_int_equal(list.n_items, n);
    yarn_addresses_fini(&list);
}

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

static void one_resource_manager(void **state)
{
    (void)state;
    expect(YARN_RM_CLIENT, LIST(RM "hostname", "rm"), LIST("rm:8032"));
    expect(YARN_RM_SCHEDULER, LIST(RM "hostname", "rm"), LIST("rm:8030"));
    expect(YARN_RM_WEB, LIST(RM "hostname", "rm"), LIST("rm:8088"));
    expect(YARN_RM_WEB_TLS, LIST(RM "hostname", "rm"), LIST("rm:8090"));
    expect(YARN_RM_CLIENT, LIST(RM "hostname", "rm", RM "address", " other:99 "), LIST("other:99"));
    expect(YARN_RM_CLIENT, LIST(RM "address", "[::1]:99"), LIST("::1:99"));
    expect(YARN_RM_SCHEDULER, LIST(RM "hostname", "rm", RM "ha.rm-ids", "a,b"), LIST("rm:8030"));
}

static void several_with_ha(void **state)
{
    (void)state;
    expect(YARN_RM_CLIENT,
           LIST(RM "ha.enabled", "true", RM "ha.rm-ids", "rm1, rm2,", RM "hostname.rm1", "a",
                RM "address.rm2", "b:1", RM "hostname.rm2", "c", RM "hostname", "d"),
           LIST("a:8032", "b:1"));
    expect(YARN_RM_SCHEDULER,
           LIST(RM "ha.enabled", "TRUE", RM "ha.rm-ids", "rm1", RM "scheduler.address.rm1", "a",
                RM "address.rm1", "x:1"),
           LIST("a:8030"));
}

static void what_is_missing_or_wrong_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *pairs[7], *where, *text;
    } cases[] = {
        {{NULL}, RM "hostname", "neither " RM "address nor " RM "hostname is set"},
        {{RM "hostname", " ", NULL}, RM "hostname", "neither " RM "address nor " RM "hostname is set"},
        {{RM "address", "a:b", NULL}, RM "address", "\"a:b\" is no host or host:port"},
        {{RM "address", "a:0", NULL}, RM "address", "\"a:0\" is no host or host:port"},
        {{RM "hostname", "a b", NULL}, RM "hostname", "\"a b\" is no host or host:port"},
        {{RM "ha.enabled", "yes", NULL}, RM "ha.enabled", "\"yes\" is not true or false"},
        {{RM "ha.enabled", "true", NULL}, RM "ha.rm-ids", RM "ha.enabled is set, and no id is given"},
        {{RM "ha.enabled", "true", RM "ha.rm-ids", "x", RM "hostname", "a", NULL},
         RM "ha.rm-ids",
         "neither " RM "address.x nor " RM "hostname.x is set"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct yarn_addresses list = ADDRESSES_EMPTY;
        struct err_info why;
        set = cases[i].pairs;
        assert_int_equal(yarn_rm_addresses(&keys, YARN_RM_CLIENT, &list, &why), ERR_CONFIG);
        assert_string_equal(why.where, cases[i].where);
        assert_string_equal(why.text, cases[i].text);
        assert_int_equal(list.n_items, 0);
    }
}

static void node_is_named_as_it_names_itself(void **state)
{
    (void)state;
    struct yarn_addresses list = ADDRESSES_EMPTY;
    Yarn__NodeId node = YARN__NODE_ID__INIT;
    assert_int_equal(yarn_addresses_add_node(&list, NULL), ERR_PARSE);
    assert_int_equal(yarn_addresses_add_node(&list, &node), ERR_PARSE);
    node.host = "Node-1.Example.COM";
    node.has_port = true;
    node.port = 65536;
    assert_int_equal(yarn_addresses_add_node(&list, &node), ERR_PARSE);
    node.port = 45454;
    assert_int_equal(yarn_addresses_add_node(&list, &node), 0);
    assert_string_equal(list.items[0].host, "Node-1.Example.COM");
    assert_int_equal(list.items[0].port, 45454);
    node.host = "a b";
    assert_int_equal(yarn_addresses_add_node(&list, &node), ERR_PARSE);
    yarn_addresses_fini(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_resource_manager),
        cmocka_unit_test(several_with_ha),
        cmocka_unit_test(what_is_missing_or_wrong_is_named),
        cmocka_unit_test(node_is_named_as_it_names_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Addresses of the targets of SRV, MX and NS: the same whether the targets were fetched with the batch or are looked up late. */
#include "dns_kit.h"

#include "answer/query.h"

enum { N_MANY = 20, MOST_TARGETS = 16 };

static struct zoneset *set;

static void fill(struct zone_tx *tx)
{
    kit_add(tx, "dev.test", DNS_SOA, 60, "ns.dev.test");
    kit_add(tx, "dev.test", DNS_NS, 60, "ns.dev.test");
    kit_add(tx, "ns.dev.test", DNS_A, 60, "10.0.0.53");
    kit_add(tx, "app.dev.test", DNS_A, 30, "10.0.0.1");
    kit_add(tx, "host.app.dev.test", DNS_A, 30, "10.0.0.2");
    kit_add(tx, "app.dev.test", DNS_SRV, 30, "1 1 80 app.dev.test");
    kit_add(tx, "app.dev.test", DNS_SRV, 30, "1 1 81 host.app.dev.test");
    kit_add(tx, "alias.dev.test", DNS_CNAME, 30, "app.dev.test");
    kit_add(tx, "twice.dev.test", DNS_SRV, 30, "1 1 80 app.dev.test");
    kit_add(tx, "twice.dev.test", DNS_SRV, 30, "1 1 81 app.dev.test");
    kit_add(tx, "capital.dev.test", DNS_SRV, 30, "1 1 80 APP.Dev.test");
    kit_add(tx, "away.dev.test", DNS_SRV, 30, "1 1 80 www.example.com");
    kit_add(tx, "gone.dev.test", DNS_SRV, 30, "1 1 80 nowhere.dev.test");
    kit_add(tx, "other.dev.test", DNS_SRV, 30, "1 1 80 h.cut.example");
    kit_add(tx, "hidden.dev.test", DNS_SRV, 30, "1 1 80 ns.sub.cut.example");
    kit_add(tx, "star.dev.test", DNS_SRV, 30, "1 1 80 any.w.dev.test");
    kit_add(tx, "*.w.dev.test", DNS_A, 30, "10.0.0.3");
    kit_add(tx, "*.w.dev.test", DNS_SRV, 30, "1 1 80 app.dev.test");
    kit_add(tx, "mail.dev.test", DNS_MX, 30, "10 app.dev.test");
    kit_add(tx, "cut.example", DNS_SOA, 60, "ns.dev.test");
    kit_add(tx, "h.cut.example", DNS_A, 30, "10.0.0.4");
    kit_add(tx, "sub.cut.example", DNS_NS, 30, "ns.sub.cut.example");
    kit_add(tx, "ns.sub.cut.example", DNS_A, 30, "10.0.0.5");
    for (int i = 0; i < N_MANY; i++) {
        char text[64];
        snprintf(text, sizeof text, "1 1 %d i%d.dev.test", i, i);
        kit_add(tx, "many.dev.test", DNS_SRV, 30, text);
        snprintf(text, sizeof text, "i%d.dev.test", i);
        kit_add(tx, text, DNS_A, 30, "10.0.1.1");
    }
}

static int setup(void **state)
{
    (void)state;
    set = zoneset_new(NULL);
    assert_int_equal(zoneset_add_zone(set, kit_name("dev.test"), ZONE_REGISTRY, 100), 0);
    assert_int_equal(zoneset_add_zone(set, kit_name("cut.example"), ZONE_FILE, 7), 1);
    struct zone_tx *tx = zone_tx_begin(set);
    fill(tx);
    zone_tx_commit(tx, ZONE_READY, NULL);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    zoneset_free(set);
    return 0;
}

static char *respond(uint16_t id, const char *name, uint16_t type, bool is_fetched)
{
    static const struct answer_options defaults;
    static uint8_t out[65535];
    uint8_t msg[600];
    struct answer a;
    const struct zone_version *v = zoneset_current(set);
    answer_read(&a, msg, kit_query(msg, id, name, type, 1232), false, v);
    for (unsigned step = 0; is_fetched && answer_fetch(&a, v, step); step++)
        ;
    return kit_text(out, answer_write(&a, v, &defaults, out, sizeof out));
}

static const struct {
    const char *name;
    uint16_t type;
    const char *wanted; /* of the additional section */
} cases[] = {
    {"app.dev.test", DNS_SRV, "ad app.dev.test. 30 A 10.0.0.1\nad host.app.dev.test. 30 A 10.0.0.2\n"},
    {"APP.dev.TEST", DNS_SRV, "ad app.dev.test. 30 A 10.0.0.1\nad host.app.dev.test. 30 A 10.0.0.2\n"},
    {"alias.dev.test", DNS_SRV, "ad app.dev.test. 30 A 10.0.0.1\nad host.app.dev.test. 30 A 10.0.0.2\n"},
    {"twice.dev.test", DNS_SRV, "ad app.dev.test. 30 A 10.0.0.1\n"},
    {"capital.dev.test", DNS_SRV, "ad APP.Dev.test. 30 A 10.0.0.1\n"},
    {"away.dev.test", DNS_SRV, ""},
    {"gone.dev.test", DNS_SRV, ""},
    {"other.dev.test", DNS_SRV, "ad h.cut.example. 30 A 10.0.0.4\n"},
    {"hidden.dev.test", DNS_SRV, ""},
    {"star.dev.test", DNS_SRV, "ad any.w.dev.test. 30 A 10.0.0.3\n"},
    {"x.w.dev.test", DNS_SRV, "ad app.dev.test. 30 A 10.0.0.1\n"},
    {"mail.dev.test", DNS_MX, "ad app.dev.test. 30 A 10.0.0.1\n"},
    {"dev.test", DNS_NS, "ad ns.dev.test. 60 A 10.0.0.53\n"},
    {"sub.cut.example", DNS_NS, "ad ns.sub.cut.example. 30 A 10.0.0.5\n"},
    {"h.sub.cut.example", DNS_SRV, "ad ns.sub.cut.example. 30 A 10.0.0.5\n"},
};

/** The address records of the additional section; the order of the set turns with the id, 0 is the stored one. */
static void targets_bring_their_addresses(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = respond(0, cases[i].name, cases[i].type, true), *at = strstr(text, "\nad ");
        size_t len = strlen(cases[i].wanted);
        at = at ? at + 1 : text + strlen(text);
        if (strncmp(at, cases[i].wanted, len) || strstr(at + len, " A "))
            fail_msg("%s type %u:\n%s--- wanted of the additional section:\n%s", cases[i].name, cases[i].type,
                     text, cases[i].wanted);
        free(text);
    }
}

static void fetching_changes_no_answer(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (uint16_t id = 0; id < 3; id++) {
            char *fetched = respond(id, cases[i].name, cases[i].type, true);
            char *late = respond(id, cases[i].name, cases[i].type, false);
            assert_string_equal(fetched, late);
            free(fetched);
            free(late);
        }
}

/** Of a set with very many targets some come with addresses, the first of the turned set, each with its own name. */
static void many_targets(void **state)
{
    (void)state;
    for (uint16_t id = 0; id < N_MANY; id++) {
        char *fetched = respond(id, "many.dev.test", DNS_SRV, true);
        char *late = respond(id, "many.dev.test", DNS_SRV, false), wanted[64];
        int n = 0;
        assert_string_equal(fetched, late);
        for (int i = 0; i < N_MANY; i++) {
            snprintf(wanted, sizeof wanted, "\nad i%d.dev.test. 30 A 10.0.1.1\n", i);
            n += strstr(fetched, wanted) != NULL;
        }
        assert_int_equal(n, MOST_TARGETS);
        snprintf(wanted, sizeof wanted, "\nad i%d.dev.test. 30 A 10.0.1.1\n", id);
        assert_non_null(strstr(fetched, wanted));
        free(fetched);
        free(late);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(targets_bring_their_addresses, setup, teardown),
        cmocka_unit_test_setup_teardown(fetching_changes_no_answer, setup, teardown),
        cmocka_unit_test_setup_teardown(many_targets, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

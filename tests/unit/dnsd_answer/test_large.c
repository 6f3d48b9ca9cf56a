/* Answers at the limits: names that become too long, sets that no datagram or no message holds, names past offset 16383. */
#include "dns_kit.h"

#include "answer/query.h"

static struct zoneset *set;
static uint8_t octets[65535]; /* of the last response */

enum { N_HUGE = 5000, N_NAMES = 1500, N_GLUE = 40 };

#define LABEL_60 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static void add_numbered(struct zone_tx *tx, const char *owner, uint16_t type, const char *format, int n)
{
    char text[300];
    for (int i = 0; i < n; i++) {
        snprintf(text, sizeof text, format, i / 250, i % 250);
        kit_add(tx, owner, type, 30, text);
    }
}

static int setup(void **state)
{
    (void)state;
    set = zoneset_new(NULL);
    assert_int_equal(zoneset_add_zone(set, kit_name("dev.test"), ZONE_FILE, 100), 0);
    struct zone_tx *tx = zone_tx_begin(set);
    kit_add(tx, "dev.test", DNS_SOA, 60, "ns.dev.test");
    add_numbered(tx, "huge.dev.test", DNS_A, "10.1.%d.%d", N_HUGE);
    kit_add(tx, "huge.dev.test", DNS_TXT, 30, "small beside it");
    add_numbered(tx, "names.dev.test", DNS_PTR, "host-%d-%d.some.where.else.dev.test", N_NAMES);
    add_numbered(tx, "sub.dev.test", DNS_NS, "ns-%d-%d.sub.dev.test", N_GLUE);
    for (int i = 0; i < N_GLUE; i++) {
        char owner[64];
        snprintf(owner, sizeof owner, "ns-%d-%d.sub.dev.test", i / 250, i % 250);
        kit_add(tx, owner, DNS_A, 30, "10.9.9.9");
    }
    kit_add(tx, "old.dev.test", DNS_DNAME, 30, LABEL_60 "." LABEL_60 "." LABEL_60 ".dev.test");
    zone_tx_commit(tx, 0, NULL);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    zoneset_free(set);
    return 0;
}

/** The answer over TCP or UDP as text; free it. */
static char *respond(const char *name, uint16_t type, uint16_t edns_size, bool is_tcp, size_t *len)
{
    static const struct answer_options defaults;
    uint8_t msg[600];
    struct answer a;
    const struct zone_version *v = zoneset_current(set);
    answer_read(&a, msg, kit_query(msg, 0, name, type, edns_size), is_tcp, v);
    *len = answer_write(&a, v, &defaults, octets, sizeof octets);
    return kit_text(octets, *len);
}

static void expect(const char *name, uint16_t type, uint16_t edns_size, bool is_tcp, const char *wanted)
{
    size_t len;
    char *text = respond(name, type, edns_size, is_tcp, &len);
    if (strcmp(text, wanted))
        fail_msg("%s type %u:\n%s--- wanted:\n%s", name, type, text, wanted);
    free(text);
}

static size_t n_lines(const char *text, const char *word)
{
    size_t n = 0;
    for (const char *p = text; (p = strstr(p, word)); p++)
        n++;
    return n;
}

/** 5000 addresses are 80 000 octets: TC over TCP would be asked again for ever, half of the set would be wrong. */
static void a_set_that_no_message_holds(void **state)
{
    (void)state;
    expect("huge.dev.test", DNS_A, 0, false, "NOERROR aa tc\n");
    expect("huge.dev.test", DNS_A, 0, true, "SERVFAIL\n");
    expect("huge.dev.test", DNS_A, 1232, true, "SERVFAIL\nopt 1232 0 ede 0\n");
    expect("huge.dev.test", DNS_ANY, 0, true, "NOERROR aa\nan huge.dev.test. 30 TXT \"small beside it\"\n");
}

/** The mark of a held name: of its text only where the records leave room, of the records none less. */
static void a_held_name_says_so(void **state)
{
    (void)state;
    struct zone_tx *tx = zone_tx_begin(set);
    add_numbered(tx, "held.dev.test", DNS_A, "10.8.%d.%d",
                 74); /* 31 + 74 * 16 octets, and 17 of OPT and code */
    kit_add(tx, "one.dev.test", DNS_A, 30, "10.8.0.1");
    kit_add(tx, "to.dev.test", DNS_CNAME, 30, "one.dev.test");
    zone_tx_hold(tx, ZONE_BY_NAME, kit_name("held.dev.test"), true);
    zone_tx_hold(tx, ZONE_BY_NAME, kit_name("one.dev.test"), true);
    zone_tx_commit(tx, 0, NULL);
    static const char text_of[] = "a record of this name is gone, and its removal is held";
    static const struct {
        const char *name;
        size_t n_records;
        bool has_text;
    } cases[] = {{"held.dev.test", 74, false}, {"one.dev.test", 1, true}, {"to.dev.test", 2, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t len;
        char *text = respond(cases[i].name, DNS_A, 1232, false, &len);
        assert_non_null(strstr(text, "opt 1232 0 ede 3\n"));
        assert_int_equal(n_lines(text, "an "), cases[i].n_records);
        assert_null(strstr(text, " tc"));
        assert_int_equal(memmem(octets, len, text_of, strlen(text_of)) != NULL, cases[i].has_text);
        free(text);
    }
    expect("one.dev.test", DNS_A, 0, false, "NOERROR aa\nan one.dev.test. 30 A 10.8.0.1\n");
}

/** Beyond octet 16383 no pointer leads to a name, but one there may still lead back. */
static void names_past_the_reach_of_pointers(void **state)
{
    (void)state;
    size_t len;
    char *text = respond("names.dev.test", DNS_PTR, 0, true, &len);
    assert_in_range(len, 20000, 65535);
    assert_int_equal(n_lines(text, "an names.dev.test. 30 PTR host-"), N_NAMES);
    for (int i = 0; i < N_NAMES; i++) {
        char line[100];
        snprintf(line, sizeof line, " PTR host-%d-%d.some.where.else.dev.test.\n", i / 250, i % 250);
        if (!strstr(text, line))
            fail_msg("lost: %s", line);
    }
    free(text);
}

/** A referral whose glue does not fit says TC (RFC 9471 3.1); over TCP all of it comes. */
static void glue_that_does_not_fit(void **state)
{
    (void)state;
    size_t len;
    char *text = respond("host.sub.dev.test", DNS_A, 1232, false, &len);
    assert_true(!strncmp(text, "NOERROR tc\n", 11) && len <= 1232);
    free(text);
    text = respond("host.sub.dev.test", DNS_A, 1232, true, &len);
    assert_true(!strncmp(text, "NOERROR\n", 8));
    assert_int_equal(n_lines(text, "au sub.dev.test. 30 NS"), N_GLUE);
    assert_int_equal(n_lines(text, " A 10.9.9.9\n"), N_GLUE);
    free(text);
}

/** RFC 6672 2.2: YXDOMAIN, with the DNAME that is the reason. The longest name that fits is followed. */
static void dname_that_makes_a_name_too_long(void **state)
{
    (void)state;
    size_t len;
    char *text = respond(LABEL_60 ".b.old.dev.test", DNS_A, 1232, false, &len); /* 61 + 2 + 193 = 256 */
    assert_true(!strncmp(text, "YXDOMAIN aa\nan old.dev.test. 30 DNAME ", 38));
    assert_int_equal(n_lines(text, "CNAME"), 0);
    free(text);
    text = respond(LABEL_60 "."
                            "old.dev.test",
                   DNS_A, 1232, false, &len); /* 254: followed, and not there */
    assert_true(!strncmp(text, "NXDOMAIN aa\nan old.dev.test. 30 DNAME ", 38));
    assert_int_equal(n_lines(text, "CNAME " LABEL_60 "." LABEL_60 "." LABEL_60 "." LABEL_60 ".dev.test.\n"),
                     1);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_set_that_no_message_holds, setup, teardown),
        cmocka_unit_test_setup_teardown(a_held_name_says_so, setup, teardown),
        cmocka_unit_test_setup_teardown(names_past_the_reach_of_pointers, setup, teardown),
        cmocka_unit_test_setup_teardown(glue_that_does_not_fit, setup, teardown),
        cmocka_unit_test_setup_teardown(dname_that_makes_a_name_too_long, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

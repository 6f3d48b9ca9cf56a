/* Answers of a version, as a client would read them. */
#include "dns_kit.h"

#include "answer/query.h"

static struct zoneset *set;

static void begin(void)
{
    set = zoneset_new(NULL);
    assert_int_equal(zoneset_add_zone(set, kit_name("dev.test"), ZONE_REGISTRY, 100), 0);
    assert_int_equal(zoneset_add_zone(set, kit_name("wild.example"), ZONE_FILE, 7), 1);
    struct zone_tx *tx = zone_tx_begin(set);
    kit_add(tx, "dev.test", DNS_SOA, 60, "ns.dev.test");
    kit_add(tx, "dev.test", DNS_NS, 60, "ns.dev.test");
    kit_add(tx, "httpd-1.test1.root.dev.test", DNS_A, 30, "172.17.0.19");
    kit_add(tx, "httpd-1.test1.root.dev.test", DNS_TXT, 30, "id=ctr-1");
    kit_add(tx, "httpd.test1.root.dev.test", DNS_A, 30, "172.17.0.19");
    kit_add(tx, "httpd.test1.root.dev.test", DNS_A, 30, "172.17.0.20");
    kit_add(tx, "httpd.test1.root.dev.test", DNS_A, 30, "172.17.0.21");
    kit_add(tx, "api.root.dev.test", DNS_CNAME, 30, "httpd-1.test1.root.dev.test");
    kit_add(tx, "api.root.dev.test", DNS_SRV, 30, "1 1 1026 httpd-1.test1.root.dev.test");
    kit_add(tx, "lost.dev.test", DNS_CNAME, 30, "nowhere.dev.test");
    kit_add(tx, "far.dev.test", DNS_CNAME, 30, "www.example.com");
    kit_add(tx, "loop.dev.test", DNS_CNAME, 30, "loop.dev.test");
    kit_add(tx, "wild.example", DNS_SOA, 3600, "ns.wild.example");
    kit_add(tx, "*.w.wild.example", DNS_A, 300, "10.0.0.1");
    kit_add(tx, "a.exists.w.wild.example", DNS_A, 300, "10.0.0.2");
    kit_add(tx, "sub.wild.example", DNS_NS, 300, "ns1.sub.wild.example");
    kit_add(tx, "ns1.sub.wild.example", DNS_A, 300, "10.0.0.53");
    kit_add(tx, "old.wild.example", DNS_DNAME, 300, "new.wild.example");
    kit_add(tx, "x.new.wild.example", DNS_A, 300, "10.0.0.3");
    for (int i = 0; i < 200; i++) {
        char address[32];
        snprintf(address, sizeof address, "10.1.%d.%d", i / 100, i % 100);
        kit_add(tx, "big.dev.test", DNS_A, 30, address);
    }
    zone_tx_commit(tx, ZONE_READY, NULL);
}

static int setup(void **state)
{
    (void)state;
    begin();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    zoneset_free(set);
    return 0;
}

static const struct answer_options defaults;

static size_t respond(const uint8_t *msg, size_t len, bool is_tcp, uint8_t *out)
{
    struct answer a;
    const struct zone_version *v = zoneset_current(set);
    answer_read(&a, msg, len, is_tcp, v);
    for (unsigned step = 0; answer_fetch(&a, v, step); step++)
        ;
    return answer_write(&a, v, &defaults, out, 65535);
}

static void expect(const char *name, uint16_t type, uint16_t edns_size, bool is_tcp, const char *wanted)
{
    uint8_t msg[600], out[65535];
    size_t len = respond(msg, kit_query(msg, 0, name, type, edns_size), is_tcp, out);
    char *text = kit_text(out, len);
    if (strcmp(text, wanted))
        fail_msg("%s type %u:\n%s--- wanted:\n%s", name, type, text, wanted);
    free(text);
}

#define SOA_DEV  "au dev.test. 30 SOA ns.dev.test. serial 100\n"
#define SOA_WILD "au wild.example. 30 SOA ns.wild.example. serial 7\n"

static void answers_by_name_and_type(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint16_t type;
        const char *wanted;
    } cases[] = {
        {"httpd-1.test1.root.dev.test", DNS_A,
         "NOERROR aa\nan httpd-1.test1.root.dev.test. 30 A 172.17.0.19\n"},
        {"HTTPD-1.Test1.root.DEV.test", DNS_A,
         "NOERROR aa\nan HTTPD-1.Test1.root.DEV.test. 30 A 172.17.0.19\n"},
        {"httpd-1.test1.root.dev.test", DNS_TXT,
         "NOERROR aa\nan httpd-1.test1.root.dev.test. 30 TXT \"id=ctr-1\"\n"},
        {"httpd-1.test1.root.dev.test", DNS_MX, "NOERROR aa\n" SOA_DEV},
        {"httpd-1.test1.root.dev.test", 65400, "NOERROR aa\n" SOA_DEV},
        {"test1.root.dev.test", DNS_NS, "NOERROR aa\n" SOA_DEV},
        {"root.dev.test", DNS_A, "NOERROR aa\n" SOA_DEV},
        {"nope.dev.test", DNS_A, "NXDOMAIN aa\n" SOA_DEV},
        {"a.b.c.d.nope.dev.test", DNS_A, "NXDOMAIN aa\n" SOA_DEV},
        {"NOPE.Dev.TEST", DNS_A, "NXDOMAIN aa\nau Dev.TEST. 30 SOA ns.Dev.TEST. serial 100\n"},
        {"dev.test", DNS_NS, "NOERROR aa\nan dev.test. 60 NS ns.dev.test.\n"},
        {"dev.test", DNS_SOA, "NOERROR aa\nan dev.test. 60 SOA ns.dev.test. serial 100\n"},
        {"api.root.dev.test", DNS_A,
         "NOERROR aa\nan api.root.dev.test. 30 CNAME httpd-1.test1.root.dev.test.\n"
         "an httpd-1.test1.root.dev.test. 30 A 172.17.0.19\n"},
        {"api.root.dev.test", DNS_SRV,
         "NOERROR aa\nan api.root.dev.test. 30 SRV 1 1 1026 httpd-1.test1.root.dev.test.\n"
         "ad httpd-1.test1.root.dev.test. 30 A 172.17.0.19\n"},
        {"api.root.dev.test", DNS_MX,
         "NOERROR aa\nan api.root.dev.test. 30 CNAME httpd-1.test1.root.dev.test.\n" SOA_DEV},
        {"lost.dev.test", DNS_A, "NXDOMAIN aa\nan lost.dev.test. 30 CNAME nowhere.dev.test.\n" SOA_DEV},
        {"far.dev.test", DNS_A, "NOERROR aa\nan far.dev.test. 30 CNAME www.example.com.\n"},
        {"x.w.wild.example", DNS_A, "NOERROR aa\nan x.w.wild.example. 300 A 10.0.0.1\n"},
        {"x.y.w.wild.example", DNS_A, "NOERROR aa\nan x.y.w.wild.example. 300 A 10.0.0.1\n"},
        {"x.w.wild.example", DNS_TXT, "NOERROR aa\n" SOA_WILD},
        {"b.exists.w.wild.example", DNS_A, "NXDOMAIN aa\n" SOA_WILD},
        {"exists.w.wild.example", DNS_A, "NOERROR aa\n" SOA_WILD},
        {"host.sub.wild.example", DNS_A,
         "NOERROR\nau sub.wild.example. 300 NS ns1.sub.wild.example.\nad ns1.sub.wild.example. 300 A "
         "10.0.0.53\n"},
        {"sub.wild.example", DNS_NS,
         "NOERROR\nau sub.wild.example. 300 NS ns1.sub.wild.example.\nad ns1.sub.wild.example. 300 A "
         "10.0.0.53\n"},
        {"sub.wild.example", DNS_DS, "NOERROR aa\n" SOA_WILD},
        {"x.old.wild.example", DNS_A,
         "NOERROR aa\nan old.wild.example. 300 DNAME new.wild.example.\nan x.old.wild.example. 300 CNAME "
         "x.new.wild.example.\nan x.new.wild.example. 300 A 10.0.0.3\n"},
        {"example.com", DNS_A, "REFUSED\n"},
        {".", DNS_NS, "REFUSED\n"},
        {"httpd-1.test1.root.dev.test", DNS_ANY,
         "NOERROR aa\nan httpd-1.test1.root.dev.test. 30 A 172.17.0.19\n"},
        {"dev.test", DNS_TKEY, "NOTIMP\n"},
        {"dev.test", DNS_AXFR, "FORMERR\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect(cases[i].name, cases[i].type, 0, false, cases[i].wanted);
}

static void any_is_complete_over_tcp(void **state)
{
    (void)state;
    expect("httpd-1.test1.root.dev.test", DNS_ANY, 0, true,
           "NOERROR aa\nan httpd-1.test1.root.dev.test. 30 A 172.17.0.19\n"
           "an httpd-1.test1.root.dev.test. 30 TXT \"id=ctr-1\"\n");
    expect("dev.test", DNS_AXFR, 0, true, "REFUSED\n");
    expect("root.dev.test", DNS_AXFR, 0, true, "NOTAUTH\n");
}

static void a_cname_loop_is_written_once(void **state)
{
    (void)state;
    struct zone_tx *tx = zone_tx_begin(set);
    kit_add(tx, "one.dev.test", DNS_CNAME, 30, "Two.dev.test");
    kit_add(tx, "two.dev.test", DNS_CNAME, 30, "three.dev.test");
    kit_add(tx, "three.dev.test", DNS_CNAME, 30, "two.dev.test");
    kit_add(tx, "*.star.dev.test", DNS_CNAME, 30, "a.star.dev.test");
    zone_tx_commit(tx, ZONE_READY, NULL);
    expect("loop.dev.test", DNS_A, 0, false, "NOERROR aa\nan loop.dev.test. 30 CNAME loop.dev.test.\n");
    expect("LOOP.dev.test", DNS_A, 0, false, "NOERROR aa\nan LOOP.dev.test. 30 CNAME LOOP.dev.test.\n");
    expect("one.dev.test", DNS_A, 0, false,
           "NOERROR aa\nan one.dev.test. 30 CNAME Two.dev.test.\nan Two.dev.test. 30 CNAME "
           "three.dev.test.\nan three.dev.test. 30 CNAME Two.dev.test.\n");
    expect("b.star.dev.test", DNS_A, 0, false,
           "NOERROR aa\nan b.star.dev.test. 30 CNAME a.star.dev.test.\nan a.star.dev.test. 30 CNAME "
           "a.star.dev.test.\n");
}

static void expect_text(char *take_text, const char *wanted)
{
    if (strcmp(take_text, wanted))
        fail_msg("%s--- wanted:\n%s", take_text, wanted);
    free(take_text);
}

/** What follows the aliases of another server's answer for www.example.com. */
static void expect_links(const char *const targets[], uint16_t type, const char *wanted)
{
    uint8_t msg[600], out[65535];
    struct answer a;
    struct answer_links links = {0};
    const struct zone_version *v = zoneset_current(set);
    for (; targets[links.n]; links.n++)
        links.items[links.n] = (struct answer_link){40 + links.n, kit_name(targets[links.n])};
    answer_read(&a, msg, kit_query(msg, 1, "WWW.example.com", type, 1232), false, v);
    expect_text(kit_text(out, answer_write_links(&a, v, &defaults, &links, out)), wanted);
}

static void another_servers_answer_continues_in_our_zones(void **state)
{
    (void)state;
#define FIRST "an WWW.example.com. 40 CNAME "
    expect_links((const char *const[]){"httpd-1.test1.root.dev.test", NULL}, DNS_A,
                 "NOERROR ra\n" FIRST "httpd-1.test1.root.dev.test.\n"
                 "an httpd-1.test1.root.dev.test. 30 A 172.17.0.19\nopt 1232 0\n");
    expect_links((const char *const[]){"cdn.example.com", "api.root.dev.test", "foreign.example.com", NULL},
                 DNS_A,
                 "NOERROR ra\n" FIRST "cdn.example.com.\n"
                 "an cdn.example.com. 41 CNAME api.root.dev.test.\n"
                 "an api.root.dev.test. 30 CNAME httpd-1.test1.root.dev.test.\n"
                 "an httpd-1.test1.root.dev.test. 30 A 172.17.0.19\nopt 1232 0\n");
    expect_links((const char *const[]){"nope.dev.test", NULL}, DNS_A,
                 "NXDOMAIN ra\n" FIRST "nope.dev.test.\n" SOA_DEV "opt 1232 0\n");
    expect_links((const char *const[]){"big.dev.test", NULL}, DNS_A,
                 "NOERROR tc ra\n" FIRST "big.dev.test.\nopt 1232 0\n");
    expect_links((const char *const[]){"www.EXAMPLE.com", "nope.dev.test", NULL}, DNS_A,
                 "NOERROR ra\n" FIRST "WWW.example.com.\nopt 1232 0\n");
}

static bool hides_test1(const struct answer_guard *g, const uint8_t *name)
{
    (void)g;
    return !name_is_within(name, kit_name("test1.root.dev.test"));
}

/** The answer to a client that may not see names of test1.root.dev.test. */
static void expect_guarded(const char *name, uint16_t type, const char *wanted)
{
    static const struct answer_guard guard = {hides_test1};
    uint8_t msg[600], out[65535];
    struct answer a;
    const struct zone_version *v = zoneset_current(set);
    answer_read(&a, msg, kit_query(msg, 0, name, type, 1232), true, v);
    for (unsigned step = 0; answer_fetch(&a, v, step); step++)
        ;
    a.guard = &guard;
    expect_text(kit_text(out, answer_write(&a, v, &defaults, out, sizeof out)), wanted);
}

static void names_that_the_client_may_not_see_stay_hidden(void **state)
{
    (void)state;
    expect_guarded(
        "api.root.dev.test", DNS_A,
        "NOERROR aa\nan api.root.dev.test. 30 CNAME httpd-1.test1.root.dev.test.\nopt 1232 0 ede 18\n");
    expect_guarded(
        "api.root.dev.test", DNS_SRV,
        "NOERROR aa\nan api.root.dev.test. 30 SRV 1 1 1026 httpd-1.test1.root.dev.test.\nopt 1232 0\n");
    uint8_t msg[600], out[512];
    struct answer a;
    static const struct answer_guard guard = {hides_test1};
    struct answer_links links = {1, {{40, kit_name("httpd-1.test1.root.dev.test")}}};
    const struct zone_version *v = zoneset_current(set);
    answer_read(&a, msg, kit_query(msg, 1, "www.example.com", DNS_A, 1232), false, v);
    a.guard = &guard;
    expect_text(kit_text(out, answer_write_links(&a, v, &defaults, &links, out)),
                "NOERROR ra\nan www.example.com. 40 CNAME httpd-1.test1.root.dev.test.\nopt 1232 0 ede 18\n");
}

static void without_a_target_of_ours_nothing_is_written(void **state)
{
    (void)state;
    uint8_t msg[600], out[512];
    struct answer a;
    struct answer_links links = {1, {{40, kit_name("cdn.example.com")}}};
    const struct zone_version *v = zoneset_current(set);
    answer_read(&a, msg, kit_query(msg, 1, "www.example.com", DNS_A, 0), false, v);
    assert_int_equal(answer_write_links(&a, v, &defaults, &links, out), 0);
}

static void a_client_without_permission_is_refused(void **state)
{
    (void)state;
    uint8_t msg[600], out[512];
    struct answer a;
    const struct zone_version *v = zoneset_current(set);
    answer_read(&a, msg, kit_query(msg, 0, "httpd-1.test1.root.dev.test", DNS_A, 1232), false, v);
    expect_text(kit_text(out, answer_write_prohibited(&a, v, &defaults, out, sizeof out)),
                "REFUSED\nopt 1232 0 ede 18\n");
    answer_read(&a, msg, 5, false, v);
    assert_int_equal(answer_write_prohibited(&a, v, &defaults, out, sizeof out), 0);
}

static void edns_says_why(void **state)
{
    (void)state;
    expect("example.com", DNS_A, 4096, false, "REFUSED\nopt 1232 0 ede 20\n");
    expect("httpd-1.test1.root.dev.test", DNS_A, 100, false,
           "NOERROR aa\nan httpd-1.test1.root.dev.test. 30 A 172.17.0.19\nopt 1232 0\n");
    zone_tx_commit(zone_tx_begin(set), ZONE_READY | ZONE_STALE, NULL);
    expect("nope.dev.test", DNS_A, 4096, false, "NXDOMAIN aa\n" SOA_DEV "opt 1232 0 ede 3\n");
    expect("x.w.wild.example", DNS_A, 4096, false,
           "NOERROR aa\nan x.w.wild.example. 300 A 10.0.0.1\nopt 1232 0\n");
    zone_tx_commit(zone_tx_begin(set), 0, NULL);
    expect("nope.dev.test", DNS_A, 4096, false, "SERVFAIL\nopt 1232 0 ede 14\n");
    expect("nope.dev.test", DNS_A, 0, false, "SERVFAIL\n");
    expect("x.w.wild.example", DNS_A, 0, false, "NOERROR aa\nan x.w.wild.example. 300 A 10.0.0.1\n");
}

static void a_set_is_whole_or_absent(void **state)
{
    (void)state;
    uint8_t msg[600], out[65535];
    static const struct {
        uint16_t edns_size;
        size_t limit;
    } cases[] = {{0, 512}, {512, 512}, {1232, 1232}, {4096, 1232}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t len = respond(msg, kit_query(msg, 1, "big.dev.test", DNS_A, cases[i].edns_size), false, out);
        assert_in_range(len, 12, cases[i].limit);
        assert_true(out[2] & 2);
        assert_int_equal(wire_get16(out + 6), 0);
        assert_int_equal(wire_get16(out + 10), cases[i].edns_size ? 1 : 0);
    }
    size_t len = respond(msg, kit_query(msg, 1, "big.dev.test", DNS_A, 0), true, out);
    assert_false(out[2] & 2);
    assert_int_equal(wire_get16(out + 6), 200);
    assert_int_equal(len, 12 + 18 + 200 * 16);
}

static void order_turns_with_the_id(void **state)
{
    (void)state;
    uint8_t msg[600], out[65535], first[3];
    for (uint16_t id = 0; id < 3; id++) {
        size_t len = respond(msg, kit_query(msg, id, "httpd.test1.root.dev.test", DNS_A, 0), false, out);
        assert_int_equal(wire_get16(out), id);
        assert_int_equal(wire_get16(out + 6), 3);
        first[id] = out[len - 3 * 16 + 15];
    }
    assert_true(first[0] != first[1] && first[1] != first[2] && first[0] != first[2]);
}

static size_t respond_changed(size_t at, uint8_t value, uint8_t *out)
{
    uint8_t msg[600];
    size_t len = kit_query(msg, 5, "dev.test", DNS_SOA, 1232);
    msg[at] = value;
    return respond(msg, len, false, out);
}

static void odd_headers(void **state)
{
    (void)state;
    uint8_t out[65535];
    static const struct {
        const char *what;
        size_t at;
        uint8_t value;
        int rcode, rcode_high;
    } cases[] = {
        {"opcode STATUS", 2, 2 << 3, 4, 0},
        {"opcode 15", 2, 15 << 3, 4, 0},
        {"opcode UPDATE", 2, 5 << 3, 4, 0},
        {"no question", 5, 0, 1, -1},
        {"two questions", 5, 2, 1, -1},
        {"class CH", 12 + 10 + 3, 3, 5, 0},
        {"class ANY", 12 + 10 + 3, 255, 5, 0},
        {"EDNS version 1", 12 + 14 + 6, 1, 0, 1},
        {"unknown Z flag", 3, 0x40, 0, 0},
        {"rcode in query", 3, 5, 0, 0},
        {"EDNS Z flags", 12 + 14 + 8, 0x40, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t len = respond_changed(cases[i].at, cases[i].value, out);
        if (!len || (out[3] & 15) != cases[i].rcode)
            fail_msg("%s: rcode %d", cases[i].what, len ? out[3] & 15 : -1);
        assert_true(out[2] & 0x80);
        assert_int_equal(out[3] & 0xf0, 0);
        if (cases[i].rcode_high > 0)
            assert_int_equal(out[len - 6], cases[i].rcode_high);
    }
    assert_int_equal(respond_changed(2, 0x80, out), 0);
    assert_int_equal(respond((const uint8_t *)"short", 5, false, out), 0);
}

static void hand_off_is_asked_for(void **state)
{
    (void)state;
    uint8_t msg[600], out[65535];
    struct answer a;
    const struct zone_version *v = zoneset_current(set);
    struct answer_options opts = {.can_forward = true, .can_fall_through = true, .can_transfer = true};
    static const struct {
        const char *name;
        uint16_t type;
        enum answer_hand_off wanted;
    } cases[] = {
        {"example.com", DNS_A, ANSWER_FORWARD},
        {"nope.dev.test", DNS_A, ANSWER_FALL_THROUGH},
        {"httpd.test1.root.dev.test", DNS_A, ANSWER_HERE},
        {"nope.wild.example", DNS_A, ANSWER_HERE},
        {"dev.test", DNS_AXFR, ANSWER_TRANSFER},
        {"root.dev.test", DNS_AXFR, ANSWER_HERE},
    };
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        bool wants_recursion = i % 2;
        enum answer_hand_off wanted = cases[i / 2].wanted;
        size_t len = kit_query(msg, 1, cases[i / 2].name, cases[i / 2].type, 0);
        msg[2] = wants_recursion; /* flag RD */
        answer_read(&a, msg, len, true, v);
        assert_true(answer_write(&a, v, &opts, out, sizeof out) > 0);
        assert_int_equal(a.hand_off, wants_recursion || wanted == ANSWER_TRANSFER ? wanted : ANSWER_HERE);
    }
}

/** A question of the longest name, with every option, still fits into the smallest response. */
static void longest_name(void **state)
{
    (void)state;
    char name[260];
    memset(name, 'a', sizeof name);
    for (int i = 63; i < 255; i += 64)
        name[i] = '.';
    strcpy(name + 244, ".dev.test"); /* 253 characters: 255 octets */
    name[191] = '.';
    uint8_t msg[700], out[65535], nsid[64] = {0};
    struct answer a;
    struct answer_options opts = {.nsid = nsid, .nsid_len = sizeof nsid};
    const struct zone_version *v = zoneset_current(set);
    size_t len = kit_query(msg, 1, name, DNS_A, 512);
    memcpy(msg + len, "\0\3\0\0\0\012\0\010abcdefgh", 16);
    msg[len - 1] = 16;
    answer_read(&a, msg, len + 16, false, v);
    a.secrets = &(struct cookie_secrets){.n_keys = 1};
    a.client.address_len = 16;
    size_t n = answer_write(&a, v, &opts, out, sizeof out);
    assert_in_range(n, 12, 512);
    assert_int_equal(a.rcode, DNS_NXDOMAIN);
}

/** The response to a question of a class, with these octets of EDNS options (NULL: no OPT), under these options. */
static char *ask(const char *name, uint16_t type, uint16_t class, const char *options, size_t n,
                 const struct answer_options *opts, struct answer *a)
{
    static uint8_t out[65535];
    uint8_t msg[700];
    const struct zone_version *v = zoneset_current(set);
    struct answer setup = *a;
    size_t len = kit_query(msg, 1, name, type, options ? 1232 : 0);
    msg[len - (options ? 12 : 1)] = (uint8_t) class;
    if (options) {
        memcpy(msg + len, options, n);
        msg[len - 1] = (uint8_t)n;
        len += n;
    }
    answer_read(a, msg, len, setup.is_tcp, v);
    a->is_tls = setup.is_tls;
    a->secrets = setup.secrets;
    a->client = setup.client;
    size_t n_out = answer_write(a, v, opts, out, sizeof out);
    if (setup.is_tls)
        assert_int_equal(n_out % 468, 0);
    return kit_text(out, n_out);
}

static void chaos(void **state)
{
    (void)state;
    struct answer_options stated = {.version = "v 1", .identity = "node7"}, hidden = {0};
    static const struct {
        const char *name;
        uint16_t type;
        const char *wanted;
    } cases[] = {
        {"version.bind", DNS_TXT, "NOERROR aa\nan version.bind. 0 TXT \"v 1\"\n"},
        {"VERSION.server", DNS_ANY, "NOERROR aa\nan VERSION.server. 0 TXT \"v 1\"\n"},
        {"id.server", DNS_TXT, "NOERROR aa\nan id.server. 0 TXT \"node7\"\n"},
        {"hostname.bind", DNS_TXT, "NOERROR aa\nan hostname.bind. 0 TXT \"node7\"\n"},
        {"hostname.bind", DNS_A, "REFUSED\n"},
        {"authors.bind", DNS_TXT, "REFUSED\n"},
        {"httpd-1.test1.root.dev.test", DNS_A, "REFUSED\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct answer a = {0};
        expect_text(ask(cases[i].name, cases[i].type, DNS_CH, NULL, 0, &stated, &a), cases[i].wanted);
        expect_text(ask(cases[i].name, cases[i].type, DNS_CH, NULL, 0, &hidden, &a), "REFUSED\n");
    }
}

static void empty_zones(void **state)
{
    (void)state;
    struct answer_options opts = {.has_empty_zones = true, .can_forward = true};
    static const struct {
        const char *name;
        uint16_t type;
        const char *wanted;
    } cases[] = {
        {"localhost", DNS_A, "NOERROR aa\nan localhost. 10800 A 127.0.0.1\n"},
        {"x.LOCALHOST", DNS_AAAA, "NOERROR aa\nan x.LOCALHOST. 10800 AAAA ::1\n"},
        {"localhost", DNS_MX, "NOERROR aa\nau localhost. 10800 SOA localhost. serial 1\n"},
        {"x.invalid", DNS_A, "NXDOMAIN aa\nau invalid. 10800 SOA invalid. serial 1\n"},
        {"invalid", DNS_SOA, "NOERROR aa\nan invalid. 10800 SOA invalid. serial 1\n"},
        {"1.1.255.10.in-addr.arpa", DNS_PTR,
         "NXDOMAIN aa\nau 10.in-addr.arpa. 10800 SOA 10.in-addr.arpa. serial 1\n"},
        {"10.in-addr.arpa", DNS_NS, "NOERROR aa\nan 10.in-addr.arpa. 10800 NS 10.in-addr.arpa.\n"},
        {"10.in-addr.arpa", DNS_A, "NOERROR aa\nau 10.in-addr.arpa. 10800 SOA 10.in-addr.arpa. serial 1\n"},
        {"1.2.31.172.in-addr.arpa", DNS_PTR,
         "NXDOMAIN aa\nau 31.172.in-addr.arpa. 10800 SOA 31.172.in-addr.arpa. serial 1\n"},
        {"1.0.0.d.f.ip6.arpa", DNS_PTR, "NXDOMAIN aa\nau d.f.ip6.arpa. 10800 SOA d.f.ip6.arpa. serial 1\n"},
        {"a.8.b.d.0.1.0.0.2.ip6.arpa", DNS_PTR,
         "NXDOMAIN aa\nau 8.b.d.0.1.0.0.2.ip6.arpa. 10800 SOA 8.b.d.0.1.0.0.2.ip6.arpa. serial 1\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct answer a = {0};
        expect_text(ask(cases[i].name, cases[i].type, DNS_IN, NULL, 0, &opts, &a), cases[i].wanted);
        assert_int_equal(a.hand_off, ANSWER_HERE);
    }
    static const char *const outside[] = {"32.172.in-addr.arpa", "11.in-addr.arpa", "notlocalhost",
                                          "ip6.arpa"};
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) {
        struct answer a = {0};
        expect_text(ask(outside[i], DNS_PTR, DNS_IN, NULL, 0, &opts, &a), "REFUSED\n");
        assert_int_equal(a.hand_off, ANSWER_FORWARD);
    }
}

#define ASKED_A  "an httpd-1.test1.root.dev.test. 30 A 172.17.0.19\n"
#define COOKIE_8 "\0\012\0\010abcdefgh"

static void cookies(void **state)
{
    (void)state;
    static const struct cookie_secrets secrets = {1, {"0123456789abcdef"}};
    struct answer_options open = {0}, strict = {.needs_cookie = true};
    struct answer from = {.secrets = &secrets, .client = {{10, 0, 0, 1}, 4, 1000}}, a = from;
    char good[4 + COOKIE_LEN] = {0, 10, 0, COOKIE_LEN};
    uint8_t made[COOKIE_LEN];
    const char *host = "httpd-1.test1.root.dev.test";
    cookie_make(&secrets, &from.client, (const uint8_t *)"abcdefgh", made);
    memcpy(good + 4, made, COOKIE_LEN);

    expect_text(ask(host, DNS_A, DNS_IN, COOKIE_8, 12, &open, &a),
                "NOERROR aa\n" ASKED_A "opt 1232 0 option 10\n");
    assert_int_equal(a.cookie, ANSWER_COOKIE_UNKNOWN);
    a = from;
    expect_text(ask(host, DNS_A, DNS_IN, COOKIE_8, 12, &strict, &a), "7\nopt 1232 1 option 10\n");
    assert_int_equal(a.rcode, DNS_BADCOOKIE);
    a = from;
    expect_text(ask(host, DNS_A, DNS_IN, good, sizeof good, &strict, &a),
                "NOERROR aa\n" ASKED_A "opt 1232 0 option 10\n");
    assert_int_equal(a.cookie, ANSWER_COOKIE_GOOD);
    a = from;
    expect_text(ask(host, DNS_A, DNS_IN, NULL, 0, &strict, &a), "NOERROR tc\n");
    a = from;
    a.is_tcp = true;
    expect_text(ask(host, DNS_A, DNS_IN, NULL, 0, &strict, &a), "NOERROR aa\n" ASKED_A);
    a = (struct answer){0}; /* cookies are off */
    expect_text(ask(host, DNS_A, DNS_IN, COOKIE_8, 12, &open, &a), "NOERROR aa\n" ASKED_A "opt 1232 0\n");
}

static void options_by_transport(void **state)
{
    (void)state;
    static const char both[] = "\0\013\0\0\0\014\0\1";
    struct answer_options opts = {.keepalive_100ms = 77};
    const char *host = "httpd-1.test1.root.dev.test";
    struct answer udp = {0}, tcp = {.is_tcp = true}, tls = {.is_tcp = true, .is_tls = true};
    expect_text(ask(host, DNS_A, DNS_IN, both, sizeof both, &opts, &udp),
                "NOERROR aa\n" ASKED_A "opt 1232 0\n");
    expect_text(ask(host, DNS_A, DNS_IN, both, sizeof both, &opts, &tcp),
                "NOERROR aa\n" ASKED_A "opt 1232 0 option 11\n");
    expect_text(ask(host, DNS_A, DNS_IN, both, sizeof both, &opts, &tls),
                "NOERROR aa\n" ASKED_A "opt 1232 0 option 11 option 12\n");
}

static void an_empty_answer_says_come_again(void **state)
{
    (void)state;
    uint8_t msg[600], out[512];
    struct answer a;
    const struct zone_version *v = zoneset_current(set);
    answer_read(&a, msg, kit_query(msg, 1, "nope.dev.test", DNS_A, 1232), false, v);
    answer_write(&a, v, &defaults, out, sizeof out);
    expect_text(kit_text(out, answer_write_empty(&a, v, &defaults, out, sizeof out)),
                "NOERROR tc\nopt 1232 0\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(answers_by_name_and_type, setup, teardown),
        cmocka_unit_test_setup_teardown(any_is_complete_over_tcp, setup, teardown),
        cmocka_unit_test_setup_teardown(a_cname_loop_is_written_once, setup, teardown),
        cmocka_unit_test_setup_teardown(another_servers_answer_continues_in_our_zones, setup, teardown),
        cmocka_unit_test_setup_teardown(names_that_the_client_may_not_see_stay_hidden, setup, teardown),
        cmocka_unit_test_setup_teardown(without_a_target_of_ours_nothing_is_written, setup, teardown),
        cmocka_unit_test_setup_teardown(a_client_without_permission_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(edns_says_why, setup, teardown),
        cmocka_unit_test_setup_teardown(a_set_is_whole_or_absent, setup, teardown),
        cmocka_unit_test_setup_teardown(order_turns_with_the_id, setup, teardown),
        cmocka_unit_test_setup_teardown(odd_headers, setup, teardown),
        cmocka_unit_test_setup_teardown(hand_off_is_asked_for, setup, teardown),
        cmocka_unit_test_setup_teardown(longest_name, setup, teardown),
        cmocka_unit_test_setup_teardown(chaos, setup, teardown),
        cmocka_unit_test_setup_teardown(empty_zones, setup, teardown),
        cmocka_unit_test_setup_teardown(cookies, setup, teardown),
        cmocka_unit_test_setup_teardown(options_by_transport, setup, teardown),
        cmocka_unit_test_setup_teardown(an_empty_answer_says_come_again, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Messages on their way: what goes to an upstream, what is taken of its answer, what the client gets; read by ldns. */
#include "dns_kit.h"

#include <ldns/ldns.h>

#include "base/mem.h"
#include "bobbin/error.h"
#include "forward/relay.h"
#include "wire/write.h"

enum { ID = 0x1234, QR = 0x8000, AA = 0x400, TC = 0x200, RD = 0x100, RA = 0x80, AD = 0x20, CD = 0x10 };

/** A client's query and what goes to the upstream for it. */
struct asked {
    uint8_t msg[512];
    size_t len;
    struct query q;
    uint8_t query[RELAY_QUERY_MAX];
    size_t query_len;
};

/** @param size EDNS size, or 0: no EDNS */
static void ask(struct asked *a, const char *name, uint16_t qtype, unsigned flags, unsigned size)
{
    struct wr w;
    uint8_t question[NAME_MAX_LEN + 4];
    size_t n = (size_t)name_from_text(name, strlen(name), question);
    wire_put16(question + n, qtype);
    wire_put16(question + n + 2, DNS_IN);
    wr_begin(&w, a->msg, sizeof a->msg);
    wr_question(&w, question, n + 4);
    struct wr_opt opt = {.size = (uint16_t)size, .ede = DNS_EDE_NONE, .is_dnssec = size == 4000};
    if (size)
        wr_opt_put(&w, &opt);
    a->len = wr_finish(&w, 0x7777, (uint16_t)flags);
    query_read(a->msg, a->len, &a->q);
    assert_int_equal(a->q.verdict, QUERY_OK);
    a->query_len = relay_make_query(&a->q, a->msg, a->query);
    relay_set_id(a->query, ID);
}

/** An answer being made. */
struct made {
    struct wr w;
    uint8_t msg[65535];
};

static void make(struct made *m, const struct asked *a)
{
    wr_begin(&m->w, m->msg, sizeof m->msg);
    wr_question(&m->w, a->query + WIRE_HEADER_LEN, a->q.question_len);
}

static void add(struct made *m, enum wr_section section, const char *owner, uint16_t type, uint32_t ttl_s,
                const char *text)
{
    uint8_t wire[1024];
    size_t n = kit_rdata(type, text, wire + WIRE_RR_HEADER);
    wire_put16(wire, 0xc00c);
    wire_put16(wire + 2, type);
    wire_put16(wire + 4, DNS_IN);
    wire_put32(wire + 6, ttl_s);
    wire_put16(wire + 10, (unsigned)n);
    struct wire_set set = {wire, (uint32_t)(WIRE_RR_HEADER + n), 1, type, UINT32_MAX, 0};
    assert_int_equal(wr_rrset(&m->w, section, kit_name(owner), &set), 0);
}

static struct relay_msg *read_made(struct made *m, const struct asked *a, unsigned flags)
{
    struct relay_msg *out = NULL;
    size_t len = wr_finish(&m->w, ID, (uint16_t)(QR | flags));
    assert_int_equal(relay_read(a->query, a->query_len, m->msg, len, &out), 0);
    return out;
}

static struct relay_client client_of(const struct asked *a)
{
    return (struct relay_client){.query = &a->q, .msg = a->msg, .udp_max = 1232, .ttl_most_s = UINT32_MAX};
}

/** Records of a response as ldns prints them, "rcode flags|answer|authority|additional". */
static const char *text_of(const uint8_t *msg, size_t len)
{
    static char out[4096];
    ldns_pkt *p = NULL;
    assert_int_equal(ldns_wire2pkt(&p, msg, len), LDNS_STATUS_OK);
    char *rcode = ldns_pkt_rcode2str(ldns_pkt_get_rcode(p));
    int at = snprintf(out, sizeof out, "%s%s%s%s%s%s%s", rcode, ldns_pkt_aa(p) ? " aa" : "",
                      ldns_pkt_tc(p) ? " tc" : "", ldns_pkt_rd(p) ? " rd" : "", ldns_pkt_ra(p) ? " ra" : "",
                      ldns_pkt_ad(p) ? " ad" : "", ldns_pkt_cd(p) ? " cd" : "");
    const ldns_rr_list *const lists[] = {ldns_pkt_answer(p), ldns_pkt_authority(p), ldns_pkt_additional(p)};
    for (int i = 0; i < 3; i++) {
        char *text = ldns_rr_list2str(lists[i]);
        at += snprintf(out + at, sizeof out - (size_t)at, "|%s", text);
        free(text);
    }
    for (char *c = out; *c; c++)
        if (*c == '\t' || *c == '\n')
            *c = ' ';
    free(rcode);
    ldns_pkt_free(p);
    return out;
}

static void query_says_only_what_an_upstream_needs(void **state)
{
    (void)state;
    struct asked a;
    ask(&a, "wWw.corp.example", DNS_AAAA, RD | CD | AD, 4000);
    assert_string_equal(text_of(a.query, a.query_len), "NOERROR rd cd|||");
    assert_int_equal(wire_get16(a.query), ID);
    assert_memory_equal(a.query + 12, a.msg + 12, a.q.question_len);
    const uint8_t *opt = a.query + 12 + a.q.question_len;
    assert_int_equal(wire_get16(opt + 3), 1232);
    assert_int_equal(opt[7], 0x80);
    ask(&a, "www.corp.example", DNS_A, 0, 0);
    assert_string_equal(text_of(a.query, a.query_len), "NOERROR rd|||");
}

static enum relay_match match(const struct asked *a, const uint8_t *msg, size_t len)
{
    return relay_match(a->query, a->query_len, msg, len);
}

static void only_its_answer_answers_a_query(void **state)
{
    (void)state;
    struct asked a, other;
    struct made m;
    ask(&a, "wWw.corp.example", DNS_A, RD, 0);
    make(&m, &a);
    size_t len = wr_finish(&m.w, ID, QR);
    assert_int_equal(match(&a, m.msg, len), RELAY_ANSWER);
    for (size_t cut = 0; cut < len; cut++)
        assert_int_equal(match(&a, m.msg, cut), RELAY_OTHER);
    wr_finish(&m.w, ID + 1, QR);
    assert_int_equal(match(&a, m.msg, len), RELAY_OTHER);
    wr_finish(&m.w, ID, 0);
    assert_int_equal(match(&a, m.msg, len), RELAY_OTHER);
    wr_finish(&m.w, ID, QR | 0x2000);
    assert_int_equal(match(&a, m.msg, len), RELAY_OTHER);
    ask(&other, "www.corp.example", DNS_AAAA, RD, 0);
    make(&m, &other);
    assert_int_equal(match(&a, m.msg, wr_finish(&m.w, ID, QR)), RELAY_OTHER);
    ask(&other, "ww.corp.example", DNS_A, RD, 0);
    make(&m, &other);
    assert_int_equal(match(&a, m.msg, wr_finish(&m.w, ID, QR)), RELAY_OTHER);
}

static void case_of_the_question_reveals_a_guess(void **state)
{
    (void)state;
    static const uint8_t random[RELAY_CASE_LEN] = {0x0a, 0x41}; /* octets 1, 3, 8 and 14 of the name */
    struct asked a, other;
    struct made m;
    ask(&a, "WWW.2[corp.example", DNS_A, RD, 1232);
    relay_set_case(a.query, random);
    assert_memory_equal(a.query + WIRE_HEADER_LEN,
                        "\3WwW\6"
                        "2[cOrp"
                        "\7"
                        "exAmple",
                        20);
    ask(&other, "www.2[corp.example", DNS_A, RD, 1232);
    make(&m, &other);
    size_t len = wr_finish(&m.w, ID, QR);
    assert_int_equal(match(&a, m.msg, len), RELAY_OTHER_CASE);
    make(&m, &a);
    assert_int_equal(match(&a, m.msg, wr_finish(&m.w, ID, QR)), RELAY_ANSWER);
    relay_set_case(a.query, NULL);
    assert_memory_equal(a.query + WIRE_HEADER_LEN, other.query + WIRE_HEADER_LEN, a.q.question_len);
}

static void edns_can_be_left_out_and_taken_in(void **state)
{
    (void)state;
    struct asked a;
    uint8_t before[RELAY_QUERY_MAX];
    ask(&a, "www.corp.example", DNS_A, RD, 4000);
    memcpy(before, a.query, a.query_len);
    size_t bare = relay_set_edns(a.query, false);
    assert_int_equal(bare, WIRE_HEADER_LEN + a.q.question_len);
    assert_string_equal(text_of(a.query, bare), "NOERROR rd|||");
    struct query q;
    query_read(a.query, bare, &q);
    assert_true(q.verdict == QUERY_OK && !q.has_edns);
    assert_int_equal(relay_set_edns(a.query, true), a.query_len);
    assert_memory_equal(a.query, before, a.query_len);
}

static void header_question_and_opt_become_ours(void **state)
{
    (void)state;
    struct asked a;
    struct made m;
    uint8_t out[RELAY_RESPONSE_MAX];
    struct wr_opt opt = {.size = 4096, .ede = 18, .nsid = (const uint8_t *)"up", .nsid_len = 2};
    ask(&a, "WWW.corp.example", DNS_A, RD | CD, 4000);
    make(&m, &a);
    add(&m, WR_ANSWER, "www.corp.example", DNS_CNAME, 300, "web.corp.example");
    add(&m, WR_ANSWER, "web.corp.example", DNS_A, 200, "10.0.0.1");
    add(&m, WR_AUTHORITY, "corp.example", DNS_NS, 100, "ns.corp.example");
    add(&m, WR_ADDITIONAL, "ns.corp.example", DNS_A, 90, "10.0.0.2");
    assert_int_equal(wr_opt_put(&m.w, &opt), 0);
    mem_auto struct relay_msg *r = read_made(&m, &a, AA | AD | RA);
    assert_int_equal(r->ttl_s, 90);
    struct relay_client c = client_of(&a);
    c.age_s = 95;
    size_t len = relay_write(r, &c, out);
    assert_string_equal(text_of(out, len),
                        "NOERROR rd ra cd|WWW.corp.example. 205 IN CNAME web.corp.example. "
                        "web.corp.example. 105 IN A 10.0.0.1 |corp.example. 5 IN NS ns.corp.example. "
                        "|ns.corp.example. 0 IN A 10.0.0.2 ");
    assert_int_equal(wire_get16(out), 0x7777);
    const uint8_t *ours = out + len - 11;
    assert_int_equal(wire_get16(ours + 1), DNS_OPT);
    assert_int_equal(wire_get16(ours + 3), 1232);
    assert_int_equal(ours[7], 0x80);
    assert_int_equal(wire_get16(ours + 9), 0);
}

static void records_after_opt_are_left_out(void **state)
{
    (void)state;
    struct asked a;
    struct made m;
    uint8_t out[RELAY_RESPONSE_MAX];
    struct wr_opt opt = {.size = 4096, .ede = DNS_EDE_NONE};
    ask(&a, "www.corp.example", DNS_A, RD, 0);
    make(&m, &a);
    add(&m, WR_ANSWER, "www.corp.example", DNS_A, 300, "10.0.0.1");
    assert_int_equal(wr_opt_put(&m.w, &opt), 0);
    add(&m, WR_ADDITIONAL, "x.example", DNS_A, 1, "10.0.0.2");
    mem_auto struct relay_msg *r = read_made(&m, &a, 0);
    struct relay_client c = client_of(&a);
    assert_int_equal(r->ttl_s, 300);
    assert_string_equal(text_of(out, relay_write(r, &c, out)),
                        "NOERROR rd ra|www.corp.example. 300 IN A 10.0.0.1 ||");
}

static void how_long_an_answer_is_kept(void **state)
{
    (void)state;
    static const struct {
        unsigned rcode;
        uint32_t a_ttl_s, soa_ttl_s; /* UINT32_MAX: no such record; the SOA's minimum is 30 */
        uint32_t wanted_s;
        bool is_negative;
    } cases[] = {
        {DNS_NOERROR, 300, UINT32_MAX, 300, false},
        {DNS_NOERROR, 0, UINT32_MAX, 0, false},
        {DNS_NOERROR, 10000000, UINT32_MAX, 10000000, false},
        {DNS_NOERROR, 0x80000001, UINT32_MAX, 0, false},
        {DNS_NOERROR, 300, 200, 200, false},
        {DNS_NOERROR, UINT32_MAX, 200, 30, true},
        {DNS_NOERROR, UINT32_MAX, 20, 20, true},
        {DNS_NOERROR, UINT32_MAX, UINT32_MAX, 0, false},
        {DNS_NXDOMAIN, UINT32_MAX, 200, 30, true},
        {DNS_NXDOMAIN, UINT32_MAX, UINT32_MAX, 0, true},
        {DNS_SERVFAIL, UINT32_MAX, 200, 1, false},
        {DNS_REFUSED, UINT32_MAX, 200, 0, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct asked a;
        struct made m;
        ask(&a, "www.corp.example", DNS_A, RD, 0);
        make(&m, &a);
        if (cases[i].a_ttl_s != UINT32_MAX)
            add(&m, WR_ANSWER, "www.corp.example", DNS_A, cases[i].a_ttl_s, "10.0.0.1");
        if (cases[i].soa_ttl_s != UINT32_MAX)
            add(&m, WR_AUTHORITY, "corp.example", DNS_SOA, cases[i].soa_ttl_s, "corp.example");
        mem_auto struct relay_msg *r = read_made(&m, &a, cases[i].rcode);
        if (r->ttl_s != cases[i].wanted_s || r->is_negative != cases[i].is_negative)
            fail_msg("row %zu: %u s, negative: %d", i, r->ttl_s, r->is_negative);
    }
}

static void negative_ttl_can_be_lowered(void **state)
{
    (void)state;
    struct asked a;
    struct made m;
    uint8_t out[RELAY_RESPONSE_MAX];
    ask(&a, "www.corp.example", DNS_A, 0, 0);
    make(&m, &a);
    add(&m, WR_AUTHORITY, "corp.example", DNS_SOA, 900, "corp.example");
    mem_auto struct relay_msg *r = read_made(&m, &a, DNS_NXDOMAIN);
    struct relay_client c = client_of(&a);
    c.ttl_most_s = 5;
    assert_non_null(strstr(text_of(out, relay_write(r, &c, out)), "NXDOMAIN ra||corp.example. 5 IN SOA"));
    c.age_s = 2;
    assert_non_null(strstr(text_of(out, relay_write(r, &c, out)), "NXDOMAIN ra||corp.example. 3 IN SOA"));
}

static void client_gets_what_it_can_take(void **state)
{
    (void)state;
    static const struct {
        unsigned size;
        bool is_tcp;
        size_t most;
        bool is_truncated, has_additional;
    } cases[] = {
        {0, false, 512, true, false},     {100, false, 512, true, false}, {1000, false, 1000, false, false},
        {4096, false, 1232, false, true}, {0, true, 65535, false, true},
    };
    struct made m;
    struct asked a;
    uint8_t out[RELAY_RESPONSE_MAX];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ask(&a, "www.corp.example", DNS_A, RD, cases[i].size);
        make(&m, &a);
        for (int n = 0; n < 50; n++)
            add(&m, WR_ANSWER, "www.corp.example", DNS_A, 300, "10.0.0.1");
        for (int n = 0; n < 20; n++)
            add(&m, WR_ADDITIONAL, "www.corp.example", DNS_A, 300, "10.0.0.2");
        mem_auto struct relay_msg *r = read_made(&m, &a, 0);
        struct relay_client c = client_of(&a);
        c.is_tcp = cases[i].is_tcp;
        size_t len = relay_write(r, &c, out);
        text_of(out, len);
        assert_true(len <= cases[i].most);
        assert_int_equal(!!(wire_get16(out + 2) & TC), cases[i].is_truncated);
        assert_int_equal(wire_get16(out + 6), cases[i].is_truncated ? 0 : 50);
        assert_int_equal(wire_get16(out + 10), (cases[i].has_additional ? 20 : 0) + (cases[i].size ? 1 : 0));
    }
}

static void referral_without_its_glue_is_truncated(void **state)
{
    (void)state;
    struct asked a;
    struct made m;
    uint8_t out[RELAY_RESPONSE_MAX];
    ask(&a, "www.corp.example", DNS_A, RD, 0);
    make(&m, &a);
    add(&m, WR_AUTHORITY, "corp.example", DNS_NS, 300, "ns.corp.example");
    for (int n = 0; n < 40; n++)
        add(&m, WR_ADDITIONAL, "ns.corp.example", DNS_A, 300, "10.0.0.2");
    mem_auto struct relay_msg *r = read_made(&m, &a, 0);
    struct relay_client c = client_of(&a);
    assert_string_equal(text_of(out, relay_write(r, &c, out)),
                        "NOERROR tc rd ra||corp.example. 300 IN NS ns.corp.example. |");
}

static void failure_says_why(void **state)
{
    (void)state;
    struct asked a;
    uint8_t out[RELAY_RESPONSE_MAX];
    ask(&a, "www.corp.example", DNS_A, RD, 1232);
    mem_auto struct relay_msg *r = relay_failure(a.query, a.query_len, 22);
    struct relay_client c = client_of(&a);
    size_t len = relay_write(r, &c, out);
    assert_string_equal(text_of(out, len), "SERVFAIL rd ra|||");
    assert_memory_equal(out + len - 6, "\0\x0f\0\2\0\x16", 6);
}

/** A query with these octets of options. */
static void ask_with_options(struct asked *a, const char *name, const char *options, size_t n)
{
    ask(a, name, DNS_A, RD, 1232);
    memcpy(a->msg + a->len, options, n);
    wire_put16(a->msg + a->len - 2, (unsigned)n);
    a->len += n;
    query_read(a->msg, a->len, &a->q);
    assert_int_equal(a->q.verdict, QUERY_OK);
}

/* NSID, keepalive, padding. */
static const char options[] = "\0\3\0\0\0\x0b\0\0\0\x0c\0\0";

static void options_are_answered_from_hop_to_hop(void **state)
{
    (void)state;
    struct asked a;
    struct made m;
    uint8_t out[RELAY_RESPONSE_MAX];
    ask_with_options(&a, "www.corp.example", options, sizeof options - 1);
    make(&m, &a);
    add(&m, WR_ANSWER, "www.corp.example", DNS_A, 60, "10.0.0.1");
    mem_auto struct relay_msg *r = read_made(&m, &a, 0);
    struct relay_client c = client_of(&a);
    c.nsid = (const uint8_t *)"here";
    c.nsid_len = 4;
    c.keepalive_100ms = 0x1234;
    size_t over_udp = relay_write(r, &c, out);
    assert_non_null(memmem(out, over_udp, "\0\3\0\4here", 8));
    assert_null(memmem(out, over_udp, "\x12\x34", 2));
    c.is_tcp = true;
    size_t over_tcp = relay_write(r, &c, out);
    assert_int_equal(over_tcp, over_udp + 6);
    assert_non_null(memmem(out, over_tcp, "\0\x0b\0\2\x12\x34", 6));
    c.is_tls = true;
    assert_int_equal(relay_write(r, &c, out) % RELAY_PADDING_BLOCK, 0);
    ask(&a, "www.corp.example", DNS_A, RD, 1232);
    assert_true(relay_write(r, &c, out) < over_udp);
}

static void longest_failure_has_room(void **state)
{
    (void)state;
    char name[256];
    for (int i = 0; i < 253; i++)
        name[i] = i % 64 == 63 ? '.' : 'x';
    name[253] = 0;
    struct asked a;
    uint8_t cookie[COOKIE_LEN], nsid[RELAY_NSID_MAX] = {0};
    ask_with_options(&a, name, options, sizeof options - 1);
    memset(cookie, 7, sizeof cookie);
    mem_auto uint8_t *out = mem_alloc(RELAY_FAILURE_MAX);
    mem_auto struct relay_msg *r = relay_failure(a.query, a.query_len, 23);
    struct relay_client c = client_of(&a);
    c.cookie = cookie;
    c.nsid = nsid;
    c.nsid_len = sizeof nsid;
    c.is_tcp = c.is_tls = true;
    size_t len = relay_write(r, &c, out);
    assert_true(len <= RELAY_FAILURE_MAX && len > RELAY_QUERY_MAX + COOKIE_LEN + RELAY_NSID_MAX);
    assert_non_null(memmem(out, len, cookie, sizeof cookie));
}

/** Every cut of a good answer is refused; any octet of it changed does no harm (the sanitizers watch). */
static void damaged_answers(void **state)
{
    (void)state;
    struct asked a;
    struct made m;
    struct relay_msg *r = NULL;
    ask(&a, "www.corp.example", DNS_A, RD, 0);
    make(&m, &a);
    add(&m, WR_ANSWER, "www.corp.example", DNS_CNAME, 300, "web.corp.example");
    add(&m, WR_AUTHORITY, "corp.example", DNS_SOA, 300, "corp.example");
    size_t len = wr_finish(&m.w, ID, QR);
    for (size_t cut = 0; cut < len; cut++) {
        mem_auto uint8_t *exact = mem_copy(m.msg, cut ? cut : 1);
        assert_int_equal(relay_read(a.query, a.query_len, exact, cut, &r), ERR_PARSE);
    }
    for (size_t at = 0; at < len * 256; at++) {
        mem_auto uint8_t *exact = mem_copy(m.msg, len);
        exact[at / 256] = (uint8_t)at;
        if (relay_read(a.query, a.query_len, exact, len, &r))
            continue;
        uint8_t names[ANSWER_LINKS_MAX][NAME_MAX_LEN];
        struct answer_links links;
        struct relay_client c = client_of(&a);
        relay_links(r, &c, names, &links);
        free(r);
    }
}

/** "ttl target" of each alias. */
static const char *links_of(struct made *m, const struct asked *a, uint32_t age_s)
{
    static char out[ANSWER_LINKS_MAX * (NAME_TEXT_MAX + 16)];
    char name[NAME_TEXT_MAX];
    uint8_t names[ANSWER_LINKS_MAX][NAME_MAX_LEN];
    struct answer_links links;
    mem_auto struct relay_msg *r = read_made(m, a, 0);
    struct relay_client c = client_of(a);
    c.age_s = age_s;
    c.ttl_most_s = 100;
    out[0] = 0;
    relay_links(r, &c, names, &links);
    for (unsigned i = 0; i < links.n; i++)
        sprintf(out + strlen(out), "%u %s ", links.items[i].ttl_s, name_to_text(links.items[i].target, name));
    return out;
}

static void aliases_are_read_in_their_order(void **state)
{
    (void)state;
    struct asked a;
    struct made m;
    ask(&a, "WWW.corp.example", DNS_A, RD, 0);
    relay_set_case(a.query, NULL);
    make(&m, &a);
    add(&m, WR_ANSWER, "cdn.corp.example", DNS_CNAME, 50, "web.dev.test");
    add(&m, WR_ANSWER, "other.example", DNS_CNAME, 50, "cdn.corp.example");
    add(&m, WR_ANSWER, "www.corp.example", DNS_CNAME, 300, "cdn.corp.example");
    add(&m, WR_ANSWER, "web.dev.test", DNS_A, 50, "10.0.0.1");
    assert_string_equal(links_of(&m, &a, 60), "40 cdn.corp.example. 0 web.dev.test. ");
    a.q.qtype = DNS_CNAME;
    assert_string_equal(links_of(&m, &a, 60), "");
    ask(&a, "w.corp.example", DNS_A, RD, 0);
    make(&m, &a);
    add(&m, WR_ANSWER, "w.corp.example", DNS_CNAME, 300, "w.corp.example");
    assert_string_equal(links_of(&m, &a, 0), "");
    make(&m, &a);
    add(&m, WR_ANSWER, "w.corp.example", DNS_A, 300, "10.0.0.1");
    assert_string_equal(links_of(&m, &a, 0), "");
}

static void names_that_lead_nowhere(void **state)
{
    (void)state;
    static const char *const owners[] = {
        "\xc0\x22", /* itself: after a header and the question of 22 octets */
        "\xc0\x23", "\xc0\x0b", "\xff\xff", "\x01z\xc0\x22", "\x40z",
    };
    struct asked a;
    struct relay_msg *r = NULL;
    ask(&a, "www.corp.example", DNS_A, RD, 0);
    for (size_t i = 0; i < sizeof owners / sizeof *owners; i++) {
        uint8_t msg[128] = {0};
        size_t n = strlen(owners[i]), at = 12 + a.q.question_len;
        memcpy(msg, a.query, at);
        wire_put16(msg + 2, QR);
        wire_put16(msg + 6, 1);
        wire_put16(msg + 10, 0);
        assert_int_equal(at, 0x22);
        memcpy(msg + at, owners[i], n);
        memcpy(msg + at + n, "\0\1\0\1\0\0\0\1\0\4\1\2\3\4", 14);
        if (relay_read(a.query, a.query_len, msg, at + n + 14, &r) != ERR_PARSE)
            fail_msg("owner %zu was taken", i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(query_says_only_what_an_upstream_needs),
        cmocka_unit_test(only_its_answer_answers_a_query),
        cmocka_unit_test(case_of_the_question_reveals_a_guess),
        cmocka_unit_test(edns_can_be_left_out_and_taken_in),
        cmocka_unit_test(header_question_and_opt_become_ours),
        cmocka_unit_test(records_after_opt_are_left_out),
        cmocka_unit_test(how_long_an_answer_is_kept),
        cmocka_unit_test(negative_ttl_can_be_lowered),
        cmocka_unit_test(client_gets_what_it_can_take),
        cmocka_unit_test(referral_without_its_glue_is_truncated),
        cmocka_unit_test(failure_says_why),
        cmocka_unit_test(options_are_answered_from_hop_to_hop),
        cmocka_unit_test(longest_failure_has_room),
        cmocka_unit_test(damaged_answers),
        cmocka_unit_test(aliases_are_read_in_their_order),
        cmocka_unit_test(names_that_lead_nowhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

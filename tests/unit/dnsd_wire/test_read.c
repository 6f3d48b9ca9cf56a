/* Queries, well-formed and not. Messages live in blocks of exactly their size, so a read past the end is a fault. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "wire/read.h"

#define HEAD        "\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00"
#define HEAD_1_MORE "\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x01"
#define QUESTION    "\3www\3dev\4test\0\0\1\0\1"
#define OPT         "\0\0\x29\x10\x00\0\0\x80\0\0\0"
/** OPT whose options take that many octets. */
#define OPT_WITH(len) "\0\0\x29\x10\x00\0\0\0\0\0" len
#define BYTES(s)      s, sizeof(s) - 1

static void read_exact(const char *bytes, size_t len, struct query *q)
{
    uint8_t *msg = malloc(len ? len : 1);
    memcpy(msg, bytes, len);
    query_read(msg, len, q);
    free(msg);
}

static void a_query_is_understood(void **state)
{
    (void)state;
    struct query q;
    read_exact(BYTES(HEAD_1_MORE QUESTION OPT), &q);
    assert_int_equal(q.verdict, QUERY_OK);
    assert_int_equal(q.id, 0x1234);
    assert_int_equal(q.opcode, 0);
    assert_int_equal(q.qtype, 1);
    assert_int_equal(q.qclass, 1);
    assert_int_equal(q.question_len, 18);
    assert_int_equal(q.name.n_labels, 3);
    assert_true(q.has_edns && q.wants_dnssec);
    assert_int_equal(q.edns_size, 4096);
    assert_int_equal(q.edns_version, 0);
    assert_false(q.wants_nsid);
    read_exact(BYTES(HEAD QUESTION), &q);
    assert_int_equal(q.verdict, QUERY_OK);
    assert_false(q.has_edns);
}

static void verdicts(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        const char *msg;
        size_t len;
        enum query_verdict wanted;
    } cases[] = {
        {"empty", "", 0, QUERY_DROP},
        {"five octets", "\x12\x34\1\0\0", 5, QUERY_DROP},
        {"eleven octets", HEAD, 11, QUERY_DROP},
        {"a response", BYTES("\x12\x34\x81\x00\x00\x01\x00\x00\x00\x00\x00\x00" QUESTION), QUERY_DROP},
        {"a malformed response", BYTES("\x12\x34\x81\x00\x00\x09\x00\x00\x00\x00\x00\x00"), QUERY_DROP},
        {"header only", BYTES(HEAD), QUERY_FORMERR},
        {"no question", BYTES("\x12\x34\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00"), QUERY_FORMERR},
        {"two questions", BYTES("\x12\x34\x01\x00\x00\x02\x00\x00\x00\x00\x00\x00" QUESTION QUESTION),
         QUERY_FORMERR},
        {"cut name", BYTES(HEAD "\3ww"), QUERY_FORMERR},
        {"cut type", BYTES(HEAD "\3www\0\0\1\0"), QUERY_FORMERR},
        {"label over 63", BYTES(HEAD "\x40www\0\0\1\0\1"), QUERY_FORMERR},
        {"pointer to itself", BYTES(HEAD "\xc0\x0c\0\1\0\1"), QUERY_FORMERR},
        {"more records promised", BYTES(HEAD_1_MORE QUESTION), QUERY_FORMERR},
        {"cut record", BYTES(HEAD_1_MORE QUESTION "\0\0\1\0\1\0\0\0"), QUERY_FORMERR},
        {"rdata past the end", BYTES(HEAD_1_MORE QUESTION "\0\0\1\0\1\0\0\0\0\0\5abcd"), QUERY_FORMERR},
        {"half a pointer as owner", BYTES(HEAD_1_MORE QUESTION "\xc0"), QUERY_FORMERR},
        {"compressed owner", BYTES(HEAD_1_MORE QUESTION "\xc0\x0c\0\1\0\1\0\0\0\0\0\4abcd"), QUERY_OK},
        {"two OPTs", BYTES("\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x02" QUESTION OPT OPT),
         QUERY_FORMERR},
        {"OPT with an owner", BYTES(HEAD_1_MORE QUESTION "\1a\0\0\x29\x10\x00\0\0\x80\0\0\0"), QUERY_FORMERR},
        {"OPT in authority", BYTES("\x12\x34\x01\x00\x00\x01\x00\x00\x00\x01\x00\x00" QUESTION OPT),
         QUERY_FORMERR},
        {"cut option", BYTES(HEAD_1_MORE QUESTION "\0\0\x29\x10\x00\0\0\0\0\0\5\0\3\0\2a"), QUERY_FORMERR},
        {"half an option head", BYTES(HEAD_1_MORE QUESTION "\0\0\x29\x10\x00\0\0\0\0\0\2\0\3"),
         QUERY_FORMERR},
        {"unknown option", BYTES(HEAD_1_MORE QUESTION "\0\0\x29\x10\x00\0\0\0\0\0\6\0\x64\0\2ab"), QUERY_OK},
        {"client cookie of seven octets", BYTES(HEAD_1_MORE QUESTION OPT_WITH("\013") "\0\012\0\0071234567"),
         QUERY_FORMERR},
        {"server cookie of seven octets",
         BYTES(HEAD_1_MORE QUESTION OPT_WITH("\023") "\0\012\0\017123456781234567"), QUERY_FORMERR},
        {"cookie of 41 octets",
         BYTES(HEAD_1_MORE QUESTION OPT_WITH("\055") "\0\012\0\05112345678901234567890123456789012345678901"),
         QUERY_FORMERR},
        {"cut option of a later EDNS version", BYTES(HEAD_1_MORE QUESTION "\0\0\x29\x10\x00\0\1\0\0\0\1\0"),
         QUERY_OK},
        {"no question but a cookie",
         BYTES("\x12\x34\0\0\0\0\0\0\0\0\0\1" OPT_WITH("\014") "\0\012\0\01012345678"), QUERY_OK},
        {"no question, no cookie, OPT", BYTES("\x12\x34\0\0\0\0\0\0\0\0\0\1" OPT), QUERY_FORMERR},
        {"octets after the end", BYTES(HEAD QUESTION "garbage"), QUERY_OK},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct query q;
        read_exact(cases[i].msg, cases[i].len, &q);
        if (q.verdict != cases[i].wanted)
            fail_msg("%s: verdict %d", cases[i].what, (int)q.verdict);
    }
}

static void options_are_noted(void **state)
{
    (void)state;
    static const char msg[] = HEAD_1_MORE QUESTION OPT_WITH("\x2c") "\0\3\0\0"
                                                                    "\0\013\0\0"
                                                                    "\0\014\0\4\0\0\0\0"
                                                                    "\0\012\0\01012345678"
                                                                    "\0\012\0\01087654321"
                                                                    "\0\x64\0\0";
    struct query q;
    query_read((const uint8_t *)msg, sizeof msg - 1, &q);
    assert_int_equal(q.verdict, QUERY_OK);
    assert_true(q.wants_nsid && q.wants_keepalive && q.wants_padding);
    assert_int_equal(q.cookie_len, 8); /* the first of two counts */
    assert_memory_equal(q.cookie, "12345678", 8);
    query_read((const uint8_t *)HEAD QUESTION, sizeof(HEAD QUESTION) - 1, &q);
    assert_false(q.wants_nsid || q.wants_keepalive || q.wants_padding || q.cookie_len);
}

/** Every cut of a good message, and every changed octet of it, ends in a verdict. */
static void no_damage_leads_outside(void **state)
{
    (void)state;
    static const char whole[] = HEAD_1_MORE QUESTION "\0\0\x29\x10\x00\0\0\x80\0\0\x04\0\3\0\0";
    struct query q;
    for (size_t len = 0; len < sizeof whole - 1; len++) {
        read_exact(whole, len, &q);
        assert_int_equal(q.verdict, len < 12 ? QUERY_DROP : QUERY_FORMERR);
    }
    read_exact(whole, sizeof whole - 1, &q);
    assert_true(q.verdict == QUERY_OK && q.wants_nsid);
    for (size_t at = 0; at < sizeof whole - 1; at++) {
        for (int value = 0; value < 256; value++) {
            char changed[sizeof whole];
            memcpy(changed, whole, sizeof whole);
            changed[at] = (char)value;
            read_exact(changed, sizeof whole - 1, &q);
            assert_in_range(q.verdict, QUERY_DROP, QUERY_OK);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_query_is_understood),
        cmocka_unit_test(verdicts),
        cmocka_unit_test(options_are_noted),
        cmocka_unit_test(no_damage_leads_outside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

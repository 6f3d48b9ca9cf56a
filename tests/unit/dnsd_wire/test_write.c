/* Writing: compression, case, rotation, whole sets, OPT. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "bobbin/error.h"
#include "wire/rdata.h"
#include "wire/write.h"

#define QUESTION "\3WWW\3dev\4test\0\0\1\0\1"
#define BYTES(s) (const uint8_t *)(s), sizeof(s) - 1
#define RR_A(d)  "\xc0\x0c\0\1\0\1\0\0\0\x1e\0\4\x0a\0\0" d

static uint8_t msg[65535];

static struct wr begin(size_t cap)
{
    struct wr w;
    wr_begin(&w, msg, cap);
    assert_int_equal(wr_question(&w, BYTES(QUESTION)), 0);
    return w;
}

static struct wire_set set_of(const uint8_t *wire, size_t len, uint32_t n_rrs, uint16_t type)
{
    return (struct wire_set){wire, (uint32_t)len, n_rrs, type, UINT32_MAX, 0};
}

static void stored_wire_is_copied(void **state)
{
    (void)state;
    struct wr w = begin(512);
    struct wire_set set = set_of(BYTES(RR_A("\1") RR_A("\2") RR_A("\3")), 3, DNS_A);
    set.first = 1;
    assert_int_equal(wr_rrset_at(&w, WR_ANSWER, WR_OWNER_QUESTION, &set), 0);
    assert_int_equal(wr_finish(&w, 7, 0x8400), 12 + 18 + 48);
    assert_memory_equal(msg, "\0\7\x84\0\0\1\0\3\0\0\0\0" QUESTION RR_A("\2") RR_A("\3") RR_A("\1"),
                        12 + 18 + 48);
}

static void another_owner_is_patched_in(void **state)
{
    (void)state;
    struct wr w = begin(512);
    struct wire_set set = set_of(BYTES(RR_A("\1") RR_A("\2")), 2, DNS_A);
    assert_int_equal(wr_rrset_at(&w, WR_ADDITIONAL, 16, &set), 0);
    assert_memory_equal(msg + 30, "\xc0\x10\0\1", 4);
    assert_memory_equal(msg + 46, "\xc0\x10\0\1", 4);
}

static void names_are_compressed(void **state)
{
    (void)state;
    struct wr w = begin(512);
    static const char cname[] = "\xc0\x0c\0\5\0\1\0\0\0\x1e\0\x0c\1b\3dev\4test";
    struct wire_set set = set_of((const uint8_t *)cname, sizeof cname, 1, DNS_CNAME);
    assert_int_equal(wr_rrset_at(&w, WR_ANSWER, WR_OWNER_QUESTION, &set), 0);
    assert_memory_equal(msg + 30, "\xc0\x0c\0\5\0\1\0\0\0\x1e\0\4\1b\xc0\x10", 16);
    /* The owner of the next is the name just written; SRV targets stay whole (RFC 2782). */
    static const char srv[] = "\xc0\x0c\0\x21\0\1\0\0\0\x1e\0\x12\0\1\0\1\0\2\1b\3dev\4test";
    set = set_of((const uint8_t *)srv, sizeof srv, 1, DNS_SRV);
    assert_int_equal(wr_rrset(&w, WR_ADDITIONAL, (const uint8_t *)"\1B\3dev\4TEST", &set), 0);
    assert_memory_equal(msg + 46, "\xc0\x2a\0\x21\0\1\0\0\0\x1e\0\x12\0\1\0\1\0\2\1b\3dev\4test",
                        2 + 10 + 18);
    assert_int_equal(w.len, 76);
}

/** What an earlier message left in the buffer looks like the rest of the name that is being written. */
static void a_name_is_no_target_for_itself(void **state)
{
    (void)state;
    struct wr w = begin(512);
    static const char cname[] = "\xc0\x0c\0\5\0\1\0\0\0\x1e\0\x10\1a\1a\1a\3dev\4test";
    memcpy(msg + 42, "\1a\1a\3dev\4test", 14);
    struct wire_set set = set_of((const uint8_t *)cname, sizeof cname, 1, DNS_CNAME);
    assert_int_equal(wr_rrset_at(&w, WR_ANSWER, WR_OWNER_QUESTION, &set), 0);
    assert_memory_equal(msg + 42, "\1a\1a\1a\xc0\x10", 8);
}

static void soa_names_and_ttl(void **state)
{
    (void)state;
    struct wr w = begin(512);
    static const char soa[] = "\xc0\x0c\0\6\0\1\0\0\x0e\x10\0\x29\2ns\3dev\4test\0\4host\1x\0"
                              "\0\0\0\1\0\0\0\2\0\0\0\3\0\0\0\4\0\0\0\5";
    struct wire_set set = set_of(BYTES(soa), 1, DNS_SOA);
    set.ttl_max_s = 5;
    assert_int_equal(wr_rrset(&w, WR_AUTHORITY, (const uint8_t *)"\3dev\4test", &set), 0);
    assert_memory_equal(msg + 30, "\xc0\x10\0\6\0\1\0\0\0\5\0\x21\2ns\xc0\x10\4host\1x\0\0\0\0\1",
                        12 + 5 + 8 + 4);
    assert_int_equal(w.len, 30 + 12 + 33);
}

static void a_set_that_does_not_fit_leaves_nothing(void **state)
{
    (void)state;
    struct wire_set set = set_of(BYTES(RR_A("\1") RR_A("\2")), 2, DNS_A);
    struct wr w = begin(12 + 18 + 31);
    assert_int_equal(wr_rrset_at(&w, WR_ANSWER, WR_OWNER_QUESTION, &set), ERR_NOSPC);
    assert_int_equal(w.len, 30);
    assert_int_equal(wr_rrset(&w, WR_ANSWER, (const uint8_t *)"\5other", &set), ERR_NOSPC);
    assert_int_equal(w.len, 30);
    assert_int_equal(wr_finish(&w, 1, 0), 30);
    assert_int_equal(wire_get16(msg + 6), 0);
    w = begin(12 + 18 + 32);
    assert_int_equal(wr_rrset_at(&w, WR_ANSWER, WR_OWNER_QUESTION, &set), 0);
}

static void opt_record(void **state)
{
    (void)state;
    struct wr w = begin(512);
    struct wr_opt opt = {.size = 1232,
                         .rcode_high = 1,
                         .is_dnssec = true,
                         .ede = 14,
                         .nsid = (const uint8_t *)"id",
                         .nsid_len = 2};
    assert_int_equal(wr_opt_len(&opt), 11 + 6 + 6);
    assert_int_equal(wr_opt_put(&w, &opt), 0);
    assert_memory_equal(msg + 30, "\0\0\x29\x04\xd0\1\0\x80\0\0\x0c\0\x0f\0\2\0\x0e\0\3\0\2id", 23);
    wr_finish(&w, 1, 0);
    assert_int_equal(wire_get16(msg + 10), 1);
    w = begin(30 + 22);
    assert_int_equal(wr_opt_put(&w, &opt), ERR_NOSPC);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stored_wire_is_copied),
        cmocka_unit_test(another_owner_is_patched_in),
        cmocka_unit_test(names_are_compressed),
        cmocka_unit_test(a_name_is_no_target_for_itself),
        cmocka_unit_test(soa_names_and_ttl),
        cmocka_unit_test(a_set_that_does_not_fit_leaves_nothing),
        cmocka_unit_test(opt_record),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* What a record type is and can: every row of DNS_TYPES against what the RFCs say of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "bobbin/error.h"
#include "wire/rdata.h"

static const uint16_t rows[] = {
#define NUMBER(arg, token, ...) token,
    DNS_TYPES(NUMBER, )
#undef NUMBER
};
enum { N_ROWS = sizeof rows / sizeof *rows };

static bool contains(const uint16_t *types, size_t n, uint16_t type)
{
    for (size_t i = 0; i < n; i++)
        if (types[i] == type)
            return true;
    return false;
}

/* Rdata by type; wanted 0 or ERR_PARSE. */
static const struct sample {
    uint16_t type;
    const char *rdata;
    size_t len;
    int wanted;
} samples[] = {
    {DNS_A, "\1\2\3\4", 4, 0},
    {DNS_A, "\1\2\3", 3, ERR_PARSE},
    {DNS_A, "\1\2\3\4\5", 5, ERR_PARSE},
    {DNS_AAAA, "0123456789abcdef", 16, 0},
    {DNS_AAAA, "\1\2\3\4", 4, ERR_PARSE},
    {DNS_NS, "\1a\0", 3, 0},
    {DNS_NS, "\1a", 2, ERR_PARSE},
    {DNS_NS, "\1a\0x", 4, ERR_PARSE},
    {DNS_CNAME, "\0", 1, 0},
    {DNS_CNAME, "", 0, ERR_PARSE},
    {DNS_PTR, "\1a\0", 3, 0},
    {DNS_PTR, "\xc0\0", 2, ERR_PARSE},
    {DNS_DNAME, "\1a\0", 3, 0},
    {DNS_DNAME, "\1a\0\0", 4, ERR_PARSE},
    {DNS_MX, "\0\1\1a\0", 5, 0},
    {DNS_MX, "\0\1", 2, ERR_PARSE},
    {DNS_MX, "\0", 1, ERR_PARSE},
    {DNS_MX, "\0\1\1a\0x", 6, ERR_PARSE},
    {DNS_SRV, "\0\1\0\1\0\2\1a\0", 9, 0},
    {DNS_SRV, "\0\1\0\1\0\2", 6, ERR_PARSE},
    {DNS_SRV, "\0\1\0\1\0\2\1a", 8, ERR_PARSE},
    {DNS_TXT, "\1a\0\2bc", 6, 0},
    {DNS_TXT, "", 0, ERR_PARSE},
    {DNS_TXT, "\3ab", 3, ERR_PARSE},
    {DNS_SOA, "\0\0aaaabbbbccccddddeeee", 22, 0},
    {DNS_SOA, "\0\0aaaabbbbccccddddeee", 21, ERR_PARSE},
    {DNS_SOA, "\0\0aaaabbbbccccddddeeeef", 23, ERR_PARSE},
    {DNS_SOA, "\0", 1, ERR_PARSE},
    {65400, "", 0, 0},
};
enum { N_SAMPLES = sizeof samples / sizeof *samples };

static void rdata_is_checked(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_SAMPLES; i++) {
        const struct sample *s = &samples[i];
        if (rdata_check(s->type, (const uint8_t *)s->rdata, s->len) != s->wanted)
            fail_msg("sample %zu, type %u", i, s->type);
    }
}

/** A row that says how its rdata looks has a sample that is right and one that is wrong. */
static void every_form_has_samples(void **state)
{
    (void)state;
    char text[16];
    for (size_t i = 0; i < N_ROWS; i++) {
        bool has_right = false, has_wrong = false;
        for (size_t k = 0; k < N_SAMPLES; k++) {
            has_right |= samples[k].type == rows[i] && !samples[k].wanted;
            has_wrong |= samples[k].type == rows[i] && samples[k].wanted;
        }
        if (dns_type(rows[i])->form != DNS_RDATA_OPAQUE && !(has_right && has_wrong))
            fail_msg("%s has no sample of right and of wrong rdata here", dns_type_text(rows[i], text));
    }
}

static void texts_are_read_back(void **state)
{
    (void)state;
    static const char *const wrong[] = {"", "B", "TYPE", "TYPE0", "TYPE65536", "TYPE-1", "A ", "TYPE1x"};
    char text[16];
    uint16_t type = 7;
    for (size_t i = 0; i < N_ROWS; i++) {
        assert_int_equal(dns_type_read(dns_type_text(rows[i], text), &type), 0);
        assert_int_equal(type, rows[i]);
    }
    assert_int_equal(dns_type_read("aaaa", &type), 0);
    assert_int_equal(type, 28);
    assert_int_equal(dns_type_read("type65400", &type), 0);
    assert_int_equal(type, 65400);
    assert_string_equal(dns_type_text(65400, text), "TYPE65400");
    assert_string_equal(dns_type_text(255, text), "ANY");
    assert_string_equal(dns_type_text(3, text), "TYPE3");
    type = 7;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(dns_type_read(wrong[i], &type), ERR_PARSE);
    assert_int_equal(type, 7);
}

/** RFC 6895 3.1: 0 and 128 to 255 are no data, nor is OPT (41); all others are, known or not. */
static void data_types_are_stored(void **state)
{
    (void)state;
    for (unsigned type = 0; type <= UINT16_MAX; type++) {
        bool is_data = type != 0 && type != 41 && (type < 128 || type > 255);
        if (dns_type_is_data((uint16_t)type) != is_data)
            fail_msg("type %u", type);
    }
}

/** RFC 3597 4: names are compressed in the types of RFC 1035 only. RFC 1035 3.3, RFC 2782: who brings addresses. */
static void only_old_types_are_compressed(void **state)
{
    (void)state;
    static const uint16_t compressed[] = {2, 5, 6, 12, 15}, with_targets[] = {2, 15, 33};
    for (unsigned type = 0; type <= UINT16_MAX; type++) {
        const struct dns_type *t = dns_type((uint16_t)type);
        assert_int_equal(!!(t->can & DNS_COMPRESS), contains(compressed, 5, (uint16_t)type));
        assert_int_equal(!!(t->can & DNS_TARGETS), contains(with_targets, 3, (uint16_t)type));
        /* Both need to know where the names are. */
        assert_true(!t->can || (t->form == DNS_RDATA_NAMES && t->n_names > 0));
    }
}

/** Each TTL belongs to one type, and each type that records yield has one. */
static void ttls_are_of_one_type(void **state)
{
    (void)state;
    static const uint16_t of_records[] = {1, 5, 12, 16, 28, 33};
    unsigned n_types[DNS_N_TTLS] = {0};
    for (unsigned type = 0; type <= UINT16_MAX; type++) {
        const struct dns_type *t = dns_type((uint16_t)type);
        n_types[t->ttl]++;
        assert_int_equal(t->ttl != DNS_TTL_NONE, contains(of_records, 6, (uint16_t)type));
    }
    for (unsigned i = DNS_TTL_NONE + 1; i < DNS_N_TTLS; i++)
        assert_int_equal(n_types[i], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rdata_is_checked),
        cmocka_unit_test(every_form_has_samples),
        cmocka_unit_test(texts_are_read_back),
        cmocka_unit_test(data_types_are_stored),
        cmocka_unit_test(only_old_types_are_compressed),
        cmocka_unit_test(ttls_are_of_one_type),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Names: text and wire, limits, keys. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "bobbin/error.h"
#include "wire/name.h"
#include "wire/rdata.h"

static void text_and_back(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *again; /* NULL: refused */
        int len;
    } cases[] = {
        {".", ".", 1},
        {"dev.test.", "dev.test.", 10},
        {"dev.test", "dev.test.", 10},
        {"A.b", "A.b.", 5},
        {"a\\.b.c", "a\\.b.c.", 7},
        {"a\\046b", "a\\.b.", 5},
        {"my\\032service.x", "my\\032service.x.", 14},
        {"\\255.x", "\\255.x.", 5},
        {"*.x", "*.x.", 5},
        {"@", "\\@.", 3},
        {"", NULL, 0},
        {"..", NULL, 0},
        {".a", NULL, 0},
        {"a..b", NULL, 0},
        {"a\\", NULL, 0},
        {"a\\25", NULL, 0},
        {"a\\256", NULL, 0},
        {"a\\2x5", NULL, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t wire[NAME_MAX_LEN];
        char text[NAME_TEXT_MAX];
        int len = name_from_text(cases[i].text, strlen(cases[i].text), wire);
        if (!cases[i].again) {
            if (len != ERR_PARSE)
                fail_msg("'%s' was taken", cases[i].text);
            continue;
        }
        assert_int_equal(len, cases[i].len);
        assert_string_equal(name_to_text(wire, text), cases[i].again);
    }
}

/** Labels of 63 and names of 255 octets are the largest. */
static void limits(void **state)
{
    (void)state;
    char text[400];
    uint8_t wire[NAME_MAX_LEN];
    memset(text, 'a', sizeof text);
    assert_int_equal(name_from_text(text, 63, wire), 65);
    assert_int_equal(name_from_text(text, 64, wire), ERR_PARSE);
    for (int i = 63; i < 255; i += 64)
        text[i] = '.';
    assert_int_equal(name_from_text(text, 253, wire), 255);
    assert_int_equal(name_len(wire, sizeof wire), 255);
    assert_int_equal(name_from_text(text, 254, wire), ERR_PARSE);
    for (int i = 0; i < 400; i++)
        text[i] = i % 2 ? '.' : 'a';
    assert_int_equal(name_from_text(text, 253, wire), 255);
    assert_int_equal(name_n_labels(wire), 127);
    assert_int_equal(name_from_text(text, 255, wire), ERR_PARSE);
}

static void every_octet_survives(void **state)
{
    (void)state;
    for (int c = 0; c < 256; c++) {
        uint8_t wire[3] = {1, (uint8_t)c, 0}, again[NAME_MAX_LEN];
        char text[NAME_TEXT_MAX];
        name_to_text(wire, text);
        assert_int_equal(name_from_text(text, strlen(text), again), 3);
        assert_memory_equal(wire, again, 3);
    }
}

static void lengths_stay_inside(void **state)
{
    (void)state;
    static const uint8_t good[] = {1, 'a', 0}, open[] = {1, 'a'}, cut[] = {3, 'a', 'b'},
                         pointer[] = {0xc0, 0};
    assert_int_equal(name_len(good, 3), 3);
    assert_int_equal(name_len(good, 2), ERR_PARSE);
    assert_int_equal(name_len(open, 2), ERR_PARSE);
    assert_int_equal(name_len(cut, 3), ERR_PARSE);
    assert_int_equal(name_len(pointer, 2), ERR_PARSE);
    struct name_key key;
    assert_int_equal(name_key_read(good, 3, &key), 3);
    assert_int_equal(name_key_read(open, 2, &key), ERR_PARSE);
    assert_int_equal(name_key_read(cut, 3, &key), ERR_PARSE);
    assert_int_equal(name_key_read(pointer, 2, &key), ERR_PARSE);
    assert_int_equal(name_key_read(good, 0, &key), ERR_PARSE);
}

static void keys_see_no_case_and_share_suffixes(void **state)
{
    (void)state;
    static const uint8_t a[] = "\3WwW\3dev\4test", b[] = "\3www\3DEV\4TEST", c[] = "\3dev\4test";
    struct name_key ka, kb, kc;
    name_key_read(a, sizeof a, &ka);
    name_key_read(b, sizeof b, &kb);
    name_key_read(c, sizeof c, &kc);
    name_key_hash(&ka, 1);
    name_key_hash(&kb, 1);
    name_key_hash(&kc, 1);
    assert_int_equal(ka.n_labels, 3);
    assert_memory_equal(ka.lower, kb.lower, ka.len);
    assert_int_equal(ka.hash[0], kb.hash[0]);
    assert_int_equal(ka.hash[1], kc.hash[0]);
    assert_int_equal(name_hash_label((const uint8_t *)"\3www", kc.hash[0]), ka.hash[0]);
    assert_true(ka.hash[0] != kc.hash[0]);
    name_key_hash(&kb, 2);
    assert_true(ka.hash[0] != kb.hash[0]);
    assert_true(name_equal(a, b));
    assert_true(name_is_within(a, c));
    assert_true(name_is_within(c, c));
    assert_false(name_is_within(c, a));
}

/* Names of every length, with every octet at every place of a word: only capital letters change, and the hash of a name is
 * that of its first label in front of the rest, whatever lies behind it in memory. */
static void keys_of_all_lengths(void **state)
{
    (void)state;
    for (unsigned len = 1; len <= NAME_LABEL_MAX; len++) {
        for (unsigned c = 0; c < 256; c++) {
            uint8_t name[NAME_LABEL_MAX + 5], lower[sizeof name];
            struct name_key a, b;
            name[0] = (uint8_t)len;
            memset(name + 1, 'Q', len);
            name[1 + c % len] = (uint8_t)c;
            memcpy(name + 1 + len, "\2Zz", 4);
            memset(&a, 0x55, sizeof a);
            memset(&b, 0xaa, sizeof b);
            assert_int_equal(name_key_read(name, sizeof name, &a), len + 5);
            assert_int_equal(name_key_read(name, len + 5, &b), len + 5);
            assert_int_equal(name_lower(name, lower), len + 5);
            assert_memory_equal(a.lower, lower, len + 5);
            name_key_hash(&a, 7);
            name_key_hash(&b, 7);
            assert_int_equal(a.hash[0], b.hash[0]);
            assert_int_equal(name_hash_label(lower, a.hash[1]), a.hash[0]);
        }
    }
}

static void joining(void **state)
{
    (void)state;
    static const uint8_t rest[] = "\3dev\4test";
    uint8_t out[NAME_MAX_LEN];
    char text[NAME_TEXT_MAX];
    assert_int_equal(name_join("a.b", 3, rest, out), 14);
    assert_string_equal(name_to_text(out, text), "a.b.dev.test.");
    assert_int_equal(name_join("a..b", 4, rest, out), ERR_PARSE);
    assert_int_equal(name_join("", 0, rest, out), ERR_PARSE);
    char longest[260];
    memset(longest, 'a', sizeof longest);
    for (int i = 1; i < 260; i += 2)
        longest[i] = '.';
    assert_int_equal(name_join(longest, 243, rest, out), 254);
    assert_int_equal(name_join(longest, 245, rest, out), ERR_PARSE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_and_back),
        cmocka_unit_test(limits),
        cmocka_unit_test(every_octet_survives),
        cmocka_unit_test(lengths_stay_inside),
        cmocka_unit_test(keys_see_no_case_and_share_suffixes),
        cmocka_unit_test(keys_of_all_lengths),
        cmocka_unit_test(joining),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

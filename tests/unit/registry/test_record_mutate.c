/**
 * Whatever bytes come, reading a record ends in a record or a refusal, and what was read is written in a form that strict
 * readers take and that does not change any more. The bytes are the contract rows, damaged in a repeatable way.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "bobbin/record.h"

#define ROUNDS  200
#define LEN_MAX 600

static uint32_t seed = 2463534242u;

static uint32_t next_random(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 17;
    seed ^= seed << 5;
    return seed;
}

static size_t damage(char *bytes, size_t len)
{
    static const char likely[] = "{}[]:,\"\\u0-.eE\xed\xa0\xff tfn";
    size_t at = next_random() % (len + 1);

    switch (next_random() % 4) {
    case 0: return at;
    case 1:
        if (at < len)
            bytes[at] = (char)(next_random() & 0xff);
        return len;
    case 2:
        if (at < len)
            bytes[at] = likely[next_random() % (sizeof likely - 1)];
        return len;
    default:
        if (at == len)
            return len;
        memmove(bytes + at, bytes + at + 1, len - at - 1);
        return len - 1;
    }
}

/** @return 1 when the bytes were a record. */
static int check(const char *from, size_t len, enum reg_read mode)
{
    mem_auto char *bytes = mem_copy(from, len); /* exactly as long: the sanitizer sees a read past the end */
    struct reg_record *first = NULL, *second = NULL;
    struct err_info why = {0};
    int err = reg_record_read(bytes, len, mode, &first, &why);
    size_t n_once, n_twice;

    if (err) {
        assert_true(err == ERR_RECORD || err == ERR_NORECORD);
        assert_true(why.text[0] != '\0');
        return 0;
    }
    mem_auto char *once = reg_record_write(first, &n_once);

    assert_int_equal(reg_record_read(once, n_once, REG_STRICT, &second, NULL), 0);
    assert_true(reg_record_equal(first, second));
    mem_auto char *twice = reg_record_write(second, &n_twice);

    /* A list that was null is left out, and what is left out reads as empty. */
    if (!first->external.absent && !first->internal.absent) {
        assert_int_equal(n_once, n_twice);
        assert_memory_equal(once, twice, n_once);
    }
    reg_record_free(first);
    reg_record_free(second);
    return 1;
}

static int mutate(const char *from, size_t len)
{
    char bytes[LEN_MAX];
    int n_records = 0;

    for (int round = 0; round < ROUNDS; round++) {
        size_t left = len;

        memcpy(bytes, from, len);
        for (uint32_t i = next_random() % 4; i > 0; i--)
            left = damage(bytes, left);
        n_records += check(bytes, left, REG_STRICT) + check(bytes, left, REG_LENIENT);
    }
    return n_records;
}

static void test_damaged_records(void **state)
{
    FILE *f = fopen(ROWS_DIR "/registry_records.tsv", "r");
    char *line = NULL;
    size_t room = 0;
    int n_rows = 0, n_records = 0;

    (void)state;
    assert_non_null(f);
    while (getline(&line, &room, f) > 0) {
        char *at = line;
        const char *input;

        strsep(&at, "\t");
        input = strsep(&at, "\t");
        if (!input || line[0] == '#' || strlen(input) > LEN_MAX)
            continue;
        n_rows++;
        n_records += mutate(input, strlen(input));
    }
    free(line);
    fclose(f);
    assert_true(n_rows > 100);
    assert_true(n_records > 1000); /* else the damage hides what is to be seen */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_damaged_records)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

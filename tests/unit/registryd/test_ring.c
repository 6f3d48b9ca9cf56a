/* The ring of recent changes: what is held, where a follower resumes, what goes when it is full. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "feed/ring.h"

static void add(struct ring *r, int64_t zxid, const char *path)
{
    char *text = mem_fmt("change %lld of %s\n", (long long)zxid, path);
    ring_add(r, zxid, text, strlen(text), path);
}

static void resumes_after_the_newest_mark_not_above(void **state)
{
    (void)state;
    struct ring *r = ring_new(1 << 20);
    uint64_t seq;
    ring_reset(r, 10);
    add(r, 12, "/b");
    add(r, 11, "/a"); /* after a reconnect numbers come in tree order */
    ring_mark(r, 12);
    add(r, 15, "/c");
    ring_mark(r, 15);
    assert_false(ring_after(r, 9, &seq));
    assert_true(ring_after(r, 11, &seq)); /* 11 is inside the first span: all of it again */
    assert_string_equal(ring_line(r, seq)->path, "/b");
    assert_true(ring_after(r, 14, &seq));
    assert_string_equal(ring_line(r, seq)->path, "/c");
    assert_true(ring_after(r, 99, &seq));
    assert_true(seq == ring_next(r));
    assert_true(ring_oldest(r) == 10);
    ring_free(r);
}

/* 13 was known before the mark of 11: who has 11 or 12 is sent it again, who has 13 is not. */
static void a_change_ahead_of_its_mark_is_not_passed_over(void **state)
{
    (void)state;
    struct ring *r = ring_new(1 << 20);
    uint64_t seq = 0, first;
    ring_reset(r, 10);
    first = ring_next(r);
    add(r, 11, "/a");
    add(r, 13, "/b");
    ring_mark(r, 11);
    add(r, 12, "/c");
    ring_mark(r, 12);
    assert_true(ring_after(r, 11, &seq));
    assert_int_equal(seq, first);
    assert_true(ring_after(r, 12, &seq));
    assert_int_equal(seq, first);
    assert_true(ring_after(r, 13, &seq));
    assert_int_equal(seq, ring_next(r));
    ring_mark(r, 13);
    assert_int_equal(ring_oldest(r), 10);
    ring_free(r);
}

static void marks_without_changes_between_are_one(void **state)
{
    (void)state;
    struct ring *r = ring_new(1 << 20);
    ring_reset(r, 1);
    uint64_t next = ring_next(r);
    for (int64_t n = 2; n < 1000; n++)
        ring_mark(r, n);
    assert_true(ring_next(r) == next);
    assert_true(ring_oldest(r) == 999);
    ring_free(r);
}

static void full_ring_drops_the_oldest_and_stays_within_its_bytes(void **state)
{
    (void)state;
    struct ring *r = ring_new(4096);
    ring_reset(r, 0);
    for (int64_t n = 1; n <= 1000; n++) {
        add(r, n, "/users/alice/services/app/one");
        ring_mark(r, n);
        assert_true(ring_bytes(r) <= 4096);
    }
    uint64_t seq;
    assert_true(ring_oldest(r) > 900);
    assert_false(ring_after(r, 1, &seq));
    assert_true(ring_after(r, 999, &seq));
    assert_true(ring_line(r, seq)->zxid == 1000);
    assert_null(ring_line(r, ring_first(r) - 1));
    assert_null(ring_line(r, ring_next(r)));
    ring_free(r);
}

static void reset_sends_everybody_away(void **state)
{
    (void)state;
    struct ring *r = ring_new(4096);
    ring_reset(r, 5);
    add(r, 6, "/x");
    uint64_t old = ring_next(r);
    ring_reset(r, 3);
    assert_null(ring_line(r, old - 1));
    assert_true(ring_first(r) > old - 1);
    assert_true(ring_oldest(r) == 3);
    ring_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resumes_after_the_newest_mark_not_above),
        cmocka_unit_test(a_change_ahead_of_its_mark_is_not_passed_over),
        cmocka_unit_test(marks_without_changes_between_are_one),
        cmocka_unit_test(full_ring_drops_the_oldest_and_stays_within_its_bytes),
        cmocka_unit_test(reset_sends_everybody_away),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

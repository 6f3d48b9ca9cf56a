/* The ring between a thread that answers and the one that logs. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "tap/log.h"
#include "tap/ring.h"

enum { SIZE = 4096, N_ENTRIES = 200000 };

/** Lengths and octets of the n-th entry follow from n. */
static struct tap_entry nth(unsigned n, uint8_t query[512], uint8_t said[512])
{
    struct tap_entry e = {.sinks = TAP_LOG, .at_ns = n, .query_len = n % 61, .said_len = n * 7 % 509};
    memset(query, (int)n, e.query_len);
    memset(said, (int)n + 1, e.said_len);
    return e;
}

static bool put_nth(struct tap_ring *r, unsigned n)
{
    uint8_t query[512], said[512];
    struct tap_entry e = nth(n, query, said);
    return tap_ring_put(r, &e, query, said);
}

static void expect_nth(const struct tap_entry *e, const uint8_t *octets, unsigned n)
{
    uint8_t query[512], said[512];
    struct tap_entry wanted = nth(n, query, said);
    assert_int_equal(e->at_ns, n);
    assert_int_equal(e->query_len, wanted.query_len);
    assert_int_equal(e->said_len, wanted.said_len);
    assert_memory_equal(octets, query, wanted.query_len);
    assert_memory_equal(octets + e->query_len, said, wanted.said_len);
}

static void entries_come_out_as_they_went_in(void **state)
{
    (void)state;
    struct tap_ring *r = tap_ring_new(SIZE);
    const uint8_t *octets;
    assert_null(tap_ring_oldest(r, &octets));
    unsigned n_in = 0, n_out = 0;
    while (n_out < 5000) {
        for (unsigned k = 0; k < n_in % 4 + 1; k++)
            n_in += put_nth(r, n_in);
        const struct tap_entry *e;
        for (unsigned k = 0; k < n_out % 3 + 1 && (e = tap_ring_oldest(r, &octets)); k++) {
            expect_nth(e, octets, n_out++);
            tap_ring_drop(r);
        }
    }
    tap_ring_free(r);
}

static void without_room_an_entry_is_counted_and_dropped(void **state)
{
    (void)state;
    struct tap_ring *r = tap_ring_new(SIZE);
    const uint8_t *octets;
    unsigned n = 0, n_out = 0;
    while (put_nth(r, n))
        n++;
    assert_true(n > 4);
    assert_int_equal(tap_ring_n_lost(r), 1);
    assert_false(put_nth(r, n));
    assert_int_equal(tap_ring_n_lost(r), 2);
    for (const struct tap_entry *e; (e = tap_ring_oldest(r, &octets)); n_out++) {
        expect_nth(e, octets, n_out);
        tap_ring_drop(r);
    }
    assert_int_equal(n_out, n);
    assert_true(put_nth(r, n));
    const struct tap_entry *last = tap_ring_oldest(r, &octets);
    expect_nth(last, octets, n);
    tap_ring_free(r);
    tap_ring_free(NULL);
}

static void *write_all(void *arg)
{
    for (unsigned n = 0; n < N_ENTRIES;) {
        if (put_nth(arg, n))
            n++;
        else
            sched_yield();
    }
    return NULL;
}

static void two_threads_agree(void **state)
{
    (void)state;
    struct tap_ring *r = tap_ring_new(SIZE);
    const uint8_t *octets;
    pthread_t writer;
    assert_int_equal(pthread_create(&writer, NULL, write_all, r), 0);
    for (unsigned n = 0; n < N_ENTRIES;) {
        const struct tap_entry *e = tap_ring_oldest(r, &octets);
        if (!e) {
            sched_yield();
            continue;
        }
        expect_nth(e, octets, n++);
        tap_ring_drop(r);
    }
    pthread_join(writer, NULL);
    assert_null(tap_ring_oldest(r, &octets));
    tap_ring_free(r);
}

static void lines_a_second_are_bounded(void **state)
{
    (void)state;
    struct tap_budget b = {0};
    unsigned n[3] = {0};
    for (int64_t ms = 5000; ms < 8000; ms++)
        n[ms / 1000 - 5] += tap_budget_take(&b, ms, ms < 7000 ? 3 : 5);
    assert_int_equal(n[0], 3);
    assert_int_equal(n[1], 3);
    assert_int_equal(n[2], 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_come_out_as_they_went_in),
        cmocka_unit_test(without_room_an_entry_is_counted_and_dropped),
        cmocka_unit_test(two_threads_agree),
        cmocka_unit_test(lines_a_second_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

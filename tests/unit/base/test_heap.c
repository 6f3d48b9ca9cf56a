#include "base/heap.h"
#include "base/obj.h"

#include <stdlib.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

struct job {
    int number;
    struct heap_node due;
};

static int first_number(const struct heap *h)
{
    struct heap_node *first = heap_first(h);
    return first ? container_of(first, struct job, due)->number : -1;
}

static void the_least_key_comes_first(void **state)
{
    (void)state;
    static const int64_t keys[] = {5, -3, 9, 0, INT64_MAX, INT64_MIN, 7};
    static const int want[] = {5, 1, 3, 0, 6, 2, 4};
    struct job jobs[ARRAY_LEN(keys)] = {0};
    struct heap h = HEAP_EMPTY;
    assert_int_equal(first_number(&h), -1);
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        jobs[i].number = (int)i;
        heap_set(&h, &jobs[i].due, keys[i], 0);
    }
    for (size_t i = 0; i < ARRAY_LEN(want); i++) {
        assert_int_equal(first_number(&h), want[i]);
        assert_true(heap_remove(&h, heap_first(&h)));
    }
    assert_null(heap_first(&h));
    heap_fini(&h);
}

static void one_key_goes_by_rank_however_they_came(void **state)
{
    (void)state;
    enum { N = 50 };
    for (int stride = 1; stride < N; stride += 2) {
        struct job jobs[N] = {0};
        struct heap h = HEAP_EMPTY;
        for (int i = 0; i < N; i++) {
            int n = (i * stride + i / 25) % N;
            while (heap_has(&jobs[n].due))
                n = (n + 1) % N;
            jobs[n].number = n;
            heap_set(&h, &jobs[n].due, 7, (uint64_t)n);
        }
        for (int i = 0; i < N; i++) {
            assert_int_equal(first_number(&h), i);
            heap_remove(&h, heap_first(&h));
        }
        heap_fini(&h);
    }
}

static void a_node_moves_when_its_key_changes(void **state)
{
    (void)state;
    struct job jobs[3] = {{.number = 0}, {.number = 1}, {.number = 2}};
    struct heap h = HEAP_EMPTY;
    for (int i = 0; i < 3; i++)
        heap_set(&h, &jobs[i].due, 10 * i, 0);
    heap_set(&h, &jobs[2].due, -1, 0);
    assert_int_equal(first_number(&h), 2);
    heap_set(&h, &jobs[2].due, 15, 0);
    assert_int_equal(first_number(&h), 0);
    heap_set(&h, &jobs[0].due, 16, 0);
    assert_int_equal(first_number(&h), 1);
    assert_int_equal(h.n_nodes, 3);
    heap_fini(&h);
}

static void a_removed_node_is_in_no_heap(void **state)
{
    (void)state;
    struct job jobs[2] = {{.number = 0}, {.number = 1}};
    struct heap h = HEAP_EMPTY;
    assert_false(heap_remove(&h, &jobs[0].due));
    heap_set(&h, &jobs[0].due, 1, 0);
    heap_set(&h, &jobs[1].due, 2, 0);
    assert_true(heap_remove(&h, &jobs[0].due));
    assert_false(heap_has(&jobs[0].due));
    assert_false(heap_remove(&h, &jobs[0].due));
    assert_int_equal(first_number(&h), 1);
    heap_fini(&h);
    assert_false(heap_has(&jobs[1].due)); /* it can go into another one */
    heap_set(&h, &jobs[1].due, 3, 0);
    assert_int_equal(first_number(&h), 1);
    heap_fini(&h);
}

/* Many changes in a fixed sequence, compared with a search through all. */
static void it_agrees_with_a_search(void **state)
{
    (void)state;
    enum { N = 64, ROUNDS = 20000 };
    struct job jobs[N] = {0};
    struct heap h = HEAP_EMPTY;
    uint32_t random = 1;
    for (int i = 0; i < N; i++)
        jobs[i].number = i;
    for (int round = 0; round < ROUNDS; round++) {
        random = random * 1664525u + 1013904223u;
        struct job *j = &jobs[random >> 16 & (N - 1)];
        if (random >> 24 < 80)
            heap_remove(&h, &j->due);
        else
            heap_set(&h, &j->due, (int64_t)(random >> 8 & 31), (uint64_t)j->number);
        const struct job *best = NULL;
        for (int i = 0; i < N; i++) {
            if (heap_has(&jobs[i].due) && (!best || jobs[i].due.key < best->due.key))
                best = &jobs[i];
        }
        assert_int_equal(first_number(&h), best ? best->number : -1);
    }
    heap_fini(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_least_key_comes_first),
        cmocka_unit_test(one_key_goes_by_rank_however_they_came),
        cmocka_unit_test(a_node_moves_when_its_key_changes),
        cmocka_unit_test(a_removed_node_is_in_no_heap),
        cmocka_unit_test(it_agrees_with_a_search),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

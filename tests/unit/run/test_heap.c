/** Program that has a heap of some size, and looks with the system's eyes at what it takes. */
#include "run/heap.h"
#include "base/mem.h"

#include <asm/mman.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

enum { N_BLOCKS = 40000, BLOCK_BYTES = 1000, TOTAL_KIB = N_BLOCKS / 1024 * BLOCK_BYTES };

static unsigned char *blocks[N_BLOCKS];

static void take_blocks(void)
{
    for (size_t i = 0; i < N_BLOCKS; i++) {
        blocks[i] = mem_array(1, BLOCK_BYTES);
        memset(blocks[i], (int)(i % 251), BLOCK_BYTES);
    }
}

/* All but one of so many; 0: all. */
static void free_blocks(size_t but_one_of)
{
    for (size_t i = 0; i < N_BLOCKS; i++) {
        if (but_one_of && i % but_one_of == 0)
            continue;
        free(blocks[i]);
        blocks[i] = NULL;
    }
}

static bool holds_what_was_written(const unsigned char *block, size_t i)
{
    for (size_t k = 0; k < BLOCK_BYTES; k++)
        if (block[k] != i % 251)
            return false;
    return true;
}

/* KiB of a line of smaps, of what brk(2) gave. *holds: whether p lies there. */
static long heap_kib(const char *line_name, const void *p, bool *holds)
{
    FILE *smaps = fopen("/proc/self/smaps", "re");
    assert_non_null(smaps);
    char line[512];
    long sum = 0, kib;
    bool is_heap = false;
    *holds = false;
    while (fgets(line, sizeof line, smaps)) {
        uintptr_t first, end;
        size_t name_len = strlen(line_name);
        if (sscanf(line, "%lx-%lx ", &first, &end) == 2) {
            is_heap = strstr(line, "[heap]") != NULL;
            *holds = *holds || (is_heap && (uintptr_t)p >= first && (uintptr_t)p < end);
        } else if (is_heap && strncmp(line, line_name, name_len) == 0 && line[name_len] == ':' &&
                   sscanf(line + name_len + 1, "%ld", &kib) == 1) {
            sum += kib;
        }
    }
    fclose(smaps);
    return sum;
}

/* Whether this system lays pages together when asked. */
static bool can_collapse(void)
{
    size_t size = (size_t)4 << 20, large = (size_t)2 << 20;
    char *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(at, MAP_FAILED);
    memset(at, 1, size);
    char *aligned = at + (large - (uintptr_t)at % large) % large;
    bool can = madvise(aligned, large, MADV_COLLAPSE) == 0;
    munmap(at, size);
    return can;
}

static void what_is_used_lies_in_large_pages(void **state)
{
    (void)state;
    bool is_brk;
    take_blocks();
    heap_kib("Rss", blocks[0], &is_brk);
    if (!is_brk || !can_collapse()) { /* a sanitizer's heap, or a system without them */
        free_blocks(0);
        skip();
    }
    heap_settle();
    assert_true(heap_kib("AnonHugePages", blocks[0], &is_brk) >
                0); /* how much depends on what the system finds */
    for (size_t i = 0; i < N_BLOCKS; i++)
        assert_true(holds_what_was_written(blocks[i], i));
    free_blocks(0);
}

static void what_is_free_goes_back_and_is_not_taken_again(void **state)
{
    (void)state;
    bool is_brk;
    take_blocks();
    long full = heap_kib("Rss", blocks[0], &is_brk);
    if (!is_brk) {
        free_blocks(0);
        skip();
    }
    free_blocks(100);
    heap_settle();
    assert_true(full - heap_kib("Rss", blocks[0], &is_brk) > TOTAL_KIB / 2);
    for (size_t i = 0; i < N_BLOCKS; i += 100)
        assert_true(holds_what_was_written(blocks[i], i));
    heap_settle();
    assert_true(full - heap_kib("Rss", blocks[0], &is_brk) > TOTAL_KIB / 2);
    free_blocks(0);
}

struct watch {
    struct run_loop *loop;
    struct run_timer *timer;
    long full_kib;
};

static void look(void *arg)
{
    struct watch *w = arg;
    bool is_brk;
    if (w->full_kib - heap_kib("Rss", blocks[0], &is_brk) > TOTAL_KIB / 2)
        run_loop_stop(w->loop);
}

static void many_records_have_it_settled_by_the_loop(void **state)
{
    (void)state;
    struct watch w = {.loop = run_loop_new()};
    bool is_brk;
    take_blocks();
    w.full_kib = heap_kib("Rss", blocks[0], &is_brk);
    struct heap *heap = heap_new(w.loop);
    free_blocks(100);
    if (is_brk) {
        heap_mind(heap, N_BLOCKS);
        w.timer = run_timer_new(w.loop, look, &w);
        run_timer_start(w.timer, 10, 10);
        run_loop_run(w.loop);
        run_timer_free(w.timer);
    }
    heap_free(heap);
    run_loop_free(w.loop);
    free_blocks(0);
    if (!is_brk)
        skip();
}

int main(void)
{
    heap_one_arena();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_used_lies_in_large_pages),
        cmocka_unit_test(what_is_free_goes_back_and_is_not_taken_again),
        cmocka_unit_test(many_records_have_it_settled_by_the_loop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "base/mem.h"
#include "base/obj.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void copies_are_terminated(void **state)
{
    (void)state;
    mem_auto char *a = mem_strn("abcdef", 3);
    assert_string_equal(a, "abc");
    mem_auto char *b = mem_str("xyz");
    assert_string_equal(b, "xyz");
    assert_null(mem_str(NULL));
    mem_auto char *c = mem_strn(NULL, 0);
    assert_string_equal(c, "");
    mem_auto char *d = mem_copy("\0\1", 2);
    assert_memory_equal(d, "\0\1", 2);
    mem_auto char *e = mem_fmt("%s=%d", "n", 5);
    assert_string_equal(e, "n=5");
}

static void nothing_may_be_asked_for(void **state)
{
    (void)state;
    mem_auto void *a = mem_alloc(0);
    mem_auto void *b = mem_array(0, 8);
    void *c = mem_resize(NULL, 0, 4);
    assert_non_null(a);
    assert_non_null(b);
    assert_non_null(c);
    mem_free_ptr(&c);
    assert_null(c);
}

static void arrays_are_zeroed(void **state)
{
    (void)state;
    mem_auto unsigned char *a = mem_array(100, 3);
    for (int i = 0; i < 300; i++)
        assert_int_equal(a[i], 0);
}

static void arena_gives_aligned_zeroed_disjoint_pieces(void **state)
{
    (void)state;
    struct arena *a = arena_new(64);
    unsigned char *pieces[200];
    for (size_t i = 0; i < 200; i++) {
        size_t n = i * 7 % 150 + 1;
        pieces[i] = arena_alloc(a, n);
        assert_int_equal((uintptr_t)pieces[i] % _Alignof(max_align_t), 0);
        for (size_t j = 0; j < n; j++)
            assert_int_equal(pieces[i][j], 0);
        memset(pieces[i], (int)i, n);
    }
    for (size_t i = 0; i < 200; i++)
        for (size_t j = 0; j < i * 7 % 150 + 1; j++)
            assert_int_equal(pieces[i][j], i);
    arena_free(a);
    arena_free(NULL);
}

static void arena_reset_gives_the_same_zeroed_memory_again(void **state)
{
    (void)state;
    static const size_t first_sizes[] = {10, 1000}; /* fits into a piece of the arena; does not */
    for (size_t i = 0; i < ARRAY_LEN(first_sizes); i++) {
        struct arena *a = arena_new(64);
        arena_reset(a);
        for (int round = 0; round < 3; round++) {
            for (size_t n = first_sizes[i]; n < 2000; n += 97) {
                unsigned char *piece = arena_alloc(a, n);
                for (size_t j = 0; j < n; j++)
                    assert_int_equal(piece[j], 0);
                memset(piece, 0xaa, n);
            }
            arena_reset(a);
        }
        arena_free(a);
    }
    struct arena *a = arena_new(64);
    void *piece = arena_alloc(a, 10);
    arena_alloc(a, 100);
    arena_reset(a);
    assert_ptr_equal(arena_alloc(a, 10), piece);
    arena_free(a);
}

static void arena_makes_strings(void **state)
{
    (void)state;
    struct arena *a = arena_new(0);
    assert_string_equal(arena_strn(a, "abc", 2), "ab");
    assert_string_equal(arena_str(a, "abc"), "abc");
    assert_null(arena_str(a, NULL));
    assert_string_equal(arena_fmt(a, "%05d", 42), "00042");
    arena_free(a);
}

struct thing {
    struct obj obj;
};

#define THING_MAGIC OBJ_MAGIC('T', 'H', 'N', 'G')
#define OTHER_MAGIC OBJ_MAGIC('O', 'T', 'H', 'R')

static void cast_to_wrong_kind(void)
{
    struct thing t;
    obj_init(&t.obj, THING_MAGIC);
    (void)obj_cast(&t, struct thing, OTHER_MAGIC);
}

static void cast_after_fini(void)
{
    struct thing t;
    obj_init(&t.obj, THING_MAGIC);
    obj_fini(&t.obj);
    (void)obj_cast(&t, struct thing, THING_MAGIC);
}

static void cast_of_null(void)
{
    (void)obj_cast(NULL, struct thing, THING_MAGIC);
}

static void overflow_of_resize(void)
{
    size_t volatile n = SIZE_MAX / 2;
    free(mem_resize(NULL, n, 16));
}

/* Run fn in a child with a quiet stderr. @return the signal that ended it, or 0. */
static int signal_of(void (*fn)(void))
{
    pid_t child = fork();
    if (child == 0) {
        struct rlimit no_core = {0, 0};
        setrlimit(RLIMIT_CORE, &no_core);
        signal(SIGABRT, SIG_DFL);
        close(STDERR_FILENO);
        fn();
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void broken_invariants_stop_the_program(void **state)
{
    (void)state;
    assert_int_equal(signal_of(cast_to_wrong_kind), SIGABRT);
    assert_int_equal(signal_of(cast_after_fini), SIGABRT);
    assert_int_equal(signal_of(cast_of_null), SIGABRT);
    assert_int_equal(signal_of(overflow_of_resize), SIGABRT);
}

static void right_cast_gives_the_object(void **state)
{
    (void)state;
    struct thing t;
    obj_init(&t.obj, THING_MAGIC);
    assert_ptr_equal(obj_cast(&t, struct thing, THING_MAGIC), &t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_are_terminated),
        cmocka_unit_test(nothing_may_be_asked_for),
        cmocka_unit_test(arrays_are_zeroed),
        cmocka_unit_test(arena_gives_aligned_zeroed_disjoint_pieces),
        cmocka_unit_test(arena_reset_gives_the_same_zeroed_memory_again),
        cmocka_unit_test(arena_makes_strings),
        cmocka_unit_test(broken_invariants_stop_the_program),
        cmocka_unit_test(right_cast_gives_the_object),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

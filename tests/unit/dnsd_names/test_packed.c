/* Kept records: what went in comes out, by path and by place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "names/packed.h"

#define TEXT_LEN(text) text, sizeof text

static struct packed_prefixes prefixes;
static struct packed_set set;

static int reset(void **state)
{
    (void)state;
    packed_set_fini(&set, &prefixes);
    assert_int_equal(prefixes.by_text.n_items, 0);
    return 0;
}

static void expect(const struct packed *k, const char *path, const char *packed, size_t len)
{
    packed_text_auto struct packed_text t = {.len = 0};
    assert_non_null(k);
    packed_read(k, &t);
    assert_string_equal(t.path, path);
    assert_int_equal(t.len, len);
    assert_memory_equal(t.packed, packed, len);
}

static void comes_out_as_it_went_in(void **state)
{
    (void)state;
    static const struct {
        const char *path, *packed;
        size_t len;
    } rows[] = {
        {"/users/a/services/c/s/components/ctr-e50-14-0001-01-000001",
         TEXT_LEN("c\0web\0w\00010.0.0.1\0container_e50_14_0001_01_000001\0h\0r")},
        {"/users/a/services/c/s/components/ctr-e50-14-0001-01-000002",
         TEXT_LEN("c\0web\0w\00010.0.0.1\0container_e50_14_0001_01_000001\0h\0r")}, /* another's id */
        {"/users/a/services/c/s/components/ctr-e50-14-0001-01-000003",
         TEXT_LEN("c\0\0w\00010.0.0.1\0\1\0\1\0r")},
        {"/users/a/services/c/s/components/ctr-", TEXT_LEN("c\0container_")},
        {"/users/a/services/c/s/components/ctr-x",
         TEXT_LEN("container_x")}, /* the first field is never left out */
        {"/users/a/services/c/s/components/ctr_x-1", TEXT_LEN("c\0container_x_1")},
        {"/users/a/services/c/hello-1", TEXT_LEN("a\0")},
        {"/users/a-b", TEXT_LEN("n\0p\0\1\0\1")},
        {"/", TEXT_LEN("n")},
        {"ctr-no-slash", TEXT_LEN("n\0container_no_slash")},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_null(packed_put(&set, packed_new(&prefixes, rows[i].path, rows[i].packed, rows[i].len)));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct packed *k = packed_get(&set, &prefixes, rows[i].path);
        expect(k, rows[i].path, rows[i].packed, rows[i].len);
        assert_string_equal(packed_kind(k), rows[i].packed);
    }
    assert_null(packed_get(&set, &prefixes, "/users/a/services/c/s/components/ctr-e50-14-0001-01-000004"));
    assert_null(packed_get(&set, &prefixes, "/users/b"));
}

static void equal_needs_path_and_block(void **state)
{
    (void)state;
    struct packed *a = packed_new(&prefixes, "/x/ctr-1-1", TEXT_LEN("c\0container_1_1"));
    struct packed *same = packed_new(&prefixes, "/x/ctr-1-1", TEXT_LEN("c\0container_1_1"));
    struct packed *path = packed_new(&prefixes, "/x/ctr-1-2", TEXT_LEN("c\0container_1_2"));
    struct packed *block = packed_new(&prefixes, "/x/ctr-1-1", TEXT_LEN("c\0container_1_2"));
    assert_true(packed_equal(a, same));
    assert_false(packed_equal(a, path));
    assert_false(packed_equal(a, block));
    packed_free(&prefixes, a);
    packed_free(&prefixes, same);
    packed_free(&prefixes, path);
    packed_free(&prefixes, block);
    packed_free(&prefixes, NULL);
}

static struct packed *numbered(unsigned i, const char *packed)
{
    char path[64];
    snprintf(path, sizeof path, "/p%u/ctr-%u-%u", i % 7, i % 3, i);
    return packed_new(&prefixes, path, packed, strlen(packed) + 1);
}

enum { N = 3000 };

/* Take every third out, replace every fifth, and put new ones in: all that should be there is, and nothing else. */
static void many_come_and_go(void **state)
{
    (void)state;
    for (unsigned i = 0; i < N; i++)
        assert_null(packed_put(&set, numbered(i, "old")));
    for (unsigned i = 0; i < N; i += 3) {
        struct packed *like = numbered(i, "x");
        struct packed *k = packed_take(&set, like);
        assert_string_equal(packed_kind(k), "old");
        assert_null(packed_take(&set, like));
        packed_free(&prefixes, k);
        packed_free(&prefixes, like);
    }
    for (unsigned i = 0; i < N; i += 5) {
        struct packed *old = packed_put(&set, numbered(i, "new"));
        assert_int_equal(old == NULL, i % 3 == 0);
        packed_free(&prefixes, old);
    }
    for (unsigned i = 0; i < N; i++) {
        struct packed *like = numbered(i, "x"), *k = packed_like(&set, like);
        const char *wanted = i % 5 == 0 ? "new" : i % 3 == 0 ? NULL : "old";
        assert_int_equal(k != NULL, wanted != NULL);
        if (wanted)
            assert_string_equal(packed_kind(k), wanted);
        packed_free(&prefixes, like);
    }
    size_t n = 0;
    for (uint32_t place = 0; place < set.n_places; place++)
        n += packed_at(&set, place) != NULL;
    assert_int_equal(n, set.n_items);
    assert_int_equal(n, N - N / 3 + N / 15);
    assert_int_equal(set.n_places, N); /* places that were freed are used again */
}

/* A record that is replaced stays where it is: a walk that has not come to it yet sees the new one. */
static void replaced_in_its_place(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 10; i++)
        packed_put(&set, numbered(i, "old"));
    packed_free(&prefixes, packed_put(&set, numbered(4, "new")));
    assert_string_equal(packed_kind(packed_at(&set, 4)), "new");
    assert_int_equal(set.n_items, 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(comes_out_as_it_went_in, reset, reset),
        cmocka_unit_test_setup_teardown(equal_needs_path_and_block, reset, reset),
        cmocka_unit_test_setup_teardown(many_come_and_go, reset, reset),
        cmocka_unit_test_setup_teardown(replaced_in_its_place, reset, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

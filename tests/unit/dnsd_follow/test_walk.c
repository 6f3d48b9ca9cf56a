/* Walks over records between other work of the loop. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "follow/walk.h"

enum { N_RECORDS = 1000, UNDER_WAY = 1 };

struct bed {
    struct run_loop *loop;
    struct packed_prefixes prefixes;
    struct packed_set set;
    struct walks *walks;
};

/** What a walk has visited. */
struct visit {
    struct map paths; /* path -> the visit */
    int result;       /* UNDER_WAY: done was not called */
};

static void path_of(unsigned i, char path[32])
{
    snprintf(path, 32, "/users/a/r-%u", i);
}

static void put(struct bed *b, unsigned i)
{
    char path[32];
    path_of(i, path);
    packed_free(&b->prefixes, packed_put(&b->set, packed_new(&b->prefixes, path, "block", 6)));
}

static void take(struct bed *b, unsigned i)
{
    char path[32];
    path_of(i, path);
    packed_free(&b->prefixes, packed_take(&b->set, packed_get(&b->set, &b->prefixes, path)));
}

static int make_bed(void **state)
{
    struct bed *b = mem_new(struct bed);
    b->loop = run_loop_new();
    b->walks = walks_new(b->loop, &b->set);
    for (unsigned i = 0; i < N_RECORDS; i++)
        put(b, i);
    *state = b;
    return 0;
}

static int free_bed(void **state)
{
    struct bed *b = *state;
    walks_free(b->walks);
    packed_set_fini(&b->set, &b->prefixes);
    map_fini(&b->prefixes.by_text, NULL);
    run_loop_free(b->loop);
    free(b);
    return 0;
}

static void on_record(void *arg, const char *path, const char *packed, size_t len)
{
    struct visit *v = arg;
    assert_string_equal(packed, "block");
    assert_int_equal(len, 6);
    map_set(&v->paths, path, v);
}

static void on_done(void *arg, int err)
{
    struct visit *v = arg;
    v->result = err;
}

static const struct walk_ops ops = {.record = on_record, .done = on_done};

static bool has_visited(const struct visit *v, unsigned i)
{
    char path[32];
    path_of(i, path);
    return map_get(&v->paths, path) != NULL;
}

static void run(struct bed *b, const struct visit *v)
{
    while (v->result == UNDER_WAY)
        uv_run(run_loop_uv(b->loop), UV_RUN_ONCE);
}

static void every_record_is_visited(void **state)
{
    struct bed *b = *state;
    struct visit v = {MAP_EMPTY, UNDER_WAY}, other = v;
    walk_start(b->walks, &ops, &v);
    walk_start(b->walks, &ops, &other);
    assert_int_equal(v.paths.n_items, 0); /* nothing before the loop runs */
    run(b, &v);
    run(b, &other);
    assert_true(v.result == 0 && other.result == 0);
    assert_int_equal(v.paths.n_items, N_RECORDS);
    assert_int_equal(other.paths.n_items, N_RECORDS);
    map_fini(&v.paths, NULL);
    map_fini(&other.paths, NULL);
}

static void an_empty_set_ends_at_once(void **state)
{
    struct bed *b = *state;
    struct visit v = {MAP_EMPTY, UNDER_WAY};
    packed_set_fini(&b->set, &b->prefixes);
    walk_start(b->walks, &ops, &v);
    run(b, &v);
    assert_int_equal(v.result, 0);
    assert_int_equal(v.paths.n_items, 0);
}

/** Records that come and go meanwhile: those that are there all the time are visited, however places are used again. */
static void a_record_that_stays_is_visited(void **state)
{
    struct bed *b = *state;
    struct visit v = {MAP_EMPTY, UNDER_WAY};
    walk_start(b->walks, &ops, &v);
    for (unsigned i = 0; v.result == UNDER_WAY; i++) {
        if (i < N_RECORDS / 2)
            take(b, 2 * i);
        put(b, N_RECORDS + i);
        put(b, 1); /* replaced, still there */
        uv_run(run_loop_uv(b->loop), UV_RUN_NOWAIT);
    }
    for (unsigned i = 1; i < N_RECORDS; i += 2)
        assert_true(has_visited(&v, i));
    map_fini(&v.paths, NULL);
}

static void a_cancelled_walk_is_silent(void **state)
{
    struct bed *b = *state;
    struct visit v = {MAP_EMPTY, UNDER_WAY}, other = v;
    struct walk *w = walk_start(b->walks, &ops, &v);
    walk_start(b->walks, &ops, &other);
    walk_cancel(w);
    walk_cancel(NULL);
    run(b, &other);
    assert_int_equal(v.result, UNDER_WAY);
    assert_int_equal(v.paths.n_items, 0);
    map_fini(&other.paths, NULL);
}

static void the_end_cancels_all(void **state)
{
    struct bed *b = *state;
    struct visit v = {MAP_EMPTY, UNDER_WAY};
    walk_start(b->walks, &ops, &v);
    walks_free(b->walks);
    b->walks = NULL;
    assert_int_equal(v.result, ERR_CANCELLED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_record_is_visited, make_bed, free_bed),
        cmocka_unit_test_setup_teardown(an_empty_set_ends_at_once, make_bed, free_bed),
        cmocka_unit_test_setup_teardown(a_record_that_stays_is_visited, make_bed, free_bed),
        cmocka_unit_test_setup_teardown(a_cancelled_walk_is_silent, make_bed, free_bed),
        cmocka_unit_test_setup_teardown(the_end_cancels_all, make_bed, free_bed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

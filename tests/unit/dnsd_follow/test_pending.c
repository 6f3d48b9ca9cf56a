/* Changes that wait for a commit, and the revisions that it reaches. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "follow/pending.h"

struct bed {
    struct packed_prefixes prefixes;
    struct pending *pending;
};

static int make_bed(void **state)
{
    struct bed *b = mem_new(struct bed);
    b->pending = pending_new(&b->prefixes);
    *state = b;
    return 0;
}

/* Whatever a test leaves, no record stays. */
static int free_bed(void **state)
{
    struct bed *b = *state;
    pending_free(b->pending);
    assert_int_equal(b->prefixes.by_text.n_items, 0);
    map_fini(&b->prefixes.by_text, NULL);
    free(b);
    return 0;
}

static void put(struct bed *b, const char *path, const char *block)
{
    pending_put(b->pending, path, packed_new(&b->prefixes, path, block, strlen(block) + 1));
}

/* What a commit takes of a path: its block, "-" for a delete, "" for nothing. */
static void expect_batch(struct bed *b, const char *path, const char *block)
{
    struct map batch = pending_take_now(b->pending);
    const struct change *c = map_get(&batch, path);
    assert_int_equal(batch.n_items, *block ? 1 : 0);
    assert_string_equal(!c ? "" : c->packed ? packed_kind(c->packed) : "-", block);
    for (MAP_EACH (&batch, it))
        change_free(&b->prefixes, it->value);
    map_fini(&batch, NULL);
}

/* The next late one that is due: its path, or "". */
static void expect_due(struct bed *b, int64_t now_ms, const char *path)
{
    struct change *c = pending_take_due(b->pending, now_ms);
    assert_string_equal(c ? c->path : "", path);
    assert_true(!c || (!c->packed && c->due_ms <= now_ms));
    change_free(&b->prefixes, c);
}

static void expect_marks(struct bed *b, int64_t now_ms, const char *revision)
{
    char reached[REG_REVISION_MAX];
    pending_take_marks(b->pending, now_ms, reached);
    assert_string_equal(reached, revision);
}

static void the_last_change_of_a_path_counts(void **state)
{
    struct bed *b = *state;
    assert_true(pending_is_empty(b->pending));
    put(b, "/a/x", "one");
    put(b, "/a/x", "two");
    assert_false(pending_is_empty(b->pending));
    expect_batch(b, "/a/x", "two");
    expect_batch(b, "/a/x", "");
    assert_true(pending_is_empty(b->pending));
    put(b, "/a/x", "three");
    pending_put(b->pending, "/a/x", NULL);
    expect_batch(b, "/a/x", "-");
}

static void a_delayed_delete_comes_when_it_is_due(void **state)
{
    struct bed *b = *state;
    assert_true(pending_due_ms(b->pending) == INT64_MAX);
    pending_delay(b->pending, "/a/x", 100, true);
    pending_delay(b->pending, "/a/y", 200, false);
    assert_true(pending_is_late(b->pending) && !pending_is_empty(b->pending));
    assert_int_equal(pending_due_ms(b->pending), 100);
    assert_int_equal(pending_n_removals(b->pending), 1);
    expect_batch(b, "/a/x", "");
    expect_due(b, 99, "");
    expect_due(b, 100, "/a/x");
    expect_due(b, 100, "");
    assert_int_equal(pending_n_removals(b->pending), 0);
    expect_due(b, 300, "/a/y");
    assert_true(pending_is_empty(b->pending) && !pending_is_late(b->pending));
}

/** A delete and a create: the record was never away. */
static void a_create_replaces_the_delete_that_waits(void **state)
{
    struct bed *b = *state;
    pending_delay(b->pending, "/a/x", 100, true);
    put(b, "/a/x", "again");
    assert_int_equal(pending_n_removals(b->pending), 0);
    expect_due(b, 1000, "");
    expect_batch(b, "/a/x", "again");
}

static void a_delete_replaces_the_create_that_no_commit_took(void **state)
{
    struct bed *b = *state;
    put(b, "/a/x", "short");
    pending_delay(b->pending, "/a/x", 100, true);
    pending_delay(b->pending, "/a/x", 150, true);
    assert_int_equal(pending_n_removals(b->pending), 1);
    expect_batch(b, "/a/x", "");
    expect_due(b, 149, "");
    expect_due(b, 150, "/a/x");
}

static void changes_and_late_ones_are_not_only_late(void **state)
{
    struct bed *b = *state;
    pending_delay(b->pending, "/a/x", 100, true);
    put(b, "/a/y", "now");
    assert_false(pending_is_late(b->pending));
}

static void a_mark_without_deletes_before_it_is_reached_by_any_commit(void **state)
{
    struct bed *b = *state;
    put(b, "/a/x", "one");
    pending_mark(b->pending, "s.1");
    pending_mark(b->pending, "s.2");
    expect_marks(b, 0, "s.2");
    expect_marks(b, 0, "");
}

static void a_mark_waits_for_the_deletes_before_it(void **state)
{
    struct bed *b = *state;
    pending_delay(b->pending, "/a/x", 100, true);
    pending_mark(b->pending, "s.1");
    pending_delay(b->pending, "/a/y", 200, true);
    pending_mark(b->pending, "s.2");
    expect_marks(b, 99, "");
    expect_marks(b, 100, "s.1");
    expect_due(b, 100, "/a/x");
    expect_marks(b, 150, "");
    expect_marks(b, 200, "s.2");
}

/** The delete that it waits for was replaced by a create: nothing is left to wait for. */
static void a_mark_is_reached_when_its_delete_is_replaced(void **state)
{
    struct bed *b = *state;
    pending_delay(b->pending, "/a/x", 100, true);
    pending_mark(b->pending, "s.1");
    put(b, "/a/x", "again");
    expect_marks(b, 50, "s.1");
}

static void dropped_marks_are_not_reached(void **state)
{
    struct bed *b = *state;
    put(b, "/a/x", "one");
    pending_mark(b->pending, "s.1");
    pending_drop_marks(b->pending);
    expect_marks(b, 1000, "");
    expect_batch(b, "/a/x", "one");
}

static void what_is_cleared_is_forgotten(void **state)
{
    struct bed *b = *state;
    put(b, "/a/x", "one");
    pending_delay(b->pending, "/a/y", 100, true);
    pending_mark(b->pending, "s.1");
    pending_clear(b->pending);
    assert_true(pending_is_empty(b->pending));
    assert_int_equal(pending_n_removals(b->pending), 0);
    expect_due(b, 1000, "");
    expect_marks(b, 1000, "");
    expect_batch(b, "/a/x", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_last_change_of_a_path_counts, make_bed, free_bed),
        cmocka_unit_test_setup_teardown(a_delayed_delete_comes_when_it_is_due, make_bed, free_bed),
        cmocka_unit_test_setup_teardown(a_create_replaces_the_delete_that_waits, make_bed, free_bed),
        cmocka_unit_test_setup_teardown(a_delete_replaces_the_create_that_no_commit_took, make_bed, free_bed),
        cmocka_unit_test_setup_teardown(changes_and_late_ones_are_not_only_late, make_bed, free_bed),
        cmocka_unit_test_setup_teardown(a_mark_without_deletes_before_it_is_reached_by_any_commit, make_bed,
                                        free_bed),
        cmocka_unit_test_setup_teardown(a_mark_waits_for_the_deletes_before_it, make_bed, free_bed),
        cmocka_unit_test_setup_teardown(a_mark_is_reached_when_its_delete_is_replaced, make_bed, free_bed),
        cmocka_unit_test_setup_teardown(dropped_marks_are_not_reached, make_bed, free_bed),
        cmocka_unit_test_setup_teardown(what_is_cleared_is_forgotten, make_bed, free_bed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

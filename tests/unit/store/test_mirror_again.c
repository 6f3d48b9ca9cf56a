/* The mirror after a reconnect: the tree is read again and becomes what it is now, by differences. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "mirror_fake.h"

static void second_read_notifies_of_differences_only(void **state)
{
    struct fake *f = *state;
    fake_first_read(f);
    fake_lost(f);
    fake_heard(f, "stale cable cut\n");
    assert_string_equal(mirror_stale(f->mirror)->text, "cable cut");
    fake_begin(f, "s1");
    assert_int_equal(mirror_n_nodes(f->mirror), 4);
    fake_node(f, "/", "", 1, 1);
    fake_node(f, "/b", "changed", 4, 21);
    fake_node(f, "/c", "new", 22, 22);
    assert_non_null(mirror_stale(f->mirror));
    fake_end(f, 30);
    fake_settle(f);
    assert_int_equal(f->n_least, 3);
    fake_heard(f, "put /b=changed was 3 @21\nput /c=new @22\n"
                  "delete /a/x=2 @30\ndelete /a=1 @30\nstale no more\napplied 30\n");
    assert_null(mirror_stale(f->mirror));
}

static void changes_amid_a_second_read_stay(void **state)
{
    struct fake *f = *state;
    fake_first_read(f);
    fake_begin(f, "s1");
    fake_node(f, "/", "", 1, 1);
    fake_node(f, "/late", "x", 21, 21);
    fake_gone(f, "/b", 22);
    f->ops->applied(f->follower, 22);
    fake_node(f, "/a", "1", 2, 2);
    fake_node(f, "/a/x", "2", 3, 3);
    fake_end(f, 20);
    fake_settle(f);
    fake_heard(f, "put /late=x @21\ndelete /b=3 @22\napplied 22\n");
}

static void nothing_left_is_swept_empty(void **state)
{
    struct fake *f = *state;
    fake_first_read(f);
    fake_begin(f, "s1");
    fake_end(f, 30);
    fake_settle(f);
    fake_heard(f, "delete /a/x=2 @30\ndelete /a=1 @30\ndelete /b=3 @30\ndelete /= @30\napplied 30\n");
    assert_true(mirror_ready(f->mirror));
}

static void other_store_replaces_all_at_once(void **state)
{
    struct fake *f = *state;
    fake_first_read(f);
    fake_lost(f);
    fake_forget(f);
    fake_begin(f, "s2");
    fake_node(f, "/", "", 1, 1);
    fake_node(f, "/other", "x", 2, 2);
    assert_string_equal(mirror_store_id(f->mirror), "s1");
    assert_string_equal(mirror_find(f->mirror, "/a")->data, "1");
    assert_null(mirror_find(f->mirror, "/other"));
    fake_heard(f, "");
    fake_end(f, 3);
    fake_heard(f, "synced s2 2\nstale no more\napplied 3\n");
    assert_null(mirror_find(f->mirror, "/a"));
    assert_int_equal(mirror_applied(f->mirror), 3);
}

static void broken_first_read_begins_anew(void **state)
{
    struct fake *f = *state;
    fake_begin(f, "s1");
    fake_node(f, "/", "", 1, 1);
    fake_node(f, "/half", "x", 2, 2);
    fake_lost(f);
    assert_false(mirror_ready(f->mirror));
    fake_node(f, "/half", "x", 2, 3);
    fake_begin(f, "s1");
    fake_node(f, "/", "", 1, 1);
    fake_end(f, 5);
    fake_heard(f, "stale cable cut\nsynced s1 1\nstale no more\napplied 5\n");
    assert_null(mirror_find(f->mirror, "/half"));
}

static void broken_second_read_keeps_all(void **state)
{
    struct fake *f = *state;
    fake_first_read(f);
    fake_begin(f, "s1");
    fake_node(f, "/", "", 1, 1);
    fake_lost(f);
    assert_int_equal(mirror_n_nodes(f->mirror), 4);
    fake_forget(f);
    fake_begin(f, "s1");
    fake_node(f, "/", "", 1, 1);
    fake_node(f, "/b", "3", 4, 4);
    fake_end(f, 40);
    fake_settle(f);
    fake_heard(f, "delete /a/x=2 @40\ndelete /a=1 @40\nstale no more\napplied 40\n");
}

/* Deleted and made again between two reads: a reader of what was below the old one finds that it is gone as soon as
 * he is shown the new one. */
static void node_made_again_has_not_the_old_ones_children(void **state)
{
    struct fake *f = *state;
    fake_first_read(f);
    fake_lost(f);
    fake_forget(f);
    fake_begin(f, "s1");
    fake_node(f, "/", "", 1, 1);
    fake_node(f, "/a", "again", 21, 21);
    fake_heard(f, "delete /a/x=2 @21\nput /a=again was 1 @21\n");
    assert_int_equal(mirror_find(f->mirror, "/a")->stat.n_children, 0);
    fake_node(f, "/a/y", "new", 22, 22);
    fake_node(f, "/b", "3", 4, 4);
    fake_end(f, 30);
    fake_settle(f);
    fake_heard(f, "put /a/y=new @22\nstale no more\napplied 30\n");
    assert_null(mirror_find(f->mirror, "/a/x"));
}

static void sweep_leaves_the_parents_number(void **state)
{
    const struct store_stat read = {.czxid = 1, .mzxid = 1, .pzxid = 25, .n_children = 1};
    struct fake *f = *state;
    fake_first_read(f);
    fake_begin(f, "s1");
    f->ops->node(f->follower, "/", &read, "", 0);
    fake_node(f, "/b", "3", 4, 4);
    fake_end(f, 30);
    fake_settle(f);
    fake_heard(f, "delete /a/x=2 @30\ndelete /a=1 @30\napplied 30\n");
    assert_int_equal(mirror_find(f->mirror, "/")->stat.pzxid, 25);
}

/* ---- a store that was put back to an earlier state ---- */

/** Read the tree of fake_first_read again, with /a as it was set at mzxid. */
static void read_again(struct fake *f, int64_t mzxid, int64_t zxid)
{
    fake_begin(f, "51");
    fake_node(f, "/", "", 1, 1);
    fake_node(f, "/a", "1", 2, mzxid);
    fake_end(f, zxid);
}

/** A revision of the store before must never be taken for one of after; nor may the id change again without need. */
static void assert_other_store(struct fake *f, const char *before)
{
    char id[STORE_REVISION_MAX], text[STORE_REVISION_MAX], now[STORE_REVISION_MAX];
    int64_t n = 0;
    snprintf(now, sizeof now, "%s", mirror_store_id(f->mirror));
    assert_string_not_equal(now, before);
    assert_int_equal(store_revision_read(store_revision_text(now, 7, text), id, &n), 0);
    assert_non_null(strstr(now, "51"));
    fake_forget(f);
    read_again(f, 2, 40);
    fake_settle(f);
    assert_string_equal(mirror_store_id(f->mirror), now);
    fake_heard(f, "applied 40\n");
}

static void node_of_an_earlier_state_makes_another_store(void **state)
{
    struct fake *f = *state;
    int mine = 0;
    read_again(f, 12, 20);
    mirror_node_user(mirror_find(f->mirror, "/a"), &mine);
    fake_lost(f);
    fake_forget(f);
    read_again(f, 2, 30);
    fake_settle(f);
    assert_non_null(strstr(buf_cstr(&f->heard), "put /a=1 was 1 @2\nsynced "));
    assert_non_null(strstr(buf_cstr(&f->heard), "stale no more\napplied 30\n"));
    assert_null(mirror_find(f->mirror, "/a")->user);
    assert_other_store(f, "51");
}

static void lost_change_below_a_node_makes_another_store(void **state)
{
    const struct store_stat first = {.czxid = 1, .mzxid = 1, .pzxid = 15},
                            again = {.czxid = 1, .mzxid = 1, .pzxid = 14};
    struct fake *f = *state;
    fake_begin(f, "51");
    f->ops->node(f->follower, "/", &first, "", 0);
    fake_end(f, 20);
    fake_begin(f, "51");
    f->ops->node(f->follower, "/", &again, "", 0);
    fake_end(f, 30);
    assert_string_not_equal(mirror_store_id(f->mirror), "51");
}

static void number_below_the_applied_one_makes_another_store(void **state)
{
    struct fake *f = *state;
    char first[STORE_REVISION_MAX];
    read_again(f, 2, 20);
    read_again(f, 2, 19);
    fake_settle(f);
    assert_int_equal(mirror_applied(f->mirror), 19);
    assert_int_equal(mirror_newest(f->mirror), 19);
    assert_other_store(f, "51");
    snprintf(first, sizeof first, "%s", mirror_store_id(f->mirror));
    read_again(f, 2, 18);
    assert_other_store(f, first);
}

static void earlier_state_is_not_forgotten_when_its_read_breaks_off(void **state)
{
    struct fake *f = *state;
    read_again(f, 12, 20);
    fake_begin(f, "51");
    fake_node(f, "/", "", 1, 1);
    fake_node(f, "/a", "1", 2, 2);
    fake_lost(f);
    assert_string_equal(mirror_store_id(f->mirror), "51");
    read_again(f, 2, 30);
    fake_settle(f);
    assert_other_store(f, "51");
}

/* Tell a root and, of n nodes below it, each step-th: a read begins. */
static void begin_wide(struct fake *f, int n, int step)
{
    char path[32];
    fake_begin(f, "s1");
    fake_node(f, "/", "", 1, 1);
    for (int i = 0; i < n; i += step) {
        snprintf(path, sizeof path, "/n%05d", i);
        fake_node(f, path, "x", 2, 2);
    }
}

static void large_sweep_comes_in_steps(void **state)
{
    enum { N = 42000 };
    struct fake *f = *state;
    begin_wide(f, N, 1);
    fake_end(f, 10);
    begin_wide(f, N, 7);
    fake_forget(f);
    fake_end(f, 20);
    size_t n_now = mirror_n_nodes(f->mirror);
    assert_in_range(n_now, N / 7 + 2, N);
    assert_false(fake_is_current(f));
    assert_int_equal(mirror_applied(f->mirror), 10);
    /* The loop goes on meanwhile, and so does the store. */
    fake_node(f, "/amid", "x", 21, 21);
    fake_gone(f, "/n06999", 22);
    fake_settle(f);
    assert_int_equal(mirror_n_nodes(f->mirror), N / 7 + 2);
    assert_non_null(mirror_find(f->mirror, "/amid"));
    assert_non_null(mirror_find(f->mirror, "/n00007"));
    assert_null(mirror_find(f->mirror, "/n00008"));
    assert_int_equal(mirror_applied(f->mirror), 20);
}

static void lost_amid_sweep_sweeps_again(void **state)
{
    enum { N = 50000 };
    struct fake *f = *state;
    begin_wide(f, N, 1);
    fake_end(f, 10);
    begin_wide(f, 0, 1);
    fake_end(f, 20);
    fake_lost(f);
    fake_begin(f, "s1");
    fake_node(f, "/", "", 1, 1);
    fake_node(f, "/n04999", "x", 2, 2);
    fake_forget(f);
    fake_end(f, 30);
    fake_settle(f);
    assert_int_equal(mirror_n_nodes(f->mirror), 2);
}

/* ---- a random tree becomes another ---- */

static uint32_t random_next(uint32_t *seed)
{
    *seed = *seed * 1664525U + 1013904223U;
    return *seed >> 8;
}

/** Tell a random tree, parents first; its dump is what the mirror must hold afterwards. */
static void random_read(struct fake *f, uint32_t *seed, int64_t zxid, struct buf *dump)
{
    fake_begin(f, "s1");
    fake_node(f, "/", "", 1, 1);
    buf_add_str(dump, "/=\n");
    for (unsigned i = 0; i < 10; i++) {
        char path[32], text[16];
        if (random_next(seed) % 2)
            continue;
        snprintf(path, sizeof path, "/p%u", i);
        snprintf(text, sizeof text, "%u", random_next(seed) % 4);
        fake_node(f, path, text, 2, zxid + random_next(seed) % 2);
        buf_addf(dump, "%s=%s\n", path, text);
        for (unsigned k = 0; k < 10; k++) {
            if (random_next(seed) % 2)
                continue;
            snprintf(path, sizeof path, "/p%u/c%u", i, k);
            fake_node(f, path, text, 3, zxid);
            buf_addf(dump, "%s=%s\n", path, text);
        }
    }
    fake_end(f, zxid + 2);
}

static void any_tree_becomes_any_other(void **state)
{
    struct fake *f = *state;
    uint32_t seed = 4711;
    for (int round = 1; round <= 60; round++) {
        buf_auto struct buf expected = BUF_EMPTY, got = BUF_EMPTY;
        fake_forget(f);
        random_read(f, &seed, round * 10, &expected);
        fake_settle(f);
        const struct mirror_node *top = mirror_find(f->mirror, "/");
        for (const struct mirror_node *n = top; n; n = mirror_walk(f->mirror, top, n)) {
            mirror_path(n, &got);
            buf_addf(&got, "=%s\n", n->data);
        }
        assert_string_equal(buf_cstr(&got), buf_cstr(&expected));
    }
}

/* A large tree that another store's replaces is not freed in one turn of the loop. */
static void an_old_tree_goes_in_steps(void **state)
{
    enum { N = 100000 };
    struct fake *f = *state;
    fake_begin(f, "s1");
    fake_node(f, "/", "", 1, 1);
    for (int i = 0; i < N; i++) {
        char path[16];
        snprintf(path, sizeof path, "/n%d", i);
        fake_node(f, path, "data", 2, 2);
    }
    fake_end(f, 3);
    size_t full = mirror_n_bytes(f->mirror);
    fake_begin(f, "s2");
    fake_node(f, "/", "", 1, 1);
    size_t small = mirror_n_bytes(f->mirror) - full;
    fake_end(f, 3);
    assert_int_equal(mirror_n_nodes(f->mirror), 1);
    assert_true(mirror_n_bytes(f->mirror) > full / 2); /* all but what finds nodes by name */
    size_t before = mirror_n_bytes(f->mirror), n_turns = 0;
    for (; before > small; n_turns++) {
        uv_run(run_loop_uv(f->kit.loop), UV_RUN_NOWAIT);
        size_t now = mirror_n_bytes(f->mirror);
        assert_true(before - now <= full / 3);
        before = now;
    }
    assert_int_equal(before, small);
    assert_true(n_turns > 3);
}

/* What was read of a store before that read broke off is freed in steps, too. */
static void half_a_tree_goes_in_steps(void **state)
{
    struct fake *f = *state;
    for (int round = 0; round < 3; round++) {
        fake_begin(f, "s1");
        fake_node(f, "/", "", 1, 1);
        for (int i = 0; i < 1500; i++) {
            char path[16];
            snprintf(path, sizeof path, "/n%d", i);
            fake_node(f, path, "", 2, 2);
        }
        fake_lost(f);
    }
    size_t held = mirror_n_bytes(f->mirror);
    fake_begin(f, "s1");
    assert_true(mirror_n_bytes(f->mirror) > held / 2);
    while (mirror_n_bytes(f->mirror) > 0)
        uv_run(run_loop_uv(f->kit.loop), UV_RUN_NOWAIT);
}

/* The first read of a mirror that goes on from a past: the id that it shows then. */
static const char *id_after(struct fake *f, const struct mirror_past *past)
{
    mirror_continue(f->mirror, past);
    fake_begin(f, "51");
    fake_node(f, "/", "", 1, 1);
    fake_end(f, 100);
    return mirror_store_id(f->mirror);
}

static void readers_of_before_see_their_store_again(void **state)
{
    const struct mirror_past past = {.tree_id = "51", .store_id = "00000000000051abcd", .newest = 100};
    assert_string_equal(id_after(*state, &past), past.store_id);
}

static void older_store_than_was_shown_before_is_another_one(void **state)
{
    struct fake *f = *state;
    const struct mirror_past past = {.tree_id = "51", .store_id = "51", .newest = 101};
    const char *id = id_after(f, &past);
    assert_string_not_equal(id, "51");
    struct mirror_past now;
    mirror_present(f->mirror, &now);
    assert_string_equal(now.tree_id, "51");
    assert_string_equal(now.store_id, id);
    assert_int_equal(now.newest, 100);
    size_t n_synced = 0;
    for (const char *at = buf_cstr(&f->heard); (at = strstr(at, "synced")); at++)
        n_synced++;
    assert_int_equal(n_synced, 1);
}

static void past_of_another_store_does_not_count(void **state)
{
    const struct mirror_past past = {.tree_id = "52", .store_id = "00000000000052abcd", .newest = 101};
    assert_string_equal(id_after(*state, &past), "51");
}

static void past_counts_for_the_first_store_only(void **state)
{
    struct fake *f = *state;
    const struct mirror_past past = {.tree_id = "52", .store_id = "00000000000052abcd", .newest = 101};
    id_after(f, &past);
    fake_lost(f);
    fake_begin(f, "52");
    fake_node(f, "/", "", 1, 1);
    fake_end(f, 5);
    fake_settle(f);
    assert_string_equal(mirror_store_id(f->mirror), "52");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(second_read_notifies_of_differences_only),
        CASE(changes_amid_a_second_read_stay),
        CASE(nothing_left_is_swept_empty),
        CASE(other_store_replaces_all_at_once),
        CASE(broken_first_read_begins_anew),
        CASE(broken_second_read_keeps_all),
        CASE(node_made_again_has_not_the_old_ones_children),
        CASE(sweep_leaves_the_parents_number),
        CASE(node_of_an_earlier_state_makes_another_store),
        CASE(lost_change_below_a_node_makes_another_store),
        CASE(number_below_the_applied_one_makes_another_store),
        CASE(earlier_state_is_not_forgotten_when_its_read_breaks_off),
        CASE(large_sweep_comes_in_steps),
        CASE(lost_amid_sweep_sweeps_again),
        CASE(any_tree_becomes_any_other),
        CASE(an_old_tree_goes_in_steps),
        CASE(half_a_tree_goes_in_steps),
        CASE(readers_of_before_see_their_store_again),
        CASE(older_store_than_was_shown_before_is_another_one),
        CASE(past_of_another_store_does_not_count),
        CASE(past_counts_for_the_first_store_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

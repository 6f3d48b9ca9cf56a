/* The mirror drops very many nodes: some in each turn of the loop, and whoever listens hears all in the order of the store. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "mirror_fake.h"

/** A tree below /big of so many nodes, itself included: /big/d00/n0000 …. */
enum { N_DIRS = 20, N_EACH = 1000, N_BIG = 1 + N_DIRS * (1 + N_EACH) };
/** No turn may drop a larger part of it. */
enum { N_TURN_MOST = N_BIG / 3 };

static void emit_big(struct fake *f)
{
    char path[32];
    fake_node(f, "/big", "top", 2, 2);
    for (int i = 0; i < N_DIRS; i++) {
        snprintf(path, sizeof path, "/big/d%02d", i);
        fake_node(f, path, "dir", 3, 3);
        for (int k = 0; k < N_EACH; k++) {
            snprintf(path, sizeof path, "/big/d%02d/n%04d", i, k);
            fake_node(f, path, "leaf", 4, 4);
        }
    }
}

/** Tree /, /a=1, /big and what is below it, of store s1, applied 10. */
static void big_first_read(struct fake *f)
{
    fake_begin(f, "s1");
    fake_node(f, "/", "", 1, 1);
    fake_node(f, "/a", "1", 2, 2);
    emit_big(f);
    fake_end(f, 10);
    assert_int_equal(mirror_n_nodes(f->mirror), N_BIG + 2);
    fake_forget(f);
}

/* Children first, and no revision is published before all that it covers. */
static void assert_in_order(void *arg, enum mirror_change kind, const char *path,
                            const struct mirror_node *node, const char *old_data, size_t old_len,
                            int64_t zxid)
{
    struct fake *f = arg;
    (void)old_data;
    (void)old_len;
    if (kind != MIRROR_DELETE)
        return;
    assert_int_equal(node->stat.n_children, 0);
    mem_auto char *parent = path_parent(path);
    assert_true(!parent[1] || mirror_find(f->mirror, parent));
    assert_true(zxid > mirror_applied(f->mirror));
}

static const struct mirror_listener in_order = {.change = assert_in_order};

/** Nodes that the next turn of the loop takes away. */
static size_t turn(struct fake *f)
{
    size_t before = mirror_n_nodes(f->mirror);
    uv_run(run_loop_uv(f->kit.loop), UV_RUN_NOWAIT);
    size_t now = mirror_n_nodes(f->mirror);
    return before > now ? before - now : 0;
}

/** Turn until `applied` is published. @return turns that took nodes away, none of them many. */
static size_t settle_in_steps(struct fake *f)
{
    size_t n_turns = 0;
    while (!fake_is_current(f)) {
        size_t n = turn(f);
        assert_in_range(n, 0, N_TURN_MOST);
        n_turns += n > 0;
    }
    return n_turns;
}

static size_t n_heard(struct fake *f, const char *word)
{
    size_t n = 0;
    for (const char *at = buf_cstr(&f->heard); (at = strstr(at, word)); at++)
        n++;
    return n;
}

static void assert_heard_last(struct fake *f, const char *expected)
{
    assert_true(f->heard.len >= strlen(expected));
    assert_string_equal(buf_cstr(&f->heard) + f->heard.len - strlen(expected), expected);
}

static void large_subtree_goes_in_steps(void **state)
{
    struct fake *f = *state;
    big_first_read(f);
    mirror_listen(f->mirror, &in_order, f);
    fake_gone(f, "/big", 20);
    f->ops->applied(f->follower, 20);
    assert_in_range(mirror_n_nodes(f->mirror), N_BIG - N_TURN_MOST, N_BIG);
    /* What has not been published as gone is still found, and the revision is the earlier one. */
    assert_non_null(mirror_find(f->mirror, "/big"));
    assert_non_null(mirror_find(f->mirror, "/big/d19/n0399"));
    assert_int_equal(mirror_applied(f->mirror), 10);
    assert_true(mirror_newest(f->mirror) >= 20);
    assert_true(settle_in_steps(f) >= 4);
    assert_int_equal(mirror_n_nodes(f->mirror), 2);
    assert_int_equal(n_heard(f, "delete "), N_BIG);
    assert_int_equal(n_heard(f, " @20\n"), N_BIG);
    assert_heard_last(f, "delete /big/d19=dir @20\ndelete /big=top @20\napplied 20\n");
    assert_int_equal(mirror_applied(f->mirror), 20);
}

static void small_subtree_goes_at_once(void **state)
{
    struct fake *f = *state;
    fake_first_read(f);
    fake_gone(f, "/a", 20);
    f->ops->applied(f->follower, 20);
    fake_heard(f, "delete /a/x=2 @20\ndelete /a=1 @20\napplied 20\n");
}

static void many_words_in_a_turn_are_many_nodes(void **state)
{
    struct fake *f = *state;
    char path[32];
    big_first_read(f);
    for (int i = 0; i < N_DIRS; i++) {
        snprintf(path, sizeof path, "/big/d%02d", i);
        fake_gone(f, path, 20 + i);
    }
    f->ops->applied(f->follower, 40);
    assert_in_range(mirror_n_nodes(f->mirror), N_BIG - N_TURN_MOST, N_BIG);
    assert_true(settle_in_steps(f) >= 4);
    assert_int_equal(mirror_n_nodes(f->mirror), 3);
    assert_heard_last(f, "delete /big/d19=dir @39\napplied 40\n");
}

static void what_comes_amid_comes_after(void **state)
{
    struct fake *f = *state;
    big_first_read(f);
    mirror_listen(f->mirror, &in_order, f);
    fake_gone(f, "/big", 20);
    fake_node(f, "/big", "again", 21, 21);
    fake_node(f, "/big/d00", "new", 22, 22);
    fake_node(f, "/b", "other", 23, 23);
    fake_gone(f, "/big/d00", 24);
    fake_gone(f, "/a", 25);
    f->ops->applied(f->follower, 25);
    settle_in_steps(f);
    assert_heard_last(f, "delete /big=top @20\nput /big=again @21\nput /big/d00=new @22\nput /b=other @23\n"
                         "delete /big/d00=new @24\ndelete /a=1 @25\napplied 25\n");
    assert_int_equal(mirror_n_nodes(f->mirror), 3);
    assert_int_equal(mirror_find(f->mirror, "/big")->stat.n_children, 0);
    fake_forget(f);
    fake_node(f, "/c", "at once", 26, 26); /* nothing is held any more */
    fake_heard(f, "put /c=at once @26\n");
}

static void node_made_again_loses_many_children_in_steps(void **state)
{
    struct fake *f = *state;
    big_first_read(f);
    fake_lost(f);
    fake_begin(f, "s1");
    fake_node(f, "/", "", 1, 1);
    fake_forget(f);
    fake_node(f, "/big", "again", 21, 21);
    fake_node(f, "/big/d00", "new", 22, 22);
    fake_node(f, "/a", "1", 2, 2);
    fake_end(f, 30);
    assert_in_range(mirror_n_nodes(f->mirror), N_BIG - N_TURN_MOST, N_BIG + 1);
    assert_string_equal(mirror_find(f->mirror, "/big")->data,
                        "top"); /* as long as it has the old one's children */
    assert_true(settle_in_steps(f) >= 4);
    assert_int_equal(n_heard(f, "delete "), N_BIG - 1);
    assert_heard_last(f, "delete /big/d19=dir @21\nput /big=again was top @21\nput /big/d00=new @22\n"
                         "stale no more\napplied 30\n");
    assert_int_equal(mirror_n_nodes(f->mirror), 4);
}

static void read_again_amid_ends_in_the_same_tree(void **state)
{
    struct fake *f = *state;
    big_first_read(f);
    fake_gone(f, "/big", 20);
    fake_lost(f);
    fake_begin(f, "s1");
    fake_node(f, "/", "", 1, 1);
    fake_node(f, "/late", "x", 21, 21);
    fake_end(f, 30);
    settle_in_steps(f);
    assert_heard_last(f, "delete /big=top @20\nstale cable cut\nput /late=x @21\ndelete /a=1 @30\n"
                         "stale no more\napplied 30\n");
    assert_int_equal(mirror_n_nodes(f->mirror), 2);
}

static void other_store_amid_replaces_all(void **state)
{
    struct fake *f = *state;
    big_first_read(f);
    fake_gone(f, "/", 20);
    fake_lost(f);
    fake_begin(f, "s2");
    fake_node(f, "/", "", 1, 1);
    fake_node(f, "/other", "x", 2, 2);
    fake_end(f, 3);
    assert_string_equal(mirror_store_id(f->mirror), "s1");
    settle_in_steps(f);
    assert_heard_last(f, "delete /= @20\nstale cable cut\nsynced s2 2\nstale no more\napplied 3\n");
    assert_string_equal(mirror_find(f->mirror, "/other")->data, "x");
}

/* A tree that nobody sees yet is emptied in steps, too. */
static void subtree_of_a_first_read_goes_in_steps(void **state)
{
    struct fake *f = *state;
    fake_begin(f, "s1");
    fake_node(f, "/", "", 1, 1);
    emit_big(f);
    size_t full = mirror_n_bytes(f->mirror), n_turns = 0;
    fake_gone(f, "/big", 20);
    fake_end(f, 30);
    for (size_t now, before = mirror_n_bytes(f->mirror); !mirror_ready(f->mirror); before = now) {
        turn(f);
        now = mirror_n_bytes(f->mirror);
        assert_true(before < now + full / 2);
        n_turns += now < before;
    }
    assert_true(n_turns >= 4);
    fake_heard(f, "synced s1 1\napplied 30\n");
}

/** Turns in which /big goes, while /a is set n_held times behind it. */
static size_t turns_to_drop(struct fake *f, int64_t zxid, size_t n_held, const char *text)
{
    size_t n_turns = 0;
    fake_forget(f);
    fake_gone(f, "/big", zxid);
    for (size_t i = 0; i < n_held; i++)
        fake_node(f, "/a", text, 2, zxid);
    f->ops->applied(f->follower, zxid);
    while (!fake_is_current(f))
        n_turns += turn(f) > 0;
    return n_turns;
}

/* Memory is bounded: the more waits, the larger are the steps. */
static void much_that_is_held_is_expedited(void **state)
{
    enum { N_HELD = 24, LEN = 2 << 20 };
    struct fake *f = *state;
    mem_auto char *text = mem_alloc(LEN + 1);
    memset(text, 'x', LEN);
    text[LEN] = '\0';
    big_first_read(f);
    size_t n_quiet = turns_to_drop(f, 20, 0, NULL);
    emit_big(f);
    size_t n_full = turns_to_drop(f, 30, N_HELD, text);
    assert_true(n_full * 2 <= n_quiet);
    assert_int_equal(mirror_find(f->mirror, "/a")->stat.mzxid, 30);
}

static void freed_amid(void **state)
{
    struct fake *f = *state;
    big_first_read(f);
    fake_gone(f, "/big", 20);
    fake_node(f, "/big", "again", 21, 21);
    fake_lost(f);
    turn(f);
    assert_true(mirror_n_nodes(f->mirror) > N_BIG / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(large_subtree_goes_in_steps),
        CASE(small_subtree_goes_at_once),
        CASE(many_words_in_a_turn_are_many_nodes),
        CASE(what_comes_amid_comes_after),
        CASE(node_made_again_loses_many_children_in_steps),
        CASE(read_again_amid_ends_in_the_same_tree),
        CASE(other_store_amid_replaces_all),
        CASE(subtree_of_a_first_read_goes_in_steps),
        CASE(much_that_is_held_is_expedited),
        CASE(freed_amid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

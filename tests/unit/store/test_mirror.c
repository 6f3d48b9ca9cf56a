/* The mirror: the first read, then the changes that the store emits. */
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

static void first_read_shows_at_its_end(void **state)
{
    struct fake *f = *state;
    assert_false(mirror_ready(f->mirror));
    assert_string_equal(mirror_store_id(f->mirror), "");
    fake_begin(f, "s1");
    fake_node(f, "/", "top", 1, 1);
    fake_node(f, "/a", "1", 2, 2);
    assert_null(mirror_find(f->mirror, "/"));
    assert_false(mirror_ready(f->mirror));
    fake_heard(f, "");
    fake_end(f, 7);
    assert_true(mirror_ready(f->mirror));
    fake_heard(f, "synced s1 2\napplied 7\n");
    const struct mirror_node *top = mirror_find(f->mirror, "/");
    assert_string_equal(top->data, "top");
    assert_string_equal(top->name, "");
    assert_null(top->parent);
    assert_int_equal(top->stat.n_children, 1);
    assert_ptr_equal(mirror_find(f->mirror, "/a")->parent, top);
    assert_null(mirror_find(f->mirror, "/a/b"));
    assert_null(mirror_find(f->mirror, "/ab"));
    assert_int_equal(mirror_applied(f->mirror), 7);
}

static void changes_are_notified_in_order(void **state)
{
    struct fake *f = *state;
    fake_first_read(f);
    fake_node(f, "/c", "new", 11, 11);
    fake_node(f, "/a", "set", 2, 12);
    fake_gone(f, "/b", 13);
    f->ops->applied(f->follower, 13);
    fake_heard(f, "put /c=new @11\nput /a=set was 1 @12\ndelete /b=3 @13\napplied 13\n");
    assert_int_equal(mirror_find(f->mirror, "/")->stat.n_children, 2);
    assert_int_equal(mirror_find(f->mirror, "/")->stat.pzxid, 11);
    assert_int_equal(mirror_find(f->mirror, "/c")->stat.data_len, 3);
    assert_int_equal(mirror_find(f->mirror, "/c")->stat.n_children, 0);
}

static void subtree_goes_children_first(void **state)
{
    struct fake *f = *state;
    fake_first_read(f);
    fake_node(f, "/a/x/deep", "4", 11, 11);
    fake_forget(f);
    fake_gone(f, "/a", 12);
    fake_heard(f, "delete /a/x/deep=4 @12\ndelete /a/x=2 @12\ndelete /a=1 @12\n");
    fake_gone(f, "/a", 13);
    fake_gone(f, "/never/there", 13);
    fake_heard(f, "");
    fake_gone(f, "/", 14);
    fake_heard(f, "delete /b=3 @14\ndelete /= @14\n");
    assert_int_equal(mirror_n_nodes(f->mirror), 0);
    assert_int_equal(mirror_n_bytes(f->mirror), 0);
    fake_node(f, "/", "again", 20, 20);
    fake_heard(f, "put /=again @20\n");
}

static void what_is_shown_is_never_above_newest(void **state)
{
    const struct store_stat stat = {.czxid = 1, .mzxid = 1, .pzxid = 15};
    struct fake *f = *state;
    fake_first_read(f);
    assert_int_equal(mirror_newest(f->mirror), 10);
    fake_gone(f, "/b", 14);
    fake_heard(f, "delete /b=3 @14\n");
    assert_int_equal(mirror_newest(f->mirror), 14);
    f->ops->node(f->follower, "/", &stat, NULL, 0);
    assert_int_equal(mirror_find(f->mirror, "/")->stat.pzxid, 15);
    assert_int_equal(mirror_newest(f->mirror), 15);
    assert_int_equal(mirror_applied(f->mirror), 10);
    f->ops->applied(f->follower, 16);
    assert_int_equal(mirror_newest(f->mirror), 16);
    fake_begin(f, "s2");
    fake_node(f, "/", "of another store", 70, 70);
    assert_int_equal(mirror_newest(f->mirror), 16);
}

static void same_node_again_is_no_change(void **state)
{
    struct fake *f = *state;
    fake_first_read(f);
    fake_node(f, "/a", "1", 2, 2);
    fake_heard(f, "");
    fake_node(f, "/a", "1", 2, 11);
    fake_heard(f, "put /a=1 was 1 @11\n");
    fake_node(f, "/a", "1", 12, 12);
    fake_heard(f, "delete /a/x=2 @12\nput /a=1 was 1 @12\n");
}

static void stat_alone_never_hides_new_data(void **state)
{
    const struct store_stat stat = {
        .czxid = 2, .mzxid = 12, .pzxid = 11, .version = 1, .cversion = 7, .data_len = 5};
    struct fake *f = *state;
    fake_first_read(f);
    f->ops->node(f->follower, "/a", &stat, NULL, 0);
    fake_heard(f, "");
    const struct mirror_node *a = mirror_find(f->mirror, "/a");
    assert_int_equal(a->stat.pzxid, 11);
    assert_int_equal(a->stat.cversion, 7);
    assert_int_equal(a->stat.mzxid, 2);
    assert_int_equal(a->stat.data_len, 1);
    assert_int_equal(a->stat.n_children, 1);
    fake_node(f, "/a", "later", 2, 12);
    fake_heard(f, "put /a=later was 1 @12\n");
    assert_int_equal(a->stat.pzxid, 11);
}

static void node_without_parent_is_left_out(void **state)
{
    struct fake *f = *state;
    fake_first_read(f);
    fake_node(f, "/gone/child", "x", 11, 11);
    fake_heard(f, "");
    assert_int_equal(mirror_n_nodes(f->mirror), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(first_read_shows_at_its_end),     CASE(changes_are_notified_in_order),
        CASE(subtree_goes_children_first),     CASE(what_is_shown_is_never_above_newest),
        CASE(same_node_again_is_no_change),    CASE(stat_alone_never_hides_new_data),
        CASE(node_without_parent_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

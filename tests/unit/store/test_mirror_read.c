/* What readers have of the mirror: waiting for a revision, walking, children, notes. */
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

/* ---- waiting ---- */

struct wait {
    struct run_loop *loop;
    int n_calls, err;
};

static void on_wait(void *arg, int err)
{
    struct wait *w = arg;
    w->n_calls++;
    w->err = err;
    run_loop_stop(w->loop);
}

static bool is_called(void *arg)
{
    return ((struct wait *)arg)->n_calls > 0;
}

static void wait_ends_when_applied(void **state)
{
    struct fake *f = *state;
    struct wait there = {f->kit.loop, 0, 1}, coming = there, never = there, forgotten = there;
    fake_first_read(f);
    mirror_when_applied(f->mirror, 10, 60000, on_wait, &there);
    mirror_when_applied(f->mirror, 12, 60000, on_wait, &coming);
    mirror_when_applied(f->mirror, 13, 30, on_wait, &never);
    mirror_when_applied(f->mirror, 12, 0, on_wait, &forgotten);
    mirror_forget(f->mirror, &forgotten);
    assert_int_equal(there.n_calls, 0);
    kit_until(&f->kit, is_called, &there);
    assert_int_equal(there.err, 0);
    f->ops->applied(f->follower, 11);
    assert_int_equal(coming.n_calls, 0);
    f->ops->applied(f->follower, 12);
    assert_int_equal(coming.n_calls, 0);
    kit_until(&f->kit, is_called, &coming);
    assert_int_equal(coming.err, 0);
    kit_until(&f->kit, is_called, &never);
    assert_int_equal(never.err, ERR_TIMEOUT);
    assert_int_equal(there.n_calls + coming.n_calls + never.n_calls, 3);
    assert_int_equal(forgotten.n_calls, 0);
}

static void wait_outlasts_the_first_read(void **state)
{
    struct fake *f = *state;
    struct wait w = {f->kit.loop, 0, 1};
    mirror_when_applied(f->mirror, 0, 60000, on_wait, &w);
    fake_begin(f, "s1");
    fake_node(f, "/", "", 1, 1);
    f->ops->applied(f->follower, 5);
    fake_end(f, 4);
    kit_until(&f->kit, is_called, &w);
    assert_int_equal(w.err, 0);
    assert_int_equal(mirror_applied(f->mirror), 5);
}

static void open_waits_die_with_the_mirror(void **state)
{
    struct fake *f = *state;
    static struct wait w;
    w = (struct wait){f->kit.loop, 0, 0};
    mirror_when_applied(f->mirror, 99, 60000, on_wait, &w);
    assert_int_equal(w.n_calls, 0);
}

/* ---- walking ---- */

static void walk_is_in_path_order(void **state)
{
    struct fake *f = *state;
    buf_auto struct buf paths = BUF_EMPTY;
    fake_first_read(f);
    fake_node(f, "/a-b", "", 11, 11);
    fake_node(f, "/a/w", "", 12, 12);
    const struct mirror_node *top = mirror_find(f->mirror, "/");
    for (const struct mirror_node *n = mirror_walk(f->mirror, top, NULL); n;
         n = mirror_walk(f->mirror, top, n)) {
        mirror_path(n, &paths);
        buf_add_char(&paths, '\n');
    }
    assert_string_equal(buf_cstr(&paths), "/\n/a\n/a/w\n/a/x\n/a-b\n/b\n");
    buf_clear(&paths);
    top = mirror_find(f->mirror, "/a");
    for (const struct mirror_node *n = mirror_walk(f->mirror, top, NULL); n;
         n = mirror_walk(f->mirror, top, n)) {
        mirror_path(n, &paths);
        buf_add_char(&paths, '\n');
    }
    assert_string_equal(buf_cstr(&paths), "/a\n/a/w\n/a/x\n");
}

static void children_are_found_after_a_name(void **state)
{
    struct fake *f = *state;
    fake_first_read(f);
    const struct mirror_node *top = mirror_find(f->mirror, "/");
    assert_string_equal(mirror_child_after(top, NULL)->name, "a");
    assert_string_equal(mirror_child_after(top, "a")->name, "b");
    assert_string_equal(mirror_child_after(top, "aa")->name, "b");
    assert_string_equal(mirror_child_after(top, "A")->name, "a");
    assert_null(mirror_child_after(top, "b"));
    assert_null(mirror_child_after(mirror_find(f->mirror, "/b"), NULL));
}

static void many_children_cost_little(void **state)
{
    enum { N = 20000 };
    struct fake *f = *state;
    char path[32];
    int before = 0;
    fake_begin(f, "s1");
    fake_node(f, "/", "", 1, 1);
    for (unsigned i = 0; i < N; i++) {
        snprintf(path, sizeof path, "/n%05u", i * 7919U % N);
        fake_node(f, path, "0123456789", 2, 2);
    }
    fake_end(f, 10);
    const struct mirror_node *top = mirror_find(f->mirror, "/");
    assert_int_equal(top->stat.n_children, N);
    for (const struct mirror_node *n = mirror_child_after(top, NULL); n; n = mirror_child_after(top, n->name))
        assert_int_equal(atoi(n->name + 1), before++);
    assert_int_equal(before, N);
    size_t own = 6 + 10;
    assert_in_range(mirror_n_bytes(f->mirror) / N, 100, 200 + own);
}

static void owner_keeps_a_pointer_in_a_node(void **state)
{
    struct fake *f = *state;
    int mine = 0;
    fake_first_read(f);
    mirror_node_user(mirror_find(f->mirror, "/a"), &mine);
    fake_node(f, "/a", "set", 2, 11);
    assert_ptr_equal(mirror_find(f->mirror, "/a")->user, &mine);
    assert_null(mirror_find(f->mirror, "/b")->user);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(wait_ends_when_applied),          CASE(wait_outlasts_the_first_read),
        CASE(open_waits_die_with_the_mirror),  CASE(walk_is_in_path_order),
        CASE(children_are_found_after_a_name), CASE(many_children_cost_little),
        CASE(owner_keeps_a_pointer_in_a_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The mirror on a scripted store: the test itself is the backend. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/store_backend.h"
#include "store_kit.h"

/** A backend of which only `follow` is ever called, a mirror on it, and what a listener heard. */
struct fake {
    struct store base; /* first: it is the store */
    const struct store_follow_ops *ops;
    void *follower;
    struct kit kit; /* loop and waiting only */
    struct mirror *mirror;
    struct buf heard; /* a line a call */
    int64_t last_zxid;
    size_t n_least; /* fewest nodes seen at any call since fake_forget */
};

static void fake_follow(struct store *s, const struct store_follow_ops *ops, void *arg)
{
    struct fake *f = (struct fake *)obj_cast(s, struct store, STORE_MAGIC);
    f->ops = ops;
    f->follower = arg;
}

static void look(struct fake *f)
{
    size_t n = mirror_n_nodes(f->mirror);
    f->n_least = n < f->n_least ? n : f->n_least;
}

static void heard_synced(void *arg)
{
    struct fake *f = arg;
    buf_addf(&f->heard, "synced %s %zu\n", mirror_store_id(f->mirror), mirror_n_nodes(f->mirror));
    f->last_zxid = 0;
}

static void heard_change(void *arg, enum mirror_change kind, const char *path, const struct mirror_node *node,
                         const char *old_data, size_t old_len, int64_t zxid)
{
    struct fake *f = arg;
    look(f);
    f->last_zxid = zxid;
    if (kind == MIRROR_DELETE) {
        assert_null(mirror_find(f->mirror, path));
        buf_addf(&f->heard, "delete %s=%s @%lld\n", path, node->data, (long long)zxid);
        return;
    }
    assert_ptr_equal(mirror_find(f->mirror, path), node);
    buf_addf(&f->heard, "put %s=%s", path, node->data);
    if (old_data)
        buf_addf(&f->heard, " was %.*s", (int)old_len, old_data);
    buf_addf(&f->heard, " @%lld\n", (long long)zxid);
}

static void heard_applied(void *arg, int64_t zxid)
{
    struct fake *f = arg;
    look(f);
    buf_addf(&f->heard, "applied %lld\n", (long long)zxid);
}

static void heard_stale(void *arg, const struct err_info *why)
{
    struct fake *f = arg;
    look(f);
    buf_addf(&f->heard, "stale %s\n", why ? why->text : "no more");
}

static void fake_forget(struct fake *f)
{
    buf_clear(&f->heard);
    f->n_least = SIZE_MAX;
}

static int set_up(void **state)
{
    static const struct store_backend_ops ops = {.kind = "fake", .follow = fake_follow};
    static const struct mirror_listener listener = {heard_synced, heard_change, heard_applied, heard_stale};
    struct fake *f = mem_new(struct fake);
    f->kit.loop = run_loop_new();
    store_base_init(&f->base, &ops, f->kit.loop, "fake:");
    f->mirror = mirror_new(&f->base);
    mirror_listen(f->mirror, &listener, f);
    fake_forget(f);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fake *f = *state;
    mirror_free(f->mirror);
    run_loop_free(f->kit.loop);
    buf_fini(&f->heard);
    free(f->base.url);
    free(f);
    return 0;
}

/* ---- what the store tells ---- */

static void begin(struct fake *f, const char *id)
{
    f->ops->begin(f->follower, id);
}

static void end(struct fake *f, int64_t zxid)
{
    f->ops->end(f->follower, zxid);
}

/** A node made at czxid and last set at mzxid. */
static void node(struct fake *f, const char *path, const char *text, int64_t czxid, int64_t mzxid)
{
    const struct store_stat stat = {
        .czxid = czxid, .mzxid = mzxid, .pzxid = czxid, .n_children = 99, .data_len = (uint32_t)strlen(text)};
    f->ops->node(f->follower, path, &stat, text, strlen(text));
}

static void gone(struct fake *f, const char *path, int64_t zxid)
{
    f->ops->gone(f->follower, path, zxid);
}

static void lost(struct fake *f)
{
    struct err_info why;
    err_set(&why, ERR_UNAVAILABLE, NULL, "cable cut");
    f->ops->lost(f->follower, &why);
}

static bool is_current(void *arg)
{
    struct fake *f = arg;
    return strstr(buf_cstr(&f->heard), "applied") != NULL;
}

/** Wait until a read that was ended has been swept. */
static void settle(struct fake *f)
{
    kit_until(&f->kit, is_current, f);
}

static void assert_heard(struct fake *f, const char *expected)
{
    assert_string_equal(buf_cstr(&f->heard), expected);
    fake_forget(f);
}

/** Tree /, /a=1, /a/x=2, /b=3 of store s1, applied 10, told. */
static void first_read(struct fake *f)
{
    begin(f, "s1");
    node(f, "/", "", 1, 1);
    node(f, "/a", "1", 2, 2);
    node(f, "/a/x", "2", 3, 3);
    node(f, "/b", "3", 4, 4);
    end(f, 10);
    fake_forget(f);
}

/* ---- cases ---- */

static void first_read_shows_at_its_end(void **state)
{
    struct fake *f = *state;
    assert_false(mirror_ready(f->mirror));
    assert_string_equal(mirror_store_id(f->mirror), "");
    begin(f, "s1");
    node(f, "/", "top", 1, 1);
    node(f, "/a", "1", 2, 2);
    assert_null(mirror_find(f->mirror, "/"));
    assert_false(mirror_ready(f->mirror));
    assert_heard(f, "");
    end(f, 7);
    assert_true(mirror_ready(f->mirror));
    assert_heard(f, "synced s1 2\napplied 7\n");
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

static void changes_are_told_in_order(void **state)
{
    struct fake *f = *state;
    first_read(f);
    node(f, "/c", "new", 11, 11);
    node(f, "/a", "set", 2, 12);
    gone(f, "/b", 13);
    f->ops->applied(f->follower, 13);
    assert_heard(f, "put /c=new @11\nput /a=set was 1 @12\ndelete /b=3 @13\napplied 13\n");
    assert_int_equal(mirror_find(f->mirror, "/")->stat.n_children, 2);
    assert_int_equal(mirror_find(f->mirror, "/")->stat.pzxid, 11);
    assert_int_equal(mirror_find(f->mirror, "/c")->stat.data_len, 3);
    assert_int_equal(mirror_find(f->mirror, "/c")->stat.n_children, 0);
}

static void subtree_goes_children_first(void **state)
{
    struct fake *f = *state;
    first_read(f);
    node(f, "/a/x/deep", "4", 11, 11);
    fake_forget(f);
    gone(f, "/a", 12);
    assert_heard(f, "delete /a/x/deep=4 @12\ndelete /a/x=2 @12\ndelete /a=1 @12\n");
    gone(f, "/a", 13);
    gone(f, "/never/there", 13);
    assert_heard(f, "");
    gone(f, "/", 14);
    assert_heard(f, "delete /b=3 @14\ndelete /= @14\n");
    assert_int_equal(mirror_n_nodes(f->mirror), 0);
    assert_int_equal(mirror_n_bytes(f->mirror), 0);
    node(f, "/", "again", 20, 20);
    assert_heard(f, "put /=again @20\n");
}

static void what_is_shown_is_never_above_newest(void **state)
{
    const struct store_stat stat = {.czxid = 1, .mzxid = 1, .pzxid = 15};
    struct fake *f = *state;
    first_read(f);
    assert_int_equal(mirror_newest(f->mirror), 10);
    gone(f, "/b", 14);
    assert_heard(f, "delete /b=3 @14\n");
    assert_int_equal(mirror_newest(f->mirror), 14);
    f->ops->node(f->follower, "/", &stat, NULL, 0);
    assert_int_equal(mirror_find(f->mirror, "/")->stat.pzxid, 15);
    assert_int_equal(mirror_newest(f->mirror), 15);
    assert_int_equal(mirror_applied(f->mirror), 10);
    f->ops->applied(f->follower, 16);
    assert_int_equal(mirror_newest(f->mirror), 16);
    begin(f, "s2");
    node(f, "/", "of another store", 70, 70);
    assert_int_equal(mirror_newest(f->mirror), 16);
}

static void same_node_again_is_no_change(void **state)
{
    struct fake *f = *state;
    first_read(f);
    node(f, "/a", "1", 2, 2);
    assert_heard(f, "");
    node(f, "/a", "1", 2, 11);
    assert_heard(f, "put /a=1 was 1 @11\n");
    node(f, "/a", "1", 12, 12);
    assert_heard(f, "put /a=1 was 1 @12\n");
}

static void stat_alone_never_hides_new_data(void **state)
{
    const struct store_stat stat = {
        .czxid = 2, .mzxid = 12, .pzxid = 11, .version = 1, .cversion = 7, .data_len = 5};
    struct fake *f = *state;
    first_read(f);
    f->ops->node(f->follower, "/a", &stat, NULL, 0);
    assert_heard(f, "");
    const struct mirror_node *a = mirror_find(f->mirror, "/a");
    assert_int_equal(a->stat.pzxid, 11);
    assert_int_equal(a->stat.cversion, 7);
    assert_int_equal(a->stat.mzxid, 2);
    assert_int_equal(a->stat.data_len, 1);
    assert_int_equal(a->stat.n_children, 1);
    node(f, "/a", "later", 2, 12);
    assert_heard(f, "put /a=later was 1 @12\n");
    assert_int_equal(a->stat.pzxid, 11);
}

static void node_without_parent_is_left_out(void **state)
{
    struct fake *f = *state;
    first_read(f);
    node(f, "/gone/child", "x", 11, 11);
    assert_heard(f, "");
    assert_int_equal(mirror_n_nodes(f->mirror), 4);
}

static void second_read_tells_differences_only(void **state)
{
    struct fake *f = *state;
    first_read(f);
    lost(f);
    assert_heard(f, "stale cable cut\n");
    assert_string_equal(mirror_stale(f->mirror)->text, "cable cut");
    begin(f, "s1");
    assert_int_equal(mirror_n_nodes(f->mirror), 4);
    node(f, "/", "", 1, 1);
    node(f, "/b", "changed", 4, 21);
    node(f, "/c", "new", 22, 22);
    assert_non_null(mirror_stale(f->mirror));
    end(f, 30);
    settle(f);
    assert_int_equal(f->n_least, 3);
    assert_heard(f, "put /b=changed was 3 @21\nput /c=new @22\n"
                    "delete /a/x=2 @30\ndelete /a=1 @30\nstale no more\napplied 30\n");
    assert_null(mirror_stale(f->mirror));
}

static void changes_amid_a_second_read_stay(void **state)
{
    struct fake *f = *state;
    first_read(f);
    begin(f, "s1");
    node(f, "/", "", 1, 1);
    node(f, "/late", "x", 21, 21);
    gone(f, "/b", 22);
    f->ops->applied(f->follower, 22);
    node(f, "/a", "1", 2, 2);
    node(f, "/a/x", "2", 3, 3);
    end(f, 20);
    settle(f);
    assert_heard(f, "put /late=x @21\ndelete /b=3 @22\napplied 22\n");
}

static void nothing_left_is_swept_empty(void **state)
{
    struct fake *f = *state;
    first_read(f);
    begin(f, "s1");
    end(f, 30);
    settle(f);
    assert_heard(f, "delete /a/x=2 @30\ndelete /a=1 @30\ndelete /b=3 @30\ndelete /= @30\napplied 30\n");
    assert_true(mirror_ready(f->mirror));
}

static void other_store_replaces_all_at_once(void **state)
{
    struct fake *f = *state;
    first_read(f);
    lost(f);
    fake_forget(f);
    begin(f, "s2");
    node(f, "/", "", 1, 1);
    node(f, "/other", "x", 2, 2);
    assert_string_equal(mirror_store_id(f->mirror), "s1");
    assert_string_equal(mirror_find(f->mirror, "/a")->data, "1");
    assert_null(mirror_find(f->mirror, "/other"));
    assert_heard(f, "");
    end(f, 3);
    assert_heard(f, "synced s2 2\nstale no more\napplied 3\n");
    assert_null(mirror_find(f->mirror, "/a"));
    assert_int_equal(mirror_applied(f->mirror), 3);
}

static void broken_first_read_begins_anew(void **state)
{
    struct fake *f = *state;
    begin(f, "s1");
    node(f, "/", "", 1, 1);
    node(f, "/half", "x", 2, 2);
    lost(f);
    assert_false(mirror_ready(f->mirror));
    node(f, "/half", "x", 2, 3);
    begin(f, "s1");
    node(f, "/", "", 1, 1);
    end(f, 5);
    assert_heard(f, "stale cable cut\nsynced s1 1\nstale no more\napplied 5\n");
    assert_null(mirror_find(f->mirror, "/half"));
}

static void broken_second_read_keeps_all(void **state)
{
    struct fake *f = *state;
    first_read(f);
    begin(f, "s1");
    node(f, "/", "", 1, 1);
    lost(f);
    assert_int_equal(mirror_n_nodes(f->mirror), 4);
    fake_forget(f);
    begin(f, "s1");
    node(f, "/", "", 1, 1);
    node(f, "/b", "3", 4, 4);
    end(f, 40);
    settle(f);
    assert_heard(f, "delete /a/x=2 @40\ndelete /a=1 @40\nstale no more\napplied 40\n");
}

static void large_sweep_comes_in_slices(void **state)
{
    enum { N = 7000 };
    struct fake *f = *state;
    char path[32];
    begin(f, "s1");
    node(f, "/", "", 1, 1);
    for (int i = 0; i < N; i++) {
        snprintf(path, sizeof path, "/n%05d", i);
        node(f, path, "x", 2, 2);
    }
    end(f, 10);
    begin(f, "s1");
    node(f, "/", "", 1, 1);
    for (int i = 0; i < N; i += 7) {
        snprintf(path, sizeof path, "/n%05d", i);
        node(f, path, "x", 2, 2);
    }
    fake_forget(f);
    end(f, 20);
    size_t n_now = mirror_n_nodes(f->mirror);
    assert_in_range(n_now, N / 7 + 2, N);
    assert_false(is_current(f));
    assert_int_equal(mirror_applied(f->mirror), 10);
    /* The loop goes on meanwhile, and so does the store. */
    node(f, "/amid", "x", 21, 21);
    gone(f, "/n06999", 22);
    settle(f);
    assert_int_equal(mirror_n_nodes(f->mirror), N / 7 + 2);
    assert_non_null(mirror_find(f->mirror, "/amid"));
    assert_non_null(mirror_find(f->mirror, "/n00007"));
    assert_null(mirror_find(f->mirror, "/n00008"));
    assert_int_equal(mirror_applied(f->mirror), 20);
}

static void lost_amid_sweep_sweeps_again(void **state)
{
    enum { N = 5000 };
    struct fake *f = *state;
    char path[32];
    begin(f, "s1");
    node(f, "/", "", 1, 1);
    for (int i = 0; i < N; i++) {
        snprintf(path, sizeof path, "/n%05d", i);
        node(f, path, "x", 2, 2);
    }
    end(f, 10);
    begin(f, "s1");
    node(f, "/", "", 1, 1);
    end(f, 20);
    lost(f);
    begin(f, "s1");
    node(f, "/", "", 1, 1);
    node(f, "/n04999", "x", 2, 2);
    fake_forget(f);
    end(f, 30);
    settle(f);
    assert_int_equal(mirror_n_nodes(f->mirror), 2);
}

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
    first_read(f);
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
    begin(f, "s1");
    node(f, "/", "", 1, 1);
    f->ops->applied(f->follower, 5);
    end(f, 4);
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
    first_read(f);
    node(f, "/a-b", "", 11, 11);
    node(f, "/a/w", "", 12, 12);
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
    first_read(f);
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
    begin(f, "s1");
    node(f, "/", "", 1, 1);
    for (unsigned i = 0; i < N; i++) {
        snprintf(path, sizeof path, "/n%05u", i * 7919U % N);
        node(f, path, "0123456789", 2, 2);
    }
    end(f, 10);
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
    first_read(f);
    mirror_node_user(mirror_find(f->mirror, "/a"), &mine);
    node(f, "/a", "set", 2, 11);
    assert_ptr_equal(mirror_find(f->mirror, "/a")->user, &mine);
    assert_null(mirror_find(f->mirror, "/b")->user);
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
    begin(f, "s1");
    node(f, "/", "", 1, 1);
    buf_add_str(dump, "/=\n");
    for (unsigned i = 0; i < 10; i++) {
        char path[32], text[16];
        if (random_next(seed) % 2)
            continue;
        snprintf(path, sizeof path, "/p%u", i);
        snprintf(text, sizeof text, "%u", random_next(seed) % 4);
        node(f, path, text, 2, zxid + random_next(seed) % 2);
        buf_addf(dump, "%s=%s\n", path, text);
        for (unsigned k = 0; k < 10; k++) {
            if (random_next(seed) % 2)
                continue;
            snprintf(path, sizeof path, "/p%u/c%u", i, k);
            node(f, path, text, 3, zxid);
            buf_addf(dump, "%s=%s\n", path, text);
        }
    }
    end(f, zxid + 2);
}

static void any_tree_becomes_any_other(void **state)
{
    struct fake *f = *state;
    uint32_t seed = 4711;
    for (int round = 1; round <= 60; round++) {
        buf_auto struct buf expected = BUF_EMPTY, got = BUF_EMPTY;
        fake_forget(f);
        random_read(f, &seed, round * 10, &expected);
        settle(f);
        const struct mirror_node *top = mirror_find(f->mirror, "/");
        for (const struct mirror_node *n = top; n; n = mirror_walk(f->mirror, top, n)) {
            mirror_path(n, &got);
            buf_addf(&got, "=%s\n", n->data);
        }
        assert_string_equal(buf_cstr(&got), buf_cstr(&expected));
    }
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(first_read_shows_at_its_end),
        CASE(changes_are_told_in_order),
        CASE(subtree_goes_children_first),
        CASE(what_is_shown_is_never_above_newest),
        CASE(same_node_again_is_no_change),
        CASE(stat_alone_never_hides_new_data),
        CASE(node_without_parent_is_left_out),
        CASE(second_read_tells_differences_only),
        CASE(changes_amid_a_second_read_stay),
        CASE(nothing_left_is_swept_empty),
        CASE(other_store_replaces_all_at_once),
        CASE(broken_first_read_begins_anew),
        CASE(broken_second_read_keeps_all),
        CASE(large_sweep_comes_in_slices),
        CASE(lost_amid_sweep_sweeps_again),
        CASE(wait_ends_when_applied),
        CASE(wait_outlasts_the_first_read),
        CASE(open_waits_die_with_the_mirror),
        CASE(walk_is_in_path_order),
        CASE(children_are_found_after_a_name),
        CASE(many_children_cost_little),
        CASE(owner_keeps_a_pointer_in_a_node),
        CASE(any_tree_becomes_any_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

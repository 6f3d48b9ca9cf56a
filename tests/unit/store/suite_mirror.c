/* The mirror on a real store. */
#include "store_suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void mirror_reads_what_is_there(void **state)
{
    struct kit *kit = *state;
    assert_err(kit_create(kit, "/", "top"), 0);
    assert_err(kit_create(kit, "/a", "1"), 0);
    assert_err(kit_create(kit, "/a/b", "2"), 0);
    int64_t zxid = kit_set(kit, "/a", "3", -1)->zxid;
    kit_mirror(kit);
    assert_int_equal(mirror_n_nodes(kit->mirror), 3);
    assert_true(mirror_applied(kit->mirror) >= zxid);
    assert_true(mirror_store_id(kit->mirror)[0] != '\0');
    assert_null(mirror_stale(kit->mirror));
    const struct mirror_node *node = mirror_find(kit->mirror, "/a");
    assert_non_null(node);
    assert_string_equal(node->data, "3");
    assert_int_equal(node->stat.version, 1);
    assert_int_equal(node->stat.mzxid, zxid);
    assert_int_equal(node->stat.n_children, 1);
    assert_string_equal(mirror_find(kit->mirror, "/")->data, "top");
}

void mirror_of_nothing_is_ready(void **state)
{
    struct kit *kit = *state;
    assert_err(kit_stat(kit, "/"), ERR_NOTFOUND);
    /* In ZooKeeper the root's czxid is the store's id: before there is a root there is no store to be complete. */
    bool is_named_by_root = strcmp(store_kind(kit->store), "zookeeper") == 0;
    if (is_named_by_root)
        assert_err(kit_create(kit, "/", ""), 0);
    kit_mirror(kit);
    if (is_named_by_root)
        kit_applied(kit, kit_delete(kit, "/", -1)->zxid);
    assert_null(mirror_find(kit->mirror, "/"));
    kit_applied(kit, kit_create(kit, "/", "now")->zxid);
    assert_string_equal(mirror_find(kit->mirror, "/")->data, "now");
}

void mirror_has_own_write_when_applied(void **state)
{
    struct kit *kit = *state;
    assert_err(kit_create(kit, "/", ""), 0);
    kit_mirror(kit);
    for (int i = 0; i < 50; i++) {
        struct outcome *o = kit_create(kit, "/a", "1");
        assert_err(o, 0);
        int64_t zxid = o->zxid;
        kit_applied(kit, zxid);
        const struct mirror_node *node = mirror_find(kit->mirror, "/a");
        assert_non_null(node);
        assert_int_equal(node->stat.mzxid, zxid);
        assert_int_equal(node->parent->stat.pzxid, zxid);
        assert_int_equal(mirror_node_note(node), 0);
        mirror_node_set_note(node, 7);
        assert_int_equal(mirror_node_note(node), 7);
        zxid = kit_set(kit, "/a", "22", -1)->zxid;
        kit_applied(kit, zxid);
        assert_string_equal(mirror_find(kit->mirror, "/a")->data, "22");
        assert_int_equal(mirror_node_note(mirror_find(kit->mirror, "/a")), 0);
        zxid = kit_delete(kit, "/a", -1)->zxid;
        kit_applied(kit, zxid);
        assert_null(mirror_find(kit->mirror, "/a"));
        assert_int_equal(mirror_find(kit->mirror, "/")->stat.n_children, 0);
    }
}

/* ---- changes ---- */

struct journal {
    struct buf lines;
    int64_t last_zxid;
};

static void journal_change(void *arg, enum mirror_change kind, const char *path,
                           const struct mirror_node *node, const char *old_data, size_t old_len, int64_t zxid)
{
    struct journal *j = arg;
    if (kind == MIRROR_DELETE)
        buf_addf(&j->lines, "delete %s\n", path);
    else if (old_data)
        buf_addf(&j->lines, "put %s %s over %.*s\n", path, node->data, (int)old_len, old_data);
    else
        buf_addf(&j->lines, "put %s %s\n", path, node->data);
    assert_true(zxid >= j->last_zxid);
    j->last_zxid = zxid;
}

void mirror_notifies_of_changes_in_order(void **state)
{
    static const struct mirror_listener listener = {.change = journal_change};
    struct kit *kit = *state;
    struct journal j = {0};
    assert_err(kit_create(kit, "/", ""), 0);
    assert_err(kit_create(kit, "/a", "1"), 0);
    kit_mirror(kit);
    mirror_listen(kit->mirror, &listener, &j);
    /* Each is waited for: ZooKeeper's watch may join two changes of one node into one. */
    kit_applied(kit, kit_set(kit, "/a", "2", -1)->zxid);
    kit_applied(kit, kit_create(kit, "/a/b", "3")->zxid);
    kit_applied(kit, kit_create(kit, "/c", "4")->zxid);
    kit_applied(kit, kit_delete(kit, "/a/b", -1)->zxid);
    kit_applied(kit, kit_delete(kit, "/a", -1)->zxid);
    assert_string_equal(buf_cstr(&j.lines), "put /a 2 over 1\n"
                                            "put /a/b 3\n"
                                            "put /c 4\n"
                                            "delete /a/b\n"
                                            "delete /a\n");
    buf_fini(&j.lines);
}

/* ---- the mirror against the store ---- */

/** A line a node, by reading the store itself. */
static void store_dump(struct kit *kit, const char *path, struct buf *out)
{
    struct outcome *o = kit_get(kit, path);
    assert_err(o, 0);
    buf_addf(out, "%s %s %lld %lld %lld %d %d %u\n", path, o->data, (long long)o->stat.czxid,
             (long long)o->stat.mzxid, (long long)o->stat.pzxid, o->stat.version, o->stat.n_children,
             o->stat.data_len);
    if (!o->stat.n_children)
        return;
    mem_auto char *names = buf_take(&kit_children(kit, path)->children);
    char *rest = names;
    for (char *name = strsep(&rest, "\n"); name && *name; name = strsep(&rest, "\n")) {
        mem_auto char *child = mem_fmt("%s/%s", path[1] ? path : "", name);
        store_dump(kit, child, out);
    }
}

static void mirror_dump(const struct mirror *m, struct buf *out)
{
    const struct mirror_node *top = mirror_find(m, "/");
    for (const struct mirror_node *n = mirror_walk(m, top, NULL); n; n = mirror_walk(m, top, n)) {
        mirror_path(n, out);
        buf_addf(out, " %s %lld %lld %lld %d %d %u\n", n->data, (long long)n->stat.czxid,
                 (long long)n->stat.mzxid, (long long)n->stat.pzxid, n->stat.version, n->stat.n_children,
                 n->stat.data_len);
    }
}

static void assert_mirror_equals_store(struct kit *kit)
{
    buf_auto struct buf mirrored = BUF_EMPTY, stored = BUF_EMPTY;
    mirror_dump(kit->mirror, &mirrored);
    store_dump(kit, "/", &stored);
    assert_string_equal(buf_cstr(&mirrored), buf_cstr(&stored));
}

/** One random write in a tree of at most 4 * 5 + 4 nodes. */
static void random_write(struct kit *kit, uint32_t *seed, struct outcome *o)
{
    char path[32], text[16];
    *seed = *seed * 1664525U + 1013904223U;
    uint32_t r = *seed >> 8;
    if (r % 3 == 0)
        snprintf(path, sizeof path, "/p%u", r / 3 % 4);
    else
        snprintf(path, sizeof path, "/p%u/c%u", r / 3 % 4, r / 12 % 5);
    snprintf(text, sizeof text, "d%u", r % 1000);
    switch (r / 64 % 4) {
    case 0: store_delete(kit->store, path, -1, kit_done, o); break;
    case 1: store_set(kit->store, path, text, strlen(text), -1, kit_done, o); break;
    default: store_create(kit->store, path, text, strlen(text), NULL, kit_done, o); break;
    }
}

/** @return largest number of the writes that succeeded. */
static int64_t random_work(struct kit *kit, uint32_t seed, size_t n)
{
    struct outcome *outcomes = mem_array(n, sizeof *outcomes);
    int64_t zxid = 0;
    size_t n_good = 0;
    for (size_t i = 0; i < n; i++) {
        outcome_begin(&outcomes[i], kit);
        random_write(kit, &seed, &outcomes[i]);
    }
    kit_wait(kit);
    for (size_t i = 0; i < n; i++) {
        n_good += outcomes[i].err == 0;
        if (!outcomes[i].err && outcomes[i].zxid > zxid)
            zxid = outcomes[i].zxid;
    }
    free(outcomes);
    assert_true(n_good > n / 10);
    return zxid;
}

void mirror_equals_store_after_random_work(void **state)
{
    struct kit *kit = *state;
    assert_err(kit_create(kit, "/", ""), 0);
    kit_mirror(kit);
    for (uint32_t round = 0; round < 10; round++) {
        kit_applied(kit, random_work(kit, 77 + round, 100));
        assert_mirror_equals_store(kit);
    }
}

void mirror_started_amid_writes_misses_none(void **state)
{
    enum { N = 2000 };
    struct kit *kit = *state;
    struct outcome *outcomes = mem_array(N, sizeof *outcomes);
    assert_err(kit_create(kit, "/", ""), 0);
    for (size_t i = 0; i < N; i++) {
        char path[32];
        snprintf(path, sizeof path, "/n%zu", i);
        outcome_begin(&outcomes[i], kit);
        store_create(kit->store, path, "x", 1, NULL, kit_done, &outcomes[i]);
        if (i == N / 2)
            kit->mirror = mirror_new(kit->store);
    }
    kit_wait(kit);
    int64_t zxid = outcomes[N - 1].zxid;
    free(outcomes);
    kit_applied(kit, zxid);
    assert_mirror_equals_store(kit);
}

void close_amid_the_first_read(void **state)
{
    enum { N = 1500 };
    struct kit *kit = *state;
    struct outcome *outcomes = mem_array(N, sizeof *outcomes);
    assert_err(kit_create(kit, "/", ""), 0);
    for (size_t i = 0; i < N; i++) {
        char path[32];
        snprintf(path, sizeof path, "/n%zu", i);
        outcome_begin(&outcomes[i], kit);
        store_create(kit->store, path, "x", 1, NULL, kit_done, &outcomes[i]);
    }
    kit_wait(kit);
    free(outcomes);
    kit->mirror = mirror_new(kit->store);
    /* A call of which the answer comes about when the first slice of the read does. */
    assert_err(kit_stat(kit, "/"), 0);
    kit_close(kit);
    assert_true(kit->is_closed);
}

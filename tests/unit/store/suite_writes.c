/* create, set, delete, multi. */
#include "store_suite.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

void root_is_made_by_create(void **state)
{
    struct kit *kit = *state;
    assert_err(kit_stat(kit, "/"), ERR_NOTFOUND);
    assert_err(kit_create(kit, "/a", "x"), ERR_NOTFOUND);
    assert_err(kit_create(kit, "/", "top"), 0);
    assert_err(kit_create(kit, "/", "top"), ERR_EXISTS);
    assert_err(kit_get(kit, "/"), 0);
    assert_string_equal(kit_get(kit, "/")->data, "top");
    assert_err(kit_create(kit, "/a", "x"), 0);
    assert_err(kit_delete(kit, "/", -1), ERR_NOTEMPTY);
    assert_err(kit_delete(kit, "/a", -1), 0);
    assert_err(kit_delete(kit, "/", -1), 0);
    assert_err(kit_stat(kit, "/"), ERR_NOTFOUND);
}

void create_needs_parent_and_free_name(void **state)
{
    struct kit *kit = *state;
    assert_err(kit_create(kit, "/", ""), 0);
    assert_err(kit_create(kit, "/a/b", "x"), ERR_NOTFOUND);
    assert_err(kit_create(kit, "/a", "first"), 0);
    assert_err(kit_create(kit, "/a/b", "x"), 0);
    assert_err(kit_create(kit, "/a", "second"), ERR_EXISTS);
    assert_string_equal(kit_get(kit, "/a")->data, "first");
}

void create_fills_stat(void **state)
{
    struct kit *kit = *state;
    assert_err(kit_create(kit, "/", ""), 0);
    int64_t before_ms = run_wall_ms();
    struct outcome *o = kit_create(kit, "/a", "seven b");
    assert_err(o, 0);
    int64_t zxid = o->zxid;
    assert_true(zxid > 0);
    o = kit_get(kit, "/a");
    assert_int_equal(o->stat.czxid, zxid);
    assert_int_equal(o->stat.mzxid, zxid);
    assert_int_equal(o->stat.pzxid, zxid);
    assert_int_equal(o->stat.version, 0);
    assert_int_equal(o->stat.cversion, 0);
    assert_int_equal(o->stat.n_children, 0);
    assert_int_equal(o->stat.data_len, 7);
    assert_false(o->stat.ephemeral);
    assert_int_equal(o->stat.ctime_ms, o->stat.mtime_ms);
    assert_in_range(o->stat.ctime_ms, before_ms - 1000, run_wall_ms() + 1000);
}

void child_moves_parents_numbers_only(void **state)
{
    struct kit *kit = *state;
    assert_err(kit_create(kit, "/", ""), 0);
    struct store_stat before = kit_create(kit, "/a", "data")->stat;
    int64_t created = kit_create(kit, "/a/b", "")->zxid;
    struct store_stat after = kit_stat(kit, "/a")->stat;
    assert_true(created > before.mzxid);
    assert_int_equal(after.pzxid, created);
    assert_int_equal(after.cversion, 1);
    assert_int_equal(after.n_children, 1);
    assert_int_equal(after.mzxid, before.mzxid);
    assert_int_equal(after.version, 0);
    assert_int_equal(after.mtime_ms, before.mtime_ms);

    kit_set(kit, "/a/b", "child data", -1);
    assert_int_equal(kit_stat(kit, "/a")->stat.pzxid, created);

    struct outcome *o = kit_delete(kit, "/a/b", -1);
    assert_err(o, 0);
    int64_t deleted = o->zxid;
    after = kit_stat(kit, "/a")->stat;
    assert_true(after.pzxid > created);
    assert_true(deleted >= after.pzxid);
    assert_int_equal(after.n_children, 0);
    assert_string_equal(kit_get(kit, "/a")->data, "data");
}

void set_checks_version(void **state)
{
    struct kit *kit = *state;
    assert_err(kit_create(kit, "/", ""), 0);
    struct store_stat before = kit_create(kit, "/a", "0")->stat;
    assert_err(kit_set(kit, "/a", "wrong", 1), ERR_CONFLICT);
    struct outcome *o = kit_set(kit, "/a", "one", 0);
    assert_err(o, 0);
    assert_int_equal(o->stat.version, 1);
    assert_int_equal(o->stat.mzxid, o->zxid);
    assert_int_equal(o->stat.data_len, 3);
    assert_int_equal(o->stat.czxid, before.czxid);
    assert_err(kit_set(kit, "/a", "stale", 0), ERR_CONFLICT);
    assert_err(kit_set(kit, "/a", "any", -1), 0);
    assert_string_equal(kit_get(kit, "/a")->data, "any");
    assert_int_equal(kit_stat(kit, "/a")->stat.version, 2);
    assert_err(kit_set(kit, "/b", "x", -1), ERR_NOTFOUND);
}

void delete_checks_children_and_version(void **state)
{
    struct kit *kit = *state;
    assert_err(kit_create(kit, "/", ""), 0);
    assert_err(kit_create(kit, "/a", ""), 0);
    assert_err(kit_create(kit, "/a/b", ""), 0);
    assert_err(kit_delete(kit, "/a", -1), ERR_NOTEMPTY);
    assert_err(kit_delete(kit, "/a/b", 3), ERR_CONFLICT);
    assert_err(kit_stat(kit, "/a/b"), 0);
    assert_err(kit_delete(kit, "/a/b", 0), 0);
    assert_err(kit_stat(kit, "/a/b"), ERR_NOTFOUND);
    assert_err(kit_delete(kit, "/a/b", -1), ERR_NOTFOUND);
    assert_err(kit_delete(kit, "/a", -1), 0);
}

void deleted_node_comes_back_new(void **state)
{
    struct kit *kit = *state;
    assert_err(kit_create(kit, "/", ""), 0);
    assert_err(kit_create(kit, "/a", "old"), 0);
    int64_t first = kit_set(kit, "/a", "older", -1)->zxid;
    int64_t deleted = kit_delete(kit, "/a", -1)->zxid;
    struct outcome *o = kit_create(kit, "/a", "new");
    assert_err(o, 0);
    assert_true(deleted > first);
    assert_true(o->zxid > deleted);
    assert_int_equal(o->stat.version, 0);
    assert_int_equal(kit_stat(kit, "/a")->stat.czxid, kit_stat(kit, "/a")->stat.mzxid);
}

static struct outcome *set_if(struct kit *kit, const char *path, const char *text, int64_t mzxid)
{
    static struct outcome o;
    outcome_fini(&o);
    outcome_begin(&o, kit);
    store_set_if(kit->store, path, text, strlen(text), mzxid, kit_done, &o);
    kit_wait(kit);
    return &o;
}

static struct outcome *delete_if(struct kit *kit, const char *path, int64_t mzxid)
{
    static struct outcome o;
    outcome_fini(&o);
    outcome_begin(&o, kit);
    store_delete_if(kit->store, path, mzxid, kit_done, &o);
    kit_wait(kit);
    return &o;
}

void write_if_means_one_state_of_one_node(void **state)
{
    struct kit *kit = *state;
    assert_err(kit_create(kit, "/", ""), 0);
    assert_err(kit_create(kit, "/a", ""), 0);
    int64_t first = kit_create(kit, "/a/b", "first")->zxid;
    struct outcome *o = set_if(kit, "/a/b", "second", first);
    assert_err(o, 0);
    assert_int_equal(o->stat.version, 1);
    assert_int_equal(o->zxid, o->stat.mzxid);
    int64_t second = o->zxid;
    assert_int_equal(kit_stat(kit, "/a/b")->stat.mzxid, second);
    assert_err(set_if(kit, "/a/b", "late", first), ERR_CONFLICT);
    assert_err(delete_if(kit, "/a/b", first), ERR_CONFLICT);
    assert_err(set_if(kit, "/a/none", "x", first), ERR_NOTFOUND);
    assert_err(delete_if(kit, "/a/none", first), ERR_NOTFOUND);
    assert_string_equal(kit_get(kit, "/a/b")->data, "second");
    int64_t parent = kit_stat(kit, "/a")->stat.mzxid;
    assert_err(delete_if(kit, "/a", parent), ERR_NOTEMPTY);
    assert_err(delete_if(kit, "/a/b", second), 0);
    assert_err(kit_stat(kit, "/a/b"), ERR_NOTFOUND);
    assert_int_equal(kit_children(kit, "/a")->n_children, 0);
    assert_err(set_if(kit, "/", "root", kit_stat(kit, "/")->stat.mzxid), 0);
}

/* Others delete the node and make it anew, version and all, after it was looked at and before it is written. */
void write_if_spares_what_took_its_place(void **state)
{
    static struct outcome conditional, deleted, made;
    struct kit *kit = *state;
    assert_err(kit_create(kit, "/", ""), 0);
    for (int i = 0; i < 2; i++) {
        int64_t first = kit_create(kit, "/a", "first")->zxid;
        outcome_begin(&conditional, kit);
        if (i == 0)
            store_delete_if(kit->store, "/a", first, kit_done, &conditional);
        else
            store_set_if(kit->store, "/a", "mine", 4, first, kit_done, &conditional);
        outcome_begin(&deleted, kit);
        store_delete(kit->store, "/a", -1, kit_done, &deleted);
        outcome_begin(&made, kit);
        store_create(kit->store, "/a", "another's", 9, NULL, kit_done, &made);
        kit_wait(kit);
        assert_err(&made, 0);
        assert_string_equal(kit_get(kit, "/a")->data, "another's");
        assert_int_equal(kit_stat(kit, "/a")->stat.version, 0);
        assert_err(kit_delete(kit, "/a", 0), 0);
        outcome_fini(&conditional);
        outcome_fini(&deleted);
        outcome_fini(&made);
    }
}

enum { SIBLINGS = 150 };

static const char *sibling(int i)
{
    static char path[32];
    snprintf(path, sizeof path, "/a/s%03d", i);
    return path;
}

/* All at once: the check of one is nothing to the others, and what is wrong with one stays its own. */
void writes_if_beside_each_other_are_all_done(void **state)
{
    static struct outcome o[SIBLINGS], twice;
    enum { STALE = 70, PARENT = 90 };
    struct kit *kit = *state;
    int64_t last[SIBLINGS];
    assert_err(kit_create(kit, "/", ""), 0);
    assert_err(kit_create(kit, "/a", ""), 0);
    for (int i = 0; i < SIBLINGS; i++)
        last[i] = kit_create(kit, sibling(i), "made")->zxid;
    for (int i = 0; i < SIBLINGS; i++) {
        outcome_begin(&o[i], kit);
        store_set_if(kit->store, sibling(i), sibling(i), 7, last[i] - (i == STALE), kit_done, &o[i]);
    }
    outcome_begin(&twice, kit);
    store_set_if(kit->store, sibling(0), "second", 6, last[0], kit_done, &twice);
    kit_wait(kit);
    assert_err(&twice, ERR_CONFLICT);
    for (int i = 0; i < SIBLINGS; i++) {
        assert_err(&o[i], i == STALE ? ERR_CONFLICT : 0);
        int64_t now = kit_stat(kit, sibling(i))->stat.mzxid;
        assert_true(i == STALE ? now == last[i] : now == o[i].zxid && now == o[i].stat.mzxid);
        assert_string_equal(kit_get(kit, sibling(i))->data, i == STALE ? "made" : sibling(i));
        last[i] = now;
        outcome_fini(&o[i]);
    }
    assert_err(kit_create(kit, "/a/s090/child", ""), 0);
    for (int i = 0; i < SIBLINGS; i++) {
        outcome_begin(&o[i], kit);
        store_delete_if(kit->store, sibling(i), last[i], kit_done, &o[i]);
    }
    kit_wait(kit);
    for (int i = 0; i < SIBLINGS; i++) {
        assert_err(&o[i], i == PARENT ? ERR_NOTEMPTY : 0);
        outcome_fini(&o[i]);
    }
    assert_int_equal(kit_children(kit, "/a")->n_children, 1);
    outcome_fini(&twice);
}

static struct store_op op_create(const char *path, const char *text)
{
    return (struct store_op){STORE_OP_CREATE, path, text, strlen(text), -1, NULL, 0, NULL};
}

static struct store_op op_set(const char *path, const char *text, int32_t version)
{
    return (struct store_op){STORE_OP_SET, path, text, strlen(text), version, NULL, 0, NULL};
}

static struct store_op op_bare(enum store_op_kind kind, const char *path, int32_t version)
{
    return (struct store_op){kind, path, NULL, 0, version, NULL, 0, NULL};
}

void multi_is_all_or_nothing(void **state)
{
    struct kit *kit = *state;
    assert_err(kit_create(kit, "/", ""), 0);
    assert_err(kit_create(kit, "/a", "before"), 0);
    const struct store_op bad[] = {op_create("/b", "x"), op_set("/a", "after", -1),
                                   op_bare(STORE_OP_DELETE, "/missing", -1)};
    assert_err(kit_multi(kit, bad, 3), ERR_NOTFOUND);
    assert_err(kit_stat(kit, "/b"), ERR_NOTFOUND);
    assert_string_equal(kit_get(kit, "/a")->data, "before");
    assert_int_equal(kit_stat(kit, "/")->stat.n_children, 1);

    const struct store_op good[] = {op_create("/b", "x"), op_set("/a", "after", 0)};
    struct outcome *o = kit_multi(kit, good, 2);
    assert_err(o, 0);
    int64_t zxid = o->zxid;
    assert_string_equal(kit_get(kit, "/a")->data, "after");
    assert_true(kit_stat(kit, "/a")->stat.mzxid <= zxid);
    assert_err(kit_stat(kit, "/b"), 0);
}

void multi_sees_its_own_work(void **state)
{
    struct kit *kit = *state;
    assert_err(kit_create(kit, "/", ""), 0);
    const struct store_op ops[] = {op_create("/a", ""),       op_create("/a/b", "1"),
                                   op_set("/a/b", "2", 0),    op_bare(STORE_OP_CHECK, "/a/b", 1),
                                   op_create("/a/gone", "x"), op_bare(STORE_OP_DELETE, "/a/gone", 0)};
    assert_err(kit_multi(kit, ops, 6), 0);
    assert_string_equal(kit_get(kit, "/a/b")->data, "2");
    assert_err(kit_stat(kit, "/a/gone"), ERR_NOTFOUND);
    assert_int_equal(kit_stat(kit, "/a")->stat.n_children, 1);
}

void multi_reports_failed_op(void **state)
{
    struct kit *kit = *state;
    assert_err(kit_create(kit, "/", ""), 0);
    assert_err(kit_create(kit, "/a", ""), 0);
    const struct {
        struct store_op op;
        int err;
    } rows[] = {
        {op_create("/a", ""), ERR_EXISTS},
        {op_create("/no/parent", ""), ERR_NOTFOUND},
        {op_set("/a", "", 7), ERR_CONFLICT},
        {op_bare(STORE_OP_CHECK, "/a", 7), ERR_CONFLICT},
        {op_bare(STORE_OP_CHECK, "/b", -1), ERR_NOTFOUND},
        {op_bare(STORE_OP_DELETE, "/a", 7), ERR_CONFLICT},
        {op_create("no-slash", ""), ERR_PATH},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct store_op ops[] = {op_create("/ok", ""), rows[i].op, op_create("/later", "")};
        struct outcome *o = kit_multi(kit, ops, 3);
        assert_err(o, rows[i].err);
        assert_int_equal(o->failed_op, 1);
        assert_string_equal(o->why.where, rows[i].op.path);
    }
    assert_int_equal(kit_stat(kit, "/")->stat.n_children, 1);
}

void failing_multi_leaves_nothing_among_others(void **state)
{
    enum { N = 40 };
    static struct outcome multis[N], creates[N];
    struct kit *kit = *state;
    assert_err(kit_create(kit, "/", ""), 0);
    for (size_t i = 0; i < N; i++) {
        char half[32], whole[32];
        snprintf(half, sizeof half, "/half%zu", i);
        snprintf(whole, sizeof whole, "/whole%zu", i);
        const struct store_op ops[] = {op_create(half, ""), op_bare(STORE_OP_CHECK, "/", 5)};
        outcome_begin(&multis[i], kit);
        outcome_begin(&creates[i], kit);
        store_multi(kit->store, ops, 2, kit_done, &multis[i]);
        store_create(kit->store, whole, "", 0, NULL, kit_done, &creates[i]);
    }
    kit_wait(kit);
    for (size_t i = 0; i < N; i++) {
        assert_err(&multis[i], ERR_CONFLICT);
        assert_int_equal(multis[i].failed_op, 1);
        assert_err(&creates[i], 0);
    }
    struct outcome *o = kit_children(kit, "/");
    assert_int_equal(o->n_children, N);
    assert_null(strstr(buf_cstr(&o->children), "half"));
}

void empty_multi_is_refused(void **state)
{
    struct kit *kit = *state;
    assert_err(kit_multi(kit, NULL, 0), ERR_INVALID);
}

/* It shares transactions and numbers with the store, and is seen by nobody who lists or follows it. */
void aside_is_a_second_tree(void **state)
{
    struct kit *kit = *state;
    assert_true(store_has_aside(kit->store));
    assert_err(kit_create(kit, "/", ""), 0);
    kit_mirror(kit);
    assert_err(kit_stat(kit, STORE_ASIDE), ERR_NOTFOUND);
    assert_err(kit_create(kit, STORE_ASIDE "/x", ""), ERR_NOTFOUND);
    assert_err(kit_create(kit, STORE_ASIDE, ""), 0);
    assert_err(kit_create(kit, STORE_ASIDE "/gone", ""), 0);
    assert_err(kit_delete(kit, STORE_ASIDE "/gone", -1), 0);
    const struct store_op ops[] = {op_create("/a", "1"), op_create(STORE_ASIDE "/a", "2")};
    assert_err(kit_multi(kit, ops, 2), 0);
    assert_err(kit_multi(kit, ops, 2), ERR_EXISTS);
    assert_string_equal(kit_get(kit, STORE_ASIDE "/a")->data, "2");
    int64_t aside = kit_stat(kit, STORE_ASIDE "/a")->stat.czxid;
    struct store_stat a = kit_stat(kit, "/a")->stat;
    assert_int_equal(a.mzxid, aside);
    assert_int_equal(kit_children(kit, "/")->n_children, 1);
    assert_int_equal(kit_children(kit, STORE_ASIDE)->n_children, 1);
    assert_err(kit_set(kit, STORE_ASIDE "/a", "3", 0), 0);
    assert_int_equal(kit_stat(kit, STORE_ASIDE "/a")->stat.czxid, aside);
    struct outcome *later = kit_create(kit, "/b", "");
    assert_err(later, 0);
    kit_applied(kit, later->zxid);
    assert_int_equal(mirror_n_nodes(kit->mirror), 3);
    assert_err(kit_delete(kit, STORE_ASIDE "/a", 1), 0);
    assert_err(kit_delete(kit, STORE_ASIDE, -1), 0);
}

void writes_complete_in_order(void **state)
{
    enum { N = 400 };
    static struct outcome made[N], set[N];
    struct kit *kit = *state;
    assert_err(kit_create(kit, "/", ""), 0);
    for (size_t i = 0; i < N; i++) {
        char path[32];
        snprintf(path, sizeof path, "/n%zu", i % 100);
        outcome_begin(&made[i], kit);
        outcome_begin(&set[i], kit);
        store_create(kit->store, path, "a", 1, NULL, kit_done, &made[i]);
        store_set(kit->store, path, "bc", 2, (int32_t)(i / 100), kit_done, &set[i]);
    }
    assert_int_equal(made[0].n_calls, 0);
    kit_wait(kit);
    for (size_t i = 0; i < N; i++) {
        assert_err(&made[i], i < 100 ? 0 : ERR_EXISTS);
        assert_err(&set[i], 0);
        assert_true(made[i].order < set[i].order);
        if (i) {
            assert_true(set[i - 1].order < made[i].order);
            assert_true(set[i - 1].zxid < set[i].zxid);
        }
    }
}

void failing_write_fails_alone(void **state)
{
    enum { N = 90 };
    static struct outcome outcomes[N];
    struct kit *kit = *state;
    assert_err(kit_create(kit, "/", ""), 0);
    for (size_t i = 0; i < N; i++) {
        char path[32];
        snprintf(path, sizeof path, i % 3 == 1 ? "/none/n%zu" : "/n%zu", i);
        outcome_begin(&outcomes[i], kit);
        if (i % 3 == 2)
            store_set(kit->store, "/n0", "x", 1, 9999, kit_done, &outcomes[i]);
        else
            store_create(kit->store, path, "x", 1, NULL, kit_done, &outcomes[i]);
    }
    kit_wait(kit);
    for (size_t i = 0; i < N; i++)
        assert_err(&outcomes[i], i % 3 == 0 ? 0 : i % 3 == 1 ? ERR_NOTFOUND : ERR_CONFLICT);
    assert_int_equal(kit_stat(kit, "/")->stat.n_children, N / 3);
}

void close_answers_every_call(void **state)
{
    enum { N = 20 };
    static struct outcome writes[N], reads[N];
    struct kit *kit = *state;
    assert_err(kit_create(kit, "/", ""), 0);
    for (size_t i = 0; i < N; i++) {
        char path[32];
        snprintf(path, sizeof path, "/n%zu", i);
        outcome_begin(&writes[i], kit);
        outcome_begin(&reads[i], kit);
        store_create(kit->store, path, "x", 1, NULL, kit_done, &writes[i]);
        store_get(kit->store, "/", kit_done, &reads[i]);
    }
    kit_close(kit);
    assert_int_equal(kit->n_open, 0);
    for (size_t i = 0; i < N; i++) {
        assert_int_equal(writes[i].n_calls, 1);
        assert_int_equal(reads[i].n_calls, 1);
        assert_true(writes[i].err == 0 || writes[i].err == ERR_CANCELLED);
        assert_true(reads[i].err == 0 || reads[i].err == ERR_CANCELLED);
        outcome_fini(&reads[i]);
    }
}

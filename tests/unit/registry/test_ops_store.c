/**
 * The operations over a store: results and errors of Hadoop's operations, names, conditions, deletes. The store is an
 * embedded one, or the ZooKeeper that BOBBIN_TEST_ZK names (a tree of its own for each test).
 */
#include <signal.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/obj.h"
#include "registry/ops_store.h"

struct fixture {
    struct run_loop *loop;
    char *directory;
    struct store *store;
    struct reg_store *dns, *zookeeper; /* the two modes of names, over one store */
};

/** Copies of what a completion got. */
struct got {
    struct run_loop *loop;
    int n_calls, err;
    bool changed;
    struct store_stat stat;
    char *data, *names;
    struct reg_record *record;
    int64_t zxid;
    struct err_info why;
};

static struct got last;

static void forget(void)
{
    free(last.data);
    free(last.names);
    reg_record_free(last.record);
    last = (struct got){.loop = last.loop};
}

static void on_done(void *arg, int err, const struct reg_store_result *r)
{
    struct buf names = BUF_EMPTY;

    assert_ptr_equal(arg, &last);
    assert_int_equal(r->why.code, err);
    for (size_t i = 0; i < r->n_children; i++)
        buf_addf(&names, "%s%s", i ? "," : "", r->children[i]);
    last.n_calls++;
    last.err = err;
    last.changed = r->changed;
    last.stat = r->stat;
    last.data = r->data ? mem_strn(r->data, r->data_len) : NULL;
    last.names = buf_take(&names);
    last.record = r->record ? reg_record_copy(r->record) : NULL;
    last.zxid = r->zxid;
    last.why = r->why;
    run_loop_stop(last.loop);
}

static int finish_call(void)
{
    assert_int_equal(last.n_calls, 0); /* never inside the call */
    run_loop_run(last.loop);
    assert_int_equal(last.n_calls, 1);
    return last.err;
}

static int mknode(struct reg_store *rs, const char *path, bool parents)
{
    forget();
    reg_store_mknode(rs, path, parents, on_done, &last);
    return finish_call();
}

static struct reg_checked described(const char *description)
{
    mem_auto char *json = mem_fmt("{\"type\":\"JSONServiceRecord\",\"description\":\"%s\"}", description);
    struct reg_checked record;

    assert_int_equal(reg_checked_read(json, strlen(json), REG_STRICT, &record, NULL), 0);
    return record;
}

static int bind_if(struct reg_store *rs, const char *path, const char *description, unsigned flags,
                   struct reg_store_cond cond)
{
    struct reg_checked record = described(description);
    const struct store_stat seen = {.czxid = 1};
    struct reg_store_binding binding = {.record = &record, .flags = flags, .cond = cond, .seen = &seen};

    forget();
    reg_store_bind(rs, path, &binding, on_done, &last);
    finish_call();
    reg_checked_fini(&record);
    return last.err;
}

static int bind_record(struct reg_store *rs, const char *path, const char *description, unsigned flags)
{
    return bind_if(rs, path, description, flags, (struct reg_store_cond){REG_IF_NONE, 0});
}

#define READER(name)                                                                                         \
    static int name##_path(struct reg_store *rs, const char *path)                                           \
    {                                                                                                        \
        forget();                                                                                            \
        reg_store_##name(rs, path, on_done, &last);                                                          \
        return finish_call();                                                                                \
    }
READER(resolve)
READER(read)
READER(stat)
READER(exists)
READER(list)

static int delete_if(struct reg_store *rs, const char *path, bool recursive, struct reg_store_cond cond)
{
    forget();
    reg_store_delete(rs, path, recursive, &cond, on_done, &last);
    return finish_call();
}

static int delete_path(struct reg_store *rs, const char *path, bool recursive)
{
    return delete_if(rs, path, recursive, (struct reg_store_cond){REG_IF_NONE, 0});
}

static int setup_nodes(struct reg_store *rs)
{
    forget();
    reg_store_setup(rs, on_done, &last);
    return finish_call();
}

static void assert_description(struct reg_store *rs, const char *path, const char *description)
{
    assert_int_equal(resolve_path(rs, path), 0);
    assert_string_equal(last.record->description, description);
}

static void assert_absent(struct reg_store *rs, const char *path)
{
    assert_int_equal(exists_path(rs, path), 0);
    assert_false(last.changed);
}

/* ---- fixture ---- */

static char *store_url_for(const char *directory)
{
    static int n_trees;
    const char *servers = getenv("BOBBIN_TEST_ZK");

    if (servers)
        return mem_fmt("zk://%s/ops-%d-%d", servers, (int)getpid(), n_trees++);
    return mem_fmt("file:%s/store", directory);
}

static int open_all(void **state)
{
    struct fixture *f = mem_new(struct fixture);
    char template[] = "/tmp/bobbin-ops-XXXXXX";
    struct store_options options = {.no_sync = true, .map_size = (int64_t)64 << 20};
    mem_auto char *url = NULL;
    struct err_info why = {0};

    f->directory = mem_str(mkdtemp(template));
    assert_non_null(f->directory);
    url = store_url_for(f->directory);
    signal(SIGPIPE, SIG_IGN); /* as the daemons do: a connection that is cut is an error of write */
    f->loop = run_loop_new();
    last.loop = f->loop;
    assert_int_equal(store_open(f->loop, url, &options, &f->store, &why), 0);
    f->dns = reg_store_new(f->loop, f->store, REG_NAMES_DNS, NULL);
    f->zookeeper = reg_store_new(f->loop, f->store, REG_NAMES_ZOOKEEPER, NULL);
    assert_int_equal(setup_nodes(f->dns), 0);
    *state = f;
    return 0;
}

static void on_closed(void *arg)
{
    struct fixture *f = arg;

    run_loop_stop(f->loop);
}

static int close_all(void **state)
{
    struct fixture *f = *state;
    mem_auto char *command = mem_fmt("rm -rf '%s'", f->directory);

    reg_store_free(f->dns);
    reg_store_free(f->zookeeper);
    store_close(f->store, on_closed, f);
    run_loop_run(f->loop);
    forget();
    run_loop_free(f->loop);
    assert_int_equal(system(command), 0);
    free(f->directory);
    free(f);
    return 0;
}

/* ---- set-up and mknode ---- */

static void test_setup_makes_what_is_missing(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(list_path(f->dns, "/"), 0);
    assert_string_equal(last.names, "services,users");
    assert_int_equal(read_path(f->dns, "/users"), 0);
    assert_string_equal(last.data, "127.0.0.1");
    assert_int_equal(read_path(f->dns, "/"), 0);
    assert_string_equal(last.data, "127.0.0.1");
    assert_string_equal(last.names, "services,users");
    assert_int_equal(bind_record(f->dns, "/users", "mine", REG_OVERWRITE), 0);
    assert_int_equal(setup_nodes(f->dns), 0);
    assert_false(last.changed);
    assert_description(f->dns, "/users", "mine");
}

static void test_mknode(void **state)
{
    struct fixture *f = *state;
    int64_t zxid;

    assert_int_equal(mknode(f->dns, "/x", false), 0);
    assert_true(last.changed);
    zxid = last.zxid;
    assert_true(zxid > 0);
    assert_int_equal(last.stat.mzxid, zxid);
    assert_int_equal(mknode(f->dns, "x", false), 0);
    assert_false(last.changed);
    assert_int_equal(mknode(f->dns, "/x/", false), 0);
    assert_false(last.changed);
    assert_int_equal(mknode(f->dns, "/", false), 0);
    assert_false(last.changed);
    assert_int_equal(mknode(f->dns, "", false), 0);
    assert_false(last.changed);
    assert_int_equal(read_path(f->dns, "/x"), 0);
    assert_string_equal(last.data, "127.0.0.1");
    assert_int_equal(mknode(f->dns, "/y", false), 0);
    assert_true(last.zxid > zxid);
}

static void test_mknode_parents(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(mknode(f->dns, "/a/b/c", false), ERR_NOTFOUND);
    assert_absent(f->dns, "/a");
    assert_int_equal(mknode(f->dns, "/a/b/c", true), 0);
    assert_true(last.changed);
    assert_int_equal(read_path(f->dns, "/a/b"), 0);
    assert_string_equal(last.data, "");
    assert_string_equal(last.names, "c");
    assert_int_equal(read_path(f->dns, "/a/b/c"), 0);
    assert_string_equal(last.data, "127.0.0.1");
    assert_int_equal(bind_record(f->dns, "/a", "kept", REG_OVERWRITE), 0);
    assert_int_equal(mknode(f->dns, "/a/d/e", true), 0);
    assert_description(f->dns, "/a", "kept");
}

static void test_mknode_after_root_is_gone(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(delete_path(f->dns, "/", true), 0);
    assert_int_equal(mknode(f->dns, "/x", false), ERR_NOTFOUND);
    assert_int_equal(mknode(f->dns, "/x/y", true), 0);
    assert_int_equal(setup_nodes(f->dns), 0);
    assert_true(last.changed);
    assert_int_equal(list_path(f->dns, "/"), 0);
    assert_string_equal(last.names, "services,users,x");
}

static void test_bad_paths(void **state)
{
    static const char *const bad[] = {"//",      "/x//y", "/.",    "/x/..",
                                      "/x/../y", "/\x01", "/\xff", "/\xf0\x90\x80\x80"};
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        assert_int_equal(mknode(f->zookeeper, bad[i], true), ERR_PATH);
        assert_int_equal(bind_record(f->zookeeper, bad[i], "d", REG_OVERWRITE), ERR_PATH);
        assert_int_equal(resolve_path(f->zookeeper, bad[i]), ERR_PATH);
        assert_int_equal(exists_path(f->zookeeper, bad[i]), ERR_PATH);
        assert_int_equal(delete_path(f->zookeeper, bad[i], true), ERR_PATH);
    }
    assert_int_equal(stat_path(f->zookeeper, NULL), ERR_INVALID);
    assert_int_equal(list_path(f->zookeeper, "/"), 0);
    assert_string_equal(last.names, "services,users");
}

/* ---- names ---- */

static void test_zookeeper_names(void **state)
{
    static const char *const names[] = {"x y",       "X",  "x_y",  "...",    "€",
                                        "zookeeper", " x", "x\\y", "000000", "-storm"};
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        mem_auto char *path = mem_fmt("/users/%s/service.class/service 4_5", names[i]);

        assert_int_equal(mknode(f->zookeeper, path, true), 0);
        assert_true(last.changed);
    }
}

static void test_dns_names_are_checked_before_anything_is_made(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(mknode(f->dns, "/users/a_b", false), ERR_PATH);
    assert_non_null(strstr(last.why.text, "a_b"));
    assert_int_equal(mknode(f->dns, "/ok/Bad/fine", true), ERR_PATH);
    assert_non_null(strstr(last.why.text, "Bad"));
    assert_absent(f->dns, "/ok");
    assert_int_equal(bind_record(f->dns, "/users/x.y", "d", REG_OVERWRITE), ERR_PATH);
    assert_int_equal(bind_record(f->dns, "/users/x.y", "d", REG_CREATE), ERR_PATH);
    assert_int_equal(
        mknode(f->dns, "/users/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false),
        ERR_PATH);
    assert_int_equal(list_path(f->dns, "/users"), 0);
    assert_string_equal(last.names, "");
}

static void test_names_that_exist_are_taken_as_they_are(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(mknode(f->zookeeper, "/users/Old_Name", false), 0);
    assert_int_equal(mknode(f->dns, "/users/Old_Name", false), 0);
    assert_false(last.changed);
    assert_int_equal(bind_record(f->dns, "/users/Old_Name", "d", REG_CREATE), ERR_EXISTS);
    assert_int_equal(bind_record(f->dns, "/users/Old_Name", "new", REG_OVERWRITE), 0);
    assert_description(f->dns, "/users/Old_Name", "new");
    assert_int_equal(mknode(f->dns, "/users/Old_Name/a/b", true), 0);
    assert_int_equal(mknode(f->dns, "/users/Old_Name/A", true), ERR_PATH);
    assert_int_equal(delete_path(f->dns, "/users/Old_Name", true), 0);
    assert_absent(f->dns, "/users/Old_Name");
}

/* ---- bind, resolve, stat, list ---- */

static void test_bind(void **state)
{
    struct fixture *f = *state;
    struct store_stat before;

    assert_int_equal(bind_record(f->dns, "/path/without/parent", "d", REG_CREATE), ERR_NOTFOUND);
    assert_int_equal(bind_record(f->dns, "/path/without/parent", "d", REG_OVERWRITE), ERR_NOTFOUND);
    assert_absent(f->dns, "/path");
    assert_int_equal(bind_record(f->dns, "/path/without/parent", "d", REG_CREATE_PARENTS), 0);
    assert_true(last.changed);
    assert_description(f->dns, "/path/without/parent", "d");
    assert_int_equal(bind_record(f->dns, "/r", "one", REG_CREATE), 0);
    assert_true(last.changed);
    before = last.stat;
    assert_int_equal(bind_record(f->dns, "/r", "two", REG_CREATE), ERR_EXISTS);
    assert_int_equal(bind_record(f->dns, "/r", "two", REG_CREATE_PARENTS), ERR_EXISTS);
    assert_description(f->dns, "/r", "one");
    assert_int_equal(mknode(f->dns, "/r/child", false), 0);
    assert_int_equal(bind_record(f->dns, "/r", "longer", REG_OVERWRITE | REG_CREATE_PARENTS), 0);
    assert_false(last.changed);
    assert_true(last.zxid > before.mzxid);
    assert_int_equal(stat_path(f->dns, "/r"), 0);
    assert_int_equal(last.stat.ctime_ms, before.ctime_ms);
    assert_int_equal(last.stat.data_len, before.data_len + 3);
    assert_int_equal(last.stat.n_children, 1);
    assert_int_equal(bind_record(f->dns, "/", "root", REG_CREATE), ERR_EXISTS);
    assert_int_equal(bind_record(f->dns, "/", "root", REG_OVERWRITE), 0);
    assert_description(f->dns, "/", "root");
}

/** A node that only seems to be missing is overwritten all the same; one that is missing is made, with parents. */
static void test_bind_what_seems_missing(void **state)
{
    struct fixture *f = *state;
    struct reg_checked record = described("new");
    struct reg_store_binding binding = {.record = &record, .flags = REG_OVERWRITE | REG_CREATE_PARENTS};

    assert_int_equal(bind_record(f->dns, "/there", "old", REG_CREATE), 0);
    forget();
    reg_store_bind(f->dns, "/there", &binding, on_done, &last);
    assert_int_equal(finish_call(), 0);
    assert_false(last.changed);
    assert_description(f->dns, "/there", "new");
    forget();
    reg_store_bind(f->dns, "/not/there", &binding, on_done, &last);
    assert_int_equal(finish_call(), 0);
    assert_true(last.changed);
    assert_description(f->dns, "/not/there", "new");
    reg_checked_fini(&record);
}

static void test_bind_conditions(void **state)
{
    struct fixture *f = *state;
    struct reg_store_cond absent = {REG_IF_ABSENT, 0}, exists = {REG_IF_EXISTS, 0}, same = {REG_IF_MZXID, 0};

    assert_int_equal(bind_if(f->dns, "/r", "x", REG_OVERWRITE, exists), ERR_CONFLICT);
    same.mzxid = 1;
    assert_int_equal(bind_if(f->dns, "/r", "x", REG_OVERWRITE, same), ERR_CONFLICT);
    assert_absent(f->dns, "/r");
    assert_int_equal(bind_if(f->dns, "/r", "one", REG_OVERWRITE, absent), 0);
    assert_true(last.changed);
    same.mzxid = last.stat.mzxid;
    assert_int_equal(bind_if(f->dns, "/r", "two", REG_OVERWRITE, absent), ERR_CONFLICT);
    assert_description(f->dns, "/r", "one");
    assert_int_equal(mknode(f->dns, "/r/child", false), 0); /* children do not move mzxid */
    assert_int_equal(bind_if(f->dns, "/r", "two", REG_CREATE, same), 0);
    assert_false(last.changed);
    assert_int_equal(bind_if(f->dns, "/r", "three", REG_CREATE, same), ERR_CONFLICT);
    assert_description(f->dns, "/r", "two");
    assert_int_equal(bind_if(f->dns, "/r", "three", REG_CREATE, exists), 0);
    assert_description(f->dns, "/r", "three");
}

static int n_won, n_lost, n_open;

static void on_race_done(void *arg, int err, const struct reg_store_result *r)
{
    struct fixture *f = arg;

    (void)r;
    n_won += err == 0;
    n_lost += err == ERR_CONFLICT;
    if (--n_open == 0)
        run_loop_stop(f->loop);
}

/** Ten writers that all saw the same data: one wins. */
static void test_condition_is_lost_in_a_race(void **state)
{
    struct fixture *f = *state;
    struct reg_checked record = described("two");
    struct reg_store_binding binding = {.record = &record, .flags = REG_OVERWRITE, .cond = {REG_IF_MZXID, 0}};

    assert_int_equal(bind_record(f->dns, "/r", "one", REG_CREATE), 0);
    binding.cond.mzxid = last.stat.mzxid;
    n_won = n_lost = 0;
    n_open = 10;
    for (int i = 0; i < 10; i++)
        reg_store_bind(f->dns, "/r", &binding, on_race_done, f);
    run_loop_run(f->loop);
    assert_int_equal(n_won, 1);
    assert_int_equal(n_lost, 9);
    reg_checked_fini(&record);
}

static void test_reads(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(stat_path(f->dns, "/absent"), ERR_NOTFOUND);
    assert_int_equal(list_path(f->dns, "/absent"), ERR_NOTFOUND);
    assert_int_equal(resolve_path(f->dns, "/absent"), ERR_NOTFOUND);
    assert_int_equal(read_path(f->dns, "/absent"), ERR_NOTFOUND);
    assert_int_equal(mknode(f->dns, "/empty/below", true), 0);
    assert_int_equal(resolve_path(f->dns, "/empty"), ERR_NORECORD);
    assert_int_equal(resolve_path(f->dns, "/empty/below"), ERR_NORECORD);
    assert_int_equal(list_path(f->dns, "/empty/below"), 0);
    assert_string_equal(last.names, "");
    assert_int_equal(exists_path(f->dns, "/empty/below/"), 0);
    assert_true(last.changed);
    assert_int_equal(bind_record(f->dns, "/empty/a", "d", 0), 0);
    assert_int_equal(list_path(f->dns, "/empty"), 0);
    assert_string_equal(last.names, "a,below");
    assert_int_equal(last.stat.n_children, 2);
}

/* ---- delete ---- */

static void test_delete(void **state)
{
    struct fixture *f = *state;
    int64_t bound;

    assert_int_equal(delete_path(f->dns, "/absent", false), 0);
    assert_false(last.changed);
    assert_int_equal(delete_path(f->dns, "/absent", true), 0);
    assert_false(last.changed);
    assert_int_equal(bind_record(f->dns, "/p/r", "d", REG_CREATE_PARENTS), 0);
    bound = last.zxid;
    assert_int_equal(delete_path(f->dns, "/p", false), ERR_NOTEMPTY);
    assert_description(f->dns, "/p/r", "d");
    assert_int_equal(delete_path(f->dns, "/p/r", false), 0);
    assert_true(last.changed);
    assert_true(last.zxid > bound);
    assert_absent(f->dns, "/p/r");
    assert_int_equal(delete_path(f->dns, "/p", true), 0);
    assert_true(last.changed);
    assert_absent(f->dns, "/p");
}

static void test_delete_conditions(void **state)
{
    struct fixture *f = *state;
    struct reg_store_cond exists = {REG_IF_EXISTS, 0}, same = {REG_IF_MZXID, 7}, absent = {REG_IF_ABSENT, 0};

    assert_int_equal(delete_if(f->dns, "/r", false, exists), ERR_CONFLICT);
    assert_int_equal(delete_if(f->dns, "/r", false, same), ERR_CONFLICT);
    assert_int_equal(delete_if(f->dns, "/r", false, absent), ERR_INVALID);
    assert_int_equal(bind_record(f->dns, "/r", "one", REG_CREATE), 0);
    same.mzxid = last.stat.mzxid;
    assert_int_equal(mknode(f->dns, "/r/child", false), 0);
    assert_int_equal(bind_record(f->dns, "/r", "two", REG_OVERWRITE), 0);
    assert_int_equal(delete_if(f->dns, "/r", true, same), ERR_CONFLICT);
    assert_int_equal(list_path(f->dns, "/r"), 0);
    assert_string_equal(last.names, "child");
    assert_int_equal(stat_path(f->dns, "/r"), 0);
    same.mzxid = last.stat.mzxid;
    assert_int_equal(delete_if(f->dns, "/r", false, same), ERR_NOTEMPTY);
    assert_int_equal(delete_if(f->dns, "/r", true, same), 0);
    assert_absent(f->dns, "/r");
}

/** A wide and a deep part; more children than calls fly at once. */
static void grow(struct fixture *f)
{
    buf_auto struct buf deep = BUF_EMPTY;

    for (int i = 0; i < 200; i++) {
        mem_auto char *path = mem_fmt("/tree/wide/n%d/leaf", i);

        assert_int_equal(mknode(f->dns, path, true), 0);
    }
    buf_add_str(&deep, "/tree");
    for (int i = 0; i < 60; i++)
        buf_add_str(&deep, "/d");
    assert_int_equal(mknode(f->dns, buf_cstr(&deep), true), 0);
}

static void test_delete_recursive(void **state)
{
    struct fixture *f = *state;

    grow(f);
    assert_int_equal(mknode(f->dns, "/treeother", false), 0);
    assert_int_equal(delete_path(f->dns, "/tree", true), 0);
    assert_true(last.changed);
    assert_true(last.zxid > 0);
    assert_int_equal(list_path(f->dns, "/"), 0);
    assert_string_equal(last.names, "services,treeother,users");
    assert_int_equal(delete_path(f->dns, "/", true), 0);
    assert_int_equal(stat_path(f->dns, "/"), ERR_NOTFOUND);
}

static void count_done(void *arg, int err, const struct reg_store_result *r)
{
    (void)r;
    assert_true(err == 0 || err == ERR_NOTFOUND);
    if (--n_open == 0)
        run_loop_stop(((struct fixture *)arg)->loop);
}

/** Two deletes and writers below at once: nothing hangs, nothing fails, and a last delete leaves nothing. */
static void test_delete_while_others_write(void **state)
{
    struct fixture *f = *state;

    grow(f);
    n_open = 2 + 50;
    reg_store_delete(f->dns, "/tree", true, NULL, count_done, f);
    reg_store_delete(f->dns, "/tree/wide", true, NULL, count_done, f);
    for (int i = 0; i < 50; i++) {
        mem_auto char *path = mem_fmt("/tree/wide/n%d/new", i);

        reg_store_mknode(f->dns, path, false, count_done, f);
    }
    run_loop_run(f->loop);
    assert_int_equal(n_open, 0);
    assert_int_equal(delete_path(f->dns, "/tree", true), 0);
    assert_absent(f->dns, "/tree");
}

/* ---- closing ---- */

static void on_ended(void *arg, int err, const struct reg_store_result *r)
{
    (void)arg;
    assert_int_equal(r->why.code, err);
    assert_true(err == 0 || err == ERR_CANCELLED);
    n_open--;
}

static void test_released_while_running(void **state)
{
    struct fixture *f = *state;

    grow(f);
    n_open = 3;
    reg_store_delete(f->dns, "/tree", true, NULL, on_ended, f);
    reg_store_mknode(f->dns, "/users/late", false, on_ended, f);
    reg_store_stat(f->dns, "/users", on_ended, f);
    reg_store_free(f->dns);
    f->dns = NULL;
    store_close(f->store, on_closed, f);
    run_loop_run(f->loop);
    assert_int_equal(n_open, 0);
    f->store = NULL;
}

static int close_rest(void **state)
{
    struct fixture *f = *state;
    mem_auto char *url = mem_fmt("file:%s/other", f->directory);

    if (!f->store)
        assert_int_equal(store_open(f->loop, url, NULL, &f->store, NULL), 0);
    return close_all(state);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, open_all, close_all)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_setup_makes_what_is_missing),
        CASE(test_mknode),
        CASE(test_mknode_parents),
        CASE(test_mknode_after_root_is_gone),
        CASE(test_bad_paths),
        CASE(test_zookeeper_names),
        CASE(test_dns_names_are_checked_before_anything_is_made),
        CASE(test_names_that_exist_are_taken_as_they_are),
        CASE(test_bind),
        CASE(test_bind_what_seems_missing),
        CASE(test_bind_conditions),
        CASE(test_condition_is_lost_in_a_race),
        CASE(test_reads),
        CASE(test_delete),
        CASE(test_delete_conditions),
        CASE(test_delete_recursive),
        CASE(test_delete_while_others_write),
        cmocka_unit_test_setup_teardown(test_released_while_running, open_all, close_rest),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

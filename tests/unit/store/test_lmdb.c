/* What only the embedded store does: files, locks, full disks, group commits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <lmdb.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "store_kit.h"

/** Stands before the C library's: counts how often LMDB waits for the disk. */
static atomic_int n_syncs;

int fdatasync(int fd)
{
    atomic_fetch_add(&n_syncs, 1);
    return (int)syscall(SYS_fdatasync, fd);
}

static int set_up(void **state)
{
    *state = kit_dir_new();
    return 0;
}

static int tear_down(void **state)
{
    kit_dir_remove(*state);
    free(*state);
    return 0;
}

/* ---- files ---- */

static void content_survives_reopening(void **state)
{
    static const struct store_acl_entry entry = {STORE_READ, "world", "anyone"};
    static const struct store_acl acl = {&entry, 1};
    char id[STORE_REVISION_MAX];
    struct kit *kit = kit_open_dir(*state, NULL);
    struct outcome made;
    assert_err(kit_create(kit, "/", "top"), 0);
    outcome_begin(&made, kit);
    store_create(kit->store, "/a", "data", 4, &acl, kit_done, &made);
    kit_wait(kit);
    assert_err(kit_create(kit, "/a/b", "below"), 0);
    int64_t zxid = kit_set(kit, "/a/b", "later", 0)->zxid;
    struct store_stat before = kit_stat(kit, "/a/b")->stat;
    kit_mirror(kit);
    snprintf(id, sizeof id, "%s", mirror_store_id(kit->mirror));
    assert_int_equal(strlen(id), 16);
    assert_int_equal(mirror_applied(kit->mirror), zxid);
    kit_free(kit);

    kit = kit_open_dir(*state, NULL);
    struct outcome *o = kit_get(kit, "/a/b");
    assert_string_equal(o->data, "later");
    assert_memory_equal(&o->stat, &before, sizeof before);
    assert_string_equal(buf_cstr(&kit_get_acl(kit, "/a")->acl), "1 world anyone\n");
    kit_mirror(kit);
    assert_string_equal(mirror_store_id(kit->mirror), id);
    assert_int_equal(mirror_applied(kit->mirror), zxid);
    assert_int_equal(kit_create(kit, "/c", "")->zxid, zxid + 1);
    kit_free(kit);
}

static void two_stores_have_two_ids(void **state)
{
    char *other_dir = kit_dir_new();
    struct kit *kit = kit_open_dir(*state, NULL), *other = kit_open_dir(other_dir, NULL);
    kit_mirror(kit);
    kit_mirror(other);
    assert_string_not_equal(mirror_store_id(kit->mirror), mirror_store_id(other->mirror));
    kit_free(other);
    kit_free(kit);
    kit_dir_remove(other_dir);
    free(other_dir);
}

static void open_fails(struct run_loop *loop, const char *url, const struct store_options *options,
                       int expected, struct err_info *why)
{
    struct store *s = NULL;
    *why = (struct err_info){0};
    int err = store_open(loop, url, options, &s, why);
    if (err != expected)
        fail_msg("%s: %s instead of %s: %s", url, err_name(err), err_name(expected), why->text);
    assert_int_equal(why->code, expected);
    assert_null(s);
}

static void second_opener_learns_the_pid(void **state)
{
    struct kit *kit = kit_open_dir(*state, NULL);
    struct err_info why;
    char pid[32];
    snprintf(pid, sizeof pid, "process %ld", (long)getpid());
    open_fails(kit->loop, kit->url, NULL, ERR_WRONGSTATE, &why);
    assert_non_null(strstr(why.text, pid));
    assert_string_equal(why.where, *state);
    kit_free(kit);
    kit_free(kit_open_dir(*state, NULL));
}

static void what_cannot_be_opened_is_said(void **state)
{
    static const struct store_options small = {.map_size = 4096};
    struct run_loop *loop = run_loop_new();
    struct err_info why;
    mem_auto char *file = mem_fmt("%s/plain", (char *)*state);
    mem_auto char *below = mem_fmt("file:%s/plain/store", (char *)*state);
    mem_auto char *url = mem_fmt("file:%s", (char *)*state);
    int fd = open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    close(fd);
    open_fails(loop, "file:", NULL, ERR_INVALID, &why);
    open_fails(loop, "ftp://host/x", NULL, ERR_INVALID, &why);
    open_fails(loop, below, NULL, ERR_IO, &why);
    assert_non_null(strstr(why.where, "/plain"));
    open_fails(loop, url, &small, ERR_INVALID, &why);
    run_loop_free(loop);
}

static void foreign_file_is_refused(void **state)
{
    char garbage[8192];
    struct run_loop *loop = run_loop_new();
    struct err_info why;
    mem_auto char *file = mem_fmt("%s/data.mdb", (char *)*state);
    mem_auto char *url = mem_fmt("file:%s", (char *)*state);
    memset(garbage, 'g', sizeof garbage);
    int fd = open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    assert_int_equal(write(fd, garbage, sizeof garbage), sizeof garbage);
    close(fd);
    open_fails(loop, url, NULL, ERR_IO, &why);
    assert_true(why.text[0] != '\0');
    run_loop_free(loop);
}

/** Take a node out of the file behind the store's back; its name stays in its parent. */
static void damage(const char *dir)
{
    unsigned char id[8] = {0, 0, 0, 0, 0, 0, 0, 2};
    MDB_val key = {sizeof id, id};
    MDB_env *env = NULL;
    MDB_txn *txn = NULL;
    MDB_dbi nodes;
    assert_int_equal(mdb_env_create(&env), 0);
    assert_int_equal(mdb_env_set_maxdbs(env, 3), 0);
    assert_int_equal(mdb_env_open(env, dir, 0, 0600), 0);
    assert_int_equal(mdb_txn_begin(env, NULL, 0, &txn), 0);
    assert_int_equal(mdb_dbi_open(txn, "nodes", 0, &nodes), 0);
    assert_int_equal(mdb_del(txn, nodes, &key, NULL), 0);
    assert_int_equal(mdb_txn_commit(txn), 0);
    mdb_env_close(env);
}

static bool mirror_is_lost(void *arg)
{
    return mirror_stale(arg) != NULL;
}

static void damage_is_said_and_not_followed(void **state)
{
    struct kit *kit = kit_open_dir(*state, NULL);
    assert_err(kit_create(kit, "/", ""), 0);
    assert_err(kit_create(kit, "/a", "x"), 0);
    assert_err(kit_create(kit, "/b", "y"), 0);
    kit_free(kit);
    damage(*state);
    kit = kit_open_dir(*state, NULL);
    assert_err(kit_get(kit, "/a"), ERR_IO);
    assert_err(kit_set(kit, "/a", "z", -1), ERR_IO);
    assert_err(kit_create(kit, "/a/c", "z"), ERR_IO);
    struct outcome *o = kit_set(kit, "/b", "z", -1);
    assert_err(o, 0);
    kit->mirror = mirror_new(kit->store);
    kit_until(kit, mirror_is_lost, kit->mirror);
    assert_int_equal(mirror_stale(kit->mirror)->code, ERR_IO);
    assert_false(mirror_ready(kit->mirror));
    kit_free(kit);
}

static void directories_are_made(void **state)
{
    mem_auto char *parent = mem_fmt("%s/x", (char *)*state);
    mem_auto char *dir = mem_fmt("%s/y", parent);
    struct kit *kit = kit_open_dir(dir, NULL);
    assert_err(kit_create(kit, "/", ""), 0);
    kit_free(kit);
    kit_dir_remove(dir);
    assert_int_equal(rmdir(parent), 0);
}

/* ---- commits ---- */

static void acknowledged_is_synced(void **state)
{
    struct kit *kit = kit_open_dir(*state, NULL);
    for (int i = 0; i < 20; i++) {
        char path[16];
        int before = atomic_load(&n_syncs);
        snprintf(path, sizeof path, i ? "/n%d" : "/", i);
        assert_err(kit_create(kit, path, "x"), 0);
        assert_true(atomic_load(&n_syncs) > before);
    }
    int before = atomic_load(&n_syncs);
    assert_err(kit_create(kit, "/n1", "x"), ERR_EXISTS);
    assert_int_equal(atomic_load(&n_syncs), before);
    kit_free(kit);
}

static void waiting_writes_share_a_sync(void **state)
{
    enum { N = 1000 };
    struct kit *kit = kit_open_dir(*state, NULL);
    struct outcome *outcomes = mem_array(N, sizeof *outcomes);
    assert_err(kit_create(kit, "/", ""), 0);
    int before = atomic_load(&n_syncs);
    for (size_t i = 0; i < N; i++) {
        char path[16];
        snprintf(path, sizeof path, "/n%zu", i);
        outcome_begin(&outcomes[i], kit);
        store_create(kit->store, path, "x", 1, NULL, kit_done, &outcomes[i]);
    }
    kit_wait(kit);
    for (size_t i = 0; i < N; i++) {
        assert_err(&outcomes[i], 0);
        assert_int_equal(outcomes[i].zxid, outcomes[0].zxid + (int64_t)i);
    }
    assert_true(atomic_load(&n_syncs) - before < N / 4);
    free(outcomes);
    kit_free(kit);
}

/* ---- full ---- */

/** Create /full/n0, n1, … of 3000 bytes until it is refused. @return how many were made. */
static size_t fill(struct kit *kit, int *err)
{
    mem_auto char *text = mem_strn("", 0);
    text = mem_resize(text, 3001, 1);
    memset(text, 't', 3000);
    text[3000] = '\0';
    for (size_t n = 0;; n++) {
        char path[32];
        snprintf(path, sizeof path, "/full/n%zu", n);
        struct outcome *o = kit_create(kit, path, text);
        if (o->err) {
            *err = o->err;
            assert_string_equal(o->why.where, path);
            return n;
        }
    }
}

static void assert_filled(struct kit *kit, size_t n)
{
    struct outcome *o = kit_children(kit, "/full");
    assert_err(o, 0);
    assert_int_equal(o->n_children, n);
    for (size_t i = 0; i < n; i++) {
        char path[32];
        snprintf(path, sizeof path, "/full/n%zu", i);
        assert_int_equal(kit_get(kit, path)->data_len, 3000);
    }
}

static void full_map_refuses_and_recovers(void **state)
{
    static const struct store_options small = {.map_size = 2 << 20};
    struct kit *kit = kit_open_dir(*state, &small);
    int err = 0;
    assert_err(kit_create(kit, "/", ""), 0);
    assert_err(kit_create(kit, "/full", ""), 0);
    size_t n = fill(kit, &err);
    assert_int_equal(err, ERR_NOSPC);
    assert_in_range(n, 50, 700);
    assert_filled(kit, n);

    for (size_t i = 0; i < n; i++) {
        char path[32];
        snprintf(path, sizeof path, "/full/n%zu", i);
        assert_err(kit_delete(kit, path, -1), 0);
    }
    size_t again = fill(kit, &err);
    assert_int_equal(err, ERR_NOSPC);
    assert_true(again > n / 2);
    kit_free(kit);
    kit = kit_open_dir(*state, &small);
    assert_filled(kit, again);
    kit_free(kit);
}

static void large_write_fails_alone(void **state)
{
    static const struct store_options small = {.map_size = 1 << 20};
    struct kit *kit = kit_open_dir(*state, &small);
    mem_auto char *large = mem_zalloc(900 << 10);
    struct outcome outcomes[9];
    assert_err(kit_create(kit, "/", ""), 0);
    for (size_t i = 0; i < 9; i++) {
        char path[16];
        snprintf(path, sizeof path, "/n%zu", i);
        outcome_begin(&outcomes[i], kit);
        store_create(kit->store, path, large, i == 4 ? 900 << 10 : 100, NULL, kit_done, &outcomes[i]);
    }
    kit_wait(kit);
    for (size_t i = 0; i < 9; i++)
        assert_err(&outcomes[i], i == 4 ? ERR_NOSPC : 0);
    assert_int_equal(kit_children(kit, "/")->n_children, 8);
    kit_free(kit);
}

static void full_disk_refuses_and_recovers(void **state)
{
    struct rlimit before, limit;
    struct stat st;
    struct kit *kit = kit_open_dir(*state, NULL);
    mem_auto char *file = mem_fmt("%s/data.mdb", (char *)*state);
    int err = 0;
    assert_err(kit_create(kit, "/", ""), 0);
    assert_err(kit_create(kit, "/full", ""), 0);
    assert_int_equal(stat(file, &st), 0);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_IGN);
    limit = before;
    limit.rlim_cur = (rlim_t)st.st_size + (300 << 10);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    size_t n = fill(kit, &err);
    struct outcome *o = kit_get(kit, "/full");
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_err(o, 0);
    assert_int_equal(err, ERR_NOSPC);
    assert_true(n > 5);
    assert_filled(kit, n);
    assert_err(kit_create(kit, "/after", "room again"), 0);
    kit_free(kit);
    kit = kit_open_dir(*state, NULL);
    assert_filled(kit, n);
    assert_string_equal(kit_get(kit, "/after")->data, "room again");
    kit_free(kit);
}

/* A value of many pages is written by one call, which then ends half-way. */
static void full_disk_refuses_a_large_value(void **state)
{
    struct rlimit before, limit;
    struct stat st;
    struct kit *kit = kit_open_dir(*state, NULL);
    mem_auto char *file = mem_fmt("%s/data.mdb", (char *)*state);
    mem_auto char *large = mem_zalloc((200 << 10) + 1);
    memset(large, 't', 200 << 10);
    assert_err(kit_create(kit, "/", ""), 0);
    assert_int_equal(stat(file, &st), 0);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_IGN);
    limit = before;
    limit.rlim_cur = (rlim_t)st.st_size + (100 << 10);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    int err = kit_create(kit, "/large", large)->err;
    int again = kit_create(kit, "/large", large)->err;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(err, ERR_NOSPC);
    assert_int_equal(again, ERR_NOSPC);
    assert_err(kit_get(kit, "/large"), ERR_NOTFOUND);
    assert_err(kit_create(kit, "/large", large), 0);
    kit_free(kit);
    kit = kit_open_dir(*state, NULL);
    assert_string_equal(kit_get(kit, "/large")->data, large);
    kit_free(kit);
}

static struct outcome *back_up(struct kit *kit, const char *dir, struct outcome *o)
{
    outcome_begin(o, kit);
    store_backup(kit->store, dir, kit_done, o);
    kit_wait(kit);
    return o;
}

/* Member by member: what lies between them means nothing. */
static void assert_same_stat(const struct store_stat *stat, const struct store_stat *expected)
{
    assert_int_equal(stat->czxid, expected->czxid);
    assert_int_equal(stat->mzxid, expected->mzxid);
    assert_int_equal(stat->pzxid, expected->pzxid);
    assert_int_equal(stat->ctime_ms, expected->ctime_ms);
    assert_int_equal(stat->mtime_ms, expected->mtime_ms);
    assert_int_equal(stat->version, expected->version);
    assert_int_equal(stat->cversion, expected->cversion);
    assert_int_equal(stat->n_children, expected->n_children);
    assert_int_equal(stat->data_len, expected->data_len);
    assert_int_equal(stat->ephemeral, expected->ephemeral);
}

static void backup_is_a_store_of_its_own(void **state)
{
    struct kit *kit = kit_open_dir(*state, NULL);
    char *above = kit_dir_new();
    mem_auto char *dir = mem_fmt("%s/copy", above), *partial = mem_fmt("%s/copy.partial", above);
    char id[STORE_REVISION_MAX];
    struct outcome made, again;
    assert_err(kit_create(kit, "/", "top"), 0);
    assert_err(kit_create(kit, "/a", "then"), 0);
    struct store_stat then = kit_stat(kit, "/a")->stat;
    assert_err(back_up(kit, dir, &made), 0);
    assert_err(kit_set(kit, "/a", "later", -1), 0);
    assert_err(back_up(kit, dir, &again), ERR_EXISTS);
    assert_int_equal(access(partial, F_OK), -1);
    kit_mirror(kit);
    snprintf(id, sizeof id, "%s", mirror_store_id(kit->mirror));
    struct kit *copy = kit_open_dir(dir, NULL);
    assert_string_equal(kit_get(copy, "/a")->data, "then");
    assert_same_stat(&kit_stat(copy, "/a")->stat, &then);
    kit_mirror(copy);
    assert_string_not_equal(mirror_store_id(copy->mirror), id);
    kit_free(copy);
    outcome_fini(&made);
    outcome_fini(&again);
    kit_free(kit);
    kit_dir_remove(dir);
    kit_dir_remove(above);
    free(above);
}

static void backup_on_a_full_disk_leaves_nothing(void **state)
{
    struct rlimit before, limit;
    struct kit *kit = kit_open_dir(*state, NULL);
    char *above = kit_dir_new();
    mem_auto char *dir = mem_fmt("%s/copy", above), *partial = mem_fmt("%s/copy.partial", above);
    struct outcome o;
    assert_err(kit_create(kit, "/", "top"), 0);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_IGN);
    limit = before;
    limit.rlim_cur = 8192;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    back_up(kit, dir, &o);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_not_equal(o.err, 0);
    assert_int_equal(access(dir, F_OK), -1);
    assert_int_equal(access(partial, F_OK), -1);
    assert_string_equal(kit_get(kit, "/")->data, "top");
    outcome_fini(&o);
    kit_free(kit);
    kit_dir_remove(above);
    free(above);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(content_survives_reopening),
        CASE(two_stores_have_two_ids),
        CASE(second_opener_learns_the_pid),
        CASE(what_cannot_be_opened_is_said),
        CASE(foreign_file_is_refused),
        CASE(directories_are_made),
        CASE(damage_is_said_and_not_followed),
        CASE(acknowledged_is_synced),
        CASE(waiting_writes_share_a_sync),
        CASE(full_map_refuses_and_recovers),
        CASE(large_write_fails_alone),
        CASE(full_disk_refuses_and_recovers),
        CASE(full_disk_refuses_a_large_value),
        CASE(backup_is_a_store_of_its_own),
        CASE(backup_on_a_full_disk_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

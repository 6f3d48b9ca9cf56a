#include <signal.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "store_kit.h"

enum { WAIT_MS = 60000 };

static struct outcome last;

/* ---- life ---- */

char *kit_dir_new(void)
{
    const char *tmp = getenv("TMPDIR");
    char *dir = mem_fmt("%s/bobbin-store-XXXXXX", tmp ? tmp : "/tmp");
    assert_non_null(mkdtemp(dir));
    return dir;
}

void kit_dir_remove(const char *dir)
{
    DIR *d = opendir(dir);
    assert_non_null(d);
    const struct dirent *entry;
    while ((entry = readdir(d))) {
        if (entry->d_name[0] != '.')
            unlinkat(dirfd(d), entry->d_name, 0);
    }
    closedir(d);
    assert_int_equal(rmdir(dir), 0);
}

static struct kit *kit_open(char *take_url, const struct store_options *options)
{
    struct kit *kit = mem_new(struct kit);
    struct err_info why = {0};
    kit->url = take_url;
    signal(SIGPIPE, SIG_IGN); /* as the daemons do: a connection that is cut is an error of write */
    kit->loop = run_loop_new();
    if (store_open(kit->loop, kit->url, options, &kit->store, &why))
        fail_msg("cannot open %s: %s %s", kit->url, why.where, why.text);
    return kit;
}

struct kit *kit_open_dir(const char *dir, const struct store_options *options)
{
    return kit_open(mem_fmt("file:%s", dir), options);
}

struct kit *kit_new(void)
{
    static unsigned n_roots;
    const char *servers = getenv("BOBBIN_TEST_ZK");
    if (servers)
        return kit_open(mem_fmt("zk://%s/suite-%ld-%u", servers, (long)getpid(), n_roots++), NULL);
    char *dir = kit_dir_new();
    struct kit *kit = kit_open_dir(dir, NULL);
    kit->dir = dir;
    return kit;
}

struct kit *kit_new_rooted(void)
{
    struct kit *kit = kit_new();
    assert_err(kit_create(kit, "/", ""), 0);
    return kit;
}

static bool is_closed(void *arg)
{
    return ((struct kit *)arg)->is_closed;
}

static void on_closed(void *arg)
{
    struct kit *kit = arg;
    kit->is_closed = true;
    run_loop_stop(kit->loop);
}

void kit_close(struct kit *kit)
{
    store_close(kit->store, on_closed, kit);
    kit_until(kit, is_closed, kit);
    kit->store = NULL;
}

void kit_free(struct kit *kit)
{
    if (kit->store)
        kit_close(kit);
    if (kit->mirror)
        mirror_free(kit->mirror);
    run_loop_free(kit->loop);
    outcome_fini(&last);
    if (kit->dir)
        kit_dir_remove(kit->dir);
    free(kit->dir);
    free(kit->url);
    free(kit);
}

/* ---- waiting ---- */

static void on_tick(void *arg)
{
    run_loop_stop(arg);
}

void kit_until(struct kit *kit, bool (*is_so)(void *arg), void *arg)
{
    int64_t deadline_ms = run_now_ms() + WAIT_MS;
    /* The tick bounds a wait for what never comes; what is waited for stops the loop itself or is seen at a tick. */
    struct run_timer *tick = run_timer_new(kit->loop, on_tick, kit->loop);
    run_timer_start(tick, 2, 2);
    while (!is_so(arg)) {
        if (run_now_ms() > deadline_ms)
            fail_msg("waited %d s in vain", WAIT_MS / 1000);
        run_loop_run(kit->loop);
    }
    run_timer_free(tick);
}

static bool none_open(void *arg)
{
    return ((struct kit *)arg)->n_open == 0;
}

void kit_wait(struct kit *kit)
{
    kit_until(kit, none_open, kit);
}

/* ---- outcomes ---- */

void outcome_begin(struct outcome *o, struct kit *kit)
{
    *o = (struct outcome){.kit = kit};
    obj_init(&o->obj, OUTCOME_MAGIC);
    kit->n_open++;
}

void outcome_fini(struct outcome *o)
{
    free(o->data);
    buf_fini(&o->children);
    buf_fini(&o->acl);
    *o = (struct outcome){0};
}

void kit_done(void *arg, int err, const struct store_result *r)
{
    struct outcome *o = obj_cast(arg, struct outcome, OUTCOME_MAGIC);
    o->n_calls++;
    o->order = o->kit->n_completed++;
    o->err = err;
    o->stat = r->stat;
    if (r->data) {
        assert_int_equal(r->data[r->data_len], '\0');
        o->data = mem_strn(r->data, r->data_len);
        o->data_len = r->data_len;
    }
    o->n_children = r->n_children;
    for (size_t i = 0; i < r->n_children; i++)
        buf_addf(&o->children, "%s\n", r->children[i]);
    for (size_t i = 0; r->acl && i < r->acl->n_entries; i++)
        buf_addf(&o->acl, "%u %s %s\n", r->acl->entries[i].perms, r->acl->entries[i].scheme,
                 r->acl->entries[i].id);
    o->zxid = r->zxid;
    o->failed_op = r->failed_op;
    o->why = r->why;
    assert_int_equal(r->why.code, err);
    if (--o->kit->n_open == 0)
        run_loop_stop(o->kit->loop);
}

void kit_assert_err(const struct outcome *o, int expected, const char *file, int line)
{
    if (o->err == expected)
        return;
    print_error("expected %s, got %s: %s %s\n", err_name(expected), err_name(o->err), o->why.where,
                o->why.text);
    _fail(file, line);
}

static struct outcome *last_begin(struct kit *kit)
{
    outcome_fini(&last);
    outcome_begin(&last, kit);
    return &last;
}

static struct outcome *last_wait(struct kit *kit)
{
    kit_wait(kit);
    assert_int_equal(last.n_calls, 1);
    return &last;
}

struct outcome *kit_get(struct kit *kit, const char *path)
{
    store_get(kit->store, path, kit_done, last_begin(kit));
    return last_wait(kit);
}

struct outcome *kit_stat(struct kit *kit, const char *path)
{
    store_stat(kit->store, path, kit_done, last_begin(kit));
    return last_wait(kit);
}

struct outcome *kit_children(struct kit *kit, const char *path)
{
    store_children(kit->store, path, kit_done, last_begin(kit));
    return last_wait(kit);
}

struct outcome *kit_get_acl(struct kit *kit, const char *path)
{
    store_get_acl(kit->store, path, kit_done, last_begin(kit));
    return last_wait(kit);
}

struct outcome *kit_create(struct kit *kit, const char *path, const char *text)
{
    store_create(kit->store, path, text, strlen(text), NULL, kit_done, last_begin(kit));
    return last_wait(kit);
}

struct outcome *kit_set(struct kit *kit, const char *path, const char *text, int32_t version)
{
    store_set(kit->store, path, text, strlen(text), version, kit_done, last_begin(kit));
    return last_wait(kit);
}

struct outcome *kit_delete(struct kit *kit, const char *path, int32_t version)
{
    store_delete(kit->store, path, version, kit_done, last_begin(kit));
    return last_wait(kit);
}

struct outcome *kit_multi(struct kit *kit, const struct store_op *ops, size_t n_ops)
{
    store_multi(kit->store, ops, n_ops, kit_done, last_begin(kit));
    return last_wait(kit);
}

/* ---- mirror ---- */

static bool mirror_is_ready(void *arg)
{
    return mirror_ready(((struct kit *)arg)->mirror);
}

void kit_mirror(struct kit *kit)
{
    kit->mirror = mirror_new(kit->store);
    kit_until(kit, mirror_is_ready, kit);
}

struct applied_wait {
    struct run_loop *loop;
    int err;
    bool is_over;
};

static void on_applied(void *arg, int err)
{
    struct applied_wait *wait = arg;
    wait->err = err;
    wait->is_over = true;
    run_loop_stop(wait->loop);
}

static bool wait_is_over(void *arg)
{
    return ((struct applied_wait *)arg)->is_over;
}

void kit_applied(struct kit *kit, int64_t zxid)
{
    struct applied_wait wait = {.loop = kit->loop};
    mirror_when_applied(kit->mirror, zxid, WAIT_MS / 2, on_applied, &wait);
    assert_false(wait.is_over);
    kit_until(kit, wait_is_over, &wait);
    assert_int_equal(wait.err, 0);
}

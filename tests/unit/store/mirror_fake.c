#include "mirror_fake.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

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

void fake_forget(struct fake *f)
{
    buf_clear(&f->heard);
    f->n_least = SIZE_MAX;
}

int fake_set_up(void **state)
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

int fake_tear_down(void **state)
{
    struct fake *f = *state;
    mirror_free(f->mirror);
    run_loop_free(f->kit.loop);
    buf_fini(&f->heard);
    free(f->base.url);
    free(f);
    return 0;
}

void fake_begin(struct fake *f, const char *id)
{
    f->ops->begin(f->follower, id);
}

void fake_end(struct fake *f, int64_t zxid)
{
    f->ops->end(f->follower, zxid);
}

void fake_node(struct fake *f, const char *path, const char *text, int64_t czxid, int64_t mzxid)
{
    const struct mirror_node *known = mirror_find(f->mirror, path);
    bool is_known = known && known->stat.czxid == czxid;
    const struct store_stat stat = {.czxid = czxid,
                                    .mzxid = mzxid,
                                    .pzxid = is_known ? known->stat.pzxid : czxid,
                                    .n_children = 99,
                                    .data_len = (uint32_t)strlen(text)};
    f->ops->node(f->follower, path, &stat, text, strlen(text));
}

void fake_gone(struct fake *f, const char *path, int64_t zxid)
{
    f->ops->gone(f->follower, path, zxid);
}

void fake_lost(struct fake *f)
{
    struct err_info why;
    err_set(&why, ERR_UNAVAILABLE, NULL, "cable cut");
    f->ops->lost(f->follower, &why);
}

bool fake_is_current(void *arg)
{
    struct fake *f = arg;
    return strstr(buf_cstr(&f->heard), "applied") != NULL;
}

void fake_settle(struct fake *f)
{
    kit_until(&f->kit, fake_is_current, f);
}

void fake_heard(struct fake *f, const char *expected)
{
    assert_string_equal(buf_cstr(&f->heard), expected);
    fake_forget(f);
}

void fake_first_read(struct fake *f)
{
    fake_begin(f, "s1");
    fake_node(f, "/", "", 1, 1);
    fake_node(f, "/a", "1", 2, 2);
    fake_node(f, "/a/x", "2", 3, 3);
    fake_node(f, "/b", "3", 4, 4);
    fake_end(f, 10);
    fake_forget(f);
}

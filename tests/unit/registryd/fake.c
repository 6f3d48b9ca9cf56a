#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "fake.h"

static void fake_follow(struct store *s, const struct store_follow_ops *ops, void *arg)
{
    struct fake *f = (struct fake *)obj_cast(s, struct store, STORE_MAGIC);
    f->ops = ops;
    f->follower = arg;
}

static void fake_read(struct store *s, enum store_read_kind kind, const char *path, struct store_call call)
{
    struct fake *f = (struct fake *)obj_cast(s, struct store, STORE_MAGIC);
    (void)path;
    assert_int_equal(kind, STORE_READ_ACL);
    f->asked = mem_resize(f->asked, f->n_asked + 1, sizeof *f->asked);
    f->asked[f->n_asked++] = call;
}

void fake_answer(struct fake *f)
{
    struct store_acl_entry anyone = {.perms = STORE_READ, .scheme = "world", .id = "anyone"};
    const struct store_acl acl = {.entries = &anyone, .n_entries = 1};
    const struct store_result r = {.acl = &acl};
    struct store_call *asked = f->asked;
    size_t n = f->n_asked;
    f->asked = NULL;
    f->n_asked = 0;
    for (size_t i = 0; i < n; i++)
        asked[i].done(asked[i].arg, 0, &r);
    free(asked);
}

int fake_set_up(void **state)
{
    static const struct store_backend_ops ops = {.kind = "fake", .read = fake_read, .follow = fake_follow};
    struct fake *f = mem_new(struct fake);
    f->loop = run_loop_new();
    store_base_init(&f->base, &ops, f->loop, "fake:");
    f->mirror = mirror_new(&f->base);
    f->index = index_new(f->loop, f->mirror);
    *state = f;
    return 0;
}

int fake_tear_down(void **state)
{
    struct fake *f = *state;
    index_free(f->index);
    mirror_free(f->mirror);
    run_loop_free(f->loop);
    free(f->base.url);
    free(f->asked);
    free(f);
    return 0;
}

void fake_begin(struct fake *f, const char *store_id)
{
    f->ops->begin(f->follower, store_id);
    fake_put(f, "/", "");
}

void fake_end(struct fake *f)
{
    f->ops->end(f->follower, ++f->zxid);
    while (!index_ready(f->index))
        uv_run(run_loop_uv(f->loop), UV_RUN_NOWAIT);
}

void fake_put(struct fake *f, const char *path, const char *text)
{
    int64_t zxid = ++f->zxid;
    /* Always the same czxid: with another it would be another node, without children. */
    const struct store_stat stat = {
        .czxid = 1, .mzxid = zxid, .pzxid = zxid, .data_len = (uint32_t)strlen(text)};
    f->ops->node(f->follower, path, &stat, text, strlen(text));
}

void fake_gone(struct fake *f, const char *path)
{
    f->ops->gone(f->follower, path, ++f->zxid);
    while (mirror_find(f->mirror, path)) /* it takes more than a slice */
        uv_run(run_loop_uv(f->loop), UV_RUN_NOWAIT);
}

void fake_record(struct fake *f, const char *path, const char *id, const char *persistence)
{
    for (const char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
        mem_auto char *parent = mem_strn(path, (size_t)(at - path));
        if (!mirror_ready(f->mirror) || !mirror_find(f->mirror, parent))
            fake_put(f, parent, "");
    }
    mem_auto char *text = mem_fmt("{\"type\":\"JSONServiceRecord\",\"yarn:id\":\"%s\","
                                  "\"yarn:persistence\":\"%s\"}",
                                  id, persistence);
    fake_put(f, path, text);
}

char *fake_find(const struct fake *f, enum index_kind kind, const char *term)
{
    struct index_query query = {{NULL}};
    struct buf out = BUF_EMPTY;
    uint64_t after = 0;
    size_t n_visits = SIZE_MAX;
    const struct mirror_node *node;
    query.terms[kind] = term;
    while ((node = index_next(f->index, &query, &after, &n_visits))) {
        mirror_path(node, &out);
        buf_add_char(&out, '\n');
    }
    return buf_take(&out);
}

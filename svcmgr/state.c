#include "svcmgr/state.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/obj.h"
#include "store/store.h"

#define STATE_MAGIC OBJ_MAGIC('S', 'T', 'A', 'T')

struct state {
    struct obj obj;
    struct store *store;
    struct map known; /* path -> itself: nodes that are there */
    bool is_stale;    /* after a failed write `known` may be wrong */
    bool is_busy;
    /* the scan: paths still to read */
    char **todo;
    size_t n_todo;
    void (*one)(void *arg, const char *key, const char *bytes, size_t len);
    /* whom the scan or write under way is for */
    void (*done)(void *arg, int err, const struct err_info *why);
    void *done_arg;
    const struct state_doc *docs;
    size_t n_docs;
    struct store_op *ops; /* of the write under way; paths owned */
    size_t n_ops;
    struct map changed; /* path -> `there` or `gone`: what they make of it */
    void (*closed)(void *arg);
    void *closed_arg;
};

static const char there, gone;

int state_open(struct run_loop *loop, const char *url, struct state **out, struct err_info *why)
{
    struct store *store;
    int err = store_open(loop, url, NULL, &store, why);
    if (err)
        return err;

    struct state *s = mem_new(struct state);
    obj_init(&s->obj, STATE_MAGIC);
    s->store = store;
    *out = s;
    return 0;
}

static void learn(struct state *s, const char *path)
{
    if (!map_get(&s->known, path))
        map_set(&s->known, path, s);
}

static void finish(struct state *s, int err, const struct err_info *why)
{
    void (*done)(void *, int, const struct err_info *) = s->done;

    s->is_busy = false;
    done(s->done_arg, err, why);
}

/* ---- writing ---- */

static void free_ops(struct state *s)
{
    for (size_t i = 0; i < s->n_ops; i++)
        free((char *)s->ops[i].path);
    free(s->ops);
    s->ops = NULL;
    s->n_ops = 0;
    map_fini(&s->changed, NULL);
}

static void add_op(struct state *s, enum store_op_kind kind, char *take_path, const struct state_doc *doc)
{
    map_set(&s->changed, take_path, (void *)(kind == STORE_OP_DELETE ? &gone : &there));
    s->ops = mem_resize(s->ops, s->n_ops + 1, sizeof(*s->ops));
    s->ops[s->n_ops++] = (struct store_op){.kind = kind,
                                           .path = take_path,
                                           .bytes = doc ? doc->bytes : "",
                                           .len = doc ? doc->len : 0,
                                           .version = -1};
}

/** Whether the node is there when the ops so far are done. */
static bool will_exist(const struct state *s, const char *path)
{
    const void *change = map_get(&s->changed, path);

    return change ? change == &there : map_get(&s->known, path) != NULL;
}

static void add_parents(struct state *s, const char *path)
{
    for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        char *parent = mem_strn(path, (size_t)(slash - path));
        if (will_exist(s, parent))
            free(parent);
        else
            add_op(s, STORE_OP_CREATE, parent, NULL);
    }
}

static void add_doc(struct state *s, const struct state_doc *doc)
{
    char *path = mem_fmt("/%s", doc->key);
    bool exists = will_exist(s, path);

    if (!doc->bytes && !exists) {
        free(path);
        return;
    }
    if (!exists)
        add_parents(s, path);
    enum store_op_kind kind = !doc->bytes ? STORE_OP_DELETE : exists ? STORE_OP_SET : STORE_OP_CREATE;
    add_op(s, kind, path, doc);
}

static void on_written(void *arg, int err, const struct store_result *r)
{
    struct state *s = obj_cast(arg, struct state, STATE_MAGIC);

    for (size_t i = 0; !err && i < s->n_ops; i++) {
        if (s->ops[i].kind == STORE_OP_DELETE)
            map_remove(&s->known, s->ops[i].path);
        else
            learn(s, s->ops[i].path);
    }
    s->is_stale = err != 0;
    free_ops(s);
    finish(s, err, err ? &r->why : NULL);
}

static void write_now(struct state *s)
{
    for (size_t i = 0; i < s->n_docs; i++)
        if (s->docs[i].bytes)
            add_doc(s, &s->docs[i]);
    for (size_t i = s->n_docs; i > 0; i--) /* a node is deleted after what is below it */
        if (!s->docs[i - 1].bytes)
            add_doc(s, &s->docs[i - 1]);
    /* A write of nothing still keeps its place: the check of the root costs no fsync. */
    if (!s->n_ops)
        add_op(s, STORE_OP_CHECK, mem_str("/"), NULL);
    store_multi(s->store, s->ops, s->n_ops, on_written, s);
}

/* ---- scanning ---- */

static void scan_next(struct state *s);

static void scan_ended(struct state *s, int err, const struct err_info *why)
{
    while (s->n_todo)
        free(s->todo[--s->n_todo]);
    free(s->todo);
    s->todo = NULL;
    s->is_stale = err != 0;
    if (!err && s->docs)
        write_now(s);
    else
        finish(s, err, why);
}

static void add_todo(struct state *s, char *take_path)
{
    s->todo = mem_resize(s->todo, s->n_todo + 1, sizeof(*s->todo));
    s->todo[s->n_todo++] = take_path;
}

static void on_children(void *arg, int err, const struct store_result *r)
{
    struct state *s = obj_cast(arg, struct state, STATE_MAGIC);
    mem_auto char *path = s->todo[--s->n_todo];

    if (err && err != ERR_NOTFOUND) {
        scan_ended(s, err, &r->why);
        return;
    }
    for (size_t i = 0; !err && i < r->n_children; i++)
        add_todo(s, mem_fmt("%s/%s", strcmp(path, "/") ? path : "", r->children[i]));
    scan_next(s);
}

static void on_node(void *arg, int err, const struct store_result *r)
{
    struct state *s = obj_cast(arg, struct state, STATE_MAGIC);
    const char *path = s->todo[s->n_todo - 1];

    if (err && err != ERR_NOTFOUND) {
        scan_ended(s, err, &r->why);
        return;
    }
    if (err) {
        free(s->todo[--s->n_todo]);
        scan_next(s);
        return;
    }
    learn(s, path);
    if (s->one && r->data_len)
        s->one(s->done_arg, path + 1, r->data, r->data_len);
    store_children(s->store, path, on_children, s);
}

static void scan_next(struct state *s)
{
    if (s->n_todo)
        store_get(s->store, s->todo[s->n_todo - 1], on_node, s);
    else
        scan_ended(s, 0, NULL);
}

static void on_root_made(void *arg, int err, const struct store_result *r)
{
    struct state *s = obj_cast(arg, struct state, STATE_MAGIC);

    if (err && err != ERR_EXISTS)
        scan_ended(s, err, &r->why);
    else
        scan_next(s);
}

static void on_root(void *arg, int err, const struct store_result *r)
{
    struct state *s = obj_cast(arg, struct state, STATE_MAGIC);

    if (err == ERR_NOTFOUND)
        store_create(s->store, "/", "", 0, NULL, on_root_made, s);
    else if (err)
        scan_ended(s, err, &r->why);
    else
        scan_next(s);
}

static void scan(struct state *s)
{
    map_fini(&s->known, NULL);
    add_todo(s, mem_str("/"));
    store_stat(s->store, "/", on_root, s);
}

/* ---- the interface ---- */

void state_load(struct state *s, void (*one)(void *arg, const char *key, const char *bytes, size_t len),
                void (*done)(void *arg, int err, const struct err_info *why), void *arg)
{
    BUG_IF(s->is_busy);
    s->is_busy = true;
    s->one = one;
    s->done = done;
    s->done_arg = arg;
    scan(s);
}

void state_write(struct state *s, const struct state_doc *docs, size_t n,
                 void (*done)(void *arg, int err, const struct err_info *why), void *arg)
{
    BUG_IF(s->is_busy);
    s->is_busy = true;
    s->one = NULL;
    s->docs = docs;
    s->n_docs = n;
    s->done = done;
    s->done_arg = arg;
    if (s->is_stale)
        scan(s);
    else
        write_now(s);
}

static void on_store_closed(void *arg)
{
    struct state *s = obj_cast(arg, struct state, STATE_MAGIC);
    void (*closed)(void *) = s->closed;
    void *closed_arg = s->closed_arg;

    map_fini(&s->known, NULL);
    obj_fini(&s->obj);
    free(s);
    closed(closed_arg);
}

void state_close(struct state *s, void (*closed)(void *arg), void *arg)
{
    s->closed = closed;
    s->closed_arg = arg;
    store_close(s->store, on_store_closed, s);
}

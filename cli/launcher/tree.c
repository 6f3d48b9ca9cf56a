/** See tree.h. */
#include "tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"
#include "store/store.h"

#define TREE_MAGIC OBJ_MAGIC('L', 'T', 'R', 'E')

#define VERSIONS   "ReadyPayloadVersions"
#define SESSION_MS 20000
/** Parts of 768 KiB: more than 200 MB packed. */
#define PARTS_MAX 300
/** Readings of a large object that changes meanwhile; writers come every 30 s. */
#define READINGS_MAX 5

struct tree {
    struct obj obj;
    struct wait *wait;
    struct store *store;
    bool is_done, is_closed;
    /* of the call that is done */
    int err;
    struct err_info why;
    struct buf data;
    struct tree_names names;
};

/* ---- one call ---- */

static void on_done(void *arg, int err, const struct store_result *r)
{
    struct tree *t = obj_cast(arg, struct tree, TREE_MAGIC);

    t->is_done = true;
    t->err = err;
    t->why = r->why;
    if (!err) {
        buf_add(&t->data, r->data, r->data_len);
        t->names.items = mem_array(r->n_children + 1, sizeof *t->names.items);
        for (size_t i = 0; i < r->n_children; i++)
            t->names.items[t->names.n_items++] = mem_str(r->children[i]);
    }
    run_loop_stop(t->wait->loop);
}

static void begin(struct tree *t)
{
    t->is_done = false;
    buf_clear(&t->data);
    tree_names_fini(&t->names);
}

/** Wait for the call. One that is interrupted ends with the store: no other may follow. */
static int end(struct tree *t, struct err_info *why)
{
    while (!t->is_done) {
        if (wait_event(t->wait, -1) && !t->is_done)
            return err_set(why, ERR_CANCELLED, NULL, "interrupted");
    }
    if (t->err)
        *why = t->why;
    return t->err;
}

static int get(struct tree *t, const char *path, struct err_info *why)
{
    begin(t);
    store_get(t->store, path, on_done, t);
    return end(t, why);
}

int tree_names(struct tree *t, const char *path, struct tree_names *out, struct err_info *why)
{
    begin(t);
    store_children(t->store, path, on_done, t);
    int err = end(t, why);
    *out = t->names;
    t->names = (struct tree_names){0};
    return err;
}

void tree_names_fini(struct tree_names *names)
{
    for (size_t i = 0; i < names->n_items; i++)
        free(names->items[i]);
    free(names->items);
    *names = (struct tree_names){0};
}

/* ---- large objects ---- */

/** The highest of the versions that are complete. @param out  new; NULL: there is none [out] */
static int newest(struct tree *t, const char *path, char **out, struct err_info *why)
{
    mem_auto char *versions = mem_fmt("%s/%s", path, VERSIONS);
    struct tree_names names;
    int64_t n, highest = -1;
    const char *found = NULL;
    int err = tree_names(t, versions, &names, why);

    for (size_t i = 0; !err && i < names.n_items; i++) {
        const char *digits = names.items[i] + strspn(names.items[i], "0");
        if (str_to_i64(*digits ? digits : "0", 0, INT32_MAX, &n) == 0 && n > highest) {
            highest = n;
            found = names.items[i];
        }
    }
    *out = mem_str(found);
    tree_names_fini(&names);
    return err;
}

/** All parts of a version, in order. */
static int read_parts(struct tree *t, const char *path, struct buf *out, struct err_info *why)
{
    struct tree_names names;
    int err = tree_names(t, path, &names, why);
    size_t n = names.n_items;

    tree_names_fini(&names);
    if (!err && n > PARTS_MAX)
        return err_set(why, ERR_TOOBIG, path, "has %zu parts, more than %d", n, PARTS_MAX);
    buf_clear(out);
    for (size_t i = 0; !err && i < n; i++) {
        mem_auto char *part = mem_fmt("%s/%zu", path, i);
        err = get(t, part, why);
        if (!err)
            buf_add(out, t->data.bytes, t->data.len);
    }
    return err;
}

/** One reading. @param is_newest  no newer version has come meanwhile: what was read, or is missing, stays so [out] */
static int read_version(struct tree *t, const char *path, struct buf *out, bool *is_newest,
                        struct err_info *why)
{
    struct err_info ignored;
    mem_auto char *version = NULL, *after = NULL;
    int err = newest(t, path, &version, why);

    *is_newest = true;
    if (!err && !version)
        err = err_set(why, ERR_PARSE, path, "no version of it is complete");
    if (err)
        return err;
    mem_auto char *parts = mem_fmt("%s/%s", path, version);
    err = read_parts(t, parts, out, why);
    if (err && err != ERR_NOTFOUND)
        return err;
    if (newest(t, path, &after, &ignored) == 0)
        *is_newest = after && strcmp(after, version) == 0;
    return err == ERR_NOTFOUND ? err_set(why, ERR_PARSE, parts, "a part is missing") : err;
}

static int read_large(struct tree *t, const char *path, struct buf *out, struct err_info *why)
{
    bool is_newest = false;
    int err = 0;

    for (int i = 0; !is_newest && i < READINGS_MAX; i++)
        err = read_version(t, path, out, &is_newest, why);
    if (!is_newest)
        return err_set(why, ERR_CONFLICT, path, "it changes faster than it is read");
    return err;
}

int tree_object(struct tree *t, const char *path, struct buf *out, struct err_info *why)
{
    int err = get(t, path, why);

    if (err)
        return err;
    if (t->data.len == 0) {
        err = read_large(t, path, out, why);
        return err == ERR_NOTFOUND ? err_set(why, ERR_PARSE, path, "the node is empty") : err;
    }
    buf_clear(out);
    buf_add(out, t->data.bytes, t->data.len);
    return 0;
}

/* ---- the session ---- */

int tree_open(struct wait *wait, const char *url, const struct tree_options *options, struct tree **out,
              struct err_info *why)
{
    const struct store_options store = {.session_timeout_ms = SESSION_MS,
                                        .connect_timeout_ms = options->limit_ms / 2 + 1,
                                        .retry_times = 1,
                                        .digest = options->digest};

    *out = NULL;
    if (!str_starts(url, "zk://"))
        return err_set(why, ERR_INVALID, url, "name the store of the launcher as zk://HOST:PORT[,...]/PATH");
    struct tree *t = mem_new(struct tree);
    obj_init(&t->obj, TREE_MAGIC);
    t->wait = wait;
    int err = store_open(wait->loop, url, &store, &t->store, why);
    if (!err) {
        begin(t);
        store_sync(t->store, on_done, t);
        err = end(t, why);
    }
    if (err)
        tree_close(t);
    else
        *out = t;
    return err;
}

static void on_closed(void *arg)
{
    struct tree *t = obj_cast(arg, struct tree, TREE_MAGIC);

    t->is_closed = true;
    run_loop_stop(t->wait->loop);
}

void tree_close(struct tree *t)
{
    if (!t)
        return;
    if (t->store)
        store_close(t->store, on_closed, t);
    while (t->store && !t->is_closed)
        run_loop_run(t->wait->loop);
    tree_names_fini(&t->names);
    buf_fini(&t->data);
    obj_fini(&t->obj);
    free(t);
}

#include "index/index.h"
#include "store/mirror/walk.h"
#include "base/mem.h"
#include "base/obj.h"
#include "run/task.h"

#include <stdlib.h>

#define INDEX_MAGIC OBJ_MAGIC('I', 'N', 'D', 'X')

/** Nodes of a step of the building: some tens of microseconds. */
#define STEP_NODES 8

struct index {
    struct obj obj;
    struct mirror *mirror;
    struct postings *postings;
    uint64_t epoch;
    bool is_ready;
    struct run_task *build;
    char *built; /* path that the building has come to; NULL: nothing yet */
};

static struct posting_entry *entry_of(const struct mirror_node *node)
{
    return node->user;
}

static void entry_drop(struct index *ix, const struct mirror_node *node)
{
    struct posting_entry *e = entry_of(node);
    mirror_node_user(node, NULL);
    if (e)
        postings_remove(ix->postings, e);
}

/* Bring the entry of a node in line with its bytes. */
static void index_node(struct index *ix, const char *path, const struct mirror_node *node)
{
    struct reg_record *record;
    if (reg_record_read(node->data, node->stat.data_len, REG_STRICT, &record, NULL)) {
        entry_drop(ix, node);
        return;
    }
    struct index_terms terms;
    index_terms_read(path, record, &terms);
    reg_record_free(record);
    const struct posting_entry *e = entry_of(node);
    if (!e || !posting_entry_fits(e, &terms)) {
        entry_drop(ix, node);
        if (terms.n_items)
            mirror_node_user(node, postings_add(ix->postings, node, &terms));
    }
    index_terms_fini(&terms);
}

/* ---- following the mirror ---- */

static bool build_step(void *arg)
{
    struct index *ix = obj_cast(arg, struct index, INDEX_MAGIC);
    for (int i = 0; i < STEP_NODES; i++) {
        const struct mirror_node *node = walk_next(ix->mirror, "/", ix->built);
        free(ix->built);
        ix->built = NULL;
        if (!node) {
            ix->is_ready = true;
            return false;
        }
        struct buf path = BUF_EMPTY;
        mirror_path(node, &path);
        ix->built = buf_take(&path);
        index_node(ix, ix->built, node);
    }
    return true;
}

static void on_synced(void *arg)
{
    struct index *ix = obj_cast(arg, struct index, INDEX_MAGIC);
    postings_clear(ix->postings);
    ix->epoch++;
    ix->is_ready = false;
    mem_free_ptr(&ix->built);
    run_task_now(ix->build); /* so that a small registry has its index when it becomes ready */
}

static void on_change(void *arg, enum mirror_change kind, const char *path, const struct mirror_node *node,
                      const char *old_data, size_t old_len, int64_t zxid)
{
    struct index *ix = obj_cast(arg, struct index, INDEX_MAGIC);
    (void)old_data;
    (void)old_len;
    (void)zxid;
    if (kind == MIRROR_PUT)
        index_node(ix, path, node);
    else
        entry_drop(ix, node);
}

static const struct mirror_listener listener = {.synced = on_synced, .change = on_change};

struct index *index_new(struct run_loop *loop, struct mirror *m)
{
    struct index *ix = mem_new(struct index);
    obj_init(&ix->obj, INDEX_MAGIC);
    ix->mirror = m;
    ix->postings = postings_new(loop);
    ix->epoch = (uint64_t)run_wall_ms();
    ix->build = run_task_new(loop, build_step, ix);
    mirror_listen(m, &listener, ix);
    return ix;
}

void index_free(struct index *ix)
{
    if (!ix)
        return;
    run_task_free(ix->build);
    postings_free(ix->postings);
    free(ix->built);
    obj_fini(&ix->obj);
    free(ix);
}

bool index_ready(const struct index *ix)
{
    return ix->is_ready;
}

uint64_t index_epoch(const struct index *ix)
{
    return ix->epoch;
}

size_t index_n_records(const struct index *ix)
{
    return postings_n_entries(ix->postings);
}

size_t index_n_bytes(const struct index *ix)
{
    return postings_n_bytes(ix->postings);
}

/* ---- asking ---- */

const struct mirror_node *index_next(const struct index *ix, const struct index_query *q, uint64_t *after,
                                     size_t *n_visits)
{
    const struct posting_entry *e = postings_next(ix->postings, q->terms, after, n_visits);
    return e ? e->node : NULL;
}

bool index_app_after(const struct index *ix, const struct index_app *last, struct index_app *out)
{
    return postings_app_after(ix->postings, last, out);
}

bool index_has_app(const struct index *ix, const char *id)
{
    return postings_has(ix->postings, INDEX_APP, id);
}

enum index_persistence index_persistence(const struct mirror_node *node)
{
    const struct posting_entry *e = entry_of(node);
    return e ? e->persistence : INDEX_OTHER;
}

const char *index_id(const struct mirror_node *node)
{
    const struct posting_entry *e = entry_of(node);
    return e ? posting_entry_term(e, INDEX_ID) : NULL;
}

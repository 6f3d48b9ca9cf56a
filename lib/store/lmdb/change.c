/* The tree inside an LMDB file: operations that change it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/obj.h"
#include "base/path.h"
#include "run/loop.h"
#include "store/lmdb/meta.h"
#include "store/lmdb/tree.h"
#include "store/store_backend.h"

/** Pages reserved for deletes: a delete writes new pages before it frees any, and must work in a full store. */
enum { PAGES_FOR_DELETES = 64, PAGES_PER_OP = 4 };
/** A write this far behind its end certainly allocates a block of the file. */
enum { BEYOND_LAST_BLOCK = 1 << 20 };

/** Where an operation takes place. */
struct place {
    uint64_t id, parent; /* 0: none */
    const char *name;
    size_t name_len, parent_path_len;
};

/** Note a result of LMDB. @return ERR_*. */
static int note_result(struct lmdb_txn *t, int rc)
{
    if (rc) {
        t->is_broken = true;
        t->lmdb_rc = rc;
    }
    return lmdb_err(rc);
}

static int damaged(struct lmdb_txn *t)
{
    t->is_broken = true;
    t->lmdb_rc = MDB_CORRUPTED;
    return ERR_IO;
}

/* ---- begin and end ---- */

/** Pages on the free list, those that readers still look at included. @return result of LMDB. */
static int free_pages(const struct lmdb_tree *tree, size_t *n_pages)
{
    MDB_txn *txn = NULL;
    MDB_cursor *cursor = NULL;
    MDB_val key, value;
    *n_pages = 0;
    int rc = mdb_txn_begin(tree->env, NULL, MDB_RDONLY, &txn);
    if (rc)
        return rc;
    rc = mdb_cursor_open(txn, 0, &cursor);
    while (!rc && !(rc = mdb_cursor_get(cursor, &key, &value, MDB_NEXT))) {
        size_t n = 0;
        if (value.mv_size >= sizeof n)
            memcpy(&n, value.mv_data, sizeof n);
        *n_pages += n;
    }
    if (cursor)
        mdb_cursor_close(cursor);
    mdb_txn_abort(txn);
    return rc == MDB_NOTFOUND ? 0 : rc;
}

/** How many pages creates and sets may take. The free list is read only when the file has grown to near its limit. */
static int find_room(struct lmdb_txn *t)
{
    const struct lmdb_tree *tree = t->tree;
    MDB_envinfo info;
    size_t n_free = 0;
    int rc = mdb_env_info(tree->env, &info);
    if (rc)
        return rc;
    size_t n_used = info.me_last_pgno + 1;
    size_t n_unused = tree->n_pages_max > n_used ? tree->n_pages_max - n_used : 0;
    if (n_unused < tree->n_pages_max / 8 + 4 * PAGES_FOR_DELETES)
        rc = free_pages(tree, &n_free);
    size_t n_pages = n_unused + n_free;
    t->n_pages_room = n_pages > PAGES_FOR_DELETES ? n_pages - PAGES_FOR_DELETES : 0;
    return rc;
}

int lmdb_txn_begin(struct lmdb_txn *t, const struct lmdb_tree *tree, struct buf *scratch)
{
    *t = (struct lmdb_txn){.tree = tree, .now_ms = run_wall_ms(), .scratch = scratch};
    int rc = find_room(t);
    if (!rc)
        rc = mdb_txn_begin(tree->env, NULL, 0, &t->txn);
    if (rc)
        return note_result(t, rc);
    uint64_t zxid = 0;
    if (lmdb_meta_get(tree, t->txn, "zxid", &zxid) || lmdb_meta_get(tree, t->txn, "next_id", &t->next_id)) {
        lmdb_txn_abort(t);
        return damaged(t);
    }
    t->zxid = (int64_t)zxid;
    return 0;
}

/** Find the cause of a failed commit: LMDB returns EIO for a short write, also on a full disk. @return result of LMDB. */
static int cause_of(const struct lmdb_tree *tree, int rc)
{
    mdb_filehandle_t fd;
    struct stat st;
    if (rc != EIO || mdb_env_get_fd(tree->env, &fd) || fstat(fd, &st))
        return rc;
    if (pwrite(fd, "", 1, st.st_size + BEYOND_LAST_BLOCK) < 0)
        return errno;
    return ftruncate(fd, st.st_size) ? errno : rc; /* LMDB does not look beyond its pages */
}

int lmdb_txn_commit(struct lmdb_txn *t)
{
    int rc = lmdb_meta_put(t->tree, t->txn, "zxid", (uint64_t)t->zxid);
    if (!rc)
        rc = lmdb_meta_put(t->tree, t->txn, "next_id", t->next_id);
    if (rc) {
        lmdb_txn_abort(t);
        return note_result(t, rc);
    }
    rc = mdb_txn_commit(t->txn);
    t->txn = NULL;
    return note_result(t, cause_of(t->tree, rc));
}

void lmdb_txn_abort(struct lmdb_txn *t)
{
    if (t->txn)
        mdb_txn_abort(t->txn);
    t->txn = NULL;
}

/* ---- notes for the follower ---- */

static void note(struct lmdb_txn *t, enum lmdb_change_kind kind, const char *path, size_t path_len,
                 const struct lmdb_node *n)
{
    if (!t->changes || store_is_aside(path))
        return;
    struct lmdb_change *change = mem_new(struct lmdb_change);
    change->kind = kind;
    change->path = mem_strn(path, path_len);
    if (n)
        change->stat = n->stat;
    if (kind == LMDB_NODE)
        change->bytes = mem_strn(n->data, n->stat.data_len);
    STAILQ_INSERT_TAIL(t->changes, change, link);
}

void lmdb_changes_free(struct lmdb_change_list *changes)
{
    struct lmdb_change *change;
    while ((change = STAILQ_FIRST(changes))) {
        STAILQ_REMOVE_HEAD(changes, link);
        free(change->path);
        free(change->bytes);
        free(change);
    }
}

/* ---- pieces of an operation ---- */

/** @return 0, place->id 0 when the node is missing; or ERR_NOTFOUND: its parent is. */
static int place_find(struct lmdb_txn *t, const char *path, struct place *place)
{
    int err;
    *place = (struct place){0};
    if (!path[1] || strcmp(path, STORE_ASIDE) == 0) {
        err = lmdb_tree_find(t->tree, t->txn, path, &place->id);
    } else {
        place->name = path_name(path);
        place->name_len = strlen(place->name);
        place->parent_path_len = path_parent_len(path);
        mem_auto char *parent_path = path_parent(path);
        err = lmdb_tree_find(t->tree, t->txn, parent_path, &place->parent);
        if (err)
            return err == ERR_NOTFOUND ? err : damaged(t);
        err = lmdb_tree_child(t->tree, t->txn, place->parent, place->name, place->name_len, &place->id);
    }
    if (err == ERR_NOTFOUND) {
        place->id = 0;
        return 0;
    }
    return err ? damaged(t) : 0;
}

static int node_put(struct lmdb_txn *t, uint64_t id, const struct lmdb_node *n)
{
    char bytes[8];
    lmdb_put_be64(bytes, id);
    lmdb_node_write(n, t->scratch);
    MDB_val key = {sizeof bytes, bytes}, value = {t->scratch->len, t->scratch->bytes};
    return note_result(t, mdb_put(t->txn, t->tree->nodes, &key, &value, 0));
}

/** An existing node and its place. @return 0; or ERR_NOTFOUND, ERR_IO. */
static int node_find(struct lmdb_txn *t, const char *path, struct place *place, struct lmdb_node *n)
{
    int err = place_find(t, path, place);
    if (err)
        return err;
    if (!place->id)
        return ERR_NOTFOUND;
    return lmdb_tree_node(t->tree, t->txn, place->id, n) ? damaged(t) : 0;
}

/** The node of an operation, if version and mzxid are those it names. @return 0; or ERR_NOTFOUND, ERR_CONFLICT: it is another, ERR_IO. */
static int meant_find(struct lmdb_txn *t, const struct store_op *op, struct place *place, struct lmdb_node *n)
{
    int err = node_find(t, op->path, place, n);
    if (err)
        return err;
    bool is_meant = (op->version == -1 || op->version == n->stat.version) &&
                    (op->mzxid == 0 || op->mzxid == n->stat.mzxid);
    return is_meant ? 0 : ERR_CONFLICT;
}

static int32_t next_version(int32_t version)
{
    return (int32_t)((uint32_t)version + 1);
}

/** Number of the change to be made at a path. */
static int64_t next_zxid(struct lmdb_txn *t, const char *path)
{
    t->is_changed = true;
    return store_is_aside(path) ? t->zxid : ++t->zxid;
}

/** A child came (+1) or went (-1): the parent's counters. */
static int parent_touch(struct lmdb_txn *t, const char *path, const struct place *place, int n_more)
{
    struct lmdb_node n;
    if (!place->parent)
        return 0;
    if (lmdb_tree_node(t->tree, t->txn, place->parent, &n))
        return damaged(t);
    n.stat.n_children += n_more;
    n.stat.cversion = next_version(n.stat.cversion);
    n.stat.pzxid = t->zxid;
    int err = node_put(t, place->parent, &n);
    if (!err)
        note(t, LMDB_STAT, path, place->parent_path_len, &n);
    return err;
}

static int take_room(struct lmdb_txn *t, size_t len)
{
    size_t n_pages = len / t->tree->page_size + PAGES_PER_OP;
    if (t->n_pages_room < n_pages)
        return ERR_NOSPC;
    t->n_pages_room -= n_pages;
    return 0;
}

/* ---- operations ---- */

static int op_create(struct lmdb_txn *t, const struct store_op *op, struct lmdb_effect *effect)
{
    struct place place;
    int err = place_find(t, op->path, &place);
    if (err)
        return err;
    if (place.id)
        return ERR_EXISTS;
    err = take_room(t, op->len);
    if (err)
        return err;
    buf_auto struct buf acl = BUF_EMPTY;
    lmdb_acl_write(store_acl_or_open(op->acl), &acl);
    int64_t zxid = next_zxid(t, op->path);
    struct lmdb_node n = {.acl_bytes = acl.bytes, .acl_len = acl.len, .data = op->len ? op->bytes : ""};
    n.stat = (struct store_stat){.czxid = zxid,
                                 .mzxid = zxid,
                                 .pzxid = zxid,
                                 .ctime_ms = t->now_ms,
                                 .mtime_ms = t->now_ms,
                                 .data_len = (uint32_t)op->len};
    uint64_t root = store_is_aside(op->path) ? LMDB_ASIDE_ID : LMDB_ROOT_ID;
    uint64_t id = place.parent ? t->next_id++ : root;
    err = node_put(t, id, &n);
    if (!err && place.parent) {
        char key_bytes[8 + STORE_NAME_MAX], id_bytes[8];
        MDB_val key = {lmdb_child_key(place.parent, place.name, place.name_len, key_bytes), key_bytes};
        MDB_val value = {sizeof id_bytes, id_bytes};
        lmdb_put_le64(id_bytes, id);
        err = note_result(t, mdb_put(t->txn, t->tree->children, &key, &value, 0));
    }
    note(t, LMDB_NODE, op->path, strlen(op->path), &n);
    *effect = (struct lmdb_effect){n.stat, zxid};
    return err ? err : parent_touch(t, op->path, &place, 1);
}

static int op_set(struct lmdb_txn *t, const struct store_op *op, struct lmdb_effect *effect)
{
    struct place place;
    struct lmdb_node n;
    int err = meant_find(t, op, &place, &n);
    if (!err)
        err = take_room(t, op->len);
    if (err)
        return err;
    n.stat.mzxid = next_zxid(t, op->path);
    n.stat.mtime_ms = t->now_ms;
    n.stat.version = next_version(n.stat.version);
    n.stat.data_len = (uint32_t)op->len;
    n.data = op->len ? op->bytes : "";
    note(t, LMDB_NODE, op->path, strlen(op->path), &n);
    *effect = (struct lmdb_effect){n.stat, t->zxid};
    return node_put(t, place.id, &n);
}

static int op_delete(struct lmdb_txn *t, const struct store_op *op, struct lmdb_effect *effect)
{
    struct place place;
    struct lmdb_node n;
    int err = meant_find(t, op, &place, &n);
    if (err)
        return err;
    if (n.stat.n_children)
        return ERR_NOTEMPTY;
    int64_t zxid = next_zxid(t, op->path);
    char id_bytes[8], key_bytes[8 + STORE_NAME_MAX];
    lmdb_put_be64(id_bytes, place.id);
    MDB_val id = {sizeof id_bytes, id_bytes};
    err = note_result(t, mdb_del(t->txn, t->tree->nodes, &id, NULL));
    if (!err && place.parent) {
        MDB_val key = {lmdb_child_key(place.parent, place.name, place.name_len, key_bytes), key_bytes};
        err = note_result(t, mdb_del(t->txn, t->tree->children, &key, NULL));
    }
    /* The parent's new pzxid goes first: from it a follower learns the number of this delete. */
    if (!err)
        err = parent_touch(t, op->path, &place, -1);
    note(t, LMDB_GONE, op->path, strlen(op->path), NULL);
    *effect = (struct lmdb_effect){.zxid = zxid};
    return err;
}

static int op_check(struct lmdb_txn *t, const struct store_op *op, struct lmdb_effect *effect)
{
    struct place place;
    struct lmdb_node n;
    int err = meant_find(t, op, &place, &n);
    if (!err)
        *effect = (struct lmdb_effect){n.stat, t->zxid};
    return err;
}

int lmdb_txn_apply(struct lmdb_txn *t, const struct store_op *op, struct lmdb_effect *effect)
{
    switch (op->kind) {
    case STORE_OP_CREATE: return op_create(t, op, effect);
    case STORE_OP_SET: return op_set(t, op, effect);
    case STORE_OP_DELETE: return op_delete(t, op, effect);
    case STORE_OP_CHECK: return op_check(t, op, effect);
    }
    bug_stop(__FILE__, __LINE__, "kind of operation");
}

int lmdb_txn_multi(struct lmdb_txn *t, const struct store_op *ops, size_t n_ops, struct lmdb_effect *effect,
                   size_t *failed_op)
{
    struct lmdb_change_list changes = STAILQ_HEAD_INITIALIZER(changes);
    struct lmdb_txn inner = *t;
    inner.changes = t->changes ? &changes : NULL;
    inner.txn = NULL;
    int err = note_result(t, mdb_txn_begin(t->tree->env, t->txn, 0, &inner.txn));
    for (size_t i = 0; i < n_ops && !err; i++) {
        *failed_op = i;
        err = lmdb_txn_apply(&inner, &ops[i], effect);
    }
    if (err) {
        lmdb_txn_abort(&inner);
        lmdb_changes_free(&changes);
        t->is_broken |= inner.is_broken;
        t->lmdb_rc = inner.lmdb_rc;
        return err;
    }
    err = note_result(t, mdb_txn_commit(inner.txn));
    t->zxid = inner.zxid;
    t->is_changed = inner.is_changed;
    t->next_id = inner.next_id;
    t->n_pages_room = inner.n_pages_room;
    if (t->changes)
        STAILQ_CONCAT(t->changes, &changes);
    return err;
}

int lmdb_txn_set_acl(struct lmdb_txn *t, const char *path, const struct store_acl *acl,
                     struct lmdb_effect *effect)
{
    struct place place;
    struct lmdb_node n;
    int err = node_find(t, path, &place, &n);
    if (!err)
        err = take_room(t, n.stat.data_len);
    if (err)
        return err;
    buf_auto struct buf acl_bytes = BUF_EMPTY;
    lmdb_acl_write(store_acl_or_open(acl), &acl_bytes);
    n.acl_bytes = acl_bytes.bytes;
    n.acl_len = acl_bytes.len;
    n.aversion = next_version(n.aversion);
    *effect = (struct lmdb_effect){n.stat, next_zxid(t, path)};
    return node_put(t, place.id, &n);
}

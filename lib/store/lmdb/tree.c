/* The tree inside an LMDB file: looking up and reading. */
#include "store/lmdb/tree.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/obj.h"
#include "base/str.h"
#include "store/lmdb/meta.h"
#include "store/store_backend.h"

enum { CHILD_KEY_MAX = 8 + STORE_NAME_MAX + 1 };

static MDB_val text_val(const char *s)
{
    return (MDB_val){strlen(s), (void *)(uintptr_t)s};
}

int lmdb_meta_get(const struct lmdb_tree *tree, MDB_txn *txn, const char *name, uint64_t *n)
{
    MDB_val key = text_val(name), value;
    int rc = mdb_get(txn, tree->meta, &key, &value);
    if (rc == MDB_NOTFOUND)
        return ERR_NOTFOUND;
    if (rc || value.mv_size != 8)
        return ERR_IO;
    *n = lmdb_get_le64(value.mv_data);
    return 0;
}

int lmdb_meta_put(const struct lmdb_tree *tree, MDB_txn *txn, const char *name, uint64_t n)
{
    char bytes[8];
    lmdb_put_le64(bytes, n);
    MDB_val key = text_val(name), value = {sizeof bytes, bytes};
    return mdb_put(txn, tree->meta, &key, &value, 0);
}

size_t lmdb_child_key(uint64_t parent, const char *name, size_t name_len, char *out)
{
    BUG_IF(name_len > STORE_NAME_MAX);
    lmdb_put_be64(out, parent);
    memcpy(out + 8, name, name_len);
    return 8 + name_len;
}

/* ---- opening ---- */

static int make_new(struct lmdb_tree *tree, MDB_txn *txn)
{
    uint64_t id = 0;
    BUG_IF(getrandom(&id, sizeof id, 0) != (ssize_t)sizeof id);
    int rc = lmdb_meta_put(tree, txn, "format", 1);
    if (!rc)
        rc = lmdb_meta_put(tree, txn, "store_id", id);
    if (!rc)
        rc = lmdb_meta_put(tree, txn, "zxid", 0);
    return rc ? rc : lmdb_meta_put(tree, txn, "next_id", LMDB_ROOT_ID + 1);
}

/** Open the tables in a write transaction; @return result of LMDB. */
static int open_tables(struct lmdb_tree *tree, MDB_txn *txn)
{
    int rc = mdb_dbi_open(txn, "meta", MDB_CREATE, &tree->meta);
    if (!rc)
        rc = mdb_dbi_open(txn, "children", MDB_CREATE, &tree->children);
    if (!rc)
        rc = mdb_dbi_open(txn, "nodes", MDB_CREATE, &tree->nodes);
    if (rc)
        return rc;
    uint64_t format = 0, id = 0;
    int err = lmdb_meta_get(tree, txn, "format", &format);
    if (err == ERR_NOTFOUND) {
        rc = make_new(tree, txn);
        err = rc ? 0 : lmdb_meta_get(tree, txn, "format", &format);
    }
    if (rc || err)
        return rc ? rc : MDB_CORRUPTED;
    if (format != 1)
        return MDB_VERSION_MISMATCH;
    if (lmdb_meta_get(tree, txn, "store_id", &id))
        return MDB_CORRUPTED;
    snprintf(tree->store_id, sizeof tree->store_id, "%016" PRIx64, id);
    return 0;
}

int lmdb_tree_open(struct lmdb_tree *tree, MDB_env *env, struct err_info *why)
{
    MDB_txn *txn = NULL;
    MDB_stat stat;
    MDB_envinfo info;
    tree->env = env;
    int rc = mdb_txn_begin(env, NULL, 0, &txn);
    if (rc)
        return err_set(why, lmdb_err(rc), NULL, "cannot write the store: %s", mdb_strerror(rc));
    rc = open_tables(tree, txn);
    if (rc) {
        mdb_txn_abort(txn);
        return err_set(why, lmdb_err(rc), NULL, "cannot read the store: %s", mdb_strerror(rc));
    }
    rc = mdb_txn_commit(txn);
    if (rc)
        return err_set(why, lmdb_err(rc), NULL, "cannot write the store: %s", mdb_strerror(rc));
    BUG_IF(mdb_env_stat(env, &stat) || mdb_env_info(env, &info));
    tree->page_size = stat.ms_psize;
    tree->n_pages_max = info.me_mapsize / stat.ms_psize;
    return 0;
}

/* ---- reading ---- */

int lmdb_tree_zxid(const struct lmdb_tree *tree, MDB_txn *txn, int64_t *zxid)
{
    uint64_t n = 0;
    if (lmdb_meta_get(tree, txn, "zxid", &n))
        return ERR_IO;
    *zxid = (int64_t)n;
    return 0;
}

int lmdb_tree_node(const struct lmdb_tree *tree, MDB_txn *txn, uint64_t id, struct lmdb_node *n)
{
    char bytes[8];
    lmdb_put_be64(bytes, id);
    MDB_val key = {sizeof bytes, bytes}, value;
    int rc = mdb_get(txn, tree->nodes, &key, &value);
    if (rc)
        return rc == MDB_NOTFOUND ? ERR_NOTFOUND : ERR_IO;
    return lmdb_node_read(value.mv_data, value.mv_size, n);
}

int lmdb_tree_child(const struct lmdb_tree *tree, MDB_txn *txn, uint64_t parent, const char *name,
                    size_t name_len, uint64_t *id)
{
    char bytes[CHILD_KEY_MAX];
    MDB_val key = {lmdb_child_key(parent, name, name_len, bytes), bytes}, value;
    int rc = mdb_get(txn, tree->children, &key, &value);
    if (rc)
        return rc == MDB_NOTFOUND ? ERR_NOTFOUND : ERR_IO;
    if (value.mv_size != 8)
        return ERR_IO;
    *id = lmdb_get_le64(value.mv_data);
    return 0;
}

int lmdb_tree_find(const struct lmdb_tree *tree, MDB_txn *txn, const char *path, uint64_t *id)
{
    bool is_aside = store_is_aside(path);
    uint64_t at = is_aside ? LMDB_ASIDE_ID : LMDB_ROOT_ID;
    const char *below = is_aside ? path + strlen(STORE_ASIDE) : path;
    if (is_aside ? !below[0] : !below[1]) {
        struct lmdb_node root;
        int err = lmdb_tree_node(tree, txn, at, &root);
        *id = at;
        return err;
    }
    for (const char *name = below; *name;) {
        name++;
        size_t len = strcspn(name, "/");
        int err = lmdb_tree_child(tree, txn, at, name, len, &at);
        if (err)
            return err;
        name += len;
    }
    *id = at;
    return 0;
}

int lmdb_tree_child_after(MDB_cursor *cursor, uint64_t parent, const char *after, MDB_val *name, uint64_t *id)
{
    char bytes[CHILD_KEY_MAX];
    size_t after_len = strlen(after);
    size_t wanted = lmdb_child_key(parent, after, after_len, bytes);
    MDB_val key = {wanted, bytes}, value;
    int rc = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE);
    if (!rc && key.mv_size == wanted && memcmp(key.mv_data, bytes, wanted) == 0)
        rc = mdb_cursor_get(cursor, &key, &value, MDB_NEXT);
    if (rc)
        return rc == MDB_NOTFOUND ? ERR_NOTFOUND : ERR_IO;
    if (key.mv_size < 9 || value.mv_size != 8)
        return ERR_IO;
    if (memcmp(key.mv_data, bytes, 8) != 0)
        return ERR_NOTFOUND;
    *name = (MDB_val){key.mv_size - 8, (char *)key.mv_data + 8};
    *id = lmdb_get_le64(value.mv_data);
    return 0;
}

#include "store/zk_try.h"
#include "store/store_backend.h"
#include "store/zk_wire.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define TRY_MAGIC OBJ_MAGIC('Z', 'K', 'T', 'R')

static const struct {
    int rc, err;
} errors[] = {
    {ZOK, 0},
    {ZNONODE, ERR_NOTFOUND},
    {ZNODEEXISTS, ERR_EXISTS},
    {ZNOTEMPTY, ERR_NOTEMPTY},
    {ZBADVERSION, ERR_CONFLICT},
    {ZNOAUTH, ERR_PERMISSION},
    {ZINVALIDACL, ERR_PERMISSION},
    {ZAUTHFAILED, ERR_AUTH},
    {ZSESSIONCLOSEDREQUIRESASLAUTH, ERR_AUTH},
    {ZNOCHILDRENFOREPHEMERALS, ERR_EPHEMERAL},
    {ZBADARGUMENTS, ERR_PATH},
    {ZCONNECTIONLOSS, ERR_UNAVAILABLE},
    {ZOPERATIONTIMEOUT, ERR_UNAVAILABLE},
    {ZSESSIONEXPIRED, ERR_UNAVAILABLE},
    {ZSESSIONMOVED, ERR_UNAVAILABLE},
    {ZINVALIDSTATE, ERR_UNAVAILABLE},
    {ZCLOSING, ERR_UNAVAILABLE},
    {ZTHROTTLEDOP, ERR_UNAVAILABLE},
};

int zkt_error(int rc)
{
    for (size_t i = 0; i < ARRAY_LEN(errors); i++)
        if (errors[i].rc == rc)
            return errors[i].err;
    return ERR_IO;
}

bool zkt_is_lost(int rc)
{
    return zkt_error(rc) == ERR_UNAVAILABLE;
}

struct zkt *zkt_new(struct run_loop *loop, void (*done)(struct zkt *t), void *arg)
{
    struct zkt *t = mem_new(struct zkt);
    obj_init(&t->obj, TRY_MAGIC);
    t->loop = loop;
    t->done = done;
    t->arg = arg;
    return t;
}

void zkt_free(struct zkt *t)
{
    for (size_t i = 0; t->acls && i < t->n_ops; i++)
        free(t->acls[i].data);
    for (size_t i = 0; i < t->n_names; i++)
        free(t->names[i]);
    for (size_t i = 0; i < t->n_acl; i++) {
        free((char *)t->acl[i].scheme);
        free((char *)t->acl[i].id);
    }
    free(t->acls);
    free(t->ops);
    free(t->results);
    free(t->stats);
    free(t->bytes);
    free(t->names);
    free(t->acl);
    obj_fini(&t->obj);
    free(t);
}

/* ---- the client's threads ---- */

static void on_owner(void *arg)
{
    struct zkt *t = obj_cast(arg, struct zkt, TRY_MAGIC);
    t->done(t);
}

static struct zkt *answered(const void *context, int rc)
{
    struct zkt *t = obj_cast((void *)context, struct zkt, TRY_MAGIC);
    t->rc = rc;
    return t;
}

static void keep_stat(struct zkt *t, const struct Stat *stat)
{
    if (!stat)
        return;
    t->stat = (struct store_stat){
        .czxid = stat->czxid,
        .mzxid = stat->mzxid,
        .pzxid = stat->pzxid,
        .ctime_ms = stat->ctime,
        .mtime_ms = stat->mtime,
        .version = stat->version,
        .cversion = stat->cversion,
        .n_children = stat->numChildren,
        .data_len = (uint32_t)stat->dataLength,
        .ephemeral = zkw_is_ephemeral(stat->ephemeralOwner),
    };
}

static void on_void(int rc, const void *context)
{
    struct zkt *t = answered(context, rc);
    run_post(t->loop, on_owner, t);
}

static void on_stat(int rc, const struct Stat *stat, const void *context)
{
    struct zkt *t = answered(context, rc);
    if (rc == ZOK)
        keep_stat(t, stat);
    run_post(t->loop, on_owner, t);
}

static void on_data(int rc, const char *value, int len, const struct Stat *stat, const void *context)
{
    struct zkt *t = answered(context, rc);
    if (rc == ZOK) {
        keep_stat(t, stat);
        t->len = value && len > 0 ? (size_t)len : 0;
        t->bytes = mem_strn(t->len ? value : "", t->len);
    }
    run_post(t->loop, on_owner, t);
}

static void on_created(int rc, const char *path, const struct Stat *stat, const void *context)
{
    (void)path;
    on_stat(rc, stat, context);
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void on_names(int rc, const struct String_vector *names, const struct Stat *stat, const void *context)
{
    struct zkt *t = answered(context, rc);
    if (rc == ZOK) {
        keep_stat(t, stat);
        t->n_names = names ? (size_t)names->count : 0;
        t->names = mem_array(t->n_names + 1, sizeof *t->names);
        for (size_t i = 0; i < t->n_names; i++)
            t->names[i] = mem_str(names->data[i]);
        qsort(t->names, t->n_names, sizeof *t->names, by_bytes);
    }
    run_post(t->loop, on_owner, t);
}

static void on_acl(int rc, struct ACL_vector *acl, struct Stat *stat, const void *context)
{
    struct zkt *t = answered(context, rc);
    if (rc == ZOK) {
        keep_stat(t, stat);
        t->n_acl = acl ? (size_t)acl->count : 0;
        t->acl = mem_array(t->n_acl + 1, sizeof *t->acl);
        for (size_t i = 0; i < t->n_acl; i++)
            t->acl[i] = (struct store_acl_entry){
                (uint32_t)acl->data[i].perms, mem_str(acl->data[i].id.scheme), mem_str(acl->data[i].id.id)};
    }
    run_post(t->loop, on_owner, t);
}

/* ---- owner ---- */

/* The client's form of an ACL. Its strings are borrowed: it writes them out during the call. */
static struct ACL_vector client_acl(const struct store_acl *acl)
{
    const struct store_acl *effective = store_acl_or_open(acl);
    struct ACL_vector out = {(int32_t)effective->n_entries,
                             mem_array(effective->n_entries, sizeof(struct ACL))};
    for (size_t i = 0; i < effective->n_entries; i++) {
        const struct store_acl_entry *e = &effective->entries[i];
        out.data[i] = (struct ACL){(int32_t)e->perms, {(char *)e->scheme, (char *)e->id}};
    }
    return out;
}

static const char *bytes_of(const struct store_op *op)
{
    return op->bytes ? op->bytes : "";
}

static void fill_op(struct zkt *t, size_t i, const struct store_op *op)
{
    switch (op->kind) {
    case STORE_OP_CREATE:
        zoo_create_op_init(&t->ops[i], op->path, bytes_of(op), (int)op->len, &t->acls[i], ZOO_PERSISTENT,
                           NULL, 0);
        break;
    case STORE_OP_SET:
        zoo_set_op_init(&t->ops[i], op->path, bytes_of(op), (int)op->len, op->version, &t->stats[i]);
        break;
    case STORE_OP_DELETE: zoo_delete_op_init(&t->ops[i], op->path, op->version); break;
    case STORE_OP_CHECK: zoo_check_op_init(&t->ops[i], op->path, op->version); break;
    }
}

static int send_multi(struct zkt *t, zhandle_t *zh, const struct zkt_request *request)
{
    t->ops = mem_array(t->n_ops, sizeof *t->ops);
    t->results = mem_array(t->n_ops, sizeof *t->results);
    t->stats = mem_array(t->n_ops, sizeof *t->stats);
    for (size_t i = 0; i < t->n_ops; i++)
        fill_op(t, i, &request->ops[i]);
    return zoo_amulti(zh, (int)t->n_ops, t->ops, t->results, on_void, t);
}

static int send_write(struct zkt *t, zhandle_t *zh, const struct zkt_request *request)
{
    const struct store_op *op = request->ops;
    t->n_ops = request->n_ops;
    t->acls = mem_array(t->n_ops, sizeof *t->acls);
    for (size_t i = 0; i < t->n_ops; i++)
        t->acls[i] = client_acl(request->ops[i].acl);
    switch (request->kind) {
    case ZKT_CREATE:
        return zoo_acreate2(zh, request->path, bytes_of(op), (int)op->len, &t->acls[0], ZOO_PERSISTENT,
                            on_created, t);
    case ZKT_SET: return zoo_aset(zh, request->path, bytes_of(op), (int)op->len, op->version, on_stat, t);
    case ZKT_DELETE: return zoo_adelete(zh, request->path, op->version, on_void, t);
    case ZKT_SET_ACL: return zoo_aset_acl(zh, request->path, -1, &t->acls[0], on_void, t);
    default: return send_multi(t, zh, request);
    }
}

static int give(struct zkt *t, zhandle_t *zh, const struct zkt_request *request)
{
    switch (request->kind) {
    case ZKT_GET: return zoo_aget(zh, request->path, 0, on_data, t);
    case ZKT_STAT: return zoo_aexists(zh, request->path, 0, on_stat, t);
    case ZKT_CHILDREN: return zoo_aget_children2(zh, request->path, 0, on_names, t);
    case ZKT_GET_ACL: return zoo_aget_acl(zh, request->path, on_acl, t);
    default: return send_write(t, zh, request);
    }
}

void zkt_send(struct zkt *t, zhandle_t *zh, const struct zkt_request *request)
{
    int rc = give(t, zh, request);
    if (rc == ZOK)
        return; /* from here on t is the client's */
    t->rc = rc;
    t->is_refused = true;
    run_post(t->loop, on_owner, t);
}

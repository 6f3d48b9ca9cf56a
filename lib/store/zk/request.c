#include "store/zk/request.h"
#include "store/zk/condition.h"
#include "base/mem.h"
#include "base/path.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { PERSISTENT = 0, SEQUENTIAL = 2, TYPE_NONE = -1, ANY_VERSION = -1, CHECK_OPS = 2 };

/* ---- out ---- */

/* Node beside the root that is STORE_ASIDE. */
#define ASIDE_SUFFIX "-bobbin"

static void put_path(struct buf *out, const char *root, const char *path)
{
    bool is_aside = store_is_aside(path);
    const char *suffix = is_aside ? ASIDE_SUFFIX : "";
    if (is_aside)
        path += strlen(STORE_ASIDE);
    else if (strcmp(path, "/") == 0)
        path = root[0] ? "" : "/";
    size_t root_len = strlen(root), suffix_len = strlen(suffix), len = strlen(path);
    zkw_put_i32(out, (int32_t)(root_len + suffix_len + len));
    buf_add(out, root, root_len);
    buf_add(out, suffix, suffix_len);
    buf_add(out, path, len);
}

static void put_data(struct buf *out, const struct store_op *op)
{
    zkw_put_bytes(out, op->bytes ? op->bytes : "", op->len);
}

static void put_acl(struct buf *out, const struct store_acl *acl)
{
    const struct store_acl *effective = store_acl_or_open(acl);
    zkw_put_i32(out, (int32_t)effective->n_entries);
    for (size_t i = 0; i < effective->n_entries; i++) {
        const struct store_acl_entry *e = &effective->entries[i];
        zkw_put_i32(out, (int32_t)e->perms);
        zkw_put_bytes(out, e->scheme, strlen(e->scheme));
        zkw_put_bytes(out, e->id, strlen(e->id));
    }
}

static void put_op(struct buf *out, const char *root, const struct store_op *op)
{
    put_path(out, root, op->path);
    switch (op->kind) {
    case STORE_OP_CREATE:
        put_data(out, op);
        put_acl(out, op->acl);
        zkw_put_i32(out, PERSISTENT);
        break;
    case STORE_OP_SET:
        put_data(out, op);
        zkw_put_i32(out, op->version);
        break;
    case STORE_OP_DELETE:
    case STORE_OP_CHECK: zkw_put_i32(out, op->version); break;
    }
}

static void begin(struct zkr *out, enum zkw_opcode opcode, bool is_change, size_t n_paths)
{
    *out = (struct zkr){.opcode = opcode, .body = BUF_EMPTY, .is_write = is_change, .is_change = is_change};
    out->paths = mem_array(n_paths, sizeof *out->paths);
    out->n_paths = n_paths;
}

static void begin_one(struct zkr *out, enum zkw_opcode opcode, bool is_change, const char *path)
{
    begin(out, opcode, is_change, 1);
    out->paths[0] = mem_str(path);
}

void zkr_make_read(struct zkr *out, enum store_read_kind kind, const char *root, const char *path)
{
    static const enum zkw_opcode opcodes[] = {
        [STORE_READ_DATA] = ZKW_GET_DATA,
        [STORE_READ_STAT] = ZKW_EXISTS,
        [STORE_READ_CHILDREN] = ZKW_GET_CHILDREN2,
        [STORE_READ_ACL] = ZKW_GET_ACL,
    };
    begin_one(out, opcodes[kind], false, path);
    put_path(&out->body, root, path);
    if (kind != STORE_READ_ACL)
        buf_add_char(&out->body, 0); /* no watch */
}

void zkr_make_write(struct zkr *out, const char *root, const struct store_op *op)
{
    static const enum zkw_opcode opcodes[] = {
        [STORE_OP_CREATE] = ZKW_CREATE2, [STORE_OP_SET] = ZKW_SET_DATA, [STORE_OP_DELETE] = ZKW_DELETE};
    if (op->kind == STORE_OP_CHECK) {
        zkr_make_multi(out, root, op, 1);
        return;
    }
    begin_one(out, opcodes[op->kind], true, op->path);
    put_op(&out->body, root, op);
    out->has_seen = op->seen != NULL;
    if (op->seen)
        out->seen = *op->seen;
}

void zkr_make_set_acl(struct zkr *out, const char *root, const char *path, const struct store_acl *acl)
{
    begin_one(out, ZKW_SET_ACL, false, path);
    out->is_write = true;
    put_path(&out->body, root, path);
    put_acl(&out->body, acl);
    zkw_put_i32(&out->body, ANY_VERSION);
}

static void put_multi_header(struct buf *out, int32_t type, bool is_last)
{
    zkw_put_i32(out, type);
    buf_add_char(out, is_last ? 1 : 0);
    zkw_put_i32(out, -1);
}

void zkr_make_multi(struct zkr *out, const char *root, const struct store_op *ops, size_t n_ops)
{
    static const enum zkw_opcode types[] = {[STORE_OP_CREATE] = ZKW_CREATE,
                                            [STORE_OP_SET] = ZKW_SET_DATA,
                                            [STORE_OP_DELETE] = ZKW_DELETE,
                                            [STORE_OP_CHECK] = ZKW_CHECK};
    begin(out, ZKW_MULTI, false, n_ops);
    for (size_t i = 0; i < n_ops; i++) {
        out->is_change = out->is_change || ops[i].kind != STORE_OP_CHECK;
        out->is_write = out->is_change;
        out->paths[i] = mem_str(ops[i].path);
        put_multi_header(&out->body, types[ops[i].kind], false);
        put_op(&out->body, root, &ops[i]);
    }
    put_multi_header(&out->body, TYPE_NONE, true);
}

/* Path of the check node beside a node. n_creates -1: without its number, which the server appends. */
static char *check_path(const char *path, int64_t n_creates)
{
    int len = (int)(path_name(path) - path);
    if (n_creates < 0)
        return mem_fmt("%.*s" ZKCOND_NAME, len, path);
    return mem_fmt("%.*s" ZKCOND_NAME "%010" PRId64, len, path, n_creates);
}

void zkr_make_checked(struct zkr *out, const char *root, const struct store_op *ops, size_t n_ops,
                      int64_t n_creates)
{
    mem_auto char *made = check_path(ops[0].path, -1);
    mem_auto char *meant = check_path(ops[0].path, n_creates);
    const struct store_op drop = {.kind = STORE_OP_DELETE, .path = meant, .version = ANY_VERSION};
    begin(out, ZKW_MULTI, true, CHECK_OPS + n_ops);
    out->is_checked = true;
    out->paths[0] = mem_str(made);
    out->paths[1] = mem_str(meant);
    put_multi_header(&out->body, ZKW_CREATE, false);
    put_path(&out->body, root, made);
    zkw_put_bytes(&out->body, "", 0);
    put_acl(&out->body, NULL);
    zkw_put_i32(&out->body, SEQUENTIAL);
    put_multi_header(&out->body, ZKW_DELETE, false);
    put_op(&out->body, root, &drop);
    for (size_t i = 0; i < n_ops; i++) {
        out->paths[CHECK_OPS + i] = mem_str(ops[i].path);
        put_multi_header(&out->body, ops[i].kind == STORE_OP_SET ? ZKW_SET_DATA : ZKW_DELETE, false);
        put_op(&out->body, root, &ops[i]);
    }
    put_multi_header(&out->body, TYPE_NONE, true);
}

void zkr_make_sync(struct zkr *out, const char *root, const char *path)
{
    begin_one(out, ZKW_SYNC, false, path);
    put_path(&out->body, root, path);
}

struct zkw_bytes zkr_data(const struct zkr *r)
{
    struct zkw_in in = zkw_in_make(r->body.bytes, r->body.len);
    zkw_get_bytes(&in); /* the path */
    return zkw_get_bytes(&in);
}

static bool kind_of(int32_t type, enum store_op_kind *out)
{
    switch (type) {
    case ZKW_CREATE:
    case ZKW_CREATE2: *out = STORE_OP_CREATE; return true;
    case ZKW_SET_DATA: *out = STORE_OP_SET; return true;
    case ZKW_DELETE: *out = STORE_OP_DELETE; return true;
    case ZKW_CHECK: *out = STORE_OP_CHECK; return true;
    default: return false;
    }
}

/* The reverse of put_op; the reader is behind it. */
static void take_op(struct zkw_in *in, struct store_op *out)
{
    zkw_get_bytes(in); /* the path, which the request has as it is within the store */
    if (out->kind == STORE_OP_CREATE || out->kind == STORE_OP_SET) {
        struct zkw_bytes data = zkw_get_bytes(in);
        out->bytes = data.at;
        out->len = data.len;
    }
    for (int32_t n = out->kind == STORE_OP_CREATE ? zkw_get_i32(in) : 0; n > 0; n--) {
        zkw_get_i32(in);
        zkw_get_bytes(in);
        zkw_get_bytes(in);
    }
    int32_t last = zkw_get_i32(in); /* of a create its flags */
    out->version = out->kind == STORE_OP_CREATE ? ANY_VERSION : last;
}

bool zkr_write(const struct zkr *r, size_t i, struct store_op *out)
{
    struct zkw_in in = zkw_in_make(r->body.bytes, r->body.len);
    int32_t type = (int32_t)r->opcode;
    for (size_t at = 0; at <= i; at++) {
        if (r->opcode == ZKW_MULTI) {
            type = zkw_get_i32(&in);
            zkw_get_i8(&in);
            zkw_get_i32(&in);
        }
        *out = (struct store_op){.path = r->paths[at], .seen = r->has_seen ? &r->seen : NULL};
        if (!kind_of(type, &out->kind))
            return false;
        take_op(&in, out);
    }
    return !in.is_bad;
}

void zkr_fini(struct zkr *r)
{
    for (size_t i = 0; i < r->n_paths; i++)
        free(r->paths[i]);
    free(r->paths);
    buf_fini(&r->body);
    *r = (struct zkr){0};
}

/* ---- in ---- */

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* How many elements of at least `size` bytes follow; too many for what is left is bad. */
static size_t get_count(struct zkw_in *in, size_t size)
{
    int32_t n = zkw_get_i32(in);
    if (!in->is_bad && n > 0 && (size_t)n > (size_t)(in->end - in->at) / size)
        in->is_bad = true;
    return in->is_bad || n < 0 ? 0 : (size_t)n;
}

static char *get_text(struct zkw_in *in)
{
    struct zkw_bytes b = zkw_get_bytes(in);
    return mem_strn(b.at ? b.at : "", b.len);
}

static void get_names(struct zkw_in *in, struct zkr_answer *out)
{
    enum { name_min = 4 };
    size_t n = get_count(in, name_min);
    out->names = mem_array(n + 1, sizeof *out->names);
    for (; out->n_names < n && !in->is_bad; out->n_names++)
        out->names[out->n_names] = get_text(in);
    qsort(out->names, out->n_names, sizeof *out->names, by_bytes);
}

static void get_acl(struct zkw_in *in, struct zkr_answer *out)
{
    enum { entry_min = 12 };
    size_t n = get_count(in, entry_min);
    out->acl = mem_array(n + 1, sizeof *out->acl);
    for (; out->n_acl < n && !in->is_bad; out->n_acl++) {
        struct store_acl_entry *e = &out->acl[out->n_acl];
        e->perms = (uint32_t)zkw_get_i32(in);
        e->scheme = get_text(in);
        e->id = get_text(in);
    }
}

static void get_data(struct zkw_in *in, struct zkr_answer *out)
{
    struct zkw_bytes b = zkw_get_bytes(in);
    out->len = b.len;
    out->bytes = mem_strn(b.at ? b.at : "", b.len);
}

static int32_t get_multi_header(struct zkw_in *in)
{
    int32_t type = zkw_get_i32(in);
    zkw_get_i8(in);
    zkw_get_i32(in);
    return type;
}

/* Behind the first header: what was made, nothing of a delete, and of a set the stat. */
static void get_checked(struct zkw_in *in, size_t n_writes, struct zkr_answer *out)
{
    out->stats = mem_array(n_writes, sizeof *out->stats);
    zkw_get_bytes(in);
    get_multi_header(in);
    for (size_t i = 0; i < n_writes && !in->is_bad; i++) {
        if (get_multi_header(in) == ZKW_SET_DATA)
            zkw_get_stat(in, &out->stats[i]);
    }
}

/* Which operation failed, and how. The operations that were carried out are not read: none was. */
static int32_t get_multi(struct zkw_in *in, const struct zkr *r, struct zkr_answer *out)
{
    for (size_t i = 0; i < r->n_paths && !in->is_bad; i++) {
        int32_t type = get_multi_header(in);
        if (type != TYPE_NONE) {
            if (r->is_checked)
                get_checked(in, r->n_paths - CHECK_OPS, out);
            return ZKW_OK;
        }
        int32_t err = zkw_get_i32(in);
        if (in->is_bad || err == ZKW_OK || err == ZKW_RUNTIME_INCONSISTENCY)
            continue;
        out->failed_op = i;
        return err;
    }
    in->is_bad = true; /* failed, and no operation has an error */
    return ZKW_MARSHALLING;
}

static void get_body(struct zkw_in *in, enum zkw_opcode opcode, struct zkr_answer *out)
{
    if (opcode == ZKW_GET_DATA)
        get_data(in, out);
    else if (opcode == ZKW_GET_CHILDREN2)
        get_names(in, out);
    else if (opcode == ZKW_GET_ACL)
        get_acl(in, out);
    else if (opcode == ZKW_CREATE2 || opcode == ZKW_SYNC)
        zkw_get_bytes(in); /* the path */
    if (opcode != ZKW_DELETE && opcode != ZKW_SYNC)
        zkw_get_stat(in, &out->stat);
}

int32_t zkr_read(const struct zkr *r, int32_t err, struct zkw_in body, struct zkr_answer *out, bool *bad)
{
    *out = (struct zkr_answer){0};
    *bad = false;
    if (err != ZKW_OK)
        return err;
    if (r->opcode == ZKW_MULTI)
        err = get_multi(&body, r, out);
    else
        get_body(&body, r->opcode, out);
    *bad = body.is_bad;
    return body.is_bad ? ZKW_MARSHALLING : err;
}

void zkr_answer_fini(struct zkr_answer *a)
{
    for (size_t i = 0; i < a->n_names; i++)
        free(a->names[i]);
    for (size_t i = 0; i < a->n_acl; i++) {
        free((char *)a->acl[i].scheme);
        free((char *)a->acl[i].id);
    }
    free(a->names);
    free(a->acl);
    free(a->bytes);
    free(a->stats);
    *a = (struct zkr_answer){0};
}

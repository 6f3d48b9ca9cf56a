#include "copy/export.h"
#include "feed/lines.h"
#include "store/mirror/walk.h"
#include "base/base64.h"
#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"
#include "bobbin/record.h"
#include "json/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#define EXPORT_MAGIC OBJ_MAGIC('E', 'X', 'P', 'O')
#define NODE_MAGIC   OBJ_MAGIC('E', 'X', 'N', 'D')

/** Nodes whose ACL is under way. */
#define N_AHEAD 64

/* A node that was met in the mirror; its ACL comes from the store. */
struct export_node {
    struct obj obj;
    TAILQ_ENTRY(export_node) link;
    struct export *export;
    char *path, *bytes;
    size_t len;
    bool is_ephemeral, is_known, is_masked;
    int err; /* ERR_NOTFOUND: it has been deleted meanwhile */
    struct err_info why;
    struct buf acl; /* JSON */
};

struct export
{
    struct obj obj;
    struct mirror *mirror;
    struct store *store;
    struct http_req *req; /* NULL: the stream is over */
    char *top, *after;
    char store_id[STORE_REVISION_MAX];
    TAILQ_HEAD(, export_node) nodes; /* in path order */
    size_t n_nodes, n_asked;         /* in the list; ACLs under way */
    int64_t n_written;
    struct buf out; /* written, not yet taken */
    size_t n_taken;
    bool is_walked, is_done;
};

static void node_free(struct export_node *n)
{
    free(n->path);
    free(n->bytes);
    buf_fini(&n->acl);
    obj_fini(&n->obj);
    free(n);
}

static void node_drop(struct export *x, struct export_node *n)
{
    TAILQ_REMOVE(&x->nodes, n, link);
    x->n_nodes--;
    node_free(n);
}

/* Free what is left, once nothing is under way. */
static void export_end(struct export *x)
{
    struct export_node *n;
    if (x->req || x->n_asked)
        return;
    while ((n = TAILQ_FIRST(&x->nodes)))
        node_drop(x, n);
    buf_fini(&x->out);
    free(x->top);
    free(x->after);
    obj_fini(&x->obj);
    free(x);
}

/* ---- lines ---- */

/* ZooKeeper hides the hash of a digest from who may not administer the node: "alice:x". */
static bool is_masked(const struct store_acl *acl)
{
    for (size_t i = 0; i < acl->n_entries; i++) {
        if (strcmp(acl->entries[i].scheme, "digest") == 0 && str_ends(acl->entries[i].id, ":x"))
            return true;
    }
    return false;
}

static void write_acl(struct buf *out, const struct store_acl *acl)
{
    struct jw w = jw_on(out);
    jw_array(&w);
    for (size_t i = 0; i < acl->n_entries; i++) {
        jw_object(&w);
        jw_kint(&w, "perms", acl->entries[i].perms);
        jw_kstr(&w, "scheme", acl->entries[i].scheme);
        jw_kstr(&w, "id", acl->entries[i].id);
        jw_object_end(&w);
    }
    jw_array_end(&w);
}

bool export_is_record(const char *bytes, size_t len)
{
    struct reg_record *record;
    if (memchr(bytes, '\0', len) || !utf8_valid(bytes, len) ||
        reg_record_read(bytes, len, REG_STRICT, &record, NULL))
        return false;
    reg_record_free(record);
    return true;
}

static void write_bytes(struct jw *w, const char *bytes, size_t len)
{
    if (!len)
        return;
    bool as_text = export_is_record(bytes, len);
    jw_key(w, as_text ? "record" : "base64");
    if (as_text) {
        jw_strn(w, bytes, len);
        return;
    }
    buf_auto struct buf text = BUF_EMPTY;
    base64_put(&text, bytes, len);
    jw_strn(w, text.bytes, text.len);
}

static void write_node(struct export *x, const struct export_node *n)
{
    struct jw w = jw_on(&x->out);
    jw_object(&w);
    jw_kstr(&w, "path", n->path);
    write_bytes(&w, n->bytes, n->len);
    if (n->is_ephemeral)
        jw_kbool(&w, "ephemeral", true);
    if (n->is_masked)
        jw_kbool(&w, "aclMasked", true);
    jw_key(&w, "acl");
    jw_raw(&w, n->acl.bytes, n->acl.len);
    jw_object_end(&w);
    buf_add_char(&x->out, '\n');
    x->n_written++;
}

/* The last line: what was written is everything, or why it is not. */
static void write_last(struct export *x, const struct err_info *why)
{
    struct jw w = jw_on(&x->out);
    jw_object(&w);
    if (why) {
        mem_auto char *type = mem_fmt("urn:bobbin:error:%s", err_type(why->code));
        jw_kstr(&w, "error", type);
        jw_kstr(&w, "detail", why->text);
    } else {
        jw_kbool(&w, "end", true);
        jw_kint(&w, "count", x->n_written);
    }
    jw_object_end(&w);
    buf_add_char(&x->out, '\n');
    x->is_done = true;
}

/* ---- walking ---- */

static void on_acl(void *arg, int err, const struct store_result *r)
{
    struct export_node *n = obj_cast(arg, struct export_node, NODE_MAGIC);
    struct export *x = n->export;
    n->is_known = true;
    n->err = err;
    n->why = r->why;
    if (!err) {
        write_acl(&n->acl, r->acl);
        n->is_masked = is_masked(r->acl);
    }
    x->n_asked--;
    if (x->req && n == TAILQ_FIRST(&x->nodes))
        http_stream_wake(x->req);
    export_end(x);
}

static void meet(struct export *x, const struct mirror_node *node)
{
    struct export_node *n = mem_new(struct export_node);
    struct buf path = BUF_EMPTY;
    obj_init(&n->obj, NODE_MAGIC);
    mirror_path(node, &path);
    n->export = x;
    n->path = buf_take(&path);
    n->len = node->stat.data_len;
    n->bytes = mem_strn(node->data, n->len);
    n->is_ephemeral = node->stat.ephemeral;
    TAILQ_INSERT_TAIL(&x->nodes, n, link);
    x->n_nodes++;
    x->n_asked++;
    free(x->after);
    x->after = mem_str(n->path);
    store_get_acl(x->store, n->path, on_acl, n);
}

static void walk_ahead(struct export *x)
{
    while (x->n_nodes < N_AHEAD && !x->is_walked) {
        const struct mirror_node *node = walk_next(x->mirror, x->top, x->after);
        if (node)
            meet(x, node);
        x->is_walked = !node;
    }
}

/* Write the nodes at the head of the list that are known. Of a store that was replaced, nothing more: ACLs come from the new one. */
static void write_known(struct export *x)
{
    struct export_node *n;
    struct err_info why;
    if (strcmp(x->store_id, mirror_store_id(x->mirror)) != 0) {
        lines_why_replaced(&why);
        write_last(x, &why);
    }
    while (!x->is_done && (n = TAILQ_FIRST(&x->nodes)) && n->is_known) {
        if (!n->err)
            write_node(x, n);
        else if (n->err != ERR_NOTFOUND)
            write_last(x, &n->why);
        node_drop(x, n);
    }
    if (!x->is_done && x->is_walked && !x->n_nodes)
        write_last(x, NULL);
}

static ssize_t on_read(void *arg, char *to, size_t max)
{
    struct export *x = obj_cast(arg, struct export, EXPORT_MAGIC);
    if (x->n_taken == x->out.len) {
        if (x->is_done)
            return -1;
        buf_clear(&x->out);
        x->n_taken = 0;
        write_known(x);
        if (!x->is_done)
            walk_ahead(x);
    }
    size_t n = x->out.len - x->n_taken;
    if (!n)
        return 0; /* until the next ACL is known */
    n = n < max ? n : max;
    memcpy(to, x->out.bytes + x->n_taken, n);
    x->n_taken += n;
    return (ssize_t)n;
}

static void on_closed(void *arg)
{
    struct export *x = obj_cast(arg, struct export, EXPORT_MAGIC);
    x->req = NULL;
    export_end(x);
}

static const struct http_stream_ops stream_ops = {.read = on_read, .closed = on_closed};

void export_reply(struct http_req *req, struct mirror *mirror, struct store *store, const char *path)
{
    struct export *x = mem_new(struct export);
    obj_init(&x->obj, EXPORT_MAGIC);
    TAILQ_INIT(&x->nodes);
    x->mirror = mirror;
    x->store = store;
    x->req = req;
    x->top = mem_str(path);
    snprintf(x->store_id, sizeof x->store_id, "%s", mirror_store_id(mirror));
    http_stream_start(req, 200, "application/x-ndjson", &stream_ops, x);
}

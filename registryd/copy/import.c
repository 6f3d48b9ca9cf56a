#include "copy/import.h"
#include "access/access.h"
#include "copy/export.h"
#include "json/members.h"
#include "base/base64.h"
#include "base/mem.h"
#include "base/obj.h"
#include "bobbin/path.h"
#include "json/json.h"
#include "json/writer.h"

#include <stdlib.h>
#include <string.h>

#define IMPORT_MAGIC OBJ_MAGIC('I', 'M', 'P', 'O')
#define ITEM_MAGIC   OBJ_MAGIC('I', 'M', 'I', 'T')

/*
 * A node on its way:   create ──► created
 *                        └ exists ──► get ── same ──────────────────────► (overwrite: ACL) ──► unchanged
 *                                       └─── other ── overwrite: set ──► ACL ──► replaced; else refused
 * ACL: it is compared and, if it is another, set. Nodes with aclOnly have only that, after all others had their turn: below
 * a node that only its owner may add to, nothing more can be made.
 * A write of which the store does not know whether it was done leaves the node refused, with that as the reason.
 */
struct import_item {
    struct obj obj;
    struct import *import;
    const char *path; /* of the document */
    struct buf bytes;
    struct store_acl acl; /* no entries: none was given */
    struct store_acl_entry *entries;
    bool is_same, is_created, is_acl_only;
    int err;
    struct err_info why;
};

struct import {
    struct obj obj;
    struct store *store;
    json_t *body; /* holds the texts of the items */
    bool is_overwrite;
    struct import_item *items;
    size_t n_items, n_open;
    bool is_late; /* the turn of the nodes with aclOnly */
    int64_t zxid;
    void (*done)(void *arg, const struct import_result *r);
    void *arg;
};

static void import_free(struct import *m)
{
    for (size_t i = 0; i < m->n_items; i++) {
        buf_fini(&m->items[i].bytes);
        free(m->items[i].entries);
        obj_fini(&m->items[i].obj);
    }
    free(m->items);
    json_decref(m->body);
    obj_fini(&m->obj);
    free(m);
}

/* ---- writing ---- */

static void write_failed(struct jw *w, const struct import_item *it)
{
    mem_auto char *type = mem_fmt("urn:bobbin:error:%s", err_type(it->err));
    jw_object(w);
    jw_kstr(w, "path", it->path);
    jw_kstr(w, "error", type);
    jw_kstr(w, "detail", it->why.text);
    jw_object_end(w);
}

static void import_report(struct import *m)
{
    struct import_result r = {.zxid = m->zxid};
    buf_auto struct buf failed = BUF_EMPTY;
    struct jw w = jw_on(&failed);
    jw_array(&w);
    for (size_t i = 0; i < m->n_items; i++) {
        const struct import_item *it = &m->items[i];
        if (it->err)
            write_failed(&w, it);
        else if (!it->is_acl_only)
            ++*(it->is_created ? &r.n_created : it->is_same ? &r.n_unchanged : &r.n_replaced);
    }
    jw_array_end(&w);
    r.failed = failed.bytes;
    r.failed_len = failed.len;
    m->done(m->arg, &r);
    import_free(m);
}

static void import_next(struct import *m);

static void item_end(struct import_item *it, int err, const struct err_info *why)
{
    struct import *m = it->import;
    it->err = err;
    if (err)
        it->why = *why;
    if (err == ERR_PERMISSION)
        access_refused_by_store(it->path, NULL, &it->why);
    if (--m->n_open == 0)
        import_next(m);
}

static void note_zxid(struct import *m, int err, const struct store_result *r)
{
    if (!err && r->zxid > m->zxid)
        m->zxid = r->zxid;
}

static bool acl_equals(const struct store_acl *a, const struct store_acl *b)
{
    bool is_same = a->n_entries == b->n_entries;
    for (size_t i = 0; is_same && i < a->n_entries; i++)
        is_same = a->entries[i].perms == b->entries[i].perms &&
                  strcmp(a->entries[i].scheme, b->entries[i].scheme) == 0 &&
                  strcmp(a->entries[i].id, b->entries[i].id) == 0;
    return is_same;
}

/* Whether it was set is not known: it was, or as good as that, when it is the one that is there. */
static void on_acl_reread(void *arg, int err, const struct store_result *r)
{
    struct import_item *it = obj_cast(arg, struct import_item, ITEM_MAGIC);
    bool is_there = !err && acl_equals(r->acl, &it->acl);
    item_end(it, is_there ? 0 : ERR_UNKNOWN_OUTCOME, &it->why);
}

static void on_acl_set(void *arg, int err, const struct store_result *r)
{
    struct import_item *it = obj_cast(arg, struct import_item, ITEM_MAGIC);
    it->why = r->why;
    if (err == ERR_UNKNOWN_OUTCOME)
        store_get_acl(it->import->store, it->path, on_acl_reread, it);
    else
        item_end(it, err, &r->why);
}

/* Setting what is there already would need a right that we may not have. */
static void on_acl_got(void *arg, int err, const struct store_result *r)
{
    struct import_item *it = obj_cast(arg, struct import_item, ITEM_MAGIC);
    if (err || acl_equals(r->acl, &it->acl))
        item_end(it, err, &r->why);
    else
        store_set_acl(it->import->store, it->path, &it->acl, on_acl_set, it);
}

static void set_acl(struct import_item *it)
{
    if (it->acl.n_entries && it->import->is_overwrite)
        store_get_acl(it->import->store, it->path, on_acl_got, it);
    else
        item_end(it, 0, NULL);
}

static void on_set(void *arg, int err, const struct store_result *r)
{
    struct import_item *it = obj_cast(arg, struct import_item, ITEM_MAGIC);
    note_zxid(it->import, err, r);
    if (err)
        item_end(it, err, &r->why);
    else
        set_acl(it);
}

/* What is there may stay although its bytes differ: Hadoop's clients fill nodes without record with their own address. */
static bool may_stay(struct import_item *it, const struct store_result *r)
{
    return !it->import->is_overwrite && !export_is_record(r->data, r->data_len) &&
           !export_is_record(buf_cstr(&it->bytes), it->bytes.len);
}

static void on_got(void *arg, int err, const struct store_result *r)
{
    struct import_item *it = obj_cast(arg, struct import_item, ITEM_MAGIC);
    struct err_info why = r->why;
    it->is_same = !err && r->data_len == it->bytes.len &&
                  (!r->data_len || memcmp(r->data, it->bytes.bytes, r->data_len) == 0);
    it->is_same = it->is_same || (!err && may_stay(it, r));
    if (!err && !it->is_same && !it->import->is_overwrite)
        err = err_set(&why, ERR_EXISTS, it->path, "the node is there and holds something else");
    if (err)
        item_end(it, err, &why);
    else if (it->is_same)
        set_acl(it);
    else
        store_set(it->import->store, it->path, it->bytes.bytes, it->bytes.len, -1, on_set, it);
}

static void on_created(void *arg, int err, const struct store_result *r)
{
    struct import_item *it = obj_cast(arg, struct import_item, ITEM_MAGIC);
    note_zxid(it->import, err, r);
    it->is_created = !err;
    if (err == ERR_EXISTS)
        store_get(it->import->store, it->path, on_got, it);
    else
        item_end(it, err, &r->why);
}

static void item_start(struct import_item *it)
{
    if (it->is_acl_only)
        store_get_acl(it->import->store, it->path, on_acl_got, it);
    else
        store_create(it->import->store, it->path, it->bytes.bytes, it->bytes.len,
                     it->acl.n_entries ? &it->acl : NULL, on_created, it);
}

/* Begin all nodes of this turn. */
static void import_turn(struct import *m)
{
    for (size_t i = 0; i < m->n_items; i++)
        m->n_open += m->items[i].is_acl_only == m->is_late;
    for (size_t i = 0; i < m->n_items; i++) {
        if (m->items[i].is_acl_only == m->is_late)
            item_start(&m->items[i]);
    }
}

/* A turn is over. */
static void import_next(struct import *m)
{
    if (!m->is_late) {
        m->is_late = true;
        import_turn(m);
    }
    if (!m->n_open)
        import_report(m);
}

/* ---- reading the document ---- */

static int item_bad(const json_t *node, size_t i, const char *text, struct err_info *why)
{
    const char *path = json_string_value(json_object_get(node, "path"));
    mem_auto char *where = mem_fmt("/nodes/%zu", i);
    return err_set(why, ERR_INVALID, path ? path : where, "%s", text);
}

static int read_bytes(const json_t *node, size_t i, struct buf *out, struct err_info *why)
{
    const json_t *record = json_object_get(node, "record"), *base64 = json_object_get(node, "base64");
    if ((record && !json_is_string(record)) || (base64 && !json_is_string(base64)) || (record && base64))
        return item_bad(node, i, "a node has record (bytes as a string, or an object) or base64", why);
    if (record)
        buf_add(out, json_string_value(record), json_string_length(record));
    if (base64 && base64_get(json_string_value(base64), json_string_length(base64), out))
        return item_bad(node, i, "the member base64 is malformed", why);
    return 0;
}

static int read_acl(const json_t *node, size_t i, struct import_item *it, struct err_info *why)
{
    const json_t *list = json_object_get(node, "acl");
    const json_t *one;
    size_t k;
    if (list && !json_is_array(list))
        return item_bad(node, i, "acl is a list", why);
    it->entries = mem_array(json_array_size(list) + 1, sizeof *it->entries);
    it->acl.entries = it->entries;
    json_array_foreach(list, k, one)
    {
        struct store_acl_entry *e = &it->entries[it->acl.n_entries++];
        const json_t *perms = json_object_get(one, "perms");
        e->scheme = json_string_value(json_object_get(one, "scheme"));
        e->id = json_string_value(json_object_get(one, "id"));
        e->perms = (uint32_t)json_integer_value(perms) & STORE_ALL;
        if (!e->scheme || !e->id || !json_is_integer(perms) || e->perms != json_integer_value(perms))
            return item_bad(node, i, "an entry of acl has perms (0 to 31), scheme and id", why);
    }
    return 0;
}

/* What only looks like a node, such as a line of a feed, would make an empty one. */
static int check_members(const json_t *node, const char *path, struct err_info *why)
{
    static const char *const names[] = {"path",      "record",    "base64",  "acl",
                                        "ephemeral", "aclMasked", "aclOnly", NULL};
    struct err_info cause;
    int err = members_check(node, names, &cause);
    return err ? err_set(why, err, path, "%s: %s", cause.where, cause.text) : 0;
}

static int read_item(const json_t *node, size_t i, struct import_item *it, struct err_info *why)
{
    it->path = json_string_value(json_object_get(node, "path"));
    if (!it->path)
        return item_bad(node, i, "a node has a path", why);
    int err = check_members(node, it->path, why);
    if (err)
        return err;
    if (json_is_true(json_object_get(node, "ephemeral")))
        return item_bad(node, i, "an ephemeral node goes with its session and cannot be imported", why);
    if (json_is_true(json_object_get(node, "aclMasked")))
        return item_bad(node, i, "the acl is not whole: its passwords were hidden from the exporter", why);
    it->is_acl_only = json_is_true(json_object_get(node, "aclOnly"));
    err = reg_path_check(it->path, why);
    err = err ? err : read_bytes(node, i, &it->bytes, why);
    err = err ? err : read_acl(node, i, it, why);
    if (!err && it->is_acl_only && (it->bytes.len || !it->acl.n_entries))
        err = item_bad(node, i, "aclOnly goes with an acl and without bytes", why);
    return err;
}

static int read_items(struct import *m, const json_t *nodes, struct err_info *why)
{
    static const char *const names[] = {"nodes", NULL};
    size_t n = json_array_size(nodes);
    if (!json_is_array(nodes) || n > IMPORT_MAX_NODES)
        return err_set(why, ERR_INVALID, "/nodes", "a list of at most %d nodes is expected",
                       IMPORT_MAX_NODES);
    int err = members_check(m->body, names, why);
    m->items = mem_array(n + 1, sizeof *m->items);
    for (; m->n_items < n; m->n_items++) {
        struct import_item *it = &m->items[m->n_items];
        obj_init(&it->obj, ITEM_MAGIC);
        it->import = m;
    }
    for (size_t i = 0; !err && i < n; i++)
        err = read_item(json_array_get(nodes, i), i, &m->items[i], why);
    return err;
}

int import_start(struct store *store, json_t *body, bool is_overwrite,
                 void (*done)(void *arg, const struct import_result *r), void *arg, struct err_info *why)
{
    struct import *m = mem_new(struct import);
    obj_init(&m->obj, IMPORT_MAGIC);
    m->store = store;
    m->body = json_incref(body);
    m->is_overwrite = is_overwrite;
    m->done = done;
    m->arg = arg;
    int err = read_items(m, json_object_get(body, "nodes"), why);
    if (!err && !m->n_items)
        err = err_set(why, ERR_INVALID, "/nodes", "there is no node to import");
    if (err) {
        import_free(m);
        return err;
    }
    import_turn(m);
    if (!m->n_open) {
        m->is_late = true;
        import_turn(m);
    }
    return 0;
}

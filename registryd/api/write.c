#include "api/api.h"
#include "access/accessors.h"
#include "registryd/events.h"
#include "access/limits.h"
#include "registryd/options.h"
#include "api/routes.h"
#include "api/view.h"
#include "base/mem.h"
#include "base/obj.h"
#include "base/path.h"
#include "json/writer.h"
#include "bobbin/registry.h"

#include <stdlib.h>
#include <string.h>

#define WRITE_MAGIC OBJ_MAGIC('W', 'R', 'I', 'T')

enum write_kind { WRITE_BIND, WRITE_MKNODE, WRITE_DELETE };

/*
 * A write on its way:  store operation ──► (own mirror has applied it, or the time is over) ──► answer.
 * It continues when the client disconnects.
 */
struct write {
    struct obj obj;
    struct api *api;
    struct http_req *req; /* NULL: the client has gone */
    enum write_kind kind;
    char *path;
    char *pair, *digest;              /* the accessor that the caller holds, and its id in ACLs; or NULL */
    bool as_accessor;                 /* it goes through a session of the accessor */
    struct accessor_session *session; /* that session, while the operation runs */
    struct acl_list more;             /* who else may write what is made */
    struct reg_checked record;        /* bind */
    struct api_lease lease;           /* likewise */
    unsigned flags;                   /* enum reg_bind_flags */
    struct reg_store_cond cond;
    bool recursive;
    bool changed;    /* made, or deleted */
    bool must_exist; /* delete: a missing node is an error */
    int64_t zxid;
    struct store_stat stat;
    bool is_followed; /* the mirror will have it */
    int64_t begun_us;
};

static void write_free(struct write *w)
{
    free(w->path);
    free(w->digest);
    free(w->pair);
    acl_fini(&w->more);
    reg_checked_fini(&w->record);
    api_lease_fini(&w->lease);
    obj_fini(&w->obj);
    free(w);
}

static void on_client_gone(void *arg)
{
    obj_cast(arg, struct write, WRITE_MAGIC)->req = NULL;
}

static void reply_flag(struct write *w, int status, const char *member)
{
    struct buf body = BUF_EMPTY;
    struct jw j = jw_on(&body);
    jw_object(&j);
    jw_kstr(&j, "path", w->path);
    jw_kbool(&j, member, w->changed);
    jw_object_end(&j);
    http_reply(w->req, status, "application/json", &body);
}

/* Answers with the node as this write left it, not as a later write did: the entity tag is that of the caller's own data. */
static void reply_bound(struct write *w, bool applied)
{
    int status = w->changed ? 201 : 200;
    struct err_info why;
    if (reg_record_check_persistence(w->record.record, &why))
        api_warn(w->req, why.text);
    if (w->lease.ttl_ms)
        http_reply_header(w->req, "Bobbin-Lease", w->lease.key);
    const struct mirror_node *node = applied ? mirror_find(w->api->mirror, w->path) : NULL;
    if (node && node->stat.mzxid == w->stat.mzxid) {
        struct view_def view = {
            w->api->mirror, node, w->path, VIEW_NODE, opt_int(w->api->options, LIMIT_CHILDREN), NULL};
        api_etag(w->req, &node->stat);
        view_reply(w->req, status, &view);
        return;
    }
    struct view_strong v = {.path = w->path,
                            .store_id = mirror_store_id(w->api->mirror),
                            .stat = &w->stat,
                            .bytes = w->record.bytes};
    struct buf body = BUF_EMPTY;
    api_etag(w->req, &w->stat);
    view_write_strong(&body, &v);
    http_reply(w->req, status, "application/json", &body);
}

/* The log of requests has only that the client left. */
static void log_unanswered(const struct write *w, int err)
{
    static const char *const ops[] = {
        [WRITE_BIND] = "bind", [WRITE_MKNODE] = "mknode", [WRITE_DELETE] = "delete"};
    char revision[STORE_REVISION_MAX] = "";
    if (!err)
        store_revision_text(mirror_store_id(w->api->mirror), w->zxid, revision);
    log_emit(&ev_write_unanswered, LOG_STR("op", ops[w->kind]), LOG_STR("path", w->path),
             LOG_STR("result", err_name(err)), LOG_STR("revision", revision));
}

static void on_applied(void *arg, int err)
{
    struct write *w = obj_cast(arg, struct write, WRITE_MAGIC);
    if (!err && w->is_followed)
        metric_observe(w->api->metrics, M_PROPAGATION, run_now_us() - w->begun_us);
    if (w->req) {
        api_revision(w->api, w->req, w->zxid);
        if (err)
            http_reply_header(w->req, "Bobbin-Applied", "false");
        switch (w->kind) {
        case WRITE_BIND: reply_bound(w, !err); break;
        case WRITE_MKNODE: reply_flag(w, w->changed ? 201 : 200, "created"); break;
        case WRITE_DELETE: reply_flag(w, 200, "deleted"); break;
        }
    } else {
        log_unanswered(w, 0);
    }
    write_free(w);
}

static void write_refuse(struct write *w, int err, const struct err_info *why)
{
    if (w->req)
        api_refuse(w->api, w->req, err, why);
    else
        log_unanswered(w, err);
    write_free(w);
}

/* Whether the mirror will have what was written: ZooKeeper reports no node that registryd may not read, nor what is below. */
static bool is_followed(const struct write *w)
{
    mem_auto char *parent = path_parent(w->path);
    bool is_made = w->changed && w->kind != WRITE_DELETE;
    return !w->as_accessor || mirror_find(w->api->mirror, w->path) ||
           (is_made && mirror_find(w->api->mirror, parent));
}

/* hadoop.registry.path.names=zookeeper lets such names pass. */
static void warn_of_long_name(const char *path)
{
    size_t longest = 0;
    for (const char *at = path; *at; at += strcspn(at, "/")) {
        at += *at == '/';
        size_t len = strcspn(at, "/");
        longest = len > longest ? len : longest;
    }
    if (longest > REG_LABEL_MAX)
        log_emit(&ev_long_name, LOG_STR("path", path), LOG_INT("bytes", (int64_t)longest));
}

/* Names the missing parent: the uppermost that the mirror lacks; nodes that registryd may not read are not in it. */
static void name_missing_parent(const struct write *w, struct err_info *why)
{
    mem_auto char *parent = path_parent(w->path);
    for (char *at = strchr(parent + 1, '/'); at && !w->as_accessor; at = strchr(at + 1, '/')) {
        *at = '\0';
        if (!mirror_find(w->api->mirror, parent))
            break;
        *at = '/';
    }
    err_set(why, ERR_NOTFOUND, w->path,
            "there is no node %s above it: make that first, or what is missing with createParents=true",
            parent);
}

/* The parent of the new node is missing. */
static bool is_orphan(const struct write *w, int err)
{
    return err == ERR_NOTFOUND && w->kind != WRITE_DELETE && !(w->flags & REG_CREATE_PARENTS);
}

static void write_go_as_accessor(struct write *w);

static void on_written(void *arg, int err, const struct reg_store_result *r)
{
    struct write *w = obj_cast(arg, struct write, WRITE_MAGIC);
    struct err_info why = r->why;
    metric_observe(w->api->metrics, M_WRITE_TIME, run_now_us() - w->begun_us);
    accessors_give(w->session);
    w->session = NULL;
    if (err == ERR_PERMISSION && w->pair && !w->as_accessor) {
        write_go_as_accessor(w); /* registryd may not; whether the accessor may is for the store to say */
        return;
    }
    if (err == ERR_PERMISSION)
        access_refused_by_store(w->path, w->as_accessor ? w->digest : NULL, &why);
    if (is_orphan(w, err))
        name_missing_parent(w, &why);
    if (err) {
        write_refuse(w, err, &why);
        return;
    }
    if (w->must_exist && !r->changed) {
        err_set(&why, ERR_NOTFOUND, w->path, "there is no such node");
        write_refuse(w, ERR_NOTFOUND, &why);
        return;
    }
    w->changed = r->changed;
    if (w->changed && w->kind != WRITE_DELETE)
        warn_of_long_name(w->path);
    w->stat = r->stat;
    if (w->lease.ttl_ms)
        leases_bound(w->api->leases, &w->lease.node, w->path, w->lease.ttl_ms, r->lease_zxid);
    w->zxid = r->zxid ? r->zxid : mirror_newest(w->api->mirror);
    w->is_followed = is_followed(w);
    if (w->is_followed)
        mirror_when_applied(w->api->mirror, w->zxid, w->api->write_wait_ms, on_applied, w);
    else
        on_applied(w, 0);
}

/* Condition of the headers. @return 0; ERR_CONFLICT for an If-Match that cannot be ours; ERR_USAGE for a condition that
 * is not known here, and would not hold if it were passed over. */
static int read_condition(struct http_req *req, struct reg_store_cond *cond, struct err_info *why)
{
    const char *match = http_header(req, "If-Match");
    const char *none = http_header(req, "If-None-Match");
    *cond = (struct reg_store_cond){REG_IF_NONE, 0};
    if (none && (match || strcmp(none, "*") != 0))
        return err_set(why, ERR_USAGE, "If-None-Match",
                       "a write is conditional on If-Match, or on If-None-Match: *");
    if (match && strcmp(match, "*") != 0) {
        cond->kind = REG_IF_MZXID;
        return api_etag_mzxid(match, &cond->mzxid, why);
    }
    if (match)
        cond->kind = REG_IF_EXISTS;
    else if (none)
        cond->kind = REG_IF_ABSENT;
    return 0;
}

/* ---- from the request to the operation ---- */

static int read_flags(struct http_req *req, struct write *w, struct err_info *why)
{
    bool overwrite = false, parents = false;
    switch (w->kind) {
    case WRITE_BIND:
        overwrite = http_param_bool(req, PUT_OVERWRITE);
        parents = http_param_bool(req, PUT_PARENTS);
        break;
    case WRITE_MKNODE: parents = http_param_bool(req, POST_PARENTS); break;
    case WRITE_DELETE:
        w->recursive = http_param_bool(req, DELETE_RECURSIVE);
        w->must_exist = http_param_bool(req, DELETE_MUST_EXIST);
        break;
    }
    w->flags = (overwrite ? REG_OVERWRITE : 0u) | (parents ? REG_CREATE_PARENTS : 0u);
    return read_condition(req, &w->cond, why);
}

/* Everything a write may say besides its body. @return 0 and *out, also on failure to be freed. */
static int write_parse(struct api *api, struct http_req *req, enum write_kind kind, struct write **out,
                       struct err_info *why)
{
    struct write *w = *out = mem_new(struct write);
    obj_init(&w->obj, WRITE_MAGIC);
    w->api = api;
    w->req = req;
    w->kind = kind;
    int err = api_check_ready(api, why);
    err = err ? err : api_path(req, &w->path, why);
    err = err ? err : read_flags(req, w, why);
    if (!err && kind == WRITE_BIND)
        err = api_lease_read(api, req, w->path, &w->lease, why);
    if (!err && w->lease.ttl_ms && w->cond.kind == REG_IF_MZXID)
        err = err_set(why, ERR_USAGE, "If-Match", "a bind with ttl is not conditional on an entity tag");
    if (!err && access_is_secure(api->access))
        err = api_accessor(req, &w->pair, &w->digest, why);
    return err ? err : api_write_accessors(req, w->digest, &w->more, why);
}

static int check_write(struct api *api, struct http_req *req, enum write_kind kind, struct err_info *why)
{
    struct write *w;
    int err = write_parse(api, req, kind, &w, why);
    write_free(w);
    return err;
}

int api_check_put(struct http_req *req, void *arg, struct err_info *why)
{
    return check_write(obj_cast(arg, struct api, API_MAGIC), req, WRITE_BIND, why);
}

int api_check_post(struct http_req *req, void *arg, struct err_info *why)
{
    return check_write(obj_cast(arg, struct api, API_MAGIC), req, WRITE_MKNODE, why);
}

/* @return new, or NULL: answered. */
static struct write *write_read(struct api *api, struct http_req *req, enum write_kind kind)
{
    struct err_info why;
    struct write *w;
    int err = write_parse(api, req, kind, &w, &why);
    if (!err)
        return w;
    write_refuse(w, err, &why);
    return NULL;
}

static void write_go_by(struct write *w, struct reg_store *ops)
{
    const struct mirror_node *there = mirror_find(w->api->mirror, w->path);
    struct reg_store_binding binding = {.record = &w->record,
                                        .flags = w->flags,
                                        .cond = w->cond,
                                        .more = &w->more.acl,
                                        .lease = w->lease.ttl_ms ? &w->lease.node.lease : NULL,
                                        .seen = there ? &there->stat : NULL};
    bool parents = w->flags & REG_CREATE_PARENTS;
    switch (w->kind) {
    case WRITE_BIND: reg_store_bind(ops, w->path, &binding, on_written, w); break;
    case WRITE_MKNODE: reg_store_mknode_for(ops, w->path, parents, &w->more.acl, on_written, w); break;
    case WRITE_DELETE: reg_store_delete(ops, w->path, w->recursive, &w->cond, on_written, w); break;
    }
}

static void write_go_as_accessor(struct write *w)
{
    struct err_info why = {0};
    int err = accessors_take(w->api->accessors, w->pair, &w->session, &why);
    w->as_accessor = true;
    if (err)
        write_refuse(w, err, &why);
    else
        write_go_by(w, accessors_ops(w->session));
}

static void write_go(struct write *w)
{
    if (w->as_accessor)
        write_go_as_accessor(w);
    else
        write_go_by(w, w->api->ops);
}

/* What the ACLs let: an overwrite that was judged by the node stays one, a making that was judged by the parent too. */
static void on_access(void *arg, int err, const struct access_answer *answer)
{
    struct write *w = obj_cast(arg, struct write, WRITE_MAGIC);
    if (err) {
        write_refuse(w, err, &answer->why);
        return;
    }
    w->as_accessor = answer->as_accessor;
    if (w->kind == WRITE_BIND && w->flags & REG_OVERWRITE && w->cond.kind == REG_IF_NONE) {
        if (answer->exists)
            w->cond.kind = REG_IF_EXISTS;
        else
            w->flags &= ~(unsigned)REG_OVERWRITE;
    }
    write_go(w);
}

static enum access_kind access_of(const struct write *w)
{
    bool may_set = w->flags & REG_OVERWRITE || w->cond.kind == REG_IF_MZXID || w->cond.kind == REG_IF_EXISTS;
    if (w->kind == WRITE_DELETE)
        return w->recursive ? ACCESS_DELETE_ALL : ACCESS_DELETE;
    return w->kind == WRITE_BIND && may_set ? ACCESS_OVERWRITE : ACCESS_MAKE;
}

/* The request is complete: from here on it does not need its client. */
static void write_begin(struct write *w)
{
    struct api *api = w->api;
    struct access_question q = {access_of(w), w->path, http_user(w->req), w->digest};
    bool is_free = access_is_free(api->access, &q);
    metric_add(api->metrics, M_WRITES, 1);
    w->begun_us = run_now_us();
    if (!is_free)
        access_ask(api->access, &q, on_access, w);
    http_reply_later(w->req, on_client_gone, w);
    if (is_free)
        write_go(w);
}

/* Body to a checked record. @return 0 and *out. */
static int read_record(struct api *api, struct http_req *req, struct reg_checked *out, struct err_info *why)
{
    size_t n;
    const char *body = http_body(req, &n);
    int err = limits_read(api->options, body, n, out, why);
    return err == ERR_NORECORD ? err_set(why, ERR_RECORD, "", "the body is no service record") : err;
}

void api_put(struct http_req *req, void *arg)
{
    struct api *api = obj_cast(arg, struct api, API_MAGIC);
    struct err_info why;
    struct write *w = write_read(api, req, WRITE_BIND);
    if (!w)
        return;
    int err = read_record(api, req, &w->record, &why);
    if (err) {
        write_refuse(w, err, &why);
        return;
    }
    write_begin(w);
}

void api_post(struct http_req *req, void *arg)
{
    struct api *api = obj_cast(arg, struct api, API_MAGIC);
    struct err_info why;
    struct write *w = write_read(api, req, WRITE_MKNODE);
    if (!w)
        return;
    if (w->cond.kind == REG_IF_NONE) {
        write_begin(w);
        return;
    }
    err_set(&why, ERR_USAGE, "If-Match",
            "mknode is conditional by itself: a node that exists stays as it is");
    write_refuse(w, ERR_USAGE, &why);
}

void api_delete(struct http_req *req, void *arg)
{
    struct write *w = write_read(obj_cast(arg, struct api, API_MAGIC), req, WRITE_DELETE);
    if (w)
        write_begin(w);
}

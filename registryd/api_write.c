#include "api.h"
#include "events.h"
#include "view.h"
#include "base/mem.h"
#include "base/obj.h"
#include "json/writer.h"
#include "bobbin/registry.h"

#include <stdlib.h>
#include <string.h>

#define WRITE_MAGIC OBJ_MAGIC('W', 'R', 'I', 'T')

enum write_kind { WRITE_BIND, WRITE_MKNODE, WRITE_DELETE };

/*
 * A write on its way:  store operation ──► (own mirror has applied it, or the time is over) ──► answer.
 * It goes on when the client leaves: what was begun is done.
 */
struct write {
    struct obj obj;
    struct registryd *app;
    struct http_req *req; /* NULL: the client has gone */
    enum write_kind kind;
    char *path;
    char *bytes;     /* bind: the canonical record */
    bool changed;    /* made, or deleted */
    bool must_exist; /* delete: a missing node is an error */
    int64_t zxid;
    struct store_stat stat;
};

static void write_free(struct write *w)
{
    free(w->path);
    free(w->bytes);
    obj_fini(&w->obj);
    free(w);
}

static void on_client_gone(void *arg)
{
    obj_cast(arg, struct write, WRITE_MAGIC)->req = NULL;
}

static struct write *write_begin(struct registryd *app, struct http_req *req, enum write_kind kind,
                                 char *take_path)
{
    struct write *w = mem_new(struct write);
    obj_init(&w->obj, WRITE_MAGIC);
    w->app = app;
    w->req = req;
    w->kind = kind;
    w->path = take_path;
    metric_add(daemon_metrics(app->daemon), M_WRITES, 1);
    http_reply_later(req, on_client_gone, w);
    return w;
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

static void reply_bound(struct write *w, bool applied)
{
    int status = w->changed ? 201 : 200;
    if (applied && mirror_find(w->app->mirror, w->path)) {
        struct view_def view = {w->app->mirror, w->path, VIEW_NODE, 10000, NULL};
        api_etag(w->req, &mirror_find(w->app->mirror, w->path)->stat);
        view_reply(w->req, status, &view);
        return;
    }
    struct view_strong v = {
        .path = w->path, .store_id = mirror_store_id(w->app->mirror), .stat = &w->stat, .bytes = w->bytes};
    struct buf body = BUF_EMPTY;
    api_etag(w->req, &w->stat);
    view_write_strong(&body, &v);
    http_reply(w->req, status, "application/json", &body);
}

static void on_applied(void *arg, int err)
{
    struct write *w = obj_cast(arg, struct write, WRITE_MAGIC);
    if (w->req) {
        api_revision(w->app, w->req, w->zxid);
        if (err)
            http_reply_header(w->req, "Bobbin-Applied", "false");
        switch (w->kind) {
        case WRITE_BIND: reply_bound(w, !err); break;
        case WRITE_MKNODE: reply_flag(w, w->changed ? 201 : 200, "created"); break;
        case WRITE_DELETE: reply_flag(w, 200, "deleted"); break;
        }
    }
    write_free(w);
}

static void on_written(void *arg, int err, const struct reg_store_result *r)
{
    struct write *w = obj_cast(arg, struct write, WRITE_MAGIC);
    if (err) {
        if (w->req)
            api_refuse(w->app, w->req, err, &r->why);
        write_free(w);
        return;
    }
    if (w->must_exist && !r->changed) {
        struct err_info why;
        err_set(&why, ERR_NOTFOUND, w->path, "there is no such node");
        if (w->req)
            api_refuse(w->app, w->req, ERR_NOTFOUND, &why);
        write_free(w);
        return;
    }
    w->changed = r->changed;
    w->stat = r->stat;
    w->zxid = r->zxid ? r->zxid : mirror_applied(w->app->mirror);
    mirror_when_applied(w->app->mirror, w->zxid, w->app->write_wait_ms, on_applied, w);
}

/* Condition of the headers. @return 0; or ERR_CONFLICT for an If-Match that cannot be ours. */
static int read_condition(struct http_req *req, struct reg_store_cond *cond, struct err_info *why)
{
    const char *match = http_header(req, "If-Match");
    const char *none = http_header(req, "If-None-Match");
    *cond = (struct reg_store_cond){REG_IF_NONE, 0};
    if (match && strcmp(match, "*") != 0) {
        cond->kind = REG_IF_MZXID;
        return api_etag_mzxid(match, &cond->mzxid, why);
    }
    if (match)
        cond->kind = REG_IF_EXISTS;
    else if (none && strcmp(none, "*") == 0)
        cond->kind = REG_IF_ABSENT;
    return 0;
}

struct write_request {
    char *path;
    bool overwrite, create_parents, recursive, must_exist;
    struct reg_store_cond cond;
};

/* Everything a write may say besides its body; on error nothing is left in *r. */
static int read_write(struct http_req *req, struct write_request *r, struct err_info *why)
{
    *r = (struct write_request){0};
    int err = api_path(req, &r->path, why);
    err = err ? err : http_query_bool(req, "overwrite", false, &r->overwrite, why);
    err = err ? err : http_query_bool(req, "createParents", false, &r->create_parents, why);
    err = err ? err : http_query_bool(req, "recursive", false, &r->recursive, why);
    err = err ? err : http_query_bool(req, "mustExist", false, &r->must_exist, why);
    err = err ? err : read_condition(req, &r->cond, why);
    if (err)
        mem_free_ptr(&r->path);
    return err;
}

/* Body to a checked record. @return 0 and *out. */
static int read_record(struct http_req *req, struct reg_record **out, struct err_info *why)
{
    size_t n;
    const char *body = http_body(req, &n);
    if (!n)
        return err_set(why, ERR_RECORD, "", "the body is empty: a record was expected");
    int err = reg_record_read(body, n, REG_LENIENT, out, why);
    if (err)
        return err == ERR_NORECORD ? err_set(why, ERR_RECORD, "", "the body is no service record") : err;
    err = reg_record_check(*out, why);
    if (err) {
        reg_record_free(*out);
        *out = NULL;
    }
    return err;
}

void api_put(struct http_req *req, void *arg)
{
    struct registryd *app = arg;
    struct err_info why;
    struct write_request r;
    struct reg_record *record = NULL;
    if (!api_ready(app, req))
        return;
    int err = read_write(req, &r, &why);
    err = err ? err : read_record(req, &record, &why);
    if (err) {
        free(r.path);
        api_refuse(app, req, err, &why);
        return;
    }
    size_t len;
    unsigned flags = (r.overwrite ? REG_OVERWRITE : 0u) | (r.create_parents ? REG_CREATE_PARENTS : 0u);
    struct reg_store_binding binding = {record, flags, r.cond};
    struct write *w = write_begin(app, req, WRITE_BIND, r.path);
    w->bytes = reg_record_write(record, &len);
    reg_store_bind(app->ops, w->path, &binding, on_written, w);
    reg_record_free(record);
}

void api_post(struct http_req *req, void *arg)
{
    struct registryd *app = arg;
    struct err_info why;
    struct write_request r;
    if (!api_ready(app, req))
        return;
    int err = read_write(req, &r, &why);
    const char *op = http_query(req, "op");
    if (!err && (!op || strcmp(op, "mknode") != 0))
        err = err_set(&why, ERR_USAGE, "op", "\"%s\" is no operation: op=mknode is", op ? op : "");
    if (err) {
        free(r.path);
        api_refuse(app, req, err, &why);
        return;
    }
    struct write *w = write_begin(app, req, WRITE_MKNODE, r.path);
    reg_store_mknode(app->ops, w->path, r.create_parents, on_written, w);
}

void api_delete(struct http_req *req, void *arg)
{
    struct registryd *app = arg;
    struct err_info why;
    struct write_request r;
    if (!api_ready(app, req))
        return;
    int err = read_write(req, &r, &why);
    if (err) {
        free(r.path);
        api_refuse(app, req, err, &why);
        return;
    }
    struct write *w = write_begin(app, req, WRITE_DELETE, r.path);
    w->must_exist = r.must_exist;
    reg_store_delete(app->ops, w->path, r.recursive, &r.cond, on_written, w);
}

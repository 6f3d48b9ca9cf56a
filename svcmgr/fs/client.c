#include "fs/client.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/obj.h"

#define CALL_MAGIC OBJ_MAGIC('F', 'S', 'C', 'A')

/* A NameNode under load may take its time; a DataNode that takes nothing is away. */
#define NAMENODE_TIMEOUT_MS 30000
#define DATANODE_IDLE_MS    60000

struct fs_call {
    struct obj obj;
    struct http_client *http;
    struct http_call *call;
    struct fs_request request; /* of its pointers only those of the callback are used after fs_start */
    char *path, *user, **urls;
    size_t n_urls, at; /* the NameNode that is asked */
};

/** What stands in a URL for each operation. */
static const struct {
    const char *method, *query;
} ops[N_FS_OPS] = {
    [FS_STATUS] = {"GET", "op=GETFILESTATUS"},
    [FS_CREATE] = {"PUT", "op=CREATE"},
    [FS_MKDIRS] = {"PUT", "op=MKDIRS"},
    [FS_DELETE] = {"DELETE", "op=DELETE"},
};

static void free_call(struct fs_call *c)
{
    for (size_t i = 0; i < c->n_urls; i++)
        free(c->urls[i]);
    free(c->urls);
    free(c->path);
    free(c->user);
    obj_fini(&c->obj);
    free(c);
}

/** @param why  its text is what happened */
static void finish(struct fs_call *c, int err, const struct fs_status *status, const struct err_info *why)
{
    struct err_info named = {0};

    if (err)
        err_set(&named, err, c->path, "%.160s: %.320s", c->path, why->text);
    c->request.done(c->request.arg, err, status, &named);
    free_call(c);
}

static char *query_of(const struct fs_request *r)
{
    mem_auto char *mode = r->mode ? mem_fmt("&permission=%o", r->mode) : mem_str("");

    switch (r->op) {
    case FS_CREATE:
        return mem_fmt("%s&overwrite=%s%s", ops[r->op].query, r->overwrites ? "true" : "false", mode);
    case FS_MKDIRS: return mem_fmt("%s%s", ops[r->op].query, mode);
    case FS_DELETE: return mem_fmt("%s&recursive=%s", ops[r->op].query, r->is_recursive ? "true" : "false");
    default: return mem_str(ops[r->op].query);
    }
}

/* ---- the content ---- */

static void on_stored(void *arg, int err, const struct http_answer *answer, const struct err_info *why)
{
    struct fs_call *c = obj_cast(arg, struct fs_call, CALL_MAGIC);
    struct err_info fault = *why;

    if (!err && answer->status != 201 && answer->status != 200)
        err = webhdfs_read_fault(answer->status, answer->body.bytes, answer->body.len, &fault);
    finish(c, err, NULL, &fault);
}

/** http or https, and never from the second to the first. */
static bool may_redirect(const char *from, const char *to)
{
    bool is_tls = !strncasecmp(to, "https://", 8);

    return is_tls || (!strncasecmp(to, "http://", 7) && strncasecmp(from, "https://", 8) != 0);
}

/** @return 0: it is on its way; or ERR_IO */
static int send_content(struct fs_call *c, const struct http_answer *answer, struct err_info *why)
{
    const char *to = answer->header(answer, "Location");

    if (!to || !may_redirect(answer->url, to))
        return err_set(why, ERR_IO, NULL, "its NameNode redirects to \"%.200s\", which is not followed",
                       to ? to : "");
    c->call = http_call(c->http, &(struct http_call_def){.method = "PUT",
                                                         .url = to,
                                                         .file = &c->request.content,
                                                         .idle_timeout_ms = DATANODE_IDLE_MS,
                                                         .connect_timeout_ms = NAMENODE_TIMEOUT_MS,
                                                         .max_body = WEBHDFS_ANSWER_MAX,
                                                         .no_follow = true,
                                                         .done = on_stored,
                                                         .arg = c});
    return 0;
}

/* ---- the NameNode ---- */

/** @return 0: it was done; or ERR_* */
static int judge(const struct fs_call *c, const struct http_answer *answer, struct fs_status *status,
                 struct err_info *why)
{
    const struct buf *body = &answer->body;
    bool is_done = false;
    int err = answer->status == 200 ? 0 : webhdfs_read_fault(answer->status, body->bytes, body->len, why);

    if (err)
        return err;
    if (c->request.op == FS_CREATE)
        return err_set(why, ERR_IO, NULL, "its NameNode names no DataNode for the content");
    if (c->request.op == FS_STATUS)
        return webhdfs_read_status(body->bytes, body->len, status, why) ? ERR_IO : 0;
    if (webhdfs_read_boolean(body->bytes, body->len, &is_done, why))
        return ERR_IO;
    if (!is_done && c->request.op == FS_DELETE)
        return err_set(why, ERR_NOTFOUND, NULL, "there is nothing to delete");
    return is_done ? 0 : err_set(why, ERR_IO, NULL, "its NameNode has not done it, and does not say why");
}

static void ask_namenode(struct fs_call *c);

static void on_named(void *arg, int err, const struct http_answer *answer, const struct err_info *why)
{
    struct fs_call *c = obj_cast(arg, struct fs_call, CALL_MAGIC);
    bool has_content = c->request.op == FS_CREATE;
    struct err_info fault = *why;
    struct fs_status status = {0};

    if (has_content && (err == ERR_UNKNOWN_OUTCOME || err == ERR_TIMEOUT))
        err = ERR_UNAVAILABLE; /* It only names a DataNode. */
    else if (!err && has_content && answer->status == 307)
        err = send_content(c, answer, &fault);
    else if (!err)
        err = judge(c, answer, &status, &fault);
    if (err == ERR_UNAVAILABLE && ++c->at < c->n_urls)
        ask_namenode(c);
    else if (err || !has_content)
        finish(c, err, !err && c->request.op == FS_STATUS ? &status : NULL, &fault);
}

static void ask_namenode(struct fs_call *c)
{
    mem_auto char *query = query_of(&c->request);
    mem_auto char *url = webhdfs_url(c->urls[c->at], query, c->user);

    c->call = http_call(c->http, &(struct http_call_def){.method = ops[c->request.op].method,
                                                         .url = url,
                                                         .timeout_ms = NAMENODE_TIMEOUT_MS,
                                                         .max_body = WEBHDFS_ANSWER_MAX,
                                                         .no_follow = true,
                                                         .done = on_named,
                                                         .arg = c});
}

struct fs_call *fs_start(struct http_client *http, const struct fs_request *r)
{
    struct fs_call *c = mem_new(struct fs_call);

    BUG_IF(r->place->kind != FS_HDFS || !r->place->n_urls);
    obj_init(&c->obj, CALL_MAGIC);
    c->http = http;
    c->request = *r;
    c->path = mem_str(r->place->path);
    c->user = mem_str(r->user);
    c->n_urls = r->place->n_urls;
    c->urls = mem_array(c->n_urls, sizeof *c->urls);
    for (size_t i = 0; i < c->n_urls; i++)
        c->urls[i] = mem_str(r->place->urls[i]);
    ask_namenode(c);
    return c;
}

void fs_cancel(struct fs_call *call)
{
    http_call_cancel(obj_cast(call, struct fs_call, CALL_MAGIC)->call);
}

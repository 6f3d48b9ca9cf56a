#include "api/api.h"
#include "registryd/events.h"
#include "api/routes.h"
#include "api/view.h"
#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"
#include "bobbin/path.h"

#include <stdlib.h>
#include <string.h>

/** A watch through a proxy ends after so long unless it says when: the proxy would follow it long after its client has left. */
#define PROXY_WATCH_MS 15000

#define STRONG_MAGIC OBJ_MAGIC('S', 'T', 'R', 'G')

/* The parameters of a GET. */
struct read_request {
    bool watch, recursive, strong;
    int64_t limit;
    const char *cursor; /* NULL: from the beginning */
    struct feed_request follow;
};

static int read_parameters(const struct http_req *req, struct read_request *r, struct err_info *why)
{
    r->watch = http_param_bool(req, GET_WATCH);
    r->recursive = http_param_bool(req, GET_RECURSIVE);
    r->strong = http_param_choice(req, GET_CONSISTENCY) == CONSISTENCY_STRONG;
    r->limit = http_param_int(req, GET_LIMIT);
    r->cursor = http_param_text(req, GET_CURSOR);
    if (r->strong && (r->recursive || r->watch))
        return err_set(why, ERR_USAGE, "consistency",
                       "consistency=strong goes with neither recursive nor watch");
    if (r->recursive && r->cursor && *r->cursor && reg_path_check(r->cursor, NULL))
        return err_set(why, ERR_USAGE, "cursor",
                       "the cursor of a recursive read is a path: send the one that the last answer gave");
    if (!r->watch)
        return 0;
    r->follow.since = http_param_text(req, GET_SINCE);
    r->follow.timeout_ms = http_param_ms(req, GET_TIMEOUT);
    r->follow.is_padded = http_header(req, "X-Forwarded-Context") != NULL;
    if (r->follow.is_padded && r->follow.timeout_ms == 0)
        r->follow.timeout_ms = PROXY_WATCH_MS;
    r->follow.max = http_param_int(req, GET_MAX);
    return 0;
}

/* ---- strong reads: from the store ---- */

struct strong {
    struct obj obj;
    struct api *api;
    struct http_req *req; /* NULL: the client has gone */
    char *path, *cursor;
    int64_t limit;
};

static void strong_closed(void *arg)
{
    obj_cast(arg, struct strong, STRONG_MAGIC)->req = NULL;
}

static void strong_reply(const struct strong *s, const struct reg_store_result *r)
{
    struct view_strong v = {.path = s->path,
                            .store_id = mirror_store_id(s->api->mirror),
                            .stat = &r->stat,
                            .bytes = r->data,
                            .names = r->children,
                            .n_names = r->n_children,
                            .limit = s->limit,
                            .cursor = s->cursor};
    struct buf body = BUF_EMPTY;
    view_write_strong(&body, &v);
    int64_t newest = r->stat.mzxid > r->stat.pzxid ? r->stat.mzxid : r->stat.pzxid;
    int64_t shown = mirror_newest(s->api->mirror);
    api_etag(s->req, &r->stat);
    api_revision(s->api, s->req, newest > shown ? newest : shown);
    http_reply(s->req, 200, "application/json", &body);
}

static void on_strong(void *arg, int err, const struct reg_store_result *r)
{
    struct strong *s = obj_cast(arg, struct strong, STRONG_MAGIC);
    if (s->req && err)
        api_refuse(s->api, s->req, err, &r->why);
    else if (s->req)
        strong_reply(s, r);
    free(s->path);
    free(s->cursor);
    obj_fini(&s->obj);
    free(s);
}

static void strong_get(struct api *api, struct http_req *req, const char *path, const struct read_request *r)
{
    struct strong *s = mem_new(struct strong);
    obj_init(&s->obj, STRONG_MAGIC);
    s->api = api;
    s->req = req;
    s->path = mem_str(path);
    s->cursor = mem_str(r->cursor);
    s->limit = r->limit;
    http_reply_later(req, strong_closed, s);
    reg_store_read(api->ops, s->path, on_strong, s);
}

/* ---- reads of the mirror ---- */

static void mirror_get(struct api *api, struct http_req *req, const char *path, enum view_form form,
                       const struct read_request *r)
{
    struct err_info why;
    const struct mirror_node *node = mirror_find(api->mirror, path);
    api_mirror_headers(api, req);
    if (!node) {
        err_set(&why, ERR_NOTFOUND, path, "there is no such node");
        api_refuse(api, req, ERR_NOTFOUND, &why);
        return;
    }
    api_etag(req, &node->stat);
    const char *seen = http_header(req, "If-None-Match");
    if (seen && api_etag_matches(seen, &node->stat)) {
        http_reply(req, 304, NULL, NULL);
        return;
    }
    struct view_def view = {api->mirror, node, path, form, r->limit, r->cursor};
    view_reply(req, 200, &view);
}

void api_get(struct http_req *req, void *arg)
{
    struct api *api = obj_cast(arg, struct api, API_MAGIC);
    struct err_info why;
    struct read_request r = {0};
    mem_auto char *path = NULL;
    int err = api_path(req, &path, &why);
    err = err ? err : read_parameters(req, &r, &why);
    if (err) {
        api_refuse(api, req, err, &why);
        return;
    }
    metric_add(api->metrics, M_READS, 1);
    r.follow.path = path;
    if (access_is_secure(api->access))
        http_reply_header(req, "Bobbin-Secure", "true");
    if (r.watch)
        feed_serve(api->feed, req, &r.follow);
    else if (!api_ready(api, req))
        return;
    else if (r.strong)
        strong_get(api, req, path, &r);
    else
        mirror_get(api, req, path, r.recursive ? VIEW_TREE : VIEW_NODE, &r);
}

void api_slider_get(struct http_req *req, void *arg)
{
    struct api *api = obj_cast(arg, struct api, API_MAGIC);
    struct err_info why;
    const struct read_request all = {.limit = INT64_MAX};
    mem_auto char *path = NULL;
    int err = api_path(req, &path, &why);
    if (err) {
        api_refuse(api, req, err, &why);
        return;
    }
    metric_add(api->metrics, M_READS, 1);
    if (api_ready(api, req))
        mirror_get(api, req, path, VIEW_SLIDER, &all);
}

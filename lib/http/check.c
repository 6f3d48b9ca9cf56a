#include "http/http_priv.h"

#include <string.h>

#include "base/str.h"

static int find_route(struct http_req *req)
{
    struct err_info *why = &req->refusal_why;
    int rc = http_route_find(&req->server->routes, req->method, req->path, &req->match);
    if (rc == ERR_NOROUTE)
        return err_set(why, rc, req->path, "there is no such resource");
    if (rc == ERR_METHOD)
        return err_set(why, rc, req->path, "this resource does not know the method %.40s", req->method);
    for (size_t i = 0; i < req->match.n_spans; i++) {
        const struct http_route_span *span = &req->match.spans[i];
        struct http_pair *pair = arena_new_obj(req->arena, struct http_pair);
        bool is_rest = span->text[span->len] == '\0';
        pair->name = arena_strn(req->arena, span->name, span->name_len);
        pair->value = is_rest ? span->text : arena_strn(req->arena, span->text, span->len);
        pair->next = req->elements;
        req->elements = pair;
    }
    return 0;
}

static int too_big(struct http_req *req)
{
    size_t limit = req->match.route->max_body;
    const char *key = req->match.route->row->max_body_key;
    if (limit == 0)
        return err_set(&req->refusal_why, ERR_TOOBIG, NULL, "this request takes no body");
    return err_set(&req->refusal_why, ERR_TOOBIG, NULL,
                   "the body is larger than the %zu bytes allowed here%s%s%s", limit,
                   key ? " (they follow from " : "", key ? key : "", key ? ")" : "");
}

/** A body must be what the route takes. An empty one needs no media type: a gateway drops that of a body it has lost. @param has_body  as far
 *  as it is known */
static int check_media_type(struct http_req *req, bool has_body)
{
    unsigned flags = req->match.route->row->flags;
    const char *media_type =
        flags & (HTTP_JSON_IN | HTTP_JSON_OPTIONAL) ? http_header(req, "Content-Type") : NULL;
    bool is_wanted =
        has_body ? flags & (HTTP_JSON_IN | HTTP_JSON_OPTIONAL) : flags & HTTP_JSON_IN && media_type;
    if (!is_wanted || http_head_is_json(media_type))
        return 0;
    return err_set(&req->refusal_why, ERR_MEDIATYPE, NULL,
                   "send the body as Content-Type: application/json, not %.100s",
                   media_type ? media_type : "without one");
}

/** What is wrong with a path in the query: it stands in the URL, too, or twice, or names nothing, as that of an unset variable. */
static const char *path_param_fault(const struct http_req *req, const char *name)
{
    const char *rest = http_path_raw(req, "*");
    size_t n = 0;
    for (const struct http_pair *pair = req->query; pair; pair = pair->next)
        n += strcmp(pair->name, name) == 0;
    if (rest && *rest)
        return "the path is named in the URL and by a query parameter: send one of them";
    if (n > 1)
        return "the path is named twice: send one of them";
    return *http_path_param(req) ? NULL : "the path is empty: that of the root is /";
}

static int check_path_param(struct http_req *req)
{
    const struct http_param_set *set = &req->match.route->params;
    const char *name = http_path_param(req) ? set->rows[set->rest].name : NULL;
    const char *fault = name ? path_param_fault(req, name) : NULL;
    return fault ? err_set(&req->refusal_why, ERR_USAGE, name, "%s", fault) : 0;
}

/** What the route's row says of the head: its parameters, then the program's own check. */
static int check_row(struct http_req *req)
{
    const struct http_server_def *def = &req->server->def;
    const struct http_route_bound *route = req->match.route;
    struct err_info *why = &req->refusal_why;
    int rc = http_params_read(&route->params, req->arena, req->query, &req->values, why);
    if (rc == 0)
        rc = check_path_param(req);
    if (rc == 0 && route->row->check)
        rc = route->row->check(req, def->app, why);
    if (rc && def->refused)
        def->refused(def->app);
    return rc;
}

/** The steps, in their order. */
static int check_head(struct http_req *req)
{
    const struct http_head *head = &req->exchange.head;
    struct err_info *why = &req->refusal_why;
    int64_t body_len = http_head_body_len(head);
    const char *query = NULL;
    int rc = http_head_check_target(head, req->target, why);
    req->path = http_head_split_target(req->target, &query);
    if (rc == 0)
        rc = http_head_check_host(head, http_host_names(req->server->host), why);
    if (rc == 0)
        rc = http_params_split(req->arena, query, &req->query, why);
    if (rc == 0)
        http_caller_take(req);
    if (rc == 0)
        rc = find_route(req);
    if (rc == 0)
        rc = http_head_check_origin(head, why);
    if (rc == 0)
        rc = http_caller_check(req);
    if (rc == 0 && (uint64_t)body_len > req->match.route->max_body)
        rc = too_big(req);
    if (rc == 0)
        rc = check_media_type(req, body_len > 0);
    if (rc == 0)
        rc = check_row(req);
    req->announced = rc == 0 ? (size_t)body_len : 0;
    if (req->announced)
        rc = http_budget_announce(req, req->announced, why);
    return rc;
}

/** A refusal that must not wait for the body: there is no budget for it, or it is long. */
static bool is_refused_at_once(const struct http_req *req)
{
    const struct http_head *head = &req->exchange.head;
    if (!req->refusal)
        return false;
    int64_t body_len = http_head_body_len(head);
    bool has_body = body_len > 0 || head->n_codings;
    return has_body && (body_len > (int64_t)HTTP_DRAIN_MAX || req->refusal == ERR_UNAVAILABLE);
}

bool http_check_head(struct http_req *req)
{
    const struct http_head *head = &req->exchange.head;
    req->method = arena_str(req->arena, head->method);
    req->request_id = head->request_id ? arena_str(req->arena, head->request_id) : NULL;
    req->refusal = http_head_check_framing(head, &req->refusal_why);
    if (req->refusal)
        return false;
    req->refusal = check_head(req);
    if (req->refusal && http_header(req, "Expect"))
        return false;
    if (head->n_lengths || head->n_codings)
        http_peer_await_body(req->peer, req);
    if (is_refused_at_once(req))
        http_disconnect_body(req);
    return true;
}

void http_check_piece(struct http_req *req, const char *bytes, size_t len)
{
    http_peer_moved(req->peer, len);
    if (!req->refusal && req->body.len == 0)
        req->refusal = check_media_type(req, true);
    if (!req->refusal && len > req->match.route->max_body - req->body.len)
        req->refusal = too_big(req);
    if (!req->refusal)
        req->refusal = http_budget_add(req, bytes, len, &req->refusal_why);
    if (!req->refusal)
        return;
    http_body_free(req);
    req->n_dropped += len;
    if (req->n_dropped > HTTP_DRAIN_MAX || req->refusal == ERR_UNAVAILABLE)
        http_disconnect_body(req);
}

void http_check_body(struct http_req *req)
{
    if (req->refusal || req->body.len || !(req->match.route->row->flags & HTTP_JSON_IN))
        return;
    req->refusal = err_set(&req->refusal_why, ERR_JSON, "1:1", "the body is empty: JSON is expected");
}

#include "http/http_priv.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/str.h"

/** Requests that are kept for the next ones. */
enum { SPARE_MAX = 64 };

static struct http_req *request_memory(struct http_server *s)
{
    struct http_req *req = TAILQ_FIRST(&s->spare);
    if (!req) {
        req = mem_new(struct http_req);
        req->arena = arena_new(0);
        return req;
    }
    TAILQ_REMOVE(&s->spare, req, link);
    s->n_spare--;
    struct arena *arena = req->arena;
    memset(req, 0, offsetof(struct http_req, refusal_why));
    req->arena = arena;
    return req;
}

struct http_req *http_request_new(struct http_server *s, const char *target)
{
    struct http_req *req = request_memory(s);
    obj_init(&req->obj, HTTP_REQ_MAGIC);
    req->server = s;
    req->app = s->def.app;
    req->static_user = arena_str(req->arena, s->def.static_user);
    req->target_at = target;
    req->target = arena_str(req->arena, target);
    TAILQ_INSERT_TAIL(&s->reqs, req, link);
    return req;
}

void http_request_free(struct http_req *req)
{
    struct http_server *s = req->server;
    BUG_IF(req->closed != NULL);
    if (s)
        TAILQ_REMOVE(&s->reqs, req, link);
    if (req->reply)
        MHD_destroy_response(req->reply);
    http_body_free(req);
    obj_fini(&req->obj);
    if (s && s->n_spare < SPARE_MAX) {
        arena_reset(req->arena);
        TAILQ_INSERT_HEAD(&s->spare, req, link);
        s->n_spare++;
        return;
    }
    arena_free(req->arena);
    free(req);
}

void http_request_free_spare(struct http_server *s)
{
    struct http_req *req;
    while ((req = TAILQ_FIRST(&s->spare))) {
        TAILQ_REMOVE(&s->spare, req, link);
        arena_free(req->arena);
        free(req);
    }
    s->n_spare = 0;
}

void http_request_closed(struct http_req *req)
{
    void (*closed)(void *arg) = req->closed;
    req->closed = NULL;
    req->stream_over = true;
    if (closed)
        closed(req->closed_arg);
}

void http_request_suspend(struct http_req *req)
{
    req->suspended = true;
    MHD_suspend_connection(req->conn);
}

void http_request_resume(struct http_req *req)
{
    if (!req->suspended)
        return;
    req->suspended = false;
    MHD_resume_connection(req->conn);
    http_server_kick(req->server);
}

/* ---- checks, in the order in which they run ---- */

/** Whether bytes of the target lie behind its NUL: the version starts one byte after a target without one. */
static bool target_is_cut(const struct http_req *req, const char *version)
{
    uintptr_t end = (uintptr_t)req->target_at + strlen(req->target) + 1, v = (uintptr_t)version;
    return v > end && v - end < (1 << 20);
}

static int check_target(struct http_req *req, const char *version)
{
    struct err_info *why = &req->refusal_why;
    size_t len = strlen(req->target);
    if (target_is_cut(req, version))
        return err_set(why, ERR_PATH, NULL, "the request target contains a NUL byte");
    if (str_is_visible(req->target, len))
        return 0;
    if (!utf8_valid(req->target, len))
        return err_set(why, ERR_PATH, NULL, "the request target is not UTF-8; percent-encode it");
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)req->target[i];
        if (c <= ' ' || c == 0x7f)
            return err_set(why, ERR_PATH, NULL,
                           "the request target contains a blank or control character at byte %zu", i);
    }
    return 0;
}

/** Drop scheme and authority of an absolute target (RFC 9112 3.2.2), cut the query off; *query is NULL without one. */
static void split_target(struct http_req *req, const char **query)
{
    char *at = req->target;
    if (*at != '/' && (strncasecmp(at, "http://", 7) == 0 || strncasecmp(at, "https://", 8) == 0)) {
        at = strstr(at, "//") + 2;
        at += strcspn(at, "/?");
    }
    size_t len = (size_t)(strchrnul(at, '?') - at);
    *query = at[len] == '?' ? at + len + 1 : NULL;
    at[len] = '\0';
    req->path = len ? at : "/";
}

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

/** Length of an authority without the scheme's default port. */
static size_t authority_len(const char *authority, const char *default_port)
{
    size_t len = strlen(authority), port_len = strlen(default_port);
    if (len > port_len && strcmp(authority + len - port_len, default_port) == 0)
        len -= port_len;
    return len;
}

static bool origin_is_own(const char *origin, const char *host)
{
    const char *port = ":80";
    if (strncasecmp(origin, "https://", 8) == 0) {
        port = ":443";
        origin += 8;
    } else if (strncasecmp(origin, "http://", 7) == 0) {
        origin += 7;
    } else {
        return false;
    }
    size_t origin_len = authority_len(origin, port), host_len = authority_len(host, port);
    return origin_len == host_len && strncasecmp(origin, host, host_len) == 0;
}

static int check_origin(struct http_req *req)
{
    const char *origin = req->head.origin, *host = req->head.host;
    if (!origin || (host && origin_is_own(origin, host)))
        return 0;
    return err_set(&req->refusal_why, ERR_ORIGIN, NULL, "requests from pages of %.200s are not accepted",
                   origin);
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

/** Value of Content-Length; 0 when there is none. libmicrohttpd has refused what is no number. */
static int64_t declared_len(const struct http_req *req)
{
    const char *text = req->head.length;
    int64_t len = 0;
    if (text && str_to_i64(text, 0, INT64_MAX, &len) != 0)
        len = INT64_MAX;
    return len;
}

static int check_declared_len(struct http_req *req)
{
    return (uint64_t)declared_len(req) > req->match.route->max_body ? too_big(req) : 0;
}

static bool is_json(const char *media_type)
{
    static const char json[] = "application/json";
    size_t len = sizeof(json) - 1;
    if (!media_type || strncasecmp(media_type, json, len) != 0)
        return false;
    const char *rest = media_type + len + strspn(media_type + len, " \t");
    return *rest == '\0' || *rest == ';';
}

/** A body, once it is known whether there is one, must be what the route takes. */
static int check_media_type(struct http_req *req, bool has_body)
{
    unsigned flags = req->match.route->row->flags;
    bool wants_json = (flags & HTTP_JSON_IN) || ((flags & HTTP_JSON_OPTIONAL) && has_body);
    const char *media_type = wants_json ? http_header(req, MHD_HTTP_HEADER_CONTENT_TYPE) : NULL;
    if (!wants_json || is_json(media_type))
        return 0;
    return err_set(&req->refusal_why, ERR_MEDIATYPE, NULL,
                   "send the body as Content-Type: application/json, not %.100s",
                   media_type ? media_type : "without one");
}

/** What the route's row says of the head: its parameters, then the program's own check. */
static int check_row(struct http_req *req)
{
    const struct http_server_def *def = &req->server->def;
    const struct http_route_bound *route = req->match.route;
    struct err_info *why = &req->refusal_why;
    int rc = http_params_read(&route->params, req->arena, req->query, &req->values, why);
    if (rc == 0 && route->row->check)
        rc = route->row->check(req, def->app, why);
    if (rc && def->refused)
        def->refused(def->app);
    return rc;
}

/** Take a header down if it says something of the message itself. */
static enum MHD_Result note_header(void *arg, enum MHD_ValueKind kind, const char *name, const char *value)
{
    struct http_head *head = arg;
    (void)kind;
    const struct {
        const char *name, **value;
        unsigned *n;
    } rows[] = {{MHD_HTTP_HEADER_HOST, &head->host, &head->n_hosts},
                {MHD_HTTP_HEADER_ORIGIN, &head->origin, NULL},
                {MHD_HTTP_HEADER_CONTENT_LENGTH, &head->length, &head->n_lengths},
                {MHD_HTTP_HEADER_TRANSFER_ENCODING, &head->coding, &head->n_codings}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if ((*name | 0x20) != (*rows[i].name | 0x20) || strcasecmp(name, rows[i].name) != 0)
            continue;
        *rows[i].value = value;
        if (rows[i].n)
            ++*rows[i].n;
    }
    return MHD_YES;
}

/** Where the message ends, and for whom it is, must be the same for everybody who passes it on (RFC 9112 3.2, 6.3). */
static int check_framing(struct http_req *req, const char *version)
{
    struct err_info *why = &req->refusal_why;
    const struct http_head *head = &req->head;
    bool needs_host = strcmp(version, MHD_HTTP_VERSION_1_1) == 0;
    if (head->n_hosts > 1 || (head->n_hosts == 0 && needs_host))
        return err_set(why, ERR_PARSE, "Host", "a request of HTTP/1.1 has one Host header, not %u",
                       head->n_hosts);
    if (head->n_lengths > 1)
        return err_set(why, ERR_PARSE, "Content-Length", "%u Content-Length headers, where one says all",
                       head->n_lengths);
    if (head->n_lengths && head->n_codings)
        return err_set(why, ERR_PARSE, "Transfer-Encoding",
                       "both Content-Length and Transfer-Encoding say where the body ends: send one of them");
    if (head->n_codings > 1 || (head->coding && strcasecmp(head->coding, "chunked") != 0))
        return err_set(why, ERR_PARSE, "Transfer-Encoding", "the only transfer coding known here is chunked");
    return 0;
}

static int check_head(struct http_req *req, const char *version)
{
    const char *query = NULL;
    int rc = check_target(req, version);
    split_target(req, &query);
    if (rc == 0 && req->head.host)
        rc = http_host_check(req->server, req->head.host, &req->refusal_why);
    if (rc == 0)
        rc = http_params_split(req->arena, query, &req->query, &req->refusal_why);
    if (rc == 0)
        rc = find_route(req);
    if (rc == 0)
        rc = check_origin(req);
    if (rc == 0)
        rc = check_declared_len(req);
    if (rc == 0)
        rc = check_media_type(req, declared_len(req) > 0);
    if (rc == 0)
        rc = check_row(req);
    req->announced = rc == 0 ? (size_t)declared_len(req) : 0;
    if (req->announced)
        rc = http_body_announce(req, req->announced, &req->refusal_why);
    return rc;
}

/** A refusal that must not wait for the body: there is no room for it, or it is long. */
static bool is_refused_at_once(const struct http_req *req)
{
    bool has_body = declared_len(req) > 0 || req->head.n_codings;
    bool is_long = declared_len(req) > (int64_t)HTTP_DRAIN_MAX;
    return req->refusal && has_body && (is_long || req->refusal == ERR_UNAVAILABLE);
}

bool http_request_open(struct http_req *req, struct MHD_Connection *conn, const char *method,
                       const char *version)
{
    req->conn = conn;
    req->peer = MHD_get_connection_info(conn, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
    req->method = arena_str(req->arena, method);
    MHD_get_connection_values(conn, MHD_HEADER_KIND, note_header, &req->head);
    req->refusal = check_framing(req, version);
    if (req->refusal)
        return false;
    req->refusal = check_head(req, version);
    if (req->refusal && http_header(req, MHD_HTTP_HEADER_EXPECT))
        return false;
    if (req->head.n_lengths || req->head.n_codings)
        http_peer_await_body(req->peer, req);
    if (is_refused_at_once(req))
        http_body_refuse(req);
    return true;
}

bool http_request_take_body(struct http_req *req, const char *bytes, size_t len)
{
    http_peer_moved(req->peer, len);
    if (!req->refusal && len > req->match.route->max_body - req->body.len)
        req->refusal = too_big(req);
    if (!req->refusal)
        req->refusal = http_body_add(req, bytes, len, &req->refusal_why);
    if (!req->refusal)
        return true;
    http_body_free(req);
    req->n_dropped += len;
    bool is_long = req->n_dropped > HTTP_DRAIN_MAX || req->refusal == ERR_UNAVAILABLE;
    if (is_long)
        http_body_refuse(req);
    return true;
}

void http_request_check_body(struct http_req *req)
{
    if (!req->refusal)
        req->refusal = check_media_type(req, req->body.len > 0);
}

/* ---- what handlers read ---- */

static const char *pair_find(const struct http_pair *pair, const char *name)
{
    for (; pair; pair = pair->next) {
        if (strcmp(pair->name, name) == 0)
            return pair->value;
    }
    return NULL;
}

const char *http_method(const struct http_req *req)
{
    return req->method;
}

const char *http_raw_path(const struct http_req *req)
{
    return req->path;
}

const char *http_path_raw(const struct http_req *req, const char *name)
{
    return pair_find(req->elements, name);
}

int http_path_element(struct http_req *req, const char *name, char **out, struct err_info *why)
{
    const char *raw = http_path_raw(req, name);
    BUG_IF(raw == NULL);
    size_t raw_len = strlen(raw);
    mem_auto char *text = mem_alloc(raw_len + 1);
    int64_t n = str_unpercent(raw, raw_len, text);
    if (n < 0)
        return err_set(why, ERR_PATH, raw, "bad percent escape in a path element");
    if (!utf8_valid(text, (size_t)n))
        return err_set(why, ERR_PATH, raw, "path element is not UTF-8");
    for (int64_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c < ' ' || c == 0x7f || c == '/')
            return err_set(why, ERR_PATH, raw, "path element contains %s",
                           c == '/' ? "an encoded '/'" : "a control character");
    }
    *out = text;
    text = NULL;
    return 0;
}

const char *http_query(const struct http_req *req, const char *name)
{
    return pair_find(req->query, name);
}

const char *http_query_name(const struct http_req *req, size_t i)
{
    const struct http_pair *pair = req->query;
    while (pair && i--)
        pair = pair->next;
    return pair ? pair->name : NULL;
}

/** Value of a query parameter. */
static const struct http_value *param_value(const struct http_req *req, int id)
{
    const struct http_param_set *set = &req->match.route->params;
    BUG_IF(id < 0 || (size_t)id >= set->n || set->rows[id].in != HTTP_IN_QUERY);
    return &req->values[id];
}

static int64_t param_number(const struct http_req *req, int id, enum http_param_type type)
{
    const struct http_value *value = param_value(req, id);
    BUG_IF(req->match.route->params.rows[id].type != type);
    return value->n;
}

bool http_param_given(const struct http_req *req, int id)
{
    return param_value(req, id)->is_given;
}

const char *http_param_text(const struct http_req *req, int id)
{
    return param_value(req, id)->text;
}

bool http_param_bool(const struct http_req *req, int id)
{
    return param_number(req, id, HTTP_BOOL);
}

int64_t http_param_int(const struct http_req *req, int id)
{
    return param_number(req, id, HTTP_INT);
}

int64_t http_param_ms(const struct http_req *req, int id)
{
    return param_number(req, id, HTTP_TIME);
}

int http_param_choice(const struct http_req *req, int id)
{
    return (int)param_number(req, id, HTTP_CHOICE);
}

const char *http_header(const struct http_req *req, const char *name)
{
    return req->conn ? MHD_lookup_connection_value(req->conn, MHD_HEADER_KIND, name) : NULL;
}

const char *http_body(const struct http_req *req, size_t *len)
{
    if (len)
        *len = req->body.len;
    return req->body.len ? req->body.bytes : "";
}

const char *http_user(const struct http_req *req)
{
    const char *user = http_query(req, "user.name");
    return user && *user ? user : req->static_user;
}

void *http_app(const struct http_req *req)
{
    return req->app;
}

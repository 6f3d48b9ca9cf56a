#include "http/http_priv.h"

#include <stdlib.h>
#include <string.h>

#include "http/proxy_users.h"

#define LOOKUP_MAGIC OBJ_MAGIC('H', 'L', 'K', 'P')

/* ---- the names in a query ---- */

void http_caller_take(struct http_req *req)
{
    struct http_pair **at = &req->query;
    const char *user = NULL;
    while (*at) {
        enum http_caller_name kind = http_params_caller_name((*at)->name);
        if (kind == HTTP_NO_CALLER) {
            at = &(*at)->next;
            continue;
        }
        const char **named = kind == HTTP_DO_AS ? &req->do_as : &user;
        *named = *named ? *named : (*at)->value;
        *at = (*at)->next;
    }
    req->is_caller_named = user && *user;
    req->caller = req->is_caller_named ? user : req->static_user;
}

/** Whether the caller speaks in another's name. */
static bool is_proxy(const struct http_req *req)
{
    return req->do_as && *req->do_as && (!req->caller || strcmp(req->caller, req->do_as) != 0);
}

int http_caller_check(struct http_req *req)
{
    struct err_info *why = &req->refusal_why;
    struct proxy_ask ask = {
        .caller = req->caller ? req->caller : "", .target = req->do_as, .address = req->peer->address_text};
    if (req->do_as && !*req->do_as)
        return err_set(why, ERR_USAGE, "doAs", "query parameter doAs is empty: send the name of a user");
    if (!is_proxy(req))
        return 0;
    proxy_users_find(req->server->def.options, &ask);
    return proxy_users_check(&ask, &req->is_caller_open, why);
}

/* ---- look-ups of groups and hosts, on the pool ---- */

/** Belongs to the loop; the request may go before it. */
struct lookup {
    struct obj obj;
    uv_work_t work;
    struct http_req *req; /* NULL: it has gone */
    void (*decided)(struct http_req *req);
    struct proxy_ask ask;
    char *texts[6]; /* of ask */
    int rc;
    struct err_info why;
};

static void on_pool(uv_work_t *work)
{
    struct lookup *l = obj_cast(work->data, struct lookup, LOOKUP_MAGIC);
    l->rc = proxy_users_check(&l->ask, NULL, &l->why);
}

static void after_pool(uv_work_t *work, int status)
{
    struct lookup *l = obj_cast(work->data, struct lookup, LOOKUP_MAGIC);
    struct http_req *req = l->req;
    (void)status;
    if (req) {
        req->closed = NULL;
        req->is_caller_open = false;
        req->phase = HTTP_HANDLING;
        req->refusal = l->rc;
        req->refusal_why = l->why;
        l->decided(req);
    }
    for (size_t i = 0; i < ARRAY_LEN(l->texts); i++)
        free(l->texts[i]);
    obj_fini(&l->obj);
    free(l);
}

static void on_request_gone(void *arg)
{
    obj_cast(arg, struct lookup, LOOKUP_MAGIC)->req = NULL;
}

void http_caller_look_up(struct http_req *req, void (*decided)(struct http_req *req))
{
    struct lookup *l = mem_new(struct lookup);
    const char **members[] = {&l->ask.caller, &l->ask.target, &l->ask.address,
                              &l->ask.users,  &l->ask.groups, &l->ask.hosts};
    obj_init(&l->obj, LOOKUP_MAGIC);
    l->ask =
        (struct proxy_ask){.caller = req->caller, .target = req->do_as, .address = req->peer->address_text};
    proxy_users_find(req->server->def.options, &l->ask);
    for (size_t i = 0; i < ARRAY_LEN(members); i++)
        *members[i] = l->texts[i] = *members[i] ? mem_str(*members[i]) : NULL;
    l->req = req;
    l->decided = decided;
    l->work.data = l;
    http_reply_later(req, on_request_gone, l);
    BUG_IF(uv_queue_work(run_loop_uv(req->server->loop), &l->work, on_pool, after_pool));
}

/* ---- what handlers read ---- */

const char *http_peer_address(const struct http_req *req)
{
    return req->peer->address_text;
}

bool http_user_is_named(const struct http_req *req)
{
    return req->is_caller_named || is_proxy(req);
}

const char *http_user(const struct http_req *req)
{
    return is_proxy(req) ? req->do_as : req->caller;
}

int http_check_local(const struct http_req *req, struct err_info *why)
{
    const char *path = req->path;
    if (!req->peer || !req->peer->is_local)
        return err_set(why, ERR_PERMISSION, path, "only callers on the daemon's own host may do this, not %s",
                       req->peer ? req->peer->address_text : "nobody");
    if (is_proxy(req) || http_header(req, "X-Forwarded-For"))
        return err_set(why, ERR_PERMISSION, path,
                       "only callers on the daemon's own host may do this, not those of a proxy on it");
    return 0;
}

#include "http/http_priv.h"

#include <string.h>
#include <strings.h>

/** Whether a list of tokens, separated by commas, has one, in any case. */
static bool has_token(const char *list, const char *token)
{
    size_t len = strlen(token);
    for (const char *at = list; at && *at;) {
        at += strspn(at, ", \t");
        size_t n = strcspn(at, ", \t");
        if (n == len && strncasecmp(at, token, len) == 0)
            return true;
        at += n;
    }
    return false;
}

bool http_wants_upgrade(const struct http_req *req, const char *protocol)
{
    return strcmp(req->exchange.head.version, "HTTP/1.1") == 0 &&
           has_token(http_header(req, "Connection"), "Upgrade") &&
           has_token(http_header(req, "Upgrade"), protocol);
}

void http_upgrade_start(struct http_req *req, const char *protocol, const struct http_upgrade_ops *ops,
                        void *arg)
{
    if (!http_reply_begin(req)) {
        ops->closed(arg);
        return;
    }
    req->upgrade = *ops;
    req->upgrade_arg = arg;
    req->closed = ops->closed;
    req->closed_arg = arg;
    http_reply_set_upgrade(req, protocol);
}

void http_upgrade_begin(struct http_req *req, int fd, const char *early, size_t len)
{
    if (req->server->stopping)
        http_upgrade_stop(req);
    else
        req->upgrade.begun(req->upgrade_arg, fd, early, len);
}

void http_upgrade_stop(struct http_req *req)
{
    if (http_mhd_upgrade_end(&req->exchange))
        http_poll_kick(req->server);
}

void http_upgrade_end(struct http_req *req)
{
    (void)obj_cast(req, struct http_req, HTTP_REQ_MAGIC);
    req->closed = NULL;
    http_upgrade_stop(req);
}

#include "http/http_priv.h"

/** More of the body is wanted. */
static ssize_t on_read(void *arg, char *bytes, size_t max)
{
    struct http_req *req = obj_cast(arg, struct http_req, HTTP_REQ_MAGIC);
    ssize_t n = 0;
    do {
        if (req->stream_over)
            return -1;
        req->stream_woken = false;
        n = req->stream.read(req->stream_arg, bytes, max);
    } while (n == 0 && (req->stream_woken || req->stream_over));
    if (n == 0)
        http_mhd_suspend(&req->exchange);
    else if (n > 0)
        req->n_sent += (size_t)n;
    return n;
}

void http_stream_start(struct http_req *req, int status, const char *media_type,
                       const struct http_stream_ops *ops, void *arg)
{
    if (!http_reply_begin(req)) {
        ops->closed(arg);
        return;
    }
    req->stream = *ops;
    req->stream_arg = arg;
    req->closed = ops->closed;
    req->closed_arg = arg;
    http_reply_set_stream(req, status, media_type, on_read);
}

void http_stream_wake(struct http_req *req)
{
    (void)obj_cast(req, struct http_req, HTTP_REQ_MAGIC);
    req->stream_woken = true;
    if (req->phase == HTTP_REPLYING)
        http_request_resume(req);
}

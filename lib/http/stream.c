#include "http/http_priv.h"

/** Size of the buffer libmicrohttpd keeps a stream for HTTP/1.0 clients; chunks use the connection's own. */
#define STREAM_PIECE 4096

/** libmicrohttpd wants more of the body. */
static ssize_t on_read(void *arg, uint64_t pos, char *bytes, size_t max)
{
    struct http_req *req = obj_cast(arg, struct http_req, HTTP_REQ_MAGIC);
    (void)pos;
    ssize_t n = 0;
    do {
        if (req->stream_over)
            return MHD_CONTENT_READER_END_OF_STREAM;
        req->stream_woken = false;
        n = req->stream.read(req->stream_arg, bytes, max);
        BUG_IF(n > (ssize_t)max);
    } while (n == 0 && (req->stream_woken || req->stream_over));
    if (n < 0)
        return MHD_CONTENT_READER_END_OF_STREAM;
    if (n == 0)
        http_request_suspend(req);
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
    struct MHD_Response *response =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_PIECE, on_read, req, NULL);
    BUG_IF(response == NULL);
    if (media_type)
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, media_type);
    http_reply_set(req, status, response);
}

void http_stream_wake(struct http_req *req)
{
    (void)obj_cast(req, struct http_req, HTTP_REQ_MAGIC);
    req->stream_woken = true;
    if (req->phase == HTTP_REPLYING)
        http_request_resume(req);
}

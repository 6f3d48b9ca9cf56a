#include "http/mhd.h"

#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "run/log.h"

#define MHD_MAGIC      OBJ_MAGIC('H', 'M', 'H', 'D')
#define EXCHANGE_MAGIC OBJ_MAGIC('H', 'X', 'C', 'H')

/** Head of a request and of its answer, and a piece of a stream. */
#define CONNECTION_MEM_BYTES 16384
/** Buffer that libmicrohttpd keeps a stream for HTTP/1.0 clients; chunks use the connection's own memory. */
#define STREAM_PIECE 4096
/** Most bytes that can lie between a target's NUL and the version. */
#define TARGET_MAX ((uintptr_t)1 << 20)

#define MHD_EVENTS(X) X(http_library, LOG_DEBUG, "libmicrohttpd reports something about a connection.")
LOG_DECLARE(MHD_EVENTS)

struct http_mhd {
    struct obj obj;
    struct MHD_Daemon *daemon;
    const struct http_mhd_ops *ops;
    void *arg;
    void *opening; /* peer whose connection is being handed over; NULL: none */
};

/* ---- what libmicrohttpd calls ---- */

static void on_log(void *arg, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
static void on_log(void *arg, const char *fmt, va_list ap)
{
    (void)arg;
    mem_auto char *text = mem_vfmt(fmt, ap);
    text[strcspn(text, "\n")] = '\0';
    log_emit(&ev_http_library, LOG_STR("text", text));
}

static size_t on_unescape(void *arg, struct MHD_Connection *conn, char *text)
{
    (void)arg;
    (void)conn;
    return strlen(text);
}

static void on_connection(void *arg, struct MHD_Connection *conn, void **slot,
                          enum MHD_ConnectionNotificationCode what)
{
    struct http_mhd *m = obj_cast(arg, struct http_mhd, MHD_MAGIC);
    (void)conn;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        *slot = m->opening;
        m->opening = NULL;
    } else {
        m->ops->closed(*slot);
    }
}

static void *on_target(void *arg, const char *target, struct MHD_Connection *conn)
{
    struct http_mhd *m = obj_cast(arg, struct http_mhd, MHD_MAGIC);
    size_t len = strlen(target);
    struct http_exchange *x = m->ops->begin(m->arg, target, len);
    (void)conn;
    x->target_end = (uintptr_t)target + len + 1;
    return x;
}

static enum MHD_Result note_header(void *arg, enum MHD_ValueKind kind, const char *name, const char *value)
{
    struct http_exchange *x = obj_cast(arg, struct http_exchange, EXCHANGE_MAGIC);
    (void)kind;
    http_head_note(&x->head, name, value);
    return MHD_YES;
}

/** The version begins one byte behind a target without a NUL. */
static bool target_has_nul(const struct http_exchange *x, const char *version)
{
    uintptr_t v = (uintptr_t)version;
    return v > x->target_end && v - x->target_end < TARGET_MAX;
}

static enum MHD_Result queue_reply(struct http_exchange *x)
{
    struct MHD_Response *response = x->reply;
    x->reply = NULL;
    enum MHD_Result is_queued = MHD_queue_response(x->conn, (unsigned)x->status, response);
    MHD_destroy_response(response);
    return is_queued;
}

static enum MHD_Result begin_head(struct http_mhd *m, struct http_exchange *x, const char *method,
                                  const char *version)
{
    void *peer = MHD_get_connection_info(x->conn, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
    x->head.method = method;
    x->head.version = version;
    x->head.target_has_nul = target_has_nul(x, version);
    MHD_get_connection_values(x->conn, MHD_HEADER_KIND, note_header, x);
    return m->ops->head(x, peer) ? MHD_YES : queue_reply(x);
}

/** The head is here, a piece of the body is here, the body is whole, or a suspended exchange was resumed. */
static enum MHD_Result on_request(void *arg, struct MHD_Connection *conn, const char *url, const char *method,
                                  const char *version, const char *upload, size_t *upload_len, void **slot)
{
    struct http_mhd *m = obj_cast(arg, struct http_mhd, MHD_MAGIC);
    struct http_exchange *x = obj_cast(*slot, struct http_exchange, EXCHANGE_MAGIC);
    (void)url;
    if (!x->conn) {
        x->conn = conn;
        x->mhd = m;
        return begin_head(m, x, method, version);
    }
    if (*upload_len) {
        size_t len = *upload_len;
        *upload_len = 0;
        return m->ops->piece(x, upload, len) ? MHD_YES : MHD_NO;
    }
    if (!m->ops->whole(x))
        return MHD_NO;
    if (x->reply)
        return queue_reply(x);
    http_mhd_suspend(x);
    return MHD_YES;
}

static void on_completed(void *arg, struct MHD_Connection *conn, void **slot,
                         enum MHD_RequestTerminationCode how)
{
    struct http_mhd *m = obj_cast(arg, struct http_mhd, MHD_MAGIC);
    (void)conn;
    (void)how;
    if (!*slot)
        return;
    struct http_exchange *x = obj_cast(*slot, struct http_exchange, EXCHANGE_MAGIC);
    *slot = NULL;
    x->conn = NULL;
    x->is_suspended = false;
    BUG_IF(x->upgrade != NULL);
    m->ops->completed(x);
}

/* ---- the daemon ---- */

static struct MHD_Daemon *start_daemon(struct http_mhd *m, unsigned idle_s)
{
    /* The logger comes first: it is used for what the others have to say. */
    return MHD_start_daemon(MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_ALLOW_UPGRADE | MHD_USE_ERROR_LOG |
                                MHD_USE_NO_LISTEN_SOCKET,
                            0, NULL, NULL, on_request, m,                                     //
                            MHD_OPTION_EXTERNAL_LOGGER, on_log, NULL,                         //
                            MHD_OPTION_UNESCAPE_CALLBACK, on_unescape, NULL,                  //
                            MHD_OPTION_URI_LOG_CALLBACK, on_target, m,                        //
                            MHD_OPTION_NOTIFY_CONNECTION, on_connection, m,                   //
                            MHD_OPTION_NOTIFY_COMPLETED, on_completed, m,                     //
                            MHD_OPTION_CONNECTION_LIMIT, (unsigned)HTTP_CONNECTIONS_MAX,      //
                            MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEM_BYTES, //
                            MHD_OPTION_CONNECTION_TIMEOUT, idle_s,                            //
                            MHD_OPTION_END);
}

struct http_mhd *http_mhd_start(const struct http_mhd_ops *ops, void *arg, unsigned idle_s)
{
    struct http_mhd *m = mem_new(struct http_mhd);
    obj_init(&m->obj, MHD_MAGIC);
    m->ops = ops;
    m->arg = arg;
    m->daemon = start_daemon(m, idle_s);
    if (m->daemon)
        return m;
    free(m); /* keeps errno */
    return NULL;
}

void http_mhd_stop(struct http_mhd *m)
{
    MHD_stop_daemon(m->daemon);
    obj_fini(&m->obj);
    free(m);
}

int http_mhd_fd(const struct http_mhd *m)
{
    return MHD_get_daemon_info(m->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
}

void http_mhd_run(struct http_mhd *m)
{
    enum MHD_Result is_run = MHD_run(m->daemon);
    BUG_IF(is_run != MHD_YES);
}

bool http_mhd_timeout(struct http_mhd *m, uint64_t *wait_ms)
{
    MHD_UNSIGNED_LONG_LONG ms = 0;
    bool is_due = MHD_get_timeout(m->daemon, &ms) == MHD_YES;
    *wait_ms = ms;
    return is_due;
}

bool http_mhd_add(struct http_mhd *m, int take_fd, const struct sockaddr *sa, socklen_t sa_len, void *peer)
{
    m->opening = peer;
    (void)MHD_add_connection(m->daemon, take_fd, sa, sa_len);
    bool is_taken = !m->opening;
    m->opening = NULL;
    return is_taken;
}

/* ---- an exchange ---- */

void http_mhd_exchange_init(struct http_exchange *x)
{
    obj_init(&x->obj, EXCHANGE_MAGIC);
}

void http_mhd_exchange_fini(struct http_exchange *x)
{
    if (x->reply)
        MHD_destroy_response(x->reply);
    obj_fini(&x->obj);
}

const char *http_mhd_header(const struct http_exchange *x, const char *name)
{
    return x->conn ? MHD_lookup_connection_value(x->conn, MHD_HEADER_KIND, name) : NULL;
}

void http_mhd_suspend(struct http_exchange *x)
{
    x->is_suspended = true;
    MHD_suspend_connection(x->conn);
}

bool http_mhd_resume(struct http_exchange *x)
{
    if (!x->is_suspended)
        return false;
    x->is_suspended = false;
    MHD_resume_connection(x->conn);
    return true;
}

/* ---- replies ---- */

/** Source: RFC 9112 appendix C.2.2, RFC 9110 7.6.1 (the field is named in Connection). */
static void add_keep_alive(struct MHD_Response *response, unsigned timeout_s)
{
    mem_auto char *value = mem_fmt("timeout=%u", timeout_s);
    MHD_add_response_header(response, MHD_HTTP_HEADER_KEEP_ALIVE, value);
    MHD_set_response_options(response, MHD_RF_SEND_KEEP_ALIVE_HEADER, MHD_RO_END);
}

static void set_reply(struct http_exchange *x, int status, const char *media_type,
                      const struct http_pair *headers, struct MHD_Response *take_response)
{
    BUG_IF(!take_response || x->reply);
    if (media_type)
        MHD_add_response_header(take_response, MHD_HTTP_HEADER_CONTENT_TYPE, media_type);
    for (const struct http_pair *h = headers; h; h = h->next) {
        bool is_added = !*h->value || MHD_add_response_header(take_response, h->name, h->value) == MHD_YES;
        BUG_IF(!is_added);
    }
    if (x->keep_alive_s)
        add_keep_alive(take_response, x->keep_alive_s);
    x->reply = take_response;
    x->status = status;
}

void http_mhd_reply(struct http_exchange *x, int status, const char *media_type,
                    const struct http_pair *headers, struct buf *take_body)
{
    size_t len = take_body ? take_body->len : 0;
    struct MHD_Response *response =
        len ? MHD_create_response_from_buffer(len, buf_take(take_body), MHD_RESPMEM_MUST_FREE)
            : MHD_create_response_from_buffer(0, (void *)(uintptr_t) "", MHD_RESPMEM_PERSISTENT);
    if (take_body)
        buf_fini(take_body);
    set_reply(x, status, media_type, headers, response);
}

static ssize_t on_read(void *arg, uint64_t pos, char *bytes, size_t max)
{
    struct http_exchange *x = obj_cast(arg, struct http_exchange, EXCHANGE_MAGIC);
    (void)pos;
    ssize_t n = x->read(x->read_arg, bytes, max);
    BUG_IF(n > (ssize_t)max);
    return n < 0 ? MHD_CONTENT_READER_END_OF_STREAM : n;
}

void http_mhd_reply_stream(struct http_exchange *x, int status, const char *media_type,
                           const struct http_pair *headers,
                           ssize_t (*read)(void *arg, char *bytes, size_t max), void *arg)
{
    x->read = read;
    x->read_arg = arg;
    set_reply(x, status, media_type, headers,
              MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_PIECE, on_read, x, NULL));
}

static void on_upgrade(void *arg, struct MHD_Connection *conn, void *slot, const char *early, size_t len,
                       MHD_socket fd, struct MHD_UpgradeResponseHandle *upgrade)
{
    struct http_exchange *x = obj_cast(slot, struct http_exchange, EXCHANGE_MAGIC);
    struct http_mhd *m = obj_cast(arg, struct http_mhd, MHD_MAGIC);
    (void)conn;
    x->upgrade = upgrade;
    m->ops->upgraded(x, fd, early, len);
}

void http_mhd_reply_upgrade(struct http_exchange *x, const char *protocol, const struct http_pair *headers)
{
    struct MHD_Response *response = MHD_create_response_for_upgrade(on_upgrade, x->mhd);
    MHD_add_response_header(response, MHD_HTTP_HEADER_UPGRADE, protocol);
    set_reply(x, MHD_HTTP_SWITCHING_PROTOCOLS, NULL, headers, response);
}

bool http_mhd_upgrade_end(struct http_exchange *x)
{
    struct MHD_UpgradeResponseHandle *upgrade = x->upgrade;
    if (!upgrade)
        return false;
    x->upgrade = NULL;
    (void)MHD_upgrade_action(upgrade, MHD_UPGRADE_ACTION_CLOSE);
    return true;
}

void http_mhd_reply_past(int fd, int status, const char *media_type, const struct http_pair *headers,
                         const struct buf *body)
{
    buf_auto struct buf text = BUF_EMPTY;
    buf_addf(&text, "HTTP/1.1 %d %s\r\nConnection: close\r\n", status,
             MHD_get_reason_phrase_for((unsigned)status));
    for (const struct http_pair *h = headers; h; h = h->next)
        buf_addf(&text, "%s: %s\r\n", h->name, h->value);
    buf_addf(&text, "Content-Type: %s\r\nContent-Length: %zu\r\n\r\n", media_type, body->len);
    buf_add(&text, body->bytes, body->len);
    /* The connection ends in any case; a client that cannot take a few hundred bytes now just sees that. */
    (void)send(fd, text.bytes, text.len, MSG_DONTWAIT | MSG_NOSIGNAL);
    (void)shutdown(fd, SHUT_WR);
}

#include "http/http_priv.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/addr.h"
#include "run/log.h"

/** How long answers under way may take after http_server_stop before their connections are cut. */
#define STOP_GRACE_MS   3000
#define SEND_TIMEOUT_MS 30000
/** How long requests that keep coming may hold the loop up. */
#define TURN_US 500
/**
 * Memory of a connection: head of a request and of its answer, and a piece of a stream. libmicrohttpd clears one and a half
 * times as much with each request, so more of it takes the cache from everything else.
 */
#define CONNECTION_MEM_BYTES 16384

#define HTTP_EVENTS(X)                                                                                       \
    X(http_listening, LOG_INFO, "HTTP requests are answered here.")                                          \
    X(http_library, LOG_DEBUG, "The HTTP library has something to say about a connection.")
LOG_DECLARE(HTTP_EVENTS)

/* ---- libmicrohttpd's callbacks ---- */

static void on_log(void *arg, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
static void on_log(void *arg, const char *fmt, va_list ap)
{
    (void)arg;
    mem_auto char *text = mem_vfmt(fmt, ap);
    text[strcspn(text, "\n")] = '\0';
    log_emit(&ev_http_library, LOG_STR("text", text));
}

/** Paths are matched raw and queries decoded by us, so nothing is unescaped in place. */
static size_t on_unescape(void *arg, struct MHD_Connection *conn, char *text)
{
    (void)arg;
    (void)conn;
    return strlen(text);
}

/** libmicrohttpd has taken a connection, or closed it. */
static void on_connection(void *arg, struct MHD_Connection *conn, void **slot,
                          enum MHD_ConnectionNotificationCode what)
{
    struct http_server *s = obj_cast(arg, struct http_server, HTTP_SERVER_MAGIC);
    (void)conn;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        *slot = s->opening;
        s->opening = NULL;
    } else {
        http_peer_free(obj_cast(*slot, struct http_peer, HTTP_PEER_MAGIC));
    }
}

/** The request line has been read. */
static void *on_target(void *arg, const char *target, struct MHD_Connection *conn)
{
    struct http_server *s = obj_cast(arg, struct http_server, HTTP_SERVER_MAGIC);
    (void)conn;
    s->n_requests++;
    return http_request_new(s, target);
}

/** The whole request is here: answer it, or have somebody answer it later. */
static void handle_request(struct http_req *req)
{
    struct http_server *s = req->server;
    req->phase = HTTP_HANDLING;
    http_body_whole(req);
    http_peer_served(req->peer);
    http_request_check_body(req);
    if (s->stopping) {
        struct err_info why;
        int code = err_set(&why, ERR_CANCELLED, NULL, "the server is stopping");
        http_reply_set_error(req, err_http_status(code), code, &why);
    } else if (req->refusal) {
        http_reply_refuse(req);
    } else {
        req->match.route->row->handle(req, s->def.app);
    }
    BUG_IF(!req->reply && req->phase != HTTP_WAITING); /* a handler that neither answered nor said "later" */
}

/** Headers are here, a piece of the body is here, the body is whole, or a waiting request was resumed. */
static enum MHD_Result on_request(void *arg, struct MHD_Connection *conn, const char *url, const char *method,
                                  const char *version, const char *upload, size_t *upload_len, void **slot)
{
    (void)obj_cast(arg, struct http_server, HTTP_SERVER_MAGIC);
    struct http_req *req = obj_cast(*slot, struct http_req, HTTP_REQ_MAGIC);
    (void)url;
    if (!req->conn) {
        if (http_request_open(req, conn, method, version))
            return MHD_YES;
        http_peer_served(req->peer);
        http_reply_header(req, MHD_HTTP_HEADER_CONNECTION, "close");
        http_reply_refuse(req);
        return http_reply_send(req);
    }
    if (req->is_cut)
        return MHD_NO;
    if (*upload_len > 0) {
        bool go_on = http_request_take_body(req, upload, *upload_len);
        *upload_len = 0;
        return go_on ? MHD_YES : MHD_NO;
    }
    if (req->is_refused_raw)
        return MHD_NO;
    if (req->phase == HTTP_READING)
        handle_request(req);
    if (req->reply)
        return http_reply_send(req);
    http_request_suspend(req);
    return MHD_YES;
}

/** The answer was sent, or the connection is over. */
static void on_completed(void *arg, struct MHD_Connection *conn, void **slot,
                         enum MHD_RequestTerminationCode how)
{
    (void)obj_cast(arg, struct http_server, HTTP_SERVER_MAGIC);
    (void)conn;
    (void)how;
    if (!*slot)
        return;
    struct http_req *req = obj_cast(*slot, struct http_req, HTTP_REQ_MAGIC);
    *slot = NULL;
    if (req->peer)
        http_peer_await_head(req->peer);
    http_request_closed(req);
    if (!req->promised) {
        http_request_free(req);
        return;
    }
    http_body_leave(req);
    TAILQ_REMOVE(&req->server->reqs, req, link);
    req->server = NULL;
    req->conn = NULL;
    req->peer = NULL;
    req->suspended = false;
}

/* ---- driving libmicrohttpd from the loop ---- */

static void server_end(struct http_server *s);

/** Whether an answer is still under way; a request that is only being read does not hold a stop up. */
static bool has_answers_open(const struct http_server *s)
{
    const struct http_req *req;
    TAILQ_FOREACH (req, &s->reqs, link) {
        if (req->phase != HTTP_READING)
            return true;
    }
    return false;
}

/** Ask to be called when libmicrohttpd's next time-out is due. */
static void arm_timer(struct http_server *s)
{
    MHD_UNSIGNED_LONG_LONG wait_ms = 0;
    bool is_due = MHD_get_timeout(s->mhd, &wait_ms) == MHD_YES;
    MHD_UNSIGNED_LONG_LONG limit_ms =
        s->stopping ? STOP_GRACE_MS : 0; /* 0: a handler has just asked for the stop */
    if (s->stop_asked && (!is_due || wait_ms > limit_ms)) {
        is_due = true;
        wait_ms = limit_ms;
    }
    if (is_due)
        run_timer_start(s->timer, wait_ms, 0);
    else
        run_timer_stop(s->timer);
}

/**
 * While requests keep coming, their connections are looked at again at once: the way through the loop, which asks two epolls in
 * place of one, is a tenth of what a short request takes.
 */
static void run_mhd(struct http_server *s)
{
    int64_t limit_us = run_now_us() + TURN_US;
    uint64_t n_before;
    do {
        n_before = s->n_requests;
        enum MHD_Result is_run = MHD_run(s->mhd);
        BUG_IF(is_run != MHD_YES);
    } while (s->n_requests != n_before && !s->stop_asked && run_now_us() < limit_us);
}

void http_server_count(struct http_server *s, int id, int64_t n)
{
    if (s->def.metrics)
        metric_add(s->def.metrics, s->def.first_metric + id, n);
}

int64_t http_server_now_ms(const struct http_server *s)
{
    return (int64_t)uv_now(run_loop_uv(s->loop));
}

void http_server_turn(struct http_server *s)
{
    s->in_turn = true;
    run_mhd(s);
    s->in_turn = false;
    if (s->stopping && (!has_answers_open(s) || run_now_ms() >= s->stop_limit_ms))
        server_end(s);
    else
        arm_timer(s);
}

void http_server_kick(struct http_server *s)
{
    if (!s->in_turn)
        run_timer_start(s->timer, 0, 0);
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
    (void)status;
    (void)events;
    http_server_turn(obj_cast(poll->data, struct http_server, HTTP_SERVER_MAGIC));
}

/* ---- stop ---- */

void http_server_released(struct http_server *s)
{
    if (--s->n_handles)
        return;
    http_host_stop(s);
    void (*stopped)(void *arg) = s->stopped;
    void *stopped_arg = s->stopped_arg;
    obj_fini(&s->obj);
    http_route_table_fini(&s->routes);
    free(s);
    if (stopped)
        stopped(stopped_arg);
}

void http_server_handle_closed(uv_handle_t *handle)
{
    http_server_released(obj_cast(handle->data, struct http_server, HTTP_SERVER_MAGIC));
}

/** Cut what is left and release the server. */
static void server_end(struct http_server *s)
{
    uv_close((uv_handle_t *)&s->poll, http_server_handle_closed);
    s->in_turn = true; /* nothing may kick the timer any more */
    run_timer_free(s->timer);
    MHD_stop_daemon(s->mhd);
    BUG_IF(!TAILQ_EMPTY(&s->reqs) || s->n_peers || s->n_body_bytes);
    run_timer_free(s->sweep);
    run_timer_free(s->drain);
    map_fini(&s->addresses, NULL);
    http_request_free_spare(s);
}

/** Tell the owner of a request that it is over, and give the client an answer or the end of the stream. */
static void stop_request(struct http_req *req)
{
    bool was_waiting = req->phase == HTTP_WAITING && !req->reply;
    http_request_closed(req);
    if (was_waiting) {
        struct err_info why;
        int code = err_set(&why, ERR_CANCELLED, NULL, "the server is stopping");
        http_reply_set_error(req, err_http_status(code), code, &why);
    }
    http_request_resume(req);
}

static void begin_stop(struct http_server *s)
{
    s->stopping = true;
    s->stop_limit_ms = run_now_ms() + STOP_GRACE_MS;
    http_accept_stop(s);
    struct http_req *req, *next;
    for (req = TAILQ_FIRST(&s->reqs); req; req = next) {
        next = TAILQ_NEXT(req, link);
        if (req->phase != HTTP_READING)
            stop_request(req);
        else if (req->is_drained)
            http_peer_end(req->peer);
    }
}

static void on_timer(void *arg)
{
    struct http_server *s = obj_cast(arg, struct http_server, HTTP_SERVER_MAGIC);
    if (s->stop_asked && !s->stopping)
        begin_stop(s);
    http_server_turn(s);
}

void http_server_stop(struct http_server *s, void (*stopped)(void *arg), void *arg)
{
    BUG_IF(s->stop_asked);
    s->stop_asked = true;
    s->stopped = stopped;
    s->stopped_arg = arg;
    run_timer_start(s->timer, 0, 0);
}

/* ---- start ---- */

static int read_address(const struct http_server_def *def, struct addr *addr, uint16_t *port,
                        struct err_info *why)
{
    mem_auto char *host = NULL;
    if (addr_split_host_port(def->listen, 0, &host, port) != 0)
        return err_set(why, ERR_CONFIG, def->listen, "listen address is not host:port");
    const char *literal = strcmp(host, "localhost") == 0 ? "127.0.0.1" : host;
    if (addr_read(literal, addr) != 0)
        return err_set(why, ERR_CONFIG, def->listen,
                       "listen address needs an IP address or localhost, not \"%s\"", host);
    if (def->allow_remote || addr_is_loopback(addr))
        return 0;
    return err_set(
        why, ERR_CONFIG, def->listen,
        "%s is no loopback address, and requests are not authenticated: listen on 127.0.0.1, or allow it "
        "with %s",
        host, def->allow_remote_key ? def->allow_remote_key : "the option for remote access");
}

/** Turn errno of a failed bind into an error that names the option to change. */
static int bind_error(const struct http_server_def *def, int err, struct err_info *why)
{
    const char *key = def->listen_key ? def->listen_key : "the listen address";
    if (err == EADDRINUSE)
        return err_set(why, ERR_ADDRINUSE, def->listen,
                       "something listens at %s already: stop it, or set %s to another address", def->listen,
                       key);
    if (err == EADDRNOTAVAIL)
        return err_set(why, ERR_CONFIG, def->listen, "this host has no address for %s: change %s",
                       def->listen, key);
    return err_set(why, ERR_IO, def->listen, "cannot listen at %s: %s", def->listen, strerror(err));
}

/** @return a listening socket; or ERR_* with *why filled. *port: the one that is bound. */
static int open_socket(const struct http_server_def *def, struct addr *addr, uint16_t *port,
                       struct err_info *why)
{
    int rc = read_address(def, addr, port, why);
    if (rc != 0)
        return rc;
    struct sockaddr_storage sa;
    socklen_t sa_len = addr_to_sockaddr(addr, *port, &sa);
    int fd = socket(addr->family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return err_set(why, ERR_IO, def->listen, "cannot make a socket: %s", strerror(errno));
    const int on = 1;
    bool is_bound = setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
                    bind(fd, (struct sockaddr *)&sa, sa_len) == 0 && listen(fd, SOMAXCONN) == 0;
    sa_len = sizeof(sa);
    if (!is_bound || getsockname(fd, (struct sockaddr *)&sa, &sa_len) != 0 ||
        addr_from_sockaddr((struct sockaddr *)&sa, addr, port) != 0) {
        rc = bind_error(def, errno, why);
        close(fd);
        return rc;
    }
    return fd;
}

static struct MHD_Daemon *start_mhd(struct http_server *s)
{
    int64_t timeout_ms = s->def.send_timeout_ms ? s->def.send_timeout_ms : SEND_TIMEOUT_MS;
    /* The logger comes first: it is used for what the others have to say. */
    return MHD_start_daemon(MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG |
                                MHD_USE_NO_LISTEN_SOCKET,
                            0, NULL, NULL, on_request, s,                                //
                            MHD_OPTION_EXTERNAL_LOGGER, on_log, NULL,                    //
                            MHD_OPTION_UNESCAPE_CALLBACK, on_unescape, NULL,             //
                            MHD_OPTION_URI_LOG_CALLBACK, on_target, s,                   //
                            MHD_OPTION_NOTIFY_CONNECTION, on_connection, s,              //
                            MHD_OPTION_NOTIFY_COMPLETED, on_completed, s,                //
                            MHD_OPTION_CONNECTION_LIMIT, (unsigned)HTTP_CONNECTIONS_MAX, //
                            MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEM_BYTES,
                            MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)((timeout_ms + 999) / 1000), //
                            MHD_OPTION_END);
}

static struct http_server *server_new(struct run_loop *loop, const struct http_server_def *def, uint16_t port)
{
    struct http_server *s = mem_new(struct http_server);
    obj_init(&s->obj, HTTP_SERVER_MAGIC);
    TAILQ_INIT(&s->reqs);
    TAILQ_INIT(&s->spare);
    TAILQ_INIT(&s->bodies);
    TAILQ_INIT(&s->drained);
    s->loop = loop;
    s->def = *def;
    s->port = port;
    http_route_table_add(&s->routes, def->routes, def->n_routes, def->options);
    http_route_table_add(&s->routes, def->more_routes, def->n_more_routes, def->options);
    if (!def->limits.body_budget)
        s->def.limits = (struct http_limits){"",
                                             HTTP_BODY_BUDGET,
                                             HTTP_BODY_MIN_RATE,
                                             HTTP_BODY_WINDOW_MS,
                                             HTTP_HEAD_TIMEOUT_MS,
                                             HTTP_PER_ADDRESS,
                                             def->limits.hosts};
    s->body_budget = http_body_budget(&s->def.limits, &s->routes);
    return s;
}

int http_server_start(struct run_loop *loop, const struct http_server_def *def, struct http_server **out,
                      struct err_info *why)
{
    uint16_t port = 0;
    struct addr bound;
    int fd = open_socket(def, &bound, &port, why);
    if (fd < 0)
        return fd;
    struct http_server *s = server_new(loop, def, port);
    s->mhd = start_mhd(s);
    if (!s->mhd) {
        int err = errno;
        close(fd);
        http_route_table_fini(&s->routes);
        free(s);
        return err_set(why, ERR_IO, def->listen, "cannot start the HTTP server: %s", strerror(err));
    }
    int epoll_fd = MHD_get_daemon_info(s->mhd, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
    int rc = uv_poll_init(run_loop_uv(loop), &s->poll, epoll_fd);
    BUG_IF(rc != 0); /* an epoll descriptor can be polled, and is not polled twice */
    s->poll.data = s;
    s->n_handles = 1;
    s->bound = bound;
    http_host_start(s);
    s->timer = run_timer_new(loop, on_timer, s);
    s->sweep = run_timer_new(loop, http_peer_sweep, s);
    s->drain = run_timer_new(loop, http_body_drain, s);
    http_accept_start(s, fd);
    uv_poll_start(&s->poll, UV_READABLE, on_readable);
    http_server_kick(s);
    mem_auto char *host = mem_strn(def->listen, (size_t)(strrchr(def->listen, ':') - def->listen));
    log_emit(&ev_http_listening, LOG_STR("address", host), LOG_INT("port", port));
    *out = s;
    return 0;
}

uint16_t http_server_port(const struct http_server *s)
{
    return s->port;
}

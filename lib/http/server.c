#include "http/http_priv.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/addr.h"
#include "http/proxy_users.h"
#include "run/log.h"

/** How long answers under way may take after http_server_stop before their connections are cut. */
#define STOP_GRACE_MS   3000
#define SEND_TIMEOUT_MS 30000
#define REPEAT_MS       60000

#define HTTP_EVENTS(X) X(http_listening, LOG_INFO, "Listens for HTTP requests.")
LOG_DECLARE(HTTP_EVENTS)

/* ---- the steps of a request ---- */

static struct http_exchange *on_begin(void *arg, const char *target, size_t len)
{
    struct http_server *s = obj_cast(arg, struct http_server, HTTP_SERVER_MAGIC);
    s->n_requests++;
    struct http_req *req = http_request_new(s, target, len);
    req->begun_us = run_now_us();
    return &req->exchange;
}

static bool on_head(struct http_exchange *x, void *peer)
{
    struct http_peer *p = obj_cast(peer, struct http_peer, HTTP_PEER_MAGIC);
    struct http_req *req = http_request_of(x);
    req->peer = p;
    if (http_check_head(req))
        return true;
    http_peer_served(p);
    http_reply_header(req, "Connection", "close");
    http_reply_refuse(req);
    req->phase = HTTP_REPLYING;
    return false;
}

static bool on_piece(struct http_exchange *x, const char *bytes, size_t len)
{
    struct http_req *req = http_request_of(x);
    if (!req->is_cut)
        http_check_piece(req, bytes, len);
    return !req->is_cut;
}

static void reply_stopping(struct http_req *req)
{
    struct err_info why;
    int code = http_replay_is_begun(req) ? err_set(&why, ERR_UNKNOWN_OUTCOME, NULL,
                                                   "the server is stopping while this is being done")
                                         : err_set(&why, ERR_CANCELLED, NULL, "the server is stopping");
    http_reply_set_error(req, err_http_status(code), code, &why);
}

/** Nothing is in the way of the request any more: refuse it, or have its row answer it, now or later. */
static void dispatch(struct http_req *req)
{
    if (req->refusal)
        http_reply_refuse(req);
    else
        req->match.route->row->handle(req, req->server->def.app);
    BUG_IF(!req->exchange.reply &&
           req->phase != HTTP_WAITING); /* a handler neither answered nor said "later" */
}

/** Other processes have said whether they have taken it. */
static void on_shared(struct http_req *req, enum http_replay_verdict verdict, const struct err_info *why)
{
    req->phase = HTTP_HANDLING;
    if (verdict == HTTP_REPLAY_KNOWN)
        http_reply_found(req);
    else if (verdict == HTTP_REPLAY_FAILED)
        http_reply_set_error(req, err_http_status(ERR_UNAVAILABLE), ERR_UNAVAILABLE, why);
    else
        dispatch(req);
}

/** It is known whether the caller may act for others: answer the request, or have somebody answer it later. */
static void run_handler(struct http_req *req)
{
    if (req->server->stopping) {
        reply_stopping(req);
        return;
    }
    switch (http_replay_find(req, http_user(req), on_shared)) {
    case HTTP_REPLAY_KNOWN: http_reply_repeat(req); break;
    case HTTP_REPLAY_AWAITED:
    case HTTP_REPLAY_ASKED: req->phase = HTTP_WAITING; break;
    default: dispatch(req);
    }
}

/** The whole request is here. */
static void handle(struct http_req *req)
{
    req->phase = HTTP_HANDLING;
    http_body_whole(req);
    http_peer_served(req->peer);
    http_check_body(req);
    if (req->is_caller_open && !req->refusal && !req->server->stopping)
        http_caller_look_up(req, run_handler);
    else
        run_handler(req);
    http_guard_begin(req);
}

static bool on_whole(struct http_exchange *x)
{
    struct http_req *req = http_request_of(x);
    if (req->is_cut || req->is_refused_past)
        return false;
    if (req->phase == HTTP_READING)
        handle(req);
    if (x->reply)
        req->phase = HTTP_REPLYING;
    return true;
}

static void on_upgraded(struct http_exchange *x, int fd, const char *early, size_t len)
{
    http_upgrade_begin(http_request_of(x), fd, early, len);
}

static void on_completed(struct http_exchange *x)
{
    struct http_req *req = http_request_of(x);
    if (req->peer)
        http_peer_await_head(req->peer);
    http_request_log(req);
    http_guard_end(req);
    http_reply_leave(req);
    http_request_closed(req);
    if (req->promised)
        http_request_orphan(req);
    else
        http_request_free(req);
}

static void on_closed(void *peer)
{
    http_peer_free(obj_cast(peer, struct http_peer, HTTP_PEER_MAGIC));
}

static const struct http_mhd_ops steps = {on_begin,    on_head,      on_piece, on_whole,
                                          on_upgraded, on_completed, on_closed};

/* ---- stop ---- */

static void on_handle_closed(uv_handle_t *handle)
{
    struct http_server *s = obj_cast(handle->data, struct http_server, HTTP_SERVER_MAGIC);
    if (--s->n_handles)
        return;
    void (*stopped)(void *arg) = s->stopped;
    void *stopped_arg = s->stopped_arg;
    http_route_table_fini(&s->routes);
    free(s->durations);
    obj_fini(&s->obj);
    free(s);
    if (stopped)
        stopped(stopped_arg);
}

/** Cut what is left and release the server. */
static void server_end(struct http_server *s)
{
    http_poll_stop(s, on_handle_closed);
    run_timer_free(s->stop);
    http_mhd_stop(s->mhd);
    BUG_IF(!TAILQ_EMPTY(&s->reqs) || s->n_peers || s->n_body_bytes);
    http_replay_free_all(s);
    run_timer_free(s->forget);
    run_timer_free(s->guard);
    run_timer_free(s->sweep);
    run_timer_free(s->drain);
    map_fini(&s->addresses, NULL);
    http_host_free(s->host);
    http_request_free_spare(s);
}

/** End when no answer is under way; a request that is only being read does not hold a stop up. */
static bool end_if_idle(struct http_server *s)
{
    const struct http_req *req;
    TAILQ_FOREACH (req, &s->reqs, link) {
        if (req->phase != HTTP_READING)
            return false;
    }
    server_end(s);
    return true;
}

/** Say to the owner of a request that it is over, and give the client an answer or the end of the stream. */
static void stop_request(struct http_req *req)
{
    bool was_waiting = req->phase == HTTP_WAITING && !req->exchange.reply;
    http_request_closed(req);
    if (was_waiting)
        reply_stopping(req);
    http_upgrade_stop(req);
    http_request_resume(req);
}

static void begin_stop(struct http_server *s)
{
    struct http_req *req, *next;
    s->stopping = true;
    s->is_over = end_if_idle;
    http_accept_stop(s, on_handle_closed);
    for (req = TAILQ_FIRST(&s->reqs); req; req = next) {
        next = TAILQ_NEXT(req, link);
        if (req->phase != HTTP_READING)
            stop_request(req);
        else if (req->is_drained)
            http_disconnect_end(req->peer);
    }
    run_timer_start(s->stop, STOP_GRACE_MS, 0);
    http_poll_run(s);
}

static void on_stop(void *arg)
{
    struct http_server *s = obj_cast(arg, struct http_server, HTTP_SERVER_MAGIC);
    if (s->stopping)
        server_end(s);
    else
        begin_stop(s);
}

void http_server_stop(struct http_server *s, void (*stopped)(void *arg), void *arg)
{
    BUG_IF(s->stop_asked);
    s->stop_asked = true;
    s->stopped = stopped;
    s->stopped_arg = arg;
    run_timer_start(s->stop, 0, 0);
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

void http_server_check(const struct options *o, const struct http_server_def *def, struct opt_report *report)
{
    struct addr addr;
    uint16_t port;
    struct err_info why;
    if (read_address(def, &addr, &port, &why)) {
        opt_error(o, def->listen_key, &why, report);
    } else if (!addr_is_loopback(&addr)) {
        err_set(&why, ERR_CONFIG, def->allow_remote_key,
                "requests are not authenticated: everybody who reaches %s can %s", def->listen,
                def->remote_may);
        opt_warning(o, def->allow_remote_key, &why, report);
    }
    proxy_users_report(o, report);
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
    bool is_bound = setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
                    bind(fd, (struct sockaddr *)&sa, sa_len) == 0 && listen(fd, SOMAXCONN) == 0;
    sa_len = sizeof sa;
    if (!is_bound || getsockname(fd, (struct sockaddr *)&sa, &sa_len) != 0 ||
        addr_from_sockaddr((struct sockaddr *)&sa, addr, port) != 0) {
        rc = bind_error(def, errno, why);
        close(fd);
        return rc;
    }
    return fd;
}

static struct http_server *server_new(struct run_loop *loop, const struct http_server_def *def, uint16_t port)
{
    struct http_server *s = mem_new(struct http_server);
    obj_init(&s->obj, HTTP_SERVER_MAGIC);
    TAILQ_INIT(&s->reqs);
    TAILQ_INIT(&s->spare);
    TAILQ_INIT(&s->bodies);
    TAILQ_INIT(&s->drained);
    TAILQ_INIT(&s->replays);
    TAILQ_INIT(&s->guarded);
    s->loop = loop;
    s->def = *def;
    s->port = port;
    http_route_table_add(&s->routes, def->routes, def->n_routes, def->options);
    http_route_table_add(&s->routes, def->more_routes, def->n_more_routes, def->options);
    s->durations = mem_array(s->routes.n + 1, sizeof *s->durations);
    if (!def->limits.body_budget)
        s->def.limits = (struct http_limits){"",
                                             HTTP_BODY_BUDGET,
                                             HTTP_BODY_MIN_RATE,
                                             HTTP_BODY_WINDOW_MS,
                                             HTTP_HEAD_TIMEOUT_MS,
                                             HTTP_PER_ADDRESS,
                                             def->limits.hosts};
    if (!def->send_timeout_ms)
        s->def.send_timeout_ms = SEND_TIMEOUT_MS;
    if (!def->repeat_ms)
        s->def.repeat_ms = REPEAT_MS;
    s->body_budget = http_budget_size(&s->def.limits, &s->routes);
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
    s->mhd = http_mhd_start(&steps, s, (unsigned)((s->def.send_timeout_ms + 999) / 1000));
    if (!s->mhd) {
        int err = errno;
        close(fd);
        http_route_table_fini(&s->routes);
        free(s->durations);
        free(s);
        return err_set(why, ERR_IO, def->listen, "cannot start the HTTP server: %s", strerror(err));
    }
    s->host = http_host_new(loop, &bound, s->def.limits.hosts, s->def.limits.prefix);
    s->stop = run_timer_new(loop, on_stop, s);
    s->sweep = run_timer_new(loop, http_disconnect_slow, s);
    s->drain = run_timer_new(loop, http_disconnect_drain, s);
    s->forget = run_timer_new(loop, http_replay_forget, s);
    s->guard = run_timer_new(loop, http_guard_look, s);
    http_accept_start(s, fd);
    http_poll_start(s);
    mem_auto char *host = mem_strn(def->listen, (size_t)(strrchr(def->listen, ':') - def->listen));
    log_emit(&ev_http_listening, LOG_STR("address", host), LOG_INT("port", port));
    *out = s;
    return 0;
}

uint16_t http_server_port(const struct http_server *s)
{
    return s->port;
}

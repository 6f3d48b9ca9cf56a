#include "http/http_priv.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "run/degraded.h"
#include "run/fdlimit.h"

/** Connections taken before others have their turn. */
#define ACCEPT_BATCH 64
/** Pause of accepting when descriptors are short and no idle connection can be closed. */
#define PAUSE_MS 100
/** Purpose of descriptors, named when they are short. */
#define FOR "HTTP connections"

static const char refusal[] = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\n"
                              "Content-Length: 0\r\n\r\n";

/** Answer a connection that cannot be served, as far as it takes that now. */
static void refuse(struct http_server *s, int fd)
{
    http_server_count(s, M_HTTP_REFUSED, 1);
    (void)send(fd, refusal, sizeof refusal - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
    (void)shutdown(fd, SHUT_WR);
    close(fd);
}

/** Another connection gives its descriptor back. @return false: none can. */
static bool evict(struct http_server *s)
{
    if (!http_disconnect_idlest(s))
        return false;
    http_poll_run(s);
    return true;
}

static void on_connectable(uv_poll_t *poll, int status, int events);

static void listen_on(void *arg)
{
    struct http_server *s = obj_cast(arg, struct http_server, HTTP_SERVER_MAGIC);
    s->is_accept_paused = false;
    int rc = uv_poll_start(&s->listener, UV_READABLE, on_connectable);
    BUG_IF(rc != 0);
}

static void pause_accepting(struct http_server *s)
{
    s->is_accept_paused = true;
    uv_poll_stop(&s->listener);
    run_timer_start(s->accept_timer, PAUSE_MS, 0);
}

/**
 * Whether a new connection may stay, when there are too many: in place of an idle one; else in the reserve's first half, after
 * which the next ones wait in the kernel's queue until somebody is idle.
 */
static bool has_room(struct http_server *s, int fd)
{
    bool is_full = s->n_peers >= HTTP_CONNECTIONS_MAX;
    if (!is_full && !fdlimit_is_short(fd, 1))
        return true;
    degraded_report(EMFILE, FOR);
    if (evict(s))
        return true;
    pause_accepting(s);
    return !is_full && !fdlimit_is_short(fd, 2);
}

static void take(struct http_server *s, int fd, const struct sockaddr_storage *sa, socklen_t sa_len)
{
    struct addr from;
    uint16_t port;
    size_t max = s->def.limits.per_address;
    if (addr_from_sockaddr((const struct sockaddr *)sa, &from, &port) != 0 ||
        (max && http_peer_count(s, &from) >= max) || !has_room(s, fd)) {
        refuse(s, fd);
        return;
    }
    struct http_peer *p = http_peer_new(s, fd, &from);
    if (!http_mhd_add(s->mhd, fd, (const struct sockaddr *)sa, sa_len, p))
        http_peer_free(p);
}

/** @return whether to go on accepting. */
static bool accept_failed(struct http_server *s, int err)
{
    if (err == EAGAIN || err == EWOULDBLOCK)
        return false;
    if (err != EMFILE && err != ENFILE && err != ENOBUFS && err != ENOMEM)
        return true; /* that connection has ended already */
    degraded_report(err, FOR);
    if (!evict(s))
        pause_accepting(s);
    return false;
}

static void on_connectable(uv_poll_t *poll, int status, int events)
{
    struct http_server *s = obj_cast(poll->data, struct http_server, HTTP_SERVER_MAGIC);
    (void)status, (void)events;
    bool goes_on = true;
    for (int n = 0; goes_on && !s->is_accept_paused && n < ACCEPT_BATCH; n++) {
        struct sockaddr_storage sa;
        socklen_t sa_len = sizeof sa;
        int fd = accept4(s->listen_fd, (struct sockaddr *)&sa, &sa_len, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0)
            goes_on = accept_failed(s, errno);
        else
            take(s, fd, &sa, sa_len);
    }
    http_poll_run(s);
}

void http_accept_start(struct http_server *s, int take_fd)
{
    s->listen_fd = take_fd;
    s->accept_timer = run_timer_new(s->loop, listen_on, s);
    int rc = uv_poll_init(run_loop_uv(s->loop), &s->listener, take_fd);
    BUG_IF(rc != 0); /* a socket can be polled */
    s->listener.data = s;
    s->n_handles++;
    listen_on(s);
}

void http_accept_stop(struct http_server *s, uv_close_cb closed)
{
    run_timer_free(s->accept_timer);
    s->accept_timer = NULL;
    uv_close((uv_handle_t *)&s->listener, closed);
    close(s->listen_fd);
}

#include "http/http_priv.h"

/** How long requests that keep coming may hold the loop up. */
#define POLL_US 500

/**
 * While requests keep coming, their connections are looked at again at once: the way through the loop, which asks two epolls in
 * place of one, is a tenth of what a short request takes.
 */
static void run_library(struct http_server *s)
{
    int64_t limit_us = run_now_us() + POLL_US;
    uint64_t n_before;
    do {
        n_before = s->n_requests;
        http_mhd_run(s->mhd);
    } while (s->n_requests != n_before && !s->stop_asked && run_now_us() < limit_us);
}

void http_poll_run(struct http_server *s)
{
    uint64_t wait_ms;
    s->in_turn = true;
    run_library(s);
    s->in_turn = false;
    if (s->stopping && s->is_over(s))
        return;
    if (http_mhd_timeout(s->mhd, &wait_ms))
        run_timer_start(s->timer, wait_ms, 0);
    else
        run_timer_stop(s->timer);
}

void http_poll_kick(struct http_server *s)
{
    if (!s->in_turn)
        run_timer_start(s->timer, 0, 0);
}

static void on_timer(void *arg)
{
    http_poll_run(obj_cast(arg, struct http_server, HTTP_SERVER_MAGIC));
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
    (void)status;
    (void)events;
    http_poll_run(obj_cast(poll->data, struct http_server, HTTP_SERVER_MAGIC));
}

void http_poll_start(struct http_server *s)
{
    int rc = uv_poll_init(run_loop_uv(s->loop), &s->poll, http_mhd_fd(s->mhd));
    BUG_IF(rc != 0); /* an epoll descriptor can be polled, and is not polled twice */
    s->poll.data = s;
    s->n_handles++;
    s->timer = run_timer_new(s->loop, on_timer, s);
    uv_poll_start(&s->poll, UV_READABLE, on_readable);
    http_poll_kick(s);
}

void http_poll_stop(struct http_server *s, uv_close_cb closed)
{
    uv_close((uv_handle_t *)&s->poll, closed);
    s->in_turn = true; /* nothing may kick the timer any more */
    run_timer_free(s->timer);
}

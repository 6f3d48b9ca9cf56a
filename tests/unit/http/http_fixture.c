#include "http_fixture.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"

#define PATIENCE_MS 60000

static void on_late(void *arg)
{
    struct fixture *fx = arg;
    fx->is_late = true;
}

/** Looks at the condition before the loop sleeps: what came true in a timer must not wait for the next event. */
static void on_prepare(uv_prepare_t *prepare)
{
    struct fixture *fx = prepare->data;
    if (fx->is_late || fx->cond(fx->cond_arg))
        uv_stop(prepare->loop);
}

void fixture_await_fn(struct fixture *fx, bool (*cond)(void *arg), void *arg)
{
    fx->cond = cond;
    fx->cond_arg = arg;
    fx->is_late = false;
    run_timer_start(fx->guard, PATIENCE_MS, 0);
    uv_prepare_start(&fx->prepare, on_prepare);
    run_loop_run(fx->loop);
    uv_prepare_stop(&fx->prepare);
    run_timer_stop(fx->guard);
    if (!cond(arg))
        fail_msg("the awaited condition did not come true in time");
}

static bool flag_is_set(void *arg)
{
    return *(const bool *)arg;
}

void fixture_await(struct fixture *fx, const bool *flag)
{
    fixture_await_fn(fx, flag_is_set, (void *)(uintptr_t)flag);
}

void fixture_spin(struct fixture *fx)
{
    uv_run(run_loop_uv(fx->loop), UV_RUN_NOWAIT);
}

void fixture_start(struct fixture *fx, const struct http_route *routes, size_t n_routes, void *app,
                   const struct http_server_def *def)
{
    struct http_server_def d = def ? *def : (struct http_server_def){0};
    struct err_info why = {0};
    *fx = (struct fixture){0};
    fx->loop = run_loop_new();
    fx->guard = run_timer_new(fx->loop, on_late, fx);
    uv_prepare_init(run_loop_uv(fx->loop), &fx->prepare);
    fx->prepare.data = fx;
    fx->client = http_client_new(fx->loop);
    d.listen = "127.0.0.1:0";
    d.static_user = "carol";
    if (!d.limits.hosts)
        d.limits.hosts = "h, server.example.";
    d.routes = routes;
    d.n_routes = n_routes;
    d.app = app;
    int rc = http_server_start(fx->loop, &d, &fx->server, &why);
    if (rc != 0)
        fail_msg("server does not start: %s", why.text);
    fx->port = http_server_port(fx->server);
    assert_int_not_equal(fx->port, 0);
}

static void on_stopped(void *arg)
{
    struct fixture *fx = arg;
    fx->is_stopped = true;
}

void fixture_stop_server(struct fixture *fx)
{
    http_server_stop(fx->server, on_stopped, fx);
    fx->server = NULL;
    fixture_await(fx, &fx->is_stopped);
}

void fixture_end(struct fixture *fx)
{
    if (fx->server)
        fixture_stop_server(fx);
    if (fx->client)
        http_client_free(fx->client);
    uv_close((uv_handle_t *)&fx->prepare, NULL);
    run_timer_free(fx->guard);
    run_loop_free(fx->loop);
}

/* ---- raw connections ---- */

static void on_raw_readable(uv_poll_t *poll, int status, int events)
{
    struct raw *r = poll->data;
    (void)status;
    (void)events;
    char *room = buf_room(&r->in, 65536);
    ssize_t n = recv(r->fd, room, 65536, MSG_DONTWAIT);
    if (n > 0) {
        r->in.len += (size_t)n;
        room[n] = '\0';
        return;
    }
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    r->is_ended = true;
    uv_poll_stop(poll);
}

struct raw *raw_open(struct fixture *fx)
{
    struct raw *r = mem_new(struct raw);
    struct sockaddr_in sa = {.sin_family = AF_INET, .sin_port = htons(fx->port)};
    sa.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    r->fx = fx;
    r->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(r->fd >= 0);
    assert_int_equal(connect(r->fd, (struct sockaddr *)&sa, sizeof sa), 0);
    r->poll = mem_new(uv_poll_t);
    assert_int_equal(uv_poll_init(run_loop_uv(fx->loop), r->poll, r->fd), 0);
    r->poll->data = r;
    raw_resume(r);
    return r;
}

void raw_pause(struct raw *r)
{
    uv_poll_stop(r->poll);
}

void raw_resume(struct raw *r)
{
    uv_poll_start(r->poll, UV_READABLE, on_raw_readable);
}

void raw_send(struct raw *r, const char *bytes, size_t len)
{
    while (len > 0 && !r->is_ended) {
        ssize_t n = send(r->fd, bytes, len, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0 && errno != EAGAIN)
            return; /* the peer has closed; the test sees it by what came before */
        if (n > 0)
            bytes += n, len -= (size_t)n;
        else
            fixture_spin(r->fx);
    }
}

void raw_send_str(struct raw *r, const char *text)
{
    raw_send(r, text, strlen(text));
}

struct needle {
    struct raw *raw;
    const char *text;
    size_t n;
};

static bool has_needle(void *arg)
{
    const struct needle *want = arg;
    const char *at = buf_cstr(&want->raw->in);
    size_t n = 0;
    while (n < want->n && (at = strstr(at, want->text))) {
        n++;
        at += strlen(want->text);
    }
    return n == want->n || want->raw->is_ended;
}

void raw_await_n(struct raw *r, const char *text, size_t n)
{
    struct needle want = {r, text, n};
    fixture_await_fn(r->fx, has_needle, &want);
    bool was_ended = r->is_ended;
    r->is_ended = false;
    bool is_there = has_needle(&want);
    r->is_ended = was_ended;
    if (!is_there)
        fail_msg("connection ended without \"%s\" (%zu times); it said: %s", text, n, buf_cstr(&r->in));
}

void raw_await(struct raw *r, const char *needle)
{
    raw_await_n(r, needle, 1);
}

void raw_await_end(struct raw *r)
{
    fixture_await(r->fx, &r->is_ended);
}

static void on_poll_closed(uv_handle_t *poll)
{
    free(poll);
}

void raw_close(struct raw *r)
{
    uv_close((uv_handle_t *)r->poll, on_poll_closed);
    close(r->fd);
    buf_fini(&r->in);
    free(r);
}

void raw_reset(struct raw *r)
{
    const struct linger now = {.l_onoff = 1, .l_linger = 0};
    assert_int_equal(setsockopt(r->fd, SOL_SOCKET, SO_LINGER, &now, sizeof now), 0);
    raw_close(r);
}

char *raw_exchange(struct fixture *fx, const char *request)
{
    struct raw *r = raw_open(fx);
    raw_send_str(r, request);
    raw_await_end(r);
    char *text = buf_take(&r->in);
    raw_close(r);
    return text;
}

/* ---- client calls ---- */

void result_done(void *arg, int err, const struct http_answer *a, const struct err_info *why)
{
    struct result *r = arg;
    assert_false(r->is_done);
    r->is_done = true;
    r->err = err;
    r->status = a->status;
    buf_add(&r->body, a->body.bytes, a->body.len);
    r->why = *why;
    const char *header = r->header_name ? a->header(a, r->header_name) : NULL;
    snprintf(r->header, sizeof r->header, "%s", header ? header : "");
}

void call_sync(struct fixture *fx, struct http_call_def def, struct result *out)
{
    const char *header_name = out->header_name;
    buf_fini(&out->body);
    *out = (struct result){.header_name = header_name};
    def.done = result_done;
    def.arg = out;
    assert_non_null(http_call(fx->client, &def));
    assert_false(out->is_done);
    fixture_await(fx, &out->is_done);
}

const char *fixture_url(struct fixture *fx, const char *path)
{
    static char url[1024];
    snprintf(url, sizeof url, "http://127.0.0.1:%u%s", fx->port, path);
    return url;
}

void get_sync(struct fixture *fx, const char *path, struct result *out)
{
    call_sync(fx, (struct http_call_def){.url = fixture_url(fx, path)}, out);
}

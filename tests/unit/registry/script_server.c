#include "script_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/obj.h"

#define FACE "/ws/v1/registry"

enum { PATIENCE_MS = 60000 };

/** A streamed answer on its way. */
struct play {
    const struct step *step;
    size_t sent;
};

static ssize_t play_read(void *arg, char *bytes, size_t max)
{
    struct play *p = arg;
    size_t left = strlen(p->step->body) - p->sent;
    size_t n = left < max ? left : max;

    if (n == 0)
        return p->step->hold ? 0 : -1;
    if (p->step->piece && n > p->step->piece)
        n = p->step->piece;
    memcpy(bytes, p->step->body + p->sent, n);
    p->sent += n;
    return (ssize_t)n;
}

static void play_closed(void *arg)
{
    free(arg);
}

static void ignore_closed(void *arg)
{
    (void)arg;
}

static void log_request(struct script_server *s, struct http_req *req)
{
    static const char *const params[] = {
        "op",    "overwrite", "createParents", "recursive", "mustExist", "limit", "watch",
        "since", "api",       "user",          "id",        "cursor",    "ttl"};
    static const char *const headers[] = {"X-Bobbin-Accessor", "X-Bobbin-Write-Accessors"};
    size_t len = 0;
    const char *body = http_body(req, &len);

    buf_addf(&s->log, "%s %s", http_method(req), http_raw_path(req));
    if (http_user_is_named(req))
        buf_addf(&s->log, " user.name=%s", http_user(req));
    for (size_t i = 0; i < ARRAY_LEN(params); i++)
        if (http_query(req, params[i]))
            buf_addf(&s->log, " %s=%s", params[i], http_query(req, params[i]));
    for (size_t i = 0; i < ARRAY_LEN(headers); i++)
        if (http_header(req, headers[i]))
            buf_addf(&s->log, " %s: %s", headers[i], http_header(req, headers[i]));
    buf_add_char(&s->log, '\n');
    if (len > 0)
        buf_addf(&s->bodies, "%.*s\n", (int)len, body);
}

static void reply_body(struct http_req *req, const struct step *step)
{
    static const struct http_stream_ops ops = {play_read, play_closed};
    const char *media_type = step->status >= 300 ? "application/problem+json" : "application/json";
    struct buf body = BUF_EMPTY;

    if (step->stream) {
        struct play *p = mem_new(struct play);

        p->step = step;
        http_stream_start(req, step->status, "application/x-ndjson", &ops, p);
        return;
    }
    buf_add_str(&body, step->body ? step->body : "");
    http_reply(req, step->status, media_type, &body);
}

/** The first step that is left for this path. */
static const struct step *take_step(struct script_server *s, const char *raw_path)
{
    static const struct step beyond = {.status = 500, .body = "{}"};

    for (size_t i = 0; i < s->n_steps; i++) {
        const char *path = s->steps[i].path;

        if (s->is_taken[i] || (path && strcmp(path, raw_path + strlen(FACE)) != 0))
            continue;
        s->is_taken[i] = true;
        return &s->steps[i];
    }
    return &beyond;
}

static void handle(struct http_req *req, void *app)
{
    struct script_server *s = app;
    const struct step *step = take_step(s, http_raw_path(req));

    s->n_asked++;
    log_request(s, req);
    if (step->status == 0) {
        http_reply_later(req, ignore_closed, s);
        return;
    }
    if (step->revision)
        http_reply_header(req, "Bobbin-Revision", step->revision);
    if (step->applied)
        http_reply_header(req, "Bobbin-Applied", step->applied);
    if (step->secure)
        http_reply_header(req, "Bobbin-Secure", step->secure);
    reply_body(req, step);
}

static const struct http_route routes[] = {
    {"GET", FACE "/*", 0, 0, handle, .summary = "read"},
    {"PUT", FACE "/*", HTTP_JSON_IN, 1 << 20, handle, .summary = "bind"},
    {"POST", FACE "/*", HTTP_JSON_OPTIONAL, 1 << 20, handle, .summary = "mknode"},
    {"DELETE", FACE "/*", 0, 0, handle, .summary = "delete"},
    {"GET", FACE "-find", 0, 0, handle, .summary = "Plays the script."},
    {"POST", FACE "-lease", HTTP_JSON_IN, 1 << 20, handle, .summary = "Plays the script."},
    {"POST", FACE "-admin/*", 0, 1 << 20, handle, .summary = "Plays the script."},
};

void script_start(struct script_server *s, struct run_loop *loop, const struct step *steps, size_t n_steps)
{
    struct http_server_def def = {.listen = "127.0.0.1:0",
                                  .static_user = "nobody",
                                  .routes = routes,
                                  .n_routes = ARRAY_LEN(routes),
                                  .app = s};
    struct err_info why = {0};

    *s = (struct script_server){.loop = loop, .steps = steps, .n_steps = n_steps};
    s->is_taken = mem_array(n_steps + 1, sizeof *s->is_taken);
    if (http_server_start(loop, &def, &s->server, &why))
        fail_msg("server: %s", why.text);
    snprintf(s->url, sizeof s->url, "http://127.0.0.1:%u", http_server_port(s->server));
}

static void on_stopped(void *arg)
{
    struct script_server *s = arg;

    s->is_stopped = true;
}

static bool is_stopped(void *arg)
{
    const struct script_server *s = arg;

    return s->is_stopped;
}

void script_stop(struct script_server *s)
{
    http_server_stop(s->server, on_stopped, s);
    script_await(s->loop, is_stopped, s);
    free(s->is_taken);
    buf_fini(&s->log);
    buf_fini(&s->bodies);
}

static void on_tick(void *arg)
{
    (void)arg; /* only there so that the loop comes back to look at the clock */
}

void script_await(struct run_loop *loop, bool (*cond)(void *arg), void *arg)
{
    struct run_timer *tick = run_timer_new(loop, on_tick, NULL);
    int64_t until_ms = run_now_ms() + PATIENCE_MS;

    run_timer_start(tick, 50, 50);
    while (!cond(arg) && run_now_ms() < until_ms)
        uv_run(run_loop_uv(loop), UV_RUN_ONCE);
    run_timer_free(tick);
    assert_true(cond(arg));
}

/** A socket that is bound to a port of its own and stays so until the program ends: nobody else is given the port. */
static int bound_socket(struct sockaddr_in *a, char out[64])
{
    socklen_t len = sizeof *a;
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    *a = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)a, sizeof *a), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)a, &len), 0);
    snprintf(out, 64, "http://127.0.0.1:%u", ntohs(a->sin_port));
    return fd;
}

void script_dead_url(char out[64])
{
    struct sockaddr_in a;

    (void)bound_socket(&a, out);
}

void script_full_url(char out[64])
{
    struct sockaddr_in a;

    assert_int_equal(listen(bound_socket(&a, out), 0), 0);
    for (int i = 0; i < 4; i++) {
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        assert_true(fd >= 0);
        (void)connect(fd, (struct sockaddr *)&a, sizeof a);
    }
}

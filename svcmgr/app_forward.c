#include "svcmgr/app_forward.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "http/client.h"
#include "svcmgr/app.h"

#define FORWARD_MAGIC OBJ_MAGIC('F', 'R', 'W', 'D')
#define FORWARDS_MAX  1024
#define ANSWER_MAX    ((size_t)64 << 20)
#define ANSWERS_MAX   ((size_t)256 << 20) /* of all that are on their way */

static const char *const sent[] = {"Content-Type",        "Prefer",   "Accept",       "X-Request-Id",
                                   "X-Forwarded-Context", "If-Match", "If-None-Match"};
static const char *const relayed[] = {
    "Retry-After", "Preference-Applied", "Location", "Bobbin-Repeated", "ETag", "Bobbin-Cursor", "Warning",
    "Allow",       "Cache-Control",      "Pragma",   "Expires",         "Date"};

struct forward {
    struct obj obj;
    struct app *app;
    struct http_req *req;   /* NULL: the client went away */
    struct http_call *call; /* NULL: it is not sent yet */
    char *method, *url, *who, *application;
    char *headers[ARRAY_LEN(sent) + 3]; /* ended by NULL */
    struct buf body, answer;            /* answer: of a 2xx */
    size_t n_bytes;                     /* of the answer that came */
    int64_t timeout_ms;
    bool is_too_big;
    void (*failed)(struct app *a, struct http_req *req, const char *who, int code, const char *text);
};

static void forward_free(struct forward *f)
{
    f->app->n_forwards--;
    f->app->n_forward_bytes -= f->n_bytes;
    for (size_t i = 0; f->headers[i]; i++)
        free(f->headers[i]);
    buf_fini(&f->body);
    buf_fini(&f->answer);
    free(f->method);
    free(f->url);
    free(f->who);
    free(f->application);
    obj_fini(&f->obj);
    free(f);
}

static void on_client_closed(void *arg)
{
    struct forward *f = obj_cast(arg, struct forward, FORWARD_MAGIC);

    f->req = NULL;
    if (f->call)
        http_call_cancel(f->call);
}

static void add_header(struct forward *f, char *take_header)
{
    size_t n = 0;

    while (f->headers[n])
        n++;
    f->headers[n] = take_header;
}

static void copy_headers(struct forward *f, const struct http_req *req, const struct forward_def *def)
{
    for (size_t i = 0; i < ARRAY_LEN(sent); i++) {
        if (http_header(req, sent[i]))
            add_header(f, mem_fmt("%s: %s", sent[i], http_header(req, sent[i])));
    }
    if (def->header)
        add_header(f, mem_str(def->header));
    if (def->application)
        add_header(f, mem_fmt(FORWARD_APPLICATION ": %s", def->application));
}

static char *url_of(const struct http_req *req, const struct forward_def *def)
{
    const char *user = def->user ? def->user : http_user_is_named(req) ? http_user(req) : NULL;
    struct buf url = BUF_EMPTY;

    buf_add_str(&url, def->url);
    http_query_copy(req, &url);
    if (user)
        http_query_add(&url, "user.name", user);
    return buf_take(&url);
}

struct forward *app_forward_new(struct app *a, struct http_req *req, const struct forward_def *def)
{
    struct forward *f = mem_new(struct forward);
    size_t len;
    const char *body = http_body(req, &len);

    obj_init(&f->obj, FORWARD_MAGIC);
    f->app = a;
    f->req = req;
    f->method = mem_str(http_method(req));
    f->url = url_of(req, def);
    f->who = mem_str(def->who);
    f->application = mem_str(def->application);
    f->timeout_ms = def->timeout_ms;
    f->failed = def->failed;
    buf_add(&f->body, body, len);
    copy_headers(f, req, def);
    a->n_forwards++;
    http_reply_later(req, on_client_closed, f);
    return f;
}

void app_forward_fail(struct forward *take_f, int code, const char *text)
{
    if (take_f->req)
        take_f->failed(take_f->app, take_f->req, take_f->who, code, text);
    forward_free(take_f);
}

/* ---- the answer ---- */

static void on_piece(void *arg, const char *bytes, size_t len)
{
    struct forward *f = obj_cast(arg, struct forward, FORWARD_MAGIC);

    f->is_too_big = len > ANSWER_MAX - f->answer.len || len > ANSWERS_MAX - f->app->n_forward_bytes;
    if (f->is_too_big) {
        http_call_cancel(f->call);
        return;
    }
    f->n_bytes += len;
    f->app->n_forward_bytes += len;
    buf_add(&f->answer, bytes, len);
}

/** An address may have become that of another master, or of anything. */
static bool is_of_application(const struct forward *f, const struct http_answer *answer)
{
    const char *id = answer->header(answer, FORWARD_APPLICATION);

    return !f->application || (id && strcmp(id, f->application) == 0);
}

static void relay(struct forward *f, const struct http_answer *answer)
{
    for (size_t i = 0; i < ARRAY_LEN(relayed); i++) {
        const char *value = answer->header(answer, relayed[i]);
        if (value)
            http_reply_header(f->req, relayed[i], value);
    }
    if (!f->answer.len)
        buf_add(&f->answer, answer->body.bytes, answer->body.len);
    http_reply(f->req, answer->status, answer->header(answer, "Content-Type"), &f->answer);
}

static void on_answer(void *arg, int err, const struct http_answer *answer, const struct err_info *why)
{
    struct forward *f = obj_cast(arg, struct forward, FORWARD_MAGIC);

    f->call = NULL;
    if (f->is_too_big || err == ERR_TOOBIG) {
        app_forward_fail(f, ERR_TOOBIG, "its answer is too large to be passed on");
    } else if (err) {
        app_forward_fail(f, err, why->text);
    } else if (!is_of_application(f, answer)) {
        app_forward_fail(f, ERR_UNAVAILABLE, "another program answers at its address");
    } else {
        if (f->req)
            relay(f, answer);
        forward_free(f);
    }
}

void app_forward_start(struct forward *take_f)
{
    struct forward *f = take_f;

    if (!f->req) {
        forward_free(f);
        return;
    }
    if (f->app->n_forwards > FORWARDS_MAX) {
        app_forward_fail(f, ERR_LIMIT, "too many requests wait for an answer of others");
        return;
    }
    f->call = http_call(f->app->http, &(struct http_call_def){.method = f->method,
                                                              .url = f->url,
                                                              .headers = (const char *const *)f->headers,
                                                              .body = f->body.bytes,
                                                              .body_len = f->body.len,
                                                              .timeout_ms = f->timeout_ms,
                                                              .max_body = ANSWER_MAX,
                                                              .no_follow = true,
                                                              .on_data = on_piece,
                                                              .done = on_answer,
                                                              .arg = f});
    buf_fini(&f->body);
}

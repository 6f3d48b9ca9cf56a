/** See wait.h. */
#include "wait.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "registry/wire.h"

static const int wait_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGCHLD};

static void on_signal(uv_signal_t *handle, int number)
{
    struct wait *w = obj_cast(handle->data, struct wait, WAIT_MAGIC);

    if (number != SIGCHLD)
        w->is_interrupted = true;
    run_loop_stop(w->loop);
}

static void on_time(void *arg)
{
    struct wait *w = obj_cast(arg, struct wait, WAIT_MAGIC);

    w->is_time_over = true;
    run_loop_stop(w->loop);
}

void wait_open(struct wait *w)
{
    *w = (struct wait){.loop = run_loop_new()};
    obj_init(&w->obj, WAIT_MAGIC);
    w->http = http_client_new(w->loop);
    w->timer = run_timer_new(w->loop, on_time, w);
    for (size_t i = 0; i < ARRAY_LEN(wait_signals); i++) {
        BUG_IF(uv_signal_init(run_loop_uv(w->loop), &w->signals[i]) != 0);
        w->signals[i].data = w;
        BUG_IF(uv_signal_start(&w->signals[i], on_signal, wait_signals[i]) != 0);
    }
}

void wait_sign_in(struct wait *w, const struct cli *cli)
{
    const struct http_login login = {cli->user, cli->password, cli_value(cli, CLI_CA_FILE)};

    http_client_sign_in(w->http, &login);
}

void wait_close(struct wait *w)
{
    for (size_t i = 0; i < ARRAY_LEN(wait_signals); i++)
        uv_close((uv_handle_t *)&w->signals[i], NULL);
    run_timer_free(w->timer);
    http_client_free(w->http);
    run_loop_free(w->loop);
    obj_fini(&w->obj);
}

int wait_event(struct wait *w, int64_t limit_ms)
{
    w->is_time_over = false;
    if (w->is_interrupted)
        return ERR_CANCELLED;
    if (limit_ms >= 0)
        run_timer_start(w->timer, (uint64_t)limit_ms, 0);
    run_loop_run(w->loop);
    run_timer_stop(w->timer);
    return w->is_interrupted ? ERR_CANCELLED : 0;
}

int wait_ms(struct wait *w, int64_t ms)
{
    int64_t end_ms = run_now_ms() + ms;
    int err = 0;

    while (!err && run_now_ms() < end_ms)
        err = wait_event(w, end_ms - run_now_ms());
    return err;
}

/* ---- HTTP ---- */

#define EXCHANGE_MAGIC OBJ_MAGIC('E', 'X', 'C', 'H')

struct exchange {
    struct obj obj;
    struct wait *wait;
    struct wait_answer *answer;
    struct err_info why;
    int err;
    bool is_over;
};

static void copy_header(const struct http_answer *answer, const char *name, char *out, size_t size)
{
    const char *value = answer->status ? answer->header(answer, name) : NULL;

    snprintf(out, size, "%s", value ? value : "");
}

static void on_answer(void *arg, int err, const struct http_answer *answer, const struct err_info *why)
{
    struct exchange *x = obj_cast(arg, struct exchange, EXCHANGE_MAGIC);
    x->err = err;
    x->why = *why;
    x->is_over = true;
    x->answer->status = answer->status;
    buf_add(&x->answer->body, answer->body.bytes, answer->body.len);
    copy_header(answer, "Bobbin-Revision", x->answer->revision, sizeof x->answer->revision);
    copy_header(answer, "Bobbin-Container", x->answer->container, sizeof x->answer->container);
    copy_header(answer, "Bobbin-Log-Size", x->answer->log_size, sizeof x->answer->log_size);
    copy_header(answer, "Bobbin-Log-Id", x->answer->log_id, sizeof x->answer->log_id);
    run_loop_stop(x->wait->loop);
}

void wait_answer_fini(struct wait_answer *a)
{
    buf_fini(&a->body);
}

int wait_http(struct wait *w, const struct http_call_def *def, struct wait_answer *out, struct err_info *why)
{
    struct http_call_def call_def = *def;
    struct exchange x = {.wait = w, .answer = out};

    *out = (struct wait_answer){0};
    obj_init(&x.obj, EXCHANGE_MAGIC);
    call_def.done = on_answer;
    call_def.arg = &x;
    struct http_call *call = http_call(w->http, &call_def);
    while (!x.is_over) {
        if (wait_event(w, -1) && !x.is_over)
            http_call_cancel(call); /* on_answer is called inside */
    }
    if (x.err)
        *why = x.why;
    return x.err;
}

int wait_get(struct wait *w, const struct wire_asked *asked, int64_t timeout_ms, struct wait_answer *out,
             struct err_info *why)
{
    const struct http_call_def def = {.url = asked->url, .timeout_ms = timeout_ms};
    int err = wait_http(w, &def, out, why);

    if (err || out->status == 200)
        return err;
    return wire_read_problem(out->status, buf_cstr(&out->body), out->body.len, asked, why);
}

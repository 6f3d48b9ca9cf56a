/** See wait.h. */
#include "wait.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
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
    w->is_gateway = cli->password != NULL;
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

#define WAIT_CALL_MAGIC OBJ_MAGIC('W', 'C', 'A', 'L')

struct wait_call {
    struct obj obj;
    struct wait *wait;
    struct http_call *call; /* while it is not over */
    struct wait_answer answer;
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
    struct wait_call *c = obj_cast(arg, struct wait_call, WAIT_CALL_MAGIC);
    struct wait_answer *out = &c->answer;

    c->err = err;
    c->why = *why;
    c->is_over = true;
    out->status = answer->status;
    buf_add(&out->body, answer->body.bytes, answer->body.len);
    copy_header(answer, "Bobbin-Revision", out->revision, sizeof out->revision);
    copy_header(answer, "Bobbin-Container", out->container, sizeof out->container);
    copy_header(answer, "Bobbin-Log-Size", out->log_size, sizeof out->log_size);
    copy_header(answer, "Bobbin-Log-Id", out->log_id, sizeof out->log_id);
    out->warning = mem_str(answer->status ? answer->header(answer, "Warning") : NULL);
    run_loop_stop(c->wait->loop);
}

void wait_answer_fini(struct wait_answer *a)
{
    buf_fini(&a->body);
    mem_free_ptr(&a->warning);
}

struct wait_call *wait_http_begin(struct wait *w, const struct http_call_def *def)
{
    struct http_call_def call_def = *def;
    struct wait_call *c = mem_new(struct wait_call);

    c->wait = w;
    obj_init(&c->obj, WAIT_CALL_MAGIC);
    call_def.done = on_answer;
    call_def.arg = c;
    c->call = http_call(w->http, &call_def);
    return c;
}

bool wait_http_is_over(const struct wait_call *call)
{
    return call->is_over;
}

int wait_http_end(struct wait_call *take_call, struct wait_answer *out, struct err_info *why)
{
    struct wait_call *c = take_call;

    while (!c->is_over) {
        if (wait_event(c->wait, -1) && !c->is_over)
            http_call_cancel(c->call); /* on_answer is called inside */
    }
    int err = c->err;
    if (err)
        *why = c->why;
    *out = c->answer;
    obj_fini(&c->obj);
    free(c);
    return err;
}

int wait_http(struct wait *w, const struct http_call_def *def, struct wait_answer *out, struct err_info *why)
{
    return wait_http_end(wait_http_begin(w, def), out, why);
}

int wait_get(struct wait *w, const struct wire_asked *asked, int64_t timeout_ms, struct wait_answer *out,
             struct err_info *why)
{
    const struct http_call_def def = {.url = asked->url, .timeout_ms = timeout_ms};
    const struct wire_asked by_way = {asked->url, asked->program, .is_gateway = w->is_gateway};
    int err = wait_http(w, &def, out, why);

    if (err || out->status == 200)
        return err;
    return wire_read_problem(out->status, buf_cstr(&out->body), out->body.len, &by_way, why);
}

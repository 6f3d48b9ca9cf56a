/** See api.h. */
#include "api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "json/json.h"
#include "out.h"
#include "progress.h"
#include "registry/wire.h"
#include "run/loop.h"
#include "services.h"

#define CALL_TIMEOUT_MS 60000
#define WAIT_LIMIT_MS   300000
#define POLL_MS         200

void api_open(struct cli *cli, struct api *out)
{
    *out = (struct api){.cli = cli, .url = services_url(cli)};
    wait_open(&out->wait);
    wait_sign_in(&out->wait, cli);
}

void api_close(struct api *a)
{
    free(a->url);
    wait_close(&a->wait);
}

/* ---- calls ---- */

/** The error of an answer: its message, or whatever else came. */
static int refused(const struct wire_asked *asked, const struct wait_answer *answer, struct err_info *why)
{
    json_auto json_t *doc = NULL;
    struct err_info ignored;

    if (answer->body.len)
        (void)json_read(answer->body.bytes, answer->body.len, &doc, &ignored);
    const char *message = services_text(doc, "message");
    if (!message[0])
        return wire_read_problem(answer->status, answer->body.bytes, answer->body.len, asked, why);
    return err_set(why, services_code(answer->status), asked->url, "%s, status %d", message, answer->status);
}

/** The texts of a Warning header, one a line. Source: RFC 7234 5.5. */
static void print_warnings(const char *value)
{
    const char *begin = value ? strchr(value, '"') : NULL;

    while (begin && begin[1]) {
        size_t len = strcspn(begin + 1, "\"");
        mem_auto char *text = mem_fmt("bobbin: warning: %.*s", (int)len, begin + 1);
        out_lines_to(stderr, text);
        begin += 1 + len;
        begin = *begin ? strchr(begin + 1, '"') : NULL;
    }
}

static struct wire_asked asked_of(const struct api *a, const struct api_request *r)
{
    return (struct wire_asked){r->url, "svcmgr", strcmp(r->method, "GET") != 0, a->wait.is_gateway};
}

int api_call(struct api *a, const struct api_request *r, struct buf *out, struct err_info *why)
{
    const struct wire_asked asked = asked_of(a, r);
    buf_auto struct buf text = BUF_EMPTY;
    struct wait_answer answer;

    if (r->body)
        json_write(r->body, &text);
    else if (r->form)
        buf_add_str(&text, r->form);
    const struct http_call_def def = {.method = r->method,
                                      .url = r->url,
                                      .headers = r->headers,
                                      .body = text.bytes,
                                      .body_len = text.len,
                                      .max_body = r->max_body,
                                      .timeout_ms = CALL_TIMEOUT_MS};
    int err = wait_http(&a->wait, &def, &answer, why);
    if (!err && answer.status / 100 != 2)
        err = refused(&asked, &answer, why);
    if (!err)
        print_warnings(answer.warning);
    if (!err && out)
        buf_add(out, answer.body.bytes, answer.body.len);
    wait_answer_fini(&answer);
    return err;
}

int api_json(struct api *a, const struct api_request *r, json_t **out, struct err_info *why)
{
    const struct wire_asked asked = asked_of(a, r);
    buf_auto struct buf text = BUF_EMPTY;
    int err = api_call(a, r, out ? &text : NULL, why);

    if (!err && out && json_read(text.bytes, text.len, out, why))
        err = wire_not_readable(&asked, why);
    return err;
}

/* ---- waiting ---- */

int api_wait(struct api *a, const char *name, const struct api_goal *goal, struct err_info *why)
{
    struct progress progress;
    int64_t limit_ms;
    int err = cli_timeout_ms(a->cli, WAIT_LIMIT_MS, &limit_ms, why);
    int64_t end_ms = run_now_ms() + limit_ms;

    if (err)
        return err;
    progress_begin(&progress, cli_has(a->cli, CLI_QUIET));
    while (!err) {
        mem_auto char *line = NULL;
        err = goal->look(goal->arg, name, &line, why);
        if (err || !line)
            break;
        progress_show(&progress, line);
        if (run_now_ms() > end_ms)
            err =
                err_set(why, ERR_TIMEOUT, name, "not done within %.1f s: %s", (double)limit_ms / 1000, line);
        else if (wait_ms(&a->wait, POLL_MS))
            err = err_set(why, ERR_CANCELLED, name, "interrupted; the %s goes on", goal->what);
    }
    progress_end(&progress, NULL);
    return err;
}

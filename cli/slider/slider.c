/** See slider.h. */
#include "slider.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "json/json.h"
#include "kit/options.h"
#include "kit/out.h"
#include "kit/progress.h"
#include "kit/services.h"
#include "registry/wire.h"
#include "run/loop.h"

#define ROOT            "/ws/v1/slider/applications"
#define CALL_TIMEOUT_MS 60000
#define WAIT_LIMIT_MS   300000
#define POLL_MS         200
/** A document of 10 000 containers has some megabytes. */
#define BODY_MAX ((size_t)256 << 20)

void slider_open(struct cli *cli, struct slider_client *out)
{
    const char *url = cli_value(cli, CLI_URL);
    mem_auto char *standard = mem_fmt("http://%s", opt_text(cli->options, KEY_SERVICES_ADDRESS));

    *out = (struct slider_client){.cli = cli, .user = services_quote(cli->user)};
    url = url ? url : standard;
    out->url = mem_strn(url, strlen(url) - (str_ends(url, "/") ? 1 : 0));
    wait_open(&out->wait);
    wait_sign_in(&out->wait, cli);
}

void slider_close(struct slider_client *s)
{
    free(s->url);
    free(s->user);
    wait_close(&s->wait);
}

static int code_of(int status)
{
    switch (status) {
    case 400: return ERR_INVALID;
    case 401: return ERR_AUTH;
    case 403: return ERR_PERMISSION;
    case 404: return ERR_NOTFOUND;
    case 409: return ERR_WRONGSTATE;
    case 412: return ERR_CONFLICT;
    case 413: return ERR_TOOBIG;
    case 415: return ERR_MEDIATYPE;
    case 429: return ERR_LIMIT;
    case 501: return ERR_UNSUPPORTED;
    case 503: return ERR_UNAVAILABLE;
    default: return ERR_INTERNAL;
    }
}

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
    return err_set(why, code_of(answer->status), asked->url, "%s, status %d", message, answer->status);
}

static char *url_of(const struct slider_client *s, const struct slider_request *r)
{
    mem_auto char *name = r->name ? services_quote(r->name) : NULL;
    const char *rest = r->rest ? r->rest : "";

    return mem_fmt("%s" ROOT "%s%s%s%s%cuser.name=%s", s->url, name ? "/" : "", name ? name : "",
                   *rest && *rest != '?' ? "/" : "", rest, strchr(rest, '?') ? '&' : '?', s->user);
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

int slider_call(struct slider_client *s, const struct slider_request *r, json_t **out, struct err_info *why)
{
    mem_auto char *url = url_of(s, r);
    const struct wire_asked asked = {url, "svcmgr", strcmp(r->method, "GET") != 0, s->wait.is_gateway};
    const char *const headers[] = {"Accept: application/json",
                                   r->form ? "Content-Type: application/x-www-form-urlencoded" : NULL, NULL};
    buf_auto struct buf text = BUF_EMPTY;
    struct wait_answer answer;

    if (r->body)
        json_write(r->body, &text);
    else if (r->form)
        buf_add_str(&text, r->form);
    const struct http_call_def def = {.method = r->method,
                                      .url = url,
                                      .headers = headers,
                                      .body = text.bytes,
                                      .body_len = text.len,
                                      .max_body = BODY_MAX,
                                      .timeout_ms = CALL_TIMEOUT_MS};
    int err = wait_http(&s->wait, &def, &answer, why);
    if (!err && answer.status / 100 != 2)
        err = refused(&asked, &answer, why);
    if (!err)
        print_warnings(answer.warning);
    if (!err && out && json_read(answer.body.bytes, answer.body.len, out, why))
        err = wire_not_readable(&asked, why);
    wait_answer_fini(&answer);
    return err;
}

int slider_get(struct slider_client *s, const char *name, const char *rest, json_t **out,
               struct err_info *why)
{
    const struct slider_request r = {.method = "GET", .name = name, .rest = rest};

    return slider_call(s, &r, out, why);
}

void slider_print_change(const struct cli *cli, const char *change, const char *name)
{
    if (!cli->is_json) {
        printf("%s %s\n", change, name);
        return;
    }
    json_auto json_t *v = json_pack("{s:s, s:s}", "change", change, "application", name);
    out_json(v);
}

/* ---- waiting ---- */

/** Something that is waited for. @param line  what is waited for now; NULL: nothing any more [out, free()] */
typedef int look_fn(struct slider_client *s, const char *name, char **line, struct err_info *why);

static int wait_for(struct slider_client *s, const char *name, look_fn *look, struct err_info *why)
{
    struct progress progress;
    int64_t limit_ms;
    int err = cli_timeout_ms(s->cli, WAIT_LIMIT_MS, &limit_ms, why);
    int64_t end_ms = run_now_ms() + limit_ms;
    bool is_over = false;

    if (err)
        return err;
    progress_begin(&progress, cli_has(s->cli, CLI_QUIET));
    while (!err && !is_over) {
        mem_auto char *line = NULL;
        err = look(s, name, &line, why);
        is_over = !line;
        if (err || is_over)
            break;
        progress_show(&progress, line);
        if (run_now_ms() > end_ms)
            err =
                err_set(why, ERR_TIMEOUT, name, "not done within %.1f s: %s", (double)limit_ms / 1000, line);
        else if (wait_ms(&s->wait, POLL_MS))
            err = err_set(why, ERR_CANCELLED, name, "interrupted; the application goes on");
    }
    progress_end(&progress, NULL);
    return err;
}

/** Whether it runs, or is to. */
static bool is_live(const json_t *application)
{
    return json_is_true(json_object_get(application, "live"));
}

/** Everything that is wanted has started: the requests are satisfied, and the state says that the containers run. */
static int look_live(struct slider_client *s, const char *name, char **line, struct err_info *why)
{
    json_auto json_t *application = NULL, *liveness = NULL;
    int err = slider_get(s, name, "application/live/liveness?timeout=1", &liveness, why);

    if (err && err != ERR_UNAVAILABLE && err != ERR_NOTFOUND)
        return err;
    bool is_satisfied = json_is_true(json_object_get(liveness, "allRequestsSatisfied"));
    err = slider_get(s, name, NULL, &application, why);
    if (err)
        return err;
    const char *state = services_text(application, "state"),
               *diagnostics = services_text(application, "diagnostics");
    if (!is_live(application))
        return err_set(why, ERR_WRONGSTATE, name, "the application is %s%s%s", state,
                       diagnostics[0] ? ": " : "", diagnostics);
    if (!is_satisfied || strcmp(state, "STABLE") != 0)
        *line = mem_fmt("%s %s, %lld containers outstanding", name, state,
                        (long long)json_integer_value(json_object_get(liveness, "requestsOutstanding")));
    return 0;
}

int slider_wait_live(struct slider_client *s, const char *name, struct err_info *why)
{
    return wait_for(s, name, look_live, why);
}

static int look_stopped(struct slider_client *s, const char *name, char **line, struct err_info *why)
{
    json_auto json_t *application = NULL;
    int err = slider_get(s, name, NULL, &application, why);

    if (err)
        return err;
    if (is_live(application))
        *line = mem_fmt("%s %s", name, services_text(application, "state"));
    return 0;
}

int slider_wait_stopped(struct slider_client *s, const char *name, struct err_info *why)
{
    return wait_for(s, name, look_stopped, why);
}

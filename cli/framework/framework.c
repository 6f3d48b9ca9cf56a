/** See framework.h. */
#include "framework.h"

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

#define CALL_TIMEOUT_MS 60000
#define WAIT_LIMIT_MS   300000
#define POLL_MS         200
/** A framework of 50 000 tasks has some 80 MB. */
#define BODY_MAX ((size_t)1 << 30)

void framework_open(struct cli *cli, struct framework_client *out)
{
    const char *url = cli_value(cli, CLI_URL);
    mem_auto char *standard = mem_fmt("http://%s", opt_text(cli->options, KEY_SERVICES_ADDRESS));

    *out = (struct framework_client){.cli = cli, .user = mem_str(cli->user), .client = "CLI"};
    url = url ? url : standard;
    out->url = mem_strn(url, strlen(url) - (str_ends(url, "/") ? 1 : 0));
    wait_open(&out->wait);
    wait_sign_in(&out->wait, cli);
}

void framework_close(struct framework_client *f)
{
    free(f->url);
    free(f->user);
    wait_close(&f->wait);
}

void framework_act(struct framework_client *f, const char *user, const char *client)
{
    char *acting = mem_str(f->wait.is_gateway ? f->cli->user : user);

    free(f->user);
    f->user = acting;
    f->client = client;
}

char *framework_path(const char *name, const char *rest)
{
    mem_auto char *quoted = services_quote(name);

    return mem_fmt("/%s%s%s", quoted, rest ? "/" : "", rest ? rest : "");
}

static int code_of(int status)
{
    switch (status) {
    case 400: return ERR_INVALID;
    case 401: return ERR_AUTH;
    case 403: return ERR_PERMISSION;
    case 404: return ERR_NOTFOUND;
    case 413: return ERR_TOOBIG;
    case 415: return ERR_MEDIATYPE;
    case 429: return ERR_LIMIT;
    case 503: return ERR_UNAVAILABLE;
    default: return ERR_INTERNAL;
    }
}

/** The error of an ExceptionMessage, or of whatever else came. */
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

int framework_api(struct framework_client *f, const char *method, const char *path, const json_t *body,
                  struct buf *out, struct err_info *why)
{
    mem_auto char *quoted = services_quote(f->user);
    mem_auto char *url = mem_fmt("%s/v1%s?user.name=%s", f->url, path, quoted);
    mem_auto char *user = mem_fmt("UserName: %s", f->user);
    mem_auto char *client = mem_fmt("LaunchClientType: %s", f->client);
    const struct wire_asked asked = {url, "svcmgr", strcmp(method, "GET") != 0, f->wait.is_gateway};
    const char *const headers[] = {user, client, NULL};
    buf_auto struct buf text = BUF_EMPTY;
    struct wait_answer answer;

    if (body)
        json_write(body, &text);
    const struct http_call_def def = {.method = method,
                                      .url = url,
                                      .headers = headers,
                                      .body = text.bytes,
                                      .body_len = text.len,
                                      .max_body = BODY_MAX,
                                      .timeout_ms = CALL_TIMEOUT_MS};
    int err = wait_http(&f->wait, &def, &answer, why);
    if (!err && answer.status / 100 != 2)
        err = refused(&asked, &answer, why);
    else if (!err && out)
        buf_add(out, answer.body.bytes, answer.body.len);
    wait_answer_fini(&answer);
    return err;
}

int framework_call(struct framework_client *f, const char *method, const char *path, const json_t *body,
                   struct buf *out, struct err_info *why)
{
    mem_auto char *whole = mem_fmt("/Frameworks%s", path);

    return framework_api(f, method, whole, body, out, why);
}

int framework_get(struct framework_client *f, const char *path, json_t **out, struct err_info *why)
{
    buf_auto struct buf text = BUF_EMPTY;
    int err = framework_call(f, "GET", path, NULL, &text, why);

    return err ? err : json_read(text.bytes, text.len, out, why);
}

int framework_show(struct framework_client *f, const char *path, json_t **out, struct err_info *why)
{
    buf_auto struct buf text = BUF_EMPTY;
    int err = framework_call(f, "GET", path, NULL, &text, why);

    *out = NULL;
    if (err)
        return err;
    if (!f->cli->is_json)
        return json_read(text.bytes, text.len, out, why);
    fwrite(text.bytes, 1, text.len, stdout);
    putchar('\n');
    return 0;
}

void framework_print_change(const struct cli *cli, const char *change, const char *name)
{
    if (!cli->is_json) {
        printf("%s %s\n", change, name);
        return;
    }
    json_auto json_t *v = json_pack("{s:s, s:s}", "change", change, "framework", name);
    out_json(v);
}

/* ---- status ---- */

static void print_exit(const json_t *status)
{
    const json_t *code = json_object_get(status, "applicationExitCode");
    const char *message = services_text(status, "applicationExitTriggerMessage");
    const char *diagnostics = services_text(status, "applicationExitDiagnostics");

    if (!json_is_integer(code))
        return;
    printf("exit %lld %s: %s\n", (long long)json_integer_value(code),
           services_text(status, "applicationExitType"), services_text(status, "applicationExitDescription"));
    if (message[0])
        out_lines_to(stdout, message);
    if (diagnostics[0])
        out_lines_to(stdout, diagnostics);
}

void framework_print_status(const json_t *status)
{
    const json_t *progress = json_object_get(status, "applicationProgress");
    const json_t *retries = json_object_get(status, "frameworkRetryPolicyState");

    printf("%s version %lld %s %s\n", services_text(status, "frameworkName"),
           (long long)json_integer_value(json_object_get(status, "frameworkVersion")),
           services_text(status, "frameworkState"), services_text(status, "applicationId"));
    if (json_is_number(progress))
        printf("progress %.0f %%, retried %lld times\n", 100 * json_number_value(progress),
               (long long)json_integer_value(json_object_get(retries, "retriedCount")));
    print_exit(status);
}

/* ---- waiting ---- */

static bool is_there(const json_t *status, const char *state)
{
    const char *now = services_text(status, "frameworkState");

    return strcmp(now, state) == 0 || strcmp(now, "FRAMEWORK_COMPLETED") == 0;
}

int framework_wait(struct framework_client *f, const char *name, const char *state, json_t **out,
                   struct err_info *why)
{
    mem_auto char *path = framework_path(name, "FrameworkStatus");
    struct progress progress;
    int64_t limit_ms;
    int err = cli_timeout_ms(f->cli, WAIT_LIMIT_MS, &limit_ms, why);
    int64_t end_ms = run_now_ms() + limit_ms;

    *out = NULL;
    if (err)
        return err;
    progress_begin(&progress, cli_has(f->cli, CLI_QUIET));
    while (!err && !(err = framework_get(f, path, out, why)) && !is_there(*out, state)) {
        mem_auto char *line = mem_fmt("%s: %s", name, services_text(*out, "frameworkState"));
        progress_show(&progress, line);
        json_decref(*out);
        *out = NULL;
        if (run_now_ms() > end_ms)
            err = err_set(why, ERR_TIMEOUT, name, "not %s within %.1f s", state, (double)limit_ms / 1000);
        else if (wait_ms(&f->wait, POLL_MS))
            err = err_set(why, ERR_CANCELLED, name, "interrupted; the framework goes on");
    }
    progress_end(&progress, NULL);
    return err;
}

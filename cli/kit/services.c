/** See services.h. */
#include "services.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "json/json.h"
#include "options.h"
#include "registry/wire.h"

#define CALL_TIMEOUT_MS 30000

char *services_quote(const char *name)
{
    struct buf out = BUF_EMPTY;

    for (const unsigned char *p = (const unsigned char *)name; *p; p++) {
        if (isalnum(*p) || strchr("-._~", *p))
            buf_add_char(&out, (char)*p);
        else
            buf_addf(&out, "%%%02X", *p);
    }
    return buf_take(&out);
}

char *services_url(const struct cli *cli)
{
    const char *given = cli_value(cli, CLI_URL);
    char *url = given ? mem_str(given) : mem_fmt("http://%s", opt_text(cli->options, KEY_SERVICES_ADDRESS));
    size_t len = strlen(url);

    while (len && url[len - 1] == '/')
        url[--len] = '\0';
    return url;
}

void services_init(struct services *s, struct wait *wait, const char *url, const char *user)
{
    size_t len = strlen(url);

    *s = (struct services){.wait = wait};
    s->url = mem_strn(url, len - (str_ends(url, "/") ? 1 : 0));
    s->user = services_quote(user);
}

void services_fini(struct services *s)
{
    free(s->url);
    free(s->user);
}

const char *services_text(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text ? text : "";
}

int services_code(int status)
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

/** A name in use has no status of its own, only the server's text, and an unknown outcome has that of what was not done, and a code. */
static int code_of(int status, const json_t *doc, const char *words)
{
    if (json_integer_value(json_object_get(doc, "code")) == err_exit_code(ERR_UNKNOWN_OUTCOME))
        return ERR_UNKNOWN_OUTCOME;
    int code = services_code(status);
    return code == ERR_INTERNAL && strstr(words, "already taken") ? ERR_EXISTS : code;
}

static int read_answer(const struct wire_asked *asked, struct wait_answer *answer, json_t **out,
                       struct err_info *why)
{
    json_auto json_t *doc = NULL;
    bool is_success = answer->status / 100 == 2;

    bool is_json = !answer->body.len || !json_read(answer->body.bytes, answer->body.len, &doc, why);
    const char *words = services_text(doc, "diagnostics");
    if (is_success && !is_json)
        return wire_not_readable(asked, why);
    if (!is_success && !words[0])
        return wire_read_problem(answer->status, "", 0, asked, why);
    if (!is_success)
        return err_set(why, code_of(answer->status, doc, words), asked->url, "%s%s%d", words,
                       words[0] ? ", status " : "status ", answer->status);
    if (out)
        *out = json_incref(doc);
    return 0;
}

int services_refused(int status, const struct buf *body, const char *url, struct err_info *why)
{
    const struct wire_asked asked = {url, "svcmgr", true, false};
    struct wait_answer answer = {.status = status, .body = *body};

    return read_answer(&asked, &answer, NULL, why);
}

/* ---- calls ---- */

struct services_request {
    char *url;
    struct wire_asked asked; /* its url is borrowed from above */
    struct wait_call *call;
};

struct services_request *services_begin(struct services *s, const char *method, const char *path,
                                        const json_t *body)
{
    struct services_request *r = mem_new(struct services_request);
    buf_auto struct buf text = BUF_EMPTY;

    r->url =
        mem_fmt("%s/app/v1/services%s%cuser.name=%s", s->url, path, strchr(path, '?') ? '&' : '?', s->user);
    r->asked = (struct wire_asked){r->url, "svcmgr", strcmp(method, "GET") != 0, s->wait->is_gateway};
    if (body)
        json_write(body, &text);
    const struct http_call_def def = {.method = method,
                                      .url = r->url,
                                      .body = text.bytes,
                                      .body_len = text.len,
                                      .timeout_ms = CALL_TIMEOUT_MS};
    r->call = wait_http_begin(s->wait, &def);
    return r;
}

bool services_is_answered(const struct services_request *r)
{
    return wait_http_is_over(r->call);
}

int services_end(struct services_request *take_request, json_t **out, struct err_info *why)
{
    struct services_request *r = take_request;
    struct wait_answer answer;

    if (out)
        *out = NULL;
    int err = wait_http_end(r->call, &answer, why);
    if (!err)
        err = read_answer(&r->asked, &answer, out, why);
    wait_answer_fini(&answer);
    free(r->url);
    free(r);
    return err;
}

int services_call(struct services *s, const char *method, const char *path, const json_t *body, json_t **out,
                  struct err_info *why)
{
    return services_end(services_begin(s, method, path, body), out, why);
}

int services_get(struct services *s, const char *name, json_t **out, struct err_info *why)
{
    mem_auto char *quoted = services_quote(name);
    mem_auto char *path = mem_fmt("/%s", quoted);

    return services_call(s, "GET", path, NULL, out, why);
}

/** See services.h. */
#include "services.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "json/json.h"
#include "out.h"
#include "registry/wire.h"

#define CALL_TIMEOUT_MS 30000
#define POLL_MS         100

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

/** The code for a status; a name in use has no status of its own, only the server's text. */
static int code_of(int status, const char *words)
{
    switch (status) {
    case 400: return ERR_INVALID;
    case 401: return ERR_AUTH;
    case 403: return ERR_PERMISSION;
    case 404: return ERR_NOTFOUND;
    case 413: return ERR_TOOBIG;
    case 415: return ERR_MEDIATYPE;
    case 503: return ERR_UNAVAILABLE;
    default: return strstr(words, "already taken") ? ERR_EXISTS : ERR_INTERNAL;
    }
}

static int read_answer(const char *url, struct wait_answer *answer, json_t **out, struct err_info *why)
{
    json_auto json_t *doc = NULL;
    bool is_success = answer->status / 100 == 2;

    const struct wire_asked asked = {.url = url, .program = "svcmgr"};
    bool is_json = !answer->body.len || !json_read(answer->body.bytes, answer->body.len, &doc, why);
    const char *words = services_text(doc, "diagnostics");
    if (is_success && !is_json)
        return wire_not_readable(&asked, why);
    if (!is_success && !words[0])
        return wire_read_problem(answer->status, "", 0, &asked, why);
    if (!is_success)
        return err_set(why, code_of(answer->status, words), url, "%s%s%d", words,
                       words[0] ? ", status " : "status ", answer->status);
    if (out)
        *out = json_incref(doc);
    return 0;
}

int services_call(struct services *s, const char *method, const char *path, const json_t *body, json_t **out,
                  struct err_info *why)
{
    mem_auto char *url =
        mem_fmt("%s/app/v1/services%s%cuser.name=%s", s->url, path, strchr(path, '?') ? '&' : '?', s->user);
    buf_auto struct buf text = BUF_EMPTY;
    struct wait_answer answer;

    if (out)
        *out = NULL;
    if (body)
        json_write(body, &text);
    const struct http_call_def def = {.method = method,
                                      .url = url,
                                      .body = text.bytes,
                                      .body_len = text.len,
                                      .timeout_ms = CALL_TIMEOUT_MS};
    int err = wait_http(s->wait, &def, &answer, why);
    if (!err)
        err = read_answer(url, &answer, out, why);
    wait_answer_fini(&answer);
    return err;
}

int services_get(struct services *s, const char *name, json_t **out, struct err_info *why)
{
    mem_auto char *quoted = services_quote(name);
    mem_auto char *path = mem_fmt("/%s", quoted);

    return services_call(s, "GET", path, NULL, out, why);
}

/* ---- waiting ---- */

static void count_containers(const json_t *service, size_t *n_ready, size_t *n_wanted)
{
    size_t i, k;
    json_t *component, *container;

    *n_ready = *n_wanted = 0;
    json_array_foreach(json_object_get(service, "components"), i, component)
    {
        *n_wanted += (size_t)json_integer_value(json_object_get(component, "number_of_containers"));
        json_array_foreach(json_object_get(component, "containers"), k, container) *n_ready +=
            strcmp(services_text(container, "state"), "READY") == 0;
    }
}

static void show_state(struct progress *p, const char *name, const json_t *service)
{
    size_t n_ready, n_wanted;

    count_containers(service, &n_ready, &n_wanted);
    mem_auto char *text = mem_fmt("%s: %s, %zu of %zu containers READY", name,
                                  services_text(service, "state"), n_ready, n_wanted);
    progress_show(p, text);
}

enum outcome { STILL_WAITING, IS_READY, HAS_ENDED };

static enum outcome outcome_of(const char *state)
{
    if (strcmp(state, "READY") == 0 || strcmp(state, "STABLE") == 0)
        return IS_READY;
    if (strcmp(state, "FAILED") == 0 || strcmp(state, "STOPPED") == 0)
        return HAS_ENDED;
    return STILL_WAITING;
}

/** Of a service that will not be READY: its state, and how what failed has ended. */
static int refuse_ended(const char *name, const json_t *service, struct err_info *why)
{
    const json_t *failure = json_object_get(service, "last_failure");
    const char *instance = services_text(failure, "component_instance_name");
    const char *text = services_text(json_object_get(failure, "last_exit"), "text");

    return err_set(why, ERR_WRONGSTATE, name,
                   "the service is %s%s%s%s%s; bobbin app status %s and bobbin app logs %s show more",
                   services_text(service, "state"), failure ? ": " : "", instance, failure ? ": " : "", text,
                   name, name);
}

/** One look. @return 0 and *outcome; with IS_READY the document is in *out. */
static int look(struct services *s, const char *name, struct progress *p, enum outcome *outcome, json_t **out,
                struct err_info *why)
{
    json_auto json_t *service = NULL;
    int err = services_get(s, name, &service, why);

    if (err)
        return err;
    const char *state = services_text(service, "state");
    *outcome = outcome_of(state);
    if (*outcome == STILL_WAITING)
        show_state(p, name, service);
    if (*outcome == HAS_ENDED)
        return refuse_ended(name, service, why);
    if (*outcome == IS_READY)
        *out = json_incref(service);
    return 0;
}

int services_wait_ready(struct services *s, const char *name, int64_t limit_ms, json_t **out,
                        struct err_info *why)
{
    struct progress progress;
    enum outcome outcome = STILL_WAITING;
    int64_t end_ms = run_now_ms() + limit_ms;
    int err = 0;

    progress_begin(&progress);
    while (!err && outcome == STILL_WAITING) {
        err = s->check ? s->check(s->check_arg, why) : 0;
        if (!err)
            err = look(s, name, &progress, &outcome, out, why);
        if (err || outcome != STILL_WAITING)
            break;
        if (run_now_ms() > end_ms)
            err = err_set(why, ERR_TIMEOUT, name, "not READY within %.1f s", (double)limit_ms / 1000);
        else if (wait_ms(s->wait, POLL_MS))
            err = err_set(why, ERR_CANCELLED, name, "interrupted; the service keeps running");
    }
    mem_auto char *text = err ? NULL : mem_fmt("%s: READY", name);
    progress_end(&progress, text);
    return err;
}

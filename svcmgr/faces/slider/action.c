/** Actions: ping, stop, flex by a form. Source: slider-am 7, 8.5. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/str.h"
#include "run/loop.h"
#include "slider/condition.h"
#include "slider/conf.h"
#include "slider/define.h"
#include "slider/documents.h"
#include "slider/form.h"
#include "slider/kit.h"
#include "slider/routes.h"

#define ECHO_MAX ((size_t)64 << 10)

/** "Sat Nov 21 09:17:11 UTC 2026" */
static void java_date(char *out, size_t room)
{
    time_t now = (time_t)(run_wall_ms() / 1000);
    struct tm tm;
    gmtime_r(&now, &tm);
    strftime(out, room, "%a %b %d %H:%M:%S UTC %Y", &tm);
}

/* ---- ping ---- */

/** Whole characters of the body, as many as are echoed; octets that are no UTF-8 become U+FFFD. [new] */
static json_t *echo_of(const struct http_req *req)
{
    buf_auto struct buf out = BUF_EMPTY;
    size_t len, n = 0;
    const char *body = http_body(req, &len), *verb = http_method(req);
    bool echoes = strcmp(verb, "POST") == 0 || strcmp(verb, "PUT") == 0;
    for (size_t i = 0; echoes && i < len && i < ECHO_MAX; i += n) {
        uint32_t code;
        n = utf8_next(body + i, len - i, &code);
        if (n)
            buf_add(&out, body + i, n);
        else
            buf_add_str(&out, "\xEF\xBF\xBD");
        n += n == 0;
    }
    return json_stringn(buf_cstr(&out), out.len);
}

void slider_ping(struct http_req *req, void *app)
{
    const struct eng_service *s = slider_find_running(req, obj_cast(app, struct face, FACE_MAGIC));
    char date[64];
    if (!s)
        return;
    mem_auto char *ended =
        mem_fmt("Application %s has ended: it is %s", eng_service_title(s), eng_service_state_word(s->state));
    if (!eng_service_is_live(s)) {
        slider_reply_error(req, 503, ended);
        return;
    }
    java_date(date, sizeof date);
    mem_auto char *text = mem_fmt("Ping verb %s received at %s", http_method(req), date);
    slider_reply_json(req, 200,
                      json_pack("{s:I, s:s, s:s, s:o}", "time", (json_int_t)run_wall_ms(), "text", text,
                                "verb", http_method(req), "body", echo_of(req)));
}

/* ---- stop ---- */

void slider_stop_post(struct http_req *req, void *app)
{
    struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    const struct eng_service *s = slider_find(req, face);
    char date[64];
    if (!s || !slider_may_change(req, face, s))
        return;
    mem_auto char *state = mem_fmt("Application %s is %s: it does not run", eng_service_title(s),
                                   eng_service_state_word(s->state));
    if (!slider_has_documents(s) || !eng_service_is_live(s)) {
        slider_reply_error(req, slider_has_documents(s) ? 503 : 409, state);
        return;
    }
    java_date(date, sizeof date);
    mem_auto char *text = mem_fmt("Stopping action %s received at %s", http_method(req), date);
    json_t *doc = json_pack("{s:s, s:s}", "verb", http_method(req), "text", text);
    struct eng_event ev = {.kind = EV_STOP, .service_kind = KIND_SLIDER, .user = s->user, .name = s->name};
    slider_submit(req, face, &ev, (struct slider_then){.reply = slider_reply_action, .take_doc = doc});
}

/* ---- flex by a form ---- */

#define FLEX_PREFIX "component."
#define INSTANCES   "yarn.component.instances"

/** Set the number of one component. @return 0; ERR_INVALID, ERR_NOTFOUND, *why filled */
static int set_count(json_t *resources, const char *name, const char *text, struct err_info *why)
{
    json_t *component = json_object_get(json_object_get(resources, "components"), name);
    int64_t was = 0, n = 0;
    bool is_relative = *text == '+' || *text == '-';
    if (!component)
        return err_set(why, ERR_INVALID, name, "Unknown component: %.100s", name);
    if (slider_decode(text, &n))
        return err_set(why, ERR_INVALID, name, "must be a number, +n or -n, it is \"%.100s\"", text);
    if (is_relative) {
        int rc = slider_conf_int(resources, name, INSTANCES, 0, &was, why);
        if (rc)
            return rc;
    }
    if (__builtin_add_overflow(was, n, &n) || n < 0)
        return err_set(why, ERR_INVALID, name, "would have %lld instances", (long long)n);
    mem_auto char *count = mem_fmt("%lld", (long long)n);
    json_object_set_new(component, INSTANCES, json_string(count));
    return 0;
}

void slider_flex_post(struct http_req *req, void *app)
{
    struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    const struct eng_service *s = slider_find_to_change(req, face);
    slider_form_auto struct slider_form form = {.first = NULL};
    struct err_info why = {0};
    if (!s || !slider_form_read(req, &form))
        return;
    slider_trees_auto struct slider_trees t;
    slider_trees_of(s, &t);
    if (!slider_tag_matches(req, t.resources))
        return;
    json_t *changed = json_deep_copy(t.resources);
    json_decref(t.resources);
    t.resources = changed;
    int rc = 0;
    for (const struct http_pair *p = form.first; rc == 0 && p; p = p->next) {
        if (str_starts(p->name, FLEX_PREFIX))
            rc = set_count(t.resources, p->name + strlen(FLEX_PREFIX), p->value, &why);
    }
    if (rc) {
        slider_reply_why(req, 400, &why);
        return;
    }
    const struct slider_change change = {s, eng_service_title(s), s->user, &t, false};
    slider_define(req, face, &change,
                  (struct slider_then){.reply = slider_reply_action, .take_doc = json_incref(t.resources)});
}

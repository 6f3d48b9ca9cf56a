/** Applications by the name that their user gave: create, start, stop, destroy, list, and the way to all else. Source: ours. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "json/json.h"
#include "slider/conf.h"
#include "slider/define.h"
#include "slider/kit.h"
#include "slider/routes.h"
#include "spec/label.h"

#define NAME_MAX_LEN 255

/** [a-z][a-z0-9_-]* */
static bool is_name(const char *text)
{
    size_t n = strlen(text);
    return text[0] >= 'a' && text[0] <= 'z' && n <= NAME_MAX_LEN &&
           strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_-") == n;
}

/** Name in the path. @return free(); NULL: it is none, and that is replied */
static char *path_name(struct http_req *req)
{
    char *name = slider_path_element(req, "n");
    mem_auto char *text =
        mem_fmt("An application's name must match [a-z][a-z0-9_-]*, and have %d characters at "
                "most: %.256s",
                NAME_MAX_LEN, name ? name : "");
    if (!name || is_name(name))
        return name;
    slider_reply_error(req, 400, text);
    free(name);
    return NULL;
}

/** The caller's application of a name; NULL: there is none. [borrowed until the next step] */
static const struct eng_service *find(const struct http_req *req, const struct face *face, const char *name)
{
    mem_auto char *label = spec_label(name, SPEC_LABEL_SERVICE);
    return engine_find(face->ops->engine(face->app), KIND_SLIDER, http_user(req), label);
}

/** The same by the path; NULL: that is replied. */
static const struct eng_service *find_in_path(struct http_req *req, const struct face *face)
{
    mem_auto char *name = path_name(req);
    const struct eng_service *s = name ? find(req, face, name) : NULL;
    mem_auto char *text = mem_fmt("Unknown application: %s", name ? name : "");
    if (name && !s)
        slider_reply_error(req, 404, text);
    return s;
}

/* ---- what is shown ---- */

/** Root of its own API, as seen from here; NULL: it was never started, or the cluster has not named it yet. free() */
static char *href_of(const struct http_req *req, const struct face *face, const struct eng_service *s)
{
    const char *host = http_header(req, "Host");
    return engine_has_named(face->ops->engine(face->app), s)
               ? mem_fmt("http://%s/proxy/%s/ws/v1/slider", host ? host : "localhost", s->app_id)
               : NULL;
}

static json_t *view(const struct http_req *req, const struct face *face, const struct eng_service *s)
{
    mem_auto char *href = href_of(req, face, s);
    json_t *doc = json_pack("{s:s, s:s, s:s}", "name", eng_service_title(s), "user", s->user, "state",
                            eng_service_state_word(s->state));
    if (href) {
        json_object_set_new(doc, "id", json_string(s->app_id));
        json_object_set_new(doc, "href", json_string(href));
    }
    if (s->diagnostics)
        json_object_set_new(doc, "diagnostics", json_string(s->diagnostics));
    json_object_set_new(doc, "live", json_boolean(eng_service_is_live(s)));
    json_object_set_new(doc, "launchTime", json_integer(s->launch_ms));
    return doc;
}

void slider_applications_get(struct http_req *req, void *app)
{
    struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    mem_auto const struct eng_service **list =
        engine_list_kind(face->ops->engine(face->app), KIND_SLIDER, http_user(req));
    bool all = http_param_bool(req, SLIDER_LIST_ALL);
    json_t *items = json_array();
    for (size_t i = 0; list[i]; i++) {
        if (!list[i]->destroying && (all || eng_service_is_live(list[i])))
            json_array_append_new(items, view(req, face, list[i]));
    }
    slider_reply_json(req, 200, json_pack("{s:o}", "applications", items));
}

void slider_named_get(struct http_req *req, void *app)
{
    const struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    const struct eng_service *s = find_in_path(req, face);
    if (s)
        slider_reply_json(req, 200, view(req, face, s));
}

/** The application as it is after the request. */
static void reply_view(struct http_req *req, const struct face *face, json_t *take_doc)
{
    const struct eng_service *s = find(req, face, json_string_value(take_doc));
    if (s)
        slider_reply_json(req, 202, view(req, face, s));
    else
        slider_reply_json(req, 202, json_object());
    json_decref(take_doc);
}

static struct slider_then then_view(const char *name)
{
    return (struct slider_then){.reply = reply_view, .take_doc = json_string(name)};
}

/* ---- changes ---- */

void slider_named_put(struct http_req *req, void *app)
{
    struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    struct err_info why = {0};
    size_t len;
    const char *body = http_body(req, &len);
    mem_auto char *name = path_name(req);
    if (!name)
        return;
    json_auto json_t *value = NULL;
    slider_trees_auto struct slider_trees t = {0};
    if (json_read(body, len, &value, &why) || slider_trees_read(value, &t, &why)) {
        slider_reply_why(req, 400, &why);
        return;
    }
    const struct slider_change change = {.s = find(req, face, name),
                                         .name = name,
                                         .user = http_user(req),
                                         .trees = &t,
                                         .save = json_is_false(json_object_get(value, "start"))};
    slider_reply_warnings(req, t.resources, t.app_conf);
    slider_define(req, face, &change, then_view(name));
}

static void submit(struct http_req *req, const struct face *face, const struct eng_service *s,
                   struct eng_event ev)
{
    ev.service_kind = KIND_SLIDER;
    ev.user = s->user;
    ev.name = s->name;
    slider_submit(req, face, &ev, then_view(eng_service_title(s)));
}

void slider_named_delete(struct http_req *req, void *app)
{
    struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    const struct eng_service *s = find_in_path(req, face);
    if (s)
        submit(req, face, s, (struct eng_event){.kind = EV_DESTROY, .save = true});
}

void slider_named_stop(struct http_req *req, void *app)
{
    struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    const struct eng_service *s = find_in_path(req, face);
    if (s)
        submit(req, face, s, (struct eng_event){.kind = EV_STOP});
}

void slider_named_start(struct http_req *req, void *app)
{
    struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    const struct eng_service *s = find_in_path(req, face);
    if (!s)
        return;
    if (s->state == SVC_FINISHING || s->destroying) {
        slider_reply_error(req, 503, "The application is stopping: start it when it has stopped");
        return;
    }
    slider_trees_auto struct slider_trees t;
    slider_trees_of(s, &t);
    if (!t.next_app_conf || eng_service_is_live(s)) {
        submit(req, face, s, (struct eng_event){.kind = EV_START});
        return;
    }
    json_decref(t.app_conf);
    t.app_conf = t.next_app_conf;
    t.next_app_conf = NULL;
    const struct slider_change change = {s, eng_service_title(s), s->user, &t, false};
    struct slider_then then = then_view(eng_service_title(s));
    then.take_next = slider_next_new(EV_START);
    slider_define(req, face, &change, then);
}

void slider_named_redirect(struct http_req *req, void *app)
{
    const struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    const struct eng_service *s = find_in_path(req, face);
    mem_auto char *href = s ? href_of(req, face, s) : NULL;
    if (s && !href && eng_service_is_live(s))
        slider_reply_error(req, 503, "The cluster has not named the application yet");
    else if (s && !href)
        slider_reply_error(req, 404, "The application was never started");
    if (!href)
        return;
    buf_auto struct buf url = BUF_EMPTY;
    buf_addf(&url, "%s/%s", href, http_path_raw(req, "*"));
    slider_add_query(req, &url);
    slider_reply_redirect(req, 307, buf_cstr(&url));
}

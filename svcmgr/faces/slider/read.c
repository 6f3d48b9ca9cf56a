/** Reads of the documents of an application. Source: slider-am 5.1, 5.2. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "json/json.h"
#include "slider/condition.h"
#include "slider/conf.h"
#include "slider/documents.h"
#include "slider/kit.h"
#include "slider/routes.h"

void slider_application_get(struct http_req *req, void *app)
{
    const struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    static const char *const names[] = {"model", "live", "actions", NULL};
    if (slider_find(req, face))
        slider_reply_names(req, names);
}

void slider_model_get(struct http_req *req, void *app)
{
    const struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    static const char *const names[] = {"desired", "resolved", NULL};
    if (slider_find(req, face))
        slider_reply_names(req, names);
}

/** The documents of the path's application. @return false: there is none, and that is replied */
static bool read_trees(struct http_req *req, void *app, struct slider_trees *out,
                       const struct eng_service **service)
{
    struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    const struct eng_service *s = slider_find(req, face);
    *out = (struct slider_trees){0};
    if (!s)
        return false;
    slider_trees_of(s, out);
    if (service)
        *service = s;
    return true;
}

/** The application configuration as it was put last. */
static json_t *desired_app_conf(const struct slider_trees *t)
{
    return t->next_app_conf ? t->next_app_conf : t->app_conf;
}

void slider_desired_get(struct http_req *req, void *app)
{
    slider_trees_auto struct slider_trees t;
    const struct eng_service *s;
    if (read_trees(req, app, &t, &s))
        slider_reply_json(req, 200, slider_aggregate(s, t.resources, t.internal, desired_app_conf(&t)));
}

/** Reply with a document that may be put, and its entity tag. */
static void reply_tagged(struct http_req *req, json_t *doc)
{
    char tag[SLIDER_TAG_ROOM];
    slider_tag(doc, tag);
    http_reply_header(req, "ETag", tag);
    slider_reply_json(req, 200, json_incref(doc));
}

void slider_desired_resources_get(struct http_req *req, void *app)
{
    slider_trees_auto struct slider_trees t;
    if (read_trees(req, app, &t, NULL))
        reply_tagged(req, t.resources);
}

void slider_desired_appconf_get(struct http_req *req, void *app)
{
    slider_trees_auto struct slider_trees t;
    if (read_trees(req, app, &t, NULL))
        reply_tagged(req, desired_app_conf(&t));
}

void slider_resolved_get(struct http_req *req, void *app)
{
    slider_trees_auto struct slider_trees t;
    const struct eng_service *s;
    if (!read_trees(req, app, &t, &s))
        return;
    json_auto json_t *resources = slider_resolved_resources(&t);
    json_auto json_t *app_conf = slider_resolved_app_conf(&t);
    json_auto json_t *internal = slider_conf_resolve(t.internal);
    slider_reply_json(req, 200, slider_aggregate(s, resources, internal, app_conf));
}

void slider_resolved_resources_get(struct http_req *req, void *app)
{
    slider_trees_auto struct slider_trees t;
    if (read_trees(req, app, &t, NULL))
        slider_reply_json(req, 200, slider_resolved_resources(&t));
}

void slider_resolved_appconf_get(struct http_req *req, void *app)
{
    slider_trees_auto struct slider_trees t;
    if (read_trees(req, app, &t, NULL))
        slider_reply_json(req, 200, slider_resolved_app_conf(&t));
}

void slider_internal_get(struct http_req *req, void *app)
{
    slider_trees_auto struct slider_trees t;
    if (read_trees(req, app, &t, NULL))
        slider_reply_json(req, 200, slider_conf_resolve(t.internal));
}

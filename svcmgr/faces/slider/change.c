/** Documents that are put. Source: slider-am 5.3, 8.6. */
#include <string.h>

#include "base/mem.h"
#include "json/json.h"
#include "slider/condition.h"
#include "slider/conf.h"
#include "slider/define.h"
#include "slider/kit.h"
#include "slider/routes.h"

/** Body as a tree. @return false: it is none, and that is replied */
static bool read_body(struct http_req *req, json_t **out)
{
    struct err_info why = {0};
    size_t len;
    const char *body = http_body(req, &len);
    int rc = slider_conf_read(body, len, out, &why);
    if (rc)
        slider_reply_why(req, 400, &why);
    return rc == 0;
}

void slider_desired_resources_put(struct http_req *req, void *app)
{
    struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    json_auto json_t *tree = NULL;
    const struct eng_service *s = slider_find_to_change(req, face);
    if (!s || !read_body(req, &tree))
        return;
    slider_trees_auto struct slider_trees t;
    slider_trees_of(s, &t);
    if (!slider_tag_matches(req, t.resources))
        return;
    json_decref(t.resources);
    t.resources = json_incref(tree);
    slider_reply_warnings(req, tree, NULL);
    const struct slider_change change = {s, eng_service_title(s), s->user, &t, false};
    slider_define(req, face, &change, (struct slider_then){.take_doc = json_incref(tree)});
}

void slider_desired_appconf_put(struct http_req *req, void *app)
{
    struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    json_auto json_t *tree = NULL;
    const struct eng_service *s = slider_find_to_change(req, face);
    if (!s || !read_body(req, &tree))
        return;
    slider_trees_auto struct slider_trees t;
    slider_trees_of(s, &t);
    if (!slider_tag_matches(req, t.next_app_conf ? t.next_app_conf : t.app_conf))
        return;
    json_decref(t.next_app_conf);
    t.next_app_conf = json_incref(tree);
    slider_reply_warnings(req, NULL, tree);
    const struct slider_change change = {s, eng_service_title(s), s->user, &t, false};
    slider_define(req, face, &change, (struct slider_then){.take_doc = json_incref(tree)});
}

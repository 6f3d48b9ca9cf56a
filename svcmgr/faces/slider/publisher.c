/** Registry, publisher and management: what an application publishes of itself. Source: slider-am 9, 10, 11. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "slider/conf.h"
#include "slider/documents.h"
#include "slider/kit.h"
#include "slider/routes.h"

/* ---- registry ---- */

void slider_registry_get(struct http_req *req, void *app)
{
    struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    const struct slider_site *site = face->slider;
    const char *rest = http_path_raw(req, "*");
    if (!slider_find(req, face))
        return;
    if (!site->registry_url) {
        slider_reply_error(req, 503, "The registry is not read here");
        return;
    }
    buf_auto struct buf url = BUF_EMPTY;
    buf_addf(&url, "%s/ws/v1/slider/registry/%s", site->registry_url, rest ? rest : "");
    slider_add_query(req, &url);
    slider_reply_redirect(req, 307, buf_cstr(&url));
}

static void not_yet(struct http_req *req)
{
    slider_reply_error(req, 501, "not there yet");
}

void slider_publisher_get(struct http_req *req, void *app)
{
    (void)app;
    not_yet(req);
}

void slider_classpath_get(struct http_req *req, void *app)
{
    if (slider_find(req, obj_cast(app, struct face, FACE_MAGIC)))
        slider_reply_json(req, 200, json_array());
}

void slider_exports_get(struct http_req *req, void *app)
{
    (void)app;
    not_yet(req);
}

void slider_export_get(struct http_req *req, void *app)
{
    (void)app;
    not_yet(req);
}

void slider_config_set_get(struct http_req *req, void *app)
{
    (void)app;
    not_yet(req);
}

void slider_config_get(struct http_req *req, void *app)
{
    (void)app;
    not_yet(req);
}

void slider_property_get(struct http_req *req, void *app)
{
    (void)app;
    not_yet(req);
}

void slider_management_get(struct http_req *req, void *app)
{
    (void)app;
    not_yet(req);
}

void slider_management_app_get(struct http_req *req, void *app)
{
    (void)app;
    not_yet(req);
}

void slider_management_conf_get(struct http_req *req, void *app)
{
    (void)app;
    not_yet(req);
}

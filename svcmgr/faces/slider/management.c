/** Management, as the API before this one had it, and the registry. Source: slider-am 9, 11. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "json/json.h"
#include "slider/conf.h"
#include "slider/documents.h"
#include "slider/kit.h"
#include "slider/routes.h"

static const char *const documents[] = {"resources", "internal", "appConf"};

/** A document with its URL, without schema and credentials. [new] */
static json_t *document(const char *root, const char *name, const json_t *tree)
{
    mem_auto char *href = mem_fmt("%s/mgmt/app/configurations/%s", root, name);
    return json_pack("{s:s, s:O, s:O, s:O}", "href", href, "metadata", json_object_get(tree, "metadata"),
                     "global", json_object_get(tree, "global"), "components",
                     json_object_get(tree, "components"));
}

/** All three, resolved: {"href", "resources", "internal", "appConf"}. [new] */
static json_t *documents_of(const struct http_req *req, const struct eng_service *s)
{
    mem_auto char *root = slider_root_url(req);
    mem_auto char *href = mem_fmt("%s/mgmt/app", root);
    slider_trees_auto struct slider_trees t;
    slider_trees_of(s, &t);
    json_auto json_t *resources = slider_resolved_resources(&t);
    json_auto json_t *internal = slider_conf_resolve(t.internal);
    json_auto json_t *app_conf = slider_resolved_app_conf(&t);
    const json_t *const trees[] = {resources, internal, app_conf};
    json_t *out = json_pack("{s:s}", "href", href);
    for (size_t i = 0; i < ARRAY_LEN(documents); i++)
        json_object_set_new(out, documents[i], document(root, documents[i], trees[i]));
    return out;
}

void slider_management_get(struct http_req *req, void *app)
{
    (void)app;
    slider_reply_redirect(req, 307, "/openapi.json");
}

void slider_management_app_get(struct http_req *req, void *app)
{
    const struct eng_service *s = slider_find(req, obj_cast(app, struct face, FACE_MAGIC));
    if (s)
        slider_reply_json(req, 200, documents_of(req, s));
}

void slider_management_conf_get(struct http_req *req, void *app)
{
    const struct eng_service *s = slider_find(req, obj_cast(app, struct face, FACE_MAGIC));
    mem_auto char *config = s ? slider_path_element(req, "config") : NULL;
    if (!config)
        return;
    mem_auto char *missing = mem_fmt("Not found: %.256s", config);
    json_auto json_t *all = documents_of(req, s);
    json_t *one = strcmp(config, "href") != 0 ? json_object_get(all, config) : NULL;
    if (one)
        slider_reply_json(req, 200, json_incref(one));
    else
        slider_reply_error(req, 404, missing);
}

/* ---- registry ---- */

/** No element is empty, "." or "..", or has a control character. */
static bool is_path(const char *path)
{
    size_t len = strlen(path);
    const char *end = path + len - (len > 0 && path[len - 1] == '/');
    for (const char *p = path + (path[0] == '/'); p < end;) {
        size_t n = strcspn(p, "/");
        if (n == 0 || (n == 1 && p[0] == '.') || (n == 2 && p[0] == '.' && p[1] == '.'))
            return false;
        for (size_t i = 0; i < n; i++) {
            if ((unsigned char)p[i] < 0x20 || p[i] == 0x7f)
                return false;
        }
        p += n + (p[n] == '/');
    }
    return true;
}

#define READING_MAGIC OBJ_MAGIC('S', 'R', 'E', 'G')

/** A node of the registry that is asked for. */
struct reading {
    struct obj obj;
    struct http_req *req; /* NULL: the client went away */
    char *path;
};

static void on_closed(void *arg)
{
    obj_cast(arg, struct reading, READING_MAGIC)->req = NULL;
}

static void on_node(void *arg, const json_t *doc, const struct err_info *why)
{
    struct reading *r = obj_cast(arg, struct reading, READING_MAGIC);
    mem_auto char *missing = mem_fmt("Not found: %s", r->path);
    if (r->req && doc)
        slider_reply_json(r->req, 200, json_deep_copy(doc));
    else if (r->req && why->code == ERR_NOTFOUND)
        slider_reply_error(r->req, 404, missing);
    else if (r->req)
        slider_reply_why(r->req, err_http_status(why->code), why);
    free(r->path);
    obj_fini(&r->obj);
    free(r);
}

void slider_registry_get(struct http_req *req, void *app)
{
    struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    const char *rest = http_path_raw(req, "*");
    if (!slider_find(req, face))
        return;
    if (!is_path(rest ? rest : "")) {
        slider_reply_error(req, 400, "A path has no empty element, and no \".\" or \"..\"");
        return;
    }
    struct reading *r = mem_new(struct reading);
    obj_init(&r->obj, READING_MAGIC);
    r->req = req;
    r->path = mem_str(rest ? rest : "");
    http_reply_later(req, on_closed, r);
    face->ops->registry_node(face->app, r->path, http_user_is_named(req) ? http_user(req) : NULL, on_node, r);
}

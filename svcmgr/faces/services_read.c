/** The handlers that read a service: E3, E4. */
#include "faces/services_routes.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "faces/services_kit.h"
#include "faces/services.h"
#include "faces/services_wait.h"
#include "faces/waits.h"

#define EXPLAINING_MAGIC OBJ_MAGIC('F', 'E', 'X', 'P')

void services_version(struct http_req *req, void *app)
{
    (void)obj_cast(app, struct face, FACE_MAGIC);
    services_reply_json(req, 200, json_pack("{s:s}", "hadoop_version", BOBBIN_VERSION));
}

/** @param take_explained  member of the answer; NULL: it has none */
static void reply_with(struct http_req *req, struct face *face, const struct eng_service *s,
                       json_t *take_explained)
{
    const struct engine *engine = face->ops->engine(face->app);
    const struct dialect *dialect = face->ops->world(face->app)->dialect;
    if (!face->ops->registry_is_away(face->app)) { /* else it changes without the engine */
        mem_auto char *tag = waits_tag(face, s);
        http_reply_header(req, "ETag", tag);
        if (!take_explained && waits_tag_is_known(req, tag)) {
            services_reply_not_modified(req);
            return;
        }
    }
    json_t *doc = services_view(engine, s, dialect, face->ops->now_ms(face->app), face);
    if (take_explained)
        json_object_set_new(doc, "explain", take_explained);
    services_reply_json(req, 200, doc);
}

void service_reply(struct http_req *req, struct face *face, const struct eng_service *s, bool explains)
{
    reply_with(req, face, s, explains ? services_view_explain(s, face) : NULL);
}

/* ---- explained by who runs it ---- */

/** A request that waits for who runs the service. */
struct explaining {
    struct obj obj;
    struct http_req *req; /* NULL: the client went away */
    struct face *face;
    char *user, *name;
};

static void on_client_gone(void *arg)
{
    obj_cast(arg, struct explaining, EXPLAINING_MAGIC)->req = NULL;
}

static void on_explained(void *arg, const json_t *list, const struct err_info *why)
{
    struct explaining *x = obj_cast(arg, struct explaining, EXPLAINING_MAGIC);
    const struct engine *engine = x->face->ops->engine(x->face->app);
    const struct eng_service *s = x->req ? engine_find(engine, KIND_SERVICE, x->user, x->name) : NULL;
    if (s) {
        reply_with(x->req, x->face, s, services_view_explain_elsewhere(s, x->face, list, why));
    } else if (x->req) {
        mem_auto char *text = mem_fmt("Service %s not found", x->name);
        services_reply_status(x->req, 404, text, SERVICES_CODE_NOT_FOUND, NULL);
    }
    free(x->user);
    free(x->name);
    obj_fini(&x->obj);
    free(x);
}

static void explain(struct http_req *req, struct face *face, const struct eng_service *s)
{
    struct explaining *x = mem_new(struct explaining);
    obj_init(&x->obj, EXPLAINING_MAGIC);
    x->req = req;
    x->face = face;
    x->user = mem_str(s->user);
    x->name = mem_str(s->name);
    if (face->ops->explain && face->ops->explain(face->app, s, on_explained, x)) {
        http_reply_later(req, on_client_gone, x);
        return;
    }
    free(x->user);
    free(x->name);
    obj_fini(&x->obj);
    free(x);
    service_reply(req, face, s, true);
}

void service_get(struct http_req *req, void *app)
{
    struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    mem_auto char *name = services_path_name(req);
    const struct eng_service *s = name ? services_find(req, face, name, SERVICES_CODE_NOT_FOUND) : NULL;
    if (!s)
        return;
    if (http_param_given(req, SERVICE_WAIT))
        services_wait(req, face, s);
    else if (http_param_bool(req, SERVICE_EXPLAIN))
        explain(req, face, s);
    else
        service_reply(req, face, s, false);
}

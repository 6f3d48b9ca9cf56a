/** The handler that explains a framework: what waits is known to who runs it, which is an application master on YARN. */
#include "launcher/routes.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/obj.h"
#include "faces/services.h"
#include "launcher/kit.h"
#include "launcher/walk.h"

#define EXPLAINING_MAGIC OBJ_MAGIC('L', 'E', 'X', 'P')

/** A request that waits for who runs the framework. */
struct explaining {
    struct obj obj;
    struct http_req *req; /* NULL: the client went away */
    struct face *face;
    char *name; /* as the engine has it */
};

static void free_explaining(struct explaining *x)
{
    free(x->name);
    obj_fini(&x->obj);
    free(x);
}

/** @param take_list  of services_view_explain */
static void reply(struct http_req *req, struct face *face, const struct eng_service *s, json_t *take_list)
{
    const struct launcher_look look = {.e = face->ops->engine(face->app),
                                       .now_ms = face->ops->now_ms(face->app)};
    json_t *lines = launcher_view_explain(&look, s, take_list);
    json_decref(take_list);
    launcher_reply_walk(
        req, face,
        &(struct launcher_walk_def){.form = LAUNCHER_FORM_EXPLAIN, .name = s->name, .take_part = lines});
}

static void on_client_gone(void *arg)
{
    obj_cast(arg, struct explaining, EXPLAINING_MAGIC)->req = NULL;
}

static void on_explained(void *arg, const json_t *list, const struct err_info *why)
{
    struct explaining *x = obj_cast(arg, struct explaining, EXPLAINING_MAGIC);
    const struct engine *e = x->face->ops->engine(x->face->app);
    const struct eng_service *s = x->req ? engine_find_framework(e, x->name) : NULL;
    if (s)
        reply(x->req, x->face, s, services_view_explain_elsewhere(s, x->face, list, why));
    else if (x->req)
        launcher_reply_error(x->req, 404, "Framework is not found");
    free_explaining(x);
}

void launcher_explanation_get(struct http_req *req, void *app)
{
    struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    const struct eng_service *s = launcher_find(req, face);
    if (!s)
        return;
    struct explaining *x = mem_new(struct explaining);
    obj_init(&x->obj, EXPLAINING_MAGIC);
    x->req = req;
    x->face = face;
    x->name = mem_str(s->name);
    if (face->ops->explain && face->ops->explain(face->app, s, on_explained, x)) {
        http_reply_later(req, on_client_gone, x);
        return;
    }
    free_explaining(x);
    reply(req, face, s, services_view_explain(s, face));
}

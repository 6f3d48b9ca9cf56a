/** The handlers that read a service: E3, E4. */
#include "faces/services_routes.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "faces/services_kit.h"
#include "faces/services.h"
#include "faces/services_wait.h"

void services_version(struct http_req *req, void *app)
{
    (void)obj_cast(app, struct face, FACE_MAGIC);
    services_reply_json(req, 200, json_pack("{s:s}", "hadoop_version", BOBBIN_VERSION));
}

void service_reply(struct http_req *req, struct face *face, const struct eng_service *s, bool explains)
{
    const struct engine *engine = face->ops->engine(face->app);
    const struct dialect *dialect = face->ops->world(face->app)->dialect;
    if (!face->ops->registry_is_away(face->app)) { /* else it changes without the engine */
        mem_auto char *tag = services_wait_tag(face, s);
        http_reply_header(req, "ETag", tag);
        if (!explains && services_wait_is_known(req, tag)) {
            services_reply_not_modified(req);
            return;
        }
    }
    json_t *doc = services_view(engine, s, dialect, face->ops->now_ms(face->app), face);
    if (explains)
        json_object_set_new(doc, "explain", services_view_explain(s, face));
    services_reply_json(req, 200, doc);
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
    else
        service_reply(req, face, s, http_param_bool(req, SERVICE_EXPLAIN));
}

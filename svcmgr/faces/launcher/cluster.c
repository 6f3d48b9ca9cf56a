/** Documents of the launcher: types of GPU of the nodes, access control, versions of the data deployment. Source: framework-launcher 4.5, 4.6. */
#include "base/mem.h"
#include "json/json.h"
#include "launcher/acl.h"
#include "launcher/kit.h"
#include "launcher/requests.h"
#include "launcher/routes.h"

/** Read, check and take a document that is put. @return false: that is replied */
static bool read_document(struct http_req *req, const struct face *face, const struct ldoc_type *type,
                          struct launcher_body *out)
{
    if (!launcher_body_read(req, type, out))
        return false;
    return launcher_body_check(req, out) &&
           launcher_may_write(req, face, (struct launcher_write){NULL, NULL});
}

static void submit_document(struct http_req *req, const struct face *face, enum eng_cluster_document document,
                            const json_t *value, int status)
{
    struct eng_event ev = {.kind = EV_DOCUMENT, .name = eng_cluster_document_word(document), .value = value};
    launcher_submit(req, face, &ev, (struct launcher_verb){.done = status, .missing = status});
}

static void put_document(struct http_req *req, const struct face *face, const struct ldoc_type *type,
                         enum eng_cluster_document document, int status)
{
    launcher_body_auto struct launcher_body body = {.type = type};
    if (!read_document(req, face, type, &body))
        return;
    json_auto json_t *value = ldoc_write(type, body.object);
    submit_document(req, face, document, value, status);
}

void launcher_cluster_put(struct http_req *req, void *app)
{
    struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    put_document(req, face, &launcher_cluster_type, DOC_CLUSTER_CONFIGURATION, 202);
}

void launcher_acl_put(struct http_req *req, void *app)
{
    struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    put_document(req, face, &launcher_acl_type, DOC_ACL_CONFIGURATION, 200);
}

void launcher_deployment_put(struct http_req *req, void *app)
{
    struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    launcher_body_auto struct launcher_body body = {.type = &launcher_deployment_version_type};
    if (!read_document(req, face, &launcher_deployment_version_type, &body))
        return;
    const struct launcher_deployment_version *v = body.object;
    const json_t *before = engine_cluster_document(face->ops->engine(face->app), DOC_DATA_DEPLOYMENT);
    json_auto json_t *value = before ? json_deep_copy(before) : json_object();
    json_object_set_new(value,
                        v->type == LAUNCHER_LAUNCHING ? LAUNCHER_LAUNCHING_MEMBER : LAUNCHER_LAUNCHED_MEMBER,
                        json_string(v->version));
    submit_document(req, face, DOC_DATA_DEPLOYMENT, value, 200);
}

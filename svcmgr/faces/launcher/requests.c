/** Reads of request documents: see requests.h. */
#include "launcher/requests.h"

#include "launcher/kit.h"
#include "launcher/routes.h"

/* ---- a framework ---- */

/** Name of a role as the API has it: that of its component in what is wanted. */
static const char *role_name(const struct eng_service *s, const char *component)
{
    const struct eng_component_rules *rules = eng_rules_of(eng_service_wanted_rules(s), component);
    return rules->title ? rules->title : component;
}

json_t *launcher_view_descriptor(const struct eng_service *s)
{
    json_t *d = json_deep_copy(json_object_get(s->request, "frameworkDescriptor"));
    const struct spec_service *wanted = eng_service_wanted(s);
    json_t *roles = json_object_get(d, "taskRoles");
    if (!d)
        return json_null();
    json_object_set_new(d, "executionType", json_string(s->is_wanted_stopped ? "STOP" : "START"));
    for (size_t i = 0; i < wanted->n_components; i++) {
        const struct spec_component *c = wanted->components[i];
        json_t *role = json_object_get(roles, role_name(s, c->name));
        if (role)
            json_object_set_new(role, "taskNumber", json_integer(c->number_of_containers));
    }
    return d;
}

/** A member of what is stored, or null. [new] */
static json_t *stored(const json_t *doc, const char *member)
{
    json_t *value = json_object_get(doc, member);
    return value ? json_incref(value) : json_null();
}

json_t *launcher_view_request(const struct eng_service *s)
{
    json_t *out = json_object();
    json_object_set_new(out, "frameworkName", json_string(eng_service_title(s)));
    json_object_set_new(out, "frameworkDescriptor", launcher_view_descriptor(s));
    json_object_set_new(out, "launchClientType", stored(s->request, "launchClientType"));
    json_object_set_new(out, "launchClientHostName", stored(s->request, "launchClientHostName"));
    json_object_set_new(out, "launchClientUserName", stored(s->request, "launchClientUserName"));
    json_object_set_new(out, "firstRequestTimestamp", json_integer(s->first_request_ms));
    json_object_set_new(out, "lastRequestTimestamp", json_integer(s->last_request_ms));
    return out;
}

static json_t *progress_request(const struct eng_service *s)
{
    if (!s->has_progress)
        return json_null();
    return json_pack("{s:f}", "applicationProgress", (double)s->progress_ppm / ENG_PROGRESS_ALL);
}

/** Migrate requests that wait, or null. */
static json_t *migrate_requests(const struct eng_service *s)
{
    json_t *out = eng_service_migrations(s);
    if (json_object_size(out) > 0)
        return out;
    json_decref(out);
    return json_null();
}

json_t *launcher_view_aggregated_request(const struct eng_service *s)
{
    json_t *out = json_object();
    json_object_set_new(out, "frameworkRequest", launcher_view_request(s));
    json_object_set_new(out, "overrideApplicationProgressRequest", progress_request(s));
    json_object_set_new(out, "migrateTaskRequests", migrate_requests(s));
    return out;
}

/* ---- the launcher ---- */

/** A document as last put, else one with its defaults. [new] */
static json_t *document_of(const struct engine *e, enum eng_cluster_document document,
                           const struct ldoc_type *type)
{
    const json_t *value = engine_cluster_document(e, document);
    struct ldoc_report report = LDOC_REPORT_EMPTY;
    struct err_info why;
    void *object = NULL;
    json_t *none = json_object(), *out = json_null();
    if (ldoc_read(type, value ? value : none, &object, &report, &why) == 0)
        out = ldoc_write(type, object);
    ldoc_free(type, object);
    ldoc_report_fini(&report);
    json_decref(none);
    return out;
}

json_t *launcher_view_cluster(const struct engine *e)
{
    return document_of(e, DOC_CLUSTER_CONFIGURATION, &launcher_cluster_type);
}

json_t *launcher_view_acl(const struct engine *e)
{
    return document_of(e, DOC_ACL_CONFIGURATION, &launcher_acl_type);
}

json_t *launcher_view_launcher_request(const struct engine *e)
{
    const json_t *versions = engine_cluster_document(e, DOC_DATA_DEPLOYMENT);
    json_t *out = json_object();
    json_object_set_new(out, LAUNCHER_LAUNCHING_MEMBER, stored(versions, LAUNCHER_LAUNCHING_MEMBER));
    json_object_set_new(out, LAUNCHER_LAUNCHED_MEMBER, stored(versions, LAUNCHER_LAUNCHED_MEMBER));
    json_object_set_new(out, "clusterConfiguration", launcher_view_cluster(e));
    json_object_set_new(out, "aclConfiguration", launcher_view_acl(e));
    return out;
}

/* ---- handlers ---- */

static const struct engine *engine_of(void *app)
{
    struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    return face->ops->engine(face->app);
}

void launcher_request_get(struct http_req *req, void *app)
{
    struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    const struct eng_service *s = launcher_find(req, face);
    if (s)
        launcher_reply_json(req, launcher_view_request(s));
}

void launcher_aggregated_request_get(struct http_req *req, void *app)
{
    struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    const struct eng_service *s = launcher_find(req, face);
    if (s)
        launcher_reply_json(req, launcher_view_aggregated_request(s));
}

void launcher_launcher_request_get(struct http_req *req, void *app)
{
    launcher_reply_json(req, launcher_view_launcher_request(engine_of(app)));
}

void launcher_cluster_get(struct http_req *req, void *app)
{
    launcher_reply_json(req, launcher_view_cluster(engine_of(app)));
}

void launcher_acl_get(struct http_req *req, void *app)
{
    launcher_reply_json(req, launcher_view_acl(engine_of(app)));
}

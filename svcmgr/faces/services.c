/** The handlers of the services API: see services_routes.h. */
#include "faces/services.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/str.h"
#include "faces/paths.h"
#include "faces/services_answer.h"
#include "faces/services_routes.h"
#include "json/json.h"

#define CODE_NOT_FOUND 404004
#define RETRY_AFTER_S  "1"
/** The line of the diagnostics that names them. */
#define IGNORED_MEMBERS "Ignored unknown members: "
#define PENDING_MAGIC   OBJ_MAGIC('P', 'E', 'N', 'D')
#define LOOKING_MAGIC   OBJ_MAGIC('L', 'O', 'O', 'K')

/* ---- answering ---- */

static void reply_json(struct http_req *req, int status, json_t *take_doc)
{
    struct buf body = BUF_EMPTY;
    json_write(take_doc, &body);
    json_decref(take_doc);
    http_reply(req, status, SERVICES_JSON, &body);
}

/** A ServiceStatus; code 0 and state NULL are left out. */
static void reply_status(struct http_req *req, int status, const char *diagnostics, int code,
                         const char *state)
{
    json_t *doc = json_object();
    json_object_set_new(doc, "diagnostics", json_string(diagnostics));
    if (code)
        json_object_set_new(doc, "code", json_integer(code));
    if (state)
        json_object_set_new(doc, "state", json_string(state));
    reply_json(req, status, doc);
}

static void reply_text(struct http_req *req, int status, const char *diagnostics)
{
    reply_status(req, status, diagnostics, 0, NULL);
}

/** A document that could not be read: 400 whatever was wrong with it. */
static void reply_unread(struct http_req *req, const struct err_info *why)
{
    reply_text(req, 400, why->text);
}

const char *services_write_error(struct http_req *req, int code, const struct err_info *why, struct buf *body)
{
    (void)req;
    json_auto json_t *doc = json_object();
    json_object_set_new(doc, "diagnostics", json_string(why && why->text[0] ? why->text : err_text(code)));
    json_write(doc, body);
    return SERVICES_JSON;
}

/* ---- preferences ---- */

enum preference { PREFER_NONE, PREFER_BODY, PREFER_MINIMAL };

static enum preference preference_of(const struct http_req *req)
{
    const char *prefer = http_header(req, "Prefer");
    if (prefer && strcasestr(prefer, "return=representation"))
        return PREFER_BODY;
    if (prefer && strcasestr(prefer, "return=minimal"))
        return PREFER_MINIMAL;
    return PREFER_NONE;
}

/** Whether the answer to a success has a body; reports the applied preference. */
static bool wants_body(struct http_req *req, const struct dialect *dialect)
{
    enum preference preference = preference_of(req);
    if (preference == PREFER_NONE)
        return dialect->answers_with_body;
    http_reply_header(req, "Preference-Applied",
                      preference == PREFER_BODY ? "return=representation" : "return=minimal");
    return preference == PREFER_BODY;
}

static void reply_no_content(struct http_req *req)
{
    struct buf none = BUF_EMPTY;
    http_reply(req, 204, NULL, &none);
}

/* ---- requests that the engine answers ---- */

struct pending {
    struct obj obj;
    struct http_req *req; /* NULL: the client went away */
    const struct dialect *dialect;
    enum services_verb verb;
    char *unknown; /* members of the definition that were ignored, in words; NULL: all are known */
};

static void free_pending(struct pending *p)
{
    free(p->unknown);
    obj_fini(&p->obj);
    free(p);
}

static void on_client_closed(void *arg)
{
    struct pending *p = obj_cast(arg, struct pending, PENDING_MAGIC);
    p->req = NULL;
}

static void reply_success(struct http_req *req, const struct pending *p, const struct eng_answer *a,
                          const struct services_reply *reply, const char *text)
{
    if (reply->may_be_empty && !wants_body(req, p->dialect)) {
        reply_no_content(req);
        return;
    }
    json_t *doc = json_object();
    if (p->verb == VERB_CREATE) {
        mem_auto char *uri = mem_fmt("/v1/services/%s", a->name), *location = mem_fmt("/app%s", uri);
        http_reply_header(req, "Location", location);
        json_object_set_new(doc, "uri", json_string(uri));
    }
    mem_auto char *warned = p->unknown ? mem_fmt("%s\n" IGNORED_MEMBERS "%s", text, p->unknown) : NULL;
    json_object_set_new(doc, "diagnostics", json_string(warned ? warned : text));
    if (reply->is_accepted)
        json_object_set_new(doc, "state", json_string("ACCEPTED"));
    reply_json(req, reply->status, doc);
}

/** A temporary refusal carries Retry-After. */
static void reply_refusal(struct http_req *req, int status, const char *diagnostics)
{
    if (status == 503)
        http_reply_header(req, "Retry-After", RETRY_AFTER_S);
    reply_text(req, status, diagnostics);
}

static void on_answered(void *arg, const struct eng_answer *a)
{
    struct pending *p = obj_cast(arg, struct pending, PENDING_MAGIC);
    buf_auto struct buf text = BUF_EMPTY;
    struct services_reply reply = services_answer(a, p->verb, p->dialect, &text);
    if (p->req && reply.is_success)
        reply_success(p->req, p, a, &reply, buf_cstr(&text));
    else if (p->req)
        reply_refusal(p->req, reply.status, buf_cstr(&text));
    free_pending(p);
}

static struct pending *reply_later(struct http_req *req, const struct face *face, enum services_verb verb)
{
    struct pending *p = mem_new(struct pending);
    obj_init(&p->obj, PENDING_MAGIC);
    p->req = req;
    p->dialect = face->ops->world(face->app)->dialect;
    p->verb = verb;
    http_reply_later(req, on_client_closed, p);
    return p;
}

/** Hand an event to the engine; its answer becomes the answer of the request. */
static void submit(struct http_req *req, const struct face *face, struct eng_event *ev,
                   enum services_verb verb)
{
    face->ops->submit(face->app, ev, on_answered, reply_later(req, face, verb));
}

/* ---- names in the path ---- */

/** Decoded {s}; replies itself when it is no service name. code: of the reply's body. */
static char *service_name(struct http_req *req, int code)
{
    struct err_info why = {0};
    char *name = NULL;
    if (http_path_element(req, "s", &name, &why)) {
        reply_text(req, 400, why.text);
        return NULL;
    }
    if (spec_check_name(name, false, &why)) {
        reply_status(req, 404, why.text, code, NULL);
        mem_free_ptr(&name);
    }
    return name;
}

/* ---- E1, E12: create ---- */

/** A document that is read again when it is known which of the files it names are there. */
struct looking {
    struct obj obj;
    struct pending *pending;
    const struct face *face;
    struct paths paths;
    struct spec_service *spec; /* as it was sent */
    char *user;
};

static void free_looking(struct looking *k)
{
    paths_fini(&k->paths);
    spec_free(k->spec);
    free(k->user);
    obj_fini(&k->obj);
    free(k);
}

static void submit_create(struct pending *p, const struct face *face, const char *user,
                          struct spec_service *take_spec)
{
    struct eng_event ev = {
        .kind = EV_CREATE, .user = user, .take_spec = take_spec, .save = take_spec->state == SPEC_STOPPED};
    face->ops->submit(face->app, &ev, on_answered, p);
}

static void on_looked(void *arg, const bool *absent, const struct err_info *problem)
{
    struct looking *k = obj_cast(arg, struct looking, LOOKING_MAGIC);
    struct pending *p = k->pending;
    struct err_info why = {0};

    k->paths.absent = absent;
    int err = absent ? paths_complete(k->spec, k->user, k->face, &k->paths, &why) : problem->code;
    if (!err)
        err = p->req ? problem->code : ERR_CANCELLED;
    if (!err) {
        submit_create(p, k->face, k->user, k->spec);
        k->spec = NULL;
    } else {
        if (p->req)
            reply_text(p->req, why.code ? 400 : err_http_status(err), why.code ? why.text : problem->text);
        free_pending(p);
    }
    free_looking(k);
}

/** A definition of a POST. */
struct definition {
    struct spec_service *spec;
    char *unknown; /* see struct pending */
};

static void create_from(struct http_req *req, struct face *face, struct definition *take_d)
{
    struct err_info why = {0};
    struct paths paths = {0};
    struct spec_service *spec = take_d->spec, *sent = spec_copy(spec);
    if (paths_complete(spec, http_user(req), face, &paths, &why)) {
        reply_text(req, 400, why.text);
        spec_free(spec);
        spec_free(sent);
        free(take_d->unknown);
        paths_fini(&paths);
        return;
    }
    struct pending *p = reply_later(req, face, VERB_CREATE);
    p->unknown = take_d->unknown;
    if (!paths.n) {
        spec_free(sent);
        submit_create(p, face, http_user(req), spec);
        return;
    }
    spec_free(spec);
    struct looking *k = mem_new(struct looking);
    obj_init(&k->obj, LOOKING_MAGIC);
    k->pending = p;
    k->face = face;
    k->paths = paths;
    k->spec = sent;
    k->user = mem_str(http_user(req));
    face->ops->look(face->app, k->user, (const char *const *)paths.items, paths.n, on_looked, k);
}

/**
 * Members that no definition knows are ignored and named, or refused.
 *
 * @param name     of the service, or NULL: it has none
 * @param unknown  the members in words; "": all are known
 * @return whether the request goes on; else it is answered
 */
static bool accept_unknown(struct http_req *req, const struct face *face, const char *name,
                           const char *unknown, bool is_strict)
{
    if (!*unknown)
        return true;
    if (!is_strict) {
        face->ops->note_unknown(face->app, http_user(req), name, unknown);
        return true;
    }
    mem_auto char *text = mem_fmt("Unknown members (strict=true): %s", unknown);
    reply_text(req, 400, text);
    return false;
}

/** Body as a Service; replies itself on error. @param out  spec NULL: it has replied [out] */
static void read_service(struct http_req *req, const struct face *face, bool is_strict,
                         struct definition *out)
{
    struct err_info why = {0};
    buf_auto struct buf unknown = BUF_EMPTY;
    size_t len;
    const char *body = http_body(req, &len);
    *out = (struct definition){.spec = NULL};
    if (len == 0)
        reply_text(req, 400, "No service data provided");
    else if (spec_read(body, len, &out->spec, &unknown, &why))
        reply_unread(req, &why);
    if (!out->spec)
        return;
    if (!accept_unknown(req, face, out->spec->name, buf_cstr(&unknown), is_strict)) {
        spec_free(out->spec);
        out->spec = NULL;
        return;
    }
    out->unknown = unknown.len ? buf_take(&unknown) : NULL;
}

void services_post(struct http_req *req, void *app)
{
    struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    struct definition d;
    read_service(req, face, http_param_bool(req, CREATE_STRICT), &d);
    if (d.spec)
        create_from(req, face, &d);
}

void service_post(struct http_req *req, void *app)
{
    struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    mem_auto char *name = service_name(req, 0);
    struct definition d = {.spec = NULL};
    if (name)
        read_service(req, face, http_param_bool(req, CHANGE_STRICT), &d);
    if (!d.spec)
        return;
    if (!d.spec->name)
        d.spec->name = mem_str(name);
    if (strcmp(d.spec->name, name) != 0) {
        mem_auto char *text =
            mem_fmt("Service name in the request object (%s) does not match that in the URI path (%s)",
                    d.spec->name, name);
        reply_text(req, 400, text);
        spec_free(d.spec);
        free(d.unknown);
        return;
    }
    create_from(req, face, &d);
}

/* ---- E2..E4: read ---- */

void services_list(struct http_req *req, void *app)
{
    struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    const struct dialect *dialect = face->ops->world(face->app)->dialect;
    mem_auto const struct eng_service **list = engine_list(face->ops->engine(face->app), http_user(req));
    json_t *doc = json_array();
    for (size_t i = 0; list[i]; i++) {
        if (eng_service_is_live(list[i]))
            json_array_append_new(doc, services_view_short(list[i], dialect, face->ops->now_ms(face->app)));
    }
    reply_json(req, 200, doc);
}

void services_version(struct http_req *req, void *app)
{
    (void)obj_cast(app, struct face, FACE_MAGIC);
    reply_json(req, 200, json_pack("{s:s}", "hadoop_version", BOBBIN_VERSION));
}

void service_get(struct http_req *req, void *app)
{
    struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    mem_auto char *name = service_name(req, CODE_NOT_FOUND);
    if (!name)
        return;
    const struct engine *engine = face->ops->engine(face->app);
    const struct eng_service *s = engine_find(engine, http_user(req), name);
    if (!s) {
        mem_auto char *text = mem_fmt("Service %s not found", name);
        reply_status(req, 404, text, CODE_NOT_FOUND, NULL);
        return;
    }
    const struct dialect *dialect = face->ops->world(face->app)->dialect;
    json_t *doc = services_view(engine, s, dialect, face->ops->now_ms(face->app), face);
    if (http_param_bool(req, SERVICE_EXPLAIN))
        json_object_set_new(doc, "explain", services_view_explain(s, face));
    reply_json(req, 200, doc);
}

/* ---- E5: change a service ---- */

/** A PUT that is being decoded: what the operations have in common. */
struct change {
    struct http_req *req;
    struct face *face;
    const char *name;
    const struct spec_service *body;
    struct eng_event ev; /* user and name are set */
};

static void change_flex(struct change *c)
{
    size_t n = c->body->n_components;
    mem_auto struct eng_flex *flex = mem_array(n + 1, sizeof flex[0]);
    for (size_t i = 0; i < n; i++) {
        const struct spec_component *k = c->body->components[i];
        if (!k->name || k->number_of_containers == FLD_UNSET) {
            reply_text(c->req, 400, k->name ? "No container count provided" : "Name can not be empty!");
            return;
        }
        flex[i] = (struct eng_flex){k->name, k->number_of_containers, k->count_is_relative};
    }
    c->ev.kind = EV_FLEX;
    c->ev.flex = flex;
    c->ev.n_flex = n;
    submit(c->req, c->face, &c->ev, VERB_CHANGE);
}

static void change_stop(struct change *c)
{
    c->ev.kind = EV_STOP;
    submit(c->req, c->face, &c->ev, VERB_CHANGE);
}

static void change_start(struct change *c)
{
    struct err_info why = {0};
    const struct eng_service *s = engine_find(c->face->ops->engine(c->face->app), c->ev.user, c->name);
    if (s && !eng_service_is_live(s) && spec_check_launch(s->spec, c->face->ops->world(c->face->app), &why)) {
        reply_text(c->req, 400, why.text);
        return;
    }
    c->ev.kind = EV_START;
    submit(c->req, c->face, &c->ev, VERB_CHANGE);
}

static void reply_missing_or(struct change *c, int status, const char *text)
{
    if (!engine_find(c->face->ops->engine(c->face->app), c->ev.user, c->name)) {
        mem_auto char *missing = mem_fmt("Service %s not found", c->name);
        reply_text(c->req, 404, missing);
    } else if (text) {
        reply_text(c->req, status, text);
    } else {
        reply_no_content(c->req);
    }
}

static void change_upgrade(struct change *c)
{
    reply_missing_or(c, 400, "Service upgrade is disabled.");
}

static void change_cancel_upgrade(struct change *c)
{
    mem_auto char *text = mem_fmt("Service %s is not upgrading, so nothing to cancel.", c->name);
    reply_missing_or(c, 400, text);
}

static void change_lifetime(struct change *c)
{
    c->ev.kind = EV_LIFETIME;
    c->ev.lifetime_s = c->body->lifetime;
    submit(c->req, c->face, &c->ev, VERB_CHANGE);
}

/** "comp-1" or "comp-1.service.user[.domain]" as "comp-1"; NULL: replied with what is wrong. */
static char *bare_instance(struct change *c, const char *instance)
{
    size_t bare_len = strcspn(instance, ".");
    mem_auto char *bare = mem_strn(instance, bare_len);
    mem_auto char *user = spec_registry_user(c->ev.user);
    mem_auto char *suffix = mem_fmt(".%s.%s", c->name, user);
    mem_auto char *text = NULL;
    if (!strchr(bare, '-'))
        text = mem_fmt("Invalid component instance (%s) name.", instance);
    else if (instance[bare_len] && !str_starts(instance + bare_len, suffix))
        text = mem_fmt("Specified hostname %s does not have the expected format componentInstanceName%s",
                       instance, suffix);
    if (!text)
        return mem_str(bare);
    reply_text(c->req, 400, text);
    return NULL;
}

static void free_names(char **names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(names[i]);
    free(names);
}

static void change_decommission(struct change *c)
{
    size_t n = 0, n_read = 0;
    for (size_t i = 0; i < c->body->n_components; i++)
        n += c->body->components[i]->n_decommissioned_instances;
    char **names = mem_array(n + 1, sizeof names[0]);
    bool good = true;
    for (size_t i = 0; i < c->body->n_components; i++) {
        const struct spec_component *k = c->body->components[i];
        for (size_t d = 0; good && d < k->n_decommissioned_instances; d++) {
            names[n_read] = bare_instance(c, k->decommissioned_instances[d]);
            good = names[n_read] != NULL;
            n_read += good;
        }
    }
    c->ev.kind = EV_DECOMMISSION;
    c->ev.names = (const char *const *)names;
    c->ev.n_names = n_read;
    if (good)
        submit(c->req, c->face, &c->ev, VERB_DECOMMISSION);
    free_names(names, n_read);
}

static bool wants_decommission(const struct spec_service *body)
{
    for (size_t i = 0; i < body->n_components; i++) {
        if (body->components[i]->n_decommissioned_instances > 0)
            return true;
    }
    return false;
}

/** The first row of the API's table that the body fits. */
static void change_by_body(struct change *c)
{
    switch (c->body->state) {
    case SPEC_FLEX: change_flex(c); return;
    case SPEC_STOPPED: change_stop(c); return;
    case SPEC_STARTED: change_start(c); return;
    case SPEC_UPGRADING:
    case SPEC_UPGRADING_AUTO_FINALIZE:
    case SPEC_EXPRESS_UPGRADING: change_upgrade(c); return;
    case SPEC_CANCEL_UPGRADING: change_cancel_upgrade(c); return;
    default: break;
    }
    if (c->body->lifetime > 0)
        change_lifetime(c);
    else if (wants_decommission(c->body))
        change_decommission(c);
    else
        reply_missing_or(c, 0, NULL);
}

void service_put(struct http_req *req, void *app)
{
    struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    mem_auto char *name = service_name(req, 0);
    struct definition d = {.spec = NULL};
    if (name)
        read_service(req, face, http_param_bool(req, CHANGE_STRICT), &d);
    if (!d.spec)
        return;
    struct change c = {req, face, name, d.spec, {.user = http_user(req), .name = name}};
    change_by_body(&c);
    spec_free(d.spec);
    free(d.unknown);
}

/* ---- E6: destroy ---- */

void service_delete(struct http_req *req, void *app)
{
    struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    mem_auto char *name = service_name(req, 0);
    if (!name)
        return;
    struct eng_event ev = {.kind = EV_DESTROY, .user = http_user(req), .name = name};
    submit(req, face, &ev, VERB_DESTROY);
}

/* ---- E7: flex one component ---- */

/** What is wrong with the body for component `name`, or NULL. New text, free() */
static char *component_fault(const struct spec_component *body, const char *name)
{
    if (body->name && strcmp(body->name, name) != 0)
        return mem_fmt("Component name in the request object (%s) does not match that in the URI path (%s)",
                       body->name, name);
    if (body->number_of_containers == FLD_UNSET)
        return mem_str("No container count provided");
    if (body->number_of_containers < 0 && !body->count_is_relative)
        return mem_fmt("Invalid number of containers specified %lld", (long long)body->number_of_containers);
    return NULL;
}

static void flex_component(struct http_req *req, struct face *face, const char *service,
                           const struct spec_component *body, const char *name)
{
    mem_auto char *fault = component_fault(body, name);
    if (body->state == SPEC_UPGRADING && (!body->name || strcmp(body->name, name) == 0)) {
        mem_auto char *text = mem_fmt("The upgrade of service %s has not been initiated.", service);
        struct change c = {req, face, service, NULL, {.user = http_user(req), .name = service}};
        reply_missing_or(&c, 400, text);
        return;
    }
    if (fault) {
        reply_text(req, 400, fault);
        return;
    }
    struct eng_flex flex = {name, body->number_of_containers, body->count_is_relative};
    struct eng_event ev = {
        .kind = EV_FLEX, .user = http_user(req), .name = service, .flex = &flex, .n_flex = 1};
    submit(req, face, &ev, VERB_COMPONENT);
}

void component_put(struct http_req *req, void *app)
{
    struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    struct err_info why = {0};
    mem_auto char *service = service_name(req, 0);
    mem_auto char *name = NULL;
    if (!service)
        return;
    if (http_path_element(req, "c", &name, &why)) {
        reply_text(req, 400, why.text);
        return;
    }
    size_t len;
    const char *bytes = http_body(req, &len);
    mem_auto char *text = mem_strn(bytes ? bytes : "", len);
    mem_auto char *trimmed = str_trim(text);
    if (!trimmed[0] || strcmp(trimmed, "null") == 0) {
        reply_text(req, 400, "No component data provided");
        return;
    }
    struct spec_component *body = NULL;
    buf_auto struct buf unknown = BUF_EMPTY;
    if (spec_read_component(bytes, len, &body, &unknown, &why)) {
        reply_unread(req, &why);
        return;
    }
    if (accept_unknown(req, face, service, buf_cstr(&unknown), http_param_bool(req, COMPONENT_STRICT)))
        flex_component(req, face, service, body, name);
    fld_free(&spec_component_type, body);
}

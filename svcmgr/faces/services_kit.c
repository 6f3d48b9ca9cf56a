/** Replies, pending requests and bodies of the services API: see services_kit.h. */
#include "faces/services_kit.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "faces/services.h"
#include "json/json.h"

#define RETRY_AFTER_S "1"
/** The line of the diagnostics that names them. */
#define IGNORED_MEMBERS "Ignored unknown members: "

/* ---- answering ---- */

void services_reply_json(struct http_req *req, int status, json_t *take_doc)
{
    struct buf body = BUF_EMPTY;
    json_write(take_doc, &body);
    json_decref(take_doc);
    http_reply(req, status, SERVICES_JSON, &body);
}

void services_reply_status(struct http_req *req, int status, const char *diagnostics, int code,
                           const char *state)
{
    json_t *doc = json_object();
    json_object_set_new(doc, "diagnostics", json_string(diagnostics));
    if (code)
        json_object_set_new(doc, "code", json_integer(code));
    if (state)
        json_object_set_new(doc, "state", json_string(state));
    services_reply_json(req, status, doc);
}

void services_reply_text(struct http_req *req, int status, const char *diagnostics)
{
    services_reply_status(req, status, diagnostics, 0, NULL);
}

const char *services_write_error(struct http_req *req, int code, const struct err_info *why, struct buf *body)
{
    (void)req;
    json_auto json_t *doc = json_object();
    json_object_set_new(doc, "diagnostics", json_string(why && why->text[0] ? why->text : err_text(code)));
    if (code == ERR_UNKNOWN_OUTCOME) /* its status is that of what was not done, too */
        json_object_set_new(doc, "code", json_integer(err_exit_code(code)));
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

void services_reply_no_content(struct http_req *req)
{
    struct buf none = BUF_EMPTY;
    http_reply(req, 204, NULL, &none);
}

void services_reply_not_modified(struct http_req *req)
{
    struct buf none = BUF_EMPTY;
    http_reply(req, 304, NULL, &none);
}

/* ---- requests that the engine answers ---- */

void services_drop(struct services_pending *p)
{
    free(p->unknown);
    obj_fini(&p->obj);
    free(p);
}

static void on_client_closed(void *arg)
{
    struct services_pending *p = obj_cast(arg, struct services_pending, SERVICES_PENDING_MAGIC);
    p->req = NULL;
}

static void reply_success(struct http_req *req, const struct services_pending *p, const struct eng_answer *a,
                          const struct services_reply *reply, const char *text)
{
    if (reply->may_be_empty && !wants_body(req, p->dialect)) {
        services_reply_no_content(req);
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
    services_reply_json(req, reply->status, doc);
}

/** A temporary refusal carries Retry-After. */
static void reply_refusal(struct http_req *req, int status, const char *diagnostics)
{
    if (status == 503)
        http_reply_header(req, "Retry-After", RETRY_AFTER_S);
    services_reply_text(req, status, diagnostics);
}

void services_answered(void *arg, const struct eng_answer *a)
{
    struct services_pending *p = obj_cast(arg, struct services_pending, SERVICES_PENDING_MAGIC);
    buf_auto struct buf text = BUF_EMPTY;
    struct services_reply reply = services_answer(a, p->verb, p->dialect, &text);
    struct err_info why;
    if (p->req && (a->outcome == OUT_UNKNOWN || a->outcome == OUT_CANCELLED))
        http_reply_error(p->req, err_set(&why, ERR_UNKNOWN_OUTCOME, NULL, "%s", buf_cstr(&text)), &why);
    else if (p->req && reply.is_success)
        reply_success(p->req, p, a, &reply, buf_cstr(&text));
    else if (p->req)
        reply_refusal(p->req, reply.status, buf_cstr(&text));
    services_drop(p);
}

/** A gateway waits for the end of a service, and not much longer: what was asked for is under way. */
static void on_late(void *arg)
{
    struct services_pending *p = obj_cast(arg, struct services_pending, SERVICES_PENDING_MAGIC);
    json_t *doc = json_object();
    json_object_set_new(doc, "diagnostics",
                        json_string("The service is being stopped, and will be destroyed then"));
    json_object_set_new(doc, "state", json_string("ACCEPTED"));
    services_reply_json(p->req, 202, doc);
    p->req = NULL;
}

struct services_pending *services_reply_later(struct http_req *req, const struct face *face,
                                              enum services_verb verb)
{
    struct services_pending *p = mem_new(struct services_pending);
    obj_init(&p->obj, SERVICES_PENDING_MAGIC);
    p->req = req;
    p->dialect = face->ops->world(face->app)->dialect;
    p->verb = verb;
    p->face = face;
    p->is_plan = verb != VERB_DESTROY && services_wants_plan(req);
    http_reply_later(req, on_client_closed, p);
    if (verb == VERB_DESTROY)
        http_reply_if_late(req, on_late);
    return p;
}

void services_hand_over(struct services_pending *p, const struct face *face, struct eng_event *ev)
{
    if (p->is_plan)
        face->ops->plan(face->app, ev, services_planned, p);
    else
        face->ops->submit(face->app, ev, services_answered, p);
}

void services_submit(struct http_req *req, const struct face *face, struct eng_event *ev,
                     enum services_verb verb)
{
    services_hand_over(services_reply_later(req, face, verb), face, ev);
}

/* ---- names in the path ---- */

static char *path_name(struct http_req *req, int status, int code)
{
    struct err_info why = {0};
    char *name = NULL;
    if (http_path_element(req, "s", &name, &why)) {
        services_reply_text(req, 400, why.text);
        return NULL;
    }
    if (spec_check_name(name, false, &why)) {
        services_reply_status(req, status, why.text, code, NULL);
        mem_free_ptr(&name);
    }
    return name;
}

char *services_path_name(struct http_req *req)
{
    return path_name(req, 404, SERVICES_CODE_NOT_FOUND);
}

char *services_path_name_for(struct http_req *req, const struct face *face, enum services_verb verb)
{
    return path_name(req, services_malformed_status(verb, face->ops->world(face->app)->dialect), 0);
}

char *services_path_element(struct http_req *req, const char *element)
{
    struct err_info why = {0};
    char *name = NULL;
    if (http_path_element(req, element, &name, &why))
        services_reply_text(req, 400, why.text);
    return name;
}

const struct eng_service *services_find(struct http_req *req, const struct face *face, const char *name,
                                        int code)
{
    const struct engine *engine = face->ops->engine(face->app);
    const struct eng_service *s = engine_find(engine, KIND_SERVICE, http_user(req), name);
    mem_auto char *text = mem_fmt("Service %s not found", name);
    if (!s)
        services_reply_status(req, 404, text, code, NULL);
    return s;
}

const struct eng_instance *services_find_placed(struct http_req *req, const struct eng_service *s,
                                                const char *instance)
{
    const struct eng_instance *inst = eng_service_instance(s, instance);
    struct err_info why;

    if (inst && inst->container_id)
        return inst;
    if (inst)
        err_set(&why, ERR_WRONGSTATE, instance, "the instance has no container now");
    else
        err_set(&why, ERR_NOTFOUND, instance, "the service has no such instance");
    http_reply_error(req, why.code, &why);
    return NULL;
}

const struct eng_service *services_find_for(struct http_req *req, const struct face *face, const char *name,
                                            enum services_verb verb)
{
    const struct engine *engine = face->ops->engine(face->app);
    const struct eng_service *s = engine_find(engine, KIND_SERVICE, http_user(req), name);
    const struct eng_answer missing = {.outcome = OUT_NOT_FOUND, .name = (char *)name};
    buf_auto struct buf text = BUF_EMPTY;
    if (s)
        return s;
    struct services_reply reply =
        services_answer(&missing, verb, face->ops->world(face->app)->dialect, &text);
    services_reply_text(req, reply.status, buf_cstr(&text));
    return NULL;
}

/* ---- bodies ---- */

bool services_body_is_empty(const struct http_req *req)
{
    const char *blanks = " \t\r\n";
    const char *body = http_body(req, NULL);
    body += strspn(body, blanks);
    if (strncmp(body, "null", strlen("null")) == 0)
        body += strlen("null");
    return !body[strspn(body, blanks)];
}

bool services_accept_unknown(struct http_req *req, const struct face *face, const char *name,
                             const char *unknown, bool is_strict)
{
    if (!*unknown)
        return true;
    if (!is_strict) {
        face->ops->note_unknown(face->app, http_user(req), name, unknown);
        return true;
    }
    mem_auto char *text = mem_fmt("Unknown members (strict=true): %s", unknown);
    services_reply_text(req, 400, text);
    return false;
}

void services_read_definition(struct http_req *req, const struct face *face, bool is_strict,
                              struct services_definition *out)
{
    struct err_info why = {0};
    buf_auto struct buf unknown = BUF_EMPTY;
    size_t len;
    const char *body = http_body(req, &len);
    *out = (struct services_definition){.spec = NULL};
    if (len == 0)
        services_reply_text(req, 400, "No service data provided");
    else if (spec_read(body, len, &out->spec, &unknown, &why))
        services_reply_text(req, 400, why.text);
    if (!out->spec)
        return;
    if (!services_accept_unknown(req, face, out->spec->name, buf_cstr(&unknown), is_strict)) {
        spec_free(out->spec);
        out->spec = NULL;
        return;
    }
    out->unknown = unknown.len ? buf_take(&unknown) : NULL;
}

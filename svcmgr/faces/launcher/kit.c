/** Replies, errors, bodies and pending requests: see kit.h. */
#include "launcher/kit.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "json/json.h"
#include "json/writer.h"
#include "launcher/pretty.h"
#include "launcher/routes.h"
#include "spec/label.h"

#define PENDING_MAGIC OBJ_MAGIC('L', 'P', 'N', 'D')
#define EXCEPTIONS    "com.microsoft.frameworklauncher.common.exceptions."

/* ---- replies ---- */

void launcher_reply_head(struct http_req *req)
{
    http_reply_header(req, "Cache-Control", "no-cache");
    http_reply_header(req, "Pragma", "no-cache");
    http_reply_header(req, "Expires", "Thu, 01 Jan 1970 00:00:00 GMT");
    http_reply_header(req, "X-Frame-Options", "DENY");
}

void launcher_reply_json(struct http_req *req, json_t *take_doc)
{
    buf_auto struct buf compact = BUF_EMPTY;
    struct buf body = BUF_EMPTY;
    struct launcher_pretty at = {0};
    json_write(take_doc, &compact);
    json_decref(take_doc);
    launcher_pretty_add(&at, compact.bytes, compact.len, &body);
    launcher_reply_head(req);
    http_reply(req, 200, LAUNCHER_JSON, &body);
}

void launcher_reply_done(struct http_req *req, int status)
{
    const char *host = http_header(req, "Host");
    mem_auto char *url = mem_fmt("http://%s%s", host ? host : "localhost", http_raw_path(req));
    struct buf none = BUF_EMPTY;
    launcher_reply_head(req);
    if (strcmp(http_method(req), "PUT") == 0)
        http_reply_header(req, "Location", url);
    http_reply(req, status, NULL, &none);
}

/* ---- errors ---- */

static const char *exception_of(int status)
{
    switch (status) {
    case 401:
    case 403: return "AuthorizationException";
    case 404: return "NotFoundException";
    case 429: return "ThrottledRequestException";
    default: return status < 500 ? "BadRequestException" : "TransientException";
    }
}

static void write_exception(struct jw *w, int status, const char *message)
{
    mem_auto char *class = mem_fmt(EXCEPTIONS "%s", exception_of(status));
    jw_kstr(w, "exception", exception_of(status));
    jw_kstr(w, "message", message);
    jw_kstr(w, "javaClassName", class);
}

static void write_message(int status, const char *message, struct buf *body)
{
    struct jw w = jw_on(body);
    jw_object(&w);
    write_exception(&w, status, message);
    jw_key(&w, "RemoteException");
    jw_object(&w);
    write_exception(&w, status, message);
    jw_object_end(&w);
    jw_object_end(&w);
}

void launcher_reply_error(struct http_req *req, int status, const char *message)
{
    struct buf body = BUF_EMPTY;
    write_message(status, message, &body);
    launcher_reply_head(req);
    if (status == 503)
        http_reply_header(req, "Retry-After", "1");
    http_reply(req, status, LAUNCHER_JSON, &body);
}

bool launcher_owns(const struct http_req *req)
{
    const char *path = http_raw_path(req);
    return str_starts(path, "/v1/Frameworks") || str_starts(path, "/v1/Launcher") || !strcmp(path, "/") ||
           !strcmp(path, "/v1") || !strcmp(path, "/v1/");
}

const char *launcher_write_error(struct http_req *req, int code, const struct err_info *why, struct buf *body)
{
    const char *text = why && why->text[0] ? why->text : err_text(code);
    mem_auto char *message = why && why->where[0] ? mem_fmt("%s: %s", why->where, text) : mem_str(text);
    launcher_reply_head(req);
    write_message(err_http_status(code), message, body);
    return LAUNCHER_JSON;
}

/* ---- names in the path ---- */

const struct launcher_site *launcher_site_of(const struct face *face)
{
    return face->launcher;
}

const struct eng_service *launcher_framework(const struct face *face, const char *name)
{
    mem_auto char *label = spec_label(name, SPEC_LABEL_SERVICE);
    return engine_find_framework(face->ops->engine(face->app), label);
}

const struct eng_service *launcher_find(struct http_req *req, const struct face *face)
{
    struct err_info why = {0};
    mem_auto char *name = NULL;
    int err = http_path_element(req, "f", &name, &why);
    const struct eng_service *s = !err && *name ? launcher_framework(face, name) : NULL;
    mem_auto char *text = mem_fmt("Framework [%.256s] is not found", name ? name : http_path_raw(req, "f"));
    if (!s)
        launcher_reply_error(req, 404, text);
    return s;
}

/** ^[A-Za-z0-9_]{1,256}$ */
static bool is_container_id(const char *text)
{
    size_t n = strlen(text);
    const char *chars = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";
    return n >= 1 && n <= 256 && strspn(text, chars) == n;
}

char *launcher_path_name(struct http_req *req, const char *element)
{
    struct err_info why = {0};
    char *name = NULL;
    int err = http_path_element(req, element, &name, &why);
    bool is_good = !err && (*element == 'c' ? is_container_id(name)
                                            : ldoc_is_name(name) && strcmp(name, ".") && strcmp(name, ".."));
    if (is_good)
        return name;
    const char *what = *element == 'f' ? "Framework" : *element == 'r' ? "TaskRole" : "Container";
    mem_auto char *text = mem_fmt("%s name [%.256s] is not matched with naming convention regex [%s]", what,
                                  http_path_raw(req, element),
                                  *element == 'c' ? "^[A-Za-z0-9_]{1,256}$" : "^[A-Za-z0-9\\-._~]{1,256}$");
    launcher_reply_error(req, 400, text);
    free(name);
    return NULL;
}

/* ---- bodies ---- */

/** No document: nothing, null or an empty text. @param value  NULL: the body is no JSON */
static bool is_nothing(const char *body, size_t len, const json_t *value)
{
    if (strspn(body, " \t\r\n") >= len)
        return true;
    return value && (json_is_null(value) || (json_is_string(value) && !*json_string_value(value)));
}

bool launcher_body_read(struct http_req *req, const struct ldoc_type *type, struct launcher_body *out)
{
    struct err_info why = {0};
    json_auto json_t *value = NULL;
    size_t len;
    const char *body = http_body(req, &len);
    *out = (struct launcher_body){type, NULL, LDOC_REPORT_EMPTY};
    int err = json_read(body, len, &value, &why);
    if (is_nothing(body, len, value))
        return true;
    if (!err)
        err = ldoc_read(type, value, &out->object, &out->report, &why);
    if (!err)
        return true;
    mem_auto char *text = mem_fmt("%s%s%s", why.where, why.where[0] ? ": " : "", why.text);
    launcher_reply_error(req, 400, text);
    ldoc_report_fini(&out->report);
    return false;
}

bool launcher_body_check(struct http_req *req, const struct launcher_body *b)
{
    struct buf rules = b->report.rules;
    if (!b->object)
        launcher_reply_error(req, 400, "Object is null");
    else if (b->report.n_rules)
        launcher_reply_error(req, 400, buf_cstr(&rules));
    return b->object && !b->report.n_rules;
}

void launcher_body_fini(struct launcher_body *b)
{
    ldoc_free(b->type, b->object);
    b->object = NULL;
    ldoc_report_fini(&b->report);
}

/* ---- requests that the engine answers ---- */

struct pending {
    struct obj obj;
    struct http_req *req; /* NULL: the client went away */
    struct launcher_verb verb;
};

static void on_closed(void *arg)
{
    obj_cast(arg, struct pending, PENDING_MAGIC)->req = NULL;
}

/** Status and text of an outcome. @return free(); NULL: it is done */
static char *refusal_of(const struct eng_answer *a, const struct launcher_verb *verb, int *status)
{
    *status = 400;
    switch (a->outcome) {
    case OUT_NOT_FOUND: *status = verb->missing; return mem_str("Framework is not found");
    case OUT_NO_COMPONENT: *status = 404; return mem_str("TaskRole is not found");
    case OUT_QUOTA:
        *status = 429;
        return mem_fmt("TotalTaskNumber [%lld] exceeds %lld of %s", (long long)a->n_new, (long long)a->n_old,
                       a->quota ? a->quota : "all");
    case OUT_TOO_MANY_MIGRATIONS:
        *status = 429;
        return mem_fmt("More than %lld MigrateTasks wait", (long long)a->n_old);
    case OUT_NO_PARENT:
        return mem_fmt("parentFramework.parentFrameworkName: Framework [%s] is not requested, and "
                       "deleteOnParentDeleted is true",
                       a->parent ? a->parent : "");
    case OUT_LACKS_COMPONENT:
        return mem_fmt("taskRoles: TaskRole [%s] can only be removed with another version",
                       a->component ? a->component : "");
    case OUT_TAKEN:
    case OUT_HOME_TAKEN:
        return mem_fmt("user.name: the Framework, or the user's place in the registry, is that of user [%s]; "
                       "delete that Framework first",
                       a->user ? a->user : "");
    case OUT_TOO_MANY:
        return mem_fmt("taskNumber: %lld, at most %lld are allowed", (long long)a->n_new,
                       (long long)a->n_old);
    case OUT_BAD_COUNT: return mem_str("taskNumber: must be greater than or equal to 0");
    case OUT_TOO_LARGE:
    case OUT_NOT_STORABLE: return mem_str(a->reason ? a->reason : "The Framework is too large to be stored");
    case OUT_STORE_FAILED:
    case OUT_BUSY:
        *status = 503;
        return mem_fmt("The request was not recorded: %s",
                       a->reason ? a->reason : "too much waits for the store");
    default: return NULL;
    }
}

static void reply_answer(struct http_req *req, const struct pending *p, const struct eng_answer *a)
{
    int status;
    mem_auto char *text = refusal_of(a, &p->verb, &status);
    struct err_info why;
    if (a->outcome == OUT_UNKNOWN || a->outcome == OUT_CANCELLED)
        http_reply_error(
            req, err_set(&why, ERR_UNKNOWN_OUTCOME, NULL, "Whether the request is recorded is not known"),
            &why);
    else if (text && status >= 400)
        launcher_reply_error(req, status, text);
    else
        launcher_reply_done(req, p->verb.done);
}

static void on_answered(void *arg, const struct eng_answer *a)
{
    struct pending *p = obj_cast(arg, struct pending, PENDING_MAGIC);
    if (p->req)
        reply_answer(p->req, p, a);
    obj_fini(&p->obj);
    free(p);
}

void launcher_submit(struct http_req *req, const struct face *face, struct eng_event *ev,
                     struct launcher_verb verb)
{
    struct pending *p = mem_new(struct pending);
    obj_init(&p->obj, PENDING_MAGIC);
    p->req = req;
    p->verb = verb;
    http_reply_later(req, on_closed, p);
    face->ops->submit(face->app, ev, on_answered, p);
}

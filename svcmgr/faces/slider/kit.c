/** Replies, errors, the application of a request: see kit.h. */
#include "slider/kit.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/str.h"
#include "http/negotiate.h"
#include "json/json.h"
#include "json/writer.h"
#include "run/loop.h"
#include "slider/documents.h"
#include "slider/model.h"

#define PENDING_MAGIC OBJ_MAGIC('S', 'P', 'N', 'D')
#define ROOT          "/ws/v1/slider"
#define PACKAGE       "org.apache.hadoop.yarn.webapp."
/** Browsers show pages of their own instead of shorter errors. */
#define ERROR_LEAST   512
#define RETRY_AFTER_S "2"

/* ---- replies ---- */

/** Whether nobody on the way may keep an answer, not even to ask whether it is current. */
static bool is_private(const struct http_req *req)
{
    const char *path = http_raw_path(req);
    return strstr(path, "/application/action") || strstr(path, "/application/model/internal");
}

/** "Tue, 24 Nov 2026 22:00:00 GMT". Source: RFC 9110 5.6.7. */
static void http_date(char *out, size_t room)
{
    time_t now = (time_t)(run_wall_ms() / 1000);
    struct tm tm;
    gmtime_r(&now, &tm);
    strftime(out, room, "%a, %d %b %Y %H:%M:%S GMT", &tm);
}

void slider_reply_head(struct http_req *req)
{
    char date[64];
    http_date(date, sizeof date);
    http_reply_header(req, "Cache-Control", is_private(req) ? "no-cache, no-store" : "no-cache");
    http_reply_header(req, "Pragma", "no-cache");
    http_reply_header(req, "Date", date);
    http_reply_header(req, "Expires", date);
}

void slider_reply_json(struct http_req *req, int status, json_t *take_doc)
{
    struct buf body = BUF_EMPTY;
    json_write(take_doc, &body);
    json_decref(take_doc);
    slider_reply_head(req);
    http_reply(req, status, SLIDER_JSON, &body);
}

void slider_reply_names(struct http_req *req, const char *const *names)
{
    json_t *list = json_array();
    for (size_t i = 0; names[i]; i++)
        json_array_append_new(list, json_string(names[i]));
    slider_reply_json(req, 200, list);
}

void slider_reply_redirect(struct http_req *req, int status, const char *url)
{
    struct buf none = BUF_EMPTY;
    slider_reply_head(req);
    http_reply_header(req, "Location", url);
    http_reply(req, status, NULL, &none);
}

static void add_warning(struct buf *value, char *take_text)
{
    mem_auto char *text = take_text;
    for (char *p = text; p && *p; p++)
        *p = *p == '"' || *p == '\\' ? '\'' : *p; /* what ends or escapes in a quoted string */
    if (text)
        buf_addf(value, "%s299 - \"%s\"", value->len ? ", " : "", text);
}

void slider_reply_warnings(struct http_req *req, const json_t *resources, const json_t *app_conf)
{
    buf_auto struct buf value = BUF_EMPTY;
    add_warning(&value, slider_resources_warning(resources));
    add_warning(&value, slider_appconf_warning(app_conf));
    if (value.len)
        http_reply_header(req, "Warning", buf_cstr(&value));
}

/* ---- errors ---- */

static const char *exception_of(int status)
{
    switch (status) {
    case 400: return "BadRequestException";
    case 403: return "ForbiddenException";
    case 404: return "NotFoundException";
    default: return "WebApplicationException";
    }
}

static void write_exception(struct jw *w, int status, const char *message)
{
    mem_auto char *class = mem_fmt(PACKAGE "%s", exception_of(status));
    jw_kstr(w, "exception", exception_of(status));
    jw_kstr(w, "message", message);
    jw_kstr(w, "javaClassName", class);
}

static void write_error(const struct http_req *req, int status, const char *message, struct buf *body)
{
    const char *host = http_header(req, "Host"), *id = http_header(req, "X-Request-Id");
    size_t before = body->len;
    struct jw w = jw_on(body);
    jw_object(&w);
    jw_key(&w, "RemoteException");
    jw_object(&w);
    write_exception(&w, status, message);
    jw_object_end(&w);
    write_exception(&w, status, message);
    jw_kint(&w, "status", status);
    jw_kstr(&w, "method", http_method(req));
    jw_kstr(&w, "path", http_raw_path(req));
    if (host)
        jw_kstr(&w, "host", host);
    if (id)
        jw_kstr(&w, "requestId", id);
    if (body->len - before <= ERROR_LEAST) {
        char padding[ERROR_LEAST + 1];
        memset(padding, '.', ERROR_LEAST);
        padding[ERROR_LEAST - (body->len - before) + 1] = '\0';
        jw_kstr(&w, "padding", padding);
    }
    jw_object_end(&w);
}

void slider_reply_error(struct http_req *req, int status, const char *message)
{
    struct buf body = BUF_EMPTY;
    write_error(req, status, message, &body);
    slider_reply_head(req);
    if (status == 503)
        http_reply_header(req, "Retry-After", RETRY_AFTER_S);
    http_reply(req, status, SLIDER_JSON, &body);
}

void slider_reply_why(struct http_req *req, int status, const struct err_info *why)
{
    mem_auto char *text = mem_fmt("%s%s%s", why->where, why->where[0] ? ": " : "", why->text);
    slider_reply_error(req, status, text);
}

bool slider_owns(const struct http_req *req)
{
    const char *path = http_raw_path(req);
    return str_starts(path, "/proxy/") || str_starts(path, ROOT);
}

const char *slider_write_error(struct http_req *req, int code, const struct err_info *why, struct buf *body)
{
    const char *text = why && why->text[0] ? why->text : err_text(code);
    mem_auto char *message = why && why->where[0] ? mem_fmt("%s: %s", why->where, text) : mem_str(text);
    slider_reply_head(req);
    write_error(req, err_http_status(code), message, body);
    return SLIDER_JSON;
}

/** The type of what a path names: all is JSON but forms of configurations and the output of containers. */
static const char *type_of(const char *path)
{
    bool is_publisher = strstr(path, ROOT "/publisher/") != NULL;
    if (is_publisher && str_ends(path, ".xml"))
        return "application/xml";
    if ((is_publisher && str_ends(path, ".properties")) || strstr(path, "/logs/"))
        return "text/plain";
    return SLIDER_JSON;
}

int slider_check_accept(struct http_req *req, void *app, struct err_info *why)
{
    const char *type = type_of(http_raw_path(req));
    (void)app;
    if (http_accepts(http_header(req, "Accept"), type))
        return 0;
    return err_set(why, ERR_NOTACCEPTABLE, NULL, "the answer is %s, which the Accept of the request excludes",
                   type);
}

/* ---- the application of a request ---- */

char *slider_path_element(struct http_req *req, const char *element)
{
    struct err_info why = {0};
    char *text = NULL;
    if (http_path_element(req, element, &text, &why) == 0)
        return text;
    slider_reply_why(req, 400, &why);
    return NULL;
}

/** The one that a master runs; NULL: it is not loaded yet. */
static const struct eng_service *own_service(const struct engine *e)
{
    mem_auto const struct eng_service **list = engine_list(e, NULL);
    return list[0];
}

const struct eng_service *slider_find(struct http_req *req, const struct face *face)
{
    const struct engine *e = face->ops->engine(face->app);
    const char *id = http_path_raw(req, "a"); /* an id needs no decoding */
    const struct eng_service *s = id ? engine_find_application(e, id) : own_service(e);
    mem_auto char *text = mem_fmt("Unknown application: %.128s", id ? id : "");
    if (!s && !id)
        slider_reply_error(req, 503, "The application master starts");
    else if (!s)
        slider_reply_error(req, 404, text);
    return s;
}

const struct eng_service *slider_find_running(struct http_req *req, const struct face *face)
{
    const struct eng_service *s = slider_find(req, face);
    bool is_elsewhere = s && face->ops->forward && face->ops->forward(face->app, req, s);
    return is_elsewhere ? NULL : s;
}

bool slider_may_change(struct http_req *req, const struct face *face, const struct eng_service *s)
{
    const char *user = http_user(req);
    if (user && (strcmp(user, s->user) == 0 || face->ops->administers(face->app, user)))
        return true;
    mem_auto char *text =
        mem_fmt("User %.128s may not change the application of user %s", user ? user : "", s->user);
    slider_reply_error(req, 403, text);
    return false;
}

const struct eng_service *slider_find_to_change(struct http_req *req, const struct face *face)
{
    const struct eng_service *s = slider_find(req, face);
    if (!s || !slider_may_change(req, face, s))
        return NULL;
    mem_auto char *kind = mem_fmt("%s is an application of another API (%s): it is only read here",
                                  eng_service_title(s), eng_kind_word(s->kind));
    bool is_stopping = s->state == SVC_FINISHING || eng_service_is_ordered(s, EV_STOP);
    bool runs =
        eng_service_is_live(s) && !is_stopping && s->state != SVC_BACKOFF && s->state != SVC_SUBMITTING;
    mem_auto char *state = mem_fmt("Application %s is %s: it cannot be changed now", eng_service_title(s),
                                   eng_service_state_word(is_stopping ? SVC_FINISHING : s->state));
    if (!slider_has_documents(s))
        slider_reply_error(req, 409, kind);
    else if (!runs)
        slider_reply_error(req, 503, state);
    return slider_has_documents(s) && runs ? s : NULL;
}

void slider_add_query(const struct http_req *req, struct buf *url)
{
    http_query_copy(req, url);
    if (http_user_is_named(req))
        http_query_add(url, "user.name", http_user(req));
}

char *slider_root_url(const struct http_req *req)
{
    const char *host = http_header(req, "Host"), *path = http_raw_path(req), *root = strstr(path, ROOT);
    size_t len = root ? (size_t)(root - path) + strlen(ROOT) : 0;
    return mem_fmt("http://%s%.*s", host ? host : "localhost", (int)len, path);
}

/* ---- requests that the engine answers ---- */

struct slider_next *slider_next_new(enum eng_event_kind kind)
{
    struct slider_next *next = mem_new(struct slider_next);
    next->kind = kind;
    return next;
}

void slider_next_free(struct slider_next *next)
{
    for (size_t i = 0; next && i < next->n_names; i++)
        free(next->names[i]);
    if (next) {
        free(next->names);
        json_decref(next->value);
    }
    free(next);
}

struct slider_pending {
    struct obj obj;
    struct http_req *req; /* NULL: the client went away */
    const struct face *face;
    struct slider_then then;
    char *user, *name; /* of the service; NULL: nothing follows */
};

static void on_closed(void *arg)
{
    obj_cast(arg, struct slider_pending, PENDING_MAGIC)->req = NULL;
}

static char *component_text(const struct eng_answer *a, const char *text)
{
    return mem_fmt("%s: %s", a->component ? a->component : "", text);
}

/** Status and text of an outcome. @return free(); NULL: it is done */
static char *refusal_of(const struct eng_answer *a, int *status)
{
    *status = 400;
    switch (a->outcome) {
    case OUT_NOT_FOUND: *status = 404; return mem_str("Unknown application");
    case OUT_NO_INSTANCE: *status = 404; return component_text(a, "no such instance");
    case OUT_NO_COMPONENT: *status = 404; return mem_fmt("Unknown component: %s", a->component);
    case OUT_NO_NODE: *status = 404; return mem_fmt("Unknown node: %s", a->host ? a->host : "");
    case OUT_BAD_COUNT: return component_text(a, "the number of instances would be negative");
    case OUT_TOO_MANY:
        return mem_fmt("%s: %lld instances are wanted, at most %lld are allowed",
                       a->component ? a->component : "", (long long)a->n_new, (long long)a->n_old);
    case OUT_TAKEN: *status = 409; return mem_str("An application of this name is there already");
    case OUT_IS_UPGRADING: *status = 409; return mem_str("An upgrade is under way");
    case OUT_HOME_TAKEN:
        *status = 409;
        return mem_fmt("Applications of user %s have their records at the same place of the registry",
                       a->user ? a->user : "");
    case OUT_QUOTA:
        *status = 429;
        return mem_fmt("%s: %lld containers are wanted together, at most %lld are allowed",
                       a->quota ? a->quota : "quota", (long long)a->n_new, (long long)a->n_old);
    case OUT_NOT_RUNNING:
    case OUT_NOT_SUBMITTED: *status = 503; return mem_str("The application does not run");
    case OUT_TOO_MANY_NODES:
    case OUT_TOO_LARGE:
    case OUT_NOT_STORABLE:
        return mem_str(a->reason ? a->reason : "The application is too large to be stored");
    case OUT_STORE_FAILED:
    case OUT_BUSY:
        *status = 503;
        return mem_fmt("The request was not recorded: %s",
                       a->reason ? a->reason : "too much waits for the store");
    default: return NULL;
    }
}

static void reply_answer(struct slider_pending *p, const struct eng_answer *a)
{
    int status;
    mem_auto char *text = refusal_of(a, &status);
    struct err_info why;
    json_t *doc = p->then.take_doc;
    if (a->outcome == OUT_UNKNOWN || a->outcome == OUT_CANCELLED) {
        http_reply_error(
            p->req, err_set(&why, ERR_UNKNOWN_OUTCOME, NULL, "Whether the request is recorded is not known"),
            &why);
    } else if (text) {
        slider_reply_error(p->req, status, text);
    } else {
        p->then.take_doc = NULL;
        if (p->then.reply)
            p->then.reply(p->req, p->face, doc);
        else
            slider_reply_json(p->req, 202, doc);
    }
}

static void drop(struct slider_pending *p)
{
    json_decref(p->then.take_doc);
    slider_next_free(p->then.take_next);
    free(p->user);
    free(p->name);
    obj_fini(&p->obj);
    free(p);
}

static void on_answered(void *arg, const struct eng_answer *a);

static void submit_next(struct slider_pending *p)
{
    struct slider_next *next = p->then.take_next;
    struct eng_event ev = {.kind = next->kind,
                           .service_kind = KIND_SLIDER,
                           .user = p->user,
                           .name = p->name,
                           .names = (const char *const *)next->names,
                           .n_names = next->n_names,
                           .value = next->value};
    p->then.take_next = NULL;
    p->face->ops->submit(p->face->app, &ev, on_answered, p);
    slider_next_free(next);
}

static void on_answered(void *arg, const struct eng_answer *a)
{
    struct slider_pending *p = obj_cast(arg, struct slider_pending, PENDING_MAGIC);
    int status;
    mem_auto char *refusal = refusal_of(a, &status);
    bool is_done = !refusal && a->outcome != OUT_UNKNOWN && a->outcome != OUT_CANCELLED;
    if (is_done && p->then.take_next) {
        submit_next(p);
        return;
    }
    if (p->req)
        reply_answer(p, a);
    drop(p);
}

struct slider_pending *slider_reply_later(struct http_req *req, const struct face *face,
                                          struct slider_then then)
{
    struct slider_pending *p = mem_new(struct slider_pending);
    obj_init(&p->obj, PENDING_MAGIC);
    p->req = req;
    p->face = face;
    p->then = then;
    http_reply_later(req, on_closed, p);
    return p;
}

void slider_hand_over(struct slider_pending *take_p, struct eng_event *ev)
{
    take_p->user = mem_str(ev->user);
    take_p->name = mem_str(ev->name);
    take_p->face->ops->submit(take_p->face->app, ev, on_answered, take_p);
}

void slider_refuse(struct slider_pending *take_p, int status, const struct err_info *why)
{
    if (take_p->req)
        slider_reply_why(take_p->req, status, why);
    drop(take_p);
}

void slider_submit(struct http_req *req, const struct face *face, struct eng_event *ev,
                   struct slider_then then)
{
    slider_hand_over(slider_reply_later(req, face, then), ev);
}

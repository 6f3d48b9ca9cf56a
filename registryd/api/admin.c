#include "api/api.h"
#include "registryd/events.h"
#include "json/members.h"
#include "base/mem.h"
#include "base/obj.h"
#include "json/json.h"
#include "json/writer.h"

#include <stdlib.h>
#include <string.h>

#define ADMIN_MAGIC OBJ_MAGIC('A', 'D', 'M', 'I')
#define SLOT_MAGIC  OBJ_MAGIC('A', 'S', 'L', 'T')

/** Events or users in one request. */
#define MAX_ITEMS 10000

/*
 * A request under way: operations are done ──► own mirror has applied them, or time-out ──► answer.
 * It continues when the client disconnects.
 */
struct admin {
    struct obj obj;
    struct api *api;
    struct http_req *req; /* NULL: the client has gone */
    struct buf body;      /* of the answer, once known */
    int err;
    struct err_info why;
    int64_t zxid;
    bool dry_run;
    struct slot *slots; /* events, or users */
    size_t n_slots, n_open;
};

/* One event or one user of a request, and its outcome. */
struct slot {
    struct obj obj;
    struct admin *admin;
    enum cleanup_kind kind;
    const char *type, *subject_name;
    char *subject;
    int err;
    struct cleanup_outcome outcome;
    char *homes[USERS_MAX_HOMES];
    size_t n_homes;
};

static void on_client_gone(void *arg)
{
    obj_cast(arg, struct admin, ADMIN_MAGIC)->req = NULL;
}

static struct admin *admin_new(struct api *api, struct http_req *req)
{
    struct admin *a = mem_new(struct admin);
    obj_init(&a->obj, ADMIN_MAGIC);
    a->api = api;
    a->req = req;
    return a;
}

static void admin_free(struct admin *a)
{
    for (size_t i = 0; i < a->n_slots; i++) {
        for (size_t h = 0; h < a->slots[i].n_homes; h++)
            free(a->slots[i].homes[h]);
        free(a->slots[i].subject);
    }
    free(a->slots);
    buf_fini(&a->body);
    obj_fini(&a->obj);
    free(a);
}

/* ---- answering ---- */

static void on_applied(void *arg, int late)
{
    struct admin *a = obj_cast(arg, struct admin, ADMIN_MAGIC);
    if (a->req) {
        api_revision(a->api, a->req, a->zxid);
        if (late)
            http_reply_header(a->req, "Bobbin-Applied", "false");
        if (a->err)
            api_refuse(a->api, a->req, a->err, &a->why);
        else
            http_reply(a->req, 200, "application/json", &a->body);
    }
    admin_free(a);
}

static void admin_finish(struct admin *a)
{
    a->zxid = a->zxid ? a->zxid : mirror_newest(a->api->mirror);
    mirror_when_applied(a->api->mirror, a->zxid, a->api->write_wait_ms, on_applied, a);
}

static void slot_close(struct admin *a, void (*write)(struct jw *w, const struct slot *s), const char *name)
{
    if (--a->n_open)
        return;
    struct jw w = jw_on(&a->body);
    jw_object(&w);
    jw_key(&w, name);
    jw_array(&w);
    for (size_t i = 0; i < a->n_slots; i++) {
        jw_object(&w);
        write(&w, &a->slots[i]);
        if (a->slots[i].err) {
            mem_auto char *type = mem_fmt("urn:bobbin:error:%s", err_type(a->slots[i].err));
            jw_kstr(&w, "error", type);
            jw_kstr(&w, "detail", a->slots[i].outcome.why.text);
            jw_kbool(&w, "retrying", a->slots[i].outcome.is_retrying);
        }
        jw_object_end(&w);
    }
    jw_array_end(&w);
    jw_object_end(&w);
    admin_finish(a);
}

static void note_zxid(struct admin *a, int64_t zxid)
{
    a->zxid = zxid > a->zxid ? zxid : a->zxid;
}

/* ---- reading bodies ---- */

static int read_body(struct http_req *req, json_t **out, struct err_info *why)
{
    size_t n;
    const char *bytes = http_body(req, &n);
    return json_read(bytes, n, out, why);
}

/* A text member; absent or null gives def. */
static int read_text(const json_t *body, const char *name, const char *def, const char **out,
                     struct err_info *why)
{
    const json_t *value = json_object_get(body, name);
    mem_auto char *where = mem_fmt("/%s", name);
    *out = def;
    if (json_is_string(value))
        *out = json_string_value(value);
    else if (value && !json_is_null(value))
        return err_set(why, ERR_INVALID, where, "a string is expected here");
    if (!*out)
        return err_set(why, ERR_INVALID, where, "this member is needed");
    return 0;
}

static int read_flag(const json_t *body, const char *name, bool *out, struct err_info *why)
{
    const json_t *value = json_object_get(body, name);
    mem_auto char *where = mem_fmt("/%s", name);
    *out = json_is_true(value);
    if (value && !json_is_boolean(value) && !json_is_null(value))
        return err_set(why, ERR_INVALID, where, "true or false is expected here");
    return 0;
}

/* Items of a body: its member `name`, the body itself when it is a list, or the body as the only one. */
static int body_items(json_t *body, const char *name, json_t **items, struct err_info *why)
{
    const char *const names[] = {name, NULL};
    json_t *list = json_is_array(body) ? body : json_object_get(body, name);
    int err = list ? members_check(body, names, why) : 0;
    if (err)
        return err;
    if (!list && json_is_object(body))
        *items = json_pack("[O]", body);
    else
        *items = json_incref(list);
    if (!json_is_array(*items) || json_array_size(*items) > MAX_ITEMS) {
        json_decref(*items);
        *items = NULL;
        return err_set(why, ERR_INVALID, "", "an object, or a list of at most %d, is expected", MAX_ITEMS);
    }
    return 0;
}

/* ---- purge ---- */

static void on_purged(void *arg, int err, const struct purge_result *r)
{
    struct admin *a = obj_cast(arg, struct admin, ADMIN_MAGIC);
    struct jw w = jw_on(&a->body);
    a->err = err;
    a->why = r->why;
    note_zxid(a, r->zxid);
    jw_object(&w);
    jw_kint(&w, "count", r->n_deletes);
    jw_kint(&w, "examined", r->n_examined);
    jw_kbool(&w, "dryRun", a->dry_run);
    jw_key(&w, "deleted");
    jw_array(&w);
    for (int64_t i = 0; i < r->n_deletes; i++)
        jw_str(&w, r->paths[i]);
    jw_array_end(&w);
    jw_object_end(&w);
    admin_finish(a);
}

static int read_purge(const json_t *body, struct purge_def *def, struct err_info *why)
{
    static const char *const names[] = {"id", "persistence", "path", "policy", "dryRun", NULL};
    const char *policy;
    if (!json_is_object(body))
        return err_set(why, ERR_INVALID, "", "an object is expected");
    int err = members_check(body, names, why);
    err = err ? err : read_text(body, "id", NULL, &def->id, why);
    err = err ? err : read_text(body, "persistence", NULL, &def->persistence, why);
    err = err ? err : read_text(body, "path", "/", &def->path, why);
    err = err ? err : read_text(body, "policy", purge_policy_text(PURGE_ALL), &policy, why);
    err = err ? err : read_flag(body, "dryRun", &def->dry_run, why);
    return err ? err : purge_policy_read(policy, &def->policy, why);
}

void api_purge(struct http_req *req, void *arg)
{
    struct api *api = obj_cast(arg, struct api, API_MAGIC);
    struct err_info why;
    struct purge_def def = {0};
    json_auto json_t *body = NULL;
    if (!api_ready(api, req))
        return;
    int err = read_body(req, &body, &why);
    err = err ? err : read_purge(body, &def, &why);
    if (err) {
        api_refuse(api, req, err, &why);
        return;
    }
    mem_auto char *reason = mem_fmt("asked for by %s", http_user(req));
    struct admin *a = admin_new(api, req);
    def.reason = reason;
    a->dry_run = def.dry_run;
    http_reply_later(req, on_client_gone, a);
    cleanup_purge(api->cleanup, &def, on_purged, a);
}

/* ---- events ---- */

static void write_event(struct jw *w, const struct slot *s)
{
    jw_kstr(w, "type", s->type);
    jw_kstr(w, s->subject_name, s->subject);
    if (s->kind == CLEANUP_APP_STORED)
        jw_kbool(w, "created", s->outcome.home_made);
    else
        jw_kint(w, "purged", s->outcome.n_purged);
}

static void on_event(void *arg, int err, const struct cleanup_outcome *o)
{
    struct slot *s = obj_cast(arg, struct slot, SLOT_MAGIC);
    s->err = err;
    s->outcome = *o;
    note_zxid(s->admin, o->zxid);
    slot_close(s->admin, write_event, "events");
}

/* An event names its subject by its own word ("container") or by "id". */
static int read_event(const json_t *item, struct slot *s, struct err_info *why)
{
    static const char *const names[] = {"type", "user", "application", "attempt", "container", "id", NULL};
    const char *subject;
    if (!json_is_object(item))
        return err_set(why, ERR_INVALID, "", "an event is an object");
    int err = members_check(item, names, why);
    err = err ? err : read_text(item, "type", NULL, &s->type, why);
    err = err ? err : cleanup_kind_read(s->type, &s->kind, &s->subject_name, why);
    if (err)
        return err;
    const char *name = json_object_get(item, s->subject_name) ? s->subject_name : "id";
    err = read_text(item, name, NULL, &subject, why);
    mem_auto char *app = !err && s->kind != CLEANUP_APP_STORED ? index_app_of(subject) : NULL;
    if (!err && s->kind != CLEANUP_APP_STORED && !app)
        err = err_set(why, ERR_INVALID, name, "\"%s\" is no %s", subject, s->subject_name);
    if (!err)
        s->subject = mem_str(subject);
    return err;
}

/* Take the items into slots; the texts of a slot's type live as long as `items`. */
static int read_slots(struct admin *a, const json_t *items,
                      int (*read)(const json_t *, struct slot *, struct err_info *), struct err_info *why)
{
    a->slots = mem_array(json_array_size(items) + 1, sizeof *a->slots);
    for (size_t i = 0; i < json_array_size(items); i++) {
        struct slot *s = &a->slots[a->n_slots++];
        obj_init(&s->obj, SLOT_MAGIC);
        s->admin = a;
        int err = read(json_array_get(items, i), s, why);
        if (err)
            return err;
    }
    return 0;
}

/* Read a body of items into a request. @return NULL: it was answered with the error. */
static struct admin *admin_begin(struct api *api, struct http_req *req, const char *name,
                                 int (*read)(const json_t *, struct slot *, struct err_info *))
{
    struct err_info why;
    json_auto json_t *body = NULL;
    json_auto json_t *items = NULL;
    if (!api_ready(api, req))
        return NULL;
    struct admin *a = admin_new(api, req);
    int err = read_body(req, &body, &why);
    err = err ? err : body_items(body, name, &items, &why);
    err = err ? err : read_slots(a, items, read, &why);
    if (err) {
        api_refuse(api, req, err, &why);
        admin_free(a);
        return NULL;
    }
    for (size_t i = 0; i < a->n_slots; i++)
        a->slots[i].type = cleanup_kind_name(a->slots[i].kind);
    a->n_open = a->n_slots + 1;
    http_reply_later(req, on_client_gone, a);
    return a;
}

void api_events(struct http_req *req, void *arg)
{
    struct api *api = obj_cast(arg, struct api, API_MAGIC);
    struct admin *a = admin_begin(api, req, "events", read_event);
    if (!a)
        return;
    mem_auto char *user = mem_str(http_user(req));
    for (size_t i = 0; i < a->n_slots; i++) {
        struct slot *s = &a->slots[i];
        mem_auto char *reason = mem_fmt("event %s reported by %s", s->type, user);
        struct cleanup_event event = {.kind = s->kind, .subject = s->subject, .reason = reason};
        cleanup_event(api->cleanup, &event, on_event, s);
    }
    slot_close(a, write_event, "events");
}

/* ---- users ---- */

static void write_user(struct jw *w, const struct slot *s)
{
    jw_kstr(w, "user", s->subject);
    if (s->err != ERR_UNKNOWN_OUTCOME)
        jw_kbool(w, "created", s->outcome.home_made);
    jw_key(w, "homes");
    jw_array(w);
    for (size_t i = 0; i < s->n_homes; i++)
        jw_str(w, s->homes[i]);
    jw_array_end(w);
}

static void on_homes(void *arg, int err, const struct users_result *r)
{
    struct slot *s = obj_cast(arg, struct slot, SLOT_MAGIC);
    metric_add(s->admin->api->metrics, M_HOMES, r->made);
    s->err = err;
    s->outcome.why = r->why;
    s->outcome.home_made = r->made;
    for (size_t i = 0; i < r->n_homes; i++)
        s->homes[s->n_homes++] = mem_str(r->homes[i]);
    note_zxid(s->admin, r->zxid);
    slot_close(s->admin, write_user, "users");
}

static int read_user(const json_t *item, struct slot *s, struct err_info *why)
{
    static const char *const names[] = {"user", NULL};
    const char *user;
    char *homes[USERS_MAX_HOMES];
    size_t n = 0;
    int err = members_check(item, names, why);
    err = err || json_is_string(item) ? err : read_text(item, "user", NULL, &user, why);
    if (err)
        return err;
    user = json_is_string(item) ? json_string_value(item) : user;
    err = users_homes(user, s->admin->api->names, homes, &n, why);
    for (size_t i = 0; !err && i < n; i++)
        free(homes[i]);
    if (!err)
        s->subject = mem_str(user);
    return err;
}

void api_users(struct http_req *req, void *arg)
{
    struct api *api = obj_cast(arg, struct api, API_MAGIC);
    struct admin *a = admin_begin(api, req, "users", read_user);
    if (!a)
        return;
    for (size_t i = 0; i < a->n_slots; i++)
        cleanup_homes(api->cleanup, a->slots[i].subject, on_homes, &a->slots[i]);
    slot_close(a, write_user, "users");
}

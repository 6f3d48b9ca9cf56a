/** Upgrade: containers are replaced, one after the other, by such of the current documents. Source: slider-am 8.4. */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "json/json.h"
#include "run/loop.h"
#include "slider/define.h"
#include "slider/form.h"
#include "slider/kit.h"
#include "slider/routes.h"
#include "slider/wait.h"

/** What a request names. */
struct wanted {
    struct map components, containers; /* name → itself */
    json_t *message;                   /* NULL: none */
    bool all;                          /* it names nothing */
};

static void wanted_fini(struct wanted *w)
{
    map_fini(&w->components, NULL);
    map_fini(&w->containers, NULL);
    json_decref(w->message);
}
#define wanted_auto __attribute__((cleanup(wanted_fini)))

/* ---- reading ---- */

/** @return 0; ERR_JSON: it is no list of texts */
static int add_list(struct map *to, const json_t *body, const char *member, struct err_info *why)
{
    const json_t *list = json_object_get(body, member), *item;
    mem_auto char *place = mem_fmt("/%s", member);
    size_t i;
    if (!list || json_is_null(list))
        return 0;
    if (!json_is_array(list))
        return err_set(why, ERR_JSON, place, "must be an array of texts");
    json_array_foreach((json_t *)(uintptr_t)list, i, item)
    {
        if (!json_is_string(item))
            return err_set(why, ERR_JSON, place, "must be an array of texts");
        map_set(to, json_string_value(item), to);
    }
    return 0;
}

static int read_json(const char *body, size_t len, struct wanted *out, struct err_info *why)
{
    json_auto json_t *value = NULL;
    int rc = len ? json_read(body, len, &value, why) : 0;
    if (rc)
        return rc;
    if (value && !json_is_object(value) && !json_is_null(value))
        return err_set(why, ERR_JSON, NULL, "must be an object");
    json_t *message = json_object_get(value, "message");
    if (json_is_string(message))
        out->message = json_incref(message);
    rc = add_list(&out->components, value, "components", why);
    return rc ? rc : add_list(&out->containers, value, "containers", why);
}

static void read_form(const struct slider_form *form, struct wanted *out)
{
    const char *message = slider_form_get(form, "message");
    for (const struct http_pair *p = form->first; p; p = p->next) {
        if (strcmp(p->name, "component") == 0)
            map_set(&out->components, p->value, out);
        if (strcmp(p->name, "container") == 0)
            map_set(&out->containers, p->value, out);
    }
    if (message)
        out->message = json_string(message);
}

/** @return false: that is replied */
static bool read_wanted(struct http_req *req, struct wanted *out)
{
    slider_form_auto struct slider_form form = {.first = NULL};
    struct err_info why = {0};
    size_t len;
    const char *body = http_body(req, &len);
    *out = (struct wanted){.message = NULL};
    if (!slider_form_read(req, &form))
        return false;
    int rc = 0;
    if (form.is_form)
        read_form(&form, out);
    else
        rc = read_json(body, len, out, &why);
    out->all = out->components.n_items + out->containers.n_items == 0;
    if (rc)
        slider_reply_why(req, 400, &why);
    return rc == 0;
}

/* ---- what is to be replaced ---- */

static int64_t priority_of(const struct eng_component *c)
{
    return eng_rules_of(c->service->rules, c->name)->priority;
}

static int by_priority(const void *a, const void *b)
{
    int64_t x = priority_of(*(const struct eng_component *const *)a),
            y = priority_of(*(const struct eng_component *const *)b);
    return x < y ? -1 : x > y;
}

/** Whether a container of it has a process, or is about to. */
static bool is_live(const struct eng_instance *inst)
{
    return inst->container_id && !inst->removing && inst->state != INST_REQUESTED &&
           inst->state != INST_RELEASING;
}

/** Take a name out of those that are to be found. */
static bool take(struct map *names, const char *name)
{
    return map_get(names, name) && map_remove(names, name);
}

static void add_component(struct wanted *w, const struct eng_component *c, struct slider_next *out)
{
    const struct eng_instance *inst;
    bool whole = take(&w->components, eng_component_title(c)) || w->all;
    out->names = mem_resize(out->names, out->n_names + c->n_instances + 1, sizeof out->names[0]);
    TAILQ_FOREACH (inst, &c->instances, link) {
        bool named = is_live(inst) && take(&w->containers, inst->container_id);
        if (is_live(inst) && (whole || named))
            out->names[out->n_names++] = mem_str(inst->name);
    }
}

/** Instances in the order of their components' priorities; what was found is taken out of w. [new] */
static struct slider_next *instances_of(const struct eng_service *s, struct wanted *w)
{
    struct slider_next *next = slider_next_new(EV_ROLL);
    mem_auto const struct eng_component **list = mem_array(s->n_components + 1, sizeof list[0]);
    for (size_t i = 0; i < s->n_components; i++)
        list[i] = s->components[i];
    qsort(list, s->n_components, sizeof list[0], by_priority);
    for (size_t i = 0; i < s->n_components; i++)
        add_component(w, list[i], next);
    next->value = json_incref(w->message);
    return next;
}

/** A name that nothing has. free(); NULL: all were found */
static char *unknown_of(const struct wanted *w)
{
    mem_auto const char **components = map_sorted_keys(&w->components);
    mem_auto const char **containers = map_sorted_keys(&w->containers);
    if (components[0])
        return mem_fmt("Unknown component: %.256s", components[0]);
    return containers[0] ? mem_fmt("Unknown container: %.256s", containers[0]) : NULL;
}

/* ---- what is shown ---- */

static const char *container_in(const struct eng_service *s, const char *name)
{
    const struct eng_instance *inst = eng_service_instance(s, name);
    return inst ? inst->container_id : NULL;
}

static json_t *view(const struct eng_service *s)
{
    static const char *const words[] = {[RESULT_NONE] = "RUNNING", [RESULT_SUCCEEDED] = "SUCCEEDED"};
    const struct eng_roll *r = s->roll;
    json_t *pending = json_array(), *current = json_array();
    for (size_t i = 0; i < r->n_pending; i++) {
        const char *id = container_in(s, r->pending[i]);
        if (id)
            json_array_append_new(pending, json_string(id));
    }
    const char *now = r->current ? container_in(s, r->current) : NULL;
    if (r->current)
        json_array_append_new(current, json_string(now ? now : r->left));
    json_t *doc = json_pack("{s:s}", "operation", "upgrade");
    if (r->message)
        json_object_set(doc, "message", r->message);
    json_object_set_new(doc, "state",
                        json_string(r->result <= RESULT_SUCCEEDED ? words[r->result] : "FAILED"));
    json_object_set_new(doc, "submitted", json_integer(r->began_ms));
    json_object_set_new(doc, "total", json_integer(r->n_all));
    json_object_set_new(doc, "upgraded", json_integer(r->n_done));
    json_object_set_new(doc, "failed", json_integer(r->n_failed));
    json_object_set_new(doc, "pending", pending);
    json_object_set_new(doc, "current", current);
    return doc;
}

/** As it is before it has begun. [new] */
static json_t *planned(const struct eng_service *s, const struct slider_next *next, const struct wanted *w)
{
    json_t *pending = json_array();
    for (size_t i = 0; i < next->n_names; i++)
        json_array_append_new(pending, json_string(container_in(s, next->names[i])));
    json_t *doc = json_pack("{s:s}", "operation", "upgrade");
    if (w->message)
        json_object_set(doc, "message", w->message);
    json_object_set_new(doc, "state", json_string("RUNNING"));
    json_object_set_new(doc, "submitted", json_integer(run_wall_ms()));
    json_object_set_new(doc, "total", json_integer((json_int_t)next->n_names));
    json_object_set_new(doc, "upgraded", json_integer(0));
    json_object_set_new(doc, "failed", json_integer(0));
    json_object_set_new(doc, "pending", pending);
    json_object_set_new(doc, "current", json_array());
    return doc;
}

/** After the engine has taken it. Where an application master runs it what is known may be of an earlier one. */
static void reply_begun(struct http_req *req, const struct face *face, json_t *take_doc)
{
    const struct engine *e = face->ops->engine(face->app);
    const struct eng_service *s = engine_find_application(e, http_path_raw(req, "a"));
    bool is_known = s && s->roll && !engine_is_away(e, s);
    slider_reply_action(req, face, is_known ? view(s) : json_incref(take_doc));
    json_decref(take_doc);
}

void slider_upgrade_post(struct http_req *req, void *app)
{
    struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    const struct eng_service *s = slider_find_to_change(req, face);
    wanted_auto struct wanted w = {.message = NULL};
    if (!s || !read_wanted(req, &w))
        return;
    struct slider_next *next = instances_of(s, &w);
    mem_auto char *unknown = unknown_of(&w);
    bool is_running = (s->roll && s->roll->result == RESULT_NONE) || eng_service_is_ordered(s, EV_ROLL);
    if (unknown || is_running) {
        slider_reply_error(req, is_running ? 409 : 400, is_running ? "An upgrade is under way" : unknown);
        slider_next_free(next);
        return;
    }
    slider_trees_auto struct slider_trees t;
    slider_trees_of(s, &t);
    if (t.next_app_conf) {
        json_decref(t.app_conf);
        t.app_conf = t.next_app_conf;
        t.next_app_conf = NULL;
    }
    const struct slider_change change = {s, eng_service_title(s), s->user, &t, false};
    slider_define(
        req, face, &change,
        (struct slider_then){.reply = reply_begun, .take_doc = planned(s, next, &w), .take_next = next});
}

static bool is_over(const struct eng_service *s, const struct eng_component *component)
{
    (void)component;
    return !s->roll || s->roll->result != RESULT_NONE;
}

static void reply_upgrade(struct http_req *req, struct face *face, const struct eng_service *s,
                          const struct eng_component *component)
{
    (void)face;
    (void)component;
    if (s->roll)
        slider_reply_json(req, 200, view(s));
    else
        slider_reply_error(req, 404, "There was no upgrade");
}

void slider_upgrade_get(struct http_req *req, void *app)
{
    struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    const struct eng_service *s = slider_find_running(req, face);
    const struct slider_read read = {
        .is_over = is_over, .reply = reply_upgrade, .timeout = SLIDER_WAIT_TIMEOUT};
    if (s)
        slider_read(req, face, s, &read);
}

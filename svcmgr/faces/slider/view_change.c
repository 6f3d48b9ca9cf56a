/** The handlers that release containers and exclude nodes. Source: slider-am 8.1, 8.2. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "json/json.h"
#include "slider/define.h"
#include "slider/documents.h"
#include "slider/kit.h"
#include "slider/live.h"
#include "slider/view.h"
#include "slider/view_parts.h"

/* ---- containers ---- */

/** Its ContainerInformation, as one that is released. New reference. */
static json_t *released_document(struct face *face, const struct eng_instance *inst)
{
    struct slider_look look = slider_look_of(face);
    buf_auto struct buf out = BUF_EMPTY;
    struct jw w = jw_on(&out);
    json_t *doc = NULL;
    slider_write_container(&w, &look, inst, true);
    BUG_IF(json_read(out.bytes, out.len, &doc, NULL) != 0);
    return doc;
}

/** Another container takes its place. */
static void replace(struct http_req *req, struct face *face, const struct eng_service *s,
                    const struct eng_instance *inst)
{
    const char *const names[] = {inst->name};
    struct eng_event ev = {.kind = EV_REPLACE,
                           .service_kind = s->kind,
                           .user = s->user,
                           .name = s->name,
                           .names = names,
                           .n_names = 1};
    slider_submit(req, face, &ev, (struct slider_then){.take_doc = released_document(face, inst)});
}

static void set_count(struct slider_trees *t, const char *component, int64_t n)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, n);
    json_t *copy = json_deep_copy(t->resources), *components = json_object_get(copy, "components");
    json_t *options = json_object_get(components, component);
    if (!options)
        json_object_set_new(components, component, options = json_object());
    json_object_set_new(options, "yarn.component.instances", json_string(text));
    json_decref(t->resources);
    t->resources = copy;
}

/** What is known of the component: its group, and how many of that are wanted. */
static const struct slider_component *known_of(const struct slider_model *known,
                                               const struct eng_component *c)
{
    return slider_model_find(known, eng_component_title(c));
}

/** Members of a group go from the last one down. @return members that are wanted; *last: c is the last of them */
static int64_t members_of(const struct slider_model *known, const struct slider_component *of,
                          const struct eng_service *s, bool *last)
{
    int64_t n = 0;
    *last = true;
    for (size_t i = 0; i < s->n_components; i++) {
        const struct slider_component *m = known_of(known, s->components[i]);
        bool is_wanted = s->components[i]->spec->number_of_containers > 0;
        if (!m || !m->group || strcmp(m->group, of->group) != 0 || !is_wanted)
            continue;
        n++;
        *last = *last && m->index <= of->index;
    }
    return n;
}

/** The group has one member less. */
static void shrink_group(struct http_req *req, struct face *face, const struct eng_instance *inst,
                         const struct slider_model *known, const struct slider_component *of)
{
    const struct eng_service *s = inst->component->service;
    bool is_last;
    int64_t n = members_of(known, of, s, &is_last);
    mem_auto char *text = mem_fmt(
        "%s is not the last member of its group %s: members go from the last one down", of->name, of->group);
    if (!is_last) {
        slider_reply_error(req, 409, text);
        return;
    }
    slider_trees_auto struct slider_trees t;
    slider_trees_of(s, &t);
    set_count(&t, of->group, n - 1);
    slider_define(req, face,
                  &(struct slider_change){.s = s, .name = eng_service_title(s), .user = s->user, .trees = &t},
                  (struct slider_then){.take_doc = released_document(face, inst)});
}

/** Nothing takes its place: the component is wanted once less, in the same step. */
static void shrink(struct http_req *req, struct face *face, const struct eng_instance *inst)
{
    const struct eng_component *c = inst->component;
    const struct eng_service *s = c->service;
    const char *const names[] = {inst->name};
    struct slider_model known = {0};
    slider_known(s, &known);
    const struct slider_component *of = known_of(&known, c);
    if (of && of->group) {
        shrink_group(req, face, inst, &known, of);
        slider_model_fini(&known);
        return;
    }
    slider_trees_auto struct slider_trees t;
    slider_trees_of(s, &t);
    set_count(&t, eng_component_title(c), c->spec->number_of_containers - 1);
    json_auto json_t *stored = slider_stored(&t, &known);
    slider_model_fini(&known);
    struct eng_event ev = {.kind = EV_DECOMMISSION,
                           .service_kind = s->kind,
                           .user = s->user,
                           .name = s->name,
                           .names = names,
                           .n_names = 1,
                           .value = stored};
    slider_submit(req, face, &ev, (struct slider_then){.take_doc = released_document(face, inst)});
}

void slider_container_delete(struct http_req *req, void *app)
{
    struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    const struct eng_service *s = slider_find_to_change(req, face);
    struct slider_container c;
    if (!s || !slider_find_container(req, face, s, &c))
        return;
    if (c.is_master) {
        slider_reply_error(req, 409,
                           "The container of the application master is not released: stop the application");
        return;
    }
    bool is_going = c.inst->state == INST_RELEASING || c.inst->state == INST_DRAINING;
    if (is_going)
        slider_reply_container(req, face, s, &c, 202);
    else if (http_param_bool(req, SLIDER_RELEASE_REPLACE))
        replace(req, face, s, c.inst);
    else
        shrink(req, face, c.inst);
}

/* ---- nodes ---- */

static void reply_excluded(struct http_req *req, const struct face *face, json_t *take_doc)
{
    json_auto json_t *doc = take_doc;
    const struct eng_service *s = slider_find(req, face);
    if (s)
        slider_reply_node(req, (struct face *)(uintptr_t)face, s, json_string_value(doc), 202);
}

#define EXCLUSION_MAGIC OBJ_MAGIC('S', 'E', 'X', 'C')

/** A request to exclude a node, or to use it again, that waits until the nodes are known. */
struct exclusion {
    struct obj obj;
    struct face *face;
    struct slider_pending *pending;
    enum eng_kind kind;
    char *user, *name, *host;
    bool excluded;
};

static void refuse_node(struct exclusion *x, bool is_any_known)
{
    struct err_info why = {0};
    if (is_any_known)
        err_set(&why, ERR_NOTFOUND, NULL, "Unknown node: %.256s", x->host);
    else
        err_set(&why, ERR_UNAVAILABLE, NULL, "The cluster does not say which nodes there are");
    slider_refuse(x->pending, is_any_known ? 404 : 503, &why);
}

static void exclusion_free(struct exclusion *x)
{
    free(x->user);
    free(x->name);
    free(x->host);
    obj_fini(&x->obj);
    free(x);
}

static void on_nodes(void *arg)
{
    struct exclusion *x = obj_cast(arg, struct exclusion, EXCLUSION_MAGIC);
    struct slider_look look = slider_look_of(x->face);
    mem_auto const char **hosts = look.e ? slider_hosts(&look) : NULL; /* else svcmgr ends */
    struct eng_event ev = {.kind = EV_EXCLUDE,
                           .service_kind = x->kind,
                           .user = x->user,
                           .name = x->name,
                           .host = x->host,
                           .excluded = x->excluded};
    if (hosts && slider_node(&look, x->host))
        slider_hand_over(x->pending, &ev);
    else
        refuse_node(x, hosts && hosts[0]);
    exclusion_free(x);
}

static void exclude(struct http_req *req, struct face *face, bool excluded)
{
    const struct eng_service *s = slider_find_to_change(req, face);
    char *host = s ? slider_path_element(req, "h") : NULL;
    if (!host)
        return;
    struct exclusion *x = mem_new(struct exclusion);
    obj_init(&x->obj, EXCLUSION_MAGIC);
    x->face = face;
    x->kind = s->kind;
    x->user = mem_str(s->user);
    x->name = mem_str(s->name);
    x->host = host;
    x->excluded = excluded;
    x->pending = slider_reply_later(
        req, face, (struct slider_then){.reply = reply_excluded, .take_doc = json_string(host)});
    slider_know_nodes(face, on_nodes, x);
}

void slider_node_delete(struct http_req *req, void *app)
{
    exclude(req, obj_cast(app, struct face, FACE_MAGIC), true);
}

void slider_node_put(struct http_req *req, void *app)
{
    struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    struct err_info why = {0};
    json_auto json_t *doc = NULL;
    size_t len;
    const char *body = http_body(req, &len);
    int err = json_read(body, len, &doc, &why);
    const json_t *excluded = json_object_get(doc, "excluded");
    if (err)
        slider_reply_why(req, 400, &why);
    else if (!json_is_boolean(excluded))
        slider_reply_error(req, 400, "The body must be {\"excluded\": true} or {\"excluded\": false}");
    else
        exclude(req, face, json_is_true(excluded));
}

/** The handlers that read what runs: see view.h. */
#include "slider/view.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "faces/face.h"
#include "faces/logs.h"
#include "faces/pieces.h"
#include "slider/conf.h"
#include "slider/kit.h"
#include "slider/live.h"
#include "slider/site.h"
#include "slider/view_parts.h"
#include "slider/wait.h"
#include "slider/walk.h"
#include "spec/label.h"

#define DOCUMENT_MAGIC OBJ_MAGIC('S', 'D', 'O', 'C')

/* ---- from where ---- */

struct slider_look slider_look_of(void *arg)
{
    const struct face *face = obj_cast(arg, struct face, FACE_MAGIC);
    return (struct slider_look){.e = face->ops->engine(face->app),
                                .now_ms = face->ops->now_ms(face->app),
                                .own_url = face->slider->own_url,
                                .own_host = face->slider->host,
                                .room = face->ops->room(face->app),
                                .has_logs = face->ops->world(face->app)->local,
                                .nodes = face->ops->nodes ? face->ops->nodes(face->app) : NULL};
}

void slider_reply_written(struct http_req *req, int status, struct buf *take_text)
{
    slider_reply_head(req);
    http_reply(req, status, SLIDER_JSON, take_text);
}

void slider_reply_unknown(struct http_req *req, const char *what, const char *name)
{
    mem_auto char *text = mem_fmt("Unknown %s: %.256s", what, name);
    slider_reply_error(req, 404, text);
}

/* ---- what the path names ---- */

/** A component of the path. */
struct named {
    const struct eng_service *s;   /* NULL: there is none, and that is replied */
    const struct eng_component *c; /* NULL: the application master */
};

static struct named find_component(struct http_req *req, const struct face *face)
{
    struct named n = {.s = slider_find_running(req, face)};
    mem_auto char *name = n.s ? slider_path_element(req, "c") : NULL;
    mem_auto char *label = name && *name ? spec_label(name, SPEC_LABEL_COMPONENT) : NULL;
    n.c = label ? eng_service_component(n.s, label) : NULL;
    bool is_master = name && strcmp(name, SLIDER_MASTER) == 0;
    if (name && !n.c && !is_master)
        slider_reply_unknown(req, "component", name);
    if (!n.c && !is_master)
        n.s = NULL;
    return n;
}

bool slider_find_container(struct http_req *req, const struct face *face, const struct eng_service *s,
                           struct slider_container *out)
{
    mem_auto char *id = slider_path_element(req, "i");
    mem_auto char *master = slider_has_master(s) ? slider_master_container(s) : NULL;
    *out = (struct slider_container){.is_master = id && master && strcmp(id, master) == 0};
    if (!id)
        return false;
    const struct eng_service *of = engine_find_container(face->ops->engine(face->app), id, &out->inst);
    if (of != s || !out->inst || !slider_has_container(out->inst))
        out->inst = NULL;
    if (!out->inst && !out->is_master)
        slider_reply_unknown(req, "container", id);
    return out->inst || out->is_master;
}

/* ---- documents in pieces ---- */

/** What an answer is made of. */
struct document {
    struct obj obj;
    struct slider_walk *walk;
};

static bool next_piece(void *arg, struct buf *out)
{
    return slider_walk_next(obj_cast(arg, struct document, DOCUMENT_MAGIC)->walk, out);
}

static void free_document(void *arg)
{
    struct document *d = obj_cast(arg, struct document, DOCUMENT_MAGIC);
    slider_walk_free(d->walk);
    obj_fini(&d->obj);
    free(d);
}

static void reply_form(struct http_req *req, struct face *face, const struct eng_service *s,
                       enum slider_form form, const struct eng_component *c)
{
    static const struct pieces_ops ops = {next_piece, free_document};
    struct document *d = mem_new(struct document);
    obj_init(&d->obj, DOCUMENT_MAGIC);
    d->walk = slider_walk_new(&(struct slider_walk_def){.form = form,
                                                        .look = slider_look_of,
                                                        .arg = face,
                                                        .kind = s->kind,
                                                        .user = s->user,
                                                        .name = s->name,
                                                        .component = c ? c->name : NULL});
    slider_reply_head(req);
    pieces_reply(req, SLIDER_JSON, &ops, d);
}

static void reply_all(struct http_req *req, void *app, enum slider_form form)
{
    struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    const struct eng_service *s = slider_find_running(req, face);
    if (s)
        reply_form(req, face, s, form, NULL);
}

static void reply_of_component(struct http_req *req, void *app, enum slider_form form)
{
    struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    struct named n = find_component(req, face);
    if (n.s)
        reply_form(req, face, n.s, form, n.c);
}

void slider_containers_get(struct http_req *req, void *app)
{
    reply_all(req, app, SLIDER_FORM_CONTAINERS);
}

void slider_components_get(struct http_req *req, void *app)
{
    reply_all(req, app, SLIDER_FORM_COMPONENTS);
}

void slider_diagnostics_get(struct http_req *req, void *app)
{
    reply_all(req, app, SLIDER_FORM_DIAGNOSTICS);
}

void slider_component_containers_get(struct http_req *req, void *app)
{
    reply_of_component(req, app, SLIDER_FORM_IDS);
}

void slider_instances_get(struct http_req *req, void *app)
{
    reply_of_component(req, app, SLIDER_FORM_INSTANCES);
}

/* ---- small documents ---- */

void slider_live_get(struct http_req *req, void *app)
{
    const struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    static const char *const names[] = {"resources", "containers", "components",  "nodes",
                                        "liveness",  "statistics", "diagnostics", NULL};
    if (slider_find(req, face))
        slider_reply_names(req, names);
}

void slider_live_resources_get(struct http_req *req, void *app)
{
    const struct eng_service *s = slider_find_running(req, obj_cast(app, struct face, FACE_MAGIC));
    if (s)
        slider_reply_json(req, 200, slider_view_resources(s));
}

void slider_statistics_get(struct http_req *req, void *app)
{
    const struct eng_service *s = slider_find_running(req, obj_cast(app, struct face, FACE_MAGIC));
    struct buf out = BUF_EMPTY;
    struct jw w = jw_on(&out);
    if (!s)
        return;
    slider_write_statistics(&w, s);
    slider_reply_written(req, 200, &out);
}

void slider_component_statistics_get(struct http_req *req, void *app)
{
    struct named n = find_component(req, obj_cast(app, struct face, FACE_MAGIC));
    struct buf out = BUF_EMPTY;
    struct jw w = jw_on(&out);
    if (!n.s)
        return;
    slider_write_component_statistics(&w, n.c);
    slider_reply_written(req, 200, &out);
}

/* ---- nodes ---- */

#define ASKED_MAGIC OBJ_MAGIC('S', 'N', 'D', 'R')

/** A request that waits until the nodes are known. */
struct asked {
    struct obj obj;
    struct http_req *req; /* NULL: the client went away */
    struct face *face;
    void (*then)(struct http_req *req, struct face *face, const struct eng_service *s);
};

static void on_asked_closed(void *arg)
{
    obj_cast(arg, struct asked, ASKED_MAGIC)->req = NULL;
}

static void on_nodes(void *arg)
{
    struct asked *a = obj_cast(arg, struct asked, ASKED_MAGIC);
    const struct eng_service *s = a->req ? slider_find(a->req, a->face) : NULL;
    if (s)
        a->then(a->req, a->face, s);
    obj_fini(&a->obj);
    free(a);
}

void slider_know_nodes(const struct face *face, void (*done)(void *arg), void *arg)
{
    if (face->ops->know_nodes)
        face->ops->know_nodes(face->app, done, arg);
    else
        done(arg);
}

/** Go on with a read of nodes when they are known. */
static void with_nodes(struct http_req *req, void *app,
                       void (*then)(struct http_req *req, struct face *face, const struct eng_service *s))
{
    struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    if (!slider_find_running(req, face))
        return;
    struct asked *a = mem_new(struct asked);
    obj_init(&a->obj, ASKED_MAGIC);
    a->req = req;
    a->face = face;
    a->then = then;
    http_reply_later(req, on_asked_closed, a);
    slider_know_nodes(face, on_nodes, a);
}

static void reply_nodes(struct http_req *req, struct face *face, const struct eng_service *s)
{
    reply_form(req, face, s, SLIDER_FORM_NODES, NULL);
}

void slider_nodes_get(struct http_req *req, void *app)
{
    with_nodes(req, app, reply_nodes);
}

void slider_reply_node(struct http_req *req, struct face *face, const struct eng_service *s, const char *host,
                       int status)
{
    struct slider_walk *walk = slider_walk_new(&(struct slider_walk_def){.form = SLIDER_FORM_NODE,
                                                                         .look = slider_look_of,
                                                                         .arg = face,
                                                                         .kind = s->kind,
                                                                         .user = s->user,
                                                                         .name = s->name,
                                                                         .host = host});
    struct buf out = BUF_EMPTY;
    while (slider_walk_next(walk, &out))
        ; /* one pass over the instances */
    slider_walk_free(walk);
    slider_reply_written(req, status, &out);
}

static void reply_one_node(struct http_req *req, struct face *face, const struct eng_service *s)
{
    struct slider_look look = slider_look_of(face);
    mem_auto char *host = slider_path_element(req, "h");
    if (host && slider_node(&look, host))
        slider_reply_node(req, face, s, host, 200);
    else if (host)
        slider_reply_unknown(req, "node", host);
}

void slider_node_get(struct http_req *req, void *app)
{
    with_nodes(req, app, reply_one_node);
}

/* ---- containers ---- */

void slider_reply_container(struct http_req *req, struct face *face, const struct eng_service *s,
                            const struct slider_container *c, int status)
{
    struct slider_look look = slider_look_of(face);
    struct buf out = BUF_EMPTY;
    struct jw w = jw_on(&out);
    if (c->inst)
        slider_write_container(&w, &look, c->inst, c->is_released);
    else
        slider_write_master(&w, &look, s);
    slider_reply_written(req, status, &out);
}

void slider_container_get(struct http_req *req, void *app)
{
    struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    const struct eng_service *s = slider_find_running(req, face);
    struct slider_container c;
    if (s && slider_find_container(req, face, s, &c))
        slider_reply_container(req, face, s, &c, 200);
}

void slider_component_container_get(struct http_req *req, void *app)
{
    struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    struct named n = find_component(req, face);
    struct slider_container c;
    if (!n.s || !slider_find_container(req, face, n.s, &c))
        return;
    if (c.is_master ? !n.c : c.inst->component == n.c)
        slider_reply_container(req, face, n.s, &c, 200);
    else
        slider_reply_unknown(req, "container", http_path_raw(req, "i"));
}

void slider_instance_get(struct http_req *req, void *app)
{
    struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    struct named n = find_component(req, face);
    mem_auto char *text = n.s ? slider_path_element(req, "i") : NULL;
    struct slider_container c = {.is_master =
                                     text && !n.c && strcmp(text, "0") == 0 && slider_has_master(n.s)};
    int64_t index;
    if (!text)
        return;
    if (n.c && str_to_i64(text, 0, (int64_t)n.c->n_by_index - 1, &index) == 0)
        c.inst = n.c->by_index[index];
    if (c.is_master || (c.inst && slider_has_container(c.inst)))
        slider_reply_container(req, face, n.s, &c, 200);
    else
        slider_reply_unknown(req, "instance", text);
}

/* ---- logs ---- */

/** Of a container that is there, or has been. @param node_http  of its node; NULL: its output is here [out, borrowed] */
static bool find_logs(const struct face *face, const struct eng_service *s, const char *id,
                      const char **node_http)
{
    const struct eng_instance *inst = NULL;
    const struct eng_past *p;
    *node_http = NULL;
    if (engine_find_container(face->ops->engine(face->app), id, &inst) == s && inst) {
        *node_http = inst->node_http;
        return true;
    }
    for (size_t i = 0; (p = eng_service_past(s, i)); i++) {
        if (strcmp(p->container_id, id) != 0)
            continue;
        *node_http = p->node_http;
        return true;
    }
    return false;
}

void slider_container_logs_get(struct http_req *req, void *app)
{
    const struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    const struct eng_service *s = slider_find_running(req, face);
    mem_auto char *id = s ? slider_path_element(req, "i") : NULL;
    const char *node_http;
    if (!id)
        return;
    if (!find_logs(face, s, id, &node_http)) {
        slider_reply_unknown(req, "container", id);
        return;
    }
    struct slider_look look = slider_look_of(app);
    mem_auto char *url = slider_log_url(&look, s, id, node_http);
    if (url)
        slider_reply_redirect(req, 302, url);
    else
        slider_reply_unknown(req, "log of container", id);
}

void slider_container_log_get(struct http_req *req, void *app)
{
    const struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    const struct eng_service *s = slider_find_running(req, face);
    mem_auto char *id = s ? slider_path_element(req, "i") : NULL;
    mem_auto char *file = id ? slider_path_element(req, "file") : NULL;
    const char *node_http;
    if (!file)
        return;
    if (!find_logs(face, s, id, &node_http))
        slider_reply_unknown(req, "container", id);
    else
        logs_reply_container(req, face,
                             &(struct face_log){.user = s->user,
                                                .application_id = s->app_id,
                                                .container_id = id,
                                                .node_http = node_http,
                                                .file = file,
                                                .offset = http_param_int(req, SLIDER_LOG_OFFSET)});
}

/* ---- reads that may wait ---- */

static bool is_settled(const struct eng_service *s, const struct eng_component *c)
{
    if (c)
        return slider_has_master(s) && slider_component_is_settled(c);
    return slider_is_settled(s);
}

static bool master_is_settled(const struct eng_service *s, const struct eng_component *c)
{
    (void)c;
    return slider_has_master(s);
}

static void reply_liveness(struct http_req *req, struct face *face, const struct eng_service *s,
                           const struct eng_component *c)
{
    struct slider_look look = slider_look_of(face);
    struct buf out = BUF_EMPTY;
    struct jw w = jw_on(&out);
    (void)c;
    slider_write_liveness(&w, &look, s);
    slider_reply_written(req, 200, &out);
}

static void reply_component_liveness(struct http_req *req, struct face *face, const struct eng_service *s,
                                     const struct eng_component *c)
{
    struct buf out = BUF_EMPTY;
    struct jw w = jw_on(&out);
    (void)face;
    (void)s;
    slider_write_component_liveness(&w, c);
    slider_reply_written(req, 200, &out);
}

static void reply_component(struct http_req *req, struct face *face, const struct eng_service *s,
                            const struct eng_component *c)
{
    reply_form(req, face, s, SLIDER_FORM_COMPONENT, c);
}

void slider_liveness_get(struct http_req *req, void *app)
{
    struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    const struct eng_service *s = slider_find_running(req, face);
    if (s)
        slider_read(req, face, s,
                    &(struct slider_read){
                        .is_over = is_settled, .reply = reply_liveness, .timeout = SLIDER_WAIT_TIMEOUT});
}

void slider_component_liveness_get(struct http_req *req, void *app)
{
    struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    struct named n = find_component(req, face);
    if (n.s)
        slider_read(req, face, n.s,
                    &(struct slider_read){.is_over = n.c ? is_settled : master_is_settled,
                                          .reply = reply_component_liveness,
                                          .component = n.c,
                                          .timeout = SLIDER_COMPONENT_TIMEOUT});
}

void slider_component_get(struct http_req *req, void *app)
{
    struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    struct named n = find_component(req, face);
    if (n.s)
        slider_read(req, face, n.s,
                    &(struct slider_read){.is_over = n.c ? is_settled : master_is_settled,
                                          .reply = reply_component,
                                          .component = n.c,
                                          .timeout = SLIDER_COMPONENT_TIMEOUT});
}

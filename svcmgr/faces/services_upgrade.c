/** The handlers that name what an upgrade moves next: E8, E9, E10. */
#include "faces/services_routes.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "faces/services_kit.h"

/** A request of these routes that is being decoded. */
struct moving {
    struct http_req *req;
    struct face *face;
    char *service;         /* owned */
    struct spec_list list; /* of the body */
    const char **names;    /* that are to be moved, borrowed from the list; owned array */
    size_t n_names;
};

static void moving_fini(struct moving *m)
{
    free(m->service);
    spec_list_fini(&m->list);
    free(m->names);
}

/** Path and body. @param none  what is said when the body has nothing. @return false: the request is answered. */
static bool moving_read(struct moving *m, const struct fld_type *type, const char *none, bool is_strict)
{
    struct err_info why = {0};
    buf_auto struct buf unknown = BUF_EMPTY;
    size_t len;
    const char *body = http_body(m->req, &len);
    m->list.type = type;
    m->service = services_path_name_for(m->req, m->face, VERB_INSTANCE);
    if (!m->service)
        return false;
    if (!services_body_is_empty(m->req) && spec_read_list(type, body, len, &m->list, &unknown, &why)) {
        services_reply_text(m->req, 400, why.text);
        return false;
    }
    if (m->list.n == 0) {
        services_reply_text(m->req, 400, none);
        return false;
    }
    m->names = mem_array(m->list.n, sizeof m->names[0]);
    return services_accept_unknown(m->req, m->face, m->service, buf_cstr(&unknown), is_strict);
}

/** Hand it to the engine; a request that asks for nothing changes nothing. */
static void moving_submit(struct moving *m, bool wants_any, enum services_verb verb)
{
    struct eng_event ev = {.kind = EV_MOVE,
                           .user = http_user(m->req),
                           .name = m->service,
                           .names = m->names,
                           .n_names = m->n_names,
                           .are_components = verb == VERB_COMPONENT};
    if (wants_any)
        services_submit(m->req, m->face, &ev, verb);
    else
        services_reply_no_content(m->req);
}

/* ---- E8: some components ---- */

/** Names of components that the service does not have are skipped. */
static void move_components(struct moving *m)
{
    const struct eng_service *s = services_find_for(m->req, m->face, m->service, VERB_COMPONENT);
    bool wants_any = false;
    for (size_t i = 0; s && i < m->list.n; i++) {
        const struct spec_component *c = m->list.items[i];
        if (c->state != SPEC_UPGRADING)
            continue;
        wants_any = true;
        if (c->name && eng_service_component(s, c->name))
            m->names[m->n_names++] = c->name;
    }
    if (s)
        moving_submit(m, wants_any, VERB_COMPONENT);
}

void components_put(struct http_req *req, void *app)
{
    struct moving m = {.req = req, .face = obj_cast(app, struct face, FACE_MAGIC)};
    bool is_strict = http_param_bool(req, COMPONENTS_STRICT);
    if (moving_read(&m, &spec_component_type, "No components provided.", is_strict))
        move_components(&m);
    moving_fini(&m);
}

/* ---- E10: some instances ---- */

/** The first name that an instance cannot have; NULL: there is none. */
static const char *bad_name(const struct spec_list *containers)
{
    for (size_t i = 0; i < containers->n; i++) {
        const struct spec_container *c = containers->items[i];
        const char *name = c->component_instance_name ? c->component_instance_name : "";
        if (c->state == SPEC_UPGRADING && !strchr(name, '-'))
            return name;
    }
    return NULL;
}

/** Names of instances that the service does not have are skipped. */
static void move_instances(struct moving *m)
{
    const char *bad = bad_name(&m->list);
    const struct eng_service *s = services_find_for(m->req, m->face, m->service, VERB_INSTANCE);
    bool wants_any = false;
    if (s && bad) {
        mem_auto char *text = mem_fmt("Invalid component instance (%s) name.", bad);
        services_reply_text(m->req, 400, text);
        return;
    }
    for (size_t i = 0; s && i < m->list.n; i++) {
        const struct spec_container *c = m->list.items[i];
        if (c->state != SPEC_UPGRADING)
            continue;
        wants_any = true;
        if (eng_service_instance(s, c->component_instance_name))
            m->names[m->n_names++] = c->component_instance_name;
    }
    if (s)
        moving_submit(m, wants_any, VERB_INSTANCE);
}

void instances_put(struct http_req *req, void *app)
{
    struct moving m = {.req = req, .face = obj_cast(app, struct face, FACE_MAGIC)};
    bool is_strict = http_param_bool(req, INSTANCES_STRICT);
    if (moving_read(&m, &spec_container_type, "No containers provided.", is_strict))
        move_instances(&m);
    moving_fini(&m);
}

/* ---- E9: one instance ---- */

/** What is wrong with a path below a service, or NULL. New text, free() */
static char *path_fault(const struct eng_service *s, const char *component, const char *instance)
{
    const struct eng_component *c = eng_service_component(s, component);
    const struct eng_instance *inst = eng_service_instance(s, instance);
    if (!c)
        return mem_fmt("The component name in the URI path (%s) is invalid.", component);
    if (!inst || inst->component != c)
        return mem_fmt("The component (%s) does not have a component instance (%s).", component, instance);
    return NULL;
}

static void move_instance(struct moving *m, const char *component, const char *instance, int state)
{
    const struct eng_service *s = services_find_for(m->req, m->face, m->service, VERB_INSTANCE);
    mem_auto char *fault = s ? path_fault(s, component, instance) : NULL;
    if (!s)
        return;
    if (fault) {
        services_reply_text(m->req, 400, fault);
        return;
    }
    m->names = mem_array(1, sizeof m->names[0]);
    m->names[m->n_names++] = instance;
    moving_submit(m, state == SPEC_UPGRADING, VERB_INSTANCE);
}

void instance_put(struct http_req *req, void *app)
{
    struct moving m = {.req = req, .face = obj_cast(app, struct face, FACE_MAGIC)};
    struct err_info why = {0};
    struct spec_container *body = NULL;
    buf_auto struct buf unknown = BUF_EMPTY;
    size_t len;
    const char *bytes = http_body(req, &len);
    m.service = services_path_name_for(req, m.face, VERB_INSTANCE);
    mem_auto char *component = m.service ? services_path_element(req, "c") : NULL;
    mem_auto char *instance = component ? services_path_element(req, "i") : NULL;
    if (instance && services_body_is_empty(req))
        services_reply_text(req, 400, "No container data provided.");
    else if (instance && spec_read_container(bytes, len, &body, &unknown, &why))
        services_reply_text(req, 400, why.text);
    if (body && services_accept_unknown(req, m.face, m.service, buf_cstr(&unknown),
                                        http_param_bool(req, INSTANCE_STRICT)))
        move_instance(&m, component, instance, body->state);
    fld_free(&spec_container_type, body);
    moving_fini(&m);
}

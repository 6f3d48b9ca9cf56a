/** The handlers of components: E7. */
#include "faces/services_routes.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "faces/services_kit.h"

/* ---- E7: flex one component ---- */

/** What is wrong with the body for component `name`, or NULL. New text, free() */
static char *component_fault(const struct spec_component *body, const char *name)
{
    if (body->name && strcmp(body->name, name) != 0)
        return mem_fmt("Component name in the request object (%s) does not match that in the URI path (%s)",
                       body->name, name);
    if (body->state == SPEC_UPGRADING) /* then nothing else counts */
        return NULL;
    if (body->number_of_containers == FLD_UNSET)
        return mem_str("No container count provided");
    if (body->number_of_containers < 0 && !body->count_is_relative)
        return mem_fmt("Invalid number of containers specified %lld", (long long)body->number_of_containers);
    return NULL;
}

static void change_component(struct http_req *req, struct face *face, const char *service,
                             const struct spec_component *body, const char *name)
{
    mem_auto char *fault = component_fault(body, name);
    struct eng_flex flex = {name, body->number_of_containers, body->count_is_relative};
    struct eng_event flexed = {
        .kind = EV_FLEX, .user = http_user(req), .name = service, .flex = &flex, .n_flex = 1};
    struct eng_event moved = {.kind = EV_MOVE,
                              .user = http_user(req),
                              .name = service,
                              .names = &name,
                              .n_names = 1,
                              .are_components = true};
    if (fault)
        services_reply_text(req, 400, fault);
    else
        services_submit(req, face, body->state == SPEC_UPGRADING ? &moved : &flexed, VERB_COMPONENT);
}

void component_put(struct http_req *req, void *app)
{
    struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    struct err_info why = {0};
    mem_auto char *service = services_path_name_for(req, face, VERB_COMPONENT);
    mem_auto char *name = service ? services_path_element(req, "c") : NULL;
    if (!name)
        return;
    if (services_body_is_empty(req)) {
        services_reply_text(req, 400, "No component data provided");
        return;
    }
    size_t len;
    const char *bytes = http_body(req, &len);
    struct spec_component *body = NULL;
    buf_auto struct buf unknown = BUF_EMPTY;
    if (spec_read_component(bytes, len, &body, &unknown, &why)) {
        services_reply_text(req, 400, why.text);
        return;
    }
    if (services_accept_unknown(req, face, service, buf_cstr(&unknown),
                                http_param_bool(req, COMPONENT_STRICT)))
        change_component(req, face, service, body, name);
    fld_free(&spec_component_type, body);
}

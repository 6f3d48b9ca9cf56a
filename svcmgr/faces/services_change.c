/** The handlers that change and destroy a service: E5, E6. */
#include "faces/services_routes.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "faces/services_kit.h"
#include "faces/paths.h"
#include "spec/properties.h"

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
            services_reply_text(c->req, 400,
                                k->name ? "No container count provided" : "Name can not be empty!");
            return;
        }
        flex[i] = (struct eng_flex){k->name, k->number_of_containers, k->count_is_relative};
    }
    c->ev.kind = EV_FLEX;
    c->ev.flex = flex;
    c->ev.n_flex = n;
    services_submit(c->req, c->face, &c->ev, VERB_CHANGE);
}

static void change_stop(struct change *c)
{
    c->ev.kind = EV_STOP;
    services_submit(c->req, c->face, &c->ev, VERB_CHANGE);
}

static void change_start(struct change *c)
{
    struct err_info why = {0};
    const struct eng_service *s =
        engine_find(c->face->ops->engine(c->face->app), KIND_SERVICE, c->ev.user, c->name);
    struct spec_world world = *c->face->ops->world(c->face->app);
    world.user = c->ev.user;
    if (s && !eng_service_is_live(s) && spec_check_launch(s->spec, &world, &why)) {
        services_reply_text(c->req, 400, why.text);
        return;
    }
    c->ev.kind = s && s->state == SVC_UPGRADING ? EV_FINALIZE : EV_START;
    services_submit(c->req, c->face, &c->ev, VERB_CHANGE);
}

static enum eng_mode mode_of(int state)
{
    return state == SPEC_UPGRADING ? MODE_MANUAL : state == SPEC_EXPRESS_UPGRADING ? MODE_EXPRESS : MODE_AUTO;
}

/** Whether the request or, where that says nothing, a component of the definition wants it. */
static bool reverts(struct http_req *req, const struct spec_service *spec)
{
    if (http_query(req, "auto_revert"))
        return http_param_bool(req, CHANGE_REVERT);
    for (size_t i = 0; i < spec->n_components; i++) {
        if (spec_prop_bool(spec->components[i], PROP_UPGRADE_REVERT))
            return true;
    }
    return false;
}

/** The body is the definition to come. Its files are looked for by the upgrade itself, before it moves anything. */
static void change_upgrade(struct change *c)
{
    struct err_info why = {0};
    struct paths paths = {0};
    const struct app_ops *ops = c->face->ops;
    if (!services_find_for(c->req, c->face, c->name, VERB_CHANGE))
        return;
    if (!ops->may_upgrade || !ops->may_upgrade(c->face->app)) {
        services_reply_text(c->req, 400, "Service upgrade is disabled.");
        return;
    }
    struct spec_service *spec = spec_copy(c->body);
    free(spec->name);
    spec->name = mem_str(c->name);
    int err = paths_complete(spec, c->ev.user, c->face, &paths, &why);
    paths_fini(&paths);
    if (err) {
        services_reply_text(c->req, 400, why.text);
        spec_free(spec);
        return;
    }
    c->ev.kind = EV_UPGRADE;
    c->ev.mode = mode_of(c->body->state);
    c->ev.auto_revert = reverts(c->req, spec);
    c->ev.take_spec = spec;
    services_submit(c->req, c->face, &c->ev, VERB_CHANGE);
}

static void change_cancel_upgrade(struct change *c)
{
    c->ev.kind = EV_CANCEL_UPGRADE;
    services_submit(c->req, c->face, &c->ev, VERB_CHANGE);
}

static void change_lifetime(struct change *c)
{
    c->ev.kind = EV_LIFETIME;
    c->ev.lifetime_s = c->body->lifetime;
    services_submit(c->req, c->face, &c->ev, VERB_CHANGE);
}

/** "comp-1" or "comp-1.service.user[.domain]" as "comp-1"; NULL: replied with what is wrong. */
static char *bare_instance(struct change *c, const char *instance)
{
    size_t bare_len = strcspn(instance, ".");
    mem_auto char *bare = mem_strn(instance, bare_len);
    mem_auto char *user = spec_registry_user(c->ev.user);
    mem_auto char *suffix = mem_fmt(".%s.%s", c->name, user);
    mem_auto char *text = NULL;
    int status = 400;
    if (!strchr(bare, '-')) {
        text = mem_fmt("Invalid component instance (%s) name.", instance);
    } else if (instance[bare_len] && !str_starts(instance + bare_len, suffix)) {
        text = mem_fmt("Specified hostname %s does not have the expected format componentInstanceName%s",
                       instance, suffix);
        status = c->face->ops->world(c->face->app)->dialect->strict_codes ? 500 : 400;
    }
    if (!text)
        return mem_str(bare);
    services_reply_text(c->req, status, text);
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
        services_submit(c->req, c->face, &c->ev, VERB_DECOMMISSION);
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
    else if (services_find_for(c->req, c->face, c->name, VERB_CHANGE))
        services_reply_no_content(c->req);
}

void service_put(struct http_req *req, void *app)
{
    struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    mem_auto char *name = services_path_name_for(req, face, VERB_CHANGE);
    struct services_definition d = {.spec = NULL};
    if (name)
        services_read_definition(req, face, http_param_bool(req, CHANGE_STRICT), &d);
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
    mem_auto char *name = services_path_name_for(req, face, VERB_DESTROY);
    if (!name)
        return;
    struct eng_event ev = {.kind = EV_DESTROY, .user = http_user(req), .name = name};
    services_submit(req, face, &ev, VERB_DESTROY);
}

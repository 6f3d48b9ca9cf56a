/** The handlers that read components and instances of a service: E11, and what Hadoop does not have. */
#include "faces/services_routes.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "faces/services.h"
#include "faces/services_kit.h"

/** The service of the path; NULL: that is answered. [borrowed until the next step] */
static const struct eng_service *service_of_path(struct http_req *req, const struct face *face)
{
    mem_auto char *name = services_path_name(req);
    return name ? services_find(req, face, name, SERVICES_CODE_NOT_FOUND) : NULL;
}

/* ---- components ---- */

void components_get(struct http_req *req, void *app)
{
    struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    const struct eng_service *s = service_of_path(req, face);
    if (!s)
        return;
    const struct engine *engine = face->ops->engine(face->app);
    const struct dialect *dialect = face->ops->world(face->app)->dialect;
    json_t *list = json_array();
    for (size_t i = 0; i < s->spec->n_components; i++)
        json_array_append_new(list,
                              services_view_component(engine, s, s->spec->components[i], dialect, face));
    services_reply_json(req, 200, list);
}

void component_get(struct http_req *req, void *app)
{
    struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    mem_auto char *name = services_path_element(req, "c");
    const struct eng_service *s = name ? service_of_path(req, face) : NULL;
    const struct spec_component *c = s ? spec_component(s->spec, name) : NULL;
    if (c) {
        const struct dialect *dialect = face->ops->world(face->app)->dialect;
        services_reply_json(req, 200,
                            services_view_component(face->ops->engine(face->app), s, c, dialect, face));
    } else if (s) {
        mem_auto char *text = mem_fmt("Component %s of service %s not found", name, s->name);
        services_reply_text(req, 404, text);
    }
}

/* ---- instances ---- */

void instance_get(struct http_req *req, void *app)
{
    struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    mem_auto char *name = services_path_element(req, "i");
    const struct eng_service *s = name ? service_of_path(req, face) : NULL;
    if (!s)
        return;
    const struct eng_instance *inst = eng_service_instance(s, name);
    const struct dialect *dialect = face->ops->world(face->app)->dialect;
    json_t *v = inst ? services_view_instance(face->ops->engine(face->app), inst, dialect, face) : NULL;
    if (v) {
        services_reply_json(req, 200, v);
        return;
    }
    mem_auto char *text = mem_fmt(inst ? "Component instance %s of service %s has no container"
                                       : "Component instance %s of service %s not found",
                                  name, s->name);
    services_reply_text(req, 404, text);
}

/* ---- E11: instances by component, version and state ---- */

/** Which instances are listed. All is borrowed from the request. */
struct filter {
    const struct http_req *req;
    const struct dialect *dialect;
    const char *version; /* that its process runs; NULL: any */
};

/** Words of a container's state that a request may have; those of a dialect stand for both of them. */
static const char *const state_words[] = {
    "RUNNING_BUT_UNREADY", "READY",  "STOPPED",        "NEEDS_UPGRADE", "UPGRADING",
    "SUCCEEDED",           "FAILED", "FAILED_UPGRADE", "INIT",          "STARTED"};

/** The word of a dialect for a word of either; NULL: it is none. */
static const char *state_of_word(const char *word, const struct dialect *dialect)
{
    if (strcmp(word, "STARTED") == 0 || strcmp(word, "RUNNING_BUT_UNREADY") == 0)
        return dialect->container_started;
    for (size_t i = 0; i < ARRAY_LEN(state_words); i++) {
        if (strcmp(state_words[i], word) == 0)
            return state_words[i];
    }
    return NULL;
}

/** Whether every state that is asked for is one; else that is replied. */
static bool check_states(struct http_req *req, const struct dialect *dialect)
{
    buf_auto struct buf text = BUF_EMPTY;
    const char *word;
    bool good = true;
    for (size_t i = 0; good && (word = http_query_nth(req, "containerState", i)); i++)
        good = state_of_word(word, dialect) != NULL;
    if (good)
        return true;
    buf_add_str(&text, "valid container states are: [");
    for (size_t i = 0; i < ARRAY_LEN(state_words); i++)
        buf_addf(&text, "%s%s", i ? ", " : "", state_words[i]);
    buf_add_char(&text, ']');
    services_reply_text(req, 400, buf_cstr(&text));
    return false;
}

static bool has_component(const struct filter *f, const char *name)
{
    const char *wanted;
    size_t i = 0;
    for (; (wanted = http_query_nth(f->req, "componentName", i)); i++) {
        if (strcmp(wanted, name) == 0)
            return true;
    }
    return i == 0;
}

/** @param word  of its container in the dialect; upgrades are asked for in both. */
static bool has_state(const struct filter *f, const struct eng_instance *inst, const char *word)
{
    const char *wanted, *upgrade = services_container_upgrade(inst);
    size_t i = 0;
    for (; (wanted = http_query_nth(f->req, "containerState", i)); i++) {
        wanted = state_of_word(wanted, f->dialect);
        if (strcmp(wanted, word) == 0 || (upgrade && strcmp(wanted, upgrade) == 0))
            return true;
    }
    return i == 0;
}

static bool is_listed(const struct filter *f, const struct eng_instance *inst)
{
    const char *word = services_container_word(inst, f->dialect);
    if (!word || !inst->container_id || !has_state(f, inst, word))
        return false;
    return !f->version || (inst->version && strcmp(inst->version, f->version) == 0);
}

/** The listed instances of a component; NULL: there is none. */
static json_t *list_component(const struct filter *f, const struct eng_component *c, const struct face *face)
{
    const struct eng_instance *inst;
    json_t *containers = NULL;
    TAILQ_FOREACH (inst, &c->instances, link) {
        if (!is_listed(f, inst))
            continue;
        if (!containers)
            containers = json_array();
        json_array_append_new(containers,
                              services_view_instance(face->ops->engine(face->app), inst, f->dialect, face));
    }
    return containers ? json_pack("{s:s, s:o}", "componentName", c->name, "containers", containers) : NULL;
}

void instances_get(struct http_req *req, void *app)
{
    struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    const struct filter f = {.req = req,
                             .dialect = face->ops->world(face->app)->dialect,
                             .version = http_param_text(req, INSTANCES_VERSION)};
    mem_auto char *name = services_path_name(req);
    if (!name || !check_states(req, f.dialect))
        return;
    const struct eng_service *s = services_find_for(req, face, name, VERB_INSTANCE);
    if (!s)
        return;
    json_t *list = json_array();
    for (size_t i = 0; i < s->n_components; i++) {
        if (!has_component(&f, s->components[i]->name))
            continue;
        json_t *part = list_component(&f, s->components[i], face);
        if (part)
            json_array_append_new(list, part);
    }
    services_reply_json(req, 200, list);
}

/** Definitions: see define.h. */
#include "slider/define.h"

#include <stdlib.h>

#include "base/mem.h"
#include "faces/paths.h"
#include "json/json.h"
#include "slider/conf.h"
#include "slider/definition.h"

#define DEFINING_MAGIC OBJ_MAGIC('S', 'D', 'E', 'F')

/** A definition on its way. */
struct defining {
    struct obj obj;
    const struct face *face;
    struct slider_pending *pending; /* NULL: the request is not kept open yet */
    char *user;
    struct spec_service *spec; /* as it was made: completed anew when its files were looked for */
    struct eng_rules *rules;
    json_t *stored;
    struct paths paths;
    enum eng_event_kind kind;
    bool save;
};

static void defining_free(struct defining *d)
{
    free(d->user);
    spec_free(d->spec);
    eng_rules_free(d->rules);
    json_decref(d->stored);
    paths_fini(&d->paths);
    obj_fini(&d->obj);
    free(d);
}

/** Whether all that is asked for "max" is known; if not, it is looked for. */
static int check_most(const struct face *face, const struct slider_model *model, const struct face_room *room,
                      struct err_info *why)
{
    bool has_most = false;
    for (size_t i = 0; i < model->n; i++) {
        const struct slider_component *c = &model->items[i];
        bool is_most = c->memory_mb == SLIDER_MOST || c->vcores == SLIDER_MOST;
        has_most = has_most || (is_most && c->n_wanted > 0); /* one that is not wanted is sized when it is */
    }
    if (!has_most)
        return 0;
    if (face->ops->know_nodes)
        face->ops->know_nodes(face->app, NULL, NULL); /* there may be larger ones since */
    return room->max_memory_mb && room->max_vcores ? 0
                                                   : err_set(why, ERR_UNAVAILABLE, "",
                                                             "the largest container of the cluster, \"max\", "
                                                             "is not known yet: ask again in a moment");
}

/** Make definition and rules. @return 0; ERR_INVALID, *why says what is wrong with the documents; ERR_UNAVAILABLE: a size is not known yet */
static int make(struct defining *d, const struct slider_documents *docs, const struct slider_model *model,
                struct err_info *why)
{
    const struct face_room room = d->face->ops->room(d->face->app);
    const struct slider_limits limits = {room.max_memory_mb, room.max_vcores};
    buf_auto struct buf text = BUF_EMPTY;
    int rc = slider_definition_check(docs, model, why);
    rc = rc ? rc : check_most(d->face, model, &room, why);
    if (rc)
        return rc;
    json_auto json_t *doc = slider_definition_make(docs, model, &limits);
    json_write(doc, &text);
    rc = spec_read(text.bytes, text.len, &d->spec, NULL, why);
    return rc ? rc : slider_definition_rules(docs, model, &d->rules, why);
}

/** Read the documents. @return 0; as make */
static int prepare(struct defining *d, const struct slider_change *c, struct err_info *why)
{
    json_auto json_t *resources = slider_resolved_resources(c->trees);
    json_auto json_t *app_conf = slider_resolved_app_conf(c->trees);
    json_auto json_t *internal = slider_conf_resolve(c->trees->internal);
    const struct slider_documents docs = {.name = c->name,
                                          .resources = resources,
                                          .app_conf = app_conf,
                                          .internal = internal,
                                          .package = c->trees->package};
    struct slider_model known = {0}, model = {0};
    if (c->s)
        slider_known(c->s, &known);
    int rc = slider_model_read(resources, &known, &model, why);
    rc = rc ? rc : make(d, &docs, &model, why);
    if (rc == 0)
        d->stored = slider_stored(c->trees, &model);
    slider_model_fini(&known);
    slider_model_fini(&model);
    return rc;
}

static void hand_over(struct defining *d, struct spec_service *take_spec)
{
    mem_auto char *name = mem_str(take_spec->name);
    struct eng_event ev = {.kind = d->kind,
                           .service_kind = KIND_SLIDER,
                           .user = d->user,
                           .name = name,
                           .take_spec = take_spec,
                           .take_rules = d->rules,
                           .value = d->stored,
                           .save = d->save};
    d->rules = NULL;
    slider_hand_over(d->pending, &ev);
    defining_free(d);
}

static void on_looked(void *arg, const bool *absent, const struct err_info *problem)
{
    struct defining *d = obj_cast(arg, struct defining, DEFINING_MAGIC);
    struct err_info why = {0};
    struct spec_service *spec = spec_copy(d->spec);
    d->paths.absent = absent;
    int rc = absent ? paths_complete(spec, d->user, d->face, &d->paths, &why) : problem->code;
    if (rc == 0) {
        hand_over(d, spec);
        return;
    }
    spec_free(spec);
    slider_refuse(d->pending, absent ? 400 : err_http_status(rc), absent ? &why : problem);
    defining_free(d);
}

void slider_define(struct http_req *req, const struct face *face, const struct slider_change *c,
                   struct slider_then then)
{
    struct defining *d = mem_new(struct defining);
    struct err_info why = {0};
    obj_init(&d->obj, DEFINING_MAGIC);
    d->face = face;
    d->user = mem_str(c->user);
    d->kind = c->s ? EV_REDEFINE : EV_CREATE;
    d->save = c->save;
    d->paths.may_be_empty = true; /* one of the application master alone */
    d->paths.is_other_api = true;
    int rc = prepare(d, c, &why);
    struct spec_service *spec = rc ? NULL : spec_copy(d->spec);
    rc = rc ? rc : paths_complete(spec, d->user, face, &d->paths, &why);
    if (rc && !(spec && d->paths.n)) {
        spec_free(spec);
        defining_free(d);
        json_decref(then.take_doc);
        slider_next_free(then.take_next);
        slider_reply_why(req, rc == ERR_UNAVAILABLE ? 503 : 400, &why);
        return;
    }
    d->pending = slider_reply_later(req, face, then);
    if (d->paths.n == 0) {
        hand_over(d, spec);
        return;
    }
    spec_free(spec); /* one that is wrong has its files looked for, too: a file may be what it breaks first */
    face->ops->look(face->app, d->user, (const char *const *)d->paths.items, d->paths.n, on_looked, d);
}

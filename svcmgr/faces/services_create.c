/** The handlers that create services: E1, E12. */
#include "faces/services_routes.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "faces/services_kit.h"
#include "faces/paths.h"

#define LOOKING_MAGIC OBJ_MAGIC('L', 'O', 'O', 'K')

/* ---- E1, E12: create ---- */

/** A document that is read again when it is known which of the files it names are there. */
struct looking {
    struct obj obj;
    struct services_pending *pending;
    const struct face *face;
    struct paths paths;
    struct spec_service *spec; /* as it was sent */
    char *user;
};

static void free_looking(struct looking *k)
{
    paths_fini(&k->paths);
    spec_free(k->spec);
    free(k->user);
    obj_fini(&k->obj);
    free(k);
}

static void submit_create(struct services_pending *p, const struct face *face, const char *user,
                          struct spec_service *take_spec)
{
    struct eng_event ev = {
        .kind = EV_CREATE, .user = user, .take_spec = take_spec, .save = take_spec->state == SPEC_STOPPED};
    services_hand_over(p, face, &ev);
}

/** @param why  of validation; code 0: the look-up found the problem */
static void refuse(const struct looking *k, const struct err_info *why, const struct err_info *problem)
{
    mem_auto char *place = why->code ? NULL : paths_place(k->spec, problem->where);
    mem_auto char *text =
        place ? mem_fmt("%s: %s", place, problem->text) : mem_str(why->code ? why->text : problem->text);

    services_reply_text(k->pending->req, why->code ? 400 : err_http_status(problem->code), text);
}

static void on_looked(void *arg, const bool *absent, const struct err_info *problem)
{
    struct looking *k = obj_cast(arg, struct looking, LOOKING_MAGIC);
    struct services_pending *p = k->pending;
    struct err_info why = {0};

    k->paths.absent = absent;
    int err = absent ? paths_complete(k->spec, k->user, k->face, &k->paths, &why) : problem->code;
    if (!err)
        err = p->req ? problem->code : ERR_CANCELLED;
    if (!err) {
        submit_create(p, k->face, k->user, k->spec);
        k->spec = NULL;
    } else {
        if (p->req)
            refuse(k, &why, problem);
        services_drop(p);
    }
    free_looking(k);
}

/** Look for the files that a document names; it is completed again then. @param take_sent  as it was sent */
static void look(struct services_pending *p, struct face *face, const char *user, struct paths *take_paths,
                 struct spec_service *take_sent)
{
    struct looking *k = mem_new(struct looking);
    obj_init(&k->obj, LOOKING_MAGIC);
    k->pending = p;
    k->face = face;
    k->paths = *take_paths;
    k->spec = take_sent;
    k->user = mem_str(user);
    face->ops->look(face->app, k->user, (const char *const *)k->paths.items, k->paths.n, on_looked, k);
}

/** One that is invalid has its files looked for, too: a file that is missing may be the first rule that it breaks. */
static void create_from(struct http_req *req, struct face *face, struct services_definition *take_d)
{
    struct err_info why = {0};
    struct paths paths = {0};
    struct spec_service *spec = take_d->spec, *sent = spec_copy(spec);
    int err = paths_complete(spec, http_user(req), face, &paths, &why);
    if (err && !paths.n) {
        services_reply_text(req, 400, why.text);
        spec_free(spec);
        spec_free(sent);
        free(take_d->unknown);
        return;
    }
    struct services_pending *p = services_reply_later(req, face, VERB_CREATE);
    p->unknown = take_d->unknown;
    if (paths.n) {
        spec_free(spec);
        look(p, face, http_user(req), &paths, sent);
    } else {
        spec_free(sent);
        submit_create(p, face, http_user(req), spec);
    }
}

void services_post(struct http_req *req, void *app)
{
    struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    struct services_definition d;
    services_read_definition(req, face, http_param_bool(req, CREATE_STRICT), &d);
    if (d.spec)
        create_from(req, face, &d);
}

void service_post(struct http_req *req, void *app)
{
    struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    mem_auto char *name = services_path_name_for(req, face, VERB_CREATE);
    struct services_definition d = {.spec = NULL};
    if (name)
        services_read_definition(req, face, http_param_bool(req, CHANGE_STRICT), &d);
    if (!d.spec)
        return;
    if (!d.spec->name)
        d.spec->name = mem_str(name);
    if (strcmp(d.spec->name, name) != 0) {
        mem_auto char *text =
            mem_fmt("Service name in the request object (%s) does not match that in the URI path (%s)",
                    d.spec->name, name);
        services_reply_text(req, 400, text);
        spec_free(d.spec);
        free(d.unknown);
        return;
    }
    create_from(req, face, &d);
}

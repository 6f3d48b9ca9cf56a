/** Changes of a part of a framework: number of tasks, start and stop, migrations, progress. Source: framework-launcher 5.4, 5.5, 5.10, 5.11. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "launcher/acl.h"
#include "launcher/kit.h"
#include "launcher/routes.h"
#include "spec/label.h"

static const struct launcher_verb recorded = {.done = 202, .missing = 404};

/** What a change is about. */
struct change {
    const struct eng_service *s; /* borrowed; NULL: there is none, and that is replied */
    struct launcher_body body;
    char *element; /* name of the role or container; NULL: the path has none */
};

static void change_fini(struct change *c)
{
    launcher_body_fini(&c->body);
    free(c->element);
}
#define change_auto __attribute__((cleanup(change_fini)))

/** Checks in their order: body, names, rules, rights, existence. @return false: that is replied */
static bool change_read(struct http_req *req, const struct face *face, const struct ldoc_type *type,
                        const char *element, struct change *out)
{
    *out = (struct change){.s = NULL};
    if (!launcher_body_read(req, type, &out->body))
        return false;
    mem_auto char *name = launcher_path_name(req, "f");
    if (name && element)
        out->element = launcher_path_name(req, element);
    if (!name || (element && !out->element) || !launcher_body_check(req, &out->body))
        return false;
    if (!launcher_may_write(req, face, (struct launcher_write){name, NULL}))
        return false;
    out->s = launcher_find(req, face);
    return out->s;
}

static struct eng_event event_of(enum eng_event_kind kind, const struct eng_service *s)
{
    return (struct eng_event){.kind = kind, .service_kind = KIND_LAUNCHER, .user = s->user, .name = s->name};
}

void launcher_task_number_put(struct http_req *req, void *app)
{
    struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    change_auto struct change c;
    if (!change_read(req, face, &launcher_task_number_type, "r", &c))
        return;
    mem_auto char *component = spec_label(c.element, SPEC_LABEL_COMPONENT);
    const struct launcher_task_number *n = c.body.object;
    const struct eng_flex flex = {.component = component, .count = n->n_tasks};
    struct eng_event ev = event_of(EV_FLEX, c.s);
    ev.flex = &flex;
    ev.n_flex = 1;
    launcher_submit(req, face, &ev, recorded);
}

void launcher_execution_put(struct http_req *req, void *app)
{
    struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    change_auto struct change c;
    if (!change_read(req, face, &launcher_execution_type_type, NULL, &c))
        return;
    const struct launcher_execution_type *to = c.body.object;
    struct eng_event ev = event_of(to->execution == LAUNCHER_STOP ? EV_STOP : EV_START, c.s);
    launcher_submit(req, face, &ev, recorded);
}

void launcher_migrate_put(struct http_req *req, void *app)
{
    struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    change_auto struct change c;
    if (!change_read(req, face, &launcher_migrate_type, "c", &c))
        return;
    json_t *value = ldoc_write(&launcher_migrate_type, c.body.object);
    const char *names[] = {c.element};
    struct eng_event ev = event_of(EV_MIGRATE, c.s);
    ev.names = names;
    ev.n_names = 1;
    ev.value = value;
    launcher_submit(req, face, &ev, recorded);
    json_decref(value);
}

void launcher_migrate_delete(struct http_req *req, void *app)
{
    struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    mem_auto char *name = launcher_path_name(req, "f");
    mem_auto char *container = name ? launcher_path_name(req, "c") : NULL;
    if (!container || !launcher_may_write(req, face, (struct launcher_write){name, NULL}))
        return;
    const struct eng_service *s = launcher_framework(face, name);
    if (!s) {
        launcher_reply_done(req, 202);
        return;
    }
    const char *names[] = {container};
    struct eng_event ev = event_of(EV_MIGRATE, s);
    ev.names = names;
    ev.n_names = 1;
    launcher_submit(req, face, &ev, (struct launcher_verb){.done = 202, .missing = 202});
}

void launcher_progress_put(struct http_req *req, void *app)
{
    struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    change_auto struct change c;
    if (!change_read(req, face, &launcher_progress_type, NULL, &c))
        return;
    const struct launcher_progress *p = c.body.object;
    struct eng_event ev = event_of(EV_PROGRESS, c.s);
    ev.progress_ppm = llround(p->progress * ENG_PROGRESS_ALL);
    launcher_submit(req, face, &ev, recorded);
}

/** What is done with single instances day by day: restart, signal; and what all of a service use. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/str.h"
#include "faces/services_kit.h"
#include "run/loop.h"

#define USAGE_MAGIC OBJ_MAGIC('F', 'U', 'S', 'E')

/* ---- restart ---- */

void instance_restart(struct http_req *req, void *app)
{
    struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    mem_auto char *service = services_path_name_for(req, face, VERB_INSTANCE);
    mem_auto char *instance = service ? services_path_element(req, "i") : NULL;
    const char *names[] = {instance};
    struct eng_event ev = {
        .kind = EV_RESTART, .user = http_user(req), .name = service, .names = names, .n_names = 1};

    if (instance)
        services_submit(req, face, &ev, VERB_INSTANCE);
}

/* ---- signal ---- */

/** "HUP", "SIGHUP" or "1". @return its number; 0: it is none */
static int signal_of(const char *text)
{
    const char *name = strncasecmp(text, "SIG", 3) == 0 ? text + 3 : text;
    int64_t n;

    if (!str_to_i64(text, 1, NSIG - 1, &n))
        return (int)n;
    for (int s = 1; s < NSIG; s++) {
        const char *known = sigabbrev_np(s);
        if (known && strcasecmp(known, name) == 0)
            return s;
    }
    return 0;
}

static void refuse(struct http_req *req, int code, const char *where, const char *text)
{
    struct err_info why;

    err_set(&why, code, where, "%s", text);
    http_reply_error(req, code, &why);
}

static void send_signal(struct http_req *req, const struct face *face, const struct eng_service *s,
                        const char *instance)
{
    int number = signal_of(http_param_text(req, SIGNAL_NAME));
    struct err_info why;

    if (!number) {
        refuse(req, ERR_INVALID, "signal", "there is no such signal; write its name or number, as HUP or 1");
        return;
    }
    const struct eng_instance *inst = services_find_placed(req, s, instance);
    if (!inst)
        return;
    int err = face->ops->signal(face->app, inst->container_id, number, &why);
    if (err)
        http_reply_error(req, err, &why);
    else
        services_reply_no_content(req);
}

void instance_signal(struct http_req *req, void *app)
{
    const struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    mem_auto char *service = services_path_name(req);
    mem_auto char *instance = service ? services_path_element(req, "i") : NULL;
    const struct eng_service *s = instance ? services_find(req, face, service, 0) : NULL;

    if (s)
        send_signal(req, face, s, instance);
}

/* ---- usage ---- */

/** One container that is measured. */
struct measured {
    char *instance, *container;
    int64_t memory_mb, vcores;
};

/** A request that waits for a measurement. */
struct measuring {
    struct obj obj;
    struct http_req *req; /* NULL: the client went away */
    struct measured *items;
    size_t n;
};

static void measuring_free(struct measuring *m)
{
    for (size_t i = 0; i < m->n; i++) {
        free(m->items[i].instance);
        free(m->items[i].container);
    }
    free(m->items);
    obj_fini(&m->obj);
    free(m);
}

static void on_gone(void *arg)
{
    struct measuring *m = obj_cast(arg, struct measuring, USAGE_MAGIC);

    m->req = NULL;
}

static json_t *write_item(const struct measured *item, const struct face_usage *u)
{
    json_t *doc =
        json_pack("{s:s, s:s, s:I, s:I}", "instance", item->instance, "container", item->container,
                  "memory_limit", (json_int_t)(item->memory_mb << 20), "cpus", (json_int_t)item->vcores);

    if (u->is_known) {
        json_object_set_new(doc, "cpu_ms", json_integer(u->cpu_ms));
        json_object_set_new(doc, "memory", json_integer(u->memory_bytes));
        json_object_set_new(doc, "processes", json_integer(u->n_processes));
    }
    return doc;
}

/** @param note  why nothing is known; NULL: it is */
static void reply_usage(const struct measuring *m, const struct face_usage *usage, const char *note)
{
    json_t *list = json_array();

    for (size_t i = 0; i < m->n; i++)
        json_array_append_new(list, write_item(&m->items[i], &usage[i]));
    json_t *doc = json_pack("{s:I, s:o}", "time", (json_int_t)run_boot_ms(), "instances", list);
    if (note)
        json_object_set_new(doc, "note", json_string(note));
    services_reply_json(m->req, 200, doc);
}

static void on_measured(void *arg, const struct face_usage *usage)
{
    struct measuring *m = obj_cast(arg, struct measuring, USAGE_MAGIC);

    if (m->req && usage) {
        reply_usage(m, usage, NULL);
    } else if (m->req) {
        refuse(m->req, ERR_UNSUPPORTED, "usage",
               "the containers of this cluster run no processes that can be measured");
    }
    measuring_free(m);
}

static void add_instance(struct measuring *m, const struct eng_instance *inst)
{
    const struct spec_component *spec = inst->component->spec;

    if (!inst->container_id || inst->state == INST_REQUESTED)
        return;
    m->items = mem_resize(m->items, m->n + 1, sizeof *m->items);
    m->items[m->n++] = (struct measured){mem_str(inst->name), mem_str(inst->container_id),
                                         spec_memory_mb(spec), spec->resource->cpus};
}

static void measure(struct http_req *req, const struct face *face, const struct eng_service *s)
{
    struct measuring *m = mem_new(struct measuring);
    const struct eng_instance *inst;

    obj_init(&m->obj, USAGE_MAGIC);
    m->req = req;
    for (size_t i = 0; i < s->n_components; i++)
        TAILQ_FOREACH (inst, &s->components[i]->instances, link)
            add_instance(m, inst);
    const char *note = face->ops->no_usage ? face->ops->no_usage(face->app) : NULL;
    if (note) {
        mem_auto struct face_usage *none = mem_array(m->n + 1, sizeof *none);
        reply_usage(m, none, note);
        measuring_free(m);
        return;
    }
    mem_auto const char **ids = mem_array(m->n + 1, sizeof *ids);
    for (size_t i = 0; i < m->n; i++)
        ids[i] = m->items[i].container;
    http_reply_later(req, on_gone, m);
    face->ops->usage(face->app, ids, m->n, on_measured, m);
}

void service_usage(struct http_req *req, void *app)
{
    const struct face *face = obj_cast(app, struct face, FACE_MAGIC);
    mem_auto char *service = services_path_name(req);
    const struct eng_service *s = service ? services_find(req, face, service, 0) : NULL;

    if (s)
        measure(req, face, s);
}

/**
 * Why a service is not as it is wanted: see services.h. Instances of a component that wait for the same are one line, so that an
 * answer is bounded however many they are:
 *
 *     {"component": "web", "count": 812, "instances": ["web-3", …], "instance": "web-3", "state": …, "reason": …, "wait": …, "remedy": …}
 */
#include <string.h>

#include "base/mem.h"
#include "faces/services.h"

/** Instances that a line names. */
#define NAMES_MAX 10
/** Lines of a component that differ in the name of what is waited for only; more are added to the first of their reason. */
#define LINES_MAX 64

/** Instances of a component that wait for the same. */
struct line {
    enum eng_wait why;
    char *name; /* of what is waited for, or NULL */
    size_t n;
    json_t *v; /* borrowed from the list */
};

struct lines {
    const struct face *face;
    json_t *list;
    const struct eng_component *component;
    struct line *items; /* of this component */
    size_t n;
};

static void set_text(json_t *object, const char *key, const char *value)
{
    if (value)
        json_object_set_new(object, key, json_string(value));
}

/** One line; instance NULL: of the service. @return borrowed from the list */
static json_t *add_line(json_t *list, const char *instance, const char *state, const struct eng_waiting *w)
{
    json_t *v = json_object();
    mem_auto char *text = eng_wait_text(w), *remedy = eng_wait_remedy(w);
    set_text(v, "instance", instance);
    set_text(v, "state", state);
    set_text(v, "reason", eng_wait_word(w->why));
    set_text(v, "wait", text);
    set_text(v, "remedy", remedy);
    json_array_append_new(list, v);
    return v;
}

static bool is_same_name(const char *x, const char *y)
{
    return x && y ? strcmp(x, y) == 0 : x == y;
}

/** The line for a wait; NULL: it needs a new one. */
static struct line *find_line(const struct lines *l, const struct eng_waiting *w)
{
    struct line *of_reason = NULL;
    for (size_t i = 0; i < l->n; i++) {
        if (l->items[i].why != w->why)
            continue;
        if (is_same_name(l->items[i].name, w->name))
            return &l->items[i];
        of_reason = of_reason ? of_reason : &l->items[i];
    }
    return l->n < LINES_MAX ? NULL : of_reason;
}

static struct line *new_line(struct lines *l, const struct eng_instance *inst, const struct eng_waiting *w)
{
    l->items = mem_resize(l->items, l->n + 1, sizeof l->items[0]);
    struct line *line = &l->items[l->n++];
    *line = (struct line){.why = w->why, .name = mem_str(w->name)};
    line->v = add_line(l->list, inst->name, eng_instance_state_word(inst->state), w);
    set_text(line->v, "component", l->component->name);
    json_object_set_new(line->v, "instances", json_array());
    return line;
}

static void add_wait(struct lines *l, const struct eng_instance *inst, const struct eng_waiting *w)
{
    struct line *line = find_line(l, w);
    if (!line)
        line = new_line(l, inst, w);
    if (line->n++ < NAMES_MAX)
        json_array_append_new(json_object_get(line->v, "instances"), json_string(inst->name));
}

/** Its process has failed: it is final, or waits for what becomes of the upgrade. */
static void add_failed(struct lines *l, const struct eng_instance *inst)
{
    mem_auto char *end = inst->last_exit ? eng_exit_text(inst->last_exit) : NULL;
    bool is_of_upgrade = inst->upgrade == UPGRADE_FAILED;
    add_wait(l, inst,
             &(struct eng_waiting){.why = is_of_upgrade ? WAIT_FAILED_VERSION : WAIT_FAILED,
                                   .name = is_of_upgrade ? inst->version : NULL,
                                   .text = end});
}

/** Why an instance is not further, and why its record is not published. */
static void add_instance(struct lines *l, const struct eng_instance *inst)
{
    const struct eng_waiting *waiting = eng_instance_waiting(inst);
    struct face_wait w;
    if (waiting)
        add_wait(l, inst, waiting);
    if (inst->state == INST_FAILED)
        add_failed(l, inst);
    if (!services_record_waits(l->face, inst, &w) || w.is_refused)
        return;
    mem_auto char *why = services_record_wait_text(&w);
    add_wait(l, inst, &(struct eng_waiting){.why = WAIT_PUBLISH, .text = why});
}

static void add_component(struct lines *l, const struct eng_component *c)
{
    const struct eng_instance *inst;
    l->component = c;
    TAILQ_FOREACH (inst, &c->instances, link)
        add_instance(l, inst);
    for (size_t i = 0; i < l->n; i++) {
        json_object_set_new(l->items[i].v, "count", json_integer((json_int_t)l->items[i].n));
        mem_free_ptr(&l->items[i].name);
    }
    mem_free_ptr(&l->items);
    l->n = 0;
}

static void add_service(json_t *list, const struct eng_service *s, const struct eng_waiting *w)
{
    add_line(list, NULL, eng_service_state_word(s->state), w);
}

json_t *services_view_explain(const struct eng_service *s, const struct face *face)
{
    struct lines l = {.face = face, .list = json_array()};
    mem_auto char *refusals = eng_service_refusals(s);
    if (s->wait)
        add_service(l.list, s, s->wait);
    else if (s->diagnostics)
        add_service(l.list, s, &(struct eng_waiting){.why = WAIT_ENDED, .text = s->diagnostics});
    if (refusals)
        add_service(l.list, s, &(struct eng_waiting){.why = WAIT_REFUSED, .text = refusals});
    for (size_t i = 0; i < s->n_components; i++)
        add_component(&l, s->components[i]);
    return l.list;
}

static bool is_of_application(const struct eng_waiting *w)
{
    return w && (w->why == WAIT_APPLICATION || w->why == WAIT_MASTER || w->why == WAIT_SUBMISSION);
}

json_t *services_view_explain_elsewhere(const struct eng_service *s, const struct face *face,
                                        const json_t *list, const struct err_info *why)
{
    size_t i;
    json_t *line;
    json_t *all = json_array();
    if (!list) {
        mem_auto char *text = mem_str(why->text);
        add_service(all, s, &(struct eng_waiting){.why = WAIT_MASTER_AWAY, .text = text});
        json_t *known = services_view_explain(s, face);
        json_array_extend(all, known);
        json_decref(known);
        return all;
    }
    if (is_of_application(s->wait))
        add_service(all, s, s->wait);
    json_array_foreach(list, i, line)
    {
        if (json_is_object(line))
            json_array_append(all, line);
    }
    return all;
}

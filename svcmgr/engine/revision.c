/**
 * Revisions of components: what distinguishes two definitions, which one a process is started by, and definitions that are
 * changed while the service runs.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/policy.h"
#include "engine/component.h"
#include "engine/documents.h"
#include "engine/operation.h"
#include "engine/step.h"
#include "json/json.h"

/** A member of a definition that an upgrade cannot change, as the API calls it. */
struct fixed {
    const char *member, *name;
};

static const struct fixed fixed_of_service[] = {
    {"kerberos_principal", "kerberos principal"},
    {"queue", "queue"},
    {"resource", "resource"},
    {"description", "description"},
    {"quicklinks", "quick links"},
    {"lifetime", "lifetime"},
};

static const struct fixed fixed_of_component[] = {
    {"dependencies", "component dependencies"},
    {"readiness_check", "component readiness check"},
    {"resource", "component resource"},
    {"run_privileged_container", "run privileged container"},
    {"placement_policy", "component placement policy"},
    {"quicklinks", "component quick links"},
    {"ports", "component ports"},
};

static bool is_empty(const json_t *v)
{
    return !v || (json_is_object(v) && json_object_size(v) == 0);
}

/** Whether two values say the same: an empty object is what is absent, since Hadoop's client sends the one for the other. */
static bool says_same(const json_t *x, const json_t *y)
{
    const char *key;
    json_t *v;
    if (is_empty(x) || is_empty(y))
        return is_empty(x) && is_empty(y);
    if (!json_is_object(x) || !json_is_object(y))
        return json_equal(x, y);
    json_object_foreach((json_t *)x, key, v)
    {
        if (!says_same(v, json_object_get(y, key)))
            return false;
    }
    json_object_foreach((json_t *)y, key, v)
    {
        if (!json_object_get(x, key) && !is_empty(v))
            return false;
    }
    return true;
}

static bool is_same(const json_t *a, const json_t *b, const char *member)
{
    return says_same(json_object_get(a, member), json_object_get(b, member));
}

static const char *changed_of(const struct fixed *rows, size_t n, const json_t *a, const json_t *b)
{
    for (size_t i = 0; i < n; i++) {
        if (!is_same(a, b, rows[i].member))
            return rows[i].name;
    }
    return NULL;
}

static const char *changed_component(const struct spec_component *old, const struct spec_component *new)
{
    json_auto json_t *a = fld_write(&spec_component_type, old);
    json_auto json_t *b = fld_write(&spec_component_type, new);
    return changed_of(fixed_of_component, ARRAY_LEN(fixed_of_component), a, b);
}

char *revision_refusal(const struct spec_service *old, const struct spec_service *new)
{
    json_auto json_t *a = fld_write(&spec_service_type, old);
    json_auto json_t *b = fld_write(&spec_service_type, new);
    const char *changed = changed_of(fixed_of_service, ARRAY_LEN(fixed_of_service), a, b);
    bool same_set = old->n_components == new->n_components;
    for (size_t i = 0; same_set && i < new->n_components; i++)
        same_set = spec_component(old, new->components[i]->name) != NULL;
    if (!same_set)
        return mem_str("addition/deletion of components not supported by upgrade");
    for (size_t i = 0; !changed && i < new->n_components; i++)
        changed = changed_component(spec_component(old, new->components[i]->name), new->components[i]);
    return changed ? mem_fmt("changes to %s not supported by upgrade", changed) : NULL;
}

bool revision_differs(const struct spec_service *old, const struct spec_service *new, const char *component)
{
    json_auto json_t *a = fld_write(&spec_service_type, old);
    json_auto json_t *b = fld_write(&spec_service_type, new);
    json_auto json_t *x = fld_write(&spec_component_type, spec_component(old, component));
    json_auto json_t *y = fld_write(&spec_component_type, spec_component(new, component));
    return !is_same(a, b, "artifact") || !is_same(a, b, "configuration") || !is_same(x, y, "artifact") ||
           !is_same(x, y, "launch_command") || !is_same(x, y, "configuration");
}

static bool runs_target(const struct eng_instance *inst)
{
    const struct eng_component *c = inst->component;
    const struct eng_operation *op = c->service->operation;
    return c->next_revision && inst->goal == c->next_revision && op && op->target;
}

const struct spec_component *instance_spec(const struct eng_instance *inst)
{
    const struct eng_component *c = inst->component;
    return runs_target(inst) ? spec_component(c->service->operation->target, c->name) : c->spec;
}

const char *instance_version(const struct eng_instance *inst)
{
    const struct eng_service *s = inst->component->service;
    return runs_target(inst) ? s->operation->target->version : s->spec->version;
}

/* ---- definitions that change while the service runs ---- */

/** What requests have changed since the definition was given stays as it is. */
static void keep_counts(const struct spec_component *from, struct spec_component *to)
{
    to->number_of_containers = from->number_of_containers;
    for (size_t i = 0; i < to->n_decommissioned_instances; i++)
        free(to->decommissioned_instances[i]);
    free(to->decommissioned_instances);
    to->n_decommissioned_instances = from->n_decommissioned_instances;
    to->decommissioned_instances = mem_array(from->n_decommissioned_instances + 1, sizeof(char *));
    for (size_t i = 0; i < from->n_decommissioned_instances; i++)
        to->decommissioned_instances[i] = mem_str(from->decommissioned_instances[i]);
}

void revision_keep_counts(const struct spec_service *from, struct spec_service *to)
{
    for (size_t i = 0; i < to->n_components; i++) {
        const struct spec_component *c = spec_component(from, to->components[i]->name);
        if (c)
            keep_counts(c, to->components[i]);
    }
}

void revision_take_definition(struct step *st, struct eng_service *s, struct spec_service *take_spec)
{
    struct spec_service *old = s->spec;
    s->spec = take_spec;
    for (size_t i = 0; i < s->n_components; i++)
        s->components[i]->n_decommissioned = 0;
    BUG_IF(service_link(s, NULL) != 0);
    spec_free(old);
    step_want(st, s);
    step_touch(st, s);
}

void revision_finalize(struct step *st, struct eng_service *s, struct spec_service *take_target)
{
    for (size_t i = 0; i < s->n_components; i++) {
        struct eng_component *c = s->components[i];
        keep_counts(c->spec, spec_component(take_target, c->name));
        if (c->next_revision)
            c->revision = c->next_revision;
    }
    revision_take_definition(st, s, take_target);
}

static void add_to_spec(struct spec_service *spec, struct spec_component *take)
{
    spec->components = mem_resize(spec->components, spec->n_components + 1, sizeof(struct spec_component *));
    spec->components[spec->n_components++] = take;
}

/** Components that the new definition lacks stay in it, without instances, until the last one has gone. */
static void retire_missing(struct eng_service *s, struct spec_service *spec)
{
    for (size_t i = 0; i < s->n_components; i++) {
        struct eng_component *c = s->components[i];
        c->retired = spec_component(spec, c->name) == NULL;
        if (!c->retired)
            continue;
        struct spec_component *last = fld_copy(&spec_component_type, c->spec);
        last->number_of_containers = 0;
        add_to_spec(spec, last);
    }
}

/** Anything but the number of instances is another one. */
static bool is_changed(const struct spec_component *old, const struct spec_component *new)
{
    static const char *const counts[] = {"number_of_containers", "decommissioned_instances"};
    json_auto json_t *a = fld_write(&spec_component_type, old);
    json_auto json_t *b = fld_write(&spec_component_type, new);
    for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
        json_object_del(a, counts[i]);
        json_object_del(b, counts[i]);
    }
    return !json_equal(a, b);
}

static void renew_changed(struct eng_service *s, const struct spec_service *spec)
{
    for (size_t i = 0; i < s->n_components; i++) {
        struct eng_component *c = s->components[i];
        if (!c->retired &&
            (is_changed(c->spec, spec_component(spec, c->name)) || revision_differs(s->spec, spec, c->name)))
            c->revision = ++c->last_revision;
    }
}

static struct eng_component *new_component(const char *name)
{
    struct eng_component *c = fld_new(&eng_component_type);
    c->name = mem_str(name);
    c->state = COMP_WAITING;
    return c;
}

/** The components in the start order of a definition; those that are not there yet are made. */
static void order_components(struct eng_service *s, const struct spec_service *spec)
{
    mem_auto size_t *order = mem_array(spec->n_components + 1, sizeof(size_t));
    struct eng_component **list = mem_array(spec->n_components + 1, sizeof list[0]);
    BUG_IF(spec_order(spec, order, NULL) != 0);
    for (size_t i = 0; i < spec->n_components; i++) {
        const char *name = spec->components[order[i]]->name;
        struct eng_component *there = component_of(s, name);
        list[i] = there ? there : new_component(name);
    }
    free(s->components);
    s->components = list;
    s->n_components = spec->n_components;
}

void revision_redefine(struct step *st, struct eng_service *s, struct spec_service *take_spec)
{
    retire_missing(s, take_spec);
    renew_changed(s, take_spec);
    order_components(s, take_spec);
    revision_take_definition(st, s, take_spec);
}

/** Final states that a restart policy knows not: what is in one is started again. */
static unsigned states_to_leave(const struct eng_component *c)
{
    switch (policy_of_component(c)->restart(c)) {
    case RESTART_ALWAYS: return STATE_BIT(INST_SUCCEEDED) | STATE_BIT(INST_FAILED);
    case RESTART_ON_FAILURE: return STATE_BIT(INST_FAILED);
    case RESTART_NEVER: break;
    }
    return 0;
}

void revision_restart_final(struct step *st, struct eng_component *c)
{
    unsigned leave = states_to_leave(c);
    struct eng_instance *inst;
    if (c->revision == 0 || c->next_revision || component_count(c, leave) == 0)
        return;
    TAILQ_FOREACH (inst, &c->instances, link) {
        if (!(STATE_BIT(inst->state) & leave) || step_is_full(st))
            continue;
        instance_enter(inst, INST_PENDING);
        instance_set_due(inst, 0);
        step_touch_instance(st, inst);
    }
}

static void remove_from_spec(struct spec_service *spec, const char *name)
{
    size_t n = 0;
    for (size_t i = 0; i < spec->n_components; i++) {
        if (strcmp(spec->components[i]->name, name) == 0)
            fld_free(&spec_component_type, spec->components[i]);
        else
            spec->components[n++] = spec->components[i];
    }
    spec->n_components = n;
}

void revision_drop_empty(struct step *st, struct eng_service *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n_components; i++) {
        struct eng_component *c = s->components[i];
        if (!c->retired || c->n_instances > 0) {
            s->components[n++] = c;
            continue;
        }
        step_note(st, s, "component %s is removed", c->name);
        remove_from_spec(s->spec, c->name);
        component_free(c);
        step_want(st, s);
        step_touch(st, s);
    }
    s->n_components = n;
}

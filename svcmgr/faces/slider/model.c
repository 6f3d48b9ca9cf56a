#include "slider/model.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "slider/conf.h"

#define INSTANCES      "yarn.component.instances"
#define PRIORITY       "yarn.role.priority"
#define UNIQUE_NAMES   "component.unique.names"
#define DEFAULT_MEMORY 256
#define INSTANCES_MAX  1000000 /* of one component; how many may be is the engine's */
#define PRIORITY_MAX   INT32_MAX
#define FAILURE_WINDOW "yarn.container.failure.window"
#define WARNING_MAX    4096

void slider_model_fini(struct slider_model *m)
{
    for (size_t i = 0; i < m->n; i++) {
        free(m->items[i].name);
        free(m->items[i].group);
    }
    free(m->items);
    *m = (struct slider_model){0};
}

const struct slider_component *slider_model_find(const struct slider_model *m, const char *name)
{
    for (size_t i = 0; m && i < m->n; i++) {
        if (strcmp(m->items[i].name, name) == 0)
            return &m->items[i];
    }
    return NULL;
}

const char *slider_component_options(const struct slider_component *c)
{
    return c->group ? c->group : c->name;
}

/* ---- building ---- */

/** A component of this name, added when it is not there. [borrowed until the next one] */
static struct slider_component *component_at(struct slider_model *m, const char *name)
{
    for (size_t i = 0; i < m->n; i++) {
        if (strcmp(m->items[i].name, name) == 0)
            return &m->items[i];
    }
    m->items = mem_resize(m->items, m->n + 1, sizeof *m->items);
    m->items[m->n] = (struct slider_component){.name = mem_str(name)};
    return &m->items[m->n++];
}

/** All that was known, wanted 0 times until the document says otherwise. */
static void take_known(struct slider_model *m, const struct slider_model *known)
{
    for (size_t i = 0; known && i < known->n; i++) {
        struct slider_component *c = component_at(m, known->items[i].name);
        char *name = c->name;
        *c = known->items[i];
        c->name = name;
        c->group = mem_str(known->items[i].group);
        c->n_wanted = 0;
    }
}

static bool has_priority(const struct slider_model *m, int64_t priority, int64_t *highest)
{
    bool found = false;
    for (size_t i = 0; i < m->n; i++) {
        found = found || m->items[i].priority == priority;
        *highest = m->items[i].priority > *highest ? m->items[i].priority : *highest;
    }
    return found;
}

/** Numbers of options that may have blanks around them. */
static int trimmed_int(const json_t *resolved, const char *name, const char *option, int64_t *out,
                       struct err_info *why)
{
    const char *text = slider_conf_option(resolved, name, option);
    mem_auto char *bare = text ? str_trim(text) : NULL;
    if (bare && slider_decode(bare, out) == 0)
        return 0;
    return slider_conf_int(resolved, name, option, 0, out, why);
}

/** An option that must be there, and an integer of min or more. */
static int required(const json_t *resolved, const char *name, const char *option, int64_t min, int64_t max,
                    int64_t *out, struct err_info *why)
{
    char place[sizeof why->where];
    snprintf(place, sizeof place, "/components/%.100s/%s", name, option);
    if (!slider_conf_option(resolved, name, option))
        return err_set(why, ERR_INVALID, place, "component %.100s must have %s", name, option);
    bool is_trimmed = strcmp(option, PRIORITY) == 0;
    int rc = is_trimmed ? trimmed_int(resolved, name, option, out, why)
                        : slider_conf_int(resolved, name, option, 0, out, why);
    if (rc == 0 && (*out < min || *out > max))
        rc = err_set(why, ERR_INVALID, place, "must be %" PRId64 " to %" PRId64 ", it is %" PRId64, min, max,
                     *out);
    return rc;
}

/** Memory or cores: an integer from 1 on, or "max". */
static int size_of(const json_t *resolved, const char *name, const char *option, int64_t def, int64_t *out,
                   struct err_info *why)
{
    const char *text = slider_conf_option(resolved, name, option);
    if (text && strcmp(text, "max") == 0) {
        *out = SLIDER_MOST;
        return 0;
    }
    int rc = slider_conf_int(resolved, name, option, def, out, why);
    if (rc == 0 && *out < 1) {
        char place[sizeof why->where];
        snprintf(place, sizeof place, "/components/%.100s/%s", name, option);
        rc = err_set(why, ERR_INVALID, place, "must be 1 or more, or \"max\", it is %" PRId64, *out);
    }
    return rc;
}

/** What all members of a component share. */
static int read_common(const json_t *resolved, const char *name, struct slider_component *out,
                       struct err_info *why)
{
    int64_t span_s;
    int rc = size_of(resolved, name, "yarn.memory", DEFAULT_MEMORY, &out->memory_mb, why);
    if (rc == 0)
        rc = size_of(resolved, name, "yarn.vcores", 1, &out->vcores, why);
    if (rc == 0)
        rc = trimmed_int(resolved, name, "yarn.component.placement.policy", &out->placement, why);
    if (rc == 0)
        rc = slider_conf_span(resolved, NULL, FAILURE_WINDOW, 0, &span_s, why);
    return rc;
}

/** A priority that no other component has, or ever had. */
static int take_priority(const struct slider_model *m, const char *name, int64_t priority,
                         struct err_info *why)
{
    int64_t highest = 0;
    char place[sizeof why->where];
    if (!has_priority(m, priority, &highest))
        return 0;
    snprintf(place, sizeof place, "/components/%.100s/" PRIORITY, name);
    return err_set(why, ERR_INVALID, place,
                   "priority %" PRId64 " is, or was, that of another component; %" PRId64 " is free",
                   priority, highest + 1);
}

static void fill(struct slider_component *c, const struct slider_component *common, int64_t priority,
                 int64_t n_wanted)
{
    c->memory_mb = common->memory_mb;
    c->vcores = common->vcores;
    c->placement = common->placement;
    c->n_wanted = n_wanted;
    if (!c->priority)
        c->priority = priority;
}

/** A component of its own. The priority of one that is known is not read again. */
static int read_single(struct slider_model *m, const char *name, const struct slider_component *common,
                       const int64_t *numbers, struct err_info *why)
{
    if (!slider_model_find(m, name)) {
        int rc = take_priority(m, name, numbers[1], why);
        if (rc)
            return rc;
    }
    fill(component_at(m, name), common, numbers[1], numbers[0]);
    return 0;
}

/** Members 1 to n of a group are wanted once each, those beyond not at all. */
static int read_group(struct slider_model *m, const char *group, const struct slider_component *common,
                      const int64_t *numbers, struct err_info *why)
{
    for (int64_t i = 1; i <= numbers[0]; i++) {
        mem_auto char *name = mem_fmt("%s%" PRId64, group, i);
        const struct slider_component *known = slider_model_find(m, name);
        int64_t highest = 0, priority = numbers[1] + i - 1;
        if (known && (!known->group || strcmp(known->group, group) != 0))
            return err_set(
                why, ERR_INVALID, NULL,
                "%.100s is a component, and a member of the group %.100s; name one of them differently", name,
                group);
        if (m->n >= SLIDER_COMPONENTS_MAX)
            return err_set(why, ERR_INVALID, NULL,
                           "at most %d components are allowed, with the members of groups",
                           SLIDER_COMPONENTS_MAX);
        if (!known && has_priority(m, priority, &highest))
            priority = highest + 1;
        struct slider_component *c = component_at(m, name);
        fill(c, common, priority, 1);
        if (!c->group)
            c->group = mem_str(group);
        c->index = i;
    }
    return 0;
}

static int read_component(const json_t *resolved, const char *name, struct slider_model *m,
                          struct err_info *why)
{
    struct slider_component common = {0};
    int64_t numbers[2]; /* instances, priority */
    int rc = required(resolved, name, INSTANCES, 0, INSTANCES_MAX, &numbers[0], why);
    if (rc == 0)
        rc = required(resolved, name, PRIORITY, 1, PRIORITY_MAX, &numbers[1], why);
    if (rc == 0)
        rc = read_common(resolved, name, &common, why);
    if (rc)
        return rc;
    bool is_group = slider_conf_bool(resolved, name, UNIQUE_NAMES, false);
    return is_group ? read_group(m, name, &common, numbers, why)
                    : read_single(m, name, &common, numbers, why);
}

static int by_priority(const void *a, const void *b)
{
    const struct slider_component *x = a, *y = b;
    return x->priority < y->priority ? -1 : x->priority > y->priority;
}

int slider_model_read(const json_t *resolved, const struct slider_model *known, struct slider_model *out,
                      struct err_info *why)
{
    struct slider_model m = {0};
    const char *name;
    json_t *options;
    int rc = 0;
    take_known(&m, known);
    json_object_foreach(json_object_get(resolved, "components"), name, options)
    {
        if (strcmp(name, SLIDER_MASTER) != 0)
            rc = read_component(resolved, name, &m, why);
        if (rc)
            break;
    }
    if (rc) {
        slider_model_fini(&m);
        *out = m;
        return rc;
    }
    if (m.n)
        qsort(m.items, m.n, sizeof *m.items, by_priority);
    *out = m;
    return 0;
}

/* ---- warnings ---- */

static void name_key(struct buf *out, const char *place, const char *key)
{
    if (out->len < WARNING_MAX)
        buf_addf(out, "%s%.100s/%.100s", out->len ? ", " : "", place, key);
}

static char *sentence(struct buf *keys, const char *what)
{
    if (keys->len == 0)
        return NULL;
    return mem_fmt("%s: %s", what, buf_cstr(keys));
}

static void name_foreign(struct buf *out, const char *place, const json_t *options)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)options, key, value)
    {
        bool is_known = strcmp(key, UNIQUE_NAMES) == 0 || strcmp(key, SLIDER_SHORT_LIFE) == 0;
        if (!str_starts(key, "yarn.") && !is_known)
            name_key(out, place, key);
    }
}

char *slider_resources_warning(const json_t *tree)
{
    buf_auto struct buf keys = BUF_EMPTY;
    const char *name;
    json_t *options;
    name_foreign(&keys, "global", json_object_get(tree, "global"));
    json_object_foreach(json_object_get(tree, "components"), name, options)
        name_foreign(&keys, name, options);
    return sentence(&keys, "keys of a resources document begin with yarn., these are ignored");
}

char *slider_appconf_warning(const json_t *tree)
{
    buf_auto struct buf keys = BUF_EMPTY;
    const char *name, *key;
    json_t *options, *value;
    json_object_foreach(json_object_get(tree, "components"), name, options)
    {
        json_object_foreach(options, key, value)
        {
            if (str_starts(key, "yarn."))
                name_key(&keys, name, key);
        }
    }
    return sentence(&keys, "keys that begin with yarn. belong to the resources document, these are ignored");
}

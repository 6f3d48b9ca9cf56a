/** How an application ended, its nodes, its resources with counters: see live.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "slider/conf.h"
#include "slider/documents.h"
#include "slider/live.h"
#include "slider/live_parts.h"
#include "spec/label.h"

/* ---- how it ended ---- */

static enum eng_service_state end_state(const struct eng_service *s)
{
    return s->state == SVC_FINISHING ? s->end_state : s->state;
}

static const char *final_status(const struct eng_service *s)
{
    bool is_killed = s->exit && s->exit->cause == CAUSE_APPLICATION_ENDED && !s->trigger;
    switch (end_state(s)) {
    case SVC_SUCCEEDED:
    case SVC_STOPPED: return "SUCCEEDED";
    case SVC_FAILED: return is_killed ? "KILLED" : "FAILED";
    default: return NULL;
    }
}

static const char *exit_reason(const struct eng_service *s)
{
    if (end_state(s) != SVC_FAILED)
        return "STOP_COMMAND_ISSUED";
    if (s->trigger)
        return "SLIDER_AM_ERROR"; /* too many recent failures */
    return s->exit ? "YARN_ERROR" : "APP_ERROR";
}

void slider_write_end(struct jw *w, const struct eng_service *s)
{
    const char *status = s->app_id ? final_status(s) : NULL;
    if (!status)
        return;
    jw_kstr(w, "finalStatus", status);
    if (end_state(s) == SVC_FAILED)
        slider_write_text(w, "finalMessage", s->diagnostics);
    jw_kstr(w, "exitReason", exit_reason(s));
}

static bool is_recent(const struct eng_past *p)
{
    enum eng_blame blame = p->exit ? eng_exit_blame(p->exit) : BLAME_NOBODY;
    return blame == BLAME_PROCESS || blame == BLAME_LIMITS;
}

/** The last failures of each component, as many as are counted in its window. */
void slider_write_failed(struct jw *w, const struct eng_service *s)
{
    struct map left = MAP_EMPTY; /* name → number, + 1 */
    size_t n = 0;
    for (size_t i = 0; i < s->n_components; i++)
        map_set(&left, s->components[i]->name, (void *)(uintptr_t)(s->components[i]->n_failures + 1));
    while (eng_service_past(s, n))
        n++;
    jw_array(w);
    while (n-- > 0) {
        const struct eng_past *p = eng_service_past(s, n);
        uintptr_t has = (uintptr_t)map_get(&left, p->component);
        if (has <= 1 || !is_recent(p))
            continue;
        map_set(&left, p->component, (void *)(has - 1));
        jw_str(w, p->container_id);
    }
    jw_array_end(w);
    map_fini(&left, NULL);
}

/* ---- nodes ---- */

void slider_count_on_node(const struct eng_instance *inst, const char **host, struct slider_on_node *n)
{
    *host = inst->container_id ? inst->bare_host : NULL;
    switch (inst->state) {
    case INST_REQUESTED:
        *host = inst->wish;
        n->requested++;
        break;
    case INST_ALLOCATED:
    case INST_LAUNCHED:
    case INST_UPGRADING: n->starting++; break;
    case INST_RELEASING:
    case INST_DRAINING: n->releasing++; break;
    case INST_RUNNING:
    case INST_READY:
    case INST_RECOVERING: n->live++; break;
    default: *host = NULL; break;
    }
}

const struct eng_node *slider_node(const struct slider_look *look, const char *host)
{
    return look->nodes ? map_get(look->nodes, host) : engine_node(look->e, host);
}

const char **slider_hosts(const struct slider_look *look)
{
    if (look->nodes)
        return map_sorted_keys(look->nodes);
    const struct eng_node **nodes = engine_nodes(look->e);
    size_t n = 0;
    while (nodes[n])
        n++;
    const char **hosts = mem_array(n + 1, sizeof *hosts);
    for (size_t i = 0; i < n; i++)
        hosts[i] = nodes[i]->host;
    free(nodes);
    return hosts;
}

static const struct eng_use *use_of(const struct eng_place *place, const struct eng_component *c)
{
    for (size_t i = 0; place && i < place->n_uses; i++) {
        if (strcmp(place->uses[i]->component, c->name) == 0)
            return place->uses[i];
    }
    return NULL;
}

static void write_entry(struct jw *w, const struct eng_component *c, const struct eng_use *use,
                        const struct slider_on_node *on)
{
    bool is_current = use && use->incarnation == c->service->incarnation;
    jw_key(w, eng_component_title(c));
    jw_object(w);
    jw_kint(w, "priority", slider_priority_of(c));
    jw_kint(w, "live", on->live);
    jw_kint(w, "requested", on->requested);
    jw_kint(w, "releasing", on->releasing);
    jw_kint(w, "starting", on->starting);
    jw_kint(w, "failed", is_current ? use->n_failed : 0);
    jw_kint(w, "failedRecently", is_current ? use->n_recent : 0);
    jw_kint(w, "startFailed", is_current ? use->n_start_failed : 0);
    jw_kint(w, "preempted", is_current ? use->n_preempted : 0);
    jw_kint(w, "lastUsed", use ? use->last_used_ms : 0);
    jw_object_end(w);
}

void slider_write_node(struct jw *w, const struct eng_service *s, const struct eng_node *node,
                       const struct slider_on_node *on)
{
    const struct eng_place *place = eng_service_place(s, node->host);
    jw_object(w);
    jw_kstr(w, "hostname", node->host);
    jw_kstr(w, "state", eng_node_state_word(node->state));
    jw_kstr(w, "labels", node->n_labels ? node->labels[0] : "");
    if (eng_service_is_excluded(s, node->host))
        jw_kbool(w, "excluded", true);
    slider_write_text(w, "rackName", node->rack);
    slider_write_text(w, "httpAddress", node->http_address);
    if (node->updated_ms)
        jw_kstr(w, "healthReport", node->health ? node->health : "");
    jw_kint(w, "lastUpdated", node->updated_ms);
    jw_literal_key(w, "entries");
    jw_object(w);
    for (size_t i = 0; i < s->n_components; i++) {
        const struct eng_use *use = use_of(place, s->components[i]);
        if (use || on[i].live + on[i].requested + on[i].releasing + on[i].starting > 0)
            write_entry(w, s->components[i], use, &on[i]);
    }
    jw_object_end(w);
    jw_object_end(w);
}

/* ---- resources ---- */

/** The six counters. */
struct counters {
    int64_t requesting, actual, releasing, failed, completed, started;
};

static void add_counters(struct counters *to, const struct eng_component *c)
{
    struct slider_counts n = slider_counts_of(c);
    to->requesting += n.requested;
    to->actual += n.actual;
    to->releasing += n.releasing;
    to->failed += c->totals.n_failed;
    to->completed += c->totals.n_released;
    to->started += c->totals.n_started;
}

static void set_number(json_t *options, const char *option, int64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, value);
    json_object_set_new(options, option, json_string(text));
}

static void set_counters(json_t *options, const struct counters *n)
{
    set_number(options, "yarn.component.instances.requesting", n->requesting);
    set_number(options, "yarn.component.instances.actual", n->actual);
    set_number(options, "yarn.component.instances.releasing", n->releasing);
    set_number(options, "yarn.component.instances.failed", n->failed);
    set_number(options, "yarn.component.instances.completed", n->completed);
    set_number(options, "yarn.component.instances.started", n->started);
}

/** Add what the members of groups have to their groups. @param groups  name → struct counters, owned */
static void add_members(const struct eng_service *s, struct map *groups)
{
    const json_t *known;
    size_t i;
    json_array_foreach(json_object_get(s->request, "model"), i, known)
    {
        const char *group = json_string_value(json_object_get(known, "group"));
        const char *name = json_string_value(json_object_get(known, "name"));
        mem_auto char *label = group && name ? spec_label(name, SPEC_LABEL_COMPONENT) : NULL;
        const struct eng_component *c = label ? eng_service_component(s, label) : NULL;
        if (!c)
            continue;
        struct counters *n = map_get(groups, group);
        if (!n)
            map_set(groups, group, n = mem_new(struct counters));
        add_counters(n, c);
    }
}

static void set_master(const struct eng_service *s, json_t *components)
{
    json_t *options = json_object_get(components, SLIDER_MASTER);
    int64_t n = slider_has_master(s);
    if (!options) {
        options = json_object();
        json_object_set_new(components, SLIDER_MASTER, options);
    }
    set_number(options, "yarn.component.instances", 1);
    set_counters(options, &(struct counters){.actual = n, .started = n});
}

json_t *slider_view_resources(const struct eng_service *s)
{
    slider_trees_auto struct slider_trees t;
    slider_trees_of(s, &t);
    json_t *tree = slider_resolved_resources(&t);
    json_t *components = json_object_get(tree, "components"), *options;
    struct map groups = MAP_EMPTY;
    const char *name;
    add_members(s, &groups);
    json_object_foreach(components, name, options)
    {
        mem_auto char *label = spec_label(name, SPEC_LABEL_COMPONENT);
        const struct eng_component *c = eng_service_component(s, label);
        const struct counters *of_group = map_get(&groups, name);
        struct counters n = of_group ? *of_group : (struct counters){0};
        if (c)
            add_counters(&n, c);
        set_counters(options, &n);
    }
    set_master(s, components);
    map_fini(&groups, free);
    return tree;
}

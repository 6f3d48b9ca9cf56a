/** Numbers and names of what runs: see live.h. */
#include "slider/live.h"

#include <string.h>

#include "base/mem.h"
#include "base/obj.h"
#include "slider/conf.h"
#include "slider/model.h"
#include "slider/live_parts.h"

/* ---- numbers ---- */

/** The states in which a container is held. */
static const enum eng_instance_state holding[] = {INST_ALLOCATED, INST_LAUNCHED,  INST_RUNNING,
                                                  INST_READY,     INST_DRAINING,  INST_UPGRADING,
                                                  INST_EXITED,    INST_RELEASING, INST_RECOVERING};

static bool is_anti_affine(const struct eng_component *c)
{
    return slider_placement_of(c) & SLIDER_PLACE_ANTI_AFFINE;
}

/** One that is asked for, and for which a node may have room. */
static bool has_open_ask(const struct eng_component *c)
{
    const struct eng_ask *ask = TAILQ_FIRST(&c->asks);
    const struct eng_instance *inst = ask ? TAILQ_FIRST(&ask->waiting) : NULL;
    return inst && !(inst->wait && inst->wait->why == WAIT_PLACEMENT);
}

struct slider_counts slider_counts_of(const struct eng_component *c)
{
    struct slider_counts n = {.desired = c->spec->number_of_containers,
                              .requested = c->n_in[INST_REQUESTED],
                              .releasing = c->n_in[INST_RELEASING] + c->n_in[INST_DRAINING],
                              .n_live =
                                  c->n_in[INST_RUNNING] + c->n_in[INST_READY] + c->n_in[INST_RECOVERING]};
    for (size_t i = 0; i < ARRAY_LEN(holding); i++)
        n.actual += c->n_in[holding[i]];
    n.n_owned = n.actual - c->n_in[INST_ALLOCATED] - c->n_in[INST_EXITED];
    if (!is_anti_affine(c))
        return n;
    int64_t n_open = n.requested + c->n_in[INST_PENDING];
    n.is_asked = n.requested > 0 && has_open_ask(c);
    n.requested = n.is_asked;
    n.n_pending = n_open - n.requested;
    return n;
}

bool slider_component_is_settled(const struct eng_component *c)
{
    struct slider_counts n = slider_counts_of(c);
    return n.actual == n.desired && n.n_live == n.actual;
}

bool slider_is_settled(const struct eng_service *s)
{
    bool is_settled = slider_has_master(s);
    for (size_t i = 0; is_settled && i < s->n_components; i++)
        is_settled = slider_component_is_settled(s->components[i]);
    return is_settled;
}

static bool is_apart(const struct spec_component *c)
{
    const json_t *constraint;
    size_t i;
    json_array_foreach(json_object_get(c->placement_policy, "constraints"), i, constraint)
    {
        const char *type = json_string_value(json_object_get(constraint, "type"));
        if (type && strcmp(type, "ANTI_AFFINITY") == 0)
            return true;
    }
    return false;
}

int64_t slider_placement_of(const struct eng_component *c)
{
    const struct eng_component_rules *r = eng_rules_of(c->service->rules, c->name);
    return (r->is_strict ? SLIDER_PLACE_STRICT : 0) | (r->forgets_nodes ? SLIDER_PLACE_ANYWHERE : 0) |
           (is_apart(c->spec) ? SLIDER_PLACE_ANTI_AFFINE : 0);
}

int64_t slider_priority_of(const struct eng_component *c)
{
    const struct eng_service *s = c->service;
    int64_t priority = eng_rules_of(s->rules, c->name)->priority;
    if (priority > 0)
        return priority;
    for (size_t i = 0; i < s->n_components; i++) {
        if (s->components[i] == c)
            return (int64_t)i + 1;
    }
    return priority;
}

int64_t slider_recent_failures(const struct eng_component *c, int64_t now_ms)
{
    return c->window_end_ms > now_ms ? c->n_failures : 0;
}

/* ---- names ---- */

bool slider_has_master(const struct eng_service *s)
{
    switch (s->state) {
    case SVC_STARTED:
    case SVC_STABLE:
    case SVC_UPGRADING:
    case SVC_FINISHING: return true;
    default: return false;
    }
}

char *slider_master_container(const struct eng_service *s)
{
    if (s->master && s->master->container_id)
        return mem_str(s->master->container_id);
    const char *numbers = s->app_id ? strchr(s->app_id, '_') : NULL;
    return mem_fmt("container%s_01_000001", numbers ? numbers : "_0_0000");
}

char *slider_base_url(const struct slider_look *look, const struct eng_service *s)
{
    return mem_fmt("%s/proxy/%s", look->own_url, s->app_id ? s->app_id : "");
}

char *slider_log_url(const struct slider_look *look, const struct eng_service *s, const char *container_id,
                     const char *node_http)
{
    if (node_http)
        return mem_fmt("http://%s/node/containerlogs/%s/%s", node_http, container_id, s->user);
    if (!look->has_logs)
        return NULL;
    mem_auto char *base = slider_base_url(look, s);
    return mem_fmt("%s/ws/v1/slider/application/live/containers/%s/logs/stdout.txt", base, container_id);
}

bool slider_has_container(const struct eng_instance *inst)
{
    return inst->container_id && inst->state >= INST_LAUNCHED && inst->state <= INST_RECOVERING &&
           inst->state != INST_EXITED;
}

bool slider_last_of(const struct eng_instance *inst, struct eng_past *out)
{
    *out = (struct eng_past){.container_id = inst->last_container_id,
                             .component = inst->component->name,
                             .node_http = inst->last_node_http,
                             .exit = inst->last_exit,
                             .ended_ms = inst->last_exit ? inst->last_exit->ended_ms : 0};
    return inst->last_container_id && inst->last_exit;
}

int64_t slider_exit_code(const struct eng_exit *x)
{
    static const int64_t codes[N_EXIT_CAUSES] = {[CAUSE_LAUNCH] = -1000,
                                                 [CAUSE_SOURCE] = -1000,
                                                 [CAUSE_MEMORY_VIRTUAL] = -103,
                                                 [CAUSE_MEMORY_PHYSICAL] = -104,
                                                 [CAUSE_DISK] = -101,
                                                 [CAUSE_PREEMPTED] = -102,
                                                 [CAUSE_STOPPED] = -105,
                                                 [CAUSE_MIGRATED] = -105,
                                                 [CAUSE_APPLICATION_ENDED] = -107,
                                                 [CAUSE_PORT_CONFLICT] = 1,
                                                 [CAUSE_SUBMISSION_FAILED] = -1000};
    if (x->cause == CAUSE_EXITED)
        return x->raw;
    if (x->cause == CAUSE_SIGNALLED)
        return 128 + x->raw;
    return codes[x->cause] ? codes[x->cause] : -100; /* aborted */
}

void slider_write_text(struct jw *w, const char *key, const char *value)
{
    if (value)
        jw_kstr(w, key, value);
}

/** The engine as a whole: making, loading, stepping, reading. See engine.h. */
#include "engine/engine.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "engine/away.h"
#include "engine/policy.h"
#include "engine/component.h"
#include "engine/documents.h"
#include "engine/instance.h"
#include "engine/operation.h"
#include "engine/places.h"
#include "engine/registry.h"
#include "engine/service.h"
#include "engine/step.h"
#include "json/json.h"

int engine_check(const struct engine_config *cfg, struct err_info *why)
{
    struct addresses net;
    int rc = addresses_init(&net, cfg->address_net, why);
    if (!rc)
        addresses_fini(&net);
    return rc;
}

int engine_new(const struct engine_config *cfg, struct engine **out, struct err_info *why)
{
    struct engine *e = mem_new(struct engine);
    int rc = addresses_init(&e->addresses, cfg->address_net, why);
    if (rc) {
        free(e);
        return rc;
    }
    e->cfg = *cfg;
    e->cfg.domain = mem_str(cfg->domain);
    e->cfg.zk_quorum = mem_str(cfg->zk_quorum);
    e->cfg.fs_uri = mem_str(cfg->fs_uri);
    e->cfg.base_path = mem_str(cfg->base_path);
    e->cfg.address_net = mem_str(cfg->address_net);
    e->cfg.queue = mem_str(cfg->queue);
    e->cfg.master = (struct eng_master){.container_id = mem_str(cfg->master.container_id),
                                        .node_http = mem_str(cfg->master.node_http),
                                        .url = mem_str(cfg->master.url)};
    e->cluster_ts = cfg->cluster_ts;
    e->next_app = 1;
    TAILQ_INIT(&e->waiting);
    *out = e;
    return 0;
}

static void free_service_value(void *value)
{
    service_free(value);
}

void engine_free(struct engine *e)
{
    if (!e)
        return;
    map_fini(&e->containers, NULL);
    homes_fini(e);
    parents_fini(e);
    map_fini(&e->frameworks, NULL);
    map_fini(&e->applications, NULL);
    map_fini(&e->used, NULL);
    cluster_documents_fini(e);
    nodes_fini(e);
    map_fini(&e->services, free_service_value);
    tickets_fini(e);
    addresses_fini(&e->addresses);
    free(e->shared_ports);
    free((char *)e->cfg.domain);
    free((char *)e->cfg.zk_quorum);
    free((char *)e->cfg.fs_uri);
    free((char *)e->cfg.base_path);
    free((char *)e->cfg.address_net);
    free((char *)e->cfg.queue);
    free(e->cfg.master.container_id);
    free(e->cfg.master.node_http);
    free(e->cfg.master.url);
    free(e);
}

/* ---- reading ---- */

const struct eng_service *engine_find(const struct engine *e, enum eng_kind kind, const char *user,
                                      const char *name)
{
    mem_auto char *key = service_key(kind, user, name);
    return map_get(&e->services, key);
}

const struct eng_service **engine_list(const struct engine *e, const char *user)
{
    mem_auto const char **keys = map_sorted_keys(&e->services);
    const struct eng_service **list = mem_array(e->services.n_items + 1, sizeof list[0]);
    size_t n = 0;
    for (size_t i = 0; keys[i]; i++) {
        const struct eng_service *s = map_get(&e->services, keys[i]);
        if (!user || strcmp(s->user, user) == 0)
            list[n++] = s;
    }
    return list;
}

const struct eng_service **engine_list_kind(const struct engine *e, enum eng_kind kind, const char *user)
{
    const struct eng_service **list = engine_list(e, user);
    size_t n = 0;
    for (size_t i = 0; list[i]; i++) {
        if (list[i]->kind == kind)
            list[n++] = list[i];
    }
    list[n] = NULL;
    return list;
}

const struct eng_component *eng_service_component(const struct eng_service *s, const char *name)
{
    return component_of(s, name);
}

const struct eng_instance *eng_service_instance(const struct eng_service *s, const char *name)
{
    int64_t index = -1;
    const struct eng_component *c = component_of_instance(s, name, &index);
    const struct eng_instance *inst = c ? component_instance(c, index) : NULL;
    return inst && strcmp(inst->name, name) == 0 ? inst : NULL;
}

const struct eng_service *engine_find_container(const struct engine *e, const char *container_id,
                                                const struct eng_instance **instance)
{
    const struct eng_instance *inst = map_get(&e->containers, container_id);
    if (!inst)
        return NULL;
    *instance = inst;
    return inst->component->service;
}

char *engine_record_path(const struct eng_service *s, const char *container_id)
{
    mem_auto char *user = spec_registry_user(s->user);
    if (!container_id)
        return mem_fmt("/users/%s/services/%s/%s", user, s->registry_class, s->name);
    mem_auto char *container = spec_registry_container(container_id);
    return mem_fmt("/users/%s/services/%s/%s/components/%s", user, s->registry_class, s->name, container);
}

void engine_containers(const struct engine *e, void (*fn)(void *arg, const struct eng_container_ref *c),
                       void *arg)
{
    mem_auto const struct eng_service **services = engine_list(e, NULL);
    const struct eng_instance *inst;
    for (size_t i = 0; services[i]; i++) {
        struct eng_walk walk = {0};
        while (!engine_is_away(e, services[i]) && (inst = instances_next(services[i], &walk))) {
            const struct eng_component *c = inst->component;
            if (!inst->container_id || inst->state == INST_REQUESTED)
                continue;
            struct eng_container_ref ref = {.service = c->service,
                                            .component = c,
                                            .instance = inst,
                                            .memory_mb = spec_memory_mb(c->spec),
                                            .vcores = c->spec->resource->cpus,
                                            .process = instance_holds_process(inst)};
            fn(arg, &ref);
        }
    }
}

int64_t eng_service_n_running(const struct eng_service *s)
{
    int64_t n = 0;
    for (size_t i = 0; i < s->n_components; i++)
        n += component_count(s->components[i], STATES_UP);
    return n;
}

int64_t eng_service_lifetime_left_s(const struct eng_service *s, int64_t now_ms)
{
    if (s->lifetime_end_ms == 0)
        return eng_service_is_live(s) && s->spec->lifetime > 0 ? s->spec->lifetime : -1;
    int64_t left_ms = s->lifetime_end_ms - now_ms;
    return left_ms <= 0 ? 0 : (left_ms + 999) / 1000;
}

bool eng_service_is_live(const struct eng_service *s)
{
    return s->state == SVC_ACCEPTED || s->state == SVC_STARTED || s->state == SVC_STABLE ||
           s->state == SVC_UPGRADING || s->state == SVC_FINISHING || s->state == SVC_SUBMITTING ||
           s->state == SVC_BACKOFF;
}

/* ---- stepping ---- */

/** In the order of their keys: one order of events gives one order of effects. */
static void each_service(struct step *st, void (*fn)(struct step *st, struct eng_service *s))
{
    mem_auto const char **keys = map_sorted_keys(&st->e->services);
    for (size_t i = 0; keys[i]; i++)
        fn(st, map_get(&st->e->services, keys[i]));
}

/** We run it: that is stored, so that its manager finds us. */
static void take_over(struct step *st, struct eng_service *s)
{
    fld_free(&eng_master_type, s->master);
    s->master = fld_copy(&eng_master_type, &st->e->cfg.master);
    step_touch(st, s);
}

static void resume(struct step *st)
{
    struct engine *e = st->e;
    if (!e->stored && e->cfg.role != ROLE_MASTER) /* that of the engine is the manager's */
        st->engine_dirty = true;
    e->resumed = true;
    if (e->cfg.role == ROLE_MASTER)
        each_service(st, take_over);
    each_service(st,
                 service_resume); /* each in steps of its own: all at once is too much for a transaction */
}

static void registry_back(struct step *st)
{
    each_service(st, service_ask_again);
}

static void timer(struct step *st, const struct eng_event *ev)
{
    mem_auto char *key = service_key(ev->service_kind, ev->user, ev->name);
    struct eng_service *s = map_get(&st->e->services, key);
    if (!s)
        return; /* it was destroyed while the timer ran */
    s->timer_ms = 0;
    step_affect(st, s);
}

static void fetched(struct step *st, const struct eng_event *ev)
{
    mem_auto char *key = service_key(ev->service_kind, ev->user, ev->name);
    struct eng_service *s = map_get(&st->e->services, key);
    if (!s)
        return;
    operation_fetched(st, s, ev);
    step_affect(st, s);
}

static void dispatch(struct step *st, const struct eng_event *ev)
{
    switch (ev->kind) {
    case EV_CREATE:
    case EV_FLEX:
    case EV_STOP:
    case EV_START:
    case EV_DESTROY:
    case EV_LIFETIME:
    case EV_PROGRESS:
    case EV_UPGRADE:
    case EV_MOVE:
    case EV_FINALIZE:
    case EV_CANCEL_UPGRADE:
    case EV_REPLACE:
    case EV_ROLL:
    case EV_RESTART:
    case EV_REDEFINE:
    case EV_MIGRATE:
    case EV_DECOMMISSION:
    case EV_EXCLUDE: service_request(st, ev); break;
    case EV_DOCUMENT: cluster_document_event(st, ev); break;
    case EV_ALLOCATED:
    case EV_WAITING:
    case EV_ADDRESS:
    case EV_LAUNCHED:
    case EV_RUNNING:
    case EV_EXITED:
    case EV_LOST:
    case EV_PROBE:
    case EV_SYNCED:
    case EV_RECOVERED: instance_event(st, ev); break;
    case EV_NODE: nodes_event(st, ev); break;
    case EV_RESYNC: asks_resync(st, ev); break;
    case EV_SUBMITTED:
    case EV_APP_ENDED:
    case EV_APP_WAITS: application_event(st, ev); break;
    case EV_FOLLOWED: away_followed(st, ev); break;
    case EV_RECORD: service_record(st, ev); break;
    case EV_FETCHED: fetched(st, ev); break;
    case EV_TIMER: timer(st, ev); break;
    case EV_REGISTRY: registry_back(st); break;
    case EV_RESUME: resume(st); break;
    }
}

/** A request changes what is wanted, and nothing else, so that it can be undone: the rest follows when that is durable. */
static void settle_later(struct step *st)
{
    for (size_t i = 0; i < st->n_affected; i++) {
        quota_count(st->e, st->affected[i]);
        step_wake(st, st->affected[i]);
    }
}

static void settle(struct step *st)
{
    for (size_t i = 0; i < st->n_affected; i++) {
        struct eng_service *s = st->affected[i];
        st->is_continued = s->timer_ms && s->timer_ms <= st->now_ms;
        service_settle(st, s);
    }
}

void engine_step(struct engine *e, const struct eng_event *ev, struct eng_time now, struct eng_effects *out)
{
    struct step st = {.e = e, .now_ms = now.now_ms, .wall_ms = now.wall_ms, .random = now.random};
    dispatch(&st, ev);
    if (eng_event_is_request(ev))
        settle_later(&st);
    else
        settle(&st);
    for (size_t i = 0; i < st.n_affected; i++)
        st.affected[i]->change = ++e->n_changes;
    step_persist(&st);
    eng_effects_move(&st.persists, out);
    eng_effects_move(&st.rest, out);
    free(st.affected);
}

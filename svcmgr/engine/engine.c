/** The engine as a whole: making, loading, stepping, reading. See engine.h. */
#include "engine/engine.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
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
    e->cluster_ts = cfg->cluster_ts;
    e->next_app = 1;
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
    map_fini(&e->services, free_service_value);
    for (size_t i = 0; i < e->n_tickets; i++)
        ticket_fini(&e->tickets[i]);
    free(e->tickets);
    addresses_fini(&e->addresses);
    free((char *)e->cfg.domain);
    free((char *)e->cfg.zk_quorum);
    free((char *)e->cfg.fs_uri);
    free((char *)e->cfg.base_path);
    free((char *)e->cfg.address_net);
    free((char *)e->cfg.queue);
    free(e);
}

/* ---- loading ---- */

static int load_engine(struct engine *e, const json_t *doc, struct err_info *why)
{
    json_t *ts = json_object_get(doc, "cluster_ts"), *next = json_object_get(doc, "next_app");
    if (!json_is_integer(ts) || !json_is_integer(next))
        return err_set(why, ERR_JSON, "engine", "the engine document lacks cluster_ts or next_app");
    e->cluster_ts = json_integer_value(ts);
    e->next_app = json_integer_value(next);
    e->stored = true;
    return 0;
}

static void enlist_instance(struct engine *e, struct eng_instance *inst)
{
    addresses_mark(&e->addresses, inst->ip, true);
    inst->published = inst->container_id && inst->state != INST_REQUESTED;
    if (inst->container_id)
        map_set(&e->containers, inst->container_id, inst);
}

static void enlist(struct engine *e, struct eng_service *s)
{
    for (size_t i = 0; i < s->n_components; i++) {
        for (size_t k = 0; k < s->components[i]->n_instances; k++) {
            struct eng_instance *inst = s->components[i]->instances[k];
            enlist_instance(e, inst);
            inst->dirty = s->has_dirty_instances = s->dirty = true; /* it moves out of this document */
        }
    }
    mem_auto char *key = service_key(s->user, s->name);
    map_set(&e->services, key, s);
    homes_add(e, s);
}

static int load_service(struct engine *e, const char *key, const json_t *doc, struct err_info *why)
{
    void *object = NULL;
    int rc = fld_read(&eng_service_type, doc, &object, why);
    if (rc)
        return rc;
    struct eng_service *s = object;
    bool whole = s->user && s->name && s->spec && s->spec->name;
    mem_auto char *own_key = whole ? service_document_key(s) : NULL;
    if (!whole || strcmp(own_key, key) != 0 || engine_find(e, s->user, s->name))
        rc = err_set(why, ERR_JSON, key, "%s: not the document of this service", key);
    else
        rc = service_link(s, why);
    if (rc)
        service_free(s);
    else
        enlist(e, s);
    return rc;
}

/** The part "/<instance>" of an instance's key "services/<user>/<name>/<instance>"; NULL: it is no such key. */
static const char *instance_part(const char *key)
{
    const char *user = strchr(key, '/'), *name = user ? strchr(user + 1, '/') : NULL;
    return name ? strchr(name + 1, '/') : NULL;
}

/** The service that an instance's key names, or NULL. */
static struct eng_service *service_of_key(const struct engine *e, const char *key)
{
    const char *user = strchr(key, '/') + 1;
    size_t len = (size_t)(instance_part(key) - user);
    mem_auto char *service = mem_alloc(len + 1);
    return str_unpercent(user, len, service) < 0 ? NULL : map_get(&e->services, service);
}

static int load_instance(struct engine *e, const char *key, const json_t *doc, struct err_info *why)
{
    struct eng_service *s = service_of_key(e, key);
    void *object = NULL;
    int rc = s ? fld_read(&eng_instance_type, doc, &object, why)
               : err_set(why, ERR_JSON, key, "%s: its service has no document", key);
    if (rc)
        return rc;
    struct eng_instance *inst = object;
    mem_auto char *own_key = inst->name ? instance_document_key(s, inst->name) : NULL;
    if (!own_key || strcmp(own_key, key) != 0)
        rc = err_set(why, ERR_JSON, key, "%s: not the document of this instance", key);
    else
        rc = instance_link(s, inst, why);
    if (rc)
        fld_free(&eng_instance_type, inst);
    else
        enlist_instance(e, inst);
    return rc;
}

int engine_load(struct engine *e, const char *key, const char *bytes, size_t len, struct err_info *why)
{
    json_auto json_t *doc = NULL;
    int rc = json_read(bytes, len, &doc, why);
    if (rc)
        return rc;
    if (strcmp(key, "engine") == 0)
        return load_engine(e, doc, why);
    if (instance_part(key))
        return load_instance(e, key, doc, why);
    return load_service(e, key, doc, why);
}

/* ---- reading ---- */

const struct eng_service *engine_find(const struct engine *e, const char *user, const char *name)
{
    mem_auto char *key = service_key(user, name);
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
        return mem_fmt("/users/%s/services/yarn-service/%s", user, s->name);
    mem_auto char *container = spec_registry_container(container_id);
    return mem_fmt("/users/%s/services/yarn-service/%s/components/%s", user, s->name, container);
}

void engine_containers(const struct engine *e, void (*fn)(void *arg, const struct eng_container_ref *c),
                       void *arg)
{
    for (MAP_EACH (&e->containers, slot)) {
        const struct eng_instance *inst = slot->value;
        const struct eng_component *c = inst->component;
        if (inst->state == INST_REQUESTED)
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
           s->state == SVC_FINISHING;
}

/* ---- stepping ---- */

static void resume(struct step *st)
{
    struct engine *e = st->e;
    if (!e->stored)
        st->engine_dirty = true;
    e->resumed = true;
    for (MAP_EACH (&e->services, slot))
        service_resume(st,
                       slot->value); /* each in steps of its own: all at once is too much for a transaction */
}

static void registry_back(struct step *st)
{
    for (MAP_EACH (&st->e->services, slot))
        service_ask_again(st, slot->value);
}

static void timer(struct step *st, const struct eng_event *ev)
{
    mem_auto char *key = service_key(ev->user, ev->name);
    struct eng_service *s = map_get(&st->e->services, key);
    if (!s)
        return; /* it was destroyed while the timer ran */
    s->timer_ms = 0;
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
    case EV_DECOMMISSION: service_request(st, ev); break;
    case EV_ALLOCATED:
    case EV_WAITING:
    case EV_ADDRESS:
    case EV_LAUNCHED:
    case EV_RUNNING:
    case EV_EXITED:
    case EV_LOST:
    case EV_PROBE:
    case EV_RECOVERED: instance_event(st, ev); break;
    case EV_RECORD: service_record(st, ev); break;
    case EV_TIMER: timer(st, ev); break;
    case EV_REGISTRY: registry_back(st); break;
    case EV_RESUME: resume(st); break;
    }
}

/** A request changes what is wanted, and nothing else, so that it can be undone: the rest follows when that is durable. */
static void settle_later(struct step *st)
{
    for (size_t i = 0; i < st->n_affected; i++)
        step_wake(st, st->affected[i]);
}

/** Settle what is affected; a service that became STABLE may let others start, in steps of their own. */
static void settle(struct step *st)
{
    for (size_t i = 0; i < st->n_affected; i++)
        service_settle(st, st->affected[i]);
    if (st->stable_changed)
        step_wake_waiting(st);
}

void engine_step(struct engine *e, const struct eng_event *ev, struct eng_time now, struct eng_effects *out)
{
    struct step st = {.e = e, .now_ms = now.now_ms, .wall_ms = now.wall_ms};
    dispatch(&st, ev);
    if (eng_event_is_request(ev))
        settle_later(&st);
    else
        settle(&st);
    step_persist(&st);
    eng_effects_move(&st.persists, out);
    eng_effects_move(&st.rest, out);
    free(st.affected);
}

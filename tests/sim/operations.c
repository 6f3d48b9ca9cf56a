/** The operations of a trace: requests, and what goes wrong. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/obj.h"
#include "engine/rules.h"
#include "json/json.h"
#include "world.h"

#define GANG_TIMEOUT_MS 3000
#define CONFLICT_MIN_MS 1000
#define CONFLICT_MAX_MS 8000

static const struct {
    const char *name;
    enum eng_kind kind;
} services[WORLD_SERVICES] = {
    {"s0", KIND_SERVICE},  {"s1", KIND_SERVICE},  {"s2", KIND_SLIDER},
    {"s3", KIND_LAUNCHER}, {"s4", KIND_LAUNCHER},
};

static const char *service_name(const struct op *op)
{
    return services[op->a % WORLD_SERVICES].name;
}

static enum eng_kind service_kind(const struct op *op)
{
    return services[op->a % WORLD_SERVICES].kind;
}

/** The service of an operation, or NULL. */
static const struct eng_service *service_of(const struct world *w, const struct op *op)
{
    return w->e ? engine_find(w->e, service_kind(op), WORLD_USER, service_name(op)) : NULL;
}

/** Component of the service by number, its name; a name that no component has where there is none. */
static const char *component_name(const struct world *w, const struct op *op)
{
    const struct eng_service *s = service_of(w, op);
    return s && s->spec->n_components ? s->spec->components[op->b % s->spec->n_components]->name : "none";
}

static void request(struct world *w, const struct op *op, struct eng_event ev)
{
    ev.service_kind = service_kind(op);
    ev.name = service_name(op);
    world_request(w, ev);
}

/* ---- definitions ---- */

/** All its instances may have containers at once: none waits for others, none may be without a place. */
static bool may_be_gang(const struct spec_service *spec)
{
    return spec->components[spec->n_components - 1]->n_dependencies == 0 &&
           !spec->components[0]->placement_policy;
}

/** Rules of an application of the launcher: every way to be tried again, with and without a gang, some with a parent. */
static struct eng_rules *rules_new(const struct op *op, const struct spec_service *spec)
{
    struct eng_rules *r = eng_rules_new();
    r->retry = (struct eng_retry_rule){.is_fancy = op->c & 1, .max = (int64_t)op->c % 3 - 1};
    r->is_gang = op->c & 2 && may_be_gang(spec);
    r->gang_timeout_ms = GANG_TIMEOUT_MS;
    r->conflict_min_ms = CONFLICT_MIN_MS;
    r->conflict_max_ms = CONFLICT_MAX_MS;
    eng_rules_add(r, "a")->retry.max = op->c % 2;
    if (op->c & 4 && op->a % WORLD_SERVICES == WORLD_SERVICES - 1) {
        struct eng_parent *parent = eng_rules_set_parent(r, NULL, services[WORLD_SERVICES - 2].name);
        parent->stop_with_parent = op->c & 8;
        parent->destroy_with_parent = true;
    }
    return r;
}

static void create(struct world *w, const struct op *op, bool save)
{
    struct spec_service *spec = shape_new(w->cfg.dialect, op->b, service_name(op));
    request(w, op,
            (struct eng_event){.kind = EV_CREATE,
                               .take_spec = spec,
                               .take_rules = service_kind(op) == KIND_LAUNCHER ? rules_new(op, spec) : NULL,
                               .save = save});
}

/** The definition of a service with another version and other commands. */
static struct spec_service *next_definition(const struct eng_service *s, uint32_t number)
{
    struct spec_service *next = spec_copy(s->spec);
    free(next->version);
    next->version = mem_fmt("v%u", number);
    for (size_t i = 0; i < next->n_components; i++) {
        free(next->components[i]->launch_command);
        next->components[i]->launch_command = mem_fmt("x %u", number);
    }
    return next;
}

static void upgrade(struct world *w, const struct op *op)
{
    const struct eng_service *s = service_of(w, op);
    if (s)
        request(w, op,
                (struct eng_event){.kind = EV_UPGRADE,
                                   .take_spec = next_definition(s, op->c % 5),
                                   .mode = (enum eng_mode)(op->b % 3),
                                   .auto_revert = op->b / 3 % 2});
}

/** Another shape: its components come and go. One of a gang may not wait for others of it. */
static void redefine(struct world *w, const struct op *op)
{
    struct spec_service *spec = shape_new(w->cfg.dialect, op->b, service_name(op));
    if (!may_be_gang(spec) && service_kind(op) == KIND_LAUNCHER) {
        spec_free(spec);
        spec = shape_new(w->cfg.dialect, 0, service_name(op));
    }
    if (service_kind(op) != KIND_LAUNCHER) {
        request(w, op, (struct eng_event){.kind = EV_REDEFINE, .take_spec = spec});
        return;
    }
    json_auto json_t *asked = json_pack("{s:i}", "shape", (int)op->b);
    if (op->c % 3 == 0) { /* another version */
        free(spec->version);
        spec->version = mem_fmt("v%u", op->c % 5);
    }
    request(w, op,
            (struct eng_event){.kind = EV_REDEFINE,
                               .take_spec = spec,
                               .take_rules = rules_new(op, spec),
                               .value = asked,
                               .save = op->c % 11 == 0});
}

/** A container of any service, as who asks may mean another one's; sometimes the request is withdrawn. */
static void migrate(struct world *w, const struct op *op)
{
    struct world_ids ids = world_containers(w);
    const char *names[] = {ids.n ? ids.list[op->b % ids.n] : "container_none"};
    json_auto json_t *asked = json_object();
    request(w, op,
            (struct eng_event){
                .kind = EV_MIGRATE, .names = names, .n_names = 1, .value = op->c % 5 ? asked : NULL});
    world_ids_fini(&ids);
}

/* ---- instances ---- */

static void flex(struct world *w, const struct op *op)
{
    struct eng_flex f = {.component = component_name(w, op), .count = op->c % 9};
    request(w, op, (struct eng_event){.kind = EV_FLEX, .flex = &f, .n_flex = 1});
}

/** A request that names one instance. */
static void request_of_instance(struct world *w, const struct op *op, enum eng_event_kind kind)
{
    mem_auto char *instance = mem_fmt("%s-%u", component_name(w, op), op->c % 8);
    const char *names[] = {instance};
    request(w, op, (struct eng_event){.kind = kind, .names = names, .n_names = 1});
}

static void move(struct world *w, const struct op *op)
{
    const char *names[] = {component_name(w, op)};
    if (op->c % 3)
        request_of_instance(w, op, EV_MOVE);
    else
        request(w, op,
                (struct eng_event){.kind = EV_MOVE, .names = names, .n_names = 1, .are_components = true});
}

static void exclude(struct world *w, const struct op *op)
{
    const struct sim_nodes *nodes = sim_nodes_of(w->sim);
    request(w, op,
            (struct eng_event){.kind = EV_EXCLUDE,
                               .host = nodes->list[op->b % 2].name, /* there are more than two */
                               .excluded = op->c % 2});
}

/* ---- what goes wrong ---- */

static void end_process(struct world *w, const struct op *op)
{
    static const enum sim_cause causes[] = {SIM_EXITED, SIM_EXITED,    SIM_SIGNALLED, SIM_EXITED,
                                            SIM_MEMORY, SIM_PREEMPTED, SIM_LOST};
    enum sim_cause cause = causes[op->b % ARRAY_LEN(causes)];
    struct world_ids ids = world_containers(w);
    if (ids.n)
        sim_kill(w->sim, ids.list[op->a % ids.n], cause, cause == SIM_EXITED ? (int)op->c % 3 : 9, w->now_ms);
    world_ids_fini(&ids);
}

static void crash_later(struct world *w, const struct op *op)
{
    w->crash_effects = op->b % 8;
    w->down_ms = op->c * 3;
    if (op->a == 0)
        world_crash(w, 0, w->down_ms);
    else
        w->crash_after = op->a - 1;
}

static void resync(struct world *w, const struct op *op)
{
    if (w->up_ms)
        return;
    world_forget_keys(w, service_kind(op), service_name(op));
    world_push(w, (struct eng_event){.kind = EV_RESYNC,
                                     .service_kind = service_kind(op),
                                     .user = WORLD_USER,
                                     .name = service_name(op)});
}

void world_do(struct world *w, const struct op *op)
{
    world_run(w, w->now_ms + op->wait_ms);
    switch (op->kind) {
    case OP_CREATE: create(w, op, false); break;
    case OP_SAVE: create(w, op, true); break;
    case OP_FLEX: flex(w, op); break;
    case OP_STOP: request(w, op, (struct eng_event){.kind = EV_STOP}); break;
    case OP_START: request(w, op, (struct eng_event){.kind = EV_START}); break;
    case OP_DESTROY: request(w, op, (struct eng_event){.kind = EV_DESTROY}); break;
    case OP_LIFETIME:
        request(w, op, (struct eng_event){.kind = EV_LIFETIME, .lifetime_s = 1 + op->b % 30});
        break;
    case OP_PROGRESS:
        request(w, op, (struct eng_event){.kind = EV_PROGRESS, .progress_ppm = op->b * 1000});
        break;
    case OP_DECOMMISSION: request_of_instance(w, op, EV_DECOMMISSION); break;
    case OP_UPGRADE: upgrade(w, op); break;
    case OP_MOVE: move(w, op); break;
    case OP_FINALIZE: request(w, op, (struct eng_event){.kind = EV_FINALIZE}); break;
    case OP_CANCEL: request(w, op, (struct eng_event){.kind = EV_CANCEL_UPGRADE}); break;
    case OP_RESTART: request_of_instance(w, op, EV_RESTART); break;
    case OP_REPLACE: request_of_instance(w, op, EV_REPLACE); break;
    case OP_REDEFINE: redefine(w, op); break;
    case OP_MIGRATE: migrate(w, op); break;
    case OP_EXCLUDE: exclude(w, op); break;
    case OP_END: end_process(w, op); break;
    case OP_NODE: sim_fail_node(w->sim, op->a % sim_nodes_of(w->sim)->n, 1 + op->b * 4, w->now_ms); break;
    case OP_REGISTRY: w->registry_back_ms = w->now_ms + op->a * 4; break;
    case OP_STORE: w->n_failing = 1 + op->a % 4; break;
    case OP_CRASH: crash_later(w, op); break;
    case OP_RESYNC: resync(w, op); break;
    case OP_WAIT:
    case N_OPS: break;
    }
    world_run(w, w->now_ms);
}

void world_heal(struct world *w)
{
    w->n_failing = 0;
    w->crash_after = -1;
    world_run(w, w->up_ms > w->now_ms ? w->up_ms : w->now_ms);
    w->registry_back_ms = 0;
    w->is_dns_well = true;
    world_push(w, (struct eng_event){.kind = EV_REGISTRY});
}

void world_cancel_upgrades(struct world *w)
{
    for (uint32_t i = 0; i < WORLD_SERVICES; i++)
        request(w, &(struct op){.a = i}, (struct eng_event){.kind = EV_CANCEL_UPGRADE});
}

/* The simulated cluster in the daemon: its options, and what it holds after a restart. */
#include <string.h>

#include "cluster/sim.h"
#include "spec/needs.h"
#include "svcmgr/app.h"
#include "svcmgr/options.h"

#define HELD_MAGIC OBJ_MAGIC('H', 'E', 'L', 'D')

bool app_is_simulated(const struct options *o)
{
    return strcmp(opt_text(o, OPT_CLUSTER), "sim") == 0;
}

void app_check_simulated(const struct options *o, struct opt_report *report)
{
    struct err_info why = {0};

    if (cluster_sim_check(opt_text(o, OPT_SIM_SCRIPT), &why))
        opt_error(o, "yarn.service.sim.script", &why, report);
}

/** Whom to pass the containers to, in the form of the cluster. */
struct held_call {
    struct obj obj;
    void (*each)(void *each_arg, const struct sim_held *c);
    void *each_arg;
};

static void hold_one(void *arg, const struct eng_container_ref *ref)
{
    const struct held_call *call = obj_cast(arg, struct held_call, HELD_MAGIC);
    const struct eng_instance *inst = ref->instance;
    struct spec_needs *needs = spec_needs_new(ref->component->spec);
    const struct sim_held held = {
        .id = inst->container_id,
        .ip = inst->ip,
        .host = inst->bare_host,
        .label = json_string_value(json_object_get(ref->component->spec->placement_policy, "label")),
        .instance = inst->name,
        .component = ref->component->name,
        .needs = needs,
        .memory_mb = ref->memory_mb,
        .vcores = ref->vcores,
        .attempt = inst->attempt,
        .is_running = ref->process,
    };

    call->each(call->each_arg, &held);
    spec_needs_free(needs);
}

static void each_held(void *arg, void (*each)(void *each_arg, const struct sim_held *c), void *each_arg)
{
    struct app *a = obj_cast(arg, struct app, APP_MAGIC);
    struct held_call call = {{HELD_MAGIC}, each, each_arg};

    engine_containers(a->engine, hold_one, &call);
}

int app_open_simulated(struct app *a, struct err_info *why)
{
    const struct options *o = daemon_options(a->daemon);
    const struct sim_options options = {
        .script = opt_text(o, OPT_SIM_SCRIPT),
        .seed = (uint64_t)opt_int(o, OPT_SIM_SEED),
        .speed = opt_int(o, OPT_SIM_SPEED),
        .held = each_held,
        .held_arg = a,
    };

    return cluster_sim_open(a->loop, &options, &app_cluster_ops, a, &a->cluster, why);
}

/** What has become of the containers of components: see instance.h. */
#include "engine/instance.h"

#include "engine/places.h"
#include "engine/rules.h"
#include "engine/step.h"

bool instance_was_short(const struct step *st, const struct eng_instance *inst)
{
    return inst->running_ms == 0 ||
           st->now_ms - inst->running_ms < eng_rules_short_life_ms(inst->component->service->rules);
}

void totals_requested(struct eng_instance *inst)
{
    inst->component->totals.n_requested++;
}

void totals_started(struct step *st, struct eng_instance *inst)
{
    if (inst->recovered)
        return;
    inst->component->totals.n_started++;
    inst->component->totals.last_started_ms = st->wall_ms;
    step_touch(st, inst->component->service);
}

void totals_ended(struct step *st, struct eng_instance *inst, const struct eng_exit *x)
{
    struct eng_totals *t = &inst->component->totals;
    enum eng_blame blame = eng_exit_blame(x);
    bool is_process = blame == BLAME_PROCESS || blame == BLAME_LIMITS;
    t->n_unplanned++;
    t->n_preempted += blame == BLAME_CLUSTER;
    t->n_node_failed += blame == BLAME_NODE;
    t->n_limits += blame == BLAME_LIMITS;
    t->n_failed += is_process || blame == BLAME_NODE;
    bool is_start_failure = is_process && instance_was_short(st, inst);
    t->n_start_failed += is_start_failure;
    places_ended(st, inst, is_start_failure, blame == BLAME_CLUSTER);
    pasts_add(st, inst, x);
    step_touch(st, inst->component->service);
}

void totals_released(struct step *st, struct eng_instance *inst)
{
    inst->component->totals.n_released++;
    pasts_add(st, inst, NULL);
    step_touch(st, inst->component->service);
}

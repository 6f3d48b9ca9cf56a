/** Which end explains a service best: see engine.h and instance.h. */
#include "base/obj.h"
#include "engine/component.h"
#include "engine/documents.h"
#include "engine/instance.h"
#include "engine/step.h"

enum failure_rank failure_rank(const struct eng_instance *inst)
{
    if (!inst->last_exit || !eng_exit_is_failure(inst->last_exit))
        return RANK_NONE;
    if (inst->state == INST_FAILED)
        return RANK_FAILED;
    return STATE_BIT(inst->state) & STATES_UP ? RANK_UP_AGAIN : RANK_DOWN;
}

/** The instance of the highest rank, from `least` on; the latest end of those, and the first of several at once. */
static const struct eng_instance *find_failing(const struct eng_service *s, enum failure_rank least)
{
    for (enum failure_rank rank = RANK_FAILED; rank >= least; rank--) {
        const struct eng_instance *best = NULL;
        for (size_t i = 0; i < s->n_components; i++) {
            const struct eng_instance *inst = component_latest_failure(s->components[i], rank);
            if (inst && (!best || inst->last_exit->ended_ms > best->last_exit->ended_ms))
                best = inst;
        }
        if (best)
            return best;
    }
    return NULL;
}

const struct eng_instance *eng_service_failing(const struct eng_service *s)
{
    return find_failing(s, RANK_DOWN);
}

void failure_forget(struct eng_service *s)
{
    fld_free(&eng_failure_type, s->failure);
    s->failure = NULL;
}

void failure_keep(struct eng_service *s)
{
    const struct eng_instance *inst = find_failing(s, RANK_UP_AGAIN);
    failure_forget(s);
    if (!inst)
        return;
    s->failure = fld_new(&eng_failure_type);
    s->failure->instance = mem_str(inst->name);
    s->failure->container_id = mem_str(inst->container_id ? inst->container_id : inst->last_container_id);
    s->failure->node_http = mem_str(inst->container_id ? inst->node_http : inst->last_node_http);
    s->failure->n_restarts = inst->n_restarts;
    s->failure->exit = fld_copy(&eng_exit_type, inst->last_exit);
}

const struct eng_instance *failure_final(const struct eng_service *s)
{
    return find_failing(s, RANK_FAILED);
}

char *failure_end_text(const struct eng_service *s, const char *what)
{
    const struct eng_instance *inst = failure_final(s);
    if (!inst)
        return mem_str(what);
    mem_auto char *text = eng_exit_text(inst->last_exit);
    return mem_fmt("%s; %s: %s", what, inst->name, text);
}

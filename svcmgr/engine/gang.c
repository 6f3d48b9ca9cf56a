/**
 * Gang allocation (eng_rules.is_gang): containers are held until every instance has one, then all processes start.
 *
 *     EV_ALLOCATED ──> ALLOCATED, in the gang ──nobody is without a container──> launched
 *                                │
 *                                └──somebody still is, gang_timeout_ms later──> the service ends: gang_timeout
 *
 * It holds again whenever an instance that is tried again is without a container; those that run go on.
 * Source: framework-launcher 13.3.
 */
#include "engine/policy.h"
#include "engine/component.h"
#include "engine/instance.h"
#include "engine/service.h"
#include "engine/step.h"

bool gang_holds(const struct eng_service *s)
{
    return s->rules && s->rules->is_gang;
}

void gang_join(struct eng_instance *inst)
{
    TAILQ_INSERT_TAIL(&inst->component->service->gang, inst, gang_link);
    inst->is_in_gang = true;
}

void gang_leave(struct eng_instance *inst)
{
    TAILQ_REMOVE(&inst->component->service->gang, inst, gang_link);
    inst->is_in_gang = false;
}

bool gang_is_held(const struct eng_instance *inst)
{
    return inst->state == INST_ALLOCATED && inst->is_in_gang;
}

/** Instances without a container, those that were not made yet included, those of components that wait for others not. */
static int64_t n_outstanding(const struct eng_service *s)
{
    int64_t n = 0;
    for (size_t i = 0; i < s->n_components; i++) {
        const struct eng_component *c = s->components[i];
        int64_t n_missing = c->spec->number_of_containers - component_n_kept(c);
        if (c->state != COMP_WAITING) /* else it waits for others, which must start */
            n += component_count(c, STATES_ASKING) + (n_missing > 0 ? n_missing : 0);
    }
    return n;
}

static void launch_all(struct step *st, struct eng_service *s)
{
    while (!TAILQ_EMPTY(&s->gang) && !step_is_full(st))
        instance_launch(st, TAILQ_FIRST(&s->gang));
}

static void set_due(struct step *st, struct eng_service *s, int64_t due_ms)
{
    if (s->gang_due_ms == due_ms)
        return;
    s->gang_due_ms = due_ms;
    step_touch(st, s);
}

static void time_out(struct step *st, struct eng_service *s, int64_t n)
{
    struct eng_end end = {.state = SVC_FAILED, .exit = eng_exit_of(CAUSE_GANG_TIMEOUT, 0, NULL)};
    end.text = mem_fmt("%lld instances have got no container in %lld s, and the others wait for them",
                       (long long)n, (long long)(s->rules->gang_timeout_ms / 1000));
    set_due(st, s, 0);
    service_end(st, s, &end);
}

void gang_settle(struct step *st, struct eng_service *s)
{
    int64_t n = gang_holds(s) ? n_outstanding(s) : 0;
    if (n == 0) {
        set_due(st, s, 0);
        launch_all(st, s);
    } else if (!s->gang_due_ms) {
        set_due(st, s, st->now_ms + s->rules->gang_timeout_ms);
    } else if (s->gang_due_ms <= st->now_ms) {
        time_out(st, s, n);
    }
}

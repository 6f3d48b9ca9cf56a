/**
 * Instances that get other containers, one after the other: the upgrade of Slider applications.
 *
 *     pending ──its container is given back──> current ──ready in another container──> done, the next one
 *                                                 └──that container ends before──> failed: the rest waits for another request
 *
 * The new containers are those of the definition as it is then. Source: slider-am 8.4.
 */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "engine/component.h"
#include "engine/documents.h"
#include "engine/instance.h"
#include "engine/operation.h"
#include "engine/service.h"
#include "engine/step.h"

static struct eng_instance *instance_of(const struct eng_service *s, const char *name)
{
    int64_t index = -1;
    struct eng_component *c = component_of_instance(s, name, &index);
    struct eng_instance *inst = c ? component_instance(c, index) : NULL;
    return inst && !inst->removing ? inst : NULL;
}

/* ---- the request ---- */

static void append(struct eng_roll *r, struct map *known, const char *name)
{
    if (!map_set(known, name, known))
        r->pending[r->n_pending++] = mem_str(name);
}

/** What waits of the one before comes first. */
static struct eng_roll *roll_new(const struct step *st, const struct eng_roll *before,
                                 const struct eng_event *ev)
{
    struct eng_roll *r = fld_new(&eng_roll_type);
    struct map known = MAP_EMPTY;
    size_t n_before = before ? before->n_pending : 0;
    r->pending = mem_array(n_before + ev->n_names + 1, sizeof r->pending[0]);
    for (size_t i = 0; i < n_before; i++)
        append(r, &known, before->pending[i]);
    for (size_t i = 0; i < ev->n_names; i++)
        append(r, &known, ev->names[i]);
    map_fini(&known, NULL);
    r->n_all = (int64_t)r->n_pending;
    r->began_ms = st->wall_ms;
    r->message = ev->value ? json_deep_copy(ev->value) : NULL;
    return r;
}

void roll_request(struct step *st, const struct eng_event *ev, struct eng_service *s)
{
    if (!service_can_change(st, ev, s))
        return;
    if (s->roll && s->roll->result == RESULT_NONE) {
        step_answer(st, ev->token, OUT_IS_UPGRADING, s);
        return;
    }
    for (size_t i = 0; i < ev->n_names; i++) {
        if (instance_of(s, ev->names[i]))
            continue;
        step_answer(st, ev->token, OUT_NO_INSTANCE, s)->component = mem_str(ev->names[i]);
        return;
    }
    struct eng_roll *r = roll_new(st, s->roll, ev);
    fld_free(&eng_roll_type, s->roll);
    s->roll = r;
    step_touch(st, s);
    step_answer(st, ev->token, OUT_ROLLING, s)->n_new = r->n_all;
}

/* ---- one after the other ---- */

static void end(struct step *st, struct eng_service *s, enum eng_result result)
{
    s->roll->result = result;
    history_record(st, s, s->name, result == RESULT_FAILED ? "roll failed" : "roll succeeded", NULL);
    step_touch(st, s);
}

static bool is_same(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

/** How the current one has come on: RESULT_NONE, it is on its way. One that has gone meanwhile needs nothing more. */
static enum eng_result result_of_current(const struct eng_service *s)
{
    const struct eng_roll *r = s->roll;
    const struct eng_instance *inst = instance_of(s, r->current);
    if (!inst)
        return RESULT_SUCCEEDED;
    if (is_same(inst->container_id, r->left))
        return RESULT_NONE;
    if (inst->state == INST_READY)
        return RESULT_SUCCEEDED;
    bool has_lost_another = inst->last_container_id && !is_same(inst->last_container_id, r->left);
    return has_lost_another ? RESULT_FAILED : RESULT_NONE;
}

/** @return false: it is on its way, or has failed */
static bool settle_current(struct step *st, struct eng_service *s)
{
    struct eng_roll *r = s->roll;
    enum eng_result result = r->current ? result_of_current(s) : RESULT_SUCCEEDED;
    if (!r->current || result == RESULT_NONE)
        return result == RESULT_SUCCEEDED;
    r->n_done += result == RESULT_SUCCEEDED;
    r->n_failed += result == RESULT_FAILED;
    mem_free_ptr(&r->current);
    mem_free_ptr(&r->left);
    step_touch(st, s);
    if (result == RESULT_FAILED)
        end(st, s, RESULT_FAILED);
    return result == RESULT_SUCCEEDED;
}

/** The first that waits is replaced; without a container it gets one of the definition as it is by itself. */
static void begin_next(struct step *st, struct eng_service *s)
{
    struct eng_roll *r = s->roll;
    mem_auto char *name = r->pending[0];
    struct eng_instance *inst = instance_of(s, name);
    memmove(&r->pending[0], &r->pending[1], --r->n_pending * sizeof r->pending[0]);
    step_touch(st, s);
    if (!inst || !inst->container_id || inst->state == INST_REQUESTED) {
        r->n_done++;
        return;
    }
    r->current = mem_str(name);
    r->left = mem_str(inst->container_id);
    instance_evict(st, inst);
}

void roll_settle(struct step *st, struct eng_service *s)
{
    struct eng_roll *r = s->roll;
    while (r && r->result == RESULT_NONE && settle_current(st, s) && !step_is_full(st)) {
        if (r->n_pending > 0)
            begin_next(st, s);
        else
            end(st, s, RESULT_SUCCEEDED);
    }
}

void roll_stop(struct step *st, struct eng_service *s)
{
    if (s->roll && s->roll->result == RESULT_NONE)
        end(st, s, RESULT_FAILED);
}

/** Before some requests a plan of them is made: it ends, it has an answer, and the engine is as it was. */
#include "engine/plan.h"

#include "engine/objects.h"
#include "world.h"

#define SLICE 7
#define TURNS 2000000 /* more than any plan needs */

static bool copy_all(struct eng_plan *p, const struct world *w)
{
    int state;
    while ((state = eng_plan_copy(p, w->e, SLICE)) == 0)
        ;
    return state == 1;
}

static void run(struct world *w, struct eng_plan *p, const struct eng_event *ev)
{
    struct eng_event copy = *ev;
    copy.take_spec = ev->take_spec ? spec_copy(ev->take_spec) : NULL;
    eng_plan_begin(p, w->e, &copy, (struct eng_time){.now_ms = w->now_ms, .wall_ms = w->now_ms});
    for (int i = 0; i < TURNS; i++) {
        if (!eng_plan_run(p, SLICE))
            continue;
        if (!eng_plan_answer(p))
            world_violate(w, "the plan of a request has no answer");
        return;
    }
    world_violate(w, "the plan of a request does not end");
}

void world_plan(struct world *w, const struct eng_event *ev)
{
    const char *name = ev->take_spec ? ev->take_spec->name : ev->name;
    const struct eng_service *s = engine_find(w->e, ev->service_kind, ev->user, name);
    int64_t change = s ? s->change : 0;
    struct eng_plan *p = eng_plan_new(w->e, ev->service_kind, ev->user, name);
    if (copy_all(p, w))
        run(w, p, ev);
    else
        world_violate(w, "a service that does not change cannot be copied");
    eng_plan_free(p);
    if (s && s->change != change)
        world_violate(w, "the plan of a request has changed service %s", name);
}

/** Finds out what requests would do (engine/plan.h), a slice in each turn of the loop. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "engine/plan.h"
#include "svcmgr/app.h"

#define PLAN_MAGIC OBJ_MAGIC('P', 'L', 'A', 'N')
#define PLANS_MAX  8   /* at once */
#define SLICE_US   300 /* of one turn */
#define ANEW_MS    25  /* until a service that has changed is copied again */
#define SLICE_N    4   /* instances that are copied, or effects, between two looks at the clock */

/** A plan that is being made. */
struct app_plan {
    struct obj obj;
    TAILQ_ENTRY(app_plan) link;
    struct app *app;
    struct queue request; /* its event, copied */
    struct eng_plan *plan;
    bool is_begun;
    struct run_timer *timer;
    void (*done)(void *arg, const struct eng_plan *plan, int code);
    void *arg;
};

static void end(struct app_plan *w, int code)
{
    TAILQ_REMOVE(&w->app->plans, w, link);
    w->app->n_plans--;
    w->done(w->arg, code ? NULL : w->plan, code);
    run_timer_free(w->timer);
    eng_plan_free(w->plan);
    queue_fini(&w->request);
    obj_fini(&w->obj);
    free(w);
}

static void begin(struct app_plan *w)
{
    const struct eng_time now = {.now_ms = app_now_ms(w->app), .wall_ms = run_wall_ms()};
    struct eng_event *ev = queue_first(&w->request);

    eng_plan_begin(w->plan, w->app->engine, ev, now);
    ev->take_spec = NULL; /* The engine of the plan has them. */
    ev->take_rules = NULL;
    w->is_begun = true;
}

/** @return 0: there is more to do; 1: it is done; 2: there is more, a little later; ERR_* */
static int work(struct app_plan *w)
{
    if (w->is_begun)
        return eng_plan_run(w->plan, SLICE_N);
    int copied = eng_plan_copy(w->plan, w->app->engine, SLICE_N);
    if (copied == 1)
        begin(w);
    return copied == 1 ? 0 : copied;
}

static void on_turn(void *arg)
{
    struct app_plan *w = obj_cast(arg, struct app_plan, PLAN_MAGIC);
    int64_t end_us = run_now_us() + SLICE_US;
    int state = 0;

    while (state == 0 && run_now_us() < end_us)
        state = work(w);
    if (state == 0 || state == 2)
        run_timer_start(w->timer, state == 2 ? ANEW_MS : 0, 0);
    else
        end(w, state == 1 ? 0 : state);
}

void app_plan(void *app, struct eng_event *ev, void (*done)(void *arg, const struct eng_plan *plan, int code),
              void *arg)
{
    struct app *a = obj_cast(app, struct app, APP_MAGIC);
    const char *name = ev->take_spec ? ev->take_spec->name : ev->name;
    bool is_full = a->n_plans == PLANS_MAX;

    if (a->is_ending || is_full) {
        spec_free(ev->take_spec);
        eng_rules_free(ev->take_rules);
        done(arg, NULL, is_full ? ERR_UNAVAILABLE : ERR_CANCELLED);
        return;
    }
    struct app_plan *w = mem_new(struct app_plan);
    obj_init(&w->obj, PLAN_MAGIC);
    w->app = a;
    w->done = done;
    w->arg = arg;
    w->plan = eng_plan_new(a->engine, ev->service_kind, ev->user, name);
    queue_init(&w->request);
    queue_push(&w->request, ev, 0);
    w->timer = run_timer_new(a->loop, on_turn, w);
    run_timer_start(w->timer, 0, 0);
    TAILQ_INSERT_TAIL(&a->plans, w, link);
    a->n_plans++;
}

void app_cancel_plans(struct app *a)
{
    while (!TAILQ_EMPTY(&a->plans))
        end(TAILQ_FIRST(&a->plans), ERR_CANCELLED);
}

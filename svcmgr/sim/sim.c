#include "sim/sim.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/obj.h"
#include "sim/box.h"
#include "sim/draw.h"
#include "sim/queue.h"

#define REPEAT_MAX_MS 1000

/* ---- processes ---- */

bool sim_has_process(const struct sim_container *c)
{
    return c->state == SIM_STARTING || c->state == SIM_RUNNING || c->state == SIM_STOPPING;
}

static bool is_gone(const struct sim_box *b)
{
    return b->pub.state == SIM_ENDED && (b->pub.cause == SIM_LOST || b->pub.cause == SIM_PREEMPTED);
}

/** The rule by which this process ends, or NULL; *after_ms its time from the start on. */
static const struct sim_end *draw_end(const struct sim *s, const struct sim_box *b, int64_t *after_ms)
{
    for (size_t i = 0; i < s->script->n_ends; i++) {
        const struct sim_end *end = &s->script->ends[i];
        unsigned what = SIM_DRAW_END + 2 * (unsigned)i;
        bool applies =
            sim_rule_is_for(end->of, b->instance) && (!end->attempts || b->pub.attempt <= end->attempts);
        if (!applies || !sim_box_share(s, b, what, end->share_ppm))
            continue;
        *after_ms = sim_box_span(s, b, what + 1, end->after);
        return end;
    }
    return NULL;
}

int sim_launch(struct sim *s, const char *id, int64_t attempt, const char *instance, int64_t now_ms)
{
    struct sim_box *b = sim_box_find(s, id);

    sim_advance(s, now_ms);
    if (!b)
        return ERR_NOTFOUND;
    if ((b->pub.state != SIM_HELD && b->pub.state != SIM_ENDED) || is_gone(b))
        return ERR_WRONGSTATE;
    free(b->instance);
    b->instance = mem_str(instance);
    b->pub.attempt = attempt;
    b->pub.state = SIM_STARTING;
    b->is_readiness_known = false;
    sim_clear_due(s, &b->repeat);
    sim_set_due(s, &b->life, sim_box_span(s, b, SIM_DRAW_START, s->script->start));
    return 0;
}

static void report_readiness_in(struct sim *s, struct sim_box *b, int64_t delay_ms)
{
    if (b->is_probed && b->pub.state == SIM_RUNNING)
        sim_set_due(s, &b->readiness, delay_ms);
}

/** When the process is ready, and when it is not for a time. */
static void plan_readiness(struct sim *s, struct sim_box *b)
{
    b->ready_ms = s->now_ms + sim_box_span(s, b, SIM_DRAW_READY, s->script->ready);
    b->unready_from_ms = b->unready_until_ms = 0;
    for (size_t i = 0; i < s->script->n_unready; i++) {
        const struct sim_unready *u = &s->script->unready[i];
        unsigned what = SIM_DRAW_UNREADY + 3 * (unsigned)i;
        if (!sim_rule_is_for(u->of, b->instance) || !sim_box_share(s, b, what, u->share_ppm))
            continue;
        b->unready_from_ms = b->ready_ms + sim_box_span(s, b, what + 1, u->after);
        b->unready_until_ms = b->unready_from_ms + sim_box_span(s, b, what + 2, u->lasts);
        return;
    }
}

static void run_process(struct sim *s, struct sim_box *b)
{
    int64_t after_ms;
    const struct sim_end *end = draw_end(s, b, &after_ms);

    b->pub.state = SIM_RUNNING;
    b->pub.started_ms = s->now_ms;
    plan_readiness(s, b);
    report_readiness_in(s, b, 0);
    if (!end)
        return;
    b->pub.cause = end->cause;
    b->pub.value = end->value;
    sim_set_due(s, &b->life, after_ms);
}

static void end_process(struct sim *s, struct sim_box *b)
{
    b->pub.state = SIM_ENDED;
    b->pub.started_ms = 0;
    b->pub.ended_ms = s->now_ms;
    b->is_probed = false;
    sim_clear_due(s, &b->life);
    sim_clear_due(s, &b->readiness);
}

void sim_stop(struct sim *s, const char *id, bool force, int64_t now_ms)
{
    struct sim_box *b = sim_box_find(s, id);

    sim_advance(s, now_ms);
    if (!b || !sim_has_process(&b->pub) || (b->pub.state == SIM_STOPPING && !force))
        return;
    b->pub.state = SIM_STOPPING;
    b->pub.cause = SIM_STOPPED;
    b->pub.value = 0;
    sim_clear_due(s, &b->readiness);
    sim_set_due(s, &b->life, force ? 0 : sim_box_span(s, b, SIM_DRAW_STOP, s->script->stop));
}

void sim_kill(struct sim *s, const char *id, enum sim_cause cause, int value, int64_t now_ms)
{
    struct sim_box *b = sim_box_find(s, id);

    sim_advance(s, now_ms);
    if (!b || !b->place || is_gone(b) || b->pub.state == SIM_GRANTED)
        return;
    if (cause != SIM_LOST && !sim_has_process(&b->pub))
        return;
    end_process(s, b);
    b->pub.cause = cause;
    b->pub.value = value;
    sim_set_due(s, &b->life, 0); /* reported */
}

/* ---- probes ---- */

void sim_probe(struct sim *s, const char *id, int64_t now_ms)
{
    struct sim_box *b = sim_box_find(s, id);

    sim_advance(s, now_ms);
    if (!b)
        return;
    b->is_probed = true;
    b->is_readiness_known = false;
    report_readiness_in(s, b, 0);
}

void sim_unprobe(struct sim *s, const char *id)
{
    struct sim_box *b = sim_box_find(s, id);

    if (!b)
        return;
    b->is_probed = false;
    sim_clear_due(s, &b->readiness);
}

static bool is_ready_now(const struct sim *s, const struct sim_box *b)
{
    return s->now_ms >= b->ready_ms && (s->now_ms < b->unready_from_ms || s->now_ms >= b->unready_until_ms);
}

/** When its readiness changes next; INT64_MAX: never. */
static int64_t next_readiness_ms(const struct sim *s, const struct sim_box *b)
{
    const int64_t changes[] = {b->ready_ms, b->unready_from_ms, b->unready_until_ms};

    for (size_t i = 0; i < ARRAY_LEN(changes); i++) {
        if (changes[i] > s->now_ms)
            return changes[i];
    }
    return INT64_MAX;
}

/* ---- after a restart of whoever uses it ---- */

void sim_restore(struct sim *s, const struct sim_ask *ask, const char *node, int64_t attempt, bool is_running,
                 const char *instance, int64_t now_ms)
{
    struct sim_node *at = sim_nodes_find(&s->nodes, node);

    sim_advance(s, now_ms);
    if (sim_box_find(s, ask->id))
        return;
    struct sim_box *b = sim_box_new(s, ask);
    if (!at)
        at = &s->nodes
                  .list[sim_draw(s->seed, (struct sim_die){ask->id, 0, SIM_DRAW_FAILURE_NODE}) % s->nodes.n];
    sim_nodes_take(&s->nodes, at, &b->pub.room);
    sim_settle_at(s, b, at);
    b->pub.state = SIM_HELD;
    b->pub.attempt = attempt;
    b->instance = mem_str(instance);
    if (is_running)
        run_process(s, b);
}

/* ---- nodes ---- */

/** What its node's failure does to a container. */
static void lose(struct sim *s, struct sim_box *b)
{
    if (b->pub.state != SIM_GRANTED) {
        sim_kill(s, b->pub.id, SIM_LOST, SIM_NODE_LOST, s->now_ms);
        return;
    }
    sim_clear_due(s, &b->life);
    sim_leave_place(s, b);
    sim_try_place(s, b); /* Nobody has heard of the node yet. */
}

void sim_fail_node(struct sim *s, size_t index, int64_t lasts_ms, int64_t now_ms)
{
    struct sim_place *p = &s->places[index];
    struct sim_box *b, *next;

    sim_advance(s, now_ms);
    p->node->is_down = true;
    for (b = TAILQ_FIRST(&p->boxes); b; b = next) {
        next = TAILQ_NEXT(b, link);
        lose(s, b);
    }
    if (lasts_ms >= 0)
        sim_set_due(s, &p->mended, lasts_ms);
}

void sim_mend_node(struct sim *s, size_t index, int64_t now_ms)
{
    sim_advance(s, now_ms);
    if (s->places[index].node->is_down)
        sim_set_due(s, &s->places[index].mended, 0);
}

static void next_failure(struct sim *s)
{
    if (s->script->failure_every.max_ms > 0)
        sim_set_due(s, &s->failure,
                    sim_draw_span(s->seed, (struct sim_die){"", s->n_failures, SIM_DRAW_FAILURE_MS},
                                  s->script->failure_every));
}

static const struct sim_node *fail_some_node(struct sim *s)
{
    int64_t lasts_ms = sim_draw_span(s->seed, (struct sim_die){"", s->n_failures, SIM_DRAW_FAILURE_LASTS},
                                     s->script->failure_lasts);
    size_t index = sim_draw(s->seed, (struct sim_die){"", s->n_failures, SIM_DRAW_FAILURE_NODE}) % s->nodes.n;

    s->n_failures++;
    sim_fail_node(s, index, lasts_ms, s->now_ms);
    next_failure(s);
    return &s->nodes.list[index];
}

/* ---- what happens ---- */

/** An answer about a container goes out, or is lost. @return whether it goes out */
static bool answer(struct sim *s, struct sim_box *b, enum sim_event_kind kind, struct sim_event *out)
{
    int64_t attempt = b->pub.attempt;
    unsigned salt = 16u * (unsigned)kind;

    *out = (struct sim_event){.kind = kind, .at_ms = s->now_ms, .container = &b->pub, .attempt = attempt};
    if (sim_box_share(s, b, SIM_DRAW_REPEATED ^ salt << 16, s->script->repeated_ppm)) {
        b->repeated = kind;
        b->repeated_attempt = attempt;
        sim_set_due(s, &b->repeat,
                    1 + sim_box_span(s, b, SIM_DRAW_REPEAT_MS, (struct sim_span){0, REPEAT_MAX_MS}));
    }
    return !sim_box_share(s, b, SIM_DRAW_LOST ^ salt << 16, s->script->lost_ppm);
}

static bool live_on(struct sim *s, struct sim_box *b, struct sim_event *out)
{
    int64_t after_ms;
    const struct sim_end *end;

    switch (b->pub.state) {
    case SIM_ASKED:
        *out = (struct sim_event){.kind = SIM_EV_WAITS,
                                  .at_ms = s->now_ms,
                                  .container = &b->pub,
                                  .lack = b->lack,
                                  .lacking = b->lacking};
        return true;
    case SIM_GRANTED: b->pub.state = SIM_HELD; return answer(s, b, SIM_EV_ALLOCATED, out);
    case SIM_STARTING:
        end = draw_end(s, b, &after_ms);
        if (!end || end->cause != SIM_NOT_STARTED) {
            run_process(s, b);
            return answer(s, b, SIM_EV_STARTED, out);
        }
        b->pub.cause = SIM_NOT_STARTED;
        b->pub.value = 0;
        break;
    case SIM_HELD: return false;
    case SIM_RUNNING:
    case SIM_STOPPING:
    case SIM_ENDED: break;
    }
    if (b->pub.state != SIM_ENDED)
        end_process(s, b);
    return answer(s, b, SIM_EV_ENDED, out);
}

static bool report_readiness(struct sim *s, struct sim_box *b, struct sim_event *out)
{
    bool is_ready = is_ready_now(s, b), is_news = !b->is_readiness_known || b->is_ready != is_ready;
    int64_t next_ms = next_readiness_ms(s, b);

    if (next_ms < INT64_MAX)
        report_readiness_in(s, b, next_ms - s->now_ms);
    b->is_readiness_known = true;
    b->is_ready = is_ready;
    *out = (struct sim_event){.kind = SIM_EV_READINESS,
                              .at_ms = s->now_ms,
                              .container = &b->pub,
                              .attempt = b->pub.attempt,
                              .is_ready = is_ready};
    return is_news;
}

/** An answer comes once more; one that says what is not so any more, as answers do that were on their way. */
static bool repeat(struct sim *s, struct sim_box *b, struct sim_event *out)
{
    *out = (struct sim_event){
        .kind = b->repeated, .at_ms = s->now_ms, .container = &b->pub, .attempt = b->repeated_attempt};
    return b->repeated != SIM_EV_ENDED ||
           b->pub.state == SIM_ENDED; /* How it ended is known only while it is ended. */
}

static bool report_node(struct sim *s, const struct sim_node *node, struct sim_event *out)
{
    *out = (struct sim_event){.kind = SIM_EV_NODE, .at_ms = s->now_ms, .node = node};
    return true;
}

/** Requests for which no node was good enough stay so: nodes come back as they were. */
static bool mend(struct sim *s, struct sim_place *p, struct sim_event *out)
{
    p->node->is_down = false;
    sim_serve_soon(s);
    return report_node(s, p->node, out);
}

static bool happen(struct sim *s, struct sim_due *d, struct sim_event *out)
{
    switch (d->kind) {
    case SIM_DUE_LIFE: return live_on(s, d->owner, out);
    case SIM_DUE_READINESS: return report_readiness(s, d->owner, out);
    case SIM_DUE_REPEAT: return repeat(s, d->owner, out);
    case SIM_DUE_SERVE: sim_serve(s); return false;
    case SIM_DUE_FAILURE: return report_node(s, fail_some_node(s), out);
    case SIM_DUE_MENDED: return mend(s, d->owner, out);
    }
    return false;
}

int64_t sim_next_ms(const struct sim *s)
{
    const struct heap_node *first = heap_first(&s->agenda);

    return first ? first->key : INT64_MAX;
}

bool sim_take(struct sim *s, int64_t until_ms, struct sim_event *out)
{
    struct heap_node *first;

    while ((first = heap_first(&s->agenda)) && first->key <= until_ms) {
        sim_advance(s, first->key);
        heap_remove(&s->agenda, first);
        if (happen(s, container_of(first, struct sim_due, node), out))
            return true;
    }
    return false;
}

/* ---- looking ---- */

const struct sim_container *sim_find(const struct sim *s, const char *id)
{
    const struct sim_box *b = sim_box_find(s, id);

    return b ? &b->pub : NULL;
}

void sim_each(const struct sim *s, void (*fn)(void *arg, const struct sim_container *c), void *arg)
{
    mem_auto const char **ids = map_sorted_keys(&s->boxes);

    for (size_t i = 0; ids[i]; i++)
        fn(arg, sim_find(s, ids[i]));
}

const struct sim_nodes *sim_nodes_of(const struct sim *s)
{
    return &s->nodes;
}

void sim_count(const struct sim *s, size_t *n_held, size_t *n_waiting)
{
    *n_held = s->boxes.n_items - s->n_waiting;
    *n_waiting = s->n_waiting;
}

/* ---- the whole ---- */

struct sim *sim_new(const struct sim_script *script, uint64_t seed)
{
    struct sim *s = mem_new(struct sim);

    s->script = script;
    s->seed = seed;
    sim_nodes_init(&s->nodes, script);
    sim_tags_init(&s->tags, s->nodes.n, s->nodes.n_racks);
    s->places = mem_array(s->nodes.n, sizeof *s->places);
    for (size_t i = 0; i < s->nodes.n; i++) {
        s->places[i].node = &s->nodes.list[i];
        TAILQ_INIT(&s->places[i].boxes);
        s->places[i].mended = (struct sim_due){.kind = SIM_DUE_MENDED, .owner = &s->places[i]};
    }
    TAILQ_INIT(&s->waiting);
    TAILQ_INIT(&s->bound);
    TAILQ_INIT(&s->never);
    s->serve = (struct sim_due){.kind = SIM_DUE_SERVE};
    s->failure = (struct sim_due){.kind = SIM_DUE_FAILURE};
    next_failure(s);
    return s;
}

static void free_box_value(void *value)
{
    sim_box_free(value);
}

void sim_free(struct sim *s)
{
    if (!s)
        return;
    heap_fini(&s->agenda);
    map_fini(&s->boxes, free_box_value);
    sim_tags_fini(&s->tags);
    sim_nodes_fini(&s->nodes);
    free(s->places);
    free(s);
}

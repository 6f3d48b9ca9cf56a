/**
 * Policy of Slider applications: see policy.h. Its components are services: every end is followed by a new container, and the
 * application never ends well by itself. Source: slider-am 5.3, 5.5, 7.3, 12.
 */
#include "base/mem.h"
#include "engine/instance.h"
#include "engine/policy.h"
#include "engine/component.h"
#include "engine/step.h"

#define FAILURE_LIMIT 5

static enum spec_restart restart(const struct eng_component *c)
{
    (void)c;
    return RESTART_ALWAYS;
}

/** A limit of 0 or less is none. */
static int64_t failure_limit(const struct eng_component *c)
{
    int64_t limit = policy_failure_limit(c, FAILURE_LIMIT);
    return limit > 0 ? limit : -1;
}

/** A limit that was exceeded says nothing about the node. */
static bool is_node_failure(const struct eng_exit *x)
{
    return eng_exit_blame(x) == BLAME_PROCESS || eng_exit_blame(x) == BLAME_NODE;
}

static enum eng_verdict decide_exit(struct step *st, struct eng_instance *inst, const struct eng_exit *x,
                                    bool kept, struct eng_end *end)
{
    struct eng_component *c = inst->component;
    enum eng_blame blame = eng_exit_blame(x);
    (void)kept;
    if (blame != BLAME_PROCESS && blame != BLAME_LIMITS)
        return VERDICT_RESTART;
    bool is_too_many = policy_count_failure(st, c);
    c->n_start_failures = (c->n_failures > 1 ? c->n_start_failures : 0) + instance_was_short(st, inst);
    if (!is_too_many)
        return VERDICT_RESTART;
    mem_auto char *last = eng_exit_text(x);
    *end = (struct eng_end){.state = SVC_FAILED, .exit = *x, .trigger = inst};
    end->text = mem_fmt(
        "Unstable Application Instance : - failed with component %s failed 'recently' %lld times (%lld in "
        "startup); threshold is %lld - last failure: %s",
        c->name, (long long)c->n_failures, (long long)c->n_start_failures, (long long)failure_limit(c), last);
    return VERDICT_END;
}

static bool decide_end(const struct eng_service *s, const struct eng_instance *inst, struct eng_end *end)
{
    (void)s;
    (void)inst;
    (void)end;
    return false;
}

/* ---- what shrinks ---- */

/** Whether a goes before b: first what has no container yet, then the newest one, the higher number of equals. */
static bool goes_before(const struct eng_instance *a, const struct eng_instance *b)
{
    bool a_asks = !a->allocated_ms || STATE_BIT(a->state) & STATES_ASKING;
    bool b_asks = !b->allocated_ms || STATE_BIT(b->state) & STATES_ASKING;
    if (a_asks != b_asks)
        return a_asks;
    if (!a_asks && a->request_id != b->request_id)
        return a->request_id > b->request_id;
    return a->index > b->index;
}

/** The first n of that order, in one pass: out is sorted, the last of it is replaced. */
static size_t pick_surplus(struct eng_component *c, struct eng_instance **out, size_t n)
{
    size_t n_out = 0;
    struct eng_instance *inst;
    TAILQ_FOREACH (inst, &c->instances, link) {
        if (inst->removing || (n_out == n && !goes_before(inst, out[n - 1])))
            continue;
        size_t at = n_out < n ? n_out++ : n - 1;
        for (; at > 0 && goes_before(inst, out[at - 1]); at--)
            out[at] = out[at - 1];
        out[at] = inst;
    }
    return n_out;
}

static enum eng_change change(const struct eng_service *s, const struct spec_service *to)
{
    (void)s;
    (void)to;
    return CHANGE_IN_PLACE;
}

const struct eng_policy policy_slider = {
    .registry_class = "org-apache-slider",
    .folder = "sliders",
    .starts_again = true,
    .keeps_request = true,
    .remembers_nodes = true,
    .remembers_containers = true,
    .flex_forgets_failures = true,
    .restart = restart,
    .failure_limit = failure_limit,
    .decide_exit = decide_exit,
    .is_node_failure = is_node_failure,
    .decide_end = decide_end,
    .decide_retry = policy_no_retry,
    .pick_surplus = pick_surplus,
    .start_order = policy_order_by_priority,
    .change = change,
};

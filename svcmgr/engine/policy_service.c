/**
 * Policy of services of the YARN services API: see policy.h.
 *
 * A process that ends with a code other than 0, 137 and 143, or by a signal other than KILL and TERM, is started again
 * in its container unless the restart policy is NEVER; every other end gives the container back. Source: YARN services API 4.6.
 */
#include <signal.h>
#include <string.h>

#include "base/mem.h"
#include "base/obj.h"
#include "engine/policy.h"
#include "engine/component.h"
#include "engine/instance.h"
#include "engine/step.h"

#define EXIT_BY_KILL  137
#define EXIT_BY_TERM  143
#define FAILURE_LIMIT 10

static enum spec_restart restart(const struct eng_component *c)
{
    return (enum spec_restart)c->spec->restart_policy;
}

static int64_t failure_limit(const struct eng_component *c)
{
    return policy_failure_limit(c, FAILURE_LIMIT);
}

/* ---- again in the same container ---- */

/** For how long a retry counts; <= 0: for ever. */
static int64_t retry_validity_ms(const struct spec_component *spec)
{
    int64_t ms = spec_prop_int(spec, PROP_RETRY_VALIDITY, -1);
    return ms > 0 ? ms : spec_prop_int(spec, PROP_RETRY_VALIDITY_LONG, -1);
}

/** Whether the times of retries are kept: only then is their age of interest. */
static bool keeps_retry_times(const struct spec_component *spec)
{
    int64_t max = spec_prop_int(spec, PROP_RETRY_MAX, -1);
    return max > 0 && max <= SPEC_RETRY_TIMES_MAX && retry_validity_ms(spec) > 0;
}

/** Retries in this container that count against retry.max. */
static int64_t n_counted_retries(const struct step *st, struct eng_instance *inst)
{
    const struct spec_component *spec = inst->component->spec;
    if (!keeps_retry_times(spec))
        return inst->n_retries;
    int64_t since_ms = st->now_ms - retry_validity_ms(spec);
    while (json_array_size(inst->retry_times) > 0 &&
           json_integer_value(json_array_get(inst->retry_times, 0)) <= since_ms)
        json_array_remove(inst->retry_times, 0);
    return (int64_t)json_array_size(inst->retry_times);
}

static void count_retry(const struct step *st, struct eng_instance *inst)
{
    inst->n_retries++;
    if (!keeps_retry_times(inst->component->spec))
        return;
    if (!inst->retry_times)
        inst->retry_times = json_array();
    json_array_append_new(inst->retry_times, json_integer(st->now_ms));
}

/** Whether the process is started again in the container that it had. */
static bool retries_here(const struct step *st, struct eng_instance *inst, const struct eng_exit *x)
{
    const struct spec_component *spec = inst->component->spec;
    int64_t max = spec_prop_int(spec, PROP_RETRY_MAX, -1);
    if (spec->restart_policy == RESTART_NEVER || (max >= 0 && n_counted_retries(st, inst) >= max))
        return false;
    if (x->cause == CAUSE_SIGNALLED)
        return x->raw != SIGKILL && x->raw != SIGTERM;
    return x->cause == CAUSE_EXITED && x->raw != 0 && x->raw != EXIT_BY_KILL && x->raw != EXIT_BY_TERM;
}

/* ---- an end ---- */

/** What the cluster or a request has ended says nothing about the component. */
static bool is_counted(const struct eng_exit *x)
{
    return !eng_exit_is_success(x) && (x->origin == ORIGIN_PROCESS || x->origin == ORIGIN_CONTAINER);
}

static enum eng_verdict decide_exit(struct step *st, struct eng_instance *inst, const struct eng_exit *x,
                                    bool kept, struct eng_end *end)
{
    const struct eng_component *c = inst->component;
    enum spec_restart policy = restart(c);
    if (kept && retries_here(st, inst, x)) {
        count_retry(st, inst);
        return VERDICT_RETRY;
    }
    if (is_counted(x) && policy_count_failure(st, inst->component)) {
        long long n = (long long)c->n_failures;
        *end = (struct eng_end){.state = SVC_FAILED, .exit = *x, .trigger = inst};
        end->text =
            mem_fmt("[COMPONENT %s]: Failed %lld times, exceeded the limit - %lld. Shutting down now... %s",
                    c->name, n, n - 1, x->cause == CAUSE_LAUNCH && x->text ? x->text : "");
        return VERDICT_END;
    }
    if (policy == RESTART_NEVER || (policy == RESTART_ON_FAILURE && eng_exit_is_success(x)))
        return eng_exit_is_success(x) ? VERDICT_SUCCEEDED : VERDICT_FAILED;
    return VERDICT_RESTART;
}

/** The end of one component, which speaks for the service, or of all. */
static void fill_end(const struct eng_service *s, bool has_failed, const char *what, struct eng_end *out)
{
    const struct eng_instance *inst = has_failed ? failure_final(s) : NULL;
    *out = (struct eng_end){.state = has_failed ? SVC_FAILED : SVC_SUCCEEDED,
                            .exit = inst && inst->last_exit ? *inst->last_exit
                                                            : eng_exit_of(CAUSE_EXITED, has_failed, NULL),
                            .trigger = inst,
                            .text = has_failed ? failure_end_text(s, what) : mem_str(what)};
}

/** When all components have ended, or one that speaks for the service. */
static bool decide_end(const struct eng_service *s, const struct eng_instance *inst, struct eng_end *end)
{
    bool has_finished = s->n_components > 0, has_failed = false;
    for (size_t i = 0; i < s->n_components && !inst; i++) {
        const struct eng_component *c = s->components[i];
        bool is_done = c->state == COMP_SUCCEEDED || c->state == COMP_FAILED;
        has_failed = has_failed || component_count(c, STATE_BIT(INST_FAILED)) > 0;
        if (is_done && spec_prop_bool(c->spec, PROP_REPORT_STATE)) {
            fill_end(s, c->state == COMP_FAILED, "its component has ended", end);
            return true;
        }
        has_finished = has_finished && is_done;
    }
    if (inst || !has_finished)
        return false;
    fill_end(s, has_failed, "all components have ended", end);
    return true;
}

/* ---- order and change ---- */

static void start_order(const struct eng_service *s, size_t *order)
{
    BUG_IF(spec_order(s->spec, order, NULL) != 0);
}

static enum eng_change change(const struct eng_service *s, const struct spec_service *to)
{
    bool is_same = s->spec->version && to->version && strcmp(s->spec->version, to->version) == 0;
    return is_same ? CHANGE_IN_PLACE : CHANGE_UPGRADE;
}

const struct eng_policy policy_service = {
    .registry_class = "yarn-service",
    .folder = "services",
    .starts_again = true,
    .restart = restart,
    .failure_limit = failure_limit,
    .decide_exit = decide_exit,
    .is_node_failure = is_counted,
    .decide_end = decide_end,
    .decide_retry = policy_no_retry,
    .pick_surplus = policy_pick_highest,
    .start_order = start_order,
    .change = change,
};

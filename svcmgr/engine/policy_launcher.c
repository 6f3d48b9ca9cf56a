/**
 * Policy of frameworks of the FrameworkLauncher API: see policy.h. The rules of a task role decide whether a task is tried again;
 * what has become final decides by the completion policy of its role whether the application ends; the rule of the framework
 * whether it is tried again. Source: framework-launcher 8, 9.4, 10, 16.
 */
#include <string.h>

#include "base/mem.h"
#include "base/obj.h"
#include "engine/policy.h"
#include "engine/component.h"
#include "engine/documents.h"
#include "engine/step.h"

#define CONFLICTS_TO_FULL 6 /* so many conflicts later the pause may be the longest */

static enum spec_restart restart(const struct eng_component *c)
{
    (void)c;
    return RESTART_NEVER; /* once every task is final the role has ended; whether one is tried again is decide_exit's */
}

/** The completion policy says when failures end an application. */
static int64_t failure_limit(const struct eng_component *c)
{
    (void)c;
    return -1;
}

/* ---- a task ---- */

static const struct eng_component_rules *rules_of(const struct eng_component *c)
{
    return eng_rules_of(c->service->rules, c->name);
}

static enum eng_verdict decide_exit(struct step *st, struct eng_instance *inst, const struct eng_exit *x,
                                    bool kept, struct eng_end *end)
{
    struct eng_retries tried = inst->retries ? *inst->retries : (struct eng_retries){0};
    (void)kept;
    if (x->cause == CAUSE_SOURCE) { /* of no task more than of another */
        *end = (struct eng_end){.state = SVC_FAILED, .exit = *x};
        return VERDICT_END;
    }
    if (!eng_retry_decide(&rules_of(inst->component)->retry, &tried, engine_exit_type(st->e, x)))
        return eng_exit_is_success(x) ? VERDICT_SUCCEEDED : VERDICT_FAILED;
    if (!inst->retries)
        inst->retries = fld_new(&eng_retries_type);
    *inst->retries = tried;
    return VERDICT_RESTART;
}

/* ---- the application ---- */

/** The task that has just become final ends the application with its own exit. */
static bool ends_with(const struct eng_instance *inst, struct eng_end *end)
{
    const struct eng_component *c = inst->component;
    const struct eng_component_rules *rules = rules_of(c);
    bool has_failed = inst->state == INST_FAILED;
    int64_t n = component_count(c, STATE_BIT(inst->state));
    int64_t least = has_failed ? rules->min_failed : rules->min_succeeded;
    const char *what = has_failed ? "Failed" : "Succeeded";
    if (least <= 0 || n < least)
        return false;
    *end = (struct eng_end){
        .state = has_failed ? SVC_FAILED : SVC_SUCCEEDED, .exit = *inst->last_exit, .trigger = inst};
    end->text = mem_fmt("%sTaskCount %lld has reached Min%sTaskCount %lld in TaskRole [%s]", what,
                        (long long)n, what, (long long)least, eng_component_title(c));
    return true;
}

/** Every task of every role is final: that is a success, whichever of them have failed. */
static bool all_ended(const struct eng_service *s, struct eng_end *end)
{
    int64_t n = 0, n_failed = 0;
    for (size_t i = 0; i < s->n_components; i++) {
        const struct eng_component *c = s->components[i];
        int64_t wanted = c->spec->number_of_containers, n_final = component_count(c, STATES_FINAL);
        if (n_final < wanted || component_n_kept(c) != wanted)
            return false; /* of those that are too many some may be final */
        n += wanted;
        n_failed += component_count(c, STATE_BIT(INST_FAILED));
    }
    if (n == 0)
        return false; /* without tasks it waits for some */
    *end = (struct eng_end){.state = SVC_SUCCEEDED, .exit = eng_exit_of(CAUSE_EXITED, 0, NULL)};
    end->text = mem_fmt("All Tasks completed and no ApplicationCompletionPolicy has ever been triggered: "
                        "TotalTaskCount: %lld, FailedTaskCount: %lld",
                        (long long)n, (long long)n_failed);
    return true;
}

/** Frameworks avoid no node. */
static bool is_node_failure(const struct eng_exit *x)
{
    (void)x;
    return false;
}

static bool decide_end(const struct eng_service *s, const struct eng_instance *inst, struct eng_end *end)
{
    return inst ? ends_with(inst, end) : all_ended(s, end);
}

/** The pause grows with the conflicts so far: least, and by chance up to a share of the longest. */
static int64_t conflict_pause_ms(const struct eng_rules *rules, int64_t n_before, uint64_t random)
{
    int64_t n = n_before < CONFLICTS_TO_FULL ? n_before : CONFLICTS_TO_FULL;
    int64_t room_ms = (rules->conflict_max_ms - rules->conflict_min_ms) * n / CONFLICTS_TO_FULL;
    return rules->conflict_min_ms + (room_ms > 0 ? (int64_t)(random % (uint64_t)(room_ms + 1)) : 0);
}

static int64_t decide_retry(struct step *st, struct eng_service *s, const struct eng_exit *x)
{
    enum eng_exit_type type = engine_exit_type(st->e, x);
    if (!s->rules)
        return -1;
    if (!s->retries)
        s->retries = fld_new(&eng_retries_type);
    int64_t n_before = s->retries->n_conflict;
    if (!eng_retry_decide(&s->rules->retry, s->retries, type))
        return -1;
    bool waits = s->rules->retry.is_fancy && type == TYPE_TRANSIENT_CONFLICT;
    return waits ? conflict_pause_ms(s->rules, n_before, st->random) : 0;
}

static enum eng_change change(const struct eng_service *s, const struct spec_service *to)
{
    const char *version = eng_service_wanted(s)->version;
    bool is_same = version && to->version && strcmp(version, to->version) == 0;
    return is_same ? CHANGE_IN_PLACE : CHANGE_RESTART;
}

const struct eng_policy policy_launcher = {
    .registry_class = "framework-launcher",
    .folder = "frameworks",
    .keeps_instances = true,
    .judges_moves = true,
    .has_task_quota = true,
    .is_put = true,
    .keeps_request = true,
    .max_instances = 50000,
    .restart = restart,
    .failure_limit = failure_limit,
    .decide_exit = decide_exit,
    .is_node_failure = is_node_failure,
    .decide_end = decide_end,
    .decide_retry = decide_retry,
    .pick_surplus = policy_pick_highest,
    .start_order = policy_order_by_priority,
    .change = change,
};

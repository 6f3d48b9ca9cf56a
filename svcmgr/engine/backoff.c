/**
 * What comes between two incarnations of a service.
 *
 *     FINISHING ──it ended by itself, and its policy tries again──────────> BACKOFF ──when it is due──> ACCEPTED
 *     FINISHING, ended or BACKOFF ──another definition waits: s->next──> BACKOFF, due at once ──> ACCEPTED, or STOPPED
 *     SUBMITTING ──its application ended before anything of it ran──> BACKOFF, due at once ──> ACCEPTED: nobody's failure
 *
 * A service that ends again and again soon after its start waits longer each time, as an instance does.
 *
 * What is kept of the incarnation before goes in BACKOFF, some instances in each step; only then the next definition is taken.
 */
#include <stdlib.h>

#include "base/backoff.h"
#include "engine/away.h"
#include "engine/policy.h"
#include "engine/documents.h"
#include "engine/service.h"
#include "engine/step.h"

static void be_due(struct step *st, struct eng_service *s, int64_t pause_ms)
{
    s->backoff_due_ms = st->now_ms + pause_ms;
    wait_set(&s->wait, &(struct eng_waiting){.why = WAIT_BACKOFF, .n = pause_ms});
    service_set_state(st, s, SVC_BACKOFF);
}

/** The least pause before the next incarnation: none after one that was up for long. */
static int64_t least_pause_ms(const struct step *st, struct eng_service *s)
{
    bool was_long = s->begun_ms > 0 && st->now_ms - s->begun_ms >= BACKOFF_RESET_MS;
    s->retry_pause_ms =
        was_long ? 0 : backoff_next(s->retry_pause_ms, BACKOFF_FIRST_MS, st->e->cfg.retry_interval_ms);
    return s->retry_pause_ms;
}

bool backoff_begin(struct step *st, struct eng_service *s)
{
    bool by_itself = s->exit && (s->end_state == SVC_SUCCEEDED || s->end_state == SVC_FAILED);
    if (s->destroying || !(by_itself || s->next_spec))
        return false;
    if (s->is_wanted_stopped && !s->next_spec) { /* its master had begun to end it when that was asked for */
        service_stop_for_good(st, s);
        return false;
    }
    int64_t pause_ms = s->next_spec ? 0 : policy_of(s->kind)->decide_retry(st, s, s->exit);
    if (pause_ms < 0)
        return false;
    int64_t least_ms = s->next_spec ? 0 : least_pause_ms(st, s);
    be_due(st, s, pause_ms > least_ms ? pause_ms : least_ms);
    return true;
}

void backoff_again(struct step *st, struct eng_service *s, const char *why)
{
    free(s->diagnostics);
    s->diagnostics =
        mem_fmt("its application master could not be fetched while svcmgr was away: %s", why ? why : "");
    service_report_ended(st, s, s->app_id);
    be_due(st, s, 0);
}

/** Nothing is left that the definition of before is needed for. */
static void take_next(struct step *st, struct eng_service *s)
{
    components_free(s);
    spec_free(s->spec);
    service_take_rules(st->e, s, s->next_rules);
    fld_free(&eng_retries_type, s->retries);
    s->spec = s->next_spec;
    s->retries = NULL;
    framework_forget_migrations(st, s);
    s->next_spec = NULL;
    s->next_rules = NULL;
    step_want(st, s);
    step_touch(st, s);
}

void backoff_settle(struct step *st, struct eng_service *s)
{
    bool is_next = s->next_spec != NULL, is_stopped = is_next && s->is_next_stopped;
    if (s->backoff_due_ms > st->now_ms || !service_clear_instances(st, s))
        return;
    s->backoff_due_ms = 0;
    wait_clear(&s->wait);
    if (is_next)
        take_next(st, s);
    if (is_next && parents_stop(st->e, s)) {
        framework_want_stopped(st, s, true);
        is_stopped = true;
    }
    if (is_stopped)
        framework_end_unlaunched(st, s);
    else
        service_launch(st, s);
}

void backoff_renew(struct step *st, struct eng_service *s, const struct eng_event *ev)
{
    spec_free(s->next_spec);
    eng_rules_free(s->next_rules);
    s->next_spec = ev->take_spec;
    s->next_rules = ev->take_rules;
    s->is_next_stopped = s->has_progress =
        false; /* what was asked of the one before is not asked of this one */
    framework_forget_migrations(st, s);
    step_want(st, s);
    if (engine_is_away(st->e, s) || service_is_running(s))
        service_finish(st, s, SVC_STOPPED, "another version was defined");
    else if (s->state != SVC_FINISHING)
        be_due(st, s, 0);
}

bool backoff_stop(struct step *st, struct eng_service *s)
{
    if (!s->next_spec || s->is_next_stopped)
        return false;
    s->is_next_stopped = true;
    step_want(st, s);
    return true;
}

/**
 * The application of an incarnation in a cluster that takes applications (engine_config.submits).
 *
 *     ACCEPTED ──EFF_SUBMIT──> SUBMITTING ──EV_SUBMITTED──> STARTED … FINISHING ──EFF_FINISH──> EV_APP_ENDED ──> the end
 *                                  └──EV_SUBMITTED with an error──────────^
 *                   any of these but the end ──EV_APP_ENDED──> FINISHING
 *                   SUBMITTING ──EV_APP_ENDED: it could not be served to a node──> BACKOFF ──> ACCEPTED, another application
 *
 * An application that was submitted may be there until EV_APP_ENDED: only then the service has ended. Answers may be lost or come
 * twice: EFF_SUBMIT is repeated after a restart, EFF_FINISH also in time; those of an earlier incarnation are ignored.
 */
#include <stdlib.h>

#include "engine/away.h"
#include "engine/policy.h"
#include "engine/documents.h"
#include "engine/service.h"
#include "engine/step.h"

/* In a manager EV_SUBMITTED hands the service over to its application master, which begins it: away.c. */

#define LIFETIME_SLACK_MS 2000

static struct eng_application *emit(struct step *st, enum eng_effect_kind kind, const struct eng_service *s)
{
    struct eng_application *a = mem_new(struct eng_application);
    a->id = mem_str(s->app_id);
    a->incarnation = s->incarnation;
    step_emit(st, kind, s)->application = a;
    return a;
}

void application_free(struct eng_application *a)
{
    if (!a)
        return;
    free(a->id);
    free(a->queue);
    free(a->diagnostics);
    free(a);
}

/* ---- submission ---- */

bool application_submit(struct step *st, struct eng_service *s)
{
    if (!st->e->cfg.submits)
        return false;
    struct eng_application *a = emit(st, EFF_SUBMIT, s);
    a->queue = mem_str(s->spec->queue ? s->spec->queue : st->e->cfg.queue);
    bool is_counted = st->e->cfg.role != ROLE_MANAGER || !service_dialect(st->e, s)->lifetime_from_started;
    a->lifetime_s = s->spec->lifetime > 0 && is_counted ? s->spec->lifetime : 0;
    s->has_application = true;
    wait_set(&s->wait, &(struct eng_waiting){.why = WAIT_SUBMISSION});
    service_set_state(st, s, SVC_SUBMITTING);
    step_touch(st, s);
    return true;
}

void application_set_lifetime(struct step *st, const struct eng_service *s, int64_t lifetime_s)
{
    if (s->has_application)
        emit(st, EFF_SET_LIFETIME, s)->lifetime_s = lifetime_s;
}

static void refused(struct step *st, struct eng_service *s, const struct eng_event *ev)
{
    struct eng_end end = {.state = SVC_FAILED,
                          .exit = eng_exit_of(CAUSE_SUBMISSION_FAILED, ev->code, ev->text)};
    s->has_application = false;
    step_touch(st, s);
    if (s->state != SVC_SUBMITTING)
        return; /* it is ending already */
    mem_auto char *why = eng_exit_text(&end.exit);
    end.text = mem_fmt("the application could not be submitted: %s", why);
    service_end(st, s, &end);
}

/** From when this is written on its application master may take it, and nothing of what it is may be written here. */
static void hand_over(struct step *st, struct eng_service *s)
{
    s->is_handed_over = s->is_handing_over = true;
    s->kill_ms = 0;
    wait_set(&s->wait, &(struct eng_waiting){.why = WAIT_MASTER});
    step_touch(st, s);
}

static void submitted(struct step *st, struct eng_service *s, const struct eng_event *ev)
{
    if (ev->code) {
        refused(st, s, ev);
        return;
    }
    if (s->state != SVC_SUBMITTING)
        return; /* again after a restart, or it is ending: EFF_FINISH ends that one, too */
    if (ev->application_id) {
        services_set_application(st->e, s, mem_str(ev->application_id));
        if (st->e->cfg.role != ROLE_MANAGER)
            service_publish(st, s);
    }
    s->launched_ms = st->wall_ms;
    if (st->e->cfg.role == ROLE_MANAGER)
        hand_over(st, s);
    else
        service_begin(st, s);
}

/* ---- its end ---- */

static void drop_runs(struct step *st, struct eng_service *s)
{
    if (!s->has_runs)
        return;
    mem_auto char *key = runs_document_key(s);
    step_forget_document(st, key, s);
    s->has_runs = false;
}

/** Its lifetime is over, or so nearly that the cluster's clock and ours may differ by it. */
static bool is_over_time(const struct step *st, const struct eng_service *s)
{
    return s->lifetime_end_ms > 0 && st->now_ms >= s->lifetime_end_ms - LIFETIME_SLACK_MS;
}

/** Somebody has ended it who was not asked to by us: where a stop is an exit, that is another one. */
static bool is_killed(const struct eng_service *s, const struct eng_exit *x)
{
    return policy_of(s->kind)->is_put && x->cause == CAUSE_STOPPED && !s->is_wanted_stopped &&
           !s->next_spec && !s->destroying;
}

/** Somebody ended it, not it itself. */
static void end_stopped(struct step *st, struct eng_service *s, const struct eng_event *ev)
{
    bool is_over = is_over_time(st, s);
    if (is_over && service_dialect(st->e, s)->lifetime_destroys) {
        s->destroying = true;
        step_want(st, s);
    }
    service_finish(st, s, SVC_STOPPED, is_over ? "lifetime is over" : ev->exit.text);
}

/** Nothing of it has run, by no fault of its own, and nobody wants it to end. */
static bool begins_again(const struct step *st, const struct eng_service *s, const struct eng_event *ev)
{
    bool is_to_end = s->kill_ms > 0 || s->destroying || s->is_wanted_stopped || s->next_spec;
    return ev->was_unserved && s->state == SVC_SUBMITTING && !is_to_end && !is_over_time(st, s);
}

static void ended(struct step *st, struct eng_service *s, const struct eng_event *ev)
{
    bool is_expected = s->state == SVC_FINISHING, is_again = begins_again(st, s, ev);
    s->has_application = s->is_handed_over = false;
    s->kill_ms = 0;
    s->force_ms = st->now_ms; /* what its master was stopping ends with it */
    drop_runs(st, s);
    step_touch(st, s);
    if (is_expected || !eng_service_is_live(s) || s->state == SVC_BACKOFF)
        return;
    if (is_again) {
        backoff_again(st, s, ev->exit.text);
        return;
    }
    if ((ev->exit.cause == CAUSE_STOPPED && !is_killed(s, &ev->exit)) || is_over_time(st, s)) {
        end_stopped(st, s, ev);
        return;
    }
    struct eng_end end = {.state = eng_exit_is_success(&ev->exit) ? SVC_SUCCEEDED : SVC_FAILED,
                          .exit = ev->exit};
    if (is_killed(s, &ev->exit))
        end.exit.cause = CAUSE_APPLICATION_ENDED;
    mem_auto char *why = eng_exit_text(&ev->exit);
    end.text = mem_fmt("the application has ended in the cluster: %s", why);
    service_end(st, s, &end);
}

void application_kill(struct step *st, const struct eng_service *s, const char *why)
{
    struct eng_application *a = emit(st, EFF_FINISH, s);
    a->end_state = SVC_STOPPED;
    a->diagnostics = mem_str(why);
}

bool application_finish(struct step *st, struct eng_service *s)
{
    if (!s->has_application)
        return true;
    if (s->is_finish_sent && s->force_ms > st->now_ms)
        return false;
    struct eng_application *a = emit(st, EFF_FINISH, s);
    a->end_state = s->end_state;
    a->diagnostics = mem_str(s->diagnostics);
    s->is_finish_sent = true;
    s->force_ms = st->now_ms + FORCE_AFTER_MS; /* again, until it has ended */
    return false;
}

void application_event(struct step *st, const struct eng_event *ev)
{
    mem_auto char *key = service_key(ev->service_kind, ev->user, ev->name);
    struct eng_service *s = map_get(&st->e->services, key);
    if (!s || ev->incarnation != s->incarnation) {
        step_note(st, s, "%s of service %s is of an earlier incarnation: ignored", eng_event_word(ev->kind),
                  ev->name);
        return;
    }
    step_affect(st, s);
    if (ev->kind == EV_APP_WAITS)
        away_waits(st, ev, s);
    else if (ev->kind == EV_SUBMITTED)
        submitted(st, s, ev);
    else
        ended(st, s, ev);
}

void application_resume(struct step *st, struct eng_service *s)
{
    if (s->state != SVC_SUBMITTING)
        return;
    if (st->e->cfg.role == ROLE_MASTER)
        service_begin(st, s);
    else
        application_submit(st, s);
}

void application_resync(struct step *st, struct eng_service *s)
{
    s->is_finish_sent = false;
    application_resume(st, s);
}

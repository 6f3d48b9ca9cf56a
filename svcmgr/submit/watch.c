/* An application that is followed: its report, and at the end its attempts, again and again. */
#include "submit/manager_priv.h"

#include "base/backoff.h"

struct watch {
    struct submit_op op; /* first */
    struct submit_report report;
    bool has_report, was_missed, asks_attempts;
    int64_t interval_ms; /* the last one */
    void (*changed)(void *arg, const struct submit_report *report);
};

enum { MISSED_AGAIN_MS = 1000, EACH_MS = 10 };

static struct watch *watch_of(struct submit_op *op)
{
    return container_of(op, struct watch, op);
}

/* With many of them each is asked less often: at most 100 calls a second. */
static int64_t slowest_ms(const struct submit *s)
{
    int64_t all_ms = (int64_t)s->n_watched * EACH_MS;
    return s->config.report_ms > all_ms ? s->config.report_ms : all_ms;
}

static void wait_on(struct watch *w, bool has_changed)
{
    int64_t slowest = slowest_ms(w->op.owner);
    bool is_quick = w->report.state != SUBMIT_RUNNING;
    if (!is_quick)
        w->interval_ms = slowest;
    else if (has_changed)
        w->interval_ms = OP_QUICK_MS;
    else
        w->interval_ms = backoff_next(w->interval_ms, OP_QUICK_MS, slowest);
    op_wait(&w->op, w->interval_ms);
}

/* The callback may cancel it, so nothing is done after it; what has ended is asked no more. */
static void take(struct watch *w, struct submit_report *take_report)
{
    bool has_changed = !w->has_report || !submit_report_equal(&w->report, take_report);
    submit_report_fini(&w->report);
    w->report = *take_report;
    w->has_report = true;
    if (!w->report.has_ended)
        wait_on(w, has_changed);
    if (has_changed)
        w->changed(w->op.arg, &w->report);
}

static void ask_attempts(struct submit_op *op)
{
    struct err_info why = {0};
    struct yarn_id_message id;
    struct yarn_link *l = op_link(op);
    Yarn__OneApplication m = YARN__ONE_APPLICATION__INIT;
    if (!l)
        return;
    yarn_app_id_point(&op->id, &id);
    m.application_id = &id.app;
    op_started(op, yarn_client_attempts(l, &m, op_call(op), &why), &why);
}

static void step(struct submit_op *op)
{
    if (watch_of(op)->asks_attempts)
        ask_attempts(op);
    else
        op_report(op);
}

static void copy(const struct submit_report *from, struct submit_report *out)
{
    *out = *from;
    out->queue = mem_str(from->queue);
    out->diagnostics = mem_str(from->diagnostics);
    out->tracking_url = mem_str(from->tracking_url);
    out->own_url = mem_str(from->own_url);
}

static void read_attempts(struct watch *w, const struct yarn_answer *a)
{
    struct submit_report r;
    w->asks_attempts = false;
    copy(&w->report, &r);
    r.has_ended = submit_attempts_ended(yarn_client_attempts_answer(a));
    take(w, &r);
}

static void read_report(struct watch *w, const struct yarn_answer *a)
{
    const Yarn__ApplicationReportAnswer *m = yarn_client_application_answer(a);
    struct submit_report r = {.attempt = 0};
    struct err_info why;
    w->was_missed = false;
    if (submit_report_read(m->report, &r) != 0) {
        err_set(&why, ERR_PARSE, a->server, "the resource manager's report has no id or no state");
        op_retry(&w->op, &why);
        return;
    }
    if (r.state == SUBMIT_FINISHED && w->has_report && submit_report_equal(&w->report, &r)) {
        submit_report_fini(&r);
        w->asks_attempts = true;
        ask_attempts(&w->op);
        return;
    }
    take(w, &r);
}

static void read_failure(struct watch *w, const struct yarn_failure *failure)
{
    struct submit_report r = {.id = w->op.id, .state = SUBMIT_UNKNOWN, .has_ended = true};
    if (failure->why.code != ERR_NOTFOUND && failure->why.code != ERR_GONE) {
        op_retry(&w->op, &failure->why);
    } else if (!w->was_missed) {
        w->was_missed = true;
        w->asks_attempts = false;
        op_wait(&w->op, MISSED_AGAIN_MS);
    } else {
        r.queue = mem_str("");
        r.diagnostics = mem_str("");
        r.tracking_url = mem_str("");
        r.own_url = mem_str("");
        take(w, &r);
    }
}

static void answer(struct submit_op *op, const struct yarn_answer *a)
{
    struct watch *w = watch_of(op);
    if (a->failure)
        read_failure(w, a->failure);
    else if (w->asks_attempts)
        read_attempts(w, a);
    else
        read_report(w, a);
}

static void release(struct submit_op *op)
{
    submit_report_fini(&watch_of(op)->report);
    op->owner->n_watched--;
}

struct submit_op *submit_watch(struct submit *s, const struct submit_target *target,
                               void (*changed)(void *arg, const struct submit_report *report), void *arg)
{
    static const struct op_kind kind = {step, answer, release};
    struct watch *w = mem_new(struct watch);
    BUG_IF(!target->id);
    op_init(&w->op, s, &kind, target);
    w->op.arg = arg;
    w->changed = changed;
    w->interval_ms = OP_QUICK_MS;
    s->n_watched++;
    return &w->op;
}

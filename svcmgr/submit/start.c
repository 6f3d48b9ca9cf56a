/* A submission: look for the tag, get an id, submit, and ask until the RM has it for good. */
#include "submit/manager_priv.h"

#include <string.h>

enum phase { PHASE_LOOK, PHASE_NEW, PHASE_SUBMIT, PHASE_CONFIRM };

struct start {
    struct submit_op op; /* first */
    enum phase phase;
    bool is_given_up, was_sent;
    struct arena *arena;
    Yarn__SubmissionContext *message;
};

static struct start *start_of(struct submit_op *op)
{
    return container_of(op, struct start, op);
}

static void cancelled(struct submit_op *op)
{
    const struct err_info why = {.code = ERR_CANCELLED};
    op_end(op, ERR_CANCELLED, &why);
}

static void ask_id(struct submit_op *op)
{
    struct err_info why = {0};
    struct yarn_link *l = op_link(op);
    const Yarn__Nothing nothing = YARN__NOTHING__INIT;
    if (l)
        op_started(op, yarn_client_new_application(l, &nothing, op_call(op), &why), &why);
}

static void send_message(struct submit_op *op)
{
    struct start *st = start_of(op);
    struct err_info why = {0};
    struct yarn_id_message id;
    struct yarn_link *l = op_link(op);
    Yarn__SubmitApplication m = YARN__SUBMIT_APPLICATION__INIT;
    if (!l)
        return;
    yarn_app_id_point(&op->id, &id);
    st->message->application_id = &id.app;
    m.context = st->message;
    st->was_sent = true;
    op_started(op, yarn_client_submit(l, &m, op_call(op), &why), &why);
}

static void step(struct submit_op *op)
{
    struct start *st = start_of(op);
    if (st->is_given_up && !st->was_sent) {
        cancelled(op);
        return;
    }
    switch (st->phase) {
    case PHASE_LOOK: op_look(op); break;
    case PHASE_NEW: ask_id(op); break;
    case PHASE_SUBMIT: send_message(op); break;
    case PHASE_CONFIRM: op_report(op); break;
    }
}

static void next(struct submit_op *op, enum phase phase)
{
    start_of(op)->phase = phase;
    step(op);
}

static void read_found(struct submit_op *op, const struct yarn_answer *a)
{
    const Yarn__ApplicationReport *found = op_found(yarn_client_applications_answer(a));
    if (!found) {
        next(op, PHASE_NEW);
        return;
    }
    op->has_id = yarn_app_id_read(found->application_id, &op->id) == 0;
    op_end(op, 0, NULL);
}

static void read_id(struct submit_op *op, const struct yarn_answer *a)
{
    const Yarn__NewApplication *m = yarn_client_new_application_answer(a);
    struct err_info why;
    if (yarn_app_id_read(m->application_id, &op->id) == 0) {
        next(op, PHASE_SUBMIT);
        return;
    }
    err_set(&why, ERR_PARSE, a->server, "the resource manager gives no id");
    op_retry(op, &why);
}

/* What the RM takes and ends before it has a master is refused: for its queue, say. */
static void read_report(struct submit_op *op, const struct yarn_answer *a)
{
    const Yarn__ApplicationReportAnswer *m = yarn_client_application_answer(a);
    struct submit_report r = {.attempt = 0};
    struct err_info why;
    if (submit_report_read(m->report, &r) != 0) {
        err_set(&why, ERR_PARSE, a->server, "the resource manager's report has no id or no state");
        op_retry(op, &why);
        return;
    }
    op->has_id = op->is_new = true;
    err_set(&why, ERR_INVALID, a->server, "%.400s", r.diagnostics);
    bool is_refused = r.state == SUBMIT_FAILED && r.attempt == 0, is_there = r.state != SUBMIT_NEW;
    submit_report_fini(&r);
    if (is_refused)
        op_end(op, ERR_INVALID, &why);
    else if (is_there)
        op_end(op, 0, NULL);
    else
        op_wait(op, OP_QUICK_MS);
}

static void fail(struct submit_op *op, const struct yarn_failure *failure)
{
    struct start *st = start_of(op);
    if (st->phase == PHASE_CONFIRM && failure->why.code == ERR_NOTFOUND)
        st->phase = PHASE_SUBMIT;
    if (st->phase == PHASE_SUBMIT && failure->is_not_done)
        st->was_sent = false;
    if (st->phase == PHASE_SUBMIT && submit_is_refusal(failure->why.code))
        op->has_id = false;
    op_fail(op, &failure->why);
}

static void answer(struct submit_op *op, const struct yarn_answer *a)
{
    if (a->failure) {
        fail(op, a->failure);
        return;
    }
    switch (start_of(op)->phase) {
    case PHASE_LOOK: read_found(op, a); break;
    case PHASE_NEW: read_id(op, a); break;
    case PHASE_SUBMIT: next(op, PHASE_CONFIRM); break;
    case PHASE_CONFIRM: read_report(op, a); break;
    }
}

static void release(struct submit_op *op)
{
    arena_free(start_of(op)->arena);
}

static const struct op_kind kind = {step, answer, release};

int submit_start(struct submit *s, const struct submit_def *def, submit_done *done, void *arg,
                 struct submit_op **out, struct err_info *why)
{
    const struct submit_target target = {def->user, def->tag, NULL};
    struct arena *a = arena_new(0);
    Yarn__SubmissionContext *message;
    int err = submit_message(a, def, &message, why);
    if (err) {
        arena_free(a);
        return err;
    }
    struct start *st = mem_new(struct start);
    st->arena = a;
    st->message = message;
    op_init(&st->op, s, &kind, &target);
    st->op.done = done;
    st->op.arg = arg;
    *out = &st->op;
    return 0;
}

struct submit_op *start_find(const struct submit *s, const char *user, const char *tag)
{
    struct submit_op *op;
    TAILQ_FOREACH (op, &s->ops, link)
        if (op->kind == &kind && strcmp(op->user, user) == 0 && strcmp(op->tag, tag) == 0)
            return op;
    return NULL;
}

void start_give_up(struct submit_op *op)
{
    start_of(op)->is_given_up = true;
}

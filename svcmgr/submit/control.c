/* Kill an application, set its lifetime, move it. */
#include "submit/manager_priv.h"

#include <stdlib.h>

struct control {
    struct submit_op op; /* first */
    char *text;          /* diagnostics, point of time, queue */
    bool was_missed;     /* the RM has not known it once */
};

enum { MISSED_AGAIN_MS = 1000 };

static struct control *control_of(struct submit_op *op)
{
    return container_of(op, struct control, op);
}

static void release(struct submit_op *op)
{
    free(control_of(op)->text);
}

static struct submit_op *begin(struct submit *s, const struct op_kind *kind,
                               const struct submit_target *target, const char *text)
{
    struct control *c = mem_new(struct control);
    op_init(&c->op, s, kind, target);
    c->text = mem_str(text);
    return &c->op;
}

/* ---- kill ---- */

static void send_kill(struct submit_op *op)
{
    struct err_info why = {0};
    struct yarn_id_message id;
    struct yarn_link *l = op_link(op);
    Yarn__KillApplication m = YARN__KILL_APPLICATION__INIT;
    if (!l)
        return;
    yarn_app_id_point(&op->id, &id);
    m.application_id = &id.app;
    m.diagnostics = control_of(op)->text;
    op_started(op, yarn_client_kill(l, &m, op_call(op), &why), &why);
}

/* A submission under way knows the id sooner than the RM knows its tag. */
static void step_kill(struct submit_op *op)
{
    struct submit_op *start = op->has_id ? NULL : start_find(op->owner, op->user, op->tag);
    if (start) {
        start_give_up(start);
        op_wait(op, OP_QUICK_MS);
    } else if (op->has_id) {
        send_kill(op);
    } else {
        op_look(op);
    }
}

static void read_found(struct submit_op *op, const struct yarn_answer *a)
{
    const Yarn__ApplicationReport *found = op_found(yarn_client_applications_answer(a));
    op->has_id = found && yarn_app_id_read(found->application_id, &op->id) == 0;
    if (op->has_id)
        send_kill(op);
    else
        op_end(op, 0, NULL);
}

static void read_failure(struct submit_op *op, const struct yarn_failure *failure)
{
    struct control *c = control_of(op);
    if (failure->why.code != ERR_NOTFOUND) {
        op_fail(op, &failure->why);
    } else if (c->was_missed) {
        op_end(op, 0, NULL);
    } else {
        c->was_missed = true;
        op_wait(op, MISSED_AGAIN_MS);
    }
}

static void answer_kill(struct submit_op *op, const struct yarn_answer *a)
{
    if (a->failure) {
        read_failure(op, a->failure);
        return;
    }
    if (!op->has_id) {
        read_found(op, a);
        return;
    }
    const Yarn__KillAnswer *m = yarn_client_kill_answer(a);
    if (m->has_is_completed && m->is_completed)
        op_end(op, 0, NULL);
    else
        op_wait(op, OP_QUICK_MS);
}

struct submit_op *submit_kill(struct submit *s, const struct submit_target *target, const char *diagnostics,
                              submit_done *done, void *arg)
{
    static const struct op_kind kind = {step_kill, answer_kill, release};
    struct submit_op *op = begin(s, &kind, target, diagnostics);
    op->done = done;
    op->arg = arg;
    return op;
}

/* ---- what one call does ---- */

static void answer_once(struct submit_op *op, const struct yarn_answer *a)
{
    if (!a->failure)
        op_end(op, 0, NULL);
    else if (a->failure->why.code == ERR_NOTFOUND)
        op_end(op, ERR_NOTFOUND, &a->failure->why);
    else
        op_fail(op, &a->failure->why);
}

static void step_lifetime(struct submit_op *op)
{
    struct err_info why = {0};
    struct yarn_id_message id;
    struct yarn_link *l = op_link(op);
    Yarn__UpdateTimeouts m = YARN__UPDATE_TIMEOUTS__INIT;
    Yarn__TimeoutUpdate update = YARN__TIMEOUT_UPDATE__INIT, *updates[] = {&update};
    if (!l)
        return;
    update.has_type = true;
    update.type = YARN__TIMEOUT_TYPE__TIMEOUT_LIFETIME;
    update.expire_time = control_of(op)->text;
    yarn_app_id_point(&op->id, &id);
    m.application_id = &id.app;
    m.timeouts = updates;
    m.n_timeouts = ARRAY_LEN(updates);
    op_started(op, yarn_client_update_timeouts(l, &m, op_call(op), &why), &why);
}

struct submit_op *submit_set_lifetime(struct submit *s, const struct submit_target *target,
                                      int64_t lifetime_s, submit_done *done, void *arg)
{
    static const struct op_kind kind = {step_lifetime, answer_once, release};
    static const char last[] = "9999-12-31T23:59:59.999+0000";
    char text[SUBMIT_TIME_ROOM];
    int64_t end_ms;
    bool is_late = __builtin_mul_overflow(lifetime_s, 1000, &end_ms) ||
                   __builtin_add_overflow(end_ms, run_wall_ms(), &end_ms) || submit_expiry(end_ms, text) != 0;
    struct submit_op *op = begin(s, &kind, target, is_late ? last : text);
    op->done = done;
    op->arg = arg;
    return op;
}

static void step_move(struct submit_op *op)
{
    struct err_info why = {0};
    struct yarn_id_message id;
    struct yarn_link *l = op_link(op);
    Yarn__MoveApplication m = YARN__MOVE_APPLICATION__INIT;
    if (!l)
        return;
    yarn_app_id_point(&op->id, &id);
    m.application_id = &id.app;
    m.target_queue = control_of(op)->text;
    op_started(op, yarn_client_move(l, &m, op_call(op), &why), &why);
}

struct submit_op *submit_move(struct submit *s, const struct submit_target *target, const char *queue,
                              submit_done *done, void *arg)
{
    static const struct op_kind kind = {step_move, answer_once, release};
    struct submit_op *op = begin(s, &kind, target, queue);
    op->done = done;
    op->arg = arg;
    return op;
}

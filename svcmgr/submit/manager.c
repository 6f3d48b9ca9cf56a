#include "submit/manager_priv.h"

#include <stdlib.h>
#include <string.h>

#include "base/backoff.h"

#define SUBMIT_MAGIC OBJ_MAGIC('S', 'U', 'B', 'M')

enum { ANSWER_MAX = 8 << 20, REQUEST_MAX = 1 << 20, QUEUE_MAX = 16 << 20 };

/* ---- links ---- */

static void on_reach(void *arg, const char *server, const struct err_info *why)
{
    struct submit *s = obj_cast(arg, struct submit, SUBMIT_MAGIC);
    if (s->config.reach && !s->is_closed)
        s->config.reach(s->config.reach_arg, server, why);
}

static void finish_closing(void *arg)
{
    struct submit *s = obj_cast(arg, struct submit, SUBMIT_MAGIC);
    void (*closed)(void *) = s->closed;
    void *closed_arg = s->closed_arg;
    run_timer_free(s->end);
    map_fini(&s->links, NULL);
    yarn_addresses_fini(&s->addresses);
    obj_fini(&s->obj);
    free(s);
    if (closed)
        closed(closed_arg);
}

static void on_link_closed(void *arg)
{
    struct submit *s = obj_cast(arg, struct submit, SUBMIT_MAGIC);
    s->n_closing--;
    if (s->is_closed && s->n_closing == 0)
        finish_closing(s);
}

/* It is out of the map. */
static void close_link(struct submit_link *l)
{
    l->owner->n_closing++;
    yarn_link_close(l->link, on_link_closed, l->owner);
    free(l->user);
    free(l);
}

/* @return whether there is room for one more. */
static bool make_room(struct submit *s)
{
    struct submit_link *oldest = NULL;
    if (s->links.n_items < s->config.max_links)
        return true;
    for (MAP_EACH (&s->links, slot)) {
        struct submit_link *l = slot->value;
        if (l->n_ops == 0 && (!oldest || l->used_ms < oldest->used_ms))
            oldest = l;
    }
    if (!oldest)
        return false;
    map_remove(&s->links, oldest->user);
    close_link(oldest);
    return true;
}

static struct submit_link *find_link(struct submit *s, const char *user, struct err_info *why)
{
    struct submit_link *l = map_get(&s->links, user);
    struct yarn_link *link = NULL;
    if (l)
        return l;
    struct yarn_link_config config = {
        YARN_LINK_DEFAULTS, .noun = "resource manager", .protocol = yarn_client_protocol,
        .user = user,       .reach = on_reach,          .reach_arg = s};
    config.answer_max = ANSWER_MAX;
    config.request_max = REQUEST_MAX;
    config.queue_max = QUEUE_MAX;
    config.call_timeout_ms = OP_CALL_TIMEOUT_MS;
    if (!make_room(s)) {
        err_set(why, ERR_LIMIT, NULL, "%zu users have calls at the resource manager", s->links.n_items);
        return NULL;
    }
    if (yarn_link_open(s->loop, &config, &s->addresses, &link, why) != 0)
        return NULL;
    l = mem_new(struct submit_link);
    *l = (struct submit_link){.owner = s, .user = mem_str(user), .link = link};
    map_set(&s->links, user, l);
    return l;
}

/* ---- operations ---- */

static void on_timer(void *arg)
{
    struct submit_op *op = obj_cast(arg, struct submit_op, OP_MAGIC);
    op->kind->step(op);
}

void op_init(struct submit_op *op, struct submit *s, const struct op_kind *kind,
             const struct submit_target *target)
{
    obj_init(&op->obj, OP_MAGIC);
    op->kind = kind;
    op->owner = s;
    op->user = mem_str(target->user);
    op->tag = target->id ? NULL : mem_str(target->tag);
    op->has_id = target->id != NULL;
    if (target->id)
        op->id = *target->id;
    op->timer = run_timer_new(s->loop, on_timer, op);
    TAILQ_INSERT_TAIL(&s->ops, op, link);
    run_timer_start(op->timer, 0, 0);
}

struct yarn_link *op_link(struct submit_op *op)
{
    struct err_info why = {0};
    op->at = find_link(op->owner, op->user, &why);
    if (!op->at)
        op_retry(op, &why);
    return op->at ? op->at->link : NULL;
}

static void leave_link(struct submit_op *op)
{
    op->is_calling = false;
    op->at->n_ops--;
    op->at->used_ms = run_now_ms();
    op->at = NULL;
}

static void on_answer(void *arg, const struct yarn_answer *a)
{
    struct submit_op *op = obj_cast(arg, struct submit_op, OP_MAGIC);
    leave_link(op);
    if (!a->failure) {
        op->why = (struct err_info){0};
        op->pause_ms = 0;
    }
    op->kind->answer(op, a);
}

struct yarn_call *op_call(struct submit_op *op)
{
    op->call = (struct yarn_call){.done = on_answer, .arg = op};
    return &op->call;
}

void op_started(struct submit_op *op, int err, const struct err_info *why)
{
    op->is_calling = true;
    op->at->n_ops++;
    if (err == 0)
        return;
    leave_link(op);
    op_fail(op, why);
}

void op_wait(struct submit_op *op, int64_t ms)
{
    run_timer_start(op->timer, (uint64_t)ms, 0);
}

void op_retry(struct submit_op *op, const struct err_info *why)
{
    op->why = *why;
    op->pause_ms = backoff_next(op->pause_ms, OP_QUICK_MS, OP_PAUSE_MAX_MS);
    op_wait(op, op->pause_ms);
}

void op_fail(struct submit_op *op, const struct err_info *why)
{
    if (op->done && submit_is_refusal(why->code))
        op_end(op, why->code, why);
    else
        op_retry(op, why);
}

void submit_cancel(struct submit_op *op)
{
    if (op->is_calling) {
        yarn_call_cancel(&op->call);
        leave_link(op);
    }
    TAILQ_REMOVE(&op->owner->ops, op, link);
    run_timer_free(op->timer);
    free(op->user);
    free(op->tag);
    op->kind->release(op);
    obj_fini(&op->obj);
    free(op);
}

void op_end(struct submit_op *op, int err, const struct err_info *why)
{
    const struct err_info own = why ? *why : (struct err_info){0};
    const struct yarn_app_id id = op->id;
    const struct submit_result result = {err, &own, op->has_id ? &id : NULL, op->is_new};
    submit_done *done = op->done;
    void *arg = op->arg;
    submit_cancel(op);
    if (done)
        done(arg, &result);
}

const char *submit_waits_for(const struct submit_op *op)
{
    return op->why.text;
}

void op_look(struct submit_op *op)
{
    struct err_info why = {0};
    struct yarn_link *l = op_link(op);
    Yarn__ApplicationsFilter m = YARN__APPLICATIONS_FILTER__INIT;
    if (!l)
        return;
    m.tags = &op->tag;
    m.users = &op->user;
    m.n_tags = m.n_users = 1;
    op_started(op, yarn_client_applications(l, &m, op_call(op), &why), &why);
}

const Yarn__ApplicationReport *op_found(const Yarn__Applications *m)
{
    const Yarn__ApplicationReport *best = NULL;
    struct submit_report r = {.attempt = 0}, of_best = {.attempt = 0};
    for (size_t i = 0; i < m->n_reports; i++) {
        if (submit_report_read(m->reports[i], &r) != 0)
            continue;
        bool lives = r.state < SUBMIT_FINISHED, best_lives = best && of_best.state < SUBMIT_FINISHED;
        if (best && (lives != best_lives ? best_lives : r.id.id < of_best.id.id))
            continue;
        best = m->reports[i];
        submit_report_fini(&of_best);
        of_best = r;
        r = (struct submit_report){.attempt = 0};
    }
    submit_report_fini(&r);
    submit_report_fini(&of_best);
    return best;
}

void op_report(struct submit_op *op)
{
    struct err_info why = {0};
    struct yarn_id_message id;
    struct yarn_link *l = op_link(op);
    Yarn__OneApplication m = YARN__ONE_APPLICATION__INIT;
    if (!l)
        return;
    yarn_app_id_point(&op->id, &id);
    m.application_id = &id.app;
    op_started(op, yarn_client_application(l, &m, op_call(op), &why), &why);
}

/* ---- life ---- */

int submit_open(struct run_loop *loop, const struct submit_config *config, struct submit **out,
                struct err_info *why)
{
    if (config->addresses->n_items == 0)
        return err_set(why, ERR_INVALID, NULL, "no resource manager is named");
    struct submit *s = mem_new(struct submit);
    obj_init(&s->obj, SUBMIT_MAGIC);
    s->loop = loop;
    s->config = *config;
    s->config.addresses = NULL;
    for (size_t i = 0; i < config->addresses->n_items; i++)
        yarn_addresses_add(&s->addresses, config->addresses->items[i].host, config->addresses->items[i].port);
    s->links = MAP_EMPTY;
    TAILQ_INIT(&s->ops);
    *out = s;
    return 0;
}

void submit_close(struct submit *s, void (*closed)(void *arg), void *arg)
{
    struct submit_op *op;
    const struct err_info why = {.code = ERR_CANCELLED};
    size_t at = 0;
    struct submit_link *l;
    s->closed = closed;
    s->closed_arg = arg;
    while ((op = TAILQ_FIRST(&s->ops)))
        op_end(op, ERR_CANCELLED, &why);
    s->is_closed = true;
    while ((l = map_take(&s->links, &at)))
        close_link(l);
    if (s->n_closing)
        return;
    s->end = run_timer_new(s->loop, finish_closing, s);
    run_timer_start(s->end, 0, 0);
}

#include "follow/writer.h"
#include "base/mem.h"
#include "base/obj.h"
#include "run/task.h"

#include <stdlib.h>
#include <sys/queue.h>

#define WRITER_MAGIC OBJ_MAGIC('W', 'R', 'T', 'R')

/** Steps of a change that are made at once: some 20 us, so that the time is not looked at after each. */
#define STEPS_AT_ONCE 8
/** Edits that are applied on the loop; more go to the pool. */
#define FEW_EDITS 256

struct turn {
    STAILQ_ENTRY(turn) link;
    struct writer_change change;
};

/*
 *   IDLE ──► WORKING ◄──► APPLYING        a turn is had in WORKING and APPLYING
 */
enum writer_state { WRITER_IDLE, WRITER_WORKING, WRITER_APPLYING };

struct writer {
    struct obj obj;
    struct run_loop *loop;
    struct zoneset *zones;
    struct run_task *task;
    STAILQ_HEAD(turn_list, turn) queue; /* first: what has the turn, unless IDLE */
    enum writer_state state;
    struct zone_tx *tx;
    bool is_cancelled; /* the turn's change, which is on the pool's thread */
    bool is_through;   /* its last step is made, what is left is to apply and publish */
    bool is_busy;      /* turns are taken further up the stack */
    uv_work_t work;
    uint64_t loop_turn; /* of the loop, in which the last step was made */
    uint64_t n_slices;
    void (*stopped)(void *arg);
    void *stopped_arg;
};

static bool on_step(void *arg);

struct writer *writer_new(struct run_loop *loop, struct zoneset *zones)
{
    struct writer *w = mem_new(struct writer);
    obj_init(&w->obj, WRITER_MAGIC);
    w->loop = loop;
    w->zones = zones;
    w->task = run_task_new(loop, on_step, w);
    STAILQ_INIT(&w->queue);
    return w;
}

/* The turn is over. */
static void end_turn(struct writer *w)
{
    struct turn *t = STAILQ_FIRST(&w->queue);
    STAILQ_REMOVE_HEAD(&w->queue, link);
    free(t);
    w->state = WRITER_IDLE;
    w->tx = NULL;
}

static void publish(struct writer *w, const struct writer_change *change)
{
    zone_tx_commit(w->tx, change->flags(change->arg), NULL);
    end_turn(w);
}

/* ---- the pool's part ---- */

static void run_apply(uv_work_t *work)
{
    zone_tx_apply(obj_cast(work->data, struct writer, WRITER_MAGIC)->tx);
}

static void writer_free(struct writer *w)
{
    void (*stopped)(void *arg) = w->stopped;
    void *arg = w->stopped_arg;
    run_task_free(w->task);
    obj_fini(&w->obj);
    free(w);
    stopped(arg);
}

static void on_applied(uv_work_t *work, int status)
{
    struct writer *w = obj_cast(work->data, struct writer, WRITER_MAGIC);
    BUG_IF(status || (w->stopped && !w->is_cancelled));
    w->state = WRITER_WORKING;
    if (w->is_cancelled) {
        w->is_cancelled = false;
        zone_tx_abort(w->tx);
        end_turn(w);
    }
    if (w->stopped) {
        writer_free(w);
        return;
    }
    w->loop_turn = run_loop_turns(w->loop).n;
    run_task_now(w->task);
}

static void apply_on_pool(struct writer *w)
{
    w->state = WRITER_APPLYING;
    w->work.data = w;
    BUG_IF(uv_queue_work(run_loop_uv(w->loop), &w->work, run_apply, on_applied));
}

/* ---- turns ---- */

static void begin_turn(struct writer *w, const struct writer_change *change)
{
    int err = change->begin ? change->begin(change->arg) : 0;
    if (err) {
        end_turn(w);
        change->done(change->arg, err);
        return;
    }
    w->state = WRITER_WORKING;
    w->is_through = false;
    w->loop_turn = run_loop_turns(w->loop).n;
    w->tx = zone_tx_begin(w->zones);
}

/* @return whether the change is through, or enough is gathered to be applied. */
static bool work(struct writer *w, const struct writer_change *change)
{
    uint64_t loop_turn = run_loop_turns(w->loop).n;
    w->n_slices += loop_turn != w->loop_turn;
    w->loop_turn = loop_turn;
    for (int n = 0; n < STEPS_AT_ONCE && !w->is_through && zone_tx_n_edits(w->tx) < ZONE_TX_PART; n++)
        w->is_through = !change->step(change->arg, w->tx);
    return w->is_through || zone_tx_n_edits(w->tx) >= ZONE_TX_PART;
}

/* Go on with what has the turn. @return false: nothing more for now. */
static bool go_on(struct writer *w)
{
    struct turn *t = STAILQ_FIRST(&w->queue);
    if (!t || w->state == WRITER_APPLYING)
        return false;
    struct writer_change change = t->change;
    if (w->state == WRITER_IDLE) {
        begin_turn(w, &change);
        return true;
    }
    if (!work(w, &change))
        return true;
    if (zone_tx_n_edits(w->tx) > FEW_EDITS) {
        apply_on_pool(w);
        return false;
    }
    publish(w, &change);
    change.done(change.arg, 0);
    return true;
}

static bool on_step(void *arg)
{
    struct writer *w = obj_cast(arg, struct writer, WRITER_MAGIC);
    w->is_busy = true;
    bool has_more = go_on(w);
    w->is_busy = false;
    return has_more;
}

static void enqueue(struct writer *w, const struct writer_change *change)
{
    struct turn *t = mem_new(struct turn);
    t->change = *change;
    STAILQ_INSERT_TAIL(&w->queue, t, link);
}

/* A change of its own gets a task's budget of its own: many small ones that come in one turn are many versions, each at once. */
void writer_run(struct writer *w, const struct writer_change *change)
{
    bool is_first = STAILQ_EMPTY(&w->queue) && !w->is_busy;
    int64_t until_us = run_now_us() + RUN_TASK_US;
    enqueue(w, change);
    while (is_first && on_step(w) && run_now_us() < until_us)
        continue;
    if (!w->is_busy && w->state != WRITER_APPLYING && !STAILQ_EMPTY(&w->queue))
        run_task_start(w->task);
}

void writer_run_now(struct writer *w, const struct writer_change *change)
{
    struct writer_change copy = *change;
    BUG_IF(w->state != WRITER_IDLE || !STAILQ_EMPTY(&w->queue));
    enqueue(w, change);
    w->is_busy = true; /* what is enqueued from here waits */
    begin_turn(w, &copy);
    if (w->state == WRITER_WORKING) {
        while (copy.step(copy.arg, w->tx))
            continue;
        publish(w, &copy);
        copy.done(copy.arg, 0);
    }
    w->is_busy = false;
    run_task_start(w->task);
}

void writer_cancel(struct writer *w, void *arg)
{
    struct turn *first = STAILQ_FIRST(&w->queue), *t = first;
    while (t) {
        struct turn *next = STAILQ_NEXT(t, link);
        bool has_turn = t == first && w->state != WRITER_IDLE;
        if (t->change.arg == arg && has_turn && w->state == WRITER_APPLYING) {
            w->is_cancelled = true;
        } else if (t->change.arg == arg && has_turn) {
            zone_tx_abort(w->tx);
            end_turn(w);
            run_task_start(w->task);
        } else if (t->change.arg == arg) {
            STAILQ_REMOVE(&w->queue, t, turn, link);
            free(t);
        }
        t = next;
    }
}

uint64_t writer_n_slices(const struct writer *w)
{
    return w->n_slices;
}

void writer_stop(struct writer *w, void (*stopped)(void *arg), void *arg)
{
    if (!w) {
        stopped(arg);
        return;
    }
    w->stopped = stopped;
    w->stopped_arg = arg;
    run_task_stop(w->task);
    if (w->state != WRITER_APPLYING)
        writer_free(w);
}

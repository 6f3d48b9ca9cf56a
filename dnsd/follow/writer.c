#include "follow/writer.h"
#include "base/mem.h"
#include "base/obj.h"

#include <stdlib.h>
#include <sys/queue.h>

#define WRITER_MAGIC OBJ_MAGIC('W', 'R', 'T', 'R')

/** How long the loop is held at most, but for a slice of the job. */
#define SLICE_US 500
/** Records that are applied on the loop; more go to the pool. */
#define FEW_EDITS 256

struct turn {
    STAILQ_ENTRY(turn) link;
    struct writer_change job;
};

/*
 *   IDLE ──► WORKING ◄──► APPLYING        a turn is had in WORKING and APPLYING
 */
enum writer_state { WRITER_IDLE, WRITER_WORKING, WRITER_APPLYING };

struct writer {
    struct obj obj;
    struct run_loop *loop;
    struct zoneset *zones;
    struct run_timer *timer;
    STAILQ_HEAD(turn_list, turn) queue; /* first: who has the turn, unless IDLE */
    enum writer_state state;
    struct zone_tx *tx;
    bool is_cancelled; /* the turn's job, which is on the pool's thread */
    bool is_through;   /* the last slice is done, what is left is to apply and publish */
    bool is_turning;   /* turns are taken further up the stack */
    uv_work_t work;
    uint64_t n_slices;
    void (*stopped)(void *arg);
    void *stopped_arg;
};

static void take_turns(struct writer *w);

static void on_timer(void *arg)
{
    take_turns(obj_cast(arg, struct writer, WRITER_MAGIC));
}

struct writer *writer_new(struct run_loop *loop, struct zoneset *zones)
{
    struct writer *w = mem_new(struct writer);
    obj_init(&w->obj, WRITER_MAGIC);
    w->loop = loop;
    w->zones = zones;
    w->timer = run_timer_new(loop, on_timer, w);
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

static void publish(struct writer *w, const struct writer_change *job)
{
    zone_tx_commit(w->tx, job->flags(job->arg), NULL);
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
    run_timer_free(w->timer);
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
    if (w->stopped)
        writer_free(w);
    else
        take_turns(w);
}

static void apply_on_pool(struct writer *w)
{
    w->state = WRITER_APPLYING;
    w->work.data = w;
    BUG_IF(uv_queue_work(run_loop_uv(w->loop), &w->work, run_apply, on_applied));
}

/* ---- turns ---- */

static void begin_turn(struct writer *w, const struct writer_change *job)
{
    int err = job->begin ? job->begin(job->arg) : 0;
    if (err) {
        struct writer_change failed = *job;
        end_turn(w);
        failed.done(failed.arg, err);
        return;
    }
    w->state = WRITER_WORKING;
    w->is_through = false;
    w->tx = zone_tx_begin(w->zones);
}

/* Work until the time is over, the job is through, or enough is gathered. @return whether the time is over. */
static bool work(struct writer *w, const struct writer_change *job, int64_t until_us)
{
    while (!w->is_through && zone_tx_n_edits(w->tx) < ZONE_TX_PART && run_now_us() < until_us)
        w->is_through = !job->slice(job->arg, w->tx);
    return !w->is_through && zone_tx_n_edits(w->tx) < ZONE_TX_PART;
}

/* Go on with who has the turn. @return false: nothing more for now. */
static bool go_on(struct writer *w, int64_t until_us)
{
    struct turn *t = STAILQ_FIRST(&w->queue);
    if (!t || w->state == WRITER_APPLYING)
        return false;
    struct writer_change job = t->job;
    if (w->state == WRITER_IDLE) {
        begin_turn(w, &job);
        return true;
    }
    if (work(w, &job, until_us)) {
        w->n_slices++;
        run_timer_start(w->timer, 0, 0);
        return false;
    }
    if (zone_tx_n_edits(w->tx) > FEW_EDITS) {
        apply_on_pool(w);
        return false;
    }
    publish(w, &job);
    job.done(job.arg, 0);
    return true;
}

static void take_turns(struct writer *w)
{
    if (w->is_turning)
        return;
    int64_t until_us = run_now_us() + SLICE_US;
    w->is_turning = true;
    while (go_on(w, until_us))
        if (run_now_us() >= until_us) { /* the next one's turn, after other work */
            run_timer_start(w->timer, 0, 0);
            break;
        }
    w->is_turning = false;
}

static void enqueue(struct writer *w, const struct writer_change *job)
{
    struct turn *t = mem_new(struct turn);
    t->job = *job;
    STAILQ_INSERT_TAIL(&w->queue, t, link);
}

void writer_run(struct writer *w, const struct writer_change *job)
{
    enqueue(w, job);
    take_turns(w);
}

void writer_run_now(struct writer *w, const struct writer_change *job)
{
    struct writer_change copy = *job;
    BUG_IF(w->state != WRITER_IDLE || !STAILQ_EMPTY(&w->queue));
    enqueue(w, job);
    w->is_turning = true; /* who is called from here and changes zones waits */
    begin_turn(w, &copy);
    if (w->state == WRITER_WORKING) {
        while (copy.slice(copy.arg, w->tx))
            continue;
        publish(w, &copy);
        copy.done(copy.arg, 0);
    }
    w->is_turning = false;
    take_turns(w);
}

void writer_cancel(struct writer *w, void *arg)
{
    struct turn *first = STAILQ_FIRST(&w->queue), *t = first;
    while (t) {
        struct turn *next = STAILQ_NEXT(t, link);
        bool has_turn = t == first && w->state != WRITER_IDLE;
        if (t->job.arg == arg && has_turn && w->state == WRITER_APPLYING) {
            w->is_cancelled = true;
        } else if (t->job.arg == arg && has_turn) {
            zone_tx_abort(w->tx);
            end_turn(w);
            run_timer_start(w->timer, 0, 0);
        } else if (t->job.arg == arg) {
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
    run_timer_stop(w->timer);
    if (w->state != WRITER_APPLYING)
        writer_free(w);
}

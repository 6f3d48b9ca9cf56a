#include "run/task.h"

#include <stdlib.h>
#include <sys/queue.h>

#include "base/mem.h"
#include "base/obj.h"

#define TASK_MAGIC  OBJ_MAGIC('T', 'A', 'S', 'K')
#define TASKS_MAGIC OBJ_MAGIC('T', 'S', 'K', 'S')

/** The tasks of one loop, in its uv_loop_t's data; it lives while there is any. */
struct tasks {
    struct obj obj;
    struct run_loop *loop;
    uv_idle_t idle; /* runs while `running` is not empty */
    size_t n_tasks;
    TAILQ_HEAD(task_list, run_task) running; /* the first has the next step */
    bool is_stepping;
    struct run_task *stepping; /* NULL: none, or it was stopped or freed inside its step */
    uint64_t turn;             /* which spent_us is about */
    int64_t spent_us;
};

struct run_task {
    struct obj obj;
    struct tasks *all;
    TAILQ_ENTRY(run_task) link; /* in running, when is_running */
    bool is_running;
    bool (*step)(void *arg);
    void *arg;
};

/* @return whether the task runs on. */
static bool step_once(struct tasks *all, struct run_task *t)
{
    run_task_stop(t);
    all->is_stepping = true;
    all->stepping = t;
    bool has_more = t->step(t->arg);
    bool is_alive = all->stepping == t;
    all->is_stepping = false;
    all->stepping = NULL;
    if (is_alive && has_more)
        run_task_start(t);
    return is_alive && t->is_running;
}

static int64_t budget_left_us(struct tasks *all)
{
    uint64_t turn = run_loop_turns(all->loop).n;
    if (turn != all->turn) {
        all->turn = turn;
        all->spent_us = 0;
    }
    return RUN_TASK_US - all->spent_us;
}

static void on_idle(uv_idle_t *idle)
{
    struct tasks *all = obj_cast(idle->data, struct tasks, TASKS_MAGIC);
    int64_t left_us = budget_left_us(all), began_us = run_now_us(), took_us;
    do {
        step_once(all, TAILQ_FIRST(&all->running));
        took_us = run_now_us() - began_us;
    } while (took_us < left_us && !TAILQ_EMPTY(&all->running));
    all->spent_us += took_us;
}

void run_task_now(struct run_task *t)
{
    struct tasks *all = obj_cast(t, struct run_task, TASK_MAGIC)->all;
    int64_t left_us = budget_left_us(all), began_us = run_now_us();
    if (all->is_stepping || left_us <= 0) {
        run_task_start(t);
        return;
    }
    while (step_once(all, t) && run_now_us() - began_us < left_us)
        continue;
    all->spent_us += run_now_us() - began_us;
}

void run_task_start(struct run_task *t)
{
    (void)obj_cast(t, struct run_task, TASK_MAGIC);
    if (t->is_running)
        return;
    t->is_running = true;
    TAILQ_INSERT_TAIL(&t->all->running, t, link);
    BUG_IF(uv_idle_start(&t->all->idle, on_idle) != 0);
}

void run_task_stop(struct run_task *t)
{
    struct tasks *all = obj_cast(t, struct run_task, TASK_MAGIC)->all;
    if (all->stepping == t)
        all->stepping = NULL;
    if (!t->is_running)
        return;
    t->is_running = false;
    TAILQ_REMOVE(&all->running, t, link);
    if (TAILQ_EMPTY(&all->running))
        uv_idle_stop(&all->idle);
}

static struct tasks *tasks_of(struct run_loop *loop)
{
    uv_loop_t *uv = run_loop_uv(loop);
    if (uv->data)
        return obj_cast(uv->data, struct tasks, TASKS_MAGIC);
    struct tasks *all = mem_new(struct tasks);
    obj_init(&all->obj, TASKS_MAGIC);
    all->loop = loop;
    TAILQ_INIT(&all->running);
    BUG_IF(uv_idle_init(uv, &all->idle) != 0);
    all->idle.data = uv->data = all;
    return all;
}

struct run_task *run_task_new(struct run_loop *loop, bool (*step)(void *arg), void *arg)
{
    struct run_task *t = mem_new(struct run_task);
    obj_init(&t->obj, TASK_MAGIC);
    t->all = tasks_of(loop);
    t->all->n_tasks++;
    t->step = step;
    t->arg = arg;
    return t;
}

struct run_task *run_task(struct run_loop *loop, bool (*step)(void *arg), void *arg)
{
    struct run_task *t = run_task_new(loop, step, arg);
    run_task_start(t);
    return t;
}

static void on_closed(uv_handle_t *idle)
{
    struct tasks *all = obj_cast(idle->data, struct tasks, TASKS_MAGIC);
    obj_fini(&all->obj);
    free(all);
}

void run_task_free(struct run_task *t)
{
    if (!t)
        return;
    run_task_stop(t);
    struct tasks *all = t->all;
    obj_fini(&t->obj);
    free(t);
    if (--all->n_tasks)
        return;
    run_loop_uv(all->loop)->data = NULL;
    uv_close((uv_handle_t *)&all->idle, on_closed);
}

#include "follow/walk.h"
#include "base/mem.h"
#include "base/obj.h"
#include "run/task.h"

#include <stdlib.h>
#include <sys/queue.h>

#define WALK_MAGIC OBJ_MAGIC('W', 'A', 'L', 'K')

/** Records a step: some 20 us of reading them. */
#define STEP_RECORDS 16

struct walk {
    struct obj obj;
    TAILQ_ENTRY(walk) link;
    struct walks *all;
    const struct walk_ops *ops;
    void *arg;
    uint32_t place; /* the next one */
    struct packed_text text;
    struct run_task *task;
};

struct walks {
    struct run_loop *loop;
    const struct packed_set *set;
    TAILQ_HEAD(, walk) list;
};

struct walks *walks_new(struct run_loop *loop, const struct packed_set *set)
{
    struct walks *all = mem_new(struct walks);
    all->loop = loop;
    all->set = set;
    TAILQ_INIT(&all->list);
    return all;
}

void walk_cancel(struct walk *w)
{
    if (!w)
        return;
    TAILQ_REMOVE(&w->all->list, w, link);
    run_task_free(w->task);
    packed_text_fini(&w->text);
    obj_fini(&w->obj);
    free(w);
}

static void end(struct walk *w, int err)
{
    const struct walk_ops *ops = w->ops;
    void *arg = w->arg;
    walk_cancel(w);
    ops->done(arg, err);
}

void walks_free(struct walks *all)
{
    struct walk *w;
    if (!all)
        return;
    while ((w = TAILQ_FIRST(&all->list)))
        end(w, ERR_CANCELLED);
    free(all);
}

static bool on_step(void *arg)
{
    struct walk *w = obj_cast(arg, struct walk, WALK_MAGIC);
    const struct packed_set *set = w->all->set;
    for (int n = 0; n < STEP_RECORDS && w->place < set->n_places; n++) {
        const struct packed *k = packed_at(set, w->place++);
        if (!k)
            continue;
        packed_read(k, &w->text);
        w->ops->record(w->arg, w->text.path, w->text.packed, w->text.len);
    }
    if (w->place < set->n_places)
        return true;
    end(w, 0);
    return false;
}

struct walk *walk_start(struct walks *all, const struct walk_ops *ops, void *arg)
{
    struct walk *w = mem_new(struct walk);
    obj_init(&w->obj, WALK_MAGIC);
    w->all = all;
    w->ops = ops;
    w->arg = arg;
    w->task = run_task(all->loop, on_step, w);
    TAILQ_INSERT_TAIL(&all->list, w, link);
    return w;
}

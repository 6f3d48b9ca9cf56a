#include "feed/trim.h"
#include "base/mem.h"
#include "base/obj.h"

#include <malloc.h>
#include <stdlib.h>

#define TRIM_MAGIC OBJ_MAGIC('T', 'R', 'I', 'M')

/** Records from which a commit leaves enough behind; how long readers have to leave. */
enum { MANY_RECORDS = 5000, DELAY_MS = 1000 };

struct trim {
    struct obj obj;
    struct run_loop *loop;
    struct run_timer *timer;
};

static void run_trim(uv_work_t *work)
{
    (void)work;
    malloc_trim(0);
}

static void on_trimmed(uv_work_t *work, int status)
{
    (void)status;
    free(work);
}

static void on_timer(void *arg)
{
    struct trim *t = obj_cast(arg, struct trim, TRIM_MAGIC);
    uv_work_t *work = mem_new(uv_work_t);
    BUG_IF(uv_queue_work(run_loop_uv(t->loop), work, run_trim, on_trimmed));
}

struct trim *trim_new(struct run_loop *loop)
{
    struct trim *t = mem_new(struct trim);
    obj_init(&t->obj, TRIM_MAGIC);
    t->loop = loop;
    t->timer = run_timer_new(loop, on_timer, t);
    return t;
}

void trim_free(struct trim *t)
{
    if (!t)
        return;
    run_timer_free(t->timer);
    obj_fini(&t->obj);
    free(t);
}

void trim_mind(struct trim *t, size_t n_records)
{
    if (n_records >= MANY_RECORDS)
        run_timer_start(t->timer, DELAY_MS, 0);
}

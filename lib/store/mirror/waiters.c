#include "store/mirror/waiters.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/obj.h"
#include "bobbin/error.h"

#define WAITER_MAGIC OBJ_MAGIC('M', 'W', 'A', 'I')

struct mirror_waiter {
    struct obj obj;
    TAILQ_ENTRY(mirror_waiter) link;
    struct mirror_waiters *owner;
    int64_t zxid;
    int err;                 /* ERR_TIMEOUT until it is due */
    struct run_timer *timer; /* the time limit and, once due, the next turn of the loop */
    void (*fn)(void *arg, int err);
    void *arg;
};

static void waiter_free(struct mirror_waiter *waiter)
{
    TAILQ_REMOVE(&waiter->owner->list, waiter, link);
    run_timer_free(waiter->timer);
    obj_fini(&waiter->obj);
    free(waiter);
}

static void finish(struct mirror_waiter *waiter, int err)
{
    void (*fn)(void *, int) = waiter->fn;
    void *fn_arg = waiter->arg;
    waiter_free(waiter);
    fn(fn_arg, err);
}

static void on_timer(void *arg)
{
    struct mirror_waiter *waiter = obj_cast(arg, struct mirror_waiter, WAITER_MAGIC);
    finish(waiter, waiter->err);
}

void mirror_waiters_init(struct mirror_waiters *w, struct run_loop *loop)
{
    w->loop = loop;
    TAILQ_INIT(&w->list);
}

void mirror_waiters_fini(struct mirror_waiters *w)
{
    while (!TAILQ_EMPTY(&w->list))
        finish(TAILQ_FIRST(&w->list), ERR_CANCELLED);
}

void mirror_waiters_add(struct mirror_waiters *w, int64_t zxid, bool is_applied, int64_t timeout_ms,
                        void (*fn)(void *arg, int err), void *arg)
{
    struct mirror_waiter *waiter = mem_new(struct mirror_waiter);
    obj_init(&waiter->obj, WAITER_MAGIC);
    waiter->owner = w;
    waiter->zxid = zxid;
    waiter->err = is_applied ? 0 : ERR_TIMEOUT;
    waiter->fn = fn;
    waiter->arg = arg;
    waiter->timer = run_timer_new(w->loop, on_timer, waiter);
    TAILQ_INSERT_TAIL(&w->list, waiter, link);
    run_timer_start(waiter->timer, is_applied || timeout_ms < 0 ? 0 : (uint64_t)timeout_ms, 0);
}

void mirror_waiters_wake(struct mirror_waiters *w, int64_t applied)
{
    struct mirror_waiter *waiter;
    TAILQ_FOREACH (waiter, &w->list, link) {
        if (waiter->err && waiter->zxid <= applied) {
            waiter->err = 0;
            run_timer_start(waiter->timer, 0, 0);
        }
    }
}

void mirror_waiters_forget(struct mirror_waiters *w, const void *arg)
{
    struct mirror_waiter *waiter = TAILQ_FIRST(&w->list);
    while (waiter) {
        struct mirror_waiter *next = TAILQ_NEXT(waiter, link);
        if (waiter->arg == arg)
            waiter_free(waiter);
        waiter = next;
    }
}

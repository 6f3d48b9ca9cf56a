#include "follow/waiters.h"
#include "base/mem.h"
#include "base/obj.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#define WAITERS_MAGIC OBJ_MAGIC('W', 'A', 'I', 'T')

struct waiter {
    TAILQ_ENTRY(waiter) link;
    char store[REG_REVISION_MAX];
    int64_t n;
    int64_t until_ms;
    bool is_settled;
    int result; /* of one that is settled */
    void (*fn)(void *arg, int err);
    void *arg;
};

struct waiters {
    struct obj obj;
    struct run_timer *timer;
    TAILQ_HEAD(, waiter) list;
    char revision[REG_REVISION_MAX]; /* answered from */
    char newest[REG_REVISION_MAX];   /* of the newest version, while readers do not see it; else "" */
};

static void settle(struct waiter *w, int result)
{
    w->is_settled = true;
    w->result = result;
}

/* Decide about one waiter by what is visible. */
static void judge(const struct waiters *all, struct waiter *w, int64_t now_ms)
{
    char store[REG_REVISION_MAX];
    int64_t n;
    if (w->is_settled)
        return;
    bool is_known = reg_revision_read(all->revision, store, &n) == 0;
    if (is_known && strcmp(store, w->store) != 0)
        settle(w, ERR_GONE);
    else if (is_known && n >= w->n)
        settle(w, 0);
    else if (now_ms >= w->until_ms)
        settle(w, ERR_TIMEOUT);
}

static void waiter_free(struct waiters *all, struct waiter *w)
{
    TAILQ_REMOVE(&all->list, w, link);
    free(w);
}

static struct waiter *first_settled(const struct waiters *all)
{
    struct waiter *w;
    TAILQ_FOREACH (w, &all->list, link)
        if (w->is_settled)
            return w;
    return NULL;
}

/* A call may add or forget others, so begin again after each. */
static void call_settled(struct waiters *all)
{
    struct waiter *w;
    while ((w = first_settled(all))) {
        struct waiter copy = *w;
        waiter_free(all, w);
        copy.fn(copy.arg, copy.result);
    }
}

static void start_timer(struct waiters *all, int64_t now_ms)
{
    const struct waiter *w;
    int64_t next = INT64_MAX;
    TAILQ_FOREACH (w, &all->list, link)
        next = w->until_ms < next ? w->until_ms : next;
    if (next == INT64_MAX)
        run_timer_stop(all->timer);
    else
        run_timer_start(all->timer, next > now_ms ? (uint64_t)(next - now_ms) : 0, 0);
}

static void serve(struct waiters *all)
{
    int64_t now_ms = run_now_ms();
    struct waiter *w;
    TAILQ_FOREACH (w, &all->list, link)
        judge(all, w, now_ms);
    call_settled(all);
    start_timer(all, now_ms);
}

static void on_timer(void *arg)
{
    serve(obj_cast(arg, struct waiters, WAITERS_MAGIC));
}

struct waiters *waiters_new(struct run_loop *loop)
{
    struct waiters *all = mem_new(struct waiters);
    obj_init(&all->obj, WAITERS_MAGIC);
    all->timer = run_timer_new(loop, on_timer, all);
    TAILQ_INIT(&all->list);
    return all;
}

void waiters_free(struct waiters *all)
{
    struct waiter *w;
    if (!all)
        return;
    TAILQ_FOREACH (w, &all->list, link)
        settle(w, ERR_CANCELLED);
    call_settled(all);
    run_timer_free(all->timer);
    obj_fini(&all->obj);
    free(all);
}

int waiters_add(struct waiters *all, const char *revision, int64_t timeout_ms, void (*fn)(void *arg, int err),
                void *arg)
{
    char store[REG_REVISION_MAX];
    int64_t n;
    int err = reg_revision_read(revision, store, &n);
    if (err)
        return err;
    struct waiter *w = mem_new(struct waiter);
    memcpy(w->store, store, sizeof store);
    w->n = n;
    w->until_ms = run_now_ms() + timeout_ms;
    w->fn = fn;
    w->arg = arg;
    TAILQ_INSERT_TAIL(&all->list, w, link);
    run_timer_start(all->timer, 0, 0);
    return 0;
}

void waiters_forget(struct waiters *all, const void *arg)
{
    struct waiter *w = TAILQ_FIRST(&all->list);
    while (w) {
        struct waiter *next = TAILQ_NEXT(w, link);
        if (w->arg == arg)
            waiter_free(all, w);
        w = next;
    }
}

void waiters_published(struct waiters *all, const char *revision)
{
    memcpy(all->newest, revision, strnlen(revision, sizeof all->newest - 1) + 1);
}

void waiters_visible(struct waiters *all)
{
    if (!*all->newest)
        return;
    memcpy(all->revision, all->newest, sizeof all->revision);
    *all->newest = 0;
    serve(all);
}

const char *waiters_revision(const struct waiters *all)
{
    return all->revision;
}

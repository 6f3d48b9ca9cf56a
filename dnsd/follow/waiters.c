#include "follow/follow_priv.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define WAITER_MAGIC OBJ_MAGIC('W', 'A', 'I', 'T')

struct waiter {
    struct obj obj;
    TAILQ_ENTRY(waiter) link;
    char store[REG_REVISION_MAX];
    int64_t n;
    int64_t until_ms;
    int result; /* 1: waiting */
    void (*fn)(void *arg, int err);
    void *arg;
};

/* Decide about one waiter by what is published. */
static void settle(const struct follow *f, struct waiter *w, int64_t now_ms)
{
    char store[REG_REVISION_MAX];
    int64_t n;
    if (w->result != 1)
        return;
    if (reg_revision_read(f->state.revision, store, &n) == 0) {
        if (strcmp(store, w->store) != 0)
            w->result = ERR_GONE;
        else if (n >= w->n)
            w->result = 0;
    }
    if (w->result == 1 && now_ms >= w->until_ms)
        w->result = ERR_TIMEOUT;
}

static void waiter_free(struct follow *f, struct waiter *w)
{
    TAILQ_REMOVE(&f->waiters, w, link);
    obj_fini(&w->obj);
    free(w);
}

/* Settle all, then call those that are settled; a call may add or forget others, so begin again after each. */
void follow_serve(struct follow *f)
{
    int64_t now = run_now_ms(), next = INT64_MAX;
    struct waiter *w;
    TAILQ_FOREACH (w, &f->waiters, link)
        settle(f, w, now);
    do {
        TAILQ_FOREACH (w, &f->waiters, link) {
            if (w->result != 1)
                break;
        }
        if (w) {
            struct waiter copy = *w;
            waiter_free(f, w);
            copy.fn(copy.arg, copy.result);
        }
    } while (w);
    TAILQ_FOREACH (w, &f->waiters, link)
        next = w->until_ms < next ? w->until_ms : next;
    if (next == INT64_MAX)
        run_timer_stop(f->wait_timer);
    else
        run_timer_start(f->wait_timer, next > now ? (uint64_t)(next - now) : 0, 0);
}

int follow_when(struct follow *f, const char *revision, int64_t timeout_ms, void (*fn)(void *arg, int err),
                void *arg)
{
    char store[REG_REVISION_MAX];
    int64_t n;
    int err = reg_revision_read(revision, store, &n);
    if (err)
        return err;
    struct waiter *w = mem_new(struct waiter);
    obj_init(&w->obj, WAITER_MAGIC);
    memcpy(w->store, store, sizeof store);
    w->n = n;
    w->until_ms = run_now_ms() + timeout_ms;
    w->result = 1;
    w->fn = fn;
    w->arg = arg;
    TAILQ_INSERT_TAIL(&f->waiters, w, link);
    run_timer_start(f->wait_timer, 0, 0);
    return 0;
}

static void release_free(struct follow *f, struct release *r)
{
    TAILQ_REMOVE(&f->releases, r, link);
    free(r);
}

void follow_take_releases(struct follow *f)
{
    struct release *r;
    TAILQ_FOREACH (r, &f->releases, link)
        r->is_under_way = true;
}

/* They are in the order in which they came; a call may add or forget others. */
void follow_serve_releases(struct follow *f)
{
    struct release *r;
    while ((r = TAILQ_FIRST(&f->releases)) && r->is_under_way) {
        struct release copy = *r;
        release_free(f, r);
        copy.fn(copy.arg, copy.n_records);
    }
}

static void forget_releases(struct follow *f, const void *arg)
{
    struct release *r = TAILQ_FIRST(&f->releases);
    while (r) {
        struct release *next = TAILQ_NEXT(r, link);
        if (!arg || r->arg == arg)
            release_free(f, r);
        r = next;
    }
}

void follow_forget(struct follow *f, void *arg)
{
    forget_releases(f, arg);
    struct waiter *w = TAILQ_FIRST(&f->waiters);
    while (w) {
        struct waiter *next = TAILQ_NEXT(w, link);
        if (w->arg == arg)
            waiter_free(f, w);
        w = next;
    }
}

void follow_cancel_waiters(struct follow *f)
{
    struct waiter *w;
    TAILQ_FOREACH (w, &f->waiters, link)
        w->result = ERR_CANCELLED;
    forget_releases(f, NULL);
    follow_serve(f);
}

void follow_published(struct follow *f, const char *revision)
{
    memcpy(f->newest_revision, revision, strnlen(revision, REG_REVISION_MAX - 1) + 1);
    f->def.changed(f->def.arg);
    follow_shown(f);
}

void follow_shown(struct follow *f)
{
    if (!*f->newest_revision || zoneset_is_frozen(f->def.zones))
        return;
    memcpy(f->state.revision, f->newest_revision, sizeof f->state.revision);
    *f->newest_revision = 0;
    follow_serve(f);
}

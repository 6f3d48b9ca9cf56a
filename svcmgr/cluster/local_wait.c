#include <stdlib.h>
#include <string.h>

#include "base/backoff.h"
#include "base/mem.h"
#include "cluster/local_priv.h"

#define PAUSE_FIRST_MS 25
#define PAUSE_MAX_MS   5000

void local_report_degraded(struct local *l, const char *reason)
{
    if (l->is_degraded == (reason != NULL))
        return;
    l->is_degraded = reason != NULL;
    l->cluster.ops->degraded(l->cluster.ops_arg, reason);
}

/** Whether this box is one that cannot be recovered for a shortage. */
static void count_short(struct box *b, bool is_short, const char *reason)
{
    struct local *l = b->local;

    if (b->is_short == is_short)
        return;
    b->is_short = is_short;
    if (is_short)
        TAILQ_INSERT_TAIL(&l->shorts, b, short_link);
    else
        TAILQ_REMOVE(&l->shorts, b, short_link);
    if (l->is_recovered)
        local_report_degraded(l, TAILQ_EMPTY(&l->shorts) ? NULL : reason);
}

static void on_again(void *arg)
{
    struct box *b = obj_cast(arg, struct box, BOX_MAGIC);
    void (*again)(struct box *) = b->again;

    if (b->local->is_closing || !again)
        return;
    b->again = NULL;
    again(b);
}

static void report_reason(struct box *b, int err, const char *reason)
{
    const struct local *l = b->local;

    if (b->reason && !strcmp(b->reason, reason))
        return;
    free(b->reason);
    b->reason = mem_str(reason);
    if (shortage_is(err))
        log_emit(&ev_container_waits, LOG_STR("container", b->pub.id), LOG_STR("reason", reason));
    if (!b->is_released && (!b->is_recovering || l->is_recovered))
        l->cluster.ops->waits(l->cluster.ops_arg, b->pub.id, &(struct eng_waiting){.text = b->reason});
}

void local_wait(struct box *b, void (*again)(struct box *b), int err, const struct err_info *why)
{
    if (!b->timer)
        b->timer = run_timer_new(b->local->loop, on_again, b);
    b->again = again;
    b->pause_ms = backoff_next(b->pause_ms, PAUSE_FIRST_MS, PAUSE_MAX_MS);
    run_timer_start(b->timer, (uint64_t)b->pause_ms, 0);
    mem_auto char *reason = mem_fmt("%s: %s", why->where, why->text);
    count_short(b, b->pub.state == CLUSTER_RECOVERING && shortage_is(err), reason);
    report_reason(b, err, reason);
}

void local_wait_over(struct box *b)
{
    b->again = NULL;
    b->pause_ms = 0;
    if (b->timer)
        run_timer_stop(b->timer);
    count_short(b, false, NULL);
    free(b->reason);
    b->reason = NULL;
}

void local_wait_next(struct local *l)
{
    struct box *b = TAILQ_FIRST(&l->shorts);

    if (!b || l->is_closing)
        return;
    TAILQ_REMOVE(&l->shorts, b, short_link); /* The next call is for another one. */
    TAILQ_INSERT_TAIL(&l->shorts, b, short_link);
    run_timer_start(b->timer, 0, 0);
}

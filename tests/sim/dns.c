/** The DNS servers of the simulated world: they confirm a revision soon or late, refuse to, or the answer is lost. */
#include <stdlib.h>

#include "base/mem.h"
#include "sim/draw.h"
#include "world.h"

#define SOON_MS 20
#define LATE_MS 40000 /* later than the engine waits, too */
#define ONE_IN  8     /* answers are lost; are late; say that it is not certain: each */

static void insert(struct world *w, struct world_sync *s)
{
    struct world_sync *before;
    TAILQ_FOREACH_REVERSE(before, &w->syncs, world_sync_list, link)
    {
        if (before->due_ms <= s->due_ms) {
            TAILQ_INSERT_AFTER(&w->syncs, before, s, link);
            return;
        }
    }
    TAILQ_INSERT_HEAD(&w->syncs, s, link);
}

void world_ask_dns(struct world *w, const char *container_id)
{
    uint64_t chance = w->is_dns_well ? ONE_IN : sim_draw_next(&w->dns_draws) % ONE_IN;
    if (chance == 0)
        return; /* lost */
    struct world_sync *s = mem_new(struct world_sync);
    s->container_id = mem_str(container_id);
    s->code = chance == 1 ? ERR_TIMEOUT : 0;
    s->due_ms = w->now_ms + (int64_t)(sim_draw_next(&w->dns_draws) % (chance == 2 ? LATE_MS : SOON_MS));
    insert(w, s);
}

static void free_sync(struct world *w, struct world_sync *s)
{
    TAILQ_REMOVE(&w->syncs, s, link);
    free(s->container_id);
    free(s);
}

void world_answer_dns(struct world *w)
{
    struct world_sync *s = TAILQ_FIRST(&w->syncs);
    world_push(w, (struct eng_event){.kind = EV_SYNCED, .container_id = s->container_id, .code = s->code});
    free_sync(w, s);
}

void world_forget_dns(struct world *w)
{
    while (!TAILQ_EMPTY(&w->syncs))
        free_sync(w, TAILQ_FIRST(&w->syncs));
}

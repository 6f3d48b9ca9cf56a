#include "follow/follow_priv.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

void follow_pending_free(struct follow *f, struct pending *take_p)
{
    if (!take_p)
        return;
    packed_free(&f->prefixes, take_p->packed);
    free(take_p);
}

/* What waits at this path waits no longer: the caller's. */
static struct pending *take_late(struct follow *f, const char *path)
{
    struct pending *p = f->late.n_items ? map_remove(&f->late, path) : NULL;
    if (!p)
        return NULL;
    TAILQ_REMOVE(&f->late_list, p, link);
    f->n_late_removals -= p->is_removal;
    return p;
}

void follow_pending_put(struct follow *f, const char *path, int64_t due_ms, struct packed *take_packed)
{
    size_t n = strlen(path) + 1;
    struct pending *p = mem_alloc(sizeof *p + n), *old;
    p->due_ms = due_ms;
    p->packed = take_packed;
    p->is_removal = due_ms && follow_is_removal(packed_get(&f->records, &f->prefixes, path), take_packed);
    memcpy(p->path, path, n);
    follow_pending_free(f, take_late(f, path));
    if (due_ms) {
        TAILQ_INSERT_TAIL(&f->late_list, p, link);
        f->n_late_removals += p->is_removal;
        map_set(&f->late, path, p);
        old = map_remove(&f->pending, path);
    } else {
        old = map_set(&f->pending, path, p);
    }
    follow_pending_free(f, old);
}

void follow_pending_clear(struct follow *f)
{
    struct pending *p;
    while ((p = TAILQ_FIRST(&f->late_list))) {
        TAILQ_REMOVE(&f->late_list, p, link);
        follow_pending_free(f, p);
    }
    f->n_late_removals = 0;
    for (MAP_EACH (&f->pending, it))
        follow_pending_free(f, it->value);
    map_fini(&f->pending, NULL);
    map_fini(&f->late, NULL);
}

bool follow_has_pending(const struct follow *f)
{
    return f->pending.n_items || f->late.n_items;
}

struct pending *follow_pending_due(struct follow *f, int64_t now_ms)
{
    struct pending *p = TAILQ_FIRST(&f->late_list);
    return p && p->due_ms <= now_ms ? take_late(f, p->path) : NULL;
}

#include "follow/pending.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/** A revision that is published when the delayed deletes before it are. */
struct mark {
    TAILQ_ENTRY(mark) link;
    int64_t due_ms; /* of the last of them; 0: none */
    char revision[REG_REVISION_MAX];
};

struct pending {
    struct packed_prefixes *prefixes;
    struct map now, late; /* path -> struct change; one path is in one of them */
    TAILQ_HEAD(late_list, change) late_list;
    size_t n_removals; /* late ones that take names away */
    TAILQ_HEAD(, mark) marks;
};

struct change *change_new(const char *path, struct packed *take_packed)
{
    size_t n = strlen(path) + 1;
    struct change *c = mem_alloc(sizeof *c + n);
    *c = (struct change){.packed = take_packed};
    memcpy(c->path, path, n);
    return c;
}

void change_free(struct packed_prefixes *prefixes, struct change *take_c)
{
    if (!take_c)
        return;
    packed_free(prefixes, take_c->packed);
    free(take_c);
}

struct pending *pending_new(struct packed_prefixes *prefixes)
{
    struct pending *p = mem_new(struct pending);
    p->prefixes = prefixes;
    TAILQ_INIT(&p->late_list);
    TAILQ_INIT(&p->marks);
    return p;
}

void pending_free(struct pending *p)
{
    if (!p)
        return;
    pending_clear(p);
    free(p);
}

void pending_clear(struct pending *p)
{
    struct change *c;
    while ((c = TAILQ_FIRST(&p->late_list))) {
        TAILQ_REMOVE(&p->late_list, c, link);
        change_free(p->prefixes, c);
    }
    p->n_removals = 0;
    for (MAP_EACH (&p->now, it))
        change_free(p->prefixes, it->value);
    map_fini(&p->now, NULL);
    map_fini(&p->late, NULL);
    pending_drop_marks(p);
}

/* ---- changes ---- */

/* What waits at this path waits no longer: the caller's. */
static struct change *take_late(struct pending *p, const char *path)
{
    struct change *c = p->late.n_items ? map_remove(&p->late, path) : NULL;
    if (!c)
        return NULL;
    TAILQ_REMOVE(&p->late_list, c, link);
    p->n_removals -= c->is_removal;
    return c;
}

void pending_put(struct pending *p, const char *path, struct packed *take_packed)
{
    struct change *c = change_new(path, take_packed);
    change_free(p->prefixes, take_late(p, path));
    change_free(p->prefixes, map_set(&p->now, path, c));
}

void pending_delay(struct pending *p, const char *path, int64_t due_ms, bool is_removal)
{
    struct change *c = change_new(path, NULL);
    c->due_ms = due_ms;
    c->is_removal = is_removal;
    change_free(p->prefixes, take_late(p, path));
    change_free(p->prefixes, map_remove(&p->now, path));
    TAILQ_INSERT_TAIL(&p->late_list, c, link);
    p->n_removals += is_removal;
    map_set(&p->late, path, c);
}

bool pending_is_empty(const struct pending *p)
{
    return !p->now.n_items && !p->late.n_items;
}

bool pending_is_late(const struct pending *p)
{
    return !p->now.n_items && p->late.n_items;
}

int64_t pending_due_ms(const struct pending *p)
{
    const struct change *first = TAILQ_FIRST(&p->late_list);
    return first ? first->due_ms : INT64_MAX;
}

size_t pending_n_removals(const struct pending *p)
{
    return p->n_removals;
}

struct map pending_take_now(struct pending *p)
{
    struct map batch = p->now;
    p->now = MAP_EMPTY;
    return batch;
}

struct change *pending_take_due(struct pending *p, int64_t now_ms)
{
    struct change *c = TAILQ_FIRST(&p->late_list);
    return c && c->due_ms <= now_ms ? take_late(p, c->path) : NULL;
}

/* ---- marks ---- */

void pending_mark(struct pending *p, const char *revision)
{
    const struct change *last = TAILQ_LAST(&p->late_list, late_list);
    struct mark *m = mem_new(struct mark);
    m->due_ms = last ? last->due_ms : 0;
    memcpy(m->revision, revision, strnlen(revision, sizeof m->revision - 1));
    TAILQ_INSERT_TAIL(&p->marks, m, link);
}

/* No delete that a mark waits for is late any more when what is due now is published. */
static bool is_reached(const struct pending *p, const struct mark *m, int64_t now_ms)
{
    const struct change *c = TAILQ_FIRST(&p->late_list);
    while (c && c->due_ms <= now_ms)
        c = TAILQ_NEXT(c, link);
    return !c || c->due_ms > m->due_ms;
}

static void mark_free(struct pending *p, struct mark *m)
{
    TAILQ_REMOVE(&p->marks, m, link);
    free(m);
}

void pending_take_marks(struct pending *p, int64_t now_ms, char revision[REG_REVISION_MAX])
{
    struct mark *m;
    *revision = 0;
    while ((m = TAILQ_FIRST(&p->marks)) && (m->due_ms <= now_ms || is_reached(p, m, now_ms))) {
        memcpy(revision, m->revision, sizeof m->revision);
        mark_free(p, m);
    }
}

void pending_drop_marks(struct pending *p)
{
    struct mark *m;
    while ((m = TAILQ_FIRST(&p->marks)))
        mark_free(p, m);
}

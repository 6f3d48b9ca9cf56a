#include "publish/change.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/**
 * Of what stands for: the newest change of a path, or the report of one end, says all that the older ones of the same key said.
 * @return NULL: a purge, which is replaced only by one above it
 */
static const char *waiting_key(const struct change *c)
{
    return c->kind == CHANGE_PURGE ? NULL : c->kind == CHANGE_ENDED ? c->id : c->path;
}

void publish_change_leave_waiting(struct change *c)
{
    struct map *of = c->kind == CHANGE_PURGE ? &c->owner->purges : &c->owner->waiting;
    const char *key = c->kind == CHANGE_PURGE ? c->path : waiting_key(c);

    if (map_get(of, key) == c)
        map_remove(of, key);
}

void publish_change_free(struct change *c)
{
    struct publish *p = c->owner;

    publish_change_leave_waiting(c);
    heap_remove(&p->late, &c->late);
    TAILQ_REMOVE(&p->changes, c, link);
    p->n_changes--;
    reg_record_free(c->record);
    free(c->path);
    free(c->id);
    free(c->tickets);
    obj_fini(&c->obj);
    free(c);
}

void publish_change_settle(struct change *c, int code, const char *text)
{
    struct publish *p = c->owner;

    for (size_t i = 0; i < c->n_tickets; i++) {
        p->outcomes = mem_resize(p->outcomes, p->n_outcomes + 1, sizeof *p->outcomes);
        p->outcomes[p->n_outcomes++] = (struct outcome){c->tickets[i], code, mem_str(text)};
    }
    if (c->n_tickets)
        run_timer_start(p->outcome_timer, 0, 0);
    c->n_tickets = 0;
    heap_remove(&p->late, &c->late);
}

/* ---- what is replaced ---- */

/** Its oldest ticket is settled at the latest then. */
static void set_late(struct change *c)
{
    struct publish *p = c->owner;

    if (c->n_tickets && c->kind != CHANGE_ENDED)
        heap_set(&p->late, &c->late, c->asked_ms + p->def.ticket_limit_ms, c->number);
}

static void add_ticket(struct change *c, int64_t ticket)
{
    c->tickets = mem_resize(c->tickets, c->n_tickets + 1, sizeof *c->tickets);
    c->tickets[c->n_tickets++] = ticket;
}

void publish_change_replace(struct change *old, struct change *c)
{
    for (size_t i = 0; i < old->n_tickets; i++)
        add_ticket(c, old->tickets[i]);
    if (old->n_tickets && old->asked_ms < c->asked_ms)
        c->asked_ms = old->asked_ms;
    set_late(c);
    publish_change_free(old);
}

void publish_change_wait_again(struct change *c)
{
    const char *key = waiting_key(c);
    struct change *newer = key ? map_get(&c->owner->waiting, key) : NULL;

    if (newer)
        publish_change_replace(c, newer);
    else if (key)
        map_set(&c->owner->waiting, key, c);
}

struct change *publish_change_new(struct publish *p, enum change_kind kind, const char *path, int64_t ticket)
{
    struct change *c = mem_new(struct change);

    obj_init(&c->obj, CHANGE_MAGIC);
    c->owner = p;
    c->kind = kind;
    c->path = mem_str(path);
    c->asked_ms = run_now_ms();
    c->number = p->n_asked++;
    if (ticket)
        add_ticket(c, ticket);
    set_late(c);
    return c;
}

void publish_change_replace_older(struct publish *p, struct change *c)
{
    const char *key = waiting_key(c);
    struct change *old = key ? map_get(&p->waiting, key) : NULL;

    if (old)
        publish_change_replace(old, c);
    if (key)
        map_set(&p->waiting, key, c);
    else
        map_set(&p->purges, c->path, c); /* What it takes away is dropped when its turn comes: drop */
}

/* ---- which change may begin ---- */

static bool is_below(const char *path, const char *top)
{
    size_t n = strlen(top);

    return !strncmp(path, top, n) && (path[n] == '/' || !path[n]);
}

/** Two changes that must keep their order. */
static bool do_conflict(const struct change *a, const struct change *b)
{
    if (!strcmp(a->path, b->path))
        return true;
    return (a->kind == CHANGE_PURGE && is_below(b->path, a->path)) ||
           (b->kind == CHANGE_PURGE && is_below(a->path, b->path));
}

bool publish_change_may_begin(const struct publish *p, const struct change *c)
{
    const struct change *before;

    if (c->is_running)
        return false;
    TAILQ_FOREACH (before, &p->changes, link) {
        if (before == c)
            return true;
        if (do_conflict(before, c))
            return false;
    }
    return false;
}

struct change *publish_change_purge_of(const struct publish *p, const struct change *c)
{
    for (size_t len = strlen(c->path); len > 0 && p->purges.n_items; len--) {
        if (c->path[len] != '/' && c->path[len])
            continue;
        struct change *purge = map_getn(&p->purges, c->path, len);
        if (purge && purge->number > c->number)
            return purge;
    }
    return NULL;
}

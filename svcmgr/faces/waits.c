/** See waits.h. */
#include "faces/waits.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/map.h"
#include "base/mem.h"

#define WAITS_MAGIC  OBJ_MAGIC('W', 'T', 'S', 'V')
#define WAITER_MAGIC OBJ_MAGIC('W', 'T', 'E', 'R')
/** Those who wait look for so long in one turn of the loop. */
#define TURN_US 500

struct place;

/** One request that waits. */
struct waiter {
    struct obj obj;
    struct http_req *req;
    struct face *face;
    struct place *place;
    const struct wait_ops *ops;
    void *arg;
    struct run_timer *timer;
    TAILQ_ENTRY(waiter) link; /* of its place */
};
TAILQ_HEAD(waiter_list, waiter);

/** Those who wait for one service; it lives while there are any. */
struct place {
    char *key, *user, *name;
    enum eng_kind kind;
    struct waiter_list waiters;
    struct waiter *next;     /* that is to look; NULL: all have */
    bool is_changed;         /* once more, from the first one */
    bool is_due;             /* some are to look */
    TAILQ_ENTRY(place) link; /* of the places that are due */
    struct waits *all;
};
TAILQ_HEAD(place_list, place);

struct waits {
    struct obj obj;
    struct map places; /* "kind/user/name" → struct place */
    struct place_list due;
    size_t n; /* waiters */
    struct run_loop *loop;
    struct run_timer *turn;
    int64_t stamp; /* of this process: its tags are no other one's */
};

/* ---- tags ---- */

char *waits_tag(const struct face *face, const struct eng_service *s)
{
    return mem_fmt("W/\"%llx-%llx\"", (unsigned long long)face->waits->stamp, (unsigned long long)s->change);
}

bool waits_tag_is_known(const struct http_req *req, const char *tag)
{
    const char *seen = http_header(req, "If-None-Match");
    const char *opaque = strchr(tag, '"'); /* a weak comparison: W/ says nothing */
    return seen && (strstr(seen, opaque) || strcmp(seen, "*") == 0);
}

/* ---- places ---- */

static struct place *place_find(const struct waits *all, enum eng_kind kind, const char *user,
                                const char *name)
{
    mem_auto char *key = mem_fmt("%s/%s/%s", eng_kind_word(kind), user, name);
    return map_get(&all->places, key);
}

static struct place *place_get(struct waits *all, const struct eng_service *s)
{
    struct place *p = place_find(all, s->kind, s->user, s->name);
    if (p)
        return p;
    p = mem_new(struct place);
    p->all = all;
    p->kind = s->kind;
    p->user = mem_str(s->user);
    p->name = mem_str(s->name);
    p->key = mem_fmt("%s/%s/%s", eng_kind_word(s->kind), s->user, s->name);
    TAILQ_INIT(&p->waiters);
    map_set(&all->places, p->key, p);
    return p;
}

static void place_be_due(struct place *p, bool is_due)
{
    if (p->is_due == is_due)
        return;
    p->is_due = is_due;
    if (is_due)
        TAILQ_INSERT_TAIL(&p->all->due, p, link);
    else
        TAILQ_REMOVE(&p->all->due, p, link);
}

static void place_drop(struct place *p)
{
    if (!TAILQ_EMPTY(&p->waiters))
        return;
    place_be_due(p, false);
    map_remove(&p->all->places, p->key);
    free(p->key);
    free(p->user);
    free(p->name);
    free(p);
}

/* ---- waiters ---- */

/** It waits no more: its request is answered, or over. */
static void waiter_free(struct waiter *w)
{
    struct place *p = w->place;
    if (p->next == w)
        p->next = TAILQ_NEXT(w, link);
    TAILQ_REMOVE(&p->waiters, w, link);
    p->all->n--;
    run_timer_free(w->timer);
    w->ops->free(w->arg);
    obj_fini(&w->obj);
    free(w);
    place_drop(p);
}

static const struct eng_service *service_of(const struct waiter *w)
{
    const struct engine *engine = w->face->ops->engine(w->face->app);
    return engine_find(engine, w->place->kind, w->place->user, w->place->name);
}

static void waiter_answer(struct waiter *w)
{
    w->ops->answer(w->arg, w->req, w->face, service_of(w), w->place->name);
    waiter_free(w);
}

static void on_waiter_closed(void *arg)
{
    waiter_free(obj_cast(arg, struct waiter, WAITER_MAGIC));
}

static void on_waiter_late(void *arg)
{
    waiter_answer(obj_cast(arg, struct waiter, WAITER_MAGIC));
}

void waits_begin(struct http_req *req, struct face *face, const struct eng_service *s,
                 const struct wait_ops *ops, void *arg, int64_t timeout_ms)
{
    struct waiter *w = mem_new(struct waiter);
    obj_init(&w->obj, WAITER_MAGIC);
    w->req = req;
    w->face = face;
    w->ops = ops;
    w->arg = arg;
    w->place = place_get(face->waits, s);
    w->timer = run_timer_new(face->waits->loop, on_waiter_late, w);
    run_timer_start(w->timer, (uint64_t)timeout_ms, 0);
    TAILQ_INSERT_TAIL(&w->place->waiters, w, link);
    face->waits->n++;
    http_reply_later(req, on_waiter_closed, w);
    http_reply_if_late(req, on_waiter_late);
}

/* ---- looking ---- */

static void waiter_look(struct waiter *w)
{
    const struct eng_service *s = service_of(w);
    if (!s || w->ops->is_over(w->arg, w->face, s))
        waiter_answer(w);
}

/** The next one of a place looks; the place goes with its last one. */
static void place_look(struct place *p)
{
    struct waiter *w = p->next;
    if (!w && p->is_changed) {
        p->is_changed = false;
        w = TAILQ_FIRST(&p->waiters);
    }
    if (!w) {
        place_be_due(p, false);
        return;
    }
    p->next = TAILQ_NEXT(w, link);
    waiter_look(w);
}

static void on_turn(void *arg)
{
    struct waits *all = obj_cast(arg, struct waits, WAITS_MAGIC);
    int64_t end_us = run_now_us() + TURN_US;
    while (!TAILQ_EMPTY(&all->due) && run_now_us() < end_us)
        place_look(TAILQ_FIRST(&all->due));
    if (!TAILQ_EMPTY(&all->due))
        run_timer_start(all->turn, 0, 0);
}

void waits_changed(struct waits *all, enum eng_kind kind, const char *user, const char *name)
{
    struct place *p = all->places.n_items ? place_find(all, kind, user, name) : NULL;
    if (!p)
        return;
    p->is_changed = true;
    place_be_due(p, true);
    run_timer_start(all->turn, 0, 0);
}

/* ---- all of them ---- */

struct waits *waits_new(struct run_loop *loop)
{
    struct waits *all = mem_new(struct waits);
    obj_init(&all->obj, WAITS_MAGIC);
    all->loop = loop;
    all->stamp = run_wall_ms();
    all->turn = run_timer_new(loop, on_turn, all);
    TAILQ_INIT(&all->due);
    return all;
}

size_t waits_n(const struct waits *all)
{
    return all->n;
}

size_t waits_n_of(const struct waits *all, const struct eng_service *s, const struct wait_ops *ops)
{
    const struct place *p = place_find(all, s->kind, s->user, s->name);
    const struct waiter *w;
    size_t n = 0;
    if (p)
        TAILQ_FOREACH (w, &p->waiters, link)
            n += w->ops == ops;
    return n;
}

void waits_free(struct waits *all)
{
    if (!all)
        return;
    run_timer_free(all->turn);
    BUG_IF(all->n); /* The server has ended every request. */
    map_fini(&all->places, NULL);
    obj_fini(&all->obj);
    free(all);
}

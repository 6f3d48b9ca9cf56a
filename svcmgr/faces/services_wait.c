/** See services_wait.h. */
#include "faces/services_wait.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/map.h"
#include "base/mem.h"
#include "faces/services.h"
#include "faces/services_kit.h"

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
    const char *goal; /* parameter `wait`; borrowed from the request; NULL: an event from `since` on */
    int64_t since;
    bool explains;
    char *tag; /* CHANGE: what is known */
    struct run_timer *timer;
    TAILQ_ENTRY(waiter) link; /* of its place */
};
TAILQ_HEAD(waiter_list, waiter);

/** Those who wait for one service; it lives while there are any. */
struct place {
    char *key, *user, *name;
    struct waiter_list waiters;
    struct waiter *next;     /* that is to look; NULL: all have */
    bool is_changed;         /* once more, from the first one */
    TAILQ_ENTRY(place) link; /* of the places that are due */
    bool is_due;             /* some are to look */
    struct services_waits *all;
};
TAILQ_HEAD(place_list, place);

struct services_waits {
    struct obj obj;
    struct map places; /* "service/user/name" → struct place */
    struct place_list due;
    size_t n; /* waiters */
    struct run_loop *loop;
    struct run_timer *turn;
    int64_t stamp; /* of this process: its tags are no other one's */
};

static char *key_of(enum eng_kind kind, const char *user, const char *name)
{
    return mem_fmt("%s/%s/%s", eng_kind_word(kind), user, name);
}

/* ---- tags ---- */

char *services_wait_tag(const struct face *face, const struct eng_service *s)
{
    return mem_fmt("W/\"%llx-%llx\"", (unsigned long long)face->waits->stamp, (unsigned long long)s->change);
}

bool services_wait_is_known(const struct http_req *req, const char *tag)
{
    const char *seen = http_header(req, "If-None-Match");
    const char *opaque = strchr(tag, '"'); /* a weak comparison: W/ says nothing */
    return seen && (strstr(seen, opaque) || strcmp(seen, "*") == 0);
}

/* ---- goals ---- */

static bool is_any_change(const char *goal)
{
    return strcmp(goal, "CHANGE") == 0;
}

/** It stays as it is until somebody asks for something else. */
static bool is_final(const struct eng_service *s)
{
    return !eng_service_is_live(s) && !s->destroying;
}

/** There is nothing to wait for: the goal is reached, or does not come by itself. */
static bool is_over(const struct face *face, const struct eng_service *s, const char *goal, const char *tag)
{
    const struct dialect *dialect = face->ops->world(face->app)->dialect;
    if (is_any_change(goal)) {
        mem_auto char *now = services_wait_tag(face, s);
        return strcmp(now, tag) != 0;
    }
    return is_final(s) || services_is_in(s, goal, dialect);
}

/* ---- places ---- */

static struct place *place_get(struct services_waits *all, const struct eng_service *s)
{
    mem_auto char *key = key_of(s->kind, s->user, s->name);
    struct place *p = map_get(&all->places, key);
    if (p)
        return p;
    p = mem_new(struct place);
    p->all = all;
    p->user = mem_str(s->user);
    p->name = mem_str(s->name);
    p->key = mem_str(key);
    TAILQ_INIT(&p->waiters);
    map_set(&all->places, key, p);
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
    free(w->tag);
    obj_fini(&w->obj);
    free(w);
    place_drop(p);
}

/** Answer with what is. */
static void waiter_answer(struct waiter *w)
{
    const struct engine *engine = w->face->ops->engine(w->face->app);
    const struct eng_service *s = engine_find(engine, KIND_SERVICE, w->place->user, w->place->name);
    if (s && !w->goal) {
        service_reply_events(w->req, s, w->since);
    } else if (s) {
        service_reply(w->req, w->face, s, w->explains);
    } else {
        mem_auto char *text = mem_fmt("Service %s not found", w->place->name);
        services_reply_status(w->req, 404, text, SERVICES_CODE_NOT_FOUND, NULL);
    }
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

static struct waiter *waiter_new(struct http_req *req, struct face *face, const struct eng_service *s)
{
    struct waiter *w = mem_new(struct waiter);
    obj_init(&w->obj, WAITER_MAGIC);
    w->req = req;
    w->face = face;
    w->place = place_get(face->waits, s);
    return w;
}

/** Its wait begins. */
static void waiter_begin(struct waiter *w, int64_t timeout_ms)
{
    struct services_waits *all = w->face->waits;
    w->timer = run_timer_new(all->loop, on_waiter_late, w);
    run_timer_start(w->timer, (uint64_t)timeout_ms, 0);
    TAILQ_INSERT_TAIL(&w->place->waiters, w, link);
    all->n++;
    http_reply_later(w->req, on_waiter_closed, w);
    http_reply_if_late(w->req, on_waiter_late);
}

void services_wait(struct http_req *req, struct face *face, const struct eng_service *s)
{
    const char *goal = http_param_text(req, SERVICE_WAIT);
    const char *seen = http_header(req, "If-None-Match");
    mem_auto char *tag = services_wait_tag(face, s);
    bool explains = http_param_bool(req, SERVICE_EXPLAIN);
    bool is_changed = is_any_change(goal) && seen && !services_wait_is_known(req, tag);
    if (is_changed || is_over(face, s, goal, tag)) {
        service_reply(req, face, s, explains);
        return;
    }
    struct waiter *w = waiter_new(req, face, s);
    w->goal = goal;
    w->explains = explains;
    w->tag = tag;
    tag = NULL;
    waiter_begin(w, http_param_ms(req, SERVICE_TIMEOUT));
}

void services_wait_events(struct http_req *req, struct face *face, const struct eng_service *s, int64_t since)
{
    struct waiter *w = waiter_new(req, face, s);
    w->since = since;
    waiter_begin(w, http_param_ms(req, EVENTS_TIMEOUT));
}

/* ---- looking ---- */

static void waiter_look(struct waiter *w)
{
    const struct engine *engine = w->face->ops->engine(w->face->app);
    const struct eng_service *s = engine_find(engine, KIND_SERVICE, w->place->user, w->place->name);
    bool is_due = !s || (w->goal ? is_over(w->face, s, w->goal, w->tag) : service_has_events(s, w->since));
    if (is_due)
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
    struct services_waits *all = obj_cast(arg, struct services_waits, WAITS_MAGIC);
    int64_t end_us = run_now_us() + TURN_US;
    while (!TAILQ_EMPTY(&all->due) && run_now_us() < end_us)
        place_look(TAILQ_FIRST(&all->due));
    if (!TAILQ_EMPTY(&all->due))
        run_timer_start(all->turn, 0, 0);
}

void services_waits_changed(struct services_waits *all, enum eng_kind kind, const char *user,
                            const char *name)
{
    if (!all->places.n_items)
        return;
    mem_auto char *key = key_of(kind, user, name);
    struct place *p = map_get(&all->places, key);
    if (!p)
        return;
    p->is_changed = true;
    place_be_due(p, true);
    run_timer_start(all->turn, 0, 0);
}

/* ---- all of them ---- */

struct services_waits *services_waits_new(struct run_loop *loop)
{
    struct services_waits *all = mem_new(struct services_waits);
    obj_init(&all->obj, WAITS_MAGIC);
    all->loop = loop;
    all->stamp = run_wall_ms();
    all->turn = run_timer_new(loop, on_turn, all);
    TAILQ_INIT(&all->due);
    return all;
}

size_t services_waits_n(const struct services_waits *all)
{
    return all->n;
}

void services_waits_free(struct services_waits *all)
{
    if (!all)
        return;
    run_timer_free(all->turn);
    BUG_IF(all->n); /* The server has ended every request. */
    map_fini(&all->places, NULL);
    obj_fini(&all->obj);
    free(all);
}

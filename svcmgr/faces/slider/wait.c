/** See wait.h. */
#include "slider/wait.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "faces/services_wait.h"
#include "slider/kit.h"

#define WAITS_MAGIC  OBJ_MAGIC('S', 'W', 'T', 'S')
#define WAITER_MAGIC OBJ_MAGIC('S', 'W', 'T', 'R')
#define PREFERENCE   "wait="

struct place;

/** One request that waits. */
struct waiter {
    struct obj obj;
    struct http_req *req;
    struct face *face;
    struct place *place;
    struct slider_read read; /* its component is found by its name again */
    char *component;         /* NULL: none */
    char *tag;               /* that is known; NULL: any is */
    struct run_timer *timer;
    TAILQ_ENTRY(waiter) link; /* of its place */
};
TAILQ_HEAD(waiter_list, waiter);

/** Those who wait for one service; it lives while there are any. */
struct place {
    char *key, *user, *name;
    enum eng_kind kind;
    struct waiter_list waiters;
    size_t n;
    bool is_due;
    TAILQ_ENTRY(place) link; /* of the places that are due */
    struct slider_waits *all;
};
TAILQ_HEAD(place_list, place);

struct slider_waits {
    struct obj obj;
    struct map places; /* "slider/user/name" → struct place */
    struct place_list due;
    struct run_loop *loop;
    struct run_timer *turn;
};

static char *key_of(enum eng_kind kind, const char *user, const char *name)
{
    return mem_fmt("%s/%s/%s", eng_kind_word(kind), user, name);
}

/* ---- what is asked for ---- */

/** Seconds of "wait=N" in Prefer; *out unchanged: it has none. @return false: N is no number from 0 on */
static bool read_preference(const struct http_req *req, int64_t *out)
{
    const char *at = http_header(req, "Prefer");
    while (at && *at) {
        size_t len = strcspn(at, ",;");
        mem_auto char *part = mem_strn(at, len);
        mem_auto char *bare = str_trim(part);
        if (str_starts(bare, PREFERENCE))
            return str_to_i64(bare + strlen(PREFERENCE), 0, INT64_MAX, out) == 0;
        at += len + (at[len] != '\0');
    }
    return true;
}

/** Seconds that the request waits; -1: it does not. @return false: it asks wrongly, and that is replied. */
static bool read_seconds(struct http_req *req, int timeout, int64_t *out)
{
    *out = http_param_given(req, timeout) ? http_param_int(req, timeout) : -1;
    if (!read_preference(req, out)) {
        slider_reply_error(req, 400, "Prefer: wait= must have a number of seconds, 0 or more");
        return false;
    }
    if (*out > SLIDER_WAIT_MAX_S)
        *out = SLIDER_WAIT_MAX_S;
    return true;
}

/* ---- places ---- */

static struct place *place_get(struct slider_waits *all, const struct eng_service *s)
{
    mem_auto char *key = key_of(s->kind, s->user, s->name);
    struct place *p = map_get(&all->places, key);
    if (p)
        return p;
    p = mem_new(struct place);
    p->all = all;
    p->kind = s->kind;
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

static void waiter_free(struct waiter *w)
{
    struct place *p = w->place;
    TAILQ_REMOVE(&p->waiters, w, link);
    p->n--;
    run_timer_free(w->timer);
    free(w->component);
    free(w->tag);
    obj_fini(&w->obj);
    free(w);
    place_drop(p);
}

static const struct eng_service *service_of(const struct waiter *w)
{
    const struct engine *engine = w->face->ops->engine(w->face->app);
    return engine_find(engine, w->place->kind, w->place->user, w->place->name);
}

static void reply_now(struct http_req *req, struct face *face, const struct eng_service *s,
                      const struct slider_read *read)
{
    mem_auto char *tag = services_wait_tag(face, s);
    http_reply_header(req, "ETag", tag);
    read->reply(req, face, s, read->component);
}

/** Answer with what is. */
static void waiter_answer(struct waiter *w)
{
    const struct eng_service *s = service_of(w);
    w->read.component = s && w->component ? eng_service_component(s, w->component) : NULL;
    if (s && (w->read.component || !w->component))
        reply_now(w->req, w->face, s, &w->read);
    else
        slider_reply_error(w->req, 404, s ? "Unknown component" : "Unknown application");
    waiter_free(w);
}

static void on_closed(void *arg)
{
    waiter_free(obj_cast(arg, struct waiter, WAITER_MAGIC));
}

static void on_late(void *arg)
{
    waiter_answer(obj_cast(arg, struct waiter, WAITER_MAGIC));
}

/** Nothing to wait for any more: reached, changed, or it never comes. */
static bool is_over(const struct face *face, const struct eng_service *s, const struct slider_read *read,
                    const char *known_tag)
{
    bool is_ending = !eng_service_is_live(s) || s->state == SVC_FINISHING;
    if (!known_tag)
        return is_ending || read->is_over(s, read->component);
    mem_auto char *tag = services_wait_tag(face, s);
    return strcmp(tag, known_tag) != 0;
}

static void waiter_look(struct waiter *w)
{
    const struct eng_service *s = service_of(w);
    w->read.component = s && w->component ? eng_service_component(s, w->component) : NULL;
    bool is_gone = !s || (w->component && !w->read.component);
    if (is_gone || is_over(w->face, s, &w->read, w->tag))
        waiter_answer(w);
}

static void begin(struct http_req *req, struct face *face, const struct eng_service *s,
                  const struct slider_read *read, int64_t wait_s)
{
    struct waiter *w = mem_new(struct waiter);
    obj_init(&w->obj, WAITER_MAGIC);
    w->req = req;
    w->face = face;
    w->read = *read;
    w->component = read->component ? mem_str(read->component->name) : NULL;
    w->tag = http_header(req, "If-None-Match") ? services_wait_tag(face, s) : NULL;
    w->place = place_get(face->slider_waits, s);
    w->timer = run_timer_new(face->slider_waits->loop, on_late, w);
    run_timer_start(w->timer, (uint64_t)wait_s * 1000, 0);
    TAILQ_INSERT_TAIL(&w->place->waiters, w, link);
    w->place->n++;
    http_reply_later(req, on_closed, w);
    http_reply_if_late(req, on_late);
}

static bool is_full(const struct face *face, const struct eng_service *s)
{
    mem_auto char *key = key_of(s->kind, s->user, s->name);
    const struct place *p = map_get(&face->slider_waits->places, key);
    return p && p->n >= SLIDER_WAITERS_MAX;
}

void slider_read(struct http_req *req, struct face *face, const struct eng_service *s,
                 const struct slider_read *read)
{
    int64_t wait_s;
    if (!read_seconds(req, read->timeout, &wait_s))
        return;
    mem_auto char *tag = services_wait_tag(face, s);
    mem_auto char *applied = mem_fmt(PREFERENCE "%lld", (long long)wait_s);
    bool has_tag = http_header(req, "If-None-Match") != NULL;
    bool is_ready = has_tag ? !services_wait_is_known(req, tag) : is_over(face, s, read, NULL);
    if (wait_s >= 0)
        http_reply_header(req, "Preference-Applied", applied);
    if (wait_s <= 0 || is_ready || is_full(face, s))
        reply_now(req, face, s, read);
    else
        begin(req, face, s, read, wait_s);
}

/* ---- changes ---- */

/** All of a place look: they are few. */
static void on_turn(void *arg)
{
    struct slider_waits *all = obj_cast(arg, struct slider_waits, WAITS_MAGIC);
    struct place *p = TAILQ_FIRST(&all->due);
    if (!p)
        return;
    place_be_due(p, false);
    struct waiter *w = TAILQ_FIRST(&p->waiters), *next;
    for (; w; w = next) {
        next = TAILQ_NEXT(w, link);
        waiter_look(w); /* the place goes with its last one */
    }
    if (!TAILQ_EMPTY(&all->due))
        run_timer_start(all->turn, 0, 0);
}

void slider_waits_changed(struct slider_waits *all, enum eng_kind kind, const char *user, const char *name)
{
    if (!all->places.n_items)
        return;
    mem_auto char *key = key_of(kind, user, name);
    struct place *p = map_get(&all->places, key);
    if (!p)
        return;
    place_be_due(p, true);
    run_timer_start(all->turn, 0, 0);
}

/* ---- all of them ---- */

struct slider_waits *slider_waits_new(struct run_loop *loop)
{
    struct slider_waits *all = mem_new(struct slider_waits);
    obj_init(&all->obj, WAITS_MAGIC);
    all->loop = loop;
    all->turn = run_timer_new(loop, on_turn, all);
    TAILQ_INIT(&all->due);
    return all;
}

void slider_waits_free(struct slider_waits *all)
{
    if (!all)
        return;
    run_timer_free(all->turn);
    BUG_IF(all->places.n_items); /* The server has ended every request. */
    map_fini(&all->places, NULL);
    obj_fini(&all->obj);
    free(all);
}

#include "cleanup/cleanup.h"
#include "registryd/events.h"
#include "base/backoff.h"
#include "base/mem.h"
#include "base/obj.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#define REQUEST_MAGIC OBJ_MAGIC('C', 'R', 'E', 'Q')
#define EVENT_MAGIC   OBJ_MAGIC('C', 'E', 'V', 'T')
#define CLEANUP_MAGIC OBJ_MAGIC('C', 'L', 'E', 'A')

#define RUNNING_MAX    8
#define TRIES_MAX      10
#define RETRY_FIRST_MS 1000
#define RETRY_MAX_MS   60000

/* An event whose first outcome is awaited. */
struct event {
    struct obj obj;
    size_t n_open; /* requests that have not reported, and cleanup_event itself */
    int err;
    struct cleanup_outcome outcome;
    CLEANUP_DONE;
    void *arg;
};

/* A purge, or the homes of a user. */
struct request {
    struct obj obj;
    TAILQ_ENTRY(request) link;
    struct cleanup *cleanup;
    struct event *event; /* NULL: the first outcome was reported */
    bool makes_homes;
    char *subject, *reason;
    enum index_persistence persistence;
    bool dry_run;
    int n_tries;
    int64_t pause_ms; /* before the next try */
    int64_t due_ms;   /* not before */
};
TAILQ_HEAD(request_list, request);

struct cleanup {
    struct obj obj;
    struct cleanup_def def;
    struct purger *purger;
    struct run_timer *timer;
    struct request_list waiting;
    size_t n_waiting, n_running;
    bool is_stopped, is_released;
};

static void run_requests(void *arg);

/* ---- events ---- */

static const struct {
    const char *name, *subject;
} kinds[] = {
#define CLEANUP_EVENT_ROW(id, name, subject, what) {name, subject},
    CLEANUP_EVENTS(CLEANUP_EVENT_ROW)
#undef CLEANUP_EVENT_ROW
};

int cleanup_kind_read(const char *name, enum cleanup_kind *out, const char **subject, struct err_info *why)
{
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (strcmp(name, kinds[i].name) == 0) {
            *out = (enum cleanup_kind)i;
            *subject = kinds[i].subject;
            return 0;
        }
    }
    return err_set(why, ERR_INVALID, "/type",
                   "\"%s\" is no event: application-completed, attempt-unregistered, container-finished and "
                   "others are",
                   name);
}

const char *cleanup_kind_name(enum cleanup_kind kind)
{
    return kinds[kind].name;
}

/* ---- reporting ---- */

static void event_close(struct event *t)
{
    if (--t->n_open)
        return;
    if (t->done)
        t->done(t->arg, t->err, &t->outcome);
    obj_fini(&t->obj);
    free(t);
}

/* The outcome of the first try. */
static void request_report(struct request *q, int err, const struct err_info *why, bool is_retrying)
{
    struct event *t = q->event;
    if (!t)
        return;
    q->event = NULL;
    if (err && !t->err) {
        t->err = err;
        t->outcome.why = *why;
    }
    t->outcome.is_retrying = t->outcome.is_retrying || is_retrying;
    event_close(t);
}

static void request_free(struct request *q)
{
    free(q->subject);
    free(q->reason);
    obj_fini(&q->obj);
    free(q);
}

/* ---- running ---- */

static bool is_transient(const struct request *q, int err)
{
    if (err == ERR_NOTFOUND && q->makes_homes)
        return true; /* a new registry has no /users yet */
    return err == ERR_UNAVAILABLE || err == ERR_TIMEOUT || err == ERR_IO || err == ERR_CONFLICT ||
           err == ERR_NOTEMPTY || err == ERR_NOSPC || err == ERR_UNKNOWN_OUTCOME;
}

static void request_wait(struct request *q, int64_t pause_ms)
{
    struct cleanup *c = q->cleanup;
    q->due_ms = run_now_ms() + pause_ms;
    TAILQ_INSERT_TAIL(&c->waiting, q, link);
    c->n_waiting++;
}

static void cleanup_let_go(struct cleanup *c)
{
    if (!c->is_released || c->n_running)
        return;
    purger_free(c->purger);
    obj_fini(&c->obj);
    free(c);
}

static void request_done(struct request *q, int err, const struct err_info *why)
{
    struct cleanup *c = q->cleanup;
    c->n_running--;
    bool again = is_transient(q, err) && ++q->n_tries < TRIES_MAX && !c->is_stopped;
    request_report(q, err, why, again);
    if (again) {
        q->pause_ms = backoff_next(q->pause_ms, RETRY_FIRST_MS, RETRY_MAX_MS);
        request_wait(q, q->pause_ms);
    } else {
        if (err && err != ERR_CANCELLED)
            log_emit(&ev_cleanup_failed, LOG_STR("subject", q->subject), LOG_STR("reason", q->reason),
                     LOG_ERR(why));
        request_free(q);
    }
    if (!c->is_stopped)
        run_requests(c);
    cleanup_let_go(c);
}

static void on_purged(void *arg, int err, const struct purge_result *r)
{
    struct request *q = obj_cast(arg, struct request, REQUEST_MAGIC);
    struct event *t = q->event;
    if (t) {
        t->outcome.n_purged += r->n_deletes;
        t->outcome.zxid = r->zxid > t->outcome.zxid ? r->zxid : t->outcome.zxid;
    }
    request_done(q, err, &r->why);
}

static void on_homes(void *arg, int err, const struct users_result *r)
{
    struct request *q = obj_cast(arg, struct request, REQUEST_MAGIC);
    struct event *t = q->event;
    metric_add(q->cleanup->def.metrics, M_HOMES, r->made);
    if (t) {
        t->outcome.home_made = r->made;
        t->outcome.zxid = r->zxid > t->outcome.zxid ? r->zxid : t->outcome.zxid;
    }
    request_done(q, err, &r->why);
}

static void request_run(struct request *q)
{
    struct cleanup *c = q->cleanup;
    TAILQ_REMOVE(&c->waiting, q, link);
    c->n_waiting--;
    c->n_running++;
    if (q->makes_homes) {
        users_make(c->def.loop, c->def.ops, c->def.names, q->subject, on_homes, q);
        return;
    }
    struct purge_def def = {.id = q->subject,
                            .persistence = index_persistence_text(q->persistence),
                            .policy = PURGE_ALL,
                            .dry_run = q->dry_run,
                            .reason = q->reason};
    purge(c->purger, &def, on_purged, q);
}

static void run_requests(void *arg)
{
    struct cleanup *c = obj_cast(arg, struct cleanup, CLEANUP_MAGIC);
    int64_t now_ms = run_now_ms(), next_ms = INT64_MAX;
    struct request *q = TAILQ_FIRST(&c->waiting);
    while (q && c->n_running < RUNNING_MAX) {
        struct request *next = TAILQ_NEXT(q, link);
        if (q->due_ms <= now_ms)
            request_run(q);
        else if (q->due_ms < next_ms)
            next_ms = q->due_ms;
        q = next;
    }
    if (next_ms != INT64_MAX)
        run_timer_start(c->timer, (uint64_t)(next_ms - now_ms), 0);
}

/* ---- what an event asks for ---- */

static void request_add(struct cleanup *c, struct event *t, const struct cleanup_event *event,
                        const char *subject, enum index_persistence persistence)
{
    struct request *q = mem_new(struct request);
    obj_init(&q->obj, REQUEST_MAGIC);
    q->cleanup = c;
    q->event = t;
    t->n_open++;
    q->subject = mem_str(subject);
    q->reason = mem_str(event->reason);
    q->persistence = persistence;
    q->makes_homes = persistence == INDEX_OTHER;
    q->dry_run = event->dry_run;
    request_wait(q, 0);
}

static void add_requests(struct cleanup *c, struct event *t, const struct cleanup_event *e)
{
    mem_auto char *attempt = NULL;
    switch (e->kind) {
    case CLEANUP_APP_STORED:
        if (!e->dry_run)
            request_add(c, t, e, e->subject, INDEX_OTHER);
        break;
    case CLEANUP_APP_COMPLETED: request_add(c, t, e, e->subject, INDEX_APPLICATION); break;
    case CLEANUP_ATTEMPT_ENDED: request_add(c, t, e, e->subject, INDEX_ATTEMPT); break;
    case CLEANUP_AM_ENDED:
        attempt = index_attempt_of(e->subject);
        if (attempt)
            request_add(c, t, e, attempt, INDEX_ATTEMPT);
        request_add(c, t, e, e->subject, INDEX_CONTAINER);
        break;
    case CLEANUP_CONTAINER_ENDED: request_add(c, t, e, e->subject, INDEX_CONTAINER); break;
    default: break;
    }
}

static void on_begun(void *arg)
{
    event_close(obj_cast(arg, struct event, EVENT_MAGIC));
}

void cleanup_event(struct cleanup *c, const struct cleanup_event *event, CLEANUP_DONE, void *arg)
{
    struct event *t = mem_new(struct event);
    obj_init(&t->obj, EVENT_MAGIC);
    t->n_open = 1;
    t->done = done;
    t->arg = arg;
    if (!*event->subject && event->kind != CLEANUP_APP_STORED)
        t->err = err_set(&t->outcome.why, ERR_INVALID, kinds[event->kind].subject, "the event %s needs it",
                         kinds[event->kind].name);
    else
        add_requests(c, t, event);
    run_post(c->def.loop, on_begun, t);
    run_requests(c);
}

void cleanup_purge(struct cleanup *c, const struct purge_def *def, PURGE_DONE, void *arg)
{
    purge(c->purger, def, done, arg);
}

void cleanup_homes(struct cleanup *c, const char *user, USERS_DONE, void *arg)
{
    users_make(c->def.loop, c->def.ops, c->def.names, user, done, arg);
}

size_t cleanup_n_waiting(const struct cleanup *c)
{
    return c->n_waiting;
}

/* ---- life ---- */

struct cleanup *cleanup_new(const struct cleanup_def *def)
{
    struct cleanup *c = mem_new(struct cleanup);
    obj_init(&c->obj, CLEANUP_MAGIC);
    c->def = *def;
    c->purger = purger_new(def->loop, def->index, def->ops, def->metrics);
    c->timer = run_timer_new(def->loop, run_requests, c);
    TAILQ_INIT(&c->waiting);
    return c;
}

void cleanup_stop(struct cleanup *c)
{
    struct err_info why;
    struct request *q;
    err_set(&why, ERR_CANCELLED, "", "registryd is stopping");
    c->is_stopped = true;
    purger_stop(c->purger);
    run_timer_free(c->timer);
    c->timer = NULL;
    while ((q = TAILQ_FIRST(&c->waiting))) {
        TAILQ_REMOVE(&c->waiting, q, link);
        c->n_waiting--;
        request_report(q, ERR_CANCELLED, &why, false);
        request_free(q);
    }
}

void cleanup_free(struct cleanup *c)
{
    if (!c)
        return;
    c->is_released = true;
    cleanup_let_go(c);
}

#include "cleanup/cleanup.h"
#include "registryd/events.h"
#include "base/mem.h"
#include "base/obj.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#define JOB_MAGIC     OBJ_MAGIC('C', 'J', 'O', 'B')
#define CLEANUP_MAGIC OBJ_MAGIC('C', 'L', 'E', 'A')

#define RUNNING_MAX    8
#define TRIES_MAX      10
#define RETRY_FIRST_MS 1000
#define RETRY_MAX_MS   60000

/* An event whose first outcome is awaited. */
struct task {
    size_t n_open;
    int err;
    struct cleanup_outcome outcome;
    CLEANUP_DONE;
    void *arg;
};

/* A purge, or the homes of a user. */
struct job {
    struct obj obj;
    TAILQ_ENTRY(job) link;
    struct cleanup *cleanup;
    struct task *task; /* NULL: it was told */
    bool makes_homes;
    char *subject, *reason;
    enum index_persistence persistence;
    bool dry_run;
    int n_tries;
    int64_t due_ms; /* not before */
};
TAILQ_HEAD(job_list, job);

struct cleanup {
    struct obj obj;
    struct cleanup_def def;
    struct purger *purger;
    struct run_timer *timer;
    struct job_list waiting;
    size_t n_waiting, n_running;
    bool is_stopped, is_released;
};

static void run_jobs(void *arg);

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

/* ---- telling ---- */

static void task_close(struct task *t)
{
    if (--t->n_open)
        return;
    if (t->done)
        t->done(t->arg, t->err, &t->outcome);
    free(t);
}

/* The outcome of the first try. */
static void job_tell(struct job *j, int err, const struct err_info *why, bool is_retrying)
{
    struct task *t = j->task;
    if (!t)
        return;
    j->task = NULL;
    if (err && !t->err) {
        t->err = err;
        t->outcome.why = *why;
    }
    t->outcome.is_retrying = t->outcome.is_retrying || is_retrying;
    task_close(t);
}

static void job_free(struct job *j)
{
    free(j->subject);
    free(j->reason);
    obj_fini(&j->obj);
    free(j);
}

/* ---- running ---- */

static bool is_transient(const struct job *j, int err)
{
    if (err == ERR_NOTFOUND && j->makes_homes)
        return true; /* a new registry has no /users yet */
    return err == ERR_UNAVAILABLE || err == ERR_TIMEOUT || err == ERR_IO || err == ERR_CONFLICT ||
           err == ERR_NOTEMPTY || err == ERR_NOSPC || err == ERR_UNKNOWN_OUTCOME;
}

static void job_wait(struct job *j, int64_t pause_ms)
{
    struct cleanup *c = j->cleanup;
    j->due_ms = run_now_ms() + pause_ms;
    TAILQ_INSERT_TAIL(&c->waiting, j, link);
    c->n_waiting++;
}

static int64_t pause_after(int n_tries)
{
    int64_t pause_ms = RETRY_FIRST_MS;
    for (int i = 1; i < n_tries && pause_ms < RETRY_MAX_MS; i++)
        pause_ms *= 2;
    return pause_ms < RETRY_MAX_MS ? pause_ms : RETRY_MAX_MS;
}

static void cleanup_let_go(struct cleanup *c)
{
    if (!c->is_released || c->n_running)
        return;
    purger_free(c->purger);
    obj_fini(&c->obj);
    free(c);
}

static void job_done(struct job *j, int err, const struct err_info *why)
{
    struct cleanup *c = j->cleanup;
    c->n_running--;
    bool again = is_transient(j, err) && ++j->n_tries < TRIES_MAX && !c->is_stopped;
    job_tell(j, err, why, again);
    if (again) {
        job_wait(j, pause_after(j->n_tries));
    } else {
        if (err && err != ERR_CANCELLED)
            log_emit(&ev_cleanup_failed, LOG_STR("subject", j->subject), LOG_STR("reason", j->reason),
                     LOG_ERR(why));
        job_free(j);
    }
    if (!c->is_stopped)
        run_jobs(c);
    cleanup_let_go(c);
}

static void on_purged(void *arg, int err, const struct purge_result *r)
{
    struct job *j = obj_cast(arg, struct job, JOB_MAGIC);
    struct task *t = j->task;
    if (t) {
        t->outcome.n_purged += r->n_deletes;
        t->outcome.zxid = r->zxid > t->outcome.zxid ? r->zxid : t->outcome.zxid;
    }
    job_done(j, err, &r->why);
}

static void on_homes(void *arg, int err, const struct users_result *r)
{
    struct job *j = obj_cast(arg, struct job, JOB_MAGIC);
    struct task *t = j->task;
    metric_add(j->cleanup->def.metrics, M_HOMES, r->made);
    if (t) {
        t->outcome.home_made = r->made;
        t->outcome.zxid = r->zxid > t->outcome.zxid ? r->zxid : t->outcome.zxid;
    }
    job_done(j, err, &r->why);
}

static void job_run(struct job *j)
{
    struct cleanup *c = j->cleanup;
    TAILQ_REMOVE(&c->waiting, j, link);
    c->n_waiting--;
    c->n_running++;
    if (j->makes_homes) {
        users_make(c->def.loop, c->def.ops, c->def.names, j->subject, on_homes, j);
        return;
    }
    struct purge_def def = {.id = j->subject,
                            .persistence = index_persistence_text(j->persistence),
                            .policy = PURGE_ALL,
                            .dry_run = j->dry_run,
                            .reason = j->reason};
    purge(c->purger, &def, on_purged, j);
}

static void run_jobs(void *arg)
{
    struct cleanup *c = obj_cast(arg, struct cleanup, CLEANUP_MAGIC);
    int64_t now_ms = run_now_ms(), next_ms = INT64_MAX;
    struct job *j = TAILQ_FIRST(&c->waiting);
    while (j && c->n_running < RUNNING_MAX) {
        struct job *next = TAILQ_NEXT(j, link);
        if (j->due_ms <= now_ms)
            job_run(j);
        else if (j->due_ms < next_ms)
            next_ms = j->due_ms;
        j = next;
    }
    if (next_ms != INT64_MAX)
        run_timer_start(c->timer, (uint64_t)(next_ms - now_ms), 0);
}

/* ---- what an event asks for ---- */

static void job_add(struct cleanup *c, struct task *t, const struct cleanup_event *event, const char *subject,
                    enum index_persistence persistence)
{
    struct job *j = mem_new(struct job);
    obj_init(&j->obj, JOB_MAGIC);
    j->cleanup = c;
    j->task = t;
    t->n_open++;
    j->subject = mem_str(subject);
    j->reason = mem_str(event->reason);
    j->persistence = persistence;
    j->makes_homes = persistence == INDEX_OTHER;
    j->dry_run = event->dry_run;
    job_wait(j, 0);
}

static void add_jobs(struct cleanup *c, struct task *t, const struct cleanup_event *e)
{
    mem_auto char *attempt = NULL;
    switch (e->kind) {
    case CLEANUP_APP_STORED:
        if (!e->dry_run)
            job_add(c, t, e, e->subject, INDEX_OTHER);
        break;
    case CLEANUP_APP_COMPLETED: job_add(c, t, e, e->subject, INDEX_APPLICATION); break;
    case CLEANUP_ATTEMPT_ENDED: job_add(c, t, e, e->subject, INDEX_ATTEMPT); break;
    case CLEANUP_AM_ENDED:
        attempt = index_attempt_of(e->subject);
        if (attempt)
            job_add(c, t, e, attempt, INDEX_ATTEMPT);
        job_add(c, t, e, e->subject, INDEX_CONTAINER);
        break;
    case CLEANUP_CONTAINER_ENDED: job_add(c, t, e, e->subject, INDEX_CONTAINER); break;
    default: break;
    }
}

static void on_begun(void *arg)
{
    task_close(arg);
}

void cleanup_event(struct cleanup *c, const struct cleanup_event *event, CLEANUP_DONE, void *arg)
{
    struct task *t = mem_new(struct task);
    t->n_open = 1;
    t->done = done;
    t->arg = arg;
    if (!*event->subject)
        t->err = err_set(&t->outcome.why, ERR_INVALID, kinds[event->kind].subject, "the event %s needs it",
                         kinds[event->kind].name);
    else
        add_jobs(c, t, event);
    run_post(c->def.loop, on_begun, t);
    run_jobs(c);
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
    c->timer = run_timer_new(def->loop, run_jobs, c);
    TAILQ_INIT(&c->waiting);
    return c;
}

void cleanup_stop(struct cleanup *c)
{
    struct err_info why;
    struct job *j;
    err_set(&why, ERR_CANCELLED, "", "registryd is stopping");
    c->is_stopped = true;
    purger_stop(c->purger);
    run_timer_free(c->timer);
    c->timer = NULL;
    while ((j = TAILQ_FIRST(&c->waiting))) {
        TAILQ_REMOVE(&c->waiting, j, link);
        c->n_waiting--;
        job_tell(j, ERR_CANCELLED, &why, false);
        job_free(j);
    }
}

void cleanup_free(struct cleanup *c)
{
    if (!c)
        return;
    c->is_released = true;
    cleanup_let_go(c);
}

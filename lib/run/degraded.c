#include "run/degraded.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/obj.h"
#include "base/path.h"
#include "run/fdlimit.h"
#include "run/log.h"

#define DEGRADED_MAGIC OBJ_MAGIC('D', 'G', 'R', 'D')

/** How often a shortage is looked at again, and how much room on a disk ends one. */
#define LOOK_EVERY_MS 1000
#define ROOM_BYTES    ((off_t)4 << 20)
/** Descriptors are not short any more so long after the last report. */
#define CALM_MS      3000
#define SAY_EVERY_MS 60000

#define DEGRADED_EVENTS(X)                                                                                   \
    X(disk_full, LOG_ERROR, "The disk is full. /readyz reports degraded until it has room.")                 \
    X(disk_has_room, LOG_INFO, "The disk has room again.")                                                   \
    X(descriptors_short, LOG_ERROR,                                                                          \
      "File descriptors run out; idle connections are closed. Raise LimitNOFILE.")                           \
    X(descriptors_enough, LOG_INFO, "File descriptors suffice again.")
LOG_DECLARE(DEGRADED_EVENTS)

static const struct {
    const struct log_event *begins, *ends;
    const char *cause;
    const char *text;
} kinds[DEGRADED_N] = {
    [DEGRADED_DISK] = {&ev_disk_full, &ev_disk_has_room, "disk", "there is no room to write"},
    [DEGRADED_DESCRIPTORS] = {&ev_descriptors_short, &ev_descriptors_enough, "descriptors",
                              "descriptors are short for"},
};

/** One kind, as reported. Guarded by the lock. */
struct shortage {
    bool is_short;
    char where[256];
    int error;
    uint64_t n_reports;
    int64_t last_ms;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* nothing is called under it but run_post */
static struct shortage shortages[DEGRADED_N];
static _Atomic unsigned n_short;
static struct degraded *watcher; /* guarded by the lock */

struct said {
    bool is_short;
    int64_t at_ms; /* 0: nothing was said */
};

struct degraded {
    struct obj obj;
    struct run_loop *loop;
    struct metrics *metrics;
    int rows[DEGRADED_N], counters[DEGRADED_N]; /* of the metrics, -1: none */
    uint64_t n_counted[DEGRADED_N];
    void (*changed)(void *arg, const char *reason);
    void *arg;
    struct run_timer *look;
    struct said said[DEGRADED_N];
    bool is_posted; /* guarded by the lock */
    bool is_looking, is_over;
    uv_work_t work;
    char probe_where[256]; /* the disk that is looked at, and what was known before */
    uint64_t probe_reports;
    bool has_room;
};

/* ---- reports ---- */

static int kind_of(int error)
{
    switch (error) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG: return DEGRADED_DISK;
    case EMFILE:
    case ENFILE: return DEGRADED_DESCRIPTORS;
    default: return -1;
    }
}

static void on_posted(void *arg);

/** Have the watcher look; the lock is held. */
static void post(void)
{
    if (!watcher || watcher->is_posted)
        return;
    watcher->is_posted = true;
    run_post(watcher->loop, on_posted, watcher);
}

static void set_short(struct shortage *s, bool is_short)
{
    if (s->is_short == is_short)
        return;
    s->is_short = is_short;
    atomic_fetch_add(&n_short, is_short ? 1u : -1u);
    post();
}

void degraded_report(int error, const char *where)
{
    int kind = kind_of(error);
    if (kind < 0)
        return;
    pthread_mutex_lock(&lock);
    struct shortage *s = &shortages[kind];
    s->n_reports++;
    s->last_ms = run_now_ms();
    s->error = error;
    snprintf(s->where, sizeof s->where, "%s", where);
    set_short(s, true);
    pthread_mutex_unlock(&lock);
    errno = error;
}

void degraded_over(const char *where)
{
    if (!atomic_load_explicit(&n_short, memory_order_relaxed))
        return;
    pthread_mutex_lock(&lock);
    struct shortage *s = &shortages[DEGRADED_DISK];
    if (s->is_short && strcmp(s->where, where) == 0)
        set_short(s, false);
    pthread_mutex_unlock(&lock);
}

/* ---- what is said ---- */

static void say(struct degraded *g, int kind, const struct shortage *s)
{
    struct said *said = &g->said[kind];
    int64_t now_ms = run_now_ms();
    if (said->is_short == s->is_short || (said->at_ms && now_ms - said->at_ms < SAY_EVERY_MS))
        return;
    *said = (struct said){s->is_short, now_ms};
    if (s->is_short)
        log_emit(kinds[kind].begins, LOG_STR("where", s->where), LOG_STR("why", strerror(s->error)));
    else
        log_emit(kinds[kind].ends, LOG_STR("where", s->where));
}

static void count(struct degraded *g, int kind, const struct shortage *s)
{
    if (g->rows[kind] >= 0)
        metric_set(g->metrics, g->rows[kind], s->is_short);
    if (g->counters[kind] >= 0)
        metric_add(g->metrics, g->counters[kind], (int64_t)(s->n_reports - g->n_counted[kind]));
    g->n_counted[kind] = s->n_reports;
}

/** Tell events, metrics and the daemon what is so now; look again while something is short or not said yet. */
static void report_changes(struct degraded *g)
{
    struct shortage now[DEGRADED_N];
    buf_auto struct buf reason = BUF_EMPTY;
    bool goes_on = false;
    pthread_mutex_lock(&lock);
    memcpy(now, shortages, sizeof now);
    pthread_mutex_unlock(&lock);
    for (int kind = 0; kind < DEGRADED_N; kind++) {
        const struct shortage *s = &now[kind];
        say(g, kind, s);
        count(g, kind, s);
        goes_on = goes_on || s->is_short || g->said[kind].is_short != s->is_short;
        if (s->is_short)
            buf_addf(&reason, "%s%s %s (%s)", reason.len ? "; " : "degraded: ", kinds[kind].text, s->where,
                     strerror(s->error));
    }
    g->changed(g->arg, reason.len ? buf_cstr(&reason) : NULL);
    if (goes_on)
        run_timer_start(g->look, LOOK_EVERY_MS, 0);
}

static void on_posted(void *arg)
{
    struct degraded *g = obj_cast(arg, struct degraded, DEGRADED_MAGIC);
    pthread_mutex_lock(&lock);
    bool is_watching = watcher == g;
    g->is_posted = false;
    pthread_mutex_unlock(&lock);
    if (is_watching)
        report_changes(g);
    else if (!g->is_looking)
        free(g);
}

/* ---- looking again ---- */

/** On a thread of the pool: whether a file of some size has room where the last one had none. */
static void look_at_disk(uv_work_t *work)
{
    struct degraded *g = obj_cast(work->data, struct degraded, DEGRADED_MAGIC);
    mem_auto char *dir = path_parent(g->probe_where);
    int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    /* A file system without nameless files is looked at when the next write succeeds. */
    g->has_room = fd >= 0 && posix_fallocate(fd, 0, ROOM_BYTES) == 0;
    if (fd >= 0)
        close(fd);
}

static void on_looked(uv_work_t *work, int status)
{
    struct degraded *g = obj_cast(work->data, struct degraded, DEGRADED_MAGIC);
    (void)status;
    g->is_looking = false;
    if (g->is_over) {
        if (!g->is_posted)
            free(g);
        return;
    }
    pthread_mutex_lock(&lock);
    struct shortage *s = &shortages[DEGRADED_DISK];
    if (g->has_room && s->n_reports == g->probe_reports)
        set_short(s, false);
    pthread_mutex_unlock(&lock);
}

static bool begin_look(struct degraded *g)
{
    pthread_mutex_lock(&lock);
    const struct shortage *s = &shortages[DEGRADED_DISK];
    bool is_wanted = s->is_short && !g->is_looking;
    memcpy(g->probe_where, s->where, sizeof g->probe_where);
    g->probe_reports = s->n_reports;
    pthread_mutex_unlock(&lock);
    return is_wanted;
}

static void look_at_descriptors(void)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    bool are_enough = fd >= 0 && !fdlimit_is_short(fd, 1);
    if (fd >= 0)
        close(fd);
    pthread_mutex_lock(&lock);
    struct shortage *s = &shortages[DEGRADED_DESCRIPTORS];
    if (s->is_short && are_enough && run_now_ms() - s->last_ms >= CALM_MS)
        set_short(s, false);
    pthread_mutex_unlock(&lock);
}

static void on_look(void *arg)
{
    struct degraded *g = obj_cast(arg, struct degraded, DEGRADED_MAGIC);
    look_at_descriptors();
    if (begin_look(g)) {
        g->work.data = g;
        g->is_looking = uv_queue_work(run_loop_uv(g->loop), &g->work, look_at_disk, on_looked) == 0;
    }
    report_changes(g);
}

/* ---- watching ---- */

static int row_of(const struct metric_def *defs, size_t n_defs, const char *name, const char *label,
                  const char *value)
{
    mem_auto char *labels = mem_fmt("%s=\"%s\"", label, value);
    for (size_t i = 0; i < n_defs; i++) {
        if (strcmp(defs[i].name, name) == 0 && strcmp(defs[i].labels, labels) == 0)
            return (int)i;
    }
    return -1;
}

struct degraded *degraded_watch(struct run_loop *loop, struct metrics *metrics, const struct metric_def *defs,
                                size_t n_defs, void (*changed)(void *arg, const char *reason), void *arg)
{
    struct degraded *g = mem_new(struct degraded);
    obj_init(&g->obj, DEGRADED_MAGIC);
    g->loop = loop;
    g->metrics = metrics;
    g->changed = changed;
    g->arg = arg;
    for (int kind = 0; kind < DEGRADED_N; kind++) {
        g->rows[kind] = row_of(defs, n_defs, "degraded", "cause", kinds[kind].cause);
        g->counters[kind] = row_of(defs, n_defs, "shortages", "of", kinds[kind].cause);
    }
    g->look = run_timer_new(loop, on_look, g);
    pthread_mutex_lock(&lock);
    BUG_IF(watcher != NULL);
    watcher = g;
    if (atomic_load(&n_short))
        post();
    pthread_mutex_unlock(&lock);
    return g;
}

void degraded_unwatch(struct degraded *g)
{
    run_timer_free(g->look);
    pthread_mutex_lock(&lock);
    watcher = NULL;
    g->is_over = true;
    bool is_needed = g->is_posted || g->is_looking;
    pthread_mutex_unlock(&lock);
    if (!is_needed)
        free(g);
}

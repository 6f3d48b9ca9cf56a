#include "publish/reconcile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/backoff.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/obj.h"
#include "run/task.h"
#include "base/path.h"

#define RECONCILE_MAGIC OBJ_MAGIC('K', 'E', 'P', 'T')

#define AGAIN_FIRST_MS 1000
#define AGAIN_MAX_MS   300000
#define LOST_MAX       64     /* reported in one step */
#define FORGET_MAX     32     /* released in one step */
#define STOOD_MS       600000 /* a record that stood so long is put back at once again */

/** What is above items: so that all below a path are found without a look at the others. */
struct dir {
    TAILQ_ENTRY(dir) link; /* of its parent's, or of those that are forgotten */
    char *path;
    struct dir *parent;
    TAILQ_HEAD(, dir) dirs;
    TAILQ_HEAD(, item) items;
    bool is_forgotten; /* its items are not wanted any more, and are released step by step */
};
TAILQ_HEAD(dir_list, dir);

struct item {
    TAILQ_ENTRY(item) link;    /* in `doubtful`, while is_doubtful */
    TAILQ_ENTRY(item) sibling; /* of its directory */
    struct dir *dir;
    char *path;
    struct reg_record *record;
    uint64_t version;
    bool is_written, is_shown; /* the registry has taken it; the feed shows it as it is wanted */
    bool is_doubtful;          /* written, not shown */
    char store[REG_REVISION_MAX];
    int64_t revision;  /* of store, as which it was taken */
    int64_t pause_ms;  /* before it is put back the next time; 0: none */
    int64_t due_ms;    /* not put back before */
    int64_t stands_ms; /* since when the feed shows it */
    int64_t waits_ms;  /* wall clock since which it is not written; meaningless while it is */
    int64_t begun_ms;  /* the same by run_now_ms() */
    char *refusal;     /* why the registry refuses it; NULL: it does not, as far as is known */
};
TAILQ_HEAD(item_list, item);

struct reconcile {
    struct obj obj;
    struct reconcile_def def;
    struct map items; /* path -> struct item */
    struct map dirs;  /* path -> struct dir, but those that are forgotten */
    struct item_list doubtful;
    struct dir_list forgotten;
    uint64_t last_version;
    char *top; /* what is, or is to be, followed; NULL: nothing yet */
    struct reg_watch *watch;
    struct run_timer *follow_timer, *due_timer;
    struct run_task *task;        /* reports what is lost and due */
    struct run_task *forget_task; /* releases what is forgotten */
    char store[REG_REVISION_MAX]; /* the feed has come to this revision of it; "": to none */
    int64_t revision;
    bool is_lost; /* the registry was heard, and is not now */
    bool is_stale, in_snapshot;
    bool is_held;   /* nothing is followed yet */
    bool is_synced; /* the feed has shown all once */
};

/* ---- items ---- */

static void set_doubtful(struct reconcile *r, struct item *i)
{
    bool is_doubtful = i->is_written && !i->is_shown;
    if (is_doubtful == i->is_doubtful)
        return;
    i->is_doubtful = is_doubtful;
    if (is_doubtful)
        TAILQ_INSERT_TAIL(&r->doubtful, i, link);
    else
        TAILQ_REMOVE(&r->doubtful, i, link);
}

static void begin_waiting(struct item *i)
{
    i->waits_ms = run_wall_ms();
    i->begun_ms = run_now_ms();
}

/* It is to be written (again). */
static void set_waiting(struct reconcile *r, struct item *i)
{
    if (i->is_written)
        begin_waiting(i);
    i->is_written = false;
    mem_free_ptr(&i->refusal);
    set_doubtful(r, i);
}

static void set_shown(struct reconcile *r, struct item *i, bool is_shown)
{
    if (is_shown && !i->is_shown)
        i->stands_ms = run_now_ms();
    if (!is_shown && i->is_shown && run_now_ms() - i->stands_ms >= STOOD_MS)
        i->pause_ms = i->due_ms = 0;
    i->is_shown = is_shown;
    set_doubtful(r, i);
}

/* ---- directories ---- */

/* The directory of what stands at a path, made where there is none. */
static struct dir *dir_above(struct reconcile *r, const char *path)
{
    size_t len = (size_t)(path_name(path) - path - 1);
    mem_auto char *above = mem_strn(path, len);
    struct dir *d = map_get(&r->dirs, above);

    if (d)
        return d;
    d = mem_new(struct dir);
    d->path = mem_str(above);
    TAILQ_INIT(&d->dirs);
    TAILQ_INIT(&d->items);
    map_set(&r->dirs, d->path, d);
    if (len) {
        d->parent = dir_above(r, d->path);
        TAILQ_INSERT_TAIL(&d->parent->dirs, d, link);
    }
    return d;
}

static void dir_free(struct dir *d)
{
    free(d->path);
    free(d);
}

/* A directory goes when nothing is left in it; then its parent, too. */
static void dirs_clean(struct reconcile *r, struct dir *d)
{
    while (d && !d->is_forgotten && TAILQ_EMPTY(&d->items) && TAILQ_EMPTY(&d->dirs)) {
        struct dir *parent = d->parent;
        if (parent)
            TAILQ_REMOVE(&parent->dirs, d, link);
        map_remove(&r->dirs, d->path);
        dir_free(d);
        d = parent;
    }
}

/* All below it is not wanted any more. */
static void dir_forget(struct reconcile *r, struct dir *d)
{
    struct dir *below;

    while ((below = TAILQ_FIRST(&d->dirs)))
        dir_forget(r, below);
    if (d->parent)
        TAILQ_REMOVE(&d->parent->dirs, d, link);
    d->parent = NULL;
    d->is_forgotten = true;
    map_remove(&r->dirs, d->path);
    TAILQ_INSERT_TAIL(&r->forgotten, d, link);
}

static void item_free(struct reconcile *r, struct item *i)
{
    i->is_written = false;
    set_doubtful(r, i);
    map_remove(&r->items, i->path);
    TAILQ_REMOVE(&i->dir->items, i, sibling);
    dirs_clean(r, i->dir);
    reg_record_free(i->record);
    free(i->refusal);
    free(i->path);
    free(i);
}

/* What is wanted at a path; NULL: nothing. */
static struct item *find(struct reconcile *r, const char *path)
{
    struct item *i = map_get(&r->items, path);

    if (!i || !i->dir->is_forgotten)
        return i;
    item_free(r, i);
    return NULL;
}

static struct item *item_new(struct reconcile *r, const char *path)
{
    struct item *i = mem_new(struct item);

    i->path = mem_str(path);
    i->dir = dir_above(r, path);
    TAILQ_INSERT_TAIL(&i->dir->items, i, sibling);
    begin_waiting(i);
    map_set(&r->items, path, i);
    return i;
}

/** A step of a task. @return whether more are to be released */
static bool release_forgotten(void *arg)
{
    struct reconcile *r = obj_cast(arg, struct reconcile, RECONCILE_MAGIC);
    struct dir *d = TAILQ_FIRST(&r->forgotten);

    for (int n = 0; d && n < FORGET_MAX && !TAILQ_EMPTY(&d->items); n++)
        item_free(r, TAILQ_FIRST(&d->items));
    if (d && TAILQ_EMPTY(&d->items)) {
        TAILQ_REMOVE(&r->forgotten, d, link);
        dir_free(d);
    }
    return !TAILQ_EMPTY(&r->forgotten);
}

/* ---- what is lost ---- */

/* The feed has come to the revision as which this was taken, or to another store. */
static bool has_passed(const struct reconcile *r, const struct item *i)
{
    return strcmp(r->store, i->store) != 0 || r->revision >= i->revision;
}

static void report_lost(struct reconcile *r, struct item *i, int64_t now_ms)
{
    set_waiting(r, i);
    i->pause_ms = backoff_next(i->pause_ms, AGAIN_FIRST_MS, AGAIN_MAX_MS);
    i->due_ms = now_ms + i->pause_ms;
    r->def.lost(r->def.arg, i->path, i->record, i->version);
}

/** A step of the task: report lost records that are due. @return whether more are due than one step may report */
static bool judge(void *arg)
{
    struct reconcile *r = obj_cast(arg, struct reconcile, RECONCILE_MAGIC);
    int64_t now_ms = run_now_ms(), next_ms = -1;
    struct item *i, *next;
    mem_auto char *path = NULL;
    size_t n = 0;

    if (!r->store[0] || r->in_snapshot || r->is_stale)
        return false;
    for (i = TAILQ_FIRST(&r->doubtful); i; i = next) {
        next = TAILQ_NEXT(i, link);
        if (i->dir->is_forgotten || !has_passed(r, i))
            continue;
        if (i->due_ms > now_ms) {
            next_ms = next_ms < 0 || i->due_ms < next_ms ? i->due_ms : next_ms;
            continue;
        }
        if (n == LOST_MAX)
            break;
        if (!n++)
            path = mem_str(i->path);
        report_lost(r, i, now_ms);
    }
    if (!i && next_ms >= 0)
        run_timer_start(r->due_timer, (uint64_t)(next_ms - now_ms), 0);
    if (n)
        r->def.restored(r->def.arg, n, path);
    return i != NULL;
}

static void on_due(void *arg)
{
    run_task_now(obj_cast(arg, struct reconcile, RECONCILE_MAGIC)->task);
}

/* ---- the feed ---- */

static void on_reset(void *arg)
{
    struct reconcile *r = obj_cast(arg, struct reconcile, RECONCILE_MAGIC);

    r->in_snapshot = true;
    for (MAP_EACH (&r->items, it))
        set_shown(r, it->value, false);
}

static void on_put(void *arg, const char *path, const struct reg_record *record, const char *revision)
{
    struct reconcile *r = obj_cast(arg, struct reconcile, RECONCILE_MAGIC);
    struct item *i = find(r, path);

    (void)revision;
    if (i)
        set_shown(r, i, record && reg_record_equal(record, i->record));
}

static void on_deleted(void *arg, const char *path, const char *revision)
{
    struct reconcile *r = obj_cast(arg, struct reconcile, RECONCILE_MAGIC);
    struct item *i = find(r, path);

    (void)revision;
    if (i)
        set_shown(r, i, false);
}

static void on_progress(void *arg, const char *revision)
{
    struct reconcile *r = obj_cast(arg, struct reconcile, RECONCILE_MAGIC);

    if (reg_revision_read(revision, r->store, &r->revision) == 0)
        run_task_now(r->task);
}

static void on_synced(void *arg, const char *revision)
{
    struct reconcile *r = obj_cast(arg, struct reconcile, RECONCILE_MAGIC);
    mem_auto char *before = mem_str(r->store);

    r->in_snapshot = false;
    r->is_synced = true;
    on_progress(r, revision);
    r->def.heard(r->def.arg);
    if (before[0] && strcmp(before, r->store) != 0)
        r->def.back(r->def.arg);
}

static void on_stale(void *arg, bool is_stale)
{
    obj_cast(arg, struct reconcile, RECONCILE_MAGIC)->is_stale = is_stale;
}

static void on_state(void *arg, const struct err_info *why)
{
    struct reconcile *r = obj_cast(arg, struct reconcile, RECONCILE_MAGIC);

    bool was_lost = r->is_lost;

    r->is_lost = why && r->store[0];
    if (!why)
        r->def.heard(r->def.arg);
    if (!why && was_lost)
        r->def.back(r->def.arg);
}

static void on_failed(void *arg, const char *url, const struct err_info *why)
{
    struct reconcile *r = obj_cast(arg, struct reconcile, RECONCILE_MAGIC);

    r->def.failed(r->def.arg, url, why);
}

static const struct reg_watch_ops watch_ops = {.reset = on_reset,
                                               .put = on_put,
                                               .deleted = on_deleted,
                                               .synced = on_synced,
                                               .progress = on_progress,
                                               .stale = on_stale,
                                               .state = on_state,
                                               .failed = on_failed};

static void follow(void *arg)
{
    struct reconcile *r = obj_cast(arg, struct reconcile, RECONCILE_MAGIC);

    reg_watch_stop(r->watch);
    r->in_snapshot = true;
    r->is_stale = false; /* as a new watch assumes */
    r->watch = reg_watch_start(r->def.reg, r->top, NULL, &watch_ops, r);
    BUG_IF(!r->watch);
}

static void follow_later(struct reconcile *r)
{
    if (!r->is_held)
        run_timer_start(r->follow_timer, 0, 0);
}

/* Length of the longest path that is above both, or both. */
static size_t common_len(const char *a, const char *b)
{
    size_t len = 0;

    for (size_t i = 0;; i++) {
        bool is_end_a = !a[i] || a[i] == '/', is_end_b = !b[i] || b[i] == '/';
        if (is_end_a && is_end_b)
            len = i;
        if (!a[i] || a[i] != b[i])
            return len;
    }
}

/* Follow what is above this one, too. Its siblings come with it: the other services of the user. */
static void cover(struct reconcile *r, const char *path)
{
    size_t len = r->top ? common_len(r->top, path) : (size_t)(path_name(path) - path - 1);

    if (r->top && len == (r->top[1] ? strlen(r->top) : 0))
        return;
    char *top = len ? mem_strn(path, len) : mem_str("/");
    free(r->top);
    r->top = top;
    follow_later(r); /* more may be wanted in this turn */
}

/* ---- the interface ---- */

struct reconcile *reconcile_new(const struct reconcile_def *def)
{
    struct reconcile *r = mem_new(struct reconcile);

    obj_init(&r->obj, RECONCILE_MAGIC);
    r->def = *def;
    TAILQ_INIT(&r->doubtful);
    TAILQ_INIT(&r->forgotten);
    r->follow_timer = run_timer_new(def->loop, follow, r);
    r->due_timer = run_timer_new(def->loop, on_due, r);
    r->task = run_task_new(def->loop, judge, r);
    r->forget_task = run_task_new(def->loop, release_forgotten, r);
    r->top = mem_str(def->home);
    r->def.home = NULL;
    r->is_held = def->is_held;
    if (r->top)
        follow_later(r);
    return r;
}

void reconcile_begin(struct reconcile *r)
{
    r->is_held = false;
    if (r->top)
        follow_later(r);
}

bool reconcile_is_synced(const struct reconcile *r)
{
    return r->is_synced;
}

bool reconcile_stands(struct reconcile *r, const char *path, uint64_t version)
{
    struct item *i = find(r, path);

    if (!i || i->version != version || !i->is_shown || r->in_snapshot || r->is_stale)
        return false;
    i->store[0] = 0; /* as which revision is not known: the next word of the feed counts */
    i->is_written = true;
    set_doubtful(r, i);
    return true;
}

uint64_t reconcile_want(struct reconcile *r, const char *path, const struct reg_record *record)
{
    struct item *i = find(r, path);

    if (!i) {
        i = item_new(r, path);
        cover(r, path);
    } else if (i->is_shown && !reg_record_equal(i->record, record)) {
        set_shown(r, i, false);
    }
    reg_record_free(i->record);
    i->record = reg_record_copy(record);
    i->version = ++r->last_version;
    set_waiting(r, i);
    return i->version;
}

void reconcile_written(struct reconcile *r, const char *path, uint64_t version, const char *revision)
{
    struct item *i = find(r, path);

    if (!i || i->version != version)
        return;
    if (reg_revision_read(revision, i->store, &i->revision))
        i->store[0] = 0; /* not known: the next word of the feed counts */
    i->is_written = true;
    set_doubtful(r, i);
}

void reconcile_forget(struct reconcile *r, const char *path)
{
    struct item *i = find(r, path);

    if (i)
        item_free(r, i);
}

void reconcile_forget_below(struct reconcile *r, const char *path)
{
    cover(r, path);
    reconcile_forget(r, path);
    struct dir *d = map_get(&r->dirs, path);
    if (!d)
        return;
    struct dir *above = d->parent;
    dir_forget(r, d);
    dirs_clean(r, above);
    run_task_start(r->forget_task);
}

void reconcile_refused(struct reconcile *r, const char *path, uint64_t version, const char *why)
{
    struct item *i = find(r, path);

    if (!i || i->version != version)
        return;
    free(i->refusal);
    i->refusal = mem_str(why);
}

bool reconcile_waits(const struct reconcile *r, const char *path, struct reconcile_wait *out)
{
    const struct item *i = map_get(&r->items, path);

    if (!i || i->dir->is_forgotten || i->is_written)
        return false;
    *out = (struct reconcile_wait){i->waits_ms, run_now_ms() - i->begun_ms, i->refusal};
    return true;
}

bool reconcile_revision(const struct reconcile *r, char *out)
{
    if (r->store[0])
        snprintf(out, REG_REVISION_MAX, "%.*s.%lld", REG_REVISION_MAX - 22, r->store, (long long)r->revision);
    return r->store[0] != '\0';
}

void reconcile_free(struct reconcile *r)
{
    if (!r)
        return;
    reg_watch_stop(r->watch);
    run_timer_free(r->follow_timer);
    run_timer_free(r->due_timer);
    run_task_free(r->task);
    run_task_free(r->forget_task);
    for (MAP_EACH (&r->items, it))
        item_free(r, it->value);
    map_fini(&r->items, NULL);
    map_fini(&r->dirs, NULL);
    while (release_forgotten(r))
        continue;
    free(r->top);
    obj_fini(&r->obj);
    free(r);
}

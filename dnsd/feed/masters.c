#include "feed/masters.h"
#include "feed/events.h"
#include "feed/masters_read.h"
#include "base/mem.h"
#include "base/obj.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#define MASTERS_MAGIC OBJ_MAGIC('M', 'S', 'T', 'R')
#define JOB_MAGIC     OBJ_MAGIC('M', 'S', 'T', 'J')

/** A zone, from either source or from both. */
struct master {
    TAILQ_ENTRY(master) link;
    uint8_t apex[NAME_MAX_LEN];
    enum zone_kind kind; /* of the generated zone; ZONE_FILE: there is none */
    struct rrlist generated;
    struct rrlist file;
    bool has_file;
    int zone;    /* number; -1: not declared */
    char *path;  /* of the file that was looked at last, or NULL */
    char *stamp; /* of it */
    bool is_bad;
    bool is_seen; /* by the look that is being applied */
    struct err_info why;
};

struct waiting {
    TAILQ_ENTRY(waiting) link;
    void (*done)(void *arg, int err, const struct masters_outcome *outcome);
    void *arg;
    bool is_next; /* came while a job ran: the next one is its */
};

struct masters {
    struct obj obj;
    struct masters_def def;
    TAILQ_HEAD(, master) list;
    TAILQ_HEAD(, waiting) waiting;
    struct run_timer *timer;
    struct job *job; /* under way, or NULL */
};

/** A look at the directory on a thread of the pool. */
struct job {
    struct obj obj;
    uv_work_t work;
    struct masters *masters; /* NULL: forgotten */
    char *dir;
    struct map stamps;
    struct master_dir found;
};

/* ---- zones ---- */

struct put {
    struct zone_tx *tx;
    int zone;
    bool is_add;
};

static void put_rr(void *arg, const struct zone_rr *rr)
{
    struct put *p = arg;
    if (p->is_add)
        BUG_IF(zone_tx_add(p->tx, p->zone, rr)); /* zonefile_read has checked it */
    else
        zone_tx_remove(p->tx, p->zone, rr);
}

static void put_all(struct zone_tx *tx, int zone, const struct rrlist *rrs, bool is_add)
{
    struct put put = {tx, zone, is_add};
    rrlist_each(rrs, put_rr, &put);
}

static const struct rrlist *content(const struct master *z)
{
    return z->has_file ? &z->file : &z->generated;
}

static void commit(struct masters *m, struct zone_tx *tx)
{
    zone_tx_commit(tx, zone_version_flags(zoneset_current(m->def.zones)), NULL);
}

/* The zone that holds what is within `name`, or -1. */
static int holder_of(const struct masters *m, const uint8_t *name)
{
    int n = zoneset_zone_of(m->def.zones, name);
    return n < 0 ? -1 : n;
}

/* Declare a zone; what the registry has within it comes from the zone above. */
static int declare(struct masters *m, struct master *z, uint32_t wanted)
{
    int from = holder_of(m, z->apex);
    uint32_t serial = m->def.serial(m->def.arg, z->apex, z->kind, wanted);
    z->zone = zoneset_add_zone(m->def.zones, z->apex, z->kind, serial);
    if (z->zone < 0)
        return z->zone;
    struct zone_tx *tx = zone_tx_begin(m->def.zones);
    put_all(tx, z->zone, content(z), true);
    m->def.rezone(m->def.arg, tx, z->zone, from, z->zone);
    commit(m, tx);
    return 0;
}

/* Take a zone away; what the registry has within it goes to the zone above. */
static void withdraw(struct masters *m, struct master *z, const struct rrlist *old)
{
    int to = *z->apex ? holder_of(m, z->apex + *z->apex + 1) : -1;
    struct zone_tx *tx = zone_tx_begin(m->def.zones);
    put_all(tx, z->zone, old, false);
    m->def.rezone(m->def.arg, tx, z->zone, z->zone, to);
    commit(m, tx);
    zoneset_retire_zone(m->def.zones, z->zone);
    z->zone = -1;
}

static void exchange(struct masters *m, const struct master *z, const struct rrlist *old, uint32_t serial)
{
    struct zone_tx *tx = zone_tx_begin(m->def.zones);
    put_all(tx, z->zone, old, false);
    put_all(tx, z->zone, content(z), true);
    if (serial)
        zone_tx_raise_serial(tx, z->zone, serial);
    commit(m, tx);
}

/* Give a zone other content: a file's (taken, may be NULL: no file). */
static int change(struct masters *m, struct master *z, struct zonefile *take_file)
{
    bool had_file = z->has_file;
    struct rrlist old_file = z->file;
    const struct rrlist *old = had_file ? &old_file : &z->generated;
    z->has_file = take_file != NULL;
    z->file = take_file ? take_file->rrs : (struct rrlist){.n_rrs = 0};
    if (take_file)
        take_file->rrs = (struct rrlist){.n_rrs = 0};
    bool is_wanted = z->has_file || z->generated.n_rrs;
    uint32_t serial = take_file ? take_file->serial : 0;
    int err = 0;
    if (z->zone >= 0 && !is_wanted)
        withdraw(m, z, old);
    else if (z->zone >= 0)
        exchange(m, z, old, serial);
    if (z->zone < 0 && is_wanted)
        err = declare(m, z, serial);
    rrlist_fini(&old_file);
    return err;
}

/* ---- entries ---- */

static struct master *find(const struct masters *m, const uint8_t *apex)
{
    struct master *z;
    TAILQ_FOREACH (z, &m->list, link)
        if (name_equal(z->apex, apex))
            return z;
    return NULL;
}

static struct master *entry(struct masters *m, const uint8_t *apex, enum zone_kind kind)
{
    struct master *z = find(m, apex);
    if (z)
        return z;
    z = mem_new(struct master);
    name_lower(apex, z->apex);
    z->kind = kind;
    z->zone = -1;
    TAILQ_INSERT_TAIL(&m->list, z, link);
    return z;
}

static void master_free(struct masters *m, struct master *z)
{
    TAILQ_REMOVE(&m->list, z, link);
    rrlist_fini(&z->generated);
    rrlist_fini(&z->file);
    free(z->path);
    free(z->stamp);
    free(z);
}

/* Note which file was looked at, and what came of it. */
static void note_file(struct master *z, const struct master_file *f)
{
    free(z->path);
    free(z->stamp);
    z->path = mem_str(f->path);
    z->stamp = mem_str(f->stamp);
    z->is_bad = f->is_bad;
    z->why = f->why;
}

static void apply_file(struct masters *m, struct master_file *f, struct masters_outcome *outcome)
{
    struct master *z = entry(m, f->apex, ZONE_FILE);
    unsigned n_rrs = (unsigned)f->content.rrs.n_rrs;
    z->is_seen = true;
    outcome->n_files++;
    if (!f->is_unchanged)
        note_file(z, f);
    if (!f->is_unchanged && !f->is_bad) {
        int err = change(m, z, &f->content);
        z->is_bad = err != 0;
        if (err)
            err_set(&z->why, err, f->path, "the zone cannot be declared: %s", err_text(err));
        outcome->n_changed++;
        if (!err)
            log_emit(&ev_zones_loaded, LOG_STR("file", f->path), LOG_INT("records", n_rrs),
                     LOG_INT("outside", f->content.n_outside));
    }
    if (!z->is_bad)
        return;
    if (!outcome->n_bad++)
        outcome->why = z->why;
    if (!f->is_unchanged)
        log_emit(&ev_zones_bad, LOG_ERR(&z->why));
}

/* Files that are there no more. */
static void apply_gone(struct masters *m, struct masters_outcome *outcome)
{
    struct master *z = TAILQ_FIRST(&m->list);
    while (z) {
        struct master *next = TAILQ_NEXT(z, link);
        bool is_gone = z->path && !z->is_seen;
        if (is_gone && z->has_file) {
            change(m, z, NULL);
            log_emit(&ev_zones_removed, LOG_STR("file", z->path));
            outcome->n_changed++;
        }
        if (is_gone)
            mem_free_ptr(&z->path);
        if (is_gone && !z->generated.n_rrs)
            master_free(m, z);
        z = next;
    }
}

/* A file whose name is no zone name is told; it has no entry. */
static void tell_nameless(const struct master_file *f, struct masters_outcome *outcome)
{
    outcome->n_files++;
    if (!outcome->n_bad++)
        outcome->why = f->why;
}

static void apply(struct masters *m, struct master_dir *found, struct masters_outcome *outcome)
{
    struct master *z;
    uint8_t apex[NAME_MAX_LEN];
    *outcome = (struct masters_outcome){.n_files = 0};
    TAILQ_FOREACH (z, &m->list, link)
        z->is_seen = false;
    for (size_t i = 0; i < found->n_files; i++) {
        const char *slash = strrchr(found->files[i].path, '/');
        if (zonefile_apex(slash + 1, apex))
            tell_nameless(&found->files[i], outcome);
        else
            apply_file(m, &found->files[i], outcome);
    }
    if (!found->err)
        apply_gone(m, outcome);
}

/* ---- looks at the directory ---- */

static void start_job(struct masters *m);

static void on_timer(void *arg)
{
    struct masters *m = obj_cast(arg, struct masters, MASTERS_MAGIC);
    if (!m->job)
        start_job(m);
}

static void call_waiting(struct masters *m, int err, const struct masters_outcome *outcome)
{
    struct waiting *w = TAILQ_FIRST(&m->waiting);
    while (w) {
        struct waiting *next = TAILQ_NEXT(w, link);
        if (!w->is_next || err == ERR_CANCELLED) {
            TAILQ_REMOVE(&m->waiting, w, link);
            w->done(w->arg, err, outcome);
            free(w);
        } else {
            w->is_next = false;
        }
        w = next;
    }
}

static void run_job(uv_work_t *work)
{
    struct job *j = obj_cast(work->data, struct job, JOB_MAGIC);
    master_dir_read(j->dir, &j->stamps, &j->found);
}

static void finish_job(struct masters *m, struct job *j)
{
    struct masters_outcome outcome;
    m->job = NULL;
    apply(m, &j->found, &outcome);
    if (j->found.err) {
        outcome.why = j->found.why;
        log_emit(&ev_zones_bad, LOG_ERR(&j->found.why));
    }
    if (outcome.n_changed)
        m->def.changed(m->def.arg);
    call_waiting(m, j->found.err ? j->found.err : outcome.n_bad ? ERR_CONFIG : 0, &outcome);
    if (!TAILQ_EMPTY(&m->waiting))
        start_job(m);
    else if (m->def.poll_ms)
        run_timer_start(m->timer, (uint64_t)m->def.poll_ms, 0);
}

static void on_job(uv_work_t *work, int status)
{
    struct job *j = obj_cast(work->data, struct job, JOB_MAGIC);
    if (j->masters && status == 0)
        finish_job(j->masters, j);
    master_dir_fini(&j->found);
    map_fini(&j->stamps, free);
    free(j->dir);
    obj_fini(&j->obj);
    free(j);
}

static void start_job(struct masters *m)
{
    struct job *j = mem_new(struct job);
    const struct master *z;
    obj_init(&j->obj, JOB_MAGIC);
    j->work.data = j;
    j->masters = m;
    j->dir = mem_str(m->def.dir);
    TAILQ_FOREACH (z, &m->list, link)
        if (z->path)
            map_set(&j->stamps, z->path, mem_str(z->stamp));
    m->job = j;
    run_timer_stop(m->timer);
    BUG_IF(uv_queue_work(run_loop_uv(m->def.loop), &j->work, run_job, on_job));
}

void masters_reload(struct masters *m,
                    void (*done)(void *arg, int err, const struct masters_outcome *outcome), void *arg)
{
    if (done) {
        struct waiting *w = mem_new(struct waiting);
        *w = (struct waiting){.done = done, .arg = arg, .is_next = m->job != NULL};
        TAILQ_INSERT_TAIL(&m->waiting, w, link);
    }
    if (!m->job && m->def.dir) {
        start_job(m);
    } else if (!m->def.dir) {
        struct masters_outcome none = {.n_files = 0};
        call_waiting(m, 0, &none);
    }
}

void masters_forget(struct masters *m, void *arg)
{
    struct waiting *w = TAILQ_FIRST(&m->waiting);
    while (w) {
        struct waiting *next = TAILQ_NEXT(w, link);
        if (w->arg == arg) {
            TAILQ_REMOVE(&m->waiting, w, link);
            free(w);
        }
        w = next;
    }
}

/* ---- beginning and end ---- */

struct masters *masters_new(const struct masters_def *def)
{
    struct masters *m = mem_new(struct masters);
    obj_init(&m->obj, MASTERS_MAGIC);
    m->def = *def;
    TAILQ_INIT(&m->list);
    TAILQ_INIT(&m->waiting);
    m->timer = run_timer_new(def->loop, on_timer, m);
    return m;
}

void masters_free(struct masters *m)
{
    struct master *z;
    struct masters_outcome none = {.n_files = 0};
    if (!m)
        return;
    if (m->job)
        m->job->masters = NULL;
    call_waiting(m, ERR_CANCELLED, &none);
    while ((z = TAILQ_FIRST(&m->list)))
        master_free(m, z);
    run_timer_free(m->timer);
    obj_fini(&m->obj);
    free(m);
}

void masters_generate(struct masters *m, const uint8_t *apex, enum zone_kind kind, struct rrlist *take_rrs)
{
    if (find(m, apex)) {
        rrlist_fini(take_rrs);
        return;
    }
    struct master *z = entry(m, apex, kind);
    z->generated = *take_rrs;
    *take_rrs = (struct rrlist){.n_rrs = 0};
}

int masters_load(struct masters *m, struct err_info *why)
{
    struct map none = MAP_EMPTY;
    struct master_dir found = {.files = NULL};
    struct masters_outcome outcome = {.n_files = 0};
    struct master *z;
    if (m->def.dir)
        master_dir_read(m->def.dir, &none, &found);
    if (found.err)
        *why = found.why;
    int err = found.err;
    if (!err)
        apply(m, &found, &outcome);
    if (outcome.n_bad) {
        *why = outcome.why;
        err = ERR_CONFIG;
    }
    TAILQ_FOREACH (z, &m->list, link)
        if (!err && z->zone < 0)
            err = declare(m, z, 0) ? err_set(why, ERR_LIMIT, "", "a zone could not be added") : 0;
    master_dir_fini(&found);
    if (!err && m->def.dir && m->def.poll_ms)
        run_timer_start(m->timer, (uint64_t)m->def.poll_ms, 0);
    return err;
}

const char *masters_file(const struct masters *m, const uint8_t *apex, const struct err_info **error)
{
    const struct master *z = find(m, apex);
    *error = z && z->is_bad ? &z->why : NULL;
    return z ? z->path : NULL;
}

unsigned masters_n_bad(const struct masters *m)
{
    const struct master *z;
    unsigned n = 0;
    TAILQ_FOREACH (z, &m->list, link)
        n += z->is_bad;
    return n;
}

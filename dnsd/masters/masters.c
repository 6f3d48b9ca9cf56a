#include "masters/masters.h"
#include "follow/events.h"
#include "masters/master_dir.h"
#include "base/mem.h"
#include "base/obj.h"
#include "base/path.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#define MASTERS_MAGIC OBJ_MAGIC('M', 'S', 'T', 'R')

/** A zone, from either source or from both. */
struct master {
    TAILQ_ENTRY(master) link;
    uint8_t apex[NAME_MAX_LEN];
    enum zone_kind kind; /* of the generated zone; ZONE_FILE: there is none */
    struct rrlist generated;
    struct rrlist file;
    bool has_file;
    int zone;    /* number; -1: not declared */
    char *path;  /* of the file that was read last, or NULL */
    char *stamp; /* of it */
    bool is_bad;
    bool is_seen; /* by the scan that is being applied */
    unsigned n_outside;
    struct err_info why;
};

/** Who asked for a reload. */
struct request {
    TAILQ_ENTRY(request) link;
    void (*done)(void *arg, int err, const struct masters_outcome *outcome);
    void *arg;
    bool is_next; /* came during a scan: the next one answers it */
};

/** A change of one zone, with the writer: old RRs out, new ones in, those of the registry within it moved. */
struct change {
    struct master *zone;
    bool had_zone, is_wanted;
    struct rrlist old;   /* what goes */
    bool is_old_of_file; /* old is ours */
    uint32_t serial;     /* wanted, or 0 */
    struct records_move move;
    enum { CHANGE_OUT, CHANGE_IN, CHANGE_MOVE, CHANGE_END } step;
    size_t at;
    uint32_t cursor;
};

/** A scan of the directory, which is being applied file by file. */
struct scan {
    bool is_on;
    struct master_dir found;
    size_t n_done; /* files */
    struct masters_outcome outcome;
};

struct masters {
    struct obj obj;
    struct masters_def def;
    TAILQ_HEAD(, master) list;
    TAILQ_HEAD(, request) requests;
    struct run_timer *timer;
    struct master_dir_job *job; /* reads the directory; NULL: none does */
    struct scan scan;
    struct change change;
    bool is_changing; /* change is under way */
    bool is_scanning; /* scan_continue is further up the stack */
    bool is_loading;  /* changes do not wait for the loop */
};

/* ---- zones ---- */

static const struct rrlist *content(const struct master *z)
{
    return z->has_file ? &z->file : &z->generated;
}

/* The zone that `name` belongs to, or -1. */
static int holder_of(const struct masters *m, const uint8_t *name)
{
    int n = zoneset_zone_of(m->def.zones, name);
    return n < 0 ? -1 : n;
}

/* Declares a zone that comes. RRs of the registry within a zone that comes or goes move from, or to, the zone above it. */
static int change_begin(void *arg)
{
    struct masters *m = obj_cast(arg, struct masters, MASTERS_MAGIC);
    struct change *c = &m->change;
    struct master *z = c->zone;
    if (c->had_zone) {
        if (c->serial)
            m->def.serial(m->def.arg, z->apex, z->kind, c->serial);
        int above = *z->apex ? holder_of(m, z->apex + *z->apex + 1) : -1;
        c->move = (struct records_move){z->zone, z->zone, above};
        return 0;
    }
    int from = holder_of(m, z->apex);
    z->zone = zoneset_add_zone(m->def.zones, z->apex, z->kind,
                               m->def.serial(m->def.arg, z->apex, z->kind, c->serial));
    c->move = (struct records_move){z->zone, from, z->zone};
    return z->zone < 0 ? z->zone : 0;
}

static bool take_out(struct change *c, struct zone_tx *tx)
{
    struct zone_rr rr;
    if (!c->had_zone || !rrlist_next(&c->old, &c->at, &rr))
        return false;
    zone_tx_remove(tx, c->zone->zone, &rr);
    return true;
}

static bool put_in(struct change *c, struct zone_tx *tx)
{
    struct zone_rr rr;
    if (!c->is_wanted || !rrlist_next(content(c->zone), &c->at, &rr)) {
        if (c->had_zone && c->is_wanted && c->serial)
            zone_tx_raise_serial(tx, c->zone->zone, c->serial);
        return false;
    }
    BUG_IF(zone_tx_add(tx, c->zone->zone, &rr)); /* zonefile_read has checked it */
    return true;
}

static bool move_names(struct masters *m, struct change *c, struct zone_tx *tx)
{
    if (c->had_zone && c->is_wanted)
        return false;
    return m->def.rezone(m->def.arg, tx, &c->move, &c->cursor);
}

static bool change_step(void *arg, struct zone_tx *tx)
{
    struct masters *m = obj_cast(arg, struct masters, MASTERS_MAGIC);
    struct change *c = &m->change;
    bool has_more = c->step == CHANGE_OUT  ? take_out(c, tx)
                    : c->step == CHANGE_IN ? put_in(c, tx)
                                           : move_names(m, c, tx);
    if (has_more)
        return true;
    c->at = 0;
    return ++c->step != CHANGE_END;
}

static unsigned change_flags(void *arg)
{
    struct masters *m = obj_cast(arg, struct masters, MASTERS_MAGIC);
    return zone_version_flags(zoneset_newest(m->def.zones));
}

static void scan_continue(struct masters *m);
static void changed_zone(struct masters *m, struct master *z, int err);

static void change_end(struct masters *m)
{
    if (m->change.is_old_of_file)
        rrlist_fini(&m->change.old);
    m->is_changing = false;
}

static void change_done(void *arg, int err)
{
    struct masters *m = obj_cast(arg, struct masters, MASTERS_MAGIC);
    struct change *c = &m->change;
    struct master *z = c->zone;
    if (!err && !c->is_wanted) {
        zoneset_retire_zone(m->def.zones, z->zone);
        z->zone = -1;
    }
    change_end(m);
    changed_zone(m, z, err);
    if (m->scan.is_on)
        scan_continue(m);
}

static void change_start(struct masters *m, const struct change *change)
{
    struct writer_change edits = {
        .begin = change_begin, .step = change_step, .flags = change_flags, .done = change_done, .arg = m};
    m->change = *change;
    m->is_changing = true;
    if (m->is_loading)
        writer_run_now(m->def.writer, &edits);
    else
        writer_run(m->def.writer, &edits);
}

/* Replace the content of a zone. @param take_file new content; NULL: the generated one */
static void change(struct masters *m, struct master *z, struct zonefile *take_file)
{
    struct change c = {.zone = z,
                       .had_zone = z->zone >= 0,
                       .old = *content(z),
                       .is_old_of_file = z->has_file,
                       .is_wanted = take_file || z->generated.n_rrs,
                       .serial = take_file ? take_file->serial : 0};
    z->has_file = take_file != NULL;
    z->file = take_file ? take_file->rrs : (struct rrlist){.n_rrs = 0};
    if (take_file)
        take_file->rrs = (struct rrlist){.n_rrs = 0};
    if (c.had_zone || c.is_wanted)
        change_start(m, &c);
    else if (c.is_old_of_file)
        rrlist_fini(&c.old);
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

/* Note which file was read, and what came of it. */
static void note_file(struct master *z, const struct master_file *f)
{
    free(z->path);
    free(z->stamp);
    z->path = mem_str(f->path);
    z->stamp = mem_str(f->stamp);
    z->is_bad = f->is_bad;
    z->why = f->why;
}

/* ---- what a scan found is applied, one zone after the other ---- */

static void note_bad(struct masters *m, const struct master *z)
{
    if (!m->scan.outcome.n_bad++)
        m->scan.outcome.why = z->why;
}

/* A file whose name is no zone name is reported; it has no entry. */
static void apply_file(struct masters *m, struct master_file *f)
{
    uint8_t apex[NAME_MAX_LEN];
    m->scan.outcome.n_files++;
    if (zonefile_apex(path_name(f->path), apex)) {
        if (!m->scan.outcome.n_bad++)
            m->scan.outcome.why = f->why;
        return;
    }
    struct master *z = entry(m, f->apex, ZONE_FILE);
    z->is_seen = true;
    if (!f->is_unchanged)
        note_file(z, f);
    if (z->is_bad) {
        note_bad(m, z);
        if (!f->is_unchanged)
            log_emit(&ev_zones_bad, LOG_ERR(&z->why));
        return;
    }
    if (f->is_unchanged)
        return;
    z->n_outside = f->content.n_outside;
    change(m, z, &f->content);
}

/* Forget a file that is gone, and its entry unless the zone is generated. */
static void forget_file(struct masters *m, struct master *z)
{
    mem_free_ptr(&z->path);
    if (!z->generated.n_rrs)
        master_free(m, z);
}

static void changed_zone(struct masters *m, struct master *z, int err)
{
    struct scan *s = &m->scan;
    if (!s->is_on)
        return;
    s->outcome.n_changed++;
    if (err) {
        z->is_bad = true;
        err_set(&z->why, err, z->path ? z->path : "", "the zone cannot be declared: %s", err_text(err));
        note_bad(m, z);
        log_emit(&ev_zones_bad, LOG_ERR(&z->why));
    } else if (z->is_seen) {
        log_emit(&ev_zones_loaded, LOG_STR("file", z->path), LOG_INT("records", z->file.n_rrs),
                 LOG_INT("outside", z->n_outside));
    } else {
        log_emit(&ev_zones_removed, LOG_STR("file", z->path));
        forget_file(m, z);
    }
}

static struct master *find_gone(const struct masters *m)
{
    struct master *z;
    TAILQ_FOREACH (z, &m->list, link)
        if (z->path && !z->is_seen)
            return z;
    return NULL;
}

/* Apply one file, or forget one that is gone. @return false: that was all. */
static bool scan_step(struct masters *m)
{
    struct scan *s = &m->scan;
    if (s->n_done < s->found.n_files) {
        apply_file(m, &s->found.files[s->n_done++]);
        return true;
    }
    struct master *gone = s->found.err ? NULL : find_gone(m);
    if (gone && gone->has_file)
        change(m, gone, NULL);
    else if (gone)
        forget_file(m, gone);
    return gone != NULL;
}

static void scan_end(struct masters *m);

static void scan_continue(struct masters *m)
{
    if (m->is_scanning)
        return;
    m->is_scanning = true;
    while (!m->is_changing && scan_step(m))
        continue;
    m->is_scanning = false;
    if (!m->is_changing)
        scan_end(m);
}

static void scan_begin(struct masters *m, struct master_dir *take_found)
{
    struct master *z;
    m->scan = (struct scan){.is_on = true, .found = *take_found};
    *take_found = (struct master_dir){.files = NULL};
    TAILQ_FOREACH (z, &m->list, link)
        z->is_seen = false;
    scan_continue(m);
}

/* ---- scans of the directory ---- */

static void start_job(struct masters *m);

static void on_timer(void *arg)
{
    struct masters *m = obj_cast(arg, struct masters, MASTERS_MAGIC);
    if (!m->job && !m->scan.is_on)
        start_job(m);
}

static void answer_requests(struct masters *m, int err, const struct masters_outcome *outcome)
{
    struct request *r = TAILQ_FIRST(&m->requests);
    while (r) {
        struct request *next = TAILQ_NEXT(r, link);
        if (!r->is_next || err == ERR_CANCELLED) {
            TAILQ_REMOVE(&m->requests, r, link);
            r->done(r->arg, err, outcome);
            free(r);
        } else {
            r->is_next = false;
        }
        r = next;
    }
}

static void scan_end(struct masters *m)
{
    struct scan s = m->scan;
    m->scan = (struct scan){.is_on = false};
    if (m->is_loading) {
        master_dir_fini(&s.found);
        return;
    }
    if (s.found.err) {
        s.outcome.why = s.found.why;
        log_emit(&ev_zones_bad, LOG_ERR(&s.found.why));
    }
    if (s.outcome.n_changed)
        m->def.changed(m->def.arg);
    answer_requests(m, s.found.err ? s.found.err : s.outcome.n_bad ? ERR_CONFIG : 0, &s.outcome);
    master_dir_fini(&s.found);
    if (!TAILQ_EMPTY(&m->requests))
        start_job(m);
    else if (m->def.poll_ms)
        run_timer_start(m->timer, (uint64_t)m->def.poll_ms, 0);
}

static void on_dir(void *arg, struct master_dir *found)
{
    struct masters *m = obj_cast(arg, struct masters, MASTERS_MAGIC);
    m->job = NULL;
    scan_begin(m, found);
}

static void start_job(struct masters *m)
{
    struct map stamps = MAP_EMPTY;
    const struct master *z;
    TAILQ_FOREACH (z, &m->list, link)
        if (z->path)
            map_set(&stamps, z->path, mem_str(z->stamp));
    run_timer_stop(m->timer);
    m->job = master_dir_start(m->def.loop, m->def.dir, &stamps, on_dir, m);
}

void masters_reload(struct masters *m,
                    void (*done)(void *arg, int err, const struct masters_outcome *outcome), void *arg)
{
    if (done) {
        struct request *r = mem_new(struct request);
        *r = (struct request){.done = done, .arg = arg, .is_next = m->job || m->scan.is_on};
        TAILQ_INSERT_TAIL(&m->requests, r, link);
    }
    if (m->def.dir && (m->job || m->scan.is_on))
        return;
    if (m->def.dir) {
        start_job(m);
    } else {
        struct masters_outcome none = {.n_files = 0};
        answer_requests(m, 0, &none);
    }
}

void masters_forget(struct masters *m, void *arg)
{
    struct request *r = TAILQ_FIRST(&m->requests);
    while (r) {
        struct request *next = TAILQ_NEXT(r, link);
        if (r->arg == arg) {
            TAILQ_REMOVE(&m->requests, r, link);
            free(r);
        }
        r = next;
    }
}

/* ---- beginning and end ---- */

struct masters *masters_new(const struct masters_def *def)
{
    struct masters *m = mem_new(struct masters);
    obj_init(&m->obj, MASTERS_MAGIC);
    m->def = *def;
    TAILQ_INIT(&m->list);
    TAILQ_INIT(&m->requests);
    m->timer = run_timer_new(def->loop, on_timer, m);
    return m;
}

void masters_free(struct masters *m)
{
    struct master *z;
    struct masters_outcome none = {.n_files = 0};
    if (!m)
        return;
    master_dir_cancel(m->job);
    answer_requests(m, ERR_CANCELLED, &none);
    writer_cancel(m->def.writer, m);
    if (m->is_changing)
        change_end(m);
    master_dir_fini(&m->scan.found);
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

/* Declare the generated zones that no file replaces. */
static int declare_rest(struct masters *m, struct err_info *why)
{
    struct master *z;
    TAILQ_FOREACH (z, &m->list, link) {
        struct change c = {.zone = z, .is_wanted = true};
        if (z->zone >= 0 ||
            !z->generated.n_rrs) /* without either it is a bad file, which has been reported */
            continue;
        change_start(m, &c);
        if (z->zone < 0)
            return err_set(why, ERR_LIMIT, "", "a zone could not be added");
    }
    return 0;
}

int masters_load(struct masters *m, struct err_info *why)
{
    struct map none = MAP_EMPTY;
    struct master_dir found = {.files = NULL};
    if (m->def.dir)
        master_dir_read(m->def.dir, &none, &found);
    if (found.err) {
        int err = found.err;
        *why = found.why;
        master_dir_fini(&found);
        return err;
    }
    m->is_loading = true;
    scan_begin(m, &found);
    int err = declare_rest(m, why);
    m->is_loading = false;
    if (!err && m->def.dir && m->def.poll_ms)
        run_timer_start(m->timer, (uint64_t)m->def.poll_ms, 0);
    return err;
}

void masters_check(const char *dir, void (*bad)(void *arg, const struct err_info *why), void *arg)
{
    struct map none = MAP_EMPTY;
    struct master_dir found;
    master_dir_read(dir, &none, &found);
    if (found.err)
        bad(arg, &found.why);
    for (size_t i = 0; i < found.n_files; i++)
        if (found.files[i].is_bad)
            bad(arg, &found.files[i].why);
    master_dir_fini(&found);
}

const char *masters_file(const struct masters *m, const uint8_t *apex, const struct err_info **error)
{
    const struct master *z = find(m, apex);
    *error = z && z->is_bad ? &z->why : NULL;
    return z ? z->path : NULL;
}

uint64_t masters_likeness(const struct masters *m)
{
    const struct master *z;
    uint64_t all = 0;
    TAILQ_FOREACH (z, &m->list, link) {
        uint64_t one[2] = {content(z)->sum, (uint64_t)z->kind};
        uint64_t sum = sum_bytes(SUM_START, z->apex, (size_t)name_len(z->apex, NAME_MAX_LEN));
        if (z->zone >= 0)
            all += sum_bytes(sum, one, sizeof one); /* in any order */
    }
    return all;
}

unsigned masters_n_bad(const struct masters *m)
{
    const struct master *z;
    unsigned n = 0;
    TAILQ_FOREACH (z, &m->list, link)
        n += z->is_bad;
    return n;
}

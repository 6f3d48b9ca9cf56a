#include "follow/serials.h"
#include "follow/events.h"
#include "run/file.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

#define SERIALS_MAGIC OBJ_MAGIC('S', 'R', 'L', 'S')
#define WRITE_MAGIC   OBJ_MAGIC('S', 'R', 'L', 'W')

/** Time between two attempts to write. */
#define RETRY_MS 1000

/** Limits of one zone: of the next write, of the one under way, on disk. Of a zone that is a file also its first serial, and whether
 *  the file gave that. */
struct limit {
    uint32_t wanted, writing, durable, first;
    bool is_wanted, is_writing, is_durable, is_of_file;
};

struct serials {
    struct obj obj;
    struct serials_def def;
    char *path;
    struct map limits;        /* apex -> struct limit */
    struct limit **by_number; /* the same, by the zone's number; NULL: not looked up yet */
    unsigned n_numbers;
    struct write *write; /* under way, or NULL */
    struct run_timer *retry;
    struct err_info error; /* code 0: the last write did not fail */
    bool is_begun, is_dirty;
    void (*stopped)(void *arg); /* set: the last write is under way */
    void *stopped_arg;
};

struct write {
    struct obj obj;
    uv_work_t work;
    struct serials *serials; /* NULL: they are freed */
    char *path;
    struct buf text;
    int err;
    struct err_info why;
};

static bool is_above(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) > 0;
}

/* ---- limits ---- */

static struct limit *limit_at(struct serials *s, const char *apex)
{
    struct limit *l = map_get(&s->limits, apex);
    if (!l) {
        l = mem_new(struct limit);
        map_set(&s->limits, apex, l);
    }
    return l;
}

static struct limit *limit_of(struct serials *s, const uint8_t *apex)
{
    char text[NAME_TEXT_MAX];
    return limit_at(s, name_to_text(apex, text));
}

/* The limit of a zone; a number stays with its apex. */
static struct limit *limit_by_number(struct serials *s, unsigned number, const uint8_t *apex)
{
    if (number >= s->n_numbers) {
        unsigned n = number + number / 2 + 4;
        s->by_number = mem_resize(s->by_number, n, sizeof *s->by_number);
        memset(s->by_number + s->n_numbers, 0, (n - s->n_numbers) * sizeof *s->by_number);
        s->n_numbers = n;
    }
    if (!s->by_number[number])
        s->by_number[number] = limit_of(s, apex);
    return s->by_number[number];
}

static void want(struct limit *l, uint32_t value)
{
    l->wanted = value;
    l->is_wanted = true;
}

uint32_t serials_first(struct serials *s, const uint8_t *apex, enum zone_kind kind, uint32_t at_least)
{
    struct limit *l = limit_of(s, apex);
    bool is_same = kind == ZONE_FILE && l->wanted == at_least;
    bool may_be_used = l->is_wanted && !is_same && !zone_serial_rises(l->wanted, at_least);
    l->is_of_file = !may_be_used;
    l->first = may_be_used ? l->wanted + 1 : at_least;
    return l->first;
}

static bool is_of_file(const struct limit *l, const struct zone_info *zone)
{
    return zone->kind == ZONE_FILE && l->is_of_file && l->first == zone->serial;
}

/* The first serial of a zone that is a file has the content of the file until the registry is read; after a crash again. */
static bool is_first(const struct limit *l, const struct zone_info *zone, bool is_ready)
{
    return zone->kind == ZONE_FILE && !is_ready && l->first == zone->serial;
}

/* Before its first records, and after its last, a zone has no SOA that readers could see. */
static bool has_serial(const struct zone_info *zone)
{
    return zone->kind != ZONE_GONE && zone->n_rrs;
}

/* Raise the limits where serials of a version come near. @return whether one was raised. */
static bool move_limits(struct serials *s, const struct zone_version *v)
{
    bool is_moved = false;
    for (unsigned i = 0; i < zone_version_n_zones(v); i++) {
        struct zone_info zone;
        zone_version_info(v, i, &zone);
        if (!has_serial(&zone))
            continue;
        struct limit *l = limit_by_number(s, i, zone.apex);
        uint32_t reserve = is_of_file(l, &zone) ? 0 : SERIALS_RESERVE;
        if (l->is_wanted && !is_above(zone.serial + reserve / 2, l->wanted))
            continue;
        want(l, zone.serial + reserve);
        is_moved = true;
    }
    return is_moved;
}

bool serials_cover(struct serials *s, const struct zone_version *v)
{
    bool is_ready = zone_version_flags(v) & ZONE_READY;
    for (unsigned i = 0; s->path && i < zone_version_n_zones(v); i++) {
        struct zone_info zone;
        zone_version_info(v, i, &zone);
        if (!has_serial(&zone) || (zone.kind != ZONE_FILE && !is_ready))
            continue;
        const struct limit *l = limit_by_number(s, i, zone.apex);
        bool is_on_disk = l->is_durable && !is_above(zone.serial, l->durable);
        if (!is_on_disk && !is_of_file(l, &zone) && !is_first(l, &zone, is_ready))
            return false;
    }
    return true;
}

/* ---- reading ---- */

static int read_line(struct serials *s, char *line)
{
    char *blank = strchr(line, ' ');
    int64_t value;
    if (!blank || str_to_i64(blank + 1, 0, UINT32_MAX, &value))
        return ERR_PARSE;
    *blank = 0;
    struct limit *l = limit_at(s, line);
    want(l, (uint32_t)value);
    l->durable = l->wanted;
    l->is_durable = true;
    return 0;
}

static void read_lines(struct serials *s, char *text, struct err_info *why)
{
    for (char *line = text, *end; *line; line = end) {
        end = line + strcspn(line, "\n");
        bool is_last = !*end;
        *end = 0;
        mem_auto char *whole = mem_str(line);
        if (*line && read_line(s, line))
            err_set(why, ERR_PARSE, s->path, "this line is no zone and serial: %s", whole);
        end += !is_last;
    }
}

static void on_retry(void *arg);

struct serials *serials_open(const struct serials_def *def, struct err_info *why)
{
    buf_auto struct buf text = BUF_EMPTY;
    struct serials *s = mem_new(struct serials);
    struct err_info none;
    obj_init(&s->obj, SERIALS_MAGIC);
    s->def = *def;
    s->path = mem_str(def->path);
    s->retry = run_timer_new(def->loop, on_retry, s);
    int err = s->path ? file_read(s->path, &text, &none) : ERR_NOTFOUND;
    if (err && err != ERR_NOTFOUND)
        *why = none;
    if (!err && text.len) {
        buf_cstr(&text);
        read_lines(s, text.bytes, why);
    }
    return s;
}

void serials_free(struct serials *s)
{
    if (!s)
        return;
    if (s->write)
        s->write->serials = NULL;
    run_timer_free(s->retry);
    map_fini(&s->limits, free);
    free(s->by_number);
    free(s->path);
    obj_fini(&s->obj);
    free(s);
}

/* ---- writing ---- */

/* The wanted limits as lines; they are the ones under way from now on. */
static void add_lines(struct serials *s, struct buf *out)
{
    mem_auto const char **keys = map_sorted_keys(&s->limits);
    for (size_t i = 0; keys[i]; i++) {
        struct limit *l = map_get(&s->limits, keys[i]);
        l->is_writing = l->is_wanted;
        l->writing = l->wanted;
        if (l->is_wanted)
            buf_addf(out, "%s %u\n", keys[i], l->wanted);
    }
}

/* The limits under way are on disk, or are not: then the write is retried. Logs the first failure of several. */
static void note_written(struct serials *s, int err, const struct err_info *why)
{
    if (err) {
        if (!s->error.code)
            log_emit(&ev_serials_failed, LOG_ERR(why));
        s->error = *why;
        s->is_dirty = true;
        run_timer_start(s->retry, RETRY_MS, 0);
        return;
    }
    s->error.code = 0;
    for (MAP_EACH (&s->limits, it)) {
        struct limit *l = it->value;
        l->is_durable |= l->is_writing;
        l->durable = l->is_writing ? l->writing : l->durable;
    }
}

int serials_reserve(struct serials *s, const struct zone_version *v, struct err_info *why)
{
    buf_auto struct buf text = BUF_EMPTY;
    s->is_begun = true;
    if (!s->path)
        return 0;
    move_limits(s, v);
    s->is_dirty = false;
    add_lines(s, &text);
    int err = file_swap(s->path, buf_cstr(&text), text.len, why);
    note_written(s, err, why);
    return err;
}

static void start_write(struct serials *s);

static void run_write(uv_work_t *work)
{
    struct write *w = obj_cast(work->data, struct write, WRITE_MAGIC);
    w->err = file_swap(w->path, buf_cstr(&w->text), w->text.len, &w->why);
}

static void end(struct serials *s)
{
    void (*stopped)(void *arg) = s->stopped;
    void *arg = s->stopped_arg;
    serials_free(s);
    stopped(arg);
}

/* A write has ended: begin the next one, or stop. */
static void go_on(struct serials *s)
{
    if (s->stopped && !s->is_dirty)
        end(s);
    else if (s->stopped || (s->is_dirty && !s->error.code))
        start_write(s);
}

static void on_written(uv_work_t *work, int status)
{
    struct write *w = obj_cast(work->data, struct write, WRITE_MAGIC);
    struct serials *s = w->serials;
    BUG_IF(status);
    if (s) {
        bool is_last = s->stopped && !s->is_dirty;
        s->write = NULL;
        note_written(s, w->err, &w->why);
        if (is_last)
            s->is_dirty = false; /* the limits on disk cover the serials, too */
        else if (!s->stopped)
            s->def.written(s->def.arg);
        go_on(s);
    }
    buf_fini(&w->text);
    free(w->path);
    obj_fini(&w->obj);
    free(w);
}

static void start_write(struct serials *s)
{
    struct write *w = mem_new(struct write);
    obj_init(&w->obj, WRITE_MAGIC);
    w->work.data = w;
    w->serials = s;
    w->path = mem_str(s->path);
    s->is_dirty = false;
    add_lines(s, &w->text);
    s->write = w;
    BUG_IF(uv_queue_work(run_loop_uv(s->def.loop), &w->work, run_write, on_written));
}

static void on_retry(void *arg)
{
    struct serials *s = obj_cast(arg, struct serials, SERIALS_MAGIC);
    if (!s->write)
        start_write(s);
}

void serials_mind(struct serials *s, const struct zone_version *v)
{
    if (!s->path || s->stopped || !move_limits(s, v))
        return;
    s->is_dirty = true;
    if (s->is_begun && !s->write && !s->error.code)
        start_write(s);
}

const struct err_info *serials_error(const struct serials *s)
{
    return s->error.code ? &s->error : NULL;
}

void serials_stop(struct serials *s, const struct zone_version *v, void (*stopped)(void *arg), void *arg)
{
    s->stopped = stopped;
    s->stopped_arg = arg;
    if (!s->path) {
        end(s);
        return;
    }
    for (unsigned i = 0; i < zone_version_n_zones(v); i++) {
        struct zone_info zone;
        zone_version_info(v, i, &zone);
        if (zone.kind != ZONE_GONE)
            want(limit_by_number(s, i, zone.apex), zone.serial);
    }
    s->is_dirty = true;
    if (!s->write)
        start_write(s);
}

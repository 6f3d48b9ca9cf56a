#include "feed/serials.h"
#include "feed/events.h"
#include "feed/file.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

#define WRITE_MAGIC OBJ_MAGIC('S', 'R', 'L', 'W')

struct limit {
    uint32_t value;
};

struct serials {
    struct run_loop *loop;
    char *path;
    struct map limits;   /* apex -> struct limit: on disk, or on the way to it */
    struct write *write; /* under way, or NULL */
    bool is_dirty;       /* limits have moved since it began */
};

struct write {
    struct obj obj;
    uv_work_t work;
    struct serials *serials; /* NULL: forgotten */
    char *path;
    struct buf text;
    int err;
    struct err_info why;
};

static bool is_above(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) > 0;
}

static void set_limit(struct serials *s, const char *apex, uint32_t value)
{
    struct limit *l = map_get(&s->limits, apex);
    if (!l) {
        l = mem_new(struct limit);
        map_set(&s->limits, apex, l);
    }
    l->value = value;
}

static int read_line(struct serials *s, const char *line)
{
    const char *blank = strchr(line, ' ');
    int64_t value;
    if (!blank || str_to_i64(blank + 1, 0, UINT32_MAX, &value))
        return ERR_PARSE;
    mem_auto char *apex = mem_strn(line, (size_t)(blank - line));
    set_limit(s, apex, (uint32_t)value);
    return 0;
}

struct serials *serials_open(struct run_loop *loop, const char *path, struct err_info *why)
{
    buf_auto struct buf text = BUF_EMPTY;
    struct serials *s = mem_new(struct serials);
    struct err_info none;
    s->loop = loop;
    s->path = mem_str(path);
    int err = path ? file_read(path, &text, &none) : ERR_NOTFOUND;
    if (err && err != ERR_NOTFOUND)
        *why = none;
    for (size_t i = 0; !err; i++) {
        mem_auto char *line = str_field(buf_cstr(&text), '\n', i);
        if (!line)
            break;
        if (*line && read_line(s, line))
            err_set(why, ERR_PARSE, path, "this line is no zone and serial: %s", line);
    }
    return s;
}

void serials_free(struct serials *s)
{
    if (!s)
        return;
    if (s->write)
        s->write->serials = NULL;
    map_fini(&s->limits, free);
    free(s->path);
    free(s);
}

uint32_t serials_first(const struct serials *s, const uint8_t *apex, enum zone_kind kind, uint32_t at_least)
{
    char text[NAME_TEXT_MAX];
    const struct limit *l = map_get(&s->limits, name_to_text(apex, text));
    uint32_t above = l ? l->value + (kind != ZONE_FILE) : at_least;
    return is_above(above, at_least) ? above : at_least;
}

static void add_lines(const struct serials *s, struct buf *out)
{
    mem_auto const char **keys = map_sorted_keys(&s->limits);
    for (size_t i = 0; keys[i]; i++) {
        const struct limit *l = map_get(&s->limits, keys[i]);
        buf_addf(out, "%s %u\n", keys[i], l->value);
    }
}

static void start_write(struct serials *s);

static void run_write(uv_work_t *work)
{
    struct write *w = obj_cast(work->data, struct write, WRITE_MAGIC);
    w->err = file_write(w->path, w->text.bytes, w->text.len, &w->why);
}

static void on_written(uv_work_t *work, int status)
{
    struct write *w = obj_cast(work->data, struct write, WRITE_MAGIC);
    struct serials *s = w->serials;
    if (status == 0 && w->err)
        log_emit(&ev_snapshot_failed, LOG_ERR(&w->why));
    if (s) {
        s->write = NULL;
        if (s->is_dirty)
            start_write(s);
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
    add_lines(s, &w->text);
    s->write = w;
    s->is_dirty = false;
    BUG_IF(uv_queue_work(run_loop_uv(s->loop), &w->work, run_write, on_written));
}

/* Take the limits from a version's serials. @return whether one has moved. */
static bool move_limits(struct serials *s, const struct zone_version *v, uint32_t reserve)
{
    bool is_moved = false;
    for (unsigned i = 0; i < zone_version_n_zones(v); i++) {
        struct zone_info zone;
        char text[NAME_TEXT_MAX];
        zone_version_info(v, i, &zone);
        uint32_t distance = zone.kind == ZONE_FILE ? 0 : reserve;
        const struct limit *l = map_get(&s->limits, name_to_text(zone.apex, text));
        bool is_near = !l || is_above(zone.serial + distance / 2, l->value);
        if (zone.kind == ZONE_GONE || (distance && !is_near))
            continue;
        if (l && l->value == zone.serial + distance)
            continue;
        set_limit(s, text, zone.serial + distance);
        is_moved = true;
    }
    return is_moved;
}

void serials_mind(struct serials *s, const struct zone_version *v)
{
    if (!s->path || !move_limits(s, v, SERIALS_RESERVE))
        return;
    s->is_dirty = true;
    if (!s->write)
        start_write(s);
}

int serials_close(struct serials *s, const struct zone_version *v, struct err_info *why)
{
    buf_auto struct buf text = BUF_EMPTY;
    if (!s->path)
        return 0;
    for (unsigned i = 0; i < zone_version_n_zones(v); i++) {
        struct zone_info zone;
        char apex[NAME_TEXT_MAX];
        zone_version_info(v, i, &zone);
        if (zone.kind != ZONE_GONE)
            set_limit(s, name_to_text(zone.apex, apex), zone.serial);
    }
    add_lines(s, &text);
    return file_write(s->path, buf_cstr(&text), text.len, why);
}

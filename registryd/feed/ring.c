#include "feed/ring.h"
#include "base/mem.h"
#include "base/obj.h"

#include <stdlib.h>
#include <string.h>

struct ring {
    struct ring_line *lines; /* cap is a power of two; line of seq s is lines[s & (cap - 1)] */
    size_t cap;
    uint64_t first, next;
    size_t bytes, max_bytes;
    int64_t highest; /* number of a line so far */
};

/* What a line costs beside its text. */
static size_t cost(const struct ring_line *line)
{
    return sizeof *line + line->len + (line->path ? strlen(line->path) + 1 : 0);
}

static struct ring_line *slot(const struct ring *r, uint64_t seq)
{
    return &r->lines[seq & (r->cap - 1)];
}

struct ring *ring_new(size_t max_bytes)
{
    struct ring *r = mem_new(struct ring);
    r->max_bytes = max_bytes;
    r->cap = 64;
    r->lines = mem_array(r->cap, sizeof *r->lines);
    return r;
}

static void drop_first(struct ring *r)
{
    struct ring_line *line = slot(r, r->first);
    r->bytes -= cost(line);
    free(line->text);
    free(line->path);
    *line = (struct ring_line){0};
    r->first++;
}

void ring_free(struct ring *r)
{
    if (!r)
        return;
    while (r->first < r->next)
        drop_first(r);
    free(r->lines);
    free(r);
}

static void grow(struct ring *r)
{
    size_t cap = r->cap * 2;
    struct ring_line *lines = mem_array(cap, sizeof *lines);
    for (uint64_t s = r->first; s < r->next; s++)
        lines[s & (cap - 1)] = *slot(r, s);
    free(r->lines);
    r->lines = lines;
    r->cap = cap;
}

static void push(struct ring *r, struct ring_line line)
{
    r->highest = line.zxid > r->highest ? line.zxid : r->highest;
    line.from = r->highest;
    if (r->next - r->first == r->cap)
        grow(r);
    *slot(r, r->next++) = line;
    r->bytes += cost(&line);
}

/* Lines left without their mark serve only those who are past it. The newest line always stays. */
static void shrink(struct ring *r)
{
    while (r->bytes > r->max_bytes && r->first + 1 < r->next)
        drop_first(r);
}

void ring_reset(struct ring *r, int64_t zxid)
{
    while (r->first < r->next)
        drop_first(r);
    r->first = ++r->next;
    r->highest = 0;
    push(r, (struct ring_line){.zxid = zxid});
}

void ring_add(struct ring *r, int64_t zxid, char *take_text, size_t len, const char *path)
{
    push(r, (struct ring_line){.zxid = zxid, .text = take_text, .len = len, .path = mem_str(path)});
    shrink(r);
}

void ring_mark(struct ring *r, int64_t zxid)
{
    struct ring_line *last = r->next > r->first ? slot(r, r->next - 1) : NULL;
    if (last && !last->path) {
        last->zxid = zxid;
        r->highest = last->from = zxid > r->highest ? zxid : r->highest;
        return;
    }
    push(r, (struct ring_line){.zxid = zxid});
    shrink(r);
}

uint64_t ring_first(const struct ring *r)
{
    return r->first;
}

uint64_t ring_next(const struct ring *r)
{
    return r->next;
}

const struct ring_line *ring_line(const struct ring *r, uint64_t seq)
{
    return seq >= r->first && seq < r->next ? slot(r, seq) : NULL;
}

bool ring_after(const struct ring *r, int64_t zxid, uint64_t *seq)
{
    for (uint64_t s = r->next; s > r->first; s--) {
        const struct ring_line *line = slot(r, s - 1);
        if (!line->path && line->from <= zxid) {
            *seq = s;
            return true;
        }
    }
    return false;
}

int64_t ring_oldest(const struct ring *r)
{
    for (uint64_t s = r->first; s < r->next; s++)
        if (!slot(r, s)->path)
            return slot(r, s)->from;
    return INT64_MAX;
}

size_t ring_bytes(const struct ring *r)
{
    return r->bytes;
}

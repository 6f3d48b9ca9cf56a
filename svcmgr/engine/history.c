/** The bounded history of a service: see history.h. */
#include "engine/history.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "engine/document.h"
#include "engine/step.h"

struct chunk {
    int64_t first; /* number of its first entry: a multiple of CHUNK_ENTRIES */
    struct eng_history_entry **entries;
    size_t n_entries;
    bool is_dirty, is_stored;
};

struct eng_history {
    struct chunk *chunks[HISTORY_CHUNKS]; /* by number modulo HISTORY_CHUNKS; NULL: not begun yet */
    int64_t next;                         /* number of the next entry */
    bool is_dirty;
};

static void entry_defaults(void *object)
{
    *(struct eng_history_entry *)object = (struct eng_history_entry){.time_ms = 0};
}

static const struct fld entry_flds[] = {
    FLD_I64("time", struct eng_history_entry, time_ms, FLD_ZERO),
    FLD_STR("object", struct eng_history_entry, object, 0),
    FLD_STR("what", struct eng_history_entry, what, 0),
    FLD_STR("why", struct eng_history_entry, why, 0),
};
static const struct fld_type entry_type = {.what = "history entry",
                                           .size = sizeof(struct eng_history_entry),
                                           .flds = entry_flds,
                                           .n_flds = ARRAY_LEN(entry_flds),
                                           .defaults = entry_defaults};

static void chunk_defaults(void *object)
{
    *(struct chunk *)object = (struct chunk){.first = 0};
}

static const struct fld chunk_flds[] = {
    FLD_I64("first", struct chunk, first, FLD_ZERO),
    FLD_LIST("entries", struct chunk, entries, 0, &entry_type),
};
static const struct fld_type chunk_type = {.what = "history",
                                           .size = sizeof(struct chunk),
                                           .flds = chunk_flds,
                                           .n_flds = ARRAY_LEN(chunk_flds),
                                           .defaults = chunk_defaults};

static struct eng_history *history_of(struct eng_service *s)
{
    if (!s->history)
        s->history = mem_new(struct eng_history);
    return s->history;
}

static struct chunk **place_of(struct eng_history *h, int64_t number)
{
    return &h->chunks[number / CHUNK_ENTRIES % HISTORY_CHUNKS];
}

/* ---- writing ---- */

/** The chunk of the next entry; the oldest one makes room for a new one. */
static struct chunk *open_chunk(struct eng_history *h)
{
    struct chunk **place = place_of(h, h->next), *old = *place;

    if (old && h->next % CHUNK_ENTRIES)
        return old;
    struct chunk *c = fld_new(&chunk_type);
    c->first = h->next - h->next % CHUNK_ENTRIES;
    c->is_stored = old && old->is_stored;
    fld_free(&chunk_type, old);
    *place = c;
    return c;
}

void history_record(struct step *st, struct eng_service *s, const char *object, const char *what,
                    const char *why)
{
    struct eng_history *h = history_of(s);
    struct chunk *c = open_chunk(h);
    struct eng_history_entry *e = fld_new(&entry_type);

    e->time_ms = st->wall_ms;
    e->object = mem_str(object);
    e->what = mem_str(what);
    e->why = stored_text(why, HISTORY_WHY_MAX);
    c->entries = mem_resize(c->entries, c->n_entries + 1, sizeof c->entries[0]);
    c->entries[c->n_entries++] = e;
    c->is_dirty = h->is_dirty = true;
    h->next++;
    step_affect(st, s);
}

int64_t history_length(const struct eng_service *s)
{
    return s->history ? s->history->next : 0;
}

void history_undo(struct eng_service *s, int64_t length)
{
    struct eng_history *h = s->history;

    while (h && h->next > length) {
        struct chunk *c = *place_of(h, --h->next);
        if (c->n_entries > 0)
            fld_free(&entry_type, c->entries[--c->n_entries]);
    }
}

/* ---- documents ---- */

static char *chunk_key(const struct eng_service *s, size_t i)
{
    mem_auto char *folder = history_document_key(s);

    return mem_fmt("%s/%zu", folder, i);
}

void history_persist(struct step *st, struct eng_service *s)
{
    struct eng_history *h = s->history;

    if (!h || !h->is_dirty)
        return;
    for (size_t i = 0; i < HISTORY_CHUNKS; i++) {
        struct chunk *c = h->chunks[i];
        if (!c || !c->is_dirty)
            continue;
        step_store(st, chunk_key(s, i), &chunk_type, c, s);
        c->is_stored = true;
        c->is_dirty = false;
    }
    h->is_dirty = false;
}

void history_forget(struct step *st, const struct eng_service *s)
{
    step_store(st, history_document_key(s), NULL, NULL, s);
    for (size_t i = 0; s->history && i < HISTORY_CHUNKS; i++) {
        if (s->history->chunks[i] && s->history->chunks[i]->is_stored)
            step_store(st, chunk_key(s, i), NULL, NULL, s);
    }
}

static bool is_whole(const struct chunk *c)
{
    for (size_t i = 0; i < c->n_entries; i++) {
        if (!c->entries[i]->object || !c->entries[i]->what)
            return false;
    }
    return c->first >= 0 && c->first % CHUNK_ENTRIES == 0 && c->n_entries > 0 &&
           c->n_entries <= CHUNK_ENTRIES;
}

int history_load(struct eng_service *s, const char *key, const json_t *doc, struct err_info *why)
{
    struct eng_history *h = history_of(s);
    void *object = NULL;
    int rc = fld_read(&chunk_type, doc, &object, why);
    if (rc)
        return rc;
    struct chunk *c = object, **place = is_whole(c) ? place_of(h, c->first) : NULL;
    mem_auto char *own_key = place ? chunk_key(s, (size_t)(place - h->chunks)) : NULL;
    if (!place || *place || strcmp(own_key, key) != 0) {
        fld_free(&chunk_type, c);
        return err_set(why, ERR_JSON, key, "%s: no part of the history of this service", key);
    }
    *place = c;
    c->is_stored = true;
    int64_t end = c->first + (int64_t)c->n_entries;
    h->next = h->next > end ? h->next : end;
    return 0;
}

void history_follow(struct eng_service *s, const char *key, const json_t *doc)
{
    struct eng_history *h = history_of(s);
    for (size_t i = 0; i < HISTORY_CHUNKS; i++) {
        mem_auto char *own_key = chunk_key(s, i);
        if (strcmp(own_key, key) != 0)
            continue;
        struct chunk *before = h->chunks[i];
        h->chunks[i] = NULL;
        if (history_load(s, key, doc, NULL))
            h->chunks[i] = before;
        else
            fld_free(&chunk_type, before);
    }
}

void history_free(struct eng_service *s)
{
    for (size_t i = 0; s->history && i < HISTORY_CHUNKS; i++)
        fld_free(&chunk_type, s->history->chunks[i]);
    mem_free_ptr(&s->history);
}

/* ---- reading ---- */

const struct eng_history_entry *eng_service_history(const struct eng_service *s, size_t i)
{
    const struct eng_history *h = s->history;

    for (int64_t n = 0; h && n < HISTORY_CHUNKS; n++) {
        /* The oldest chunk is the one that the entry after the last chunk's end would replace. */
        int64_t number = (h->next + CHUNK_ENTRIES - 1) / CHUNK_ENTRIES + n;
        const struct chunk *c = h->chunks[number % HISTORY_CHUNKS];
        if (!c)
            continue;
        if (i < c->n_entries)
            return c->entries[i];
        i -= c->n_entries;
    }
    return NULL;
}

int64_t eng_service_history_numbers(const struct eng_service *s, int64_t *next)
{
    const struct eng_history *h = s->history;
    int64_t n = 0;

    for (size_t i = 0; h && i < HISTORY_CHUNKS; i++)
        n += h->chunks[i] ? (int64_t)h->chunks[i]->n_entries : 0;
    *next = h ? h->next : 0;
    return *next - n;
}

/**
 * What the registry has not confirmed of containers and applications that are gone: their records are to be deleted, their ends to be
 * reported. Each has a document of its own, <service's key>/gone/<id>, until both are done, so that what a service's own document
 * has does not grow with them; they are numbered in the order in which they came.
 *
 *     all     1 ─ 2 ─ 3 ─ 5      to be asked for, or asked for
 *     todo    3 ─ 5              not asked for: the registry was away, or svcmgr has started
 *
 * Those up to `forgotten` are done whatever the registry says: the subtree they stand in was purged. They go in slices.
 * More than BACKLOG_MAX drop the oldest.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/document.h"
#include "engine/documents.h"
#include "engine/registry.h"
#include "engine/step.h"
#include "spec/codec.h"

struct gone {
    /* stored */
    char *id; /* of a container or an application */
    int64_t number;
    bool record, end; /* to be deleted, to be reported */
    /* not stored */
    int64_t record_ticket, end_ticket; /* asked for; 0: not */
    bool is_refused;                   /* the deletion, permanently */
    bool is_queued;                    /* in todo */
    bool is_stored, is_dirty;
    TAILQ_ENTRY(gone) link, todo_link, dirty_link;
};
TAILQ_HEAD(gone_list, gone);

struct eng_backlog {
    struct gone_list all, todo, dirty;
    struct map by_id;
    size_t n_records, n_ends;
    int64_t next_number, forgotten;
};

static void gone_defaults(void *object)
{
    *(struct gone *)object = (struct gone){.id = NULL};
}

static const struct fld gone_flds[] = {
    FLD_STR("id", struct gone, id, 0),
    FLD_I64("number", struct gone, number, FLD_ZERO),
    FLD_BOOL("record", struct gone, record, 0),
    FLD_BOOL("end", struct gone, end, 0),
};
static const struct fld_type gone_type = {.what = "container that is gone",
                                          .size = sizeof(struct gone),
                                          .flds = gone_flds,
                                          .n_flds = ARRAY_LEN(gone_flds),
                                          .defaults = gone_defaults};

static struct eng_backlog *backlog_of(struct eng_service *s)
{
    if (!s->backlog) {
        s->backlog = mem_new(struct eng_backlog);
        TAILQ_INIT(&s->backlog->all);
        TAILQ_INIT(&s->backlog->todo);
        TAILQ_INIT(&s->backlog->dirty);
        s->backlog->next_number = 1;
    }
    return s->backlog;
}

static struct gone *find(const struct eng_service *s, const char *id)
{
    return s->backlog ? map_get(&s->backlog->by_id, id) : NULL;
}

/* ---- what is to be done of one ---- */

static void set_parts(struct eng_backlog *b, struct gone *g, bool record, bool end)
{
    b->n_records = b->n_records - g->record + record;
    b->n_ends = b->n_ends - g->end + end;
    g->record = record;
    g->end = end;
}

static void mark_dirty(struct eng_backlog *b, struct gone *g, struct step *st)
{
    st->n_changed += !g->is_dirty;
    if (!g->is_dirty)
        TAILQ_INSERT_TAIL(&b->dirty, g, dirty_link);
    g->is_dirty = true;
}

static void enqueue(struct eng_backlog *b, struct gone *g)
{
    if (!g->is_queued)
        TAILQ_INSERT_TAIL(&b->todo, g, todo_link);
    g->is_queued = true;
}

static void detach(struct eng_backlog *b, struct gone *g)
{
    set_parts(b, g, false, false);
    map_remove(&b->by_id, g->id);
    TAILQ_REMOVE(&b->all, g, link);
    if (g->is_queued)
        TAILQ_REMOVE(&b->todo, g, todo_link);
    if (g->is_dirty)
        TAILQ_REMOVE(&b->dirty, g, dirty_link);
}

/** Nothing is to be done of it any more. */
static void release(struct step *st, struct eng_service *s, struct gone *g)
{
    detach(s->backlog, g);
    if (g->is_stored) {
        step_store(st, gone_document_key(s, g->id), NULL, NULL, s);
        st->n_changed++;
    }
    fld_free(&gone_type, g);
    step_affect(st, s);
}

static void release_if_done(struct step *st, struct eng_service *s, struct gone *g)
{
    if (!g->record && !g->end)
        release(st, s, g);
}

static struct gone *insert(struct eng_backlog *b, struct gone *take_g)
{
    bool record = take_g->record, end = take_g->end;
    take_g->record = take_g->end = false;
    set_parts(b, take_g, record, end);
    map_set(&b->by_id, take_g->id, take_g);
    TAILQ_INSERT_TAIL(&b->all, take_g, link);
    return take_g;
}

static void make_room(struct step *st, struct eng_service *s)
{
    struct gone *oldest = TAILQ_FIRST(&s->backlog->all);
    if (s->backlog->by_id.n_items < BACKLOG_MAX)
        return;
    if (oldest->number > s->backlog->forgotten)
        step_note(st, s, "the registry is away for too long to %s %s",
                  oldest->record ? "delete the record of" : "report the end of", oldest->id);
    release(st, s, oldest);
}

/** The entry of a container or an application, a new one if there is none. */
static struct gone *enter(struct step *st, struct eng_service *s, const char *id)
{
    struct eng_backlog *b = backlog_of(s);
    struct gone *g = find(s, id);
    if (g && g->number <= b->forgotten) {
        release(st, s, g);
        g = NULL;
    }
    if (g)
        return g;
    make_room(st, s);
    g = fld_new(&gone_type);
    g->id = mem_str(id);
    g->number = b->next_number++;
    return insert(b, g);
}

/* ---- asking the registry ---- */

static void ask(struct step *st, const struct eng_service *s, struct gone *g)
{
    if (g->record && !g->record_ticket && !g->is_refused)
        g->record_ticket = step_registry(st, EFF_UNPUBLISH, s, g->id)->ticket;
    if (g->end && !g->end_ticket)
        g->end_ticket = step_report_ended(st, s, g->id)->ticket;
}

void backlog_unpublish(struct step *st, struct eng_service *s, const char *container_id)
{
    struct gone *g = enter(st, s, container_id);
    set_parts(s->backlog, g, true, g->end);
    g->record_ticket = 0;
    g->is_refused = false;
    mark_dirty(s->backlog, g, st);
    ask(st, s, g);
    step_affect(st, s);
}

void backlog_report_ended(struct step *st, struct eng_service *s, const char *id)
{
    struct gone *g = enter(st, s, id);
    set_parts(s->backlog, g, g->record, true);
    mark_dirty(s->backlog, g, st);
    ask(st, s, g);
    step_affect(st, s);
}

void backlog_keep_record(struct step *st, struct eng_service *s, const char *container_id)
{
    struct gone *g = find(s, container_id);
    if (!g)
        return;
    set_parts(s->backlog, g, false, g->end);
    release_if_done(st, s, g);
}

void backlog_answered(struct step *st, struct eng_service *s, const struct ticket *t, int code)
{
    const char *id = t->kind == EFF_ENDED ? t->ended_id : t->container_id;
    struct gone *g = find(s, id);
    if (g && t->number == g->end_ticket) { /* taken, or refused permanently */
        set_parts(s->backlog, g, g->record, false);
    } else if (g && t->number == g->record_ticket) {
        g->record_ticket = 0;
        g->is_refused = code != 0 && code != ERR_UNAVAILABLE;
        set_parts(s->backlog, g, code != 0, g->end);
        if (code == ERR_UNAVAILABLE)
            enqueue(s->backlog, g);
    }
    if (g)
        release_if_done(st, s, g);
}

bool backlog_repeat(struct step *st, struct eng_service *s)
{
    struct gone *g;
    for (size_t n = 0; s->backlog && (g = TAILQ_FIRST(&s->backlog->todo)); n++) {
        if (n == STEP_INSTANCES)
            return false;
        TAILQ_REMOVE(&s->backlog->todo, g, todo_link);
        g->is_queued = false;
        if (g->number > s->backlog->forgotten)
            ask(st, s, g);
    }
    return true;
}

void backlog_ask_refused(struct eng_service *s)
{
    struct gone *g;
    if (!s->backlog)
        return;
    TAILQ_FOREACH (g, &s->backlog->all, link) {
        if (g->is_refused)
            enqueue(s->backlog, g);
        g->is_refused = false;
    }
}

/* ---- all of them ---- */

void backlog_forget(struct eng_service *s)
{
    if (s->backlog)
        s->backlog->forgotten = s->backlog->next_number - 1;
}

int64_t backlog_forgotten(const struct eng_service *s)
{
    return s->backlog ? s->backlog->forgotten : 0;
}

void backlog_remember(struct eng_service *s, int64_t forgotten)
{
    if (s->backlog)
        s->backlog->forgotten = forgotten;
}

bool backlog_settle(struct step *st, struct eng_service *s)
{
    struct gone *g;
    while (s->backlog && (g = TAILQ_FIRST(&s->backlog->all)) && g->number <= s->backlog->forgotten) {
        if (step_is_full(st))
            return false;
        release(st, s, g);
    }
    return true;
}

bool backlog_is_empty(const struct eng_service *s)
{
    return !s->backlog || TAILQ_EMPTY(&s->backlog->all);
}

size_t eng_service_n_stale(const struct eng_service *s)
{
    return s->backlog ? s->backlog->n_records : 0;
}

size_t eng_service_n_ended(const struct eng_service *s)
{
    return s->backlog ? s->backlog->n_ends : 0;
}

void backlog_free(struct eng_service *s)
{
    struct gone *g;
    if (!s->backlog)
        return;
    while ((g = TAILQ_FIRST(&s->backlog->all))) {
        TAILQ_REMOVE(&s->backlog->all, g, link);
        fld_free(&gone_type, g);
    }
    map_fini(&s->backlog->by_id, NULL);
    free(s->backlog);
    s->backlog = NULL;
}

/* ---- documents ---- */

void backlog_persist(struct step *st, struct eng_service *s)
{
    struct gone *g;
    while (s->backlog && (g = TAILQ_FIRST(&s->backlog->dirty))) {
        TAILQ_REMOVE(&s->backlog->dirty, g, dirty_link);
        g->is_dirty = false;
        g->is_stored = true;
        step_store(st, gone_document_key(s, g->id), &gone_type, g, s);
    }
}

int backlog_load(struct eng_service *s, const char *key, const json_t *doc, struct err_info *why)
{
    void *object = NULL;
    int rc = fld_read(&gone_type, doc, &object, why);
    if (rc)
        return rc;
    struct gone *g = object;
    mem_auto char *own_key = g->id ? gone_document_key(s, g->id) : NULL;
    if (!own_key || strcmp(own_key, key) != 0 || g->number < 1 || find(s, g->id)) {
        fld_free(&gone_type, g);
        return err_set(why, ERR_JSON, key, "%s: not the document of a container that is gone", key);
    }
    struct eng_backlog *b = backlog_of(s);
    g->is_stored = true;
    insert(b, g);
    if (g->number >= b->next_number)
        b->next_number = g->number + 1;
    return 0;
}

static struct gone *of_format_1(struct eng_service *s, const char *id)
{
    struct eng_backlog *b = backlog_of(s);
    struct gone *g = find(s, id);
    if (g)
        return g;
    g = fld_new(&gone_type);
    g->id = mem_str(id);
    g->number = b->next_number++;
    g->is_dirty = true;
    TAILQ_INSERT_TAIL(&b->dirty, g, dirty_link);
    return insert(b, g);
}

void backlog_take_lists(struct eng_service *s)
{
    for (size_t i = 0; i < s->n_stale; i++) {
        struct gone *g = of_format_1(s, s->stale[i]);
        set_parts(s->backlog, g, true, g->end);
    }
    for (size_t i = 0; i < s->n_ended; i++) {
        struct gone *g = of_format_1(s, s->ended[i]);
        set_parts(s->backlog, g, g->record, true);
    }
}

static int by_number(const void *a, const void *b)
{
    const struct gone *const *x = a, *const *y = b;
    return ((*x)->number > (*y)->number) - ((*x)->number < (*y)->number);
}

void backlog_resume(struct eng_service *s)
{
    if (backlog_is_empty(s))
        return;
    struct eng_backlog *b = s->backlog;
    size_t n = 0;
    mem_auto struct gone **sorted = mem_array(b->by_id.n_items, sizeof sorted[0]);
    struct gone *g;
    while ((g = TAILQ_FIRST(&b->all))) {
        TAILQ_REMOVE(&b->all, g, link);
        sorted[n++] = g;
    }
    qsort(sorted, n, sizeof sorted[0], by_number);
    for (size_t i = 0; i < n; i++) {
        TAILQ_INSERT_TAIL(&b->all, sorted[i], link);
        enqueue(b, sorted[i]);
    }
}

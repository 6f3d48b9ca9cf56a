#include "publish/publish.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/backoff.h"
#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"
#include "svcmgr/events.h"
#include "publish/reconcile.h"

LOG_DECLARE(SVCMGR_EVENTS)

#define PUBLISH_MAGIC OBJ_MAGIC('P', 'U', 'B', 'L')
#define CHANGE_MAGIC  OBJ_MAGIC('C', 'H', 'N', 'G')

#define MAX_RUNNING     16   /* changes side by side */
#define WINDOW          64   /* changes looked at for one that may begin */
#define TRY_TIMEOUT_MS  2000 /* of one try */
#define TICKET_LIMIT_MS 5000
#define RETRY_FIRST_MS  100
#define RETRY_MAX_MS    5000
#define GUARD_LOOK_MS   100  /* until the guard is asked again */
#define ON_ITS_WAY_MS   2000 /* a change that takes longer is late */
#define APPLICATION     "application_"

enum change_kind { CHANGE_PUT, CHANGE_DELETE, CHANGE_PURGE, CHANGE_ENDED };

struct change {
    struct obj obj;
    TAILQ_ENTRY(change) link;
    struct publish *owner;
    enum change_kind kind;
    char *path;
    struct reg_record *record; /* PUT */
    uint64_t version;          /* PUT: of reconcile_want */
    char *id;                  /* ENDED */
    int64_t *tickets;          /* settled with the outcome: its own, and those of the changes it replaced */
    size_t n_tickets;
    int64_t asked_ms; /* when the oldest of them came */
    bool is_running;
};
TAILQ_HEAD(change_list, change);

/** The outcome of a ticket, on its way. */
struct outcome {
    int64_t ticket;
    int code;
    char *text; /* why; NULL: it was done */
};

struct publish {
    struct obj obj;
    struct run_loop *loop;
    struct reg *reg;
    struct reconcile *reconcile; /* NULL: nothing is followed */
    struct publish_follow_ops follow;
    struct publish_def def;      /* url NULL */
    bool (*may_send)(void *arg); /* NULL: always */
    void *guard_arg;
    struct change_list changes; /* oldest first */
    size_t n_changes, n_running;
    struct run_timer *timer; /* next try and ticket limits */
    int64_t pause_ms;        /* before the next try; 0: the registry answers */
    bool is_link_lost;       /* the feed does not */
    int64_t not_before_ms;
    struct outcome *outcomes;
    size_t n_outcomes;
    struct run_timer *outcome_timer;
    struct run_timer *drain_timer;
    void (*drained)(void *arg);
    void *drained_arg;
    bool is_closing;
};

static void pump(struct publish *p);

static void free_change(struct change *c)
{
    struct publish *p = c->owner;

    TAILQ_REMOVE(&p->changes, c, link);
    p->n_changes--;
    reg_record_free(c->record);
    free(c->path);
    free(c->id);
    free(c->tickets);
    obj_fini(&c->obj);
    free(c);
}

static void settle(struct change *c, int code, const char *text)
{
    struct publish *p = c->owner;

    for (size_t i = 0; i < c->n_tickets; i++) {
        p->outcomes = mem_resize(p->outcomes, p->n_outcomes + 1, sizeof *p->outcomes);
        p->outcomes[p->n_outcomes++] = (struct outcome){c->tickets[i], code, mem_str(text)};
    }
    if (c->n_tickets)
        run_timer_start(p->outcome_timer, 0, 0);
    c->n_tickets = 0;
}

/** Outside of any walk over the lists: the callback may ask for more changes. */
static void notify_outcomes(void *arg)
{
    struct publish *p = obj_cast(arg, struct publish, PUBLISH_MAGIC);
    mem_auto struct outcome *outcomes = p->outcomes;
    size_t n = p->n_outcomes;

    p->outcomes = NULL;
    p->n_outcomes = 0;
    for (size_t i = 0; i < n; i++) {
        p->def.done(p->def.arg, outcomes[i].ticket, outcomes[i].code, outcomes[i].text);
        free(outcomes[i].text);
    }
}

static void end_drain(struct publish *p)
{
    void (*drained)(void *) = p->drained;

    p->drained = NULL;
    run_timer_free(p->drain_timer);
    p->drain_timer = NULL;
    if (drained)
        drained(p->drained_arg);
}

/* ---- outcomes ---- */

/**
 * Would asking again give the same? Not where the registry is away or has trouble of its own, where it does not know what it did
 * (our records are our own, so they may be written again), where it is asked too much or something came between, and where
 * what answers is no registry.
 */
static bool is_refusal(int err)
{
    static const int passing[] = {ERR_CONFLICT, ERR_LIMIT, ERR_GONE, ERR_JSON, ERR_NOROUTE};
    int status = err_http_status(err);

    for (size_t i = 0; i < ARRAY_LEN(passing); i++) {
        if (err == passing[i])
            return false;
    }
    return (status >= 400 && status < 500) || err == ERR_UNSUPPORTED;
}

/** Whether the registry is missing, or what waits for it, may have changed. */
static void report(struct publish *p)
{
    if (p->def.changed && !p->is_closing)
        p->def.changed(p->def.arg);
}

static void note_failure(struct publish *p, const char *url, const struct err_info *why)
{
    outage_fails(p->def.outage, url, why, run_now_ms());
    report(p);
}

/** It is there when its feed is heard and it takes changes. */
static void note_success(struct publish *p)
{
    if (!p->pause_ms && !p->is_link_lost && outage_ends(p->def.outage, reg_server(p->reg), run_now_ms()))
        report(p);
}

static void try_later(struct publish *p, const struct err_info *why)
{
    note_failure(p, reg_server(p->reg), why);
    p->pause_ms = backoff_next(p->pause_ms, RETRY_FIRST_MS, RETRY_MAX_MS);
    p->not_before_ms = run_now_ms() + p->pause_ms;
}

static void on_done(void *arg, int err, const struct reg_result *r, const struct err_info *why)
{
    struct change *c = obj_cast(arg, struct change, CHANGE_MAGIC);
    struct publish *p = c->owner;

    c->is_running = false;
    p->n_running--;
    if (p->is_closing)
        return;
    if (err && !is_refusal(err)) {
        try_later(p, why);
        pump(p);
        return;
    }
    p->pause_ms = 0;
    p->not_before_ms = 0;
    note_success(p);
    if (err)
        log_emit(&ev_record_refused, LOG_STR("path", c->path), LOG_ERR(why));
    if (err && p->reconcile && c->kind == CHANGE_PUT)
        reconcile_refused(p->reconcile, c->path, c->version, why->text);
    else if (p->reconcile && c->kind == CHANGE_PUT)
        reconcile_written(p->reconcile, c->path, c->version, r->revision);
    settle(c, err, err ? why->text : NULL);
    free_change(c);
    if (!p->n_changes)
        report(p);
    pump(p);
}

/* ---- which change may begin ---- */

static bool is_below(const char *path, const char *top)
{
    size_t n = strlen(top);

    return !strncmp(path, top, n) && (path[n] == '/' || !path[n]);
}

/** Two changes that must keep their order. */
static bool do_conflict(const struct change *a, const struct change *b)
{
    if (!strcmp(a->path, b->path))
        return true;
    return (a->kind == CHANGE_PURGE && is_below(b->path, a->path)) ||
           (b->kind == CHANGE_PURGE && is_below(a->path, b->path));
}

static bool may_begin(const struct publish *p, const struct change *c)
{
    const struct change *before;

    if (c->is_running)
        return false;
    TAILQ_FOREACH (before, &p->changes, link) {
        if (before == c)
            return true;
        if (do_conflict(before, c))
            return false;
    }
    return false;
}

static void begin_ended(struct change *c)
{
    const struct reg_event container = {"container-finished", c->id};

    if (!str_starts(c->id, APPLICATION)) {
        reg_report(c->owner->reg, &container, 1, on_done, c);
        return;
    }
    /* Container 1 of attempt 1 is the application master's: here the manager itself. */
    mem_auto char *master = mem_fmt("container_%s_01_000001", c->id + strlen(APPLICATION));
    const struct reg_event events[] = {{"am-container-finished", master}, {"application-completed", c->id}};
    reg_report(c->owner->reg, events, ARRAY_LEN(events), on_done, c);
}

static void begin(struct change *c)
{
    struct publish *p = c->owner;

    c->is_running = true;
    p->n_running++;
    switch (c->kind) {
    case CHANGE_PUT:
        reg_bind(p->reg, c->path, c->record, REG_OVERWRITE | REG_CREATE_PARENTS, on_done, c);
        return;
    case CHANGE_DELETE: reg_delete(p->reg, c->path, 0, on_done, c); return;
    case CHANGE_PURGE: reg_delete(p->reg, c->path, REG_RECURSIVE, on_done, c); return;
    case CHANGE_ENDED: begin_ended(c); return;
    }
}

/** Settle the tickets that waited too long. @return ms until the next one, -1: there is none. */
static int64_t settle_late(struct publish *p, int64_t now)
{
    struct change *c;
    int64_t next = -1;

    TAILQ_FOREACH (c, &p->changes, link) {
        int64_t left = c->asked_ms + p->def.ticket_limit_ms - now;
        if (!c->n_tickets || c->kind == CHANGE_ENDED)
            continue;
        if (left <= 0)
            settle(c, ERR_UNAVAILABLE, "the registry does not answer");
        else if (next < 0 || left < next)
            next = left;
    }
    return next;
}

static bool may_send(void *arg)
{
    const struct publish *p = obj_cast(arg, struct publish, PUBLISH_MAGIC);

    return !p->may_send || p->may_send(p->guard_arg);
}

static void on_timer(void *arg)
{
    pump(obj_cast(arg, struct publish, PUBLISH_MAGIC));
}

static void pump(struct publish *p)
{
    int64_t now = run_now_ms(), pause = p->not_before_ms - now, late = settle_late(p, now);
    size_t n_seen = 0;

    if (!p->n_changes && p->drained) {
        end_drain(p);
        return; /* It may have closed us. */
    }
    if (pause <= 0 && p->n_changes && !may_send(p))
        pause = GUARD_LOOK_MS;
    for (struct change *c = TAILQ_FIRST(&p->changes); pause <= 0 && c; c = TAILQ_NEXT(c, link)) {
        if (p->n_running == MAX_RUNNING || n_seen++ == WINDOW)
            break;
        if (may_begin(p, c))
            begin(c);
    }
    run_timer_stop(p->timer);
    int64_t next = pause > 0 && (late < 0 || pause < late) ? pause : late;
    if (next >= 0 && p->n_changes)
        run_timer_start(p->timer, (uint64_t)next, 0);
}

/* ---- the interface ---- */

int publish_open(struct run_loop *loop, const struct publish_def *def, struct publish **out,
                 struct err_info *why)
{
    struct publish *p = mem_new(struct publish);
    const struct reg_options options = {
        .url = def->url, .timeout_ms = TRY_TIMEOUT_MS, .may_send = may_send, .may_send_arg = p};
    struct reg *reg;

    obj_init(&p->obj, PUBLISH_MAGIC);
    int err = reg_open(loop, &options, &reg, why);
    if (err) {
        obj_fini(&p->obj);
        free(p);
        return err;
    }
    p->loop = loop;
    p->reg = reg;
    p->def = *def;
    p->def.url = NULL; /* borrowed */
    if (!def->ticket_limit_ms)
        p->def.ticket_limit_ms = TICKET_LIMIT_MS;
    TAILQ_INIT(&p->changes);
    p->timer = run_timer_new(loop, on_timer, p);
    p->outcome_timer = run_timer_new(loop, notify_outcomes, p);
    *out = p;
    return 0;
}

static void add_ticket(struct change *c, int64_t ticket)
{
    c->tickets = mem_resize(c->tickets, c->n_tickets + 1, sizeof *c->tickets);
    c->tickets[c->n_tickets++] = ticket;
}

/** A newer change takes the place of an older one. Its tickets are not settled before: nothing of it is done yet. */
static void replace(struct change *old, struct change *c)
{
    for (size_t i = 0; i < old->n_tickets; i++)
        add_ticket(c, old->tickets[i]);
    if (old->n_tickets && old->asked_ms < c->asked_ms)
        c->asked_ms = old->asked_ms;
    free_change(old);
}

static bool is_covered(const struct change *old, const struct change *c)
{
    if (old->kind == CHANGE_ENDED || c->kind == CHANGE_ENDED)
        return old->kind == c->kind && !strcmp(old->id, c->id);
    if (c->kind == CHANGE_PURGE)
        return is_below(old->path, c->path);
    return !strcmp(old->path, c->path) && old->kind != CHANGE_PURGE;
}

static struct change *change_new(struct publish *p, enum change_kind kind, const char *path, int64_t ticket)
{
    struct change *c = mem_new(struct change);

    obj_init(&c->obj, CHANGE_MAGIC);
    c->owner = p;
    c->kind = kind;
    c->path = mem_str(path);
    c->asked_ms = run_now_ms();
    if (ticket)
        add_ticket(c, ticket);
    return c;
}

static void add(struct publish *p, struct change *c)
{
    struct change *old, *next;

    for (old = TAILQ_FIRST(&p->changes); old; old = next) {
        next = TAILQ_NEXT(old, link);
        if (!old->is_running && is_covered(old, c))
            replace(old, c);
    }
    TAILQ_INSERT_TAIL(&p->changes, c, link);
    if (!p->n_changes++)
        report(p);
    /* Later: the caller is in the middle of its own list. */
    if (p->not_before_ms <= run_now_ms())
        run_timer_start(p->timer, 0, 0);
}

void publish_guard(struct publish *p, bool (*may_send_now)(void *arg), void *arg)
{
    BUG_IF(p->may_send != NULL);
    p->may_send = may_send_now;
    p->guard_arg = arg;
}

/* ---- records that must stand ---- */

static void on_lost(void *arg, const char *path, const struct reg_record *record, uint64_t version)
{
    struct publish *p = obj_cast(arg, struct publish, PUBLISH_MAGIC);
    struct change *c = change_new(p, CHANGE_PUT, path, 0);

    c->record = reg_record_copy(record);
    c->version = version;
    add(p, c);
}

static void on_restored(void *arg, size_t n, const char *path)
{
    struct publish *p = obj_cast(arg, struct publish, PUBLISH_MAGIC);

    p->follow.restored(p->follow.arg, n, path);
}

static void on_back(void *arg)
{
    struct publish *p = obj_cast(arg, struct publish, PUBLISH_MAGIC);

    p->follow.back(p->follow.arg);
}

static void on_heard(void *arg)
{
    struct publish *p = obj_cast(arg, struct publish, PUBLISH_MAGIC);

    p->is_link_lost = false;
    if (p->pause_ms) { /* what waits is tried at once */
        p->not_before_ms = 0;
        run_timer_start(p->timer, 0, 0);
    }
    note_success(p);
}

static void on_failed(void *arg, const char *url, const struct err_info *why)
{
    struct publish *p = obj_cast(arg, struct publish, PUBLISH_MAGIC);

    p->is_link_lost = true;
    note_failure(p, url, why);
}

void publish_follow(struct publish *p, const char *home, const struct publish_follow_ops *ops)
{
    const struct reconcile_def def = {.loop = p->loop,
                                      .reg = p->reg,
                                      .home = home,
                                      .lost = on_lost,
                                      .restored = on_restored,
                                      .back = on_back,
                                      .heard = on_heard,
                                      .failed = on_failed,
                                      .arg = p};

    BUG_IF(p->reconcile != NULL);
    p->follow = *ops;
    p->reconcile = reconcile_new(&def);
}

/* ---- changes ---- */

static void set_attribute(struct reg_record *r, const char *key, const char *value)
{
    if (value)
        BUG_IF(reg_record_set(r, key, value, NULL));
}

void publish_put(struct publish *p, const char *path, const struct eng_record *record, int64_t ticket)
{
    struct reg_record *r = reg_record_new();

    reg_record_describe(r, record->description);
    set_attribute(r, "yarn:id", record->yarn_id);
    set_attribute(r, "yarn:persistence", record->persistence);
    set_attribute(r, "yarn:ip", record->ip);
    set_attribute(r, "yarn:hostname", record->hostname);
    set_attribute(r, "yarn:component", record->component);
    set_attribute(r, "bobbin:ready", record->is_unready ? "false" : NULL);
    struct change *c = change_new(p, CHANGE_PUT, path, ticket);
    c->record = r;
    c->version = p->reconcile ? reconcile_want(p->reconcile, path, r) : 0;
    add(p, c);
}

void publish_delete(struct publish *p, const char *path, int64_t ticket)
{
    if (p->reconcile)
        reconcile_forget(p->reconcile, path);
    add(p, change_new(p, CHANGE_DELETE, path, ticket));
}

void publish_purge(struct publish *p, const char *path, int64_t ticket)
{
    if (p->reconcile)
        reconcile_forget_below(p->reconcile, path);
    add(p, change_new(p, CHANGE_PURGE, path, ticket));
}

void publish_ended(struct publish *p, const char *path, const char *id, int64_t ticket)
{
    struct change *c = change_new(p, CHANGE_ENDED, path, ticket);

    if (p->reconcile)
        reconcile_forget(p->reconcile, path);
    c->id = mem_str(id);
    add(p, c);
}

size_t publish_n_pending(const struct publish *p)
{
    return p->n_changes;
}

bool publish_waits(const struct publish *p, const char *path, struct publish_wait *out)
{
    struct reconcile_wait w;

    if (!p->reconcile || !reconcile_waits(p->reconcile, path, &w))
        return false;
    bool is_missing = outage_lasts(p->def.outage);
    if (!w.refusal && !is_missing && w.lasts_ms < ON_ITS_WAY_MS)
        return false;
    *out = (struct publish_wait){.since_ms = w.since_ms, .is_refused = w.refusal};
    out->reason = w.refusal    ? w.refusal
                  : is_missing ? outage_reason(p->def.outage)
                               : "the registry has not taken it yet";
    return true;
}

static void on_drain_limit(void *arg)
{
    end_drain(obj_cast(arg, struct publish, PUBLISH_MAGIC));
}

void publish_drain(struct publish *p, int64_t limit_ms, void (*drained)(void *arg), void *arg)
{
    p->drained = drained;
    p->drained_arg = arg;
    p->drain_timer = run_timer_new(p->loop, on_drain_limit, p);
    run_timer_start(p->drain_timer, p->n_changes ? (uint64_t)limit_ms : 0, 0);
}

void publish_close(struct publish *p)
{
    if (!p)
        return;
    p->is_closing = true;
    reconcile_free(p->reconcile);
    reg_close(p->reg);
    run_timer_free(p->timer);
    run_timer_free(p->outcome_timer);
    run_timer_free(p->drain_timer);
    for (size_t i = 0; i < p->n_outcomes; i++)
        free(p->outcomes[i].text);
    free(p->outcomes);
    while (!TAILQ_EMPTY(&p->changes))
        free_change(TAILQ_FIRST(&p->changes));
    obj_fini(&p->obj);
    free(p);
}

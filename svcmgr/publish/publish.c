#include "publish/publish.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/backoff.h"
#include "base/mem.h"
#include "base/str.h"
#include "svcmgr/events.h"
#include "publish/change.h"

LOG_DECLARE(SVCMGR_EVENTS)

#define PUBLISH_MAGIC OBJ_MAGIC('P', 'U', 'B', 'L')

#define MAX_RUNNING     16   /* changes side by side */
#define WINDOW          64   /* changes looked at for one that may begin */
#define TRY_TIMEOUT_MS  2000 /* of one try */
#define TICKET_LIMIT_MS 5000
#define TURN_OUTCOMES   16 /* reported in one turn of the loop */
#define TURN_DROPS      64 /* changes that need not be sent, in one turn of the loop */
#define LATEST          20 /* times the limit: a ticket is settled then, whatever else the registry takes */
#define RETRY_FIRST_MS  100
#define RETRY_MAX_MS    5000
#define GUARD_LOOK_MS   100  /* until the guard is asked again */
#define ON_ITS_WAY_MS   2000 /* a change that takes longer is late */
#define APPLICATION     "application_"

static void pump(struct publish *p);

/** Outside of any walk over the lists: the callback may ask for more changes. A purge can settle very many. */
static void notify_outcomes(void *arg)
{
    struct publish *p = obj_cast(arg, struct publish, PUBLISH_MAGIC);

    for (int i = 0; i < TURN_OUTCOMES && p->next_outcome < p->n_outcomes; i++) {
        struct outcome o = p->outcomes[p->next_outcome++];
        p->def.done(p->def.arg, o.ticket, o.code, o.text);
        free(o.text);
    }
    if (p->next_outcome < p->n_outcomes) {
        run_timer_start(p->outcome_timer, 0, 0);
        return;
    }
    mem_free_ptr(&p->outcomes);
    p->n_outcomes = p->next_outcome = 0;
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

/** Changes run side by side, so their answers may come in another order. */
static void note_revision(struct publish *p, const char *revision)
{
    char store[REG_REVISION_MAX], known[REG_REVISION_MAX];
    int64_t n = 0, n_known = 0;

    if (reg_revision_read(revision, store, &n))
        return;
    bool is_older =
        reg_revision_read(p->revision, known, &n_known) == 0 && strcmp(known, store) == 0 && n <= n_known;
    if (!is_older)
        snprintf(p->revision, sizeof p->revision, "%s", revision);
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
        publish_change_wait_again(c);
        pump(p);
        return;
    }
    p->pause_ms = 0;
    p->not_before_ms = 0;
    p->answered_ms = run_now_ms();
    note_success(p);
    if (!err)
        note_revision(p, r->revision);
    if (err)
        log_emit(&ev_record_refused, LOG_STR("path", c->path), LOG_ERR(why));
    if (err && p->reconcile && c->kind == CHANGE_PUT)
        reconcile_refused(p->reconcile, c->path, c->version, why->text);
    else if (p->reconcile && c->kind == CHANGE_PUT)
        reconcile_written(p->reconcile, c->path, c->version, r->revision);
    publish_change_settle(c, err, err ? why->text : NULL);
    publish_change_free(c);
    if (!p->n_changes)
        report(p);
    pump(p);
}

/* ---- which change may begin ---- */

/** The registry has the record already: it stood there before the first change was sent. */
static bool is_found(const struct publish *p, const struct change *c)
{
    return c->kind == CHANGE_PUT && reconcile_stands(p->reconcile, c->path, c->version);
}

/** A change that waits goes unsent when nothing is left of it to do. @return whether it went */
static bool drop(struct publish *p, struct change *c)
{
    struct change *purge = c->is_running || c->kind == CHANGE_ENDED ? NULL : publish_change_purge_of(p, c);

    if (purge) {
        publish_change_replace(c, purge);
        return true;
    }
    if (c->number >= p->n_found || !publish_change_may_begin(p, c) || !is_found(p, c))
        return false;
    publish_change_settle(c, 0, NULL);
    publish_change_free(c);
    if (!p->n_changes)
        report(p);
    return true;
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

    publish_change_leave_waiting(c);
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

/**
 * Settle the tickets that waited too long. While the registry takes one change after the other none of them does: those that are asked for again
 * would only make it more.
 * @return ms until the next one, -1: there is none.
 */
static int64_t settle_late(struct publish *p, int64_t now)
{
    struct heap_node *first = heap_first(&p->late);
    int64_t patient_ms = p->answered_ms + p->def.ticket_limit_ms - now;

    if (p->answered_ms && patient_ms > 0 && first && first->key <= now &&
        now - first->key < LATEST * p->def.ticket_limit_ms)
        return patient_ms;
    while ((first = heap_first(&p->late)) && first->key <= now)
        publish_change_settle(container_of(first, struct change, late), ERR_UNAVAILABLE,
                              "the registry does not answer");
    return first ? first->key - now : -1;
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

/** What stands is known, or cannot be known. */
static void end_await(struct publish *p)
{
    if (!p->awaits_feed)
        return;
    p->awaits_feed = false;
    p->n_found = p->n_asked;
    p->answered_ms = run_now_ms(); /* It was the feed that was waited for, not the answer to a change. */
    run_timer_start(p->timer, 0, 0);
}

/** @return ms for which nothing is sent, as the feed may show that it need not be; 0: it does, or has taken too long */
static int64_t wait_for_feed(struct publish *p, int64_t now)
{
    int64_t left_ms = p->begun_ms + p->def.ticket_limit_ms - now;

    if (left_ms <= 0)
        end_await(p);
    return left_ms > 0 ? left_ms : 0;
}

/** Begin what may begin now. @return whether there is more to drop */
static bool begin_some(struct publish *p)
{
    struct change *c, *next;
    size_t n_seen = 0, n_dropped = 0;

    for (c = TAILQ_FIRST(&p->changes); c && p->n_running < MAX_RUNNING && n_seen < WINDOW; c = next) {
        next = TAILQ_NEXT(c, link);
        if (n_dropped == TURN_DROPS)
            return true;
        if (drop(p, c)) {
            n_dropped++;
            continue;
        }
        n_seen++;
        if (publish_change_may_begin(p, c))
            begin(c);
    }
    return false;
}

static void pump(struct publish *p)
{
    if (!p->n_changes && p->drained) {
        end_drain(p);
        return; /* It may have closed us. */
    }
    if (p->is_held)
        return;
    int64_t now = run_now_ms(), pause = p->awaits_feed ? wait_for_feed(p, now) : p->not_before_ms - now;
    int64_t late = settle_late(p, now);
    if (pause <= 0 && p->n_changes && !may_send(p))
        pause = GUARD_LOOK_MS;
    if (pause <= 0 && begin_some(p))
        late = 0;
    if (!p->n_changes && p->drained) {
        end_drain(p);
        return;
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

static void add(struct publish *p, struct change *c)
{
    publish_change_replace_older(p, c);
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
    struct change *c = publish_change_new(p, CHANGE_PUT, path, 0);

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
    if (reconcile_is_synced(p->reconcile))
        end_await(p);
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
    end_await(p);
    note_failure(p, url, why);
}

void publish_follow(struct publish *p, const char *home, const struct publish_follow_ops *ops)
{
    const struct reconcile_def def = {.loop = p->loop,
                                      .reg = p->reg,
                                      .home = home,
                                      .is_held = p->is_held,
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

void publish_hold(struct publish *p)
{
    BUG_IF(p->reconcile || p->n_changes);
    p->is_held = true;
}

void publish_begin(struct publish *p)
{
    if (!p->is_held)
        return;
    p->is_held = false;
    p->awaits_feed = p->reconcile != NULL;
    p->begun_ms = p->answered_ms = run_now_ms(); /* The tickets have not waited for the registry. */
    if (p->reconcile)
        reconcile_begin(p->reconcile);
    run_timer_start(p->timer, 0, 0);
}

/* ---- changes ---- */

static void set_attribute(struct reg_record *r, const char *key, const char *value)
{
    if (value)
        BUG_IF(reg_record_set(r, key, value, NULL));
}

/** What Slider's clients look for in the record of an application. Source: slider-am 9.3. */
static void add_slider(struct reg_record *r, const char *root)
{
    static const struct {
        const char *api, *path;
        bool is_web;
    } rows[] = {
        {"http://", "", true},
        {"classpath:org.apache.slider.client.rest", "", true},
        {"classpath:org.apache.slider.management", "ws/v1/slider/mgmt", false},
        {"classpath:org.apache.slider.publisher", "ws/v1/slider/publisher", false},
        {"classpath:org.apache.slider.registry", "ws/v1/slider/registry", false},
        {"classpath:org.apache.slider.publisher.configurations", "ws/v1/slider/publisher/slider", false},
        {"classpath:org.apache.slider.publisher.exports", "ws/v1/slider/publisher/exports", false}};
    struct reg_endpoint e;
    reg_endpoint_ipc(&e, "classpath:org.apache.slider.appmaster.ipc", NULL,
                     0); /* it has none, and clients look for it */
    BUG_IF(reg_record_add_external(r, &e, NULL));
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        mem_auto char *url = mem_fmt("%s%s", root, rows[i].path);
        const char *const uris[] = {url, NULL};
        reg_endpoint_uri(&e, rows[i].api, rows[i].is_web ? "webui" : "REST", uris);
        BUG_IF(reg_record_add_external(r, &e, NULL));
    }
}

/** Its named ports: an endpoint each, "http" of type host/port at its address. */
static void add_endpoints(struct reg_record *r, const struct eng_record *record)
{
    if (record->slider_root)
        add_slider(r, record->slider_root);
    const char *const uris[] = {record->url, NULL};
    struct reg_endpoint api;
    if (record->url) {
        reg_endpoint_rest(&api, PUBLISH_MASTER_API, uris);
        BUG_IF(reg_record_add_external(r, &api, NULL));
    }
    for (size_t i = 0; i < record->n_ports && record->ip; i++) {
        struct reg_endpoint e;
        reg_endpoint_inet(&e, record->ports[i].name, "tcp", record->ip, (int)record->ports[i].port);
        BUG_IF(reg_record_add_external(r, &e, NULL));
    }
}

void publish_put(struct publish *p, const char *path, const struct eng_record *record, int64_t ticket)
{
    struct reg_record *r = reg_record_new();

    const char *name;
    json_t *value;
    json_object_foreach(record->attributes, name, value)
    {
        bool is_ours = str_starts(name, "yarn:") || str_starts(name, "bobbin:");
        if (!is_ours) /* members of a record are refused */
            (void)reg_record_set(r, name, json_string_value(value), NULL);
    }
    reg_record_describe(r, record->description);
    set_attribute(r, "yarn:id", record->yarn_id);
    set_attribute(r, "yarn:persistence", record->persistence);
    set_attribute(r, "yarn:ip", record->ip);
    set_attribute(r, "yarn:hostname", record->hostname);
    set_attribute(r, "yarn:component", record->component);
    set_attribute(r, "bobbin:ready", record->is_unready ? "false" : NULL);
    add_endpoints(r, record);
    struct change *c = publish_change_new(p, CHANGE_PUT, path, ticket);
    c->record = r;
    c->version = p->reconcile ? reconcile_want(p->reconcile, path, r) : 0;
    add(p, c);
}

void publish_delete(struct publish *p, const char *path, int64_t ticket)
{
    if (p->reconcile)
        reconcile_forget(p->reconcile, path);
    add(p, publish_change_new(p, CHANGE_DELETE, path, ticket));
}

void publish_purge(struct publish *p, const char *path, int64_t ticket)
{
    if (p->reconcile)
        reconcile_forget_below(p->reconcile, path);
    add(p, publish_change_new(p, CHANGE_PURGE, path, ticket));
}

void publish_ended(struct publish *p, const char *path, const char *id, int64_t ticket)
{
    struct change *c = publish_change_new(p, CHANGE_ENDED, path, ticket);

    if (p->reconcile)
        reconcile_forget(p->reconcile, path);
    c->id = mem_str(id);
    add(p, c);
}

bool publish_revision(const struct publish *p, char *out)
{
    if (!p->revision[0])
        return p->reconcile && reconcile_revision(p->reconcile, out);
    memcpy(out, p->revision, sizeof p->revision);
    return true;
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
    publish_begin(p);
    end_await(p);
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
    for (size_t i = p->next_outcome; i < p->n_outcomes; i++)
        free(p->outcomes[i].text);
    free(p->outcomes);
    while (!TAILQ_EMPTY(&p->changes))
        publish_change_free(TAILQ_FIRST(&p->changes));
    map_fini(&p->waiting, NULL);
    map_fini(&p->purges, NULL);
    heap_fini(&p->late);
    obj_fini(&p->obj);
    free(p);
}

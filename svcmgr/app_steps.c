#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "faces/waits.h"
#include "svcmgr/app.h"
#include "svcmgr/app_manager.h"
#include "svcmgr/events.h"

LOG_DECLARE(SVCMGR_EVENTS)

#define FAILURE_MAGIC   OBJ_MAGIC('F', 'A', 'I', 'L')
#define TURN_EFFECTS    32          /* of the steps that are taken or carried out in one turn of the loop */
#define WRITE_MAX_DOCS  256         /* of one transaction: the store takes them in one turn */
#define WRITE_MAX_BYTES (512 << 10) /* of one transaction: ZooKeeper takes at most 1 MiB */

int64_t app_now_ms(const struct app *a)
{
    return clock_now_ms(&a->clock, run_boot_ms());
}

void app_event(struct app *a, struct eng_event *ev)
{
    if (a->is_ending)
        return; /* What happens from now on is found again by the next start. */
    queue_push(&a->queue, ev, 0);
    app_pump(a);
}

/* ---- steps ---- */

static void free_step(struct app *a, struct app_step *step)
{
    TAILQ_REMOVE(&a->steps, step, link);
    if (step->kept)
        free(map_remove(&a->requested, step->service));
    eng_kept_free(step->kept);
    eng_effects_fini(&step->effects);
    free(step->service);
    free(step);
}

void app_drop_steps(struct app *a)
{
    while (!TAILQ_EMPTY(&a->steps))
        free_step(a, TAILQ_FIRST(&a->steps));
    queue_fini(&a->queue);
    map_fini(&a->requested, free);
    run_timer_free(a->retry_timer);
    run_timer_free(a->turn_timer);
    a->retry_timer = a->turn_timer = NULL;
    mem_free_ptr(&a->docs);
}

static void measure(struct app_step *step)
{
    const struct eng_effects *effects = &step->effects;

    for (size_t i = 0; i < effects->n && effects->items[i].kind == EFF_PERSIST; i++) {
        step->n_bytes += effects->items[i].len + strlen(effects->items[i].key);
        step->n_docs++;
    }
}

/* ---- taking requests back ---- */

/** The service is again what it was; the effects of the step are dropped with it. */
static void undo(struct app *a, struct app_step *step, enum eng_outcome outcome, const char *reason)
{
    struct eng_effects timers = {.n = 0};

    engine_undo(a->engine, step->kept, app_now_ms(a), &timers);
    for (size_t i = 0; i < timers.n; i++)
        app_carry_out(a, &timers.items[i]);
    eng_effects_fini(&timers);
    app_answer_outcome(a, step->token, outcome, reason);
    metric_add(daemon_metrics(a->daemon), M_REQUESTS_UNDONE, 1);
    free_step(a, step);
}

/** What it would store of its service has grown too large, however little the request adds. */
static void undo_too_large(struct app *a, struct app_step *step)
{
    mem_auto char *reason = mem_fmt("The state of the service would have %zu bytes, at most %d can be stored",
                                    step->n_bytes, WRITE_MAX_BYTES);

    undo(a, step, OUT_TOO_LARGE, reason);
}

/** What was asked for and is not written; why: what the store says. */
static void undo_requests(struct app *a, bool in_write_too, const struct err_info *why)
{
    struct app_step *next;

    for (struct app_step *step = TAILQ_FIRST(&a->steps); step; step = next) {
        next = TAILQ_NEXT(step, link);
        if (step->kept && (in_write_too || !step->is_in_write))
            undo(a, step, OUT_STORE_FAILED, why->text);
    }
}

/** A write that failed, for the requests that had not begun. */
struct failure {
    struct obj obj;
    struct app *app;
    const struct err_info *why;
};

static void answer_failed(void *arg, uint64_t token)
{
    const struct failure *f = obj_cast(arg, struct failure, FAILURE_MAGIC);

    app_answer_outcome(f->app, token, OUT_STORE_FAILED, f->why->text);
}

static void answer_busy(void *arg, uint64_t token)
{
    app_answer_outcome(obj_cast(arg, struct app, APP_MAGIC), token, OUT_BUSY, NULL);
}

/* ---- stepping ---- */

/** A request that is not durable may be undone: until then its service takes no further event. */
static bool must_wait(const struct app *a, const struct eng_event *ev)
{
    if (!a->requested.n_items)
        return false;
    mem_auto char *service = engine_service_of(a->engine, ev);
    return ev->kind == EV_RESUME || (service && map_get(&a->requested, service));
}

/** What one transaction holds, or would. */
struct size {
    size_t n_bytes, n_docs;
};

static void add_size(struct size *to, const struct app_step *step)
{
    to->n_bytes += step->n_bytes;
    to->n_docs += step->n_docs;
}

static bool has_room(const struct size *size)
{
    return size->n_bytes < WRITE_MAX_BYTES && size->n_docs < WRITE_MAX_DOCS;
}

/** One step; its documents are added to what waits. @return its effects */
static size_t take_event(struct app *a, struct eng_event *ev, struct size *waiting)
{
    struct app_step *step = mem_new(struct app_step);
    struct eng_time now = {.now_ms = app_now_ms(a),
                           .wall_ms = run_wall_ms(),
                           .random = hash_bytes(&a->n_steps, sizeof a->n_steps)};
    const char *name = ev->take_spec ? ev->take_spec->name : ev->name;

    a->n_steps++;
    if (eng_event_is_request(ev)) {
        step->token = ev->token;
        step->service = engine_service_of(a->engine, ev);
        step->kept = engine_keep(a->engine, ev->service_kind, ev->user, name);
        free(map_set(&a->requested, step->service, mem_str(step->service)));
    }
    engine_step(a->engine, ev, now, &step->effects);
    ev->take_spec = NULL; /* The engine has them. */
    ev->take_rules = NULL;
    metric_add(daemon_metrics(a->daemon), M_STEPS, 1);
    measure(step);
    TAILQ_INSERT_TAIL(&a->steps, step, link);
    size_t n_effects = step->effects.n;
    if (step->kept && step->n_bytes > WRITE_MAX_BYTES)
        undo_too_large(a, step);
    else
        add_size(waiting, step);
    return n_effects;
}

static struct size waiting_size(const struct app *a)
{
    const struct app_step *step;
    struct size size = {0};

    TAILQ_FOREACH (step, &a->steps, link)
        add_size(&size, step);
    return size;
}

/** The next event, if one transaction and what is not durable allow it to be taken; else NULL. */
static struct eng_event *next_event(const struct app *a, const struct size *waiting)
{
    bool may_step = has_room(waiting) && !app_manager_waits(a);
    struct eng_event *ev = may_step ? queue_first(&a->queue) : NULL;

    return ev && !must_wait(a, ev) ? ev : NULL;
}

/** Those who wait for a service that a step may have changed look at it. */
static void wake_waiting(struct app *a, const struct eng_effects *effects)
{
    const struct eng_effect *last = NULL;

    for (size_t i = 0; i < effects->n; i++) {
        const struct eng_effect *e = &effects->items[i];
        bool is_same = last && e->name && last->service_kind == e->service_kind &&
                       strcmp(last->name, e->name) == 0 && strcmp(last->user, e->user) == 0;
        if (!e->name || is_same)
            continue;
        waits_changed(a->face.waits, e->service_kind, e->user, e->name);
        last = e;
    }
    app_slider_changed(a);
}

/** Its next effects, at most so many; the step goes with the last one. @return how many */
static size_t carry_out(struct app *a, struct app_step *step, size_t most)
{
    size_t from = step->n_carried_out, left = step->effects.n - from, n = left < most ? left : most;

    if (!from)
        wake_waiting(a, &step->effects);
    for (; step->n_carried_out < from + n; step->n_carried_out++)
        app_carry_out(a, &step->effects.items[step->n_carried_out]);
    if (n == left)
        free_step(a, step);
    return n;
}

/**
 * Carry out what needs no write, or is written, in its order, and step the engine as far as one transaction allows; but not much more than one
 * turn of the loop may do.
 * @return whether there is more of it
 */
static bool work(struct app *a)
{
    struct size waiting = waiting_size(a);

    for (size_t done = 0;;) {
        struct app_step *step = TAILQ_FIRST(&a->steps);
        bool is_due = step && !step->n_bytes;
        struct eng_event *ev = is_due ? NULL : next_event(a, &waiting);
        if (done >= TURN_EFFECTS || (!is_due && !ev))
            return is_due || ev;
        if (is_due) {
            done += 1 + carry_out(a, step, TURN_EFFECTS - done);
        } else {
            done += 1 + take_event(a, ev, &waiting);
            queue_pop(&a->queue);
        }
    }
}

/** What waits is tried together with what failed. */
static void take_some(struct app *a)
{
    struct eng_event *ev;
    struct size waiting = waiting_size(a);

    for (size_t done = 0; done < TURN_EFFECTS && (ev = next_event(a, &waiting));) {
        done += 1 + take_event(a, ev, &waiting);
        queue_pop(&a->queue);
    }
}

/** The loop does other things in between. */
static void on_turn(void *arg)
{
    struct app *a = obj_cast(arg, struct app, APP_MAGIC);

    a->is_turn_over = false;
    app_pump(a);
}

static void work_on_next_turn(struct app *a)
{
    a->is_turn_over = true;
    if (!a->turn_timer)
        a->turn_timer = run_timer_new(a->loop, on_turn, a);
    run_timer_start(a->turn_timer, 0, 0);
}

/* ---- writing ---- */

static void on_retry(void *arg);

void app_retry_later(struct app *a)
{
    if (a->retry_timer)
        return;
    a->retry_timer = run_timer_new(a->loop, on_retry, a);
    run_timer_start(a->retry_timer, (uint64_t)a->write_retry_ms, 0);
}

/** Whether the state takes writes, for /readyz. why NULL: it does. */
static void report_writable(struct app *a, const struct err_info *why)
{
    metric_set(daemon_metrics(a->daemon), M_STATE_WRITABLE, !why);
    if (why)
        outage_fails(a->state_outage, a->state_url, why, run_now_ms());
    if (why || outage_ends(a->state_outage, a->state_url, run_now_ms()))
        app_report_ready(a);
}

void app_follow_lost(struct app *a, const struct err_info *why)
{
    (void)a;
    if (why)
        log_emit(&ev_state_not_followed, LOG_ERR(why));
    else
        log_emit0(&ev_state_followed);
}

/** What is written of a step need not be written again, nor can it be undone. */
static void is_durable(struct app *a, struct app_step *step)
{
    if (step->kept)
        free(map_remove(&a->requested, step->service));
    eng_kept_free(step->kept);
    step->kept = NULL;
    step->n_bytes = step->n_docs = 0;
    step->is_in_write = false;
}

/** Every step of the write is durable; its effects are carried out when its turn comes, and the state is still ours. */
static void write_succeeded(struct app *a)
{
    struct app_step *step;

    report_writable(a, NULL);
    a->is_unknown = false;
    TAILQ_FOREACH (step, &a->steps, link) {
        if (!step->is_in_write)
            break;
        a->n_alone -= a->n_alone > 0;
        is_durable(a, step);
    }
}

static void leave_write(struct app *a)
{
    struct app_step *step;

    TAILQ_FOREACH (step, &a->steps, link)
        step->is_in_write = false;
}

static size_t n_steps(const struct app *a)
{
    const struct app_step *step;
    size_t n = 0;

    TAILQ_FOREACH (step, &a->steps, link)
        n++;
    return n;
}

/** Nothing was written: what was asked for is taken back, what has happened is written later. */
static void write_failed(struct app *a, const struct err_info *why)
{
    struct failure failure = {{FAILURE_MAGIC}, a, why};

    a->is_unknown = false;
    undo_requests(a, true, why);
    leave_write(a);
    a->n_alone = n_steps(a); /* If one of them is to blame, the others need not share its fate. */
    queue_drop_requests(&a->queue, answer_failed, &failure);
    report_writable(a, why);
    app_retry_later(a);
}

/** The store will never take this: of several steps each is tried alone, a single one is given up. */
static void write_refused(struct app *a, const struct err_info *why)
{
    struct app_step *step, *last = NULL;
    size_t n = 0, n_with_docs = 0;

    TAILQ_FOREACH (step, &a->steps, link) {
        n += step->is_in_write;
        n_with_docs += step->is_in_write && step->n_bytes > 0;
        last = step->is_in_write && step->n_bytes > 0 ? step : last;
    }
    leave_write(a);
    if (n_with_docs > 1) {
        a->n_alone = n;
        return;
    }
    BUG_IF(!last); /* The writer's node alone fits. */
    a->n_alone -= a->n_alone > 0;
    log_emit(&ev_state_refused, LOG_STR("document", last->effects.items[0].key), LOG_ERR(why));
    if (last->kept)
        undo(a, last, why->code == ERR_TOOBIG ? OUT_TOO_LARGE : OUT_NOT_STORABLE, why->text);
    else
        free_step(a, last);
}

/** It may have been written or not: the answers say so, and it is found out before anything else is written. */
static void write_unknown(struct app *a, const struct err_info *why)
{
    struct app_step *step;

    a->is_unknown = true;
    TAILQ_FOREACH (step, &a->steps, link) {
        if (step->kept && step->is_in_write)
            app_answer_outcome(a, step->token, OUT_UNKNOWN, NULL);
    }
    undo_requests(a, false, why);
    queue_drop_requests(&a->queue, answer_busy, a);
    report_writable(a, why);
    app_retry_later(a);
}

static void on_written(void *arg, enum state_outcome outcome, const struct err_info *why)
{
    struct app *a = obj_cast(arg, struct app, APP_MAGIC);

    a->is_writing = false;
    mem_free_ptr(&a->docs);
    metric_observe(daemon_metrics(a->daemon), M_WRITE_TIME, run_now_us() - a->write_begun_us);
    metric_add(daemon_metrics(a->daemon), outcome == STATE_WRITTEN ? M_WRITES : M_WRITE_ERRORS, 1);
    if (a->is_ending)
        return;
    switch (outcome) {
    case STATE_WRITTEN: write_succeeded(a); break;
    case STATE_REFUSED: write_refused(a, why); break;
    case STATE_FAILED: write_failed(a, why); break;
    case STATE_UNKNOWN: write_unknown(a, why); break;
    case STATE_FENCED: app_fenced(a, why); return;
    }
    app_pump(a);
}

/** The documents in the order of their keys: parents first. */
static void list_docs(struct app *a, const struct map *docs)
{
    mem_auto const char **keys = map_sorted_keys(docs);

    a->docs = mem_array(docs->n_items + 1, sizeof *a->docs); /* and the clock */
    for (size_t i = 0; keys[i]; i++) {
        const struct eng_effect *e = map_get(docs, keys[i]);
        a->docs[i] = (struct state_doc){e->key, e->bytes, e->len};
    }
}

/** Add the documents of a step; a later text of the same document replaces the earlier one. */
static void add_docs(struct map *docs, const struct app_step *step)
{
    for (size_t i = 0; i < step->effects.n && step->effects.items[i].kind == EFF_PERSIST; i++) {
        struct eng_effect *e = &step->effects.items[i];
        map_set(docs, e->key, e);
    }
}

/** Every transaction says what time it is: the due times in its documents mean nothing without. */
static void add_clock(struct app *a, size_t at)
{
    clock_write(&a->clock, run_boot_ms(), &a->clock_text);
    a->docs[at] = (struct state_doc){CLOCK_KEY, a->clock_text.bytes, a->clock_text.len};
}

static int64_t bytes_of(const struct state_doc *docs, size_t n)
{
    int64_t n_bytes = 0;

    for (size_t i = 0; i < n; i++)
        n_bytes += (int64_t)(strlen(docs[i].key) + docs[i].len);
    return n_bytes;
}

/** One transaction for as many waiting steps as it may hold; without any it only asks whether the store takes writes. */
static void begin_write(struct app *a)
{
    struct app_step *step;
    struct map docs = MAP_EMPTY;
    size_t n_bytes = 0;

    a->is_writing = true;
    a->write_begun_us = run_now_us();
    TAILQ_FOREACH (step, &a->steps, link) {
        bool fits = n_bytes + step->n_bytes <= WRITE_MAX_BYTES && !a->n_alone;
        if (n_bytes > 0 && !fits)
            break;
        n_bytes += step->n_bytes;
        if (step->n_bytes) /* else they are written, and its effects are still to be carried out */
            add_docs(&docs, step);
        step->is_in_write = true;
    }
    list_docs(a, &docs);
    size_t n = docs.n_items;
    map_fini(&docs, NULL);
    add_clock(a, n++);
    metric_add(daemon_metrics(a->daemon), M_STATE_BYTES, bytes_of(a->docs, n));
    state_write(a->state, a->docs, n, on_written, a);
}

static void on_retry(void *arg)
{
    struct app *a = obj_cast(arg, struct app, APP_MAGIC);

    run_timer_free(a->retry_timer);
    a->retry_timer = NULL;
    if (a->is_unknown) {
        a->is_writing = true;
        state_find_out(a->state, on_written, a);
        return;
    }
    take_some(a);
    begin_write(a);
}

void app_pump(struct app *a)
{
    bool is_idle = !a->is_writing && !a->is_unknown && !a->retry_timer && !app_manager_takes(a);
    bool is_held = !a->is_ending && state_is_held(a->state), can_step = is_idle && is_held;

    if (a->is_pumping || a->is_ending || a->is_turn_over)
        return;
    a->is_pumping = true; /* An effect may bring an event at once: it waits for its turn. */
    bool has_more = can_step && work(a);
    a->is_pumping = false;
    if (has_more) {
        work_on_next_turn(a);
        return;
    }
    if (is_idle && TAILQ_EMPTY(&a->steps) && is_held && app_manager_waits(a) && app_manager_take_back(a))
        return; /* the state is busy with it, or app_pump has gone on */
    if (is_idle &&
        (!TAILQ_EMPTY(&a->steps) || !is_held)) /* Without the lease nothing is done but to ask for it. */
        begin_write(a);
}

void app_renew(struct app *a)
{
    if (!a->is_ending && !a->is_writing && !a->is_unknown && !a->retry_timer && !app_manager_takes(a))
        begin_write(a);
}

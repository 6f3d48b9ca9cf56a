#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "svcmgr/app.h"
#include "svcmgr/events.h"

LOG_DECLARE(SVCMGR_EVENTS)

#define WRITE_MAX_BYTES (512 << 10) /* of one transaction: ZooKeeper takes at most 1 MiB */
#define WRITE_RETRY_MS  1000

int64_t app_now_ms(struct app *a)
{
    int64_t now = run_wall_ms();

    if (now > a->last_now_ms)
        a->last_now_ms = now;
    return a->last_now_ms;
}

void app_event(struct app *a, struct eng_event *ev)
{
    if (a->is_ending)
        return; /* What happens from now on is found again by the next start. */

    struct app_step *step = mem_new(struct app_step);
    engine_step(a->engine, ev, app_now_ms(a), &step->effects);
    metric_add(daemon_metrics(a->daemon), M_STEPS, 1);
    TAILQ_INSERT_TAIL(&a->steps, step, link);
    app_pump(a);
}

/* ---- answers ---- */

static struct app_waiter *take_waiter(struct app *a, uint64_t token)
{
    struct app_waiter *w;

    TAILQ_FOREACH (w, &a->waiters, link) {
        if (w->token != token)
            continue;
        TAILQ_REMOVE(&a->waiters, w, link);
        return w;
    }
    return NULL;
}

void app_answer(struct app *a, const struct eng_answer *answer)
{
    mem_auto struct app_waiter *w = take_waiter(a, answer->token);

    if (w)
        w->answered(w->arg, answer); /* A token that got OUT_STORE_FAILED has no waiter any more. */
}

void app_cancel_waiters(struct app *a)
{
    while (!TAILQ_EMPTY(&a->waiters)) {
        struct eng_answer answer = {.token = TAILQ_FIRST(&a->waiters)->token, .outcome = OUT_CANCELLED};
        app_answer(a, &answer);
    }
}

static void submit(void *app, struct eng_event *ev,
                   void (*answered)(void *arg, const struct eng_answer *answer), void *arg)
{
    struct app *a = obj_cast(app, struct app, APP_MAGIC);
    struct eng_answer refused = {.outcome = OUT_CANCELLED};

    if (a->is_ending) {
        spec_free(ev->take_spec);
        ev->take_spec = NULL;
        answered(arg, &refused);
        return;
    }
    struct app_waiter *w = mem_new(struct app_waiter);
    w->token = ev->token = ++a->last_token;
    w->answered = answered;
    w->arg = arg;
    TAILQ_INSERT_TAIL(&a->waiters, w, link);
    app_event(a, ev);
}

static const struct engine *face_engine(void *app)
{
    return obj_cast(app, struct app, APP_MAGIC)->engine;
}

static int64_t face_now_ms(void *app)
{
    return app_now_ms(obj_cast(app, struct app, APP_MAGIC));
}

static const struct spec_world *face_world(void *app)
{
    return &obj_cast(app, struct app, APP_MAGIC)->world;
}

static const char *face_log_dir(void *app, const char *container_id)
{
    const struct cluster_container *c =
        cluster_find(obj_cast(app, struct app, APP_MAGIC)->cluster, container_id);

    return c ? c->log_dir : NULL;
}

const struct app_ops app_face_ops = {.submit = submit,
                                     .engine = face_engine,
                                     .now_ms = face_now_ms,
                                     .world = face_world,
                                     .log_dir = face_log_dir};

/* ---- writing ---- */

static bool has_docs(const struct app_step *step)
{
    return step->effects.n > 0 && step->effects.items[0].kind == EFF_PERSIST;
}

/** The requests whose changes are not durable are told so now: they must not wait for a disk to come back. */
static void refuse_unwritten(struct app *a)
{
    struct app_step *step;

    TAILQ_FOREACH (step, &a->steps, link) {
        for (size_t i = 0; i < step->effects.n; i++) {
            const struct eng_effect *e = &step->effects.items[i];
            if (!step->is_in_write || e->kind != EFF_ANSWER)
                continue;
            struct eng_answer answer = *e->answer;
            answer.outcome = OUT_STORE_FAILED;
            app_answer(a, &answer);
        }
    }
}

static void on_retry(void *arg)
{
    struct app *a = obj_cast(arg, struct app, APP_MAGIC);

    run_timer_free(a->retry_timer);
    a->retry_timer = NULL;
    app_pump(a);
}

static void on_written(void *arg, int err, const struct err_info *why)
{
    struct app *a = obj_cast(arg, struct app, APP_MAGIC);
    struct app_step *step;

    a->is_writing = false;
    free(a->docs);
    a->docs = NULL;
    metric_add(daemon_metrics(a->daemon), err ? M_WRITE_ERRORS : M_WRITES, 1);
    if (a->is_ending)
        return;
    if (err) {
        log_emit(&ev_state_not_written, LOG_ERR(why));
        refuse_unwritten(a);
        a->retry_timer = run_timer_new(a->loop, on_retry, a);
        run_timer_start(a->retry_timer, WRITE_RETRY_MS, 0);
    }
    TAILQ_FOREACH (step, &a->steps, link) {
        step->is_durable |= step->is_in_write && !err;
        step->is_in_write = false;
    }
    app_pump(a);
}

/** Add the documents of a step; a later text of the same document replaces the earlier one. @return their bytes */
static size_t add_docs(struct map *docs, const struct app_step *step)
{
    size_t n_bytes = 0;

    for (size_t i = 0; i < step->effects.n && step->effects.items[i].kind == EFF_PERSIST; i++) {
        struct eng_effect *e = &step->effects.items[i];
        map_set(docs, e->key, e);
        n_bytes += e->len + strlen(e->key);
    }
    return n_bytes;
}

/** The documents in the order of their keys: parents first. */
static void list_docs(struct app *a, const struct map *docs)
{
    mem_auto const char **keys = map_sorted_keys(docs);

    a->docs = mem_array(docs->n_items + 1, sizeof(*a->docs));
    for (size_t i = 0; keys[i]; i++) {
        const struct eng_effect *e = map_get(docs, keys[i]);
        a->docs[i] = (struct state_doc){e->key, e->bytes, e->len};
    }
}

/** One transaction for as many waiting steps as it may hold. */
static void begin_write(struct app *a)
{
    struct app_step *step;
    struct map docs = MAP_EMPTY;
    size_t n_bytes = 0;

    a->is_writing = true;
    TAILQ_FOREACH (step, &a->steps, link) {
        if (n_bytes > WRITE_MAX_BYTES)
            break;
        n_bytes += add_docs(&docs, step);
        step->is_in_write = true;
    }
    list_docs(a, &docs);
    size_t n = docs.n_items;
    map_fini(&docs, NULL);
    state_write(a->state, a->docs, n, on_written, a);
}

/* ---- carrying out ---- */

static void free_step(struct app *a, struct app_step *step)
{
    TAILQ_REMOVE(&a->steps, step, link);
    eng_effects_fini(&step->effects);
    free(step);
}

void app_drop_steps(struct app *a)
{
    while (!TAILQ_EMPTY(&a->steps))
        free_step(a, TAILQ_FIRST(&a->steps));
    run_timer_free(a->retry_timer);
    a->retry_timer = NULL;
    free(a->docs);
    a->docs = NULL;
}

void app_pump(struct app *a)
{
    struct app_step *step;

    if (a->is_pumping || a->is_ending)
        return;
    a->is_pumping = true; /* An effect may bring an event at once: its step waits for its turn. */
    while ((step = TAILQ_FIRST(&a->steps)) && (step->is_durable || !has_docs(step)) && !step->is_in_write) {
        for (size_t i = 0; i < step->effects.n; i++)
            app_carry_out(a, &step->effects.items[i]);
        free_step(a, step);
    }
    a->is_pumping = false;
    if (step && !a->is_writing && !a->retry_timer)
        begin_write(a);
}

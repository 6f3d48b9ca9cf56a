#include "world.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"
#include "sim/draw.h"

#define START_MS       1000000
#define WALL_AHEAD_MS  1700000000000
#define RETAIN_MS      20000 /* what has ended is collected */
#define CLUSTER_TS     1700000000000
#define WRITE_MOST_MS  6
#define WRITE_RETRY_MS 50
#define RECORD_MOST_MS 8
#define PLAN_EACH      3            /* requests, one of which is planned before */
#define WRITE_MAX      (512u << 10) /* bytes of one transaction */
#define AT_ONCE_MAX    200000       /* steps in one moment: it never comes to rest */

/** The one timer of a service. */
struct world_timer {
    int64_t at_ms;
    enum eng_kind kind;
    char *user, *name;
};

/* ---- what is said ---- */

void world_log(struct world *w, const char *fmt, ...)
{
    va_list ap;
    if (!w->log)
        return;
    fprintf(w->log, "%8" PRId64 "  ", w->now_ms - START_MS);
    va_start(ap, fmt);
    vfprintf(w->log, fmt, ap);
    va_end(ap);
    fputc('\n', w->log);
}

void world_violate(struct world *w, const char *fmt, ...)
{
    va_list ap;
    if (w->violation[0])
        return;
    va_start(ap, fmt);
    vsnprintf(w->violation, sizeof w->violation, fmt, ap);
    va_end(ap);
    world_log(w, "VIOLATION: %s", w->violation);
}

static uint64_t draw(struct world *w)
{
    return sim_draw_next(&w->draws);
}

static struct eng_time time_of(struct world *w)
{
    return (struct eng_time){
        .now_ms = w->now_ms, .wall_ms = w->now_ms + WALL_AHEAD_MS, .random = sim_draw_next(&w->chances)};
}

/* ---- the digest of a run ---- */

static void digest_text(struct world *w, const char *text)
{
    w->digest = sum_bytes(w->digest, text ? text : "", text ? strlen(text) + 1 : 1);
}

static void digest_launch(struct world *w, const struct eng_launch *l)
{
    digest_text(w, l->command);
    for (size_t i = 0; i < l->n_env; i++) {
        digest_text(w, l->env[i].name);
        digest_text(w, l->env[i].value);
    }
    for (size_t i = 0; i < l->n_files; i++)
        digest_text(w, l->files[i].name);
}

static void digest_request(struct world *w, const struct eng_request *r)
{
    int64_t numbers[] = {r->priority, r->allocation_id, r->n_wanted};
    w->digest = sum_bytes(w->digest, numbers, sizeof numbers);
    digest_text(w, r->host);
}

static void digest(struct world *w, const struct eng_effect *e)
{
    int64_t numbers[] = {(int64_t)e->kind, e->at_ms, e->ticket, e->force, w->now_ms};
    w->digest = sum_bytes(w->digest, numbers, sizeof numbers);
    w->digest = sum_bytes(w->digest, e->bytes ? e->bytes : "", e->len);
    const char *texts[] = {e->key, e->user, e->name, e->container_id, e->path, e->text};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        digest_text(w, texts[i]);
    if (e->launch)
        digest_launch(w, e->launch);
    if (e->request)
        digest_request(w, e->request);
    if (e->answer)
        digest_text(w, eng_outcome_word(e->answer->outcome));
}

/* ---- events ---- */

void world_push(struct world *w, struct eng_event ev)
{
    queue_push(&w->events, &ev, 0);
}

void world_request(struct world *w, struct eng_event ev)
{
    if (w->up_ms) { /* nobody listens */
        spec_free(ev.take_spec);
        eng_rules_free(ev.take_rules);
        return;
    }
    ev.token = ++w->token;
    ev.user = WORLD_USER;
    if (ev.token % PLAN_EACH == 0 && ev.service_kind == KIND_SERVICE && ev.kind != EV_DESTROY &&
        ev.kind != EV_EXCLUDE && ev.kind != EV_MIGRATE)
        world_plan(w, &ev);
    mem_auto char *token = mem_fmt("%" PRIu64, ev.token);
    map_set(&w->awaited, token, w);
    queue_push(&w->events, &ev, 1);
}

static void answered(struct world *w, uint64_t token, const char *outcome)
{
    mem_auto char *key = mem_fmt("%" PRIu64, token);
    world_log(w, "  answer %s: %s", key, outcome);
    if (!map_remove(&w->awaited, key))
        world_violate(w, "request %s is answered again: %s", key, outcome);
}

/* ---- effects: containers ---- */

static struct world_fate *fate_of(struct world *w, const char *id)
{
    struct world_fate *f = map_get(&w->fates, id);
    if (f)
        return f;
    f = mem_new(struct world_fate);
    map_set(&w->fates, id, f);
    return f;
}

static void free_fate(void *p)
{
    struct world_fate *f = p;
    free(f->owner);
    eng_effect_fini(&f->reinit);
    free(f);
}

static void release(struct world *w, const char *id)
{
    struct world_fate *f = fate_of(w, id);
    f->is_released = true;
    f->is_ending = false;
    eng_effect_fini(&f->reinit);
    sim_cancel(w->sim, id, w->now_ms);
    sim_release(w->sim, id, w->now_ms);
}

/** "application_1_2" of "container_1_2_01_3". free() */
static char *application_of(const char *container_id)
{
    const char *from = strchr(container_id, '_'), *end = from ? strchr(from + 1, '_') : NULL;
    end = end ? strchr(end + 1, '_') : NULL;
    mem_auto char *number = end ? mem_strn(from, (size_t)(end - from)) : NULL;
    return mem_fmt("application%s", number ? number : "");
}

static void do_request(struct world *w, struct eng_effect *e)
{
    mem_auto char *application = application_of(e->container_id);
    struct sim_ask ask = {.id = e->container_id,
                          .application = application,
                          .room = {.memory_mb = e->request->memory_mb, .vcores = e->request->vcores},
                          .host = e->request->host,
                          .label = e->request->label,
                          .component = e->request->component,
                          .needs = e->request->needs,
                          .ip = e->request->ip};
    const struct world_fate *f = fate_of(w, e->container_id);
    const struct eng_instance *inst = NULL;
    if (w->is_naming) {
        world_ask_by_key(w, e, &ask);
        return;
    }
    /* The end of a container may overtake a request for it: then the engine has another one meanwhile. */
    if (f->is_over && f->attempt > 0 && engine_find_container(w->e, e->container_id, &inst))
        world_violate(w, "%s is asked for, and was given back before", e->container_id);
    sim_request(w->sim, &ask, w->now_ms);
}

static void do_cancel(struct world *w, const struct eng_effect *e)
{
    if (!world_take_back(w, e))
        release(w, e->container_id);
}

/** Another container of the same instance runs. */
static void check_alone(struct world *w, const char *id, const char *owner)
{
    for (MAP_EACH (&w->fates, slot)) {
        const struct world_fate *f = slot->value;
        const struct sim_container *c;
        if (f->is_released || !f->owner || strcmp(f->owner, owner) != 0 || strcmp(slot->key, id) == 0)
            continue;
        c = sim_find(w->sim, slot->key);
        if (c && sim_has_process(c))
            world_violate(w, "%s is launched in %s while it runs in another container", owner, id);
    }
}

static void push_running(struct world *w, const struct sim_container *c)
{
    world_push(w, (struct eng_event){.kind = EV_RUNNING,
                                     .container_id = c->id,
                                     .attempt = c->attempt,
                                     .ip = c->ip,
                                     .host = c->node->name});
}

static void do_launch(struct world *w, struct eng_effect *e)
{
    const struct sim_container *c = sim_find(w->sim, e->container_id);
    struct world_fate *f = fate_of(w, e->container_id);
    mem_auto char *owner = mem_fmt("%s/%s/%s", e->user, e->name, e->launch->instance);
    if (c && sim_has_process(c) && c->attempt == e->launch->attempt) {
        if (c->state == SIM_RUNNING)
            push_running(w, c);
        return;
    }
    check_alone(w, e->container_id, owner);
    if (f->attempt >= e->launch->attempt && !f->is_released)
        world_violate(w, "%s: attempt %" PRId64 " is launched after attempt %" PRId64, e->container_id,
                      e->launch->attempt, f->attempt);
    f->attempt = e->launch->attempt;
    free(f->owner);
    f->owner = mem_str(owner);
    int err = sim_launch(w->sim, e->container_id, e->launch->attempt, e->launch->instance, w->now_ms);
    if (err == ERR_NOTFOUND)
        world_push(w, (struct eng_event){.kind = EV_LOST, .container_id = e->container_id, .text = "none"});
    else if (err)
        world_push(w, (struct eng_event){.kind = EV_EXITED,
                                         .container_id = e->container_id,
                                         .attempt = e->launch->attempt,
                                         .exit = eng_exit_of(CAUSE_LAUNCH, err, "refused")});
}

/** As LAUNCH, when the process that runs has ended. */
static void do_reinit(struct world *w, struct eng_effect *e)
{
    const struct sim_container *c = sim_find(w->sim, e->container_id);
    struct world_fate *f = fate_of(w, e->container_id);
    eng_effect_fini(&f->reinit);
    if (!c || !sim_has_process(c) || c->attempt == e->launch->attempt) {
        do_launch(w, e);
        return;
    }
    f->reinit = *e;
    *e = (struct eng_effect){.kind = EFF_NOTE};
    sim_stop(w->sim, f->reinit.container_id, false, w->now_ms);
}

static void do_fetch(struct world *w, const struct eng_effect *e)
{
    world_push(w, (struct eng_event){
                      .kind = EV_FETCHED, .service_kind = e->service_kind, .user = e->user, .name = e->name});
}

static void do_stop(struct world *w, struct eng_effect *e)
{
    const struct sim_container *c = sim_find(w->sim, e->container_id);
    struct eng_event ev = {.kind = EV_LOST, .container_id = e->container_id, .text = "none"};
    eng_effect_fini(&fate_of(w, e->container_id)->reinit);
    if (c && sim_has_process(c)) {
        fate_of(w, e->container_id)->is_ending = true;
        sim_stop(w->sim, e->container_id, e->force, w->now_ms);
        return;
    }
    if (c) {
        ev.kind = EV_EXITED;
        ev.exit = eng_exit_of(CAUSE_STOPPED, 0, NULL);
    }
    world_push(w, ev);
    release(w, e->container_id);
}

static void do_exclude(struct world *w, const struct eng_effect *e)
{
    sim_exclude(w->sim, e->application->id, e->text, e->excluded, w->now_ms);
}

/* ---- effects: registry ---- */

static void ask_registry(struct world *w, struct eng_effect *e)
{
    struct world_record *last = TAILQ_LAST(&w->asked, world_record_list), *r = mem_new(struct world_record);
    r->effect = *e;
    *e = (struct eng_effect){.kind = EFF_NOTE};
    r->due_ms = w->now_ms + (int64_t)(draw(w) % RECORD_MOST_MS);
    if (last && last->due_ms > r->due_ms)
        r->due_ms = last->due_ms;
    TAILQ_INSERT_TAIL(&w->asked, r, link);
}

static bool is_below(const char *path, const char *top)
{
    size_t len = strlen(top);
    return strncmp(path, top, len) == 0 && (path[len] == '/' || path[len] == '\0');
}

/** Remove the records that are at or below a path, or of an id. */
static void remove_records(struct world *w, const char *top, const char *id)
{
    for (MAP_EACH (&w->records, slot)) {
        if (top ? is_below(slot->key, top) : strcmp(slot->value, id) == 0)
            free(map_remove(&w->records, slot->key));
    }
}

static void apply_record(struct world *w, const struct eng_effect *e)
{
    if (e->kind == EFF_PUBLISH)
        free(map_set(&w->records, e->path, mem_str(e->record->yarn_id ? e->record->yarn_id : "")));
    else if (e->kind == EFF_UNPUBLISH)
        free(map_remove(&w->records, e->path));
    else if (e->kind == EFF_PURGE)
        remove_records(w, e->path, NULL);
    else
        remove_records(w, NULL, e->text);
}

static void free_record(struct world *w, struct world_record *r)
{
    TAILQ_REMOVE(&w->asked, r, link);
    eng_effect_fini(&r->effect);
    free(r);
}

static void answer_record(struct world *w)
{
    struct world_record *r = TAILQ_FIRST(&w->asked);
    bool is_away = w->now_ms < w->registry_back_ms;
    if (is_away && r->effect.kind == EFF_ENDED) {
        r->due_ms = w->registry_back_ms; /* held until it can be said */
        return;
    }
    if (!is_away)
        apply_record(w, &r->effect);
    world_push(
        w, (struct eng_event){
               .kind = EV_RECORD, .ticket = r->effect.ticket, .code = is_away ? ERR_TIMEOUT : 0, .text = ""});
    free_record(w, r);
}

/* ---- effects: time ---- */

static void free_timer(void *p)
{
    struct world_timer *t = p;
    if (!t)
        return;
    free(t->user);
    free(t->name);
    free(t);
}

static void do_timer(struct world *w, struct eng_effect *e)
{
    mem_auto char *key = mem_fmt("%d/%s/%s", (int)e->service_kind, e->user, e->name);
    free_timer(map_remove(&w->timers, key));
    if (!e->at_ms)
        return;
    struct world_timer *t = mem_new(struct world_timer);
    *t = (struct world_timer){
        .at_ms = e->at_ms, .kind = e->service_kind, .user = mem_str(e->user), .name = mem_str(e->name)};
    free_timer(map_set(&w->timers, key, t));
}

/** The timer that is due first; among those of one moment the first by name. */
static struct world_timer *next_timer(const struct world *w, const char **key)
{
    struct world_timer *first = NULL;
    for (MAP_EACH (&w->timers, slot)) {
        struct world_timer *t = slot->value;
        if (first && (t->at_ms > first->at_ms || (t->at_ms == first->at_ms && strcmp(slot->key, *key) > 0)))
            continue;
        first = t;
        *key = slot->key;
    }
    return first;
}

static void fire_timer(struct world *w)
{
    const char *key = NULL;
    struct world_timer *t = next_timer(w, &key);
    world_push(
        w, (struct eng_event){.kind = EV_TIMER, .service_kind = t->kind, .user = t->user, .name = t->name});
    map_remove(&w->timers, key);
    free_timer(t);
}

/* ---- carrying out ---- */

static void answer_request(struct world *w, const struct eng_effect *e)
{
    const struct eng_answer *a = e->answer;
    bool is_start = a->outcome == OUT_LAUNCHED || a->outcome == OUT_STARTED;
    answered(w, a->token, eng_outcome_word(a->outcome));
    if (is_start && a->app_id && map_set(&w->applications, a->app_id, w))
        world_violate(w, "%s: application id %s is given again", a->name, a->app_id);
}

/** The cluster takes every application, and ends it when it is asked to. */
static void answer_application(struct world *w, const struct eng_effect *e, enum eng_event_kind kind)
{
    world_push(w, (struct eng_event){.kind = kind,
                                     .service_kind = e->service_kind,
                                     .user = e->user,
                                     .name = e->name,
                                     .incarnation = e->application->incarnation,
                                     .exit = eng_exit_of(CAUSE_STOPPED, 0, NULL)});
}

static void carry_out(struct world *w, struct eng_effect *e)
{
    world_log(w, "  %s %s %s %s", eng_effect_word(e->kind), e->name ? e->name : "",
              e->container_id ? e->container_id : "",
              e->text   ? e->text
              : e->path ? e->path
                        : "");
    if (w->counts)
        w->counts->effects[e->kind]++;
    if (w->counts && e->kind == EFF_ANSWER)
        w->counts->outcomes[e->answer->outcome]++;
    switch (e->kind) {
    case EFF_REQUEST: do_request(w, e); break;
    case EFF_CANCEL_REQUEST: do_cancel(w, e); break;
    case EFF_RELEASE: release(w, e->container_id); break;
    case EFF_LAUNCH: do_launch(w, e); break;
    case EFF_STOP: do_stop(w, e); break;
    case EFF_REINIT: do_reinit(w, e); break;
    case EFF_FETCH: do_fetch(w, e); break;
    case EFF_PROBE_START: sim_probe(w->sim, e->container_id, w->now_ms); break;
    case EFF_PROBE_STOP: sim_unprobe(w->sim, e->container_id); break;
    case EFF_PUBLISH:
    case EFF_UNPUBLISH:
    case EFF_PURGE:
    case EFF_ENDED: ask_registry(w, e); break;
    case EFF_SYNC: world_ask_dns(w, e->container_id); break;
    case EFF_ANSWER: answer_request(w, e); break;
    case EFF_TIMER: do_timer(w, e); break;
    case EFF_SUBMIT: answer_application(w, e, EV_SUBMITTED); break;
    case EFF_FINISH: answer_application(w, e, EV_APP_ENDED); break;
    case EFF_EXCLUDE: do_exclude(w, e); break;
    case EFF_SET_LIFETIME:
    case EFF_PERSIST:
    case EFF_NOTE: break;
    }
}

static void free_step(struct world *w, struct world_step *step)
{
    TAILQ_REMOVE(&w->steps, step, link);
    eng_kept_free(step->kept);
    eng_effects_fini(&step->effects);
    free(step->service);
    free(step);
}

static void finish_step(struct world *w, struct world_step *step)
{
    for (size_t i = 0; i < step->effects.n; i++)
        carry_out(w, &step->effects.items[i]);
    free_step(w, step);
}

/* ---- steps ---- */

/** A request that is not durable may be undone: until then its service takes no further event. */
static bool must_wait(const struct world *w, const struct eng_event *ev)
{
    struct world_step *step;
    mem_auto char *service = engine_service_of(w->e, ev);
    TAILQ_FOREACH (step, &w->steps, link) {
        if (step->kept && (ev->kind == EV_RESUME || (service && strcmp(step->service, service) == 0)))
            return true;
    }
    return false;
}

static void check_step(struct world *w, struct world_step *step)
{
    size_t bytes = 0;
    const char *service = NULL;
    bool others = false;
    for (size_t i = 0; i < step->effects.n; i++) {
        const struct eng_effect *e = &step->effects.items[i];
        digest(w, e);
        others = others || e->kind != EFF_PERSIST;
        if (e->kind != EFF_PERSIST)
            continue;
        step->n_documents++;
        bytes += e->len + strlen(e->key);
        if (others)
            world_violate(w, "a document comes after other effects: %s", e->key);
        if (e->name && service && strcmp(e->name, service) != 0)
            world_violate(w, "a step writes documents of %s and of %s", service, e->name);
        service = e->name ? e->name : service;
    }
    if (bytes > WRITE_MAX)
        world_violate(w, "a step writes %zu bytes", bytes);
}

static void undo(struct world *w, struct world_step *step)
{
    struct eng_effects timers = {.n = 0};
    engine_undo(w->e, step->kept, w->now_ms, &timers);
    for (size_t i = 0; i < timers.n; i++)
        carry_out(w, &timers.items[i]);
    eng_effects_fini(&timers);
    answered(w, step->token, "undone");
    free_step(w, step);
}

static void take_event(struct world *w, struct eng_event *ev)
{
    struct world_step *step = mem_new(struct world_step);
    const char *name = ev->take_spec ? ev->take_spec->name : ev->name;
    world_log(w, "%s %s %s %s", eng_event_word(ev->kind), name ? name : "",
              ev->container_id ? ev->container_id : "", ev->text ? ev->text : "");
    if (eng_event_is_request(ev)) {
        step->token = ev->token;
        step->service = engine_service_of(w->e, ev);
        step->kept = engine_keep(w->e, ev->service_kind, ev->user, name);
    }
    if (ev->kind == EV_LOST || (ev->kind == EV_EXITED && !ev->attempt))
        fate_of(w, ev->container_id)->is_over = true;
    engine_step(w->e, ev, time_of(w), &step->effects);
    ev->take_spec = NULL;
    ev->take_rules = NULL;
    w->n_steps++;
    check_step(w, step);
    TAILQ_INSERT_TAIL(&w->steps, step, link);
}

static void begin_write(struct world *w)
{
    struct world_step *step;
    w->write_due_ms = w->now_ms + 1 + (int64_t)(draw(w) % WRITE_MOST_MS);
    w->retry_ms = 0;
    TAILQ_FOREACH (step, &w->steps, link)
        step->is_in_write = true;
}

/** So much has happened in one moment. */
static void check_rests(struct world *w, uint64_t n)
{
    if (n > AT_ONCE_MAX)
        world_violate(w, "it does not come to rest: more than %d things in one moment", AT_ONCE_MAX);
}

/** All that can be done now. */
static void pump(struct world *w)
{
    struct eng_event *ev;
    struct world_step *step;
    uint64_t n_at_once = 0;
    for (bool more = !w->up_ms; more && !w->violation[0];) {
        more = false;
        while ((ev = queue_first(&w->events)) && !must_wait(w, ev)) {
            take_event(w, ev);
            queue_pop(&w->events);
            more = true;
        }
        check_rests(w, ++n_at_once);
        while ((step = TAILQ_FIRST(&w->steps)) && !step->n_documents) {
            finish_step(w, step);
            more = true;
        }
    }
    if (!w->up_ms && !w->write_due_ms && !TAILQ_EMPTY(&w->steps) && w->now_ms >= w->retry_ms)
        begin_write(w);
}

/* ---- writing ---- */

static void answer_dropped(void *arg, uint64_t token)
{
    answered(arg, token, "not written");
}

static void fail_write(struct world *w)
{
    struct world_step *step, *next;
    world_log(w, "the write fails");
    for (step = TAILQ_FIRST(&w->steps); step; step = next) {
        next = TAILQ_NEXT(step, link);
        step->is_in_write = false;
        if (step->kept)
            undo(w, step);
    }
    queue_drop_requests(&w->events, answer_dropped, w);
    w->retry_ms = w->now_ms + WRITE_RETRY_MS;
}

static void store(struct world *w, struct world_step *step)
{
    for (size_t i = 0; i < step->effects.n; i++) {
        const struct eng_effect *e = &step->effects.items[i];
        if (e->kind == EFF_PERSIST)
            free(e->bytes ? map_set(&w->documents, e->key, mem_strn(e->bytes, e->len))
                          : map_remove(&w->documents, e->key));
    }
    eng_kept_free(step->kept);
    step->kept = NULL;
}

static void store_all(struct world *w)
{
    struct world_step *step;
    w->n_writes++;
    TAILQ_FOREACH (step, &w->steps, link) {
        if (step->is_in_write)
            store(w, step);
    }
}

static void finish_write(struct world *w)
{
    struct world_step *step;
    w->write_due_ms = 0;
    if (w->n_failing > 0) {
        w->n_failing--;
        fail_write(w);
        return;
    }
    world_log(w, "written");
    store_all(w);
    if (w->crash_after >= 0 && w->crash_after-- == 0) {
        world_crash(w, w->crash_effects, w->down_ms);
        return;
    }
    while ((step = TAILQ_FIRST(&w->steps)) && step->is_in_write)
        finish_step(w, step);
}

/* ---- power ---- */

static void new_engine(struct world *w)
{
    struct err_info why = {0};
    if (engine_new(&w->cfg, &w->e, &why))
        world_violate(w, "engine_new: %s", why.text);
}

/** Some of what the registry was asked for is done, in order; nobody hears of it. */
static void forget_registry(struct world *w)
{
    uint64_t n_done = draw(w) % 4;
    struct world_record *r;
    while ((r = TAILQ_FIRST(&w->asked))) {
        if (n_done > 0 && w->now_ms >= w->registry_back_ms) {
            n_done--;
            apply_record(w, &r->effect);
        }
        free_record(w, r);
    }
    world_forget_dns(w);
}

static void forget_steps(struct world *w)
{
    while (!TAILQ_EMPTY(&w->steps))
        free_step(w, TAILQ_FIRST(&w->steps));
    queue_fini(&w->events);
}

static void stop_probe(void *arg, const struct sim_container *c)
{
    sim_unprobe(((struct world *)arg)->sim, c->id);
}

void world_crash(struct world *w, uint32_t effects, uint32_t down_ms)
{
    struct world_step *first = TAILQ_FIRST(&w->steps);
    if (w->up_ms)
        return;
    world_log(w, "power failure for %u ms, after %u effects", down_ms, effects);
    if (w->write_due_ms && draw(w) % 2)
        store_all(w); /* the write that was under way is done, and nobody knows */
    else if (first && first->is_in_write && !w->write_due_ms)
        for (size_t i = 0; i < first->effects.n && i < effects; i++)
            carry_out(w, &first->effects.items[i]);
    w->crash_after = -1;
    w->write_due_ms = w->retry_ms = 0;
    w->up_ms = w->now_ms + 1 + down_ms;
    forget_steps(w);
    forget_registry(w);
    map_fini(&w->timers, free_timer);
    map_fini(&w->awaited, NULL);
    world_forget_keys(w, KIND_SERVICE, NULL);
    sim_each(w->sim, stop_probe, w);
    engine_free(w->e);
    w->e = NULL;
}

static struct eng_exit exit_of(const struct sim_container *c, bool is_ending)
{
    static const enum eng_exit_cause causes[] = {
        [SIM_EXITED] = CAUSE_EXITED,       [SIM_SIGNALLED] = CAUSE_SIGNALLED,
        [SIM_NOT_STARTED] = CAUSE_LAUNCH,  [SIM_MEMORY] = CAUSE_MEMORY_PHYSICAL,
        [SIM_PREEMPTED] = CAUSE_PREEMPTED, [SIM_LOST] = CAUSE_LOST,
        [SIM_STOPPED] = CAUSE_STOPPED,
    };
    return eng_exit_of(is_ending && c->cause != SIM_LOST ? CAUSE_STOPPED : causes[c->cause], c->value, NULL);
}

static bool is_gone(const struct sim_container *c)
{
    return c->state == SIM_ENDED && (c->cause == SIM_LOST || c->cause == SIM_PREEMPTED);
}

/** What the cluster reports of one container after a start of svcmgr. */
static void recover(struct world *w, const char *id)
{
    const struct sim_container *c = sim_find(w->sim, id);
    const struct eng_instance *inst = NULL;
    struct eng_event ev = {.kind = EV_RECOVERED, .container_id = id, .attempt = c->attempt, .ip = c->ip};
    fate_of(w, id)->is_ending = false;
    eng_effect_fini(&fate_of(w, id)->reinit);
    if (c->state == SIM_ASKED || c->state == SIM_GRANTED) {
        sim_cancel(w->sim, id, w->now_ms); /* requests end with the program */
        sim_release(w->sim, id, w->now_ms);
        return;
    }
    if (!engine_find_container(w->e, id, &inst)) {
        release(w, id);
        return;
    }
    if (c->state == SIM_HELD)
        return; /* asked for again by EV_RESUME */
    ev.host = c->node->name;
    ev.found = c->state == SIM_ENDED ? FOUND_EXITED : FOUND_RUNNING;
    if (ev.found == FOUND_EXITED)
        ev.exit = exit_of(c, false);
    ev.attempt = is_gone(c) ? 0 : c->attempt;
    world_push(w, ev);
    if (is_gone(c))
        release(w, id);
}

static void add_id(void *arg, const struct sim_container *c)
{
    struct world_ids *ids = arg;
    ids->list = mem_resize(ids->list, ids->n + 1, sizeof *ids->list);
    ids->list[ids->n++] = mem_str(c->id);
}

struct world_ids world_containers(const struct world *w)
{
    struct world_ids ids = {.n = 0};
    sim_each(w->sim, add_id, &ids);
    return ids;
}

void world_ids_fini(struct world_ids *ids)
{
    for (size_t i = 0; i < ids->n; i++)
        free(ids->list[i]);
    free(ids->list);
}

static void load(struct world *w)
{
    struct err_info why = {0};
    mem_auto const char **keys = map_sorted_keys(&w->documents);
    for (size_t i = 0; keys[i]; i++) {
        const char *text = map_get(&w->documents, keys[i]);
        if (engine_load(w->e, keys[i], text, strlen(text), &why))
            world_violate(w, "%s cannot be loaded: %s", keys[i], why.text);
    }
}

/** The end of a container was not written when the power failed: its id may be asked for again, as nobody knows of the first one. */
static void forget_unwritten_ends(struct world *w)
{
    const struct eng_instance *inst = NULL;
    for (MAP_EACH (&w->fates, slot)) {
        struct world_fate *f = slot->value;
        if (f->is_released && engine_find_container(w->e, slot->key, &inst))
            f->is_over = false;
    }
}

static void report_node(struct world *w, const struct sim_node *n)
{
    struct eng_node node = {.host = (char *)n->name,
                            .rack = (char *)n->rack,
                            .state = n->is_down ? NODE_LOST : NODE_RUNNING,
                            .memory_mb = n->has.memory_mb,
                            .vcores = n->has.vcores};
    world_push(w, (struct eng_event){.kind = EV_NODE, .node = &node});
}

static void report_nodes(struct world *w)
{
    const struct sim_nodes *nodes = sim_nodes_of(w->sim);
    for (size_t i = 0; i < nodes->n; i++)
        report_node(w, &nodes->list[i]);
}

static void power_on(struct world *w)
{
    world_log(w, "power");
    w->up_ms = 0;
    new_engine(w);
    load(w);
    forget_unwritten_ends(w);
    report_nodes(w);
    struct world_ids ids = world_containers(w);
    for (size_t i = 0; i < ids.n; i++)
        recover(w, ids.list[i]);
    world_ids_fini(&ids);
    world_push(w, (struct eng_event){.kind = EV_RESUME});
}

/* ---- what the cluster reports ---- */

static void report_end(struct world *w, const struct sim_event *s)
{
    const struct sim_container *c = s->container;
    struct world_fate *f = fate_of(w, c->id);
    if (f->reinit.launch && !is_gone(c)) {
        struct eng_effect e = f->reinit;
        f->reinit = (struct eng_effect){.kind = EFF_NOTE};
        do_launch(w, &e);
        eng_effect_fini(&e);
        return;
    }
    bool is_over = f->is_ending || is_gone(c);
    struct eng_event ev = {
        .kind = EV_EXITED, .container_id = c->id, .attempt = s->attempt, .exit = exit_of(c, f->is_ending)};
    if (c->cause == SIM_LOST && !f->is_ending)
        ev = (struct eng_event){.kind = EV_LOST, .container_id = c->id, .text = "lost"};
    else if (is_over)
        ev.attempt = 0;
    world_push(w, ev);
    if (is_over) {
        mem_auto char *id = mem_str(c->id);
        release(w, id);
    }
}

static void report_waiting(struct world *w, const struct sim_event *s)
{
    const char *container_id = world_waiting(w, s->container->id);
    if (container_id)
        world_push(w, (struct eng_event){.kind = EV_WAITING,
                                         .container_id = container_id,
                                         .wait = s->lack == SIM_LACKS_CONSTRAINT ? WAIT_PLACEMENT : WAIT_NONE,
                                         .lacking = s->lacking});
}

static void report(struct world *w, const struct sim_event *s)
{
    const struct sim_container *c = s->container;
    switch (s->kind) {
    case SIM_EV_ALLOCATED: world_grant(w, c); break;
    case SIM_EV_WAITS: report_waiting(w, s); break;
    case SIM_EV_STARTED:
        world_check_placed(w, c);
        push_running(w, c);
        break;
    case SIM_EV_ENDED: report_end(w, s); break;
    case SIM_EV_READINESS:
        world_push(w,
                   (struct eng_event){
                       .kind = EV_PROBE, .container_id = c->id, .attempt = s->attempt, .ready = s->is_ready});
        break;
    case SIM_EV_NODE: report_node(w, s->node); break;
    }
}

/** Take what the cluster has until now; without power nobody hears of it. */
static void take_cluster(struct world *w)
{
    struct sim_event s;
    while (sim_take(w->sim, w->now_ms, &s)) {
        if (!w->up_ms)
            report(w, &s);
    }
}

/* ---- time ---- */

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/** When something happens next. */
static int64_t next_ms(const struct world *w)
{
    const char *key = NULL;
    int64_t next = sim_next_ms(w->sim);
    const struct world_timer *t = next_timer(w, &key);
    const struct world_record *r = TAILQ_FIRST(&w->asked);
    const struct world_sync *dns = TAILQ_FIRST(&w->syncs);
    if (w->up_ms)
        return least(next, w->up_ms);
    if (t)
        next = least(next, t->at_ms);
    if (r)
        next = least(next, r->due_ms);
    if (dns)
        next = least(next, dns->due_ms);
    if (w->write_due_ms)
        next = least(next, w->write_due_ms);
    else if (!TAILQ_EMPTY(&w->steps))
        next = least(next, w->retry_ms);
    return next;
}

/** One thing that is due now, the first of them; which is one of few. */
static void happen(struct world *w)
{
    const char *key = NULL;
    const struct world_timer *t = next_timer(w, &key);
    const struct world_record *r = TAILQ_FIRST(&w->asked);
    const struct world_sync *dns = TAILQ_FIRST(&w->syncs);
    if (w->up_ms && w->up_ms <= w->now_ms)
        power_on(w);
    else if (sim_next_ms(w->sim) <= w->now_ms)
        take_cluster(w);
    else if (w->write_due_ms && w->write_due_ms <= w->now_ms)
        finish_write(w);
    else if (r && r->due_ms <= w->now_ms)
        answer_record(w);
    else if (dns && dns->due_ms <= w->now_ms)
        world_answer_dns(w);
    else if (t && t->at_ms <= w->now_ms)
        fire_timer(w);
}

void world_run(struct world *w, int64_t until_ms)
{
    uint64_t n_at_once = 0;
    pump(w);
    for (int64_t next; !w->violation[0] && (next = next_ms(w)) <= until_ms;) {
        n_at_once = next > w->now_ms ? 0 : n_at_once + 1;
        w->now_ms = next > w->now_ms ? next : w->now_ms;
        check_rests(w, n_at_once);
        happen(w);
        pump(w);
    }
    w->now_ms = until_ms > w->now_ms ? until_ms : w->now_ms;
}

void world_init(struct world *w, const char *script, uint64_t seed)
{
    struct err_info why = {0};
    *w = (struct world){.draws = seed,
                        .chances = seed,
                        .dns_draws = seed,
                        .now_ms = START_MS,
                        .crash_after = -1,
                        .digest = SUM_START};
    TAILQ_INIT(&w->steps);
    TAILQ_INIT(&w->asked);
    TAILQ_INIT(&w->syncs);
    queue_init(&w->events);
    w->cfg = (struct engine_config){.dialect = dialect_find("seed"),
                                    .cluster_ts = CLUSTER_TS,
                                    .domain = "bobbin.test",
                                    .address_net = "127.77.0.0/16",
                                    .queue = "default",
                                    .late_reports = seed % 4 == 3,
                                    .probe_interval_ms = 30000,
                                    .retry_interval_ms = 30000};
    if (sim_script_read(script, &w->script, &why))
        world_violate(w, "%s", why.text);
    w->cfg.submits = seed % 3 == 0;
    w->cfg.retain_ms = seed % 7 == 2 ? RETAIN_MS : 0;
    w->is_naming = seed % 5 == WORLD_NAMING_SEED(0);
    if (w->is_naming)
        w->cfg.address_net = NULL; /* the addresses are the cluster's, too */
    w->sim = sim_new(w->script, seed);
    new_engine(w);
    report_nodes(w);
    world_push(w, (struct eng_event){.kind = EV_RESUME});
    world_run(w, w->now_ms);
}

void world_fini(struct world *w)
{
    forget_steps(w);
    while (!TAILQ_EMPTY(&w->asked))
        free_record(w, TAILQ_FIRST(&w->asked));
    world_forget_dns(w);
    world_forget_keys(w, KIND_SERVICE, NULL);
    map_fini(&w->keys, NULL);
    engine_free(w->e);
    sim_free(w->sim);
    sim_script_free(w->script);
    map_fini(&w->documents, free);
    map_fini(&w->timers, free_timer);
    map_fini(&w->records, free);
    map_fini(&w->fates, free_fate);
    map_fini(&w->awaited, NULL);
    map_fini(&w->applications, NULL);
}

/**
 * A service that its application master runs, in the engine of its manager.
 *
 *     SUBMITTING ──EV_SUBMITTED: its document is written for the last time──> away ──EV_APP_ENDED──> ours again: it ends here
 *                                                                             │  ^
 *                      requests: tried, answered, given as orders (orders.h) ─┘  └─ EV_FOLLOWED: what the master has written
 *
 * What is known of a service that is away is what its master has written, so everything that reads services reads it as any
 * other. Nothing of it is written but the document of what is wanted. What its master makes of that, as at the end of an
 * upgrade, it writes as a document of its own, which the manager takes over when no order is outstanding.
 */
#include "engine/away.h"

#include <stdlib.h>
#include <string.h>

#include "engine/component.h"
#include "engine/documents.h"
#include "engine/orders.h"
#include "engine/policy.h"
#include "engine/registry.h"
#include "engine/service.h"
#include "json/json.h"

#define KILL_AFTER_MS     30000 /* a master that was asked to end is waited for so long */
#define LIFETIME_GRACE_MS 5000  /* the cluster ends it first */

bool engine_is_away(const struct engine *e, const struct eng_service *s)
{
    return e->cfg.role == ROLE_MANAGER && s->is_handed_over && !s->is_handing_over;
}

bool engine_has_named(const struct engine *e, const struct eng_service *s)
{
    bool is_new = s->state == SVC_ACCEPTED || s->state == SVC_SUBMITTING;
    return s->app_id && (e->cfg.role != ROLE_MANAGER || s->is_handed_over || !is_new);
}

bool eng_service_is_ordered(const struct eng_service *s, enum eng_event_kind kind)
{
    for (size_t i = 0; i < s->n_orders; i++) {
        if (s->orders[i]->kind == kind)
            return true;
    }
    return false;
}

/* ---- requests ---- */

/** What is wanted is changed by the request itself; all others only by what the master makes of them. */
static bool changes_wanted(const struct eng_service *s, enum eng_event_kind kind)
{
    if (kind == EV_REDEFINE) /* what it makes of another one is the master's, unless what is asked is kept */
        return policy_of(s->kind)->keeps_request;
    return kind == EV_FLEX || kind == EV_DECOMMISSION || kind == EV_PROGRESS || kind == EV_EXCLUDE;
}

static bool is_taken(enum eng_outcome outcome)
{
    switch (outcome) {
    case OUT_FLEXED:
    case OUT_LIFETIME_SET:
    case OUT_PROGRESS_SET:
    case OUT_DECOMMISSIONED:
    case OUT_EXCLUDED:
    case OUT_UPGRADING:
    case OUT_MOVING:
    case OUT_FINALIZED:
    case OUT_CANCELLING:
    case OUT_REPLACING:
    case OUT_ROLLING:
    case OUT_RESTARTING:
    case OUT_MIGRATING:
    case OUT_REDEFINED: return true;
    default: return false;
    }
}

/** The answer among what a request has emitted, taken out; NULL: there is none. */
static struct eng_answer *take_answer(struct eng_effects *effects)
{
    for (size_t i = 0; i < effects->n; i++) {
        struct eng_answer *a = effects->items[i].answer;
        effects->items[i].answer = NULL;
        if (a)
            return a;
    }
    return NULL;
}

/** Carry a request out and take it back. *wanted: what is wanted after it, if it changes that alone; else NULL. @return its answer */
static struct eng_answer *try(struct step *st, const struct eng_event *ev, struct eng_service *s,
                              struct eng_service **wanted)
{
    struct eng_event copy = *ev;
    struct eng_effects timers = {0};
    struct step trial = {.e = st->e, .now_ms = st->now_ms, .wall_ms = st->wall_ms, .random = st->random};
    struct eng_kept *kept = engine_keep(st->e, s->kind, s->user, s->name);
    copy.take_spec = ev->take_spec ? fld_copy(&spec_service_type, ev->take_spec) : NULL;
    copy.take_rules = ev->take_rules ? fld_copy(&eng_rules_type, ev->take_rules) : NULL;
    service_change(&trial, &copy, s);
    struct eng_answer *answer = take_answer(&trial.rest);
    *wanted = answer && is_taken(answer->outcome) && changes_wanted(s, ev->kind) ? fld_copy(&eng_runs_type, s)
                                                                                 : NULL;
    engine_undo(st->e, kept, st->now_ms, &timers);
    eng_kept_free(kept);
    eng_effects_fini(&timers);
    eng_effects_fini(&trial.rest);
    eng_effects_fini(&trial.persists);
    free(trial.affected);
    return answer;
}

/** The members of what is wanted, and nothing else, are those of another object, which is consumed. */
static void take_wanted(struct engine *e, struct eng_service *s, struct eng_service *take_w)
{
    services_remove(e, s);
    fld_move(&eng_runs_type, take_w, s);
    fld_free(&eng_runs_type, take_w);
    for (size_t i = 0; i < s->n_components; i++)
        s->components[i]->n_decommissioned = 0;
    BUG_IF(service_link(s, NULL) != 0);
    services_add(e, s);
}

/** As an order that may be carried out again on what is wanted by then: a change of a number is the number that it came to. */
static void give(struct step *st, struct eng_service *s, const struct eng_event *ev)
{
    mem_auto struct eng_flex *flex = mem_array(ev->n_flex + 1, sizeof *flex);
    struct eng_event order = *ev;
    for (size_t i = 0; i < ev->n_flex; i++) {
        const struct spec_component *c = spec_component(s->spec, ev->flex[i].component);
        flex[i] = (struct eng_flex){ev->flex[i].component, c->number_of_containers, false};
    }
    order.flex = flex;
    order_give(st, s, &order, NULL);
}

static void refuse(struct step *st, const struct eng_event *ev, const struct eng_service *s)
{
    step_answer(st, ev->token, OUT_BUSY, s);
    spec_free(ev->take_spec);
    eng_rules_free(ev->take_rules);
}

void away_request(struct step *st, const struct eng_event *ev, struct eng_service *s)
{
    struct eng_service *wanted = NULL;
    if (s->n_orders >= ORDERS_MAX) {
        refuse(st, ev, s);
        return;
    }
    if (ev->kind == EV_ROLL && eng_service_is_ordered(s, EV_ROLL)) {
        step_answer(st, ev->token, OUT_IS_UPGRADING, s); /* what is known of it does not say so yet */
        return;
    }
    if (ev->kind == EV_REDEFINE && policy_of(s->kind)->change(s, ev->take_spec) == CHANGE_RESTART) {
        service_change(st, ev, s); /* the next application is ours to begin */
        return;
    }
    mem_auto char *key = service_key(s->kind, s->user, s->name);
    bool is_of_next = s->next_spec && changes_wanted(s, ev->kind); /* nothing that the master runs */
    struct eng_answer *answer = try(st, ev, s, &wanted);
    s = map_get(&st->e->services, key); /* another object */
    bool is_order = answer && is_taken(answer->outcome);
    if (wanted)
        take_wanted(st->e, s, wanted);
    if (is_order && ev->kind == EV_LIFETIME)
        application_set_lifetime(st, s, ev->lifetime_s);
    if (is_order && (ev->kind == EV_FLEX || ev->kind == EV_REDEFINE || ev->kind == EV_DECOMMISSION))
        framework_record(st, s, ev);
    if (is_order && ev->kind == EV_REDEFINE)
        framework_put_execution(st, ev, s);
    if (is_order && !is_of_next) {
        give(st, s, ev);
    } else {
        spec_free(ev->take_spec);
        eng_rules_free(ev->take_rules);
    }
    if (answer)
        step_emit(st, EFF_ANSWER, s)->answer = answer;
}

/** When an application that is to end is killed: at once while no master of it has written anything, as there is none to carry an order out. */
static int64_t kill_due_ms(const struct step *st, const struct eng_service *s)
{
    return s->state == SVC_SUBMITTING ? st->now_ms : st->now_ms + KILL_AFTER_MS;
}

void away_stop(struct step *st, struct eng_service *s, const char *why)
{
    if (s->kill_ms)
        return; /* it was asked for */
    const struct eng_event ev = {.kind = EV_STOP, .user = s->user};
    order_give(st, s, &ev, why);
    s->kill_ms = kill_due_ms(st, s);
}

/* ---- time ---- */

static const struct eng_order *order_to_stop(const struct eng_service *s)
{
    for (size_t i = 0; i < s->n_orders; i++) {
        if (s->orders[i]->kind == EV_STOP)
            return s->orders[i];
    }
    return NULL;
}

void away_resume(struct step *st, struct eng_service *s)
{
    quota_count(st->e, s);
    if (order_to_stop(s) || s->state == SVC_FINISHING)
        s->kill_ms = kill_due_ms(st, s);
    step_wake(st, s);
}

/** The cluster counts a lifetime from the submission; of a service that counts from its start it learns then when that was. */
static void pass_lifetime(struct step *st, struct eng_service *s)
{
    int64_t left_s = eng_service_lifetime_left_s(s, st->now_ms);
    bool is_due = service_dialect(st->e, s)->lifetime_from_started && s->lifetime_end_ms > 0;
    if (s->is_lifetime_set || !is_due || left_s <= 0)
        return;
    s->is_lifetime_set = true;
    application_set_lifetime(st, s, left_s);
}

static void check_lifetime(struct step *st, struct eng_service *s)
{
    if (!s->lifetime_end_ms || st->now_ms < s->lifetime_end_ms + LIFETIME_GRACE_MS || s->kill_ms)
        return;
    if (service_dialect(st->e, s)->lifetime_destroys && !s->destroying) {
        s->destroying = true;
        step_want(st, s);
    }
    away_stop(st, s, "lifetime is over");
}

static void kill_if_due(struct step *st, struct eng_service *s)
{
    if (!s->kill_ms || s->kill_ms > st->now_ms)
        return;
    const struct eng_order *o = order_to_stop(s);
    application_kill(st, s, o && o->why ? o->why : "its application master did not end in time");
    s->kill_ms = st->now_ms + FORCE_AFTER_MS; /* again, until it has ended */
}

static void earlier(int64_t *due, int64_t at)
{
    if (at > 0 && (*due == 0 || at < *due))
        *due = at;
}

void away_settle(struct step *st, struct eng_service *s)
{
    parents_follow(st, s);
    pass_lifetime(st, s);
    check_lifetime(st, s);
    kill_if_due(st, s);
    orders_drop_done(st, s);
    if (s->n_destroyers > 0 && s->destroyers_due_ms <= st->now_ms)
        service_answer_destroyers(st, s, OUT_STILL_RUNNING);
    parents_cascade(st, s);
    int64_t due = s->kill_ms;
    earlier(&due, s->n_destroyers > 0 ? s->destroyers_due_ms : 0);
    earlier(&due, s->lifetime_end_ms && !s->kill_ms ? s->lifetime_end_ms + LIFETIME_GRACE_MS : 0);
    if (due == s->timer_ms)
        return;
    s->timer_ms = due;
    step_emit(st, EFF_TIMER, s)->at_ms = due;
}

void away_waits(struct step *st, const struct eng_event *ev, struct eng_service *s)
{
    if (ev->text)
        wait_set(&s->wait, &(struct eng_waiting){.why = WAIT_APPLICATION, .text = (char *)ev->text});
    else if (s->state == SVC_SUBMITTING)
        wait_set(&s->wait, &(struct eng_waiting){.why = WAIT_MASTER});
    else if (s->wait && s->wait->why == WAIT_APPLICATION) /* another attempt runs */
        wait_clear(&s->wait);
    step_affect(st, s);
}

/* ---- what the master has written ---- */

/** Both have the same components. */
static bool fits(const struct eng_service *s, const struct eng_service *w)
{
    for (size_t i = 0; w->spec && i < s->n_components; i++) {
        const struct spec_component *c = spec_component(w->spec, s->components[i]->name);
        if (!c || !c->resource)
            return false;
    }
    return w->spec && w->user && w->name && strcmp(w->user, s->user) == 0 && strcmp(w->name, s->name) == 0;
}

int away_take_definition(struct engine *e, struct eng_service *s, struct eng_service *take_w)
{
    bool is_current = take_w->incarnation == s->incarnation;
    bool is_newer = e->cfg.role == ROLE_MASTER || s->n_ordered == s->last_order;
    int rc = fits(s, take_w) ? 0 : ERR_JSON;
    if (rc || !is_current) {
        fld_free(&eng_runs_type, take_w);
        return rc;
    }
    if (!is_newer) /* what requests have changed meanwhile is not in it */
        revision_keep_counts(s->spec, take_w->spec);
    take_w->destroying = take_w->destroying || s->destroying;
    take_wanted(e, s, take_w);
    return 0;
}

static void follow_definition(struct step *st, struct eng_service *s, const json_t *doc)
{
    void *object = NULL;
    struct err_info why = {0};
    if (fld_read(&eng_runs_type, doc, &object, &why) || away_take_definition(st->e, s, object))
        step_note(st, s, "what the application master of service %s runs cannot be read: %s", s->name,
                  why.text);
    else
        step_want(st, s);
}

static void forget_instance(struct engine *e, struct eng_instance *inst)
{
    if (inst->container_id && map_get(&e->containers, inst->container_id) == inst)
        map_remove(&e->containers, inst->container_id);
    component_remove(inst);
    fld_free(&eng_instance_type, inst);
}

/** The components of what the master has written, with the instances that are known. */
static void take_components(struct engine *e, struct eng_service *s, struct eng_component **old, size_t n_old)
{
    for (size_t i = 0; i < n_old; i++) {
        for (size_t k = 0; k < s->n_components; k++) {
            struct eng_component *was = old[i], *now = s->components[k];
            if (strcmp(was->name, now->name) != 0)
                continue;
            component_take_stored(was, now);
            s->components[k] = was;
            old[i] = now;
            break;
        }
        while (old[i]->n_instances > 0) /* the definition lacks the component */
            forget_instance(e, component_highest(old[i]));
        component_free(old[i]);
    }
    free(old);
}

static void follow_service(struct step *st, struct eng_service *s, const json_t *doc)
{
    void *object = NULL;
    struct err_info why = {0};
    enum eng_service_state before = s->state;
    if (fld_read(&eng_is_type, doc, &object, &why)) {
        step_note(st, s, "the document of service %s cannot be read: %s", s->name, why.text);
        return;
    }
    struct eng_service *is = object;
    struct eng_component **old = s->components;
    size_t n_old = s->n_components;
    s->components = NULL;
    s->n_components = 0;
    wait_clear(&s->wait);
    services_move_in(st->e, &eng_is_type, is, s);
    fld_free(&eng_is_type, is);
    take_components(st->e, s, old, n_old);
    if (service_link(s, &why))
        step_note(st, s, "the document of service %s does not fit its definition: %s", s->name, why.text);
    quota_count(st->e, s);
    if (s->state == SVC_STABLE && before != SVC_STABLE)
        step_wake_waiting(st, s->kind, s->user, s->name);
    orders_drop_done(st, s);
}

static void follow_instance(struct step *st, struct eng_service *s, const char *name, const json_t *doc)
{
    int64_t index = -1;
    struct eng_component *c = component_of_instance(s, name, &index);
    struct eng_instance *inst = c ? component_instance(c, index) : NULL;
    struct err_info why = {0};
    void *object = NULL;
    if (inst)
        forget_instance(st->e, inst);
    if (!doc)
        return;
    int rc = fld_read(&eng_instance_type, doc, &object, &why);
    if (!rc && (rc = instance_link(s, object, &why)))
        fld_free(&eng_instance_type, object);
    if (rc) {
        step_note(st, s, "the document of instance %s cannot be read: %s", name, why.text);
        return;
    }
    inst = object;
    if (inst->container_id)
        map_set(&st->e->containers, inst->container_id, inst);
}

void away_followed(struct step *st, const struct eng_event *ev)
{
    parts_auto struct key_parts parts = {.n = 0};
    json_auto json_t *doc = NULL;
    struct err_info why = {0};
    struct eng_service *s = key_parts_read(&parts, ev->key) ? key_parts_service(st->e, &parts) : NULL;
    if (!s)
        return;
    if (ev->text && document_of_text(ev->key, ev->text, &doc, &why)) {
        step_note(st, s, "%s cannot be read: %s", ev->key, why.text);
        return;
    }
    if (parts.is_definition)
        orders_follow(st, s, doc);
    if (parts.is_definition || !engine_is_away(st->e, s))
        return;
    if (parts.n == 3 && doc)
        follow_service(st, s, doc);
    else if (parts.n == 4 && strcmp(parts.items[3], RUNS) == 0 && doc)
        follow_definition(st, s, doc);
    else if (parts.n == 4)
        follow_instance(st, s, parts.items[3], doc);
    else if (parts.n == 5 && strcmp(parts.items[3], "history") == 0 && doc)
        history_follow(s, ev->key, doc);
    step_affect(st, s);
}

/* ---- the end ---- */

void engine_take_back(struct engine *e, enum eng_kind kind, const char *user, const char *name)
{
    mem_auto char *key = service_key(kind, user, name);
    struct eng_service *s = map_get(&e->services, key);
    struct eng_walk walk = {0};
    struct eng_instance *inst;
    if (!s)
        return;
    struct eng_service *again = fld_copy(&eng_wanted_type, s);
    while ((inst = instances_next(s, &walk))) {
        if (inst->container_id)
            map_remove(&e->containers, inst->container_id);
    }
    services_remove(e, s);
    again->destroyers = s->destroyers;
    again->n_destroyers = s->n_destroyers;
    again->destroyers_due_ms = s->destroyers_due_ms;
    again->timer_ms = s->timer_ms;
    again->change = ++e->n_changes;
    s->destroyers = NULL;
    service_free(s);
    services_add(e, again);
}

void engine_taken_back(struct engine *e, enum eng_kind kind, const char *user, const char *name)
{
    mem_auto char *key = service_key(kind, user, name);
    struct eng_service *s = map_get(&e->services, key);
    struct eng_walk walk = {0};
    struct eng_instance *inst;
    if (!s)
        return;
    while ((inst = instances_next(s, &walk)))
        inst->unresumed = false;
    backlog_resume(s);
    s->is_handed_over = false;
    s->is_registry_resumed = s->dirty = true;
    for (size_t i = 0; i < s->n_orders; i++)
        fld_free(&eng_order_type, s->orders[i]);
    s->is_wanted_dirty = s->is_wanted_dirty || s->n_orders > 0;
    s->n_orders = 0;
    quota_count(e, s);
}

/* ---- keys ---- */

char *engine_service_key(const struct eng_service *s)
{
    return service_document_key(s);
}

char *engine_definition_key(const struct eng_service *s)
{
    return definition_document_key(s);
}

const struct eng_service *engine_service_of_key(const struct engine *e, const char *key)
{
    parts_auto struct key_parts parts = {.n = 0};
    return key_parts_read(&parts, key) ? key_parts_service(e, &parts) : NULL;
}

/**
 * Operations on a service: an upgrade moves its instances to another definition, a cancel moves them back, a stop ends it.
 *
 *     STABLE ──EV_UPGRADE──> upgrade ──all moved and ready, finalized──────────────> succeeded: the target is the definition
 *                               │ └──files are missing; the service ends──────────> failed
 *                               └──EV_CANCEL_UPGRADE, or a failure (auto_revert)──> cancel ──all moved back──> cancelled | reverted
 *
 * The service is UPGRADING meanwhile. Until the end the definition of before is what is wanted; instances know the revision that
 * they run and the one they are to run. Instances are moved one after the other, in start order: the next one when the one before
 * is ready. Only those that requests name are moved at once.
 *
 * Requests change the operation and nothing else; the rest is done while the service is settled.
 * Source: YARN services API 4.10; slider-am 8.4; auto_revert, the files that are looked for before: ours.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/policy.h"
#include "engine/component.h"
#include "engine/documents.h"
#include "engine/instance.h"
#include "engine/operation.h"
#include "engine/service.h"
#include "engine/step.h"
#include "json/json.h"

/** An operation that moves instances is under way. */
static bool is_upgrading(const struct eng_service *s)
{
    return s->state == SVC_UPGRADING;
}

static int64_t n_wanted(const struct eng_component *c)
{
    return c->spec->number_of_containers;
}

static bool is_done(const struct eng_operation *op, const struct eng_component *c)
{
    int64_t n_left = op->kind == OPERATION_UPGRADE ? component_n_kept(c) - c->n_moved : c->n_moved;
    return !c->next_revision || (n_left == 0 && c->n_forth + c->n_back + c->n_failed_upgrades == 0 &&
                                 component_count(c, STATE_BIT(INST_READY)) == n_wanted(c));
}

static bool all_done(const struct eng_service *s)
{
    for (size_t i = 0; i < s->n_components; i++) {
        if (!is_done(s->operation, s->components[i]))
            return false;
    }
    return true;
}

/* ---- requests ---- */

static void operation_new(struct step *st, struct eng_service *s, enum eng_operation_kind kind)
{
    fld_free(&eng_operation_type, s->operation);
    s->operation = fld_new(&eng_operation_type);
    s->operation->kind = kind;
    s->operation->began_ms = st->wall_ms;
    step_touch(st, s);
}

static bool never_restarts(const struct spec_service *spec)
{
    for (size_t i = 0; i < spec->n_components; i++) {
        if (spec->components[i]->restart_policy != RESTART_NEVER)
            return false;
    }
    return true;
}

/** Why the definition of the service cannot become this one while it runs. free(); NULL: it can */
static char *upgrade_refusal(const struct eng_service *s, const struct spec_service *to)
{
    if (policy_of(s->kind)->change(s, to) == CHANGE_RESTART)
        return mem_str("its instances are not replaced one after the other: another version starts anew");
    return revision_refusal(s->spec, to);
}

/** @return false: the request was answered. */
static bool can_upgrade(struct step *st, const struct eng_event *ev, const struct eng_service *s)
{
    const struct spec_service *to = ev->take_spec;
    bool same = s->spec->version && to->version && strcmp(s->spec->version, to->version) == 0;
    bool is_stable = s->state == SVC_STABLE;
    mem_auto char *refusal = upgrade_refusal(s, to);
    enum eng_outcome outcome = same                      ? OUT_SAME_VERSION
                               : never_restarts(s->spec) ? OUT_NEVER_RESTARTED
                               : !is_stable              ? OUT_NOT_STABLE
                                                         : OUT_NOT_UPGRADABLE;
    if (!same && !never_restarts(s->spec) && is_stable && !refusal)
        return true;
    struct eng_answer *a = step_answer(st, ev->token, outcome, s);
    free(a->version);
    a->version = mem_str(to->version);
    a->reason = mem_str(outcome == OUT_NOT_UPGRADABLE ? refusal : NULL);
    return false;
}

/** The components that the target changes get a revision to go to. */
static void mark_components(struct eng_service *s)
{
    for (size_t i = 0; i < s->n_components; i++) {
        struct eng_component *c = s->components[i];
        c->moves_all = false;
        c->next_move = 0;
        if (c->spec->restart_policy == RESTART_ALWAYS &&
            revision_differs(s->spec, s->operation->target, c->name))
            c->next_revision = ++c->last_revision;
    }
}

static void upgrade(struct step *st, const struct eng_event *ev, struct eng_service *s)
{
    if (!can_upgrade(st, ev, s)) {
        spec_free(ev->take_spec);
        return;
    }
    operation_new(st, s, OPERATION_UPGRADE);
    s->operation->mode = ev->mode;
    s->operation->auto_revert = ev->auto_revert;
    s->operation->target = ev->take_spec;
    s->operation->version = mem_str(ev->take_spec->version);
    mark_components(s);
    service_set_state(st, s, SVC_UPGRADING);
    struct eng_answer *a = step_answer(st, ev->token, OUT_UPGRADING, s);
    free(a->version);
    a->version = mem_str(s->operation->version);
}

static bool needs_upgrade(const struct eng_instance *inst)
{
    enum eng_upgrade u = inst && !inst->removing ? eng_instance_upgrade(inst) : UPGRADE_NONE;
    return u == UPGRADE_NEEDED || u == UPGRADE_FAILED;
}

static enum eng_outcome check_move(const struct eng_service *s, const char *name, bool is_component)
{
    int64_t index = -1;
    const struct eng_component *c =
        is_component ? component_of(s, name) : component_of_instance(s, name, &index);
    const struct eng_instance *inst = c && !is_component ? component_instance(c, index) : NULL;
    if (!c || (!is_component && !inst))
        return is_component ? OUT_NO_COMPONENT : OUT_NO_INSTANCE;
    bool is_needed = is_component ? c->next_revision && !is_done(s->operation, c) : needs_upgrade(inst);
    return is_needed ? OUT_MOVING : OUT_NO_NEED;
}

/** Append names that a list has not. */
static void add_names(char ***list, size_t *n, const char *const *names, size_t n_names)
{
    struct map known = MAP_EMPTY;
    for (size_t i = 0; i < *n; i++)
        map_set(&known, (*list)[i], &known);
    *list = mem_resize(*list, *n + n_names + 1, sizeof(char *));
    for (size_t i = 0; i < n_names; i++) {
        if (!map_set(&known, names[i], &known))
            (*list)[(*n)++] = mem_str(names[i]);
    }
    map_fini(&known, NULL);
}

/** What a request moves, for its answer: names of components, or the containers of instances. free() */
static char *moved_text(const struct eng_service *s, const struct eng_event *ev)
{
    struct buf text = BUF_EMPTY;
    for (size_t i = 0; i < ev->n_names; i++) {
        const struct eng_instance *inst = ev->are_components ? NULL : eng_service_instance(s, ev->names[i]);
        buf_addf(&text, "%s%s", i ? "," : "", inst && inst->container_id ? inst->container_id : ev->names[i]);
    }
    return buf_take(&text);
}

static void move(struct step *st, const struct eng_event *ev, struct eng_service *s)
{
    struct eng_operation *op = s->operation;
    if (!is_upgrading(s) || op->kind != OPERATION_UPGRADE) {
        step_answer(st, ev->token, OUT_NOT_UPGRADING, s);
        return;
    }
    for (size_t i = 0; i < ev->n_names; i++) {
        enum eng_outcome bad = check_move(s, ev->names[i], ev->are_components);
        if (bad == OUT_MOVING)
            continue;
        step_answer(st, ev->token, bad, s)->component = mem_str(ev->names[i]);
        return;
    }
    for (size_t i = 0; ev->are_components && i < ev->n_names; i++)
        component_of(s, ev->names[i])->moves_all = true;
    if (!ev->are_components)
        add_names(&op->moves, &op->n_moves, ev->names, ev->n_names);
    step_touch(st, s);
    struct eng_answer *a = step_answer(st, ev->token, OUT_MOVING, s);
    a->n_new = (int64_t)ev->n_names;
    a->component = moved_text(s, ev);
}

/** Instances that the operation has not brought to where they are to be. */
static int64_t n_left(const struct eng_service *s, int64_t *n_all)
{
    int64_t n = 0;
    *n_all = 0;
    for (size_t i = 0; i < s->n_components; i++) {
        const struct eng_component *c = s->components[i];
        if (!c->next_revision)
            continue;
        int64_t n_there = c->n_moved - c->n_forth - c->n_failed_upgrades;
        *n_all += component_n_kept(c);
        n += s->operation->kind == OPERATION_UPGRADE ? component_n_kept(c) - n_there : c->n_moved + c->n_back;
    }
    return n;
}

int64_t eng_service_n_to_move(const struct eng_service *s)
{
    int64_t n_all;
    return n_left(s, &n_all);
}

static void finalize(struct step *st, const struct eng_event *ev, struct eng_service *s)
{
    if (!is_upgrading(s) || s->operation->kind != OPERATION_UPGRADE) {
        step_answer(st, ev->token, OUT_NOT_UPGRADING, s);
        return;
    }
    if (!s->operation->is_fetched || !all_done(s)) {
        step_answer(st, ev->token, OUT_NOT_MOVED, s)->n_new = eng_service_n_to_move(s);
        return;
    }
    s->operation->is_final = true;
    step_touch(st, s);
    step_answer(st, ev->token, OUT_FINALIZED, s);
}

static void be_cancel(struct step *st, struct eng_service *s)
{
    struct eng_operation *op = s->operation;
    op->kind = OPERATION_CANCEL;
    for (size_t i = 0; i < op->n_moves; i++)
        free(op->moves[i]);
    op->n_moves = 0;
    for (size_t i = 0; i < s->n_components; i++)
        s->components[i]->next_move = 0;
    step_touch(st, s);
}

static void cancel(struct step *st, const struct eng_event *ev, struct eng_service *s)
{
    if (!is_upgrading(s)) {
        step_answer(st, ev->token, OUT_NOT_UPGRADING, s);
        return;
    }
    if (s->operation->kind == OPERATION_UPGRADE)
        be_cancel(st, s);
    step_answer(st, ev->token, OUT_CANCELLING, s);
}

/** Whether the service can change and has all instances that a request names; else it is answered. */
static bool has_named(struct step *st, const struct eng_event *ev, const struct eng_service *s)
{
    if (!service_can_change(st, ev, s))
        return false;
    for (size_t i = 0; i < ev->n_names; i++) {
        int64_t index = -1;
        const struct eng_component *c = component_of_instance(s, ev->names[i], &index);
        if (c && component_instance(c, index))
            continue;
        step_answer(st, ev->token, OUT_NO_INSTANCE, s)->component = mem_str(ev->names[i]);
        return false;
    }
    return true;
}

/** What has ended for good, or is on its way out, has no process to replace. */
static void restart(struct step *st, const struct eng_event *ev, struct eng_service *s)
{
    if (!has_named(st, ev, s))
        return;
    mem_auto char *why = mem_fmt("by user %s", ev->user);
    for (size_t i = 0; i < ev->n_names; i++) {
        const struct eng_instance *inst = eng_service_instance(s, ev->names[i]);
        if (inst && !inst->removing && !(STATE_BIT(inst->state) & (STATE_BIT(INST_RELEASING) | STATES_FINAL)))
            continue;
        step_answer(st, ev->token, OUT_NO_INSTANCE, s)->component = mem_str(ev->names[i]);
        return;
    }
    for (size_t i = 0; i < ev->n_names; i++)
        history_record(st, s, ev->names[i], "restarted", why);
    add_names(&s->restarting, &s->n_restarting, ev->names, ev->n_names);
    step_touch(st, s);
    step_answer(st, ev->token, OUT_RESTARTING, s)->component =
        mem_str(ev->n_names ? ev->names[ev->n_names - 1] : NULL);
}

static void replace(struct step *st, const struct eng_event *ev, struct eng_service *s)
{
    if (!has_named(st, ev, s))
        return;
    add_names(&s->replacing, &s->n_replacing, ev->names, ev->n_names);
    step_touch(st, s);
    step_answer(st, ev->token, OUT_REPLACING, s);
}

static bool is_in_place(const struct eng_service *s)
{
    return eng_service_is_live(s) && s->state != SVC_FINISHING;
}

/** A component that a definition lacks. @return NULL: none */
static const struct eng_component *lacking(const struct eng_service *s, const struct spec_service *spec)
{
    for (size_t i = 0; i < s->n_components; i++) {
        if (!spec_component(spec, s->components[i]->name))
            return s->components[i];
    }
    return NULL;
}

/** What is left of a component that is ending needs its definition: the request is answered. */
static bool lacks_what_ends(struct step *st, const struct eng_event *ev, const struct eng_service *s)
{
    const struct eng_component *c = s->state == SVC_FINISHING ? lacking(s, ev->take_spec) : NULL;

    if (c)
        step_answer(st, ev->token, OUT_LACKS_COMPONENT, s)->component = mem_str(c->name);
    return c != NULL;
}

/** Whether the service may be defined anew now; else the request is answered. */
static bool can_redefine(struct step *st, const struct eng_event *ev, const struct eng_service *s, bool anew)
{
    const struct quota_ask ask = {ev->token, s->kind, s->user, ev->take_spec, s};
    bool must_run =
        !anew && !policy_of(s->kind)->keeps_request; /* else another definition is of use when it starts */
    if ((must_run || s->destroying) && !service_can_change(st, ev, s))
        return false;
    if (is_upgrading(s)) {
        step_answer(st, ev->token, OUT_IS_UPGRADING, s);
        return false;
    }
    return (anew || !lacks_what_ends(st, ev, s)) && quota_allows(st, &ask);
}

static bool same_definition(const struct spec_service *a, const struct spec_service *b)
{
    json_auto json_t *was = fld_write(&spec_service_type, a);
    json_auto json_t *is = fld_write(&spec_service_type, b);
    return json_equal(was, is);
}

/** It runs, so what a definition changes is carried out; else the definition waits for the start. */
static void redefine_in_place(struct step *st, const struct eng_event *ev, struct eng_service *s)
{
    bool runs = is_in_place(s);
    if (policy_of(s->kind)->flex_forgets_failures && !same_definition(s->spec, ev->take_spec))
        service_forget_failures(st, s);
    if (ev->take_rules)
        service_take_rules(st->e, s, ev->take_rules);
    if (!runs && lacking(s, ev->take_spec)) /* it has ended: nothing is left of any component */
        components_free(s);
    if (runs)
        revision_redefine(st, s, ev->take_spec);
    else
        revision_take_definition(st, s, ev->take_spec);
}

static void redefine(struct step *st, const struct eng_event *ev, struct eng_service *s)
{
    bool anew = policy_of(s->kind)->change(s, ev->take_spec) == CHANGE_RESTART;
    if (policy_of(s->kind)->is_put) {
        framework_put_over(st, ev, s);
        return;
    }
    if (!can_redefine(st, ev, s, anew)) {
        spec_free(ev->take_spec);
        eng_rules_free(ev->take_rules);
        return;
    }
    if (anew)
        backoff_renew(st, s, ev);
    else
        redefine_in_place(st, ev, s);
    framework_record(st, s, ev);
    step_answer(st, ev->token, OUT_REDEFINED, s);
}

void operation_request(struct step *st, const struct eng_event *ev, struct eng_service *s)
{
    switch (ev->kind) {
    case EV_UPGRADE: upgrade(st, ev, s); break;
    case EV_MOVE: move(st, ev, s); break;
    case EV_FINALIZE: finalize(st, ev, s); break;
    case EV_CANCEL_UPGRADE: cancel(st, ev, s); break;
    case EV_REPLACE: replace(st, ev, s); break;
    case EV_RESTART: restart(st, ev, s); break;
    default: redefine(st, ev, s); break;
    }
}

/* ---- the end ---- */

static void record_end(struct step *st, struct eng_service *s, const struct eng_operation *op)
{
    mem_auto char *what = mem_fmt("%s %s", eng_operation_word(op->kind), eng_result_word(op->result));
    history_record(st, s, s->name, what, op->why);
}

/** It is over. The target goes, the rest stays readable. */
static void end(struct step *st, struct eng_service *s, enum eng_result result)
{
    struct eng_operation *op = s->operation;
    op->result = result;
    op->ended_ms = st->wall_ms;
    spec_free(op->target);
    op->target = NULL;
    for (size_t i = 0; i < s->n_components; i++) {
        s->components[i]->next_revision = 0;
        s->components[i]->n_moved = 0;
    }
    wait_clear(&s->wait);
    if (op->kind != OPERATION_STOP) /* that is a change of state */
        record_end(st, s, op);
    step_note(st, s, "%s of service %s: %s%s%s", eng_operation_word(op->kind), s->name,
              eng_result_word(result), op->why ? ": " : "", op->why ? op->why : "");
    step_touch(st, s);
}

void operation_stop(struct step *st, struct eng_service *s)
{
    if (is_upgrading(s))
        step_note(st, s, "the upgrade of service %s to version %s is given up", s->name,
                  s->operation->version);
    operation_new(st, s, OPERATION_STOP);
}

void operation_stopped(struct step *st, struct eng_service *s)
{
    if (s->operation && s->operation->kind == OPERATION_STOP && s->operation->result == RESULT_NONE)
        end(st, s, RESULT_SUCCEEDED);
}

static void end_upgrade(struct step *st, struct eng_service *s)
{
    struct eng_operation *op = s->operation;
    if (op->kind == OPERATION_UPGRADE) {
        revision_finalize(st, s, op->target);
        op->target = NULL;
    }
    end(st, s,
        op->kind == OPERATION_UPGRADE ? RESULT_SUCCEEDED
        : op->is_reverting            ? RESULT_REVERTED
                                      : RESULT_CANCELLED);
}

/* ---- files of the target ---- */

static void add_path(struct eng_effect *e, const char *path)
{
    if (!path || !path[0])
        return;
    e->paths = mem_resize(e->paths, e->n_paths + 1, sizeof(char *));
    e->paths[e->n_paths++] = mem_str(path);
}

static void fetch(struct step *st, struct eng_service *s)
{
    struct eng_operation *op = s->operation;
    if (op->is_fetching)
        return;
    op->is_fetching = true;
    wait_set(&s->wait, &(struct eng_waiting){.why = WAIT_FETCH, .name = op->version});
    struct eng_effect *e = step_emit(st, EFF_FETCH, s);
    for (size_t i = 0; i < op->target->n_components; i++) {
        const struct spec_artifact *artifact = op->target->components[i]->artifact;
        const struct spec_config *config = op->target->components[i]->configuration;
        if (artifact && artifact->type == ARTIFACT_TARBALL)
            add_path(e, artifact->id);
        for (size_t k = 0; k < config->n_files; k++)
            add_path(e, config->files[k]->src_file);
    }
}

void operation_fetched(struct step *st, struct eng_service *s, const struct eng_event *ev)
{
    struct eng_operation *op = s->operation;
    if (!is_upgrading(s) || op->is_fetched || !op->target)
        return;
    op->is_fetching = false;
    op->is_fetched = true;
    step_touch(st, s);
    if (!ev->code)
        return;
    free(op->why);
    op->why = mem_str(ev->text ? ev->text : err_text(ev->code));
    end(st, s, RESULT_FAILED); /* nothing was moved */
}

/* ---- moving ---- */

/** Take a name out of a list. */
static void drop_name(char **list, size_t *n, size_t i)
{
    free(list[i]);
    memmove(&list[i], &list[i + 1], (--*n - i) * sizeof list[0]);
}

static struct eng_instance *instance_of(const struct eng_service *s, const char *name)
{
    int64_t index = -1;
    const struct eng_component *c = component_of_instance(s, name, &index);
    return c ? component_instance(c, index) : NULL;
}

/** Those that requests have named, as far as they can be moved now and the step may. */
static void move_named(struct step *st, struct eng_service *s)
{
    struct eng_operation *op = s->operation;
    for (size_t i = 0; i < op->n_moves && !step_is_full(st);) {
        struct eng_instance *inst = instance_of(s, op->moves[i]);
        if (needs_upgrade(inst) && !upgrade_is_movable(inst)) {
            i++; /* it will be */
            continue;
        }
        if (needs_upgrade(inst))
            upgrade_move(st, inst, inst->component->next_revision);
        drop_name(op->moves, &op->n_moves, i);
        step_touch(st, s);
    }
}

/** The first instance that is not where the operation wants it; NULL: there is none. Moves the mark behind those that are. */
static struct eng_instance *next_to_move(const struct eng_operation *op, struct eng_component *c)
{
    for (; c->next_move < c->staying_end; c->next_move++) {
        struct eng_instance *inst = component_instance(c, c->next_move);
        bool is_moved = inst && inst->goal == c->next_revision;
        if (inst && !inst->removing && is_moved != (op->kind == OPERATION_UPGRADE))
            return inst;
    }
    return NULL;
}

/** Not begun yet, so nothing must be moved back: it waits for the drain, or has no process. */
static bool is_only_marked(const struct eng_instance *inst, const struct eng_component *c)
{
    bool has_started = inst->revision == c->next_revision;
    return !has_started && inst->state == INST_DRAINING;
}

/** One step of a component, if the one before is done. */
static void move_next(struct step *st, const struct eng_operation *op, struct eng_component *c)
{
    bool forth = op->kind == OPERATION_UPGRADE;
    int64_t n_under_way = forth ? c->n_forth + c->n_failed_upgrades : c->n_back;
    struct eng_instance *inst;
    while (n_under_way == 0 && !step_is_full(st) && (inst = next_to_move(op, c))) {
        if (!forth && is_only_marked(inst, c)) {
            upgrade_take_back(st, inst);
            continue;
        }
        if (!upgrade_is_movable(inst))
            return; /* it will be: ready, or ended */
        upgrade_move(st, inst, forth ? c->next_revision : c->revision);
        return;
    }
}

/** Start order; with express, and on the way back, a component waits for the one before. */
static void move_all(struct step *st, struct eng_service *s)
{
    const struct eng_operation *op = s->operation;
    bool in_order = op->kind == OPERATION_CANCEL || op->mode == MODE_EXPRESS;
    for (size_t i = 0; i < s->n_components; i++) {
        struct eng_component *c = s->components[i];
        if (!c->next_revision || is_done(op, c) || (!in_order && !c->moves_all))
            continue;
        move_next(st, op, c);
        if (in_order)
            return;
    }
}

static bool has_failed(const struct eng_service *s)
{
    for (size_t i = 0; i < s->n_components; i++) {
        if (s->components[i]->n_failed_upgrades > 0)
            return true;
    }
    return false;
}

/** Say why it is not over. */
static void explain(struct eng_service *s)
{
    const struct eng_operation *op = s->operation;
    int64_t n_all = 0, n = n_left(s, &n_all);
    bool back = op->kind == OPERATION_CANCEL, is_still = !back && has_failed(s);
    struct eng_waiting w = {
        .name = back ? s->spec->version : op->version, .n = back ? n : n_all - n, .of = n_all};
    w.why = back                       ? WAIT_REVERT
            : is_still                 ? WAIT_FAILED_UPGRADE
            : op->mode == MODE_EXPRESS ? WAIT_MOVES
            : n > 0                    ? WAIT_MOVE_REQUESTS
            : op->mode == MODE_MANUAL  ? WAIT_FINALIZE
                                       : WAIT_MOVES;
    w.text = is_still ? op->why : NULL;
    wait_set(&s->wait, &w);
}

static void revert_if_failed(struct step *st, struct eng_service *s)
{
    struct eng_operation *op = s->operation;
    if (op->kind != OPERATION_UPGRADE || !op->auto_revert || !has_failed(s))
        return;
    op->is_reverting = true;
    be_cancel(st, s);
}

void operation_settle(struct step *st, struct eng_service *s)
{
    struct eng_operation *op = s->operation;
    if (!op->is_fetched && op->kind == OPERATION_CANCEL)
        op->is_fetched = true; /* nothing of the target is needed any more */
    if (!op->is_fetched) {
        fetch(st, s);
        return;
    }
    revert_if_failed(st, s);
    if (op->kind == OPERATION_UPGRADE)
        move_named(st, s);
    move_all(st, s);
    bool may_end = op->kind == OPERATION_CANCEL || op->mode != MODE_MANUAL || op->is_final;
    if (all_done(s) && may_end)
        end_upgrade(st, s);
    else
        explain(s);
}

bool operation_is_over(const struct eng_service *s)
{
    return !s->operation || s->operation->result != RESULT_NONE;
}

bool component_is_upgraded(const struct eng_component *c)
{
    const struct eng_operation *op = c->service->operation;
    return operation_is_over(c->service) || op->kind == OPERATION_STOP || is_done(op, c);
}

void operation_replace(struct step *st, struct eng_service *s)
{
    while (s->n_replacing > 0 && !step_is_full(st)) {
        struct eng_instance *inst = instance_of(s, s->replacing[0]);
        if (inst && !inst->removing)
            instance_evict(st, inst);
        drop_name(s->replacing, &s->n_replacing, 0);
        step_touch(st, s);
    }
}

void operation_restart(struct step *st, struct eng_service *s)
{
    while (s->n_restarting > 0 && !step_is_full(st)) {
        struct eng_instance *inst = instance_of(s, s->restarting[0]);
        if (inst && !inst->removing)
            upgrade_restart(st, inst);
        drop_name(s->restarting, &s->n_restarting, 0);
        step_touch(st, s);
    }
}

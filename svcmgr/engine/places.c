/**
 * What services have met on nodes: see nodes.h.
 *
 *     failure on a node ──more than the threshold in the window, another node takes containers──> avoided
 *     avoided ──window over, service started anew, no other node left──> not avoided
 *     EV_EXCLUDE ──> excluded: its containers are stopped and started elsewhere
 */
#include <stdlib.h>
#include <string.h>

#include "engine/nodes.h"
#include "engine/policy.h"
#include "engine/rules.h"
#include "engine/component.h"
#include "engine/documents.h"
#include "engine/instance.h"
#include "engine/places.h"
#include "engine/step.h"

#define LEFT_MS 600000 /* a node that a request has moved an instance away from is avoided so long */

static void ask_for_changes(struct step *st, struct eng_service *s);

static void use_defaults(void *object)
{
    *(struct eng_use *)object = (struct eng_use){0};
}

static const struct fld use_flds[] = {
    FLD_STR("component", struct eng_use, component, 0),
    FLD_I64("incarnation", struct eng_use, incarnation, FLD_ZERO),
    FLD_I64("n_failed", struct eng_use, n_failed, FLD_ZERO),
    FLD_I64("n_recent", struct eng_use, n_recent, FLD_ZERO),
    FLD_I64("n_start_failed", struct eng_use, n_start_failed, FLD_ZERO),
    FLD_I64("n_preempted", struct eng_use, n_preempted, FLD_ZERO),
    FLD_I64("window_end_ms", struct eng_use, window_end_ms, FLD_ZERO),
    FLD_I64("left_until_ms", struct eng_use, left_until_ms, FLD_ZERO),
    FLD_I64("last_used_ms", struct eng_use, last_used_ms, FLD_ZERO),
};
static const struct fld_type use_type = {"use", sizeof(struct eng_use), use_flds, ARRAY_LEN(use_flds),
                                         use_defaults};

static const struct fld place_flds[] = {
    FLD_STR("host", struct eng_place, host, 0),
    FLD_LIST("uses", struct eng_place, uses, 0, &use_type),
};
const struct fld_type eng_place_type = {"place", sizeof(struct eng_place), place_flds, ARRAY_LEN(place_flds),
                                        NULL};

/* ---- finding, adding, forgetting ---- */

/** Position of the first place whose host is not smaller. */
static size_t position_of(const struct eng_places *p, const char *host)
{
    size_t low = 0, high = p->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(p->items[middle]->host, host) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct eng_place *place_of(const struct eng_service *s, const char *host)
{
    size_t i = position_of(&s->places, host);
    return i < s->places.n && strcmp(s->places.items[i]->host, host) == 0 ? s->places.items[i] : NULL;
}

const struct eng_place *eng_service_place(const struct eng_service *s, const char *host)
{
    return place_of(s, host);
}

static void insert(struct eng_service *s, struct eng_place *take_place)
{
    struct eng_places *p = &s->places;
    size_t i = position_of(p, take_place->host);
    p->items = mem_resize(p->items, p->n + 1, sizeof p->items[0]);
    memmove(&p->items[i + 1], &p->items[i], (p->n - i) * sizeof p->items[0]);
    p->items[i] = take_place;
    p->n++;
}

static void touch(struct step *st, struct eng_service *s, struct eng_place *place)
{
    place->dirty = s->places.dirty = true;
    step_affect(st, s);
}

static void forget(struct step *st, struct eng_service *s, size_t i)
{
    struct eng_places *p = &s->places;
    mem_auto char *key = place_document_key(s, p->items[i]->host);
    step_forget_document(st, key, s);
    fld_free(&eng_place_type, p->items[i]);
    memmove(&p->items[i], &p->items[i + 1], (p->n - i - 1) * sizeof p->items[0]);
    p->n--;
}

/** When a component was there last; -1: something is there that must not be forgotten. */
static int64_t forgettable_ms(const struct eng_place *place)
{
    int64_t last_ms = 0;
    for (size_t i = 0; i < place->n_uses; i++) {
        if (place->uses[i]->n_held > 0)
            return -1;
        if (place->uses[i]->last_used_ms > last_ms)
            last_ms = place->uses[i]->last_used_ms;
    }
    return place->avoided ? -1 : last_ms;
}

/** Make room by the place that was not used for the longest time. @return false: each is needed */
static bool forget_oldest(struct step *st, struct eng_service *s)
{
    size_t oldest = s->places.n;
    int64_t oldest_ms = INT64_MAX;
    for (size_t i = 0; i < s->places.n; i++) {
        int64_t ms = forgettable_ms(s->places.items[i]);
        if (ms < 0 || ms >= oldest_ms)
            continue;
        oldest = i;
        oldest_ms = ms;
    }
    if (oldest == s->places.n)
        return false;
    forget(st, s, oldest);
    return true;
}

/** The place for a host, made if need be. @return NULL: there are PLACES_MAX, and each is needed */
static struct eng_place *take_place(struct step *st, struct eng_service *s, const char *host)
{
    struct eng_place *place = place_of(s, host);
    if (place)
        return place;
    if (s->places.n >= PLACES_MAX && !forget_oldest(st, s))
        return NULL;
    place = fld_new(&eng_place_type);
    place->host = mem_str(host);
    insert(s, place);
    return place;
}

static struct eng_use *use_of(const struct eng_place *place, const char *component)
{
    for (size_t i = 0; i < place->n_uses; i++) {
        if (strcmp(place->uses[i]->component, component) == 0)
            return place->uses[i];
    }
    return NULL;
}

static struct eng_use *take_use(struct eng_place *place, const char *component)
{
    struct eng_use *use = use_of(place, component);
    if (use)
        return use;
    use = fld_new(&use_type);
    use->component = mem_str(component);
    place->uses = mem_resize(place->uses, place->n_uses + 1, sizeof place->uses[0]);
    place->uses[place->n_uses++] = use;
    return use;
}

/** The same, to count in it: what was counted in another incarnation is forgotten. */
static struct eng_use *take_counted_use(struct eng_place *place, const struct eng_component *c)
{
    struct eng_use *use = take_use(place, c->name);
    if (use->incarnation != c->service->incarnation)
        use->n_failed = use->n_recent = use->n_start_failed = use->n_preempted = 0;
    use->incarnation = c->service->incarnation;
    return use;
}

static void forget_asked(struct eng_service *s)
{
    for (size_t i = 0; i < s->places.n_asked; i++)
        free(s->places.asked[i]);
    free(s->places.asked);
    s->places.asked = NULL;
    s->places.n_asked = 0;
}

void places_free(struct eng_service *s)
{
    for (size_t i = 0; i < s->places.n; i++)
        fld_free(&eng_place_type, s->places.items[i]);
    free(s->places.items);
    forget_asked(s);
    s->places = (struct eng_places){0};
}

void places_drop(struct step *st, struct eng_service *s)
{
    while (s->places.n > 0 && !step_is_full(st))
        forget(st, s, s->places.n - 1);
}

/* ---- which nodes are avoided ---- */

/** Failures of a component on a node that still count. */
static int64_t n_recent(const struct eng_use *use, const struct eng_service *s, int64_t now_ms)
{
    bool counts = use->incarnation == s->incarnation && use->window_end_ms > now_ms;
    return counts ? use->n_recent : 0;
}

/** A request has moved an instance of the component away from there, not long ago. */
static bool is_left(const struct eng_use *use, const struct eng_service *s, int64_t now_ms)
{
    return use->incarnation == s->incarnation && use->left_until_ms > now_ms;
}

/** The first component that has failed there too often, or was moved away, or NULL. */
static const struct eng_component *failing_component(const struct eng_service *s,
                                                     const struct eng_place *place, int64_t now_ms)
{
    for (size_t i = 0; i < place->n_uses; i++) {
        const struct eng_component *c = component_of(s, place->uses[i]->component);
        int64_t limit = c ? spec_prop_int(c->spec, PROP_NODE_BLACKLIST, 3) : -1;
        bool has_failed = limit >= 0 && n_recent(place->uses[i], s, now_ms) > limit;
        if (c && (has_failed || is_left(place->uses[i], s, now_ms)))
            return c;
    }
    return NULL;
}

/** A node other than that one takes containers of the component. */
static bool has_other_node(const struct engine *e, const struct eng_component *c, const char *host)
{
    const char *label = json_string_value(json_object_get(c->spec->placement_policy, "label"));
    if (e->nodes.n_items == 0)
        return !e->cfg.one_host; /* a cluster that reports none */
    for (MAP_EACH (&e->nodes, slot)) {
        const struct eng_place *place = place_of(c->service, slot->key);
        bool is_usable = (!place || !place->avoided) && !eng_service_is_excluded(c->service, slot->key);
        if (is_usable && strcmp(slot->key, host) != 0 && node_takes(slot->value, label))
            return true;
    }
    return false;
}

/** It is decided anew when a window of its failures is over. */
static void await_window(struct step *st, struct eng_service *s, const struct eng_place *place)
{
    for (size_t i = 0; i < place->n_uses; i++) {
        bool is_gone = is_left(place->uses[i], s, st->now_ms);
        int64_t end_ms = is_gone ? place->uses[i]->left_until_ms : place->uses[i]->window_end_ms;
        if ((is_gone || n_recent(place->uses[i], s, st->now_ms) > 0) &&
            (s->places.due_ms == 0 || end_ms < s->places.due_ms))
            s->places.due_ms = end_ms;
    }
}

/** Decide whether a node is avoided. */
static void judge(struct step *st, struct eng_service *s, struct eng_place *place)
{
    const struct eng_component *failing = failing_component(s, place, st->now_ms);
    bool avoid = failing && has_other_node(st->e, failing, place->host);
    s->places.failing = s->places.failing || failing;
    if (avoid)
        await_window(st, s, place);
    if (avoid == place->avoided)
        return;
    place->avoided = avoid;
    s->places.changed = true;
    mem_auto char *object = mem_fmt("node %s", place->host);
    const struct eng_use *use = avoid ? use_of(place, failing->name) : NULL;
    mem_auto char *why = !avoid ? NULL
                         : is_left(use, s, st->now_ms)
                             ? mem_fmt("an instance of component %s was moved away", failing->name)
                             : mem_fmt("component %s has failed there too often", failing->name);
    history_record(st, s, object, avoid ? "avoided" : "not avoided", why);
    step_note(st, s, "node %s is %s%s%s", place->host, avoid ? "avoided" : "not avoided any more",
              why ? ": " : "", why ? why : "");
}

static void judge_all(struct step *st, struct eng_service *s)
{
    s->places.due_ms = 0;
    s->places.failing = false;
    for (size_t i = 0; i < s->places.n; i++)
        judge(st, s, s->places.items[i]);
}

void places_failed(struct step *st, const struct eng_instance *inst)
{
    struct eng_component *c = inst->component;
    struct eng_service *s = c->service;
    bool is_watched =
        policy_of(s->kind)->remembers_nodes || spec_prop_int(c->spec, PROP_NODE_BLACKLIST, 3) >= 0;
    struct eng_place *place = inst->bare_host && is_watched ? take_place(st, s, inst->bare_host) : NULL;
    if (!place)
        return;
    struct eng_use *use = take_counted_use(place, c);
    int64_t before = n_recent(use, s, st->now_ms);
    if (before == 0)
        use->window_end_ms = st->now_ms + 1000 * spec_prop_int(c->spec, PROP_WINDOW, 0);
    use->n_recent = before + 1;
    use->n_failed++;
    if (use->last_used_ms < st->wall_ms)
        use->last_used_ms = st->wall_ms;
    touch(st, s, place);
    judge(st, s, place);
}

void places_ended(struct step *st, const struct eng_instance *inst, bool is_start_failure, bool is_preemption)
{
    struct eng_service *s = inst->component->service;
    bool counts =
        (is_start_failure || is_preemption) && inst->bare_host && policy_of(s->kind)->remembers_nodes;
    struct eng_place *place = counts ? take_place(st, s, inst->bare_host) : NULL;
    if (!place)
        return;
    struct eng_use *use = take_counted_use(place, inst->component);
    use->n_start_failed += is_start_failure;
    use->n_preempted += is_preemption;
    touch(st, s, place);
}

void places_moved(struct step *st, const struct eng_instance *inst)
{
    struct eng_service *s = inst->component->service;
    struct eng_place *place = inst->bare_host ? take_place(st, s, inst->bare_host) : NULL;
    if (!place)
        return;
    struct eng_use *use = take_counted_use(place, inst->component);
    use->left_until_ms = st->now_ms + LEFT_MS;
    touch(st, s, place);
    judge(st, s, place);
    if (s->places.changed)
        ask_for_changes(st, s); /* before it asks for another container */
}

/* ---- exclusion ---- */

/** Position in sorted texts of the first that is not smaller. */
static size_t text_position(char *const *texts, size_t n, const char *text)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(texts[middle], text) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool text_is_in(char *const *texts, size_t n, const char *text)
{
    size_t i = text_position(texts, n, text);
    return i < n && strcmp(texts[i], text) == 0;
}

/** Put a text among sorted ones, or take it out. @return false: it is as wanted */
static bool text_set(char ***texts, size_t *n, const char *text, bool on)
{
    size_t i = text_position(*texts, *n, text);
    if (text_is_in(*texts, *n, text) == on)
        return false;
    if (on) {
        *texts = mem_resize(*texts, *n + 1, sizeof **texts);
        memmove(*texts + i + 1, *texts + i, (*n - i) * sizeof **texts);
        (*texts)[i] = mem_str(text);
        ++*n;
    } else {
        free((*texts)[i]);
        memmove(*texts + i, *texts + i + 1, (*n - i - 1) * sizeof **texts);
        --*n;
    }
    return true;
}

bool eng_service_is_excluded(const struct eng_service *s, const char *host)
{
    return text_is_in(s->excluded, s->n_excluded, host);
}

void places_request(struct step *st, const struct eng_event *ev, struct eng_service *s)
{
    bool is_listed = eng_service_is_excluded(s, ev->host);
    bool is_elsewhere =
        st->e->cfg.role != ROLE_WHOLE; /* a manager knows no nodes, a master those that it has met */
    bool is_known = is_listed || is_elsewhere || map_get(&st->e->nodes, ev->host) || place_of(s, ev->host);
    bool is_too_many = ev->excluded && !is_listed && s->n_excluded >= PLACES_MAX;
    struct eng_answer *a = step_answer(st, ev->token,
                                       !is_known     ? OUT_NO_NODE
                                       : is_too_many ? OUT_TOO_MANY_NODES
                                                     : OUT_EXCLUDED,
                                       s);
    a->host = mem_str(ev->host);
    a->n_old = PLACES_MAX;
    if (!is_known || is_too_many || !text_set(&s->excluded, &s->n_excluded, ev->host, ev->excluded))
        return;
    mem_auto char *object = mem_fmt("node %s", ev->host);
    history_record(st, s, object, ev->excluded ? "excluded" : "not excluded", NULL);
    s->places.changed = true;
    step_want(st, s);
}

static void ask(struct step *st, struct eng_service *s, const char *host, bool on)
{
    struct eng_effect *e = step_emit(st, EFF_EXCLUDE, s);
    e->text = mem_str(host);
    e->excluded = on;
    e->application = mem_new(struct eng_application);
    e->application->id = mem_str(s->app_id);
    e->application->incarnation = s->incarnation;
    text_set(&s->places.asked, &s->places.n_asked, host, on);
}

/** Its last use is now. */
static void used_now(struct step *st, struct eng_service *s, struct eng_place *place, struct eng_use *use)
{
    use->last_used_ms = st->wall_ms;
    touch(st, s, place);
}

/** What is on excluded nodes is looked for, from the first instance on. */
static void begin_eviction(struct eng_service *s)
{
    s->places.evicting = true;
    s->evicted = (struct eng_walk){0};
}

/** Ask the cluster for what is excluded or avoided now and was not, and the other way round. */
static void ask_for_changes(struct step *st, struct eng_service *s)
{
    struct eng_places *p = &s->places;
    p->changed = false;
    for (size_t i = p->n_asked; i > 0; i--) {
        const struct eng_place *place = place_of(s, p->asked[i - 1]);
        mem_auto char *host = mem_str(p->asked[i - 1]);
        if (!eng_service_is_excluded(s, host) && !(place && place->avoided))
            ask(st, s, host, false);
    }
    for (size_t i = 0; i < p->n; i++) {
        if (p->items[i]->avoided && !text_is_in(p->asked, p->n_asked, p->items[i]->host))
            ask(st, s, p->items[i]->host, true);
    }
    for (size_t i = 0; i < s->n_excluded; i++) {
        if (!text_is_in(p->asked, p->n_asked, s->excluded[i]))
            ask(st, s, s->excluded[i], true);
    }
    if (s->n_excluded > 0)
        begin_eviction(s);
}

void places_allocated(struct step *st, struct eng_instance *inst)
{
    struct eng_component *c = inst->component;
    struct eng_service *s = c->service;
    if (inst->bare_host && eng_service_is_excluded(s, inst->bare_host))
        begin_eviction(s); /* it was on its way when the node was excluded */
    if (!inst->bare_host || inst->is_placed || !policy_of(s->kind)->remembers_nodes)
        return;
    struct eng_place *place = st ? take_place(st, s, inst->bare_host) : place_of(s, inst->bare_host);
    if (!place)
        return;
    struct eng_use *use = take_use(place, c->name);
    use->n_held++;
    inst->is_placed = true;
    if (st)
        used_now(st, s, place, use);
}

void places_left(struct step *st, struct eng_instance *inst)
{
    struct eng_service *s = inst->component->service;
    struct eng_place *place = inst->is_placed ? place_of(s, inst->bare_host) : NULL;
    struct eng_use *use = place ? use_of(place, inst->component->name) : NULL;
    inst->is_placed = false;
    if (!use)
        return;
    use->n_held--;
    used_now(st, s, place, use);
}

/* ---- the node that is asked for ---- */

/** A container of the component may be placed there, as far as is known. */
static bool is_usable(const struct engine *e, const struct eng_component *c, const struct eng_place *place)
{
    const char *label = json_string_value(json_object_get(c->spec->placement_policy, "label"));
    const struct eng_node *node = map_get(&e->nodes, place->host);
    bool takes = node ? node_takes(node, label) : e->nodes.n_items == 0;
    return takes && !place->avoided && !eng_service_is_excluded(c->service, place->host);
}

const char *places_wish(const struct engine *e, const struct eng_instance *inst)
{
    const struct eng_component *c = inst->component;
    const struct eng_service *s = c->service;
    bool asks_any = inst->is_relaxed || eng_rules_of(s->rules, c->name)->forgets_nodes;
    const struct eng_place *best = NULL;
    int64_t best_ms = 0;
    if (asks_any || !policy_of(s->kind)->remembers_nodes)
        return NULL;
    for (size_t i = 0; i < s->places.n; i++) {
        const struct eng_place *place = s->places.items[i];
        const struct eng_use *use = use_of(place, c->name);
        bool is_free = use && use->n_held == 0 && use->last_used_ms > best_ms;
        if (!is_free || !is_usable(e, c, place) || ask_is_for(c, place->host))
            continue;
        best = place;
        best_ms = use->last_used_ms;
    }
    return best ? best->host : NULL;
}

int64_t places_escalate_ms(const struct eng_instance *inst)
{
    const struct eng_component *c = inst->component;
    const struct eng_component_rules *r = eng_rules_of(c->service->rules, c->name);
    return r->is_strict ? 0 : r->escalate_ms;
}

/** Stop what runs on excluded nodes, as far as the step may. */
static void evict(struct step *st, struct eng_service *s)
{
    struct eng_instance *inst;
    while (!step_is_full(st) && (inst = instances_next(s, &s->evicted))) {
        if (inst->bare_host && eng_service_is_excluded(s, inst->bare_host))
            instance_evict(st, inst);
    }
    s->places.evicting = step_is_full(st);
}

/* ---- in step with the service ---- */

void places_settle(struct step *st, struct eng_service *s)
{
    if (s->places.due_ms && s->places.due_ms <= st->now_ms)
        judge_all(st, s);
    if (s->places.changed && s->state != SVC_SUBMITTING && s->state != SVC_BACKOFF)
        ask_for_changes(st, s); /* the cluster knows the application */
    if (s->places.evicting)
        evict(st, s);
}

void places_begin(struct step *st, struct eng_service *s)
{
    forget_asked(s);
    s->places.changed = true;
    for (size_t i = 0; i < s->places.n; i++)
        s->places.items[i]->avoided = false;
    judge_all(st, s);
}

void places_resync(struct eng_service *s)
{
    forget_asked(s);
    s->places.changed = true;
}

void places_end(struct step *st, struct eng_service *s)
{
    for (size_t i = s->places.n_asked; i > 0; i--) {
        mem_auto char *host = mem_str(s->places.asked[i - 1]);
        ask(st, s, host, false);
    }
    for (size_t i = 0; i < s->places.n; i++)
        s->places.items[i]->avoided = false;
    s->places.due_ms = 0;
    s->places.failing = false;
}

/* ---- documents ---- */

int place_load(struct eng_service *s, const char *key, const json_t *doc, struct err_info *why)
{
    void *object = NULL;
    int rc = fld_read(&eng_place_type, doc, &object, why);
    if (rc)
        return rc;
    struct eng_place *place = object;
    mem_auto char *own_key = place->host ? place_document_key(s, place->host) : NULL;
    bool is_whole = own_key && strcmp(own_key, key) == 0 && !place_of(s, place->host);
    for (size_t i = 0; i < place->n_uses; i++)
        is_whole = is_whole && place->uses[i]->component;
    if (!is_whole) {
        fld_free(&eng_place_type, place);
        return err_set(why, ERR_JSON, key, "%s: not the document of this node", key);
    }
    insert(s, place);
    return 0;
}

void places_persist(struct step *st, struct eng_service *s)
{
    for (size_t i = 0; s->places.dirty && i < s->places.n; i++) {
        struct eng_place *place = s->places.items[i];
        if (!place->dirty)
            continue;
        place->dirty = false;
        step_store(st, place_document_key(s, place->host), &eng_place_type, place, s);
    }
    s->places.dirty = false;
}

#include "slider/walk.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/obj.h"
#include "slider/conf.h"

#define WALK_MAGIC OBJ_MAGIC('S', 'W', 'L', 'K')

#define SLICE_ITEMS   64  /* items in one piece: about 100 µs */
#define SLICE_COLLECT 256 /* instances that are looked at in one piece */

/** An id that is to be sorted: by what follows its last '_', the attempt and the number of the container. */
struct id {
    int64_t attempt, number;
    char *text;
};

struct slider_walk {
    struct obj obj;
    struct slider_walk_def def;
    char *user, *name, *component_name, *host;
    int64_t incarnation; /* of the service when the walk began */
    bool has_begun, is_collected, is_done;
    size_t component, next; /* of the service's components; of what is in it, or in the list */
    bool has_master;        /* it was written */
    enum { ENDED_KEPT, ENDED_LAST, RUNNING } phase; /* DIAGNOSTICS: what is written */
    bool is_paused;                                 /* so many were passed over that the piece ends */
    /* IDS, COMPONENT: in runs, each of which one piece has collected and sorted; what was written is NULL */
    struct id *ids;
    size_t n_ids;
    struct run {
        size_t next, end; /* of ids */
    } * runs;
    size_t n_runs;
    struct map on; /* NODES, NODE: host → array of struct slider_on_node, one for each component, owned */
    char **hosts;  /* NODES */
    size_t n_hosts;
    struct jw w;
};

/** It is about one component. */
static bool is_of_one(enum slider_form form)
{
    return form == SLIDER_FORM_COMPONENT || form == SLIDER_FORM_IDS || form == SLIDER_FORM_INSTANCES;
}

struct slider_walk *slider_walk_new(const struct slider_walk_def *def)
{
    struct slider_walk *walk = mem_new(struct slider_walk);
    obj_init(&walk->obj, WALK_MAGIC);
    walk->def = *def;
    walk->user = mem_str(def->user);
    walk->name = mem_str(def->name);
    walk->component_name = is_of_one(def->form) ? mem_str(def->component) : NULL;
    walk->host = def->form == SLIDER_FORM_NODE ? mem_str(def->host) : NULL;
    return walk;
}

void slider_walk_free(struct slider_walk *walk)
{
    if (!walk)
        return;
    for (size_t i = 0; i < walk->n_ids; i++)
        free(walk->ids[i].text);
    for (size_t i = 0; i < walk->n_hosts; i++)
        free(walk->hosts[i]);
    free(walk->ids);
    free(walk->runs);
    free(walk->hosts);
    map_fini(&walk->on, free);
    free(walk->user);
    free(walk->name);
    free(walk->component_name);
    free(walk->host);
    obj_fini(&walk->obj);
    free(walk);
}

/* ---- collecting ---- */

static void add_id(struct slider_walk *walk, const char *text)
{
    const char *number = strrchr(text, '_'), *attempt = number;
    while (attempt && attempt > text && attempt[-1] != '_')
        attempt--;
    if ((walk->n_ids & (walk->n_ids + 1)) == 0) /* full: 0, 1, 3, 7 … */
        walk->ids = mem_resize(walk->ids, 2 * walk->n_ids + 1, sizeof *walk->ids);
    walk->ids[walk->n_ids++] = (struct id){.text = mem_str(text),
                                           .number = number ? strtoll(number + 1, NULL, 10) : 0,
                                           .attempt = attempt ? strtoll(attempt, NULL, 10) : 0};
}

static int by_number(const void *a, const void *b)
{
    const struct id *x = a, *y = b;
    if (x->attempt != y->attempt)
        return x->attempt < y->attempt ? -1 : 1;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return strcmp(x->text, y->text);
}

static void add_to_node(struct slider_walk *walk, const struct eng_service *s,
                        const struct eng_instance *inst)
{
    struct slider_on_node one = {0};
    const char *host;
    slider_count_on_node(inst, &host, &one);
    if (!host || (walk->host && strcmp(host, walk->host) != 0))
        return;
    struct slider_on_node *on = map_get(&walk->on, host);
    if (!on)
        map_set(&walk->on, host, on = mem_array(s->n_components + 1, sizeof *on));
    on += walk->component;
    on->live += one.live;
    on->starting += one.starting;
    on->releasing += one.releasing;
    on->requested += one.requested;
}

static void collect_hosts(struct slider_walk *walk, const struct slider_look *look)
{
    const char *const one[] = {walk->host, NULL};
    mem_auto const char **all = walk->host ? NULL : slider_hosts(look);
    const char *const *hosts = walk->host ? one : all;
    size_t n = 0;
    while (hosts[n])
        n++;
    walk->hosts = mem_array(n + 1, sizeof *walk->hosts);
    for (; walk->n_hosts < n; walk->n_hosts++)
        walk->hosts[walk->n_hosts] = mem_str(hosts[walk->n_hosts]);
}

/** What this piece has collected, in its order. All at once would take a turn of milliseconds. */
static void end_run(struct slider_walk *walk, size_t first)
{
    if (first == walk->n_ids)
        return;
    qsort(walk->ids + first, walk->n_ids - first, sizeof *walk->ids, by_number);
    walk->runs = mem_resize(walk->runs, walk->n_runs + 1, sizeof *walk->runs);
    walk->runs[walk->n_runs++] = (struct run){first, walk->n_ids};
}

/** The smallest id that was not taken yet: of the runs' first ones. [free()]; NULL: there is none */
static char *take_id(struct slider_walk *walk)
{
    struct run *best = NULL;
    for (struct run *r = walk->runs; r && r < walk->runs + walk->n_runs; r++) {
        if (r->next < r->end && (!best || by_number(&walk->ids[r->next], &walk->ids[best->next]) < 0))
            best = r;
    }
    if (!best)
        return NULL;
    char *text = walk->ids[best->next].text;
    walk->ids[best->next++].text = NULL;
    return text;
}

/** Look at some instances. */
static void collect(struct slider_walk *walk, const struct eng_service *s)
{
    bool by_node = walk->def.form == SLIDER_FORM_NODES || walk->def.form == SLIDER_FORM_NODE;
    size_t first = walk->n_ids;
    for (size_t left = SLICE_COLLECT; left > 0 && walk->component < s->n_components; left--) {
        const struct eng_component *c = s->components[walk->component];
        bool is_wanted = by_node || (walk->component_name && strcmp(c->name, walk->component_name) == 0);
        if (!is_wanted || walk->next >= c->n_by_index) {
            walk->component++;
            walk->next = 0;
            continue;
        }
        const struct eng_instance *inst = c->by_index[walk->next++];
        if (inst && by_node)
            add_to_node(walk, s, inst);
        else if (inst && slider_has_container(inst))
            add_id(walk, inst->container_id);
    }
    end_run(walk, first);
}

/** @return whether all is collected. */
static bool be_collected(struct slider_walk *walk, const struct slider_look *look,
                         const struct eng_service *s)
{
    enum slider_form form = walk->def.form;
    bool sorts = form == SLIDER_FORM_COMPONENT || form == SLIDER_FORM_IDS;
    bool counts = form == SLIDER_FORM_NODES || form == SLIDER_FORM_NODE;
    if (sorts || counts)
        collect(walk, s);
    if ((sorts || counts) && walk->component < s->n_components)
        return false;
    if (counts)
        collect_hosts(walk, look);
    walk->component = walk->next = 0;
    return true;
}

/* ---- items ---- */

/** The next instance whose container is shown, of all components or of the one that is asked for; NULL: there is none. */
static const struct eng_instance *next_owned(struct slider_walk *walk, const struct eng_service *s)
{
    for (; walk->component < s->n_components; walk->component++, walk->next = 0) {
        const struct eng_component *c = s->components[walk->component];
        if (is_of_one(walk->def.form) &&
            (!walk->component_name || strcmp(c->name, walk->component_name) != 0))
            continue;
        while (walk->next < c->n_by_index) {
            const struct eng_instance *inst = c->by_index[walk->next++];
            if (inst && slider_has_container(inst))
                return inst;
        }
    }
    return NULL;
}

static bool next_container(struct slider_walk *walk, const struct slider_look *look,
                           const struct eng_service *s)
{
    if (!walk->has_master && slider_has_master(s)) {
        mem_auto char *id = slider_master_container(s);
        walk->has_master = true;
        jw_key(&walk->w, id);
        slider_write_master(&walk->w, look, s);
        return true;
    }
    const struct eng_instance *inst = next_owned(walk, s);
    if (!inst)
        return false;
    jw_key(&walk->w, inst->container_id);
    slider_write_container(&walk->w, look, inst, false);
    return true;
}

static bool next_component(struct slider_walk *walk, const struct slider_look *look,
                           const struct eng_service *s)
{
    struct jw *w = &walk->w;
    bool is_master = !walk->has_master && slider_has_master(s);
    if (!is_master && walk->component >= s->n_components)
        return false;
    walk->has_master = true;
    const struct eng_component *c = is_master ? NULL : s->components[walk->component++];
    jw_key(w, c ? eng_component_title(c) : SLIDER_MASTER);
    jw_object(w);
    if (c)
        slider_write_component(w, look, c);
    else
        slider_write_master_component(w);
    jw_object_end(w);
    return true;
}

/** An id of the component; of the application master there is one. */
static bool next_id(struct slider_walk *walk, const struct slider_look *look, const struct eng_service *s)
{
    (void)look;
    bool is_master = !walk->component_name && !walk->has_master && slider_has_master(s);
    mem_auto char *id = is_master ? slider_master_container(s) : take_id(walk);
    if (!id)
        return false;
    walk->has_master = true;
    jw_str(&walk->w, id);
    return true;
}

static bool next_instance(struct slider_walk *walk, const struct slider_look *look,
                          const struct eng_service *s)
{
    (void)look;
    bool is_master = !walk->component_name && !walk->has_master && slider_has_master(s);
    mem_auto char *id = is_master ? slider_master_container(s) : NULL;
    const struct eng_instance *inst = is_master ? NULL : next_owned(walk, s);
    if (!id && !inst)
        return false;
    walk->has_master = true;
    mem_auto char *index = mem_fmt("%lld", inst ? (long long)inst->index : 0LL);
    jw_kstr(&walk->w, index, id ? id : inst->container_id);
    return true;
}

static bool next_node(struct slider_walk *walk, const struct slider_look *look, const struct eng_service *s)
{
    while (walk->next < walk->n_hosts) {
        const char *host = walk->hosts[walk->next++];
        const struct eng_node *node = slider_node(look, host);
        const struct slider_on_node *on = map_get(&walk->on, host);
        mem_auto struct slider_on_node *none = on ? NULL : mem_array(s->n_components + 1, sizeof *none);
        if (!node)
            continue;
        slider_write_node(&walk->w, s, node, on ? on : none);
        free(map_remove(&walk->on, host)); /* all at the end would take a turn of a millisecond */
        return true;
    }
    return false;
}

/** The next of what instances had before; NULL: there is none, or the walk has paused. */
static const struct eng_instance *next_last(struct slider_walk *walk, const struct eng_service *s)
{
    struct eng_past last;
    size_t n_left = SLICE_COLLECT;
    for (; walk->component < s->n_components; walk->component++, walk->next = 0) {
        const struct eng_component *c = s->components[walk->component];
        while (walk->next < c->n_by_index) {
            if (n_left-- == 0) {
                walk->is_paused = true;
                return NULL;
            }
            const struct eng_instance *inst = c->by_index[walk->next++];
            if (inst && slider_last_of(inst, &last))
                return inst;
        }
    }
    return NULL;
}

/** Those that have ended come first: what is remembered of them, else what their instances know. */
static bool next_diagnosed(struct slider_walk *walk, const struct slider_look *look,
                           const struct eng_service *s)
{
    const struct eng_past *p = NULL;
    const struct eng_instance *inst = NULL;
    struct eng_past last;
    if (walk->phase == ENDED_KEPT && !(p = eng_service_past(s, walk->next++))) {
        walk->phase = eng_service_past(s, 0) ? RUNNING : ENDED_LAST;
        walk->next = 0;
    }
    if (walk->phase == ENDED_LAST && (inst = next_last(walk, s))) {
        slider_last_of(inst, &last);
        p = &last;
    } else if (walk->is_paused) {
        return true;
    } else if (walk->phase == ENDED_LAST) {
        walk->phase = RUNNING;
        walk->component = walk->next = 0;
    }
    if (p)
        slider_write_past(&walk->w, look, s, p);
    else if ((inst = next_owned(walk, s)))
        slider_write_container(&walk->w, look, inst, false);
    return p || inst;
}

/* ---- documents ---- */

static const struct eng_component *component_of_walk(const struct slider_walk *walk,
                                                     const struct eng_service *s)
{
    return walk->component_name ? eng_service_component(s, walk->component_name) : NULL;
}

static void write_head(struct slider_walk *walk, const struct slider_look *look, const struct eng_service *s)
{
    const struct eng_component *c = component_of_walk(walk, s);
    struct jw *w = &walk->w;
    switch (walk->def.form) {
    case SLIDER_FORM_IDS:
    case SLIDER_FORM_NODES: jw_array(w); return;
    case SLIDER_FORM_COMPONENT:
        jw_object(w);
        if (c)
            slider_write_component(w, look, c);
        else
            slider_write_master_component(w);
        jw_literal_key(w, "containers");
        jw_array(w);
        return;
    case SLIDER_FORM_DIAGNOSTICS:
        jw_object(w);
        jw_literal_key(w, "containers");
        jw_array(w);
        return;
    case SLIDER_FORM_NODE: return;
    default: jw_object(w); return;
    }
}

static void write_end(struct slider_walk *walk, const struct eng_service *s)
{
    struct jw *w = &walk->w;
    switch (walk->def.form) {
    case SLIDER_FORM_IDS:
    case SLIDER_FORM_NODES: jw_array_end(w); return;
    case SLIDER_FORM_COMPONENT:
        jw_array_end(w);
        jw_object_end(w);
        return;
    case SLIDER_FORM_DIAGNOSTICS:
        jw_array_end(w);
        jw_literal_key(w, "recentFailedContainers");
        slider_write_failed(w, s);
        slider_write_end(w, s);
        jw_object_end(w);
        return;
    case SLIDER_FORM_NODE: return;
    default: jw_object_end(w); return;
    }
}

static void write_items(struct slider_walk *walk, const struct slider_look *look, const struct eng_service *s)
{
    static bool (*const next[SLIDER_N_FORMS])(struct slider_walk *, const struct slider_look *,
                                              const struct eng_service *) = {
        [SLIDER_FORM_CONTAINERS] = next_container,
        [SLIDER_FORM_COMPONENTS] = next_component,
        [SLIDER_FORM_COMPONENT] = next_id,
        [SLIDER_FORM_IDS] = next_id,
        [SLIDER_FORM_INSTANCES] = next_instance,
        [SLIDER_FORM_NODES] = next_node,
        [SLIDER_FORM_NODE] = next_node,
        [SLIDER_FORM_DIAGNOSTICS] = next_diagnosed};
    size_t before = walk->w.out->len;
    bool has_more = true;
    if (!walk->has_begun)
        write_head(walk, look, s);
    walk->has_begun = true;
    walk->is_paused = false;
    for (size_t n = 0; has_more && !walk->is_paused && n < SLICE_ITEMS; n++)
        has_more = next[walk->def.form](walk, look, s);
    if (walk->w.out->len == before)
        buf_add_char(walk->w.out, ' '); /* a piece has at least a byte */
    if (has_more)
        return;
    write_end(walk, s);
    walk->is_done = true;
}

/** It is there, as it was when the walk began. */
static const struct eng_service *service_of(struct slider_walk *walk, const struct engine *e)
{
    const struct eng_service *s = engine_find(e, walk->def.kind, walk->user, walk->name);
    bool is_first = walk->incarnation == 0;
    if (!s || (!is_first && s->incarnation != walk->incarnation) ||
        (walk->component_name && !component_of_walk(walk, s)))
        return NULL;
    walk->incarnation = s->incarnation;
    return s;
}

bool slider_walk_next(struct slider_walk *walk, struct buf *out)
{
    struct slider_look look = walk->def.look(walk->def.arg);
    const struct eng_service *s = walk->is_done ? NULL : service_of(walk, look.e);
    if (!s)
        return false;
    if (!walk->is_collected && !be_collected(walk, &look, s)) {
        buf_add_char(out, ' ');
        return true;
    }
    walk->is_collected = true;
    walk->w.out = out;
    write_items(walk, &look, s);
    return !walk->is_done;
}

/** Orders from the manager of a service to its application master: see orders.h. */
#include "engine/orders.h"

#include <stdlib.h>

#include "engine/documents.h"
#include "engine/service.h"

#define EVENT_WORD(token) #token,
static const char *const event_words[] = {ENG_EVENTS(EVENT_WORD) NULL};
#define MODE_WORD(token, word) word,
static const char *const mode_words[] = {ENG_MODES(MODE_WORD) NULL};

static void flex_defaults(void *object)
{
    *(struct order_flex *)object = (struct order_flex){.count = 0};
}

static const struct fld flex_flds[] = {
    FLD_STR("component", struct order_flex, component, 0),
    FLD_I64("count", struct order_flex, count, FLD_ZERO),
};
static const struct fld_type flex_type = {.what = "flex",
                                          .size = sizeof(struct order_flex),
                                          .flds = flex_flds,
                                          .n_flds = ARRAY_LEN(flex_flds),
                                          .defaults = flex_defaults};

static void order_defaults(void *object)
{
    *(struct eng_order *)object = (struct eng_order){.number = 0};
}

static const struct fld order_flds[] = {
    FLD_I64("number", struct eng_order, number, FLD_ZERO),
    FLD_ENUM("kind", struct eng_order, kind, 0, event_words),
    FLD_STR("user", struct eng_order, user, 0),
    FLD_STRS("names", struct eng_order, names, 0),
    FLD_BOOL("are_components", struct eng_order, are_components, 0),
    FLD_LIST("flex", struct eng_order, flex, 0, &flex_type),
    FLD_I64("lifetime_s", struct eng_order, lifetime_s, FLD_ZERO),
    FLD_I64("progress_ppm", struct eng_order, progress_ppm, FLD_ZERO),
    FLD_STR("host", struct eng_order, host, 0),
    FLD_BOOL("excluded", struct eng_order, excluded, 0),
    FLD_BOOL("auto_revert", struct eng_order, auto_revert, 0),
    FLD_ENUM("mode", struct eng_order, mode, 0, mode_words),
    FLD_OBJ("spec", struct eng_order, spec, 0, &spec_service_type),
    FLD_OBJ("rules", struct eng_order, rules, 0, &eng_rules_type),
    FLD_JSON("value", struct eng_order, value, 0),
    FLD_STR("why", struct eng_order, why, 0),
};
const struct fld_type eng_order_type = {.what = "order",
                                        .size = sizeof(struct eng_order),
                                        .flds = order_flds,
                                        .n_flds = ARRAY_LEN(order_flds),
                                        .defaults = order_defaults};

/* ---- the manager ---- */

static void copy_flex(struct eng_order *o, const struct eng_event *ev)
{
    o->flex = mem_array(ev->n_flex + 1, sizeof o->flex[0]);
    for (; o->n_flex < ev->n_flex; o->n_flex++) {
        const struct eng_flex *from = &ev->flex[o->n_flex];
        struct order_flex *to = o->flex[o->n_flex] = fld_new(&flex_type);
        to->component = mem_str(from->component);
        to->count = from->count;
    }
}

void order_give(struct step *st, struct eng_service *s, const struct eng_event *ev, const char *why)
{
    struct eng_order *o = fld_new(&eng_order_type);
    o->number = ++s->last_order;
    o->kind = ev->kind;
    o->user = mem_str(ev->user);
    o->names = mem_array(ev->n_names + 1, sizeof o->names[0]);
    for (; o->n_names < ev->n_names; o->n_names++)
        o->names[o->n_names] = mem_str(ev->names[o->n_names]);
    copy_flex(o, ev);
    o->are_components = ev->are_components;
    o->lifetime_s = ev->lifetime_s;
    o->progress_ppm = ev->progress_ppm;
    o->host = mem_str(ev->host);
    o->excluded = ev->excluded;
    o->auto_revert = ev->auto_revert;
    o->mode = ev->mode;
    o->spec = ev->take_spec;
    o->rules = ev->take_rules;
    o->value =
        (ev->kind == EV_MIGRATE || ev->kind == EV_ROLL) && ev->value ? json_deep_copy(ev->value) : NULL;
    o->why = mem_str(why);
    s->orders = mem_resize(s->orders, s->n_orders + 1, sizeof s->orders[0]);
    s->orders[s->n_orders++] = o;
    step_want(st, s);
}

void orders_drop_done(struct step *st, struct eng_service *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n_orders; i++) {
        if (s->orders[i]->number > s->n_ordered)
            s->orders[n++] = s->orders[i];
        else
            fld_free(&eng_order_type, s->orders[i]);
    }
    if (n < s->n_orders)
        step_want(st, s);
    s->n_orders = n;
}

/* ---- the master ---- */

static void carry_out(struct step *st, struct eng_service *s, struct eng_order *o)
{
    mem_auto struct eng_flex *flex = mem_array(o->n_flex + 1, sizeof *flex);
    for (size_t i = 0; i < o->n_flex; i++)
        flex[i] = (struct eng_flex){o->flex[i]->component, o->flex[i]->count, false};
    const struct eng_event ev = {.kind = o->kind,
                                 .service_kind = s->kind,
                                 .user = o->user ? o->user : s->user,
                                 .name = s->name,
                                 .names = (const char *const *)o->names,
                                 .n_names = o->n_names,
                                 .are_components = o->are_components,
                                 .flex = flex,
                                 .n_flex = o->n_flex,
                                 .lifetime_s = o->lifetime_s,
                                 .progress_ppm = o->progress_ppm,
                                 .host = o->host,
                                 .excluded = o->excluded,
                                 .auto_revert = o->auto_revert,
                                 .mode = o->mode,
                                 .value = o->value,
                                 .take_spec = o->spec,
                                 .take_rules = o->rules};
    o->spec = NULL;
    o->rules = NULL;
    service_order(st, &ev, s, o->why);
}

/** Of another incarnation they are not ours: our application is over, which the cluster says, too. */
void orders_follow(struct step *st, struct eng_service *s, const json_t *doc)
{
    void *object = NULL;
    struct err_info why = {0};
    if (st->e->cfg.role != ROLE_MASTER || !doc)
        return;
    if (fld_read(&eng_wanted_type, doc, &object, &why)) {
        step_note(st, s, "what is wanted of service %s cannot be read: %s", s->name, why.text);
        return;
    }
    struct eng_service *w = object;
    if (w->incarnation == s->incarnation) {
        fld_move(&eng_orders_type, w, s);
        fld_move(&eng_request_type, w, s);
    }
    fld_free(&eng_wanted_type, w);
    step_affect(st, s);
}

void orders_carry_out(struct step *st, struct eng_service *s)
{
    if (st->e->cfg.role != ROLE_MASTER || s->unresumed)
        return;
    for (size_t i = 0; i < s->n_orders; i++) {
        struct eng_order *o = s->orders[i];
        if (o->number > s->n_ordered) {
            s->n_ordered = o->number;
            carry_out(st, s, o);
            step_touch(st, s);
        }
        fld_free(&eng_order_type, o);
    }
    s->n_orders = 0;
}

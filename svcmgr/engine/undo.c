/** Requests that could not be stored are taken back: see engine_undo in engine.h. */
#include <stdlib.h>
#include <string.h>

#include "engine/step.h"
#include "json/json.h"

/** The document of the service, and what a request may change besides. */
struct eng_kept {
    char *user, *name;
    struct buf text; /* empty: there was no such service */
    int64_t ticket;  /* last ticket given out before the request */
    int64_t purge_ticket, retry_ms, destroyers_due_ms;
    size_t n_destroyers;
    bool published, dirty;
};

bool eng_event_is_request(const struct eng_event *ev)
{
    return ev->kind <= EV_DECOMMISSION;
}

struct eng_kept *engine_keep(const struct engine *e, const char *user, const char *name)
{
    const struct eng_service *s = engine_find(e, user, name);
    struct eng_kept *kept = mem_new(struct eng_kept);
    kept->user = mem_str(user);
    kept->name = mem_str(name);
    kept->ticket = e->next_ticket;
    if (!s)
        return kept;
    fld_write_text(&eng_service_type, s, &kept->text);
    kept->purge_ticket = s->purge_ticket;
    kept->retry_ms = s->retry_ms;
    kept->n_destroyers = s->n_destroyers;
    kept->destroyers_due_ms = s->destroyers_due_ms;
    kept->published = s->published;
    kept->dirty = s->dirty;
    return kept;
}

void eng_kept_free(struct eng_kept *kept)
{
    if (!kept)
        return;
    free(kept->user);
    free(kept->name);
    buf_fini(&kept->text);
    free(kept);
}

/** The instances move over, as no request makes or removes one, and what no document has of their component. */
static void move_components(struct eng_service *from, struct eng_service *to)
{
    for (size_t i = 0; i < to->n_components; i++) {
        struct eng_component *c = to->components[i], *old = component_of(from, c->name);
        if (!old)
            continue;
        c->health_due_ms = old->health_due_ms;
        c->health_below_ms = old->health_below_ms;
        c->instances = old->instances;
        c->n_instances = old->n_instances;
        old->instances = NULL;
        old->n_instances = 0;
        for (size_t k = 0; k < c->n_instances; k++)
            c->instances[k]->component = c;
    }
}

/** What no document has. */
static void move_rest(struct eng_service *from, struct eng_service *to, const struct eng_kept *kept)
{
    to->destroyers = from->destroyers;
    from->destroyers = NULL;
    to->n_destroyers = kept->n_destroyers;
    to->destroyers_due_ms = kept->destroyers_due_ms;
    to->purge_ticket = kept->purge_ticket;
    to->retry_ms = kept->retry_ms;
    to->refused = from->refused;
    from->refused = MAP_EMPTY;
    to->published = kept->published;
    to->dirty = kept->dirty;
    to->has_dirty_instances = from->has_dirty_instances;
    to->unresumed = from->unresumed;
    to->is_registry_resumed = from->is_registry_resumed;
}

static struct eng_service *service_of_text(const struct buf *text)
{
    json_auto json_t *doc = NULL;
    void *object = NULL;
    BUG_IF(json_read(text->bytes, text->len, &doc, NULL) != 0);
    BUG_IF(fld_read(&eng_service_type, doc, &object, NULL) != 0);
    return object;
}

void engine_undo(struct engine *e, const struct eng_kept *kept, int64_t now_ms, struct eng_effects *out)
{
    struct step st = {.e = e, .now_ms = now_ms};
    mem_auto char *key = service_key(kept->user, kept->name);
    struct eng_service *s = map_remove(&e->services, key);
    if (s && !kept->text.len)
        homes_remove(e, s);
    tickets_undo(e, kept->user, kept->name, kept->ticket);
    if (s && kept->text.len > 0) {
        struct eng_service *was = service_of_text(&kept->text);
        BUG_IF(service_link(was, NULL) != 0);
        move_components(s, was);
        move_rest(s, was, kept);
        map_set(&e->services, key, was);
        step_wake(&st, was);
    }
    service_free(s);
    step_wake_waiting(&st);
    eng_effects_move(&st.rest, out);
}

/** A new key of the service that a ticket belongs to, or NULL. */
static char *service_of_ticket(const struct engine *e, int64_t number)
{
    for (size_t i = 0; i < e->n_tickets; i++) {
        if (e->tickets[i].number == number)
            return service_key(e->tickets[i].user, e->tickets[i].name);
    }
    return NULL;
}

char *engine_service_of(const struct engine *e, const struct eng_event *ev)
{
    const struct eng_instance *inst = NULL;
    const struct eng_service *s = ev->container_id ? engine_find_container(e, ev->container_id, &inst) : NULL;
    if (s)
        return service_key(s->user, s->name);
    if (ev->kind == EV_RECORD)
        return service_of_ticket(e, ev->ticket);
    const char *name = ev->take_spec ? ev->take_spec->name : ev->name;
    return ev->user && name ? service_key(ev->user, name) : NULL;
}

/** Requests that could not be stored are taken back: see engine_undo in engine.h. */
#include <stdlib.h>
#include <string.h>

#include "engine/component.h"
#include "engine/document.h"
#include "engine/documents.h"
#include "engine/registry.h"
#include "engine/service.h"
#include "engine/step.h"
#include "json/json.h"

/** What the documents of the service have, and what a request may change besides. */
struct eng_kept {
    json_t *document; /* of the cluster, where user is NULL */
    enum eng_kind kind;
    char *user, *name;
    struct buf text; /* empty: there was no such service */
    int64_t ticket;  /* last ticket given out before the request */
    int64_t purge_ticket, retry_ms, destroyers_due_ms, forgotten, history_length, kill_ms;
    size_t n_destroyers;
    bool published, dirty, is_wanted_dirty;
};

bool eng_event_is_request(const struct eng_event *ev)
{
    return ev->kind < EV_ALLOCATED;
}

struct eng_kept *engine_keep(const struct engine *e, enum eng_kind kind, const char *user, const char *name)
{
    const struct eng_service *s = user ? engine_find(e, kind, user, name) : NULL;
    struct eng_kept *kept = mem_new(struct eng_kept);
    kept->document = user ? NULL : cluster_document_keep(e, name);
    kept->kind = kind;
    kept->user = mem_str(user);
    kept->name = mem_str(name);
    kept->ticket = e->next_ticket;
    if (!s)
        return kept;
    fld_write_text(&eng_service_type, s, &kept->text);
    kept->purge_ticket = s->purge_ticket;
    kept->retry_ms = s->retry_ms;
    kept->kill_ms = s->kill_ms;
    kept->n_destroyers = s->n_destroyers;
    kept->destroyers_due_ms = s->destroyers_due_ms;
    kept->published = s->published;
    kept->forgotten = backlog_forgotten(s);
    kept->history_length = history_length(s);
    kept->dirty = s->dirty;
    kept->is_wanted_dirty = s->is_wanted_dirty;
    return kept;
}

void eng_kept_free(struct eng_kept *kept)
{
    if (!kept)
        return;
    json_decref(kept->document);
    free(kept->user);
    free(kept->name);
    buf_fini(&kept->text);
    free(kept);
}

/** The components move over with their instances, as no request makes or removes one; what is stored of them is as it was. */
static void move_components(struct eng_service *from, struct eng_service *to)
{
    for (size_t i = 0; i < to->n_components; i++) {
        for (size_t k = 0; k < from->n_components; k++) {
            struct eng_component *was = to->components[i], *c = from->components[k];
            if (strcmp(was->name, c->name) != 0)
                continue;
            component_take_stored(c, was);
            to->components[i] = c;
            from->components[k] = was;
        }
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
    to->places = from->places; /* no request changes them */
    from->places = (struct eng_places){0};
    to->cascaded = from->cascaded;
    to->published = kept->published;
    to->is_unsynced = from->is_unsynced;
    to->backlog = from->backlog;
    from->backlog = NULL;
    backlog_remember(to, kept->forgotten);
    to->history = from->history;
    from->history = NULL;
    history_undo(to, kept->history_length);
    to->pasts = from->pasts;
    from->pasts = NULL;
    to->dirty = kept->dirty;
    to->is_wanted_dirty = kept->is_wanted_dirty;
    TAILQ_CONCAT(&to->dirty_instances, &from->dirty_instances, dirty_link);
    to->resumed = from->resumed;
    to->forced = from->forced;
    to->is_forcing = from->is_forcing;
    TAILQ_CONCAT(&to->gang, &from->gang, gang_link);
    to->put_down = from->put_down;
    to->is_putting_down = from->is_putting_down;
    to->is_finish_sent = from->is_finish_sent;
    to->resynced = from->resynced;
    to->is_resyncing = from->is_resyncing;
    TAILQ_CONCAT(&to->unpublished, &from->unpublished, unpublished_link);
    to->kill_ms = kept->kill_ms;
    to->is_lifetime_set = from->is_lifetime_set;
    to->has_runs = from->has_runs;
    to->is_loaded = from->is_loaded;
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
    if (!kept->user) {
        cluster_document_undo(e, kept->name, kept->document);
        return;
    }
    mem_auto char *key = service_key(kept->kind, kept->user, kept->name);
    struct eng_service *s = map_get(&e->services, key);
    if (s)
        services_remove(e, s);
    tickets_undo(e, kept->kind, kept->user, kept->name, kept->ticket);
    if (s && kept->text.len > 0) {
        struct eng_service *was = service_of_text(&kept->text);
        move_components(s, was);
        BUG_IF(service_link(was, NULL) != 0);
        move_rest(s, was, kept);
        services_add(e, was);
        was->change = ++e->n_changes;
        step_wake(&st, was);
    }
    service_free(s);
    step_wake_waiting(&st, kept->kind, kept->user, kept->name);
    eng_effects_move(&st.rest, out);
}

/** A new key of the service that a ticket belongs to, or NULL. */
static char *service_of_ticket(const struct engine *e, int64_t number)
{
    const struct ticket *t = tickets_find(e, number);
    return t ? service_key(t->service_kind, t->user, t->name) : NULL;
}

char *engine_service_of(const struct engine *e, const struct eng_event *ev)
{
    const struct eng_instance *inst = NULL;
    const struct eng_service *s = ev->container_id ? engine_find_container(e, ev->container_id, &inst) : NULL;
    if (s)
        return service_key(s->kind, s->user, s->name);
    if (ev->kind == EV_DOCUMENT)
        return mem_fmt(CLUSTER_DOCUMENTS "/%s", ev->name);
    if (ev->kind == EV_RECORD)
        return service_of_ticket(e, ev->ticket);
    const char *name = ev->take_spec ? ev->take_spec->name : ev->name;
    return ev->user && name ? service_key(ev->service_kind, ev->user, name) : NULL;
}

/** Registry effects that were not answered yet, by their numbers: see registry.h. */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "engine/registry.h"
#include "engine/step.h"

/** "123": the key of a ticket. */
struct number {
    char text[24];
};

static struct number text_of(int64_t number)
{
    struct number n;
    snprintf(n.text, sizeof n.text, "%lld", (long long)number);
    return n;
}

static void ticket_free(struct ticket *t)
{
    if (!t)
        return;
    free(t->user);
    free(t->name);
    free(t->container_id);
    free(t->ended_id);
    free(t);
}

void ticket_free_ptr(struct ticket **t)
{
    ticket_free(*t);
    *t = NULL;
}

void tickets_fini(struct engine *e)
{
    struct ticket *t;
    for (size_t at = 0; (t = map_take(&e->tickets, &at));)
        ticket_free(t);
}

struct eng_effect *step_registry(struct step *st, enum eng_effect_kind kind, const struct eng_service *s,
                                 const char *container_id)
{
    struct engine *e = st->e;
    struct eng_effect *effect = step_emit(st, kind, s);
    struct ticket *t = mem_new(struct ticket);
    effect->container_id = mem_str(container_id);
    effect->path = engine_record_path(s, container_id);
    effect->ticket = ++e->next_ticket;
    *t = (struct ticket){.number = effect->ticket,
                         .kind = kind,
                         .service_kind = s->kind,
                         .user = mem_str(s->user),
                         .name = mem_str(s->name),
                         .container_id = mem_str(container_id)};
    map_set(&e->tickets, text_of(t->number).text, t);
    return effect;
}

struct eng_effect *step_report_ended(struct step *st, const struct eng_service *s, const char *id)
{
    struct eng_effect *effect = step_registry(st, EFF_ENDED, s, str_starts(id, "container_") ? id : NULL);
    struct ticket *t = map_get(&st->e->tickets, text_of(effect->ticket).text);
    effect->text = mem_str(id);
    t->ended_id = mem_str(id);
    return effect;
}

const struct ticket *tickets_find(const struct engine *e, int64_t number)
{
    return map_get(&e->tickets, text_of(number).text);
}

struct ticket *tickets_take(struct engine *e, int64_t number)
{
    return map_remove(&e->tickets, text_of(number).text);
}

void tickets_undo(struct engine *e, enum eng_kind kind, const char *user, const char *name, int64_t number)
{
    for (int64_t n = number + 1; n <= e->next_ticket; n++) {
        const struct ticket *t = tickets_find(e, n);
        if (t && t->service_kind == kind && strcmp(t->user, user) == 0 && strcmp(t->name, name) == 0)
            ticket_free(tickets_take(e, n));
    }
}

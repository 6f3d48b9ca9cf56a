/**
 * How many containers services may want together, of one user, in one queue, and of one API (struct engine_quotas).
 *
 *     used: "user alice" ──► 120     "queue default" ──► 500     "launcher" ──► 40
 *
 * A service counts with what it wants while it is live; where its API has a task quota, until it is destroyed. A quota is looked at when
 * more are asked for: who is above one that was lowered keeps what he has.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/policy.h"
#include "engine/service.h"
#include "engine/step.h"

/** Containers that a service wants. */
static int64_t wanted_of(const struct spec_service *spec)
{
    int64_t n = 0;
    for (size_t i = 0; i < spec->n_components; i++)
        n += spec->components[i]->number_of_containers;
    return n;
}

/** What it counts with now. */
static int64_t counted_now(const struct eng_service *s)
{
    bool counts = policy_of(s->kind)->has_task_quota ? !s->destroying : eng_service_is_live(s);
    return counts ? wanted_of(eng_service_wanted(s)) : 0;
}

/* ---- who uses how much ---- */

enum { SCOPE_USER, SCOPE_QUEUE, SCOPE_KIND, N_SCOPES };

/** What is counted together, as a person reads it. free() */
static char *scope_name(int scope, enum eng_kind kind, const char *user, const char *queue)
{
    switch (scope) {
    case SCOPE_USER: return mem_fmt("user %s", user);
    case SCOPE_QUEUE: return mem_fmt("queue %s", queue);
    default: return mem_str(policy_of(kind)->folder);
    }
}

static int64_t used_of(const struct engine *e, const char *scope)
{
    return (int64_t)(intptr_t)map_get(&e->used, scope);
}

static void use(struct engine *e, const char *scope, int64_t by)
{
    int64_t n = used_of(e, scope) + by;
    BUG_IF(n < 0);
    if (n > 0)
        map_set(&e->used, scope, (void *)(intptr_t)n);
    else
        map_remove(&e->used, scope);
}

static const char *queue_of(const struct engine *e, const struct spec_service *spec)
{
    const char *queue = spec->queue ? spec->queue : e->cfg.queue;
    return queue ? queue : "";
}

/** Count a service with n in the queue that it was counted in, which it then is. */
static void count_with(struct engine *e, struct eng_service *s, int64_t n)
{
    const char *queue = queue_of(e, eng_service_wanted(s));
    for (int scope = 0; scope < N_SCOPES; scope++) {
        mem_auto char *before =
            scope_name(scope, s->kind, s->user, s->counted_queue ? s->counted_queue : queue);
        mem_auto char *after = scope_name(scope, s->kind, s->user, queue);
        use(e, before, -s->n_counted);
        use(e, after, n);
    }
    free(s->counted_queue);
    s->counted_queue = n > 0 ? mem_str(queue) : NULL;
    s->n_counted = n;
}

void quota_count(struct engine *e, struct eng_service *s)
{
    int64_t n = counted_now(s);
    bool is_same_queue =
        !s->counted_queue || strcmp(s->counted_queue, queue_of(e, eng_service_wanted(s))) == 0;
    if (n != s->n_counted || !is_same_queue)
        count_with(e, s, n);
}

void quota_forget(struct engine *e, struct eng_service *s)
{
    count_with(e, s, 0);
}

void quota_copy(struct engine *to, const struct engine *from)
{
    mem_auto const char **scopes = map_sorted_keys(&from->used);
    for (size_t i = 0; scopes[i]; i++)
        map_set(&to->used, scopes[i], map_get(&from->used, scopes[i]));
}

/* ---- requests ---- */

/** Most that may be wanted together; 0: any number. */
static int64_t limit_of(const struct engine *e, int scope, enum eng_kind kind)
{
    switch (scope) {
    case SCOPE_USER: return e->cfg.quotas.user;
    case SCOPE_QUEUE: return e->cfg.quotas.queue;
    default: return policy_of(kind)->has_task_quota ? e->cfg.quotas.tasks : 0;
    }
}

/** Whether a scope allows n where `before` are counted now; where a fewer number is still above the quota, only the task quota is asked. */
static bool scope_allows(struct step *st, const struct quota_ask *ask, int scope)
{
    mem_auto char *name = scope_name(scope, ask->kind, ask->user, queue_of(st->e, ask->spec));
    int64_t limit = limit_of(st->e, scope, ask->kind);
    int64_t before = ask->service ? ask->service->n_counted : 0, after = wanted_of(ask->spec);
    int64_t total = used_of(st->e, name) - before + after;
    bool is_asked = after > before || scope == SCOPE_KIND;
    if (limit == 0 || total <= limit || !is_asked)
        return true;
    struct eng_answer *a = step_answer(st, ask->token, OUT_QUOTA, ask->service);
    if (!ask->service)
        a->name = mem_str(ask->spec->name);
    a->quota = mem_str(name);
    a->n_old = limit;
    a->n_new = total;
    return false;
}

bool quota_allows(struct step *st, const struct quota_ask *ask)
{
    for (int scope = 0; scope < N_SCOPES; scope++) {
        if (!scope_allows(st, ask, scope))
            return false;
    }
    return true;
}

int64_t engine_used(const struct engine *e, const char *scope)
{
    return used_of(e, scope);
}

/** How processes ended, and which end explains a service best: see engine.h and step.h. */
#include <stdio.h>

#include "base/obj.h"
#include "engine/step.h"

/* ---- an exit ---- */

void exit_describe(const struct eng_exit *x, char *out, size_t size)
{
    const char *text = x->text ? x->text : "";
    const char *sep = x->text ? ": " : "";
    switch (x->kind) {
    case EXIT_CODE: snprintf(out, size, "exit code %lld%s%s", (long long)x->value, sep, text); break;
    case EXIT_SIGNAL: snprintf(out, size, "killed by signal %lld%s%s", (long long)x->value, sep, text); break;
    case EXIT_LAUNCH: snprintf(out, size, "could not be started%s%s", sep, text); break;
    case EXIT_STOPPED: snprintf(out, size, "stopped%s%s", sep, text); break;
    default: snprintf(out, size, "container lost%s%s", sep, text); break;
    }
}

char *eng_exit_text(const struct eng_exit *x)
{
    char text[EXIT_TEXT_MAX];
    exit_describe(x, text, sizeof text);
    return mem_str(x->text ? x->text : text);
}

const char *eng_exit_cause(const struct eng_exit *x)
{
    switch ((enum eng_exit_kind)x->kind) {
    case EXIT_CODE: return "exited";
    case EXIT_SIGNAL: return "signalled";
    case EXIT_LAUNCH: return "not_started";
    case EXIT_STOPPED: return "stopped";
    case EXIT_NONE:
    case EXIT_LOST: break;
    }
    return "lost";
}

bool exit_is_success(const struct eng_exit *x)
{
    return x->kind == EXIT_CODE && x->value == 0;
}

bool exit_is_counted(const struct eng_exit *x)
{
    return x->kind == EXIT_SIGNAL || x->kind == EXIT_LAUNCH || (x->kind == EXIT_CODE && x->value != 0);
}

bool eng_exit_is_failure(const struct eng_exit *x)
{
    return exit_is_counted(x) || x->kind == EXIT_LOST;
}

/* ---- the end that explains most ---- */

enum rank { RANK_NONE, RANK_UP_AGAIN, RANK_DOWN, RANK_FAILED };

static enum rank rank_of(const struct eng_instance *inst)
{
    if (!inst->last_exit || !eng_exit_is_failure(inst->last_exit))
        return RANK_NONE;
    if (inst->state == INST_FAILED)
        return RANK_FAILED;
    return STATE_BIT(inst->state) & STATES_UP ? RANK_UP_AGAIN : RANK_DOWN;
}

/** The instance of the highest rank, from `least` on; the latest end of those, and the first of several at once. */
static const struct eng_instance *find_failing(const struct eng_service *s, enum rank least)
{
    const struct eng_instance *best = NULL;
    enum rank best_rank = RANK_NONE;
    for (size_t i = 0; i < s->n_components; i++) {
        for (size_t k = 0; k < s->components[i]->n_instances; k++) {
            const struct eng_instance *inst = s->components[i]->instances[k];
            enum rank rank = rank_of(inst);
            bool is_later = best && inst->last_exit && inst->last_exit->ended_ms > best->last_exit->ended_ms;
            if (rank < least || rank == RANK_NONE || rank < best_rank || (rank == best_rank && !is_later))
                continue;
            best = inst;
            best_rank = rank;
        }
    }
    return best;
}

const struct eng_instance *eng_service_failing(const struct eng_service *s)
{
    return find_failing(s, RANK_DOWN);
}

void failure_forget(struct eng_service *s)
{
    fld_free(&eng_failure_type, s->failure);
    s->failure = NULL;
}

void failure_keep(struct eng_service *s)
{
    const struct eng_instance *inst = find_failing(s, RANK_UP_AGAIN);
    failure_forget(s);
    if (!inst)
        return;
    s->failure = fld_new(&eng_failure_type);
    s->failure->instance = mem_str(inst->name);
    s->failure->container_id = mem_str(inst->container_id ? inst->container_id : inst->last_container_id);
    s->failure->n_restarts = inst->n_restarts;
    s->failure->exit = fld_copy(&eng_exit_type, inst->last_exit);
}

char *failure_end_text(const struct eng_service *s, const char *what)
{
    const struct eng_instance *inst = find_failing(s, RANK_FAILED);
    if (!inst)
        return mem_str(what);
    mem_auto char *text = eng_exit_text(inst->last_exit);
    return mem_fmt("%s; %s: %s", what, inst->name, text);
}

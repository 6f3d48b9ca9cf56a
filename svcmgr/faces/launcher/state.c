/** In which state a framework and its tasks are for the FrameworkLauncher API: see view.h. */
#include "launcher/view.h"

#include "base/obj.h"

#define WORD_ROW(token) [token] = #token,

const char *launcher_state_word(enum launcher_state state)
{
    static const char *const words[] = {LAUNCHER_STATES(WORD_ROW)};
    return words[state];
}

const char *launcher_task_state_word(enum launcher_task_state state)
{
    static const char *const words[] = {LAUNCHER_TASK_STATES(WORD_ROW)};
    return words[state];
}

/* ---- frameworks ---- */

static bool has_ended(const struct eng_service *s)
{
    return s->state == SVC_SUCCEEDED || s->state == SVC_FAILED || s->state == SVC_STOPPED;
}

/** It is at the beginning of an incarnation, or of another version. */
static bool is_waiting(const struct eng_service *s, int64_t now_ms)
{
    if (s->next_spec || s->state == SVC_ACCEPTED || (s->state == SVC_SUBMITTING && !s->has_application))
        return true;
    bool runs = s->state == SVC_SUBMITTING || s->state == SVC_STARTED || s->state == SVC_STABLE;
    return runs && s->begun_ms > 0 && now_ms - s->begun_ms < LAUNCHER_WAITING_MS;
}

static bool has_running_task(const struct eng_service *s)
{
    static const enum eng_instance_state running[] = {INST_RUNNING, INST_READY, INST_DRAINING, INST_UPGRADING,
                                                      INST_RECOVERING};
    for (size_t i = 0; i < s->n_components; i++) {
        for (size_t k = 0; k < ARRAY_LEN(running); k++) {
            if (s->components[i]->n_in[running[k]] > 0)
                return true;
        }
    }
    return false;
}

enum launcher_state launcher_state_of(const struct eng_service *s, int64_t now_ms)
{
    if (is_waiting(s, now_ms))
        return FRAMEWORK_WAITING;
    if (has_ended(s))
        return FRAMEWORK_COMPLETED;
    switch (s->state) {
    case SVC_SUBMITTING: return APPLICATION_LAUNCHED;
    case SVC_FINISHING: return APPLICATION_RETRIEVING_DIAGNOSTICS;
    case SVC_BACKOFF: return APPLICATION_COMPLETED;
    default: return has_running_task(s) ? APPLICATION_RUNNING : APPLICATION_WAITING;
    }
}

bool launcher_has_tasks(enum launcher_state state)
{
    return state != FRAMEWORK_WAITING;
}

/* ---- tasks ---- */

enum launcher_task_state launcher_task_state_of(const struct eng_instance *inst, enum launcher_state of)
{
    if (of == APPLICATION_COMPLETED || of == FRAMEWORK_COMPLETED)
        return TASK_COMPLETED;
    switch (inst->state) {
    case INST_PENDING: return TASK_WAITING;
    case INST_REQUESTED: return CONTAINER_REQUESTED;
    case INST_ALLOCATED: return CONTAINER_ALLOCATED;
    case INST_LAUNCHED: return CONTAINER_LAUNCHED;
    case INST_RUNNING:
    case INST_READY:
    case INST_DRAINING:
    case INST_UPGRADING:
    case INST_RECOVERING: return CONTAINER_RUNNING;
    case INST_RELEASING: return inst->running_ms > 0 ? CONTAINER_RUNNING : CONTAINER_LAUNCHED;
    case INST_EXITED: return CONTAINER_COMPLETED;
    case INST_SUCCEEDED:
    case INST_FAILED:
    case INST_STOPPED: break;
    }
    return TASK_COMPLETED;
}

/**
 * What FrameworkLauncher shows of the engine's services: statuses of frameworks, task roles and tasks, and summaries. All members are
 * written, nulls too, in the order of the API's reference. Documents of many tasks are put together by walk.h.
 *
 * Pure. Thread: owner.   Source: framework-launcher 5.11, 6, 7, 16.
 */
#ifndef LAUNCHER_VIEW_H
#define LAUNCHER_VIEW_H

#include "engine/engine.h"
#include "json/writer.h"

/* clang-format off */
/** States of a framework; the drawing is in the reference. */
#define LAUNCHER_STATES(X) \
    X(FRAMEWORK_WAITING) \
    X(APPLICATION_CREATED) \
    X(APPLICATION_LAUNCHED) \
    X(APPLICATION_WAITING) \
    X(APPLICATION_RUNNING) \
    X(APPLICATION_RETRIEVING_DIAGNOSTICS) \
    X(APPLICATION_COMPLETED) \
    X(FRAMEWORK_COMPLETED)
/** States of a task. */
#define LAUNCHER_TASK_STATES(X) \
    X(TASK_WAITING) \
    X(CONTAINER_REQUESTED) \
    X(CONTAINER_ALLOCATED) \
    X(CONTAINER_LAUNCHED) \
    X(CONTAINER_RUNNING) \
    X(CONTAINER_COMPLETED) \
    X(TASK_COMPLETED)
/* clang-format on */

#define LAUNCHER_STATE_TOKEN(token) token,
enum launcher_state { LAUNCHER_STATES(LAUNCHER_STATE_TOKEN) };
enum launcher_task_state { LAUNCHER_TASK_STATES(LAUNCHER_STATE_TOKEN) };
#undef LAUNCHER_STATE_TOKEN

/** So long an incarnation is shown as FRAMEWORK_WAITING: who asks at once sees the status that the original makes up. */
#define LAUNCHER_WAITING_MS ENG_WAITING_MS

/** From where a status is looked at. All is borrowed. */
struct launcher_look {
    const struct engine *e;
    int64_t now_ms; /* engine time */
    /* "http://host:8088" of a resource manager that proxies applications; NULL: there is none */
    const char *rm_url;
    const char *own_url; /* "http://host:9191" of this server */
};

/** State of a framework as it is served. Thread: owner.   Source: framework-launcher 6.2, 6.3, 16. */
enum launcher_state launcher_state_of(const struct eng_service *s, int64_t now_ms);
/** Its word. Static. Thread: any. */
const char *launcher_state_word(enum launcher_state state);
/** State of a task as it is served. @param of  that of its framework   Thread: owner.   Source: framework-launcher 7.2, 7.3, 16. */
enum launcher_task_state launcher_task_state_of(const struct eng_instance *inst, enum launcher_state of);
/** Its word. Static. Thread: any. */
const char *launcher_task_state_word(enum launcher_task_state state);
/** Whether the tasks of a framework are shown: not while it waits. Thread: any.   Source: framework-launcher 1.5. */
bool launcher_has_tasks(enum launcher_state state);

/** Write a FrameworkStatus as the next value. Thread: owner.   Source: framework-launcher 6.1. */
void launcher_write_status(struct jw *w, const struct launcher_look *look, const struct eng_service *s);
/** Write a TaskRoleStatus as the next value. Thread: owner.   Source: framework-launcher 7.1. */
void launcher_write_role(struct jw *w, const struct eng_component *c);

/** What the tasks of a role have in common while they are written. Release nothing. */
struct launcher_role_look {
    const struct engine *e;    /* [borrowed] */
    enum launcher_state state; /* of the framework */
    int64_t service_version;   /* of the role's task service */
    const char *role;          /* name of the role                                   [borrowed] */
    int64_t n_tasks;           /* of these numbers, from 0 on, are its tasks */
    int64_t created_ms;        /* time of day: of those that the engine has not made yet */
    int64_t app_completed_ms;  /* time of day; 0: not yet */
};
/** That of a role. Thread: owner. */
struct launcher_role_look launcher_role_look_of(const struct launcher_look *look,
                                                const struct eng_component *c);
/** Write a TaskStatus as the next value. Thread: owner.   Source: framework-launcher 7.1, 7.3. */
void launcher_write_task(struct jw *w, const struct launcher_role_look *of, const struct eng_instance *inst);
/** The same of a task that the engine has not made yet, or not any more: it waits, or ended with its application. Thread: owner. */
void launcher_write_unmade_task(struct jw *w, const struct launcher_role_look *of, int64_t index);
/** Write a SummarizedFrameworkInfo as the next value. Thread: owner.   Source: framework-launcher 6.1. */
void launcher_write_summary(struct jw *w, const struct launcher_look *look, const struct eng_service *s);

/* ---- explanations: what a framework, its roles and tasks are called in DNS. Source: ours ---- */

/** Write the first members of a FrameworkExplanation. Thread: owner. */
void launcher_write_explained_framework(struct jw *w, const struct launcher_look *look,
                                        const struct eng_service *s);
/** Write the members of a task role before its tasks, and the key of those. Thread: owner. */
void launcher_write_explained_role(struct jw *w, const struct launcher_look *look,
                                   const struct eng_component *c);
/** Write a task as the next value. @param index  of it, also of one that the engine has not made yet. Thread: owner. */
void launcher_write_explained_task(struct jw *w, const struct launcher_role_look *of,
                                   const struct eng_component *c, size_t index);
/**
 * What waits in a framework, in the words of its API.
 *
 * @param list  of services_view_explain                                            [borrowed]
 * @return new array: lines about the framework {state, reason, wait, remedy}, and about tasks, with taskRoleName, count and the first taskIndexes.
 *         Lines that have a taskRoleName already are as they were.   Thread: owner.
 */
json_t *launcher_view_explain(const struct launcher_look *look, const struct eng_service *s,
                              const json_t *list);

/** Version of a framework as it was last put. The engine keeps the number as a text. Thread: owner. */
int64_t launcher_version_of(const struct eng_service *s);
/** Member of the descriptor that was put for a framework; NULL: it has none. [borrowed from s] Thread: owner. */
const json_t *launcher_described(const struct eng_service *s, const char *member);

#endif

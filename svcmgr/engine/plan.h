/**
 * What a request would do, without doing it: the engine itself runs on a copy of the service, in a world where everything goes well.
 *
 *     engine ──eng_plan_new──> copy of the service ──the request──> engine_step ──> effects ──answered at once──┐
 *                                (some instances a turn)                 ^                                       │
 *                                                                        └───────── time goes on for drains ─────┘
 *
 * There is no second implementation of the rules. Containers are granted, processes run and become ready, the registry and DNS
 * answer; pauses, drains and steady times pass at once, on the copy's own clock. How much room a cluster has is not looked at.
 *
 * Thread: the engine's.   Source: ours.
 */
#ifndef ENGINE_PLAN_H
#define ENGINE_PLAN_H

#include "engine/engine.h"

/* clang-format off */
/** What becomes of an instance. */
#define ENG_PLANNED(X) \
    X(PLANNED_KEEP, "keep")       /* nothing */ \
    X(PLANNED_CREATE, "create")   /* it gets a container */ \
    X(PLANNED_REINIT, "reinit")   /* another process in its container */ \
    X(PLANNED_REPLACE, "replace") /* another container */ \
    X(PLANNED_STOP, "stop")       /* its container is stopped */
/* clang-format on */

#define ENG_PLANNED_ROW(token, word) token,
enum eng_planned { ENG_PLANNED(ENG_PLANNED_ROW) };
#undef ENG_PLANNED_ROW
/** Its word. Static. Thread: any. */
const char *eng_planned_word(enum eng_planned action);

/** One instance. Texts are owned by the plan. */
struct eng_planned_step {
    char *instance, *component;
    enum eng_planned action;
    char *from, *to; /* version that it runs before, and after; NULL: it is not there then */
    char *after;     /* what must happen before: "hello-0 is READY"; NULL: nothing, or it is kept */
    int64_t drain_s; /* it serves on for so long without its record; 0: it does not */
    int64_t at_ms;   /* not earlier than so long after the request */
};

struct eng_plan;

/**
 * Begin to copy a service.
 *
 * @param e           its engine; eng_plan_copy and eng_plan_begin must be given the same one   [borrowed]
 * @param user, name  the service; it need not exist                               [copied]
 * @return free with eng_plan_free.
 */
struct eng_plan *eng_plan_new(const struct engine *e, enum eng_kind kind, const char *user, const char *name);
/**
 * Copy some more instances. When the service has changed meanwhile the copy begins anew.
 *
 * @param n  so many at most
 * @return 0: there are more; 1: all are copied, and eng_plan_begin may follow in this turn; 2: it begins anew, and may wait a little;
 * ERR_UNAVAILABLE: the service has changed 200 times.
 */
int eng_plan_copy(struct eng_plan *p, const struct engine *e, size_t n);
/** Hand the request to the copy. ev->take_spec is consumed. now: as for engine_step. */
void eng_plan_begin(struct eng_plan *p, const struct engine *e, const struct eng_event *ev,
                    struct eng_time now);
/** Take some more steps. @param n  so many at most @return true: it is done. */
bool eng_plan_run(struct eng_plan *p, size_t n);
/** Free; NULL is fine. */
void eng_plan_free(struct eng_plan *p);

/* ---- of one that is done; all borrowed ---- */

/** The answer to the request. Its outcome says whether the rest is of use: a request that is refused changes nothing. */
const struct eng_answer *eng_plan_answer(const struct eng_plan *p);
/** The instances: those that something becomes of in that order, then those that are kept. */
const struct eng_planned_step *const *eng_plan_steps(const struct eng_plan *p, size_t *n);
/** The service as it would be; NULL: it would be gone. */
const struct eng_service *eng_plan_service(const struct eng_plan *p);
/** Version before; NULL: there was no service. */
const char *eng_plan_version_before(const struct eng_plan *p);
/** false: it was given up before everything had come to rest; there may be more steps. */
bool eng_plan_is_whole(const struct eng_plan *p);

#endif

/**
 * What happens to the registry when an application, an attempt or a container ends, and when an application comes.
 *
 *     RM poller ──┐
 *     REST events ┴──► event ──► requests: purges and homes, 8 at a time ──► report: what the first try did
 *                                  └── failed for now ──► again after 1, 2, 4 … 60 s, 10 tries
 *
 * Thread: owner.   Source: Hadoop's RMRegistryOperationsService.
 */
#ifndef CLEANUP_CLEANUP_H
#define CLEANUP_CLEANUP_H

#include "cleanup/purge.h"
#include "run/metrics.h"
#include "cleanup/users.h"

struct cleanup;

/** Events: id, name in REST, what `id` is, what is done. */
#define CLEANUP_EVENTS(X)                                                                                    \
    X(CLEANUP_APP_STORED, "application-stored", "user", "homes of the user are made")                        \
    X(CLEANUP_APP_COMPLETED, "application-completed", "application",                                         \
      "records of the application with persistence application are purged")                                  \
    X(CLEANUP_ATTEMPT_ENDED, "attempt-unregistered", "attempt",                                              \
      "records of the attempt with persistence application-attempt are purged")                              \
    X(CLEANUP_AM_ENDED, "am-container-finished", "container",                                                \
      "as container-finished, and as attempt-unregistered for the container's attempt")                      \
    X(CLEANUP_CONTAINER_ENDED, "container-finished", "container",                                            \
      "records of the container with persistence container are purged")                                      \
    X(CLEANUP_APP_LAUNCHED, "application-launched", "application", "nothing")                                \
    X(CLEANUP_AM_REGISTERED, "am-registered", "attempt", "nothing")                                          \
    X(CLEANUP_ATTEMPT_REGISTERED, "attempt-registered", "attempt", "nothing")                                \
    X(CLEANUP_ATTEMPT_ADDED, "attempt-added", "attempt", "nothing")

enum cleanup_kind {
#define CLEANUP_EVENT_ENUM(id, ...) id,
    CLEANUP_EVENTS(CLEANUP_EVENT_ENUM)
#undef CLEANUP_EVENT_ENUM
        CLEANUP_N_KINDS
};

struct cleanup_event {
    enum cleanup_kind kind;
    /** Id of what the event is about; for CLEANUP_APP_STORED the user, "" being the one whose home is /services. */
    const char *subject;
    const char *reason; /* for the log */
    bool dry_run;       /* log what would be purged; no homes */
};

/** Event of a REST name, with the member that names its subject ("user", "application", …). @return 0; ERR_INVALID. */
int cleanup_kind_read(const char *name, enum cleanup_kind *out, const char **subject, struct err_info *why);

/** REST name of an event. Static. */
const char *cleanup_kind_name(enum cleanup_kind kind);

/** What the first try of an event did. Borrowed. */
struct cleanup_outcome {
    int64_t n_purged; /* delete operations */
    bool home_made;
    int64_t zxid;     /* of the last change; 0: none */
    bool is_retrying; /* something failed for now (err, why) and is tried again */
    struct err_info why;
};
#define CLEANUP_DONE void (*done)(void *arg, int err, const struct cleanup_outcome *o)

struct cleanup_def {
    struct run_loop *loop;
    struct index *index;
    struct reg_store *ops;
    enum reg_names names;
    struct metrics *metrics;
};

struct cleanup *cleanup_new(const struct cleanup_def *def);
/** Start nothing more: what runs completes, with ERR_CANCELLED; what waits for another try is dropped. Before the store
 *  is closed. */
void cleanup_stop(struct cleanup *c);
/** Let go, after cleanup_stop; the last thing that still runs frees it. NULL is fine. */
void cleanup_free(struct cleanup *c);

/** Do what an event asks for. done (may be NULL) is called exactly once, later: 0; ERR_INVALID (subject empty, or no id
 *  of its kind); errors of purge and users_make. */
void cleanup_event(struct cleanup *c, const struct cleanup_event *event, CLEANUP_DONE, void *arg);
/** purge(), counted in the metrics. Not tried again. */
void cleanup_purge(struct cleanup *c, const struct purge_def *def, PURGE_DONE, void *arg);
/** users_make(), counted in the metrics. Not tried again. */
void cleanup_homes(struct cleanup *c, const char *user, USERS_DONE, void *arg);
/** Purges that wait, for their turn or for another try. */
size_t cleanup_n_waiting(const struct cleanup *c);

#endif

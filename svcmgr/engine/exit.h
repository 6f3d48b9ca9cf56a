/**
 * Typed exits: by whose doing a process, its container or its application ended, why, and what the system said.
 *
 * Every cluster reports its ends in these causes, every policy decides by them, and every face turns them into codes of its own:
 * `raw` is only for display and for those codes. A cause that a cluster cannot know from others is the nearest wider one
 * (a container that vanished is `lost`), and `unknown` stays for what fits none.
 *
 * Thread: any.   Source: design 5; YARN's ContainerExitStatus; FrameworkLauncher exit codes -7100 … -7400.
 */
#ifndef ENGINE_EXIT_H
#define ENGINE_EXIT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* clang-format off */
/** By whose doing: token, word. */
#define ENG_EXIT_ORIGINS(X)         \
    X(ORIGIN_PROCESS,   "process")   \
    X(ORIGIN_CONTAINER, "container") \
    X(ORIGIN_CLUSTER,   "cluster")   \
    X(ORIGIN_US,        "us")

/** Why: token, word, usual origin, what a person reads where the cluster gave no text. */
#define ENG_EXIT_CAUSES(X)                                                                                                 \
    X(CAUSE_UNKNOWN,           "unknown",           ORIGIN_CLUSTER,   "ended, nobody knows how")                           \
    X(CAUSE_EXITED,            "exited",            ORIGIN_PROCESS,   "exit code")        /* raw: 0..255           */       \
    X(CAUSE_SIGNALLED,         "signalled",         ORIGIN_PROCESS,   "killed by signal") /* raw: number           */       \
    X(CAUSE_LAUNCH,            "launch",            ORIGIN_CONTAINER, "could not be started")                              \
    X(CAUSE_SOURCE,            "source",            ORIGIN_CONTAINER, "a source of its task is missing or ambiguous")      \
    X(CAUSE_MEMORY_VIRTUAL,    "memory_virtual",    ORIGIN_CONTAINER, "exceeded its limit of virtual memory")              \
    X(CAUSE_MEMORY_PHYSICAL,   "memory_physical",   ORIGIN_CONTAINER, "exceeded its limit of memory")                      \
    X(CAUSE_DISK,              "disk",              ORIGIN_CLUSTER,   "the disks of the node have failed")                 \
    X(CAUSE_PREEMPTED,         "preempted",         ORIGIN_CLUSTER,   "preempted")                                         \
    X(CAUSE_LOST,              "lost",              ORIGIN_CLUSTER,   "container lost")                                    \
    X(CAUSE_ABORTED,           "aborted",           ORIGIN_CLUSTER,   "aborted by the cluster")                            \
    X(CAUSE_STOPPED,           "stopped",           ORIGIN_US,        "stopped")                                           \
    X(CAUSE_MIGRATED,          "migrated",          ORIGIN_US,        "migrated by request")                               \
    X(CAUSE_EXPIRED,           "expired",           ORIGIN_CLUSTER,   "expired, as it was not used in time")               \
    X(CAUSE_PORT_CONFLICT,     "port_conflict",     ORIGIN_CONTAINER, "a port is in use")                                  \
    X(CAUSE_RESYNC,            "resync",            ORIGIN_CLUSTER,   "not known any more after a resync")                 \
    X(CAUSE_GANG_TIMEOUT,      "gang_timeout",      ORIGIN_US,        "not every instance got a container in time")        \
    X(CAUSE_APPLICATION_ENDED, "application_ended", ORIGIN_CLUSTER,   "its application has ended")                         \
    X(CAUSE_SUBMISSION_FAILED, "submission_failed", ORIGIN_CLUSTER,   "the application could not be submitted")
/* clang-format on */

#define ENG_EXIT_TOKEN(token, ...) token,
enum eng_exit_origin { ENG_EXIT_ORIGINS(ENG_EXIT_TOKEN) };
enum eng_exit_cause { ENG_EXIT_CAUSES(ENG_EXIT_TOKEN) N_EXIT_CAUSES };
#undef ENG_EXIT_TOKEN

/** How something ended. The texts may be NULL; who reports it bounds them: they are stored. */
struct eng_exit {
    enum eng_exit_origin origin;
    enum eng_exit_cause cause;
    /* EXITED: exit code 0..255; SIGNALLED: signal; LAUNCH, SOURCE: errno or ERR_*; else the cluster's number, or 0 */
    int64_t raw;
    char *text;        /* a sentence of the cluster's */
    int64_t ended_ms;  /* time of day; in an event 0: that of the event */
    char *last_stderr; /* last lines of standard error, UTF-8; NULL: none are known */
};

/** An exit of the usual origin of its cause; text is borrowed, no time. Thread: any.   Source: ours. */
struct eng_exit eng_exit_of(enum eng_exit_cause cause, int64_t raw, const char *text);
/** Word of an origin: "process", … Static. Thread: any.   Source: ours. */
const char *eng_exit_origin_word(enum eng_exit_origin origin);
/** Word of a cause: "exited", … Static. Thread: any.   Source: ours. */
const char *eng_exit_cause_word(enum eng_exit_cause cause);
/** For a person: the cluster's sentence, else "exit code 3". free() Thread: any.   Source: ours. */
char *eng_exit_text(const struct eng_exit *x);
/** The process ended by itself with code 0. Thread: any.   Source: ours. */
bool eng_exit_is_success(const struct eng_exit *x);
/** Neither a success nor a stop of ours: something that explains why an instance does not run. Thread: any.   Source: ours. */
bool eng_exit_is_failure(const struct eng_exit *x);
/** Whose fault an end is. */
enum eng_blame {
    BLAME_NOBODY,  /* it is nobody's fault */
    BLAME_PROCESS, /* of the process, or of its start */
    BLAME_LIMITS,  /* it has used more than it was given */
    BLAME_CLUSTER, /* the cluster took the container for another */
    BLAME_NODE     /* of the node */
};
/** Whose fault an end is. Thread: any.   Source: slider-am 7.3. */
enum eng_blame eng_exit_blame(const struct eng_exit *x);
/** The container is gone with its process: nothing can be started in it again. Thread: any.   Source: YARN's ContainerExitStatus. */
bool eng_exit_took_container(enum eng_exit_cause cause);
/**
 * Turn an exit of a document of format 1, {"kind","value",…}, into one of today; another one is left alone.
 *
 * @param exit  object of an exit, or NULL                                           [in,out]
 * Thread: any.   Source: ours.
 */
void eng_exit_upgrade(json_t *exit);

#endif

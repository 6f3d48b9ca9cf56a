/**
 * An application as it is submitted to YARN: its tag, its times, and the message that describes it.
 *
 * The tag is what an application is found by again: it follows from whose service it is and from the incarnation, so a submission whose
 * answer was lost, also over a restart, is found and not repeated.
 *
 * Pure. Thread: any.   Source: Hadoop, ApplicationSubmissionContext, RMAppManager, Times; ours.
 */
#ifndef SUBMIT_APPLICATION_H
#define SUBMIT_APPLICATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"
#include "protocols.pb-c.h"
#include "submit/am_context.h"

/** Most tags of an application, and of one the most characters. Source: YarnConfiguration, APPLICATION_MAX_TAGS, …TAG_LENGTH. */
#define SUBMIT_MAX_TAGS 10
#define SUBMIT_TAG_MAX  100
/** Room for a tag of ours, with its NUL; for a time, likewise. */
#define SUBMIT_TAG_ROOM  48
#define SUBMIT_TIME_ROOM 64

/** Whose application it is. */
struct submit_key {
    const char *state; /* the store that the service is in: another one has other services */
    const char *kind, *user, *name;
    int64_t incarnation;
};

/** Which log files YARN collects: regular expressions; NULL: its default. The rolled ones while the application runs. */
struct submit_logs {
    const char *include, *exclude, *rolled_include, *rolled_exclude;
};

struct submit_def {
    const char *user;        /* owner of the application; the RM believes it                  */
    const char *tag;         /* submit_tag                                                    */
    const char *name;        /* of the application                                            */
    const char *type;        /* "yarn-service"; YARN keeps 20 characters                      */
    const char *queue;       /* leaf name or path                                             */
    const char *label;       /* node label of its containers; NULL: the queue's               */
    const char *const *tags; /* n_tags further ones, in any case; see submit_name_tag         */
    size_t n_tags;
    int64_t lifetime_s; /* 0: none */
    int64_t memory_mb;  /* of the master */
    int32_t vcores;     /* of the master */
    int32_t max_attempts;
    int64_t validity_ms; /* older failures of the master do not count; -1: all do */
    bool keep_containers;
    struct submit_logs logs;
    struct submit_launch launch;
};

/** Write the tag of an incarnation: "bobbin:" and 32 hexadecimal digits, the same in every process. @param out [out] @return out. */
const char *submit_tag(const struct submit_key *key, char out[SUBMIT_TAG_ROOM]);
/**
 * Write the point of time at which a lifetime ends, as updateApplicationTimeouts reads it: 2026-01-02T03:04:05.678+0000.
 *
 * @param wall_ms  since 1970, on the clock of this host: a difference to the RM's shifts the end by as much
 * @param out      [out]
 * @return 0; or ERR_INVALID: beyond the year 9999, or not after 1970.
 */
int submit_expiry(int64_t wall_ms, char out[SUBMIT_TIME_ROOM]);
/**
 * Make the message; application_id is left to the caller.
 *
 * @param a    everything lives in it                                            [in,out]
 * @param def  copied
 * @param out  the message                                                       [out]
 * @param why  filled on error, where is the member; may be NULL                 [out]
 * @return 0; or ERR_INVALID: a tag, a command, a variable or a resource that YARN would refuse or a shell misread.
 */
int submit_message(struct arena *a, const struct submit_def *def, Yarn__SubmissionContext **out,
                   struct err_info *why);
/**
 * Whether a failure of a call is the RM's last word: the same request would fail again.
 *
 * ERR_AUTH is none: it says how the cluster is set up, and an administrator may change that.
 */
bool submit_is_refusal(int code);

#endif

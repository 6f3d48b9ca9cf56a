/**
 * What the resource manager says of an application, for the engine.
 *
 * Pure. Thread: any.   Source: Hadoop, ApplicationReport, RMServerUtils, SchedulerApplicationAttempt; ours.
 */
#ifndef SUBMIT_REPORT_H
#define SUBMIT_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "protocols.pb-c.h"
#include "yarn/ids.h"

/** In the order of an application's life. */
enum submit_state {
    SUBMIT_NEW,      /* the RM has it, and may forget it (NEW, NEW_SAVING) */
    SUBMIT_ACCEPTED, /* it waits for its master                            */
    SUBMIT_RUNNING,  /* its master has registered                          */
    SUBMIT_FINISHED, /* its master has unregistered                        */
    SUBMIT_FAILED,
    SUBMIT_KILLED,
    SUBMIT_UNKNOWN /* the RM does not know it, or not any more */
};

/** Of YARN: FinalApplicationStatus. */
enum submit_final { SUBMIT_UNDEFINED, SUBMIT_SUCCEEDED, SUBMIT_HAS_FAILED, SUBMIT_WAS_KILLED, SUBMIT_ENDED };

/** An application; its strings are owned, "" in place of none. */
struct submit_report {
    struct yarn_app_id id;
    enum submit_state state;
    enum submit_final final;
    bool has_ended;     /* nothing of its master runs any more, by the RM */
    int32_t attempt;    /* of the master; 0: none yet, or it is not ours to see */
    char *queue;        /* path                                                 */
    char *diagnostics;  /* while ACCEPTED what it waits for; see submit_reason   */
    char *tracking_url; /* through the proxy                                    */
    char *own_url;      /* what the master has registered                       */
};

/** The word of a state, as the RM writes it; UNKNOWN. Static. */
const char *submit_state_word(enum submit_state state);
/**
 * Read a report. has_ended of a FINISHED one stays false: only its attempt says it.
 *
 * @param m    NULL: it has none                                                 [borrowed]
 * @param out  released before; submit_report_fini releases it                   [out]
 * @return 0; or ERR_PARSE: without an id or a state. *out is unchanged.
 */
int submit_report_read(const Yarn__ApplicationReport *m, struct submit_report *out);
/** Release; empty and usable again. */
void submit_report_fini(struct submit_report *r);
/** Whether they say the same. */
bool submit_report_equal(const struct submit_report *a, const struct submit_report *b);
/** Whether it failed, and the container of its last attempt never was launched: its files could not be fetched. Source: Hadoop,
 *  RMAppAttemptImpl, ContainerExitStatus.INVALID. */
bool submit_report_is_unfetched(const struct submit_report *r);
/** Whether the last attempt of a list has ended; true when there is none. @param m  of a FINISHED application [borrowed] */
bool submit_attempts_ended(const Yarn__Attempts *m);
/**
 * What a person needs of the RM's diagnostics: without the date before and the figures behind, one line, at most 500 octets.
 *
 *     [Tue Nov 24 17:00:00 +0000 2026] Application is added to the scheduler and is not yet activated. Queue's AM resource limit
 *     exceeded.  Details : AM Partition = …
 *
 * @param text  NULL: none                                                       [borrowed]
 * @return new text, free(); "" for the RM's "N/A".
 */
char *submit_reason(const char *text);

#endif

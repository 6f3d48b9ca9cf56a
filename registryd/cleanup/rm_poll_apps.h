/**
 * The applications that records belong to, and what the resource manager has said about them: who is asked about next,
 * and what may be purged.
 *
 *   index ──► cursor ─┐                      ┌─ alive, nothing to watch ──► forgotten
 *   finished list ────┴► queue ──► batch ──► ┼─ alive, attempts or containers have records ──► queue
 *                          ▲                 ├─ over, seen the first time ──► queue
 *                          └─────────────────┴─ over, twice in a row ──► reported; forgotten
 *
 * Nothing is reported before two polls in a row have said the same, each of them consistent (the same ACTIVE RM before and
 * after it). An answer that did not come counts as "alive". An attempt has ended when the RM says so, or when it is older
 * than all the RM still knows; a container when the live list of a running application lacks it.
 *
 * Thread: owner.   Source: ours: rules for safe deletion.
 */
#ifndef CLEANUP_RM_POLL_APPS_H
#define CLEANUP_RM_POLL_APPS_H

#include "cleanup/cleanup.h"
#include "index/index.h"
#include "cleanup/rm_nodes.h"
#include "cleanup/rm_poll_read.h"

struct rm_apps;
struct rm_app;

/** What one poll says about an application. */
enum rm_view {
    RM_VIEW_NONE,    /* no answer, or none that can be used */
    RM_VIEW_ALIVE,   /* it is not over */
    RM_VIEW_ENDING,  /* it is not over yet, and is to be asked about until it is */
    RM_VIEW_ENDED,   /* its internal state is a final one */
    RM_VIEW_UNKNOWN, /* the RM does not know it any more, and has issued it: rm_issued.h */
    RM_VIEW_FOREIGN  /* the RM does not know it, and somebody else may have issued it */
};

/** Called for what has ended and may be purged. subject, reason: borrowed. */
#define RM_APPS_ENDED                                                                                        \
    void (*ended)(void *arg, enum cleanup_kind kind, const char *subject, const char *reason)

/** Nothing is known yet. Free with rm_apps_free. @param ix knows which applications have records [borrowed, lives on] */
struct rm_apps *rm_apps_new(const struct index *ix);
/** Free; NULL is fine. */
void rm_apps_free(struct rm_apps *apps);
/** Everything is to be asked about anew, and nothing of what was said before counts: another RM, or another start of it. On which
 *  node a container was is still known. */
void rm_apps_restart(struct rm_apps *apps);
/** All are to be asked about once more; what was said before counts, and a round under way is brought to its end first. */
void rm_apps_ask_all(struct rm_apps *apps);
/** An application should be asked about in the next poll; one without records is passed over. */
void rm_apps_expedite(struct rm_apps *apps, const char *id);
/** Fill the batch of a poll with up to max applications. @return how many. */
size_t rm_apps_begin(struct rm_apps *apps, size_t max);
/** Next one of the batch that nobody has taken yet; NULL: none. Valid until commit or discard. */
struct rm_app *rm_apps_take(struct rm_apps *apps);
/** Every poll ends with one of these two. Count what was seen, and report what may be purged. */
void rm_apps_commit(struct rm_apps *apps, RM_APPS_ENDED, void *arg);
/** Forget what was seen; whatever was counted before begins anew too. */
void rm_apps_discard(struct rm_apps *apps);
/** Applications that are being asked about or wait for it. */
size_t rm_apps_n_watched(const struct rm_apps *apps);

/** "application_…". */
const char *rm_app_id(const struct rm_app *app);
/** Whether records have this persistence. */
bool rm_app_has(const struct rm_apps *apps, const struct rm_app *app, enum index_persistence persistence);
/** What the RM says of it; state: its word, for the log. */
void rm_app_saw(struct rm_app *app, enum rm_view view, const char *state);
/** The attempts that the RM lists. */
void rm_app_saw_attempts(struct rm_apps *apps, struct rm_app *app, const struct rm_attempts *attempts);
/** Whether the list of living containers could say of any with a record that it has ended, or on which node it is, which lets a later
 *  list say so. */
bool rm_app_wants_containers(const struct rm_apps *apps, const struct rm_app *app,
                             const struct rm_nodes *nodes);
/** The containers that live, to the ids of their nodes ("": not known): those with a record and not among them have ended, where
 *  their node lets us say so. */
void rm_app_saw_containers(struct rm_apps *apps, struct rm_app *app, const struct map *live,
                           const struct rm_nodes *nodes);

#endif

/**
 * The manager's side of YARN applications: submit one for a service, follow it, kill it, set its lifetime.
 *
 *     start   LOOK ──not there──> NEW ID ──> SUBMIT ──> CONFIRM ──> done
 *               └──there: it is adopted ───────────────────────────> done
 *
 * An application is looked for by its tag before it is submitted (application.h), so starting again after a lost answer or a restart makes
 * no second one; one that has ended counts, too. CONFIRM repeats the same submission as long as the RM does not know the id: it may have
 * failed over before it had saved it.
 *
 * What cannot be done now is tried again, after 200 ms and then less often, to 5 s: an operation ends by an answer of the RM, or when it is
 * cancelled. The reach callback hears of each server that is reached or not, for outages.
 *
 * Without Kerberos the RM believes the name in a connection, so each user has a link of his own; the connection is closed when it is
 * idle, and of the links without operations the one that was used last longest ago is closed when there are more than max_links.
 *
 * Thread: owner for everything.   Source: Hadoop, YarnClientImpl; ours.
 */
#ifndef SUBMIT_MANAGER_H
#define SUBMIT_MANAGER_H

#include "run/loop.h"
#include "submit/application.h"
#include "submit/report.h"
#include "yarn/link.h"

struct submit;
struct submit_op; /* an operation, or something watched */

struct submit_config {
    const struct yarn_addresses *addresses; /* of the resource managers; copied             */
    /** Between two reports of an application that runs: 1000 or more; longer when there are many (10 ms each). */
    int64_t report_ms;
    size_t max_links; /* users at a time; 1 or more                                          */
    /** A server was reached (why NULL), or was not. NULL: nobody asks. */
    void (*reach)(void *arg, const char *server, const struct err_info *why);
    void *reach_arg;
};

/** @param out  submit_close frees it [out] @param why filled on error [out] @return 0; ERR_INVALID: no address. */
int submit_open(struct run_loop *loop, const struct submit_config *config, struct submit **out,
                struct err_info *why);
/** Cancel every operation (ERR_CANCELLED) and forget what is watched before this returns; then, on a later turn, closed(arg). */
void submit_close(struct submit *s, void (*closed)(void *arg), void *arg);

/** How an operation has ended. Borrowed until done returns. */
struct submit_result {
    int err;                      /* 0 or ERR_*                                             */
    const struct err_info *why;   /* of err; its text is the RM's                           */
    const struct yarn_app_id *id; /* NULL: none is known                                    */
    bool is_new;                  /* submit_start: it was submitted, and not adopted        */
};
typedef void submit_done(void *arg, const struct submit_result *result);

/**
 * Submit an application, or adopt the one with its tag.
 *
 * @param def   copied
 * @param done  called once, never inside this call: 0 with an id; ERR_INVALID, ERR_PERMISSION, ERR_TOOBIG, ERR_UNSUPPORTED, ERR_CONFLICT: the RM
 *              refuses it for good (with an id: it has taken the application and ended it at once, as for a queue that it does not have);
 *              ERR_CANCELLED
 * @param out   for submit_cancel, until done                                    [out]
 * @param why   filled on error; may be NULL                                     [out]
 * @return 0; or ERR_INVALID as submit_message: done is not called.
 */
int submit_start(struct submit *s, const struct submit_def *def, submit_done *done, void *arg,
                 struct submit_op **out, struct err_info *why);

/** An application, by its id or else by its tag. */
struct submit_target {
    const char *user;
    const char *tag;              /* used where id is NULL */
    const struct yarn_app_id *id; /* NULL: it is looked for */
};
/**
 * Kill an application, repeatedly until the RM has done it. A submission of the same tag that is under way ends first, with ERR_CANCELLED
 * unless it has succeeded already. That a master has ended is only known by watching.
 *
 * @param target       copied
 * @param diagnostics  reason, for people                                        [copied]
 * @param done         called once, never inside this call: 0: it is killed, or had ended, or there is none; ERR_PERMISSION …: refused;
 *                     ERR_CANCELLED
 * @return for submit_cancel, until done.
 */
struct submit_op *submit_kill(struct submit *s, const struct submit_target *target, const char *diagnostics,
                              submit_done *done, void *arg);
/**
 * Have YARN kill an application so many seconds from now; no effect on one that has ended.
 *
 * @param target      with an id                                                 [copied]
 * @param lifetime_s  1 or more; the point of time stays when the call is repeated
 * @param done        called once, never inside this call: 0; ERR_NOTFOUND: the RM does not know it; ERR_INVALID …: refused; ERR_CANCELLED
 * @return for submit_cancel, until done.
 */
struct submit_op *submit_set_lifetime(struct submit *s, const struct submit_target *target,
                                      int64_t lifetime_s, submit_done *done, void *arg);
/** Move an application to another queue. As submit_set_lifetime. @param queue  leaf name or path [copied] */
struct submit_op *submit_move(struct submit *s, const struct submit_target *target, const char *queue,
                              submit_done *done, void *arg);

/**
 * Follow an application. It is asked for quickly (200 ms, doubling up to report_ms) until its master runs and at its end.
 *
 * @param target   with an id                                                    [copied]
 * @param changed  called when anything has changed, never inside this call; the first time with the first report. Nothing more comes
 *                 after has_ended. state is UNKNOWN, and has_ended true, when an active RM has twice, 1 s apart, not known it. May cancel it.
 *                                                                               report: [borrowed until it returns]
 * @return for submit_cancel, which ends it.
 */
struct submit_op *submit_watch(struct submit *s, const struct submit_target *target,
                               void (*changed)(void *arg, const struct submit_report *report), void *arg);
/** End an operation without its callback; what it has sent may be done all the same. */
void submit_cancel(struct submit_op *op);
/** Why an operation waits: the last failure, or "". Borrowed. */
const char *submit_waits_for(const struct submit_op *op);

#endif

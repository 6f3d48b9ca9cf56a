/**
 * The applications of YARN that a manager has, one for each service that was handed to YARN: submitted, watched, killed. Only app*.c include
 * this.
 *
 *     EFF_SUBMIT ──> the master's files are in HDFS, or served ──> submit_start ──> EV_SUBMITTED, watched from now on
 *                └─ the program is not packed yet: deferred until it is
 *     report ──> EV_APP_WAITS; nothing of it runs any more ──> its files have gone ──> it has ended, until the manager has taken its service back
 *
 * An application is of one incarnation; an earlier incarnation's is forgotten when the next one is named.
 *
 * Thread: owner loop for everything.   Source: ours.
 */
#ifndef SVCMGR_APP_APPLICATIONS_H
#define SVCMGR_APP_APPLICATIONS_H

#include "engine/engine.h"
#include "submit/files.h"
#include "submit/manager.h"
#include "submit/package.h"

struct app;
struct applications;
struct application;

/**
 * None yet.
 *
 * @param a    its engine, options and queue are used                            [borrowed, outlives them]
 * @param dir  of the archives of the program and of the secret that the paths of configurations follow from; exists [borrowed]
 * @param out  for applications_close                                            [out]
 * @param why  filled on error                                                   [out]
 * @return 0; ERR_CONFIG: the options name no resource manager; ERR_IO: the secret cannot be read or made
 */
int applications_open(struct app *a, const char *dir, struct applications **out, struct err_info *why);
/** Forget all, then, on a later turn, closed(arg). No answer of applications_files is on its way any more. */
void applications_close(struct applications *all, void (*closed)(void *arg), void *arg);
/** What node managers fetch. [borrowed] */
struct submit_files *applications_files(struct applications *all);
/** The program is packed: submit what was deferred. @param take_package  emptied [in,out] */
void applications_packed(struct applications *all, struct submit_package *take_package);

/** Carry out EFF_SUBMIT; nothing when that is under way or done. A refusal is an EV_SUBMITTED with its code. */
void applications_submit(struct applications *all, const struct eng_effect *e);
/** Carry out EFF_FINISH: kill it, if there is one. applications_ended has it later. */
void applications_finish(struct applications *all, const struct eng_effect *e);
/** Carry out EFF_SET_LIFETIME; nothing when no id is known. */
void applications_set_lifetime(struct applications *all, const struct eng_effect *e);
/** Watch the application of a service that was loaded, and serve its master's configuration again where that is not in HDFS. @param s  has an app_id [borrowed] */
void applications_resume(struct applications *all, const struct eng_service *s);

/** How many have ended and were not forgotten. */
size_t applications_n_ended(const struct applications *all);
/** One of them, or NULL. [borrowed until applications_forget, or until its service has another incarnation] */
struct application *applications_ended(const struct applications *all);
/** EV_APP_ENDED of one that has ended. [borrows from it] */
struct eng_event applications_end_of(const struct application *m);
/** Its end is dealt with. Freed. */
void applications_forget(struct application *take_m);

/**
 * How an application has ended, in the engine's words.
 *
 * @param r  has_ended                                                           [borrowed]
 * @return text owned: free()
 * Thread: any.
 */
struct eng_exit applications_exit(const struct submit_report *r);
/**
 * A key of a service: the service's own property, else the site's, else a default. An empty text is as none.
 *
 * @param properties  of the service, or NULL                                    [borrowed]
 * @param site        of svcmgr's configuration, or NULL                         [borrowed]
 * @param otherwise   or NULL
 * @return one of the three. Thread: any.
 */
const char *applications_property(const json_t *properties, const char *site, const char *key,
                                  const char *otherwise);
/** The same as a number, -1..INT32_MAX; what is none counts as otherwise, which is one. Thread: any. */
int64_t applications_number(const json_t *properties, const char *site, const char *key,
                            const char *otherwise);

#endif

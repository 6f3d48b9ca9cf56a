/**
 * Where files of applications of YARN are: in HDFS where yarn.service.base.path is there, else served by HTTP. Only app*.c include this.
 *
 *     BASE/bobbin-SERVICE/am-HASH.tar.gz, yarn-site-HASH.xml       of the manager, see submit/stage.h
 *     BASE/bobbin-SERVICE/SECRET/0, 1, …                           of its master, for containers: see cluster/yarn_context.h
 *
 * SERVICE is a hash of the state store, kind, user and name: a base path may be of several users. The directory goes when the application
 * has ended.
 *
 * Thread: owner for everything.   Source: YARN services API 4.9, 10; ours.
 */
#ifndef SVCMGR_APP_FILES_H
#define SVCMGR_APP_FILES_H

#include "engine/engine.h"
#include "submit/stage.h"

struct app;
struct fs_call;
struct options;
struct opt_report;

/**
 * Directory of a service's application.
 *
 * @param user, name  of the service                                                 [borrowed]
 * @return URI of HDFS, free(); NULL: there is no HDFS.
 */
char *app_files_directory(const struct app *a, enum eng_kind kind, const char *user, const char *name);
/** Report a base path in HDFS whose NameNode the configuration does not name. @param o  of a cluster of YARN [borrowed] */
void app_files_check(const struct options *o, struct opt_report *report);
/**
 * Delete a directory with all in it, once: what cannot be deleted now is logged, and stays.
 *
 * @param directory  of app_files_directory                                          [borrowed for the call]
 * @param user       whose it is                                                     [borrowed for the call]
 * @param done       called once, never inside this call, also when it is cancelled
 * @return for fs_cancel, until done; NULL: it cannot be begun, which is logged, and done is not called.
 */
struct fs_call *app_files_remove(struct app *a, const char *directory, const char *user,
                                 void (*done)(void *arg, int err, const struct fs_status *status,
                                              const struct err_info *why),
                                 void *arg);

#endif

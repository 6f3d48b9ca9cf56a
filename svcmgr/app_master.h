/**
 * svcmgr as the application master of one service: `svcmgr am`, in a container of YARN. Only app*.c and main.c include this;
 * app_master.c has the picture.
 *
 * Thread: owner loop for everything.   Source: ours.
 */
#ifndef SVCMGR_APP_MASTER_H
#define SVCMGR_APP_MASTER_H

#include "base/buf.h"
#include "cluster/cluster.h"
#include "engine/engine.h"
#include "http/server.h"
#include "run/daemon.h"

struct app;
struct app_master;

/** Append the configuration that a service's master is started with. @return 0; ERR_INVALID with *why (may be NULL) */
int app_master_site(const struct app *a, const struct eng_service *s, struct buf *out, struct err_info *why);
/** The start table of `svcmgr am`. */
extern const struct daemon_def app_master_daemon;

/** What the environment of the container says: who we are, and our token. @return 0; ERR_CONFIG with *why filled */
int app_master_begin(struct app *a, struct err_info *why);
/** Release. */
void app_master_end(struct app *a);
/** Open a->state for our service. @return as state_open_service */
int app_master_open_state(struct app *a, struct err_info *why);
/** Open a->cluster. @return 0 or ERR_* */
int app_master_open_cluster(struct app *a, struct err_info *why);
/** The state is loaded: follow what is wanted. */
void app_master_follow(struct app *a);
/** Carry out EFF_FINISH: unregister, then end. */
void app_master_finish(struct app *a, const struct eng_effect *e);
/** cluster_ops.over: another attempt runs the application, or it has ended. */
void app_master_over(struct app *a, const struct err_info *why);
/** URL of our API, once it is open. [borrowed] */
const char *app_master_url(const struct app *a);
/** Where we are, once our API is open: what the engine stores for the manager. [texts borrowed] */
struct eng_master app_master_self(const struct app *a);
/** The routes of our API: those that read. */
const struct http_route *app_master_routes(struct app *a, size_t *n);

#endif

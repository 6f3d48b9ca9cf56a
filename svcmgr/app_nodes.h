/**
 * The nodes of a cluster of YARN as the resource manager lists them, for requests that show or name them: an application master is reported
 * only those that have changed or that it has containers on, and svcmgr none. Only app*.c include this.
 *
 *     app_know_nodes ──older than NODES_FRESH_MS──> GET /ws/v1/cluster/nodes ──> read in slices ──> all who wait go on
 *                   └─ else at once
 *
 * What was read last stays while the resource manager does not answer.
 *
 * Thread: owner loop for everything.   Source: Hadoop, RMWebServices.
 */
#ifndef SVCMGR_APP_NODES_H
#define SVCMGR_APP_NODES_H

#include "base/map.h"

struct app;

#define NODES_FRESH_MS 1000

/** app_ops.know_nodes. @param done  NULL: nobody waits */
void app_know_nodes(void *app, void (*done)(void *arg), void *arg);
/** app_ops.nodes. */
const struct map *app_nodes(void *app);
/**
 * The largest container that a node which runs can have, as far as the scheduler allows: yarn.scheduler.maximum-allocation-mb and -vcores of
 * Hadoop's files, by default 8192 and 4. 0: nobody has asked for the nodes, or none runs.
 */
void app_nodes_largest(const struct app *a, int64_t *memory_mb, int64_t *vcores);
/** Forget all; who still waits goes on. After the HTTP client was freed. */
void app_nodes_fini(struct app *a);

#endif

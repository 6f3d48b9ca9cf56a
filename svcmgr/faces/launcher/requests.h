/**
 * Request documents as they are read: what was put, with what was changed since.
 *
 * Thread: owner loop.   Source: framework-launcher 4.6.
 */
#ifndef LAUNCHER_REQUESTS_H
#define LAUNCHER_REQUESTS_H

#include <jansson.h>

#include "engine/engine.h"

#define LAUNCHER_LAUNCHING_MEMBER "launchingDataDeploymentVersion"
#define LAUNCHER_LAUNCHED_MEMBER  "launchedDataDeploymentVersion"

/** FrameworkDescriptor of a framework with the numbers of tasks and the execution type that are wanted now. [new] */
json_t *launcher_view_descriptor(const struct eng_service *s);
/** FrameworkRequest. [new] */
json_t *launcher_view_request(const struct eng_service *s);
/** AggregatedFrameworkRequest. [new] */
json_t *launcher_view_aggregated_request(const struct eng_service *s);
/** LauncherRequest. [new] */
json_t *launcher_view_launcher_request(const struct engine *e);
/** ClusterConfiguration, AclConfiguration: as last put, or empty. [new] */
json_t *launcher_view_cluster(const struct engine *e);
json_t *launcher_view_acl(const struct engine *e);

#endif

/**
 * A role of a FrameworkDescriptor as a component of the engine: what its tasks see of their own framework. What depends on the container
 * (TASK_INDEX, APP_ID, CONTAINER_PORTS …) is added at each launch (engine/launch.c, launch/launch.c).
 *
 * Pure. Thread: any.   Source: framework-launcher 12.
 */
#ifndef LAUNCHER_TASK_H
#define LAUNCHER_TASK_H

#include "launcher/descriptor.h"
#include "spec/spec.h"

/** What all tasks see of the cluster. All is borrowed; NULL: it has none, the variable is "". */
struct launcher_task_site {
    const char *address;   /* LAUNCHER_ADDRESS: "http://host:port" of this API */
    const char *zk_quorum; /* ZK_CONNECT_STRING */
    const char *zk_root;   /* ZK_ROOT_DIR */
    const char *hdfs_root; /* HDFS_ROOT_DIR */
    const char *fs_uri;    /* fs.defaultFS: where a location without a scheme is, if it is HDFS */
    int64_t am_version;    /* AM_VERSION */
};

/**
 * Fill launch_command, resource, configuration.env and task of a component: what its name, number, placement and restarts are is the caller's.
 *
 * @param framework  its name                                                       [borrowed]
 * @param d          checked                                                        [borrowed]
 * @param role       one of d's                                                     [borrowed]
 * @param c          fresh from fld_new(&spec_component_type)                       [in,out]
 */
void launcher_task_fill(const struct launcher_task_site *site, const char *framework,
                        const struct launcher_descriptor *d, const struct launcher_role *role,
                        struct spec_component *c);

#endif

/**
 * A cluster whose containers are others': of a manager of applications, whose application masters have them. It finds none, and grants none.
 * Of the files that a definition names it looks for those in HDFS, as the owner, for 5 s at most: the disks of nodes are seen by nodes only.
 *
 * Thread: owner for everything.   Source: ours.
 */
#ifndef CLUSTER_ELSEWHERE_H
#define CLUSTER_ELSEWHERE_H

#include "cluster/cluster.h"
#include "fs/place.h"

struct http_client;

/**
 * Open one.
 *
 * @param fs            where HDFS is
 * @param http          for it                                                        [borrowed, outlives the cluster]
 * @param name          cluster_name [static]
 * @param ops, ops_arg  recovery_done is called, and nothing else                    [borrowed, outlive the cluster]
 * @return close with cluster_close
 */
struct cluster *cluster_elsewhere_open(struct run_loop *loop, const struct fs_conf *fs,
                                       struct http_client *http, const char *name,
                                       const struct cluster_ops *ops, void *ops_arg);

#endif

/**
 * A cluster whose containers are others': of a manager of applications, whose application masters have them. It finds none, and grants none.
 *
 * Thread: owner for everything.   Source: ours.
 */
#ifndef CLUSTER_ELSEWHERE_H
#define CLUSTER_ELSEWHERE_H

#include "cluster/cluster.h"

/**
 * Open one.
 *
 * @param name          cluster_name [static]
 * @param ops, ops_arg  recovery_done is called, and nothing else                    [borrowed, outlive the cluster]
 * @return close with cluster_close
 */
struct cluster *cluster_elsewhere_open(struct run_loop *loop, const char *name, const struct cluster_ops *ops,
                                       void *ops_arg);

#endif

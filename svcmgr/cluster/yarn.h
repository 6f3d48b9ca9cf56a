/**
 * Node managers of YARN as a cluster, for the application master of one service.
 *
 *     cluster_request ──> table of asks ──heartbeat──> resource manager ──> allocated()
 *     cluster_launch  ──> launch context ──> node manager of the container ──polls──> started()
 *     completed, by a heartbeat ──> exited(): a container ends with its process
 *
 * The resource manager names containers; asks are absolute, and all of them, the releases and the excluded nodes are sent again when it
 * has restarted. Exactly one heartbeat is under way; the next one follows soon while something is asked for, else at the usual pace.
 * A node manager is asked for containers that start, and for those of an earlier attempt; what runs is heard of from the resource manager.
 *
 * Thread: owner for everything.   Source: Hadoop, AMRMClient, NMClient; design 5.
 */
#ifndef CLUSTER_YARN_H
#define CLUSTER_YARN_H

#include "cluster/cluster.h"
#include "cluster/yarn_context.h"
#include "yarn/address.h"
#include "yarn/ids.h"
#include "yarn/sasl.h"
#include "yarn/token.h"

struct yarn_options {
    const struct yarn_addresses *scheduler; /* of the resource managers; copied                   */
    const struct yarn_token *token;         /* of the application master; copied                  */
    struct yarn_attempt_id attempt;         /* ours                                               */
    const char *host, *tracking_url;        /* that are registered; copied                        */
    int rpc_port;                           /* -1: none                                           */
    struct yarn_context_maker *maker;       /* of launch contexts; outlives the cluster           */
    /** A resource manager was reached (why NULL), or was not; NULL: nobody asks. */
    void (*reach)(void *arg, const char *server, const struct err_info *why);
    void *reach_arg;
};

/**
 * Open; cluster_recover registers.
 *
 * @param ops, ops_arg  called from the loop                                        [borrowed, outlive the cluster]
 * @param out           close with cluster_close                                    [out]
 * @return 0; as yarn_link_open.
 */
int cluster_yarn_open(struct run_loop *loop, const struct yarn_options *options,
                      const struct cluster_ops *ops, void *ops_arg, struct cluster **out,
                      struct err_info *why);

enum yarn_final_status { YARN_FINAL_SUCCEEDED, YARN_FINAL_FAILED, YARN_FINAL_ENDED };

/**
 * Unregister: what still runs ends with the application. Once.
 *
 * @param diagnostics  NULL: none                                                   [copied]
 * @param done         called once, later: when it is done, or 30 s have passed
 */
void cluster_yarn_finish(struct cluster *c, enum yarn_final_status status, const char *diagnostics,
                         void (*done)(void *arg), void *arg);

#endif

/**
 * A simulated cluster: the containers of svcmgr/sim, which do what a script says, in place of processes.
 *
 * Virtual time runs with the clock, `speed` times as fast. What is simulated ends with svcmgr: the next one starts from what its state says
 * is held (sim_options.held), puts each container back on its node, and the script of each process begins anew. A container that was
 * asked for or stopped when svcmgr ended is asked for or stopped again, as on every cluster.
 *
 * There are no files, logs, users and addresses of this host: a source file is there whatever its name, and an instance has an address of
 * 10.0.0.0/8 at which nobody answers. Readiness is the script's.
 *
 * Thread: owner for everything.   Source: ours.
 */
#ifndef CLUSTER_SIM_H
#define CLUSTER_SIM_H

#include "cluster/cluster.h"

/** A container that was held when svcmgr ended. All borrowed for the call. */
struct sim_held {
    const char *id, *ip, *host, *label, *instance, *component;
    const struct spec_needs *needs; /* NULL: none */
    int64_t memory_mb, vcores;
    int64_t attempt; /* of its last launch */
    bool is_running; /* else it is only held */
};

/** All is copied. */
struct sim_options {
    const char *script; /* see sim/script.h; NULL: a cluster in which nothing goes wrong */
    uint64_t seed;
    int64_t speed; /* virtual ms of each ms, from 1 */
    /** Call each(each_arg, container) for every container that is held, in any order. */
    void (*held)(void *arg, void (*each)(void *each_arg, const struct sim_held *c), void *each_arg);
    void *held_arg;
};

/** Whether a script can be read. @return 0; or ERR_CONFIG with *why filled. */
int cluster_sim_check(const char *script, struct err_info *why);
/**
 * Open a simulated cluster.
 *
 * @param ops, ops_arg  called from the loop                                        [borrowed, outlive the cluster]
 * @param out           close with cluster_close                                    [out]
 * @return 0; or ERR_CONFIG: the script cannot be read; *out is unchanged.
 */
int cluster_sim_open(struct run_loop *loop, const struct sim_options *options, const struct cluster_ops *ops,
                     void *ops_arg, struct cluster **out, struct err_info *why);

#endif

/**
 * How a container of YARN ended, in the causes of the engine: by the exit status, and where one status stands for several ends (-100), by
 * the diagnostics.
 *
 *     0..128       EXITED with that code                  129..192   SIGNALLED: 128 + number, as a shell has it
 *     193..255     EXITED                                 -1000      LAUNCH: its files could not be localised
 *     -100         ABORTED; EXPIRED or LOST by its diagnostics; STOPPED where we gave it back
 *     -101         DISK                                   -102       PREEMPTED
 *     -103, -104   MEMORY_VIRTUAL, MEMORY_PHYSICAL        -105       STOPPED, by the application master
 *     -106, -108   ABORTED, by RM or node manager         -107       APPLICATION_ENDED
 *     -109         ABORTED, its logs were too large       others     UNKNOWN
 *
 * Pure. Thread: any.   Source: Hadoop, ContainerExitStatus, SchedulerUtils.
 */
#ifndef CLUSTER_YARN_EXIT_H
#define CLUSTER_YARN_EXIT_H

#include "cluster/cluster.h"

/** A status of ours: a source of a task is not there. Hadoop has none of this number. */
#define YARN_EXIT_SOURCE (-7251)

/**
 * Read an exit.
 *
 * @param status       exit status
 * @param diagnostics  of the same status; NULL: none. Its first lines become the text    [borrowed]
 * @param was_stopped  cluster_stop or cluster_release came before
 * @param out          all but the times; is_gone is true                        [out]
 */
void yarn_exit_read(int32_t status, const char *diagnostics, bool was_stopped, struct cluster_exit *out);

#endif

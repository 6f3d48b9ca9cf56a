/**
 * Starting the process of a container, and making sure that nothing of it stays. Used by container-shim only: its calls
 * may block.
 *
 * Thread: the program's only one.   Source: ours; prctl(2), cgroups(7).
 */
#ifndef SHIM_PAYLOAD_H
#define SHIM_PAYLOAD_H

#include "shim/wire.h"

/** Where starting failed: the step and its errno. */
struct payload_failure {
    char step[128];
    int error; /* errno */
};

/**
 * Fork and run `/bin/sh -c command` as *l says, in a process group of its own, killed by the kernel if we die.
 *
 * @param l     what to run                                                          [borrowed]
 * @param pid   the process, also its group                                          [out]
 * @param fail  filled when it could not be started                                  [out]
 * @return 0: the command is being executed; or ERR_IO with *fail: no process is left.
 * Source: setpgid(2), prctl(2) PR_SET_PDEATHSIG, PR_SET_NO_NEW_PRIVS.
 */
int payload_start(const struct shim_launch *l, pid_t *pid, struct payload_failure *fail);

/** Send a signal to the process group and to every descendant that has left it. @return how many processes got it. */
int payload_signal(pid_t group, int signal);

/**
 * Make the container's cgroup and set its limits, as far as the controllers are there; says on stderr what is not.
 * @return true: payload_start shall use the group; false: there is none to use.
 */
bool payload_cgroup_make(const struct shim_launch *l);
/** Kill what is left in the group and remove it. */
void payload_cgroup_remove(const struct shim_launch *l);

#endif

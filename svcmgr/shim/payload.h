/**
 * Starts the process of a container. Used by container-shim only: its calls may block.
 *
 * Thread: the program's only one.   Source: ours; prctl(2).
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
 * Fork and run `/bin/sh -c command` as *l says, in a process group of its own, killed by the kernel if we die. Of ours
 * it gets nothing but the session: no descriptor, keyring, signal disposition or file mode mask, and never more rights than the
 * user has. The log files are opened with the user's rights.
 *
 * @param l     what to run                                                          [borrowed]
 * @param stdio its standard output and error, close-on-exec                         [borrowed]
 * @param pid   the process, also its group                                          [out]
 * @param fail  filled when it could not be started                                  [out]
 * @return 0: the command is being executed; or ERR_IO with *fail: no process is left.
 * Source: setpgid(2), prctl(2) PR_SET_PDEATHSIG, PR_SET_NO_NEW_PRIVS.
 */
int payload_start(const struct shim_launch *l, const int stdio[2], pid_t *pid, struct payload_failure *fail);

#endif

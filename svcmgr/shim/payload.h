/**
 * Starts the processes of a container: its own, and the commands that are executed in it. Used by container-shim only: its calls may
 * block.
 *
 * Thread: the program's only one.   Source: ours; prctl(2).
 */
#ifndef SHIM_PAYLOAD_H
#define SHIM_PAYLOAD_H

#include "shim/wire.h"

/** Where starting failed: the step and its errno. */
struct payload_failure {
    char step[128];
    int error;          /* errno */
    bool is_of_command; /* all was fine but what was to be run */
};

/** What may differ between processes of one launch. All borrowed. */
struct payload {
    int stdio[3]; /* standard input (-1: /dev/null), output, error; close-on-exec */
    char **words; /* program, looked for in PATH, and arguments; NULL: the launch's command, for /bin/sh -c */
    char **env;   /* NULL-terminated; NULL: that of the launch */
    bool has_session;  /* it leads a session of its own, else only a process group in ours */
    bool has_terminal; /* stdio[0] is the terminal of that session */
};

/**
 * Become the parent of such processes: in a session of our own, heedless of signals for a terminal.
 * @return descriptor, not blocking, by which SIGCHLD and SIGTERM come; -1 with errno.   Source: signalfd(2).
 */
int payload_parent_signals(void);
/** Read the launch file of the working directory. @param l  empty [out] @return 0; ERR_IO, ERR_TOOBIG, ERR_PARSE. */
int payload_read_launch(struct shim_launch *l, struct err_info *why);
/**
 * Fork and run the command as *l and *p say, in a process group of its own, killed by the kernel if we die. Of ours
 * it gets nothing but the session: no descriptor, keyring, signal disposition or file mode mask, and never more rights than the
 * user has. The log files are opened with the user's rights.
 *
 * @param l     what to run                                                          [borrowed]
 * @param pid   the process, also its group                                          [out]
 * @param fail  filled when it could not be started                                  [out]
 * @return 0: the command is being executed; or ERR_IO with *fail: no process is left.
 * Source: setpgid(2), prctl(2) PR_SET_PDEATHSIG, PR_SET_NO_NEW_PRIVS.
 */
int payload_start(const struct shim_launch *l, const struct payload *p, pid_t *pid,
                  struct payload_failure *fail);

#endif

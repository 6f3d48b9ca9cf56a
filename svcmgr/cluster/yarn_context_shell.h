/**
 * Texts of a launch context that a node manager writes into a script of bash:
 *
 *     export NAME="VALUE"                    exec /bin/bash -c "COMMAND"
 *
 * Before it does so it replaces <LOG_DIR>, <CPS>, <ADD_OPENS>, {{ and }}. What is written here comes out of both as it was: the quotes
 * are closed and opened again within what it would replace.
 *
 * Pure. Thread: any.   Source: Hadoop, ContainerLaunch.expandEnvironment, UnixShellScriptBuilder.
 */
#ifndef CLUSTER_YARN_CONTEXT_SHELL_H
#define CLUSTER_YARN_CONTEXT_SHELL_H

#include <stdbool.h>

#include "bobbin/error.h"

/**
 * A command; <LOG_DIR> in it is the node manager's.
 *
 * @param command        for a shell                                                 [borrowed]
 * @param is_redirected  its whole output goes to stdout.txt and stderr.txt of the log directory
 * @return text of a launch context, free().
 */
char *yarn_context_command(const char *command, bool is_redirected);
/**
 * A variable. $PWD, ${PWD} and <LOG_DIR> in its value are the node's; all else is literal. A value of YARN_CONTAINER_RUNTIME_… is read
 * by the node manager itself, without a shell, and stands as it is.
 *
 * @param name, value  of cluster_launch.env                                         [borrowed]
 * @param out          value for a launch context, free(); NULL: the node manager sets it, and it is left out [out]
 * @return 0; ERR_UNSUPPORTED: no shell has a variable of this name, or it is the node manager's and a shell would read it otherwise.
 */
int yarn_context_variable(const char *name, const char *value, char **out, struct err_info *why);

#endif

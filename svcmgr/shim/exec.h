/**
 * `container-shim exec`: the parent of one command that is executed in a container, and the relay between it and its client. It keeps
 * svcmgr's rights, so that nothing that was started can end it or escape it; the command has those of the container's user, and its
 * cgroups.
 *
 *   RUNNING --the command ended---------------------------> ENDING: leftovers get SIGHUP, then SIGKILL
 *      |                                                        |
 *      +----the client left, svcmgr closed the control socket---+--no process left, all output read--> FLUSHING: EXIT is sent, end
 *                                                               +--nobody there to take it----------> end
 *
 * Of an image the command is a call of the container runtime (exec_image.h), which keeps our rights.
 *
 * Thread: the program's only one.   Source: ours; pty(7), session(7).
 */
#ifndef SHIM_EXEC_H
#define SHIM_EXEC_H

/** The whole program: see exec_wire.h for what it finds. @return its exit code. */
int exec_run(void);

#endif

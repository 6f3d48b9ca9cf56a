/**
 * Commands that are executed in images: the call of the container runtime, and the processes that it has started. They are not ours:
 * they descend from a helper or a daemon of the runtime and are known by a variable of their environment, which those that they start
 * inherit.
 *
 * Thread: the program's only one.   Source: podman-exec(1), docker exec; proc(5) environ.
 */
#ifndef SHIM_EXEC_IMAGE_H
#define SHIM_EXEC_IMAGE_H

#include "shim/exec_wire.h"
#include "shim/wire.h"

/** "NAME=" and 32 hexadecimal digits, and a NUL. */
#define EXEC_MARK_NAME "BOBBIN_EXEC"
#define EXEC_MARK_MAX  (sizeof EXEC_MARK_NAME "=" + 32)

/** A variable that nothing else on this host has. */
void exec_image_mark(char out[EXEC_MARK_MAX]);
/** The call of the runtime, for /bin/sh -c. free() */
char *exec_image_call(const struct shim_launch *l, const struct exec_ask *ask, const char *mark);
/** Signal every process that has the mark. @param signal  0: only look @return how many there are. */
int exec_image_signal(const char *mark, int signal);

#endif

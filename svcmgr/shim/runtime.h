/**
 * What a shim does with a container by its runtime, podman or docker: each a process of the runtime, a child of the shim, whose
 * end the shim reaps with all its others.
 *
 * Thread: the shim's only one.   Source: podman-run(1), docker-run(1).
 */
#ifndef SHIM_RUNTIME_H
#define SHIM_RUNTIME_H

#include "shim/wire.h"

/** Send the container the image's stop signal, and SIGKILL after grace_ms, in whole seconds. One that is being made is waited for. @return pid; -1 with errno */
pid_t runtime_stop(const struct shim_launch *l, int64_t grace_ms);
/** Send a signal to the container's first process. @return pid; -1 with errno */
pid_t runtime_signal(const struct shim_launch *l, int signal);
/** End and remove the container, whatever its state. @return pid; -1 with errno */
pid_t runtime_remove(const struct shim_launch *l);

#endif

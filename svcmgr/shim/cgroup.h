/**
 * The cgroups of one container: a directory in the hierarchy of each v1 controller, or one in the v2 hierarchy.
 *
 *   kind      limits                                                     what it reports at the end
 *   v2        memory.max, memory.swap.max, pids.max, cpu.weight, cpu.max   memory.events, pids.events
 *   memory    memory.limit_in_bytes, memory.memsw.limit_in_bytes           memory.oom_control
 *   pids      pids.max                                                     pids.events
 *   cpu       cpu.shares, cpu.cfs_quota_us
 *   freezer   none: freezes all processes while they are killed
 *
 * A list is all of a launch's cgroups. One whose dir is NULL is left out.
 * Thread: any; calls may block for milliseconds.   Source: cgroups(7); the kernel's cgroup-v1 and cgroup-v2 documents.
 */
#ifndef SHIM_CGROUP_H
#define SHIM_CGROUP_H

#include "shim/wire.h"

/**
 * Make the directories and set the limits of *l. What cannot be made or set is reported on standard error, and a directory that
 * cannot be made is taken out of the list.
 * @return 0; or -1 with errno, when one cannot and cgroups_required is set: those made are removed.
 */
int cgroups_make(struct shim_launch *l);
/** Put this process into all. @return 0; -1 with errno. */
int cgroups_enter(const struct shim_launch *l);
/** SIGKILL for every process in them, none of which can fork away. @return false: no hierarchy here can do that. */
bool cgroups_kill(const struct shim_cgroup *list, size_t n);
/**
 * What the limits have done to the container.
 * @param out  a part of a sentence, or ""; room for len                            [out]
 * @return true: the kernel has killed a process of it, as its limit of memory was reached.
 */
bool cgroups_say(const struct shim_launch *l, char *out, size_t len);
/** Remove the directories. @return 0; -1 with errno: something is still in one, or it cannot be removed. */
int cgroups_remove(const struct shim_cgroup *list, size_t n);

#endif

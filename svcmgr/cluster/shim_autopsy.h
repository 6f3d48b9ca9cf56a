/**
 * Finds out the state of a container whose shim accepts no connection, by evidence in its directory.
 *
 *   exit file                                   ended, as the file says
 *   lock held, or a shim of that identity       a shim or its child lives: not known yet
 *   lock free, and that identity is dead        lost: its remaining processes are killed first
 *
 * A shim's identity is its pid, its start and the boot. Nothing of another boot is ever signalled.
 *
 * Thread: owner.   Source: shim/wire.h.
 */
#ifndef CLUSTER_SHIM_AUTOPSY_H
#define CLUSTER_SHIM_AUTOPSY_H

#include "shim/wire.h"

/**
 * Find out how a container ended.
 *
 * @param dir  container directory, absolute                                        [borrowed]
 * @param out  how it ended; SHIM_LOST: it is gone, and nothing says how             [out]
 * @param why  what stands against a judgement                                      [out]
 * @return 0; ERR_UNAVAILABLE: something of it may live, ask again; ERR_LIMIT: a descriptor or memory is missing to say so,
 *         ask again. *out is unchanged on error.
 */
int shim_autopsy(const char *dir, struct shim_exit *out, struct err_info *why);

/**
 * Kill a shim that lives and does not answer. What it ran ends with it; shim_autopsy says what became of it.
 *
 * @param dir  container directory, absolute                                        [borrowed]
 * @param pid  who listens on the directory's socket: only a process that the running file names by this number, its start and
 *             this boot is killed
 * @param why  why not                                                              [out]
 * @return 0; ERR_NOTFOUND: no such shim lives, or the file does not name it; ERR_LIMIT: it cannot be said now, ask again;
 *         ERR_PERMISSION: it is not ours to kill.
 */
int shim_kill(const char *dir, pid_t pid, struct err_info *why);

/**
 * Take the lock of a directory that says that no shim lives in it.
 *
 * @param fd  the locked descriptor, close-on-exec; closing it gives the lock back   [out]
 * @return 0; ERR_UNAVAILABLE: a shim has it; ERR_LIMIT, ERR_NOSPC, ERR_IO: it cannot be made. *fd is -1 on error.
 */
int shim_lock(const char *dir, int *fd, struct err_info *why);

#endif

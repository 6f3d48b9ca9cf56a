/**
 * The limit of descriptors of this process (RLIMIT_NOFILE). The soft limit that a service manager or a shell gives, 1024 as a
 * rule, is there for programs that use select(2); a daemon raises it to the hard limit at start. Processes that it starts get the first
 * soft limit back: some programs close or scan all descriptors up to it.
 *
 * Source: getrlimit(2); systemd.exec(5), LimitNOFILE.
 */
#ifndef RUN_FDLIMIT_H
#define RUN_FDLIMIT_H

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "bobbin/error.h"

/**
 * Raise the soft limit to the hard one; a second call changes nothing.
 *
 * @param why  filled on failure                                                 [out]
 * @return 0; ERR_IO: the system refused (a hard limit above fs.nr_open), the soft limit is as it was.
 * Thread: main, before others start.   Source: ours.
 */
int fdlimit_raise(struct err_info *why);

/** The limit before fdlimit_raise; without that call, the present one. Thread: any. Source: ours. */
struct rlimit fdlimit_first(void);

/**
 * Whether a new descriptor lies in the reserve that clients leave to our own needs (stores, snapshots, sessions): the last 64
 * below the soft limit, of a small limit an eighth. The kernel gives the lowest free number, so all below it are in use.
 *
 * @param fd    a descriptor that was just opened
 * @param part  1: in the reserve; 2: in its second half
 * Thread: any.   Source: open(2).
 */
bool fdlimit_is_short(int fd, int part);

/**
 * Give a process that we started the limit that we were started with.
 *
 * @param pid  a child, not reaped yet
 * @param why  filled on failure                                                 [out]
 * @return 0; ERR_IO: the system refused (the child has ended, or became another user); its limit is as it was.
 * Thread: any.   Source: prlimit(2).
 */
int fdlimit_give_first(pid_t pid, struct err_info *why);

#endif

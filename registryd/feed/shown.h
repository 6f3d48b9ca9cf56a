/**
 * What readers of this registry were shown last, kept beyond the process: the id of the store and the newest revision number, in a file
 * that is mapped, so that keeping it costs a few stores to memory and a process that is killed loses nothing.
 *
 *     start ──► the file of before ──► mirror_go_on          the mirror notices that the store has gone back meanwhile
 *     mirror: synced, change, applied ──► the file
 *
 * A ZooKeeper that was restored from an old snapshot gives out its numbers again, for other changes. Who saw the newer state notices;
 * without this a registryd that was started afterwards would not, and would let a follower go on from a number of before.
 * Thread: owner for everything.   Source: ours.
 */
#ifndef FEED_SHOWN_H
#define FEED_SHOWN_H

#include <stdbool.h>

#include "store/mirror/mirror.h"

struct shown;

/**
 * Open the file "registryd/shown" below a directory; both directories are made when they are missing. One that cannot be used is told to the log, and the registry goes
 * on without.
 *
 * @param past  what it says; ids are "" when it says nothing   [out]
 * @return NULL: no file can be used there; free with shown_free.
 */
struct shown *shown_open(const char *dir, struct mirror_past *past);
/** Keep what this mirror shows from now on. Call it before anybody else listens, and once. */
void shown_keep(struct shown *s, struct mirror *m);
/** Close the file; after mirror_free. NULL is fine. */
void shown_free(struct shown *s);

#endif

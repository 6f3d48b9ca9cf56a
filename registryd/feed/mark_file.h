/**
 * The persisted mark: the id of the store and the newest revision number that readers of this registry have seen, kept beyond the
 * process. The file is mapped: an update costs a few stores to memory, and a process that is killed loses nothing.
 *
 *     start ──► file of the process before ──► mirror_continue   the mirror notices that the store has gone back meanwhile
 *     mirror: synced, change, applied ──► file
 *
 * A ZooKeeper that was restored from an old snapshot gives out its numbers again, for other changes. A registryd that started after
 * the restore could not notice that without the mark, and would let a follower resume from a number of before.
 * Thread: owner for everything.   Source: ours.
 */
#ifndef FEED_MARK_FILE_H
#define FEED_MARK_FILE_H

#include <stdbool.h>

#include "store/mirror/mirror.h"

struct mark_file;

/**
 * Open the file "registryd/shown" below a directory; makes both directories where they are missing. Logs mark_failed when it cannot be
 * used; the registry then works without.
 *
 * @param dir   bobbin.data.dir                                                     [borrowed]
 * @param past  what the file says; ids are "" when it says nothing                 [out]
 * @return new, free with mark_file_free; NULL: no file can be used there.
 */
struct mark_file *mark_file_open(const char *dir, struct mirror_past *past);
/** Keep what this mirror shows from now on. Call it before anybody else listens, and once. @param m  [borrowed, lives on] */
void mark_file_keep(struct mark_file *f, struct mirror *m);
/** Close the file; after mirror_free. NULL is fine. */
void mark_file_free(struct mark_file *f);

#endif

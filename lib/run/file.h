/**
 * Files that are written whole: beside, to the disk, then in place, so that a reader finds the old or the new one.
 *
 * A failure for a shortage of the machine is ERR_NOSPC or ERR_LIMIT (shortage.h), and may pass; one for another reason is
 * ERR_IO. Below, both are "ERR_IO or a shortage". why may be NULL.
 * Thread: any.   Source: ours; rename(2).
 */
#ifndef RUN_FILE_H
#define RUN_FILE_H

#include <sys/types.h>

#include "base/buf.h"
#include "bobbin/error.h"

/** Longest file that is read: a snapshot of some ten million records. */
#define FILE_MAX_BYTES (4ll << 30)

/** Replace a file; bytes and name are on the disk when it returns. @return 0; or ERR_IO or a shortage with the path in why: the old file stands,
 *  or the new one that may be lost with the power. */
int file_write(const char *path, const void *bytes, size_t len, struct err_info *why);

/** A large file that is replaced piece by piece. */
struct file_out;
/** Begin. @param mode of the file, as umask leaves it. @return what file_out_end ends; or NULL with *why: ERR_IO or a shortage, it cannot be made. */
struct file_out *file_out_open(const char *path, mode_t mode, struct err_info *why);
/** Append. @return 0; or ERR_IO or a shortage: nothing more is written, file_out_end says why. */
int file_out_put(struct file_out *o, const void *bytes, size_t len);
/** Put it in place, as file_write does. @return as file_write. */
int file_out_end(struct file_out *take_o, struct err_info *why);

/**
 * Replace a small file that is written again and again, so that it can be replaced on a full disk, too: the one before stays beside it
 * as `path.spare`, and is what the next is written over. Both are filled up with empty lines.
 *
 * @param bytes  lines of text, len octets                                       [borrowed]
 * @return 0: on the disk, and in place; or ERR_IO or a shortage with the path in why: what was there before is there.
 * Thread: any, one at a time for a path.   Source: ours; rename(2), RENAME_EXCHANGE (where the file system lacks it, no spare stays).
 */
int file_swap(const char *path, const void *bytes, size_t len, struct err_info *why);
/** Read a file. @param out appended [out] @return 0; ERR_NOTFOUND: there is none; ERR_IO or a shortage; ERR_TOOBIG. */
int file_read(const char *path, struct buf *out, struct err_info *why);
/** Make what is missing of a directory and of those above it (mkdir -p). @param mode  of each that is made, as umask leaves it
 *  @return 0; or ERR_IO or a shortage with the path in why: those above it are there. A shortage is not reported to
 *  run/degraded.h: what has no room for a directory (a cgroup, say) may never have it, and what is written there reports for itself. */
int file_make_dir(const char *path, mode_t mode, struct err_info *why);
/**
 * Lock a directory against other processes, until the descriptor is closed; `dir/pid` holds the pid of the owner.
 *
 * @param dir   exists                                                           [borrowed]
 * @param what  it is, for the message: "store"                                  [borrowed]
 * @param fd    what holds the lock; -1 after an error                           [out]
 * @return 0; ERR_WRONGSTATE: "the WHAT is in use by process PID"; or ERR_IO: it cannot be locked.   Thread: any.   Source: flock(2).
 */
int file_lock_dir(const char *dir, const char *what, int *fd, struct err_info *why);

#endif

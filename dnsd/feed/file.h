/**
 * Files that are written whole: beside, to the disk, then in place, so that a reader finds the old or the new one.
 * Thread: any.   Source: ours; rename(2).
 */
#ifndef FEED_FILE_H
#define FEED_FILE_H

#include "base/buf.h"
#include "bobbin/error.h"

/** Longest file that is read: a snapshot of some ten million records. */
#define FILE_MAX_BYTES (4ll << 30)

/** Replace a file. @return 0; or ERR_IO with the path in why. */
int file_write(const char *path, const void *bytes, size_t len, struct err_info *why);
/** Read a file. @param out appended [out] @return 0; ERR_NOTFOUND: there is none; ERR_IO; ERR_TOOBIG. */
int file_read(const char *path, struct buf *out, struct err_info *why);
/** Make a directory and those above it, mode 0755. @return 0; or ERR_IO with the path in why. */
int file_make_dir(const char *path, struct err_info *why);

#endif

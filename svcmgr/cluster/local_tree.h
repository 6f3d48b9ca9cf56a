/**
 * Directories and files by descriptor: below a directory that a container's user may write nothing is named twice.
 *
 * libuv closes descriptors by a raw system call, and only open lets a thread sanitizer know that a number is a new file now. So
 * everything is opened by open, below a directory by way of its entry in /proc/self/fd.
 *
 * Thread: any; calls may wait for the disk.   Source: ours; openat(2), proc(5).
 */
#ifndef CLUSTER_LOCAL_TREE_H
#define CLUSTER_LOCAL_TREE_H

#include <dirent.h>
#include <sys/types.h>

#include "bobbin/error.h"

/** errno as an error, with the code that shortage_code says. @param where  path, or NULL */
int local_sys_fail(struct err_info *why, const char *where);
/**
 * openat of one name, never following a link that it is.
 * @return descriptor, closed on exec; -1 with errno.
 */
int local_open_at(int dir, const char *name, int flags, mode_t mode);
/** opendir of a directory that is reached by names of ours only. @return closedir releases; NULL: errno says why. */
DIR *local_open_dir(const char *path);
/** Make a directory that must not be there, and open it. @return descriptor; -1: *why says so. */
int local_make_dir_at(int dir, const char *name, mode_t mode, struct err_info *why);
/**
 * Remove what a name stands for, a directory with everything in it however deep, never following links.
 * @param dir  directory of the name, or AT_FDCWD
 * @return 0, also when there is no such name; or as local_sys_fail the first obstacle.
 */
int local_remove_at(int dir, const char *name, struct err_info *why);
/** As local_remove_at, with a path from the root or the working directory. */
int local_remove_tree(const char *path, struct err_info *why);

#endif

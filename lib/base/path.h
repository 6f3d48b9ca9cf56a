/**
 * Paths of files and of nodes: elements with '/' between. As dirname(3) and basename(3), but a path that ends with '/' has an
 * empty last element. Pure functions; a path is not empty. Thread: any.   Source: ours; POSIX.1-2017 4.13.
 */
#ifndef BASE_PATH_H
#define BASE_PATH_H

#include <stddef.h>

/** The last element: "c" of "/a/b/c", "" of "/", all of a path without '/'. Within path; what stands before it, '/' included, is
 *  (size_t)(path_name(path) - path) octets. */
const char *path_name(const char *path);
/** The last element of a path that ends after len octets. */
const char *path_name_in(const char *path, size_t len);
/** Octets of the path above: 4 for "/a/b/c", 1 for "/a" and for "/", 0 for a path without '/'. A copy can be cut there. */
size_t path_parent_len(const char *path);
/** The path above: "/a/b" of "/a/b/c", "/" of "/a" and of "/", "." of a path without '/'. @return new; free(). */
char *path_parent(const char *path);

#endif

/**
 * Walking the mirror in path order over several turns of the loop: nodes do not live that long, paths do.
 * Thread: owner.   Source: ours.
 */
#ifndef STORE_MIRROR_WALK_H
#define STORE_MIRROR_WALK_H

#include <stdbool.h>

#include "store/mirror/mirror.h"

/** `path` is `top` or below it; "/" covers all. @param top  absolute @param path  any text: one that is no path is below nothing */
bool walk_covers(const char *top, const char *path);
/**
 * The node below `top` (included) that follows path `after` in path order (depth first, children in byte order).
 *
 * @param top    path where the walk began                                        [borrowed]
 * @param after  the last path that was seen, there still or not; NULL: begin     [borrowed]
 * @return node, or NULL: no more.
 */
const struct mirror_node *walk_next(const struct mirror *m, const char *top, const char *after);
/** Append a child's path to its parent's: no double slash at the root. */
void walk_join(struct buf *out, const char *parent, const char *name);

#endif

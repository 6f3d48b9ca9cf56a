/** Directories of tests. Thread: any.   Source: ours; nftw(3). */
#ifndef TREE_KIT_H
#define TREE_KIT_H

#include <ftw.h>
#include <stdio.h>

static inline int kit_remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    (void)st;
    (void)flag;
    (void)ftw;
    return remove(path);
}

/** Remove a directory with everything in it, following no links. @return 0; -1: errno says why */
static inline int kit_remove_tree(const char *dir)
{
    return nftw(dir, kit_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

#endif

/** A look at the directory of master files; masters.c applies what it gives. Thread: any.   Source: ours. */
#ifndef MASTERS_MASTER_DIR_H
#define MASTERS_MASTER_DIR_H

#include "base/map.h"
#include "masters/zonefile.h"

/** One file. */
struct master_file {
    char *path;
    uint8_t apex[NAME_MAX_LEN];
    bool is_unchanged; /* as its stamp says: nothing else is set */
    bool is_bad;       /* why is set, content is not */
    struct zonefile content;
    char *stamp;
    struct err_info why;
};

/** A directory. */
struct master_dir {
    struct master_file *files; /* n_files, by name; one an apex */
    size_t n_files;
    int err; /* ERR_IO: why says that the directory cannot be read */
    struct err_info why;
};

/** Read every `*.zone` whose stamp is not current. @param stamps path -> stamp, or empty [borrowed]; out filled [out]. */
void master_dir_read(const char *dir, const struct map *stamps, struct master_dir *out);
/** Release. */
void master_dir_fini(struct master_dir *d);

#endif

/**
 * Reads the directory of master files; masters.c applies what was read.
 *
 * Thread: any for master_dir_read and master_dir_fini; the owner of the loop for the rest.   Source: ours.
 */
#ifndef MASTERS_MASTER_DIR_H
#define MASTERS_MASTER_DIR_H

#include "base/map.h"
#include "masters/zonefile.h"
#include "run/loop.h"

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

/** Read every `*.zone` whose stamp is not current. @param stamps path -> stamp, or empty [borrowed]. @param out filled; master_dir_fini
 *  [out]. */
void master_dir_read(const char *dir, const struct map *stamps, struct master_dir *out);
/** Release; empty and usable again. */
void master_dir_fini(struct master_dir *d);

/** A read of the directory on a thread of the pool. */
struct master_dir_job;

/**
 * As master_dir_read, on a thread of the pool.
 *
 * @param dir          of master files                                           [copied]
 * @param take_stamps  path -> stamp, values for free()                          [taken]
 * @param done         called from the loop, unless it is cancelled; the job is gone. found: take it or leave it
 * @return the job.   Thread: owner.   Source: ours.
 */
struct master_dir_job *master_dir_start(struct run_loop *loop, const char *dir, struct map *take_stamps,
                                        void (*done)(void *arg, struct master_dir *found), void *arg);
/** Forget it: done is not called. NULL is fine. Thread: owner. Source: ours. */
void master_dir_cancel(struct master_dir_job *job);

#endif

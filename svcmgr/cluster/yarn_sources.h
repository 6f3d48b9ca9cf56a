/**
 * The texts of sources that a launch on YARN wants expanded. Node managers only copy files, so the application master reads these itself:
 *
 *     a file of its node     with the rights of its own process, which are those of the service's containers
 *     a file of the web      as on a local cluster, see localizer/localizer.h
 *     a file of HDFS         as the owner of the application
 *
 * Reading blocks, so it is done on the pool, for one launch after the other. What comes from elsewhere is kept in a directory for a while, so
 * a hundred containers fetch a file once.
 *
 * Thread: owner for everything.   Source: ours.
 */
#ifndef CLUSTER_YARN_SOURCES_H
#define CLUSTER_YARN_SOURCES_H

#include "base/buf.h"
#include "cluster/cluster.h"
#include "fs/place.h"

struct yarn_sources;      /* of one application master */
struct yarn_sources_read; /* under way */

struct yarn_sources_config {
    struct run_loop *loop;
    struct fs_conf fs;
    const char *user; /* owner of the application; copied */
    const char *dir;  /* for what is kept: made when it is missing, in a directory that exists; copied */
    int64_t fresh_s;  /* what is kept is used so long without a question to its server */
};

/** Free with yarn_sources_free. */
struct yarn_sources *yarn_sources_new(const struct yarn_sources_config *config);
/** Every reading is done or cancelled. A cancelled one may still end later; nothing is called then. NULL is fine. */
void yarn_sources_free(struct yarn_sources *s);
/**
 * Read the sources of files.
 *
 * @param files  n of them, with source: only source and config count                [borrowed for the call]
 * @param done   called once, later, unless it was cancelled: 0 with n texts in their order, borrowed for the call; or ERR_INVALID, ERR_CONFIG,
 *               ERR_UNAVAILABLE, … of source_text.h: texts is NULL, *why names the first source that cannot be had
 * @return for yarn_sources_cancel, until done.
 */
struct yarn_sources_read *yarn_sources_start(
    struct yarn_sources *s, const struct cluster_file *files, size_t n,
    void (*done)(void *arg, int err, struct buf *texts, const struct err_info *why), void *arg);
/** done is not called any more. */
void yarn_sources_cancel(struct yarn_sources_read *r);

#endif

/**
 * From a launch of the engine's to a launch context of YARN: command, environment, and the files that the node manager fetches.
 *
 *     bytes that were made here   served by HTTP: files_url/SECRET/N, or uploaded to HDFS: directory/SECRET/N; until the container is dropped
 *     a text with placeholders    read here (yarn_sources.h) and expanded: then it is bytes that were made here
 *     a file of the web           fetched by the node from there
 *     a file of HDFS              fetched by the node from there; its size and time are asked for
 *     a file of the hosts         copied by the node, which must have it, too
 *
 * A secret of 128 random bits is what protects a file that is served. One in HDFS is its owner's alone.
 *
 * Thread: owner for everything.   Source: Hadoop, ContainerLaunchContext, FSDownload.
 */
#ifndef CLUSTER_YARN_CONTEXT_H
#define CLUSTER_YARN_CONTEXT_H

#include "cluster/cluster.h"
#include "fs/place.h"
#include "protocols.pb-c.h"

struct http_client;
struct yarn_context_maker;
struct yarn_context_call; /* a context that is being made */

struct yarn_context_config {
    struct run_loop *loop;
    struct http_client *http;
    struct fs_conf fs;
    const char *user;      /* owner of the application; copied */
    const char *files_url; /* under which our HTTP server answers yarn_context_served; copied */
    const char *directory; /* URI in HDFS where bytes are uploaded to; NULL: they are served; copied */
    const char *cache_dir; /* for sources that are read here, see yarn_sources.h; copied */
    int64_t fresh_s;       /* likewise */
};

/** @param out  free with yarn_context_maker_free [out] */
void yarn_context_maker_new(const struct yarn_context_config *config, struct yarn_context_maker **out);
/** No context is being made. What is in HDFS stays. NULL is fine. */
void yarn_context_maker_free(struct yarn_context_maker *m);
/**
 * Make a context.
 *
 * @param c       the container                                                   [borrowed for the call]
 * @param launch  copied
 * @param done    called once, later, unless it was cancelled: 0 with the context, borrowed for the call; or ERR_NOTFOUND, ERR_PERMISSION …: a
 *                file; ERR_UNSUPPORTED: a name or a file that a node cannot be given, *why says which
 * @return for yarn_context_cancel, until done.
 */
struct yarn_context_call *yarn_context_make(
    struct yarn_context_maker *m, const struct cluster_container *c, const struct cluster_launch *launch,
    void (*done)(void *arg, int err, const Yarn__LaunchContext *context, const struct err_info *why),
    void *arg);
/** done is not called any more. */
void yarn_context_cancel(struct yarn_context_call *call);
/** The container needs its files no more. Unknown ones are fine. */
void yarn_context_drop(struct yarn_context_maker *m, const char *container_id);
/**
 * A file that is served.
 *
 * @param secret, name  the elements of its path behind files_url                  [borrowed]
 * @param bytes         len of them, until the next turn of the loop               [out]
 * @return 0; ERR_NOTFOUND
 */
int yarn_context_served(const struct yarn_context_maker *m, const char *secret, const char *name,
                        const char **bytes, size_t *len);

#endif

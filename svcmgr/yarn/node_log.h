/**
 * A file of a container as the web service of its node manager sends it, read as it comes:
 *
 *     Container: container_1700000000000_0001_01_000002 on node1:8041
 *     LogAggregationType: LOCAL
 *     ===============================
 *     LogType:stdout.txt
 *     LogLastModifiedTime:…
 *     LogLength:4711                    bytes that the file had when it was opened
 *     LogContents:
 *     …                                 min(LogLength, those that were asked for) bytes
 *     End of LogType:stdout.txt…        not read
 *
 * It is asked for the last bytes of a file, `?size=-N`, as it knows no offset. The file may have grown since its size was read, so
 * more are asked for than are wanted, and those before the offset are dropped.
 *
 * Pure. Thread: any; one object one thread.   Source: Hadoop, NMWebServices.getContainerLogFile, LogToolUtils.
 */
#ifndef YARN_NODE_LOG_H
#define YARN_NODE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/** A piece of a file, while it is received. */
struct node_log {
    int64_t n_asked; /* last bytes of the file that were asked for */
    int64_t offset;  /* of the first byte that is wanted */
    size_t n_max;    /* bytes that are wanted */
    int64_t length;  /* of the file; -1: not known yet */
    int64_t at;      /* offset of the next byte that comes */
    bool has_head, is_bad;
    struct buf head; /* until its end has come */
    struct buf text; /* the bytes that are wanted, so far */
};

/** @param size  of the file, as it was a moment ago @param log  release with node_log_fini [out] */
void node_log_begin(struct node_log *log, int64_t size, int64_t offset, size_t n_max);
/** Take what comes. @return false: no more is needed: all that is wanted has come, or is_bad: it is no such answer. */
bool node_log_take(struct node_log *log, const char *bytes, size_t len);
/** All that is wanted of the file's length has come; or there is no head: an empty file has none. */
bool node_log_is_whole(const struct node_log *log);
/** Release. */
void node_log_fini(struct node_log *log);

#endif

/**
 * Changes in HDFS: a request for WebHDFS, on the loop. A file is created in two steps, as HDFS has it:
 *
 *   caller            NameNode                       DataNode
 *     |-- PUT op=CREATE -->|                             |
 *     |<- 307 Location ----|                             |
 *     |-- PUT Location, the content ------------------->|
 *     |<- 201 ------------------------------------------|
 *
 * Of several NameNodes the next one is asked where one does not answer, or is a standby.
 *
 * Thread: owner.   Source: Hadoop's "WebHDFS REST API".
 */
#ifndef FS_CLIENT_H
#define FS_CLIENT_H

#include "fs/place.h"
#include "fs/webhdfs.h"
#include "http/client.h"

enum fs_op {
    FS_STATUS, /* what is there */
    FS_CREATE, /* a file with a content */
    FS_MKDIRS, /* a directory, and those above it; it may be there already */
    FS_DELETE, /* a file or a directory */
    N_FS_OPS
};

struct fs_request {
    enum fs_op op;
    const struct fs_place *place; /* of HDFS; copied */
    const char *user;             /* who does it; copied */
    struct http_file content;     /* of FS_CREATE; see http/client.h */
    bool overwrites;              /* FS_CREATE: a file that is there is replaced; else it is ERR_EXISTS */
    bool is_recursive; /* FS_DELETE: with all in it; else a directory with anything in it is ERR_NOTEMPTY */
    unsigned mode;     /* of all that FS_CREATE and FS_MKDIRS make: 0755; 0: the server's */
    /**
     * Called exactly once, never inside fs_start. err: 0; ERR_NOTFOUND (FS_STATUS, FS_DELETE), ERR_EXISTS, ERR_NOTEMPTY,
     * ERR_PERMISSION, ERR_AUTH, ERR_LIMIT, ERR_IO as webhdfs_read_fault; ERR_UNAVAILABLE: no NameNode serves;
     * ERR_TIMEOUT and ERR_UNKNOWN_OUTCOME: it may have been done, and of FS_CREATE a part of the content may be there;
     * ERR_CANCELLED. why names the place. status: what is there, of FS_STATUS with 0; else NULL.
     */
    void (*done)(void *arg, int err, const struct fs_status *status, const struct err_info *why);
    void *arg;
};

struct fs_call;

/**
 * Start a request.
 *
 * @param http  client that is not being freed                                       [borrowed, outlives the call]
 * @param r     copied but for arg and the file                                      [borrowed during the call]
 * @return handle for fs_cancel, valid until done.   Thread: owner.   Source: ours.
 */
struct fs_call *fs_start(struct http_client *http, const struct fs_request *r);
/** End a request: done is called with ERR_CANCELLED before this returns. Thread: owner. */
void fs_cancel(struct fs_call *call);

#endif

/**
 * A file into HDFS, once: what is there with the same length is used. The name of a file says its content, or is used once.
 *
 * Thread: owner.   Source: Hadoop's WebHDFS; ours.
 */
#ifndef FS_UPLOAD_H
#define FS_UPLOAD_H

#include "fs/client.h"

struct fs_upload_def {
    const struct fs_place *directory; /* of HDFS; made when it is missing                          */
    const struct fs_place *file;      /* in it                                                     */
    const char *user;                 /* whose file it is                                          */
    unsigned directory_mode, mode;    /* 0600 for one with secrets                                 */
    struct http_file content;         /* open until done                                           */
};

struct fs_upload;
/**
 * Start it.
 *
 * @param http  outlives it                                                      [borrowed]
 * @param def   copied; the places are borrowed until done
 * @param done  called once, never inside this call: 0 with what is there; ERR_* of fs/client.h; ERR_CANCELLED
 * @return for fs_upload_cancel, until done.
 */
struct fs_upload *fs_upload_start(struct http_client *http, const struct fs_upload_def *def,
                                  void (*done)(void *arg, int err, const struct fs_status *status,
                                               const struct err_info *why),
                                  void *arg);
/** End it: done is called with ERR_CANCELLED before this returns. */
void fs_upload_cancel(struct fs_upload *u);
/**
 * A content that is in memory, as a file without a name.
 *
 * @param bytes  len of them                                                     [borrowed]
 * @param out    its descriptor is closed by the caller                          [out]
 * @return 0; or ERR_IO with *why filled: *out unchanged.   Thread: any.   Source: memfd_create(2).
 */
int fs_upload_content(const void *bytes, size_t len, struct http_file *out, struct err_info *why);

#endif

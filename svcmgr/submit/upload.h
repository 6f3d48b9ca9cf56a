/**
 * A file of svcmgr's into HDFS, once: what is there with the same length is used. The name of an archive says its content (package.h); the
 * file of an application has a name of its own.
 *
 * Thread: owner.   Source: Hadoop's WebHDFS; ours.
 */
#ifndef SUBMIT_UPLOAD_H
#define SUBMIT_UPLOAD_H

#include "fs/client.h"

struct submit_upload_def {
    const struct fs_place *directory; /* of HDFS; made when it is missing                          */
    const struct fs_place *file;      /* in it                                                     */
    const char *user;                 /* whose file it is                                          */
    unsigned directory_mode, mode;    /* 0600 for one with secrets                                 */
    struct http_file content;         /* open until done                                           */
};

struct submit_upload;
/**
 * Start it.
 *
 * @param http  outlives it                                                      [borrowed]
 * @param def   copied; the places are borrowed until done
 * @param done  called once, never inside this call: 0 with what is there; ERR_* of fs/client.h; ERR_CANCELLED
 * @return for submit_upload_cancel, until done.
 */
struct submit_upload *submit_upload_start(struct http_client *http, const struct submit_upload_def *def,
                                          void (*done)(void *arg, int err, const struct fs_status *status,
                                                       const struct err_info *why),
                                          void *arg);
/** End it: done is called with ERR_CANCELLED before this returns. */
void submit_upload_cancel(struct submit_upload *u);

#endif

/**
 * The files of an application master in HDFS: the archive of package.h and the master's configuration, in a directory of the service's.
 *
 *     DIRECTORY/am-HASH.tar.gz        0600, the directory and those above it that are missing 0700: owned by the user, as whom
 *     DIRECTORY/yarn-site-HASH.xml    node managers fetch them
 *
 * A name says the content, so a submission that is repeated uses what is there: the application may have been submitted already, and waits
 * for exactly that modification time.
 *
 * What HDFS cannot do now is tried again, after 200 ms and then less often, to 5 s.
 *
 * Thread: owner.   Source: Hadoop's LocalResource; ours.
 */
#ifndef SUBMIT_STAGE_H
#define SUBMIT_STAGE_H

#include "base/buf.h"
#include "fs/client.h"
#include "run/loop.h"
#include "submit/package.h"

struct submit_stage_def {
    struct run_loop *loop;
    struct http_client *http; /* outlives it */
    struct fs_conf fs;
    const char *directory;                /* URI of HDFS */
    const char *user;                     /* whose files they are */
    const struct submit_package *package; /* stays until done */
    const struct buf *site;               /* copied */
};

/** What is there. */
struct submit_staged {
    const char *program_url, *site_url;
    struct fs_status program, site;
};

struct submit_stage;

/**
 * Have both files there.
 *
 * @param def    copied
 * @param waits  called when it cannot be done now, with the reason; NULL: nobody asks
 * @param done   called once, never inside this call: 0 with what is there, borrowed for the call; ERR_PERMISSION, ERR_AUTH, ERR_LIMIT (a
 *               quota), ERR_CONFIG, ERR_INVALID: HDFS refuses it, or cannot be found; ERR_IO: the archive cannot be read
 * @return for submit_stage_cancel, until done.
 */
struct submit_stage *submit_stage_start(const struct submit_stage_def *def,
                                        void (*waits)(void *arg, const struct err_info *why),
                                        void (*done)(void *arg, int err, const struct submit_staged *staged,
                                                     const struct err_info *why),
                                        void *arg);
/** End it; done is not called any more. */
void submit_stage_cancel(struct submit_stage *s);

#endif

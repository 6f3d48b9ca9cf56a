/**
 * What the node manager is given to start the application master: command, environment and files.
 *
 *     exec /bin/bash -c "LD_LIBRARY_PATH=./am/lib ./am/svcmgr am 1><LOG_DIR>/serviceam-out.txt 2><LOG_DIR>/serviceam-err.txt"
 *
 * Two shells read the command and one the values of variables, so both are plain words: what a shell would change is refused. Options of
 * the master, with its secrets, are in a file of Hadoop's form (submit_site): command and environment can be seen by others.
 *
 * Pure. Thread: any.   Source: Hadoop, ContainerLaunch, FSDownload, Configuration.
 */
#ifndef SUBMIT_AM_CONTEXT_H
#define SUBMIT_AM_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/mem.h"
#include "bobbin/error.h"
#include "records.pb-c.h"

/** In the container: the directory of the unpacked program, and the file of options. */
#define SUBMIT_PROGRAM_LINK "am"
#define SUBMIT_SITE_LINK    "bobbin-site.xml"

/** A file or an archive that the node manager fetches. */
struct submit_resource {
    const char *link;    /* name in the working directory                                            */
    const char *url;     /* hdfs://nn:8020/a, http://host:9191/a; nothing in the path is unescaped    */
    int64_t size;        /* bytes                                                                    */
    int64_t modified_ms; /* exact, of HDFS; 0 of http and https                                      */
    bool is_archive;     /* unpacked; its path ends in .tar.gz, or in another suffix that Hadoop knows */
    bool is_of_user;     /* kept on the node for other applications of the user; else of this one only */
};

struct submit_variable {
    const char *name, *value;
};

struct submit_launch {
    const char *const *words; /* n_words: program and arguments, without the redirections */
    size_t n_words;
    const char *library_path; /* NULL: none */
    const struct submit_variable *variables;
    size_t n_variables;
    const struct submit_resource *resources;
    size_t n_resources;
};

/** A key of a configuration. */
struct submit_option {
    const char *key, *value;
};

/**
 * Make the launch context.
 *
 * @param a    everything lives in it                                            [in,out]
 * @param l    copied
 * @param out  [out]
 * @param why  filled on error, where is the word, variable or link; may be NULL [out]
 * @return 0; or ERR_INVALID: a word or value that a shell would change, a name that is none, a URL without scheme or path.
 */
int submit_launch_message(struct arena *a, const struct submit_launch *l, Yarn__LaunchContext **out,
                          struct err_info *why);
/**
 * Append a configuration of Hadoop's form.
 *
 * @param options  n of them, UTF-8                                              [borrowed]
 * @param why      filled on error, where is the key; may be NULL                [out]
 * @return 0; or ERR_INVALID: a text that is not UTF-8 or that XML cannot hold (a control character). *out is unchanged.
 */
int submit_site(const struct submit_option *options, size_t n, struct buf *out, struct err_info *why);

#endif

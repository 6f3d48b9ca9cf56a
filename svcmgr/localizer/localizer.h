/**
 * Shared by the localizer's files. A localizer gets what one launch needs, with the rights of the container's user:
 *
 *   path  --open--+
 *                 +--> descriptor --+--> copy:    a file, or a directory
 *   URI --cache---+                 +--> convert: a JSON object
 *          |                        +--> unpack:  a directory
 *        fetch <-- hdfs
 *
 * Its calls may block in a file system or a network; svcmgr kills it after a time.
 *
 * Functions that return int: 0; or -1 with problem, error and detail of *f filled.
 * Thread: the program's only one.   Source: ours.
 */
#ifndef LOCALIZER_LOCALIZER_H
#define LOCALIZER_LOCALIZER_H

#include <sys/stat.h>

#include "base/buf.h"
#include "shim/sources_wire.h"

/** Fill a fault. @return -1. */
int localizer_fault(struct source_fault *f, enum source_problem problem, int error);

/* ---- open.c ---- */

/**
 * Open a file to read. What is no regular file, or reached by a symbolic link below a directory of *ask, is not opened.
 * @param st  of the file, on success                                                [out]
 * @return descriptor; -1: *f says why.   Source: openat(2), symlink(7).
 */
int localizer_open(const struct sources_ask *ask, const char *path, struct stat *st, struct source_fault *f);
/** As localizer_open; a directory is opened, too. */
int localizer_open_tree(const struct sources_ask *ask, const char *path, struct stat *st,
                        struct source_fault *f);

/* ---- copy.c ---- */

/** What may still be copied. */
struct copy_limits {
    int64_t bytes;
    int64_t entries; /* files and directories of trees */
};

/**
 * Copy a file from where it stands; its blocks are shared where the file system can.
 *
 * @param max       bytes that may be copied
 * @param n_copied  bytes that were                                                  [out]
 * @return 0; or -1: SOURCE_TOO_LARGE, SOURCE_UNREAD or SOURCE_UNWRITTEN.
 */
int localizer_copy(int from, int to, int64_t max, int64_t *n_copied, struct source_fault *f);
/**
 * Copy what is in a directory: files of mode 0500, directories of 0700, links that stay inside.
 *
 * @param from  directory                                                            [borrowed]
 * @param to    a new directory                                                      [borrowed]
 * @param left  what may still be copied; what was is taken away                     [in,out]
 * @return 0; or -1: as localizer_copy; SOURCE_NO_RIGHT, SOURCE_LINK, SOURCE_ENTRY_KIND or SOURCE_ENTRIES, *f says of which.
 */
int localizer_copy_tree(int from, int to, struct copy_limits *left, struct source_fault *f);
/** All files beneath a directory that we have made get the mode 0500. @return 0; or -1: SOURCE_UNWRITTEN. */
int localizer_protect_tree(int top, struct source_fault *f);

/* ---- fetch.c ---- */

/** What is known of a URL's content, and asked anew: both "" when the server says nothing. */
struct fetch_version {
    char etag[256]; /* of HDFS: of what its status says */
    char last_modified[64];
};

/** What is fetched, and as whom. */
struct fetch_from {
    const struct source *source;
    const char *user; /* of HDFS; NULL: nobody in particular */
};

/** What a fetch has come to. */
enum fetch_result { FETCH_DONE, FETCH_SAME, FETCH_FAILED };

/** One request. */
struct fetch_request {
    const char *url;
    const struct fetch_version *known; /* is asked for only if it is not this any more; NULL: in any case */
    bool is_head, is_quick;            /* quick: a person waits, 5 s in all */
    int fd;            /* where the body of a 200 is written; -1: it goes into page, too [borrowed] */
    int64_t max_bytes; /* of that body */
    struct buf *page;  /* gets other bodies, cut at WEBHDFS_ANSWER_MAX; NULL: they are dropped [borrowed] */
    int status;        /* [out] */
    struct fetch_version version; /* of a 200 [out] */
};

/**
 * Ask a web server. Redirects are followed five times, from https: only to https:; the server's certificate is checked against the
 * system's authorities; an answer that stands still for 30 s is given up.
 *
 * @return 0: it has answered with r->status, whatever that is; -1: SOURCE_NO_SERVER, SOURCE_TOO_LARGE or SOURCE_UNWRITTEN in *f.
 * Source: RFC 9110 13.1, 15.
 */
int localizer_request(struct fetch_request *r, struct source_fault *f);

/**
 * Fetch a source that is a URI: a GET of a URL; of HDFS the status, and the content where that is another than the known one.
 *
 * @param fd         where the content is written                                    [borrowed]
 * @param max_bytes  of the content
 * @param known      FETCH_SAME when it is still this; replaced by what is fetched     [in,out]
 * @return FETCH_FAILED: *f has what localizer_request says, SOURCE_ABSENT (404, 410), SOURCE_STATUS, or of HDFS SOURCE_NO_RIGHT or
 *         SOURCE_NOT_REGULAR.
 */
enum fetch_result localizer_fetch(const struct fetch_from *from, int fd, int64_t max_bytes,
                                  struct fetch_version *known, struct source_fault *f);
/**
 * Whether a source that is a URI is there, before anybody wants it. A server that does not answer now, or not to HEAD, may have it at
 * the launch.
 * @return 0; or -1: SOURCE_ABSENT in *f, or of HDFS SOURCE_NO_RIGHT, SOURCE_NOT_REGULAR or SOURCE_TOO_LARGE.
 */
int localizer_look(const struct fetch_from *from, int64_t max_bytes, struct source_fault *f);

/* ---- hdfs.c ---- */

/** localizer_fetch for HDFS: at the first NameNode that serves. @param known  as its etag; NULL: only a look, fd is not used */
enum fetch_result localizer_fetch_hdfs(const struct fetch_from *from, int fd, int64_t max_bytes,
                                       struct fetch_version *known, struct source_fault *f);

/* ---- unpack.c ---- */

/**
 * Unpack an archive: tar, plain or compressed by gzip, bzip2, xz or zstd, or zip. Nothing is written outside of the directory
 * and nothing through a symbolic link; links lead to what is inside; modes are cut to rwx and the owner may always read and
 * write.
 *
 * @param from  the archive, at its begin                                            [borrowed]
 * @param to    a new directory                                                      [borrowed]
 * @param left  what may still come out; what did is taken away                      [in,out]
 * @return 0; or -1: SOURCE_NO_ARCHIVE, SOURCE_ENTRY_*, SOURCE_ENTRIES, SOURCE_EXPANDS, SOURCE_RATIO or SOURCE_UNWRITTEN; what came out
 *         before stays.   Source: libarchive; tar(5).
 */
int localizer_unpack(int from, int to, struct unpack_limits *left, struct source_fault *f);

/* ---- config.c ---- */

/**
 * Write the names and values of a configuration file as a JSON object of strings: what parses it has its user's rights only.
 *
 * @param from       the file, at its begin                                          [borrowed]
 * @param to         where the object is written                                     [borrowed]
 * @param form       SOURCE_XML, without DOCTYPE and XInclude, or SOURCE_PROPERTIES
 * @param max_bytes  of the file
 * @return 0; or -1: SOURCE_NO_CONFIG, SOURCE_TOO_LARGE, SOURCE_UNREAD or SOURCE_UNWRITTEN.
 * Source: Hadoop's Configuration; java.util.Properties.load, in UTF-8.
 */
int localizer_convert(int from, int to, enum source_form form, int64_t max_bytes, struct source_fault *f);

/* ---- entry.c ---- */

/** An entry may lie that deep. */
#define ENTRY_DEPTH_MAX 64

/**
 * The name of an entry, cut of "./" and of slashes at its end, in place.
 * @param name  of the archive                                                       [borrowed]
 * @return new text, free(): "" for the directory itself; NULL: *f says that it leads outside or is no name.
 */
char *entry_name(const char *name, struct source_fault *f);
/**
 * Whether a symbolic link stays inside: it is relative, and ".." stands only at its begin, at most as often as the entry is deep.
 * That holds whatever other links there are, as the directories above an entry are none.
 * @param name  from entry_name                                                      [borrowed]
 */
bool entry_link_is_inside(const char *name, const char *target);
/**
 * Open the directory that an entry lies in, making what is missing.
 * @param last  what of the name names the entry in it                               [out]
 * @return descriptor; -1: a symbolic link or a file is in the way (SOURCE_ENTRY_OUTSIDE), or SOURCE_UNWRITTEN.
 */
int entry_open_parent(int top, const char *name, const char **last, struct source_fault *f);

/* ---- cache.c ---- */

/**
 * The content of a URI, from the cache or through it. Several that want the same wait for the first. The directory is its
 * user's, who reaches it only as a localizer; in it
 *
 *   url-<SHA-256 of the URI>   digest, size, validators and the time of the last question to the server
 *   data-<SHA-256>             a content; its modification time is that of its last use
 *   lock-<xx>                  held by who works on a URL whose SHA-256 begins so
 *
 * A content that is not what its name says is fetched again. While the server does not answer, what is there is used.
 *
 * @param dir        of the cache                                                    [borrowed]
 * @param max_bytes  of the content
 * @param fresh_s    what was fetched, or asked for, later than this is not asked for again
 * @return descriptor at the begin of the content, with a shared lock on it while it is open; -1: *f says why.
 */
int localizer_cache(int dir, const struct fetch_from *from, int64_t max_bytes, int64_t fresh_s,
                    struct source_fault *f);

#endif

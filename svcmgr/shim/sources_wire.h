/**
 * Protocol between svcmgr and a localizer. A localizer is `container-localizer`: it drops svcmgr's rights for those of the
 * container's user, and then opens, fetches and unpacks what a caller has named.
 *
 *   descriptor 0   the request, as records (records.h)
 *   descriptor 1   the answer: a line for each source that cannot be had, `3 no-right 13 detail`: its number, the problem, an
 *                  errno or an HTTP status, and for some problems what it is about
 *   descriptor 3   with has_cache: the directory of the user's cache, see localizer/cache.h
 *   ./             source i becomes the file `i`, or the directory `i` with what an archive has; a check makes neither
 *
 * Thread: any.   Source: ours.
 */
#ifndef SHIM_SOURCES_WIRE_H
#define SHIM_SOURCES_WIRE_H

#include "shim/records.h"

/** The directory of the cache. */
#define SOURCES_CACHE_FD 3
/** A request larger than this is refused. */
#define SOURCES_REQUEST_MAX (8 << 20)

#define SOURCE_PROBLEMS(X)                                                                                   \
    X(SOURCE_ABSENT, "absent")               /* no such file; the server has none                         */ \
    X(SOURCE_NO_RIGHT, "no-right")           /* the user may not reach or read it                         */ \
    X(SOURCE_LINK, "link")                   /* an element of its path is a symbolic link                 */ \
    X(SOURCE_OUTSIDE, "outside")             /* not beneath one of the directories, or with ".."          */ \
    X(SOURCE_NOT_REGULAR, "not-regular")     /* a directory, device, FIFO or socket; it was not opened    */ \
    X(SOURCE_TOO_LARGE, "too-large")         /* larger than its limit, or than what is left of all bytes  */ \
    X(SOURCE_UNREAD, "unread")               /* reading failed                                            */ \
    X(SOURCE_UNWRITTEN, "unwritten")         /* the copy cannot be written                                */ \
    X(SOURCE_STATUS, "status")               /* the server answers this HTTP status                       */ \
    X(SOURCE_NO_SERVER, "no-server")         /* no answer; detail: why                                    */ \
    X(SOURCE_NO_ARCHIVE, "no-archive")       /* it cannot be read as one; detail: why                     */ \
    X(SOURCE_NO_CONFIG, "no-config")         /* it is no configuration of its form; detail: why           */ \
    X(SOURCE_ENTRY_OUTSIDE, "entry-outside") /* an entry or its link leads outside; detail: which         */ \
    X(SOURCE_ENTRY_KIND, "entry-kind")       /* an entry is a device, FIFO or socket; detail: which       */ \
    X(SOURCE_ENTRY_NAME, "entry-name")       /* an entry has no name that a file can have; detail: which  */ \
    X(SOURCE_ENTRIES, "entries")             /* more entries than max_entries                             */ \
    X(SOURCE_EXPANDS, "expands")             /* more bytes come out than max_bytes; detail: of which      */ \
    X(SOURCE_RATIO, "ratio")                 /* more bytes come out of each than max_ratio; detail: which */

#define SOURCE_ENUM(id, word) id,
/** Room for a detail. */
#define SOURCE_DETAIL_MAX 256

enum source_problem { SOURCE_PROBLEMS(SOURCE_ENUM) N_SOURCE_PROBLEMS };
#undef SOURCE_ENUM

/** What a source is, and becomes. */
enum source_form {
    SOURCE_FILE,       /* a copy */
    SOURCE_ARCHIVE,    /* a directory with what is in it */
    SOURCE_XML,        /* of Hadoop's configuration, a JSON object of its names and values */
    SOURCE_PROPERTIES, /* of Java, the same */
    SOURCE_TREE, /* a copy of a file or a directory; of an archive, by its name, what is in it. Files of mode 0500 */
    N_SOURCE_FORMS
};

struct source {
    char *path;        /* absolute, or a URI of http:, https: or HDFS */
    int64_t max_bytes; /* of this file, as it is read */
    enum source_form form;
    char **urls; /* of HDFS: in WebHDFS, one for each of its NameNodes; else none */
    size_t n_urls;
};

/** What may come out of the archives of a request. */
struct unpack_limits {
    int64_t max_bytes;   /* of all together */
    int64_t max_entries; /* of all together */
    int64_t max_ratio;   /* bytes for each byte of an archive */
};

/** A request. Strings are owned by the struct; release with sources_ask_fini. */
struct sources_ask {
    bool is_check; /* open all and copy none; else copy in order and end at the first problem */
    struct shim_user user;
    char *owner;       /* whom HDFS is asked as; NULL: nobody in particular */
    int64_t max_bytes; /* of all files together, as they are read */
    struct unpack_limits unpack;
    bool has_cache;
    int64_t fresh_s; /* what the cache has is used so long without a question to its server */
    char **dirs;     /* absolute; a file must lie beneath one of them */
    size_t n_dirs;
    struct source *sources;
    size_t n_sources;
};

struct source_fault {
    size_t source; /* number of the file */
    enum source_problem problem;
    int error;                      /* errno or HTTP status, or 0 */
    char detail[SOURCE_DETAIL_MAX]; /* one line of UTF-8, or "" */
};

/** A source is a URI, not a path: it is fetched. */
bool source_is_url(const char *path);
/** Append a directory / a source; strings are copied. */
void sources_ask_dir(struct sources_ask *a, const char *dir);
void sources_ask_file(struct sources_ask *a, enum source_form form, const char *path, int64_t max_bytes);
/** Append a URL to the source that was appended last; it is copied. */
void sources_ask_url(struct sources_ask *a, const char *url);
/** Release the strings; *a is empty afterwards. */
void sources_ask_fini(struct sources_ask *a);
/** Write *a as records, appended to out. */
void sources_ask_write(const struct sources_ask *a, struct buf *out);
/**
 * Read a request's bytes.
 * @param bytes  len bytes                                                           [borrowed]
 * @param out    filled on success, an empty struct before                           [out]
 * @return 0; or ERR_PARSE naming the record: *out is empty.
 */
int sources_ask_read(const char *bytes, size_t len, struct sources_ask *out, struct err_info *why);

/** Describe a fault: what cannot stand in a line becomes '?', what is too long is cut. */
void source_fault_detail(struct source_fault *f, const char *text);
/** Append the line of a fault. */
void source_fault_write(const struct source_fault *f, struct buf *out);
/** Read a line, newline optional. @return 0; or ERR_PARSE: *out unchanged. */
int source_fault_read(const char *line, struct source_fault *out);

#endif

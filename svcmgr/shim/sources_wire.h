/**
 * Protocol between svcmgr and a reader of sources. A reader is `container-shim sources`: it drops svcmgr's rights
 * for those of the container's user, and then opens the files that a caller has named.
 *
 *   descriptor 0   the request, as records (records.h)
 *   descriptor 1   the answer: one line for each file that cannot be read, `3 no-right 13`: its number, the problem, an errno
 *   ./             where file i is copied to as `i`; a check makes no copies
 *
 * Thread: any.   Source: ours.
 */
#ifndef SHIM_SOURCES_WIRE_H
#define SHIM_SOURCES_WIRE_H

#include "shim/records.h"

/** The argument that makes container-shim a reader of sources. */
#define SOURCES_ARGUMENT "sources"
/** A request larger than this is refused. */
#define SOURCES_REQUEST_MAX (8 << 20)

#define SOURCE_PROBLEMS(X)                                                                                   \
    X(SOURCE_ABSENT, "absent")           /* no such file                                              */     \
    X(SOURCE_NO_RIGHT, "no-right")       /* the user may not reach or read it                         */     \
    X(SOURCE_LINK, "link")               /* an element of its path is a symbolic link                 */     \
    X(SOURCE_OUTSIDE, "outside")         /* not beneath one of the directories, or with ".."          */     \
    X(SOURCE_NOT_REGULAR, "not-regular") /* a directory, device, FIFO or socket; it was not opened    */     \
    X(SOURCE_TOO_LARGE, "too-large")     /* larger than its limit, or than what is left of all bytes  */     \
    X(SOURCE_UNREAD, "unread")           /* reading failed                                            */     \
    X(SOURCE_UNWRITTEN, "unwritten")     /* the copy cannot be written                                */

#define SOURCE_ENUM(id, word) id,
enum source_problem { SOURCE_PROBLEMS(SOURCE_ENUM) N_SOURCE_PROBLEMS };
#undef SOURCE_ENUM

struct source {
    char *path;        /* absolute */
    int64_t max_bytes; /* of this file */
};

/** A request. Strings are owned by the struct; release with sources_ask_fini. */
struct sources_ask {
    bool is_check; /* open all and copy none; else copy in order and end at the first problem */
    struct shim_user user;
    int64_t max_bytes; /* of all files together */
    char **dirs;       /* absolute; a file must lie beneath one of them */
    size_t n_dirs;
    struct source *sources;
    size_t n_sources;
};

struct source_fault {
    size_t source; /* number of the file */
    enum source_problem problem;
    int error; /* errno, or 0 */
};

/** Append a directory / a file; strings are copied. */
void sources_ask_dir(struct sources_ask *a, const char *dir);
void sources_ask_file(struct sources_ask *a, const char *path, int64_t max_bytes);
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

/** Append the line of a fault. */
void source_fault_write(const struct source_fault *f, struct buf *out);
/** Read a line, newline optional. @return 0; or ERR_PARSE: *out unchanged. */
int source_fault_read(const char *line, struct source_fault *out);

#endif

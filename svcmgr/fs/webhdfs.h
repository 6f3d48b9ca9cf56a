/**
 * The words of WebHDFS, HDFS's REST API: its URLs, and what its answers say. Pure.   Thread: any.
 * Source: Hadoop's "WebHDFS REST API".
 */
#ifndef FS_WEBHDFS_H
#define FS_WEBHDFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bobbin/error.h"

#define WEBHDFS_ROOT     "/webhdfs/v1"
#define WEBHDFS_PORT     9870
#define WEBHDFS_TLS_PORT 9871
/** Larger answers than this are none: but for the content of a file they are short. */
#define WEBHDFS_ANSWER_MAX 65536

/** What HDFS says of a path. */
struct fs_status {
    bool is_dir;
    int64_t len;         /* bytes */
    int64_t modified_ms; /* since 1970; exact, as YARN compares it */
    int64_t id;          /* of the file or directory; 0: the server gives none */
};

/** Escape what is not unreserved in RFC 3986, nor one of `plain`. @return new text, free(). */
char *webhdfs_escape(const char *text, const char *plain);
/**
 * @param url    of a place, see place.h                                             [borrowed]
 * @param query  operation and its parameters, escaped: "op=MKDIRS&permission=750"   [borrowed]
 * @param user   who does it; the server believes that. NULL or "": the server names somebody [borrowed]
 * @return the URL of a request, free().
 */
char *webhdfs_url(const char *url, const char *query, const char *user);
/** Read the answer of GETFILESTATUS. @return 0; or ERR_PARSE with *why: *out unchanged. */
int webhdfs_read_status(const char *bytes, size_t len, struct fs_status *out, struct err_info *why);
/** Read the answer of MKDIRS or DELETE. @return 0; or ERR_PARSE with *why: *out unchanged. */
int webhdfs_read_boolean(const char *bytes, size_t len, bool *out, struct err_info *why);
/**
 * What an answer without success says.
 *
 * @param status  of HTTP, none of 2xx
 * @param bytes   of the body, len of them: a RemoteException in JSON, or anything   [borrowed]
 * @param why     the exception's name and the first line of its message, or the status [out]
 * @return ERR_NOTFOUND; ERR_PERMISSION; ERR_AUTH (401: it wants another sign-in than user.name); ERR_UNAVAILABLE: this NameNode is a
 *         standby or does not serve yet, another one may; ERR_EXISTS; ERR_NOTEMPTY; ERR_LIMIT: a quota; ERR_IO: any other.
 */
int webhdfs_read_fault(int status, const char *bytes, size_t len, struct err_info *why);

#endif

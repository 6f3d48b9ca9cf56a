/**
 * The single list of results. Every function of Bobbin that can fail returns 0 or one of these negative codes;
 * REST status, problem type, Hadoop exception name and the exit code of a program all follow from the code.
 *
 * A row: token, code, problem type (last part of the `type` URI and stable word in `-o json`), HTTP status,
 * exit code, Hadoop exception simple name ("" when Hadoop has none), sentence.
 *
 * Source: ours; exception names from Hadoop's registry exceptions package.
 */
#ifndef BOBBIN_ERROR_H
#define BOBBIN_ERROR_H

#include <stddef.h>

#define BOBBIN_ERRORS(X)                                                                                     \
    X(ERR_INVALID, -1, "invalid-argument", 400, 2, "IllegalArgumentException", "invalid argument")           \
    X(ERR_USAGE, -2, "usage", 400, 2, "", "wrong usage")                                                     \
    X(ERR_CONFIG, -3, "configuration", 500, 3, "", "configuration error")                                    \
    X(ERR_IO, -4, "io", 500, 4, "RegistryIOException", "input/output error")                                 \
    X(ERR_UNAVAILABLE, -5, "unavailable", 503, 5, "RegistryIOException", "not reachable now")                \
    X(ERR_TIMEOUT, -6, "timeout", 504, 6, "RegistryIOException", "time is over")                             \
    X(ERR_CANCELLED, -7, "cancelled", 503, 7, "ServiceStateException", "cancelled")                          \
    X(ERR_WRONGSTATE, -8, "wrong-state", 503, 8, "ServiceStateException", "not possible in this state")      \
    X(ERR_PATH, -9, "invalid-path", 400, 9, "InvalidPathnameException", "invalid path")                      \
    X(ERR_NOTFOUND, -10, "path-not-found", 404, 10, "PathNotFoundException", "path not found")               \
    X(ERR_EXISTS, -11, "already-exists", 409, 11, "FileAlreadyExistsException", "path exists already")       \
    X(ERR_NOTEMPTY, -12, "not-empty", 409, 12, "PathIsNotEmptyDirectoryException", "path has children")      \
    X(ERR_PERMISSION, -13, "no-permission", 403, 13, "NoPathPermissionsException", "not permitted")          \
    X(ERR_AUTH, -14, "authentication-failed", 401, 14, "AuthenticationFailedException",                      \
      "authentication failed")                                                                               \
    X(ERR_EPHEMERAL, -15, "ephemeral-parent", 409, 15, "NoChildrenForEphemeralsException",                   \
      "an ephemeral node has no children")                                                                   \
    X(ERR_NORECORD, -16, "no-record", 404, 16, "NoRecordException", "no record at this path")                \
    X(ERR_RECORD, -17, "invalid-record", 422, 17, "InvalidRecordException", "invalid record")                \
    X(ERR_CONFLICT, -18, "precondition-failed", 412, 18, "", "changed by someone else meanwhile")            \
    X(ERR_GONE, -19, "revision-gone", 410, 19, "", "this revision is not available")                         \
    X(ERR_TOOBIG, -20, "too-large", 413, 20, "", "too large")                                                \
    X(ERR_JSON, -21, "bad-json", 400, 21, "", "malformed JSON")                                              \
    X(ERR_MEDIATYPE, -22, "unsupported-media-type", 415, 22, "", "unsupported media type")                   \
    X(ERR_METHOD, -23, "method-not-allowed", 405, 23, "", "method not allowed here")                         \
    X(ERR_NOROUTE, -24, "no-such-route", 404, 24, "", "no such resource")                                    \
    X(ERR_ORIGIN, -25, "foreign-origin", 403, 25, "", "request comes from a foreign web page")               \
    X(ERR_NOSPC, -26, "no-space", 507, 26, "", "no room")                                                    \
    X(ERR_LIMIT, -27, "limit", 429, 27, "", "a limit is reached")                                            \
    X(ERR_ADDRINUSE, -28, "address-in-use", 500, 28, "", "address is in use")                                \
    X(ERR_PARSE, -29, "malformed", 400, 29, "", "malformed input")                                           \
    X(ERR_UNSUPPORTED, -30, "unsupported", 501, 30, "", "not supported")                                     \
    X(ERR_NOTMODIFIED, -31, "not-modified", 304, 0, "", "not modified")                                      \
    X(ERR_INTERNAL, -32, "internal", 500, 70, "", "internal error")                                          \
    X(ERR_UNKNOWN_OUTCOME, -33, "unknown-outcome", 503, 33, "RegistryIOException",                           \
      "whether this was done is not known")                                                                  \
    X(ERR_SLOW, -34, "request-timeout", 408, 34, "", "the request comes too slowly")                         \
    X(ERR_HOST, -35, "foreign-host", 421, 35, "", "request is for another host")                             \
    X(ERR_IMPERSONATION, -36, "may-not-impersonate", 403, 36, "AuthorizationException",                      \
      "not allowed to act for another user")                                                                 \
    X(ERR_NOTACCEPTABLE, -37, "not-acceptable", 406, 37, "", "no form that the client accepts")

enum {
#define BOBBIN_ERROR_ENUM(token, code, type, http, exit_code, exception, text) token = code,
    BOBBIN_ERRORS(BOBBIN_ERROR_ENUM)
#undef BOBBIN_ERROR_ENUM
};

/** What a person needs in order to act: the code, the exact place, and a sentence that names the remedy. */
struct err_info {
    int code;        /* 0 or ERR_* */
    char where[320]; /* file:line:col, JSON pointer, path or key; "" when there is no narrower place */
    char text[512];  /* one sentence, no newline */
};

/**
 * Fill an error and give its code back, so that a caller can write `return err_set(why, ERR_X, …)`.
 *
 * @param why    filled unless NULL                                              [out]
 * @param code   ERR_*
 * @param where  exact place, or NULL                                            [borrowed]
 * @param fmt    sentence for a person, printf form
 * @return code.   Thread: any.   Source: ours.
 */
int err_set(struct err_info *why, int code, const char *where, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/** Token of a code, as "ERR_NOTFOUND"; "OK" for 0, "ERR_?" for an unknown one. Static. Thread: any. */
const char *err_name(int code);
/** Sentence of a code, as "path not found". Static. Thread: any. */
const char *err_text(int code);
/** Problem type of a code, as "path-not-found"; "ok" for 0. Static. Thread: any. */
const char *err_type(int code);
/** HTTP status of a code; 200 for 0, 500 for an unknown one. Thread: any. */
int err_http_status(int code);
/** Exit code of a program that ends with this code; 0 for 0. Thread: any. */
int err_exit_code(int code);
/** Simple name of the Hadoop exception that stands for a code, or "". Static. Thread: any. */
const char *err_exception(int code);
/** Code of a problem type read from a REST answer; ERR_INTERNAL when no row has it. Thread: any. */
int err_from_type(const char *type);

#endif

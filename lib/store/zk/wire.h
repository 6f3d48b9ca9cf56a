/**
 * ZooKeeper's client protocol as bytes: frames, the jute encoding, and the records that both sessions share.
 *
 *     frame:    len:i32 | len bytes
 *     request:  frame( xid:i32 type:i32 body )         reply: frame( xid:i32 zxid:i64 err:i32 body if err = 0 )
 *     notice:   a reply with xid -1: type:i32 state:i32 path:string
 *     hello:    frame( 0:i32 last_zxid:i64 timeout:i32 session:i64 password:buffer read_only:bool )
 *     answer:   frame( 0:i32 timeout:i32 session:i64 password:buffer [read_only:bool] )
 *
 * Integers are big-endian; a string or buffer is its length (i32, -1: null) and its bytes. A row of ZKW_OPCODES is all it takes
 * to know another request. Pure: no socket, clock or log. Thread: any.   Source: ZooKeeper's zookeeper.jute.
 */
#ifndef STORE_ZK_WIRE_H
#define STORE_ZK_WIRE_H

#include <stdbool.h>

#include "base/buf.h"
#include "store/store.h"

/** Requests: token, type on the wire. */
#define ZKW_OPCODES(X)                                                                                       \
    X(ZKW_CREATE, 1)                                                                                         \
    X(ZKW_DELETE, 2)                                                                                         \
    X(ZKW_EXISTS, 3)                                                                                         \
    X(ZKW_GET_DATA, 4)                                                                                       \
    X(ZKW_SET_DATA, 5)                                                                                       \
    X(ZKW_GET_ACL, 6)                                                                                        \
    X(ZKW_SET_ACL, 7)                                                                                        \
    X(ZKW_SYNC, 9)                                                                                           \
    X(ZKW_PING, 11)                                                                                          \
    X(ZKW_GET_CHILDREN2, 12)                                                                                 \
    X(ZKW_CHECK, 13)                                                                                         \
    X(ZKW_MULTI, 14)                                                                                         \
    X(ZKW_CREATE2, 15)                                                                                       \
    X(ZKW_AUTH, 100)                                                                                         \
    X(ZKW_SASL, 102)                                                                                         \
    X(ZKW_ADD_WATCH, 106)                                                                                    \
    X(ZKW_CLOSE_SESSION, -11)

enum zkw_opcode {
#define ZKW_OPCODE_ENUM(token, type) token = type,
    ZKW_OPCODES(ZKW_OPCODE_ENUM)
#undef ZKW_OPCODE_ENUM
};

/** Requests that are no ordinary ones have fixed xids. */
enum { ZKW_XID_NOTICE = -1, ZKW_XID_PING = -2, ZKW_XID_AUTH = -4 };
/** Kinds of notices. */
enum { ZKW_CREATED = 1, ZKW_DELETED = 2, ZKW_CHANGED = 3, ZKW_CHILD = 4 };
/** Errors of replies: token, number, what it is to callers of the store, in words. Others are ERR_IO. ERR_UNAVAILABLE: the
 *  request was not carried out for want of a session or of time, or that is unknown. Source: KeeperException.Code. */
#define ZKW_ERRORS(X)                                                                                        \
    X(ZKW_OK, 0, 0, "done")                                                                                  \
    X(ZKW_RUNTIME_INCONSISTENCY, -2, ERR_IO, "another operation of the multi failed")                        \
    X(ZKW_CONNECTION_LOSS, -4, ERR_UNAVAILABLE, "the connection was lost")                                   \
    X(ZKW_MARSHALLING, -5, ERR_IO, "the request is malformed")                                               \
    X(ZKW_UNIMPLEMENTED, -6, ERR_IO, "the server does not know this request")                                \
    X(ZKW_TIMEOUT, -7, ERR_UNAVAILABLE, "the operation timed out")                                           \
    X(ZKW_BAD_ARGUMENTS, -8, ERR_PATH, "bad arguments")                                                      \
    X(ZKW_NO_NODE, -101, ERR_NOTFOUND, "no such node")                                                       \
    X(ZKW_NO_AUTH, -102, ERR_PERMISSION, "the ACL does not allow it")                                        \
    X(ZKW_BAD_VERSION, -103, ERR_CONFLICT, "another version")                                                \
    X(ZKW_EPHEMERAL_PARENT, -108, ERR_EPHEMERAL, "an ephemeral node has no children")                        \
    X(ZKW_NODE_EXISTS, -110, ERR_EXISTS, "the node exists")                                                  \
    X(ZKW_NOT_EMPTY, -111, ERR_NOTEMPTY, "the node has children")                                            \
    X(ZKW_SESSION_EXPIRED, -112, ERR_UNAVAILABLE, "the session has expired")                                 \
    X(ZKW_INVALID_ACL, -114, ERR_PERMISSION,                                                                 \
      "the ACL is not valid (sasl: ids need the SASLAuthenticationProvider in zoo.cfg)")                     \
    X(ZKW_AUTH_FAILED, -115, ERR_AUTH, "authentication failed")                                              \
    X(ZKW_SESSION_MOVED, -118, ERR_UNAVAILABLE, "the session has moved to another server")                   \
    X(ZKW_NEEDS_SASL, -124, ERR_AUTH, "the server wants SASL authentication")                                \
    X(ZKW_THROTTLED, -127, ERR_UNAVAILABLE, "the server has too much to do")

enum zkw_error {
#define ZKW_ERROR_ENUM(token, number, err, text) token = number,
    ZKW_ERRORS(ZKW_ERROR_ENUM)
#undef ZKW_ERROR_ENUM
};

enum { ZKW_PASSWORD_MAX = 64, ZKW_LEN_BYTES = 4 };

/** A reader over bytes; after the first misfit `is_bad` stays set and everything reads as zero. */
struct zkw_in {
    const char *at, *end;
    bool is_bad;
};

/** Bytes inside a frame; NULL for a null string or buffer. */
struct zkw_bytes {
    const char *at;
    size_t len;
};

struct zkw_hello {
    int64_t last_zxid;
    int32_t timeout_ms;
    int64_t session;
    char password[ZKW_PASSWORD_MAX];
    size_t password_len; /* bytes */
};

struct zkw_header {
    int32_t xid;
    int64_t zxid;
    int32_t err;
};

/** Append one number, big-endian. */
void zkw_put_i32(struct buf *out, int32_t n);
void zkw_put_i64(struct buf *out, int64_t n);
/** Append a string or buffer; at NULL is the null one. */
void zkw_put_bytes(struct buf *out, const char *at, size_t len);

/** Begin a frame at the end of out. @return where it begins, for zkw_frame_end. */
size_t zkw_frame_begin(struct buf *out);
/** Write the length of the frame that begins at `start` and ends with the buffer. */
void zkw_frame_end(struct buf *out, size_t start);

/** A reader over n bytes. [borrowed] */
struct zkw_in zkw_in_make(const char *bytes, size_t n);
/** Next number; 0 and is_bad when there are too few bytes. */
int8_t zkw_get_i8(struct zkw_in *in);
int32_t zkw_get_i32(struct zkw_in *in);
int64_t zkw_get_i64(struct zkw_in *in);
/** Next string or buffer, pointing into the reader's bytes; is_bad when its length does not fit. */
struct zkw_bytes zkw_get_bytes(struct zkw_in *in);

/**
 * Cut the next frame off.
 *
 * @param bytes  what has arrived, from the beginning of a frame on               [borrowed]
 * @param len    bytes
 * @param max    longest frame that is accepted, bytes
 * @param frame  its content, without the length                                 [out]
 * @return bytes used, length included; 0 when the frame is not complete yet; ERR_PARSE: negative or too long.
 * Thread: any.   Source: ZooKeeper's NIOServerCnxn.
 */
int64_t zkw_frame_next(const char *bytes, size_t len, size_t max, struct zkw_bytes *frame);

/** Append the frame that opens a connection; session 0 asks for a new session. */
void zkw_put_hello(struct buf *out, const struct zkw_hello *hello);
/** Read the answer to it. timeout_ms <= 0: the session has expired. @return 0; or ERR_PARSE. */
int zkw_get_hello(struct zkw_bytes frame, struct zkw_hello *out);
/**
 * Append the frame of a request.
 *
 * @param path   of ZKW_EXISTS, ZKW_GET_DATA, ZKW_GET_CHILDREN2 (asked without a watch) and ZKW_ADD_WATCH (persistent and
 *               recursive); NULL for the others                                 [borrowed]
 * Thread: any.   Source: zookeeper.jute.
 */
void zkw_put_request(struct buf *out, int32_t xid, enum zkw_opcode opcode, const char *path);
/** As zkw_put_request, with a body that was made before, without xid and type. [borrowed] */
void zkw_put_made(struct buf *out, int32_t xid, enum zkw_opcode opcode, const struct buf *body);
/** What an error of a reply is to callers of the store: 0 or ERR_*. */
int zkw_error(int32_t number);
/** The same in words; static. */
const char *zkw_error_text(int32_t number);
/** Append the frame of an authentication. @param scheme "digest", auth "id:password" [borrowed] */
void zkw_put_auth(struct buf *out, const char *scheme, const char *auth);
/** Read the header of a reply. @return its values; in is behind it, or bad. */
struct zkw_header zkw_get_header(struct zkw_in *in);
/** Whether the ephemeralOwner of a stat is a session: containers and nodes with a time to live use the field too.
 *  Source: ZooKeeper's EphemeralType. */
bool zkw_is_ephemeral(int64_t owner);
/** Read a node's stat. */
void zkw_get_stat(struct zkw_in *in, struct store_stat *out);

#endif

#include "store/zk/wire.h"
#include "base/obj.h"

#include <string.h>

void zkw_put_i32(struct buf *out, int32_t n)
{
    uint32_t u = (uint32_t)n;
    const uint8_t bytes[] = {(uint8_t)(u >> 24), (uint8_t)(u >> 16), (uint8_t)(u >> 8), (uint8_t)u};
    buf_add(out, bytes, sizeof bytes);
}

void zkw_put_i64(struct buf *out, int64_t n)
{
    uint64_t u = (uint64_t)n;
    zkw_put_i32(out, (int32_t)(uint32_t)(u >> 32));
    zkw_put_i32(out, (int32_t)(uint32_t)u);
}

static void put_bool(struct buf *out, bool yes)
{
    buf_add_char(out, yes ? 1 : 0);
}

void zkw_put_bytes(struct buf *out, const char *at, size_t len)
{
    zkw_put_i32(out, at ? (int32_t)len : -1);
    if (at)
        buf_add(out, at, len);
}

size_t zkw_frame_begin(struct buf *out)
{
    size_t start = out->len;
    zkw_put_i32(out, 0);
    return start;
}

void zkw_frame_end(struct buf *out, size_t start)
{
    uint32_t len = (uint32_t)(out->len - start - ZKW_LEN_BYTES);
    for (size_t i = 0; i < ZKW_LEN_BYTES; i++)
        out->bytes[start + i] = (char)(uint8_t)(len >> (24 - 8 * i));
}

struct zkw_in zkw_in_make(const char *bytes, size_t n)
{
    return (struct zkw_in){bytes, n ? bytes + n : bytes, false};
}

/* The next n bytes, or NULL when there are fewer. */
static const uint8_t *take(struct zkw_in *in, size_t n)
{
    if (in->is_bad || (size_t)(in->end - in->at) < n) {
        in->is_bad = true;
        return NULL;
    }
    const uint8_t *at = (const uint8_t *)in->at;
    in->at += n;
    return at;
}

static uint32_t read_u32(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

int8_t zkw_get_i8(struct zkw_in *in)
{
    const uint8_t *at = take(in, 1);
    return at ? (int8_t)*at : 0;
}

int32_t zkw_get_i32(struct zkw_in *in)
{
    const uint8_t *at = take(in, 4);
    return at ? (int32_t)read_u32(at) : 0;
}

int64_t zkw_get_i64(struct zkw_in *in)
{
    const uint8_t *at = take(in, 8);
    return at ? (int64_t)((uint64_t)read_u32(at) << 32 | read_u32(at + 4)) : 0;
}

struct zkw_bytes zkw_get_bytes(struct zkw_in *in)
{
    int32_t len = zkw_get_i32(in);
    if (in->is_bad || len < -1) {
        in->is_bad = true;
        return (struct zkw_bytes){NULL, 0};
    }
    if (len == -1)
        return (struct zkw_bytes){NULL, 0};
    const uint8_t *at = take(in, (size_t)len);
    return at ? (struct zkw_bytes){(const char *)at, (size_t)len} : (struct zkw_bytes){NULL, 0};
}

int64_t zkw_frame_next(const char *bytes, size_t len, size_t max, struct zkw_bytes *frame)
{
    if (len < ZKW_LEN_BYTES)
        return 0;
    uint32_t n = read_u32((const uint8_t *)bytes);
    if (n > INT32_MAX || n > max)
        return ERR_PARSE;
    if (len - ZKW_LEN_BYTES < n)
        return 0;
    *frame = (struct zkw_bytes){bytes + ZKW_LEN_BYTES, n};
    return (int64_t)n + ZKW_LEN_BYTES;
}

void zkw_put_hello(struct buf *out, const struct zkw_hello *hello)
{
    size_t start = zkw_frame_begin(out);
    zkw_put_i32(out, 0);
    zkw_put_i64(out, hello->last_zxid);
    zkw_put_i32(out, hello->timeout_ms);
    zkw_put_i64(out, hello->session);
    zkw_put_bytes(out, hello->password, hello->password_len);
    put_bool(out, false);
    zkw_frame_end(out, start);
}

int zkw_get_hello(struct zkw_bytes frame, struct zkw_hello *out)
{
    struct zkw_in in = zkw_in_make(frame.at, frame.len);
    zkw_get_i32(&in);
    struct zkw_hello hello = {.timeout_ms = zkw_get_i32(&in), .session = zkw_get_i64(&in)};
    struct zkw_bytes password = zkw_get_bytes(&in);
    if (in.is_bad || password.len > sizeof hello.password)
        return ERR_PARSE;
    if (password.len)
        memcpy(hello.password, password.at, password.len);
    hello.password_len = password.len;
    *out = hello;
    return 0;
}

void zkw_put_request(struct buf *out, int32_t xid, enum zkw_opcode opcode, const char *path)
{
    enum { persistent_recursive = 1 };
    size_t start = zkw_frame_begin(out);
    zkw_put_i32(out, xid);
    zkw_put_i32(out, (int32_t)opcode);
    if (path)
        zkw_put_bytes(out, path, strlen(path));
    if (opcode == ZKW_EXISTS || opcode == ZKW_GET_DATA || opcode == ZKW_GET_CHILDREN2)
        put_bool(out, false);
    if (opcode == ZKW_ADD_WATCH)
        zkw_put_i32(out, persistent_recursive);
    zkw_frame_end(out, start);
}

void zkw_put_made(struct buf *out, int32_t xid, enum zkw_opcode opcode, const struct buf *body)
{
    size_t start = zkw_frame_begin(out);
    zkw_put_i32(out, xid);
    zkw_put_i32(out, (int32_t)opcode);
    buf_add(out, body->bytes, body->len);
    zkw_frame_end(out, start);
}

static const struct error_row {
    int32_t number;
    int err;
    const char *text;
} errors[] = {
#define ERROR_ROW(token, number, err, text) {number, err, text},
    ZKW_ERRORS(ERROR_ROW)
#undef ERROR_ROW
};

static const struct error_row *find_error(int32_t number)
{
    static const struct error_row unknown = {0, ERR_IO, "an unknown error"};
    for (size_t i = 0; i < ARRAY_LEN(errors); i++)
        if (errors[i].number == number)
            return &errors[i];
    return &unknown;
}

int zkw_error(int32_t number)
{
    return find_error(number)->err;
}

const char *zkw_error_text(int32_t number)
{
    return find_error(number)->text;
}

void zkw_put_auth(struct buf *out, const char *scheme, const char *auth)
{
    size_t start = zkw_frame_begin(out);
    zkw_put_i32(out, ZKW_XID_AUTH);
    zkw_put_i32(out, ZKW_AUTH);
    zkw_put_i32(out, 0); /* type: of no meaning */
    zkw_put_bytes(out, scheme, strlen(scheme));
    zkw_put_bytes(out, auth, strlen(auth));
    zkw_frame_end(out, start);
}

struct zkw_header zkw_get_header(struct zkw_in *in)
{
    struct zkw_header header = {0};
    header.xid = zkw_get_i32(in);
    header.zxid = zkw_get_i64(in);
    header.err = zkw_get_i32(in);
    return header;
}

bool zkw_is_ephemeral(int64_t owner)
{
    uint64_t u = (uint64_t)owner;
    bool is_container = u == (uint64_t)INT64_MIN;
    bool has_ttl = u >> 56 == 0xff;
    return u != 0 && !is_container && !has_ttl;
}

void zkw_get_stat(struct zkw_in *in, struct store_stat *out)
{
    struct store_stat stat = {0};
    stat.czxid = zkw_get_i64(in);
    stat.mzxid = zkw_get_i64(in);
    stat.ctime_ms = zkw_get_i64(in);
    stat.mtime_ms = zkw_get_i64(in);
    stat.version = zkw_get_i32(in);
    stat.cversion = zkw_get_i32(in);
    zkw_get_i32(in); /* aversion: changes of the ACL, not used here */
    stat.ephemeral = zkw_is_ephemeral(zkw_get_i64(in));
    stat.data_len = (uint32_t)zkw_get_i32(in);
    stat.n_children = zkw_get_i32(in);
    stat.pzxid = zkw_get_i64(in);
    *out = stat;
}

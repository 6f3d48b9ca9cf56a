#include "yarn/frame.h"
#include "base/obj.h"

#include <stdlib.h>
#include <string.h>

enum { IPC_VERSION = 9, AUTH_SIMPLE = 0, AUTH_SASL = 0xdf, VARINT_MAX_LEN = 5, VARINT_BITS = 7 };

void frame_make_client_id(uint8_t out[FRAME_CLIENT_ID_LEN])
{
    arc4random_buf(out, FRAME_CLIENT_ID_LEN);
    out[6] = (uint8_t)((out[6] & 0x0f) | 0x40);
    out[8] = (uint8_t)((out[8] & 0x3f) | 0x80);
}

/* ---- to a server ---- */

static void put_varint(struct buf *out, size_t n)
{
    for (; n > 0x7f; n >>= VARINT_BITS)
        buf_add_char(out, (char)(n | 0x80));
    buf_add_char(out, (char)n);
}

static void put_delimited(struct buf *out, const ProtobufCMessage *message)
{
    size_t len = protobuf_c_message_get_packed_size(message);
    put_varint(out, len);
    out->len += protobuf_c_message_pack(message, (uint8_t *)buf_room(out, len));
}

/* The length is written by frame_end. @return where it goes. */
static size_t frame_begin(struct buf *out)
{
    static const char room[FRAME_LENGTH_LEN];
    size_t start = out->len;
    buf_add(out, room, sizeof room);
    return start;
}

static void frame_end(struct buf *out, size_t start)
{
    size_t len = out->len - start - FRAME_LENGTH_LEN;
    BUG_IF(len > INT32_MAX);
    for (unsigned i = 0; i < FRAME_LENGTH_LEN; i++)
        out->bytes[start + i] = (char)(len >> (8 * (FRAME_LENGTH_LEN - 1 - i)));
}

static void put_header(struct buf *out, const uint8_t *client_id, int32_t call_id, int32_t n_sent)
{
    Yarn__RpcRequestHeader header = YARN__RPC_REQUEST_HEADER__INIT;
    header.has_rpc_kind = header.has_rpc_op = header.has_retry_count = true;
    header.rpc_kind = YARN__RPC_KIND__RPC_PROTOCOL_BUFFER;
    header.rpc_op = YARN__RPC_OPERATION__RPC_FINAL_PACKET;
    header.call_id = call_id;
    header.client_id =
        (ProtobufCBinaryData){client_id ? FRAME_CLIENT_ID_LEN : 0, (uint8_t *)(uintptr_t)client_id};
    header.retry_count = n_sent;
    put_delimited(out, &header.base);
}

void frame_put_hello(struct buf *out, bool is_sasl)
{
    const char hello[FRAME_HELLO_LEN] = {
        'h', 'r', 'p', 'c', IPC_VERSION, 0, (char)(is_sasl ? AUTH_SASL : AUTH_SIMPLE)};
    buf_add(out, hello, sizeof hello);
}

void frame_put_context(struct buf *out, const uint8_t *client_id, const char *user, const char *protocol)
{
    Yarn__UserInformation who = YARN__USER_INFORMATION__INIT;
    Yarn__ConnectionContext context = YARN__CONNECTION_CONTEXT__INIT;
    who.effective_user = (char *)(uintptr_t)user;
    context.user = &who;
    context.protocol = (char *)(uintptr_t)protocol;
    size_t start = frame_begin(out);
    put_header(out, client_id, FRAME_CALL_CONTEXT, -1);
    put_delimited(out, &context.base);
    frame_end(out, start);
}

void frame_put_ping(struct buf *out, const uint8_t *client_id)
{
    size_t start = frame_begin(out);
    put_header(out, client_id, FRAME_CALL_PING, -1);
    frame_end(out, start);
}

void frame_put_sasl(struct buf *out, const Yarn__SaslMessage *message)
{
    size_t start = frame_begin(out);
    put_header(out, NULL, FRAME_CALL_SASL, -1);
    put_delimited(out, &message->base);
    frame_end(out, start);
}

void frame_put_body(struct buf *out, const struct frame_method *method, const ProtobufCMessage *request)
{
    Yarn__RpcMethodHeader header = YARN__RPC_METHOD_HEADER__INIT;
    header.method = (char *)(uintptr_t)method->name;
    header.protocol = (char *)(uintptr_t)method->protocol;
    header.protocol_version = method->version;
    put_delimited(out, &header.base);
    put_delimited(out, request);
}

void frame_put_call(struct buf *out, const uint8_t *client_id, int32_t call_id, int32_t n_sent,
                    const struct buf *body)
{
    BUG_IF(call_id < 0);
    size_t start = frame_begin(out);
    put_header(out, client_id, call_id, n_sent);
    buf_add(out, body->bytes, body->len);
    frame_end(out, start);
}

/* ---- from a server ---- */

static int no_frame(const uint8_t *at, struct err_info *why)
{
    static const uint8_t older[FRAME_LENGTH_LEN] = {0xff, 0xff, 0xff, 0xff};
    if (memcmp(at, older, sizeof older) == 0)
        return err_set(why, ERR_PARSE, NULL, "it speaks an older version of Hadoop's IPC");
    return err_set(why, ERR_PARSE, NULL, "it does not speak Hadoop's IPC: a frame has no length");
}

int64_t frame_next(const void *bytes, size_t len, size_t max, struct frame_bytes *frame, struct err_info *why)
{
    const uint8_t *at = bytes;
    if (len < FRAME_LENGTH_LEN)
        return 0;
    if (memcmp(at, "HTTP", FRAME_LENGTH_LEN) == 0)
        return err_set(why, ERR_PARSE, NULL, "it speaks HTTP: this is no port of Hadoop's IPC");
    uint32_t n = (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
    if (n == 0 || n > INT32_MAX)
        return no_frame(at, why);
    size_t n_there = len - FRAME_LENGTH_LEN;
    *frame = (struct frame_bytes){at + FRAME_LENGTH_LEN, n_there < n ? n_there : n};
    if (n > max)
        return err_set(why, ERR_TOOBIG, NULL, "an answer has %u octets, more than the %zu that are accepted",
                       n, max);
    return n_there < n ? 0 : (int64_t)n + FRAME_LENGTH_LEN;
}

/* Take the part behind a varint off the front. @return false: it is not whole. */
static bool take_delimited(struct frame_bytes *from, struct frame_bytes *out)
{
    uint64_t n = 0;
    for (unsigned i = 0; i < VARINT_MAX_LEN && i < from->len; i++) {
        n |= (uint64_t)(from->at[i] & 0x7f) << (VARINT_BITS * i);
        if (from->at[i] & 0x80)
            continue;
        size_t used = i + 1;
        if (n > from->len - used)
            return false;
        *out = (struct frame_bytes){from->at + used, (size_t)n};
        *from = (struct frame_bytes){out->at + n, from->len - used - (size_t)n};
        return true;
    }
    return false;
}

/* Cut at the end of the line or of the room; never within a character. */
static void copy_line(char *out, size_t room, const char *text)
{
    size_t n = text ? strcspn(text, "\r\n") : 0;
    if (n >= room) {
        n = room - 1;
        while (n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80)
            n--;
    }
    if (n)
        memcpy(out, text, n);
    out[n] = 0;
}

static bool is_foreign(const Yarn__RpcResponseHeader *header, const uint8_t *client_id)
{
    if (!header->has_client_id || header->client_id.len == 0)
        return false;
    return header->client_id.len != FRAME_CLIENT_ID_LEN ||
           memcmp(header->client_id.data, client_id, FRAME_CLIENT_ID_LEN) != 0;
}

int frame_read_response(struct frame_bytes frame, const uint8_t *client_id, struct frame_response *out)
{
    struct frame_bytes part;
    if (!take_delimited(&frame, &part))
        return ERR_PARSE;
    Yarn__RpcResponseHeader *header = yarn__rpc_response_header__unpack(NULL, part.len, part.at);
    if (!header)
        return ERR_PARSE;
    memset(out, 0, sizeof *out);
    out->call_id = (int32_t)header->call_id;
    out->status = (int)header->status;
    out->detail = header->has_error_detail ? (int)header->error_detail : 0;
    out->is_others = is_foreign(header, client_id);
    copy_line(out->class_name, sizeof out->class_name, header->exception_class);
    copy_line(out->text, sizeof out->text, header->error_message);
    out->body = frame;
    yarn__rpc_response_header__free_unpacked(header, NULL);
    return 0;
}

ProtobufCMessage *frame_read_message(struct frame_bytes body, const ProtobufCMessageDescriptor *type,
                                     ProtobufCAllocator *allocator)
{
    struct frame_bytes part;
    if (!take_delimited(&body, &part) || body.len > 0)
        return NULL;
    return protobuf_c_message_unpack(type, allocator, part.len, part.at);
}

#include "fake_yarn.h"
#include "base/base64.h"
#include "base/mem.h"
#include "base/obj.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <cmocka.h>

#define FAKE_MAGIC OBJ_MAGIC('F', 'Y', 'R', 'N')
#define PEER_MAGIC OBJ_MAGIC('F', 'Y', 'P', 'R')

enum { PATIENCE_MS = 20000, FRAME_MAX = 1 << 20, QUIET_TURNS = 20 };

#define NONCE "Eh1QicHb4a2njVJE"

struct request {
    TAILQ_ENTRY(request) link;
    int32_t id, n_sent;
    char *method;
};

struct peer {
    struct obj obj;
    uv_tcp_t tcp;
    struct fake_yarn *fake;
    struct buf in, plain;
    bool has_hello, is_wrapping;
    uint32_t n_in, n_out; /* signed so far */
};

struct fake_yarn {
    struct obj obj;
    struct run_loop *loop;
    uv_tcp_t listener;
    uint16_t port;
    bool is_shut;
    struct peer *peer;
    enum fake_mode mode;
    size_t chunk, n_connections, n_pings;
    char *user, *protocol, *cnonce;
    char identifier[64], password[64];
    int32_t wanted_retries;
    bool is_forging, is_hanging_up;
    TAILQ_HEAD(, request) requests;
    struct buf out;
    struct run_timer *pump;
};

static void on_peer_closed(uv_handle_t *tcp)
{
    struct peer *p = obj_cast(tcp->data, struct peer, PEER_MAGIC);
    buf_fini(&p->in);
    buf_fini(&p->plain);
    obj_fini(&p->obj);
    free(p);
}

static void drop_peer(struct fake_yarn *y)
{
    if (y->peer)
        run_handle_close((uv_handle_t *)&y->peer->tcp, on_peer_closed);
    y->peer = NULL;
    buf_clear(&y->out);
    y->is_hanging_up = false;
}

/* Send a piece a turn of the loop, so that the other side can see it alone. */
static void on_pump(void *arg)
{
    struct fake_yarn *y = obj_cast(arg, struct fake_yarn, FAKE_MAGIC);
    if (!y->peer)
        return;
    if (y->out.len > 0) {
        size_t n = y->chunk && y->chunk < y->out.len ? y->chunk : y->out.len;
        uv_buf_t piece = uv_buf_init(y->out.bytes, (unsigned)n);
        int sent = uv_try_write((uv_stream_t *)&y->peer->tcp, &piece, 1);
        if (sent > 0)
            buf_drop(&y->out, (size_t)sent);
    }
    if (y->out.len > 0)
        run_timer_start(y->pump, 1, 0);
    else if (y->is_hanging_up)
        drop_peer(y);
}

void fake_raw(struct fake_yarn *y, const void *bytes, size_t len)
{
    buf_add(&y->out, bytes, len);
    run_timer_start(y->pump, 0, 0);
}

void fake_hang_up(struct fake_yarn *y)
{
    y->is_hanging_up = true;
    run_timer_start(y->pump, 0, 0);
}

/* ---- frames out ---- */

static void put_delimited(struct buf *out, const void *bytes, size_t len)
{
    size_t n = len;
    for (; n > 0x7f; n >>= 7)
        buf_add_char(out, (char)(n | 0x80));
    buf_add_char(out, (char)n);
    buf_add(out, bytes, len);
}

static void pack(const ProtobufCMessage *m, struct buf *out)
{
    size_t n = protobuf_c_message_get_packed_size(m);
    out->len += protobuf_c_message_pack(m, (uint8_t *)buf_room(out, n));
}

/* A whole frame. @param body with its length [borrowed] */
static void put_frame(struct buf *out, const Yarn__RpcResponseHeader *header, const void *body, size_t len)
{
    buf_auto struct buf h = BUF_EMPTY, content = BUF_EMPTY;
    pack(&header->base, &h);
    put_delimited(&content, h.bytes, h.len);
    buf_add(&content, body, len);
    for (int shift = 24; shift >= 0; shift -= 8)
        buf_add_char(out, (char)(content.len >> shift));
    buf_add(out, content.bytes, content.len);
}

static void put_sasl(struct buf *out, const Yarn__SaslMessage *m)
{
    buf_auto struct buf packed = BUF_EMPTY, body = BUF_EMPTY;
    Yarn__RpcResponseHeader header = YARN__RPC_RESPONSE_HEADER__INIT;
    header.call_id = (uint32_t)FRAME_CALL_SASL;
    pack(&m->base, &packed);
    put_delimited(&body, packed.bytes, packed.len);
    put_frame(out, &header, body.bytes, body.len);
}

static struct digest digest_of(const struct fake_yarn *y)
{
    const char *qop = y->mode == FAKE_INTEGRITY ? "auth-int" : "auth";
    return (struct digest){y->identifier, y->password, "default", NONCE, y->cnonce, qop, "/default"};
}

/* Send a frame as the connection has agreed to. */
static void send_frame(struct fake_yarn *y, const struct buf *frame)
{
    if (!y->peer)
        fail_msg("there is no connection to answer on");
    if (!y->peer->is_wrapping) {
        fake_raw(y, frame->bytes, frame->len);
        return;
    }
    buf_auto struct buf token = BUF_EMPTY, out = BUF_EMPTY;
    struct digest d = digest_of(y);
    Yarn__SaslMessage m = YARN__SASL_MESSAGE__INIT;
    digest_sign(&d, false, y->peer->n_out++, frame->bytes, frame->len, &token);
    if (y->is_forging)
        token.bytes[0] ^= 1;
    m.state = YARN__SASL_STATE__SASL_WRAP;
    m.has_token = true;
    m.token = (ProtobufCBinaryData){token.len, (uint8_t *)token.bytes};
    put_sasl(&out, &m);
    fake_raw(y, out.bytes, out.len);
}

void fake_forge(struct fake_yarn *y)
{
    y->is_forging = true;
}

void fake_answer_raw(struct fake_yarn *y, int32_t id, const void *body, size_t len)
{
    buf_auto struct buf frame = BUF_EMPTY;
    Yarn__RpcResponseHeader header = YARN__RPC_RESPONSE_HEADER__INIT;
    header.call_id = (uint32_t)id;
    put_frame(&frame, &header, body, len);
    send_frame(y, &frame);
}

void fake_answer(struct fake_yarn *y, int32_t id, const ProtobufCMessage *m)
{
    buf_auto struct buf packed = BUF_EMPTY, body = BUF_EMPTY;
    if (m)
        pack(m, &packed);
    put_delimited(&body, packed.bytes, packed.len);
    fake_answer_raw(y, id, body.bytes, body.len);
}

void fake_fail(struct fake_yarn *y, int32_t id, Yarn__RpcStatus status, const char *class_name,
               const char *text)
{
    buf_auto struct buf frame = BUF_EMPTY;
    Yarn__RpcResponseHeader header = YARN__RPC_RESPONSE_HEADER__INIT;
    header.call_id = (uint32_t)id;
    header.status = status;
    header.exception_class = (char *)(uintptr_t)class_name;
    header.error_message = (char *)(uintptr_t)text;
    header.has_error_detail = true;
    header.error_detail = status == YARN__RPC_STATUS__RPC_FATAL ? YARN__RPC_ERROR_CODE__FATAL_UNAUTHORIZED
                                                                : YARN__RPC_ERROR_CODE__ERROR_APPLICATION;
    put_frame(&frame, &header, NULL, 0);
    send_frame(y, &frame);
}

/* ---- frames in ---- */

static void send_sasl(struct fake_yarn *y, Yarn__SaslState state, const char *token, Yarn__SaslAuth **auths)
{
    buf_auto struct buf out = BUF_EMPTY;
    Yarn__SaslMessage m = YARN__SASL_MESSAGE__INIT;
    m.state = state;
    m.has_token = token != NULL;
    m.token = (ProtobufCBinaryData){token ? strlen(token) : 0, (uint8_t *)(uintptr_t)token};
    m.auths = auths;
    m.n_auths = auths ? 1 : 0;
    put_sasl(&out, &m);
    fake_raw(y, out.bytes, out.len);
}

static void offer(struct fake_yarn *y)
{
    char challenge[200];
    Yarn__SaslAuth entry = YARN__SASL_AUTH__INIT, *entries[] = {&entry};
    snprintf(challenge, sizeof challenge,
             "realm=\"default\",nonce=\"" NONCE "\",qop=\"%s\",charset=utf-8,algorithm=md5-sess",
             y->mode == FAKE_INTEGRITY ? "auth-int" : "auth");
    entry.method = "TOKEN";
    entry.mechanism = "DIGEST-MD5";
    entry.protocol = "";
    entry.server_id = "default";
    entry.has_challenge = true;
    entry.challenge = (ProtobufCBinaryData){strlen(challenge), (uint8_t *)challenge};
    send_sasl(y, YARN__SASL_STATE__SASL_NEGOTIATE, NULL, entries);
}

static void check_response(struct fake_yarn *y, const Yarn__SaslMessage *m)
{
    char wanted[DIGEST_HEX_LEN], proof[64] = "rspauth=";
    mem_auto char *text = mem_strn((const char *)m->token.data, m->token.len);
    const char *at = strstr(text, "cnonce=\"");
    assert_non_null(at);
    at += strlen("cnonce=\"");
    free(y->cnonce);
    y->cnonce = mem_strn(at, strcspn(at, "\""));
    struct digest d = digest_of(y);
    digest_response(&d, "AUTHENTICATE:", wanted);
    if (!strstr(text, wanted) || y->mode == FAKE_TOKEN_REFUSED) {
        fake_fail(y, FRAME_CALL_SASL, YARN__RPC_STATUS__RPC_FATAL,
                  "org.apache.hadoop.security.token.SecretManager$InvalidToken",
                  "it has been revoked\n\tat x");
        fake_hang_up(y);
        return;
    }
    if (y->mode == FAKE_WRONG_PROOF)
        d.password = "another";
    digest_response(&d, "", proof + strlen(proof));
    send_sasl(y, YARN__SASL_STATE__SASL_SUCCESS, proof, NULL);
    y->peer->is_wrapping = y->mode == FAKE_INTEGRITY;
}

static void take_frame(struct peer *p, struct frame_bytes frame);

static void take_frames(struct peer *p, struct buf *in)
{
    struct frame_bytes frame;
    int64_t used;
    while (p->fake->peer == p && (used = frame_next(in->bytes, in->len, FRAME_MAX, &frame, NULL)) > 0) {
        take_frame(p, frame);
        buf_drop(in, (size_t)used);
    }
}

/* What the client has signed, checked octet by octet. */
static void take_wrapped(struct peer *p, const Yarn__SaslMessage *m)
{
    buf_auto struct buf wanted = BUF_EMPTY;
    struct digest d = digest_of(p->fake);
    assert_true(m->token.len > DIGEST_LAYER_LEN);
    size_t len = m->token.len - DIGEST_LAYER_LEN;
    digest_sign(&d, true, p->n_in++, m->token.data, len, &wanted);
    assert_int_equal(wanted.len, m->token.len);
    assert_memory_equal(wanted.bytes, m->token.data, wanted.len);
    buf_add(&p->plain, m->token.data, len);
    take_frames(p, &p->plain);
}

static void take_sasl(struct peer *p, struct frame_bytes body)
{
    struct fake_yarn *y = p->fake;
    Yarn__SaslMessage *m =
        (Yarn__SaslMessage *)frame_read_message(body, &yarn__sasl_message__descriptor, NULL);
    assert_non_null(m);
    if (m->state == YARN__SASL_STATE__SASL_WRAP)
        take_wrapped(p, m);
    else if (y->mode == FAKE_SILENT)
        ;
    else if (m->state == YARN__SASL_STATE__SASL_NEGOTIATE)
        offer(y);
    else if (y->mode == FAKE_HANGS_UP)
        drop_peer(y);
    else
        check_response(y, m);
    yarn__sasl_message__free_unpacked(m, NULL);
}

static void take_context(struct fake_yarn *y, struct frame_bytes body)
{
    Yarn__ConnectionContext *m =
        (Yarn__ConnectionContext *)frame_read_message(body, &yarn__connection_context__descriptor, NULL);
    assert_non_null(m);
    free(y->user);
    free(y->protocol);
    y->user = mem_str(m->user && m->user->effective_user ? m->user->effective_user : "");
    y->protocol = mem_str(m->protocol);
    yarn__connection_context__free_unpacked(m, NULL);
}

/* Lengths in what a client sends are short here: method headers and SASL messages of a test have one or two octets. */
static struct frame_bytes take_part(struct frame_bytes *from)
{
    size_t n = from->at[0] & 0x7f, used = 1;
    if (from->at[0] & 0x80) {
        n |= (size_t)from->at[1] << 7;
        used = 2;
    }
    struct frame_bytes part = {from->at + used, n};
    assert_true(from->len >= used + n);
    *from = (struct frame_bytes){part.at + n, from->len - used - n};
    return part;
}

static void take_call(struct fake_yarn *y, const Yarn__RpcRequestHeader *header, struct frame_bytes body)
{
    struct frame_bytes part = take_part(&body);
    Yarn__RpcMethodHeader *m = yarn__rpc_method_header__unpack(NULL, part.len, part.at);
    assert_non_null(m);
    assert_string_equal(m->protocol, y->protocol);
    struct request *r = mem_new(struct request);
    r->id = header->call_id;
    r->n_sent = header->retry_count;
    r->method = mem_str(m->method);
    TAILQ_INSERT_TAIL(&y->requests, r, link);
    yarn__rpc_method_header__free_unpacked(m, NULL);
}

static void take_frame(struct peer *p, struct frame_bytes frame)
{
    struct fake_yarn *y = p->fake;
    struct frame_bytes part = take_part(&frame);
    Yarn__RpcRequestHeader *header = yarn__rpc_request_header__unpack(NULL, part.len, part.at);
    assert_non_null(header);
    int32_t id = header->call_id;
    if (id == FRAME_CALL_SASL)
        take_sasl(p, frame);
    else if (id == FRAME_CALL_CONTEXT)
        take_context(y, frame);
    else if (id == FRAME_CALL_PING)
        y->n_pings++;
    else
        take_call(y, header, frame);
    yarn__rpc_request_header__free_unpacked(header, NULL);
}

static void take_hello(struct peer *p)
{
    bool is_sasl = p->fake->mode != FAKE_SIMPLE && p->fake->mode != FAKE_REFUSES;
    buf_auto struct buf wanted = BUF_EMPTY;
    p->has_hello = true;
    frame_put_hello(&wanted, is_sasl);
    if (p->fake->mode != FAKE_SILENT)
        assert_memory_equal(p->in.bytes, wanted.bytes, wanted.len);
    buf_drop(&p->in, FRAME_HELLO_LEN);
    if (p->fake->mode == FAKE_REFUSES) {
        fake_fail(p->fake, FRAME_CALL_REFUSED, YARN__RPC_STATUS__RPC_FATAL,
                  "org.apache.hadoop.security.AccessControlException",
                  "SIMPLE authentication is not enabled.  Available:[TOKEN]");
        fake_hang_up(p->fake);
    }
}

static void on_room(uv_handle_t *tcp, size_t suggested, uv_buf_t *out)
{
    struct peer *p = obj_cast(tcp->data, struct peer, PEER_MAGIC);
    (void)suggested;
    *out = uv_buf_init(buf_room(&p->in, 4096), 4096);
}

static void on_read(uv_stream_t *tcp, ssize_t n, const uv_buf_t *room)
{
    struct peer *p = obj_cast(tcp->data, struct peer, PEER_MAGIC);
    struct fake_yarn *y = p->fake;
    (void)room;
    if (y->peer != p)
        return;
    if (n < 0) {
        drop_peer(y);
        return;
    }
    p->in.len += (size_t)n;
    if (!p->has_hello && p->in.len >= FRAME_HELLO_LEN)
        take_hello(p);
    if (p->has_hello && y->mode != FAKE_REFUSES)
        take_frames(p, &p->in);
}

static void on_connection(uv_stream_t *listener, int status)
{
    struct fake_yarn *y = obj_cast(listener->data, struct fake_yarn, FAKE_MAGIC);
    assert_int_equal(status, 0);
    drop_peer(y);
    struct peer *p = mem_new(struct peer);
    obj_init(&p->obj, PEER_MAGIC);
    p->fake = y;
    p->tcp.data = p;
    y->peer = p;
    y->n_connections++;
    assert_int_equal(uv_tcp_init(run_loop_uv(y->loop), &p->tcp), 0);
    assert_int_equal(uv_accept(listener, (uv_stream_t *)&p->tcp), 0);
    assert_int_equal(uv_tcp_nodelay(&p->tcp, 1), 0);
    assert_int_equal(uv_read_start((uv_stream_t *)&p->tcp, on_room, on_read), 0);
}

/* ---- for tests ---- */

static void to_base64(const char *text, char *out, size_t room)
{
    buf_auto struct buf b = BUF_EMPTY;
    base64_put(&b, text, strlen(text));
    snprintf(out, room, "%s", buf_cstr(&b));
}

struct fake_yarn *fake_new(struct run_loop *loop, enum fake_mode mode)
{
    struct fake_yarn *y = mem_new(struct fake_yarn);
    struct sockaddr_in at;
    int len = sizeof at;
    signal(SIGPIPE, SIG_IGN); /* as the daemons do: a connection that is cut is an error of write */
    obj_init(&y->obj, FAKE_MAGIC);
    y->loop = loop;
    y->mode = mode;
    to_base64(FAKE_IDENTIFIER, y->identifier, sizeof y->identifier);
    to_base64(FAKE_PASSWORD, y->password, sizeof y->password);
    y->listener.data = y;
    y->pump = run_timer_new(loop, on_pump, y);
    TAILQ_INIT(&y->requests);
    assert_int_equal(uv_ip4_addr("127.0.0.1", 0, &at), 0);
    assert_int_equal(uv_tcp_init(run_loop_uv(loop), &y->listener), 0);
    assert_int_equal(uv_tcp_bind(&y->listener, (struct sockaddr *)&at, 0), 0);
    assert_int_equal(uv_listen((uv_stream_t *)&y->listener, 8, on_connection), 0);
    assert_int_equal(uv_tcp_getsockname(&y->listener, (struct sockaddr *)&at, &len), 0);
    y->port = ntohs(at.sin_port);
    return y;
}

static void free_request(struct fake_yarn *y, struct request *r)
{
    TAILQ_REMOVE(&y->requests, r, link);
    free(r->method);
    free(r);
}

static void finish(void *arg)
{
    struct fake_yarn *y = obj_cast(arg, struct fake_yarn, FAKE_MAGIC);
    while (!TAILQ_EMPTY(&y->requests))
        free_request(y, TAILQ_FIRST(&y->requests));
    buf_fini(&y->out);
    free(y->user);
    free(y->protocol);
    free(y->cnonce);
    obj_fini(&y->obj);
    free(y);
}

static void on_listener_closed(uv_handle_t *listener)
{
    finish(listener->data);
}

void fake_free(struct fake_yarn *y)
{
    drop_peer(y);
    run_timer_free(y->pump);
    if (y->is_shut)
        run_post(y->loop, finish, y);
    else
        run_handle_close((uv_handle_t *)&y->listener, on_listener_closed);
}

void fake_shut(struct fake_yarn *y)
{
    drop_peer(y);
    y->is_shut = true;
    run_handle_close((uv_handle_t *)&y->listener, NULL);
}

void fake_set_mode(struct fake_yarn *y, enum fake_mode mode)
{
    y->mode = mode;
}

void fake_set_chunk(struct fake_yarn *y, size_t n)
{
    y->chunk = n;
}

void fake_add_address(const struct fake_yarn *y, struct yarn_addresses *list)
{
    yarn_addresses_add(list, "127.0.0.1", y->port);
}

void fake_until(struct run_loop *loop, bool (*is_so)(void *arg), void *arg)
{
    int64_t end = run_now_ms() + PATIENCE_MS;
    while (!is_so(arg)) {
        if (run_now_ms() > end)
            fail_msg("waited %d ms in vain", PATIENCE_MS);
        uv_run(run_loop_uv(loop), UV_RUN_ONCE);
    }
}

static bool has_request(void *arg)
{
    struct fake_yarn *y = obj_cast(arg, struct fake_yarn, FAKE_MAGIC);
    return !TAILQ_EMPTY(&y->requests);
}

int32_t fake_want(struct fake_yarn *y, const char *method)
{
    fake_until(y->loop, has_request, y);
    struct request *r = TAILQ_FIRST(&y->requests);
    int32_t id = r->id;
    y->wanted_retries = r->n_sent;
    assert_string_equal(r->method, method);
    free_request(y, r);
    return id;
}

int32_t fake_wanted_retries(const struct fake_yarn *y)
{
    return y->wanted_retries;
}

static void on_tick(void *arg)
{
    (void)arg; /* only there so that a turn takes a millisecond at most, however late it begins */
}

void fake_want_none(struct fake_yarn *y)
{
    struct run_timer *tick = run_timer_new(y->loop, on_tick, NULL);
    run_timer_start(tick, 1, 1);
    for (int i = 0; i < QUIET_TURNS; i++)
        uv_run(run_loop_uv(y->loop), UV_RUN_ONCE);
    run_timer_free(tick);
    const struct request *r = TAILQ_FIRST(&y->requests);
    if (r)
        fail_msg("call %d of %s was not expected", r->id, r->method);
}

size_t fake_n_connections(const struct fake_yarn *y)
{
    return y->n_connections;
}

size_t fake_n_pings(const struct fake_yarn *y)
{
    return y->n_pings;
}

const char *fake_user(const struct fake_yarn *y)
{
    return y->user;
}

const char *fake_protocol(const struct fake_yarn *y)
{
    return y->protocol;
}

bool fake_is_connected(const struct fake_yarn *y)
{
    return y->peer != NULL;
}

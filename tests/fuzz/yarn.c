/*
 * What servers of YARN send, and the blobs that tokens are stored in. The first octet chooses: a stream of frames, each read as an
 * answer of every method; token storage, which is written and read again; ids; a challenge of SASL. What is refused says why.
 */
#include "fuzz.h"

#include <string.h>

#include "base/mem.h"
#include "yarn/frame.h"
#include "yarn/ids.h"
#include "yarn/methods.h"
#include "yarn/sasl.h"

enum { MAX = 1 << 20 };

static const uint8_t client_id[FRAME_CLIENT_ID_LEN] = {0};

static void read_messages(struct frame_bytes body)
{
    for (size_t i = 0; i < YARN_N_METHODS; i++) {
        ProtobufCMessage *m = frame_read_message(body, yarn_methods[i].answer, NULL);
        if (m)
            protobuf_c_message_free_unpacked(m, NULL);
    }
}

static void read_stream(const uint8_t *at, size_t len)
{
    struct frame_bytes frame;
    struct frame_response r;
    struct err_info why = {0};
    int64_t used;
    while ((used = frame_next(at, len, MAX, &frame, &why)) > 0) {
        FUZZ_HOLDS((size_t)used <= len && frame.len == (size_t)used - FRAME_LENGTH_LEN);
        if (frame_read_response(frame, client_id, &r) == 0) {
            FUZZ_HOLDS(r.body.len < frame.len && !strchr(r.text, '\n'));
            read_messages(r.body);
        }
        at += used;
        len -= (size_t)used;
    }
    FUZZ_HOLDS(used == 0 || ((used == ERR_PARSE || used == ERR_TOOBIG) && why.text[0]));
}

static void read_storage(const uint8_t *at, size_t len)
{
    struct yarn_credentials c = CREDENTIALS_EMPTY, again = CREDENTIALS_EMPTY;
    struct err_info why = {0};
    int err = yarn_credentials_read(at, len, &c, &why);
    FUZZ_HOLDS(err == 0 || (why.text[0] && c.n_tokens == 0 && c.n_secrets == 0));
    if (err != 0)
        return;
    buf_auto struct buf out = BUF_EMPTY;
    yarn_credentials_write(&c, &out);
    FUZZ_HOLDS(yarn_credentials_read(out.bytes, out.len, &again, NULL) == 0);
    FUZZ_HOLDS(again.n_tokens == c.n_tokens && again.n_secrets == c.n_secrets);
    yarn_credentials_fini(&c);
    yarn_credentials_fini(&again);
}

/* An id that is read is written as text that is read as the same. */
static void read_id(const uint8_t *at, size_t len)
{
    mem_auto char *text = mem_strn((const char *)at, len);
    char out[YARN_ID_TEXT_MAX];
    struct yarn_container_id id, again;
    struct yarn_app_id app;
    if (yarn_container_id_parse(text, &id) == 0)
        FUZZ_HOLDS(yarn_container_id_parse(yarn_container_id_text(&id, out), &again) == 0 &&
                   yarn_container_id_equal(&id, &again));
    if (yarn_app_id_parse(text, &app) == 0)
        FUZZ_HOLDS(yarn_app_id_parse(yarn_app_id_text(&app, out), &app) == 0);
}

static void read_challenge(const uint8_t *at, size_t len)
{
    const struct sasl_wish wish = {{SASL_AUTHENTICATION, SASL_INTEGRITY}};
    struct yarn_token token = {.kind = "k", .service = ""};
    Yarn__SaslAuth entry = YARN__SASL_AUTH__INIT, *entries[] = {&entry};
    Yarn__SaslMessage message = YARN__SASL_MESSAGE__INIT;
    struct err_info why = {0};
    buf_auto struct buf out = BUF_EMPTY;
    entry.method = "TOKEN";
    entry.mechanism = "DIGEST-MD5";
    entry.has_challenge = true;
    entry.challenge = (ProtobufCBinaryData){len, (uint8_t *)(uintptr_t)at};
    message.state = YARN__SASL_STATE__SASL_NEGOTIATE;
    message.auths = entries;
    message.n_auths = 1;
    buf_add_str(&token.identifier, "id");
    buf_add_str(&token.password, "password");
    struct yarn_sasl *sasl = yarn_sasl_new(&token, &wish);
    yarn_sasl_begin(sasl, &out);
    int err = yarn_sasl_answer(sasl, &message, &out, &why);
    FUZZ_HOLDS(err == 0 || ((err == ERR_AUTH || err == ERR_UNSUPPORTED) && why.text[0]));
    FUZZ_HOLDS(!yarn_sasl_is_done(sasl));
    yarn_sasl_free(sasl);
    buf_fini(&token.identifier);
    buf_fini(&token.password);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const readers[])(const uint8_t *at, size_t len) = {read_stream, read_storage, read_id,
                                                                     read_challenge};
    if (size > 0)
        readers[data[0] % (sizeof readers / sizeof readers[0])](data + 1, size - 1);
    return 0;
}

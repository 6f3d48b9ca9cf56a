/* The exchange by token against a server that computes by RFC 2831 on its own: digest_kit.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "digest_kit.h"
#include "yarn/sasl.h"

#define USER     "Cg0KCQgBEIDQlf+8MRABEMef/////////wE="
#define PASSWORD "AAECAwQFBgcICQoLDA0ODxAREhM="
#define NONCE    "Eh1QicHb4a2njVJE/xFXHLS7sao9wW6fdIM8yq50"
#define OFFER    "realm=\"default\",nonce=\"" NONCE "\",qop=\"%s\",charset=utf-8,algorithm=md5-sess"

static const struct digest jdk = {
    USER, PASSWORD, "default", NONCE, "VOge5Vp4ETQvCN9kqppd5A==", "auth", "/default"};
static const struct digest plain = {USER, PASSWORD, "default", "bm9uY2U=", "Y25vbmNl", "auth", "/default"};

/* ---- the kit itself, by vectors that a JDK has accepted ---- */

static void expect_digest(const struct digest *d, const char *prefix, const char *wanted)
{
    char out[DIGEST_HEX_LEN];
    digest_response(d, prefix, out);
    assert_string_equal(out, wanted);
}

static void kit_agrees_with_a_jdk(void **state)
{
    (void)state;
    struct digest integrity = plain;
    integrity.qop = "auth-int";
    expect_digest(&jdk, "AUTHENTICATE:", "52afb7f53982d210e155267f7175fc60");
    expect_digest(&jdk, "", "975dca71952ebe8ea6e8e6319a4db87e");
    expect_digest(&plain, "AUTHENTICATE:", "6d8a91775c6c588ee46cf6cbdd74a715");
    expect_digest(&plain, "", "179e5e4a449b6663d979b2e22a983552");
    expect_digest(&integrity, "AUTHENTICATE:", "f7b32ed5939e5723aecc23753adbca18");
    buf_auto struct buf out = BUF_EMPTY;
    digest_sign(&integrity, true, 0, "\0\1\2\3\4\5\6\7\x8\x9\xa\xb", 12, &out);
    digest_sign(&integrity, true, 1, "\0\1\2\3\4\5\6\7\x8\x9\xa\xb", 12, &out);
    assert_memory_equal(out.bytes + 12, "\xb8\x64\x80\x44\x0b\xca\x09\xc9\x07\xe2\0\1\0\0\0\0",
                        DIGEST_LAYER_LEN);
    assert_memory_equal(out.bytes + 40, "\xf2\x64\xea\xb0\xa7\xf2\xe4\x9d\x6a\x46\0\1\0\0\0\1",
                        DIGEST_LAYER_LEN);
}

/* ---- an exchange ---- */

struct rig {
    struct yarn_sasl *sasl;
    struct buf out;
    Yarn__SaslMessage *said; /* our last frame */
    struct digest d;
    char *cnonce, *response;
    struct err_info why;
};

/* What the last frame of ours holds. */
static void hear(struct rig *r)
{
    struct frame_bytes frame;
    assert_int_equal(frame_next(r->out.bytes, r->out.len, 1 << 20, &frame, NULL), r->out.len);
    size_t header_len = frame.at[0];
    Yarn__RpcRequestHeader *h = yarn__rpc_request_header__unpack(NULL, header_len, frame.at + 1);
    assert_non_null(h);
    assert_int_equal(h->call_id, FRAME_CALL_SASL);
    yarn__rpc_request_header__free_unpacked(h, NULL);
    struct frame_bytes body = {frame.at + 1 + header_len, frame.len - 1 - header_len};
    if (r->said)
        yarn__sasl_message__free_unpacked(r->said, NULL);
    r->said = (Yarn__SaslMessage *)frame_read_message(body, &yarn__sasl_message__descriptor, NULL);
    assert_non_null(r->said);
    buf_clear(&r->out);
}

static void begin_with(struct rig *r, const char *protections)
{
    struct yarn_token token = {.kind = "YARN_AM_RM_TOKEN", .service = ""};
    struct sasl_wish wish;
    assert_int_equal(sasl_wish_read(protections, &wish, NULL), 0);
    buf_add(&token.identifier,
            "\x0a\x0d\x0a\x09\x08\x01\x10\x80\xd0\x95\xff\xbc\x31\x10\x01\x10\xc7\x9f\xff\xff\xff\xff\xff\xff"
            "\xff\x01",
            26);
    buf_add(&token.password, "\0\1\2\3\4\5\6\7\x8\x9\xa\xb\xc\xd\xe\xf\x10\x11\x12\x13", 20);
    r->sasl = yarn_sasl_new(&token, &wish);
    buf_fini(&token.identifier);
    buf_fini(&token.password);
    yarn_sasl_begin(r->sasl, &r->out);
    hear(r);
    assert_int_equal(r->said->state, YARN__SASL_STATE__SASL_NEGOTIATE);
}

static int tear_down(void **state)
{
    struct rig *r = *state;
    yarn_sasl_free(r->sasl);
    if (r->said)
        yarn__sasl_message__free_unpacked(r->said, NULL);
    buf_fini(&r->out);
    free(r->cnonce);
    free(r->response);
    free(r);
    return 0;
}

static int set_up(void **state)
{
    *state = mem_new(struct rig);
    return 0;
}

/* Offer these methods, the first with a challenge (NULL: without). @return what yarn_sasl_answer does. */
static int offer(struct rig *r, const char *method, const char *mechanism, const char *challenge)
{
    Yarn__SaslAuth first = YARN__SASL_AUTH__INIT, simple = YARN__SASL_AUTH__INIT,
                   *auths[] = {&simple, &first};
    Yarn__SaslMessage message = YARN__SASL_MESSAGE__INIT;
    first.method = (char *)(uintptr_t)method;
    first.mechanism = (char *)(uintptr_t)mechanism;
    first.protocol = "";
    first.server_id = "default";
    first.has_challenge = challenge != NULL;
    first.challenge =
        (ProtobufCBinaryData){challenge ? strlen(challenge) : 0, (uint8_t *)(uintptr_t)challenge};
    simple.method = "SIMPLE";
    simple.mechanism = "";
    message.state = YARN__SASL_STATE__SASL_NEGOTIATE;
    message.auths = auths;
    message.n_auths = 2;
    return yarn_sasl_answer(r->sasl, &message, &r->out, &r->why);
}

static int answer(struct rig *r, Yarn__SaslState what, const char *token)
{
    Yarn__SaslMessage message = YARN__SASL_MESSAGE__INIT;
    message.state = what;
    message.has_token = token != NULL;
    message.token = (ProtobufCBinaryData){token ? strlen(token) : 0, (uint8_t *)(uintptr_t)token};
    return yarn_sasl_answer(r->sasl, &message, &r->out, &r->why);
}

/* The value of a directive of our response, without quotes. */
static char *directive(const struct rig *r, const char *name)
{
    mem_auto char *text = mem_strn((const char *)r->said->token.data, r->said->token.len);
    mem_auto char *key = mem_fmt(", %s=", name);
    mem_auto char *all = mem_fmt(", %s", text);
    const char *at = strstr(all, key);
    assert_non_null(at);
    at += strlen(key);
    return *at == '"' ? mem_strn(at + 1, strcspn(at + 1, "\"")) : mem_strn(at, strcspn(at, ","));
}

/* Offer a protection; what we answer must be what a server computes. */
static void authenticate_with(struct rig *r, const char *offered, const char *chosen)
{
    char challenge[400], wanted[DIGEST_HEX_LEN];
    snprintf(challenge, sizeof challenge, OFFER, offered);
    assert_int_equal(offer(r, "TOKEN", "DIGEST-MD5", challenge), 0);
    hear(r);
    r->cnonce = directive(r, "cnonce");
    r->response = directive(r, "response");
    mem_auto char *qop = directive(r, "qop"), *user = directive(r, "username"),
                  *uri = directive(r, "digest-uri");
    assert_string_equal(qop, chosen);
    assert_string_equal(user, USER);
    assert_string_equal(uri, "/default");
    r->d = jdk;
    r->d.cnonce = r->cnonce;
    r->d.qop = chosen;
    digest_response(&r->d, "AUTHENTICATE:", wanted);
    assert_string_equal(r->response, wanted);
}

static void prove(struct rig *r, int wanted)
{
    char proof[DIGEST_HEX_LEN], token[64];
    digest_response(&r->d, "", proof);
    snprintf(token, sizeof token, "rspauth=%s", proof);
    assert_int_equal(answer(r, YARN__SASL_STATE__SASL_SUCCESS, token), wanted);
}

static void token_authenticates_both_sides(void **state)
{
    struct rig *r = *state;
    begin_with(r, NULL);
    authenticate_with(r, "auth", "auth");
    assert_int_equal(r->said->state, YARN__SASL_STATE__SASL_INITIATE);
    assert_false(yarn_sasl_is_done(r->sasl));
    prove(r, 0);
    assert_true(yarn_sasl_is_done(r->sasl));
    assert_false(yarn_sasl_wraps(r->sasl));
    assert_int_equal(r->out.len, 0);
}

static void entry_goes_back_as_it_came_without_its_challenge(void **state)
{
    struct rig *r = *state;
    begin_with(r, NULL);
    authenticate_with(r, "auth", "auth");
    assert_int_equal(r->said->n_auths, 1);
    assert_string_equal(r->said->auths[0]->method, "TOKEN");
    assert_string_equal(r->said->auths[0]->mechanism, "DIGEST-MD5");
    assert_non_null(r->said->auths[0]->protocol);
    assert_string_equal(r->said->auths[0]->protocol, "");
    assert_string_equal(r->said->auths[0]->server_id, "default");
    assert_false(r->said->auths[0]->has_challenge);
}

/* A server that challenges only after it was chosen, and proves itself before it is done. */
static void longer_exchange_ends_the_same(void **state)
{
    struct rig *r = *state;
    char challenge[400], proof[DIGEST_HEX_LEN], token[64];
    begin_with(r, NULL);
    assert_int_equal(offer(r, "TOKEN", "DIGEST-MD5", NULL), 0);
    hear(r);
    assert_false(r->said->has_token);
    snprintf(challenge, sizeof challenge, OFFER, "auth");
    assert_int_equal(answer(r, YARN__SASL_STATE__SASL_CHALLENGE, challenge), 0);
    hear(r);
    assert_int_equal(r->said->state, YARN__SASL_STATE__SASL_RESPONSE);
    r->cnonce = directive(r, "cnonce");
    r->d = jdk;
    r->d.cnonce = r->cnonce;
    digest_response(&r->d, "", proof);
    snprintf(token, sizeof token, "rspauth=%s", proof);
    assert_int_equal(answer(r, YARN__SASL_STATE__SASL_CHALLENGE, token), 0);
    hear(r);
    assert_true(r->said->has_token);
    assert_int_equal(r->said->token.len, 0);
    assert_int_equal(answer(r, YARN__SASL_STATE__SASL_SUCCESS, NULL), 0);
    assert_true(yarn_sasl_is_done(r->sasl));
}

static void server_that_cannot_prove_itself_is_refused(void **state)
{
    struct rig *r = *state;
    begin_with(r, NULL);
    authenticate_with(r, "auth", "auth");
    r->d.password = "another";
    prove(r, ERR_AUTH);
    assert_false(yarn_sasl_is_done(r->sasl));
}

static void success_without_proof_is_refused(void **state)
{
    struct rig *r = *state;
    begin_with(r, NULL);
    authenticate_with(r, "auth", "auth");
    assert_int_equal(answer(r, YARN__SASL_STATE__SASL_SUCCESS, NULL), ERR_AUTH);
    assert_string_equal(r->why.text, "it accepts us without a proof that it knows the token's password");
}

static void server_without_authentication_gets_no_token(void **state)
{
    struct rig *r = *state;
    begin_with(r, NULL);
    assert_int_equal(answer(r, YARN__SASL_STATE__SASL_SUCCESS, NULL), ERR_AUTH);
}

static void methods_that_are_not_there_are_named(void **state)
{
    struct rig *r = *state;
    begin_with(r, NULL);
    assert_int_equal(offer(r, "KERBEROS", "GSSAPI", NULL), ERR_UNSUPPORTED);
    assert_string_equal(r->why.text, "it wants Kerberos, which this client does not have yet");
    assert_int_equal(offer(r, "TOKEN", "GSSAPI", NULL), ERR_AUTH);
    assert_int_equal(offer(r, "PLAIN", "PLAIN", NULL), ERR_AUTH);
}

static void messages_out_of_place_are_refused(void **state)
{
    struct rig *r = *state;
    begin_with(r, NULL);
    assert_int_equal(answer(r, YARN__SASL_STATE__SASL_CHALLENGE, "x"), ERR_PARSE);
    assert_int_equal(answer(r, YARN__SASL_STATE__SASL_WRAP, "x"), ERR_PARSE);
    authenticate_with(r, "auth", "auth");
    assert_int_equal(answer(r, YARN__SASL_STATE__SASL_NEGOTIATE, NULL), ERR_PARSE);
    prove(r, 0);
    assert_int_equal(answer(r, YARN__SASL_STATE__SASL_SUCCESS, NULL), ERR_PARSE);
}

static void malformed_challenge_fails(void **state)
{
    struct rig *r = *state;
    begin_with(r, NULL);
    assert_int_equal(offer(r, "TOKEN", "DIGEST-MD5", "realm=\"default\",qop=\"auth\""), ERR_AUTH);
}

static void protection_is_ours_among_those_offered(void **state)
{
    struct rig *r = *state;
    begin_with(r, "integrity,authentication");
    authenticate_with(r, "auth,auth-int", "auth-int");
}

static void protection_of_neither_side_is_refused(void **state)
{
    struct rig *r = *state;
    char challenge[400];
    begin_with(r, "authentication");
    snprintf(challenge, sizeof challenge, OFFER, "auth-conf\",cipher=\"3des,rc4");
    assert_int_equal(offer(r, "TOKEN", "DIGEST-MD5", challenge), ERR_UNSUPPORTED);
    assert_string_equal(r->why.text,
                        "it offers the protection auth-conf only, which hadoop.rpc.protection here does not "
                        "allow; privacy is not supported");
}

static void wish_is_hadoops_list(void **state)
{
    (void)state;
    struct sasl_wish wish;
    assert_int_equal(sasl_wish_read("privacy, Integrity", &wish, NULL), 0);
    assert_int_equal(wish.order[0], SASL_INTEGRITY);
    assert_int_equal(wish.order[1], 0);
    assert_int_equal(sasl_wish_read("authentication,authentication,integrity", &wish, NULL), 0);
    assert_int_equal(wish.order[0], SASL_AUTHENTICATION);
    assert_int_equal(wish.order[1], SASL_INTEGRITY);
    assert_int_equal(sasl_wish_read("privacy", &wish, NULL), ERR_UNSUPPORTED);
    assert_int_equal(sasl_wish_read("none", &wish, NULL), ERR_INVALID);
    assert_int_equal(sasl_wish_read("", &wish, NULL), ERR_INVALID);
}

/* ---- the layer ---- */

static void begin_integrity(struct rig *r)
{
    begin_with(r, "integrity");
    authenticate_with(r, "auth-int", "auth-int");
    prove(r, 0);
    assert_true(yarn_sasl_wraps(r->sasl));
}

static void frames_are_signed_and_counted(void **state)
{
    struct rig *r = *state;
    begin_integrity(r);
    for (uint32_t seq = 0; seq < 3; seq++) {
        buf_auto struct buf frames = BUF_EMPTY, wanted = BUF_EMPTY;
        buf_add_str(&frames, "some frames");
        digest_sign(&r->d, true, seq, frames.bytes, frames.len, &wanted);
        assert_int_equal(yarn_sasl_wrap(r->sasl, &frames, &r->out, &r->why), 0);
        assert_int_equal(frames.len, 0);
        hear(r);
        assert_int_equal(r->said->state, YARN__SASL_STATE__SASL_WRAP);
        assert_int_equal(r->said->token.len, wanted.len);
        assert_memory_equal(r->said->token.data, wanted.bytes, wanted.len);
    }
}

/* A server takes 65536 octets at once, all in all. */
static void long_frames_go_in_pieces(void **state)
{
    struct rig *r = *state;
    begin_integrity(r);
    enum { LEN = 150000 };
    buf_auto struct buf frames = BUF_EMPTY;
    memset(buf_room(&frames, LEN), 'f', LEN);
    frames.len = LEN;
    assert_int_equal(yarn_sasl_wrap(r->sasl, &frames, &r->out, &r->why), 0);
    size_t n = 0;
    while (r->out.len) {
        struct frame_bytes frame;
        int64_t used = frame_next(r->out.bytes, r->out.len, 65536, &frame, NULL);
        assert_true(used > 0);
        buf_drop(&r->out, (size_t)used);
        n++;
    }
    assert_int_equal(n, 3);
}

static int unwrap(struct rig *r, const struct buf *token, struct buf *out)
{
    Yarn__SaslMessage message = YARN__SASL_MESSAGE__INIT;
    message.state = YARN__SASL_STATE__SASL_WRAP;
    message.has_token = true;
    message.token = (ProtobufCBinaryData){token->len, (uint8_t *)token->bytes};
    return yarn_sasl_unwrap(r->sasl, &message, out, &r->why);
}

static void answers_are_checked_and_counted(void **state)
{
    struct rig *r = *state;
    enum { LEN = 200000 };
    begin_integrity(r);
    buf_auto struct buf text = BUF_EMPTY, first = BUF_EMPTY, second = BUF_EMPTY, out = BUF_EMPTY;
    memset(buf_room(&text, LEN), 'a', LEN);
    text.len = LEN;
    digest_sign(&r->d, false, 0, text.bytes, text.len, &first);
    digest_sign(&r->d, false, 1, "two", 3, &second);
    assert_int_equal(unwrap(r, &first, &out), 0);
    assert_int_equal(out.len, LEN);
    assert_memory_equal(out.bytes, text.bytes, LEN);
    assert_int_equal(unwrap(r, &first, &out), ERR_AUTH); /* again */
    assert_int_equal(out.len, LEN);
    second.bytes[0] ^= 1;
    assert_int_equal(unwrap(r, &second, &out), ERR_AUTH); /* forged */
    buf_clear(&second);
    buf_add_str(&second, "short");
    assert_int_equal(unwrap(r, &second, &out), ERR_AUTH);
    buf_clear(&second);
    assert_int_equal(unwrap(r, &second, &out), ERR_AUTH);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kit_agrees_with_a_jdk),
        CASE(token_authenticates_both_sides),
        CASE(entry_goes_back_as_it_came_without_its_challenge),
        CASE(longer_exchange_ends_the_same),
        CASE(server_that_cannot_prove_itself_is_refused),
        CASE(success_without_proof_is_refused),
        CASE(server_without_authentication_gets_no_token),
        CASE(methods_that_are_not_there_are_named),
        CASE(messages_out_of_place_are_refused),
        CASE(malformed_challenge_fails),
        CASE(protection_is_ours_among_those_offered),
        CASE(protection_of_neither_side_is_refused),
        cmocka_unit_test(wish_is_hadoops_list),
        CASE(frames_are_signed_and_counted),
        CASE(long_frames_go_in_pieces),
        CASE(answers_are_checked_and_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

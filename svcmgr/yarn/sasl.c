#include "yarn/sasl.h"
#include "base/base64.h"
#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"

#include <gsasl.h>
#include <stdlib.h>
#include <string.h>

/* WRAP_PIECE: the server takes 65536 octets, less what the layer adds. SIGNATURE_LEN: what it adds with integrity. LENGTH_LEN: RFC 4422
 * puts a length before each buffer, Hadoop does not. */
enum { WRAP_PIECE = 60000, SIGNATURE_LEN = 16, LENGTH_LEN = 4 };

enum sasl_state { SASL_NEW, SASL_NEGOTIATING, SASL_ANSWERING, SASL_DONE };

struct yarn_sasl {
    struct yarn_token token;
    struct sasl_wish wish;
    enum sasl_state state;
    bool is_complete; /* the mechanism wants no more */
    enum sasl_protection protection;
    Gsasl *library;
    Gsasl_session *session;
};

/* ---- protection ---- */

static const struct {
    const char *word, *offer, *choice; /* of the option, in a challenge, of libgsasl */
    enum sasl_protection protection;   /* 0: there is none */
} protections[] = {
    {"authentication", "auth", "qop-auth", SASL_AUTHENTICATION},
    {"integrity", "auth-int", "qop-int", SASL_INTEGRITY},
    {"privacy", "auth-conf", NULL, 0},
};

static size_t find_word(const char *word)
{
    size_t i = 0;
    while (i < ARRAY_LEN(protections) && strcasecmp(word, protections[i].word) != 0)
        i++;
    return i;
}

static bool has_protection(const struct sasl_wish *wish, enum sasl_protection p)
{
    return wish->order[0] == p || wish->order[1] == p;
}

int sasl_wish_read(const char *text, struct sasl_wish *out, struct err_info *why)
{
    struct sasl_wish wish = {{0, 0}};
    size_t n = 0;
    bool has_privacy = false;
    for (size_t i = 0;; i++) {
        mem_auto char *word = str_field(text ? text : protections[0].word, ',', i);
        if (!word)
            break;
        size_t row = find_word(word);
        if (row == ARRAY_LEN(protections))
            return err_set(why, ERR_INVALID, NULL, "\"%s\" is not authentication, integrity or privacy",
                           word);
        enum sasl_protection p = protections[row].protection;
        has_privacy = has_privacy || p == 0;
        if (p != 0 && !has_protection(&wish, p))
            wish.order[n++] = p;
    }
    if (n == 0 && has_privacy)
        return err_set(why, ERR_UNSUPPORTED, NULL,
                       "privacy alone is not supported; add integrity or authentication");
    *out = wish;
    return 0;
}

/* The value of a directive of a challenge; quotes are taken off. */
static struct frame_bytes find_directive(struct frame_bytes challenge, const char *name)
{
    size_t name_len = strlen(name), at = 0;
    while (at < challenge.len) {
        size_t start = at;
        bool is_quoted = false;
        while (at < challenge.len && (is_quoted || challenge.at[at] != ',')) {
            if (challenge.at[at] == '"')
                is_quoted = !is_quoted;
            else if (is_quoted && challenge.at[at] == '\\')
                at++;
            at++;
        }
        size_t end = at < challenge.len ? at : challenge.len;
        at++;
        while (start < end && challenge.at[start] == ' ')
            start++;
        if (end - start <= name_len || memcmp(challenge.at + start, name, name_len) != 0 ||
            challenge.at[start + name_len] != '=')
            continue;
        start += name_len + 1;
        bool has_quotes = end - start >= 2 && challenge.at[start] == '"' && challenge.at[end - 1] == '"';
        return (struct frame_bytes){challenge.at + start + has_quotes, end - start - 2 * has_quotes};
    }
    return (struct frame_bytes){NULL, 0};
}

/* The first that we accept of those that the challenge offers, a row of the table. */
static int choose_protection(struct yarn_sasl *s, struct frame_bytes challenge, struct err_info *why)
{
    struct frame_bytes qop = find_directive(challenge, "qop");
    mem_auto char *offer = mem_strn(qop.at ? (const char *)qop.at : "auth", qop.at ? qop.len : 4);
    for (size_t i = 0; i < ARRAY_LEN(s->wish.order) && s->wish.order[i]; i++) {
        for (size_t row = 0; row < ARRAY_LEN(protections); row++) {
            if (protections[row].protection != s->wish.order[i] ||
                !str_has_field(offer, ',', protections[row].offer))
                continue;
            s->protection = protections[row].protection;
            gsasl_property_set(s->session, GSASL_QOP, protections[row].choice);
            return 0;
        }
    }
    return err_set(why, ERR_UNSUPPORTED, NULL,
                   "it offers the protection %.80s only, which hadoop.rpc.protection here does not allow%s",
                   offer, str_has_field(offer, ',', "auth-conf") ? "; privacy is not supported" : "");
}

/* ---- the mechanism ---- */

static int failed(int rc, const char *what, struct err_info *why)
{
    return err_set(why, ERR_AUTH, NULL, "%s: %s", what, gsasl_strerror(rc));
}

/* @param entry  of the server: its names are part of the digest */
static int start_digest(struct yarn_sasl *s, const Yarn__SaslAuth *entry, struct err_info *why)
{
    buf_auto struct buf user = BUF_EMPTY;
    struct buf password = BUF_EMPTY;
    int rc = gsasl_init(&s->library);
    if (rc == GSASL_OK)
        rc = gsasl_client_start(s->library, "DIGEST-MD5", &s->session);
    if (rc != GSASL_OK)
        return err_set(why, ERR_UNSUPPORTED, NULL, "DIGEST-MD5 is not available here: %s",
                       gsasl_strerror(rc));
    base64_put(&user, s->token.identifier.bytes, s->token.identifier.len);
    base64_put(&password, s->token.password.bytes, s->token.password.len);
    gsasl_property_set(s->session, GSASL_AUTHID, buf_cstr(&user));
    gsasl_property_set(s->session, GSASL_PASSWORD, buf_cstr(&password));
    gsasl_property_set(s->session, GSASL_SERVICE, entry->protocol ? entry->protocol : "");
    gsasl_property_set(s->session, GSASL_HOSTNAME, entry->server_id ? entry->server_id : "");
    explicit_bzero(password.bytes, password.cap);
    buf_fini(&password);
    return 0;
}

static int start_kerberos(struct yarn_sasl *s, const Yarn__SaslAuth *entry, struct err_info *why)
{
    (void)s;
    (void)entry;
    return err_set(why, ERR_UNSUPPORTED, NULL, "it wants Kerberos, which this client does not have yet");
}

/* What a server may offer, best first. */
static const struct method {
    const char *name, *mechanism;
    int (*start)(struct yarn_sasl *s, const Yarn__SaslAuth *entry, struct err_info *why);
} methods[] = {
    {"TOKEN", "DIGEST-MD5", start_digest},
    {"KERBEROS", "GSSAPI", start_kerberos},
};

/* A step of the mechanism; the answer is put into the message. free(message->token.data) */
static int step(struct yarn_sasl *s, struct frame_bytes challenge, Yarn__SaslMessage *message,
                struct err_info *why)
{
    char *answer = NULL;
    size_t len = 0;
    int rc = gsasl_step(s->session, (const char *)challenge.at, challenge.len, &answer, &len);
    if (rc != GSASL_OK && rc != GSASL_NEEDS_MORE)
        return failed(rc, "authentication failed", why);
    s->is_complete = rc == GSASL_OK;
    message->has_token = true;
    message->token = (ProtobufCBinaryData){len, (uint8_t *)answer};
    return 0;
}

static struct frame_bytes bytes_of(ProtobufCBinaryData b)
{
    return (struct frame_bytes){b.data, b.len};
}

/* ---- the exchange ---- */

struct yarn_sasl *yarn_sasl_new(const struct yarn_token *token, const struct sasl_wish *wish)
{
    struct yarn_sasl *s = mem_new(struct yarn_sasl);
    yarn_token_copy(&s->token, token);
    s->wish = *wish;
    return s;
}

void yarn_sasl_free(struct yarn_sasl *s)
{
    if (!s)
        return;
    if (s->session)
        gsasl_finish(s->session);
    if (s->library)
        gsasl_done(s->library);
    yarn_token_fini(&s->token);
    free(s);
}

void yarn_sasl_begin(struct yarn_sasl *s, struct buf *out)
{
    BUG_IF(s->state != SASL_NEW);
    Yarn__SaslMessage message = YARN__SASL_MESSAGE__INIT;
    message.state = YARN__SASL_STATE__SASL_NEGOTIATE;
    frame_put_sasl(out, &message);
    s->state = SASL_NEGOTIATING;
}

/* The entry of the first of our methods that the server has. NULL: none. */
static Yarn__SaslAuth *choose(const Yarn__SaslMessage *message, const struct method **method)
{
    for (size_t m = 0; m < ARRAY_LEN(methods); m++) {
        for (size_t i = 0; i < message->n_auths; i++) {
            if (strcmp(message->auths[i]->method, methods[m].name) != 0 ||
                strcmp(message->auths[i]->mechanism, methods[m].mechanism) != 0)
                continue;
            *method = &methods[m];
            return message->auths[i];
        }
    }
    return NULL;
}

/* The entry goes back as it came, empty fields included, but for the challenge. */
static int initiate(struct yarn_sasl *s, Yarn__SaslMessage *message, struct buf *out, struct err_info *why)
{
    const struct method *method = NULL;
    Yarn__SaslAuth *entry = choose(message, &method);
    if (!entry)
        return err_set(why, ERR_AUTH, NULL, "it does not authenticate by token");
    int err = method->start(s, entry, why);
    if (err != 0)
        return err;
    Yarn__SaslMessage answer = YARN__SASL_MESSAGE__INIT;
    answer.state = YARN__SASL_STATE__SASL_INITIATE;
    answer.auths = &entry;
    answer.n_auths = 1;
    if (entry->has_challenge) {
        err = choose_protection(s, bytes_of(entry->challenge), why);
        if (err == 0)
            err = step(s, bytes_of(entry->challenge), &answer, why);
    }
    if (err != 0)
        return err;
    entry->has_challenge = false;
    frame_put_sasl(out, &answer);
    gsasl_free(answer.token.data);
    s->state = SASL_ANSWERING;
    return 0;
}

static int respond(struct yarn_sasl *s, const Yarn__SaslMessage *message, struct buf *out,
                   struct err_info *why)
{
    Yarn__SaslMessage answer = YARN__SASL_MESSAGE__INIT;
    answer.state = YARN__SASL_STATE__SASL_RESPONSE;
    int err = s->protection ? 0 : choose_protection(s, bytes_of(message->token), why);
    if (err == 0)
        err = step(s, bytes_of(message->token), &answer, why);
    if (err != 0)
        return err;
    frame_put_sasl(out, &answer);
    gsasl_free(answer.token.data);
    return 0;
}

static int finish(struct yarn_sasl *s, const Yarn__SaslMessage *message, struct err_info *why)
{
    Yarn__SaslMessage answer = YARN__SASL_MESSAGE__INIT;
    if (message->has_token && !s->is_complete) {
        int err = step(s, bytes_of(message->token), &answer, why);
        gsasl_free(answer.token.data);
        if (err != 0)
            return err;
    }
    if (!s->is_complete)
        return err_set(why, ERR_AUTH, NULL,
                       "it accepts us without a proof that it knows the token's password");
    s->state = SASL_DONE;
    return 0;
}

int yarn_sasl_answer(struct yarn_sasl *s, Yarn__SaslMessage *message, struct buf *out, struct err_info *why)
{
    bool is_begin = s->state == SASL_NEGOTIATING;
    if (is_begin && message->state == YARN__SASL_STATE__SASL_NEGOTIATE)
        return initiate(s, message, out, why);
    if (is_begin && message->state == YARN__SASL_STATE__SASL_SUCCESS)
        return err_set(why, ERR_AUTH, NULL, "it asks nobody to authenticate; a token is not sent there");
    if (s->state == SASL_ANSWERING && message->state == YARN__SASL_STATE__SASL_CHALLENGE && !s->is_complete)
        return respond(s, message, out, why);
    if (s->state == SASL_ANSWERING && message->state == YARN__SASL_STATE__SASL_SUCCESS)
        return finish(s, message, why);
    return err_set(why, ERR_PARSE, NULL, "a SASL message of state %d has no place here", (int)message->state);
}

bool yarn_sasl_is_done(const struct yarn_sasl *s)
{
    return s->state == SASL_DONE;
}

/* ---- the layer behind it ---- */

bool yarn_sasl_wraps(const struct yarn_sasl *s)
{
    return s->state == SASL_DONE && s->protection == SASL_INTEGRITY;
}

int yarn_sasl_wrap(struct yarn_sasl *s, struct buf *plain, struct buf *out, struct err_info *why)
{
    for (size_t at = 0; at < plain->len;) {
        size_t n = plain->len - at < WRAP_PIECE ? plain->len - at : WRAP_PIECE;
        char *coded = NULL;
        size_t len = 0;
        int rc = gsasl_encode(s->session, plain->bytes + at, n, &coded, &len);
        if (rc != GSASL_OK || len < LENGTH_LEN)
            return failed(rc, "cannot sign what is sent", why);
        Yarn__SaslMessage message = YARN__SASL_MESSAGE__INIT;
        message.state = YARN__SASL_STATE__SASL_WRAP;
        message.has_token = true;
        message.token = (ProtobufCBinaryData){len - LENGTH_LEN, (uint8_t *)coded + LENGTH_LEN};
        frame_put_sasl(out, &message);
        gsasl_free(coded);
        at += n;
    }
    buf_clear(plain);
    return 0;
}

int yarn_sasl_unwrap(struct yarn_sasl *s, const Yarn__SaslMessage *message, struct buf *out,
                     struct err_info *why)
{
    if (message->state != YARN__SASL_STATE__SASL_WRAP || !message->has_token)
        return err_set(why, ERR_PARSE, NULL, "a SASL message of state %d has no place here",
                       (int)message->state);
    size_t n = message->token.len;
    if (n < SIGNATURE_LEN) /* libgsasl 2.2 would subtract without a look */
        return err_set(why, ERR_AUTH, NULL, "an answer is not signed as agreed: it is too short");
    buf_auto struct buf coded = BUF_EMPTY;
    for (unsigned i = 0; i < LENGTH_LEN; i++)
        buf_add_char(&coded, (char)(n >> (8 * (LENGTH_LEN - 1 - i))));
    buf_add(&coded, message->token.data, n);
    char *plain = NULL;
    size_t len = 0;
    int rc = gsasl_decode(s->session, coded.bytes, coded.len, &plain, &len);
    if (rc != GSASL_OK)
        return failed(rc, "an answer is not signed as agreed", why);
    buf_add(out, plain, len);
    gsasl_free(plain);
    return 0;
}

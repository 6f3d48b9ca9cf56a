#include "yarn/token.h"
#include "yarn/frame.h"
#include "base/mem.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MAGIC_LEN = 4, FORMAT_WRITABLE = 0, FORMAT_PROTOBUF = 1 };

static const char magic[MAGIC_LEN] = "HDTS";

static void secret_fini(struct buf *b)
{
    if (b->cap)
        explicit_bzero(b->bytes, b->cap);
    buf_fini(b);
}

/* ---- tokens ---- */

void yarn_token_copy(struct yarn_token *out, const struct yarn_token *token)
{
    out->kind = mem_str(token->kind);
    out->service = mem_str(token->service);
    buf_add(&out->identifier, token->identifier.bytes, token->identifier.len);
    buf_add(&out->password, token->password.bytes, token->password.len);
}

void yarn_token_read(struct yarn_token *out, const Yarn__Token *m)
{
    out->kind = mem_str(m->kind ? m->kind : "");
    out->service = mem_str(m->service ? m->service : "");
    buf_add(&out->identifier, m->identifier.data, m->identifier.len);
    buf_add(&out->password, m->password.data, m->password.len);
}

void yarn_token_point(const struct yarn_token *token, Yarn__Token *out)
{
    yarn__token__init(out);
    out->kind = token->kind;
    out->service = token->service;
    out->identifier = (ProtobufCBinaryData){token->identifier.len, (uint8_t *)token->identifier.bytes};
    out->password = (ProtobufCBinaryData){token->password.len, (uint8_t *)token->password.bytes};
}

void yarn_token_fini(struct yarn_token *token)
{
    free(token->kind);
    free(token->service);
    buf_fini(&token->identifier);
    secret_fini(&token->password);
    token->kind = token->service = NULL;
}

/* ---- lists ---- */

static struct yarn_named_token *new_token(struct yarn_credentials *c, const char *alias, size_t len)
{
    c->tokens = mem_resize(c->tokens, c->n_tokens + 1, sizeof *c->tokens);
    struct yarn_named_token *t = &c->tokens[c->n_tokens++];
    *t = (struct yarn_named_token){.alias = mem_strn(alias, len)};
    return t;
}

static struct yarn_secret *new_secret(struct yarn_credentials *c, const char *alias, size_t len)
{
    c->secrets = mem_resize(c->secrets, c->n_secrets + 1, sizeof *c->secrets);
    struct yarn_secret *s = &c->secrets[c->n_secrets++];
    *s = (struct yarn_secret){.alias = mem_strn(alias, len)};
    return s;
}

void yarn_credentials_add(struct yarn_credentials *c, const char *alias, const struct yarn_token *token)
{
    yarn_token_copy(&new_token(c, alias, strlen(alias))->token, token);
}

const struct yarn_token *yarn_credentials_find(const struct yarn_credentials *c, const char *kind)
{
    for (size_t i = 0; i < c->n_tokens; i++)
        if (strcmp(c->tokens[i].token.kind, kind) == 0)
            return &c->tokens[i].token;
    return NULL;
}

void yarn_credentials_fini(struct yarn_credentials *c)
{
    for (size_t i = 0; i < c->n_tokens; i++) {
        free(c->tokens[i].alias);
        yarn_token_fini(&c->tokens[i].token);
    }
    for (size_t i = 0; i < c->n_secrets; i++) {
        free(c->secrets[i].alias);
        secret_fini(&c->secrets[i].value);
    }
    free(c->tokens);
    free(c->secrets);
    *c = CREDENTIALS_EMPTY;
}

/* ---- format 0 ---- */

static void put_vint(struct buf *out, size_t n)
{
    if (n <= 127) {
        buf_add_char(out, (char)n);
        return;
    }
    unsigned len = 0;
    for (size_t rest = n; rest; rest >>= 8)
        len++;
    buf_add_char(out, (char)(-112 - (int)len));
    while (len--)
        buf_add_char(out, (char)(n >> (8 * len)));
}

static void put_bytes(struct buf *out, const char *bytes, size_t len)
{
    put_vint(out, len);
    buf_add(out, bytes, len);
}

static void put_text(struct buf *out, const char *text)
{
    put_bytes(out, text ? text : "", text ? strlen(text) : 0);
}

void yarn_credentials_write(const struct yarn_credentials *c, struct buf *out)
{
    buf_add(out, magic, MAGIC_LEN);
    buf_add_char(out, FORMAT_WRITABLE);
    put_vint(out, c->n_tokens);
    for (size_t i = 0; i < c->n_tokens; i++) {
        const struct yarn_token *t = &c->tokens[i].token;
        put_text(out, c->tokens[i].alias);
        put_bytes(out, t->identifier.bytes, t->identifier.len);
        put_bytes(out, t->password.bytes, t->password.len);
        put_text(out, t->kind);
        put_text(out, t->service);
    }
    put_vint(out, c->n_secrets);
    for (size_t i = 0; i < c->n_secrets; i++) {
        put_text(out, c->secrets[i].alias);
        put_bytes(out, c->secrets[i].value.bytes, c->secrets[i].value.len);
    }
}

/* What is left of a blob; is_bad once something was not there. */
struct reader {
    const uint8_t *at, *end;
    bool is_bad;
};

/* Lengths and counts only: what is negative, or more than a blob may have, is bad. */
static size_t get_vint(struct reader *r)
{
    int first = r->at < r->end ? (int8_t)*r->at++ : -1;
    if (first >= 0)
        return (size_t)first;
    int len = -112 - first;
    if (len < 1 || len > 4 || r->end - r->at < len) {
        r->is_bad = true;
        return 0;
    }
    size_t n = 0;
    while (len--)
        n = n << 8 | *r->at++;
    return n;
}

static void get_bytes(struct reader *r, struct buf *out)
{
    size_t len = get_vint(r);
    if (len > (size_t)(r->end - r->at))
        r->is_bad = true;
    if (r->is_bad)
        return;
    buf_add(out, r->at, len);
    r->at += len;
}

/* Texts with a NUL in them are bad: nothing of Hadoop's writes one. */
static char *get_text(struct reader *r)
{
    buf_auto struct buf text = BUF_EMPTY;
    get_bytes(r, &text);
    if (text.len && memchr(text.bytes, 0, text.len))
        r->is_bad = true;
    return buf_take(&text);
}

static void read_token(struct reader *r, struct yarn_credentials *out)
{
    mem_auto char *alias = get_text(r);
    struct yarn_token *t = &new_token(out, alias, strlen(alias))->token;
    get_bytes(r, &t->identifier);
    get_bytes(r, &t->password);
    t->kind = get_text(r);
    t->service = get_text(r);
}

static void read_secret(struct reader *r, struct yarn_credentials *out)
{
    mem_auto char *alias = get_text(r);
    get_bytes(r, &new_secret(out, alias, strlen(alias))->value);
}

static int read_list(struct reader *r, struct yarn_credentials *out,
                     void (*read_one)(struct reader *r, struct yarn_credentials *out))
{
    size_t n = get_vint(r);
    if (n > CREDENTIALS_MAX_ITEMS)
        return ERR_TOOBIG;
    for (size_t i = 0; i < n && !r->is_bad; i++)
        read_one(r, out);
    return r->is_bad ? ERR_PARSE : 0;
}

static int read_writable(struct reader r, struct yarn_credentials *out)
{
    int err = read_list(&r, out, read_token);
    if (err == 0)
        err = read_list(&r, out, read_secret);
    return err == 0 && r.at != r.end ? ERR_PARSE : err;
}

/* ---- format 1 ---- */

static int copy_message(const Yarn__Credentials *m, struct yarn_credentials *out)
{
    if (m->n_tokens > CREDENTIALS_MAX_ITEMS || m->n_secrets > CREDENTIALS_MAX_ITEMS)
        return ERR_TOOBIG;
    for (size_t i = 0; i < m->n_tokens; i++) {
        const Yarn__Credential *c = m->tokens[i];
        if (!c->token)
            return ERR_PARSE;
        yarn_token_read(&new_token(out, c->alias, strlen(c->alias))->token, c->token);
    }
    for (size_t i = 0; i < m->n_secrets; i++) {
        const Yarn__Credential *c = m->secrets[i];
        buf_add(&new_secret(out, c->alias, strlen(c->alias))->value, c->secret.data, c->secret.len);
    }
    return 0;
}

static void wipe_bytes(ProtobufCBinaryData *secret)
{
    if (secret->len)
        explicit_bzero(secret->data, secret->len);
}

static void wipe(Yarn__Credentials *m)
{
    for (size_t i = 0; i < m->n_tokens; i++)
        if (m->tokens[i]->token)
            wipe_bytes(&m->tokens[i]->token->password);
    for (size_t i = 0; i < m->n_secrets; i++)
        wipe_bytes(&m->secrets[i]->secret);
    yarn__credentials__free_unpacked(m, NULL);
}

static int read_protobuf(struct reader r, struct yarn_credentials *out)
{
    struct frame_bytes rest = {r.at, (size_t)(r.end - r.at)};
    Yarn__Credentials *m =
        (Yarn__Credentials *)frame_read_message(rest, &yarn__credentials__descriptor, NULL);
    if (!m)
        return ERR_PARSE;
    int err = copy_message(m, out);
    wipe(m);
    return err;
}

int yarn_credentials_read(const void *blob, size_t len, struct yarn_credentials *out, struct err_info *why)
{
    const uint8_t *at = blob;
    if (len <= MAGIC_LEN || memcmp(at, magic, MAGIC_LEN) != 0)
        return err_set(why, ERR_PARSE, NULL, "this is no token storage of Hadoop");
    struct reader r = {at + MAGIC_LEN + 1, at + len, false};
    if (at[MAGIC_LEN] > FORMAT_PROTOBUF)
        return err_set(why, ERR_UNSUPPORTED, NULL, "this token storage has format %u; 0 and 1 are known",
                       at[MAGIC_LEN]);
    int err = at[MAGIC_LEN] == FORMAT_WRITABLE ? read_writable(r, out) : read_protobuf(r, out);
    if (err == 0)
        return 0;
    yarn_credentials_fini(out);
    if (err == ERR_TOOBIG)
        return err_set(why, err, NULL, "this token storage has more than %d entries", CREDENTIALS_MAX_ITEMS);
    return err_set(why, err, NULL, "this token storage is malformed, or cut");
}

#include "digest_kit.h"

#include <gnutls/crypto.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAC_LEN = 10 };

static void md5(const struct buf *in, uint8_t out[DIGEST_LEN])
{
    if (gnutls_hash_fast(GNUTLS_DIG_MD5, in->bytes, in->len, out) != 0)
        abort();
}

static void hex(const uint8_t raw[DIGEST_LEN], char out[DIGEST_HEX_LEN])
{
    for (int i = 0; i < DIGEST_LEN; i++)
        snprintf(out + 2 * i, 3, "%02x", raw[i]);
}

/* H(A1) */
static void session_key(const struct digest *d, uint8_t out[DIGEST_LEN])
{
    buf_auto struct buf b = BUF_EMPTY;
    buf_addf(&b, "%s:%s:%s", d->user, d->realm, d->password);
    md5(&b, out);
    buf_clear(&b);
    buf_add(&b, out, DIGEST_LEN);
    buf_addf(&b, ":%s:%s", d->nonce, d->cnonce);
    md5(&b, out);
}

void digest_response(const struct digest *d, const char *prefix, char out[DIGEST_HEX_LEN])
{
    buf_auto struct buf b = BUF_EMPTY;
    uint8_t raw[DIGEST_LEN];
    char a1[DIGEST_HEX_LEN], a2[DIGEST_HEX_LEN];
    session_key(d, raw);
    hex(raw, a1);
    buf_addf(&b, "%s%s%s", *prefix ? prefix : ":", d->uri,
             strcmp(d->qop, "auth") == 0 ? "" : ":00000000000000000000000000000000");
    md5(&b, raw);
    hex(raw, a2);
    buf_clear(&b);
    buf_addf(&b, "%s:%s:00000001:%s:%s:%s", a1, d->nonce, d->cnonce, d->qop, a2);
    md5(&b, raw);
    hex(raw, out);
}

void digest_sign(const struct digest *d, bool is_client, uint32_t seq, const void *m, size_t len,
                 struct buf *out)
{
    const char tail[6] = {0, 1, (char)(seq >> 24), (char)(seq >> 16), (char)(seq >> 8), (char)seq};
    buf_auto struct buf b = BUF_EMPTY;
    uint8_t key[DIGEST_LEN], mac[DIGEST_LEN];
    session_key(d, key);
    buf_add(&b, key, sizeof key);
    buf_addf(&b, "Digest session key to %s signing key magic constant",
             is_client ? "client-to-server" : "server-to-client");
    md5(&b, key);
    buf_clear(&b);
    buf_add(&b, tail + 2, 4);
    buf_add(&b, m, len);
    if (gnutls_hmac_fast(GNUTLS_MAC_MD5, key, sizeof key, b.bytes, b.len, mac) != 0)
        abort();
    buf_add(out, m, len);
    buf_add(out, mac, MAC_LEN);
    buf_add(out, tail, sizeof tail);
}

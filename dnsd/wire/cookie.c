#include "wire/cookie.h"

#include <string.h>

#include "wire/rdata.h"

enum {
    VERSION = 1,
    TIME_AT = 12, /* offsets in the cookie */
    HASH_AT = 16,
    TOO_OLD_S = 3600,
    RENEW_S = 1800,
    FUTURE_S = 300,
};

static uint64_t get64(const uint8_t *p)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < 8; i++)
        v |= (uint64_t)p[i] << (8 * i);
    return v;
}

static uint64_t rotate(uint64_t v, unsigned bits)
{
    return v << bits | v >> (64 - bits);
}

static void sip_rounds(uint64_t v[4], unsigned n)
{
    for (; n; n--) {
        v[0] += v[1];
        v[2] += v[3];
        v[1] = rotate(v[1], 13) ^ v[0];
        v[3] = rotate(v[3], 16) ^ v[2];
        v[0] = rotate(v[0], 32);
        v[2] += v[1];
        v[0] += v[3];
        v[1] = rotate(v[1], 17) ^ v[2];
        v[3] = rotate(v[3], 21) ^ v[0];
        v[2] = rotate(v[2], 32);
    }
}

static void sip_word(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    sip_rounds(v, 2);
    v[0] ^= word;
}

void cookie_siphash(const uint8_t *key, const uint8_t *p, size_t n, uint8_t out[8])
{
    uint64_t k0 = get64(key), k1 = get64(key + 8), last = (uint64_t)n << 56;
    uint64_t v[4] = {k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261,
                     k1 ^ 0x7465646279746573};
    for (; n >= 8; n -= 8, p += 8)
        sip_word(v, get64(p));
    for (size_t i = 0; i < n; i++)
        last |= (uint64_t)p[i] << (8 * i);
    sip_word(v, last);
    v[2] ^= 0xff;
    sip_rounds(v, 4);
    uint64_t hash = v[0] ^ v[1] ^ v[2] ^ v[3];
    for (unsigned i = 0; i < 8; i++)
        out[i] = (uint8_t)(hash >> (8 * i));
}

/** The last 8 octets of a cookie whose first 16 are given. */
static void seal(const uint8_t *key, const struct cookie_client *client, const uint8_t *head, uint8_t out[8])
{
    uint8_t text[HASH_AT + 16];
    memcpy(text, head, HASH_AT);
    memcpy(text + HASH_AT, client->address, client->address_len);
    cookie_siphash(key, text, HASH_AT + (size_t)client->address_len, out);
}

void cookie_make(const struct cookie_secrets *secrets, const struct cookie_client *client,
                 const uint8_t *client_cookie, uint8_t out[COOKIE_LEN])
{
    memcpy(out, client_cookie, COOKIE_CLIENT_LEN);
    wire_put32(out + COOKIE_CLIENT_LEN, (uint32_t)VERSION << 24);
    wire_put32(out + TIME_AT, client->now_s);
    seal(secrets->keys[0], client, out, out + HASH_AT);
}

/** Which secret made it, or -1. */
static int made_by(const struct cookie_secrets *secrets, const struct cookie_client *client,
                   const uint8_t *cookie)
{
    uint8_t hash[8];
    for (int i = 0; i < secrets->n_keys; i++) {
        seal(secrets->keys[i], client, cookie, hash);
        if (!memcmp(hash, cookie + HASH_AT, sizeof hash))
            return i;
    }
    return -1;
}

bool cookie_check(const struct cookie_secrets *secrets, const struct cookie_client *client,
                  const uint8_t *cookie, size_t len, uint8_t out[COOKIE_LEN])
{
    int age_s = 0, maker = -1;
    if (len == COOKIE_LEN && cookie[COOKIE_CLIENT_LEN] == VERSION) {
        age_s = (int32_t)(client->now_s - wire_get32(cookie + TIME_AT));
        if (age_s <= TOO_OLD_S && age_s >= -FUTURE_S)
            maker = made_by(secrets, client, cookie);
    }
    if (maker == 0 && age_s <= RENEW_S)
        memcpy(out, cookie, COOKIE_LEN);
    else
        cookie_make(secrets, client, cookie, out);
    return maker >= 0;
}

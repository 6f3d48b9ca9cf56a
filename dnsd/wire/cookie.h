/**
 * DNS cookies in the interoperable form: any server with the same secret can check a server cookie.
 *
 *     client cookie 8 | version 1 (0x01) | reserved 3 | time 4 | SipHash-2-4(all before it | client address) 8
 *
 * Pure: the time is the caller's. Thread: any.   Source: RFC 7873, RFC 9018.
 */
#ifndef WIRE_COOKIE_H
#define WIRE_COOKIE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COOKIE_CLIENT_LEN 8
/** Client cookie and our server cookie. */
#define COOKIE_LEN        24
#define COOKIE_SECRET_LEN 16
/** Secrets in force at once: one that makes cookies and those that were rolled over or come next. */
#define COOKIE_SECRETS_MAX 4

/** Secrets; the first makes cookies, all are accepted. */
struct cookie_secrets {
    uint8_t n_keys; /* 1..COOKIE_SECRETS_MAX */
    uint8_t keys[COOKIE_SECRETS_MAX][COOKIE_SECRET_LEN];
};

/** The client and time of a cookie. */
struct cookie_client {
    uint8_t address[16];
    uint8_t address_len; /* 4 or 16 */
    uint32_t now_s;      /* seconds since 1970, modulo 2^32 */
};

/**
 * SipHash-2-4.
 *
 * @param key  COOKIE_SECRET_LEN octets                                          [borrowed]
 * @param p    n octets                                                          [borrowed]
 * @param out  8 octets, least significant first                                 [out]
 * Thread: any.   Source: Aumasson and Bernstein, "SipHash: a fast short-input PRF".
 */
void cookie_siphash(const uint8_t *key, const uint8_t *p, size_t n, uint8_t out[8]);

/**
 * Make a cookie.
 *
 * @param client_cookie  COOKIE_CLIENT_LEN octets                                [borrowed]
 * @param out            client cookie and server cookie                         [out]
 * Thread: any.   Source: RFC 9018 4.
 */
void cookie_make(const struct cookie_secrets *secrets, const struct cookie_client *client,
                 const uint8_t *client_cookie, uint8_t out[COOKIE_LEN]);

/**
 * Check a received cookie and give the one to answer with: the same while it is recent, else a new one.
 *
 * @param cookie  len octets: 8 (client cookie only) or 16..40                   [borrowed]
 * @param out     cookie for the response                                        [out]
 * @return whether it holds a server cookie that one of the secrets made for this client within the last hour (five
 *         minutes of the future are allowed: clocks differ).
 * Thread: any.   Source: RFC 9018 4.3, RFC 7873 5.2.
 */
bool cookie_check(const struct cookie_secrets *secrets, const struct cookie_client *client,
                  const uint8_t *cookie, size_t len, uint8_t out[COOKIE_LEN]);

#endif

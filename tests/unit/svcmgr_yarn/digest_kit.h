/**
 * The other side of DIGEST-MD5, over GnuTLS's MD5: what libgsasl's client is held against. Written from RFC 2831; the vectors in
 * test_sasl.c, which a JDK has accepted, hold it.
 * Thread: any.   Source: RFC 2831 2.1, 2.3.
 */
#ifndef DIGEST_KIT_H
#define DIGEST_KIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

enum { DIGEST_LEN = 16, DIGEST_HEX_LEN = 33, DIGEST_LAYER_LEN = 16 };

struct digest {
    const char *user, *password, *realm, *nonce, *cnonce, *qop, *uri;
};

/** The response of a client (prefix "AUTHENTICATE:") or the proof of a server (""). @param out hexadecimal [out] */
void digest_response(const struct digest *d, const char *prefix, char out[DIGEST_HEX_LEN]);
/** Append a message and what signs it: MAC, 00 01, seq. @param is_client  who sends */
void digest_sign(const struct digest *d, bool is_client, uint32_t seq, const void *m, size_t len,
                 struct buf *out);

#endif

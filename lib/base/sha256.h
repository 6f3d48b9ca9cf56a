/**
 * SHA-256 of a short text in memory: for names and labels, where a hash must have no collision that anybody can make.
 *
 * Thread: any.   Source: FIPS 180-4.
 */
#ifndef BASE_SHA256_H
#define BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

/** Bytes of a digest. */
#define SHA256_LEN 32

/**
 * The digest of some bytes.
 *
 * @param bytes  `len` bytes; may be NULL if len is 0                               [borrowed]
 * @param out    SHA256_LEN bytes                                                   [out]
 * Thread: any.   Source: FIPS 180-4, 6.2.
 */
void sha256(const void *bytes, size_t len, uint8_t out[SHA256_LEN]);

#endif

/**
 * Base64: bytes as text of A-Z a-z 0-9 + / with = at the end.
 * Pure. Thread: any.   Source: RFC 4648 4.
 */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include <stddef.h>

#include "base/buf.h"

/** Append the text of n bytes; p may be NULL when n is 0. */
void base64_put(struct buf *out, const void *p, size_t n);
/**
 * Append the bytes of a text.
 *
 * @param text  n characters, padded to a multiple of four, no blanks              [borrowed]
 * @param out   appended only on success                                           [in,out]
 * @return 0; or ERR_PARSE: another character, a wrong length, padding elsewhere, or bits that belong to no byte.
 */
int base64_get(const char *text, size_t n, struct buf *out);

#endif

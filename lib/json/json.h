/**
 * JSON documents as jansson trees, with errors that name the place. Object keys: last of a repeated key wins.
 * Pure. Thread: any.   Source: RFC 8259; RFC 6901 for pointers.
 */
#ifndef JSON_JSON_H
#define JSON_JSON_H

#include <jansson.h>
#include <stddef.h>

#include "base/buf.h"
#include "bobbin/error.h"

/**
 * Parse one document.
 *
 * @param bytes  UTF-8 text of `len` bytes, any JSON value                       [borrowed]
 * @param len    bytes; 0 is an error, bytes may then be NULL
 * @param out    new reference; json_decref releases                             [out]
 * @param why    filled on error unless NULL                                     [out]
 * @return 0; or ERR_JSON with why->where = "line:col": *out unchanged. Nesting is limited to 2048 levels; NUL, lone
 *         surrogates and numbers beyond 64 bits are refused.
 * Thread: any.   Source: RFC 8259, jansson.
 */
int json_read(const char *bytes, size_t len, json_t **out, struct err_info *why);
/** Append compact text, members in insertion order. Thread: any. Source: RFC 8259. */
void json_write(const json_t *value, struct buf *out);
/** Append text indented by two blanks, no newline at the end. Thread: any. Source: RFC 8259. */
void json_write_pretty(const json_t *value, struct buf *out);
/** A local that releases its reference: `json_auto json_t *v` (jansson's json_auto_t under our naming). */
#define json_auto __attribute__((cleanup(json_decref_ptr)))
/** Release *v and set it to NULL. Thread: any. Source: ours. */
static inline void json_decref_ptr(json_t **v)
{
    json_decref(*v);
    *v = NULL;
}

#endif

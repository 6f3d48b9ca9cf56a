/**
 * What a node of the original launcher's store holds: a text, or the same packed by gzip. It is unpacked as it is read, never more than a
 * limit, so that a small node cannot become a large text in memory.
 *
 *     bytes of a node ──┬─ 1f 8b … ──► inflate ──┬──► payload_read, a piece a time
 *                       └─ anything else ────────┘
 *
 * Pure. Thread: any, one payload one thread.   Source: framework-launcher 15; RFC 1952.
 */
#ifndef CLI_LAUNCHER_PAYLOAD_H
#define CLI_LAUNCHER_PAYLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <zlib.h>

#include "bobbin/error.h"

struct payload {
    const char *bytes; /* not read yet; of a packed one: not unpacked yet in z */
    size_t len;        /* of them */
    size_t left;       /* bytes that it may still yield */
    size_t max;        /* bytes that it may yield at all */
    bool is_packed, is_over;
    z_stream z;
};

/**
 * Begin to read.
 *
 * @param p      payload_end releases it                                            [out]
 * @param bytes  of the node, or of all parts of a large object; lives until payload_end    [borrowed]
 * @param len    bytes, below 4 GiB
 * @param max    most bytes that it may yield
 * Thread: any.   Source: framework-launcher 15.
 */
void payload_begin(struct payload *p, const char *bytes, size_t len, size_t max);
/**
 * The next piece.
 *
 * @param out   room for size bytes                                                 [out]
 * @param size  at least 1
 * @param n     bytes that were put there; 0: the end                               [out]
 * @return 0; ERR_PARSE: no gzip, a damaged or a truncated one, or something behind it; ERR_TOOBIG: it yields more than it may; *why filled.
 * Thread: any.   Source: zlib, inflate.
 */
int payload_read(struct payload *p, unsigned char *out, size_t size, size_t *n, struct err_info *why);
/** Release. Thread: any. */
void payload_end(struct payload *p);

#endif

/**
 * The packed block: what DNS needs of a record, as NUL-terminated fields one after another. The first is the kind:
 *
 *     a  application   for each external endpoint: endpoint_pack of endpoint.h
 *     c  container     description, component, address, id, hostname, ready (container.h); for each port: ports_pack of port.h
 *     n  no names      reason, description, component (map.c)
 *
 * A field that the record lacks is the single octet 1, which no attribute of a record can be. Snapshots hold blocks, so a
 * later version of dnsd reads them.
 *
 * Pure. Thread: any.   Source: ours.
 */
#ifndef NAMES_BLOCK_H
#define NAMES_BLOCK_H

#include <stddef.h>

struct buf;

enum block_kind { BLOCK_APPLICATION = 'a', BLOCK_CONTAINER = 'c', BLOCK_NO_NAMES = 'n' };

/** Reader of a block; all zero: at its end. */
struct block {
    const char *p, *end;
};

/** Begin a block. @param out the block [in,out]. Thread: any. Source: ours. */
void block_begin(struct buf *out, enum block_kind kind);
/** Append a field. @param text without NUL octets, NULL: the record lacks it [borrowed]; @param out the block [in,out].
 *  Thread: any. Source: ours. */
void block_add(struct buf *out, const char *text);
/** Append a field of n octets. @param text no NUL in it [borrowed]. Thread: any. Source: ours. */
void block_add_n(struct buf *out, const char *text, size_t n);

/** Kind of a block, and step to the field behind it. @return a kind; an unknown one counts as BLOCK_NO_NAMES. Thread: any.
 *  Source: ours. */
enum block_kind block_next_kind(struct block *b);
/** Next field. @return as long as the block; NULL at its end. Thread: any. Source: ours. */
const char *block_next(struct block *b);
/** Next field that the record may lack. @return NULL also where it does. Thread: any. Source: ours. */
const char *block_next_present(struct block *b);

#endif

/**
 * The members of a document that no definition knows, in words. Inside spec/; others read through spec_read.
 *
 * Thread: any.   Source: ours.
 */
#ifndef SPEC_UNKNOWN_H
#define SPEC_UNKNOWN_H

#include "base/buf.h"
#include "spec/codec.h"

/** Most members that are named; of more the number is given. */
#define SPEC_UNKNOWN_MAX 10

/**
 * Append what a document has and its type does not know: the JSON pointer of each, and the nearest known name, with "; " between two.
 *
 * @param type  of the document                                                   [borrowed]
 * @param doc   the document, or an array of documents                                                      [borrowed]
 * @param out   nothing is appended when all is known                             [in,out]
 */
void spec_list_unknown(const struct fld_type *type, const json_t *doc, struct buf *out);

#endif

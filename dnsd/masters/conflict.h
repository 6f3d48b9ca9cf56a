/**
 * Records of one zone that cannot stand together: beside a CNAME there is nothing, and a name has one CNAME and one DNAME.
 * Pure. Thread: any.   Source: RFC 1034 3.6.2, RFC 2181 10.1, RFC 6672 2.4.
 */
#ifndef MASTERS_CONFLICT_H
#define MASTERS_CONFLICT_H

#include <stddef.h>

#include "masters/rrlist.h"

/**
 * Find the first record that cannot stand with those before it.
 *
 * @param rrs    records of the zone                                             [borrowed]
 * @param apex   of the zone                                                     [borrowed]
 * @param index  of the record in the list                                       [out]
 * @return what is wrong, as a sentence; NULL: nothing is.   Thread: any.   Source: as above.
 */
const char *conflict_find(const struct rrlist *rrs, const uint8_t *apex, size_t *index);

#endif

/**
 * Master files: one file, with all it includes, becomes a list of records. Touches no zone, so any thread may read.
 *
 * Forms: those of RFC 1035 5 ($ORIGIN, $INCLUDE, parentheses, comments, relative names, blank owner, escapes), $TTL
 * (RFC 2308), unknown types (RFC 3597), and BIND's $GENERATE. A record without TTL has that of $TTL, else of the record
 * before, else the SOA's minimum. $INCLUDE names are relative to the including file; what they set as origin ends with them.
 *
 * Thread: any.   Source: RFC 1035 5, RFC 2308 4; Hadoop RegistryDNS (file names).
 */
#ifndef MASTERS_ZONEFILE_H
#define MASTERS_ZONEFILE_H

#include <stdbool.h>

#include "bobbin/error.h"
#include "masters/rrlist.h"

/** What a file says. */
struct zonefile {
    struct rrlist rrs;
    uint32_t serial;    /* of its SOA */
    unsigned n_outside; /* records that were not in the zone and were dropped */
};

/** Apex of `NAME.zone`. @return 0; or ERR_PARSE: no such name. */
int zonefile_apex(const char *file_name, uint8_t *out);

/**
 * Read a file.
 *
 * @param path   of the file                                                     [borrowed]
 * @param apex   wire name of the zone; records outside it are dropped           [borrowed]
 * @param out    filled; rrlist_fini(&out->rrs) releases it, also after an error [out]
 * @param stamp  what was read: paths, times and sizes, for zonefile_is_current; set after an error too; buf_fini [out]
 * @return 0; or ERR_CONFIG with why->where "file:line": syntax, a record that is none, not exactly one SOA at the apex, no NS,
 *         records that cannot stand together (conflict.h), a file that cannot be read.
 */
int zonefile_read(const char *path, const uint8_t *apex, struct zonefile *out, struct buf *stamp,
                  struct err_info *why);

/** Are the files of a stamp as they were? */
bool zonefile_is_current(const char *stamp);

/**
 * One step of $GENERATE: `$` and `${offset,width,base}` of a template become the number.
 *
 * @return 0; or ERR_PARSE: malformed template.   Source: BIND 9 ARM.
 */
int zonefile_generate(const char *template, int64_t n, struct buf *out);

#endif

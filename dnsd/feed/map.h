/**
 * From a registry record to DNS records: a pure function of (path, record, options).
 *
 * A record is first packed: only what DNS reads of it, as a short block of bytes that is kept per path. The records of a
 * packed block can be produced again at any time, so an update is the difference of two productions and a delete takes away
 * exactly what was added; nothing else is remembered.
 *
 *   application:  S = <last>.<user>.D           A, AAAA, SRV, TXT     E = <fragment>-api.S   the same for one endpoint
 *   container:    I = <description>.<service>.<user>.D   A, AAAA, TXT     PTR from yarn:ip to I
 *                 X = <last>.D                           A, AAAA
 *                 C = <component>.<service>.<user>.D     A, AAAA
 *
 * Pure. Thread: any.   Source: Hadoop RegistryDNS (names); RFC 1035, RFC 2782; strict mode: ours.
 */
#ifndef FEED_MAP_H
#define FEED_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "bobbin/record.h"
#include "zone/zone.h"

struct map_options {
    const uint8_t *domain; /* D, wire name [borrowed] */
    uint32_t ttl_s;
};

/**
 * Pack what DNS reads of a record.
 *
 * @param record  valid record or NULL (the node holds none)                     [borrowed]
 * @param len     of the result                                                  [out]
 * @return new block, free(); or NULL: this record has no names (no yarn:persistence, no address, no endpoint).
 */
char *map_pack(const struct reg_record *record, size_t *len);

/** Where produced records go. rr is valid during the call only. */
struct map_sink {
    void (*rr)(void *arg, const struct zone_rr *rr);
    void *arg;
};

/**
 * Produce the records of a packed block.
 *
 * @param path    registry path of the record, "/users/…"                        [borrowed]
 * @param packed  block of map_pack                                              [borrowed]
 * @return number of names that could not be formed (label or name too long, a character beyond U+00FF, port or address that is
 *         none): these are left out, everything else is produced.
 */
unsigned map_produce(const struct map_options *options, const char *path, const char *packed, size_t len,
                     const struct map_sink *sink);

/** Reverse name of an address (in-addr.arpa, ip6.arpa). @param out room for NAME_MAX_LEN. @return its length. */
struct addr;
int map_reverse_name(const struct addr *a, uint8_t *out);

#endif

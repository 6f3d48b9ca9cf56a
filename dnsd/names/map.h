/**
 * From a registry record to its DNS records: a pure function of path, record, options and addresses of its host name.
 *
 * A record is packed first (block.h): a short block of what DNS needs of it, which the caller keeps for each path
 * (packed.h). A block gives the same records at any time, so an update is the difference of two productions, and a delete
 * removes exactly what was added.
 *
 *   application (application.h):  S = <last>.<user>.D              A, AAAA, SRV, TXT
 *                                 E = <fragment>-api.S             the same for one endpoint
 *   container (container.h):      I = <description>.<service>.<user>.D   A, AAAA, TXT; PTR from yarn:ip to I
 *                                 X = <last>.D                           A, AAAA
 *                                 C = <component>.<service>.<user>.D     A, AAAA; shared by all containers of the component
 *                                 S = <service>.<user>.D                 A, AAAA; shared; class yarn-service, strict only
 *   its ports (port.h):           _<component>._tcp.S                    SRV; shared; the first port, strict only
 *                                 _<fragment>._tcp.C                     SRV; shared; strict only
 *
 * Modes (has_* of struct map_options): compat gives each A a mapped AAAA beside it and E a CNAME to S instead of addresses,
 * as RegistryDNS does; SRV targets are names that have an address in both modes.
 *
 * Readiness: the records of a container whose attribute `bobbin:ready` is "false" are emitted as not ready at the shared
 * names (shared.h), where they are visible only while no ready one is left. I, X and PTR never depend on it.
 *
 * Pure. Thread: any.   Source: Hadoop RegistryDNS (names); RFC 1035, RFC 2782; strict mode: ours.
 */
#ifndef NAMES_MAP_H
#define NAMES_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "bobbin/record.h"
#include "wire/types.h"
#include "zone/zone.h"

/** Attribute of a container record that says whether it can be used: "false", or anything else for yes. */
#define MAP_READY "bobbin:ready"

/** Addresses taken of one host name at most. */
#define MAP_MAX_ADDRESSES 8

/** TTLs by type; 0 with is_set false: the record's own. */
struct map_type_ttl {
    bool is_set;
    uint32_t ttl_s;
};

struct map_options {
    const uint8_t *domain; /* D, wire name [borrowed] */
    uint32_t ttl_s;
    bool has_service_names;                    /* S of containers of class yarn-service */
    bool has_port_names;                       /* SRV of containers whose records have endpoints with ports */
    bool has_mapped_aaaa;                      /* ::ffff:a.b.c.d beside each A */
    bool has_api_cname;                        /* E is a CNAME to S */
    bool has_one_address;                      /* of a host name only the first address */
    unsigned max_answers;                      /* of one type at a shared name, for shared_names; 0: all */
    struct map_type_ttl type_ttls[DNS_N_TTLS]; /* by enum dns_ttl; a component's own TTL goes before */
    /** TTL of a component's records. NULL: ttl_s for all. @param component lower case. @return false: it has none. */
    bool (*component_ttl)(void *ttl_arg, const char *component, uint32_t *ttl_s);
    void *ttl_arg;
    /** Addresses of a host name as known now; never waits. NULL: none is known. @return 0..MAP_MAX_ADDRESSES. */
    size_t (*addresses)(void *addresses_arg, const char *host, struct addr *out);
    void *addresses_arg;
};

/**
 * Pack what DNS reads of a record.
 *
 * @param record  valid record or NULL (the node holds none)                     [borrowed]
 * @param len     of the result                                                  [out]
 * @return new block, free(); NULL: no record. A record without names gives a block that says why.   Thread: any.
 * Source: ours.
 */
char *map_pack(const struct reg_record *record, size_t *len);

/** Does the record have names? @param packed block of map_pack [borrowed]. Thread: any. Source: ours. */
bool map_has_names(const char *packed);

/** Host name whose addresses the records need, in the block; NULL: none. Thread: any. Source: ours. */
const char *map_host(const char *packed, size_t len);

/** Where produced records go. What the callbacks get is valid during the call only. */
struct map_sink {
    void (*rr)(void *arg, const struct zone_rr *rr);
    void *arg;
    /** A record at a name that several registry records share. NULL: rr is called. */
    void (*shared)(void *arg, const struct zone_rr *rr, bool is_ready);
    /** A name that this record could have, and why it has nothing of a type there (0: of any). NULL: not asked for. */
    void (*none)(void *arg, const uint8_t *owner, uint16_t type, const char *reason);
};

/**
 * Produce the records of a packed block.
 *
 * @param path    registry path of the record, "/users/…"                        [borrowed]
 * @param packed  block of map_pack                                              [borrowed]
 * @return number of names that could not be formed (label or name too long, a character beyond U+00FF, port or address that is
 *         none): these are left out, everything else is produced.   Thread: any.   Source: Hadoop RegistryDNS; ours.
 */
unsigned map_produce(const struct map_options *options, const char *path, const char *packed, size_t len,
                     const struct map_sink *sink);

#endif

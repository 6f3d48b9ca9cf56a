/**
 * Emitting the records of one registry record: their names, their TTLs, and the record or two that an address gives.
 *
 * Pure. Thread: any; one emit, one thread.   Source: Hadoop RegistryDNS; ours (TTLs by type and by component).
 */
#ifndef NAMES_EMIT_H
#define NAMES_EMIT_H

#include "names/addresses.h"
#include "names/map.h"

/** One call of map_produce. */
struct emit {
    const struct map_options *options;
    const struct map_sink *sink;
    uint32_t ttl_s;   /* of this registry record */
    bool has_own_ttl; /* ttl_s is that of its component, which no type changes */
    unsigned n_left_out;
};

/**
 * Form a name of text in front of a wire name.
 *
 * @param text  UTF-8 as the registry has it; characters up to U+00FF become one octet each, escapes act as in master files
 *              [borrowed]
 * @param rest  wire name                                                        [borrowed]
 * @param out   room for NAME_MAX_LEN octets                                     [out]
 * @return its length; or ERR_PARSE, counted in e->n_left_out: empty, too long, or beyond U+00FF.
 * Thread: any.   Source: RFC 1035 5.1; ours.
 */
int emit_name(struct emit *e, const char *text, const uint8_t *rest, uint8_t *out);

/** Emit one record with the TTL of its type. @param rdata len octets in wire form [borrowed]. Thread: any. Source: ours. */
void emit_rr(struct emit *e, const uint8_t *owner, uint16_t type, const uint8_t *rdata, size_t len);

/** Emit one record at a shared name. @param is_ready whether its container is. Thread: any. Source: ours. */
void emit_shared_rr(struct emit *e, const uint8_t *owner, uint16_t type, const uint8_t *rdata, size_t len,
                    bool is_ready);

/** Emit A or AAAA of each address, and beside an A the mapped AAAA where the mode has it. Thread: any. Source: Hadoop
 *  RegistryDNS (mapped AAAA). */
void emit_addresses(struct emit *e, const uint8_t *owner, const struct addresses *a);

/** As emit_addresses, at a shared name. Thread: any. Source: ours. */
void emit_shared_addresses(struct emit *e, const uint8_t *owner, const struct addresses *a, bool is_ready);

/**
 * Emit a TXT record of up to two strings. A string longer than 255 octets is left out and counted; without any there is no
 * record.
 *
 * @param first, second  UTF-8, or NULL                                          [borrowed]
 * Thread: any.   Source: RFC 1035 3.3.14; Hadoop RegistryDNS.
 */
void emit_txt(struct emit *e, const uint8_t *owner, const char *first, const char *second);

/** Emit why a name that the record could have has nothing of a type (0: of any), if anyone asks. Thread: any. Source: ours. */
void emit_none(const struct emit *e, const uint8_t *owner, uint16_t type, const char *reason);

#endif

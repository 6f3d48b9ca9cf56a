/**
 * Reverse names: of an address, and the zones that a subnet needs.
 *
 * Pure. Thread: any.   Source: RFC 1035 3.5, RFC 3596 2.5; Hadoop ReverseZoneUtils (outcomes for /16 and longer); ours for
 * shorter prefixes and IPv6.
 */
#ifndef NAMES_REVERSE_H
#define NAMES_REVERSE_H

#include <stddef.h>
#include <stdint.h>

#include "bobbin/error.h"

struct addr;

/** Receives the apex of each zone. @param apex wire form, valid during the call [borrowed]. */
struct reverse_sink {
    void (*zone)(void *arg, const uint8_t *apex);
    void *arg;
};

/** Reverse name of an address, in in-addr.arpa or ip6.arpa. @param out room for NAME_MAX_LEN octets [out]. @return its length.
 *  Thread: any. Source: RFC 1035 3.5, RFC 3596 2.5. */
int reverse_name(const struct addr *a, uint8_t *out);

/**
 * Zones of a subnet.
 *
 *   172.17.0 or 172.17.0.0 without mask, or more than 23 bits: 0.17.172.in-addr.arpa
 *   16 to 23 bits: 17.172.in-addr.arpa;  9 to 15: every /16 in it;  8 and fewer: every /8 in it
 *   IPv6 "fd00:1::/32": the nibbles of the prefix; no mask needed
 *
 * @param subnet  "172.17.0", "172.17.0.0", "172.17.0.0/16" or an IPv6 prefix    [borrowed]
 * @param mask    dotted mask or NULL; not with a "/"                            [borrowed]
 * @param sink    gets each zone before this returns                             [borrowed]
 * @return number of zones; or ERR_CONFIG with *why naming what is malformed.   Thread: any.   Source: Hadoop ReverseZoneUtils.
 */
int reverse_zones(const char *subnet, const char *mask, const struct reverse_sink *sink,
                  struct err_info *why);

/**
 * Zones of a subnet cut into slices: the /24 zone of each slice's first address. The sink may get one more than once.
 *
 * @param subnet  four octets, with /bits, or                                    [borrowed]
 * @param mask    with this dotted mask; NULL with /bits                         [borrowed]
 * @param range   addresses a slice; 0: one slice an address, all at the first
 * @return number of slices; or ERR_CONFIG with *why: malformed, IPv6, or more than 65536 slices.
 * Thread: any.   Source: Hadoop RegistryDNS (split-reverse-zone).
 */
int reverse_split(const char *subnet, const char *mask, int64_t range, const struct reverse_sink *sink,
                  struct err_info *why);

/**
 * First address of a slice: base + range * index.
 *
 * @return 0 and *out; ERR_INVALID: range or index below 0, base no IPv4 address, or past 255.255.255.255.
 * Thread: any.   Source: Hadoop ReverseZoneUtils.
 */
int reverse_slice(const char *base, int64_t range, int64_t index, struct addr *out);

/** Check as reverse_zones does, without a sink. @return 0; or ERR_CONFIG. Thread: any. Source: ours. */
int reverse_check(const char *subnet, const char *mask, struct err_info *why);

#endif

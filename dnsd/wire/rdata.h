/**
 * Building and checking rdata in wire form, and the numbers of the protocol beside the types (wire/types.h). Names inside
 * rdata are uncompressed.
 *
 * Pure. Thread: any.   Source: RFC 1035 3.3, RFC 2782, RFC 3596, RFC 6891, RFC 8914; IANA DNS parameters.
 */
#ifndef WIRE_RDATA_H
#define WIRE_RDATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/types.h"

enum dns_class { DNS_IN = 1, DNS_CH = 3, DNS_HS = 4, DNS_CLASS_ANY = 255 };

enum dns_rcode {
    DNS_NOERROR = 0,
    DNS_FORMERR = 1,
    DNS_SERVFAIL = 2,
    DNS_NXDOMAIN = 3,
    DNS_NOTIMP = 4,
    DNS_REFUSED = 5,
    DNS_YXDOMAIN = 6,
    DNS_NOTAUTH = 9,
    DNS_BADVERS = 16, /* from here on extended: upper bits travel in the OPT record */
    DNS_BADCOOKIE = 23,
};

enum dns_opcode { DNS_QUERY = 0, DNS_NOTIFY = 4, DNS_UPDATE = 5 };

/** EDNS options that are read or sent (RFC 5001, 7873, 7828, 7830, 8914). */
enum dns_option {
    DNS_OPTION_NSID = 3,
    DNS_OPTION_COOKIE = 10,
    DNS_OPTION_KEEPALIVE = 11,
    DNS_OPTION_PADDING = 12,
    DNS_OPTION_EDE = 15,
};

/** Extended errors (RFC 8914) that are sent. */
enum dns_ede {
    DNS_EDE_NONE = -1,
    DNS_EDE_OTHER = 0,
    DNS_EDE_STALE = 3,
    DNS_EDE_NOT_READY = 14,
    DNS_EDE_PROHIBITED = 18,
    DNS_EDE_NOT_AUTHORITATIVE = 20,
    DNS_EDE_NO_REACHABLE_AUTHORITY = 22,
    DNS_EDE_NETWORK_ERROR = 23,
};

/** Longest rdata. */
#define RDATA_MAX 65535

struct rdata_soa {
    const uint8_t *mname, *rname; /* wire names                                        [borrowed] */
    uint32_t serial, refresh_s, retry_s, expire_s, minimum_s;
};

/** SOA rdata. @param out room for 530 octets. @return its length. Thread: any.   Source: RFC 1035 3.3.13. */
size_t rdata_put_soa(const struct rdata_soa *soa, uint8_t *out);
/** SRV rdata. @param target wire name; @param out room for 261 octets. @return its length.   Source: RFC 2782. */
size_t rdata_put_srv(uint16_t priority, uint16_t weight, uint16_t port, const uint8_t *target, uint8_t *out);
/** Rdata that is one name: NS, CNAME, PTR. @param out room for 255 octets. @return its length. */
size_t rdata_put_name(const uint8_t *name, uint8_t *out);
/**
 * Append one character-string to TXT rdata.
 *
 * @param text  n octets, n <= 255                                               [borrowed]
 * @param out   where it goes: n + 1 octets                                      [out]
 * @return octets written; or ERR_TOOBIG: n > 255, nothing written.
 * Thread: any.   Source: RFC 1035 3.3.14.
 */
int rdata_put_string(const void *text, size_t n, uint8_t *out);

/**
 * Is the rdata well-formed for its type, as its row of DNS_TYPES says?
 *
 * @return 0; or ERR_PARSE.   Thread: any.   Source: RFC 1035 3.3, RFC 3597 5.
 */
int rdata_check(uint16_t type, const uint8_t *rdata, size_t len);

/** Read and write numbers in network order. */
static inline uint16_t wire_get16(const uint8_t *p)
{
    return (uint16_t)(p[0] << 8 | p[1]);
}

static inline uint32_t wire_get32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline void wire_put16(uint8_t *p, unsigned v)
{
    p[0] = (uint8_t)(v >> 8);
    p[1] = (uint8_t)v;
}

static inline void wire_put32(uint8_t *p, uint32_t v)
{
    wire_put16(p, v >> 16);
    wire_put16(p + 2, v & 0xffff);
}

#endif

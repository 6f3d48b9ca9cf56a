/**
 * Record types: one row of DNS_TYPES for each type that dnsd treats in a way of its own. A type without a row is opaque data
 * (RFC 3597): stored, answered and transferred octet by octet.
 *
 * A new type is one row. Its presentation form is ldns's, in master files and in dumps alike (masters/zonefile.h,
 * masters/text.h). A type that registry records yield has the key of its TTL, which makes the option
 * hadoop.registry.dns.ttl-type.KEY (options.h), and a place where dnsd/names emits it.
 *
 * Pure. Thread: any.   Source: IANA DNS parameters; RFC 6895 3.1 (data and meta types).
 */
#ifndef WIRE_TYPES_H
#define WIRE_TYPES_H

#include <stdbool.h>
#include <stdint.h>

/**
 * The table: X(arg, token, number, text, use, rdata, can) and, where registry records yield the type, the key of its TTL.
 *
 *   number   below DNS_N_TYPES
 *   use      DATA      zones store it, queries ask for it
 *            META      belongs to a message or is obsolete: never stored, a query for it is NOTIMP
 *            TRANSFER  a query for it asks for a zone
 *            QUESTION  exists in questions only
 *   rdata    FIXED(n)             n octets
 *            NAMES(head, n, tail) head octets, n uncompressed names, tail octets
 *            STRINGS              one or more character-strings
 *            OPAQUE               any octets
 *   can      any of DNS_COMPRESS, DNS_TARGETS
 */
#define DNS_TYPES(X, arg) DNS_TYPES_OF_RECORDS(X, arg) DNS_TYPES_OF_FILES(X, arg)

/** Types that registry records yield (dnsd/names); master files may hold them, too. */
#define DNS_TYPES_OF_RECORDS(X, arg)                                                                         \
    X(arg, DNS_A, 1, "A", DATA, FIXED(4), 0, "a")                                                            \
    X(arg, DNS_AAAA, 28, "AAAA", DATA, FIXED(16), 0, "aaaa")                                                 \
    X(arg, DNS_PTR, 12, "PTR", DATA, NAMES(0, 1, 0), DNS_COMPRESS, "ptr")                                    \
    X(arg, DNS_SRV, 33, "SRV", DATA, NAMES(6, 1, 0), DNS_TARGETS, "srv")                                     \
    X(arg, DNS_TXT, 16, "TXT", DATA, STRINGS, 0, "txt")                                                      \
    X(arg, DNS_CNAME, 5, "CNAME", DATA, NAMES(0, 1, 0), DNS_COMPRESS, "cname")

/** Types of master files, of our own SOA and NS, and of messages. */
#define DNS_TYPES_OF_FILES(X, arg)                                                                           \
    X(arg, DNS_NS, 2, "NS", DATA, NAMES(0, 1, 0), DNS_COMPRESS | DNS_TARGETS)                                \
    X(arg, DNS_SOA, 6, "SOA", DATA, NAMES(0, 2, 20), DNS_COMPRESS)                                           \
    X(arg, DNS_MX, 15, "MX", DATA, NAMES(2, 1, 0), DNS_COMPRESS | DNS_TARGETS)                               \
    X(arg, DNS_DNAME, 39, "DNAME", DATA, NAMES(0, 1, 0), 0)                                                  \
    X(arg, DNS_OPT, 41, "OPT", META, OPAQUE, 0)                                                              \
    X(arg, DNS_DS, 43, "DS", DATA, OPAQUE, 0)                                                                \
    X(arg, DNS_RRSIG, 46, "RRSIG", DATA, OPAQUE, 0)                                                          \
    X(arg, DNS_NSEC, 47, "NSEC", DATA, OPAQUE, 0)                                                            \
    X(arg, DNS_DNSKEY, 48, "DNSKEY", DATA, OPAQUE, 0)                                                        \
    X(arg, DNS_TKEY, 249, "TKEY", META, OPAQUE, 0)                                                           \
    X(arg, DNS_TSIG, 250, "TSIG", META, OPAQUE, 0)                                                           \
    X(arg, DNS_IXFR, 251, "IXFR", TRANSFER, OPAQUE, 0)                                                       \
    X(arg, DNS_AXFR, 252, "AXFR", TRANSFER, OPAQUE, 0)                                                       \
    X(arg, DNS_MAILB, 253, "MAILB", META, OPAQUE, 0)                                                         \
    X(arg, DNS_MAILA, 254, "MAILA", META, OPAQUE, 0)                                                         \
    X(arg, DNS_ANY, 255, "ANY", QUESTION, OPAQUE, 0)

enum dns_type_number {
#define DNS_TYPE_ENUM(arg, token, number, ...) token = number,
    DNS_TYPES(DNS_TYPE_ENUM, )
#undef DNS_TYPE_ENUM
        DNS_N_TYPES = 256,
};

enum dns_type_use { DNS_USE_DATA, DNS_USE_META, DNS_USE_TRANSFER, DNS_USE_QUESTION };

enum dns_rdata_form { DNS_RDATA_OPAQUE, DNS_RDATA_FIXED, DNS_RDATA_NAMES, DNS_RDATA_STRINGS };

enum dns_type_can {
    DNS_COMPRESS = 1, /* names in its rdata are compressed in messages (RFC 3597 4) */
    DNS_TARGETS = 2,  /* an answer brings the addresses of the name in its rdata (RFC 1035 3.3, RFC 2782) */
};

/** TTLs that an operator may set by type. DNS_TTL_NONE: of a type that no registry record yields. */
enum dns_ttl {
    DNS_TTL_NONE,
#define DNS_TTL_ENUM(arg, token, ...) DNS_TTL_OF_##token,
    DNS_TYPES_OF_RECORDS(DNS_TTL_ENUM, )
#undef DNS_TTL_ENUM
        DNS_N_TTLS,
};

/** What a type is and can, in eight octets, so that a look-up is one load. */
struct dns_type {
    uint8_t use;     /* enum dns_type_use */
    uint8_t form;    /* enum dns_rdata_form */
    uint8_t head;    /* octets before the first name, or of all rdata that is FIXED */
    uint8_t n_names; /* in the rdata */
    uint8_t tail;    /* octets behind the last name */
    uint8_t can;     /* of enum dns_type_can */
    uint8_t ttl;     /* enum dns_ttl */
} __attribute__((aligned(8)));

/** Rows by number; those without a row are opaque data. */
extern const struct dns_type dns_types[DNS_N_TYPES];

/** The row of a type. @param type any number. @return constant. Thread: any. Source: ours. */
static inline const struct dns_type *dns_type(uint16_t type)
{
    return &dns_types[type < DNS_N_TYPES ? type : 0];
}

/** Can zones store this type? @return false for 0, for META, TRANSFER and QUESTION rows, and for all numbers that are reserved
 *  for such (128..255). Thread: any. Source: RFC 6895 3.1. */
bool dns_type_is_data(uint16_t type);

/** Text of a type: "A", or "TYPE65400" in `out`. @param out room for 16 characters. @return a string. Thread: any.
 *  Source: RFC 3597 5. */
const char *dns_type_text(uint16_t type, char out[16]);

/**
 * Type of a text, in any case.
 *
 * @param text  "A", or "TYPE1".."TYPE65535"                                     [borrowed]
 * @param out   set on success only                                              [out]
 * @return 0; or ERR_PARSE.   Thread: any.   Source: RFC 3597 5.
 */
int dns_type_read(const char *text, uint16_t *out);

#endif

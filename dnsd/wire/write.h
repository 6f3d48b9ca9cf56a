/**
 * Writing a response. The message grows section by section in the caller's buffer; an RRset is written whole or not at
 * all. The stored octets of a set are copied when its owner is a name in the message and its type is not compressed (A, AAAA,
 * TXT, SRV: nearly all answers); any other set is written record by record with compression.
 *
 * Compression keeps the question's case, since names point into the question (RFC 4343, contract of old RegistryDNS).
 *
 * Pure. Thread: one writer, one thread.   Source: RFC 1035 4.1, RFC 2181 9, RFC 3597 4, RFC 6891 6.1, RFC 8914.
 */
#ifndef WIRE_WRITE_H
#define WIRE_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum wr_section { WR_ANSWER, WR_AUTHORITY, WR_ADDITIONAL, WR_N_SECTIONS };

/** Names in the message that compression can point to. */
#define WR_DICT 48
/** Offset of the question's name: the usual owner. */
#define WR_OWNER_QUESTION 12
/** Largest offset a compression pointer can hold. */
#define WR_POINTER_MAX 0x3fff

struct wr {
    uint8_t *msg;
    size_t len, cap;
    uint16_t counts[WR_N_SECTIONS];
    uint16_t n_questions;
    uint8_t n_dict;
    bool has_question_names; /* the question's suffixes are in dict */
    struct wr_target {
        uint16_t at; /* offset of a label: a name that can be pointed to */
        uint8_t len; /* of that name, uncompressed */
    } dict[WR_DICT];
};

/**
 * RRset as stored: n_rrs records one after the other, each `c0 0c, type, class, ttl, rdlength, rdata` with uncompressed
 * names in rdata, so that a set whose owner is the question is a single copy.
 */
struct wire_set {
    const uint8_t *wire; /* len octets                                          [borrowed] */
    uint32_t len, n_rrs;
    uint16_t type;
    uint32_t ttl_max_s; /* TTLs above are lowered to it; UINT32_MAX: none are */
    uint32_t first;     /* record that comes first, 0..n_rrs-1: rotation */
};

/** Record of a set in stored order. @param index 0..n_rrs-1. @return its wire, up to the set's end. Thread: any. */
const uint8_t *wire_set_record(const struct wire_set *set, uint32_t index);

/** Octets of a record's wire before its rdata: pointer, type, class, TTL, rdlength. */
#define WIRE_RR_HEADER 12

/** The OPT record of a response. */
struct wr_opt {
    uint16_t size;        /* UDP size announced */
    uint8_t rcode_high;   /* upper 8 bits of an extended rcode */
    bool is_dnssec;       /* DO is copied */
    int ede;              /* extended error, or DNS_EDE_NONE */
    const char *ede_text; /* extra text of it, or NULL                               [borrowed] */
    uint8_t nsid_len;
    bool has_keepalive;
    uint16_t keepalive_100ms; /* idle timeout of the connection, RFC 7828 */
    uint16_t padding_block;   /* the message becomes a multiple of it, RFC 8467; 0: no padding */
    const uint8_t *nsid;      /* or NULL                                             [borrowed] */
    const uint8_t *cookie;    /* COOKIE_LEN octets, or NULL                          [borrowed] */
};

/** Begin a message in a buffer of cap >= 12 octets; the header is written by wr_finish. */
void wr_begin(struct wr *w, uint8_t *msg, size_t cap);

/** Copy the question as received. @param len octets; must fit. @return 0; or ERR_NOSPC: unchanged. */
int wr_question(struct wr *w, const uint8_t *question, size_t len);

/**
 * Append one RRset whose owner is a name already in the message.
 *
 * @param section    not before a section that was written to already
 * @param owner_off  offset of the name, 12..WR_POINTER_MAX
 * @param set        records                                                     [borrowed]
 * @return 0; or ERR_NOSPC: the writer is unchanged, the caller truncates or leaves out.
 * Thread: one writer, one thread.   Source: RFC 1035 4.1.4, RFC 2181 9.
 */
int wr_rrset_at(struct wr *w, enum wr_section section, uint16_t owner_off, const struct wire_set *set);

/** As wr_rrset_at, for any owner: a wire name, compressed against what the message holds. */
int wr_rrset(struct wr *w, enum wr_section section, const uint8_t *owner, const struct wire_set *set);

/**
 * Is the name at `at` in a message of ours the same as an uncompressed one, case ignored?
 *
 * @param at    offset of a whole name; its pointers lead backwards, as the writer makes them
 * @param name  wire name                                                        [borrowed]
 * Thread: any.   Source: RFC 1035 4.1.4, RFC 4343.
 */
bool wr_names_match(const uint8_t *msg, size_t at, const uint8_t *name);

/** Octets that wr_opt_put needs for this OPT, without padding, which uses free octets only. */
size_t wr_opt_len(const struct wr_opt *opt);

/** Append the OPT record to the additional section. @return 0; or ERR_NOSPC: unchanged. */
int wr_opt_put(struct wr *w, const struct wr_opt *opt);

/** Write the header. @param flags second 16 bits: QR, opcode, AA, TC, RD, RA, lower 4 bits of rcode. @return length. */
size_t wr_finish(struct wr *w, uint16_t id, uint16_t flags);

#endif

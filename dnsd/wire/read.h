/**
 * Reading a query. The reader touches only octets inside the message and reports every error as `verdict`. Names after the
 * question may be compressed; they are skipped, and pointers are not followed.
 *
 * Pure. Thread: any.   Source: RFC 1035 4.1, RFC 6891, RFC 7873 5.2 and 5.4, RFC 9619.
 */
#ifndef WIRE_READ_H
#define WIRE_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/name.h"

/** Octets of a message header. */
#define WIRE_HEADER_LEN 12

/** How to answer a message. */
enum query_verdict {
    QUERY_DROP,    /* shorter than a header, or a response: no response */
    QUERY_FORMERR, /* malformed: FORMERR without more */
    QUERY_OK,
};

/** A query. With QUERY_DROP nothing but verdict is set; with QUERY_FORMERR id, flags and opcode are. */
struct query {
    enum query_verdict verdict;
    uint16_t id;
    uint16_t flags; /* second 16 bits of the header, as received */
    uint8_t opcode;
    bool has_question;     /* question_len, qtype, qclass and name are set */
    uint16_t question_len; /* octets of the question, name included */
    uint16_t qtype, qclass;
    bool has_edns;
    uint8_t edns_version;
    bool wants_dnssec;     /* DO */
    bool wants_nsid;       /* RFC 5001 */
    bool wants_keepalive;  /* RFC 7828 */
    bool wants_padding;    /* RFC 7830 */
    uint8_t cookie_len;    /* 0: none; 8: client cookie only; 16..40: both cookies */
    uint16_t edns_size;    /* as announced, 0..65535 */
    const uint8_t *cookie; /* in the message, valid when cookie_len > 0           [borrowed] */
    struct name_key name;  /* of the question; hashes not filled in */
};

/**
 * Read one query.
 *
 * @param msg  len octets as received                                            [borrowed]
 * @param q    filled                                                            [out]
 * Thread: any.   Source: RFC 1035 4.1; RFC 6891 6.1 (one OPT, root owner); RFC 9619 (exactly one question), except that a
 * message with a cookie may have none (RFC 7873 5.4).
 */
void query_read(const uint8_t *msg, size_t len, struct query *q);

#endif

/**
 * Messages on their way through: the query as it goes to an upstream server, the answer as it comes back, and what the
 * client gets of it.
 *
 * An answer is relayed whole: its records stay the octets they were, so compression inside them stays right. What changes is
 * the header, the case of the question (the client's) and the OPT record (ours); so records are kept up to the first OPT,
 * TSIG or SIG(0), which stand last in practice. A client with little room gets the message without its additional section,
 * or the question and TC.
 *
 * Pure. Thread: any; one message, one thread.   Source: RFC 1035 4.1, RFC 2181 9, RFC 2308 5, RFC 5452 9.1, RFC 6891 7.
 */
#ifndef FORWARD_RELAY_H
#define FORWARD_RELAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/cookie.h"
#include "wire/read.h"

/** Room for any query to an upstream: header, question, OPT. */
#define RELAY_QUERY_MAX (WIRE_HEADER_LEN + NAME_MAX_LEN + 4 + 11)
/** Room for any response to a client. */
#define RELAY_RESPONSE_MAX 65535
/** Room for the response that tells a relay_failure: what the query holds, an extended error and a cookie. */
#define RELAY_FAILURE_MAX (RELAY_QUERY_MAX + 6 + 4 + COOKIE_LEN)

/** An answer of an upstream, cleaned: header, question, records without OPT. free() releases it. */
struct relay_msg {
    uint32_t ttl_s;       /* how long it may be kept; 0: not at all */
    uint8_t rcode;        /* 0..15 */
    bool is_negative;     /* NXDOMAIN, or NOERROR without the type */
    int ede;              /* extended error for the client, or DNS_EDE_NONE */
    size_t additional_at; /* octets before the additional section */
    size_t len;
    uint8_t bytes[];
};

/** Who gets an answer, and how much of it. */
struct relay_client {
    const struct query *query; /* what the client asked                           [borrowed] */
    const uint8_t *msg;        /* its message                                     [borrowed] */
    const uint8_t *cookie;     /* COOKIE_LEN octets for the response, or NULL     [borrowed] */
    bool is_tcp;
    uint16_t udp_max;    /* longest UDP response of ours, and what our OPT announces; 512..4096 */
    uint32_t age_s;      /* seconds since the answer came: TTLs are less by it */
    uint32_t ttl_most_s; /* TTLs are lowered to it; UINT32_MAX: they are not */
};

/**
 * Make the query for an upstream: RD set, CD and DO as the client's, nothing else of the client's header or options.
 *
 * @param q    query_read of the client's message, with a question               [borrowed]
 * @param msg  the client's message                                              [borrowed]
 * @param out  room for RELAY_QUERY_MAX octets                                    [out]
 * @return octets of the query; its id is 0: relay_set_id.
 * Thread: any.   Source: RFC 1035 4.1.1, RFC 6891, RFC 4035 3.2.2.
 */
size_t relay_make_query(const struct query *q, const uint8_t *msg, uint8_t *out);

/** Give a query its id. */
void relay_set_id(uint8_t *query, uint16_t id);

/**
 * Does a message answer a query, by id and question? What does not is not for us, and says nothing about the upstream.
 *
 * @param query  made by relay_make_query                                        [borrowed]
 * @param msg    len octets as received                                          [borrowed]
 * Thread: any.   Source: RFC 5452 9.1; names as RFC 4343 compares them.
 */
bool relay_is_answer(const uint8_t *query, size_t query_len, const uint8_t *msg, size_t len);

/**
 * Read an answer and clean it.
 *
 * @param query  what it answers (relay_is_answer)                               [borrowed]
 * @param msg    len octets, at most 65535                                       [borrowed]
 * @param out    the answer; free()                                              [out]
 * @return 0; ERR_TOOBIG: TC is set, ask again over TCP; ERR_PARSE: malformed; *out is unchanged then.
 * Thread: any.   Source: RFC 1035 4.1, RFC 2308 5.
 */
int relay_read(const uint8_t *query, size_t query_len, const uint8_t *msg, size_t len,
               struct relay_msg **out);

/** The answer to a query that nobody answered: SERVFAIL with an extended error, kept for a second. free(). */
struct relay_msg *relay_failure(const uint8_t *query, size_t query_len, int ede);

/**
 * Write the response for a client: its id and question, RA set, AA and AD clear, an OPT record when it sent one.
 *
 * @param m    the answer                                                        [borrowed]
 * @param c    the client; its question is that of m, case aside                 [borrowed]
 * @param out  room for RELAY_RESPONSE_MAX octets, or RELAY_FAILURE_MAX for a relay_failure [out]
 * @return octets of the response, at most what the client takes; TC is set when records it needs were left out.
 * Thread: any.   Source: RFC 2181 9, RFC 6891 6.2.5, RFC 8914.
 */
size_t relay_write(const struct relay_msg *m, const struct relay_client *c, uint8_t *out);

#endif

/**
 * Relayed messages: the query to an upstream server, its answer, and the response to the client.
 *
 * The records of an answer are relayed octet by octet, so their compression stays valid. Only the header, the case of the
 * question (the client's) and the OPT record (ours) change; therefore records are relayed up to the first OPT, TSIG or SIG(0),
 * which come last in practice. A response that does not fit leaves out the additional section, or all records with TC set.
 *
 * Pure. Thread: any; one message, one thread.   Source: RFC 1035 4.1, RFC 2181 9, RFC 2308 5, RFC 5452 9.1, RFC 6891 7.
 */
#ifndef FORWARD_RELAY_H
#define FORWARD_RELAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "answer/query.h"
#include "wire/cookie.h"
#include "wire/read.h"

/** Room for any query to an upstream: header, question, OPT. */
#define RELAY_QUERY_MAX (WIRE_HEADER_LEN + NAME_MAX_LEN + 4 + 11)
/** Room for any response to a client. */
#define RELAY_RESPONSE_MAX 65535
/** Longest name server identifier (NSID) that is sent. */
#define RELAY_NSID_MAX 64
/** Padded responses are a multiple of this (RFC 8467 4.1). */
#define RELAY_PADDING_BLOCK 468
/** Room for the response with a relay_failure: what the query holds, an extended error, and all other options. */
#define RELAY_FAILURE_MAX                                                                                    \
    (RELAY_QUERY_MAX + 6 + 4 + COOKIE_LEN + 4 + RELAY_NSID_MAX + 6 + 4 + RELAY_PADDING_BLOCK)
/** Random octets for the case of a name: one bit for each octet of the name. */
#define RELAY_CASE_LEN 32

/** An answer of an upstream without hop-by-hop records: header, question, records without OPT. free() releases it. */
struct relay_msg {
    uint32_t ttl_s;       /* cache it so long, up to 2^31-1; 0: not at all */
    uint8_t rcode;        /* 0..15 */
    bool is_negative;     /* NXDOMAIN, or NOERROR without the type */
    int ede;              /* extended error for the client, or DNS_EDE_NONE */
    size_t additional_at; /* octets before the additional section */
    size_t len;
    uint8_t bytes[];
};

/** The client of a response. EDNS options are hop by hop: ours answer the client's, as for our own zones. */
struct relay_client {
    const struct query *query; /* what the client asked                           [borrowed] */
    const uint8_t *msg;        /* its message                                     [borrowed] */
    const uint8_t *cookie;     /* COOKIE_LEN octets for the response, or NULL     [borrowed] */
    const uint8_t *nsid;       /* sent when asked for, or NULL                    [borrowed] */
    uint8_t nsid_len;          /* 1..RELAY_NSID_MAX */
    uint16_t keepalive_100ms;  /* idle timeout, sent over TCP when asked for */
    bool is_tcp, is_tls;       /* TLS is TCP, too */
    uint16_t udp_max;          /* longest UDP response of ours, and what our OPT announces; 512..4096 */
    uint32_t age_s;            /* seconds since the answer came: TTLs are less by it */
    uint32_t ttl_most_s;       /* TTLs were at most this when it came; UINT32_MAX: no limit */
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

/** Set the id of a query. @param query made by relay_make_query [in,out]. Thread: any. Source: RFC 1035 4.1.1. */
void relay_set_id(uint8_t *query, uint16_t id);

/**
 * Write the name of a query in random case, which a forged answer has to match.
 *
 * @param query   made by relay_make_query                                       [in,out]
 * @param random  RELAY_CASE_LEN octets, a set bit is an upper-case letter; NULL: all lower case [borrowed]
 * Thread: any.   Source: draft-vixie-dnsext-dns0x20-00; RFC 4343: names are the same in any case.
 */
void relay_set_case(uint8_t *query, const uint8_t *random);

/** Leave the OPT record out of a query made by relay_make_query, or take it in again. @return octets of the query.
 *  Thread: any.   Source: RFC 6891 6.2.2. */
size_t relay_set_edns(uint8_t *query, bool has_edns);

/** How a message relates to a query. */
enum relay_match {
    RELAY_OTHER,      /* another id or question, no response, or no message */
    RELAY_OTHER_CASE, /* its answer, but for the case of letters in the name */
    RELAY_ANSWER,
};

/**
 * Does a message answer a query, by id and question?
 *
 * @param query  made by relay_make_query                                        [borrowed]
 * @param msg    len octets as received                                          [borrowed]
 * Thread: any.   Source: RFC 5452 9.1; names as RFC 4343 compares them.
 */
enum relay_match relay_match(const uint8_t *query, size_t query_len, const uint8_t *msg, size_t len);

/**
 * Read an answer and drop its hop-by-hop records.
 *
 * @param query  what it answers (relay_match), case aside                       [borrowed]
 * @param msg    len octets, at most 65535                                       [borrowed]
 * @param out    the answer; free()                                              [out]
 * @return 0; ERR_TOOBIG: TC is set, ask again over TCP; ERR_PARSE: malformed; *out is unchanged then.
 * Thread: any.   Source: RFC 1035 4.1, RFC 2308 5.
 */
int relay_read(const uint8_t *query, size_t query_len, const uint8_t *msg, size_t len,
               struct relay_msg **out);

/** The answer to a query that no upstream answered: SERVFAIL with an extended error, cached for a second. @param ede extended
 *  error, or DNS_EDE_NONE. @return free(). Thread: any. Source: RFC 9520 3.2, RFC 8914. */
struct relay_msg *relay_failure(const uint8_t *query, size_t query_len, int ede);

/**
 * Aliases with which an answer begins: CNAMEs from the question's name on, each of the one before.
 *
 * @param m      an answer                                                       [borrowed]
 * @param c      the client: its query, the age of the answer and the highest TTL [borrowed]
 * @param names  room for the targets that out points to                         [out]
 * @param out    the aliases, with TTLs as the client gets them; none when there are more than ANSWER_LINKS_MAX, or when the
 *               type asked for is CNAME or ANY, for which an alias is the answer  [out]
 * @return how many.   Thread: any.   Source: RFC 1034 3.6.2.
 */
unsigned relay_links(const struct relay_msg *m, const struct relay_client *c,
                     uint8_t names[ANSWER_LINKS_MAX][NAME_MAX_LEN], struct answer_links *out);

/**
 * Write the response for a client: its id and question, RA set, AA and AD clear, an OPT record when it sent one.
 *
 * @param m    the answer                                                        [borrowed]
 * @param c    the client; its question is that of m, case aside                 [borrowed]
 * @param out  room for RELAY_RESPONSE_MAX octets, or RELAY_FAILURE_MAX for a relay_failure [out]
 * @return octets of the response, at most what the client takes; TC is set when records that the client needs were left out.
 * Thread: any.   Source: RFC 2181 9, RFC 6891 6.2.5, RFC 8914; options: RFC 5001, 7828, 7873, 8467.
 */
size_t relay_write(const struct relay_msg *m, const struct relay_client *c, uint8_t *out);

#endif

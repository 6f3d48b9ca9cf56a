/**
 * A client of one DNS server: one question at a time, or a whole zone. It asks over UDP, again when no answer comes, and over TCP when
 * the answer is truncated; every step has a time limit.
 *
 * Thread: main; calls block, Ctrl-C ends the program.   Source: RFC 1035, RFC 7766; messages are read and sent by ldns.
 */
#ifndef CLI_DNS_ASK_H
#define CLI_DNS_ASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bobbin/error.h"

struct dns_server;

/**
 * A server to ask. No packet is sent.
 *
 * @param address  "host", "host:port" or "[v6]:port"; a name is resolved by the system     [borrowed]
 * @param out      dns_server_close it                                               [out]
 * @return 0; ERR_USAGE: no address; ERR_UNAVAILABLE: the name does not resolve.
 */
int dns_server_open(const char *address, struct dns_server **out, struct err_info *why);
/** Release; NULL is fine. */
void dns_server_close(struct dns_server *s);
/** As "127.0.0.1 port 5335". [borrowed from s] */
const char *dns_server_label(const struct dns_server *s);

/** What came back; release with dns_reply_fini. */
struct dns_reply {
    char rcode[24]; /* as "NXDOMAIN", or "no answer" */
    bool is_silent; /* no answer to the question came */
    char **records; /* answer section: "owner type rdata", names in lower case, sorted */
    size_t n_records;
};

/**
 * Ask, without RD.
 *
 * @param name      master file form                                                 [borrowed]
 * @param type      token, as "SRV" or "TYPE65400"                                   [borrowed]
 * @param with_ttl  records are "owner ttl type rdata"
 * @param out       also filled when no answer came                                           [out]
 * @return 0; ERR_PARSE: no name or no type: *out is empty.
 */
int dns_ask(struct dns_server *s, const char *name, const char *type, bool with_ttl, struct dns_reply *out);
/** Result of a transfer that was whole. */
#define DNS_TRANSFERRED "done"

/**
 * Transfer a zone (AXFR) and report each of its records.
 *
 * @param zone    its apex, master file form                                         [borrowed]
 * @param record  called for each record, the first and the last are the SOA; owner in lower case, valid during the call
 * @param result  DNS_TRANSFERRED; or why it is not whole: an rcode as "REFUSED", or "no answer"   [out]
 * Source: RFC 5936.
 */
void dns_transfer(struct dns_server *s, const char *zone,
                  void (*record)(void *arg, const char *owner, const char *type), void *arg, char result[24]);
/** Release. */
void dns_reply_fini(struct dns_reply *r);

#endif

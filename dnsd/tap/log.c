#include "tap/log.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/addr.h"
#include "tap/events.h"
#include "wire/rdata.h"
#include "wire/read.h"

enum {
    FLAG_AA = 0x0400,
    FLAG_TC = 0x0200,
    FLAG_RD = 0x0100,
    FLAG_CD = 0x0010,
    QUERY_ROOM = 2048,
    CODE_ROOM = 16
};

bool tap_budget_take(struct tap_budget *b, int64_t now_ms, unsigned most)
{
    if (now_ms / 1000 != b->second)
        *b = (struct tap_budget){.second = now_ms / 1000};
    return b->n_taken < most && ++b->n_taken;
}

/** The question: the query's, or, where that is in another entry, the response's, read as a query. @return whether there is one. */
static bool read_question(const struct tap_entry *e, const uint8_t *query, uint8_t copy[QUERY_ROOM],
                          struct query *q)
{
    enum { QR = 0x80, COUNTS_AT = 6, COUNTS = 6 };
    if (e->query_len) {
        query_read(query, e->query_len, q);
        return q->has_question;
    }
    size_t len = e->said_len < QUERY_ROOM ? e->said_len : QUERY_ROOM;
    int name = len > WIRE_HEADER_LEN ? name_len(query + WIRE_HEADER_LEN, len - WIRE_HEADER_LEN) : -1;
    if (name < 0 || len < WIRE_HEADER_LEN + (size_t)name + 4)
        return false;
    memcpy(copy, query, len);
    copy[2] &= (uint8_t)~QR;
    memset(copy + COUNTS_AT, 0, COUNTS);
    query_read(copy, WIRE_HEADER_LEN + (size_t)name + 4, q);
    return q->has_question;
}

static const char *rcode_text(unsigned rcode, char out[CODE_ROOM])
{
    static const char *const words[] = {
        [DNS_NOERROR] = "NOERROR",    [DNS_FORMERR] = "FORMERR", [DNS_SERVFAIL] = "SERVFAIL",
        [DNS_NXDOMAIN] = "NXDOMAIN",  [DNS_NOTIMP] = "NOTIMP",   [DNS_REFUSED] = "REFUSED",
        [DNS_YXDOMAIN] = "YXDOMAIN",  [DNS_NOTAUTH] = "NOTAUTH", [DNS_BADVERS] = "BADVERS",
        [DNS_BADCOOKIE] = "BADCOOKIE"};
    if (rcode < sizeof words / sizeof *words && words[rcode])
        return words[rcode];
    snprintf(out, CODE_ROOM, "RCODE%u", rcode);
    return out;
}

/** "aa tc rd cd do": of the response the first two, of the query the others. */
static const char *flags_text(const struct query *q, const uint8_t *said, char out[CODE_ROOM])
{
    unsigned flags =
        (q->flags & (FLAG_RD | FLAG_CD)) | (said ? wire_get16(said + 2) & (FLAG_AA | FLAG_TC) : 0u);
    snprintf(out, CODE_ROOM, "%s%s%s%s%s", flags & FLAG_AA ? " aa" : "", flags & FLAG_TC ? " tc" : "",
             flags & FLAG_RD ? " rd" : "", flags & FLAG_CD ? " cd" : "", q->wants_dnssec ? " do" : "");
    return *out ? out + 1 : out;
}

void tap_log(const struct tap_entry *e, const uint8_t *query)
{
    static const char *const protocols[] = {[TAP_UDP] = "udp", [TAP_TCP] = "tcp", [TAP_TLS] = "tls"};
    char client[ADDR_TEXT_MAX], name[NAME_TEXT_MAX], type[CODE_ROOM], rcode[CODE_ROOM], flags[CODE_ROOM];
    uint8_t copy[QUERY_ROOM];
    struct query q = {0};
    struct addr addr = {.family = e->is_ipv6 ? AF_INET6 : AF_INET};
    const uint8_t *said = e->said_len >= WIRE_HEADER_LEN ? query + e->query_len : NULL;
    bool has_question = read_question(e, query, copy, &q);
    memcpy(addr.bytes, e->client, sizeof e->client);
    const char *sent_name = "";
    if (has_question)
        sent_name = name_to_text((e->query_len ? query : copy) + WIRE_HEADER_LEN, name);
    log_emit(&ev_dns_query, LOG_STR("client", addr_text(&addr, client)), LOG_INT("port", e->client_port),
             LOG_STR("protocol", protocols[e->protocol]), LOG_STR("name", sent_name),
             LOG_STR("type", has_question ? dns_type_text(q.qtype, type) : ""),
             LOG_STR("flags", flags_text(&q, said, flags)),
             LOG_STR("rcode", said ? rcode_text(e->rcode, rcode) : "none"), LOG_INT("bytes", e->said_len),
             LOG_INT("took_us", e->at_ns && e->said_ns > e->at_ns ? (e->said_ns - e->at_ns) / 1000 : 0));
}

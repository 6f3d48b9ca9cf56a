/** See ask.h. */
#include "ask.h"

#include <ldns/ldns.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/addr.h"
#include "base/mem.h"
#include "base/obj.h"

#define DNS_PORT 53
/** One packet and its answer; as many tries. */
#define TRY_S   1
#define N_TRIES 3
/** UDP payload that fits any path (DNS flag day 2020). */
#define UDP_PAYLOAD 1232

struct dns_server {
    ldns_resolver *resolver;
    struct addr address;
    uint16_t port;
    char *label;
};

/** Address of a host; a name is resolved. */
static int find_address(const char *host, struct addr *out, struct err_info *why)
{
    const struct addrinfo wish = {.ai_socktype = SOCK_DGRAM, .ai_flags = AI_ADDRCONFIG};
    struct addrinfo *found = NULL;
    uint16_t port;

    if (addr_read(host, out) == 0)
        return 0;
    int code = getaddrinfo(host, NULL, &wish, &found);
    if (code)
        return err_set(why, ERR_UNAVAILABLE, host, "%s", gai_strerror(code));
    int err = addr_from_sockaddr(found->ai_addr, out, &port);
    freeaddrinfo(found);
    return err ? err_set(why, ERR_UNAVAILABLE, host, "has no IPv4 or IPv6 address") : 0;
}

static ldns_resolver *make_resolver(const struct addr *address, uint16_t port)
{
    char text[ADDR_TEXT_MAX];
    ldns_resolver *r = ldns_resolver_new();
    ldns_rdf *rdf = ldns_rdf_new_frm_str(address->family == AF_INET ? LDNS_RDF_TYPE_A : LDNS_RDF_TYPE_AAAA,
                                         addr_text(address, text));

    BUG_IF(!r || !rdf || ldns_resolver_push_nameserver(r, rdf) != LDNS_STATUS_OK);
    ldns_rdf_deep_free(rdf);
    ldns_resolver_set_port(r, port);
    ldns_resolver_set_timeout(r, (struct timeval){.tv_sec = TRY_S});
    ldns_resolver_set_retry(r, N_TRIES);
    ldns_resolver_set_retrans(r, 0);
    ldns_resolver_set_fallback(r, true);
    return r;
}

int dns_server_open(const char *address, struct dns_server **out, struct err_info *why)
{
    mem_auto char *host = NULL;
    struct addr a;
    uint16_t port;

    if (addr_split_host_port(address, DNS_PORT, &host, &port) || !port)
        return err_set(why, ERR_USAGE, address, "is not HOST:PORT");
    int err = find_address(host, &a, why);
    if (err)
        return err;
    *out = mem_new(struct dns_server);
    (*out)->resolver = make_resolver(&a, port);
    (*out)->address = a;
    (*out)->port = port;
    (*out)->label = mem_fmt("%s port %u", host, port);
    return 0;
}

void dns_server_close(struct dns_server *s)
{
    if (!s)
        return;
    ldns_resolver_deep_free(s->resolver);
    free(s->label);
    free(s);
}

const char *dns_server_label(const struct dns_server *s)
{
    return s->label;
}

/* ---- the reply ---- */

static int compare_records(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/** A record as "owner [ttl] type rdata", or as ldns shows what it cannot write so. */
static char *record_text(ldns_rr *rr, bool with_ttl)
{
    ldns_rr2canonical(rr);
    mem_auto char *text = ldns_rr2str(rr);
    char *rest = text, *fields[4] = {0};

    if (!text)
        return mem_str("a record that cannot be shown");
    text[strcspn(text, "\n")] = 0;
    for (size_t i = 0; i < ARRAY_LEN(fields) && rest; i++)
        fields[i] = strsep(&rest, "\t");
    return mem_fmt("%s %s%s%s %s", fields[0], with_ttl && fields[1] ? fields[1] : "", with_ttl ? " " : "",
                   fields[3] ? fields[3] : "", rest ? rest : "");
}

static void keep_records(const ldns_pkt *answer, bool with_ttl, struct dns_reply *out)
{
    const ldns_rr_list *list = ldns_pkt_answer(answer);

    out->n_records = ldns_rr_list_rr_count(list);
    out->records = mem_array(out->n_records, sizeof(char *));
    for (size_t i = 0; i < out->n_records; i++)
        out->records[i] = record_text(ldns_rr_list_rr(list, i), with_ttl);
    qsort(out->records, out->n_records, sizeof(char *), compare_records);
}

/** The message answers this question: id, QR, and the question itself unless the server could not read it. */
static bool is_answer_to(const ldns_pkt *answer, const ldns_pkt *query)
{
    const ldns_rr_list *got = ldns_pkt_question(answer), *asked = ldns_pkt_question(query);

    if (!ldns_pkt_qr(answer) || ldns_pkt_id(answer) != ldns_pkt_id(query))
        return false;
    if (ldns_rr_list_rr_count(got) == 0)
        return ldns_pkt_get_rcode(answer) != LDNS_RCODE_NOERROR;
    const ldns_rr *a = ldns_rr_list_rr(got, 0), *b = ldns_rr_list_rr(asked, 0);
    return ldns_rr_get_type(a) == ldns_rr_get_type(b) &&
           ldns_dname_compare(ldns_rr_owner(a), ldns_rr_owner(b)) == 0;
}

/** Room for 24 octets. */
static void write_rcode(ldns_pkt_rcode rcode, char *out)
{
    const ldns_lookup_table *word = ldns_lookup_by_id(ldns_rcodes, (int)rcode);

    snprintf(out, 24, "%s", word ? word->name : "other");
}

static void read_reply(const ldns_pkt *answer, const ldns_pkt *query, bool with_ttl, struct dns_reply *out)
{
    out->is_silent = !answer || !is_answer_to(answer, query);
    if (out->is_silent) {
        snprintf(out->rcode, sizeof out->rcode, "no answer");
        return;
    }
    write_rcode(ldns_pkt_get_rcode(answer), out->rcode);
    keep_records(answer, with_ttl, out);
}

int dns_ask(struct dns_server *s, const char *name, const char *type, bool with_ttl, struct dns_reply *out)
{
    ldns_rr_type number = ldns_get_rr_type_by_name(type);
    ldns_rdf *owner = ldns_dname_new_frm_str(name);
    ldns_pkt *answer = NULL;

    *out = (struct dns_reply){0};
    if (!owner || !number) {
        ldns_rdf_deep_free(owner);
        return ERR_PARSE;
    }
    ldns_pkt *query = ldns_pkt_query_new(owner, number, LDNS_RR_CLASS_IN, 0);
    ldns_pkt_set_random_id(query);
    ldns_pkt_set_edns_udp_size(query, UDP_PAYLOAD);
    ldns_resolver_set_nameserver_rtt(s->resolver, 0,
                                     LDNS_RESOLV_RTT_MIN); /* Else a silent one is not asked again. */
    if (ldns_resolver_send_pkt(&answer, s->resolver, query) != LDNS_STATUS_OK) {
        ldns_pkt_free(answer);
        answer = NULL;
    }
    read_reply(answer, query, with_ttl, out);
    ldns_pkt_free(answer);
    ldns_pkt_free(query);
    return 0;
}

/* ---- a whole zone ---- */

static void report_record(ldns_rr *rr, void (*record)(void *arg, const char *owner, const char *type),
                          void *arg)
{
    ldns_rr2canonical(rr);
    mem_auto char *owner = ldns_rdf2str(ldns_rr_owner(rr));
    mem_auto char *type = ldns_rr_type2str(ldns_rr_get_type(rr));

    if (owner && type)
        record(arg, owner, type);
    ldns_rr_free(rr);
}

void dns_transfer(struct dns_server *s, const char *zone,
                  void (*record)(void *arg, const char *owner, const char *type), void *arg, char result[24])
{
    /* One of its own: a transfer that ends early leaves a resolver that cannot be used again. */
    ldns_resolver *r = make_resolver(&s->address, s->port);
    ldns_rdf *apex = ldns_dname_new_frm_str(zone);
    bool has_started = apex && ldns_axfr_start(r, apex, LDNS_RR_CLASS_IN) == LDNS_STATUS_OK;
    ldns_rr *rr;

    while (has_started && (rr = ldns_axfr_next(r)))
        report_record(rr, record, arg);
    const ldns_pkt *last = has_started ? ldns_axfr_last_pkt(r) : NULL;
    bool is_whole = has_started && ldns_axfr_complete(r);
    bool is_refused = !is_whole && last && ldns_pkt_get_rcode(last) != LDNS_RCODE_NOERROR;
    snprintf(result, 24, "%s", is_whole ? DNS_TRANSFERRED : "no answer");
    if (is_refused)
        write_rcode(ldns_pkt_get_rcode(last), result);
    if (has_started && !is_whole)
        ldns_axfr_abort(r);
    ldns_rdf_deep_free(apex);
    ldns_resolver_deep_free(r);
}

void dns_reply_fini(struct dns_reply *r)
{
    for (size_t i = 0; i < r->n_records; i++)
        free(r->records[i]);
    free(r->records);
    *r = (struct dns_reply){0};
}

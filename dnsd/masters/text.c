#include "masters/text.h"
#include "base/mem.h"
#include "bobbin/error.h"
#include "wire/rdata.h"

#include <ctype.h>
#include <ldns/ldns.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A name as every reader takes it: all but letters, digits, '-', '_', '*' and '/' as \DDD. Knot refuses a bare '#', BIND reads "\["
 * as a bit string. */
static const char *strict_name(const uint8_t *name, char out[NAME_TEXT_MAX])
{
    char *p = out;
    for (const uint8_t *label = name; *label; label += *label + 1) {
        for (unsigned i = 1; i <= *label; i++) {
            uint8_t c = label[i];
            bool is_plain = isalnum(c) || (c && strchr("-_*/", c));
            p += snprintf(p, 5, is_plain ? "%c" : "\\%03u", c);
        }
        *p++ = '.';
    }
    if (p == out)
        *p++ = '.';
    *p = 0;
    return out;
}

/* RFC 3597 form: good for any type, and all that is left when ldns cannot read the rdata. */
static void unknown_text(const struct zone_rr *rr, struct buf *out)
{
    char owner[NAME_TEXT_MAX];
    buf_addf(out, "%s\t%u\tIN\tTYPE%u\t\\# %u ", strict_name(rr->owner, owner), rr->ttl_s, rr->type,
             rr->rdlen);
    for (size_t i = 0; i < rr->rdlen; i++)
        buf_addf(out, "%02x", rr->rdata[i]);
    buf_add_char(out, '\n');
}

/* One field of rdata. A name is ours to write. @return false: ldns has no text for it. */
static bool field_text(const ldns_rdf *field, struct buf *out)
{
    char name[NAME_TEXT_MAX];
    if (ldns_rdf_get_type(field) == LDNS_RDF_TYPE_DNAME) {
        buf_add_str(out, strict_name(ldns_rdf_data(field), name));
        return true;
    }
    char *text = ldns_rdf2str(field);
    if (text)
        buf_add_str(out, text);
    free(text);
    return text != NULL;
}

/* A record without its newline. @return false: ldns has no text for the rdata; out is unchanged. */
static bool record_text(const ldns_rr *rr, struct buf *out)
{
    char owner[NAME_TEXT_MAX];
    buf_auto struct buf rdata = BUF_EMPTY;
    mem_auto char *type = ldns_rr_type2str(ldns_rr_get_type(rr));
    size_t n = ldns_rr_rd_count(rr);
    if (!n)
        buf_add_str(&rdata, "\\# 0");
    for (size_t i = 0; i < n; i++) {
        buf_add_str(&rdata, i ? " " : "");
        if (!field_text(ldns_rr_rdf(rr, i), &rdata))
            return false;
    }
    strict_name(ldns_rdf_data(ldns_rr_owner(rr)), owner);
    buf_addf(out, "%s\t%u\tIN\t%s\t%s", owner, ldns_rr_ttl(rr), type, buf_cstr(&rdata));
    return true;
}

void rr_text(const struct zone_rr *rr, struct buf *out)
{
    buf_auto struct buf wire = BUF_EMPTY;
    uint8_t head[10];
    size_t at = 0;
    ldns_rr *parsed = NULL;
    wire_put16(head, rr->type);
    wire_put16(head + 2, DNS_IN);
    wire_put32(head + 4, rr->ttl_s);
    wire_put16(head + 8, rr->rdlen);
    buf_add(&wire, rr->owner, (size_t)name_len(rr->owner, NAME_MAX_LEN));
    buf_add(&wire, head, sizeof head);
    buf_add(&wire, rr->rdata, rr->rdlen);
    ldns_status status =
        ldns_wire2rr(&parsed, (const uint8_t *)wire.bytes, wire.len, &at, LDNS_SECTION_ANSWER);
    if (status == LDNS_STATUS_OK && record_text(parsed, out))
        buf_add_char(out, '\n');
    else
        unknown_text(rr, out);
    ldns_rr_free(parsed);
}

static void each_of_section(const ldns_rr_list *rrs, int section,
                            void (*fn)(void *arg, int section, const char *text), void *arg)
{
    for (size_t i = 0; i < ldns_rr_list_rr_count(rrs); i++) {
        buf_auto struct buf text = BUF_EMPTY;
        if (record_text(ldns_rr_list_rr(rrs, i), &text)) /* else the rdata is not of its type's form */
            fn(arg, section, buf_cstr(&text));
    }
}

int message_each_rr(const uint8_t *msg, size_t len, void (*fn)(void *arg, int section, const char *text),
                    void *arg)
{
    ldns_pkt *packet = NULL;
    if (ldns_wire2pkt(&packet, msg, len) != LDNS_STATUS_OK)
        return ERR_PARSE;
    each_of_section(ldns_pkt_answer(packet), 0, fn, arg);
    each_of_section(ldns_pkt_authority(packet), 1, fn, arg);
    each_of_section(ldns_pkt_additional(packet), 2, fn, arg);
    ldns_pkt_free(packet);
    return 0;
}

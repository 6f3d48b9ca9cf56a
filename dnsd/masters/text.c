#include "masters/text.h"
#include "bobbin/error.h"
#include "wire/rdata.h"

#include <ldns/ldns.h>
#include <stdlib.h>
#include <string.h>

/* RFC 3597 form: good for any type, and all that is left when ldns cannot read the rdata. */
static void unknown_text(const struct zone_rr *rr, struct buf *out)
{
    char owner[NAME_TEXT_MAX];
    buf_addf(out, "%s\t%u\tIN\tTYPE%u\t\\# %u ", name_to_text(rr->owner, owner), rr->ttl_s, rr->type,
             rr->rdlen);
    for (size_t i = 0; i < rr->rdlen; i++)
        buf_addf(out, "%02x", rr->rdata[i]);
    buf_add_char(out, '\n');
}

void rr_text(const struct zone_rr *rr, struct buf *out)
{
    struct buf wire = BUF_EMPTY;
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
    char *text = status == LDNS_STATUS_OK ? ldns_rr2str(parsed) : NULL;
    if (text)
        buf_add_str(out, text);
    else
        unknown_text(rr, out);
    free(text);
    ldns_rr_free(parsed);
    buf_fini(&wire);
}

static void each_of_section(const ldns_rr_list *rrs, int section,
                            void (*fn)(void *arg, int section, const char *text), void *arg)
{
    for (size_t i = 0; i < ldns_rr_list_rr_count(rrs); i++) {
        char *text = ldns_rr2str(ldns_rr_list_rr(rrs, i));
        if (!text)
            continue; /* ldns has no text for rdata that is not of its type's form */
        text[strcspn(text, "\n")] = 0;
        fn(arg, section, text);
        free(text);
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

#include "wire/write.h"

#include <string.h>

#include "bobbin/error.h"
#include "wire/cookie.h"
#include "wire/name.h"
#include "wire/rdata.h"
#include "wire/read.h"

enum { OPT_FIXED_LEN = 11, OPTION_HEAD = 4 };

void wr_begin(struct wr *w, uint8_t *msg, size_t cap)
{
    w->msg = msg;
    w->cap = cap;
    w->len = WIRE_HEADER_LEN;
    memset(w->counts, 0, sizeof w->counts);
    w->n_questions = 0;
    w->n_dict = 0;
    w->has_question_names = false;
}

int wr_question(struct wr *w, const uint8_t *question, size_t len)
{
    if (w->cap - w->len < len)
        return ERR_NOSPC;
    memcpy(w->msg + w->len, question, len);
    w->len += len;
    w->n_questions = 1;
    return 0;
}

static uint8_t lower_octet(uint8_t c)
{
    return c >= 'A' && c <= 'Z' ? (uint8_t)(c + 32) : c;
}

bool wr_names_match(const uint8_t *msg, size_t at, const uint8_t *name)
{
    for (;;) {
        while (msg[at] >= 0xc0)
            at = wire_get16(msg + at) & WR_POINTER_MAX;
        if (msg[at] != *name)
            return false;
        unsigned label = *name++;
        at++;
        if (!label)
            return true;
        for (; label; label--)
            if (lower_octet(msg[at++]) != lower_octet(*name++))
                return false;
    }
}

static void dict_add(struct wr *w, size_t at, size_t len)
{
    if (w->n_dict < WR_DICT && at <= WR_POINTER_MAX)
        w->dict[w->n_dict++] = (struct wr_target){(uint16_t)at, (uint8_t)len};
}

/** The question's suffixes become targets with the first name that needs one: most answers need none. */
static void dict_add_question(struct wr *w)
{
    if (w->has_question_names || !w->n_questions)
        return;
    w->has_question_names = true;
    size_t left = (size_t)name_len(w->msg + WIRE_HEADER_LEN, NAME_MAX_LEN), step;
    for (size_t at = WIRE_HEADER_LEN; w->msg[at]; at += step, left -= step) {
        step = w->msg[at] + 1u;
        dict_add(w, at, left);
    }
}

/** @param n_whole entries of names that are written to their end; a name being written is no target for itself. */
static int dict_find(const struct wr *w, unsigned n_whole, const uint8_t *name, size_t len)
{
    for (unsigned i = 0; i < n_whole; i++)
        if (w->dict[i].len == len && wr_names_match(w->msg, w->dict[i].at, name))
            return w->dict[i].at;
    return -1;
}

/** Write a name, compressed. @return 0; or ERR_NOSPC: the caller restores len and n_dict. */
static int put_name(struct wr *w, const uint8_t *name)
{
    dict_add_question(w);
    unsigned n_whole = w->n_dict;
    size_t left = (size_t)name_len(name, NAME_MAX_LEN), step;
    for (; *name; name += step, left -= step) {
        int target = dict_find(w, n_whole, name, left);
        if (target >= 0) {
            if (w->cap - w->len < 2)
                return ERR_NOSPC;
            wire_put16(w->msg + w->len, 0xc000u | (unsigned)target);
            w->len += 2;
            return 0;
        }
        step = *name + 1u;
        if (w->cap - w->len < step)
            return ERR_NOSPC;
        memcpy(w->msg + w->len, name, step);
        dict_add(w, w->len, left);
        w->len += step;
    }
    if (w->cap - w->len < 1)
        return ERR_NOSPC;
    w->msg[w->len++] = 0;
    return 0;
}

static int put_bytes(struct wr *w, const uint8_t *p, size_t n)
{
    if (w->cap - w->len < n)
        return ERR_NOSPC;
    memcpy(w->msg + w->len, p, n);
    w->len += n;
    return 0;
}

/** Rdata with compressed names: octets before the first name, the names, the rest. */
static int put_rdata(struct wr *w, uint16_t type, const uint8_t *rdata, size_t len)
{
    const struct dns_type *t = dns_type(type);
    if (!(t->can & DNS_COMPRESS))
        return put_bytes(w, rdata, len);
    size_t at = t->head;
    if (at && put_bytes(w, rdata, at))
        return ERR_NOSPC;
    for (unsigned n_names = t->n_names; n_names; n_names--) {
        if (put_name(w, rdata + at))
            return ERR_NOSPC;
        at += (size_t)name_len(rdata + at, len - at);
    }
    return put_bytes(w, rdata + at, len - at);
}

/** One record after its owner. @param rr stored wire. */
static int put_record_body(struct wr *w, const struct wire_set *set, const uint8_t *rr)
{
    size_t head = w->len;
    if (put_bytes(w, rr + 2, WIRE_RR_HEADER - 2))
        return ERR_NOSPC;
    if (wire_get32(rr + 6) > set->ttl_max_s)
        wire_put32(w->msg + head + 4, set->ttl_max_s);
    size_t rdata_at = w->len;
    if (put_rdata(w, set->type, rr + WIRE_RR_HEADER, wire_get16(rr + 10)))
        return ERR_NOSPC;
    wire_put16(w->msg + rdata_at - 2, (unsigned)(w->len - rdata_at));
    return 0;
}

static size_t record_len(const uint8_t *rr)
{
    return WIRE_RR_HEADER + (size_t)wire_get16(rr + 10);
}

const uint8_t *wire_set_record(const struct wire_set *set, uint32_t index)
{
    const uint8_t *rr = set->wire;
    const struct dns_type *t = dns_type(set->type);
    if (t->form == DNS_RDATA_FIXED)
        return rr + (size_t)index * (WIRE_RR_HEADER + t->head);
    for (; index; index--)
        rr += record_len(rr);
    return rr;
}

/** Owner of each record: `owner` when not NULL, else the name at owner_off. All records or none. */
static int put_records(struct wr *w, const uint8_t *owner, uint16_t owner_off, const struct wire_set *set)
{
    struct wr before = *w;
    const uint8_t *rr = wire_set_record(set, set->first), *end = set->wire + set->len;
    for (uint32_t i = 0; i < set->n_rrs; i++) {
        uint8_t pointer[2];
        wire_put16(pointer, 0xc000u | owner_off);
        int failed = owner ? put_name(w, owner) : put_bytes(w, pointer, 2);
        if (failed || put_record_body(w, set, rr)) {
            *w = before;
            return ERR_NOSPC;
        }
        rr += record_len(rr);
        if (rr == end)
            rr = set->wire;
    }
    return 0;
}

static void copy_rotated(uint8_t *to, const struct wire_set *set)
{
    size_t at = set->first ? (size_t)(wire_set_record(set, set->first) - set->wire) : 0;
    memcpy(to, set->wire + at, set->len - at);
    memcpy(to + set->len - at, set->wire, at);
}

static void patch_owners(uint8_t *rr, uint32_t n_rrs, uint16_t owner_off)
{
    for (; n_rrs; n_rrs--) {
        wire_put16(rr, 0xc000u | owner_off);
        rr += record_len(rr);
    }
}

int wr_rrset_at(struct wr *w, enum wr_section section, uint16_t owner_off, const struct wire_set *set)
{
    int failed = 0;
    if (set->ttl_max_s != UINT32_MAX || dns_type(set->type)->can & DNS_COMPRESS) {
        failed = put_records(w, NULL, owner_off, set);
    } else if (w->cap - w->len < set->len) {
        failed = ERR_NOSPC;
    } else {
        copy_rotated(w->msg + w->len, set);
        if (owner_off != WR_OWNER_QUESTION)
            patch_owners(w->msg + w->len, set->n_rrs, owner_off);
        w->len += set->len;
    }
    if (!failed)
        w->counts[section] = (uint16_t)(w->counts[section] + set->n_rrs);
    return failed;
}

int wr_rrset(struct wr *w, enum wr_section section, const uint8_t *owner, const struct wire_set *set)
{
    int failed = put_records(w, owner, 0, set);
    if (!failed)
        w->counts[section] = (uint16_t)(w->counts[section] + set->n_rrs);
    return failed;
}

/** Octets of the extended error's value (RFC 8914 2): code and text. */
static size_t ede_len(const struct wr_opt *opt)
{
    return 2 + (opt->ede_text ? strlen(opt->ede_text) : 0);
}

size_t wr_opt_len(const struct wr_opt *opt)
{
    return OPT_FIXED_LEN + (opt->ede != DNS_EDE_NONE ? OPTION_HEAD + ede_len(opt) : 0u) +
           (opt->nsid ? (unsigned)OPTION_HEAD + opt->nsid_len : 0u) +
           (opt->cookie ? OPTION_HEAD + COOKIE_LEN : 0u) + (opt->has_keepalive ? OPTION_HEAD + 2u : 0u);
}

/** @return where the next option goes. */
static uint8_t *put_option(uint8_t *p, enum dns_option option, const uint8_t *value, size_t n)
{
    wire_put16(p, option);
    wire_put16(p + 2, (unsigned)n);
    memcpy(p + OPTION_HEAD, value, n);
    return p + OPTION_HEAD + n;
}

static uint8_t *put_number(uint8_t *p, enum dns_option option, unsigned value)
{
    uint8_t octets[2];
    wire_put16(octets, value);
    return put_option(p, option, octets, 2);
}

static uint8_t *put_ede(uint8_t *p, const struct wr_opt *opt)
{
    size_t n = ede_len(opt);
    wire_put16(p, DNS_OPTION_EDE);
    wire_put16(p + 2, (unsigned)n);
    wire_put16(p + OPTION_HEAD, (unsigned)opt->ede);
    if (opt->ede_text)
        memcpy(p + OPTION_HEAD + 2, opt->ede_text, n - 2);
    return p + OPTION_HEAD + n;
}

/** Zeros up to the next whole block, or up to the end of the buffer. @return octets of the option. */
static size_t put_padding(const struct wr *w, uint8_t *p, unsigned block)
{
    size_t len = (size_t)(p - w->msg) + OPTION_HEAD;
    if (len > w->cap)
        return 0;
    size_t n = (block - len % block) % block;
    if (n > w->cap - len)
        n = w->cap - len;
    wire_put16(p, DNS_OPTION_PADDING);
    wire_put16(p + 2, (unsigned)n);
    memset(p + OPTION_HEAD, 0, n);
    return OPTION_HEAD + n;
}

int wr_opt_put(struct wr *w, const struct wr_opt *opt)
{
    size_t len = wr_opt_len(opt);
    if (w->cap - w->len < len)
        return ERR_NOSPC;
    uint8_t *head = w->msg + w->len, *p = head + OPT_FIXED_LEN;
    head[0] = 0;
    wire_put16(head + 1, DNS_OPT);
    wire_put16(head + 3, opt->size);
    head[5] = opt->rcode_high;
    head[6] = 0;
    wire_put16(head + 7, opt->is_dnssec ? 0x8000 : 0);
    if (opt->ede != DNS_EDE_NONE)
        p = put_ede(p, opt);
    if (opt->nsid)
        p = put_option(p, DNS_OPTION_NSID, opt->nsid, opt->nsid_len);
    if (opt->cookie)
        p = put_option(p, DNS_OPTION_COOKIE, opt->cookie, COOKIE_LEN);
    if (opt->has_keepalive)
        p = put_number(p, DNS_OPTION_KEEPALIVE, opt->keepalive_100ms);
    if (opt->padding_block)
        p += put_padding(w, p, opt->padding_block);
    wire_put16(head + 9, (unsigned)(p - head - OPT_FIXED_LEN));
    w->len = (size_t)(p - w->msg);
    w->counts[WR_ADDITIONAL]++;
    return 0;
}

size_t wr_finish(struct wr *w, uint16_t id, uint16_t flags)
{
    wire_put16(w->msg, id);
    wire_put16(w->msg + 2, flags);
    wire_put16(w->msg + 4, w->n_questions);
    wire_put16(w->msg + 6, w->counts[WR_ANSWER]);
    wire_put16(w->msg + 8, w->counts[WR_AUTHORITY]);
    wire_put16(w->msg + 10, w->counts[WR_ADDITIONAL]);
    return w->len;
}

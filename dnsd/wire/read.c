#include "wire/read.h"

#include "bobbin/error.h"
#include "wire/rdata.h"

enum { COOKIE_CLIENT = 8, COOKIE_SHORTEST = 16, COOKIE_LONGEST = 40 };

/** Rest of a message; `at` never passes `len`. */
struct cursor {
    const uint8_t *msg;
    size_t len, at;
};

static size_t cursor_room(const struct cursor *c)
{
    return c->len - c->at;
}

/** Step over a name that may end in a compression pointer. */
static int skip_name(struct cursor *c)
{
    while (c->at < c->len) {
        unsigned octet = c->msg[c->at];
        if (octet >= 0xc0) {
            if (cursor_room(c) < 2)
                return ERR_PARSE;
            c->at += 2;
            return 0;
        }
        if (octet > NAME_LABEL_MAX || cursor_room(c) < octet + 1)
            return ERR_PARSE;
        c->at += octet + 1;
        if (!octet)
            return 0;
    }
    return ERR_PARSE;
}

/** The first cookie counts; one of a length that cannot be is malformed (RFC 7873 5.2.2). */
static int read_cookie(const uint8_t *p, size_t len, struct query *q)
{
    if (len != COOKIE_CLIENT && (len < COOKIE_SHORTEST || len > COOKIE_LONGEST))
        return ERR_PARSE;
    if (!q->cookie_len) {
        q->cookie = p;
        q->cookie_len = (uint8_t)len;
    }
    return 0;
}

static int read_option(unsigned option, const uint8_t *p, size_t len, struct query *q)
{
    switch (option) {
    case DNS_OPTION_NSID: q->wants_nsid = true; return 0;
    case DNS_OPTION_KEEPALIVE: q->wants_keepalive = true; return 0;
    case DNS_OPTION_PADDING: q->wants_padding = true; return 0;
    case DNS_OPTION_COOKIE: return read_cookie(p, len, q);
    default: return 0;
    }
}

/** Options of an OPT record. Unknown ones are ignored (RFC 6891 6.1.2). */
static int read_options(const uint8_t *p, size_t n, struct query *q)
{
    while (n) {
        if (n < 4)
            return ERR_PARSE;
        size_t len = wire_get16(p + 2);
        if (n - 4 < len || read_option(wire_get16(p), p + 4, len, q))
            return ERR_PARSE;
        p += 4 + len;
        n -= 4 + len;
    }
    return 0;
}

/** One record after the question: skipped, except OPT. */
static int read_record(struct cursor *c, bool is_additional, struct query *q)
{
    bool is_root = c->at < c->len && c->msg[c->at] == 0;
    if (skip_name(c) || cursor_room(c) < 10)
        return ERR_PARSE;
    const uint8_t *p = c->msg + c->at;
    size_t rdlen = wire_get16(p + 8);
    c->at += 10;
    if (cursor_room(c) < rdlen)
        return ERR_PARSE;
    c->at += rdlen;
    if (wire_get16(p) != DNS_OPT)
        return 0;
    if (!is_additional || !is_root || q->has_edns)
        return ERR_PARSE;
    q->has_edns = true;
    q->edns_size = wire_get16(p + 2);
    q->edns_version = p[5];
    q->wants_dnssec = p[6] & 0x80;
    /* Options of a later version have unknown meaning. */
    return q->edns_version ? 0 : read_options(p + 10, rdlen, q);
}

static int read_question(struct cursor *c, struct query *q)
{
    int len = name_key_read(c->msg + c->at, cursor_room(c), &q->name);
    if (len < 0 || cursor_room(c) < (size_t)len + 4)
        return ERR_PARSE;
    const uint8_t *p = c->msg + c->at + len;
    q->qtype = wire_get16(p);
    q->qclass = wire_get16(p + 2);
    q->question_len = (uint16_t)(len + 4);
    q->has_question = true;
    c->at += q->question_len;
    return 0;
}

static int read_records(struct cursor *c, struct query *q)
{
    unsigned n_before = wire_get16(c->msg + 6) + wire_get16(c->msg + 8);
    unsigned n = n_before + wire_get16(c->msg + 10);
    for (unsigned i = 0; i < n; i++)
        if (read_record(c, i >= n_before, q))
            return ERR_PARSE;
    return 0;
}

void query_read(const uint8_t *msg, size_t len, struct query *q)
{
    q->verdict = QUERY_DROP;
    q->has_question = q->has_edns = q->wants_dnssec = false;
    q->wants_nsid = q->wants_keepalive = q->wants_padding = false;
    q->cookie_len = 0;
    q->edns_version = 0;
    q->edns_size = 0;
    q->question_len = 0;
    if (len < WIRE_HEADER_LEN || msg[2] & 0x80)
        return;
    q->verdict = QUERY_FORMERR;
    q->id = wire_get16(msg);
    q->flags = wire_get16(msg + 2);
    q->opcode = (q->flags >> 11) & 15;
    struct cursor c = {msg, len, WIRE_HEADER_LEN};
    unsigned n_questions = wire_get16(msg + 4);
    if (n_questions > 1 || (n_questions && read_question(&c, q)) || read_records(&c, q))
        return;
    if (n_questions || q->cookie_len)
        q->verdict = QUERY_OK;
}

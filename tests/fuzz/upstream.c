/*
 * An answer of an upstream server: read, and relayed to a client. The first octet of an input says what the client can take;
 * the rest is the answer. What is relayed is an answer itself: read again it says the same.
 */
#include "fuzz.h"

#include <string.h>

#include "base/mem.h"
#include "bobbin/error.h"
#include "forward/relay.h"
#include "wire/rdata.h"

enum { BY_TCP = 1, IS_SMALL = 2, IS_OLD = 4, HAS_CASE = 8, IS_PLAIN = 16, WITH_OPTIONS = 32, ID = 0x4242 };

/* www.Corp.example A, and the same with EDNS (1232, DO). */
static const uint8_t plain[] = "BB\1\0\0\1\0\0\0\0\0\0\3www\4Corp\7example\0\0\1\0\1";
static const uint8_t edns[] =
    "BB\1\0\0\1\0\0\0\0\0\1\3www\4Corp\7example\0\0\1\0\1\0\0\x29\4\xd0\0\0\x80\0\0\0";

/* The same with NSID, keepalive and padding. */
static const uint8_t options[] =
    "BB\1\0\0\1\0\0\0\0\0\1\3www\4Corp\7example\0\0\1\0\1\0\0\x29\4\xd0\0\0\0\0\0\x0c"
    "\0\3\0\0\0\x0b\0\0\0\x0c\0\0";

static void check_relayed(const struct relay_msg *m, const uint8_t *query, size_t query_len,
                          const uint8_t *out, size_t len)
{
    struct relay_msg *again = NULL;
    bool is_truncated = wire_get16(out + 2) & 0x0200;
    int err = relay_read(query, query_len, out, len, &again);
    FUZZ_HOLDS(err == (is_truncated ? ERR_TOOBIG : 0));
    if (err)
        return;
    FUZZ_HOLDS(again->rcode == m->rcode);
    FUZZ_HOLDS(!memcmp(again->bytes + 6, m->bytes + 6, 4));
    FUZZ_HOLDS(again->len == m->len || again->len == m->additional_at);
    free(again);
}

static void relay(const struct relay_msg *m, unsigned how, const uint8_t *query, size_t query_len)
{
    static uint8_t out[RELAY_RESPONSE_MAX];
    struct query q;
    const uint8_t *msg = how & IS_SMALL ? plain : how & WITH_OPTIONS ? options : edns;
    size_t msg_len = how & IS_SMALL ? sizeof plain : how & WITH_OPTIONS ? sizeof options : sizeof edns;
    query_read(msg, msg_len - 1, &q);
    FUZZ_HOLDS(q.verdict == QUERY_OK);
    struct relay_client c = {.query = &q,
                             .msg = msg,
                             .nsid = (const uint8_t *)"n",
                             .nsid_len = 1,
                             .is_tcp = how & BY_TCP,
                             .is_tls = how & BY_TCP,
                             .udp_max = 1232,
                             .age_s = how & IS_OLD ? 1000000 : 0,
                             .ttl_most_s = how & IS_OLD ? 5 : UINT32_MAX};
    uint8_t names[ANSWER_LINKS_MAX][NAME_MAX_LEN];
    struct answer_links links;
    FUZZ_HOLDS(relay_links(m, &c, names, &links) == links.n && links.n <= ANSWER_LINKS_MAX);
    for (unsigned i = 0; i < links.n; i++)
        FUZZ_HOLDS(name_len(links.items[i].target, NAME_MAX_LEN) > 0 && links.items[i].ttl_s <= c.ttl_most_s);
    size_t len = relay_write(m, &c, out);
    FUZZ_HOLDS(len <= (how & BY_TCP ? 65535u : how & IS_SMALL ? 512u : 1232u));
    check_relayed(m, query, query_len, out, len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t random[RELAY_CASE_LEN] = {0x5a, 0xa5, 0x3c};
    uint8_t query[RELAY_QUERY_MAX];
    struct query q;
    struct relay_msg *m = NULL;
    if (!size || size > 65536)
        return 0;
    query_read(edns, sizeof edns - 1, &q);
    size_t query_len = relay_make_query(&q, edns, query);
    relay_set_id(query, ID);
    relay_set_case(query, data[0] & HAS_CASE ? random : NULL);
    query_len = relay_set_edns(query, !(data[0] & IS_PLAIN));
    int err = relay_read(query, query_len, data + 1, size - 1, &m);
    FUZZ_HOLDS(!m || relay_match(query, query_len, data + 1, size - 1) != RELAY_OTHER);
    FUZZ_HOLDS((err == 0) == (m != NULL));
    FUZZ_HOLDS(!m || m->len <= size - 1);
    if (m)
        relay(m, data[0], query, query_len);
    free(m);
    return 0;
}

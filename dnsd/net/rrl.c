#include "net/rrl.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/addr.h"
#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"
#include "bobbin/error.h"
#include "wire/rdata.h"

enum { N_PAIRS = 1 << 15, COST = 1000, MAX_EXEMPT = 32, NET4_BITS = 24, NET6_BITS = 56 };

struct bucket {
    uint32_t tag;    /* rest of the key's hash; 0: free */
    uint32_t at_ms;  /* when credit was counted */
    uint32_t credit; /* thousandths of an answer */
    uint32_t n_limited;
};

struct network {
    struct addr addr;
    unsigned n_bits;
};

struct rrl {
    unsigned rate_per_s, slip;
    size_t n_exempt;
    struct network exempt[MAX_EXEMPT];
    uint64_t seed;
    struct bucket buckets[N_PAIRS][2];
};

/** "10.0.0.0/8", "::1". */
static int read_network(const char *text, struct network *out)
{
    char literal[ADDR_TEXT_MAX];
    const char *slash = strchr(text, '/');
    size_t len = slash ? (size_t)(slash - text) : strlen(text);
    int64_t n_bits;
    if (len >= sizeof literal)
        return ERR_PARSE;
    memcpy(literal, text, len);
    literal[len] = 0;
    if (addr_read(literal, &out->addr))
        return ERR_PARSE;
    n_bits = out->addr.family == AF_INET ? 32 : 128;
    if (slash && str_to_i64(slash + 1, 0, n_bits, &n_bits))
        return ERR_PARSE;
    out->n_bits = (unsigned)n_bits;
    return 0;
}

static int read_exempt(const char *list, struct network *out, size_t *n, struct err_info *why)
{
    *n = 0;
    for (size_t i = 0; list; i++) {
        mem_auto char *text = str_field(list, ',', i);
        if (!text)
            break;
        if (!*text)
            continue;
        if (*n == MAX_EXEMPT)
            return err_set(why, ERR_INVALID, text, "more than %d networks", MAX_EXEMPT);
        if (read_network(text, &out[*n]))
            return err_set(why, ERR_INVALID, text, "\"%s\" is no network: ADDRESS/BITS was expected", text);
        ++*n;
    }
    return 0;
}

int rrl_check_options(const struct rrl_options *opts, struct err_info *why)
{
    struct network networks[MAX_EXEMPT];
    size_t n;
    return read_exempt(opts->exempt, networks, &n, why);
}

struct rrl *rrl_new(const struct rrl_options *opts)
{
    if (!opts->rate_per_s)
        return NULL;
    struct rrl *r = mem_new(struct rrl);
    r->rate_per_s = opts->rate_per_s;
    r->slip = opts->slip;
    BUG_IF(read_exempt(opts->exempt, r->exempt, &r->n_exempt, NULL));
    BUG_IF(getrandom(&r->seed, sizeof r->seed, 0) != sizeof r->seed);
    return r;
}

void rrl_free(struct rrl *r)
{
    free(r);
}

static bool has_prefix(const struct addr *a, const struct network *n)
{
    unsigned n_octets = n->n_bits / 8, rest = n->n_bits % 8;
    if (a->family != n->addr.family || memcmp(a->bytes, n->addr.bytes, n_octets))
        return false;
    return !rest || !((a->bytes[n_octets] ^ n->addr.bytes[n_octets]) >> (8 - rest));
}

static bool is_exempt(const struct rrl *r, const struct addr *a)
{
    for (size_t i = 0; i < r->n_exempt; i++)
        if (has_prefix(a, &r->exempt[i]))
            return true;
    return false;
}

static uint64_t mix(uint64_t v)
{
    v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9;
    v = (v ^ v >> 27) * 0x94d049bb133111eb;
    return v ^ v >> 31;
}

static uint64_t key_hash(const struct rrl *r, const struct addr *client, const struct answer *a)
{
    uint64_t network = 0;
    memcpy(&network, client->bytes, (client->family == AF_INET ? NET4_BITS : NET6_BITS) / 8);
    bool is_named = a->rcode == DNS_NOERROR && a->q.has_question;
    uint64_t kind = is_named ? a->q.name.hash[0] : a->rcode;
    return mix(mix(network ^ r->seed) + (uint64_t)client->family + mix(kind));
}

/** The bucket of a key; a new one begins with the credit of one second. */
static struct bucket *find_bucket(struct rrl *r, uint64_t hash, uint32_t now_ms)
{
    struct bucket *pair = r->buckets[hash % N_PAIRS];
    uint32_t tag = (uint32_t)(hash >> 32) | 1;
    for (unsigned i = 0; i < 2; i++)
        if (pair[i].tag == tag)
            return &pair[i];
    struct bucket *b = now_ms - pair[0].at_ms > now_ms - pair[1].at_ms ? &pair[0] : &pair[1];
    *b = (struct bucket){tag, now_ms, r->rate_per_s * COST, 0};
    return b;
}

static void add_credit(const struct rrl *r, struct bucket *b, uint32_t now_ms)
{
    uint64_t credit = b->credit + (uint64_t)(now_ms - b->at_ms) * r->rate_per_s;
    uint64_t most = (uint64_t)r->rate_per_s * COST;
    b->credit = (uint32_t)(credit < most ? credit : most);
    b->at_ms = now_ms;
}

enum rrl_verdict rrl_judge(struct rrl *r, const struct sockaddr_storage *client, const struct answer *a,
                           int64_t now_ms)
{
    struct addr addr;
    uint16_t port;
    if (a->cookie == ANSWER_COOKIE_GOOD ||
        addr_from_sockaddr((const struct sockaddr *)client, &addr, &port) || is_exempt(r, &addr))
        return RRL_SEND;
    struct bucket *b = find_bucket(r, key_hash(r, &addr, a), (uint32_t)now_ms);
    add_credit(r, b, (uint32_t)now_ms);
    if (b->credit >= COST) {
        b->credit -= COST;
        return RRL_SEND;
    }
    b->n_limited++;
    return r->slip && b->n_limited % r->slip == 0 ? RRL_EMPTY : RRL_DROP;
}

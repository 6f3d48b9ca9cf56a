#include "net/rrl.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/addr.h"
#include "base/mem.h"
#include "base/network.h"
#include "base/obj.h"
#include "bobbin/error.h"
#include "wire/rdata.h"

enum { N_PAIRS = 1 << 15, COST = 1000, NET4_BITS = 24, NET6_BITS = 56 };

struct bucket {
    uint32_t tag;    /* rest of the key's hash; 0: free */
    uint32_t at_ms;  /* when credit was counted */
    uint32_t credit; /* thousandths of an answer */
    uint32_t n_limited;
};

struct rrl {
    unsigned rate_per_s, slip;
    struct networks exempt;
    uint64_t seed;
    struct bucket buckets[N_PAIRS][2];
};

int rrl_check_options(const struct rrl_options *opts, struct err_info *why)
{
    struct networks exempt;
    return networks_read(opts->exempt, &exempt, why);
}

struct rrl *rrl_new(const struct rrl_options *opts)
{
    if (!opts->rate_per_s)
        return NULL;
    struct rrl *r = mem_new(struct rrl);
    r->rate_per_s = opts->rate_per_s;
    r->slip = opts->slip;
    BUG_IF(networks_read(opts->exempt, &r->exempt, NULL));
    BUG_IF(getrandom(&r->seed, sizeof r->seed, 0) != sizeof r->seed);
    return r;
}

void rrl_free(struct rrl *r)
{
    free(r);
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
        addr_from_sockaddr((const struct sockaddr *)client, &addr, &port) || networks_hold(&r->exempt, &addr))
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

#include "net/secrets.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/addr.h"
#include "base/mem.h"
#include "base/obj.h"

struct generation {
    struct cookie_secrets secrets;
    struct generation *older;
};

struct secrets {
    _Atomic(struct generation *) current;
};

void secrets_set(struct secrets *s, const struct cookie_secrets *next)
{
    struct generation *g = mem_new(struct generation);
    g->secrets = *next;
    g->older = atomic_load(&s->current);
    atomic_store_explicit(&s->current, g, memory_order_release);
}

struct secrets *secrets_new(const struct cookie_secrets *first)
{
    struct secrets *s = mem_new(struct secrets);
    struct cookie_secrets random = {.n_keys = 1};
    BUG_IF(getrandom(random.keys[0], COOKIE_SECRET_LEN, 0) != COOKIE_SECRET_LEN);
    atomic_init(&s->current, NULL);
    secrets_set(s, first ? first : &random);
    return s;
}

void secrets_free(struct secrets *s)
{
    struct generation *g = s ? atomic_load(&s->current) : NULL;
    while (g) {
        struct generation *older = g->older;
        free(g);
        g = older;
    }
    free(s);
}

void secrets_fill_client(struct secrets *s, const struct sockaddr_storage *client, struct answer *a)
{
    struct addr addr;
    struct timespec now;
    uint16_t port;
    if (!s || addr_from_sockaddr((const struct sockaddr *)client, &addr, &port))
        return;
    clock_gettime(CLOCK_REALTIME_COARSE, &now);
    a->client.now_s = (uint32_t)now.tv_sec;
    a->client.address_len = addr.family == AF_INET ? 4 : 16;
    memcpy(a->client.address, addr.bytes, a->client.address_len);
    a->secrets = &atomic_load_explicit(&s->current, memory_order_acquire)->secrets;
}

void secrets_put_cookie(const struct answer *a, struct net_peer *peer)
{
    peer->has_cookie = a->secrets && a->q.cookie_len;
    if (peer->has_cookie)
        cookie_check(a->secrets, &a->client, a->q.cookie, a->q.cookie_len, peer->cookie);
}

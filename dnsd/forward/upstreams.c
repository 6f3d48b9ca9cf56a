#include "forward/upstreams.h"

#include <stdlib.h>

#include "base/addr.h"
#include "base/list.h"
#include "base/mem.h"
#include "bobbin/error.h"

enum { PORT_DNS = 53, HOLD_MS = 1000, HOLD_DOUBLINGS = 5 };

static int read_server(const char *text, void *item)
{
    struct upstream *out = item;
    mem_auto char *host = NULL;
    struct addr addr;
    uint16_t port;
    *out = (struct upstream){.n_failed = 0};
    if (addr_read(text, &addr) == 0)
        port = PORT_DNS;
    else if (addr_split_host_port(text, PORT_DNS, &host, &port) || addr_read(host, &addr) || !port)
        return ERR_PARSE;
    out->sa_len = addr_to_sockaddr(&addr, port, &out->sa);
    return 0;
}

int upstreams_read(const char *list, struct upstreams *out, struct err_info *why)
{
    static const struct list_kind kind = {"server", "ADDRESS:PORT", UPSTREAMS_MAX, sizeof(struct upstream),
                                          read_server};
    return list_read(list, &kind, out->items, &out->n_items, why);
}

int upstreams_pick(const struct upstreams *u, unsigned tried, int64_t now_ms)
{
    int best = -1;
    for (int i = 0; i < (int)u->n_items; i++) {
        if (tried & 1u << i)
            continue;
        if (u->items[i].held_til_ms <= now_ms)
            return i;
        if (best < 0 || u->items[i].held_til_ms < u->items[best].held_til_ms)
            best = i;
    }
    return best;
}

bool upstreams_failed(struct upstreams *u, int i, int64_t now_ms)
{
    struct upstream *s = &u->items[i];
    unsigned n = s->n_failed < HOLD_DOUBLINGS ? s->n_failed : HOLD_DOUBLINGS;
    /* Queries that were under way together fail together: they count once. */
    if (s->held_til_ms > now_ms)
        return false;
    s->held_til_ms = now_ms + (HOLD_MS << n);
    return s->n_failed++ == 0;
}

bool upstreams_worked(struct upstreams *u, int i)
{
    bool was_failing = u->items[i].n_failed > 0;
    u->items[i].n_failed = 0;
    u->items[i].held_til_ms = 0;
    return was_failing;
}

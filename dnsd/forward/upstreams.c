#include "forward/upstreams.h"

#include <stdlib.h>

#include "base/addr.h"
#include "base/backoff.h"
#include "base/list.h"
#include "base/mem.h"
#include "bobbin/error.h"

enum {
    PORT_DNS = 53,
    HOLD_MS = 1000,
    HOLD_DOUBLINGS = 5,
    LACK_MS = 600000,
    RTT_HALF_MS = 60000, /* the time of a server that is not asked counts half after each such period */
    RTT_PARTS = 8,       /* an answer changes the smoothed time by one part of so many (RFC 6298 2) */
    MUCH_SLOWER = 3,     /* times as slow, and by at least: */
    SLACK_MS = 25,
    RTT_TIMES = 4,  /* an answer that takes so many times the usual is lost */
    FIRST_PART = 4, /* of a turn, before anything is measured */
    LEAST_PART = 8,
};

static int read_server(const char *text, void *item)
{
    struct upstream *out = item;
    mem_auto char *host = NULL;
    struct addr addr;
    uint16_t port;
    *out = (struct upstream){.rtt_ms = -1};
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

/** Estimated time to an answer; 0 for a server that was never measured. */
static int64_t rtt_now_ms(const struct upstream *s, int64_t now_ms)
{
    int64_t halvings = (now_ms - s->rtt_at_ms) / RTT_HALF_MS;
    return s->rtt_ms < 0 || halvings > 30 ? 0 : s->rtt_ms >> halvings;
}

static bool is_good(const struct upstreams *u, int i, unsigned tried, int64_t now_ms)
{
    return !(tried & 1u << i) && u->items[i].held_til_ms <= now_ms;
}

static int pick_good(const struct upstreams *u, unsigned tried, int64_t now_ms)
{
    int64_t least_ms = INT64_MAX;
    for (int i = 0; i < (int)u->n_items; i++) {
        int64_t rtt_ms = rtt_now_ms(&u->items[i], now_ms);
        if (is_good(u, i, tried, now_ms) && rtt_ms < least_ms)
            least_ms = rtt_ms;
    }
    for (int i = 0; i < (int)u->n_items; i++)
        if (is_good(u, i, tried, now_ms) &&
            rtt_now_ms(&u->items[i], now_ms) <= MUCH_SLOWER * least_ms + SLACK_MS)
            return i;
    return -1;
}

int upstreams_pick(const struct upstreams *u, unsigned tried, int64_t now_ms)
{
    int best = pick_good(u, tried, now_ms);
    if (best >= 0)
        return best;
    for (int i = 0; i < (int)u->n_items; i++)
        if (!(tried & 1u << i) && (best < 0 || u->items[i].held_til_ms < u->items[best].held_til_ms))
            best = i;
    return best;
}

unsigned upstream_patience_ms(const struct upstream *s, unsigned timeout_ms, unsigned n_repeated,
                              int64_t left_ms)
{
    int64_t wait_ms = s->rtt_ms < 0 ? timeout_ms / FIRST_PART : s->rtt_ms * RTT_TIMES;
    if (wait_ms < timeout_ms / LEAST_PART)
        wait_ms = timeout_ms / LEAST_PART;
    for (; n_repeated && wait_ms < left_ms; n_repeated--)
        wait_ms = backoff_next(wait_ms, wait_ms, left_ms);
    if (wait_ms > left_ms / 2)
        wait_ms = left_ms;
    return wait_ms > 0 ? (unsigned)wait_ms : 1;
}

bool upstreams_failed(struct upstreams *u, int i, int64_t now_ms)
{
    struct upstream *s = &u->items[i];
    unsigned n = s->n_failed < HOLD_DOUBLINGS ? s->n_failed : HOLD_DOUBLINGS;
    /* Queries in flight together fail together: they count once. */
    if (s->held_til_ms > now_ms)
        return false;
    s->held_til_ms = now_ms + (HOLD_MS << n);
    return s->n_failed++ == 0;
}

bool upstreams_worked(struct upstreams *u, int i, int64_t rtt_ms, int64_t now_ms)
{
    struct upstream *s = &u->items[i];
    bool was_failing = s->n_failed > 0;
    s->n_failed = 0;
    s->held_til_ms = 0;
    if (rtt_ms < 0)
        return was_failing;
    s->rtt_ms = s->rtt_ms < 0 ? rtt_ms : s->rtt_ms + (rtt_ms - s->rtt_ms) / RTT_PARTS;
    s->rtt_at_ms = now_ms;
    return was_failing;
}

void upstreams_note(struct upstreams *u, int i, enum upstream_lack lack, int64_t now_ms)
{
    u->items[i].lacks_til_ms[lack] = now_ms + LACK_MS;
}

bool upstreams_lack(const struct upstreams *u, int i, enum upstream_lack lack, int64_t now_ms)
{
    return u->items[i].lacks_til_ms[lack] > now_ms;
}

unsigned upstreams_n_failing(const struct upstreams *u)
{
    unsigned n = 0;
    for (size_t i = 0; i < u->n_items; i++)
        n += u->items[i].n_failed > 0;
    return n;
}

#include "net/tapped.h"

#include "wire/rdata.h"

static uint8_t protocol(bool is_tcp, bool is_tls)
{
    if (is_tls)
        return TAP_TLS;
    return is_tcp ? TAP_TCP : TAP_UDP;
}

void tapped_answer(struct tap_port *p, const struct tapped *t, const uint8_t *response, size_t len)
{
    const struct answer *a = t->a;
    bool is_relayed = a->hand_off != ANSWER_HERE;
    unsigned sinks = a->q.verdict == QUERY_DROP ? 0 : tap_wants(p);
    if (is_relayed)
        sinks &= ~(unsigned)TAP_LOG; /* the reply is logged */
    if (!sinks)
        return;
    struct tap_entry e = {.sinks = sinks,
                          .at_ns = t->read_ns,
                          .said_ns = tap_now_ns(),
                          .query_len = (uint32_t)t->query_len,
                          .said_len = (uint32_t)len,
                          .rcode = a->rcode,
                          .protocol = protocol(a->is_tcp, a->is_tls),
                          .is_relayed = is_relayed};
    tap_set_client(&e, t->client);
    tap_ring_put(p->ring, &e, a->msg, response);
}

void tapped_reply(struct tapped_replies *r, const struct net_peer *peer, const uint8_t *msg, size_t len)
{
    enum { RCODE = 15 };
    struct tap_entry e = {.said_ns = tap_now_ns(),
                          .said_len = (uint32_t)len,
                          .rcode = msg[3] & RCODE,
                          .protocol = protocol(peer->is_tcp, peer->is_tls),
                          .is_relayed = true};
    tap_set_client(&e, &peer->client);
    pthread_mutex_lock(&r->lock);
    e.sinks = tap_wants(r->port);
    if (e.sinks)
        tap_ring_put(r->port->ring, &e, NULL, msg);
    pthread_mutex_unlock(&r->lock);
}

/*
 * A message to dnsd: read, answered, and what goes out is read by ldns. The first octet of an input says how it comes:
 * transport, options, state of the zones; the rest is the message.
 */
#include "fuzz.h"

#include <ldns/ldns.h>

#include "answer/query.h"
#include "dns_kit.h"

enum {
    BY_TCP = 1,
    BY_TLS = 2,
    NEEDS_COOKIE = 4,
    HAS_SECRETS = 8,
    IS_STALE = 16,
    IS_UNREAD = 32,
    FORWARDS = 64,
    IS_SMALL = 128
};

static struct zoneset *set;

static void add(struct zone_tx *tx, const char *owner, uint16_t type, const char *text)
{
    kit_add(tx, owner, type, 300, text);
}

static void fill(struct zone_tx *tx)
{
    char name[64], address[32];
    add(tx, "dev.test", DNS_SOA, "ns.dev.test");
    add(tx, "dev.test", DNS_NS, "ns.dev.test");
    add(tx, "a.dev.test", DNS_A, "10.0.0.1");
    add(tx, "a.dev.test", DNS_AAAA, "fd00::1");
    add(tx, "a.dev.test", DNS_TXT, "text");
    add(tx, "c.dev.test", DNS_CNAME, "a.dev.test");
    add(tx, "loop.dev.test", DNS_CNAME, "loop.dev.test");
    add(tx, "out.dev.test", DNS_CNAME, "www.example.com");
    add(tx, "s.dev.test", DNS_SRV, "1 1 80 a.dev.test");
    for (int i = 0; i < 120; i++) {
        snprintf(name, sizeof name, "1 1 %d i%d.dev.test", i, i);
        add(tx, "big.dev.test", DNS_SRV, name);
        snprintf(name, sizeof name, "i%d.dev.test", i);
        snprintf(address, sizeof address, "10.0.1.%d", i);
        add(tx, name, DNS_A, address);
    }
    add(tx, "w.test", DNS_SOA, "ns.w.test");
    add(tx, "*.w.test", DNS_A, "10.0.0.2");
    add(tx, "sub.w.test", DNS_NS, "ns.sub.w.test");
    add(tx, "ns.sub.w.test", DNS_A, "10.0.0.3");
    add(tx, "d.w.test", DNS_DNAME, "e.d.test");
    add(tx, "d.test", DNS_SOA, "ns.d.test");
    add(tx, "e.d.test", DNS_DNAME, "d.w.test");
}

static void zones_once(unsigned flags)
{
    static unsigned now = ~0u;
    if (!set) {
        set = zoneset_new(NULL);
        FUZZ_HOLDS(zoneset_add_zone(set, kit_name("dev.test"), ZONE_REGISTRY, 1) >= 0);
        FUZZ_HOLDS(zoneset_add_zone(set, kit_name("w.test"), ZONE_FILE, 1) >= 0);
        FUZZ_HOLDS(zoneset_add_zone(set, kit_name("d.test"), ZONE_FILE, 1) >= 0);
        struct zone_tx *tx = zone_tx_begin(set);
        fill(tx);
        zone_tx_commit(tx, 0, NULL);
    }
    if (now == flags)
        return;
    zone_tx_commit(zone_tx_begin(set), flags, NULL);
    zoneset_reclaim(set, UINT64_MAX);
    now = flags;
}

static void at_exit(void)
{
    zoneset_free(set);
}

static void check_response(const struct answer *a, const uint8_t *msg, const uint8_t *out, size_t n)
{
    ldns_pkt *packet = NULL;
    ldns_status status = ldns_wire2pkt(&packet, out, n);
    if (status != LDNS_STATUS_OK)
        fprintf(stderr, "ldns: %s\n", ldns_get_errorstr_by_id(status));
    FUZZ_HOLDS(status == LDNS_STATUS_OK);
    FUZZ_HOLDS(ldns_pkt_qr(packet) && !memcmp(msg, out, 2));
    FUZZ_HOLDS(a->is_tcp || n <= 1232);
    FUZZ_HOLDS(!a->is_tcp || !a->is_truncated);
    ldns_pkt_free(packet);
}

/** Fetching is for speed: what was not fetched is answered with the same octets. @param a not yet answered */
static void check_without_fetching(const struct answer *a, const struct zone_version *v,
                                   const struct answer_options *opts, const uint8_t *wanted, size_t n)
{
    static uint8_t out[65535];
    struct answer late = *a;
    late.n_more = 0;
    late.more_of = NULL;
    FUZZ_HOLDS(answer_write(&late, v, opts, out, sizeof out) == n && !memcmp(out, wanted, n));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct cookie_secrets secrets = {1, {"0123456789abcdef"}};
    static uint8_t out[65535];
    struct answer a;
    if (!size)
        return 0;
    if (!set)
        atexit(at_exit);
    unsigned how = *data++;
    zones_once((how & IS_UNREAD ? 0u : ZONE_READY) | (how & IS_STALE ? ZONE_STALE : 0u));
    struct answer_options opts = {.udp_max = how & IS_SMALL ? 512 : 0,
                                  .has_empty_zones = true,
                                  .needs_cookie = how & NEEDS_COOKIE,
                                  .can_forward = how & FORWARDS,
                                  .version = "v",
                                  .identity = "i",
                                  .nsid = (const uint8_t *)"n",
                                  .nsid_len = 1,
                                  .keepalive_100ms = 100};
    const struct zone_version *v = zoneset_current(set);
    answer_read(&a, data, size - 1, how & (BY_TCP | BY_TLS), v);
    for (unsigned step = 0; answer_fetch(&a, v, step); step++)
        ;
    a.is_tls = how & BY_TLS;
    if (answer_wants_client(&a) && how & HAS_SECRETS) {
        a.secrets = &secrets;
        a.client = (struct cookie_client){{10, 0, 0, 1}, 4, 1000};
    }
    struct answer before = a;
    size_t n = answer_write(&a, v, &opts, out, sizeof out);
    check_without_fetching(&before, v, &opts, out, n);
    FUZZ_HOLDS((n == 0) == (a.q.verdict == QUERY_DROP));
    if (n)
        check_response(&a, data, out, n);
    return 0;
}

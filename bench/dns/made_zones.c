#include "made_zones.h"

#include <stdlib.h>
#include <string.h>

#include "base/obj.h"
#include "wire/rdata.h"

/** Names and address of an instance, as text. */
struct made {
    char instance[64], container[64], component[64], reverse[64], address[24], id[64];
};

static struct made make(unsigned i)
{
    struct made m;
    unsigned service = i / INSTANCES_A_SERVICE, host = i + 1;
    snprintf(m.instance, sizeof m.instance, "httpd-%u.svc%u.root.dev.test.", i % INSTANCES_A_SERVICE,
             service);
    snprintf(m.container, sizeof m.container, "ctr-e50-1451931954322-%04u-01-%06u.dev.test.", service,
             i % INSTANCES_A_SERVICE);
    snprintf(m.component, sizeof m.component, "c%u.svc%u.root.dev.test.", i % COMPONENTS_A_SERVICE, service);
    snprintf(m.reverse, sizeof m.reverse, "%u.%u.%u.10.in-addr.arpa.", host & 255, host >> 8 & 255,
             host >> 16);
    snprintf(m.address, sizeof m.address, "10.%u.%u.%u", host >> 16, host >> 8 & 255, host & 255);
    snprintf(m.id, sizeof m.id, "id=container_e50_1451931954322_%04u_01_%06u", service,
             i % INSTANCES_A_SERVICE);
    return m;
}

static void put(struct zone_tx *tx, bool is_add, const char *owner, uint16_t type, const uint8_t *rdata,
                size_t len)
{
    uint8_t name[NAME_MAX_LEN];
    BUG_IF(name_from_text(owner, strlen(owner), name) < 0);
    struct zone_rr rr = {name, type, 1, rdata, (uint16_t)len};
    BUG_IF(is_add ? zone_tx_add(tx, ZONE_BY_NAME, &rr) : zone_tx_remove(tx, ZONE_BY_NAME, &rr));
}

void made_zones_put(struct zone_tx *tx, unsigned i, bool is_add)
{
    struct made m = make(i);
    unsigned host = i + 1;
    uint8_t a[4] = {10, (uint8_t)(host >> 16), (uint8_t)(host >> 8), (uint8_t)host};
    uint8_t ptr[NAME_MAX_LEN], txt[256];
    int ptr_len = name_from_text(m.instance, strlen(m.instance), ptr);
    int txt_len = rdata_put_string(m.id, strlen(m.id), txt);
    put(tx, is_add, m.instance, DNS_A, a, 4);
    put(tx, is_add, m.container, DNS_A, a, 4);
    put(tx, is_add, m.component, DNS_A, a, 4);
    put(tx, is_add, m.instance, DNS_TXT, txt, (size_t)txt_len);
    put(tx, is_add, m.reverse, DNS_PTR, ptr, (size_t)ptr_len);
}

static void put_apex(struct zone_tx *tx, const char *apex)
{
    static const uint8_t ns[] = "\2ns\3dev\4test";
    uint8_t rdata[600];
    struct rdata_soa soa = {ns, ns, 0, 86000, 7200, 1209600, 600};
    put(tx, true, apex, DNS_SOA, rdata, rdata_put_soa(&soa, rdata));
    put(tx, true, apex, DNS_NS, ns, sizeof ns);
}

struct zoneset *made_zones_new(unsigned n_instances)
{
    struct zoneset *set = zoneset_new(&(struct zoneset_options){.hash_seed = 4711});
    BUG_IF(zoneset_add_zone(set, (const uint8_t *)"\3dev\4test", ZONE_REGISTRY, 1) != 0);
    BUG_IF(zoneset_add_zone(set, (const uint8_t *)"\00210\7in-addr\4arpa", ZONE_REVERSE, 1) != 1);
    struct zone_tx *tx = zone_tx_begin(set);
    put_apex(tx, "dev.test.");
    put_apex(tx, "10.in-addr.arpa.");
    for (unsigned i = 0; i < n_instances; i++)
        made_zones_put(tx, i, true);
    zone_tx_commit(tx, ZONE_READY, NULL);
    zoneset_reclaim(set, UINT64_MAX);
    return set;
}

void made_zones_questions(FILE *out, unsigned n_instances)
{
    for (unsigned k = 0; k < n_instances; k++) {
        struct made m = make((unsigned)(k * 7919ull % n_instances));
        fprintf(out, "%s A\n%s A\n%s PTR\n%s TXT\n", m.instance, m.container, m.reverse, m.instance);
    }
}

void made_zones_master(FILE *out, unsigned n_instances, unsigned zone)
{
    fprintf(out, "%s 1 SOA ns.dev.test. ns.dev.test. 1 86000 7200 1209600 600\n",
            zone ? "10.in-addr.arpa." : "dev.test.");
    fprintf(out, "%s 1 NS ns.dev.test.\n", zone ? "10.in-addr.arpa." : "dev.test.");
    for (unsigned i = 0; i < n_instances; i++) {
        struct made m = make(i);
        if (zone)
            fprintf(out, "%s 1 PTR %s\n", m.reverse, m.instance);
        else
            fprintf(out, "%s 1 A %s\n%s 1 A %s\n%s 1 A %s\n%s 1 TXT \"%s\"\n", m.instance, m.address,
                    m.container, m.address, m.component, m.address, m.instance, m.id);
    }
}

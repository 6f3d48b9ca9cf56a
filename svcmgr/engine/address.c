/**
 * Addresses of instances in one network: one bit an address. A name hashes to the place where the search begins, so an
 * instance that comes back after a stop finds its old address unless it was given away.
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "base/addr.h"
#include "base/str.h"
#include "engine/instance.h"
#include "engine/step.h"

static bool get_bit(const uint8_t *bits, uint32_t i)
{
    return bits[i / 8] >> (i % 8) & 1;
}

static void set_bit(uint8_t *bits, uint32_t i, bool value)
{
    uint8_t bit = (uint8_t)(1u << (i % 8));
    bits[i / 8] = value ? (uint8_t)(bits[i / 8] | bit) : (uint8_t)(bits[i / 8] & ~bit);
}

/** Number of an address in the network. @return false: it is none of it. */
static bool index_of(const struct addresses *net, const char *ip, uint32_t *i)
{
    struct addr a;
    uint32_t address;
    if (!ip || addr_read(ip, &a) || a.family != AF_INET)
        return false;
    memcpy(&address, a.bytes, sizeof address);
    address = ntohl(address);
    *i = address - net->base;
    return address >= net->base && *i < net->n;
}

/** Never given out: the first and last of each /24, and 127.0.0.0/24 where the machine's own names live. */
static bool is_reserved(uint32_t address)
{
    uint32_t last = address & 0xff;
    return last == 0 || last == 0xff || address >> 8 == 0x7f0000;
}

int addresses_init(struct addresses *net, const char *text, struct err_info *why)
{
    *net = (struct addresses){0};
    if (!text)
        return 0;
    mem_auto char *address = str_field(text, '/', 0);
    mem_auto char *length = str_field(text, '/', 1);
    struct addr a;
    int64_t bits;
    if (!length || addr_read(address, &a) || a.family != AF_INET || str_to_i64(length, 8, 30, &bits))
        return err_set(why, ERR_CONFIG, text, "%s is not an IPv4 network with a prefix length of 8 to 30",
                       text);
    uint32_t base;
    memcpy(&base, a.bytes, sizeof base);
    net->n = (uint32_t)1 << (32 - bits);
    net->base = ntohl(base) & ~(net->n - 1);
    net->used = mem_array(net->n / 8 + 1, 1);
    return 0;
}

void addresses_fini(struct addresses *net)
{
    free(net->used);
    free(net->avoided);
    *net = (struct addresses){0};
}

void addresses_copy(struct addresses *to, const struct addresses *from)
{
    size_t n_bytes = (from->n + 7) / 8;
    if (from->used)
        memcpy(to->used, from->used, n_bytes);
    if (from->avoided) {
        free(to->avoided);
        to->avoided = mem_alloc(n_bytes);
        memcpy(to->avoided, from->avoided, n_bytes);
    }
}

/* FNV-1a. */
uint32_t addresses_place(const char *name)
{
    uint32_t h = 2166136261u;
    for (; *name; name++)
        h = (h ^ (unsigned char)*name) * 16777619u;
    return h;
}

/** The first address from that of the name on which is free and not avoided. @return NULL: none is, then nothing is avoided any more. */
static char *take(struct addresses *net, const char *name)
{
    uint32_t first = net->n ? addresses_place(name) % net->n : 0;
    for (uint32_t k = 0; k < net->n; k++) {
        uint32_t i = (first + k) % net->n;
        uint32_t address = net->base + i;
        if (is_reserved(address) || get_bit(net->used, i) || (net->avoided && get_bit(net->avoided, i)))
            continue;
        set_bit(net->used, i, true);
        return mem_fmt("%u.%u.%u.%u", address >> 24, address >> 16 & 0xff, address >> 8 & 0xff,
                       address & 0xff);
    }
    free(net->avoided); /* The other programs may have ended. */
    net->avoided = NULL;
    return NULL;
}

bool address_take(struct engine *e, struct eng_instance *inst)
{
    if (e->addresses.n == 0 || inst->ip)
        return true;
    const struct eng_service *s = inst->component->service;
    mem_auto char *name = mem_fmt("%s/%s/%s", s->user, s->name, inst->name);
    inst->ip = take(&e->addresses, name);
    return inst->ip != NULL;
}

void addresses_mark(struct addresses *net, const char *ip, bool used)
{
    uint32_t i;
    if (index_of(net, ip, &i))
        set_bit(net->used, i, used);
}

void addresses_avoid(struct addresses *net, const char *ip)
{
    uint32_t i;
    if (!index_of(net, ip, &i))
        return;
    if (!net->avoided)
        net->avoided = mem_array(net->n / 8 + 1, 1);
    set_bit(net->used, i, false);
    set_bit(net->avoided, i, true);
}

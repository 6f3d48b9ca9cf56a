/* The image of the zones that a start reads: any octets, with a length and a sum that are right, so that more than those are looked at. What
 * is taken for an image is answered from. */
#include "fuzz.h"

#include <string.h>

#include "answer/query.h"
#include "base/mem.h"
#include "wire/rdata.h"
#include "zone/image.h"

enum { LEN_AT = 56, HEAD = 88, MOST_ASKED = 64, QUERY_HEAD = 12 };

static void on_release(void *arg, uint8_t *bytes, size_t len)
{
    (void)arg;
    (void)len;
    free(bytes);
}

static void ask(const struct zone_version *v, const uint8_t *owner, uint16_t type, bool is_tcp)
{
    static uint8_t out[65535];
    uint8_t msg[QUERY_HEAD + NAME_MAX_LEN + 4] = {0, 1, 0, 0, 0, 1};
    struct answer_options opts = {.version = "v"};
    struct answer a;
    size_t n = (size_t)name_len(owner, NAME_MAX_LEN);
    memcpy(msg + QUERY_HEAD, owner, n);
    wire_put16(msg + QUERY_HEAD + n, type);
    wire_put16(msg + QUERY_HEAD + n + 2, DNS_IN);
    answer_read(&a, msg, QUERY_HEAD + n + 4, is_tcp, v);
    for (unsigned step = 0; answer_fetch(&a, v, step); step++)
        ;
    FUZZ_HOLDS(answer_write(&a, v, &opts, out, sizeof out) > 0);
}

struct asking {
    const struct zone_version *v;
    unsigned n;
};

static int on_rr(void *owner, const struct zone_rr *rr)
{
    struct asking *a = owner;
    uint8_t below[NAME_MAX_LEN];
    ask(a->v, rr->owner, rr->type, a->n % 2);
    ask(a->v, rr->owner, DNS_ANY, true);
    ask(a->v, rr->owner, DNS_SRV, false);
    if (name_join("x", 1, rr->owner, below) > 0)
        ask(a->v, below, DNS_A, true);
    return ++a->n == MOST_ASKED;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t len = size & ~(size_t)7;
    if (len < HEAD + 8)
        return 0;
    uint8_t *bytes = mem_copy(data, len);
    uint64_t number = len;
    memcpy(bytes + LEN_AT, &number, sizeof number);
    number = zone_image_sum(bytes, len);
    memcpy(bytes + len - 8, &number, sizeof number);
    struct zone_image_memory memory = {.bytes = bytes, .len = len, .release = on_release};
    struct zone_image *image = zone_image_read(&memory);
    if (!image) {
        free(bytes);
        return 0;
    }
    struct asking asking = {zone_image_version(image), 0};
    struct zone_visitor visitor = {on_rr, &asking};
    for (unsigned i = 0; i < zone_version_n_zones(asking.v); i++) {
        zone_image_set_serial(image, i, 7);
        zone_dump(asking.v, i, &visitor);
    }
    zone_image_free(image);
    return 0;
}

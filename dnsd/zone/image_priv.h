/** Layout of an image: image.c writes and reads it, image_check.c checks it. For the files of this folder. Source: ours. */
#ifndef ZONE_IMAGE_PRIV_H
#define ZONE_IMAGE_PRIV_H

#include <stddef.h>

#include "zone/image.h"
#include "zone/shard.h"

#define IMAGE_MAGIC "bobbin zone image 2\n"
/** Its head ends before about.boot_ms. */
#define IMAGE_MAGIC_1 "bobbin zone image 1\n"
/** In the byte order of the machine that wrote it. */
#define IMAGE_ORDER 0x01020304u

struct image_head {
    char magic[24];
    uint32_t order, n_zones, n_shards, zones_len;
    uint64_t seed, n_nodes, len; /* len: of everything */
    struct zone_image_about about;
};
#define IMAGE_HEAD_1 offsetof(struct image_head, about.boot_ms)

struct image_zone {
    uint64_t n_nodes, n_rrs, n_cuts;
    uint32_t serial;
    uint8_t kind, apex_len, zero[2];
    uint8_t apex[]; /* padded to 8 */
};

static inline size_t pad8(size_t n)
{
    return (n + 7) & ~(size_t)7;
}

/** A shard in an image, and what it must agree with. */
struct image_shard {
    const struct zone_shard *shard;
    size_t size;                  /* octets available */
    const struct zone_version *v; /* with zones, seed and number of shards */
    uint32_t index;
};

/** Is the shard well-formed? @return the number of its nodes; 0: no. Thread: writer. Source: ours. */
uint64_t image_shard_check(const struct image_shard *s);

#endif

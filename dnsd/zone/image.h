/**
 * The image: a version as octets, which a start answers from while the records are still being read.
 *
 *     head 192 | zones: numbers 32, apex padded to 8 | sizes of the shards: u32 each, padded to 8 | shards, padded to 8 | sum 8
 *
 * Shards have their layout in memory (zone/shard.h) and the byte order of the machine: only the program that wrote an image reads
 * it, any other refuses it. It is untrusted all the same: every offset, length, name and record is checked before the image is
 * published, so that no content of it leads outside of it.
 *
 * The head of version 1 ends after n_records, at 88; it is still read.
 *
 * Pure. Thread: writer, but for zone_image_write.   Source: ours.
 */
#ifndef ZONE_IMAGE_H
#define ZONE_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include "zone/zone.h"

struct zone_image;

/** Description of an image, chosen by its writer. */
struct zone_image_about {
    uint64_t made_ms;   /* time of day at which its content was current */
    uint64_t likeness;  /* hash of everything but the registry that it was made from */
    uint64_t n_records; /* registry records in it */
    int64_t boot_ms;    /* the same time since the boot; 0 in version 1 */
    char boot[96];      /* that boot_ms counts in, ends with NUL; "" in version 1 */
};

/** Receives octets. */
struct zone_image_sink {
    int (*put)(void *arg, const void *bytes, size_t len); /* @return 0, or what zone_image_write ends with */
    void *arg;
};

/**
 * Write a version.
 *
 * @param v  stays until this returns                                            [borrowed]
 * @return 0; or what the sink ended with.   Thread: any, under the rules of zoneset_current.   Source: ours.
 */
int zone_image_write(const struct zone_version *v, const struct zone_image_about *about,
                     const struct zone_image_sink *sink);

/** Memory of an image. release is called by zone_image_free, on the writer's thread. */
struct zone_image_memory {
    uint8_t *bytes; /* aligned to 8 octets, may be written to */
    size_t len;
    void (*release)(void *arg, uint8_t *bytes, size_t len);
    void *arg;
};

/**
 * Read an image.
 *
 * @param take_memory  released with the image                                   [taken on success]
 * @return the image, zone_image_free releases it; NULL: it is damaged, or no image of this program's kind: the memory is the
 *         caller's.   Thread: writer.   Source: ours.
 */
struct zone_image *zone_image_read(const struct zone_image_memory *take_memory);
/** Release. NULL is fine. Thread: writer. Source: ours. */
void zone_image_free(struct zone_image *image);
/** Its description. @return borrowed. Thread: writer. Source: ours. */
const struct zone_image_about *zone_image_about(const struct zone_image *image);
/** Its version, to read. @return borrowed. Thread: writer. Source: ours. */
const struct zone_version *zone_image_version(const struct zone_image *image);
/** Set the serial of one of its zones, and of its SOA; before zoneset_use_image. Thread: writer. Source: ours. */
void zone_image_set_serial(struct zone_image *image, unsigned zone, uint32_t serial);

/**
 * Publish an image until the gate of the set permits a version. The set must have a gate.
 *
 * @param take_image  goes to the set                                            [taken]
 * @param flags       ZONE_* of it; those of newer versions follow
 * Thread: writer; no transaction is open.   Source: ours.
 */
void zoneset_use_image(struct zoneset *set, struct zone_image *take_image, unsigned flags);

/** Sum over all octets but its own, the last eight. @param len of the image; a multiple of 8. Thread: any. Source: FNV-1a over eight
 *  octets at a time: finds damage, not malice. */
uint64_t zone_image_sum(const uint8_t *bytes, size_t len);

#endif

/**
 * Names of records whose removal the guard holds: how many of the records that such records give have the name. A name that several
 * containers share is held until the last of those is replaced.
 *
 * Pure. Thread: owner.   Source: ours.
 */
#ifndef FOLLOW_HELD_H
#define FOLLOW_HELD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"

/** All zero: none. */
struct held_names {
    struct map by_owner; /* owner as lower-case text -> their number */
};

/** Release; usable again. Thread: owner. Source: ours. */
void held_fini(struct held_names *h);
/**
 * Count a DNS record of a held one, or no longer.
 *
 * @param owner  wire name, any case                                             [borrowed]
 * @param is_one_more  false: one that was counted
 * @return whether it is the first of its name, or was the last.   Thread: owner.   Source: ours.
 */
bool held_count(struct held_names *h, const uint8_t *owner, bool is_one_more);

#endif

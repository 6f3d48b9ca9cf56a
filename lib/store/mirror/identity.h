/**
 * The id under which readers of a mirror know its store: the first part of every revision.
 *
 *     adopt: the store's own id ─── or, of the same store, the id that readers of an earlier mirror have seen
 *     renew: the store's own id, zeroes up to 16 digits, 4 random digits
 *
 * It is renewed when the store goes back to an earlier state: the store gives numbers out again then, for other changes, and
 * readers must not take the two for one. Pure but for chance. Thread: owner.   Source: ours.
 */
#ifndef STORE_MIRROR_IDENTITY_H
#define STORE_MIRROR_IDENTITY_H

#include "store/mirror/mirror.h"

struct mirror_identity {
    char tree_id[STORE_REVISION_MAX];  /* the store's own id; "" before adopt */
    char store_id[STORE_REVISION_MAX]; /* the id that readers see */
    struct mirror_past past; /* of an earlier mirror, for the first adopt; tree_id is "" when there is none */
};

/**
 * The mirror has read a store: the first one, or another one than before.
 *
 * @param tree_id  the store's own id                                             [borrowed]
 * @return the newest revision number that readers of an earlier mirror have seen under the id that is now in store_id; 0:
 *         they have seen none. If the store is not there yet, it has gone back: renew.
 */
int64_t mirror_identity_adopt(struct mirror_identity *identity, const char *tree_id);
/** Take an id that no reader has seen last. */
void mirror_identity_renew(struct mirror_identity *identity);

#endif

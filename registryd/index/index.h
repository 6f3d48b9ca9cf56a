/**
 * Who has this yarn:id, this api, this user? Postings over the records of the mirror, kept up with each change.
 *
 *     key (kind, text) ──► postings: [(number, entry), (number, -), (number, entry) …]   ascending numbers
 *                                            │                 └ taken out, squeezed away when half are
 *                                            ▼
 *     mirror_node.user ──► entry ──► node, its keys
 *
 * A record gets the next number when it comes and when one of its keys changes, so postings only grow at their end and
 * a number is a place to continue from: paging by it misses nothing that stays.
 *
 * When the store becomes another one the postings so far are put aside and freed in slices: an index of a million records holds
 * the loop no longer than one of ten. For the same reason a kind's keys are spread over many maps, of which none grows large, and
 * a key with many postings is squeezed in slices: into a second array, while the first one serves.
 *
 * A record is read once, when it changes, and only by the strict rules. At the first read of the registry (and when the
 * store becomes another one) the postings are built in slices; until that is over index_ready says no.
 *
 * Costs some 300 to 500 bytes a record. Thread: owner.   Source: ours; Hadoop RegistryTypeUtils (address types).
 */
#ifndef INDEX_INDEX_H
#define INDEX_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "index/terms.h"
#include "run/loop.h"
#include "store/mirror/mirror.h"

struct index;

/** An index of m's records; a listener of m. */
struct index *index_new(struct run_loop *loop, struct mirror *m);
/** Free; before the mirror, after the last change it can tell. NULL is fine. */
void index_free(struct index *ix);
/** Every record of the mirror is in it. */
bool index_ready(const struct index *ix);
/** Changes with every building from the start: numbers of another epoch mean nothing. */
uint64_t index_epoch(const struct index *ix);
/** Records in it. */
size_t index_n_records(const struct index *ix);
/** Bytes of memory held, estimated; what an earlier building left and is not freed yet included. */
size_t index_n_bytes(const struct index *ix);

/** A record must have all terms that are not NULL; at least one is not. Borrowed. */
struct index_query {
    const char *terms[INDEX_N_KINDS];
};

/**
 * The next record of an answer. Looks at postings of the rarest term only.
 *
 * @param after       number to continue after: 0, or what the last call left                 [in,out]
 * @param n_visits    postings it may still look at; what it looked at is subtracted           [in,out]
 * @return node; or NULL: no more, or *n_visits is 0: ask again.
 */
const struct mirror_node *index_next(const struct index *ix, const struct index_query *q, uint64_t *after,
                                     size_t *n_visits);

/** An application that records belong to. */
struct index_app {
    const char *id;  /* "application_…"; valid until the next change */
    uint64_t serial; /* grows with each that appears, or gets records of attempts or containers anew */
};
/**
 * The application that comes next by its serial number.
 *
 * @param last  one that this gave before, its id copied by the caller; NULL: from the first one on    [borrowed]
 * @return false: none. O(1) where `last` still has that serial number, else one step for each one after it.
 */
bool index_app_after(const struct index *ix, const struct index_app *last, struct index_app *out);
/** Whether any record belongs to this application. */
bool index_has_app(const struct index *ix, const char *id);
/** What yarn:persistence the record of an indexed node has. INDEX_OTHER for one without a record. */
enum index_persistence index_persistence(const struct mirror_node *node);
/** yarn:id of the record of an indexed node, or NULL. Valid until the next change. */
const char *index_id(const struct mirror_node *node);

#endif

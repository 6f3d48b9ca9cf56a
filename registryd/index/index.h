/**
 * Who has this yarn:id, this api, this user? An index over the records of the mirror, kept up with each change.
 *
 *     mirror: synced ──► postings cleared, then built by a task          mirror_node.user ──► posting_entry
 *             change ──► the entry of the node is added, replaced or removed
 *
 * A record is read once, when it changes, and only by the strict rules. While the index is built, at the first read of the registry
 * and when the store becomes another one, index_ready is false; changes count already. A small registry is built at once, inside
 * `synced`. postings.h says how the terms are kept.
 *
 * Costs some 300 to 500 bytes a record. Thread: owner.   Source: ours; Hadoop RegistryTypeUtils (address types).
 */
#ifndef INDEX_INDEX_H
#define INDEX_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "index/postings.h"
#include "index/terms.h"
#include "run/loop.h"
#include "store/mirror/mirror.h"

struct index;

/** An index of m's records; a listener of m. */
struct index *index_new(struct run_loop *loop, struct mirror *m);
/** Free; before the mirror, after its last change. NULL is fine. */
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

/** The next record of an answer: the node of postings_next. */
const struct mirror_node *index_next(const struct index *ix, const struct index_query *q, uint64_t *after,
                                     size_t *n_visits);

/** As postings_app_after, of the applications of all records. */
bool index_app_after(const struct index *ix, const struct index_app *last, struct index_app *out);
/** Whether any record belongs to this application. */
bool index_has_app(const struct index *ix, const char *id);
/** What yarn:persistence the record of an indexed node has. INDEX_OTHER for one without a record. */
enum index_persistence index_persistence(const struct mirror_node *node);
/** yarn:id of the record of an indexed node, or NULL. Valid until the next change. */
const char *index_id(const struct mirror_node *node);

#endif

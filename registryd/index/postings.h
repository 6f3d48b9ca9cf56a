/**
 * Postings: which records have this term? A record is an entry; its terms are keys, each with the entries that have it.
 *
 *     key (kind, text) ──► postings: [(number, entry), (number, -), (number, entry) …]   ascending numbers
 *                                            │                 └ taken out, squeezed away when half are
 *                                            ▼
 *                                          entry ──► node, its keys
 *
 * An entry gets the next number when it is added, so postings only grow at their end and a number is a place to continue from:
 * paging by it misses nothing that stays.
 *
 * No turn of the loop is long however many records there are: postings_clear puts everything aside and a task frees it; a key with
 * many postings is squeezed by a task, into a second array while the first one serves; a kind's keys are spread over many maps, of
 * which none grows large.
 *
 * Applications (keys of INDEX_APP) are also listed in the order in which they appeared or got records of attempts or containers.
 *
 * Thread: owner.   Source: ours.
 */
#ifndef INDEX_POSTINGS_H
#define INDEX_POSTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "index/terms.h"
#include "run/loop.h"

struct mirror_node;
struct postings;
struct posting_key;

/** A record. Nobody but postings.c changes it; it lives until postings_remove or postings_clear. */
struct posting_entry {
    uint64_t number;
    const struct mirror_node *node; /* as it was added; not read here */
    enum index_persistence persistence;
    uint32_t n_keys;
    struct posting_key *keys[];
};

/** Empty postings. @param loop  frees and squeezes in steps [borrowed, lives on]. Free with postings_free. */
struct postings *postings_new(struct run_loop *loop);
/** Free with all entries, at once. NULL is fine. */
void postings_free(struct postings *p);
/**
 * Add a record.
 *
 * @param node   what postings_next will give for it                                [borrowed, lives as long as the entry]
 * @param terms  of the record, at least one                                        [borrowed]
 * @return the entry, with the highest number.
 */
struct posting_entry *postings_add(struct postings *p, const struct mirror_node *node,
                                   const struct index_terms *terms);
/** Take a record out; the entry is freed. @param e  of postings_add [taken] */
void postings_remove(struct postings *p, struct posting_entry *e);
/** Forget all entries: none is found from now on, and their memory is freed by and by. Numbers go on. */
void postings_clear(struct postings *p);
/** Whether an entry has these terms and this persistence, no others. */
bool posting_entry_fits(const struct posting_entry *e, const struct index_terms *terms);
/** Its first term of a kind, or NULL. Valid until the next change. */
const char *posting_entry_term(const struct posting_entry *e, enum index_kind kind);

/** Entries in it. */
size_t postings_n_entries(const struct postings *p);
/** Bytes of memory held, estimated; what postings_clear put aside and is not freed yet included. */
size_t postings_n_bytes(const struct postings *p);

/**
 * The next entry that has all terms. Looks at postings of the rarest term only.
 *
 * @param terms     a text a kind, NULL: any; at least one is not NULL              [borrowed]
 * @param after     number to continue after: 0, or what the last call left         [in,out]
 * @param n_visits  postings it may still look at; what it looked at is subtracted  [in,out]
 * @return entry; or NULL: no more, or *n_visits is 0: ask again.
 */
const struct posting_entry *postings_next(const struct postings *p, const char *const terms[INDEX_N_KINDS],
                                          uint64_t *after, size_t *n_visits);
/** Whether any entry has this term. */
bool postings_has(const struct postings *p, enum index_kind kind, const char *text);

/** An application that records belong to. */
struct index_app {
    const char *id;  /* "application_…"; valid until the next change */
    uint64_t serial; /* grows with each that appears, or gets records of attempts or containers anew */
};
/**
 * The application that comes next by its serial number.
 *
 * @param last  one that this gave before, its id copied by the caller; NULL: from the first one on    [borrowed]
 * @param out   unchanged when there is none                                                           [out]
 * @return false: none. O(1) where `last` still has that serial number, else one step for each one after it.
 */
bool postings_app_after(const struct postings *p, const struct index_app *last, struct index_app *out);

#endif

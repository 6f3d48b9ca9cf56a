/**
 * The cluster timestamps that the followed resource managers have issued ids with: the first number of "application_T_n", the
 * time when an RM became active. What carries another number was issued by somebody else, and an RM that does not know it says
 * nothing by that.
 *
 *     /info of an ACTIVE RM ─┐
 *     ids that it lists ─────┴─► set, by number ──► file "registryd/rm-issued", so that ids of before the RM's or our own
 *                                                   restart are still known as its own
 *
 * The file names the RMs whose word made it: other RMs begin with an empty set, since they are another cluster. It is a file of this
 * registryd and not a node of the registry, so nobody who may write to the registry can make us purge, and readers of Hadoop's
 * see no node of ours. One that is lost costs purges, never records: the RM's own list fills the set again.
 * Thread: owner; the file is written on a pool thread.   Source: ours; YARN ApplicationId.
 */
#ifndef CLEANUP_RM_ISSUED_H
#define CLEANUP_RM_ISSUED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "run/loop.h"

/** Most timestamps that are kept; the oldest go first. */
#define RM_ISSUED_MAX 4096

struct rm_issued;

/**
 * Open the set that these RMs have made; it is empty when there is no such file. Logs a file that cannot be read, which is
 * replaced by the next rm_issued_save.
 *
 * @param dir   below which "registryd/rm-issued" is kept; directories that are missing are made    [borrowed]
 * @param urls  of the RMs, in any order; NULL-terminated                                          [borrowed]
 */
struct rm_issued *rm_issued_open(struct run_loop *loop, const char *dir, const char *const *urls);
/** One of these RMs has issued ids with this number. */
bool rm_issued_has(const struct rm_issued *set, int64_t timestamp);
/** Put one in; a negative one is none. @return true: it was not there. */
bool rm_issued_add(struct rm_issued *set, int64_t timestamp);
/** How many there are. */
size_t rm_issued_n(const struct rm_issued *set);
/** Write the file if something was added since it was written last. A failure is logged once, and the write tried again with
 *  the next call. */
void rm_issued_save(struct rm_issued *set);
/** Free; what was not written yet is, before run_loop_free returns. NULL is fine. */
void rm_issued_free(struct rm_issued *set);

#endif

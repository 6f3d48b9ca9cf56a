/**
 * The durable state of services: documents by key in a store tree (lib/store). Key "services/alice/web" is the node of
 * that path, its data the document; "services/alice/web/hello-0" is a document below it.
 *
 * Beside the documents stands the writer's node "/writer": who writes, and the number of the last change. Every transaction
 * replaces it at the version that is known, together with documents at the versions that were read. So:
 *
 *   - a process that has taken the node over makes all later writes of the former writer fail: FENCED;
 *   - the outcome of a write whose answer was lost is found by writing the node again at the version before: when that
 *     succeeds the lost write did not happen and never will; when it does not, the number in the node decides.
 *
 * Several processes may open one state; one is its writer. The writer's node names it and its place, and is renewed at least
 * each third of a lease. A standby that finds it unchanged for a whole lease, or finds that its process has ended, takes the
 * node over; the former writer can never write again, however late it notices. A writer whose lease is over knows so by its
 * own clock (state_is_held) before another may take the node. The embedded store is locked by its process: the process that
 * has it open is the writer, without a lease.
 *
 * Containers of a local cluster belong to a host and a directory. An svcmgr of another place does not take their state over, unless an option names that place.
 *
 * Thread: owner for everything.   Source: design 5.
 */
#ifndef STATE_STATE_H
#define STATE_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bobbin/error.h"
#include "run/loop.h"

struct state;

/** A document to write; bytes NULL: delete it. */
struct state_doc {
    const char *key;
    const char *bytes;
    size_t len;
};

/** What became of a write. */
enum state_outcome {
    STATE_WRITTEN, /* it is durable                                                                  */
    STATE_REFUSED, /* nothing was written, and the same never can be: too large, or no path          */
    STATE_FAILED,  /* nothing was written; it may work later: no room, no connection, no permission     */
    STATE_UNKNOWN, /* it may have been written or not, or still be: state_find_out, before anything else */
    STATE_FENCED   /* another process has changed the state: this one must not write any more         */
};

/** Completion of a write: its outcome; why is filled unless it is written. [borrowed] */
#define STATE_DONE void (*done)(void *arg, enum state_outcome outcome, const struct err_info *why)

/** Who writes the state, or would. */
struct state_holder {
    const char *url;   /* where its API answers */
    const char *place; /* "host:directory" of its containers */
    int64_t lease_ms;
};

/** Open by store URL. @return 0; as store_open: ERR_WRONGSTATE when another process has the embedded store. */
int state_open(struct run_loop *loop, const char *url, struct state **out, struct err_info *why);
/** Who has an embedded store that state_open found in use, as far as it has said; members are "" when not known.
 *  @param url  that of the store  @return free() both members */
struct state_holder state_holder_of(const char *url);
/**
 * Become the writer. Once, before state_load.
 *
 * @param self         who we are; texts are copied                                     [borrowed]
 * @param take_from    place whose containers are given up: its state is taken, too, when no writer holds it; NULL: none [copied]
 * @param standing_by  another process is the writer; called at each look that finds one. refused: why
 *                     it will not be taken from there even when its lease is over; NULL: it will   [borrowed]
 * @param claimed      we are the writer; err: 0, or as store_get and store_create with *why filled [borrowed]
 */
void state_claim(struct state *s, const struct state_holder *self, const char *take_from,
                 void (*standing_by)(void *arg, const struct state_holder *holder, const char *refused),
                 void (*claimed)(void *arg, int err, const struct err_info *why), void *arg);
/** We are the only writer. Else write, which finds out. */
bool state_is_held(const struct state *s);
/**
 * Read all documents: one(…) for each, parents first, then done. Once, after state_claim, before any write.
 *
 * @param done  err: 0, or as store_get with *why filled                 [borrowed]
 */
void state_load(struct state *s, void (*one)(void *arg, const char *key, const char *bytes, size_t len),
                void (*done)(void *arg, int err, const struct err_info *why), void *arg);
/**
 * Write documents, all or nothing; one write at a time.
 *
 * @param docs  n documents of different keys, parents first; with a deleted one goes all that is below it, each by its
 *              own key; n 0: only the writer's node, to see whether the store takes writes    [borrowed until done]
 * @param done  later
 */
void state_write(struct state *s, const struct state_doc *docs, size_t n, STATE_DONE, void *arg);
/** After STATE_UNKNOWN: what became of that write. done: WRITTEN, FAILED (it did not happen and never will), UNKNOWN still,
 *  or FENCED. */
void state_find_out(struct state *s, STATE_DONE, void *arg);
/** Finish what runs, release everything, then closed(arg). */
void state_close(struct state *s, void (*closed)(void *arg), void *arg);

#endif

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
 * Each service has an attempt node, "services/alice/web/attempt". A transaction with documents of what the service is, or of what is
 * below, checks that this node is as it was read; the node is made and goes with the service. Whoever runs one service in a
 * process of its own (state_open_service) has that node for its writer's node and takes it from lower attempts: the earlier
 * attempt, or who ran the service before, can write nothing of the service any more.
 *
 *     definitions/<kind>/<user>/<name>     what is wanted: svcmgr always
 *     <kind>/<user>/<name> and below       what is: svcmgr until the application was submitted and after it has ended (state_take_back),
 *                                          its attempts in between: the service is away; a write of svcmgr is then FENCED
 *     <kind>/<user>/<name>/clock           of the attempts: engine time, which svcmgr does not read
 *
 * svcmgr sees what is away by state_follow, and an attempt what is wanted.
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

struct claims;
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

/**
 * Open by store URL.
 *
 * @param account  "id:password" by which we authenticate to ZooKeeper: all nodes that we make are ours alone; NULL: anonymous, and
 *                 they are everybody's; without a meaning in the embedded store                [borrowed]
 * @return 0; ERR_IO: account is not of that form; as store_open: ERR_WRONGSTATE when another process has the embedded store. */
int state_open(struct run_loop *loop, const char *url, const char *account, struct state **out,
               struct err_info *why);
/** One service, for the process that runs it. */
struct state_scope {
    const char *definition; /* key of what is wanted of it: read only */
    const char *service;    /* key of what it is: this document and all below are ours */
    int64_t attempt;        /* number of our attempt, > 0: we lose against higher ones */
    const char *account;    /* as in state_open; its digest id was admitted: state_admit. NULL: anonymous */
    const char *manager;    /* digest id of svcmgr, whose the nodes stay; with account */
    /* Whether the document of the service, `len` bytes at `bytes`, was written for our application: asked by state_claim, which
     * waits for it. NULL: it does not wait [kept until state_close] */
    bool (*is_ours)(void *arg, const char *bytes, size_t len);
    void *is_ours_arg;
};
/** Number of an attempt: of a later application each is higher. Negative numbers count as 0, an attempt beyond 2^20 - 1 as that. Thread: any. */
int64_t state_attempt(int32_t incarnation, int32_t attempt);
/**
 * Open the state for one service only: state_claim takes its attempt node (claimed: ERR_WRONGSTATE when a higher attempt has it, or
 * svcmgr has taken it back from this one, ERR_NOTFOUND when there is no such service, ERR_TIMEOUT when is_ours says no for 60 s in
 * which ZooKeeper was there), state_load reads its documents, state_write writes them. There is no lease.
 *
 * CLOCK_KEY (clock.h) is that of the service in state_write. state_load gives out that of svcmgr, which may be some seconds old, and
 * then, if an attempt has written one, that of the service, both with this key. Any other key that is not the service's nor below
 * is a BUG in state_write.
 *
 * @param scope  copied                                                            [borrowed]
 * @return 0; as state_open.
 */
int state_open_service(struct run_loop *loop, const char *url, const struct state_scope *scope,
                       struct state **out, struct err_info *why);
/**
 * Let another account run a service: read what is wanted of it and the clock, write what it is and all below, and nothing else of the
 * state. The clock is readable for anyone. Before
 * each start of the service: its attempts share the account, and that of the start before loses what is there; nodes that others have
 * made since we read the service (state_load, state_take_back, or state_follow) keep their ACL. Not while anything else is under way; the state was opened with an account.
 *
 * @param scope   definition and service                                           [borrowed]
 * @param runner  digest id of the account (reg_digest_id)                         [borrowed]
 * @param done    err: 0; or as store_set_acl with *why filled                     [borrowed]
 */
void state_admit(struct state *s, const struct state_scope *scope, const char *runner,
                 void (*done)(void *arg, int err, const struct err_info *why), void *arg);
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
 * Read all documents: one(…) for each, parents first and siblings in the order of their names, then done. Once, after state_claim, before any write.
 *
 * @param done  err: 0, or as store_get with *why filled                 [borrowed]
 */
void state_load(struct state *s, void (*one)(void *arg, const char *key, const char *bytes, size_t len),
                void (*done)(void *arg, int err, const struct err_info *why), void *arg);
/**
 * Write documents, all or nothing; one write at a time.
 *
 * @param docs  n documents of different keys, parents first; with a deleted one goes all that is below it, each by its
 *              own key, a service with its attempt node and its clock; n 0: only the writer's node, to see whether the store takes writes    [borrowed until done]
 * @param done  later
 */
void state_write(struct state *s, const struct state_doc *docs, size_t n, STATE_DONE, void *arg);
/** After STATE_UNKNOWN: what became of that write. done: WRITTEN, FAILED (it did not happen and never will), UNKNOWN still,
 *  or FENCED. */
void state_find_out(struct state *s, STATE_DONE, void *arg);
/** A claim, load, write, state_find_out, state_admit or state_take_back is under way: none of them may be called. */
bool state_is_busy(const struct state *s);
/** What others write. All members are called later, on the owner's thread, until state_close. */
struct state_follow_ops {
    /* Others run this service, "services/alice/web", now. Its answer may change at any time between our writes of that service;
     * not called in a scope */
    bool (*is_away)(void *arg, const char *service_key);
    /* A document has changed; bytes NULL: it is gone. Parents come before what is made below them, and go after it [borrowed] */
    void (*changed)(void *arg, const char *key, const char *bytes, size_t len);
    /* After the changes of a batch, and when all was read: at first, and after each loss */
    void (*settled)(void *arg);
    /* The store cannot be followed, why; NULL: it is again, and what changed meanwhile was reported, deleted documents, too */
    void (*lost)(void *arg, const struct err_info *why);
};
/**
 * Follow what others write, once, after state_load has ended: documents of services that are away, not attempt nodes and clocks; in a
 * scope the definition only. Only what differs from what was loaded or written here is reported: never an own write. A change
 * of a service that is not away is reported if the service is away soon after. A session of its own, in a scope two.
 *
 * @param ops  lives until state_close                                             [borrowed]
 * @return 0; ERR_UNSUPPORTED: the embedded store, nothing is called; as store_open.
 */
int state_follow(struct state *s, const struct state_follow_ops *ops, void *arg, struct err_info *why);
/**
 * Take a service back from its attempts, which have ended or should have: none up to this number, nor one that has the service now,
 * writes anything of it any more. Then read it: one(…) for each document, parents first, as state_load. Afterwards its documents can
 * be written. Waits while it is unknown whether the attempt node was taken. Between writes only: state_is_busy is a BUG.
 *
 * @param service_key  "services/alice/web"                                        [borrowed]
 * @param attempt      that of the application that has ended (state_attempt)
 * @param done  err: 0; ERR_CONFLICT: another process writes the state, this one must not any more (or attempts kept taking the service);
 *              ERR_WRONGSTATE: a later attempt has taken it since; else as store_get and store_multi: it may work later, and until
 *              then a write of the service may be FENCED. *why filled. Not called when state_close comes while it waits. [borrowed]
 */
void state_take_back(struct state *s, const char *service_key, int64_t attempt,
                     void (*one)(void *arg, const char *key, const char *bytes, size_t len),
                     void (*done)(void *arg, int err, const struct err_info *why), void *arg);
/** The writes that the next svcmgr of this state will know, too, for http_server_def.repeats.
 *  @return borrowed, until state_close; NULL: the store cannot hold them. */
struct claims *state_repeats(struct state *s);
/** Finish what runs, release everything, then closed(arg). */
void state_close(struct state *s, void (*closed)(void *arg), void *arg);

#endif

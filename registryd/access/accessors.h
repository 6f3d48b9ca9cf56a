/**
 * Sessions to ZooKeeper that are authenticated as the holder of a write accessor and as nobody else: for nodes whose ACL names
 * the accessor and not registryd, because another program made them. What such a session may do ZooKeeper decides.
 *
 *     accessors_take ──► session of this id:password: the one there is, or a new one ──► accessors_give ──idle──► closed
 *
 * Their number is bounded: when all are there, the one that has been idle longest makes room; when all are in use, a taker
 * is refused. Thread: owner.   Source: ours.
 */
#ifndef ACCESS_ACCESSORS_H
#define ACCESS_ACCESSORS_H

#include "registry/ops_store.h"
#include "run/loop.h"
#include "store/store.h"

struct accessors;
struct accessor_session;

struct accessors_def {
    struct run_loop *loop;
    const char *url;             /* of the store [copied] */
    struct store_options store;  /* its numbers; whom to authenticate as is left out */
    enum reg_names names;        /* what a write may create */
    const struct store_acl *acl; /* of every node made [borrowed, lives on] */
    const char *realm;           /* of the users of homes; NULL: none [borrowed, lives on] */
    size_t n_max;                /* sessions at once; 0: none */
    int64_t idle_ms;             /* one that nobody uses for so long is closed */
};

/** @param def copied where nothing else is said. End with accessors_close. */
struct accessors *accessors_new(const struct accessors_def *def);
/** Close all sessions (what runs in them completes, at worst with ERR_CANCELLED), free, then call closed(arg). */
void accessors_close(struct accessors *a, void (*closed)(void *arg), void *arg);
/** Sessions that are open. */
size_t accessors_n_sessions(const struct accessors *a);

/**
 * The session of an accessor, to be given back with accessors_give.
 *
 * @param a     NULL: accessors_close is over
 * @param pair  "id:password"                                                     [borrowed]
 * @param out   borrowed until it is given back                                   [out]
 * @return 0; *why says what to change: ERR_UNAVAILABLE: all are in use; ERR_PERMISSION: there are to be none;
 *         ERR_CANCELLED: accessors_close was called, or is over.
 */
int accessors_take(struct accessors *a, const char *pair, struct accessor_session **out,
                   struct err_info *why);
/** Nothing of the taker's is under way in it any more. NULL is fine. */
void accessors_give(struct accessor_session *s);
/** The operations in this session. Borrowed. */
struct reg_store *accessors_ops(const struct accessor_session *s);

#endif

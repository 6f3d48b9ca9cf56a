/**
 * The reads that following a tree has to do: a queue in strict order, of which a bounded number is under way.
 *
 *     zkreads_add ─────────► queue ─────┬─zkreads_pump──► under way (at most ZKREADS_WINDOW) ──reply──► done
 *     zkreads_add_listing ─► listings ──┘  (a name at a time, whenever the queue is empty)
 *
 * A listing is the answer of getChildren2, stored as bytes: a directory of a million children does not become a million reads at once.
 * Reads of a path can be voided: queued ones are dropped, the replies of sent ones are ignored.
 * Thread: owner for everything.   Source: ours.
 */
#ifndef STORE_ZK_READS_H
#define STORE_ZK_READS_H

#include "base/map.h"
#include "base/obj.h"
#include "store/zk/session.h"

/** Reads under way at once. */
#define ZKREADS_WINDOW 1000

enum zkread_kind {
    ZKREAD_WATCH,    /* set the watch on the root */
    ZKREAD_DATA,     /* data and stat */
    ZKREAD_STAT,     /* stat only */
    ZKREAD_HIDDEN,   /* stat only, of a node whose data we may not read */
    ZKREAD_CHILDREN, /* names and stat */
    ZKREAD_MARK,     /* stat of the root, for the zxid in the reply's header */
};

struct zkread {
    struct obj obj;
    TAILQ_ENTRY(zkread) link;
    struct zkread *next_same; /* other reads of this path */
    struct zkreads *owner;
    enum zkread_kind kind;
    char *path; /* within the store: "/", "/a/b" */
    bool is_of_full_read, is_sent, is_void;
    struct zks_request request;
};

struct zkreads_listing {
    TAILQ_ENTRY(zkreads_listing) link;
    char *path;
    char *bytes; /* the names, as in the reply */
    struct zkw_in names;
    int32_t n_left;
};

TAILQ_HEAD(zkread_list, zkread);
TAILQ_HEAD(zkreads_listing_list, zkreads_listing);

struct zkreads {
    struct zks *session;
    const char *root; /* ZooKeeper's path of the tree: "" or "/a/b" */
    struct zkread_list queue;
    struct zkreads_listing_list listings;
    struct map by_path; /* path -> first of its reads */
    size_t n_queued, n_sent, n_of_full_read;
    /** A reply to a read that is not void; the read is freed after. Never called with ZKW_CONNECTION_LOSS. */
    void (*done)(void *arg, const struct zkread *read, const struct zks_reply *reply);
    void *arg;
};

/** Ready for use; session, root, done and arg are the caller's to set. */
void zkreads_init(struct zkreads *reads);
/** Release everything. No request may be under way. */
void zkreads_fini(struct zkreads *reads);
/** Drop all that is queued and make void all that is under way. */
void zkreads_clear(struct zkreads *reads);
/** Queue a read at the end. is_of_full_read: zkreads_is_reading counts it. path: within the store.   [copied] */
void zkreads_add(struct zkreads *reads, enum zkread_kind kind, const char *path, bool is_of_full_read);
/** Queue a data read for each of n names, when nothing else is queued. names: the strings of a reply.   [copied] */
void zkreads_add_listing(struct zkreads *reads, const char *path, struct zkw_in names, int32_t n);
/** What is known of this path changes now: no read and no listing of it counts any more. */
void zkreads_void(struct zkreads *reads, const char *path);
/** A read of this kind is queued for the path and not sent. */
bool zkreads_is_queued(const struct zkreads *reads, const char *path, enum zkread_kind kind);
/** A data read of the path is queued or under way. */
bool zkreads_awaits_data(const struct zkreads *reads, const char *path);
/** Parts of a full read are queued, listed or under way. */
bool zkreads_is_reading(const struct zkreads *reads);
/** Nothing is queued, listed or under way. */
bool zkreads_is_idle(const struct zkreads *reads);
/** Send what the window has room for; nothing when the session is down. */
void zkreads_pump(struct zkreads *reads);

#endif

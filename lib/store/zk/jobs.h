/**
 * The reads that following a tree has to do: a queue in strict order, of which a bounded number is under way.
 *
 *     zkj_add ──► queue ──zkj_pump──► under way (at most ZKJ_WINDOW) ──reply──► done
 *     zkj_add_listing ──► listings ──┘  (a name at a time, whenever the queue is empty)
 *
 * A listing is the answer of getChildren2, kept as bytes: a directory of a million children makes no million jobs at once.
 * Jobs of a path can be declared void: what is queued is dropped, what is under way is not reported.
 * Thread: owner for everything.   Source: ours.
 */
#ifndef STORE_ZK_JOBS_H
#define STORE_ZK_JOBS_H

#include "base/map.h"
#include "base/obj.h"
#include "store/zk/session.h"

/** Reads under way at once. */
#define ZKJ_WINDOW 1000

enum zkj_kind {
    ZKJ_WATCH,    /* set the watch on the root */
    ZKJ_DATA,     /* data and stat */
    ZKJ_STAT,     /* stat only */
    ZKJ_HIDDEN,   /* stat only, of a node whose data we may not read */
    ZKJ_CHILDREN, /* names and stat */
    ZKJ_MARK,     /* stat of the root, for the zxid in the reply's header */
};

struct zkj_job {
    struct obj obj;
    TAILQ_ENTRY(zkj_job) link;
    struct zkj_job *next_same; /* other jobs of this path */
    struct zkj *jobs;
    enum zkj_kind kind;
    char *path; /* within the store: "/", "/a/b" */
    bool is_of_full_read, is_sent, is_void;
    struct zks_request request;
};

struct zkj_listing {
    TAILQ_ENTRY(zkj_listing) link;
    char *path;
    char *bytes; /* the names, as in the reply */
    struct zkw_in names;
    int32_t n_left;
};

TAILQ_HEAD(zkj_job_list, zkj_job);
TAILQ_HEAD(zkj_listing_list, zkj_listing);

struct zkj {
    struct zks *session;
    const char *root; /* ZooKeeper's path of the tree: "" or "/a/b" */
    struct zkj_job_list queue;
    struct zkj_listing_list listings;
    struct map by_path; /* path -> first of its jobs */
    size_t n_queued, n_sent, n_of_full_read;
    /** A reply to a job that is not void; the job is freed after. Never called with ZKW_CONNECTION_LOSS. */
    void (*done)(void *arg, const struct zkj_job *job, const struct zks_reply *reply);
    void *arg;
};

/** Ready for use; session, root, done and arg are the caller's to set. */
void zkj_init(struct zkj *jobs);
/** Release everything. No request may be under way. */
void zkj_fini(struct zkj *jobs);
/** Drop all that is queued and make void all that is under way. */
void zkj_clear(struct zkj *jobs);
/** Queue a job at the end. is_of_full_read: zkj_is_reading counts it. path: within the store.   [copied] */
void zkj_add(struct zkj *jobs, enum zkj_kind kind, const char *path, bool is_of_full_read);
/** Queue a data job for each of n names, when nothing else is queued. names: the strings of a reply.   [copied] */
void zkj_add_listing(struct zkj *jobs, const char *path, struct zkw_in names, int32_t n);
/** What is known of this path changes now: no job and no listing of it counts any more. */
void zkj_void(struct zkj *jobs, const char *path);
/** A job of this kind is queued for the path and not sent. */
bool zkj_is_queued(const struct zkj *jobs, const char *path, enum zkj_kind kind);
/** A data job of the path is queued or under way. */
bool zkj_awaits_data(const struct zkj *jobs, const char *path);
/** Parts of a full read are queued, listed or under way. */
bool zkj_is_reading(const struct zkj *jobs);
/** Nothing is queued, listed or under way. */
bool zkj_is_idle(const struct zkj *jobs);
/** Send what the window has room for; nothing when the session is down. */
void zkj_pump(struct zkj *jobs);

#endif

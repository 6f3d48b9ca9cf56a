/**
 * A small tree store with two backends: ZooKeeper (`zk://h1:2181,h2:2181/registry`) and LMDB (`file:DIR`).
 *
 * Nodes are persistent, have data, an ACL and children at once, and carry what ZooKeeper keeps about a node. Paths are
 * relative to the store's root: "/" is the root, "/users/alice" a node below; ZooKeeper's path rules hold, an element
 * is at most 255 bytes. Every call is asynchronous: it returns at once, and its completion runs later on the owner
 * loop, exactly once, also when the store is being closed (ERR_CANCELLED). Completions run in the order of the store's
 * replies, which for writes is the order of the calls.
 *
 * Thread: owner for everything.   Source: ZooKeeper's data model.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bobbin/error.h"
#include "run/loop.h"

struct store;

/**
 * Root of a second tree beside the store's own, for what belongs to nodes without being one: "/\002", "/\002/x". It takes part in
 * every call and in the same transactions, but nobody who follows the store or lists its nodes sees it, and on LMDB its changes
 * have no revision number of their own: a node there has that of the change before it in the multi. On ZooKeeper it is the node
 * beside the store's root, ROOT-bobbin; a store whose root is ZooKeeper's own has none (store_has_aside).
 */
#define STORE_ASIDE "/\002"

struct store_stat {
    int64_t czxid, mzxid, pzxid; /* revision numbers: creation, last data change, last change of children */
    int64_t ctime_ms, mtime_ms;  /* ms since the epoch */
    int32_t version, cversion;   /* data changes, child changes */
    int32_t n_children;          /* direct children */
    uint32_t data_len;           /* bytes */
    bool ephemeral; /* goes with a session; other clients of ZooKeeper make them, this one never */
};

enum {
    STORE_READ = 1,
    STORE_WRITE = 2,
    STORE_CREATE = 4,
    STORE_DELETE = 8,
    STORE_ADMIN = 16,
    STORE_ALL = 31
};

struct store_acl_entry {
    uint32_t perms; /* STORE_READ | … */
    const char *scheme, *id;
};

/** An ACL list; NULL where one is asked for means world:anyone with all permissions. */
struct store_acl {
    const struct store_acl_entry *entries;
    size_t n_entries;
};

/** Result of a call; members that the call does not fill are zero. Borrowed, valid inside the completion. */
struct store_result {
    struct store_stat stat; /* get, stat, children, create, set */
    const char *data;       /* get; NUL-terminated beyond data_len */
    size_t data_len;
    const char *const *children; /* children: bare names in byte order */
    size_t n_children;
    const struct store_acl *acl;    /* get_acl */
    int64_t zxid;                   /* of a write: the change's revision number (see below) */
    size_t failed_op;               /* multi: index of the op that failed */
    const struct store_stat *stats; /* only inside the ZooKeeper backend: store/zk/condition.h */
    struct err_info why;            /* filled when err != 0; where = the path */
};

/**
 * Completion. err: 0, or ERR_NOTFOUND (node; for create its parent), ERR_EXISTS, ERR_NOTEMPTY, ERR_CONFLICT (version),
 * ERR_PERMISSION, ERR_AUTH, ERR_EPHEMERAL, ERR_PATH, ERR_TOOBIG, ERR_NOSPC (disk), ERR_UNAVAILABLE (no connection within
 * the retries; nothing was written), ERR_UNKNOWN_OUTCOME (of a write: the connection broke before the reply; the write
 * may have been done or, when no connection came back within the retries, may still be done), ERR_IO,
 * ERR_CANCELLED (nothing was written).
 * A write is made at most once. A set of any version whose reply was lost is 0 when its data are found in the node.
 * zxid of a write: of create and set the mzxid; else, on ZooKeeper, the last one that the server had applied when it
 * replied: that of the change or, when other clients wrote at the same time, one shortly after it.
 */
#define STORE_DONE void (*done)(void *arg, int err, const struct store_result *r)

/** Authentication to ZooKeeper by Kerberos. NULL or "" stands for the default; _HOST is replaced by the host's name. */
struct store_kerberos {
    const char *principal;   /* our own, name[/host]@REALM; default: the keytab's first, or the cache's */
    const char *keytab;      /* file with its key */
    const char *cache;       /* credential cache, used without a keytab; default: that of KRB5CCNAME */
    const char *server_name; /* first part of the servers' principals, before their host; "zookeeper" */
    const char *server_principal; /* that of every server, instead of server_name/HOST */
};

/** What a session to ZooKeeper is for. */
enum store_side { STORE_WRITES, STORE_FOLLOWS };

struct store_options {
    int64_t session_timeout_ms; /* ZooKeeper; 0: 60000 */
    int64_t connect_timeout_ms; /* 0: 15000 */
    int64_t retry_times;        /* after a connection loss; 0: 5; negative: none */
    int64_t retry_interval_ms;  /* 0: 1000 */
    int64_t retry_ceiling_ms;   /* 0: 60000 */
    /* ZooKeeper: "host:port,…" of the servers to follow, observers for example; NULL: those of the URL */
    const char *follow_servers;
    /* ZooKeeper: "id:password" by which both sessions authenticate; NULL: anonymous */
    const char *digest;
    /* ZooKeeper: both sessions authenticate by Kerberos; NULL: they do not */
    const struct store_kerberos *kerberos;
    int64_t map_size; /* LMDB: bytes of address space; 0: 64 GiB */
    bool no_sync;     /* LMDB: no fsync; only for tests that are not about durability */
    /* ZooKeeper: the server of a new session catches up with the leader (sync) before it is followed */
    bool catches_up;
    /* ZooKeeper: a follower hears so often that nothing has changed; 0: 1000 */
    int64_t quiet_mark_ms;
    /* ZooKeeper: the store is only followed: no session is opened for calls, and there must be none but store_follow and store_close */
    bool only_follows;
    /* ZooKeeper: this side cannot reach the ensemble (why, at each failed try; at first not before all servers were tried, or two
     * seconds are over), or has a session again (NULL); NULL: nobody is notified */
    void (*link)(void *arg, enum store_side side, const struct err_info *why);
    void *link_arg;
};

/** Whether a URL names a store, and options its servers: what store_open refuses without looking at the host or the net.
 *  @param options  NULL: all defaults [borrowed] @return 0; ERR_INVALID. Thread: any. Source: ours. */
int store_check(const char *url, const struct store_options *options, struct err_info *why);
/**
 * Open by URL. ZooKeeper: returns before a connection exists; calls wait for it. LMDB: makes DIR if missing and locks it
 * against other processes.
 * @return 0; ERR_INVALID (URL), ERR_IO, ERR_WRONGSTATE (DIR in use by another process, pid named), with *why filled.
 */
int store_open(struct run_loop *loop, const char *url, const struct store_options *options,
               struct store **out, struct err_info *why);
/** Complete the calls under way (ERR_CANCELLED where that is impossible), release everything, then call closed(arg). */
void store_close(struct store *s, void (*closed)(void *arg), void *arg);
/** "zookeeper" or "lmdb". Static. */
const char *store_kind(const struct store *s);
/** Whether there is a tree at STORE_ASIDE. */
bool store_has_aside(const struct store *s);
/** A path of that tree. Thread: any. */
bool store_is_aside(const char *path);
/** The URL it was opened with; valid while open. */
const char *store_url(const struct store *s);

/* Arguments (paths, bytes, lists) are borrowed during the call only. A request of more than about 1 MB, ZooKeeper's
 * limit, is ERR_TOOBIG on both backends. */

/** Read data and stat of a node. */
void store_get(struct store *s, const char *path, STORE_DONE, void *arg);
/** Read the stat of a node. */
void store_stat(struct store *s, const char *path, STORE_DONE, void *arg);
/** Read the names of a node's children, and its stat. */
void store_children(struct store *s, const char *path, STORE_DONE, void *arg);
/** Read the ACL and the stat of a node. */
void store_get_acl(struct store *s, const char *path, STORE_DONE, void *arg);
/** Reads after this completion return a state at least as new as any that any server of the ensemble had returned to any
 *  client when it was called. */
void store_sync(struct store *s, STORE_DONE, void *arg);
/** Make a node; its parent must exist. path "/" makes the root itself (ZooKeeper: its parent must exist). LMDB stores
 *  ACLs and returns them; the caller enforces them. */
void store_create(struct store *s, const char *path, const void *bytes, size_t len,
                  const struct store_acl *acl, STORE_DONE, void *arg);
/** Replace data; version -1: any, else ERR_CONFLICT when it differs. */
void store_set(struct store *s, const char *path, const void *bytes, size_t len, int32_t version, STORE_DONE,
               void *arg);
/** A node as a caller has seen it before a write: which one, and how often it was set. */
struct store_seen {
    int64_t czxid; /* -1: not seen */
    int32_t version;
};

/**
 * Replace data of any version, by who has seen the node before.
 *
 * When the reply is lost, and the very data are there, store_set is done: another client may have set them too, and the number is then that
 * of its set. This is ERR_UNKNOWN_OUTCOME unless the node is the one that was seen, and was set once since.
 *
 * @param seen  [borrowed during the call]
 * Completion: as for store_set.
 */
void store_set_over(struct store *s, const char *path, const void *bytes, size_t len,
                    const struct store_seen *seen, STORE_DONE, void *arg);
/** Replace the ACL; version and mzxid stay. */
void store_set_acl(struct store *s, const char *path, const struct store_acl *acl, STORE_DONE, void *arg);
/** Delete a node without children; version as for store_set. */
void store_delete(struct store *s, const char *path, int32_t version, STORE_DONE, void *arg);

/**
 * Replace data, or delete a node without children, if the mzxid of the node is still this one: the very node, not another
 * that was made in its place and has reached the same version.
 *
 * ZooKeeper can check a version only, and a node that is deleted and made anew begins with version 0 again. So there the
 * write is a multi that checks the parent's count of creates as well: it makes and deletes a sequential node
 * "bobbin-check-<count>", which fires watches and which no reader sees. It is sent after the node has been read, so it
 * completes later than calls made after it. A caller who may write the node but may not make or delete children of its
 * parent gets the check of the version only; so does the root.
 *
 * Completion: as for store_set and store_delete; ERR_CONFLICT: the leader of the ensemble has other data;
 * ERR_UNAVAILABLE, also: other clients kept making children of the parent, nothing was written.
 */
void store_set_if(struct store *s, const char *path, const void *bytes, size_t len, int64_t mzxid, STORE_DONE,
                  void *arg);
void store_delete_if(struct store *s, const char *path, int64_t mzxid, STORE_DONE, void *arg);

enum store_op_kind { STORE_OP_CREATE, STORE_OP_SET, STORE_OP_DELETE, STORE_OP_CHECK };
struct store_op {
    enum store_op_kind kind;
    const char *path;
    const void *bytes; /* create, set */
    size_t len;
    int32_t version; /* set, delete, check; -1: any */
    const struct store_acl *acl;
    int64_t mzxid;                 /* store_set_if, store_delete_if; 0 in a multi */
    const struct store_seen *seen; /* store_set_over; NULL in a multi */
};
/** All or nothing; an op sees the effects of those before it. err is that of the first op that failed, failed_op its
 *  index; zxid that of the last op. n_ops 0 is ERR_INVALID. */
void store_multi(struct store *s, const struct store_op *ops, size_t n_ops, STORE_DONE, void *arg);

/**
 * Copy one consistent state of the whole store into a new directory, which can be opened as file:DIR and has a store id of
 * its own. Reads and writes continue meanwhile.
 *
 * @param dir  absolute path of the directory to make; missing parents are made   [borrowed during the call]
 * done: 0; ERR_EXISTS: something is at dir; ERR_UNSUPPORTED: not a store in files; ERR_IO, ERR_NOSPC: nothing is at dir.
 * Thread: owner.   Source: ours.
 */
void store_backup(struct store *s, const char *dir, STORE_DONE, void *arg);

/* ---- following: the source of the mirror ---- */

/**
 * Callbacks of a follower of the whole tree, always on the owner loop.
 *
 * A full read comes first and after every reconnect. begin and end frame it, changes may be interleaved; nodes that do not
 * occur between them are gone. Parents come before their children; a follower ignores a node whose parent it does not know.
 * applied(n): everything up to revision number n has been delivered.
 */
struct store_follow_ops {
    void (*begin)(void *arg, const char *store_id);
    /** The state of a node that was made or changed. bytes NULL: only its stat changed. */
    void (*node)(void *arg, const char *path, const struct store_stat *stat, const char *bytes, size_t len);
    /** The node and everything below are gone. zxid: at least that of the delete, at most that of the next `applied`. */
    void (*gone)(void *arg, const char *path, int64_t zxid);
    void (*end)(void *arg, int64_t zxid);
    void (*applied)(void *arg, int64_t zxid);
    void (*lost)(void *arg, const struct err_info *why); /* connection lost; begin will come again */
};
/** Follow the tree; at most one follower a store. Call once, any time after store_open. */
void store_follow(struct store *s, const struct store_follow_ops *ops, void *arg);

/* ---- revisions as text ---- */

/** Longest revision text with NUL. */
#define STORE_REVISION_MAX 64
/** "<store_id>.<n>" into out. @return out. */
const char *store_revision_text(const char *store_id, int64_t n, char out[STORE_REVISION_MAX]);
/** Split it; a store id is 1 to 20 hexadecimal digits. id: room for STORE_REVISION_MAX.
 *  @return 0; or ERR_PARSE: id and n unchanged. */
int store_revision_read(const char *text, char *id, int64_t *n);

#endif

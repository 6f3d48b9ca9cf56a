/**
 * The whole store in memory, and the ordered list of what changes in it.
 *
 *     store_follow ──► mirror ──► tree of mirror_node   (reads)
 *                        └──────► listeners             (ordered changes, applied revision)
 *
 * The first full read is invisible until it is complete; later ones (after a reconnect) are applied as differences, so
 * there is never an empty or half-read tree. A subtree that is gone is removed in steps (run/task.h), children first; later
 * events of the store come after it. Thread: owner for everything.   Source: ours.
 */
#ifndef STORE_MIRROR_MIRROR_H
#define STORE_MIRROR_MIRROR_H

#include "base/buf.h"
#include "store/store.h"

struct mirror;

/** A node; borrowed, valid until the loop's next iteration. */
struct mirror_node {
    const char *name; /* last element; "" for the root */
    const struct mirror_node *parent;
    const char *data;       /* NUL-terminated beyond data_len; never NULL */
    struct store_stat stat; /* n_children and data_len always agree with the mirror */
    void *user;             /* for the owner of an index; see mirror_node_user */
};

enum mirror_change { MIRROR_PUT, MIRROR_DELETE };

struct mirror_listener {
    /** The first full read is complete, or the store is another one than before: then all was dropped and read again, or the
     *  store has gone back to an earlier state. The tree is to be taken as new, every node's `user` is NULL. */
    void (*synced)(void *arg);
    /**
     * One change, in order; after `synced` only. node: the new state; for MIRROR_DELETE the old one, its children
     * already deleted (children first). old_data/old_len: what a put replaced, NULL when the node is new.
     * zxid: mzxid of a put; of a delete its own or one up to the next `applied`, never smaller. What only
     * moves a stat (a child came or went, the ACL was set) is no change.
     */
    void (*change)(void *arg, enum mirror_change kind, const char *path, const struct mirror_node *node,
                   const char *old_data, size_t old_len, int64_t zxid);
    /** Everything up to zxid is in the tree now. */
    void (*applied)(void *arg, int64_t zxid);
    /** Connection to the store lost (NULL: back again). The tree stays as it is. */
    void (*stale)(void *arg, const struct err_info *why);
};

/** A mirror that follows s (calls store_follow). */
struct mirror *mirror_new(struct store *s);
/** Free; after store_close of its store. Waits still open end with ERR_CANCELLED. */
void mirror_free(struct mirror *m);
/** The last state that readers of an earlier mirror have seen. */
struct mirror_past {
    char tree_id[STORE_REVISION_MAX];  /* the store's own id */
    char store_id[STORE_REVISION_MAX]; /* the id that readers have seen */
    int64_t newest;                    /* the newest revision number that they have seen */
};
/**
 * Continue from an earlier mirror's last state, if the first full read finds the same store: readers see the same id, and a
 * store that has gone back meanwhile is noticed. To be called before that read; the store must be open with `catches_up`.
 */
void mirror_continue(struct mirror *m, const struct mirror_past *past);
/** The state that readers see now. Meaningless before mirror_ready. */
void mirror_present(const struct mirror *m, struct mirror_past *out);
/** Add a listener; ops (members may be NULL) and arg live as long as the mirror. A late one is not notified of
 *  what was before: see mirror_ready. */
void mirror_listen(struct mirror *m, const struct mirror_listener *ops, void *arg);

/** Whether the first full read is complete. */
bool mirror_ready(const struct mirror *m);
/** Id of the store that the tree is of, "" before it is ready: the store's own, extended by four digits after the store
 *  went back to an earlier state. Valid until `synced`. */
const char *mirror_store_id(const struct mirror *m);
/** Everything up to this revision number is in the tree; 0 before it is ready. */
int64_t mirror_applied(const struct mirror *m);
/** Nothing in the tree is newer than this revision number: what a reader of it has seen. Not below mirror_applied, and above it only
 *  between a change and the `applied` that follows it. */
int64_t mirror_newest(const struct mirror *m);
/** NULL when the tree follows the store; else why it does not, until the read after the reconnect is complete. */
const struct err_info *mirror_stale(const struct mirror *m);
/** Nodes in the tree. */
size_t mirror_n_nodes(const struct mirror *m);
/** Bytes of memory held, estimated. */
size_t mirror_n_bytes(const struct mirror *m);

/** Node at a path ("/" or "/a/b"), or NULL. */
const struct mirror_node *mirror_find(const struct mirror *m, const char *path);
/** First child in byte order whose name is greater than `after` (NULL: the very first); or NULL. O(log n). */
const struct mirror_node *mirror_child_after(const struct mirror_node *node, const char *after);
/** Next node in path order (depth first, children in byte order) below `top` (included); NULL at the end.
 *  Start with node = NULL. */
const struct mirror_node *mirror_walk(const struct mirror *m, const struct mirror_node *top,
                                      const struct mirror_node *node);
/** Append the path of a node. */
void mirror_path(const struct mirror_node *node, struct buf *out);
/** Set the index owner's pointer of a node. */
void mirror_node_user(const struct mirror_node *node, void *user);

/** A note that a reader has left about a node's data: 0 at first and after each change of them. */
uint8_t mirror_node_note(const struct mirror_node *node);
/** Leave a note. @param note  not 0; all readers of this mirror agree on its meaning */
void mirror_node_set_note(const struct mirror_node *node, uint8_t note);

/**
 * Call fn(arg, 0) as soon as everything up to zxid is applied, or fn(arg, ERR_TIMEOUT) after timeout_ms, or
 * fn(arg, ERR_CANCELLED) inside mirror_free; never before this returns. Source: ours ("read your own write").
 */
void mirror_when_applied(struct mirror *m, int64_t zxid, int64_t timeout_ms, void (*fn)(void *arg, int err),
                         void *arg);
/** Forget every pending mirror_when_applied of this arg. */
void mirror_forget(struct mirror *m, void *arg);

#endif

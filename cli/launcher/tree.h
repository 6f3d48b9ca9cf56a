/**
 * The tree of the original launcher in ZooKeeper, read in straight-line code. Nothing is ever written.
 *
 *     small object   F               the payload
 *     large object   F/ReadyPayloadVersions/0000000007    the versions that are complete
 *                    F/0000000007/0, 1, 2 …               the parts of the payload
 *
 * Thread: main.   Source: framework-launcher 15.
 */
#ifndef CLI_LAUNCHER_TREE_H
#define CLI_LAUNCHER_TREE_H

#include <stdint.h>

#include "base/buf.h"
#include "bobbin/error.h"
#include "kit/wait.h"

struct tree;

struct tree_options {
    int64_t limit_ms;   /* for connecting, at first and after a loss */
    const char *digest; /* "id:password" to authenticate with; NULL: anonymous */
};

struct tree_names {
    char **items; /* in byte order */
    size_t n_items;
};

/**
 * Connect.
 *
 * @param wait      lives until tree_close                                          [borrowed]
 * @param url       zk://HOST:PORT[,…]/PATH                                         [borrowed]
 * @param options   [borrowed]
 * @param out       tree_close releases it; NULL after an error                     [out]
 * @return 0; ERR_INVALID: the URL; ERR_UNAVAILABLE; ERR_CANCELLED: interrupted; *why filled.
 */
int tree_open(struct wait *wait, const char *url, const struct tree_options *options, struct tree **out,
              struct err_info *why);
/** Release; NULL is fine. */
void tree_close(struct tree *t);
/** Children of a node. @param out  tree_names_fini [out] @return 0; ERR_NOTFOUND, ERR_PERMISSION, ERR_PATH, ERR_UNAVAILABLE, ERR_IO, ERR_CANCELLED. */
int tree_names(struct tree *t, const char *path, struct tree_names *out, struct err_info *why);
/** Release. */
void tree_names_fini(struct tree_names *names);
/**
 * The payload of an object, small or large.
 *
 * @param out  replaced                                                             [in,out]
 * @return as tree_names; ERR_PARSE: a large object without a complete version, or a part is missing; ERR_TOOBIG: a large object of too many
 *         parts; ERR_CONFLICT: it changes faster than it is read.
 * Source: framework-launcher 15.
 */
int tree_object(struct tree *t, const char *path, struct buf *out, struct err_info *why);

#endif

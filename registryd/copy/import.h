/**
 * Writing nodes in the form of export.h: bytes and ACLs as given, whatever they hold.
 * Thread: owner.   Source: docs/registry-rest.md.
 */
#ifndef COPY_IMPORT_H
#define COPY_IMPORT_H

#include <jansson.h>

#include "base/buf.h"
#include "run/options.h"
#include "store/store.h"

/** Nodes in one request at most. */
#define IMPORT_MAX_NODES 10000

struct import_result {
    int64_t n_created, n_replaced, n_unchanged;
    const char *failed; /* JSON array of {"path","error","detail"}, failed_len bytes; borrowed */
    size_t failed_len;
    int64_t zxid; /* of the last change; 0: none */
};

/**
 * Read a document whose records may stand in it as objects, not as text. Those are read as the body of a PUT is (limits_read, of
 * their own source text: numbers of any length), and their canonical text is put in their place.
 *
 * @param bytes  the document, of `len` bytes                                       [borrowed]
 * @param out    new reference; what is no list of nodes stays as it is             [out]
 * @return 0; ERR_RECORD naming path and place; ERR_JSON naming line and column: *out unchanged.
 * Thread: any.   Source: ours.
 */
int import_read(const char *bytes, size_t len, const struct options *o, json_t **out, struct err_info *why);

/**
 * Write the nodes of {"nodes":[…]}, each after those before it. One that is there and differs is refused (ERR_EXISTS)
 * without is_overwrite, unless neither holds a record: then it stays as it is. With is_overwrite data and, where given, ACL
 * are replaced.
 *
 * @param body  the document; its nodes are checked before anything is written     [borrowed, a reference is kept]
 * @param done  called once, later, when every node had its turn
 * @return 0; or ERR_INVALID, ERR_PATH, ERR_PARSE with *why filled: nothing is written, done is not called.
 */
int import_start(struct store *store, json_t *body, bool is_overwrite,
                 void (*done)(void *arg, const struct import_result *r), void *arg, struct err_info *why);

#endif

/**
 * Writing nodes in the form of export.h: bytes and ACLs as given, whatever they hold.
 * Thread: owner.   Source: docs/registry-rest.md.
 */
#ifndef REGISTRYD_IMPORT_H
#define REGISTRYD_IMPORT_H

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
 * Read the records that stand in a document as objects, not as text, as people write them (reg_record_read, lenient), check
 * them against the limits and put their canonical text in their place.
 *
 * @param body  the document; where it is malformed otherwise it stays as it is     [in,out]
 * @return 0; ERR_RECORD naming path and place: some may have been replaced.
 */
int import_read_records(json_t *body, const struct options *o, struct err_info *why);

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

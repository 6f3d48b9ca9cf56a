/**
 * The durable state of services: documents by key in a store tree (lib/store). Key "services/alice/web" is the node of
 * that path, its data the document; "services/alice/web/hello-0" is a document below it.
 *
 * Thread: owner for everything.   Source: ours.
 */
#ifndef SVCMGR_STATE_H
#define SVCMGR_STATE_H

#include <stddef.h>

#include "bobbin/error.h"
#include "run/loop.h"

struct state;

/** A document to write; bytes NULL: delete it. */
struct state_doc {
    const char *key;
    const char *bytes;
    size_t len;
};

/** Open by store URL. @return 0; as store_open. */
int state_open(struct run_loop *loop, const char *url, struct state **out, struct err_info *why);
/**
 * Read all documents: one(…) for each, parents first, then done. Once, before any write.
 * @param done  err: 0, or as store_get with *why filled                             [borrowed]
 */
void state_load(struct state *s, void (*one)(void *arg, const char *key, const char *bytes, size_t len),
                void (*done)(void *arg, int err, const struct err_info *why), void *arg);
/**
 * Write documents, all or nothing; one write at a time.
 *
 * @param docs  n documents of different keys, parents first; with a deleted one goes all that is below it, each by its
 *              own key                                                              [borrowed until done]
 * @param done  later; err: 0: durable; else as store_multi, and nothing is known of what is there: the next write
 *              looks first
 */
void state_write(struct state *s, const struct state_doc *docs, size_t n,
                 void (*done)(void *arg, int err, const struct err_info *why), void *arg);
/** Finish what runs, release everything, then closed(arg). */
void state_close(struct state *s, void (*closed)(void *arg), void *arg);

#endif

/**
 * A mirror whose store is the test itself, and an index on it. Thread: one.   Source: ours.
 */
#ifndef FAKE_H
#define FAKE_H

#include "index/index.h"
#include "run/loop.h"
#include "store/mirror/mirror.h"
#include "store/store_backend.h"

struct fake {
    struct store base; /* first: it is the store */
    const struct store_follow_ops *ops;
    void *follower;
    struct run_loop *loop;
    struct mirror *mirror;
    struct index *index;
    int64_t zxid;
    struct store_call *asked; /* reads that wait for fake_answer */
    size_t n_asked;
};

/** Set-up and tear-down of cmocka; *state is a fake with nothing read yet. */
int fake_set_up(void **state);
int fake_tear_down(void **state);
/** Begin the first full read, with a root; end it and wait until the index is built. */
void fake_begin(struct fake *f, const char *store_id);
void fake_end(struct fake *f);
/** The node is like this now. Its parents must be there. */
void fake_put(struct fake *f, const char *path, const char *text);
/** The node and all below are gone; the loop turns until the mirror knows. */
void fake_gone(struct fake *f, const char *path);
/** A node with a record of this id and persistence, made with its parents. */
void fake_record(struct fake *f, const char *path, const char *id, const char *persistence);
/** Answer all reads of ACLs that were asked for: everybody may read. */
void fake_answer(struct fake *f);
/** Paths of all records with a term, a line each, in the order of the answer; free(). */
char *fake_find(const struct fake *f, enum index_kind kind, const char *term);

#endif

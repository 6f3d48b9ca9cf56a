/**
 * The mirror on a scripted store: the test itself is the backend, and a listener of the mirror.
 */
#ifndef MIRROR_FAKE_H
#define MIRROR_FAKE_H

#include "store/mirror/mirror.h"
#include "store/store_backend.h"
#include "store_kit.h"

/** A backend of which only `follow` is ever called, a mirror on it, and what a listener heard. */
struct fake {
    struct store base; /* first: it is the store */
    const struct store_follow_ops *ops;
    void *follower;
    struct kit kit; /* loop and waiting only */
    struct mirror *mirror;
    struct buf heard; /* a line a call */
    int64_t last_zxid;
    size_t n_least; /* fewest nodes seen at any call since fake_forget */
};

/** For cmocka: *state is a struct fake. */
int fake_set_up(void **state);
int fake_tear_down(void **state);
#define CASE(name) cmocka_unit_test_setup_teardown(name, fake_set_up, fake_tear_down)

/* Events of the store. */

void fake_begin(struct fake *f, const char *id);
void fake_end(struct fake *f, int64_t zxid);
/** A node made at czxid and last set at mzxid; its pzxid is what the mirror has. */
void fake_node(struct fake *f, const char *path, const char *text, int64_t czxid, int64_t mzxid);
void fake_gone(struct fake *f, const char *path, int64_t zxid);
void fake_lost(struct fake *f);
/** Tree /, /a=1, /a/x=2, /b=3 of store s1, applied 10; what the mirror has published of it is forgotten. */
void fake_first_read(struct fake *f);

/* What the mirror has published. */

/** A read that was ended has been swept. @param arg  the struct fake */
bool fake_is_current(void *arg);
/** Wait for that. */
void fake_settle(struct fake *f);
/** Exactly this was heard since fake_forget; forget it. */
void fake_heard(struct fake *f, const char *expected);
void fake_forget(struct fake *f);

#endif

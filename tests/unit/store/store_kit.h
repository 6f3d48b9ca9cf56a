/**
 * What the tests of the store share: a store with its loop in a directory (or below a root) of its own, calls that wait for
 * their completion, and a way to run the loop until something is so.
 * Thread: one.   Source: ours.
 */
#ifndef STORE_KIT_H
#define STORE_KIT_H

#include "base/buf.h"
#include "base/obj.h"
#include "run/loop.h"
#include "store/mirror/mirror.h"
#include "store/store.h"

#define OUTCOME_MAGIC OBJ_MAGIC('O', 'U', 'T', 'C')

/** A copy of what a completion got. */
struct outcome {
    struct obj obj;
    struct kit *kit;
    size_t n_calls; /* how often the completion ran */
    size_t order;   /* how many completions of this kit ran before it */
    int err;
    struct store_stat stat;
    char *data;
    size_t data_len;
    struct buf children; /* names, each followed by a newline */
    size_t n_children;
    struct buf acl; /* "perms scheme id", each followed by a newline */
    int64_t zxid;
    size_t failed_op;
    struct err_info why;
};

struct kit {
    struct run_loop *loop;
    struct store *store;
    struct mirror *mirror; /* after kit_mirror */
    char *dir;             /* LMDB: temporary directory, else NULL */
    char *url;
    size_t n_completed;
    size_t n_open; /* completions waited for */
    bool is_closed;
};

/** A store as BOBBIN_TEST_ZK says, else an embedded one; without a root node. */
struct kit *kit_new(void);
/** As kit_new, with a root. */
struct kit *kit_new_rooted(void);
/** An embedded store in an existing directory, which kit_free leaves. */
struct kit *kit_open_dir(const char *dir, const struct store_options *options);
/** Close the store and wait until it is. */
void kit_close(struct kit *kit);
/** Close what is open, remove the directory, free. */
void kit_free(struct kit *kit);
/** A new temporary directory; free(). */
char *kit_dir_new(void);
/** Remove a directory of plain files. */
void kit_dir_remove(const char *dir);

/** Run the loop until is_so(arg); fails the test after 60 s. */
void kit_until(struct kit *kit, bool (*is_so)(void *arg), void *arg);
/** Run the loop until every outcome that was begun is there. */
void kit_wait(struct kit *kit);

/** Begin an outcome: pass kit_done and the outcome to a call of the store. */
void outcome_begin(struct outcome *o, struct kit *kit);
void kit_done(void *arg, int err, const struct store_result *r);
void outcome_fini(struct outcome *o);

/** Calls that wait. The outcome is the kit's last one: valid until the next such call. @return err. */
struct outcome *kit_get(struct kit *kit, const char *path);
struct outcome *kit_stat(struct kit *kit, const char *path);
struct outcome *kit_children(struct kit *kit, const char *path);
struct outcome *kit_get_acl(struct kit *kit, const char *path);
struct outcome *kit_create(struct kit *kit, const char *path, const char *text);
struct outcome *kit_set(struct kit *kit, const char *path, const char *text, int32_t version);
struct outcome *kit_delete(struct kit *kit, const char *path, int32_t version);
struct outcome *kit_multi(struct kit *kit, const struct store_op *ops, size_t n_ops);

/** Follow with a mirror and wait until it is ready. */
void kit_mirror(struct kit *kit);
/** Wait until the mirror has applied a revision; fails the test when it has not within 60 s. */
void kit_applied(struct kit *kit, int64_t zxid);

/** Fail the test unless err is as expected, with the name of both and what the store said. */
#define assert_err(outcome, expected) kit_assert_err((outcome), (expected), __FILE__, __LINE__)
void kit_assert_err(const struct outcome *o, int expected, const char *file, int line);

#endif

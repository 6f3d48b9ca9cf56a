/**
 * Purging: the records with a yarn:id and a yarn:persistence are deleted, found through the index.
 *
 * What Hadoop does by walking the whole tree is done on the matches alone, parents before children:
 *
 *     match without children                     delete
 *     match with children, PURGE_ALL             delete with all that is below, whatever it is
 *     match with children, PURGE_FAIL            ERR_NOTEMPTY; what was deleted before stays so
 *     match with children, PURGE_SKIP            stays; matches below it are still looked at
 *
 * Each match is read from the store before it is deleted, and deleted only if it is still that: a record that was bound
 * anew meanwhile is judged anew, one that vanished is passed over.
 *
 * Thread: owner.   Source: Hadoop RegistryAdminService.purge, SelectByYarnPersistence.
 */
#ifndef CLEANUP_PURGE_H
#define CLEANUP_PURGE_H

#include <stdbool.h>
#include <stdint.h>

#include "bobbin/error.h"
#include "index/index.h"
#include "registry/ops_store.h"
#include "run/metrics.h"

struct purger;

enum purge_policy { PURGE_ALL, PURGE_FAIL, PURGE_SKIP };

/** Hadoop's word for a policy: "PurgeAll", "FailOnChildren", "SkipOnChildren". Static. */
const char *purge_policy_text(enum purge_policy policy);
/** Read such a word. @return 0; ERR_INVALID. */
int purge_policy_read(const char *text, enum purge_policy *out, struct err_info *why);

struct purge_def {
    const char *path;        /* where to begin, included; NULL: "/" */
    const char *id;          /* yarn:id */
    const char *persistence; /* yarn:persistence */
    enum purge_policy policy;
    bool dry_run;       /* delete nothing, report what would be */
    const char *reason; /* for the log: who or what wants this */
};

/** What a completion gets; borrowed, valid inside it. */
struct purge_result {
    int64_t n_deletes;        /* delete operations, as Hadoop counts: not nodes */
    int64_t n_examined;       /* records looked at: what it cost */
    const char *const *paths; /* of the deletes, n_deletes of them */
    int64_t zxid;             /* revision number of the last change; 0: none */
    struct err_info why;
};
#define PURGE_DONE void (*done)(void *arg, int err, const struct purge_result *r)

/** A purger of ops' records found in ix, counting in m. */
struct purger *purger_new(struct run_loop *loop, struct index *ix, struct reg_store *ops, struct metrics *m);
/** Delete nothing more: what runs completes with ERR_CANCELLED. Before index and store go. */
void purger_stop(struct purger *p);
/** Let go; the last purge that still runs frees it. Stopped before. NULL is fine. */
void purger_free(struct purger *p);

/**
 * Purge. Texts are copied.
 *
 * Completion, later on the loop, exactly once: 0 (a start path that is not there: nothing deleted); ERR_INVALID (id or
 * persistence is empty); ERR_PATH; ERR_NOTEMPTY (PURGE_FAIL; or children kept appearing); ERR_UNAVAILABLE (the index is
 * being built); ERR_CONFLICT (a record kept changing); ERR_CANCELLED; errors of the store (ERR_PERMISSION: why says whose the path is). n_deletes counts also then.
 */
void purge(struct purger *p, const struct purge_def *def, PURGE_DONE, void *arg);

#endif

/**
 * Leases: records that go when their owner stops renewing. One registryd of a store, its keeper, holds them in memory and expires
 * them; the others forward renewals to it. docs/leases.md has the whole picture.
 *
 *     STORE_ASIDE/xx/NAME      one lease, made in the transaction that writes the record: its czxid is the record's mzxid.
 *                              {"path","ttl"}; version 1 with "expired": the keeper has ended it, the record goes now
 *     STORE_ASIDE              set by who takes office (ZooKeeper only): its version goes on where the keeper's node was removed
 *     STORE_ASIDE/keeper       who keeps: {"holder","url"}; its version, with that of STORE_ASIDE, is the term of office
 *     STORE_ASIDE/beat         set again and again by the keeper, beside a check of the term
 *
 *     OUT ──leases exist──► STANDBY ──keeper unchanged for a term──► LOADING ──all read, a whole TTL granted──► KEEPING
 *      └──embedded store: nobody else has it open──────────────────► LOADING        └──term lost, or the store is another──► OUT
 *
 * NAME is the owner's id (32 hexadecimal digits of the SHA-256 of its key) and 16 random ones; xx are its first two.
 * Thread: owner.   Source: ours.
 */
#ifndef LEASE_KEEPER_H
#define LEASE_KEEPER_H

#include "registry/ops_store.h"
#include "run/loop.h"
#include "run/metrics.h"
#include "store/mirror/mirror.h"
#include "store/store.h"

struct leases;

struct leases_def {
    struct run_loop *loop;
    struct store *store;
    struct mirror *mirror;
    struct reg_store *ops;
    struct metrics *metrics;
    const struct store_acl *acl; /* of the nodes of leases; NULL: open [borrowed] */
    int64_t term_ms;             /* without a sign of life of the keeper for so long another one takes over */
    int64_t ttl_min_ms, ttl_max_ms;
    size_t n_max; /* leases of the store */
};

/** New; def copied. leases_free, after the store was closed and before the mirror is freed. */
struct leases *leases_new(const struct leases_def *def);
/** The address at which other registryds reach this one: it may keep from now on. @param url  [copied] */
void leases_start(struct leases *l, const char *url);
/** Nothing new begins. */
void leases_stop(struct leases *l);
/** Free; NULL is fine. */
void leases_free(struct leases *l);

/** Length of a lease's key: letters, digits, '-', '_' and '.'. */
#define LEASE_KEY_MIN 16
#define LEASE_KEY_MAX 128
/** A new key, to be kept secret between owner and registry. @param out  room for LEASE_KEY_MAX + 1 */
void lease_key_make(char *out);
/** @return 0; ERR_INVALID: not a key. */
int lease_key_check(const char *key, struct err_info *why);
/** Whether a record may get a lease of so long. @return 0; ERR_USAGE (out of bounds); ERR_LIMIT; ERR_UNSUPPORTED (the store). */
int leases_check(const struct leases *l, int64_t ttl_ms, struct err_info *why);

/** The node of a lease to be made, for reg_store_bind. */
struct lease_node {
    struct reg_store_lease lease;
    char *name, *path, *bucket, *bytes; /* owned */
};
/** Fill it. @param key  a key, checked [borrowed] @param path  of the record [borrowed] Release with lease_node_fini. */
void lease_node_init(struct lease_node *n, const char *key, const char *path, int64_t ttl_ms);
void lease_node_fini(struct lease_node *n);
/** A record was bound with this lease. @param zxid  reg_store_result.lease_zxid; 0: the keeper finds it by itself */
void leases_bound(struct leases *l, const struct lease_node *n, const char *path, int64_t ttl_ms,
                  int64_t zxid);

struct lease_renewal {
    size_t n_records; /* that live */
    int64_t ttl_ms;   /* the shortest of them */
    /* paths whose records are gone or another's, each said once; ended by NULL; reg_path_split_free */
    char **gone;
};
/**
 * The owner lives.
 *
 * @param key        checked                                                         [borrowed]
 * @param is_loaded  leases_load has been done: what other registryds have bound is known, too
 * @return 0 and *out; ERR_UNAVAILABLE: this registryd does not keep (leases_keeper_url says who does); ERR_NOTFOUND: no lease in
 *         memory, or, before leases_load, none that lives: nothing was reported to be gone.
 */
int leases_renew(struct leases *l, const char *key, bool is_loaded, struct lease_renewal *out,
                 struct err_info *why);
/** Read the owner's leases from the store. done: 0; errors of the store. Called later, once. */
void leases_load(struct leases *l, const char *key,
                 void (*done)(void *arg, int err, const struct err_info *why), void *arg);
/** URL of another registryd that keeps; "" when it is this one or none is known. Valid until the loop runs. */
const char *leases_keeper_url(const struct leases *l);
/** This one keeps now. */
bool leases_is_keeper(const struct leases *l);
/** A record's lease as the keeper has it. @return whether it has one. */
bool leases_of_path(const struct leases *l, const char *path, int64_t *ttl_ms, int64_t *left_ms);
/** Leases that live, as far as is known here. */
size_t leases_n(const struct leases *l);

#endif

/**
 * What keeper.c, office.c and load.c share. Thread: owner.   Source: ours.
 */
#ifndef LEASE_PRIV_H
#define LEASE_PRIV_H

#include "base/obj.h"
#include "lease/keeper.h"
#include "lease/table.h"
#include "run/log.h"

#define LEASES_MAGIC OBJ_MAGIC('L', 'E', 'A', 'S')

#define LEASE_ID_LEN   32
#define LEASE_NAME_LEN 48
#define LEASE_BUCKETS  256

enum lease_office { LEASE_OUT, LEASE_STANDBY, LEASE_LOADING, LEASE_KEEPING };

struct leases {
    struct obj obj;
    struct leases_def def;
    struct lease_table table;
    enum lease_office office;
    uint64_t n_terms; /* terms of ours that began or ended: what was read in one is not for another */
    bool is_shared;   /* the store may have other registryds */
    bool is_stopped, is_released;
    size_t n_calls; /* calls of the store under way: what they come back to is not freed */
    char *url;      /* of ours */
    char *me;       /* names this process as a holder */
    char *keeper_url;
    size_t n_elsewhere; /* leases that another keeper counts */

    /* the term of office */
    bool is_asking;
    bool has_beat;                      /* the beat's node was found, or made */
    int64_t next_look_ms;               /* boot time, as all below */
    int32_t epoch;                      /* version of the keeper's node in our term */
    int32_t n_offices;                  /* version of STORE_ASIDE in our term: how often office was taken */
    int32_t seen_epoch, seen_beat;      /* of another's term, unchanged since seen_ms; 0: none seen */
    int64_t seen_ms, sent_ms, until_ms; /* our term lasts until then unless prolonged */

    /* the rounds */
    struct run_timer *tick;
    int64_t planned_ms;   /* of the next tick */
    int64_t next_scan_ms; /* looking for leases that other registryds have made */
    bool is_scanning;
    int64_t scan_begun_ms, scanned_ms; /* of the scan under way, and of the last one that read everything */
    int64_t bucket_pzxid[LEASE_BUCKETS];
    size_t n_loads;   /* under way: of an owner not all records are known */
    bool has_orphans; /* owners of whom nothing lived were found meanwhile */
    size_t n_ending;
    size_t n_searches; /* of this round, for records below others */
    char **suspects;   /* paths that were written or deleted since the mirror's last revision */
    size_t n_suspects;
    struct log_trouble trouble;
};

/** A call of the store begins, or has come back. @return lease_call_ends: go on; false: everything is being given up. */
void lease_call_begins(struct leases *l);
bool lease_call_ends(struct leases *l);

/** office.c: one look at the term of office, or a prolongation, when it is time. */
void office_step(struct leases *l);
/** We are not the keeper any more, or the store is another one. */
void office_lose(struct leases *l, const char *reason);
/** All leases were read: keep. */
void office_begin(struct leases *l);
/** The checks of our term: with them, what a transaction writes is written by the keeper. @param ops  [out] */
#define OFFICE_CHECKS 2
void office_check(const struct leases *l, struct store_op ops[OFFICE_CHECKS]);

/** load.c: read all leases that the table lacks, or those of one owner (id NULL: all). done: 0; errors of the store. */
void load_leases(struct leases *l, const char *id,
                 void (*done)(void *arg, int err, const struct err_info *why), void *arg);
/** The data of a lease's node. @return text, free(). */
char *lease_data(const char *path, int64_t ttl_ms, bool is_expired);
/** Path of a lease's node. free() */
char *lease_path(const char *name);
/** Id of the owner that has this key. @param out  room for LEASE_ID_LEN + 1 */
void lease_id(const char *key, char *out);

/** keeper.c: whether the record still is what was bound with the lease; else the owner has lost it. */
void lease_judge(struct leases *l, struct lease_record *r);
/** Once all loads are over: forget the owners of whom nothing lives. */
void lease_sweep(struct leases *l);
/** Add a lease whose node was read or made. */
void lease_add(struct leases *l, const struct lease_def *def);
/** Remove the node of a lease; that it fails only means that it is found again. */
void lease_drop_node(struct leases *l, const char *name);

#endif

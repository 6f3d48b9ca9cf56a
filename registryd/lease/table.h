/**
 * The leases that a keeper holds, in memory: which records belong to which owner, and when each is due. Pure: times come in.
 *
 *     owner (id) ── renewed_ms          record: LIVING ──due──► ENDING ──deleted──► ENDED
 *        └── records: path, ttl            └── overwritten or deleted by others ──► LOST
 *
 *     due of a record = ttl + latest of: its own taking, the owner's last renewal, the last grant to all
 *
 * A renewal is O(1): it moves the owner's time, and the heap of due times is put right when a record comes to its top.
 * ENDED and LOST records stay until they were reported to their owner (or none of the owner lives).
 * Thread: one.   Source: ours.
 */
#ifndef LEASE_TABLE_H
#define LEASE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/map.h"

enum lease_state { LEASE_LIVING, LEASE_ENDING, LEASE_ENDED, LEASE_LOST };

struct lease_owner;

struct lease_record {
    TAILQ_ENTRY(lease_record) link; /* of its owner */
    struct lease_owner *owner;
    char *name; /* of its node */
    char *path; /* of the record */
    int64_t ttl_ms, taken_ms;
    int64_t zxid;   /* mzxid of the record when it was bound */
    int64_t key_ms; /* in the heap: due then, or later */
    size_t heap_at; /* SIZE_MAX: not in it */
    /** When it was due and something was below it: leases are read once more before it goes. 0: not yet. */
    int64_t looked_ms;
    enum lease_state state;
    bool is_marked;   /* its node says that it has ended */
    bool is_reported; /* its owner knows that it ends or has ended; not when LIVING */
};
TAILQ_HEAD(lease_records, lease_record);

struct lease_owner {
    char *id;
    int64_t renewed_ms;
    size_t n_living;
    struct lease_records records;
};

struct lease_table {
    struct map owners;          /* id -> struct lease_owner */
    struct map names;           /* name -> struct lease_record */
    struct map paths;           /* path -> struct lease_record: the newest of it */
    struct lease_record **heap; /* LIVING and ENDING ones, earliest key first */
    size_t n_heap, cap;
    size_t n_living;
    int64_t granted_ms;
};

/** What is known of a record. */
struct lease_def {
    const char *owner, *name, *path; /* copied */
    int64_t ttl_ms;
    int64_t zxid;
    bool is_marked;
};

/** Release everything; the table is empty and usable again. `{0}` is an empty one. */
void lease_table_fini(struct lease_table *t);
/**
 * Add a record, LIVING or (is_marked) ENDING.
 *
 * @param older  of two records of one path the one that was bound first, which is nobody's any more; NULL: there are not two  [out]
 * @return it; or the one of this name that is there already, unchanged.
 */
struct lease_record *lease_table_add(struct lease_table *t, const struct lease_def *def, int64_t now_ms,
                                     struct lease_record **older);
/** Remove it, and its owner with the last record. */
void lease_table_remove(struct lease_table *t, struct lease_record *take_r);
/** The owner lives. @return it; NULL: unknown. */
struct lease_owner *lease_table_renew(struct lease_table *t, const char *id, int64_t now_ms);
/** All get a whole TTL from now, also those that were to end and are not marked. O(n). */
void lease_table_grant(struct lease_table *t, int64_t now_ms);
/** Time at which lease_table_next may have a record; INT64_MAX: never. */
int64_t lease_table_due_ms(const struct lease_table *t);
/** The next LIVING or ENDING record that is due, or NULL. It stays due until it is put off, ended or removed. */
struct lease_record *lease_table_next(struct lease_table *t, int64_t now_ms);
/** When a record is due. */
int64_t lease_record_due_ms(const struct lease_table *t, const struct lease_record *r);
/** Not before this time. */
void lease_table_put_off(struct lease_table *t, struct lease_record *r, int64_t until_ms);
/** Another state. ENDED and LOST ones are never due. */
void lease_table_state(struct lease_table *t, struct lease_record *r, enum lease_state state);
/** The newest record of a path, or NULL. */
struct lease_record *lease_table_at(const struct lease_table *t, const char *path);
/** Whether a record below this path is LIVING. O(n). */
bool lease_table_has_below(const struct lease_table *t, const char *path);

#endif

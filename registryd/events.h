/** Log events and metrics of registryd. Source: ours. */
#ifndef REGISTRYD_EVENTS_H
#define REGISTRYD_EVENTS_H

#include "http/limits.h"
#include "run/degraded.h"
#include "run/log.h"
#include "run/metrics.h"
#include "run/outage.h"
#include "run/process.h"

#define REGISTRYD_EVENTS(X)                                                                                  \
    X(store_chosen, LOG_INFO, "Opens the store of the registry.")                                            \
    X(registry_synced, LOG_INFO, "The mirror has read the whole registry.")                                  \
    X(registry_stale, LOG_WARN, "The store is unreachable; reads are served from memory and may be stale.")  \
    X(registry_still_stale, LOG_WARN,                                                                        \
      "The store is still unreachable; reads are served from memory and may be stale.")                      \
    X(registry_current, LOG_INFO, "The store is reachable again; reads are current.")                        \
    X(mark_failed, LOG_WARN,                                                                                 \
      "Cannot use the file of the persisted mark: a store that goes back to an older state while "           \
      "registryd is down will not be noticed. Let bobbin.data.dir name a directory that registryd may "      \
      "write to.")                                                                                           \
    X(registry_setup_failed, LOG_WARN, "Cannot create the root, /users and /services; retrying.")            \
    X(long_name, LOG_WARN,                                                                                   \
      "Created a node whose path has an element of more than 63 bytes, which is no DNS name.")               \
    X(write_unanswered, LOG_INFO, "The client of a write left before its answer; this is the outcome.")      \
    X(feed_gone, LOG_WARN, "A follower fell behind the ring of changes and must begin with a new snapshot.") \
    X(purged, LOG_INFO, "Purged a record with everything below it; with dry_run=true nothing was deleted.")  \
    X(lease_keeper, LOG_INFO, "Keeps the leases of the store: every lease lasts a whole TTL from now on.")   \
    X(lease_keeper_lost, LOG_WARN, "Does not keep the leases any more.")                                     \
    X(lease_expired, LOG_INFO,                                                                               \
      "Deleted a record with everything below it: its owner has not renewed the lease.")                     \
    X(lease_failed, LOG_WARN, "Cannot read a lease, or delete a record whose lease has ended; retrying.")    \
    X(backed_up, LOG_INFO, "Copied the store into this directory.")                                          \
    X(cleanup_failed, LOG_WARN,                                                                              \
      "A purge failed and is not retried; its records stay until the next reconciliation.")                  \
    X(rm_issued_failed, LOG_WARN,                                                                            \
      "Cannot write the cluster timestamps of the resource manager to this file: after a restart of both, "  \
      "records of applications it has forgotten stay until somebody deletes them. Let bobbin.data.dir name " \
      "a directory that registryd may write to.")                                                            \
    X(rm_followed, LOG_INFO, "Follows this resource manager.")                                               \
    X(rm_lost, LOG_WARN, "No resource manager can be followed; nothing is purged on its reports meanwhile.") \
    X(rm_still_lost, LOG_WARN, "Still no resource manager can be followed.")                                 \
    X(rm_back, LOG_INFO, "A resource manager can be followed again.")

LOG_DECLARE(REGISTRYD_EVENTS)

#define REGISTRYD_METRICS(X)                                                                                 \
    PROCESS_METRICS(X)                                                                                       \
    DEGRADED_METRICS(X)                                                                                      \
    HTTP_METRICS(X)                                                                                          \
    OUTAGE_UP(X, M_STORE_UP, "store")                                                                        \
    OUTAGE_UP(X, M_MANAGER_UP, "resource-manager")                                                           \
    OUTAGE_SINCE(X, M_STORE_SINCE, "store")                                                                  \
    OUTAGE_SINCE(X, M_MANAGER_SINCE, "resource-manager")                                                     \
    X(M_READS, METRIC_COUNTER, "registry_reads", "", "Nodes and records read over REST.")                    \
    X(M_WRITES, METRIC_COUNTER, "registry_writes", "", "Writes accepted over REST.")                         \
    X(M_WRITE_TIME, METRIC_HISTOGRAM, "registry_write_seconds", "",                                          \
      "Time from an accepted write (bind, mknode, delete) to its outcome in the store.")                     \
    X(M_PROPAGATION, METRIC_HISTOGRAM, "registry_propagation_seconds", "",                                   \
      "Time from an accepted write to its change in the mirror, where reads and the feed have it.")          \
    X(M_REFUSED, METRIC_COUNTER, "registry_refused", "", "Requests answered with an error.")                 \
    X(M_NODES, METRIC_GAUGE, "registry_nodes", "", "Nodes in the mirror.")                                   \
    X(M_MIRROR_BYTES, METRIC_GAUGE, "registry_mirror_bytes", "", "Memory held by the mirror.")               \
    X(M_APPLIED, METRIC_GAUGE, "registry_applied_revision", "", "Revision number applied to the mirror.")    \
    X(M_STALE, METRIC_GAUGE, "registry_stale", "", "1 while the store is unreachable.")                      \
    X(M_SETUP_FAILED, METRIC_COUNTER, "registry_setup_failed", "",                                           \
      "Failed tries to create the standard nodes.")                                                          \
    X(M_FOLLOWERS, METRIC_GAUGE, "registry_followers", "", "Open change feeds.")                             \
    X(M_CHANGES, METRIC_COUNTER, "registry_changes", "", "Changes put into the feed.")                       \
    X(M_GONE, METRIC_COUNTER, "registry_followers_gone", "", "Followers that fell behind the ring.")         \
    X(M_SNAPSHOTS, METRIC_COUNTER, "registry_feed_snapshots", "", "Followers that began with a snapshot.")   \
    X(M_RESUMES, METRIC_COUNTER, "registry_feed_resumes", "", "Followers that resumed after a revision.")    \
    X(M_RESUMES_REFUSED, METRIC_COUNTER, "registry_feed_resumes_refused", "",                                \
      "Followers whose revision could not be resumed (410).")                                                \
    X(M_FOLLOWERS_AHEAD, METRIC_COUNTER, "registry_feed_waits", "",                                          \
      "Followers that came with a revision ahead of this registry.")                                         \
    X(M_FOLLOWER_BYTES, METRIC_GAUGE, "registry_feed_follower_bytes", "",                                    \
      "Memory held for followers: lines not yet sent.")                                                      \
    X(M_RING_BYTES, METRIC_GAUGE, "registry_feed_ring_bytes", "", "Bytes of changes held for followers.")    \
    X(M_ACCESSOR_SESSIONS, METRIC_GAUGE, "registry_accessor_sessions", "",                                   \
      "Open ZooKeeper sessions for holders of write accessors.")                                             \
    X(M_FINDS, METRIC_COUNTER, "registry_finds", "", "Searches answered from the index.")                    \
    X(M_INDEXED, METRIC_GAUGE, "registry_indexed_records", "", "Records in the index.")                      \
    X(M_INDEX_BYTES, METRIC_GAUGE, "registry_index_bytes", "", "Memory held by the index.")                  \
    X(M_PURGED, METRIC_COUNTER, "registry_purged", "", "Records deleted by purges.")                         \
    X(M_PURGE_EXAMINED, METRIC_COUNTER, "registry_purge_examined", "", "Records that purges examined.")      \
    X(M_LEASES, METRIC_GAUGE, "registry_leases", "",                                                         \
      "Records with a lease, on the registryd that keeps them.")                                             \
    X(M_LEASE_KEEPER, METRIC_GAUGE, "registry_lease_keeper", "",                                             \
      "1 on the registryd that keeps the leases.")                                                           \
    X(M_LEASE_RENEWALS, METRIC_COUNTER, "registry_lease_renewals", "", "Renewals of owners of leases.")      \
    X(M_LEASE_EXPIRATIONS, METRIC_COUNTER, "registry_lease_expirations", "",                                 \
      "Records deleted because their lease ended.")                                                          \
    X(M_HOMES, METRIC_COUNTER, "registry_homes_made", "", "Users whose home directory was created.")         \
    X(M_CLEANUP_WAITING, METRIC_GAUGE, "registry_cleanup_waiting", "",                                       \
      "Purges that wait for their turn or for a retry.")                                                     \
    X(M_RM_POLLS, METRIC_COUNTER, "registry_rm_polls", "", "Consistent polls of the resource manager.")      \
    X(M_RM_DISCARDED, METRIC_COUNTER, "registry_rm_polls_discarded", "",                                     \
      "Discarded polls of the resource manager.")                                                            \
    X(M_RM_UP, METRIC_GAUGE, "registry_rm_up", "", "1 while a resource manager is followed.")                \
    X(M_RM_WATCHED, METRIC_GAUGE, "registry_rm_watched", "", "Applications that the poller watches.")

enum { METRICS_ENUM(REGISTRYD_METRICS) REGISTRYD_N_METRICS };

#endif

/**
 * Following a resource manager by its REST interface, so that what ends on the cluster leaves the registry.
 *
 * One poll:
 *
 *     WAIT ──► BEFORE ──► METRICS ──► NODES ──► STARTED ──► FINISHED ──► OLDEST ──► APPS ──► AFTER ──► WAIT
 *       ▲         └ next RM, when this one is not ACTIVE                                        └ the same ACTIVE RM as before: what was seen counts
 *       └──────── anything else goes wrong: nothing of this poll counts, nor of the polls before it
 *
 * BEFORE, AFTER: /info. METRICS: how many nodes there are, how many applications have ended. NODES, when
 * rm_nodes.h wants them: which nodes. STARTED: new applications, whose users get a home. FINISHED: applications that have unregistered since the last poll. OLDEST, when some have ended since then: does
 * the RM's list of ended ones reach back to before that? If not, one may have been evicted that no poll has seen there, and all are
 * asked about once more. APPS: the ones that rm_poll_apps.h hands out, some side by side: internal state, then attempts, then
 * live containers, as far as there are records of such.
 *
 * An application that the RM does not know has ended when the RM, or the one before it, has issued its id (rm_issued.h): what it has
 * issued is learned from each poll that counts. How old an id is proves nothing: svcmgr and other clusters issue ids, too.
 *
 * After a start or failover of the RM (another address, another startedOn) everything is looked at anew. After these, and when it is
 * heard again after a time, absent containers mean nothing until their node is back, or the node expiry interval is over: rm_nodes.h.
 *
 * Thread: owner.   Source: YARN ResourceManager REST API; ours.
 */
#ifndef CLEANUP_RM_POLL_H
#define CLEANUP_RM_POLL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cleanup/cleanup.h"
#include "index/index.h"
#include "run/loop.h"
#include "run/metrics.h"
#include "run/outage.h"
#include "store/mirror/mirror.h"

struct rm_poll;

struct rm_poll_def {
    struct run_loop *loop;
    const struct mirror *mirror;
    const struct index *index;
    struct cleanup *cleanup;
    struct metrics *metrics;
    struct outages *outages; /* one more is added */
    const char *const *urls; /* "http://host:8088" of each RM; NULL-terminated; copied */
    int64_t interval_ms;     /* pause between polls */
    int64_t node_expiry_ms;  /* after which a node that stays away has none of its containers */
    int64_t node_settle_ms;  /* after which all containers of a node that has registered are listed */
    int64_t max_apps;        /* applications asked about in one poll */
    bool dry_run;            /* log what would be purged */
    const char *data_dir;    /* where rm_issued.h keeps its file; used in rm_poll_new */
};

/** Start following; the first poll begins at once. */
struct rm_poll *rm_poll_new(const struct rm_poll_def *def);
/** Stop and free; nothing of it runs afterwards. NULL is fine. */
void rm_poll_free(struct rm_poll *p);
/** Applications that are being watched. */
size_t rm_poll_n_watched(const struct rm_poll *p);

#endif

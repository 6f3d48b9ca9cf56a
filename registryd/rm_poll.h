/**
 * Following a resource manager by its REST interface, so that what ends on the cluster leaves the registry.
 *
 * One poll:
 *
 *     WAIT ──► BEFORE ──► NODES ──► STARTED ──► FINISHED ──► APPS ──► AFTER ──► WAIT
 *       ▲         └ next RM, when this one is not ACTIVE                 └ the same ACTIVE RM as before: what was seen counts
 *       └──────── anything else goes wrong: nothing of this poll counts, nor of the polls before it
 *
 * BEFORE, AFTER: /info. NODES: /metrics. STARTED: new applications, whose users get a home. FINISHED: applications that
 * have unregistered. APPS: the ones that rm_poll_apps.h hands out, some side by side: internal state, then attempts, then
 * live containers, as far as there are records of such.
 *
 * After a start or failover of the RM (another address, another startedOn) everything is looked at anew, and absent
 * containers mean nothing until as many nodes are back as there were, or the node expiry interval is over.
 *
 * Thread: owner.   Source: YARN ResourceManager REST API; ours.
 */
#ifndef REGISTRYD_RM_POLL_H
#define REGISTRYD_RM_POLL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cleanup.h"
#include "index.h"
#include "run/loop.h"
#include "run/metrics.h"
#include "store/mirror.h"

struct rm_poll;

struct rm_poll_def {
    struct run_loop *loop;
    const struct mirror *mirror;
    const struct index *index;
    struct cleanup *cleanup;
    struct metrics *metrics;
    const char *const *urls; /* "http://host:8088" of each RM; NULL-terminated; copied */
    int64_t interval_ms;     /* pause between polls */
    int64_t node_expiry_ms;  /* longest time that absent containers mean nothing */
    int64_t max_apps;        /* applications asked about in one poll */
    bool dry_run;            /* tell in the log what would be purged */
    bool is_shared;          /* other clusters use this registry too */
};

/** Start following; the first poll begins at once. */
struct rm_poll *rm_poll_new(const struct rm_poll_def *def);
/** Stop and free; nothing of it runs afterwards. NULL is fine. */
void rm_poll_free(struct rm_poll *p);
/** Applications that are being watched. */
size_t rm_poll_n_watched(const struct rm_poll *p);

#endif

/**
 * Changes on their way to the registry, also while registryd is away: each stays in a list until the registry has taken it. A newer
 * change of a path replaces an older one that has not begun, and its outcome settles the older one's ticket too. Changes of one
 * path, and changes above or below each other, keep their order; others run side by side.
 *
 * Each ticket is settled once and, but for publish_ended, in bounded time: 0; ERR_UNAVAILABLE when the registry did not answer
 * within the limit (the change is still tried until it is done or replaced); or the error the registry refuses it with. A refused
 * change is dropped; the caller may ask again when something has changed (publish_follow_ops.back).
 *
 * After publish_follow a record that was written and that another client deletes or overwrites is written again, until it is
 * deleted or purged here: reconcile.h.
 *
 * After publish_guard nothing is sent, neither a new change nor a retry, while may_send_now returns false: changes wait, and
 * tickets are settled in bounded time all the same.
 *
 * Thread: owner for everything.   Source: YARN services API 7.
 */
#ifndef PUBLISH_PUBLISH_H
#define PUBLISH_PUBLISH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bobbin/registry.h"
#include "engine/engine.h"
#include "run/loop.h"
#include "run/outage.h"

/** api of the endpoint of a service's record at which its application master answers. */
#define PUBLISH_MASTER_API "bobbin:application-master"

struct publish;

struct publish_def {
    const char *url; /* of registryd, as reg_options.url */
    /* without an answer of the registry to any change, until a ticket is settled as ERR_UNAVAILABLE; 0: 5000. Twenty times as long while it answers others */
    int64_t ticket_limit_ms;
    /** Receives the outcome of a ticket, later, on the loop; text: the registry's message, NULL after a success [borrowed]. */
    void (*done)(void *arg, int64_t ticket, int code, const char *text);
    /** The outage has begun or ended, or has another reason; or the first change came, or the last one went. NULL: nobody asks. */
    void (*changed)(void *arg);
    void *arg;
    struct outage *outage; /* of the registry                                       [borrowed, outlives it] */
};

/**
 * Open, with nothing to change.
 *
 * @param def  its texts are copied
 * @param out  publish_close releases it; set on success only                       [out]
 * @return 0; as reg_open.
 */
int publish_open(struct run_loop *loop, const struct publish_def *def, struct publish **out,
                 struct err_info *why);
/** What the registry's feed shows; both called later, on the loop. */
struct publish_follow_ops {
    /** n > 0 records that were deleted or overwritten are written again, this path among them. */
    void (*restored)(void *arg, size_t n, const char *path);
    /** The registry answers again, or is another one: it may take now what it has refused. */
    void (*back)(void *arg);
    void *arg;
};
/** Follow what is published from now on. Once, before the first change. home: as of reconcile_def [copied]; ops: copied. */
void publish_follow(struct publish *p, const char *home, const struct publish_follow_ops *ops);
/**
 * Send nothing, and follow nothing, until publish_begin. Once, before publish_follow. For a start at which records are asked for that stand since
 * the life before: the feed is read first, and what it shows as it is wanted is not written again; its ticket is settled as if it were.
 */
void publish_hold(struct publish *p);
/** End publish_hold: follow, and send what the registry lacks, when the feed has shown what stands or cannot be read. */
void publish_begin(struct publish *p);
/**
 * Ask before each request whether it may be sent; a change that waits is tried again within 100 ms. Once, before the first change.
 *
 * @param may_send_now  may be asked at any time on the loop until publish_close; changes nothing
 */
void publish_guard(struct publish *p, bool (*may_send_now)(void *arg), void *arg);
/** Write a record at a path, parents included, over what is there. */
void publish_put(struct publish *p, const char *path, const struct eng_record *record, int64_t ticket);
/** Delete the record at a path. */
void publish_delete(struct publish *p, const char *path, int64_t ticket);
/** Delete a path and all below it. What waits for it there goes unsent, and its tickets are settled with this one. */
void publish_purge(struct publish *p, const char *path, int64_t ticket);
/**
 * Report to the registry that a container or an application has ended, so that it removes the records bound under that id,
 * whoever bound them: its event container-finished; or am-container-finished (the first container of attempt 1) and
 * application-completed. The ticket is settled when the registry has taken or refused it, however long that takes.
 *
 * @param path  that a purge of it, or of what is above, must wait                   [borrowed]
 * @param id    "container_…" or "application_…"                                     [borrowed]
 */
void publish_ended(struct publish *p, const char *path, const char *id, int64_t ticket);
/** The newest revision of the registry that is known, in REG_REVISION_MAX bytes: of a change of ours, else of the feed. @return false: none is */
bool publish_revision(const struct publish *p, char *out);
/** Changes that the registry lacks still. */
size_t publish_n_pending(const struct publish *p);
/** A record that is not published yet. */
struct publish_wait {
    int64_t since_ms;   /* wall clock */
    const char *reason; /* borrowed until the loop's next turn */
    bool is_refused;    /* by the registry, with these words; else it is still tried */
};
/** Whether the record that was put at this path, or its last change, is not in the registry and should be: the registry is missing, refuses
 *  it, or has not taken it for two seconds. After publish_follow. */
bool publish_waits(const struct publish *p, const char *path, struct publish_wait *out);
/** Call drained(arg) once, when nothing is pending or limit_ms are over. */
void publish_drain(struct publish *p, int64_t limit_ms, void (*drained)(void *arg), void *arg);
/** Drop what is pending and free; no callback comes any more. NULL is fine. */
void publish_close(struct publish *p);

#endif

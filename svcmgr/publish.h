/**
 * Keeps the registry as the engine wants it, also while registryd is away: every change stays in a list until the
 * registry has taken it. A newer change of a path replaces an older one that has not begun, whose ticket is then told
 * with the newer one's outcome. Changes of one path, and changes above or below each other, keep their order; others run
 * side by side.
 *
 * The outcome of each ticket is told once and, but for publish_ended, in bounded time: 0; ERR_UNAVAILABLE when the registry did not answer
 * within the limit (the change is still tried until it is done or replaced); or what the registry refuses it for.
 *
 * Thread: owner for everything.   Source: YARN services API 7.
 */
#ifndef SVCMGR_PUBLISH_H
#define SVCMGR_PUBLISH_H

#include <stddef.h>
#include <stdint.h>

#include "bobbin/registry.h"
#include "engine/engine.h"
#include "run/loop.h"

struct publish;

/**
 * @param url   of registryd, as reg_options.url                                     [borrowed]
 * @param told  outcome of a ticket; later, on the loop                              [borrowed]
 * @return 0; as reg_open.
 */
int publish_open(struct run_loop *loop, const char *url, void (*told)(void *arg, int64_t ticket, int code),
                 void *arg, struct publish **out, struct err_info *why);
/** Write a record at a path, parents included, over what is there. */
void publish_put(struct publish *p, const char *path, const struct eng_record *record, int64_t ticket);
/** Delete the record at a path. */
void publish_delete(struct publish *p, const char *path, int64_t ticket);
/** Delete a path and all below it. */
void publish_purge(struct publish *p, const char *path, int64_t ticket);
/**
 * Tell the registry that a container or an application has ended, so that it removes the records bound under that id,
 * whoever bound them: its event container-finished; or am-container-finished (the first container of attempt 1) and
 * application-completed. The ticket is told when it has been taken or refused, however long that takes.
 *
 * @param path  that a purge of it, or of what is above, must wait                   [borrowed]
 * @param id    "container_…" or "application_…"                                     [borrowed]
 */
void publish_ended(struct publish *p, const char *path, const char *id, int64_t ticket);
/** Changes that the registry lacks still. */
size_t publish_n_pending(const struct publish *p);
/** Call drained(arg) once, when nothing is pending or limit_ms are over. */
void publish_drain(struct publish *p, int64_t limit_ms, void (*drained)(void *arg), void *arg);
/** Drop what is pending and free; nothing is told any more. NULL is fine. */
void publish_close(struct publish *p);

#endif

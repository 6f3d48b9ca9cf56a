/**
 * Whether any upstream server answers, reported from the forwarder's thread to the outages of the owner's: when none does, at most
 * once in PRESENCE_AGAIN_MS while that lasts, and when one does again.
 *
 *     forward loop ──run_post──► owner loop: outage_fails, outage_ends
 *
 * Thread: the forwarder's, after presence_new.   Source: ours.
 */
#ifndef FORWARD_PRESENCE_H
#define FORWARD_PRESENCE_H

#include <stdint.h>

#include "forward/upstreams.h"

struct err_info;
struct outage;
struct presence;
struct run_loop;

/** Failures of queries are reported once in this time. */
#define PRESENCE_AGAIN_MS 1000

/**
 * The servers count as reached.
 *
 * @param upstreams  named in each report                                        [copied]
 * @param owner      loop of the outage's thread                                 [borrowed, lives on]
 * @param o          of these servers; freed after the loop                      [borrowed]
 * @return free with presence_free.   Thread: any.   Source: ours.
 */
struct presence *presence_new(const struct upstreams *upstreams, struct run_loop *owner, struct outage *o);
/** Release; reports on their way arrive all the same. NULL is fine. Thread: any, when the forwarder's has ended. Source: ours. */
void presence_free(struct presence *p);

/** No server answers. @param why its text is the reason [copied]. @param now_ms run_now_ms. Source: ours. */
void presence_missing(struct presence *p, const struct err_info *why, int64_t now_ms);
/** A server has answered. @param now_ms run_now_ms. Source: ours. */
void presence_reached(struct presence *p, int64_t now_ms);

#endif

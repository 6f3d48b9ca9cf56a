/**
 * Serials that never go back, also over a crash: before a zone reaches a serial, a limit above it is on disk; the next start
 * begins above that limit. A clean stop writes the serials themselves, so then nothing is skipped.
 *
 *     file: a line a zone, "apex limit"
 *
 * Zones read from a file alone (ZONE_FILE) keep the serial of the file: their limit is the serial itself.
 *
 * Thread: owner; writing happens on a thread of the pool.   Source: RFC 1982; ours.
 */
#ifndef FEED_SERIALS_H
#define FEED_SERIALS_H

#include <stdint.h>

#include "bobbin/error.h"
#include "run/loop.h"
#include "zone/zone.h"

struct serials;

/** Distance between a serial and the limit that is written: one write for so many commits. */
#define SERIALS_RESERVE 10000

/**
 * Read the file; a missing one is empty, a damaged line is told in *why and left out.
 *
 * @param path  NULL: nothing is kept                                            [copied]
 * @return the serials; free with serials_free.   Thread: owner.   Source: ours.
 */
struct serials *serials_open(struct run_loop *loop, const char *path, struct err_info *why);
/** Release; a write under way ends by itself. NULL is fine. Thread: owner. */
void serials_free(struct serials *s);
/** First serial for a zone: above what may have been used, at least `at_least` (RFC 1982). Thread: owner. */
uint32_t serials_first(const struct serials *s, const uint8_t *apex, enum zone_kind kind, uint32_t at_least);
/** After commits: have limits above the serials written when they come near. Thread: owner. Source: ours. */
void serials_mind(struct serials *s, const struct zone_version *v);
/** Write the serials as they are; waits for the disk. @return 0; or ERR_IO with *why. Thread: owner. */
int serials_close(struct serials *s, const struct zone_version *v, struct err_info *why);

#endif

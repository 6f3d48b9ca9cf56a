/**
 * Serials that never go back, over a crash and on a full disk either: readers see a serial only when a limit that covers it is on
 * disk; the next start begins above that limit. A clean stop writes the serials themselves, so that none is skipped.
 *
 *     file: a line a zone, "apex limit"; empty lines fill it up, so that it can be written again in place (run/file.h)
 *
 *     serial ──half of the reserve is used──► wanted limit ──file_swap, again each second while it fails──► durable limit
 *                                                                                                  └─ serials_cover: <= it
 *
 * The serial that a master file gives is covered by that file.
 *
 * Thread: owner; writing happens on a thread of the pool.   Source: RFC 1982; ours.
 */
#ifndef FOLLOW_SERIALS_H
#define FOLLOW_SERIALS_H

#include <stdbool.h>
#include <stdint.h>

#include "bobbin/error.h"
#include "run/loop.h"
#include "zone/zone.h"

struct serials;

/** Distance between a serial and the limit that is written: one write per half as many commits. */
#define SERIALS_RESERVE 10000

struct serials_def {
    struct run_loop *loop;
    const char *path; /* NULL: nothing is written, and every serial is covered            [copied] */
    /** A write has ended: more may be covered now, or serials_error returns why not. Not from inside a call. */
    void (*written)(void *arg);
    void *arg;
};

/**
 * Read the file; a missing one is empty, a damaged line is reported in *why and left out.
 *
 * @param def  copied
 * @return the serials; free with serials_free or serials_stop.   Thread: owner.   Source: ours.
 */
struct serials *serials_open(const struct serials_def *def, struct err_info *why);
/** Release; a write under way ends by itself. NULL is fine. Thread: owner. */
void serials_free(struct serials *s);
/**
 * First serial of a zone: above those that readers may have seen, at least `at_least` (RFC 1982).
 *
 * @param at_least  of a ZONE_FILE: that of its file. Called again when the file has another one; the result does not count then
 * Thread: owner.   Source: ours.
 */
uint32_t serials_first(struct serials *s, const uint8_t *apex, enum zone_kind kind, uint32_t at_least);
/** Reserve the serials that a version needs, and wait for the disk: once, while starting; before it nothing is written. @return 0; or
 *  ERR_IO with *why: retried from the loop. Thread: owner. Source: ours. */
int serials_reserve(struct serials *s, const struct zone_version *v, struct err_info *why);
/** With each new version, before readers see it: write higher limits when its serials come near. Thread: owner. Source: ours. */
void serials_mind(struct serials *s, const struct zone_version *v);
/** Are all serials that readers would see in a version covered? Not ready, it has none of a dynamic zone. Thread: owner. Source: ours. */
bool serials_cover(struct serials *s, const struct zone_version *v);
/** Why the last write failed; NULL: it did not. Borrowed. Thread: owner. Source: ours. */
const struct err_info *serials_error(const struct serials *s);
/** Write the serials as they are, release, then call stopped; from the loop, or before this returns when nothing is kept. Thread: owner.
 *  Source: ours. */
void serials_stop(struct serials *s, const struct zone_version *v, void (*stopped)(void *arg), void *arg);

#endif

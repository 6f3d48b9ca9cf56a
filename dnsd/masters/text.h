/**
 * Records and messages as text, in the form of master files; names are escaped so that every reader takes them. Pure. Thread: any.   Source: RFC 1035 5, RFC 3597 5.
 */
#ifndef MASTERS_TEXT_H
#define MASTERS_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "zone/zone.h"

/** One record as a line, with newline, appended to out. Names are absolute. @param rr valid [borrowed]. */
void rr_text(const struct zone_rr *rr, struct buf *out);

/**
 * Every record of a message.
 *
 * @param fn  gets the section (0 answer, 1 authority, 2 additional) and the record's line without newline
 * @return 0; or ERR_PARSE: not a message.
 */
int message_each_rr(const uint8_t *msg, size_t len, void (*fn)(void *arg, int section, const char *text),
                    void *arg);

#endif

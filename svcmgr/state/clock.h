/**
 * Engine time (engine.h, struct eng_time): ms on a monotonic clock, independent of the time of day.
 *
 *     engine time = time since the host's boot + an offset      CLOCK_BOOTTIME: suspended time counts
 *
 * It begins as the time of day of the first start, as documents of versions that computed with the time of day expect, and has
 * nothing to do with it from then on. Each transaction of the state holds the document "clock" with the boot, its time
 * and engine time at that instant. A restart in the same boot continues exactly, so what came due meanwhile is due. After a reboot
 * or on another host the time that has passed is unknown: engine time continues from the last written value, and a due time
 * then waits for its remainder, never longer than configured and never shorter.
 *
 * Who runs one service in a process of its own has a clock of its own, which begins at that of svcmgr: it reads both documents.
 *
 * Thread: owner.   Source: ours; clock_gettime(2), time_namespaces(7).
 */
#ifndef STATE_CLOCK_H
#define STATE_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "bobbin/error.h"
#include "run/loop.h"

/** Format that is written, a member of the document; one without is of format 1, which has the same members. */
#define CLOCK_FORMAT 2
/** Key of the document. */
#define CLOCK_KEY "clock"

struct clock {
    char boot[RUN_BOOT_ID_LEN]; /* run_boot_id */
    int64_t ahead_ms;           /* engine time - time since boot */
    bool is_read;               /* a document was read */
};

/**
 * Begin without a document.
 *
 * @param boot_ms  run_boot_ms()
 * @param wall_ms  run_wall_ms(): what engine time begins as; one before 1970 counts as 1
 */
void clock_begin(struct clock *c, int64_t boot_ms, int64_t wall_ms);
/**
 * Go on where a stored document says. Of several that are read in turn, the one with the largest engine time counts.
 *
 * @param c        begun                                                          [in,out]
 * @param bytes    the document, `len` bytes                                      [borrowed]
 * @return 0; or ERR_JSON: no document of a clock; ERR_UNSUPPORTED: of a newer format; c is unchanged.
 */
int clock_read(struct clock *c, const char *bytes, size_t len, int64_t boot_ms, struct err_info *why);
/** The document for the present time; `out` is replaced. */
void clock_write(const struct clock *c, int64_t boot_ms, struct buf *out);
/** Engine time, > 0. */
int64_t clock_now_ms(const struct clock *c, int64_t boot_ms);

#endif

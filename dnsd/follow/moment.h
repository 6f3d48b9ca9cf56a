/**
 * A moment whose age a later run of the program can compute. Within one boot of the host the clock counts that nobody sets
 * (run_boot_ms), so that a jump of the time of day neither ages nor rejuvenates what was kept. After a reboot, on another host, or
 * where the boot is not known, only the time of day is left.
 *
 * Thread: any.   Source: ours; clock_gettime(2).
 */
#ifndef FOLLOW_MOMENT_H
#define FOLLOW_MOMENT_H

#include <stdint.h>

#include "run/loop.h"

struct moment {
    int64_t wall_ms;            /* run_wall_ms */
    int64_t boot_ms;            /* run_boot_ms; negative: from before the boot */
    char boot[RUN_BOOT_ID_LEN]; /* run_boot_id, ends with NUL; "": not known */
};

/** The age of a moment that cannot be true; ms. */
#define MOMENT_AGE_MAX (INT64_MAX / 2)

/** The moment `ago_ms` before now. Thread: any. Source: ours. */
void moment_ago(int64_t ago_ms, struct moment *out);
/** How long before `now` a moment was, in ms: 0..MOMENT_AGE_MAX; 0 for one that lies ahead. Pure. Source: ours. */
int64_t moment_age_ms(const struct moment *m, const struct moment *now);

#endif

/**
 * A timestamp on disk whose age a later run of the program can compute. Within one boot of the host the boot clock counts
 * (run_boot_ms), which nobody sets, so that a jump of the wall clock changes no age. After a reboot, on another host, or where the
 * boot id is unknown, only the wall clock is left.
 *
 * Thread: any.   Source: ours; clock_gettime(2).
 */
#ifndef FOLLOW_TIMESTAMP_H
#define FOLLOW_TIMESTAMP_H

#include <stdint.h>

#include "run/loop.h"

struct timestamp {
    int64_t wall_ms;            /* run_wall_ms */
    int64_t boot_ms;            /* run_boot_ms; negative: from before the boot */
    char boot[RUN_BOOT_ID_LEN]; /* run_boot_id, ends with NUL; "": not known */
};

/** The age of a timestamp that cannot be true; ms. */
#define TIMESTAMP_AGE_MAX (INT64_MAX / 2)

/** The time `ago_ms` before now. @param out filled [out]. Thread: any. Source: ours. */
void timestamp_ago(int64_t ago_ms, struct timestamp *out);
/** Time from `m` to `now` in ms: 0..TIMESTAMP_AGE_MAX; 0 for one in the future. Pure. Thread: any. Source: ours. */
int64_t timestamp_age_ms(const struct timestamp *m, const struct timestamp *now);

#endif

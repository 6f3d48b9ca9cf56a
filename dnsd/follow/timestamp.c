#include "follow/timestamp.h"

#include <stdbool.h>
#include <string.h>

void timestamp_ago(int64_t ago_ms, struct timestamp *out)
{
    *out = (struct timestamp){.wall_ms = run_wall_ms() - ago_ms, .boot_ms = run_boot_ms() - ago_ms};
    run_boot_id(out->boot);
}

static int64_t passed_ms(int64_t from, int64_t to)
{
    int64_t ms;
    if (__builtin_sub_overflow(to, from, &ms))
        return from < to ? TIMESTAMP_AGE_MAX : 0;
    if (ms < 0)
        return 0;
    return ms < TIMESTAMP_AGE_MAX ? ms : TIMESTAMP_AGE_MAX;
}

int64_t timestamp_age_ms(const struct timestamp *m, const struct timestamp *now)
{
    bool is_same_boot = now->boot[0] && strcmp(m->boot, now->boot) == 0;
    return is_same_boot ? passed_ms(m->boot_ms, now->boot_ms) : passed_ms(m->wall_ms, now->wall_ms);
}

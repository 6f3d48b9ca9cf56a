#include "base/backoff.h"

#include <stdlib.h>

enum { DOUBLINGS_MAX = 16 };

int64_t backoff_next(int64_t pause_ms, int64_t first_ms, int64_t max_ms)
{
    if (pause_ms > max_ms / 2)
        return max_ms;
    int64_t next_ms = pause_ms ? pause_ms * 2 : first_ms;
    return next_ms < max_ms ? next_ms : max_ms;
}

int64_t backoff_random(uint64_t n_failed, int64_t first_ms, int64_t max_ms)
{
    uint64_t k = n_failed < DOUBLINGS_MAX ? n_failed : DOUBLINGS_MAX;
    int64_t factor = arc4random_uniform((uint32_t)1 << (k + 1));
    int64_t pause_ms = first_ms * (factor > 1 ? factor : 1);
    return pause_ms < max_ms ? pause_ms : max_ms;
}

#include "base/backoff.h"

int64_t backoff_next(int64_t pause_ms, int64_t first_ms, int64_t max_ms)
{
    if (pause_ms > max_ms / 2)
        return max_ms;
    int64_t next_ms = pause_ms ? pause_ms * 2 : first_ms;
    return next_ms < max_ms ? next_ms : max_ms;
}

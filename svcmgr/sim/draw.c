#include "sim/draw.h"

#include <string.h>

#include "base/map.h"

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

uint64_t sim_draw_next(uint64_t *row)
{
    *row += 0x9e3779b97f4a7c15;
    return mix(*row);
}

uint64_t sim_draw(uint64_t seed, struct sim_die die)
{
    uint64_t row = seed ^ sum_bytes(SUM_START, die.id, strlen(die.id));

    row = sim_draw_next(&row) + (uint64_t)die.attempt;
    row = sim_draw_next(&row) + die.what;
    return sim_draw_next(&row);
}

bool sim_draw_share(uint64_t seed, struct sim_die die, int64_t share_ppm)
{
    return share_ppm > 0 && sim_draw(seed, die) % SIM_PPM < (uint64_t)share_ppm;
}

int64_t sim_draw_span(uint64_t seed, struct sim_die die, struct sim_span span)
{
    return span.min_ms + (int64_t)(sim_draw(seed, die) % (uint64_t)(span.max_ms - span.min_ms + 1));
}

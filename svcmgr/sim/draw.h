/**
 * Numbers that look random and hang on nothing but a seed and what they are for.
 * Pure functions. Thread: any.   Source: splitmix64.
 */
#ifndef SIM_DRAW_H
#define SIM_DRAW_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/script.h"

/** What a number is for: whose, which time, which of his. */
struct sim_die {
    const char *id; /* borrowed for the call */
    int64_t attempt;
    unsigned what;
};

/** A number. */
uint64_t sim_draw(uint64_t seed, struct sim_die die);
/** True for a share of all dice. */
bool sim_draw_share(uint64_t seed, struct sim_die die, int64_t share_ppm);
/** A duration of a span. */
int64_t sim_draw_span(uint64_t seed, struct sim_die die, struct sim_span span);
/** The next number of a row: *row is its place, any number at first. */
uint64_t sim_draw_next(uint64_t *row);

#endif

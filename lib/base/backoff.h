/**
 * Pauses between tries: each is twice as long as the one before, up to a ceiling. Thread: any.   Source: ours.
 */
#ifndef BASE_BACKOFF_H
#define BASE_BACKOFF_H

#include <stdint.h>

/**
 * The pause after another failed try. The caller holds the present pause, and sets it to 0 after a success.
 *
 * @param pause_ms  the pause before that try; 0: there was none
 * @param first_ms  the first pause, > 0
 * @param max_ms    the ceiling, > 0; also of the first
 * @return first_ms, or twice pause_ms, max_ms at most.
 */
int64_t backoff_next(int64_t pause_ms, int64_t first_ms, int64_t max_ms);
/**
 * The same with chance, so that clients that failed together do not come back together.
 *
 * @param n_failed  tries that have failed before, 0 for the first pause
 * @return between first_ms and first_ms * (2^(n_failed + 1) - 1), max_ms at most.
 * Source: Curator's BoundedExponentialBackoffRetry, which Hadoop's registry uses.
 */
int64_t backoff_random(uint64_t n_failed, int64_t first_ms, int64_t max_ms);

#endif

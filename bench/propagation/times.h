/** Collected durations and what is said of them. Source: ours. */
#ifndef BENCH_TIMES_H
#define BENCH_TIMES_H

#include <stddef.h>

/** Now, in microseconds of the monotonic clock. */
double times_now_us(void);
/** Sleep; a measured program is left alone between two changes. */
void times_sleep_us(unsigned us);
/** Sort and print `name_p50_us=… name_p90_us=… name_p99_us=…`. @param took_us n results, at least one [in,out] */
void times_print(const char *name, double *took_us, size_t n);

#endif

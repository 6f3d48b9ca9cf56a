/**
 * Metrics of the process, under the names that Prometheus' client libraries give them, and of its log.
 * Source: Prometheus, "Writing client libraries", process metrics; proc(5); ours.
 */
#ifndef RUN_PROCESS_H
#define RUN_PROCESS_H

#include <stdint.h>

#include "run/metrics.h"

/** Rows of every daemon's table of metrics; found there by name. */
#define PROCESS_METRICS(X)                                                                                   \
    X(M_PROCESS_CPU, METRIC_COUNTER_US, "process_cpu_seconds", "",                                           \
      "CPU time of all threads, user and system.")                                                           \
    X(M_PROCESS_START, METRIC_GAUGE_US, "process_start_time_seconds", "",                                    \
      "When the process started, since 1970-01-01 UTC.")                                                     \
    X(M_PROCESS_RESIDENT, METRIC_GAUGE, "process_resident_memory_bytes", "", "Resident memory.")             \
    X(M_PROCESS_VIRTUAL, METRIC_GAUGE, "process_virtual_memory_bytes", "", "Virtual memory.")                \
    X(M_PROCESS_FDS, METRIC_GAUGE, "process_open_fds", "", "Open file descriptors.")                         \
    X(M_PROCESS_MAX_FDS, METRIC_GAUGE, "process_max_fds", "", "Limit of open file descriptors.")             \
    X(M_LOG_LOST, METRIC_COUNTER, "log_lines_lost", "",                                                      \
      "Log lines lost since stderr took them too slowly, or not at all.")

/** What is known of this process at one moment. */
struct process_sample {
    int64_t cpu_us;
    int64_t start_us; /* since 1970-01-01 UTC; 0: not known, as without /proc */
    int64_t resident_bytes, virtual_bytes;
    int64_t n_fds, max_fds;
};

/**
 * Look at this process: some 100 µs. On kernels before 6.2 the descriptors are counted one by one, which takes a millisecond for
 * some thousand of them.
 *
 * @param out  what cannot be found out is 0                                     [out]
 * Thread: any.   Source: proc(5), getrusage(2).
 */
void process_sample(struct process_sample *out);
/** Set the rows of PROCESS_METRICS to what is so now, if m has them. Thread: any. Source: ours. */
void process_collect(struct metrics *m);

#endif

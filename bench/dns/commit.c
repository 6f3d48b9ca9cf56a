/*
 * What a change costs: load N instances, then replace one instance a commit. The cost must not grow with the zone.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "made_zones.h"

#include "base/mem.h"
#include "base/str.h"

static double now_us(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/** Take one instance away and put it back, each a commit. A function of its own, which callgrind can count.
 * @param took_us 2 * n_rounds results */
static __attribute__((noinline)) void measure(struct zoneset *set, unsigned n_instances, unsigned n_rounds,
                                              double *took_us)
{
    for (unsigned i = 0; i < 2 * n_rounds; i++) {
        double start = now_us();
        struct zone_tx *tx = zone_tx_begin(set);
        made_zones_put(tx, (unsigned)(i / 2 * 7919ull % n_instances), i % 2);
        zone_tx_commit(tx, ZONE_READY, NULL);
        zoneset_reclaim(set, UINT64_MAX);
        took_us[i] = now_us() - start;
    }
}

int main(int argc, char **argv)
{
    int64_t n_instances = 100000, n_rounds = 2000;
    if (argc > 3 || (argc > 1 && str_to_i64(argv[1], 1, 10000000, &n_instances)) ||
        (argc > 2 && str_to_i64(argv[2], 1, 1000000, &n_rounds))) {
        fprintf(stderr, "usage: %s [INSTANCES [ROUNDS]]\n", argv[0]);
        return 2;
    }
    double start = now_us();
    struct zoneset *set = made_zones_new((unsigned)n_instances);
    double load_us = now_us() - start;
    struct zoneset_memory memory;
    zoneset_memory(set, &memory);
    malloc_trim(0);
    struct mallinfo2 heap = mallinfo2();
    mem_auto double *took_us = mem_array((size_t)n_rounds * 2, sizeof *took_us);
    measure(set, (unsigned)n_instances, (unsigned)n_rounds, took_us);
    qsort(took_us, (size_t)n_rounds * 2, sizeof *took_us, compare_doubles);
    printf("instances=%lld load_ms=%.1f shards=%zu zone_bytes_per_instance=%.0f heap_bytes_per_instance=%.0f "
           "commit_p50_us=%.1f commit_p99_us=%.1f\n",
           (long long)n_instances, load_us / 1e3, memory.n_shards,
           (double)memory.version_bytes / (double)n_instances, (double)heap.uordblks / (double)n_instances,
           took_us[n_rounds], took_us[n_rounds * 2 * 99 / 100]);
    zoneset_free(set);
    return 0;
}

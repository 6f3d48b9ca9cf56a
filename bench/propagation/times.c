#include "times.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

double times_now_us(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

void times_sleep_us(unsigned us)
{
    nanosleep(&(struct timespec){us / 1000000, (long)(us % 1000000) * 1000}, NULL);
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void times_print(const char *name, double *took_us, size_t n)
{
    qsort(took_us, n, sizeof *took_us, compare_doubles);
    printf("%s_p50_us=%.0f %s_p90_us=%.0f %s_p99_us=%.0f ", name, took_us[n / 2], name, took_us[n * 90 / 100],
           name, took_us[n * 99 / 100]);
}

#include "run/process.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/obj.h"
#include "run/log_writer.h"

#define US_PER_S INT64_C(1000000)
/** Which field of /proc/self/stat the start time is, counted from the state, which follows the name in parentheses. */
#define FIELD_START 19

/** The beginning of a small file. @return whether there is any. */
static bool read_start(const char *path, char *out, size_t room)
{
    FILE *f = fopen(path, "re");
    size_t n = f ? fread(out, 1, room - 1, f) : 0;
    if (f)
        fclose(f);
    out[n] = '\0';
    return n > 0;
}

static void sample_memory(struct process_sample *out)
{
    char text[128];
    long long n_virtual = 0, n_resident = 0;
    int64_t page = sysconf(_SC_PAGESIZE);
    if (!read_start("/proc/self/statm", text, sizeof text) ||
        sscanf(text, "%lld %lld", &n_virtual, &n_resident) != 2)
        return;
    out->virtual_bytes = n_virtual * page;
    out->resident_bytes = n_resident * page;
}

/** The descriptor that the directory is read with is not counted. */
static int64_t count_fds(void)
{
    struct stat st;
    if (stat("/proc/self/fd", &st) == 0 && st.st_size > 0)
        return st.st_size;
    DIR *dir = opendir("/proc/self/fd");
    int64_t n = 0;
    while (dir && readdir(dir))
        n++;
    if (dir)
        closedir(dir);
    return n > 3 ? n - 3 : 0;
}

/** Clock ticks from the boot of the host to the start of the process; 0: not known. */
static int64_t start_ticks(void)
{
    char text[1024];
    const char *at = read_start("/proc/self/stat", text, sizeof text) ? strrchr(text, ')') : NULL;
    for (int i = 0; at && i <= FIELD_START; i++)
        at = strchr(at + 1, ' ');
    return at ? strtoll(at, NULL, 10) : 0;
}

/** When the host booted, in seconds; 0: not known. The line stands behind those of all processors. */
static int64_t boot_s(void)
{
    FILE *f = fopen("/proc/stat", "re");
    char *line = NULL;
    size_t room = 0;
    long long at = 0;
    while (f && !at && getline(&line, &room, f) > 0)
        at = strncmp(line, "btime ", strlen("btime ")) == 0 ? strtoll(line + strlen("btime "), NULL, 10) : 0;
    if (f)
        fclose(f);
    free(line);
    return at;
}

void process_sample(struct process_sample *out)
{
    struct rusage used;
    struct rlimit fds;
    int64_t ticks = start_ticks(), booted_s = boot_s();
    *out = (struct process_sample){0};
    if (getrusage(RUSAGE_SELF, &used) == 0)
        out->cpu_us = (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * US_PER_S + used.ru_utime.tv_usec +
                      used.ru_stime.tv_usec;
    if (ticks && booted_s)
        out->start_us = booted_s * US_PER_S + ticks * US_PER_S / sysconf(_SC_CLK_TCK);
    if (getrlimit(RLIMIT_NOFILE, &fds) == 0)
        out->max_fds = (int64_t)fds.rlim_cur;
    out->n_fds = count_fds();
    sample_memory(out);
}

void process_collect(struct metrics *m)
{
    struct process_sample sample;
    process_sample(&sample);
    const struct {
        const char *name;
        int64_t value;
    } rows[] = {
        {"process_cpu_seconds", sample.cpu_us},
        {"process_start_time_seconds", sample.start_us},
        {"process_resident_memory_bytes", sample.resident_bytes},
        {"process_virtual_memory_bytes", sample.virtual_bytes},
        {"process_open_fds", sample.n_fds},
        {"process_max_fds", sample.max_fds},
        {"log_lines_lost", (int64_t)log_writer_n_lost()},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int id = metrics_find(m, rows[i].name);
        if (id >= 0)
            metric_set(m, id, rows[i].value);
    }
}

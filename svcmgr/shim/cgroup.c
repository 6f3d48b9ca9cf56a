#include "shim/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

#define REMOVE_TRIES    50
#define REMOVE_WAIT_MS  10
#define QUOTA_PERIOD_US 100000
#define SHARES_PER_CORE 1024 /* v1 cpu.shares; Hadoop's figure */
#define WEIGHT_PER_CORE 100  /* v2 cpu.weight, 1..10000 */
#define WEIGHT_MAX      10000

static bool is(const struct shim_cgroup *g, const char *kind)
{
    return g->dir && !strcmp(g->kind, kind);
}

static int write_to(const char *dir, const char *file, const char *text)
{
    mem_auto char *path = mem_fmt("%s/%s", dir, file);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : write(fd, text, strlen(text));
    int error = errno;

    if (fd >= 0)
        close(fd);
    errno = error;
    return n < 0 ? -1 : 0;
}

/** The number behind a word at the start of a line ("oom_kill 2"). 0: there is none. */
static int64_t read_count(const char *dir, const char *file, const char *word)
{
    mem_auto char *path = mem_fmt("%s/%s", dir, file);
    FILE *f = fopen(path, "re");
    char key[64];
    int64_t value, found = 0;

    while (f && fscanf(f, "%63s %" SCNd64, key, &value) == 2)
        if (!strcmp(key, word))
            found = value;
    if (f)
        fclose(f);
    return found;
}

/* ---- limits ---- */

/** A file to write; one that is optional may be missing: a kernel without that accounting. */
static int set_limit(const struct shim_cgroup *g, const char *file, int64_t value, bool is_optional)
{
    char text[32];

    snprintf(text, sizeof text, "%" PRId64, value);
    if (!write_to(g->dir, file, text) || (is_optional && errno == ENOENT))
        return 0;
    int error = errno;
    fprintf(stderr, "cgroup limit %s/%s=%s is not set: %s\n", g->dir, file, text, strerror(error));
    errno = error;
    return -1;
}

static int set_quota_v2(const struct shim_cgroup *g, int64_t cpu_milli)
{
    char text[48];

    snprintf(text, sizeof text, "%" PRId64 " %d", cpu_milli * QUOTA_PERIOD_US / 1000, QUOTA_PERIOD_US);
    return write_to(g->dir, "cpu.max", text);
}

static int limit_v2(const struct shim_cgroup *g, const struct shim_launch *l)
{
    int64_t weight = l->cpu_milli * WEIGHT_PER_CORE / 1000;
    int failed = 0;

    if (l->memory_bytes)
        failed |= set_limit(g, "memory.max", l->memory_bytes, false) |
                  set_limit(g, "memory.swap.max", 0, true) | set_limit(g, "memory.oom.group", 1, true);
    if (l->pids_max)
        failed |= set_limit(g, "pids.max", l->pids_max, false);
    if (weight > 0)
        failed |= set_limit(g, "cpu.weight", weight < WEIGHT_MAX ? weight : WEIGHT_MAX, true);
    if (l->cpu_is_strict && l->cpu_milli)
        failed |= set_quota_v2(g, l->cpu_milli);
    return failed;
}

static int limit_v1(const struct shim_cgroup *g, const struct shim_launch *l)
{
    int failed = 0;

    if (is(g, "memory") &&
        l->memory_bytes) /* Memory with swap can be no smaller than memory: in this order. */
        failed = set_limit(g, "memory.limit_in_bytes", l->memory_bytes, false) |
                 set_limit(g, "memory.memsw.limit_in_bytes", l->memory_bytes, true);
    if (is(g, "pids") && l->pids_max)
        failed = set_limit(g, "pids.max", l->pids_max, false);
    if (is(g, "cpu") && l->cpu_milli)
        failed = set_limit(g, "cpu.shares", l->cpu_milli * SHARES_PER_CORE / 1000, false);
    if (is(g, "cpu") && l->cpu_milli && l->cpu_is_strict)
        failed |= set_limit(g, "cpu.cfs_period_us", QUOTA_PERIOD_US, false) |
                  set_limit(g, "cpu.cfs_quota_us", l->cpu_milli * QUOTA_PERIOD_US / 1000, false);
    return failed;
}

static int make_one(struct shim_cgroup *g, const struct shim_launch *l)
{
    if (!mkdir(g->dir, 0755) || errno == EEXIST)
        return is(g, "v2") ? limit_v2(g, l) : limit_v1(g, l);
    int error = errno;
    fprintf(stderr, "cgroup %s is not made: %s\n", g->dir, strerror(error));
    free(g->dir);
    g->dir = NULL;
    errno = error;
    return -1;
}

int cgroups_make(struct shim_launch *l)
{
    for (size_t i = 0; i < l->n_cgroups; i++) {
        if (!make_one(&l->cgroups[i], l) || !l->cgroups_required)
            continue;
        int error = errno;
        cgroups_remove(l->cgroups, l->n_cgroups);
        errno = error;
        return -1;
    }
    return 0;
}

int cgroups_enter(const struct shim_launch *l)
{
    for (size_t i = 0; i < l->n_cgroups; i++)
        if (l->cgroups[i].dir && write_to(l->cgroups[i].dir, "cgroup.procs", "0"))
            return -1;
    return 0;
}

/* ---- the end ---- */

static void kill_listed(const struct shim_cgroup *g)
{
    mem_auto char *path = mem_fmt("%s/cgroup.procs", g->dir);
    FILE *f = fopen(path, "re");
    int pid;

    while (f && fscanf(f, "%d", &pid) == 1)
        if (pid > 1)
            kill(pid, SIGKILL); /* Frozen: it cannot have ended since the list was read. */
    if (f)
        fclose(f);
}

static bool is_frozen(const struct shim_cgroup *g)
{
    mem_auto char *path = mem_fmt("%s/freezer.state", g->dir);
    char state[16] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, state, sizeof state - 1);

    if (fd >= 0)
        close(fd);
    return n > 0 && !strncmp(state, "FROZEN", 6);
}

static bool kill_frozen(const struct shim_cgroup *g)
{
    if (write_to(g->dir, "freezer.state", "FROZEN"))
        return false;
    for (int i = 0; i < REMOVE_TRIES && !is_frozen(g); i++)
        poll(NULL, 0, 1);
    bool can_kill = is_frozen(g);
    if (can_kill)
        kill_listed(g);
    write_to(g->dir, "freezer.state", "THAWED");
    return can_kill;
}

bool cgroups_kill(const struct shim_cgroup *list, size_t n)
{
    bool is_killed = false;

    for (size_t i = 0; i < n && !is_killed; i++) {
        if (is(&list[i], "v2"))
            is_killed = !write_to(list[i].dir, "cgroup.kill", "1");
        else if (is(&list[i], "freezer"))
            is_killed = kill_frozen(&list[i]);
    }
    return is_killed;
}

bool cgroups_say(const struct shim_launch *l, char *out, size_t len)
{
    int64_t n_killed = 0, n_refused = 0;

    for (size_t i = 0; i < l->n_cgroups; i++) {
        const struct shim_cgroup *g = &l->cgroups[i];
        if (is(g, "v2") || is(g, "memory"))
            n_killed += read_count(g->dir, is(g, "v2") ? "memory.events" : "memory.oom_control", "oom_kill");
        if (is(g, "v2") || is(g, "pids"))
            n_refused += read_count(g->dir, "pids.events", "max");
    }
    *out = '\0';
    if (n_killed)
        snprintf(out, len,
                 "its memory limit of %" PRId64 " MB was reached and the kernel killed a process of it",
                 l->memory_bytes >> 20);
    else if (n_refused)
        snprintf(out, len, "its limit of %" PRId64 " processes and threads was reached", l->pids_max);
    return n_killed > 0;
}

int cgroups_remove(const struct shim_cgroup *list, size_t n)
{
    int error = 0;

    for (size_t i = 0; i < n; i++) {
        /* What was killed there leaves the group only when its parent has reaped it. */
        for (int k = 0; list[i].dir && rmdir(list[i].dir) && errno != ENOENT; k++) {
            error = errno;
            if (error != EBUSY || k == REMOVE_TRIES)
                break;
            error = 0;
            poll(NULL, 0, REMOVE_WAIT_MS);
        }
    }
    errno = error;
    return error ? -1 : 0;
}

/** Which cgroup hierarchies there are, and which of them may be used. See local_priv.h, shim/cgroup.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "cluster/local_priv.h"
#include "cluster/local_tree.h"
#include "run/file.h"
#include "shim/cgroup.h"

#define V2_CONTROLLERS "+memory +pids +cpu"

static const char *const v1_kinds[] = {"memory", "pids", "cpu", "freezer"};

/** Whether a word stands in a list with commas. */
static bool has_word(const char *list, const char *word)
{
    size_t len = strlen(word);

    for (const char *p = list; p; p = strchr(p, ','), p += p != NULL)
        if (!strncmp(p, word, len) && (p[len] == ',' || !p[len]))
            return true;
    return false;
}

/** Where a hierarchy is mounted. @param kind  "v2", or a v1 controller @return free(); NULL: nowhere. Source: proc(5). */
static char *find_mount(const char *kind)
{
    FILE *f = fopen("/proc/self/mountinfo", "re");
    char line[4096], at[1024], type[32], options[1024];
    char *found = NULL;

    while (f && !found && fgets(line, sizeof line, f)) {
        const char *rest = strstr(line, " - ");
        if (!rest || sscanf(line, "%*s %*s %*s %*s %1023s", at) != 1 ||
            sscanf(rest, " - %31s %*s %1023s", type, options) != 2)
            continue;
        bool is_v2 = !strcmp(type, "cgroup2") && !strcmp(kind, "v2");
        if (is_v2 || (!strcmp(type, "cgroup") && has_word(options, kind)))
            found = mem_str(at);
    }
    if (f)
        fclose(f);
    return found;
}

/** Our own place in a hierarchy: where the root is not ours, something below may be. @return free(); NULL: none. */
static char *find_own(const char *kind)
{
    FILE *f = fopen("/proc/self/cgroup", "re");
    char line[4096];
    char *found = NULL;

    while (f && !found && fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':');
        char *path = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!path)
            continue;
        *path++ = '\0';
        bool is_v2 = !controllers[1] && !strcmp(kind, "v2");
        if ((is_v2 || has_word(controllers + 1, kind)) && strcmp(path, "/"))
            found = mem_str(path);
    }
    if (f)
        fclose(f);
    return found;
}

static void enable_v2(const char *dir)
{
    mem_auto char *path = mem_fmt("%s/cgroup.subtree_control", dir);
    int fd = open(path, O_WRONLY | O_CLOEXEC);

    /* One that refuses, since it holds processes or has not all controllers, shows by what is missing below. */
    if (fd >= 0 && write(fd, V2_CONTROLLERS, strlen(V2_CONTROLLERS)) < 0)
        errno = 0;
    if (fd >= 0)
        close(fd);
}

/** A directory of ours below a mount. @return it can be written. */
static bool try_dir(const char *kind, const char *mount, const char *below, const char *hierarchy, char **out)
{
    mem_auto char *above = mem_fmt("%s%s", mount, below);
    mem_auto char *dir = mem_fmt("%s%s%s", above, *hierarchy == '/' ? "" : "/", hierarchy);

    if (!strcmp(kind, "v2"))
        enable_v2(above);
    if (file_make_dir(dir, 0755, NULL) || access(dir, W_OK))
        return false;
    if (!strcmp(kind, "v2"))
        enable_v2(dir);
    *out = mem_str(dir);
    return true;
}

static char *find_dir(const char *kind, const struct local_limits *limits)
{
    mem_auto char *below = limits->mount_path ? mem_fmt("%s/%s", limits->mount_path, kind) : NULL;
    bool is_v2 = !strcmp(kind, "v2");
    mem_auto char *mount = !below ? find_mount(kind) : mem_str(is_v2 ? limits->mount_path : below);
    mem_auto char *own = below ? NULL : find_own(kind);
    char *dir = NULL;

    if (!mount || access(mount, F_OK))
        return NULL;
    if (!try_dir(kind, mount, "", limits->hierarchy, &dir) && own)
        try_dir(kind, mount, own, limits->hierarchy, &dir);
    return dir;
}

/** The v2 directory has a controller for what is below it. */
static bool has_v2_controller(const char *dir, const char *controller)
{
    mem_auto char *path = mem_fmt("%s/cgroup.subtree_control", dir);
    FILE *f = fopen(path, "re");
    char word[32];
    bool found = false;

    while (f && !found && fscanf(f, "%31s", word) == 1)
        found = !strcmp(word, controller);
    if (f)
        fclose(f);
    return found;
}

static void take_cgroup(struct local *l, const char *kind, char *take_dir)
{
    struct shim_cgroup *g = &l->cgroups[l->n_cgroups++];

    snprintf(g->kind, sizeof g->kind, "%s", kind);
    g->dir = take_dir;
}

static void take_v2(struct local *l, char *take_dir, struct buf *enforced)
{
    take_cgroup(l, "v2", take_dir);
    for (size_t i = 0; i < ARRAY_LEN(v1_kinds); i++)
        if (has_v2_controller(take_dir, v1_kinds[i]))
            buf_addf(enforced, "%s%s", enforced->len ? ", " : "cgroup v2: ", v1_kinds[i]);
}

static void find_all(struct local *l, const struct local_limits *limits, struct buf *enforced)
{
    char *dir;

    if (limits->delegated_dir) {
        enable_v2(limits->delegated_dir);
        if (!access(limits->delegated_dir, W_OK))
            take_v2(l, mem_str(limits->delegated_dir), enforced);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(v1_kinds); i++) {
        bool is_limit = strcmp(v1_kinds[i], "freezer") != 0;
        if (!(dir = find_dir(v1_kinds[i], limits)))
            continue;
        take_cgroup(l, v1_kinds[i], dir);
        if (is_limit)
            buf_addf(enforced, "%s%s", enforced->len ? ", " : "cgroup v1: ", v1_kinds[i]);
    }
    if (!enforced->len && !l->n_cgroups && (dir = find_dir("v2", limits)))
        take_v2(l, dir, enforced);
}

int local_cgroups_open(struct local *l, const struct local_limits *limits, struct err_info *why)
{
    buf_auto struct buf enforced = BUF_EMPTY;

    l->limits = *limits;
    if (limits->cgroups != LIMITS_OFF)
        find_all(l, limits, &enforced);
    l->enforced = mem_str(enforced.len ? buf_cstr(&enforced) : "none");
    if (enforced.len)
        log_emit(&ev_cluster_cgroups, LOG_STR("enforced", l->enforced), LOG_STR("dir", l->cgroups[0].dir));
    else if (limits->cgroups == LIMITS_AUTO)
        log_emit0(&ev_cluster_no_cgroup);
    if (limits->cgroups != LIMITS_REQUIRED || (strstr(l->enforced, "memory") && strstr(l->enforced, "pids")))
        return 0;
    return err_set(why, ERR_CONFIG, "yarn.service.local.cgroups",
                   "Cgroups for memory and pids are required and cannot be used (there is: %s); delegate "
                   "them, or set auto.",
                   l->enforced);
}

void local_cgroups_close(struct local *l)
{
    for (size_t i = 0; i < l->n_cgroups; i++)
        free(l->cgroups[i].dir);
    free(l->enforced);
}

void local_cgroups_fill(const struct local *l, const char *container_id, struct shim_launch *launch)
{
    for (size_t i = 0; i < l->n_cgroups; i++) {
        mem_auto char *dir = mem_fmt("%s/%s", l->cgroups[i].dir, container_id);
        shim_launch_cgroup(launch, l->cgroups[i].kind, dir);
    }
    launch->cgroups_required = l->limits.cgroups == LIMITS_REQUIRED;
}

bool local_cgroups_clear(const struct local *l, const char *container_id)
{
    struct shim_launch launch = {0};
    bool is_left = false;

    local_cgroups_fill(l, container_id, &launch);
    for (size_t i = 0; i < launch.n_cgroups; i++)
        is_left = is_left || (rmdir(launch.cgroups[i].dir) && errno == EBUSY);
    if (is_left)
        cgroups_kill(launch.cgroups, launch.n_cgroups);
    shim_launch_fini(&launch);
    return !is_left;
}

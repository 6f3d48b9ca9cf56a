#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cluster/local_inside.h"

static void check_recovered(struct local *l)
{
    if (!--l->n_recovering)
        l->cluster.ops->recovery_done(l->cluster.ops_arg);
}

void local_recovered(struct box *b)
{
    struct local *l = b->local;

    b->is_recovering = false;
    log_emit(&ev_container_recovered, LOG_STR("container", b->pub.id),
             LOG_STR("state", b->pub.state == CLUSTER_RUNNING ? "running" : "exited"),
             LOG_INT("pid", b->pub.pid));
    l->cluster.ops->recovered(l->cluster.ops_arg, &b->pub);
    check_recovered(l);
}

/** What the `allocation` file of a container says. Strings are borrowed from the struct. */
struct allocation {
    char application_id[128], ip[64];
    int64_t memory_mb, vcores, allocated_ms, attempt;
};

static int read_allocation(const char *dir, struct allocation *out)
{
    mem_auto char *path = mem_fmt("%s/allocation", dir);
    FILE *f = fopen(path, "re");

    if (!f)
        return ERR_NOTFOUND;
    int n = fscanf(f,
                   "application_id=%127[^\n]\nip=%63[^\n]\nmemory_mb=%" SCNd64 "\nvcores=%" SCNd64
                   "\nallocated_ms=%" SCNd64 "\nattempt=%" SCNd64,
                   out->application_id, out->ip, &out->memory_mb, &out->vcores, &out->allocated_ms,
                   &out->attempt);
    fclose(f);
    return n == 6 ? 0 : ERR_PARSE;
}

/**
 * Connect to its shim, or find out how it ended. A shim that was started just before svcmgr died may not listen yet, or not
 * even be executed: it reads its launch file only when it listens. So after the file was taken away, who still
 * cannot be connected to will never run anything.
 */
static int adopt_box(struct local *l, struct box *b)
{
    mem_auto char *exit_file = mem_fmt("%s/%s", b->dir, SHIM_EXIT_FILE);
    mem_auto char *launch = mem_fmt("%s/%s", b->dir, SHIM_LAUNCH_FILE);

    if (!access(exit_file, F_OK))
        return ERR_UNAVAILABLE;
    if (!shim_link_adopt(l->loop, b->dir, &local_link_ops, b, &b->link))
        return 0;
    unlink(launch);
    return shim_link_adopt(l->loop, b->dir, &local_link_ops, b, &b->link);
}

static void recover_box(struct local *l, const char *id, const struct allocation *a)
{
    struct cluster_ask ask = {id, a->application_id, a->memory_mb, a->vcores, NULL, a->ip};
    struct box *b = local_box_new(l, &ask);
    struct shim_exit e;

    b->pub.allocated_ms = a->allocated_ms;
    b->pub.attempt = a->attempt;
    b->is_told = b->has_files = b->is_recovering = true;
    l->n_recovering++;
    if (!adopt_box(l, b)) {
        b->pub.state = CLUSTER_STARTING;
        return;
    }
    shim_link_autopsy(b->dir, &e);
    local_box_exit(b, &e);
}

static void recover_dir(struct local *l, const char *id)
{
    mem_auto char *dir = mem_fmt("%s/containers/%s", l->dir, id);
    mem_auto char *launch = mem_fmt("%s/%s", dir, SHIM_LAUNCH_FILE);
    struct allocation a;
    struct err_info why = {0};

    if (!access(launch, F_OK) && !read_allocation(dir, &a)) {
        recover_box(l, id, &a);
        return;
    }
    log_emit(&ev_container_scrap, LOG_STR("dir", dir));
    if (local_remove_tree(dir, &why))
        log_emit(&ev_container_not_removed, LOG_STR("container", id), LOG_ERR(&why));
}

/** Tell of those whose state the scan itself has found. */
static void tell_found(void *arg)
{
    struct local *l = obj_cast(arg, struct local, LOCAL_MAGIC);
    const char **ids = map_sorted_keys(&l->boxes);

    for (size_t i = 0; ids[i] && !l->is_closing; i++) {
        struct box *b = map_get(&l->boxes, ids[i]);
        if (b->is_recovering && b->pub.state == CLUSTER_EXITED)
            local_recovered(b);
    }
    free(ids);
    if (!l->is_closing)
        check_recovered(l);
    l->n_posts--;
    local_check_end(l);
}

void local_recover(struct cluster *c)
{
    struct local *l = local_of(c);
    mem_auto char *containers = mem_fmt("%s/containers", l->dir);
    DIR *d = local_open_dir(containers);
    const struct dirent *e;

    l->n_recovering = 1;
    while (d && (e = readdir(d)))
        if (e->d_name[0] != '.')
            recover_dir(l, e->d_name);
    if (d)
        closedir(d);
    l->n_posts++;
    run_post(l->loop, tell_found, l);
}

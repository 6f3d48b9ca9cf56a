#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cluster/local_priv.h"
#include "cluster/local_tree.h"

#define DEADLINE_MS                                                                                          \
    3000 /* from the end of the scan until a container without evidence is reported as RECOVERING */
#define SCAN_PAUSE_MS 200
#define SCAN_ROOM     64

/** The cluster is this host. */
static void report_node(const struct local *l)
{
    const char *label = l->label ? l->label : "";
    const struct cluster_node node = {.host = l->hostname,
                                      .rack = "/default-rack",
                                      .state = "RUNNING",
                                      .labels = &label,
                                      .n_labels = *label ? 1 : 0,
                                      .memory_mb = l->memory_mb,
                                      .vcores = l->vcores};

    l->cluster.ops->node(l->cluster.ops_arg, &node);
}

static void recovery_done(struct local *l)
{
    l->is_recovered = true;
    run_timer_stop(l->recovery_timer);
    report_node(l);
    local_images_sweep(l);
    l->cluster.ops->recovery_done(l->cluster.ops_arg);
}

static void check_recovered(struct local *l)
{
    if (!l->is_recovered && !--l->n_recovering)
        recovery_done(l);
}

void local_recovered(struct box *b)
{
    struct local *l = b->local;

    b->is_recovering = false;
    log_emit(&ev_container_recovered, LOG_STR("container", b->pub.id),
             LOG_STR("state", b->pub.state == CLUSTER_RUNNING ? "running" : "exited"),
             LOG_INT("pid", b->pub.pid));
    l->cluster.ops->recovered(l->cluster.ops_arg, &b->pub);
    local_serve_soon(l); /* Who asked for it again has not been answered. */
    check_recovered(l);
}

/** The time is over: what is not known is RECOVERING, for as long as it takes. */
static void on_deadline(struct local *l)
{
    const char **ids = map_sorted_keys(&l->boxes);

    for (size_t i = 0; ids[i] && !l->is_closing; i++) {
        struct box *b = map_get(&l->boxes, ids[i]);
        if (!b->is_recovering)
            continue;
        l->cluster.ops->recovered(l->cluster.ops_arg, &b->pub);
        char *reason = b->reason ? b->reason : (char *)"its shim does not answer yet";
        l->cluster.ops->waits(l->cluster.ops_arg, ids[i], &(struct eng_waiting){.text = reason});
        if (b->is_short)
            local_report_degraded(l, b->reason);
    }
    free(ids);
    if (!l->is_closing)
        recovery_done(l);
}

/** What the `allocation` file of a container says. Strings are borrowed from the struct. */
struct allocation {
    char application_id[128], ip[64];
    char amounts[1024]; /* local_types_write; "": none, as before they were written */
    char devices[LOCAL_DEVICES_MAX + 1];
    int64_t memory_mb, vcores, allocated_ms, attempt;
};

static int read_allocation(const char *dir, struct allocation *out, struct err_info *why)
{
    mem_auto char *path = mem_fmt("%s/allocation", dir);
    FILE *f = fopen(path, "re");

    if (!f)
        return errno == ENOENT ? ERR_NOTFOUND
                               : err_set(why, shortage_code(errno), path, "%s", strerror(errno));
    out->amounts[0] = out->devices[0] = '\0';
    int n = fscanf(f,
                   "application_id=%127[^\n]\nip=%63[^\n]\nmemory_mb=%" SCNd64 "\nvcores=%" SCNd64
                   "\nallocated_ms=%" SCNd64 "\nattempt=%" SCNd64 "\namounts=%1023[^\n]\ndevices=%4000[^\n]",
                   out->application_id, out->ip, &out->memory_mb, &out->vcores, &out->allocated_ms,
                   &out->attempt, out->amounts, out->devices);
    fclose(f);
    return n >= 6 ? 0 : ERR_NOTFOUND;
}

/** What the id alone says of a container. */
static void guess_allocation(const char *id, struct allocation *out)
{
    mem_auto char *application = cluster_application_of(id);

    *out = (struct allocation){.ip = "127.0.0.1"};
    snprintf(out->application_id, sizeof out->application_id, "%s", application ? application : id);
}

void local_look(struct box *b)
{
    struct local *l = b->local;
    struct err_info why = {0};
    struct shim_exit e;
    int err = shim_link_adopt(l->loop, b->dir, &local_link_ops, b, &b->link, &why);

    if (!err) {
        local_wait_over(b); /* Running or ended, the link says it. */
        return;
    }
    if (err == ERR_NOTFOUND)
        err = shim_autopsy(b->dir, &e, &why);
    if (!err && !local_image_clear(b))
        err = err_set(&why, ERR_UNAVAILABLE, b->dir, "its shim is dead, its container is being removed");
    if (!err && !local_cgroups_clear(l, b->pub.id))
        err =
            err_set(&why, ERR_UNAVAILABLE, b->dir, "its shim is dead, what it left in its cgroup is killed");
    if (err) {
        local_wait(b, local_look, err, &why);
        return;
    }
    local_wait_over(b);
    local_box_exit(b, &e);
    if (!l->is_scanning)
        local_box_ended(b);
}

static void recover_box(struct local *l, const char *id, const struct allocation *a)
{
    struct spec_needs *needs = local_types_read(a->amounts);
    struct cluster_ask ask = {.container_id = id,
                              .application_id = a->application_id,
                              .memory_mb = a->memory_mb,
                              .vcores = a->vcores,
                              .ip = a->ip,
                              .needs = needs};
    struct box *b = local_box_new(l, &ask);
    spec_needs_free(needs);

    b->devices = mem_str(a->devices);
    local_devices_hold(&l->devices, b->devices, true);
    b->pub.gpus = local_devices_gpus(&l->devices, b->devices);
    b->pub.allocated_ms = a->allocated_ms;
    b->pub.attempt = a->attempt;
    b->is_reported = b->is_recovering = true;
    b->pub.state = CLUSTER_RECOVERING;
    l->n_recovering++;
    local_look(b);
}

/** A directory in which nothing was ever started, or that cannot be read, and in which nothing lives. @return 0: it is gone; or why not. */
static int remove_scrap(const char *dir, const char *id, struct err_info *why)
{
    struct shim_exit e;
    int err = shim_autopsy(dir, &e, why);

    if (err)
        return err;
    log_emit(&ev_container_scrap, LOG_STR("dir", dir));
    err = local_remove_tree(dir, why);
    if (err && !shortage_is(err))
        log_emit(&ev_container_not_removed, LOG_STR("container", id), LOG_ERR(why));
    return shortage_is(err) ? err : 0;
}

/** @return 0, ERR_NOTFOUND, or what stands against saying so. */
static int check_file(const char *dir, const char *name, struct err_info *why)
{
    mem_auto char *path = mem_fmt("%s/%s", dir, name);

    if (!access(path, F_OK))
        return 0;
    return errno == ENOENT ? ERR_NOTFOUND : err_set(why, shortage_code(errno), path, "%s", strerror(errno));
}

/**
 * Whether something was started in it. The launch file is the last that we write; the shim writes the running file before it starts the
 * process, and the exit file when it cannot. @return 0, ERR_NOTFOUND, or what stands against saying so.
 */
static int check_begun(const char *dir, struct err_info *why)
{
    int err = check_file(dir, SHIM_LAUNCH_FILE, why);

    if (err)
        return err;
    err = check_file(dir, SHIM_RUNNING_FILE, why);
    return err == ERR_NOTFOUND ? check_file(dir, SHIM_EXIT_FILE, why) : err;
}

/** @return 0; or ERR_*: nothing can be said of it now, *why says for lack of what. */
static int recover_dir(struct local *l, const char *id, struct err_info *why)
{
    mem_auto char *dir = mem_fmt("%s/containers/%s", l->dir, id);
    struct allocation a;
    int allocation_err = read_allocation(dir, &a, why);
    int err = allocation_err ? allocation_err : check_begun(dir, why);

    if (err == ERR_NOTFOUND) {
        err = remove_scrap(dir, id, why);
        if (err != ERR_UNAVAILABLE)
            return err;
        err = 0; /* Something lives in it. */
    }
    if (err)
        return err;
    if (allocation_err) {
        log_emit(&ev_container_nameless, LOG_STR("container", id), LOG_ERR(why));
        guess_allocation(id, &a);
    }
    recover_box(l, id, &a);
    return 0;
}

/** Tell of those whose state the scan itself has found. */
static void report_found(void *arg)
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

/** Read the names in containers/. */
static int read_ids(struct local *l, struct err_info *why)
{
    mem_auto char *containers = mem_fmt("%s/containers", l->dir);
    DIR *d = local_open_dir(containers);
    const struct dirent *e;
    size_t room = 0;

    if (!d)
        return err_set(why, shortage_code(errno), containers, "%s", strerror(errno));
    while ((e = readdir(d))) {
        if (e->d_name[0] == '.')
            continue;
        if (l->n_scan == room)
            l->scan_ids = mem_resize(l->scan_ids, room += SCAN_ROOM, sizeof *l->scan_ids);
        l->scan_ids[l->n_scan++] = mem_str(e->d_name);
    }
    closedir(d);
    return 0;
}

static int scan(struct local *l, struct err_info *why)
{
    int err = l->scan_ids ? 0 : read_ids(l, why);

    l->is_scanning = true;
    while (!err && l->scan_at < l->n_scan) {
        err = recover_dir(l, l->scan_ids[l->scan_at], why);
        l->scan_at += !err;
    }
    l->is_scanning = false;
    return err;
}

/** Reports nothing before the scan is through: a container that is not found yet must not be taken for gone. */
static void scan_on(struct local *l)
{
    struct err_info why = {0};
    int err = scan(l, &why);

    if (err) {
        mem_auto char *reason = mem_fmt("%s: %s", why.where, why.text);
        if (!l->is_degraded)
            log_emit(&ev_recovery_waits, LOG_ERR(&why));
        local_report_degraded(l, reason);
        run_timer_start(l->recovery_timer, SCAN_PAUSE_MS, 0);
        return;
    }
    local_report_degraded(l, NULL);
    l->is_scanned = true;
    l->n_posts++;
    run_post(l->loop, report_found, l);
    run_timer_start(l->recovery_timer, DEADLINE_MS, 0);
}

static void on_recovery_timer(void *arg)
{
    struct local *l = obj_cast(arg, struct local, LOCAL_MAGIC);

    if (l->is_closing)
        return;
    if (l->is_scanned)
        on_deadline(l);
    else
        scan_on(l);
}

void local_recover(struct cluster *c)
{
    struct local *l = local_of(c);

    l->n_recovering = 1;
    l->recovery_timer = run_timer_new(l->loop, on_recovery_timer, l);
    run_timer_start(l->recovery_timer, 0, 0);
    local_sweep_start(l);
}

#include "cluster/local.h"

#include <errno.h>
#include <grp.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"
#include "cluster/address_claim.h"
#include "cluster/local_priv.h"
#include "spec/spec.h"
#include "cluster/local_tree.h"
#include "run/file.h"

#define VCORES_PER_PROCESSOR 4
#define OUTPUTS              2 /* of a process: standard output and error */
#define NO_LABEL(text)       (!(text) || !*(text))

/* ---- boxes ---- */

struct box *local_box_new(struct local *l, const struct cluster_ask *ask)
{
    struct box *b = mem_new(struct box);

    obj_init(&b->obj, BOX_MAGIC);
    b->local = l;
    b->dir = mem_fmt("%s/containers/%s", l->dir, ask->container_id);
    b->pub.id = mem_str(ask->container_id);
    b->pub.application_id = mem_str(ask->application_id);
    b->pub.ip = mem_str(ask->ip ? ask->ip : LOCAL_SHARED_IP);
    b->pub.work_dir = mem_fmt("%s/work", b->dir);
    b->pub.log_dir = mem_fmt("%s/logs/%s/%s", l->dir, ask->application_id, ask->container_id);
    b->pub.hostname = l->hostname;
    b->pub.run_user = l->run_user;
    b->pub.memory_mb = ask->memory_mb;
    b->pub.vcores = ask->vcores;
    b->pub.allocated_ms = run_wall_ms();
    l->used_memory_mb += ask->memory_mb;
    l->used_vcores += ask->vcores;
    b->needs = spec_needs_copy(ask->needs);
    local_types_count(&l->types, b->needs, 1);
    map_set(&l->boxes, b->pub.id, b);
    if (ask->ip && !map_get(&l->by_ip, ask->ip))
        map_set(&l->by_ip, ask->ip, b);
    return b;
}

void local_box_free(struct box *b)
{
    struct local *l = b->local;

    shim_link_close(b->link);
    local_image_forget(b);
    local_wait_over(b);
    run_timer_free(b->timer);
    run_timer_free(b->kill_timer);
    if (b->launch_job)
        local_job_free(b->launch_job);
    l->used_memory_mb -= b->pub.memory_mb;
    l->used_vcores -= b->pub.vcores;
    local_types_count(&l->types, b->needs, -1);
    spec_needs_free(b->needs);
    local_devices_hold(&l->devices, b->devices, false);
    free(b->devices);
    map_remove(&l->boxes, b->pub.id);
    if (map_get(&l->by_ip, b->pub.ip) == b)
        map_remove(&l->by_ip, b->pub.ip);
    free((char *)b->pub.id);
    free((char *)b->pub.application_id);
    free((char *)b->pub.ip);
    free((char *)b->pub.work_dir);
    free((char *)b->pub.log_dir);
    free(b->pub.last_stderr);
    free(b->dir);
    obj_fini(&b->obj);
    free(b);
    local_wait_next(l);
}

/* ---- requests ---- */

static void free_ask(struct local *l, struct local_ask *a)
{
    TAILQ_REMOVE(&l->asks, a, link);
    l->n_asks--;
    free((char *)a->ask.container_id);
    free((char *)a->ask.application_id);
    free((char *)a->ask.label);
    free((char *)a->ask.host);
    free((char *)a->ask.ip);
    free((char *)a->ask.component);
    spec_needs_free((struct spec_needs *)a->ask.needs);
    free(a->reason);
    free(a);
}

/** Why a request cannot be fulfilled now. @return new text; NULL: it can. */
static char *find_reason(const struct local *l, const struct cluster_ask *ask)
{
    const struct box *has = ask->ip ? map_get(&l->by_ip, ask->ip) : NULL;
    int64_t free_mb = l->memory_mb - l->used_memory_mb, free_vcores = l->vcores - l->used_vcores;

    if (ask->host && strcmp(ask->host, l->hostname))
        return mem_fmt("there is no host %s", ask->host);
    if (map_get(&l->excluded, ask->application_id))
        return mem_fmt("host %s is excluded, and there is no other", l->hostname);
    if (!NO_LABEL(ask->label) && strcmp(ask->label, NO_LABEL(l->label) ? "" : l->label))
        return mem_fmt("no host has the label %s", ask->label);
    if (ask->memory_mb > l->memory_mb)
        return mem_fmt("%" PRId64 " MB of memory are wanted, this host has %" PRId64 " MB", ask->memory_mb,
                       l->memory_mb);
    if (ask->vcores > l->vcores)
        return mem_fmt("%" PRId64 " vcores are wanted, this host has %" PRId64, ask->vcores, l->vcores);
    if (ask->memory_mb > free_mb)
        return mem_fmt("%" PRId64 " MB of memory are wanted, %" PRId64 " of %" PRId64 " MB are free",
                       ask->memory_mb, free_mb, l->memory_mb);
    if (ask->vcores > free_vcores)
        return mem_fmt("%" PRId64 " vcores are wanted, %" PRId64 " of %" PRId64 " are free", ask->vcores,
                       free_vcores, l->vcores);
    char *lack = local_types_lack(&l->types, ask->needs);
    lack = lack ? lack : local_devices_lack(&l->devices, ask->needs);
    if (lack)
        return lack;
    if (has)
        return mem_fmt("its address %s is in use until %s has gone", ask->ip, has->pub.id);
    return NULL;
}

/** A container of another svcmgr has its address: whoever asked asks for another. */
static void refuse_address(struct local *l, struct local_ask *a)
{
    mem_auto char *id = mem_str(a->ask.container_id);
    mem_auto char *ip = mem_str(a->ask.ip);

    free_ask(l, a);
    l->cluster.ops->address_taken(l->cluster.ops_arg, id, ip);
}

static void serve_ask(struct local *l, struct local_ask *a)
{
    const struct cluster_ops *ops = l->cluster.ops;
    mem_auto char *reason = find_reason(l, &a->ask);

    if (!reason && a->ask.ip && address_is_claimed(a->ask.ip)) {
        refuse_address(l, a);
        return;
    }
    if (!reason) {
        struct box *b = local_box_new(l, &a->ask);
        b->devices = local_devices_take(&l->devices, b->needs);
        b->pub.gpus = local_devices_gpus(&l->devices, b->devices);
        free_ask(l, a);
        return;
    }
    if (a->reason && !strcmp(a->reason, reason))
        return;
    free(a->reason);
    a->reason = mem_str(reason);
    ops->waits(l->cluster.ops_arg, a->ask.container_id, &(struct eng_waiting){.text = a->reason});
}

/** Tell of allocated boxes; the callback may release them or ask for others. */
static void report_allocated(struct local *l)
{
    const char **ids = map_sorted_keys(&l->boxes);

    for (size_t i = 0; ids[i]; i++) {
        struct box *b = map_get(&l->boxes, ids[i]);
        if (b->is_reported || b->is_released || b->pub.state == CLUSTER_RECOVERING)
            continue;
        b->is_reported = true;
        l->cluster.ops->allocated(l->cluster.ops_arg, &b->pub);
    }
    free(ids);
}

static void serve(void *arg)
{
    struct local *l = obj_cast(arg, struct local, LOCAL_MAGIC);
    struct local_ask *a = TAILQ_FIRST(&l->asks);

    l->serve_posted = false;
    l->n_posts--;
    while (a && !l->is_closing) {
        struct local_ask *next = TAILQ_NEXT(a, link);
        serve_ask(l, a);
        a = next;
    }
    if (!l->is_closing)
        report_allocated(l);
    local_check_end(l);
}

void local_serve_soon(struct local *l)
{
    if (l->serve_posted)
        return;
    l->serve_posted = true;
    l->n_posts++;
    run_post(l->loop, serve, l);
}

static struct local_ask *find_ask(struct local *l, const char *container_id)
{
    struct local_ask *a;

    TAILQ_FOREACH (a, &l->asks, link)
        if (!strcmp(a->ask.container_id, container_id))
            return a;
    return NULL;
}

static void local_request(struct cluster *c, const struct cluster_ask *ask)
{
    struct local *l = local_of(c);
    struct box *b = map_get(&l->boxes, ask->container_id);

    if (b) {
        b->is_reported = false;
    } else if (!find_ask(l, ask->container_id)) {
        struct local_ask *a = mem_new(struct local_ask);
        a->ask = *ask;
        a->ask.container_id = mem_str(ask->container_id);
        a->ask.application_id = mem_str(ask->application_id);
        a->ask.label = mem_str(ask->label);
        a->ask.host = mem_str(ask->host);
        a->ask.ip = mem_str(ask->ip);
        a->ask.component = mem_str(ask->component);
        a->ask.needs = spec_needs_copy(ask->needs);
        TAILQ_INSERT_TAIL(&l->asks, a, link);
        l->n_asks++;
    }
    local_serve_soon(l);
}

static void local_cancel(struct cluster *c, const char *container_id)
{
    struct local *l = local_of(c);
    struct local_ask *a = find_ask(l, container_id);

    if (a)
        free_ask(l, a);
}

static void local_exclude(struct cluster *c, const char *application_id, const char *host, bool excluded)
{
    struct local *l = local_of(c);

    if (strcmp(host, l->hostname))
        return;
    if (excluded)
        map_set(&l->excluded, application_id, l);
    else
        map_remove(&l->excluded, application_id);
    local_serve_soon(l);
}

static const struct cluster_container *local_find(struct cluster *c, const char *container_id)
{
    const struct box *b = map_get(&local_of(c)->boxes, container_id);

    return b && !b->is_released ? &b->pub : NULL;
}

static void local_capacity(struct cluster *c, struct cluster_capacity *out)
{
    const struct local *l = local_of(c);

    *out = (struct cluster_capacity){.memory_mb = l->memory_mb,
                                     .vcores = l->vcores,
                                     .used_memory_mb = l->used_memory_mb,
                                     .used_vcores = l->used_vcores,
                                     .max_memory_mb = l->memory_mb,
                                     .max_vcores = l->vcores,
                                     .n_containers = l->boxes.n_items,
                                     .n_waiting = l->n_asks};
}

/* ---- the end ---- */

static void drop_asks(struct local *l)
{
    while (!TAILQ_EMPTY(&l->asks))
        free_ask(l, TAILQ_FIRST(&l->asks));
}

static void free_local(struct local *l)
{
    const char **ids = map_sorted_keys(&l->boxes);

    for (size_t i = 0; ids[i]; i++)
        local_box_free(map_get(&l->boxes, ids[i]));
    free(ids);
    drop_asks(l);
    map_fini(&l->boxes, NULL);
    map_fini(&l->by_ip, NULL);
    map_fini(&l->excluded, NULL);
    for (size_t i = 0; i < l->n_scan; i++)
        free(l->scan_ids[i]);
    free(l->scan_ids);
    run_timer_free(l->recovery_timer);
    run_timer_free(l->sweep_timer);
    free(l->dir);
    free(l->shim_path);
    free(l->localizer_path);
    free(l->label);
    local_types_fini(&l->types);
    local_devices_fini(&l->devices);
    free(l->hostname);
    free(l->run_user);
    local_cgroups_close(l);
    for (size_t i = 0; l->source_dirs && l->source_dirs[i]; i++)
        free(l->source_dirs[i]);
    free(l->source_dirs);
    local_images_fini(&l->images);
    local_users_close(l->users);
    obj_fini(&l->obj);
    free(l);
}

void local_check_end(struct local *l)
{
    void (*all_stopped)(void *) = l->all_stopped;

    if (all_stopped && !l->boxes.n_items && !l->n_jobs) {
        l->all_stopped = NULL;
        all_stopped(l->all_stopped_arg);
        return; /* It may have closed the cluster. */
    }
    if (!l->is_closing || l->n_jobs || l->n_posts || !TAILQ_EMPTY(&l->sessions) || !l->closed)
        return;
    void (*closed)(void *) = l->closed;
    void *closed_arg = l->closed_arg;
    free_local(l);
    closed(closed_arg);
}

static void local_stop_all(struct cluster *c, void (*done)(void *arg), void *arg)
{
    struct local *l = local_of(c);
    const char **ids = map_sorted_keys(&l->boxes);

    drop_asks(l);
    l->all_stopped = done;
    l->all_stopped_arg = arg;
    for (size_t i = 0; ids[i]; i++)
        local_box_release(map_get(&l->boxes, ids[i]));
    free(ids);
    local_serve_soon(l); /* It ends with local_check_end: nothing may run at all. */
}

static void local_close(struct cluster *c, void (*closed)(void *arg), void *arg)
{
    struct local *l = local_of(c);

    l->is_closing = true;
    l->closed = closed;
    l->closed_arg = arg;
    for (MAP_EACH (&l->boxes, slot)) {
        struct box *b = slot->value;
        shim_link_close(b->link);
        b->link = NULL;
    }
    local_serve_soon(l);
    local_sources_close(l);
    local_images_close(l);
    local_exec_stop(l, NULL);
}

/* ---- opening ---- */

static const struct cluster_kind local_kind = {
    .name = "local",
    .recover = local_recover,
    .request = local_request,
    .cancel = local_cancel,
    .launch = local_launch,
    .stop = local_stop,
    .release = local_release,
    .exclude = local_exclude,
    .find = local_find,
    .log_dir = local_log_dir,
    .last_container = local_last_container,
    .is_of = local_is_of,
    .capacity = local_capacity,
    .look = local_sources_look,
    .signal = local_signal,
    .usage = local_usage,
    .exec = local_exec,
    .exec_end = local_exec_end,
    .stop_all = local_stop_all,
    .close = local_close,
};

static int find_user(struct local *l, const char *name, struct err_info *why)
{
    char text[4096];
    struct passwd entry, *found = NULL;
    int n = SHIM_GROUPS_MAX;

    l->user.is_set = geteuid() == 0;
    int failed = l->user.is_set ? getpwnam_r(name, &entry, text, sizeof text, &found)
                                : getpwuid_r(geteuid(), &entry, text, sizeof text, &found);
    if (!found && !l->user.is_set) {
        l->run_user = mem_fmt("%u", (unsigned)geteuid());
        return 0;
    }
    if (failed || !found)
        return err_set(why, ERR_CONFIG, name, "There is no user %s for containers to run as.", name);
    l->run_user = mem_str(entry.pw_name);
    l->user.uid = entry.pw_uid;
    l->user.gid = entry.pw_gid;
    if (getgrouplist(entry.pw_name, entry.pw_gid, l->user.groups, &n) < 0)
        return err_set(why, ERR_CONFIG, name, "User %s has more than %d groups.", name, SHIM_GROUPS_MAX);
    l->user.n_groups = (size_t)n;
    return 0;
}

static int open_users(struct local *l, const char *range, struct err_info *why)
{
    mem_auto char *file = mem_fmt("%s/users", l->dir);

    return range && *range ? local_users_open(range, file, &l->users, why) : 0;
}

static void size_host(struct local *l, const struct local_options *o)
{
    int64_t pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    char name[256] = "localhost";

    l->memory_mb = o->memory_mb > 0 ? o->memory_mb : (pages * page) >> 20;
    l->vcores = o->vcores > 0 ? o->vcores : sysconf(_SC_NPROCESSORS_ONLN) * VCORES_PER_PROCESSOR;
    if (!o->hostname)
        gethostname(name, sizeof name - 1);
    l->hostname = mem_str(o->hostname ? o->hostname : name);
}

/** Processes of another user must be able to pass every directory above theirs. */
static void check_passage(const struct local *l)
{
    mem_auto char *part = mem_str(l->dir);
    struct stat st;

    if (!l->user.is_set || !l->user.uid)
        return;
    for (char *slash = strchr(part + 1, '/');; slash = strchr(slash + 1, '/')) {
        if (slash)
            *slash = '\0';
        if (!stat(part, &st) && !(st.st_mode & S_IXOTH)) {
            log_emit(&ev_cluster_dir_hidden, LOG_STR("dir", part), LOG_STR("user", l->run_user));
            return;
        }
        if (!slash)
            return;
        *slash = '/';
    }
}

static int read_source_dirs(struct local *l, const char *text, struct err_info *why)
{
    mem_auto char *field = NULL;
    size_t n = 0;

    l->source_dirs = mem_array(strlen(text) + 2, sizeof *l->source_dirs);
    for (size_t i = 0; (field = str_field(text, ',', i)); i++, mem_free_ptr(&field)) {
        if (*field != '/')
            return err_set(why, ERR_CONFIG, "yarn.service.local.source-dirs",
                           "\"%.200s\" is no absolute directory.", field);
        l->source_dirs[n++] = mem_str(field);
    }
    return 0;
}

/** What is below belongs to several users: they pass, and do not look around. */
static int make_passage(const char *dir, struct err_info *why)
{
    int err = file_make_dir(dir, 0755, why);

    return !err && chmod(dir, 0711) ? local_sys_fail(why, dir) : err;
}

static int make_dirs(const struct local *l, struct err_info *why)
{
    mem_auto char *containers = mem_fmt("%s/containers", l->dir);
    mem_auto char *logs = mem_fmt("%s/logs", l->dir);
    int err = make_passage(containers, why);

    return err ? err : make_passage(logs, why);
}

static char *localizer_path(const struct local_options *o)
{
    mem_auto char *dir = path_parent(o->shim_path);

    return o->localizer_path ? mem_str(o->localizer_path) : mem_fmt("%s/container-localizer", dir);
}

static int find_program(const char *name, const char *path, struct err_info *why)
{
    return access(path, X_OK) ? err_set(why, ERR_CONFIG, path, "%s is not there: %s", name, strerror(errno))
                              : 0;
}

static int find_programs(const struct local *l, struct err_info *why)
{
    int err = find_program("container-shim", l->shim_path, why);

    return err ? err : find_program("container-localizer", l->localizer_path, why);
}

static int check_range(const char *range, struct err_info *why)
{
    if (!range || !*range)
        return 0;
    if (geteuid())
        return err_set(why, ERR_CONFIG, "yarn.service.local.user-range",
                       "Only root can run containers as other users; leave it out, or start svcmgr as root.");
    return local_users_check(range, "/etc", why);
}

void cluster_local_check(const struct options *o, const struct local_options *options,
                         struct opt_report *report)
{
    struct local *l = mem_new(struct local);
    struct err_info why;

    obj_init(&l->obj, LOCAL_MAGIC);
    TAILQ_INIT(&l->asks);
    l->dir = mem_str(options->dir);
    if (find_user(l, options->run_user, &why))
        opt_error(o, "yarn.nodemanager.linux-container-executor.nonsecure-mode.local-user", &why, report);
    if (read_source_dirs(l, options->source_dirs, &why))
        opt_error(o, "yarn.service.local.source-dirs", &why, report);
    l->shim_path = mem_str(options->shim_path);
    l->localizer_path = localizer_path(options);
    if (find_programs(l, &why))
        opt_error(o, "yarn.service.local.container-shim", &why, report);
    if (local_images_open(&l->images, options, &why))
        opt_error(o, "yarn.service.local.container-runtime", &why, report);
    if (check_range(options->user_range, &why) || open_users(l, options->user_range, &why))
        opt_error(o, "yarn.service.local.user-range", &why, report);
    free_local(l);
}

const char *cluster_local_runtime(struct cluster *c)
{
    return local_of(c)->images.program;
}

const char *cluster_local_enforced(struct cluster *c)
{
    return local_of(c)->enforced;
}

int cluster_local_open(struct run_loop *loop, const struct local_options *options,
                       const struct cluster_ops *ops, void *ops_arg, struct cluster **out,
                       struct err_info *why)
{
    struct local *l = mem_new(struct local);

    obj_init(&l->obj, LOCAL_MAGIC);
    l->cluster = (struct cluster){&local_kind, ops, ops_arg};
    l->loop = loop;
    TAILQ_INIT(&l->asks);
    TAILQ_INIT(&l->readers);
    TAILQ_INIT(&l->sessions);
    TAILQ_INIT(&l->images.calls);
    TAILQ_INIT(&l->images.waiting);
    TAILQ_INIT(&l->unprepared);
    TAILQ_INIT(&l->shorts);
    l->dir = mem_str(options->dir);
    l->shim_path = mem_str(options->shim_path);
    l->localizer_path = localizer_path(options);
    l->label = mem_str(options->label);
    local_types_init(&l->types, options->types);
    local_devices_init(&l->devices, options->devices);
    local_devices_add_gpus(&l->devices, local_types_has(&l->types, SPEC_GPU_TYPE));
    l->grace_ms = options->grace_ms;
    l->keep_logs_ms = options->keep_logs_ms;
    l->source_max_bytes = options->source_max_bytes;
    l->source_timeout_ms = options->source_timeout_ms;
    l->fetch_timeout_ms = options->fetch_timeout_ms;
    l->unpack = (struct unpack_limits){options->archive_max_bytes, options->archive_max_entries,
                                       options->archive_max_ratio};
    l->cache_max_bytes = options->cache_max_bytes;
    l->cache_fresh_s = options->cache_fresh_s;
    l->fs = options->fs;
    l->log_files = options->log_files > 0 ? options->log_files : 1;
    l->log_bytes = options->log_dir_bytes / (OUTPUTS * l->log_files);
    size_host(l, options);
    int err = find_user(l, options->run_user, why);
    if (!err)
        err = read_source_dirs(l, options->source_dirs, why);
    if (!err)
        err = find_programs(l, why);
    if (!err)
        err = local_images_open(&l->images, options, why);
    if (!err)
        err = make_dirs(l, why);
    if (!err)
        err = local_cgroups_open(l, &options->limits, why);
    if (!err)
        err = open_users(l, options->user_range, why);
    if (err) {
        free_local(l);
        return err;
    }
    check_passage(l);
    log_emit(&ev_cluster_opened, LOG_STR("dir", l->dir), LOG_STR("run_user", l->run_user),
             LOG_INT("memory_mb", l->memory_mb), LOG_INT("vcores", l->vcores));
    *out = &l->cluster;
    return 0;
}

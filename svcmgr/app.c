/* The start table of svcmgr: parts in the order in which they start; they stop in reverse. */
#include "svcmgr/app.h"
#include "svcmgr/app_manager.h"
#include "svcmgr/app_master.h"
#include "svcmgr/app_nodes.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"
#include "bobbin/path.h"
#include "cluster/local.h"
#include "faces/waits.h"
#include "keys/keys.h"
#include "spec/spec.h"
#include "store/store.h"
#include "svcmgr/events.h"
#include "svcmgr/options.h"

LOG_DECLARE(SVCMGR_EVENTS)

#define UNPUBLISH_LIMIT_MS 3000
#define WRITE_RETRY_MS     1000
#define LOCK_TRIES         100
#define LOCK_WAIT_MS       20

static struct app *app_of(void *p)
{
    return obj_cast(p, struct app, APP_MAGIC);
}

static void on_part_stopped(void *arg)
{
    daemon_stopped(app_of(arg)->daemon);
}

/* ---- base: names and places ---- */

/** container-shim: named by the option, beside this program (build tree), or in libexec (installed). */
static char *find_shim(const struct options *o)
{
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

    if (opt_text(o, OPT_SHIM))
        return mem_str(opt_text(o, OPT_SHIM));
    self[n > 0 ? n : 0] = '\0';
    mem_auto char *dir = path_parent(self), *beside = mem_fmt("%s/container-shim", dir);
    if (!access(beside, X_OK))
        return mem_str(beside);
    return mem_fmt("%s/../libexec/bobbin/container-shim", dir);
}

/** Absolute: shims and processes work in directories of their own. */
static char *find_dir(const char *data_dir)
{
    mem_auto char *here = *data_dir == '/' ? NULL : getcwd(NULL, 0);

    return here ? mem_fmt("%s/%s/svcmgr", here, data_dir) : mem_fmt("%s/svcmgr", data_dir);
}

static const struct outage_def state_outage = {
    "state",    &ev_state_not_written, &ev_state_still_not_written, &ev_state_written_again,
    M_STATE_UP, M_STATE_SINCE};

static const struct outage_def rm_outage = {"resource manager", &ev_rm_away, &ev_rm_still_away,
                                            &ev_rm_back,        M_RM_UP,     M_RM_SINCE};

static int start_base(struct daemon *d, void *app, struct err_info *why)
{
    obj_init(app, APP_MAGIC);
    struct app *a = app_of(app);
    const struct options *o = daemon_options(d);

    (void)why;
    signal(SIGXFSZ, SIG_IGN); /* A limit on file sizes is an error of the write, as a full disk is. */
    obj_init(&a->face.obj, FACE_MAGIC);
    a->face.ops = &app_face_ops;
    a->face.app = a;
    a->daemon = d;
    a->loop = daemon_loop(d);
    a->write_retry_ms = WRITE_RETRY_MS;
    a->state_outage = outage_new(daemon_outages(d), &state_outage);
    if (app_is_on_yarn(o)) {
        a->role = ROLE_MANAGER;
        a->rm_outage = outage_new(daemon_outages(d), &rm_outage);
    }
    queue_init(&a->queue);
    TAILQ_INIT(&a->steps);
    TAILQ_INIT(&a->callers);
    TAILQ_INIT(&a->plans);
    a->user = opt_text(o, OPT_STATIC_USER) ? mem_str(opt_text(o, OPT_STATIC_USER)) : reg_current_user();
    a->dir = find_dir(opt_text(o, OPT_DATA_DIR));
    a->shim_path = find_shim(o);
    a->http = http_client_new(a->loop);
    a->face.waits = waits_new(a->loop);
    app_launcher_open(a);
    app_slider_open(a);
    return 0;
}

static void stop_base(struct daemon *d, void *app)
{
    struct app *a = app_of(app);

    http_client_free(a->http);
    app_nodes_fini(a);
    waits_free(a->face.waits);
    app_slider_close(a);
    app_launcher_close(a);
    free(a->user);
    free(a->dir);
    free(a->shim_path);
    app_host_fini(&a->host);
    app_master_end(a);
    free(a->degraded);
    free(a->state_url);
    buf_fini(&a->clock_text);
    obj_fini(&a->obj);
    daemon_stopped(d);
}

void app_fenced(struct app *a, const struct err_info *why)
{
    log_emit(&ev_state_taken, LOG_ERR(why));
    a->is_ending = a->is_fenced = true;
    daemon_quit(a->daemon, ERR_WRONGSTATE);
}

/* ---- registry ---- */

/** As effects of the engine: only while the state is ours. */
static bool may_publish(void *arg)
{
    const struct app *a = app_of(arg);

    return !a->is_fenced && a->state && state_is_held(a->state);
}

static void check_registry(const struct options *o, struct opt_report *report)
{
    struct err_info why;

    if (reg_check_url(opt_text(o, OPT_REGISTRY_URL), &why))
        opt_error(o, "hadoop.registry.url", &why, report);
    if (dns_sync_check(opt_text(o, OPT_DNS_URLS), &why))
        opt_error(o, "yarn.service.drain.dns-urls", &why, report);
}

static const struct outage_def registry_outage = {
    "registry",        &ev_registry_away, &ev_registry_still_away,
    &ev_registry_back, M_REGISTRY_UP,     M_REGISTRY_SINCE};

/* Where the records of this user's services stand. free() */
static char *registry_home(const struct app *a)
{
    mem_auto char *user = spec_registry_user(a->own ? a->own->user : a->user);

    return mem_fmt("/users/%s/services/yarn-service", user);
}

static void start_dns_sync(struct app *a)
{
    const struct options *o = daemon_options(a->daemon);
    const struct dns_sync_def def = {.urls = opt_text(o, OPT_DNS_URLS),
                                     .timeout_ms = opt_ms(o, OPT_DNS_TIMEOUT),
                                     .revision = app_revision,
                                     .done = app_dns_synced,
                                     .changed = app_dns_changed,
                                     .arg = a};

    a->dns_sync = dns_sync_new(a->loop, a->http, &def);
}

/* After the state, which it asks until it has stopped. */
static int start_registry(struct daemon *d, void *app, struct err_info *why)
{
    struct app *a = app_of(app);
    const struct publish_def def = {.url = opt_text(daemon_options(d), OPT_REGISTRY_URL),
                                    .done = app_record_done,
                                    .changed = app_registry_changed,
                                    .arg = a,
                                    .outage = a->registry_outage =
                                        outage_new(daemon_outages(d), &registry_outage)};
    mem_auto char *home = registry_home(a);
    int err = publish_open(a->loop, &def, &a->publish, why);

    if (err)
        return err;
    publish_guard(a->publish, may_publish, a);
    publish_hold(a->publish);
    publish_follow(a->publish, home,
                   &(struct publish_follow_ops){app_records_restored, app_registry_back, a});
    start_dns_sync(a);
    return 0;
}

static void on_drained(void *arg)
{
    struct app *a = app_of(arg);

    publish_close(a->publish);
    a->publish = NULL;
    daemon_stopped(a->daemon);
}

static void stop_registry(struct daemon *d, void *app)
{
    struct app *a = app_of(app);

    dns_sync_free(a->dns_sync);
    a->dns_sync = NULL;
    /* What a stop left to unpublish gets its chance; else nothing is lost: the next start publishes again. */
    bool must_drain = opt_bool(daemon_options(d), OPT_STOP_ON_EXIT) && !a->is_fenced;
    publish_drain(a->publish, must_drain ? UNPUBLISH_LIMIT_MS : 0, on_drained, a);
}

/* ---- state ---- */

static void check_state(const struct options *o, struct opt_report *report)
{
    const char *url = opt_text(o, OPT_STATE_STORE);
    struct err_info why;

    if (url && store_check(url, NULL, &why))
        opt_error(o, "yarn.service.state.store", &why, report);
    else
        app_check_yarn(o, report);
}

static int start_state(struct daemon *d, void *app, struct err_info *why)
{
    struct app *a = app_of(app);
    const char *url = opt_text(daemon_options(d), OPT_STATE_STORE);

    a->state_url = url ? mem_str(url) : mem_fmt("file:%s/state", a->dir);
    if (a->role == ROLE_MASTER)
        return app_master_open_state(a, why);
    int err = state_open(a->loop, a->state_url, NULL, &a->state, why);
    /* An svcmgr that was killed while it forked a shim: the child holds the lock until it executes. */
    for (int i = 0; err == ERR_WRONGSTATE && i < LOCK_TRIES; i++) {
        poll(NULL, 0, LOCK_WAIT_MS);
        err = state_open(a->loop, a->state_url, NULL, &a->state, why);
    }
    if (err && err != ERR_WRONGSTATE)
        return err;
    daemon_version_fact(d, "state_store", a->state_url); /* In use by another: app_recover stands by. */
    return 0;
}

static void on_state_closed(void *arg)
{
    struct app *a = app_of(arg);

    app_drop_steps(a); /* Not before: a write under way borrows their documents. */
    engine_free(a->engine);
    a->engine = NULL;
    daemon_stopped(a->daemon);
}

static void stop_state(struct daemon *d, void *app)
{
    (void)d;
    if (app_of(app)->state)
        state_close(app_of(app)->state, on_state_closed, app);
    else
        on_state_closed(app);
}

/* ---- cluster ---- */

static struct local_limits limits_of(const struct options *o)
{
    const char *cgroups = opt_text(o, OPT_CGROUPS);

    return (struct local_limits){
        .cgroups = !strcmp(cgroups, "off")        ? LIMITS_OFF
                   : !strcmp(cgroups, "required") ? LIMITS_REQUIRED
                                                  : LIMITS_AUTO,
        .delegated_dir = opt_text(o, OPT_CGROUP),
        .mount_path = opt_text(o, OPT_CGROUP_MOUNT),
        .hierarchy = opt_text(o, OPT_CGROUP_HIERARCHY),
        .memory_is_enforced = opt_bool(o, OPT_MEMORY_ENFORCED) && opt_bool(o, OPT_PMEM_CHECK),
        .cpu_is_strict = opt_bool(o, OPT_CGROUP_CPU),
        .pids_max = opt_int(o, OPT_PIDS),
    };
}

/** Opened when the state is ours: two must not share a directory of containers. */
static int start_cluster(struct daemon *d, void *app, struct err_info *why)
{
    (void)d;
    (void)app;
    (void)why;
    return 0;
}

static struct local_options cluster_options(const struct options *o, const char *dir, const char *shim_path,
                                            const struct spec_host *host)
{
    return (struct local_options){
        .dir = dir,
        .shim_path = shim_path,
        .memory_mb = opt_int(o, OPT_MEMORY_MB),
        .vcores = opt_int(o, OPT_VCORES),
        .label = opt_text(o, OPT_LABEL),
        .types = host->types,
        .hostname = opt_text(o, OPT_HOSTNAME),
        .run_user = opt_text(o, OPT_RUN_USER),
        .user_range = opt_text(o, OPT_USER_RANGE),
        .limits = limits_of(o),
        .grace_ms = opt_ms(o, OPT_GRACE),
        .keep_logs_ms = opt_ms(o, OPT_KEEP_LOGS),
        .source_dirs = opt_text(o, OPT_SOURCE_DIRS),
        .source_max_bytes = opt_int(o, OPT_SOURCE_MAX),
        .source_timeout_ms = opt_ms(o, OPT_SOURCE_TIMEOUT),
        .fetch_timeout_ms = opt_ms(o, OPT_FETCH_TIMEOUT),
        .archive_max_bytes = opt_int(o, OPT_ARCHIVE_MAX),
        .archive_max_entries = opt_int(o, OPT_ARCHIVE_ENTRIES),
        .archive_max_ratio = opt_int(o, OPT_ARCHIVE_RATIO),
        .cache_max_bytes = opt_int(o, OPT_CACHE_MB) << 20,
        .cache_fresh_s = opt_ms(o, OPT_CACHE_FRESH) / 1000,
        .log_dir_bytes = opt_int(o, OPT_LOG_DIR_BYTES),
        .log_files = opt_int(o, OPT_LOG_FILES),
        .runtime = opt_text(o, OPT_RUNTIME),
        .runtime_args = opt_text(o, OPT_RUNTIME_ARGS),
        .ro_mounts = opt_text(o, OPT_RO_MOUNTS),
        .rw_mounts = opt_text(o, OPT_RW_MOUNTS),
        .pull_timeout_ms = opt_ms(o, OPT_PULL_TIMEOUT),
        .fs = app_fs_conf(o),
    };
}

/** HDFS that is the default of this host, and cannot be found. */
static void check_file_system(const struct options *o, const struct fs_conf *conf, struct opt_report *report)
{
    const char *fs = opt_text(o, OPT_FS);
    mem_auto char *root = fs_is_hdfs(fs) ? mem_fmt("%s/", fs) : mem_str("/");
    struct fs_place place = {.path = NULL};
    struct err_info why;

    if (fs_place_read(conf, root, "", &place, &why))
        opt_warning(o, "fs.defaultFS", &why, report);
    fs_place_fini(&place);
}

static void check_cluster(const struct options *o, struct opt_report *report)
{
    mem_auto char *dir = find_dir(opt_text(o, OPT_DATA_DIR));
    mem_auto char *shim_path = find_shim(o);
    struct spec_host host;
    app_host_read(o, report, &host);
    mem_auto char *devices = app_host_devices(o, report, &host);
    struct local_options options = cluster_options(o, dir, shim_path, &host);

    options.devices = devices;
    if (app_is_simulated(o))
        app_check_simulated(o, report);
    else if (report->purpose != OPT_FOR_RELOAD && !app_is_on_yarn(o))
        cluster_local_check(o, &options, report);
    check_file_system(o, &options.fs, report);
    app_host_fini(&host);
}

static int open_cluster_here(struct app *a, struct err_info *why)
{
    const struct options *o = daemon_options(a->daemon);
    app_host_read(o, NULL, &a->host);
    mem_auto char *devices = app_host_devices(o, NULL, &a->host);
    struct local_options options = cluster_options(o, a->dir, a->shim_path, &a->host);

    options.devices = devices;
    bool is_simulated = app_is_simulated(daemon_options(a->daemon));
    int err = is_simulated ? app_open_simulated(a, why)
                           : cluster_local_open(a->loop, &options, &app_cluster_ops, a, &a->cluster, why);
    if (!err && !is_simulated)
        daemon_version_fact(a->daemon, "enforced", cluster_local_enforced(a->cluster));
    return err;
}

static int open_cluster(struct app *a, struct err_info *why)
{
    int err = a->role == ROLE_MASTER    ? app_master_open_cluster(a, why)
              : a->role == ROLE_MANAGER ? app_manager_open(a, why)
                                        : open_cluster_here(a, why);

    if (!err)
        daemon_version_fact(a->daemon, "cluster", cluster_name(a->cluster));
    return err;
}

static void report_container_ended(void *arg, const struct eng_container_ref *c)
{
    struct app *a = app_of(arg);
    mem_auto char *path = engine_record_path(c->service, c->instance->container_id);

    publish_ended(a->publish, path, c->instance->container_id, 0);
}

static void on_cluster_closed(void *arg)
{
    struct app *a = app_of(arg);

    if (a->manager)
        app_manager_close(a, on_part_stopped, a);
    else
        on_part_stopped(a);
}

static void on_all_stopped(void *arg)
{
    struct app *a = app_of(arg);

    engine_containers(a->engine, report_container_ended, a);
    log_emit0(&ev_containers_stopped);
    cluster_close(a->cluster, on_cluster_closed, a);
}

static void unpublish_all(struct app *a)
{
    const struct eng_service **services = engine_list(a->engine, NULL);

    for (size_t i = 0; services[i]; i++) {
        mem_auto char *path = engine_record_path(services[i], NULL);
        if (eng_service_is_live(services[i]))
            publish_purge(a->publish, path, 0);
    }
    free(services);
}

static void stop_cluster(struct daemon *d, void *app)
{
    struct app *a = app_of(app);
    struct cluster_capacity c;

    a->is_ending = true; /* When a step before engine failed to start. */
    if (!a->cluster) {
        daemon_stopped(d);
        return;
    }
    bool runs_all = a->role == ROLE_WHOLE; /* on YARN the cluster ends what is to end */
    if (a->engine && runs_all && !a->is_fenced && opt_bool(daemon_options(d), OPT_STOP_ON_EXIT)) {
        unpublish_all(a);
        cluster_stop_all(a->cluster, on_all_stopped, a);
        return;
    }
    cluster_capacity(a->cluster, &c);
    log_emit(&ev_containers_left, LOG_INT("containers", c.n_containers));
    cluster_close(a->cluster, on_cluster_closed, a);
}

/* ---- engine ---- */

static void collect(void *arg)
{
    struct app *a = app_of(arg);
    struct metrics *m = daemon_metrics(a->daemon);
    const struct eng_service **services = engine_list(a->engine, NULL);
    struct cluster_capacity c;
    const struct run_turns turns = run_loop_turns(a->loop);
    int64_t n = 0, n_live = 0, n_stable = 0;

    for (; services[n]; n++) {
        n_live += eng_service_is_live(services[n]);
        n_stable += services[n]->state == SVC_STABLE;
    }
    free(services);
    cluster_capacity(a->cluster, &c);
    metric_set(m, M_REQUESTS_WAITING, (int64_t)a->queue.n_requests);
    metric_set(m, M_EXEC_SESSIONS, (int64_t)a->n_execs);
    metric_set(m, M_READS_WAITING, (int64_t)waits_n(a->face.waits));
    metric_set(m, M_SERVICES, n);
    metric_set(m, M_SERVICES_LIVE, n_live);
    metric_set(m, M_SERVICES_STABLE, n_stable);
    metric_set(m, M_LONG_TURNS, (int64_t)turns.n_long);
    metric_set(m, M_LONGEST_TURN, turns.longest_us);
    metric_set(m, M_BUSY_TURNS, (int64_t)turns.n_busy);
    metric_set(m, M_BUSIEST_TURN, turns.busiest_us);
    metric_set(m, M_CONTAINERS, (int64_t)c.n_containers);
    metric_set(m, M_WAITING, (int64_t)c.n_waiting);
    metric_set(m, M_MEMORY, c.used_memory_mb);
    metric_set(m, M_VCORES, c.used_vcores);
    metric_set(m, M_RECORDS_PENDING, (int64_t)publish_n_pending(a->publish));
}

static void describe_world(struct app *a)
{
    const struct options *o = daemon_options(a->daemon);
    struct cluster_capacity c;

    cluster_capacity(a->cluster, &c);
    bool is_local = a->role == ROLE_WHOLE && !app_is_simulated(o);
    a->images = (struct spec_images){
        .program = !is_local ? NULL : cluster_local_runtime(a->cluster),
        .privileged_is_allowed = opt_bool(o, OPT_PRIVILEGED),
        .privileged_users = opt_text(o, OPT_PRIVILEGED_USERS),
        .ro_mounts = opt_text(o, OPT_RO_MOUNTS),
        .rw_mounts = opt_text(o, OPT_RW_MOUNTS),
    };
    a->world = (struct spec_world){
        .dialect = dialect_find(opt_text(o, OPT_DIALECT)),
        .dns_enabled = opt_bool(o, OPT_DNS_ENABLED),
        .local = is_local,
        .no_constraints = a->role == ROLE_MANAGER ? app_no_constraints(o) : NULL,
        .minimum_is_of_nodes = a->role == ROLE_MANAGER,
        .images = &a->images,
        .host = &a->host,
        .max_memory_mb = c.memory_mb,
        .max_vcores = c.vcores,
        .max_containers = opt_int(o, OPT_MAX_CONTAINERS),
    };
}

static void check_engine(const struct options *o, struct opt_report *report)
{
    const struct engine_config config = {.address_net = opt_text(o, OPT_ADDRESSES)};
    struct err_info why;

    if (engine_check(&config, &why))
        opt_error(o, "yarn.service.local.addresses", &why, report);
}

static int open_engine(struct app *a, struct err_info *why)
{
    struct daemon *d = a->daemon;
    const struct options *o = daemon_options(d);

    describe_world(a);
    clock_begin(&a->clock, run_boot_ms(), run_wall_ms());
    bool is_local = a->role == ROLE_WHOLE && !app_is_simulated(o);
    const struct engine_config config = {
        .role = a->role,
        .submits = a->role != ROLE_WHOLE,
        .late_reports = a->role == ROLE_MASTER,
        .dialect = a->world.dialect,
        .cluster_ts = run_wall_ms() * 1000 + run_now_us() % 1000,
        .domain = opt_text(o, OPT_DOMAIN),
        .zk_quorum = opt_text(o, OPT_ZK_QUORUM),
        .fs_uri = opt_text(o, OPT_FS),
        .base_path = opt_text(o, OPT_BASE_PATH),
        .master = a->master ? app_master_self(a) : (struct eng_master){0},
        .address_net = is_local ? opt_text(o, OPT_ADDRESSES) : NULL,
        .one_host = is_local,
        .queue = opt_text(o, OPT_QUEUE),
        .max_containers = opt_int(o, OPT_MAX_CONTAINERS),
        .quotas = {.user = opt_int(o, OPT_QUOTA_USER),
                   .queue = opt_int(o, OPT_QUOTA_QUEUE),
                   .tasks = opt_int(o, OPT_LAUNCHER_MAX_TASKS)},
        .retain_ms = opt_ms(o, OPT_LAUNCHER_RETAIN),
        .probe_interval_ms = opt_ms(o, OPT_PROBE_INTERVAL),
        .retry_interval_ms = opt_ms(o, OPT_RETRY_INTERVAL),
    };
    int err = engine_new(&config, &a->engine, why);
    if (err)
        return err;
    a->probes = probes_new(a->loop, a->http, app_probe_result, a);
    metrics_collector(daemon_metrics(d), collect, a);
    return 0;
}

int app_open_parts(struct app *a, struct err_info *why)
{
    int err = a->cluster ? 0 : open_cluster(a, why);

    if (!err && !a->engine)
        err = open_engine(a, why);
    return err;
}

/** With the embedded store open everything else is opened now, so that a mistake in the options fails the start. */
static int start_engine(struct daemon *d, void *app, struct err_info *why)
{
    struct app *a = app_of(app);
    int err = a->state && str_starts(a->state_url, "file:") ? app_open_parts(a, why) : 0;

    if (err)
        return err;
    daemon_ready(d, "becoming active");
    app_recover(a);
    return 0;
}

static void stop_engine(struct daemon *d, void *app)
{
    struct app *a = app_of(app);

    a->is_ending = true;
    metrics_collector(daemon_metrics(d), NULL, NULL);
    app_cancel_callers(a);
    app_cancel_plans(a);
    app_drop_standby(a);
    if (a->probes)
        probes_free(a->probes);
    a->probes = NULL;
    app_drop_timers(a);
    map_fini(&a->ending, NULL);
    app_reinit_fini(a);
    daemon_stopped(d);
}

/* ---- API: opened by app_recover when everything is known ---- */

static int start_api(struct daemon *d, void *app, struct err_info *why)
{
    (void)d;
    (void)app;
    (void)why;
    return 0;
}

static void stop_api(struct daemon *d, void *app)
{
    struct app *a = app_of(app);

    app_cancel_callers(a);
    app_cancel_plans(a);
    a->is_ending |= a->is_standby;
    if (a->is_stopping_standby)
        a->is_ending = true; /* on_standby_stopped continues. */
    else if (a->server)
        http_server_stop(a->server, on_part_stopped, a);
    else
        daemon_stopped(d);
}

/* ---- the table ---- */

static const struct daemon_step steps[] = {
    {"base", start_base, stop_base, NULL},
    {"state", start_state, stop_state, check_state},
    {"registry", start_registry, stop_registry, check_registry},
    {"cluster", start_cluster, stop_cluster, check_cluster},
    {"engine", start_engine, stop_engine, check_engine},
    {"api", start_api, stop_api, app_check_listen},
};

/** `svcmgr am` differs in its first step: who it is. */
static int start_master(struct daemon *d, void *app, struct err_info *why)
{
    int err = start_base(d, app, why);

    if (!err)
        err = app_master_begin(app_of(app), why);
    return err;
}

static const struct daemon_step master_steps[] = {
    {"base", start_master, stop_base, NULL},
    {"state", start_state, stop_state, check_state},
    {"registry", start_registry, stop_registry, check_registry},
    {"cluster", start_cluster, stop_cluster, NULL},
    {"engine", start_engine, stop_engine, NULL},
    {"api", start_api, stop_api, NULL},
};

static const struct opt_def options[] = {OPTIONS_ROWS(SVCMGR_OPTIONS)};
static const struct metric_def metrics[] = {METRICS_ROWS(SVCMGR_METRICS)};

const struct daemon_def app_daemon = {
    .name = "svcmgr",
    .summary = "Runs long-lived services and publishes them in the registry.",
    .options = options,
    .n_options = N_SVCMGR_OPTIONS,
    .known = keys_known,
    .metrics = metrics,
    .n_metrics = N_SVCMGR_METRICS,
    .steps = steps,
    .n_steps = ARRAY_LEN(steps),
    .manual = app_manual,
    .app_size = sizeof(struct app),
};

const struct daemon_def app_master_daemon = {
    .name = "svcmgr",
    .summary = "Runs one service as its application master on YARN.",
    .options = options,
    .n_options = N_SVCMGR_OPTIONS,
    .metrics = metrics,
    .n_metrics = N_SVCMGR_METRICS,
    .steps = master_steps,
    .n_steps = ARRAY_LEN(master_steps),
    .app_size = sizeof(struct app),
};

/** The call of the container runtime that a shim makes for a container: see local_priv.h. On the pool. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"
#include "cluster/local_priv.h"
#include "spec/spec.h"

#define ENV_FILE         "image.env"
#define SHARES_PER_CORE  1024  /* Hadoop's figure */
#define HOSTNAME_LEN_MAX 63    /* sethostname(2) */
#define PIDS_DEFAULT     32768 /* pid_max where it cannot be read */

static void add_option(struct buf *out, const char *option, const char *value)
{
    shim_shell_word(out, option);
    shim_shell_word(out, value);
}

static void add_number(struct buf *out, const char *option, int64_t value)
{
    mem_auto char *text = mem_fmt("%" PRId64, value);

    add_option(out, option, text);
}

static void add_mount(struct buf *out, const char *from, const char *to, const char *mode)
{
    mem_auto char *text = mem_fmt("%s:%s:%s", from, to, mode);

    add_option(out, "--volume", text);
}

/* ---- parts of the call ---- */

/** Who it is: the user that a process of the same owner has. */
static void add_identity(struct buf *out, const struct local_job *job)
{
    const struct local_image *image = job->image;
    const struct shim_user *u = &job->launch.user;
    mem_auto char *label = mem_fmt("bobbin-dir=%s", image->images->dir);
    mem_auto char *user = mem_fmt("%u:%u", (unsigned)u->uid, (unsigned)u->gid);

    add_option(out, "--name", image->container_id);
    add_option(out, "--label", label);
    add_option(out, "--network", "host");
    if (image->hostname && strlen(image->hostname) <= HOSTNAME_LEN_MAX)
        add_option(out, "--hostname", image->hostname);
    if (image->is_privileged) {
        shim_shell_word(out, "--privileged");
        return;
    }
    if (u->is_set)
        add_option(out, "--user", user);
    for (size_t i = 0; u->is_set && i < u->n_groups; i++)
        add_number(out, "--group-add", (int64_t)u->groups[i]);
    add_option(out, "--security-opt", "no-new-privileges");
}

/** Most processes that a machine can have; podman takes as many for its own limit, and a container cannot have more. */
static rlim_t most_processes(void)
{
    char text[32] = "";
    int64_t n = PIDS_DEFAULT;
    int fd = open("/proc/sys/kernel/pid_max", O_RDONLY | O_CLOEXEC);

    if (fd >= 0 && read(fd, text, sizeof text - 1) > 0)
        text[strcspn(text, "\n")] = '\0';
    if (fd >= 0)
        close(fd);
    return str_to_i64(text, 1, INT32_MAX, &n) ? PIDS_DEFAULT : (rlim_t)n;
}

/** Without these a runtime asks for more than svcmgr may have itself. */
static void add_ulimits(struct buf *out, const struct shim_launch *launch)
{
    struct rlimit own = {RLIM_INFINITY, RLIM_INFINITY};
    rlim_t most = most_processes();

    getrlimit(RLIMIT_NPROC, &own);
    mem_auto char *nproc =
        mem_fmt("nproc=%" PRIu64 ":%" PRIu64, (uint64_t)(own.rlim_cur < most ? own.rlim_cur : most),
                (uint64_t)(own.rlim_max < most ? own.rlim_max : most));
    add_option(out, "--ulimit", nproc);
    for (size_t i = 0; i < launch->n_rlimits; i++) {
        const struct shim_rlimit *r = &launch->rlimits[i];
        const char *name = r->resource == RLIMIT_CORE ? "core" : "nofile";
        mem_auto char *text = mem_fmt("%s=%" PRId64 ":%" PRId64, name, r->soft, r->hard);
        add_option(out, "--ulimit", text);
    }
}

static void add_limits(struct buf *out, const struct shim_launch *launch)
{
    mem_auto char *cpus =
        mem_fmt("%" PRId64 ".%03" PRId64, launch->cpu_milli / 1000, launch->cpu_milli % 1000);

    if (launch->memory_bytes) {
        add_number(out, "--memory", launch->memory_bytes);
        add_number(out, "--memory-swap", launch->memory_bytes);
    }
    if (launch->pids_max)
        add_number(out, "--pids-limit", launch->pids_max);
    if (launch->cpu_milli)
        add_number(out, "--cpu-shares", launch->cpu_milli * SHARES_PER_CORE / 1000);
    if (launch->cpu_milli && launch->cpu_is_strict)
        add_option(out, "--cpus", cpus);
    add_ulimits(out, launch);
}

/* ---- mounts ---- */

/** A place of the caller's, without the links that lead to it. @return 0; ERR_INVALID */
static int add_wanted_mount(struct buf *out, const struct local_images *m, struct spec_mount *mount,
                            struct err_info *why)
{
    bool is_named = spec_mount_is_allowed(mount, m->ro_mounts, m->rw_mounts);
    char *real = is_named ? realpath(mount->from, NULL) : NULL;

    if (is_named && !real)
        return err_set(why, ERR_INVALID, mount->from, "%.200s cannot be mounted: %s", mount->from,
                       strerror(errno));
    if (real) {
        free(mount->from);
        mount->from = real;
    }
    if (!is_named || !spec_mount_is_allowed(mount, m->ro_mounts, m->rw_mounts))
        return err_set(why, ERR_INVALID, mount->from,
                       "%.200s may not be mounted: it is not beneath a directory of "
                       "yarn.service.local.container-runtime.%s-mounts.",
                       mount->from, mount->is_writable ? "rw" : "ro");
    if (strchr(mount->from, ':'))
        return err_set(why, ERR_INVALID, mount->from, "%.200s cannot be mounted, it has a colon.",
                       mount->from);
    add_mount(out, mount->from, mount->to, mount->is_writable ? "rw" : "ro");
    return 0;
}

static int add_wanted_mounts(struct buf *out, const struct local_image *image, struct err_info *why)
{
    struct spec_mount mount;
    int rc = image->mounts && *image->mounts;

    for (size_t i = 0; rc > 0; i++) {
        rc = spec_mount_read(image->mounts, i, &mount, why);
        if (rc <= 0)
            break;
        int err = add_wanted_mount(out, image->images, &mount, why);
        spec_mount_fini(&mount);
        rc = err ? err : 1;
    }
    return rc;
}

static int add_mounts(struct buf *out, struct local_job *job)
{
    int err = add_wanted_mounts(out, job->image, &job->why);

    add_mount(out, job->launch.work_dir, job->launch.work_dir, "rw");
    add_mount(out, job->launch.log_dir, job->launch.log_dir, "rw");
    for (size_t i = 0; !err && i < job->n_files; i++) {
        const struct cluster_file *f = &job->files[i];
        mem_auto char *from = mem_fmt("%s/%s", job->launch.work_dir, f->path);
        if (f->mount && strchr(f->mount, ':'))
            return err_set(&job->why, ERR_INVALID, f->mount, "%.200s cannot be mounted, it has a colon.",
                           f->mount);
        if (f->mount)
            add_mount(out, from, f->mount, "ro");
    }
    return err;
}

/* ---- devices ---- */

static int add_device(struct buf *out, const char *path, struct err_info *why)
{
    struct stat st;

    if (stat(path, &st))
        return err_set(why, ERR_INVALID, path, "Device %.200s of this host: %s.", path, strerror(errno));
    if (!S_ISCHR(st.st_mode) && !S_ISBLK(st.st_mode))
        return err_set(why, ERR_INVALID, path, "%.200s is no device; yarn.service.local.devices names it.",
                       path);
    add_option(out, "--device", path);
    return 0;
}

/** Those of the resources that the container has, and no others. A privileged one has all of the host. */
static int add_devices(struct buf *out, struct local_job *job)
{
    mem_auto char *paths = local_devices_paths(job->image->is_privileged ? NULL : job->devices);
    char *rest = paths, *path;
    int err = 0;

    while (!err && *paths && (path = strsep(&rest, ",")))
        err = add_device(out, path, &job->why);
    return err;
}

/* ---- environment ---- */

static int env_text(const struct shim_launch *launch, struct buf *out, struct err_info *why)
{
    for (size_t i = 0; i < launch->n_env; i++) {
        if (strpbrk(launch->env[i], "\r\n"))
            return err_set(why, ERR_INVALID, launch->env[i],
                           "Variable %.*s has a line break, which one of an image cannot have.",
                           (int)strcspn(launch->env[i], "="), launch->env[i]);
        buf_add_str(out, launch->env[i]);
        buf_add_char(out, '\n');
    }
    return 0;
}

/** The runtime itself has of our environment what it needs to find its programs, its files and its daemon. */
static void take_own_env(struct shim_launch *launch)
{
    static const char *const names[] = {"PATH",
                                        "HOME",
                                        "XDG_RUNTIME_DIR",
                                        "XDG_CONFIG_HOME",
                                        "XDG_DATA_HOME",
                                        "CONTAINERS_CONF",
                                        "CONTAINERS_STORAGE_CONF",
                                        "DOCKER_HOST",
                                        "DOCKER_CONFIG"};

    for (size_t i = 0; i < launch->n_env; i++)
        free(launch->env[i]);
    mem_free_ptr(&launch->env);
    launch->n_env = 0;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const char *value = getenv(names[i]);
        if (value)
            shim_launch_env(launch, names[i], value);
    }
}

/* ---- what is run ---- */

/** The image, then the command: for its shell, for its entry point, or the image's own. */
static void add_command(struct buf *out, const struct local_image *image, const char *command)
{
    mem_auto char *words = mem_str(command);
    char *save = NULL;

    if (*command && !image->has_entry_point)
        add_option(out, "--entrypoint", "sh");
    shim_shell_word(out, image->id);
    if (*command && !image->has_entry_point) {
        add_option(out, "-c", command);
        return;
    }
    for (char *word = strtok_r(words, " \t\n", &save); word; word = strtok_r(NULL, " \t\n", &save))
        shim_shell_word(out, word);
}

static int write_call(struct local_job *job, struct buf *out)
{
    const struct local_image *image = job->image;
    mem_auto char *env_file = mem_fmt("%s/" ENV_FILE, job->dir);

    buf_addf(out, "exec %s run", image->images->words);
    add_option(out, "--pull", "never");
    add_option(out, "--log-driver", "none");
    add_option(out, "--stop-timeout", "0"); /* Of a removal; a stop says its own. */
    shim_shell_word(out, "--sig-proxy=false");
    add_option(out, "--env-file", env_file);
    add_identity(out, job);
    add_limits(out, &job->launch);
    int err = add_mounts(out, job);
    if (!err)
        err = add_devices(out, job);
    if (!*image->work_dir)
        add_option(out, "--workdir", job->launch.work_dir);
    add_command(out, image, job->launch.command);
    return err;
}

int local_run_write(struct local_job *job)
{
    struct shim_launch *launch = &job->launch;
    buf_auto struct buf call = BUF_EMPTY;
    buf_auto struct buf env = BUF_EMPTY;
    int err = job->is_runtime_written ? 0 : env_text(launch, &env, &job->why);

    if (err || job->is_runtime_written)
        return err;
    err = write_call(job, &call);
    if (!err)
        err = local_images_note_used(job->image->images, &job->why);
    if (!err)
        err = local_replace_file(job->dir, LOCAL_IMAGE_FILE, job->image->id, strlen(job->image->id), 0600,
                                 &job->why);
    if (!err)
        err = local_replace_file(job->dir, ENV_FILE, buf_cstr(&env), env.len, 0600, &job->why);
    if (err)
        return err;
    free(launch->command);
    launch->command = buf_take(&call);
    launch->runtime = mem_str(job->image->images->words);
    launch->runtime_id = mem_str(job->image->container_id);
    free(launch->work_dir);
    launch->work_dir = mem_str(job->dir);
    take_own_env(launch);
    job->is_runtime_written = true;
    return 0;
}

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "cluster/local_inside.h"

#define COPY_PIECE     65536
#define REMOVE_TRIES   10
#define REMOVE_WAIT_MS 20

static int sys_fail(struct err_info *why, const char *where)
{
    return err_set(why, ERR_IO, where, "%s", strerror(errno));
}

int local_make_dirs(const char *path, struct err_info *why)
{
    mem_auto char *part = mem_str(path);

    for (char *slash = strchr(part + 1, '/');; slash = strchr(slash + 1, '/')) {
        if (slash)
            *slash = '\0';
        if (mkdir(part, 0755) && errno != EEXIST)
            return sys_fail(why, part);
        if (!slash)
            return 0;
        *slash = '/';
    }
}

/* ---- removing ---- */

/* libuv closes descriptors by a raw system call, and only open tells a thread sanitizer that a number is a new file now. So
 * directories are opened by open, not by opendir or openat. */

/** openat without following: the container's user may have left links to anywhere. */
static int open_below(int dir_fd, const char *name)
{
    mem_auto char *path = dir_fd == AT_FDCWD ? mem_str(name) : mem_fmt("/proc/self/fd/%d/%s", dir_fd, name);
    return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static int remove_at(int dir_fd, const char *name, int depth, struct err_info *why);

static int empty_dir(int fd, int depth, struct err_info *why)
{
    DIR *d = fdopendir(fd);
    const struct dirent *e;
    int err = 0;

    if (!d) {
        close(fd);
        return sys_fail(why, NULL);
    }
    while (!err && (e = readdir(d)))
        if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
            err = remove_at(dirfd(d), e->d_name, depth + 1, why);
    closedir(d);
    return err;
}

static int remove_at(int dir_fd, const char *name, int depth, struct err_info *why)
{
    if (!unlinkat(dir_fd, name, 0) || errno == ENOENT)
        return 0;
    if (errno != EISDIR && errno != EPERM)
        return sys_fail(why, name);
    if (depth > 256)
        return err_set(why, ERR_IO, name, "directories are nested too deeply");
    int fd = open_below(dir_fd, name);
    if (fd < 0)
        return sys_fail(why, name);
    int err = empty_dir(fd, depth, why);
    if (err)
        return err;
    return unlinkat(dir_fd, name, AT_REMOVEDIR) && errno != ENOENT ? sys_fail(why, name) : 0;
}

int local_remove_tree(const char *path, struct err_info *why)
{
    return remove_at(AT_FDCWD, path, 0, why);
}

DIR *local_open_dir(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    if (fd >= 0 && !d)
        close(fd);
    return d;
}

static void remove_old_logs_of(const struct local_job *job, const char *app, int64_t now_ms)
{
    mem_auto char *app_dir = mem_fmt("%s/%s", job->logs_root, app);
    DIR *d = local_open_dir(app_dir);
    const struct dirent *e;

    while (d && (e = readdir(d))) {
        mem_auto char *logs = mem_fmt("%s/%s", app_dir, e->d_name);
        mem_auto char *container = mem_fmt("%s/%s", job->containers_root, e->d_name);
        struct stat st;
        if (e->d_name[0] == '.' || !access(container, F_OK) || stat(logs, &st))
            continue;
        if ((int64_t)st.st_mtim.tv_sec * 1000 + job->keep_logs_ms < now_ms)
            local_remove_tree(logs, NULL);
    }
    if (d)
        closedir(d);
    rmdir(app_dir); /* Succeeds when it is empty. */
}

static void remove_old_logs(const struct local_job *job)
{
    DIR *d = local_open_dir(job->logs_root);
    const struct dirent *e;

    while (d && (e = readdir(d)))
        if (e->d_name[0] != '.')
            remove_old_logs_of(job, e->d_name, run_wall_ms());
    if (d)
        closedir(d);
}

/* ---- making ---- */

static int give_to_user(const struct local_job *job, int fd)
{
    return job->switch_user ? fchown(fd, job->uid, job->gid) : 0;
}

static int make_own_dir(const struct local_job *job, const char *path, mode_t mode, struct err_info *why)
{
    int err = local_make_dirs(path, why);
    if (err)
        return err;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return sys_fail(why, path);
    int failed = fchmod(fd, mode) || give_to_user(job, fd);
    if (failed)
        err = sys_fail(why, path);
    close(fd);
    return err;
}

static int write_all(int fd, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t n = write(fd, bytes, len);
        if (n < 0)
            return -1;
        bytes += n;
        len -= (size_t)n;
    }
    return 0;
}

static int write_file(const char *dir, const char *name, const char *bytes, size_t len, mode_t mode,
                      struct err_info *why)
{
    mem_auto char *path = mem_fmt("%s/%s", dir, name);
    mem_auto char *aside = mem_fmt("%s.new", path);
    int fd = open(aside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
    if (fd < 0)
        return sys_fail(why, aside);
    int failed = write_all(fd, bytes, len);
    int err = failed || rename(aside, path) ? sys_fail(why, path) : 0;
    close(fd);
    return err;
}

static int copy_source(const char *source, int to_fd)
{
    int fd = open(source, O_RDONLY | O_CLOEXEC);
    mem_auto char *piece = mem_alloc(COPY_PIECE);
    ssize_t n = -1;

    if (fd < 0)
        return -1;
    while ((n = read(fd, piece, COPY_PIECE)) > 0 && !write_all(to_fd, piece, (size_t)n))
        continue;
    int error = errno;
    close(fd);
    errno = error;
    return n == 0 ? 0 : -1;
}

/** The directories of a file's path below the working directory, given to the user. */
static int make_file_dirs(const struct local_job *job, const char *file, struct err_info *why)
{
    mem_auto char *path = mem_fmt("%s/%s", job->work_dir, file);
    size_t base = strlen(job->work_dir) + 1;

    for (char *slash = strchr(path + base, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        int err = make_own_dir(job, path, 0750, why);
        if (err)
            return err;
        *slash = '/';
    }
    return 0;
}

static int lay_file(const struct local_job *job, const struct cluster_file *f, struct err_info *why)
{
    mem_auto char *path = mem_fmt("%s/%s", job->work_dir, f->path);
    int err = make_file_dirs(job, f->path, why);
    if (err)
        return err;
    struct stat st = {.st_mode = 0640};
    if (!f->bytes && stat(f->source, &st))
        return sys_fail(why, f->source);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, st.st_mode & 0777);
    if (fd < 0)
        return sys_fail(why, path);
    if ((f->bytes ? write_all(fd, f->bytes, f->len) : copy_source(f->source, fd)) || give_to_user(job, fd))
        err = sys_fail(why, f->bytes ? path : f->source);
    close(fd);
    return err;
}

static int make_container_dir(const struct local_job *job, struct err_info *why)
{
    int err = local_make_dirs(job->dir, why);

    if (!err && chmod(job->dir, 0711))
        err = sys_fail(why, job->dir);
    return err;
}

static int make_box_dirs(struct local_job *job)
{
    int err = make_container_dir(job, &job->why);

    if (!err && job->lay_files)
        err = make_own_dir(job, job->work_dir, 0750, &job->why);
    if (!err && job->lay_files)
        err = make_own_dir(job, job->log_dir, 0755, &job->why);
    for (size_t i = 0; !err && job->lay_files && i < job->n_files; i++)
        err = lay_file(job, &job->files[i], &job->why);
    return err;
}

/** The launch file comes last: a directory without one was never ready. */
static int prepare(struct local_job *job)
{
    static const char *const old_files[] = {SHIM_EXIT_FILE, SHIM_RUNNING_FILE};
    int err = make_box_dirs(job);

    for (size_t i = 0; !err && i < ARRAY_LEN(old_files); i++) {
        mem_auto char *path = mem_fmt("%s/%s", job->dir, old_files[i]);
        if (unlink(path) && errno != ENOENT)
            err = sys_fail(&job->why, path);
    }
    if (!err)
        err = write_file(job->dir, "allocation", job->allocation, strlen(job->allocation), 0644, &job->why);
    if (!err)
        err = write_file(job->dir, SHIM_LAUNCH_FILE, job->launch, job->launch_len, 0600, &job->why);
    return err;
}

/* ---- the pool ---- */

static void on_pool(uv_work_t *work)
{
    struct local_job *job = obj_cast(work->data, struct local_job, JOB_MAGIC);

    if (!job->is_removal) {
        job->err = prepare(job);
        return;
    }
    /* A shim that is ending may still write into the directory that is being emptied. */
    for (int i = 0; i < REMOVE_TRIES; i++) {
        job->err = local_remove_tree(job->dir, &job->why);
        if (!job->err)
            break;
        poll(NULL, 0, REMOVE_WAIT_MS);
    }
    remove_old_logs(job);
}

static void after_pool(uv_work_t *work, int status)
{
    struct local_job *job = obj_cast(work->data, struct local_job, JOB_MAGIC);
    struct local *l = job->box->local;

    (void)status; /* Jobs are never cancelled. */
    l->n_jobs--;
    job->box->has_job = false;
    job->done(job);
    local_check_end(l);
}

void local_job_run(struct local *l, struct local_job *job)
{
    job->work.data = job;
    job->box->has_job = true;
    l->n_jobs++;
    BUG_IF(uv_queue_work(run_loop_uv(l->loop), &job->work, on_pool, after_pool));
}

void local_job_free(struct local_job *job)
{
    for (size_t i = 0; i < job->n_files; i++) {
        free((char *)job->files[i].path);
        free((char *)job->files[i].bytes);
        free((char *)job->files[i].source);
    }
    free(job->files);
    free(job->dir);
    free(job->work_dir);
    free(job->log_dir);
    free(job->logs_root);
    free(job->containers_root);
    free(job->allocation);
    free(job->launch);
    obj_fini(&job->obj);
    free(job);
}

bool local_path_is_inside(const char *path)
{
    if (!*path || *path == '/')
        return false;
    for (const char *p = path; p; p = strchr(p, '/')) {
        p += *p == '/';
        size_t n = strcspn(p, "/");
        if (n == 0 || (n == 1 && p[0] == '.') || (n == 2 && p[0] == '.' && p[1] == '.'))
            return false;
    }
    return true;
}

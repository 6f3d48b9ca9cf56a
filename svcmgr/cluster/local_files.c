#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "cluster/local_priv.h"
#include "cluster/local_logs.h"
#include "cluster/local_tree.h"
#include "cluster/source_text.h"
#include "run/file.h"
#include "spec/spec.h"

#define PREPARING_MAX  4 /* as many as the pool has threads */
#define REMOVE_TRIES   10
#define REMOVE_WAIT_MS 20

#define STAGING_DIR "staging"
#define WORK_DIR    "work"
#define OLD_DIR     "old"
#define SOURCES_DIR "in"

/* ---- making ---- */

static int give_to_user(const struct local_job *job, int fd)
{
    return job->user.is_set ? fchown(fd, job->user.uid, job->user.gid) : 0;
}

/** Open a directory that we have made. @return descriptor; -1: *why says so. */
static int open_own_dir(const char *path, struct err_info *why)
{
    int fd = local_open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0);

    if (fd < 0)
        local_sys_fail(why, path);
    return fd;
}

/** Content of a file in a directory that only we can enter; it is the user's. */
static int write_file_at(const struct local_job *job, int dir, const char *name, const char *bytes,
                         size_t len, struct err_info *why)
{
    int fd = local_open_at(dir, name, O_WRONLY | O_CREAT | O_TRUNC, 0640);

    if (fd < 0)
        return local_sys_fail(why, name);
    int err = shim_write_all(fd, bytes, len) || give_to_user(job, fd) ? local_sys_fail(why, name) : 0;
    close(fd);
    return err;
}

int local_replace_file(const char *dir, const char *name, const char *bytes, size_t len, mode_t mode,
                       struct err_info *why)
{
    mem_auto char *path = mem_fmt("%s/%s", dir, name);
    mem_auto char *aside = mem_fmt("%s.new", path);
    int fd = open(aside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
    if (fd < 0)
        return local_sys_fail(why, aside);
    int failed = shim_write_all(fd, bytes, len);
    int err = failed || rename(aside, path) ? local_sys_fail(why, path) : 0;
    close(fd);
    return err;
}

static int make_container_dir(const struct local_job *job, struct err_info *why)
{
    int err = file_make_dir(job->dir, 0755, why);

    if (!err && chmod(job->dir, 0711))
        err = local_sys_fail(why, job->dir);
    return err;
}

/**
 * What another user has logged, before the containers' user was changed, is kept beside: the new one may not write there.
 */
static int put_foreign_logs_aside(const struct local_job *job, struct err_info *why)
{
    struct stat st;

    if (!job->user.is_set || lstat(job->log_dir, &st) || st.st_uid == job->user.uid || !st.st_uid)
        return 0;
    mem_auto char *aside = mem_fmt("%s.of-%u", job->log_dir, (unsigned)st.st_uid);
    int err = local_remove_tree(aside, why);
    return !err && rename(job->log_dir, aside) ? local_sys_fail(why, aside) : err;
}

/** Whose logs these are: an instance that has ended, or is gone, is asked for by its name. */
static int note_instance(const struct local_job *job, const char *parent, struct err_info *why)
{
    mem_auto char *name = local_logs_instance_file(job->instance);
    const char *id = path_name(job->log_dir);

    return name ? local_replace_file(parent, name, id, strlen(id), 0600, why) : 0;
}

/** The names on the way to it are ours: no other user can put a link there. */
static int make_log_dir(const struct local_job *job, struct err_info *why)
{
    mem_auto char *parent = path_parent(job->log_dir);
    int err = put_foreign_logs_aside(job, why);

    if (!err)
        err = local_logs_make(job->log_dir, job->service, why);
    if (!err && chmod(parent, 0711))
        err = local_sys_fail(why, parent);
    int fd = err ? -1 : open_own_dir(job->log_dir, why);
    if (fd < 0)
        return why->code;
    if (fchmod(fd, 0750) || give_to_user(job, fd))
        err = local_sys_fail(why, job->log_dir);
    close(fd);
    return err ? err : note_instance(job, parent, why);
}

/**
 * No other user enters staging/. In it work/ grows, and in/ is where a reader puts what the caller has named: the user's,
 * but reached only by the reader, which is born there.
 */
static int make_staging(const struct local_job *job, struct err_info *why)
{
    int dir = open_own_dir(job->dir, why);
    int err = dir < 0 ? why->code : 0;
    const char *const leftovers[] = {STAGING_DIR, OLD_DIR};

    for (size_t i = 0; !err && i < ARRAY_LEN(leftovers); i++)
        err = local_remove_at(dir, leftovers[i], why);
    int staging = err ? -1 : local_make_dir_at(dir, STAGING_DIR, 0700, why);
    int work = staging < 0 ? -1 : local_make_dir_at(staging, WORK_DIR, 0700, why);
    int in = work < 0 || !job->ask.n_sources ? -1 : local_make_dir_at(staging, SOURCES_DIR, 0700, why);
    if (!err && (work < 0 || (job->ask.n_sources && in < 0)))
        err = why->code;
    if (!err && in >= 0 && give_to_user(job, in))
        err = local_sys_fail(why, SOURCES_DIR);
    const int fds[] = {in, work, staging, dir};
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        if (fds[i] >= 0)
            close(fds[i]);
    return err;
}

/** Nobody else's files and processes: a uid, its own group, and no other one. */
static int find_user(struct local_job *job)
{
    uid_t uid = 0;
    int err = job->users ? local_users_find(job->users, job->owner, &uid, &job->why) : 0;

    if (!err && job->users)
        job->user = (struct shim_user){.is_set = true, .uid = uid, .gid = uid};
    job->launch.user = job->ask.user = job->user;
    return err;
}

/** What is fetched for this user is kept in a directory of his own. */
static int open_cache(struct local_job *job)
{
    if (!job->ask.has_cache || job->cache_fd >= 0)
        return 0;
    job->cache_fd = local_cache_open(job->box->local->dir, &job->user, &job->why);
    return job->cache_fd < 0 ? job->why.code : 0;
}

static int stage(struct local_job *job)
{
    int err = find_user(job);

    if (!err)
        err = make_container_dir(job, &job->why);
    if (!err)
        err = make_log_dir(job, &job->why);
    if (!err)
        err = open_cache(job);
    return err ? err : make_staging(job, &job->why);
}

/* ---- laying files in staging/work ---- */

/** What the hand-over works in; descriptors. */
struct laying {
    int dir, staging, work, in;
};

/** Go down to the directory of a file, making what is missing. @return descriptor, to be closed; -1: *why says so. */
static int go_down(const struct local_job *job, int work, const char *path, struct err_info *why)
{
    int at = local_open_at(work, ".", O_RDONLY | O_DIRECTORY, 0);

    for (const char *p = path, *slash; at >= 0 && (slash = strchr(p, '/')); p = slash + 1) {
        mem_auto char *name = mem_strn(p, (size_t)(slash - p));
        bool is_new = !mkdirat(at, name, 0750);
        int below = is_new || errno == EEXIST ? local_open_at(at, name, O_RDONLY | O_DIRECTORY, 0) : -1;
        if (below < 0 || (is_new && give_to_user(job, below))) {
            local_sys_fail(why, path);
            close(at);
            if (below >= 0)
                close(below);
            return -1;
        }
        close(at);
        at = below;
    }
    return at;
}

/** The text of a template that a localizer has put into in/, with its placeholders replaced. */
static int expand_template(const struct local_job *job, int from, const struct cluster_file *f, int parent,
                           const char *name, struct err_info *why)
{
    buf_auto struct buf text = BUF_EMPTY;
    ssize_t n = 1;

    while (n > 0) {
        n = read(from, buf_room(&text, 65536), 65536);
        text.len += n > 0 ? (size_t)n : 0;
    }
    if (n < 0)
        return local_sys_fail(why, f->source);
    mem_auto char *bytes = source_expand(buf_cstr(&text), f, why);
    if (!bytes)
        return why->code;
    return write_file_at(job, parent, name, bytes, strlen(bytes), why);
}

/** Put a file that has a source where it belongs. @param n  its number among the sources */
static int lay_source(const struct local_job *job, const struct laying *l, const struct cluster_file *f,
                      size_t n, int parent, struct err_info *why)
{
    const char *name = path_name(f->path);
    char copy[24];

    snprintf(copy, sizeof copy, "%zu", n);
    if (!f->values)
        return renameat(l->in, copy, parent, name) ? local_sys_fail(why, f->path) : 0;
    int from = local_open_at(l->in, copy, O_RDONLY, 0);
    if (from < 0)
        return local_sys_fail(why, f->source);
    int err = expand_template(job, from, f, parent, name, why);
    close(from);
    return err;
}

static int lay_files(struct local_job *job, const struct laying *l)
{
    struct err_info *why = &job->why;
    size_t n_sources = 0;
    int err = 0;

    for (size_t i = 0; !err && i < job->n_files; i++) {
        const struct cluster_file *f = &job->files[i];
        int parent = go_down(job, l->work, f->path, why);
        if (parent < 0)
            return why->code;
        if (f->bytes)
            err = write_file_at(job, parent, path_name(f->path), f->bytes, f->len, why);
        else
            err = lay_source(job, l, f, n_sources++, parent, why);
        close(parent);
    }
    return err;
}

/** What was laid becomes work/, and what was there before goes, whatever the process has left in it. */
static int hand_over(struct local_job *job, const struct laying *l)
{
    if (fchmod(l->work, 0750) || give_to_user(job, l->work))
        return local_sys_fail(&job->why, WORK_DIR);
    if (renameat(l->dir, WORK_DIR, l->dir, OLD_DIR) && errno != ENOENT)
        return local_sys_fail(&job->why, OLD_DIR);
    if (renameat(l->staging, WORK_DIR, l->dir, WORK_DIR))
        return local_sys_fail(&job->why, WORK_DIR);
    int err = local_remove_at(l->dir, STAGING_DIR, &job->why);
    return err ? err : local_remove_at(l->dir, OLD_DIR, &job->why);
}

static int lay_work(struct local_job *job)
{
    struct laying l = {-1, -1, -1, -1};
    int err = 0;

    l.dir = open_own_dir(job->dir, &job->why);
    l.staging = l.dir < 0 ? -1 : local_open_at(l.dir, STAGING_DIR, O_RDONLY | O_DIRECTORY, 0);
    l.work = l.staging < 0 ? -1 : local_open_at(l.staging, WORK_DIR, O_RDONLY | O_DIRECTORY, 0);
    l.in = l.work < 0 || !job->ask.n_sources
               ? -1
               : local_open_at(l.staging, SOURCES_DIR, O_RDONLY | O_DIRECTORY, 0);
    if (l.work < 0 || (job->ask.n_sources && l.in < 0))
        err = local_sys_fail(&job->why, job->dir);
    if (!err)
        err = lay_files(job, &l);
    if (!err)
        err = hand_over(job, &l);
    const int fds[] = {l.in, l.work, l.staging, l.dir};
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        if (fds[i] >= 0)
            close(fds[i]);
    return err;
}

/** The launch file comes last: a directory without one was never ready. Then the shim's lock is held. */
static int prepare(struct local_job *job)
{
    static const char *const old_files[] = {SHIM_TAIL_FILE, SHIM_EXIT_FILE, SHIM_RUNNING_FILE};
    buf_auto struct buf launch = BUF_EMPTY;
    int err = lay_work(job);

    for (size_t i = 0; !err && i < ARRAY_LEN(old_files); i++) {
        mem_auto char *path = mem_fmt("%s/%s", job->dir, old_files[i]);
        if (unlink(path) && errno != ENOENT)
            err = local_sys_fail(&job->why, path);
    }
    if (!err)
        err = local_replace_file(job->dir, "allocation", job->allocation, strlen(job->allocation), 0644,
                                 &job->why);
    if (!err && job->image)
        err = local_run_write(job);
    shim_launch_write(&job->launch, &launch);
    if (!err)
        err = local_replace_file(job->dir, SHIM_LAUNCH_FILE, launch.bytes, launch.len, 0600, &job->why);
    return err ? err : shim_files_open(job->dir, job->ip, &job->shim_files, &job->why);
}

/* ---- the pool ---- */

static int remove_all(struct local_job *job)
{
    int err = 0;

    /* A shim that is ending may still write into the directory that is being emptied. */
    for (int i = 0; i < REMOVE_TRIES; i++) {
        err = local_remove_tree(job->dir, &job->why);
        if (!err)
            break;
        poll(NULL, 0, REMOVE_WAIT_MS);
    }
    return err;
}

static void on_pool(uv_work_t *work)
{
    struct local_job *job = obj_cast(work->data, struct local_job, JOB_MAGIC);

    switch (job->kind) {
    case JOB_STAGE: job->err = stage(job); break;
    case JOB_PREPARE: job->err = prepare(job); break;
    case JOB_REMOVE: job->err = remove_all(job); break;
    }
}

static void after_pool(uv_work_t *work, int status);

static void queue_job(struct local *l, struct local_job *job)
{
    BUG_IF(uv_queue_work(run_loop_uv(l->loop), &job->work, on_pool, after_pool));
}

/** The shims of launches start one after the other, on the loop; files that are open for them are bounded. */
static void prepare_next(struct local *l)
{
    struct local_job *job = TAILQ_FIRST(&l->unprepared);

    if (!job || l->n_preparing == PREPARING_MAX)
        return;
    TAILQ_REMOVE(&l->unprepared, job, link);
    l->n_preparing++;
    queue_job(l, job);
}

static void after_pool(uv_work_t *work, int status)
{
    struct local_job *job = obj_cast(work->data, struct local_job, JOB_MAGIC);
    struct local *l = job->box->local;

    (void)status; /* Jobs are never cancelled. */
    if (job->kind == JOB_PREPARE) {
        l->n_preparing--;
        prepare_next(l);
    }
    local_job_ended(l, job);
}

void local_job_begun(struct local *l, struct local_job *job, void (*done)(struct local_job *job))
{
    job->done = done;
    job->box->has_job = true;
    l->n_jobs++;
}

void local_job_ended(struct local *l, struct local_job *job)
{
    l->n_jobs--;
    job->box->has_job = false;
    job->done(job);
    local_check_end(l);
}

void local_job_run(struct local *l, struct local_job *job, enum local_job_kind kind,
                   void (*done)(struct local_job *job))
{
    job->kind = kind;
    job->work.data = job;
    local_job_begun(l, job, done);
    if (kind != JOB_PREPARE) {
        queue_job(l, job);
        return;
    }
    TAILQ_INSERT_TAIL(&l->unprepared, job, link);
    prepare_next(l);
}

void local_job_free(struct local_job *job)
{
    for (size_t i = 0; i < job->n_files; i++) {
        free((char *)job->files[i].path);
        free((char *)job->files[i].bytes);
        free((char *)job->files[i].source);
        free((char *)job->files[i].mount);
        json_decref((json_t *)job->files[i].values);
        spec_file_free((struct spec_file *)job->files[i].config);
    }
    free(job->files);
    free(job->dir);
    free(job->log_dir);
    free(job->instance);
    free(job->ip);
    free(job->service);
    free(job->allocation);
    free(job->devices);
    shim_launch_fini(&job->launch);
    free(job->owner);
    local_image_free(job->image);
    if (job->cache_fd >= 0)
        close(job->cache_fd);
    sources_ask_fini(&job->ask);
    shim_files_close(&job->shim_files);
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

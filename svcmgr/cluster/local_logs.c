#include "cluster/local_logs.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"
#include "cluster/local_tree.h"
#include "run/file.h"
#include "run/loop.h"

#define MARK_END     ".ended"
#define LAST_END     ".last"
#define SERVICE_LINK ".service"
#define SERVICE_MAX  1024
#define AGE_IS_NEWS  8 /* it is noted anew after this part of the time */

/* A container's directory is made in an application's that is not just being removed as an empty one. */
static pthread_mutex_t app_dirs = PTHREAD_MUTEX_INITIALIZER;

/** The age of logs at a time. */
struct mark {
    char boot[RUN_BOOT_ID_LEN];
    int64_t boot_ms, age_ms;
};

/** @return false: there is none, or none that was written whole */
static bool read_mark(const char *path, struct mark *m)
{
    char end = '\0';
    FILE *f = fopen(path, "re");
    bool good =
        f && fscanf(f, "%" SCNd64 " %" SCNd64 " %95[^\n]%c", &m->boot_ms, &m->age_ms, m->boot, &end) == 4;

    if (f)
        fclose(f);
    return good && end == '\n' && m->age_ms >= 0;
}

static void write_mark(const char *path, const struct mark *m)
{
    FILE *f = fopen(path, "we");

    if (!f)
        return;
    fprintf(f, "%" PRId64 " %" PRId64 " %s\n", m->boot_ms, m->age_ms, m->boot);
    fclose(f); /* A mark that is cut short is none: the time begins again. */
}

/** How long the logs with this mark have been without their container. */
static int64_t age_of(const char *path, int64_t keep_ms)
{
    struct mark now = {.boot_ms = run_boot_ms()}, then = {.age_ms = 0};
    bool is_known = read_mark(path, &then);

    run_boot_id(now.boot);
    bool is_same = is_known && now.boot[0] && strcmp(now.boot, then.boot) == 0 && now.boot_ms >= then.boot_ms;
    now.age_ms = (is_known ? then.age_ms : 0) + (is_same ? now.boot_ms - then.boot_ms : 0);
    if (!is_same || now.age_ms - then.age_ms > keep_ms / AGE_IS_NEWS)
        write_mark(path, &now);
    return now.age_ms;
}

static void expire_one(const char *app_dir, const char *containers, const char *id, int64_t keep_ms)
{
    mem_auto char *logs = mem_fmt("%s/%s", app_dir, id);
    mem_auto char *mark = mem_fmt("%s/.%s" MARK_END, app_dir, id);
    mem_auto char *container = mem_fmt("%s/%s", containers, id);

    if (!access(container, F_OK) || age_of(mark, keep_ms) < keep_ms)
        return;
    if (!local_remove_tree(logs, NULL))
        unlink(mark);
}

/** A mark whose logs are removed already. */
static void drop_mark(const char *app_dir, const char *name)
{
    size_t len = strlen(name), end = strlen(MARK_END);

    if (len <= 1 + end || strcmp(name + len - end, MARK_END))
        return;
    mem_auto char *id = mem_strn(name + 1, len - 1 - end);
    mem_auto char *logs = mem_fmt("%s/%s", app_dir, id);
    mem_auto char *mark = mem_fmt("%s/%s", app_dir, name);
    if (access(logs, F_OK))
        unlink(mark);
}

char *local_logs_instance_file(const char *instance)
{
    if (!instance || !*instance || *instance == '.' || strchr(instance, '/'))
        return NULL;
    return mem_fmt(".%s" LAST_END, instance);
}

/** What such a file says. @return free(); NULL: there is none. */
static char *read_last(const char *path)
{
    char id[128] = "";
    FILE *f = fopen(path, "re");
    bool is_read = f && fscanf(f, "%127[a-z0-9_]", id) == 1;

    if (f)
        fclose(f);
    return is_read ? mem_str(id) : NULL;
}

char *local_logs_container_of(const char *app_dir, const char *instance)
{
    mem_auto char *name = local_logs_instance_file(instance);
    mem_auto char *path = name ? mem_fmt("%s/%s", app_dir, name) : NULL;

    return path ? read_last(path) : NULL;
}

/** @return 0; ERR_* with why filled */
static int note_service(const char *app_dir, const char *service, struct err_info *why)
{
    mem_auto char *path = mem_fmt("%s/" SERVICE_LINK, app_dir);

    return symlink(service, path) && errno != EEXIST ? local_sys_fail(why, path) : 0;
}

int local_logs_make(const char *dir, const char *service, struct err_info *why)
{
    mem_auto char *app_dir = path_parent(dir);

    pthread_mutex_lock(&app_dirs);
    int err = file_make_dir(dir, 0755, why);
    if (!err && service)
        err = note_service(app_dir, service, why);
    pthread_mutex_unlock(&app_dirs);
    return err;
}

char *local_logs_service_of(const char *app_dir)
{
    mem_auto char *path = mem_fmt("%s/" SERVICE_LINK, app_dir);
    char service[SERVICE_MAX];
    ssize_t n = readlink(path, service, sizeof service);

    return n > 0 && n < SERVICE_MAX ? mem_strn(service, (size_t)n) : NULL;
}

/** Whose logs they were is of no use when none are left. */
static void drop_service(const char *app_dir)
{
    mem_auto char *path = mem_fmt("%s/" SERVICE_LINK, app_dir);
    DIR *d = local_open_dir(app_dir);
    const struct dirent *e;
    bool is_alone = d != NULL;

    while (d && is_alone && (e = readdir(d)))
        is_alone = !strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") || !strcmp(e->d_name, SERVICE_LINK);
    if (d)
        closedir(d);
    if (is_alone)
        unlink(path);
}

/** The file of an instance whose last logs are gone. */
static void drop_last(const char *app_dir, const char *name)
{
    mem_auto char *path = mem_fmt("%s/%s", app_dir, name);
    mem_auto char *id = str_ends(name, LAST_END) ? read_last(path) : NULL;
    mem_auto char *logs = id ? mem_fmt("%s/%s", app_dir, id) : NULL;

    if (logs && access(logs, F_OK) && errno == ENOENT)
        unlink(path);
}

static void expire_application(const char *app_dir, const char *containers, int64_t keep_ms)
{
    DIR *d = local_open_dir(app_dir);
    const struct dirent *e;

    while (d && (e = readdir(d))) {
        if (e->d_name[0] == '.') {
            drop_mark(app_dir, e->d_name);
            drop_last(app_dir, e->d_name);
        } else {
            expire_one(app_dir, containers, e->d_name, keep_ms);
        }
    }
    if (d)
        closedir(d);
    pthread_mutex_lock(&app_dirs);
    drop_service(app_dir);
    rmdir(app_dir); /* Succeeds when it is empty. */
    pthread_mutex_unlock(&app_dirs);
}

void local_logs_expire(const char *root, const char *containers, int64_t keep_ms)
{
    DIR *d = local_open_dir(root);
    const struct dirent *e;

    while (d && (e = readdir(d))) {
        mem_auto char *app_dir = mem_fmt("%s/%s", root, e->d_name);
        if (e->d_name[0] != '.')
            expire_application(app_dir, containers, keep_ms);
    }
    if (d)
        closedir(d);
}

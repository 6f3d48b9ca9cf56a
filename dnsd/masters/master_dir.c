#include "masters/master_dir.h"
#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define JOB_MAGIC OBJ_MAGIC('M', 'S', 'T', 'J')

static int is_zone_file(const struct dirent *e)
{
    return str_ends(e->d_name, ".zone") && e->d_name[0] != '.';
}

static bool is_taken(const struct master_dir *d, const uint8_t *apex)
{
    for (size_t i = 0; i < d->n_files; i++)
        if (name_equal(d->files[i].apex, apex))
            return true;
    return false;
}

static void read_one(const char *dir, const char *name, const struct map *stamps, struct master_dir *out)
{
    struct master_file f = {.path = mem_fmt("%s/%s", dir, name)};
    struct buf stamp = BUF_EMPTY;
    f.is_bad = zonefile_apex(name, f.apex) != 0;
    if (!f.is_bad && is_taken(out, f.apex)) {
        free(f.path);
        return;
    }
    const char *known = map_get(stamps, f.path);
    f.is_unchanged = known && zonefile_is_current(known);
    if (f.is_bad)
        err_set(&f.why, ERR_CONFIG, f.path, "the file name is no zone name: NAME.zone was expected");
    else if (!f.is_unchanged)
        f.is_bad = zonefile_read(f.path, f.apex, &f.content, &stamp, &f.why) != 0;
    f.stamp = buf_take(&stamp);
    out->files = mem_resize(out->files, out->n_files + 1, sizeof *out->files);
    out->files[out->n_files++] = f;
}

void master_dir_read(const char *dir, const struct map *stamps, struct master_dir *out)
{
    struct dirent **entries;
    *out = (struct master_dir){.files = NULL};
    int n = scandir(dir, &entries, is_zone_file, alphasort);
    if (n < 0) {
        out->err = err_set(&out->why, ERR_IO, dir, "the zone directory cannot be read: %s", strerror(errno));
        return;
    }
    for (int i = 0; i < n; i++) {
        read_one(dir, entries[i]->d_name, stamps, out);
        free(entries[i]);
    }
    free(entries);
}

void master_dir_fini(struct master_dir *d)
{
    for (size_t i = 0; i < d->n_files; i++) {
        free(d->files[i].path);
        free(d->files[i].stamp);
        rrlist_fini(&d->files[i].content.rrs);
    }
    free(d->files);
    *d = (struct master_dir){.files = NULL};
}

/* ---- on a thread of the pool ---- */

struct master_dir_job {
    struct obj obj;
    uv_work_t work;
    char *dir;
    struct map stamps;
    struct master_dir found;
    void (*done)(void *arg, struct master_dir *found); /* NULL: cancelled */
    void *arg;
};

static void run_job(uv_work_t *work)
{
    struct master_dir_job *j = obj_cast(work->data, struct master_dir_job, JOB_MAGIC);
    master_dir_read(j->dir, &j->stamps, &j->found);
}

static void on_job(uv_work_t *work, int status)
{
    struct master_dir_job *j = obj_cast(work->data, struct master_dir_job, JOB_MAGIC);
    BUG_IF(status);
    if (j->done)
        j->done(j->arg, &j->found);
    master_dir_fini(&j->found);
    map_fini(&j->stamps, free);
    free(j->dir);
    obj_fini(&j->obj);
    free(j);
}

struct master_dir_job *master_dir_start(struct run_loop *loop, const char *dir, struct map *take_stamps,
                                        void (*done)(void *arg, struct master_dir *found), void *arg)
{
    struct master_dir_job *j = mem_new(struct master_dir_job);
    obj_init(&j->obj, JOB_MAGIC);
    j->work.data = j;
    j->dir = mem_str(dir);
    j->stamps = *take_stamps;
    *take_stamps = MAP_EMPTY;
    j->done = done;
    j->arg = arg;
    BUG_IF(uv_queue_work(run_loop_uv(loop), &j->work, run_job, on_job));
    return j;
}

void master_dir_cancel(struct master_dir_job *job)
{
    if (job)
        job->done = NULL;
}

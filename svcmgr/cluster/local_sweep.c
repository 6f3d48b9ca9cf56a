#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cluster/local_priv.h"
#include "cluster/local_logs.h"

#define SWEEP_MAGIC      OBJ_MAGIC('L', 'S', 'W', 'P')
#define SWEEPS_PER_TERM  10 /* so much later than promised something may go */
#define SWEEP_LEAST_MS   200
#define SWEEP_SOON_MS    50 /* many end together */
#define SWEEP_SLOWEST_MS 60000

struct sweep_job {
    struct obj obj;
    uv_work_t work;
    struct local *local;
    char *dir, *root, *containers;
    int64_t keep_ms, cache_max_bytes;
};

static void on_pool(uv_work_t *work)
{
    const struct sweep_job *job = obj_cast(work->data, struct sweep_job, SWEEP_MAGIC);

    local_logs_expire(job->root, job->containers, job->keep_ms);
    local_cache_expire(job->dir, job->cache_max_bytes);
}

static void after_pool(uv_work_t *work, int status)
{
    struct sweep_job *job = obj_cast(work->data, struct sweep_job, SWEEP_MAGIC);
    struct local *l = job->local;

    (void)status;
    free(job->dir);
    free(job->root);
    free(job->containers);
    obj_fini(&job->obj);
    free(job);
    l->is_sweeping = false;
    l->n_jobs--;
    local_check_end(l);
}

static void on_sweep(void *arg)
{
    struct local *l = obj_cast(arg, struct local, LOCAL_MAGIC);

    if (l->is_closing || l->is_sweeping)
        return;
    struct sweep_job *job = mem_new(struct sweep_job);
    obj_init(&job->obj, SWEEP_MAGIC);
    job->local = l;
    job->dir = mem_str(l->dir);
    job->cache_max_bytes = l->cache_max_bytes;
    job->root = mem_fmt("%s/logs", l->dir);
    job->containers = mem_fmt("%s/containers", l->dir);
    job->keep_ms = l->keep_logs_ms;
    job->work.data = job;
    l->is_sweeping = true;
    l->n_jobs++;
    BUG_IF(uv_queue_work(run_loop_uv(l->loop), &job->work, on_pool, after_pool));
}

void local_sweep_start(struct local *l)
{
    int64_t every_ms = l->keep_logs_ms / SWEEPS_PER_TERM;

    every_ms = every_ms < SWEEP_LEAST_MS ? SWEEP_LEAST_MS : every_ms;
    l->sweep_every_ms = every_ms > SWEEP_SLOWEST_MS ? SWEEP_SLOWEST_MS : every_ms;
    l->sweep_timer = run_timer_new(l->loop, on_sweep, l);
    run_timer_start(l->sweep_timer, (uint64_t)l->sweep_every_ms, (uint64_t)l->sweep_every_ms);
}

void local_sweep_soon(struct local *l)
{
    if (l->sweep_timer)
        run_timer_start(l->sweep_timer, SWEEP_SOON_MS, (uint64_t)l->sweep_every_ms);
}

char *local_log_dir(struct cluster *c, const char *container_id)
{
    const struct local *l = local_of(c);
    const struct box *b = map_get(&l->boxes, container_id);
    mem_auto char *application = b ? mem_str(b->pub.application_id) : cluster_application_of(container_id);
    char *dir = application ? mem_fmt("%s/logs/%s/%s", l->dir, application, container_id) : NULL;

    if (dir && !b && access(dir, F_OK)) {
        free(dir);
        return NULL;
    }
    return dir;
}

char *local_last_container(struct cluster *c, const char *application_id, const char *instance)
{
    mem_auto char *app_dir = mem_fmt("%s/logs/%s", local_of(c)->dir, application_id);

    return local_logs_container_of(app_dir, instance);
}

bool local_is_of(struct cluster *c, const char *application_id, const char *owner, const char *service)
{
    mem_auto char *app_dir = mem_fmt("%s/logs/%s", local_of(c)->dir, application_id);
    mem_auto char *kept = local_logs_service_of(app_dir);
    mem_auto char *asked = mem_fmt("%s/%s", owner, service);

    return kept && strcmp(kept, asked) == 0;
}

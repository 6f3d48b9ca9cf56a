/** What containers use, by /proc: all descendants of their shims, in one walk of the pool for all containers that are asked for. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cluster/local_priv.h"

#define USAGE_MAGIC OBJ_MAGIC('U', 'S', 'A', 'G')
#define LINEAGE_MAX 64 /* generations between a process and its shim; deeper ones do not count */

struct process {
    pid_t pid, parent;
    uint64_t cpu_ticks;
    int64_t rss_pages;
};

/** A container that is asked for. */
struct asked {
    pid_t shim; /* 0: nothing runs */
    bool has_image;
    size_t index;
};

struct usage {
    struct obj obj;
    struct local *local;
    uv_work_t work;
    struct asked *asked; /* by shim */
    struct cluster_usage *usage;
    size_t n;
    struct process *processes; /* by pid */
    size_t n_processes, room;
    void (*done)(void *arg, const struct cluster_usage *usage);
    void *arg;
};

static void take_process(void *arg, pid_t pid, const struct shim_proc *proc)
{
    struct usage *u = obj_cast(arg, struct usage, USAGE_MAGIC);

    if (u->n_processes == u->room) {
        u->room = u->room ? 2 * u->room : 256;
        u->processes = mem_resize(u->processes, u->room, sizeof *u->processes);
    }
    u->processes[u->n_processes++] = (struct process){pid, proc->parent, proc->cpu_ticks, proc->rss_pages};
}

static int by_pid(const void *a, const void *b)
{
    const struct process *x = a, *y = b;

    return (x->pid > y->pid) - (x->pid < y->pid);
}

static int by_shim(const void *a, const void *b)
{
    const struct asked *x = a, *y = b;

    return (x->shim > y->shim) - (x->shim < y->shim);
}

static void count(struct usage *u, const struct process *p)
{
    const struct process *at = p;

    for (int depth = 1; at && depth <= LINEAGE_MAX; depth++) {
        const struct asked key = {.shim = at->parent};
        const struct asked *a = at->parent ? bsearch(&key, u->asked, u->n, sizeof *u->asked, by_shim) : NULL;
        const struct process parent = {.pid = at->parent};
        if (a) {
            struct cluster_usage *out = &u->usage[a->index];
            if (a->has_image && depth == 1)
                return; /* the runtime itself and its helper */
            out->is_known = true;
            out->cpu_ms += (int64_t)(p->cpu_ticks * 1000 / (uint64_t)sysconf(_SC_CLK_TCK));
            out->memory_bytes += p->rss_pages * sysconf(_SC_PAGESIZE);
            out->n_processes++;
            return;
        }
        at = bsearch(&parent, u->processes, u->n_processes, sizeof *u->processes, by_pid);
    }
}

static void on_pool(uv_work_t *work)
{
    struct usage *u = obj_cast(work->data, struct usage, USAGE_MAGIC);

    shim_proc_each(take_process, u);
    qsort(u->processes, u->n_processes, sizeof *u->processes, by_pid);
    qsort(u->asked, u->n, sizeof *u->asked, by_shim);
    for (size_t i = 0; i < u->n_processes; i++)
        count(u, &u->processes[i]);
}

static void after_pool(uv_work_t *work, int status)
{
    struct usage *u = obj_cast(work->data, struct usage, USAGE_MAGIC);
    struct local *l = u->local;

    (void)status; /* It is never cancelled. */
    l->n_jobs--;
    u->done(u->arg, l->is_closing ? NULL : u->usage);
    free(u->asked);
    free(u->usage);
    free(u->processes);
    obj_fini(&u->obj);
    free(u);
    local_check_end(l);
}

void local_usage(struct cluster *c, const char *const *ids, size_t n,
                 void (*done)(void *arg, const struct cluster_usage *usage), void *arg)
{
    struct local *l = local_of(c);
    struct usage *u = mem_new(struct usage);

    obj_init(&u->obj, USAGE_MAGIC);
    u->local = l;
    u->asked = mem_array(n + 1, sizeof *u->asked);
    u->usage = mem_array(n + 1, sizeof *u->usage);
    u->n = n;
    u->done = done;
    u->arg = arg;
    u->work.data = u;
    for (size_t i = 0; i < n; i++) {
        const struct box *b = map_get(&l->boxes, ids[i]);
        bool runs = b && b->pub.state == CLUSTER_RUNNING;
        u->asked[i] = (struct asked){runs ? b->shim : 0, runs && b->has_image, i};
    }
    l->n_jobs++;
    BUG_IF(uv_queue_work(run_loop_uv(l->loop), &u->work, on_pool, after_pool));
}

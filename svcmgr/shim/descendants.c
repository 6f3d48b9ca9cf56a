#include "shim/descendants.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/obj.h"
#include "shim/wire.h"

#define LISTING_MAGIC OBJ_MAGIC('P', 'R', 'O', 'C')

struct process {
    pid_t pid, parent;
    uint64_t start;
    bool is_ours, is_zombie;
};

struct listing {
    struct obj obj;
    struct process *items;
    size_t n, cap;
};

static void list_one(void *arg, pid_t pid, const struct shim_proc *proc)
{
    struct listing *l = obj_cast(arg, struct listing, LISTING_MAGIC);

    if (l->n == l->cap) {
        l->cap = l->cap ? 2 * l->cap : 256;
        l->items = mem_resize(l->items, l->cap, sizeof *l->items);
    }
    l->items[l->n++] = (struct process){pid, proc->parent, proc->start, false, proc->state == 'Z'};
}

static int by_pid(const void *a, const void *b)
{
    const struct process *x = a, *y = b;

    return (x->pid > y->pid) - (x->pid < y->pid);
}

static bool parent_is_ours(const struct listing *l, const struct process *p, pid_t self)
{
    const struct process key = {.pid = p->parent};
    const struct process *parent = bsearch(&key, l->items, l->n, sizeof *l->items, by_pid);

    return p->parent == self || (parent && parent->is_ours);
}

/** Mark what descends from self: one round a generation, for a pid may be smaller than its parent's. */
static void mark_ours(struct listing *l, pid_t self)
{
    bool found = true;

    qsort(l->items, l->n, sizeof *l->items, by_pid);
    while (found) {
        found = false;
        for (size_t i = 0; i < l->n; i++) {
            if (l->items[i].is_ours || !parent_is_ours(l, &l->items[i], self))
                continue;
            l->items[i].is_ours = found = true;
        }
    }
}

int descendants_signal(int signal)
{
    struct listing l = {.obj = {LISTING_MAGIC}};
    int n_sent = 0;

    shim_proc_each(list_one, &l);
    if (l.n)
        mark_ours(&l, getpid());
    for (size_t i = 0; i < l.n; i++)
        if (l.items[i].is_ours && !l.items[i].is_zombie)
            n_sent += !shim_proc_signal(l.items[i].pid, l.items[i].start, signal);
    free(l.items);
    return n_sent;
}

#include "run/heap.h"
#include "base/mem.h"
#include "base/obj.h"

#include <asm/mman.h>
#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HEAP_MAGIC OBJ_MAGIC('H', 'E', 'A', 'P')

/** Records from which a change leaves enough behind; how long readers have to leave. */
enum { MANY_RECORDS = 5000, DELAY_MS = 1000 };
/** A large page; how many of its bytes may be free, and are taken from the system with it. */
enum { LARGE_BYTES = 2 << 20, SPARE_BYTES = LARGE_BYTES / 16 };

struct heap {
    struct obj obj;
    struct run_loop *loop;
    struct run_timer *timer;
};

/* What brk(2) has given, as large pages: from, to. Equal when there is none. */
static void find_range(uintptr_t *from, uintptr_t *to)
{
    *from = *to = 0;
    FILE *maps = fopen("/proc/self/maps", "re");
    if (!maps)
        return;
    char line[512];
    while (fgets(line, sizeof line, maps)) {
        uintptr_t first, end;
        if (!strstr(line, "[heap]") || sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &first, &end) != 2)
            continue;
        *from = *from ? *from : (first + LARGE_BYTES - 1) / LARGE_BYTES * LARGE_BYTES;
        *to = end / LARGE_BYTES * LARGE_BYTES;
    }
    fclose(maps);
}

/* Whether nearly all of a large page is in memory. */
static bool is_dense(void *at, size_t page_bytes)
{
    unsigned char is_there[LARGE_BYTES / 4096];
    size_t n = LARGE_BYTES / page_bytes, n_spare = 0;
    if (n > sizeof is_there || mincore(at, LARGE_BYTES, is_there) != 0)
        return false;
    for (size_t i = 0; i < n; i++)
        n_spare += !(is_there[i] & 1);
    return n_spare * page_bytes <= SPARE_BYTES;
}

static void collapse(void)
{
    uintptr_t at, end;
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    for (find_range(&at, &end); at < end; at += LARGE_BYTES) {
        void *page = (void *)at;
        if (is_dense(page, page_bytes) && madvise(page, LARGE_BYTES, MADV_COLLAPSE) != 0 && errno == EINVAL)
            return; /* this system cannot; what else fails is this one page's: no memory for it, or it is pinned */
    }
}

void heap_settle(void)
{
    malloc_trim(0);
    collapse();
}

void heap_one_arena(void)
{
    mallopt(M_ARENA_MAX, 1);
}

static void run_settle(uv_work_t *work)
{
    (void)work;
    heap_settle();
}

static void on_settled(uv_work_t *work, int status)
{
    (void)status;
    free(work);
}

static void on_timer(void *arg)
{
    struct heap *h = obj_cast(arg, struct heap, HEAP_MAGIC);
    uv_work_t *work = mem_new(uv_work_t);
    BUG_IF(uv_queue_work(run_loop_uv(h->loop), work, run_settle, on_settled));
}

struct heap *heap_new(struct run_loop *loop)
{
    struct heap *h = mem_new(struct heap);
    obj_init(&h->obj, HEAP_MAGIC);
    h->loop = loop;
    h->timer = run_timer_new(loop, on_timer, h);
    return h;
}

void heap_free(struct heap *h)
{
    if (!h)
        return;
    run_timer_free(h->timer);
    obj_fini(&h->obj);
    free(h);
}

void heap_mind(struct heap *h, size_t n_records)
{
    if (n_records >= MANY_RECORDS)
        run_timer_start(h->timer, DELAY_MS, 0);
}

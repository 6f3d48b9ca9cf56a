#include "store/mirror/intake.h"

#include <stdlib.h>
#include <sys/queue.h>

#include "base/mem.h"
#include "base/obj.h"
#include "run/task.h"
#include "store/store_backend.h"

#define INTAKE_MAGIC OBJ_MAGIC('M', 'I', 'N', 'T')

/** Nodes that events passed at once may drop in a turn (some hundred microseconds), and nodes and events of a step. */
enum { TURN_NODES = 250, STEP_NODES = 50 };
/** Each time that many bytes more are held a step is twice as large: with 64 MiB it is three million nodes. */
enum { DOUBLE_BYTES = 4 << 20, DOUBLINGS_MAX = 32 };

/** An event with copies of its values. */
struct held {
    STAILQ_ENTRY(held) link;
    struct mirror_event event;
    struct store_stat stat;
    struct err_info *why;
    char *text, *bytes;
};

struct mirror_intake {
    struct obj obj;
    bool (*take)(void *arg, const struct mirror_event *event, size_t *n_left);
    void *arg;
    size_t n_left; /* of TURN_NODES */
    size_t n_bytes;
    struct run_task *task; /* runs while some of TURN_NODES are used up or anything is held */
    STAILQ_HEAD(, held) held;
};

static size_t held_size(const struct held *h)
{
    return sizeof *h + h->event.len + (h->why ? sizeof *h->why : 0);
}

static void hold(struct mirror_intake *in, const struct mirror_event *event)
{
    struct held *h = mem_new(struct held);
    h->event = *event;
    h->event.text = h->text = mem_str(event->text);
    if (event->stat)
        h->stat = *event->stat;
    if (event->bytes)
        h->event.bytes = h->bytes = mem_strn(event->bytes, event->len);
    if (event->why)
        h->event.why = h->why = mem_copy(event->why, sizeof *event->why);
    h->event.stat = &h->stat;
    in->n_bytes += held_size(h);
    STAILQ_INSERT_TAIL(&in->held, h, link);
}

static void held_drop_first(struct mirror_intake *in)
{
    struct held *h = STAILQ_FIRST(&in->held);
    STAILQ_REMOVE_HEAD(&in->held, link);
    in->n_bytes -= held_size(h);
    free(h->text);
    free(h->bytes);
    free(h->why);
    free(h);
}

static bool step(void *arg)
{
    struct mirror_intake *in = obj_cast(arg, struct mirror_intake, INTAKE_MAGIC);
    struct held *h;
    size_t n_doublings = in->n_bytes / DOUBLE_BYTES;
    size_t n_left = (size_t)STEP_NODES << (n_doublings < DOUBLINGS_MAX ? n_doublings : DOUBLINGS_MAX);
    while (n_left && (h = STAILQ_FIRST(&in->held)) && in->take(in->arg, &h->event, &n_left)) {
        held_drop_first(in);
        n_left -= n_left > 0;
    }
    in->n_left = TURN_NODES;
    return !STAILQ_EMPTY(&in->held);
}

static void pass(void *arg, const struct mirror_event *event)
{
    struct mirror_intake *in = obj_cast(arg, struct mirror_intake, INTAKE_MAGIC);
    if (!STAILQ_EMPTY(&in->held) || !in->take(in->arg, event, &in->n_left))
        hold(in, event);
    if (in->n_left < TURN_NODES)
        run_task_start(in->task);
}

/* ---- what the store calls ---- */

static void on_begin(void *arg, const char *store_id)
{
    pass(arg, &(struct mirror_event){.kind = MIRROR_BEGIN, .text = store_id});
}

static void on_node(void *arg, const char *path, const struct store_stat *stat, const char *bytes, size_t len)
{
    pass(arg,
         &(struct mirror_event){.kind = MIRROR_NODE, .text = path, .stat = stat, .bytes = bytes, .len = len});
}

static void on_gone(void *arg, const char *path, int64_t zxid)
{
    pass(arg, &(struct mirror_event){.kind = MIRROR_GONE, .text = path, .zxid = zxid});
}

static void on_end(void *arg, int64_t zxid)
{
    pass(arg, &(struct mirror_event){.kind = MIRROR_END, .zxid = zxid});
}

static void on_applied(void *arg, int64_t zxid)
{
    pass(arg, &(struct mirror_event){.kind = MIRROR_APPLIED, .zxid = zxid});
}

static void on_lost(void *arg, const struct err_info *why)
{
    pass(arg, &(struct mirror_event){.kind = MIRROR_LOST, .why = why});
}

/* ---- life ---- */

struct mirror_intake *mirror_intake_new(
    struct store *s, bool (*take)(void *arg, const struct mirror_event *event, size_t *n_left), void *arg)
{
    static const struct store_follow_ops follow = {on_begin, on_node, on_gone, on_end, on_applied, on_lost};
    struct mirror_intake *in = mem_new(struct mirror_intake);
    obj_init(&in->obj, INTAKE_MAGIC);
    in->take = take;
    in->arg = arg;
    in->n_left = TURN_NODES;
    in->task = run_task_new(s->loop, step, in);
    STAILQ_INIT(&in->held);
    store_follow(s, &follow, in);
    return in;
}

void mirror_intake_free(struct mirror_intake *in)
{
    while (!STAILQ_EMPTY(&in->held))
        held_drop_first(in);
    run_task_free(in->task);
    obj_fini(&in->obj);
    free(in);
}

size_t mirror_intake_n_bytes(const struct mirror_intake *in)
{
    return in->n_bytes;
}

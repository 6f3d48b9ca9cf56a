#include "faces/pieces.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/obj.h"

#define PIECES_MAGIC OBJ_MAGIC('P', 'I', 'E', 'C')

struct pieces {
    struct obj obj;
    struct pieces_ops ops;
    void *maker;
    struct buf out; /* of the last piece */
    size_t n_taken;
    bool has_more;
};

static ssize_t on_read(void *arg, char *to, size_t max)
{
    struct pieces *p = obj_cast(arg, struct pieces, PIECES_MAGIC);
    if (p->n_taken == p->out.len) {
        if (!p->has_more)
            return -1;
        buf_clear(&p->out);
        p->n_taken = 0;
        p->has_more = p->ops.next(p->maker, &p->out);
    }
    size_t n = p->out.len - p->n_taken;
    n = n < max ? n : max;
    memcpy(to, p->out.bytes + p->n_taken, n);
    p->n_taken += n;
    return n > 0 || p->has_more ? (ssize_t)n : -1;
}

static void on_closed(void *arg)
{
    struct pieces *p = obj_cast(arg, struct pieces, PIECES_MAGIC);
    p->ops.free(p->maker);
    buf_fini(&p->out);
    obj_fini(&p->obj);
    free(p);
}

static const struct http_stream_ops stream_ops = {.read = on_read, .closed = on_closed};

void pieces_reply(struct http_req *req, const char *media_type, const struct pieces_ops *ops,
                  void *take_maker)
{
    struct buf first = BUF_EMPTY;
    bool has_more = ops->next(take_maker, &first);
    if (!has_more) {
        ops->free(take_maker);
        http_reply(req, 200, media_type, &first);
        return;
    }
    struct pieces *p = mem_new(struct pieces);
    obj_init(&p->obj, PIECES_MAGIC);
    p->ops = *ops;
    p->maker = take_maker;
    p->out = first;
    p->has_more = true;
    http_stream_start(req, 200, media_type, &stream_ops, p);
}

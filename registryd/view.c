#include "view.h"
#include "lines.h"
#include "walk.h"
#include "base/mem.h"
#include "base/obj.h"

#include <stdlib.h>
#include <string.h>

#define VIEW_MAGIC OBJ_MAGIC('V', 'I', 'E', 'W')

/** Members written in one turn of the loop. */
#define SLICE_ITEMS 256

struct view {
    struct obj obj;
    struct mirror *mirror;
    enum view_form form;
    char *path;
    char *after;     /* last child name (nodes) or path (tree) written, or where to begin */
    int64_t left;    /* members still allowed */
    struct buf tail; /* `"service":{…}` as it was at the beginning */
    struct buf out;  /* written, not yet taken */
    struct jw jw;    /* on out */
    size_t n_taken;
    bool is_done;
};

static const char *last_element(const char *path)
{
    return strrchr(path, '/') + 1;
}

static const struct mirror_node *next_member(const struct view *v)
{
    if (v->form == VIEW_TREE)
        return walk_next(v->mirror, v->path, v->after);
    const struct mirror_node *node = mirror_find(v->mirror, v->path);
    return node ? mirror_child_after(node, v->after) : NULL;
}

static void write_member(struct view *v, const struct mirror_node *node)
{
    free(v->after);
    if (v->form != VIEW_TREE) {
        v->after = mem_str(node->name);
        jw_str(&v->jw, node->name);
        return;
    }
    struct buf path = BUF_EMPTY;
    mirror_path(node, &path);
    v->after = buf_take(&path);
    jw_object(&v->jw);
    jw_kstr(&v->jw, "path", v->after);
    lines_status(&v->jw, node->name, &node->stat, mirror_store_id(v->mirror));
    lines_node_service(&v->jw, node);
    jw_object_end(&v->jw);
}

static void write_end(struct view *v, bool has_more)
{
    jw_array_end(&v->jw);
    if (v->tail.len)
        jw_key(&v->jw, "service");
    if (v->tail.len)
        jw_raw(&v->jw, v->tail.bytes, v->tail.len);
    if (has_more)
        jw_kstr(&v->jw, "cursor", v->after);
    jw_object_end(&v->jw);
    v->is_done = true;
}

/* Write up to a slice of members, and the end when there are no more. */
static void fill(struct view *v)
{
    for (int i = 0; i < SLICE_ITEMS; i++) {
        const struct mirror_node *node = next_member(v);
        if (!node || v->left == 0) {
            write_end(v, node != NULL);
            return;
        }
        write_member(v, node);
        v->left--;
    }
}

static struct view *view_new(const struct view_def *def)
{
    const struct mirror_node *node = mirror_find(def->mirror, def->path);
    BUG_IF(!node);
    struct view *v = mem_new(struct view);
    obj_init(&v->obj, VIEW_MAGIC);
    v->mirror = def->mirror;
    v->form = def->form;
    v->path = mem_str(def->path);
    /* The node itself is not below itself: a tree begins after it. */
    v->after = mem_str(def->cursor ? def->cursor : def->form == VIEW_TREE ? def->path : NULL);
    v->left = def->limit;
    v->jw = jw_on(&v->out);
    jw_object(&v->jw);
    if (def->form != VIEW_SLIDER) {
        jw_kstr(&v->jw, "path", def->path);
        lines_status(&v->jw, node->name, &node->stat, mirror_store_id(def->mirror));
    }
    jw_key(&v->jw, def->form == VIEW_TREE ? "tree" : "nodes");
    jw_array(&v->jw);
    lines_node_record(&v->tail, node);
    return v;
}

static void view_free(void *arg)
{
    struct view *v = obj_cast(arg, struct view, VIEW_MAGIC);
    buf_fini(&v->out);
    buf_fini(&v->tail);
    free(v->path);
    free(v->after);
    obj_fini(&v->obj);
    free(v);
}

static ssize_t on_read(void *arg, char *to, size_t max)
{
    struct view *v = obj_cast(arg, struct view, VIEW_MAGIC);
    if (v->n_taken == v->out.len) {
        if (v->is_done)
            return -1;
        buf_clear(&v->out);
        v->n_taken = 0;
        fill(v);
    }
    size_t n = v->out.len - v->n_taken;
    n = n < max ? n : max;
    memcpy(to, v->out.bytes + v->n_taken, n);
    v->n_taken += n;
    return (ssize_t)n;
}

static const struct http_stream_ops stream_ops = {.read = on_read, .closed = view_free};

void view_reply(struct http_req *req, int status, const struct view_def *def)
{
    struct view *v = view_new(def);
    fill(v);
    if (!v->is_done) {
        http_stream_start(req, status, "application/json", &stream_ops, v);
        return;
    }
    http_reply(req, status, "application/json", &v->out);
    view_free(v);
}

void view_write_strong(struct buf *out, const struct view_strong *v)
{
    struct jw w = jw_on(out);
    jw_object(&w);
    jw_kstr(&w, "path", v->path);
    lines_status(&w, last_element(v->path), v->stat, v->store_id);
    jw_key(&w, "nodes");
    jw_array(&w);
    size_t i = 0;
    while (i < v->n_names && v->cursor && strcmp(v->names[i], v->cursor) <= 0)
        i++;
    int64_t left = v->limit;
    for (; i < v->n_names && left > 0; i++, left--)
        jw_str(&w, v->names[i]);
    jw_array_end(&w);
    lines_service(&w, v->bytes, v->stat->data_len);
    if (i < v->n_names && i > 0)
        jw_kstr(&w, "cursor", v->names[i - 1]);
    jw_object_end(&w);
}
